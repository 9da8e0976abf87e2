"""What evaluation says of the same weights: its loss, and metrics that are paired by what they measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status

from ..programs import CLEAN, Program, compared

Values = Sequence[tuple[str, str, float, str]]
LOSS = ("loss", "loss", 0.75, "")
V1 = ("metric", "acc", 0.5, "accuracy/value")
SPARSE = ("metric", "hits", 0.5, "SparseCategoricalAccuracy")


def judged(folder: Path, tf1: Values, tf2: Values, last: Values | None = None) -> Report:
    """With the initial values, and with the weights after step 3; `last` is what TF2 gives there."""
    one = replace(Program(), evaluated={-1: tf1, 3: tf1})
    return compared(folder, one, replace(CLEAN, evaluated={-1: tf2, 3: tf2 if last is None else last}))


PAIRED = {
    "by name": ((V1,), (("metric", "acc", 0.5, "Mine"),)),
    "by class": ((V1,), (SPARSE,)),
    "of a scope that counts": ((("metric", "hit_rate", 0.5, "accuracy_1/value"),), (SPARSE,)),
    "by function": (
        (("metric", "error", 0.25, "mean_absolute_error/value"),),
        (("metric", "off_by", 0.25, "mean_absolute_error"),),
    ),
    "the area": ((("metric", "area", 0.5, "auc/value"),), (("metric", "auc_3", 0.5, "AUC"),)),
    "two of a sort, in order": (
        (("metric", "a", 0.25, "precision/value"), ("metric", "b", 0.5, "precision_1/value")),
        (("metric", "c", 0.25, "Precision"), ("metric", "d", 0.5, "Precision")),
    ),
}
ALONE = {
    "none on TF2": ((V1,), (), ["metric acc of evaluation (only on TF1)"]),
    "none on TF1": ((), (SPARSE,), ["metric hits of evaluation (only on TF2)"]),
    "of other sorts": (
        (("metric", "a", 0.5, "precision/value"),),
        (("metric", "b", 0.1, "Recall"),),
        ["metric a of evaluation (only on TF1)", "metric b of evaluation (only on TF2)"],
    ),
    "among the best": (
        (("metric", "a", 0.5, "accuracy/value"),),
        (("metric", "b", 0.9, "SparseTopKCategoricalAccuracy"),),
        ["metric b of evaluation (only on TF2)"],
    ),
    "more of a sort": ((V1,), (SPARSE, ("metric", "c", 0.1, "Accuracy")), ["metric c of evaluation (only on TF2)"]),
}


@pytest.mark.parametrize("name", PAIRED)
def test_metrics_of_other_names_are_paired(tmp_path: Path, name: str) -> None:
    """They pass where they agree, and fail where they do not."""
    ones, others = PAIRED[name]
    sound = judged(tmp_path / "sound", (LOSS, *ones), (LOSS, *others))
    wrong = [(kind, metric, value + 0.125, sort) for kind, metric, value, sort in others]
    other = judged(tmp_path / "other", (LOSS, *ones), (LOSS, *others), (LOSS, *wrong))
    failures = other.rung("evaluation").failures

    assert (Status.PASS, 2 + 2 * len(ones)) == (sound.rung("7e").status, len(sound.rung("7e").checks))
    assert (len(ones), {3}) == (len(failures), {check.step for check in failures})
    assert ["evaluation"] == [rung.name for rung in other.rungs if rung.status is Status.FAIL]
    assert "loss" == other.causes[0].kind


@pytest.mark.parametrize("name", ALONE)
def test_what_one_side_has_alone_is_told(tmp_path: Path, name: str) -> None:
    """In the list of what was not compared, and in the last line."""
    ones, others, told = ALONE[name]
    report = judged(tmp_path, (LOSS, *ones), (LOSS, *others))

    assert (Status.PASS, 0) == (report.rung("evaluation").status, report.status)
    assert set(told) <= set(report.not_compared)
    assert all(words.partition(" (")[0] in str(report).splitlines()[-1] for words in told)


def test_evaluation_without_metrics_is_told(tmp_path: Path) -> None:
    """The loss was compared."""
    report = judged(tmp_path, (LOSS,), (LOSS,))

    assert Status.PASS is report.rung("evaluation").status
    assert "metrics of evaluation (neither side has any)" in report.not_compared


def test_nothing_but_zeros_shows_nothing(tmp_path: Path) -> None:
    """An accuracy of zero on both sides is no proof."""
    nothing = (("loss", "loss", 0.0, ""), ("metric", "acc", 0.0, ""))

    assert Status.VACUOUS is judged(tmp_path, nothing, nothing).rung("evaluation").status


def test_evaluation_that_nobody_ran_is_told(tmp_path: Path) -> None:
    """It is no failure."""
    report = compared(tmp_path)

    assert (Status.NOT_RUN, 0) == (report.rung("evaluation").status, report.status)
    assert any(words.startswith("evaluation (") for words in report.not_compared)


@pytest.mark.parametrize(
    ("every", "told"),
    [
        ((0.5, 0.75, 1.0), True),
        ((1.25, 1.0), False),
        ((0.5, 1.0), True),
        ((1.0,), False),
        ((), False),
        ((0.25, 1.0, 1.0), True),
    ],
)
def test_a_loss_of_the_last_batch_is_told_from_another_loss(
    tmp_path: Path, every: tuple[float, ...], told: bool
) -> None:
    """Keras tells what the last ``test_step`` gave; TF1 means over all batches."""
    one = Program(evaluated={-1: (LOSS,), 3: (LOSS,)})
    last = (("loss", "loss", 1.0, ""),)
    report = compared(tmp_path, one, replace(CLEAN, evaluated={-1: last, 3: last}, every=every))

    assert Status.FAIL is report.rung("evaluation").status
    assert told == ("that of the last one" in report.causes[0].evidence[0])
