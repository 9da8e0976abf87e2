"""A TF1 checkpoint that does not fit."""

from __future__ import annotations

import json
from pathlib import Path

from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.reporters import json as json_report
from migrate_lint.runtime_checks.comparison.reporters import text
from migrate_lint.runtime_checks.comparison.results import Results, Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ..programs import CLEAN, Program, record, said


def test_a_checkpoint_that_lacks_a_variable_fails_its_rung(tmp_path: Path) -> None:
    """Whatever the outputs are."""
    one, other = record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    parts = [path.name[: -len(".part.json")] for path in sorted(one.glob("*-fingerprint.part.json"))]
    others = [path.name[: -len(".part.json")] for path in sorted(other.glob("*-fingerprint.part.json"))]
    said(tmp_path, "tf1", scenarios.CHECKPOINT, matched=["a", "b"], missing=[], unused=["global_step"], parts=parts)
    said(tmp_path, "tf2", scenarios.CHECKPOINT, matched=["a"], missing=["b"], unused=[], parts=others)
    rung = compare(read(one), read(other)).rung("checkpoint")

    assert (Status.FAIL, "TF2 found no value for b") == (rung.status, rung.detail)
    assert "TF1: 2 matched, 0 missing, 1 unused" in rung.notes
    names = {"TF1 matched": ("a", "b"), "TF1 unused": ("global_step",), "TF2 matched": ("a",), "TF2 missing": ("b",)}
    assert names == rung.names
    assert ["output", "regularization"] == [check.kind for check in rung.checks if check.counts]


def test_all_names_are_in_the_report_for_programs_and_the_first_ones_in_the_others(tmp_path: Path) -> None:
    """Of a right pair, too: what was matched is what was looked at."""
    one, other = record(Program(), tmp_path / "tf1"), record(CLEAN, tmp_path / "tf2")
    parts = [path.name[: -len(".part.json")] for path in sorted(one.glob("*-fingerprint.part.json"))]
    others = [path.name[: -len(".part.json")] for path in sorted(other.glob("*-fingerprint.part.json"))]
    names = [f"layer{number}/kernel" for number in range(7)]
    slots = [{"name": "layer0/kernel/Adam", "purpose": "slot"}]
    for side, own in (("tf1", parts), ("tf2", others)):
        said(tmp_path, side, scenarios.CHECKPOINT, matched=names, missing=[], unused=[], expected=slots, parts=own)
    report = compare(read(one), read(other))

    assert report.rung("checkpoint").status is Status.PASS
    told = json.loads(json_report.render(report))["rungs"]
    assert [names] == [rung["names"]["TF2 matched"] for rung in told if rung["name"] == "checkpoint"]
    assert report.rung("checkpoint") == json_report.read(Results, json.loads(json_report.render(report))).rungs[
        [rung["name"] for rung in told].index("checkpoint")
    ]
    shown = text.render(report)
    assert "TF2 matched: layer0/kernel, layer1/kernel, layer2/kernel, layer3/kernel, layer4/kernel and 2 more" in shown
    assert "TF1 unused, as is to be expected of slots and counters: layer0/kernel/Adam" in shown
