"""What a TF1 graph computes if it is computed in float64."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

import numpy as np

from ...frames import UserCode
from ..float64 import running
from ..format import scenarios
from ..format.store import Chapter
from ..tensors import Array, Tensor, V1Session
from ..watching.operations import place_of, upstream
from . import sessions
from .building import Network
from .step import dense, gradients

__all__ = ["record"]

_KINDS = ("output", "loss", "regularization")


class _Slices(NamedTuple):
    """What a session gives of ``tf.IndexedSlices``."""

    values: Array
    indices: Array
    dense_shape: Array


def record(
    session: V1Session, network: Network, feeds: Mapping[Tensor, Array], chapter: Chapter, code: UserCode
) -> None:
    """Record outputs and losses, of a training step gradients too, with the weights that a session has.

    Raises:
        NotRunError: if something cannot be computed in float64.
    """
    import tensorflow as tf

    keys = tf.compat.v1.GraphKeys
    found = [value for value in network.values if value.kind in _KINDS]
    if chapter.name == scenarios.FLOAT64_STEP:
        found += gradients(network)
    parts = [_parts(value.tensor) if value.fetched else [] for value in found]
    fetched = [tensor for tensors in parts for tensor in tensors]
    needed = upstream([tensor.op for tensor in fetched])
    variables = [
        variable
        for variable in [*network.variables, *network.graph.get_collection(keys.LOCAL_VARIABLES)]
        if variable.op in needed or getattr(variable, "handle", variable).op in needed
    ]
    values: dict[str, Array] = {}
    for variable, array in sessions.read(session, variables):
        held: Any = getattr(variable, "handle", variable)
        values[str(held.op.name)] = array
    computed = running.computed(
        network.graph.as_graph_def(),
        [tensor.name for tensor in fetched],
        {tensor.name: np.asarray(array, tensor.dtype.as_numpy_dtype) for tensor, array in feeds.items()},
        values,
        [one.name for one in network.graph.get_collection(keys.TABLE_INITIALIZERS) if one.inputs[0].op in needed],
        lambda name: place_of(network.graph.get_operation_by_name(name), code),
    )
    arrays, moves = iter(computed.arrays), iter(computed.moves)
    for value, tensors in zip(found, parts):
        own, moved = [next(arrays) for _ in tensors], max((next(moves) for _ in tensors), default=0.0)
        array = np.asarray(value.tensor, np.float64) if not own else _whole(own)
        chapter.add(value.kind, value.name, array, place=value.place, moved=moved)


def _parts(tensor: Tensor) -> list[Tensor]:
    """The tensors that a session fetches for one; those of rows that are a gradient are three."""
    if hasattr(tensor, "indices") and hasattr(tensor, "values"):
        return [tensor.values, tensor.indices, tensor.dense_shape]
    return [getattr(tensor, "_as_graph_element", lambda: tensor)()]


def _whole(computed: list[Array]) -> Array:
    return computed[0] if len(computed) == 1 else dense(_Slices(*computed))
