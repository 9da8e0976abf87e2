"""Child interpreters for what the tests do with TensorFlow, which never enters the process of pytest.

Each process of pytest has TensorFlow imported once for each Keras target, in a process that does nothing else.
Every child is a fork of that: it begins as a new interpreter would, and does not pay for the import.
A module keeps one child for each target, and asks it one call after the other.
A child that dies, or that takes too long for a call, fails that test alone, and another one takes its place.
This file is also the script of the process that is forked.
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
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

TESTS = Path(__file__).parent
SECONDS = 900.0
"""For a start or a call: a hundred times what either takes on a machine of its own."""
CALLS = 40
"""After so many a child is replaced: what models leave behind makes the next ones slower."""


class Parent:
    """A process that has imported the TensorFlow and the Keras of a target, and is forked for every child.

    A request is a word and a number, and has one answer: ``fork``, with the streams of the child, is answered with its
    number; ``poll`` and ``wait`` with how it ended, as `subprocess` has it, or with null.
    """

    def __init__(self, target: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the process lives)
        self._channel, other = socket.socketpair()
        self._channel.settimeout(SECONDS)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", __file__, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                env=environment(target, _AT_START),
                pass_fds=[other.fileno()],
                start_new_session=True,
            )

    def fork(self, *streams: int) -> int:
        """The number of a new child with these streams as its 0, 1 and 2; it leads a group of processes."""
        pid = self._ask("fork", 0, streams)
        if pid is None:
            self._errors.seek(0)
            pytest.fail(
                f"no child can be forked: {self._errors.read().decode(errors='replace')[-4000:]}", pytrace=False
            )
        return pid

    def ended(self, pid: int, wait: bool = False) -> int | None:
        """How a child ended; None as long as it lives, and where this process has died before it was asked."""
        return self._ask("wait" if wait else "poll", pid)

    @property
    def number(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._channel.close()  # which ends it
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _ask(self, word: str, pid: int, streams: Sequence[int] = ()) -> int | None:
        try:
            socket.send_fds(self._channel, [json.dumps([word, pid]).encode()], streams)
            answer = self._channel.recv(64)
        except OSError:
            answer = b""
        return json.loads(answer or b"null")


_AT_START = dict(os.environ)
"""The environment that pytest was started in: no test has changed it."""
_parents: dict[str, Parent] = {}


def parent_of(target: str) -> Parent:
    """The process that is forked for a target."""
    known = _parents.get(target)
    if known is None or not known.alive:
        if known is not None:
            known.close()
        known = _parents[target] = Parent(target)
    return known


def close_parents() -> None:
    while _parents:
        _parents.popitem()[1].close()


class Child:
    """An interpreter with the TensorFlow and the Keras of a target."""

    def __init__(self, target: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._errors = Path(self._folder.name, "errors")
        work = Path(self._folder.name, "work")  # a model may write where it runs
        work.mkdir()
        self._parent = parent_of(target)
        requests, stdin = os.pipe()
        answers, stdout = os.pipe()
        self._requests, self._answers = os.fdopen(stdin, "wb"), os.fdopen(answers, "rb")
        try:
            with self._errors.open("wb") as errors:
                self._pid = self._parent.fork(requests, stdout, errors.fileno())
        except BaseException:
            self._requests.close()
            self._answers.close()
            self._folder.cleanup()
            raise
        finally:
            os.close(requests)
            os.close(stdout)
        self._status: int | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.calls = 0
        self._send(environment(target), str(work))
        keras = self._answer("the start", SECONDS)
        if keras != target:
            self.close()
            pytest.skip(f"the TensorFlow that is installed has no {target}")

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float = SECONDS) -> Any:
        """What a function of a module of tests returns there; arguments and result are what JSON can hold."""
        module = ".".join(Path(inspect.getfile(function)).relative_to(TESTS.parent).with_suffix("").parts)
        self._send(module, function.__name__, arguments)
        self.calls += 1
        return self._answer(f"{function.__name__}{tuple(arguments)}"[:200], seconds)

    @property
    def alive(self) -> bool:
        if self._status is None:
            self._status = self._parent.ended(self._pid)
        return self._status is None and self._parent.alive

    def close(self) -> None:
        """End the child with all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        if self._status is None:
            self._status = self._parent.ended(self._pid, wait=True)
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._folder.cleanup()

    def _send(self, *request: Any) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has died, as the answer will say
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()

    def _listen(self) -> None:
        with self._answers as answers:
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
            ended = f"took longer than {seconds:.0f} s" if alive else f"ended the child ({self._status})"
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


def environment(target: str, changed: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a process with the Keras of a target, on one core and with the same numbers every time."""
    variables = {name: value for name, value in changed.items() if name != "TF_USE_LEGACY_KERAS"}
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


def fork(channel: socket.socket) -> None:
    """What the process does that is forked: import TensorFlow, and answer requests as `Parent` has them."""
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    keras3 = str(getattr(tf.keras, "__version__", "2")).startswith("3")
    gc.freeze()  # or every collection between two models goes through all of TensorFlow, and copies its pages
    while True:
        request, streams, _, _ = socket.recv_fds(channel, 256, 3)
        if not request:
            return
        word, pid = json.loads(request)
        if word == "fork":
            pid = os.fork()
            if not pid:
                channel.close()
                become(streams, "keras3" if keras3 else "keras2")
            with contextlib.suppress(ProcessLookupError):
                os.setpgid(pid, pid)  # as the child does itself: it is to be killed with its group from now on
            for stream in streams:
                os.close(stream)
            answer: int | None = pid
        else:
            ended, status = os.waitpid(pid, os.WNOHANG if word == "poll" else 0)
            answer = os.waitstatus_to_exitcode(status) if ended else None
        channel.sendall(json.dumps(answer).encode())


def become(streams: Sequence[int], keras: str) -> NoReturn:
    """In a fork: serve as a child with these streams, and end."""
    status = 1
    try:
        os.setpgid(0, 0)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        serve(keras)
        status = 0
    finally:
        os._exit(status)


def serve(keras: str) -> None:
    """What a child does: answer each line of standard input on what was standard output."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    variables, folder = json.loads(requests.readline())
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    package = sys.modules[TESTS.name] = ModuleType(TESTS.name)
    package.__path__ = [str(TESTS)]
    answer: dict[str, Any] = {"value": keras}
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
    fork(socket.socket(fileno=int(sys.argv.pop())))
