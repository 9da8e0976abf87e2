"""Runs a TF1 program up to its first session: code that builds a graph and trains it gives the graph to nobody."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
from types import FrameType, SimpleNamespace, TracebackType
from typing import Callable, Iterator, Mapping, NoReturn, Sequence

from ...errors import essence
from ...patching import replaced
from ..pairs.batches import PairError
from ..tensors import Nest

__all__ = ["Reached", "runs", "until_session"]

_OWN = ("tensorflow", "contextlib", "runpy", "absl", __name__)
"""Modules whose frames are no part of the program."""


runs: list[str] = []
"""The programs that were run so, and no further, as the pair calls them; a recording empties it when it begins."""


class _Stop(BaseException):
    """Ends the program, past its own handlers of exceptions."""


class Reached:
    """What the names of a program stood for when it came to its first session.

    ``reached["model.loss"]`` is an expression of the program, looked up in the innermost of its functions that can.
    In it, ``returned["build"][0].logits`` is what a name of a function stood for when that returned for the first time.
    """

    def __init__(self, frames: Sequence[FrameType], returned: Mapping[str, Sequence[object]]) -> None:
        self._frames = frames
        self._kept = returned

    def __getitem__(self, expression: str) -> Nest:
        """Its value.

        Raises:
            LookupError: if no function of the program that was running has it; says what there is.
        """
        for frame in self._frames:
            try:
                known = {**frame.f_locals, "returned": self._kept} if self._kept else frame.f_locals
                return eval(expression, frame.f_globals, known)
            except (NameError, AttributeError, LookupError):
                continue
        names = {name for frame in self._frames for name in frame.f_locals if not name.startswith("__")}
        raise LookupError(
            f"the program has no {expression} when it comes to its first session; it has {', '.join(sorted(names))}"
            + "".join(
                f"; {name} has returned {len(times)} time{'' if len(times) == 1 else 's'}"
                for name, times in self._kept.items()
            )
        )


def until_session(
    program: str | Callable[..., object],
    *arguments: object,
    folder: str | None = None,
    returned: Sequence[str] = (),
) -> Reached:
    """Run a program until it runs something in a session, and give what its names stand for then.

    Args:
        program: a file, which is run as ``python FILE ARGUMENTS`` does it, relative to the file of the caller; or a
            function.
        arguments: of its command line, or of the function.
        folder: the working folder of the program while it runs, relative to the file of the caller; that of verify
            if None.
        returned: functions, by their names alone, whose local names are kept when they return.

    Raises:
        PairError: if there is no such file or folder, the program does not find a file that lies beside it or a
            module that lies above it, or it ends, or exits, without running a session.
        Exception: whatever the program raises before.
    """
    import tensorflow as tf
    from tensorflow.python.client import session

    def stop(*_: object, **__: object) -> NoReturn:
        raise _Stop

    beside = os.path.dirname(sys._getframe(1).f_globals.get("__file__") or "")
    file = None if callable(program) else os.path.abspath(os.path.join(beside, program))
    name = getattr(program, "__name__", program)
    own = os.path.dirname(file or "")
    kept: dict[str, list[SimpleNamespace]] = {one: [] for one in returned}
    with replaced(session.BaseSession, "run", stop), _flags(file), _within(beside, folder), _keeping(kept):
        try:
            if callable(program):
                program(*arguments)
            else:
                _run(str(file), [str(one) for one in arguments])
        except _Stop as stopped:
            frames = [one for one in _frames(stopped.__traceback__) if not _is_own(one)]
            runs.append(str(name))
        except FileNotFoundError as error:
            wanted = str(error.filename or "")
            if os.path.isabs(wanted) or not wanted or not os.path.exists(os.path.join(own or beside, wanted)):
                raise
            where = os.path.relpath(own, beside or None) if own else "."
            raise PairError(
                f"{name} does not find {wanted}, which lies in its folder: run verify there, or say "
                f"until_session({name!r}, ..., folder={where!r})"
            ) from error
        except ModuleNotFoundError as error:
            home = _above(own, str(error.name or "").partition(".")[0]) if own else None
            if home is None:
                raise
            where = os.path.relpath(home, beside or None)
            raise PairError(
                f"{name} does not find {error.name}, which lies in {where}: put that on the path before, as PYTHONPATH "
                f"did, sys.path.insert(0, {where!r}) if verify runs beside the pair"
            ) from error
        except SystemExit as error:
            raise PairError(
                f"{name} exits without running anything in a session ({essence(error)}); what it wants on its command "
                f"line are further arguments: until_session({name!r}, '--option', 'value')"
            ) from error
        else:
            raise PairError(f"{name} ends without running anything in a session")
    graph = tf.compat.v1.get_default_graph()
    if graph.finalized:
        graph._unsafe_unfinalize()  # a supervisor or a monitored session has closed it; what records it adds to it
    return Reached(frames[::-1], kept)


@contextlib.contextmanager
def _keeping(kept: Mapping[str, list[SimpleNamespace]]) -> Iterator[None]:
    """While the body runs, keep what the names of functions stand for when these return."""
    if not kept:
        yield
        return

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and frame.f_code.co_name in kept and not _is_own(frame):
            kept[frame.f_code.co_name].append(SimpleNamespace(**frame.f_locals))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


@contextlib.contextmanager
def _within(beside: str, folder: str | None) -> Iterator[None]:
    """Run the body with another working folder."""
    before = os.getcwd()
    if folder is not None:
        try:
            os.chdir(os.path.join(beside, folder))
        except OSError as error:
            raise PairError(f"until_session: {folder} is no folder to run in: {error.strerror or error}") from error
    try:
        yield
    finally:
        os.chdir(before)


def _above(folder: str, module: str) -> str | None:
    """The nearest folder above one that has a module of a name."""
    while module and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        if any(os.path.exists(os.path.join(folder, one)) for one in (module, f"{module}.py")):
            return folder
    return None


def _run(file: str, arguments: Sequence[str]) -> None:
    if not os.path.isfile(file):
        raise PairError(f"until_session: there is no file {file}")
    words, path = sys.argv, list(sys.path)
    sys.argv = [file, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    try:
        runpy.run_path(file, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = words, path


def _frames(traceback: TracebackType | None) -> Iterator[FrameType]:
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _is_own(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith(_OWN)


@contextlib.contextmanager
def _flags(file: str | None) -> Iterator[None]:
    """Let the body define its flags, and forget them: a program is run once for each graph, and defines them each time.

    Those that a file has defined as a module are put back afterwards; those of a module that it has imported stay, as
    the module does, which defines them once.
    """
    flags = sys.modules.get("absl.flags")
    if flags is None:
        yield
        return
    values: Nest = vars(flags)["FLAGS"]
    homes = {name: values.find_module_defining_flag(name) for name in values}
    hidden = {name: values[name] for name, home in homes.items() if file is not None and _is_of(home, file)}
    for name in hidden:
        delattr(values, name)
    known, parsed = set(values), values.is_parsed()
    try:
        yield
    finally:
        for name in set(values) - known:
            if values.find_module_defining_flag(name) not in sys.modules:
                delattr(values, name)
        for name, flag in hidden.items():
            values[name] = flag
            values.register_flag_by_module(homes[name], flag)
        if values.is_parsed() and not parsed:
            values.unparse_flags()


def _is_of(module: str | None, file: str) -> bool:
    defined_in = getattr(sys.modules.get(module or ""), "__file__", None)
    return defined_in is not None and os.path.realpath(defined_in) == os.path.realpath(file)
