"""Rung 0: what the input pipelines of both sides give, a batch at a time."""

from __future__ import annotations

from functools import partial

from ...worker.recording.format import scenarios
from ..climb import Climb, Settled, why_missing
from ..judging.pairing import Couple
from ..pipelines import Pipelines, deviation
from ..results import Status

NUMBER = "0"
TITLE = "input pipelines"
COMPARED = "the batches of both `data` functions: order, number, size, dtype, values, and what is shuffled"
SCENARIOS = {scenarios.DATA: ()}


def judge(climb: Climb) -> Settled:
    """Fails where a batch differs, where one side ends earlier, or where they shuffle in different ways.

    Where both shuffle, the examples of a whole epoch are compared whatever their order.
    """
    why = why_missing(climb.both(scenarios.DATA))
    if why:
        return Settled(Status.NOT_RUN, why)
    pipelines = Pipelines(*climb.indexes(scenarios.DATA), climb.judge.values)
    if not pipelines.any_batch():
        return Settled(Status.VACUOUS, "neither pipeline gives a batch")

    told = partial(deviation, climb.judge)
    if problem := pipelines.structure():
        return climb.settle([told(problem)], (), "")
    pairs = list(pipelines.pairs())
    checks = climb.judge.all(scenarios.DATA, (Couple(*pair) for pair in pairs))
    failed = next((at for at, check in enumerate(checks) if not check.passed), None)
    if failed is None or not any(pipelines.shuffled):
        other_kinds, other_widths = pipelines.dtypes()
        beside = [told(problem) for problem in (*other_kinds, pipelines.end()) if problem]
        notes = list(other_widths)
        if failed is not None:
            notes.append(f"batch {checks[failed].step}, {checks[failed].tf1_name}: {pipelines.became(*pairs[failed])}")
        if not any(pipelines.ended):
            notes.append(f"the first {pairs[-1][0].step + 1} batches were compared, and the pipelines go on")
        return climb.settle([*checks, *beside], notes, "")
    whole = all(pipelines.ended)
    problems = [*filter(None, [pipelines.shuffling(), pipelines.end(), pipelines.examples() if whole else ""])]
    if problems:
        return climb.settle([told(problem) for problem in problems], (), "")
    order = "in which order TF1's threads read is chance" if pipelines.races else "both sides shuffle"
    if not whole:
        return Settled(
            Status.NOT_RUN,
            f"{order}, and not all of the batches were looked at: which examples come was not compared",
        )
    return climb.settle([told("")], [f"{order}: the examples were compared, and not the order"], "")
