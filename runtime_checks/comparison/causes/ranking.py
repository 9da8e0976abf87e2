"""Why two programs differ: classes of causes, ranked by the evidence for each, with the static findings that fit."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from ....linter.finding import Finding, Severity
from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Recorded
from ...worker.recording.format.rows import Place
from ..judging.tolerances import NOISE
from ..results import Cause, Deviation, Results, Status
from ..wording import figure
from . import configuration, dropout, forward, layouts, padding, training
from .evidence import Clue, Seen
from .lines import lines

__all__ = ["CODES", "rank"]

_LAYERS_ANEW = ("TF101", "TF102", "TF103", "TF104", "TF110", "TF111", "TF112", "TF114")
"""Variables that are made anew at each call, or shared against intention."""

CODES: dict[str, tuple[str, ...]] = {
    "forward": ("TF112", "TF210", "TF205", "TF209", "TF203", "TF204", *_LAYERS_ANEW, "TF302", "TF406", "TF414"),
    "training mode": ("TF610",),
    "loss": ("TF403", "TF210", "TF205", "TF406"),
    "metric": ("TF406",),
    "regularization": ("TF403", *_LAYERS_ANEW, "TF107", "TF302"),
    "update rule": ("TF108", "TF107", "TF109", "TF302", "TF403", "TF406"),
    "optimizer made anew": ("TF108",),
    "repeated rows": ("TF403",),
    "learning rate": ("TF210", "TF216", "TF205", "TF108", "TF204"),
    "momentum": ("TF108", "TF406"),
    "moving statistics": ("TF403", "TF205", "TF103", "TF104", "TF110", "TF107", "TF109"),
    "dropout rate": ("TF210", "TF204", "TF610"),
    "randomness": ("TF635", "TF204", "TF210", "TF406", "TF205"),
    "variables": (
        *_LAYERS_ANEW, "TF105", "TF106", "TF107", "TF109", "TF113", "TF115", "TF302", "TF502", "TF503", "TF504"
    ),
    "inputs": ("TF204", "TF501", "TF116"),
    "numerics": ("TF414",),
}
"""The rules whose hazard can be the cause, by its class, the likeliest first."""

_MOVED = "TF406"
"""A name that works through compat.v1 computes what it always did: no cause, and every TF1 program is full of them."""
_PROVEN, _FOLLOWS = 0.9, 0.4
"""Of a layout or a mask that outputs speak of, and at most what the forward pass weighs that follows from it."""
_MEASURED = 0.9
"""Of a rate of dropout that was read off the numbers drawn."""
_MOST = 5
"""Findings and sentences for one cause."""


def rank(report: Results, tf1: Recorded, tf2: Recorded, findings: Sequence[Finding] = ()) -> tuple[Cause, ...]:
    """The classes of causes that the evidence speaks for, the likeliest first; none where nothing failed.

    Where training could not be told apart from what draws in another order, rates of dropout still may.
    Several pieces of evidence for one class add up as independent ones would: the weight is one minus the product of
    what each leaves open, and stays below 1 but for inputs that were seen to differ.

    Args:
        report: with everything but its causes.
        tf1: the recording of the TF1 side.
        tf2: the recording of the TF2 side.
        findings: what the linter said of the files of both sides.
    """
    failed = bool(report.problems) or any(rung.status is Status.FAIL for rung in report.rungs)
    if not failed and not report.undecided:
        return ()
    seen = Seen(report, tf1, tf2)
    kinds: dict[str, list[Clue]] = {}
    with np.errstate(all="ignore"):
        for clue in _clues(seen) if failed else dropout.clues(seen, _MEASURED):
            kinds.setdefault(clue.kind, []).append(clue)
    causes = [_cause(seen, kind, clues, findings) for kind, clues in kinds.items()]
    return tuple(sorted(causes, key=lambda cause: -cause.weight))


def _clues(seen: Seen) -> Iterator[Clue]:
    first = seen.report.first_divergence
    if first is not None and first.noise:
        yield from _numerics(seen)
        return
    found = [*layouts.clues(seen), *padding.clues(seen)]
    yield from found
    proven = any(clue.weight >= _PROVEN for clue in found)
    for clue in forward.clues(seen):
        yield replace(clue, weight=min(clue.weight, _FOLLOWS)) if proven and clue.kind == "forward" else clue
    yield from training.clues(seen)
    yield from configuration.clues(seen)
    yield from _numerics(seen)


def _cause(seen: Seen, kind: str, clues: Sequence[Clue], findings: Sequence[Finding]) -> Cause:
    clues = sorted(clues, key=lambda clue: -clue.weight)
    left = 1.0
    for clue in {clue.text: clue for clue in clues}.values():
        left *= 1.0 - clue.weight
    weight = 1.0 - left if any(clue.weight >= 1.0 for clue in clues) else min(1.0 - left, 0.99)
    evidence = tuple(dict.fromkeys(clue.text for clue in clues))[:_MOST]
    found = tuple(_fitting(seen, kind, findings))[:_MOST]
    named = next((clue for clue in clues if clue.tf2_place is not None), None)
    old, new = lines(seen, kind) if named is None else (named.tf1_place, named.tf2_place)
    if (old, new) == (None, None):
        old = next((clue.tf1_place for clue in clues if clue.tf1_place is not None), None)
    return Cause(kind, round(weight, 3), evidence, found, tf1_place=old, tf2_place=new)


def _numerics(seen: Seen) -> Iterator[Clue]:
    """Rounding that grows: within reach of the measured noise, between the modes of one side, or step by step."""
    modes = [rung for rung in seen.report.rungs if rung.number == "8" and rung.status is Status.FAIL]
    for rung in modes:
        yield Clue("numerics", 0.5, f"The modes of one side disagree with each other: {rung.detail.rstrip('.')}.")
    first = _first(seen)
    if first is None:
        return
    if first.floor and first.error <= 10.0 * first.floor:
        yield Clue(
            "numerics",
            0.98 if first.error <= NOISE.factor * first.floor else 0.5,
            f"The first difference, {figure(first.error)}, is {figure(first.error / first.floor)} times what runs of "
            "one side differ by.",
        )
    errors = [
        check.error
        for check in seen.all(first.scenario, first.kind)
        if check.tf1_name == first.tf1_name and 0 <= check.step <= first.step
    ]
    gradual = all(0.0 < before <= after for before, after in itertools.pairwise(errors))
    if len(errors) > 2 and gradual and errors[-2] > 0.2 * errors[-1]:
        yield Clue(
            "numerics",
            0.6,
            f"The difference grows step by step, from {figure(errors[0])} at step 0 to {figure(errors[-1])} at "
            f"step {first.step}.",
        )


def _first(seen: Seen) -> Deviation | None:
    if seen.report.first_divergence is not None:
        return seen.report.first_divergence.deviation
    failures = [check for rung in seen.report.rungs for check in rung.failures]
    return failures[0] if failures else None


def _fitting(seen: Seen, kind: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Findings of the rules that fit, in code of the TF2 side: at divergent lines first, then as the rules are listed.

    What runs on the TF1 side alone runs in a graph, as it was written to: it is what the other side is held against.
    """
    codes = CODES.get(kind, ())
    first, second = _places(seen)
    divergent = [place for check in _divergent(seen) for place in (check.tf1_place, check.tf2_place) if place]
    fitting = [
        finding
        for finding in findings
        if finding.code in codes
        and not (finding.code == _MOVED and finding.severity is Severity.INFO)
        and any(_same_file(finding.path, file) for file, _ in second)
        and (_lies_around(finding, second) or not _lies_around(finding, first))
    ]
    severities = list(Severity)

    def order(finding: Finding) -> tuple[bool, int, int, tuple[str, int, int, int, str, str]]:
        at = any(_same_file(finding.path, file) and _spans(finding, line) for file, line in divergent)
        return not at, codes.index(finding.code), severities.index(finding.severity), finding.sort_key

    yield from sorted(fitting, key=order)


def _lies_around(finding: Finding, places: Iterable[Place]) -> bool:
    """Whether one of the places lies in the function that a finding stands in."""
    around = finding.function
    return around is not None and any(
        around.first <= line <= around.last and _same_file(finding.path, file) for file, line in places
    )


def _spans(finding: Finding, line: int) -> bool:
    return finding.line <= line <= max(finding.line, finding.end_line)


def _divergent(seen: Seen) -> list[Deviation]:
    failures = [check for rung in seen.report.rungs for check in rung.failures[:3]]
    first = _first(seen)
    return failures if first is None else [first, *failures]


def _places(seen: Seen) -> tuple[set[Place], set[Place]]:
    """The user's lines that made any variable, value or random number, of TF1 and of TF2."""
    found: tuple[set[Place], set[Place]] = (set(), set())
    for places, recorded in zip(found, (seen.tf1, seen.tf2), strict=True):
        for key in ("variables", "other_variables"):
            rows = recorded.content.get(key) or ()
            places.update((str(place[0]), int(place[1])) for one in rows if (place := one.get("place")))
        for name in (scenarios.FINGERPRINT, scenarios.INFERENCE, scenarios.ALIGNED, scenarios.STEPS):
            places.update(record.place for record in recorded.scenario(name).records if record.place)
    for sides in seen.report.random_ops.values():
        for places, side in zip(found, sides, strict=True):
            places.update(op.place for op in side if op.place)
    between = (check for rung in seen.report.rungs if rung.number != "8" for check in rung.checks)
    for check in between:  # rung 8 compares each side with itself
        for places, place in zip(found, (check.tf1_place, check.tf2_place), strict=True):
            places.update([place] if place else [])
    return found


def _same_file(path: str, file: str) -> bool:
    """Whether a finding's path, which may be relative, and a recorded one can be the same file."""
    one, other = (tuple(part for part in PurePath(name).parts if part != ".") for name in (path, file))
    shorter, longer = sorted((one, other), key=len)
    shorter = tuple(part for part in shorter if part != "..")
    return bool(shorter) and longer[-len(shorter) :] == shorter
