"""Reads what a side recorded; used beside TensorFlow and by the comparison."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, Mapping

import numpy as np

from ..tensors import Array, Json
from .store import FORMAT, RECORD

__all__ = ["Record", "Recorded", "RecordingError", "Scenario", "read"]


class RecordingError(ValueError):
    """A folder holds no recording that can be read; the text names the file."""


@dataclass(frozen=True)
class Record:
    """One value: what it is, where it was made, and where the array lies."""

    kind: str
    name: str
    step: int
    order: int
    dtype: str
    """As the program had it; what numpy has no dtype for, such as bfloat16, is kept as float32."""
    shape: tuple[int, ...]
    place: tuple[str, int] | None
    more: Mapping[str, Json]
    _archive: Path | None
    _key: str

    @property
    def kept(self) -> bool:
        """False for a tap beyond the limit, of which only the shape is known."""
        return self._archive is not None

    @property
    def archive(self) -> tuple[Path, str] | None:
        """The file that the array lies in and its key there; None where it was not kept."""
        return None if self._archive is None else (self._archive, self._key)

    @property
    def value(self) -> Array:
        """The array, read anew each time.

        Raises:
            RecordingError: if the archive cannot be read.
        """
        if self._archive is None:
            raise RecordingError(f"{self.kind} {self.name} was left out of the recording")
        try:
            with np.load(self._archive, allow_pickle=False) as arrays:
                return arrays[self._key]
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise RecordingError(f"{self._archive} cannot be read: {error}") from error


@dataclass(frozen=True)
class Scenario:
    """One chapter of a recording: ``ok``, ``failed`` or ``not run``, and its records in the order of execution."""

    name: str
    outcome: str
    detail: str
    place: tuple[str, int] | None
    seconds: float
    said: Mapping[str, Json]
    records: tuple[Record, ...]

    def find(self, kind: str, name: str, step: int = 0) -> Record | None:
        """The record of that kind, name and step, or None."""
        for record in self.records:
            if (record.kind, record.name, record.step) == (kind, name, step):
                return record
        return None

    def of_kind(self, kind: str, step: int | None = None) -> list[Record]:
        """The records of a kind, of one step or of all."""
        return [record for record in self.records if record.kind == kind and step in (None, record.step)]

    @property
    def steps(self) -> list[int]:
        """The training steps that were recorded, without the values before the first."""
        return sorted({record.step for record in self.records if record.step >= 0})


@dataclass(frozen=True)
class Recorded:
    """One side's recording."""

    folder: Path
    content: Mapping[str, Json]
    scenarios: Mapping[str, Scenario] = field(default_factory=dict)

    @property
    def side(self) -> str:
        """``tf1`` or ``tf2``."""
        return str(self.content["side"])

    def scenario(self, name: str) -> Scenario:
        """A scenario; one that was never begun is ``not run``."""
        return self.scenarios.get(name) or Scenario(name, "not run", "it was not recorded", None, 0.0, {}, ())


def read(folder: str | Path) -> Recorded:
    """Read a recording's folder; arrays are read when they are asked for.

    Raises:
        RecordingError: if there is none, or what is there cannot be read.
    """
    folder = Path(folder)
    content = _json(folder / RECORD)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else None
        raise RecordingError(f"{folder / RECORD} is no recording of format {FORMAT}, but {found}")
    try:
        scenarios = {name: _scenario(folder, name, said) for name, said in content["scenarios"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, RecordingError):
            raise
        raise RecordingError(f"{folder / RECORD} is damaged: {error!r}") from error
    return Recorded(folder, content, scenarios)


def _json(path: Path) -> Json:
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise RecordingError(f"{path} is no JSON: {error}") from error


def _scenario(folder: Path, name: str, said: Mapping[str, Json]) -> Scenario:
    return Scenario(
        name=name,
        outcome=str(said["outcome"]),
        detail=str(said.get("detail", "")),
        place=_place(said.get("place")),
        seconds=float(said.get("seconds", 0.0)),
        said=said,
        records=tuple(record for part in said["parts"] for record in _part(folder, str(part))),
    )


def _part(folder: Path, part: str) -> Iterator[Record]:
    known = {"kind", "name", "step", "order", "dtype", "shape", "place", "key"}
    for described in _json(folder / f"{part}.part.json"):
        yield Record(
            kind=str(described["kind"]),
            name=str(described["name"]),
            step=int(described["step"]),
            order=int(described["order"]),
            dtype=str(described["dtype"]),
            shape=tuple(described["shape"]),
            place=_place(described["place"]),
            more={key: value for key, value in described.items() if key not in known},
            _archive=folder / f"{part}.npz" if "key" in described else None,
            _key=str(described.get("key", "")),
        )


def _place(value: Json) -> tuple[str, int] | None:
    return None if value is None else (str(value[0]), int(value[1]))
