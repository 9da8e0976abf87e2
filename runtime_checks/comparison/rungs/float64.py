"""Rung 4x: the same in float64, where rounding is too small to hide a difference."""

from __future__ import annotations

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled, why_missing
from ..results import Status
from ..wording import label

NUMBER = "4x"
TITLE = "the same in float64"
COMPARED = "with `--oracle`: outputs, losses and gradients of the first step in float64, and what float32 rounds"
SCENARIOS = {
    scenarios.INFERENCE: (),
    scenarios.INFERENCE_COPIED: (),
    scenarios.ALIGNED: (),
    scenarios.STEPS: (),
    scenarios.FLOAT64_INFERENCE: (),
    scenarios.FLOAT64_TRAINING: (),
    scenarios.FLOAT64_STEP: (),
}
_WITHOUT = {scenarios.FLOAT64_TRAINING: scenarios.ALIGNED, scenarios.FLOAT64_STEP: scenarios.STEPS}
"""What a side that does not train has not either."""


def judge(climb: Climb) -> Settled:
    """Fails where float64 differs by more than the rounding of constants explains, whatever float32 shows."""
    missing = {}
    for name in scenarios.FLOAT64:
        why = why_missing(climb.both(name)) or climb.other_inputs(name)
        plain = _WITHOUT.get(name)
        idle = plain is not None and any(one.outcome == "not run" for _, one in climb.both(plain))
        if why and not idle:
            missing[why] = label(name)
    told = "; ".join(f"{name}: {why}" for why, name in missing.items())
    checks = list(climb.float64.checks)
    if not checks:
        return Settled(Status.NOT_RUN, told or "neither side was run in float64: --oracle asks for it")
    reason = next(filter(None, (climb.of_outputs(name, checks) for name in {one.scenario for one in checks})), "")
    settled = climb.settle(checks, climb.float64.notes, reason or climb.blind)
    settled = settled._replace(left=(*settled.left, *climb.float64.left))
    if not told:
        return climb.unless_fingerprint_shows(settled)
    if settled.status is Status.FAIL:
        return settled._replace(notes=(*settled.notes, told))
    return settled._replace(status=Status.NOT_RUN, detail=f"{told}; the {len(checks)} values besides agree")
