"""The worker: a job in, phases, verdicts and observations out."""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
from typing import Any, Callable, Iterator

from . import shims, steps
from .errors import cause_of, essence, one_line
from .frames import UserCode
from .hooks import all_hooks
from .judge import report, take_snapshots
from .lines import Lines
from .patching import replaced
from .phases import IMPORT, NotRunError, Phase
from .recorder import Recorder
from .results import Results, versions
from .run import Run
from .target import TargetError, if_factory

__all__ = ["execute", "main"]


def main(job_file: str) -> None:
    """Do the job that a JSON file describes, a recording or the checks, and write ``results.json`` in its place."""
    _dump_stacks(os.path.join(os.path.dirname(job_file), "stacks.txt"))
    with open(job_file, encoding="utf-8") as file:
        job = json.load(file)
    os.remove(job_file)  # with the key, before the model's code is there to read it
    _limit_memory(job["memory_limit"])
    results = Results(os.path.join(os.path.dirname(job_file), "results.json"), bytes.fromhex(job.pop("key")))
    if job.get("kind") == "record":
        from .recording import main as recording

        recording.execute(job, results)
    else:
        execute(job, results, os.path.join(os.path.dirname(job_file), _ASK))


def execute(job: dict[str, Any], results: Results, ask: str | None = None) -> None:
    """Do a job in this process; `ask` is the path of a FIFO, by which the host asks for what was seen so far."""
    results.begin(IMPORT)
    import tensorflow as tf

    results.update(versions=versions(tf))
    with contextlib.suppress(AttributeError):
        tf.debugging.disable_traceback_filtering()
    missing = _missing_device(tf, job, physical=True)
    if missing:
        results.finish(missing_device=missing)
        return
    code = UserCode(job["roots"], job["files"])
    run = Run(job, code, Recorder(code))
    worker = _Worker(run, results, Lines(code))
    if ask is not None:
        worker.answer_to(ask)
    worker.do(tf)


_ASK = "ask"
"""As in `process`, which is not here."""
_GRAPH_ONLY = re.compile(r"eager execution|[Ee]xecuting eagerly|[Ee]ager mode")
"""What TensorFlow says where it is asked for something of graphs without one."""


class _Worker:
    """Runs phases and keeps what they leave behind."""

    def __init__(self, run: Run, results: Results, lines: Lines) -> None:
        self.run = run
        self.results = results
        self.lines = lines

    def do(self, tf: Any) -> None:
        """Import, build, and everything that is done with a model that was built."""
        run = self.run
        loading, building = Phase(IMPORT), Phase("build")
        later = steps.after_build(run)
        run.phases = [loading, building, *(phase for phase, _ in later)]
        found: list[Any] = []
        with run.code.following_autograph(), run.recorder.hooked(all_hooks()), shims.for_slim(
            run.target, run.notes.append
        ):
            self._do(loading, lambda: found.append(steps.load(run)))
            missing = _missing_device(tf, run.job, physical=False)
            if missing:
                self.results.finish(missing_device=missing)
                return
            with _on_device(tf, run.job["device"]):
                if loading.ok:
                    self._do(building, lambda: steps.build(run, found[0]))
                if building.ok:
                    for phase, body in later:
                        self._do(phase, body)
        self._blame(loading)
        self._blame(building)
        take_snapshots(run, None)
        self._report()
        self.results.finish(lines=self._lines())

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
                    self.results.answer(**self._found(phase), lines=self._lines())

        if hasattr(os, "mkfifo"):
            os.mkfifo(ask)
            threading.Thread(target=listen, name="migrate-lint-answer", daemon=True).start()

    def _blame(self, failed: Phase) -> None:
        """Say of the phases that were not run why, if all of them needed one that failed."""
        for phase in self.run.phases:
            if failed.error is not None and phase.outcome == "not run":
                phase.detail = f"{failed} failed: {failed.detail}"

    def _do(self, phase: Phase, body: Callable[[], None]) -> None:
        run = self.run
        phase.follow_up = any(
            earlier.ok and earlier.mode == phase.mode and earlier.scope is None for earlier in run.of_kind(phase.kind)
        )
        self._report(phase)
        self.results.begin(str(phase))
        began = time.time()
        run.recorder.phase = phase
        try:
            with self.lines.recording():
                body()
            phase.outcome, phase.detail = "ok", ""
        except NotRunError as reason:
            phase.outcome, phase.detail = "not run", str(reason)
        except steps.CutShortError as reason:
            phase.outcome, phase.detail = "cut short", str(reason)
        except BaseException as error:
            phase.outcome = "failed"
            phase.error = error
            phase.frames = run.code.of_error(error)
            phase.detail = _failure(run, phase, error)
        finally:
            run.recorder.phase = None
        phase.ran = self.lines.take()
        phase.seconds = time.time() - began
        take_snapshots(run, phase)

    def _report(self, running: Phase | None = None) -> None:
        self.results.update(**self._found(running))

    def _lines(self) -> list[Any]:
        """By file, the lines with statements and those that ran in each phase."""
        statements = self.lines.statements()
        ran: dict[str, list[Any]] = {path: [] for path in statements}
        for phase in self.run.phases:
            in_phase: dict[str, set[int]] = {}
            for path, line, _ in phase.ran:
                in_phase.setdefault(path, set()).add(line)
            for path in sorted(in_phase):
                ran.get(path, []).append([str(phase), sorted(in_phase[path])])
        return [[path, sorted(statements[path]), ran[path]] for path in sorted(statements)]

    def _found(self, running: Phase | None) -> dict[str, Any]:
        run = self.run
        judgements, observations = report(run)
        fatal = run.fatal()
        place = fatal.frames[0][:2] if fatal is not None and fatal.frames else (None, 0)
        return {
            "phases": [
                [str(p), "running" if p is running else p.outcome, round(p.seconds, 3), p.detail] for p in run.phases
            ],
            "fatal": None if fatal is None else [str(fatal), _ended(fatal), _why(run, fatal), *place],
            "scopes": [[name, one_line(said)] for name, said in run.scopes],
            "notes": run.notes,
            "judgements": {
                number: [one.verdict, "" if one.phase is None else str(one.phase), one.detail]
                for number, one in judgements.items()
            },
            "observations": observations,
        }


def _ended(phase: Phase) -> str:
    return "exited" if isinstance(phase.error, SystemExit) else phase.outcome


def _why(run: Run, phase: Phase) -> str:
    """Why nothing can be judged, and what to do about it, where that is known."""
    error, remedies = phase.error, []
    if isinstance(error, SystemExit):
        remedies.append("what it wants to be told goes behind `--` on the command line: -- --name=value")
    elif error is not None and _GRAPH_ONLY.search(essence(error)):
        remedies.append("this is TF1 code, which needs a graph: `migrate-lint verify --init pair.py` runs it in one")
    elif phase.kind == "call" and run.needed:
        name = run.job["attribute"]
        remedies.append(f"`{name}` was called as the model, with the inputs; {if_factory(name, run.needed)}")
    if phase.kind == "call" and not remedies and run.sample.made_up:
        remedies.append(
            "the inputs were made up where the model leaves sizes open: `def example_inputs():` in the same file gives "
            "such as it takes, or --input-shape"
        )
    return "; ".join([phase.detail, *remedies])


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


def _failure(run: Run, phase: Phase, error: BaseException) -> str:
    text = one_line(error if isinstance(error, TargetError) else essence(error))
    if phase.frames:
        text += f" ({os.path.basename(phase.frames[0].path)}:{phase.frames[0].line})"
    if isinstance(error, SystemExit):
        text = f"the program would end the process: {text}"
    cause = cause_of(error)
    if cause is not None:
        text += f", from {one_line(essence(cause))}"
    limit = run.job["memory_limit"]
    if limit and (isinstance(error, MemoryError) or "ResourceExhausted" in type(error).__name__):
        text += f"; --memory-limit is {limit / 2**30:g} GiB"
    return text


def _limit_memory(limit: Any) -> None:
    if not limit:
        return
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        # Not RLIMIT_AS: on a machine of many cores TensorFlow's threads reserve more than they will ever touch.
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _missing_device(tf: Any, job: dict[str, Any], physical: bool) -> list[str]:
    """The logical devices that there are, if the one that is asked for is not among them.

    Asking for logical devices fixes them, and the user's module may still want to split a physical one, so before the
    import only the kind of device is looked for.
    """
    if not job["device"]:
        return []
    kind, _, number = str(job["device"]).partition(":")
    if physical and tf.config.list_physical_devices(kind):
        return []
    names = [device.name for device in tf.config.list_logical_devices()]
    wanted = f"{kind}:{number or 0}".upper()
    return [] if any(name.upper().endswith("DEVICE:" + wanted) for name in names) else names


@contextlib.contextmanager
def _on_device(tf: Any, device: Any) -> Iterator[None]:
    if not device:
        yield
        return
    tf.config.set_soft_device_placement(False)
    name = "/" + str(device)
    with _threads_on(tf, name), tf.device(name):
        yield


@contextlib.contextmanager
def _threads_on(tf: Any, name: str) -> Iterator[None]:
    """Start Python's threads on a device too: ``tf.device`` holds for the thread that enters it."""
    thread_class: Any = threading.Thread
    original = thread_class._bootstrap_inner

    def bootstrap(thread: Any) -> None:
        with tf.device(name):
            original(thread)

    with replaced(thread_class, "_bootstrap_inner", bootstrap):
        yield
