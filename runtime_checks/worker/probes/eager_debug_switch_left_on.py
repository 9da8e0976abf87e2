"""TF218: whether a switch for debugging is still on when the program has run."""

from __future__ import annotations

from typing import Any

from ..criteria import conclude
from ..run import CONFIRMED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the line ran and what it switches is on at the end of the run."""
    ran = run.ran(finding)
    if ran and _is_on(finding, run):
        return Judgement(CONFIRMED, ran[0], f"the switch was set in the {ran[0]}, and is on at the end of the run")
    return conclude(finding, run, ran, "the switch was off again at the end of the run")


def _is_on(finding: StaticFinding, run: Run) -> bool:
    import tensorflow as tf

    if finding.called == "run_eagerly":
        models: list[Any] = [run.model, run.keeper]
        return any(getattr(model, "run_eagerly", False) is True for model in models)
    if finding.called == "enable_debug_mode":
        from tensorflow.python.data.ops import debug_mode

        return bool(debug_mode.DEBUG_MODE)
    return bool(tf.config.functions_run_eagerly())
