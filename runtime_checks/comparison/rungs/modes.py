"""Rung 8: each side against itself, in its other mode, and once more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Record, Recorded, Scenario
from .. import vacuity
from ..climb import Climb, Settled
from ..draws import drawn, repeating
from ..judging.judge import Judge
from ..judging.measuring import largest, measure
from ..judging.noise_floor import MODERATE
from ..judging.pairing import Couple, Index, couples
from ..results import Deviation, Status
from ..wording import some

NUMBER = "8"
TITLE = "each side in its other modes"
COMPARED = "each side in another mode: a session without grappler, `tf.function` against eager"
SCENARIOS = {scenarios.FINGERPRINT_AGAIN: (), scenarios.STEPS_OTHER: (), scenarios.STEPS_AGAIN: ()}

AMPLIFIED = "steps after the first in other modes, as training amplifies what is rounded"
"""What is not compared then."""
NOISELESS = "steps after the first in other modes, of what TF1 does not have, as their noise is not known"
UNLIKE = (
    "differs from itself where it trains, as where a loop draws or grappler loses a sign, so its training in other "
    "modes was not compared: that is no failure of the migration"
)
_KINDS = frozenset({"output", "loss", "regularization", "metric", "learning_rate", "evaluation"})
_RUNS = (
    (scenarios.FINGERPRINT, scenarios.FINGERPRINT_AGAIN),
    (scenarios.STEPS, scenarios.STEPS_OTHER),
    (scenarios.STEPS, scenarios.STEPS_AGAIN),
)
_MODES = {
    "TF1": {scenarios.STEPS_AGAIN: "session, again", "": "session", "other": "session without grappler"},
    "TF2": {scenarios.STEPS_AGAIN: "eager, again", "": "eager", "other": "tf.function"},
}


def judge(climb: Climb) -> Settled:
    """Fails where a side gives something else in another of its own modes.

    It passes only where both sides were compared with themselves, and raised in no mode.
    """
    checks, notes = _compare_modes(climb.judge, climb.tf1, climb.tf2)
    for side in _unlike_itself(climb, checks):
        checks = [replace(one, counts=False) if _trains(one, side) else one for one in checks]
        notes.append(f"{side} {UNLIKE}")
    unknown = [check for check in checks if _is_noiseless(check)] if climb.judge.policy.base == "noise" else []
    if unknown:
        checks = [replace(check, counts=False) if _is_noiseless(check) else check for check in checks]
        notes.append(f"{NOISELESS}: {some([f'{check.kind} {check.tf1_name}' for check in unknown])}")
    if climb.training.amplified and any(check.step > 0 and not check.passed for check in checks):
        checks = [check if check.passed or check.step < 1 else replace(check, counts=False) for check in checks]
        notes.append(AMPLIFIED)
    if not checks:
        return Settled(Status.NOT_RUN, "; ".join(dict.fromkeys(notes)) or "no other mode was recorded")
    ones, others = climb.indexes(scenarios.STEPS)
    failed = [check for check in checks if check.counts and not check.passed]
    never = vacuity.never_finite(ones, others, climb.judge.values) if failed else ""
    settled = climb.settle(checks, notes, never)
    raised = list(_raised(climb.tf1, climb.tf2))
    raised += _alone(climb, checks)
    if raised and settled.status is Status.PASS:
        return settled._replace(status=Status.NOT_RUN, detail=f"{raised[0]}; {settled.detail}")
    return settled


def _unlike_itself(climb: Climb, checks: Sequence[Deviation]) -> Iterator[str]:
    """The sides that train otherwise each time: a loop draws, or TF1 gave something else in the same mode."""
    for side, recorded in (("TF1", climb.tf1), ("TF2", climb.tf2)):
        again = f"{_mode(side, '')} against {_mode(side, scenarios.STEPS_AGAIN).split(' ', 1)[1]}"
        differs = any(not check.passed and check.scenario.endswith(again) for check in checks)
        fails = any(_trains(check, side) and not check.passed for check in checks)
        turns = repeating(drawn(recorded.scenario(scenarios.STEPS))) and (fails or climb.unlike)
        if turns or (differs and side == "TF1"):
            yield side


def _is_noiseless(check: Deviation) -> bool:
    """Whether it differs in a later step, where its noise would tell whether that is rounding, and is not known."""
    return check.step > 0 and check.floor is None and not check.passed


def _trains(check: Deviation, side: str) -> bool:
    return check.scenario.startswith(f"steps: {side} ")


def _raised(tf1: Recorded, tf2: Recorded) -> Iterator[str]:
    """In which modes a side raised, and what."""
    for _, other in _RUNS:
        for side, recorded in (("TF1", tf1), ("TF2", tf2)):
            run = recorded.scenario(other)
            if run.outcome == "failed":
                yield f"{_mode(side, other)} failed: {run.detail}"


def _alone(climb: Climb, checks: Sequence[Deviation]) -> Iterator[str]:
    """The side of which nothing was compared, such as one that ended early: what agrees is the other's alone."""
    for side, other, recorded in (("TF1", "TF2", climb.tf1), ("TF2", "TF1", climb.tf2)):
        if not any(f" {side} " in check.scenario for check in checks):
            why = recorded.scenario(scenarios.FINGERPRINT).detail or "no other mode was recorded"
            yield f"{side}: {why}; of {other} alone"


def _compare_modes(judge: Judge, tf1: Recorded, tf2: Recorded) -> tuple[list[Deviation], list[str]]:
    """What each side gives in two runs, against the noise of values that were moved by a unit in the last place.

    Outputs, losses, metrics, learning rates and evaluations are compared; what goes wrong with weights is seen in
    them.

    Returns:
        The comparisons, and why others could not be made.
    """
    checks: list[Deviation] = []
    notes: list[str] = []
    for main, other in _RUNS:
        noise = _noise(judge, tf1, tf2, main)
        for at, (side, recorded) in enumerate((("TF1", tf1), ("TF2", tf2))):
            run = recorded.scenario(other)
            if not recorded.scenario(main).records or not run.records:
                if run.outcome == "failed" or (run.outcome == "not run" and run.name in recorded.scenarios):
                    notes.append(f"{_mode(side, other)}: {run.detail}")
                continue
            checks += _side(judge, side, recorded.scenario(main), run, noise[at])
    return checks, notes


Noise = Mapping[tuple[str, str, int], float]


def _noise(judge: Judge, tf1: Recorded, tf2: Recorded, name: str) -> tuple[Noise, Noise]:
    """What moved values change on the TF1 side, by the records of both sides.

    From the second step on training has amplified it, by how much is chance: another mode is noise there as far as the
    noise floor takes it for that.
    """
    ones, others = Index(tf1.scenario(name)), Index(tf2.scenario(name))
    found: tuple[dict[tuple[str, str, int], float], dict[tuple[str, str, int], float]] = {}, {}
    for step in ones.steps():
        for couple in _couples(judge, ones, others, step):
            floor = judge.noise_floor.nudged(name, couple)
            for at, record in enumerate((couple.tf1, couple.tf2)):
                if record is not None and floor is not None:
                    amplified = MODERATE / judge.policy.factor if step > 0 and judge.policy.factor else 1.0
                    found[at][record.kind, record.name, step] = floor * max(1.0, amplified)
    return found


def _couples(judge: Judge, ones: Index, others: Index, step: int) -> Iterator[Couple]:
    for couple in couples(ones, others, step, judge.names):
        if couple.known.kind in _KINDS:
            yield couple
    reached = {id(couple.tf1) for couple in couples(ones, others, step, judge.names)}
    for kind in sorted(_KINDS):
        yield from (Couple(one, None) for one in ones.all(kind, step) if id(one) not in reached)


def _side(judge: Judge, side: str, main: Scenario, run: Scenario, noise: Noise) -> Iterator[Deviation]:
    index = Index(run)
    modes = _mode(side, ""), _mode(side, run.name)
    for record in main.records:
        other = index.find(record.kind, record.name, record.step)
        if record.kind in _KINDS and other is not None and record.kept and other.kept:
            yield _compared(judge, run.name, record, other, modes, noise)


def _compared(
    judge: Judge, scenario: str, one: Record, other: Record, modes: tuple[str, str], noise: Noise
) -> Deviation:
    couple = Couple(one, other, always=one.kind == "evaluation")
    first, second = judge.values.of(one), judge.values.of(other)
    floor = noise.get((one.kind, one.name, one.step))
    allowed = judge.tolerance(scenario, couple, floor=floor, scale=max(largest(first), largest(second)))
    found = measure(first, second, allowed.rtol, allowed.atol)
    words = f"{scenario.split('-', maxsplit=1)[0]}: {modes[0]} against {modes[1].split(' ', 1)[1]}"
    return judge.deviation(words, couple, found, allowed, allowed.judged, floor)


def _mode(side: str, scenario: str) -> str:
    modes = _MODES[side]
    return f"{side} {modes.get(scenario, modes['other'])}"
