"""What a probe sees: the findings, the phases, the events and the lines of one run."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Sequence, Tuple

from .frames import Frame, UserCode
from .lines import EAGER, TRACE
from .recorder import Event, Recorder

__all__ = ["CONFIRMED", "FAILED", "REFUTED", "STATIC_ONLY", "UNREACHED", "Finding", "Judgement", "Phase", "Run"]

CONFIRMED = "confirmed"
REFUTED = "refuted"
UNREACHED = "unreached"
FAILED = "failed"
STATIC_ONLY = "static-only"

Span = Tuple[int, int]
"""First and last line, both included."""


class Judgement(NamedTuple):
    """A verdict on one finding, the phase that decided it (or an empty string) and why."""

    verdict: str
    phase: str
    detail: str


class Finding:
    """A static finding, as the host describes it.

    ``statement`` spans the statement that the finding stands in (of a compound one its header), ``body`` that statement
    with everything below it, ``function`` the function around it, or None.
    ``symbol`` is the dotted public name that the finding is about, or None; ``text`` the source of the statement.
    """

    def __init__(self, described: dict[str, Any]) -> None:
        self.id = int(described["id"])
        self.code = str(described["code"])
        self.slug = str(described["slug"])
        self.path = str(described["path"])
        self.line = int(described["line"])
        self.end_line = int(described["end_line"])
        self.symbol: str | None = described["symbol"]
        self.text = str(described["text"])
        self.statement = _span(described["statement"])
        self.body = _span(described["body"])
        self.function = None if described["function"] is None else _span(described["function"])

    def holds(self, path: str, line: int, span: Span | None = None) -> bool:
        """Whether a place lies in the finding's statement, or in another span of its file."""
        first, last = self.statement if span is None else span
        return path == self.path and first <= line <= last


def _span(value: Sequence[int]) -> Span:
    return (int(value[0]), int(value[1]))


class Phase:
    """One step of the run.

    ``kind`` is ``import``, ``build``, ``call`` (eager), ``traced`` (inside ``tf.function``), ``fit`` or ``save``;
    ``mode`` is what ``training`` was given as, None where it was not given.
    ``follow_up`` says that the model had been called in this mode before, so that it has everything that it needs.
    ``scoped`` says that one of the guides' scopes may have cut the call short, so that its success shows nothing.
    ``outcome`` is ``not run``, ``ok`` or ``failed``, with the reason in ``detail``.
    """

    def __init__(self, name: str, kind: str, mode: bool | None = None) -> None:
        self.name = name
        self.kind = kind
        self.mode = mode
        self.follow_up = False
        self.scoped = False
        self.outcome = "not run"
        self.detail = "the run ended before it"
        self.seconds = 0.0
        self.error: BaseException | None = None
        self.frames: tuple[Frame, ...] = ()
        self.ran: set[tuple[str, int, str]] = set()

    @property
    def ok(self) -> bool:
        """Whether it ran to its end."""
        return self.outcome == "ok"


class Run:
    """One run of the user's program, on one target and device."""

    def __init__(self, job: dict[str, Any], code: UserCode, recorder: Recorder) -> None:
        self.job = job
        self.target = str(job["target"])
        self.device = str(job["device"] or "")
        self.findings = [Finding(described) for described in job["findings"]]
        self.code = code
        self.recorder = recorder
        self.phases: list[Phase] = []
        self.scopes: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.module: Any = None
        self.model: Any = None
        self.keeper: Any = None
        """What keeps the model's variables: the model, or the object that it is a method of; None for a function."""
        self.owners: dict[int, Any] = {}
        """What the program reads ``tf.function`` methods of while it builds, kept alive."""
        self.sample: Any = None
        self.output: Any = None

    @property
    def events(self) -> list[Event]:
        """Everything that was recorded, in order."""
        return self.recorder.events

    def phase(self, name: str) -> Phase:
        """The phase of that name."""
        return next(phase for phase in self.phases if phase.name == name)

    def of_kind(self, *kinds: str) -> list[Phase]:
        """The phases of some kinds, in order."""
        return [phase for phase in self.phases if phase.kind in kinds]

    def follow_ups(self) -> list[Phase]:
        """The calls, eager and traced, of a model that had been called in the same mode."""
        return [phase for phase in self.of_kind("call", "traced") if phase.follow_up]

    def events_at(self, finding: Finding, kind: str, span: Span | None = None) -> list[Event]:
        """The events of a kind whose innermost user frame lies in the finding's statement, or in `span` of its file."""
        return [event for event in self.events if event.kind == kind and self._is_at(finding, event, span)]

    @staticmethod
    def _is_at(finding: Finding, event: Event, span: Span | None) -> bool:
        return bool(event.frames) and finding.holds(event.frames[0].path, event.frames[0].line, span)

    def contexts(self, finding: Finding, phase: Phase, span: Span | None = None) -> set[str]:
        """The contexts (see `lines`) in which a line of the finding's statement, or of `span`, ran in a phase."""
        return {context for path, line, context in phase.ran if finding.holds(path, line, span)}

    def ran(self, finding: Finding) -> list[Phase]:
        """The phases in which a line of the finding's statement ran."""
        return [phase for phase in self.phases if self.contexts(finding, phase)]

    def entered(self, finding: Finding, phase: Phase) -> bool:
        """Whether a line of the function around the finding ran in a phase."""
        return bool(self.contexts(finding, phase, finding.function or finding.body))

    def errors_at(self, finding: Finding, span: Span | None = None) -> Iterator[Phase]:
        """The failed phases whose error was raised in the finding's statement, or in `span` of its file."""
        for phase in self.phases:
            if phase.error is not None and phase.frames:
                if finding.holds(phase.frames[0].path, phase.frames[0].line, span):
                    yield phase

    def traced_lines(self, finding: Finding) -> list[Phase]:
        """The phases in which the finding's statement ran while TensorFlow traced."""
        return [phase for phase in self.phases if TRACE in self.contexts(finding, phase)]

    def eager_lines(self, finding: Finding) -> list[Phase]:
        """The phases in which the finding's statement ran eagerly."""
        return [phase for phase in self.phases if EAGER in self.contexts(finding, phase)]
