"""Lets ``from migrate_lint.runtime_checks import Pair`` work where migrate-lint is not installed."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import NoReturn

from .. import scopes
from .pairs.filling import to_fill
from .pairs.pair import Converter, Pair, Spec
from .self_recording import record
from .tf1.keras_spec import keras_spec
from .tf1.until_session import until_session

__all__ = ["provide"]

_PACKAGE = "migrate_lint"
_MODULE = "migrate_lint.runtime_checks"


def provide() -> None:
    """Put a module of that name in place, unless there is one that knows pairs."""
    try:
        if hasattr(importlib.import_module(_MODULE), "Pair"):
            return
    except (ImportError, SyntaxError):
        pass
    package = sys.modules.get(_PACKAGE)
    if package is None:
        package = sys.modules[_PACKAGE] = ModuleType(_PACKAGE, "Stands for migrate-lint beside a model.")
        package.__path__ = []
    stand_in = ModuleType(_MODULE, "What a pair's file imports of migrate-lint.")
    vars(stand_in).update(_names())
    sys.modules[_MODULE] = stand_in
    package.runtime_checks = stand_in  # type: ignore[attr-defined]


def _names() -> dict[str, object]:
    return {
        "Converter": Converter,
        "Pair": Pair,
        "Spec": Spec,
        "assert_no_variable_creations": scopes.assert_no_variable_creations,
        "catch_and_raise_created_variables": scopes.catch_and_raise_created_variables,
        "compare": _needs_installation,
        "keras_spec": keras_spec,
        "record": record,
        "to_fill": to_fill,
        "until_session": until_session,
        "verify": _needs_installation,
    }


def _needs_installation(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("migrate-lint is not installed in this interpreter, where only sides are recorded")
