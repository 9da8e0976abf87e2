"""TF205: Python state that traced code changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Call, Site
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .traces import GROWERS, MUTATORS, Lasting, Trace, is_renewed, lasting, outlives, trace_of

_SAME_AGAIN = frozenset({"add", "update", "setdefault", "discard", "clear"})
_ITEM_METHODS = frozenset({"append", "extend", "insert", "appendleft"})
_WRITERS = ("open().write", "open().writelines", "csv.writer().writerow", "csv.DictWriter().writerow")


class SideEffectInTfFunction(Rule):
    """Traced code changes Python state, which happens once per trace and not once per call.

    ## Why
    Appending to a list, storing into a dict or counting with `+=` is Python: the graph knows nothing of it.
    After three calls of a `tf.function` such a counter is at 1, the list has one entry, and under `fit` both grow with
    the number of traces.
    Locals that are made in the same trace are fine, and so are `tf.TensorArray.write`, `tf.Variable.assign`, `add_loss`
    and the `update_state` of a metric.

    ## Example
    ```python
    import tensorflow as tf

    calls = 0

    @tf.function
    def step(x):
        global calls
        calls += 1
        return x * 2
    ```

    ## Fix
    ```python
    import tensorflow as tf

    calls = tf.Variable(0)

    @tf.function
    def step(x):
        calls.assign_add(1)
        return x * 2
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#changing_python_global_and_free_variables
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF205"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    calls = _WRITERS
    methods = tuple(sorted(MUTATORS))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a method that changes a container, and a write to a file."""
        if call.name in _WRITERS:
            trace = trace_of(call)
            if trace is not None and not trace.made_once:
                yield self._say(call, trace, f"`{call.path}` writes {trace.once}.", "Use `tf.print` or `tf.io`.")
            return
        receiver = call.receiver
        if receiver is None or (isinstance(receiver, ast.Subscript) and call.method not in _ITEM_METHODS):
            return
        trace = trace_of(call)
        state = lasting(call, receiver) if trace is not None else None
        if trace is None or state is None or trace.made_once or not state.is_container or _supplies_layer(call):
            return
        verb = "grows" if call.method in GROWERS else "changes"
        yield from self._changed(call, trace, state, f"{verb} by this `{call.method}`", call.method in _SAME_AGAIN)

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge a stored item and a counter."""
        if assignment.kind != "item" and not assignment.augmented:
            return
        trace = trace_of(assignment)
        state = lasting(assignment, assignment.node) if trace is not None else None
        if trace is None or state is None or trace.made_once:
            return
        if assignment.kind == "item":
            fixed = isinstance(assignment.node, ast.Subscript) and isinstance(assignment.node.slice, ast.Constant)
            if state.is_container and (assignment.augmented or not fixed):  # a fixed key is overwritten by each trace
                yield from self._changed(assignment, trace, state, "gets this item", not assignment.augmented)
        elif (state.is_number and not _names_only(assignment)) or state.is_container:
            how = assignment.syntax.op if isinstance(assignment.syntax, ast.AugAssign) else None
            joins = isinstance(how, ast.BitOr | ast.BitAnd)  # of sets
            yield from self._changed(assignment, trace, state, "changes", joins)

    def _changed(self, site: Site, trace: Trace, state: Lasting, what: str, same_again: bool) -> Iterator[Diagnostic]:
        """Report a change; `same_again` is one that a second trace merely repeats."""
        if is_renewed(site, state):
            return
        sure = not same_again and (state.kind != "attribute" or outlives(site, trace))
        yield self._say(
            site,
            trace,
            f"{state.title[:1].upper()}{state.title[1:]} is Python state that {what} {trace.once}.",
            "Use a `tf.Variable` or a metric, or return the value.",
            sure,
            state.name,
        )

    def _say(
        self, site: Site, trace: Trace, what: str, advice: str, sure: bool = True, subject: str | None = None
    ) -> Diagnostic:
        severity = trace.severity(Severity.ERROR if trace.certain else Severity.WARNING) if sure else Severity.INFO
        return self.report(site, f"{what} {advice}", severity, subject=subject, related=trace.callers)


def _names_only(counter: Assignment) -> bool:
    """Whether a number is only read to be part of a text: it names what each trace makes."""
    path = counter.path
    uses = [reference for reference in counter.file.references if reference.path == path]
    texts = [
        part
        for statement in ast.walk(counter.cls.syntax if counter.cls is not None else counter.syntax)
        if isinstance(statement, ast.JoinedStr) or (isinstance(statement, ast.Call) and _makes_text(statement))
        for part in ast.walk(statement)
    ]
    inside = {id(part) for part in texts}
    return bool(uses) and all(id(use.syntax) in inside for use in uses)


def _makes_text(node: ast.Call) -> bool:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "format"
    return isinstance(node.func, ast.Name) and node.func.id == "str"


def _supplies_layer(call: Call) -> bool:
    """Whether a layer is put into the container: what is wrong then is the layer's creation."""
    for argument in call.arguments:
        made = call.file.call_at(argument)
        if made is not None and (made.creates & {"layer", "module"} or made.name.startswith("keras.layers.")):
            return True
    return False
