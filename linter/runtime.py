"""What a run of the model hands back, as the linter reads it, and what is kept of it beside the findings.

The linter knows a report by its attributes alone: who makes one imports nothing of this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .finding import Finding, Target, Verdict

__all__ = ["Phase", "Report", "Runtime", "WorkerRun", "tally"]


class Phase(Protocol):
    """One part of a run, such as the second call."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def outcome(self) -> str:
        """``ok``, ``failed`` or ``not run``."""

    @property
    def seconds(self) -> float:
        """How long it took."""

    @property
    def detail(self) -> str:
        """Why it failed or was not run."""


class WorkerRun(Protocol):
    """One worker process: a target on a device."""

    @property
    def target(self) -> Target:
        """The TF2 that it was."""

    @property
    def device(self) -> str:
        """The logical device, such as ``CPU:0``."""

    @property
    def tensorflow(self) -> str:
        """The version, here and below."""

    @property
    def keras(self) -> str:
        """Of Keras 3, or of the Keras 2 that `tf.keras` was."""

    @property
    def python(self) -> str:
        """Of the worker's interpreter."""

    @property
    def phases(self) -> Sequence[Phase]:
        """In the order in which they ran."""

    @property
    def scopes(self) -> Sequence[tuple[str, str]]:
        """Names of the guides' scopes with what each of them said; empty for nothing."""

    @property
    def notes(self) -> Sequence[str]:
        """What the worker did to make the model run."""

    @property
    def cause(self) -> str | None:
        """Why it ended before its last phase."""

    @property
    def seconds(self) -> float:
        """How long it took."""

    @property
    def peak_memory(self) -> int:
        """Bytes."""


class Report(Protocol):
    """What all workers of a run found."""

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings that were handed in, each with its verdict."""

    @property
    def added(self) -> Sequence[Finding]:
        """Those that were found at runtime only."""

    @property
    def runs(self) -> Sequence[WorkerRun]:
        """One for each target and device."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What is told of a run besides its findings.

    ``verdicts`` counts those of the static findings, whether they are still reported or not; with ``trusted`` the
    refuted ones are not.
    """

    runs: tuple[WorkerRun, ...]
    verdicts: Mapping[Verdict, int]
    trusted: bool


def tally(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """The number of findings with each verdict, none left out."""
    found = Counter(finding.verdict for finding in findings)
    return {verdict: found[verdict] for verdict in Verdict}
