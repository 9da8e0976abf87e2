"""Records sides of the planted pairs one after the other in one process: ``record_sides.py`` with jobs on its stdin.

A job says which pair, which side, with which options and seed, into which folder, and for TF2 where TF1's lies.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))


def module(name: str) -> Any:
    """A module that lies beside this one."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def record(job: dict[str, Any]) -> None:
    """Record one side."""
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
    from migrate_lint.runtime_checks.worker.recording.format.reading import read
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording
    from migrate_lint.runtime_checks.worker.recording.pairs.pair import Pair

    old, new = module("old"), module("new")
    pair = Pair(
        old.model_fn,
        getattr(new, job["style"]),
        old.images,
        old.labels,
        train_step=new.train_step if job["style"] == "loop" else None,
        params=job["params"],
        name=job["name"],
    )
    plan = Plan(tuple(job["scenarios"]), job["steps"], job["seed"])
    recording = Recording(job["folder"], job["side"])
    code = UserCode([HERE])
    if job["side"] == "tf1":
        from migrate_lint.runtime_checks.worker.recording.tf1.side import record_tf1

        record_tf1(pair, plan, recording, code)
    else:
        from migrate_lint.runtime_checks.worker.recording.tf2.side import record_tf2

        record_tf2(pair, plan, recording, code, read(job["tf1"]))


def main() -> None:
    """Record every job and say how long it took."""
    import tensorflow as tf

    tf.keras.backend.clear_session()
    gc.freeze()  # or every collection between two models goes through all of TensorFlow
    for job in json.load(sys.stdin):
        began = time.time()
        tf.keras.backend.clear_session()
        record(job)
        print(f"{time.time() - began:.1f} s  {job['side']}  {job['name']}  {job['folder']}", flush=True)


if __name__ == "__main__":
    main()
