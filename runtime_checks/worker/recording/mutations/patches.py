"""Puts mutations into a program: what it constructs, calls and trains with is heard, and changed where that is wanted.

Everything is in place before the user's modules are imported, so that it holds wherever they make their objects.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
from types import ModuleType
from typing import Any, Callable, ContextManager, Iterator, Sequence

from ...frames import UserCode
from ...patching import definer, replaced, wrapped
from ...signature import losses_of
from ..format.rows import Content, Place
from ..tensors import Function, Json, Layer, Nest, Optimizer, Tensor
from ..watching import keras_optimizers
from ..watching.classes import descending, in_keras, loaded, optimizers
from ..watching.layer_calls import layer_bases
from .sites import Program, bound, made, put, told

__all__ = ["exchanged", "mutating"]

_KERAS = ("keras", "tf_keras", "tensorflow", "tensorflow_core")
_NOT_CONSTRUCTED = ("Model", "Functional", "Sequential", "Layer", "Optimizer", "Loss", "InputLayer", "Metric", "Mean")
_ACTIVATIONS = ("relu", "elu", "tanh", "sigmoid", "gelu", "leaky_relu", "relu6", "selu", "softplus", "swish")
_FUNCTIONS = {
    "": ("reduce_sum", "reduce_mean", "clip_by_global_norm", "clip_by_norm"),
    "nn": ("dropout", "batch_normalization", "conv2d", "max_pool2d", "avg_pool2d", *_ACTIVATIONS),
    "image": ("resize",),
    "keras.activations": _ACTIVATIONS,
    "keras.losses": ("categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"),
}
"""Functions of TensorFlow by the public module in which a program finds them; other modules may have them too."""
_ALIASES = ("", "math", "nn", "compat.v1", "compat.v1.math", "compat.v1.nn", "compat.v2")
_SLIM = ("batch_norm", "dropout", "l1_regularizer", "l2_regularizer")
"""Functions of TF-Slim whose work no layer does; the others make layers of ``tf.compat.v1.layers``."""
_LATER = {"keras", "tf_keras", "tf_slim"} | {f"tensorflow.{path}" for path in (*_ALIASES, *_FUNCTIONS) if path}
"""What TensorFlow need not have imported and a program may: a public module by its name is made when that is done."""
_FLAG = "training"
_RULE = "MomentumOptimizer"
"""Whose rule ``SGD`` has when the rate is applied to what momentum has accumulated."""
_losses: list[tuple[Tensor, Tensor]] = []
"""What gradients were asked of, and of what they were taken instead."""


def exchanged(loss: Tensor) -> Tensor:
    """A loss as the program that is recorded would have it: another one where gradients were taken of another."""
    return next((other for one, other in reversed(_losses) if one is loss), loss)


@contextlib.contextmanager
def mutating(wanted: Sequence[Json], code: UserCode, content: Content) -> Iterator[None]:
    """Run the body with these mutations of the program; what it calls is heard in any case.

    Args:
        wanted: the mutations, see `sites`.
        code: tells the user's files.
        content: of a recording, to which ``sites`` and ``applied`` are added at the end.
    """
    program = Program(wanted, code)
    del _losses[:]
    with contextlib.ExitStack() as stack:
        patches = _Patches(program)

        def patch() -> None:
            for one in patches.all():
                stack.enter_context(one)

        patch()
        stack.enter_context(_imported(patch))
        try:
            yield
        finally:
            content["sites"] = list(program.sites.values())
            content["applied"] = sorted(program.applied)
            for row in content.get("optimizers", ()):
                if row.get("class") in patches.outside:
                    row["rule"] = _RULE


class _Patches:
    def __init__(self, program: Program) -> None:
        self.program = program
        self._making: list[int] = []
        self._running: list[tuple[Layer, Any]] = []
        self._marked: dict[int, tuple[Any, dict[str, Json]]] = {}
        self._model: Layer = None
        self._met: set[tuple[int, str]] = set()
        self.outside: set[str] = set()
        """Classes of optimizers whose rate is applied to what momentum has accumulated."""

    def all(self) -> Iterator[ContextManager[None]]:
        """Every replacement that was not given before."""
        import tensorflow as tf

        for cls in self._new(_constructed(), "__init__"):
            if "__init__" in vars(cls):
                yield wrapped(cls, "__init__", self._constructing)
        for cls in self._new(_schedules(), "__new__"):
            yield replaced(cls, "__new__", self._new_schedule(cls))
        for base in self._new(layer_bases(), "__call__"):
            yield wrapped(base, "__call__", self._calling)
            if isinstance(vars(base).get("losses"), property):
                yield replaced(base, "losses", self._reading_losses(vars(base)["losses"]))
        for cls in self._new(loaded([lambda: tf.GradientTape]), "gradient"):
            yield wrapped(cls, "gradient", self._differentiating)
        for cls, name in _appliers():
            for one in self._new([cls], name):
                yield wrapped(one, name, functools.partial(self._applying, name))
        for owner, name, whole in _functions():
            for one in self._new([owner], name):
                yield wrapped(one, name, functools.partial(self._function, whole))

    def _new(self, owners: Sequence[Any], name: str) -> Iterator[Any]:
        """Those whose attribute has not been asked for before."""
        for owner in owners:
            if (id(owner), name) not in self._met:
                self._met.add((id(owner), name))
                yield owner

    # Constructors

    def _constructing(self, original: Function) -> Function:
        def construct(one: Any, *args: Any, **kwargs: Any) -> None:
            place = None
            if id(one) not in self._making:
                place = self.program.caller(sys._getframe(1), helped=True)
            arguments = None if place is None else bound(original, (one, *args), kwargs)
            if place is None or arguments is None:
                original(one, *args, **kwargs)
                return
            bases = [cls.__name__ for cls in type(one).__mro__ if _is_own(cls)]
            callee = type(one).__name__
            row = self.program.met("argument", callee, place, bases=bases, arguments=told(arguments))
            other = {
                mutation["argument"]: made(mutation["value"], mutation["argument"])
                for mutation in self.program.at("argument", callee, place)
            }
            given, named = put(arguments, (one, *args), kwargs, other)
            self._making.append(id(one))
            try:
                original(*given, **named)
            finally:
                self._making.pop()
            self.program.named(row, one)
            self._constructed(one, callee, place)

        # Keras 3 reads the parameters off the function that it finds, and asks for no wrapped one.
        construct.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return construct

    def _constructed(self, one: Any, callee: str, place: Place) -> None:
        """Change what an object does, where no argument of its constructor does so."""
        marks = {
            what: mutation["value"]
            for what in ("momentum", "dense", "gradients", "mean of squares", "statistics")
            if self.program.any(what)
            for mutation in self.program.at(what, callee, place)
        }
        if not marks:
            return
        self._marked[id(one)] = (one, marks)
        if "statistics" in marks:
            one.call = _moving(one, one.call, marks["statistics"])
        if "mean of squares" in marks:
            one.build = _beginning(one, one.build, marks["mean of squares"])
        if "momentum" in marks:
            one.update_step = _rate_outside(one, one.update_step)
            self.outside.add(callee)

    def _mark(self, one: Any, what: str) -> Json:
        return self._marked.get(id(one), (None, {}))[1].get(what)

    def _new_schedule(self, base: type) -> Function:
        original: Function = base.__new__

        def construct(cls: type, *args: Any, **kwargs: Any) -> Any:
            one = original(cls) if original is object.__new__ else original(cls, *args, **kwargs)
            place = self.program.caller(sys._getframe(1))
            if place is not None:
                self.program.met("schedule", cls.__name__, place)
                for mutation in self.program.at("schedule", cls.__name__, place):
                    self._marked[id(one)] = (one, {"schedule": mutation["value"]})
                    self._shift(cls)
            return one

        return construct

    def _shift(self, cls: type) -> None:
        """Let the schedules of a class that are marked begin later."""
        owner = definer(cls, "__call__")
        original = vars(owner)["__call__"]
        if getattr(original, "shifted", False):
            return

        @functools.wraps(original)
        def call(one: Any, step: Any) -> Any:
            return original(one, step + (self._mark(one, "schedule") or 0))

        call.shifted = True  # type: ignore[attr-defined]
        owner.__call__ = call

    # Calls of layers

    def _calling(self, original: Function) -> Function:
        def call(layer: Layer, *args: Any, **kwargs: Any) -> Any:
            if self._running and self._running[-1][0] is layer:
                return original(layer, *args, **kwargs)
            place = self.program.caller(sys._getframe(1), heard=True, calls=True)
            if place is not None and args:
                row = self.program.met("left out", type(layer).__name__, place, own=not _is_own(type(layer)))
                self.program.named(row, layer)
                if self.program.any("left out") and self.program.at("left out", type(layer).__name__, place):
                    return args[0]
            if not self._running:
                kwargs = self._outermost(layer, args, kwargs, place)
            elif place is not None and isinstance(kwargs.get(_FLAG), bool):
                kwargs = self._inner(layer, kwargs, place)
            self._running.append((layer, kwargs.get(_FLAG)))
            try:
                with self._exchanging(layer, args) if len(self._running) == 1 else contextlib.nullcontext():
                    return original(layer, *args, **kwargs)
            finally:
                self._running.pop()

        return call

    def _outermost(self, layer: Layer, args: Sequence[Any], kwargs: dict[str, Any], place: Place | None) -> Json:
        self._model = layer
        if place is None or not _takes_flag(layer) or _symbolic(args):
            return kwargs
        given = _FLAG in kwargs or len(args) > 1
        what = "flag" if not given else "flagged" if kwargs.get(_FLAG) is True else ""
        if what:
            self.program.met(what, type(layer).__name__, place)
        if what == "flag" and self.program.at("flag", type(layer).__name__, place):
            return dict(kwargs, training=True)
        if what == "flagged" and self.program.at("flagged", type(layer).__name__, place):
            return {name: value for name, value in kwargs.items() if name != _FLAG}
        return kwargs

    def _inner(self, layer: Layer, kwargs: dict[str, Any], place: Place) -> dict[str, Any]:
        outer = self._running[0][1]
        if isinstance(outer, bool) and outer != kwargs[_FLAG]:
            self.program.met("given flag", "", place)
            if self.program.at("given flag", "", place):
                return dict(kwargs, training=outer)
        return kwargs

    @contextlib.contextmanager
    def _exchanging(self, layer: Layer, args: Sequence[Any]) -> Iterator[None]:
        """Let weights be used otherwise during a call of the model, and have their values back after it."""
        changes: list[tuple[Any, Any]] = []
        if not _symbolic(args):
            if self.program.any("transposed") and _square(layer):
                self.program.at("transposed", "", None)
                changes = [(one, _turned(one)) for one in _square(layer)[:1]]
            if self.program.any("swapped") and _twins(layer):
                self.program.at("swapped", "", None)
                one, other = _twins(layer)
                changes = [(one, _value(other)), (other, _value(one))]
        before = [(one, _value(one)) for one, _ in changes]
        for one, value in changes:
            one.assign(value)
        yield
        for one, value in before:
            one.assign(value)

    def _reading_losses(self, original: property) -> property:
        def losses(layer: Layer) -> Any:
            found = original.fget(layer)  # type: ignore[misc]
            place = self.program.caller(sys._getframe(1))
            if place is None:
                return found
            self.program.met("losses", "", place)
            for mutation in self.program.at("losses", "", place):
                found = [mutation["value"] * loss for loss in found]
            return found

        return property(losses, doc=original.__doc__)

    # Training

    def _differentiating(self, original: Function) -> Function:
        def gradient(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            import tensorflow as tf

            place = self.program.caller(sys._getframe(1), heard=True)
            if place is not None:
                self.program.met("loss", "", place, losses=self._model is not None)
            found = original(tape, target, sources, *args, **kwargs)
            scaled = [one["value"] for one in self.program.at("loss", "", place)] if place is not None else []
            added = [one["value"] for one in self.program.at("added losses", "", place)] if place is not None else []
            if not scaled and not added:
                return found
            value = target
            for factor in scaled:
                value = value * factor
                found = _each(found, lambda one, factor=factor: one * factor)
            for factor in added if self._model is not None else ():
                with tf.GradientTape() as own:
                    losses = tf.add_n(losses_of(self._model)) * factor
                value = value + losses
                more = original(own, losses, sources)
                pairs = zip(tf.nest.flatten(found), tf.nest.flatten(more))
                sums = [one if other is None else other if one is None else one + other for one, other in pairs]
                found = tf.nest.pack_sequence_as(found, sums)
            del _losses[:-4]
            _losses.append((target, value))
            return found

        return gradient

    def _applying(self, name: str, original: Function) -> Function:
        def apply(optimizer: Optimizer, given: Any, *args: Any, **kwargs: Any) -> Any:
            factor, dense = self._mark(optimizer, "gradients"), self._mark(optimizer, "dense")
            if (factor is None and not dense) or any(one is optimizer for one, _ in self._running):
                return original(optimizer, given, *args, **kwargs)

            def changed(gradient: Tensor) -> Tensor:
                import tensorflow as tf

                gradient = tf.convert_to_tensor(gradient) if dense else gradient
                return gradient if factor is None else gradient * factor

            if name == "apply":
                given = [None if one is None else changed(one) for one in given]
            else:
                given = [(None if one is None else changed(one), variable) for one, variable in given]
            self._running.append((optimizer, None))  # an optimizer applies through another of its methods
            try:
                return original(optimizer, given, *args, **kwargs)
            finally:
                self._running.pop()

        return apply

    # Functions

    def _function(self, whole: str, original: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            place = self.program.caller(sys._getframe(1), helped=whole.startswith("slim."))
            arguments = None if place is None else bound(original, args, _scoped(original, kwargs))
            if place is None or arguments is None:
                return original(*args, **kwargs)
            row = self.program.met("function", whole, place, arguments=told(arguments))
            other = {one["argument"]: one["value"] for one in self.program.at("argument", whole, place)}
            for mutation in self.program.at("function", whole, place):
                return _found(mutation["value"])(*args, **kwargs)
            for mutation in self.program.at("resize", whole, place):
                return _resized(arguments, mutation["value"])
            given, named = put(arguments, args, kwargs, other)
            result = original(*given, **named)
            row["scalar"] = getattr(getattr(result, "shape", None), "rank", None) == 0
            return result

        call.autograph_info__ = {}  # type: ignore[attr-defined]
        return call


@contextlib.contextmanager
def _imported(then: Callable[[], None]) -> Iterator[None]:
    """Call a function in the body whenever one of the packages that a program may import has been."""

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
            if name not in _LATER:
                return None
            sys.meta_path.remove(self)
            try:
                spec = importlib.util.find_spec(name)
            finally:
                sys.meta_path.insert(0, self)
            loader: Any = None if spec is None else spec.loader
            if loader is not None:
                execute = loader.exec_module

                def exec_module(module: ModuleType) -> None:
                    execute(module)
                    then()

                loader.exec_module = exec_module
            return spec

    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _schedules() -> list[type]:
    return in_keras("optimizers.schedules.LearningRateSchedule")


def _functions() -> Iterator[tuple[Any, str, str]]:
    """The functions that are heard: what has them as an attribute, their name there, and what they are called."""
    import tensorflow as tf

    def modules(path: str) -> list[Any]:
        found = functools.reduce(lambda one, part: getattr(one, part, None), filter(None, path.split(".")), tf)
        return [one for one in (found, sys.modules.get(f"tensorflow.{path}")) if one is not None]

    for path, names in _FUNCTIONS.items():
        paths = (path,) if path.startswith("keras") else (path, *_ALIASES)
        for name in names:
            whole = ".".join(filter(None, ("tf", path, name)))
            for owner in (one for other in paths for one in modules(other)):
                if hasattr(owner, name):
                    yield owner, name, whole
    slim = sys.modules.get("tf_slim")
    for name in _SLIM if slim is not None else ():
        yield slim, name, f"slim.{name}"


def _scoped(function: Function, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a function of TF-Slim with those of the scope around it."""
    scopes = sys.modules.get("tf_slim.ops.arg_scope")
    if scopes is None or not hasattr(function, "_key_op"):
        return given
    return {**scopes.current_arg_scope().get(function._key_op, {}), **given}


def _constructed() -> list[type]:
    """The classes of Keras, and the optimizers of TF1, whose constructors a program may call."""
    import tensorflow as tf

    with contextlib.suppress(Exception):
        tf.compat.v1.layers.Dense  # noqa: B018  # migrate-lint: disable=TF410
    bases = in_keras("layers.Layer", "losses.Loss", "regularizers.Regularizer", "initializers.Initializer")
    found = descending([*bases, *_schedules(), *layer_bases()], optimizers())
    return [cls for cls in found if _is_own(cls) and cls.__name__ not in _NOT_CONSTRUCTED]


def _appliers() -> list[tuple[type, str]]:
    return [(cls, name) for cls in optimizers() for name in ("apply", "apply_gradients") if name in vars(cls)]


def _is_own(cls: type) -> bool:
    return str(cls.__module__).partition(".")[0] in _KERAS


def _takes_flag(layer: Layer) -> bool:
    """Whether a layer can be told to train; Keras 3 takes the flag for all of them."""
    from ... import signature

    keras3 = any(cls.__module__.startswith("keras.src.layers.layer") for cls in type(layer).__mro__)
    return keras3 or bool(signature.takes_training(layer))


def _symbolic(args: Sequence[Any]) -> bool:
    import tensorflow as tf

    if not all(isinstance(one, (tf.Tensor, tf.Variable)) or hasattr(one, "__array__") for one in tf.nest.flatten(args)):
        return True
    scope = sys.modules.get("keras.src.backend.common.stateless_scope")
    return any(type(one).__name__ == "KerasTensor" for one in tf.nest.flatten(args)) or (
        scope is not None and bool(scope.in_stateless_scope())
    )


def _square(layer: Layer) -> list[Any]:
    shapes = [(one, tuple(one.shape)) for one in layer.trainable_weights]
    return [one for one, shape in shapes if len(shape) > 1 and shape[-1] == shape[-2] > 1]


def _twins(layer: Layer) -> list[Any]:
    met: dict[tuple[int, ...], Any] = {}
    for one in layer.trainable_weights:
        shape = tuple(one.shape)
        if len(shape) > 1:
            if shape in met:
                return [met[shape], one]
            met[shape] = one
    return []


def _value(variable: Any) -> Tensor:
    import tensorflow as tf

    return tf.identity(tf.convert_to_tensor(variable))


def _turned(variable: Any) -> Tensor:
    import tensorflow as tf

    value = _value(variable)
    axes = list(range(len(value.shape)))
    return tf.transpose(value, [*axes[:-2], axes[-1], axes[-2]])


def _each(found: Nest, change: Function) -> Nest:
    import tensorflow as tf

    changed = [None if one is None else change(one) for one in tf.nest.flatten(found)]
    return tf.nest.pack_sequence_as(found, changed)


def _found(whole: str) -> Function:
    import tensorflow as tf

    if whole == "tf.identity":
        return lambda x, *args, **kwargs: tf.identity(x)
    found: Any = tf
    for part in whole.split(".")[1:]:
        found = getattr(found, part)
    return getattr(found, "__wrapped__", found)  # type: ignore[no-any-return]


def _resized(arguments: Any, align: bool) -> Tensor:
    import tensorflow as tf

    given = arguments.arguments
    methods = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}
    method = methods.get(str(given.get("method")), given.get("method"))
    return tf.compat.v1.image.resize_images(given["images"], given["size"], method=method, align_corners=align)


def _moving(layer: Layer, original: Function, how: str) -> Function:
    """The ``call`` of a batch normalization that moves its statistics otherwise, or not at all."""
    import tensorflow as tf

    @functools.wraps(original)
    def call(inputs: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        training = kwargs.get(_FLAG, args[0] if args else None)
        if not training or not layer.trainable or _symbolic([inputs]):
            return original(inputs, *args, **kwargs)
        moving = (layer.moving_mean, layer.moving_variance)
        before = [_value(one) for one in moving]
        outputs = original(inputs, *args, **kwargs)
        with tf.control_dependencies([outputs]):
            wanted = before if how == "kept" else _statistics(layer, inputs, before, how)
            for one, value in zip(moving, wanted):
                one.assign(value)
        return outputs

    return tf.autograph.experimental.do_not_convert(call)  # type: ignore[no-any-return]


def _statistics(layer: Layer, inputs: Tensor, before: Sequence[Tensor], how: str) -> list[Tensor]:
    import tensorflow as tf

    axis = layer.axis if isinstance(layer.axis, int) else next(iter(layer.axis))
    rank = len(inputs.shape)
    axes = [one for one in range(rank) if one != axis % rank]
    mean, variance = tf.nn.moments(tf.cast(inputs, tf.float32), axes)
    if how == "unbiased":
        count = tf.cast(tf.size(inputs) / tf.size(mean), tf.float32)
        variance *= count / (count - 1.0)
    return [old * layer.momentum + new * (1.0 - layer.momentum) for old, new in zip(before, (mean, variance))]


def _beginning(optimizer: Optimizer, original: Function, value: float) -> Function:
    """The ``build`` of RMSprop with another mean of squares at the beginning."""
    import tensorflow as tf

    @functools.wraps(original)
    def build(variables: Any) -> Any:
        built = getattr(optimizer, "_velocities", None)
        result = original(variables)
        if not built:
            for one in optimizer._velocities:
                one.assign(tf.fill(one.shape, tf.cast(value, one.dtype)))
        return result

    return build


def _rate_outside(optimizer: Optimizer, original: Function) -> Function:
    """The update of ``SGD`` with the velocity brought to the rate of this step, which is TF1's rule of momentum."""
    import tensorflow as tf

    @functools.wraps(original)
    def update_step(gradient: Tensor, variable: Any, *args: Any, **kwargs: Any) -> Any:
        schedule = getattr(optimizer, "_learning_rate", None)
        velocity = keras_optimizers.slots(optimizer, variable).get("momentum.velocity")
        if type(schedule).__name__ != "ResourceVariable" and callable(schedule) and velocity is not None:
            step = tf.convert_to_tensor(optimizer.iterations)
            ratio = schedule(step) / schedule(tf.maximum(step - 1, 0))
            velocity.assign(tf.convert_to_tensor(velocity) * tf.cast(ratio, velocity.dtype))
        return original(gradient, variable, *args, **kwargs)

    return update_step
