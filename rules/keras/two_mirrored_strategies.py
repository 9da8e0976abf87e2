"""TF321: mirrored strategies over different devices that train in one process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations, islice, product
from typing import Any, NamedTuple

from ...linter.rule_api.model import Assignment, Block, Call, File, Location, Scope, Site
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .strategies import Way, callee_of, is_fit, kind_of, turns_of, ways_into_scope, ways_to

_MIRRORED = "tensorflow.distribute.MirroredStrategy"
_TRAINING = ("fit", "train_on_batch")
_REDUCING = frozenset({"all_gather", "all_reduce", "apply", "apply_gradients", "minimize"})
"""Methods that replicas call to exchange values, by themselves or by an optimizer that does."""
_CONDITIONS = frozenset({"if", "else", "except", "case", "after", "never", "passed"})
_MOST = 30
_DEEPEST = 6

_Devices = frozenset[str] | str
"""The devices of a strategy, in capitals; `_ALL` of the machine's, or a text that is the same for the same ones."""
_ALL = "all"
_OTHERS = "others each turn"
_Bound = dict[tuple[int, str], Any]
"""What names have in one turn of a loop, by the scope."""


class TwoMirroredStrategies(Rule):
    """One process trains under two mirrored strategies whose devices are not the same.

    ## Why
    The first `tf.distribute.MirroredStrategy` of several devices that trains settles the group of devices of the
    collective operations. Training under one with other devices raises InternalError in `CollectiveReduceV2`,
    "Device ... is joining a group that is already full", and so does the first one from then on.
    It is so for `fit`, `train_on_batch` and for a step under `strategy.run` that applies gradients, with both Kerases.
    Strategies over the same devices, strategies of one device, prediction, and `cross_device_ops` such as
    `tf.distribute.HierarchicalCopyAllReduce` are no trouble.

    Strategies are followed through names, attributes, parameters, loops and functions of a file.
    An error needs devices that are written out, and both trainings on one way through the program.
    `migrate-lint --runtime` shows it on one machine, where the program sets up logical devices.

    ## Example
    ```python
    import tensorflow as tf

    def train(devices):
        strategy = tf.distribute.MirroredStrategy(devices)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
        model.fit(x, y)

    train(["GPU:0", "GPU:1"])
    train(["GPU:2", "GPU:3"])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def train(strategy):
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
        model.fit(x, y)

    strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1", "GPU:2", "GPU:3"])
    train(strategy)
    train(strategy)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/distribute/MirroredStrategy
    - https://www.tensorflow.org/guide/distributed_training
    """

    code = "TF321"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    calls = (_MIRRORED,)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell the pairs of the file of which this call makes the later one."""
        for pair in call.file.once("pairs of mirrored strategies", lambda: _pairs(call.file)):
            if pair.maker is call:
                yield self.report(pair.site, pair.message, pair.severity, subject=_MIRRORED, related=pair.related)


class _Made(NamedTuple):
    """A strategy that is made below a function or the module."""

    calls: tuple[Call, ...]
    """The calls that lead to it from there, and last its own."""
    devices: tuple[_Devices, ...]
    """Those of each turn of the loop in which it is made."""

    @property
    def maker(self) -> Call:
        return self.calls[-1]


class _Use(NamedTuple):
    """A place where a strategy is used."""

    call: Call
    way: Way
    """From there to the call that makes the strategy."""
    trains: bool


class _Pair(NamedTuple):
    """Two strategies of one process."""

    maker: Call
    """The call that makes the later one."""
    earlier: Call
    site: Call
    message: str
    severity: Severity
    related: tuple[Location, ...]


def _pairs(file: File) -> list[_Pair]:
    """The pairs of a file, the worst one for each place."""
    uses = list(_uses(file))
    found: dict[Call, _Pair] = {}
    order = list(Severity)
    for scope in (file.index.module, *(function.body for function in file.functions)):
        made = [_Made(calls, tuple(_devices(calls))) for calls in _made_below(file, scope)]
        made.sort(key=lambda one: [call.line for call in one.calls])
        both = [(one, two) for one, two in combinations(made, 2) if one.calls[0] is not two.calls[0]]
        for first, second in (*both, *((one, one) for one in made if one.calls[0].loops)):
            pair = _judged(file, scope, first, second, uses)
            if pair is None or (pair.earlier is not pair.site and _is_told(found.get(pair.earlier), pair)):
                continue
            known = found.get(pair.site)
            if known is None or order.index(pair.severity) < order.index(known.severity):
                found[pair.site] = pair
    return list(found.values())


def _is_told(known: _Pair | None, pair: _Pair) -> bool:
    """Whether the same two places are told the other way round."""
    return known is not None and known.earlier is pair.site


def _made_below(file: File, scope: Scope, around: tuple[Scope, ...] = ()) -> list[tuple[Call, ...]]:
    """The calls that make a strategy in a function, and in those of the file that it calls, with what leads there."""
    found: list[tuple[Call, ...]] = []
    if scope in around or len(around) > _DEEPEST:
        return found
    for call in file.calls_by_function.get(scope.id, []):
        if call.version_checked or call.never_runs:
            continue
        callee = callee_of(call)
        if _makes(call):
            found.append((call,))
        elif callee is not None:
            found += [(call, *calls) for calls in _made_below(file, callee, (*around, scope))]
        if len(found) > _MOST:
            break
    return found


def _makes(call: Call) -> bool:
    """Whether it makes a strategy whose reductions are the collective ones, as they are unless it is given others."""
    given = call.value("cross_device_ops", 1)
    is_default = given is None or (isinstance(given, ast.Constant) and given.value is None)
    mirrored = bool(call.names) and all(name.canonical == _MIRRORED for name in call.names)
    return mirrored and is_default and not call.has_stars


def _uses(file: File) -> Iterator[_Use]:
    """Where strategies train, and where else their scopes are entered or something is run in their replicas."""
    for call in file.calls:
        if call.method in _TRAINING and (not call.names or is_fit(call) or call.method != "fit"):
            ways, trains = list(islice(ways_into_scope(call), _MOST)), True
        elif call.method in ("run", "scope"):
            ways, trains = ways_to(call, call.receiver), call.method == "run" and _reduces(call)
        else:
            continue
        yield from (_Use(call, way, trains) for way in ways if kind_of(way) == "MirroredStrategy")


def _reduces(call: Call) -> bool:
    """Whether what is run in the replicas exchanges values between them."""
    step = call.function_given("fn", 0)
    scopes = [] if step is None else [step.body]
    for scope in scopes:
        for inner in call.file.calls_by_function.get(scope.id, []):
            if inner.method in _REDUCING:
                return True
            callee = callee_of(inner)
            if callee is not None and callee not in scopes and len(scopes) < _MOST:
                scopes.append(callee)
    return False


def _judged(file: File, scope: Scope, first: _Made, second: _Made, uses: list[_Use]) -> _Pair | None:
    """What is to be said of two strategies that one function makes; of one, where a loop makes it again."""
    differ = _differ(first, second)
    mine = [use for use in uses if _is_of(use, first)]
    theirs = [use for use in uses if _is_of(use, second)]
    both = [pair for pair in product(mine, theirs) if differ and _are_two(*pair, first, second)]
    trained = [pair for pair in both if pair[0].trains and pair[1].trains]
    if not trained and (not both or differ != "have"):
        return None
    shared = _conditions(first.calls[0]) & _conditions(second.calls[0])
    certain = _Certain(file, scope, shared)
    apart = all(_are_apart(pair, first, second, shared) for pair in trained or both)
    if not trained or apart or (differ == "may have" and not {_ALL, _OTHERS} & {*first.devices, *second.devices}):
        severity = Severity.INFO
    elif differ == "have" and certain.of_pair(first, second, trained) and not _may_be_left(first, second):
        severity = Severity.ERROR
    else:
        severity = Severity.WARNING
    one, other = (trained or both)[0]
    earlier, site = _told(first, second)
    again = "that of an earlier turn of the loop" if first is second else f"the one of {earlier.where}"
    when = "training under both raises" if trained else "where both train, the second training raises"
    message = (
        f"this strategy and {again} {differ} other devices, and a process settles one group of devices: {when} "
        "InternalError in CollectiveReduceV2. Make one strategy, or train in a process for each."
    )
    related = [] if first is second else [earlier.location("the other one is made here")]
    related += [use.call.location("training under one of them") for use in dict.fromkeys((one, other)) if use.trains]
    return _Pair(second.maker, earlier, site, message, severity, tuple(dict.fromkeys(related)))


def _told(first: _Made, second: _Made) -> tuple[Call, Call]:
    """Where two strategies are told: where they are made, or where the ways to the one place part."""
    if first is second or first.maker is not second.maker:
        return first.maker, second.maker
    return next((one, two) for one, two in zip(first.calls, second.calls, strict=False) if one is not two)


def _is_of(use: _Use, made: _Made) -> bool:
    """Whether it uses a strategy that was made on that way: a function on both was called by the same call."""
    callees = {callee.id: call for call in made.calls if (callee := callee_of(call)) is not None}
    calls = [(call, callee_of(call)) for call in use.way if isinstance(call, Call)]
    return use.way[-1] is made.maker and all(
        callees.get(callee.id, call) is call for call, callee in calls if callee is not None
    )


def _are_two(one: _Use, other: _Use, first: _Made, second: _Made) -> bool:
    """Whether two uses are of two strategies in one run of the program, and not of one that is this or that."""
    mine, theirs = {one.call, *one.way, *first.calls}, {other.call, *other.way, *second.calls}
    if first is second:
        loops = {id(loop) for loop in first.calls[0].loops if not _is_left_at_once(loop)}
        inner = [site for site in mine if site.scope.function() is first.calls[0].scope.function()]
        return one is other and all(loops & {id(loop) for loop in site.loops} for site in inner)
    for site, there in product(mine, theirs):
        if site is not there and site.scope.function() is there.scope.function() and site.excludes(there):
            if not _runs_twice(site, mine, theirs):
                return False
    return all(_runs_twice(site, mine, theirs) for site in mine & theirs)


def _is_left_at_once(loop: ast.AST) -> bool:
    """Whether the first turn of a loop surely is its last one."""
    body = loop.body if isinstance(loop, ast.For | ast.AsyncFor | ast.While) else []
    return any(isinstance(one, ast.Break | ast.Return | ast.Raise) for one in body)


def _may_be_left(first: _Made, second: _Made) -> bool:
    """Whether the loop of a strategy that is made again may end before the second turn."""
    inside = (node for loop in first.calls[0].loops for node in ast.walk(loop))
    return first is second and any(isinstance(node, ast.Break | ast.Return) for node in inside)


def _runs_twice(site: Site, mine: set[Site], theirs: set[Site], depth: int = 0) -> bool:
    """Whether a place that two ways share is come to by other calls, or in other turns of a loop over strategies.

    To a method leads the call that makes its object, too.
    """
    functions = [scope for scope in site.scope.chain() if scope.is_function]
    owners = [owner for function in functions if (owner := function.owner()) is not None]
    functions += [bind.scope for owner in owners for bind in owner.binds.get("__init__", ()) if bind.scope is not None]
    callers = [{c for c in way if isinstance(c, Call) and callee_of(c) in functions} for way in (mine, theirs)]
    if all(callers) and callers[0].isdisjoint(callers[1]):
        return True
    turns = [turns_of(one) for one in mine & theirs if isinstance(one, Assignment)]
    if any(turn in _around(site) for turn in turns if turn is not None):
        return True
    return depth < _DEEPEST and any(_runs_twice(c, mine, theirs, depth + 1) for c in callers[0] & callers[1])


def _around(site: Site) -> list[ast.AST]:
    """The loops around a place, and the one that it is itself."""
    return [*site.loops, site.syntax]


def _conditions(site: Site) -> frozenset[Block]:
    """The conditions in its own function under which a place runs; being the main module is none."""
    levels = [level for level in site.block.chain() if level.kind in _CONDITIONS]
    return frozenset(level for level in levels if not _is_main(level.node))


def _is_main(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__"


def _are_apart(pair: tuple[_Use, _Use], first: _Made, second: _Made, shared: frozenset[Block]) -> bool:
    """Whether each of two uses is under a condition that the other one is not under."""
    sites = ((use.call, *use.way, *made.calls) for use, made in zip(pair, (first, second), strict=True))
    mine, theirs = ({level for site in way for level in _conditions(site)} - shared for way in sites)
    return bool(mine - theirs) and bool(theirs - mine)


class _Certain:
    """What surely runs where a function does, under the conditions that two places in it share."""

    def __init__(self, file: File, scope: Scope, shared: frozenset[Block]) -> None:
        self._scope = scope
        self._shared = shared
        self._reached = [scope]
        for reached in self._reached:
            for call in file.calls_by_function.get(reached.id, []):
                callee = callee_of(call)
                if callee is not None and callee not in self._reached and self._runs(call):
                    self._reached.append(callee)

    def of_pair(self, first: _Made, second: _Made, trained: list[tuple[_Use, _Use]]) -> bool:
        """Whether both strategies are surely made, and train in one of the ways."""
        made = all(self._runs(call) for call in (*first.calls, *second.calls))
        return made and any(self._trains(one) and self._trains(other) for one, other in trained)

    def _trains(self, use: _Use) -> bool:
        """Whether it surely runs; what an attribute of an object holds may be that of another object."""
        kinds = [site.kind for site in use.way if isinstance(site, Assignment)]
        calls = [site for site in (use.call, *use.way) if isinstance(site, Call)]
        return "attribute" not in kinds and all(map(self._runs, calls))

    def _runs(self, site: Site) -> bool:
        function = site.scope.function()
        conditions = _conditions(site)
        return function in self._reached and conditions <= (self._shared if function is self._scope else frozenset())


def _differ(first: _Made, second: _Made) -> str:
    """Whether two strategies ``have`` or ``may have`` different devices, several each; empty if they have not."""
    pairs = combinations(first.devices, 2) if first is second else product(first.devices, second.devices)
    found = {_told_apart(one, two) for one, two in pairs}
    if first is second and _OTHERS in first.devices:
        found.add("may have")
    return next((answer for answer in ("have", "may have") if answer in found), "")


def _told_apart(one: _Devices, other: _Devices) -> str:
    if one == other or any(isinstance(devices, frozenset) and len(devices) < 2 for devices in (one, other)):
        return ""
    return "have" if isinstance(one, frozenset) and isinstance(other, frozenset) else "may have"


def _devices(calls: tuple[Call, ...]) -> Iterator[_Devices]:
    """The devices that a strategy is made over, for each turn of the loops that they depend on."""
    node = calls[-1].value("devices", 0)
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        yield _ALL
    else:
        yield from islice(_each(calls[-1], node, calls[:-1], {}), _MOST)


def _each(site: Site, node: ast.expr, calls: tuple[Call, ...], bound: _Bound) -> Iterator[_Devices]:
    try:
        value = _value(site, node, calls, bound)
    except _TurnsError as turns:
        for one in turns.values:
            yield from _each(site, node, calls, {**bound, turns.name: one})
        if not turns.values:
            yield _OTHERS
        return
    except _UnknownError as unknown:
        yield _OTHERS if bound else f"?{unknown}"
        return
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        yield frozenset(map(_device, value))
    else:
        yield f"?{value}"


def _device(name: str) -> str:
    kind, _, number = name.upper().rpartition("/")[2].removeprefix("DEVICE:").partition(":")
    return f"{kind}:{number or 0}"


class _UnknownError(Exception):
    """The value of an expression is not known; the text is the same for the same expression."""


class _TurnsError(Exception):
    """A value depends on the turn of a loop."""

    def __init__(self, name: tuple[int, str], values: list[Any]) -> None:
        super().__init__(name)
        self.name = name
        self.values = values
        """What the name has in each turn; empty if that is not known."""


def _value(site: Site, node: ast.expr, calls: tuple[Call, ...], bound: _Bound) -> Any:
    """What an expression is, as far as it is made of literals, loops over them and parameters that are given them.

    Raises:
        _TurnsError: if it depends on a loop for which nothing is bound yet.
        _UnknownError: if it is not known.
    """
    parts: list[Any] = []
    unknown = ""
    if isinstance(node, ast.Name | ast.Attribute):
        return _named(site, node, calls, bound)
    if isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
        return _comprehended(site, node, calls, bound)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            try:
                parts.append(_value(site, child, calls, bound))
            except _UnknownError as error:
                unknown += str(error)
                parts.append(None)
    is_range = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    if is_range and all(type(one) is int for one in parts[1:]) and parts[1:]:
        return list(islice(range(*parts[1:]), _MOST))
    if unknown:
        raise _UnknownError(ast.dump(node) + unknown)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple) and not any(isinstance(one, ast.Starred) for one in node.elts):
        return parts
    if isinstance(node, ast.JoinedStr):
        return "".join(map(str, parts))
    if isinstance(node, ast.FormattedValue) and node.conversion < 0 and node.format_spec is None:
        return parts[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        try:
            return parts[0] + parts[1] if isinstance(node.op, ast.Add) else parts[0] % parts[1]
        except (TypeError, ValueError):
            pass
    raise _UnknownError(ast.dump(node))


def _named(site: Site, node: ast.Name | ast.Attribute, calls: tuple[Call, ...], bound: _Bound) -> Any:
    file = site.file
    if isinstance(node, ast.Attribute):
        cls = file.index.class_of_self(site.scope, node.value.id) if isinstance(node.value, ast.Name) else None
        made = [] if cls is None else file.assignments_to(cls, node.attr)
        name = (0, "")
    else:
        home = file.index.lookup(site.scope, node.id)
        if home is None:
            raise _UnknownError(ast.dump(node))
        name = (home[0].id, node.id)
        if name in bound:
            return bound[name]
        if node.id in home[0].parameters and home[0].keeps(node.id):
            return _argument(home[0], node, calls, bound)
        made = site.reaching(node)
    if len(made) != 1 or made[0].augmented:
        raise _UnknownError(ast.dump(node))
    loop = turns_of(made[0])
    if loop is not None:
        raise _TurnsError(name, _turns(made[0], loop, calls, bound))
    if made[0].value is None:
        raise _UnknownError(ast.dump(node))
    return _value(made[0], made[0].value, calls, bound)


def _argument(function: Scope, node: ast.Name, calls: tuple[Call, ...], bound: _Bound) -> Any:
    for number, call in enumerate(calls):
        if callee_of(call) is function:
            given = call.given_to(function, node.id)
            if given is not None:
                return _value(call, given, calls[:number], bound)
            default = call.file.default_of(function, node.id)
            if default is not None and function.defined_in is not None and not call.has_stars:
                outside = Site(call.file, default, function.parent or function, function.defined_in)
                return _value(outside, default, (), bound)
    raise _UnknownError(ast.dump(node))


def _turns(made: Assignment, loop: ast.For, calls: tuple[Call, ...], bound: _Bound) -> list[Any]:
    """What the target of a loop has in each turn; empty if that is not known."""
    try:
        values = _value(made, loop.iter, calls, bound)
        if isinstance(loop.target, ast.Tuple):
            place = loop.target.elts.index(made.node)
            values = [value[place] for value in values]
    except (_UnknownError, TypeError, IndexError, ValueError):
        return []
    return values if isinstance(values, list) else []


def _comprehended(
    site: Site, node: ast.ListComp | ast.GeneratorExp, calls: tuple[Call, ...], bound: _Bound
) -> list[Any]:
    made = node.generators[0]
    values = _value(site, made.iter, calls, bound)
    if made.ifs or not isinstance(made.target, ast.Name) or not isinstance(values, list):
        raise _UnknownError(ast.dump(node))
    scope = site.file.index.comprehension_scope(node)
    inner = Site(site.file, node.elt, scope, site.block)
    return [_value(inner, node.elt, calls, {**bound, (scope.id, made.target.id): value}) for value in values]
