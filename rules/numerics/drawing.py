"""How often an object that begins weights is asked for numbers: followed through names, attributes and functions."""

from __future__ import annotations

import ast
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ...linter.rule_api.model import Assignment, Call, File, Location, Reference, Scope, Site, canonical, path_of
from ..keras.strategies import callee_of

_DEEPEST = 12
_MOST = 20
"""Places of one function that are held against one another."""
_FURTHEST = 200
"""Functions that run one another."""
_MAKERS = ("__init__", "build")
_COPIED = frozenset({"Bidirectional", "GroupQueryAttention", "GroupedQueryAttention", "MultiHeadAttention"})
"""Layers that make an initializer of their own by the settings of the one that they are given [run]."""
_SWITCHES = {
    "bias_initializer": "use_bias", "beta_initializer": "center", "gamma_initializer": "scale",
}  # fmt: skip
"""What decides, with True as its default, whether there is a weight to begin."""
_FLAT = frozenset({*_SWITCHES, "moving_mean_initializer", "moving_variance_initializer"})
_CHANGES = frozenset({"clear", "pop", "popitem", "setdefault", "update"})


class Use(NamedTuple):
    """A place that begins a weight, or more than one, each time that it runs."""

    site: Site
    many: bool
    told: tuple[Location, ...]
    flat: bool = False
    """Whether the weight has one dimension, which the kernel of the same layer has not."""


class _Held(NamedTuple):
    """What stands for the object: itself, a dict that has it under a key, or a function that gives it as an argument.

    The last two have the `word`, and the function the `target` that is called in the end.
    """

    word: str = ""
    target: Call | None = None


_ITSELF = _Held()


class Shared(NamedTuple):
    """What is known of the weights that one object begins."""

    told: tuple[Location, ...]
    """Where it surely begins more than one; empty where it may be one."""
    in_one_layer: bool = False
    """Whether these are a layer's kernel and its bias, and no others."""
    reached: frozenset[int] = frozenset()
    """The functions and classes that surely begin one."""


def uses_of(made: Call) -> Shared:
    """Where an object that a call makes begins weights."""
    return _spread(made, made.scope.function(), _followed(made.call, made, _ITSELF, 0))


# -- where an object goes ------------------------------------------------------------------------------------------


def _followed(node: ast.expr, at: Site, held: _Held, depth: int) -> Iterator[Use]:
    """What becomes of the value of an expression."""
    file, parent = at.file, at.file.parent_of(node)
    if depth > _DEEPEST:
        return
    if isinstance(parent, ast.keyword):
        around = file.parent_of(parent)
        call = file.call_at(around) if isinstance(around, ast.expr) else None
        if call is not None:
            yield from _as_keyword(call, parent.arg, held, depth + 1)
    elif isinstance(parent, ast.Call):
        call = file.call_at(parent)
        if call is not None:
            yield from _as_part(call, node, held, depth + 1)
    elif isinstance(parent, ast.Assign | ast.AnnAssign) and parent.value is node:
        for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
            yield from _kept(target, at, held, depth + 1)
    elif isinstance(parent, ast.Dict) and held is _ITSELF:
        for key, value in zip(parent.keys, parent.values, strict=True):
            if value is node and isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from _followed(parent, at, _Held(key.value), depth + 1)
    elif _hands_on(parent, node) and isinstance(parent, ast.expr):
        yield from _followed(parent, at, held, depth + 1)
    elif isinstance(parent, ast.arguments):
        yield from _as_default(parent, node, at.file, held)


def _as_keyword(call: Call, word: str | None, held: _Held, depth: int) -> Iterator[Use]:
    if word is None:
        if held.word and held.target is None and held.word not in call.keywords:
            yield from _as_argument(call, call, held.word, None)
    elif held is _ITSELF and {name.canonical for name in call.names} == {"dict"}:
        yield from _followed(call.call, call, _Held(word), depth)
    elif held is _ITSELF and _is_partial(call):
        yield from _followed(call.call, call, _Held(word, call), depth)
    elif held is _ITSELF:
        yield from _as_argument(call, call, word, None)
    elif not held.target and (callee := callee_of(call)) is not None and word in callee.parameters:
        yield from _given(call, callee, word, held)


def _as_part(call: Call, node: ast.expr, held: _Held, depth: int) -> Iterator[Use]:
    """As what is called, or as an argument by its place."""
    if call.call.func is node:
        if held is _ITSELF:
            yield _use(call)
        elif held.target is not None and held.word not in call.keywords:
            yield from _as_argument(held.target, call, held.word, None)
    elif {name.canonical for name in call.names} == {"keras.initializers.get"}:
        yield from _followed(call.call, call, held, depth)
    elif held.target is None and not any(isinstance(one, ast.Starred) for one in call.call.args):
        yield from _as_argument(call, call, "", call.call.args.index(node), held)


def _as_argument(
    called: Call, at: Call, word: str, position: int | None, held: _Held = _ITSELF
) -> Iterator[Use]:
    """What becomes of an argument of what is called, by `called` or by what that has made of it, at a place."""
    partial = called.call.args[0] if called is not at and called.call.args else None
    layer = _layer_of(called, partial)
    if layer or (partial is None and _adds_weight(called)):
        begins = _begins(layer, word, called, at) if layer else word == "initializer"
        if begins and held is _ITSELF and not _is_copied(at, layer):
            yield _use(at, flat=word in _FLAT if layer else _is_flat(at.value("shape", 0)) or _is_flat(at.value("", 1)))
        return
    callee = callee_of(called) if partial is None else _function_at(called, partial)
    if callee is None or not isinstance(callee.node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    arguments = callee.node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    if position is not None:
        bound = callee.owner() is not None and not callee.decorators
        parameter = names[position + bound] if position + bound < len(names) else ""
        if parameter:
            yield from _given(at, callee, parameter, held)
    elif word in names or word in [one.arg for one in arguments.kwonlyargs]:
        yield from _given(at, callee, word, held)
    elif arguments.kwarg is not None:
        yield from _given(at, callee, arguments.kwarg.arg, _Held(word))


def _given(at: Call, callee: Scope, parameter: str, held: _Held) -> Iterator[Use]:
    often = _per_call(at.file, callee, parameter, held)[0]
    if often:
        yield _use(at, often > 1)


def _as_default(arguments: ast.arguments, node: ast.expr, file: File, held: _Held) -> Iterator[Use]:
    """What a parameter begins in the calls that leave it to its default."""
    around = file.parent_of(arguments)
    scope = file.index.scope_of(around) if around is not None else None
    if scope is None or held is not _ITSELF:
        return
    parameter = next((name for name, given in file.function_of(scope).defaults.items() if given is node), "")
    often, told = _per_call(file, scope, parameter, held)
    calls = [*_callers(file).get(scope.id, [])]
    for cls in _names(file).made_with.get(scope.id, []) if scope.name == "__init__" else []:
        calls += _callers(file).get(cls.id, [])
    left = [call for call in calls if not call.has_stars and call.given_to(scope, parameter) is None]
    if often > 1 and (left or not calls):
        yield Use(_header(file, scope, scope.parent or scope), True, told)
    elif often:
        yield from map(_use, left)


def _header(file: File, scope: Scope, within: Scope) -> Site:
    """The place of a function's definition."""
    assert scope.defined_in is not None
    return Site(file, scope.node, within, scope.defined_in)


def _kept(target: ast.expr, at: Site, held: _Held, depth: int) -> Iterator[Use]:
    """What is begun by what a name or an attribute of the instance holds."""
    names = _names(at.file)
    assignment = names.by_target.get(id(target))
    if assignment is None:
        return
    if isinstance(target, ast.Name):
        home = at.file.index.lookup(at.scope, target.id)
        if home is not None and home[0].kind == "class":
            yield from _kept_by_class(home[0], target.id, assignment, held, depth)
        if home is not None:
            yield from _read(home[0], target.id, assignment, at.file, held, depth)
    elif isinstance(target, ast.Attribute) and assignment.owner is not None:
        yield from _kept_by_class(assignment.owner.body, target.attr, assignment, held, depth)


def _kept_by_class(cls: Scope, attribute: str, made: Assignment, held: _Held, depth: int) -> Iterator[Use]:
    file, names = made.file, _names(made.file)
    family = names.below.get(cls.id, [cls.id])
    if any(one is not made for sub in family for one in names.attributes.get((sub, attribute), [])):
        return
    bases = [key[1] for key in file.project.mro((file.key, cls.id))[0] if key[0] == file.key]
    if any(one is not made for base in bases for one in names.attributes.get((base, attribute), [])):
        return
    lasts = made.scope.kind == "class" or (made.function is not None and made.function.name in _MAKERS)
    for sub in family:
        for read in names.of_self.get((sub, attribute), []):
            if read.scope.function() is made.scope.function():
                if read.line > made.line and not made.excludes(read):
                    yield from _followed(_node(read), read, held, depth)
            elif lasts:
                yield from _followed(_node(read), read, held, depth)


def _read(
    home: Scope, name: str, made: Assignment | None, file: File, held: _Held, depth: int
) -> Iterator[Use]:
    names, key = _names(file), (home.id, name)
    reads = names.reads.get(key, [])
    if any(bind.kind in ("import", "scope") for bind in islice(home.binds.get(name, ()), _MOST)):
        return
    if held.word and held.target is None and _is_changed(file, home, name, reads):
        return
    if len(names.assigned.get(key, ())) > _MOST:
        reads = _near(reads, 0 if made is None else made.line, names.lines[key])
    for read in reads:
        if read.path == name and _reaches(home, name, made, read):
            yield from _followed(_node(read), read, held, depth)


def _near(reads: list[Reference], line: int, assigned: list[int]) -> list[Reference]:
    """The reads after a line, and before so many assignments that nothing is sure any more."""
    after = bisect_right(assigned, line) + _MOST
    end = assigned[after] if after < len(assigned) else math.inf
    return reads[bisect_right(reads, line, key=_line) : bisect_left(reads, end, key=_line)]


def _line(site: Site) -> int:
    return site.line


def _is_changed(file: File, home: Scope, name: str, reads: list[Reference]) -> bool:
    """Whether a dict is changed, or may be."""
    return (home.id, name) in _names(file).items or any(
        (read.path or "").rpartition(".")[::2] in [(name, change) for change in _CHANGES] for read in reads
    )


def _reaches(home: Scope, name: str, made: Assignment | None, read: Reference) -> bool:
    """Whether a name surely holds, where it is read, what an assignment or a call has given it, if that ran."""
    others = _names(read.file).assigned.get((home.id, name), [])
    if read.scope.function() is not home.function():
        given = made is None or _is_parameter(home, name)
        return len(others) == (made is not None) and given == (made is None)
    begin = 0 if made is None else made.line
    if made is not None and (read.line <= begin or made.excludes(read)):
        return False
    lines = _names(read.file).lines[home.id, name] if others else []
    inner = [loop for loop in read.loops if made is None or all(loop is not one for one in made.loops)]
    end = max([read.line, *((getattr(loop, "end_lineno", 0) or 0) + 1 for loop in inner)])
    between = others[bisect_right(lines, begin) : bisect_left(lines, end)]
    if len(between) > _MOST:
        return False
    return all(
        one is made or (made is not None and made.excludes(one)) or _is_for_none(one, name) or one.node is read.syntax
        for one in between
    )


def _is_parameter(scope: Scope, name: str) -> bool:
    arguments = getattr(scope.node, "args", None)
    packed = arguments.kwarg if isinstance(arguments, ast.arguments) else None
    return name in scope.parameters or (packed is not None and packed.arg == name)


def _is_for_none(assignment: Assignment, name: str) -> bool:
    """Whether an assignment runs only where the name holds None."""
    return any(level.kind == "if" and _tests(level.node, name) is True for level in assignment.block.chain())


def _tests(test: ast.AST, name: str) -> bool | None:
    """Whether a test holds for None and for no object; False where it is the other way round."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name):
        return True if test.operand.id == name else None
    if isinstance(test, ast.Name):
        return False if test.id == name else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        compared = test.comparators[0]
        if test.left.id == name and isinstance(compared, ast.Constant) and compared.value is None:
            return {ast.Is: True, ast.Eq: True, ast.IsNot: False, ast.NotEq: False}.get(type(test.ops[0]))
    return None


def _hands_on(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether an expression has the value of a part of it, if that is an object."""
    if isinstance(parent, ast.BoolOp):
        return isinstance(parent.op, ast.Or) and parent.values[0] is node
    if isinstance(parent, ast.IfExp) and isinstance(node, ast.Name):
        return _tests(parent.test, node.id) is (parent.orelse is node) and parent.test is not node
    return False


# -- what begins a weight ------------------------------------------------------------------------------------------


def _use(site: Site, many: bool = False, flat: bool = False) -> Use:
    return Use(site, many, (site.location("begins weights here" if many else "begins a weight here"),), flat)


def _is_partial(call: Call) -> bool:
    return {name.canonical for name in call.names} == {"functools.partial"} and bool(call.call.args)


def _layer_of(call: Call, node: ast.expr | None) -> str:
    """The layer of Keras that is made, itself or as what a class of the file without a constructor is."""
    if node is None and call.method == "__init__" and _is_super(call.receiver):
        return _layer_among(call.cls.public_bases) if call.cls is not None else ""
    path = call.path if node is None else path_of(node)
    found = call.entities(path)
    names = {name.canonical for name in call.file.names(call.scope, path)}
    if len(names) == 1 and all(one.kind == "external" for one in found):
        return _layer_among(tuple(names))
    if node is None and len(call.found) == 1 and call.found[0].kind == "class" and callee_of(call) is None:
        bases, public = call.file.project.mro(call.found[0].key)
        if all(key[0] == call.file.key for key in bases):
            return _layer_among(tuple(map(canonical, public)))
    return ""


def _layer_among(names: tuple[str, ...]) -> str:
    for name in names:
        package, _, last = name.rpartition(".")
        if package.startswith("keras.layers") and "(" not in name and last != "Layer":
            return last
    return ""


def _is_flat(shape: ast.expr | None) -> bool:
    return isinstance(shape, ast.List | ast.Tuple) and len(shape.elts) == 1


def _is_super(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _adds_weight(call: Call) -> bool:
    if call.method not in ("add_weight", "add_variable") or not isinstance(call.receiver, ast.Name):
        return False
    cls = call.class_of_self(call.receiver.id)
    return cls is not None and cls.is_keras


def _begins(layer: str, word: str, *calls: Call) -> bool:
    """Whether a layer surely begins a weight by an argument."""
    if not word.endswith("_initializer") or layer in _COPIED:
        return False
    if word == "kernel_initializer" and layer.startswith(("Depthwise", "Separable")):
        return False
    if layer == "EinsumDense" and word == "bias_initializer":
        return any("bias_axes" in call.keywords for call in calls)
    switch = _SWITCHES.get(word)
    return switch is None or all(call.literal(switch, default=True) is True or _is_open(call, switch) for call in calls)


def _is_open(call: Call, switch: str) -> bool:
    """Whether only a dict of arguments may hold it: then it says so rarely."""
    return call.value(switch) is None


def _is_copied(call: Call, layer: str) -> bool:
    """Whether a layer is given to one that copies it by its settings."""
    if not layer.endswith(("GRU", "LSTM", "RNN", "1D", "2D", "3D")):
        return False
    found = [_wrapper(call.file, call.call)]
    for path in call.assigned_to:
        home = call.file.index.lookup(call.scope, path)
        reads = _names(call.file).reads.get((home[0].id, path), []) if home is not None else []
        found += [_wrapper(call.file, _node(read)) for read in islice(reads, _MOST)]
    return any(one is not None and "keras.layers.Bidirectional" in [n.canonical for n in one.names] for one in found)


def _wrapper(file: File, node: ast.expr) -> Call | None:
    parent = file.parent_of(node)
    if isinstance(parent, ast.keyword):
        parent = file.parent_of(parent)
    return file.call_at(parent) if isinstance(parent, ast.expr) else None


def _function_at(call: Call, node: ast.expr) -> Scope | None:
    found = call.entities(node.id) if isinstance(node, ast.Name) else ()
    if len(found) == 1 and found[0].kind == "function" and found[0].file == call.file.key:
        return call.file.index.scopes[found[0].scope]
    return None


# -- how often that is ---------------------------------------------------------------------------------------------


def _per_call(file: File, function: Scope, parameter: str, held: _Held) -> tuple[int, tuple[Location, ...]]:
    """How many weights a call of a function begins by a parameter, where two stand for more, and where."""
    known: dict[tuple[int, str, str], tuple[int, tuple[Location, ...]]]
    known = file.once("weights by parameters", dict)
    key = (function.id, parameter, held.word)
    if key not in known:
        known[key] = (0, ())
        if held.target is None and parameter:
            reads = _read(function, parameter, None, file, held, 0)
            found = _spread(_header(file, function, function), function, reads)
            is_maker = function.owner() is not None and function.name in _MAKERS
            is_begun = function.id in found.reached or (is_maker and bool(found.reached))
            is_many = bool(found.told) and not found.in_one_layer
            known[key] = (2 if is_many else int(is_begun), found.told)
    return known[key]


def _spread(made: Site, home: Scope, uses: Iterator[Use]) -> Shared:
    """How often weights are begun in the life of what `made` is."""
    file, here = made.file, dict[int, list[Use]]()
    kernel_and_bias: tuple[Location, ...] = ()
    for use in uses:
        waiting = [(use.site.scope.function(), use)]
        while waiting:
            scope, one = waiting.pop()
            among = here.setdefault(scope.id, [])
            if one.many or _repeats(one.site, made if scope is home else None):
                return Shared(one.told)
            for other in among if len(among) < _MOST else ():
                if other.flat != one.flat and (other.site.syntax is one.site.syntax or _add_both(other, one)):
                    kernel_and_bias = kernel_and_bias or (*other.told, *one.told)
                elif not _excludes(other.site, one.site):
                    return Shared((*other.told, *one.told))
            if len(among) < _MOST and len(here) < _FURTHEST:
                among.append(one)
                if len(among) == 1:
                    waiting += _callers_of(file, scope, home, one)
    return Shared(kernel_and_bias, bool(kernel_and_bias), frozenset(here))


def _add_both(*uses: Use) -> bool:
    return all(isinstance(use.site, Call) and _adds_weight(use.site) for use in uses)


def _callers_of(file: File, scope: Scope, home: Scope, use: Use) -> Iterator[tuple[Scope, Use]]:
    """The places that run a function within the life of what is made in another one."""
    lasts = not home.is_function
    inside = scope is not home and any(one is home for one in scope.chain())
    for call in _callers(file).get(scope.id, []):
        of_self = scope.is_function and call.receiver is not None and (
            _is_super(call.receiver)
            or (scope is not home and isinstance(call.receiver, ast.Name) and call.class_of_self(call.receiver.id))
        )
        if lasts or inside or of_self:
            caller = call.scope.function()
            yield caller, Use(call, False, (*use.told, call.location(f"runs `{scope.name}`")))
    if scope.kind == "class":
        return
    for cls in _names(file).made_with.get(scope.id, []):
        yield cls, Use(_header(file, scope, cls), False, use.told)


def _repeats(site: Site, made: Site | None) -> bool:
    """Whether a loop runs a place more than once for an object that is made once."""
    outside = [] if made is None else made.loops
    return any(all(loop is not one for one in outside) and not _is_one_turn(loop) for loop in site.loops)


def _is_one_turn(loop: ast.AST) -> bool:
    turns = getattr(loop, "iter", None)
    if isinstance(turns, ast.List | ast.Tuple):
        return len(turns.elts) < 2 and not any(isinstance(one, ast.Starred) for one in turns.elts)
    if isinstance(turns, ast.Call) and isinstance(turns.func, ast.Name) and turns.func.id == "range":
        return len(turns.args) == 1 and isinstance(turns.args[0], ast.Constant) and turns.args[0].value in (0, 1)
    body = getattr(loop, "body", None)
    return isinstance(body, list) and bool(body) and isinstance(body[-1], ast.Break | ast.Return | ast.Raise)


def _excludes(one: Site, other: Site) -> bool:
    first, second = sorted((one, other), key=lambda site: site.line)
    return one.excludes(other) or _leaves_before(first, second) or _compares_otherwise(one, other)


def _leaves_before(one: Site, other: Site) -> bool:
    """Whether the arm of a test that a place stands in ends the function before a later place."""
    node: ast.AST | None = one.statement
    while node is not None and node is not one.scope.function().node:
        around = one.file.parent_of(node)
        if isinstance(around, ast.If):
            arm = around.body if node in around.body else around.orelse
            ends = isinstance(arm[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
            if ends and (arm[-1].end_lineno or 0) < other.line:
                return True
        node = around
    return False


def _compares_otherwise(one: Site, other: Site) -> bool:
    """Whether two places run only if one thing equals two constants."""
    mine, theirs = _equal(one), _equal(other)
    return any(key in theirs and theirs[key] != value for key, value in mine.items())


def _equal(site: Site) -> dict[str, object]:
    found: dict[str, object] = {}
    for level in site.block.chain():
        test = level.node
        if level.kind == "if" and isinstance(test, ast.Compare) and len(test.ops) == 1:
            value = test.comparators[0]
            if isinstance(test.ops[0], ast.Eq) and isinstance(value, ast.Constant):
                found[ast.dump(test.left)] = value.value
    return found


# -- names of a file -----------------------------------------------------------------------------------------------


class _Names:
    """What is read and assigned in a file, by what the names belong to."""

    def __init__(self, file: File) -> None:
        self.reads: dict[tuple[int, str], list[Reference]] = {}
        self.of_self: dict[tuple[int, str], list[Reference]] = {}
        self.assigned: dict[tuple[int, str], list[Assignment]] = {}
        self.attributes: dict[tuple[int, str], list[Assignment]] = {}
        self.items: set[tuple[int, str]] = set()
        self.by_target: dict[int, Assignment] = {}
        self.below: dict[int, list[int]] = {}
        self.made_with: dict[int, list[Scope]] = {}
        lookup = file.index.lookup
        for read in file.references:
            head, _, rest = (read.path or "").partition(".")
            home = lookup(read.scope, head)
            if home is not None:
                self.reads.setdefault((home[0].id, head), []).append(read)
                cls = file.index.class_of_self(read.scope, head) if rest.isidentifier() else None
                if cls is not None:
                    self.of_self.setdefault((cls.id, rest), []).append(read)
        for one in file.assignments:
            self.by_target[id(one.node)] = one
            self._assign(file, one)
        for reads in self.reads.values():
            reads.sort(key=_line)
        for key in self.assigned:
            self.assigned[key].sort(key=_line)
        self.lines = {key: [one.line for one in found] for key, found in self.assigned.items()}
        for site in file.classes:
            bases = [file.index.scopes[key[1]] for key in site.project_bases if key[0] == file.key]
            for base in bases:
                self.below.setdefault(base.id, []).append(site.body.id)
            for method in _MAKERS if site.is_keras else _MAKERS[:1]:
                made = [bind.scope for base in bases for bind in base.binds.get(method, ()) if bind.scope is not None]
                if made:
                    self.made_with.setdefault(made[0].id, []).append(site.body)

    def _assign(self, file: File, one: Assignment) -> None:
        if isinstance(one.node, ast.Name):
            home = file.index.lookup(one.scope, one.node.id)
            if home is not None:
                self.assigned.setdefault((home[0].id, one.node.id), []).append(one)
                if home[0].kind == "class":
                    self.attributes.setdefault((home[0].id, one.node.id), []).append(one)
        elif isinstance(one.node, ast.Attribute):
            if one.owner is not None:
                self.attributes.setdefault((one.owner.body.id, one.node.attr), []).append(one)
        elif one.path is not None:
            head = one.path.partition("[")[0]
            home = file.index.lookup(one.scope, head)
            if home is not None:
                self.items.add((home[0].id, head))


def _names(file: File) -> _Names:
    return file.once("reads and assignments by their names", lambda: _Names(file))


def _callers(file: File) -> dict[int, list[Call]]:
    """The calls of functions and classes of a file, by the scope of what is surely called."""

    def calls() -> dict[int, list[Call]]:
        found: dict[int, list[Call]] = {}
        for call in file.calls:
            if len(call.found) == 1 and call.found[0].kind in ("class", "function"):
                if call.found[0].file == file.key:
                    found.setdefault(call.found[0].scope, []).append(call)
        return found

    return file.once("calls by what they run", calls)


def _node(read: Reference) -> ast.expr:
    assert isinstance(read.syntax, ast.expr)
    return read.syntax
