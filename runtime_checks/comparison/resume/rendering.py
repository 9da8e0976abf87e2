"""An audit for a terminal and for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from ....linter.reporters import printable
from .judge import kinds
from .results import Interruption, Lost, Report

__all__ = ["FORMATS", "render", "titles"]

FORMATS = ("text", "json")
_STYLES = {
    "equal": ("+", "32"),
    "restored": ("+", "32"),
    "begun anew": ("-", "2"),
    "refused": ("!", "33"),
    "lost": ("x", "31;1"),
    "not compared": ("?", "33;1"),
    "failed": ("x", "31;1"),
}
"""The mark and the colour of each status."""
_SHOWN = 8
_WRITERS = {"first": "the first process", "second": "the second process", "either": "both processes"}
_TITLES = {
    "writer": "what one of two processes trained",
    "nothing restored": "nothing was restored",
    "model": "weights",
    "slots": "optimizer slots",
    "learning rate": "learning rate",
    "data": "data position",
    "given": "what the loop carries",
    "generator": "random generator",
    "epoch": "epoch",
    "callback": "what a callback remembers",
    "average": "moving average",
    "variable": "variable",
    "unknown": "something that is not looked at",
    "failed": "the loop cannot go on",
}


def render(form: str, report: Report, color: bool = False) -> str:
    """The report in one of the `FORMATS`, which ends with a line break; colours are for ``text`` alone."""
    if form == "json":
        return json.dumps(_finite(report.to_json()), indent=2, allow_nan=False) + "\n"
    return "".join(f"{line}\n" for line in _lines(report, color))


def _finite(value: object) -> object:
    """What JSON has words for; other numbers are the strings ``nan``, ``inf`` and ``-inf``."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def titles(one: Interruption) -> list[str]:
    """What was lost, in words, the first cause first."""
    return [_TITLES.get(kind, kind) for kind in kinds(one.lost)]


def _lines(report: Report, color: bool) -> Iterator[str]:
    def paint(text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if color else text

    yield paint(printable(report.name), "1") + paint(f"  {report.steps} steps", "2")
    for one in report.interruptions:
        yield paint(*_STYLES[one.status]) + f" {_headline(one)}"
        yield from (f"    {line}" for line in _details(one))
    for name in report.unstable[:_SHOWN]:
        yield f"not compared, since two uninterrupted runs differ in it: {printable(name)}"
    if len(report.unstable) > _SHOWN:
        yield f"not compared either: {len(report.unstable) - _SHOWN} more"
    yield from (f"note: {printable(note)}" for note in report.notes)
    yield printable(report.verdict)


def _headline(one: Interruption) -> str:
    where = f"{one.how} behind step {one.behind}"
    if one.resumed is not None:
        where += f", resumed at step {one.resumed}"
    if one.writer:
        where += f", with the weights of {_WRITERS[one.writer]}"
    if one.status == "lost":
        return f"{where}: lost: {', '.join(titles(one))}"
    if one.reason:
        return f"{where}: {one.status}: {printable(one.reason)}"
    return f"{where}: nothing lost in {one.steps} steps"


def _details(one: Interruption) -> Iterator[str]:
    for kind in kinds(one.lost):
        alike = [lost for lost in one.lost if lost.kind == kind]
        more = f", and {len(alike) - 1} more" if len(alike) > 1 else ""
        yield _told(alike[0]) + more
    if one.status == "lost":
        told = []
        if one.loss_apart is not None:
            told.append(f"first loss {one.loss_apart:.2g} apart")
        if one.weights_apart is not None:
            told.append(f"weights {one.weights_apart:.2g} apart at the end")
        if told:
            yield ", ".join(told)
    yield from (printable(note) for note in one.notes)


def _told(lost: Lost) -> str:
    text = printable(lost.name)
    if lost.step is not None:
        text += f" at step {lost.step}"
    if lost.detail:
        return f"{text}: {printable(lost.detail)}"
    if lost.uninterrupted is None and lost.resumed is None:
        return f"{text}: another value"
    return f"{text}: {lost.resumed} in place of {lost.uninterrupted}"
