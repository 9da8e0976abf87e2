"""TF406: whether the installed TensorFlow has a name of TF1, and has it elsewhere than in compat.v1."""

from __future__ import annotations

from ..lookup import decide_by_place as judge

__all__ = ["judge"]
