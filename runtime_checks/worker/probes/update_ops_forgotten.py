"""TF609: whether the collection of update operations is read where no graph is built."""

from __future__ import annotations

from .graph_collection import judge

__all__ = ["judge"]
