"""TF414: whether a behaviour of TF2 is off once the finding's line has run."""

from __future__ import annotations

from typing import Callable

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
        return Judgement(FAILED, ran, f"`{_name(finding)}` is no switch that can be asked for its state")
    return Judgement(REFUTED, ran, f"the line ran in the {ran}, and {what} on after it")


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> bool:
    """Whether the behaviour is on; what cannot be asked counts as on."""
    return _switch(finding)[1]()


def _name(finding: StaticFinding) -> str:
    return finding.called


def _switch(finding: StaticFinding) -> tuple[str, Callable[[], bool]]:
    return _SWITCHES.get(_name(finding), ("", lambda: True))


def _eager() -> bool:
    import tensorflow as tf

    return bool(tf.compat.v1.executing_eagerly_outside_functions())


def _resource_variables() -> bool:
    import tensorflow as tf

    return bool(tf.compat.v1.resource_variables_enabled())


def _tensor_equality() -> bool:
    import tensorflow as tf

    return bool(tf.Tensor._USE_EQUALITY)


def _tensor_shapes() -> bool:
    from tensorflow.python.framework import tensor_shape

    # None is what it is before anybody chooses.
    return tensor_shape._TENSORSHAPE_V2_OVERRIDE is not False


def _control_flow() -> bool:
    import tensorflow as tf

    return bool(tf.compat.v1.control_flow_v2_enabled())


_SWITCHES: dict[str, tuple[str, Callable[[], bool]]] = {
    "disable_v2_behavior": ("eager execution is", _eager),
    "disable_eager_execution": ("eager execution is", _eager),
    "disable_resource_variables": ("resource variables are", _resource_variables),
    "disable_tensor_equality": ("equality of tensors by value is", _tensor_equality),
    "disable_v2_tensorshape": ("TensorFlow 2's TensorShape is", _tensor_shapes),
    "disable_control_flow_v2": ("TensorFlow 2's control flow is", _control_flow),
}
