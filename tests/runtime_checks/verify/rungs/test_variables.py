"""Variables without a counterpart, other names, and pairs that ignore them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.worker.recording.format import scenarios

from ..programs import CLEAN, Program, compared, failing, statuses


def test_what_one_side_lacks_and_what_it_has_too_many_is_listed(tmp_path: Path) -> None:
    """Every variable has a row, with its problem."""
    report = compared(tmp_path, tf2=replace(CLEAN, leave_out=("top/bias",), dtypes={"hidden/bias": "float16"}))

    assert "fail" == statuses(report)["2"]
    assert {"top/bias": "only in TF1", "hidden/bias": "the dtypes are float32 and float16"} == {
        str(row.tf1["name"]): row.problem for row in report.variables if row.tf1 and row.problem
    }


def test_names_that_differ_are_suggested_and_never_pass(tmp_path: Path) -> None:
    """Later rungs use the suggestion, and say so."""
    renamed = replace(CLEAN, names={"top/kernel": "head/w"})
    report = compared(tmp_path, tf2=renamed)
    (row,) = [row for row in report.variables if row.problem]

    assert ("suggestion", "top/kernel", "head/w") == (row.how, (row.tf1 or {})["name"], (row.tf2 or {})["name"])
    assert ["2"] == failing(report)
    assert "renames={'top/kernel': 'head/w'}" in " ".join(report.rung("2").notes)
    assert any("nobody said that they are the same" in note for note in report.rung("6").notes)


def test_renames_of_the_pair_pass(tmp_path: Path) -> None:
    """What the user declares is no difference."""
    renamed = replace(CLEAN, names={"top/kernel": "head/w"})

    assert 0 == compared(tmp_path, Program(pair={"renames": {"top/kernel": "head/w"}}), renamed).status


def test_a_pair_that_ignores_every_variable_is_vacuous(tmp_path: Path) -> None:
    """A rung that compares no variable does not pass."""
    pair = {"ignore": ["*"]}
    report = compared(tmp_path, Program(pair=pair), replace(CLEAN, pair=pair))

    assert (3, "vacuous", "the pair ignores every variable of both sides") == (
        report.status,
        statuses(report)["2"],
        report.rung("2").detail,
    )


COPY = ("left/kernel",)


@pytest.mark.parametrize(
    ("tf1", "tf2", "passes"),
    [
        pytest.param({"untrained": COPY}, {"untrained": COPY, "frozen": COPY}, True, id="a copy, frozen in TF2"),
        pytest.param({"untrained": COPY, "frozen": COPY}, {"untrained": COPY}, True, id="a copy, frozen in TF1"),
        pytest.param({}, {"untrained": COPY, "frozen": COPY}, False, id="a weight that TF2 trains no more"),
        pytest.param({"untrained": COPY, "frozen": COPY}, {}, False, id="a copy that TF2 trains"),
        pytest.param(
            {"untrained": COPY, "skip": (scenarios.STEPS,)},
            {"untrained": COPY, "frozen": COPY, "skip": (scenarios.STEPS,)},
            False,
            id="what nobody trained here",
        ),
    ],
)
def test_what_no_step_trains_need_not_be_frozen_on_both_sides(
    tmp_path: Path, tf1: dict[str, Any], tf2: dict[str, Any], passes: bool
) -> None:
    """A target network is among the trainable variables of TF1, where the optimizer is given others."""
    report = compared(tmp_path, replace(Program(), **tf1), replace(CLEAN, **tf2))
    notes = " ".join(report.rung("2").notes)

    assert ("pass" if passes else "fail") == statuses(report)["2"]
    assert passes == ("no training step gives them a gradient: left/kernel" in notes)


def test_a_rename_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    """A word that is misspelt in the pair."""
    said = Program(pair={"renames": {"top/kernel": "haed/w"}})
    report = compared(tmp_path, said, replace(CLEAN, leave_out=("top/kernel",)))

    assert ["only in TF1; renames call it haed/w, which TF2 lacks or has twice"] == [
        row.problem for row in report.variables if row.problem
    ]
