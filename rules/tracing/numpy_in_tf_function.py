"""TF203: NumPy and its kin on a tensor of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, Known
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .traces import BY_CERTAINTY, at_most, held, trace_of

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
