"""One side's recording on disk, complete up to the last scenario or training step.

``record.json`` says what there is; of each scenario it lists the parts, each a list of records (``PART.json``) and
the archive of their arrays (``PART.npz``). Nothing but the standard library and numpy is needed to write or to read it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
import tokenize
from typing import Callable, Iterator, Mapping, Sequence

import numpy as np

from ...atomic import replace_json, replaced
from ..format.rows import Content, Place, RecordRow
from ..tensors import Array, Json, Nest

__all__ = ["FORMAT", "OF_VARIABLES", "OUTPUT", "RECORD", "Chapter", "Recording", "clear", "end_early", "replace_json"]

FORMAT = 1
RECORD = "record.json"
OUTPUT = "output.txt"
"""What the side wrote to its standard output and error, the end of it."""
OF_VARIABLES = ("variable", "gradient", "squares", "slot")
"""Kinds of records that have the shape of a variable."""
_MIB = 1 << 20
_WORTH = 1 << 12
"""Bytes from which on an array is looked for among those that were written."""
_TEXT = 256 << 10
_TEXTS = 1 << 20
"""Characters of the text of a user's file that are kept, and of all of them."""
_OURS = re.compile(re.escape(RECORD) + "~?|" + re.escape(OUTPUT) + r"|\d{4,}-[\w-]+\.(npz|part\.json)~?")


def clear(folder: str) -> None:
    """Remove a recording from its folder, and nothing else."""
    for name in os.listdir(folder):
        if _OURS.fullmatch(name):
            os.remove(os.path.join(folder, name))


def end_early(folder: str, cause: str) -> bool:
    """Say in the recording of a program with mutations what ended it; whether there is one and it was not complete."""
    path = os.path.join(folder, RECORD)
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    if "applied" in content or content.get("crash"):
        return False
    content["crash"] = {"cause": cause, "place": None}
    replace_json(path, content)
    return True


class Recording:
    """Writes one side's recording into a folder, which is made.

    Args:
        folder: where to; what an earlier recording left there is replaced.
        side: ``"tf1"`` or ``"tf2"``.
        limit: bytes of taps, layer outputs above all, that are kept; later ones are left out and counted.
        heard: told the name of a scenario when it begins, and after every part of it.
        begun: the content of a recording in this folder to go on with: a scenario that is recorded again replaces the
            one before.

    Attributes:
        places: by the name of a variable of which not all elements are kept, its size and where those are; see
            `sampling`.
    """

    def __init__(
        self,
        folder: str,
        side: str,
        limit: int = 2 << 30,
        heard: Callable[[str], None] = lambda name: None,
        begun: Content | None = None,
    ) -> None:
        self.folder = folder
        self.heard = heard
        self._limit = limit
        self._tapped = 0
        self._parts = 0
        self._kept: dict[bytes, tuple[str, str]] = {}
        self.places: Mapping[str, tuple[int, Array]] = {}
        self._began = time.time()
        self.content: Content = {
            "format": FORMAT,
            "side": side,
            "versions": {},
            "adaptations": [],
            "notes": [],
            "variables": [],
            "optimizers": [],
            "scenarios": {},
            "sources": {},
            "left_out": {"records": 0, "bytes": 0, "limit": limit},
        }
        os.makedirs(folder, exist_ok=True)
        if begun is not None:
            self.content = begun
            parts = [part for scenario in self.content["scenarios"].values() for part in scenario["parts"]]
            self._parts = 1 + max((int(part.partition("-")[0]) for part in parts), default=-1)
        else:
            clear(folder)
        self.save()

    def adapted(self, text: str) -> None:
        """Say what was changed so that the user's code runs; once however often it is said."""
        if text not in self.content["adaptations"]:
            self.content["adaptations"].append(text)

    def note(self, text: str) -> None:
        """Say something else that the report should tell; once however often it is said."""
        if text not in self.content["notes"]:
            self.content["notes"].append(text)

    def quote(self, files: Sequence[str]) -> None:
        """Keep the text of the user's files, by their paths, for a report that is made elsewhere, or later.

        Of a file that cannot be read, is too long, or was changed since the recording began, it is None.
        """
        kept = self.content["sources"]
        for file in files:
            if file not in kept:
                room = _TEXTS - sum(len(text) for text in kept.values() if text is not None)
                kept[file] = _text(file, min(_TEXT, room), self._began)

    @contextlib.contextmanager
    def scenario(self, name: str) -> Iterator[Chapter]:
        """Record one scenario; it counts as done when the body ends without an error.

        An error passes through; the caller says what it means with `failed`.
        """
        chapter = Chapter(self, name)
        self._forget(name)
        described: dict[str, Json] = {"outcome": "failed", "detail": "not finished", "parts": []}
        self.content["scenarios"][name] = described
        began = time.time()
        self.heard(name)
        try:
            yield chapter
            described.update(outcome="ok", detail="")
        finally:
            described["seconds"] = round(time.time() - began, 3)
            chapter.flush()

    def _forget(self, name: str) -> None:
        """Remove what an earlier run of a scenario left, but for arrays that others have, too."""
        gone = (self.content["scenarios"].pop(name, None) or {}).get("parts", ())
        left = [part for one in self.content["scenarios"].values() for part in one["parts"]] if gone else []
        needed: set[Json] = set()
        for part in left:
            with open(os.path.join(self.folder, part + ".part.json"), encoding="utf-8") as file:
                needed.update(record.get("archive") for record in json.load(file))
        for part in gone:
            for ending in (".npz", ".part.json") if part not in needed else (".part.json",):
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(self.folder, part + ending))

    def failed(self, name: str, detail: str, place: Place | None = None) -> None:
        """Say why a scenario came to no good end; what it recorded stays."""
        described = self.content["scenarios"].setdefault(name, {"parts": []})
        described.update(outcome="failed", detail=detail, place=None if place is None else list(place))
        self.save()

    def not_run(self, name: str, reason: str) -> None:
        """Say why a scenario was not run."""
        self.content["scenarios"][name] = {"outcome": "not run", "detail": reason, "parts": []}
        self.save()

    def save(self) -> None:
        """Replace ``record.json``."""
        replace_json(os.path.join(self.folder, RECORD), self.content)

    def part(self, name: str, records: Sequence[RecordRow], arrays: dict[str, Array]) -> str:
        """Write records and the arrays that their ``key`` names; gives back the name of the part.

        An array that an earlier record has too is kept once: ``archive`` is then the part in which it lies.
        """
        part = f"{self._parts:04d}-{name}"
        self._parts += 1
        known = {}
        for record in records:
            key = record.get("key")
            if key is not None and arrays[key].nbytes >= _WORTH:
                kept = self._kept.setdefault(_digest(arrays[key]), (part, key))
                if kept != (part, key):
                    known[key] = kept
                    record["archive"], record["key"] = kept
        archive = os.path.join(self.folder, part + ".npz")
        with replaced(archive) as file:
            np.savez(file, **{key: array for key, array in arrays.items() if key not in known})
        replace_json(os.path.join(self.folder, part + ".part.json"), records)
        return part

    def sampled(self, owner: str, array: Array) -> Array | None:
        """The elements of an array that are kept of what belongs to a variable; None where all are."""
        size, at = self.places.get(owner.partition("#")[0], (-1, None))
        return array.reshape(-1)[at] if array.size == size else None

    def room(self, size: int) -> bool:
        """Whether a tap of so many bytes may still be kept; counts it either way."""
        left_out = self.content["left_out"]
        if self._tapped + size > self._limit:
            left_out["records"] += 1
            left_out["bytes"] += size
            return False
        self._tapped += size
        return True


def _digest(array: Array) -> bytes:
    said = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.blake2b(np.ascontiguousarray(array).data.cast("B"), digest_size=32, key=said[:64]).digest()


def _text(file: str, room: int, began: float) -> str | None:
    try:
        if os.stat(file).st_mtime > began:
            return None
        with tokenize.open(file) as opened:
            text = opened.read(room + 1)
    except (OSError, ValueError, SyntaxError):  # it is gone, or says a wrong encoding
        return None
    return text if len(text) <= room else None


class Chapter:
    """The records of one scenario."""

    def __init__(self, recording: Recording, name: str) -> None:
        self.recording = recording
        self.name = name
        self._arrays: dict[str, Array] = {}
        self._size = 0
        self._waiting: list[RecordRow] = []
        self._order = 0

    def add_slot(self, weight: str, slot: str, value: Nest, step: int, optimizer: int = 1) -> None:
        """Keep what an optimizer keeps for a weight, as ``adam.m``; those of one weight are counted from 1 on."""
        if optimizer == 1:
            self.add("slot", f"{weight}/{slot}", value, step, variable=weight, slot=slot)
        else:
            whole = f"{weight}/{slot}#{optimizer}"
            self.add("slot", whole, value, step, variable=weight, slot=slot, optimizer=optimizer)

    def add(
        self,
        kind: str,
        name: str,
        value: Nest,
        step: int = 0,
        place: Place | None = None,
        *,
        whole: bool = False,
        **more: object,
    ) -> None:
        """Keep one value; what numpy has no dtype for is kept as float32, with the name of its own.

        Args:
            kind: ``data``, ``input``, ``label``, ``output``, ``tap``, ``loss``, ``regularization``, ``metric``,
                ``learning_rate``, ``gradient``, ``squares``, ``variable``, ``slot``, ``evaluation`` or ``places``.
            name: unique within kind and step.
            value: anything that ``np.asarray`` takes.
            step: of training, from 0; -1 is before the first.
            place: file and line that made it.
            whole: whether all elements of a variable are kept, even of a large one.
            more: JSON data of the kind.
        """
        array = np.asarray(value)
        dtype = array.dtype.name
        if array.dtype.kind not in "biufcSU":
            array = array.astype(np.str_ if array.dtype.kind == "O" else np.float32)
        described = dict(
            more,
            kind=kind,
            name=str(name),
            step=int(step),
            order=self._order,
            dtype=dtype,
            shape=list(array.shape),
            place=None if place is None else [str(place[0]), int(place[1])],
        )
        self._order += 1
        if kind in OF_VARIABLES and not whole:
            sample = self.recording.sampled(str(more.get("variable", name)), array)
            if sample is not None:
                array, described["sampled"] = sample, True
        if kind == "tap" and not self.recording.room(array.nbytes):
            described["left_out"] = True
        else:
            described["key"] = f"a{len(self._arrays)}"
            self._arrays[described["key"]] = np.array(array)
            self._size += array.nbytes
        self._waiting.append(described)
        if self._size > 256 * _MIB:
            self.flush()

    def say(self, **content: object) -> None:
        """Keep JSON data of the scenario itself."""
        self.recording.content["scenarios"][self.name].update(content)

    def flush(self) -> None:
        """Write what is waiting; call it after every training step."""
        if self._waiting:
            part = self.recording.part(self.name, self._waiting, self._arrays)
            self.recording.content["scenarios"][self.name]["parts"].append(part)
            self.recording.heard(self.name)
        self._arrays, self._waiting, self._size = {}, [], 0
        self.recording.save()
