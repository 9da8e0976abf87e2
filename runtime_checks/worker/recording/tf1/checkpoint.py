"""Loads a name-based TF1 checkpoint into a graph."""

from __future__ import annotations

from typing import Sequence

from ..tensors import V1Session, Variable
from ..values.checkpoint import Restored, Wanted, read_checkpoint
from . import sessions

__all__ = ["restore"]


def restore(path: str, session: V1Session, variables: Sequence[Variable]) -> Restored:
    """Load a checkpoint into the variables of a graph, as a ``Saver`` would, but for what it has not.

    Args:
        path: see `read_checkpoint`.
        session: of the variables' graph; they are initialized.
        variables: reference or resource variables, those of a partitioned one each for itself.

    Raises:
        CheckpointError: if the checkpoint cannot be read.
    """
    by_name = {variable.name: variable for variable in variables}
    checkpoint = read_checkpoint(path)
    fitting, restored = checkpoint.fit(_of_graph(variable) for variable in variables)
    sessions.assign(session, ((by_name[one.name], checkpoint.part(one)) for one in fitting))
    return restored


def _of_graph(variable: Variable) -> Wanted:
    shape, dtype = tuple(variable.shape.as_list()), variable.dtype.base_dtype.name
    slice_info = getattr(variable, "_save_slice_info", None)
    if slice_info is None:
        return Wanted(variable.name, variable.op.name, shape, dtype)
    part = (tuple(slice_info.var_offset), tuple(slice_info.var_shape))
    return Wanted(variable.name, slice_info.full_name, shape, dtype, part)
