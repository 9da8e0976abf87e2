"""TF509: whether a restore under other keywords left the variables as they were, which its status tells."""

from __future__ import annotations

from .unchecked_restore import judge, snapshot

__all__ = ["judge", "snapshot"]
