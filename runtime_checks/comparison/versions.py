"""What belongs to the migration, and what to the versions of TensorFlow, where TF1's program was run in both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Recorded
from .compare import compare
from .report import Report
from .results import Rung, Status
from .wording import agreement, subject, when

__all__ = ["across", "attributed"]


def attributed(direct: Report, tf1: Recorded, today: Recorded, tf2: Recorded, options: Mapping[str, Any]) -> Report:
    """The report of the migration: of TF1's program in the TensorFlow of the TF2 side, against the TF2 side.

    What the same program gives in both versions of TensorFlow is compared too, and told with the rungs. Where nothing
    differs directly, or that program came to no end, it is the report as it was.

    Args:
        direct: what `compare` says of both sides.
        tf1: the TF1 side in its own TensorFlow.
        today: the same in the TensorFlow of the TF2 side, from the same batches and initial values.
        tf2: the TF2 side.
        options: as `compare` takes them.
    """
    if direct.status != 1:
        return direct
    old, new = (f"TensorFlow {one.content['versions'].get('tensorflow', '?')}" for one in (tf1, today))
    versions, why = across(tf1, today, options)
    if why:
        unknown = f"the TF1 program in {new} says nothing of what belongs to the version: {why}"
        if today.content.get("crash") or all(one.outcome != "ok" for one in today.scenarios.values()):
            unknown = f"the TF1 program does not run in {new}, so what belongs to the version is not told apart"
        return replace(direct, versions=unknown)
    migration = compare(today, tf2, **options)
    pair = f"{old} against compat.v1 of {new}"
    own = {rung.name: told for rung in versions.rungs if (told := _told(rung))}
    rungs = tuple(
        replace(rung, notes=(*rung.notes, f"the version's, not the migration's: {pair}: {own[rung.name]}"))
        if rung.name in own
        else rung
        for rung in migration.rungs
    )
    count = sum(len(rung.failures) for rung in versions.rungs)
    said = f"{pair}: {count} values of the same program differ" if own else f"{pair}: the same program agrees"
    first = direct.sides[0]
    notes = (*first.notes, *(f"in {new}: {text}" for text in migration.sides[0].adaptations))
    return replace(
        migration,
        sides=(replace(first, notes=notes), migration.sides[1]),
        rungs=rungs,
        versions=f"{said}; the rungs compare compat.v1 of {new} with TF2",
    )


def across(tf1: Recorded, today: Recorded, options: Mapping[str, Any]) -> tuple[Report, str]:
    """What the versions make of one program, and why that program says nothing of them; empty where it does.

    Args:
        tf1: the TF1 side in its own TensorFlow.
        today: the same in the TensorFlow of the TF2 side.
        options: as `compare` takes them.
    """
    crossed = {**options, "variants": (), "findings": (), "renames": {}, "transposes": {}, "reshapes": (), "ignore": ()}
    versions = compare(tf1, _as_tf2(today), **crossed)
    reasons = (_ended(today), versions.sides[1].cause, *versions.problems, _other_variables(versions))
    return versions, next(filter(None, reasons), "")


def _as_tf2(today: Recorded) -> Recorded:
    """The recording in the place of a TF2 side, which begins with TF1's values as that does."""
    known = dict(today.scenarios)
    if scenarios.INFERENCE in known:
        known[scenarios.INFERENCE_COPIED] = replace(known[scenarios.INFERENCE], name=scenarios.INFERENCE_COPIED)
    return replace(today, content={**today.content, "side": "tf2"}, scenarios=known)


def _ended(today: Recorded) -> str:
    crash = today.content.get("crash") or {}
    itself = any(one.detail == "this side runs itself" for one in today.scenarios.values())
    return str(crash.get("cause") or "") or ("a side that runs itself begins with its own values" if itself else "")


def _other_variables(versions: Report) -> str:
    """Why the variables are not the same in both versions; empty where they are."""
    rung = next((rung for rung in versions.rungs if rung.name == "variables"), None)
    return rung.detail if rung is not None and rung.status is not Status.PASS else ""


def _told(rung: Rung) -> str:
    """What differs on a rung, the first value by name."""
    if rung.status is not Status.FAIL or not rung.failures:
        return ""
    first = rung.failures[0]
    time = when(first)
    return f"{len(rung.failures)} values differ: {subject(first)}{f' {time}' if time else ''}: {agreement(first)}"
