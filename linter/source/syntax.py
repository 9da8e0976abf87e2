"""What a file that Python refuses is written in: Python 2, or a newer Python 3.

Only failing files come here. The scanner is our own because `tokenize` gives up on both, and differently so
from 3.12 on; it knows strings, comments, names, numbers, operators and logical lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_STRING = r"""
    (?:\"\"\"(?:[^\\]|\\.)*?\"\"\" | '''(?:[^\\]|\\.)*?''' | \"(?:[^\"\\\n]|\\.)*\" | '(?:[^'\\\n]|\\.)*')
"""
_TOKEN = re.compile(
    rf"""
      (?P<string>(?P<prefix>\b[A-Za-z]{{1,3}})?{_STRING})
    | (?P<comment>\#[^\n]*)
    | (?P<number>0[xXbBoO][\da-fA-F_]+[lL]? | (?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJlL]?)
    | (?P<name>[^\W\d]\w*)
    | (?P<newline>\n)
    | (?P<space>[ \t\f]+|\\\n)
    | (?P<operator><>|>>=?|<<=?|->|:=|\*\*=?|//=?|[-+*/%@&|^=!<>]=|\\.|.)
    """,
    re.X | re.S,
)
_OCTAL = re.compile(r"0[0_]*[1-9][\d_]*")
_KEYWORD_OPERATORS = frozenset({"in", "is", "and", "or", "if", "else", "for", "not", "as"})


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something that only Python 2 reads, and the lines of its statement."""

    line: int
    column: int
    end_line: int
    what: str


@dataclass(frozen=True, slots=True)
class Feature:
    """Syntax that came with a Python version, and the lines of its statement."""

    version: tuple[int, int]
    line: int
    column: int
    end_line: int
    what: str


def python2(text: str) -> Evidence | None:
    """The first thing in a text that Python 2 reads and Python 3 refuses or takes for something else."""
    for statement in _statements(text):
        if (found := _python2_in(statement)) is not None:
            token, what = found
            line, column = _place(text, token.start)
            return Evidence(line, column, _place(text, _end(statement))[0], what)
    return None


def newer(text: str) -> Iterator[Feature]:
    """Syntax newer than Python 3.11, the oldest that runs the linter, in the order of the text."""
    for statement in _statements(text):
        for token, version, what in _newer_in(statement, text):
            line, column = _place(text, token.start)
            yield Feature(version, line, column, _place(text, _end(statement))[0], what)


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _end(statement: list[_Token]) -> int:
    return statement[-1].start + len(statement[-1].text)


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while (match := _TOKEN.match(text, position)) is not None:
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "prefix":
            kind = "string"
        if kind not in {"comment", "space"}:
            yield _Token(kind, match.group(), match.start())


def _statements(text: str) -> Iterator[list[_Token]]:
    """Simple statements and the heads of compound ones, each without its end."""
    statement: list[_Token] = []
    depth = 0
    for token in _tokens(text):
        if token.kind == "operator":
            if token.text in "([{":
                depth += 1
            elif token.text in ")]}":
                depth = max(depth - 1, 0)
        ends = token.kind == "newline" or token.text == ";"
        if ends and depth == 0:
            if statement:
                yield statement
            statement = []
        elif token.kind != "newline":
            statement.append(token)
            head = statement[0].text
            if token.text == ":" and depth == 0 and head not in {"lambda", "print", "exec"}:
                yield statement
                statement = []
    if statement:
        yield statement


def _python2_in(statement: list[_Token]) -> tuple[_Token, str] | None:
    head, following = statement[0], statement[1] if len(statement) > 1 else None
    if following is not None and head.text in {"print", "exec"}:
        name = following.kind == "name" and following.text not in _KEYWORD_OPERATORS
        negated = following.text == "not" and [token.text for token in statement[2:3]] != ["in"]
        shifted = head.text == "print" and following.text == ">>"
        if name or negated or shifted or following.text in "`{~" or following.kind in {"string", "number"}:
            return head, f"{head.text} statement"
    commas = _commas(statement)
    if head.text == "raise" and commas and all(token.text != "from" for token in statement):
        return head, "raise X, value"
    if head.text == "except" and len(commas) == 1:
        caught = statement[statement.index(commas[0]) + 1 :]
        # Python 3.14 reads `except A, B:` as two classes, which are written with a capital.
        if len(caught) == 2 and caught[0].kind == "name" and caught[0].text[0].islower() and caught[1].text == ":":
            return head, "except X, e"
    if (unpacked := _unpacked_parameter(statement)) is not None:
        return unpacked, "def f(a, (b, c))"
    for token in statement:
        if token.kind == "operator" and token.text == "`":
            return token, "backticks"
        if token.kind == "operator" and token.text == "<>":
            return token, "<>"
        if token.kind == "number" and _OCTAL.fullmatch(token.text.rstrip("lL")):
            return token, f"octal number {token.text[:20]}"
        if token.kind == "number" and token.text[-1] in "lL":
            return token, f"long number {token.text[:20]}"
        if token.kind == "string" and token.text[:2].lower() == "ur":
            return token, 'ur"" string'
    return None


def _unpacked_parameter(statement: list[_Token]) -> _Token | None:
    """The bracket that opens a parameter written as a tuple, of a function or a lambda."""
    within: list[str] = []
    for before, token in pairwise(statement):
        if before.text == "lambda":
            within.append("lambda")
        starts = {"lambda": {"lambda", ","}, "def": {"(", ","}}.get(within[-1], set()) if within else set()
        if token.text == "(" and before.text in starts:
            return token
        if token.text in {"(", "[", "{"}:
            is_signature = not within and statement[0].text == "def"
            within.append("def" if is_signature else token.text)
        elif token.text in {")", "]", "}"} or (token.text == ":" and within[-1:] == ["lambda"]):
            within = within[:-1]
    return None


def _commas(statement: list[_Token]) -> list[_Token]:
    """The commas outside every bracket."""
    commas, depth = [], 0
    for token in statement:
        if token.kind == "operator":
            depth += (token.text in "([{") - (token.text in ")]}")
            if token.text == "," and depth == 0:
                commas.append(token)
    return commas


def _newer_in(statement: list[_Token], text: str) -> Iterator[tuple[_Token, tuple[int, int], str]]:
    words = [token.text for token in statement]
    head = statement[0]
    names = [token.kind == "name" for token in statement]
    if words[0] == "type" and len(words) > 2 and names[1] and words[2] in {"=", "["}:
        yield head, *_generic(words[2:], "type statement")
    if words[0] == "lazy" and len(words) > 1 and words[1] in {"import", "from"}:
        yield head, (3, 15), "lazy import"
    if words[0] == "except" and _commas(statement):
        yield head, (3, 14), "except A, B without brackets"
    for index, (one, two) in enumerate(pairwise(words)):
        if one in {"def", "class"} and names[index + 1] and words[index + 2 : index + 3] == ["["]:
            yield statement[index], *_generic(words[index + 2 :], f"type parameters of {one} {two[:40]}")
    for token in statement:
        if token.kind != "string":
            continue
        prefix = token.text[: min(token.text.find(quote) % len(token.text) for quote in "\"'")].lower()
        if prefix in {"t", "tr", "rt"}:
            yield token, (3, 14), "template string"
        elif "f" in prefix and _is_nested(token, len(prefix), text):
            yield token, (3, 12), "quotes, backslashes or comments inside the braces of an f-string"


def _generic(words: list[str], what: str) -> tuple[tuple[int, int], str]:
    """Type parameters came with 3.12, their defaults with 3.13; `words` begins where the bracket may."""
    depth = 0
    for word in words:
        depth += (word in {"[", "(", "{"}) - (word in {"]", ")", "}"})
        if depth == 0:
            break
        if word == "=" and depth == 1:
            return (3, 13), f"{what} with a default"
    return (3, 12), what


def _is_nested(token: _Token, prefix: int, text: str) -> bool:
    """Whether an f-string reads as a whole only where its braces may hold any expression (PEP 701)."""
    start = token.start + prefix
    quote = text[start : start + 3] if text[start : start + 3] in {'"""', "'''"} else text[start]
    end = _string_end(text, start + len(quote), quote, 0)
    if end == -1:
        return False
    return end != token.start + len(token.text) or any(
        mark in field for field in _fields(text[start + len(quote) : end - len(quote)]) for mark in ("\\", "#", quote)
    )


def _fields(body: str) -> Iterator[str]:
    position = 0
    while (start := body.find("{", position)) != -1:
        if body.startswith("{{", start):
            position = start + 2
            continue
        end = _field_end(body, start + 1, 0)
        if end == -1:
            return
        yield body[start:end]
        position = end


def _string_end(text: str, position: int, quote: str, level: int) -> int:
    """The end of an f-string whose opening quote ends at `position`, or -1."""
    while level < 20 and position < len(text):
        if text.startswith(quote, position):
            return position + len(quote)
        if text.startswith(("{{", "\\"), position):
            position += 2
        elif text[position] == "{":
            position = _field_end(text, position + 1, level + 1)
            if position == -1:
                return -1
        elif text[position] == "\n" and len(quote) == 1:
            return -1
        else:
            position += 1
    return -1


def _field_end(text: str, position: int, level: int) -> int:
    """The end of a replacement field whose brace ends at `position`, or -1."""
    depth = 0
    while (match := _TOKEN.match(text, position)) is not None:
        position = match.end()
        word = match.group()
        if match.lastgroup == "operator":
            if word == "}" and depth == 0:
                return position
            depth += (word in "([{") - (word in ")]}")
        elif "f" in (match.group("prefix") or "").lower():
            start = match.start() + len(match.group("prefix"))
            quote = text[start : start + 3] if text[start : start + 3] in {'"""', "'''"} else text[start]
            position = _string_end(text, start + len(quote), quote, level + 1)
            if position == -1:
                return -1
    return -1
