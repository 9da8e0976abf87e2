"""How phases are run, one after the other, and what they leave behind, as the host reads it."""

from __future__ import annotations

import os
import re
import time
from typing import Any, Callable

from . import steps
from .errors import cause_of, essence, one_line
from .judge import report, take_snapshots
from .lines import Lines
from .phases import NotRunError, Phase
from .run import Run
from .target import TargetError, if_factory
from .under_strategy import reason

__all__ = ["Execution"]

_GRAPH_ONLY = re.compile(r"eager execution|[Ee]xecuting eagerly|[Ee]ager mode")
"""What TensorFlow says where it is asked for something of graphs without one."""


class Execution:
    """Runs phases of a run, and keeps what happened in them."""

    def __init__(self, run: Run, lines: Lines) -> None:
        self.run = run
        self.lines = lines

    def begin(self, phase: Phase) -> None:
        """Called before each phase."""

    def blame(self, failed: Phase) -> None:
        """Say of the phases that were not run why, if all of them needed one that failed."""
        for phase in self.run.phases:
            if failed.error is not None and phase.outcome == "not run":
                phase.detail = f"{failed} failed: {failed.detail}"

    def do(self, phase: Phase, body: Callable[[], None]) -> None:
        """Run a phase to its end, whatever that is."""
        run = self.run
        phase.follow_up = any(
            earlier.ok and earlier.mode == phase.mode and earlier.scope is None for earlier in run.of_kind(phase.kind)
        )
        self.begin(phase)
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
        if phase.outcome == "failed" and phase.kind == "call" and phase.traced:
            phase.only_traced = steps.works_eagerly(run, phase)
        phase.ran = self.lines.take()
        phase.seconds = time.time() - began
        take_snapshots(run, phase)

    def lines_run(self) -> list[Any]:
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

    def found(self, running: Phase | None) -> dict[str, Any]:
        """What is known so far, as the host reads it."""
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
    if error is not None and run.job["strategy"] is not None and reason(essence(error)):
        remedies.append(reason(essence(error)))
    return "; ".join([phase.detail, *remedies])


def _failure(run: Run, phase: Phase, error: BaseException) -> str:
    text = one_line(error if isinstance(error, TargetError) else essence(error))
    if phase.frames:
        text += f" ({os.path.basename(phase.frames[0].path)}:{phase.frames[0].line})"
    if isinstance(error, SystemExit):
        text = f"the program would end the process: {text}"
    cause = cause_of(error)
    if cause is not None:
        text += f", from {one_line(essence(cause))}"
    others = (one.outcome for one in run.of_kind("call") if one.traced == phase.traced and not one.batch)
    if phase.batch and "failed" not in others:
        text += "; the run doubled each input for this call, which the program may not be meant for"
    if phase.aside and essence(error) not in run.raised_by_calls():
        text += f"; {phase.aside}"
    limit = run.job["memory_limit"]
    if limit and (isinstance(error, MemoryError) or "ResourceExhausted" in type(error).__name__):
        text += f"; --memory-limit is {limit / 2**30:g} GiB"
    return text
