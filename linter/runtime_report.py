"""What a run of the model hands back, as plain data: its maker and its readers share nothing else."""

from __future__ import annotations

from dataclasses import dataclass

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
