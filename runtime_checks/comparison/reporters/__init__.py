"""How a comparison is shown: a module or a package a format, found in this folder."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..results import Results

__all__ = ["FORMATS", "render"]

FORMATS = tuple(sorted(found.name for found in iter_modules(__path__)))


def render(form: str, report: Results, color: bool = False) -> str:
    """The report in a format.

    Args:
        form: one of `FORMATS`.
        report: what was found.
        color: whether to colour it for a terminal, where the format knows colours.
    """
    return str(import_module(f"{__name__}.{form}").render(report, color))
