"""The formats of one line a finding, and reviewdog's, each judged by what its readers ask for."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from migrate_lint.linter.finding import Applicability, Edit, Fix, Severity, Verdict
from migrate_lint.linter.reporters import Paint
from migrate_lint.linter.reporters.formats import azure, json_lines, pylint, rdjson
from migrate_lint.linter.reporters.formats import json as json_format
from migrate_lint.linter.result import BaselineStatus, RevisionStatus, Runtime
from migrate_lint.linter.run.verdicts import tally

from .reports import FINDING, linted, result_of, text_of
from .runs import LinesRun, PhaseOutcome, evidence, worker_run

SCHEMA = Path(__file__).parents[2] / "docs" / "report.schema.json"

ISSUE = re.compile(r"##vso\[task\.logissue ((?:\w+=[^;\]]*;)+)\](.*)")
"""As Azure's agent reads a command: properties, then what is said."""
MESSAGE = re.compile(
    r"(?P<path>[^:]+):(?P<line>\d+): \[(?P<code>[\w-]+)\((?P<symbol>[\w-]+)\), (?P<object>.*?)\] (?P<said>.*)"
)
"""As pylint's parseable output is read, by Jenkins's plugin among others."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def issues_of(text: str) -> list[tuple[dict[str, str], str]]:
    """The issues in a log of Azure Pipelines."""
    found = [ISSUE.fullmatch(line) for line in text.splitlines() if line.startswith("##vso")]
    assert None not in found
    parts = [(dict(part.split("=", 1) for part in one[1].split(";") if part), one[2]) for one in found if one]
    return [({name: _unescaped(value) for name, value in given.items()}, _unescaped(said)) for given, said in parts]


def _unescaped(text: str) -> str:
    codes = {"%3B": ";", "%0D": "\r", "%0A": "\n", "%5D": "]", "%AZP25": "%"}
    return re.sub("|".join(codes), lambda match: codes[match[0]], text)


def test_azure_has_issues_and_lines_of_the_log() -> None:
    """An error and a warning are issues, the worst first; an info is none, and nobody's text is a command."""
    findings = [
        replace(FINDING, severity=Severity.INFO, message="an info ##vso[task.complete]"),
        replace(FINDING, severity=Severity.WARNING, message="100 % ;]\n##vso[task.setvariable variable=x]y", line=3),
        replace(FINDING, path="a;b].py"),
    ]
    text = text_of(azure, result_of(*findings))
    (error, _), (warning, said) = issues_of(text)

    assert ("error", "a;b].py", "TF101 variable-in-call") == (error["type"], error["sourcepath"], error["code"])
    assert ("warning", "3") == (warning["type"], warning["linenumber"])
    assert "100 % ;]\r\n\\x23#vso[task.setvariable variable=x]y" == said
    assert 2 == text.count("##")
    assert text.splitlines()[-1].startswith(f"{FINDING.path}:{FINDING.line}: TF101 an info ")


def test_a_line_of_pylint_is_read_by_its_readers() -> None:
    """Path, line, code, symbol and what is said; of a notebook the cell, too."""
    text = text_of(pylint, result_of(FINDING, replace(FINDING, cell=2)))
    one, other = (MESSAGE.fullmatch(line) for line in text.splitlines())

    assert one is not None and other is not None
    assert (FINDING.path, str(FINDING.line), "TF101", "variable-in-call") == one.group("path", "line", "code", "symbol")
    assert one["said"] == FINDING.message
    assert f"cell 2, line {FINDING.line}: {FINDING.message}" == other["said"]


def test_json_lines_are_the_findings_of_json(tmp_path: Path) -> None:
    """Each on its own line."""
    result = linted(tmp_path, {"m.py": "import tensorflow as tf\ntf.Session()\ntf.placeholder(tf.float32)\n"})
    lines = [json.loads(line) for line in text_of(json_lines, result).splitlines()]

    assert 2 == len(lines)
    assert json.loads("\n".join(json_format.report(result, Paint(False))))["findings"] == lines


def test_json_is_what_its_schema_says(tmp_path: Path) -> None:
    """With everything that a report may have, and nothing else; a key that is new or gone fails."""
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    whole = jsonschema.Draft202012Validator(schema)
    line = jsonschema.Draft202012Validator({**schema["$defs"]["finding"], "$defs": schema["$defs"]})
    files = {"a.py": "import tensorflow as tf\n\nx = tf.log(1.0)\ntf.Session().run(x)\n", "b.py": "tf.x(\n", "c.py": ""}
    result = linted(tmp_path, files)
    judged = replace(
        FINDING, cell=2, verdict=Verdict.CONFIRMED, evidence=(evidence(Verdict.CONFIRMED, "2 were made"),),
        fix=Fix(Applicability.UNSAFE, (Edit(1, 1, 1, 2, "x"),), "look at it"),
    )  # fmt: skip
    ran = worker_run(
        phases=(PhaseOutcome("fit", "failed", 0.5, "why"),), scopes=(("f", "nothing"),), notes=("a note",),
        lines=(LinesRun("a.py", (1, 3), (("fit", (1,)),)),), cause="it ended",
    )  # fmt: skip
    full = replace(
        result,
        findings=(*result.findings, judged),
        baseline=BaselineStatus("b.json", 3, 2, 1, 0, "read", (("2026-11-27", 2),)),
        since=RevisionStatus("main", "0" * 40, 1, 2),
        runtime=Runtime((ran,), tally([judged]), False),
        milder=1,
    )

    for each in (result, full, result_of(), result_of(FINDING)):
        whole.validate(json.loads("\n".join(json_format.report(each, Paint(False)))))
        for found in text_of(json_lines, each).splitlines():
            line.validate(json.loads(found))
    changed = json.loads("\n".join(json_format.report(full, Paint(False))))
    changed["findings"][0]["new"] = 1
    assert not whole.is_valid(changed)


def test_rdjson_counts_bytes_and_suggests_fixes(tmp_path: Path) -> None:
    """A range ends before its end; the edits of a fix are suggestions, those that are only shown are none."""
    result = linted(tmp_path, {"m.py": 'import tensorflow as tf\n"é"; y = tf.log(1.0)\n'})
    (finding,) = result.findings
    edit = Edit(2, 12, 2, 12, "math.")
    fixed, shown = (replace(finding, fix=Fix(how, (edit,))) for how in (Applicability.SAFE, Applicability.DISPLAY))
    document: dict[str, Any] = json.loads(text_of(rdjson, replace(result, findings=(fixed, shown))))
    one, other = document["diagnostics"]

    assert {"name": "migrate-lint"} == document["source"]
    assert {"start": {"line": 2, "column": 11}, "end": {"line": 2, "column": 17}} == one["location"]["range"]
    place = {"line": 2, "column": 13}
    assert [{"range": {"start": place, "end": place}, "text": "math."}] == one["suggestions"]
    assert ("ERROR", {"value": "TF406"}) == (one["severity"], one["code"])
    assert "suggestions" not in other
