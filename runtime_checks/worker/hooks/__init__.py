"""What the recorder sees: one module a part of TensorFlow, each with ``patches(recorder)``, which stay in place."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

__all__ = ["all_hooks"]


def all_hooks() -> list[Any]:
    """Every hook module, by name."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in found]
