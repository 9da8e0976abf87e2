"""``saver`` events: ``tf.compat.v1.train.Saver`` made, saving, restoring, and imports of a meta graph.

The detail has ``action`` (``made``, ``save``, ``restore`` or ``import_meta_graph``) and ``error``, empty if it worked;
the subject is the saver, weakly, or None.
"""

from __future__ import annotations

import weakref
from typing import Any, Iterator

from ..patching import Patch, telling, wrapped, wrapped_everywhere
from ..recorder import Recorder


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record what savers do."""
    from tensorflow.python.training import saver

    def wrapping(action: str) -> Any:
        def tell(args: tuple[Any, ...], error: str) -> None:
            subject = weakref.ref(args[0]) if args and isinstance(args[0], saver.Saver) else None
            detail = {"action": action, "error": error}
            recorder.record("saver", lambda: (recorder.code.stack(), detail, subject))

        return lambda original: telling(original, tell)

    yield wrapped(saver.Saver, "__init__", wrapping("made"))
    yield wrapped(saver.Saver, "save", wrapping("save"))
    yield wrapped(saver.Saver, "restore", wrapping("restore"))
    yield wrapped_everywhere(saver, "import_meta_graph", wrapping("import_meta_graph"))
