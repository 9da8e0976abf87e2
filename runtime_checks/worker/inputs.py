"""Where the inputs of a model come from, and how it is called with them."""

from __future__ import annotations

import collections.abc
import inspect
from types import ModuleType
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import signature
from .samples import Sampler
from .signature import names_training, takes_training
from .target import BATCH, EXAMPLE, TargetError, if_factory, named

__all__ = [
    "Sample", "call", "example_batch", "find", "names_training", "needs_training", "other_batch", "repeated",
    "takes_training", "without_labels",
]  # fmt: skip

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_WAYS = """{} says nothing of its inputs; give them in one of these ways:
    `return model, tf.zeros((2, 8))` in build(),
    `def example_inputs(): return tf.zeros((2, 8))` in the same file, or
    --input-shape 2,8 --input-dtype float32 on the command line"""


class Sample(NamedTuple):
    """The arguments of a call; ``source`` says where they are from.

    ``fixed`` is true where the model says that the size of their first axis is fixed, ``made_up`` where nobody gave
    the values, and the model left sizes open, so that they may not be such as it takes.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    source: str
    fixed: bool = False
    made_up: bool = False


def find(
    model: Any, built_inputs: Any, module: ModuleType | None, job: dict[str, Any], batch: Any = None
) -> Sample:
    """The inputs named on the command line, else those of ``build()``, ``example_inputs``, a `batch`, or made up.

    Made-up ones have the shapes and dtypes of the command line, else what the model says of itself.
    numpy arrays become tensors, a ``tf.data.Dataset`` or an iterator is its first element, without the labels. A
    program that turned eager execution off, whose sessions are fed arrays, gets those.
    Raises `TargetError` where nothing fits, and whatever the user's code raises.
    """
    expected = signature.expected(model)
    fixed = expected is not None and expected.fixed
    value, source = _given(built_inputs, module, job)
    if source is None and batch is not None:
        value, source = without_labels(batch), BATCH
    if source is not None:
        return _arranged(model, _tensors(_first(value, source)), source)._replace(fixed=fixed)
    if job.get("shapes"):
        return _shaped(model, expected, job)._replace(fixed=fixed)
    if expected is None:
        needed = (signature.required(model) or []) if signature.is_function(model) else []
        other = f";\n{if_factory(_name(model), needed)}" if needed else ""
        raise TargetError(_WAYS.format(_name(model)) + other)
    return _made(expected, _dtypes(job))


def example_batch(module: ModuleType | None, job: dict[str, Any]) -> Any:
    """What a training step gets, by the command line or ``example_batch`` of the user's module; None if neither says.

    numpy arrays become tensors, a ``tf.data.Dataset`` or an iterator is its first element.
    """
    place = job.get("batch")
    name = place["name"] if place else BATCH
    value = named(place) if place else None if module is None else vars(module).get(BATCH)
    return None if value is None else _tensors(_first(_called(value, name), name, whole=True))


def needs_training(model: Any, sample: Sample) -> bool:
    """True where ``training`` must be passed to a call with this sample."""
    return "training" not in sample.kwargs and signature.needs_training(model, len(sample.args))


def call(model: Any, sample: Sample, **extra: Any) -> Any:
    """Calls `model` with the sample; `extra` are more keyword arguments, such as ``training``."""
    return model(*sample.args, **dict(sample.kwargs, **extra))


def other_batch(sample: Sample) -> Sample | None:
    """The same sample with every tensor twice along its first axis; None where there is no such axis or it is fixed."""
    import tensorflow as tf

    arguments = (sample.args, sample.kwargs)
    if sample.fixed or not any(map(_has_batch, tf.nest.flatten(arguments))):
        return None
    args, kwargs = repeated(arguments, 2)
    return sample._replace(args=args, kwargs=kwargs)


def repeated(value: Any, count: int) -> Any:
    """The same structure with every tensor that many times along its first axis, where it has one."""
    import tensorflow as tf

    return value if count == 1 else tf.nest.map_structure(lambda leaf: _times(leaf, count), value)


def _has_batch(value: Any) -> bool:
    import tensorflow as tf

    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return tf.is_tensor(value) and (value.shape.rank or 0) >= 1


def _times(value: Any, count: int) -> Any:
    import tensorflow as tf

    if isinstance(value, np.ndarray) and value.ndim:
        return np.concatenate([value] * count)
    if not _has_batch(value):
        return value
    if isinstance(value, tf.SparseTensor):
        return tf.sparse.concat(0, [value] * count)
    return tf.concat([value] * count, 0)


def _given(built_inputs: Any, module: ModuleType | None, job: dict[str, Any]) -> tuple[Any, str | None]:
    """The user's own inputs and where they are from; no source where there are none."""
    place = job.get("inputs")
    if place is not None:
        return _called(named(place), place["name"]), "--inputs {}".format(place["name"])
    if built_inputs is not None:
        return built_inputs, "build() returned them"
    value = None if module is None else vars(module).get(EXAMPLE)
    if value is not None:
        return _called(value, EXAMPLE), EXAMPLE + ("()" if callable(value) else "")
    return None, None


def _called(value: Any, name: str) -> Any:
    if not callable(value):
        return value
    needed = signature.constructor_needs(value) if inspect.isclass(value) else signature.required(value)
    if needed:
        raise TargetError("{}, which gives the inputs, must not need arguments: {}".format(name, ", ".join(needed)))
    return value()


def without_labels(element: Any) -> Any:
    """The inputs of a batch, which may have labels and weights behind them."""
    return element[0] if isinstance(element, tuple) and len(element) in (2, 3) else element


def _first(value: Any, source: str, whole: bool = False) -> Any:
    """The first element of a dataset or an iterator, without labels and weights if not `whole`; else the value."""
    import tensorflow as tf

    if not isinstance(value, (tf.data.Dataset, collections.abc.Iterator)):
        return value
    for element in value:
        return element if whole else without_labels(element)
    raise TargetError(f"there is no element in the inputs ({source})")


def _tensors(value: Any) -> Any:
    import tensorflow as tf

    if not tf.executing_eagerly():
        return value

    def converted(leaf: Any) -> Any:
        return tf.convert_to_tensor(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf

    return tf.nest.map_structure(converted, value)


def _arranged(model: Any, value: Any, source: str) -> Sample:
    """A dict of parameter names is keyword arguments, a tuple may be positional ones, all else is one argument."""
    if not signature.has_call(model):
        return Sample((value,), {}, source)  # it only trains, and Keras gives a step one structure
    known = None if signature.is_functional(model) else signature.parameters(model)
    if known is None:
        return Sample(value if type(value) is tuple and len(value) == 1 else (value,), {}, source)
    if isinstance(value, dict) and value and set(value) <= {item.name for item in known}:
        first = known[0].name  # Keras wants it by position
        if signature.is_layer(model) and first in value and known[0].kind in _POSITIONAL:
            return Sample((value[first],), {name: one for name, one in value.items() if name != first}, source)
        return Sample((), dict(value), source)
    keywords = [item.name for item in known if item.kind is inspect.Parameter.KEYWORD_ONLY]
    if len(keywords) == len(known):
        # The signatures of a SavedModel take keyword arguments alone.
        values = value if isinstance(value, (tuple, list)) and len(keywords) > 1 else (value,)
        if keywords and len(values) == len(keywords):
            return Sample((), dict(zip(keywords, values)), source)
    return Sample(tuple(value) if _is_spread(value, known) else (value,), {}, source)


def _is_spread(value: Any, known: Sequence[inspect.Parameter]) -> bool:
    if not isinstance(value, tuple) or hasattr(value, "_fields"):
        return False
    positional = [item for item in known if item.kind in _POSITIONAL]
    if any(item.kind is inspect.Parameter.VAR_POSITIONAL for item in known):
        return len(positional) != 1 or len(value) == 1
    needed = [item for item in positional if item.default is inspect.Parameter.empty]
    return len(value) <= len(positional) and (len(needed) > 1 or len(value) <= 1)


def _shaped(model: Any, expected: signature.Expected | None, job: dict[str, Any]) -> Sample:
    """Inputs of the shapes of the command line, in the structure of the model's own inputs if there are as many."""
    import tensorflow as tf

    shapes, dtypes = job["shapes"], _dtypes(job) or [tf.float32]
    if len(dtypes) == 1:
        dtypes = dtypes * len(shapes)
    if len(dtypes) != len(shapes):
        raise TargetError(f"there are {len(shapes)} shapes but {len(dtypes)} dtypes of inputs")
    for shape in shapes:
        if any(size is not None and size < 0 for size in shape):
            raise TargetError(f"{shape} is no shape: a size is negative")
    specs = [tf.TensorSpec(shape, dtype) for shape, dtype in zip(shapes, dtypes)]
    values, source = _filled(specs), "--input-shape"
    if expected is not None:
        own = (expected.args, expected.kwargs)
        if len(tf.nest.flatten(own)) == len(values):
            args, kwargs = tf.nest.pack_sequence_as(own, values)
            return Sample(args, kwargs, source)
    if len(values) == 1:
        return _arranged(model, values[0], source)
    sample = _arranged(model, tuple(values), source)
    return sample if sample.kwargs or len(sample.args) > 1 else Sample((values,), {}, source)


def _made(expected: signature.Expected, dtypes: list[Any]) -> Sample:
    """Inputs of the model's own types; dtypes of the command line go before its own."""
    import tensorflow as tf

    own = (expected.args, expected.kwargs)
    if dtypes:
        flat = tf.nest.flatten(own)
        dtypes = dtypes * len(flat) if len(dtypes) == 1 else dtypes
        if len(dtypes) != len(flat):
            raise TargetError(f"there are {len(dtypes)} dtypes but the model has {len(flat)} inputs")
        own = tf.nest.pack_sequence_as(own, [_retyped(spec, dtype) for spec, dtype in zip(flat, dtypes)])
    args, kwargs = _filled(own)
    shapes = [spec.shape for spec in tf.nest.flatten(own) if hasattr(spec, "shape")]
    is_open = any(shape.rank is None or None in shape.as_list()[1:] for shape in shapes)
    return Sample(args, kwargs, expected.source, expected.fixed, is_open)


def _retyped(spec: Any, dtype: Any) -> Any:
    import tensorflow as tf

    return tf.TensorSpec(spec.shape, dtype) if isinstance(spec, tf.TensorSpec) else spec


def _filled(specs: Any) -> Any:
    import tensorflow as tf

    try:
        if tf.executing_eagerly():
            return Sampler().fill(specs)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            return session.run(Sampler().fill(specs))
    except ValueError as error:
        raise TargetError(_WAYS.format(f"no inputs can be made up ({error}): the model")) from None


def _dtypes(job: dict[str, Any]) -> list[Any]:
    import tensorflow as tf

    found = []
    for name in job.get("dtypes") or []:
        try:
            found.append(tf.as_dtype(name))
        except TypeError:
            raise TargetError(f"TensorFlow has no dtype {name!r}") from None
    return found


def _name(model: Any) -> str:
    return getattr(model, "__qualname__", None) or type(model).__qualname__
