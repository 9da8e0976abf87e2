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
    literal_string,
    owner_of,
    path_of,
)
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .traces import Lasting, Trace, is_argument, is_container, is_number, is_renewed, lasting, outlives, trace_of

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


class SideEffectInTfFunction(Rule):
    """Traced code changes Python state, which happens once per trace and not once per call.

    ## Why
    Appending to a list, storing into a dict or counting with `+=` is Python: the graph knows nothing of it.
    After three calls of a `tf.function` such a counter is at 1, the list has one entry, and under `fit` both grow with
    the number of traces.
    A test of such state is decided while tracing too: the graph keeps the branch that the first trace took, and runs
    its operations at every call.
    A list or dict that a `tf.function` is called with must not be changed at all: the call raises `ValueError`.
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
        if state is None:
            yield from self._judge_argument(site, trace)
            return
        if state.name.startswith("self.") and _creates(site):
            return
        guard = _guard(site, state)
        if guard is not None:
            if _is_tested(guard, state) and _has_operations(site, guard):
                yield self._frozen(site, trace, state)
            return
        if trace.made_once:
            return
        told = _told(site, state)
        if told is not None:
            what, sure = told
            if not is_renewed(site, state):
                sure = sure and (state.kind != "attribute" or outlives(site, trace))
                yield self._changed(site, trace, state, what, sure)
        elif change.kind in ("name", "attribute") and not change.relative and change.values:
            tests = {id(level): level for level in _tests(site) if _is_tested(level, state)}
            if any(_has_operations(site, level) for level in tests.values()) and not is_renewed(site, state):
                yield self._frozen(site, trace, state)

    def _judge_argument(self, site: ChangeSite, trace: Trace) -> Iterator[Diagnostic]:
        """Report a list or dict that the traced function is called with; TensorFlow compares it before and after."""
        name = _argument(site, site.change.target)
        sure = None if name is None or trace.how != "function" else _is_plain(site, name)
        if name is None or sure is None:
            return
        function = site.function
        title = f"`{function.name}`" if function is not None and function.name != "<lambda>" else "the traced function"
        severity = trace.severity(Severity.ERROR if site.block.parent is None else Severity.WARNING)
        yield self.report(
            site,
            f"`{name}` is an argument of {title}, which changes it: a `tf.function` that modifies a list or dict that "
            "it is given raises `ValueError`. Change a copy, and return it.",
            severity if sure else Severity.INFO,
            consequence=Consequence.BREAKS,
            subject=name,
            related=trace.callers,
        )

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
    if change.verb.endswith("next"):
        return ("gives one item to this `next`", True) if state.is_iterator else None
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
            or (level.kind in ("if", "else") and not site.change.relative and _is_tested(level, state))
        ),
        None,
    )


def _is_counted(site: ChangeSite) -> bool:
    """Whether a number is added: no tensor, and nothing that may be one."""
    values = site.change.values
    return any(is_number(part) for value in values for part in ast.walk(value) if isinstance(part, ast.expr))


def _tests(site: ChangeSite) -> Iterator[Block]:
    """The tests in the function around a place."""
    function = site.function
    for other in (*(function.calls if function is not None else ()), *(function.assignments if function else ())):
        for level in other.block.chain():
            if level.kind in ("if", "else"):
                yield level


def _is_tested(block: Block, state: Lasting) -> bool:
    """Whether the test of a block reads some state."""
    last = state.name.rpartition(".")[2]
    for part in ast.walk(block.node):
        name = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else None
        if name == last or literal_string(part if isinstance(part, ast.expr) else None) == last:
            return True
    return False


def _has_operations(site: ChangeSite, block: Block) -> bool:
    """Whether code under a test puts operations into the graph, other than to create what is kept."""
    function = site.function
    if function is None:
        return False
    encloses = site.file.index.encloses
    for call in function.calls:
        if call.method in _STATEFUL and encloses(block, call.block):
            return True
    for assignment in function.assignments:
        if assignment.kind == "name" and assignment.value is not None and encloses(block, assignment.block):
            if not assignment.runs(Context.TRACED, without=Context.LIFTED):
                continue
            if assignment.is_tensor(assignment.value) is Known.TENSOR and lasting(assignment, assignment.node) is None:
                return True
    return False


def _argument(site: ChangeSite, node: ast.expr) -> str | None:
    """The argument of the traced function that something belongs to."""
    node = owner_of(node)
    if not isinstance(node, ast.Name):
        return None
    if is_argument(site, node.id):
        return node.id
    given = site.file.changes.values(site.scope.function(), node.id)
    heads = [owner_of(value) for value in given]
    if len(heads) == 1 and isinstance(heads[0], ast.Name) and is_argument(site, heads[0].id):
        return heads[0].id
    return None


def _is_plain(site: ChangeSite, name: str) -> bool | None:
    """Whether an argument that is changed so surely is a list or a dict; None where nothing speaks for it."""
    change = site.change
    if change.kind == "item":
        return True
    if change.kind != "content":
        return None
    if change.verb in _OF_LISTS or change.verb in ("setdefault", "popitem") or change.verb.startswith("heapq."):
        return True
    if change.verb == "+=":
        return True if any(isinstance(value, ast.List) for value in change.values) else None
    if change.verb == "pop" and change.values and literal_string(change.values[0]) is not None:
        return True
    call = site.syntax
    if change.verb == "update" and isinstance(call, ast.Call):
        given = call.keywords or any(isinstance(value, ast.Dict) for value in change.values)
        return bool(given and not change.through)
    function = site.scope.function()
    default = site.file.default_of(function, name)
    if default is not None and is_container(site, default):
        return True
    return False if change.verb in ("pop", "clear", "sort", "reverse", "remove") else None


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
    """Whether a layer or variable is kept: what may be wrong then is its creation."""
    for value in site.change.values:
        made = site.file.call_at(value)
        if made is None:
            continue
        is_layer = made.creates & {"layer", "module"} or made.name.startswith("keras.layers.")
        if is_layer or site.is_tensor(value) is Known.VARIABLE:
            return True
    return False
