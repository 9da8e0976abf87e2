"""What raises because a program runs under a strategy of ``tf.distribute``, and why it does."""

from __future__ import annotations

import re

from .at_line import settle
from .errors import essence, one_line
from .run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

__all__ = ["raised_in_fit", "reason"]

_REASONS = {
    "create_per_worker_dataset": (
        "`fit` of Keras 3 does not train under a ParameterServerStrategy; tf_keras does, and so does a loop of your own"
    ),
    "PerReplica.*unsupported type": (
        "`fit` of Keras 3 does not train under a MultiWorkerMirroredStrategy of several workers; tf_keras does, and so "
        "does a loop of your own with `strategy.run` and `strategy.reduce`"
    ),
    "AddN.*same size and shape": (
        "the replicas do not divide the batch, and Keras 3 adds up their shares; give a multiple of their number"
    ),
    "You must feed a value for placeholder tensor 'cond/": (
        "an optimizer of Keras 3 makes its variables in a trace; call `optimizer.build(model.trainable_variables)` in "
        "the scope of the strategy before"
    ),
    "CollectiveReduce": "the first strategy of a process settles the devices of all of them; make one",
    "merge_call. called while defining": (
        "a function that `Strategy.run` calls has a `tf.function` in it that updates variables; decorate the outermost "
        "function alone"
    ),
    "Visible devices cannot be modified": (
        "--strategy has set up the devices before it imports the program; leave that to it"
    ),
}
"""By a regular expression for the text of an error."""


def reason(text: str) -> str:
    """Why a strategy makes a program raise this, and what to do; empty where that is not known."""
    flat = " ".join(text.split())
    return next((why for pattern, why in _REASONS.items() if re.search(pattern, flat)), "")


def raised_in_fit(finding: StaticFinding, run: Run, hazard: str, undecided: str) -> Judgement:
    """The verdict on a finding about ``fit``: confirmed by the error, at its line or in the run's own `fit`.

    Args:
        finding: the static finding.
        run: what was recorded.
        hazard: a regular expression for the texts of the hazard's errors.
        undecided: why a line that ran without the error says nothing; empty where that refutes.
    """
    for phase in (*run.errors_at(finding), *(phase for phase in run.of_kind("fit") if phase.error is not None)):
        if phase.error is not None and re.search(hazard, " ".join(essence(phase.error).split())):
            what = "`fit` of the model" if phase.kind == "fit" else "the line"
            return Judgement(CONFIRMED, phase, one_line(f"{what} raised {phase.detail}"))
    judgement = settle(finding, run, "the line ran, and `fit` trained")
    return Judgement(FAILED, judgement.phase, undecided) if undecided and judgement.verdict == REFUTED else judgement
