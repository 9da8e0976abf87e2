"""TF414: whether a behaviour of TF2 is off once the finding's line has run."""

from __future__ import annotations

import weakref
from typing import Any, Callable

from ..criteria import unreached
from ..errors import one_line
from ..lookup import missing
from ..run import CONFIRMED, FAILED, REFUTED, Finding, Judgement, Run

__all__ = ["judge"]

_confirmed: Any = weakref.WeakKeyDictionary()
"""What was seen stays true when the program switches the behaviour on again in a later phase."""


def judge(finding: Finding, run: Run) -> Judgement:
    """By the name; then by the error of the line or the state of the switch at the end of a phase."""
    known: Judgement | None = _confirmed.get(finding)
    if known is None:
        known = _judge(finding, run)
        if known.verdict == CONFIRMED:
            _confirmed[finding] = known
    return known


def _judge(finding: Finding, run: Run) -> Judgement:
    nowhere = missing(finding) or unreached(finding, run)
    if nowhere is not None:
        return nowhere
    for phase in run.errors_at(finding):
        return Judgement(CONFIRMED, phase.name, one_line(f"the line raised {phase.detail}"))
    ran = run.ran(finding)[0].name
    name = (finding.symbol or "").rpartition(".")[2]
    if name not in _SWITCHES:
        return Judgement(FAILED, ran, f"`{name}` is no switch that can be asked for its state")
    what, is_on = _SWITCHES[name]
    if is_on():
        return Judgement(REFUTED, ran, f"the line ran in the {ran}, and {what} on after it")
    return Judgement(CONFIRMED, ran, f"{what} off for the whole process after the {ran}")


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


_SWITCHES: dict[str, tuple[str, Callable[[], Any]]] = {
    "disable_v2_behavior": ("eager execution is", _eager),
    "disable_eager_execution": ("eager execution is", _eager),
    "disable_resource_variables": ("resource variables are", _resource_variables),
    "disable_tensor_equality": ("equality of tensors by value is", _tensor_equality),
    "disable_v2_tensorshape": ("TensorFlow 2's TensorShape is", _tensor_shapes),
    "disable_control_flow_v2": ("TensorFlow 2's control flow is", _control_flow),
}
