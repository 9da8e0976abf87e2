"""Sides that differ from themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from migrate_lint.runtime_checks.worker.recording.format import scenarios

from ..programs import CLEAN, changing, compared, failing


def test_a_side_that_computes_something_else_in_its_other_mode_fails_and_is_no_noise(tmp_path: Path) -> None:
    """What tf.function changes for good does not widen the tolerance of the other rungs."""
    change = changing("output", lambda value: value + np.float32(0.1), scenarios.FINGERPRINT_AGAIN)
    report = compared(tmp_path, tf2=replace(CLEAN, change=change))
    (failed,) = report.rung("8").failures
    (output,) = [check for check in report.rung("3f").checks if check.kind == "output"]

    assert ["8"] == failing(report)
    assert "fingerprint: TF2 eager against tf.function" == failed.scenario
    assert output.floor is not None
    assert output.floor < 1e-4
