"""Which variable of one side is which of the other, as rung 2 shows it and later rungs use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Recorded
from ...worker.recording.format.rows import Place
from ...worker.recording.pairs.mapping import Matching, ignored, match, plain, renamed
from ...worker.recording.values.layout import is_reshaped, laid_out, laid_out_shape
from ..results import VariableRow
from .converted import NOT_TRIED, UNCLEAR, Converted, Group
from .renaming import renames_for

__all__ = ["OTHER_NAMES", "Naming", "Renames", "naming", "read_by_rates", "trained_by"]

OTHER_NAMES = "the names differ; if they are the same, say so in renames"
"""The problem of two variables of which everything else agrees."""

Renames = Mapping[str, str] | Callable[[str], str]


@dataclass(frozen=True)
class Naming:
    """The names of one side by those of the other, without ``:0``, and how values are turned."""

    matching: Matching
    rows: tuple[VariableRow, ...]
    unknown: tuple[str, ...]
    to_tf2: Mapping[str, str]
    transposes: Mapping[str, tuple[int, ...]]
    trainable: Mapping[str, bool]
    """By TF1 name: whether either side trains it."""
    guessed: tuple[tuple[str, str], ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)
    """What the pair would have to say for the guesses to be its own; empty where no names can say it."""
    taps: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    reshaped: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The shape on TF2 of the TF1 variables whose elements lie there in another shape."""
    made: Mapping[tuple[str, str], Place] = field(default_factory=dict)
    """By side and name: the line that makes a variable."""
    groups: tuple[Group, ...] = ()
    """Of variables that changed their layout together, and of cells that outputs speak against."""
    ignore: tuple[str, ...] = ()
    """As in `Pair`."""

    def turned(self, name: str, value: Any) -> Any:
        """A TF1 value as the TF2 side has it."""
        own = plain(name)
        shape = self.reshaped.get(own)
        return laid_out(value, self.transposes.get(own), shape or (), shape is not None)


def naming(
    tf1: Recorded,
    tf2: Recorded,
    renames: Renames | None = None,
    transposes: Mapping[str, Sequence[int]] | None = None,
    ignore: Sequence[str] | None = None,
    reshapes: Sequence[str] | None = None,
    laid_out: Converted | None = None,
) -> Naming:
    """Match the variables of two recordings; what is not given is taken from the pair, as it was recorded.

    Of the TF1 side, `laid_out` says which of its variables stand for groups.
    """
    pair = {**_pair(tf2), **_pair(tf1)}
    renames = pair.get("renames") if renames is None else renames
    transposes = pair.get("transposes") or {} if transposes is None else transposes
    ignore = pair.get("ignore") or () if ignore is None else ignore
    reshapes = tuple(pair.get("reshapes") or () if reshapes is None else reshapes)
    orders = {plain(str(name)): tuple(int(axis) for axis in order) for name, order in transposes.items()}
    ones, others = _variables(tf1), _variables(tf2)
    known = {} if laid_out is None else laid_out.known
    found = match(ones, others, renames, tuple(ignore), known)
    couples = [(pair.tf1, pair.tf2, str(pair.how)) for pair in found.pairs]
    guesses = [(one, other, "suggestion") for one, other in found.suggestions]
    to_tf2 = {plain(str(one["name"])): plain(str(other["name"])) for one, other, _ in couples + guesses}
    return Naming(
        matching=found,
        rows=_rows(
            couples + guesses, found, orders, reshapes, _unproven(laid_out), renames,
            [trained_by(side) for side in (tf1, tf2)], read_by_rates(tf1),
        ),
        unknown=(
            *_unknown(renames, orders, ones, reshapes),
            *_ignored_in_vain(ignore, [*ones, *others, *_counters(tf1, tf2)]),
            *(laid_out.problems if laid_out else ()),
        ),
        groups=laid_out.groups if laid_out else (),
        to_tf2=to_tf2,
        transposes=orders,
        trainable={
            plain(str(one["name"])): bool(one.get("trainable", True)) and bool(other.get("trainable", True))
            for one, other, _ in couples + guesses
        },
        guessed=tuple((plain(str(one["name"])), plain(str(other["name"]))) for one, other, _ in guesses),
        renames=_renames(ones, others, to_tf2, found.prefix, tuple(ignore), known) if guesses else {},
        taps={str(name): (str(ends[0]), str(ends[1])) for name, ends in (pair.get("taps") or {}).items()},
        reshaped={
            plain(str(one["name"])): tuple(other["shape"])
            for one, other, _ in couples + guesses
            if is_reshaped(str(one["name"]), reshapes)
        },
        made={**_made("tf1", ones), **_made("tf2", others)},
        ignore=tuple(str(key) for key in ignore),
    )


def _renames(
    ones: Sequence[Mapping[str, Any]],
    others: Sequence[Mapping[str, Any]],
    to_tf2: Mapping[str, str],
    prefix: str,
    ignore: Sequence[str],
    known: Mapping[str, str],
) -> dict[str, str]:
    """What the pair has to say of variables that belong to no group."""
    targets = set(known.values())
    return renames_for(
        [one for one in ones if plain(str(one["name"])) not in known],
        [other for other in others if plain(str(other["name"])) not in targets],
        {one: other for one, other in to_tf2.items() if one not in known},
        prefix,
        ignore,
    )


def _made(side: str, variables: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Place]:
    places = ((plain(str(variable["name"])), variable.get("place")) for variable in variables)
    return {(side, name): (str(place[0]), int(place[1])) for name, place in places if place}


def _ignored_in_vain(ignore: Iterable[str], variables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names = [plain(str(variable["name"])) for variable in variables]
    for key in map(str, ignore):
        if not any(ignored(name, [key]) for name in names):
            alike = [name for name in names if name.endswith(f"/{key.rstrip('*')}") or f"/{key.rstrip('*')}" in name]
            nearest = f"; there is {alike[0]}" if alike else ""
            yield f"ignore names {key}, which is no variable of either side{nearest}"


def _counters(*sides: Recorded) -> list[Mapping[str, Any]]:
    return [row for side in sides for row in side.content.get("other_variables") or () if isinstance(row, Mapping)]


def _pair(recorded: Recorded) -> dict[str, Any]:
    said = recorded.content.get("pair")
    return {key: value for key, value in said.items() if value} if isinstance(said, Mapping) else {}


def _variables(recorded: Recorded) -> list[Mapping[str, Any]]:
    return [variable for variable in recorded.content.get("variables", ()) if isinstance(variable, Mapping)]


def _rows(
    couples: Sequence[tuple[Mapping[str, Any], Mapping[str, Any], str]],
    found: Matching,
    orders: Mapping[str, tuple[int, ...]],
    reshapes: Sequence[str],
    unproven: Mapping[str, str],
    renames: Renames | None,
    trained: Sequence[set[str] | None],
    rates: Sequence[str],
) -> tuple[VariableRow, ...]:
    by_tf1 = {}
    for one, other, how in couples:
        problems = _problem(one, other, how, orders, reshapes, trained), unproven.get(plain(str(one["name"])), "")
        by_tf1[id(one)] = VariableRow(one, other, how, "; ".join(filter(None, problems)))
    suggested = {id(one) for pair in found.suggestions for one in pair}
    alone = []
    for one in found.only_tf1:
        if id(one) not in suggested:
            why = f"{_unused(one, trained[0], rates)}{_leads_nowhere(str(one['name']), renames)}"
            alone.append(VariableRow(one, None, "", f"only in TF1{why}"))
    only_tf2 = [
        VariableRow(
            None, other, "", "only in TF2" + ("" if other.get("tracked", True) else ", and the model does not track it")
        )
        for other in found.only_tf2
        if id(other) not in suggested
    ]
    return (*by_tf1.values(), *alone, *only_tf2)


def _unused(variable: Mapping[str, Any], trained: set[str] | None, rates: Sequence[str]) -> str:
    """What to say of a weight that the training step of its side does not reach, as those of another network."""
    if str(variable["name"]) in rates:
        return ": its optimizer reads the learning rate of it, ignore may name it"
    if not trained or not variable.get("trainable") or plain(str(variable["name"])) in trained:
        return ""
    return ", where the training step does not reach it: of another network, ignore may name it"


def _leads_nowhere(name: str, renames: Renames | None) -> str:
    """What to say of a name without a counterpart to which the pair gives another one."""
    said = renamed(name, renames)
    return "" if said == plain(name) else f"; renames call it {said}, which TF2 lacks or has twice"


def trained_by(side: Recorded) -> set[str] | None:
    """The names of what training gives a gradient on a side; None where that is not known."""
    steps = side.scenario(scenarios.STEPS)
    names = {plain(record.name).partition("#")[0] for record in steps.of_kind("gradient")}
    return names if names and steps.outcome == "ok" else None


def read_by_rates(side: Recorded) -> list[str]:
    """The variables and placeholders that learning rates are read of, and that no training step changes."""
    rows = [row for row in side.content.get("rates") or () if isinstance(row, Mapping)]
    return list(dict.fromkeys(str(name) for row in rows for name in row.get("still") or ()))


def _is_trained(one: Mapping[str, Any], trained: set[str] | None) -> bool:
    """Whether a variable may be trained, and is, as far as training shows."""
    return bool(one.get("trainable", True)) and (trained is None or plain(str(one["name"])) in trained)


def _unproven(laid_out: Converted | None) -> dict[str, str]:
    """What is wrong with the parts of groups that were taken for it by their shapes, and that no outputs speak for."""
    found = {}
    for part in () if laid_out is None else laid_out.parts:
        for group in laid_out.groups if laid_out else ():
            if group.conversion is part.conversion and group.how == "shapes" and group.proof in (UNCLEAR, NOT_TRIED):
                found[part.name] = f"{group.title} has the shapes of layout {part.conversion.layout}; {group.words}"
    return found


def _problem(
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    how: str,
    orders: Mapping[str, tuple[int, ...]],
    reshapes: Sequence[str],
    trained: Sequence[set[str] | None],
) -> str:
    problems = []
    if how == "suggestion":
        same = plain(str(one["name"])) == plain(str(other["name"]))
        problems.append(
            "renames gives it another name, which TF2 lacks or has twice"
            if same
            else OTHER_NAMES
        )
    name, own = plain(str(one["name"])), list(one["shape"])
    order = orders.get(name)
    if order is not None and sorted(order) != list(range(len(own))):
        problems.append(f"transposes {list(order)} do not fit the shape {own}")
    shape = list(laid_out_shape(own, order, other["shape"], is_reshaped(name, reshapes)))
    if shape != list(other["shape"]):
        alike = laid_out_shape(own, order, other["shape"], True) == tuple(other["shape"])
        hint = "; if the elements are the same in the same order, say so in reshapes" if alike else ""
        problems.append(f"the shapes are {shape} and {list(other['shape'])}{hint}")
    if one.get("dtype") != other.get("dtype"):
        problems.append(f"the dtypes are {one.get('dtype')} and {other.get('dtype')}")
    if one.get("trainable", True) != other.get("trainable", True) and any(map(_is_trained, (one, other), trained)):
        problems.append(f"trainable only in {'TF1' if one.get('trainable', True) else 'TF2'}")
    if other.get("tracked", True) is False:
        problems.append("the TF2 model does not track it")
    return "; ".join(problems)


def _unknown(
    renames: Renames | None,
    orders: Mapping[str, tuple[int, ...]],
    ones: Sequence[Mapping[str, Any]],
    reshapes: Sequence[str],
) -> tuple[str, ...]:
    """What the pair says of variables that do not exist."""
    names = {plain(str(one["name"])) for one in ones}
    keys = [str(key) for key in renames] if isinstance(renames, Mapping) else []
    lost = [key for key in keys if plain(key) not in names and not _begins(key, names)]
    said = [f"renames: the TF1 side has no variable {key}" for key in lost]
    said += [f"transposes: the TF1 side has no variable {key}" for key in orders if key not in names]
    idle = [key for key in reshapes if not any(is_reshaped(name, [key]) for name in names)]
    return (*said, *(f"reshapes: the TF1 side has no variable {key}" for key in idle))


def _begins(key: str, names: set[str]) -> bool:
    return key.endswith("/") and any(name.startswith(key) for name in names)
