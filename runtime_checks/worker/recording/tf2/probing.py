"""What a TF2 model would do in steps that are not run: its learning rates later, and gradients that are too large."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from ...errors import essence
from ...patching import replaced, wrapped
from ..format.rows import RateRow
from ..tensors import Array, Function, Nest, Optimizer, Tensor, Variable
from ..values import schedules
from ..watching import clipping, keras_optimizers
from .listening import array

__all__ = ["Assignments", "given_gradients", "rate"]

_ASSIGNING = ("assign", "assign_add", "assign_sub")


class Assignments:
    """Hears whether a program sets the learning rate of an optimizer between steps."""

    def __init__(self) -> None:
        self._heard: set[int] = set()
        self._watched: list[Variable] = []
        self._open = contextlib.ExitStack()

    def watch(self, optimizer: Optimizer) -> None:
        """Hear of it from now on."""
        variable = _held(optimizer)
        if not hasattr(variable, "assign") or any(variable is one for one in self._watched):
            return
        self._watched.append(variable)
        for name in _ASSIGNING:
            with contextlib.suppress(AttributeError):
                self._open.enter_context(replaced(variable, name, self._telling(variable, getattr(variable, name))))

    def of(self, optimizer: Optimizer) -> bool:
        """Whether it was set."""
        return id(_held(optimizer)) in self._heard

    def close(self) -> None:
        """Stop hearing."""
        self._open.close()

    def _telling(self, variable: Variable, original: Function) -> Function:
        def assign(*args: object, **kwargs: object) -> object:
            self._heard.add(id(variable))
            return original(*args, **kwargs)

        return assign


def rate(name: str, optimizer: Optimizer, run: int, set_by_program: bool, more: Sequence[int]) -> RateRow:
    """The learning rate of an optimizer at steps that are not run.

    Args:
        name: of the record that has it in the steps that are run.
        optimizer: after so many steps.
        run: the number of steps.
        set_by_program: whether the program sets it in the steps themselves.
        more: steps to look at besides.
    """
    if set_by_program:
        return schedules.unknown(name, "the program sets it in each step")
    iterations = _iterations(optimizer)
    held = _held(optimizer)
    if iterations is None or (held is not None and not callable(held)) or hasattr(held, "assign"):
        return _constant(name, optimizer, iterations, run)
    advance = int(array(iterations)) / run
    if advance != int(advance) or advance < 1:
        return schedules.unknown(name, f"the optimizer counts {int(array(iterations))} in {run} steps")
    try:
        if _is_schedule(held):
            dtype = np.dtype(array(iterations).dtype)
            found = schedules.sampled(name, lambda step: _number(held(_tensor(dtype.type(step * int(advance))))), more)
        else:
            with _counting(iterations) as count:
                found = schedules.sampled(
                    name, lambda step: count(step * int(advance), lambda: _number(_computed(optimizer))), more
                )
    except Exception as error:
        return schedules.unknown(name, f"it cannot be had for another step: {essence(error)}")
    if not _is_schedule(held) and callable(held) and len(set(found["values"])) == 1:
        return schedules.unknown(name, "it is a function that is not told the step")
    return found


def _constant(name: str, optimizer: Optimizer, iterations: Variable, run: int) -> RateRow:
    value = keras_optimizers.learning_rate(optimizer)
    if value is None:
        return schedules.unknown(name, "the optimizer does not say what it is")
    if not keras_optimizers.is_keras(optimizer) and not isinstance(value, (int, float)):
        return schedules.unknown(name, "it is a function that is not told the step")
    return schedules.constant(name, _number(value))


def _held(optimizer: Optimizer) -> Any:
    """What an optimizer of Keras keeps as its learning rate: a schedule, a function, a variable or a number."""
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    hyper = vars(optimizer).get("_hyper")
    if isinstance(hyper, dict):
        held = hyper.get("learning_rate")
        return _Decaying() if getattr(optimizer, "_initial_decay", 0.0) else held
    return vars(optimizer).get("_learning_rate")


class _Decaying:
    """Stands for what a legacy optimizer with ``decay`` keeps: it computes the rate from its own count of steps."""

    def __call__(self) -> None:
        return None


def _is_schedule(held: object) -> bool:
    return any(cls.__name__ == "LearningRateSchedule" for cls in type(held).__mro__)


def _iterations(optimizer: Optimizer) -> Variable | None:
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    for name in ("_iterations", "iterations"):
        found = getattr(optimizer, name, None)
        if hasattr(found, "assign"):
            return found
    return None


def _computed(optimizer: Optimizer) -> Tensor:
    """The rate of the step that an optimizer's count says."""
    decayed = getattr(optimizer, "_decayed_lr", None)
    if decayed is not None:
        import tensorflow as tf

        return decayed(tf.float32)
    return _held(optimizer)()


@contextlib.contextmanager
def _counting(iterations: Variable) -> Iterator[Callable[[int, Callable[[], float]], float]]:
    """Gives what computes something at another count of steps; the count is put back afterwards."""
    before = array(iterations)

    def count(step: int, compute: Callable[[], float]) -> float:
        iterations.assign(before.dtype.type(step))
        return compute()

    try:
        yield count
    finally:
        iterations.assign(before)


def _tensor(value: object) -> Tensor:
    import tensorflow as tf

    return tf.constant(value)


def _number(value: Tensor) -> float:
    return float(array(value() if callable(value) and not hasattr(value, "numpy") else value))


@contextlib.contextmanager
def given_gradients(
    name: Callable[[Variable], str], scale: float
) -> Iterator[tuple[Mapping[str, Array], Mapping[str, Tensor], dict[int, dict[str, Tensor]]]]:
    """In the body a tape gives patterns of a global norm for gradients, and no optimizer makes an update.

    Yields:
        The patterns by the name of a weight, the tensors of them, and by optimizer what it was given for each weight.
    """
    import tensorflow as tf

    given: dict[str, Array] = {}
    tensors: dict[str, Tensor] = {}
    got: dict[int, dict[str, Tensor]] = {}

    def telling(original: Function) -> Function:
        def gradient(self: object, target: Nest, sources: Nest, *args: object, **kwargs: object) -> Nest:
            leaves = tf.nest.flatten(sources)
            if not leaves or not all(hasattr(source, "assign") for source in leaves):
                return original(self, target, sources, *args, **kwargs)
            made = clipping.patterns({name(source): tuple(source.shape) for source in leaves})
            given.update(made)
            found = [tf.constant(scale * made[name(source)], source.dtype) for source in leaves]
            tensors.update((name(source), one) for source, one in zip(leaves, found))
            return tf.nest.pack_sequence_as(sources, found)

        return gradient

    def heard(optimizer: Optimizer, pairs: Sequence[tuple[Tensor, Variable]], rate: Tensor) -> None:
        got.setdefault(id(optimizer), {}).update({name(variable): one for one, variable in pairs})

    with wrapped(tf.GradientTape, "gradient", telling), keras_optimizers.watching(heard, update=False):
        yield given, tensors, got
