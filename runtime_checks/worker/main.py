"""The worker: a job in, phases, verdicts and observations out."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from typing import Any

from . import devices, shims, steps, strategies
from .execution import Execution
from .frames import UserCode
from .hooks import all_hooks
from .judge import take_snapshots
from .lines import Lines
from .phases import IMPORT, Phase
from .recorder import Recorder
from .results import Results, versions
from .run import Run

__all__ = ["execute", "main"]


def main(job_file: str) -> None:
    """Do the job that a JSON file describes, and write ``results.json`` in its place.

    It is a recording, the profile of a recorded side, the runs of a training loop, or the checks.
    """
    _dump_stacks(os.path.join(os.path.dirname(job_file), "stacks.txt"))
    with open(job_file, encoding="utf-8") as file:
        job = json.load(file)
    os.remove(job_file)  # with the key, before the model's code is there to read it
    _limit_memory(job["memory_limit"])
    results = Results(os.path.join(os.path.dirname(job_file), "results.json"), bytes.fromhex(job.pop("key")))
    strategies.join(job, os.path.dirname(job_file))
    try:
        _execute(job, results, job_file)
    except BaseException:
        strategies.leave(job, 1)
        raise
    strategies.leave(job)


def _execute(job: dict[str, Any], results: Results, job_file: str) -> None:
    if job.get("kind") == "record":
        from .recording import main as recording

        recording.execute(job, results)
    elif job.get("kind") == "profile":
        from .recording import profiling

        profiling.execute(job, results)
    elif job.get("kind") == "resume":
        from .resume import main as resuming

        resuming.execute(job, results)
    else:
        execute(job, results, os.path.join(os.path.dirname(job_file), _ASK))


def execute(job: dict[str, Any], results: Results, ask: str | None = None) -> None:
    """Do a job in this process; `ask` is the path of a FIFO, by which the host asks for what was seen so far."""
    results.begin(IMPORT)
    import tensorflow as tf

    results.update(versions=versions(tf))
    with contextlib.suppress(AttributeError):
        tf.debugging.disable_traceback_filtering()
    missing = devices.missing(tf, job["device"], physical=True)
    if missing:
        results.finish(refused=devices.absent(missing))
        return
    try:
        strategies.prepare(tf, job["strategy"])
    except strategies.StrategyError as error:
        results.finish(refused=str(error))
        return
    code = UserCode(job["roots"], job["files"])
    run = Run(job, code, Recorder(code))
    worker = _Worker(run, results, Lines(code))
    if ask is not None:
        worker.answer_to(ask)
    worker.do_all(tf)


_ASK = "ask"
"""As in `process`, which is not here."""


class _Worker(Execution):
    """Tells the host, whenever a phase begins, what is known so far."""

    def __init__(self, run: Run, results: Results, lines: Lines) -> None:
        super().__init__(run, lines)
        self.results = results

    def do_all(self, tf: Any) -> None:
        """Import, build, and everything that is done with a model that was built."""
        run = self.run
        loading, building = Phase(IMPORT), Phase("build")
        later = steps.after_build(run)
        run.phases = [loading, building, *(phase for phase, _ in later)]
        found: list[Any] = []
        with run.code.following_autograph(), run.recorder.hooked(all_hooks()), shims.for_slim(
            run.target, run.notes.append
        ):
            self.do(loading, lambda: found.append(steps.load(run)))
            missing = devices.missing(tf, run.job["device"])
            if missing or isinstance(loading.error, strategies.StrategyError):
                self.results.finish(refused=devices.absent(missing) if missing else str(loading.error))
                return
            if run.job["device"] or (run.strategy and not strategies.has_servers(tf, run.strategy)):
                run.is_strict = tf.config.get_soft_device_placement()
                tf.config.set_soft_device_placement(False)
            with devices.on_device(tf, run.job["device"]):
                if loading.ok:
                    self.do(building, lambda: steps.build(run, found[0]))
                if building.ok:
                    for phase, body in later:
                        self.do(phase, body)
        self.blame(loading)
        self.blame(building)
        take_snapshots(run, None)
        self.results.finish(**self.found(None), lines=self.lines_run())

    def answer_to(self, ask: str) -> None:
        """Listen on a thread; when the host opens the FIFO, the phase that runs takes too long and is to be ended.

        What the model made and did in it so far counts, as in a phase that fails.
        """

        def listen() -> None:
            with open(ask, "rb"):
                phase = self.run.recorder.phase
            if phase is not None:
                phase.ran = self.lines.so_far()
                with contextlib.suppress(Exception):
                    self.results.answer(**self.found(phase), lines=self.lines_run())

        if hasattr(os, "mkfifo"):
            os.mkfifo(ask)
            threading.Thread(target=listen, name="migrate-lint-answer", daemon=True).start()

    def begin(self, phase: Phase) -> None:
        """Give what is known to the host, with the name of the phase."""
        self.results.update(**self.found(phase))
        self.results.begin(str(phase))


def _dump_stacks(path: str) -> None:
    """Write to a file where a crash is, and where the main thread is when the host asks, before it ends this process.

    It asks by a signal that no program uses: the model's own alarms are left alone, and
    ``faulthandler.dump_traceback_later`` looks at frames while they change, and took the process down with it
    (Python 3.11).
    """
    import faulthandler
    import signal

    file = open(path, "a", encoding="utf-8")  # noqa: SIM115  (faulthandler keeps it)
    faulthandler.enable(file)
    if hasattr(signal, "SIGRTMAX"):
        faulthandler.register(signal.SIGRTMAX - 3, file, all_threads=False)


def _limit_memory(limit: Any) -> None:
    if not limit:
        return
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        # Not RLIMIT_AS: on a machine of many cores TensorFlow's threads reserve more than they will ever touch.
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
