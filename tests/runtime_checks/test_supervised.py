"""Whatever ends a command, or the process that started it, nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from migrate_lint.runtime_checks import interpreter, supervised, supervisor
from migrate_lint.runtime_checks.supervised import LaunchError, Supervised, Tail, scratch

from .command_runs import wait_for

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and subreapers")
posix = pytest.mark.skipif(os.name != "posix", reason="needs sessions")
_SECONDS = 300.0
"""For what is waited for; nothing here takes a hundredth of it."""
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
SLEEPS = "while True: time.sleep(1)"
FAMILY = """
import json, os, signal, subprocess, sys, time

def tell(name):
    with open(os.path.join(sys.argv[-1], name), "w") as file:
        file.write(str(os.getpid()))

def sleep(name):
    [signal.signal(number, signal.SIG_IGN) for number in (1, 2, 3, 15)]
    tell(name)
    while True:
        time.sleep(1)

if os.fork() == 0:
    sleep("child")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.environ.clear()
        os.execve(sys.executable, [sys.executable, "-c", DAEMON, sys.argv[-1]], {})
    os._exit(0)
os.wait()
"""
DAEMON = """
import os, sys, time
with open(os.path.join(sys.argv[-1], "daemon"), "w") as file:
    file.write(str(os.getpid()))
while True:
    time.sleep(1)
"""
NAMES = ("child", "daemon", "itself")
HOST = """
import sys
from migrate_lint.runtime_checks import process
process._SILENCE = 0.1
out = process.start(
    sys.executable, sys.argv[1], {}, timeout=float(sys.argv[4]), memory_limit=None, environment={"SEEN": sys.argv[2]},
    folders=[sys.argv[3]],
)
print(out.ended, out.cause)
"""


def family(end: str) -> str:
    """A program with a child and a daemon, which forked twice and has an empty environment; how it goes on."""
    waits = "while not os.path.exists(os.path.join(sys.argv[-1], 'daemon')): time.sleep(0.01)"
    return f"DAEMON = {DAEMON!r}\n{FAMILY}\n{waits}\n{end}"


def lives(pid: int) -> bool:
    fields = supervisor.content(pid, "stat").rpartition(b")")[2].split()
    return bool(fields) and fields[0] not in (b"Z", b"X")


def pids(folder: Path) -> dict[str, int]:
    """By name; one that is being written is not there yet."""
    found = {path.name: path.read_text() for path in folder.iterdir() if path.name in NAMES}
    return {name: int(text) for name, text in found.items() if text}


@linux
@pytest.mark.parametrize(
    ("end", "code"), [("os._exit(0)", 0), ("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", -9), ("os.abort()", -6)]
)
def test_nothing_outlives_a_command(tmp_path: Path, end: str, code: int) -> None:
    """Neither a child nor a daemon, when the end is told."""
    ran = Supervised([sys.executable, "-c", family(end), str(tmp_path)], streams=QUIET)
    ended = ran.wait(_SECONDS)
    living = [name for name, pid in pids(tmp_path).items() if lives(pid)]
    ran.close()

    assert (True, code) == (ended, ran.code)
    assert "daemon" in pids(tmp_path)
    assert [] == living


@linux
@pytest.mark.parametrize("ended_by", ["end", "supervisor told", "channel closed"])
def test_nothing_outlives_the_word_to_end(tmp_path: Path, ended_by: str) -> None:
    """Of the host or of the system."""
    ran = Supervised([sys.executable, "-c", family("sleep('itself')"), str(tmp_path)], streams=QUIET)
    began = wait_for(lambda: len(pids(tmp_path)) == len(NAMES))
    if ended_by == "end":
        ran.end()
    elif ended_by == "supervisor told":
        os.kill(ran.supervisor, signal.SIGTERM)
        ran.wait(_SECONDS)
    ran.close()

    assert began
    assert [] == [name for name, pid in pids(tmp_path).items() if lives(pid)]


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM, signal.SIGSEGV])
def test_nothing_outlives_the_host(tmp_path: Path, number: signal.Signals) -> None:
    """Which has no say in it: the worker, its child, its daemon, its folder and those of the run go."""
    host, seen, folder, scratch_folder = start_host(tmp_path, "900")
    began = wait_for(lambda: len(pids(seen)) == len(NAMES))
    host.send_signal(number)
    host.communicate(timeout=_SECONDS)

    assert began
    assert wait_for(lambda: not any(map(lives, pids(seen).values())))
    assert wait_for(lambda: not folder.exists() and [] == os.listdir(scratch_folder))


@linux
def test_a_worker_does_not_outlast_its_limit_while_the_host_is_stopped(tmp_path: Path) -> None:
    """A host in the background of a shell may be stopped for ever; when it goes on it is told."""
    host, seen, _, _ = start_host(tmp_path, "5")
    began = wait_for(lambda: len(pids(seen)) == len(NAMES))
    host.send_signal(signal.SIGSTOP)
    ended = wait_for(lambda: not any(map(lives, pids(seen).values())))
    host.send_signal(signal.SIGCONT)
    output, _ = host.communicate(timeout=_SECONDS)

    assert (True, True) == (began, ended)
    assert output.startswith(("signal killed by SIGKILL", "timeout the process took longer"))


def start_host(tmp_path: Path, limit: str) -> tuple[subprocess.Popen[str], Path, Path, Path]:
    """The host, the folder where the family tells of itself, a folder of the run, and the one for temporary files."""
    seen, folder, temporary, script = (tmp_path / name for name in ("seen", "run", "tmp", "worker.py"))
    for made in (seen, folder, temporary):
        made.mkdir()
    (folder / "recorded").touch()
    goes_on = family("sleep('itself')")
    script.write_text(f"import os, sys\nsys.argv.append(os.environ['SEEN'])\n{goes_on}")
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(script), str(seen), str(folder), limit],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        text=True,
    )
    return host, seen, folder, temporary


@linux
def test_a_command_ends_with_its_supervisor(tmp_path: Path) -> None:
    """Which a model may kill."""
    kills = "import os, sys, time\nopen(sys.argv[-1], 'w').write(str(os.getpid()))\nos.kill(os.getppid(), 9)\n" + SLEEPS
    ran = Supervised([sys.executable, "-c", kills, str(tmp_path / "itself")], streams=QUIET)
    ended = ran.wait(_SECONDS)
    ran.close()

    assert (True, None) == (ended, ran.code)
    assert wait_for(lambda: not lives(pids(tmp_path)["itself"]))


@posix
def test_signals_of_the_host_are_not_inherited(tmp_path: Path) -> None:
    """Where it ignores some; and the command may end by a broken pipe."""
    code = "import signal, sys; print(*[int(signal.getsignal(n) is signal.SIG_IGN) for n in (17, 25)])"
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with (tmp_path / "out").open("wb") as out:
            ran = Supervised([sys.executable, "-S", "-c", code], streams={**QUIET, "stdout": out})
            ran.wait(_SECONDS)
            ran.close()
    finally:
        signal.signal(signal.SIGCHLD, before)

    assert "0 1\n" == (tmp_path / "out").read_text()  # Python itself ignores SIGXFSZ


@pytest.mark.parametrize("has_sessions", [True, False])
@pytest.mark.parametrize("command", [["/absent/python"], ["no-such-program"], ["a\0b"]])
def test_what_cannot_be_run_is_told(monkeypatch: pytest.MonkeyPatch, command: list[str], has_sessions: bool) -> None:
    """With or without a supervisor."""
    monkeypatch.setattr(supervised, "_HAS_SESSIONS", has_sessions and os.name == "posix")

    def run() -> None:
        ran = Supervised(command, streams=QUIET)
        try:
            ran.wait(_SECONDS)
        finally:
            ran.end()
            ran.close()

    with pytest.raises(LaunchError, match=r"^(No such file or directory|embedded null byte)"):
        run()


@posix
def test_a_command_that_cannot_be_run_has_ended() -> None:
    """Also where the reason and the end come at once."""
    ran = Supervised(["/absent/python"], streams=QUIET)
    with suppress(subprocess.TimeoutExpired):  # it stays until it is let go
        ran.process.wait(1.0)
    for _ in range(2):
        with pytest.raises(LaunchError, match="No such file"):
            ran.wait(_SECONDS)
    ran.close()

    assert 127 == ran.code


@posix
def test_output_of_any_kind_is_bounded() -> None:
    """A line of 200 MB, and bytes of no encoding."""
    code = "import os\nfor _ in range(200): os.write(1, b'\\xff' * (1 << 20))"
    ran = Supervised([sys.executable, "-c", code], streams={**QUIET, "stdout": subprocess.PIPE})
    assert ran.process.stdout is not None
    tail = Tail(ran.process.stdout.fileno(), 1000)
    ended = ran.wait(_SECONDS)
    stopped = tail.stop()
    ran.process.stdout.close()
    ran.close()

    assert (True, True) == (ended, stopped)
    assert "\ufffd" * 1000 == tail.text()


@linux
@pytest.mark.parametrize("words", ["yes", "exec cat /dev/zero", 'printf "%s\\n" "$@"', 'printf "%s[]\\n" "$3"'])
def test_an_interpreter_that_is_something_else_is_told(tmp_path: Path, words: str) -> None:
    """Output without end is not kept, and words of ours are no answer."""
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{words}\n")
    program.chmod(0o755)
    with pytest.raises(interpreter.InterpreterError, match=r"gave no answer within|is no Python that works"):
        interpreter.describe(str(program), limit=0.5)


@linux
def test_the_folders_of_killed_processes_go_with_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of living ones stay, and so does what is not ours."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = (
        "import os, sys, time\nfrom migrate_lint.runtime_checks.supervised import scratch\n"
        "with scratch() as folder:\n    print(folder, flush=True)\n    sys.stdin.read()\n    os._exit(0)"
    )
    others = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    killed, living = [Path((other.stdout.readline() if other.stdout else "").strip()) for other in others]
    (killed / "inner").mkdir()
    others[0].kill()
    others[0].communicate(timeout=_SECONDS)
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "migrate-lint-run-link").symlink_to(outside)
    with scratch() as mine:
        found = {path.name for path in tmp_path.iterdir()}
    others[1].communicate(timeout=_SECONDS)

    assert {living.name, os.path.basename(mine), "outside", "migrate-lint-run-link"} == found
    assert not os.path.exists(mine)


def test_a_folder_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    """Deeper than a path may be long, read-only, without rights, full of links; what these lead to stays."""
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "kept").touch()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("deeper", dir_fd=here)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.symlink(outside, "link", dir_fd=here)
    os.close(here)
    for name, mode in (("locked", 0o500), ("closed", 0o000)):
        (folder / name / "inner").mkdir(parents=True)
        (folder / name / "inner" / "file").touch()
        (folder / name / "inner").chmod(mode)
        (folder / name).chmod(mode)
    supervisor.remove(str(folder))

    assert not folder.exists()
    assert ["kept"] == os.listdir(outside)


@linux
def test_the_table_of_processes_has_this_one_below_its_parent() -> None:
    """And descendants are found through all generations."""
    assert os.getppid() == {pid: parent for pid, parent, _, _ in supervisor.processes()}[os.getpid()]
    assert {1, 2, 3} == supervisor.descendants({1}, {2: 1, 3: 2, 5: 4})
