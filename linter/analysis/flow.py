"""Which expressions of a function are tensors, certainly or likely.

Every use of a name asks which assignments can reach it: the nearest one that must have run, those after it that may
have run, and, in a loop, those of the iteration before.
Where all of them agree, the answer is theirs; see `known` for what is said where they do not.
What is put into a list or dict, and what is stored in an attribute, is followed in the same way.
A tensor is one that this very function (or the traced function around it) computes or is handed; what was made
elsewhere, a constant of the module or an attribute, may be an eager tensor even in a trace and is not known.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import lt
from typing import Protocol

from .entities import Entity, Key
from .index import AssignmentFact, Block, FileIndex, Scope
from .known import BITS, SYMBOLIC, TENSORISH, Known, joined, merged, merged_bits, value_of
from .lazy import cached_property
from .names import canonical
from .paths import path_of
from .summary import decided
from .unpacking import ANY, ITERATED, Way, ways_to

_STATIC = frozenset(
    {"shape", "dtype", "name", "device", "op", "graph", "ndim", "rank", "get_shape", "_keras_history", "_keras_shape"}
)
_COMPONENTS = frozenset({"values", "indices", "dense_shape", "flat_values", "row_splits"})
"""Attributes of sparse and ragged tensors, and of what some operations return, that are tensors."""
_PLAIN_METHODS = frozenset({"numpy", "get_shape", "eval", "tolist", "item", "consumers", "as_list", "ref", "set_shape"})
_CONVERSIONS = frozenset({"float", "int", "abs", "round", "pow", "divmod"})
"""Builtins that AutoGraph lets give tensors for tensors."""
_SAME = frozenset(
    {
        "list", "tuple", "set", "sorted", "reversed", "iter", "dict", "copy.copy", "copy.deepcopy",
        "tensorflow.nest.flatten", "collections.OrderedDict", "collections.deque", "frozenset",
    }
)  # fmt: skip
"""They give what they are given, in another container."""
_CONTAINERS = frozenset({"collections.defaultdict"})
_GROWING = frozenset({"append", "appendleft", "add", "extend", "insert", "update", "setdefault"})
_PURE_PYTHON = ("numpy.", "scipy.", "math.", "os.", "json.", "logging.", "time.", "random.", "re.", "pandas.", "absl.")
"""What they return is no symbol, whatever they are given."""
_NO_TENSORS = ("numpy.", "six.", "collections.", "typing.", "numbers.", "pathlib.")
"""How the names of types begin, besides those of builtins, of which no tensor is one."""
_MAX_DEPTH = 16

Position = tuple[int, int]


@dataclass(slots=True)
class _Definition:
    """One way in which a name of the function gets its value."""

    position: Position
    """Where it takes effect: the end of the assignment."""
    block: Block | None
    """None for a parameter: it is there from the beginning."""
    fact: AssignmentFact | None
    known: Known | None = None
    """None as long as it was not looked at."""
    number: int = -1
    """Its place among those of the name."""
    put: ast.expr | None = None
    """What is put into a container that the name holds, where this is no assignment to the name itself."""
    spread: bool = False
    """Whether the items of `put` are."""
    scope: Scope | None = None
    """Where that is written."""


class _Values:
    """The definitions of one name: which of them a use can see, and what these say.

    Answers are shared: what can be seen at a place is what can be seen before the last definition, and that one; and
    a block in which nothing is defined sees what the block around it sees. What they say is kept as a sum of bits.
    """

    def __init__(self, index: FileIndex, definitions: list[_Definition]) -> None:
        self._index = index
        self._definitions = sorted(definitions, key=lambda definition: definition.position)
        self._positions = [definition.position for definition in self._definitions]
        for number, definition in enumerate(self._definitions):
            definition.number = number
        self._counts = dict.fromkeys(Known, 0)
        for definition in self._definitions:
            if definition.known is not None:
                self._counts[definition.known] += 1
        self._in_loops: dict[int, dict[Known, int]] = {}
        self._seen: list[dict[int, tuple[int, int]]] = []
        """Of each number of definitions before a place, by its block: their bits, and the number of the nearest one
        that must have run."""

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Where the blocks of the definitions stand in the order of the tree, sorted; and the definitions' numbers."""
        starts = self._index.extents[0]
        pairs = sorted((starts[d.block.id], d.number) for d in self._definitions if d.block is not None)
        return [place for place, _ in pairs], [number for _, number in pairs]

    def settle(self, definition: _Definition, known: Known) -> None:
        """Change what is known of a definition."""
        counters = [self._counts]
        block = definition.block
        if self._in_loops and block is not None:
            counters += [self._in_loops[loop.id] for loop in block.holders() if loop.id in self._in_loops]
        for counts in counters:
            if definition.known is not None:
                counts[definition.known] -= 1
            counts[known] += 1
        definition.known = known
        del self._seen[definition.number + 1 :]

    @property
    def only(self) -> _Definition | None:
        """The definition, where there is just one."""
        return self._definitions[0] if len(self._definitions) == 1 else None

    @cached_property
    def _loops(self) -> list[Block]:
        """The loops around the definitions."""
        blocks = [definition.block for definition in self._definitions if definition.block is not None]
        loops = {level.id: level for block in blocks for level in block.holders() if level.kind == "loop"}
        return list(loops.values())

    def changes_in_a_loop(self, block: Block) -> bool:
        """Whether one of the definitions stands in a loop that does not hold `block`."""
        return any(not self._index.encloses(loop, block) for loop in self._loops)

    def changes_between(self, before: Position, after: Position, block: Block) -> bool:
        """Whether a definition takes effect between two places, on the way to the second, in `block`."""
        between = self._definitions[bisect_right(self._positions, before) : bisect_left(self._positions, after)]
        return any(d.block is None or not self._exclusive(d.block, block) for d in between)

    def agreed(self) -> Known:
        """What all definitions say."""
        return merged_bits(_sum(self._counts))

    def reaching(self, position: Position, block: Block | None) -> Known:
        """What those say that a use at `position` can see; without a block it sees only what always runs."""
        count = bisect_right(self._positions, position)
        bits, nearest = self._before(count, block)
        before = self._definitions[nearest].block if nearest >= 0 else None
        loop: Block | None = None
        for level in block.holders() if block is not None else ():
            if before is not None and self._index.encloses(level, before):
                break
            if level.kind == "loop":
                loop = level
        if loop is not None:  # in the iteration before, all may have run that it holds
            bits |= self._inside(loop)
        return merged_bits(bits)

    def _inside(self, loop: Block) -> int:
        counts = self._in_loops.get(loop.id)
        if counts is None:
            counts = self._in_loops[loop.id] = dict.fromkeys(Known, 0)
            first, end = self._span(loop)
            for number in self._places[1][first:end]:
                known = self._definitions[number].known
                if known is not None:
                    counts[known] += 1
        return _sum(counts)

    def _span(self, block: Block) -> tuple[int, int]:
        places = self._places[0]
        starts, sizes = self._index.extents
        start = starts[block.id]
        return bisect_left(places, start), bisect_left(places, start + sizes[block.id])

    def _defines(self, block: Block, count: int) -> bool:
        """Whether one of the first `count` definitions stands in a block."""
        first, end = self._span(block)
        numbers = self._places[1]
        if first == end:
            return False
        return numbers[first] < count or (not self._in_order and min(numbers[first:end]) < count)

    @cached_property
    def _in_order(self) -> bool:
        """Whether blocks follow each other as definitions do: all but the arms of some expressions do."""
        numbers = self._places[1]
        return all(map(lt, numbers, numbers[1:]))

    def _before(self, count: int, block: Block | None) -> tuple[int, int]:
        """What a use in `block` sees of the first `count` definitions: their bits, and the nearest that surely ran."""
        index = self._index
        while len(self._seen) <= count:
            self._seen.append({})
        path: list[tuple[int, int, int]] = []
        bits, nearest = 0, -1
        while count:
            key = -1 if block is None else block.id
            known = self._seen[count].get(key)
            if known is not None:
                bits, nearest = known
                break
            definition = self._definitions[count - 1]
            where = definition.block
            own = BITS[definition.known]
            if where is None or (where.parent is None if block is None else index.encloses(where, block)):
                bits, nearest = own, count - 1
                break
            if block is None or block.parent is None or index.encloses(block, where):
                path.append((count, key, own))
                count -= 1
                continue
            others = index.other_arms(block)
            if any(index.encloses(arm, where) for arm in others):
                path.append((count, key, 0))
                count -= 1
            elif any(self._defines(one, count) for one in (block, *others)):
                path.append((count, key, 0 if self._exclusive(where, block) else own))
                count -= 1
            else:
                path.append((count, key, 0))
                block = block.parent
        for number, key, own in reversed(path):
            bits |= own
            self._seen[number][key] = bits, nearest
        return bits, nearest

    def _exclusive(self, where: Block, block: Block) -> bool:
        """Whether a block stands in the other arm of an ``if`` around `block`, so that only one of both runs."""
        return any(self._index.encloses(arm, where) for level in block.chain() for arm in self._index.other_arms(level))


def _sum(counts: dict[Known, int]) -> int:
    return sum(BITS[known] for known, count in counts.items() if count)


Given = Callable[[ast.expr], Known]
"""Says what is known of an argument."""


class Surroundings(Protocol):
    """What a flow asks about what lies outside of its function."""

    def entities(self, scope: Scope, path: str | None) -> tuple[Entity, ...]:
        """What a path names in a scope, through the whole project."""

    def kinds(self, key: Key) -> frozenset[str]:
        """The kinds of a class of the project."""

    def returned(self, key: Key, call: ast.Call, given: Given, part: Way, depth: int) -> Known:
        """What is known of what a function of the project returns, or of a part of that."""

    def own(self, function: Scope) -> Key:
        """The key of a function of this file."""

    def method(self, cls: Key, name: str) -> Key | None:
        """The method of that name that instances of a class of the project have."""


class Flow:
    """What is known of the values in one function, or at module level.

    Args:
        index: the facts of the file.
        function: the scope of the function, or the module's.
        around: answers what cannot be seen in the function itself.
        depth: how many calls far it may look for that.
        parameters: what is known of the parameters.
        outer: the flow of the function around this one, where both run in one trace.
    """

    def __init__(
        self,
        index: FileIndex,
        function: Scope,
        around: Surroundings,
        depth: int,
        parameters: Mapping[str, Known],
        outer: Flow | None = None,
    ) -> None:
        self._index = index
        self._function = function
        self._around = around
        self._far = depth
        self._outer = outer
        self._parameters = frozenset(function.parameters)
        self._depth = 0
        self._settled = False
        self._calls: dict[int, Known] = {}
        self._ways: dict[int, dict[int, Way]] = {}
        self._narrowed: dict[int, dict[str, Position]] = {}
        found: dict[tuple[int, str], list[_Definition]] = {}
        for parameter in function.parameters:
            known = parameters.get(parameter, Known.UNKNOWN)
            found[function.id, parameter] = [_Definition((0, 0), None, None, known)]
        for outside in function.outer_names:
            found[function.id, outside] = [_Definition((0, 0), None, None, Known.UNKNOWN)]
        made: list[tuple[_Definition, tuple[int, str]]] = []
        for fact in index.assignments_in(function):
            name = _name_of(fact.target)
            if name is not None:
                key = (fact.scope.id, name)
                if fact.scope is not function and isinstance(fact.target, ast.Attribute):
                    continue
                definition = _Definition(_effective(fact), fact.block, fact, scope=fact.scope)
                if isinstance(fact.target, ast.Attribute) and key not in found:
                    before = self._made_elsewhere(fact.target, fact.scope)
                    found[key] = [_Definition((0, 0), None, None, before)]
                found.setdefault(key, []).append(definition)
                made.append((definition, key))
        for definition, key in self._put_into(found):
            found[key].append(definition)
            made.append((definition, key))
        self._names = {name: _Values(index, definitions) for name, definitions in found.items()}
        self._settle(made)
        self._settled = True

    def _put_into(
        self, found: Mapping[tuple[int, str], list[_Definition]]
    ) -> list[tuple[_Definition, tuple[int, str]]]:
        """What is put into containers: it changes what a name holds, and not which container it is."""
        function = self._function
        made: list[tuple[_Definition, tuple[int, str]]] = []

        def put(holder: ast.expr, whole: ast.AST, block: Block, value: ast.expr, scope: Scope, spread: bool) -> None:
            while isinstance(holder, ast.Subscript):
                holder = holder.value
            key = (function.id, _name_of(holder) or "")
            if key in found:
                end = (getattr(whole, "end_lineno", 0), getattr(whole, "end_col_offset", 0))
                made.append((_Definition(end, block, None, put=value, spread=spread, scope=scope), key))

        for fact in self._index.assignments_in(function):
            value = fact.value or fact.source
            if isinstance(fact.target, ast.Subscript) and value is not None:
                put(fact.target.value, fact.node, fact.block, value, fact.scope, fact.value is None)
        for call in self._index.calls_in(function):
            func = call.node.func
            if isinstance(func, ast.Attribute) and func.attr in _GROWING:
                values = [*call.node.args[-1:], *(keyword.value for keyword in call.node.keywords)]
                for value in values:
                    put(func.value, call.node, call.block, value, call.scope, func.attr == "extend")
        return made

    def _settle(self, made: list[tuple[_Definition, tuple[int, str]]]) -> None:
        """Judge every assignment until nothing changes; one that does not settle is unknown."""
        for _ in range(4):
            changed: list[tuple[_Definition, tuple[int, str]]] = []
            for definition, name in made:
                known = self._defined(definition, name)
                if known is not definition.known:
                    self._names[name].settle(definition, known)
                    changed.append((definition, name))
            if not changed:
                return
        for definition, name in changed:
            self._names[name].settle(definition, Known.UNKNOWN)

    def _defined(self, definition: _Definition, name: tuple[int, str]) -> Known:
        fact = definition.fact
        if fact is None:
            assert definition.put is not None and definition.scope is not None
            way = (ITERATED,) if definition.spread else ()
            item = self._part(definition.put, way, definition.scope, definition.block)
            line, column = definition.position
            before = self._names[name].reaching((line, column - 1), definition.block)
            if before is Known.EMPTY or (before is Known.TENSOR and item is Known.TENSOR):
                return item
            return Known.POSSIBLE if item in TENSORISH and before not in SYMBOLIC else before
        if fact.augmented:
            assert isinstance(fact.target, ast.Name | ast.Attribute)
            before = self._local(fact.target, fact.scope, fact.block) or Known.UNKNOWN
            value = self._of(fact.value, fact.scope, fact.block)
            return value if before is Known.EMPTY else joined((before, value))
        if fact.value is not None:
            known = self._of(fact.value, fact.scope, fact.block)
            return Known.EMPTY if known is Known.OTHER and self._begins(fact, name) else known
        if fact.source is None:
            return Known.UNKNOWN
        return self._part(fact.source, self._way_to(fact), fact.scope, fact.block)

    def _begins(self, fact: AssignmentFact, name: tuple[int, str]) -> bool:
        """Whether a number is the one that a loop begins with, to add to it."""
        return isinstance(fact.value, ast.Constant) and self._names[name].changes_in_a_loop(fact.block)

    # -- expressions -------------------------------------------------------------------------------------------------

    def of(self, node: ast.expr | None, scope: Scope, block: Block | None = None) -> Known:
        """What is known of an expression in `scope`, which is this function or a comprehension in it.

        `block` is the one that the expression stands in; without it, only what always runs is believed.
        """
        known = self._of(node, scope, block)
        return Known.OTHER if known is Known.EMPTY else known

    def returned(self, part: Way) -> Known:
        """What is known of a part of what the function returns; unknown where it returns nothing."""
        node = self._function.node
        if isinstance(node, ast.Lambda):
            return self._part(node.body, part, self._function, None)
        facts = self._index.returns_in(self._function)
        return merged(self._part(fact.value, part, fact.scope, fact.block) for fact in facts)

    def _of(self, node: ast.expr | None, scope: Scope, block: Block | None) -> Known:
        if node is None:
            return Known.UNKNOWN
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.Lambda):
            return Known.OTHER
        if isinstance(node, ast.Name):
            return self._name(node, scope, block)
        if isinstance(node, ast.Call):
            return self._call(node, (), scope, block)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope, block)
        if isinstance(node, ast.BinOp):
            return self._operation(node, scope, block)
        if isinstance(node, ast.UnaryOp):
            known = self._of(node.operand, scope, block)
            return Known.TENSOR if known is Known.VARIABLE else known
        if isinstance(node, ast.Compare):
            values = (node.left, *node.comparators)
            if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops) or any(
                isinstance(value, ast.Constant) and value.value is None for value in values
            ):
                return Known.OTHER
            return joined(self._operand(value, scope, block) for value in values)
        if isinstance(node, ast.IfExp):
            return merged((self._of(node.body, scope, block), self._of(node.orelse, scope, block)))
        if isinstance(node, ast.BoolOp):
            return merged(self._of(value, scope, block) for value in node.values)
        if isinstance(node, ast.NamedExpr | ast.Starred):
            return self._of(node.value, scope, block)
        if isinstance(node, ast.Subscript):
            known = self._part(node.value, (_key_of(node.slice),), scope, block)
            return Known.TENSOR if known is Known.VARIABLE and self._is_a_variable(node.value, scope) else known
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return merged(self._of(item, scope, block) for item in node.elts) if node.elts else Known.EMPTY
        if isinstance(node, ast.Dict):
            return merged(self._of(value, scope, block) for value in node.values) if node.values else Known.EMPTY
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self._of(node.elt, self._index.comprehension_scope(node), block)
        if isinstance(node, ast.DictComp):
            return self._of(node.value, self._index.comprehension_scope(node), block)
        return Known.UNKNOWN

    def _operation(self, node: ast.BinOp, scope: Scope, block: Block | None) -> Known:
        """A sum of a thousand terms is a chain on its left side: walk it."""
        operands: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            if isinstance(left.op, ast.Mod) and _is_text(left.left):
                return Known.OTHER  # formatting
            operands.append(left.right)
            left = left.left
        operands.append(left)
        known = [self._operand(operand, scope, block) for operand in operands]
        if any(isinstance(operand, ast.List | ast.Tuple) for operand in operands):
            return merged(known)  # lists are put together
        return joined(known)

    def _operand(self, node: ast.expr, scope: Scope, block: Block | None) -> Known:
        """What an operand does to an operation: with an eager tensor, too, it gives a tensor of the trace."""
        known = self._of(node, scope, block)
        if known is Known.UNKNOWN and isinstance(node, ast.Name | ast.Attribute) and self._has_one_value(node, scope):
            return self._public_value(node, scope)
        return known

    def _has_one_value(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a name, and the one that it is a part of, gets its value in one place."""
        for _ in range(_MAX_DEPTH):
            values = self._values_of(_name_of(node) or "", scope)
            if values is None:
                return True
            if values.only is None:
                return False
            fact = values.only.fact
            source = fact.source if fact is not None else None
            if not isinstance(source, ast.Name | ast.Attribute):
                return True
            node = source
        return False

    def _name(self, node: ast.Name, scope: Scope, block: Block | None) -> Known:
        known = self._local(node, scope, block)
        if known is not None:
            return known
        if self._outer is not None and (known := self._outer.anywhere(node.id)) is not Known.UNKNOWN:
            return known
        return self._made_elsewhere(node, scope)

    def anywhere(self, name: str) -> Known:
        """What is known of a name of this function for a function inside it, which may run at any time."""
        values = self._names.get((self._function.id, name))
        if values is not None:
            return values.agreed()
        return self._outer.anywhere(name) if self._outer is not None else Known.UNKNOWN

    def _values_of(self, name: str, scope: Scope) -> _Values | None:
        """The values of a name of this function or of a comprehension in it."""
        current: Scope | None = scope
        while current is not None and current is not self._function:
            own = self._names.get((current.id, name))
            if own is not None:
                return own
            current = current.parent
        return self._names.get((self._function.id, name))

    def _local(self, node: ast.Name | ast.Attribute, scope: Scope, block: Block | None) -> Known | None:
        """What the assignments of this function say of a name; None where it is not the function's own."""
        name = _name_of(node)
        current: Scope | None = scope
        while current is not None and current is not self._function:
            own = self._names.get((current.id, name or ""))
            if own is not None:  # a variable of a comprehension
                return own.agreed()
            current = current.parent
        values = self._names.get((self._function.id, name or ""))
        if values is None:
            return None
        place = (node.lineno, node.col_offset)
        known = values.reaching(place, block)
        if known in TENSORISH and known is not Known.VARIABLE and block is not None:
            asked = block.inherited(self._narrowed, {}, self._narrow).get(name or "")
            if asked is not None and not values.changes_between(asked, place, block):
                return Known.OTHER
        return known

    def _narrow(self, level: Block, around: dict[str, Position]) -> dict[str, Position]:
        """The names that are no tensors in a block, because their types were asked for, and where that was."""
        if level.kind == "loop":
            return {}  # what is assigned at the end of its body comes back to the beginning
        if level.kind not in ("if", "else") or not isinstance(level.node, ast.expr):
            return around
        found = {
            name: (test.lineno, test.col_offset)
            for test, holds in decided(level.node, level.kind == "if")
            if (name := self._no_tensor(test, holds, level.scope)) is not None
        }
        return around | found if found else around

    def _no_tensor(self, test: ast.expr, holds: bool, scope: Scope) -> str | None:
        """The name that is no tensor where a test `holds`, as ``isinstance(x, list)``, or does not."""
        if not isinstance(test, ast.Call) or not test.args:
            return None
        names = self._names_of(test.func, scope)
        if names == ["tensorflow.is_tensor"] and not holds:
            return _name_of(test.args[0])
        if names != ["isinstance"] or len(test.args) != 2:
            return None
        types = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        asked = [self._names_of(kind, scope) for kind in types]
        if holds:
            is_none = all(found and all(map(self._is_no_tensor, found)) for found in asked)
        else:
            is_none = ["tensorflow.Tensor"] in asked
        return _name_of(test.args[0]) if is_none else None

    @staticmethod
    def _is_no_tensor(name: str) -> bool:
        """Whether no tensor is an instance of a type."""
        return name.startswith(_NO_TENSORS) or ("." not in name and name != "object")

    def _names_of(self, node: ast.expr, scope: Scope) -> list[str]:
        found = self._around.entities(scope, path_of(node))
        return [canonical(entity.text) for entity in found if entity.kind == "external"]

    def _attribute(self, node: ast.Attribute, scope: Scope, block: Block | None) -> Known:
        stored = self._local(node, scope, block)
        if stored is not None:
            return stored
        base = self._of(node.value, scope, block)
        if base in TENSORISH:
            if node.attr in _STATIC:
                return Known.OTHER
            if node.attr in _COMPONENTS:
                return Known.TENSOR if base is Known.TENSOR else Known.POSSIBLE
            return Known.UNKNOWN
        if base is Known.OTHER:
            return Known.UNKNOWN
        return self._made_elsewhere(node, scope)

    def _made_elsewhere(self, node: ast.Attribute | ast.Name, scope: Scope) -> Known:
        """What was made outside of the function: a variable is one anywhere, a tensor may be an eager one."""
        found = self._public_value(node, scope)
        return found if found in (Known.VARIABLE, Known.POSSIBLE) else Known.UNKNOWN

    def _public_value(self, node: ast.expr, scope: Scope) -> Known:
        """What a public name says that an expression stands for, wherever that was made."""
        return merged(
            value_of(canonical(entity.text)) if entity.kind == "external" else Known.UNKNOWN
            for entity in self._around.entities(scope, path_of(node))
        )

    def _is_a_variable(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is a single variable, and no list of them."""
        made = all(entity.text.endswith("()") for entity in self._around.entities(scope, path_of(node)))
        return made and self._public_value(node, scope) is Known.VARIABLE

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, part: Way, scope: Scope, block: Block | None) -> Known:
        """What a call gives, or a part of that."""
        if not self._settled or part:
            return self._called(node, part, scope, block)
        known = self._calls.get(id(node))
        if known is None:
            known = self._calls[id(node)] = self._called(node, part, scope, block)
        return known

    def _called(self, node: ast.Call, part: Way, scope: Scope, block: Block | None) -> Known:
        func = node.func
        if isinstance(func, ast.Attribute):
            receiver = self._of(func.value, scope, block)
            if func.attr in _PLAIN_METHODS:
                known = func.attr == "numpy" or receiver in TENSORISH
                return Known.OTHER if known else Known.UNKNOWN
            if receiver is Known.VARIABLE and func.attr in ("read_value", "value"):
                return Known.TENSOR
            if receiver is Known.OTHER and func.attr in ("format", "join"):
                return Known.OTHER
            if func.attr in ("values", "items", "get", "pop", "copy") and receiver in (*TENSORISH, Known.EMPTY):
                return self._of_container(func, part, scope, block)
        if isinstance(func, ast.Lambda):
            key = self._around.own(self._index.lambda_scope(func))
            return self._around.returned(key, node, lambda value: self.of(value, scope, block), part, self._far)
        entities = self._around.entities(scope, path_of(func))
        if not entities:
            return self._by_unknown(node, scope, block, isinstance(func, ast.Name | ast.Subscript))
        return merged(self._given_by(entity, node, part, scope, block) for entity in entities)

    def _of_container(self, func: ast.Attribute, part: Way, scope: Scope, block: Block | None) -> Known:
        """What the methods of a dict give of its values."""
        inner: Way = part
        if func.attr in ("items", "values"):
            if func.attr == "items" and len(part) > 1:
                if part[1] == 0:
                    return Known.OTHER
                inner = part[2:]
            elif func.attr == "values" and part:
                inner = part[1:]
            inner = (ANY, *inner) if part else ()
        elif func.attr in ("get", "pop"):
            inner = (ANY, *part)
        return self._part(func.value, inner, scope, block)

    def _given_by(self, entity: Entity, node: ast.Call, part: Way, scope: Scope, block: Block | None) -> Known:
        """What calling something gives."""

        def given(value: ast.expr, /) -> Known:
            return self.of(value, scope, block)

        if entity.kind == "external":
            return self._public(canonical(entity.text), node, part, scope, block)
        if entity.kind == "function":
            return self._around.returned(entity.key, node, given, part, self._far)
        if entity.kind == "instance":
            if self._around.kinds(entity.key) & {"layer", "loss", "metric"}:
                return Known.TENSOR
            method = self._around.method(entity.key, "__call__")
            if method is not None:
                return self._around.returned(method, node, given, part, self._far)
            return Known.UNKNOWN
        if entity.kind == "parameter":
            return self._by_unknown(node, scope, block, "." not in entity.text)
        return Known.UNKNOWN

    def _by_unknown(self, node: ast.Call, scope: Scope, block: Block | None, is_object: bool) -> Known:
        """What something unknown makes of tensors: an object, such as a model that was handed over, gives tensors."""
        given = joined(self._of(value, scope, block) for value in _arguments(node))
        if given not in TENSORISH:
            return Known.UNKNOWN
        return Known.LIKELY if is_object and given in SYMBOLIC else Known.POSSIBLE

    def _public(self, name: str, node: ast.Call, part: Way, scope: Scope, block: Block | None) -> Known:
        arguments = [*_arguments(node)]
        first = arguments[0] if arguments else None
        if name in _CONVERSIONS:
            known = self._of(first, scope, block)
            return Known.TENSOR if known is Known.VARIABLE else known if known in TENSORISH else Known.OTHER
        if name in ("sum", "max", "min", "any", "all"):
            parts = (self._part(value, (ITERATED,), scope, block) for value in arguments[:1])
            wholes = (self._of(value, scope, block) for value in arguments[1:])
            return joined((*parts, *wholes))
        if name == "next":
            return self._part(first, (ITERATED, *part), scope, block)
        if name == "zip":
            if len(part) > 1 and isinstance(part[1], int) and part[1] < len(arguments):
                return self._part(arguments[part[1]], (part[0], *part[2:]), scope, block)
            return merged(self._part(value, (ITERATED,), scope, block) for value in arguments)
        if name == "enumerate":
            if part[1:2] == (0,):
                known = self._part(first, (ITERATED,), scope, block)
                return Known.UNKNOWN if known in TENSORISH and not isinstance(first, ast.Call) else Known.OTHER
            return self._part(first, (ITERATED, *part[2:]), scope, block)
        if name in _CONTAINERS:
            return Known.EMPTY
        if name in ("six.iteritems", "six.itervalues") and isinstance(first, ast.expr):
            method = ast.Attribute(first, name.removeprefix("six.iter"), ast.Load())
            return self._of_container(method, part, scope, block)
        if name in _SAME:
            if first is None:
                return Known.EMPTY
            if node.keywords:
                return merged(self._of(value, scope, block) for value in arguments)
            return self._part(first, (part[0] if part else ITERATED, *part[1:]), scope, block)
        if name == "tensorflow.nest.map_structure" and first is not None:
            return self._called(ast.Call(first, node.args[1:], []), (), scope, block)
        known = value_of(f"{name}()")
        if known is Known.UNKNOWN and not name.startswith(_PURE_PYTHON) and "." in name:
            if not name.startswith(("tensorflow.", "keras.")):
                return self._by_unknown(node, scope, block, name.endswith("()"))
        return known

    # -- parts -------------------------------------------------------------------------------------------------------

    def _part(self, node: ast.expr | None, way: Way, scope: Scope, block: Block | None) -> Known:
        """What is known of a part of a value."""
        if not way or node is None:
            return self._of(node, scope, block)
        if self._depth > _MAX_DEPTH:
            return Known.UNKNOWN
        self._depth += 1
        try:
            return self._part_of(node, way, scope, block)
        finally:
            self._depth -= 1

    def _part_of(self, node: ast.expr, way: Way, scope: Scope, block: Block | None) -> Known:
        first, rest = way[0], way[1:]
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            whole = [item for item in node.elts if not isinstance(item, ast.Starred)]
            if len(whole) == len(node.elts) and isinstance(first, int) and -len(whole) <= first < len(whole):
                return self._part(whole[first], rest, scope, block)
            spread = [item.value for item in node.elts if isinstance(item, ast.Starred)]
            parts = [self._part(item, rest, scope, block) for item in whole]
            return merged([*parts, *(self._part(item, (ANY, *rest), scope, block) for item in spread)])
        if isinstance(node, ast.Dict):
            if first is ITERATED:
                return merged(self._part(key, rest, scope, block) for key in node.keys)
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == first:
                    return self._part(value, rest, scope, block)
            return merged(self._part(value, rest, scope, block) for value in node.values)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self._part(node.elt, rest, self._index.comprehension_scope(node), block)
        if isinstance(node, ast.DictComp):
            value = node.key if first is ITERATED else node.value
            return self._part(value, rest, self._index.comprehension_scope(node), block)
        if isinstance(node, ast.IfExp):
            return merged((self._part(node.body, way, scope, block), self._part(node.orelse, way, scope, block)))
        if isinstance(node, ast.Subscript):
            return self._part(node.value, (_key_of(node.slice), *way), scope, block)
        if isinstance(node, ast.Name):
            values = self._values_of(node.id, scope)
            only = values.only if values is not None else None
            fact = only.fact if only is not None else None
            if fact is not None and not fact.augmented:
                if fact.value is not None:
                    return self._part(fact.value, way, fact.scope, fact.block)
                if fact.source is not None:
                    return self._part(fact.source, (*self._way_to(fact), *way), fact.scope, fact.block)
        if self._is_dataset(node, scope) and first is ITERATED:
            return Known.TENSOR
        known = self._call(node, way, scope, block) if isinstance(node, ast.Call) else self._of(node, scope, block)
        if known is Known.TENSOR and first is ITERATED:
            if isinstance(node, ast.Name) and node.id in self._parameters:
                return Known.UNKNOWN  # iterating over a parameter may give the keys of a dict
        return Known.UNKNOWN if known is Known.EMPTY else known

    def _way_to(self, fact: AssignmentFact) -> Way:
        """The way from what is unpacked or iterated to the target."""
        ways = self._ways.get(id(fact.node))
        if ways is None:
            ways = self._ways[id(fact.node)] = ways_to(fact.node)
        return ways.get(id(fact.target), (ANY,))

    def _is_dataset(self, node: ast.expr, scope: Scope) -> bool:
        entities = self._around.entities(scope, path_of(node))
        return bool(entities) and all(
            entity.kind == "external" and canonical(entity.text).startswith("tensorflow.data.") and "(" in entity.text
            for entity in entities
        )


def _arguments(node: ast.Call) -> Iterator[ast.expr]:
    for value in node.args:
        yield value.value if isinstance(value, ast.Starred) else value
    for keyword in node.keywords:
        yield keyword.value


def _key_of(node: ast.expr) -> object:
    """The step to the item that a subscript takes."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    constant = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(constant, ast.Constant) and isinstance(constant.value, int | str):
        return -constant.value if negative and isinstance(constant.value, int) else constant.value
    return ANY


def _name_of(node: ast.expr) -> str | None:
    """The name under which a value is kept in a function: ``x``, ``self.x``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _effective(fact: AssignmentFact) -> Position:
    """A name has its new value after the whole assignment, in a ``for`` or ``with`` after the target."""
    whole = isinstance(fact.node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr)
    node = fact.node if whole else fact.target
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
