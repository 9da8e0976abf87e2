"""A report format each: the module's name is the format's, its docstring says for whom it is."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def module_of(name: str) -> ModuleType:
    """The module of a format, whose name has ``_`` where that of the format has ``-``."""
    return import_module(f"{__name__}.{name.replace('-', '_')}")
