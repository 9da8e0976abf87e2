"""Steps of TensorFlow 1: runs of a session that execute an update of what is trained.

Which those are is read off the graph: what the run's fetches and targets reach writes a trained variable, and what it
writes hangs on what stood there. An initial value or a value that was restored does not.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import Any, Callable, Collection, Dict, Iterator, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from ..patching import wrapped
from ..recording.tensors import Function, Graph, Nest, Operation, Optimizer, Tensor, Variable
from ..recording.watching import keras_optimizers
from .objects import Objects, raw
from .state import number_of
from .streams import PLACE
from .trace import First, State, digest, first

__all__ = ["Run", "Sessions"]

_READING = (
    "ReadVariableOp", "VariableShape", "VarIsInitializedOp", "ResourceGather", "ResourceGatherNd",
    "IsVariableInitialized",
)
"""Operations on a variable that leave it as it is; any other one may write it."""
_HANDING_ON = ("Identity", "Enter", "RefEnter", "Switch", "RefSwitch", "ReadVariableOp")
_PLAIN = ("Assign", "AssignVariableOp")
"""What is written takes the place of what was there."""
_GIVING = ("IteratorGetNext", "IteratorGetNextSync", "PyFunc", "PyFuncStateless", "EagerPyFunc")
_RATES = ("lr", "alpha")
"""What the operations of TensorFlow that apply a gradient call the learning rate."""


_Fed = Dict[str, Tuple[Tensor, Any]]


class Run(NamedTuple):
    """A step: what it began with and was given."""

    begin: State
    data: Sequence[str]
    given: str | None
    loss: float | None


class _Reached(NamedTuple):
    """What a run executes."""

    updates: bool
    certain: bool
    """No update hangs on a condition."""
    data: Sequence[Tensor]
    rates: Sequence[Tensor]


class Sessions:
    """Tells of every step that a session makes in the main thread.

    Args:
        objects: what the program has made.
        begins: gets the state that a run with a step begins with, before it.
        ended: gets a step that was done.
        behind: is called behind it, and may raise.
        safely: calls a function that looks at the program, and keeps what it raises from it.
        note: gets sentences about what could not be seen.
        place: gives the place of the streams of random numbers for the run that comes next.
    """

    def __init__(
        self,
        objects: Objects,
        begins: Callable[[State], None],
        ended: Callable[[Run], None],
        behind: Callable[[], None],
        safely: Callable[[Callable[[], None]], None],
        note: Callable[[str], None],
        place: Callable[[], int],
    ) -> None:
        self._objects = objects
        self._begins = begins
        self._ended = ended
        self._behind = behind
        self._safely = safely
        self._note = note
        self._place = place
        self._optimizers: list[tuple[Graph, Optimizer, list[Variable]]] = []
        self._reached: dict[Any, _Reached] = {}
        self._tables: dict[Graph, tuple[int, dict[str, tuple[str, str, str, Tensor]]]] = {}
        self._original: Function = _unknown
        self._session: Any = None
        self._last: tuple[State, dict[str, Any]] = ({}, {})
        self._running = False
        self._met: dict[str, First] = {}
        """The first value that each variable had in a session, by the name of its operation, where it is asked for."""
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._done = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch what sessions run in the body."""
        from tensorflow.python.client.session import BaseSession

        with wrapped(BaseSession, "_do_run", self._following), wrapped(BaseSession, "close", self._closing), wrapped(
            BaseSession, "_make_callable_from_options", self._calling
        ):
            yield

    def applied(self, optimizer: Optimizer, variables: Sequence[Variable]) -> None:
        """Hear that a graph gets an update of these variables."""
        import tensorflow as tf

        self._optimizers.append((tf.compat.v1.get_default_graph(), optimizer, list(variables)))

    def last(self) -> tuple[State, dict[str, Any]] | None:
        """The state of the session that made the last step, and its weights, as it is or was closed.

        None where no session made one.
        """
        if self._session is not None:
            self._last = self._read(self._session)
        return self._last if self._last[0] else None

    # -- runs -----------------------------------------------------------------------------------------------------

    def _following(self, original: Function) -> Function:
        self._original = original

        def run(
            session: Any, handle: Any, targets: Any, fetches: Any, feeds: Any, options: Any, metadata: Any
        ) -> Nest:
            if handle is not None or self._running or not _is_ours():
                return original(session, handle, targets, fetches, feeds, options, metadata)
            fed = {tensor.name: (tensor, value) for tensor, value in _fed(feeds)}
            found: list[_Reached] = []
            self._safely(lambda: found.append(self._what(session.graph, targets, fetches, fed)))
            reached = found[0] if found else _Reached(False, False, (), ())
            if not reached.updates:
                values = original(session, handle, targets, fetches, self._placed(session, feeds), options, metadata)
                self._meet(session)
                return values
            self._running = True
            begin: State = {}
            try:
                self._safely(lambda: begin.update(self._read(session)[0]))
                self._safely(lambda: self._begins(begin))
                extra = [tensor for tensor in (*reached.data, *reached.rates) if tensor.name not in fed]
                placed = self._placed(session, feeds)
                values = original(session, handle, targets, [*fetches, *extra], placed, options, metadata)
                self._session = session
                own, more = values[: len(fetches)], values[len(fetches) :]
                done = [reached.certain]
                if not reached.certain:
                    self._safely(lambda: done.append(begin != self._read(session)[0]))
            finally:
                self._running = False
            if any(done):
                self._done = True
                given = dict(zip(map(_name_of, extra), more))
                self._safely(lambda: self._tell(reached, begin, fed, own, given))
                self._behind()
            return own

        return run

    def firsts(self) -> dict[str, First]:
        """The first value of each variable of the session that made the last step, by its key."""
        if self._session is None:
            return {}
        table = self._table(self._session.graph)
        return {table[name][1]: value for name, value in self._met.items() if name in table}

    def _meet(self, session: Any) -> None:
        """See which values there are before the first step, where that is asked for: what runs may restore some."""

        def look() -> None:
            self._read(session)

        if self._objects.firsts is not None and not self._done:
            self._safely(look)

    def _tell(self, reached: _Reached, begin: State, fed: _Fed, own: Nest, more: Mapping[str, Any]) -> None:
        data = [more[tensor.name] for tensor in reached.data if tensor.name in more]
        if not reached.rates:
            self._note("not compared: the learning rate of an update in a session, which is no input of its operation")
        for index, name in enumerate(map(_name_of, reached.rates)):
            value = fed[name][1] if name in fed else more[name]
            begin[f"learning rate {index}"] = ["learning rate", "learning rate", digest(value), number_of(value)]
        batch = []
        for name, (tensor, value) in sorted(fed.items()):
            if np.ndim(value):
                batch.append(value)
            elif all(tensor is not rate for rate in reached.rates):
                begin[f"fed {name}"] = ["variable", f"{tensor.op.name}, which is fed", digest(value), number_of(value)]
        given = digest(*batch) if batch else None
        losses = [number_of(value) for value in own if getattr(value, "dtype", np.dtype(int)).kind == "f"]
        numbers = [float(one) for one in losses if one is not None]
        self._ended(Run(begin, [digest(*data)] if data else [], given, numbers[0] if numbers else None))

    def _placed(self, session: Any, feeds: Any) -> Any:
        tensor = _tensor(session.graph, PLACE)
        if tensor is None:
            return feeds
        key = tensor.ref() if hasattr(tensor, "ref") else tensor
        return {**feeds, key: np.asarray(self._place(), np.int64)}

    def _closing(self, original: Function) -> Function:
        @functools.wraps(original)
        def close(session: Any) -> Nest:
            if session is self._session:
                self._running = True
                self._safely(lambda: setattr(self, "_last", self._read(session)))
                self._running, self._session = False, None
            return original(session)

        return close

    def _calling(self, original: Function) -> Function:
        @functools.wraps(original)
        def make(session: Any, options: Any) -> Nest:
            made = original(session, options)
            graph = session.graph

            def look() -> None:
                wanted = [graph.as_graph_element(name) for name in [*options.target, *options.fetch]]
                if self._what(graph, [], wanted, ()).updates:
                    self._note("steps that a session runs through a callable, as Keras does in a graph, are not seen")

            self._safely(look)
            return made

        return make

    # -- the graph ------------------------------------------------------------------------------------------------

    def _what(self, graph: Graph, targets: Any, fetches: Any, fed: Collection[str]) -> _Reached:
        key = (graph, graph.version, *sorted(str(one.name) for one in [*targets, *fetches]), "fed", *sorted(fed))
        if key not in self._reached:
            trained = set(_trained(graph)) | self._applied_in(graph)
            self._reached[key] = _reached(trained, [*targets, *fetches], fed)
        return self._reached[key]

    def _applied_in(self, graph: Graph) -> set[str]:
        return {_home(one) for place, _, variables in self._optimizers if place is graph for one in variables}

    # -- the state ------------------------------------------------------------------------------------------------

    def _read(self, session: Any) -> tuple[State, dict[str, Any]]:
        import tensorflow as tf

        table = self._table(session.graph)
        tensors = [row[3] for row in table.values()]
        values: list[Any]
        try:
            values = list(self._original(session, None, [], tensors, {}, None, None))
        except tf.errors.FailedPreconditionError:  # some have no value yet
            values = []
            for tensor in tensors:
                try:
                    values += self._original(session, None, [], [tensor], {}, None, None)
                except tf.errors.FailedPreconditionError:
                    values.append(None)
        state: State = {}
        weights = {}
        for home, (kind, key, name, _), value in zip(table, table.values(), values):
            if value is not None:
                if self._objects.firsts is not None:
                    self._met.setdefault(home, first(value))
                    shape, made = np.shape(value), self._shapes.setdefault(home, np.shape(value))
                    if shape != made:
                        self._note(f"{name} was made with the shape {made}, and got {shape}: it is as it was saved")
                state[key] = [kind, name, digest(value), number_of(value)]
            if kind == "model" and value is not None:
                weights[key] = value
        return state, weights

    def _table(self, graph: Graph) -> dict[str, tuple[str, str, str, Tensor]]:
        """Kind, key, name for people and value of each variable of a graph, by the name of its operation."""
        version, table = self._tables.get(graph, (-1, {}))
        if version == graph.version:
            return table
        kept = {name: _home(one) for name, one in _variables(graph).items()}
        told = {home: ("variable", home) for home in kept}
        trained = set(_trained(graph)) | self._applied_in(graph)
        for name in _updated(graph):
            told[name] = "model", name
        for home, of in _slots(graph).items():
            told[home] = "slots", of
        with graph.as_default():
            for place, optimizer, variables in self._optimizers:
                if place is graph:
                    told.update(_optimizer(optimizer, variables))
        for average in self._objects.of("average"):
            told.update({_home(one): ("average", _home(one)) for one in average._averages.values()})
        for one in graph.get_collection("global_step"):
            told[_home(one)] = "iterations", "global step"
        told.update({name: ("model", name) for name in trained})
        table = {}
        for name, one in _variables(graph).items():
            kind, text = told[kept[name]]
            key = f"weight 0/{name}" if name in trained else f"{kind} {name}"
            table[name] = kind, key, text, graph.as_graph_element(one)
        self._tables[graph] = graph.version, table
        return table


def _unknown(*_: Any) -> Nest:
    raise RuntimeError("no session is watched")


def _is_ours() -> bool:
    return threading.current_thread() is threading.main_thread()


def _name_of(tensor: Tensor) -> str:
    return str(tensor.name)


def _fed(feeds: Mapping[Any, Any]) -> Iterator[tuple[Tensor, Any]]:
    for key, value in feeds.items():
        yield (key.deref() if hasattr(key, "deref") else key), value


def _tensor(graph: Graph, name: str) -> Tensor | None:
    try:
        return graph.get_tensor_by_name(f"{name}:0")
    except (KeyError, ValueError):
        return None


def _home(variable: Variable) -> str:
    """The name of the operation that is the variable."""
    return str(raw(variable).op.name)


def _variables(graph: Graph) -> dict[str, Variable]:
    """The variables that a graph keeps, but those of metrics, which begin anew by their nature."""
    metrics = {id(one) for one in graph.get_collection("metric_variables")}
    found = {}
    for name in ("variables", "local_variables", "trainable_variables", "model_variables"):
        for one in graph.get_collection(name):
            if id(one) not in metrics and hasattr(one, "op"):
                found[_home(one)] = raw(one)
    return found


def _trained(graph: Graph) -> list[str]:
    return [_home(one) for one in graph.get_collection("trainable_variables") if hasattr(one, "op")]


def _writes(operation: Operation) -> list[str]:
    """The variables that an operation may write."""
    if operation.type in _READING or operation.type in _HANDING_ON:
        return []
    arguments = operation.op_def.input_arg if operation.op_def is not None else []
    refs = any(argument.is_ref for argument in arguments)
    found = []
    for tensor in operation.inputs:
        if tensor.dtype.name == "resource" or (refs and tensor.dtype._is_ref_dtype):
            home = _variable_of(tensor)
            if home is not None:
                found.append(home)
    return found[:1] if len(arguments) == len(operation.inputs) else found


def _variable_of(tensor: Tensor) -> str | None:
    """The variable that a tensor is the handle, reference or value of; None where it is of none, or of more."""
    operation = tensor.op
    while operation.type in _HANDING_ON:
        operation = operation.inputs[0].op
    return str(operation.name) if operation.type in ("VarHandleOp", "VariableV2", "Variable") else None


def _reached(trained: set[str], wanted: Sequence[Any], fed: Collection[str]) -> _Reached:
    """What is executed for operations and tensors, but for what is fed."""
    operations = _ancestors([one for one in wanted if one.name not in fed], fed)
    updates, certain = False, False
    data, rates = [], {}
    for operation in operations:
        outside = operation._get_control_flow_context() is None
        if outside and (operation.type in _GIVING or "Dequeue" in operation.type):
            data += [one for one in operation.outputs if one.dtype.name not in ("variant", "resource")]
        for home in _writes(operation):
            if home not in trained:
                continue
            if operation.type in _PLAIN and not _hangs_on(operation, home, fed):
                continue
            updates = True
            certain = certain or (outside and _is_direct(operation))
            if outside:
                rates.update({tensor.name: tensor for tensor in _rates(operation)})
    return _Reached(updates, certain, data, [rates[name] for name in sorted(rates)])


def _ancestors(wanted: Sequence[Any], fed: Collection[str]) -> list[Operation]:
    waiting = [getattr(one, "op", one) for one in wanted]
    met: dict[str, Operation] = {}
    while waiting:
        operation = waiting.pop()
        if operation.name not in met:
            met[operation.name] = operation
            waiting += [tensor.op for tensor in operation.inputs if tensor.name not in fed]
            waiting += operation.control_inputs
    return [met[name] for name in sorted(met)]


def _hangs_on(operation: Operation, home: str, fed: Collection[str]) -> bool:
    """Whether what takes the place of a variable's value is made from it."""
    values = [tensor for tensor in operation.inputs[1:] if tensor.name not in fed]
    return any(one.name == home for one in _ancestors(values, fed))


def _is_direct(operation: Operation) -> bool:
    """Whether an operation writes by itself, and does not call a function that may."""
    return not any(attribute.type in ("func", "list(func)") for attribute in operation.op_def.attr)


def _rates(operation: Operation) -> list[Tensor]:
    return [tensor for name, tensor in _arguments(operation) if name in _RATES]


def _arguments(operation: Operation) -> list[tuple[str, Tensor]]:
    """The inputs of an operation with their names; none where an argument is a list."""
    arguments = operation.op_def.input_arg if operation.op_def is not None else []
    if len(arguments) != len(operation.inputs):
        return []
    return [(argument.name, tensor) for argument, tensor in zip(arguments, operation.inputs)]


def _slots(graph: Graph) -> dict[str, str]:
    """Variables that operations which apply a gradient take beside the weight: what they are called."""
    found = {}
    for operation in graph.get_operations():
        arguments = _arguments(operation) if "Apply" in operation.type else []
        if not arguments or not _writes(operation):
            continue
        weight = _variable_of(arguments[0][1])
        for name, tensor in arguments[1:]:
            home = _variable_of(tensor)
            if home is not None and home != weight and name not in _RATES:
                is_value = tensor.shape.ndims == 0 and tensor.dtype.name != "resource"
                found[home] = home if is_value else f"{name} of {weight}"
    return found


def _updated(graph: Graph) -> list[str]:
    """What a model writes beside its training, such as statistics of batch normalization."""
    wanted = [one for one in graph.get_collection("update_ops") if hasattr(one, "name")]
    operations = [getattr(one, "op", one) for one in wanted]
    operations += [one for operation in operations for one in operation.control_inputs]
    return [home for operation in operations for home in _writes(operation)]


def _optimizer(optimizer: Optimizer, weights: Sequence[Variable]) -> dict[str, tuple[str, str]]:
    """Kind and name of what an optimizer keeps, by the name of the operation."""
    found = {}
    own = getattr(optimizer, "variables", ())
    for one in own() if callable(own) else own:
        found[_home(one)] = "slots", _home(one)
    for weight in weights:
        for slot, one in keras_optimizers.slots(optimizer, weight).items():
            found[_home(one)] = "slots", f"{slot} of {_home(weight)}"
    iterations = getattr(optimizer, "iterations", None)
    if iterations is not None:
        found[_home(iterations)] = "iterations", f"iterations of {type(optimizer).__name__}"
    return found
