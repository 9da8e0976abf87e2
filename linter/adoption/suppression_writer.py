"""Writes the comments that suppress findings; nothing else in a file changes by a byte.

A finding is suppressed on the line where it begins, or else on the one where it ends.
A line that ends within a string or in a backslash can carry no comment; findings without any line are left.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from token import tok_name
from tokenize import COMMENT, NEWLINE, NL, TokenError, TokenInfo, generate_tokens

from ..atomic import ChangedError, clear, replace_file
from ..finding import PROBE_ONLY_FINDING, UNUSED_SUPPRESSION, Edit, Finding
from ..result import Result
from ..settings.config import ALWAYS
from ..source.discovery import leads_out, trees_around
from ..source.parsing import SourceFile, digest_of
from ..source.reading import decoded, read_bytes, read_source, split_lines
from ..source.suppressions import Comment, find_suppressions


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the findings that were to be suppressed.

    ``left`` are sentences on those that were not; ``failed`` on files that could not be written.
    """

    findings: int
    files: int
    left: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class _RefusedError(Exception):
    """A file is left as it is; the text says why."""


def why_no_reason(reason: str) -> str | None:
    """What keeps a text from standing behind the codes of a comment; None if nothing does."""
    if not reason.isprintable():
        return "it is to be one line of printable characters"
    found = find_suppressions(_source(f"x  {_comment(['TF101'], reason)}")).comments
    if len(found) != 1 or [name for name, _ in found[0].names] != ["TF101"]:
        return "it reads like another comment that suppresses findings"
    return None


def suppress_findings(result: Result, reason: str = "") -> tuple[Result, Written]:
    """Write a comment for every finding that one can hide; the result then has only the others.

    Args:
        result: of files on the disk.
        reason: what the comments say behind the codes.
    """
    left: list[str] = []
    failed: list[str] = []
    done: set[Finding] = set()
    files: dict[str, dict[str, list[Finding]]] = defaultdict(dict)
    for finding in result.findings:
        if not _is_hideable(finding):
            continue
        if finding.cell is not None or finding.path.endswith(".ipynb"):
            text = f"{finding.path}: --add-noqa does not write notebooks: put the comment into the cell"
            left += [text] if text not in left else []
            continue
        path = result.sources[finding.path][0] if finding.path in result.sources else os.path.abspath(finding.path)
        files[os.path.realpath(path)].setdefault(finding.path, []).append(finding)
    # Where a run was killed after it had replaced a file, no finding leads there again.
    for folder in sorted({os.path.dirname(path) for path, _ in result.sources.values()}):
        clear(folder)
    digests = dict(result.digests)
    written = 0
    trees = trees_around(project.root for project in result.projects)
    for path, by_display in files.items():
        display, findings = next(iter(by_display)), [one for found in by_display.values() for one in found]
        if any(leads_out(result.sources.get(name, (name,))[0], trees) for name in by_display):
            text = f"this is a link out of the project, to {path}"
            failed.append(f"{display}: the suppressions cannot be written: {text}")
            continue
        try:
            without, digest = _rewrite(path, display, findings, reason, digests.get(display))
        except ChangedError:
            failed.append(f"{display}: it has changed since it was linted; the suppressions are not written")
            continue
        except (_RefusedError, OSError) as error:
            text = getattr(error, "strerror", None) or str(error)
            failed.append(f"{display}: the suppressions cannot be written: {text}")
            continue
        digests |= dict.fromkeys(by_display, digest)
        done |= set(findings) - set(without)
        written += len(without) < len(findings)
        left += (_no_line(finding) for finding in without)
    rest = tuple(finding for finding in result.findings if finding not in done)
    hidden = tuple(sorted((*result.hidden, *done), key=lambda finding: finding.sort_key))
    result = replace(result, findings=rest, hidden=hidden, digests=digests)
    return result, Written(len(done), written, tuple(left), tuple(failed))


def suppressing(text: str, finding: Finding) -> Edit | None:
    """What writes such a comment into a text with that finding; None where none can stand, or would hide nothing."""
    if not _is_hideable(finding):
        return None
    source = _source(re.sub(r"\r\n?", "\n", text))
    try:
        places, _ = _places(source, [finding])
    except _RefusedError:
        return None
    for line, codes in places.items():
        old = source.lines[line - 1]
        comment = next((one for one in _ours(source) if one.line == line), None)
        new = _with_codes(old, codes, comment, "")
        column = next((at for at, (a, b) in enumerate(zip(old, new, strict=False), 1) if a != b), len(old) + 1)
        return Edit(line, column, line, column, new[column - 1 : column - 1 + len(new) - len(old)])
    return None


def _is_hideable(finding: Finding) -> bool:
    if finding.code in ALWAYS or finding.code == UNUSED_SUPPRESSION.code:
        return False
    # A comment on what only a run has found hides nothing in the next run without one.
    return finding.origin == "static" or finding.code == PROBE_ONLY_FINDING.code


def _no_line(finding: Finding) -> str:
    where = f"{finding.path}:{finding.line}:{finding.column}"
    return f"{where}: {finding.code} is left: no comment can stand here, in a string or before a line's continuation"


def _rewrite(
    path: str, display: str, findings: Sequence[Finding], reason: str, linted: str | None
) -> tuple[list[Finding], str]:
    """Write the comments of one file; returns the findings that no line can take, and the digest of what was written.

    Raises:
        ChangedError: if its bytes have not the digest of those that were linted.
    """
    data = read_bytes(path)
    digest = digest_of(data)
    if linted not in {None, digest}:
        raise ChangedError
    source = read_source(Path(path), display, data)
    if not isinstance(source, SourceFile):
        raise _RefusedError(source.message)
    places, without = _places(source, findings)
    if not places:
        return without, digest
    try:
        text, encoding = decoded(data)
    except ValueError as error:
        raise _RefusedError(str(error)) from error
    lines = split_lines(text)
    if [line.rstrip("\r\n") for line in lines] != source.lines:
        raise _RefusedError("its lines cannot be told apart")
    for line, codes in places.items():
        comment = next((one for one in _ours(source) if one.line == line), None)
        lines[line - 1] = _with_codes(lines[line - 1], codes, comment, reason)
    try:
        after = "".join(lines).encode(encoding)
    except UnicodeEncodeError as error:
        raise _RefusedError(f"the reason cannot be written in {encoding}, the encoding of this file") from error
    _require_same_code(source, read_source(Path(path), display, after))
    replace_file(path, after, data)
    return without, digest_of(after)


def _places(source: SourceFile, findings: Iterable[Finding]) -> tuple[dict[int, set[str]], list[Finding]]:
    """The codes to write on each line, and the findings that no line can take."""
    able = _able(source)
    ours = {comment.line for comment in _ours(source)}
    places: dict[int, set[str]] = defaultdict(set)
    without = []
    for finding in findings:
        lines = [line for line in (finding.line, finding.end_line) if line in able]
        if not lines:
            without.append(finding)
        elif not any(finding.code in places[line] for line in lines if line in places):
            places[next((line for line in lines if line in ours), lines[0])].add(finding.code)
    return dict(places), without


def _able(source: SourceFile) -> frozenset[int]:
    """The lines that a comment can end."""
    able = set()
    depth = 0
    for token in _tokens(source):
        # Before Python 3.12 a comment within an f-string is a syntax error, and there the whole is one token.
        depth += {"FSTRING_START": 1, "TSTRING_START": 1, "FSTRING_END": -1, "TSTRING_END": -1}.get(_kind(token), 0)
        if token.type in {NEWLINE, NL} and not depth:
            able.add(token.start[0])
    return frozenset(able)


def _kind(token: TokenInfo) -> str:
    return tok_name[token.type]


def _tokens(source: SourceFile) -> Iterator[TokenInfo]:
    try:
        yield from generate_tokens(StringIO(source.text, newline="\n").readline)
    except (TokenError, SyntaxError) as error:
        raise _RefusedError(f"it cannot be read: {error}") from error


def _ours(source: SourceFile) -> list[Comment]:
    """The comments of the form that is written, one a line at most."""
    seen: dict[int, Comment] = {}
    for comment in find_suppressions(source).comments:
        if comment.form == "line":
            seen.setdefault(comment.line, comment)
    return list(seen.values())


def _with_codes(line: str, codes: Iterable[str], comment: Comment | None, reason: str) -> str:
    if comment is not None:
        name, column = comment.names[-1]
        end = column - 1 + len(name)
        return f"{line[:end]}{''.join(f',{code}' for code in sorted(codes))}{line[end:]}"
    code = line.rstrip("\r\n")
    return f"{code}  {_comment(sorted(codes), reason)}{line[len(code) :]}"


def _comment(codes: Sequence[str], reason: str) -> str:
    return f"# migrate-lint: disable={','.join(codes)}{f' -- {reason}' if reason else ''}"


def _require_same_code(before: SourceFile, after: SourceFile | Finding) -> None:
    if not isinstance(after, SourceFile):
        raise _RefusedError(after.message)
    if _code(before) != _code(after):
        raise _RefusedError("its code would not be the same")


def _code(source: SourceFile) -> list[tuple[int, str, tuple[int, int]]]:
    """Everything but comments, and how far lines reach."""
    skipped = {COMMENT, NEWLINE, NL}
    return [(token.type, token.string, token.start) for token in _tokens(source) if token.type not in skipped]


def _source(text: str) -> SourceFile:
    return SourceFile(Path("x.py"), "x.py", text, "")
