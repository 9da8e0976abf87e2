"""Templates (``tf.compat.v1.make_template``) that are made: ``template`` events, the template as subject (weakly)."""

from __future__ import annotations

import weakref
from typing import Any, Iterator

from ..patching import Patch, wrapped
from ..recorder import Recorder


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record the construction of every template, eager or not."""
    from tensorflow.python.ops.template import Template

    def announcing(original: Any) -> Any:
        def initialize(template: Any, name: Any, *arguments: Any, **keywords: Any) -> None:
            recorder.record("template", lambda: (recorder.code.stack(), {"name": str(name)}, weakref.ref(template)))
            original(template, name, *arguments, **keywords)

        return initialize

    yield wrapped(Template, "__init__", announcing)
