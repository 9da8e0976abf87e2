"""The same random numbers on both sides.

The seeds of stateful random operations come from one function of TensorFlow, ``random_seed.get_seed``, which is
replaced here; their numbers depend on nothing else, and are the same in TF 1.15 and in TF 2.21.

- `tool` numbers the operations as ``tf.compat.v1.keras.utils.DeterministicRandomTestTool`` does: the first that is
  made gets 0, initial values included.
- `aligned` numbers them within a training step, initial values left out; `graph_seeds.number_step_ops` does the same
  to a TF1 graph. The kernel of an operation keeps the state of its generator between two runs of a session, between two
  calls of a ``tf.function``, and, as eager kernels are cached by their attributes, between two eager calls with the
  same seeds: so step k draws the same numbers on each side.

What TF1 draws in a loop, one operation for all turns, or unrolled, one for each turn, and TF2 at once for all of them,
as the dropout of a cell becomes a layer's, TF2 draws turn by turn: `graph_seeds` lets the turns of TF1's loops come one
after the other, and numbers are the same as long as both sides count turns from the same end.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import random
import sys
import weakref
from types import FrameType
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from ...frames import UserCode
from ...patching import replaced
from ..format.draws import INITIAL_VALUE, STEP
from ..format.rows import Standing, Turns
from ..tensors import Function, Graph, Module, Nest, Tensor
from ..watching.trace_graph import current_trace_graph, function_graphs, name_of
from .function_seeds import draws, seeds
from .ledger import Draw, Ledger, initializing, of_pipeline

__all__ = ["CONSTANT", "NUM_RANDOM_OPS", "aligned", "of_evaluation", "set_seeds", "tool"]

Tell = Callable[[str], None]

CONSTANT = "constant"
NUM_RANDOM_OPS = "num_random_ops"

_FIRST_INITIAL = 2**30
_FIRST_OF_EVALUATION = 2**20
_ITERATOR = "_make_one_shot_iterator"
_NO_DRAW = ("dummy_rng_step", _ITERATOR)
"""Functions of TensorFlow that ask for seeds and draw nothing."""
_BY_SHAPE = ("random_uniform", "random_standard_normal", "truncated_normal", "random_uniform_int")


@contextlib.contextmanager
def tool(mode: str, seed: int = 42, code: UserCode | None = None) -> Iterator[Ledger]:
    """Give random operations the seeds that ``DeterministicRandomTestTool`` gives them, in the body.

    All generators are seeded at its beginning, so that stateless initializers of Keras start alike as well.

    Args:
        mode: ``constant`` (every operation has the seed 0) or ``num_random_ops`` (0, 1, 2 ...).
        seed: of the graph and of all generators.
        code: tells the user's lines in the ledger from all others (`frames.UserCode`).

    Raises:
        ValueError: if there is no such mode.
    """
    if mode not in (CONSTANT, NUM_RANDOM_OPS):
        raise ValueError(f"there is no mode {mode!r} of random numbers")
    from tensorflow.python.framework import random_seed

    ledger = Ledger(code)
    count = 0

    def get_seed(op_seed: int | None) -> tuple[int, int]:
        nonlocal count
        frame = sys._getframe(1)
        if frame.f_code.co_name == _ITERATOR or of_pipeline(frame):  # neither has a counterpart in TF2
            return seeds(seed, 0)
        number = count
        if mode == CONSTANT:
            _set_tensorflow_seed(0)
        elif not current_trace_graph()[1]:  # Keras 3 calls a model twice, the first time for shapes alone
            count += 1
        ledger.asked(number, wanted=op_seed)
        return seeds(seed, number)

    set_seeds(seed)
    with replaced(random_seed, "get_seed", get_seed), ledger.listening():
        yield ledger


@contextlib.contextmanager
def aligned(
    seed: int = 42,
    code: UserCode | None = None,
    heard: Tell | None = None,
    retraced: bool = False,
) -> Iterator[Ledger]:
    """Number random operations within a training step, in the body; call ``begin_step`` of the ledger before each.

    Operations in a ``tf.function`` get their numbers when it is traced; a function that was traced before the body
    began keeps those that it has. Random numbers that layers of Keras 3 draw come from ``tf.random`` then, as TF1
    draws them.

    Args:
        seed: of the graph and of all generators.
        code: tells the user's lines in the ledger from all others (`frames.UserCode`).
        heard: told, as a sentence, what is drawn otherwise than the program does by itself, or is not aligned.
        retraced: whether the steps have batches of several shapes, for which a ``tf.function`` is traced again. As
            the generators of each trace begin anew, functions then draw through Python, by eager kernels.
    """
    from tensorflow.python.framework import random_seed

    heard = heard or (lambda text: None)
    numbers = _Numbers(code, heard, retraced)

    def get_seed(op_seed: int | None) -> tuple[int, int]:
        frame = sys._getframe(1)
        if frame.f_code.co_name in _NO_DRAW or of_pipeline(frame):
            return seeds(seed, 0)
        if initializing(frame):
            number, purpose = numbers.initial(), INITIAL_VALUE
        else:
            number, purpose = numbers.next(), STEP
        numbers.asked(number, purpose)
        return seeds(seed, number)

    # It also forgets the kernels of earlier scenarios, whose generators are not at their beginning any more.
    set_seeds(seed)
    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(random_seed, "get_seed", get_seed))
        stack.enter_context(numbers.listening())
        stack.enter_context(_hearing_calls(numbers))
        stack.enter_context(_layers_of_keras_3(heard))
        yield numbers


def of_evaluation(step: int) -> int:
    """The number of the first random operation in the inference after a training step."""
    return _FIRST_OF_EVALUATION + (step << 10)


def set_seeds(seed: int) -> None:
    """Seed ``random``, numpy, TensorFlow and Keras; eager kernels begin anew."""
    import tensorflow as tf

    random.seed(seed)
    np.random.seed(seed)
    # TensorFlow before 2.7 has no such function, and others may have no Keras.
    with contextlib.suppress(AttributeError, ImportError):
        tf.keras.utils.set_random_seed(seed)
    _set_tensorflow_seed(seed)


class _Numbers(Ledger):
    """Numbers draws within a step, and keeps the ledger of them.

    All draws of a graph are numbered by themselves, from where the step, or the function around it, was when its
    tracing began: a function that is traced twice, as one that makes variables is, gets the same numbers again.
    """

    def __init__(self, code: UserCode | None, heard: Tell, retraced: bool) -> None:
        super().__init__(code)
        self._given: Sequence[int] = ()
        self._turns: dict[int, Turns] = {}
        self._begin = 0
        self._tell = heard
        self._retraced = retraced
        self._next = 0
        self._initial = _FIRST_INITIAL
        self._bases: dict[tuple[str, int], tuple[int, int]] = {}
        self._ends: weakref.WeakKeyDictionary[Graph, int] = weakref.WeakKeyDictionary()
        self._within: weakref.WeakKeyDictionary[Graph, dict[str, tuple[Graph, int]]] = weakref.WeakKeyDictionary()
        self._graphs: weakref.WeakSet[Graph] = weakref.WeakSet()
        self._called: weakref.WeakSet[Graph] = weakref.WeakSet()
        self._of_replicas: dict[int, int] = {}

    def begin_step(self, numbers: Sequence[Standing] = ()) -> None:
        if not self._begun:
            for draw in self.draws:
                draw.purpose = INITIAL_VALUE
        super().begin_step(numbers)
        self._next = self._begin = 0
        self._given = [_first(number) for number in numbers]
        self._turns = {_first(number): number for number in numbers if isinstance(number, Turns)}
        self._of_replicas.clear()

    @contextlib.contextmanager
    def evaluating(self, numbers: Sequence[Standing] = ()) -> Iterator[None]:
        first = self._next = self._begin = of_evaluation(self.step)
        self._given = [first + _first(number) for number in numbers]
        with super().evaluating(numbers):
            yield

    def initial(self) -> int:
        """The number of a draw for an initial value."""
        self._initial += 1
        return self._initial - 1

    def next(self) -> int:
        """The number of a draw of the step; each replica of a strategy has those that a single device would have."""
        if self.share is not None:
            number = self._of_replicas.get(self.share.replica, 0)
            if not current_trace_graph()[1]:
                self._of_replicas[self.share.replica] = number + 1
            return self._numbered(number)
        graphs = function_graphs()
        if not graphs:
            self._next += 1
            return self._numbered(self._next - 1)
        number = self._number(graphs)
        if not current_trace_graph()[1]:
            self._drawn(graphs, number + 1)
        return self._numbered(number)

    def _numbered(self, number: int) -> int:
        at = number - self._begin
        if not self._given or at < 0:
            return number
        return self._given[at] if at < len(self._given) else max(self._given) + 1 + at - len(self._given)

    def _number(self, graphs: Sequence[Graph]) -> int:
        """The number of the next draw in the last of the graphs that are being traced, each within the one before."""
        graph = graphs[-1]
        if graph not in self._ends:
            self._ends[graph] = self._first(graph) if len(graphs) == 1 else self._first_within(graphs)
        return self._ends[graph]

    def _drawn(self, graphs: Sequence[Graph], end: int) -> None:
        """What follows in these graphs, and behind them, is numbered from there."""
        for at in range(len(graphs)):
            self._ends[graphs[at]] = max(self._number(graphs[: at + 1]), end)
        self._next = max(self._next, end)

    def _first(self, graph: Graph) -> int:
        """The number of the first draw of a graph that is being traced."""
        name = name_of(graph)
        number, step = (0, 0)
        if name:
            number, step = self._bases.setdefault((name, self._begin), (self._next, self.step))
        if step < self.step and not self._retraced:
            self._tell(
                f"the function {name} was traced again in step {self.step}, so that its random numbers began anew: "
                "they are not those of the other side"
            )
        return number

    def _first_within(self, graphs: Sequence[Graph]) -> int:
        """As `_first`, of a function that is traced within another; where its last trace never ran it is made anew."""
        outer, inner = graphs[-2:]
        traces = self._within.setdefault(outer, {})
        last, number = traces.get(name_of(inner), (None, 0))
        if last is None or last in self._called:
            number = self._number(graphs[:-1])
        traces[name_of(inner)] = inner, number
        return number

    def called(self, graph: Graph) -> None:
        """A function runs that has been traced already: what follows is numbered behind it."""
        if graph not in self._ends and graph not in self._called:
            if any(draws(one) and one.get_attr("seed2") < _FIRST_INITIAL for one in graph.get_operations()):
                self._tell(
                    f"the function {name_of(graph)} was traced before its random operations could be numbered: its "
                    "random numbers are not those of the other side"
                )
        self._called.add(graph)
        if graph in self._ends:
            self._drawn(function_graphs(), self._ends[graph])

    def _add(self, op: str, seed: int | None, frame: FrameType, purpose: str | None) -> Draw:
        graph, symbolic = current_trace_graph()
        name = name_of(graph)
        if graph is not None and name and not symbolic and graph not in self._graphs:
            self._graphs.add(graph)
            source = name, self.step
            self.draws[:] = [draw for draw in self.draws if draw.source != source or draw.purpose != STEP]
        draw = super()._add(op, seed, frame, purpose)
        draw.source = name, self.step
        if symbolic and draw in self.draws[-1:]:
            self.draws.pop()
        return draw

    def _heard(self, name: str, function: Function, stateful: bool) -> Function:
        if name in _BY_SHAPE:
            return super()._heard(name, functools.partial(self._rows, function), stateful)
        return super()._heard(name, function, stateful)

    def _rows(self, function: Function, shape: Tensor, *arguments: Any, **named: Any) -> Tensor:
        """What a replica draws for its rows of a batch are the rows that a single device draws for them."""
        import tensorflow as tf

        turns = self._turns.get(named.get("seed2", -1))
        if turns is not None:
            function = functools.partial(_through_python, functools.partial(self._by_turns, function, turns))
        elif self._retraced:
            function = functools.partial(_through_python, function)
        share = self.share
        if share is None or share.rows == share.whole or named.get("seed2", _FIRST_INITIAL) >= _FIRST_INITIAL:
            return function(shape, *arguments, **named)
        sizes = tf.get_static_value(tf.convert_to_tensor(shape))
        if sizes is None or not len(sizes) or sizes[0] % share.rows or (sizes[0] > share.rows and share.rows == 1):
            return function(shape, *arguments, **named)
        times = sizes[0] // share.rows
        drawn = function([share.whole * times, *sizes[1:]], *arguments, **named)
        return drawn[share.first * times:(share.first + share.rows) * times]

    def _by_turns(self, function: Function, turns: Turns, shape: Tensor, *arguments: Any, **named: Any) -> Tensor:
        """Draw by eager kernels what TF1 draws turn by turn; what it does not reach gets what the last turn drew."""
        import tensorflow as tf

        shape = tf.convert_to_tensor(shape)
        if not tf.executing_eagerly():
            return function(shape, *arguments, **named)
        sizes = [int(size) for size in shape]
        length = sizes.pop(turns.axis)
        numbers = list(turns.numbers)
        if turns.counts:
            numbers *= min(length, turns.counts[min(self.step, len(turns.counts) - 1)])
        drawn = []
        for number in numbers:
            named["seed"], named["seed2"] = seeds(named["seed"], number)
            drawn.append(function(tf.constant(sizes, shape.dtype), *arguments, **named))
        drawn += drawn[-1:] * (length - len(drawn))
        return tf.stack(drawn, turns.axis)


def _first(number: Standing) -> int:
    return number.numbers[0] if isinstance(number, Turns) else number


def _through_python(function: Function, *arguments: Any, **named: Any) -> Tensor:
    """Draw by an eager kernel also where a function is traced; initial values are drawn as ever."""
    import tensorflow as tf

    graph, symbolic = current_trace_graph()
    if graph is None or symbolic or named.get("seed2", _FIRST_INITIAL) >= _FIRST_INITIAL:
        return function(*arguments, **named)
    if len(arguments) < 2 or not hasattr(graph, "outer_graph"):
        return function(*arguments, **named)
    shape, rest = tf.convert_to_tensor(arguments[0]), arguments[1:]
    dtype = rest[0].dtype if hasattr(rest[0], "dtype") else rest[0]

    def draw(shape: Tensor, *bounds: Tensor) -> Tensor:
        return function(shape, *(bounds or rest), **named)

    named.pop("name", None)
    drawn = tf.py_function(draw, [shape] + [value for value in rest if hasattr(value, "dtype")], dtype)
    drawn.set_shape(tf.get_static_value(shape, partial=True))
    return drawn


@contextlib.contextmanager
def _hearing_calls(numbers: _Numbers) -> Iterator[None]:
    try:
        owner = importlib.import_module("tensorflow.python.eager.polymorphic_function.concrete_function")
        original = owner.ConcreteFunction._call_flat
    except (ImportError, AttributeError):  # TensorFlow before 2.11
        yield
        return

    def call(self: Any, *arguments: object, **named: object) -> Nest:
        numbers.called(self.graph)
        return original(self, *arguments, **named)

    with replaced(owner.ConcreteFunction, "_call_flat", call):
        yield


@contextlib.contextmanager
def _layers_of_keras_3(heard: Tell) -> Iterator[None]:
    """Draw what layers draw through the backend of Keras 3 by ``tf.random``; initial values stay as they are."""
    try:
        owner = _backend_of_keras_3()
    except ImportError:
        yield
        return
    import tensorflow as tf

    drawn = {"normal": tf.random.normal, "uniform": tf.random.uniform, "truncated_normal": tf.random.truncated_normal}

    def own(seed: object) -> bool:
        """Whether it is an initial value, whose seed is a number, or otherwise not drawn by a layer."""
        if seed is not None and not isinstance(seed, owner.SeedGenerator):
            return True
        heard("random numbers that layers of Keras 3 draw were drawn by tf.random, as TF1 draws them")
        return False

    def like(name: str) -> Function:
        original = getattr(owner, name)

        def draw(shape: Tensor, *arguments: Any, **named: Any) -> Tensor:
            if len(arguments) > 3 or own(named.get("seed")):
                return original(shape, *arguments, **named)
            named.pop("seed", None)
            dtype = (arguments[2] if len(arguments) > 2 else named.pop("dtype", None)) or owner.floatx()
            return drawn[name](shape, *arguments[:2], dtype=dtype, **named)

        return draw

    def dropout(inputs: Tensor, rate: Tensor, noise_shape: Tensor = None, seed: object = None) -> Tensor:
        if rate in (0.0, 1.0) or own(seed):
            return plain_dropout(inputs, rate, noise_shape=noise_shape, seed=seed)
        if noise_shape is not None:
            noise_shape = [tf.shape(inputs)[at] if size is None else size for at, size in enumerate(noise_shape)]
        return tf.nn.dropout(inputs, rate=rate, noise_shape=noise_shape)

    plain_dropout = owner.dropout
    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(owner, "dropout", dropout))
        for name in drawn:
            stack.enter_context(replaced(owner, name, like(name)))
        yield


def _backend_of_keras_3() -> Module:
    """The module of the backend; where Keras 3 is not in use, ImportError."""
    import tensorflow as tf

    if "keras.src.backend" not in sys.modules:
        keras = getattr(tf, "keras", None)
        if not str(getattr(keras, "__version__", "")).startswith("3"):
            raise ImportError("Keras 3 is not in use")
    owner = importlib.import_module("keras.src.backend.tensorflow.random")
    if not hasattr(owner, "dropout"):
        raise ImportError("Keras 3 is not in use")
    return owner


def _set_tensorflow_seed(seed: int) -> None:
    from tensorflow.python.framework import random_seed

    getattr(random_seed, "set_seed", random_seed.set_random_seed)(seed)
