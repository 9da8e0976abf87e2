"""What stands in a pair that is not finished."""

from __future__ import annotations

from typing import NoReturn

from .batches import PairError

__all__ = ["to_fill"]


def to_fill(what: str) -> NoReturn:
    """Stand for something that ``migrate-lint verify --init`` did not find in the text of a program.

    ``migrate-lint verify`` names all of them with their lines before it runs anything.

    Args:
        what: what a person has to put in its place.

    Raises:
        PairError: always.
    """
    raise PairError(f"the pair is not finished; to be filled in: {what}")
