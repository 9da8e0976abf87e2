"""Comparisons that could not have failed: what they show is nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Record, Recorded, Scenario
from .judging.measuring import largest
from .judging.pairing import Index
from .judging.values import Values
from .results import Deviation
from .wording import figure

__all__ = [
    "all_zero", "always_zero", "blind", "never_finite", "no_inputs", "nothing_learnt", "of_outputs", "of_pair",
    "unmoved", "unmoved_outputs", "within"
]


_TEXTS = ("str", "bytes", "object")
_PASSES = (
    scenarios.FINGERPRINT, scenarios.CONSTANT, scenarios.INFERENCE, scenarios.INFERENCE_COPIED, scenarios.TRAINING,
    scenarios.ALIGNED, scenarios.CHECKPOINT, scenarios.STEPS
)


def of_pair(tf1: Recorded, tf2: Recorded) -> str:
    """Why no value of the pair can show anything; empty where it can."""
    said = [recorded.content.get("pair") for recorded in (tf1, tf2)]
    if any(isinstance(pair, dict) and pair.get("same") for pair in said):
        return "both sides are the same object"
    if not tf1.content.get("variables") and not tf2.content.get("variables"):
        structures = [recorded.scenario(scenarios.STRUCTURE).outcome for recorded in (tf1, tf2)]
        if structures == ["ok", "ok"]:
            return "neither side has variables"
    return ""


def of_outputs(tf1: Scenario, tf2: Scenario, values: Values) -> str:
    """Why the outputs of a forward pass show nothing: all zero, or nothing but NaN or infinities, on both sides."""
    outputs = [_outputs(scenario) for scenario in (tf1, tf2)]
    if not all(outputs):
        return ""
    if all(all_zero(records, values) for records in outputs):
        return "all outputs are zero on both sides"
    if all(_each(records, values, lambda value: bool(np.all(np.isnan(value)))) for records in outputs):
        return "all outputs are NaN on both sides"
    if all(_each(records, values, lambda value: not np.any(np.isfinite(value))) for records in outputs):
        return "no output is finite on either side"
    return ""


def within(checks: Iterable[Deviation], tf1: Scenario, tf2: Scenario, values: Values) -> str:
    """Why the outputs of a forward pass could not have failed: on both sides they are smaller than what may differ."""
    bounds = {end: (check.rtol, check.atol) for check in checks if check.kind == "output" for end in _ends(check)}
    records = [(side, record) for side, scenario in (("tf1", tf1), ("tf2", tf2)) for record in _outputs(scenario)]
    if not bounds or not records or any(record.dtype.startswith(_TEXTS) for _, record in records):
        return ""
    if all(_below(values.of(record), *bounds.get((side, record.name), (-1.0, -1.0))) for side, record in records):
        rtol, atol = (max(bound[at] for bound in bounds.values()) for at in (0, 1))
        relative = f"rtol {figure(rtol)}, " if rtol >= 1 else ""
        return f"all outputs are smaller than what may differ ({relative}atol {figure(atol)})"
    return ""


def _below(value: Any, rtol: float, atol: float) -> bool:
    """Whether zeros would pass for a value."""
    size = largest(value)
    return size <= atol + rtol * size


def _ends(check: Deviation) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("tf1", check.tf1_name), ("tf2", check.tf2_name)


def all_zero(records: Iterable[Record], values: Values) -> bool:
    """Whether every number of some records is zero."""
    return _each(records, values, lambda value: not np.any(value))


def blind(tf1: Recorded, tf2: Recorded, values: Values) -> str:
    """Why the outputs show nothing of the variables: they are the same whatever the variables are filled with."""
    found = [_unmoved_outputs(recorded, values) for recorded in (tf1, tf2)]
    if all(names and all(names.values()) for names in found):
        return "the outputs are the same whatever the variables are filled with"
    return ""


def unmoved_outputs(tf1: Recorded, tf2: Recorded, values: Values) -> list[str]:
    """A note on outputs, beside others, that are the same whatever the variables are filled with, on both sides."""
    one, other = (_unmoved_outputs(recorded, values) for recorded in (tf1, tf2))
    names = sorted(name for name, same in one.items() if same and other.get(name))
    if not names or (all(one.values()) and all(other.values())):
        return []
    return [f"the same whatever the variables are filled with, so it shows nothing of them: output {', '.join(names)}"]


def _unmoved_outputs(recorded: Recorded, values: Values) -> dict[str, bool]:
    """Whether an output is the same with both fills; none where one of them was not recorded."""
    constant, other = recorded.scenario(scenarios.CONSTANT), recorded.scenario(scenarios.FINGERPRINT)
    if constant.outcome != "ok" or other.outcome != "ok":
        return {}
    others = Index(other)
    found = {}
    for one in _outputs(constant):
        twin = others.find("output", one.name, one.step)
        found[one.name] = twin is not None and np.array_equal(values.of(one), values.of(twin), equal_nan=_floating(one))
    return found


def always_zero(tf1: Recorded, tf2: Recorded, values: Values) -> str:
    """Which floating outputs, beside others, show nothing: zero, infinite or empty on both sides, whatever was run."""
    zero: set[str] | None = None
    for recorded in (tf1, tf2):
        found = _zero_names(recorded, values)
        zero = found if zero is None else zero & found
    names = sorted(zero or ())
    if not names:
        return ""
    kind = "output" if len(names) == 1 else "outputs"
    return f"{kind} {', '.join(names)}: no number but zeros on both sides, whatever was run"


def _zero_names(recorded: Recorded, values: Values) -> set[str]:
    zero: dict[str, bool] = {}
    for name in _PASSES:
        for record in recorded.scenario(name).records:
            if record.kind not in ("output", "evaluation") or not record.kept or not _floating(record):
                continue
            if zero.get(record.name, True):
                zero[record.name] = _is_nothing(values.of(record))
    return {name for name, holds in zero.items() if holds}


def _is_nothing(value: Any) -> bool:
    """Whether there is neither NaN, which is never equal, nor a finite number other than zero."""
    return not np.any(np.isnan(value)) and not np.any(np.isfinite(value) & (value != 0))


def no_inputs(tf1: Recorded, tf2: Recorded, values: Values) -> str:
    """Whether all that both sides ever got are floating zeros: then no kernel shows in what they compute."""
    for recorded in (tf1, tf2):
        inputs = [
            record
            for name in _PASSES
            for record in recorded.scenario(name).records
            if record.kind == "input" and record.kept
        ]
        if not inputs or not all(_floating(record) for record in inputs) or not all_zero(inputs, values):
            return ""
    return "all inputs are zero"


def nothing_learnt(tf1: Index, tf2: Index, trainable: dict[str, set[str]], values: Values) -> str:
    """Why training steps show nothing: no trainable variable changes in any of them, on neither side.

    Args:
        tf1: the steps of TF1.
        tf2: the steps of TF2.
        trainable: names of variables by side.
        values: reads them.
    """
    still = True
    for side, index in (("tf1", tf1), ("tf2", tf2)):
        if not index.all("variable", -1) or not any(index.all("variable", step) for step in index.steps() if step >= 0):
            return ""  # nothing is known of the weights
        if any(_changes(index, name, values) for name in trainable[side]):
            return ""
        gradients = [record for step in index.steps() for record in index.all("gradient", step)]
        still = still and all_zero(gradients, values)
    if not any(trainable.values()):
        return "neither side has a trainable variable, so nothing is learnt"
    if still:
        return "the loss does not depend on the weights: no gradient is other than zero, and no trainable one changes"
    return "no trainable variable changes on either side, in any step, so nothing is seen of the updates"


def unmoved(index: Index, trainable: Iterable[str], values: Values) -> set[str]:
    """The trainable variables that are after the last step what they were before the first."""
    known = {record.name for record in index.all("variable", -1)}
    return {name for name in trainable if name in known and not _changes(index, name, values)}


def never_finite(tf1: Index, tf2: Index, values: Values) -> str:
    """Whether no loss of any training step is a finite number, on either side."""
    for index in (tf1, tf2):
        losses = [record for step in index.steps() for record in index.all("loss", step)]
        if not losses or not _each(losses, values, lambda value: not np.any(np.isfinite(value))):
            return ""
    return "the loss is not finite in any step, on either side"


def _changes(index: Index, name: str, values: Values) -> bool:
    first = index.find("variable", name, -1)
    if first is None:
        return False
    start = values.of(first)
    for step in index.steps():
        later = index.find("variable", name, step) if step >= 0 else None
        if later is not None and not np.array_equal(start, values.of(later), equal_nan=_floating(later)):
            return True
    return False


def _outputs(scenario: Scenario) -> list[Record]:
    return [record for record in scenario.records if record.kind == "output" and record.kept]


def _floating(record: Record) -> bool:
    return record.dtype.startswith(("float", "bfloat", "complex"))


def _each(records: Iterable[Record], values: Values, holds: Any) -> bool:
    found = (values.of(record) for record in records)
    return all(value.dtype.kind not in "SU" and holds(value) for value in found)
