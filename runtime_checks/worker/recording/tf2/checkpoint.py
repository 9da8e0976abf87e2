"""Loads a name-based TF1 checkpoint into a TF2 model."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..pairs.mapping import plain
from ..tensors import Variable
from ..values.checkpoint import Restored, Wanted, read_checkpoint
from ..values.layout import is_reshaped, laid_out, laid_out_shape

__all__ = ["restore"]


def restore(
    path: str,
    variables: Mapping[str, Variable],
    tf1_names: Mapping[str, str],
    transposes: Mapping[str, Sequence[int]] | None = None,
    reshapes: Sequence[str] = (),
) -> Restored:
    """Load a checkpoint into the variables of a model that was called before.

    Args:
        path: see `read_checkpoint`.
        variables: of TensorFlow or Keras 3, by their names.
        tf1_names: the name of the TF1 variable, by that of its TF2 counterpart; the others go by their own names.
        transposes: as in `Pair`.
        reshapes: as in `Pair`.

    Raises:
        CheckpointError: if the checkpoint cannot be read.
    """
    transposes = transposes or {}
    checkpoint = read_checkpoint(path)
    wanted = []
    for name, variable in variables.items():
        entry = plain(tf1_names.get(name, name))
        shape = tuple(int(size) for size in variable.shape)
        kept, order = checkpoint.shapes.get(entry), transposes.get(entry)
        if kept is not None and laid_out_shape(kept, order, shape, is_reshaped(entry, reshapes)) == shape:
            shape = tuple(kept)
        wanted.append(Wanted(name, entry, shape, _dtype(variable)))
    fitting, restored = checkpoint.fit(wanted)
    for one in fitting:
        variable, order = variables[one.name], transposes.get(one.entry)
        shape = tuple(int(size) for size in variable.shape)
        variable.assign(laid_out(checkpoint.value(one.entry), order, shape, is_reshaped(one.entry, reshapes)))
    return restored


def _dtype(variable: Variable) -> str:
    dtype = variable.dtype
    return str(getattr(getattr(dtype, "base_dtype", dtype), "name", dtype))
