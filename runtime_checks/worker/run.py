"""What a probe sees: the findings, the phases, the events, the lines and the snapshots of one run."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Iterator, NamedTuple, Sequence, Tuple

from . import strategies
from .errors import essence
from .frames import Frame, UserCode, place_of
from .lines import EAGER, TRACE
from .phases import PENDING, STEPS, Phase
from .recorder import Event, Recorder

__all__ = [
    "CONFIRMED", "FAILED", "REFUTED", "STATIC_ONLY", "UNREACHED", "Judgement", "Run", "Snapshot", "StaticFinding"
]

CONFIRMED = "confirmed"
REFUTED = "refuted"
UNREACHED = "unreached"
FAILED = "failed"
STATIC_ONLY = "static-only"

Span = Tuple[int, int]
"""First and last line, both included."""


class Judgement(NamedTuple):
    """A verdict on one finding, the phase that decided it, if one did, and why.

    ``explains`` are the events that the finding accounts for, so that the run does not report them a second time.
    Without it, a confirmed finding accounts for every event at its statement of the kinds that its probe asked for.
    """

    verdict: str
    phase: Phase | None
    detail: str
    explains: Sequence[Event] | None = None


class Snapshot(NamedTuple):
    """What a probe saw at the end of a phase, or at that of the run, where ``phase`` is None."""

    phase: Phase | None
    value: Any


class StaticFinding:
    """A static finding, as the host describes it.

    ``statement`` spans the statement that the finding stands in (of a compound one its header), ``body`` that statement
    with everything below it, ``function`` the function around it, or None.
    ``subject`` is the attribute (``self.v``), variable or dotted public name that the finding is about, or None.
    """

    def __init__(self, described: dict[str, Any]) -> None:
        self.id = int(described["id"])
        self.code = str(described["code"])
        self.slug = str(described["slug"])
        self.path = str(described["path"])
        self.line = int(described["line"])
        self.end_line = int(described["end_line"])
        self.subject: str | None = described["subject"]
        first, header, last = map(int, described["statement"])
        self.statement = (first, header)
        self.body = (first, last)
        around = described["function"]
        self.function = None if around is None else (int(around[0]), int(around[1]))

    @property
    def called(self) -> str:
        """The last part of the public name that the finding is about, or an empty text."""
        return (self.subject or "").rpartition(".")[2]

    def holds(self, path: str, line: int, span: Span | None = None) -> bool:
        """Whether a place lies in the finding's statement, or in another span of its file."""
        first, last = self.statement if span is None else span
        return path == self.path and first <= line <= last

    def holds_first(self, frames: Sequence[Frame], span: Span | None = None) -> bool:
        """Whether the innermost frame, where there is one, lies there."""
        return bool(frames) and self.holds(frames[0].path, frames[0].line, span)


class Run:
    """One run of the user's program, on one target and device."""

    def __init__(self, job: dict[str, Any], code: UserCode, recorder: Recorder) -> None:
        self.job = job
        self.target = str(job["target"])
        self.device = str(job["device"] or "")
        self.strategy: Any = None
        """The ``tf.distribute.Strategy`` that the model is built and called under, if one was asked for."""
        self._own_strategies: list[str] = []
        """What strategies the program has made, which that of the run stands in for."""
        self.is_strict = False
        """Whether the run keeps TensorFlow from taking other devices for those that are not there."""
        self.findings = [StaticFinding(described) for described in job["findings"]]
        self.code = code
        self.recorder = recorder
        recorder.wanted = self.findings
        self.asked: set[str] = set()
        """The kinds of events that were asked for."""
        self.snapshots: dict[int, list[Snapshot]] = {finding.id: [] for finding in self.findings}
        """What the probes of the findings, by number, saw while the run went on, in order."""
        self.troubles: dict[int, Exception] = {}
        """What the last look of a finding's probe, by number, raised."""
        self.phases: list[Phase] = []
        self.scopes: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.module: Any = None
        self.built: Any = None
        """What ``build`` gave."""
        self.model: Any = None
        """What is called: what was built, or a method of it."""
        self.keeper: Any = None
        """What keeps the model's variables: the model, or the object that it is a method of; None for a function."""
        self.owners: dict[int, Any] = {}
        """What the program reads ``tf.function`` methods of while it builds, kept alive."""
        self.needed: list[str] = []
        """The parameters without defaults of a function that is called as the model."""
        self.sample: Any = None
        self.batch: Any = None
        """What a training step gets, by the command line or the program's ``example_batch``."""
        self.step: Any = None
        """A training step of a loop of the program's own."""
        self.outputs: dict[Any, Any] = {}
        """What the last eager call in each mode gave; that in training may be another structure."""

    def in_scope(self) -> Any:
        """The scope of the strategy, if there is one, which stands in for those that the program makes."""
        if self.strategy is None:
            return contextlib.nullcontext()
        import tensorflow as tf

        return strategies.under(tf, self.strategy, self._note_own)

    def _note_own(self, name: str, what: str) -> None:
        place = place_of(self.code.stack())
        where = "" if place is None else f" ({os.path.basename(place[0])}:{place[1]})"
        note = "`{}` of the program{} gives way to {}".format(name, where, self.job["strategy"]["text"])
        both = strategies.two_in_one(self._own_strategies, what, self.job["strategy"]["text"])
        self.notes += [one for one in (note, both) if one and one not in self.notes]

    def events(self, *kinds: str) -> list[Event]:
        """Everything of some kinds that was recorded, in order."""
        self.asked.update(kinds)
        return [event for event in self.recorder.events if event.kind in kinds]

    def of_kind(self, *kinds: str) -> list[Phase]:
        """The phases of some kinds, in order."""
        return [phase for phase in self.phases if phase.kind in kinds]

    def calls(self, *, traced: bool | None = None) -> list[Phase]:
        """The calls, in order; only those inside ``tf.function``, or only the eager ones, if `traced` says so."""
        return [phase for phase in self.of_kind("call") if traced in (None, phase.traced)]

    def raised_by_calls(self) -> list[str]:
        """What calls of the model raised, without any training."""
        return [essence(phase.error) for phase in self.calls() if phase.error is not None]

    def follow_ups(self) -> list[Phase]:
        """The calls, eager and traced, of a model that had been called in the same mode."""
        return [phase for phase in self.calls() if phase.follow_up]

    def fatal(self) -> Phase | None:
        """What leaves nothing to judge: that import or build failed, or the first of the calls, if none was ok."""
        needed = self.of_kind("import", "build")
        steps = [phase for phase in self.of_kind("call", *STEPS) if phase.scope is None]
        if not any(phase.ok for phase in steps):
            needed += steps
        failed = next((phase for phase in needed if phase.outcome == "failed"), None)
        if failed is not None or any(phase.detail == PENDING for phase in steps):
            return failed
        return next((phase for phase in needed if phase.kind == "call"), None)

    def events_at(self, finding: StaticFinding, kind: str, span: Span | None = None) -> list[Event]:
        """The events of a kind whose innermost user frame lies in the finding's statement, or in `span` of its file."""
        return [event for event in self.events(kind) if finding.holds_first(event.frames, span)]

    def contexts(self, finding: StaticFinding, phase: Phase, span: Span | None = None) -> set[str]:
        """The contexts (see `lines`) in which a line of the finding's statement, or of `span`, ran in a phase."""
        return {context for path, line, context in phase.ran if finding.holds(path, line, span)}

    def ran(self, finding: StaticFinding) -> list[Phase]:
        """The phases in which a line of the finding's statement ran."""
        return [phase for phase in self.phases if self.contexts(finding, phase)]

    def entered(self, finding: StaticFinding, phase: Phase) -> bool:
        """Whether a line of the function around the finding ran in a phase."""
        return bool(self.contexts(finding, phase, finding.function or finding.body))

    def errors_at(self, finding: StaticFinding, span: Span | None = None) -> Iterator[Phase]:
        """The failed phases whose error was raised in the finding's statement, or in `span` of its file."""
        for phase in self.phases:
            if phase.error is not None and finding.holds_first(phase.frames, span):
                yield phase

    def traced_lines(self, finding: StaticFinding) -> list[Phase]:
        """The phases in which the finding's statement ran while TensorFlow traced."""
        return [phase for phase in self.phases if TRACE in self.contexts(finding, phase)]

    def eager_lines(self, finding: StaticFinding) -> list[Phase]:
        """The phases in which the finding's statement ran eagerly."""
        return [phase for phase in self.phases if EAGER in self.contexts(finding, phase)]
