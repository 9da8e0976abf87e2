"""The current trace graph: the one that is being built at the moment, the outermost if there are several."""

from __future__ import annotations

import re

from ..tensors import Graph

__all__ = ["current_trace_graph", "function_graphs", "name_of"]

_SYMBOLIC = re.compile(r"keras_graph|(\w+_)?scratch_graph")
"""The names of graphs in which Keras only asks for shapes; Keras 2 puts the name of a layer in front."""


def current_trace_graph() -> tuple[Graph, bool]:
    """The outermost graph that is being built, None where the program runs eagerly.

    And whether Keras only asks for shapes, or builds a functional model: then nothing is computed.
    """
    from tensorflow.python.eager import context
    from tensorflow.python.framework import ops

    if context.executing_eagerly():
        return None, False
    graph = ops.get_default_graph()
    eager = ops.executing_eagerly_outside_functions()
    symbolic = _is_symbolic(graph)
    # Outside the outermost function of an eager program lies an empty graph.
    while hasattr(graph, "outer_graph") and (hasattr(graph.outer_graph, "outer_graph") or not eager):
        graph = graph.outer_graph
        symbolic = symbolic or _is_symbolic(graph)
    return graph, symbolic


def function_graphs() -> list[Graph]:
    """The graphs of the functions that are being traced, each within the one before; loops and branches are none."""
    from tensorflow.python.framework import ops

    outermost, _ = current_trace_graph()
    if outermost is None:
        return []
    found = [outermost]
    graph, inner = ops.get_default_graph(), []
    while graph is not outermost and hasattr(graph, "outer_graph"):
        if type(graph).__name__ == "FuncGraph" and not _is_symbolic(graph):
            inner.append(graph)
        graph = graph.outer_graph
    return found + inner[::-1]


def name_of(graph: Graph) -> str:
    """The name of the function that a graph is traced from, empty for any other graph."""
    return re.sub(r"_\d+$", "", str(getattr(graph, "name", "")))


def _is_symbolic(graph: Graph) -> bool:
    return _SYMBOLIC.match(str(getattr(graph, "name", ""))) is not None
