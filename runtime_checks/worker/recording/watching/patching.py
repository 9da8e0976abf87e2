"""Other values of attributes for a while."""

from __future__ import annotations

import contextlib
from typing import Iterator

__all__ = ["replaced"]


_MISSING = object()


@contextlib.contextmanager
def replaced(owner: object, name: str, value: object) -> Iterator[None]:
    """Another value of an attribute, in the body; one that the owner has not, or inherits, it has not afterwards."""
    own = vars(owner).get(name, _MISSING) if isinstance(owner, type) else getattr(owner, name, _MISSING)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
