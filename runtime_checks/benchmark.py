"""Inference of both sides of a pair, measured in turns on the same machine."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import IO, NamedTuple

from .verifying import SIDES, locate_pair, pair_job

__all__ = ["BenchmarkError", "Times", "inference_times"]

_MODULE = f"{__package__}.worker.recording.timing"


class BenchmarkError(RuntimeError):
    """A side could not be measured; the text ends with the last line that it wrote."""


class Times(NamedTuple):
    """Seconds of single calls of each side, in the order in which they were made, in turns."""

    tf1: tuple[float, ...]
    tf2: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """How many times as long as TF1 the TF2 side takes: the ratio of the medians."""
        return statistics.median(self.tf2) / statistics.median(self.tf1)


def inference_times(pair: str, repeats: int = 30) -> Times:
    """Measure inference of both sides with a pair's first batch: a session against a ``tf.function``, both warm.

    Each side has a process, the TF1 side one with Keras 2; they are called in turns, so that what else the machine
    does slows both.

    Args:
        pair: where the pair is, ``"pair.py"`` or ``"pair.py:name"``.
        repeats: measured calls of each side.

    Raises:
        BenchmarkError: if a side cannot be made or called.
        ValueError: if there is no such pair.
    """
    job = json.dumps(pair_job(*locate_pair(pair)))
    with ExitStack() as stack:
        both = [stack.enter_context(_side(side, job)) for side in SIDES]
        for one in both:
            one.answer()
        times = [tuple(one.measure() for one in both) for _ in range(repeats)]
    return Times(tuple(one for one, _ in times), tuple(other for _, other in times))


class _Side(NamedTuple):
    """A process that measures one call whenever it is asked."""

    name: str
    process: subprocess.Popen[str]
    said: IO[str]

    def measure(self) -> float:
        """Seconds of one call."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended, which its answer tells
        return float(self.answer())

    def answer(self) -> str:
        """The next line that it writes."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if line:
            return line
        self.process.wait()
        self.said.seek(0)
        words = self.said.read().strip().rpartition("\n")[2] or f"it ended with status {self.process.returncode}"
        raise BenchmarkError(f"the {self.name} side cannot be measured: {words}")


@contextmanager
def _side(name: str, job: str) -> Iterator[_Side]:
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    if name == "tf1" and find_spec("tf_keras") is not None:  # before 2.16 TensorFlow has Keras 2, and breaks on this
        environment["TF_USE_LEGACY_KERAS"] = "1"
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", _MODULE, name, job],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=environment,
            text=True,
        )
        try:
            with process:
                yield _Side(name.upper(), process, said)
                assert process.stdin is not None
                process.stdin.close()
        finally:
            process.kill()
