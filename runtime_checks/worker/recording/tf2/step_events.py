"""What happens inside a training step, whoever wrote it: the loss, the gradients, and the call of the model."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

from ...frames import UserCode, place_of
from ...patching import definer, replaced, wrapped
from ..format.rows import Place
from ..tensors import Function, Nest, Optimizer, Tensor, Variable
from ..watching import averages, keras_optimizers
from .listening import Listening
from .model import Forward, Model, converted

__all__ = ["Applied", "Seen", "heard_function", "watching"]


class Applied(NamedTuple):
    """One update: gradients as the optimizer applies them, and its learning rate, both as tensors.

    ``squares`` has for each pair what the squares of its slices add up to, eagerly and where these repeat a row;
    ``sliced`` whether there are slices.
    """

    optimizer: Optimizer
    pairs: Sequence[tuple[Tensor, Variable]]
    learning_rate: Tensor
    place: Place | None
    squares: Sequence[Tensor]
    sliced: Sequence[bool]


class Seen:
    """What was seen in one step; inside ``tf.function`` tensors of its graph.

    Attributes:
        losses: what gradients with respect to variables were taken of, with the place; before it was scaled.
        scaled: the losses that an optimizer scaled: what came of each, and what it was.
        applied: the updates.
        forward: of the first call of the model, or None.
        place: of that call.
        called: to be told what a model returned that cannot be watched from outside.
        averages: the moving averages that were updated.
        distributed: whether a strategy was run.
    """

    def __init__(self) -> None:
        self.losses: list[tuple[Tensor, Place | None]] = []
        self.scaled: list[tuple[Tensor, Tensor]] = []
        self.applied: list[Applied] = []
        self.forward: Forward | None = None
        self.place: Place | None = None
        self.called: Callable[[Nest], None] = lambda value: None
        self.averages: list[averages.Average] = []
        self.distributed = False


@contextlib.contextmanager
def watching(
    model: Model, listening: Listening, code: UserCode, current: Callable[[], Seen] | None = None
) -> Iterator[Seen]:
    """See what a training step does in the body.

    Args:
        model: the model.
        listening: what hears its layers.
        code: tells the user's lines from all others.
        current: what is seen belongs to what this gives, such as a replica; by default all of it is given back.
    """
    seen = Seen()
    current = current or (lambda: seen)

    def applied(optimizer: Optimizer, pairs: Sequence[tuple[Tensor, Variable]], rate: Tensor) -> None:
        import tensorflow as tf

        listening.updating()
        given = [(tf.convert_to_tensor(_local(gradient)), variable) for gradient, variable in pairs]
        told = None if rate is None else tf.convert_to_tensor(rate)
        squares = [_squares(_local(gradient), variable) for gradient, variable in pairs]
        sliced = [isinstance(_local(gradient), tf.IndexedSlices) for gradient, _ in pairs]
        current().applied.append(Applied(optimizer, given, told, place_of(code.stack()), squares, sliced))

    def called(value: Nest) -> None:
        here = current()
        if here.forward is None:
            here.forward = model.told(value)
            here.place = place_of(code.stack())

    def averaged(average: averages.Average) -> None:
        current().averages.append(average)

    _leave_alone(called)
    seen.called = called
    with contextlib.ExitStack() as stack:
        stack.enter_context(keras_optimizers.watching(applied))
        stack.enter_context(keras_optimizers.scaling(lambda scaled, loss: current().scaled.append((scaled, loss))))
        stack.enter_context(averages.watching(averaged))
        stack.enter_context(_gradients(current, code))
        stack.enter_context(_calls(model, listening, called))
        stack.enter_context(_strategies(current))
        yield seen


def _squares(gradient: Tensor, variable: Variable) -> Tensor:
    """The sum of the squares of a gradient's slices, of the shape of the variable; None where no row comes twice."""
    import tensorflow as tf

    if not isinstance(gradient, tf.IndexedSlices) or not hasattr(gradient.indices, "numpy"):
        return None
    rows = gradient.indices.numpy().reshape(-1)
    if len(np.unique(rows)) == rows.size:
        return None
    whole = np.zeros(variable.shape, np.float32)
    np.add.at(whole, rows, np.square(np.asarray(gradient.values, np.float32)).reshape(rows.size, *whole.shape[1:]))
    return tf.constant(whole)


def _local(value: Tensor) -> Tensor:
    """The value of the first replica here, of one that an optimizer has in the context of all replicas."""
    import tensorflow as tf

    return value.values[0] if isinstance(value, tf.distribute.DistributedValues) else value


@contextlib.contextmanager
def _gradients(current: Callable[[], Seen], code: UserCode) -> Iterator[None]:
    """Hear of the targets of ``GradientTape.gradient``."""
    import tensorflow as tf

    def telling(original: Function) -> Function:
        def gradient(self: object, target: Nest, sources: Nest, *args: object, **kwargs: object) -> Nest:
            found = original(self, target, sources, *args, **kwargs)
            if any(hasattr(source, "assign") for source in tf.nest.flatten(sources)):
                loss = _scalar(target)
                if loss is not None:
                    seen = current()
                    loss = next((plain for scaled, plain in seen.scaled if scaled is loss), loss)
                    seen.losses.append((loss, place_of(code.stack())))
            return found

        return gradient

    with wrapped(tf.GradientTape, "gradient", telling):
        yield


@contextlib.contextmanager
def _strategies(current: Callable[[], Seen]) -> Iterator[None]:
    """Hear whether a strategy runs something on its replicas."""
    import tensorflow as tf

    def telling(original: Function) -> Function:
        def run(self: object, *args: object, **kwargs: object) -> Nest:
            current().distributed = True
            return original(self, *args, **kwargs)

        return run

    with wrapped(definer(tf.distribute.Strategy, "run"), "run", telling):
        yield


def _scalar(target: Nest) -> Tensor:
    """What is minimized: the sum of everything in the target."""
    import tensorflow as tf

    parts = [tf.convert_to_tensor(part) for part in tf.nest.flatten(target) if part is not None]
    if not parts:
        return None
    if len(parts) == 1 and parts[0].shape.rank == 0:
        return parts[0]
    return tf.add_n([tf.reduce_sum(part) for part in parts])


@contextlib.contextmanager
def _calls(model: Model, listening: Listening, called: Callable[[Nest], None]) -> Iterator[None]:
    """Hear of the calls of the model: a layer is heard anyway, the ``__call__`` of another class is replaced."""
    cls = type(model.value)
    if model.is_layer:
        listening.called = called
        try:
            yield
        finally:
            listening.called = None
        return
    original = vars(cls).get("__call__")
    if original is None or model.is_function:
        yield
        return

    def call(self: Function, *args: object, **kwargs: object) -> Nest:
        value = original.__get__(self, cls)(*args, **kwargs)
        if self is model.value:
            called(value)
        return value

    with replaced(cls, "__call__", call):
        yield


def _leave_alone(function: Any) -> None:
    """Keep AutoGraph away from a function, as from those that it has made."""
    function.autograph_info__ = {}


def heard_function(function: Function, called: Callable[[Nest], None]) -> Function:
    """A plain function that tells what it returned."""

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> Nest:
        value = converted(function, *args, **kwargs)
        called(value)
        return value

    _leave_alone(call)
    return call
