"""Variable scopes that are named by their default: ``counted`` events.

The detail has ``default`` and ``scope``, the whole name that the scope got: TensorFlow counts up where there was one of
that name before.
"""

from __future__ import annotations

from typing import Any, Iterator

from ..patching import Patch, wrapped
from ..recorder import Recorder


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Listen where the name is made."""
    from tensorflow.python.ops import variable_scope

    def counting(original: Any) -> Any:
        def unique(prefix: str) -> str:
            name = str(original(prefix))
            outer = variable_scope.get_variable_scope().name
            scope = f"{outer}/{name}" if outer else name
            recorder.record("counted", lambda: (recorder.code.stack(), {"default": prefix, "scope": scope}, None))
            return name

        return unique

    yield wrapped(variable_scope, "_get_unique_variable_scope", counting)
