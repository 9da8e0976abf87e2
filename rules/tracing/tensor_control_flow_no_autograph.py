"""TF213: Python control flow on a tensor, where AutoGraph does not rewrite it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Context, FunctionSite, Site, Target, path_of
from ...linter.rule_api.rewriting import decorated
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .autograph import asked_tensors_in, is_conditional, is_tensor, loops_in, unconverted_trace_of
from .traces import Trace, trace_of

if TYPE_CHECKING:
    import libcst

_SHOWN = 40


class TensorControlFlowNoAutograph(Rule):
    """An `if`, a loop or the like asks a tensor for its value in traced code that AutoGraph does not rewrite.

    ## Why
    Keras 2 rewrote the `call` of a layer, so that `if tf.reduce_sum(x) > 0:` became an operation.
    Keras 3 does not: under `fit`, `predict`, in a functional model and where your own `tf.function` calls the layer,
    Python itself asks for the truth of a symbolic tensor, or goes through it, and TensorFlow raises
    `OperatorNotAllowedInGraphError`.
    The same holds for `train_step`, losses, metrics, constraints and schedules, on both targets for
    `tf.function(autograph=False)` and `do_not_convert`, and for every comprehension: none is ever rewritten.
    A direct eager call works, and so does a `tf.function` decorator on `call`, which Keras recommends.
    What may be a list of tensors, a Python number or a flag is left alone, and so is a helper in another file.

    ## Example
    ```python
    import tensorflow as tf

    class Clip(tf.keras.layers.Layer):
        @tf.autograph.experimental.do_not_convert
        def call(self, x):
            if tf.norm(x) > 1.0:
                x = x / tf.norm(x)
            return x
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Clip(tf.keras.layers.Layer):
        @tf.function
        def call(self, x):
            if tf.norm(x) > 1.0:
                x = x / tf.norm(x)
            return x
    ```

    ## Fix safety
    Unsafe: `call` gets a `tf.function` of its own, in which whatever Python does happens once, at the trace.
    There is one only for `call` itself, without other decorators, and none for a comprehension.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/#tf-autograph
    - https://www.tensorflow.org/guide/function#autograph_transformations
    """

    code = "TF213"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    fixes_function = True

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge the tests and loops of a traced function."""
        if not function.runs(Context.TRACED):
            return
        for site, loop in loops_in(function):
            said = _gone_through(site)
            if said is not None:
                is_clause = isinstance(loop, ast.comprehension)
                word = "this comprehension" if is_clause else "this `for`"
                yield from self._say(site, f"{word} goes through {said}", is_clause)
        for test, guarded in asked_tensors_in(function):
            word = "this comprehension tests" if test.clause is not None else "Python asks for the truth of"
            yield from self._say(test.site, f"{word} {_shown(test.value)}", test.clause is not None, guarded)

    def _say(self, site: Site, what: str, is_clause: bool, guarded: bool = False) -> Iterator[Diagnostic]:
        """Report one value, where nothing rewrites the code; of a comprehension that is so everywhere."""
        trace = unconverted_trace_of(site)
        why = _why(trace, site) if trace is not None else "AutoGraph rewrites no comprehension"
        if trace is None and is_clause:
            trace = trace_of(site)
        if trace is None:
            return
        certain = trace.raises or (trace.how != "fit" and trace.proven)
        severity = Severity.ERROR if certain and not guarded and not is_conditional(site) else Severity.WARNING
        advice = "Use `tf.map_fn`, `tf.where` or `tf.boolean_mask`."
        if not is_clause:
            first = "Decorate the method with `tf.function`" if trace.how == "fit" else "Leave AutoGraph on"
            advice = f"{first}, or use `tf.cond`, `tf.where` or `tf.while_loop`."
        eager = "; a direct eager call works" if trace.how == "fit" else ""
        yield self.report(
            site,
            f"{trace.under[:1].upper()}{trace.under[1:]}, {what}, which is symbolic: {why}, and this raises{eager}. "
            f"{advice}",
            trace.severity(severity),
            subject=ast.unparse(site.syntax),
            related=trace.callers,
        )

    def fix(self, node: libcst.FunctionDef, site: Site) -> Replacement | None:
        """Decorate it with `tf.function`."""
        method, trace, written = site.function, unconverted_trace_of(site), site.importable("tensorflow.function")
        if method is None or trace is None or trace.how != "fit" or written is None or _is_of_comprehension(site):
            return None
        if method.cls is None or not method.cls.is_keras or method.body.name != "call" or method.body.decorators:
            return None
        reason = "what Python does in `call`, such as a print or a counter, happens once then, at the trace"
        return Replacement(decorated(node, written[0]), Applicability.UNSAFE, reason, written[1])


def _is_of_comprehension(site: Site) -> bool:
    assert site.function is not None
    clauses = [one for one, loop in loops_in(site.function) if isinstance(loop, ast.comprehension)]
    clauses += [test.site for test, _ in asked_tensors_in(site.function) if test.clause is not None]
    return any(one.syntax is site.syntax for one in clauses)


def _why(trace: Trace, site: Site) -> str:
    if trace.how == "fit" and site.target is Target.KERAS3:
        return "Keras 3 does not use AutoGraph"
    return "AutoGraph is switched off here"


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return f"`{text}`" if len(text) <= _SHOWN else "a tensor"


def _gone_through(site: Site) -> str | None:
    """What a loop goes through, if that is a tensor; what counts or pairs asks it for its length or items as well."""
    node = site.syntax
    assert isinstance(node, ast.expr)
    inner = [node]
    if isinstance(node, ast.Call) and path_of(node.func) in ("enumerate", "reversed", "range", "zip"):
        inner = [part for part in node.args if not isinstance(part, ast.Starred)]
    return next((_shown(part) for part in inner if is_tensor(site, part)), None)
