"""What a program asks for devices: ``device`` events where it calls a function that is given one, or makes a strategy.

The detail has ``what`` asks, ``asked``, the devices as ``GPU:1``, ``in_graph``, whether a session of TF1 will place the
operations, and ``soft``, whether TensorFlow may take another device for one that is not there.
A device of another process, which is never replaced, is none of them.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Iterator

from ..patching import Patch, replaced, wrapped
from ..recorder import Recorder
from .called import holders
from .output import is_users

__all__ = ["patches"]


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record what the user's lines ask for, by any name of the functions, and the devices of strategies."""
    import tensorflow as tf

    keras = sys.modules.get("keras")
    functions = [
        ("tf.device", tf.device),
        ("tf.device", tf.compat.v1.device),
        ("keras.device", getattr(keras, "device", None)),
        ("prefetch_to_device", tf.data.experimental.prefetch_to_device),
        ("copy_to_device", tf.data.experimental.copy_to_device),
    ]
    for what, function in functions:
        if function is not None:
            telling = _telling(function, what, recorder)
            for module, name in holders(function, {what.rpartition(".")[2], function.__name__}):
                yield replaced(module, name, telling)

    def making(original: Any) -> Any:
        def make(strategy: Any, extended: Any) -> None:
            original(strategy, extended)
            _record(recorder, type(strategy).__name__, lambda: extended.worker_devices)

        return make

    base = next(cls for cls in tf.distribute.Strategy.__mro__[::-1] if "__init__" in vars(cls) and cls is not object)
    yield wrapped(base, "__init__", making)


def _telling(original: Any, what: str, recorder: Recorder) -> Any:
    @functools.wraps(original)
    def ask(*args: Any, **kwargs: Any) -> Any:
        if recorder.phase is not None and is_users(recorder, sys._getframe(1)):
            _record(recorder, what, lambda: [*args, *kwargs.values()][:1])
        return original(*args, **kwargs)

    ask.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph leaves it as it is
    return ask


def _record(recorder: Recorder, what: str, given: Any) -> None:
    def described() -> Any:
        import tensorflow as tf

        asked = [name for name in map(_named, given()) if name]
        graph = tf.compat.v1.get_default_graph()
        in_graph = not tf.executing_eagerly() and not hasattr(graph, "outer_graph")
        with tf.init_scope():  # unless the program has set it, TensorFlow says what holds where it is asked
            soft = tf.config.get_soft_device_placement()
        return recorder.code.stack(), {"what": what, "asked": asked, "in_graph": in_graph, "soft": soft}, None

    recorder.record("device", described)


def _named(device: Any) -> str:
    """A device of this process as ``GPU:1``; empty for anything else, such as a function that chooses one."""
    import tensorflow as tf

    text = device.to_string() if hasattr(device, "to_string") else getattr(device, "name", device)
    if not isinstance(text, str):
        return ""
    spec = tf.DeviceSpec.from_string(text if text.startswith("/") else "/" + text)
    if spec.job not in (None, "localhost") or spec.task not in (None, 0) or not spec.device_type:
        return ""
    return f"{spec.device_type}:{spec.device_index or 0}"
