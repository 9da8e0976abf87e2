"""The facts of one file, from one read-only walk over its `ast`.

The walk collects scopes with their bindings, and sites (calls, references, assignments, imports), each with its scope
and its block.
A `Block` is a piece of code that runs under a condition, inside a ``with`` or in a loop; blocks form a tree, so that
"what must hold for this line to run" is a walk to the root.
Nothing here knows TensorFlow, other files or rules.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from sys import intern
from typing import Any, TypeVar

from .lazy import cached_property
from .paths import MAX_PARTS, Literal, alternatives, joined, key_of, literal_of, path_of, split_head

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = frozenset({ast.Expr, ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom})
"""The most frequent statements without a suite."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMPARING = frozenset({ast.Compare, ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.Subscript})
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict, *_COMPREHENSIONS)
_HOLDERS = (ast.expr, ast.keyword, ast.comprehension)
"""What may stand in an expression and hold names; operators and contexts do not."""
_WITHOUT_PARTS = ("ctx", "op", "ops", "kind", "conversion", "id", "attr", "arg", "type_comment")
"""Fields that hold operators, contexts and texts."""
_HOLDING = ("loop", "with")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EXITS = frozenset({"sys.exit", "exit", "quit", "os._exit", "pytest.skip", "pytest.fail", "self.skipTest", "self.fail"})
_LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_WITH_ONE_PATH = frozenset({ast.Name, ast.Attribute, ast.Call})
"""The most frequent expressions: what they are is one value."""
_ELEMENTS_OF = frozenset({"enumerate", "zip", "reversed", "sorted", "list", "tuple", "set", "iter"})
"""Builtins that give the elements of what they are given."""
_ADDING = frozenset({"append", "add", "insert", "setdefault"})
_MAX_ITEMS = 32
"""Elements of a list or dict that are looked into, and callables that a container is known to hold."""
_MAX_ALTERNATIVES = 6
_DEEP = 50
"""Names that stand for each other, resolved by recursion."""
_MAX_NAME = 2_000
"""Characters; a longer one is no name of anything, but of a chain of names that stand for attributes of the next."""
_MAX_STARS = 32
"""Star imports that a name is spelled out for; where there are more, ``*.name`` stands for what they all give."""
_Answer = TypeVar("_Answer")
_Resolution = Generator[tuple["Scope", str], None, tuple[str, ...]]
_BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


@dataclass(slots=True, eq=False)
class Block:
    """Code that runs under one more condition than the code around it.

    ``kind`` is one of ``body`` (of a scope), ``if`` and ``else`` (``node`` is the tested expression), ``with``
    (``node`` is the context expression), ``loop`` (``node`` is the loop), ``try``, ``except`` (``node`` is the
    handler), ``case``, ``after`` (what follows a loop or a ``with suppress(...)`` that may return, or stands in the
    ``else`` of a loop; ``node`` is that statement), ``never`` (what follows a statement that leaves the suite;
    ``node`` is that statement), ``passed`` (what follows a ``try`` that only looks for names, and leaves the suite if
    there are none; ``node`` is that statement).
    """

    id: int
    parent: Block | None
    kind: str
    node: ast.AST
    scope: Scope
    handled: ast.Try | None = None
    statement: ast.stmt | None = None
    """The statement, for an arm of an expression in it."""
    holder: Block | None = None
    """The nearest loop or ``with`` around it: a thousand ``elif`` between them are not walked through."""
    is_repeated: bool = False
    """Whether it is a loop of the scope's own body, or stands in one."""

    def holders(self) -> Iterator[Block]:
        """The loops and ``with`` of `chain`."""
        block = self if self.kind in _HOLDING else self.holder
        while block is not None:
            yield block
            block = block.holder

    def chain(self) -> Iterator[Block]:
        """This block and the ones around it, innermost first, within the scope's own body."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def inherited(
        self, known: dict[int, _Answer], outermost: _Answer, judge: Callable[[Block, _Answer], _Answer]
    ) -> _Answer:
        """What `judge` makes of this block and of its answer for the one around it; kept in `known`, by the block."""
        if self.id in known:
            return known[self.id]
        answer = outermost
        new: list[Block] = []
        for level in self.chain():
            if level.id in known:
                answer = known[level.id]
                break
            new.append(level)
        for level in reversed(new):
            answer = known[level.id] = judge(level, answer)
        return answer


@dataclass(slots=True, eq=False)
class Bind:
    """One way in which a name gets its value."""

    kind: str
    """``import``, ``value`` (a path read in ``scope``), ``scope`` (a def or class), ``parameter``, ``opaque``."""
    text: str = ""
    scope: Scope | None = None
    node: ast.AST | None = None
    block: Block | None = None
    """Where that is done, for a name that is assigned or imported."""
    arm: tuple[ast.expr, Scope, bool] | None = None
    """The test of a conditional expression, and whether it holds where this is the value."""


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function, lambda or comprehension."""

    id: int
    kind: str
    name: str
    parent: Scope | None
    node: ast.AST
    defined_in: Block | None
    binds: dict[str, list[Bind]] = field(default_factory=dict)
    constants: dict[str, list[Bind]] = field(default_factory=dict)
    """The literals and the parts of other values that names get, which name nothing."""
    outer_names: Set[str] = frozenset()
    """Names declared ``global`` or ``nonlocal``."""
    globals: Set[str] = frozenset()
    decorators: Sequence[ast.expr] = ()
    parameters: list[str] = field(default_factory=list)
    defaults: dict[str, Literal] = field(default_factory=dict)
    """Of parameters, where they are plain; see `literal_of`."""
    augmented: Set[str] = frozenset()
    """Names that ``+=`` and the like write."""
    attributes: dict[str, list[tuple[str | None, Scope]]] = field(default_factory=dict)
    """Of a class: what is assigned to ``self.<name>`` in its methods, as paths in the method's scope."""
    items: dict[str, list[Bind]] = field(default_factory=dict)
    """What the containers hold that names are bound to."""
    stars: list[str] = field(default_factory=list)
    """Modules whose public names are imported with ``*``."""

    def defaults_to_none(self, parameter: str) -> bool:
        """Whether a parameter has the default None."""
        return self.defaults.get(parameter, ...) is None

    def keeps(self, parameter: str) -> bool:
        """Whether a parameter is what a call gives for as long as the function runs."""
        return len(self.binds.get(parameter, ())) == 1 and parameter not in self.augmented

    @property
    def is_function(self) -> bool:
        """Whether its body runs when it is called."""
        return self.kind in ("function", "lambda")

    def chain(self) -> Iterator[Scope]:
        """This scope and the ones around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def function(self) -> Scope:
        """The function, lambda, class or module whose body this scope's code belongs to."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope

    def owner(self) -> Scope | None:
        """The class of which this function is a method, if it is one."""
        return self.parent if self.kind == "function" and self.parent and self.parent.kind == "class" else None

    def bind(self, name: str, bind: Bind) -> None:
        """Record one more value of `name`."""
        self.binds.setdefault(name, []).append(bind)


@dataclass(slots=True, eq=False)
class CallFact:
    """A call, where it stands, and under what."""

    node: ast.Call
    scope: Scope
    block: Block
    path: str | None
    statement: ast.stmt

    @property
    def callee(self) -> str | None:
        """The path with the keys of items."""
        return path_of(self.node.func, keyed=True) if self.path is not None and "[" in self.path else self.path


@dataclass(slots=True, eq=False)
class ReferenceFact:
    """A name, or a name with attributes, that is read."""

    node: ast.expr
    scope: Scope
    block: Block
    path: str
    called: bool


@dataclass(slots=True, eq=False)
class AssignmentFact:
    """One target of an assignment; ``value`` is None where it has no single expression (a loop, an unpacking)."""

    node: ast.stmt | ast.expr
    target: ast.expr
    value: ast.expr | None
    scope: Scope
    block: Block
    augmented: bool = False
    source: ast.expr | None = None
    """What is unpacked or iterated, where ``value`` is None."""


@dataclass(slots=True, eq=False)
class ReturnFact:
    """A ``return`` with a value."""

    value: ast.expr
    scope: Scope
    block: Block


@dataclass(slots=True, eq=False)
class ImportFact:
    """One imported name; ``module`` keeps the leading dots of a relative import."""

    node: ast.Import | ast.ImportFrom
    alias: ast.alias
    absolute: str
    scope: Scope
    block: Block


_Fact = TypeVar("_Fact", CallFact, ReferenceFact, AssignmentFact, ReturnFact)


class FileIndex:
    """All facts of one file."""

    def __init__(self, tree: ast.Module) -> None:
        self.scopes: list[Scope] = []
        """The module, then all classes, functions and lambdas; a scope's id is its place in here."""
        self.comprehensions: list[Scope] = []
        """Numbered apart, from -1 downward: other files know functions by their id, and nothing of comprehensions."""
        self.calls: list[CallFact] = []
        self.references: list[ReferenceFact] = []
        self.assignments: list[AssignmentFact] = []
        self.imports: list[ImportFact] = []
        self.returns: list[ReturnFact] = []
        self.comparing: list[ast.expr] = []
        """Comparisons, and what hashes: displays of dicts and sets, their comprehensions, and subscripts."""
        self.deletions: list[AssignmentFact] = []
        """What ``del`` takes away."""
        self.blocks: list[Block] = []
        """All blocks, by their id: one comes after the block that it stands in."""
        self._statement: ast.stmt = ast.Pass()
        self._lambdas: dict[int, Scope] = {}
        self._comprehension_scopes: dict[int, Scope] = {}
        self._added: list[tuple[ast.Call, Scope]] = []
        self._dicts: dict[tuple[int, str], tuple[int, bool]] = {}
        """Of names, how many of their values were looked at, and whether one is a dict."""
        self._open = 0
        self._circular = False
        self.is_dead: Callable[[Bind], bool] | None = None
        """Whether a name never gets a value, where something knows; see `versions.Versions`."""
        self.has_unreachable = False
        """Whether it has a block of the kinds ``never`` and ``passed``."""
        self._postponed = any(_postpones_annotations(statement) for statement in tree.body)
        self._paths: defaultdict[int, dict[str, tuple[str, ...]]] = defaultdict(dict)
        """What is known of paths, and of names below, by the scope; pairs as keys would take a tenth of all memory."""
        self._heads: defaultdict[int, dict[str, tuple[str, ...] | None]] = defaultdict(dict)
        self.module = self._scope("module", "", None, tree, None)
        self._suite(tree.body, self.module, self._block(None, "body", tree, self.module))
        for call, scope in self._added:
            assert isinstance(call.func, ast.Attribute)
            self._bind_item(call.func.value, call.args[-1], scope)

    # -- the walk ----------------------------------------------------------------------------------------------------

    def _scope(self, kind: str, name: str, parent: Scope | None, node: ast.AST, block: Block | None) -> Scope:
        among = self.comprehensions if kind == "comprehension" else self.scopes
        number = len(among)
        scope = Scope(-1 - number if among is self.comprehensions else number, kind, name, parent, node, block)
        among.append(scope)
        return scope

    def _block(
        self, parent: Block | None, kind: str, node: ast.AST, scope: Scope, handled: ast.Try | None = None
    ) -> Block:
        block = Block(len(self.blocks), parent, kind, node, scope, handled)
        if parent is not None:
            block.holder = parent if parent.kind in _HOLDING else parent.holder
            block.is_repeated = kind == "loop" or parent.is_repeated
        self.blocks.append(block)
        return block

    def _arm(self, parent: Block, kind: str, test: ast.expr, scope: Scope) -> Block:
        block = self._block(parent, kind, test, scope)
        block.statement = self._statement
        return block

    def _suite(self, body: list[ast.stmt], scope: Scope, block: Block) -> None:
        """Walk statements; what follows ``if x: return`` runs only if not x.

        What follows a plain ``raise`` is never run, but at the top of a module: the next cell of a notebook is.
        """
        is_inner = block.parent is not None or scope is not self.module
        last: ast.stmt | None = None
        for statement in body:
            if is_inner and last is not None and _ends_its_suite(last):
                block = self._block(block, "never", last, scope)
                self.has_unreachable = True
            last = self._statement = statement
            self._walk_statement(statement, scope, block)
            if statement.__class__ in _SIMPLE:
                continue
            if isinstance(statement, ast.If):
                if not statement.orelse and _leaves(statement.body):
                    block = self._block(block, "else", statement.test, scope)
                elif statement.orelse and _leaves(statement.orelse) and not _leaves(statement.body):
                    block = self._block(block, "if", statement.test, scope)
            elif isinstance(statement, ast.Try) and _leaves(statement.body) and not statement.finalbody:
                # `try: return self.v` followed by code: that code runs only after a handled exception
                if len(statement.handlers) == 1 and not _leaves(statement.handlers[0].body):
                    block = self._block(block, "except", statement.handlers[0], scope, statement)
            elif isinstance(statement, ast.Try) and _only_looks(statement):
                block = self._block(block, "passed", statement, scope)
                self.has_unreachable = True
            elif _may_end_here(statement):
                block = self._block(block, "after", statement, scope)

    def _walk_statement(self, node: ast.stmt, scope: Scope, block: Block) -> None:
        if node.__class__ in _SIMPLE:
            self._simple_statement(node, scope, block)
        elif isinstance(node, FUNCTIONS):
            self._function(node, scope, block)
        elif isinstance(node, ast.ClassDef):
            self._class(node, scope, block)
        elif isinstance(node, ast.If):
            self._if(node, scope, block)
        elif isinstance(node, ast.While):
            self._expression(node.test, scope, block)
            loop = self._block(block, "loop", node, scope)
            self._suite(node.body, scope, self._block(loop, "if", node.test, scope))
            self._suite(node.orelse, scope, self._block(block, "after", node, scope) if node.orelse else block)
        elif isinstance(node, ast.For | ast.AsyncFor):
            self._expression(node.iter, scope, block)
            self._bind_target(node.target, None, scope, block, node, element_of=node.iter)
            self._suite(node.body, scope, self._block(block, "loop", node, scope))
            self._suite(node.orelse, scope, self._block(block, "after", node, scope) if node.orelse else block)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                self._expression(item.context_expr, scope, block)
                if item.optional_vars is not None:
                    self._bind_target(item.optional_vars, item.context_expr, scope, block, node)
                block = self._block(block, "with", item.context_expr, scope)
            self._suite(node.body, scope, block)
        elif isinstance(node, ast.Try | ast.TryStar):
            plain = node if isinstance(node, ast.Try) else None
            self._suite(node.body, scope, self._block(block, "try", node, scope, plain))
            for handler in node.handlers:
                if handler.type is not None:
                    self._expression(handler.type, scope, block)
                if handler.name:
                    scope.bind(handler.name, Bind("opaque"))
                self._suite(handler.body, scope, self._block(block, "except", handler, scope, plain))
            self._suite(node.orelse, scope, block)
            self._suite(node.finalbody, scope, block)
        elif isinstance(node, ast.Match):
            self._expression(node.subject, scope, block)
            for case in node.cases:
                for name in _pattern_names(case.pattern):
                    scope.bind(name, Bind("opaque"))
                arm = self._block(block, "case", case, scope)
                arm.statement = node
                if case.guard is not None:
                    self._expression(case.guard, scope, arm)
                self._suite(case.body, scope, arm)
        else:
            self._simple_statement(node, scope, block)

    def _if(self, node: ast.If, scope: Scope, block: Block) -> None:
        """Walk an ``if`` with all its ``elif``, which `ast` nests: a chain of a thousand is no deep recursion."""
        while True:
            self._expression(node.test, scope, block)
            self._suite(node.body, scope, self._block(block, "if", node.test, scope))
            block = self._block(block, "else", node.test, scope)
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                break
            node = node.orelse[0]
            self._statement = node
        self._suite(node.orelse, scope, block)

    def _simple_statement(self, node: ast.stmt, scope: Scope, block: Block) -> None:
        if isinstance(node, ast.Expr | ast.Return):
            if node.value is not None:
                self._expression(node.value, scope, block)
                if node.__class__ is ast.Return:
                    self.returns.append(ReturnFact(node.value, scope, block))
        elif isinstance(node, ast.Assign):
            self._expression(node.value, scope, block)
            for target in node.targets:
                self._bind_target(target, node.value, scope, block, node)
        elif isinstance(node, ast.AnnAssign):
            if not scope.function().is_function:  # those of local variables are never evaluated
                self._annotation(node.annotation, scope, block)
            if node.value is not None:
                self._expression(node.value, scope, block)
                self._bind_target(node.target, node.value, scope, block, node)
            elif isinstance(node.target, ast.Name):
                annotation = path_of(node.annotation)
                scope.bind(node.target.id, Bind("value", f"{annotation}()", scope) if annotation else Bind("opaque"))
        elif isinstance(node, ast.AugAssign):
            self._expression(node.value, scope, block)
            self.assignments.append(AssignmentFact(node, node.target, node.value, scope, block, augmented=True))
            if isinstance(node.target, ast.Attribute | ast.Subscript):
                self._expression(node.target.value, scope, block)
                if isinstance(node.target, ast.Subscript):
                    self.comparing.append(node.target)
                    self._expression(node.target.slice, scope, block)
            elif isinstance(node.target, ast.Name) and node.target.id not in scope.outer_names:
                scope.binds.setdefault(node.target.id, [])
                if node.target.id in scope.parameters:
                    scope.augmented = _with(scope.augmented, [node.target.id])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node, scope, block)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            scope.outer_names = _with(scope.outer_names, node.names)
            if isinstance(node, ast.Global):
                scope.globals = _with(scope.globals, node.names)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self.deletions.append(AssignmentFact(node, target, None, scope, block))
                if not isinstance(target, ast.Name):
                    self._expression(target, scope, block)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child, scope, block)
                elif isinstance(child, ast.AST):
                    for name in _bound_by_type_parameter(child):
                        scope.bind(name, Bind("opaque"))

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope, block: Block) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                absolute = alias.name
                name = alias.asname or alias.name.partition(".")[0]
                bound = absolute if alias.asname else name
            else:
                module = "." * node.level + (node.module or "")
                if alias.name == "*":
                    scope.stars.append(module)
                    self.imports.append(ImportFact(node, alias, f"{module}.*", scope, block))
                    continue
                joiner = "" if module.endswith(".") else "."
                absolute = bound = f"{module}{joiner}{alias.name}"
                name = alias.asname or alias.name
            home = self._outer(scope, name) if name in scope.outer_names else scope
            home.bind(name, Bind("import", bound, node=node, block=block))
            self.imports.append(ImportFact(node, alias, absolute, scope, block))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, block: Block) -> None:
        for decorator in node.decorator_list:
            self._expression(decorator, scope, block)
        inner = self._scope("function", node.name, scope, node, block)
        inner.decorators = node.decorator_list
        scope.bind(node.name, Bind("scope", scope=inner))
        self._parameters(node.args, inner, scope, block)
        if node.returns is not None:
            self._annotation(node.returns, scope, block)
        statement = self._statement
        self._suite(node.body, inner, self._block(None, "body", node, inner))
        self._statement = statement

    def _parameters(self, arguments: ast.arguments, inner: Scope, scope: Scope, block: Block) -> None:
        for default in (*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)):
            self._expression(default, scope, block)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        inner.parameters = [argument.arg for argument in every]
        if arguments.defaults or arguments.kw_defaults:
            inner.defaults = dict(_plain_defaults(arguments))
        for argument in every:
            annotation = None
            if argument.annotation is not None:
                self._annotation(argument.annotation, scope, block)
                annotation = path_of(argument.annotation)
            if annotation and "[" not in annotation:
                inner.bind(argument.arg, Bind("annotation", f"{annotation}()", scope))
            else:
                inner.bind(argument.arg, Bind("parameter"))
        if arguments.vararg is not None:
            inner.bind(arguments.vararg.arg, Bind("parameter"))
        if arguments.kwarg is not None:
            inner.bind(arguments.kwarg.arg, Bind("opaque"))

    def _annotation(self, node: ast.expr, scope: Scope, block: Block) -> None:
        """Walk an annotation, unless the file postpones them all: what it names is not read then."""
        if not self._postponed:
            self._expression(node, scope, block)

    def _class(self, node: ast.ClassDef, scope: Scope, block: Block) -> None:
        for decorator in node.decorator_list:
            self._expression(decorator, scope, block)
        for base in node.bases:
            self._expression(base, scope, block)
        for keyword in node.keywords:
            self._expression(keyword.value, scope, block)
        inner = self._scope("class", node.name, scope, node, block)
        inner.decorators = node.decorator_list
        scope.bind(node.name, Bind("scope", scope=inner))
        statement = self._statement
        self._suite(node.body, inner, self._block(None, "body", node, inner))
        self._statement = statement

    def _bind_target(
        self,
        target: ast.expr,
        value: ast.expr | None,
        scope: Scope,
        block: Block,
        statement: ast.stmt | ast.expr,
        element_of: ast.expr | None = None,
    ) -> None:
        """Record an assignment, target by target; tuples are matched with tuples."""
        if isinstance(target, ast.Name):
            self.assignments.append(AssignmentFact(statement, target, value, scope, block, source=element_of))
            self._bind_name(target.id, value, element_of, scope, block)
            return
        stack: list[tuple[ast.expr, ast.expr | None, ast.expr | None, ast.expr | None]]
        stack = [(target, value, element_of, element_of)]
        parts_of_call: dict[int, str] = {}
        while stack:
            target, value, element_of, iterated = stack.pop()
            if isinstance(target, ast.Tuple | ast.List):
                values: list[ast.expr | None] = [None] * len(target.elts)
                if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                    values = list(value.elts)
                inner = None if values[:1] != [None] else (value or element_of)
                if inner is not None and isinstance(statement, ast.Assign):
                    self._bind_parts(target, inner, scope, block)
                    if isinstance(inner, ast.Call):
                        parts_of_call |= _parts_of_call(target, inner)
                parts = _iterated_together(iterated, len(target.elts)) if inner is element_of else None
                each = parts or [inner] * len(target.elts)
                stack += [
                    (t, v, inner, part) for t, v, part in zip(target.elts[::-1], values[::-1], each[::-1], strict=True)
                ]
                continue
            if isinstance(target, ast.Starred):
                target, value = target.value, None
            self.assignments.append(AssignmentFact(statement, target, value, scope, block, source=element_of))
            if id(target) in parts_of_call and isinstance(target, ast.Name):
                home = self._outer(scope, target.id) if target.id in scope.outer_names else scope
                home.bind(target.id, Bind("value", parts_of_call[id(target)], scope, None, block))
            elif isinstance(target, ast.Name):
                self._bind_name(target.id, value, iterated, scope, block)
            elif isinstance(target, ast.Attribute):
                self._bind_attribute(target, value, scope)
                self._expression(target.value, scope, block)
            elif isinstance(target, ast.Subscript):
                self.comparing.append(target)
                self._bind_item(target.value, value, scope, target.slice)
                self._expression(target.value, scope, block)
                self._expression(target.slice, scope, block)

    @staticmethod
    def _bind_parts(target: ast.Tuple | ast.List, value: ast.expr, scope: Scope, block: Block) -> None:
        """Say which part of a value each name gets that it is unpacked to."""
        for position, item in enumerate(target.elts):
            if isinstance(item, ast.Starred):
                return
            if isinstance(item, ast.Name) and item.id not in scope.outer_names:
                part = ast.copy_location(ast.Subscript(value, ast.Constant(position), ast.Load()), value)
                scope.constants.setdefault(item.id, []).append(Bind("part", node=part, block=block))

    def _bind_name(
        self, name: str, value: ast.expr | None, element_of: ast.expr | None, scope: Scope, block: Block
    ) -> None:
        home = scope
        if name in scope.outer_names:
            home = self._outer(scope, name)
        if element_of is not None:
            keys = isinstance(element_of, ast.Name) and self._is_dict(element_of.id, scope)
            for path, where, _ in (not keys and self._elements(element_of, scope)) or [(None, scope, None)]:
                home.bind(name, Bind("value", path, where) if path else Bind("opaque"))
        elif isinstance(value, ast.Lambda):
            home.bind(name, Bind("lambda", node=value, block=block))
        elif value is None:
            home.bind(name, Bind("opaque", block=block))
        elif isinstance(value, _CONTAINERS):
            home.bind(name, Bind("opaque", node=value, block=block))
            items = [Bind("value", path, where, key) for path, where, key in self._elements(value, scope) if path]
            if items:
                home.items.setdefault(name, []).extend(items)
        else:
            home.binds.setdefault(name, [])
            arms = ((value.body, True), (value.orelse, False)) if isinstance(value, ast.IfExp) else ((value, None),)
            for given, holds in arms:
                arm = (value.test, scope, holds) if isinstance(value, ast.IfExp) and holds is not None else None
                if arm is None and isinstance(given, ast.Constant):
                    home.constants.setdefault(name, []).append(Bind("constant", node=given, block=block))
                for path in self._alternatives(given):
                    kind = "value" if path else "opaque"
                    home.bind(name, Bind(kind, path or "", scope if path else None, value, block, arm))

    def _is_dict(self, name: str, scope: Scope) -> bool:
        """Whether a name holds a dict by now, so that iterating gives its keys."""
        found = self.lookup(scope, name)
        if found is None:
            return False
        count, is_dict = self._dicts.get((found[0].id, name), (0, False))
        is_dict = is_dict or any(isinstance(bind.node, ast.Dict | ast.DictComp) for bind in found[1][count:])
        self._dicts[found[0].id, name] = len(found[1]), is_dict
        return is_dict

    def _alternatives(self, value: ast.expr | None) -> list[str | None]:
        """A path for each value that an expression can have; a lambda has one by its scope."""
        if value.__class__ in _WITH_ONE_PATH:
            return [path_of(value, keyed=True)]
        if isinstance(value, ast.Lambda):
            return [f"!@{self._lambdas[id(value)].id}"] if id(value) in self._lambdas else [None]
        if isinstance(value, ast.IfExp):
            return self._alternatives(value.body) + self._alternatives(value.orelse)
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
            return [path for part in value.values for path in self._alternatives(part)]
        if isinstance(value, ast.Subscript) and isinstance(value.value, _LITERALS):
            asked = key_of(value.slice)
            elements = self._elements(value.value, self.module)
            return [path for path, _, key in elements if path and (not asked or key_of(key) in ("", asked))]
        return alternatives(value)

    def _elements(self, node: ast.expr, scope: Scope) -> list[tuple[str | None, Scope, ast.expr | None]]:
        """Paths, each with its scope and its key in a dict, for what a container holds or an iteration gives.

        A path is None for what has none.
        """
        found: list[tuple[str | None, Scope, ast.expr | None]] = []
        stack: list[tuple[ast.expr | None, bool, ast.expr | None]] = [(node, True, None)]
        while stack and len(found) < _MAX_ITEMS:
            part, is_container, key = stack.pop()
            if part is None or isinstance(part, ast.Constant):
                continue
            if isinstance(part, ast.Dict):
                pairs = list(zip(part.values[:_MAX_ITEMS], part.keys, strict=False))
                stack += [(value, False, key) for value, key in reversed(pairs)]
            elif isinstance(part, ast.List | ast.Tuple | ast.Set):
                stack += [(value, False, key) for value in reversed(part.elts[:_MAX_ITEMS])]
            elif is_container and isinstance(part, _COMPREHENSIONS):
                inner = self._comprehension_scopes.get(id(part))
                if inner is not None:
                    element = part.value if isinstance(part, ast.DictComp) else part.elt
                    found += [(path, inner, None) for path in self._alternatives(element)]
            elif (
                is_container
                and isinstance(part, ast.Call)
                and isinstance(part.func, ast.Name)
                and part.func.id in _ELEMENTS_OF
            ):
                stack += [(value, True, None) for value in reversed(part.args)]
            elif is_container:
                found += [(path and f"{path}[]", scope, None) for path in self._alternatives(part)]
            else:
                found += [(path, scope, key) for path in self._alternatives(part)]
        return found

    def _bind_item(self, target: ast.expr, value: ast.expr | None, scope: Scope, key: ast.expr | None = None) -> None:
        """What is put into a container becomes one of its items."""
        if value is None or isinstance(value, ast.Constant):
            return
        spelled = path_of(target) or "?"
        paths = [path for path in self._alternatives(value) if path and spelled not in path and "[" not in path]
        if isinstance(target, ast.Name) and paths:
            home = next((around for around in scope.chain() if target.id in around.binds), None)
            if home is not None and any(isinstance(bind.node, _CONTAINERS) for bind in home.binds[target.id]):
                items = home.items.setdefault(target.id, [])
                items += [Bind("value", path, scope, key) for path in paths if len(items) < _MAX_ITEMS]
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and paths:
            cls = self.class_of_self(scope, target.value.id)
            values = cls.attributes.get(target.attr) if cls is not None else None
            if values is not None and len(values) < _MAX_ITEMS:
                values.extend((f"[{key_of(key)}]{path}", scope) for path in paths)

    def _outer(self, scope: Scope, name: str) -> Scope:
        if name in scope.globals:
            return self.module
        around = scope.parent.chain() if scope.parent is not None else ()
        return next((outer for outer in around if outer.is_function and name in outer.binds), self.module)

    def _bind_attribute(self, target: ast.Attribute, value: ast.expr | None, scope: Scope) -> None:
        if isinstance(target.value, ast.Name):
            cls = self.class_of_self(scope, target.value.id)
            if cls is not None:
                values = cls.attributes.setdefault(target.attr, [])
                if isinstance(value, _CONTAINERS):
                    found = self._elements(value, scope)
                    values.extend((f"[{key_of(key)}]{path}" if path else None, where) for path, where, key in found)
                    if not found:
                        values.append((None, scope))
                elif value is not None:
                    values.extend((path, scope) for path in self._alternatives(value))
                else:
                    values.append((None, scope))

    def _expression(self, node: ast.expr, scope: Scope, block: Block) -> None:
        """Walk an expression in source order; a pair on the stack says where the nodes below it stand."""
        references = self.references
        stack: list[Any] = [node]
        while stack:
            node_ = stack.pop()
            kind = node_.__class__
            if kind is ast.Constant:
                continue
            if kind is ast.Name:
                references.append(ReferenceFact(node_, scope, block, node_.id, False))
            elif kind is ast.Attribute:
                path, base = _dotted(node_)
                if path is None:
                    stack.append(base)
                elif path and node_.ctx.__class__ is ast.Load:
                    references.append(ReferenceFact(node_, scope, block, path, False))
            elif kind is ast.Call:
                func = node_.func
                path, base = _dotted(func)
                self.calls.append(CallFact(node_, scope, block, path or path_of(func), self._statement))
                if path:
                    references.append(ReferenceFact(func, scope, block, path, True))
                if node_.keywords:
                    stack += [keyword.value for keyword in reversed(node_.keywords)]
                stack += reversed(node_.args)
                if path is None:
                    stack.append(base)
                if func.__class__ is ast.Attribute and func.attr in _ADDING and node_.args:
                    self._added.append((node_, scope))
            elif kind is tuple:
                scope, block = node_
            elif kind is ast.IfExp:
                stack += [(scope, block), node_.orelse, (scope, self._arm(block, "else", node_.test, scope))]
                stack += [node_.body, (scope, self._arm(block, "if", node_.test, scope)), node_.test]
            elif kind is ast.BoolOp:
                arm = "if" if isinstance(node_.op, ast.And) else "else"
                inner = block
                parts: list[Any] = []
                for value in node_.values:
                    parts += [(scope, inner), value]
                    inner = self._arm(inner, arm, value, scope)
                stack.append((scope, block))
                stack += reversed(parts)
            elif kind is ast.Lambda:
                lambda_scope = self._scope("lambda", "<lambda>", scope, node_, block)
                self._lambdas[id(node_)] = lambda_scope
                self._parameters(node_.args, lambda_scope, scope, block)
                stack += [(scope, block), node_.body]
                scope, block = lambda_scope, self._block(None, "body", node_, lambda_scope)
            elif kind in _COMPREHENSIONS:
                if kind in _COMPARING:
                    self.comparing.append(node_)
                stack.append((scope, block))
                stack += reversed(self._comprehension(node_, scope, block))
            elif kind is ast.NamedExpr:
                self._bind_target(node_.target, node_.value, scope.function(), block, node_)
                stack.append(node_.value)
            else:
                if kind in _COMPARING:
                    self.comparing.append(node_)
                for field_name in parts_of(kind):
                    part = getattr(node_, field_name, None)
                    if isinstance(part, list):
                        stack += [child for child in reversed(part) if isinstance(child, _HOLDERS)]
                    elif isinstance(part, _HOLDERS):
                        stack.append(part)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope, block: Block
    ) -> list[Any]:
        inner = self._scope("comprehension", "<comprehension>", scope, node, block)
        self._comprehension_scopes[id(node)] = inner
        found: list[Any] = []
        for position, generator in enumerate(node.generators):
            found += [(inner if position else scope, block), generator.iter]
            self._bind_target(generator.target, None, inner, block, node, element_of=generator.iter)
            block = self._block(block, "loop", generator, scope.function())
            for test in generator.ifs:
                found += [(inner, block), test]
                block = self._block(block, "if", test, scope.function())
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [*found, (inner, block), *elements]

    @cached_property
    def _assignments_by_function(self) -> dict[int, list[AssignmentFact]]:
        return _by_function(self.assignments)

    def assignments_in(self, function: Scope) -> list[AssignmentFact]:
        """The assignments in the own code of a function, class body or module."""
        return self._assignments_by_function.get(function.id, [])

    @cached_property
    def _calls_by_function(self) -> dict[int, list[CallFact]]:
        return _by_function(self.calls)

    def calls_in(self, function: Scope) -> list[CallFact]:
        """The calls, likewise."""
        return self._calls_by_function.get(function.id, [])

    @cached_property
    def _references_by_function(self) -> dict[int, list[ReferenceFact]]:
        return _by_function(self.references)

    def references_in(self, function: Scope) -> list[ReferenceFact]:
        """The names that are read, likewise."""
        return self._references_by_function.get(function.id, [])

    @cached_property
    def _returns_by_function(self) -> dict[int, list[ReturnFact]]:
        return _by_function(self.returns)

    def returns_in(self, function: Scope) -> list[ReturnFact]:
        """The returned values of a function."""
        return self._returns_by_function.get(function.id, [])

    @cached_property
    def _scopes_of_comprehensions(self) -> dict[int, Scope]:
        return {id(scope.node): scope for scope in self.comprehensions}

    def comprehension_scope(self, node: ast.expr) -> Scope:
        """The scope of a comprehension of this file."""
        return self._scopes_of_comprehensions[id(node)]

    def scope_of(self, node: ast.AST) -> Scope | None:
        """The scope that a def, class, lambda or comprehension of this file opens."""
        return self._scopes_by_node.get(id(node))

    @cached_property
    def _scopes_by_node(self) -> dict[int, Scope]:
        return {id(scope.node): scope for scope in (*self.scopes, *self.comprehensions)}

    def lambda_scope(self, node: ast.Lambda) -> Scope:
        """The scope of a lambda expression of this file."""
        return self._lambdas[id(node)]

    @cached_property
    def extents(self) -> tuple[list[int], list[int]]:
        """Of each block its place in the order of the tree, and how many blocks stand in it, itself among them."""
        sizes = [1] * len(self.blocks)
        for block in reversed(self.blocks):
            if block.parent is not None:
                sizes[block.parent.id] += sizes[block.id]
        starts: list[int] = []
        free = [0] * len(sizes)
        top = 0
        for block in self.blocks:
            start = top if block.parent is None else free[block.parent.id]
            if block.parent is None:
                top += sizes[block.id]
            else:
                free[block.parent.id] += sizes[block.id]
            free[block.id] = start + 1
            starts.append(start)
        return starts, sizes

    def encloses(self, outer: Block, inner: Block) -> bool:
        """Whether `inner` is `outer` or stands in it."""
        starts, sizes = self.extents
        return 0 <= starts[inner.id] - starts[outer.id] < sizes[outer.id]

    @cached_property
    def _arms(self) -> dict[int, list[Block]]:
        """The arms of each test, by its identity."""
        found: dict[int, list[Block]] = {}
        for block in self.blocks:
            if block.kind in ("if", "else"):
                found.setdefault(id(block.node), []).append(block)
        return found

    def other_arms(self, block: Block) -> list[Block]:
        """The arms of the same ``if`` that do not run where `block`, which is one of them, does."""
        arms = self._arms.get(id(block.node), ()) if block.kind in ("if", "else") else ()
        return [arm for arm in arms if arm.kind != block.kind]

    def release(self) -> None:
        """Let go of everything at once: scopes, blocks and sites refer to each other in circles."""
        for scope in (*self.scopes, *self.comprehensions):
            scope.binds.clear()
            scope.constants.clear()
            scope.attributes.clear()
            scope.items.clear()
            scope.parent = scope.defined_in = None
        self.__dict__.clear()

    # -- names -------------------------------------------------------------------------------------------------------

    def class_of_self(self, scope: Scope, name: str) -> Scope | None:
        """The class whose instance (or which itself, in a classmethod) `name` is, as a method's first parameter."""
        current: Scope | None = scope
        while current is not None:
            if name in current.binds:
                if current.kind == "function" and current.parameters[:1] == [name]:
                    owner = current.owner()
                    if owner is not None and not any(path_of(d) == "staticmethod" for d in current.decorators):
                        return owner
                if current.is_function:
                    return None
            current = current.parent
        return None

    def lookup(self, scope: Scope, name: str) -> tuple[Scope, list[Bind]] | None:
        """Find the scope that binds `name` as Python does, with all its bindings there."""
        current: Scope | None = scope
        while current is not None:
            if name in current.globals:
                current = self.module
            if name in current.binds and (current is scope or current.kind != "class"):
                return current, current.binds[name]
            current = current.parent
        return None

    def resolve(self, scope: Scope, path: str) -> tuple[str, ...]:
        """Say what `path` names in `scope`, as far as this file tells; nothing where it is not certain.

        An answer starts with ``@3`` (the def or class with that scope id), ``self@3`` (an instance of that class),
        ``{}`` or ``{key}`` before another (a container of it),
        ``super@3``, ``$3:x`` (parameter x of that function), ``.module.x`` (a relative import), ``*.x`` (what many star
        imports of this file may give) or an absolute name. A builtin is ``builtins.print``.
        """
        paths = self._paths[scope.id]
        known = paths.get(path)
        if known is None:
            known = self._resolve(scope, path)
            if not self._open:
                paths[path] = known
        return known

    def values(self, scope: Scope, node: ast.expr) -> tuple[str, ...]:
        """Say what an expression can be, each alternative as in `resolve`; those that are not known are left out."""
        if node.__class__ in _WITH_ONE_PATH:
            path = path_of(node, keyed=True)
            texts = self.resolve(scope, path) if path else ()
            return texts if len(texts) < 2 else tuple(dict.fromkeys(texts))
        if isinstance(node, _LITERALS):
            found = [
                f"{{{key_of(key)}}}{text}"
                for path, where, key in self._elements(node, scope)
                if path
                for text in self.resolve(where, path)
            ]
            return tuple(dict.fromkeys(found))
        paths = [path for path in self._alternatives(node) if path]
        return tuple(dict.fromkeys([text for path in paths for text in self.resolve(scope, path)]))

    def _resolve(self, scope: Scope, path: str) -> tuple[str, ...]:
        if path.startswith("!"):
            return (path[1:],)
        head, rest = split_head(path)
        if head == "super" and rest.startswith("()"):
            return next(((f"super@{cls.id}{rest[2:]}",) for cls in scope.chain() if cls.kind == "class"), ())
        answers = self._head(scope, head)
        if not rest or not answers:
            return answers
        found = [joined(answer, rest) for answer in answers if len(answer) < _MAX_NAME]
        return tuple([intern(text) for text in found if text])

    def is_too_long(self, scope: Scope, path: str) -> bool:
        """Whether `path` is not resolved because of what its first name stands for: more than is followed."""
        return any(len(answer) >= _MAX_NAME - len(path) for answer in self._head(scope, split_head(path)[0]))

    def _head(self, scope: Scope, name: str) -> tuple[str, ...]:
        heads = self._heads[scope.id]
        known = heads.get(name, ())
        if known is None:
            self._circular = True  # being resolved: `x = x.map(f)` says nothing more about x
            return ()
        if known or name in heads:
            return known
        begun = self._begin(scope, name)
        if isinstance(begun, tuple):
            heads[name] = begun
            return begun
        return self._work_out(heads, name, begun)

    def _work_out(self, heads: dict[str, tuple[str, ...] | None], name: str, begun: _Resolution) -> tuple[str, ...]:
        """Resolve a name after those that it stands for: a chain of a thousand aliases is no deep recursion."""
        stack = [(heads, name, begun)]
        heads[name] = None
        self._open += 1
        while True:
            try:
                scope, asked = next(stack[-1][2])
            except StopIteration as end:
                heads, name, _ = stack.pop()
                heads[name] = answer = end.value
                self._open -= 1
                if not stack:
                    return answer  # type: ignore[no-any-return]
                continue
            heads, inner = self._heads[scope.id], self._begin(scope, asked)
            if isinstance(inner, tuple):
                heads[asked] = inner
            else:
                heads[asked] = None
                self._open += 1
                stack.append((heads, asked, inner))

    def _unresolved(self, scope: Scope, path: str) -> str | None:
        """The name with which a path begins, where it is not resolved yet."""
        if path.startswith(("!", "super()")) or path in self._paths[scope.id]:
            return None
        head = split_head(path)[0]
        return None if head in self._heads[scope.id] else head

    def _begin(self, scope: Scope, name: str) -> tuple[str, ...] | _Resolution:
        """What a name is, or the way to it where it stands for other names."""
        cls = self.class_of_self(scope, name)
        if cls is not None:
            return (f"self@{cls.id}",) if not self._in_classmethod(scope, name) else (f"@{cls.id}",)
        found = self.lookup(scope, name)
        if found is None:
            return self._unbound(scope, name)
        home, binds = found
        if len(binds) == 1 and (known := self._plain(binds[0], home, name)) is not None:
            return known
        return self._resolve_binds(home, binds, name)

    def _plain(self, bind: Bind, home: Scope, name: str) -> tuple[str, ...] | None:
        """What a binding says that stands for no other name."""
        if bind.kind == "import":
            return (bind.text,)
        if bind.kind == "scope" and bind.scope is not None:
            return (f"@{bind.scope.id}",)
        if bind.kind == "lambda":
            return (f"@{self._lambdas[id(bind.node)].id}",)
        if bind.kind == "parameter":
            return (f"${home.id}:{name}",)
        return () if bind.kind == "opaque" and name not in home.items else None

    def _resolve_binds(self, home: Scope, binds: list[Bind], name: str) -> _Resolution:
        """Say what a name is; a name that has to be resolved before is handed out."""
        answers: list[str] = []
        if self.is_dead is not None and len(binds) > 1:
            binds = [bind for bind in binds if not self.is_dead(bind)] or binds
        items: dict[str, None] = {}
        kept = home.items.get(name, ())
        if len(kept) > _MAX_ITEMS:
            return ()
        for item in kept:
            assert item.scope is not None
            if self._open > _DEEP and (head := self._unresolved(item.scope, item.text)) is not None:
                yield item.scope, head
            key = key_of(item.node) if isinstance(item.node, ast.Constant) else ""
            items.update((f"{{{key}}}{text}", None) for text in self.resolve(item.scope, item.text))
        for bind in binds:
            if bind.kind == "opaque":
                if name in home.items and isinstance(bind.node, _CONTAINERS):
                    continue
                return ()
            plain = self._plain(bind, home, name)
            if plain is not None:
                values = plain
            elif bind.scope is home and bind.text.startswith(f"{name}.") and bind.text.replace(".", "").isidentifier():
                # `import tensorflow as tf; tf = tf.compat.v1`: what was bound before, one level down
                known = answers if len(answers) <= _MAX_ALTERNATIVES else ()
                values = tuple(answer + bind.text[len(name) :] for answer in known)
            elif bind.scope is not None:
                self._circular = False
                if self._open > _DEEP and (head := self._unresolved(bind.scope, bind.text)) is not None:
                    yield bind.scope, head
                values = self.resolve(bind.scope, bind.text)
                if not values and bind.kind == "annotation":
                    values = (f"${home.id}:{name}",)
                elif not values and not self._circular:
                    return ()  # it may be anything
            else:
                values = ()
            if len(answers) <= _MAX_ALTERNATIVES:
                answers.extend(value for value in values if value not in answers)
        if len(answers) > _MAX_ALTERNATIVES:
            return ()
        return (*answers, *items)

    @staticmethod
    def _in_classmethod(scope: Scope, name: str) -> bool:
        methods = (s for s in scope.chain() if s.kind == "function" and s.parameters[:1] == [name])
        method = next(methods, None)
        return method is not None and any(path_of(d) == "classmethod" for d in method.decorators)

    def _unbound(self, scope: Scope, name: str) -> tuple[str, ...]:
        if name in _BUILTINS:
            return (f"builtins.{name}",)
        stars: Sequence[str] = next((around.stars for around in scope.chain() if around.stars), ())
        first = tuple(f"{module}{'' if module.endswith('.') else '.'}{name}" for module in stars[:_MAX_STARS])
        return first if len(stars) <= _MAX_STARS else (*first, f"*.{name}")


def _by_function(facts: Sequence[_Fact]) -> dict[int, list[_Fact]]:
    found: dict[int, list[_Fact]] = {}
    for fact in facts:
        found.setdefault(fact.scope.function().id, []).append(fact)
    return found


def _dotted(node: ast.expr) -> tuple[str | None, ast.expr]:
    """The path of a name with attributes, empty where it is too long, and what it begins with; None for others."""
    if node.__class__ is ast.Name:
        return node.id, node
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None, node
    if len(parts) >= MAX_PARTS:
        return "", node
    parts.append(node.id)
    return intern(".".join(parts[::-1])), node


def _parts_of_call(target: ast.Tuple | ast.List, call: ast.Call) -> dict[int, str]:
    """The path of what each name gets, by its identity, where the result of a call is unpacked: ``f()[0]``."""
    path = path_of(call, keyed=True)
    if path is None or any(isinstance(item, ast.Starred) for item in target.elts):
        return {}
    return {id(item): f"{path}[{number}]" for number, item in enumerate(target.elts) if isinstance(item, ast.Name)}


@cache
def parts_of(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a node that may hold others, the last one first."""
    return tuple(name for name in reversed(kind._fields) if name not in _WITHOUT_PARTS)


def nodes_below(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it but operators and contexts, in no order; in half the time of `ast.walk`."""
    waiting: list[Any] = [node]
    while waiting:
        whole = waiting.pop()
        yield whole
        for name in parts_of(whole.__class__):
            part = getattr(whole, name, None)
            if part.__class__ is list:
                waiting += [one for one in part if isinstance(one, ast.AST)]
            elif isinstance(part, ast.AST):
                waiting.append(part)


def _postpones_annotations(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and any(alias.name == "annotations" for alias in statement.names)
    )


def _iterated_together(iterated: ast.expr | None, count: int) -> list[ast.expr | None] | None:
    """What each of several loop variables goes through, where the parts of an element are known apart."""
    if not isinstance(iterated, ast.Call) or any(isinstance(part, ast.Starred) for part in iterated.args):
        return None
    func = iterated.func
    if isinstance(func, ast.Attribute) and func.attr == "items" and not iterated.args and count == 2:
        return [None, iterated]
    if isinstance(func, ast.Name) and func.id == "zip" and len(iterated.args) == count:
        return list(iterated.args)
    if isinstance(func, ast.Name) and func.id == "enumerate" and iterated.args and count == 2:
        return [None, iterated.args[0]]
    return None


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and (isinstance(body[-1], _LEAVES) or exits(body[-1]))


def exits(statement: ast.stmt) -> bool:
    """Whether a statement ends the program, or the test."""
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(called, ast.Call) and path_of(called.func) in _EXITS


def _ends_its_suite(statement: ast.stmt) -> bool:
    """Whether nothing that follows a statement in its suite can run."""
    if isinstance(statement, ast.If):
        return all(arm and _ends_its_suite(arm[-1]) for arm in (statement.body, statement.orelse))
    return isinstance(statement, _LEAVES) or exits(statement)


def _only_looks(statement: ast.Try) -> bool:
    """Whether a ``try`` does no more than import or read names, and every handler leaves the suite without an error."""
    looks = (
        isinstance(part, ast.Import | ast.ImportFrom)
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Attribute))
        for part in statement.body
    )
    ends = (handler.body[-1] for handler in statement.handlers)
    return all(isinstance(end, _LEAVES) and end.__class__ is not ast.Raise for end in ends) and all(looks)


def _may_end_here(statement: ast.stmt) -> bool:
    """Whether a loop or a ``with`` may leave the function, or be passed."""
    if isinstance(statement, ast.With):
        return _leaves(statement.body) and _suppresses(statement)
    return isinstance(statement, _LOOPS) and not statement.orelse and _may_return(statement.body)


def _may_return(body: list[ast.stmt]) -> bool:
    """Whether a loop may be left together with its function."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
            if _may_return(statement.body) or _may_return(getattr(statement, "orelse", [])):
                return True
    return False


def _suppresses(node: ast.With) -> bool:
    """Whether an exception in the body ends the body alone."""
    calls = (item.context_expr for item in node.items)
    return any(isinstance(c, ast.Call) and (path_of(c.func) or "").rpartition(".")[2] == "suppress" for c in calls)


def _with(names: Set[str], more: list[str]) -> set[str]:
    """A set to which names are added in place: one function may declare thousands."""
    found = names if isinstance(names, set) else set()
    found.update(more)
    return found


def _plain_defaults(arguments: ast.arguments) -> Iterator[tuple[str, Literal]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in defaults:
        if default is not None and (known := literal_of(default)):
            yield argument.arg, known[0]


def _pattern_names(pattern: ast.pattern) -> Iterator[str]:
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


def _bound_by_type_parameter(node: ast.AST) -> Iterator[str]:
    name = getattr(node, "name", None)
    if isinstance(name, str):
        yield name
