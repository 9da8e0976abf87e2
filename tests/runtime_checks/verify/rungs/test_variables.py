"""Variables without a counterpart, other names, and pairs that ignore them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
