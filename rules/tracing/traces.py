"""What the rules of this family share: how a place is traced, and which state outlives a trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...linter.rule_api.model import Call, Context, FunctionSite, Known, Location, Site, is_none, path_of
from ...linter.rule_api.rule import Severity

CONTAINERS = frozenset(
    {
        "list", "dict", "set", "collections.defaultdict", "collections.deque", "collections.OrderedDict",
        "collections.Counter",
    }
)  # fmt: skip
"""Makers of plain Python containers."""

GROWERS = frozenset({"append", "extend", "insert", "appendleft", "add", "update", "setdefault"})
"""Methods that put something into such a container."""

_TAKERS = frozenset({"pop", "popleft", "popitem", "remove", "discard", "clear"})
MUTATORS = GROWERS | _TAKERS
_SET_UP = frozenset(
    {
        "__init__", "__new__", "__init_subclass__", "__repr__", "__str__", "build", "get_config", "from_config",
        "compute_output_shape", "compute_output_signature", "_init_weights",
    }
)  # fmt: skip
_MODULES = frozenset({"layer", "model", "module", "sonnet", "loss", "metric", "optimizer"})
_STATIC_CALLS = frozenset({"get_shape", "int_shape", "as_list", "type", "len", "id", "tuple", "shape", "ndim"})
_STATIC_ATTRIBUTES = frozenset({"shape", "dtype", "name", "__name__", "ndim", "rank", "static_shape"})
_EAGER_SWITCHES = frozenset(
    {"tensorflow.config.run_functions_eagerly", "tensorflow.config.experimental_run_functions_eagerly"}
)


@dataclass(frozen=True, slots=True)
class Trace:
    """How a place comes to run while a graph is traced.

    ``how`` is ``function`` (a `tf.function`), ``dataset`` (a tf.data transformation) or ``fit`` (Keras traces it, and a
    direct call runs eagerly).
    """

    how: str
    where: str
    """The traced function and the way from it to the place, for a message."""
    certain: bool
    """Whether every use in training is traced; the ``call`` of a layer may also be used eagerly only."""
    made_once: bool
    """Whether it runs once on purpose: under a create-once guard, or while something is built."""
    proven: bool
    """Whether it surely is traced: one run can take the way to it, and the file does not switch tracing off."""
    eager_switch: bool
    """Whether the same file turns tracing off, to debug."""
    callers: tuple[Location, ...]
    """The calls on the way from the traced function to the place."""

    def severity(self, severity: Severity) -> Severity:
        """A rule's severity, where the trace is proven."""
        return severity if self.proven else Severity.INFO

    @property
    def once(self) -> str:
        """``once per trace of `step```, with the eager case where there is one."""
        if self.how == "fit":
            return f"once per trace of {self.where} under `fit`, not once per batch"
        if self.how == "dataset":
            return f"once, when tf.data traces {self.where}, not once per element"
        return f"once per trace of {self.where}, not at each call"

    @property
    def under(self) -> str:
        """``in the traced `step```."""
        if self.how == "fit":
            return f"in {self.where}, which Keras traces under `fit`"
        if self.how == "dataset":
            return f"in {self.where}, which tf.data traces"
        return f"in {self.where}, which is traced"


def trace_of(site: Site) -> Trace | None:
    """Say how the place is traced; None where it is not, or only by way of a set-up method."""
    function = site.function
    outer = function
    while outer is not None and outer.name == "<lambda>":
        outer = outer.function
    if function is None or (outer is not None and (outer.name in _SET_UP or _is_replaced(outer))):
        return None
    if site.runs(Context.TRACED, without=Context.FIT | Context.DATASET):
        how, flag = "function", Context.TRACED
    elif site.runs(Context.TRACED | Context.DATASET):
        how, flag = "dataset", Context.DATASET
    elif site.runs(Context.TRACED | Context.FIT):
        how, flag = "fit", Context.FIT
    else:
        return None
    where = site.trail(flag).replace("`<lambda>`", "a lambda").replace(" (a tf.function)`", "`")
    root = where.partition("`")[2].partition("`")[0].rpartition(".")[2]
    file = site.file
    switch = file.once(f"debugs {how}", lambda: any(_turns_eager(call, how) for call in file.calls))
    once = site.guarded or not site.runs(Context.TRACED, without=Context.ONCE)
    proven = not switch and site.is_reached(flag)
    certain = how != "fit" or root not in ("call", "__call__")
    return Trace(how, where, certain, once, proven, switch, site.callers(flag))


def _is_replaced(function: FunctionSite) -> bool:
    """Whether code puts something else in a method's place, such as a `tf.py_function` around it."""
    file = function.file
    return function.cls is not None and function.name in file.once(
        "assigned attributes", lambda: {a.node.attr for a in file.assignments if isinstance(a.node, ast.Attribute)}
    )


def _turns_eager(call: Call, how: str) -> bool:
    if call.name in _EAGER_SWITCHES:
        return call.literal("run_eagerly", 0, True) is not False
    return how == "fit" and call.method == "compile" and call.literal("run_eagerly", None, False) is True


def is_failing(site: Site) -> bool:
    """Whether the place only reports a failure: it is in an ``except``, or what follows it raises."""
    if site.file.is_under("a handler", site.block, lambda level: level.kind == "except"):
        return True
    function = site.function
    statement = getattr(site, "statement", None)
    if function is None or statement is None:
        return False
    failing = site.file.once(f"failing {function.body.id}", lambda: _failing(function.syntax))
    return id(statement) in failing


def _failing(node: ast.AST) -> frozenset[int]:
    """The statements that something raises after, by their identity."""
    suites = (suite for suite in _suites(node) if isinstance(suite[-1], ast.Raise | ast.Assert))
    return frozenset(id(statement) for suite in suites for statement in suite)


def _suites(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for part in ast.walk(node):
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(part, name, None)
            if isinstance(suite, list) and suite:
                yield suite


def values_in(node: ast.expr) -> Iterator[ast.expr]:
    """The values that an expression shows when it is printed: those of f-strings, ``%`` and ``format``, of tuples."""
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Constant):
            continue
        if isinstance(node, ast.JoinedStr):
            stack.extend(part.value for part in node.values if isinstance(part, ast.FormattedValue))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
            stack.append(node.right)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_text(node):
            # what is added to a text is one: only a conversion in it shows a value
            stack.extend(part for part in (node.left, node.right) if not isinstance(part, ast.Name | ast.Attribute))
        elif isinstance(node, ast.Tuple | ast.List):
            stack.extend(node.elts)
        elif isinstance(node, ast.Dict):
            stack.extend(node.values)
        elif isinstance(node, ast.Starred):
            stack.append(node.value)
        elif isinstance(node, ast.Call) and _formats(node):
            stack.extend([*node.args, *(keyword.value for keyword in node.keywords)])
        else:
            yield node


def _formats(node: ast.Call) -> bool:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr == "format" and _is_text(node.func.value)
    return isinstance(node.func, ast.Name) and node.func.id in ("str", "repr")


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def is_static(site: Site, node: ast.expr) -> bool:
    """Whether a value is the same at every call of one trace: a shape, a type, a name, a setting."""
    known = site.is_tensor(node)
    if known is not Known.UNKNOWN:
        return known is Known.OTHER
    if isinstance(node, ast.Call):
        return (path_of(node.func) or "").rpartition(".")[2] in _STATIC_CALLS
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute) and (node.attr in _STATIC_ATTRIBUTES or node.attr.endswith("_name"))


def holds_tensor(site: Site, node: ast.expr | None) -> bool:
    """Whether a value is certainly a tensor, or a list, tuple or dict that has one in it."""
    if isinstance(node, ast.Tuple | ast.List):
        return any(holds_tensor(site, element) for element in node.elts)
    if isinstance(node, ast.Dict):
        return any(holds_tensor(site, value) for value in node.values)
    return site.is_tensor(node) is Known.TENSOR


@dataclass(frozen=True)
class Lasting:
    """Python state that outlives a trace."""

    kind: str
    """``attribute``, ``global`` or ``free`` (a local of an enclosing function)."""
    name: str
    values: tuple[ast.expr, ...]
    """What is assigned to it in this file, as far as it is an expression."""

    @property
    def title(self) -> str:
        """For a message."""
        before = {"attribute": "", "global": "the global ", "free": "the enclosing function's "}
        return f"{before[self.kind]}`{self.name}`"

    site: Site

    @cached_property
    def is_container(self) -> bool:
        """Whether it is always a plain Python container."""
        known = [value for value in self.values if not is_none(value)]
        return bool(known) and all(_is_container(self.site, value) for value in known)

    @cached_property
    def is_number(self) -> bool:
        """Whether it begins as a Python number and is never seen to be anything else."""
        known = [value for value in self.values if not is_none(value)]
        return any(is_number(value) for value in known) and not any(_is_container(self.site, v) for v in known)


def lasting(site: Site, node: ast.expr) -> Lasting | None:
    """The state that a target or receiver belongs to, if it outlives the trace: ``self.x``, a global, a free name.

    Items are looked through: ``self.logs["a"]`` belongs to ``self.logs``.
    """
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return site.file.once(f"lasting {site.scope.id} {path_of(node)}", lambda: _lasting(site, node))
    return None


def _lasting(site: Site, node: ast.Name | ast.Attribute) -> Lasting | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        scope = site.file.index.class_of_self(site.scope, node.value.id)
        if scope is None:
            return None
        assigned = [value for value in site.file.attribute_values(scope, node.attr) if value is not None]
        return Lasting("attribute", f"{node.value.id}.{node.attr}", tuple(assigned), site)
    if not isinstance(node, ast.Name):
        return None
    found = site.file.index.lookup(site.scope, node.id)
    if found is None:
        return None
    home, binds = found
    values = tuple(bind.node for bind in binds if isinstance(bind.node, ast.expr))
    if home.kind == "module" and site.scope.function().kind != "module":
        if any(bind.kind == "import" for bind in binds):
            return None
        return Lasting("global", node.id, values, site)
    if home.is_function and home is not site.scope.function():
        contexts = site.file.project.contexts((site.file.key, home.id))
        if any(s & Context.TRACED for s in contexts) or any(b.kind in ("parameter", "annotation") for b in binds):
            return None  # it begins anew in each trace, or the caller knows what it is
        return Lasting("free", node.id, values, site)
    return None


def outlives(site: Site, trace: Trace) -> bool:
    """Whether the ``self`` of a method surely is older than the trace: a plain object may be made in each one."""
    cls = site.cls
    if cls is None:
        return False
    if cls.kinds & _MODULES or trace.where.startswith(f"`{cls.name}."):
        return True
    return any(
        name.canonical.removesuffix("()") == "tensorflow.function"
        for method in cls.methods.values()
        for name in method.decorators
    )


def is_renewed(site: Site, state: Lasting) -> bool:
    """Whether traced code itself makes the container anew, so that it begins empty in each trace."""
    head, _, attribute = state.name.partition(".")
    scope = site.file.index.class_of_self(site.scope, head) if state.kind == "attribute" else None
    return scope is not None and any(
        not assignment.augmented
        and assignment.runs(Context.TRACED)
        and assignment.function is not None
        and assignment.function.name not in _SET_UP
        for assignment in site.file.assignments_to(scope, attribute)
    )


def _is_container(site: Site, node: ast.expr) -> bool:
    if isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
        return True
    return isinstance(node, ast.Call) and any(name.canonical in CONTAINERS for name in site.names_of(node.func))


def is_number(node: ast.expr | None) -> bool:
    """Whether an expression is a number literal."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)
