"""What a TF1 graph would do otherwise than as it is run.

Its learning rates in later steps, what it does with gradients that are too large, and with other random numbers.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ...errors import essence
from ..format.draws import STEP
from ..format.rows import RateRow
from ..tensors import Array, Operation, Tensor, V1Session, Variable
from ..values import schedules
from ..watching import clipping
from ..watching.operations import constant_of, upstream
from ..watching.v1_optimizers import Applied
from .building import Network
from .sessions import assign, read
from .step import run_values
from .variables import plain, weights

__all__ = ["idle_draws", "limits", "rates", "turns"]

_COUNTING = {"AssignAdd": 1, "AssignAddVariableOp": 1, "AssignSub": -1, "AssignSubVariableOp": -1}
_WRITING = ("Assign", "Scatter", "ResourceScatter", "CountUpTo", "ResourceApply", "Apply")
_CALLING = ("If", "While", "PartitionedCall", "StatefulPartitionedCall", "Case")
"""What runs a body."""
_LONGEST = 60_000
"""Milliseconds that a loop may take with other weights, with which one that ends by its outputs may end never."""
_MOST_RUNS = 64
"""Passes in which draws get other numbers."""
Message = Any
"""A part of a serialized graph."""
_KEPT = ("VarHandleOp", "Placeholder", "PlaceholderWithDefault")
"""What has a value that is given to it: made once more it would be another one."""
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


def idle_draws(session: V1Session, network: Network, feeds: Feeds) -> set[Operation]:
    """The random operations of a graph on which nothing of its forward pass depends.

    Those are the draws of other networks in the graph, and of a dropout that keeps everything, whose ``keep_prob`` is
    fed: it draws, and then adds nothing to what it is given. Of very many, those that are not tried are not idle. What
    loops and branches draw, which nothing can be fed to, is idle where another pass gives the same.

    Args:
        session: on the graph.
        network: its graph, whose ``values`` are what may depend on them.
        feeds: of a batch.
    """
    drawing = [draw.operation for draw in network.ledger.draws if draw.purpose == STEP and draw.operation is not None]
    wanted = [value for value in network.values if value.fetched]
    needed = upstream([getattr(value.tensor, "op", value.tensor) for value in wanted])
    found = {operation for operation in drawing if operation.graph is network.graph and operation not in needed}
    needed = {operation for operation in drawing if operation not in found}
    drawing = [one for one in drawing if one in needed and one.graph is network.graph and one.graph.is_fetchable(one)]
    within = needed.difference(drawing)
    if not needed:
        return found
    drawn = session.run([operation.outputs[0] for operation in drawing], feeds)
    others = {operation: _other(value) for operation, value in zip(drawing, drawn)}
    first = {operation.outputs[0]: value for operation, value in zip(drawing, drawn)}

    def run(changed: Sequence[Operation]) -> list[Array]:
        """With other numbers for some, and those that were drawn for all others: a session draws anew at each run."""
        values = {**first, **{operation.outputs[0]: others[operation] for operation in changed}}
        return run_values(session, wanted, {**feeds, **values})

    plain = run(())
    if within and all(np.array_equal(one, other) for one, other in zip(plain, run(()))):
        found.update(within)
    drawing = [one for one, value in zip(drawing, drawn) if not np.array_equal(others[one], value)]

    waiting, runs = [drawing], 0
    while waiting and runs < _MOST_RUNS:
        some, runs = waiting.pop(0), runs + 1
        if all(np.array_equal(one, other) for one, other in zip(plain, run(some))):
            found.update(some)
        elif len(some) > 1:
            waiting += [some[: len(some) // 2], some[len(some) // 2 :]]
    return found


def turns(session: V1Session, network: Network, feeds: Sequence[Feeds]) -> dict[Operation, list[int]]:
    """By the operations that draw in loops, how many turns their loop takes for each batch.

    Those of loops in loops are left out, those of which the number depends on weights, and all of a graph that reads
    its data by itself.

    Args:
        session: on the graph.
        network: its graph.
        feeds: of each batch.
    """
    drawing = [draw.operation for draw in network.ledger.draws if draw.purpose == STEP and draw.operation is not None]
    counters = {operation: _counter(operation, network) for operation in drawing}
    counters = {operation: counter for operation, counter in counters.items() if counter is not None}
    if not counters or not network.reads_inputs:
        return {}
    import tensorflow as tf

    limited = tf.compat.v1.RunOptions(timeout_in_ms=_LONGEST)
    counted = [session.run(list(counters.values()), fed, limited) for fed in feeds]
    known = [(variable, value) for variable, value in read(session, weights(network)) if value.dtype.kind == "f"]
    assign(session, [(variable, 0.1 + 0.5 * value) for variable, value in known])
    try:
        again = [session.run(list(counters.values()), fed, limited) for fed in feeds]
    finally:
        assign(session, known)
    columns = zip(counters, zip(*counted), zip(*again))
    return {operation: [int(count) for count in one] for operation, one, other in columns if one == other}


def _counter(operation: Operation, network: Network) -> Tensor | None:
    """What counts, from 0 on, the turns of the only loop in which an operation is; None where nothing does."""
    body = operation.graph
    if body is not network.graph:
        loops = [one for one in network.graph.get_operations() if one.type in ("While", "StatelessWhile")]
        named = [loop for loop in loops if loop.get_attr("body").name.split("_numbered_")[0] == body.name]
        return named[0].outputs[0] if named else None
    context = operation._get_control_flow_context()
    if context is None or not context.IsWhileContext() or context.outer_context is not None:
        return None
    for leaving in context.loop_exits:
        switch = leaving.op.inputs[0].op
        begun, next_turn = [tensor.op for tensor in switch.inputs[0].op.inputs]
        added = next_turn.inputs[0].op
        if begun.type != "Enter" or constant_of(begun.inputs[0]) != 0 or added.type not in ("Add", "AddV2"):
            continue
        counted, by = added.inputs
        if constant_of(by) == 1 and counted.op.type == "Identity" and counted.op.inputs[0].op is switch:
            return leaving
    return None


def _other(drawn: Array) -> Array:
    """Other numbers that may have been drawn as well; of whole ones that have no other order, the same."""
    turned = drawn.reshape(-1)[::-1].reshape(drawn.shape)
    if np.array_equal(turned, drawn) and np.issubdtype(drawn.dtype, np.floating):
        return (0.25 + drawn / 2).astype(drawn.dtype)
    return turned


def _sampled(session: V1Session, network: Network, name: str, rate: Tensor, feeds: Feeds, run: int) -> RateRow:
    value = constant_of(rate) if hasattr(rate, "op") else rate
    if value is not None:
        return schedules.constant(name, float(value))
    training = upstream([getattr(network.train_op, "op", network.train_op)])
    bodies = {one.signature.name: one for one in network.graph.as_graph_def().library.function}
    rate = _alone(network, rate)
    within = upstream([rate.op])
    counters: list[tuple[Variable, int]] = []
    still: list[str] = []
    for variable in _variables(network):
        if variable.op in within:
            advance = _advance(variable, training, bodies)
            if advance is None:
                return schedules.unknown(name, f"it depends on {plain(variable)}, which training does not only count")
            if advance:
                counters.append((variable, advance))
            else:
                still.append(plain(variable))
    still += [operation.name for operation in within if operation.type.startswith("Placeholder")]
    if any(_draws(operation) for operation in within):
        return schedules.unknown(name, "it depends on what is drawn or read anew in each step")
    begin = [(variable, value) for variable, value in read(session, [variable for variable, _ in counters])]

    def at(step: int) -> float:
        later = [value + (step - run) * advance for (_, value), (_, advance) in zip(begin, counters)]
        typed = [np.asarray(one, np.asarray(value).dtype) for one, (_, value) in zip(later, begin)]
        assign(session, zip([variable for variable, _ in counters], typed))
        return float(session.run(rate, feeds))

    try:
        row = schedules.sampled(name, at) if counters else schedules.constant(name, at(0))
        return {**row, "still": sorted(still)} if still else row
    except Exception as error:
        return schedules.unknown(name, f"the graph does not give it: {essence(error)}")
    finally:
        assign(session, begin)


def _alone(network: Network, rate: Tensor) -> Tensor:
    """The same value without what is only to run before it, such as the updates of moving statistics.

    The operations that it is computed by are made once more; where that cannot be done it stays as it is.
    """
    computed = upstream([rate.op], control=False)
    if not any(operation.control_inputs for operation in computed):
        return rate
    kept = {operation for operation in computed if operation.type in _KEPT or operation.type.startswith("Variable")}
    made: dict[Operation, Operation] = {operation: operation for operation in kept}
    waiting = [rate.op]
    try:
        with network.graph.as_default(), network.graph.control_dependencies(None):
            while waiting:
                operation = waiting[-1]
                left = [tensor.op for tensor in operation.inputs if tensor.op not in made]
                if operation in made or not left:
                    waiting.pop()
                    made.setdefault(operation, _again(network, operation, made))
                elif len(waiting) > len(computed):  # a loop of TF1
                    return rate
                else:
                    waiting += left[:1]
    except Exception:
        return rate
    return made[rate.op].outputs[rate.value_index]


def _again(network: Network, operation: Operation, made: Mapping[Operation, Operation]) -> Operation:
    if operation in made:
        return made[operation]
    return network.graph.create_op(
        operation.type,
        [made[tensor.op].outputs[tensor.value_index] for tensor in operation.inputs],
        [tensor.dtype for tensor in operation.outputs],
        attrs=dict(operation.node_def.attr),
        name=operation.name + "_alone",
    )


def _variables(network: Network) -> list[Variable]:
    """All variables, those of the collection of local ones among them."""
    import tensorflow as tf

    keys = tf.compat.v1.GraphKeys
    return [*network.variables, *network.graph.get_collection(keys.LOCAL_VARIABLES)]


def _advance(variable: Variable, training: set[Operation], bodies: Mapping[str, Message]) -> int | None:
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
        elif operation.type.startswith(_WRITING):
            return None
        elif operation.type in _CALLING and operation.op_def.is_stateful:
            if _writes(operation.node_def, bodies):
                return None
    return total


def _writes(node: Message, bodies: Mapping[str, Message]) -> bool:
    """Whether a body that an operation runs writes to any variable."""
    names = [name for attribute in node.attr.values() for name in _functions(attribute)]
    if any(name not in bodies for name in names):
        return True
    within = [one for name in names for one in bodies[name].node_def]
    rest = {name: body for name, body in bodies.items() if name not in names}  # one that calls itself is not met twice
    return any(one.op.startswith(_WRITING) or one.op in _COUNTING or _writes(one, rest) for one in within)


def _functions(attribute: Message) -> list[str]:
    listed = [one.name for one in attribute.list.func]
    return [attribute.func.name, *listed] if attribute.func.name else listed


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
