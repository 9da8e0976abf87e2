"""TF425: whether the installed TensorFlow has a name of TF1."""

from __future__ import annotations

from ..lookup import decide as judge

__all__ = ["judge"]
