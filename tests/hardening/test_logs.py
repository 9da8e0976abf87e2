"""What a CI server reads off a log is said by us alone: names, lines and texts of strangers hold no command."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import Evidence, Target, Verdict
from migrate_lint.linter.reporters import Paint, printable, summary
from migrate_lint.linter.reporters.formats import concise, text
from migrate_lint.linter.result import Runtime
from migrate_lint.linter.runtime_report import LinesRun, PhaseOutcome, WorkerRun
from migrate_lint.runtime_checks.comparison.reporters import render

from ..linter.reports import FINDING, result_of
from ..runtime_checks.verify import reports

SERVERS = {
    "GitHub": re.compile(r"^\s*::\S"),
    "GitHub, older": re.compile(r"##\[\w"),
    "Azure": re.compile(r"##vso\[\w"),
    "TeamCity": re.compile(r"##teamcity\[\w"),
    "GitLab": re.compile(r"section_(?:start|end):\d+:\w+[^\r\n]*\r\x1b\[0K"),
    "Travis": re.compile(r"travis_\w+:\w+:\w+[^\r\n]*\r\x1b\[0K"),
    "Buildkite": re.compile(r"^(?:---|\+\+\+|~~~|\^\^\^) "),
    "a terminal": re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]"),
}
HOSTILE = (
    "::error file=x::pwn",
    "  ::warning::pwn",
    "\t\u3000::add-mask::pwn",
    "::stop-commands::pwn",
    "##[error]pwn",
    "x ##[group]pwn",
    "###[error]pwn",
    "##vso[task.setvariable variable=x]pwn",
    "x##vso[task.complete result=Succeeded;]",
    "##teamcity[buildStatus status='SUCCESS']",
    "section_start:1:pwn\r\x1b[0K",
    "travis_fold:start:pwn\r\x1b[0K",
    "--- pwn",
    "+++ pwn",
    "~~~ pwn",
    "^^^ +++",
    "a\n::error::pwn",
    "a\r\n##[error]pwn",
    "a\u2028::error::pwn",
    "\x1b[31m\x1b]0;pwn\x07\u202e",
    ":",
)
ORDINARY = (
    "a/b-c_d.py", "a b.py", "C:/x/y.py", "[id].py", "#1.py", "+x.py", "--x.py", "a::b.py", "x # [1].py", "日本.py", "",
)  # fmt: skip
MODEL = "import tensorflow as tf\n"


def commands(log: str) -> list[tuple[str, str]]:
    """What servers and terminals would not take for text, a line each."""
    return [(name, line) for name, what in SERVERS.items() for line in log.split("\n") if what.search(line)]


@pytest.mark.parametrize("words", HOSTILE)
def test_each_of_them_is_a_command(words: str) -> None:
    """Where it is printed as it is."""
    assert [] != commands(words) or words == ":"


@pytest.mark.parametrize("words", ORDINARY)
def test_ordinary_names_are_printed_as_they_are(words: str) -> None:
    """So that editors and terminals lead to them."""
    assert words == printable(words)


@pytest.mark.parametrize("form", ["text", "concise", "junit"])
def test_no_name_and_no_line_of_a_file_is_a_command(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a file, a folder, a notebook; in the report, the summary, the settings and what is complained of."""
    monkeypatch.chdir(tmp_path)
    paths = []
    for number, words in enumerate(HOSTILE):
        name = words.replace("/", "|")
        folder = Path(f"{name} {number}")
        folder.mkdir()
        (folder / "setup.cfg").touch()
        for path in (Path(f"{name}.py"), folder / f"{name}.py"):
            path.write_text(f"{MODEL}tf.Session()  # {words.splitlines()[-1]}\n", "utf-8", newline="")
            paths.append(str(path))
        source = [MODEL, f"{words.splitlines()[-1]}\n", f"tf.to_float(1)  # {words.splitlines()[-1]}"]
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
        Path(f"{name}.ipynb").write_text(json.dumps(book))
        paths.append(f"{name}.ipynb")
    options = ("--isolated", "--no-cache", "--output-format", form, "--exclude", HOSTILE[0])
    main([*options, "-v", *paths])
    main([*options, "--show-settings", *paths])
    main([*options, *HOSTILE])
    main([*options, "--config", HOSTILE[0]])
    main([*options, "--select", HOSTILE[0]])
    printed = capsys.readouterr()

    assert len(printed.out) > 10_000
    assert [] == commands(printed.out)
    assert [] == commands(printed.err)


@pytest.mark.parametrize("words", HOSTILE)
def test_nothing_that_a_model_says_is_a_command(words: str) -> None:
    """In a verdict, a phase, a note, the end of a run, or a revision."""
    evidence = Evidence(Target.KERAS3, words, words, Verdict.CONFIRMED, words)
    finding = replace(FINDING, path=words, message=words, verdict=Verdict.CONFIRMED, evidence=(evidence,))
    phases = (PhaseOutcome(words, "failed", 0.0, words),)
    lines = (LinesRun(words, (1, 2), ((words, (1,)),)),)
    said = ((words, words),), (words,), lines, words
    run = WorkerRun(Target.KERAS3, words, words, words, words, phases, *said, 0.0, 0)
    result = replace(result_of(finding, source=f"\n{words}\n".encode()), runtime=Runtime((run,), Counter(), False))

    for reporter in (text, concise):
        lines = [*reporter.report(result, Paint(False)), *summary(result, Paint(False))]
        assert [] == commands("\n".join(lines))


@pytest.mark.parametrize("form", ["text", "junit"])
@pytest.mark.parametrize("words", HOSTILE)
def test_nothing_that_a_pair_says_is_a_command(words: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its names, its places, and what went wrong in it."""
    monkeypatch.setattr(reports, "HOSTILE", words)

    assert [] == commands(render(form, reports.hostile()))
