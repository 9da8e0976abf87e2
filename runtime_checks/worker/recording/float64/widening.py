"""Rewrites the protobuf of a graph from float32 to float64.

Every type, constant and signature becomes float64, in the functions of its library as well. What draws random numbers
stays as it is, so that the numbers are the same, and is cast behind; what has no float64 kernel on the CPU becomes its
arithmetic, see `arithmetic`. What can become neither is refused.
"""

from __future__ import annotations

import zlib
from typing import Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ..tensors import Array, Json, Protobuf
from .arithmetic import BY_OPERATION, Attributes

__all__ = ["RefusedError", "Wide", "inexact", "moved", "widened"]

_PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc", "SymbolicGradient")
_DATA = ("Iterator", "Queue", "Reader", "Dataset", "Barrier", "Unstage")
_DRAWS = (
    "Random", "StatelessRandom", "StatelessTruncated", "StatelessMultinomial", "StatelessParameterized", "StatefulRandom",
    "StatefulUniform", "StatefulStandard", "StatefulTruncated", "TruncatedNormal", "ParameterizedTruncated", "Multinomial"
)
_BYTES = ("Bitcast", "Decode", "Parse", "Restore")
"""Operations that give or take floating numbers as bytes."""
_ANY_WAY = ("TensorArray", "Assert", "Print", "NoOp")
"""Operations whose float32 inputs or outputs carry no values, such as the flow of a ``TensorArray``."""
_CASTS = "__in_float32"
_DIGITS = 1 << 12
"""Numbers of at most so many units are taken for exact as they were written."""


class RefusedError(Exception):
    """What cannot be computed in float64; the text says which operation, and why.

    Attributes:
        node: the name of the operation in the main graph, or of the one that calls the function that it is in.
    """

    def __init__(self, node: str, text: str) -> None:
        super().__init__(text)
        self.node = node


class _Port(NamedTuple):
    """An input or output of an operation, one tensor of it."""

    argument: str
    at: int
    """Its number within the argument."""
    dtype: int
    fixed: bool
    """Whether the operation has no attribute for the dtype."""


class Wide(NamedTuple):
    """A graph in float64; `renamed` are tensors that another node gives now."""

    graph_def: Protobuf
    renamed: Mapping[str, str]


def widened(graph_def: Protobuf) -> Wide:
    """A graph like this one in float64; functions that nothing calls are left out.

    Raises:
        RefusedError: if it cannot be.
    """
    from tensorflow.core.framework import graph_pb2

    made = graph_pb2.GraphDef()
    made.versions.CopyFrom(graph_def.versions)
    functions = {one.signature.name: one for one in graph_def.library.function}
    library = _Library(functions)
    main = _Body(library, graph_def.node, None)
    made.node.extend(main.nodes)
    done: set[str] = set()
    while library.wanted:
        name, by = library.wanted.popitem()
        if name not in done:
            done.add(name)
            made.library.function.add().CopyFrom(_function(library, functions[name], by))
    made.library.function.extend(library.made.values())
    return Wide(made, main.renamed)


def _function(library: _Library, function: Protobuf, by: str) -> Protobuf:
    from tensorflow.core.framework import function_pb2, types_pb2

    body = _Body(library, function.node_def, by)
    made = function_pb2.FunctionDef()
    made.CopyFrom(function)
    del made.node_def[:]
    made.node_def.extend(body.nodes)
    for argument in [*made.signature.input_arg, *made.signature.output_arg]:
        if argument.type == types_pb2.DT_FLOAT:
            argument.type = types_pb2.DT_DOUBLE
    for name, tensor in function.ret.items():
        made.ret[name] = body.renamed.get(tensor, tensor)
    return made


class _Library:
    """The functions that are called.

    Attributes:
        functions: those of the graph, by name.
        wanted: those that are still to be widened, with the node of the main graph that calls them.
        made: those that do what operations without a kernel did.
    """

    def __init__(self, functions: dict[str, Protobuf]) -> None:
        self.functions = functions
        self.wanted: dict[str, str] = {}
        self.made: dict[str, Protobuf] = {}
        self._definitions: dict[str, Protobuf] = {}

    def definition(self, operation: str) -> Protobuf:
        """What an operation takes and gives."""
        if operation in self.functions:
            return self.functions[operation].signature
        if operation not in self._definitions:
            self._definitions[operation] = _registered(operation)
        return self._definitions[operation]

    def arithmetic(self, node: Protobuf, attributes: Attributes, count: int) -> Protobuf:
        """The function that computes an operation in float64: `count` tensors of that dtype in."""
        key = "{}__{:08x}".format(node.op, zlib.crc32(repr(sorted(attributes.items())).encode()))
        if key not in self.made:
            self.made[key] = _traced(node.op, attributes, count)
            self.made[key].signature.name = key
        return self.made[key]


class _Body:
    """The nodes of a graph or function, widened.

    Attributes:
        nodes: all of them.
        renamed: what tensors are called that another node gives now.
    """

    def __init__(self, library: _Library, nodes: Sequence[Protobuf], by: str | None) -> None:
        self._library = library
        self._by = by
        self.nodes: list[Protobuf] = []
        self.renamed: dict[str, str] = {}
        self._behind: set[str] = set()
        for node in nodes:
            self._add(node)
        for node in self.nodes:
            for at, name in enumerate(node.input):
                if node.name not in self._behind:
                    node.input[at] = self.renamed.get(name, name)

    def _add(self, node: Protobuf) -> None:
        from tensorflow.core.framework import node_def_pb2, types_pb2

        definition = self._library.definition(node.op)
        inputs, outputs = list(_ports(node, definition.input_arg)), list(_ports(node, definition.output_arg))
        floats = [any(port.dtype == types_pb2.DT_FLOAT for port in ports) for ports in (inputs, outputs)]
        self._check(node, any(floats))
        made = node_def_pb2.NodeDef()
        made.CopyFrom(node)
        for key in [key for key in made.attr if key in ("_class", "_gradient_op_type", "_XlaMustCompile")]:
            del made.attr[key]
        made.device = ""
        for function in _called(node):
            self._library.wanted.setdefault(function, self._by or node.name)
        if any(floats) and self._is_kept(node, inputs, outputs):
            self._keep(made, inputs, outputs)
        elif any(floats) and node.op in BY_OPERATION:
            self._replace(made, inputs, outputs)
        else:
            for attribute in made.attr.values():
                _widen(attribute)
            if node.op not in self._library.functions and not _has_kernel(node, made, definition):
                raise self._refused(node, "has no float64 kernel")
        self.nodes.append(made)

    def _check(self, node: Protobuf, is_float: bool) -> None:
        from tensorflow.core.framework import types_pb2

        if node.op in _PYTHON:
            raise self._refused(node, "runs Python code, whose dtypes cannot be changed")
        if any(word in node.op for word in _DATA):
            raise self._refused(node, "reads data of the graph's own")
        if is_float and node.op.startswith(_BYTES):
            raise self._refused(node, "takes or gives float32 as bytes")
        for attribute in node.attr.values():
            if {attribute.type, *attribute.list.type} & {types_pb2.DT_HALF, types_pb2.DT_BFLOAT16}:
                raise self._refused(node, "computes with 16 bits as the program says, so float64 would not be it")

    def _refused(self, node: Protobuf, why: str) -> RefusedError:
        return RefusedError(self._by or node.name, f"{node.op} {why}")

    def _is_kept(self, node: Protobuf, inputs: Sequence[_Port], outputs: Sequence[_Port]) -> bool:
        """Whether an operation has to compute in float32, and the values are the same all the same."""
        from tensorflow.core.framework import types_pb2

        if _is_draw(node):
            if any(port.dtype == types_pb2.DT_FLOAT for port in inputs):
                raise self._refused(node, "draws by numbers that are computed: its draws would be of float32")
            return True
        given, gives = ([port for port in ports if port.dtype == types_pb2.DT_FLOAT] for ports in (inputs, outputs))
        if node.op in BY_OPERATION or not any(port.fixed for port in [*given, *gives]):
            return False
        if given and gives and not node.op.startswith(_ANY_WAY):
            raise self._refused(node, "computes in float32 always")
        return True

    def _keep(self, made: Protobuf, inputs: Sequence[_Port], outputs: Sequence[_Port]) -> None:
        """Leave an operation in float32; what is fixed is cast in front of it and behind, the rest is widened."""
        from tensorflow.core.framework import types_pb2

        drawing = _is_draw(made)
        if not drawing:
            for attribute in made.attr.values():
                _widen(attribute)
        for at, port in enumerate(inputs):
            if port.dtype == types_pb2.DT_FLOAT and port.fixed:
                name = f"{made.name}{_CASTS}_{at}"
                self._cast(name, made.input[at], types_pb2.DT_DOUBLE, types_pb2.DT_FLOAT)
                made.input[at] = self._tensor(name, "y", 0, 0)
        for at, port in enumerate(outputs):
            if port.dtype == types_pb2.DT_FLOAT and (port.fixed or drawing):
                name = f"{made.name}{_CASTS}_{at}_out"
                own = self._tensor(made.name, port.argument, port.at, at)
                self._cast(name, own, types_pb2.DT_FLOAT, types_pb2.DT_DOUBLE)
                self._behind.add(name)
                self.renamed[own] = self._tensor(name, "y", 0, 0)

    def _cast(self, name: str, tensor: str, source: int, target: int) -> None:
        from tensorflow.core.framework import node_def_pb2

        made = node_def_pb2.NodeDef(name=name, op="Cast", input=[tensor])
        made.attr["SrcT"].type, made.attr["DstT"].type = source, target
        made.attr["Truncate"].b = False
        self.nodes.append(made)

    def _replace(self, made: Protobuf, inputs: Sequence[_Port], outputs: Sequence[_Port]) -> None:
        """Call the function that does the arithmetic, in the place of the operation."""
        from tensorflow.core.framework import types_pb2

        function = self._library.arithmetic(made, _attributes(made), len(inputs))
        for at, port in enumerate(outputs):
            self.renamed[self._tensor(made.name, port.argument, port.at, at)] = self._tensor(
                made.name, "output", at, at
            )
        made.op = "PartitionedCall"
        made.attr.clear()
        made.attr["f"].func.name = function.signature.name
        made.attr["Tin"].list.type.extend([types_pb2.DT_DOUBLE] * len(inputs))
        made.attr["Tout"].list.type.extend([types_pb2.DT_DOUBLE] * len(function.signature.output_arg))

    def _tensor(self, node: str, argument: str, at: int, flat: int) -> str:
        """The name of an output, in a function or in a graph."""
        if self._by is not None:
            return f"{node}:{argument}:{at}"
        return node if flat == 0 else f"{node}:{flat}"


def _is_draw(node: Protobuf) -> bool:
    return bool(node.op.startswith(_DRAWS)) and node.op != "RandomShuffle"


def _ports(node: Protobuf, arguments: Iterable[Protobuf]) -> Iterator[_Port]:
    """The tensors that a node takes, or gives, one after the other."""
    for one in arguments:
        if one.type_list_attr:
            for at, dtype in enumerate(node.attr[one.type_list_attr].list.type):
                yield _Port(one.name, at, dtype, False)
            continue
        dtype = node.attr[one.type_attr].type if one.type_attr else one.type
        for at in range(node.attr[one.number_attr].i if one.number_attr else 1):
            yield _Port(one.name, at, dtype, not one.type_attr)


def _called(node: Protobuf) -> Iterator[str]:
    """The functions that a node names."""
    for attribute in node.attr.values():
        for function in [attribute.func, *attribute.list.func]:
            if function.name:
                yield function.name


def _widen(attribute: Protobuf) -> None:
    """Make an attribute one of float64."""
    from tensorflow.core.framework import types_pb2
    from tensorflow.python.framework import tensor_util

    if attribute.type == types_pb2.DT_FLOAT:
        attribute.type = types_pb2.DT_DOUBLE
    for at, dtype in enumerate(attribute.list.type):
        if dtype == types_pb2.DT_FLOAT:
            attribute.list.type[at] = types_pb2.DT_DOUBLE
    if attribute.HasField("tensor") and attribute.tensor.dtype == types_pb2.DT_FLOAT:
        value = tensor_util.MakeNdarray(attribute.tensor).astype(np.float64)
        attribute.tensor.CopyFrom(tensor_util.make_tensor_proto(value))
    for function in [attribute.func, *attribute.list.func]:
        for own in function.attr.values():
            _widen(own)


def _attributes(node: Protobuf) -> dict[str, Json]:
    """What the arithmetic of a node depends on."""
    found: dict[str, Json] = {}
    for name, value in node.attr.items():
        kind = value.WhichOneof("value")
        if kind in ("f", "i", "b", "s") and name[:1] != "_":
            found[name] = getattr(value, kind)
    found.setdefault("data_format", b"NHWC")
    return found


def _traced(operation: str, attributes: Attributes, count: int) -> Protobuf:
    """The definition of a function that does an operation's arithmetic."""
    import tensorflow as tf

    rank = len(attributes["data_format"])
    first = 2 if operation.endswith(("Grad", "GradV2", "GradV3")) else 1
    if operation == "LRNGrad":
        first = 3
    specs = [tf.TensorSpec([None] * rank if at < first else None, tf.float64) for at in range(count)]

    def computed(*inputs: Array) -> list[Array]:
        return BY_OPERATION[operation](attributes, inputs)

    with tf.Graph().as_default():
        concrete = tf.function(computed, autograph=False).get_concrete_function(*specs)
        definition = concrete.function_def
    from tensorflow.core.framework import function_pb2

    made = function_pb2.FunctionDef()
    made.CopyFrom(definition)
    return made


def _registered(operation: str) -> Protobuf:
    from tensorflow.python.framework import op_def_registry

    get: Callable[[str], Protobuf] | None = getattr(op_def_registry, "get", None)
    found = op_def_registry.get_registered_ops().get(operation) if get is None else get(operation)
    if found is None:
        raise RefusedError("", f"{operation} is not an operation that is known")
    return found


_KERNELS: dict[str, list[Protobuf]] = {}


def _has_kernel(node: Protobuf, made: Protobuf, definition: Protobuf) -> bool:
    """Whether the CPU can run an operation with its new types, of those that it could run before."""
    from tensorflow.python.framework import kernels

    changed = {name: one.type for name, one in made.attr.items() if one.type and one.type != node.attr[name].type}
    if not changed:
        return True
    for attribute in definition.attr:
        allowed = attribute.allowed_values.list.type
        if allowed and changed.get(attribute.name, allowed[0]) not in allowed:
            return False
    if node.op not in _KERNELS:
        found = kernels.get_registered_kernels_for_op(node.op).kernel
        _KERNELS[node.op] = [kernel for kernel in found if kernel.device_type in ("CPU", "DEFAULT")]
    return any(
        all(
            changed.get(one.name, one.allowed_values.list.type[0]) in one.allowed_values.list.type
            for one in kernel.constraint
            if one.allowed_values.list.type
        )
        for kernel in _KERNELS[node.op]
    )


def inexact(value: Array) -> Array:
    """Which numbers float32 may have rounded when they were written: not those of a few binary digits."""
    mantissa, _ = np.frexp(value)
    scaled = mantissa * _DIGITS
    return np.isfinite(value) & (scaled != np.round(scaled))


def moved(graph_def: Protobuf) -> Protobuf:
    """The widened graph with its constants moved by half a unit in the last place of float32, up or down.

    Programs that are equal may round a constant at another place, such as 1 - 0.1 and 0.9: no difference below what
    this changes tells them apart.
    """
    from tensorflow.core.framework import graph_pb2, types_pb2
    from tensorflow.python.framework import tensor_util

    made = graph_pb2.GraphDef()
    made.CopyFrom(graph_def)
    for nodes in [made.node, *(function.node_def for function in made.library.function)]:
        for node in nodes:
            tensor = node.attr["value"].tensor if node.op == "Const" else None
            if tensor is None or tensor.dtype != types_pb2.DT_DOUBLE:
                continue
            value = tensor_util.MakeNdarray(tensor)
            draws = np.random.RandomState(zlib.crc32(node.name.encode())).randint(0, 2, value.shape)
            shifted = np.where(inexact(value), value * (1.0 + (2 * draws - 1) * 2.0**-24), value)
            tensor.CopyFrom(tensor_util.make_tensor_proto(shifted))
    return made
