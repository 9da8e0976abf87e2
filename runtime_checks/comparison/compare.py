"""Compares what both sides recorded: the pure step from two folders to a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...linter.finding import Finding
from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Recorded, RecordingError
from .causes.ranking import rank
from .climb import Climb
from .divergence import first
from .draws import drawn
from .excerpts import excerpts
from .judging.converted import converted
from .judging.judge import Judge
from .judging.naming import Renames, naming
from .judging.pairing import Index
from .judging.tolerances import Policy, named
from .judging.values import Values
from .ladder import climbed
from .omissions import not_compared
from .operations import Operations
from .report import Report
from .results import Cause, RandomOp, Series, SideSummary, Timing
from .rungs import ORACLE, RUNGS, VARIANTS, Definition, measured_by, reached
from .settings import MADE
from .wording import place as shown

__all__ = ["compare"]

_SENSELESS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What a recording raises that makes no sense."""
_SCALARS = ("loss", "regularization", "learning_rate", "metric")


def compare(
    tf1: Recorded,
    tf2: Recorded,
    *,
    policy: str | Path | Policy = "noise",
    until: str | None = None,
    renames: Renames | None = None,
    transposes: Mapping[str, Sequence[int]] | None = None,
    reshapes: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    findings: Sequence[Finding] = (),
    name: str | None = None,
    crashes: Mapping[str, str] | None = None,
    variants: Sequence[Recorded] = (),
) -> Report:
    """Compare the recordings of both sides.

    Args:
        tf1: the TF1 side, as `reading.read` gives it.
        tf2: the TF2 side.
        policy: ``"guide"``, ``"noise"``, the path of a TOML file (see `tolerances`), or a `Policy`.
        until: number or name of the last rung; all of them by default.
        renames: as in `Pair`; by default what was recorded of the pair, as for the next three.
        transposes: as in `Pair`.
        reshapes: as in `Pair`.
        ignore: as in `Pair`.
        findings: the linter's, to be linked to causes.
        name: of the report; by default that of the pair.
        crashes: by side, ``"tf1"`` or ``"tf2"``, why it ended early.
        variants: the TF2 side in other settings, each held against `tf2`.

    Raises:
        RecordingError: if an array cannot be read, or what is recorded makes no sense; the text names the file.
        PolicyError: if the policy cannot be used.
        ValueError: if there is no such rung.
    """
    rules, asked, ended = named(policy), _asked(until, tf1, tf2, variants), crashes or {}
    try:
        with Values() as values:
            laid_out = converted(tf1, tf2)
            tf1 = laid_out.recorded
            names = naming(tf1, tf2, renames, transposes, ignore, reshapes, laid_out)
            climb = Climb(tf1, tf2, Judge(tf1, tf2, rules, names, values, measured_by()), variants)
            operations = Operations(climb)
            climbed_all = climbed(climb, asked)
            settings = tuple(rung for rung in climbed_all if rung.name in VARIANTS)
            rungs = operations.marked(tuple(rung for rung in climbed_all if rung.name not in VARIANTS))
            report = Report(
                name=name or _name(tf1) or _name(tf2) or "pair",
                policy=rules.name,
                sides=(_summary(tf1, ended), _summary(tf2, ended)),
                rungs=rungs,
                variables=names.rows,
                random_ops=_random_ops(tf1, tf2),
                series=tuple(_series(tf1, tf2, values)),
                first_divergence=first(rungs, operations.first),
                causes=(),
                problems=tuple(climb.problems),
                not_compared=not_compared(climb, asked),
            )
            ranked, unknown = _ranked(report, tf1, tf2, tuple(findings))
            report = replace(
                report,
                causes=(*ranked, *climb.causes),
                rungs=(*rungs, *settings),
                not_compared=(*report.not_compared, *unknown),
            )
            return replace(report, excerpts=excerpts(report, tf1, tf2))
    except RecordingError:
        raise
    except _SENSELESS as error:
        folders = f"{tf1.folder} or {tf2.folder}"
        raise RecordingError(f"a recording in {folders} is damaged: {type(error).__name__}: {error}") from error


def _ranked(
    report: Report, tf1: Recorded, tf2: Recorded, findings: tuple[Finding, ...]
) -> tuple[tuple[Cause, ...], tuple[str, ...]]:
    """The causes; or else what went wrong in looking for them, which takes nothing from what was compared."""
    try:
        return tuple(rank(report, tf1, tf2, findings)), ()
    except RecordingError:
        raise
    except _SENSELESS as error:
        return (), (f"causes (looking for them ended with {type(error).__name__}: {error})",)


def _asked(until: str | None, tf1: Recorded, tf2: Recorded, variants: Sequence[Recorded]) -> tuple[Definition, ...]:
    """The rungs up to one, and those of other settings of the TF2 side that were recorded, wherever it is.

    What is climbed only where it is asked for is left out where nothing of it was recorded, unless it is the last.
    """
    below = reached(until)
    told = {str(one.content["variant"]["kind"]) for one in variants}
    exact = any(name in recorded.scenarios for name in scenarios.FLOAT64 for recorded in (tf1, tf2))
    return tuple(
        rung
        for rung in RUNGS
        if rung.name in told
        or until in (rung.name, rung.number)
        or (rung in below and rung.name not in VARIANTS and (exact or rung.name != ORACLE))
    )


def _name(recorded: Recorded) -> str:
    pair = recorded.content.get("pair")
    return str(pair.get("name") or "") if isinstance(pair, Mapping) else ""


def _summary(recorded: Recorded, crashes: Mapping[str, str]) -> SideSummary:
    content = recorded.content
    notes = [str(note) for note in content.get("notes") or ()]
    left_out = content.get("left_out") or {}
    if left_out.get("records"):
        notes.append(
            f"{left_out['records']} layer outputs of {left_out['bytes']} bytes were left out: the limit is "
            f"{left_out['limit']} bytes"
        )
    return SideSummary(
        side=recorded.side,
        versions={str(key): str(value) for key, value in (content.get("versions") or {}).items()},
        adaptations=tuple(str(text) for text in content.get("adaptations") or ()),
        notes=tuple(notes),
        cause=crashes.get(recorded.side) or _crash(content) or _failure(recorded),
        optimizers=tuple(
            {key: value for key, value in row.items() if key not in MADE} for row in content.get("optimizers") or ()
        ),
        seconds=float(content.get("seconds") or sum(one.seconds for one in recorded.scenarios.values())),
        peak_memory=int(content.get("peak_memory") or 0),
        timing=_timing(content.get("timing")),
    )


def _timing(said: Mapping[str, Any] | None) -> Timing | None:
    if said is None:
        return None
    seconds, memory = tuple(map(float, said["seconds"])), tuple(said["memory"])
    return Timing(said["what"], seconds, memory, said["traced"], said["problem"])


def _crash(content: Mapping[str, Any]) -> str | None:
    crash = content.get("crash")
    return str(crash["cause"]) if isinstance(crash, Mapping) and crash.get("cause") else None


def _failure(recorded: Recorded) -> str | None:
    """The first scenario that raised."""
    for scenario in recorded.scenarios.values():
        if scenario.outcome == "failed":
            where = f" ({shown(scenario.place)})" if scenario.place else ""
            return f"{scenario.name}: {scenario.detail}{where}"
    return None


def _random_ops(tf1: Recorded, tf2: Recorded) -> dict[str, tuple[Sequence[RandomOp], Sequence[RandomOp]]]:
    """What each side drew in the scenarios of which both told."""
    found: dict[str, tuple[Sequence[RandomOp], Sequence[RandomOp]]] = {}
    for name in dict.fromkeys((*tf1.scenarios, *tf2.scenarios)):
        both = tf1.scenario(name), tf2.scenario(name)
        draws = drawn(both[0]), drawn(both[1])
        if any(draws) and all("random_ops" in scenario.said for scenario in both):
            found[name] = draws
    return found


def _series(tf1: Recorded, tf2: Recorded, values: Values) -> list[Series]:
    """The scalars of training that both sides recorded."""
    ones, others = Index(tf1.scenario(scenarios.STEPS)), Index(tf2.scenario(scenarios.STEPS))
    found: dict[tuple[str, str], list[tuple[int, float, float]]] = {}
    for step in ones.steps():
        for kind in _SCALARS:
            for one in ones.all(kind, step):
                other = others.find(kind, one.name, step)
                if other is None or one.shape or other.shape or step < 0:
                    continue
                if kind == "regularization" and one.name != "total":
                    continue
                first, second = values.of(one), values.of(other)
                if first.dtype.kind not in "biuf" or second.dtype.kind not in "biuf":
                    continue
                point = (step, float(first), float(second))
                found.setdefault((kind, one.name), []).append(point)
    return [Series(kind, name, *_columns(points)) for (kind, name), points in found.items()]


def _columns(points: list[tuple[int, float, float]]) -> tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...]]:
    return tuple(one[0] for one in points), tuple(one[1] for one in points), tuple(one[2] for one in points)
