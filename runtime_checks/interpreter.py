"""What the interpreter of a model has installed, read from metadata: TensorFlow is not imported, here or there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..linter.finding import Target
from .supervised import LaunchError, Supervised, Tail

__all__ = [
    "Interpreter", "InterpreterError", "accelerators", "chosen", "default_target", "describe", "device",
    "keras_environment", "unsupported"
]

_OLDEST = (3, 7)
_DEVICE = re.compile(r"(CPU|GPU|TPU|XPU)(?::(\d+))?", re.IGNORECASE)
_KERAS3_SINCE = (2, 16)
"""Since then tf.keras is Keras 3 and Keras 2 is the distribution tf_keras."""
_MARK = "migrate-lint-interpreter:"
_LONGEST_ANSWER = 1 << 20
_SILENCE = 60.0
"""Seconds beyond its limit that an interpreter gets where this process has been stopped."""
_PACKAGES = {
    "tensorflow": (
        "tensorflow", "tensorflow-cpu", "tensorflow-macos", "tensorflow-intel", "tensorflow-gpu", "tensorflow-rocm",
        "tf-nightly", "tf-nightly-cpu"
    ),
    "keras": ("keras", "keras-nightly"),
    "tf_keras": ("tf-keras", "tf-keras-nightly"),
}
# Runs under Python 2 too, so that an old one can be named. The current folder, which -c puts on the path, is not
# looked at. Before Python 3.8 the names of the metadata folders are all there is.
_SCRIPT = r"""
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import json, os, re

def folded(name):
    return re.sub("[-_.]+", "-", name).lower()

def items(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []

def from_folders(name):
    for entry in sys.path:
        for item in items(entry):
            found = re.match(r"(.+?)-(\d[^-]*)(?:-.*)?\.(?:dist|egg)-info$", item)
            if found and folded(found.group(1)) == name:
                return found.group(2)

try:
    from importlib import metadata
except ImportError:
    version = from_folders
else:
    def version(name):
        try:
            return metadata.version(name)
        except Exception:
            return None

def first(names):
    for name in names:
        found = version(name)
        if found:
            return found

packages = json.loads(sys.argv[2])
known = dict((key, first(names)) for key, names in packages.items())
known["python"] = list(sys.version_info[:3])
known["python_text"] = sys.version.split()[0]
print(sys.argv[1] + json.dumps(known))
"""


class InterpreterError(ValueError):
    """What was named cannot run a worker; the text is a complete sentence."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that was run and asked what it has.

    The versions of distributions are as their metadata spells them, None where there is none.
    """

    executable: str
    """Absolute path; a link, such as that of a virtual environment, is kept."""
    python: tuple[int, int, int]
    python_text: str
    tensorflow: str | None
    keras: str | None
    tf_keras: str | None


def describe(python: str | None = None, *, limit: float = 20.0) -> Interpreter:
    """Ask `python`, a path or a name on PATH, by default this interpreter, for its versions.

    `limit` is in seconds. InterpreterError where there is no such file, it cannot be run, is no Python,
    is older than Python 3.7, or gives no answer in time.
    """
    executable = _executable(python if python is not None else sys.executable)
    answer = _ask(executable, limit)
    release = (answer["python"][0], answer["python"][1], answer["python"][2])
    if release < _OLDEST:
        raise InterpreterError(f"{executable} is Python {answer['python_text']}; the worker needs 3.7 or later.")
    return Interpreter(
        executable, release, answer["python_text"], *(answer.get(name) for name in ("tensorflow", "keras", "tf_keras"))
    )


def unsupported(interpreter: Interpreter, target: Target) -> str | None:
    """Why `target` cannot run there, as a sentence; None where it can."""
    where, tensorflow = interpreter.executable, interpreter.tensorflow
    if tensorflow is None:
        return f"{where} has no TensorFlow: install it there, or name another interpreter with --python."
    if _release(tensorflow) < (2, 0):
        return f"{target} needs TensorFlow 2; {where} has {tensorflow}."
    if target is Target.KERAS2:
        if _release(tensorflow) < _KERAS3_SINCE or interpreter.tf_keras is not None:
            return None
        return f"keras2 on TensorFlow {tensorflow} needs tf_keras in {where}: pip install tf-keras."
    if _release(tensorflow) < _KERAS3_SINCE:
        return f"keras3 needs TensorFlow 2.16 or later; {where} has {tensorflow}."
    if interpreter.keras is None:
        return f"keras3 needs Keras 3 in {where}: pip install keras."
    if _release(interpreter.keras) < (3, 0):
        return f"keras3 needs Keras 3; {where} has Keras {interpreter.keras}."
    return None


def default_target(interpreter: Interpreter) -> Target:
    """The Keras that ``tf.keras`` is there; keras3 where neither can run."""
    if unsupported(interpreter, Target.KERAS3) and not unsupported(interpreter, Target.KERAS2):
        return Target.KERAS2
    return Target.KERAS3


def chosen(interpreter: Interpreter, asked: Target | None, likely: Target | None) -> Target:
    """The Keras to run with: the one that is asked for, else the likely one where it can run, else `default_target`.

    Raises:
        InterpreterError: if it cannot run there.
    """
    if likely is not None and unsupported(interpreter, likely) is not None:
        likely = None
    target = asked or likely or default_target(interpreter)
    refused = unsupported(interpreter, target)
    if refused is not None:
        raise InterpreterError(refused)
    return target


def keras_environment(interpreter: Interpreter, target: Target) -> dict[str, str | None]:
    """Environment variables that make ``tf.keras`` the Keras of `target`; None takes one away.

    Keras 3 runs on TensorFlow whatever the user's keras.json says.
    """
    if target is Target.KERAS3:
        return {"TF_USE_LEGACY_KERAS": None, "KERAS_BACKEND": "tensorflow"}
    apart = interpreter.tensorflow is not None and _release(interpreter.tensorflow) >= _KERAS3_SINCE
    return {"TF_USE_LEGACY_KERAS": "1" if apart else None}


def device(text: str) -> str:
    """A logical device as TensorFlow numbers it: ``GPU:0`` for ``/device:gpu``.

    Raises:
        ValueError: if the text is none.
    """
    match = _DEVICE.fullmatch(text.strip().lstrip("/").removeprefix("device:"))
    if match is None:
        raise ValueError(f"--device {text}: a device is written CPU:0, GPU:0 or TPU:0")
    return f"{match[1].upper()}:{match[2] or 0}"


def accelerators() -> dict[str, str | None]:
    """Environment variables with which a worker sees the accelerators that this process sees."""
    return {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES")}


def _release(version: str) -> tuple[int, int]:
    """Major and minor number; (0, 0) for what is no version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _executable(named: str) -> str:
    if os.path.isdir(named):
        raise InterpreterError(f"{named} is a folder: name the interpreter in it.")
    found = shutil.which(named)
    if found is not None:
        return os.path.abspath(found)
    if os.path.dirname(named):
        state = "is not executable" if os.path.exists(named) else "does not exist"
        raise InterpreterError(f"The interpreter {named} {state}.")
    raise InterpreterError(f"There is no interpreter {named!r} on PATH.")


def _ask(executable: str, limit: float) -> dict[str, Any]:
    status, output, errors = _run([executable, "-c", _SCRIPT, _MARK, json.dumps(_PACKAGES)], limit)
    for line in reversed(output.split("\n")):
        if line.startswith(_MARK):
            with suppress(ValueError, RecursionError):
                answer = json.loads(line.removeprefix(_MARK))
                if _is_answer(answer):
                    return dict(answer)
    said = errors.strip().split("\n")
    reason = said[-1 if said[0].startswith("Traceback") else 0].rstrip(".")
    because = f": {reason}" if reason else ""
    raise InterpreterError(f"{executable} is no Python that works, it ended with status {status}{because}.")


def _is_answer(found: object) -> bool:
    """Whether that is what the script says; a program of another kind may repeat its words."""
    if not isinstance(found, dict):
        return False
    release = found.get("python")
    return (
        isinstance(release, list)
        and len(release) == 3
        and all(type(number) is int for number in release)
        and isinstance(found.get("python_text"), str)
        and all(isinstance(found.get(name), str | None) for name in _PACKAGES)
    )


def _run(command: list[str], limit: float) -> tuple[int, str, str]:
    """Status, and the ends of output and errors."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        ran = Supervised(command, streams=streams, limit=limit + _SILENCE)
    except LaunchError as error:
        raise InterpreterError(f"{command[0]} is no Python: {error}.") from error
    pipes = [pipe for pipe in (ran.process.stdout, ran.process.stderr) if pipe is not None]
    tails = [Tail(pipe.fileno(), _LONGEST_ANSWER) for pipe in pipes]
    try:
        ended = ran.wait(limit)
    except LaunchError as error:
        raise InterpreterError(f"{command[0]} is no Python: {error}.") from error
    finally:
        ran.end()
        for pipe, tail in zip(pipes, tails, strict=True):
            if tail.stop():
                pipe.close()
        ran.close()
    if not ended:
        raise InterpreterError(f"{command[0]} gave no answer within {limit:g} s.")
    output, errors = (tail.text().replace("\r", "") for tail in tails)
    return 0 if ran.code is None else ran.code, output, errors
