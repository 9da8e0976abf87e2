"""What a worker answers: changed in every part, and as a host reads it; no static finding may be lost."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from migrate_lint.linter.finding import Finding, Target
from migrate_lint.linter.reporters.formats import module_of
from migrate_lint.linter.result import Result
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.run.verdicts import with_verdicts
from migrate_lint.linter.settings.config import FORMATS, Config
from migrate_lint.runtime_checks import interpreter, process, session

from . import documents
from .commands import judged
from .source import described, unrendered
from .tally import Tally

WEIGHT = 1.0

_PYTHON = interpreter.Interpreter(sys.executable, sys.version_info[:3], "3.11.7", "2.21.0", "3.15.1", "2.21.0")

_CODE = """\
import tensorflow as tf


class Net(tf.keras.layers.Layer):
    def call(self, x):
        return tf.keras.layers.Dense(1)(x) + tf.Variable(1.0)


def build():
    return Net(), tf.ones((1, 3))
"""


def _answer(path: str) -> dict[str, Any]:
    """As a worker writes it of the code above."""
    seen = {
        "kind": "variable",
        "path": path,
        "line": 5,
        "message": "made again",
        "severity": "error",
        "phase": "second call",
    }
    return {
        "phase": None,
        "began": 1.7e9,
        "done": True,
        "versions": {"tensorflow": "2.21.0", "keras": "3.15.1", "python": "3.11.7"},
        "phases": [
            ["import", "ok", 0.1, ""],
            ["build", "ok", 0.2, ""],
            ["second call", "failed", 0.3, "ValueError: x (m.py:5)"],
        ],
        "fatal": ["build", "failed", "ValueError: x", path, 9],
        "scopes": [["f", "2 variables"]],
        "notes": ["a note"],
        "judgements": {
            "0": ["confirmed", "second call", "made again"],
            "1": ["refuted", "", "ran"],
            "2": ["unreached", "", ""],
        },
        "observations": [{**seen, "frames": [[path, 5, "call"], [path, 10, "build"]]}],
    }


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """One answer at a time."""
    random = Random(seed)
    os.chdir(tempfile.mkdtemp(prefix="results-"))
    Path("m.py").write_text(_CODE)
    Path("setup.cfg").touch()
    result = lint(["m.py"], Config(base=os.getcwd(), target="keras3"))
    assert len(result.findings) >= 2
    formats = [module_of(name) for name in FORMATS]
    content = _answer(os.path.abspath("m.py"))
    while not until():
        changed = documents.changed(random, content)
        if isinstance(changed, dict):
            for key in ("phase", "began", "done"):
                changed[key] = content[key]
            began = time.process_time()
            problem = _problem(random, result, changed, formats)
            data = json.dumps(changed).encode("utf-8", "surrogatepass")
            judged(tally, "worker results", data, problem, time.process_time() - began)


@contextmanager
def _answering(content: dict[str, Any]) -> Iterator[None]:
    """Every worker gives this answer."""

    def start(*words: Any, **options: Any) -> process.Outcome:
        return process.Outcome("done", 0, None, 1.0, 1 << 20, content, "", "")

    with mock.patch.object(process, "start", start), mock.patch.object(interpreter, "describe", lambda python: _PYTHON):
        yield


def _problem(random: Random, result: Result, content: dict[str, Any], formats: list[Any]) -> str:
    request = session.Request("m.py:build", targets=(Target.KERAS3,), roots=(os.getcwd(),), timeout=9.0)
    try:
        with _answering(content):
            report = session.run(request, result.findings, result.hidden)
        shown = with_verdicts(result, report, False)
        trusted = with_verdicts(result, report, True)
        problem = unrendered([random.choice(formats)], random.choice((shown, trusted)))
    except session.RuntimeUsageError as error:
        return "" if content.get("refused") else described(error)
    except Exception as error:
        return described(error)
    lost = set(map(_identity, result.findings)) - set(map(_identity, shown.findings))
    return problem or ("" if not lost else f"lost: {sorted(lost)}")


def _identity(finding: Finding) -> tuple[object, ...]:
    return finding.path, finding.line, finding.column, finding.code
