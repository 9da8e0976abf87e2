"""Two reports of one pair, of which the second knows more: what the first one found is not forgotten."""

from __future__ import annotations

from dataclasses import replace

from .divergence import is_noise
from .report import Report
from .results import Deviation, Rung, Status

__all__ = ["confirmed"]


def confirmed(first: Report, second: Report) -> Report:
    """The report of a second run of both sides, which is not equal where the first one was not.

    A value that fails the first time, and the second time only by what is known of the noise by then, is equal.
    """
    if second.status not in (0, 3):
        return second
    by_name = {rung.name: rung for rung in second.rungs}
    gone = [rung for rung in first.rungs if rung.status is Status.FAIL and _is_gone(rung, by_name.get(rung.name))]
    if not gone:
        return second
    what = f"rung {gone[0].number}, {gone[0].title} ({gone[0].detail})"
    problem = (
        f"a first run differed on {what}, and a second one, which keeps more, does not: a side computes something else "
        "each time, or TF1's session does once more is fetched of it, as where its grappler loses a sign"
    )
    return replace(second, problems=(*second.problems, problem))


def _is_gone(failed: Rung, again: Rung | None) -> bool:
    """Whether what a rung failed for is another thing in the second run."""
    if again is None or not failed.failures:
        return True
    found = {_key(check): check for check in again.checks}
    return any(
        not is_noise(check) and _agrees(check, found[_key(check)]) for check in failed.failures if _key(check) in found
    )


def _agrees(failed: Deviation, again: Deviation) -> bool:
    """Whether the second value would not have failed the first time."""
    if again.problem or failed.problem:
        return again.problem != failed.problem
    return again.error * failed.excess <= failed.error


def _key(check: Deviation) -> tuple[str, str, str, int]:
    return check.scenario, check.kind, check.tf1_name, check.step
