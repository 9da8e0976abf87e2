"""Batch normalization on several replicas: each normalizes by its own rows, unless it is synchronized."""

from __future__ import annotations

import contextlib
import inspect
from typing import Callable, Iterator

from ...patching import definer, wrapped
from ..tensors import Function, Layer
from .classes import in_keras

__all__ = ["by_replica"]


@contextlib.contextmanager
def by_replica(heard: Callable[[str], object], synchronize: bool) -> Iterator[None]:
    """Tell the name of every layer made in the body that normalizes by the rows of a replica.

    Where `synchronize` is true, it normalizes by those of all replicas.
    """

    def telling(original: Function) -> Function:
        def construct(layer: Layer, *args: object, **kwargs: object) -> None:
            original(layer, *args, **kwargs)
            if getattr(layer, "synchronized", None) is False:
                heard(str(layer.name))
                if synchronize:
                    layer.synchronized = True
                    if hasattr(layer, "fused"):  # of Keras 2, whose fused kernel knows one device
                        layer.fused = False

        construct.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras 3 reads it
        return construct

    classes = in_keras("layers.BatchNormalization")
    with contextlib.ExitStack() as stack:
        for owner in {definer(cls, "__init__") for cls in classes}:
            stack.enter_context(wrapped(owner, "__init__", telling))
        yield
