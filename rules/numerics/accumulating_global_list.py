"""TF628: losses that gather in a list of the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import GROWERS, MUTATORS, Call, File
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .models import Tape, tape_of

_SUMS = frozenset(
    {"sum", "builtins.sum", "tensorflow.add_n", "tensorflow.math.add_n", "tensorflow.reduce_sum",
     "tensorflow.reduce_mean", "tensorflow.math.reduce_sum", "tensorflow.math.reduce_mean"}
)  # fmt: skip


class AccumulatingGlobalList(Rule):
    """A list of the module gathers losses in the forward pass, and the step sums it without clearing it.

    ## Why
    In TF1 the functions that filled such a list ran once, while the graph was built.
    In TF2 they run at each step: the list grows, the loss is the sum of all steps so far, and the tensors of old steps
    stay in memory.
    In a `tf.function` the list keeps symbolic tensors of a trace, and the next trace raises on them.

    ## Example
    ```python
    import tensorflow as tf

    penalties = []
    weight = tf.Variable(1.0)

    def forward(x):
        penalties.append(weight * weight)
        return weight * x

    def step(x):
        with tf.GradientTape() as tape:
            loss = forward(x) + tf.add_n(penalties)
        return tape.gradient(loss, weight)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    weight = tf.Variable(1.0)

    def forward(x):
        return weight * x, [weight * weight]

    def step(x):
        with tf.GradientTape() as tape:
            y, penalties = forward(x)
            loss = y + tf.add_n(penalties)
        return tape.gradient(loss, weight)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF628"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = ("tensorflow.GradientTape",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the sums that a tape records."""
        tape = tape_of(call)
        if tape is None or call.version_checked:
            return
        for inner in tape.inner:
            name = _summed(inner)
            grown = _grown(tape, name) if name and _is_kept(call.file, name) else None
            if grown is not None:
                yield self.report(
                    inner,
                    f"`{name}` belongs to the module and grows with each step, so this sums the losses of all steps so "
                    "far. Return the losses to the step, or clear the list before each.",
                    subject=name,
                    related=(grown.location("it grows here"),),
                )


def _summed(call: Call) -> str:
    """The name of the list of the module that a call sums."""
    if len(call.call.args) != 1 or not isinstance(call.call.args[0], ast.Name):
        return ""
    name = call.call.args[0].id
    names = {one.canonical for one in call.names} or {call.path or ""}
    found = call.file.index.lookup(call.scope, name) if names <= _SUMS else None
    return name if found is not None and found[0].kind == "module" and call.function is not None else ""


def _is_kept(file: File, name: str) -> bool:
    """Whether the module makes an empty list under a name, and nothing in the file makes it shorter."""
    made = [a for a in file.assignments if (a.path or "").partition("[")[0] == name and not a.augmented]
    here = [a for a in made if a.scope.kind == "module" and a.kind == "name"]
    if len(here) != 1 or not isinstance(here[0].value, ast.List) or here[0].value.elts:
        return False
    if any(a.kind == "item" for a in made) or any(name in f.body.outer_names for f in file.functions):
        return False
    if any(isinstance(n, ast.Delete) and name in _names(n) for n in ast.walk(file.index.module.node)):
        return False
    return not any(_may_shrink(call, name) for call in file.calls)


def _may_shrink(call: Call, name: str) -> bool:
    """Whether a call takes from a list, or gives it to a function of the project, which may."""
    if call.method in MUTATORS - GROWERS and call.path == f"{name}.{call.method}":
        return True
    given = any(isinstance(one, ast.Name) and one.id == name for one in call.arguments)
    return given and any(entity.kind != "external" for entity in call.found)


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _grown(tape: Tape, name: str) -> Call | None:
    """Where a list is given one more at each step: in a forward pass, or in a function called under the tape."""
    called = {entity.key for call in tape.inner for entity in call.found if entity.kind == "function"}
    for call in tape.call.file.calls:
        if call.path not in (f"{name}.append", f"{name}.extend") or call.function is None:
            continue
        found = call.file.index.lookup(call.scope, name)
        is_it = found is not None and found[0].kind == "module"
        if is_it and (call.in_forward or call.function.key in called) and not call.guarded:
            return call
    return None
