"""TF405: whether the installed TensorFlow has tf.contrib."""

from __future__ import annotations

from ..lookup import decide as judge

__all__ = ["judge"]
