"""A run that is told to end takes the model's process with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .command_runs import MARK, living, wait_for

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are counted in /proc, which only Linux has"),
]
SLEEPS = """
import os, time

def build(folder=None):
    open(os.environ["ASLEEP"], "w").close()
    time.sleep(3000)
"""
_SECONDS = 600.0
RUNTIME, RESUME = ("--no-cache", "--isolated", "--runtime", "model.py:build"), ("resume", "model.py:build")


@pytest.mark.parametrize(
    ("words", "number", "processes"),
    [
        (RUNTIME, signal.SIGTERM, 3),
        (RUNTIME, signal.SIGINT, 3),
        (RUNTIME, signal.SIGHUP, 3),
        (RUNTIME, signal.SIGKILL, 3),
        (RESUME, signal.SIGINT, 4),
        (RESUME, signal.SIGKILL, 4),
    ],
)
def test_nothing_is_left_of_a_run_that_was_told_to_end(
    tmp_path: Path, words: tuple[str, ...], number: signal.Signals, processes: int
) -> None:
    """The worker, its folder and the command itself are gone, also where the command was not asked."""
    (tmp_path / "model.py").write_text(SLEEPS, "utf-8")
    scratch, asleep = tmp_path / "tmp", tmp_path / "asleep"
    scratch.mkdir()
    command = subprocess.Popen(
        [sys.executable, "-m", "migrate_lint", *words],
        cwd=tmp_path,
        env={**os.environ, MARK: str(tmp_path), "TMPDIR": str(scratch), "ASLEEP": str(asleep)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        began = wait_for(asleep.exists, _SECONDS)
        ran = list(living(str(tmp_path)))
        command.send_signal(number)
        status = command.wait(_SECONDS)
    finally:
        command.kill()

    assert began
    assert len(ran) == processes  # the command, the supervisor, the worker, and the run of a loop that it forked
    assert {signal.SIGTERM: 143, signal.SIGINT: 2, signal.SIGHUP: 129, signal.SIGKILL: -9}[number] == status
    assert wait_for(lambda: list(living(str(tmp_path))) == [], _SECONDS)
    assert wait_for(lambda: os.listdir(scratch) == [], _SECONDS)
