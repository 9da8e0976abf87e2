"""One scenario after the other: what one of them raises is recorded with it, and does not cost the next one."""

from __future__ import annotations

from typing import Callable

from ...errors import essence
from ...frames import UserCode, place_of
from ..pairs.batches import PairError
from .store import Chapter, Recording

__all__ = ["NotRunError", "attempt"]


class NotRunError(Exception):
    """Why a scenario cannot be run."""


def attempt(recording: Recording, code: UserCode, name: str, body: Callable[[Chapter], None]) -> None:
    """Record a scenario, or why it was not run or failed.

    Raises:
        PairError: if the pair cannot be used as it is: no other scenario will do better.
    """
    try:
        with recording.scenario(name) as chapter:
            try:
                body(chapter)
            finally:
                recording.quote(code.files)
    except NotRunError as reason:
        recording.not_run(name, str(reason))
    except PairError:
        raise
    except (Exception, SystemExit) as error:
        recording.failed(name, essence(error), place_of(code.of_error(error)))
