"""In a child interpreter of the tests: runs what changes TensorFlow's state in a fork of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 300
"""For one program: a hundred times what any takes on a machine of its own."""


class Failed(str):
    """A traceback, or how a fork ended."""


def forked(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns when a fork of this process calls it with an empty folder and the arguments, or why not.

    The result is what JSON can hold. This process must have run nothing with TensorFlow yet.
    """
    folder = Path(tempfile.mkdtemp())
    answer = folder / "answer.json"
    try:
        process = os.fork()
        if not process:
            signal.alarm(SECONDS)
            try:
                answer.write_text(json.dumps([function(folder / "program", *arguments), ""]))
            except BaseException:
                answer.write_text(json.dumps([None, traceback.format_exc()]))
            finally:
                os._exit(0)
        _, status = os.waitpid(process, 0)
        found, error = json.loads(answer.read_text()) if answer.exists() else (None, f"ended with status {status}")
        return Failed(error) if error else found
    finally:
        shutil.rmtree(folder, ignore_errors=True)
