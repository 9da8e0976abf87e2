"""TF612: what the loss of the model gives for its outputs, taken for probabilities and for logits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..at_line import settle
from ..both_ways import ROUNDING
from ..errors import one_line, text_of
from ..phases import Phase
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

_FUNCTIONS = ("sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy")
_SCALES = (1.0, -10.0, 100.0)
"""Of the inputs, so that no logits lie between 0 and 1 by chance."""


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By both losses of the outputs for the sample inputs, when the run is over."""
    settled = settle(finding, run, "")
    if settled.verdict != REFUTED:
        return settled
    seen = run.snapshots[finding.id]
    return Judgement(*seen[-1].value) if seen else Judgement(FAILED, settled.phase, "the run has not come to its end")


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    ran = run.ran(finding) if phase is None else []
    if not ran:
        return None
    if finding.called not in ("", "compile") or not hasattr(run.model, "compile"):
        return Judgement(FAILED, ran[-1], "a run looks at the loss that its model is compiled with alone")
    loss = getattr(run.model, "loss", None)
    function = _function_of(loss)
    if not function:
        return Judgement(REFUTED, ran[-1], "the model that was run is compiled with no cross-entropy")
    if getattr(loss, "from_logits", None) or getattr(loss, "_fn_kwargs", {}).get("from_logits"):
        return Judgement(REFUTED, ran[-1], "the loss is told that it is given logits")
    try:
        outputs = [_output(run, scale) for scale in _SCALES]
    except Exception as error:
        return Judgement(FAILED, ran[-1], one_line(f"the model gives no outputs to compare: {text_of(error)}"))
    return _verdict(function, outputs, ran[-1])


def _function_of(loss: Any) -> str:
    name = loss if isinstance(loss, str) else getattr(loss, "__name__", getattr(loss, "name", ""))
    plain = str(name).replace("_", "").lower()
    return next((one for one in _FUNCTIONS if one.replace("_", "") == plain), "")


def _output(run: Run, scale: float) -> Any:
    """The one output of the model, of the sample inputs times a number, as an array."""
    import tensorflow as tf

    def scaled(value: Any) -> Any:
        is_number = tf.is_tensor(value) and value.dtype.is_floating
        return tf.cast(scale, value.dtype) * value if is_number else value

    args, kwargs = tf.nest.map_structure(scaled, (run.sample.args, run.sample.kwargs))
    (output,) = tf.nest.flatten(run.model(*args, **kwargs))
    return output.numpy()


def _verdict(function: str, outputs: list[Any], phase: Phase) -> Judgement:
    import tensorflow as tf

    low, high = (float(limit([limit(one) for one in outputs])) for limit in (np.min, np.max))
    sums = [output.astype(np.float64).sum(axis=-1) for output in outputs]
    whole = function == "binary_crossentropy" or all(np.allclose(one, 1.0, atol=1e-2) for one in sums)
    if low >= 0 and high <= 1 and whole:
        return Judgement(REFUTED, phase, f"the outputs are probabilities: they lie between {low:.3g} and {high:.3g}")
    output = outputs[0]
    targets = np.zeros(output.shape[:-1], np.int32) if function.startswith("sparse") else np.zeros_like(output)
    if function.startswith("categorical"):
        targets[..., 0] = 1
    taken = getattr(tf.keras.losses, function)
    given = tf.constant(targets), tf.constant(output)
    now, logits = (float(tf.reduce_mean(taken(*given, from_logits=told))) for told in (False, True))
    said = f"for targets of the first class and the sample inputs the loss is {now:.4g} where logits give {logits:.4g}"
    limit = ROUNDING.get(str(output.dtype), 1e-5)
    if abs(now - logits) <= limit * max(abs(now), abs(logits)):
        return Judgement(REFUTED, phase, said)
    return Judgement(CONFIRMED, phase, said)
