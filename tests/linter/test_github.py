"""Annotations of GitHub Actions, of which it shows ten of a kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Consequence, Severity, Verdict
from migrate_lint.linter.reporters.formats import github

from .reports import FINDING, HOSTILE, result_of, text_of


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_worst_come_first_within_a_severity() -> None:
    """What a run confirmed, then what raises; what it refuted is last."""
    found = [
        replace(FINDING, line=1, verdict=Verdict.REFUTED),
        replace(FINDING, line=2, consequence=Consequence.LEGACY),
        replace(FINDING, line=3, consequence=Consequence.BREAKS),
        replace(FINDING, line=4, consequence=Consequence.LEGACY, verdict=Verdict.CONFIRMED),
        replace(FINDING, line=5, severity=Severity.WARNING, verdict=Verdict.CONFIRMED),
    ]
    lines = text_of(github, result_of(*found)).splitlines()

    assert ["4", "3", "2", "1", "5"] == [line.partition("line=")[2][0] for line in lines]


def test_a_notice_says_how_many_are_not_shown() -> None:
    """It is the first notice and takes the place of one."""
    errors = [replace(FINDING, line=line) for line in range(1, 13)]
    infos = [replace(FINDING, line=line, severity=Severity.INFO) for line in range(1, 11)]
    lines = text_of(github, result_of(*errors, *infos)).splitlines()

    assert 23 == len(lines)
    assert all(line.startswith("::error ") for line in lines[:12])
    assert (
        "::notice title=migrate-lint%3A 22 findings::GitHub shows the worst ones only: "
        "2 more errors, 1 more info stand in the log of this step" == lines[12]
    )


def test_ten_of_a_kind_need_no_notice() -> None:
    """All are shown."""
    errors = [replace(FINDING, line=line) for line in range(1, 11)]

    assert 10 == len(text_of(github, result_of(*errors)).splitlines())


def test_hostile_texts_end_no_command() -> None:
    """One finding is one line with one command."""
    (line,) = text_of(github, result_of(replace(FINDING, path="a\n::error::,b", message=HOSTILE))).splitlines()

    assert line.startswith("::error file=a%0A%3A%3Aerror%3A%3A%2Cb,line=2,")
    assert line.isprintable()


def test_paths_start_at_the_root_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever in it the linter runs."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")

    assert "::error file=sub/pkg/m.py," in text_of(github, result_of(FINDING))
