"""TF414: whether a behaviour of TF2 is off once the finding's line has run."""

from __future__ import annotations

from typing import Any, Callable

from ..criteria import unreached
from ..errors import one_line
from ..lookup import missing
from ..phases import Phase
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By the name; then by the error of the line or the state of the switch at the end of a phase, whichever is first.

    What was seen stays true when the program switches the behaviour on again in a later phase.
    """
    nowhere = missing(finding) or unreached(finding, run)
    if nowhere is not None:
        return nowhere
    raised = list(run.errors_at(finding))
    off = [phase for phase, is_on in run.snapshots[finding.id] if not is_on]
    ran = run.ran(finding)[0]
    what = _switch(finding)[0]
    for phase in run.phases[run.phases.index(ran) :]:
        if phase in raised:
            return Judgement(CONFIRMED, phase, one_line(f"the line raised {phase.detail}"))
        if phase in off:
            return Judgement(CONFIRMED, ran, f"{what} off for the whole process after the {ran}")
    if not what:
        return Judgement(FAILED, ran, f"`{finding.called}` is no switch that can be asked for its state")
    return Judgement(REFUTED, ran, f"the line ran in the {ran}, and {what} on after it")


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> bool:
    """Whether the behaviour is on; what cannot be asked counts as on."""
    import tensorflow as tf

    return _switch(finding)[1](tf)


def _switch(finding: StaticFinding) -> tuple[str, Callable[[Any], bool]]:
    return _SWITCHES.get(finding.called, ("", lambda tf: True))


def _has_tensor_shapes(tf: Any) -> bool:
    from tensorflow.python.framework import tensor_shape

    # None is what it is before anybody chooses.
    return tensor_shape._TENSORSHAPE_V2_OVERRIDE is not False


_EAGER = ("eager execution is", lambda tf: bool(tf.compat.v1.executing_eagerly_outside_functions()))
_SWITCHES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "disable_v2_behavior": _EAGER,
    "disable_eager_execution": _EAGER,
    "disable_resource_variables": (
        "resource variables are",
        lambda tf: bool(tf.compat.v1.resource_variables_enabled()),
    ),
    "disable_tensor_equality": ("equality of tensors by value is", lambda tf: bool(tf.Tensor._USE_EQUALITY)),
    "disable_v2_tensorshape": ("TensorFlow 2's TensorShape is", _has_tensor_shapes),
    "disable_control_flow_v2": (
        "TensorFlow 2's control flow is",
        lambda tf: bool(tf.compat.v1.control_flow_v2_enabled()),
    ),
}
"""What can be switched off, in words, and whether it is on, for the module of TensorFlow."""
