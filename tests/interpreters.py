"""Child interpreters for what the tests do with TensorFlow, which never enters the process of pytest.

Each process of pytest keeps one child for each Keras target, and asks it one call after the other.
A child that dies, or that takes too long for a call, fails that test alone, and another one takes its place.
This file is also the script of the children.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import inspect
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TESTS = Path(__file__).parent
SECONDS = 900.0
"""For a start or a call: a hundred times what either takes on a machine of its own."""
CALLS = 40
"""After so many a child is replaced: what models leave behind makes the next ones slower."""


class Child:
    """An interpreter with the TensorFlow and the Keras of a target."""

    def __init__(self, target: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._errors = Path(self._folder.name, "errors")
        work = Path(self._folder.name, "work")  # a model may write where it runs
        work.mkdir()
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment(target),
                cwd=work,
                start_new_session=True,
            )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.calls = 0
        keras = self._answer("the start", SECONDS)
        if keras != target:
            self.close()
            pytest.skip(f"the TensorFlow that is installed has no {target}")

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float = SECONDS) -> Any:
        """What a function of a module of tests returns there; arguments and result are what JSON can hold."""
        module = ".".join(Path(inspect.getfile(function)).relative_to(TESTS.parent).with_suffix("").parts)
        request = json.dumps([module, function.__name__, arguments]).encode()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died, as the answer will say
            self._process.stdin.write(request + b"\n")
            self._process.stdin.flush()
        self.calls += 1
        return self._answer(f"{function.__name__}{tuple(arguments)}"[:200], seconds)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """End the child with all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._folder.cleanup()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            for line in answers:
                self._lines.put(line)

    def _answer(self, what: str, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            alive = self.alive
            try:
                answer = json.loads(self._lines.get(timeout=0.5))
                break
            except queue.Empty:
                if alive and time.monotonic() < deadline:
                    continue
            ended = f"took longer than {seconds:.0f} s" if alive else f"ended the child ({self._process.returncode})"
            last = self._errors.read_text("utf-8", "replace")[-4000:]
            self.close()
            pytest.fail(f"{what} {ended}; its last words:\n{last}", pytrace=False)
        if "error" in answer:
            pytest.fail(answer["error"], pytrace=False)
        return answer["value"]


class Children:
    """The children of this process, each started when it is first asked for."""

    def __init__(self) -> None:
        self._children: dict[str, Child] = {}

    def call(
        self,
        target: str,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float = SECONDS,
        alone: bool = False,
    ) -> Any:
        """What a function returns in the child of a target, or in one of its own, as it changes its process."""
        if alone:
            with contextlib.closing(Child(target)) as child:
                return child.call(function, *arguments, seconds=seconds)
        shared = self._children.get(target)
        if shared is None or shared.calls == CALLS or not shared.alive:
            if shared is not None:
                shared.close()
            shared = self._children[target] = Child(target)
        return shared.call(function, *arguments, seconds=seconds)

    def close(self) -> None:
        for child in self._children.values():
            child.close()


def environment(target: str) -> dict[str, str]:
    """The environment of a process with the Keras of a target, on one core and with the same numbers every time."""
    variables = {name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"}
    variables |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    variables |= {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    if target == "keras2" and importlib.util.find_spec("tf_keras") is not None:
        variables["TF_USE_LEGACY_KERAS"] = "1"  # otherwise Keras 2 is built in, or there is none
    return variables


def load(path: Path) -> ModuleType:
    """In a child: the module of a file that a test wrote; an earlier one of that name is replaced."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None and specification.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def serve() -> None:
    """What a child does: answer each line of standard input on what was standard output."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    package = sys.modules[TESTS.name] = ModuleType(TESTS.name)
    package.__path__ = [str(TESTS)]

    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    gc.freeze()  # or every collection between two models goes through all of TensorFlow
    keras3 = str(getattr(tf.keras, "__version__", "2")).startswith("3")
    answer: dict[str, Any] = {"value": "keras3" if keras3 else "keras2"}
    print(json.dumps(answer), file=answers, flush=True)
    for line in requests:
        module, name, arguments = json.loads(line)
        try:
            function = getattr(importlib.import_module(module), name)
            answer = {"value": function(*arguments)}
            text = json.dumps(answer)
        except BaseException:
            text = json.dumps({"error": traceback.format_exc()})
        print(text, file=answers, flush=True)


if __name__ == "__main__":
    serve()
