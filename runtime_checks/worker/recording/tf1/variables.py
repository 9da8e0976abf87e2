"""Which variables of a TF1 graph are the model's, and what the others are for."""

from __future__ import annotations

from typing import NamedTuple

from ...frames import UserCode
from ..format.rows import AverageRow, OptimizerRow, VariableRow
from ..tensors import Optimizer, Variable
from ..values import constraints
from ..watching import averages, v1_optimizers
from ..watching.constructions import made_at
from ..watching.operations import initial_value, place_of, upstream
from .building import Network

__all__ = ["Kept", "Slot", "keep", "plain", "slots", "weights"]


class Kept(NamedTuple):
    """Descriptions as they stand in a recording."""

    variables: list[VariableRow]
    others: list[VariableRow]
    optimizers: list[OptimizerRow]
    averages: list[AverageRow]


class Slot(NamedTuple):
    """A variable that an optimizer keeps for a weight; `canonical` as ``adam.m``.

    `number` counts the optimizers that have the weight in common, from 1 on.
    """

    weight: str
    canonical: str
    variable: Variable
    number: int = 1


def plain(variable: Variable) -> str:
    """The name of a variable without the number of the output."""
    return str(variable.name).partition(":")[0]


def weights(network: Network) -> list[Variable]:
    """The variables of the model, in the order of creation."""
    others = {id(variable) for variable, _ in _others(network)}
    return [variable for variable in network.variables if id(variable) not in others]


def keep(network: Network, code: UserCode) -> Kept:
    """Describe the variables and optimizers of a network."""
    trainable = {id(variable) for variable in network.trainable}
    return Kept(
        [_described(variable, id(variable) in trainable, code) for variable in weights(network)],
        [
            {**_described(variable, id(variable) in trainable, code), "purpose": purpose}
            for variable, purpose in _others(network)
        ],
        [
            {
                **_optimizer(applied.optimizer, code),
                "weights": [plain(variable) for variable in applied.given],
                "rows": [plain(variable) for gradient, variable in applied[1] if hasattr(gradient, "indices")],
            }
            for applied in network.applied
        ],
        _averages(network),
    )


def _optimizer(optimizer: Optimizer, code: UserCode) -> OptimizerRow:
    row, operation = v1_optimizers.describe(optimizer), getattr(v1_optimizers.learning_rate(optimizer), "op", None)
    places = {"made": made_at(optimizer), "rate_made": None if operation is None else place_of(operation, code)}
    return {**row, **{key: list(place) for key, place in places.items() if place is not None}}


def _averages(network: Network) -> list[AverageRow]:
    known = {id(variable) for variable in network.variables}
    within = upstream([] if network.train_op is None else [getattr(network.train_op, "op", network.train_op)])
    read = {tensor.op for operation in within for tensor in operation.inputs}
    found: dict[int, AverageRow] = {}
    for one in network.averages:
        found[id(one.variable)] = averages.described(
            plain(one.variable),
            plain(one.source),
            one.decay,
            weight=id(one.source) in known,
            updated=one.variable.op in read,
        )
    return list(found.values())


def _described(variable: Variable, trainable: bool, code: UserCode) -> VariableRow:
    place = place_of(variable.op, code)
    shape = variable.shape
    row: VariableRow = {
        "name": plain(variable),
        "shape": None if shape.ndims is None else shape.as_list(),
        "dtype": variable.dtype.base_dtype.name,
        "trainable": trainable,
        "tracked": True,
        "place": None if place is None else list(place),
        "initializer": initial_value(variable),
        "layer": None,
    }
    constrained = constraints.effect(variable)
    return row if constrained is None else {**row, "constraint": constrained}


def _others(network: Network) -> list[tuple[Variable, str]]:
    """The variables that are not the model's, each with its purpose."""
    import tensorflow as tf

    keys = tf.compat.v1.GraphKeys
    found: dict[int, tuple[Variable, str]] = {}
    slotted = {id(slot.variable) for slot in slots(network)}
    for applied in network.applied:
        for variable in applied.created:
            found[id(variable)] = (variable, "slot" if id(variable) in slotted else "counter")
    for applied in network.idle:
        found.update((id(variable), (variable, "slot")) for variable in applied.created)
    for applied in [*network.applied, *network.idle]:
        if applied.step is not None and applied.step.dtype.is_integer:  # another one may be a part of the model
            found[id(applied.step)] = (applied.step, "counter")
    for average in network.averages:
        for variable in average.created:  # also what removes the bias of an average
            found[id(variable)] = (variable, "average")
    for variable in network.variables:
        if id(variable) in slotted:
            found[id(variable)] = (variable, "slot")
    for variable in network.graph.get_collection(keys.GLOBAL_STEP):
        found[id(variable)] = (variable, "counter")
    for variable in network.variables:
        if plain(variable) == "global_step":
            found[id(variable)] = (variable, "counter")
    for variable in network.graph.get_collection(keys.METRIC_VARIABLES):
        found[id(variable)] = (variable, "metric")
    return list(found.values())


def slots(network: Network) -> list[Slot]:
    """The slots of all optimizers, and the moving averages of weights, weight by weight."""
    found: list[Slot] = []
    by: dict[int, list[int]] = {}
    for applied in network.applied:
        for _, variable in applied.grads_and_vars:
            optimizers = by.setdefault(id(variable), [])
            if id(applied.optimizer) in optimizers:
                continue
            optimizers.append(id(applied.optimizer))
            kept = v1_optimizers.made_beside(applied.created, variable)
            kept.update(v1_optimizers.slots(applied.optimizer, variable))
            found += [Slot(plain(variable), canonical, slot, len(optimizers)) for canonical, slot in kept.items()]
    known = {id(variable) for variable in network.variables}
    met: set[int] = set()
    for average in network.averages:
        if id(average.source) in known and id(average.variable) not in met:
            met.add(id(average.variable))
            weight = plain(average.source)
            number = sum(slot.weight == weight and slot.canonical.startswith(averages.SLOT) for slot in found)
            found.append(Slot(weight, averages.SLOT + (f"_{number}" if number else ""), average.variable))
    return found
