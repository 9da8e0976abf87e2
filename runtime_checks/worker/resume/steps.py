"""Where a step begins and ends: around the outermost call of a compiled function, or of an eager optimizer.

What counts as a step is what was executed: an optimizer that had counted one update more, or whose weights had moved,
when the call returned. What was traced counts for nothing.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from ..errors import essence, one_line
from ..patching import wrapped
from ..recording.tensors import Function, Nest, Optimizer, Tensor, Variable
from ..recording.watching import keras_optimizers
from ..recording.watching.classes import in_keras, optimizers
from .objects import raw
from .sessions import Run, Sessions
from .state import States
from .streams import Streams
from .trace import State, Trace, digest

__all__ = ["Steps"]

_MOST = 64
"""What iterators give, and what models are called with, in one step: so many of the last are told."""


class Steps:
    """Writes a row for each step.

    Args:
        trace: gets the rows.
        streams: are aligned before each step.
        behind: called behind each step with the number of steps that were done.
        beginnings: ``weights`` and ``applied`` of each step of the uninterrupted run; empty in that one.
        owners: its optimizers, by their numbers.
    """

    def __init__(
        self,
        trace: Trace,
        streams: Streams,
        behind: Callable[[int], None],
        beginnings: Sequence[Mapping[str, Any]] = (),
        owners: Mapping[int, Sequence[str]] | None = None,
    ) -> None:
        likely = [at for one in beginnings[streams.step : streams.step + 1] for at in one["applied"]]
        self.states = States(streams.objects, self._note, owners, likely)
        self.done = 0
        self._trace = trace
        self._streams = streams
        self._beginnings = [one["weights"] for one in beginnings]
        self._held: dict[int, int] = {}
        self._behind = behind
        self._first = streams.step
        self._inside = False
        self._begin: State = {}
        self._counts: dict[Any, Any] = {}
        self._data: list[str] = []
        self._given: list[str] = []
        self._loss: float | None = None
        self._lock = threading.Lock()
        self._noted: set[str] = set()
        self._sessions = Sessions(
            streams.objects, self._begins, self._ran, lambda: self._behind(self.done), self._safely, self._note,
            lambda: streams.step + 1
        )

    def now(self) -> tuple[State, dict[str, Any]]:
        """The state, and the values of the weights by their keys."""
        return self._sessions.last() or (self.states.read(), self.states.weights())

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch what is executed in the body."""
        import tensorflow as tf
        from tensorflow.python.data.ops import iterator_ops
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._sessions.watching())
            stack.enter_context(keras_optimizers.watching(self._applied))
            with contextlib.suppress(ImportError):  # TensorFlow 1
                from tensorflow.python.eager.polymorphic_function import polymorphic_function

                stack.enter_context(wrapped(polymorphic_function.Function, "__call__", self._outermost))
            for cls in optimizers():
                for name in ("apply", "apply_gradients"):
                    if name in vars(cls):
                        stack.enter_context(wrapped(cls, name, self._outermost))
            iterator = getattr(iterator_ops, "OwnedIterator", None) or iterator_ops.IteratorV2
            stack.enter_context(wrapped(iterator, "_next_internal", self._iterating))
            stack.enter_context(wrapped(iterator, "get_next_as_optional", self._asking))
            stack.enter_context(wrapped(tf.GradientTape, "gradient", self._differentiating))
            for cls in in_keras("layers.Layer"):
                stack.enter_context(wrapped(cls, "__call__", self._calling))
            yield

    # -- a step ---------------------------------------------------------------------------------------------------

    def _outermost(self, original: Function) -> Function:
        @functools.wraps(original)
        def call(owner: Any, *arguments: Nest, **named: Nest) -> Nest:
            if self._inside or not _is_ours():
                return original(owner, *arguments, **named)
            self._safely(self._before)
            self._inside = True
            try:
                result = original(owner, *arguments, **named)
            finally:
                self._inside = False
            done = self.done
            self._safely(lambda: self._after((arguments, named), result))
            if self.done > done:
                self._behind(self.done)
            return result

        return call

    def _safely(self, look: Callable[[], None]) -> None:
        """Look at the program; what cannot be looked at is noted, and does not reach it."""
        try:
            look()
        except Exception as error:
            self._note(f"a step could not be looked at: {one_line(essence(error))}")

    def _note(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self._trace.add("note", text=text)

    def _before(self) -> None:
        self._begin, self._counts = {}, {}
        self._streams.begin()
        self._begin, self._counts = self.states.read(), self.states.counts()
        self._match()

    def _after(self, called: Nest, result: Nest) -> None:
        counts = self.states.counts()
        made = {at: _updates(self._counts.get(at), count) for at, count in counts.items()}
        updates = sum(made[at] for at in made if isinstance(at, int)) or max(made.values(), default=0)
        if updates:
            self._step([at for at, count in made.items() if isinstance(at, int) and count], updates, called, result)

    def _applied(self, optimizer: Optimizer, pairs: Sequence[Sequence[Any]], rate: Tensor) -> None:
        """An update will be made, or is being traced: what has not been seen before is looked at before it is."""
        import tensorflow as tf
        from tensorflow.python.framework import ops

        if not ops.executing_eagerly_outside_functions():
            self._sessions.applied(optimizer, [variable for _, variable in pairs])
            return
        traced = not tf.executing_eagerly()
        with tf.init_scope():
            if tf.executing_eagerly():
                self._safely(lambda: self._met(optimizer, [variable for _, variable in pairs], traced))

    def _met(self, optimizer: Optimizer, variables: Sequence[Variable], traced: bool) -> None:
        self.states.applied(optimizer, variables)
        for at, count in self.states.counts().items():
            self._counts.setdefault(at, count)
        before, keys = self._begin, self.states.keys
        self._begin = self.states.read()
        if not traced:  # what runs eagerly here has begun: what it has changed by now is known from before it
            for one, key in self.states.keys.items():
                if key in self._begin and keys.get(one) in before:  # by another key, maybe: more is known to be trained
                    self._begin[key][2:] = before[keys[one]][2:]
            told = set(keys.values())
            self._begin.update((key, row) for key, row in before.items() if key not in told)
        self._match()

    def _match(self) -> None:
        """Find out where in the uninterrupted run the first step is, by its weights; of several the last one."""
        if self.done or not self._beginnings:
            return
        weights = _weights_of(self._begin) or {"": ""}
        places = [at for at, known in enumerate(self._beginnings) if known and weights.items() <= known.items()]
        if places and self._first not in places:
            self._first = self._streams.step = places[-1]
            self._streams.begin()

    def _begins(self, begin: State) -> None:
        """A session runs a step, which begins with this."""
        self._begin = begin
        self._match()

    def _ran(self, run: Run) -> None:
        """A session has run a step."""
        self._row(run.begin, run.data, run.given, [0], 1, run.loss)

    def _step(self, applied: Sequence[int], updates: int, called: Nest, result: Nest) -> None:
        loss = _loss(result)
        with self._lock:
            data, self._data = self._data, []
            given, self._given = self._given, []
        arrays = _arrays(called)
        whole = digest(*given) if given else None
        loss = self._loss if loss is None else loss
        self._row(self._begin, data[-_MOST:], list(map(digest, arrays)) if arrays else whole, applied, updates, loss)

    def _row(
        self,
        begin: State,
        data: Sequence[str],
        given: str | Sequence[str] | None,
        applied: Sequence[int],
        updates: int,
        loss: float | None,
    ) -> None:
        held = {at: len(weights) for at, (_, weights) in self.states.optimizers.items()}
        if held != self._held:
            self._held = held
            self._trace.add("owners", optimizers=self.states.owners())
        self._trace.add(
            "step", begin=begin, weights=_weights_of(begin), data=data, given=given, applied=applied, updates=updates,
            loss=loss
        )
        if not self.done and self._streams.objects.firsts is not None:
            self._trace.add("firsts", values=self._sessions.firsts() or self.states.firsts)
        self._loss = None
        self.done += 1
        self._streams.step = self._first + self.done
        self._streams.begin()
        self._begin = {}

    # -- what it gets ---------------------------------------------------------------------------------------------

    def _iterating(self, original: Function) -> Function:
        @functools.wraps(original)
        def following(iterator: Any, *arguments: Nest, **named: Nest) -> Nest:
            import tensorflow as tf

            elements = original(iterator, *arguments, **named)
            parts = _leaves(elements)
            if tf.executing_eagerly():
                self._heard(*parts)
            elif parts:
                tf.py_function(self._heard, parts, tf.int64)
            return elements

        return following

    def _asking(self, original: Function) -> Function:
        @functools.wraps(original)
        def following(iterator: Any, *arguments: Nest, **named: Nest) -> Nest:
            import tensorflow as tf

            optional = original(iterator, *arguments, **named)

            def some() -> Tensor:
                parts = _leaves(optional.get_value())
                return self._heard(*parts) if tf.executing_eagerly() else tf.py_function(self._heard, parts, tf.int64)

            tf.cond(optional.has_value(), some, lambda: tf.constant(0, tf.int64))
            return optional

        return following

    def _heard(self, *parts: Tensor) -> Tensor:
        import tensorflow as tf

        found = digest(*[part.numpy() for part in parts])
        with self._lock:
            self._data.append(found)
        return tf.constant(0, tf.int64)

    def _calling(self, original: Function) -> Function:
        @functools.wraps(original)
        def call(layer: Any, *arguments: Nest, **named: Nest) -> Nest:
            if self._inside or not _is_ours():
                return original(layer, *arguments, **named)
            found = _arrays((arguments, named))
            if found:
                self._given = [*self._given[1 - _MOST :], digest(*found)]
            self._inside = True
            try:
                return original(layer, *arguments, **named)
            finally:
                self._inside = False

        return call

    def _differentiating(self, original: Function) -> Function:
        @functools.wraps(original)
        def gradient(tape: Any, target: Nest, *arguments: Nest, **named: Nest) -> Nest:
            import tensorflow as tf

            if not self._inside and tf.executing_eagerly():
                self._loss = _loss(target)
            return original(tape, target, *arguments, **named)

        return gradient


def _leaves(elements: Nest) -> list[Tensor]:
    import tensorflow as tf

    return [part for part in tf.nest.flatten(elements, expand_composites=True) if hasattr(part, "dtype")]


def _weights_of(state: Mapping[str, Sequence[Any]]) -> dict[str, str] | None:
    """One digest of the weights of each optimizer; None where none is known, or one has no value yet."""
    found: dict[str, list[str]] = {}
    for key, row in sorted(state.items()):
        if key.startswith("weight "):
            at, _, index = key[len("weight ") :].partition("/")
            found.setdefault(at, []).extend((index, row[2]))
    if not all(text for texts in found.values() for text in texts):
        return None
    return {at: digest(texts) for at, texts in found.items()} or None


def _is_ours() -> bool:
    """Whether the program itself runs here, and not a graph that is built, or a thread of the pipeline's."""
    import tensorflow as tf

    return tf.executing_eagerly() and threading.current_thread() is threading.main_thread()


def _updates(before: Any, after: Any) -> int:
    if before is None:
        return 0
    return max(after - before, 0) if isinstance(after, int) else int(after != before)


def _arrays(called: Nest) -> list[Any]:
    """The arrays and tensors among the arguments of a call; variables are none."""
    import tensorflow as tf

    found = []
    for leaf in tf.nest.flatten(called, expand_composites=True):
        if isinstance(leaf, np.ndarray):
            found.append(leaf)
        elif tf.is_tensor(leaf) and hasattr(leaf, "numpy") and not _is_variable(leaf):
            with contextlib.suppress(Exception):
                found.append(leaf.numpy())
    return found


def _is_variable(leaf: Variable) -> bool:
    return hasattr(raw(leaf), "assign")


def _loss(result: Nest) -> float | None:
    """What is called ``loss`` in what a step gives back, or the first number in it."""
    import tensorflow as tf

    if hasattr(result, "get_value") and hasattr(result, "has_value"):  # as the function of Keras 3 gives it
        with contextlib.suppress(Exception):
            result = result.get_value()

    if isinstance(result, Mapping) and "loss" in result:
        result = result["loss"]
    for leaf in tf.nest.flatten(result, expand_composites=True):
        with contextlib.suppress(Exception):
            value = np.asarray(leaf)
            if value.dtype.kind == "f" and value.size == 1:
                return float(value.reshape(-1)[0])
    return None
