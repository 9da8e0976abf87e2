"""TF409: whether the installed TensorFlow has Estimators."""

from __future__ import annotations

from ..lookup import decide as judge

__all__ = ["judge"]
