"""Operations by which replicas exchange values: ``collective`` events, one for each that a replica makes.

The detail has ``group``, a number that tells those of one strategy from those of another one, and ``device``, that of
the replica, as ``CPU:1``.
"""

from __future__ import annotations

from typing import Any, Iterator

from ..patching import Patch, wrapped
from ..recorder import Recorder

__all__ = ["patches"]


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Record reductions and gatherings of several replicas, where they are traced or run eagerly."""
    from tensorflow.python.distribute import cross_device_utils

    launcher = getattr(cross_device_utils, "CollectiveReplicaLauncher", None)

    def launching(original: Any) -> Any:
        def launch(replica: Any, *args: Any, **kwargs: Any) -> Any:
            if replica._group_size > 1:
                device = str(replica._device).upper().rpartition("DEVICE:")[2]
                detail = {"group": id(replica._collective_keys), "device": device}
                recorder.record("collective", lambda: (recorder.code.stack(), detail, replica._collective_keys))
            return original(replica, *args, **kwargs)

        return launch

    for name in ("all_reduce", "_all_gather") if launcher is not None else ():
        yield wrapped(launcher, name, launching)
