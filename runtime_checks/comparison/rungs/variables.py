"""Rung 2: the variables of both sides, without their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled, why_missing
from ..judging.converted import Group, together
from ..results import Status
from ..wording import some

NUMBER = "2"
TITLE = "variables match"
COMPARED = "number, names, shapes, dtypes and trainability; what the model makes and does not track"
SCENARIOS = {scenarios.STRUCTURE: ()}


def judge(climb: Climb) -> Settled:
    """Fails where a variable has no counterpart, or another one than it should have."""
    why = why_missing(climb.both(scenarios.STRUCTURE))
    if why:
        return Settled(Status.NOT_RUN, why)
    if climb.vacuous:
        return Settled(Status.VACUOUS, climb.vacuous)
    names = climb.judge.names
    notes = [*names.unknown]
    if names.matching.prefix:
        notes.append(f"the names of TF2 begin with {names.matching.prefix}, which was left out")
    if names.renames:
        notes.append(f"where the names differ and shapes and order agree: renames={dict(names.renames)}")
    elif names.guessed:
        notes.append("shapes and order pair what names do not, and no renames can say so: a name occurs twice")
    notes += _layouts(names.groups)
    idle = [
        row for row in names.rows if row.tf1 and row.tf2 and not row.problem and _frozen(row.tf1) != _frozen(row.tf2)
    ]
    if idle:
        idle_names = some([str((row.tf1 or {}).get("name")) for row in idle])
        notes.append(f"trainable on one side alone, where no training step gives them a gradient: {idle_names}")
    wrong = [row for row in names.rows if row.problem]
    if not names.rows:
        return Settled(Status.VACUOUS, "the pair ignores every variable of both sides", notes=tuple(notes))
    if not wrong:
        trainable = sum(names.trainable.values())
        detail = f"{len(names.rows)} variables, {trainable} of them trainable"
        return Settled(Status.PASS, detail, notes=tuple(notes))
    known = wrong[0].tf1 or wrong[0].tf2 or {}
    detail = f"{len(wrong)} of {len(names.rows)} variables do not match: {known.get('name')}: {wrong[0].problem}"
    return Settled(Status.FAIL, detail, notes=tuple(notes))


def _frozen(variable: Mapping[str, Any]) -> bool:
    return not variable.get("trainable", True)


def _layouts(groups: Sequence[Group]) -> list[str]:
    """What became of variables that changed their layout together, and the line that says so in a pair."""
    notes = [f"{group.title}, layout {group.conversion.layout}: {group.words}" for group in together(groups)]
    found = [group.line() for group in together(groups) if group.how == "shapes"]
    if found:
        notes.append(f"taken for that by their shapes; a pair may say it: converters=[{', '.join(found)}]")
    return notes
