"""What a TF2 model computes if it is traced, and the graph computed in float64."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ...errors import essence
from ...frames import UserCode
from ..float64 import running
from ..format.attempts import NotRunError
from ..format.store import Chapter
from ..pairs.batches import Batch
from ..tensors import Array, Graph, Nest, Protobuf, Tensor, Variable
from ..watching.operations import place_of
from .model import inlined

__all__ = ["record"]

_KINDS = {"outputs": "output", "regularization": "regularization", "gradients": "gradient"}


class _Captured(NamedTuple):
    """What a graph takes from outside: values of variables by the names of their operations, and of tensors."""

    variables: dict[str, Array]
    tensors: dict[str, Array]


def record(
    function: Any, batch: Batch, exact: Sequence[tuple[Variable, Array]], chapter: Chapter, code: UserCode
) -> None:
    """Record outputs, losses and gradients.

    Args:
        function: a ``tf.function`` of inputs and labels; gives tensors by name, in groups as those of a step, and a
            ``loss``.
        batch: tensors.
        exact: variables that have another value in float64 than they hold.
        chapter: where to.
        code: tells the user's files.

    Raises:
        NotRunError: if it cannot be traced, or not computed in float64.
    """
    import tensorflow as tf

    try:
        concrete = _traced(function, batch)
    except Exception as error:
        raise NotRunError(f"it cannot be traced by tf.function: {essence(error)}") from error
    graph = concrete.graph
    definition = graph.as_graph_def()
    captured = _captured(graph, definition, exact)
    given = [leaf for leaf in tf.nest.flatten([batch.inputs, batch.labels]) if leaf is not None]
    feeds = {placeholder.name: leaf.numpy() for placeholder, leaf in zip(graph.inputs, given)}
    found = list(_found(concrete.structured_outputs))
    computed = running.computed(
        definition,
        [tensor.name for _, _, tensor in found],
        {**feeds, **captured.tensors},
        captured.variables,
        (),
        lambda name: place_of(graph.get_operation_by_name(name), code),
    )
    for (kind, name, tensor), array, moved in zip(found, computed.arrays, computed.moves):
        chapter.add(kind, name, np.asarray(array), place=place_of(tensor.op, code), moved=moved)


def _traced(function: Any, batch: Batch) -> Any:
    """The graph of all that is computed, functions that are called in it included, unless only a function can do it."""
    with contextlib.suppress(Exception), inlined():
        return function.get_concrete_function(batch.inputs, batch.labels)
    return function.get_concrete_function(batch.inputs, batch.labels)


def _found(parts: Mapping[str, Nest]) -> Iterator[tuple[str, str, Tensor]]:
    """Kind, name and tensor of what is recorded."""
    for group, kind in _KINDS.items():
        for name, tensor in (parts.get(group) or {}).items():
            yield kind, name, tensor
    if parts.get("loss") is not None:
        yield "loss", "loss", parts["loss"]


def _captured(graph: Graph, definition: Protobuf, exact: Sequence[tuple[Variable, Array]]) -> _Captured:
    """The values that a graph captures; its placeholders of variables become variables.

    Raises:
        NotRunError: if it captures a resource that is none.
    """
    import tensorflow as tf

    known = {id(variable.handle): value for variable, value in exact}
    nodes = {node.name: node for node in definition.node}
    found = _Captured({}, {})
    for outer, inner in graph.captures:
        if outer.dtype not in (tf.resource, tf.variant):
            found.tensors[inner.name] = outer.numpy()
            continue
        told = getattr(outer, "_handle_data", None)
        if outer.dtype == tf.variant or told is None or not told.is_set:
            by = ", ".join(sorted({one.type for one in inner.consumers()}))
            raise NotRunError(f"{by or 'it'} uses a resource that is no variable, such as a lookup table")
        dtype = tf.as_dtype(told.shape_and_type[0].dtype)
        own = tf.raw_ops.ReadVariableOp(resource=outer, dtype=dtype).numpy()
        found.variables[inner.op.name] = known.get(id(outer), own)
        node = nodes[inner.op.name]
        node.op = "VarHandleOp"
        node.attr.clear()
        node.attr["dtype"].type = dtype.as_datatype_enum
        node.attr["shape"].shape.CopyFrom(told.shape_and_type[0].shape)
        node.attr["shared_name"].s = node.name.encode()
        node.attr["container"].s = b""
    return found
