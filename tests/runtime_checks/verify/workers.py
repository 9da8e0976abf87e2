"""The workers of ``verify`` without a process for each: what they do is done in the children that tests share."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks import process

from ...interpreters import Children


def work(job: dict[str, Any]) -> dict[str, Any]:
    """In a child: what a worker does with a job, and what it comes to."""
    import tensorflow as tf
    from migrate_lint.runtime_checks.worker.recording.main import execute
    from migrate_lint.runtime_checks.worker.results import Results

    tf.keras.backend.clear_session()
    results = Results()
    execute(job, results)
    return results.content


class Recorded:
    """TF1 sides that were recorded, so that a pair has one for both targets of its TF2 side."""

    def __init__(self) -> None:
        self._kept = tempfile.TemporaryDirectory()
        self._known: dict[str, tuple[Path, list[str], dict[str, Any]]] = {}

    def record(
        self, job: dict[str, Any], do: Callable[..., Any], record: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """What `record` comes to, or a copy of what it came to for such a job, done so, of another target or folder."""
        key = json.dumps({**job, "folder": None, "adaptations": None, "done by": do.__qualname__}, sort_keys=True)
        if key not in self._known:
            results = record()
            if len(self._known) < _KEPT:
                copy = shutil.copytree(job["folder"], Path(self._kept.name, str(len(self._known))))
                self._known[key] = copy, job["adaptations"], results
            return results
        copy, adapted, results = self._known[key]
        shutil.copytree(copy, job["folder"], dirs_exist_ok=True)
        file = Path(job["folder"], "record.json")
        content = json.loads(file.read_text("utf-8"))
        content["adaptations"][: len(adapted)] = job["adaptations"]
        file.write_text(json.dumps(content), "utf-8")
        return results


_KEPT = 60
_recorded = Recorded()


@contextmanager
def in_children(
    children: Children,
    heard: Callable[[dict[str, Any]], object] | None = None,
    do: Callable[[dict[str, Any]], dict[str, Any]] = work,
    alone: Callable[[dict[str, Any]], bool] = lambda job: False,
) -> Iterator[None]:
    """Whatever starts a worker in the body asks the child of its target; `heard` is told each job before it is done.

    `do` is what a child does with a job; one that `alone` tells gets a worker of its own all the same.

    A pair that changes its process for good, or ends it, needs workers of its own.
    """

    own = process.start

    def start(python: str, script: str, job: dict[str, Any], **limits: Any) -> process.Outcome:
        if alone(job):
            return own(python, script, job, **limits)
        if heard is not None:
            heard(job)
        began = time.monotonic()
        target = "keras2" if job["target"] == "tf1" else job["target"]
        if job["kind"] == "record" and job["side"] == "tf1":
            results = _recorded.record(job, do, lambda: children.call(target, do, job))
        else:
            results = children.call(target, do, job)
        return process.Outcome("done", 0, None, time.monotonic() - began, 0, results, "", "")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "start", start)
        yield
