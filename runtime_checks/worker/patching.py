"""Puts something else in the place of attributes while a run is recorded, and puts them back."""

from __future__ import annotations

import contextlib
import functools
import sys
from types import ModuleType
from typing import Any, Callable, ContextManager, Iterator

from .errors import one_line, text_of

__all__ = ["Patch", "Wrap", "definer", "replaced", "telling", "wrapped", "wrapped_everywhere"]

Patch = ContextManager[object]
"""Something else in the place of an attribute, while it is entered."""
Wrap = Callable[[Any], Callable[..., Any]]
"""Makes the replacement of a function from it."""

_ABSENT = object()


@contextlib.contextmanager
def replaced(owner: object, name: str, value: object) -> Iterator[None]:
    """Another value of an attribute, in the body; one that the owner has not, or inherits, it has not afterwards."""
    own = _own(owner, name, _ABSENT)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


def _own(owner: object, name: str, default: object) -> Any:
    return vars(owner).get(name, default) if isinstance(owner, type) else getattr(owner, name, default)


def definer(cls: type, name: str) -> Any:
    """The class, among a class and its bases, that has a method of its own by that name; None if there is none."""
    return next((base for base in cls.__mro__ if name in vars(base)), None)


@contextlib.contextmanager
def wrapped(owner: object, name: str, wrap: Wrap) -> Iterator[None]:
    """Replace a function of a class's own or of a module in the body; where there is none nothing happens."""
    original = _own(owner, name, None)
    if original is None:
        yield
        return
    with replaced(owner, name, functools.wraps(original)(wrap(original))):
        yield


@contextlib.contextmanager
def wrapped_everywhere(home: ModuleType, name: str, wrap: Wrap) -> Iterator[None]:
    """As `wrapped`, in every module of TensorFlow that has the function by this name, the public ones among them."""
    original = vars(home).get(name)
    if original is None:
        yield
        return
    replacement = functools.wraps(original)(wrap(original))
    with contextlib.ExitStack() as stack:
        for module in _modules():
            if _is(vars(module).get(name), original):
                setattr(module, name, original)
                stack.enter_context(replaced(module, name, replacement))
        yield


def _is(value: Any, original: Any) -> bool:
    """Whether a module has the function, or a replacement from an earlier time, when it was first imported."""
    return value is original or (callable(value) and getattr(value, "__wrapped__", None) is original)


def _modules() -> list[ModuleType]:
    loaded = [module for key, module in list(sys.modules.items()) if key.partition(".")[0] == "tensorflow"]
    return [module for module in loaded if isinstance(module, ModuleType)]


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
