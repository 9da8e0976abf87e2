"""What a run found, as plain data: what every report is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .finding import INTERNAL_ERROR, Conversion, Finding, FindingKey, Severity, Target, Verdict
from .registry import registry
from .runtime_report import WorkerRun
from .source.parsing import SourceFile
from .source.reading import read_source


@dataclass(frozen=True, slots=True)
class Runtime:
    """What is told of a run besides its findings.

    ``verdicts`` counts those of the static findings, whether they are still reported or not; with ``trusted`` the
    refuted ones are not.
    """

    runs: tuple[WorkerRun, ...]
    verdicts: Mapping[Verdict, int]
    trusted: bool


@dataclass(frozen=True, slots=True)
class BaselineStatus:
    """How far a project has come: of ``initial`` findings ``left`` are still there.

    ``stale`` are in the file and were not found again, ``unseen`` are among those left: their files or rules were not
    looked at. ``action`` is what was done with the file.
    ``history`` has the days on which writing or pruning changed it, as in ISO 8601, with what was left then; ``damage``
    says what in it does not count, as it is no such day, each with file and line.
    """

    file: str
    initial: int
    left: int
    stale: int
    unseen: int
    action: str
    history: tuple[tuple[str, int], ...] = ()
    damage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RevisionStatus:
    """A comparison with a revision: of the findings of a run ``new`` are new and ``known`` are not."""

    revision: str
    commit: str
    new: int
    known: int


@dataclass(frozen=True, slots=True)
class LintedProject:
    """The files of a run that belong together: one index, one target."""

    root: str
    target: Target
    reason: str
    files: int


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """A report of ``migrate-lint verify``: its absolute path, what it says, and what it says of which findings.

    ``status`` is the exit status of verify: 0 equal, 1 differs, 3 vacuous or not comparable, 4 a side ended early.
    """

    file: str
    name: str
    status: int
    verdict: str
    concerns: Mapping[FindingKey, str]


@dataclass(frozen=True, slots=True)
class Team:
    """What a team's page shows besides the findings.

    ``owners`` are those of each file with findings, by its displayed path, as ``owners_file`` says; None without one.
    ``template`` is that of the addresses of findings; see `settings.link_template`.
    ``left_to_hand`` holds path and code of findings whose fixes the configuration leaves out.
    ``folder`` is where the page will lie, None where that is not known.
    """

    owners: Mapping[str, tuple[str, ...]] | None = None
    owners_file: str = ""
    template: str = ""
    reports: tuple[VerifyReport, ...] = ()
    left_to_hand: frozenset[tuple[str, str]] = frozenset()
    folder: str | None = None


class Coverage(NamedTuple):
    """How far the code was understood: what could not be resolved was not checked, and is silent for that reason."""

    files: int = 0
    """That reach TensorFlow and were analyzed."""
    calls: int = 0
    unresolved_calls: int = 0
    """Of what they call nothing is known: no rule sees into it."""
    parameter_calls: int = 0
    """Of a parameter, or of an attribute of one: followed as far as its callers are known."""
    traced_calls: int = 0
    """In forward passes and in code that TensorFlow traces."""
    unresolved_traced_calls: int = 0
    names: int = 0
    """That are read, with their attributes."""
    unresolved_names: int = 0
    """That nothing in the file binds."""
    unresolved_values: int = 0
    """Names of variables and attributes whose value is not known to be anything that a rule speaks of."""
    long_names: int = 0
    """Unresolved since they stand for more characters than are followed."""
    foreign_stars: int = 0
    """Star imports from other packages, of which any name may come."""
    dead_calls: int = 0
    """In code that runs on other versions than the target's, by a test that was evaluated, or that nothing reaches."""

    @classmethod
    def total(cls, parts: Iterable[Coverage]) -> Coverage:
        """That of several files together."""
        return cls(*map(sum, zip(*parts, strict=True)))


@dataclass(frozen=True)
class Result:
    """What a run found, in the order of every report.

    ``files`` counts those that were looked at, failed ones included; ``empty`` are given folders without any.
    ``hidden`` are findings that were not selected or that a comment suppresses.
    ``digests`` are those of the bytes that files with findings were linted as, by their displayed paths.
    ``found_for`` says which targets a finding of a rule, hidden or not, was found for.
    ``runtime`` is what a run of the model told besides its findings, None where none was asked for; so are
    ``baseline`` and ``since`` of what a baseline and a revision hide.
    ``coverage`` says how far the code was understood, ``unread`` how many files could not be read or parsed;
    ``not_followed`` has the number of unresolved calls of each file that has some.
    """

    findings: tuple[Finding, ...]
    files: int
    projects: tuple[LintedProject, ...]
    empty: tuple[str, ...] = ()
    sources: Mapping[str, tuple[str, bytes | None]] = field(default_factory=dict, repr=False)
    hidden: tuple[Finding, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict, repr=False)
    found_for: Mapping[FindingKey, frozenset[Target]] = field(default_factory=dict, repr=False)
    runtime: Runtime | None = None
    baseline: BaselineStatus | None = None
    since: RevisionStatus | None = None
    coverage: Coverage | None = None
    unread: int = 0
    not_followed: Mapping[str, int] = field(default_factory=dict, repr=False)
    conversions: Mapping[str, Conversion] = field(default_factory=dict, repr=False)
    """How files run through compat.v1, by their displayed paths, where that was asked for."""
    team: Team | None = None
    """What was asked for beside the findings by formats that are for teams."""
    milder: int = 0
    """Findings that are left out since they are less severe than was asked for."""
    selected: Callable[[str], frozenset[str]] = field(
        default=lambda path: frozenset(registry.codes()), repr=False, compare=False
    )
    """The codes that are reported for an absolute path."""

    @property
    def status(self) -> int:
        """0 clean, 1 warnings or errors, 2 if a rule crashed."""
        if any(finding.code == INTERNAL_ERROR.code for finding in self.findings):
            return 2
        return int(any(finding.severity is not Severity.INFO for finding in self.findings))

    def source(self, path: str) -> SourceFile | None:
        """The source of a file by its displayed path, if it can be read and is what was linted."""
        if path not in self.sources:
            return None
        source = read_source(Path(self.sources[path][0]), path, self.sources[path][1])
        if not isinstance(source, SourceFile) or source.digest != self.digests.get(path, source.digest):
            return None
        return source

    @property
    def runs(self) -> tuple[WorkerRun, ...]:
        """The workers that ran the model."""
        return () if self.runtime is None else self.runtime.runs
