"""The patterns of a `.gitignore` against git itself, and what a hostile one costs."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest
from migrate_lint.linter.source.discovery import matcher
from migrate_lint.linter.source.gitignore import IgnoreFile

NAMES = [
    b"a", b"b", b"ab", b"ba", b"a-", b"aa", b"[a]", b"a b", b"a ", b"\xc3\xa9", b"\\a", b"!a", b"#a", b"*", b"A", b"1",
    b".a", b"]", b"a\nb", b"a\t", b"^", b"aXb", b"x.py", b"a\r",
]  # fmt: skip
PIECES = [
    *(b"a", b"b", b"ab", b"x", b"-", b"^", b"]", b".py", b"\xc3\xa9", b"\t", b"\r", b"!", b"#", b" ", b"\0"),
    *(b"*", b"*", b"*", b"**", b"**", b"***", b"?", b"/", b"/", b"/", b"/**/", b"**/", b"/**", b"**\\/"),
    *(b"\\", b"\\*", b"\\/", b"\\a", b"\\ "),
    *(b"[a-b]", b"[!a]", b"[^b]", b"[]a]", b"[]-a]", b"[z-a]", b"[a", b"[\\]a]", b"[a\\-b]", b"[a-\\b]", b"[--b]"),
    *(b"[a/b]", b"[\xc3\xa9]", b"[[a-b]", b"[a-]", b"[-a]", b"[[:]", b"[[:a]", b"[[:nope:]]", b"[![:space:]]"),
    *(b"[[:%s:]]" % name for name in (b"alpha", b"digit", b"punct", b"upper", b"lower", b"xdigit", b"alnum")),
    *(b"[[:%s:]]" % name for name in (b"graph", b"print", b"cntrl", b"blank")),
    *(b"[[:digit:][:lower:]]", b"[[:punct:]x]", b"[[:alnum:]-a]"),
]


def trees(chance: random.Random) -> tuple[list[bytes], frozenset[bytes]]:
    """Paths that can all exist at once, and those of them that are folders."""
    files: set[bytes] = set()
    folders: set[bytes] = set()
    for _ in range(260):
        *above, path = accumulate(chance.choices(NAMES, k=chance.randint(1, 4)), lambda one, other: one + b"/" + other)
        if files.isdisjoint(above) and path not in folders:
            files.add(path)
            folders.update(above)
    return sorted(files | folders), frozenset(folders)


def ignored(data: bytes, paths: list[bytes], folders: frozenset[bytes]) -> Iterator[bytes]:
    """The paths that are ignored, or in a folder that is."""
    patterns = IgnoreFile(data)
    for path in paths:
        above = list(accumulate(path.split(b"/"), lambda one, other: one + b"/" + other))
        if any(patterns.verdict(part, part in folders) for part in above):
            yield path


@pytest.mark.slow
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Generated ones, sensible and broken, with `git check-ignore` as the judge."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    chance = random.Random(20)
    paths, folders = trees(chance)
    for path in paths:
        if path in folders:
            os.mkdir(path)
        else:
            Path(os.fsdecode(path)).touch()
    telling = 0
    for _ in range(400):
        lines = [b"".join(chance.choices(PIECES, k=chance.choice((1, 2, 2, 3, 3, 4, 5, 7)))) for _ in range(3)]
        lines[1] = b"!" * (chance.random() < 0.2) + lines[1]
        data = b"\xef\xbb\xbf" * (chance.random() < 0.1) + b"\n".join(lines[: chance.randint(1, 3)])
        data += b"\n" * (chance.random() < 0.8)
        Path(".gitignore").write_bytes(data)
        command = ["git", "check-ignore", "--no-index", "--stdin", "-z"]
        said = subprocess.run(command, input=b"\0".join(paths) + b"\0", capture_output=True, check=False).stdout

        assert said.split(b"\0")[:-1] == list(ignored(data, paths, folders)), data

        telling += 0 < said.count(b"\0") < len(paths)
    assert telling > 100


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"a*" * 10_000 + b"b", b"a" * 250),
        (b"**/a/" * 5_000 + b"b", b"a/" * 2_000 + b"x.py"),
        (b"**/*a*a*a/" * 1_000 + b"b", b"aaaaaaaaaaaa/" * 300 + b"x.py"),
        (b"*a/*b/" * 2_000 + b"**/c", b"ab/" * 1_300 + b"x.py"),
        (b"**/" + b"*a*a/" * 300 + b"b", b"aaaaaaaaaaaa/" * 300 + b"x.py"),
        (b"[a-z]" * 5_000 + b"b", b"a" * 250),
        (b"[[:" * 10_000 + b"b", b"a" * 250),
        (b"[" + b"[:" * 10_000 + b"]b", b"a" * 250),
        (b"?" * 20_000 + b"/**/b", b"a" * 250),
        (b"a\n!a\n" * 4_000 + b"b", b"a" * 250),
        (b"\\ " * 10_000, b"a" * 250),
    ],
    ids=lambda value: value[:12].decode() if isinstance(value, bytes) else None,
)
def test_a_hostile_pattern_costs_what_its_length_costs(pattern: bytes, path: bytes) -> None:
    """Backtracking would take years; a second is far more than any of these takes."""
    start = time.process_time()

    assert not IgnoreFile(pattern).verdict(path, False)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("glob", ["a*" * 500 + "b", "pkg/" + "*a" * 500 + "/b", "?*" * 100 + "b", "[a*" * 500])
def test_a_hostile_glob_of_a_configuration_does_not_backtrack(glob: str) -> None:
    """The standard library makes each star final."""
    start = time.process_time()
    excluded = matcher([glob], "/")
    assert excluded is not None

    assert not excluded("/pkg/" + "a" * 250 + ".py")
    assert time.process_time() - start < 10
