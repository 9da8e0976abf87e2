"""What a model says of itself: its kind, its parameters and the tensors that it expects.

Kinds are told by the names of classes, so that nothing of Keras is imported for a model that does not use it, and a
layer of tf_keras is one beside Keras 3 too.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any, NamedTuple

from .patching import definer

__all__ = [
    "Expected", "constructor_needs", "expected", "has_call", "has_losses", "is_function", "is_functional", "is_layer",
    "is_of_keras", "is_traced", "keeper", "keras_of", "losses_of", "needs_training", "owner_of", "parameters",
    "required", "takes_training",
]

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_KERAS = frozenset({"keras", "tensorflow", "tf_keras"})
_ITS_INPUTS = "its inputs"


class Expected(NamedTuple):
    """Arguments of a call as structures of ``tf.TypeSpec``, with any Python values that belong among them.

    ``source`` says where they are from; ``fixed`` is true where the model refuses another size of the first axis.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    source: str
    fixed: bool = False


def is_layer(value: Any) -> bool:
    """True for a layer or model of any Keras."""
    return _has_base(value, "Layer")


def owner_of(model: Any, name: str) -> Any:
    """The class of the program's, or of a library's, that defines a method of a model; None where Keras does."""
    owner = definer(type(model), name)
    return None if owner is None or is_of_keras(owner) else owner


def is_of_keras(cls: type) -> bool:
    """True for a class that Keras or TensorFlow defines."""
    return cls.__module__.partition(".")[0] in _KERAS


def keras_of(model: Any) -> Any:
    """The package of Keras whose layer or model it is."""
    for cls in type(model).__mro__:
        root = cls.__module__.partition(".")[0]
        if root in ("keras", "tf_keras"):
            return importlib.import_module(root)
    import tensorflow as tf

    return tf.keras


def losses_of(layer: Any) -> list[Any]:
    """The losses of a layer: Keras's own property, where the program calls something else ``losses``."""
    if has_losses(layer):
        return list(layer.losses)
    for cls in type(layer).__mro__:
        found = vars(cls).get("losses")
        if is_of_keras(cls) and isinstance(found, property) and found.fget is not None:
            return list(found.fget(layer))
    return []


def has_losses(model: Any) -> bool:
    """Whether its ``losses`` are a list; a method of the program's is none, nor is a property that raises."""
    try:
        return isinstance(getattr(model, "losses", None), (list, tuple))
    except Exception:
        return False


def has_call(model: Any) -> bool:
    """False for a Keras model or layer without a ``call``, as of models that only train."""
    owner = definer(type(model), "call") if is_layer(model) else None
    if owner is None or owner.__name__ not in ("Layer", "Model", "Operation"):
        return True
    if owner_of(model, "__call__") is not None:
        return True
    root = owner.__module__.partition(".")[0]
    return root not in _KERAS or (owner.__name__ == "Layer" and root == "tf_keras")  # which gives back its inputs


def is_functional(value: Any) -> bool:
    """True for a functional or Sequential Keras model, which takes its inputs as one argument."""
    return _has_base(value, "Functional") or _has_base(value, "Sequential")


def _has_base(value: Any, name: str) -> bool:
    return any(base.__name__ == name and base.__module__.partition(".")[0] in _KERAS for base in type(value).__mro__)


def is_traced(value: Any) -> bool:
    """True for what ``tf.function`` makes, loaded from a SavedModel or not."""
    return hasattr(type(value), "get_concrete_function")


def _is_concrete(value: Any) -> bool:
    return hasattr(type(value), "structured_input_signature")


def is_function(value: Any) -> bool:
    """True for functions, methods, their partials and what ``functools`` wraps around them; not for tf.function."""
    if inspect.isclass(value) or is_traced(value) or is_layer(value):
        return False
    return isinstance(value, functools.partial) or inspect.isroutine(inspect.unwrap(value))


def parameters(value: Any) -> list[inspect.Parameter] | None:
    """The parameters of a call without ``self``; None where they cannot be known."""
    value = _code(value)
    restored = getattr(value, "concrete_functions", None) if is_traced(value) else None
    if restored:
        value = restored[0]
    if _is_concrete(value):
        return _concrete_parameters(value)
    if is_traced(value):
        value = value.python_function
    try:
        return list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return None


def required(value: Any) -> list[str] | None:
    """The names of the parameters without a default; None where they cannot be known."""
    known = parameters(value)
    return None if known is None else [item.name for item in known if _is_required(item)]


def constructor_needs(cls: Any) -> list[str]:
    """The names of the constructor's parameters without a default."""
    # Keras gives its classes a __new__ with *args, behind which inspect.signature(cls) does not look on every version.
    for name in ("__init__", "__new__"):
        method = getattr(cls, name)
        if method is not getattr(object, name):
            return [item.name for item in (parameters(method) or [])[1:] if _is_required(item)]
    return []


def takes_training(model: Any) -> bool:
    """True where ``training`` can be passed to a call by keyword."""
    code = _code(model)
    known = parameters(model)
    if known is None or _is_concrete(code):
        return False
    names = [item.name for item in known if item.kind is not inspect.Parameter.POSITIONAL_ONLY]
    signature = getattr(code, "input_signature", None)
    if signature is not None and is_traced(code):
        return "training" in names[: len(signature)]
    return "training" in names or any(item.kind is inspect.Parameter.VAR_KEYWORD for item in known)


def needs_training(model: Any, given: int) -> bool:
    """True where a call with `given` positional arguments cannot do without ``training``."""
    known = [item for item in parameters(model) or () if item.kind not in _VARIADIC]
    return any(item.name == "training" and _is_required(item) for item in known[given:])


def names_training(model: Any) -> bool:
    """True where ``training`` is a parameter; arbitrary keywords may be passed on to what takes none."""
    return any(item.name == "training" for item in parameters(model) or ())


def keeper(model: Any) -> Any:
    """The object that keeps the variables of `model`: itself or the one a method belongs to; None for functions."""
    owner = getattr(model, "__self__", None)
    if owner is not None and not inspect.ismodule(owner):
        return owner
    if is_traced(model):
        # tf.function holds the object of its method by a weak reference, in what its Python function wraps.
        method = getattr(getattr(model, "python_function", None), "__wrapped__", None)
        return getattr(getattr(method, "__self__", None), "target", None)
    if isinstance(model, functools.partial):
        return keeper(model.func)
    return None if is_function(model) else model


def expected(model: Any) -> Expected | None:
    """What the model itself says that it takes; None where it says nothing."""
    code = _code(model)
    if is_layer(model):
        return _of_layer(model) or _of_traced(code)
    found = _of_concrete(code) if _is_concrete(code) else _of_traced(code)
    if found is None and _takes_nothing(model):
        return Expected((), {}, "it takes no inputs")
    return found


def _takes_nothing(model: Any) -> bool:
    known = parameters(model)
    return known is not None and not any(_is_required(item) or item.kind in _VARIADIC for item in known)


def _code(model: Any) -> Any:
    """What a call of `model` ends in: a layer's ``call``, the tf.function that is an object's ``__call__``."""
    if is_layer(model):
        return model.call
    call = None if is_traced(model) or inspect.isclass(model) else getattr(model, "__call__", None)  # noqa: B004
    return call if call is not None and is_traced(call) else model


def _is_required(item: inspect.Parameter) -> bool:
    return item.default is inspect.Parameter.empty and item.kind not in _VARIADIC


def _concrete_parameters(function: Any) -> list[inspect.Parameter]:
    known = getattr(function, "function_type", None)
    if known is not None:
        return list(known.parameters.values())
    args, kwargs = function.structured_input_signature  # TF < 2.12
    names = [f"argument_{index}" for index in range(len(args))]
    return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names] + [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in kwargs
    ]


def _of_concrete(function: Any) -> Expected | None:
    signature = function.structured_input_signature
    if signature is None:
        return None
    args, kwargs = signature
    return Expected(tuple(args), dict(kwargs), "its concrete function", _is_fixed((args, kwargs)))


def _of_traced(function: Any) -> Expected | None:
    if not is_traced(function):
        return None
    signature = getattr(function, "input_signature", None)
    if signature is not None:
        return Expected(tuple(signature), {}, "its input_signature", _is_fixed(signature))
    restored = getattr(function, "concrete_functions", None)
    return _of_concrete(restored[0]) if restored else None


def _is_fixed(structure: Any) -> bool:
    """True where a spec fixes the first axis."""
    import tensorflow as tf

    shapes = [getattr(spec, "shape", None) for spec in tf.nest.flatten(structure)]
    ranked = [shape for shape in shapes if shape is not None and shape.rank]
    return any(shape.as_list()[0] is not None for shape in ranked)


def _of_layer(layer: Any) -> Expected | None:
    import tensorflow as tf

    inputs = _get(layer, "input")
    if inputs is not None and all(hasattr(item, "dtype") for item in tf.nest.flatten(inputs)):
        specs = tf.nest.map_structure(_spec, inputs)
        return Expected((specs,), {}, _ITS_INPUTS, is_functional(layer) and _is_fixed(specs))
    if _has_base(layer, "Sequential"):
        return _of_first(layer.layers[0]) if layer.layers else None
    saved = layer.save_spec() if hasattr(layer, "save_spec") else None
    if saved is not None:
        return Expected(tuple(saved[0]), dict(saved[1]), "its last call")
    return _of_shapes(layer) or _of_input_spec(layer)


def _of_first(layer: Any) -> Expected | None:
    """What the first layer of a Sequential model expects; Keras 3 does not say it of the model."""
    found = expected(layer)
    if found is None or found.source != _ITS_INPUTS:
        return found
    return found._replace(fixed=_is_fixed(found.args))


def _get(layer: Any, name: str) -> Any:
    """A property of a layer; None where Keras refuses it because the layer was never called."""
    try:
        return getattr(layer, name, None)
    except (RuntimeError, ValueError):
        return None


def _spec(tensor: Any) -> Any:
    """The type of a symbolic Keras input; Keras 3 says ragged and sparse by flags."""
    import tensorflow as tf

    known = getattr(tensor, "type_spec", None)
    if known is not None:
        return known
    shape, dtype = tf.TensorShape(tensor.shape), tf.as_dtype(tensor.dtype)
    if getattr(tensor, "ragged", False):
        return tf.RaggedTensorSpec(shape, dtype, ragged_rank=1)
    if getattr(tensor, "sparse", False):
        return tf.SparseTensorSpec(shape, dtype)
    return tf.TensorSpec(shape, dtype)


def _of_shapes(layer: Any) -> Expected | None:
    """The shapes that the layer was built with, or its first ``input_shape=`` argument."""
    config = layer.get_build_config() if getattr(layer, "built", False) and hasattr(layer, "get_build_config") else None
    config = config or {}
    named = config.get("shapes_dict")
    if named:
        kwargs = {name.rpartition("_shape")[0]: _shaped(shape) for name, shape in named.items()}
        return Expected((), kwargs, "the shapes that it was built with")
    if config.get("input_shape") is not None:
        return Expected((_shaped(config["input_shape"]),), {}, "the shape that it was built with")
    batched = getattr(layer, "_batch_input_shape", None)
    single = getattr(layer, "_input_shape_arg", None)
    if batched is None and single is not None:
        batched = (None, *single)
    return None if batched is None else Expected((_shaped(batched),), {}, "its input_shape")


def _shaped(shape: Any) -> Any:
    """float32 specs of a structure of shapes."""
    import tensorflow as tf

    if isinstance(shape, dict):
        return {name: _shaped(item) for name, item in shape.items()}
    if isinstance(shape, (list, tuple)) and not all(item is None or isinstance(item, int) for item in shape):
        return type(shape)(_shaped(item) for item in shape)
    return tf.TensorSpec(shape, tf.float32)


def _of_input_spec(layer: Any) -> Expected | None:
    import tensorflow as tf

    found: Any = getattr(layer, "input_spec", None)
    if isinstance(found, (list, tuple)) and len(found) == 1:
        found = found[0]
    specs = tf.nest.map_structure(_ranked, found)
    if any(spec is None for spec in tf.nest.flatten(specs)):
        return None
    return Expected((specs,), {}, "its input_spec")


def _ranked(spec: Any) -> Any:
    """The tensor that an ``InputSpec`` describes; None where it says nothing of the rank."""
    import tensorflow as tf

    if spec is None:
        return None
    dtype = tf.as_dtype(spec.dtype or "float32")
    if spec.shape is not None:
        return tf.TensorSpec(spec.shape, dtype)
    axes = {int(axis): size for axis, size in (spec.axes or {}).items()}
    deepest = [axis + 1 if axis >= 0 else -axis for axis in axes]
    rank = spec.ndim or max([spec.min_ndim or 0, *deepest])
    if not rank:
        return None
    shape: list[int | None] = [None] * rank
    for axis, size in axes.items():
        shape[axis] = size
    return tf.TensorSpec(shape, dtype)
