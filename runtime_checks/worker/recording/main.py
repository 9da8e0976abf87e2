"""The worker's job of kind ``record``: import a pair and record one side of it."""

from __future__ import annotations

import contextlib

from .. import phases
from ..frames import UserCode
from ..results import Results, versions
from . import summaries
from .format.plan import Plan
from .format.reading import Recorded, RecordingError, read
from .format.store import Recording
from .loading import Loaded, load
from .pairs.batches import PairError
from .sides import crashed, record_side
from .tensors import Json
from .tf1 import estimator

__all__ = ["execute"]


def execute(job: dict[str, Json], results: Results) -> None:
    """Record one side; what ends it early is in the results as ``usage`` or ``crash``."""
    results.begin(phases.IMPORT)
    recording = Recording(job["folder"], job["side"], job["tap_limit"], results.begin)
    import tensorflow as tf

    found = versions(tf)
    results.update(versions=found)
    recording.content["versions"] = dict(found, target=job["target"])
    for text in job["adaptations"]:
        recording.adapted(text)
    with contextlib.suppress(AttributeError):
        tf.debugging.disable_traceback_filtering()
    code = UserCode(job["roots"], job["files"])
    with code.following_autograph():
        try:
            with estimator.standing_in(recording.adapted):
                loaded = _loaded(job)
            plan = Plan(tuple(job["scenarios"]), job["steps"], job["seed"])
            record_side(loaded, job["side"], plan, recording, code, _other(job), lambda: load(job["pair"]))
            _summarize(job, results)
        except PairError as error:
            results.update(usage=str(error))
        except BaseException as error:
            results.update(crash=crashed(recording, error, code))
    recording.save()
    results.finish()


def _loaded(job: dict[str, Json]) -> Loaded:
    try:
        return load(job["pair"])
    except SyntaxError as error:
        if error.filename != job["pair"]["file"]:
            raise
        raise PairError(f"{error.filename}:{error.lineno}: {error.msg}") from None


def _other(job: dict[str, Json]) -> Recorded | None:
    """The TF1 side's recording; None where there is none that can be read."""
    if job["other"] is None:
        return None
    try:
        return read(job["other"])
    except RecordingError:
        return None


def _summarize(job: dict[str, Json], results: Results) -> None:
    if job["tensorboard"] is None or job["other"] is None:
        return
    results.begin("summaries")
    summaries.write(job["other"], job["folder"], job["tensorboard"])
