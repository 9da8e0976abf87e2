"""Records the sides of the planted pairs."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from ....interpreters import load

HERE = Path(__file__).parent


def record(job: dict[str, Any]) -> None:
    """In a child: record one side.

    A job says which pair, which side, with which options and seed, into which folder, and for TF2 where TF1's lies,
    and it may say with which mutations. One with a ``kind`` is of a pair of `kinds`.
    """
    import tensorflow as tf
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
    from migrate_lint.runtime_checks.worker.recording.format.reading import read
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording
    from migrate_lint.runtime_checks.worker.recording.mutations.patches import mutating
    from migrate_lint.runtime_checks.worker.recording.mutations.sites import changed
    from migrate_lint.runtime_checks.worker.recording.watching import constructions

    tf.keras.backend.clear_session()
    wanted = job.get("mutations")
    recording = Recording(job["folder"], job["side"])
    code = UserCode((), [str(HERE / name) for name in ("old.py", "new.py", "kinds.py")])
    with contextlib.ExitStack() as stack:
        stack.enter_context(constructions.watching(code))
        if wanted is not None:
            stack.enter_context(mutating(wanted, code, recording.content))
        pair = _kind(job["kind"]) if "kind" in job else _planted(job)
        changed(pair, wanted or ())
        plan = Plan(tuple(job["scenarios"]), job["steps"], job["seed"])
        if job["side"] == "tf1":
            from migrate_lint.runtime_checks.worker.recording.tf1 import estimator
            from migrate_lint.runtime_checks.worker.recording.tf1.side import record_tf1

            stack.enter_context(estimator.standing_in(recording.adapted))
            record_tf1(pair, plan, recording, code)
        else:
            from migrate_lint.runtime_checks.worker.recording.tf2.side import record_tf2

            record_tf2(pair, plan, recording, code, read(job["tf1"]))
    recording.save()


def _planted(job: dict[str, Any]) -> Any:
    from migrate_lint.runtime_checks import Pair

    old, new = load(HERE / "old.py"), load(HERE / "new.py")
    return Pair(
        old.model_fn,
        getattr(new, job["style"]),
        old.images,
        old.labels,
        train_step=new.train_step if job["style"] == "loop" else None,
        params=job["params"],
        name=job["name"],
    )


def _kind(name: str) -> Any:
    from migrate_lint.runtime_checks import Pair

    kinds = load(HERE / "kinds.py")
    old, new, step, inputs = kinds.KINDS[name]
    return Pair(old, new, inputs, kinds.classes, train_step=step, name=name)
