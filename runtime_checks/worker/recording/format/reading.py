"""Reads what a side recorded; used beside TensorFlow and by the comparison."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Callable, Iterator, Mapping

import numpy as np

from ...atomic import open_regular, read_regular
from ..tensors import Array, Json
from .schema import CONTENT, RECORDS, SchemaError
from .store import FORMAT, OF_VARIABLES, RECORD

__all__ = ["Archive", "Record", "Recorded", "RecordingError", "Scenario", "read", "read_json", "require"]

_MOST = 64 << 20
"""Bytes of a JSON file; a recording of ten thousand variables has parts of 12 MB."""


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
    places: Record | None = None
    """Of what belongs to a large variable: the positions of the elements that are compared."""

    @property
    def kept(self) -> bool:
        """False for a tap beyond the limit, of which only the shape is known."""
        return self._archive is not None

    @property
    def archive(self) -> tuple[Path, str] | None:
        """The file that the array lies in and its key there; None where it was not kept."""
        return None if self._archive is None else (self._archive, self._key)

    @property
    def sampled(self) -> bool:
        """Whether not all elements are kept."""
        return bool(self.more.get("sampled"))

    @property
    def value(self) -> Array:
        """The array, read anew each time; of a large variable the elements that are compared.

        Raises:
            RecordingError: if the archive cannot be read.
        """
        return self.compared(self.whole, lambda places: places.value)

    @property
    def whole(self) -> Array:
        """The array as it is kept, read anew each time.

        Raises:
            RecordingError: if the archive cannot be read.
        """
        if self._archive is None:
            raise RecordingError(f"{self.kind} {self.name} was left out of the recording")
        with contextlib.closing(Archive(self._archive)) as archive:
            return archive.read(self)

    def compared(self, kept: Array, read: Callable[[Record], Array]) -> Array:
        """The elements that are compared of the array that is kept.

        Args:
            kept: the array.
            read: gives that of another record.

        Raises:
            RecordingError: if they are not there.
        """
        if self.places is None or self.sampled:
            return kept
        at = read(self.places)
        if at.dtype.kind != "i" or (at.size and (at.min() < 0 or at.max() >= kept.size)):
            raise RecordingError(f"{self.places.archive} is damaged: these are no places in {self.kind} {self.name}")
        return kept.reshape(-1)[at]


class Archive:
    """The arrays of a part.

    Raises:
        RecordingError: if it is no archive of arrays; the text names the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _damages(path):
            self._file = open_regular(path)
            try:
                self._size = os.fstat(self._file.fileno()).st_size
                self._zip = zipfile.ZipFile(self._file)
            except BaseException:
                self._file.close()
                raise

    def read(self, record: Record) -> Array:
        """The array of a record, which is as the record says.

        Raises:
            RecordingError: if it is not there, or is not what was recorded.
        """
        with _damages(self.path):
            found = self._zip.getinfo(record._key + ".npy")
            # What is written here is not compressed, so no array is larger than its file.
            if found.compress_type != zipfile.ZIP_STORED or found.file_size > self._size:
                raise ValueError(f"{record._key} is compressed")
            with self._zip.open(found) as member:
                array = np.lib.format.read_array(member, allow_pickle=False)
            shape = record.shape
            if record.sampled and record.places is not None:
                shape = record.places.shape
            if array.dtype.kind not in "biufcSU" or array.shape != shape:
                raise ValueError(f"{record._key} is {array.dtype} {list(array.shape)}, not {list(shape)}")
            return array

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()


@contextlib.contextmanager
def _damages(path: Path) -> Iterator[None]:
    """Turn what damaged archives raise into an error that names the file."""
    try:
        yield
    except RecordingError:
        raise
    except MemoryError as error:
        raise RecordingError(f"{path} is damaged: it has an array that is larger than the memory") from error
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror or error}") from error
    except (*_BROKEN, zipfile.BadZipFile, zlib.error) as error:
        raise RecordingError(f"{path} is damaged: {type(error).__name__}: {error}") from error


_BROKEN = (
    ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, OverflowError, RuntimeError, SyntaxError,
    NotImplementedError
)  # fmt: skip
"""What zipfile and numpy are seen to raise for damaged archives."""


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

    def batches(self) -> Callable[[str, str, int], Array]:
        """Gives what the side got, by kind (``input`` or ``label``), name and step; None where it recorded nothing."""
        known: dict[tuple[str, str, int], Record] = {}
        for scenario in self.scenarios.values():
            for record in scenario.records:
                if record.kind in ("input", "label") and record.kept:
                    known.setdefault((record.kind, record.name, record.step), record)

        def got(kind: str, name: str, step: int) -> Array:
            record = known.get((kind, name, step))
            return None if record is None else record.value

        return got

    def scenario(self, name: str) -> Scenario:
        """A scenario; one that was never begun is ``not run``."""
        return self.scenarios.get(name) or Scenario(name, "not run", "it was not recorded", None, 0.0, {}, ())


def read(folder: str | Path) -> Recorded:
    """Read a recording's folder; arrays are read when they are asked for.

    Raises:
        RecordingError: if there is none, or what is there cannot be read.
    """
    folder = Path(folder)
    content = read_json(folder / RECORD)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else None
        raise RecordingError(f"{folder / RECORD} is no recording of format {FORMAT}, but {ascii(found)[:60]}")
    require(folder / RECORD, content, CONTENT)
    scenarios = {name: _scenario(folder, name, said) for name, said in content["scenarios"].items()}
    return Recorded(folder, content, _with_places(scenarios))


def _with_places(scenarios: Mapping[str, Scenario]) -> Mapping[str, Scenario]:
    """The same, with what belongs to a large variable knowing its elements."""
    every = [record for scenario in scenarios.values() for record in scenario.records]
    places = {record.name: record for record in every if record.kind == "places"}
    if not places:
        return scenarios

    def placed(record: Record) -> Record:
        if record.kind not in OF_VARIABLES:
            return record
        owner = str(record.more.get("variable", record.name)).partition("#")[0]
        return replace(record, places=places.get(owner))

    return {name: replace(one, records=tuple(map(placed, one.records))) for name, one in scenarios.items()}


def read_json(path: Path) -> Json:
    """The content of a JSON file.

    Raises:
        RecordingError: if it cannot be read, or is no JSON.
    """
    try:
        return json.loads(read_regular(path, _MOST).decode("utf-8"))
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise RecordingError(f"{path} is damaged: it is no JSON: {error}") from error
    except RecursionError as error:
        raise RecordingError(f"{path} is damaged: it is nested too deeply") from error


def require(path: Path, content: Json, check: Callable[[Json, str], None]) -> None:
    """Hold the content of a file against one of the checks of `schema`.

    Raises:
        RecordingError: if it holds something else; the text names the file and the place in it.
    """
    try:
        check(content, "")
    except SchemaError as error:
        raise RecordingError(f"{path} is damaged: {error}") from error


def _scenario(folder: Path, name: str, said: Mapping[str, Json]) -> Scenario:
    return Scenario(
        name=name,
        outcome=said["outcome"],
        detail=said.get("detail", ""),
        place=_place(said.get("place")),
        seconds=float(said.get("seconds", 0.0)),
        said=said,
        records=tuple(record for part in said["parts"] for record in _part(folder, part)),
    )


def _part(folder: Path, part: str) -> Iterator[Record]:
    known = {"kind", "name", "step", "order", "dtype", "shape", "place", "key", "archive"}
    path = folder / f"{part}.part.json"
    rows = read_json(path)
    require(path, rows, RECORDS)
    for described in rows:
        yield Record(
            kind=described["kind"],
            name=described["name"],
            step=described["step"],
            order=described["order"],
            dtype=described["dtype"],
            shape=tuple(described["shape"]),
            place=_place(described["place"]),
            more={key: value for key, value in described.items() if key not in known},
            _archive=folder / f"{described.get('archive', part)}.npz" if "key" in described else None,
            _key=described.get("key", ""),
        )


def _place(value: Json) -> tuple[str, int] | None:
    return None if value is None else (value[0], value[1])
