"""TF406: whether the installed TensorFlow has a name of TF1, and has it elsewhere than in compat.v1."""

from __future__ import annotations

from ..lookup import decide, look_up, versions
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding

_V1 = "tensorflow.compat.v1."


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed where the name is gone; of one that is read through compat.v1, where TF2 has it nowhere else."""
    judgement = decide(finding, run)
    name = finding.subject or ""
    if judgement.verdict != REFUTED or not name.startswith(_V1):
        return judgement
    found, plain = look_up(name).name, look_up("tensorflow." + name.removeprefix(_V1))
    if not plain.error or found != f"tf.compat.v1.{name.removeprefix(_V1)}":
        return judgement
    return Judgement(CONFIRMED, None, f"`{found}` is there, and {versions()} has no `{plain.name}`")
