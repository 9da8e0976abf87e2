"""Which files a file imports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from migrate_lint.linter.run.imports import reached_from, root_around


@pytest.fixture(autouse=True)
def _working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**texts: str) -> None:
    for name, text in texts.items():
        path = Path(f"{name.replace('__', '/')}.py".replace("/init", "/__init__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def reached(file: str) -> list[str]:
    return [os.path.relpath(path) for path in reached_from(os.path.abspath(file))]


def test_imports_are_followed_to_the_end() -> None:
    """Through each other, in circles, inside functions; what nothing imports is left out."""
    write(
        model="import a", a="def f():\n    from sub import b", sub__b="import model, json, gone", other="import model"
    )

    assert ["a.py", "sub/b.py"] == reached("model.py")


def test_a_package_runs_before_its_modules() -> None:
    """Its `__init__.py`, and what that imports, are reached from any module in it."""
    write(
        pkg__init="from . import util", pkg__util="", pkg__deep__init="", pkg__deep__model="from ..layers import Scale"
    )
    write(pkg__layers="", pkg__unused="")

    assert ["pkg/__init__.py", "pkg/deep/__init__.py", "pkg/layers.py", "pkg/util.py"] == reached("pkg/deep/model.py")


def test_what_cannot_be_parsed_leads_nowhere() -> None:
    """It is reached itself, so that it is reported."""
    write(model="import broken, a", a="", broken="def f(:\nimport b", b="")

    assert ["a.py", "broken.py"] == reached("model.py")


def test_a_module_below_src_is_found() -> None:
    """In a project that is marked as one."""
    write(src__pkg__init="", src__pkg__model="", run="from pkg.model import build")
    Path("pyproject.toml").touch()

    assert ["src/pkg/__init__.py", "src/pkg/model.py"] == reached("run.py")


def test_a_files_project_is_marked_or_holds_its_package_or_is_its_folder() -> None:
    """In this order."""
    write(loose__model="", plain__pkg__init="", plain__pkg__model="", marked__sub__model="")
    Path("marked/setup.cfg").touch()

    assert ["loose", "plain", "marked"] == [
        os.path.relpath(root_around(os.path.abspath(file)))
        for file in ("loose/model.py", "plain/pkg/model.py", "marked/sub/model.py")
    ]
