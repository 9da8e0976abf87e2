"""Reads a name-based TF1 checkpoint, and says what of it fits the variables of a side.

What ``tf.compat.v1.train.Saver`` wrote has one entry for each variable, under its name; an object-based checkpoint
of TF2 has entries by attribute paths and is refused. Optimizer slots, powers of beta, the global step and moving
averages are expected to have no variable in a network that is not trained: they are listed apart.
"""

from __future__ import annotations

import os
import re
from typing import Any, Collection, Iterable, NamedTuple, Sequence

import numpy as np

from ..pairs.mapping import plain
from ..tensors import Array, Json

__all__ = ["Checkpoint", "CheckpointError", "Restored", "Wanted", "read_checkpoint"]

_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_FILE = re.compile(r"\.(?:index|meta|data-\d{5}-of-\d{5})$")
_COUNTER = re.compile(r"(?:^|/)(?:global_step|beta[12]_power(?:_\d+)?)$")
_SLOT = re.compile(r"(?:Adam|AdaMax|Adagrad\w*|Adadelta|Ftrl|Momentum|RMSProp|LARS\w*)(?:_\d+)?$")
Reader = Any
"""Of ``tf.train.load_checkpoint``."""
_AVERAGE = "ExponentialMovingAverage"


class CheckpointError(ValueError):
    """A checkpoint cannot be read, or is none that TF1 wrote by names; the text says which and why."""


class Restored(NamedTuple):
    """What loading a checkpoint came to, by names of the checkpoint or, where it has none, of the side.

    `matched` was loaded; `missing` are variables that the checkpoint lacks, which keep what they had; `unused` is in
    the checkpoint only. `expected` (name and purpose: ``slot``, ``counter`` or ``moving average``) is in the checkpoint
    only as well, as is to be expected. `mismatched` has another shape or dtype, and was not loaded: dicts with
    ``name``, ``variable``, and both as text.
    """

    prefix: str
    matched: list[str]
    missing: list[str]
    unused: list[str]
    expected: list[dict[str, str]]
    mismatched: list[dict[str, str]]

    def said(self) -> dict[str, Json]:
        """As JSON data, for the scenario's chapter."""
        return {field: getattr(self, field) for field in self._fields}


class Wanted(NamedTuple):
    """A variable, by its own name and by that of its entry; `part` is its offset and shape within the entry."""

    name: str
    entry: str
    shape: tuple[int, ...]
    dtype: str
    part: tuple[Sequence[int], Sequence[int]] | None = None


class Checkpoint:
    """The entries of a name-based checkpoint."""

    def __init__(self, prefix: str, reader: Reader) -> None:
        self.prefix = prefix
        self._reader = reader
        self.shapes: dict[str, tuple[int, ...]] = {
            name: tuple(shape) for name, shape in reader.get_variable_to_shape_map().items()
        }
        self._dtypes = reader.get_variable_to_dtype_map()

    def value(self, name: str) -> Array:
        """One entry as an array.

        Raises:
            CheckpointError: if it cannot be read, as where a file of the checkpoint is missing.
        """
        try:
            return np.asarray(self._reader.get_tensor(name))
        except Exception as error:
            raise CheckpointError(f"{name} of checkpoint {self.prefix} cannot be read: {_line(error)}") from error

    def dtype(self, name: str) -> str:
        """The name of an entry's dtype."""
        return str(self._dtypes[name].name)

    def part(self, one: Wanted) -> Array:
        """What a variable gets."""
        value = self.value(one.entry)
        if one.part is None:
            return value
        return value[tuple(slice(start, start + count) for start, count in zip(*one.part))]

    def fit(self, wanted: Iterable[Wanted]) -> tuple[list[Wanted], Restored]:
        """The variables that have an entry of their shape and dtype, and what becomes of the rest."""
        fitting: list[Wanted] = []
        missing, mismatched, known = [], [], set()
        for one in wanted:
            known.add(one.entry)
            if one.entry not in self.shapes:
                missing.append(plain(one.name))
                continue
            shape = self.shapes[one.entry] if one.part is None else _sliced(self.shapes[one.entry], one.part)
            if (shape, self.dtype(one.entry)) == (one.shape, one.dtype):
                fitting.append(one)
                continue
            mismatched.append(
                {
                    "name": one.entry,
                    "variable": plain(one.name),
                    "checkpoint": f"{self.dtype(one.entry)} {list(self.shapes[one.entry])}",
                    "model": f"{one.dtype} {list(one.shape)}",
                }
            )
        left = sorted(set(self.shapes) - known)
        purposes = {name: _purpose(name, self.shapes) for name in left}
        return fitting, Restored(
            prefix=self.prefix,
            matched=list(dict.fromkeys(one.entry for one in fitting)),
            missing=missing,
            unused=[name for name in left if not purposes[name]],
            expected=[{"name": name, "purpose": purposes[name]} for name in left if purposes[name]],
            mismatched=mismatched,
        )


def read_checkpoint(path: str) -> Checkpoint:
    """Open a name-based checkpoint.

    Args:
        path: its prefix, one of its files, a folder of checkpoints (the latest counts) or of a TF1 SavedModel; one
            file or several shards, in either of the formats that TF1 wrote. A folder may be all of a prefix, too, whose
            files then have no name before the dot.

    Raises:
        CheckpointError: if there is none, it is damaged, or it is object-based.
    """
    import tensorflow as tf

    prefix = _prefix(path)
    if not tf.io.gfile.glob(prefix + "*"):
        raise CheckpointError(f"there is no checkpoint {prefix}: no file begins so")
    try:
        reader = tf.compat.v1.train.NewCheckpointReader(prefix)
    except Exception as error:
        raise CheckpointError(f"checkpoint {prefix} cannot be read: {_line(error)}") from error
    if reader.has_tensor(_OBJECT_GRAPH):
        raise CheckpointError(
            f"checkpoint {prefix} is object-based, as tf.train.Checkpoint and Keras write it: wanted is a name-based "
            "one, as tf.compat.v1.train.Saver writes it"
        )
    return Checkpoint(prefix, reader)


def _prefix(path: str) -> str:
    import tensorflow as tf

    if not os.path.isdir(path):
        return path if os.path.isfile(path) and _FILE.search(path) is None else _FILE.sub("", path)
    if os.path.isfile(os.path.join(path, ".index")):
        return os.path.join(path, "")
    saved_model = os.path.join(path, "variables", "variables")
    latest = saved_model if os.path.isfile(saved_model + ".index") else tf.train.latest_checkpoint(path)
    if latest is None:
        raise CheckpointError(f"there is no checkpoint in {path}: name its prefix, such as model.ckpt-1000")
    return str(latest)


def _sliced(shape: tuple[int, ...], part: tuple[Sequence[int], Sequence[int]]) -> tuple[int, ...]:
    """The shape of a part where it lies within the whole; that of the whole where it does not."""
    offset, size = part
    fits = len(shape) == len(offset) and all(one + two <= whole for one, two, whole in zip(offset, size, shape))
    return tuple(size) if fits else shape


def _purpose(name: str, names: Collection[str]) -> str:
    """Why an entry has no variable in the network; empty where that is not to be expected."""
    if _COUNTER.search(name):
        return "counter"
    owner, _, last = name.rpartition("/")
    if last.startswith(_AVERAGE):
        return "moving average"
    slot_of_any = owner in names or (_SLOT.match(last) and any(owner.endswith("/" + other) for other in names))
    return "slot" if slot_of_any else ""


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
