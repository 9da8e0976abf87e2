"""What has to be recorded for the rungs of the ladder."""

from __future__ import annotations

from .comparison.rungs import ORACLE, reached
from .worker.recording.format import scenarios
from .worker.recording.format.plan import Plan
from .worker.recording.format.scenarios import NUDGED

__all__ = ["alone", "plan"]


def plan(until: str | None, *, noise: bool, steps: int, seed: int, oracle: bool = False) -> Plan:
    """What both sides record for all rungs up to one, by default the last.

    Args:
        until: name or number of the rung.
        noise: also record all that the noise floor is measured with; without it only the runs from values that were
            moved, which tell whether a difference may be noise.
        steps: of training.
        seed: of all randomness.
        oracle: also record what float64 gives, which a rung of its own is about; it is where that rung is the last.

    Raises:
        ValueError: if there is no such rung.
    """
    rungs = [rung for rung in reached(until) if oracle or rung.name != ORACLE or until in (rung.name, rung.number)]
    wanted: dict[str, None] = {}
    for rung in rungs:
        for scenario, runs in rung.module().SCENARIOS.items():
            wanted.update(dict.fromkeys((scenario, *(run for run in runs if noise or run in NUDGED))))
    return Plan(tuple(wanted), _steps(rungs[-1].name, steps), seed)


def alone(rung: str, *, steps: int, seed: int) -> Plan:
    """What the TF2 side records for one rung, given by its name, and nothing that measures noise."""
    last = reached(rung)[-1]
    wanted = (scenarios.STRUCTURE, *last.module().SCENARIOS)
    return Plan(tuple(dict.fromkeys(wanted)), _steps(last.name, steps), seed)


def _steps(last: str, steps: int) -> int:
    """How many are run for the rungs up to one."""
    return 1 if last in ("step", ORACLE) else steps
