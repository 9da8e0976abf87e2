"""Templates (``tf.compat.v1.make_template``) that are made: ``template`` events, the template as subject (weakly)."""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import Any, Iterator

from ..recorder import Recorder

__all__ = ["install"]


@contextlib.contextmanager
def install(recorder: Recorder) -> Iterator[None]:
    """Record the construction of every template, eager or not."""
    from tensorflow.python.ops.template import Template

    original = Template.__init__

    @functools.wraps(original)
    def initialize(template: Any, name: Any, *arguments: Any, **keywords: Any) -> None:
        recorder.record("template", lambda: (recorder.code.stack(), {"name": str(name)}, weakref.ref(template)))
        original(template, name, *arguments, **keywords)

    Template.__init__ = initialize
    try:
        yield
    finally:
        Template.__init__ = original
