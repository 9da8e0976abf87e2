"""TF208: whether the eager-only method raises where TensorFlow traces it."""

from __future__ import annotations

from ..tracing import raises_while_tracing as judge

__all__ = ["judge"]
