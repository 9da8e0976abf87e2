"""What makes a finding the same finding after its file was edited: its code, its place by name, and its text.

No line number takes part, so a finding keeps its fingerprint while code around it comes, goes or moves, when its
function moves within the file, when the file is renamed, and when whitespace, comments, plain quotes or trailing commas
change.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from ..finding import Finding, Severity
from ..source.parsing import SourceFile

_LONGEST = 240
"""Characters of a statement that stands for itself; in a longer one an edit elsewhere in it would count as one here."""

_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_TOKENS = re.compile(
    r"(?P<string>'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<blank>(?:\s|\\\n|#[^\n]*)+)|\\.",
    re.S,
)
_WORD = re.compile(r"\w")
_LAST_COMMA = re.compile(r",(?=[)\]}])")


@dataclass(frozen=True, slots=True)
class Identity:
    """What a finding is known by besides its path.

    ``scope`` is the dotted path of the classes and functions around it, empty at module level.
    ``statement`` is the normalized text of its statement, without the body of a compound one; ``marked`` that of what
    the finding marks. Both are empty where there is no text, as for a file that cannot be read.
    An ``info`` is known by what it marks alone: of a name that is used all over a file, rules tell once, at its first
    use, and any edit can make another use the first one.
    """

    code: str
    scope: str
    statement: str
    marked: str
    is_info: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """Code, scope and text, as far as they count: the text is the statement, or what is marked in a long one."""
        if self.is_info:
            return self.code, "", self.marked
        return self.code, self.scope, self.statement if len(self.statement) <= _LONGEST else self.marked


def fingerprints(findings: Sequence[Finding], source_of: Callable[[str], SourceFile | None]) -> list[str]:
    """A fingerprint for each finding, in their order: 32 hexadecimal digits, different within a file.

    It is made of the finding's `Identity.key` and its number among equal ones in its file.
    Equal code in two files has equal fingerprints: who needs them apart adds the path, see `digest`.

    Args:
        findings: of any files.
        source_of: the source of a file by its displayed path, None for one that cannot be read; `Result.source`.
    """
    identified = identities(findings, source_of)
    begun: dict[tuple[str, str, str], blake2b] = {}  # thousands may be equal, and their text long
    found = []
    for identity, number in zip(identified, _numbers(findings, identified), strict=True):
        key = identity.key
        if key not in begun:
            begun[key] = _hash(*key)
        found.append(_hash(str(number), after=begun[key]).hexdigest())
    return found


def digest(*parts: str) -> str:
    """32 hexadecimal digits for texts in their order."""
    return _hash(*parts).hexdigest()


def _hash(*parts: str, after: blake2b | None = None) -> blake2b:
    # Lengths keep ("ab", "c") and ("a", "bc") apart.
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    whole = blake2b(digest_size=16) if after is None else after.copy()
    whole.update(joined.encode("utf-8", "surrogatepass"))
    return whole


def identities(findings: Iterable[Finding], source_of: Callable[[str], SourceFile | None]) -> list[Identity]:
    """What each finding is known by, in their order; each file is read and parsed once."""
    files: dict[str, _Text] = {}
    found = []
    for finding in findings:
        if finding.path not in files:
            files[finding.path] = _Text(source_of(finding.path))
        found.append(files[finding.path].identity(finding))
    return found


def normalized(text: str) -> str:
    """Code without what has no meaning: comments, whitespace, the kind of plain quotes, commas before a bracket."""
    parts: list[str] = []
    done = 0
    for match in _TOKENS.finditer(text):
        parts.append(text[done : match.start()])
        done = match.end()
        if match["string"] is not None:
            parts.append(_quoted(match["string"]))
        elif match["blank"] is None:
            parts.append(match[0])
        elif _WORD.match(text[match.start() - 1 : match.start()]) and _WORD.match(text[done : done + 1]):
            parts.append(" ")
    parts.append(text[done:])
    return _LAST_COMMA.sub("", "".join(parts))


def _quoted(string: str) -> str:
    body = string[1:-1]
    return (
        f'"{body}"' if string[0] == "'" and not string.startswith("'''") and not re.search(r"[\\\"']", body) else string
    )


def _numbers(findings: Sequence[Finding], found: Sequence[Identity]) -> list[int]:
    """How many equal findings stand before each in its file, whatever the order of `findings`."""
    numbers = [0] * len(findings)
    seen: Counter[tuple[str, tuple[str, str, str]]] = Counter()
    for index in sorted(range(len(findings)), key=lambda index: findings[index].sort_key):
        key = findings[index].path, found[index].key
        numbers[index] = seen[key]
        seen[key] += 1
    return numbers


class _Unit(NamedTuple):
    """A statement, a header of one, a decorator or an `except` or `case`; lines are 1-based, columns 0-based."""

    line: int
    column: int
    end_line: int
    end_column: int
    scope: str


class _Text:
    """One file's text, cut into units; of a notebook, the text of its code as one module."""

    def __init__(self, source: SourceFile | None) -> None:
        self.notebook = None if source is None else source.notebook
        self.texts = {} if source is None else source.texts
        self.lines = [] if source is None else source.lines
        self.units = [] if source is None else sorted(self._units(source.text))
        self.starts = [unit[:2] for unit in self.units]
        self.statements: dict[int, str] = {}  # many findings may stand in one long statement, or line
        self.written: dict[tuple[int | None, int], str] = {}

    def identity(self, finding: Finding) -> Identity:
        """What a finding in this text is known by."""
        place, is_info = finding, finding.severity is Severity.INFO
        if self.notebook is not None:
            finding = self.notebook.places.in_module(finding)
        start = finding.line, finding.column - 1
        index = bisect_right(self.starts, start) - 1
        if index < 0 or self.units[index][2:4] <= start:
            # A comment, or a file or cell that does not parse.
            written = self._written(place)
            return Identity(finding.code, self.units[index].scope if index >= 0 else "", written, written, is_info)
        unit = self.units[index]
        end = unit[2:4]
        if index + 1 < len(self.units):
            end = min(end, self.starts[index + 1])
        marked_end = min(end, (finding.end_line, finding.end_column - 1))
        if index not in self.statements:
            self.statements[index] = normalized(self._between(unit[:2], end))
        marked = normalized(self._between(start, marked_end))
        return Identity(finding.code, unit.scope, self.statements[index], marked, is_info)

    def _written(self, finding: Finding) -> str:
        """The line as its author wrote it, empty where there is none; blanks count once."""
        place = finding.cell, finding.line
        if place not in self.written:
            lines = self.texts.get(finding.cell, ())
            self.written[place] = " ".join(lines[finding.line - 1].split()) if 0 < finding.line <= len(lines) else ""
        return self.written[place]

    def _between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        (first, column), (last, end_column) = start, end
        if first == last:
            return self.lines[first - 1][column:end_column]
        rest = self.lines[first : last - 1]
        return "\n".join([self.lines[first - 1][column:], *rest, self.lines[last - 1][:end_column]])

    def _units(self, text: str) -> Iterator[_Unit]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        waiting: list[tuple[Sequence[ast.AST], str]] = [(tree.body, "")]
        while waiting:
            nodes, scope = waiting.pop()
            for node in nodes:
                yield from self._of_node(node, scope)
                inner = scope
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    inner = f"{scope}.{node.name}" if scope else node.name
                waiting += [(getattr(node, field), inner) for field in _BODIES if getattr(node, field, None)]

    def _of_node(self, node: ast.AST, scope: str) -> Iterator[_Unit]:
        for decorator in getattr(node, "decorator_list", ()):
            yield self._unit(decorator, decorator, scope)
        # A case has no position of its own.
        if isinstance(node, ast.match_case):
            yield self._unit(node.pattern, node.body[-1], scope)
        else:
            yield self._unit(node, node, scope)

    def _unit(self, first: ast.AST, last: ast.AST, scope: str) -> _Unit:
        line, end_line = first.lineno, last.end_lineno  # type: ignore[attr-defined]
        column, end_column = first.col_offset, last.end_col_offset  # type: ignore[attr-defined]
        return _Unit(line, self._characters(line, column), end_line, self._characters(end_line, end_column), scope)

    def _characters(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        if text.isascii():
            return offset
        return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))
