"""The hooks, as `pre-commit try-repo` runs them in a repository of somebody who migrates."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BAD = "import tensorflow as tf\n\nsession = tf.Session()\n"
GOOD = "import tensorflow as tf\n\nx = tf.constant(1)\n"
LAYER = """\
import tensorflow as tf


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(2.0)


def build():
    return tf.keras.Sequential([tf.keras.Input((3,)), Scale()])
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


def git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    apart = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    # A hook that runs these tests would hand its own repository down.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", *words],
        cwd=folder,
        env=inherited | identity | apart,
        capture_output=True,
        check=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
    )


@pytest.fixture(scope="session")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what a commit of the present state would hold, and where the hooks are installed once."""
    folder = tmp_path_factory.mktemp("hooks")
    repository = folder / "migrate-lint"
    for name in _project_files():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, repository / name)
    git(repository, "init", "-q")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "all")
    return repository


def _project_files() -> list[str]:
    kept = ("linter", "rules", "runtime_checks")
    files = [path for folder in kept for path in (ROOT / folder).rglob("*") if path.is_file()]
    names = [path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts]
    return [*names, "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository."""
    folder = tmp_path / "mine"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def stage(repository: Path, **files: str) -> None:
    for name, text in files.items():
        (repository / name.replace("_py", ".py").replace("_ipynb", ".ipynb")).write_text(text, "utf-8")
    git(repository, "add", "-A")


def configure(repository: Path, hooks: Path, hook: str, *arguments: str) -> None:
    revision = git(hooks, "rev-parse", "HEAD").stdout.strip()
    used = {"id": hook, "args": list(arguments)} if arguments else {"id": hook}
    config = {"repos": [{"repo": str(hooks), "rev": revision, "hooks": [used]}]}
    (repository / ".pre-commit-config.yaml").write_text(json.dumps(config), "utf-8")


def pre_commit(repository: Path, hooks: Path, *words: str) -> tuple[int, str]:
    """Run a command of pre-commit; its environments lie beside the hooks, so that all tests share one."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHONPATH"))}
    cache = {"PRE_COMMIT_HOME": str(hooks.parent / "cache"), "XDG_CACHE_HOME": str(hooks.parent / "lint")}
    path = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), inherited["PATH"]]), "PRE_COMMIT_COLOR": "never"}
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", *words],
        cwd=repository,
        env=inherited | cache | path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        encoding="utf-8",
        timeout=1800,
    )
    return done.returncode, done.stdout


def test_a_finding_in_a_staged_file_or_notebook_fails_the_hook(repository: Path, hooks: Path) -> None:
    """Each is named with its line, a notebook with its cell; files that are not staged are not looked at."""
    stage(repository, good_py=GOOD, bad_py=BAD, bad_ipynb=notebook("import tensorflow as tf", "%time tf.Session()"))
    (repository / "loose.py").write_text(BAD, "utf-8")

    status, printed = pre_commit(repository, hooks, "try-repo", str(hooks), "migrate-lint")

    assert 1 == status, printed
    assert "bad.py:3:11: TF401" in printed
    assert "bad.ipynb:cell 1:1:7: TF401" in printed
    assert "loose.py" not in printed


def test_clean_files_pass(repository: Path, hooks: Path) -> None:
    """So do files that the configuration excludes although pre-commit names them."""
    configure(repository, hooks, "migrate-lint")
    (repository / "pyproject.toml").write_text('[tool.migrate-lint]\nexclude = ["old.py"]\n', "utf-8")
    stage(repository, good_py=GOOD, good_ipynb=notebook("!pip install tensorflow", GOOD), old_py=BAD)

    status, printed = pre_commit(repository, hooks, "run")

    assert 0 == status, printed
    assert "Passed" in printed


def test_a_commit_with_a_finding_is_blocked(repository: Path, hooks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And goes through once the finding is gone."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(hooks.parent / "cache"))
    configure(repository, hooks, "migrate-lint")
    assert 0 == pre_commit(repository, hooks, "install")[0]
    stage(repository, model_ipynb=notebook(BAD))
    with pytest.raises(subprocess.CalledProcessError) as refused:
        git(repository, "commit", "-m", "bad")
    stage(repository, model_ipynb=notebook(GOOD))
    git(repository, "commit", "-m", "good")

    assert "model.ipynb:cell 0:3:11: TF401" in refused.value.stdout + refused.value.stderr
    assert "good\n" == git(repository, "log", "--format=%s").stdout


def test_the_runtime_hook_runs_only_when_asked_for(repository: Path, hooks: Path) -> None:
    """It runs nobody's model at a commit."""
    stage(repository, model_py=LAYER)

    status, printed = pre_commit(repository, hooks, "try-repo", str(hooks), "migrate-lint-runtime")

    assert (1, "No hook with id `migrate-lint-runtime` in stage `pre-commit`") == (status, printed.splitlines()[-1])


@pytest.mark.tensorflow
def test_the_runtime_hook_gives_verdicts(repository: Path, hooks: Path) -> None:
    """The target stands in `args`; the linter and the TensorFlow are those of the user's own environment."""
    configure(repository, hooks, "migrate-lint-runtime", "model.py:build", "--input-shape", "2,3")
    stage(repository, model_py=LAYER)

    status, printed = pre_commit(repository, hooks, "run", "--hook-stage", "manual", "migrate-lint-runtime")

    assert 1 == status, printed
    assert "model.py:6:20: TF101" in printed
    assert "confirmed" in printed
