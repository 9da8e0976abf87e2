"""What a report says as text, JSON and JUnit XML, and to a test that asserts it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from junitparser import Error, Failure, JUnitXml, Skipped
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.reporters import json as json_report
from migrate_lint.runtime_checks.comparison.reporters import junit
from migrate_lint.runtime_checks.comparison.reporters.text import render
from migrate_lint.runtime_checks.comparison.results import Status, Timing
from migrate_lint.runtime_checks.comparison.wording import figure, verdict

from . import reports

CRASHED = reports.equal(sides=(reports.side("tf1"), reports.side("tf2", cause="killed by signal 11")))
OTHER_INPUTS = reports.equal(problems=("the inputs differ: (2, 3) and (4, 3)",))
VACUOUS = reports.equal(rungs=(reports.rung("3", Status.VACUOUS),))
NOTHING = reports.equal(rungs=(reports.rung("1"), reports.rung("3", Status.NOT_RUN)))


def test_equal_sides_take_a_line_a_rung() -> None:
    """With the largest excess of each, and the verdict at the end."""
    text = str(reports.equal()).splitlines()

    assert (
        "+  3  all variables at a constant  pass     8 values agree, at most 0.7 x the tolerance, "
        "the farthest is layer head/dense" == text[3]
    )
    assert "-  5  TF1 checkpoint               not run  the pair names no checkpoint" == text[6]
    assert (
        "Equal on 8 rungs under policy noise; 100 values compared, "
        "the farthest is layer head/dense, 0.7 x the tolerance." == text[-1]
    )
    assert 14 == len(text)


TIMED = (
    reports.side("tf1", timing=Timing("training step", (0.002, 0.001, 0.003), (5 << 20, 7 << 20), 3, "")),
    reports.side("tf2", timing=Timing("training step", (0.004, 0.009, 0.003), (6 << 20, 9 << 20), 3, "")),
)


def timed_lines(report: Report) -> list[str]:
    return [line for line in str(report).splitlines() if line.startswith(("training step", "call", "memory", "no tra"))]


def test_time_and_memory_stand_side_by_side() -> None:
    """They are medians and what is left in memory, and no part of the verdict."""
    report = reports.equal(sides=TIMED)

    assert [
        "training step: TF1 2 ms (1 to 3, 3 training steps); TF2 4 ms (3 to 9, 3 training steps), 2 times TF1's",
        "memory behind it: TF1 7 MiB; TF2 9 MiB",
    ] == timed_lines(report)
    assert (0, verdict(reports.equal())) == (report.status, verdict(report))
    assert report == Report.from_json(json.loads(json.dumps(report.to_json())))


@pytest.mark.parametrize(
    ("tf1", "tf2", "lines"),
    [
        (None, None, []),
        (
            Timing("call", (0.001,), (), 3, ""),
            Timing("training step", (0.001,), (1 << 20,), 3, ""),
            [
                "call or training step: TF1 1 ms (1 to 1, 1 calls); TF2 1 ms (1 to 1, 1 training steps)",
                "memory behind it: TF1 unknown; TF2 1 MiB",
            ],
        ),
        (
            Timing("", (), (), 0, "it runs itself"),
            Timing("call", (0.5,), (1 << 20,), 3, ""),
            [
                "call: TF1 not timed; TF2 500 ms (500 to 500, 1 calls)",
                "memory behind it: TF1 unknown; TF2 1 MiB",
                "no trace of the TF1 side: it runs itself",
            ],
        ),
        (
            Timing("", (), (), 0, "it is \x1b[31mred"),
            Timing("", (), (), 0, ""),
            ["no trace of the TF1 side: it is \\x1b[31mred", "no trace of the TF2 side: nothing was traced"],
        ),
    ],
)
def test_what_was_not_timed_or_traced_is_told(tf1: Timing | None, tf2: Timing | None, lines: list[str]) -> None:
    """A side that trains is not held against one that is called."""
    sides = (reports.side("tf1", timing=tf1), reports.side("tf2", timing=tf2))

    assert lines == timed_lines(reports.equal(sides=sides))


def test_the_first_divergence_has_both_paths_and_lines() -> None:
    """And the last value that agreed."""
    text = str(reports.differing())

    assert "First divergence (rung 3f, fingerprint fill): layer block1/bn (TF2: block1/batch_normalization)" in text
    assert "at [0, 3] TF1 has 1, TF2 1.04615385 (rtol 0, atol 1e-5)\n" in text
    assert "  TF1  block1/bn  old/model.py:13\n  TF2  block1/batch_normalization  new/model.py:31\n" in text
    assert "the last that agreed: layer block1/conv\n" in text


def test_a_failing_rung_shows_its_first_values_and_counts_the_rest() -> None:
    """With the step, the tolerance and what would have passed."""
    text = str(reports.differing())

    assert "loss, training, at step 2: error 0.0003, 30 x the tolerance (rtol 0, atol 1e-5)" in text
    assert "1,500 x the noise; rtol 0.0003 would pass" in text
    assert "would have passed with rtol 0.061" in text
    assert "and 474 more" in text


def test_a_tap_that_does_not_count_is_no_failure() -> None:
    """It only helps to find the place."""
    (output,) = reports.differing().rung("3f").failures

    assert "output" == output.kind


def test_causes_name_their_findings() -> None:
    """In the order of their weight, as the report has them."""
    text = str(reports.differing())

    assert text.index("  forward (80%)") < text.index("  moving statistics (10%)")
    assert "    new/model.py:31: TF502 `BatchNormalization` has epsilon 1e-3 here and 1e-5 there\n" in text


def test_colour_is_all_that_colour_adds() -> None:
    """The words are the same."""
    report = reports.differing()

    assert render(report) == re.sub(r"\x1b\[[\d;]*m", "", render(report, color=True))
    assert "\x1b[" not in render(report)


def test_control_characters_of_names_are_spelled_out() -> None:
    """A name cannot recolour a terminal."""
    text = str(reports.hostile())

    assert "\x1b" not in text
    assert "\\x1b[31m" in text


@pytest.mark.parametrize(
    ("report", "status", "words"),
    [
        pytest.param(reports.equal(), 0, "Equal on 8 rungs", id="equal"),
        pytest.param(reports.differing(), 1, "Differs from layer block1/bn", id="differs"),
        pytest.param(CRASHED, 4, "The TF2 side ended early: killed by signal 11.", id="crashed"),
        pytest.param(OTHER_INPUTS, 3, "Not comparable: the inputs differ: (2, 3) and (4, 3).", id="inputs"),
        pytest.param(VACUOUS, 3, "Nothing is shown by rung 3: all outputs are 0.", id="vacuous"),
        pytest.param(NOTHING, 3, "No value was compared, so nothing is known of the two sides.", id="nothing"),
    ],
)
def test_the_verdict_is_a_sentence(report: Report, status: int, words: str) -> None:
    """It is the last line of the text, and fits the exit status."""
    assert status == report.status
    assert verdict(report).startswith(words)
    assert str(report).endswith(f"{verdict(report)}\n")


def test_a_divergence_in_training_names_the_step() -> None:
    """A reader wants to know since when."""
    report = reports.differing()
    assert report.first_divergence is not None
    loss = report.rung("steps").failures[0]
    first = replace(report.first_divergence, rung="7", deviation=loss)

    assert verdict(replace(report, first_divergence=first)).startswith("Differs from step 2: loss, error 0.0003")


def test_a_failure_without_a_place_is_still_told() -> None:
    """The rung says it."""
    report = replace(reports.differing(), first_divergence=None)

    assert "Differs on rung 2, variables match: 2 variables have no counterpart." == verdict(report)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "NaN"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (0.0, "0"),
        (1e-05, "1e-5"),
        (4619.8, "4,620"),
        (999.9, "1,000"),
        (231_000.0, "231,000"),
        (1.5e12, "1.5e+12"),
        (1e8, "1e8"),
        (0.123456, "0.123"),
    ],
)
def test_figures_are_short(value: float, words: str) -> None:
    """Three significant digits."""
    assert words == figure(value)


@pytest.mark.parametrize(
    "report", [pytest.param(reports.differing(), id="differs"), pytest.param(OTHER_INPUTS, id="not comparable")]
)
def test_a_test_fails_with_the_whole_report(report: Report) -> None:
    """Also where nothing could be compared."""
    with pytest.raises(AssertionError, match=re.escape(verdict(report))):
        report.assert_equal()


def test_equal_sides_satisfy_a_test() -> None:
    """Nothing is raised."""
    reports.equal().assert_equal()


def test_a_test_may_ask_for_single_rungs() -> None:
    """Those have to pass; what was not run has not passed."""
    report = reports.differing()
    report.assert_equal("constant", "6")

    with pytest.raises(AssertionError, match=r"^fingerprint, 5\n"):
        report.assert_equal("fingerprint", "constant", "5")
    with pytest.raises(KeyError):
        report.assert_equal("4f")
    with pytest.raises(AssertionError):
        CRASHED.assert_equal("3")


def test_json_comes_back_as_the_report_that_it_was() -> None:
    """Without a number that JSON does not know, and with all that a rendering needs."""
    for report in (reports.equal(), reports.differing(), reports.hostile()):
        text = json.dumps(report.to_json(), allow_nan=False)
        back = Report.from_json(json.loads(text))

        assert text == json.dumps(back.to_json(), allow_nan=False)
        assert str(report) == str(back)
        assert junit.render(report) == junit.render(back)
    assert reports.equal() == Report.from_json(reports.equal().to_json())


def test_json_has_what_a_script_asks_first() -> None:
    """The status and the verdict beside the rungs."""
    document = reports.differing().to_json()

    assert (1, 1, "noise") == tuple(document[key] for key in ("format", "status", "policy"))
    assert document["verdict"].startswith("Differs from layer block1/bn")
    assert ["pass", "fail"] == [rung["status"] for rung in document["rungs"][:2]]
    assert ["old/model.py", 13] == document["first_divergence"]["deviation"]["tf1_place"]


def test_numbers_of_numpy_and_those_that_are_not_finite_are_written() -> None:
    """A comparison computes with numpy."""
    odd = reports.check(error=np.float32(0.5), at=(np.int64(2),), excess=math.inf, needed_rtol=math.nan)  # type: ignore[arg-type]
    report = reports.equal(rungs=(reports.rung("3", checks=[odd]),))
    document = json.loads(json.dumps(report.to_json(), allow_nan=False))
    (written,) = document["rungs"][0]["checks"]
    (back,) = Report.from_json(document).rungs[0].checks

    assert (0.5, [2], "inf", "nan") == tuple(written[key] for key in ("error", "at", "excess", "needed_rtol"))
    assert (math.inf, (2,), True) == (back.excess, back.at, math.isnan(back.needed_rtol))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"format": 2}, id="another format"),
        pytest.param([], id="a list"),
        pytest.param({"format": 1}, id="nothing in it"),
        pytest.param(reports.equal().to_json() | {"rungs": [{"number": "1"}]}, id="half a rung"),
        pytest.param(reports.equal().to_json() | {"rungs": 3}, id="a number of rungs"),
    ],
)
def test_what_is_no_report_is_refused(document: Any) -> None:
    """With a text, not with whatever was met on the way."""
    with pytest.raises(ValueError, match=r"this is no report of format 1|the report is damaged"):
        Report.from_json(document)


def test_fields_of_a_later_version_are_passed_over() -> None:
    """An older tool still shows what it knows."""
    document = reports.equal().to_json() | {"later": 1}

    assert reports.equal() == Report.from_json(document)


def test_every_field_of_the_json_is_described() -> None:
    """In the text of the module, from which the documentation is made."""
    document = reports.differing().to_json()
    described = set(re.findall(r"``(\w+)``", json_report.__doc__ or ""))
    rung = next(one for one in document["rungs"] if one["checks"])
    (parts,) = document["random_ops"].values()
    named = {
        *document,
        *rung,
        *rung["checks"][0],
        *document["sides"][0],
        *document["variables"][0],
        *document["series"][0],
        *document["first_divergence"],
        *document["causes"][0],
        *parts[0][0],
    }

    assert set() == named - described


def test_junit_has_a_case_a_rung() -> None:
    """Failures, errors for what says nothing, and skipped ones, counted as they are."""
    suites = JUnitXml.fromstring(junit.render(reports.differing()).encode())
    (suite,) = suites
    outcomes = [type(case.result[0]) if case.result else None for case in suite]

    assert [None, Failure, None, Failure, Error, Skipped, None, Failure, Skipped] == outcomes
    assert (9, 3, 1, 2) == (suite.tests, suite.failures, suite.errors, suite.skipped)


def test_a_failing_case_has_the_line_of_its_first_divergence() -> None:
    """Of the TF2 side, which is the one that is being written."""
    text = junit.render(reports.differing())

    assert (
        'name="3f fingerprint fill" classname="old/model.py against new/model.py" file="new/model.py" line="31"' in text
    )


def test_a_passing_case_has_no_line() -> None:
    """There is none to go to."""
    assert " line=" not in junit.render(reports.equal())


@pytest.mark.parametrize(
    ("report", "words"),
    [
        pytest.param(CRASHED, "killed by signal 11", id="crashed"),
        pytest.param(OTHER_INPUTS, "the inputs differ", id="inputs"),
        pytest.param(NOTHING, "No value was compared", id="nothing"),
    ],
)
def test_junit_is_red_whenever_the_sides_are_not_equal(report: Report, words: str) -> None:
    """A server knows the cases alone, not the exit status."""
    (suite,) = JUnitXml.fromstring(junit.render(report).encode())
    errors = [result for case in suite for result in case.result if isinstance(result, Error)]

    assert 1 == suite.errors == len(errors)
    assert words in str(errors[0].message)


def test_junit_of_hostile_names_is_xml() -> None:
    """In ASCII, with nothing that XML forbids."""
    text = junit.render(reports.hostile())
    (suite,) = JUnitXml.fromstring(text.encode("ascii"))

    assert text.isascii()
    assert 2 == suite.tests


def test_a_report_writes_files(tmp_path: Path) -> None:
    """JSON, JUnit and a page."""
    report = reports.differing(3)
    report.to_json(tmp_path / "r.json")
    report.to_junit(tmp_path / "r.xml")
    report.to_html(tmp_path / "r.html")

    assert report.to_json() == json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert junit.render(report) == (tmp_path / "r.xml").read_text("utf-8")
    assert (tmp_path / "r.html").read_text("ascii").startswith("<!DOCTYPE html>")
