"""What one file asked the project, written down: the cross-file facts that its findings depend on.

A kept finding is good as long as the file's content is the same and every question it asked has the same answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from .project import Entity, Key, Project
from .summary import ClassSummary, FunctionSummary

Question = tuple[str, tuple[Any, ...]]


class DependencyRecorder(Project):
    """A project that remembers what it was asked."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.summaries = project.summaries
        self.asked: dict[Question, Any] = {}

    def _ask(self, method: str, *arguments: Any) -> Any:
        question = (method, arguments)
        if question not in self.asked:
            self.asked[question] = getattr(self._project, method)(*arguments)
        return self.asked[question]

    def resolve(self, file: str, text: str) -> tuple[Entity, ...]:
        """See `Project.resolve`."""
        return self._ask("resolve", file, text)  # type: ignore[no-any-return]

    def canonical_names(self, file: str, text: str) -> list[str]:
        """See `Project.canonical_names`."""
        return self._ask("canonical_names", file, text)  # type: ignore[no-any-return]

    def contexts(self, key: Key) -> tuple[int, ...]:
        """See `Project.contexts`."""
        return self._ask("contexts", key)  # type: ignore[no-any-return]

    def trail(self, key: Key, flag: int) -> list[tuple[str, str, int]]:
        """See `Project.trail`."""
        return self._ask("trail", key, flag)  # type: ignore[no-any-return]

    def is_consistent(self, key: Key, flag: int) -> bool:
        """See `Project.is_consistent`."""
        return self._ask("is_consistent", key, flag)  # type: ignore[no-any-return]

    def kinds(self, key: Key) -> frozenset[str]:
        """See `Project.kinds`."""
        return frozenset(self._ask("sorted_kinds", key))

    def mro(self, key: Key) -> tuple[list[Key], list[str]]:
        """See `Project.mro`."""
        return self._ask("mro", key)  # type: ignore[no-any-return]

    def makers(self, key: Key) -> list[Key]:
        """See `Project.makers`."""
        return self._ask("makers", key)  # type: ignore[no-any-return]

    def knows_bases(self, key: Key) -> bool:
        """See `Project.knows_bases`."""
        return self._ask("knows_bases", key)  # type: ignore[no-any-return]

    def subclasses(self, key: Key) -> list[Key]:
        """See `Project.subclasses`."""
        return self._ask("subclasses", key)  # type: ignore[no-any-return]

    def method(self, key: Key, name: str) -> Key | None:
        """See `Project.method`."""
        return self._ask("method", key, name)  # type: ignore[no-any-return]

    def function(self, key: Key) -> FunctionSummary | None:
        """See `Project.function`."""
        return self._ask("function", key)  # type: ignore[no-any-return]

    def cls(self, key: Key) -> ClassSummary | None:
        """See `Project.cls`."""
        return self._ask("cls", key)  # type: ignore[no-any-return]

    def is_property(self, key: Key) -> bool:
        """See `Project.is_property`."""
        return self._ask("is_property", key)  # type: ignore[no-any-return]

    def display(self, key: Key) -> str:
        """See `Project.display`."""
        return self._ask("display", key)  # type: ignore[no-any-return]

    def callers_omitting(self, key: Key, parameter: str) -> tuple[int, int]:
        """See `Project.callers_omitting`."""
        return self._ask("callers_omitting", key, parameter)  # type: ignore[no-any-return]

    def callers_omitting_under(self, key: Key, parameter: str, flags: int, without: int) -> tuple[int, int]:
        """See `Project.callers_omitting_under`."""
        return self._ask("callers_omitting_under", key, parameter, flags, without)  # type: ignore[no-any-return]

    def v1_calls(self, key: Key) -> tuple[str, ...]:
        """See `Project.v1_calls`."""
        return tuple(self._ask("v1_calls", key))

    def uses(self, *names: str) -> bool:
        """See `Project.uses`."""
        return self._ask("uses", *names)  # type: ignore[no-any-return]

    def files_using(self, *names: str) -> list[str]:
        """See `Project.files_using`."""
        return self._ask("files_using", *names)  # type: ignore[no-any-return]

    def first_file_using(self, *names: str) -> str | None:
        """See `Project.first_file_using`."""
        return self._ask("first_file_using", *names)  # type: ignore[no-any-return]

    def enters_graph(self, file: str, text: str) -> bool:
        """See `Project.enters_graph`."""
        return self._ask("enters_graph", file, text)  # type: ignore[no-any-return]

    def first_file_spelling(self, *names: str) -> str | None:
        """See `Project.first_file_spelling`."""
        return self._ask("first_file_spelling", *names)  # type: ignore[no-any-return]

    def is_read_elsewhere(self, file: str, name: str) -> bool:
        """See `Project.is_read_elsewhere`."""
        return self._ask("is_read_elsewhere", file, name)  # type: ignore[no-any-return]

    def dependencies(self) -> tuple[list[Question], str]:
        """The questions asked, and a digest of their answers."""
        return list(self.asked), _digest(list(self.asked.values()))


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
    return blake2b(json.dumps(found).encode(), digest_size=16).hexdigest()
