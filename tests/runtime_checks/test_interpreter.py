from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks import interpreter
from migrate_lint.runtime_checks.interpreter import (
    Interpreter,
    InterpreterError,
    default_target,
    describe,
    keras_environment,
    unsupported,
)

from ..interpreters import Children

posix = pytest.mark.skipif(os.name != "posix", reason="the programs are shell scripts")


def program(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """This Python without its site-packages."""
    return program(tmp_path / "bare", f'exec "{sys.executable}" -S "$@"')


def install(folder: Path, *distributions: str) -> str:
    """Metadata of distributions such as ``tf_keras-2.21.0``; the folder that holds it."""
    for distribution in distributions:
        name, _, version = distribution.rpartition("-")
        info = folder / f"{distribution}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    return str(folder)


def having(tensorflow: str | None, keras: str | None = None, tf_keras: str | None = None) -> Interpreter:
    return Interpreter("/py", (3, 11, 7), "3.11.7", tensorflow, keras, tf_keras)


def test_this_interpreter() -> None:
    """By default this interpreter is asked."""
    found = describe()

    assert sys.executable == found.executable
    assert sys.version_info[:3] == found.python
    assert platform.python_version() == found.python_text


@posix
@pytest.mark.parametrize(
    ("distributions", "versions"),
    [
        ((), (None, None, None)),
        (("tensorflow-2.21.0", "keras-3.15.1", "tf_keras-2.21.0"), ("2.21.0", "3.15.1", "2.21.0")),
        (("tensorflow_cpu-2.15.1", "keras-2.15.0"), ("2.15.1", "2.15.0", None)),
        (("tensorflow_intel-2.16.1",), ("2.16.1", None, None)),
        (("tensorflow_macos-2.15.0",), ("2.15.0", None, None)),
        (("tf_nightly-2.22.0.dev20260101", "keras_nightly-3.16.0"), ("2.22.0.dev20260101", "3.16.0", None)),
    ],
)
def test_versions(
    bare: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    distributions: tuple[str, ...],
    versions: tuple[str | None, ...],
) -> None:
    """Versions come from metadata, on PYTHONPATH too, under every name that TensorFlow is shipped by."""
    monkeypatch.setenv("PYTHONPATH", install(tmp_path / "site", *distributions))
    found = describe(bare)

    assert versions == (found.tensorflow, found.keras, found.tf_keras)


@posix
def test_versions_without_importlib_metadata(tmp_path: Path) -> None:
    """Python 3.7 has no importlib.metadata: there the names of the folders are read."""
    site = install(tmp_path / "site", "tensorflow_cpu-1.15.0", "Keras-2.3.1", "keras_applications-1.0.8")
    (tmp_path / "site" / "tf_keras-2.15.0-py3.7.egg-info").mkdir()
    code = "import sys; sys.modules['importlib.metadata'] = None\n" + interpreter._SCRIPT
    command = [sys.executable, "-S", "-c", code, "mark:", json.dumps(interpreter._PACKAGES)]
    ran = subprocess.run(command, env={"PYTHONPATH": f"{site}:/absent"}, capture_output=True, text=True, check=True)
    answer = json.loads(ran.stdout.removeprefix("mark:"))

    assert ["1.15.0", "2.3.1", "2.15.0"] == [answer[name] for name in ("tensorflow", "keras", "tf_keras")]


@posix
def test_working_directory(bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the working directory is imported or counted as installed."""
    install(tmp_path, "tensorflow-2.21.0")
    (tmp_path / "json.py").write_text("raise SystemExit('imported')", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)

    assert describe(bare).tensorflow is None


@posix
def test_broken_metadata(bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of metadata without metadata is no distribution, and the next name is tried."""
    monkeypatch.setenv("PYTHONPATH", install(tmp_path / "site", "tensorflow_cpu-2.21.0"))
    (tmp_path / "site" / "tensorflow-2.20.0.dist-info").mkdir()

    assert "2.21.0" == describe(bare).tensorflow


@posix
def test_talkative_interpreter(tmp_path: Path) -> None:
    """What a start-up file prints around the answer does no harm."""
    named = program(tmp_path / "loud", f'echo hello; "{sys.executable}" "$@"; echo migrate; echo bye >&2; exit 3')

    assert sys.version_info[:3] == describe(named).python


@posix
def test_name_on_the_path(bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is looked up on PATH; a relative path becomes absolute; a link is kept."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(bare)

    assert str(tmp_path / "link") == describe("link").executable
    assert str(tmp_path / "link") == describe("./link").executable


@posix
@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("absent", None, "The interpreter {path} does not exist."),
        (".", None, "{path} is a folder: name the interpreter in it."),
        ("silent", "exit 0", "{path} is no Python that works, it ended with status 0."),
        ("failing", "echo no such version. >&2; exit 4", "it ended with status 4: no such version."),
        ("old", "echo '{mark}{old}'", "{path} is Python 3.6.15; the worker needs 3.7 or later."),
        ("garbled", "echo '{mark}{{'", "{path} is no Python that works, it ended with status 0."),
    ],
)
def test_error(tmp_path: Path, name: str, body: str | None, message: str) -> None:
    """What cannot run a worker is told in a sentence that names it."""
    old = json.dumps({"python": [3, 6, 15], "python_text": "3.6.15", "tensorflow": None, "keras": None})
    path = str(tmp_path / name) if name != "." else str(tmp_path)
    if body is not None:
        program(Path(path), body.format(mark=interpreter._MARK, old=old))
    with pytest.raises(InterpreterError) as raised:
        describe(path)

    assert message.format(path=path) in str(raised.value)


def test_name_not_on_the_path() -> None:
    """A name that PATH does not have is an error that says where it was sought."""
    with pytest.raises(InterpreterError, match=r"^There is no interpreter 'python-of-nobody' on PATH\.$"):
        describe("python-of-nobody")


@posix
def test_not_executable(tmp_path: Path) -> None:
    """A file that may not be run differs from none."""
    (tmp_path / "python").write_text("", "utf-8")
    with pytest.raises(InterpreterError, match=r"python is not executable\.$"):
        describe(str(tmp_path / "python"))


@posix
def test_no_program(tmp_path: Path) -> None:
    """A file that the system cannot run is no Python."""
    (tmp_path / "python").write_bytes(b"\0\0\0\0")
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(InterpreterError, match=r"python is no Python: Exec format error\.$"):
        describe(str(tmp_path / "python"))


@posix
def test_hanging_interpreter(tmp_path: Path) -> None:
    """One that gives no answer is ended with what it started."""
    named = program(tmp_path / "slow", f"sleep 900 & echo $! > {tmp_path}/child; wait")
    began = time.monotonic()
    with pytest.raises(InterpreterError, match=r"slow gave no answer within 5 s\.$"):
        describe(named, limit=5)

    assert time.monotonic() - began < 450
    child = Path("/proc", (tmp_path / "child").read_text("utf-8").strip(), "cmdline")
    assert b"" == (child.read_bytes() if child.exists() else b"")


@pytest.mark.parametrize(
    ("found", "target", "reason"),
    [
        (having("2.21.0", "3.15.1", "2.21.0"), Target.KERAS3, None),
        (having("2.21.0", "3.15.1", "2.21.0"), Target.KERAS2, None),
        (having("2.15.1", "2.15.0"), Target.KERAS2, None),
        (having("2.16.0rc0", "3.0.5"), Target.KERAS3, None),
        (
            having("2.21.0", "3.15.1"),
            Target.KERAS2,
            "keras2 on TensorFlow 2.21.0 needs tf_keras in /py: pip install tf-keras.",
        ),
        (
            having("2.15.1", "3.1.0", "2.15.0"),
            Target.KERAS3,
            "keras3 needs TensorFlow 2.16 or later; /py has 2.15.1.",
        ),
        (having("2.9.3", "2.9.0"), Target.KERAS3, "keras3 needs TensorFlow 2.16 or later; /py has 2.9.3."),
        (having("2.16.1"), Target.KERAS3, "keras3 needs Keras 3 in /py: pip install keras."),
        (having("2.16.1", "2.15.0"), Target.KERAS3, "keras3 needs Keras 3; /py has Keras 2.15.0."),
        (having("1.15.0", "2.3.1"), Target.KERAS2, "keras2 needs TensorFlow 2; /py has 1.15.0."),
        (
            having(None, "3.15.1", "2.21.0"),
            Target.KERAS3,
            "/py has no TensorFlow: install it there, or name another interpreter with --python.",
        ),
    ],
)
def test_unsupported(found: Interpreter, target: Target, reason: str | None) -> None:
    """A target that cannot run there has a sentence that says what is missing."""
    assert reason == unsupported(found, target)


@pytest.mark.parametrize(
    ("found", "target"),
    [
        (having("2.21.0", "3.15.1", "2.21.0"), Target.KERAS3),
        (having("2.15.1", "2.15.0"), Target.KERAS2),
        (having("2.16.1", None, "2.16.0"), Target.KERAS2),
        (having("1.15.0"), Target.KERAS3),
        (having(None), Target.KERAS3),
    ],
)
def test_default_target(found: Interpreter, target: Target) -> None:
    """The default is the Keras that tf.keras is there."""
    assert target is default_target(found)


@pytest.mark.parametrize(
    ("tensorflow", "target", "variables"),
    [
        ("2.21.0", Target.KERAS2, {"TF_USE_LEGACY_KERAS": "1"}),
        ("2.16.0", Target.KERAS2, {"TF_USE_LEGACY_KERAS": "1"}),
        ("2.15.1", Target.KERAS2, {"TF_USE_LEGACY_KERAS": None}),
        ("2.21.0", Target.KERAS3, {"TF_USE_LEGACY_KERAS": None, "KERAS_BACKEND": "tensorflow"}),
    ],
)
def test_keras_environment(tensorflow: str, target: Target, variables: dict[str, str | None]) -> None:
    """Keras 2 on TF >= 2.16 is asked for by a variable, which must be absent everywhere else."""
    assert variables == keras_environment(having(tensorflow), target)


def tensorflow_version() -> str:
    """In a child."""
    import tensorflow as tf

    return str(tf.__version__)


@pytest.mark.tensorflow
def test_installed_tensorflow(children: Children) -> None:
    """What metadata says is what the imported modules say."""
    found = describe()
    target = default_target(found)

    assert children.call(target, tensorflow_version) == found.tensorflow
    assert unsupported(found, target) is None
