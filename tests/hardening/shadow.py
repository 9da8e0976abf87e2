"""Folders in which every module that may be imported is shadowed: a file of its name that leaves a mark when it runs.

The names are found, not listed: what our code and that of our requirements imports anywhere, what Python itself
consists of, what is installed, and what a run was seen to ask for.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SAMPLES = {"model", "old", "tensorflow", "migrate_lint"}
"""What the sample consists of and imports, and the program itself: these are not shadowed."""
_IMPORTS = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)", re.M)
_MODEL = """\
import tensorflow as tf


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        y = tf.placeholder(tf.float32, shape=(1, 2), name='y')  # noqa: TF40
        return tf.compat.v1.layers.dense(x, 1) * tf.Variable(2.0) + y


session = tf.Session()  # migrate-lint: disable=variable-in-cal
"""
_FILES = {
    "model.py": _MODEL,
    "old.py": "print 'hello'\n",
    "strange.py": "# coding: idna\nimport tensorflow as tf\nx = tf.placeholder(1)\n",
    ".gitignore": "ignored/\n*.log\n",
    "requirements.txt": "tensorflow>=2.16\n",
    "pyproject.toml": "[tool.migrate-lint]\nexclude = ['x/*.py']\n",
    "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
    "evil-1.0.dist-info/entry_points.txt": "[migrate_lint.rules]\nevil = evil\n",
}
_RECORDER = """\
import os, sys
def hook(event, words, file=os.environ["IMPORTS"], write=os.write, open=os.open, flags=os.O_WRONLY | os.O_APPEND):
    if event == "import":
        descriptor = open(file, flags)
        write(descriptor, (words[0] + chr(10)).encode())
        os.close(descriptor)
sys.addaudithook(hook)
"""


@cache
def names() -> frozenset[str]:
    """Every name that an import of ours or of a requirement can ask for, without those of the sample."""
    found = set(sys.stdlib_module_names) | set(packages_distributions())
    for path in (path for folder in ("linter", "rules") for path in (ROOT / folder).rglob("*.py")):
        found |= set(_imported(path.read_text("utf-8")))
    for path in _sources(_requirements("migrate-lint")):
        found |= set(_IMPORTS.findall(path.read_text("utf-8", "replace")))
    return frozenset(found) | {"evil", "conftest", "setup", "sitecustomize", "usercustomize"}


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def _requirements(name: str, seen: set[str] | None = None) -> set[str]:
    """The names of the distributions that one needs, with pylint."""
    seen = set() if seen is None else seen
    try:
        needed = [] if name in seen else distribution(name).requires or []
    except PackageNotFoundError:  # of another platform
        return seen
    seen.add(name)
    for requirement in needed:
        if "extra ==" not in requirement or "pylint" in requirement:
            _requirements(re.split(r"[^\w.-]", requirement, maxsplit=1)[0], seen)
    return seen


def _sources(distributions: Iterable[str]) -> Iterator[Path]:
    for name in distributions:
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue
        yield from (Path(str(file.locate())) for file in files if file.suffix == ".py" and "test" not in str(file))


@dataclass(frozen=True)
class Tree:
    """A folder with a sample, and what ran of it: the marks that its shadows left."""

    folder: Path
    marks: Path

    def ran(self) -> set[str]:
        """The names of the shadows that were imported since the last call."""
        found = set(self.marks.read_text().split()) if self.marks.exists() else set()
        self.marks.unlink(missing_ok=True)
        return found

    def plant(self, shadows: Iterable[str], first: int = 0) -> None:
        """Add shadows beside the sample, modules and packages by turns; `first` is 1 for those to be modules that were
        packages.
        """
        for number, name in enumerate(sorted({*shadows} - _SAMPLES), first):
            path = self.folder / (f"{name}.py" if number % 2 else f"{name}/__init__.py")
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                text = f"open({str(self.marks)!r}, 'a').write({name + chr(10)!r})\nraise ImportError({name!r})\n"
                path.write_text(text)

    def unplant(self, shadows: Iterable[str]) -> None:
        """Take shadows away."""
        for name in shadows:
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / f"{name}.py").unlink(missing_ok=True)


def sample(folder: Path) -> Tree:
    """A new folder with a project of which every late import of ours has something to do."""
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": _MODEL}]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (folder / "book.ipynb").write_text(json.dumps(notebook))
    for number in range(6):
        (folder / f"model{number}.py").write_text(_MODEL)
    return Tree(folder, folder.parent / f"{folder.name}.marks")


def run(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], data: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_"))}
    return subprocess.run(
        words,
        cwd=folder,
        input=data,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )


def traced(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], work: Path, data: str = ""
) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Run a command, and tell the top names of all that it and its processes ask Python for, found or not."""
    work.mkdir(exist_ok=True)
    (work / "sitecustomize.py").write_text(_RECORDER)
    (work / "imports").write_text("")
    done = run(words, folder, {**environment, "PYTHONPATH": str(work), "IMPORTS": str(work / "imports")}, data)
    return done, {name.partition(".")[0] for name in (work / "imports").read_text().split()}


def script(name: str) -> str:
    """The path of an installed command."""
    return os.path.join(sysconfig.get_path("scripts"), name)
