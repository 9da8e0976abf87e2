"""The JUnit report, read back by a library that reads such reports, and held to the attributes of Jenkins's schema."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
from migrate_lint.linter.finding import UNPARSABLE_FILE, Severity, Verdict
from migrate_lint.linter.reporters.formats import junit
from migrate_lint.linter.result import Result, Runtime

from .reports import FINDING, HOSTILE, linted, result_of, text_of
from .runs import PhaseOutcome, evidence, worker_run

ATTRIBUTES: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"skipped", "file", "time", "timestamp", "hostname", "id", "package", "group", "log", "url", "version"},
    ),
    "testcase": ({"name"}, {"classname", "time", "group"}),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
    "skipped": (set(), {"type", "message"}),
}
"""What an element must have and what it may have."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def suites_of(result: Result) -> dict[str, list[TestCase]]:
    """The cases of each suite, whose counts are right."""
    text = text_of(junit, result)
    root = ElementTree.fromstring(text)
    for element in root.iter():
        required, allowed = ATTRIBUTES[element.tag]
        assert required <= set(element.attrib) <= required | allowed
    report = JUnitXml.fromstring(text.encode("ascii"))
    suites: dict[str, list[TestCase]] = {}
    for suite in report:
        assert isinstance(suite, TestSuite)
        cases = [case for case in suite if isinstance(case, TestCase)]
        outcomes = [type(outcome) for case in cases for outcome in case.result]
        assert (len(cases), outcomes.count(Failure), outcomes.count(Error), outcomes.count(Skipped)) == (
            suite.tests,
            suite.failures,
            suite.errors,
            suite.skipped,
        )
        suites[str(suite.name)] = cases
    every = [case for cases in suites.values() for case in cases]
    assert len(every) == report.tests
    assert report.failures == sum(isinstance(outcome, Failure) for case in every for outcome in case.result)
    assert report.errors == sum(isinstance(outcome, Error) for case in every for outcome in case.result)
    return suites


def test_a_file_is_a_suite_and_a_finding_a_case(tmp_path: Path) -> None:
    """A file without findings is a case that passes."""
    text = "import tensorflow as tf\n\n\ndef main():\n    tf.Session()\n"
    suites = suites_of(linted(tmp_path, {"a.py": text, "b/clean.py": "x = 1\n"}))

    assert ["a.py", "b/clean.py"] == list(suites)
    assert {("TF401 session-run in main", "a.py")} <= {(case.name, case.classname) for case in suites["a.py"]}
    assert [("no findings", "b/clean.py", True)] == [
        (case.name, case.classname, case.is_passed) for case in suites["b/clean.py"]
    ]


def test_the_outcome_follows_the_exit_status() -> None:
    """An info does not fail a run; a file that could not be checked is no failed check but an error."""
    mild = replace(FINDING, path="a.py", severity=Severity.INFO)
    medium = replace(FINDING, path="b.py", severity=Severity.WARNING)
    suites = suites_of(result_of(mild, medium, UNPARSABLE_FILE.at("c.py", "why"), FINDING))

    assert {"a.py": Skipped, "b.py": Failure, "c.py": Error, "pkg/m.py": Failure} == {
        path: type(case.result[0]) for path, (case,) in suites.items()
    }


def test_a_case_tells_where_what_and_why() -> None:
    """The verdict of a run stands below the message."""
    judged = replace(FINDING, verdict=Verdict.CONFIRMED, evidence=(evidence(Verdict.CONFIRMED, "2 were made"),))
    ((case,),) = suites_of(result_of(judged)).values()
    (failure,) = case.result

    assert "error" == failure.type
    assert "line 2: made at every call" == failure.message
    assert (
        "pkg/m.py, line 2, column 5 (changes): made at every call\n"
        "confirmed (keras3, CPU:0, second call): 2 were made" == failure.text
    )


def test_what_was_not_looked_at_is_no_case_that_passes(tmp_path: Path) -> None:
    """Phases of a run that did not come to their end say why, and a project without TensorFlow has nothing to check."""
    found = (("build", "ok"), ("fit", "failed"), ("second call", "cut short"), ("predict", "not run"))
    run = worker_run(phases=tuple(PhaseOutcome(name, outcome, 0.1, f"why {name}") for name, outcome in found))
    result = linted(tmp_path, {"a.py": "import tensorflow as tf\n"})
    suites = suites_of(replace(result, runtime=Runtime((run,), {}, False)))
    phases = suites["runtime keras3 on CPU:0"]

    assert ["build", "fit", "second call", "predict"] == [case.name for case in phases]
    assert [True, False, False, False] == [case.is_passed for case in phases]
    assert [("failed", "why fit"), ("cut short", "why second call"), ("not run", "why predict")] == [
        (case.result[0].type, case.result[0].message) for case in phases[1:]
    ]
    ((plain,),) = suites_of(linted(tmp_path, {"b.py": "x = 1\n"})).values()
    assert plain.is_skipped
    assert "nothing to check: no file reaches TensorFlow" == plain.result[0].message


def test_names_stay_when_lines_are_added_above(tmp_path: Path) -> None:
    """Servers take a new name for a new failure; the second of a kind has a number."""
    text = "import tensorflow as tf\n\n\ndef main():\n    tf.Session()\n    tf.Session()\n"
    before = suites_of(linted(tmp_path, {"a.py": text}))
    after = suites_of(linted(tmp_path, {"a.py": "import os\n\n" + text}))

    assert [case.name for case in before["a.py"]] == [case.name for case in after["a.py"]]
    assert "TF401 session-run in main (2)" in {case.name for case in after["a.py"]}


def test_hostile_texts_end_no_element_and_leave_no_control_character() -> None:
    """What XML cannot hold is written as an escape."""
    path = 'a"<b>\x07\ufffe\udcff.py'
    ((name, (case,)),) = suites_of(result_of(replace(FINDING, path=path, message=HOSTILE))).items()
    (failure,) = case.result

    assert 'a"<b>\\x07\\ufffe\\udcff.py' == name
    assert "</failure>]]><script>\\x00\\x1b[31m\\x0b\\ufffe\\u202e\\udcff\n::error::" in str(failure.text)
    assert "&amp;" in str(failure.text)


def test_nothing_linted_is_an_empty_report() -> None:
    """It can be read all the same."""
    assert {} == suites_of(result_of())
