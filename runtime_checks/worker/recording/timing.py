"""How long one side takes for a training step or a call of inference, in a process of its own.

``python -m ...timing SIDE PAIR`` makes the side, calls it until it is warm, and then answers every line on standard
input with the seconds of one more call. So the host can have both sides measured in turns on the same machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from typing import Callable, ContextManager, Iterator, NamedTuple

from ..frames import UserCode
from .loading import load, side_of
from .pairs.batches import Batch, Batches
from .pairs.pair import Pair
from .randomness import numbering
from .randomness.ledger import Ledger
from .tensors import Array, Nest
from .tf1 import sessions
from .tf1.building import EVALUATE, INFER, TRAIN, Network, build
from .tf1.side import standing_in
from .tf2.model import Model, converted, in_function, make, tensors

__all__ = ["CALL", "STEP", "WARM", "Running", "inference", "running"]

STEP, CALL = "training step", "call"
"""What a side does again and again."""

_SEED = 42
WARM = 3
"""Calls before the first that is measured: the first ones trace and allocate."""


@contextlib.contextmanager
def inference(pair: Pair, side: str, code: UserCode) -> Iterator[Callable[[], None]]:
    """A function that computes the outputs of the pair's first batch once, as numpy arrays, and gives nothing back.

    The TF1 side runs in a session, the TF2 side in a ``tf.function``.

    Raises:
        Exception: whatever the user's code raises.
    """
    if side == "tf1":
        with standing_in(_ignored), _session(pair, code) as call:
            yield call
    else:
        yield _function(pair)


class Running(NamedTuple):
    """A side that is ready: `run` does `what`, `STEP` or `CALL`, with the batch of a number, and waits for its end."""

    what: str
    run: Callable[[int], object]


@contextlib.contextmanager
def running(pair: Pair, side: str, code: UserCode, device: str | None = None) -> Iterator[Running]:
    """A side that trains, as its program would do it, or one that computes outputs where nothing says how it trains.

    TF1 runs its ``train_op`` and the loss in a session, which is fed arrays. TF2 calls the pair's ``train_step`` with
    tensors that are made of them, what ``fit`` calls of a compiled model, with iterators of datasets, or a
    ``train_step`` of the model's own in a ``tf.function``. Each gets the batches of the first `WARM` steps in turns,
    and as many threads as TensorFlow takes.

    Args:
        pair: the pair, with this side's functions.
        side: ``"tf1"`` or ``"tf2"``.
        code: tells the user's files.
        device: where TF1's operations are put, as far as the function does not say.

    Raises:
        Exception: whatever the user's code raises.
    """
    batches = _first(Batches(pair))
    if side == "tf1":
        with standing_in(_ignored):
            network = _training(pair, batches, code, device)
            if network is None:
                with _session(pair, code, device, serial=False) as call:
                    yield Running(CALL, lambda number: call())
                return
            with sessions.opened(network, serial=False) as session:
                sessions.initialize(session, network)
                losses = [value.tensor for value in network.values if value.kind == "loss" and value.fetched]
                fetches = [network.train_op, losses]
                yield Running(STEP, lambda number: session.run(fetches, network.feeds(batches[number % len(batches)])))
        return
    model = make(pair)
    _build(model, batches[0])
    step = _step(pair, model, batches)
    if step is None:
        call = _called(model, batches[0])
        yield Running(CALL, lambda number: call())
    else:
        yield Running(STEP, lambda number: _fetched(step(number % len(batches))))


def _first(found: Batches) -> list[Batch]:
    """The batches of the first steps, up to one that cannot be had."""
    batches = [found.at(0)]
    with contextlib.suppress(Exception):
        batches += [found.at(step) for step in range(1, WARM)]
    return batches


def _numbered() -> ContextManager[Ledger]:
    return numbering.tool(numbering.NUM_RANDOM_OPS, _SEED)


def _training(pair: Pair, shown: list[Batch], code: UserCode, device: str | None) -> Network | None:
    """The graph of training; None where it has no training step, or the function refuses to train."""
    try:
        network = build(pair, TRAIN, shown, code, _numbered, _ignored, device)
    except Exception:
        return None
    return None if network.train_op is None else network


def _step(pair: Pair, model: Model, batches: list[Batch]) -> Callable[[int], Nest] | None:
    """A training step of the TF2 side with the batch of a number; None where nothing says how it trains."""
    import tensorflow as tf

    given = pair.train_step
    if given is not None:
        return lambda at: given(model.value, tensors(batches[at].inputs), tensors(batches[at].labels))
    data = [(batch.inputs,) if batch.labels is None else tuple(batch) for batch in batches]
    if model.is_compiled:
        # Not train_on_batch: Keras 2 makes a dataset in each call, which takes 24 ms where the step takes one.
        function = model.value.make_train_function()
        iterators = [iter(tf.data.Dataset.from_tensors(_without_lists(one)).repeat()) for one in data]
        return lambda at: (function or model.value.train_function)(iterators[at])
    if not model.has_own_step:
        return None

    def body(*data: Nest) -> Nest:  # Keras 3 does not use AutoGraph
        return model.value.train_step(data) if model.is_keras3 else converted(model.value.train_step, data)

    own = in_function(body)
    return lambda at: own(*tensors(data[at]))


def _without_lists(value: Nest) -> Nest:
    """A structure with tuples for lists, of which a dataset would make one tensor."""
    if isinstance(value, dict):
        return {key: _without_lists(part) for key, part in value.items()}
    return tuple(map(_without_lists, value)) if isinstance(value, (list, tuple)) else value


def _fetched(value: Nest) -> list[Array]:
    """The values of a step's tensors: a device may still be computing when the step returns."""
    import tensorflow as tf

    return [leaf.numpy() for leaf in tf.nest.flatten(value) if hasattr(leaf, "numpy")]


def _ignored(text: str) -> None:
    """What was adapted is said by the verification itself."""


@contextlib.contextmanager
def _session(
    pair: Pair, code: UserCode, device: str | None = None, serial: bool = True
) -> Iterator[Callable[[], None]]:
    batch = Batches(pair).at(0)
    network = _network(pair, batch, code, device)
    outputs = [value.tensor for value in network.values if value.kind == "output" and value.fetched]
    feeds = network.feeds(batch)
    with sessions.opened(network, serial=serial) as session:
        sessions.initialize(session, network)
        yield lambda: session.run(outputs, feeds)


def _network(pair: Pair, batch: Batch, code: UserCode, device: str | None) -> Network:
    """The graph of inference, or where the function refuses that, of evaluation or of training."""
    refusal: Exception | None = None
    for mode in (INFER, EVALUATE, TRAIN):
        try:
            return build(pair, mode, [batch], code, _numbered, _ignored, device)
        except Exception as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _function(pair: Pair) -> Callable[[], None]:
    model = make(pair)
    batch = Batches(pair).at(0)
    _build(model, batch)
    return _called(model, batch)


def _build(model: Model, batch: Batch) -> None:
    """Have a model make its variables, outside of any function."""
    model.call(tensors(batch.inputs), False, tensors(batch.labels))


def _called(model: Model, batch: Batch) -> Callable[[], None]:
    given = tensors(batch)
    function = in_function(lambda inputs, labels: model.forward(inputs, False, labels).outputs)

    def call() -> None:
        for value in function(*given).values():
            value.numpy()

    return call


def _main(side: str, described: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the user's code prints is no answer
    job = json.loads(described)
    pair = side_of(load(job), side)
    with inference(pair, side, UserCode(job["search_path"])) as call:
        for _ in range(WARM):
            call()
        answers.write("ready\n")
        for _ in sys.stdin:
            began = time.perf_counter()
            call()
            answers.write(repr(time.perf_counter() - began) + "\n")


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2])
