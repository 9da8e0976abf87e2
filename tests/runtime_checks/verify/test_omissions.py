"""What no rung compared is told in every report, and in the last line of one that passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.reporters import html, junit
from migrate_lint.runtime_checks.comparison.results import NEVER
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from .programs import CLEAN, SHAPES, Change, Program, changing, compared, record

TRAINED = (scenarios.ALIGNED, "output")
AVERAGE = {"name": "loss", "average": "loss/Average", "decay": 0.9, "weight": False, "updated": True}


def without(*kinds: str) -> Callable[[str, dict[str, Any]], Any]:
    return lambda scenario, found: None if found["kind"] in kinds else found


def ignoring(name: str) -> Program:
    return replace(CLEAN, leave_out=(name,), pair={"ignore": [name]})


def halved(kind: str) -> Change:
    return changing(kind, lambda value: value.astype(np.float16))


MEMBERS: dict[str, tuple[Program, dict[str, Any], str]] = {
    "ignored": (ignoring("top/bias"), {"ignore": ["top/bias"]}, "1 variable of TF1 that the pair ignores (top/bias)"),
    "until": (CLEAN, {"until": "steps"}, "rungs 7e to 8 (--until)"),
    "the last rung": (CLEAN, {"until": "7s"}, "rung 8 (--until)"),
    "slots": (replace(CLEAN, change=without("slot")), {}, "optimizer slots of TF1 alone (adam.m)"),
    "gradients": (replace(CLEAN, change=without("gradient")), {}, "gradients without a counterpart (6 of TF1)"),
    "layers": (replace(CLEAN, change=without("tap")), {}, "outputs of layers without a counterpart (4 of TF1)"),
    "losses": (replace(CLEAN, change=without("loss")), {}, "loss of TF1 alone"),
    "rates": (replace(CLEAN, change=without("learning_rate")), {}, "learning rate of TF1 alone"),
    "outputs of training": (
        replace(CLEAN, change=lambda name, found: None if (name, found["kind"]) == TRAINED else found),
        {},
        "outputs of a training pass (TF2 gives none there)",
    ),
    "a checkpoint": (CLEAN, {}, "a TF1 checkpoint (the pair names no checkpoint)"),
    "a scenario": (replace(CLEAN, skip=(scenarios.CONSTANT,)), {}, "rung 3, all variables at 0.001 (TF2: it was not"),
    "outputs of 16 bits": (
        replace(CLEAN, change=halved("output")),
        {},
        "the digits of output beyond float16 (float32 on TF1, float16 on TF2)",
    ),
    "losses of 16 bits": (
        replace(CLEAN, change=halved("loss")),
        {},
        "the digits of loss beyond float16 (float32 on TF1, float16 on TF2)",
    ),
    "outputs of 16 bits after training": (
        replace(CLEAN, change=halved("evaluation")),
        {},
        "the digits of evaluation output beyond float16 (float32 on TF1, float16 on TF2)",
    ),
    "devices": (CLEAN, {}, NEVER),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_what_was_not_compared_is_told(tmp_path: Path, name: str) -> None:
    """In every format; what can never be compared is no news in the last line."""
    program, options, words = MEMBERS[name]
    report = compared(tmp_path, tf2=program, **options)
    found = [one for one in report.not_compared if one.startswith(words)]
    last = str(report).splitlines()[-1]

    assert (0, 1) == (report.status, len(found)), report.not_compared
    assert found[0] in next(line for line in str(report).splitlines() if line.startswith("not compared: "))
    assert found[0] in report.to_json()["not_compared"]
    assert found[0] in junit.render(report)
    assert found[0] in html.render(report)
    assert (found[0].partition(" (")[0] in last.partition("; not compared: ")[2]) == (name != "devices")


def test_what_is_compared_is_not_told(tmp_path: Path) -> None:
    """Two sides that record the same lack nothing."""
    told = " ".join(compared(tmp_path).not_compared)

    assert not [word for word in ("alone", "counterpart", "ignores", "--until", "raised") if word in told], told


def changed(tmp_path: Path, side: str, change: Callable[[dict[str, Any]], object]) -> Report:
    """The report after a change of what a side says of itself."""
    folders = {"tf1": record(Program(), tmp_path / "tf1"), "tf2": record(CLEAN, tmp_path / "tf2")}
    path = folders[side] / "record.json"
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")
    return compare(read(folders["tf1"]), read(folders["tf2"]))


SAID: dict[str, tuple[str, Callable[[dict[str, Any]], object], str]] = {
    "an average of a value": (
        "tf1",
        lambda content: content.update(averages=[AVERAGE]),
        "moving averages of what is no weight (TF1: loss)",
    ),
    "an average that stands still": (
        "tf1",
        lambda content: content.update(averages=[{**AVERAGE, "weight": True, "updated": False}]),
        "a moving average that no training step of TF1 updates (loss)",
    ),
    "a first step that a model cannot take": (
        "tf2",
        lambda content: content.update(unbuilt="ValueError: no variables (train.py:3)"),
        "a first training step of a TF2 model that nothing has called before, which raises (TF2: ValueError: no",
    ),
    "no room": (
        "tf2",
        lambda content: content.update(left_out={"records": 3, "bytes": 9, "limit": 1}),
        "3 layer outputs of TF2 (--tap-limit)",
    ),
    "an error": (
        "tf2",
        lambda content: content["scenarios"][scenarios.STEPS_OTHER].update(outcome="failed", detail="ValueError"),
        "training, other mode of TF2 after it raised",
    ),
    "a random number in a branch": (
        "tf1",
        lambda content: content.update(notes=["RandomUniform in a branch or loop draws unaligned numbers"]),
        "random numbers (RandomUniform in a branch or loop draws unaligned numbers)",
    ),
    "another number of draws": (
        "tf1",
        lambda content: content["scenarios"][scenarios.ALIGNED].update(
            random_ops=[{"op": "RandomUniform", "seed": 1, "shape": [2], "purpose": "step", "place": None}]
        ),
        "random numbers of training that are not aligned (TF2 does not draw",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_what_a_side_says_of_itself_is_told(tmp_path: Path, name: str) -> None:
    """Where it means that something was not looked at."""
    side, change, words = SAID[name]
    report = changed(tmp_path, side, change)

    assert [words] == [one[: len(words)] for one in report.not_compared if one.startswith(words)], report.not_compared


def test_a_report_without_the_list_can_still_be_read(tmp_path: Path) -> None:
    """One of an earlier version has none."""
    document = compared(tmp_path).to_json()
    del document["not_compared"]

    assert () == Report.from_json(document).not_compared
    assert len(SHAPES) == len(Report.from_json(document).variables)


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ((True, True), ""),
        ((False, False), "what the input pipelines of TF1 and TF2 give after batch 2 (the limit of rung 0)"),
        ((True, False), "what the input pipelines of TF2 give after batch 2 (the limit of rung 0)"),
    ],
)
def test_what_input_pipelines_give_beyond_the_limit_is_told(
    tmp_path: Path, ended: tuple[bool, bool], words: str
) -> None:
    """Of each side that was not read to its end."""
    for side, over in zip(("tf1", "tf2"), ended, strict=True):
        recording = Recording(str(tmp_path / side), side)
        with recording.scenario(scenarios.DATA) as chapter:
            for step in range(3):
                chapter.add("data", "batch", np.arange(4.0), step)
            chapter.say(ended=over, random=False, shuffles=[])
    report = compare(read(tmp_path / "tf1"), read(tmp_path / "tf2"), until="data")

    assert ([words] if words else []) == [one for one in report.not_compared if "input pipelines of" in one]
