"""A training step on the replicas of a distribution strategy, run eagerly, and what each of them did."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ... import strategies
from ...patching import definer, wrapped
from ...tracking import resources
from ..format.attempts import NotRunError
from ..pairs.batches import Batch
from ..randomness.ledger import Ledger, Share
from ..tensors import Array, Function, Nest, Strategy, Tensor, Variable
from .step_events import Seen

__all__ = ["Part", "Replicas", "gradients_of", "loss_of", "spread"]

class Part(NamedTuple):
    """What one replica did in a step, as arrays.

    `targets` are what it took gradients of; `loss` and `metrics` what its step returned; `gradients` are by variable,
    as they were given to the optimizer, or after it had summed them over replicas where `summed`.
    """

    outputs: Mapping[str, Array]
    regularization: Mapping[str, Array]
    targets: Sequence[Array]
    loss: Array | None
    metrics: Mapping[str, Array]
    rates: Sequence[Array]
    gradients: Mapping[str, Array]
    summed: bool


class Replicas:
    """A batch, split over the replicas of a strategy as a distributed dataset splits it, and what they see.

    Attributes:
        batch: inputs and labels of the replicas here, as values of the strategy.
        shares: the rows that each replica gets.
        cross: what was seen where the replicas come together.

    Raises:
        NotRunError: if the batch has fewer rows than there are replicas.
    """

    def __init__(self, strategy: Strategy, batch: Batch, ledger: Ledger) -> None:
        self.strategy = strategy
        self.cross = Seen()
        self._seen: dict[int, Seen] = {}
        self._returned: dict[int, Nest] = {}
        self._ledger = ledger
        count = strategy.num_replicas_in_sync
        whole = _rows(batch)
        size = -(-whole // count)
        self.shares = [Share(at, at * size, min(size, whole - at * size), whole) for at in range(count)]
        if whole and self.shares[-1].rows < 1:
            raise NotRunError(f"a batch of {whole} rows does not give each of {count} replicas one")
        self.batch = Batch(self._split(batch.inputs), self._split(batch.labels))

    def _split(self, value: Nest) -> Nest:
        import tensorflow as tf

        def own(context: Any) -> Nest:
            share = self.shares[_number(context)]
            return tf.nest.map_structure(lambda leaf: _rows_of(leaf, share), value)

        return value if value is None else self.strategy.experimental_distribute_values_from_function(own)

    def current(self) -> Seen:
        """What is seen by the replica that runs here, or where they come together."""
        import tensorflow as tf

        context = tf.distribute.get_replica_context()
        return self.cross if context is None else self._seen.setdefault(_number(context), Seen())

    def run(self, function: Callable[[Seen, Nest, Nest], Nest]) -> None:
        """Run a function of what is seen, inputs and labels on each replica."""
        import tensorflow as tf

        def call(inputs: Nest, labels: Nest) -> None:
            number = _number(tf.distribute.get_replica_context())
            self._returned[number] = function(self.current(), inputs, labels)

        call.autograph_info__ = {}  # type: ignore[attr-defined]
        self.strategy.run(call, args=(self.batch.inputs, self.batch.labels))

    @contextlib.contextmanager
    def drawing(self) -> Iterator[None]:
        """What the strategy runs in the body draws what a single device would draw for the same rows."""

        def running(original: Function) -> Function:
            def run(strategy: Strategy, fn: Function, *arguments: Any, **named: Any) -> Nest:
                return original(strategy, self._drawing(fn), *arguments, **named)

            return run

        with wrapped(definer(type(self.strategy), "run"), "run", running):
            yield

    def _drawing(self, function: Function) -> Function:
        import tensorflow as tf

        def call(*arguments: Nest, **named: Nest) -> Nest:
            with self._ledger.replica(self.shares[_number(tf.distribute.get_replica_context())]):
                return function(*arguments, **named)

        call.autograph_info__ = {}  # type: ignore[attr-defined]
        return call

    def first(self) -> Seen:
        """What the first replica here saw, with the updates that were made where replicas come together."""
        seen = self._seen[min(self._seen)]
        seen.applied += self.cross.applied
        return seen

    def parts(self, told: Callable[[Seen, Nest], Part]) -> list[Part]:
        """What each replica did, made of what was seen and returned in it; also in the other processes of a cluster."""
        import tensorflow as tf

        own = [told(seen, self._returned.get(number)) for number, seen in sorted(self._seen.items())]
        if not own:
            return []
        return [part for parts in strategies.of_all(tf, self.strategy, own) for part in parts]

    def joined(self, values: Sequence[Mapping[str, Array]], told: Callable[[str], object]) -> dict[str, Array]:
        """Outputs of all replicas by name: those by rows one below the other; others if they are alike everywhere."""
        found = {}
        for name, first in values[0].items():
            arrays = [one[name] for one in values]
            if all(one.ndim and len(one) == share.rows for one, share in zip(arrays, self.shares)):
                found[name] = np.concatenate(arrays)
            elif all(np.array_equal(one, first) for one in arrays):
                found[name] = first
            else:
                told(f"the output {name} has no row for each row of the batch, so it was not compared")
        return found


def loss_of(parts: Sequence[Part], told: Callable[[str], object]) -> Array | None:
    """The loss of the whole batch: optimizers add up gradients, so it is the sum of what replicas minimize.

    Where a step returns one of several losses, it is that one's sum.
    """
    count = min(len(part.targets) for part in parts)
    if not count:
        told("no replica was seen to take gradients of a loss, so that of the whole batch is not known")
        return None
    returned = [part.loss for part in parts]
    at = 0
    if all(one is not None for one in returned):
        same = [at for at in range(count) if all(np.array_equal(part.targets[at], part.loss) for part in parts)]
        if not same:
            told(
                "the loss that the step returns is not what it takes gradients of: what it is over all replicas is not "
                "known, so it was not compared"
            )
            return None
        at = same[0]
    return np.sum([part.targets[at] for part in parts], axis=0)


def gradients_of(parts: Sequence[Part]) -> dict[str, Array]:
    """The gradients that make the update, by variable: summed over replicas."""
    if parts[0].summed:
        return dict(parts[0].gradients)
    names = dict.fromkeys(name for part in parts for name in part.gradients)
    return {name: np.sum([part.gradients[name] for part in parts if name in part.gradients], axis=0) for name in names}


def spread(variable: Variable) -> float:
    """How far apart the copies of a variable are that the replicas here have."""
    arrays = [copy.numpy() for copy in resources(variable)]
    return max((float(np.max(np.abs(one - arrays[0]), initial=0.0)) for one in arrays[1:]), default=0.0)


def _number(context: Any) -> int:
    """The number of a replica, by its context."""
    return int(context.replica_id_in_sync_group)


def _rows(batch: Batch) -> int:
    import tensorflow as tf

    sizes = [leaf.shape[0] for leaf in tf.nest.flatten((batch.inputs, batch.labels)) if getattr(leaf, "shape", ())]
    return int(sizes[0]) if sizes else 0


def _rows_of(leaf: Tensor, share: Share) -> Tensor:
    """The rows of a replica; what has no row for each row of the batch is given whole."""
    shape = tuple(getattr(leaf, "shape", ()))
    return leaf[share.first:share.first + share.rows] if shape and shape[0] == share.whole else leaf
