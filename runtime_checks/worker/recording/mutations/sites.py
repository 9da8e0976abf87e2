"""Where a program can be changed: the user's lines that call what is known, and what is to be changed at which.

A *mutation* is a JSON object: ``what`` (see `PARTS`), ``callee`` (the class or function, empty for any), ``places``
(``[file, line]`` pairs), ``argument`` and ``value``. A *site* is what the program was seen to call: ``what``,
``callee``, ``bases``, ``place``, ``names`` (of layers) and ``arguments`` with their values.
"""

from __future__ import annotations

import inspect
import os
from types import CodeType, FrameType
from typing import Any, Mapping, Sequence

from ...frames import UserCode
from ..format.rows import Place
from ..pairs.pair import Pair
from ..tensors import Function, Json

__all__ = ["ARGUMENTS", "PARTS", "Program", "bound", "changed", "described", "made", "put", "told"]

PARTS = (
    "argument",  # of a constructor, or of a function of TensorFlow
    "function",  # another function in the place of one
    "flag",  # a call without ``training`` gets it
    "flagged",  # a call of a model with ``training=True`` lacks it
    "given flag",  # a call within a model gets the ``training`` that the model got
    "left out",  # a layer gives back what it gets
    "losses",  # the losses of a model, times a number, as the program reads them
    "loss",  # what gradients are taken of, times a number
    "added losses",  # so many times the losses of the model are added to what gradients are taken of
    "schedule",  # a schedule gets a step that is so much later
    "statistics",  # of batch normalization: ``biased``, ``unbiased`` or ``kept``
    "momentum",  # the rate is applied to what momentum has accumulated, as in TF1
    "dense",  # slices of a gradient are summed up
    "gradients",  # times a number, before the optimizer gets them
    "mean of squares",  # of RMSprop, at the beginning
    "resize",  # as tf.compat.v1.image.resize does it, ``align_corners`` or not
    "pair",  # a field of the pair
    "transposed",  # the first square kernel of the model is used transposed
    "swapped",  # the first two weights of one shape take each other's place
)
ARGUMENTS = frozenset(
    (
        "activation", "alpha", "amsgrad", "beta_1", "beta_2", "bias_initializer", "bias_regularizer", "centered",
        "clip_norm", "clipnorm", "clipvalue", "decay", "decay_rate", "decay_steps", "embeddings_initializer",
        "embeddings_regularizer", "epsilon", "from_logits", "fused", "global_clipnorm", "initial_accumulator_value",
        "initial_learning_rate", "interpolation", "keep_prob", "kernel_initializer", "kernel_regularizer", "l1", "l2",
        "label_smoothing", "learning_rate", "method", "momentum", "negative_slope", "nesterov", "padding", "rate",
        "recurrent_activation", "recurrent_initializer", "reduction", "reset_after", "rho", "scale", "staircase",
        "unit_forget_bias", "use_bias", "variance_epsilon", "weight_decay"
    )
)
"""Of which the values are told."""
_MOST = 2000
_NAMES = 4
_AUTOGRAPH = "tensorflow/python/autograph/"
_HELPERS = ("/legacy_tf_layers/", "/tf_slim/", "/tensorflow/python/util/")
_HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "")


class Program:
    """What the TF2 side was seen to call, and what is to be changed of it.

    Attributes:
        sites: what was seen, by where it was.
        applied: numbers of the mutations that changed something.
    """

    def __init__(self, wanted: Sequence[Json], code: UserCode) -> None:
        self.sites: dict[tuple[str, str, Place], Json] = {}
        self.applied = {number for number, mutation in enumerate(wanted) if mutation["what"] == "pair"}
        self._code = code
        self._wanted: dict[str, list[tuple[int, Json]]] = {}
        for number, mutation in enumerate(wanted):
            self._wanted.setdefault(mutation["what"], []).append((number, mutation))

    def caller(
        self, frame: FrameType | None, heard: bool = False, calls: bool = False, helped: bool = False
    ) -> Place | None:
        """The user's line that a frame, that of the caller, stands at; None where another's code calls.

        What AutoGraph puts between does not count; nor does, of what is `heard` by the recorder too, what that puts
        there, of `calls` of layers a ``__call__`` of Keras that calls another one, and where it is `helped` a function
        of ``tf.compat.v1.layers`` or of TF-Slim, which makes for the program what that asks for.
        """
        while frame is not None:
            code = frame.f_code
            name = code.co_filename.replace("\\", "/")
            passed = (heard and code.co_filename.startswith(_HERE)) or (calls and _is_call(code)) or _AUTOGRAPH in name
            if not passed and not (helped and any(part in name for part in _HELPERS)):
                break
            frame = frame.f_back
        return None if frame is None else self._code.origin(frame.f_code.co_filename, frame.f_lineno)

    def any(self, what: str) -> bool:
        """Whether there is a mutation of that kind at all."""
        return what in self._wanted

    def at(self, what: str, callee: str, place: Place | None) -> list[Json]:
        """The mutations of that kind for a place; they count as applied. None of a place is that of all."""
        found = []
        for number, mutation in self._wanted.get(what, ()):
            places = [tuple(one) for one in mutation["places"]]
            if mutation["callee"] in ("", callee) and (not places or place in places):
                self.applied.add(number)
                found.append(mutation)
        return found

    def met(self, what: str, callee: str, place: Place, **more: Json) -> Json:
        """Keep a site; gives back its row."""
        key = (what, callee, place)
        row = self.sites.get(key)
        if row is None:
            row = {"what": what, "callee": callee, "bases": [], "place": list(place), "names": [], "arguments": {}}
            row.update(more)
            if len(self.sites) < _MOST:
                self.sites[key] = row
        return row

    def named(self, row: Json, value: Any) -> None:
        """Keep the name of a layer that a site has made or called."""
        name = getattr(value, "name", None)
        if isinstance(name, str) and name not in row["names"] and len(row["names"]) < _NAMES:
            row["names"].append(name)


def _is_call(code: CodeType) -> bool:
    filename = code.co_filename.replace("\\", "/")
    return code.co_name in ("__call__", "error_handler") and ("/tf_keras/" in filename or "/keras/" in filename)


def changed(pair: Pair, wanted: Sequence[Json]) -> None:
    """Give a pair the fields that mutations say, beside its own."""
    for mutation in wanted:
        if mutation["what"] == "pair":
            before, value = getattr(pair, mutation["argument"]), mutation["value"]
            setattr(pair, mutation["argument"], dict(before or {}, **value))


def bound(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments | None:
    """The arguments of a call by name, defaults included; None where they do not fit."""
    try:
        found = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return None
    found.apply_defaults()
    return found


def told(arguments: inspect.BoundArguments) -> dict[str, Json]:
    """The values of arguments that can be changed."""
    flat = dict(arguments.arguments)
    for name, parameter in arguments.signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            flat.update(flat.pop(name, {}))
    return {name: described(value) for name, value in flat.items() if name in ARGUMENTS}


def put(arguments: inspect.BoundArguments, name: str, value: Any) -> None:
    """Give an argument another value."""
    parameters = arguments.signature.parameters
    if name in parameters:
        arguments.arguments[name] = value
        return
    for other, parameter in parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments.arguments[other] = dict(arguments.arguments.get(other, {}), **{name: value})


def described(value: Any) -> Json:
    """A value as JSON: a scalar, an object of Keras as ``class`` and ``config``, a function by its name."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    config = getattr(value, "get_config", None)
    if config is not None and not isinstance(value, type):
        try:
            scalars = {key: one for key, one in config().items() if isinstance(one, (bool, int, float, str))}
        except Exception:
            scalars = {}
        return {"class": type(value).__name__, "config": scalars}
    name = getattr(value, "__name__", None)
    if isinstance(name, str):
        return name
    try:
        return float(value)
    except (TypeError, ValueError):
        return {"class": type(value).__name__, "config": {}}


def made(value: Json, argument: str) -> Any:
    """A value of an argument from JSON."""
    if not isinstance(value, dict):
        return value
    import tensorflow as tf

    family = "regularizers" if argument.endswith("regularizer") else "initializers"
    return getattr(getattr(tf.keras, family), value["class"])(**value["config"])
