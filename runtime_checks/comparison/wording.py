"""How a comparison is put into words: names, places, figures and the verdict, the same in every rendering."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Iterator, Sequence

from ...linter.reporters import printable
from ..worker.recording.format import scenarios
from ..worker.recording.format.rows import Place
from .results import Change, Deviation, OperationPair, Planted, Results, Rung, SelfTest, Status, Timing, Trial

__all__ = [
    "agreement", "detail", "farthest", "figure", "figures", "found", "label", "lines", "operation", "place", "planted",
    "printable", "some", "spoken", "subject", "timed", "times", "verdict", "when"
]

_SCENARIOS = {
    "data": "input pipelines",
    "constant": "all variables at 0.001",
    "fingerprint": "fingerprint fill",
    "fingerprint-other": "fingerprint fill, other mode",
    "fingerprint-nudged": "fingerprint fill, nudged",
    "inference": "own initial values",
    "inference-copied": "copied initial values",
    "training": "training pass, own initial values",
    "training-constant": "training pass, one seed",
    "aligned": "training pass, copied initial values",
    "checkpoint": "values of the checkpoint",
    "steps": "training",
    "steps-other": "training, other mode",
    "steps-again": "training, once more",
    "steps-later": "a step that need not have been run",
    "evaluated": "evaluation",
    "float64-inference": "inference in float64",
    "float64-training": "training pass in float64",
    "float64-step": "first training step in float64",
}
_KINDS = {"tap": "layer", "learning_rate": "learning rate", "slot": "optimizer slot"}


def figure(value: float) -> str:
    """A number to read: three significant digits, without an exponent up to a million."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    short = f"{value:.3g}"
    return f"{float(short):,.0f}" if 1000 <= abs(float(short)) < 1e6 else short.replace("e+0", "e").replace("e-0", "e-")


def figures(one: float, other: float) -> tuple[str, str]:
    """Two numbers that differ, with as many digits as tell them apart."""
    if figure(one) != figure(other) or one == other:
        return figure(one), figure(other)
    digits = next((digits for digits in range(4, 17) if f"{one:.{digits}g}" != f"{other:.{digits}g}"), 17)
    return f"{one:.{digits}g}", f"{other:.{digits}g}"


def times(excess: float) -> str:
    """A multiple of the tolerance: ``2.4 x the tolerance``."""
    return f"{figure(excess)} x the tolerance"


def place(where: Place | None) -> str:
    """``file:line``, the file relative to the working folder where it lies below it; or ``no source line``."""
    return "no source line" if where is None else printable(f"{_relative(where[0])}:{where[1]}")


def _relative(path: str) -> str:
    try:
        inside = os.path.relpath(path)
    except (OSError, ValueError):  # the working folder is gone, or on another drive
        return path
    return path if inside.startswith(os.pardir) else inside.replace(os.sep, "/")


def label(name: str) -> str:
    """The name of a scenario in words."""
    return _SCENARIOS.get(name) or printable(name)


def when(check: Deviation) -> str:
    """The step where there are steps: ``step 2``, ``before step 0``, ``after step 2``; otherwise empty."""
    if check.scenario == scenarios.DATA:
        return f"in batch {check.step}" if check.step >= 0 else ""
    if check.scenario == "evaluated":
        return "with TF1's initial values" if check.step < 0 else f"with TF1's weights after step {check.step}"
    if not check.scenario.startswith("steps"):
        return ""
    if check.step < 0:
        return "before step 0"
    return f"{'after' if check.kind in ('variable', 'slot', 'evaluation') else 'at'} step {check.step}"


def subject(check: Deviation) -> str:
    """What a value is: ``layer block1/conv``, ``variable kernel (TF2: dense/kernel)``.

    A TF2 name that only has the name of the model in front is not told.
    """
    name = check.tf1_name or check.tf2_name
    words = spoken(check.kind, name)
    same = not check.tf2_name or f"/{check.tf2_name}".endswith(f"/{name}")
    return words if same else f"{words} (TF2: {printable(check.tf2_name)})"


def spoken(kind: str, name: str) -> str:
    """A kind and a name, without the kind where the name begins with it: ``loss``, ``layer block1/conv``."""
    word = _KINDS.get(kind, kind)
    return printable(name if name.startswith((kind, word)) else f"{word} {name}")


def operation(pair: OperationPair) -> str:
    """The operations of both sides with their lines: ``MatMul (TF1 old.py:9, TF2 new.py:20)``."""
    sides = [(name, side) for name, side in (("TF1", pair.tf1), ("TF2", pair.tf2)) if side is not None]
    same = len({side.op for _, side in sides}) == 1
    told = [f"{name} {'' if same else f'{printable(side.op)} '}{_line(side.place)}" for name, side in sides]
    words = f" ({', '.join(told)})"
    return printable(sides[0][1].op) + words if same else words.strip(" ()")


def _line(where: Place | None) -> str:
    return "no source line" if where is None else printable(f"{os.path.basename(where[0])}:{where[1]}")


def agreement(check: Deviation) -> str:
    """How far apart both values are, or why they cannot be compared."""
    if check.problem:
        return printable(check.problem)
    words = f"error {figure(check.error)}"
    if check.at:
        words += f" at {list(check.at)}"
    words += f", {times(check.excess)} (rtol {figure(check.rtol)}, atol {figure(check.atol)})"
    return f"{words}, {figure(check.error / check.floor)} x the noise" if check.floor else words


def farthest(rung: Rung) -> Deviation | None:
    """What exceeds its tolerance most, or comes nearest to that; None where all values are identical."""
    measured = [check for check in rung.checks if check.counts and check.excess > 0]
    return max(measured, key=lambda check: check.excess, default=None)


def detail(rung: Rung) -> str:
    """What a rung says of itself, without its first failure, which is shown by itself."""
    if not rung.failures:
        return printable(rung.detail)
    return printable(rung.detail.partition(f": {subject(rung.failures[0])}")[0])


def lines(rung: Rung) -> Iterator[str]:
    """What there is to say of a rung beyond its detail: what would have passed, and its notes."""
    if rung.needed:
        yield f"would have passed with {printable(rung.needed)}"
    for note in rung.notes:
        yield printable(note)
    for what, names in rung.names.items():
        yield printable(f"{what}: {some(names)}")


def some(names: Sequence[str]) -> str:
    """The first five names, and how many more there are."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def found(trial: Trial) -> tuple[str, list[str]]:
    """What trying came to: a headline, and lines that say more."""
    runs = f"{trial.runs} {'run' if trial.runs == 1 else 'runs'}"
    tried = [f"tried: {_change(one.change)}: {printable(one.effect)}" for one in trial.tried]
    changes = [_change(change) for change in trial.changes]
    if trial.outcome == "none needed":
        return "The cause by trying: none needed, both sides are equal", []
    if trial.outcome == "not tried":
        return "The cause by trying: not tried", [printable(trial.left)]
    if trial.outcome == "found":
        many = "The cause" if len(changes) == 1 else f"The {len(changes)} causes together"
        return f"{many}, found by trying", [*changes, f"then all rungs agree ({runs})"]
    if trial.outcome == "closer":
        return "A part of the cause, found by trying", [*changes, f"then {printable(trial.left)} ({runs})", *tried]
    return f"No cause found by trying ({runs})", [printable(trial.left), *tried]


def _change(change: Change) -> str:
    where = f" at {place(change.place)}" if change.place else ""
    others = change.places - 1
    more = f" and {others} more {'line' if others == 1 else 'lines'} alike" if others else ""
    return f"{printable(change.text)}{where}{more}"


def planted(test: SelfTest) -> tuple[str, list[str]]:
    """What a self-test came to: a headline, and a line for each bug."""
    now = sum(bool(one.rung) and one.steps == test.steps for one in test.planted)
    words = f"Planted bugs: {now} of {len(test.planted)} caught with {test.steps} steps ({test.runs} runs)"
    words = words if test.planted else "Planted bugs: none"
    listed = [f"{_caught(one, test.steps)}: {_change(one.change)}" for one in test.planted]
    return words, [*listed, *(f"not planted: {printable(text)}" for text in test.not_planted)]


def _caught(one: Planted, steps: int) -> str:
    note = f" ({printable(one.note)})" if one.note else ""
    if not one.rung:
        return f"not caught{f' with {one.steps} steps' if one.steps != steps else ''}{note}"
    where = "" if one.rung == "-" else f" on rung {one.rung}" + (f", step {one.step}" if one.rung in "67" else "")
    return f"{'caught' if one.steps == steps else f'--steps {one.steps} would catch it'}{where}{note}"


def timed(report: Results) -> tuple[list[list[str]], list[str]]:
    """What a step takes on each side: rows of what it is, TF1 and TF2, and sentences on what there is not."""
    told = [(side.side.upper(), side.timing) for side in report.sides if side.timing is not None]
    problems = [
        f"no trace of the {side} side: {one.problem or 'nothing was traced'}"
        for side, one in told
        if one.problem or not one.traced
    ]
    times = [one for _, one in told if one.seconds]
    if not times:
        return [], list(map(printable, problems))
    cells = [["", ""] if side.timing is None else _cells(side.timing) for side in report.sides]
    names = dict.fromkeys(one.what for one in times)
    rows = [[" or ".join(names), *(time for time, _ in cells)], ["memory behind it", *(size for _, size in cells)]]
    if len(times) == len(report.sides) and len(names) == 1:
        one, other = (statistics.median(side.seconds) for side in times)
        rows[0][2] += f", {other / one:.3g} times TF1's" if one else ""
    return [list(map(printable, row)) for row in rows], list(map(printable, problems))


def _cells(timing: Timing) -> list[str]:
    """Time and memory of a side in words."""
    if not timing.seconds:
        return ["not timed", "unknown"]
    middle = f"{statistics.median(timing.seconds) * 1000:.3g} ms"
    bounds = f"{min(timing.seconds) * 1000:.3g} to {max(timing.seconds) * 1000:.3g}"
    memory = f"{timing.memory[-1] / (1 << 20):.0f} MiB" if timing.memory else "unknown"
    return [f"{middle} ({bounds}, {len(timing.seconds)} {timing.what}s)", memory]


def verdict(report: Results) -> str:
    """The whole comparison in one sentence, and one on the versions of TensorFlow where there is something to say."""
    return _outcome(report) + (f" {printable(_sentence(report.versions))}" if report.versions else "")


def _outcome(report: Results) -> str:
    if report.status == 4:
        sides = [f"the {side.side.upper()} side ended early: {side.cause}" for side in report.sides if side.cause]
        return printable(_sentence("; ".join(sides)))
    not_comparable = f"not comparable: {'; '.join(report.problems)}" if report.problems else ""
    if report.status == 1:
        return _differs(report) + (printable(f" The rest is {not_comparable}.") if not_comparable else "")
    if not_comparable:
        return printable(_sentence(not_comparable))
    if report.status == 3:
        vacuous = [rung for rung in report.rungs if rung.status is Status.VACUOUS]
        if not vacuous:
            return "No value was compared, so nothing is known of the two sides."
        return printable(_sentence(f"nothing is shown by rung {vacuous[0].number}: {vacuous[0].detail}"))
    return _equal(report)


def _differs(report: Results) -> str:
    first = report.first_divergence
    if first is None:
        failed = next(rung for rung in report.rungs if rung.status is Status.FAIL)
        return printable(_sentence(f"differs on rung {failed.number}, {failed.title}: {failed.detail}"))
    check = first.deviation
    words = f"differs from {subject(check)} on"
    if first.operation is not None:
        words = f"differs from {operation(first.operation)} on, seen in {subject(check)}"
    elif time := when(check):
        words = f"differs {time.replace('at ', 'from ') if time.startswith('at ') else time}: {subject(check)}"
    noise = "; nothing differs by more than the noise of the sides, which policy noise would tolerate"
    return _sentence(f"{words}, {agreement(check)}{noise if first.noise else ''}")


def _equal(report: Results) -> str:
    passed = [rung for rung in report.rungs if rung.status is Status.PASS]
    counted = [check for rung in passed for check in rung.checks if check.counts and not math.isnan(check.excess)]
    words = f"equal on {len(passed)} {'rung' if len(passed) == 1 else 'rungs'} under policy {report.policy}"
    if counted:
        worst = max(counted, key=lambda check: check.excess)
        words += f"; {len(counted)} values compared"
        words += f", the farthest is {subject(worst)}, {times(worst.excess)}" if worst.excess else ", all identical"
    told = [one for one in report.not_compared if not one.endswith("(never compared)")]
    if heads := dict.fromkeys(one.partition(" (")[0] for one in told):
        words += f"; not compared: {', '.join(heads)}"
    return printable(_sentence(words))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
