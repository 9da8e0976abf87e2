"""Loads the user's files afresh for each model, where something in them outlives a model.

An optimizer, a metric or a variable at module level belongs to the first model that it meets.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import sys
import types
import weakref
from collections import deque
from typing import Callable, Iterator, Mapping

import numpy as np

from ..errors import essence
from ..frames import UserCode
from ..modules import is_standard
from .format.store import Recording
from .loading import is_pair
from .pairs.pair import Pair
from .tensors import Module
from .tf1 import estimator

__all__ = ["Renewal"]

_FRAMEWORKS = frozenset({"keras", "tensorflow", "tf_keras", "tf_slim"})
_OURS = ("_migrate_lint_worker", "migrate_lint")
_MOST = 20000
"""Objects that are looked at; who has more is loaded afresh unseen."""
_SMALL = 64
"""Bytes of an array that may count something."""
_PLAIN = (bool, int, float, complex, str, bytes, np.generic)
_FIXED = (
    type(None), type(Ellipsis), type(NotImplemented), range, slice, types.ModuleType, types.BuiltinFunctionType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.CodeType, weakref.ref, np.dtype, np.ufunc
)  # fmt: skip
_CONTAINERS = (list, tuple, set, frozenset, deque)
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial, staticmethod, classmethod, property)
_HOLDERS = (types.SimpleNamespace,)
_STEADY = (
    "Tensor", "SparseTensor", "RaggedTensor", "DType", "TensorShape", "Dimension", "TensorSpec", "Policy",
    "DTypePolicy", "Loss", "Regularizer", "LearningRateSchedule", "TFDecorator",
    "PythonAPIDispatcher", "ControlStatusCtx"
)  # fmt: skip
"""Classes of the frameworks whose objects no use changes."""


class Renewal:
    """Gives a fresh model's pair: from files that are loaded again, or the one that there is where nothing lasts.

    Args:
        load: loads the pair's files, and gives the pair as one side needs it.
        code: tells the user's files.
        recording: is told what lasts, and what cannot be loaded again.
    """

    def __init__(self, load: Callable[[], Pair], code: UserCode, recording: Recording) -> None:
        self._load = load
        self._code = code
        self._recording = recording
        self._before: dict[str, object] = {}
        self._refused = False
        self._lasting()

    def __call__(self, pair: Pair) -> Pair:
        """The pair for the next model.

        Args:
            pair: of the model before.
        """
        lasting = "" if self._refused else self._lasting()
        if not lasting:
            return pair
        before = self._taken_out()
        try:
            with estimator.standing_in(self._recording.adapted):
                fresh = self._load()
        except (Exception, SystemExit) as error:
            self._refused = True
            self._taken_out()
            sys.modules.update(before)
            self._recording.note(
                f"{lasting} is the same for all models: the files could not be loaded a second time ({essence(error)})"
            )
            return pair
        self._recording.adapted(f"the pair's files were loaded afresh for every model, since {lasting} outlives one")
        self._before = {}
        self._lasting()
        return fresh

    # What lasts

    def _lasting(self) -> str:
        """What of the user's modules outlives a model, or has changed since the last look; empty if nothing does."""
        found: dict[str, object] = {}
        modules = dict(self._modules())
        seen: set[int] = set()
        waiting: deque[tuple[str, object]] = deque()
        for key, module in modules.items():
            where = os.path.basename(str(vars(module).get("__file__") or key))
            found[key] = None
            waiting += [(f"{name} in {where}", value) for name, value in _own(vars(module)).items()]
        while waiting:
            name, value = waiting.popleft()
            if len(found) > _MOST:
                return "what is at module level, too much to be looked through,"
            mark = _mark(value)
            if mark is not None:
                found[name] = mark
            if id(value) in seen:
                continue
            seen.add(id(value))
            inside = self._inside(value)
            if inside is None:
                return f"{name} ({type(value).__name__})"
            waiting += [(f"{name}, {key}", part) for key, part in inside]
        before, self._before = self._before, found
        return next((name for name in before if found.get(name) != before[name]), "")

    def _inside(self, value: object) -> list[tuple[str, object]] | None:
        """What a value holds; None of one that changes as it is used, or of which nothing is known."""
        kind = type(value)
        if issubclass(kind, (*_PLAIN, *_FIXED, np.ndarray)):
            return []
        if issubclass(kind, Mapping):
            return [(repr(key), part) for key, part in value.items()]  # type: ignore[attr-defined]
        if issubclass(kind, _CONTAINERS):
            return [(str(at), part) for at, part in enumerate(value)]  # type: ignore[arg-type, var-annotated]
        if issubclass(kind, _FUNCTIONS):
            made = getattr(value, "__globals__", {}).get("__name__", "")
            return [] if made.partition(".")[0] in _OURS else list(_of_function(value))
        if issubclass(kind, type):
            return list(_own(vars(value)).items()) if self._is_users_class(value) else []  # type: ignore[arg-type]
        return self._of_instance(value, kind)

    def _of_instance(self, value: object, kind: type) -> list[tuple[str, object]] | None:
        users = self._is_users_class(kind)
        if any(cls.__module__.partition(".")[0] in _FRAMEWORKS for cls in kind.__mro__):
            steady = any(cls.__name__ in _STEADY for cls in kind.__mro__)
            return (list(vars(value).items()) if users else []) if steady else None
        ours = kind.__module__.partition(".")[0] in _OURS
        if is_pair(value) or issubclass(kind, _HOLDERS) or users or ours:
            return list(getattr(value, "__dict__", {}).items()) if not hasattr(kind, "__next__") else None
        if not is_standard(kind.__module__.partition(".")[0]):
            return None
        changes = issubclass(kind, random.Random) or hasattr(kind, "__next__") or hasattr(kind, "cache_info")
        return None if changes else []

    def _is_users_class(self, cls: type) -> bool:
        return _is_users(sys.modules.get(cls.__module__), self._code)

    # The user's modules

    def _modules(self) -> Iterator[tuple[str, Module]]:
        for name, module in list(sys.modules.items()):
            if name != "__main__" and name.partition(".")[0] not in _OURS and _is_users(module, self._code):
                yield name, module

    def _taken_out(self) -> dict[str, Module]:
        """Make Python forget the user's modules, and the gradients that they told TensorFlow of; gives them back."""
        self._forget_gradients()
        return {name: sys.modules.pop(name) for name, _ in list(self._modules())}

    def _forget_gradients(self) -> None:
        """TensorFlow takes the gradient of a name only once."""
        with contextlib.suppress(ImportError, AttributeError):
            from tensorflow.python.framework import ops

            for known in (getattr(ops, "gradient_registry", None), getattr(ops, "_gradient_registry", None)):
                entries: dict[str, dict[str, object]] = getattr(known, "_registry", {})
                for name in [one for one, entry in entries.items() if self._wrote(entry.get("type"))]:
                    del entries[name]

    def _wrote(self, function: object) -> bool:
        written = getattr(function, "__code__", None)
        return written is not None and self._code.path(written.co_filename) is not None


def _is_users(module: Module, code: UserCode) -> bool:
    """Whether it is a Python file of the user's, or a folder of such files."""
    names = vars(module) if isinstance(module, types.ModuleType) else {}
    file = names.get("__file__")
    if isinstance(file, str):
        return file.endswith(".py") and code.path(file) is not None
    with contextlib.suppress(Exception):
        return any(code.path(os.path.join(folder, "__init__.py")) is not None for folder in names.get("__path__") or ())
    return False


def _own(names: Mapping[str, object]) -> dict[str, object]:
    """What a module or class holds, but for what Python puts there."""
    return {name: value for name, value in list(names.items()) if not (name.startswith("__") and name.endswith("__"))}


def _of_function(value: object) -> Iterator[tuple[str, object]]:
    for name in ("__func__", "__self__", "__defaults__", "__kwdefaults__", "func", "args", "keywords", "fget", "fset"):
        part = getattr(value, name, None)
        if part is not None:
            yield name, part
    yield from getattr(value, "__dict__", {}).items()
    code, cells = getattr(value, "__code__", None), getattr(value, "__closure__", None)
    for name, cell in zip(code.co_freevars, cells) if code is not None and cells else ():
        with contextlib.suppress(ValueError):  # it is empty
            yield name, cell.cell_contents


def _mark(value: object) -> object:
    """What tells whether it is another one by now; None where that is not asked."""
    kind = type(value)
    if issubclass(kind, _PLAIN):
        return repr(value)
    if issubclass(kind, np.ndarray):
        return (id(value), value.tobytes() if value.nbytes <= _SMALL else None)  # type: ignore[attr-defined]
    if issubclass(kind, types.ModuleType):
        return None
    return (id(value), len(value)) if issubclass(kind, (Mapping, *_CONTAINERS)) else id(value)  # type: ignore[arg-type]
