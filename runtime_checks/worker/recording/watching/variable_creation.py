"""Hears of every variable that TensorFlow 2 makes, and of what its initial value was made from."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

from .patching import replaced

__all__ = ["initial_values"]


@contextlib.contextmanager
def initial_values(heard: Callable[[Any, Any], None]) -> Iterator[None]:
    """Tell of each new resource variable, with the value or the function that it was given.

    A creator scope would not do: it ends where Keras clears its session, as that makes a new default graph.
    """
    from tensorflow.python.ops import resource_variable_ops

    with contextlib.ExitStack() as stack:
        owner = resource_variable_ops.ResourceVariable
        if hasattr(owner, "_init_from_args"):
            stack.enter_context(replaced(owner, "_init_from_args", _telling(owner._init_from_args, heard)))
        with contextlib.suppress(ImportError, AttributeError):  # TensorFlow 1
            from tensorflow.python.eager.polymorphic_function import polymorphic_function

            lifted = polymorphic_function.UnliftedInitializerVariable
            stack.enter_context(replaced(lifted, "__init__", _telling(lifted.__init__, heard)))
        yield


def _telling(original: Callable[..., None], heard: Callable[[Any, Any], None]) -> Callable[..., None]:
    def initialize(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        heard(self, arguments[0] if arguments else named.get("initial_value"))

    return initialize
