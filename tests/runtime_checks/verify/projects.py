"""The command on projects beside a TensorFlow of a few lines, whose sides run themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TENSORFLOW = """
from types import SimpleNamespace
__version__ = "2.15.0"
keras = SimpleNamespace(layers=SimpleNamespace(Layer=type("Layer", (), {"__module__": "keras"})))
estimator = SimpleNamespace(ModeKeys=None)
compat = SimpleNamespace(v1=SimpleNamespace(estimator=estimator))
"""
PAIR = """\
import os, signal, sys, time
import numpy as np
from migrate_lint.runtime_checks import Pair


def program(run, side):
    run.input([1.0, 2.0])
    run.variables({"w": [1.0, 2.0]})
    for step in range(run.steps):
        with run.step():
            run.input([float(step)])
            if side == "tf2" and step == 2:
                trouble()
            run.loss(3.0 / (step + 1))
            run.variables({"w": [0.5 / (step + 1), 0.2]})
        run.evaluation([0.25 * step])


def trouble():
    TROUBLE


def old(run):
    program(run, "tf1")


def new(run):
    program(run, "tf2")


pair = Pair(old, new, [1.0])
"""
MARK = "MIGRATE_LINT_TEST_CASE"


@dataclass(frozen=True)
class Ran:
    status: int
    report: dict[str, Any]
    output: str
    errors: str
    left: list[str]

    def side(self, number: int) -> dict[str, Any]:
        """The summary of a side."""
        return dict(self.report["sides"][number])


class Place:
    """A project beside a TensorFlow of ours."""

    def __init__(self, folder: Path) -> None:
        self.project, self.scratch, library = folder / "project", folder / "tmp", folder / "library"
        (library / "tensorflow").mkdir(parents=True)
        (library / "tensorflow" / "__init__.py").write_text(TENSORFLOW)
        (library / "keras.py").write_text("__version__ = '2.15.0'\n")
        for name in ("tensorflow-2.15.0", "keras-2.15.0"):
            (library / f"{name}.dist-info").mkdir()
            title, _, version = name.partition("-")
            metadata = f"Metadata-Version: 2.1\nName: {title}\nVersion: {version}\n"
            (library / f"{name}.dist-info" / "METADATA").write_text(metadata)
        self.project.mkdir()
        self.scratch.mkdir()
        self.environment = {
            **os.environ,
            MARK: str(folder),
            "PYTHONPATH": str(library),
            "TMPDIR": str(self.scratch),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def begun(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "migrate_lint", "verify", *words],
            cwd=self.project,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def verify(self, *words: str, pair: str | None = None) -> Ran:
        if pair is not None:
            (self.project / "pair.py").write_text(pair)
        process = self.begun(*words, "--output-format", "json")
        output, errors = process.communicate(timeout=900)
        left = [*os.listdir(self.scratch), *living(self.environment[MARK])]
        return Ran(process.returncode, json.loads(output or "{}"), output, errors, left)


def living(mark: str) -> list[str]:
    """Processes that carry the mark."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(entry.name)
        except OSError:
            continue
    return found


def rungs(report: dict[str, Any]) -> dict[str, str]:
    """Status by number."""
    return {rung["number"]: rung["status"] for rung in report["rungs"]}
