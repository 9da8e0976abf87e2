"""What the rules of this family share: how a place is traced, and which state outlives a trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...linter.rule_api.model import (
    Assignment,
    Call,
    ChangeSite,
    Context,
    File,
    FunctionSite,
    Known,
    Location,
    Project,
    Scope,
    Site,
    is_none,
    literal_string,
    owner_of,
    path_of,
)
from ...linter.rule_api.rule import Severity

CONTAINERS = frozenset(
    {
        "list", "dict", "set", "collections.defaultdict", "collections.deque", "collections.OrderedDict",
        "collections.Counter", "queue.Queue", "queue.LifoQueue", "queue.PriorityQueue", "queue.SimpleQueue",
        "multiprocessing.Queue",
    }
)  # fmt: skip
"""Makers of plain Python containers."""

_ARRAYS = ("numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full", "numpy.array", "numpy.arange")
_PYTHON_ITERATORS = ("itertools.", "zip", "map", "filter", "enumerate", "reversed", "open")
_DEEP = 6
"""Names that stand for each other, or attributes of attributes."""
BY_CERTAINTY = (Known.TENSOR, Known.VARIABLE, Known.LIKELY, Known.POSSIBLE)
"""That a value has no value while a graph is traced: certain, twice, likely, and on some ways."""
SYMBOLIC = frozenset(BY_CERTAINTY[:3])

_STACKED = frozenset({"append", "add"})
_SOMETIMES = frozenset({"if", "else", "loop", "case", "except", "after"})
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
    raises: bool
    """Whether what is impossible in a trace surely raises: the program never runs the place eagerly, as it is known."""
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
    if _is_set_up(site):
        return None
    if site.runs(Context.TRACED, without=Context.FIT | Context.DATASET):
        return _trace(site, "function", Context.TRACED)
    if site.runs(Context.TRACED | Context.DATASET):
        return _trace(site, "dataset", Context.DATASET)
    return fit_trace_of(site)


def fit_trace_of(site: Site) -> Trace | None:
    """Say how Keras traces the place, even where a `tf.function` of the user's does so, too; None where it does not."""
    if _is_set_up(site) or not site.runs(Context.TRACED | Context.FIT):
        return None
    return _trace(site, "fit", Context.FIT)


def _is_set_up(site: Site) -> bool:
    """Whether a place belongs to a set-up method, or to one in whose place something else is put."""
    outer = _no_lambda(site.function)
    return site.function is None or (outer is not None and (_sets_up(outer) or _is_replaced(outer)))


def _sets_up(function: FunctionSite) -> bool:
    """Whether it is a method that makes or describes its object; a function of such a name may be anything."""
    return function.name in _SET_UP and function.cls is not None


def _no_lambda(function: FunctionSite | None) -> FunctionSite | None:
    while function is not None and function.name == "<lambda>":
        function = function.function
    return function


def _trace(site: Site, how: str, flag: Context) -> Trace | None:
    if not site.is_possible(flag):
        return None
    where = site.trail(flag).replace("`<lambda>`", "a lambda").replace(" (a tf.function)`", "`")
    root = where.partition("`")[2].partition("`")[0].rpartition(".")[2]
    file = site.file
    switch = file.once(f"debugs {how}", lambda: any(_turns_eager(call, how) for call in file.calls))
    once = site.guarded or not site.runs(Context.TRACED, without=Context.ONCE)
    proven = not switch and site.is_reached(flag) and not _is_for_its_graph(_no_lambda(site.function))
    certain = how != "fit" or root not in ("call", "__call__")
    raises = certain and not (how == "fit" and any(not s & Context.TRACED for s in site.contexts))
    return Trace(how, where, certain, raises, once, proven, switch, site.callers(flag))


def _is_for_its_graph(function: FunctionSite | None) -> bool:
    """Whether nothing is done with a function but to ask for its graph: then it runs once, when its author wants it."""
    if function is None or function.cls is not None:
        return False
    file = function.file
    reads = file.once("reads by their first name", lambda: _by_first_name(file)).get(function.name, [])
    homes = ((path, file.index.lookup(scope, function.name)) for path, scope in reads)
    paths = {path for path, home in homes if home is not None and home[0] is function.scope}
    return paths == {f"{function.name}.get_concrete_function"}


def _by_first_name(file: File) -> dict[str, list[tuple[str, Scope]]]:
    found: dict[str, list[tuple[str, Scope]]] = {}
    for fact in file.index.references:
        found.setdefault(fact.path.partition(".")[0], []).append((fact.path, fact.scope))
    return found


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


def at_most(severity: Severity, known: Known) -> Severity:
    """A severity that speaks of a tensor, where that may be none: a warning where it is likely one, else an info."""
    if known is Known.LIKELY and severity is Severity.ERROR:
        return Severity.WARNING
    return Severity.INFO if known in (Known.POSSIBLE, Known.UNKNOWN) else severity


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
    if known is Known.OTHER or known in SYMBOLIC:
        return known is Known.OTHER
    if isinstance(node, ast.Call):
        return (path_of(node.func) or "").rpartition(".")[2] in _STATIC_CALLS
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute) and (node.attr in _STATIC_ATTRIBUTES or node.attr.endswith("_name"))


def held(site: Site, node: ast.expr | None) -> Known:
    """What is known of the most tensor-like value in an expression: itself, or an item of a list, tuple or dict."""
    items: list[ast.expr] = []
    if isinstance(node, ast.Tuple | ast.List):
        items = node.elts
    elif isinstance(node, ast.Dict):
        items = node.values
    else:
        return site.is_tensor(node)
    found = {held(site, item) for item in items}
    return next((known for known in (*BY_CERTAINTY, Known.UNKNOWN) if known in found), Known.OTHER)


@dataclass(frozen=True)
class Lasting:
    """Python state that outlives a trace."""

    kind: str
    """``attribute`` (of ``self``), ``class`` (an attribute of one), ``global``, ``free`` (a local of an enclosing
    function) or ``argument`` (an attribute of what a `tf.function` is called with)."""
    name: str
    values: tuple[ast.expr, ...]
    """What is assigned to it in this file, as far as it is an expression."""

    @property
    def title(self) -> str:
        """For a message."""
        before = {"global": "the global ", "free": "the enclosing function's ", "argument": "the argument's "}
        return f"{before.get(self.kind, '')}`{self.name}`"

    site: Site

    @cached_property
    def known(self) -> list[ast.expr]:
        """What it holds but for None; nothing where that is not known."""
        return [value for value in self.values if not is_none(value) and not _reads(value, self.name)]

    @property
    def is_unknown(self) -> bool:
        """Whether the file does not tell what it is."""
        return not self.known

    @cached_property
    def is_container(self) -> bool:
        """Whether it is always a plain Python container."""
        return bool(self.known) and all(is_container(self.site, value) for value in self.known)

    @cached_property
    def is_array(self) -> bool:
        """Whether it is an array of NumPy."""
        return bool(self.known) and all(
            isinstance(value, ast.Call) and any(n.canonical in _ARRAYS for n in self.site.names_of(value.func))
            for value in self.known
        )

    @cached_property
    def is_number(self) -> bool:
        """Whether it begins as a Python number and is never seen to be anything else."""
        return any(map(is_number, self.known)) and not any(is_container(self.site, v) for v in self.known)

    @cached_property
    def is_text(self) -> bool:
        """Whether it begins as a text."""
        return any(isinstance(value, ast.JoinedStr) or literal_string(value) is not None for value in self.known)

    @cached_property
    def is_iterator(self) -> bool:
        """Whether it is an iterator of Python, and not one of a dataset."""
        return bool(self.known) and all(is_iterator(self.site, value) for value in self.known)


def lasting(site: Site, node: ast.expr) -> Lasting | None:
    """The state that a target or receiver belongs to, if it outlives the trace: ``self.x``, a global, a free name.

    Items are looked through: ``self.logs["a"]`` belongs to ``self.logs``. A local is what it stands for.
    """
    path = path_of(node)
    if path is None or path == "type()":
        return _lasting(site, node, 0)
    return site.file.once(f"lasting {site.scope.id} {path}", lambda: _lasting(site, node, 0))


def _lasting(site: Site, node: ast.expr, depth: int) -> Lasting | None:
    node = owner_of(node)
    if depth > _DEEP:
        return None
    if isinstance(node, ast.Call):
        name = path_of(node.func)
        if name == "vars" and len(node.args) == 1:
            return _lasting(site, node.args[0], depth + 1)
        attribute = literal_string(node.args[1]) if name == "getattr" and len(node.args) > 1 else None
        return None if attribute is None else _lasting_attribute(site, node.args[0], attribute, depth)
    if isinstance(node, ast.Attribute):
        return _lasting_attribute(site, node.value, node.attr, depth)
    if isinstance(node, ast.IfExp | ast.BoolOp):
        found = [_lasting(site, part, depth + 1) for part in _alternatives(node)]
        return found[0] if all(found) else None
    return _lasting_name(site, node, depth) if isinstance(node, ast.Name) else None


def _reads(node: ast.expr, name: str) -> bool:
    """Whether a value is made of an attribute (``self.x``, of any ``self``) or a variable of that name."""
    _, dot, attribute = name.rpartition(".")
    parts = ast.walk(node)
    if dot:
        return any(isinstance(part, ast.Attribute) and part.attr == attribute for part in parts)
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _alternatives(node: ast.IfExp | ast.BoolOp) -> list[ast.expr]:
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values


def _lasting_attribute(site: Site, owner: ast.expr, name: str, depth: int) -> Lasting | None:
    if name == "__dict__":
        return _lasting(site, owner, depth + 1)
    index = site.file.index
    scope = index.class_of_self(site.scope, owner.id) if isinstance(owner, ast.Name) else None
    cls = class_named(site, owner)
    title = f"{ast.unparse(owner)}.{name}"
    if scope is not None or cls is not None:
        home = scope or cls
        assigned = site.file.attribute_values(home, name) if home is not None else []
        values = tuple(value for value in assigned if value is not None)
        return Lasting("attribute" if scope is not None else "class", title, values, site)
    base = _lasting(site, owner, depth + 1)
    if base is None and isinstance(owner, ast.Name) and is_argument(site, owner.id):
        base = Lasting("argument", owner.id, (), site)
    if base is None:
        return None
    known = [e for e in site.entities(path_of(owner)) if e.kind == "instance" and e.file == site.file.key]
    given = [site.file.attribute_values(index.scopes[entity.scope], name) for entity in known[:1]]
    given += [[k.value for k in made.keywords if k.arg == name] for made in base.values if isinstance(made, ast.Call)]
    values = tuple(value for found in given for value in found if value is not None)
    return Lasting(base.kind, f"{base.name}.{name}", values, site)


def class_named(site: Site, node: ast.expr) -> Scope | None:
    """The class of this file that an expression stands for: its name, ``type(self)``, ``self.__class__``."""
    if isinstance(node, ast.Call) and path_of(node.func) == "type" and len(node.args) == 1:
        inner: ast.expr | None = node.args[0]
    else:
        inner = node.value if isinstance(node, ast.Attribute) and node.attr == "__class__" else None
    if isinstance(inner, ast.Name):
        return site.file.index.class_of_self(site.scope, inner.id)
    found = site.entities(path_of(node)) if isinstance(node, ast.Name) else ()
    if len(found) == 1 and found[0].kind == "class" and found[0].file == site.file.key:
        return site.file.index.scopes[found[0].scope]
    return None


def is_argument(site: Site, name: str) -> bool:
    """Whether a name is a parameter of the very function that `tf.function` traces, which never gets another value."""
    file = site.file
    home, binds = file.index.lookup(site.scope, name) or (None, [])
    if home is None or not home.is_function or len(binds) != 1:
        return False
    if file.index.class_of_self(site.scope, name) is not None:
        return False
    arguments = getattr(home.node, "args", None)
    rest = arguments.vararg.arg if isinstance(arguments, ast.arguments) and arguments.vararg is not None else None
    return (name in home.parameters or name == rest) and file.project.begins((file.key, home.id), Context.TRACED)


def _lasting_name(site: Site, node: ast.Name, depth: int) -> Lasting | None:
    found = site.file.index.lookup(site.scope, node.id)
    if found is None:
        return None
    home, binds = found
    function = site.scope.function()
    if home.function() is function:
        given = [_lasting(site, value, depth + 1) for value in site.file.changes.values(function, node.id)]
        return given[0] if given and all(given) else None
    values = tuple(bind.node for bind in binds if isinstance(bind.node, ast.expr))
    if home.kind == "module":
        if any(bind.kind == "import" for bind in binds) and not _is_of_project(site, node.id, depth):
            return None
        return Lasting("global", node.id, values, site)
    if home.is_function:
        contexts = site.file.project.contexts((site.file.key, home.id))
        if any(s & Context.TRACED for s in contexts):
            return None  # it begins anew in each trace
        given_by_caller = any(bind.kind in ("parameter", "annotation") for bind in binds)
        return Lasting("free", node.id, () if given_by_caller else values, site)
    return None


def _is_of_project(site: Site, name: str, depth: int) -> bool:
    """Whether an imported name is a value of the project, or a module of which an attribute is meant."""
    return all(entity.kind == "instance" or (entity.kind == "module" and depth) for entity in site.entities(name))


def outlives(site: Site, trace: Trace) -> bool:
    """Whether the ``self`` of a method surely is older than the trace: a plain object may be made in each one."""
    cls = site.cls
    if cls is None:
        return False
    if cls.kinds & _MODULES or trace.where.startswith(f"`{cls.name}."):
        return True
    if any(
        name.canonical.removesuffix("()") == "tensorflow.function"
        for method in cls.methods.values()
        for name in method.decorators
    ):
        return True
    project = site.file.project
    makers = project.makers(cls.key)
    alone = len(cls.project_bases) == 1 and not cls.public_bases  # no base leads to methods of its other classes
    return alone and bool(makers) and all(_is_untraced(project, key) for key in makers)


def _is_untraced(project: Project, key: tuple[str, int]) -> bool:
    """Whether a function surely runs outside of every trace."""
    contexts = project.contexts(key)
    function = project.function(key)
    is_set_up = function is not None and function["name"] in _SET_UP and function["cls"] >= 0
    return (is_set_up or bool(contexts)) and not any(s & Context.TRACED for s in contexts)


def is_renewed(site: Site, state: Lasting) -> bool:
    """Whether traced code itself makes the state anew or empties it again, so that it begins alike in each trace."""
    if _is_emptied(site, state) or _begins_with_caller(site, state) or _is_stack(site, state):
        return True
    head, _, attribute = state.name.partition(".")
    scope = site.file.index.class_of_self(site.scope, head) if state.kind == "attribute" else None
    if scope is not None:
        assigned = site.file.assignments_to(scope, attribute)
    elif state.kind in ("global", "free") and not attribute:
        assigned = [a for a in site.file.assignments if a.kind == "name" and a.path == head]
    else:
        return False
    root = _root(site)
    return any(
        not assignment.augmented
        and assignment.syntax is not site.syntax
        and assignment.runs(Context.TRACED)
        and _root(assignment) == root
        and assignment.function is not None
        and not _sets_up(assignment.function)
        and not assignment.guarded
        and lasting(assignment, assignment.node) is not None
        and not _is_made_of_itself(assignment)
        for assignment in assigned
    )


def _begins_with_caller(site: Site, state: Lasting) -> bool:
    """Whether ``self`` is made in each trace, and what it holds is not given to it or shared by its class."""
    function, (head, _, attribute) = site.function, state.name.partition(".")
    cls = site.file.index.class_of_self(site.scope, head) if state.kind == "attribute" else None
    if cls is None or function is None:
        return False
    assigned = site.file.assignments_to(cls, attribute)
    own = [a for a in assigned if a.function is not None]
    return (
        bool(own)
        and not any(isinstance(a.value, ast.Name | ast.Attribute) for a in own)
        and site.file.project.begins_with_caller(function.key, Context.TRACED)
    )


def _is_emptied(site: Site, state: Lasting) -> bool:
    """Whether the function fills the state and, in any case, empties it."""
    function = site.function
    if function is None:
        return False
    emptying = site.file.once(
        f"what empties in {function.body.id}",
        lambda: [s for s in function.changes if s.block.parent is None and _empties(s)],
    )
    if not any(lasting(s, s.change.target) == state for s in emptying):
        return False
    return any(not _empties(other) and lasting(other, other.change.target) == state for other in function.changes)


def _is_stack(site: Site, state: Lasting) -> bool:
    """Whether what is put on it is taken off again: by one function, for one caller, or by what a ``with`` leaves."""
    owner = site.scope.function().owner() if state.kind == "attribute" else None
    putting, taking = site.file.once(
        f"stack {state.name} of {owner.id if owner is not None else 0}", lambda: _users_of_stack(site, state, owner)
    )
    if not putting or not taking or not putting.isdisjoint(taking):
        return bool(putting and taking)
    if owner is not None and any(b.scope and b.scope.id in putting for b in owner.binds.get("__enter__", ())):
        return any(bind.scope and bind.scope.id in taking for bind in owner.binds.get("__exit__", ()))
    for function in site.file.functions:
        called = {e.scope for call in function.calls for e in call.found if e.file == site.file.key}
        if not called.isdisjoint(putting) and not called.isdisjoint(taking):
            return True
    return False


def _users_of_stack(site: Site, state: Lasting, owner: Scope | None) -> tuple[frozenset[int], frozenset[int]]:
    """The functions that put something on a container, and those that take something off."""
    putting, taking = set[int](), set[int]()
    for function in site.file.functions if state.kind in ("attribute", "class", "global") else ():
        if owner is None or function.body.owner() is owner:
            for change in function.changes:
                if path_of(change.change.target) == state.name and change.change.verb in _STACKED:
                    putting.add(function.body.id)
                elif path_of(change.change.target) == state.name and _takes_last(change):
                    taking.add(function.body.id)
    return frozenset(putting), frozenset(taking)


def _takes_last(site: ChangeSite) -> bool:
    """Whether a place takes off, whenever its function comes to the end, what was put on last."""
    call = site.syntax
    if any(level.kind in _SOMETIMES for level in site.block.chain()) or not isinstance(call, ast.Call):
        return False
    return site.change.verb in ("remove", "discard") or (site.change.verb == "pop" and not call.args)


def _empties(site: ChangeSite) -> bool:
    change = site.change
    whole = isinstance(change.key, ast.Slice) and change.key.lower is change.key.upper is None
    return change.verb == "clear" or (whole and not any(map(_has_elements, change.values)))


def _has_elements(value: ast.expr) -> bool:
    return not isinstance(value, ast.List | ast.Tuple) or bool(value.elts)


def _root(site: Site) -> str:
    """The traced function that a way to the place begins with."""
    return site.trail(Context.TRACED).partition("`")[2].partition("`")[0]


def _is_made_of_itself(assignment: Assignment) -> bool:
    function = assignment.scope.function()
    value = assignment.value
    return value is not None and assignment.file.changes.reads(function, value, assignment.node)


def is_iterator(site: Site, node: ast.expr) -> bool:
    """Whether an expression makes an iterator of Python, and not one of a dataset."""
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call):
        return False
    names = [name.canonical for name in site.names_of(node.func)]
    if names == ["iter"] and len(node.args) == 1:
        inner = node.args[0]
        plain = isinstance(inner, ast.Tuple) or (isinstance(inner, ast.Call) and path_of(inner.func) == "range")
        return plain or is_container(site, inner) or is_iterator(site, inner)
    if any(name.startswith("itertools.") or name in _PYTHON_ITERATORS for name in names):
        return True
    found = site.entities(path_of(node.func))
    scopes = [site.file.index.scopes[e.scope] for e in found if e.kind == "function" and e.file == site.file.key]
    return bool(scopes) and len(scopes) == len(found) and all(_yields(scope.node) for scope in scopes)


def _yields(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))


def is_container(site: Site, node: ast.expr) -> bool:
    """Whether an expression makes a list, a dict or the like."""
    if isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
        return True
    return isinstance(node, ast.Call) and any(name.canonical in CONTAINERS for name in site.names_of(node.func))


def is_number(node: ast.expr | None) -> bool:
    """Whether an expression is a number literal."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)
