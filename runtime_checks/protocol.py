"""What the host tells a worker, and what a worker may answer: the JSON keys of a job and of its results, in one place.

The model runs in the worker's process, so nothing of an answer is taken for granted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from ..linter.finding import Finding, Severity, Target, Verdict
from ..linter.runtime_report import LinesRun, PhaseOutcome
from .locate import Located

__all__ = ["Failure", "Judged", "Observed", "Results", "ResultsError", "job", "results"]

_LONGEST_TEXT = 1 << 16
_MOST = 100_000
"""Entries of a list."""
_LARGEST_LINE = 1 << 31
_LONGEST = 1e9
"""Seconds."""
_OUTCOMES = ("not run", "ok", "failed", "cut short", "running")
_T = TypeVar("_T")
_Kind = TypeVar("_Kind", Severity, Verdict)


def job(
    *,
    target: Target,
    device: str | None,
    strategy: Mapping[str, Any] | None = None,
    located: Located,
    notebook: Mapping[str, Any] | None = None,
    arguments: Sequence[str] = (),
    method: str | None = None,
    inputs: Mapping[str, str] | None = None,
    batch: Mapping[str, str] | None = None,
    step: Mapping[str, str] | None = None,
    shapes: Sequence[Sequence[int | None]],
    dtypes: Sequence[str],
    roots: Sequence[str],
    memory_limit: int | None,
    findings: Sequence[tuple[int, str, Finding]],
) -> dict[str, Any]:
    """A worker's job as JSON data.

    Args:
        target: which Keras ``tf.keras`` is to be.
        device: such as ``CPU:1``; None leaves placement to TensorFlow.
        strategy: as `strategies.parse` gives it, or None.
        located: what to run.
        notebook: ``text`` of a notebook's cells as one module, and the lines where its ``cells`` begin, or None.
        arguments: the program's own.
        method: of the model, to be called in its place, or None.
        inputs: ``file`` and ``name`` of sample inputs, or None.
        batch: likewise of what a training step gets.
        step: likewise of a training step.
        shapes: sample inputs by shape; None is an unknown dimension.
        dtypes: their dtypes by name.
        roots: folders whose files are the user's.
        memory_limit: bytes of address space, None for no limit.
        findings: number, real path and finding, of what is to be judged.
    """
    return {
        "target": target.value,
        "device": device,
        "strategy": strategy and dict(strategy),
        "file": located.file,
        "module": located.module,
        "attribute": located.attribute,
        "search_path": list(located.search_path),
        "notebook": notebook and dict(notebook),
        "arguments": list(arguments),
        "method": method,
        "inputs": inputs and dict(inputs),
        "batch": batch and dict(batch),
        "step": step and dict(step),
        "shapes": [list(shape) for shape in shapes],
        "dtypes": list(dtypes),
        "roots": list(roots),
        "files": sorted({path for _, path, _ in findings} | ({located.file} if located.file else set())),
        "memory_limit": memory_limit,
        "findings": [
            {
                "id": number,
                "code": finding.code,
                "slug": finding.slug,
                "path": path,
                "line": finding.line,
                "end_line": finding.end_line,
                "statement": finding.statement or (finding.line, *[max(finding.line, finding.end_line)] * 2),
                "function": finding.function,
                "subject": finding.subject,
            }
            for number, path, finding in findings
        ],
    }


class ResultsError(ValueError):
    """A worker's results are not what a worker writes; the text says what is wrong."""


class Judged(NamedTuple):
    """What the run says of a finding; the phase is empty where none decided."""

    verdict: Verdict
    phase: str
    detail: str


class Observed(NamedTuple):
    """What only the run could find; ``callers`` are the files and lines that led there, the innermost first."""

    kind: str
    path: str | None
    line: int
    callers: tuple[tuple[str, int], ...]
    severity: Severity
    phase: str
    message: str


class Failure(NamedTuple):
    """The phase that kept everything else from being judged, how it ended, why, and where.

    ``ended`` is an outcome of phases, or ``exited`` where the program would have ended the process.
    """

    phase: str
    ended: str
    detail: str
    path: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Results:
    """What a worker answered, as far as it came; ``judged`` is by the number of the finding."""

    versions: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""
    judged: Mapping[int, Judged] = field(default_factory=dict)
    phases: tuple[PhaseOutcome, ...] = ()
    scopes: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    observed: tuple[Observed, ...] = ()
    lines: tuple[LinesRun, ...] = ()
    fatal: Failure | None = None


def results(content: Mapping[str, Any], numbers: Sequence[int]) -> Results:
    """A worker's results.

    Args:
        content: what its file says.
        numbers: of the findings that it was to judge.

    Raises:
        ResultsError: if anything in there is of another type, kind or size than a worker writes.
    """
    known = {str(number): number for number in numbers}
    said = _dict(content.get("judgements", {}), "judgements")
    for number in said:
        if number not in known:
            raise ResultsError(f"judgements: there is no finding {_short(number)}")
    versions, fatal = content.get("versions", {}), content.get("fatal")
    return Results(
        versions={name: _text(value, "versions") for name, value in _dict(versions, "versions").items()},
        refused=_text(content.get("refused", ""), "refused"),
        judged={known[number]: _judged(value, f"judgements.{number}") for number, value in said.items()},
        phases=_list(content.get("phases", []), "phases", _phase),
        scopes=_list(content.get("scopes", []), "scopes", _scope),
        notes=_list(content.get("notes", []), "notes", _text),
        observed=_list(content.get("observations", []), "observations", _observed),
        lines=_list(content.get("lines", []), "lines", _lines),
        fatal=None if fatal is None else _fatal(fatal),
    )


def _wrong(value: object, where: str, what: str) -> ResultsError:
    return ResultsError(f"{where}: {_short(value)} is no {what}")


def _short(value: object) -> str:
    words = ascii(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return words if len(words) <= 60 else words[:60] + "..."


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(value, where, "text")
    if len(value) > _LONGEST_TEXT:
        raise ResultsError(f"{where}: a text has {len(value)} characters")
    return value.encode("utf-8", "backslashreplace").decode()


def _dict(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(value, where, "object")
    return value


def _list(value: object, where: str, one: Callable[[object, str], _T]) -> tuple[_T, ...]:
    if not isinstance(value, list):
        raise _wrong(value, where, "list")
    if len(value) > _MOST:
        raise ResultsError(f"{where}: a list has {len(value)} entries")
    return tuple(one(entry, f"{where}.{at}") for at, entry in enumerate(value))


def _fields(value: object, where: str, count: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != count:
        raise _wrong(value, where, f"list of {count}")
    return value


def _line(value: object, where: str) -> int:
    if type(value) is not int or not 0 <= value < _LARGEST_LINE:
        raise _wrong(value, where, "line")
    return value


def _path(value: object, where: str) -> str | None:
    if value is None:
        return None
    path = _text(value, where)
    try:
        os.fsencode(path)
    except ValueError as error:
        raise _wrong(value, where, "path") from error
    if "\0" in path or not path:
        raise _wrong(value, where, "path")
    return path


def _member(value: Any, where: str, kinds: type[_Kind]) -> _Kind:
    try:
        return kinds(value)
    except ValueError as error:
        raise _wrong(value, where, kinds.__name__.lower()) from error


def _judged(value: object, where: str) -> Judged:
    verdict, phase, detail = _fields(value, where, 3)
    return Judged(_member(verdict, where, Verdict), _text(phase, where), _text(detail, where))


def _phase(value: object, where: str) -> PhaseOutcome:
    name, outcome, seconds, detail = _fields(value, where, 4)
    if outcome not in _OUTCOMES:
        raise _wrong(outcome, where, "outcome")
    if type(seconds) not in (int, float) or not 0 <= abs(seconds) < _LONGEST:  # a clock that was changed
        raise _wrong(seconds, where, "number of seconds")
    return PhaseOutcome(_text(name, where), outcome, seconds, _text(detail, where))


def _lines(value: object, where: str) -> LinesRun:
    path, statements, ran = _fields(value, where, 3)
    name = _path(path, where)
    if name is None:
        raise _wrong(path, where, "path")
    return LinesRun(name, _list(statements, where, _line), _list(ran, where, _in_phase))


def _in_phase(value: object, where: str) -> tuple[str, tuple[int, ...]]:
    phase, lines = _fields(value, where, 2)
    return _text(phase, where), _list(lines, where, _line)


def _scope(value: object, where: str) -> tuple[str, str]:
    name, said = _fields(value, where, 2)
    return _text(name, where), _text(said, where)


def _observed(value: object, where: str) -> Observed:
    found = _dict(value, where)
    return Observed(
        kind=_text(found.get("kind"), f"{where}.kind"),
        path=_path(found.get("path"), f"{where}.path"),
        line=_line(found.get("line"), f"{where}.line"),
        callers=_list(found.get("frames"), f"{where}.frames", _frame)[1:],
        severity=_member(found.get("severity"), f"{where}.severity", Severity),
        phase=_text(found.get("phase"), f"{where}.phase"),
        message=_text(found.get("message"), f"{where}.message"),
    )


def _frame(value: object, where: str) -> tuple[str, int]:
    path, line, _ = _fields(value, where, 3)
    return _text(path, where), _line(line, where)


def _fatal(value: object) -> Failure:
    phase, ended, detail, path, line = _fields(value, "fatal", 5)
    if ended not in (*_OUTCOMES, "exited"):
        raise _wrong(ended, "fatal", "outcome")
    return Failure(
        _text(phase, "fatal"), ended, _text(detail, "fatal"), _path(path, "fatal"), _line(line, "fatal")
    )
