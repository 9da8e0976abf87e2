"""Whether the installed TensorFlow has a public name, and the verdicts that follow from that alone."""

from __future__ import annotations

import importlib
import importlib.util
import types
import warnings
from typing import Any, NamedTuple

from .errors import essence, one_line
from .run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

__all__ = ["LookedUp", "decide", "decide_by_place", "look_up", "missing", "versions"]

_BEYOND = ("(", "[", "*")
_V1 = "tensorflow.compat.v1."
_found: dict[str, Any] = {}


class LookedUp(NamedTuple):
    """What became of a name: `error` is empty if the installed packages have it."""

    name: str
    error: str


def look_up(symbol: str) -> LookedUp:
    """Look a dotted name up as Python would, by import and attributes.

    What follows a call, a subscription or a star is no name: of ``tensorflow.Session().run`` only
    ``tensorflow.Session`` is looked up, and of ``FLAGS.batch_size``, since it is neither module nor class, ``FLAGS``.
    Names that were found are remembered; one that is missing is looked up anew, since the program may bring it.
    """
    dotted = symbol
    for mark in _BEYOND:
        dotted = dotted.partition(mark)[0]
    dotted = dotted.rstrip(".")
    if dotted not in _found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            resolved = _resolve(dotted.split("."))
        if resolved.error:
            return resolved
        _found[dotted] = resolved
    known: LookedUp = _found[dotted]
    return known


def _resolve(parts: list[str]) -> LookedUp:
    try:
        value: Any = importlib.import_module(parts[0])
        for size in range(2, len(parts) + 1):
            if not isinstance(value, (types.ModuleType, type)):
                return LookedUp(_written(parts[: size - 1]), "")
            value = _attribute(value, parts[size - 1])
    except (AttributeError, ImportError) as error:
        return LookedUp(_written(parts), one_line(f"{type(error).__name__}: {error}"))
    return LookedUp(_written(parts), "")


def _attribute(owner: Any, name: str) -> Any:
    """An attribute, or the submodule of that name where nobody has imported it yet; raises what reading it raised."""
    try:
        return getattr(owner, name)
    except AttributeError:
        module = _submodule(owner, name)
        if module is None:
            raise
        return module


def _submodule(owner: Any, name: str) -> Any | None:
    """A submodule under its package's real name: by a public alias of the package Python would load that once more."""
    try:
        full = f"{owner.__name__}.{name}"
        return None if importlib.util.find_spec(full) is None else importlib.import_module(full)
    except Exception:
        return None


def _written(parts: list[str]) -> str:
    return ".".join(["tf", *parts[1:]] if parts[0] == "tensorflow" else parts)


def versions() -> str:
    """TensorFlow and the Keras that ``tf.keras`` is, such as ``TensorFlow 2.21.0 with tf_keras 2.21.0``."""
    import tensorflow as tf

    base = next(cls for cls in tf.keras.layers.Dense.__mro__ if cls.__name__ == "Layer")
    keras = importlib.import_module(base.__module__.partition(".")[0])
    return "TensorFlow {} with {} {}".format(tf.__version__, keras.__name__, getattr(keras, "__version__", "?"))


def missing(finding: StaticFinding) -> Judgement | None:
    """Confirmed if the name that the finding is about is not there, whether its line ran or not; else None."""
    if finding.subject is None:
        return None
    found = look_up(finding.subject)
    if not found.error:
        return None
    return Judgement(CONFIRMED, None, f"{versions()} has no `{found.name}`: {found.error}")


def decide(finding: StaticFinding, run: Run) -> Judgement:
    """The verdict of a rule whose hazard is the missing name.

    A name that is there is refuted, unless reading it failed at the finding's line all the same.
    """
    gone = missing(finding)
    if gone is not None:
        return gone
    if finding.subject is None:
        return Judgement(FAILED, None, "the finding says no name that could be looked up")
    found = look_up(finding.subject)
    last = found.name.rpartition(".")[2]
    for phase in run.errors_at(finding):
        if isinstance(phase.error, (AttributeError, ImportError)) and last in essence(phase.error):
            return Judgement(CONFIRMED, phase, one_line(phase.detail))
    return Judgement(REFUTED, None, f"`{found.name}` exists in {versions()}")


def decide_by_place(finding: StaticFinding, run: Run) -> Judgement:
    """As `decide`; a name that is read through compat.v1 is confirmed where TF2 has it nowhere else."""
    judgement = decide(finding, run)
    name = finding.subject or ""
    if judgement.verdict != REFUTED or not name.startswith(_V1):
        return judgement
    found, plain = look_up(name).name, look_up("tensorflow." + name.removeprefix(_V1))
    if not plain.error or found != f"tf.compat.v1.{name.removeprefix(_V1)}":
        return judgement
    return Judgement(CONFIRMED, None, f"`{found}` is there, and {versions()} has no `{plain.name}`")
