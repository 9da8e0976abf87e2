"""The report of a comparison, as the command and a user's tests get it: its results, and every way to show them."""

from __future__ import annotations

import json as encoding
import os
from collections.abc import Mapping
from typing import Any

from ...linter.atomic import write_file
from .reporters import html, json, junit, text
from .results import Results, Status

__all__ = ["Report"]


class Report(Results):
    """The whole comparison."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Report:
        """The report that `to_json` made a document of.

        Raises:
            ValueError: if it is no such document, or one of another format.
        """
        return json.read(cls, document)

    def __str__(self) -> str:
        """The ladder as it is printed by the command, without colours."""
        return text.render(self)

    def assert_equal(self, *rungs: str) -> None:
        """Do nothing where both sides are equal.

        Args:
            rungs: names or numbers of the rungs that have to pass; by default every one that was run.

        Raises:
            AssertionError: with the whole report as its text, also where nothing was compared.
            KeyError: if there is no rung of that name.
        """
        failed = [one for one in rungs if self.rung(one).status is not Status.PASS]
        broken = bool(self.problems) or any(side.cause for side in self.sides)
        if failed or broken or not (rungs or self.equal):
            raise AssertionError(f"{', '.join(failed) or self.name}\n{self}")

    def to_json(self, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """The report as JSON data, as `reporters.json` describes it; also written to a file where one is named."""
        document = json.to_json(self)
        if path is not None:
            _write(path, encoding.dumps(document) + "\n")
        return document

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page with pictures, in one file that needs no network."""
        _write(path, html.render(self))

    def to_junit(self, path: str | os.PathLike[str]) -> None:
        """Write JUnit XML, a case a rung."""
        _write(path, junit.render(self))


def _write(path: str | os.PathLike[str], shown: str) -> None:
    write_file(os.fspath(path), shown.encode())
