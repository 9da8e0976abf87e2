"""The Code Quality report, judged by what GitLab's documentation asks of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from migrate_lint.linter.finding import Severity, Verdict
from migrate_lint.linter.reporters.formats import gitlab
from migrate_lint.linter.result import Result

from .reports import FINDING, HOSTILE, linted, result_of, text_of
from .runs import evidence

FIELDS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {
                            "begin": {"type": "integer", "minimum": 1},
                            "end": {"type": "integer", "minimum": 1},
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def entries_of(result: Result) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(text_of(gitlab, result))
    assert [] == list(Draft202012Validator(FIELDS).iter_errors(entries))
    return entries


def test_a_finding_is_an_entry() -> None:
    """With all that GitLab shows of it."""
    (entry,) = entries_of(result_of(FINDING))

    assert {
        "type": "issue",
        "check_name": "TF101 variable-in-call",
        "description": "TF101: made at every call",
        "categories": ["Bug Risk"],
        "severity": "critical",
        "location": {"path": "pkg/m.py", "lines": {"begin": 2, "end": 2}},
    } == {key: value for key, value in entry.items() if key != "fingerprint"}


def test_no_finding_is_an_empty_list() -> None:
    """Which resolves what earlier reports had."""
    assert [] == entries_of(result_of())


def test_severities_are_gitlabs() -> None:
    """Each of ours has one."""
    found = [replace(FINDING, line=number, severity=one) for number, one in enumerate(Severity, 1)]

    assert ["critical", "major", "info"] == [entry["severity"] for entry in entries_of(result_of(*found))]


def test_fingerprints_differ_within_a_report_and_survive_edits_above(tmp_path: Path) -> None:
    """Equal files have other paths; lines take no part."""
    text = "import tensorflow as tf\ntf.Session()\ntf.Session()\n"
    before = entries_of(linted(tmp_path, {"a.py": text, "b/a.py": text}))
    after = entries_of(linted(tmp_path, {"a.py": "import os\n\n" + text, "b/a.py": text}))

    assert len(before) >= 4
    assert len(before) == len({entry["fingerprint"] for entry in before})
    assert [entry["fingerprint"] for entry in before] == [entry["fingerprint"] for entry in after]
    assert before != after


def test_the_verdict_of_a_run_is_told() -> None:
    """Below the message, which leaves the fingerprint as it is."""
    judged = replace(FINDING, verdict=Verdict.REFUTED, evidence=(evidence(Verdict.REFUTED, "made once"),))
    (entry,), (plain,) = entries_of(result_of(judged)), entries_of(result_of(FINDING))

    assert "TF101: made at every call\nrefuted (keras3, CPU:0, second call): made once" == entry["description"]
    assert plain["fingerprint"] == entry["fingerprint"]


def test_hostile_texts_are_printable() -> None:
    """A path and a message, but for line ends."""
    (entry,) = entries_of(result_of(replace(FINDING, path="x\x1b\udcff.py", message=HOSTILE)))

    assert "x\\x1b\\udcff.py" == entry["location"]["path"]
    assert entry["description"].replace("\n", "").isprintable()


def test_paths_start_at_the_root_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever in it the linter runs."""
    (tmp_path / ".git").touch()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    found = replace(FINDING, path=(tmp_path / "top.py").as_posix())

    assert ["top.py", "sub/pkg/m.py"] == [entry["location"]["path"] for entry in entries_of(result_of(found, FINDING))]
