"""TF205: Python state that traced code changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import (
    GROWERS,
    Block,
    Call,
    ChangeSite,
    Context,
    FunctionSite,
    Known,
    Site,
    path_of,
)
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .traces import (
    BY_CERTAINTY,
    Lasting,
    Trace,
    is_container,
    is_number,
    is_renewed,
    lasting,
    outlives,
    trace_of,
)

_SAME_AGAIN = frozenset(
    {"add", "update", "setdefault", "discard", "clear", "sort", "reverse", "heapq.heapify", "move_to_end"}
)
_OF_LISTS = frozenset({"append", "extend", "appendleft", "popleft", "extendleft"})
_ITEM_METHODS = _OF_LISTS | {"insert"}
_WRITERS = (
    "open().write", "open().writelines", "csv.writer().writerow", "csv.DictWriter().writerow", "sys.stdout.write",
    "sys.stderr.write", "json.dump", "pickle.dump",
)  # fmt: skip
_STATEFUL = frozenset(
    {
        "assign", "assign_add", "assign_sub", "scatter_update", "scatter_add", "update_state", "apply_gradients",
        "add_loss",
    }
)  # fmt: skip
"""Methods that put an operation into the graph."""
_SHOWING = ("tensorflow.print", "tensorflow.summary.scalar", "tensorflow.summary.histogram", "tensorflow.summary.image")
_DEEP = 3
"""Calls, one in the other, that are looked into for operations."""


class SideEffectInTfFunction(Rule):
    """Traced code changes Python state, which happens once per trace and not once per call.

    ## Why
    Appending to a list, storing into a dict or counting with `+=` is Python: the graph knows nothing of it.
    After three calls of a `tf.function` such a counter is at 1, the list has one entry, and under `fit` both grow with
    the number of traces.
    A test of such state is decided while tracing too: the graph keeps the branch that the first trace took, and runs
    its operations at every call.
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

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a write to a file."""
        trace = trace_of(call)
        if trace is not None and not trace.made_once:
            yield self._say(call, trace, f"`{call.path}` writes {trace.once}.", "Use `tf.print` or `tf.io`.")

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge what a traced function changes."""
        if not function.runs(Context.TRACED):
            return
        seen: set[int] = set()
        for site in function.changes:
            trace = trace_of(site) if id(site.syntax) not in seen else None
            if trace is not None:
                for diagnostic in self._judge(site, trace):
                    seen.add(id(site.syntax))
                    yield diagnostic

    def _judge(self, site: ChangeSite, trace: Trace) -> Iterator[Diagnostic]:
        change = site.change
        state = lasting(site, change.target)
        if state is None or _creates(site):
            return
        guard = _guard(site, state)
        told = _told(site, state)
        is_flag = change.kind in ("name", "attribute") and not all(is_container(site, v) for v in change.values)
        if guard is not None:
            if told is None and not is_flag and not (change.kind == "item" and state.is_container):
                return
            if any(site.is_tensor(value) is Known.VARIABLE for value in change.values):
                return
            if _is_tested(site, guard, state) and _has_operations(site, guard):
                yield self._frozen(site, trace, state)
        elif trace.made_once:
            return
        elif told is not None:
            what, sure = told
            if not is_renewed(site, state):
                sure = sure and (state.kind != "attribute" or outlives(site, trace))
                yield self._changed(site, trace, state, what, sure)
        elif is_flag and not change.relative and not is_renewed(site, state):
            if any(_has_operations(site, level) for level in _tests(site, state)):
                yield self._frozen(site, trace, state)

    def _changed(self, site: ChangeSite, trace: Trace, state: Lasting, what: str, sure: bool) -> Diagnostic:
        through = site.change.through
        by = f" through `{through}`" if through else ""
        return self._say(
            site,
            trace,
            f"{state.title[:1].upper()}{state.title[1:]} is Python state that {what}{by} {trace.once}.",
            "Use a `tf.Variable` or a metric, or return the value.",
            sure,
            state.name,
        )

    def _frozen(self, site: ChangeSite, trace: Trace, state: Lasting) -> Diagnostic:
        return self._say(
            site,
            trace,
            f"{state.title[:1].upper()}{state.title[1:]} is Python state that is tested and changed {trace.once}: the "
            "graph keeps the branch that was taken, and runs its operations at every call.",
            "Use a `tf.Variable` and `tf.cond`.",
            state.kind != "attribute" or outlives(site, trace),
            state.name,
        )

    def _say(
        self, site: Site, trace: Trace, what: str, advice: str, sure: bool = True, subject: str | None = None
    ) -> Diagnostic:
        severity = trace.severity(Severity.ERROR if trace.certain else Severity.WARNING) if sure else Severity.INFO
        return self.report(site, f"{what} {advice}", severity, subject=subject, related=trace.callers)


def _told(site: ChangeSite, state: Lasting) -> tuple[str, bool] | None:
    """What a change does to some state, and whether a second trace adds to that; None where nothing piles up."""
    change = site.change
    direct = state.name.count(".") <= (state.kind in ("attribute", "argument"))  # no attribute of what is not known
    if change.kind in ("name", "attribute"):
        if not change.relative or (state.is_number and _names_only(site)):
            return None
        if state.is_number or state.is_container or state.is_text:
            joins = isinstance(getattr(site.syntax, "op", None), ast.BitOr | ast.BitAnd)  # of sets
            return "changes", not joins or _adds_to_itself(site)
        return ("changes", direct or state.kind != "attribute") if state.is_unknown and _is_counted(site) else None
    if change.kind == "item":
        if change.verb == "del":
            return ("loses this item", True) if state.is_container else None
        if change.relative:
            if state.is_container or state.is_array:
                return "gets this item", True
            return ("gets this item", True) if state.is_unknown and _is_counted(site) else None
        fixed = isinstance(change.key, ast.Constant)  # it is overwritten by each trace
        return ("gets this item", False) if state.is_container and not fixed else None
    if isinstance(change.target, ast.Subscript) and change.verb not in _ITEM_METHODS | {"+="}:
        return None
    verb = "grows" if change.verb in GROWERS else "changes"
    what = f"{verb} by this `{change.verb}`"
    if state.is_container:
        return what, change.relative or change.verb not in _SAME_AGAIN
    if not state.is_unknown or change.verb not in _OF_LISTS or not direct:
        return None
    call = site.file.call_at(site.syntax) if isinstance(site.syntax, ast.Call) else None
    return (what, False) if call is not None and call.discarded else None


def _adds_to_itself(site: ChangeSite) -> bool:
    """Whether what is joined to something is made of it."""
    function, target = site.scope.function(), site.change.target
    return any(site.file.changes.reads(function, value, target) for value in site.change.values)


def _guard(site: ChangeSite, state: Lasting) -> Block | None:
    """The test that lets a place run once, or once for each key."""
    guards = site.file.guards
    return guards.guard(site.block) or next(
        (
            level
            for level in site.block.chain()
            if guards.may_be_one(level)
            or (level.kind in ("if", "else") and not site.change.relative and _is_tested(site, level, state))
        ),
        None,
    )


def _is_counted(site: ChangeSite) -> bool:
    """Whether a number is added: no tensor, and nothing that may be one."""
    values = site.change.values
    return any(is_number(part) for value in values for part in ast.walk(value) if isinstance(part, ast.expr))


def _tests(site: ChangeSite, state: Lasting) -> Iterator[Block]:
    """The tests of some state in traced code of the file, where the same object may be meant."""
    seen: set[int] = set()
    for function in site.file.functions:
        own = function.body is site.scope.function()
        shared = state.kind != "attribute" or _class_of(function) == _class_of(site)
        if function.runs(Context.TRACED) and (own or shared):
            for place in (*function.calls, *function.assignments, *function.references):
                for level in place.block.chain():
                    if level.kind in ("if", "else") and level.id not in seen:
                        seen.add(level.id)
                        if _is_tested(site, level, state):
                            yield level


def _class_of(site: Site) -> tuple[str, int] | None:
    return site.cls.key if site.cls is not None else None


def _is_tested(site: ChangeSite, block: Block, state: Lasting) -> bool:
    """Whether what decides about a block reads some state."""
    return state.name.rpartition(".")[2] in site.file.guards.read_by(block)


def _has_operations(site: ChangeSite, block: Block) -> bool:
    """Whether code under a test puts operations into the graph, other than to create what is kept."""
    function = site.file.function_of(block.scope.function())
    encloses = site.file.index.encloses
    if any(encloses(block, call.block) and _operates(call, 0) for call in function.calls):
        return True
    inside = [a for a in function.assignments if encloses(block, a.block)]
    for assignment in inside:
        if assignment.kind == "name" and assignment.value is not None and _is_symbolic(assignment, assignment.value):
            name = assignment.path
            elsewhere = any(a.path == name and not encloses(block, a.block) for a in function.assignments)
            if elsewhere or name in function.parameters:
                return True
    if any(_chooses(assignment, assignment.value, block) for assignment in function.assignments):
        return True
    returns = [fact for fact in site.file.index.returns if fact.scope.function() is function.body]
    for fact in returns:
        place = Site(site.file, fact.value, fact.scope, fact.block)
        if _chooses(place, fact.value, block):
            return True
        if encloses(block, fact.block):
            others = {ast.unparse(other.value) for other in returns if other is not fact}
            if ast.unparse(fact.value) not in others and _is_symbolic(place, fact.value):
                return True
    return False


def _operates(call: Call, depth: int) -> bool:
    """Whether a call puts an operation into the graph that changes something at every call."""
    if not call.runs(Context.TRACED, without=Context.LIFTED):
        return False
    if call.method in _STATEFUL or call.name in _SHOWING:
        return True
    found = (e for e in call.found if e.kind == "function" and e.file == call.file.key) if depth < _DEEP else ()
    callees = (call.file.function_of(call.file.index.scopes[entity.scope]) for entity in found)
    return any(_operates(inner, depth + 1) for callee in callees for inner in callee.calls)


def _chooses(site: Site, value: ast.expr | None, block: Block) -> bool:
    """Whether a value is a tensor in an arm of the test of a block."""
    arms = (value.body, value.orelse) if isinstance(value, ast.IfExp) and value.test is block.node else ()
    return any(_is_symbolic(site, arm) for arm in arms)


def _is_symbolic(site: Site, value: ast.expr | None) -> bool:
    """Whether a value may be a tensor; what is made of the function's arguments is frozen if it is none, too."""
    lifted = not site.runs(Context.TRACED, without=Context.LIFTED)
    return not lifted and site.is_tensor(value) in BY_CERTAINTY and site.is_tensor(value) is not Known.VARIABLE


def _names_only(counter: ChangeSite) -> bool:
    """Whether a number is only read to be part of a text: it names what each trace makes."""
    path = path_of(counter.change.target)
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


def _creates(site: ChangeSite) -> bool:
    """Whether a new layer or variable is kept: what may be wrong then is its creation."""
    made = filter(None, map(site.file.call_at, site.change.values))
    return any(
        call.creates & {"layer", "module"}
        or call.name.startswith("keras.layers.")
        or site.is_tensor(call.call) is Known.VARIABLE
        for call in made
    )
