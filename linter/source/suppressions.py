"""Comments that hide findings, and the judgement of those that hide nothing (TF901).

Four forms: ``# migrate-lint: disable=TF101,variable-in-call`` hides findings that begin or end on its line,
``# migrate-lint: disable-start=TF101`` those from its line to that of the next ``# migrate-lint: disable-end=TF101``,
``# migrate-lint: disable-file=TF101`` those of the whole file, and ``# noqa: TF101`` is read as by ruff and flake8.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from tokenize import COMMENT, TokenError, generate_tokens
from typing import Any

from ..finding import INTERNAL_ERROR, PROBE_FAILED, PYTHON2_SOURCE, UNPARSABLE_FILE, UNUSED_SUPPRESSION, Finding
from .parsing import SourceFile

_UNTOUCHABLE = frozenset({UNPARSABLE_FILE.code, PYTHON2_SOURCE.code, PROBE_FAILED.code, INTERNAL_ERROR.code})
"""Findings that no comment hides: without them, code that was not looked at would pass as clean."""

_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What stands between TF and the digits in the code of a rule that is not ours."""
_WHERE = {"file": "in this file", "start": "from here to its end"}
_DIGITS = str.maketrans("oil", "011")
"""Letters that are typed for digits."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One suppression comment.

    ``form`` is ``line``, ``start``, ``file``, ``noqa`` or ``malformed``; ``names`` are the codes and slugs as written,
    each with its 1-based column. A ``noqa`` without names is a blanket one. ``end`` is the last line of a ``start``.
    """

    form: str
    line: int
    column: int
    names: tuple[tuple[str, int], ...] = ()
    end: int = 0


@dataclass(frozen=True, slots=True)
class Suppressions:
    """The suppression comments of one file."""

    comments: tuple[Comment, ...] = ()

    def to_json(self) -> list[Any]:
        """Lists, strings and numbers only; empty for a file without such comments."""
        return [[c.form, c.line, c.column, [list(name) for name in c.names], c.end] for c in self.comments]

    @classmethod
    def from_json(cls, data: Iterable[Any]) -> Suppressions:
        """The inverse of `to_json`."""
        rows = ((form, line, column, tuple((n, at) for n, at in names), end) for form, line, column, names, end in data)
        return cls(tuple(Comment(*row) for row in rows))

    def apply(
        self,
        path: str,
        findings: Iterable[Finding],
        *,
        codes: Mapping[str, str],
        judged: Callable[[str], bool],
    ) -> list[Finding]:
        """Take out what is suppressed and add a TF901 for every code that suppresses nothing.

        Args:
            path: the file as reports show it.
            findings: those of this file.
            codes: every rule's code and slug.
            judged: whether a code was looked for in this file, so that not finding it means something.
        """
        findings = list(findings)
        if not self.comments:
            return findings
        by_slug = {slug: code for code, slug in codes.items()}
        whole = not any(finding.code in _UNTOUCHABLE for finding in findings)
        used: set[tuple[int, str]] = set()
        kept = self._hide(findings, by_slug, used)
        if not judged(UNUSED_SUPPRESSION.code):
            return kept
        unused = self._unused(path, codes, by_slug, used, judged if whole else lambda code: False)
        return kept + self._hide(list(unused), by_slug, used)

    def without_hidden(self, findings: Iterable[Finding], *, codes: Mapping[str, str]) -> list[Finding]:
        """The findings of this file that no comment hides; `codes` as for `apply`."""
        return self._hide(list(findings), {slug: code for code, slug in codes.items()}, set())

    def _hide(self, findings: list[Finding], by_slug: Mapping[str, str], used: set[tuple[int, str]]) -> list[Finding]:
        hiding: dict[tuple[int, str], list[tuple[int, str]]] = {}  # by line, 0 for the whole file, and code
        blanket: set[int] = set()
        blocks: dict[str, list[tuple[int, int, int, str]]] = {}  # of a code: first and last line, comment and name
        for index, comment in enumerate(self.comments):
            if comment.form == "noqa" and not comment.names:
                blanket.add(comment.line)
            elif comment.form == "start":
                for name, _ in comment.names:
                    block = comment.line, comment.end, index, name
                    blocks.setdefault(by_slug.get(name, name), []).append(block)
            elif comment.form != "malformed":
                line = 0 if comment.form == "file" else comment.line
                for name, _ in comment.names:
                    hiding.setdefault((line, by_slug.get(name, name)), []).append((index, name))
        kept = []
        for finding in findings:
            lines = {finding.line, finding.end_line} if finding.code not in _UNTOUCHABLE else ()
            hidden = not blanket.isdisjoint(lines)
            for place in ((line, finding.code) for line in (0, *lines) if lines):
                if place in hiding:
                    hidden = True
                    used.update(hiding[place])
                    hiding[place] = []
            around = blocks.get(finding.code, ()) if lines else ()
            last = bisect_right(around, finding.line, key=lambda block: block[0])
            for _, end, index, name in around[max(last - 2, 0) : last]:  # two overlap at most: by code and by slug
                if end >= finding.line:
                    hidden = True
                    used.add((index, name))
            if not hidden:
                kept.append(finding)
        return kept

    def _unused(
        self,
        path: str,
        codes: Mapping[str, str],
        by_slug: Mapping[str, str],
        used: set[tuple[int, str]],
        judged: Callable[[str], bool],
    ) -> Iterator[Finding]:
        suggestions: dict[str, str] = {}
        for index, comment in enumerate(self.comments):
            if comment.form == "malformed":
                message = (
                    "this comment suppresses nothing: write `# migrate-lint: disable=CODE`, `disable-file=CODE`, or "
                    "`disable-start=CODE` and, further down, `disable-end=CODE`"
                )
                yield UNUSED_SUPPRESSION.at(path, message, comment.line, comment.column)
            for name, column in comment.names:
                code = by_slug.get(name, name)
                if code not in codes:
                    if comment.form == "noqa" and not _is_ours(name):
                        continue
                    if name not in suggestions:
                        suggestions[name] = nearest(name, [*codes, *by_slug])
                    message = f"{name} is no rule{suggestions[name]}"
                elif (index, name) in used or code == UNUSED_SUPPRESSION.code or not judged(code):
                    continue
                else:
                    where = _WHERE.get(comment.form, "on this line")
                    message = f"the suppression of {name} hides nothing: there is no such finding {where}"
                yield UNUSED_SUPPRESSION.at(path, message, comment.line, column, None, column + len(name))


def nearest(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message, ``; did you mean TF101?``, or nothing."""
    from difflib import get_close_matches

    spelling = {candidate.lower(): candidate for candidate in known}
    as_code = word[:2].lower() + word[2:].lower().translate(_DIGITS)
    found = [as_code] if as_code in spelling else get_close_matches(word.lower(), spelling, n=1)
    return f"; did you mean {spelling[found[0]]}?" if found else ""


def _is_ours(name: str) -> bool:
    return name.startswith("TF") and name[2:3].isdigit()


def _may_be_known(name: str) -> bool:
    """Whether a rule can have this code; where none has, it may be another linter's."""
    return name.startswith("TF") and name[2:].lstrip(_CAPITALS)[:1].isdigit()


def find_suppressions(source: SourceFile) -> Suppressions:
    """Read the suppression comments of a file; text inside strings is none."""
    text = source.text
    if not any(mark in text for mark in ("migrate-lint:", "noqa", "NOQA", "NoQA")):
        return Suppressions()
    return _find(text)


def _find(text: str) -> Suppressions:
    if re.search(r"^[^#\n]*+#.*(?:migrate-lint:|noqa)", text, re.I | re.M) is None:
        return Suppressions()
    ours = re.compile(r"#\s*migrate-lint:(?P<rest>[^#]*)")
    disable = re.compile(r"\s*disable(?:-(?P<form>file|start|end))?\s*=\s*(?P<names>[\w-]+(?:\s*,\s*[\w-]+)*)")
    noqa = re.compile(r"#\s*noqa(?![\w-])(?:\s*:\s*(?P<names>[A-Za-z]+\d\w*(?:(?:\s*,\s*|\s+)[A-Za-z]+\d\w*)*))?", re.I)
    comments: list[Comment] = []
    for line, column, comment in _comments(text):
        for match in ours.finditer(comment):
            at = column + match.start()
            found = disable.match(comment, match.start("rest"))
            if found is None:
                comments.append(Comment("malformed", line, at))
                continue
            names = tuple(_names(found["names"], column + found.start("names")))
            comments.append(Comment(found["form"] or "line", line, at, names))
        for match in noqa.finditer(comment):
            at = column + match.start()
            if match["names"] is None:
                comments.append(Comment("noqa", line, at))
                continue
            upper = [(n.upper(), place) for n, place in _names(match["names"], column + match.start("names"))]
            if ours_of := [(name, place) for name, place in upper if _may_be_known(name)]:
                comments.append(Comment("noqa", line, at, tuple(ours_of)))
    return Suppressions(tuple(_with_ends(comments)))


def _with_ends(comments: Iterable[Comment]) -> Iterator[Comment]:
    """The comments, with the line of its end for each that starts a block.

    A start without an end for each of its names, an end without a start, and a start within a block of the same name
    are malformed.
    """
    found = list(comments)
    begun: dict[str, int] = {}
    ends: dict[int, dict[str, int]] = {}
    for number, comment in enumerate(found):
        names = [name for name, _ in comment.names]
        if comment.form == "start" and begun.keys().isdisjoint(names):
            begun |= dict.fromkeys(names, number)
            ends[number] = {}
        elif comment.form == "end" and begun.keys() >= {*names}:
            for name in names:
                ends[begun.pop(name)][name] = comment.line
        elif comment.form in ("start", "end"):
            found[number] = Comment("malformed", comment.line, comment.column)
    for number, comment in enumerate(found):
        if comment.form == "start":
            last = ends[number]
            if {*last} != {name for name, _ in comment.names}:
                yield Comment("malformed", comment.line, comment.column)
                continue
            for name, column in comment.names:
                yield Comment("start", comment.line, comment.column, ((name, column),), last[name])
        elif comment.form != "end":
            yield comment


def _names(text: str, column: int) -> Iterator[tuple[str, int]]:
    for match in re.finditer(r"[\w-]+", text):
        yield match.group(), column + match.start()


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, 1-based column and text of every comment, as far as the file can be read."""
    try:
        for token in generate_tokens(StringIO(text, newline="\n").readline):
            if token.type == COMMENT:
                yield token.start[0], token.start[1] + 1, token.string
    except (TokenError, SyntaxError):
        return
