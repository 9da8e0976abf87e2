"""`--explain-target` says what a project states, which target that makes, and what the other one would change."""

from __future__ import annotations

from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import main

MODEL = """\
import tensorflow as tf


def net(x):
    return tf.compat.v1.layers.dense(x, 3)
"""


def explained(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert main(["--explain-target", "--isolated", "--no-cache", *options, str(folder)]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_project_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "requirements.txt").write_text("numpy\ntensorflow>=1.15\ntf_keras\n")
    (tmp_path / "model.py").write_text(MODEL)
    assert explained(tmp_path, capsys) == [
        f"{tmp_path}: keras2, TF up to 2.15, or tf_keras with TF_USE_LEGACY_KERAS=1",
        "  because: tf_keras in requirements.txt:3",
        "  stated: tensorflow>=1.15 in requirements.txt:2 (for either)",
        "  stated: tf_keras in requirements.txt:3 (keras2)",
        "  with keras3, TF from 2.16 on with its Keras 3:",
        "    +1 error: TF410 v1-layers-keras3",
        "    +1 error: TF904 target-conflict",
        "    -1 info: TF406 moved-or-removed-symbol",
    ]


def test_a_project_that_states_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "model.py").write_text("import tensorflow as tf\n\ntf.ones([2])\n")
    lines = explained(tmp_path, capsys)
    assert lines[1] == "  because: no evidence in the project"
    assert lines[-1] == "    nothing else is found"


def test_each_project_has_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, states in (("a", "tensorflow==2.12.0"), ("b", "tensorflow==2.18.0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "requirements.txt").write_text(f"{states}\n")
        (tmp_path / name / "pyproject.toml").touch()
        (tmp_path / name / "model.py").write_text(MODEL)
    lines = explained(tmp_path, capsys)
    heads = [line.partition(",")[0] for line in lines if not line.startswith(" ")]
    assert heads == [f"{tmp_path / 'a'}: keras2", f"{tmp_path / 'b'}: keras3"]
    assert [line[:5] for line in lines if "TF410" in line] == ["    +", "    -"]


def test_what_is_configured_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    assert explained(tmp_path, capsys, "--target", "keras2")[1] == "  because: as configured"


def test_a_run_and_standard_input_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--explain-target", "-"]) == 2
    assert "--explain-target is about the projects of files and folders" in capsys.readouterr().err
