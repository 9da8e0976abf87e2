"""Plain frozen data that every stage hands on: findings, fixes and edits.

Nothing here knows how a finding was made or how it is shown.
Lines and columns are 1-based; a column counts Unicode characters; ends are exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad a hazard is: an error crashes or is silently wrong."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Consequence(StrEnum):
    """What the hazard does to a migrated program."""

    BREAKS = "breaks"
    """It raises, where not always, then under `fit` or in a trace."""
    CHANGES = "changes"
    """It silently does something else, and nothing raises."""
    LEGACY = "legacy"
    """It works today, through compat.v1."""


class Effort(StrEnum):
    """What it takes to mend a finding, as a rule of thumb for planning."""

    MECHANICAL = "mechanical"
    """Another name, import or keyword."""
    LOCAL = "local"
    """A change within a function or a class."""
    THOUGHT = "thought"
    """The program is to be built in another way, or a person has to say what it should compute."""


class Applicability(StrEnum):
    """Whether a fix may be applied without a person reading it."""

    SAFE = "safe"
    """It cannot change what the program computes on the target, or restores what TF1 computed."""
    UNSAFE = "unsafe"
    """A person has to look at it, and the fix says why; applied where that was asked for."""
    DISPLAY = "display"
    """It is shown, and never applied."""


class Target(StrEnum):
    """Which of the two TF2s a program is moved to.

    ``KERAS3`` is the default of TF >= 2.16; ``KERAS2`` is TF <= 2.15, or tf_keras with ``TF_USE_LEGACY_KERAS=1``.
    """

    KERAS2 = "keras2"
    KERAS3 = "keras3"


class Verdict(StrEnum):
    """What a run of the model said of a finding."""

    CONFIRMED = "confirmed"
    """The hazard was observed."""
    FAILED = "failed"
    """The probe could not run; the detail says why."""
    UNREACHED = "unreached"
    """The run never came to the finding's line."""
    REFUTED = "refuted"
    """The line ran in every phase in which the hazard could show, and it did not occur."""
    STATIC_ONLY = "static-only"
    """No probe can decide this rule."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one run said of a finding.

    ``device`` is a logical device such as ``CPU:0``; ``phase`` is the part of the run, such as ``second call``.
    """

    target: Target
    device: str
    phase: str
    verdict: Verdict
    detail: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two positions; lines end in a single newline."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together: all are applied or none.

    They are in source order and do not overlap; `reason` says what a person has to look at, and is empty where the fix
    is safe.
    """

    applicability: Applicability
    edits: tuple[Edit, ...]
    reason: str = ""


class Via(StrEnum):
    """By which way fixes lead a program to TF2."""

    NATIVE = "native"
    """Rule by rule, to what TF2 has."""
    COMPAT_V1 = "compat.v1"
    """As a whole, to a TF1 program that runs under TF2."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A file on its way through compat.v1: what makes it run so, None where nothing is to be changed.

    ``notes`` are lines, and what a person has to know of them.
    """

    fix: Fix | None
    notes: tuple[tuple[int, str], ...] = ()


class Span(NamedTuple):
    """First and last line, both included."""

    first: int
    last: int


class Statement(NamedTuple):
    """The lines of a statement; those of its header alone end at ``header``, if it is a compound one."""

    first: int
    header: int
    last: int


class Location(NamedTuple):
    """Another place that a finding speaks of, and what is there, in words."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One hazard at one place.

    ``path`` is relative to the working directory with ``/``, or absolute where the file lies outside it.
    ``statement`` is the innermost one that it stands in, ``function`` the function around it, decorators included;
    a finding about a whole file or in a notebook has neither, and none in a notebook has ``related`` ones.
    ``subject`` is the attribute (``self.v``), variable or symbol meant; a symbol is a dotted public name, as Python
    would look it up.
    ``verdict`` and ``evidence`` are those of a run of the model: without one there is neither.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    slug: str
    severity: Severity
    consequence: Consequence
    message: str
    fix: Fix | None = None
    origin: str = "static"
    cell: int | None = None
    statement: Statement | None = None
    function: Span | None = None
    subject: str | None = None
    related: tuple[Location, ...] = ()
    verdict: Verdict | None = None
    evidence: tuple[Evidence, ...] = ()
    effort: Effort = Effort.THOUGHT

    @property
    def sort_key(self) -> tuple[str, int, int, int, str, str]:
        """Path, cell, line, column, code: the order of every report."""
        return (self.path, -1 if self.cell is None else self.cell, self.line, self.column, self.code, self.message)


FindingKey = tuple[str, int, int, str]
"""A finding's path, line, column and code."""


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """A kind of finding of the tool itself (TF9xx): about a file, a comment, a run of the model or a crash."""

    code: str
    slug: str
    severity: Severity
    consequence: Consequence

    def at(
        self,
        path: str,
        message: str,
        line: int = 1,
        column: int = 1,
        end_line: int | None = None,
        end_column: int | None = None,
    ) -> Finding:
        """Make the finding; without an end it spans one character."""
        return Finding(
            path=path,
            line=line,
            column=column,
            end_line=line if end_line is None else end_line,
            end_column=column + 1 if end_column is None else end_column,
            code=self.code,
            slug=self.slug,
            severity=self.severity,
            consequence=self.consequence,
            message=message,
        )


UNPARSABLE_FILE = ToolFinding("TF900", "unparsable-file", Severity.ERROR, Consequence.BREAKS)
UNUSED_SUPPRESSION = ToolFinding("TF901", "unused-suppression", Severity.WARNING, Consequence.LEGACY)
PYTHON2_SOURCE = ToolFinding("TF902", "python2-source", Severity.ERROR, Consequence.BREAKS)
PROBE_ONLY_FINDING = ToolFinding("TF907", "probe-only-finding", Severity.ERROR, Consequence.CHANGES)
PROBE_FAILED = ToolFinding("TF908", "probe-failed", Severity.WARNING, Consequence.BREAKS)
HARMFUL_FIX = ToolFinding("TF910", "harmful-fix", Severity.ERROR, Consequence.CHANGES)
INTERNAL_ERROR = ToolFinding("TF909", "internal-error", Severity.ERROR, Consequence.BREAKS)
