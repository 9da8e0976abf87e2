"""One audit of a training loop: it is run to its end twice, interrupted, resumed, and what it lost is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..linter.finding import Target
from . import interpreter, process
from .locate import DEFAULT_ATTRIBUTE, Located, LocateError, locate
from .supervised import scratch

if TYPE_CHECKING:
    from .comparison.resume.judge import Reference
    from .comparison.resume.results import Interruption, Report
    from .comparison.resume.traces import Run

__all__ = ["HOWS", "Request", "ResumeUsageError", "beginnings", "locate_loop", "run"]

_TOGETHER = ("two-writers", "restarted")
"""Those in which a second process saves into the same folder."""
_AT_SAVES = ("saving", "truncated", "mixed", "full-disk", *_TOGETHER)
"""Those that need a save to be made: during it, to what it wrote, or beside it."""
HOWS = ("exception", "sigterm", "sigkill", *_AT_SAVES)
"""The ways to interrupt a loop."""
_GIB = 1 << 30
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker", "start.py")
_SECOND = "-second"
"""What the worker puts behind the name of a trace for that of the process beside it."""
_PARTS = 4
"""Of the whole run, by default interrupted where two of them meet."""
_SEEDED = "Python's, numpy's and TensorFlow's generators were seeded alike when each process began"
_ALIGNED = (
    "layers, or operations such as tf.random.normal, draw from streams that no checkpoint holds: they were put at the "
    "place of their step, and begin anew where you resume"
)


class ResumeUsageError(ValueError):
    """The audit makes no sense as it was asked for; the text says why."""


@dataclass(frozen=True)
class Request:
    """What is to be audited, and how.

    ``loop`` names it (``train.py:loop`` or ``package.module:name``); ``every`` is the number of steps between two
    interruptions, None for a quarter of the run; ``hows`` are some of `HOWS`; ``steps`` ends every run behind so many,
    None for its own end; ``target`` is the Keras, by default ``likely`` where ``python`` has it, or else the one that
    ``tf.keras`` is there.
    ``resume_with`` names another loop, in the form of ``loop``, that goes on from the checkpoints of the first.
    ``timeout`` is in seconds for each run of the loop, ``memory_limit`` in GiB, ``roots`` are the folders whose files
    are the user's.
    """

    loop: str
    every: int | None = None
    hows: tuple[str, ...] = ("exception",)
    steps: int | None = None
    resume_with: str | None = None
    target: Target | None = None
    likely: Target | None = None
    python: str | None = None
    timeout: float = 300.0
    memory_limit: float | None = 8.0
    roots: tuple[str, ...] = ()


def locate_loop(text: str, root: str | None = None) -> Located:
    """Where a loop is.

    Raises:
        ResumeUsageError: if the text names nothing that could be one.
    """
    try:
        located = locate(text, os.getcwd(), root)
    except LocateError as error:
        raise ResumeUsageError(str(error).replace(f":{DEFAULT_ATTRIBUTE}", ":loop")) from error
    if located.attribute == DEFAULT_ATTRIBUTE and not text.endswith(f":{DEFAULT_ATTRIBUTE}"):
        raise ResumeUsageError(f"{text} names no function; write for example {text}:loop")
    if located.file is not None and not located.file.endswith(".py"):
        raise ResumeUsageError(f"{text}: a loop in a notebook is not run; move it to a .py file")
    return located


def run(request: Request, progress: Callable[[str], None] | None = None) -> Report:
    """Run, interrupt, resume and compare.

    Args:
        request: what is to be audited.
        progress: told in words what runs now.

    Raises:
        ResumeUsageError: if the loop, an interpreter or this system cannot be used.
    """
    try:
        from .comparison.resume import results
    except ImportError as error:
        raise ResumeUsageError(f"resume needs numpy, which is missing: pip install numpy ({error})") from None
    if not hasattr(os, "fork"):
        raise ResumeUsageError("resume needs a system whose processes can fork, such as Linux or macOS")
    root = request.roots[0] if request.roots else None
    located = locate_loop(request.loop, root)
    changed = None if request.resume_with is None else locate_loop(request.resume_with, root)
    if changed is not None and any(how in _TOGETHER for how in request.hows):
        raise ResumeUsageError(f"{' and '.join(_TOGETHER)} are two processes of one loop, without --resume-with")
    with scratch() as folder:
        audit = _Audit(request, located, changed, *_interpreter(request), folder, progress)
        found = audit.reference()
        if isinstance(found, str):
            return results.Report(request.loop, 4, found, 0, audit.versions)
        return audit.interrupted(found)


def _interpreter(request: Request) -> tuple[interpreter.Interpreter, Target | None]:
    """The interpreter, and the Keras in it; None where it has TensorFlow 1."""
    try:
        python = interpreter.describe(request.python)
        if request.target is None and (python.tensorflow or "").startswith("1."):
            return python, None
        return python, interpreter.chosen(python, request.target, request.likely)
    except interpreter.InterpreterError as error:
        raise ResumeUsageError(str(error)) from error


@dataclass(frozen=True)
class _Attempt:
    """One run of the loop, in the process that is forked for it."""

    name: str
    folder: str
    trace: str
    how: str | None = None
    at: int | None = None
    reference: Run | None = None
    """The uninterrupted run that it is held against."""
    first: int = 0
    firsts: bool = False
    """Whether the first values of variables are told."""


@dataclass(frozen=True)
class _Ended:
    """How an attempt ended; ``cause`` is why the worker was ended in it, empty where it was not."""

    run: Run
    cause: str
    signal: int | None
    files: Sequence[str] = ()
    missing: Sequence[str] = ()
    """Checkpoints that the folder names and does not hold."""
    second: Run | None = None
    """The run of the process beside it."""

    @property
    def interrupted(self) -> bool:
        """Whether it was, or of two processes the one that lasted longer."""
        return any(run is not None and run.interrupted is not None for run in (self.run, self.second))


class _Audit:
    def __init__(
        self,
        request: Request,
        located: Located,
        changed: Located | None,
        python: interpreter.Interpreter,
        target: Target | None,
        folder: str,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.request = request
        self.located = located
        self.changed = changed
        self.python = python
        self.target = target
        self.folder = folder
        self.progress = progress
        self.versions: dict[str, str] = {}

    def reference(self) -> Reference | str:
        """Two uninterrupted runs; a sentence where they came to no end, or did nothing that could be compared."""
        from .comparison.resume.judge import Reference, raised

        attempts = [self._attempt("uninterrupted"), self._attempt("uninterrupted once more")]
        ended = self._run(attempts)
        for one in ended:
            if one.run.usage:
                raise ResumeUsageError(f"{self.request.loop}: {one.run.usage}")
            if one.cause or one.run.raised or one.run.end is None:
                why = one.cause or raised(one.run) or _killed(one.signal)
                return f"The loop could not be run to its end: {why}"
        return Reference(ended[0].run, ended[1].run)

    def interrupted(self, reference: Reference) -> Report:
        """Interrupt the loop, resume it, and compare."""
        total = len(reference.run.steps)
        every = self.request.every or max(1, -(-total // _PARTS))
        places = [(how, at) for at in range(every, total, every) for how in self.request.hows]
        first = [
            replace(attempt, reference=reference.run) if attempt.how in _TOGETHER else attempt
            for attempt in (self._attempt(f"{how} behind step {at}", how, at) for how, at in places)
        ]
        stopped = list(zip(first, self._run(first), strict=True))
        again = {
            attempt.name: replace(
                attempt,
                name=f"resumed after {attempt.name}",
                trace=_resumed(attempt.trace),
                how=None,
                at=None,
                reference=reference.run,
                first=ended.run.saves[-1] if ended.run.saves else 0,
                firsts=self.changed is not None,
            )
            for attempt, ended in stopped
            if ended.interrupted and not ended.cause
        }
        resumed = dict(zip(again, self._run(list(again.values()), self.changed or self.located), strict=True))
        for after in resumed.values():
            if after.run.usage:
                raise ResumeUsageError(f"{self.request.resume_with}: {after.run.usage}")
        interruptions = []
        for (how, at), (attempt, ended) in zip(places, stopped, strict=True):
            if attempt.name in resumed:
                interruptions.append(self._judged(reference, how, at, attempt, ended, resumed[attempt.name]))
            elif (one := _not_interrupted(how, at, ended)) is not None:
                interruptions.append(one)
        return self._report(reference, places, interruptions)

    def _judged(
        self, reference: Reference, how: str, at: int, attempt: _Attempt, before: _Ended, after: _Ended
    ) -> Interruption:
        from .comparison.resume import changed
        from .comparison.resume.judge import judge
        from .comparison.resume.results import Interruption
        from .comparison.resume.traces import apart

        unended = not after.run.raised and after.run.end is None
        if after.cause or unended:
            why = f"the resumed loop did not come to its end: {after.cause or _killed(after.signal)}"
            return Interruption(how, at, "failed", why, files=tuple(before.files))
        if self.changed is not None:
            return changed.judge(reference, how, at, before.run, after.run, before.files)
        distance = apart(self._trace(0), _resumed(attempt.trace))
        return judge(
            reference, how, at, before.run, after.run, before.files, distance, before.second, before.missing
        )

    def _report(
        self, reference: Reference, places: Sequence[tuple[str, int]], interruptions: Sequence[Interruption]
    ) -> Report:
        from .comparison.resume.results import Report

        total = len(reference.run.steps)
        notes = [_SEEDED, *reference.run.notes]
        if self.request.resume_with is not None:
            notes.append(f"resumed with {self.request.resume_with}")
        if reference.run.aligned:
            notes.append(_ALIGNED)
        if total == self.request.steps:
            notes.append(f"every run was ended behind step {total}, whatever the loop would have done then (--steps)")
        left = len(places) - len(interruptions)
        if left:
            why = "no save began behind their step, none had written what could be damaged, or not both processes saved"
            notes.append(f"{left} interruptions were not made: {why}")
        blind = sum(not step.data and step.given is None for step in reference.run.steps)
        if blind:
            notes.append(f"the batch of {blind} of {total} steps was not seen, so the data position is not known there")
        merged = sum(step.updates > 1 for step in reference.run.steps)
        if merged:
            notes.append(f"{merged} of {total} steps are several updates in one call of a function")
        status, verdict = _verdict(total, interruptions)
        return Report(
            self.request.loop, status, verdict, total, self.versions, tuple(reference.names), tuple(interruptions),
            tuple(notes)
        )

    # -- the worker ----------------------------------------------------------------------------------------------------

    def _trace(self, number: int) -> str:
        return os.path.join(self.folder, f"{number}.trace")

    def _attempt(self, name: str, how: str | None = None, at: int | None = None) -> _Attempt:
        number = sum(entry.is_dir() for entry in os.scandir(self.folder))
        folder = os.path.join(self.folder, str(number))
        os.mkdir(folder)
        return _Attempt(name, folder, self._trace(number), how, at)

    def _run(self, attempts: Sequence[_Attempt], loop: Located | None = None) -> list[_Ended]:
        """Run them one after the other; the worker is started anew behind one in which it was ended."""
        found: list[_Ended] = []
        while len(found) < len(attempts):
            rest = attempts[len(found) :]
            outcome = self._start(rest, loop or self.located)
            done = _ends((outcome.results or {}).get("ended"))[: len(rest)]
            for attempt, end in zip(rest, done, strict=False):
                found.append(_ended(attempt, "", **end))
            if len(done) < len(rest):
                cause = outcome.reason or "the worker ended early"
                if outcome.phase not in {one.name for one in rest} or not outcome.results:
                    found += [_ended(one, cause) for one in rest[len(done) :]]
                else:
                    found.append(_ended(rest[len(done)], cause))
        return found

    def _start(self, attempts: Sequence[_Attempt], located: Located) -> process.Outcome:
        limit = None if not self.request.memory_limit else int(self.request.memory_limit * _GIB)
        own = os.path.dirname(located.file) if located.file else None
        job: dict[str, Any] = {
            "kind": "resume",
            "loop": {
                "file": located.file,
                "module": located.module,
                "attribute": located.attribute,
                "search_path": list(located.search_path),
            },
            "attempts": [
                {
                    "name": one.name,
                    "folder": one.folder,
                    "trace": one.trace,
                    "how": one.how,
                    "at": one.at,
                    **beginnings(one.reference),
                    "from": one.first,
                    "steps": self.request.steps,
                    "firsts": one.firsts,
                }
                for one in attempts
            ],
            "memory_limit": limit,
            "roots": [*self.request.roots, *([own] if own else [])],
            "files": [located.file] if located.file else [],
        }
        outcome = process.start(
            self.python.executable,
            _WORKER,
            job,
            timeout=self.request.timeout,
            memory_limit=limit,
            environment={} if self.target is None else interpreter.keras_environment(self.python, self.target),
            on_phase=self.progress,
            folders=[self.folder],
        )
        told = (outcome.results or {}).get("versions")
        if isinstance(told, dict):
            self.versions = {str(key): str(value) for key, value in told.items()}
        return outcome


def beginnings(run: Run | None) -> dict[str, Any]:
    """What a worker gets to know of the uninterrupted run, so that it finds the step which another one goes on from."""
    steps = [] if run is None else [{"weights": one.weights, "applied": list(one.applied)} for one in run.steps]
    return {"beginnings": steps, "owners": {} if run is None else {str(at): one for at, one in run.owners.items()}}


def _resumed(trace: str) -> str:
    """Where the run leaves its trace that goes on from another one."""
    return f"{trace}-resumed"


def _ends(told: object) -> list[dict[str, Any]]:
    """What the worker says of the attempts that ended, as far as it has that form."""
    found: list[dict[str, Any]] = []
    for one in told if isinstance(told, list) else []:
        if not isinstance(one, dict) or not isinstance(one.get("files"), list):
            break
        number, missing = one.get("signal"), one.get("missing")
        found.append(
            {
                "signal": number if isinstance(number, int) else None,
                "files": [str(f) for f in one["files"]],
                "missing": [str(f) for f in missing] if isinstance(missing, list) else [],
            }
        )
    return found


def _ended(
    attempt: _Attempt, cause: str, signal: int | None = None, files: Sequence[str] = (), missing: Sequence[str] = ()
) -> _Ended:
    from .comparison.resume.traces import Run, TraceError, read

    try:
        second = read(attempt.trace + _SECOND) if attempt.how in _TOGETHER else None
        run = read(attempt.trace)
    except TraceError as error:
        run, second, cause = Run(), None, cause or str(error)
    return _Ended(run, cause, signal, files, missing, second)


def _killed(number: int | None) -> str:
    return "its process ended early" if number is None else f"its process was killed by signal {number}"


def _not_interrupted(how: str, at: int, ended: _Ended) -> Interruption | None:
    """Why a run was not interrupted; None where no save began that could have been."""
    from .comparison.resume.judge import raised
    from .comparison.resume.results import Interruption

    if ended.cause:
        return Interruption(how, at, "failed", f"the run up to the interruption was ended: {ended.cause}")
    if ended.run.raised:
        return Interruption(how, at, "failed", f"the loop raised before it was interrupted: {raised(ended.run)}")
    if ended.run.end is None:
        return Interruption(how, at, "failed", f"the run up to the interruption: {_killed(ended.signal)}")
    if how in _AT_SAVES:
        return None
    return Interruption(how, at, "not compared", "the loop ended before it was interrupted")


def _verdict(total: int, interruptions: Sequence[Interruption]) -> tuple[int, str]:
    """The exit status, and the whole audit in a sentence."""
    from .comparison.resume.rendering import titles

    lost = [one for one in interruptions if one.status == "lost"]
    failed = [one for one in interruptions if one.status == "failed"]
    blank = [one for one in interruptions if one.status == "not compared"]
    count = len(interruptions)
    if lost:
        kinds = ", ".join(dict.fromkeys(titles(one)[0] for one in lost))
        return 1, f"Lost after {len(lost)} of {count} interruptions: {kinds}"
    if failed:
        return 4, f"{len(failed)} of {count} interruptions could not be followed to the end"
    if not total:
        return 3, "Not compared: no update of what is trained was seen"
    if not count:
        return 3, f"Not compared: the loop was not interrupted in its {total} steps"
    if blank:
        return 3, f"{len(blank)} of {count} interruptions were not compared: {blank[0].reason}"
    anew = sum(one.status == "begun anew" for one in interruptions)
    if anew == count:
        return 3, f"Not compared: nothing had been saved at any of {count} interruptions, and the loop began anew"
    restored = sum(one.status == "restored" for one in interruptions)
    refused = sum(one.status == "refused" for one in interruptions)
    if refused + anew == count:
        return 0, f"Nothing lost in silence: after {refused} of {count} interruptions the loop raised and did not go on"
    rest = f"; after {anew} more nothing had been saved, and it began anew" if anew else ""
    rest += f"; after {refused} more it raised and did not go on" if refused else ""
    if restored:
        return 0, f"Restored: after {restored} interruptions every variable of the changed loop had a saved value{rest}"
    return 0, f"Nothing lost: after {count - anew - refused} interruptions the loop went on as without them{rest}"
