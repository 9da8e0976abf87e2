"""TF208: eager-only methods in traced code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, Known, catches, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .traces import Trace, at_most, trace_of

_VALUE_METHODS = ("numpy", "eval", "tolist", "item")
_LOOPS = ("fit", "evaluate", "predict", "predict_on_batch", "train_on_batch", "test_on_batch")
_MODEL_METHODS = (*_LOOPS, "save", "save_weights")
_MODELS = ("keras.Model()", "keras.Sequential()", "keras.models.load_model()")
_ABSENT = frozenset({"AttributeError", "NotImplementedError", "Exception", "BaseException"})


class EagerApiInTfFunction(Rule):
    """A method that needs a value, or runs a model, is called in traced code.

    ## Why
    While a graph is traced, tensors have no value: `x.numpy()` raises
    `AttributeError: 'SymbolicTensor' object has no attribute 'numpy'`, `v.numpy()` of a variable `NotImplementedError`.
    `model.predict`, `model.fit` and their like build a loop of their own and raise in a trace, too.
    The `call` of a layer, a loss or `train_step` may work eagerly and then fail under `fit`.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def step(x):
        loss = tf.reduce_mean(x)
        return loss.numpy()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def step(x):
        return tf.reduce_mean(x)

    value = step(tf.ones([2])).numpy()
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    - https://www.tensorflow.org/guide/effective_tf2
    """

    code = "TF208"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    supersedes = ("TF203",)
    methods = _VALUE_METHODS
    calls = tuple(f"{model}.{method}" for model in _MODELS for method in _MODEL_METHODS)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a method by what it is called on."""
        if not call.runs(Context.TRACED, Context.LIFTED):
            return
        trace = trace_of(call)
        if trace is None:
            return
        severity: Severity | None
        if call.method in _VALUE_METHODS:
            if call.call.args or call.call.keywords or _is_tested(call):
                return
            severity = self._of_value(call, trace)
            what = f"`{_shown(call)}` has no value yet, and this `.{call.method}()` raises"
            advice = "Keep to TensorFlow operations, or return the tensor and read its value outside."
        else:
            severity = Severity.ERROR
            what = f"`{call.path}` {'runs a loop of its own and ' if call.method in _LOOPS else ''}raises"
            advice = "Call the model itself (`model(x, training=False)`), or do this outside of the traced code."
        if severity is None:
            return
        if severity is Severity.ERROR and not trace.raises:
            severity = Severity.WARNING
        eager = "; a direct eager call works" if trace.how == "fit" else ""
        yield self.report(
            call,
            f"{trace.under[:1].upper()}{trace.under[1:]}, {what}{eager}. {advice}",
            trace.severity(severity),
            related=trace.callers,
        )

    @staticmethod
    def _of_value(call: Call, trace: Trace) -> Severity | None:
        """How sure it is that the receiver is symbolic; None where it is something else."""
        receiver = call.receiver
        known = call.is_tensor(receiver)
        if known is Known.OTHER:
            return None
        if known in (Known.TENSOR, Known.VARIABLE):
            return Severity.ERROR
        if call.method != "numpy" or receiver is None or any(n.canonical.startswith("torch") for n in call.names):
            return Severity.WARNING if known is Known.LIKELY else None
        base = receiver
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        function = call.function
        if isinstance(base, ast.Name) and function is not None:
            root = trace.where.startswith("`") and " -> " not in trace.where
            if base is receiver and root and base.id in function.parameters and trace.how == "function":
                return Severity.ERROR
            if isinstance(receiver, ast.Name) and base.id in function.body.binds:
                return Severity.WARNING if base.id not in function.parameters else at_most(Severity.WARNING, known)
        # what was made elsewhere may be an eager tensor, which has its value in a trace, too
        return at_most(Severity.WARNING, known)


def _shown(call: Call) -> str:
    text = ast.unparse(call.receiver) if call.receiver is not None else ""
    return text if len(text) < 40 else "The tensor"


def _is_tested(call: Call) -> bool:
    """Whether the code asks first: ``hasattr(x, "numpy")``, an ``isinstance``, or a handled failure."""
    for level in call.block.chain():
        if level.kind in ("if", "else"):
            for part in ast.walk(level.node):
                if isinstance(part, ast.Call) and path_of(part.func) in ("hasattr", "isinstance", "callable"):
                    return True
                if isinstance(part, ast.Attribute | ast.Name) and "eager" in (path_of(part) or "").lower():
                    return True
        elif level.kind == "try" and isinstance(level.node, ast.Try):
            if any(catches(handler, _ABSENT) for handler in level.node.handlers):
                return True
    return False
