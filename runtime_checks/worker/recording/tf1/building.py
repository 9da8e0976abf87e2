"""Builds the TF1 side's graph in one mode, and finds in it what is to be recorded."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from typing import Any, Callable, ContextManager, Iterable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ...frames import Frame, UserCode
from ..format.rows import LayerRow
from ..pairs import batches, structures
from ..pairs.pair import Pair
from ..randomness.ledger import Ledger
from ..tensors import Array, Function, Graph, Json, Layer, Nest, Operation, Tensor, Variable
from ..watching import averages, clipping, v1_optimizers
from ..watching.layer_calls import recording_layers
from ..watching.operations import place_of, position, upstream
from . import settings
from .own_graphs import one_graph

__all__ = ["EVALUATE", "INFER", "TRAIN", "Network", "Value", "build", "order", "takes"]

TRAIN, EVALUATE, INFER = "train", "eval", "infer"
"""As ``tf.estimator.ModeKeys`` has them."""
Notes = Callable[[str], None]
"""Told in words what cannot be recorded."""
Scaffold = Any
"""A ``tf.compat.v1.train.Scaffold``."""


class Value(NamedTuple):
    """Something to be fetched: a tensor of the graph, or a value that needs no session."""

    kind: str
    name: str
    tensor: Tensor
    place: tuple[str, int] | None
    more: Mapping[str, Json]
    given: Sequence[Tensor] = ()
    """The inputs of the layer whose output it is."""

    @property
    def fetched(self) -> bool:
        """Whether a session has to compute it."""
        return hasattr(self.tensor, "op") or hasattr(self.tensor, "graph")


class _Call(NamedTuple):
    """A call of a layer that was seen while the graph was built."""

    layer: Layer
    path: str
    inputs: Nest
    outputs: Nest
    place: tuple[str, int] | None


class Network:
    """A graph and what is in it.

    Attributes:
        graph: the graph.
        mode: in which it was built: `TRAIN`, `EVALUATE` or `INFER`.
        inputs: placeholders by name.
        reads_inputs: whether the graph uses any of them; one that does not reads data of its own.
        labels: placeholders by name, none where the function did not want them.
        own: the program's own placeholders, each with the input or label that it gets, or with an array.
        values: what a forward pass records, in the order of construction: taps, outputs, loss, regularization.
        metrics: ``(name, update, value)``; the update is None where there is none.
        train_op: the operation of one training step, or None.
        applied: the calls of ``apply_gradients`` whose updates a training step runs.
        idle: the others, as of the other network of two that train in turns.
        gradients: what was differentiated by, and the gradients as they come out of that.
        averages: what moving averages are kept of.
        results: what the function returned.
        layers: what is known of layers whose settings matter.
        initialization: operations to run one after the other in a new session.
        scaffold: what the function's spec has of this name, or None.
        ledger: of what draws.
    """

    def __init__(self, graph: Graph, mode: str, ledger: Ledger) -> None:
        self.graph = graph
        self.mode = mode
        self.inputs: dict[str, Tensor] = {}
        self.reads_inputs = True
        self.labels: dict[str, Tensor] = {}
        self.own: list[tuple[Tensor, Tensor | Array]] = []
        self.values: list[Value] = []
        self.metrics: list[tuple[str, Operation, Tensor]] = []
        self.train_op: Operation = None
        self.applied: list[v1_optimizers.Applied] = []
        self.idle: list[v1_optimizers.Applied] = []
        self.gradients: list[tuple[Tensor, Tensor]] = []
        self.averages: list[averages.Average] = []
        self.results = structures.Results()
        self.layers: list[LayerRow] = []
        self.initialization: list[Operation] = []
        self.scaffold: Scaffold = None
        self.ledger = ledger

    @property
    def variables(self) -> list[Variable]:
        """All global variables, in the order of creation."""
        import tensorflow as tf

        return list(self.graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES))

    @property
    def trainable(self) -> list[Variable]:
        """The variables that are to be trained."""
        import tensorflow as tf

        return list(self.graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES))

    def feeds(self, batch: batches.Batch) -> dict[Tensor, Array]:
        """What to give a session for a batch."""
        fed = {self.inputs[name]: value for name, value in structures.flat(batch.inputs, "input")}
        if self.labels and batch.labels is not None:
            fed.update((self.labels[name], value) for name, value in structures.flat(batch.labels, "label"))
        given = {id(placeholder): value for placeholder, value in fed.items()}
        for placeholder, value in self.own:
            fed[placeholder] = np.asarray(given.get(id(value), value), placeholder.dtype.as_numpy_dtype)
        return fed

    @property
    def fed(self) -> list[Tensor]:
        """The placeholders that get a part of the batch."""
        given = [*self.inputs.values(), *self.labels.values()]
        return given + [placeholder for placeholder, value in self.own if any(value is one for one in given)]


def build(
    pair: Pair,
    mode: str,
    shown: Sequence[batches.Batch],
    code: UserCode,
    aligned: Callable[[], ContextManager[Ledger]],
    notes: Notes,
    device: str | None = None,
) -> Network:
    """Build the graph of a pair's TF1 side.

    Args:
        pair: the pair; its ``tf1`` is a function.
        mode: `TRAIN`, `EVALUATE` or `INFER`.
        shown: the batches that will be fed; an axis whose size differs between them is unknown in the graph.
        code: tells the user's files.
        aligned: gives the context that fixes the random numbers, and their ledger.
        notes: told in words what cannot be recorded.
        device: where its operations are put, as far as the function does not say.

    Raises:
        Exception: whatever the function raises.
    """
    import tensorflow as tf

    graph = tf.Graph()
    calls: list[_Call] = []

    def heard(layer: Layer, path: str, inputs: Nest, outputs: Nest, frames: Sequence[Frame]) -> None:
        calls.append(_Call(layer, path, inputs, outputs, frames[0][:2] if frames else None))

    placed = tf.device(None if device is None else "/" + device)
    with graph.as_default(), placed, aligned() as ledger, recording_layers(heard, code) as layers:
        network = Network(graph, mode, ledger)
        with contextlib.ExitStack() as heard_too:
            heard_too.enter_context(v1_optimizers.watching(network.applied.append))
            heard_too.enter_context(averages.watching(network.averages.append))
            heard_too.enter_context(clipping.heard_gradients(lambda x, made: network.gradients.append((x, made))))
            inputs = _placeholders([batch.inputs for batch in shown], "input", network.inputs)
            labels = _labels(pair, mode, shown, network)
            heard_too.enter_context(one_graph(graph, notes))
            returned = _call(pair, inputs, labels, mode)
            network.results = structures.results(returned)
            network.own = _own(network)
            network.reads_inputs = _reads(network, returned)
            network.scaffold = getattr(returned, "scaffold", None)
        network.initialization = [
            tf.compat.v1.global_variables_initializer(),
            tf.compat.v1.local_variables_initializer(),
            tf.compat.v1.tables_initializer(),
        ]
        if not network.reads_inputs:
            notes("the TF1 function does not use its inputs: it reads data of its own, which the pair must give to TF2")
        _collect(network, calls, pair, code, notes)
        network.ledger.settle(list(upstream(variable.initializer for variable in network.variables)))
        named = [(call.path, call.layer, call.outputs) for call in calls]
        network.layers = settings.layers(
            graph, named, network.ledger.draws, layers.made_at, lambda operation: place_of(operation, code)
        )
    return network


def _reads(network: Network, returned: Nest) -> bool:
    """Whether the function uses its inputs, or gives them back."""
    given = {id(leaf) for _, leaf in structures.flat(network.results.outputs)} | {id(returned)}
    given.update(id(value) for _, value in network.own)
    used = any(placeholder.consumers() or id(placeholder) in given for placeholder in network.inputs.values())
    return used or not network.inputs


def _own(network: Network) -> list[tuple[Tensor, Tensor | Array]]:
    """The program's own placeholders that are fed something.

    Raises:
        PairError: if what is fed is no tensor of the graph, or gets a tensor that the function was not given.
    """
    given = [*network.inputs.values(), *network.labels.values()]
    found: list[tuple[Tensor, Tensor | Array]] = []
    for placeholder, value in _parts(network.results.feeds):
        if getattr(placeholder, "graph", None) is not network.graph or not hasattr(placeholder, "dtype"):
            raise batches.PairError(f"feeds of the Spec: {placeholder!r} is no tensor of the graph that was built")
        if value is None:
            continue
        if hasattr(value, "op"):
            if all(value is not one for one in given):
                raise batches.PairError(
                    f"feeds of the Spec: {placeholder.name} gets {value.name}, which is neither an input nor a label "
                    "that the function was given, nor a number or array"
                )
            found.append((placeholder, value))
        else:
            found.append((placeholder, np.asarray(value, placeholder.dtype.as_numpy_dtype)))
    return found


def _parts(feeds: Iterable[tuple[Tensor, Nest]]) -> Iterator[tuple[Tensor, Nest]]:
    """What is fed, of a sparse or ragged tensor its parts: it gets a value of its kind, or a tuple of these.

    Raises:
        PairError: if such a tensor gets something else.
    """
    for placeholder, value in feeds:
        names = structures.parts_of(placeholder)
        if not names or value is None:
            yield placeholder, value
            continue
        fed = [getattr(value, name) for name in names] if structures.parts_of(value) == names else value
        if not isinstance(fed, (list, tuple)) or len(fed) != len(names):
            kind = type(placeholder).__name__
            raise batches.PairError(
                f"feeds of the Spec: a {kind} gets a tf.compat.v1.{kind}Value, or a tuple of its {', '.join(names)}"
            )
        for name, part in zip(names, fed):
            own = getattr(placeholder, name)
            yield from zip(own, part) if isinstance(own, tuple) else [(own, part)]


def _labels(pair: Pair, mode: str, shown: Sequence[batches.Batch], network: Network) -> Nest:
    told = batches.signature(pair.tf1)
    if "labels" not in told or ("mode" in told and mode == INFER) or shown[0].labels is None:
        return None
    return _placeholders([batch.labels for batch in shown], "label", network.labels)


def _placeholders(samples: Sequence[Nest], what: str, made: dict[str, Tensor]) -> Nest:
    """A structure of placeholders like those of the samples; `made` gets them by name."""
    import tensorflow as tf

    kept = {name: [np.asarray(leaf)] for name, leaf in structures.flat(samples[0], what)}
    for sample in samples[1:]:
        for name, leaf in structures.flat(sample, what):
            if name not in kept:
                raise batches.PairError(f"the {what}s of one step have {name}, those of another have not")
            kept[name].append(np.asarray(leaf))
    for name, leaves in kept.items():
        dtype = tf.string if leaves[0].dtype.kind in "OSU" else tf.as_dtype(leaves[0].dtype)
        label = "".join(letter if letter.isalnum() else "_" for letter in name)
        made[name] = tf.compat.v1.placeholder(dtype, _shape(leaves), name=f"{what}_{label}" if label != what else what)
    names = iter([name for name, _ in structures.flat(samples[0], what)])
    return structures.mapped(samples[0], lambda leaf: made[next(names)])


def _shape(leaves: Sequence[Tensor]) -> list[int | None] | None:
    if any(leaf.ndim != leaves[0].ndim for leaf in leaves):
        return None
    return [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*(leaf.shape for leaf in leaves))]


def takes(function: Function, name: str) -> bool:
    """Whether a function has a parameter of that name."""
    return name in batches.signature(function)


def _call(pair: Pair, inputs: Nest, labels: Nest, mode: str) -> Nest:
    """Call the user's function with what its parameters ask for."""
    parameters = batches.signature(pair.tf1)
    training = mode == TRAIN
    offered = {
        "labels": labels,
        "mode": mode,
        "params": pair.params,
        "config": None,
        "training": training,
        "is_training": training,
    }
    told = {}
    for name in batches.TOLD:
        default = parameters[name].default if name in parameters else None
        if name in parameters and (offered[name] is not None or default is inspect.Parameter.empty):
            told[name] = offered[name]
    args, kwargs = batches.arguments(inputs, pair.tf1)
    for name in kwargs:
        told.pop(name, None)
    return pair.tf1(*args, **kwargs, **told)


def _collect(network: Network, calls: Sequence[_Call], pair: Pair, code: UserCode, notes: Notes) -> None:
    """Fill in what a network has, in the graph that is the default."""
    results = network.results
    network.train_op = results.train_op
    network.applied, network.idle = _parted(network.train_op, network.applied)
    found: list[Value] = []
    found += _automatic(network.graph, calls)
    found += _declared(network, found, pair, code, notes)
    for name, leaf in structures.flat(results.outputs):
        found.append(_value("output", name, leaf, code))
    if results.loss is not None:
        found.append(_value("loss", "loss", results.loss, code))
    fetched = [value for value in found if _belongs(value.tensor, network.graph)]
    _tell_of_strangers(found, fetched, notes)
    fetched = _without_unfed(network, fetched, code, notes)
    named = {value.name for value in fetched if value.more.get("auto") is False}
    fetched = [value for value in fetched if not (value.more.get("auto") and value.name in named)]
    network.values = sorted([*fetched, *_regularization(network.graph, code)], key=order)
    network.metrics = [(name, *_metric(metric)) for name, metric in results.metrics.items()]


def _without_unfed(network: Network, values: Sequence[Value], code: UserCode, notes: Notes) -> list[Value]:
    """The values that a session can compute from what it is fed.

    A program may have a network of its own for each mode, with placeholders of its own, of which one at a time is fed.
    What the other's layers give is left out, as a loss is that has no labels to be computed from, and told.

    Raises:
        PairError: if an output, or the loss or step of a mode that gets labels, needs a placeholder that gets nothing.
    """
    given = [*network.inputs.values(), *network.labels.values(), *(placeholder for placeholder, _ in network.own)]
    fed = {tensor.op for tensor in given}
    needs: dict[Operation, Operation] = {}
    for operation in network.graph.get_operations():
        if operation.type == "Placeholder" and operation not in fed:
            needs[operation] = operation
            continue
        for above in (*(tensor.op for tensor in operation.inputs), *operation.control_inputs):
            if above in needs:
                needs[operation] = needs[above]
                break
    if not needs:
        return list(values)

    def lacks(what: str, operation: Operation) -> batches.PairError:
        line = place_of(operation, code)
        where = "" if line is None else f" ({os.path.basename(line[0])}:{line[1]})"
        return batches.PairError(f"feeds of the Spec: {what} needs {operation.name}:0{where}, which gets nothing")

    kept, left = [], []
    for value in values:
        operation = getattr(value.tensor, "op", None)
        missing = needs.get(operation)
        if missing is None:
            kept.append(value)
        elif value.kind == "output" or (value.kind == "loss" and network.mode != INFER):
            raise lacks(f"{value.kind} {value.name}" if value.kind != value.name else value.kind, missing)
        else:
            left.append(value)
    step = getattr(network.train_op, "op", network.train_op)
    if network.mode == TRAIN and step in needs:
        raise lacks("train_op", needs[step])
    told = [value for value in left if value.kind != "loss"]
    if told:
        first, count = told[0], f" and {len(told) - 1} more" if len(told) > 1 else ""
        notes(
            f"{first.kind} {first.name}{count} not recorded: computed from placeholders that get nothing, "
            f"first {needs[first.tensor.op].name}:0"
        )
    return kept


def _parted(
    train_op: Operation, applied: list[v1_optimizers.Applied]
) -> tuple[list[v1_optimizers.Applied], list[v1_optimizers.Applied]]:
    """The updates that a training step runs, and those of other steps beside; the first has all if none is found."""
    if train_op is None:
        return applied, []
    within = upstream([getattr(train_op, "op", train_op)])

    def runs(gradient: Tensor) -> bool:
        return getattr(getattr(gradient, "values", gradient), "op", None) in within

    run = [one for one in applied if any(runs(gradient) for gradient, _ in one.grads_and_vars)]
    return (run, [one for one in applied if all(one is not other for other in run)]) if run else (applied, [])


def order(value: Value) -> int:
    """The place of a value in the order of execution: that of construction, and what is no tensor comes last."""
    operation = getattr(value.tensor, "op", None)
    return sys.maxsize if operation is None else position(operation)


def _value(kind: str, name: str, leaf: Tensor, code: UserCode, **more: object) -> Value:
    operation = getattr(leaf, "op", None)
    return Value(kind, name, leaf, None if operation is None else place_of(operation, code), more)


def _belongs(leaf: Tensor, graph: Graph) -> bool:
    """Whether it can be recorded: a tensor or variable of this graph, a number or an array."""
    owner = getattr(leaf, "graph", None)
    if owner is not None:
        return owner is graph and hasattr(leaf, "dtype") and _is_reachable(leaf, graph)
    return isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic))


def _is_reachable(leaf: Tensor, graph: Graph) -> bool:
    """Whether a session can give its value, which it cannot inside a loop or branch of control flow v1."""
    operation = getattr(leaf, "op", None)
    return operation is None or bool(graph.is_fetchable(operation))


def _tell_of_strangers(found: Sequence[Value], kept: Sequence[Value], notes: Notes) -> None:
    known = {id(value) for value in kept}
    for value in found:
        if id(value) not in known and not value.more.get("auto"):
            notes(f"{value.kind} {value.name} is a {type(value.tensor).__name__}, of which no value can be recorded")


def _automatic(graph: Graph, calls: Sequence[_Call]) -> list[Value]:
    """A tap for every output of a layer."""
    found = []
    counted: dict[str, int] = {}
    for call in calls:
        counted[call.path] = counted.get(call.path, -1) + 1
        owned = [str(variable.name).partition(":")[0] for variable in _owned(call.layer)]
        leaves = [(name, leaf) for name, leaf in structures.flat(call.outputs, "") if _belongs(leaf, graph)]
        given = [leaf for _, leaf in structures.flat(call.inputs) if getattr(leaf, "graph", None) is graph]
        for name, leaf in leaves:
            more = {"auto": True, "call": counted[call.path], "owned": owned}
            if len(leaves) > 1:
                more["part"] = name
            path = call.path if not name else f"{call.path}/{name}"
            found.append(Value("tap", path, leaf, call.place, more, given))
    return _numbered(found)


def _numbered(taps: Sequence[Value]) -> list[Value]:
    """Later calls of the same layer get the number of the call behind the path, so that names are unique."""
    return [
        tap if not tap.more["call"] else tap._replace(name="{}#{}".format(tap.name, tap.more["call"])) for tap in taps
    ]


def _owned(layer: Layer) -> list[Variable]:
    with contextlib.suppress(Exception):
        return list(layer.variables)
    return []


def _declared(network: Network, taps: Sequence[Value], pair: Pair, code: UserCode, notes: Notes) -> list[Value]:
    """Endpoints, the taps that the function returned, and those that the pair names: endpoint, layer or tensor."""
    named = dict(network.results.endpoints)
    named.update(network.results.taps)
    layers = {tap.name: tap.tensor for tap in taps}
    for name, sides in pair.taps.items():
        wanted = str(sides[0])
        tensor = named.get(wanted, layers.get(wanted))
        tensor = _tensor(network.graph, wanted) if tensor is None else tensor
        if tensor is None:
            notes(f"tap {name}: the TF1 graph has neither an endpoint nor a layer nor a tensor {wanted}")
        else:
            named[name] = tensor
    return [_value("tap", name, leaf, code, auto=False) for name, leaf in named.items()]


def _tensor(graph: Graph, name: str) -> Tensor:
    try:
        return graph.get_tensor_by_name(name if ":" in name else name + ":0")
    except (KeyError, ValueError):
        return None


def _regularization(graph: Graph, code: UserCode) -> list[Value]:
    """Each loss of the collection, and their sum as ``total``: 0.0 where there are none."""
    import tensorflow as tf

    losses = list(graph.get_collection(tf.compat.v1.GraphKeys.REGULARIZATION_LOSSES))
    found = [_value("regularization", loss.op.name, loss, code) for loss in losses]
    total = tf.add_n(losses, name="sum_of_regularization_losses") if losses else np.float32(0.0)
    return [*found, Value("regularization", "total", total, None, {})]


def _metric(metric: Nest) -> tuple[Operation, Tensor]:
    """Update and value of a metric: of a pair, of a Keras metric that was updated in the graph, or of a tensor."""
    if isinstance(metric, (tuple, list)) and len(metric) == 2:
        return metric[1], metric[0]
    if hasattr(metric, "updates") and callable(getattr(metric, "result", None)):
        return list(metric.updates), metric.result()
    return None, metric
