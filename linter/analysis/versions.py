"""On which side of a test of versions the target is.

A test is evaluated, as Python does, in several worlds: a TensorFlow, a Keras and a Python that a target may mean.
What has the same outcome in all worlds of a target is known; anything that cannot be evaluated says nothing.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..finding import Target
from .index import AssignmentFact, Bind, Block, FileIndex, Scope
from .lazy import cached_property
from .names import canonical
from .paths import is_none, literal_string, path_of, split_head
from .public_names import has, is_module

Flags = dict[str, list[Any]]
"""What other files may ask of one: of names, and of calls without arguments, the value in each world; see `RAISES`."""

RAISES = "raises"
"""The value of a call that raises, as a key of its own."""
_WORDS = re.compile(
    r"(?<![^.\n])(?:version|__version__|VERSION|version_info|hasattr|getattr|dir|vars|__dict__|TYPE_CHECKING|PY[23]|enabled"
    r"|modules)(?!\w)"
    r"|\bbackend(?![\w.])"
)
"""The names of which a version may be learnt."""
_FOREIGN = ("tensorflow.", "keras.", "tf_keras.", "numpy.", "os.", "sys.", "absl.")
"""What no file of the project is asked for."""
_TRIED = ("tensorflow", "keras")
_DEPTH = 24
_MOST_STEPS = 400
"""Expressions of one question; what takes longer is not known."""
_MAX_WAYS = 16
"""A name that gets its value in more places is not followed."""
_VERSION_CLASSES = ("LooseVersion", "StrictVersion", "Version", "parse_version", "parse", "NumpyVersion")
_VERSION_MODULES = frozenset({"distutils", "packaging", "pkg_resources", "setuptools", "looseversion", "numpy"})
_TEXT_METHODS = frozenset(
    {"split", "rsplit", "startswith", "endswith", "replace", "partition", "rpartition", "strip", "lstrip", "rstrip"}
    | {"lower", "upper", "find", "count", "join", "isdigit"}
)
_NUMBERS = (bool, int, float, str, tuple, list, type(None))
_BUILTINS: dict[str, Callable[..., Any]] = {
    "all": all, "any": any, "bool": bool, "float": float, "int": int, "len": len, "list": list, "max": max, "min": min,
    "sorted": sorted, "str": str, "sum": sum, "tuple": tuple,
}  # fmt: skip
_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, group: item in group,
    ast.NotIn: lambda item, group: item not in group,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_V1_TESTS = frozenset({"run_v1_only", "run_deprecated_v1"})
"""Decorators of TensorFlow's own tests, which then run in graphs or not at all."""


class _VersionInfo(NamedTuple):
    major: int
    minor: int
    micro: int = 0
    releaselevel: str = "final"
    serial: int = 0


@dataclass(frozen=True, slots=True)
class _World:
    target: Target
    tensorflow: str
    keras: str
    python: _VersionInfo


_WORLDS = (
    _World(Target.KERAS2, "2.15.1", "2.15.0", _VersionInfo(3, 9)),
    _World(Target.KERAS2, "2.18.1", "2.18.0", _VersionInfo(3, 11)),
    _World(Target.KERAS2, "2.21.0", "2.21.0", _VersionInfo(3, 13)),
    _World(Target.KERAS3, "2.16.2", "3.3.3", _VersionInfo(3, 10)),
    _World(Target.KERAS3, "2.18.1", "3.8.0", _VersionInfo(3, 11)),
    _World(Target.KERAS3, "2.21.0", "3.15.1", _VersionInfo(3, 13)),
)
_NUMBERS_OF = {target: [n for n, w in enumerate(_WORLDS) if w.target is target] for target in Target}


class _UnknownError(Exception):
    """What cannot be evaluated."""


class _RaisedError(Exception):
    """A call that raises for certain."""


@dataclass(frozen=True, slots=True)
class _External:
    """Something of another module, by its absolute name."""

    text: str


@dataclass(frozen=True, slots=True)
class _Members:
    """The names in a module of a package."""

    text: str


@dataclass(frozen=True, slots=True)
class _Function:
    scope: Scope
    bound: bool = False
    """Whether the first parameter is the instance."""


@dataclass(frozen=True, slots=True)
class _Class:
    """A class of the file, or an instance of it."""

    scope: Scope


class _Version:
    """A version that is compared as one."""

    def __init__(self, text: str) -> None:
        from packaging.version import InvalidVersion, Version

        try:
            self.parsed = Version(text)
        except InvalidVersion:
            raise _UnknownError from None

    def compare(self, other: Any, how: Callable[[Any, Any], Any], swapped: bool) -> bool:
        """Compare with another version, or with the text of one."""
        if not isinstance(other, _Version | str):
            raise _UnknownError
        theirs = (_Version(other) if isinstance(other, str) else other).parsed
        return bool(how(theirs, self.parsed) if swapped else how(self.parsed, theirs))

    def attribute(self, name: str) -> Any:
        """What `packaging` or `distutils` tells of it."""
        if name in ("major", "minor", "micro", "release", "base_version", "public"):
            return getattr(self.parsed, name)
        if name == "version":
            return list(self.parsed.release)
        raise _UnknownError


class Versions:
    """The tests of one file; `foreign` has the values of names of other files."""

    def __init__(self, index: FileIndex, foreign: Callable[[str], list[Any] | None] | None = None) -> None:
        self._index = index
        self._foreign = foreign
        paths = {fact.path for fact in index.references}.union(fact.absolute for fact in index.imports)
        self._speaks = (
            any(fact.block.kind == "try" and fact.absolute.startswith(_TRIED) for fact in index.imports)
            or bool(_WORDS.search("\n".join(paths)))
            or (foreign is not None and ("*" in self._imported or any(map(self._is_of_other_file, paths))))
        )
        self._outcomes: dict[int, dict[Target, bool | None]] = {}
        self._dead: dict[Target | None, dict[int, bool]] = {None: {}, Target.KERAS2: {}, Target.KERAS3: {}}
        self._ends: dict[tuple[int, Target], float] = {}
        self._open: set[int] = set()
        self._unknown: set[tuple[int, str, int]] = set()
        """Names, by their scope and world, whose value is not known."""
        self._cases: dict[int, ast.expr] = {}
        self._other_cases: dict[tuple[int, Target | None], frozenset[int]] = {}
        self._depth = self._steps = 0
        self._learnt = False
        if self._speaks:
            index.is_dead = self.is_dead_bind

    def _is_of_other_file(self, path: str) -> bool:
        """Whether a path begins with what is imported and is, or calls, what another file says of versions."""
        head, rest = split_head(path)
        texts = [absolute + rest for absolute in self._imported.get(head, ())]
        return any(self._of_other_file(name) for text in texts for name in (text, f"{text}()"))

    @cached_property
    def _imported(self) -> dict[str, list[str]]:
        """What is imported, by the name that it is bound to."""
        found: dict[str, list[str]] = {}
        for fact in self._index.imports:
            name = fact.alias.asname or fact.alias.name
            is_whole = isinstance(fact.node, ast.ImportFrom) or fact.alias.asname is not None
            bound = name if is_whole else name.partition(".")[0]
            found.setdefault(bound, []).append(fact.absolute if is_whole else bound)
        return found

    # -- dead code ---------------------------------------------------------------------------------------------------

    def is_dead(self, block: Block, target: Target | None) -> bool:
        """Whether a block runs only on versions that are not those of the target, or of any for None, or never."""
        if not self._speaks and not self._index.has_unreachable:
            return False
        return block.inherited(
            self._dead[target], False, lambda level, around: around or self._excludes(level, target)
        )

    def _excludes(self, block: Block, target: Target | None) -> bool:
        if block.kind == "never":
            return True
        if block.kind == "passed" and isinstance(block.node, ast.Try):
            numbers = range(len(_WORLDS)) if target is None else _NUMBERS_OF[target]
            return all(self._fails(block.node, block.scope, number) is True for number in numbers)
        if not self._speaks:
            return False
        if block.kind == "case":
            return self._is_other_case(block, target)
        if block.kind not in ("if", "else") or not isinstance(block.node, ast.expr):
            return False
        return self._is_never(block.node, block.scope, block.kind == "if", target)

    def _is_other_case(self, block: Block, target: Target | None) -> bool:
        """Whether a ``match`` on a known value never comes to a case, or is done before it."""
        if not isinstance(block.statement, ast.Match) or not isinstance(block.node, ast.match_case):
            return False
        key = id(block.statement), target
        if key not in self._other_cases:
            self._other_cases[key] = frozenset(self._others(block.statement, block.scope, target))
        return id(block.node) in self._other_cases[key]

    def _others(self, match: ast.Match, scope: Scope, target: Target | None) -> Iterator[int]:
        is_done = False
        for case in match.cases:
            if not is_done and (case.guard is not None or not isinstance(case.pattern, ast.MatchValue)):
                return
            if not is_done and isinstance(case.pattern, ast.MatchValue):
                test = self._cases.setdefault(id(case), ast.Compare(match.subject, [ast.Eq()], [case.pattern.value]))
                is_done = self._is_never(test, scope, False, target)
                if not self._is_never(test, scope, True, target):
                    continue
            yield id(case)

    def _is_never(self, test: ast.expr, scope: Scope, holds: bool, target: Target | None) -> bool:
        outcome = self.outcome(test, scope)
        return all(outcome.get(one) is (not holds) for one in (Target if target is None else (target,)))

    def is_dead_bind(self, bind: Bind) -> bool:
        """Whether a name never gets this value on any target."""
        if bind.arm is not None and self._is_never(*bind.arm, target=None):
            return True
        block = bind.scope.defined_in if bind.kind == "scope" and bind.scope is not None else bind.block
        return block is not None and self.is_dead(block, None)

    def ends(self, scope: Scope, target: Target) -> float:
        """The line after which a function or module does not go on with this target; infinite if it does."""
        known = self._ends.get((scope.id, target))
        if known is None:
            body = getattr(scope.node, "body", None) if self._speaks else None  # of a lambda it is one expression
            stops = (s for s in body if self._stops(s, scope, target)) if isinstance(body, list) else iter(())
            first = next(stops, None)
            known = float("inf") if first is None else float(first.end_lineno or first.lineno)
            self._ends[scope.id, target] = known
        return known

    def _stops(self, statement: ast.stmt, scope: Scope, target: Target) -> bool:
        if isinstance(statement, ast.Assert):
            return self._is_never(statement.test, scope, True, target)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.BoolOp):
            value = statement.value
            return all(v == {RAISES: True} for v in self._values(value, scope, _NUMBERS_OF[target]) or [None])
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise):
            return self._is_never(statement.test, scope, False, target)
        return False

    def skips(self, scope: Scope, target: Target) -> bool:
        """Whether a decorator leaves a test out with this target."""
        return any(self._skips(node, scope.parent or scope, target, 0) for node in scope.decorators)

    def _skips(self, node: ast.expr, scope: Scope, target: Target, depth: int) -> bool:
        called = node.func if isinstance(node, ast.Call) else node
        name = (path_of(called) or "").rpartition(".")[2]
        if name in _V1_TESTS:
            return True
        if isinstance(node, ast.Call) and node.args and name.lower() in ("skipif", "skipunless"):
            return self._is_never(node.args[0], scope, name.lower() == "skipunless", target)
        if isinstance(node, ast.Name) and depth < 4:
            found = self._index.lookup(scope, node.id)
            binds = [] if found is None else found[1]
            return len(binds) == 1 and isinstance(binds[0].node, ast.Call) and found is not None and (
                self._skips(binds[0].node, found[0], target, depth + 1)
            )
        return False

    # -- outcomes ----------------------------------------------------------------------------------------------------

    def outcome(self, test: ast.expr, scope: Scope) -> dict[Target, bool | None]:
        """Whether a test holds on each target; nothing for what is not known."""
        known = self._outcomes.get(id(test))
        if known is None:
            self._outcomes[id(test)] = known = {}
            if isinstance(test, ast.Compare) and is_none(test.comparators[0]) and not isinstance(test.left, ast.Call):
                return known
            for target, numbers in _NUMBERS_OF.items():
                values = self._values(test, scope, numbers)
                if values is None and not self._speaks_of_keras:
                    break  # what is not known with one Keras is not with the other
                if values is not None and len(truths := {bool(value) for value in values}) == 1:
                    if not any(isinstance(value, dict) for value in values):
                        known[target] = truths.pop()
        return known

    @cached_property
    def _speaks_of_keras(self) -> bool:
        """Whether the targets may differ in what is known of them."""
        return any("keras" in fact.path for fact in self._index.references) or any(
            "keras" in fact.absolute for fact in self._index.imports
        )

    def _values(self, node: ast.expr, scope: Scope, numbers: Sequence[int]) -> list[Any] | None:
        """What an expression that depends on versions is in some worlds."""
        learnt, self._learnt = self._learnt, False
        self._steps = 0
        try:
            found = [self._value(node, scope, number) for number in numbers]
            return found if self._learnt else None
        except _UnknownError:
            return None
        finally:
            self._learnt = learnt

    def _value(self, node: ast.expr, scope: Scope, number: int) -> Any:
        try:
            value = self._plain(self._evaluate(node, scope, number, {}))
            return value
        except _RaisedError:
            return {RAISES: True}

    @staticmethod
    def _plain(value: Any) -> Any:
        if not isinstance(value, _NUMBERS):
            raise _UnknownError
        return value

    def flags(self) -> Flags:
        """What other files may ask of this one."""
        found: Flags = {}
        everywhere = range(len(_WORLDS))
        module = self._index.module
        for name, binds in module.binds.items() if self._speaks else ():
            functions = [b.scope for b in binds if b.kind == "scope" and b.scope is not None]
            asked: ast.expr = ast.Name(name, ast.Load())
            if functions:
                if not _takes_nothing(functions[-1]):
                    continue
                asked = ast.Call(asked, [], [])
            elif name not in module.constants and not any(b.node and b.kind != "import" for b in binds):
                continue
            values = self._values(asked, module, everywhere)
            if values is not None and all(map(_can_be_kept, values)):
                found[ast.unparse(asked)] = values
        return found

    # -- evaluation --------------------------------------------------------------------------------------------------

    def _evaluate(self, node: ast.expr, scope: Scope, number: int, given: dict[str, Any]) -> Any:
        self._depth += 1
        try:
            self._steps += 1
            if self._depth > _DEPTH or self._steps > _MOST_STEPS:
                raise _UnknownError
            return self._evaluated(node, scope, number, given)
        except (_UnknownError, _RaisedError):
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise _UnknownError from None  # an expression that raises, or that means something else
        finally:
            self._depth -= 1

    def _evaluated(self, node: ast.expr, scope: Scope, number: int, given: dict[str, Any]) -> Any:
        ask = partial(self._evaluate, scope=scope, number=number, given=given)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return given[node.id] if node.id in given else self._name(node.id, scope, number)
        if isinstance(node, ast.Attribute):
            cls = self._index.class_of_self(scope, node.value.id) if isinstance(node.value, ast.Name) else None
            return self._attribute(_Class(cls) if cls is not None else ask(node.value), node.attr, number)
        if isinstance(node, ast.Dict) and all(key is not None for key in node.keys):
            return {ask(key): ask(value) for key, value in zip(node.keys, node.values, strict=True) if key is not None}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            value = self._plain(ask(node.operand))
            return not value if isinstance(node.op, ast.Not) else -value
        if isinstance(node, ast.BoolOp):
            return self._bool(node, ask)
        if isinstance(node, ast.Compare):
            return self._compared(node, ask, number)
        if isinstance(node, ast.IfExp):
            return ask(node.body) if self._plain(ask(node.test)) else ask(node.orelse)
        if isinstance(node, ast.Tuple | ast.List):
            items = [ask(item) for item in node.elts]
            return tuple(items) if isinstance(node, ast.Tuple) else items
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](self._plain(ask(node.left)), self._plain(ask(node.right)))
        if isinstance(node, ast.Subscript):
            return self._item(ask(node.value), node.slice, ask)
        if isinstance(node, ast.Call):
            return self._called(node, scope, number, given, ask)
        if isinstance(node, ast.GeneratorExp | ast.ListComp) and len(node.generators) == 1:
            return self._comprehended(node, scope, number, given)
        if isinstance(node, ast.NamedExpr):
            return ask(node.value)
        raise _UnknownError

    def _bool(self, node: ast.BoolOp, ask: Callable[[ast.expr], Any]) -> Any:
        """An operand that decides the whole does so beside others that are not known."""
        decides = isinstance(node.op, ast.Or)
        value: Any = None
        unknown = False
        for operand in node.values:
            try:
                value = self._plain(ask(operand))
            except _UnknownError:
                unknown = True
                continue
            if bool(value) is decides:
                return value
        if unknown:
            raise _UnknownError
        return value

    def _compared(self, node: ast.Compare, ask: Callable[[ast.expr], Any], number: int) -> bool:
        left = ask(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = ask(comparator)
            how = _OPERATORS[type(op)]
            if isinstance(right, _External) and right.text == "sys.modules" and isinstance(op, ast.In | ast.NotIn):
                held = self._is_imported(left)
                holds = held if isinstance(op, ast.In) else not held
            elif isinstance(right, _Members) and isinstance(op, ast.In | ast.NotIn):
                holds = self._has(f"{right.text}.{self._plain(left)}", right.text, number) is isinstance(op, ast.In)
            elif isinstance(left, _Version):
                holds = left.compare(right, how, swapped=False)
            elif isinstance(right, _Version):
                holds = right.compare(left, how, swapped=True)
            else:
                holds = bool(how(self._plain(left), self._plain(right)))
            if not holds:
                return False
            left = right
        return True

    def _is_imported(self, module: Any) -> bool:
        if not isinstance(module, str):
            raise _UnknownError
        self._learnt = True
        if any(fact.absolute == module for fact in self._index.imports):
            return True
        if module.startswith("tensorflow.contrib"):
            return False
        raise _UnknownError

    def _item(self, value: Any, index: ast.expr, ask: Callable[[ast.expr], Any]) -> Any:
        if isinstance(value, _External) and value.text == "sys.modules":
            return _External(self._plain(ask(index)))
        if isinstance(value, dict):
            return value[self._plain(ask(index))]
        if not isinstance(value, str | tuple | list):
            raise _UnknownError
        if isinstance(index, ast.Slice):
            parts = [None if part is None else ask(part) for part in (index.lower, index.upper, index.step)]
            return value[slice(parts[0], parts[1], parts[2])]
        return value[ask(index)]

    def _comprehended(
        self, node: ast.GeneratorExp | ast.ListComp, scope: Scope, number: int, given: dict[str, Any]
    ) -> list[Any]:
        (generator,) = node.generators
        items = self._evaluate(generator.iter, scope, number, given)
        if not isinstance(generator.target, ast.Name) or not isinstance(items, str | tuple | list) or generator.ifs:
            raise _UnknownError
        name = generator.target.id
        return [self._evaluate(node.elt, scope, number, {**given, name: item}) for item in items]

    # -- names -------------------------------------------------------------------------------------------------------

    def _name(self, name: str, scope: Scope, number: int) -> Any:
        found = self._index.lookup(scope, name)
        if found is None:
            for around in scope.chain():
                for star in around.stars:
                    given = self._of_other_file(f"{star}.{name}")
                    if given is not None:
                        self._learnt = True
                        return given[number]
            raise _UnknownError
        place = (found[0].id, name, number)
        if place in self._unknown:
            raise _UnknownError
        try:
            return self._one_of(found[1], found[0], name, number)
        except _UnknownError:
            if not self._open:  # what is asked of itself may be known to others
                self._unknown.add(place)
            raise

    def _one_of(self, binds: Sequence[Bind], home: Scope, name: str, number: int) -> Any:
        """The value that all ways give which a name may get one."""
        literals = home.constants.get(name, ())
        if len(binds) + len(literals) > _MAX_WAYS:
            raise _UnknownError
        if literals:
            unpacked = any(bind.kind == "part" for bind in literals)
            others = [b for b in binds if not isinstance(b.node, ast.Constant) and (not unpacked or b.node is not None)]
            binds = sorted([*others, *literals], key=_line)
        values: list[Any] = []
        for bind in binds:
            certain = self._certainty(bind, home, number)
            if certain is False:
                continue
            value = self._bound(bind, home, number)
            values = [value] if certain else [*values, value]
        if not values or any(not _is_same(value, values[0]) for value in values):
            raise _UnknownError
        return values[0]

    def _certainty(self, bind: Bind, home: Scope, number: int) -> bool | None:
        """Whether a name surely gets a value: False where it never does in a world, None where it may."""
        block = bind.scope.defined_in if bind.kind == "scope" and bind.scope is not None else bind.block
        certain: bool | None = True
        for level in block.chain() if block is not None else ():
            if level.kind in ("if", "else") and isinstance(level.node, ast.expr):
                if id(level.node) in self._open:  # the test of this name's own value
                    certain = None
                    continue
                self._open.add(id(level.node))
                try:
                    holds = bool(self._plain(self._evaluate(level.node, level.scope, number, {})))
                except (_UnknownError, _RaisedError):
                    certain = None
                    continue
                finally:
                    self._open.discard(id(level.node))
                if holds is not (level.kind == "if"):
                    return False
            elif level.kind in ("try", "except") and isinstance(level.node, ast.Try | ast.ExceptHandler):
                around = level.node if isinstance(level.node, ast.Try) else level.handled
                fails = self._fails(around, level.scope, number) if isinstance(around, ast.Try) else None
                if fails is (level.kind == "try"):
                    return False
                certain = certain if fails is not None else None
            elif level.kind not in ("body", "with"):
                certain = None
        if block is not None and block.scope.function() is not home.function():
            return None  # a function sets a name of the module
        return certain

    def _fails(self, node: ast.Try, scope: Scope, number: int) -> bool | None:
        """Whether a ``try`` ends at an import, or at a name that is read; None where that is not known."""
        target = _WORLDS[number].target
        certain: bool | None = False
        for statement in node.body:
            if isinstance(statement, ast.Import):
                names = [alias.name for alias in statement.names]
            elif isinstance(statement, ast.ImportFrom) and not statement.level:
                names = [f"{statement.module}.{alias.name}" for alias in statement.names]
            elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                continue
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Attribute):
                names = list(self._index.resolve(scope, path_of(statement.value) or ""))
                certain = certain if names else None
            else:
                certain = None
                continue
            for name in names:
                there = has(name, target)
                self._learnt = True
                if there is False:
                    return True
                if there is None:
                    certain = None
        return certain

    def _bound(self, bind: Bind, home: Scope, number: int) -> Any:
        if bind.kind == "import":
            return self._external(bind.text, number)
        if bind.kind == "scope" and bind.scope is not None and bind.scope.kind == "function":
            return _Function(bind.scope)
        if bind.kind == "scope" and bind.scope is not None and bind.scope.kind == "class":
            return _Class(bind.scope)
        if bind.kind == "lambda" and isinstance(bind.node, ast.Lambda):
            return _Function(self._index.lambda_scope(bind.node))
        if not isinstance(bind.node, ast.expr) or id(bind.node) in self._open:
            raise _UnknownError
        self._open.add(id(bind.node))
        try:
            return self._evaluate(bind.node, bind.scope or home, number, {})
        finally:
            self._open.discard(id(bind.node))

    def _external(self, text: str, number: int) -> Any:
        """What an absolute name is, where versions say it."""
        world = _WORLDS[number]
        name = canonical(text)
        value: Any = None
        if name in ("tensorflow.__version__", "tensorflow.VERSION", "tensorflow.version.VERSION"):
            value = world.tensorflow
        elif name == "keras.__version__" and (world.target is Target.KERAS3 or not text.startswith("keras.")):
            value = world.keras
        elif name == "sys.version_info":
            value = world.python
        elif name in ("six.PY2", "typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"):
            value = False
        elif name == "six.PY3":
            value = True
        elif (values := self._of_other_file(text)) is not None:
            value = values[number]
        if value is None:
            return _External(text)
        self._learnt = True
        return value

    def _of_other_file(self, text: str) -> list[Any] | None:
        if self._foreign is None or text.startswith(_FOREIGN):
            return None
        return self._foreign(text)

    def _attribute(self, value: Any, name: str, number: int) -> Any:
        if isinstance(value, _External):
            return _Members(value.text) if name == "__dict__" else self._external(f"{value.text}.{name}", number)
        if isinstance(value, _Class):
            return self._member(value.scope, name, number)
        if isinstance(value, _Version):
            return value.attribute(name)
        if isinstance(value, _VersionInfo) and name in value._fields:
            return getattr(value, name)
        raise _UnknownError

    def _member(self, cls: Scope, name: str, number: int) -> Any:
        """An attribute of a class, or of its instances where all assignments to it agree."""
        values = []
        if name in cls.binds:
            value = self._one_of(cls.binds[name], cls, name, number)
            values.append(_Function(value.scope, bound=True) if isinstance(value, _Function) else value)
        facts = self._attributes.get(name, ()) if name in cls.attributes else ()
        if len(facts) > _MAX_WAYS:
            raise _UnknownError
        for fact in facts:
            target = fact.target
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                if self._index.class_of_self(fact.scope, target.value.id) is cls:
                    if fact.value is None or fact.augmented or id(fact.value) in self._open:
                        raise _UnknownError
                    self._open.add(id(fact.value))
                    try:
                        values.append(self._evaluate(fact.value, fact.scope, number, {}))
                    finally:
                        self._open.discard(id(fact.value))
        if not values or any(not _is_same(value, values[0]) for value in values):
            raise _UnknownError
        return values[0]

    @cached_property
    def _attributes(self) -> dict[str, list[AssignmentFact]]:
        """The assignments to attributes, by their names."""
        found: dict[str, list[AssignmentFact]] = {}
        for fact in self._index.assignments:
            if isinstance(fact.target, ast.Attribute):
                found.setdefault(fact.target.attr, []).append(fact)
        return found

    # -- calls -------------------------------------------------------------------------------------------------------

    def _called(
        self, node: ast.Call, scope: Scope, number: int, given: dict[str, Any], ask: Callable[[ast.expr], Any]
    ) -> Any:
        func = node.func
        if isinstance(func, ast.Name) and self._index.lookup(scope, func.id) is None:
            return self._builtin(func.id, node.args, number, ask)
        if isinstance(func, ast.Attribute) and func.attr in _TEXT_METHODS:
            text = ask(func.value)
            if isinstance(text, str):
                return getattr(text, func.attr)(*(self._plain(ask(argument)) for argument in node.args))
        called = ask(func)
        if isinstance(called, _Function):
            return self._run_function(called, node, number, ask)
        if not isinstance(called, _External):
            raise _UnknownError
        root, last = called.text.partition(".")[0], called.text.rpartition(".")[2]
        if root in _VERSION_MODULES and last in _VERSION_CLASSES and len(node.args) == 1:
            text = ask(node.args[0])
            return text if isinstance(text, _Version) else _Version(self._plain(text))
        if called.text in ("importlib.metadata.version", "importlib_metadata.version") and len(node.args) == 1:
            if self._plain(ask(node.args[0])) == "tensorflow":
                self._learnt = True
                return _WORLDS[number].tensorflow
        if canonical(called.text) in ("keras.backend.backend", "keras.config.backend"):
            self._learnt = True
            return "tensorflow"
        if called.text in ("tensorflow.python.tf2.enabled", "tensorflow.__internal__.tf2.enabled"):
            self._learnt = True
            return True
        if not node.args and not node.keywords:
            values = self._of_other_file(f"{called.text}()")
            if values is not None:
                self._learnt = True
                if values[number] == {RAISES: True}:
                    raise _RaisedError
                return values[number]
        raise _UnknownError

    def _builtin(self, name: str, arguments: Sequence[ast.expr], number: int, ask: Callable[[ast.expr], Any]) -> Any:
        if name == "map" and len(arguments) == 2 and isinstance(arguments[0], ast.Name):
            function = _BUILTINS[arguments[0].id]
            return [function(self._plain(item)) for item in ask(arguments[1])]
        if name in ("hasattr", "getattr") and len(arguments) >= 2:
            value, attribute = ask(arguments[0]), literal_string(arguments[1])
            if not isinstance(value, _External) or attribute is None:
                raise _UnknownError
            there = self._has(f"{value.text}.{attribute}", value.text, number)
            if name == "hasattr":
                return there
            if there:
                return self._external(f"{value.text}.{attribute}", number)
            return ask(arguments[2])
        if name in ("dir", "vars") and len(arguments) == 1:
            value = ask(arguments[0])
            if not isinstance(value, _External):
                raise _UnknownError
            return _Members(value.text)
        return _BUILTINS[name](*(self._plain(ask(argument)) for argument in arguments))

    def _has(self, text: str, module: str, number: int) -> bool:
        target = _WORLDS[number].target
        if canonical(text) in ("tensorflow.__version__", "keras.__version__"):
            self._learnt = True
            return True
        if not is_module(module, target):
            raise _UnknownError
        there = has(text, target)
        if there is None:
            raise _UnknownError
        self._learnt = True
        return there

    def _run_function(
        self, function: _Function, call: ast.Call, number: int, ask: Callable[[ast.expr], Any]
    ) -> Any:
        scope = function.scope
        if id(scope) in self._open or any(k.arg is None for k in call.keywords):
            raise _UnknownError
        given = {name: ask(value) for name, value in zip(scope.parameters[function.bound :], call.args, strict=False)}
        given |= {keyword.arg: ask(keyword.value) for keyword in call.keywords if keyword.arg}
        arguments = scope.node.args if isinstance(scope.node, ast.FunctionDef | ast.Lambda) else None
        if arguments is None or arguments.vararg or arguments.kwarg:
            raise _UnknownError
        for name, default in _defaults(arguments):
            if name not in given:
                given[name] = self._evaluate(default, scope.parent or scope, number, {})
        self._open.add(id(scope))
        try:
            if isinstance(scope.node, ast.Lambda):
                return self._evaluate(scope.node.body, scope, number, given)
            body = scope.node.body if isinstance(scope.node, ast.FunctionDef) else []
            returned = self._run(body, scope, number, given)
            return None if returned is None else returned[0]
        finally:
            self._open.discard(id(scope))

    def _run(self, body: Sequence[ast.stmt], scope: Scope, number: int, given: dict[str, Any]) -> tuple[Any] | None:
        """What the statements of a function return."""
        for statement in body:
            if isinstance(statement, ast.Return):
                value = None if statement.value is None else self._evaluate(statement.value, scope, number, given)
                return (value,)
            if isinstance(statement, ast.Raise):
                raise _RaisedError
            if isinstance(statement, ast.If):
                holds = self._plain(self._evaluate(statement.test, scope, number, given))
                returned = self._run(statement.body if holds else statement.orelse, scope, number, given)
                if returned is not None:
                    return returned
            elif isinstance(statement, ast.Assert):
                if not self._plain(self._evaluate(statement.test, scope, number, given)):
                    raise _RaisedError
            elif isinstance(statement, ast.Try | ast.For | ast.While | ast.With | ast.Match):
                raise _UnknownError
        return None


def _takes_nothing(function: Scope) -> bool:
    """Whether a function can be called without arguments."""
    arguments = getattr(function.node, "args", None)
    return isinstance(arguments, ast.arguments) and len(function.parameters) <= len(arguments.defaults)


def _line(bind: Bind) -> int:
    node = bind.node if bind.scope is None or bind.kind != "scope" else bind.scope.node
    return int(getattr(node, "lineno", 0))


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, _External) and isinstance(other, _External):
        return canonical(one.text) == canonical(other.text)
    return type(one) is type(other) and bool(one == other)


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    for argument, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        yield argument.arg, default
    for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if given is not None and not is_none(given):
            yield argument.arg, given


def _can_be_kept(value: object) -> bool:
    """Whether a value, and all that it holds, is the same when it is read from a file, but for lists and tuples."""
    if isinstance(value, tuple | list):
        return all(map(_can_be_kept, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _can_be_kept(item) for key, item in value.items())
    return value is None or isinstance(value, bool | int | float | str)
