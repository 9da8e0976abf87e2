"""What has to be recorded for the rungs of the ladder."""

from __future__ import annotations

from .comparison.rungs import RUNGS, reached
from .worker.recording.format import scenarios as known
from .worker.recording.format.plan import Plan

__all__ = ["plan"]

_SCENARIOS = {
    "once": (known.ONCE, known.STRUCTURE),
    "variables": (known.STRUCTURE,),
    "constant": (known.CONSTANT,),
    "fingerprint": (known.FINGERPRINT,),
    "random": (known.INFERENCE, known.INFERENCE_COPIED, known.TRAINING, known.TRAINING_CONSTANT, known.ALIGNED),
    "checkpoint": (known.CHECKPOINT,),
    "step": (known.STEPS,),
    "steps": (known.STEPS,),
    "modes": (known.FINGERPRINT_AGAIN, known.STEPS_OTHER, known.STEPS_AGAIN),
}
_FOR_NOISE = {
    known.FINGERPRINT: (known.FINGERPRINT_NUDGED, known.FINGERPRINT_AGAIN),
    known.STEPS: (known.STEPS_NUDGED, known.STEPS_OTHER, known.STEPS_AGAIN),
}
"""What measures how far equal programs lie apart."""


def plan(until: str | None, *, noise: bool, steps: int, seed: int) -> Plan:
    """What both sides record for all rungs up to one, by default the last.

    Args:
        until: name or number of the rung.
        noise: also record what the noise floor is measured with.
        steps: of training.
        seed: of all randomness.

    Raises:
        ValueError: if there is no such rung.
    """
    rungs = [RUNGS[number][0] for number in reached(until)]
    wanted: dict[str, None] = {}
    for rung in rungs:
        for scenario in _SCENARIOS[rung]:
            wanted[scenario] = None
            wanted.update(dict.fromkeys(_FOR_NOISE.get(scenario, ()) if noise else ()))
    return Plan(tuple(wanted), 1 if rungs[-1] == "step" else steps, seed)
