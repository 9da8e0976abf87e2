from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks import process
from migrate_lint.runtime_checks.process import Outcome, start

pytestmark = pytest.mark.slow
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and process groups")

LIMIT = 3.0
"""For a phase that hangs; the start of a fake worker takes a fiftieth of it."""
LONG = 300.0
"""What nothing here takes that does not hang; what hangs does so for twice as long."""
WORKER = """
import hmac, json, os, signal, subprocess, sys, time
FOLDER = os.path.dirname(sys.argv[1])
RESULTS = os.path.join(FOLDER, "results.json")
KEY = bytes.fromhex(json.load(open(sys.argv[1]))["key"])
OWN = os.getpid()

def put(text):
    with open(RESULTS + ".new", "w") as file:
        file.write(text)
    os.replace(RESULTS + ".new", RESULTS)

def write(text):
    put(hmac.new(KEY, text.encode(), "sha256").hexdigest() + "\\n" + text)

def wait_until_seen(phase):
    while not os.path.exists(os.path.join(os.environ["SEEN"], phase)):
        time.sleep(0.01)

def say(phase, done=False, **more):
    if os.getpid() != OWN:
        os._exit(0)  # a forked child, as in worker/results.py
    known = dict(phase=phase, began=time.time(), done=done, token=os.environ["MIGRATE_LINT_RUN"], folder=FOLDER)
    write(json.dumps(dict(known, **more)))

"""
GRANDCHILD = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)"
DOUBLE_FORK = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
"""

Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the lines of a fake worker."""

    def see(phase: str) -> None:
        (tmp_path / "seen" / phase).touch()

    def run(body: str, *, timeout: float = LONG, job: dict[str, Any] | None = None, **more: Any) -> Outcome:
        script = tmp_path / "worker" / "start.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(WORKER + body, "utf-8")
        (tmp_path / "seen").mkdir(exist_ok=True)
        settings: dict[str, Any] = {"memory_limit": None, "environment": {}, "on_phase": see, **more}
        settings["environment"] = {"SEEN": str(tmp_path / "seen"), **settings["environment"]}
        return start(sys.executable, script, job or {}, timeout=timeout, **settings)

    return run


def results(outcome: Outcome) -> dict[str, Any]:
    assert outcome.results is not None, outcome
    return outcome.results


def marked(token: str) -> list[str]:
    """Living processes whose environment has the token."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal() and token.encode() in (entry / "environ").read_bytes():
                found.append(entry.name)
    return found


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_done(run: Run) -> None:
    """A worker that says done and ends has status 0, its results, its seconds and no cause."""
    began = time.monotonic()
    outcome = run("say('build'); time.sleep(0.3); say(None, done=True, events=[1])")

    assert ("done", 0, None, "", "") == (outcome.ended, outcome.status, outcome.phase, outcome.cause, outcome.output)
    assert [1] == results(outcome)["events"]
    assert 0.3 < outcome.seconds <= time.monotonic() - began


def test_job(run: Run) -> None:
    """The worker's one argument is the path of its job."""
    outcome = run("say(None, done=True, job=json.load(open(sys.argv[1])), count=len(sys.argv))", job={"file": "ä.py"})

    assert ({"file": "ä.py"}, 2) == ({"file": results(outcome)["job"]["file"]}, results(outcome)["count"])


def test_private_folder(run: Run) -> None:
    """Temporary files of the worker lie in its folder, which is gone afterwards, read-only folders in it too."""
    outcome = run("""
import tempfile
made = tempfile.mkdtemp()
os.mkdir(made + "/locked")
open(made + "/locked/file", "w").close()
os.chmod(made + "/locked", 0o500)
say(None, done=True, made=made, inside=made.startswith(FOLDER + os.sep), open=os.stat(FOLDER).st_mode & 0o77)
""")

    assert (True, 0) == (results(outcome)["inside"], results(outcome)["open"])
    assert not os.path.exists(results(outcome)["folder"])


def test_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given variables are set, None takes one away, and CUDA is hidden unless something else is given."""
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    monkeypatch.setenv("PATH_OF_THE_USER", "kept")
    body = "say(None, done=True, environment=dict(os.environ))"
    changed = results(run(body, environment={"TF_USE_LEGACY_KERAS": None, "KERAS_BACKEND": "tensorflow"}))
    gpu = results(run(body, environment={"CUDA_VISIBLE_DEVICES": "0"}))

    assert "TF_USE_LEGACY_KERAS" not in changed["environment"]
    assert ("tensorflow", "kept", "-1", "0") == tuple(
        changed["environment"][name]
        for name in ("KERAS_BACKEND", "PATH_OF_THE_USER", "CUDA_VISIBLE_DEVICES", "TF_ENABLE_ONEDNN_OPTS")
    )
    assert "0" == gpu["environment"]["CUDA_VISIBLE_DEVICES"]


def test_folders_of_the_run(run: Run, tmp_path: Path) -> None:
    """They go only where this process is killed."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recorded").touch()
    fine, hanging = run("say(None, done=True)", folders=[str(tmp_path / "run")]), run(
        "say('build'); time.sleep(600)", timeout=LIMIT, folders=[str(tmp_path / "run")]
    )

    assert ("done", "timeout") == (fine.ended, hanging.ended)
    assert (tmp_path / "run" / "recorded").exists()


def test_standard_input_and_folder(run: Run) -> None:
    """Standard input is empty, and the working directory is this process's."""
    outcome = run("say(None, done=True, read=sys.stdin.read(), cwd=os.getcwd())")

    assert ("", os.getcwd()) == (results(outcome)["read"], results(outcome)["cwd"])


@posix
@pytest.mark.parametrize(
    ("body", "ended", "status", "phase", "cause"),
    [
        ("say('import'); sys.exit(3)", "exited", 3, "import", "exited with status 3 in phase import"),
        ("sys.exit(2)", "exited", 2, None, "exited with status 2 before its first phase"),
        ("say('import'); say(None); sys.exit(3)", "exited", 3, None, "exited with status 3 between two phases"),
        (
            "say('build'); os._exit(0)",
            "exited",
            0,
            "build",
            "the process ended with status 0 in phase build, before its result",
        ),
        ("", "exited", 0, None, "the process ended with status 0 before its first phase"),
        ("say('build'); os.kill(os.getpid(), 11)", "signal", 11, "build", "killed by SIGSEGV in phase build"),
        ("say('build'); os.abort()", "signal", 6, "build", "killed by SIGABRT in phase build"),
        ("say('build'); os.kill(os.getpid(), 9)", "signal", 9, "build", "killed by SIGKILL in phase build"),
    ],
)
def test_cause(run: Run, body: str, ended: str, status: int, phase: str | None, cause: str) -> None:
    """An end without a result is told with its status or signal and its phase."""
    outcome = run(body)

    assert (ended, status, phase, cause) == (outcome.ended, outcome.status, outcome.phase, outcome.cause)


@posix
def test_signal_without_a_name(run: Run) -> None:
    """A real-time signal has only a number."""
    outcome = run("say('build'); os.kill(os.getpid(), 40)")

    assert ("signal", 40, "killed by signal 40 in phase build") == (outcome.ended, outcome.status, outcome.cause)


def test_status_after_done(run: Run) -> None:
    """A worker that is done stays done, whatever its interpreter does as it ends."""
    failed = run("say(None, done=True); sys.exit(4)")
    crashed = run("say(None, done=True); os.abort()")

    assert [("done", 4, ""), ("done", None, "")] == [(it.ended, it.status, it.cause) for it in (failed, crashed)]


def test_done_and_not_ending(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that goes on after the result costs a short grace, not the limit."""
    monkeypatch.setattr(process, "_GRACE", 0.2)
    outcome = run("say(None, done=True); time.sleep(600)")

    assert ("done", None) == (outcome.ended, outcome.status)
    assert outcome.seconds < LONG


def test_timeout(run: Run) -> None:
    """A phase that hangs ends the worker, and what it found before is kept."""
    outcome = run("say('import', found=1); say('build', found=2); time.sleep(600)", timeout=LIMIT)

    assert ("timeout", None, "build") == (outcome.ended, outcome.status, outcome.phase)
    assert "phase build took longer than 3 s and was stopped (see --timeout)" == outcome.cause
    assert 2 == results(outcome)["found"]
    assert outcome.seconds < LONG


def test_timeout_before_the_first_phase(run: Run) -> None:
    """The start of the worker has the limit of a phase."""
    outcome = run("time.sleep(600)", timeout=LIMIT)

    assert ("timeout", None) == (outcome.ended, outcome.phase)
    assert "the process took longer than 3 s before its first phase and was stopped (see --timeout)" == outcome.cause


def test_limit_of_each_phase(run: Run) -> None:
    """Three phases may together last longer than the limit, also when they share a name."""
    outcome = run("for _ in range(3): say('call'); time.sleep(1.2)\nsay(None, done=True)", timeout=LIMIT)

    assert "done" == outcome.ended
    assert outcome.seconds > LIMIT


@pytest.mark.parametrize("began", ["time.time() + 1e6", "0", "-1e11"])
def test_clock_of_the_worker(run: Run, began: str) -> None:
    """A model that changes the clock moves no limit."""
    slow = run(f"say('build', began={began}); time.sleep(600)", timeout=LIMIT)
    fast = run(f"say('build', began={began}); time.sleep(0.3); say(None, done=True, began={began})", timeout=LONG)

    assert ("timeout", "done") == (slow.ended, fast.ended)
    assert slow.seconds < LONG


@posix
def test_stopped_worker(run: Run) -> None:
    """A worker that stops itself is no worker that ended."""
    outcome = run("say('build'); os.kill(os.getpid(), signal.SIGSTOP)", timeout=LIMIT)

    assert ("timeout", "build") == (outcome.ended, outcome.phase)


@posix
def test_ignored_signals(run: Run) -> None:
    """A worker that ignores what can be ignored is ended all the same."""
    body = "[signal.signal(number, signal.SIG_IGN) for number in (1, 2, 3, 15)]; say('build'); time.sleep(600)"
    outcome = run(body, timeout=LIMIT)

    assert "timeout" == outcome.ended


@posix
def test_peak_memory(run: Run) -> None:
    """The peak is the worker's resident set in bytes; Linux counts from the fork on, so it is never below ours."""
    import resource

    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    outcome = run("kept = b'x' * (300 << 20); say(None, done=True)")

    assert 300 << 20 < outcome.peak_memory < max(600 << 20, own + (100 << 20))


@linux
def test_memory_limit(run: Run) -> None:
    """A worker above its limit is stopped."""
    body = "say('build'); kept = b'x' * (300 << 20); time.sleep(600)"
    outcome = run(body, memory_limit=(1 << 30) // 5)

    assert ("memory", None, "build") == (outcome.ended, outcome.status, outcome.phase)
    assert "used more than 0.2 GiB of memory in phase build and was stopped (see --memory-limit)" == outcome.cause


@linux
def test_memory_of_descendants(run: Run) -> None:
    """What a child in another session holds counts too."""
    child = "import time; kept = b'x' * (300 << 20); time.sleep(600)"
    body = f"""
say('build')
subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)
time.sleep(600)
"""
    outcome = run(body, memory_limit=200 << 20)

    assert "memory" == outcome.ended
    assert [] == marked(results(outcome)["token"])


@linux
def test_shared_pages(run: Run) -> None:
    """Pages that forked children share count once: four forks of 150 MiB stay below 400 MiB."""
    outcome = run(
        """
say('build')
kept = b'x' * (150 << 20)
for _ in range(4):
    if os.fork() == 0:
        time.sleep(600)
time.sleep(1)
say(None, done=True)
""",
        memory_limit=400 << 20,
    )

    assert "done" == outcome.ended


@linux
@pytest.mark.parametrize("leaver", [GRANDCHILD, DOUBLE_FORK, "os.fork()", "if os.fork() == 0: time.sleep(600)"])
@pytest.mark.parametrize(
    ("end", "ended"),
    [
        ("say(None, done=True, token=TOKEN)", "done"),
        ("os._exit(3)", "exited"),
        ("os.abort()", "signal"),
        ("time.sleep(600)", "timeout"),
    ],
)
def test_nothing_is_left(run: Run, leaver: str, end: str, ended: str) -> None:
    """However the worker ends, what it started ends with it, sessions of their own and orphans included."""
    body = f"TOKEN = os.environ['MIGRATE_LINT_RUN']\nsay('build')\n{leaver}\ntime.sleep(0.1)\n{end}"
    outcome = run(body, timeout=LIMIT)

    assert ended == outcome.ended
    assert [] == marked(results(outcome)["token"])


@linux
def test_child_without_the_mark(run: Run) -> None:
    """A child in a session of its own with an empty environment is found through its parent."""
    outcome = run(
        """
child = subprocess.Popen(["/bin/sleep", "600"], env={}, start_new_session=True)
say('build', child=child.pid)
time.sleep(600)
""",
        timeout=LIMIT,
    )

    assert not lives(results(outcome)["child"])


@posix
def test_child_that_exits(run: Run) -> None:
    """The end of a forked child is not the end of the worker."""
    body = "say('build')\nif os.fork() == 0: sys.exit(5)\ntime.sleep(0.5); say(None, done=True, pid=os.getpid())"
    outcome = run(body)

    assert ("done", 0) == (outcome.ended, outcome.status)
    assert outcome.seconds > 0.5


@linux
def test_pipe_held_open(run: Run) -> None:
    """A process that has got away with the worker's output open is ended with it, whatever its session and parent."""
    body = """
inner = "import subprocess as s; print(s.Popen(['/bin/sleep', '600'], stdout=2, env={}, start_new_session=True).pid)"
middle = subprocess.Popen([sys.executable, "-c", inner], env={}, stdout=subprocess.PIPE)
escaped = int(middle.communicate()[0])
say(None, done=True, escaped=escaped)
"""
    outcome = run(body)

    assert "done" == outcome.ended
    assert not lives(results(outcome)["escaped"])


def test_flood(run: Run) -> None:
    """Of 40 MB of output the last 16 KiB are kept, from the start of a line."""
    body = "say('build')\nfor _ in range(400): sys.stdout.write('x' * 99_999 + '\\n')\nprint('last', flush=True)"
    short = "say('build')\nfor n in range(9000): sys.stdout.write('line %d\\n' % n)"
    outcome, lines = run(body), run(short)

    assert "last\n" == outcome.output
    assert lines.output.startswith("line ")
    assert lines.output.endswith("line 8999\n")
    assert 16_000 < len(lines.output) <= 16_384


def test_both_streams(run: Run) -> None:
    """Standard output and error are one text in the order of writing; what is no UTF-8 is replaced."""
    body = "print('one'); sys.stderr.write('two\\n'); os.write(1, b'\\xff\\x1b[31m\\n')"

    assert "one\ntwo\n\ufffd\x1b[31m\n" == run(body).output


def test_output_before_a_hang(run: Run) -> None:
    """What was printed before the worker is killed is there, though nobody flushed it."""
    assert "started\n" == run("print('started'); say('build'); time.sleep(600)", timeout=LIMIT).output


NOISE = """\
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1732167123.456789    1234 port.cc:153] oneDNN custom operations are on.
I0000 00:00:1732167123.456789    1234 cpu_feature_guard.cc:227] This TensorFlow binary is optimized to use available CPU
To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow with the appropriate flags.
2024-11-21 06:52:30.123456: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on.
2024-11-21 06:52:30.123456: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: not found
2024-11-21 06:52:30.123456: E external/local_xla/xla/cuda_dnn.cc:9261] Unable to register cuDNN factory
E0000 00:00:1732167123.456789    1234 cuda_blas.cc:1407] Unable to register cuBLAS factory
E0000 00:00:1732167123.456789    1234 cuda_platform.cc:51] failed call to cuInit: INTERNAL: unknown error
W0000 00:00:1732167123.456789    1234 computation_placer.cc:177] computation placer already registered.
Extension modules: numpy._core._multiarray_umath, google._upb._message (total: 2)
"""
KEPT = """\
I1121 06:52:30.123456 140 model.py:12] a log line of the user
2024-11-21 06:52:30.123456: F tensorflow/core/platform/env.cc:391] Check failed: ret == 0 (11 vs. 0)
2024-11-21 06:52:30.123456: E external/xla/cuda_driver.cc:1] failed to allocate 8.0G: CUDA_ERROR_OUT_OF_MEMORY
Traceback (most recent call last):
"""


def test_noise(run: Run) -> None:
    """TensorFlow's start-up lines go; the user's lines, failed checks and other errors stay."""
    assert KEPT == run(f"sys.stdout.write({NOISE + KEPT!r})").output


FORGED = "dict(phase=None, began=time.time(), done=True, judgements={'0': ['refuted', 'second call', 'forged']})"


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (f"put(json.dumps({FORGED}))", "something else than the worker wrote its file"),
        (f"put('0' * 64 + '\\n' + json.dumps({FORGED}))", "something else than the worker wrote its file"),
        ("put('')", "something else than the worker wrote its file"),
        ("open(RESULTS, 'wb').write(b'\\xff\\xfe')", "something else than the worker wrote its file"),
        ("os.symlink('/dev/zero', RESULTS + '~'); os.replace(RESULTS + '~', RESULTS)", "it is no regular file"),
        ("os.truncate(RESULTS, 3 << 30)", "it is larger than 64 MiB"),
        ("write('{')", "Expecting property name enclosed in double quotes"),
        ("write('[1]')", "its file does not say how far it is"),
        ('write(\'{"phase": 7, "began": 0, "done": false}\')', "its file does not say how far it is"),
        ('write(\'{"phase": null, "began": NaN, "done": true}\')', "its file does not say how far it is"),
        ('write(\'{"phase": "x", "began": 0}\')', "its file does not say how far it is"),
        ("write('9' * 5000)", "Exceeds the limit"),
        ("write('[' * 100_000)", "its file is nested too deeply"),
        ("os.remove(RESULTS)", "its file is gone"),
        ("os.remove(RESULTS); os.mkdir(RESULTS)", "Is a directory"),
        pytest.param("os.remove(RESULTS); os.mkfifo(RESULTS)", "it is no regular file", marks=posix),
    ],
)
def test_damaged_results(run: Run, broken: str, why: str) -> None:
    """What the worker did not write, or cannot have written, is told and not believed: the last good one counts."""
    outcome = run(f"say('build', found=1); wait_until_seen('build'); {broken}; os._exit(0)")

    assert ("damaged", "build", 1) == (outcome.ended, outcome.phase, results(outcome)["found"])
    assert outcome.cause.startswith(f"the results of the worker are damaged: {why}")


def test_damage_that_is_mended(run: Run) -> None:
    """What the worker writes last counts."""
    outcome = run(f"say('build'); put(json.dumps({FORGED})); time.sleep(0.3); say(None, done=True, found=1)")

    assert ("done", "", 1) == (outcome.ended, outcome.cause, results(outcome)["found"])


def test_broken_for_a_while(run: Run) -> None:
    """A file that cannot be read at one look is read at a later one."""
    outcome = run("write('{'); time.sleep(0.3); say('build'); sys.exit(3)")

    assert "exited with status 3 in phase build" == outcome.cause


def test_phases_are_told(run: Run, tmp_path: Path) -> None:
    """Each phase that is seen to run is told once, in order."""
    heard: list[str] = []
    body = """
for name in ("import", "build", "call"):
    say(name); wait_until_seen(name); say(name, found=1, began=0); say(None); time.sleep(0.25)
say(None, done=True)
"""

    def hear(phase: str) -> None:
        heard.append(phase)
        (tmp_path / "seen" / phase).touch()

    run(body, on_phase=hear)

    assert ["import", "build", "call"] == list(dict.fromkeys(heard))


@linux
def test_interrupt(run: Run) -> None:
    """Ctrl-C ends the worker with all that it started, and takes its folder away."""
    seen: dict[str, list[str]] = {}
    body = f"{GRANDCHILD}\ntime.sleep(0.1); say(os.environ['MIGRATE_LINT_RUN'])\ntime.sleep(600)"

    def press(token: str) -> None:
        seen[token] = marked(token)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        run(body, on_phase=press)

    assert [3] == [len(processes) for processes in seen.values()]  # with the supervisor
    assert [] == [process for token in seen for process in marked(token)]


def test_error_of_the_listener(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception of the listener comes through, and the folder is gone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def fail(phase: str) -> None:
        raise LookupError(phase)

    with pytest.raises(LookupError, match="build"):
        run("say('build'); time.sleep(600)", on_phase=fail)

    assert [] == list(tmp_path.glob("migrate-lint-*"))


@pytest.mark.parametrize(("name", "reason"), [("absent", "No such file or directory"), ("plain", "Permission denied")])
@posix
def test_not_started(tmp_path: Path, name: str, reason: str) -> None:
    """An interpreter that cannot be run is no worker that failed."""
    (tmp_path / "plain").write_text("", "utf-8")
    python = str(tmp_path / name)
    outcome = start(python, "start.py", {}, timeout=1.0, memory_limit=None, environment={})

    assert ("not started", None, None) == (outcome.ended, outcome.status, outcome.results)
    assert f"could not be started: {python}: {reason}" == outcome.cause


@posix
def test_crash_frame(run: Run, tmp_path: Path) -> None:
    """A real crash keeps faulthandler's text and names the user's line, not the library's below nor the worker's."""
    model = tmp_path / "model.py"
    model.write_text("import ctypes\n\n\ndef build():\n    ctypes.string_at(0)\n", "utf-8")
    outcome = run(f"sys.path.insert(0, {str(tmp_path)!r}); import model; say('build'); model.build()")

    assert "killed by SIGSEGV in phase build" == outcome.cause
    assert "Fatal Python error: Segmentation fault" in outcome.output
    assert (str(model), 5) == outcome.crash_frame


DUMP = """\
Fatal Python error: Aborted

Thread 0x00007f0000000001 (most recent call first):
  File "/project/other.py", line 1 in idle
Current thread 0x00007f0000000002 (most recent call first):
  File "<frozen importlib._bootstrap>", line 1 in _load
  File "/venv/lib/python3.11/site-packages/tensorflow/x.py", line 2 in run
  File "/usr/lib/python3/dist-packages/numpy/x.py", line 3 in run
  File "/usr/lib64/python3.13t/threading.py", line 4 in run
  File "C:\\Python311\\Lib\\threading.py", line 5 in run
  File "/project/lib/python/model.py", line 6 in helper
  File "/project/model.py", line 7 in build
Thread 0x00007f0000000003 (most recent call first):
  File "/project/main.py", line 8 in <module>
"""


@pytest.mark.parametrize(
    ("dump", "frame"),
    [
        (DUMP, ("/project/lib/python/model.py", 6)),
        (DUMP.replace("Current thread", "Thread"), ("/project/main.py", 8)),
        ("Traceback (most recent call last):\n", None),
    ],
)
def test_thread_of_the_crash(run: Run, dump: str, frame: tuple[str, int] | None) -> None:
    """The thread that crashed counts, the last one where none is named: that is the main thread."""
    body = f"sys.stdout.write({dump!r}); sys.stdout.flush(); os.abort()"

    assert frame == run(body, environment={"PYTHONFAULTHANDLER": None}).crash_frame


@linux
@pytest.mark.parametrize("supervised", [False, True])
def test_other_systems(run: Run, monkeypatch: pytest.MonkeyPatch, supervised: bool) -> None:
    """Without /proc, and without sessions, a worker is still watched and ended."""
    monkeypatch.setattr("migrate_lint.runtime_checks.supervisor.PROC", "/absent")
    monkeypatch.setattr("migrate_lint.runtime_checks.supervised._HAS_SESSIONS", supervised)
    fine = run("say(None, done=True)", memory_limit=1)
    hanging = run("say('build', pid=os.getpid()); time.sleep(600)", timeout=LIMIT)

    assert [("done", 0), ("timeout", None)] == [(it.ended, it.status) for it in (fine, hanging)]
    assert supervised == bool(fine.peak_memory)
    assert not lives(results(hanging)["pid"])


@posix
def test_ignored_children(run: Run) -> None:
    """A host that ignores SIGCHLD gets the status all the same: the supervisor does not."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        fine, failed = run("say(None, done=True)"), run("say('build'); sys.exit(3)")
    finally:
        signal.signal(signal.SIGCHLD, before)

    assert [("done", 0), ("exited", 3)] == [(it.ended, it.status) for it in (fine, failed)]


def test_imports() -> None:
    """The host side needs the standard library alone."""
    code = "import sys, migrate_lint.runtime_checks.process; print(*{'libcst', 'numpy', 'tensorflow'} & {*sys.modules})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "" == ran.stdout.strip()
