"""What the expressions of a program are made of: through names, attributes, calls, returned tuples and files."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..analysis.entities import Entity
from ..analysis.index import AssignmentFact, FileIndex, Scope
from ..analysis.modules import imported_file, modules_of
from ..analysis.paths import path_of
from ..analysis.project import Project
from ..analysis.summary import summarize
from ..finding import Finding, Target
from ..rule_api.model import Call, File
from ..source.parsing import SourceFile, parse_source

__all__ = [
    "UNKNOWN", "Program", "Spot", "behind", "is_pipeline", "is_step", "loss_given", "optimizers_of", "position_in"
]

_QUEUES = ("tensorflow.train.batch", "tensorflow.train.shuffle_batch")
_STEPS = {
    "slim.optimize_loss": "loss",
    "slim.learning.create_train_op": "total_loss",
    "tensorflow.contrib.training.create_train_op": "total_loss",
}
"""Functions that make a training step with an optimizer that they are given, and what they call the loss."""
UNKNOWN: Any = object()
"""A value that the text does not tell."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_LARGEST_POWER = 8
_PUTS = ("append", "extend", "insert", "add")
_DEEP = 24
"""Names that stand for each other, followed for one value."""


class Spot(NamedTuple):
    """An expression, and where its names are looked up."""

    file: File
    scope: Scope
    node: ast.expr

    @property
    def line(self) -> int:
        """1-based."""
        return self.node.lineno

    @property
    def where(self) -> str:
        """``train.py:12``."""
        return f"{self.file.display}:{self.line}"

    @property
    def text(self) -> str:
        """As it is written, on one line."""
        return ast.unparse(self.node)

    @property
    def call(self) -> Call | None:
        """The site of a call."""
        return self.file.call_at(self.node)

    def at(self, node: ast.expr) -> Spot:
        """Another expression of the same scope."""
        return self._replace(node=node)


class Program:
    """A file and what it imports, as the analysis of the linter sees them.

    Args:
        sources: the files by their paths relative to the project, with ``/``.
        target: the TF2 that is moved to.

    Attributes:
        unread: files that cannot be parsed, each with what is wrong.
        pipelines: the targets, by identity, that get a part of what an input pipeline gives.
    """

    def __init__(self, sources: Mapping[str, SourceFile], target: Target) -> None:
        self.unread: list[str] = []
        indices: dict[str, FileIndex] = {}
        for key, source in sources.items():
            tree = parse_source(source)
            if isinstance(tree, Finding):
                self.unread.append(f"{source.display}:{tree.line}: {tree.message}")
            else:
                indices[key] = FileIndex(tree)
        project = Project({key: summarize(index) for key, index in indices.items()})
        self.files = {key: File(sources[key], key, index, project, target) for key, index in indices.items()}
        self._modules = modules_of(self.files)
        self._values: dict[tuple[int, int], tuple[Spot, Any]] = {}
        self._sources: dict[tuple[int, int], tuple[Spot, Sequence[Spot]]] = {}
        self._asked: set[int] = set()
        self._assigned: dict[tuple[str, int], list[AssignmentFact]] = {}
        for key, index in indices.items():
            for fact in index.assignments:
                self._assigned.setdefault((key, self.home_of(index, fact).id), []).append(fact)
        self.pipelines = {
            id(fact.target)
            for index in indices.values()
            for fact in index.assignments
            if fact.value is None and isinstance(fact.source, ast.Call) and self._reads_data(fact)
        }
        self._callers: dict[tuple[str, int], list[Spot]] = {}
        self._put: dict[tuple[str, int, str], list[Spot]] = {}
        """What lists get by their methods: by file, scope or class, and name or attribute."""
        for call in self.calls():
            for holder in self._holders(call) if call.method in _PUTS and call.call.args else ():
                self._put.setdefault(holder, []).append(Spot(call.file, call.scope, call.call.args[-1]))
            for entity in call.found:
                if entity.kind in ("function", "class"):
                    self._callers.setdefault(entity.key, []).append(Spot(call.file, call.scope, call.call))

    def _holders(self, call: Call) -> Iterator[tuple[str, int, str]]:
        """The name, or the attribute of ``self``, whose method is called."""
        node = call.receiver
        if isinstance(node, ast.Name) and (found := call.file.index.lookup(call.scope, node.id)) is not None:
            yield call.file.key, found[0].id, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            for file, scope in self.classes_of(Spot(call.file, call.scope, node.value)):
                yield file, scope, node.attr

    @staticmethod
    def home_of(index: FileIndex, fact: AssignmentFact) -> Scope:
        """The scope whose name an assignment binds, or in which it stands."""
        name = fact.target.id if isinstance(fact.target, ast.Name) else None
        found = index.lookup(fact.scope, name) if name in fact.scope.outer_names and name is not None else None
        return fact.scope if found is None else found[0]

    def _reads_data(self, fact: AssignmentFact) -> bool:
        owner = next((file for file in self.files.values() if file.index.module in fact.scope.chain()), None)
        call = None if owner is None else owner.call_at(fact.source)
        return call is not None and is_pipeline(call)

    def calls(self) -> Iterator[Call]:
        """All calls, file by file in source order."""
        for file in self.files.values():
            yield from file.calls

    def scope_of(self, entity: Entity) -> tuple[File, Scope] | None:
        """The function or class that a name turned out to be."""
        file = self.files.get(entity.file)
        return None if file is None or entity.scope < 0 else (file, file.index.scopes[entity.scope])

    def constructor(self, entity: Entity) -> Entity | None:
        """The ``__init__`` of a class."""
        for key in self._mro((entity.file, entity.scope)):
            scope = self.files[key[0]].index.scopes[key[1]]
            for bind in scope.binds.get("__init__", ()):
                if bind.scope is not None:
                    return Entity("function", "", key[0], bind.scope.id)
        return None

    def _mro(self, key: tuple[str, int]) -> list[tuple[str, int]]:
        file = next(iter(self.files.values()))
        return [one for one in dict.fromkeys([key, *file.project.mro(key)[0]]) if one[0] in self.files]

    def called(self, call: Call) -> list[tuple[File, Scope]]:
        """The functions of the program that a call runs: constructors, and methods of what a parameter may be, too."""
        found = [self.constructor(one) if one.kind == "class" else one for one in call.found]
        places = [self.scope_of(one) for one in found if one is not None and one.kind == "function"]
        if call.receiver is not None and all(one.kind == "parameter" for one in call.found):
            for key in self.classes_of(Spot(call.file, call.scope, call.receiver)):
                places += self._methods(key, call.method)
        return [place for place in places if place is not None]

    def methods(self, cls: tuple[str, int]) -> Iterator[tuple[File, Scope]]:
        """The methods of a class, those that it inherits among them."""
        names = {name: None for key in self._mro(cls) for name in self.files[key[0]].index.scopes[key[1]].binds}
        for name in names:
            yield from self._methods(cls, name)

    def _methods(self, cls: tuple[str, int], name: str) -> Iterator[tuple[File, Scope]]:
        for key in self._mro(cls):
            for bind in self.files[key[0]].index.scopes[key[1]].binds.get(name, ()):
                if bind.scope is not None and bind.scope.kind == "function":
                    yield self.files[key[0]], bind.scope

    def callers(self, file: File, scope: Scope) -> list[Spot]:
        """The calls of a function; those of a class, and of those that inherit it, for its constructor."""
        found = [*self._callers.get((file.key, scope.id), [])]
        owner = scope.owner()
        if owner is None or scope.name != "__init__":
            return found
        key = file.key, owner.id
        own = [key, *(one for one in file.project.subclasses(key) if one[0] in self.files)]
        constructor = Entity("function", "", file.key, scope.id)
        for one in own:
            if one == key or self.constructor(Entity("class", "", *one)) == constructor:
                found += self._callers.get(one, [])
        return found

    def assigned(self, file: File, scope: Scope) -> list[AssignmentFact]:
        """The assignments that bind names of a scope, or attributes in it."""
        return self._assigned.get((file.key, scope.id), [])

    # -- one step back -------------------------------------------------------------------------------------------------

    def sources(self, spot: Spot) -> Sequence[Spot]:
        """What the value of an expression is made of: one step."""
        key = id(spot.node), id(spot.scope)
        if key in self._sources:
            return self._sources[key][1]
        found = self._step_back(spot)
        if not self._asked:  # otherwise something is being looked for that it may be made of
            self._sources[key] = spot, found
        return found

    def _step_back(self, spot: Spot) -> list[Spot]:
        node = spot.node
        if isinstance(node, ast.Name):
            return self._of_name(spot, node.id)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(spot, node)
        if isinstance(node, ast.Call):
            return self._of_call(spot, node)
        if isinstance(node, ast.Lambda):
            return [Spot(spot.file, spot.file.index.lambda_scope(node), node.body)]
        if isinstance(node, _COMPREHENSIONS):
            inner = spot.file.index.comprehension_scope(node)
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return [Spot(spot.file, inner, part) for part in parts] + [spot.at(one.iter) for one in node.generators]
        if isinstance(node, ast.Subscript) and (items := self._items(spot, node)):
            return items
        return [spot.at(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]

    def _items(self, spot: Spot, node: ast.Subscript) -> list[Spot]:
        """What dicts that are written out hold under a key; nothing where something else may stand there."""
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        found: list[Spot] = []
        for one in self.values(spot.at(node.value)) if isinstance(key, str) else ():
            if isinstance(one.node, ast.Dict):
                keys = [part.value if isinstance(part, ast.Constant) else None for part in one.node.keys]
                if key not in keys:
                    return []
                found.append(one.at(one.node.values[keys.index(key)]))
            elif not isinstance(one.node, ast.Name | ast.Attribute):
                return []
        return found

    def values(self, spot: Spot) -> Iterator[Spot]:
        """An expression and, as far as it is a name or an attribute, all that it stands for, the nearest first."""
        queue, seen = [spot], set()
        while queue:
            one = queue.pop(0)
            if (key := (id(one.node), id(one.scope))) in seen:
                continue
            seen.add(key)
            yield one
            if isinstance(one.node, ast.Name | ast.Attribute):
                queue += self.sources(one)

    def _of_name(self, spot: Spot, name: str) -> list[Spot]:
        found = spot.file.index.lookup(spot.scope, name)
        if found is None:
            return []
        home, binds = found
        facts = [fact for fact in self.assigned(spot.file, home) if self._of_fact(spot.file, fact, name)]
        given = [one for fact in self._before(spot, home, facts) for one in self._of_fact(spot.file, fact, name)]
        given += self._put.get((spot.file.key, home.id, name), [])
        if home.is_function and name in home.parameters:
            given += self.arguments(spot.file, home, name)
        for bind in binds:
            if bind.kind == "import":
                given += self._imported(spot.file, bind.text)
        return given

    def _of_fact(self, file: File, fact: AssignmentFact, name: str) -> list[Spot]:
        """What an assignment gives a name, or an item of what it stands for."""
        target = fact.target
        if isinstance(target, ast.Subscript):
            of_it = isinstance(target.value, ast.Name) and target.value.id == name and fact.value is not None
            return [Spot(file, fact.scope, fact.value)] if of_it and fact.value is not None else []
        if not (isinstance(target, ast.Name) and target.id == name):
            return []
        if fact.value is not None:
            return [Spot(file, fact.scope, fact.value)]
        return [] if fact.source is None else self._unpacked(Spot(file, fact.scope, fact.source), fact)

    @staticmethod
    def _before(spot: Spot, home: Scope, facts: list[AssignmentFact]) -> list[AssignmentFact]:
        """The assignments that a place of the same scope may see: not those behind it, nor those that are replaced."""
        if spot.scope is not home or not hasattr(spot.node, "lineno") or any(fact.block.is_repeated for fact in facts):
            return facts
        place = spot.node.lineno, spot.node.col_offset
        seen: list[AssignmentFact] = []
        for fact in facts:
            if behind(fact) <= place:
                certain = isinstance(fact.target, ast.Name) and all(
                    one.kind in ("body", "with") for one in fact.block.chain()
                )
                seen = [fact] if certain and not fact.augmented else [*seen, fact]
        return seen

    def _unpacked(self, whole: Spot, fact: AssignmentFact) -> list[Spot]:
        """The part of a value that a target of an unpacking gets."""
        place = position_in(fact)
        if id(fact.target) in self.pipelines:
            return [whole.at(fact.target)]
        if place is None:
            return [whole]
        found: list[Spot] = []
        for one in self.values(whole):
            for part in self._of_call(one, one.node) if isinstance(one.node, ast.Call) else [one]:
                if isinstance(part.node, ast.Tuple | ast.List) and place < len(part.node.elts):
                    found.append(part.at(part.node.elts[place]))
        return found or [whole]

    def assigned_at(self, cls: tuple[str, int], name: str) -> list[Spot]:
        """The places where an attribute of a class is assigned."""
        found: list[Spot] = []
        for key in self._mro(cls):
            file = self.files[key[0]]
            found += [Spot(file, one.scope, one.node) for one in file.attribute_assignments.get((key[1], name), ())]
        return found

    def arguments(self, file: File, function: Scope, name: str) -> list[Spot]:
        """What the calls of a function give one of its parameters, and else its default."""
        found: list[Spot] = []
        for caller in self.callers(file, function):
            given = None if caller.call is None else caller.call.given_to(function, name)
            if given is not None:
                found.append(caller.at(given))
        default = file.default_of(function, name)
        if not found and default is not None and function.parent is not None:
            found.append(Spot(file, function.parent, default))
        return found

    def _imported(self, file: File, absolute: str) -> list[Spot]:
        module, _, name = absolute.rpartition(".")
        if not module or not name:
            return []
        other = imported_file(file.key, module, self._modules, self.files) or imported_file(
            file.key, absolute, self._modules, self.files
        )
        if other is None or other == file.key:
            return []
        there = self.files[other]
        return self._of_name(Spot(there, there.index.module, ast.Name(name, ast.Load())), name)

    def _of_attribute(self, spot: Spot, node: ast.Attribute) -> list[Spot]:
        found: list[Spot] = []
        owners = self.classes_of(spot.at(node.value))
        for key in owners:
            found += self._attribute(key, node.attr)
        for key in owners:
            for inner in spot.file.project.subclasses(key):
                if inner[0] in self.files and (not found or self._stands_for(key, inner)):
                    found += [one for one in self._attribute(inner, node.attr) if one not in found]
        if found:
            return found
        path = path_of(node)
        for text in spot.file.index.resolve(spot.scope, path) if path is not None else ():
            found += self._imported(spot.file, text)
        found = found or self._field(spot.at(node.value), node.attr)
        return found or ([] if spot.file.names(spot.scope, path) else [spot.at(node.value)])

    def _stands_for(self, base: tuple[str, int], cls: tuple[str, int]) -> bool:
        """Whether objects are made of a class, and none of its base."""
        return cls in self._callers and base not in self._callers

    def _attribute(self, cls: tuple[str, int], name: str) -> list[Spot]:
        found: list[Spot] = []
        for key in self._mro(cls):
            file = self.files[key[0]]
            for one in file.attribute_assignments.get((key[1], name), ()):
                if one.value is not None:
                    found.append(Spot(file, one.scope, one.value))
                else:
                    facts = [fact for fact in file.index.assignments if fact.target is one.node and fact.source]
                    for fact in facts:
                        assert fact.source is not None
                        found += self._unpacked(Spot(file, fact.scope, fact.source), fact)
            found += self._put.get((*key, name), [])
        for place in self._methods(cls, name):
            found += self._returned(*place)
        return found

    def fields(self, spot: Spot) -> list[ast.keyword]:
        """What a call is given by keyword where no function of the program runs, as of a named tuple."""
        call = spot.call
        known = call is not None and not call.name.startswith("tensorflow.") and not self.called(call)
        return call.call.keywords if call is not None and known else []

    def _field(self, record: Spot, name: str) -> list[Spot]:
        """What a named tuple, or another record that no class of the program makes, is given for a field by keyword."""
        found: list[Spot] = []
        queue, seen = [record], set()
        while queue:
            one = queue.pop(0)
            if id(one.node) in seen or id(one.node) in self._asked:
                continue
            seen.add(id(one.node))
            if isinstance(one.node, ast.Call):
                queue += self.returned_by(one.call)
                found += [one.at(given.value) for given in self.fields(one) if given.arg == name]
            elif isinstance(one.node, ast.Name | ast.Attribute):
                self._asked.add(id(one.node))
                queue += self.sources(one)
                self._asked.discard(id(one.node))
        return found

    def classes_of(self, spot: Spot) -> list[tuple[str, int]]:
        """The classes of the program that an object may be of."""
        if isinstance(spot.node, ast.Name):
            own = spot.file.index.class_of_self(spot.scope, spot.node.id)
            if own is not None:
                return [(spot.file.key, own.id)]
        found = spot.file.entities(spot.scope, path_of(spot.node))
        keys = [entity.key for entity in found if entity.kind == "instance"]
        asked = id(spot.node)
        if keys or asked in self._asked or not isinstance(spot.node, ast.Name | ast.Attribute):
            return keys
        self._asked.add(asked)  # what stands for itself in the end is of no class
        for one in self.values(spot):
            if isinstance(one.node, ast.Name | ast.Call | ast.Attribute) and one.node is not spot.node:
                more = one.file.entities(one.scope, path_of(one.node))
                keys += [entity.key for entity in more if entity.kind == "instance"]
        self._asked.discard(asked)
        return list(dict.fromkeys(keys))

    def _returned(self, file: File, function: Scope) -> list[Spot]:
        return [Spot(file, fact.scope, fact.value) for fact in file.index.returns_in(function)]

    def returned_by(self, call: Call | None) -> list[Spot]:
        """What the functions of the program that a call runs return."""
        return [] if call is None else [one for place in self.called(call) for one in self._returned(*place)]

    def _of_call(self, spot: Spot, node: ast.Call) -> list[Spot]:
        call = spot.call
        inner = self.returned_by(call)
        given: list[Spot] = []
        for one in [*node.args, *(keyword.value for keyword in node.keywords)]:
            given.append(spot.at(one.value if isinstance(one, ast.Starred) else one))
        if isinstance(node.func, ast.Attribute) and (call is None or not call.found or "()" in (call.spelled or "()")):
            given.append(spot.at(node.func.value))
        elif isinstance(node.func, ast.Call):
            given.append(spot.at(node.func))
        return [*inner, *given]

    # -- all steps back ------------------------------------------------------------------------------------------------

    def closure(self, *spots: Spot) -> list[Spot]:
        """All that some expressions are made of, themselves included."""
        found: dict[tuple[int, int], Spot] = {}
        queue = list(spots)
        while queue:
            spot = queue.pop()
            key = id(spot.node), id(spot.scope)
            if key not in found:
                found[key] = spot
                queue += self.sources(spot)
        return list(found.values())

    def named(self, *spots: Spot) -> Iterator[tuple[Spot, Call, str]]:
        """The calls of public names among all that some expressions are made of."""
        for spot in self.closure(*spots):
            call = spot.call
            if call is not None and call.name:
                yield spot, call, call.name

    def value(self, spot: Spot, depth: int = 0) -> Any:
        """The number, text or tuple that an expression stands for; `UNKNOWN` where the text does not tell one.

        It does not of what is made of itself, such as a rate that a loop lowers.
        """
        key = id(spot.node), id(spot.scope)
        if key not in self._values:
            self._values[key] = spot, UNKNOWN
            if depth <= _DEEP:
                self._values[key] = spot, self._value(spot, depth)
        return self._values[key][1]

    def _value(self, spot: Spot, depth: int) -> Any:
        node = spot.node
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.value(spot.at(node.operand), depth + 1)
            return -value if isinstance(value, int | float) else UNKNOWN
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self.value(spot.at(one), depth + 1) for one in node.elts)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            sides = [self.value(spot.at(one), depth + 1) for one in (node.left, node.right)]
            if all(isinstance(side, int | float) for side in sides):
                if type(node.op) is ast.Pow and not 0 <= sides[1] <= _LARGEST_POWER:
                    return UNKNOWN
                try:
                    return _OPERATORS[type(node.op)](*sides)
                except ArithmeticError:  # a division by zero, or a number that no float holds
                    return UNKNOWN
            if all(isinstance(side, tuple) for side in sides) and isinstance(node.op, ast.Add):
                return sides[0] + sides[1]
            return UNKNOWN
        if isinstance(node, ast.Attribute) and (flag := self._flag(spot, node)) is not None:
            return self.value(flag, depth + 1)
        if isinstance(node, ast.Name | ast.Attribute) or (isinstance(node, ast.Subscript) and self._items(spot, node)):
            values = [
                self.value(one, depth + 1) for one in self.sources(spot) if one.node is not getattr(node, "value", None)
            ]
            return (
                values[0]
                if values and all(type(one) is type(values[0]) and one == values[0] for one in values)
                else UNKNOWN
            )
        return self._of_function(spot, node, depth) if isinstance(node, ast.Call) and node.args else UNKNOWN

    def _of_function(self, spot: Spot, node: ast.Call, depth: int) -> Any:
        """What a builtin or numpy makes of a value that is known."""
        value = self.value(spot.at(node.args[0]), depth + 1)
        call = spot.call
        name = node.func.id if isinstance(node.func, ast.Name) else call.name if call is not None else ""
        if value is UNKNOWN or name in ("int", "float", "tuple", "list", "numpy.array", "numpy.asarray"):
            return int(value) if name == "int" and isinstance(value, float) else value
        return len(value) if name == "len" and isinstance(value, tuple | str) else UNKNOWN

    def _flag(self, spot: Spot, node: ast.Attribute) -> Spot | None:
        """The default of a flag of the command line, by absl, TensorFlow or argparse."""
        names = [name.spelled for name in spot.file.names(spot.scope, path_of(node.value))]
        if not any(name.endswith(("FLAGS", "parse_args()")) or "parse_known_args()" in name for name in names):
            return None
        for call in self.calls():
            first = call.call.args[0] if call.call.args else None
            word = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
            if word is None or word.lstrip("-").replace("-", "_") != node.attr:
                continue
            given = (
                call.value("default", 1)
                if call.method.startswith("DEFINE_")
                else (call.value("default") if call.method == "add_argument" else None)
            )
            if given is not None:
                return Spot(call.file, call.scope, given)
        return None


def is_step(call: Call) -> bool:
    """Whether a call makes a training step: of an optimizer, or a function of contrib or slim that is given one."""
    own = call.method in ("minimize", "apply_gradients") and not any(one.kind == "function" for one in call.found)
    return own or call.name in _STEPS


def loss_given(call: Call) -> ast.expr | None:
    """The loss that is given to what makes a training step."""
    return call.value(_STEPS.get(call.name, "loss"), 0) if call.method == "minimize" or call.name in _STEPS else None


def optimizers_of(program: Program, step: Spot) -> str:
    """All that a training step may update by, in words; of an optimizer that is given another one, the outer one."""
    receiver = None if step.call is None or step.call.name in _STEPS else step.call.receiver
    made = [
        spot
        for spot, _, name in program.named(step if receiver is None else step.at(receiver))
        if name.endswith("Optimizer") or name.startswith("keras.optimizers.")
    ]
    inner = {id(one.node) for spot in made for one in program.closure(spot) if one.node is not spot.node}
    outer = sorted((spot for spot in made if id(spot.node) not in inner), key=lambda spot: (spot.file.key, spot.line))
    texts = [spot.text if len(spot.text) <= 160 else f"{spot.text[:157]}..." for spot in outer]
    return ", or ".join(dict.fromkeys(f"{spot.where}: {text}" for spot, text in zip(outer, texts, strict=True)))


def is_pipeline(call: Call) -> bool:
    """Whether it gives the tensors of an input pipeline: an iterator's, or those of a queue."""
    return call.method == "get_next" or call.name in _QUEUES


def behind(fact: AssignmentFact) -> tuple[int, int]:
    """Where an assignment has been made."""
    last = fact.value or fact.source or fact.target
    ends = [(one.end_lineno or one.lineno, one.end_col_offset or 0) for one in (last, fact.target)]
    return max(ends)


def position_in(fact: AssignmentFact) -> int | None:
    """The place of a target among those of an unpacking."""
    targets: Sequence[ast.expr] = fact.node.targets if isinstance(fact.node, ast.Assign) else ()
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            for place, one in enumerate(target.elts):
                if one is fact.target:
                    return place
    return None
