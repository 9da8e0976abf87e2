"""Records the batches that the input pipelines of a pair give: datasets, tensors of a graph, queues, what is iterable.

Both sides are seeded alike. A pipeline is begun a second time with another seed: whether other batches come then is
whether it is random. One of a TF1 graph is begun once more with the first seed: where other batches come then, and
nothing of the graph shuffles, its threads race.

Under a strategy it is what each replica gets of a dataset, in all processes of a cluster. They are seeded alike, and
the second time TensorFlow has no seed, and Python and numpy one of each process, as in programs that set none.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from .. import strategies
from ..errors import essence
from ..frames import UserCode, place_of
from ..patching import definer, replaced, wrapped
from .format.attempts import NotRunError
from .format.store import Chapter
from .pairs import structures
from .pairs.batches import PairError, seeded
from .pairs.mapping import plain
from .pairs.pair import Pair
from .tensors import Array, Function, Json, Nest, Operation, Strategy

__all__ = ["record_pipeline"]

_MOST = 100
"""Batches of a side that are looked at, and bytes of them."""
_BYTES = 64 << 20
_AGAIN = 10
"""Batches under another seed."""
_FROM_FUNCTION = "distribute_datasets_from_function"

Named = Mapping[str, Array]
"""A batch: arrays by their path in it."""


def record_pipeline(
    chapter: Chapter, pair: Pair, side: str, seed: int, code: UserCode, strategy: Strategy = None
) -> None:
    """Record a side's batches as records of the kind ``data``, one a step.

    Under a strategy a record is what one replica gets, ``REPLICA/NAME``, and those of the kind ``unseeded`` are of
    several processes that set no seed, as far as these differ.

    Args:
        chapter: where to; it says whether the pipeline ``ended``, whether it is ``random``, whether its threads
            ``race``, what it ``shuffles``, and under a strategy which ``datasets`` the user's lines make.
        pair: its ``data`` are the functions of both sides.
        side: ``tf1`` or ``tf2``.
        seed: of all randomness.
        code: tells the user's files.
        strategy: which distributes the dataset of TF2; None for one device.

    Raises:
        NotRunError: if the pair names no pipelines, or the strategy cannot distribute this one.
        PairError: if what a function gives is no pipeline.
        Exception: whatever the user's code raises.
    """
    if pair.data is None:
        raise NotRunError("the pair names no input pipelines")
    function = pair.data[("tf1", "tf2").index(side)]
    begun: Callable[..., Iterator[Named]] = _of_graph if side == "tf1" else _of_dataset
    shuffles: list[Json] = []
    datasets: list[Json] = []
    watched = _shuffling(shuffles, code)
    many, task = 1, None
    if strategy is not None:
        import tensorflow as tf

        many, task = 2, strategies.task(tf, strategy)
        begun, watched = functools.partial(_of_replicas, strategy), _making(datasets, strategy, code)
    first = _Looked(many)
    with watched, _begun(begun, function, pair, seed) as batches:
        for step, batch in enumerate(first.through(batches)):
            for name, array in batch.items():
                chapter.add("data", name, array, step)
    again = _Looked(many)
    if task is not None:
        begun = functools.partial(begun, seeds=False)
    with _begun(begun, function, pair, seed + 1 + (task or 0)) as batches:
        for step, batch in enumerate(again.through(batches)):
            for name, array in batch.items() if task is not None else ():
                chapter.add("unseeded", name, array, step)
            if step + 1 == _AGAIN and (task is None or again.begins_as(first)):
                break
    random, races = not again.begins_as(first), False
    if random and side == "tf1" and not shuffles:
        once_more = _Looked(1)
        with _begun(_of_graph, function, pair, seed) as batches:
            looked = list(itertools.islice(once_more.through(batches), _AGAIN))
        races = bool(looked) and not once_more.begins_as(first) and not _shuffled(function, pair)
    chapter.say(ended=first.ended, random=random, races=races, shuffles=shuffles)
    if strategy is not None:
        chapter.say(datasets=datasets)


class _Looked:
    """The batches that were looked at, as digests.

    Attributes:
        ended: whether these are all.
    """

    def __init__(self, many: int) -> None:
        self.ended = False
        self._many = many
        self._digests: list[list[tuple[str, bytes]]] = []

    def through(self, batches: Iterator[Named]) -> Iterator[Named]:
        """Batches up to `many` times the limits."""
        size = 0
        while len(self._digests) < _MOST * self._many and size < _BYTES * self._many:
            batch = next(batches, None)
            if batch is None:
                self.ended = True
                return
            self._digests.append(_digest(batch))
            size += sum(array.nbytes for array in batch.values())
            yield batch

    def begins_as(self, other: _Looked) -> bool:
        """Whether the first batches are those of another one."""
        return self._digests[:_AGAIN] == other._digests[:_AGAIN]


@contextlib.contextmanager
def _begun(begin: Callable[..., Any], function: Function, pair: Pair, seed: int) -> Iterator[Iterator[Named]]:
    with seeded(seed), contextlib.closing(begin(function, pair, seed)) as batches:
        yield batches


def _digest(batch: Named) -> list[tuple[str, bytes]]:
    return [(name, array.tobytes()) for name, array in batch.items()]


def _of_graph(function: Function, pair: Pair, seed: int) -> Iterator[Named]:
    """What a TF1 pipeline gives in a session: a dataset, tensors, or batches of Python."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(seed)
        value = _called(function, pair)
        if _is_dataset(value):
            value = v1.data.make_initializable_iterator(value).get_next()
        fetched = {} if hasattr(value, "__next__") else dict(structures.flat(value, "batch"))
        if not any(isinstance(leaf, (tf.Tensor, v1.Variable)) for leaf in fetched.values()):
            yield from _of_python(value)
            return
        coordinator = v1.train.Coordinator()
        with v1.Session(graph=graph) as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            session.run([v1.tables_initializer(), *_iterators(graph)])
            threads = v1.train.start_queue_runners(session, coordinator)
            try:
                while True:
                    yield {name: _array(array, name) for name, array in session.run(fetched).items()}
            except tf.errors.OutOfRangeError:
                return
            finally:
                coordinator.request_stop()
                with contextlib.suppress(Exception):  # of a queue that is closed while it is filled
                    coordinator.join(threads, stop_grace_period_secs=2)


def _shuffled(function: Function, pair: Pair) -> bool:
    """Whether what a TF1 graph reads goes through an operation that shuffles more than one thing."""
    import tensorflow as tf

    with tf.Graph().as_default():
        value = _called(function, pair)
        waiting = [leaf.op for leaf in dict(structures.flat(value, "batch")).values() if hasattr(leaf, "op")]
        met: set[Operation] = set()
        while waiting:
            operation = waiting.pop()
            if operation in met:
                continue
            met.add(operation)
            one = operation.type == "RandomShuffle" and operation.inputs[0].shape.rank and operation.inputs[0].shape[0]
            if "Shuffle" in operation.type and int(one or 0) != 1:
                return True
            waiting += [tensor.op for tensor in operation.inputs]
            if "Queue" in operation.type and not operation.inputs:  # what is put into it does not stand behind it
                waiting += [user for out in operation.outputs for user in out.consumers()]
        return False


def _iterators(graph: Any) -> list[Any]:
    """The operations that begin a dataset in a graph; Estimators run them, too."""
    return [operation for operation in graph.get_operations() if operation.type == "MakeIterator"]


def _of_dataset(function: Function, pair: Pair, seed: int) -> Iterator[Named]:
    """What a TF2 pipeline gives eagerly."""
    import tensorflow as tf

    tf.random.set_seed(seed)
    yield from _of_python(_called(function, pair))


def _of_replicas(
    strategy: Strategy, function: Function, pair: Pair, seed: int, seeds: bool = True
) -> Iterator[Named]:
    """What a TF2 pipeline gives to each replica, in all processes; TensorFlow is given the seed where it `seeds`."""
    import tensorflow as tf

    if strategies.has_servers(tf, strategy):
        raise NotRunError("each worker of parameter servers reads a pipeline of its own, at its own pace")
    tf.random.set_seed(seed if seeds else None)
    given: list[Any] = []

    def begin() -> None:
        with strategy.scope():
            value = _called(function, pair)
        own = strategies.is_distributed(tf, value)
        if not own and not _is_dataset(value):
            raise NotRunError(f"a strategy distributes datasets, and data gave a {type(value).__name__}")
        with contextlib.nullcontext() if own else _distributing():
            given.append(iter(strategies.distributed(tf, strategy, value)))

    def batch() -> Any:
        found = next(given[0], None)
        return () if found is None else [_named(part) for part in strategies.split(tf, strategy, found)]

    strategies.together(tf, strategy, begin)
    while True:
        parts = [part for parts in strategies.together(tf, strategy, batch) for part in parts]
        if not parts:
            return
        yield {f"{at}/{name}": array for at, part in enumerate(parts) for name, array in part.items()}


@contextlib.contextmanager
def _distributing() -> Iterator[None]:
    """Of a dataset that the program has not distributed itself: that it cannot be is no fault of the program."""
    try:
        yield
    except Exception as error:
        raise NotRunError(f"the strategy cannot distribute the dataset: {essence(error)}") from error


def _named(batch: Nest) -> Named:
    return {name: _array(leaf, name) for name, leaf in structures.flat(_by_name(batch), "batch")}


def _of_python(value: Nest) -> Iterator[Named]:
    """The batches of a dataset, a sequence of Keras, or what else can be iterated over."""
    if not _iterable(value):
        raise PairError(f"data gave an object of type {type(value).__name__}: wanted is a dataset, tensors or batches")
    indexed = hasattr(value, "__getitem__") and hasattr(value, "__len__")
    for batch in (value[number] for number in range(len(value))) if indexed else value:
        yield _named(batch)


def _iterable(value: Nest) -> bool:
    """Whether it gives batches one by one, and is not a batch itself."""
    if isinstance(value, (tuple, dict)) or hasattr(value, "dtype"):
        return False
    return hasattr(value, "__iter__") or (hasattr(value, "__getitem__") and hasattr(value, "__len__"))


def _by_name(batch: Nest) -> Nest:
    """A batch that is fed, with the names of its placeholders."""
    if isinstance(batch, dict):
        return {plain(str(getattr(key, "name", key))): part for key, part in batch.items()}
    return batch


def _array(leaf: Any, name: str) -> Array:
    array = np.asarray(leaf.numpy() if hasattr(leaf, "numpy") else leaf)
    if array.dtype.kind != "O":
        return array
    if not all(isinstance(one, (str, bytes)) for one in array.reshape(-1)):
        raise PairError(f"{name} of a batch of data is no array of numbers or texts")
    return array.astype(np.bytes_ if array.size and isinstance(array.reshape(-1)[0], bytes) else np.str_)


def _called(function: Function, pair: Pair) -> Nest:
    """The user's function, which may take the pair's ``params``."""
    with contextlib.suppress(TypeError, ValueError):
        if "params" in inspect.signature(function).parameters:
            return function(params=pair.params)
    return function()


def _is_dataset(value: Nest) -> bool:
    import tensorflow as tf

    return isinstance(value, (tf.compat.v1.data.Dataset, tf.data.Dataset))


@contextlib.contextmanager
def _shuffling(shuffles: list[Json], code: UserCode) -> Iterator[None]:
    """Note how many examples a dataset or a queue shuffles among, and the user's line."""
    from tensorflow.python.data.ops import dataset_ops
    from tensorflow.python.ops import data_flow_ops

    shuffle = vars(dataset_ops.DatasetV2)["shuffle"]
    make = data_flow_ops.RandomShuffleQueue.__init__

    def noted(size: Any) -> None:
        place = place_of(code.stack())
        with contextlib.suppress(TypeError, ValueError):  # a size that only the graph knows
            told = {"size": int(size), "place": None if place is None else list(place)}
            if told not in shuffles:
                shuffles.append(told)

    def shuffled(self: Any, buffer_size: Any, *more: Any, **named: Any) -> Any:
        noted(buffer_size)
        return shuffle(self, buffer_size, *more, **named)

    def made(self: Any, capacity: Any, min_after_dequeue: Any, *more: Any, **named: Any) -> None:
        noted(capacity)
        make(self, capacity, min_after_dequeue, *more, **named)

    queue = replaced(data_flow_ops.RandomShuffleQueue, "__init__", made)
    with replaced(dataset_ops.DatasetV2, "shuffle", shuffled), queue:
        yield


@contextlib.contextmanager
def _making(datasets: list[Json], strategy: Strategy, code: UserCode) -> Iterator[None]:
    """Note which datasets the user's lines make, by class, and where a function makes that of each process."""
    from tensorflow.python.data.ops import dataset_ops

    def note(what: str) -> None:
        place = place_of(code.stack())
        told = {"what": what, "place": None if place is None else list(place)}
        if place is not None and told not in datasets:
            datasets.append(told)

    def noting(original: Function) -> Function:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            note(type(self).__name__)
            original(self, *args, **kwargs)

        return init

    def calling(original: Function) -> Function:
        def distribute(self: Any, *args: Any, **kwargs: Any) -> Any:
            note(_FROM_FUNCTION)
            return original(self, *args, **kwargs)

        return distribute

    from_function = wrapped(definer(type(strategy), _FROM_FUNCTION), _FROM_FUNCTION, calling)
    with wrapped(dataset_ops.DatasetV2, "__init__", noting), from_function:
        yield
