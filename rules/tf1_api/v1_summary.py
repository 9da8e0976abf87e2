"""TF420: summaries as TF1 wrote them, which nothing collects and nothing writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, Era, File
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .api_status import is_plain, written
from .contexts import certainty, is_only_traced
from .graph_calls import judged

_S = "tensorflow.summary."
_NEEDING_A_GRAPH = {
    "FileWriter": "use `tf.summary.create_file_writer`",
    "FileWriterCache.get": "use `tf.summary.create_file_writer`",
    "merge": "leave it out, each summary is written by itself",
    "merge_all": "leave it out, each summary is written by itself",
}
_STEPS = {"audio": 3, "histogram": 2, "image": 2, "scalar": 2, "text": 2}
"""The place of ``step`` among the arguments in TF2."""
_GONE_KEYWORDS = ("collections", "family", "tensor", "values")
_SETTERS = ("tensorflow.summary.experimental.set_step", "tensorflow.summary.create_file_writer().set_as_default")
_WRITER = "tensorflow.summary.create_file_writer"


class V1Summary(Rule):
    """A summary is made as in TF1: merged, fetched and written by a session, or without a step.

    ## Why
    In eager execution `tf.compat.v1.summary.FileWriter`, `merge` and `merge_all` raise RuntimeError.
    `tf.compat.v1.summary.scalar` and its like return bytes that nobody writes, and nothing is raised; only under a
    writer of TF2 that has a step they write.
    `tf.compat.v1.summary.image` raises UnimplementedError there, and returns its bytes in a trace.
    `tf.summary.scalar` is another function in TF2: it writes at once, to the default writer, and takes `step`.
    Without a writer it returns False and writes nothing; under a writer without a step it raises "No step set".
    It takes no `collections`, `family`, `tensor` or `values`: TypeError.
    What stood third, the collections, or how many images, is taken for the step.
    In a model under `fit` the TensorBoard callback has a step, so nothing is said there.

    ## Example
    ```python
    import tensorflow as tf

    writer = tf.summary.create_file_writer("logs")
    with writer.as_default():
        tf.summary.scalar("loss", 0.5)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    writer = tf.summary.create_file_writer("logs")
    with writer.as_default():
        tf.summary.scalar("loss", 0.5, step=1)
    ```

    ## Source
    - https://www.tensorflow.org/tensorboard/migrate
    - https://www.tensorflow.org/api_docs/python/tf/summary/scalar
    """

    code = "TF420"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "summaries"
    supersedes = ("TF406",)
    calls = tuple(_S + name for name in (*_NEEDING_A_GRAPH, *_STEPS, "tensor_summary"))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        name = call.name.removeprefix(_S)
        if call.version_checked or {one.canonical for one in call.names} != {call.name} or call.name not in self.calls:
            return
        if any(entity.kind != "external" for entity in call.found):
            return
        if name in _NEEDING_A_GRAPH:
            yield from judged(self, call, "RuntimeError", _NEEDING_A_GRAPH[name], traced="RuntimeError")
        elif is_plain(call):
            yield from judged(self, call, "", "use `tf.summary.write`")
        elif call.is_compat_v1:
            yield from self._old(call)
        else:
            yield from self._new(call, _STEPS[name])

    def _old(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a summary of compat.v1: it returns its bytes, unless a writer of TF2 is there."""
        severity = certainty(call)
        if severity is None or call.runs(Context.FIT) or call.file.project.uses(_WRITER):
            return
        certain = severity is Severity.ERROR
        where = "in eager execution" if certain else "where eager execution is on"
        last = call.name.removeprefix(_S)
        new = f"tf.summary.{last}" if last in _STEPS else "tf.summary.write"
        if last == "image" and not is_only_traced(call):
            yield self.report(
                call,
                f"`{written(call.names[0])}` raises UnimplementedError {where}: use `{new}` with `step=`, under a "
                "`tf.summary.create_file_writer`.",
                severity,
            )
            return
        yield self.report(
            call,
            f"`{written(call.names[0])}` returns bytes {where}, and writes nothing: use `{new}` with `step=`, under a "
            "`tf.summary.create_file_writer`.",
            Severity.WARNING if certain else Severity.INFO,
            consequence=Consequence.CHANGES,
        )

    def _new(self, call: Call, position: int) -> Iterator[Diagnostic]:
        """Judge what TF2 has under the name of TF1."""
        name = written(call.names[0])
        gone = [f"`{word}=`" for word in call.keywords if word in _GONE_KEYWORDS]
        if gone:
            yield self.report(
                call,
                f"`{name}` takes no {' and no '.join(gone)} in TF2: that raises TypeError. It takes a name, `data` and "
                "`step`, and writes at once.",
            )
            return
        if call.has_stars:
            return
        third = call.value("step", position)
        if third is not None:
            if call.file.era is Era.TF1 and "step" not in call.keywords and isinstance(third, ast.List | ast.Constant):
                yield self.report(
                    call,
                    f"`{name}` takes `{ast.unparse(third)}` for the step in TF2: give a step, and the rest by keyword.",
                    Severity.WARNING,
                    consequence=Consequence.CHANGES,
                    related=call.file.era_told,
                )
            return
        yield from self._without_step(call, name)

    def _without_step(self, call: Call, name: str) -> Iterator[Diagnostic]:
        file = call.file
        if call.runs(Context.FIT) or call.in_forward or file.project.uses(*_SETTERS):
            return
        writers = file.once("writers that are entered", lambda: _entered(file))
        if any(given for _, given in writers):
            return
        if any(call.inside(one.call) for one, _ in writers):
            yield self.report(
                call, f"`{name}` is given no step: under this writer it raises ValueError. Give it `step=`."
            )
        elif not writers and not file.project.uses(_WRITER):
            yield self.report(
                call,
                f"`{name}` writes nothing in TF2, where it goes to a default writer, and this project opens none: open "
                "a `tf.summary.create_file_writer`, and give it `step=`.",
                Severity.INFO if file.era is Era.TF2 else Severity.WARNING,
                consequence=Consequence.CHANGES,
            )
        else:
            yield self.report(
                call,
                f"`{name}` is given no step: it raises ValueError under a writer that has none. Give it `step=`.",
                Severity.INFO,
            )


def _entered(file: File) -> list[tuple[Call, bool]]:
    """The calls of ``as_default`` of writers, and whether they are given a step."""
    found = file.calls_of(lambda entities: False, {"as_default"})
    return [(one, bool(one.arguments)) for one in found if not any("Graph" in name.canonical for name in one.names)]
