"""TF629: a loss that the tape knows nothing of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Call, Context, Known, Site, path_of, value_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .models import Tape, given_to, tape_of

_TO_PYTHON = frozenset({"numpy", "tolist", "item"})
_WITHOUT_GRADIENT = frozenset(
    {
        *(f"tensorflow.{name}" for name in ("argmax", "argmin", "argsort", "round", "floor", "numpy_function")),
        *(f"tensorflow.math.{name}" for name in ("argmax", "argmin", "round", "floor", "ceil", "rint", "in_top_k")),
        *(f"tensorflow.{name}" for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")),
        *(f"tensorflow.math.{name}" for name in ("equal", "not_equal", "greater", "less")),
        "tensorflow.Variable", "tensorflow.py_func", "tensorflow.stop_gradient",
    }
)  # fmt: skip
"""Measured: whatever they are given, the gradient behind them is None."""
_DEEP = 12


class TapeDisconnected(Rule):
    """A loss is computed where the tape does not record it, so that every gradient is None.

    ## Why
    A tape records the TensorFlow operations within its `with`, and nothing else.
    What NumPy computes of a tensor, `.numpy()`, `tf.argmax`, a comparison and `tf.constant(variable)` end the record.
    So does an operation on the loss after the `with`.
    `tape.gradient` then gives None for every source, and `apply_gradients` raises "No gradients provided for any
    variable"; a loss that is no tensor at all raises AttributeError in `gradient`.
    TF1's `tf.gradients` saw the whole graph, wherever its parts were made.
    In a `tf.function` NumPy raises; other rules say so.

    The rule follows the loss backwards and speaks where every way ends so: it is silent where another term of the loss
    may reach a variable.
    `tf.constant` of a tensor that the tape has recorded passes gradients on, and is not reported.

    ## Example
    ```python
    import tensorflow as tf

    def slopes(x, y):
        with tf.GradientTape() as tape:
            predicted = model(x)
        loss = tf.reduce_mean((predicted - y) ** 2)
        return tape.gradient(loss, model.trainable_variables)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def slopes(x, y):
        with tf.GradientTape() as tape:
            predicted = model(x)
            loss = tf.reduce_mean((predicted - y) ** 2)
        return tape.gradient(loss, model.trainable_variables)
    ```

    ## Source
    - https://www.tensorflow.org/guide/autodiff#getting_a_gradient_of_none
    """

    code = "TF629"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    calls = ("tensorflow.GradientTape",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the losses that the gradients of a tape are taken of."""
        tape = tape_of(call)
        if tape is None or call.version_checked or any(one.path == f"{tape.name}.watch" for one in tape.siblings):
            return
        told: set[int] = set()
        for gradient in tape.gradients:
            target = gradient.value("target", 0)
            found = _judge(tape, gradient, target) if target is not None else None
            if found is None or id(found[0].syntax) in told:
                continue
            site, what = found
            told.add(id(site.syntax))
            ends = "None for every variable"
            if tape.is_training:
                ends += ", and `apply_gradients` raises ValueError"
            yield self.report(
                site,
                f"{what}: `{gradient.path}` is {ends}. Compute the whole loss in the `with`, with operations of "
                "TensorFlow that have a gradient.",
                consequence=None if tape.is_training else Consequence.CHANGES,
                subject=path_of(target),
                related=(gradient.location("the gradient"),),
            )


def _judge(tape: Tape, gradient: Call, target: ast.expr) -> tuple[Site, str] | None:
    """What ends the record of a loss, and how."""
    if isinstance(target, ast.Name):
        given = given_to(gradient, target.id)
        if given is None:
            return None
        if given.line > (tape.node.end_lineno or 0) and not _is_taped(given):
            text = f"`{target.id}` is computed after the `with` of `{tape.name}`, which does not record it any more"
            return (given, text) if _is_operation(given) else None
    if gradient.in_trace and not gradient.runs(Context.EAGER):
        return None
    ends: list[Call] = []
    if not _is_cut(tape, gradient, target, ends, 0) or not ends:
        return None
    return ends[0], f"`{tape.name}` records nothing behind `{_shown(ends[0])}`"


def _shown(call: Call) -> str:
    text = ast.unparse(call.call)
    return text if len(text) < 40 else f"{call.path or call.method}(...)"


def _is_taped(site: Site) -> bool:
    """Whether some tape is around a place: then the loss may be another one's."""
    for level in site.block.holders():
        if level.kind == "with" and isinstance(level.node, ast.expr):
            call = site.file.call_at(level.node)
            if call is None or call.name == "tensorflow.GradientTape":
                return True
    return False


def _is_operation(assignment: Assignment) -> bool:
    """Whether the value is surely computed there, and no other name for one that the tape has recorded."""
    value = assignment.value
    if assignment.augmented:
        return assignment.is_tensor(value) is Known.TENSOR
    if isinstance(value, ast.BinOp):
        return not isinstance(value.op, ast.Add) or assignment.is_tensor(value) is Known.TENSOR
    call = assignment.file.call_at(value)
    return call is not None and _is_op(call)


def _is_op(call: Call) -> bool:
    """Whether a public function of tensors is called, or a loss of Keras."""
    if not call.names or any(entity.kind != "external" for entity in call.found):
        return False
    return all(_is_pure(name.canonical) for name in call.names)


def _is_pure(name: str) -> bool:
    """Whether a public function makes tensors of what it is given, and has no variables of its own."""
    if name.startswith("keras.losses."):
        return True
    plain = name.startswith(("tensorflow.", "keras.ops.", "keras.backend.")) and "(" not in name
    return plain and not name.startswith("tensorflow.layers.") and value_of(f"{name}()") is Known.TENSOR


def _is_cut(tape: Tape, site: Site, node: ast.expr, ends: list[Call], depth: int) -> bool:
    """Whether no way leads from a value back to a variable; `ends` are the calls that cut one."""
    if depth > _DEEP:
        return False
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return _is_name_cut(tape, site, node, ends, depth)
    if isinstance(node, ast.Call):
        return _is_call_cut(tape, site, node, ends, depth)
    if isinstance(node, ast.Attribute):  # a type, such as `tf.float32`
        names = [name.canonical for name in site.names_of(node)]
        return bool(names) and all(name.startswith("tensorflow.") and "(" not in name for name in names)
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.List | ast.Tuple):
        parts = node.elts
    elif isinstance(node, ast.Subscript):
        parts = [node.value]
    return bool(parts) and all(_is_cut(tape, site, part, ends, depth + 1) for part in parts)


def _is_name_cut(tape: Tape, site: Site, node: ast.Name, ends: list[Call], depth: int) -> bool:
    around = site.file.assignments_by_function.get(site.scope.function().id, [])
    if any(one.path == node.id and one.inside(tape.call.call) for one in around):
        given = given_to(site, node.id)
        if given is None or given.augmented or given.value is None or not given.inside(tape.call.call):
            return False
        return _is_cut(tape, given, given.value, ends, depth + 1)
    return _is_input(tape, site, node)


def _is_input(tape: Tape, site: Site, node: ast.Name) -> bool:
    """Whether a name holds what was there before the tape, and is none of what gradients are taken of."""
    if not tape.trained or node.id in tape.trained or site.is_tensor(node) is Known.VARIABLE:
        return False
    found = site.file.index.lookup(site.scope, node.id)
    if found is None or found[0] is not site.scope.function():
        return False
    if all(bind.kind in ("parameter", "opaque") for bind in found[1]):
        return True
    return site.is_tensor(node) in (Known.TENSOR, Known.OTHER)


def _is_call_cut(tape: Tape, site: Site, node: ast.Call, ends: list[Call], depth: int) -> bool:
    call = site.file.call_at(node)
    if call is None or call.has_stars:
        return False
    if call.method in _TO_PYTHON and not call.arguments and all(entity.kind == "external" for entity in call.found):
        ends.append(call)
        return True
    names = {name.canonical for name in call.names}
    if not names or any(entity.kind != "external" for entity in call.found):
        return False
    if all(name.startswith("numpy.") for name in names) or names <= _WITHOUT_GRADIENT:
        if any(_may_be_recorded(call, argument) for argument in call.arguments):
            ends.append(call)
        return True
    first = call.value("value", 0)
    if names == {"tensorflow.constant"} and first is not None and call.is_tensor(first) is Known.VARIABLE:
        ends.append(call)
        return True
    return _is_op(call) and all(_is_cut(tape, site, one, ends, depth + 1) for one in call.arguments)


def _may_be_recorded(call: Call, node: ast.expr) -> bool:
    return call.is_tensor(node) in (Known.TENSOR, Known.LIKELY, Known.VARIABLE)
