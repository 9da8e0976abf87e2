"""Training steps of both sides, step by step, as far as both were recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Recorded
from ..worker.recording.pairs.mapping import plain
from . import vacuity
from .batches import other_batch
from .judging.judge import Judge, scale_of
from .judging.measuring import largest, measure, numeric
from .judging.pairing import Couple, Index, couples, slot_of
from .judging.tolerances import coarser, epsilon
from .results import Deviation
from .wording import some

__all__ = ["Training", "compare_training"]

_ULPS = 4
_PROPAGATED = 3.0
_OF_ORDER = 0.2
"""Of the change of a moving average: at most what another order of its updates makes of it."""


class Training(NamedTuple):
    """All training steps, compared.

    `problem` says that the sides got other data, `amplified` that later steps differ by rounding alone, `open_order`
    what differs and is TF1's chance, `unmoved` the TF1 names of the weights that no step changes on either side,
    `vacuous` why nothing could differ.
    """

    checks: list[Deviation]
    problem: str
    amplified: str
    open_order: str
    unmoved: list[str]
    vacuous: str


def compare_training(judge: Judge, tf1: Recorded, tf2: Recorded) -> Training:
    """Compare what both sides recorded of their training, before the step in which they got other data."""
    ones, others = (Index(recorded.scenario(scenarios.STEPS)) for recorded in (tf1, tf2))
    other = other_batch(ones, others, judge.values)
    checks = _compare_steps(judge, ones, others, None if other is None else other.step)
    checks, open_order = _without_open_order(judge, checks, ones, tf1)
    checks, amplified = _without_amplified(judge, checks, ones, tf2)
    trainable = {"tf1": _trainable(tf1), "tf2": _trainable(tf2)}
    nothing = vacuity.nothing_learnt(ones, others, trainable, judge.values)
    first, second = (
        vacuity.unmoved(index, trainable[side], judge.values) for side, index in (("tf1", ones), ("tf2", others))
    )
    both = sorted(name for name in first if judge.names.to_tf2.get(name) in second)
    return Training(
        checks,
        "" if other is None else f"the sides got other data: {other.text}",
        amplified,
        open_order,
        both,
        nothing or vacuity.never_finite(ones, others, judge.values),
    )


def _without_open_order(
    judge: Judge, checks: list[Deviation], ones: Index, tf1: Recorded
) -> tuple[list[Deviation], str]:
    """Let what differs not count that TF1 updates several times a step in no order, nor an evaluation with it.

    Weights do: a program that leaves open how it trains them has no numbers to be held to. As averages keep most of
    what they are, another order is felt in a small part of what a step changes: what is further apart has another
    reason.
    """
    names = {plain(str(name)) for name in tf1.content.get("open_order") or ()} - _trainable(tf1)
    failed = [check for check in checks if check.counts and not check.passed]
    moved = [check for check in failed if check.kind in ("update", "variable") and check.tf1_name in names]
    if not moved or not all(check.error <= _OF_ORDER * _change(judge, ones, check) for check in moved):
        return checks, ""
    ids = {id(check) for check in failed if check in moved or check.kind == "evaluation"}
    text = (
        "what TF1 updates several times a step in an order that its graph leaves open, so that each run may give "
        f"another value ({some(list(dict.fromkeys(check.tf1_name for check in moved)))}), and evaluations with it"
    )
    return [replace(check, counts=False) if id(check) in ids else check for check in checks], text


def _change(judge: Judge, ones: Index, check: Deviation) -> float:
    """The largest change of a variable up to a step, on TF1."""
    records = [ones.find("variable", check.tf1_name, step) for step in (-1, check.step)]
    if any(record is None or not record.kept for record in records):
        return 0.0
    before, after = (np.asarray(judge.values.of(record), np.float64) for record in records if record is not None)
    return float(np.max(np.abs(after - before), initial=0.0)) if before.shape == after.shape else 0.0


def _without_amplified(
    judge: Judge, checks: list[Deviation], tf1: Index, tf2: Recorded
) -> tuple[list[Deviation], str]:
    """Let later steps count that differ by more than rounding which training amplifies, and say so of the others.

    That is all where each step by itself, begun with TF1's weights, agrees within the noise of the first one.
    """
    failed = [check for check in checks if check.counts and not check.passed and not check.is_alone]
    forced = tf2.scenario(scenarios.STEPS_FORCED)
    if not failed or any(check.step < 1 for check in failed) or forced.outcome != "ok" or judge.policy.base != "noise":
        return checks, ""
    own = [one for one in _compare_steps(judge, tf1, Index(forced), scenario=scenarios.STEPS_FORCED) if one.step > 0]
    counted = [check for check in own if check.counts and not check.is_alone]
    compared = {(check.kind, check.tf1_name, check.step) for check in counted}
    if not all(check.passed for check in counted):
        return checks, ""
    if any((check.kind, check.tf1_name, check.step) not in compared for check in failed if check.kind != "tap"):
        return checks, ""
    names = some([f"{check.kind} {check.tf1_name}" for check in failed])
    text = (
        f"training amplifies what is rounded: from step {min(check.step for check in failed)} on {len(failed)} values "
        f"differ ({names}), and each step by itself, begun with TF1's weights, agrees ({len(counted)} values)"
    )
    ids = {id(check) for check in failed}
    return [replace(check, counts=False) if id(check) in ids else check for check in checks], text


def _trainable(recorded: Recorded) -> set[str]:
    variables = recorded.content.get("variables", ())
    return {plain(str(variable["name"])) for variable in variables if variable.get("trainable", True)}


def _compare_steps(
    judge: Judge, tf1: Index, tf2: Index, until: int | None = None, scenario: str = scenarios.STEPS
) -> list[Deviation]:
    """Compare what both sides recorded of their training steps, before step `until`.

    Beside the recorded values there is ``update``, what a step changed in a variable. Its tolerance knows how weights
    are rounded: four units in the last place of the element, 1e-6 of the largest change, and what the difference
    between the gradients explains as long as these agree. So an update that is a little off is seen in the step in
    which it happens, and one that is made of the rounding of gradients (where Adam turns noise into whole steps) is
    not. What float32 is proven to round in a gradient is the noise of the slots that are made of it as well.
    """
    walk = _Walk(judge, tf1, tf2, scenario)
    steps = [step for step in tf1.steps() if step in set(tf2.steps()) and (until is None or step < until)]
    return [deviation for step in steps for deviation in walk.step(step)]


class _Walk:
    """What one step must know of those before it."""

    def __init__(self, judge: Judge, tf1: Index, tf2: Index, scenario: str) -> None:
        self._judge = judge
        self._scenario = scenario
        self._tf1 = tf1
        self._tf2 = tf2
        self._rate = max(scale_of(judge, index, "learning_rate") for index in (tf1, tf2))
        self._apart: dict[str, float] = {}
        self._slack: dict[str, Any] = {}
        self._floors: dict[str, float] = {}
        self._moved: dict[str, Any] = {}
        self._shares: dict[str, Any] = {}

    def step(self, step: int) -> list[Deviation]:
        judge, found = self._judge, []
        gradients = max(scale_of(judge, index, "gradient", step) for index in (self._tf1, self._tf2))
        slots = self._slots(step)
        explained: dict[str, Couple] = {}
        together = couples(self._tf1, self._tf2, step, judge.names)
        grown = {
            plain(couple.known.name): judge.coarser(self._scenario, couple)
            for couple in together
            if couple.known.kind == "gradient"
        }
        for couple in together:
            kind = couple.known.kind
            if kind == "variable":
                gradient = explained.get(plain(couple.known.name)) or self._alone(couple, gradients)
                found += self._variable(couple, gradient)
                continue
            scale = {"gradient": gradients, "learning_rate": self._rate, "slot": slots.get(slot_of(couple.known))}.get(
                kind
            )
            weight = plain(str(couple.known.more.get("variable", ""))) if kind == "slot" else ""
            deviation = judge.one(self._scenario, couple, scale=scale, grown=grown.get(weight, 1.0))
            if deviation is None:
                continue
            found.append(deviation)
            if kind == "gradient" and deviation.passed and couple.tf1 and couple.tf2:
                explained[plain(couple.tf1.name)] = couple
                name = plain(couple.tf1.name)
                self._apart[name] = max(self._apart.get(name, 0.0), deviation.error, deviation.floor or 0.0)
        return found

    def _alone(self, couple: Couple, scale: float) -> Couple | None:
        """The gradient of a variable that only TF1 told of: its noise is what would be tolerated in it.

        One that is zero everywhere is no rounding, and explains nothing.
        """
        one = couple.tf1
        if one is None or one.step < 0 or self._tf2.all("gradient", one.step):
            return None
        gradient = self._tf1.find("gradient", one.name, one.step)
        if gradient is None or not gradient.kept or not np.any(self._judge.values.of(gradient)):
            return None
        found = Couple(gradient, None)
        floor = self._judge.noise_floor.of(self._scenario, found, self._judge.turned(gradient))
        noise = self._judge.tolerance(self._scenario, found, floor=floor, scale=scale).atol / _PROPAGATED
        name = plain(one.name)
        self._apart[name] = max(self._apart.get(name, 0.0), noise)
        return found

    def _slots(self, step: int) -> dict[str, float]:
        """The largest magnitude of each kind of slot: what is small beside it may be rounding alone."""
        found: dict[str, float] = {}
        for record in (*self._tf1.all("slot", step), *self._tf2.all("slot", step)):
            slot = slot_of(record)
            found[slot] = max(found.get(slot, 0.0), largest(self._judge.values.of(record)))
        return found

    def _variable(self, couple: Couple, gradient: Couple | None) -> list[Deviation]:
        """The change of a variable, if the step before is known, and its value."""
        judge, one, other = self._judge, couple.tf1, couple.tf2
        if one is None or other is None:
            alone = judge.one(self._scenario, couple)
            return [] if alone is None else [alone]
        update = self._update(couple, gradient) if one.step >= 0 else None
        value = judge.one(self._scenario, couple, slack=self._slack.get(plain(one.name), 0.0))
        return [deviation for deviation in (update, value) if deviation is not None]

    def _update(self, couple: Couple, gradient: Couple | None) -> Deviation | None:
        judge, one, other = self._judge, couple.tf1, couple.tf2
        assert one is not None and other is not None
        before = (
            self._tf1.find("variable", one.name, one.step - 1),
            self._tf2.find("variable", other.name, other.step - 1),
        )
        if before[0] is None or before[1] is None:
            return None
        first, second = judge.turned(one), judge.values.of(other)
        old_first, old_second = judge.turned(before[0]), judge.values.of(before[1])
        if self._scenario == scenarios.STEPS_FORCED:  # TF1's weights were put in before the step
            old_second = old_first
        if not first.shape == second.shape == old_first.shape == old_second.shape or first.dtype.kind not in "fc":
            return None
        floor = judge.noise_floor.of_update(self._scenario, couple, one.step - 1)
        name = plain(one.name)
        if floor is not None:
            floor = self._floors[name] = max(floor, self._floors.get(name, 0.0))
        allowed = judge.tolerance(self._scenario, couple, kind="update", floor=floor)
        changed, other_changed = numeric(first) - numeric(old_first), numeric(second) - numeric(old_second)
        explained = self._explained(changed, other_changed, name, gradient)
        self._slack[name] = self._slack.get(name, 0.0) + explained
        rounding = _ULPS * epsilon(coarser(one.dtype, other.dtype))
        weights = np.maximum(np.abs(numeric(first)), np.abs(numeric(old_first)))
        slack = rounding * weights + 1e-6 * max(largest(changed), largest(other_changed)) + explained
        found = measure(changed, other_changed, allowed.rtol, allowed.atol, slack)
        return judge.deviation(self._scenario, couple, found, allowed, allowed.judged, floor, kind="update")

    def _explained(self, changed: Any, other: Any, name: str, gradient: Couple | None) -> Any:
        """How far two updates may be apart for gradients that are equal but for noise.

        The noise is a share of the largest change so far: where a gradient cancels what has accumulated, the change is
        small, and the noise of the gradient is not. An element that is zero on both sides, as in a row that the batch
        does not look up, has none of its own, but that of the steps before.
        """
        if gradient is None or gradient.tf1 is None:
            return 0.0
        first = self._judge.turned(gradient.tf1)
        second = first if gradient.tf2 is None else self._judge.values.of(gradient.tf2)
        if first.shape != changed.shape or second.shape != changed.shape:
            return 0.0
        size = np.minimum(np.abs(numeric(first)), np.abs(numeric(second)))
        noise = self._apart.get(name, 0.0)
        with np.errstate(all="ignore"):
            share = np.where(size > noise, noise / size, 1.0 if noise else 0.0)
        if gradient.tf2 is not None:
            before = self._shares.get(name, 0.0)
            share = np.where((numeric(first) == 0) & (numeric(second) == 0), before, share)
            self._shares[name] = np.maximum(before, share)
        moved = np.maximum(np.abs(changed), np.abs(other))
        moved = self._moved[name] = np.maximum(self._moved.get(name, 0.0), moved)
        return _PROPAGATED * share * moved
