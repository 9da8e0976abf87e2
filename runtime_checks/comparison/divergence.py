"""Where the sides part: the first record in the order of execution that differs while what came before agrees."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from ..worker.recording.format import scenarios
from ..worker.recording.format.rows import Place
from .judging.tolerances import NOISE
from .results import Deviation, Divergence, OperationPair, Rung, Status
from .wording import figure, operation, subject, when

__all__ = ["first", "is_noise"]


Parting = Callable[[Rung, Deviation], "OperationPair | None"]
"""Finds the operation behind the first value of a rung that counts and differs."""


def first(rungs: Iterable[Rung], parting: Parting = lambda rung, failed: None) -> Divergence | None:
    """The first divergence of the lowest rung that failed by a value; None where there is none.

    What counts must differ, or nothing is said. Where layers that the user has not declared differ before it, the
    first of them is where it begins. One that may have been tapped before an activation on one side and after it on
    the other is looked at only if no layer after it agrees. A layer that differs in a scenario whose outputs agree is
    tapped at different places, and says nothing; one whose inputs differ already is not where it begins. What input
    pipelines give comes last, since no other rung depends on it. What lies within the noise, and is more than a policy
    allows, counts only where nothing else differs. Where one side has no regularization losses, it may add them to its
    loss itself: that is seen once outputs agree, and before it says nothing.
    """
    rungs = tuple(rungs)
    failures = [(rung, check) for rung in rungs if rung.status is Status.FAIL for check in rung.failures]
    if not failures:
        return None
    beyond = [(rung, check) for rung, check in failures if not is_noise(check)]
    misleading = _misleading(rungs)
    if any(check.kind == "output" and check.step <= 0 for _, check in beyond):
        beyond = [one for one in beyond if not _is_one_sided(one[1])]
    rung, failed = min(beyond or failures, key=lambda one: one[1].scenario == scenarios.DATA)
    run = [check for check in rung.checks if check.scenario == failed.scenario]
    earlier = [check for check in run[: run.index(failed)] if _key(check) not in misleading]
    if beyond:
        earlier = [check for check in earlier if check.passed or not is_noise(check)]
    deviation = _located(failed, earlier)
    before = _before(deviation, earlier)
    found = parting(rung, failed)
    return Divergence(rung.number, deviation, before, _text(deviation, before, found), not beyond, found)


def is_noise(check: Deviation) -> bool:
    """Whether a difference is no more than policy ``noise`` tolerates of what was measured."""
    return check.floor is not None and check.error <= NOISE.factor * check.floor


def _is_one_sided(check: Deviation) -> bool:
    """Whether it is the sum of regularization losses of one side, and the other has none."""
    return check.kind == "regularization" and not (check.tf1_value and check.tf2_value)


def _located(failed: Deviation, earlier: Sequence[Deviation]) -> Deviation:
    """The first layer of the step that differs, if it is sure or none after it agrees; otherwise what failed."""
    layers = [check for check in earlier if check.kind == "tap" and check.step == failed.step]
    last = max((at for at, check in enumerate(layers) if check.passed), default=-1)
    differing = (
        check
        for at, check in enumerate(layers)
        if not check.passed and check.inputs != "differ" and (check.sure or at > last)
    )
    return next(differing, failed)


def _misleading(rungs: Sequence[Rung]) -> set[tuple[str, str, str]]:
    """Layers that differ although everything that counts agrees in that scenario.

    With all variables at 0.001 little comes out of a deep network, so that agreement shows nothing.
    """
    checks = [check for rung in rungs for check in rung.checks]
    agreeing = {check.scenario for check in checks if check.counts and check.scenario != scenarios.CONSTANT}
    agreeing -= {check.scenario for check in checks if check.counts and not check.passed}
    return {
        _key(check)
        for check in checks
        if check.kind == "tap" and not check.counts and not check.passed and check.scenario in agreeing
    }


def _key(check: Deviation) -> tuple[str, str, str]:
    return check.kind, check.tf1_name, check.tf2_name


def _before(deviation: Deviation, earlier: Sequence[Deviation]) -> Deviation | None:
    agreeing = [check for check in earlier if check.passed and (check.step, check.order) < _at(deviation)]
    return agreeing[-1] if agreeing else None


def _at(check: Deviation) -> tuple[int, int]:
    return check.step, check.order


def _text(check: Deviation, before: Deviation | None, found: OperationPair | None) -> str:
    time = when(check)
    words = f"{time[:1].upper()}{time[1:]}, {subject(check)}" if time else subject(check)
    places = [
        f"{side} {_short(place)}" for side, place in (("TF1", check.tf1_place), ("TF2", check.tf2_place)) if place
    ]
    if places:
        words += f" ({', '.join(places)})"
    if check.problem:
        words += f": {check.problem}"
    else:
        words += f" differs by {figure(check.error)}, {figure(check.excess)} times the tolerance"
        if check.floor:
            words += f" and {figure(check.error / check.floor)} times the noise"
    words = f"{words}; {subject(before)} before it agrees" if before is not None else words
    return words if found is None else f"{words}. It begins with {operation(found)}"


def _short(place: Place) -> str:
    return f"{os.path.basename(place[0])}:{place[1]}"
