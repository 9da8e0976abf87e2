"""What the functions of a file write that outlives a call, and which tests may depend on it; by names alone.

Both are upper bounds: two things of one name are taken for one. They say what is worth a closer look.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TypeAlias

from .circles import circles
from .index import Block, CallFact, FileIndex, Scope, nodes_below
from .kinds import kinds_of_base
from .lazy import cached_property
from .paths import literal_string, path_of, split_head

MUTATORS = frozenset(
    {
        "append", "add", "update", "insert", "extend", "setdefault", "pop", "popitem", "popleft", "appendleft",
        "remove", "discard", "clear", "push", "__setitem__", "__setattr__", "__delitem__", "__delattr__",
    }
)  # fmt: skip
_BY_NAME = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
_CHANGING = MUTATORS | _BY_NAME
_OPEN = "?"
"""What a method of the same object writes that is not in the file."""
ANYTHING = "*"
"""Written by what goes round names. What has a computed name goes by the name of its owner."""
_NEW = frozenset({"deque", "defaultdict", "partial", "object", "deepcopy", "copy"})
_FOLLOWED = frozenset(
    {
        "property", "staticmethod", "classmethod", "setter", "cached_property", "function", "override",
        "abstractmethod", "no_automatic_dependency_tracking", "typechecked", "wraps",
    }
)  # fmt: skip
_VIEWS = frozenset({"__dict__"})
_Parts: TypeAlias = tuple[set[str], set[str]]


_LIBRARY = ("tensorflow.", "keras.", "tf_keras.", "numpy.", "builtins.", "abc.", "typing.", "functools.", "slim.")


class LastingWrites:
    """Answers for the functions of one file."""

    def __init__(self, index: FileIndex) -> None:
        self._index = index
        self._reached: dict[int, frozenset[str]] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._closed: dict[int, dict[str, list[ast.AST]]] = {}
        self._written: dict[int, frozenset[str]] = {}
        self._given: dict[int, dict[str, list[ast.expr]]] = {}
        self._plain: dict[int, bool] = {}
        self._free: dict[int, frozenset[str]] = {}
        self._lines: dict[int, tuple[Scope, ...]] = {}
        self._closed_classes: dict[int, bool] = {}
        self._owned: dict[int, tuple[set[str], set[str]]] = {}
        self._read_below: dict[str, frozenset[str]] = {}
        self._written_below: dict[str, frozenset[str]] = {}
        self._read: dict[tuple[int, int], frozenset[str]] = {}
        self._cells: dict[tuple[int, int], tuple[frozenset[str], bool]] = {}
        self._once: dict[frozenset[str], frozenset[str]] = {}
        """Equal sets, which are many, are kept once."""

    def written_by(self, function: Scope) -> frozenset[str]:
        """Names of what a function writes that outlives its call, itself or through functions of the file."""
        found = self._reached.get(function.id)
        if found is None:
            own, called = self._own(function)
            below = [self._closed_over(name, self._parts_written, self._written_below) for name in self._known(called)]
            found = self._reached[function.id] = _union(own, below)
        return found

    def _parts_written(self, name: str) -> _Parts:
        parts = [self._own(scope) for scope in self._functions[name]]
        return set().union(*(own for own, _ in parts)), self._known(set().union(*(called for _, called in parts)))

    def _known(self, names: Iterable[str]) -> set[str]:
        """Those of some names that functions of the file have."""
        return self._functions.keys() & names

    def cells(self, block: Block, function: Scope | None = None) -> tuple[frozenset[str], bool]:
        """The names of what decides about a block and a call of the function writes, and whether there may be more.

        What is kept in a parameter, and in what code gives that is not in the file, may be another object at the next
        call.

        Args:
            block: under a test, an exception or a pattern.
            function: by default the one that the block stands in.
        """
        function = block.scope.function() if function is None else function
        key = function.id, block.id
        found = self._cells.get(key)
        if found is None:
            written = self.written_by(function)
            names, may_be_more = self._tested(function, written, block) if written else (frozenset[str](), False)
            found = self._cells[key] = self._once.setdefault(names, names), may_be_more
        return found

    def _tested(self, function: Scope, written: frozenset[str], block: Block) -> tuple[frozenset[str], bool]:
        key = function.id, id(block.node)
        read = self._read.get(key)
        if read is None:  # both arms of a condition hang on one test
            read = self.read_by(function, read_by(block)) & written.union(function.parameters[:1])
            self._read[key] = read = self._once.setdefault(read, read)
        found = written & read
        if function.name == "__init__" and function.owner() is not None:
            # What it writes to `self` belongs to another object when it is called again.
            found = frozenset(name for name in found if name in self._index.module.binds)
        own = function.parameters[:1] if function.owner() is not None else []
        fresh = self._fresh(function)
        asked = (found - self._kept) | found.intersection(function.parameters) | (found & fresh)
        open_ = frozenset(name for name in asked.difference(own) if name in fresh or self._may_differ(function, name))
        known = (found - open_) | (written & {ANYTHING})
        may_be_more = bool(open_ - fresh) or (not known and self._is_of_base(function, read, written))
        if not read.isdisjoint(own) and self._is_handed_on(block):
            return (known | {_OPEN}, may_be_more) if known else (known, True)
        return known, may_be_more

    def _is_of_base(self, function: Scope, read: frozenset[str], written: frozenset[str]) -> bool:
        """Whether private state of a base from a library is written, on which what is read of it may depend."""
        cls = function.owner()
        if cls is None or read.isdisjoint(function.parameters[:1]) or not self.is_of_library(cls):
            return False
        return any(name.startswith("_") and name not in self._attributes for name in written)

    def _is_handed_on(self, block: Block) -> bool:
        """Whether a method that is not in the file is called for its effect, under the test of a block."""
        encloses = self._index.encloses
        return any(encloses(block, call) for call in self._open_calls.get(block.scope.function().id, ()))

    @cached_property
    def _open_calls(self) -> dict[int, list[Block]]:
        """Where functions call methods on their own object that are not in the file, and do nothing with the result."""
        found: dict[int, list[Block]] = {}
        for call in self._index.calls:
            if not isinstance(call.statement, ast.Expr) or call.statement.value is not call.node:
                continue
            if call.path is not None and self._is_open_call(function := call.scope.function(), call.path):
                found.setdefault(function.id, []).append(call.block)
        return found

    def _is_open_call(self, function: Scope, path: str) -> bool:
        head, rest = split_head(path)
        if rest.count(".") != 1 or not rest.startswith(".") or (method := rest[1:]) in self._functions:
            return False
        cls = self._index.class_of_self(function, head)
        return cls is not None and method not in cls.attributes and self._is_open(cls, method)

    def _may_differ(self, function: Scope, name: str) -> bool:
        """Whether a name of a function, which no attribute has, may stand for another object at each call."""
        if name in function.parameters:
            return not isinstance(default_of(function, name), ast.Dict | ast.List | ast.Set | ast.Call)
        return not self._index.lookup(function, name) and name in self._called

    @cached_property
    def _kept(self) -> frozenset[str]:
        """The names of attributes that the file writes, and of functions."""
        return self._attributes.union(self._functions)

    @cached_property
    def _called(self) -> frozenset[str]:
        """The last names of all that the file calls."""
        return frozenset((call.path or "").rpartition(".")[2] for call in self._index.calls)

    @staticmethod
    def _fresh(function: Scope) -> frozenset[str]:
        """The names of ``*args`` and ``**kwargs``, which are new at each call."""
        arguments = getattr(function.node, "args", None)
        if not isinstance(arguments, ast.arguments):
            return frozenset()
        return frozenset(rest.arg for rest in (arguments.vararg, arguments.kwarg) if rest is not None)

    @cached_property
    def _attributes(self) -> frozenset[str]:
        """The names of all attributes that the file writes."""
        targets = [fact.target for fact in (*self._index.assignments, *self._index.deletions)]
        found = {target.attr for target in targets if isinstance(target, ast.Attribute)}
        for call in self._index.calls:
            if (call.path or "").rpartition(".")[2] in _BY_NAME:
                found.update(filter(None, map(literal_string, call.node.args[:2])))
        return frozenset(found)

    def read_by(self, function: Scope, parts: Iterable[ast.AST]) -> frozenset[str]:
        """The names in some code, and in what its locals were given and its functions and properties read."""
        found: set[str] = set()
        waiting = [name for part in parts for name in self._in(part)]
        locals_ = self._locals(function)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                for part in locals_.get(name, ()):
                    waiting += self._in(part)
                if name in self._functions:
                    found |= self._read_by_functions(name)
        return frozenset(found)

    def _read_by_functions(self, name: str) -> frozenset[str]:
        """What is read by the functions of a name, and by those that they name."""
        return self._closed_over(name, self._parts_read, self._read_below)

    def _parts_read(self, name: str) -> _Parts:
        read = set().union(*map(self._free_in, self._functions[name]))
        return read, self._known(read)

    @staticmethod
    def _closed_over(name: str, parts: Callable[[str], _Parts], known: dict[str, frozenset[str]]) -> frozenset[str]:
        """What the functions of a name have, and those that they lead to; one set for all that lead to each other.

        Args:
            name: of functions of the file.
            parts: what the functions of a name have themselves, and the names that they lead to.
            known: what was found before, to which is added.
        """
        if name not in known:
            found: dict[str, _Parts] = {}

            def next_(one: str) -> set[str]:
                found[one] = parts(one)
                return found[one][1]

            for circle in circles(name, next_, known):
                own = set().union(*(found[one][0] for one in circle))
                below = {other for one in circle for other in found[one][1]}.difference(circle)
                known |= dict.fromkeys(circle, _union(own, [known[other] for other in below]))
        return known[name]

    def _free_in(self, function: Scope) -> frozenset[str]:
        """The names in a function that do not stand for its own locals."""
        found = self._free.get(function.id)
        if found is None:
            own = {name for name in function.binds if name not in function.outer_names}
            found = self._free[function.id] = frozenset(_names(function.node, own))
        return found

    def written_in(self, function: Scope, statement: ast.AST) -> frozenset[str]:
        """Names of what a statement of a function writes: what outlives the call, and locals."""
        found = self._written.get(id(statement))
        if found is None:
            names: set[str] = set()
            for node in nodes_below(statement):
                if isinstance(node, ast.Name):
                    names.update(() if isinstance(node.ctx, ast.Load) else (node.id,))
                elif isinstance(node, ast.Attribute | ast.Subscript):
                    names.update(() if isinstance(node.ctx, ast.Load) else self._targets(function, node))
                    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                        for scope in self._functions.get(node.attr, ()):
                            names |= self.written_by(scope)
                elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                    names.update(self._touched_by(function, node.value))
                elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    inner = self._index.scope_of(node)
                    names |= {node.name} if inner is None else {node.name, *self.written_by(inner)}
                elif isinstance(node, ast.Call) and (path := path_of(node.func)) is not None:
                    names.update(self._changed_by(function, node, path))
                    for scope in self._functions.get(path.rpartition(".")[2], ()):
                        names |= self.written_by(scope)
            found = self._written[id(statement)] = frozenset(names)
        return found

    def is_plain(self, scope: Scope) -> bool:
        """Whether calling a function runs its body as it is written."""
        known = self._plain.get(scope.id)
        if known is None:
            known = self._plain[scope.id] = (
                scope.is_function
                and all(_last(decorator) in _FOLLOWED for decorator in scope.decorators)
                and not any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes_below(scope.node))
            )
        return known

    def _in(self, node: ast.AST) -> frozenset[str]:
        found = self._names.get(id(node))
        if found is None:
            found = self._names[id(node)] = frozenset(_names(node))
        return found

    def _locals(self, function: Scope) -> dict[str, list[ast.AST]]:
        """What the locals of a function are given, and what decides whether they are."""
        found = self._closed.get(function.id)
        if found is None:
            found = self._closed[function.id] = {}
            for fact in self._index.assignments_in(function):
                if isinstance(fact.target, ast.Name):
                    parts = found.setdefault(fact.target.id, [])
                    value = fact.value if fact.value is not None else fact.source
                    if value is None and isinstance(fact.node, ast.Assign | ast.AnnAssign):
                        value = fact.node.value
                    parts += [value] if value is not None else []
                    for level in fact.block.chain():
                        parts += read_by(level)
        return found

    @staticmethod
    def _is_local(function: Scope, name: str) -> bool:
        """Whether a name is bound by the function itself, to what its own code gives it."""
        binds = function.binds.get(name)
        if binds is None or name in function.outer_names:
            return False
        return not any(bind.kind in ("parameter", "annotation") for bind in binds) and name not in function.parameters

    def _values(self, function: Scope) -> dict[str, list[ast.expr]]:
        """What each local of a function was given."""
        found = self._given.get(function.id)
        if found is None:
            found = self._given[function.id] = {}
            for fact in self._index.assignments_in(function):
                value = fact.value if fact.value is not None else fact.source
                if isinstance(fact.target, ast.Name) and value is not None:
                    found.setdefault(fact.target.id, []).append(value)
        return found

    @cached_property
    def _functions(self) -> dict[str, list[Scope]]:
        found: dict[str, list[Scope]] = {}
        for scope in self._index.scopes:
            if scope.kind == "function":
                found.setdefault(scope.name, []).append(scope)
        for fact in self._index.assignments:
            if isinstance(fact.value, ast.Lambda) and isinstance(fact.target, ast.Name | ast.Attribute):
                name = fact.target.id if isinstance(fact.target, ast.Name) else fact.target.attr
                found.setdefault(name, []).append(self._index.lambda_scope(fact.value))
        return found

    @cached_property
    def _facts(self) -> dict[int, tuple[list[CallFact], list[ast.expr], list[str]]]:
        """By function: what it calls, what it deletes, and the properties that it may read."""
        found: dict[int, tuple[list[CallFact], list[ast.expr], list[str]]] = defaultdict(lambda: ([], [], []))
        for call in self._index.calls:
            if call.path is not None:
                found[call.scope.function().id][0].append(call)
        for deletion in self._index.deletions:
            found[deletion.scope.function().id][1].append(deletion.target)
        properties = {scope.name for scope in self._index.scopes if scope.kind == "function" and scope.decorators}
        for fact in self._index.references if properties else ():
            name = fact.path.rpartition(".")[2]
            if name in properties:
                found[fact.scope.function().id][2].append(name)
        return found

    @cached_property
    def fillers(self) -> frozenset[str]:
        """The names of functions that change the contents of what they are given."""
        return frozenset({"next"}).union(
            function.name
            for function in self._index.scopes
            if function.kind == "function" and function.owner() is None
            for fact in self._index.assignments_in(function)
            if isinstance(fact.target, ast.Subscript)
            and isinstance(fact.target.value, ast.Name)
            and fact.target.value.id in function.parameters
        )

    def _own(self, function: Scope) -> tuple[set[str], set[str]]:
        """What a function writes itself, and the last names of what it calls or reads as a property."""
        found = self._owned.get(function.id)
        if found is None:
            calls, deleted, properties = self._facts[function.id]
            written: set[str] = set()
            called = set(properties)
            for target in (*(fact.target for fact in self._index.assignments_in(function)), *deleted):
                written.update(self._targets(function, target))
                if isinstance(target, ast.Attribute) and target.attr in self._functions:
                    called.add(target.attr)  # a property may set another attribute
            own = f"{function.parameters[0]}." if function.parameters else "?"
            for call in calls:
                path = call.path or ""
                name = path.rpartition(".")[2]
                called.add(name)
                if name in _CHANGING or name in self.fillers or (path.startswith(own) and name not in self._functions):
                    written.update(self._changed_by(function, call.node, path))
                if isinstance(call.statement, ast.Expr) and call.statement.value is call.node:
                    written.update(self._touched_by(function, call.node))
                    if path.startswith("super()") and self._is_open_base(function.owner(), name):
                        written.add(ANYTHING)
            found = self._owned[function.id] = written, called
        return found

    def _is_open_base(self, cls: Scope | None, name: str) -> bool:
        """Whether nobody knows what a base outside of the file does in a method."""
        return cls is not None and len(self.line(cls)) == 1 and not self.is_public_method(cls, name)

    def _targets(self, function: Scope, target: ast.expr) -> Iterator[str]:
        if isinstance(target, ast.Name):
            if target.id in function.outer_names:
                yield target.id
        elif isinstance(target, ast.Attribute):
            yield target.attr
        elif isinstance(target, ast.Subscript):
            yield from self._owner(function, target.value)

    def _owner(self, function: Scope, node: ast.expr) -> Iterator[str]:
        """The names of what is changed in place, which locals may stand for."""
        seen: set[str] = set()
        waiting = [node]
        while waiting:
            node = waiting.pop()
            while isinstance(node, ast.Subscript | ast.Starred) or self._gives_what_lasts(node):
                node = node.func if isinstance(node, ast.Call) else node.value  # type: ignore[attr-defined]
            if isinstance(node, ast.Attribute):
                # `self.d.get(k)` is of `self.d`, as `self.d` may be of `self`
                inner = isinstance(node.value, ast.Attribute | ast.Subscript) or node.attr in _VIEWS
                waiting += [node.value] if inner else []
                if node.attr not in _VIEWS:
                    yield node.attr
            elif isinstance(node, ast.Name):
                if not self._is_local(function, node.id):
                    yield node.id
                elif node.id not in seen:
                    seen.add(node.id)
                    waiting += self._values(function).get(node.id, ())
            elif isinstance(node, ast.Call) and path_of(node.func) == "vars" and node.args:
                waiting.append(node.args[0])
            elif isinstance(node, ast.Call) and path_of(node.func) == "globals":
                yield ANYTHING
            elif isinstance(node, ast.IfExp):
                waiting += [node.body, node.orelse]
            elif isinstance(node, ast.BoolOp):
                waiting += node.values

    @staticmethod
    def _gives_what_lasts(node: ast.expr) -> bool:
        """Whether a call may give what is kept somewhere: a builtin, or what has a constructor's name, does not."""
        if not isinstance(node, ast.Call) or (path := path_of(node.func)) is None:
            return isinstance(node, ast.Call)
        name = path.rpartition(".")[2]
        return not (name[:1].isupper() or name in _NEW or (path == name and hasattr(builtins, name)))

    def _changed_by(self, function: Scope, node: ast.Call, path: str) -> Iterator[str]:
        method = path.rpartition(".")[2]
        head = split_head(path)[0]
        if method in _BY_NAME and node.args:
            name = next(filter(None, map(literal_string, node.args[:2])), None)
            if name is not None:
                yield name
            else:
                yield from function.parameters[:1] if head == "super" else ()
                for base in (node.args[0], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])):
                    yield from self._owner(function, base)
        elif method in MUTATORS and isinstance(node.func, ast.Attribute):
            yield from self._owner(function, node.func.value)
        if method in self.fillers:
            for argument in node.args:
                yield from self._owner(function, argument)
        if self._is_open_call(function, path):
            yield _OPEN

    def _touched_by(self, function: Scope, node: ast.Call) -> Iterator[str]:
        """The names of an object that a method without arguments is called on for its effect."""
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Attribute) and not node.args:
            yield from self._owner(function, node.func.value)

    def _is_open(self, cls: Scope, method: str) -> bool:
        """Whether a method that is not in the file may be the program's own."""
        return method.startswith("_") or not self.is_of_library(cls)

    def line(self, cls: Scope) -> tuple[Scope, ...]:
        """A class and its bases in the file."""
        found = self._lines.get(cls.id)
        if found is None:
            seen, waiting = {}, [cls]
            while waiting:
                current = waiting.pop(0)
                if current.id not in seen and isinstance(current.node, ast.ClassDef):
                    seen[current.id] = current
                    texts = self._bases(current)
                    waiting += [self._index.scopes[int(text[1:])] for text in texts if text[1:].isdigit()]
            found = self._lines[cls.id] = tuple(seen.values())
        return found

    def _bases(self, cls: Scope) -> list[str]:
        """What the bases of a class are, as far as the file tells; empty texts for what it does not."""
        bases = cls.node.bases if isinstance(cls.node, ast.ClassDef) else ()
        paths = [path_of(base) or "" for base in bases]
        return [text for path in paths for text in self._index.resolve(cls.parent or cls, path) or ("",)]

    def is_of_library(self, cls: Scope) -> bool:
        """Whether public methods that a class and its bases have not in the file are those of TensorFlow or Keras."""
        found = self._closed_classes.get(cls.id)
        if found is None:
            texts = [text for scope in self.line(cls) for text in self._bases(scope)]
            ours = [text for text in texts if not text.startswith("@")]
            found = self._closed_classes[cls.id] = all(map(is_library, ours)) and any(map(kinds_of_base, ours))
        return found

    def is_public_method(self, cls: Scope, name: str) -> bool:
        """Whether a method that a class has not itself is a public one of TensorFlow or Keras: it ends no guard."""
        return (not name.startswith("_") or name == "__init__") and self.is_of_library(cls)

    def is_of_keras(self, cls: Scope) -> bool:
        """Whether a class, or one of its bases in the file, is derived from a layer or model."""
        return any("layer" in kinds_of_base(text) for scope in self.line(cls) for text in self._bases(scope))


def read_by(block: Block) -> list[ast.AST]:
    """The code that decides whether a block runs."""
    node = block.node
    if block.kind in ("if", "else"):
        return [node]
    if block.kind == "except":
        return [] if block.handled is None else list(block.handled.body)
    if isinstance(node, ast.match_case):
        subject = [block.statement.subject] if isinstance(block.statement, ast.Match) else []
        return [*subject, node.pattern, *([node.guard] if node.guard is not None else [])]
    if block.kind == "after" and isinstance(node, ast.With):
        return list(node.body)
    return list(_searched(node)) if block.kind == "after" else []


def _searched(node: ast.AST) -> Iterator[ast.AST]:
    """What decides whether a loop comes to its end."""
    yield from (node.iter,) if isinstance(node, ast.For | ast.AsyncFor) else ()
    yield from (part.test for part in nodes_below(node) if isinstance(part, ast.If | ast.While))


def _union(own: set[str], parts: Sequence[frozenset[str]]) -> frozenset[str]:
    """All of some sets; the greatest of them itself where it holds the others."""
    greatest = max(parts, key=len, default=frozenset[str]())
    more = own.union(*parts) - greatest
    return greatest | more if more else greatest


def _last(node: ast.expr) -> str:
    return (path_of(node.func if isinstance(node, ast.Call) else node) or "").rpartition(".")[2]


def is_library(text: str) -> bool:
    """Whether a name is one of a public library, whose functions leave the program's state alone."""
    return text.startswith(_LIBRARY) or bool(kinds_of_base(text))


def _names(node: ast.AST, own: Container[str] = ()) -> Iterator[str]:
    """Names, attributes and texts that may be names, but for the names of locals."""
    for part in nodes_below(node):
        if isinstance(part, ast.Name):
            if part.id not in own:
                yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
            yield part.value


def default_of(function: Scope, name: str) -> ast.expr | None:
    """The default of a parameter."""
    syntax = getattr(function.node, "args", None)
    if not isinstance(syntax, ast.arguments):
        return None
    parameters = [each.arg for each in (*syntax.posonlyargs, *syntax.args)]
    defaults = dict(zip(reversed(parameters), reversed(syntax.defaults), strict=False))
    keywords = zip(syntax.kwonlyargs, syntax.kw_defaults, strict=True)
    return (defaults | {each.arg: default for each, default in keywords if default is not None}).get(name)
