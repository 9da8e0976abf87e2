"""Programs that make their graphs themselves: all they build goes into the one graph that is recorded."""

from __future__ import annotations

import contextlib
from typing import Callable, Iterator

from ...patching import replaced
from ..tensors import Graph
from .estimator import public_modules

__all__ = ["one_graph"]


@contextlib.contextmanager
def one_graph(graph: Graph, notes: Callable[[str], None]) -> Iterator[None]:
    """In the body ``tf.Graph()`` gives this graph, and ``tf.reset_default_graph()`` leaves it as it is.

    A program that wants two graphs builds both in this one, where their names meet: TensorFlow refuses variables that
    are made twice.

    Args:
        graph: the one that is recorded, and the default one.
        notes: told of a program that asks for one.
    """
    import tensorflow as tf

    original = tf.Graph
    told: list[str] = []

    def tell(what: str) -> None:
        if not told:
            notes(f"the TF1 program calls {what}: it is recorded in one graph all the same")
        told.append(what)

    class AnyGraph(type):
        """Gives the graph when it is called, and knows what graphs are."""

        def __call__(cls) -> Graph:
            tell("tf.Graph()")
            return graph

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, original)

    def reset() -> None:
        tell("tf.reset_default_graph()")

    with contextlib.ExitStack() as stack:
        for module in public_modules():
            if hasattr(module, "Graph"):
                stack.enter_context(replaced(module, "Graph", AnyGraph("Graph", (), {})))
            if hasattr(module, "reset_default_graph"):
                stack.enter_context(replaced(module, "reset_default_graph", reset))
        yield
