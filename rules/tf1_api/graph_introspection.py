"""TF415: what a graph knows of its tensors, asked where there is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, File, Known, Reference
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .api_status import is_plain, written
from .contexts import GRAPHS, certainty, is_only_traced
from .receivers import known_of, made_eagerly
from .signatures import is_tried

_DEFAULT = "tensorflow.get_default_graph"
_RESET = "tensorflow.reset_default_graph"
_FINDS = ("as_graph_element", "get_operation_by_name", "get_tensor_by_name")
_LISTS = ("as_graph_def", "get_operations")
_OF_VARIABLES = frozenset({"graph", "op"})
_OF_TENSORS = _OF_VARIABLES | {"name", "value_index"}
_ABSENT = frozenset({"AttributeError", "Exception", "BaseException"})


class GraphIntrospection(Rule):
    """A tensor is asked for its name, operation or graph, or the default graph for what is in it, in eager execution.

    ## Why
    An eager tensor is in no graph: `x.op`, `x.graph`, `x.name` and `x.value_index` raise AttributeError.
    So do `op` and `graph` of a variable, which keeps its `name`; layers and KerasTensors have names, too.
    `tf.compat.v1.get_default_graph()` gives a graph that nothing is put into: `get_tensor_by_name` raises KeyError,
    also after `tf.graph_util.import_graph_def`, and `get_operations` and `as_graph_def` find nothing.
    `reset_default_graph` has nothing to reset.
    In a `tf.function` and in a graph that is built on purpose all of it works, and nothing is said.

    ## Example
    ```python
    import tensorflow as tf

    loss = tf.reduce_sum(tf.ones([2]))
    print(loss.name)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    loss = tf.reduce_sum(tf.ones([2]))
    print("loss", loss)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    - https://www.tensorflow.org/guide/intro_to_graphs
    """

    code = "TF415"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    supersedes = ("TF406",)
    calls = (_DEFAULT, _RESET, *(f"{_DEFAULT}().{method}" for method in (*_FINDS, *_LISTS)))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a question to the default graph."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        if call.name in (_DEFAULT, _RESET):
            yield from self._of_default(call)
            return
        severity = certainty(call)
        if severity is None or call.in_trace or is_plain(call):
            return
        where = "in eager execution" if severity is Severity.ERROR else "where eager execution is on"
        if call.method in _FINDS:
            yield self.report(
                call,
                f"`{call.method}` raises KeyError {where}: nothing is put into the default graph. Keep what it looks "
                "for, or load the graph with `tf.compat.v1.wrap_function` or `tf.saved_model.load`.",
                severity,
            )
        else:
            yield self.report(
                call,
                f"`{call.method}` finds nothing {where}: nothing is put into the default graph. Ask the graph of a "
                "`tf.function` (`f.get_concrete_function(...).graph`).",
                min(severity, Severity.WARNING, key=_ORDER.index),
                consequence=Consequence.CHANGES,
            )

    def _of_default(self, call: Call) -> Iterator[Diagnostic]:
        name = written(call.names[0])
        if is_plain(call):
            if not call.in_graph:
                advice = "leave it out" if call.name == _RESET else "eager execution has no default graph"
                yield self.report(call, f"`{name}` raises AttributeError on TF2: {advice}.")
        elif call.name == _RESET and certainty(call) in (Severity.ERROR, Severity.WARNING):
            yield self.report(
                call,
                f"`{name}` has nothing to reset in eager execution. Leave it out; what Keras keeps is cleared by "
                "`tf.keras.backend.clear_session()`.",
                Severity.INFO,
                consequence=Consequence.LEGACY,
            )

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """Judge what tensors are asked for."""
        for fact in file.index.references:
            asked = _asked(fact.node)
            if asked is not None:
                yield from self._of_tensor(file.reference_of(fact), asked)

    def _of_tensor(self, site: Reference, asked: ast.Attribute) -> Iterator[Diagnostic]:
        known = known_of(site, asked.value)
        if known is not Known.TENSOR and (known is not Known.VARIABLE or asked.attr not in _OF_VARIABLES):
            return
        severity = certainty(site)
        if severity is None or site.version_checked or is_only_traced(site):
            return
        eager = made_eagerly(site, asked.value)
        if eager is False or (eager is None and asked.attr == "name") or is_tried(site, _ABSENT):
            return
        if eager is None:
            most = Severity.INFO if site.file.project.uses(*GRAPHS) else Severity.WARNING
            severity = min(severity, most, key=_ORDER.index)
        where = "in eager execution" if severity is Severity.ERROR else "where eager execution is on"
        what = "variable" if known is Known.VARIABLE else "tensor"
        advice = "Give it a name of your own" if asked.attr == "name" else f"Use the {what} itself"
        yield self.report(
            site,
            f"`{ast.unparse(asked)}` raises AttributeError {where}: a {what} is in no graph there. {advice}.",
            severity,
        )


_ORDER = (Severity.INFO, Severity.WARNING, Severity.ERROR)


def _asked(node: ast.expr) -> ast.Attribute | None:
    """The first attribute of a chain that only a tensor of a graph has."""
    found = None
    while isinstance(node, ast.Attribute):
        if node.attr in _OF_TENSORS:
            found = node
        node = node.value
    return found
