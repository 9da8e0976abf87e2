"""The distribution strategies under whose scope a file makes its models."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, TypeAlias

from ...linter.rule_api.model import Assignment, Call, File, Scope, Site, path_of
from .members import member_of

_PREFIXES = ("tensorflow.distribute.experimental.", "tensorflow.distribute.")
_SCOPE = "().scope()"
_DEEPEST = 8
_MOST = 50
"""Names, attributes and functions that a value is followed through, and ways on which it may come."""


Way: TypeAlias = "tuple[Site, ...]"
"""What hands a value on, one after the other, from where it is used to where it comes from."""


class Strategy(NamedTuple):
    """A strategy of `tf.distribute`, whose scope is entered."""

    kind: str
    """``MirroredStrategy``."""
    ways: tuple[Way, ...]
    """The ways on which it comes there; their last site is the call that makes it, where that is one of the file."""

    @property
    def made(self) -> Call | None:
        """The call that surely makes it."""
        last = self.ways[0][-1] if len(self.ways) == 1 and self.ways[0] else None
        return last if isinstance(last, Call) else None


def is_fit(call: Call) -> bool:
    """Whether it calls ``fit`` of what is surely a model of Keras."""
    members = [member_of(name) for name in call.names]
    external = all(entity.kind == "external" for entity in call.found)
    return external and bool(members) and all(m is not None and (m.kind, m.name) == ("Model", "fit") for m in members)


def strategy_of(call: Call) -> Strategy | None:
    """The strategy in whose scope the receiver of a method is made, or the call stands itself.

    What makes the receiver is looked for through names, attributes of ``self``, parameters and functions of the file.
    """
    ways = ways_to(call, call.receiver)
    reached = [found[1] for way in ways if (found := _first_around(way)) is not None]
    sure = len(reached) == len(ways) < _MOST and len({one.kind for one in reached}) == 1
    ends = tuple(dict.fromkeys(way for one in reached for way in one.ways))
    one = Strategy(reached[0].kind, ends) if sure else _around(call)
    return one if one is not None and one.kind else None


def ways_into_scope(call: Call) -> Iterator[Way]:
    """The ways from the call of a method, by what makes its receiver or by the call itself, to strategies."""
    for way in (*ways_to(call, call.receiver), (call,)):
        found = _first_around(way)
        if found is not None:
            yield from ((*found[0], *end) for end in found[1].ways)


def ways_to(site: Site, node: ast.expr | None, came: Way = ()) -> list[Way]:
    """The ways on which a value comes to an expression: what hands it on, and last the call that makes it, if known.

    Args:
        site: where the expression stands.
        node: the expression.
        came: the way from there to what is asked about; a function on it was called by the call on it, and no other.
    """
    return list(islice(_ways(site, node, came), _MOST))


def stations(site: Site, node: ast.expr | None, way: Way) -> Iterator[tuple[Site, ast.expr | None]]:
    """What a value is on a way of `ways_to`, from the expression on, and where each stands."""
    yield site, node
    for one in way:
        if isinstance(one, Assignment):
            site, node = one, one.value
        elif isinstance(one, Call):
            home = site.file.index.lookup(site.scope, node.id) if isinstance(node, ast.Name) else None
            if home is None or not isinstance(node, ast.Name):
                continue  # the call is the value itself
            site, node = one, one.given_to(home[0], node.id)
        elif isinstance(one.syntax, ast.expr):
            site, node = one, one.syntax
        yield site, node


def callee_of(call: Call) -> Scope | None:
    """The function of the file that a call surely runs; that of a class is its constructor."""
    file = call.file
    if len(call.found) != 1 or call.found[0].file != file.key:
        return None
    scope = file.index.scopes[call.found[0].scope]
    if call.found[0].kind == "class":
        own = [file.index.scopes[key[1]] for key in file.project.mro((file.key, scope.id))[0] if key[0] == file.key]
        made = [bind.scope for cls in own for bind in cls.binds.get("__init__", ())]
        return made[0] if made else None
    return scope if call.found[0].kind == "function" else None


def turns_of(assignment: Assignment) -> ast.For | None:
    """The loop that gives a name its elements."""
    node = assignment.syntax
    return node if isinstance(node, ast.For) and assignment.value is None else None


def _ways(site: Site, node: ast.expr | None, came: Way) -> Iterator[Way]:
    if len(came) > _DEEPEST:
        yield ()
    elif isinstance(node, ast.Call):
        yield from _returned(site.file.call_at(node), came)
    elif isinstance(node, ast.IfExp):
        yield from _ways(site, node.body, came)
        yield from _ways(site, node.orelse, came)
    elif isinstance(node, ast.Name | ast.Attribute):
        steps = [*_assigned(site, node, came), *_given(site, node, came)]
        for step, at, value in steps:
            yield from ((step, *way) for way in _ways(at, value, (*came, step)))
        if not steps:
            yield ()
    else:
        yield ()


def _returned(call: Call | None, came: Way) -> Iterator[Way]:
    if call is None:
        yield ()
        return
    file = call.file
    if not call.found or any(one.kind != "function" or one.file != file.key for one in call.found):
        yield (call,)
        return
    for function in call.found:
        for fact in file.index.returns_in(file.index.scopes[function.scope]):
            returned = Site(file, fact.value, fact.scope, fact.block)
            begun = (call, returned)
            yield from ((*begun, *way) for way in _ways(returned, fact.value, (*came, *begun)))


def _assigned(site: Site, node: ast.Name | ast.Attribute, came: Way) -> Iterator[tuple[Site, Site, ast.expr | None]]:
    """The assignments that give an expression its value, each with what it is, and where that stands."""
    file = site.file
    if isinstance(node, ast.Attribute):
        cls = file.index.class_of_self(site.scope, node.value.id) if isinstance(node.value, ast.Name) else None
        made = [] if cls is None else file.assignments_to(cls, node.attr)
    else:
        made = site.reaching(node)
    for one in made:
        loop = turns_of(one) if isinstance(one.node, ast.Name) else None
        for value in [one.value] if loop is None else _elements(one, loop.iter):
            if one not in came:
                yield one, one, value


def _elements(site: Site, node: ast.expr) -> list[ast.expr | None]:
    """What a list or tuple that is written out holds; None where it is another thing."""
    if isinstance(node, ast.Name):
        made = site.reaching(node)
        node = made[0].value if len(made) == 1 and made[0].value is not None else node
    return [*node.elts] if isinstance(node, ast.List | ast.Tuple) else [None]


def _given(site: Site, node: ast.Name | ast.Attribute, came: Way) -> Iterator[tuple[Site, Site, ast.expr | None]]:
    """The calls that give a parameter its value, each with what it gives, and where that stands."""
    home = site.file.index.lookup(site.scope, node.id) if isinstance(node, ast.Name) else None
    if home is None or not isinstance(node, ast.Name) or not home[0].is_function or node.id not in home[0].parameters:
        return
    if site.file.index.class_of_self(site.scope, node.id) is not None or not home[0].keeps(node.id):
        return
    calls = calls_by_callee(site.file).get(home[0].id, [])
    for call in [step for step in came if step in calls][-1:] or calls:
        value = call.given_to(home[0], node.id)
        if value is not None:
            yield call, call, value


def calls_by_callee(file: File) -> dict[int, list[Call]]:
    """The calls of the functions of a file, by the scope that each surely runs."""

    def calls() -> dict[int, list[Call]]:
        found: dict[int, list[Call]] = {}
        for call in file.calls:
            callee = callee_of(call)
            if callee is not None:
                found.setdefault(callee.id, []).append(call)
        return found

    return file.once("calls by the function that they run", calls)


def _first_around(way: Way) -> tuple[Way, Strategy] | None:
    """The first scope on a way, with the part of the way up to it."""
    for number, site in enumerate(way):
        found = _around(site, way[:number])
        if found is not None:
            return way[: number + 1], found
    return None


def _around(site: Site, came: Way = ()) -> Strategy | None:
    for level in site.block.holders():
        if level.kind != "with" or not isinstance(level.node, ast.expr):
            continue
        names = site.file.names(level.scope, path_of(level.node))
        kinds = {_kind(name.canonical.removesuffix(_SCOPE)) for name in names if name.canonical.endswith(_SCOPE)}
        kind = kinds.pop() if len(kinds) == 1 else ""
        ways = tuple(_of_scope(Site(site.file, level.node, level.scope, level), level.node, came))
        makers = {kind_of(way) for way in ways}
        if kind or makers - {""}:
            return Strategy(kind or (makers.pop() if len(makers) == 1 else ""), ways)
    return None


def _of_scope(site: Site, scope: ast.expr, came: Way) -> Iterator[Way]:
    """The ways from the scope of a strategy to what makes the strategy."""
    for way in ways_to(site, scope, came):
        last = way[-1] if way else None
        if isinstance(last, Call) and last.method == "scope":
            yield from ((*way, *rest) for rest in ways_to(last, last.receiver, (*came, *way)))


def kind_of(way: Way) -> str:
    """Which strategy of ``tf.distribute`` is made at the end of a way; empty where that is another thing."""
    last = way[-1] if way else None
    return next(filter(None, (_kind(name.canonical) for name in last.names)), "") if isinstance(last, Call) else ""


def _kind(canonical: str) -> str:
    for prefix in _PREFIXES:
        if canonical.startswith(prefix):
            kind = canonical[len(prefix) :]
            return kind if kind.isidentifier() and kind.endswith("Strategy") else ""
    return ""
