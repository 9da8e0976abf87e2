"""Ends a run before its end: by an exception, by a signal, in the middle of a save, or with files that are damaged."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import signal
from typing import Any, Iterator, NoReturn

from ..errors import essence, one_line
from ..patching import wrapped
from ..recording.tensors import Function, Nest
from ..recording.watching.classes import in_keras
from .trace import Trace
from .turns import Turns, stamps

__all__ = ["Interrupter", "InterruptionError"]

_MANAGER = "CheckpointManager"
EXCEPTION, SIGTERM, SIGKILL, SAVING = "exception", "sigterm", "sigkill", "saving"
TRUNCATED, MIXED, FULL_DISK = "truncated", "mixed", "full-disk"
_ROOM = 64
"""Bytes that a file may have when the disk is full: less than any checkpoint."""


def _numberless(path: str) -> str:
    return re.sub(r"\d+", "0", os.path.basename(path))


class InterruptionError(Exception):
    """What a loop is interrupted by, as a device that fails would do it."""


class Interrupter:
    """Interrupts behind step `at`, counted from 1, in one of several ways; None for never. Notes what is saved.

    ``saving`` ends the first save that begins when the step is done: TensorFlow's before the parts are put together,
    and of a file that Keras writes, which it does in place, the second half is missing.
    ``truncated`` and ``mixed`` kill behind the step, and damage what the last save wrote to `folder` before: its
    largest file loses the second half, or gets what the save before it wrote.
    ``full-disk`` lets every write behind the step fail; a loop that goes on behind such a save is killed.
    Where there are `turns`, of two processes, they end the run, in any other way than these.
    """

    def __init__(
        self, trace: Trace, how: str | None, at: int | None, folder: str = "", turns: Turns | None = None
    ) -> None:
        self._trace = trace
        self._how = how
        self._at = at
        self._done = 0
        self._inside = False
        self._raised = False
        self._folder = folder
        self._turns = turns
        self._written: list[list[str]] = []
        """Files of each save."""
        self._full = False
        self._tried = False
        """Whether a save began when the disk was full."""

    def behind(self, done: int) -> None:
        """A step is done."""
        self._done = done
        if self._turns is not None:
            self._turns.behind(done, len(self._written))
            return
        if self._raised:
            self._trace.add("note", text="the loop caught the exception and went on; it was killed one step later")
            self._kill()
        if self._full and self._tried:
            self._trace.add("interrupted", how=FULL_DISK, step=done, where="the loop went on behind a save that failed")
            self._kill()
        if self._at is None or done != self._at or self._how == SAVING:
            return
        if self._how == FULL_DISK:
            self._fill()
            return
        if self._how in (TRUNCATED, MIXED):
            where = self._damage()
            if where is not None:
                self._trace.add("interrupted", how=self._how, step=done, where=where)
                self._kill()
            return
        self._trace.add("interrupted", how=self._how, step=done)
        if self._how == SIGKILL:
            self._kill()
        elif self._how == SIGTERM:
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            self._raised = True
            raise InterruptionError(f"migrate-lint interrupts the loop behind step {done}")

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Hear of saves in the body."""
        import tensorflow as tf
        from tensorflow.python.ops import gen_io_ops
        from tensorflow.python.training import checkpoint_utils

        try:
            from tensorflow.python.checkpoint import checkpoint, checkpoint_management
        except ImportError:  # TensorFlow 1
            from tensorflow.python.training import checkpoint_management
            from tensorflow.python.training.tracking import util as checkpoint

        with contextlib.ExitStack() as stack:
            for cls in (tf.train.Checkpoint, tf.compat.v1.train.Checkpoint, tf.compat.v1.train.Saver):
                for name in ("save", "write"):
                    stack.enter_context(wrapped(cls, name, functools.partial(self._saving, cls.__name__)))
            stack.enter_context(wrapped(tf.train.CheckpointManager, "save", functools.partial(self._saving, _MANAGER)))
            for cls in in_keras("Model"):
                for name in ("save", "save_weights"):
                    stack.enter_context(wrapped(cls, name, functools.partial(self._saving, "Model")))
            stack.enter_context(wrapped(gen_io_ops, "merge_v2_checkpoints", self._merging))
            read = functools.partial(self._telling, "tf.train.load_checkpoint")
            for owner in (checkpoint_utils, tf.train):
                stack.enter_context(wrapped(owner, "load_checkpoint", read))
            restore = functools.partial(self._telling, "restore")
            stack.enter_context(wrapped(checkpoint.TrackableSaver, "restore", restore))
            stack.enter_context(wrapped(tf.compat.v1.train.Saver, "restore", restore))
            stack.enter_context(wrapped(checkpoint_management, "update_checkpoint_state_internal", self._naming))
            yield

    @property
    def _is_due(self) -> bool:
        return self._how == SAVING and self._at is not None and self._done >= self._at

    def _saving(self, what: str, original: Function) -> Function:
        @functools.wraps(original)
        def save(owner: Any, *arguments: Nest, **named: Nest) -> Nest:
            if self._inside:
                return original(owner, *arguments, **named)
            self._inside = True
            before = stamps(self._folder)
            self._tried = self._full
            try:
                result = original(owner, *arguments, **named)
            finally:
                self._inside = False
            if what == _MANAGER and result is None:  # it was not yet time to save
                return result
            paths = [os.fspath(one) for one in [*arguments, *named.values()] if isinstance(one, (str, os.PathLike))]
            if self._is_due:
                self._halve([path for path in paths if os.path.isfile(path)])
            self._trace.add("saved", step=self._done, what=what)
            self._written.append([path for path, stamp in stamps(self._folder).items() if before.get(path) != stamp])
            return result

        return save

    # -- files ----------------------------------------------------------------------------------------------------

    def _damage(self) -> str | None:
        """Do it, and say what was done; None where there is nothing that it could be done to."""
        saves = self._written or [[path] for path in sorted(stamps(self._folder), key=os.path.getmtime)[-1:]]
        files = sorted((path for path in saves[-1] if os.path.isfile(path)), key=os.path.getsize) if saves else []
        if not files:
            return None
        name = os.path.basename(files[-1])
        if self._how == TRUNCATED:
            os.truncate(files[-1], os.path.getsize(files[-1]) // 2)
            return f"{name} lost its second half"
        kind = _numberless(files[-1])
        earlier = [path for save in saves[:-1] for path in save if path != files[-1] and os.path.isfile(path)]
        others = [path for path in earlier if _numberless(path) == kind]
        if not others:
            return None
        shutil.copyfile(others[-1], files[-1])
        return f"{name} got what {os.path.basename(others[-1])} held"

    def _fill(self) -> None:
        """From here on, no file can be written that is worth it."""
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (_ROOM, most))
        self._full = True

        @contextlib.contextmanager
        def room() -> Iterator[None]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            yield
            resource.setrlimit(resource.RLIMIT_FSIZE, (_ROOM, most))

        self._trace.around = room

    def ended(self, error: BaseException | None) -> bool:
        """The loop has come to an end, by an error or without: where the disk was full, it is no longer.

        Returns:
            Whether the error is what was meant to interrupt it.
        """
        if not self._full:
            return isinstance(error, InterruptionError)
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        self._trace.around = contextlib.ExitStack
        self._full = False
        if error is not None:
            where = f"the loop ended with {one_line(essence(error))}"
            self._trace.add("interrupted", how=FULL_DISK, step=self._done, where=where)
        elif self._tried:
            where = "the loop came to its end all the same"
            self._trace.add("interrupted", how=FULL_DISK, step=self._done, where=where)
        return error is not None

    def _merging(self, original: Function) -> Function:
        @functools.wraps(original)
        def merge(*arguments: Nest, **named: Nest) -> Nest:
            if self._is_due:
                self._end("before TensorFlow put its parts together")
            return original(*arguments, **named)

        return merge

    def _naming(self, original: Function) -> Function:
        """The file that says which checkpoint is the last one: `tf.train.CheckpointManager` writes it too."""
        @functools.wraps(original)
        def name(*arguments: Nest, **named: Nest) -> Nest:
            if self._is_due and self._inside:
                self._end("before the file `checkpoint` named it")
            return original(*arguments, **named)

        return name

    def _halve(self, paths: list[str]) -> None:
        for path in paths:
            os.truncate(path, os.path.getsize(path) // 2)
            self._end(f"with half of {os.path.basename(path)} written")
        self._end("as it ended, since its middle was not seen")

    def _end(self, where: str) -> NoReturn:
        self._trace.add("interrupted", how=SAVING, step=self._done, where=where)
        self._kill()

    def _telling(self, what: str, original: Function) -> Function:
        @functools.wraps(original)
        def tell(*arguments: Nest, **named: Nest) -> Nest:
            result = original(*arguments, **named)
            self._trace.add("read", what=what, step=self._done)
            return result

        return tell

    def _kill(self) -> NoReturn:
        os.kill(os.getpid(), signal.SIGKILL)
        raise SystemExit  # not reached
