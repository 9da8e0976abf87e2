"""The arrays of recordings, read one at a time from archives that stay open while they are walked through."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from ...worker.recording.format.reading import Archive, Record, RecordingError
from .converted import DerivedRecord

__all__ = ["Values"]

_OPEN = 16
_KEPT_BYTES = 128 << 20
_SMALL = _KEPT_BYTES >> 7
_Key = tuple[Path, str, tuple[Path, str] | None]


class Values:
    """Reads the values of records; keeps a few archives open, and small arrays up to 128 MiB in all."""

    def __init__(self) -> None:
        self._archives: dict[Path, Archive] = {}
        self._arrays: dict[_Key, Any] = {}
        self._bytes = 0

    def __enter__(self) -> Values:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._arrays.clear()
        while self._archives:
            self._close(next(iter(self._archives)))

    def of(self, record: Record) -> Any:
        """The array of a record, not to be written to.

        Raises:
            RecordingError: if it was not kept, or cannot be read; the text names the file.
        """
        if record.archive is None:
            raise RecordingError(f"{record.kind} {record.name} was left out of the recording")
        key = (*record.archive, None if record.places is None else record.places.archive)
        found = self._arrays.get(key)
        if found is not None:
            return found
        if isinstance(record, DerivedRecord):
            return self._keep(key, record.made(self.of))
        return self._keep(key, record.compared(self._archive(record.archive[0]).read(record), self.of))

    def _keep(self, key: _Key, array: Any) -> Any:
        array.setflags(write=False)
        if array.nbytes <= _SMALL:
            self._arrays[key] = array
            self._bytes += array.nbytes
            while self._bytes > _KEPT_BYTES:
                self._bytes -= self._arrays.pop(next(iter(self._arrays))).nbytes
        return array

    def _archive(self, path: Path) -> Archive:
        archive = self._archives.pop(path, None)
        if archive is None:
            if len(self._archives) >= _OPEN:
                self._close(next(iter(self._archives)))
            archive = Archive(path)
        self._archives[path] = archive
        return archive

    def _close(self, path: Path) -> None:
        self._archives.pop(path).close()
