"""TF210: a Python number that traced code reads and other code changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Context, File, FunctionSite, Reference, Site, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .traces import Lasting, is_number, lasting, trace_of

_NUMERIC = frozenset({"max", "min", "float", "int", "abs", "round", "len"})
_SET_UP = frozenset({"__init__", "__new__", "build", "compile", "__setstate__", "setup", "__post_init__", "configure"})


class MutableClosureCapture(Rule):
    """Traced code reads a Python number that is changed elsewhere: the graph keeps the first value.

    ## Why
    A global, a free name or an attribute that holds a Python number becomes a constant of the graph in the first trace.
    When the number changes later (an annealed epsilon, a learning rate, a step counter), eager code follows, and the
    graph does not: nothing is retraced, because the number is no argument.
    Pass it as a tensor argument, or keep it in a `tf.Variable`.

    ## Example
    ```python
    import tensorflow as tf

    class Agent(tf.Module):
        def __init__(self):
            self.epsilon = 1.0

        @tf.function
        def act(self, x):
            return x * self.epsilon

        def anneal(self):
            self.epsilon *= 0.99
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Agent(tf.Module):
        def __init__(self):
            self.epsilon = tf.Variable(1.0, trainable=False)

        @tf.function
        def act(self, x):
            return x * self.epsilon

        def anneal(self):
            self.epsilon.assign(self.epsilon * 0.99)
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#depending_on_python_global_and_free_variables
    - https://www.tensorflow.org/guide/function#depending_on_python_objects
    """

    code = "TF210"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge each lasting number that a traced function reads, once."""
        if not function.runs(Context.TRACED):
            return
        seen: set[str] = set()
        changes: dict[str, Assignment | None] = {}
        for reference in function.references:
            state = _state(reference)
            if state is None or state.name in seen:
                continue
            trace = trace_of(reference)
            if trace is None:
                continue
            if state.name not in changes:
                changes[state.name] = _change(reference, state)
            change = changes[state.name]
            if change is None:
                continue
            seen.add(state.name)
            proven = trace.how == "function" and trace.proven and _is_proven(change, state)
            place = change.function
            where = f"`{place.name}` ({change.where})" if place is not None else change.where
            yield self.report(
                reference,
                f"{state.title[:1].upper()}{state.title[1:]} is a Python number: {trace.under}, it becomes a constant, "
                f"and the graph does not see that {where} changes it. "
                "Pass it as an argument, or make it a `tf.Variable`.",
                Severity.WARNING if proven else Severity.INFO,
                subject=state.name,
                related=[change.location("changed here"), *trace.callers],
            )


def _state(reference: Reference) -> Lasting | None:
    node = reference.syntax
    if not isinstance(node, ast.Name | ast.Attribute) or reference.called:
        return None
    if isinstance(node, ast.Name) and reference.is_local:
        return None
    state = lasting(reference, node)
    return state if state is not None and state.kind != "free" and state.is_number else None


def _change(reference: Reference, state: Lasting) -> Assignment | None:
    """The assignment that gives the number another value while the program runs."""
    changes = [change for change in _assignments(reference, state) if _is_change(change, reference)]
    unknown = [a for a in _assignments(reference, state) if not _is_numeric(a)]
    changes.sort(key=lambda change: not _is_proven(change, state))
    return changes[0] if changes and not unknown else None


def _assignments(reference: Reference, state: Lasting) -> list[Assignment]:
    if state.kind == "attribute":
        head, _, attribute = state.name.partition(".")
        cls = reference.file.index.class_of_self(reference.scope, head)
        return reference.file.assignments_to(cls, attribute) if cls is not None else []
    return reference.file.once("global assignments", lambda: _global_assignments(reference.file)).get(state.name, [])


def _global_assignments(file: File) -> dict[str, list[Assignment]]:
    found: dict[str, list[Assignment]] = {}
    for assignment in file.assignments:
        if assignment.path is not None and _is_global(assignment):
            found.setdefault(assignment.path, []).append(assignment)
    return found


def _is_global(assignment: Assignment) -> bool:
    scope = assignment.scope.function()
    return scope.kind == "module" or (isinstance(assignment.node, ast.Name) and assignment.node.id in scope.globals)


def _is_proven(change: Assignment, state: Lasting) -> bool:
    """Whether it surely gives another number: ``*= 0.9``, ``= x * 0.9``, a literal."""
    return change.augmented or is_number(change.value) or state.name in _paths(change.value)


def _is_change(assignment: Assignment, reference: Reference) -> bool:
    function = assignment.function
    if function is None:
        return assignment.augmented and bool(assignment.loops)
    return not (function.name in _SET_UP or function.body is reference.scope.function() or _is_traced(assignment))


def _is_numeric(assignment: Assignment) -> bool:
    """Whether an assignment surely leaves a Python number."""
    value = assignment.value
    if value is None:
        return False
    for part in ast.walk(value):
        if isinstance(part, ast.Call) and path_of(part.func) not in _NUMERIC:
            return False
        if isinstance(part, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.JoinedStr | ast.Lambda):
            return False
        if isinstance(part, ast.Constant) and not isinstance(part.value, int | float | None):
            return False
    return True


def _is_traced(site: Site) -> bool:
    return bool(site.contexts) and all(s & Context.TRACED for s in site.contexts)


def _paths(node: ast.expr | None) -> set[str]:
    if node is None:
        return set()
    return {ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}
