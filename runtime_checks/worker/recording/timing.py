"""How long inference of one side takes, one call at a time and in a process of its own.

``python -m ...timing SIDE PAIR`` makes the side, calls it until it is warm, and then answers every line on standard
input with the seconds of one more call. So the host can have both sides measured in turns on the same machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from typing import Callable, Iterator

from .. import shims
from ..frames import UserCode
from .loading import load, side_of
from .pairs.batches import Batch, Batches
from .pairs.pair import Pair
from .randomness import numbering
from .tf1 import estimator, sessions
from .tf1.building import EVALUATE, INFER, TRAIN, Network, build
from .tf2.model import in_function, make, tensors

__all__ = ["inference"]

_SEED = 42
_WARM = 3
"""Calls before the first that is measured: the first ones trace and allocate."""


@contextlib.contextmanager
def inference(pair: Pair, side: str, code: UserCode) -> Iterator[Callable[[], None]]:
    """A function that computes the outputs of the pair's first batch once, as numpy arrays, and gives nothing back.

    The TF1 side runs in a session, the TF2 side in a ``tf.function``.

    Raises:
        Exception: whatever the user's code raises.
    """
    if side == "tf1":
        with estimator.standing_in(_ignored), shims.for_slim(shims.target(), _ignored), _session(pair, code) as call:
            yield call
    else:
        yield _function(pair)


def _ignored(text: str) -> None:
    """What was adapted is said by the verification itself."""


@contextlib.contextmanager
def _session(pair: Pair, code: UserCode) -> Iterator[Callable[[], None]]:
    batch = Batches(pair).at(0)
    network = _network(pair, batch, code)
    outputs = [value.tensor for value in network.values if value.kind == "output" and value.fetched]
    feeds = network.feeds(batch)
    with sessions.opened(network) as session:
        sessions.initialize(session, network)
        yield lambda: session.run(outputs, feeds)


def _network(pair: Pair, batch: Batch, code: UserCode) -> Network:
    """The graph of inference, or where the function refuses that, of evaluation or of training."""
    refusal: Exception | None = None
    for mode in (INFER, EVALUATE, TRAIN):
        try:
            return build(pair, mode, [batch], code, lambda: numbering.tool("num_random_ops", _SEED), _ignored)
        except Exception as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _function(pair: Pair) -> Callable[[], None]:
    model = make(pair)
    inputs = tensors(Batches(pair).at(0).inputs)
    model.call(inputs, False)  # variables are made outside of the function
    function = in_function(lambda value: model.forward(value, False).outputs)

    def call() -> None:
        for value in function(inputs).values():
            value.numpy()

    return call


def _main(side: str, described: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the user's code prints is no answer
    job = json.loads(described)
    pair = side_of(load(job), side)
    with inference(pair, side, UserCode(job["search_path"])) as call:
        for _ in range(_WARM):
            call()
        answers.write("ready\n")
        for _ in sys.stdin:
            began = time.perf_counter()
            call()
            answers.write(repr(time.perf_counter() - began) + "\n")


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2])
