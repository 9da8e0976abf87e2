"""Evaluation of a TF1 graph as an Estimator does it: metrics over some batches, and the mean of the loss."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from ...frames import UserCode
from ..format.store import Chapter
from ..pairs import structures
from ..pairs.batches import Batch
from ..tensors import Array, Tensor, V1Session
from ..watching.operations import place_of
from .building import Network

__all__ = ["record"]


def record(
    session: V1Session, network: Network, batches: Sequence[Batch], chapter: Chapter, step: int, code: UserCode
) -> None:
    """Record what evaluation gives with the weights that a session has.

    The mean of the loss weighs batches by their size, as Keras does; so it does what is no metric but a plain tensor.

    Args:
        session: with all metrics at their beginning.
        network: built for evaluation.
        batches: to evaluate, one after the other.
        chapter: where to.
        step: of training, after which the weights are these.
        code: tells the user's files.
    """
    means, updates, results = _parts(network)
    sums: dict[str, Array] = {}
    sizes = 0
    for batch in batches:
        size = _size(batch)
        computed, _ = session.run([means, updates], network.feeds(batch))
        for name, value in computed.items():
            sums[name] = sums.get(name, 0.0) + size * np.asarray(value, np.float64)
        sizes += size
    found = {name: np.asarray(total / sizes, np.float32) for name, total in sums.items()}
    found.update(session.run(results))
    for name, value in found.items():
        kind = "loss" if name == _LOSS else "metric"
        operation = getattr(results.get(name, means.get(name)), "op", None)
        place = None if operation is None else place_of(operation, code)
        sort = str(operation.name) if operation is not None and name in results else ""
        chapter.add(kind, name if kind == "metric" else "loss", value, step, place, sort=sort)


_LOSS = "\0loss"
"""No metric is called so."""


def _parts(network: Network) -> tuple[dict[str, Tensor], list[Tensor], dict[str, Tensor]]:
    """What is averaged, what updates the metrics, and what gives their values in the end."""
    means: dict[str, Tensor] = {}
    updates: list[Tensor] = []
    results: dict[str, Tensor] = {}
    if network.results.loss is not None:
        means[_LOSS] = network.results.loss
    for name, update, value in network.metrics:
        if update is None or update is value:
            means.update(structures.flat(value, name))
        else:
            updates += update if isinstance(update, list) else [update]
            results[name] = value
    return means, updates, results


def _size(batch: Batch) -> int:
    """The number of examples."""
    leaves = [np.shape(leaf) for _, leaf in structures.flat(batch.inputs, "input")]
    return int(leaves[0][0]) if leaves and leaves[0] else 1
