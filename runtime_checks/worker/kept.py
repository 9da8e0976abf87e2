"""The arguments of calls, kept so that these can be made again: values, as long as they are not too large in all."""

from __future__ import annotations

from typing import Any

__all__ = ["Memory", "NotKeptError", "is_symbolic", "kept_arguments"]

_MOST_BYTES = 2**28
_PLAIN = (bool, int, float, str, type(None))


class Memory:
    """How much was kept so far; beyond the bound, types take the place of tensors and arrays."""

    def __init__(self) -> None:
        self._bytes = 0

    def detail(self, kept: Any) -> dict[str, Any]:
        """``args``, ``kwargs`` and ``symbolic`` of an event, of what `kept_arguments` gave."""
        import tensorflow as tf

        self._bytes += sum(_size(leaf) for leaf in tf.nest.flatten(kept))
        if self._bytes > _MOST_BYTES:
            kept = tf.nest.map_structure(_spec, kept)
        return {"args": kept[0], "kwargs": kept[1], "symbolic": is_symbolic(kept)}


def kept_arguments(args: Any, kwargs: Any) -> Any:
    """Both, as the program cannot change them any more; raises `NotKeptError`."""
    import tensorflow as tf

    return tf.nest.map_structure(_kept, (args, kwargs))


class NotKeptError(Exception):
    """No finding asks for the call, or such a one was recorded, or it was given what cannot be kept."""


def is_symbolic(kept: Any) -> bool:
    """Whether some of what was kept of a call has no values."""
    import tensorflow as tf

    return any(isinstance(leaf, tf.TypeSpec) for leaf in tf.nest.flatten(kept))


def _size(value: Any) -> int:
    """Bytes of a tensor or an array."""
    import tensorflow as tf

    if not tf.is_tensor(value):
        return int(getattr(value, "nbytes", 0))
    return int(getattr(value.shape, "num_elements", lambda: 0)() or 0) * int(value.dtype.size)


def _spec(value: Any) -> Any:
    """The type of a tensor or an array; any other value as it is."""
    import numpy as np
    import tensorflow as tf

    if isinstance(value, np.ndarray):
        return tf.TensorSpec(value.shape, value.dtype)
    return tf.type_spec_from_value(value) if tf.is_tensor(value) else value


def _kept(value: Any) -> Any:
    """A value that the program cannot change any more, a symbolic tensor as its type; raises `NotKeptError`."""
    import numpy as np
    import tensorflow as tf

    if isinstance(value, (*_PLAIN, tf.DType)):
        return value
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, tf.Variable):
        return value.numpy()
    if tf.is_tensor(value):
        return value if hasattr(value, "numpy") else tf.type_spec_from_value(value)
    raise NotKeptError
