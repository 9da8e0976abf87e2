"""Symbolic tensors that are still there when the trace that made them is over, found by the name that keeps them."""

from __future__ import annotations

import sys
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Iterator, NamedTuple

from .run import Run, StaticFinding

__all__ = ["Kept", "cells", "kept_by", "symbolic_in"]

_MOST = 50_000
_DEPTH = 4
_LEAVES = (str, bytes, int, float, complex, bool, type(None), CodeType, ModuleType)
_FRAMEWORKS = ("tensorflow", "numpy", "builtins")


class Kept(NamedTuple):
    """What one name holds: of an attribute with its owner, else None, of a variable of a module or function."""

    owner: Any
    value: Any


def kept_by(name: str, finding: StaticFinding, run: Run) -> list[Kept]:
    """What an attribute or variable holds wherever the model and the user's modules, classes and functions reach it.

    Of an attribute the owners that have the method around the finding, if any has; a variable is one of its file.
    """
    modules = [module for module in list(sys.modules.values()) if _is_users(module, run)]
    of, _, name = name.rpartition(".")
    if not of:
        found = [
            Kept(None, vars(module)[name])
            for module in modules
            if name in vars(module) and run.code.path(module.__file__ or "") == finding.path
        ]
        functions = [one for one in _reached(modules, run) if isinstance(one, FunctionType)]
        here = [one for one in functions if run.code.path(one.__code__.co_filename) == finding.path]
        return found + [Kept(None, value) for one in here for cell, value in cells(one) if cell == name]
    owners = [one for one in _reached(modules, run) if name in getattr(one, "__dict__", {})]
    nearer = [one for one in owners if _has_method_around(one, finding, run)]
    return [Kept(one, vars(one)[name]) for one in nearer or owners]


def _reached(modules: list[ModuleType], run: Run) -> list[Any]:
    pending: list[Any] = [run.model, run.keeper]
    for module in modules:
        pending += [value for value in vars(module).values() if not isinstance(value, ModuleType)]
    pending += [event.subject() for event in run.events("layer", "module", "function")]
    reached: dict[int, Any] = {}  # an identity means something only while the object lives
    while pending and len(reached) < _MOST:
        value = pending.pop()
        if id(value) not in reached and not isinstance(value, _LEAVES):
            reached[id(value)] = value
            pending += _parts(value, run)
    return list(reached.values())


def _has_method_around(owner: Any, finding: StaticFinding, run: Run) -> bool:
    """Whether a class of an object defines the function that the finding stands in."""
    for cls in (owner if isinstance(owner, type) else type(owner)).__mro__:
        for method in list(vars(cls).values()):
            function = getattr(method, "python_function", getattr(method, "__func__", method))
            code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
            if isinstance(code, CodeType) and finding.function is not None:
                path = run.code.path(code.co_filename)
                if path is not None and finding.holds(path, code.co_firstlineno, finding.function):
                    return True
    return False


def _is_users(module: Any, run: Run) -> bool:
    file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
    return isinstance(file, str) and run.code.path(file) is not None


def _parts(value: Any, run: Run) -> list[Any]:
    """What an object holds."""
    found = _contained(value)
    if isinstance(value, MethodType):
        found += [value.__self__, value.__func__]
    elif isinstance(value, FunctionType):
        found += [part for _, part in cells(value)]
    elif isinstance(value, type):
        file = getattr(sys.modules.get(value.__module__), "__file__", None)
        return list(vars(value).values()) if run.code.path(file or "") is not None else []
    if hasattr(type(value), "python_function"):
        found.append(value.python_function)
    if type(value).__module__.partition(".")[0] not in _FRAMEWORKS:
        found += list(getattr(value, "__dict__", {}).values())
    return found


def cells(function: Any) -> Iterator[tuple[str, Any]]:
    """The variables around a function that it uses, by name."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not yet bound
            continue


def symbolic_in(value: Any, depth: int = _DEPTH) -> Iterator[Any]:
    """The tensors of function graphs in a value or, nested, in the containers that it holds."""
    import tensorflow as tf

    if isinstance(value, tf.Tensor):
        graph = None if hasattr(value, "numpy") else getattr(value, "graph", None)
        if hasattr(graph, "outer_graph"):
            yield value
    elif depth:
        for part in _contained(value):
            yield from symbolic_in(part, depth - 1)


def _contained(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ == "deque":
        return list(value)
    if type(value).__name__ in ("RaggedTensor", "SparseTensor", "IndexedSlices"):
        return [getattr(value, name, None) for name in ("values", "indices", "row_splits")]
    return []
