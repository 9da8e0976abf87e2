"""What has to be recorded for the rungs of the ladder."""

from __future__ import annotations

from .comparison.rungs import reached
from .worker.recording.format import scenarios
from .worker.recording.format.plan import Plan
from .worker.recording.format.scenarios import NUDGED

__all__ = ["alone", "moved", "plan"]


def plan(until: str | None, *, noise: bool, steps: int, seed: int, close: bool = True) -> Plan:
    """What both sides record for all rungs up to one, by default the last.

    Args:
        until: name or number of the rung.
        noise: also record all that the noise floor is measured with; without it only the runs from values that were
            moved, which tell whether a difference may be noise.
        steps: of training.
        seed: of all randomness.
        close: also record what only a difference asks for: how large noise is, and single operations.

    Raises:
        ValueError: if there is no such rung.
    """
    rungs = reached(until)
    wanted: dict[str, None] = {}
    for rung in rungs:
        for scenario, runs in rung.module().SCENARIOS.items():
            wanted.update(dict.fromkeys((scenario, *(run for run in runs if close and (noise or run in NUDGED)))))
    return Plan(tuple(wanted), 1 if rungs[-1].name == "step" else steps, seed, close)


def moved(whole: Plan) -> Plan:
    """Of a plan the runs from values that were moved, which the TF1 side alone records."""
    return whole._replace(scenarios=tuple(name for name in whole.scenarios if name in NUDGED), operations=False)


def alone(rung: str, *, steps: int, seed: int) -> Plan:
    """What the TF2 side records for one rung, given by its name, and nothing that measures noise."""
    last = reached(rung)[-1]
    wanted = (scenarios.STRUCTURE, *last.module().SCENARIOS)
    return Plan(tuple(dict.fromkeys(wanted)), 1 if last.name == "step" else steps, seed)
