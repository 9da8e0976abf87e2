"""The rungs of the ladder: their numbers, their names and what they are called in a report."""

from __future__ import annotations

__all__ = ["RUNGS", "reached"]

RUNGS = {
    "1": ("once", "variables are created once"),
    "2": ("variables", "variables match"),
    "3": ("constant", "all variables at 0.001"),
    "3f": ("fingerprint", "variables filled by their names"),
    "4": ("random", "aligned random numbers"),
    "5": ("checkpoint", "TF1 checkpoint"),
    "6": ("step", "one training step"),
    "7": ("steps", "training steps"),
    "8": ("modes", "each side in its other modes"),
}
"""Name, as ``--until`` takes it, and title by number, from the first rung to the last."""


def reached(until: str | None) -> tuple[str, ...]:
    """The numbers of the rungs up to one, given by number or name; all of them for None.

    Raises:
        ValueError: if there is no such rung.
    """
    numbers = tuple(RUNGS)
    if until is None:
        return numbers
    for at, (number, (name, _)) in enumerate(RUNGS.items(), 1):
        if until in (number, name):
            return numbers[:at]
    known = ", ".join(f"{name} ({number})" for number, (name, _) in RUNGS.items())
    raise ValueError(f"there is no rung {until!r}; there are {known}")
