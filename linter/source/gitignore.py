"""The patterns of a `.gitignore`, as git reads them: gitignore(5), and where it says nothing, git's own matcher.

The pattern is a stranger's, so nothing here backtracks: a star takes the first place where what follows it fits, and
no other one, since nothing behind the next star could fit better from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import count, groupby
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_SPECIAL = b"*?[\\"
_FOLDER = b"\0"
"""Ends the path of a folder; it is in no path and in no pattern."""
_ANY = rb"[^/\0]"
_STAR = b"\0"
_CLASSES = {
    b"alnum": lambda byte: bytes((byte,)).isalnum(),
    b"alpha": lambda byte: bytes((byte,)).isalpha(),
    b"blank": lambda byte: byte in b" \t",
    b"cntrl": lambda byte: byte < 32 or byte == 127,
    b"digit": lambda byte: bytes((byte,)).isdigit(),
    b"graph": lambda byte: 32 < byte < 127,
    b"lower": lambda byte: bytes((byte,)).islower(),
    b"print": lambda byte: 32 <= byte < 127,
    b"punct": lambda byte: 32 < byte < 127 and not bytes((byte,)).isalnum(),
    b"space": lambda byte: byte in b" \t\n\r",
    b"upper": lambda byte: bytes((byte,)).isupper(),
    b"xdigit": lambda byte: byte in b"0123456789abcdefABCDEF",
}


class _Rule(NamedTuple):
    """One line: ``expression`` matches the end of a path where ``is_name``, else all of it."""

    expression: bytes
    is_name: bool
    ignores: bool


class IgnoreFile:
    """What the lines of one file say of the paths below its folder."""

    def __init__(self, data: bytes) -> None:
        rules = [rule for line in data.removeprefix(_BOM).split(b"\n") if (rule := _rule(line)) is not None]
        runs = [(ignores, _either(run)) for ignores, run in groupby(reversed(rules), lambda rule: rule.ignores)]
        # The last line that matches decides; the group that took part says of which run it is.
        self._match = re.compile(b"|".join(b"(?:%s)()" % run for _, run in runs) or rb"(?!)").match
        self._verdicts = [False, *(ignores for ignores, _ in runs)]

    def verdict(self, path: bytes, is_folder: bool) -> bool | None:
        """Whether a path is ignored, None if no line speaks of it; `path` has ``/`` and is relative to the folder."""
        found = self._match(path + _FOLDER if is_folder else path)
        return None if found is None else self._verdicts[found.lastindex or 0]


def _either(rules: Iterable[_Rule]) -> bytes:
    names: list[bytes] = []
    paths: list[bytes] = []
    for rule in rules:
        (names if rule.is_name else paths).append(rule.expression)
    if names:
        paths.append(rb"(?>(?:[^\0]*/)?)(?:%s)" % b"|".join(names))
    return b"|".join(paths)


def _rule(line: bytes) -> _Rule | None:
    """What a line says; None for one that says nothing or can match nothing."""
    line = line.removesuffix(b"\r").partition(b"\0")[0]
    if line.startswith(b"#"):
        return None
    pattern = _without_trailing_spaces(line)
    ignores = not pattern.startswith(b"!")
    pattern = pattern.removeprefix(b"!")
    end = rb"\0\Z" if pattern.endswith(b"/") else rb"\0?\Z"
    pattern = pattern.removesuffix(b"/")
    is_name = b"/" not in pattern
    expression = _expression(pattern.removeprefix(b"/"), is_name) if pattern else None
    return None if expression is None else _Rule(expression + end, is_name, ignores)


def _without_trailing_spaces(line: bytes) -> bytes:
    """Without the spaces at the end, but for one that a backslash protects."""
    plain = line.rstrip(b" ")
    backslashes = len(plain) - len(plain.rstrip(b"\\"))
    return line[: len(plain) + 1] if backslashes % 2 else plain


def _expression(pattern: bytes, is_name: bool) -> bytes | None:
    """The text of a regular expression; None for a pattern that matches nothing."""
    groups: list[list[bytes]] = [[]]
    """What stands between two ``**/``; each but the first begins with what it may skip."""
    name: list[bytes] = []
    is_plain = True
    at = 0
    pattern += b"\0"
    while (byte := pattern[at : at + 1]) != b"\0":
        if byte == b"*":
            start = at
            while pattern[at : at + 1] == b"*":
                at += 1
            behind = pattern[at : at + 2]
            # As in git, two stars behind plain text cross slashes, too, although its documentation says otherwise.
            is_free = is_plain or pattern[start - 1 : start] == b"/"
            if is_name or at - start < 2 or not is_free or (behind[:1] not in b"\0/" and behind != b"\\/"):
                name.append(_STAR)
            elif behind[:1] == b"\0":
                groups += [*groups.pop(), _name(name)], [rb"[^\0]*"]
                name = []
            else:
                groups += [*groups.pop(), _name(name)], [rb"(?:[^/\0]*/)", b"*?" if behind[:1] == b"/" else b"+?"]
                name = []
                at += 1 if behind[:1] == b"/" else 2
        elif byte == b"/" or pattern[at : at + 2] == b"\\/":
            groups[-1] += _name(name), b"/"
            name = []
            at += 1 if byte == b"/" else 2
        elif byte == b"[":
            found = _bracket(pattern, at)
            if found is None:
                return None
            members, at = found
            name.append(members)
        else:
            at += byte == b"\\"
            if pattern[at : at + 1] == b"\0":
                return None
            name.append(_ANY if byte == b"?" else re.escape(pattern[at : at + 1]))
            at += 1
        is_plain = is_plain and byte not in _SPECIAL
    groups[-1].append(_name(name))
    first, *middle, last = map(b"".join, groups if groups[1:] else ([], *groups))
    return first + b"".join(b"(?>%s)" % group for group in middle) + last


def _name(pieces: list[bytes]) -> bytes:
    """The expression of one name in a path."""
    first, *rest = b"".join(pieces).split(_STAR)
    if not rest:
        return first
    middle = b"".join(b"(?>%s*?%s)" % (_ANY, piece) for piece in rest[:-1] if piece)
    return b"%s%s%s*%s" % (first, middle, _ANY, rest[-1])


def _bracket(pattern: bytes, at: int) -> tuple[bytes, int] | None:
    """The expression of a set of bytes, and where it ends; None if it is never closed or names no known class."""
    at += 1
    negated = pattern[at] in b"!^"
    at += negated
    members: set[int] = set()
    first = end = 0
    while True:
        byte = pattern[at]
        if byte == b"-"[0] and first and pattern[at + 1] not in b"\0]":
            at += 1 + (pattern[at + 1 : at + 2] == b"\\")
            members.update(range(first, pattern[at] + 1))
            byte = 0 if pattern[at] else -1
        elif byte == b"["[0] and pattern[at + 1 : at + 2] == b":":
            end = end if end > at + 1 else pattern.find(b"]", at + 2)
            if end < 0:
                return None
            if end > at + 2 and pattern[end - 1 : end] == b":":
                belongs = _CLASSES.get(pattern[at + 2 : end - 1])
                if belongs is None:
                    return None
                members.update(filter(belongs, range(1, 256)))
                at, byte = end, 0
            else:
                members.add(byte)
        else:
            if byte == b"\\"[0]:
                at += 1
                byte = pattern[at]
            members.add(byte)
            byte = byte or -1
        if byte < 0:
            return None
        first = byte
        at += 1
        if pattern[at : at + 1] == b"]":
            break
    return _set(frozenset(range(1, 256)) - members if negated else frozenset(members)), at + 1


@lru_cache
def _set(members: frozenset[int]) -> bytes:
    """The expression of one byte out of these, which is never a slash."""
    numbers = count()
    runs = [list(run) for _, run in groupby(sorted(members - set(b"/")), lambda byte: byte - next(numbers))]
    return b"[%s]" % b"".join(b"\\x%02x-\\x%02x" % (run[0], run[-1]) for run in runs) if runs else b"(?!)"
