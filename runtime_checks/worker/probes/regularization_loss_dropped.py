"""TF617: how large the penalties are that the step of this line leaves out."""

from __future__ import annotations

from ..at_line import settle
from ..creation import holds_frame
from ..phases import Phase
from ..replay import applied_at
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding
from ..signature import losses_of


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Refuted where the function around the line reads ``losses``, or they are 0 when the run is over."""
    settled = settle(finding, run, "the line called no layer or model")
    if settled.verdict != REFUTED or not applied_at(finding, run):
        return settled
    reads = [event for event in run.events("penalties") if holds_frame(finding, event, finding.function)]
    if reads:
        return Judgement(REFUTED, reads[0].phase, f"the step read the penalties, at line {reads[0].frames[0].line}")
    seen = run.snapshots[finding.id]
    return Judgement(*seen[-1].value) if seen else settled._replace(verdict=FAILED, detail="the run has not ended")


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The sum of the penalties, at the end of the run."""
    calls = applied_at(finding, run) if phase is None else []
    if not calls:
        return None
    values = [float(loss) for loss in losses_of(calls[0].subject()) if hasattr(loss, "numpy")]
    said = f"the penalties of the model are {sum(values):.3g} ({len(values)} of them)"
    if any(values):
        return Judgement(CONFIRMED, calls[0].phase, f"{said}, and the step never reads them")
    return Judgement(REFUTED, calls[0].phase, said)
