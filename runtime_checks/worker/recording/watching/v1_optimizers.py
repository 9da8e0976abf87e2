"""Optimizers of ``tf.compat.v1.train`` at work in a graph: what they apply, with which rate, and what they keep."""

from __future__ import annotations

import contextlib
import functools
from typing import Callable, Iterable, Iterator, NamedTuple, Sequence

import numpy as np

from ...patching import wrapped
from ..format.rows import OptimizerRow
from ..tensors import Function, Operation, Optimizer, Tensor, Variable
from .classes import derived, rule_of
from .operations import constant_of

__all__ = ["Applied", "describe", "learning_rate", "rounding", "rounding_of", "slots", "watching"]

_RATES = ("_lr_t", "_learning_rate_tensor", "_lr", "_learning_rate", "learning_rate")
_SLOTS = {
    "Adam": {"m": "adam.m", "v": "adam.v"},
    "Momentum": {"momentum": "momentum.accumulator"},
    "RMSProp": {"rms": "rmsprop.rms", "momentum": "rmsprop.momentum", "mg": "rmsprop.mean_gradient"},
    "Adagrad": {"accumulator": "adagrad.accumulator"},
    "Adadelta": {"accum": "adadelta.accumulator", "accum_update": "adadelta.update"},
    "Ftrl": {"accum": "ftrl.accumulator", "linear": "ftrl.linear"},
}
_ENDINGS = {"adam_m": "adam.m", "adam_v": "adam.v"}
"""What optimizers written after BERT's call their variables, below the name of the weight."""
_HYPERPARAMETERS = {
    "epsilon": ("_epsilon", "epsilon"),
    "beta_1": ("_beta1", "beta_1"),
    "beta_2": ("_beta2", "beta_2"),
    "momentum": ("_momentum",),
    "nesterov": ("_use_nesterov",),
    "rho": ("_rho", "_decay"),
    "centered": ("_centered",),
    "initial_accumulator": ("_initial_accumulator_value",),
    "weight_decay": ("_weight_decay", "weight_decay_rate"),
    "l1": ("_l1_regularization_strength",),
    "l2": ("_l2_regularization_strength",),
    "learning_rate_power": ("_learning_rate_power",),
}


class Applied(NamedTuple):
    """One call of ``apply_gradients`` while a graph was built."""

    optimizer: Optimizer
    grads_and_vars: Sequence[tuple[Tensor, Variable]]
    """Without the pairs that have no gradient."""
    learning_rate: Tensor
    """A tensor of the graph or a number; None where the optimizer keeps it under no known name."""
    created: Sequence[Variable]
    """The global variables that came into being in the call."""
    step: Variable | None = None
    """What counts the updates: the variable that was given as ``global_step``."""
    given: Sequence[Variable] = ()
    """All variables of the call, also those without a gradient."""


@contextlib.contextmanager
def watching(heard: Callable[[Applied], None]) -> Iterator[None]:
    """Tell of every ``apply_gradients`` in the body; of an optimizer that hands its gradients on, only the last one."""
    running: list[list[bool]] = []
    with contextlib.ExitStack() as stack:
        for cls in _appliers():
            stack.enter_context(wrapped(cls, "apply_gradients", functools.partial(_telling, running, heard)))
        yield


def _appliers() -> list[type]:
    """The classes of optimizers with an ``apply_gradients`` of their own."""
    import tensorflow as tf

    return [cls for cls in derived([lambda: tf.compat.v1.train.Optimizer]) if "apply_gradients" in vars(cls)]


def _telling(running: list[list[bool]], heard: Callable[[Applied], None], original: Function) -> Function:
    def apply_gradients(
        self: Optimizer, grads_and_vars: Iterable[Sequence[Tensor]], *args: object, **kwargs: object
    ) -> Operation:
        pairs = [tuple(pair) for pair in grads_and_vars]
        before = {id(variable) for variable in _global_variables()}
        inner: list[bool] = []
        running.append(inner)
        try:
            result = original(self, pairs, *args, **kwargs)
        finally:
            running.pop()
        if not inner:
            made = [variable for variable in _global_variables() if id(variable) not in before]
            given = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
            step = args[0] if args else kwargs.get("global_step")
            heard(Applied(self, given, learning_rate(self), made, step, [variable for _, variable in pairs]))
        for outer in running:
            outer.append(True)
        return result

    return apply_gradients


def _global_variables() -> list[Variable]:
    import tensorflow as tf

    return list(tf.compat.v1.global_variables())


def learning_rate(optimizer: Optimizer) -> Tensor:
    """The rate that an optimizer works with: a tensor or a number, None where it is not known."""
    for name in _RATES:
        value = getattr(optimizer, name, None)
        if value is not None:
            return value() if callable(value) else value
    return None


def describe(optimizer: Optimizer) -> OptimizerRow:
    """Class, name and hyperparameters of an optimizer under the names that Keras uses, as far as they are constant."""
    described: OptimizerRow = {
        "class": type(optimizer).__name__, "name": _name(optimizer), "rule": rule_of(optimizer)
    }
    for canonical, names in _HYPERPARAMETERS.items():
        for name in names:
            value = _number(getattr(optimizer, name, None))
            if value is not None:
                described[canonical] = value
                break
    rate = learning_rate(optimizer)
    constant = _number(rate)
    described["learning_rate"] = _schedule(rate) if constant is None else constant
    return described


def rounding(optimizer: Optimizer) -> float:
    """By what share of itself an update may be off because the optimizer's constants are rounded to float32.

    1 - 0.999 is off by 1.3e-5 where 0.999 is rounded before the subtraction, as the operations of TF1 do, and exact
    where Python subtracts, as Keras does. Averages of squares count half: the update has their root.
    """
    described = describe(optimizer)
    share = 0.0
    for key, weight in (("beta_1", 1.0), ("beta_2", 0.5), ("rho", 0.5)):
        decay = described.get(key)
        if isinstance(decay, float) and 0.0 < decay < 1.0:
            share += weight * rounding_of(decay)
    return share


def rounding_of(decay: float) -> float:
    """The share by which ``1 - decay`` depends on whether the decay or the difference is rounded to float32."""
    return abs((1.0 - float(np.float32(decay))) / (1.0 - decay) - 1.0)


def _name(optimizer: Optimizer) -> str:
    try:
        return str(optimizer.get_name())
    except AttributeError:
        return type(optimizer).__name__


def _number(value: Tensor) -> float | None:
    """A Python number or bool, of a number or of a constant of the graph; else None."""
    import tensorflow as tf

    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, tf.Tensor):
        known = value.numpy() if hasattr(value, "numpy") else constant_of(value)
        if known is not None and known.shape == ():
            item: float = known.item()
            return item
    return None


def _schedule(rate: Tensor) -> str | None:
    """The name of the schedule that a rate comes from: that of the scope which made it."""
    name = getattr(getattr(rate, "op", None), "name", None)
    return None if name is None else str(name)


def slots(optimizer: Optimizer, variable: Variable) -> dict[str, Variable]:
    """The variables that an optimizer keeps for a weight, by canonical name.

    A class that is not known gives the slots their own names after the name of the class.
    """
    kind = next((kind for kind in _SLOTS if any(kind + "Optimizer" == c.__name__ for c in type(optimizer).__mro__)), "")
    known = _SLOTS.get(kind, {})
    found: dict[str, Variable] = {}
    for name in _slot_names(optimizer):
        slot = optimizer.get_slot(variable, name)
        if slot is not None:
            found[known.get(name, f"{type(optimizer).__name__.lower()}.{name}")] = slot
    return found


def _slot_names(optimizer: Optimizer) -> list[str]:
    try:
        return list(optimizer.get_slot_names())
    except AttributeError:
        return []


def made_beside(created: Sequence[Variable], variable: Variable) -> dict[str, Variable]:
    """The variables among `created` that are named below a weight, as optimizers do which make them themselves."""
    root = str(variable.name).partition(":")[0] + "/"
    found: dict[str, Variable] = {}
    for made in created:
        name = str(made.name).partition(":")[0]
        if name.startswith(root) and name[len(root) :] in _ENDINGS:
            found[_ENDINGS[name[len(root) :]]] = made
    return found
