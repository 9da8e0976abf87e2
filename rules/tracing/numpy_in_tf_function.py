"""TF203: NumPy and its kin on a tensor of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context, Known
from ...linter.rule_api.rewriting import with_function
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .autograph import is_conditional, is_tensor
from .traces import BY_CERTAINTY, at_most, held, is_number, trace_of

if TYPE_CHECKING:
    import libcst

_STATIC = frozenset(
    {"shape", "ndim", "isscalar", "iterable", "random", "dtype", "issubdtype", "result_type", "can_cast", "vectorize"}
)
"""They read an attribute of the tensor, or nothing at all."""

_SAID = {
    Known.TENSOR: "is a symbolic tensor: it raises",
    Known.VARIABLE: "is a symbolic tensor: it raises",
    Known.LIKELY: "most likely is a symbolic tensor: then it raises",
    Known.POSSIBLE: "may be a symbolic tensor: then it raises",
}

_SAME_NAME = frozenset(
    {
        "abs", "add", "argmax", "argmin", "argsort", "clip", "concatenate", "cos", "cosh", "cumprod", "cumsum",
        "divide", "dot", "einsum", "equal", "exp", "expand_dims", "expm1", "floor", "greater", "isfinite", "isinf",
        "isnan", "less", "log", "log1p", "matmul", "max", "maximum", "mean", "min", "minimum", "multiply", "negative",
        "not_equal", "ones_like", "pad", "power", "prod", "repeat", "reshape", "round", "sign", "sin", "sinh", "sort",
        "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "tan", "tanh", "tensordot", "tile",
        "transpose", "var", "where", "zeros_like",
    }
)  # fmt: skip
"""Functions that `tf.experimental.numpy` has under the same name."""

_SAME_TYPE = {
    "abs": "abs", "absolute": "abs", "negative": "negative", "round": "round", "sign": "sign", "square": "square",
}  # fmt: skip
"""Functions of one argument that give its type, and those of `tf.math` that give the same numbers."""
_OF_FLOATS = {
    **{name: name for name in ("ceil", "cos", "cosh", "exp", "expm1", "floor", "log", "log1p", "sin", "sinh", "sqrt")},
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh",
    "isfinite": "is_finite", "isinf": "is_inf", "isnan": "is_nan", "tan": "tan", "tanh": "tanh",
}  # fmt: skip
"""Those that NumPy turns whole numbers into floats for, or knows what to say of, and TensorFlow refuses."""
_OF_TWO = frozenset({"add", "maximum", "minimum", "multiply", "subtract"})
"""Functions of two arguments, of which one may be a number."""


class NumpyInTfFunction(Rule):
    """A NumPy function is called on a tensor in traced code: there is no value to convert yet.

    ## Why
    NumPy, SciPy, scikit-learn, OpenCV, Pillow and `math` work on values; while a graph is traced a tensor is symbolic.
    `np.sum(x)` raises `NotImplementedError: Cannot convert a symbolic tf.Tensor to a numpy array`, `math.sqrt(x)` a
    `TypeError`, although both work when the function is called eagerly.
    What a model, a loss, a tape or a metric returns is a tensor there, and so is what is passed to a `tf.function`, but
    for Python values; where that depends on a caller that is not known, it is said with less certainty.
    NumPy on shapes (`np.prod(x.shape)`), dtypes and Python constants is fine: these are known while tracing.

    ## Example
    ```python
    import numpy as np
    import tensorflow as tf

    @tf.function
    def rms(x):
        y = tf.square(x)
        return np.sqrt(tf.reduce_mean(y))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def rms(x):
        y = tf.square(x)
        return tf.sqrt(tf.reduce_mean(y))
    ```

    ## Fix safety
    A NumPy function that `tf.math` has with the same numbers and types, such as `square` or `maximum`, is replaced
    where its arguments surely are tensors, or one is a number: a call that raises computes what it was meant to.
    Unsafe where TensorFlow takes floats only, as `tf.math.sqrt` does, where the code may also run eagerly, which gave
    an array, and where a number such as 0.5 stands beside the tensor, which may be of whole numbers.
    There is no fix for reductions and whatever else has other parameters or types, for keywords, for `math` and SciPy,
    and where the result is used as an array.

    ## Source
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    - https://www.tensorflow.org/guide/intro_to_graphs
    """

    code = "TF203"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    calls = ("numpy.*", "scipy.*", "sklearn.*", "cv2.*", "PIL.*", "math.*", "pandas.*", "skimage.*")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a call of a numeric library by its arguments."""
        name = call.name
        parts = name.split(".")
        if len(parts) < 2 or "(" in name or parts[1] in _STATIC or not call.runs(Context.TRACED, Context.LIFTED):
            return
        if any(other.canonical.startswith("tensorflow.") for other in call.names):
            return  # a name for either library, chosen where it is known which one the values need
        trace = trace_of(call)
        if trace is None:
            return
        arguments = [argument.value if isinstance(argument, ast.Starred) else argument for argument in call.arguments]
        judged = [(held(call, argument), argument) for argument in arguments]
        known = next((known for known in BY_CERTAINTY if known in [one for one, _ in judged]), None)
        if known is None:
            return
        given = next(argument for one, argument in judged if one is known)
        shown = ast.unparse(given)
        what = f"`{shown}`" if len(shown) < 40 else "its argument"
        proven = trace.severity(Severity.ERROR if trace.raises else Severity.WARNING)
        yield self.report(
            call,
            f"`{call.path}` needs the value of {what}, but {trace.under}, that {_SAID[known]}"
            f"{' (a direct eager call works)' if trace.how == 'fit' else ''}. {_advice(parts)}",
            at_most(proven, Known.POSSIBLE if known is Known.LIKELY and _is_switched(call) else known),
            related=trace.callers,
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Call the function of `tf.math`."""
        module, _, name = site.name.rpartition(".")
        arguments, trace = site.call.args, trace_of(site)
        if module != "numpy" or len(site.found) != 1 or trace is None or site.call.keywords:
            return None
        is_of_two = name in _OF_TWO
        new = name if is_of_two else {**_SAME_TYPE, **_OF_FLOATS}.get(name)
        written = site.importable(f"tensorflow.math.{new}")
        if new is None or written is None or len(arguments) != 1 + is_of_two or _is_used_as_array(site):
            return None
        tensors = [is_tensor(site, argument) for argument in arguments]
        others = [argument for argument, is_one in zip(arguments, tensors, strict=True) if not is_one]
        if len(others) == len(arguments) or not all(map(is_number, others)):
            return None
        reason = ""
        if name in _OF_FLOATS:
            reason = "TensorFlow's function refuses whole numbers, which NumPy's takes"
        elif not trace.raises or not trace.proven or is_conditional(site):
            reason = "where it runs eagerly, it gave an array of NumPy"
        elif any(isinstance(ast.literal_eval(other), float) for other in others):
            reason = "NumPy makes floats of whole numbers for it, and TensorFlow refuses them"
        applicability = Applicability.UNSAFE if reason else Applicability.SAFE
        return Replacement(with_function(node, written[0]), applicability, reason, written[1])


def _is_used_as_array(call: Call) -> bool:
    """Whether an attribute of the result is read, or an item of it is set."""
    if isinstance(call.file.parent_of(call.syntax), ast.Attribute):
        return True
    function, made = call.function, tuple(call.assigned_to)
    if function is None or not made:
        return False
    return any(
        (path or "").startswith(tuple(f"{one}{mark}" for one in made))
        for mark, paths in (
            (".", [reference.path for reference in function.references]),
            ("[", [assignment.path for assignment in function.assignments]),
        )
        for path in paths
    )


def _is_switched(call: Call) -> bool:
    """Whether an optional parameter, which a caller may have set, decides whether the place runs."""
    function = call.function
    tests = (level.node for level in call.block.chain() if level.kind in ("if", "else"))
    return function is not None and any(
        isinstance(test, ast.Name) and test.id in function.optional_parameters for test in tests
    )


def _advice(parts: list[str]) -> str:
    if parts[0] == "numpy" and len(parts) == 2 and parts[1] in _SAME_NAME:
        return f"Use the TensorFlow function, such as `tf.experimental.numpy.{parts[1]}`."
    if parts[0] == "math":
        return "Use the function of `tf.math`."
    return "Use TensorFlow functions, or `tf.numpy_function` where there is none."
