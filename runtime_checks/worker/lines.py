"""Which lines of the user's files ran, in which phase, and whether TensorFlow was tracing them.

The user's files, and those that AutoGraph generates, are imported with marks (see `marks`), so that everything else
runs as fast as it does without us.
"""

from __future__ import annotations
import __future__

import builtins
import contextlib
import importlib.machinery
import marshal
import sys
import threading
from types import CodeType
from typing import Any, Iterator, Tuple

from .frames import UserCode
from .marks import NAME, Mark, mark, without_marks
from .patching import replaced

__all__ = ["EAGER", "GRAPH", "TRACE", "Lines", "context_now"]

EAGER = "eager"
TRACE = "trace"
GRAPH = "graph"

Ran = Tuple[str, int, str]
"""A path, a line and the context: `EAGER`, `TRACE` (a function graph is being built) or `GRAPH` (a tf.Graph is)."""

_INHERITED = 0
"""The flags of ``from __future__ import``, which ``compile`` takes over from the code that calls it."""
for _name in __future__.all_feature_names:
    _INHERITED |= getattr(__future__, _name).compiler_flag
_own = threading.local()

# Of the process: a module stays imported when the run that imported it is over.
_marks: list[Mark] = []
_plain: dict[CodeType, CodeType] = {}


def context_now() -> str:
    """What TensorFlow does with an operation that is made now, on this thread."""
    if "tensorflow" not in sys.modules:
        return EAGER
    import tensorflow as tf

    if tf.executing_eagerly():
        return EAGER
    inside = getattr(tf, "inside_function", None)  # which TensorFlow 1 lacks
    return TRACE if inside is not None and inside() else GRAPH


class Lines:
    """Records the lines of statements in the user's files alone, on every thread."""

    def __init__(self, code: UserCode) -> None:
        self._code = code
        self._now: set[tuple[int, str]] = set()

    def take(self) -> set[Ran]:
        """What ran since the last call, with AutoGraph's lines mapped back."""
        ran = self.so_far()
        self._now.clear()
        return ran

    def so_far(self) -> set[Ran]:
        """The same, and go on."""
        ran = set()
        for number, context in self._now.copy():
            filename, lines = _marks[number]
            for line in lines:
                place = self._code.origin(filename, line)
                if place is not None:
                    ran.add((place[0], place[1], context))
        return ran

    def statements(self) -> dict[str, set[int]]:
        """The lines of the user's files, as far as those were imported, on which statements begin."""
        found: dict[str, set[int]] = {}
        for filename, lines in _marks:
            path = None if self._code.is_generated(filename) else self._code.path(filename)
            if path is not None:
                found.setdefault(path, set()).update(lines)
        return found

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record what was imported in this or an earlier `recording`, and mark what is imported in the body."""
        add = self._now.add

        def ran(number: int) -> None:
            add((number, context_now()))

        with self._marking(), self._marking_compiled(), _hiding_marks():
            setattr(builtins, NAME, ran)
            try:
                yield
            finally:
                setattr(builtins, NAME, _nobody_asks)

    @contextlib.contextmanager
    def _marking(self) -> Iterator[None]:
        """Mark files as they are imported, whether their bytecode is cached or not, and cache none of that."""
        loader_class: Any = importlib.machinery.SourceFileLoader
        original = loader_class.get_code

        def get_code(loader: Any, name: str) -> Any:
            filename = loader.get_filename(name)
            if not self._code.is_generated(filename) and self._code.path(filename) is None:
                return original(loader, name)
            try:
                return _marked_code(loader, filename)
            except Exception:  # what is wrong with the file is said as without us
                return original(loader, name)

        with replaced(loader_class, "get_code", get_code):
            yield

    @contextlib.contextmanager
    def _marking_compiled(self) -> Iterator[None]:
        """Mark files that the program reads and compiles itself, for ``exec`` in place of Python 2's ``execfile``."""
        original: Any = builtins.compile

        def compile(source: Any, filename: Any, mode: Any, flags: Any = 0, *more: Any, **options: Any) -> Any:
            if not (more[0] if more else options.pop("dont_inherit", False)):
                flags |= sys._getframe(1).f_code.co_flags & _INHERITED
            plain = original(source, filename, mode, flags, True, *more[1:], **options)
            if getattr(_own, "compiles", False) or mode != "exec" or not self._is_source(source, filename, plain):
                return plain
            try:
                with _compiling():
                    tree = mark(source, filename, _marks)
                code = original(tree, filename, mode, flags, True, *more[1:], **options)
            except Exception:  # it is run as it is
                return plain
            _plain.update(without_marks(code, plain))
            return code

        with replaced(builtins, "compile", compile):
            yield

    def _is_source(self, source: Any, filename: Any, compiled: Any) -> bool:
        """Whether the text of a user's file was compiled to code, not to a syntax tree."""
        is_text = isinstance(source, (str, bytes)) and isinstance(filename, str)
        return is_text and isinstance(compiled, CodeType) and self._code.path(filename) is not None


@contextlib.contextmanager
def _compiling() -> Iterator[None]:
    """What this thread compiles in the body is our own."""
    _own.compiles = True
    try:
        yield
    finally:
        _own.compiles = False


def _marked_code(loader: Any, filename: str) -> Any:
    source = loader.get_data(filename)
    with _compiling():
        code = loader.source_to_code(mark(source, filename, _marks), filename)
        _plain.update(without_marks(code, loader.source_to_code(source, filename)))
    return code


def _nobody_asks(number: int) -> None:
    """Takes the marks that are met outside of a phase."""


@contextlib.contextmanager
def _hiding_marks() -> Iterator[None]:
    """Let no mark out of the process: Keras saves the code of a lambda in the user's model file."""
    original = marshal.dumps

    def dumps(value: Any, *arguments: Any) -> bytes:
        return original(_plain.get(value, value) if isinstance(value, CodeType) else value, *arguments)

    with replaced(marshal, "dumps", dumps):
        yield
