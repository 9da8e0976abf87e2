"""What a run of the model hands back, as plain data: its maker and its readers share nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .finding import Finding, Target


@dataclass(frozen=True, slots=True)
class PhaseOutcome:
    """A step of a run: how long it took in seconds, how it ended, and why it is not ``ok``.

    ``outcome`` is ``ok``, ``failed``, ``cut short`` (by a scope that refuses variables) or ``not run``.
    """

    name: str
    outcome: str
    seconds: float
    detail: str


@dataclass(frozen=True, slots=True)
class LinesRun:
    """The lines of a file on which statements begin, and those that ran in each phase, by its name."""

    path: str
    statements: tuple[int, ...]
    ran: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def missed(self) -> tuple[int, ...]:
        """The lines with statements that ran in no phase."""
        reached = {line for _, lines in self.ran for line in lines}
        return tuple(line for line in self.statements if line not in reached)


@dataclass(frozen=True, slots=True)
class WorkerRun:
    """What one worker did: on which target, device and versions, and how each phase ended.

    ``scopes`` pairs the name of each of the guides' scopes with what it said; ``notes`` is what the worker changed or
    chose; ``lines`` are what ran of the user's files, as far as those were imported; ``cause`` says why the worker
    ended early; ``seconds`` is wall time, ``peak_memory`` resident bytes; ``model`` says what was run, where one
    report is of several models.
    """

    target: Target
    device: str
    tensorflow: str
    keras: str
    python: str
    phases: tuple[PhaseOutcome, ...]
    scopes: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    lines: tuple[LinesRun, ...]
    cause: str | None
    seconds: float
    peak_memory: int
    model: str = ""


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """The given findings, each with a verdict; those that only the run could make; and the runs themselves."""

    findings: tuple[Finding, ...]
    added: tuple[Finding, ...]
    runs: tuple[WorkerRun, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a pair of programs, or a model, did with its files in one state.

    ``holds`` is whether it computed what it is to compute, ``ended`` whether it ran to its end; ``told`` says in words
    how it did not, or what was not looked at, and ``value`` names the first value that is not as it should be.
    ``places`` are files and lines where that may come from, the likeliest first; ``lines`` has the files that ran, by
    their real paths, as far as that is known: the lines on which statements begin, and those that ran.
    """

    holds: bool
    ended: bool
    told: str = ""
    value: str = ""
    places: tuple[tuple[str, int], ...] = ()
    lines: Mapping[str, tuple[frozenset[int], frozenset[int]]] = field(default_factory=dict)

    def statement(self, path: str, line: int) -> int:
        """The line on which the statement begins that a line belongs to; the line itself where none is known."""
        starts, _ = self.lines.get(path, (frozenset[int](), frozenset[int]()))
        return max((start for start in starts if start <= line), default=line)

    def reached(self, path: str, line: int) -> bool:
        """Whether the statement of a line ran; of a line before all statements, whether the file did."""
        starts, ran = self.lines.get(path, (frozenset[int](), frozenset[int]()))
        return bool(ran) and (line < min(starts) or self.statement(path, line) in ran)


Try = Callable[[Mapping[str, bytes]], Attempt]
"""Runs the programs with these contents in place of those of the files, by real paths."""
