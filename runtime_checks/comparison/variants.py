"""The TF2 side in another setting, such as on another device or in another precision, held against itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Recorded
from . import pipelines, precision, replicas
from .climb import Climb, Settled, why_missing
from .judging.judge import Judge
from .judging.naming import naming
from .judging.pairing import couples
from .judging.tolerances import NOISE, Policy, named
from .judging.values import Values
from .pipelines import Shared
from .results import Cause, Deviation, Status
from .wording import label, place, some, spoken, subject

__all__ = ["against_itself", "difference"]

_SURE = 0.95
_NO_DATA = Shared()
_TRAINED = ("output", "evaluation", "loss", "metric", "learning_rate", "gradient", "variable", "slot", "tap")
"""Kinds of values of a training step."""
_WORST_FIRST = (Status.FAIL, Status.NOT_RUN, Status.VACUOUS, Status.PASS)


def against_itself(climb: Climb, kind: str) -> Settled:
    """How a rung ends that holds the TF2 side in other settings of a kind against the ordinary one.

    Forward passes and training steps are compared, within three times the noise that was measured in that setting.
    A pass in which the side raises there, and not in the ordinary setting, is a difference.
    """
    found = [
        (str(one.content["variant"]["value"]), _settled(climb, one))
        for one in climb.variants
        if _is(one, kind) and not one.content["variant"].get("control")
    ]
    if not found:
        return Settled(Status.NOT_RUN, f"the TF2 side was run in no other setting: --{kind} asks for it")
    left = tuple(_with(text, value) for value, settled in found for text in settled.left)
    if len(found) == 1:
        return found[0][1]._replace(left=left)
    status = min((settled.status for _, settled in found), key=_WORST_FIRST.index)
    return Settled(
        status,
        "; ".join(settled.detail for _, settled in found if settled.status is status),
        next((settled.needed for _, settled in found if settled.status is status), ""),
        tuple(f"{value}: {note}" for value, settled in found for note in (*_brief(settled, status), *settled.notes)),
        tuple(check for _, settled in found for check in settled.checks),
        left=left,
    )


def difference(before: Recorded, after: Recorded, policy: str | Path | Policy = "noise") -> str:
    """What the TF2 side computes otherwise with other contents of its files, in words; empty where nothing is seen.

    Forward passes and training steps are compared, as between two settings.

    Args:
        before: the TF2 side.
        after: the same with the other contents.
        policy: as `compare` takes it.

    Raises:
        RecordingError: if an array cannot be read.
    """
    with Values() as values:
        names = naming(before, after, {}, {}, (), ())
        climb = Climb(before, after, Judge(before, after, named(policy), names, values, {}))
        said = {"kind": "files", "value": "with other files", "ordinary": "the files as they are"}
        settled = _judged(climb, before, replace(after, content={**after.content, "variant": said}))
    return "" if settled.status is Status.PASS else settled.detail


def _with(text: str, value: str) -> str:
    """What was not compared in one setting, with what explains it in brackets."""
    head, bracket, why = text.partition(" (")
    return f"{head} with {value}{bracket}{why}"


def _brief(settled: Settled, status: Status) -> tuple[str, ...]:
    """What the detail of a rung does not tell of one of its settings."""
    return () if settled.status is status else (f"{settled.status.value}, {settled.detail}",)


def _is(variant: Recorded, kind: str) -> bool:
    return bool(variant.content["variant"]["kind"] == kind)


def _settled(climb: Climb, variant: Recorded) -> Settled:
    """How a setting ends, with what was not compared in it."""
    settled = _ended(climb, variant)
    if not settled.left:
        return settled
    text = f"not compared: {', '.join(settled.left)}"
    if settled.status is Status.PASS:
        return settled._replace(detail=f"{settled.detail}; {text}")
    return settled._replace(notes=(*settled.notes, text))


def _ended(climb: Climb, variant: Recorded) -> Settled:
    """How a setting ends; what is due under a strategy is named, and is no failure."""
    if not _is(variant, "strategy"):
        return _judged(climb, climb.tf2, variant)
    data = _shared(climb, variant)
    settled = _judged(climb, climb.tf2, variant, data)
    if settled.status is not Status.FAIL:
        return settled
    due = None if data.problem else _due(climb, variant)
    if due is None:
        steps = [check for check in settled.checks if check.kind != "data"]
        failed = replicas.causes(_of_itself(climb.tf2), _of_itself(variant), steps, climb.judge.values)
        if data.problem:
            failed.insert(0, Cause("data by replica", _SURE, (data.problem,), tf2_place=data.place))
        climb.causes += failed
        told = tuple(f"{cause.kind}: {cause.evidence[0]}" for cause in failed)
        return settled._replace(notes=(*told, *settled.notes))
    status, text = due
    checks = tuple(replace(check, counts=False) for check in settled.checks)
    return Settled(status, text, notes=(settled.detail, *settled.notes), checks=checks, left=settled.left)


def _shared(climb: Climb, variant: Recorded) -> Shared:
    """What the replicas of a strategy get of the pair's input pipeline, held against one device."""
    one, other = climb.tf2.scenario(scenarios.DATA), variant.scenario(scenarios.DATA)
    if one.outcome == "ok" and other.outcome == "failed":
        return Shared(f"the input pipeline raised: {other.detail}", place=other.place)
    why = why_missing((("one device", one), (str(variant.content["variant"]["value"]), other)))
    if not why:
        return pipelines.shared(one, other, climb.judge.values)
    return _NO_DATA if one.outcome != "ok" else Shared(left=(f"the input pipeline ({why})",))


def _words(variant: Recorded) -> str:
    said = variant.content["variant"]
    return f"TF2 {said['value']} against {said['ordinary']}"


def _due(climb: Climb, variant: Recorded) -> tuple[Status, str] | None:
    """What replicas do otherwise than one device by design, where nothing else is seen to differ."""
    value, words = variant.content["variant"]["value"], _words(variant)
    controls = [one for one in climb.variants if _is(one, "strategy") and one.content["variant"].get("control")]
    ones = [one for one in controls if one.content["variant"]["value"] == scenarios.ALONE]
    others = [one for one in controls if one.content["variant"]["value"] == value]
    if ones and others and value != scenarios.ALONE:
        settled = _judged(climb, ones[0], others[0])
        if settled.status is Status.PASS:
            names = some(variant.content["normalized"])
            text = f"due: batch normalization by replica ({names}): each normalizes by its own rows; synchronized, "
            return Status.PASS, f"{words}: {text}{settled.detail.partition(': ')[2]}"
    uneven = replicas.uneven(variant, climb.judge.values)
    if uneven and not replicas.created(variant):
        text = "due: its replicas do not weigh alike; what else may differ was not compared"
        return Status.NOT_RUN, f"{words}: {uneven}, {text}: give batches that it divides"
    return None


def _judged(climb: Climb, ordinary: Recorded, variant: Recorded, data: Shared = _NO_DATA) -> Settled:
    said, words = variant.content["variant"], _words(variant)
    one, other = _of_itself(ordinary), _of_itself(variant)
    names = naming(one, other, {}, {}, (), ())
    policy, dtype = climb.judge.policy, _dtype(variant)
    if dtype and policy.base == "guide":
        policy = NOISE
    own = Climb(one, other, Judge(one, other, policy, names, climb.judge.values, _noise(), dtype))
    checks, broken, notes = _compared(own, (scenarios.STEPS,) if _is(variant, "strategy") else scenarios.OF_VARIANT)
    known = ordinary.content.get("notes") or ()
    notes += [str(note) for note in variant.content.get("notes") or () if note not in known]
    made = replicas.created(variant)
    if made:
        broken.append(f"replicas make variables in step {made[0].step}")
    missed = precision.idle(one, other) if dtype and variant.content.get("scales_loss") else []
    if missed:
        checks = [replace(check, counts=check.counts and _before(check, missed[0])) for check in checks]
    notes = [*map(_spoken, own.notes(checks)), *notes]
    crash = variant.content.get("crash")
    if crash:
        broken.insert(0, f"it ended early: {crash['cause']}")
    left = (*_alone(own, checks), *data.left)
    if data.agreed or data.problem:
        checks.append(pipelines.deviation(own.judge, data.problem, data.place))
    if data.agreed:
        notes.append(f"input pipeline: {data.agreed}")
    settled = own.settle([_told(check, words, said) for check in checks], notes, "")
    notes = [*_first_layer(settled), *settled.notes, *map(str, said.get("notes") or ())]
    status, detail = settled.status, settled.detail
    elsewhere = variant.content.get("elsewhere")
    unreached = ""
    if dtype:
        notes += precision.notes(one, other, dtype, own.judge.values)
        unreached = precision.unreached(one, other, dtype, own.judge.values)
    if broken:
        status, detail, notes = Status.FAIL, broken[0], [*broken[1:], *notes]
    elif status is Status.VACUOUS:
        status, detail = Status.NOT_RUN, f"nothing was compared: {detail}"
    elif unreached and status is Status.PASS:
        status, detail = Status.NOT_RUN, unreached
    elif missed and status is Status.PASS:
        status, detail = Status.NOT_RUN, f"step {missed[0]} made no update, so what comes after was not compared"
    elif elsewhere and status is Status.PASS:
        status, detail = Status.NOT_RUN, f"outputs were computed on {elsewhere}, since the program says where"
    return settled._replace(status=status, detail=f"{words}: {detail}", notes=tuple(notes), left=left)


def _alone(climb: Climb, checks: Sequence[Deviation]) -> Iterator[str]:
    """What training gave in the ordinary setting alone, of what would be compared."""
    why = why_missing(climb.both(scenarios.STEPS))
    if why:
        yield f"{label(scenarios.STEPS)} ({why})"
        return
    ones, others = climb.indexes(scenarios.STEPS)
    found: list[str] = []
    for step in sorted({*ones.steps()} & {*others.steps()}):
        taken = {id(couple.tf1) for couple in couples(ones, others, step, climb.judge.names)}
        for kind in _TRAINED:
            records = [one for one in ones.all(kind, step) if id(one) not in taken and not one.more.get("auto")]
            found += [spoken(kind, one.name) for one in records]
    if found:
        count = len(found) + sum(check.counts for check in checks)
        yield f"{len(found)} of {count} values ({some(list(dict.fromkeys(found)))})"


def _dtype(variant: Recorded) -> str:
    """The 16-bit dtype that was to be computed in; empty for another kind of setting."""
    said = variant.content["variant"]
    return str(said["value"]).partition("_")[2] if said["kind"] == "precision" else ""


def _before(check: Deviation, step: int) -> bool:
    """Whether a value of training does not depend on the update of a step."""
    if check.scenario != scenarios.STEPS or check.step < step:
        return True
    return check.step == step and check.kind in ("output", "loss", "regularization")


def _spoken(note: str) -> str:
    """A note on two sides as one on two settings."""
    return note.replace(" on TF1, ", " against ").replace(" on TF2", "")


def _of_itself(recorded: Recorded) -> Recorded:
    """A recording of the TF2 side, whose names are those of the other one."""
    known = {name: scenario for name, scenario in recorded.scenarios.items() if name != scenarios.CONVERTERS}
    return replace(recorded, content={**recorded.content, "pair": {}, "brief": False}, scenarios=known)


def _noise() -> dict[str, Sequence[str]]:
    """By scenario, the runs of a setting that measure its noise."""
    return {
        name: [run for run in runs if run != scenarios.STEPS_FORCED]
        for name, runs in scenarios.OF_VARIANT.items()
        if runs
    }


def _compared(climb: Climb, names: Iterable[str]) -> tuple[list[Deviation], list[str], list[str]]:
    """What the passes of these names gave, in which the setting raised, and which were not run."""
    checks: list[Deviation] = []
    broken, notes = [], []
    for name in names:
        one, other = climb.tf1.scenario(name), climb.tf2.scenario(name)
        if one.outcome == "failed":
            notes.append(f"not compared: {label(name)}, which raised in the ordinary setting")
        if one.outcome != "ok":
            continue
        if other.outcome == "failed":
            where = f" ({place(other.place)})" if other.place else ""
            broken.append(f"{label(name)} raised: {other.detail}{where}")
        elif other.outcome != "ok":
            notes.append(f"not compared: {label(name)} ({other.detail})")
        if name == scenarios.STEPS:
            checks += climb.training.checks
        elif other.outcome == "ok":
            problem = climb.other_inputs(name)
            checks += [] if problem else climb.forward(name)
    broken += climb.problems
    return checks, broken, notes


def _told(check: Deviation, words: str, said: dict[str, str]) -> Deviation:
    """What was compared, by the names of the settings."""
    problem = check.problem
    for side, value in (("TF1", said["ordinary"]), ("TF2", said["value"])):
        problem = problem.replace(f"the {side} side", value)
    return replace(check, scenario=f"{check.scenario}: {words}", problem=problem)


def _first_layer(settled: Settled) -> Iterator[str]:
    """The first layer that differs in the pass of the first value that failed."""
    failed = next((check for check in settled.checks if check.counts and not check.passed), None)
    if failed is not None:
        layers = [check for check in settled.checks if check.kind == "tap" and check.scenario == failed.scenario]
        first = next((check for check in layers if not check.passed and check.step == failed.step), None)
        if first is not None:
            yield f"the first {subject(first)} differs"
