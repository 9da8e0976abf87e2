"""What stands around functions of TensorFlow never changes what the program sees of them."""

from __future__ import annotations

from typing import Any

import pytest
from migrate_lint.runtime_checks.worker.patching import replaced, telling, wrapped


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raising(error: BaseException) -> None:
    raise error


class Parent:
    def name(self) -> str:
        return "parent"

    @staticmethod
    def number() -> int:
        return 1


class Child(Parent):
    pass


def test_what_a_class_inherits_it_inherits_again() -> None:
    """A later change of the parent is seen through the child."""
    with replaced(Child, "name", lambda self: "replaced"):
        assert ("replaced", "parent") == (Child().name(), Parent().name())

    assert "name" not in vars(Child)


def test_what_stood_in_a_class_is_put_back_as_it_stood() -> None:
    """A static method stays one, also where the body raises."""
    with pytest.raises(UnspeakableError), replaced(Parent, "number", lambda self: 2):
        raise UnspeakableError

    assert 1 == Parent().number()


def test_a_name_that_is_not_there_is_not_wrapped() -> None:
    """Versions of TensorFlow differ in what they have."""
    with wrapped(Parent, "nothing", lambda original: original):
        assert not hasattr(Parent, "nothing")


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
