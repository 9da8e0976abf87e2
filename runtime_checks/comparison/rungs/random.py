"""Rung 4: random numbers, in initial values, in inference and in a training pass."""

from __future__ import annotations

from collections.abc import Sequence

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Record
from ..climb import Climb, Settled, shows_something, why_missing
from ..draws import drawn, mismatch, parting, same_beginnings, same_seeds, unaligned
from ..initial_values import alike_alone, compare_initial_values, moved_alone
from ..judging.measuring import Measured
from ..judging.naming import trained_by
from ..judging.pairing import Couple
from ..judging.tolerances import Tolerance
from ..results import Deviation, Status

NUMBER = "4"
TITLE = "aligned random numbers"
COMPARED = "random numbers aligned, in inference and in training: initial values, dropout"
SCENARIOS = {
    scenarios.INFERENCE: (),
    scenarios.INFERENCE_COPIED: (),
    scenarios.TRAINING: (),
    scenarios.TRAINING_CONSTANT: (),
    scenarios.ALIGNED: (scenarios.ALIGNED_NUDGED,),
}


def judge(climb: Climb) -> Settled:
    """Fails where initial values, inference or a training pass differ, or what is drawn."""
    why = why_missing(climb.both(scenarios.INFERENCE)) or climb.other_inputs(scenarios.INFERENCE)
    if why:
        return Settled(Status.NOT_RUN, why)
    initial = compare_initial_values(climb.judge, *climb.indexes(scenarios.INFERENCE))
    checks, notes, used = list(initial.checks), list(initial.notes), []
    moved = [recorded.content.get("moved") or () for recorded in (climb.tf1, climb.tf2)]
    indexes = climb.indexes(scenarios.INFERENCE)
    checks += moved_alone(climb.judge, *indexes, *moved)
    wanted = [one.wanted for one in drawn(climb.tf1.scenario(scenarios.INFERENCE)) if one.wanted is not None]
    if len(set(wanted)) == len(wanted):  # what TF1 draws by one seed of the program is the same, and here it is not
        checks += alike_alone(climb.judge, *indexes, trained_by(climb.tf1) or ())
    broken: list[str] = []
    if climb.sampled:
        begun = climb.settle(checks, notes, climb.blind)
        return begun if begun.status is Status.FAIL else begun._replace(status=Status.NOT_RUN, detail=climb.sampled)
    if initial.equal:
        own = same_seeds(*(drawn(scenario) for _, scenario in climb.both(scenarios.INFERENCE)))
        copied = climb.tf2.scenario(scenarios.INFERENCE_COPIED).outcome == "ok"
        judged = [scenarios.INFERENCE if own or not copied else scenarios.INFERENCE_COPIED]
        judged += [one for one in (scenarios.TRAINING, scenarios.TRAINING_CONSTANT) if _same_draws(climb, one, notes)]
    else:
        judged = [scenarios.INFERENCE_COPIED]
    for scenario in judged if climb.turns else (*judged, scenarios.ALIGNED):
        if all(scenario not in recorded.scenarios for recorded in (climb.tf1, climb.tf2)):
            continue
        missing = why_missing(climb.both(scenario)) or climb.other_inputs(scenario)
        found = [] if missing else climb.forward(scenario)
        lacking = missing or climb.without_outputs(scenario)
        if lacking:
            notes.append(f"{scenario}: {lacking}")
        if any(recorded.outcome == "failed" for _, recorded in climb.both(scenario)):
            broken.append(f"{scenario}: {missing}")
        if not lacking or shows_something(found):
            checks += found
            used.append(scenario)
    ledger, told = ([], []) if climb.turns else _ledger(climb, checks)
    notes += told
    checks = ledger + checks
    empty = "" if used else "neither inference nor training could be compared: " + "; ".join(notes)
    reason = next(filter(None, (climb.of_outputs(name, checks) for name in used)), climb.blind)
    if empty and not any(not check.passed for check in checks):
        return Settled(Status.NOT_RUN, empty, notes=tuple(notes), checks=tuple(checks))
    settled = climb.settle(checks, (*notes, *climb.notes(checks)), reason)
    if climb.turns and settled.status is Status.PASS:
        return settled._replace(status=Status.VACUOUS, detail=f"training {climb.turns}")
    if broken and settled.status is Status.PASS:
        return settled._replace(status=Status.NOT_RUN, detail=broken[0])
    return climb.unless_fingerprint_shows(settled)


def _same_draws(climb: Climb, name: str, notes: list[str]) -> bool:
    """Whether random numbers of a training pass can be the same on both sides."""
    one, other = (drawn(scenario) for _, scenario in climb.both(name))
    if same_seeds(one, other):
        return same_beginnings(one, other)
    if not mismatch(one, other):
        notes.append(
            f"{name}: random operations come in another order than the initial values, so they draw other numbers; "
            f"compared in {scenarios.ALIGNED}"
        )
    return False


def _ledger(climb: Climb, checks: Sequence[Deviation]) -> tuple[list[Deviation], list[str]]:
    """What one side draws and the other does not; it counts unless the outputs of training agree all the same."""
    name = scenarios.ALIGNED
    if why_missing(climb.both(name)):
        name = scenarios.TRAINING
    both = climb.both(name)
    if why_missing(both):
        return [], []
    text, elsewhere = unaligned(*([scenario for _, scenario in climb.both(one)] for one in (name, scenarios.STEPS)))
    if not text:
        return [], [elsewhere] if elsewhere else []
    judged = [check for check in checks if check.scenario == scenarios.ALIGNED and check.counts]
    if judged and all(check.passed for check in judged):
        return [], [f"random operations differ, but the outputs agree: {text}"]
    places = parting(*(drawn(scenario) for _, scenario in both))
    draws = [Record("random", "random operations", 0, -1, "", (), place, {}, None, "") for place in places]
    differ = Measured(False, problem=text)
    found = climb.judge.deviation(name, Couple(draws[0], draws[1]), differ, Tolerance(0.0, 0.0), True, None)
    return [found], [f"random operations: {text}"]
