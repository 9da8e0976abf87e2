"""TF209: a symbolic tensor that outlives its trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import (
    GROWERS,
    MUTATORS,
    ChangeSite,
    Context,
    FunctionSite,
    Known,
    Reference,
    Site,
    path_of,
)
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .traces import BY_CERTAINTY, Lasting, Trace, at_most, held, lasting, outlives, trace_of

_REMEMBERING = frozenset({"functools.lru_cache", "functools.cache"})
_PUTTING = GROWERS | {"+=", "heapq.heappush", "heapq.heapreplace", "heapq.heappushpop", "operator.iadd"}
_CONTENTS = ("item", "content")
_SAID = {
    Known.TENSOR: "a symbolic tensor",
    Known.LIKELY: "what most likely is a symbolic tensor",
    Known.POSSIBLE: "what may be a symbolic tensor",
}


class TensorLeak(Rule):
    """Traced code stores a tensor in an attribute, a global or an outer container, where it is a dead symbol later.

    ## Why
    A tensor of a graph means something only while that graph is traced.
    Stored on `self`, in a global or in a list from outside, it is still there afterwards: reading its value raises
    `AttributeError`, and using it in another trace or eagerly raises that it "is out of scope"
    (`InaccessibleTensorError`).
    A tensor that is cached, by `if self.x is None` or by `functools.lru_cache`, works in the first trace and breaks the
    second.
    Reading it again in the same trace is fine, and so is a `tf.Variable`.

    ## Example
    ```python
    import tensorflow as tf

    class Net(tf.Module):
        @tf.function
        def __call__(self, x):
            self.hidden = tf.nn.relu(x)
            return tf.reduce_sum(self.hidden)

        def show(self):
            print(self.hidden.numpy())
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.Module):
        @tf.function
        def __call__(self, x):
            hidden = tf.nn.relu(x)
            return tf.reduce_sum(hidden), hidden
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values
    - https://www.tensorflow.org/guide/effective_tf2
    """

    code = "TF209"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF205",)

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge each tensor that a traced function puts into what outlives it, or that a decorator keeps."""
        if not function.runs(Context.TRACED, Context.LIFTED):
            return
        yield from self._remembered(function)
        for site in function.changes:
            change = site.change
            found = {held(site, value) for value in change.values}
            known = next((known for known in BY_CERTAINTY if known in found), None)
            if known not in _SAID or (known is not Known.TENSOR and (change.relative or change.kind in _CONTENTS)):
                continue  # TF205 speaks of it for certain
            trace = trace_of(site) if site.runs(Context.TRACED, Context.LIFTED) else None
            state = lasting(site, change.target) if trace is not None else None
            if trace is None or state is None:
                continue
            if change.kind in _CONTENTS and not state.is_container:
                continue
            if _is_taken_away(site, function):
                continue
            if change.kind != "content" or change.verb in _PUTTING:
                yield from self._judge(site, trace, state, known)

    def _remembered(self, function: FunctionSite) -> Iterator[Diagnostic]:
        if not any(name.canonical.removesuffix("()") in _REMEMBERING for name in function.decorators):
            return
        results = [s.value for s in function.statements if isinstance(s, ast.Return) and s.value is not None]
        for read in function.references:
            value = next((value for value in results if any(part is read.syntax for part in ast.walk(value))), None)
            trace = trace_of(read) if value is not None and held(read, value) is Known.TENSOR else None
            if trace is not None:
                yield self.report(
                    function,
                    f"{trace.under[:1].upper()}{trace.under[1:]}, a decorator of `{function.name}` keeps the symbolic "
                    "tensor that it returns: in another trace it is out of scope. Compute it anew.",
                    trace.severity(Severity.ERROR if trace.certain else Severity.WARNING),
                    subject=function.name,
                    related=trace.callers,
                )
                return

    def _judge(self, site: ChangeSite, trace: Trace, state: Lasting, known: Known) -> Iterator[Diagnostic]:
        if not trace.proven:
            severity = Severity.INFO
        elif state.kind == "attribute" and not outlives(site, trace):
            return  # a plain object may itself be made in each trace
        elif state.kind == "attribute":
            severity = _severity_of_attribute(site, trace, state.name.rpartition(".")[2])
        else:
            severity = Severity.ERROR if trace.certain else Severity.WARNING
        severity = at_most(severity, known)
        use = (
            "later, eagerly or in another trace, it is out of scope"
            if severity is not Severity.INFO
            else ("it can be read in this same trace only")
        )
        yield self.report(
            site,
            f"{trace.under[:1].upper()}{trace.under[1:]}, {state.title} keeps {_SAID[known]}: {use}. "
            "Return the tensor, or assign it to a `tf.Variable`.",
            severity,
            subject=state.name,
            related=[*site.guards, *trace.callers],
        )


def _is_taken_away(site: ChangeSite, function: FunctionSite) -> bool:
    """Whether the function puts something else there before it ends, whenever it comes to the place."""
    return site.change.kind in ("attribute", "name") and any(
        other.change.kind == site.change.kind
        and other.line > site.line
        and path_of(other.change.target) == path_of(site.change.target)
        and _tests(other) <= _tests(site)
        and not any(held(other, value) in (Known.TENSOR, Known.LIKELY) for value in other.change.values)
        for other in function.changes
    )


def _tests(site: Site) -> set[tuple[str, str]]:
    """What a place hangs on in its function, as it is written."""
    levels = (level for level in site.block.chain() if level.parent is not None)
    return {(level.kind, "" if level.node is None else ast.dump(level.node)) for level in levels}


def _severity_of_attribute(site: ChangeSite, trace: Trace, attribute: str) -> Severity:
    """Proven where something reads the attribute outside of the trace that stored it."""
    if site.guarded and _is_tested(site, attribute):
        return Severity.ERROR  # cached: the next trace reads what belongs to this one
    strong = Severity.ERROR if trace.certain else Severity.WARNING
    stores = {id(a.node.value) for a in site.file.assignments if isinstance(a.node, ast.Subscript)}
    reads = [r for r in site.file.references if _reads(r, attribute) and id(r.syntax) not in stores]
    if not reads:
        return Severity.WARNING if trace.certain and site.change.kind == "content" else Severity.INFO
    return strong if any(_is_elsewhere(read, site, attribute) for read in reads) else Severity.INFO


def _is_tested(site: Site, attribute: str) -> bool:
    """Whether the guard around the place asks for the very attribute."""
    tests = (level.node for level in site.block.chain() if level.kind in ("if", "else"))
    return any(
        (isinstance(part, ast.Attribute) and part.attr == attribute)
        or (isinstance(part, ast.Constant) and part.value == attribute)
        for test in tests
        for part in ast.walk(test)
    )


def _reads(reference: Reference, attribute: str) -> bool:
    parts = (reference.path or "").replace("[]", "").split(".")
    stored = reference.called and parts[-1] in MUTATORS and parts[-2:-1] == [attribute]
    return attribute in parts[1:] and not stored


def _is_elsewhere(read: Reference, site: Site, attribute: str) -> bool:
    """Whether a read belongs to another trace or to none: in eager code, or earlier in the very same function."""
    if read.scope.function() is site.scope.function():
        return (read.line, read.column) < (site.line, site.column) and not _is_written_before(read, attribute)
    contexts = read.contexts
    untraced = bool(contexts) and not any(s & Context.TRACED for s in contexts)
    return untraced or _is_public_reader(read)


def _is_written_before(read: Reference, attribute: str) -> bool:
    """Whether the same function writes the attribute before it reads it there."""
    function = read.function
    place = (read.line, read.column)
    return function is None or any(
        other.self_attribute == attribute and (other.line, other.column) < place for other in function.assignments
    )


def _is_public_reader(read: Reference) -> bool:
    """Whether a method that nothing in the project traces reads it, to hand it out."""
    function = read.function
    return (
        function is not None
        and not read.contexts
        and function.cls is not None
        and not function.name.startswith("_")
        and any(isinstance(statement, ast.Return) for statement in function.statements)
    )
