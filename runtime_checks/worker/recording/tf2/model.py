"""Makes the TF2 side of a pair and calls it, whatever kind of model it is."""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import os
import sys
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence

from ... import signature
from ...frames import UserCode
from ...patching import wrapped
from ..format.rows import LayerRow, Place
from ..pairs import structures
from ..pairs.batches import PairError, arguments
from ..pairs.pair import Pair
from ..tensors import Function, Layer, Module, Nest, Tensor
from ..watching.constructions import written_at

__all__ = [
    "Forward", "Model", "clear_names", "converted", "eagerly", "in_function", "inlined", "is_of_keras",
    "is_symbolic", "layer_settings", "make", "tensors"
]

_SETTINGS = ("epsilon", "momentum", "rate", "renorm", "center", "scale", "axis", "negative_slope", "alpha", "theta")
Callee = Any
"""A layer, a model or another callable that the factory of the TF2 side made."""
Options = Any
"""How AutoGraph converts."""
_MODES = ("training", "is_training", "mode")


class Forward(NamedTuple):
    """What one call of a model gave: tensors by name.

    `regularization` are the single losses, and their sum under ``total``.
    """

    outputs: dict[str, Nest]
    endpoints: dict[str, Tensor]
    taps: dict[str, Tensor]
    loss: Tensor
    regularization: dict[str, Tensor]


class Model:
    """The TF2 side, made; can be called whatever it is.

    Attributes:
        value: what the factory returned.
    """

    def __init__(self, value: Callee, params: object) -> None:
        self.value = value
        self._params = params
        self._parameters = _names(value)

    @property
    def is_layer(self) -> bool:
        """Whether it is a layer or model of any Keras."""
        return signature.is_layer(self.value)

    @property
    def is_function(self) -> bool:
        """Whether it is a plain function, or one of ``tf.function``."""
        return signature.is_function(self.value) or signature.is_traced(self.value)

    @property
    def takes_training(self) -> bool:
        """Whether it can be told to train."""
        return self.is_keras3 or signature.takes_training(self.value) or bool(self._parameters & set(_MODES))

    @property
    def takes_labels(self) -> bool:
        """Whether its call wants the labels."""
        return "labels" in self._parameters

    @property
    def is_keras3(self) -> bool:
        """Whether it is a layer of Keras 3."""
        return self.is_layer and any(
            cls.__module__.startswith("keras.src.layers.layer") for cls in type(self.value).__mro__
        )

    @property
    def is_compiled(self) -> bool:
        """Whether ``compile`` was called."""
        return bool(getattr(self.value, "_is_compiled", False) or getattr(self.value, "compiled", False))

    @property
    def has_own_step(self) -> bool:
        """Whether its class has a ``train_step`` that is not Keras' own."""
        return self.has_own("train_step")

    def has_own(self, method: str) -> bool:
        """Whether its class has a method that is not Keras' own."""
        found = getattr(type(self.value), method, None)
        return found is not None and not is_of_keras(found)

    def place(self, factory: Function, code: UserCode) -> Place | None:
        """Where the user wrote what is called: its ``call``, or else the factory."""
        places = (getattr(type(self.value), "call", None), self.value, type(self.value).__call__, factory)
        return next(filter(None, (written_at(one, code) for one in places)), None)

    def place_of(self, method: str, code: UserCode) -> Place | None:
        """Where the user wrote a method of it; None where it is Keras' own."""
        return written_at(getattr(type(self.value), method, None), code)

    def call(self, inputs: Nest, training: bool, labels: Nest = None) -> Nest:
        """Call it on tensors.

        Args:
            inputs: as in a batch.
            training: given by whatever name the call has for it; a call that has none is not told.
            labels: given to a parameter of that name.
        """
        args, kwargs = arguments(inputs, self.value)
        kwargs.update(self._extra(training, labels))
        if self.is_layer:  # Keras asks AutoGraph itself
            return self.value(*args, **kwargs)
        return converted(self.value, *args, **kwargs)

    def _extra(self, training: bool, labels: Nest) -> dict[str, Nest]:
        extra: dict[str, Nest] = {}
        if "training" in self._parameters or (self.is_layer and self.takes_training):
            extra["training"] = training
        elif "is_training" in self._parameters:
            extra["is_training"] = training
        if "mode" in self._parameters:
            extra["mode"] = "train" if training else "infer"
        if "labels" in self._parameters:
            extra["labels"] = labels
        if "params" in self._parameters:
            extra["params"] = self._params
        return extra

    def forward(self, inputs: Nest, training: bool, labels: Nest = None) -> Forward:
        """Call it and tell apart what comes back; inside ``tf.function`` as well."""
        return self.told(self.call(inputs, training, labels))

    def told(self, value: Nest) -> Forward:
        """What a call returned, told apart, and the losses that the call left behind."""
        found = structures.results(value)
        return Forward(
            outputs=dict(structures.flat(found.outputs)),
            endpoints=dict(found.endpoints),
            taps=dict(found.taps),
            loss=found.loss,
            regularization=self.regularization(),
        )

    def regularization(self) -> dict[str, Tensor]:
        """The losses of the layers by number, and ``total``: 0.0 where there are none."""
        import tensorflow as tf

        losses = [tf.convert_to_tensor(loss) for loss in self._losses()]
        found = {str(number): loss for number, loss in enumerate(losses)}
        if not losses:
            found["total"] = tf.constant(0.0)
        elif len({loss.dtype for loss in losses}) == 1 and all(loss.shape.rank == 0 for loss in losses):
            found["total"] = tf.add_n(losses)
        else:
            found["total"] = tf.add_n([tf.reduce_sum(tf.cast(loss, tf.float32)) for loss in losses])
        return found

    def _losses(self) -> list[Tensor]:
        if not self.is_layer and signature.has_losses(self.value):
            return list(self.value.losses)
        return [loss for layer in _layers_in(self.value) for loss in signature.losses_of(layer)]

    def other_losses(self, code: UserCode) -> Iterator[str]:
        """What the program calls ``losses`` in the place of what Keras does, with its line."""
        for layer in _layers_in(self.value):
            if not signature.has_losses(layer):
                cls = type(layer)
                place = written_at(getattr(getattr(cls, "losses", None), "fget", None) or cls.losses, code)
                where = "" if place is None else f" ({os.path.basename(place[0])}:{place[1]})"
                yield f"{cls.__name__}.losses{where}"


def is_of_keras(what: Callee) -> bool:
    """Whether a class or function is Keras' own."""
    return str(getattr(what, "__module__", "")).partition(".")[0] in _KERAS


def make(pair: Pair) -> Model:
    """Call the factory of the TF2 side.

    Raises:
        PairError: if it is none, or makes nothing that can be called.
        Exception: whatever the factory raises.
    """
    factory = pair.tf2
    _check(factory)
    kwargs = {"params": pair.params} if "params" in _given(factory) else {}
    value = factory(**kwargs)
    if value is None or not callable(value):
        what = "None" if value is None else f"an object of type {type(value).__qualname__}, which cannot be called"
        raise PairError(f"tf2 returned {what}: wanted is a layer, a model or another callable")
    if inspect.isclass(value):
        raise PairError(f"tf2 returned the class {value.__name__}, not an object of it")
    return Model(value, pair.params)


def _check(factory: Function) -> None:
    if not callable(factory):
        raise PairError(f"tf2 is {factory!r}: wanted is a function without parameters that makes the model")
    if not inspect.isclass(factory) and not signature.is_function(factory):
        name = type(factory).__qualname__
        raise PairError(
            f"tf2 is a finished {name}, but several fresh models are needed: give a function that makes one, such as "
            "tf2=lambda: MyModel(), or the class itself; a plain function f that is the model is given as "
            "tf2=lambda: f"
        )
    missing = [name for name in _needed(factory) if name != "params"]
    if missing:
        name = getattr(factory, "__name__", "tf2")
        raise PairError(
            f"tf2={name} needs {', '.join(missing)}, but it is called without arguments to make the model: give a "
            f"function without parameters, such as tf2=lambda: {name}(...); where {name} is the model itself, "
            f"tf2=lambda: {name}"
        )


def _needed(factory: Function) -> Sequence[str]:
    if inspect.isclass(factory):
        return signature.constructor_needs(factory)
    return signature.required(factory) or ()


def _given(factory: Function) -> Sequence[str]:
    target = factory.__init__ if inspect.isclass(factory) else factory
    try:
        return list(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        return ()


def clear_names() -> None:
    """Forget the model before; Keras counts layers from the beginning, so that the next one gets the same names.

    To be called before seeds are set: Keras forgets those too.
    """
    import tensorflow as tf

    gc.collect()  # the parts of a model refer to each other

    for backend in (lambda: tf.keras.backend, lambda: tf.keras.utils):
        clear = getattr(_quiet(backend), "clear_session", None)
        if clear is not None:
            precision = _quiet(lambda: tf.keras.mixed_precision)
            policy = None if precision is None else precision.global_policy()
            clear()
            if precision is not None:  # Keras 3 forgets what the program said
                precision.set_global_policy(policy)
            return


def _quiet(find: Callable[[], Module]) -> Module:
    with contextlib.suppress(Exception):
        return find()
    return None


def tensors(value: Nest) -> Nest:
    """A batch's arrays as tensors, in the same structure."""
    import tensorflow as tf

    return structures.mapped(value, tf.constant)


def in_function(body: Function) -> Function:
    """``tf.function`` of a body that is not the user's, in which AutoGraph works on what is called by `converted`."""
    import tensorflow as tf
    from tensorflow.python.autograph.core import ag_ctx

    def traced(*args: Nest) -> Nest:
        with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED, options=_options()):
            return body(*args)

    # A partial has no code object, by which TensorFlow would count all functions made here as one that is traced anew.
    function: Function = tf.function(functools.partial(traced), autograph=False)
    return function


_LIBRARIES = ("keras", "tensorflow", "tf_keras")


@contextlib.contextmanager
def eagerly() -> Iterator[None]:
    """Run every ``tf.function`` of the body eagerly.

    Not those that Keras and TensorFlow compile by XLA themselves: they do what nothing else does on a CPU, as the
    gradients of a grouped convolution.
    """
    import tensorflow as tf

    def compiling(original: Function) -> Function:
        def call(function: Any, *args: Nest, **kwargs: Nest) -> Nest:
            made = str(getattr(function.python_function, "__module__", "")).partition(".")[0]
            if not (getattr(function, "_jit_compile", None) and made in _LIBRARIES and tf.executing_eagerly()):
                return original(function, *args, **kwargs)
            tf.config.run_functions_eagerly(False)
            try:
                return original(function, *args, **kwargs)
            finally:
                tf.config.run_functions_eagerly(True)

        return call

    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        with wrapped(type(tf.function(lambda: None)), "__call__", compiling):
            yield
    finally:
        tf.config.run_functions_eagerly(before)


@contextlib.contextmanager
def inlined() -> Iterator[None]:
    """Make what a ``tf.function`` computes that another one calls, in the body, a part of the graph of that one."""
    import tensorflow as tf

    def inlining(original: Function) -> Function:
        def call(function: Any, *args: Nest, **kwargs: Nest) -> Nest:
            if tf.executing_eagerly():
                return original(function, *args, **kwargs)
            return converted(function.python_function, *args, **kwargs)

        return call

    with wrapped(type(tf.function(lambda: None)), "__call__", inlining):
        yield


def converted(function: Function, *args: Nest, **kwargs: Nest) -> Nest:
    """Call a function of the user's as a ``tf.function`` would, if this is inside one."""
    import tensorflow as tf

    if tf.executing_eagerly():
        return function(*args, **kwargs)
    from tensorflow.python.autograph.impl import api

    return api.converted_call(function, args, kwargs, None, _options())


def _options() -> Options:
    from tensorflow.python.autograph.core import converter

    # As tf.function has them: without its optional features, of which one turns lists of Python into tensor lists.
    return converter.ConversionOptions(recursive=True, optional_features=())


def is_symbolic(value: Tensor) -> bool:
    """Whether it is a tensor of a graph, whose value is not known yet."""
    import tensorflow as tf

    return isinstance(value, tf.Tensor) and not hasattr(value, "numpy")


def layer_settings(layer: Layer) -> LayerRow | None:
    """Class and settings of a layer whose settings change what comes out of the same weights; None of any other."""
    try:
        config = dict(layer.get_config())
    except Exception:
        config = {name: getattr(layer, name, None) for name in _SETTINGS}
    told = {name: config[name] for name in _SETTINGS if isinstance(config.get(name), (bool, int, float, list, tuple))}
    activation = config.get("activation")
    if isinstance(activation, dict):
        activation = activation.get("class_name")
    if isinstance(activation, str):
        told["activation"] = activation
    if not told:
        return None
    return {"name": str(getattr(layer, "name", "")), "class": type(layer).__name__, "config": told, "place": None}


_KERAS = ("keras", "tf_keras", "tensorflow")


def _names(value: Callee) -> set[str]:
    """The names of a call's parameters."""
    return {item.name for item in signature.parameters(value) or ()}


def _layers_in(value: object) -> list[Layer]:
    """The outermost layers that a ``tf.Module`` holds, or a function in what it closes over."""
    found: list[Layer] = []
    seen: set[int] = set()
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen or len(seen) > 10000:
            continue
        seen.add(id(one))
        if signature.is_layer(one):
            found.append(one)
        elif isinstance(one, Mapping):
            waiting += list(one.values())
        elif isinstance(one, (list, tuple)):
            waiting += list(one)
        else:
            waiting += _held(one)
    return found


def _held(value: object) -> list[object]:
    held = structures.closed_over(value)
    function = getattr(value, "python_function", None)
    owner = getattr(value, "__self__", None)
    if inspect.ismodule(owner):
        owner = None
    held += [part for part in (function, owner) if part is not None]
    tf = sys.modules["tensorflow"]
    if isinstance(value, tf.Module):
        held += list(vars(value).values())
    return held
