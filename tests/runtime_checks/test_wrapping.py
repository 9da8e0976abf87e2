"""What stands around functions of TensorFlow never changes what the program sees of them."""

from __future__ import annotations

from typing import Any

import pytest
from migrate_lint.runtime_checks.worker.wrapping import telling


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raising(error: BaseException) -> None:
    raise error


def test_what_was_raised_is_told_and_goes_on_its_way() -> None:
    """Type and text in one line, with the arguments by position."""
    told: list[tuple[tuple[Any, ...], str]] = []
    error = ValueError("a\nb")
    with pytest.raises(ValueError, match="a"):
        telling(raising, lambda args, line: told.append((args, line)))(error)

    assert [((error,), "ValueError: a b")] == told


def test_nothing_raised_is_told_as_an_empty_line() -> None:
    """The value comes back."""
    told: list[str] = []

    assert 3 == telling(max, lambda args, line: told.append(line))(1, 3)
    assert [""] == told


def test_an_exception_without_a_text_stays_what_it_is() -> None:
    """The program sees its own exception, not the one that asking for the text raises."""
    told: list[str] = []
    with pytest.raises(UnspeakableError):
        telling(raising, lambda args, line: told.append(line))(UnspeakableError())

    assert ["UnspeakableError:"] == told
