"""Cells of TF1 and the Keras layers they became: equal through all rungs, and gates that are mixed up are named."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

HERE = Path(__file__).parent
TARGETS = ("keras2", "keras3")
FORWARD = (
    scenarios.STRUCTURE, scenarios.CONSTANT, scenarios.FINGERPRINT, scenarios.FINGERPRINT_NUDGED, scenarios.INFERENCE
)  # fmt: skip
EVERYTHING = (*FORWARD, scenarios.INFERENCE_COPIED, scenarios.STEPS, scenarios.STEPS_NUDGED)
TRAINED = (
    "basic lstm", "other forget bias", "gru", "rnn", "both ways", "stacked cells", "sequence to sequence", "bert"
)  # fmt: skip
UNTRAINED = {
    "cell in a layer": "lstm",
    "gru with ones": "gru",
    "static, both ways": "lstm",
    "stacked": "lstm",
    "stacked, mixed": "rnn",
    "attention": "fused_qkv",
    "heads that take turns": 'fused_qkv", heads=2',
    "fused and apart": "separate_qkv",
    "reset behind the product": "cudnn_gru",
    "own cell, two kernels": 'lstm", gates="icfo"',
    "own cell, other order": 'lstm", gates="foci"',
    "by hand": "lstm",
}
"""Compared in inference, with the layout that is to be found."""
WRONG = {
    "by hand, order of TF1": "the gates stand in the order i, c, f, o, where TF2 uses them as i, f, c, o",
    "no unit forget bias": "its bias begins without it (unit_forget_bias)",
    "unit forget bias": "TF2 adds one itself and here once more (unit_forget_bias)",
    "added twice": "TF2 adds one itself and here once more (unit_forget_bias)",
    "both ways, none": "its bias begins without it",
    "stacked, one without": "its bias begins without it",
    "decoder without": "its bias begins without it",
    "half a forget bias": "begins with a forget bias of 1, and outputs agree with 2.5 in it",
    "reset behind": "reset_after=False computes what TF1 does",
    "both ways, reset behind": "reset_after=False computes what TF1 does",
    "gru begins with zeros": "-1 at gate z, -1 at gate r",
    "own cell, order": "TF2 takes them in the order i, f, c, o, TF1 in the order i, c, f, o",
    "own cell, never": "TF2 lacks a forget bias of 1",
    "own cell, twice": "TF2 adds once more a forget bias of 1",
}
"""With what the first cause says."""

DECLARED = {
    "declared": ("lstm", "declared", "proven"),
    "by function": ("function", "declared", "proven"),
    "declared otherwise": ("lstm", "declared", "refuted"),
    "declared in vain": ("lstm", "shapes", "proven"),
}
"""With the layout, how it is known, and what outputs say of it."""

Reports = Callable[..., Report]


def record(side: str, name: str, wanted: list[str], folder: str, tf1: str) -> None:
    """In a child: record one side of a pair."""
    import tensorflow as tf
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording
    from migrate_lint.runtime_checks.worker.recording.loading import Loaded
    from migrate_lint.runtime_checks.worker.recording.sides import record_side

    from .recurrent import PAIRS

    tf.keras.backend.clear_session()
    other = None if side == "tf1" else read(tf1)
    loaded = Loaded(PAIRS[name], False, str(HERE))
    record_side(loaded, side, Plan(tuple(wanted), 3, 42), Recording(folder, side), UserCode([str(HERE)]), other)


def shared(name: str) -> str:
    """In a child: what the TF1 side of a pair is called, which pairs share."""
    from .recurrent import PAIRS

    return str(PAIRS[name].name)


@pytest.fixture(scope="module")
def reports(children: Children, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Compares a pair on a target; each side is recorded when it is first asked for, that of TF1 beside Keras 2."""
    folder = tmp_path_factory.mktemp("recurrent")

    @cache
    def reported(name: str, target: str, trained: bool = False) -> Report:
        wanted = list(EVERYTHING if trained else FORWARD)
        old, new = folder / f"tf1 {children.call('keras2', shared, name)}", folder / f"{target} {name}"
        if not old.exists():
            children.call("keras2", record, "tf1", name, wanted, str(old), "")
        children.call(target, record, "tf2", name, wanted, str(new), str(old))
        return compare(read(old), read(new), until="steps" if trained else "random")

    return reported


def layouts(report: Report) -> str:
    return " ".join(report.rung("variables").notes)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", TRAINED)
def test_what_a_cell_became_is_the_same(reports: Reports, name: str, target: str) -> None:
    """In inference, in initial values, in one step of Adam and in three, slots and updates included."""
    report = reports(name, target, True)
    passed = {rung.number for rung in report.rungs if rung.status is Status.PASS}
    compared = {check.kind for check in report.rung("steps").checks}

    assert (0, {"2", "3", "3f", "4", "6", "7"}, ()) == (report.status, passed, report.causes)
    assert compared >= {"output", "loss", "gradient", "slot", "update", "variable"}
    assert "outputs agree, and do not where the same values stand in another order" in layouts(report)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", UNTRAINED)
def test_a_layout_is_found_and_told(reports: Reports, name: str, target: str) -> None:
    """Also of cells and attention of one's own, in another order than that of Keras."""
    report = reports(name, target)

    assert 0 == report.status
    assert f'"{UNTRAINED[name]}' in layouts(report)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", WRONG)
def test_mixed_up_gates_and_forget_biases_are_the_first_cause(reports: Reports, name: str, target: str) -> None:
    """Whether outputs show them, or the values that training begins with."""
    report = reports(name, target)
    cause = report.causes[0]

    assert (1, "layout") == (report.status, cause.kind)
    assert WRONG[name] in " ".join(cause.evidence)


@pytest.mark.parametrize("name", ["relu", "backwards", "sigmoid"])
def test_no_layout_is_blamed_for_another_difference(reports: Reports, name: str) -> None:
    """The layout that shapes tell is taken for the comparison, which is said, and variables are not the first cause."""
    report = reports(name, "keras2")

    assert (1, "forward") == (report.status, report.causes[0].kind)
    assert Status.PASS is report.rung("variables").status
    assert "outputs with filled variables differ with it, and with whatever else fits" in layouts(report)


@pytest.mark.parametrize("name", DECLARED)
def test_what_a_pair_declares_counts(reports: Reports, name: str, tmp_path: Path) -> None:
    """Outputs say whether it is right; what cannot be used is told."""
    report = reports(name, "keras2")
    _, how, proof = DECLARED[name]
    notes = layouts(report)

    assert (1 if proof == "refuted" else 0) == report.status
    assert (how == "shapes") == ("a pair may say it: converters=" in notes)
    assert (name == "declared in vain") == ("the TF1 side has no variable net/rnn/no_cell/" in notes)
    if proof == "refuted":
        assert 'outputs agree for Converter("net/rnn/basic_lstm_cell/"' in " ".join(report.causes[0].evidence)
