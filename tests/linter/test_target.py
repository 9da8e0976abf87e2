"""What a project's files say about the TF2 that it moves to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.linter.settings.target import decide_target


def decide(root: Path, **files: str) -> tuple[str, str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    target, reason = decide_target(root)
    return target.value, reason


def test_without_evidence_it_is_keras3(tmp_path: Path) -> None:
    """The default of today's TensorFlow."""
    assert ("keras3", "no evidence in the project") == decide(tmp_path)


def test_what_is_configured_counts(tmp_path: Path) -> None:
    """Whatever the files say."""
    (tmp_path / "requirements.txt").write_text("tf_keras\n")

    assert (Target.KERAS3, "as configured") == decide_target(tmp_path, "keras3")


@pytest.mark.parametrize(
    ("name", "text", "target", "reason"),
    [
        ("requirements.txt", "numpy\ntf_keras\n", "keras2", "tf_keras in requirements.txt:2"),
        ("requirements.txt", "tf-keras==2.16\n", "keras2", "tf-keras in requirements.txt:1"),
        ("requirements.txt", "tensorflow<2.16\n", "keras2", "tensorflow<2.16 in requirements.txt:1"),
        ("requirements.txt", "tensorflow >= 1.15, < 2.16  # old\n", "keras2", "tensorflow>= 1.15, < 2.16"),
        ("requirements.txt", "tensorflow-gpu==2.8.0\n", "keras2", "tensorflow-gpu==2.8.0"),
        ("requirements.txt", "tensorflow[and-cuda]~=2.12\n", "keras2", "tensorflow~=2.12"),
        ("requirements.txt", "tensorflow>=2.16\n", "keras3", "tensorflow>=2.16 in requirements.txt:1"),
        ("requirements.txt", "tensorflow==2.17.1 ; python_version >= '3.9'\n", "keras3", "tensorflow==2.17.1"),
        ("requirements.txt", "keras>=3\n", "keras3", "keras>=3 in requirements.txt:1"),
        ("requirements.txt", "keras<3\n", "keras2", "keras<3"),
        ("requirements.txt", "tensorflow==1.15.0\nkeras==2.2.4\n", "keras3", "no evidence"),
        ("requirements.txt", "tensorflow>=1.15,<2\n", "keras3", "no evidence"),
        ("requirements.txt", "tensorflow>=2.0\ntensorflow-datasets<2\n", "keras3", "no evidence"),
        ("requirements.txt", "# tf_keras\n", "keras3", "no evidence"),
        ("requirements.txt", "-r tf_keras.txt\n", "keras3", "no evidence"),
        ("requirements/base.txt", "tf_keras\n", "keras2", "requirements/base.txt:1"),
        ("requirements-dev.in", "tf_keras\n", "keras2", "requirements-dev.in:1"),
        ("constraints.txt", "tensorflow==2.15.1\n", "keras2", "constraints.txt:1"),
        ("setup.py", "setup(install_requires=['numpy', 'tensorflow>=2.4,<2.11'])\n", "keras2", "setup.py:1"),
        ("setup.cfg", "[options]\ninstall_requires =\n    tf-keras\n", "keras2", "setup.cfg:3"),
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow>=2.16"]\n', "keras3", "pyproject.toml:2"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "~2.15"\n', "keras2", "pyproject.toml:2"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "^2.12"\n', "keras3", "no evidence"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = {version = "2.15.0"}\n', "keras2", "2.15.0"),
        ("pyproject.toml", '[project.optional-dependencies]\nold = ["tf-keras"]\n', "keras3", "no evidence"),
        ("Pipfile", '[packages]\ntensorflow = "==2.15.*"\n', "keras2", "Pipfile:2"),
        ("Pipfile.lock", '{"default": {"tensorflow": {"index": "pypi", "version": "==2.15.0"}}}', "keras2", "2.15.0"),
        ("poetry.lock", '[[package]]\nname = "tensorflow"\nversion = "2.18.0"\n', "keras3", "poetry.lock:2"),
        ("uv.lock", '[[package]]\nname = "tensorflow"\nversion = "2.14.0"\n', "keras2", "uv.lock:2"),
        ("environment.yml", "dependencies:\n  - tensorflow=2.15\n", "keras2", "environment.yml:2"),
        ("environment.yml", "variables:\n  TF_USE_LEGACY_KERAS: 1\n", "keras2", "environment.yml:2"),
        (".env", "TF_USE_LEGACY_KERAS=1\n", "keras2", "TF_USE_LEGACY_KERAS=1 in .env:1"),
        (".env", "TF_USE_LEGACY_KERAS=0\n", "keras3", "no evidence"),
        ("Dockerfile", "FROM x\nENV TF_USE_LEGACY_KERAS 1\n", "keras2", "Dockerfile:2"),
        ("Dockerfile", "RUN pip install tensorflow==2.15.0\n", "keras2", "Dockerfile:1"),
        ("tox.ini", "[testenv]\nsetenv =\n    TF_USE_LEGACY_KERAS = 1\n", "keras2", "tox.ini:3"),
        ("README.md", "tf_keras\n", "keras3", "no evidence"),
        ("sub/requirements.txt", "tf_keras\n", "keras3", "no evidence"),
    ],
)
def test_requirements_are_read(tmp_path: Path, name: str, text: str, target: str, reason: str) -> None:
    """The reason names file and line."""
    decided, why = decide(tmp_path, **{name: text})

    assert target == decided
    assert reason in why


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n", "keras2"),
        ("import os\nos.environ.setdefault('TF_USE_LEGACY_KERAS', 'True')\n", "keras2"),
        ("import os\nos.environ.update(TF_USE_LEGACY_KERAS='1')\n", "keras2"),
        ("import os\nos.environ.update({'A': '0', 'TF_USE_LEGACY_KERAS': '1'})\n", "keras2"),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '0'\n", "keras3"),
        ("import os\nos.environ.get('TF_USE_LEGACY_KERAS', '1')\n", "keras3"),
        ("import os\nx = os.environ['TF_USE_LEGACY_KERAS'] == '1'\n", "keras3"),
        ('"""Set os.environ["TF_USE_LEGACY_KERAS"] = "1"."""\n', "keras3"),
        ("# TF_USE_LEGACY_KERAS = '1'\n", "keras3"),
        ("TF_USE_LEGACY_KERAS = (\n", "keras3"),
    ],
)
def test_code_that_sets_the_flag_counts(tmp_path: Path, text: str, target: str) -> None:
    """Reading it or writing about it does not."""
    decided, why = decide(tmp_path, **{"pkg/start.py": text})

    assert target == decided
    assert ("pkg/start.py:2" in why) == (target == "keras2")


def test_the_stronger_evidence_decides(tmp_path: Path) -> None:
    """A flag works whatever is installed; a locked tf-keras may be another package's wish."""
    assert "keras3" == decide(tmp_path, **{"requirements.txt": "tensorflow>=2.16\nkeras>=3\n"})[0]
    lock = '[[package]]\nname = "tf-keras"\nversion = "2.18.0"\n'
    assert "keras3" == decide(tmp_path, **{"poetry.lock": lock})[0]
    assert "keras2" == decide(tmp_path, **{"run.py": "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n"})[0]


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    """A FIFO named like a requirements file does not stop the run."""
    os.mkfifo(tmp_path / "requirements.txt")
    (tmp_path / "setup.py").mkdir()

    assert "keras3" == decide(tmp_path)[0]
