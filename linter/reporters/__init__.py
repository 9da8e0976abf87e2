"""How findings are shown, and how any text is made safe to show; `formats` has a module a format."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..finding import Evidence, Severity, Verdict

if TYPE_CHECKING:
    from ..finding import Finding
    from ..result import BaselineStatus, Coverage, Result, Runtime
    from ..runtime_report import LinesRun, WorkerRun

_FILES_SHOWN, _RANGES_SHOWN = 3, 8
"""Of the lines that a run did not come to."""
_COLORS = {
    "error": "31;1",
    "warning": "33;1",
    "info": "36;1",
    "bold": "1",
    "dim": "2",
    "code": "35",
    "confirmed": "31",
    "refuted": "32",
    "unreached": "33",
    "failed": "33",
    "static-only": "2",
}

_IN_WORDS = (Verdict.CONFIRMED, Verdict.REFUTED, Verdict.UNREACHED, Verdict.FAILED, Verdict.STATIC_ONLY)


COMMAND = r"^[^\S\n]*:|#(?=#\w*\[)|^(?:---|\+\+\+|~~~|\^\^\^)(?= )"
"""What CI servers take for a command in a log, up to the character that is to be written otherwise.

GitHub: ``::error::`` after blanks and ``##[error]`` anywhere, Azure ``##vso[``, TeamCity ``##teamcity[``, Buildkite
``--- ``. Those of GitLab and Travis hold control characters.
"""
_commands = re.compile(COMMAND)


def printable(text: str) -> str:
    r"""The text with control, format and unpaired surrogate characters written as escapes such as ``\x1b``.

    So is one character of whatever a CI server would take for a command of the line that the text begins.
    A file's name and its lines are a stranger's: raw, they could move the cursor, recolour or hide what was printed.
    """
    return text if text.isprintable() and _commands.search(text) is None else "".join(printable_characters(text))


def printable_characters(text: str) -> list[str]:
    """What `printable` writes for each character of a text."""
    shown = list(map(escape, text))
    for match in _commands.finditer(text):
        shown[match.end() - 1] = f"\\x{ord(text[match.end() - 1]):02x}"
    return shown


def escape(character: str) -> str:
    """A character as `printable` writes it, whatever stands around it."""
    if character.isprintable() or character in "\u00a0\u3000":
        return character
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if character in short:
        return short[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Paint:
    """Colours text, or leaves it as it is; `width` is the number of columns that it is shown in, None for any."""

    def __init__(self, enabled: bool, width: int | None = None) -> None:
        self.enabled = enabled
        self.width = width

    def __call__(self, text: str, style: str) -> str:
        """The text in a style: a severity, a verdict, ``bold``, ``dim`` or ``code``."""
        return f"\x1b[{_COLORS[style]}m{text}\x1b[0m" if self.enabled else text


def version() -> str:
    """The program's."""
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def header(finding: Finding, paint: Paint) -> str:
    """``path:line:col: CODE[slug] severity message``; a notebook's cell stands before the line."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    place = f"{printable(finding.path)}:{cell}{finding.line}:{finding.column}:"
    rule = f"{paint(finding.code, 'code')}[{finding.slug}]"
    return f"{paint(place, 'bold')} {rule} {paint(finding.severity.value, finding.severity.value)} " + printable(
        finding.message
    )


def said(evidence: Evidence, message: str, paint: Paint) -> str:
    """``confirmed (keras3, CPU:0, second call): <detail>``, without a detail that the finding's `message` gives."""
    place = ", ".join(filter(None, (evidence.target.value, evidence.device, evidence.phase)))
    detail = f": {printable(evidence.detail)}" if not message.startswith(evidence.detail) else ""
    return f"{paint(evidence.verdict.value, evidence.verdict.value)} ({printable(place)}){detail}"


def only_at_runtime(findings: Iterable[Finding]) -> int:
    """The number of hazards that no static finding is about; a run that failed is none."""
    from ..finding import PROBE_FAILED

    return sum(finding.origin == "runtime" and finding.code != PROBE_FAILED.code for finding in findings)


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """The number of findings of each severity, worst first."""
    found = Counter(finding.severity for finding in findings)
    return {severity.value: found[severity] for severity in Severity}


def summary(result: Result, paint: Paint) -> list[str]:
    """The closing lines: the number of findings and files, and what each project's target was taken from."""
    files = _plural(result.files, "file")
    lines = [f"{printable(folder)}: 0 files were found in this folder" for folder in result.empty]
    if result.findings:
        found = ", ".join(
            paint(_plural(number, severity), severity) for severity, number in counts(result.findings).items() if number
        )
        lines.append(f"Found {found} in {files}.")
    else:
        lines.append(f"{nothing_found(result)}.")
    if result.milder:
        lines.append(f"{_plural(result.milder, 'milder finding')} left out.")
    if result.status == 0 and result.coverage is not None and result.coverage.unresolved_calls:
        lines.append(_not_followed(result.coverage))
    if result.baseline is not None:
        lines += _of_baseline(result.baseline)
    if result.since is not None:
        since = result.since
        known = f"{since.known} known left out"
        lines.append(f"Since {printable(since.revision)} ({since.commit[:12]}): {since.new} new, {known}.")
    if result.runtime is not None:
        lines += _of_runs(result.runtime, only_at_runtime(result.findings), paint)
    several = len({project.root for project in result.projects}) > 1
    for project in result.projects:
        where = f"{printable(project.root)}: " if several else ""
        lines.append(paint(f"{where}target {project.target} ({printable(project.reason)})", "dim"))
    return lines


def nothing_found(result: Result) -> str:
    """What a run without findings means: what was not looked at has not passed."""
    if not result.files:
        return "Nothing was checked: 0 files were found"
    in_baseline = 0 if result.baseline is None else result.baseline.left
    in_revision = 0 if result.since is None else result.since.known
    passed = "No new findings" if in_baseline or in_revision else "All checks passed"
    if result.coverage is not None and not result.coverage.files and result.runtime is None:
        passed = "Nothing to check"
    if result.milder:
        passed = "Nothing that severe found"
    if failed := _failed_phases(result.runtime):
        those = "what shows only in it was" if failed == 1 else "what shows only in them was"
        passed = f"Nothing found, but {_plural(failed, 'phase')} of the run failed, and {those} not seen"
    return f"{passed}: {_plural(result.files, 'file')}{_reaching(result)}"


def coverage(result: Result) -> Iterator[str]:
    """How far the code was understood, so that silence can be told from a check."""
    found = result.coverage
    if found is None:
        return
    yield f"looked at: {_plural(result.files, 'file')}{_reaching(result)}, {result.unread} could not be read"
    yield (
        f"not resolved: {found.unresolved_calls} of {_plural(found.calls, 'call')} "
        f"({found.unresolved_traced_calls} of {found.traced_calls} in forward passes and traced code), "
        f"{found.unresolved_names} of {_plural(found.names, 'name')}, the values of {found.unresolved_values} more"
    )
    yield f"followed as far as callers are known: {_plural(found.parameter_calls, 'call')} of parameters"
    yield (
        f"names too long to follow: {found.long_names}; "
        f"star imports from other packages, of which any name may come: {found.foreign_stars}"
    )
    yield f"for other versions than the target's, or never reached: {_plural(found.dead_calls, 'call')}"


def _failed_phases(runtime: Runtime | None) -> int:
    return sum(phase.outcome == "failed" for run in (runtime.runs if runtime else ()) for phase in run.phases)


def _reaching(result: Result) -> str:
    if result.coverage is None:
        return ""
    number = result.coverage.files
    return f", {number or 'none'} of which {'reach' if number > 1 else 'reaches'} TensorFlow"


def _not_followed(found: Coverage) -> str:
    """What a run without errors and warnings says nothing of."""
    inside = f", {found.unresolved_traced_calls} of them in forward passes and traced code"
    return (
        f"Not followed: {found.unresolved_calls} of {_plural(found.calls, 'call')}"
        f"{inside if found.unresolved_traced_calls else ''}; --verbose tells what else was not resolved."
    )


def _of_baseline(status: BaselineStatus) -> Iterator[str]:
    """How many of the known findings are left, and what became of the others."""
    if status.action == "write":
        yield f"Baseline: {_plural(status.left, 'finding')} written to {printable(status.file)}."
        return
    unseen = f", {status.unseen} of them not looked at in this run" if status.unseen else ""
    yield f"Baseline: {status.left} of {status.initial} left{unseen}."
    if status.action == "prune":
        yield f"Baseline: {_plural(status.stale, 'stale entry', 'stale entries')} taken out."
    elif status.stale:
        stale = _plural(status.stale, "entry is", "entries are")
        yield f"Baseline: {stale} stale, --prune-baseline takes them out."


def _of_runs(runtime: Runtime, added: int, paint: Paint) -> Iterator[str]:
    left_out = {Verdict.REFUTED: " (left out)"} if runtime.trusted and runtime.verdicts[Verdict.REFUTED] else {}
    verdicts = ", ".join(f"{runtime.verdicts[one]} {one}{left_out.get(one, '')}" for one in _IN_WORDS)
    yield f"Runtime: {verdicts}; {added} found at runtime only."
    for run in runtime.runs:
        yield from _of_run(run, paint)


def _of_run(run: WorkerRun, paint: Paint) -> Iterator[str]:
    """The versions and the number of phases, then whatever is out of the ordinary, a line each."""
    libraries = "no TensorFlow" if run.tensorflow == "none" else f"TensorFlow {run.tensorflow}, Keras {run.keras}"
    versions = f"{libraries}, Python {run.python}"
    found = Counter(phase.outcome for phase in run.phases)
    ran = [
        _plural(found["ok"], "phase") + " ok",
        *(f"{found[one]} {one}" for one in ("failed", "cut short", "not run") if found[one]),
    ]
    what = f"{run.model}, {run.target}" if run.model else run.target
    yield printable(f"{what} on {run.device}: {versions}; {', '.join(ran)}")
    if run.cause is not None:
        yield f"    {paint('ended early', 'failed')}: {printable(run.cause)}"
    told = {f"{phase.name} failed: {phase.detail}" for phase in run.phases}
    ended: dict[tuple[str, str], list[str]] = {}
    for phase in run.phases:
        if phase.outcome == "failed" or (phase.outcome == "not run" and run.cause is None and phase.detail not in told):
            ended.setdefault((phase.outcome, phase.detail), []).append(phase.name)
    for (outcome, detail), names in ended.items():
        phases = printable(f"{', '.join(names)} {outcome}")
        yield f"    {paint(phases, 'failed' if outcome == 'failed' else 'dim')}: {printable(detail)}"
    for name, words in run.scopes:
        if words:
            yield printable(f"    {name}: {words}")
    if run.lines:
        yield from map(printable, _of_lines(run.lines))
    for note in run.notes:
        yield paint(printable(f"    {note}"), "dim")


def _of_lines(files: Sequence[LinesRun]) -> Iterator[str]:
    """How much of the files that were imported ran, and which lines of those that miss most did not."""
    total = sum(len(one.statements) for one in files)
    missed = sum(len(one.missed) for one in files)
    yield f"    lines run: {total - missed} of {total} with statements, in {_plural(len(files), 'file')}"
    least = sorted((one for one in files if one.missed), key=lambda one: (-len(one.missed), one.path))
    for one in least[:_FILES_SHOWN]:
        ranges = _ranges(one)
        more = f" and in {len(ranges) - _RANGES_SHOWN} more places" if ranges[_RANGES_SHOWN:] else ""
        yield f"    not run in {one.path}: {', '.join(ranges[:_RANGES_SHOWN])}{more}"
    if least[_FILES_SHOWN:]:
        yield f"    and lines of {_plural(len(least) - _FILES_SHOWN, 'more file', 'more files')}"


def _ranges(file: LinesRun) -> list[str]:
    """The lines that did not run; a range goes on as long as no line between ran."""
    found: list[tuple[int, int]] = []
    missed = set(file.missed)
    before = 0
    for line in file.statements:
        if line in missed:
            found[-1:] = [(found[-1][0], line)] if found and found[-1][1] == before else [*found[-1:], (line, line)]
        before = line
    return [f"{first}" if first == last else f"{first}-{last}" for first, last in found]


def _plural(number: int, noun: str, several: str | None = None) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {several or f'{noun}s'}"
