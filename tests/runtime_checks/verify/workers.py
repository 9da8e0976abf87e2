"""The workers of ``verify`` without a process for each: what they do is done in the children that tests share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        results = children.call("keras2" if job["target"] == "tf1" else job["target"], do, job)
        return process.Outcome("done", 0, None, time.monotonic() - began, 0, results, "", "")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "start", start)
        yield
