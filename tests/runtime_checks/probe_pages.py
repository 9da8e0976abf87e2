"""Reads the pages of the probes and runs the models on them.

A page is ``probes/<slug>.md``: ``# TF101 variable-in-call``, then sections of prose and code.
Every ```` ```py ```` block is a module with a ``build`` function; the words ``keras2`` and ``keras3`` after ``py`` keep
it to one target, ``alone`` gives it an interpreter of its own, ``mirrored:2`` and its like a strategy there, too, and
``silent`` says that no comment is missing.
A comment ``# confirmed: [TF101] "part of the evidence"`` asks for this verdict on the finding of that line; what static
analysis does not find there is made up, because a probe must also refute what should never have been found.
``# observed: "part of the message"`` asks for a finding of the run itself; other lines must have none.
``subject=tensorflow.placeholder`` after the code says what a finding that is made up is about.
On the pages of ``guides/`` nothing is made up: the comments name what static analysis finds at warning or error.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.analysis.statements import Statements, lines_of, span_of
from migrate_lint.linter.finding import Consequence, Finding, Severity, Span, Target, Verdict

PAGES = Path(__file__).parent / "probes"
GUIDES = Path(__file__).parent / "guides"
_TITLE = re.compile(r"# (TF\d{3}) ([a-z0-9-]+)")
_MARKER = re.compile(r"#\s*(confirmed|refuted|unreached|failed|static-only|observed):\s*(.*)$")
_ITEM = re.compile(r'(?:\[(TF\d{3})\])?\s*(?:subject=([\w.]+))?\s*(?:"([^"]*)")?\s*')


@dataclass(frozen=True, slots=True)
class Expected:
    """What the comment of one line asks for."""

    line: int
    word: str
    code: str
    subject: str | None
    part: str


@dataclass(frozen=True, slots=True)
class Model:
    """One block of a page: a module with a ``build`` function."""

    name: str
    page: str
    line: int
    text: str
    targets: frozenset[Target]
    alone: bool
    strategy: str | None
    expected: tuple[Expected, ...]


def models(page: Path) -> Iterator[Model]:
    """The models on a page, in order."""
    lines = page.read_text("utf-8").split("\n")
    title = _TITLE.fullmatch(lines[0].rstrip())
    if page.parent == PAGES:
        assert title is not None, f"{page}:1: a page begins with `# TF101 its-slug`"
        assert title[2] == page.stem, f"{page}: the slug is not the page's name"
    rest = iter(enumerate(lines, 1))
    for number, fence in rest:
        if not fence.startswith("```py"):
            continue
        words = fence[5:].split()
        body = []
        for _, line in rest:
            if line.rstrip() == "```":
                break
            body.append(line)
        targets = frozenset(Target(word) for word in words if word in list(Target)) or frozenset(Target)
        expected = tuple(_expected(page, number, body, title[1] if title else ""))
        assert expected or "silent" in words, f"{page}:{number}: this model asks for nothing"
        name = f"{page.stem.replace('-', '_')}_{number}"
        strategy = next((word for word in words if ":" in word), None)
        alone = "alone" in words or strategy is not None
        yield Model(name, page.name, number, "\n".join([*body, ""]), targets, alone, strategy, expected)


def on_targets(models: Sequence[Model]) -> list[Any]:
    """Parameters ``target`` and ``model``: each target's models together."""
    return [
        pytest.param(target, model, id=f"{target}-{model.name}")
        for target in Target
        for model in models
        if target in model.targets
    ]


def _expected(page: Path, start: int, body: Sequence[str], code: str) -> Iterator[Expected]:
    for offset, line in enumerate(body, 1):
        if (marker := _MARKER.search(line)) is None:
            continue
        for item in marker[2].split(";"):
            match = _ITEM.fullmatch(item.strip())
            assert match is not None, f"{page}:{start + offset}: {item!r} is not understood"
            yield Expected(offset, marker[1], match[1] or code, match[2], match[3] or "")


def findings(model: Model, found: Sequence[Finding], path: str, slugs: dict[str, str]) -> list[Finding]:
    """The findings that the comments are about: those of static analysis, or made up where it has none."""
    chosen = []
    tree = ast.parse(model.text)
    for expected in model.expected:
        if expected.word == "observed":
            continue
        real = [one for one in found if one.line == expected.line and one.code == expected.code]
        made_up = Finding(
            path=path,
            line=expected.line,
            column=1,
            end_line=expected.line,
            end_column=2,
            code=expected.code,
            slug=slugs[expected.code],
            severity=Severity.ERROR,
            consequence=Consequence.CHANGES,
            message="",
            statement=lines_of(Statements(tree).at(expected.line) or tree.body[0]),
            function=_function_around(tree, expected.line),
            subject=expected.subject,
        )
        one = real[0] if real else made_up
        chosen.append(replace(one, subject=expected.subject or one.subject))
    return chosen


def _function_around(tree: ast.Module, line: int) -> Span | None:
    spans = [span_of(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.lineno < line]
    return max((span for span in spans if line <= span.last), default=None)


def disagreements(model: Model, results: dict[str, Any]) -> Iterator[str]:
    """In words, where the worker's results are not what the comments ask for."""
    where = f"{model.page}:{model.line}"
    number = 0
    observed = list(results.get("observations", ()))
    for expected in model.expected:
        line = f"{where} line {expected.line}"
        if expected.word == "observed":
            matching = [o for o in observed if o["line"] == expected.line and expected.part in o["message"]]
            observed = [one for one in observed if one not in matching]
            if not matching:
                yield f"{line}: not observed: {expected.part!r}"
            continue
        verdict, phase, detail = results.get("judgements", {}).get(str(number), ("none", "", str(results)))
        number += 1
        if Verdict(expected.word) != verdict or expected.part not in detail:
            yield f"{line}: wanted {expected.word} {expected.part!r}, got {verdict} ({phase}): {detail}"
    for one in observed:
        yield f"{where} line {one['line']}: observed, but not asked for: {one['message']}"


def run(job: dict[str, Any]) -> dict[str, Any]:
    """In a child: what the worker says of a model; nothing of the model is left but what it did to TensorFlow."""
    from migrate_lint.runtime_checks.worker import strategies
    from migrate_lint.runtime_checks.worker.main import execute
    from migrate_lint.runtime_checks.worker.results import Results

    results = Results()
    before = set(sys.modules)
    path = list(sys.path)
    try:
        strategies.join(job, os.path.dirname(job["file"]))
        execute(job, results)
    except Exception as error:
        results.content["crash"] = repr(error)
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) == job["file"]:
            del sys.modules[name]
    sys.path[:] = path
    content: dict[str, Any] = json.loads(json.dumps(results.content, default=str))
    return content
