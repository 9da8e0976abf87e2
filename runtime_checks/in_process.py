"""A verification in this process, for a user's own tests: both sides run beside each other in one TensorFlow."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import planning, verifying
from .worker import results, shims
from .worker.frames import UserCode
from .worker.recording import loading, sides
from .worker.recording.format.reading import read
from .worker.recording.format.store import Recording
from .worker.recording.pairs.batches import PairError
from .worker.recording.watching import constructions

if TYPE_CHECKING:
    from ..linter.finding import Finding
    from .comparison.report import Report
    from .worker.recording.format.plan import Plan

__all__ = ["verify"]


def verify(
    pair: Any,
    *,
    until: str | None = None,
    policy: Any = "noise",
    steps: int = 3,
    seed: int = 42,
    findings: Sequence[Finding] = (),
    folder: str | os.PathLike[str] | None = None,
    oracle: bool = False,
) -> Report:
    """Record both sides of a pair in this process, and compare them.

    Args:
        pair: a `Pair`, or where one is: ``"pair.py"`` or ``"pair.py:name"``.
        until: the last rung, by name or number (see `comparison.rungs`), by default all of them.
        policy: ``"guide"``, ``"noise"`` or the path of a file.
        steps: of training.
        seed: of all randomness.
        findings: the linter's, to be linked to causes.
        folder: keeps the recordings, below ``tf1`` and ``tf2``; those of an earlier run are replaced.
        oracle: also compute both sides in float64, and compare that.

    Raises:
        ValueError: if the pair, the rung, the policy or the folder cannot be used. What the sides themselves raise is
            in the report.
    """
    plan = planning.plan(until, noise=verifying.measures_noise(policy), steps=steps, seed=seed, oracle=oracle)
    with _program_kept(), verifying.run_folder(None if folder is None else os.fspath(folder)) as run:
        loaded = _loaded(pair)
        code = UserCode(list(dict.fromkeys(_roots(loaded))))
        verifying.write_run(run, {"pair": None, "until": until, "policy": str(policy), "steps": steps, "seed": seed})
        for side in verifying.SIDES:
            _record(loaded, side, plan, os.path.join(run, side), code)
        first, second = (os.path.join(run, side) for side in verifying.SIDES)
        return verifying.compare(first, second, policy=policy, until=until, findings=findings)


@contextlib.contextmanager
def _program_kept() -> Iterator[None]:
    """Give the caller its arguments and its search path back, which a pair's file sees otherwise."""
    arguments, path = sys.argv, list(sys.path)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = arguments, path


def _loaded(pair: Any) -> loading.Loaded:
    if isinstance(pair, str):
        return loading.load(verifying.pair_job(*verifying.locate_pair(pair)))
    return loading.prepared(pair, os.getcwd(), _name(pair))


def _name(pair: Any) -> str:
    """Of a pair that has none: the functions of both sides."""
    sides_of = (getattr(pair, side, None) for side in verifying.SIDES)
    return " and ".join(str(getattr(side, "__qualname__", side)) for side in sides_of)


def _roots(loaded: loading.Loaded) -> Iterator[str]:
    yield loaded.folder
    for value in (loaded.pair.tf1, loaded.pair.tf2, loaded.pair.train_step):
        try:
            yield os.path.dirname(os.path.abspath(inspect.getfile(inspect.unwrap(value))))
        except (TypeError, ValueError):
            continue


def _record(loaded: loading.Loaded, side: str, plan: Plan, folder: str, code: UserCode) -> None:
    import tensorflow as tf

    recording = Recording(folder, side)
    recording.content["versions"] = {**results.versions(tf), "target": shims.target()}
    other = read(os.path.join(os.path.dirname(folder), "tf1")) if side == "tf2" else None
    with code.following_autograph(), constructions.watching(code):
        try:
            sides.record_side(loaded, side, plan, recording, code, other)
        except PairError:
            raise
        except Exception as error:
            sides.crashed(recording, error, code)
    recording.save()
