"""TF311: a TensorFlow function that is given the placeholder of a functional model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, File, Known, Reference, Scope, Target, missing_part, value_of
from ...linter.rule_api.rewriting import (
    argument,
    has_comment,
    with_argument,
    with_function,
    with_keywords,
    without_argument,
)
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_INPUTS = ("keras.Input",)
_SYMBOLIC = (
    "keras.layers.", "keras.ops.", "keras.activations.", "keras.applications.", "keras.Sequential()", "keras.Model()",
)  # fmt: skip
_TENSORS = frozenset(
    (
        "dtype.as_numpy_dtype", "dtype.base_dtype", "dtype.is_floating", "dtype.is_integer", "dtype.name", "get_shape",
        "graph", "op", "ref", "set_shape", "shape.as_list", "shape.assert_has_rank", "shape.dims",
        "shape.is_compatible_with", "shape.is_fully_defined", "shape.ndims", "shape.num_elements", "shape.rank",
        "shape.with_rank",
    )
)  # fmt: skip
"""What a tensor of TensorFlow has and a KerasTensor has not; its shape is a tuple, its dtype a text."""
_ANY_BACKEND = frozenset(
    f"keras.backend.{name}"
    for name in (
        "arange",
        "eval",
        "eye",
        "floatx",
        "get_uid",
        "get_value",
        "int_shape",
        "is_sparse",
        "name_scope",
        "to_dense",
    )
)
"""Functions of the backend that take a KerasTensor, or none."""
_DEEP = 12
_MODULES = ("tensorflow", "tensorflow.math", "tensorflow.nn", "tensorflow.linalg")
_OPS = {
    **{name: f"{name} x" for name in (
        "abs", "ceil", "cos", "erf", "exp", "floor", "log", "log1p", "negative", "rsqrt", "sigmoid", "sign", "sin",
        "sqrt", "square", "tan", "tanh",
    )},
    **{name: f"{name} x:x1 y:x2" for name in (
        "add", "divide", "divide_no_nan", "equal", "greater", "greater_equal", "less", "less_equal", "logical_and",
        "logical_or", "maximum", "minimum", "multiply", "not_equal", "subtract",
    )},
    **{name: f"{name} features:x" for name in ("elu", "relu", "relu6", "selu", "softplus", "softsign")},
    **{f"reduce_{name}": f"{keras} input_tensor:x axis keepdims" for name, keras in (
        ("all", "all"), ("any", "any"), ("logsumexp", "logsumexp"), ("max", "max"), ("mean", "mean"), ("min", "min"),
        ("prod", "prod"), ("std", "std"), ("sum", "sum"), ("variance", "var"),
    )},
    "cast": "cast x dtype",
    "clip_by_value": "clip t:x clip_value_min:x_min clip_value_max:x_max",
    "concat": "concatenate values:xs axis",
    "expand_dims": "expand_dims input:x axis",
    "gather": "take params:x indices axis=0",
    "leaky_relu": "leaky_relu features:x alpha:negative_slope",
    "log_softmax": "log_softmax logits:x axis",
    "logical_not": "logical_not x",
    "matmul": "matmul a:x1 b:x2",
    "ones_like": "ones_like input:x",
    "pow": "power x:x1 y:x2",
    "repeat": "repeat input:x repeats axis",
    "reshape": "reshape tensor:x shape:newshape",
    "reverse": "flip tensor:x axis",
    "roll": "roll input:x shift axis",
    "softmax": "softmax logits:x axis",
    "squeeze": "squeeze input:x axis",
    "stack": "stack values:x axis",
    "tile": "tile input:x multiples:repeats",
    "transpose": "transpose a:x perm:axes",
    "where": "where condition x:x1 y:x2",
    "zeros_like": "zeros_like input:x",
}  # fmt: skip
"""Functions of TensorFlow that one of `keras.ops` computes likewise [run]: its name, and the parameters in TF2's order,
after a colon as they are called there, after a sign of equality with what is given where TF2's is left out."""
_REASON = "`keras.ops` is Keras 3's alone, and works for whole numbers with other types"


class TfOpOnKerasTensor(Rule):
    """A TensorFlow function is called on a tensor of a functional model, which Keras 3 refuses.

    ## Why
    `keras.Input` and what layers make of it are KerasTensors: they have a shape and a type, and no value.
    Keras 2 turned a TensorFlow function that is given one into a layer.
    Keras 3 raises `ValueError: A KerasTensor cannot be used as input to a TensorFlow function`.
    So do the functions of `tf.keras.backend`, and `x.get_shape()`, `x.shape.as_list()` or `x.dtype.name` raise
    AttributeError: a KerasTensor's shape is a tuple, and its dtype a text.
    Operators (`a * b`, `a[:, 0]`), `keras.ops` and layers work with both; in the `call` of a layer, and in a function
    that a `Lambda` is given, tensors are TensorFlow's.

    ## Example
    ```python
    import tensorflow as tf

    inputs = tf.keras.Input([4])
    outputs = tf.nn.l2_normalize(tf.keras.layers.Dense(2)(inputs), axis=-1)
    model = tf.keras.Model(inputs, outputs)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Normalize(tf.keras.layers.Layer):
        def call(self, x):
            return tf.nn.l2_normalize(x, axis=-1)

    inputs = tf.keras.Input([4])
    outputs = Normalize()(tf.keras.layers.Dense(2)(inputs))
    model = tf.keras.Model(inputs, outputs)
    ```

    ## Fix safety
    Unsafe: Keras 2 has no `keras.ops`, whose functions turn integers to floats where TensorFlow's do not.
    About sixty functions are known to compute the same; a `name=` of them goes.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/keras_core/announcement/
    """

    code = "TF311"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    targets = frozenset({Target.KERAS3})
    recipe = "keras3"
    calls = _INPUTS
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge all calls of a file at its first input: without one they need no look."""
        if call.file.once("first input", lambda: call) is call:
            for other in call.file.calls:
                yield from self._judge(other)
            for reference in call.file.references:
                yield from self._judge_attribute(reference)

    def fix(self, node: libcst.Call, site: Call | Reference) -> Replacement | None:
        """Take the function of `keras.ops`."""
        if not isinstance(site, Call) or len(set(site.names)) != 1 or site.has_stars or site.is_compat_v1:
            return None
        module, _, name = site.name.rpartition(".")
        keras, *rest = _OPS[name].split() if module in _MODULES and name in _OPS else [""]
        written = site.importable(f"tensorflow.keras.ops.{keras}") if keras else None
        if written is None:
            return None
        renamed = {one.partition(":")[0].partition("=")[0]: one.partition(":")[2] for one in rest}
        if len(site.call.args) > len(rest) or not set(site.keywords) <= {*renamed, "name"}:
            return None
        label = argument(node, "name")
        if label is not None:
            if has_comment(*(node.args[-2:] if label is node.args[-1] else [label])):
                return None
            node = without_argument(node, label)
        for place, one in enumerate(rest):
            parameter, _, default = one.partition("=")
            if default and site.value(parameter, place) is None:
                node = with_argument(node, parameter, default)
        new = with_keywords(with_function(node, written[0]), {old: new for old, new in renamed.items() if new})
        return Replacement(new, Applicability.UNSAFE, _REASON, written[1])

    def _judge(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a TensorFlow function by what it is given."""
        names = [name.canonical for name in call.names]
        if not names or not all(_is_op(name) for name in names) or call.version_checked:
            return
        for given in call.arguments:
            if _is_symbolic(call.file, call.scope, given, frozenset()):
                text = ast.unparse(given)
                what = f"`{text}`" if len(text) < 40 else "an argument"
                yield self.report(
                    call,
                    f"`{call.path}` is given {what}, a KerasTensor of a functional model: Keras 3 raises ValueError. "
                    "Use a function of `keras.ops`, or call it in a layer.",
                )
                return

    def _judge_attribute(self, reference: Reference) -> Iterator[Diagnostic]:
        """Judge what is read of a name that is a KerasTensor."""
        head, _, rest = (reference.path or "").partition(".")
        parts = rest.split(".")
        found = next((one for one in (parts[0], ".".join(parts[:2])) if one in _TENSORS), "")
        if found and not reference.version_checked and _is_named(reference.file, reference.scope, head, frozenset()):
            instead = "`tuple(x.shape)`" if "shape" in found else "its `shape` and `dtype`"
            yield self.report(
                reference,
                f"`{head}` is a KerasTensor of a functional model, which has no `{found}` with Keras 3: that raises "
                f"AttributeError. Use {instead}.",
                subject=f"{head}.{found}",
            )


def _is_op(name: str) -> bool:
    """Whether a public name is a function that makes tensors of tensors [run: nearly all 609 raise]."""
    if name.startswith("keras.backend.") and name.count(".") == 2:
        only_in_tf = missing_part("keras", name[6:], Target.KERAS3) is not None
        return name not in _ANY_BACKEND and only_in_tf and missing_part("tensorflow", name, Target.KERAS3) is None
    if name in _TAKES_ANY or "(" in name or not name.startswith("tensorflow."):
        return False
    return value_of(f"{name}()") is Known.TENSOR


_TAKES_ANY = frozenset({"tensorflow.tuple", "tensorflow.timestamp", "tensorflow.random.set_seed"})


def _is_symbolic(file: File, scope: Scope, node: ast.expr, open_: frozenset[tuple[int, str]]) -> bool:
    """Whether an expression is surely a KerasTensor, or a list that holds one; a name that is being judged is one."""
    if len(open_) > _DEEP:
        return False
    if isinstance(node, ast.List | ast.Tuple):
        return any(_is_symbolic(file, scope, item, open_) for item in node.elts)
    if isinstance(node, ast.BinOp):
        return _is_symbolic(file, scope, node.left, open_) or _is_symbolic(file, scope, node.right, open_)
    if isinstance(node, ast.UnaryOp):
        return _is_symbolic(file, scope, node.operand, open_)
    if isinstance(node, ast.Subscript):
        return not isinstance(node.value, ast.List | ast.Tuple) and _is_symbolic(file, scope, node.value, open_)
    if isinstance(node, ast.Call):
        return _is_made(file, scope, node, open_)
    if isinstance(node, ast.Name):
        return _is_named(file, scope, node.id, open_)
    return False


def _is_made(file: File, scope: Scope, node: ast.Call, open_: frozenset[tuple[int, str]]) -> bool:
    """Whether a call makes a KerasTensor: of nothing, or of one that it is given."""
    call = file.call_at(node)
    if call is None:
        return False
    names = [name.canonical for name in call.names]
    if names and all(name in _INPUTS for name in names):
        return True
    layer = file.call_at(node.func) if isinstance(node.func, ast.Call) else None
    makers = [name.canonical for name in layer.names] if layer is not None else names
    known = bool(makers) and all(name.startswith(_SYMBOLIC) or _is_op(name) for name in makers)
    instances = call.found and all(e.kind == "instance" and "layer" in file.project.kinds(e.key) for e in call.found)
    if not known and not instances:
        return False
    return any(_is_symbolic(file, scope, argument, open_) for argument in call.arguments)


def _is_named(file: File, scope: Scope, name: str, open_: frozenset[tuple[int, str]]) -> bool:
    """Whether all that a name of this scope is given is symbolic; for a parameter, in all calls of the file."""
    key = scope.id, name
    if key in open_:
        return True
    binds = scope.binds.get(name, [])
    if not binds or name in scope.constants or name in scope.augmented:
        return False
    if name in scope.parameters:
        return len(binds) == 1 and _is_given(file, scope, name, open_ | {key})
    assigned = file.once("plain assignments", lambda: _plain_assignments(file)).get(key, [])
    return len(assigned) == len(binds) and all(_is_symbolic(file, scope, one, open_ | {key}) for one in assigned)


def _is_given(file: File, scope: Scope, name: str, open_: frozenset[tuple[int, str]]) -> bool:
    calls = file.once("calls by function", lambda: _calls_by_function(file)).get(scope.id, [])
    if scope.owner() is not None or not calls or name not in scope.parameters:
        return False
    given = [call.value(name, scope.parameters.index(name)) for call in calls]
    return all(value is not None for value in given) and all(
        value is not None and _is_symbolic(file, call.scope, value, open_)
        for call, value in zip(calls, given, strict=True)
    )


def _plain_assignments(file: File) -> dict[tuple[int, str], list[ast.expr]]:
    """The values of names, by the scope; of what is assigned with others, none."""
    found: dict[tuple[int, str], list[ast.expr]] = {}
    for assignment in file.assignments:
        if assignment.kind == "name" and assignment.path is not None and assignment.value is not None:
            found.setdefault((assignment.scope.id, assignment.path), []).append(assignment.value)
    return found


def _calls_by_function(file: File) -> dict[int, list[Call]]:
    """The calls of the file's functions; none of those that are also given away."""
    found: dict[int, list[Call]] = {}
    for call in file.calls:
        for entity in call.found:
            if entity.kind == "function" and entity.file == file.key:
                found.setdefault(entity.scope, []).append(call)
    return found
