"""Damages a copy of a recording or of a run: what a disk, a transfer or an attacker might make of its files."""

from __future__ import annotations

import json
import os
import random
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["damage"]

ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 3, 1 << 31, 1 << 70, -(1 << 70), 0.5, -0.0, float("nan"), float("inf"), 1e308,
    "", "x", "a\nb", "1\nimport os", "\"\"\"\nraise SystemExit\n\"\"\"", "</script><script>alert(1)</script>", "]]>",
    "\x00\x1b[31m", "\ud800", "\u202e", "../../etc/passwd", "/dev/zero", "0000-constant", "ok", "failed", "not run",
    "float32", "object", "tf1", "tf2", "a0", "é\U0001f600", "x" * 5000, "9" * 5000,
    [], {}, [[]], [None], [1, 2], ["a", 1], [-1], [1 << 62, 1 << 62], {"name": "x"}, {"": None}, [{}],
)  # fmt: skip


def damage(run: Path, chance: random.Random) -> str:
    """Damage one file of a run's folder; what was done, in words."""
    files = sorted(path for path in run.rglob("*") if path.is_file())
    small = [path for path in files if path.name in ("run.json", "record.json")]
    path = chance.choice(small if chance.random() < 0.4 else files)
    if path.suffix == ".npz":
        how = chance.choice((_bytes, _bytes, _bytes, _archive, _archive, _archive, _file))
    else:
        how = chance.choice((_node, _node, _node, _node, _node, _bytes, _file))
    return f"{path.relative_to(run)}: {how(path, chance)}"


def _bytes(path: Path, chance: random.Random) -> str:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 2, 8))):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                del data[at:]
            case 1:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 2:
                data[at:at] = chance.randbytes(chance.choice((1, 4, 100)))
            case 3:
                del data[at : at + chance.choice((1, 4, 100))]
            case 4:
                data[at : at + 4] = chance.choice((b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"9999"))
    path.write_bytes(data)
    return "bytes"


def _file(path: Path, chance: random.Random) -> str:
    other = chance.choice(sorted(path.parent.iterdir())).read_bytes() if path.name != "run.json" else b"[]"
    path.unlink()
    kind = chance.choice(("gone", "empty", "folder", "fifo", "loop", "device", "other", "sparse", "deep"))
    match kind:
        case "empty":
            path.touch()
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path.name)
        case "device":
            path.symlink_to("/dev/zero")
        case "other":
            path.write_bytes(other)
        case "sparse":
            with path.open("wb") as file:
                file.truncate(1 << 36)
        case "deep":
            path.write_text("[" * 100_000)
    return kind


def _node(path: Path, chance: random.Random) -> str:
    content = json.loads(path.read_text())
    places = list(_places(content))
    if not places:
        return "nothing"
    words = []
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        holder, key = chance.choice(places)
        match chance.randrange(6):
            case 0 if isinstance(holder, dict):
                holder.pop(key, None)
                words.append(f"{key} gone")
            case 1 if isinstance(holder, dict):
                holder[chance.choice(("x", "", "../x", "steps", "a\nb"))] = holder.get(key)
                words.append(f"{key} twice")
            case 2 if isinstance(holder, list):
                holder.append(chance.choice(holder) if holder else 1)
                words.append("one more")
            case _:
                value = chance.choice(ODD)
                if isinstance(holder, dict) or key < len(holder):
                    holder[key] = value
                words.append(f"{key} = {ascii(value)[:40]}")
    path.write_text(json.dumps(content))
    return ", ".join(words)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every holder and key in JSON data."""
    keys: Any = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _archive(path: Path, chance: random.Random) -> str:
    with np.load(path) as found:
        arrays = dict(found)
    key = chance.choice(list(arrays))
    kinds: dict[str, Callable[[], Any]] = {
        "pickled": lambda: np.array([Raises()], dtype=object),
        "other shape": lambda: np.zeros((3, 0, 5), np.float32),
        "turned": lambda: arrays[key][..., None],
        "text": lambda: np.full(arrays[key].shape, "a\nb"),
        "complex": lambda: arrays[key] * 1j,
        "whole": lambda: np.ones(arrays[key].shape, np.int8),
        "dates": lambda: np.zeros(arrays[key].shape, "M8[s]"),
        "fields": lambda: np.zeros(arrays[key].shape, [("a", "f4")]),
        "nan": lambda: np.full(arrays[key].shape, np.nan),
        "large": lambda: np.full(arrays[key].shape, np.finfo(np.float64).max),
        "half": lambda: np.ones(arrays[key].shape, np.float16),
    }
    kind = chance.choice((*kinds, "gone", "compressed", "bomb", "huge header", "no header", "no zip"))
    members = {name: _member(array) for name, array in arrays.items()}
    if kind in kinds:
        members[key] = _member(kinds[kind]())
    elif kind == "gone":
        del members[key]
    elif kind == "huge header":
        members[key] = members[key].replace(b"'shape': (", b"'shape': (99999999999,", 1)
    elif kind == "no header":
        members[key] = members[key][10:]
    elif kind == "bomb":
        members[key] = _member(np.zeros(1 << 23, np.float32))
    packed = kind in ("compressed", "bomb")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as out:
        for name, data in members.items():
            out.writestr(name + ".npy", data)
    if kind == "no zip":
        path.write_bytes(members[key])
    return f"{key} {kind}"


def _member(array: Any) -> bytes:
    out = BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


class Raises:
    """What would be seen if a pickle were loaded."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (99,)
