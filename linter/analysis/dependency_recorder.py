"""What one file asked the project, written down: the cross-file facts that its findings depend on.

A kept finding is good as long as the file's content is the same and every question it asked has the same answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import wraps
from hashlib import blake2b
from inspect import signature
from typing import Any

from .project import Project

Question = tuple[str, tuple[Any, ...]]

PREPARATION = frozenset({"join", "prepare", "descent", "load_descent", "with_code"})
"""What is done with a project before anything is asked of it."""


class DependencyRecorder(Project):
    """A project that remembers what it was asked: all that is public of a project, but for the `PREPARATION`."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.summaries = project.summaries
        self.asked: dict[Question, Any] = {}

    def dependencies(self) -> tuple[list[Question], str]:
        """The questions asked, and a digest of their answers."""
        return list(self.asked), _digest(list(self.asked.values()))


def _recorded(method: Callable[..., Any]) -> Callable[..., Any]:
    name = method.__name__

    @wraps(method)
    def ask(self: DependencyRecorder, *arguments: Any, **named: Any) -> Any:
        if named:
            arguments = signature(method).bind(self, *arguments, **named).args[1:]
        question = (name, arguments)
        if question not in self.asked:
            self.asked[question] = getattr(self._project, name)(*arguments)
        return self.asked[question]

    return ask


for _name in dir(Project):
    _method = getattr(Project, _name)
    if not _name.startswith("_") and _name not in PREPARATION and callable(_method):
        setattr(DependencyRecorder, _name, _recorded(_method))


def answers(project: Project, questions: Iterable[Any]) -> str | None:
    """Ask a project kept questions again, and digest the answers; None where a question has lost its meaning."""
    found: list[Any] = []
    try:
        for method, arguments in questions:
            found.append(getattr(project, method)(*(tuple(a) if isinstance(a, list) else a for a in arguments)))
    except (KeyError, AttributeError, TypeError, ValueError):
        return None
    return _digest(found)


def _digest(found: list[Any]) -> str:
    """A set among the answers counts in a fixed order."""
    return blake2b(json.dumps(found, default=sorted).encode(), digest_size=16).hexdigest()
