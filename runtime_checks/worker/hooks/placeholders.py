"""``placeholder`` events: calls of the placeholder functions, with ``function`` and ``error``, empty if it worked."""

from __future__ import annotations

from typing import Any, Iterator

from ..patching import Patch, telling, wrapped_everywhere
from ..recorder import Recorder

__all__ = ["patches"]

_FUNCTIONS = ("placeholder", "placeholder_with_default", "sparse_placeholder")


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record calls by whatever name the functions are known in TensorFlow."""
    from tensorflow.python.ops import array_ops

    def wrapping(function: str) -> Any:
        def tell(args: tuple[Any, ...], error: str) -> None:
            detail = {"function": function, "error": error}
            recorder.record("placeholder", lambda: (recorder.code.stack(), detail, None))

        return lambda original: telling(original, tell)

    for function in _FUNCTIONS:
        yield wrapped_everywhere(array_ops, function, wrapping(function))
