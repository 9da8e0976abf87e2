"""Hears of every variable that TensorFlow 2 makes, and of what its initial value was made from."""

from __future__ import annotations

import contextlib
import functools
from typing import Callable, Iterator

from ...patching import wrapped
from ..tensors import Function, Tensor, Variable

__all__ = ["initial_values"]

Heard = Callable[[Variable, Tensor], None]
"""Gets a variable, and the value or the function that it was given."""


@contextlib.contextmanager
def initial_values(heard: Heard) -> Iterator[None]:
    """Tell of each new resource variable, with the value or the function that it was given.

    A creator scope would not do: it ends where Keras clears its session, as that makes a new default graph.
    """
    from tensorflow.python.ops import resource_variable_ops

    with contextlib.ExitStack() as stack:
        telling = functools.partial(_telling, heard)
        stack.enter_context(wrapped(resource_variable_ops.ResourceVariable, "_init_from_args", telling))
        with contextlib.suppress(ImportError, AttributeError):  # TensorFlow 1
            from tensorflow.python.eager.polymorphic_function import polymorphic_function

            stack.enter_context(wrapped(polymorphic_function.UnliftedInitializerVariable, "__init__", telling))
        yield


def _telling(heard: Heard, original: Function) -> Function:
    def initialize(self: Variable, *arguments: object, **named: object) -> None:
        original(self, *arguments, **named)
        heard(self, arguments[0] if arguments else named.get("initial_value"))

    return initialize
