"""Models that do not want to be run: what the command line says of them, and that nothing of them is left."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from .command_runs import Case, Ran, line_of

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts processes by /proc"),
]

MODEL = """\
import ctypes, os, signal, subprocess, sys, tempfile, threading, time
import numpy as np
import tensorflow as tf


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(2.0)  # static


def build():
{body}
    return Scale(), tf.ones((2, 3))
"""
SHORT = ("--timeout", "45")
"""For what hangs: more than TensorFlow's import takes on a loaded machine."""


def model(body: str) -> str:
    return MODEL.format(body=textwrap.indent(textwrap.dedent(body).strip("\n"), "    "))


@dataclass(frozen=True)
class Failure:
    """A build that fails: with which words (a pattern), in which phase; the line is the one marked ``# here``, or 1."""

    body: str
    cause: str
    phase: str = "build"
    options: Sequence[str] = ()


FAILURES = {
    "raises": Failure(
        "raise LookupError('no\\nweights')  # here", "build failed: LookupError: no weights \\(model.py:"
    ),
    "raises what prints badly": Failure(
        """
        class Bad(Exception):
            def __str__(self):
                raise ValueError("no text")
        raise Bad()  # here
        """,
        "build failed: Bad",
    ),
    "floods and never ends": Failure(
        """
        while True:
            time.sleep(os.write(1, b"x" * 99_999 + b"\\n") / 1e7)  # here
        """,
        "phase build took longer than 45 s and was stopped",
        options=SHORT,
    ),
    "hangs in a graph": Failure(
        """
        @tf.function
        def endless(x):
            return len([time.sleep(0.1) for _ in tf.data.Dataset.range(3)]) * x
        endless(tf.ones(()))  # here
        """,
        "phase build took longer than 45 s and was stopped",
        options=SHORT,
    ),
    "exits 0": Failure("os._exit(0)", "the process ended with status 0 in phase build, before its result"),
    "exits 3": Failure(
        "print('no licence\\n', flush=True); os._exit(3)",
        "exited with status 3 in phase build; it last wrote: no licence",
    ),
    "sys.exit 0": Failure("sys.exit()  # here", "the program would end the process: SystemExit \\(model.py:"),
    "sys.exit 3": Failure("sys.exit(3)  # here", "the program would end the process: SystemExit: 3 \\(model.py:"),
    "is interrupted": Failure("raise KeyboardInterrupt  # here", "build failed: KeyboardInterrupt \\(model.py:"),
    "segfaults": Failure("ctypes.string_at(0)  # here", "killed by SIGSEGV in phase build"),
    "aborts without standard error": Failure(
        "os.close(2); os.close(1); os.abort()  # here", "killed by SIGABRT in phase build"
    ),
    "floods and aborts in a thread": Failure(
        """
        def fail():
            for _ in range(200):
                os.write(1, b"x" * 99_999 + b"\\n")
            os.abort()  # here
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
        """,
        "killed by SIGABRT in phase build",
    ),
    "kills its group": Failure("os.killpg(0, signal.SIGKILL)", "killed by SIGKILL in phase build"),
    "fills numpy's memory": Failure(
        """
        kept = []
        while True:
            kept.append(np.ones(1 << 22))  # here
        """,
        "MemoryError|used more than 2.0 GiB of memory in phase build and was stopped",
        options=("--memory-limit", "2"),
    ),
    "fills memory with small objects": Failure(
        """
        kept = []
        while True: kept.append([[]] * 999)  # here
        """,
        "MemoryError|used more than 2.0 GiB of memory in phase build and was stopped",
        options=("--memory-limit", "2"),
    ),
    "fills TensorFlow's memory": Failure(
        """
        kept = []
        while True:
            kept.append(tf.ones((1 << 24,)))  # here
        """,
        "OOM when allocating tensor|used more than 2.0 GiB of memory in phase build and was stopped",
        options=("--memory-limit", "2"),
    ),
    "reads standard input": Failure("input('weights? ')  # here", "build failed: EOFError: EOF when reading a line"),
    "debugs": Failure("while True: breakpoint()  # here", "build failed: BdbQuit \\(model.py:"),
    "forks and raises": Failure(
        """
        for _ in range(2):
            if os.fork() == 0:
                os.setsid()
                time.sleep(1000)
        raise OSError("enough")  # here
        """,
        "build failed: OSError: enough",
    ),
    "recurses": Failure(
        """
        def again(n): return again(n + 1) + 1  # here
        again(0)
        """,
        "build failed: RecursionError: maximum recursion depth exceeded",
    ),
}

BROKEN_HELPER = "import tensorflow as tf\n\nscale = (1,\n"
MISSING = "import tensorflow as tf\n\nimport package_that_is_nowhere\n\n\ndef build():\n    return tf.nn.relu\n"
EXITS_EARLY = model("pass").replace("import numpy as np", "os._exit(0)")

MEDDLING = """\
import builtins, io, os, signal, sys, tempfile, time, warnings
import tensorflow as tf

rang = []
signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
sys.settrace(lambda *_: None)
builtins.print = lambda *_, **__: None
sys.stdout = sys.stderr = io.StringIO()
warnings.simplefilter("always")
for number in range(9999):
    warnings.warn(f"warning {number}")


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        sys.settrace(None)
        return x * tf.Variable(2.0)  # static


def build():
    signal.alarm(1)
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)
    while not rang:
        time.sleep(0.01)
    for stream in (0, 1, 2):
        os.close(stream)
    return Scale(), tf.ones((2, 3))
"""
FORKING = model(
    """
    if os.fork() == 0:
        time.sleep(1000)
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        while True:
            time.sleep(1)
    subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
    os.fork()
    for _ in range(99):
        os.write(1, b"x" * 99_999)
    """
)
DAEMON = model(
    """
    code = "import os, time\\nif os.fork(): os._exit(0)\\nos.setsid()\\nif os.fork(): os._exit(0)\\n"
    own = {name: os.environ[name] for name in os.environ if name != "MIGRATE_LINT_RUN"}
    subprocess.run([sys.executable, "-c", code + "time.sleep(1000)"], env=own, start_new_session=True)
    """
)
LEGACY = "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n" + model(
    "assert 'engine' in tf.keras.layers.Layer.__module__"
)
HANGS_AGAIN = """
import time
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def call(self, x):
        scale = tf.Variable(2.0)
        self.calls += 1
        while self.calls > 1:
            time.sleep(0.1)  # here
        return x * scale


def build():
    return Net(), tf.ones((2, 3))
"""
HANGS_IN_A_STEP = """
import time
import numpy as np
import tensorflow as tf


class Net(tf.keras.Model):
    def call(self, x):
        return 2.0 * x

    def train_step(self, data):
        noise = np.random.normal()
        time.sleep(900 + noise)  # here


def build():
    return Net(), tf.ones((2, 3))
"""
HANGS_IN_A_GRAPH = """\
import time
import tensorflow as tf


@tf.Module.with_name_scope
def unused(self):
    return None


class Scale(tf.Module):
    def __call__(self, x):
        if not tf.executing_eagerly():
            _ = [time.sleep(0.1) for _ in tf.data.Dataset.range(3)]
        return x * tf.Variable(2.0)  # static


def build():
    return Scale(), tf.ones((2, 3))
"""
ONE_BATCH = model("pass").replace(
    "    def call(self, x):\n", "    def call(self, x):\n        assert x.shape[0] == 2  # here\n"
)
HELPER = """\
import tensorflow as tf


def scale(x):
    return x * tf.Variable(2.0)  # static
"""
CALLER = """\
import tensorflow as tf
{imports}


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        return {call}


def build():
    return Scale(), tf.ones((2, 3))
"""
ODD_FOLDER = "größe 模型.py/it's a project"


def unix(text: str) -> str:
    return text


def windows(text: str) -> bytes:
    return b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()


def latin(text: str) -> bytes:
    return f"# coding: latin-1\n# größe\n{text}".encode("latin-1")


def mixed(text: str) -> bytes:
    """Line ends of all kinds, and characters that are no line ends to Python but are to others."""
    return text.replace("\n\n\n", "\r\r\n# \x0b\x0c \x85 \u2028 x\n\x0c").encode()


CASES = {
    **{
        name: Case({"model.py": model(one.body)}, options=one.options, waits=one.options is SHORT)
        for name, one in FAILURES.items()
    },
    "a helper that is no Python": Case(
        {"model.py": model("import helper"), "helper.py": BROKEN_HELPER},
    ),
    "a missing dependency": Case({"model.py": MISSING}),
    "exits when imported": Case({"model.py": EXITS_EARLY}),
    "meddles with everything": Case({"model.py": MEDDLING, "conftest.py": "raise SystemExit('imported')\n"}),
    "forks, floods and goes on": Case({"model.py": FORKING}),
    "forks a daemon": Case({"model.py": DAEMON}),
    "asks for Keras 2 itself": Case({"model.py": LEGACY}),
    "hangs in tf.function alone": Case({"model.py": HANGS_IN_A_GRAPH}, options=SHORT, waits=True),
    "hangs in its second call": Case({"model.py": HANGS_AGAIN}, options=SHORT, waits=True),
    "hangs in its training step": Case({"model.py": HANGS_IN_A_STEP}, options=SHORT, waits=True),
    "takes one batch size": Case({"model.py": ONE_BATCH}),
    "names of the worker's modules": Case(
        {
            "run.py": CALLER.format(
                imports="import main, target, frames",
                call="frames.scale(main.scale(target.scale(x)))",
            ),
            "target.py": HELPER,
            "main.py": HELPER,
            "frames.py": HELPER,
            "start.py": "raise SystemExit('imported')\n",
        },
        target="run.py:build",
    ),
    "the name of a standard module": Case(
        {"json.py": CALLER.format(imports="import phases", call="phases.scale(x)"), "phases.py": HELPER},
        target="./json.py",
    ),
    "odd paths": Case(
        {
            f"{ODD_FOLDER}/nets/__init__.py": "",
            f"{ODD_FOLDER}/nets/deep/__init__.py": "",
            f"{ODD_FOLDER}/nets/deep/model.py": CALLER.format(
                imports="from ..layers import scale\nfrom . import other",
                call="scale(other.scale(x))",
            ),
            f"{ODD_FOLDER}/nets/layers.py": HELPER,
            f"{ODD_FOLDER}/nets/deep/other.py": HELPER,
        },
        target="link/nets/deep/model.py:build",
        prepare=lambda project: (project / "link").symlink_to(project / ODD_FOLDER),
    ),
    "odd texts": Case(
        {
            "model.py": windows(
                CALLER.format(
                    imports="import latin, mixed, unix",
                    call="latin.scale(mixed.scale(unix.scale(x))) * tf.Variable(1.0)  # static",
                )
            ),
            "latin.py": latin(HELPER),
            "mixed.py": mixed(HELPER),
            "unix.py": HELPER,
        },
    ),
    "a folder": Case({"x.py/model.py": model("pass")}, target="x.py:build"),
}


def text_of(name: str, file: str = "model.py") -> str:
    content = CASES[name].files[file]
    return content if isinstance(content, str) else content.decode("latin-1")


@pytest.mark.parametrize("name", FAILURES)
def test_failed_builds(name: str, ran: Ran) -> None:
    """One TF908 says why, at the line where that is known; the static finding has the verdict and the reason."""
    failure, text = FAILURES[name], text_of(name)
    line = line_of(text, "here") if "# here" in text else 1
    reason = failure.cause.removeprefix("build failed: ")

    assert (1, [("model.py", line, "failed")]) == (ran.status, ran.verdicts("TF908"))
    assert re.search(failure.cause, ran.found("TF908")[0]["message"])
    (finding,) = ran.found("TF101")
    assert ("model.py", line_of(text, "static"), "failed") == (finding["path"], finding["line"], finding["verdict"])
    assert [failure.phase] == [one["phase"] for one in finding["evidence"] if re.search(reason, one["detail"])]
    assert ("ok", "failed") == (ran.phases["import"][0], ran.phases[failure.phase][0])
    assert [] == ran.left


@pytest.mark.parametrize(
    ("name", "path", "line", "cause"),
    [
        ("a helper that is no Python", "helper.py", 3, "build failed: SyntaxError: '(' was never closed"),
        ("a missing dependency", "model.py", 3, "import failed: ModuleNotFoundError: No module named 'package_that_is"),
        ("exits when imported", "model.py", 1, "the process ended with status 0 in phase import, before its result"),
    ],
)
def test_failed_imports(name: str, path: str, line: int, cause: str, ran: Ran) -> None:
    """The place is the line that Python refuses, or that imports what is not there."""
    assert (1, [(path, line, "failed")]) == (ran.status, ran.verdicts("TF908"))
    assert cause in ran.found("TF908")[0]["message"]
    assert {"failed"} >= {verdict for _, _, verdict in ran.verdicts("TF101")}
    assert [] == ran.left


@pytest.mark.parametrize("name", ["meddles with everything"])
def test_meddling(name: str, ran: Ran) -> None:
    """A model's tracer, alarm, streams, prints, warnings and vanished folder change no verdict."""
    text = text_of(name)

    assert [] == ran.found("TF908")
    assert [("model.py", line_of(text, "static"), "confirmed")] == ran.verdicts("TF101")
    assert [] == ran.left


@pytest.mark.parametrize("name", ["forks, floods and goes on", "forks a daemon"])
def test_forks(name: str, ran: Ran) -> None:
    """Children that sleep, have a session or an environment of their own, or run on in our code: none is left."""
    assert [] == ran.found("TF908")
    assert [("model.py", line_of(text_of(name), "static"), "confirmed")] == ran.verdicts("TF101")
    assert [] == ran.left


@pytest.mark.parametrize("name", ["asks for Keras 2 itself"])
def test_legacy_keras(name: str, ran: Ran) -> None:
    """A module that sets the variable before it imports TensorFlow is run on the Keras that it gets by that."""
    assert ("keras2", []) == (ran.run["target"], ran.found("TF908"))
    assert [("model.py", line_of(text_of(name), "static"), "confirmed")] == ran.verdicts("TF101")


@pytest.mark.parametrize("name", ["hangs in tf.function alone"])
def test_late_hang(name: str, ran: Ran) -> None:
    """A phase that hangs costs no phase before it: what was confirmed stays so."""
    (failed,) = ran.found("TF908")

    assert "phase first call in tf.function took longer than 45 s and was stopped" in failed["message"]
    assert "ok" == ran.phases["second call"][0]
    assert "failed" == ran.phases["first call in tf.function"][0]
    assert "not run" == ran.phases["fit"][0]
    assert ["confirmed"] == [verdict for _, _, verdict in ran.verdicts("TF101")]
    assert [] == ran.left


@pytest.mark.parametrize(
    ("name", "code", "phase"),
    [("hangs in its second call", "TF101", "second call"), ("hangs in its training step", "TF204", "fit")],
)
def test_what_was_seen_before_a_hang_counts(name: str, code: str, phase: str, ran: Ran) -> None:
    """In the phase itself: the worker is asked for it, and ended then."""
    (found,) = ran.found(code)
    (failed,) = ran.found("TF908")

    assert ("confirmed", phase) == (found["verdict"], found["evidence"][0]["phase"])
    assert ("model.py", line_of(text_of(name), "here")) == (failed["path"], failed["line"])
    assert f"phase {phase} took longer than 45 s and was stopped" in failed["message"]
    assert [] == ran.left


@pytest.mark.parametrize("name", ["takes one batch size"])
def test_one_batch_size(name: str, ran: Ran) -> None:
    """A call that fails for another batch, which the run made up, is that phase's failure, with its line."""
    outcome, detail = ran.phases["call with another batch size"]

    assert ("failed", True) == (outcome, f"(model.py:{line_of(text_of(name), 'here')})" in detail)
    assert detail.endswith("; the run doubled each input for this call, which the program may not be meant for")
    assert ["ok", "ok"] == [ran.phases[phase][0] for phase in ("first call", "second call")]
    assert [] == ran.found("TF908")
    assert ["confirmed"] == [verdict for _, _, verdict in ran.verdicts("TF101")]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("names of the worker's modules", ["frames.py", "main.py", "target.py"]),
        ("the name of a standard module", ["phases.py"]),
        ("odd paths", [f"{ODD_FOLDER}/nets/deep/other.py", f"{ODD_FOLDER}/nets/layers.py"]),
        ("odd texts", ["latin.py", "mixed.py", "model.py", "unix.py"]),
    ],
)
def test_places(name: str, paths: list[str], ran: Ran) -> None:
    """Each finding is confirmed in its own file at its own line, whatever file and folder are called and written in."""
    shown = {os.path.basename(path): path for path in paths}
    lines = {
        shown[os.path.basename(file)]: line_of(content if isinstance(content, str) else as_python(content), "static")
        for file, content in CASES[name].files.items()
        if os.path.basename(file) in shown
    }

    assert [] == ran.found("TF908")
    assert [(path, lines[path], "confirmed") for path in paths] == ran.verdicts("TF101")
    assert [] == ran.left


def as_python(content: bytes) -> str:
    """With the line ends that Python sees."""
    return content.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("name", ["a folder"])
def test_folder_with_the_name_of_a_file(name: str, ran: Ran) -> None:
    """It is no target, and nothing is run."""
    assert (2, {}) == (ran.status, ran.report)
    assert "x.py is a folder; name a file in it, for example x.py/model.py:build" in ran.errors
