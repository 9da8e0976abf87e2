"""What reports of `migrate-lint verify` say of findings: which stand where two programs part, or would cause it.

Both kinds of reports that hold places are read, JSON and HTML; nothing in them is executed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any, NamedTuple

from ..finding import Finding
from ..result import Result, VerifyReport
from ..source.reading import read_bytes

_SIZE_LIMIT = 256 * 1024 * 1024


class VerifyReportError(Exception):
    """A report cannot be used; the text says which and why."""


class _Named(NamedTuple):
    """A place that a report names, with what it says there; ``code`` is that of a finding, where it names one."""

    path: str
    line: int
    code: str | None
    words: str


class Read(NamedTuple):
    """A report as it was read: ``status`` is the exit status of verify."""

    file: str
    name: str
    status: int
    verdict: str
    named: tuple[_Named, ...]


def read_report(file: str) -> Read:
    """Read a report.

    Raises:
        VerifyReportError: if it cannot be read, or is none.
    """
    try:
        text = read_bytes(file, _SIZE_LIMIT).decode("utf-8-sig")
    except OSError as error:
        raise VerifyReportError(f"{file}: the report cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise VerifyReportError(f"{file}: this is no report of verify: it is not UTF-8") from error
    is_page = text.lstrip().startswith("<")
    try:
        document = json.loads(_data_of(text) if is_page else text)
        named = _of_page(document) if is_page else _of_json(document)
        words = document["name"], document["status"], document["verdict"]
        if document.get("format", 1) != 1 or not isinstance(words[1], int):
            raise ValueError("its format is not one that is known")
        return Read(file, str(words[0]), words[1], str(words[2]), tuple(dict.fromkeys(named)))
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        asked = "; --output-format json or html of migrate-lint verify writes one"
        raise VerifyReportError(f"{file}: this is no report of verify{asked}") from error


class _Data(HTMLParser):
    """The text of the element that holds the data of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.is_data = False
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin with the element of that name."""
        self.is_data = tag == "script" and ("id", "data") in attrs

    def handle_endtag(self, tag: str) -> None:
        """End it."""
        self.is_data = False

    def handle_data(self, data: str) -> None:
        """Take its text."""
        if self.is_data:
            self.text += data


def _data_of(page: str) -> str:
    parser = _Data()
    parser.feed(page)
    parser.close()
    return parser.text


def _of_json(document: Mapping[str, Any]) -> Iterator[_Named]:
    first = document["first_divergence"]
    if first is not None:
        words = f"first divergence, rung {first['rung']}: {first['text']}"
        sides: list[Any] = [first["deviation"]["tf1_place"], first["deviation"]["tf2_place"]]
        operation = first.get("operation") or {}
        sides += [(operation.get(side) or {}).get("place") for side in ("tf1", "tf2")]
        yield from _at(sides, words)
    trial = document.get("trial") or {}
    if trial.get("outcome") == "found":
        for change in trial["changes"]:
            yield from _at([change["place"]], f"with this change both sides agree: {change['text']}")
    for cause in _standing(document["causes"]):
        words = _cause(cause)
        yield from _at([cause.get("tf1_place"), cause.get("tf2_place")], words)
        for finding in cause["findings"]:
            yield _Named(finding["path"], int(finding["line"]), finding["code"], words)


def _of_page(document: Mapping[str, Any]) -> Iterator[_Named]:
    first = document["first"]
    if first is not None:
        words = f"first divergence, rung {first['rung']}: {first['text']}"
        operation = first.get("operation") or {}
        sides = [first["tf1"], first["tf2"], operation.get("tf1"), operation.get("tf2")]
        yield from _at([_split(side[1]) for side in sides if side], words)
    for cause in _standing(document["causes"]):
        words = _cause(cause)
        yield from _at([_split(cause.get("tf1_place", "")), _split(cause["place"])], words)
        for place, code, *_ in cause["findings"]:
            yield from (_Named(path, line, code, words) for path, line in filter(None, [_split(place)]))


def _standing(causes: Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    return (cause for cause in causes if cause.get("tried") != "refuted")


def _cause(cause: Mapping[str, Any]) -> str:
    evidence = "".join(f": {one}" for one in cause["evidence"][:1])
    return f"{'cause' if cause.get('tried') == 'found' else 'possible cause'}, {cause['kind']}{evidence}"


def _split(place: str) -> tuple[str, int] | None:
    """``file:line`` as two; None for words such as ``no source line``."""
    path, _, line = place.rpartition(":")
    return (path, int(line)) if path and line.isdecimal() else None


def _at(places: Iterable[Sequence[Any] | None], words: str) -> Iterator[_Named]:
    for place in places:
        if place is not None:
            yield _Named(str(place[0]), int(place[1]), None, words)


def concerning(read: Read, result: Result) -> VerifyReport:
    """The report with the findings that stand at a place which it names; lines of notebooks are none.

    Paths in it are relative to the working folder, as those of verify are.
    """
    by_file: dict[str, list[Finding]] = {}
    for finding in result.findings:
        if finding.cell is None:
            by_file.setdefault(os.path.realpath(finding.path), []).append(finding)
    concerns: dict[tuple[str, int, int, str], str] = {}
    for named in read.named:
        for finding in by_file.get(os.path.realpath(named.path), ()):
            if _stands_at(finding, named):
                concerns.setdefault((finding.path, finding.line, finding.column, finding.code), named.words)
    return VerifyReport(os.path.abspath(read.file), read.name, read.status, read.verdict, concerns)


def _stands_at(finding: Finding, named: _Named) -> bool:
    """Python's line of an expression over several lines need not be the linter's: its statement decides."""
    if named.code is not None:
        return named.code == finding.code and named.line == finding.line
    first, last = finding.line, finding.end_line
    if finding.statement is not None:
        first, last = min(first, finding.statement.first), max(last, finding.statement.header)
    return first <= named.line <= last
