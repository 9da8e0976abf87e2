"""Puts something around functions of TensorFlow while a run is recorded, and takes it off again."""

from __future__ import annotations

import contextlib
import functools
import sys
from types import ModuleType
from typing import Any, Callable, Iterator

from .criteria import one_line
from .errors import text_of

__all__ = ["around", "everywhere", "telling"]

Wrap = Callable[[Any], Callable[..., Any]]
"""Makes the replacement of a function."""


def telling(original: Callable[..., Any], tell: Callable[[tuple[Any, ...], str], object]) -> Callable[..., Any]:
    """A function that tells, after each call of `original`, its positional arguments and in one line what it raised.

    The line is empty if it raised nothing; an exception whose own text cannot be had goes on its way all the same.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        error = ""
        try:
            return original(*args, **kwargs)
        except BaseException as raised:
            error = one_line(f"{type(raised).__name__}: {text_of(raised)}")
            raise
        finally:
            tell(args, error)

    return call


@contextlib.contextmanager
def around(owner: Any, name: str, wrap: Wrap) -> Iterator[None]:
    """Replace a function of a class or module; where there is no such name nothing happens."""
    original = vars(owner).get(name)
    if original is None:
        yield
        return
    setattr(owner, name, functools.wraps(original)(wrap(original)))
    try:
        yield
    finally:
        setattr(owner, name, original)


@contextlib.contextmanager
def everywhere(home: ModuleType, name: str, wrap: Wrap) -> Iterator[None]:
    """Replace a function in every module of TensorFlow that has it by this name, the public ones among them."""
    original = vars(home).get(name)
    if original is None:
        yield
        return
    replacement = functools.wraps(original)(wrap(original))
    places = [module for module in _modules() if _is(vars(module).get(name), original)]
    for module in places:
        setattr(module, name, replacement)
    try:
        yield
    finally:
        for module in places:
            setattr(module, name, original)


def _is(value: Any, original: Any) -> bool:
    """Whether a module has the function, or a replacement from an earlier time, when it was first imported."""
    return value is original or (callable(value) and getattr(value, "__wrapped__", None) is original)


def _modules() -> list[ModuleType]:
    loaded = [module for key, module in list(sys.modules.items()) if key.partition(".")[0] == "tensorflow"]
    return [module for module in loaded if isinstance(module, ModuleType)]
