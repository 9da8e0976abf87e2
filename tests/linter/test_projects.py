"""Which files are a project where no marker says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from migrate_lint.linter.run import pipeline
from migrate_lint.linter.run.imports import reached_from
from migrate_lint.linter.run.projects import project_of
from migrate_lint.linter.settings.config import Config

OWN = ["lib/__init__.py", "lib/net.py", "lib/ops/__init__.py", "lib/ops/conv.py"]
OTHERS = ["common.py", "other/__init__.py", "other/big.py", "shared/__init__.py", "shared/deep.py", "third/code.py"]


@pytest.fixture(autouse=True)
def _downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of unpacked archives, one of them with a package at its top."""
    monkeypatch.chdir(tmp_path)
    for name in OWN + OTHERS:
        _write(name)


def _write(name: str, text: str = "") -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def _files(folder: str, given: str = "") -> list[str]:
    found = project_of(os.path.abspath(folder), os.path.abspath(given) if given else "").files()
    return [os.path.relpath(path) for path in found]


@pytest.mark.parametrize("folder", ["lib", "lib/ops"])
def test_a_package_in_a_folder_of_downloads_is_a_project(folder: str) -> None:
    """What lies beside it is somebody else's."""
    assert OWN == _files(folder) == _files(folder, folder) == _files(folder, "lib")
    assert os.getcwd() == project_of(os.path.abspath(folder)).root


@pytest.mark.parametrize(
    "stated",
    [
        "requirements.txt", "environment.yml", "Pipfile", "Dockerfile", "requirements-dev.in", "poetry.lock", ".env",
        "requirements/base.txt",
    ],
)  # fmt: skip
def test_a_folder_that_states_requirements_is_a_project(stated: str) -> None:
    """Whole, with its scripts."""
    _write(stated)

    assert sorted(OWN + OTHERS) == _files("lib") == _files("lib/ops")


def test_a_folder_that_was_given_is_a_project() -> None:
    """Its files are to be read anyway."""
    assert sorted(OWN + OTHERS) == _files("lib", ".") == _files("third", ".")
    assert ["third/code.py"] == _files("third", "third")


@pytest.mark.parametrize(
    ("line", "beside"),
    [
        ("import common", ["common.py"]),
        ("    from common import x", ["common.py"]),
        ("import os, shared.deep as d", ["shared/__init__.py", "shared/deep.py"]),
        ("from third.code import x", ["third/code.py"]),
        ("from .common import x", ["common.py"]),
        ("import numpy", []),
        ("x = 'other'", []),
        ("other.big", []),
    ],
)
def test_what_the_package_imports_from_beside_it_belongs_to_it(line: str, beside: list[str]) -> None:
    """As its text tells, which may name more than there is."""
    _write("lib/net.py", f"{line}\n")

    assert sorted(OWN + beside) == _files("lib")


@pytest.mark.parametrize(
    ("line", "below"),
    [
        ("", []),
        ("import third.code", ["third/code.py"]),
        ("def f():\n    from shared.deep import x", ["shared/__init__.py", "shared/deep.py"]),
    ],
)
def test_a_file_that_was_given_has_what_lies_beside_it_and_what_that_imports(line: str, below: list[str]) -> None:
    """The folder may be somebody's home: what nothing names is not looked at, though it were thousands of files."""
    _write("train-it.py")
    _write("common.py", f"{line}\n")

    assert sorted(["common.py", "train-it.py", *below]) == _files(".")
    _write("requirements.txt")
    assert sorted([*OWN, *OTHERS, "train-it.py"]) == _files(".")


def test_a_folder_and_a_file_in_it_are_one_project() -> None:
    """Whichever is named first."""
    for paths in (["common.py", "."], [".", "common.py"]):
        (project,) = pipeline.lint(paths, Config(base=os.getcwd())).projects
        assert len(OWN + OTHERS) == project.files


def test_what_is_imported_may_import() -> None:
    """And so on."""
    _write("lib/net.py", "import common\n")
    _write("common.py", "from shared import deep\n")
    _write("shared/deep.py", "import lib.net, common\n")

    assert sorted([*OWN, "common.py", "shared/__init__.py", "shared/deep.py"]) == _files("lib")
    assert [os.path.abspath(name) for name in ("common.py", "shared/__init__.py", "shared/deep.py")] == [
        path for path in reached_from(os.path.abspath("lib/net.py")) if "/lib/" not in path
    ]


def test_siblings_do_not_decide_the_target() -> None:
    """Nor does anything that they say; what the package says of itself does."""
    _write("other/big.py", "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n")
    _write("lib/net.py", "import tensorflow as tf\nfrom lib.ops import conv\n")

    def target() -> tuple[str, str]:
        (project,) = pipeline.lint(["lib"], Config(base=os.getcwd())).projects
        return project.target.value, project.reason

    assert ("keras3", "no evidence in the project") == target()
    _write("lib/requirements.txt", "tensorflow<2.16\n")
    assert ("keras2", "tensorflow<2.16 in requirements.txt:1") == target()
    _write("lib/requirements.txt", "")
    _write("lib/net.py", "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n")
    assert ("keras2", "TF_USE_LEGACY_KERAS is set in net.py:2") == target()


def test_a_marked_folder_is_a_project() -> None:
    """As far down as it is."""
    _write("lib/setup.py")

    assert sorted([*OWN, "lib/setup.py"]) == _files("lib/ops")
    assert os.path.abspath("lib") == project_of(os.path.abspath("lib/ops")).root


@pytest.mark.parametrize("text", ["from tools.data import *", "import os, tools.data as d", "from app.ops import conv"])
@pytest.mark.parametrize("given", ["", "app"])
def test_what_a_program_imports_is_looked_for_where_it_runs(text: str, given: str) -> None:
    """`python app/train.py` runs so with ``PYTHONPATH=.``, and with ``-m`` in place of the path."""
    _write("app/train.py", f"import tensorflow as tf\n{text}\n")
    _write("app/ops.py")
    _write("tools/data.py")
    _write("unused.py")

    expected = ["app/ops.py", "app/train.py", *(["tools/data.py"] if "tools" in text else [])]
    assert expected == _files("app", given)
    assert os.getcwd() == project_of(os.path.abspath("app"), os.path.abspath(given) if given else "").root


@pytest.mark.parametrize(
    "text", ["from ops import conv", "from numpy import third", "from . import third", "import keras, tokenize"]
)
def test_what_lies_beside_a_program_is_nothing_of_where_it_runs(text: str) -> None:
    """Nor is what only looks like a module there."""
    _write("app/train.py", f"import tensorflow as tf\n{text}\n")
    _write("app/ops.py")
    _write("ops.py")
    _write("keras/__init__.py")
    _write("tokenize/__init__.py")

    assert os.path.abspath("app") == project_of(os.path.abspath("app")).root


def test_it_is_looked_for_in_the_nearest_folder_above() -> None:
    """The working folder is the last."""
    _write("old/app/deep/train.py", "import tensorflow as tf\nfrom tools import data\n")
    _write("old/tools/data.py")
    _write("tools/data.py")

    assert ["old/app/deep/train.py", "old/tools/data.py"] == _files("old/app/deep")
