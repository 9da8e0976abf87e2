"""Other values of attributes for a while."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

__all__ = ["replaced"]


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Another value of an attribute, in the body."""
    original = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, original)
