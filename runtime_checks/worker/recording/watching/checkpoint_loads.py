"""Watches what a program loads from checkpoints while its model is made, and whether the model then has it.

``tf.compat.v1.train.init_from_checkpoint`` gives initial values to the variables that a TF1 graph has. In TF2 there
are none before the first call of a model behind the shim, and it does nothing, without a word; the same goes for
``tf.train.Checkpoint(...).restore`` of a name-based checkpoint.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ...errors import text_of
from ...frames import UserCode
from ...patching import wrapped
from ..format.rows import LoadRow
from ..pairs.mapping import plain
from ..tensors import Function, Nest, Variable
from ..values.checkpoint import CheckpointError, read_checkpoint
from ..values.layout import Layouts

__all__ = ["Loads", "watching"]

_INIT = "tf.compat.v1.train.init_from_checkpoint"
_RESTORE = "tf.train.Checkpoint.restore"

Status = Any
"""What ``restore`` gives back, of several classes."""


class _Call(NamedTuple):
    """One call; `assignment` is the map of ``init_from_checkpoint``, `status` what ``restore`` gave back."""

    function: str
    path: str
    place: Sequence[object] | None
    assignment: Sequence[tuple[str, Nest]]
    status: Status = None


class Loads:
    """The calls that were seen."""

    def __init__(self) -> None:
        self.calls: list[_Call] = []

    def check(self, variables: Mapping[str, Variable], tf1_names: Mapping[str, str], layouts: Layouts) -> list[LoadRow]:
        """Compare the variables of the model, which was called, with what each call was to load.

        Args:
            variables: by their names.
            tf1_names: the name of the TF1 variable, by that of its TF2 counterpart.
            layouts: as the pair says.

        Returns:
            For each call ``call``, ``path`` and ``place``; ``loaded`` and ``not_loaded``, names of variables whose
            value is, or is not, that of their entry; ``silent``, whether the call did not do what it says.
            ``problem`` is empty where that could be told.
        """
        return [_checked(call, variables, tf1_names, layouts) for call in self.calls]


@contextlib.contextmanager
def watching(code: UserCode) -> Iterator[Loads]:
    """Note each call of ``init_from_checkpoint`` and of a ``tf.train.Checkpoint``'s ``restore`` or ``read``."""
    import tensorflow as tf
    from tensorflow.python.training import checkpoint_utils

    loads = Loads()

    def place() -> Sequence[object] | None:
        stack = code.stack()
        return [stack[0].path, stack[0].line] if stack else None

    def initial(own: Function) -> Function:
        def init_from_checkpoint(path: object, assignment: Nest) -> None:
            pairs = list(assignment.items() if isinstance(assignment, Mapping) else assignment)
            loads.calls.append(_Call(_INIT, str(path), place(), pairs))
            own(path, pairs)

        return init_from_checkpoint

    def restoring(own: Function) -> Function:
        def restore(checkpoint: object, save_path: object, *arguments: object, **keywords: object) -> Status:
            # `restore` calls `read`.
            seen = len(loads.calls)
            status = own(checkpoint, save_path, *arguments, **keywords)
            if save_path is not None:
                loads.calls[seen:] = [_Call(_RESTORE, str(save_path), place(), (), status)]
            return status

        return restore

    with contextlib.ExitStack() as patches:
        patches.enter_context(wrapped(checkpoint_utils, "_init_from_checkpoint", initial))
        for kind in (tf.train.Checkpoint, tf.compat.v1.train.Checkpoint):
            for name in ("restore", "read"):
                patches.enter_context(wrapped(kind, name, restoring))
        yield loads


def _checked(call: _Call, variables: Mapping[str, Variable], tf1_names: Mapping[str, str], layouts: Layouts) -> LoadRow:
    problem = ""
    loaded: list[str] = []
    not_loaded: list[str] = []
    try:
        checkpoint = read_checkpoint(call.path)
        for name, variable in variables.items():
            own = plain(tf1_names.get(name, name))
            entry = _entry(call, own, variable)
            if entry in checkpoint.shapes:
                value = variable.numpy()
                wanted = layouts.value(own, checkpoint.value(str(entry)), value.shape)
                same = wanted.shape == value.shape and np.array_equal(wanted, value)
                (loaded if same else not_loaded).append(plain(name))
    except CheckpointError as error:
        problem = _objection(call.status) if "object-based" in str(error) else str(error)
    silent = bool(problem) if call.status is not None else bool(not_loaded)
    if call.function == _RESTORE and not problem:
        # A part of a model may be what was to be restored.
        silent = bool(not_loaded) and not loaded
    return {
        "call": call.function,
        "path": call.path,
        "place": call.place,
        "problem": problem,
        "loaded": loaded,
        "not_loaded": not_loaded,
        "silent": silent,
    }


def _entry(call: _Call, name: str, variable: Variable) -> str | None:
    """The entry that a variable was to get; None where the call says nothing of it."""
    if call.function == _RESTORE:
        return name
    for entry, target in call.assignment:
        if not isinstance(target, str):
            targets = target if isinstance(target, list) else [target]
            if any(one is variable for one in targets):
                return entry
        elif target == name:
            return entry
        elif target == "/" or (target.endswith("/") and name.startswith(target)):
            rest = name if target == "/" else name[len(target) :]
            return rest if entry == "/" else entry + rest
    return None


def _objection(status: Status) -> str:
    """What an object-based checkpoint's status says of objects that got nothing; empty where all did."""
    if status is None:
        return ""
    try:
        status.assert_existing_objects_matched()
    except AssertionError as error:
        return text_of(error).splitlines()[0].partition(". Showing ")[0]
    except Exception:
        return ""
    return ""
