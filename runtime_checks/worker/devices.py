"""The device that a program is run on, which has to be there: TensorFlow itself would take another one."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any, Iterator

from .patching import replaced

__all__ = ["absent", "hides_gpus", "logical_devices", "missing", "on_device"]


def missing(tf: Any, device: str | None, physical: bool = False) -> list[str]:
    """The logical devices that there are, if the one that is asked for, such as ``CPU:1``, is not among them.

    Asking for logical devices fixes them, and the user's module may still want to split a physical one, so before the
    import only the kind of device is looked for (`physical`).
    """
    if not device:
        return []
    kind, _, number = device.partition(":")
    if physical and tf.config.list_physical_devices(kind):
        return []
    names = [one.name for one in tf.config.list_logical_devices()]
    wanted = f"{kind}:{number or 0}".upper()
    return [] if any(name.upper().endswith("DEVICE:" + wanted) for name in names) else names


def logical_devices() -> list[str]:
    """The devices that TensorFlow computes on, as ``CPU:0``; none before it has first computed something.

    Asking TensorFlow itself would fix them, and the program may still want to split one.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context

    if not getattr(context.context(), "_initialized", False):
        return []
    return [one.name.rpartition("device:")[2] for one in tf.config.list_logical_devices()]


def hides_gpus() -> bool:
    """Whether this process was told to see no GPUs, whatever the machine has."""
    return os.environ.get("CUDA_VISIBLE_DEVICES") == "-1"


def absent(there: list[str]) -> str:
    """That a device is missing, in words; `there` are those that `missing` gave."""
    return "there is no such device, only {}".format(", ".join(there))


@contextlib.contextmanager
def on_device(tf: Any, device: str | None) -> Iterator[None]:
    """Run the body, and the threads that it starts, on a device; graphs that it makes choose theirs themselves."""
    if not device:
        yield
        return
    name = "/" + device
    with _threads_on(tf, name), tf.device(name):
        yield


@contextlib.contextmanager
def _threads_on(tf: Any, name: str) -> Iterator[None]:
    """Start Python's threads on a device too: ``tf.device`` holds for the thread that enters it."""
    thread_class: Any = threading.Thread
    original = thread_class._bootstrap_inner

    def bootstrap(thread: Any) -> None:
        with tf.device(name):
            original(thread)

    with replaced(thread_class, "_bootstrap_inner", bootstrap):
        yield
