"""TF216: a Python number as the argument of a `tf.function`, another one at each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, File
from ...linter.rule_api.rewriting import expression
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_REASON = "in the function a tensor stands where a number did"
_SPARING = frozenset({"input_signature", "reduce_retracing", "experimental_relax_shapes"})


class PythonScalarArgument(Rule):
    """A `tf.function` is called with the Python number of a loop, and traces once for each value.

    ## Why
    A Python number is part of what a trace is made for: `f(1)` and `f(2)` are two graphs.
    Called with the loop's counter, a function of ten iterations is traced ten times; a tensor of the same dtype and
    shape is traced once.
    A function with an `input_signature` converts its arguments and is traced once.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def step(i):
        return tf.zeros([2]) + tf.cast(i, tf.float32)

    for i in range(10):
        step(i)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def step(i):
        return tf.zeros([2]) + tf.cast(i, tf.float32)

    for i in tf.range(10):
        step(i)
    ```

    ## Fix safety
    Unsafe: in the function a tensor stands where a number did, so that what asks for a number there, such as `range`
    or a shape, may raise or be traced as a loop, and an int is of 32 bits.

    ## Source
    - https://www.tensorflow.org/guide/function#controlling_retracing
    - https://www.tensorflow.org/guide/function#pass_tensors_instead_of_python_literals
    """

    code = "TF216"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """Judge the calls that stand in a loop."""
        for call in file.calls_in_loops():
            counters = _counters(call)
            given = next((a.id for a in call.arguments if isinstance(a, ast.Name) and a.id in counters), None)
            if given is not None and not call.in_trace and not call.in_graph and _is_traced_function(call):
                yield self.report(
                    call,
                    f"`{given}` is a Python number, so that `{call.path}` is traced again for each of its values. "
                    f"Pass a tensor: loop over `tf.range`, or give it `tf.constant({given})`.",
                    subject=given,
                )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give tensors."""
        import libcst

        counters, written = _counters(site), site.importable("tensorflow.constant")
        if written is None:
            return None
        args = [
            arg.with_changes(value=expression(f"{written[0]}({arg.value.value})"))
            if isinstance(arg.value, libcst.Name) and arg.value.value in counters and not arg.star
            else arg
            for arg in node.args
        ]
        return Replacement(node.with_changes(args=args), Applicability.UNSAFE, _REASON, written[1])


def _counters(call: Call) -> set[str]:
    """The names that count Python numbers in the loops around a call."""
    found: set[str] = set()
    for loop in call.loops:
        if not isinstance(loop, ast.For | ast.comprehension) or not isinstance(loop.iter, ast.Call):
            continue
        names = [name.canonical for name in call.names_of(loop.iter.func)]
        target = loop.target
        if names == ["range"] and isinstance(target, ast.Name):
            found.add(target.id)
        elif names == ["enumerate"] and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
            found.add(target.elts[0].id)
    return found


def _is_traced_function(call: Call) -> bool:
    """Whether what is called is a `tf.function` that makes a trace for each Python value."""
    if call.name == "tensorflow.function()":
        made = [a.value_call for a in call.file.assignments if a.path == call.path]
        return bool(made) and not any(m is None or m.has_stars or _SPARING & set(m.keywords) for m in made)
    for entity in call.found:
        if entity.kind != "function":
            return False
        summary = call.file.project.function(entity.key)
        texts = summary["decorators"] if summary is not None else []
        names = [name for text in texts for name in call.file.project.canonical_names(entity.file, text)]
        if "tensorflow.function" in names:
            continue
        if "tensorflow.function()" not in names or entity.file != call.file.key:
            return False  # its arguments are in another file
        decorators = call.file.function_of(call.file.index.scopes[entity.scope]).body.decorators
        if any(isinstance(d, ast.Call) and _SPARING & {k.arg for k in d.keywords} for d in decorators):
            return False
    return bool(call.found)
