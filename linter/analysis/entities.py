"""What a name turns out to be in a project."""

from __future__ import annotations

from typing import NamedTuple

Key = tuple[str, int]
"""A function, a class or (with the number 0) a module of the project: its file and the id of its scope."""


class Entity(NamedTuple):
    """What a name turned out to be.

    ``kind``: ``external`` (``text`` is an absolute name), ``function``, ``class`` or ``instance`` of the project
    (``file`` and ``scope``), ``parameter`` (``text`` is its name and what follows), ``module``.
    """

    kind: str
    text: str = ""
    file: str = ""
    scope: int = -1

    @property
    def key(self) -> Key:
        """File and scope id of a project entity."""
        return self.file, self.scope
