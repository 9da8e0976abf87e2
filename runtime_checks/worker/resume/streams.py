"""Random streams that no checkpoint holds: those of layers, and of operations such as ``tf.random.normal``.

For a comparison they begin each step at a place that follows from the number of the step alone, so that a run that was
resumed at a step draws there what the other one drew. Pipelines and initial values draw as ever.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any, Iterator

from ..patching import replaced, wrapped
from ..recording.randomness.ledger import initializing
from ..recording.tensors import Function, Nest, Tensor
from ..recording.watching.trace_graph import function_graphs, name_of
from .objects import Objects, raw

__all__ = ["PLACE", "SEED", "Streams"]

SEED = 42

PLACE = "migrate_lint_place"
"""The tensor of a TF1 graph that holds the place of its streams; a session that runs a step feeds it."""

_OPERATIONS = {
    "random_standard_normal": "normal",
    "random_uniform": "uniform",
    "random_uniform_int": "integers",
    "truncated_normal": "truncated_normal",
}


class Streams:
    """The streams; ``step`` is the number of the step that comes next in the uninterrupted run.

    Args:
        seed: of graphs of TensorFlow 1 that have none.
        firsts: whether the first values of variables are kept.
    """

    def __init__(self, seed: int = SEED, firsts: bool = False) -> None:
        self._seed = seed
        self.objects = Objects(self.begin, firsts)
        self.step = 0
        self._own: Any = None
        self._count = 0
        self.drawn = False
        """Whether an operation drew from a stream of no object."""

    @property
    def aligned(self) -> bool:
        """Whether anything was aligned."""
        return self.drawn or bool(self.objects.of("own"))

    def begin(self) -> None:
        """Put every stream where it is at the beginning of the step.

        All of them at the same place: which is which cannot be told between a model that is built and one that is
        loaded.
        """
        import tensorflow as tf

        streams = self.objects.of("own") + ([] if self._own is None else [self._own])
        with tf.init_scope():
            for stream in streams:
                with contextlib.suppress(Exception):  # one that is not complete yet, or another version's
                    state = raw(stream.state)
                    place = [self.step + 1, 0, 0][: int(state.shape[0])]
                    state.assign(tf.constant(place, state.dtype))

    @contextlib.contextmanager
    def replacing(self) -> Iterator[None]:
        """Let operations without a state of their own draw from one that can be put at a place."""
        from tensorflow.python.framework import ops
        from tensorflow.python.ops import gen_random_ops

        with contextlib.ExitStack() as stack:
            stack.enter_context(replaced(ops.Graph, "seed", _seeds(ops.Graph.seed, self._seed)))
            for name, method in _OPERATIONS.items():
                stack.enter_context(wrapped(gen_random_ops, name, functools.partial(self._drawing, name, method)))
            yield

    def _drawing(self, name: str, method: str, original: Function) -> Function:
        def draw(shape: Tensor, *arguments: Any, **named: Any) -> Nest:
            if initializing(sys._getframe(1)) or _in_a_pipeline():
                return original(shape, *arguments, **named)
            if not _is_tf2():
                return self._placed(name, shape, *arguments, **named)
            generator = self._generator()
            if method == "integers":
                low, high = arguments[:2]
                return generator.uniform(shape, low, high, dtype=low.dtype)
            return getattr(generator, method)(shape, dtype=named.get("dtype", arguments[0] if arguments else None))

        return draw

    def _placed(self, name: str, shape: Tensor, *arguments: Any, **named: Any) -> Nest:
        """What an operation in a TF1 graph draws, from a seed that a session can feed."""
        import tensorflow as tf
        from tensorflow.python.ops import gen_stateless_random_ops as stateless

        self.drawn = True
        with tf.init_scope():
            graph = tf.compat.v1.get_default_graph()
            try:
                place = graph.get_tensor_by_name(f"{PLACE}:0")
            except KeyError:
                with tf.compat.v1.name_scope(None):
                    place = tf.compat.v1.placeholder_with_default(tf.constant(0, tf.int64), (), name=PLACE)
            self._count += 1
            seed = tf.stack([tf.constant(self._count, tf.int64), place])
        if name == "random_uniform_int":
            return stateless.stateless_random_uniform_int(shape, seed, *arguments[:2])
        draw = {
            "random_uniform": stateless.stateless_random_uniform,
            "random_standard_normal": stateless.stateless_random_normal,
            "truncated_normal": stateless.stateless_truncated_normal,
        }[name]
        return draw(shape, seed, dtype=named.get("dtype", arguments[0] if arguments else None))

    def _generator(self) -> Any:
        import tensorflow as tf

        self.drawn = True
        if self._own is None:
            with tf.init_scope():
                self._own = tf.random.Generator.from_state([self.step + 1, 0, 0], "philox")
            self.objects.forget(self._own)
        return self._own


def _seeds(original: Any, given: int) -> property:
    """The seed of a graph, of which one has got none: else its operations would draw other things in each process."""

    def seed(graph: Any) -> Any:
        found = original.fget(graph)
        return given if found is None else found

    return property(seed, original.fset)


def _is_tf2() -> bool:
    """Whether an operation is made in a program that runs eagerly."""
    from tensorflow.python.framework import ops

    return bool(ops.executing_eagerly_outside_functions())


def _in_a_pipeline() -> bool:
    """Whether an operation is made in a function of a pipeline."""
    return any("Dataset_" in name_of(graph) for graph in function_graphs())
