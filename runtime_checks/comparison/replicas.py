"""Why training under a distribution strategy is not what it is on one device, by what each replica did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Record, Recorded
from .judging.pairing import Index
from .judging.values import Values
from .results import Cause, Deviation
from .wording import figure, some

__all__ = ["causes", "created", "uneven"]

_CLOSE = 1e-3
"""So near, relatively, two numbers are taken for the same one, such as a ratio and the number of replicas."""
_CLIPS = ("clipnorm", "global_clipnorm", "clipvalue", "clipping", "clip")
_SURE, _LIKELY, _WEAK = 0.95, 0.8, 0.5


def uneven(variant: Recorded, values: Values) -> str:
    """Says so where a batch was not divided evenly over the replicas."""
    index = Index(variant.scenario(scenarios.STEPS))
    for step in index.steps():
        rows = _array(index.find("replica", "rows", step), values)
        if rows is not None and len(set(rows.tolist())) > 1:
            parts = ", ".join(str(int(one)) for one in rows)
            return f"a batch of {int(rows.sum())} rows is not divided evenly over {rows.size} replicas ({parts})"
    return ""


def created(variant: Recorded) -> list[Record]:
    """The variables that replicas made in later steps than the first: a ``tf.function`` refuses that."""
    records = variant.scenario(scenarios.STEPS).records
    return [one for one in records if one.kind == "replica" and one.name.startswith("variable/") and one.step > 0]


def causes(ordinary: Recorded, variant: Recorded, checks: Sequence[Deviation], values: Values) -> list[Cause]:
    """The classes of causes that the first step which differs speaks for, the likeliest first.

    Args:
        ordinary: the training steps on one device.
        variant: the same under a strategy.
        checks: both compared.
        values: of their records.
    """
    failed = [check for check in checks if check.counts and not check.passed]
    made = created(variant)
    found = []
    if made:
        names = some(list({one.place: one.name.partition("/")[2] for one in reversed(made)}.values()))
        text = f"each step makes variables on the replicas ({names}): a tf.function refuses that in its second call"
        found.append(Cause("variables by replica", _SURE, (text,), tf2_place=made[0].place))
    if failed:
        step = min(check.step for check in failed)
        kinds = {check.kind for check in failed if check.step == step}
        found += _Step(ordinary, variant, max(step, 0), values).causes(kinds)
    return sorted(found, key=lambda cause: -cause.weight)


class _Step:
    """One training step, on one device and on replicas."""

    def __init__(self, ordinary: Recorded, variant: Recorded, step: int, values: Values) -> None:
        self._one, self._other = (Index(one.scenario(scenarios.STEPS)) for one in (ordinary, variant))
        self._variant = variant
        self._rates = ordinary.content.get("rates") or ()
        self._step = step
        self._values = values
        rows = self._of_replicas("rows")
        self._count = 0 if rows is None else rows.size
        self._loss = self._minimized()
        self._factor = self._of_gradients()

    def causes(self, kinds: set[str]) -> Iterator[Cause]:
        """What speaks for a cause, given the kinds of values that differ in the step."""
        count = self._count
        if count < 2:
            return
        apart = [one for one in self._other.all("replica", self._step) if one.name.startswith("apart/")]
        if apart:
            names = some([one.name.partition("/")[2] for one in apart])
            text = f"the copies of {names} differ after step {self._step}: the replicas' gradients were not added up"
            yield Cause("gradients not summed", _SURE, (text,), tf2_place=self._place("gradient"))
        yield from self._of_factors()
        yield from self._of_regularization()
        yield from self._of_counters()
        gradients, loss = "gradient" in kinds, self._loss
        if "learning_rate" in kinds:
            yield self._of_rate()
        if gradients and self._factor is None and loss and _near(loss[0], loss[1]):
            clips = self._clips()
            text = "the loss is that of one device, and gradients are not: what is done to them is done on each replica"
            weight = _LIKELY if clips else _WEAK
            evidence = (text, *([f"the optimizer clips: {clips}"] if clips else []))
            yield Cause("clipping by replica", weight, evidence, tf2_place=self._place("gradient"))
        if loss and not _near(loss[0], loss[1]) and self._factor is None:
            text = (
                f"replicas minimize {figure(loss[1])} together, one device {figure(loss[0])}: each divides by a number "
                "of its own, such as the number of its rows that count, or computes something from its rows alone"
            )
            yield Cause("loss by replica", _WEAK, (text,), tf2_place=self._place("loss"))
        computed = kinds & {"gradient", "variable", "update", "slot", "learning_rate"}
        if not computed and kinds & {"metric", "loss"}:
            yield self._of_numbers(kinds)
        if not gradients and kinds & {"variable", "update", "slot"} and "learning_rate" not in kinds:
            text = "gradients are those of one device, and what is made of them is not"
            yield Cause("update by replica", _WEAK, (text,), tf2_place=self._place("gradient"))

    def _of_factors(self) -> Iterator[Cause]:
        """A loss or gradients that are a multiple of those on one device."""
        count, loss, factor = self._count, self._loss, self._factor
        if factor is None or _near(factor, 1.0):
            return
        said = f"all gradients of step {self._step} are {figure(factor)} times those of one device"
        share = None if loss is None or not loss[0] else loss[1] / loss[0]
        weight = _SURE if share is not None and _near(share, 1.0) else _LIKELY
        if share is not None and _near(share, factor) and _near(factor, float(count)):
            text = (
                "and so is what the replicas minimize: each takes the mean over its rows, and optimizers add up the "
                f"gradients of all {count}: divide by the rows of the whole batch, as tf.nn.compute_average_loss does"
            )
            yield Cause("loss by replica", _SURE, (f"{said}, {text}",), tf2_place=self._place("loss"))
        elif share is not None and _near(share, factor):
            text = f"it is divided once more by the number of replicas, {count}"
            if not _near(factor, 1.0 / count):
                text = "it is divided by something that each replica has of its own"
            text = f"and so is what the replicas minimize: {text}"
            yield Cause("loss by replica", _SURE, (f"{said}, {text}",), tf2_place=self._place("loss"))
        elif _near(factor, 1.0 / count):
            text = "while the loss is the same: the mean of the replicas' gradients was taken, and not their sum"
            yield Cause("gradients averaged", weight, (f"{said}, {text}",), tf2_place=self._place("gradient"))
        elif factor > 1:
            text = "while the loss is the same: they are added up twice, by the program and by the optimizer"
            yield Cause("gradients summed twice", weight, (f"{said}, {text}",), tf2_place=self._place("gradient"))

    def _of_regularization(self) -> Iterator[Cause]:
        """What regularizes is added on each replica, and so as often as there are replicas."""
        total = _array(self._one.find("regularization", "total", self._step), self._values)
        if total is None or self._loss is None or not total.size or not float(total):
            return
        one, other = self._loss
        if not _near(one, other) and abs((other - one) - (self._count - 1) * float(total)) <= _CLOSE * abs(other - one):
            text = (
                f"the replicas minimize {figure(other - one)} more than one device, {self._count - 1} times what "
                "regularizes: each adds all of it; tf.nn.scale_regularization_loss divides it by their number"
            )
            yield Cause("regularization by replica", _SURE, (text,), tf2_place=self._place("loss"))

    def _of_counters(self) -> Iterator[Cause]:
        """What is no weight, and moves as often as there are replicas."""
        for one in self._one.all("variable", self._step):
            before = self._one.find("variable", one.name, self._step - 1)
            both = [index.find("variable", one.name, self._step) for index in (self._one, self._other)]
            values = [_array(record, self._values) for record in (before, *both)]
            if any(value is None or value.size != 1 for value in values):
                continue
            start, first, second = (float(np.sum(value)) for value in values)
            if first != start and _near(second - start, self._count * (first - start)):
                text = (
                    f"{one.name} moves {self._count} times as far in step {self._step} as on one device: each replica "
                    "counts the step, and the variable adds up what they count"
                )
                yield Cause("steps counted by replica", _SURE, (text,), tf2_place=self._place("gradient"))

    def _of_rate(self) -> Cause:
        name = "learning_rate"
        one, other = (_array(index.find(name, name, self._step), self._values) for index in (self._one, self._other))
        text = "the learning rate is not that of one device"
        if one is not None and other is not None and one.size == 1 and float(one):
            share = figure(float(other) / float(one))
            text = f"the learning rate of step {self._step} is {share} times that of one device"
            later = self._rate_of_one(self._step * self._count)
            if self._step and later is not None and _near(later, float(other)):
                text += f", that of step {self._step * self._count}: each replica counts the step once more"
                return Cause("steps counted by replica", _SURE, (text,), tf2_place=self._place("gradient"))
        return Cause("learning rate by replica", _LIKELY, (text,), tf2_place=self._place("gradient"))

    def _rate_of_one(self, step: int) -> float | None:
        """The learning rate of a later step on one device, run or not."""
        found = _array(self._one.find("learning_rate", "learning_rate", step), self._values)
        if found is not None:
            return float(found)
        for row in self._rates:
            if row["name"] == "learning_rate" and step in row["steps"]:
                return float(row["values"][row["steps"].index(step)])
        return None

    def _of_numbers(self, kinds: set[str]) -> Cause:
        """A loss or metric that the program puts together otherwise, while training is the same."""
        words = []
        for kind in sorted(kinds & {"metric", "loss"}):
            for one in self._one.all(kind, self._step):
                other = self._other.find(kind, one.name, self._step)
                first, second = _array(one, self._values), _array(other, self._values)
                if first is not None and second is not None and first.size == second.size == 1 and float(first):
                    share = float(second) / float(first)
                    words.append(f"{kind} {one.name} is {figure(share)} times that of one device")
        text = "training is the same, and what is told of it is not: it is put together otherwise than it is made"
        where = self._place("metric") or self._place("loss")
        return Cause("metrics by replica", _SURE, (text, *words), tf2_place=where)

    def _clips(self) -> str:
        """What the optimizers of the program clip by."""
        found = []
        for row in self._variant.content.get("optimizers") or ():
            found += [f"{name}={row[name]}" for name in _CLIPS if row.get(name) not in (None, False, "unknown")]
        return ", ".join(found)

    def _minimized(self) -> tuple[float, float] | None:
        """What one device minimizes, and what all replicas do together."""
        one = _array(self._one.find("loss", "loss", self._step), self._values)
        own = [record for record in self._other.all("replica", self._step) if record.name.startswith("loss/")]
        totals = [float(np.sum(_array(record, self._values))) for record in own]
        other = _array(self._other.find("loss", "loss", self._step), self._values)
        if one is None or one.size != 1 or not totals:
            return None
        if other is not None and any(_near(total, float(other)) for total in totals):
            return float(one), float(other)
        return float(one), totals[0]

    def _of_gradients(self) -> float | None:
        """The one factor by which all gradients differ; None where there is none."""
        factors = []
        for one in self._one.all("gradient", self._step):
            first = _array(one, self._values)
            second = _array(self._other.find("gradient", one.name, self._step), self._values)
            if first is None or second is None or first.shape != second.shape or not np.any(first):
                continue
            first, second = first.astype(np.float64), second.astype(np.float64)
            factor = float(np.sum(first * second) / np.sum(first * first))
            if np.linalg.norm(second - factor * first) > _CLOSE * np.linalg.norm(second):
                return None
            factors.append(factor)
        if not factors or not _near(min(factors), max(factors)):
            return None
        return float(np.mean(factors))

    def _of_replicas(self, name: str) -> Any:
        return _array(self._other.find("replica", name, self._step), self._values)

    def _place(self, kind: str) -> Any:
        """The user's line where a kind of value comes from."""
        for index in (self._other, self._one):
            found = next((one.place for one in index.all(kind, self._step) if one.place is not None), None)
            if found is not None:
                return found
        return None


def _array(record: Record | None, values: Values) -> Any:
    return None if record is None or not record.kept else values.of(record)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _CLOSE * max(abs(one), abs(other))
