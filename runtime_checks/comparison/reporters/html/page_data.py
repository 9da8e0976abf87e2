"""What the HTML report shows, as plain lists and dictionaries, so small that a thousand variables stay readable.

Every text is made printable here, so that no control or direction mark of a stranger's name reaches the page.
A number that is not finite is None (not a number) or beyond 1e300 (infinite).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ....worker.recording.format.rows import Place
from ...results import (
    Cause,
    Change,
    Deviation,
    Divergence,
    OperationPair,
    OperationSide,
    RandomOp,
    Results,
    Rung,
    Series,
    SideSummary,
    VariableRow,
)
from ...wording import (
    agreement,
    detail,
    farthest,
    figure,
    found,
    label,
    lines,
    operation,
    place,
    planted,
    printable,
    subject,
    timed,
    verdict,
    when,
)

__all__ = ["page_data"]

_FAILURES = 200
"""Failing values of a rung that are listed."""
_CHAIN = (
    "tap", "output", "regularization", "loss", "metric", "learning_rate", "gradient", "update", "variable", "slot"
)
"""Kinds that are drawn in the order of execution."""
_GRIDS = {"variable": "variables", "update": "updates", "gradient": "gradients", "slot": "optimizer slots"}


def page_data(report: Results) -> dict[str, Any]:
    """All that the page knows."""
    steps = _step_checks(report)
    return {
        "name": printable(report.name),
        "policy": printable(report.policy),
        "status": report.status,
        "verdict": verdict(report),
        "problems": [printable(problem) for problem in report.problems],
        "omitted": [printable(words) for words in report.not_compared],
        "first": None if report.first_divergence is None else _first(report.first_divergence, report),
        **_sources(report),
        "found": [words for _, words in _changes(report)],
        "tried": report.trial is not None,
        "causes": [_cause(cause) for cause in report.causes],
        "tries": [
            *([found(report.trial)] if report.trial else []),
            *([planted(report.self_test)] if report.self_test else []),
        ],
        "rungs": [_rung(rung) for rung in report.rungs],
        "chains": _chains(report),
        "series": [_series(one, steps) for one in report.series],
        "grids": [grid for kind, words in _GRIDS.items() if (grid := _grid(kind, words, steps))],
        "variables": [_variable(row) for row in report.variables],
        "random": [{"scenario": label(name), **_ops(*sides)} for name, sides in report.random_ops.items()],
        "timed": timed(report),
        "sides": [_side(side) for side in report.sides],
    }


def _number(value: float | None, digits: int = 6) -> float | None:
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        return math.copysign(1e308, value)
    return float(f"{value:.{digits}g}")


def _place(where: Place | None) -> str:
    return "" if where is None else place(where)


def _first(first: Divergence, report: Results) -> dict[str, Any]:
    check = first.deviation
    titles = {rung.number: rung.title for rung in report.rungs}
    return {
        "rung": printable(first.rung),
        "title": printable(titles.get(first.rung, "")),
        "context": ", ".join(filter(None, (label(check.scenario), when(check)))),
        "kind": printable(check.kind),
        "when": when(check),
        "tf1": [printable(check.tf1_name), _place(check.tf1_place), _number(check.tf1_value, 9)],
        "tf2": [printable(check.tf2_name), _place(check.tf2_place), _number(check.tf2_value, 9)],
        "at": list(check.at),
        "text": printable(first.text),
        "agreement": agreement(check),
        "problem": printable(check.problem),
        "excess": _number(check.excess),
        "before": None if first.before is None else subject(first.before),
        "operation": None if first.operation is None else _operation(first.operation),
    }


def _changes(report: Results) -> list[tuple[Change, str]]:
    """The changes of the program with which everything agrees, with their words; other names are none of it."""
    trial = report.trial
    if trial is None or trial.outcome != "found":
        return []
    told = zip(trial.changes, found(trial)[1], strict=False)
    return [(change, words) for change, words in told if change.kind != "names"]


def _sources(report: Results) -> dict[str, Any]:
    """``source``: the lines of both sides to look at first, and ``begins``: those where the values part, if others.

    Of TF2 the first is the line that trying found, else that of the likeliest cause, of which ``lead`` is the kind.
    """
    parting = _parting(report)
    found = next((change for change, _ in _changes(report) if change.place is not None), None)
    likeliest = next((cause for cause in report.causes if cause.tried != "refuted"), None)
    cause = likeliest if found is None else next((one for one in report.causes if one.kind == found.kind), None)
    place = found.place if found is not None else cause.tf2_place if cause is not None else None
    old = cause.tf1_place if cause is not None else None
    if place is None:
        return {"source": _shown(report, *parting), "lead": "", "begins": []}
    return {
        "source": _shown(report, old or parting[0], place),
        "lead": printable(cause.kind) if found is None and cause is not None else "",
        "begins": [] if parting[1] in (None, place) else _shown(report, *parting),
    }


def _parting(report: Results) -> tuple[Place | None, Place | None]:
    """The lines of both sides where the values part: those of the first operation, else of the first value."""
    first = report.first_divergence
    if first is None:
        return None, None
    one, two = first.deviation.tf1_place, first.deviation.tf2_place
    if first.operation is not None:
        ends = first.operation.tf1, first.operation.tf2
        one, two = (end.place if end and end.place else own for end, own in zip(ends, (one, two), strict=True))
    return one, two


def _shown(report: Results, *places: Place | None) -> list[list[Any]]:
    """A line of each side, TF1's first: side, place, number of the line and of the first that is shown, the lines."""
    known = {(one.side, (one.path, one.line)): one for one in report.excerpts}
    shown: list[list[Any]] = []
    for side, where in zip(("tf1", "tf2"), places, strict=True):
        one = None if where is None else known.get((side, where))
        lines = [] if one is None else [printable(line.expandtabs(4)) for line in one.lines]
        shown.append([side.upper(), _place(where), where[1] if where else 0, one.first if one else 0, lines])
    return shown if any(place for _, place, *_ in shown) else []


def _operation(found: OperationPair) -> dict[str, Any]:
    def side(one: OperationSide | None) -> list[Any] | None:
        if one is None:
            return None
        return [printable(one.op), _place(one.place), list(one.shape), [printable(words) for words in one.inputs]]

    return {
        "text": operation(found),
        "tf1": side(found.tf1),
        "tf2": side(found.tf2),
        "agree": [printable(words) for words in found.agree],
        "differences": [printable(words) for words in found.differences],
    }


def _cause(cause: Cause) -> dict[str, Any]:
    findings = [
        [printable(f"{one.path}:{one.line}"), printable(one.code), printable(one.slug), printable(one.message)]
        for one in cause.findings
    ]
    evidence = [printable(words) for words in cause.evidence]
    return {
        "kind": printable(cause.kind),
        "weight": _number(cause.weight),
        "tried": printable(cause.tried),
        "place": _place(cause.tf2_place),
        "tf1_place": _place(cause.tf1_place),
        "evidence": evidence,
        "findings": findings,
    }


def _rung(rung: Rung) -> dict[str, Any]:
    worst = farthest(rung)
    return {
        "number": printable(rung.number),
        "name": printable(rung.name),
        "title": printable(rung.title),
        "status": rung.status.value,
        "detail": detail(rung),
        "lines": list(lines(rung)),
        "worst": "" if worst is None else subject(worst),
        "failed": len(rung.failures),
        "failures": [_failure(check) for check in rung.failures[:_FAILURES]],
    }


def _failure(check: Deviation) -> list[Any]:
    context = ", ".join(filter(None, (label(check.scenario), when(check))))
    passing = "" if math.isnan(check.needed_rtol) else figure(check.needed_rtol)
    places = [_place(check.tf1_place), _place(check.tf2_place)]
    return [
        subject(check),
        context,
        _number(check.error),
        _number(check.excess),
        passing,
        *places,
        printable(check.problem),
    ]


def _chains(report: Results) -> list[dict[str, Any]]:
    """What was compared in one pass or one step, in the order of execution; of the steps those that matter."""
    found: dict[tuple[str, str, int], list[Deviation]] = {}
    for rung in report.rungs:
        for check in rung.checks:
            if check.kind in _CHAIN and not (check.kind == "variable" and not check.scenario.startswith("steps")):
                found.setdefault((rung.number, check.scenario, check.step), []).append(check)
    first = report.first_divergence
    chosen = None if first is None else (first.rung, first.deviation.scenario, first.deviation.step)
    kept = {key: checks for key, checks in found.items() if len(checks) > 1 or key == chosen}
    return [_chain(*key, kept[key], key == chosen, report) for key in kept if key == chosen or _matters(key, kept)]


def _matters(key: tuple[str, str, int], found: Mapping[tuple[str, str, int], Sequence[Deviation]]) -> bool:
    number, scenario, step = key
    steps = sorted(one for rung, name, one in found if (rung, name) == (number, scenario))
    failing = [one for one in steps if any(not check.passed for check in found[number, scenario, one])]
    return step in {*steps[:3], steps[-1], *failing[:1]}


def _chain(
    number: str, scenario: str, step: int, checks: Iterable[Deviation], chosen: bool, report: Results
) -> dict[str, Any]:
    ordered = sorted(checks, key=lambda check: check.order)
    words = label(scenario)
    if scenario.startswith("steps"):
        words += f", {'before step 0' if step < 0 else f'step {step}'}"
    first = report.first_divergence
    marked = ordered.index(first.deviation) if chosen and first is not None and first.deviation in ordered else None
    return {
        "label": f"Rung {printable(number)}: {words}",
        "chosen": chosen,
        "first": marked,
        "rows": [_link(check, marked is not None and at >= marked) for at, check in enumerate(ordered)],
    }


def _link(check: Deviation, apart: bool) -> list[Any]:
    """One value of a chain; `apart` says that the sides are known to differ by then."""
    tolerance = check.atol + check.rtol * abs(check.tf1_value)
    noise = check.floor / tolerance if check.floor is not None and tolerance > 0 else None
    return [
        printable(check.kind),
        printable(check.tf1_name),
        printable(check.tf2_name),
        _number(check.excess),
        _number(noise),
        _number(check.error),
        _number(tolerance),
        _place(check.tf1_place),
        _place(check.tf2_place),
        check.passed,
        check.counts,
        printable(check.problem),
        check.sure or apart,
        check.inputs == "differ",
    ]


def _step_checks(report: Results) -> list[Deviation]:
    return [check for rung in report.rungs for check in rung.checks if check.scenario == "steps" and check.step >= 0]


def _series(series: Series, checks: Iterable[Deviation]) -> dict[str, Any]:
    known = {one.step: one for one in checks if (one.kind, one.tf1_name) == (series.kind, series.name)}
    tolerances = [
        known[step].atol + known[step].rtol * abs(one) if step in known else None
        for step, one in zip(series.steps, series.tf1, strict=False)
    ]
    return {
        "kind": printable(series.kind.replace("_", " ")),
        "name": printable(series.name.replace("_", " ")),
        "steps": list(series.steps),
        "tf1": [_number(one, 9) for one in series.tf1],
        "tf2": [_number(one, 9) for one in series.tf2],
        "difference": [_number(abs(a - b)) for a, b in zip(series.tf1, series.tf2, strict=False)],
        "tolerance": [_number(one) for one in tolerances],
        "noise": [_number(known[step].floor if step in known else None) for step in series.steps],
    }


def _grid(kind: str, words: str, checks: Iterable[Deviation]) -> dict[str, Any] | None:
    """The excess of each name at each step: None where there is none, -1 where it cannot be compared."""
    cells: dict[str, dict[int, float]] = {}
    for check in checks:
        if check.kind == kind:
            row = cells.setdefault(check.tf1_name or check.tf2_name, {})
            excess = -1.0 if check.problem or math.isnan(check.excess) else check.excess
            row[check.step] = excess if check.problem else max(row.get(check.step, 0.0), excess)
    if not cells:
        return None
    steps = sorted({step for row in cells.values() for step in row})
    rows = [[printable(name), *(_number(row.get(step), 3) for step in steps)] for name, row in cells.items()]
    return {"words": words, "steps": steps, "rows": rows}


def _variable(row: VariableRow) -> list[Any]:
    return [_described(row.tf1), _described(row.tf2), printable(row.how), printable(row.problem)]


def _described(variable: Mapping[str, Any] | None) -> list[str] | None:
    if variable is None:
        return None
    shape = "x".join(str(one) for one in variable.get("shape") or ()) or "scalar"
    flags = [] if variable.get("trainable", True) else ["not trainable"]
    flags += [] if variable.get("tracked", True) else ["not tracked"]
    where = variable.get("place")
    spot = place((str(where[0]), int(where[1]))) if where else ""
    facts = ", ".join([shape, str(variable.get("dtype", "")), *flags])
    return [printable(str(variable.get("name", ""))), printable(facts), spot]


def _ops(left: Sequence[RandomOp], right: Sequence[RandomOp]) -> dict[str, Any]:
    """Both sides' operations beside each other, an operation without a counterpart on a line of its own.

    Those of initial values come first: when they are made differs, and says nothing of the steps.
    """
    rows: list[list[Any]] = []
    for first in (True, False):
        for one, other in _aligned(*([op for op in ops if (op.purpose != "step") is first] for ops in (left, right))):
            rows.append([None if one is None else _op(one), None if other is None else _op(other)])
    uneven = (at for at, row in enumerate(rows) if None in row and (row[0] or row[1])[3] == "step")
    return {"rows": rows, "tf1": len(left), "tf2": len(right), "first": next(uneven, None)}


def _aligned(left: Sequence[RandomOp], right: Sequence[RandomOp]) -> list[tuple[RandomOp | None, RandomOp | None]]:
    shapes = [op.shape for op in (*left, *right)]
    vague = {None if shape is None else len(shape) for shape in shapes if shape is None or None in shape}
    ones, others = [_key(op, vague) for op in left], [_key(op, vague) for op in right]
    same = 0
    while same < min(len(ones), len(others)) and ones[same] == others[same]:
        same += 1
    pairs: list[tuple[RandomOp | None, RandomOp | None]] = list(zip(left[:same], right[:same], strict=True))
    matcher = difflib.SequenceMatcher(None, ones[same:], others[same:], autojunk=False)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        one, other = left[same + start : same + end], right[same + other_start : same + other_end]
        if tag == "equal":
            pairs += zip(one, other, strict=True)
        else:
            pairs += [(op, None) for op in one]
            pairs += [(None, op) for op in other]
    return pairs


def _key(op: RandomOp, vague: Collection[int | None]) -> tuple[object, ...]:
    """What an operation is for and how much it draws; of ranks with shapes that are half known, the rank.

    Where a shape is not known at all, what it is for.
    """
    if op.shape is None or None in vague:
        return (op.purpose,)
    return (op.purpose, len(op.shape)) if len(op.shape) in vague else (op.purpose, *op.shape)


def _op(op: RandomOp) -> list[Any]:
    sizes = ("?" if one is None else str(one) for one in op.shape or ())
    shape = "?" if op.shape is None else "x".join(sizes) or "scalar"
    return [printable(op.op), op.seed, shape, printable(op.purpose), _place(op.place)]


def _side(side: SideSummary) -> dict[str, Any]:
    optimizers = [", ".join(f"{key} {value}" for key, value in one.items()) for one in side.optimizers]
    return {
        "side": printable(side.side.upper()),
        "versions": [[printable(name), printable(str(version))] for name, version in side.versions.items()],
        "cause": None if side.cause is None else printable(side.cause),
        "adaptations": [printable(words) for words in side.adaptations],
        "notes": [printable(words) for words in side.notes],
        "optimizers": [printable(words) for words in optimizers],
        "seconds": _number(side.seconds),
        "memory": side.peak_memory,
    }
