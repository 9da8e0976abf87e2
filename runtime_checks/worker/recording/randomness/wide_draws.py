"""Random numbers of 16 bits that are those of float32: TensorFlow draws others for each dtype."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import numbers
from typing import Iterator

from ...patching import wrapped
from ..tensors import Function, Nest

__all__ = ["in_float32"]

_DRAWS = {
    "gen_random_ops": ("random_uniform", "random_standard_normal", "truncated_normal"),
    "gen_stateless_random_ops": ("stateless_random_uniform", "stateless_random_normal", "stateless_truncated_normal"),
    "gen_stateless_random_ops_v2": (
        "stateless_random_uniform_v2", "stateless_random_normal_v2", "stateless_truncated_normal_v2"
    ),
    "gen_stateful_random_ops": ("stateful_uniform", "stateful_standard_normal_v2", "stateful_truncated_normal"),
}


@contextlib.contextmanager
def in_float32() -> Iterator[None]:
    """Draw what should have 16 bits in float32, and round it; dropout compares its numbers before that."""
    with contextlib.ExitStack() as stack:
        for module, names in _DRAWS.items():
            with contextlib.suppress(ImportError):
                home = importlib.import_module(f"tensorflow.python.ops.{module}")
                for name in names:
                    stack.enter_context(wrapped(home, name, _rounding))
        stack.enter_context(wrapped(importlib.import_module("tensorflow.python.ops.nn_ops"), "_dropout", _comparing))
        yield


def _rounding(original: Function) -> Function:
    import tensorflow as tf

    signature = inspect.signature(original)

    def draw(*args: Nest, **kwargs: Nest) -> Nest:
        given = signature.bind(*args, **kwargs)
        dtype = tf.as_dtype(given.arguments.get("dtype", tf.float32))
        if not dtype.is_floating or dtype.size > 2:
            return original(*args, **kwargs)
        given.arguments["dtype"] = tf.float32
        return tf.cast(original(*given.args, **given.kwargs), dtype)

    return draw


def _comparing(original: Function) -> Function:
    """Let dropout compare float32 with its rate, where that is a number."""
    import tensorflow as tf

    def dropout(*args: Nest, **kwargs: Nest) -> Nest:
        sampler = kwargs.get("uniform_sampler")
        if sampler is not None and isinstance(kwargs.get("rate"), numbers.Real):
            kwargs["uniform_sampler"] = lambda **options: sampler(**dict(options, dtype=tf.float32))
        return original(*args, **kwargs)

    return dropout
