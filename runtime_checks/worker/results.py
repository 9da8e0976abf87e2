"""What a job has come to so far.

The results file is replaced whole whenever a phase begins or ends, so that whoever reads it when this process is gone
has everything up to there.
The host takes only what is sealed with a key that it gave this process, so that what the model puts in the file's
place is seen.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from typing import Any

from .atomic import replaced, sealed

__all__ = ["Results", "versions"]


class Results:
    """What is known so far, and the file that holds it, replaced whole at every change; without a path there is none.

    A forked child ends here and writes nothing; a worker whose host is gone ends too.
    """

    def __init__(self, path: str | None = None, key: bytes = b"") -> None:
        self._path = path
        self._key = key
        self._process, self._parent = os.getpid(), os.getppid()
        self.content: dict[str, Any] = {"phase": None, "began": time.time(), "done": False}

    def begin(self, phase: str) -> None:
        """Say which phase runs now."""
        self.content.update(phase=phase, began=time.time())
        self._write()

    def update(self, **content: Any) -> None:
        """Keep results; they are written when the next phase begins."""
        self.content.update(content)

    def answer(self, **content: Any) -> None:
        """Write what there is in the midst of a phase."""
        self.content.update(content, answered=True)
        self._write()

    def finish(self, **content: Any) -> None:
        """Write everything, and that nothing more will come."""
        self.content.update(content, phase=None, done=True)
        self._write()

    def _write(self) -> None:
        if os.getpid() != self._process:
            os._exit(0)
        if os.getppid() != self._parent:
            os._exit(1)
        if self._path is not None:
            content = json.dumps(self.content, default=str).encode()
            with replaced(self._path) as file:
                file.write(sealed(self._key, content) + b"\n" + content)


def versions(tf: Any) -> dict[str, str]:
    """Of TensorFlow, of the Keras that ``tf.keras`` is, and of Python."""
    keras = sys.modules.get(tf.keras.layers.Layer.__module__.partition(".")[0])
    return {
        "tensorflow": tf.__version__,
        "keras": str(getattr(keras, "__version__", "?")),
        "python": platform.python_version(),
    }
