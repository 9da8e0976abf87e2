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
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from random import Random

from .tally import Tally

WEIGHT = 0.5

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


def script(name: str) -> str:
    """The path of an installed command."""
    return os.path.join(sysconfig.get_path("scripts"), name)


_PLUGIN = "migrate_lint.linter.pylint_plugin"
_PYLINT = (script("pylint"),)
_SPAWNED = (
    sys.executable,
    "-P",
    "-c",
    "import multiprocessing; multiprocessing.set_start_method('spawn'); from pylint import run_pylint; run_pylint()",
)
"""pylint as it starts its processes on macOS, on Windows and from Python 3.14 on; -P lets Python's own command for such
a process leave the working folder alone."""
_QUIET = ("--disable=all", "--enable=migrate-lint,syntax-error", "--persistent=n", "--output-format=json")
_MODELS = ("model.py", "old.py", *(f"model{number}.py" for number in range(6)))
PYLINTS = {
    "one process": (*_PYLINT, *_QUIET, *_MODELS),
    "two processes": (*_PYLINT, *_QUIET, "--jobs=2", *_MODELS),
    "two spawned ones": (*_SPAWNED, *_QUIET, "--jobs=2", *_MODELS),
    "an editor's buffer": (*_PYLINT, *_QUIET, "--from-stdin", "model.py"),
}
_CHECK = (script("migrate-lint"), "check")
_HOOK = tuple(re.findall(r"^  entry: (.+ check .+)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.M)[0].split())
_LINTED = (*_MODELS, "strange.py", "book.ipynb")
"""pylint itself ends in an internal error over `strange.py` with some releases of Python."""
COMMANDS = {
    "the command": (*_CHECK, *_LINTED),
    "the module": (sys.executable, "-m", "migrate_lint", *_LINTED),
    "processes": (*_CHECK, "--jobs", "3", *_LINTED),
    "spawned processes": (
        sys.executable,
        "-P",
        "-c",
        "import sys, threading; "
        "threading.Thread(target=threading.Event().wait, daemon=True).start(); "
        "from migrate_lint.linter.cli.main import main; main(['--jobs', '3', *sys.argv[1:]])",
        *_LINTED,
    ),
    "the hook": (script(_HOOK[0]), *_HOOK[1:], *_LINTED),
    "a revision": (*_CHECK, "--diff-base", "HEAD", *_LINTED),
    "all formats": (
        *_CHECK,
        *(f"--output-format={form}" for form in ("json", "sarif", "junit", "html", "github", "gitlab")),
        f"--output-file={os.devnull}",
        *_LINTED,
    ),
    "a baseline": (*_CHECK, "--baseline", "known.json", "--write-baseline", *_LINTED),
    "written comments": (*_CHECK, "--add-noqa", *_LINTED),
    "the rules": (script("migrate-lint"), "rule", "--all", "--output-format", "json"),
    "the completion": (script("migrate-lint"), "--completion", "bash"),
    "the settings": (*_CHECK, "--show-settings"),
}


@cache
def names() -> frozenset[str]:
    """Every name that an import of ours or of a requirement can ask for, without those of the sample."""
    found = set(sys.stdlib_module_names) | set(packages_distributions())
    for path in (path for folder in ("linter", "rules") for path in (ROOT / folder).rglob("*.py")):
        found |= set(_imported(path.read_text("utf-8")))
    for path in filter(Path.is_file, _sources(_requirements("migrate-lint"))):  # a list of files may be an old one
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

    def plant(self, shadows: Iterable[str], random: Random) -> None:
        """Add shadows beside the sample, each a module or a package, which can be imported or cannot."""
        for name in sorted({*shadows} - _SAMPLES):
            path = self.folder / random.choice([f"{name}.py", f"{name}/__init__.py"])
            path.parent.mkdir(exist_ok=True)
            text = f"open({str(self.marks)!r}, 'a').write({name + chr(10)!r})\n"
            path.write_text(text + random.choice(["", f"raise ImportError({name!r})\n"]))

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
    if shutil.which("git") is not None:
        moment = "2020-01-01T00:00:00Z"  # what is said of two folders names their commits
        dates = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
        (folder / "model5.py").write_text("x = 1\n")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
            command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
            subprocess.run(command, cwd=folder, check=True, capture_output=True, env=_environment(dates))
        (folder / "model5.py").write_text(_MODEL)
    return Tree(folder, folder.parent / f"{folder.name}.marks")


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_"))}
    return {**inherited, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **more}


def executed(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], data: str = ""
) -> subprocess.CompletedProcess[str]:
    """A command that was run in a folder."""
    return subprocess.run(
        words,
        cwd=folder,
        input=data,
        env=_environment(environment),
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
    done = executed(words, folder, {**environment, "PYTHONPATH": str(work), "IMPORTS": str(work / "imports")}, data)
    return done, {name.partition(".")[0] for name in (work / "imports").read_text().split()}


@dataclass(frozen=True)
class Trial:
    """What a command said in the sample and in the shadowed one, what ran there, and what it asked Python for."""

    expected: str
    found: str
    ran: set[str]
    asked: set[str]
    pylints_own: set[str]
    """What pylint imports of the folder without us, such as what decodes a file; it was not shadowed."""


def tried(how: str, random: Random, work: Path) -> Trial:
    """Run one of `COMMANDS` or `PYLINTS` in a new folder."""
    plain, shadowed = sample(work / "plain" / "top"), sample(work / "shadowed" / "top")
    environment = {"XDG_CACHE_HOME": str(work / "cache")}
    data = _MODEL if how in PYLINTS else ""
    words = (*PYLINTS[how], f"--load-plugins={_PLUGIN}") if how in PYLINTS else COMMANDS[how]
    expected, asked = traced(words, plain.folder, environment, work / "trace", data)
    shadowed.plant(names() | asked, random)
    pylints_own: set[str] = set()
    if how in PYLINTS:
        alone = [word.replace("migrate-lint,", "") for word in PYLINTS[how]]
        while executed(alone, shadowed.folder, environment, data) and (ran := shadowed.ran()):
            shadowed.unplant(ran)
            pylints_own |= ran
    found = executed(words, shadowed.folder, environment, data)
    said = [
        f"{done.returncode}\n{done.stdout.replace(str(tree.folder.parent), '')}"
        for done, tree in ((expected, plain), (found, shadowed))
    ]
    return Trial(*said, shadowed.ran(), asked, pylints_own)


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """Commands and forms of shadows, at random."""
    random = Random(seed)
    while not until():
        how = random.choice([*COMMANDS, *PYLINTS])
        with tempfile.TemporaryDirectory() as work:
            trial = tried(how, random, Path(work))
        tally.tried(f"shadows: {how}")
        if trial.ran:
            tally.failed("shadows", f"{how} runs {', '.join(sorted(trial.ran))}")
        elif trial.expected != trial.found:
            tally.failed("shadows", f"{how} says something else", trial.found.encode())
