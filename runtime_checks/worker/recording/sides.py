"""One side of a pair, recorded: by the TF1 or the TF2 recorder, or by itself."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import time
from typing import Callable, ContextManager

from .. import signature
from ..errors import essence
from ..frames import UserCode, place_of
from .format.plan import Plan
from .format.reading import Recorded
from .format.store import Recording
from .loading import Loaded, side_of
from .pairs.pair import Pair, Renames
from .renewal import Renewal
from .self_recording import run_itself, runs_itself
from .tensors import Json
from .tf1.side import record_tf1, standing_in
from .tf2.side import record_tf2

__all__ = ["crashed", "record_side"]


def record_side(
    loaded: Loaded,
    side: str,
    plan: Plan,
    recording: Recording,
    code: UserCode,
    tf1: Recorded | None = None,
    again: Callable[[], Loaded] | None = None,
) -> None:
    """Record one side, and what the pair says of names.

    What one scenario raises is recorded with it, and the next one is tried.

    Args:
        loaded: the pair.
        side: ``"tf1"`` or ``"tf2"``.
        plan: what to record.
        recording: where to.
        code: tells the user's files.
        tf1: what was recorded before: the other side, for TF2; for TF1 the same program in another TensorFlow.
        again: loads the pair once more; None where its files cannot be loaded afresh for each model.

    Raises:
        PairError: if the pair cannot be used as it is.
        Exception: whatever an import, or the whole of a program that runs itself, raises; also what the user's code
            raises beyond every scenario.
    """
    began = time.time()
    same: list[bool] = []

    def fresh(found: Loaded) -> Pair:
        return _watched(side_of(found, side, plan.data_alone), side, same)

    pair = fresh(loaded)
    renew = None if again is None else Renewal(lambda: fresh(again()), code, recording)
    gc.collect()
    gc.freeze()  # models are collected one by one, and all of TensorFlow need not be looked at each time
    try:
        function = getattr(pair, side)
        if runs_itself(function):
            with _standing_in(side, recording):
                run_itself(function, pair, plan, recording, code, tf1)
        elif side == "tf1":
            record_tf1(pair, plan, recording, code, renew, tf1)
        else:
            record_tf2(pair, plan, recording, code, tf1, renew)
            loaded = loaded._replace(same=loaded.same or any(same))
    except BaseException as error:
        crashed(recording, error, code)
        raise
    finally:
        gc.unfreeze()
        _describe(recording, loaded)
        content = recording.content
        content["seconds"] = round(time.time() - began + content.get("seconds", 0.0), 3)
        content["peak_memory"] = max(_peak(), content.get("peak_memory", 0))
        recording.save()


def _watched(pair: Pair, side: str, same: list[bool]) -> Pair:
    """The pair; `same` is told whenever it makes the TF2 side whether that is nothing but the other side's function."""
    function, other = pair.tf2, pair.tf1
    if side == "tf1" or runs_itself(function) or not signature.is_function(function):
        return pair

    @functools.wraps(function)
    def make(*args: object, **kwargs: object) -> object:
        made = function(*args, **kwargs)
        same.append(made is other)
        return made

    pair.tf2 = make
    return pair


def _standing_in(side: str, recording: Recording) -> ContextManager[None]:
    """What a TF1 program that runs itself needs in this TensorFlow."""
    if side != "tf1":
        return contextlib.nullcontext()
    return standing_in(recording.adapted)


def crashed(recording: Recording, error: BaseException, code: UserCode) -> str:
    """Say in the recording what ended it early; gives back the text."""
    place = place_of(code.of_error(error))
    text = essence(error)
    if place is not None:
        text += f" ({os.path.basename(place[0])}:{place[1]})"
    recording.content["crash"] = {"cause": text, "place": None if place is None else list(place)}
    return text


def _describe(recording: Recording, loaded: Loaded) -> None:
    pair = loaded.pair
    described: dict[str, Json] = recording.content.setdefault("pair", {})
    described.setdefault("name", pair.name)
    described.setdefault("transposes", {name: [int(axis) for axis in order] for name, order in pair.transposes.items()})
    described.setdefault("reshapes", list(map(str, pair.reshapes)))
    described.setdefault("ignore", list(map(str, pair.ignore)))
    described.setdefault("taps", {name: list(map(str, ends)) for name, ends in pair.taps.items()})
    described.setdefault("renames", _renames(recording, pair.renames))
    described["same"] = loaded.same


def _renames(recording: Recording, renames: Renames | None) -> dict[str, str]:
    if not callable(renames):
        return {str(name): str(other) for name, other in (renames or {}).items()}
    return {str(said["name"]): str(renames(said["name"])) for said in recording.content["variables"]}


def _peak() -> int:
    """Largest resident set of this process in bytes, 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
