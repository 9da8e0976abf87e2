"""The worker's job of kind ``profile``: one side's times, memory and trace, where TensorBoard reads them.

It is done in a process of its own, after the recording, so that a profiler changes nothing that is compared.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import shutil
import time
from typing import Callable, Iterator

from .. import devices, phases
from ..errors import essence
from ..frames import UserCode, place_of
from ..results import Results, versions
from . import summaries
from .early_traces import xspace
from .loading import load, side_of
from .main import without_debugger
from .pairs.batches import PairError
from .self_recording import runs_itself
from .tensors import Json
from .tf1 import estimator
from .timing import WARM, Running, running

__all__ = ["execute"]

_SESSION = "migrate-lint"
"""The name of the trace among those of a run: an earlier one is replaced."""
_MOST, _LEAST, _LONG = 10, 3, 20.0
"""So many steps are timed, or fewer, if they take more seconds than this."""
_TRACED = 3


def execute(job: dict[str, Json], results: Results) -> None:
    """Write the summaries of a side that was recorded, time it, and write a trace.

    What comes of it is in the results as ``timing``, see `Content`; what cannot be had is its ``problem``.
    """
    results.begin(phases.IMPORT)
    import tensorflow as tf

    results.update(versions=versions(tf))
    with contextlib.suppress(AttributeError):
        tf.debugging.disable_traceback_filtering()
    timing: dict[str, Json] = {"what": "", "seconds": [], "memory": [], "traced": 0, "problem": ""}
    results.update(timing=timing)
    results.begin("summaries")
    code = UserCode(job["roots"], job["files"])
    folder = os.path.join(job["tensorboard"], job["side"])
    _discard(folder)
    try:
        summaries.write(job["folder"], job["other"], folder)
        if job["ended"]:
            raise PairError("it ended early when it was recorded")
        with code.following_autograph(), without_debugger(lambda text: None, code):
            _measure(job, results, code, timing)
    except PairError as error:
        timing["problem"] = str(error)
    except BaseException as error:
        place = place_of(code.of_error(error))
        where = "" if place is None else f" ({os.path.basename(place[0])}:{place[1]})"
        timing["problem"] = essence(error) + where
    shutil.rmtree(_unfinished(folder), ignore_errors=True)
    if timing["seconds"]:
        with contextlib.suppress(Exception):
            summaries.write(job["folder"], job["other"], folder, timing)
    results.finish()


def _measure(job: dict[str, Json], results: Results, code: UserCode, timing: dict[str, Json]) -> None:
    import tensorflow as tf

    results.begin("build for timing")
    side, device = job["side"], job["device"]
    with devices.on_device(tf, device), contextlib.ExitStack() as stack:
        with estimator.standing_in(lambda text: None):
            pair = side_of(load(job["pair"]), side)
        if runs_itself(getattr(pair, side)):
            raise PairError("it runs itself, and is run once")
        ready = stack.enter_context(running(pair, side, code, device))
        timing["what"] = ready.what
        for number in range(WARM):
            results.begin(f"{ready.what} {number} before timing")
            ready.run(number)
        for number in range(_MOST):
            results.begin(f"timed {ready.what} {number}")
            began = time.perf_counter()
            ready.run(number)
            timing["seconds"].append(time.perf_counter() - began)
            timing["memory"] += _resident()
            if number + 1 >= _LEAST and sum(timing["seconds"]) > _LONG:
                break
        results.begin(f"{_TRACED} {ready.what}s traced")
        _trace(ready, os.path.join(job["tensorboard"], side))
        timing["traced"] = _TRACED


def _trace(ready: Running, folder: str) -> None:
    """Write a trace of some steps into a run's folder, as the profiler's plugin of TensorBoard looks for it.

    Args:
        ready: what is traced.
        folder: of the run; the trace lies below ``plugins/profile``.

    Raises:
        PairError: if the profiler wrote nothing.
        Exception: whatever the steps raise, or the profiler, such as where the program has one running.
    """
    out = _unfinished(folder)
    with _profiler(out) as step:
        for number in range(_TRACED):
            with step(number):
                ready.run(number)
    for found, _, names in os.walk(os.path.join(out, "plugins", "profile")):
        if any(os.path.getsize(os.path.join(found, name)) for name in names):
            os.makedirs(os.path.dirname(_session(folder)), exist_ok=True)
            os.replace(found, _session(folder))
            break
    else:
        raise PairError("the profiler of TensorFlow wrote nothing")


@contextlib.contextmanager
def _profiler(out: str) -> Iterator[Callable[[int], Json]]:
    """A profiler that writes below a folder when the body is done; gives what marks a step by its number."""
    import tensorflow as tf

    profiler = getattr(tf.profiler, "experimental", None)
    if profiler is not None:
        profiler.start(out)
        try:
            yield lambda number: profiler.Trace("step", step_num=number, _r=1)
        finally:
            profiler.stop()
        return
    # TensorFlow 1.15 has no other one for sessions.
    early = importlib.import_module("tensorflow.python.eager.profiler")
    early.start()
    try:
        yield lambda number: contextlib.nullcontext()
    finally:
        made = early.stop()
    found = os.path.join(out, "plugins", "profile", _SESSION)
    os.makedirs(found)
    with open(os.path.join(found, platform.node() + ".xplane.pb"), "wb") as file:
        file.write(xspace(made))


def _session(folder: str) -> str:
    return os.path.join(folder, "plugins", "profile", _SESSION)


def _unfinished(folder: str) -> str:
    return os.path.join(folder, "trace~")


def _discard(folder: str) -> None:
    """Remove what an earlier run left, or one that was killed."""
    for path in (_session(folder), _unfinished(folder)):
        shutil.rmtree(path, ignore_errors=True)


def _resident() -> list[int]:
    """Bytes of this process that are in memory now; nothing where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return [int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")]
    except (OSError, ValueError, IndexError):
        return []
