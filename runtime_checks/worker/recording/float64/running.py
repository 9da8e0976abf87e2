"""Computes values of a graph in float64."""

from __future__ import annotations

import os
import re
from typing import Callable, Iterable, Mapping, NamedTuple, Sequence

import numpy as np

from ...errors import essence
from ..format.attempts import NotRunError
from ..format.rows import Place
from ..tensors import Array, Operation, Protobuf, Tensor
from .widening import RefusedError, as_written, moved, widened

__all__ = ["Values", "computed", "held"]

_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")


class Values(NamedTuple):
    """Arrays in float64, and how far each moves if the constants of the graph were rounded otherwise."""

    arrays: list[Array]
    moves: list[float]


def held(value: Array) -> Array:
    """The value of a variable: one number, such as a rate, may be a constant of the other side."""
    value = np.asarray(value)
    return as_written(value) if value.size == 1 and value.dtype == np.float32 else _wide(value)


def computed(
    graph_def: Protobuf,
    fetches: Sequence[str],
    feeds: Mapping[str, Array],
    variables: Mapping[str, Array],
    first: Iterable[str],
    place: Callable[[str], Place | None],
) -> Values:
    """What a graph computes in float64 from variables, by the names of their operations, and feeds, by tensor.

    Args:
        graph_def: of a graph in float32.
        fetches: names of tensors.
        feeds: by the names of tensors.
        variables: values of at least those that the fetches depend on.
        first: names of operations to be run before, as far as the fetches depend on what they fill.
        place: where the user wrote an operation of the graph.

    Raises:
        NotRunError: if it cannot be computed so; the text says which operation is in the way.
    """
    try:
        return _computed(graph_def, fetches, feeds, variables, list(first))
    except RefusedError as refused:
        where = place(refused.node)
        shown = "" if where is None else f" ({os.path.basename(where[0])}:{where[1]})"
        raise NotRunError(f"{refused}{shown}") from refused
    except Exception as error:
        raise NotRunError(f"the graph could not be run in float64: {essence(error)}") from error


def _computed(
    graph_def: Protobuf,
    fetches: Sequence[str],
    feeds: Mapping[str, Array],
    variables: Mapping[str, Array],
    first: Sequence[str],
) -> Values:
    import tensorflow as tf

    graph_def, given = _cut(graph_def, feeds)
    feeds = {given.get(name, name): value for name, value in feeds.items()}
    fetches = [given.get(name, name) for name in fetches]
    wanted = [name.partition(":")[0] for name in fetches]
    graph_def = tf.compat.v1.graph_util.extract_sub_graph(graph_def, [*dict.fromkeys([*wanted, *first])])
    for node in graph_def.node:
        if node.op in _VARIABLES and node.name not in variables:
            raise RefusedError(node.name, f"the variable {node.name} is in no collection, so its value is not known")
    wide = widened(graph_def)
    sources = [wide.renamed.get(re.sub(":0$", "", name), name) for name in fetches]
    fetches = [name if ":" in name else f"{name}:0" for name in sources]
    arrays = _run(wide.graph_def, fetches, feeds, variables, first)
    others = _run(moved(wide.graph_def), fetches, feeds, variables, first)
    return Values(arrays, [_apart(one, other) for one, other in zip(arrays, others)])


def _cut(graph_def: Protobuf, feeds: Mapping[str, Array]) -> tuple[Protobuf, dict[str, str]]:
    """The graph with placeholders for all that is fed, such as what an iterator gives, and what they are called."""
    import tensorflow as tf

    kinds = {node.name: node.op for node in graph_def.node}
    fed = [name for name in feeds if not kinds[name.partition(":")[0]].startswith("Placeholder")]
    given = {name: "{}__fed_{}:0".format(*name.split(":")) for name in fed}
    if not given:
        return graph_def, given
    cut = type(graph_def)()
    cut.CopyFrom(graph_def)
    for node in cut.node:
        for at, name in enumerate(node.input):
            found = given.get(name if ":" in name else f"{name}:0")
            node.input[at] = name if found is None else found[:-2]
    for name, made in given.items():
        dtype = tf.as_dtype(np.asarray(feeds[name]).dtype).as_datatype_enum
        cut.node.add(name=made[:-2], op="Placeholder").attr["dtype"].type = dtype
    return cut, given


def _run(
    graph_def: Protobuf,
    fetches: Sequence[str],
    feeds: Mapping[str, Array],
    variables: Mapping[str, Array],
    first: Sequence[str],
) -> list[Array]:
    import tensorflow as tf

    names = {node.name for node in graph_def.node}
    own = [node.name for node in graph_def.node if node.op in _VARIABLES]
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=1, allow_soft_placement=True)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        assigns = [_assigned(graph.get_operation_by_name(name), held(variables[name])) for name in own]
        with tf.compat.v1.Session(graph=graph, config=config) as session:
            for operation, fed in assigns:
                session.run(operation, fed)
            for name in first:
                session.run(graph.get_operation_by_name(name))
            fed = {name: _wide(value) for name, value in feeds.items() if name.partition(":")[0] in names}
            return list(session.run(list(fetches), fed))


def _assigned(operation: Operation, value: Array) -> tuple[Operation, Mapping[Tensor, Array]]:
    import tensorflow as tf

    fed = tf.compat.v1.placeholder(value.dtype, value.shape)
    tensor = operation.outputs[0]
    if operation.type == "VarHandleOp":
        return tf.raw_ops.AssignVariableOp(resource=tensor, value=fed), {fed: value}
    return tf.raw_ops.Assign(ref=tensor, value=fed, validate_shape=False).op, {fed: value}


def _wide(value: Array) -> Array:
    value = np.asarray(value)
    return value.astype(np.float64) if value.dtype == np.float32 else value


def _apart(one: Array, other: Array) -> float:
    """The largest difference of two arrays; 0 of what is no number."""
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind not in "biufc" or not one.size or one.shape != other.shape:
        return 0.0
    with np.errstate(all="ignore"):
        difference = np.abs(one.astype(np.complex128) - other.astype(np.complex128))
    finite = difference[np.isfinite(difference)]
    return float(np.max(finite)) if finite.size else 0.0
