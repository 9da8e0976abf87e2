"""Optimizers at work outside TF1 graphs: what they apply, with which rate, and what they keep.

Those of Keras 3, both kinds of Keras 2 (``tf.keras.optimizers`` and its ``legacy``), and those of
``tf.compat.v1.train`` where they are used eagerly.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from typing import Callable, Iterator, Mapping, Sequence, Tuple

import numpy as np

from ...patching import wrapped
from ..format.rows import OptimizerRow
from ..tensors import Function, Nest, Optimizer, Tensor, Variable
from . import averages, v1_optimizers
from .classes import derived, optimizers, rule_of

__all__ = ["describe", "given", "is_keras", "learning_rate", "scaling", "slots", "sums_later", "watching"]

Heard = Callable[[Optimizer, Sequence[Tuple[Tensor, Variable]], Tensor], object]
"""Gets the optimizer, the pairs of gradient and variable as they are applied, and the learning rate of the step."""

_LISTS = {
    "Adam": {"_momentums": "adam.m", "_velocities": "adam.v", "_velocity_hats": "adam.vhat"},
    "AdamW": {"_momentums": "adam.m", "_velocities": "adam.v", "_velocity_hats": "adam.vhat"},
    "SGD": {"momentums": "momentum.velocity"},
    "RMSprop": {
        "_velocities": "rmsprop.rms",
        "_momentums": "rmsprop.momentum",
        "_average_gradients": "rmsprop.mean_gradient",
    },
    "Adagrad": {"_accumulators": "adagrad.accumulator"},
    "Adadelta": {"_accumulated_grads": "adadelta.accumulator", "_accumulated_delta_vars": "adadelta.update"},
    "Ftrl": {"_accumulators": "ftrl.accumulator", "_linears": "ftrl.linear"},
}
"""Attributes that hold one variable for each weight."""
_LEGACY = {
    "Adam": {"m": "adam.m", "v": "adam.v", "vhat": "adam.vhat"},
    "SGD": {"momentum": "momentum.velocity"},
    "RMSprop": {"rms": "rmsprop.rms", "momentum": "rmsprop.momentum", "mg": "rmsprop.mean_gradient"},
    "Adagrad": {"accumulator": "adagrad.accumulator"},
    "Adadelta": {"accum_grad": "adadelta.accumulator", "accum_var": "adadelta.update"},
    "Ftrl": {"accumulator": "ftrl.accumulator", "linear": "ftrl.linear"},
}
_HYPERPARAMETERS = (
    "epsilon", "beta_1", "beta_2", "momentum", "nesterov", "rho", "centered", "amsgrad", "initial_accumulator_value",
    "clipnorm", "global_clipnorm", "clipvalue", "weight_decay", "l1_regularization_strength",
    "l2_regularization_strength", "learning_rate_power", "use_ema", "ema_momentum",
    "ema_overwrite_frequency", "gradient_accumulation_steps"
)
_SHORTER = {
    "initial_accumulator_value": "initial_accumulator",
    "l1_regularization_strength": "l1",
    "l2_regularization_strength": "l2",
}


@contextlib.contextmanager
def watching(heard: Heard, update: bool = True) -> Iterator[None]:
    """Tell of every update in the body, before it is made: gradients after the optimizer's own clipping.

    Where `update` is false it is told of, and not made.

    An optimizer that hands its gradients on to another one is told of through the other, with what that one gets.
    Inside ``tf.function`` the gradients and the rate are tensors of its graph.
    """
    running = threading.local()  # each replica of a strategy has a thread of its own
    with contextlib.ExitStack() as stack:
        for cls, name, unpack in _appliers():
            stack.enter_context(wrapped(cls, name, functools.partial(_telling, unpack, running, heard, update)))
        yield


@contextlib.contextmanager
def scaling(heard: Callable[[Tensor, Tensor], object]) -> Iterator[None]:
    """Tell of every loss that an optimizer scales in the body: what comes of it, and what it was."""

    def telling(original: Function) -> Function:
        def scale(self: Optimizer, loss: Nest) -> Nest:
            if not callable(loss):
                scaled = original(self, loss)
                heard(scaled, loss)
                return scaled
            given: list[Tensor] = []

            def later() -> Tensor:
                given.append(loss())
                return given[-1]

            function = original(self, later)

            def call() -> Tensor:
                scaled = function()
                heard(scaled, given[-1])
                return scaled

            return call

        return scale

    with contextlib.ExitStack() as stack:
        for cls in optimizers():
            for name in {"scale_loss", "get_scaled_loss"} & set(vars(cls)):
                stack.enter_context(wrapped(cls, name, telling))
        yield


Updates = Tuple[Sequence[Tuple[Tensor, Variable]], Tensor]
"""Pairs of gradient and variable, and the learning rate."""
Unpack = Callable[[Optimizer, "_Arguments"], Updates]


def _appliers() -> list[tuple[type, str, Unpack]]:
    """The methods that make the update, with what reads pairs and learning rate from their arguments."""
    import tensorflow as tf

    found: list[tuple[type, str, Unpack]] = []
    keras: list[Callable[[], type]] = [
        lambda: tf.keras.optimizers.Optimizer,
        lambda: sys.modules["keras"].optimizers.Optimizer,
        lambda: sys.modules["tf_keras"].optimizers.Optimizer,
    ]
    legacy: list[Callable[[], type]] = [  # with Keras 3 a class that only raises
        lambda: tf.keras.optimizers.legacy.Optimizer,
        lambda: sys.modules["tf_keras"].optimizers.legacy.Optimizer,
    ]
    for cls in derived(keras):
        if "_backend_update_step" in vars(cls):
            found.append((cls, "_backend_update_step", _of_keras3))
        if "_internal_apply_gradients" in vars(cls):
            found.append((cls, "_internal_apply_gradients", _of_pairs))
    for cls in derived(legacy):
        if "_distributed_apply" in vars(cls):
            found.append((cls, "_distributed_apply", _of_distributed))
    for cls in derived([lambda: tf.compat.v1.train.Optimizer]):
        if "apply_gradients" in vars(cls):
            found.append((cls, "apply_gradients", _of_pairs))
    return found


def given(optimizer: Optimizer) -> Sequence[Variable] | None:
    """The weights that an optimizer of Keras 3 was given, with and without gradients; None where that is not known."""
    held = getattr(optimizer, "_trainable_variables", None)
    return held if isinstance(held, list) and held and hasattr(optimizer, "_backend_update_step") else None


def _telling(unpack: Unpack, running: threading.local, heard: Heard, update: bool, original: Function) -> Function:
    def apply(self: Optimizer, *args: Nest, **kwargs: Nest) -> Nest:
        if getattr(running, "here", False):
            return original(self, *args, **kwargs)
        arguments = _Arguments(args, kwargs)
        pairs, rate = unpack(self, arguments)
        heard(self, [(gradient, variable) for gradient, variable in pairs if gradient is not None], rate)
        if not update:
            return None
        running.here = True
        try:
            return original(self, *arguments.args, **arguments.kwargs)
        finally:
            running.here = False

    return apply


class _Arguments:
    """The arguments of a call; an iterator among them can be read once, so it is replaced by what it gave."""

    def __init__(self, args: Sequence[Nest], kwargs: Mapping[str, Nest]) -> None:
        self.args = list(args)
        self.kwargs = dict(kwargs)

    def pairs(self, at: int, name: str) -> list[tuple[Tensor, Variable]]:
        """The argument at that position or of that name as a list of pairs."""
        if name in self.kwargs:
            found = self.kwargs[name] = [(gradient, variable) for gradient, variable in self.kwargs[name]]
        else:
            found = self.args[at] = [(gradient, variable) for gradient, variable in self.args[at]]
        return found

    def values(self, at: int, name: str) -> Nest:
        """The argument at that position or of that name."""
        return self.kwargs[name] if name in self.kwargs else self.args[at]


def _of_keras3(optimizer: Optimizer, arguments: _Arguments) -> Updates:
    gradients, variables = arguments.values(0, "grads"), arguments.values(1, "trainable_variables")
    return list(zip(gradients, variables)), arguments.values(2, "learning_rate")


def _of_pairs(optimizer: Optimizer, arguments: _Arguments) -> Updates:
    return arguments.pairs(0, "grads_and_vars"), learning_rate(optimizer)


def _of_distributed(optimizer: Optimizer, arguments: _Arguments) -> Updates:
    return arguments.pairs(1, "grads_and_vars"), learning_rate(optimizer)


def sums_later(optimizer: Optimizer) -> bool:
    """Whether it sums over replicas what `watching` tells of; one of Keras 2 has done so by then, if it does at all."""
    return not is_keras(optimizer) or hasattr(type(optimizer), "_backend_update_step")


def is_keras(optimizer: Optimizer) -> bool:
    """Whether an optimizer is one of Keras, and not of ``tf.compat.v1.train``."""
    return any(cls.__module__.partition(".")[0] in ("keras", "tf_keras") for cls in type(optimizer).__mro__)


def learning_rate(optimizer: Optimizer) -> Tensor:
    """The rate of the step that comes next: a number, tensor or variable; None where it is not known."""
    if not is_keras(optimizer):
        return _given_rate(optimizer)
    decayed = getattr(optimizer, "_decayed_lr", None)
    if decayed is not None:
        import tensorflow as tf

        return decayed(tf.float32)
    rate = getattr(optimizer, "learning_rate", None)
    return rate(optimizer.iterations) if type(rate).__name__ != "ResourceVariable" and callable(rate) else rate


def _given_rate(optimizer: Optimizer) -> Tensor:
    """What an optimizer of TF1 was made with: the tensor that it keeps may belong to an earlier trace."""
    for name in ("_lr", "_learning_rate"):
        value = getattr(optimizer, name, None)
        if value is not None:
            return value() if callable(value) else value
    return v1_optimizers.learning_rate(optimizer)


def describe(optimizer: Optimizer) -> OptimizerRow:
    """Class, name and hyperparameters of an optimizer, by the names that Keras 3 uses, but ``initial_accumulator``.

    ``learning_rate`` is a number, or the name of the class of a schedule.
    """
    if not is_keras(optimizer):
        return dict(v1_optimizers.describe(optimizer), learning_rate=_rate(_given_rate(optimizer)))
    try:
        config = dict(optimizer.get_config())
    except Exception:
        config = {}
    described: OptimizerRow = {
        "class": type(optimizer).__name__, "name": _name(optimizer), "rule": rule_of(optimizer)
    }
    for key in _HYPERPARAMETERS:
        value = _number(config.get(key, getattr(optimizer, key, None) if key.startswith("clip") else None))
        if value is not None:
            described[_SHORTER.get(key, key)] = value
    described["learning_rate"] = _rate(config.get("learning_rate", getattr(optimizer, "learning_rate", None)))
    return described


def _name(optimizer: Optimizer) -> str:
    return str(getattr(optimizer, "name", None) or getattr(optimizer, "_name", "") or type(optimizer).__name__)


def _rate(value: Tensor) -> str | float | None:
    if isinstance(value, dict) and "class_name" in value:
        return str(value["class_name"])
    number = _number(value)
    if number is not None:
        return number
    return None if value is None else str(getattr(value, "name", None) or type(value).__name__)


def _number(value: Tensor) -> float | None:
    """A Python number or bool of a scalar; else None. Of a float32 it is the shortest number that is rounded to it."""
    if value is None or isinstance(value, (bool, int)):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    rounded = np.float32(number)
    return float(str(rounded)) if float(rounded) == number else number


def slots(optimizer: Optimizer, variable: Variable) -> dict[str, Variable]:
    """The variables that an optimizer keeps for a weight, by canonical name; empty before the first update.

    A slot that has no canonical name gets its own after the name of the class.
    """
    if not is_keras(optimizer):
        return v1_optimizers.slots(optimizer, variable)
    if hasattr(optimizer, "get_slot_names"):
        return _legacy_slots(optimizer, variable)
    at = _index(optimizer, variable)
    if at is None:
        return {}
    kind = _kind(optimizer, _LISTS)
    known = _LISTS.get(kind, {})
    if kind == "SGD" and _number(getattr(optimizer, "momentum", None)) == 0:
        known = {"momentums": ""}  # Keras 2 makes the slots of plain gradient descent too, and leaves them at zero
    found: dict[str, Variable] = {}
    for attribute, held in vars(optimizer).items():
        canonical = known.get(attribute)
        if attribute in ("_model_variables_moving_average", "_model_variables_moving_averages"):
            canonical = averages.SLOT
        if canonical and isinstance(held, (list, tuple)) and at < len(held) and held[at] is not None:
            found[canonical] = held[at]
    if not known:
        found.update(_others(optimizer, at, found))
    return found


def _legacy_slots(optimizer: Optimizer, variable: Variable) -> dict[str, Variable]:
    known = _LEGACY.get(_kind(optimizer, _LEGACY), {})
    found: dict[str, Variable] = {}
    for name in optimizer.get_slot_names():
        with contextlib.suppress(KeyError):
            slot = optimizer.get_slot(variable, name)
            if slot is not None:
                found[known.get(name, f"{type(optimizer).__name__.lower()}.{name}")] = slot
    return found


def _others(optimizer: Optimizer, at: int, found: dict[str, Variable]) -> dict[str, Variable]:
    """The slots of an optimizer that is not known: lists of variables, one for each weight."""
    count = len(getattr(optimizer, "_trainable_variables", ()) or getattr(optimizer, "_index_dict", ()))
    others: dict[str, Variable] = {}
    for attribute, held in vars(optimizer).items():
        if attribute in ("_trainable_variables", "_variables") or not isinstance(held, (list, tuple)):
            continue
        if len(held) == count and all(hasattr(one, "assign") for one in held):
            others[f"{type(optimizer).__name__.lower()}.{attribute.strip('_')}"] = held[at]
    return {name: slot for name, slot in others.items() if all(slot is not one for one in found.values())}


def _kind(optimizer: Optimizer, known: Mapping[str, object]) -> str:
    return next((cls.__name__ for cls in type(optimizer).__mro__ if cls.__name__ in known), "")


def _index(optimizer: Optimizer, variable: Variable) -> int | None:
    """The position of a weight in the lists of slots."""
    if not getattr(optimizer, "built", True) and not getattr(optimizer, "_built", False):
        return None
    finders: list[Callable[[], int]] = [
        lambda: optimizer._get_variable_index(variable),
        lambda: optimizer._index_dict[optimizer._var_key(variable)],
    ]
    for find in finders:
        with contextlib.suppress(AttributeError, KeyError, ValueError):
            return int(find())
    return None
