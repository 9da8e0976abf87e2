"""What a placeholder, or what else is fed, holds: its shape, its dtype and its range, by how it is made and used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..analysis.names import PLACEHOLDERS, Name
from ..rule_api.model import Call
from .found import Given, Missing
from .tracing import UNKNOWN, Program, Spot, is_pipeline

__all__ = ["describe", "dropout_off", "fed_to", "lengths_of", "makes_variables", "range_of", "width"]

_VARIABLES = ("tensorflow.Variable", "tensorflow.get_variable", "tensorflow.get_local_variable")
_LAYERS = ("tensorflow.layers.", "slim.", "keras.layers.", "tensorflow.nn.rnn_cell.", "tensorflow.contrib.")
_DTYPES = {"string": "str", "half": "float16", "float": "float32", "double": "float64", "bool_": "bool"}
_SPARSE = (
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits",
    "tensorflow.losses.sparse_softmax_cross_entropy",
    "tensorflow.contrib.seq2seq.sequence_loss",
)
_LENGTHS = {
    "tensorflow.nn.dynamic_rnn": ("sequence_length", 2),
    "tensorflow.nn.bidirectional_dynamic_rnn": ("sequence_length", 3),
    "tensorflow.nn.static_rnn": ("sequence_length", 4),
    "tensorflow.nn.static_bidirectional_rnn": ("sequence_length", 6),
    "tensorflow.sequence_mask": ("lengths", 0),
    "tensorflow.reverse_sequence": ("seq_lengths", 1),
    "tensorflow.contrib.crf.crf_log_likelihood": ("sequence_lengths", 2),
    "tensorflow.contrib.seq2seq.TrainingHelper": ("sequence_length", 1),
}
"""What takes how many steps each row of a batch has, by which parameter."""
_LENGTH_WORDS = {word for word, _ in _LENGTHS.values() if word != "lengths"}
_WIDTHS = {
    "dense": ("units", 1),
    "fully_connected": ("num_outputs", 1),
    "Dense": ("units", 0),
    "linear": ("num_outputs", 1),
}


def makes_variables(name: str) -> bool:
    """Whether a public name makes variables."""
    return name in _VARIABLES or (name.startswith(_LAYERS) and not name.endswith((".flatten", ".dropout", "pooling2d")))


def fed_to(program: Program, *spots: Spot) -> Iterator[Spot]:
    """The placeholders, and the tensors of input pipelines, that some expressions are made of."""
    for spot in program.closure(*spots):
        call = spot.call
        fed = call is not None and (call.name in PLACEHOLDERS or is_pipeline(call))
        if fed or id(spot.node) in program.pipelines:
            yield spot


def describe(program: Program, spot: Spot, name: str) -> Given:
    """What the call that makes a placeholder says of it."""
    call = spot.call
    given = Given(name, spot.where)
    if call is None or call.name not in PLACEHOLDERS:
        rows = _rows_of(program, spot)
        if rows is not None:
            given.shape = (rows, Missing(f"the shape of `{name}` behind the rows, {spot.where}"))
        return given
    given.sparse = call.name in ("tensorflow.sparse_placeholder", "tensorflow.sparse.placeholder")
    kind, shape = PLACEHOLDERS[call.name]
    node = call.value(kind, 0)
    if node is not None and call.name != "tensorflow.placeholder_with_default":
        given.dtype = dtype_of(program, spot.at(node))
    node = call.value(shape, 1)
    if node is not None:
        sizes = program.value(spot.at(node))
        if isinstance(sizes, int):
            sizes = (sizes,)
        if isinstance(sizes, tuple):
            shape_node = node.elts if isinstance(node, ast.Tuple | ast.List) else []
            given.shape = tuple(
                size
                if size is None or (isinstance(size, int) and not isinstance(size, bool))
                else Missing(f"size {place} of {name}, {_text(shape_node, place)}{spot.where}")
                for place, size in enumerate(sizes)
            )
    return given


def _rows_of(program: Program, spot: Spot) -> int | None:
    """The number of rows of what the queue of an input pipeline gives."""
    of_part = (fact.source for fact in spot.file.index.assignments if fact.target is spot.node)
    made = next((spot.at(one) for one in of_part if one is not None), spot)
    node = None if made.call is None else made.call.value("batch_size", 1)
    rows = None if node is None else program.value(made.at(node))
    return rows if isinstance(rows, int) else None


def _text(nodes: list[ast.expr], place: int) -> str:
    return f"`{ast.unparse(nodes[place])}` in " if place < len(nodes) else ""


def dtype_of(program: Program, spot: Spot) -> str | None:
    """The dtype that an expression names, as numpy calls it."""
    value = program.value(spot)
    if not isinstance(value, str):
        names = [name.canonical for one in program.closure(spot) for name in _names(one)]
        value = next((name.rpartition(".")[2] for name in names if name.startswith(("tensorflow.", "numpy."))), "")
    return _DTYPES.get(value, value) or None


def _names(spot: Spot) -> Iterator[Name]:
    if isinstance(spot.node, ast.Name | ast.Attribute):
        reference = spot.file.reference_at(spot.node)
        yield from () if reference is None else reference.names


def width(program: Program, *spots: Spot) -> int | None:
    """The size of the last axis of a tensor, as far as the layer or product that makes it says."""
    queue, seen = list(spots), set()
    while queue:
        spot = queue.pop(0)
        if id(spot.node) in seen:
            continue
        seen.add(id(spot.node))
        call = spot.call
        last = call.name.rpartition(".")[2].removesuffix("()") if call is not None else ""
        if call is not None and call.name.endswith("()") and isinstance(spot.node, ast.Call):
            inner = spot.node.func
            queue += program.sources(spot.at(inner)) if isinstance(inner, ast.Name) else [spot.at(inner)]
            if isinstance(inner, ast.Call):
                continue
        node = None
        if call is not None and last in _WIDTHS:
            node = call.value(*_WIDTHS[last])
        elif call is not None and call.name in ("tensorflow.matmul", "tensorflow.linalg.matmul"):
            right = call.value("b", 1)
            if right is not None and (size := _size_of(program, spot.at(right), -1)) is not None:
                return size
            continue
        elif call is not None and call.name == "tensorflow.nn.xw_plus_b" and (right := call.value("weights", 1)):
            return _size_of(program, spot.at(right), -1)
        elif call is not None and call.name == "tensorflow.reshape":
            node = call.value("shape", 1)
            sizes = program.value(spot.at(node)) if node is not None else UNKNOWN
            if isinstance(sizes, tuple) and len(sizes) > 1 and isinstance(sizes[-1], int) and sizes[-1] > 0:
                return sizes[-1]
            continue
        if node is not None:
            size = program.value(spot.at(node))
            return size if isinstance(size, int) else None
        queue += program.sources(spot)
    return None


def _sizes(program: Program, spot: Spot) -> tuple[object, ...]:
    """The shape of the variable that an expression is made of."""
    for one, call, name in program.named(spot):
        if name in _VARIABLES:
            node = call.value("initial_value", 0) if name == "tensorflow.Variable" else call.value("shape", 1)
            if isinstance(node, ast.Call):  # as of tf.zeros([4, 3])
                node = next(iter([*(k.value for k in node.keywords if k.arg == "shape"), *node.args]), None)
            sizes = program.value(one.at(node)) if node is not None else UNKNOWN
            if isinstance(sizes, tuple) and sizes:
                return sizes
    return ()


def _size_of(program: Program, spot: Spot, place: int) -> int | None:
    sizes = _sizes(program, spot)
    return size if sizes and isinstance(size := sizes[place], int) else None


def _untold(given: Given, spot: Spot, what: str) -> Missing:
    """How many numbers a tensor may hold, by something whose size the text does not tell."""
    return Missing(f"how many numbers `{given.name}` may hold: {what} `{ast.unparse(spot.node)}`, {spot.where}")


def range_of(program: Program, given: Given, made: Spot, roots: list[Spot]) -> None:
    """What a tensor of whole numbers may hold, and whether one of numbers is one-hot, by what it is given to."""
    for spot, call, name in program.named(*roots):
        last = name.rpartition(".")[2]
        taken = [spot.at(one) for one in call.arguments]
        mine = [one for one in taken if _is_made_of(program, one, made)]
        if not mine:
            continue
        given.is_length = given.is_length or any(_stands_for(program, spot.at(one), made) for one in lengths_of(call))
        bound: object = None
        untold: Missing | None = None
        if (
            name == "tensorflow.one_hot"
            and (node := call.value("depth", 1)) is not None
            and mine[0].node is taken[0].node
        ):
            bound, untold = program.value(spot.at(node)), _untold(given, spot.at(node), "the depth")
        elif last == "embedding_lookup" and (node := call.value("params", 0)) is not None:
            bound, untold = _size_of(program, spot.at(node), 0), _untold(given, spot.at(node), "the rows of")
        elif name == "tensorflow.matmul" and given.shape is None and (node := call.value("b", 1)) is not None:
            rows = _size_of(program, spot.at(node), 0)
            if rows is not None and any(one.node is made.node for one in program.sources(taken[0])):
                given.shape = (None, rows)
        elif name in _SPARSE:
            node = call.value("logits", 0 if "seq2seq" in name else 1)
            if node is not None and not _is_made_of(program, spot.at(node), made):
                bound, untold = width(program, spot.at(node)), _untold(given, spot.at(node), "the width of")
        elif "softmax_cross_entropy" in last and not any(
            makes_variables(made_by) for _, _, made_by in program.named(*mine)
        ):
            given.one_hot = bool(given.shape) and len(given.shape or ()) > 1
        if isinstance(bound, int) and bound > 0:
            given.bound = min(bound, given.bound) if isinstance(given.bound, int) else bound
        elif untold is not None and (given.dtype is None or given.dtype.startswith(("int", "uint"))):
            given.bound = given.bound or untold
        if given.bound is not None:
            given.dtype = given.dtype or "int32"


def lengths_of(call: Call) -> list[ast.expr]:
    """The arguments that say how many steps each row has."""
    found = [one.value for one in call.call.keywords if one.arg in _LENGTH_WORDS]
    if call.name in _LENGTHS and (node := call.value(*_LENGTHS[call.name])) is not None:
        found.append(node)
    return found


def dropout_off(program: Program, made: Spot, roots: list[Spot]) -> str | None:
    """What a tensor has to be for the dropout that it is given to to be off; None where it is given to none."""
    for spot, call, name in program.named(*roots):
        keeps = [one.value for one in call.call.keywords if one.arg is not None and one.arg.endswith("keep_prob")]
        if name == "tensorflow.nn.dropout" and len(call.call.args) > 1:
            keeps.append(call.call.args[1])
        if any(_stands_for(program, spot.at(one), made) for one in keeps):
            return "1.0"
        rate = call.value("rate") if name.rpartition(".")[2].lower() == "dropout" else None
        if rate is not None and _stands_for(program, spot.at(rate), made):
            return "0.0"
    return None


def _stands_for(program: Program, spot: Spot, made: Spot) -> bool:
    """Whether an expression is a name of what something has made, and nothing computed of it."""
    return any(one.node is made.node for one in program.values(spot))


def _is_made_of(program: Program, spot: Spot, made: Spot) -> bool:
    return any(one.node is made.node for one in program.closure(spot))
