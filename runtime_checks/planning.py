"""The rungs of the ladder, and what has to be recorded for them."""

from __future__ import annotations

from .worker.recording import scenarios as known
from .worker.recording.plan import Plan

__all__ = ["RUNGS", "plan", "rung_name"]

RUNGS = ("once", "variables", "constant", "fingerprint", "random", "checkpoint", "step", "steps", "modes")
"""The names of the rungs, as ``--until`` takes them, from the first to the last."""
_NUMBERS = ("1", "2", "3", "3f", "4", "5", "6", "7", "8")
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


def rung_name(text: str) -> str:
    """A rung by its name or number.

    Raises:
        ValueError: if there is none.
    """
    if text in RUNGS:
        return text
    if text in _NUMBERS:
        return RUNGS[_NUMBERS.index(text)]
    names = ", ".join(f"{name} ({number})" for name, number in zip(RUNGS, _NUMBERS, strict=True))
    raise ValueError(f"there is no rung {text!r}; there are {names}")


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
    last = RUNGS[-1] if until is None else rung_name(until)
    wanted: dict[str, None] = {}
    for rung in RUNGS[: RUNGS.index(last) + 1]:
        for scenario in _SCENARIOS[rung]:
            wanted[scenario] = None
            wanted.update(dict.fromkeys(_FOR_NOISE.get(scenario, ()) if noise else ()))
    return Plan(tuple(wanted), 1 if last == "step" else steps, seed)
