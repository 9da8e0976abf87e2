"""TF604: whether the optimizer of this line refuses its keywords, or learns at another rate than they ask for."""

from __future__ import annotations

from ..at_line import raises
from ..phases import Phase
from ..rates import living, none_seen, rate_now, same, steps_of
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

_REFUSALS = "not recognized|is deprecated in the new|not a valid argument|unexpected keyword argument"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by the error, or by a rate that is not the one that was asked for."""
    refused = raises(finding, run, _REFUSALS, "")
    if refused.verdict != REFUTED:
        return refused
    seen = run.snapshots[finding.id]
    return Judgement(*seen[-1].value) if seen else none_seen(finding, run)


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict on the first optimizer of the line that is still there."""
    for event, optimizer in living(finding, run):
        given, first = event.detail["given"], event.detail["rate"]
        old = ".legacy." in event.detail["type"].__module__  # which take both
        if old or ("lr" not in given and not given.get("decay")):
            return Judgement(REFUTED, event.phase, "the optimizer took all that it was given")
        if callable(first):
            return Judgement(FAILED, event.phase, "the learning rate is a function, which only the program calls")
        rate = rate_now(optimizer)
        if "lr" in given:
            asked = f"`lr={given['lr']}` was asked for"
            wrong = not same(rate, given["lr"])
            return Judgement(CONFIRMED if wrong else REFUTED, event.phase, f"{asked}, and it learns at {rate:.6g}")
        return _of_decay(event.phase, given["decay"], rate, first, steps_of(optimizer))
    return None


def _of_decay(phase: Phase, decay: float, rate: float, first: object, steps: int) -> Judgement:
    if not steps or not isinstance(first, (int, float)):
        return Judgement(FAILED, phase, f"`decay={decay}` was asked for, and it took no step that would show one")
    old = first / (1 + decay * steps)
    said = f"`decay={decay}` was asked for, and after {steps} steps it learns at {rate:.6g}"
    if same(rate, old):
        return Judgement(REFUTED, phase, said)
    return Judgement(CONFIRMED, phase, f"{said}, where older optimizers learned at {old:.6g}")
