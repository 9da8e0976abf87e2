"""What one training step of a session fetches, and when: some values must be read before the step changes them."""

from __future__ import annotations

import itertools
from typing import Any, Container, NamedTuple, Sequence

import numpy as np

from ...frames import UserCode
from ..pairs import structures
from ..tensors import Array, Operation, Tensor, V1Session, Variable
from ..watching.operations import place_of, upstream
from .building import Network, Value

__all__ = ["Step", "dense", "gradients", "in_open_order", "races", "run_values", "step_of"]

_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableV2", "Variable", "TemporaryVariable")
_VARIABLES = ("TemporaryVariable", "VarHandleOp", "Variable", "VariableV2")
_PASSED_ON = ("Enter", "Identity", "RefEnter", "RefIdentity", "RefSwitch", "Switch")
"""They give on the variable that they take, as into a branch or a loop."""
_UNCHANGED = (
    *_READS, *_PASSED_ON, "IsVariableInitialized", "RefExit", "RefMerge", "RefNextIteration", "RefSelect",
    "VarIsInitializedOp", "VariableShape",
)  # fmt: skip
"""They take a variable, and leave it as it is."""
_HARMLESS = (*_READS, "VarHandleOp", "VarIsInitialized", "HashTable", "LookupTableFind", "Assert", "Print", "NoOp")


class Step(NamedTuple):
    """The fetches of a training step."""

    before: Sequence[Value]
    """In a run of their own before the step: they depend on variables, and the step does not wait for them."""
    during: Sequence[Value]
    """In the run of the step: what it is computed from."""
    operations: Sequence[Operation]
    """Run with the step, without a value that would be recorded."""
    after: Sequence[Value]
    """In a run of their own after the step: metrics that only an operation updates."""
    moved: Sequence[Variable]
    """What the run before the step assigns, as averages that a normalization updates in place: to be put back."""


def step_of(network: Network, values: Sequence[Value], code: UserCode) -> Step:
    """Decide when to fetch what.

    A value that the training step does not depend on may be computed before or after the variables change. It is
    fetched in a run before the step, unless computing it twice would leave traces, such as a second random number.
    What it assigns to variables is no such trace: it can be put back.
    """
    known = {variable.op.name: variable for variable in network.variables}
    updated, plain, operations, after = _metrics(network, code)
    wanted = [*values, *plain, *_rates(network), *gradients(network)]
    within = upstream([_operation(network.train_op)])
    before: list[Value] = []
    during: list[Value] = []
    for value in wanted:
        early = value.fetched and races(value.tensor, within) and not _leaves_traces_behind(value.tensor, known)
        (before if early else during).append(value)
    moved = {name for name in map(_assigned, upstream([value.tensor.op for value in before])) if name}
    kept = [known[name] for name in sorted(moved)]
    return Step(before, [*during, *updated], [network.train_op, *operations], after, kept)


def in_open_order(network: Network) -> list[str]:
    """The variables that a step assigns more than once, in an order which the graph leaves open: chance decides.

    So are the averages of a normalization that is called for several batches, as that of a discriminator is, and
    weights that one run both trains and clips.
    """
    assigned: dict[str, list[Operation]] = {}
    for operation in upstream([_operation(network.train_op)] if network.train_op is not None else []):
        name = _assigned(operation)
        if name:
            assigned.setdefault(name, []).append(operation)
    found = []
    for name, assigns in assigned.items():
        before = [upstream([operation]) for operation in assigns] if len(assigns) > 1 else []
        if any(
            one not in before[j] and other not in before[i]
            for (i, one), (j, other) in itertools.combinations(enumerate(assigns), 2)
        ):
            found.append(name)
    return sorted(found)


def run_values(
    session: V1Session, values: Sequence[Value], feeds: dict[Tensor, Array], operations: Sequence[Operation] = ()
) -> list[Array]:
    """The values, those that need a session from one run; gradients of slices as dense arrays."""
    fetches = [value.tensor for value in values if value.fetched]
    if not fetches and not operations:
        return [value.tensor for value in values]
    computed = iter(session.run([fetches, list(operations)], feeds)[0])
    return [dense(next(computed)) if value.fetched else value.tensor for value in values]


def dense(computed: Array) -> Array:
    """What ``tf.gather`` has as a gradient, rows and their numbers, as the gradient of the whole variable."""
    if not (hasattr(computed, "indices") and hasattr(computed, "values")):
        return computed
    rows = np.asarray(computed.values)
    dense = np.zeros(tuple(computed.dense_shape), rows.dtype)
    np.add.at(dense, np.asarray(computed.indices), rows)
    return dense


def _operation(fetch: Tensor) -> Operation:
    return getattr(fetch, "op", fetch)


def races(tensor: Tensor, within: set[Operation]) -> bool:
    """Whether a value depends on a variable by a way that the step does not take.

    Args:
        tensor: of the value.
        within: the operations that the step depends on.
    """
    if not hasattr(tensor, "op"):
        return False
    outside = upstream([tensor.op], stop=within.__contains__)
    # A read of a variable by reference is no copy: what follows it may see the new value.
    return any(
        operation.type in _READS or any(_is_reference(source) for source in operation.inputs) for operation in outside
    )


def _leaves_traces_behind(tensor: Tensor, known: Container[str]) -> bool:
    """Whether computing it draws random numbers, takes from a queue, runs Python code or assigns what is not known."""
    return any(_leaves_traces(operation, known) for operation in upstream([tensor.op]))


def _leaves_traces(operation: Operation, known: Container[str]) -> bool:
    assigned = _assigned(operation)
    if assigned:
        return assigned not in known
    definition = operation.op_def
    return definition is not None and definition.is_stateful and not operation.type.startswith(_HARMLESS)


def _assigned(operation: Operation) -> str:
    """The variable that an operation changes by itself, as the call of a function does not; empty where it is none."""
    import tensorflow as tf

    definition = operation.op_def
    if definition is None or not definition.input_arg or operation.type in _UNCHANGED:
        return ""
    first = definition.input_arg[0]
    if not (first.is_ref or first.type == tf.resource.as_datatype_enum):
        return ""
    source = operation.inputs[0].op
    while source.type in _PASSED_ON:
        source = source.inputs[0].op
    return str(source.name) if source.type in _VARIABLES else ""


def _is_reference(tensor: Tensor) -> bool:
    source = tensor.op.inputs[0] if tensor.op.type == "Identity" else tensor
    return bool(tensor.dtype._is_ref_dtype or source.dtype._is_ref_dtype)


def _rates(network: Network) -> list[Value]:
    given = network.results.learning_rate
    rates = [given] if given is not None else [applied.learning_rate for applied in network.applied]
    known = [rate for rate in rates if rate is not None]
    return [
        Value("learning_rate", "learning_rate" + (f"_{number}" if number else ""), rate, None, {})
        for number, rate in enumerate(known)
    ]


def gradients(network: Network) -> list[Value]:
    """Of each weight, further ones of one weight with numbers from 2 on, as where two optimizers have it in common.

    ``rows`` says that the gradient is one of slices, as that of an embedding.
    """
    import tensorflow as tf

    given = network.results.gradients
    if given is not None:
        return [Value("gradient", name, gradient, None, {}) for name, gradient in given.items()]
    found: dict[str, Value] = {}
    for applied in network.applied:
        for gradient, variable in applied.grads_and_vars:
            name = weight = str(variable.name).partition(":")[0]
            number = 1
            while name in found:
                number += 1
                name = f"{weight}#{number}"
            more: dict[str, Any] = {"rows": True} if isinstance(gradient, tf.IndexedSlices) else {}
            if number > 1:
                more["variable"] = weight
            found[name] = Value("gradient", name, _shaped(gradient, variable), None, more)
    return list(found.values())


def _shaped(gradient: Tensor, variable: Variable) -> Tensor:
    """Slices of a gradient with the shape of the whole, which they need not have."""
    import tensorflow as tf

    if not isinstance(gradient, tf.IndexedSlices) or gradient.dense_shape is not None:
        return gradient
    with variable.graph.as_default():
        return tf.IndexedSlices(gradient.values, gradient.indices, tf.constant(variable.shape.as_list()))


def _metrics(network: Network, code: UserCode) -> tuple[list[Value], list[Value], list[Operation], list[Value]]:
    """Updates that give the metric's value, plain values, operations that update, and what to read after these."""
    updated, plain, operations, after = [], [], [], []
    for name, update, value in network.metrics:
        if update is None:
            for path, leaf in structures.flat(value, name):
                plain.append(Value("metric", path, leaf, None, {}))
        elif hasattr(update, "op") and hasattr(update, "dtype"):
            updated.append(Value("metric", name, update, place_of(update.op, code), {}))
        else:
            operations += update if isinstance(update, list) else [update]
            after.append(Value("metric", name, value, None, {}))
    return updated, plain, operations, after
