"""TF410: whether the installed TensorFlow has a compat.v1 name of Keras 2."""

from __future__ import annotations

from ..lookup import decide as judge

__all__ = ["judge"]
