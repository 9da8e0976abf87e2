"""What one file tells the rest of its project: a small JSON value, made once per content and kept on disk.

It holds the file's imports and exports, its classes and functions, and which function hands control to which, under
what conditions.
Names in it are resolved as far as the file alone allows (see `FileIndex.resolve`); the project does the rest.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, NamedTuple, TypedDict

from .changes import changed_parameters
from .guards import Guards
from .index import Block, CallFact, FileIndex, Scope
from .names import canonical
from .paths import Literal, held_by, is_none, literal_of, literal_string, path_of, split_head
from .ragged import RAGGED, Raggedness
from .versions import Flags, Versions

_NO_FLAGS = ("@", "self@", "super@", "$", "{", "[", "*.", "tensorflow.", "builtins.", "keras.", "numpy.")
"""How names begin that lead to no other file of the project."""
_OWN = ("@", "self@", "super@", "$", ".", "{")
_BY_NAME = frozenset({"tensorflow.get_variable", "tensorflow.get_local_variable"})
_FUNCTIONS = (ast.Name, ast.Attribute, ast.Lambda, ast.IfExp)
_NO_FUNCTIONS = frozenset({ast.Constant, ast.BinOp, ast.JoinedStr, ast.Compare, ast.UnaryOp})
_MAX_VALUES = 6
_MAX_RETURNS = 3
_MAX_PARTS = 6
_RUNNERS = frozenset(
    {
        "Thread", "apply", "call_for_each_replica", "case", "cond", "custom_gradient", "defun", "experimental_run_v2",
        "filter", "flat_map", "foldl", "foldr", "function", "function()", "group_by_window", "interleave", "map",
        "map_and_batch", "map_fn", "map_structure", "minimize", "numpy_function", "py_func", "py_function",
        "recompute_grad", "reduce", "run", "scan", "sort", "sorted", "switch_case", "take_while", "to_graph",
        "vectorized_map", "while_loop", "wrap_function",
    }
)  # fmt: skip
"""Public functions and methods that run what they are given; see `roots.given_to`."""
_DATASET_KEYWORDS = frozenset({"num_parallel_calls", "deterministic", "cycle_length", "block_length"})
_NAMED_BY = ("name_or_scope", "name", "scope")


class FunctionSummary(TypedDict):
    """A function or lambda."""

    name: str
    line: int
    cls: int
    outer: int
    parameters: list[str]
    rest: str
    """The parameter that takes all other positional arguments."""
    decorators: list[str]
    returns: list[str]
    v1_calls: list[str]
    """Canonical names of what it calls that makes variables by name; see `makes_by_name`."""
    changed: list[list[Any]]
    """What it does to its parameters; see `changed_parameters`."""


class ClassSummary(TypedDict):
    """A class; ``attributes`` are those assigned in its body and through ``self``.

    ``bases`` has, for each base, what it may be: nothing where that is unknown.
    """

    name: str
    line: int
    outer: int
    bases: list[list[str]]
    methods: dict[str, int]
    attributes: dict[str, list[str]]
    decorators: list[str]


class CallEdge(NamedTuple):
    """A call of something that may be code of the project, or a read of an attribute that may be a property."""

    caller: int
    line: int
    targets: list[str]
    conditions: int
    shape: tuple[int, list[str]] | None
    """Number of positional arguments, and keywords, among which ``*`` stands for ``*args`` or ``**kwargs``; None where
    an attribute is read.

    A keyword that gives None is left out, and ``-1`` is a position that does.
    ``?name=0:layer`` and ``?1=0:layer`` hand on the caller's own parameter ``layer``, at its position, which is None by
    default.
    """
    via: str = ""
    """As it is written."""


class GivenFunctions(NamedTuple):
    """Functions that are given to a call, in one argument: its position or keyword, ``**`` for all other keywords.

    Before an item of a dict stands its key, in braces.

    A default is given by the function itself, as ``=name``.
    """

    caller: int
    line: int
    targets: list[str]
    argument: str
    functions: list[str]
    conditions: int
    kept: str = ""
    """The last name that is assigned what the call returns."""
    is_partial: bool = False
    """Whether the targets are not called yet: a `functools.partial` of them is made."""


class Conditions(TypedDict):
    """Under what a site runs: see `conditions`."""

    outer: int
    """The index of those around, which hold too; `NO_CONDITIONS` has none."""
    guarded: bool
    unsure: bool
    dead: bool
    withs: list[list[str]]
    tests: list[list[str]]
    asked: list[list[Any]]
    flags: list[list[Any]]


class Summary(TypedDict):
    """The whole file."""

    imports: list[str]
    stars: list[str]
    exports: dict[str, list[str]]
    functions: dict[str, FunctionSummary]
    classes: dict[str, ClassSummary]
    edges: list[Sequence[Any]]
    """As in `CallEdge`; what was kept has lists."""
    passes: list[Sequence[Any]]
    """As in `GivenFunctions`."""
    conditions: list[Conditions]
    """Those that edges and passes have the index of."""
    uses: list[str]
    flags: Flags


_MOST_CASES = 16
"""Of a ``match`` whose later cases know that no earlier one was taken."""
UNKNOWN_SHAPE: tuple[int, list[str]] = (0, ["*"])
"""Of a call of what may add arguments of its own; see `CallEdge.shape`."""

NO_CONDITIONS: Conditions = {
    "outer": -1,
    "guarded": False,
    "unsure": False,
    "dead": False,
    "withs": [],
    "tests": [],
    "asked": [],
    "flags": [],
}
"""The first of every file."""


def summarize(index: FileIndex) -> Summary:
    """Collect the summary of one file."""
    return _Summarizer(index).summary


def structure(summary: Summary) -> tuple[list[Any], list[Any]]:
    """What other files may see of a file: all but its code and where it stands.

    What belongs to its classes, of which other classes may be bases, and the rest.
    """
    functions: list[list[Any]] = [
        [number, f["name"], f["cls"], f["outer"], f["parameters"], f["decorators"], f["returns"]]
        for number, f in summary["functions"].items()
    ]
    classes = [
        [number, c["name"], c["outer"], c["bases"], c["methods"], c["decorators"]]
        for number, c in summary["classes"].items()
    ]
    attributes = [c["attributes"] for c in summary["classes"].values()]
    rest = [summary["stars"], summary["exports"], summary["flags"], attributes]
    methods, others = ([one for one in functions if (one[2] >= 0) is own] for own in (True, False))
    return [*classes, *methods], [*rest, *others]


class _Summarizer:
    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._versions = Versions(index)
        self._guards = Guards(index)
        self._by_block: dict[int, int] = {}
        self._known: dict[str, int] = {}
        self._conditions: list[Conditions] = [NO_CONDITIONS]
        self._lambdas: set[int] = set()
        self._raggedness = Raggedness()
        self._partials = {_kept(call) for call in index.calls if call.path in ("functools.partial", "partial")}
        self.summary: Summary = {
            "imports": sorted({fact.absolute for fact in index.imports}),
            "stars": list(index.module.stars),
            "exports": self._exports(index.module),
            "functions": {},
            "classes": {},
            "edges": [],
            "passes": [],
            "conditions": self._conditions,
            "uses": [],
            "flags": self._versions.flags(),
        }
        for scope in index.scopes:
            if scope.is_function:
                self.summary["functions"][str(scope.id)] = self._function(scope)
            elif scope.kind == "class":
                self.summary["classes"][str(scope.id)] = self._class(scope)
        self._returns()
        for number, rows in changed_parameters(index).items():
            self.summary["functions"][str(number)]["changed"] = rows
        for call in index.calls:
            self._call(call)
        for scope in index.scopes:
            self._defaults(scope)
        self._managers()
        self._properties()
        self._uses()

    def _resolve(self, scope: Scope, path: str | None) -> list[str]:
        return list(self._index.resolve(scope, path)) if path else []

    def _exports(self, scope: Scope) -> dict[str, list[str]]:
        found = {name: self._resolve(scope, name) for name in scope.binds}
        for name, texts in found.items():
            imported = [text for text in texts if not self._is_script_only(text)]
            found[name] = imported or texts
        return {name: texts for name, texts in found.items() if texts}

    def _is_script_only(self, text: str) -> bool:
        """Whether a name is a def below ``if __name__ == "__main__":``, which no importer sees."""
        if not text.startswith("@") or not text[1:].isdigit():
            return False
        block = self._index.scopes[int(text[1:])].defined_in
        return block is not None and any(
            level.kind == "if" and isinstance(level.node, ast.Compare) and path_of(level.node.left) == "__name__"
            for level in block.chain()
        )

    def _decorators(self, scope: Scope) -> list[str]:
        outer = scope.parent or scope
        return [text for node in scope.decorators for text in self._index.values(outer, node)]

    def _function(self, scope: Scope) -> FunctionSummary:
        owner = scope.owner()
        outer = scope.parent.function() if scope.parent else scope
        arguments = getattr(scope.node, "args", None)
        return {
            "name": scope.name,
            "line": getattr(scope.node, "lineno", 0),
            "cls": owner.id if owner else -1,
            "outer": outer.id,
            "parameters": scope.parameters,
            "rest": arguments.vararg.arg if isinstance(arguments, ast.arguments) and arguments.vararg else "",
            "decorators": self._decorators(scope),
            "returns": [],
            "v1_calls": [],
            "changed": [],
        }

    def _class(self, scope: Scope) -> ClassSummary:
        assert isinstance(scope.node, ast.ClassDef)
        outer = scope.parent or scope
        methods: dict[str, int] = {}
        attributes: dict[str, list[str]] = {}
        for name, binds in scope.binds.items():
            inner = [bind.scope for bind in binds if bind.kind == "scope" and bind.scope is not None]
            inner = [scope for scope in inner if not _is_setter(scope)] or inner  # to read a property calls its getter
            if inner and inner[-1].kind == "function":
                methods[name] = inner[-1].id
            elif found := self._resolve(scope, name):
                attributes[name] = found
        for name, values in scope.attributes.items():
            found = attributes.setdefault(name, [])
            for path, where in values:
                if path is None:
                    continue
                mark = path[: path.index("]") + 1] if path.startswith("[") else ""
                found.extend(mark + text for text in self._resolve(where, path[len(mark) :]))
            attributes[name] = list(dict.fromkeys(found))[:_MAX_VALUES]
        return {
            "name": scope.name,
            "line": scope.node.lineno,
            "outer": outer.function().id,
            "bases": [self._resolve(outer, _class_path(base)) for base in scope.node.bases],
            "methods": methods,
            "attributes": attributes,
            "decorators": self._decorators(scope),
        }

    def _returns(self) -> None:
        for scope in self._index.scopes:
            if not scope.is_function:
                continue
            values: list[ast.expr] = []
            if isinstance(scope.node, ast.Lambda):
                values = [scope.node.body]
            elif isinstance(scope.node, ast.FunctionDef):
                values = [fact.value for fact in self._index.returns_in(scope)]
            if not values:
                continue
            texts = dict.fromkeys(text for value in values for text in self._returned(scope, value))
            plain = [t for t in texts if not t.startswith("{") or (t[1] == "}" and self._may_be_function(t[2:]))]
            parts = [t for t in texts if t[0] == "{" and t[1] != "}"]
            returned = [*plain[:_MAX_RETURNS], *parts[:_MAX_PARTS]]
            self.summary["functions"][str(scope.id)]["returns"] = returned

    def _returned(self, scope: Scope, value: ast.expr) -> Sequence[str]:
        """What a function gives; of a tuple, what each part is, with its number."""
        if not isinstance(value, ast.Tuple) or any(isinstance(part, ast.Starred) for part in value.elts):
            return self._index.values(scope, value)
        parts = enumerate(value.elts[:_MAX_PARTS])
        return [f"{{{n}}}{text}" for n, part in parts for text in self._index.values(scope, part) if text[0] != "{"]

    def _call(self, call: CallFact) -> None:
        caller = call.scope.function().id
        targets = self._resolve(call.scope, call.callee)
        if not call.path:
            targets = list(self._index.values(call.scope, call.node.func))
        function = self.summary["functions"].get(str(caller))
        if function is not None:
            for name in map(canonical, targets):
                if makes_by_name(name) and name not in function["v1_calls"]:
                    function["v1_calls"].append(name)
        ours = [target for target in targets if _may_be_ours(target)]
        if ours:
            condition = self._condition_of(call)
            path = call.path or ""
            shape = UNKNOWN_SHAPE if path.rpartition(".")[2] in self._partials else _shape(call, self._raggedness)
            edge = CallEdge(caller, call.node.lineno, ours, condition, shape, path)
            self.summary["edges"].append(edge)
        given = _arguments(call.node)
        is_partial = "functools.partial" in targets and bool(call.node.args)
        if is_partial:
            targets = list(self._index.values(call.scope, call.node.args[0]))
            given = [(str(int(a) - 1) if a.isdigit() else a, node) for a, node in given if a != "0"]
        for argument, node in given:
            functions = self._functions(call.scope, node)
            if not functions and argument != "**":
                continue
            spelled = targets or ([f"?{call.path.rpartition('.')[2]}"] if call.path else ["?"])
            if call.path and call.node.keywords and _is_of_dataset(call.node, spelled):
                spelled = [f"?dataset.{call.path.rpartition('.')[2]}"]
            if argument == "**":
                functions = [f"${caller}:**"] if self._is_rest(call.scope, node) else []
                if not functions:
                    continue
            if all(text.startswith("$") for text in functions) and not any(map(_may_run_a_parameter, spelled)):
                continue
            condition = self._condition_of(call)
            given_functions = GivenFunctions(
                caller, call.node.lineno, spelled, argument, functions, condition, _kept(call), is_partial
            )
            self.summary["passes"].append(given_functions)

    def _is_rest(self, scope: Scope, node: ast.expr) -> bool:
        """Whether an expression is the parameter of the function itself that takes all other keywords."""
        arguments = getattr(scope.function().node, "args", None)
        rest = arguments.kwarg if isinstance(arguments, ast.arguments) else None
        return rest is not None and isinstance(node, ast.Name) and node.id == rest.arg

    def _functions(self, scope: Scope, node: ast.expr) -> list[str]:
        """What an argument may be, if that may be a function, or hold some."""
        if node.__class__ in _NO_FUNCTIONS:
            return []
        texts = self._index.values(scope, node)
        if not texts:
            return []
        found = dict.fromkeys([text.removeprefix("{}") for text in texts])
        return [text for text in found if self._may_be_function(held_by(text)[1] if text[0] == "{" else text)]

    def _defaults(self, scope: Scope) -> None:
        """Functions that are the default of a parameter."""
        arguments = getattr(scope.node, "args", None)
        if not isinstance(arguments, ast.arguments) or scope.parent is None:
            return
        for name, node in defaults(arguments):
            functions = self._functions(scope.parent, node) if isinstance(node, _FUNCTIONS) else []
            if functions:
                line = getattr(scope.node, "lineno", 0)
                self.summary["passes"].append(
                    GivenFunctions(scope.id, line, [f"@{scope.id}"], f"={name}", functions, 0)
                )

    def _managers(self) -> None:
        """Entering a context manager of ours runs its methods."""
        for block in self._index.blocks:
            if block.kind == "with" and isinstance(block.node, ast.expr):
                texts = [t for t in self._resolve(block.scope, path_of(block.node)) if _may_be_ours(t)]
                targets = [f"{text}.{method}" for text in texts for method in ("__enter__", "__exit__")]
                if targets:
                    around = self._condition(block.parent) if block.parent is not None else 0
                    edge = CallEdge(block.scope.function().id, block.node.lineno, targets, around, (0, []))
                    self.summary["edges"].append(edge)

    def _may_be_function(self, text: str) -> bool:
        if text.startswith("@"):
            if text[1:].isdigit():
                return self._index.scopes[int(text[1:])].is_function
            if text.endswith("()") and text[1:-2].isdigit():
                return self._makes_functions(int(text[1:-2]))
            return "(" not in text and "[" not in text
        if text.startswith(("self@", "$")):
            return "(" not in text and text.count(".") <= 1
        return _may_be_ours(text) and not text.endswith(("()", "]"))

    def _makes_functions(self, number: int) -> bool:
        """Whether calling something gives a function, or an object whose class has a method for calls."""
        scope = self._index.scopes[number]
        if scope.is_function:
            return any(text.startswith(("@", "$")) for text in self.summary["functions"][str(number)]["returns"])
        return "__call__" in scope.binds or "call" in scope.binds

    def _properties(self) -> None:
        """Reading ``self.x`` runs x if it is a property: record the reads that no assignment in this file explains."""
        seen: set[tuple[int, str, int]] = set()
        for fact in self._index.references:
            if fact.called or fact.path.count(".") < 1:
                continue
            head, rest = split_head(fact.path)
            cls = self._index.class_of_self(fact.scope, head)
            if cls is None or not rest.startswith("."):
                continue
            name = split_head(rest[1:])[0]
            if name in cls.attributes:
                continue
            condition = self._condition(fact.block)
            key = (fact.scope.function().id, name, condition)
            if key not in seen:
                seen.add(key)
                target = f"self@{cls.id}.{name}"
                self.summary["edges"].append(CallEdge(key[0], fact.node.lineno, [target], condition, None))

    def _uses(self) -> None:
        places = {(fact.scope.id, fact.path): fact.scope for fact in self._index.references}
        uses = {
            text
            for (_, path), scope in places.items()
            for text in self._resolve(scope, path)
            if not text.startswith(("@", "self@", "super@", "$", "{", "builtins."))
        }
        self.summary["uses"] = sorted(uses)

    def _condition_of(self, call: CallFact) -> int:
        """The conditions of a call, which runs eagerly only where it gives the value of a tensor."""
        around = self._condition(call.block)
        if not any(map(_is_value, call.node.args)) and not any(_is_value(word.value) for word in call.node.keywords):
            return around
        return self._number(NO_CONDITIONS | {"outer": around, "tests": [["tensorflow.executing_eagerly", "true"]]})

    def _condition(self, block: Block) -> int:
        """The conditions of a block; those of blocks around it are shared."""
        return block.inherited(self._by_block, 0, self._add_condition)

    def _add_condition(self, level: Block, around: int) -> int:
        own = conditions(self._index, self._guards, self._versions, level)
        if own is None:
            return around
        own["outer"] = around
        return self._number(own)

    def _number(self, own: Conditions) -> int:
        known = self._known.setdefault(repr(own), len(self._conditions))
        if known == len(self._conditions):
            self._conditions.append(own)
        return known


def imported(tree: ast.Module) -> list[str]:
    """What a file imports, anywhere, without looking at any expression: all that is needed of most files."""
    found: set[str] = set()
    stack: list[ast.AST] = [tree]
    while stack:
        for node in own_statements(stack.pop()):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                found.update(f"{module}{'' if module.endswith('.') else '.'}{alias.name}" for alias in node.names)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                stack.append(node)
    return sorted(found)


def conditions(index: FileIndex, guards: Guards, versions: Versions, level: Block) -> Conditions | None:
    """Say what a block of a function adds to the conditions around it, None for nothing; ``outer`` is not known here.

    ``guarded`` is whether a create-once guard protects it, ``unsure`` whether one may.
    ``dead`` is whether it runs on none of the versions that a target may mean.
    ``withs`` holds ``[name of the context manager, how it is named]``: ``named``, ``empty``, ``auto`` (only a
    ``default_name``), ``parameter:x`` (named by parameter x, whose default is None), ``object``.
    ``tests`` holds ``[name of a called test, "true" or "false"]``.
    ``flags`` holds ``[name that another file may give, or a call of it, whether it is true]``.
    ``asked`` holds ``[scope id of a function, parameter, how, literal, default]`` for what a caller must give for it:
    it is to be ``true`` or ``false``, or ``is`` or ``is not`` the literal (``==`` or ``!=`` where that is a number or a
    truth value, which may be equal); literal and default are JSON texts.
    """
    withs: list[list[str]] = []
    tests: list[list[str]] = []
    asked: list[list[Any]] = []
    flags: list[list[Any]] = []
    if level.kind == "with" and isinstance(level.node, ast.expr):
        plain = path_of(level.node) or ""
        texts = index.resolve(level.scope, plain)
        how = scope_name(level.node, level.scope)
        withs.extend([text, how] for text in texts or (f"?{plain.rpartition('.')[2]}",))
    elif level.kind in ("if", "else") and isinstance(level.node, ast.expr):
        function = level.scope.function()
        for test, holds in decided(level.node, level.kind == "if"):
            if isinstance(test, ast.Call):
                called = index.resolve(level.scope, path_of(test.func) or "")
                tests.extend([text, "true" if holds else "false"] for text in called)
                flags.extend([f"{text}()", holds] for text in called if _may_be_flag(text))
            elif isinstance(test, ast.Attribute) or (isinstance(test, ast.Name) and test.id not in function.parameters):
                read = index.resolve(level.scope, path_of(test) or "")
                flags.extend([text, holds] for text in read if _may_be_flag(text))
            if (known := _asked(test, holds)) is not None:
                asked.extend(_asked_of_caller(index, level.scope, known))
    elif level.kind == "case" and isinstance(level.statement, ast.Match) and isinstance(level.node, ast.match_case):
        cases = level.statement.cases
        for case in cases[: cases.index(level.node) + 1] if len(cases) <= _MOST_CASES else (level.node,):
            is_it = case is level.node
            if isinstance(case.pattern, ast.MatchValue) and (is_it or case.guard is None):
                test = ast.Compare(level.statement.subject, [ast.Eq()], [case.pattern.value])
                if (known := _asked(test, is_it)) is not None:
                    asked.extend(_asked_of_caller(index, level.scope, known))
    guarded, unsure = guards.guard(level) is level, guards.may_be_one(level)
    dead = versions.is_dead(level, None)
    if not (guarded or unsure or dead or withs or tests or asked or flags):
        return None
    return {
        "outer": 0,
        "guarded": guarded,
        "unsure": unsure,
        "dead": dead,
        "withs": withs,
        "tests": tests,
        "asked": asked,
        "flags": flags,
    }


def _may_be_flag(text: str) -> bool:
    """Whether a name may be that of a module of the project."""
    return "(" not in text and not text.startswith(_NO_FLAGS)


def decided(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The parts of a test whose outcome follows from that of the whole."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from decided(test.operand, not holds)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == holds:
            for value in test.values:
                yield from decided(value, holds)
    else:
        yield test, holds


def _asked(test: ast.expr, holds: bool) -> tuple[str, str, str] | None:
    """The name that a test is on, and what the name is where the test is `holds`; see `conditions`."""
    if isinstance(test, ast.Name):
        return test.id, "true" if holds else "false", ""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        literal = literal_of(test.comparators[0])
        if literal is not None and isinstance(test.ops[0], ast.Is | ast.Eq | ast.IsNot | ast.NotEq):
            is_it = isinstance(test.ops[0], ast.Is | ast.Eq) == holds
            by_value = isinstance(test.ops[0], ast.Eq | ast.NotEq) and isinstance(literal[0], int | float)
            how = ("==" if is_it else "!=") if by_value else "is" if is_it else "is not"
            return test.left.id, how, _text(literal[0])
    return None


def _asked_of_caller(index: FileIndex, scope: Scope, known: tuple[str, str, str]) -> Iterator[list[Any]]:
    """What a caller of the function that has a parameter of that name must give for it; see `conditions`."""
    name, how, _ = known
    function = scope.function()
    if name not in function.parameters:
        found = index.lookup(scope, name)
        function = function if found is None else found[0]
    elif scope is not function and name in scope.binds:
        return
    if name in function.defaults:
        is_called = function.keeps(name) and not runs_by_itself(function)
        if is_called or (how != "true" and function.defaults_to_none(name)):
            yield [function.id, *known, _text(function.defaults[name])]


def runs_by_itself(function: Scope) -> bool:
    """Whether Python or Keras calls a method, with arguments that nobody sees: a constructor, a forward pass."""
    return function.name.startswith("__") or function.name == "call"


def scope_name(node: ast.expr, scope: Scope) -> str:
    """How a ``variable_scope(...)`` context gets its name."""
    if not isinstance(node, ast.Call):
        return "object"
    name: ast.expr | None = node.args[0] if node.args else None
    default: ast.expr | None = node.args[1] if len(node.args) > 1 else None
    for keyword in node.keywords:
        if keyword.arg in _NAMED_BY:
            name = keyword.value
        elif keyword.arg == "default_name":
            default = keyword.value
    if name is None or is_none(name):
        return "auto" if default is not None else "empty"
    text = literal_string(name)
    if text is not None:
        return "named" if text else "empty"
    if isinstance(name, ast.Name) and default is not None and defaults_to_none(scope, name.id):
        return f"parameter:{name.id}"
    return "named"


def defaults_to_none(scope: Scope, name: str) -> bool:
    """Whether a parameter of a function has the default None."""
    return scope.function().defaults_to_none(name)


def own_statements(function: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function's own body, without those of functions and classes inside it."""
    stack: list[ast.stmt] = list(reversed(getattr(function, "body", [])))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inner: list[ast.stmt] = []
        for name in ("body", "orelse", "finalbody"):
            inner.extend(getattr(node, name, []))
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            inner.extend(part.body)
        stack.extend(reversed(inner))


def makes_by_name(name: str) -> bool:
    """Whether a public callable may get variables by their name, from the variable scope, as TF1 did."""
    return name in _BY_NAME or (name.startswith(("tensorflow.layers.", "slim.")) and "(" not in name)


_TOLD_OF = (ast.Constant, ast.Name, ast.Call, ast.ListComp)
"""Arguments of which something may be known."""


def _shape(call: CallFact, raggedness: Raggedness) -> tuple[int, list[str]]:
    """How many arguments a call gives by position, and what is known of them and of the others.

    ``name`` is given by keyword; ``*`` stands for what an unpacked value gives.
    ``=name:json`` is given a literal, or `RAGGED`, and so is ``=0:json``, the first one.
    ``?name=1:other:json`` is given the second parameter of the calling function, ``other``, as it was given, or its
    default.
    """
    node = call.node
    found: list[str] = []
    caller = call.scope.function()
    count = len(node.args)
    if not isinstance(node.func, ast.Name | ast.Attribute) or _gives_self(node, caller):
        return UNKNOWN_SHAPE
    for at, value in enumerate(node.args):
        kind = value.__class__
        if kind is ast.Starred:
            found.append("*")
            count = at
            break
        if kind in _TOLD_OF:
            found += _given(str(at), value, caller, raggedness)
    for keyword in node.keywords:
        if keyword.arg is None:
            found.append("*")
        else:
            found += _given(keyword.arg, keyword.value, caller, raggedness)
    return count, found


def _gives_self(node: ast.Call, caller: Scope) -> bool:
    """Whether a method gives its own ``self`` first, as in ``Base.scaled(self, x)``."""
    first = node.args[0] if node.args else None
    return (
        isinstance(first, ast.Name)
        and isinstance(node.func, ast.Attribute)
        and caller.parameters[:1] == [first.id]
        and caller.owner() is not None
    )


def _given(name: str, value: ast.expr, caller: Scope, raggedness: Raggedness) -> list[str]:
    """What is known of one argument."""
    found = [] if name[0].isdecimal() else [name]
    if isinstance(value, ast.Constant):
        known = literal_of(value)
        return [intern(f"={name}:{_text(known[0])}")] if known and _may_be_tested(known[0]) else found
    if isinstance(value, ast.Name) and value.id in caller.parameters and caller.keeps(value.id):
        position = caller.parameters.index(value.id) - (caller.owner() is not None and not _is_static(caller))
        default = _text(caller.defaults[value.id]) if value.id in caller.defaults else ""
        found.append(intern(f"?{name}={position}:{value.id}:{default}"))
    elif value.__class__ in _TOLD_OF and raggedness.holds(value, caller):
        return [intern(f"={name}:{RAGGED}")]
    return found


@lru_cache(maxsize=1000, typed=True)
def _text(value: Literal) -> str:
    return json.dumps(value)


def _may_be_tested(value: Literal) -> bool:
    """Whether a function is likely to ask for a literal that it is given: no size, and no text but a plain word."""
    return value.isidentifier() if isinstance(value, str) else value is None or (not value or value is True)


def _is_static(scope: Scope) -> bool:
    return any(path_of(decorator) == "staticmethod" for decorator in scope.decorators)


def _is_setter(scope: Scope) -> bool:
    return any((path_of(decorator) or "").endswith((".setter", ".deleter")) for decorator in scope.decorators)


def _class_path(base: ast.expr) -> str | None:
    """The path of a base class; ``Generic[T]`` is Generic."""
    return path_of(base.value if isinstance(base, ast.Subscript) else base)


def _may_be_ours(target: str) -> bool:
    """Whether a name may be code of the project, judged by the name alone."""
    return target.startswith(_OWN) or not target.startswith(
        ("tensorflow.", "keras.", "numpy.", "builtins.", "tf_keras.", "tf_slim.", "os.", "re.")
    )


def _is_of_dataset(node: ast.Call, spelled: list[str]) -> bool:
    """Whether a method that is not known has a keyword that only those of a dataset have."""
    keywords = {keyword.arg for keyword in node.keywords}
    return not keywords.isdisjoint(_DATASET_KEYWORDS) and all(text.startswith(("?", "$")) for text in spelled)


def _may_run_a_parameter(target: str) -> bool:
    """Whether a callee is of the project, or something public that runs what it is given, judged by the name alone."""
    return (_may_be_ours(target) and not target.startswith("?")) or target.rpartition(".")[2] in _RUNNERS


def _arguments(node: ast.Call) -> list[tuple[str, ast.expr]]:
    """The arguments of a call, each with its position or keyword."""
    found: list[tuple[str, ast.expr]] = []
    for position, value in enumerate(node.args):
        if isinstance(value, ast.Starred):
            break
        found.append((str(position), value))
    return found + [(keyword.arg or "**", keyword.value) for keyword in node.keywords]


def _is_value(node: ast.expr) -> bool:
    """Whether an expression is ``x.numpy()``."""
    return (
        isinstance(node, ast.Call)
        and not node.args
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr == "numpy")
    )


def _kept(call: CallFact) -> str:
    """The name to which the value of a call is assigned."""
    statement = call.statement
    if not isinstance(statement, ast.Assign) or statement.value is not call.node or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    for argument, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        yield argument.arg, default
    for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if value is not None:
            yield argument.arg, value
