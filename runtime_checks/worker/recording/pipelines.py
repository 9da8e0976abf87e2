"""Records the batches that the input pipelines of a pair give: datasets, tensors of a graph, queues, what is iterable.

Both sides are seeded alike. A pipeline is begun a second time with another seed: whether other batches come then is
whether it is random.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from ..frames import UserCode, place_of
from ..patching import replaced
from .format.attempts import NotRunError
from .format.store import Chapter
from .pairs import structures
from .pairs.batches import PairError, seeded
from .pairs.mapping import plain
from .pairs.pair import Pair
from .tensors import Array, Function, Json, Nest

__all__ = ["record_pipeline"]

_MOST = 100
"""Batches of a side that are looked at, and bytes of them."""
_BYTES = 64 << 20
_AGAIN = 10
"""Batches under another seed."""

Named = Mapping[str, Array]
"""A batch: arrays by their path in it."""


def record_pipeline(chapter: Chapter, pair: Pair, side: str, seed: int, code: UserCode) -> None:
    """Record a side's batches as records of the kind ``data``, one a step.

    Args:
        chapter: where to; it says whether the pipeline ``ended``, whether it is ``random``, and what it ``shuffles``.
        pair: its ``data`` are the functions of both sides.
        side: ``tf1`` or ``tf2``.
        seed: of all randomness.
        code: tells the user's files.

    Raises:
        NotRunError: if the pair names no pipelines.
        PairError: if what a function gives is no pipeline.
        Exception: whatever the user's code raises.
    """
    if pair.data is None:
        raise NotRunError("the pair names no input pipelines")
    function = pair.data[("tf1", "tf2").index(side)]
    begun = _of_graph if side == "tf1" else _of_dataset
    shuffles: list[Json] = []
    first: list[list[tuple[str, bytes]]] = []
    size = 0
    ended = False
    with _shuffling(shuffles, code), _begun(begun, function, pair, seed) as batches:
        while len(first) < _MOST and size < _BYTES:
            batch = next(batches, None)
            if batch is None:
                ended = True
                break
            for name, array in batch.items():
                chapter.add("data", name, array, len(first))
                size += array.nbytes
            first.append(_digest(batch))
    with _begun(begun, function, pair, seed + 1) as batches:
        again = [_digest(batch) for batch in itertools.islice(batches, _AGAIN)]
    chapter.say(ended=ended, random=again != first[:_AGAIN], shuffles=shuffles)


@contextlib.contextmanager
def _begun(begin: Callable[..., Any], function: Function, pair: Pair, seed: int) -> Iterator[Iterator[Named]]:
    with seeded(seed), contextlib.closing(begin(function, pair, seed)) as batches:
        yield batches


def _digest(batch: Named) -> list[tuple[str, bytes]]:
    return [(name, array.tobytes()) for name, array in batch.items()]


def _of_graph(function: Function, pair: Pair, seed: int) -> Iterator[Named]:
    """What a TF1 pipeline gives in a session: a dataset, tensors, or batches of Python."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(seed)
        value = _called(function, pair)
        if _is_dataset(value):
            value = v1.data.make_initializable_iterator(value).get_next()
        fetched = {} if hasattr(value, "__next__") else dict(structures.flat(value, "batch"))
        if not any(isinstance(leaf, (tf.Tensor, v1.Variable)) for leaf in fetched.values()):
            yield from _of_python(value)
            return
        coordinator = v1.train.Coordinator()
        with v1.Session(graph=graph) as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            session.run([v1.tables_initializer(), *_iterators(graph)])
            threads = v1.train.start_queue_runners(session, coordinator)
            try:
                while True:
                    yield {name: _array(array, name) for name, array in session.run(fetched).items()}
            except tf.errors.OutOfRangeError:
                return
            finally:
                coordinator.request_stop()
                with contextlib.suppress(Exception):  # of a queue that is closed while it is filled
                    coordinator.join(threads, stop_grace_period_secs=2)


def _iterators(graph: Any) -> list[Any]:
    """The operations that begin a dataset in a graph; Estimators run them, too."""
    return [operation for operation in graph.get_operations() if operation.type == "MakeIterator"]


def _of_dataset(function: Function, pair: Pair, seed: int) -> Iterator[Named]:
    """What a TF2 pipeline gives eagerly."""
    import tensorflow as tf

    tf.random.set_seed(seed)
    yield from _of_python(_called(function, pair))


def _of_python(value: Nest) -> Iterator[Named]:
    """The batches of a dataset, a sequence of Keras, or what else can be iterated over."""
    if not _iterable(value):
        raise PairError(f"data gave an object of type {type(value).__name__}: wanted is a dataset, tensors or batches")
    indexed = hasattr(value, "__getitem__") and hasattr(value, "__len__")
    for batch in (value[number] for number in range(len(value))) if indexed else value:
        yield {name: _array(leaf, name) for name, leaf in structures.flat(_by_name(batch), "batch")}


def _iterable(value: Nest) -> bool:
    """Whether it gives batches one by one, and is not a batch itself."""
    if isinstance(value, (tuple, dict)) or hasattr(value, "dtype"):
        return False
    return hasattr(value, "__iter__") or (hasattr(value, "__getitem__") and hasattr(value, "__len__"))


def _by_name(batch: Nest) -> Nest:
    """A batch that is fed, with the names of its placeholders."""
    if isinstance(batch, dict):
        return {plain(str(getattr(key, "name", key))): part for key, part in batch.items()}
    return batch


def _array(leaf: Any, name: str) -> Array:
    array = np.asarray(leaf.numpy() if hasattr(leaf, "numpy") else leaf)
    if array.dtype.kind != "O":
        return array
    if not all(isinstance(one, (str, bytes)) for one in array.reshape(-1)):
        raise PairError(f"{name} of a batch of data is no array of numbers or texts")
    return array.astype(np.bytes_ if array.size and isinstance(array.reshape(-1)[0], bytes) else np.str_)


def _called(function: Function, pair: Pair) -> Nest:
    """The user's function, which may take the pair's ``params``."""
    with contextlib.suppress(TypeError, ValueError):
        if "params" in inspect.signature(function).parameters:
            return function(params=pair.params)
    return function()


def _is_dataset(value: Nest) -> bool:
    import tensorflow as tf

    return isinstance(value, (tf.compat.v1.data.Dataset, tf.data.Dataset))


@contextlib.contextmanager
def _shuffling(shuffles: list[Json], code: UserCode) -> Iterator[None]:
    """Note how many examples a dataset or a queue shuffles among, and the user's line."""
    from tensorflow.python.data.ops import dataset_ops
    from tensorflow.python.ops import data_flow_ops

    shuffle = vars(dataset_ops.DatasetV2)["shuffle"]
    make = data_flow_ops.RandomShuffleQueue.__init__

    def noted(size: Any) -> None:
        place = place_of(code.stack())
        with contextlib.suppress(TypeError, ValueError):  # a size that only the graph knows
            told = {"size": int(size), "place": None if place is None else list(place)}
            if told not in shuffles:
                shuffles.append(told)

    def shuffled(self: Any, buffer_size: Any, *more: Any, **named: Any) -> Any:
        noted(buffer_size)
        return shuffle(self, buffer_size, *more, **named)

    def made(self: Any, capacity: Any, min_after_dequeue: Any, *more: Any, **named: Any) -> None:
        noted(capacity)
        make(self, capacity, min_after_dequeue, *more, **named)

    queue = replaced(data_flow_ops.RandomShuffleQueue, "__init__", made)
    with replaced(dataset_ops.DatasetV2, "shuffle", shuffled), queue:
        yield
