"""Files that are replaced whole, by writers that are killed and by several at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from migrate_lint.linter import atomic
from migrate_lint.linter.atomic import replace_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL, and files cannot be locked")

_KILLED = """
import os, signal, sys
from migrate_lint.linter.atomic import replace_file
import tempfile, fcntl
left, begun = int(sys.argv[1]), False
def count(event, words):
    global left
    left -= begun
    if left == -1:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
begun = True
replace_file("file", b"new")
begun = False
"""
_ENDLESS = """
import sys
from migrate_lint.linter import atomic
while True:
    atomic.clear.cache_clear()
    atomic.replace_file("file", sys.argv[1].encode() * 1000)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    atomic.clear.cache_clear()
    yield
    atomic.clear.cache_clear()


def left() -> list[str]:
    return [name for name in os.listdir() if name.startswith(".migrate-lint-")]


def taken_by_git() -> list[str]:
    """What ``git add -A`` would take."""
    words = ["git", "-c", "core.excludesFile=", "status", "--porcelain", "-z", "--untracked-files=all", "--ignored=no"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(words, env=inherited, capture_output=True, check=True, text=True)
    return [line[3:] for line in done.stdout.split("\0") if line]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_kill_at_any_step_leaves_nothing_that_git_takes() -> None:
    """And nothing at all after the next write; the file is the one or the other."""
    subprocess.run(["git", "init", "-q"], check=True)
    seen = set()
    for step in range(100):
        Path("file").write_bytes(b"old")
        done = subprocess.run([sys.executable, "-c", _KILLED, str(step)], check=False)
        if done.returncode == 0:
            break
        assert -signal.SIGKILL == done.returncode
        seen.add((Path("file").read_bytes(), len(left())))
        assert ["file"] == taken_by_git()
        atomic.clear.cache_clear()
        replace_file("file", b"next")
        assert [] == left()

    assert 10 < step < 100
    assert {(b"old", 0), (b"old", 1), (b"new", 1)} <= seen <= {(b"old", 0), (b"old", 1), (b"new", 1), (b"new", 0)}


def test_several_writers_do_not_disturb_each_other() -> None:
    """Each looks for what the others left at every write; some are killed, and nothing of them stays."""
    writers = [subprocess.Popen([sys.executable, "-c", _ENDLESS, word], stderr=subprocess.PIPE) for word in "abcd"]
    try:
        seen = set()
        while len(seen) < 4:
            if Path("file").exists():
                seen.add(Path("file").read_bytes())
            for writer in writers:
                assert writer.poll() is None, writer.communicate()
    finally:
        for writer in writers:
            writer.kill()
            if not writer.stderr.closed:
                writer.communicate()
    assert {word.encode() * 1000 for word in "abcd"} == seen
    replace_file("file", b"next")

    assert ["file"] == os.listdir()


def test_a_lock_that_is_made_while_it_is_looked_for_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer may hold it by the time that its folder is taken for one without."""
    place = Path(".migrate-lint-new", ".git")
    place.mkdir(parents=True)
    opened = os.open

    def made_too_late(path: str, *arguments: int) -> int:
        if path.endswith("lock"):
            (place / "lock").write_bytes(b"")
            raise FileNotFoundError
        return opened(path, *arguments)

    monkeypatch.setattr(os, "open", made_too_late)
    atomic.clear.cache_clear()
    atomic.clear(".")

    assert (place / "lock").exists()


def test_what_a_living_writer_needs_is_left() -> None:
    """Its lock tells of it, also where it was begun long ago."""
    with atomic._part(os.getcwd()) as part:
        place = Path(part).parents[1]
        os.utime(place, (1, 1))
        replace_file("other", b"")
        assert place.is_dir()

    assert ["other"] == os.listdir()


def test_what_is_not_ours_is_left() -> None:
    """Of a folder that is named like ours, of a file, of a link; and nobody waits for a pipe."""
    for name in ("b/.git", "c"):
        Path(f".migrate-lint-{name}").mkdir(parents=True)
    Path(".migrate-lint-a").write_text("")
    os.mkfifo(".migrate-lint-b/.git/lock")
    Path(".migrate-lint-b/mine").write_text("")
    Path(".migrate-lint-c/.git").write_text("")
    Path("elsewhere/.git").mkdir(parents=True)
    Path("elsewhere/.git/part").write_text("")
    Path(".migrate-lint-d").symlink_to("elsewhere")
    replace_file("file", b"")

    assert [".migrate-lint-a", ".migrate-lint-b", ".migrate-lint-c", ".migrate-lint-d"] == sorted(left())
    assert Path("elsewhere/.git/part").exists()
    assert Path(".migrate-lint-b/mine").exists()


def test_a_folder_that_cannot_be_written_is_an_error() -> None:
    """Nothing is made there."""
    with pytest.raises(FileNotFoundError):
        replace_file("missing/file", b"")


def test_a_folder_that_stays_locked_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is to be compared first is not replaced while another process might do the same."""
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(atomic, "_PATIENCE", 0.1)
    Path("file").write_bytes(b"old")
    held = os.open(".", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(TimeoutError, match="another process keeps its folder locked"):
        replace_file("file", b"new", b"old")
    os.close(held)

    assert b"old" == Path("file").read_bytes()
    assert [] == left()
    replace_file("file", b"new", b"old")
    assert b"new" == Path("file").read_bytes()
