"""``saver`` events: ``tf.compat.v1.train.Saver`` made, saving, restoring, and imports of a meta graph.

The detail has ``action`` (``made``, ``save``, ``restore`` or ``import_meta_graph``) and ``error``, empty if it worked;
the subject is the saver, weakly, or None.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import Any, Iterator

from ..criteria import one_line
from ..recorder import Recorder
from ..wrapping import around, everywhere

__all__ = ["install"]


@contextlib.contextmanager
def install(recorder: Recorder) -> Iterator[None]:
    """Record what savers do."""
    from tensorflow.python.training import saver

    def wrapping(action: str) -> Any:
        def wrap(original: Any) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                error = ""
                try:
                    return original(*args, **kwargs)
                except BaseException as raised:
                    error = one_line(f"{type(raised).__name__}: {raised}")
                    raise
                finally:
                    subject = weakref.ref(args[0]) if args and isinstance(args[0], saver.Saver) else None
                    detail = {"action": action, "error": error}
                    recorder.record("saver", lambda: (recorder.code.stack(), detail, subject))

            return call

        return wrap

    with contextlib.ExitStack() as stack:
        stack.enter_context(around(saver.Saver, "__init__", wrapping("made")))
        stack.enter_context(around(saver.Saver, "save", wrapping("save")))
        stack.enter_context(around(saver.Saver, "restore", wrapping("restore")))
        stack.enter_context(everywhere(saver, "import_meta_graph", wrapping("import_meta_graph")))
        yield
