"""Run a model, and see which hazards are real; run a model and what it was migrated from, and see if they are equal.

Importing this package imports neither TensorFlow nor numpy nor the rest of the linter: the two scopes can be used in
any test of a model, and import TensorFlow when they are entered; everything else is imported when it is first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .worker.scopes import assert_no_variable_creations, catch_and_raise_created_variables

if TYPE_CHECKING:
    from .in_process import verify
    from .verifying import compare
    from .worker.recording.pairs.filling import to_fill
    from .worker.recording.pairs.pair import Converter, Pair, Spec
    from .worker.recording.self_recording import record
    from .worker.recording.tf1.keras_spec import keras_spec
    from .worker.recording.tf1.until_session import until_session

__all__ = [
    "Converter", "Pair", "Spec", "assert_no_variable_creations", "catch_and_raise_created_variables", "compare",
    "keras_spec", "record", "to_fill", "until_session", "verify"
]

_PLACES = {
    "Converter": ".worker.recording.pairs.pair",
    "Pair": ".worker.recording.pairs.pair",
    "Spec": ".worker.recording.pairs.pair",
    "compare": ".verifying",
    "keras_spec": ".worker.recording.tf1.keras_spec",
    "record": ".worker.recording.self_recording",
    "to_fill": ".worker.recording.pairs.filling",
    "until_session": ".worker.recording.tf1.until_session",
    "verify": ".in_process",
}


def __getattr__(name: str) -> Any:
    """Import what is named, when it is."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name], __name__), name)
    globals()[name] = value
    return value
