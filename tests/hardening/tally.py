"""What a harness has tried, and what fell."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

_KEPT = 20
"""Reproductions of a kind that are kept; failures are counted beyond."""


class Tally:
    """The inputs tried by kind, the failures with their reproductions, and the slowest input of each kind."""

    def __init__(self, folder: Path) -> None:
        """Reproductions are kept in `folder`, which is made when there is the first."""
        self.folder = folder
        self.inputs: Counter[str] = Counter()
        self.failures: list[tuple[str, str, str]] = []
        """Kind, detail, and the path of the reproduction or nothing."""
        self.seconds = 0.0
        """Of the processor, in all."""
        self.slowest: dict[str, tuple[float, str]] = {}
        """By kind the processor's seconds, and what they were spent on."""

    def tried(self, kind: str, count: int = 1) -> None:
        """Count inputs of a kind."""
        self.inputs[kind] += count

    def failed(self, kind: str, detail: str, text: bytes | None = None) -> None:
        """Note that something fell, and keep the input."""
        number = sum(kind == earlier for earlier, _, _ in self.failures)
        path = None if text is None or number >= _KEPT else self._keep(kind, number, text)
        self.failures.append((kind, detail, "" if path is None else str(path)))

    def took(self, kind: str, seconds: float, what: str) -> None:
        """Remember the slowest; `seconds` are the processor's."""
        if seconds > self.slowest.get(kind, (0.0, ""))[0]:
            self.slowest[kind] = seconds, what

    def _keep(self, kind: str, number: int, text: bytes) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{re.sub(r'[^a-z0-9]+', '-', kind.lower())}-{number}"
        path.write_bytes(text)
        return path

    def save(self, path: Path) -> None:
        """Write what is known so far as JSON."""
        part = path.with_suffix(".new")
        part.write_text(json.dumps([self.inputs, self.failures, self.slowest, self.seconds]), "utf-8")
        part.replace(path)

    def add(self, path: Path) -> None:
        """Take in what `save` wrote."""
        inputs, failures, slowest, seconds = json.loads(path.read_text("utf-8"))
        self.inputs.update(inputs)
        self.seconds += seconds
        self.failures += map(tuple, failures)
        for kind, (seconds, what) in slowest.items():
            self.took(kind, seconds, what)
