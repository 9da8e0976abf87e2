"""The worker's job of kind ``resume``: run a training loop some times, each in a child that is forked for it."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import random
import socket
import sys
import threading
import traceback
from typing import Any, Callable, Mapping

import numpy as np

from .. import modules, phases, signature
from ..errors import essence, one_line
from ..frames import UserCode, place_of
from ..results import Results, versions
from .interrupting import Interrupter
from .steps import Steps
from .streams import SEED, Streams
from .trace import Trace
from .turns import TOGETHER, Turns

__all__ = ["execute"]

SECOND = "-second"
"""What the trace of the second of two processes has behind the name of the first one's."""
_MOST_FILES = 200


class LoopError(Exception):
    """There is no loop that could be run; the text says why."""


def execute(job: dict[str, Any], results: Results) -> None:
    """Do every attempt of the job in a forked child; ``ended`` of the results says how each of them ended.

    An attempt has ``name``, ``folder``, ``trace``, ``how`` and ``at`` (see `Interrupter`), ``beginnings`` and
    ``owners`` (see `Steps`; none of an uninterrupted run), ``from`` (the step that it is thought to begin with),
    ``steps`` (after which it ends, or None) and, if the first values of its variables are to be told, ``firsts``.
    """
    results.begin(phases.IMPORT)
    import tensorflow as tf

    results.update(versions=versions(tf))
    with contextlib.suppress(AttributeError):
        tf.debugging.disable_traceback_filtering()
    ended: list[dict[str, Any]] = []
    for attempt in job["attempts"]:
        results.update(ended=ended)
        results.begin(attempt["name"])
        if attempt["how"] in TOGETHER:
            status = _together(job, attempt)
        else:
            _, status = os.waitpid(_forked(lambda: _run(job, attempt)), 0)  # noqa: B023  (it runs at once)
        ended.append(
            {"signal": status & 127 or None, "status": None if status & 127 else status >> 8,
             "files": _files(attempt["folder"]), "missing": _missing(attempt["folder"])}
        )
    results.finish(ended=ended)


def _forked(run: Callable[[], int]) -> int:
    """The process of a child that runs this and ends."""
    child = os.fork()
    if not child:
        status = 1
        atexit._clear()  # what was left to do at the end is the parent's
        try:
            status = run()
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    return child


def _together(job: Mapping[str, Any], attempt: Mapping[str, Any]) -> int:
    """Run the loop in two processes that save into one folder; how the first of them ended."""
    sides = socket.socketpair()

    def side(second: bool) -> int:
        sides[not second].close()  # so that each hears where the other one ends
        return _run(job, attempt, sides[second], second)

    first, second = _forked(lambda: side(False)), _forked(lambda: side(True))
    for one in sides:
        one.close()
    _, status = os.waitpid(first, 0)
    os.waitpid(second, 0)
    return status


def _missing(folder: str) -> list[str]:
    """Checkpoints that a file `checkpoint` in a folder, or in one within, names and that are not there."""
    import tensorflow as tf

    found = []
    for inside, _, names in os.walk(folder):
        state = tf.train.get_checkpoint_state(inside) if "checkpoint" in names else None
        for path in [] if state is None else state.all_model_checkpoint_paths:
            if not tf.io.gfile.glob(path + ".index") and not os.path.exists(path):
                found.append(os.path.relpath(path, folder))
    return sorted(set(found))[:_MOST_FILES]


def _files(folder: str) -> list[str]:
    found = [
        os.path.relpath(os.path.join(inside, name), folder)
        for inside, _, names in os.walk(folder)
        for name in names
    ]
    return sorted(found)[:_MOST_FILES]


def _run(
    job: Mapping[str, Any], attempt: Mapping[str, Any], other: socket.socket | None = None, second: bool = False
) -> int:
    """Run the loop in this process, and say how it ended; `other` leads to the process beside it, if there is one.

    The second of two has other seeds, so that what both leave is the same only where the loop sees to it.
    """
    path, seed = (attempt["trace"] + SECOND, SEED + 1) if second else (attempt["trace"], SEED)
    trace = Trace(path)
    turns = None
    if other is not None:
        turns = Turns(trace, attempt["folder"], other, second, attempt["how"], attempt["at"])
        if second and not turns.begin():
            return 0
    streams = Streams(seed, bool(attempt.get("firsts")))
    streams.step = attempt["from"]
    interrupter = Interrupter(trace, attempt["how"], attempt["at"], attempt["folder"], turns)
    code = UserCode(job["roots"], job["files"])

    def behind(done: int) -> None:
        if attempt["steps"] and streams.step >= attempt["steps"]:
            _finish(trace, steps, streams, path)
            os._exit(0)
        interrupter.behind(done)

    owners = {int(at): told for at, told in attempt["owners"].items()}
    steps = Steps(trace, streams, behind, attempt["beginnings"], owners)
    trace.add("begin")
    try:
        with code.following_autograph(), contextlib.ExitStack() as stack:
            _seed(seed)
            for watched in (streams.objects.watching(), streams.replacing(), interrupter.watching(), steps.watching()):
                stack.enter_context(watched)
            _loop(job["loop"], attempt["folder"])()
    except LoopError as error:
        trace.add("usage", text=str(error))
        return 1
    except BaseException as error:
        if not isinstance(error, SystemExit) or error.code:
            ours = interrupter.ended(error)
            if not ours:
                traceback.print_exc()
            place = place_of([frame for frame in code.of_error(error) if os.path.isfile(frame.path)])
            trace.add("raised", text=one_line(essence(error)), place=place, interruption=ours)
            _leave()
            return 1
    interrupter.ended(None)
    _finish(trace, steps, streams, path)
    _leave()
    return 0


def _finish(trace: Trace, steps: Steps, streams: Streams, path: str) -> None:
    """Write the state at the end of the run, and the weights as a file beside the trace."""
    state, weights = steps.now()
    with open(path + ".npz", "wb") as file:
        np.savez(file, **{key.replace("/", "|"): value for key, value in weights.items()})
    trace.add("end", state=state, aligned=streams.aligned)


def _leave() -> None:
    """Let what the loop began to write come to its end, as when Python ends."""
    with contextlib.suppress(Exception):
        threading._shutdown()  # type: ignore[attr-defined]
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()


def _loop(place: dict[str, Any], folder: str) -> Callable[[], Any]:
    """The loop, as a function without parameters."""
    modules.prefer(place["search_path"])
    sys.argv = [str(place["file"] or place["module"])]
    file, name = place["file"], place["module"]
    loop: Any = modules.import_file(file, name) if file else importlib.import_module(name)
    for part in place["attribute"].split("."):
        loop = getattr(loop, part, None)
    if not callable(loop):
        raise LoopError(f"there is no function {place['attribute']} in it")
    needed = signature.required(loop) or []
    if len(needed) > 1:
        named = f"{place['attribute']} needs {', '.join(needed)}"
        raise LoopError(f"{named}: wanted is a function of a folder, or of nothing")
    if needed:
        return lambda: loop(folder)
    os.chdir(folder)
    return loop  # type: ignore[no-any-return]


def _seed(seed: int) -> None:
    import tensorflow as tf

    random.seed(seed)
    np.random.seed(seed)
    tf.compat.v1.set_random_seed(seed)
