"""Layers made again from what Keras keeps of them in a file, without a file."""

from __future__ import annotations

import importlib
import json
from typing import Any, Callable, Iterator, Sequence

from .criteria import failed_in
from .errors import one_line
from .recorder import Event
from .run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

__all__ = ["at_the_end", "is_left_out", "judge_layers", "made_again"]

_CAUSE = "Exception encountered:"
_NOISE = ("Example:", "Full object config:", "If you trust")
_MANY = 20


def made_again(layer: Any, custom_objects: dict[str, Any]) -> str:
    """Write a layer's configuration as JSON and make a layer of it, as loading a ``.keras`` file does.

    Returns what was raised, or an empty string. The safe mode is that of ``load_model``, which refuses Python code.
    """
    import tensorflow as tf

    serialize, deserialize = _functions(layer)
    doing = "saving"
    try:
        config = json.loads(json.dumps(serialize(layer)))
        doing = "loading"
        with tf.keras.utils.custom_object_scope(custom_objects):
            deserialize(config)
    except Exception as error:
        return f"{doing} raises {_reason(error)}"
    return ""


def is_left_out(layer: Any, model: Any) -> bool:
    """Whether what Keras keeps of a model has nothing of a layer, since the one around it makes it anew."""
    try:
        kept = json.loads(json.dumps(_functions(model)[0](model)))
    except Exception:
        return False
    return not any(_is_of(layer, part) for part in _dicts(kept))


def _is_of(layer: Any, kept: dict[str, Any]) -> bool:
    config = kept.get("config")
    return isinstance(config, dict) and config.get("name") == layer.name and "class_name" in kept


def _dicts(kept: Any) -> Iterator[dict[str, Any]]:
    if isinstance(kept, dict):
        yield kept
    for part in kept.values() if isinstance(kept, dict) else kept if isinstance(kept, list) else ():
        yield from _dicts(part)


def _functions(layer: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """What saves and loads an object in the Keras that the layer is of; before 2.12 only layers could be."""
    import tensorflow as tf

    root = next(cls.__module__ for cls in type(layer).__mro__ if cls.__name__ == "Layer").partition(".")[0]
    try:
        saving = importlib.import_module(root + ".saving")
        return saving.serialize_keras_object, saving.deserialize_keras_object
    except (AttributeError, ImportError):
        return tf.keras.layers.serialize, tf.keras.layers.deserialize


def _reason(error: BaseException) -> str:
    """Type and text of an error, without the configuration and the example that Keras prints with it."""
    text = str(error).rpartition(_CAUSE)[2]
    for rest in _NOISE:
        text = text.partition(rest)[0]
    return one_line(f"{type(error).__name__}: {text}")


def at_the_end(finding: StaticFinding, run: Run) -> Judgement:
    """What `judge_layers` said when the run was over; until then failed."""
    seen = run.snapshots[finding.id]
    return Judgement(*seen[-1].value) if seen else failed_in(run.phases[-1])


def judge_layers(made: Sequence[Event], run: Run, custom_objects: Callable[[Any], dict[str, Any]]) -> Judgement:
    """The verdict on the layers of some constructions, once everything else has been done with them.

    Args:
        made: their ``layer`` events, at least one.
        run: what happened.
        custom_objects: what a program that loads a layer would give with it.
    """
    last = run.phases[-1]
    layers = [layer for layer in (event.subject() for event in made[:_MANY]) if layer is not None]
    if not layers:
        return Judgement(FAILED, last, "the layer was gone at the end of the run, so it could not be saved")
    if last.ok and all(_is_in(run.model, layer) for layer in layers):
        return Judgement(REFUTED, last, f"the whole model was saved and loaded, and with it {_listed(layers)}")
    for layer in layers:
        raised = made_again(layer, custom_objects(layer))
        if raised:
            return Judgement(CONFIRMED, last, f"{_named(layer)} cannot be kept in a model file: {raised}")
    return Judgement(REFUTED, last, f"made again from the configuration that a model file keeps: {_listed(layers)}")


def _is_in(model: Any, layer: Any) -> bool:
    parts = getattr(model, "_flatten_layers", None)
    return parts is not None and any(part is layer for part in parts())


def _listed(layers: Sequence[Any]) -> str:
    return ", ".join(_named(layer) for layer in layers[:3])


def _named(layer: Any) -> str:
    return "`{}` ({})".format(getattr(layer, "name", "?"), type(layer).__name__)
