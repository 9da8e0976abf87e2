"""What a TF1 graph would do in steps that are not run: its learning rates later, and gradients that are too large."""

from __future__ import annotations

from typing import Mapping, Sequence

import numpy as np

from ...errors import essence
from ..format.rows import RateRow
from ..tensors import Array, Operation, Tensor, V1Session, Variable
from ..values import schedules
from ..watching import clipping
from ..watching.operations import constant_of, upstream
from ..watching.v1_optimizers import Applied
from .building import Network
from .sessions import assign, read
from .variables import plain

__all__ = ["limits", "rates"]

_COUNTING = {"AssignAdd": 1, "AssignAddVariableOp": 1, "AssignSub": -1, "AssignSubVariableOp": -1}
_WRITING = ("Assign", "Scatter", "ResourceScatter", "CountUpTo", "ResourceApply", "Apply")
_CALLING = ("If", "While", "PartitionedCall", "StatefulPartitionedCall", "Case")
"""What runs a body, which is not looked into."""
Feeds = Mapping[Tensor, Array]


def rates(session: V1Session, network: Network, feeds: Feeds, run: int) -> list[RateRow]:
    """The learning rate of each optimizer at steps that are not run.

    Args:
        session: on the graph, after so many steps.
        network: its graph.
        feeds: of a batch.
        run: the number of steps.
    """
    given = network.results.learning_rate
    found = [given] if given is not None else [one.learning_rate for one in network.applied]
    known = [rate for rate in found if rate is not None]
    names = ["learning_rate" + (f"_{number}" if number else "") for number in range(len(known))]
    return [_sampled(session, network, name, rate, feeds, run) for name, rate in zip(names, known)]


def _sampled(session: V1Session, network: Network, name: str, rate: Tensor, feeds: Feeds, run: int) -> RateRow:
    value = constant_of(rate) if hasattr(rate, "op") else rate
    if value is not None:
        return schedules.constant(name, float(value))
    training = upstream([getattr(network.train_op, "op", network.train_op)])
    within = upstream([rate.op], control=False)
    counters: list[tuple[Variable, int]] = []
    for variable in _variables(network):
        if variable.op in within:
            advance = _advance(variable, training)
            if advance is None:
                return schedules.unknown(name, f"it depends on {plain(variable)}, which training does not only count")
            if advance:
                counters.append((variable, advance))
    if any(_draws(operation) for operation in within):
        return schedules.unknown(name, "it depends on what is drawn or read anew in each step")
    begin = [(variable, value) for variable, value in read(session, [variable for variable, _ in counters])]
    others = list(read(session, _changed(network, upstream([rate.op]))))

    def at(step: int) -> float:
        later = [value + (step - run) * advance for (_, value), (_, advance) in zip(begin, counters)]
        typed = [np.asarray(one, np.asarray(value).dtype) for one, (_, value) in zip(later, begin)]
        assign(session, zip([variable for variable, _ in counters], typed))
        return float(session.run(rate, feeds))

    try:
        return schedules.sampled(name, at) if counters else schedules.constant(name, at(0))
    except Exception as error:
        return schedules.unknown(name, f"the graph does not give it: {essence(error)}")
    finally:
        assign(session, [*others, *begin])


def _changed(network: Network, operations: set[Operation]) -> list[Variable]:
    """The variables that operations write, such as updates that have to run before the rate is read."""
    writing = [one for one in operations if one.type in _COUNTING or one.type.startswith(_WRITING)]
    written = {tensor.op for one in writing for tensor in one.inputs}
    return [variable for variable in _variables(network) if variable.op in written]


def _variables(network: Network) -> list[Variable]:
    """All variables, those of the collection of local ones among them."""
    import tensorflow as tf

    keys = tf.compat.v1.GraphKeys
    return [*network.variables, *network.graph.get_collection(keys.LOCAL_VARIABLES)]


def _advance(variable: Variable, training: set[Operation]) -> int | None:
    """What a training step adds to a variable; None where it does something else to it."""
    total = 0
    for operation in training:
        if not operation.inputs or not any(tensor.op is variable.op for tensor in operation.inputs):
            continue
        if operation.type in _COUNTING:
            delta = constant_of(operation.inputs[1])
            if delta is None or delta.shape != () or float(delta) != int(delta):
                return None
            total += _COUNTING[operation.type] * int(delta)
        elif operation.type.startswith(_WRITING) or (operation.type in _CALLING and operation.op_def.is_stateful):
            return None
    return total


def _draws(operation: Operation) -> bool:
    kind = operation.type
    return kind.startswith("Random") or "Dequeue" in kind or kind in ("IteratorGetNext", "PyFunc", "EagerPyFunc")


def limits(session: V1Session, network: Network, applied: Applied, feeds: Feeds) -> clipping.Limits:
    """How the gradients of an optimizer are clipped on their way to it (see `clipping.limits`)."""
    ways = {plain(variable): (gradient, _sources(network, gradient, variable)) for gradient, variable in applied[1]}
    if all(any(gradient is source for source in sources) for gradient, sources in ways.values()):
        return {}
    if not all(sources for _, sources in ways.values()):
        return {"clipping": clipping.UNKNOWN}
    shapes = session.run({name: _dense(sources[0]) for name, (_, sources) in ways.items()}, feeds)
    given = clipping.patterns({name: np.shape(value) for name, value in shapes.items()})
    fetches = {name: _dense(gradient) for name, (gradient, _) in ways.items()}
    got = []
    for scale in clipping.SCALES:
        fed = dict(feeds)
        for name, (_, sources) in ways.items():
            for source in sources:
                part = scale * given[name] / len(sources)
                fed[_dense(source)] = part.astype(_dense(source).dtype.as_numpy_dtype)
        got.append(session.run(fetches, fed))
    return clipping.limits({name: value for name, value in given.items() if _fits(value, name, got)}, got)


def _fits(value: Array, name: str, got: Sequence[Mapping[str, Array]]) -> bool:
    return all(np.shape(one[name]) == value.shape for one in got)


def _sources(network: Network, gradient: Tensor, variable: Variable) -> list[Tensor]:
    """The gradients with respect to a variable from which what is applied to it is made."""
    within = upstream([_dense(gradient).op])
    found = [one for x, one in network.gradients if getattr(x, "op", None) is variable.op]
    return [one for one in found if _dense(one).op in within]


def _dense(gradient: Tensor) -> Tensor:
    """The tensor of a gradient; of slices their values."""
    return getattr(gradient, "values", gradient)
