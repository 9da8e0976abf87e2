"""Sessions of TF1 graphs: opening them, giving variables their values, reading these."""

from __future__ import annotations

import contextlib
from typing import Iterable, Iterator, Sequence

from ..tensors import Array, Operation, Tensor, V1Session, Variable
from .building import Network

__all__ = ["assign", "fill", "initialize", "opened", "read", "size_of"]

_CHUNK = 64 << 20
"""Bytes of variables that are read or assigned at once: not all weights of a large network lie in memory twice."""


@contextlib.contextmanager
def opened(network: Network, grappler: bool = True, serial: bool = True) -> Iterator[V1Session]:
    """A session on a network's graph, without initial values.

    Args:
        network: whose graph.
        grappler: whether TensorFlow may rewrite the graph, as it does unless it is told otherwise.
        serial: whether operations run one after the other.
    """
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=int(serial), allow_soft_placement=True)
    config.graph_options.rewrite_options.disable_meta_optimizer = not grappler
    coordinator = tf.compat.v1.train.Coordinator()
    with network.graph.as_default(), tf.compat.v1.Session(graph=network.graph, config=config) as session:
        session.coordinator = coordinator
        try:
            yield session
        finally:
            coordinator.request_stop()


def initialize(session: V1Session, network: Network) -> None:
    """Run what gives variables and tables their initial values, and start the input queues that there are."""
    for operation in network.initialization:
        session.run(operation)
    _scaffold(session, network)
    _start_queues(session, network)


def _start_queues(session: V1Session, network: Network) -> None:
    import tensorflow as tf

    if network.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
        tf.compat.v1.train.start_queue_runners(session, session.coordinator)


def fill(session: V1Session, network: Network, values: Iterable[tuple[Variable, Array]]) -> None:
    """Give variables these values and all others their initial ones, without computing initial values in vain.

    Input queues are started, but what a ``Scaffold`` does to the weights is left out.
    """
    given = set()

    def noted() -> Iterator[tuple[Variable, Array]]:
        for variable, value in values:
            given.add(id(variable))
            yield variable, value

    assign(session, noted())
    session.run([variable.initializer for variable in network.variables if id(variable) not in given])
    for operation in network.initialization[1:]:
        session.run(operation)
    _start_queues(session, network)


def assign(session: V1Session, values: Iterable[tuple[Variable, Array]]) -> None:
    """Assign arrays to variables through their initializers, as ``Variable.load`` does: the graph stays as it is."""
    feeds: dict[str, tuple[Tensor, Array]] = {}
    operations: list[Operation] = []
    size = 0
    for variable, value in values:
        tensor = variable.initializer.inputs[1]
        # Two variables may begin with the same tensor, which can be fed one value at a time.
        if tensor.name in feeds or size + value.nbytes > _CHUNK:
            session.run(operations, dict(feeds.values()))
            feeds, operations, size = {}, [], 0
        feeds[tensor.name] = (tensor, value)
        operations.append(variable.initializer)
        size += value.nbytes
    if operations:
        session.run(operations, dict(feeds.values()))


def read(session: V1Session, variables: Sequence[Variable]) -> Iterator[tuple[Variable, Array]]:
    """The variables with their values, some at a time."""
    waiting: list[Variable] = []
    size = 0
    for variable in variables:
        waiting.append(variable)
        size += size_of(variable)
        if size > _CHUNK:
            for pair in zip(waiting, session.run(waiting)):
                yield pair
            waiting, size = [], 0
    if waiting:
        for pair in zip(waiting, session.run(waiting)):
            yield pair


def size_of(variable: Variable) -> int:
    """In bytes; 0 where the shape is not known."""
    count = variable.shape.num_elements()
    return 0 if count is None else int(count) * int(variable.dtype.base_dtype.size)


def _scaffold(session: V1Session, network: Network) -> None:
    """Do what the function's ``Scaffold`` wants done after initialization, such as restoring weights."""
    scaffold = network.scaffold
    if scaffold is None:
        return
    for operation in (getattr(scaffold, "_init_op", None), getattr(scaffold, "_local_init_op", None)):
        if operation is not None and hasattr(operation, "graph"):
            session.run(operation, getattr(scaffold, "_init_feed_dict", None))
    function = getattr(scaffold, "init_fn", None)
    if callable(function):
        function(session)
