"""Reports of a run of the model, as tests make them up."""

from __future__ import annotations

from dataclasses import dataclass

from migrate_lint.linter.finding import Evidence, Finding, Target, Verdict


@dataclass(frozen=True)
class Phase:
    name: str
    outcome: str
    seconds: float
    detail: str


@dataclass(frozen=True)
class WorkerRun:
    target: Target = Target.KERAS3
    device: str = "CPU:0"
    tensorflow: str = "2.21.0"
    keras: str = "3.15.1"
    python: str = "3.11.7"
    phases: tuple[Phase, ...] = ()
    scopes: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    cause: str | None = None
    seconds: float = 5.5
    peak_memory: int = 600_000_000


@dataclass(frozen=True)
class Report:
    findings: tuple[Finding, ...]
    added: tuple[Finding, ...] = ()
    runs: tuple[WorkerRun, ...] = (WorkerRun(),)


def evidence(verdict: Verdict, detail: str = "", phase: str = "second call") -> Evidence:
    return Evidence(Target.KERAS3, "CPU:0", phase, verdict, detail)
