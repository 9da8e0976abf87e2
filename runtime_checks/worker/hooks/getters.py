"""Variables that are got by name: a ``get`` event each time ``get_variable`` returns, directly or below a TF1 layer.

The variable is the subject (weakly). The detail has its name, shape, dtype, ``identity`` (equal for the same variable),
and ``pass``: a number for each time that a variable store is opened, which the shim does at every call of a method that
it decorates; None where none is open.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import weakref
from typing import Any, Iterator

from ..patching import Patch, replaced
from ..recorder import Recorder


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Listen in the variable scope, through which every ``get_variable`` goes."""
    from tensorflow.python.ops import variable_scope

    getter, opener = variable_scope.VariableScope.get_variable, variable_scope.with_variable_store
    numbers, local = itertools.count(1), threading.local()

    @functools.wraps(getter)
    def get_variable(scope: Any, *arguments: Any, **keywords: Any) -> Any:
        variable = getter(scope, *arguments, **keywords)
        recorder.record("get", lambda: (recorder.code.stack(), _detail(variable, local), weakref.ref(variable)))
        return variable

    @contextlib.contextmanager
    def with_variable_store(store: Any) -> Iterator[None]:
        outer = getattr(local, "number", None)
        local.number = next(numbers)
        try:
            with opener(store):
                yield
        finally:
            local.number = outer

    yield replaced(variable_scope.VariableScope, "get_variable", get_variable)
    yield replaced(variable_scope, "with_variable_store", with_variable_store)


def _detail(variable: Any, local: threading.local) -> dict[str, Any]:
    dtype = getattr(variable, "dtype", "")
    return {
        "name": str(getattr(variable, "name", "")),
        "shape": str(getattr(variable, "shape", "")),
        "dtype": str(getattr(dtype, "name", dtype)),
        "identity": id(variable),
        "pass": getattr(local, "number", None),
    }
