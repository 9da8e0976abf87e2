"""Caches: every region of a real one, damaged; a run with it says what one without it says."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from migrate_lint.linter.run.cache import FILE, default_folder

from .commands import Ran, judged, ran
from .corpus import texts
from .tally import Tally

_REGION = 64
_FILES = 6


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """Region by region from a random one on, each damaged in one way; then what is a cache no more."""
    random = Random(seed)
    top = Path(tempfile.mkdtemp(prefix="caches-"))
    os.environ["XDG_CACHE_HOME"] = str(top / "cache")
    project = top / "p"
    project.mkdir()
    os.chdir(project)
    Path("setup.cfg").touch()
    for index in range(_FILES):
        Path(f"m{index}.py").write_text(random.choice(texts()))
    expected = _lint("--no-cache")
    cache = default_folder() / FILE
    first = _lint()
    whole = cache.read_bytes()
    assert (expected.status, expected.output) == (first.status, first.output)
    at = random.randrange(len(whole))
    while not until():
        at = (at + _REGION) % len(whole)
        data = _damaged(random, whole, at)
        shutil.rmtree(cache.parent)
        cache.parent.mkdir(mode=0o700)
        cache.write_bytes(data)
        if random.random() < 0.1:
            cache.with_name(f"{FILE}-journal").write_bytes(random.choice((b"", b"x" * 600, data[:2000])))
        if random.random() < 0.3:  # the cached answers do not fit: everything is asked and written anew
            Path("m0.py").write_text(random.choice(texts()))
            expected = _lint("--no-cache")
        problem, seconds = "", 0.0
        for number in ("the first run", "the second run"):
            done = _lint()
            seconds = max(seconds, done.seconds)
            problem = problem or done.wrong(0, 1) or _other(expected, done)
            if problem:
                judged(tally, "caches", data, f"{number}: {problem}", seconds)
                break
        else:
            judged(tally, "caches", data, "", seconds)


def _lint(*words: str) -> Ran:
    return ran("--jobs", "1", "--isolated", "--output-format", "concise", *words)


def _other(expected: Ran, done: Ran) -> str:
    same = (expected.status, expected.output) == (done.status, done.output)
    return "" if same else f"other findings than without a cache: {done.output[:300]}"


def _damaged(random: Random, whole: bytes, at: int) -> bytes:
    data = bytearray(whole)
    size = random.choice((1, 1, 1, 4, _REGION))
    match random.randrange(9):
        case 0:
            data[at : at + size] = bytes(len(data[at : at + size]))
        case 1 | 2 | 3:
            for place in range(at, min(at + size, len(data))):
                data[place] = random.randrange(256)
        case 4:
            data[at] ^= 1 << random.randrange(8)
        case 5:
            del data[at:]
        case 6:
            data[at : at + 512] = data[-512:]
        case 7:
            place = random.randrange(min(100, len(data)))  # the header
            data[place] = random.randrange(256)
        case _:
            return _of_another_mind(random, whole)
    return bytes(data)


_STATEMENTS = (
    "DROP TABLE texts", "DROP TABLE uses", "ALTER TABLE uses RENAME COLUMN rest TO other",
    "UPDATE texts SET text = 'x'", "UPDATE uses SET rest = 'a text'", "UPDATE texts SET text = NULL",
    "UPDATE uses SET day = 'never'", "UPDATE uses SET size = 1e300", "PRAGMA user_version = -1",
    "PRAGMA application_id = 7", "DELETE FROM texts", "UPDATE texts SET text = zeroblob(100000)",
    "CREATE TRIGGER t AFTER INSERT ON texts BEGIN SELECT RAISE(ABORT, 'no'); END",
    "DROP TABLE texts; CREATE VIEW texts AS SELECT 1 AS id, 2 AS text",
    "DROP TABLE uses; CREATE TABLE uses (id, rest, day)", "CREATE UNIQUE INDEX i ON uses (day)",
    "PRAGMA journal_mode = WAL", "PRAGMA page_size = 512; VACUUM", "PRAGMA encoding = 'UTF-16'",
    "UPDATE uses SET day = 0", "UPDATE uses SET size = 9223372036854775807",
)  # fmt: skip


def _of_another_mind(random: Random, whole: bytes) -> bytes:
    """A sound database with other tables, types or values than ours."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x")
        path.write_bytes(whole)
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.executescript(random.choice(_STATEMENTS))
        except sqlite3.Error:
            pass
        finally:
            connection.close()
        return path.read_bytes()
