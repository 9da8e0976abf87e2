"""Inference of both sides of a pair, measured in turns on the same machine."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from typing import IO, NamedTuple

from .supervised import Supervised
from .verifying import SIDES, locate_pair, pair_job

__all__ = ["BenchmarkError", "Times", "inference_times"]

_LONGEST_ANSWER = 4096
_LEAVE = 60.0
"""Seconds for a side to end that has closed its output."""
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
    ran: Supervised
    said: IO[str]

    def measure(self) -> float:
        """Seconds of one call."""
        stdin = self.ran.process.stdin
        assert stdin is not None
        try:
            stdin.write(b"\n")
            stdin.flush()
        except BrokenPipeError:
            pass  # it ended, which its answer tells
        answer = self.answer()
        try:
            return float(answer)
        except ValueError as error:
            raise BenchmarkError(f"the {self.name} side cannot be measured: it wrote {answer[:80]!r}") from error

    def answer(self) -> str:
        """The next line that it writes."""
        assert self.ran.process.stdout is not None
        line = self.ran.process.stdout.readline(_LONGEST_ANSWER).decode("utf-8", "replace").strip()
        if line:
            return line
        self.ran.wait(_LEAVE)
        self.said.seek(0)
        words = self.said.read().strip().rpartition("\n")[2] or f"it ended with status {self.ran.code}"
        raise BenchmarkError(f"the {self.name} side cannot be measured: {words}")


@contextmanager
def _side(name: str, job: str) -> Iterator[_Side]:
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    if name == "tf1" and find_spec("tf_keras") is not None:  # before 2.16 TensorFlow has Keras 2, and breaks on this
        environment["TF_USE_LEGACY_KERAS"] = "1"
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
        ran = Supervised([sys.executable, "-m", _MODULE, name, job], environment=environment, streams=streams)
        try:
            yield _Side(name.upper(), ran, said)
        finally:
            ran.end()
            for pipe in (ran.process.stdin, ran.process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()
            ran.close()
