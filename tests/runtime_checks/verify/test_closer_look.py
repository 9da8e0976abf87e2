"""Noise is measured, and operations are recorded, where something differs; what agrees is run once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks import planning
from migrate_lint.runtime_checks.worker.recording.format import scenarios

PAIR = """\
import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair


def old(features):
    return tf.compat.v1.layers.dense(features, 3, name="scores")


def new():
    return tf.keras.Sequential([tf.keras.layers.Dense(3, ACTIVATION, name="scores")])


pair = Pair(old, new, np.ones((2, 4), np.float32))
"""


def test_a_first_look_leaves_out_what_only_a_difference_asks_for() -> None:
    """The scenarios of the rungs themselves are in both plans."""
    whole, brief = (planning.plan("steps", noise=True, steps=3, seed=1, close=close) for close in (True, False))
    more = set(whole.scenarios) - set(brief.scenarios)

    assert (True, False) == (whole.operations, brief.operations)
    assert {"fingerprint-nudged", "fingerprint-other", "steps-nudged", "steps-other", "steps-again"} == more
    assert {"fingerprint-nudged", "steps-nudged"} == set(planning.moved(whole).scenarios) < set(scenarios.NUDGED)


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize(("activation", "status"), [("None", 0), ("'tanh'", 1)])
def test_a_difference_is_looked_at_closely(activation: str, status: int, tmp_path: Path) -> None:
    """Both sides then have everything, operations included."""
    (tmp_path / "pair.py").write_text(PAIR.replace("ACTIVATION", activation))
    words = ["verify", "pair.py", "--until", "fingerprint", "--quiet", "-o", "run", "--output-format", "json"]
    ran = subprocess.run(
        [sys.executable, "-m", "migrate_lint", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    sides: list[dict[str, Any]] = [
        json.loads((tmp_path / "run" / side / "record.json").read_text()) for side in ("tf1", "tf2")
    ]
    kinds = {
        row["kind"]
        for part in sides[0]["scenarios"]["fingerprint"]["parts"]
        for row in json.loads((tmp_path / "run" / "tf1" / f"{part}.part.json").read_text())
    }

    assert status == ran.returncode, ran.stderr
    assert [not status, not status] == [side.get("brief", False) for side in sides]
    assert bool(status) == ("operation" in kinds) == ("fingerprint-nudged" in sides[0]["scenarios"])
