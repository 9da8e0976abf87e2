"""Loads a name-based TF1 checkpoint into a TF2 model."""

from __future__ import annotations

from typing import Mapping

from ..pairs.mapping import plain
from ..tensors import Variable
from ..values.checkpoint import Restored, Wanted, read_checkpoint
from ..values.conversions import Derived
from ..values.layout import Layouts
from .variables import dtype_of, shape_of

__all__ = ["restore"]


def restore(
    path: str,
    variables: Mapping[str, Variable],
    tf1_names: Mapping[str, str],
    layouts: Layouts,
    parts: Mapping[str, Derived] | None = None,
) -> Restored:
    """Load a checkpoint into the variables of a model that was called before.

    Args:
        path: see `read_checkpoint`.
        variables: of TensorFlow or Keras 3, by their names.
        tf1_names: the name of the TF1 variable, by that of its TF2 counterpart; the others go by their own names.
        layouts: as the pair says.
        parts: by the name on TF1, what is made of a group of variables.

    Raises:
        CheckpointError: if the checkpoint cannot be read.
    """
    checkpoint, known = read_checkpoint(path), parts or {}
    wanted: dict[str, list[Wanted]] = {}
    for name, variable in variables.items():
        entry, dtype, shape = plain(tf1_names.get(name, name)), dtype_of(variable), shape_of(variable)
        if entry in known:
            group = known[entry].conversion
            wanted[name] = [Wanted(name, own, kept, dtype) for own, kept in zip(group.tf1, group.old)]
            continue
        found = checkpoint.shapes.get(entry)
        if found is not None and layouts.fits(entry, found, shape):
            shape = found
        wanted[name] = [Wanted(name, entry, shape, dtype)]
    fitting, restored = checkpoint.fit([one for members in wanted.values() for one in members])
    fits = set(map(id, fitting))
    for name, members in wanted.items():
        if all(id(one) in fits for one in members):
            variable, part = variables[name], known.get(plain(tf1_names.get(name, name)))
            arrays = [checkpoint.value(one.entry) for one in members]
            variable.assign(
                layouts.value(members[0].entry, arrays[0], shape_of(variable))
                if part is None
                else part.conversion.values(arrays)[part.at]
            )
    return restored._replace(missing=list(dict.fromkeys(restored.missing)))
