"""TF309: whether Keras has a name, or what it makes an attribute."""

from __future__ import annotations

from ..at_line import raises, settle
from ..lookup import decide, versions
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding

_KINDS = ("Callback", "DType", "Layer", "Metric", "Model", "Optimizer", "Variable")


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Names are looked up; an attribute is there or not where its line runs, one that is set where Keras has it."""
    kind, _, member = (finding.subject or "").partition(".")
    if kind not in _KINDS:
        return decide(finding, run)
    if member.endswith(" ="):
        return _is_set(finding, run, member[:-2])
    return raises(finding, run, f"no attribute '{member}'", f"the line ran, and read `{member}`")


def _is_set(finding: StaticFinding, run: Run, member: str) -> Judgement:
    import tensorflow as tf

    reached = settle(finding, run, f"{versions()} has `Optimizer.{member}`")
    if reached.verdict != REFUTED or hasattr(tf.keras.optimizers.Optimizer, member):
        return reached
    return Judgement(CONFIRMED, reached.phase, f"no optimizer of {versions()} looks at `{member}`")
