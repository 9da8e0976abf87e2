"""What has to be recorded for the rungs of the ladder."""

from __future__ import annotations

import itertools

from .comparison.rungs import ORACLE, reached
from .worker.recording.format import scenarios
from .worker.recording.format.plan import Plan
from .worker.recording.format.scenarios import NUDGED

__all__ = ["alone", "plan", "rest", "variant"]


def plan(
    until: str | None, *, noise: bool, steps: int, seed: int, oracle: bool = False, brief: bool = False
) -> Plan:
    """What both sides record for all rungs up to one, by default the last.

    Args:
        until: name or number of the rung.
        noise: also record all that the noise floor is measured with; without it only the runs from values that were
            moved, which tell whether a difference may be noise.
        steps: of training.
        seed: of all randomness.
        brief: leave out what only explains a difference: the operations, a run that only repeats another one, and
            values that were moved where the policy does not go by the noise.
        oracle: also record what float64 gives, which a rung of its own is about; it is where that rung is the last.

    Raises:
        ValueError: if there is no such rung.
    """
    rungs = [rung for rung in reached(until) if oracle or rung.name != ORACLE or until in (rung.name, rung.number)]
    wanted: dict[str, None] = {}
    for rung in rungs:
        for scenario, runs in rung.module().SCENARIOS.items():
            wanted.update(dict.fromkeys((scenario, *(run for run in runs if noise or run in NUDGED))))
    if not noise:
        wanted.pop(scenarios.STEPS_FORCED, None)
    if brief:
        explaining = (scenarios.STEPS_AGAIN, scenarios.STEPS_FORCED, *(() if noise else NUDGED))
        wanted = {name: None for name in wanted if name not in explaining}
    return Plan(tuple(wanted), _steps(rungs[-1].name, steps), seed, operations=not brief)


def rest(brief: Plan, whole: Plan) -> Plan:
    """What a second run of both sides records where a first and brief one shows a difference."""
    anew = (scenarios.STRUCTURE, *scenarios.WITH_OPERATIONS, scenarios.STEPS)
    return whole._replace(
        scenarios=tuple(name for name in whole.scenarios if name in anew or name not in brief.scenarios)
    )


def alone(rung: str, *, steps: int, seed: int) -> Plan:
    """What the TF2 side records for one rung, given by its name, and nothing that measures noise."""
    last = reached(rung)[-1]
    wanted = (scenarios.STRUCTURE, *last.module().SCENARIOS)
    return Plan(tuple(dict.fromkeys(wanted)), _steps(last.name, steps), seed)


def variant(whole: Plan, kind: str, control: bool = False) -> Plan:
    """What the TF2 side records in another setting, of what both sides do: no operations, but its own noise.

    Under a strategy these are the input pipeline and the training steps; these alone in a control run.
    """
    compared = tuple(scenarios.OF_VARIANT)
    if kind == "strategy":
        compared = (scenarios.STEPS,) if control else (scenarios.DATA, scenarios.STEPS)
    wanted = [(name, *scenarios.OF_VARIANT.get(name, ())) for name in compared if whole.wants(name)]
    return whole._replace(scenarios=(scenarios.STRUCTURE, *itertools.chain(*wanted)), operations=False)


def _steps(last: str, steps: int) -> int:
    """How many are run for the rungs up to one."""
    return 1 if last in ("step", ORACLE) else steps
