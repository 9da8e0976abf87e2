"""Loads a name-based TF1 checkpoint into a TF2 model."""

from __future__ import annotations

from typing import Mapping

from ..pairs.mapping import plain
from ..tensors import Variable
from ..values.checkpoint import Restored, Wanted, read_checkpoint
from ..values.layout import Layouts
from .variables import dtype_of, shape_of

__all__ = ["restore"]


def restore(path: str, variables: Mapping[str, Variable], tf1_names: Mapping[str, str], layouts: Layouts) -> Restored:
    """Load a checkpoint into the variables of a model that was called before.

    Args:
        path: see `read_checkpoint`.
        variables: of TensorFlow or Keras 3, by their names.
        tf1_names: the name of the TF1 variable, by that of its TF2 counterpart; the others go by their own names.
        layouts: as the pair says.

    Raises:
        CheckpointError: if the checkpoint cannot be read.
    """
    checkpoint = read_checkpoint(path)
    wanted = []
    for name, variable in variables.items():
        entry = plain(tf1_names.get(name, name))
        kept, shape = checkpoint.shapes.get(entry), shape_of(variable)
        if kept is not None and layouts.fits(entry, kept, shape):
            shape = kept
        wanted.append(Wanted(name, entry, shape, dtype_of(variable)))
    fitting, restored = checkpoint.fit(wanted)
    for one in fitting:
        variable = variables[one.name]
        variable.assign(layouts.value(one.entry, checkpoint.value(one.entry), shape_of(variable)))
    return restored
