"""TF503: the saver of TF1."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, Target, is_none, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity

_V2_OFF = ("tensorflow.disable_v2_behavior", "tensorflow.disable_eager_execution")
_GRAPHS = (
    "tensorflow.Graph",
    "tensorflow.Session",
    "tensorflow.InteractiveSession",
    "tensorflow.get_default_graph",
    "tensorflow.placeholder",
    "tensorflow.train.MonitoredSession",
    "tensorflow.train.MonitoredTrainingSession",
    "tensorflow.train.Supervisor",
    "tensorflow.estimator.*",
    "tensorflow.contrib.*",
)
_COLLECTIONS = frozenset(
    {
        "tensorflow.trainable_variables()",
        "tensorflow.global_variables()",
        "tensorflow.model_variables()",
        "tensorflow.get_collection()",
    }
)


class V1Saver(Rule):
    """`tf.train.Saver` works by names and graph collections, which eager execution does not have.

    ## Why
    TF2 has no `tf.train.Saver` and no `tf.train.import_meta_graph`: AttributeError.
    With eager execution on, `tf.compat.v1.train.Saver()` raises RuntimeError unless it is given a `var_list`, since
    no collection holds the variables; `import_meta_graph` raises always.
    With a `var_list` it saves and restores, by the names of the variables: on Keras 3 every layer calls its variables
    `kernel` and `bias`, so those of two layers collide.
    In a TF1 graph that is built on purpose a compat.v1 saver works.

    ## Example
    ```python
    import tensorflow as tf

    weights = tf.Variable([1.0, 2.0])
    saver = tf.compat.v1.train.Saver()
    saver.save(None, "runs/model")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    weights = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(weights=weights)
    checkpoint.save("runs/model")
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/Saver
    - https://www.tensorflow.org/guide/migrate/migrating_checkpoints
    """

    code = "TF503"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    recipe = "checkpoints"
    supersedes = ("TF406",)
    calls = ("tensorflow.train.Saver", "tensorflow.train.import_meta_graph")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a saver's creation, or the import of a meta graph."""
        if call.version_checked or not all(name.canonical in self.calls for name in call.names):
            return
        name = call.name.removeprefix("tensorflow.")
        if not call.is_compat_v1 and all(given.spelled == given.canonical for given in call.names):
            remedy = (
                "save with `tf.train.Checkpoint`"
                if name == "train.Saver"
                else "build the model in code, and restore its variables with `tf.train.Checkpoint`"
            )
            yield self.report(
                call,
                f"`tf.{name}` raises AttributeError: TF2 does not have it; {remedy}, or keep the TF1 graph with "
                f"`tf.compat.v1.{name}`.",
            )
        elif not call.in_graph:
            yield from self._eager(call, name)

    def _eager(self, call: Call, name: str) -> Iterator[Diagnostic]:
        severity = _certainty(call)
        if name != "train.Saver":
            yield self.report(
                call,
                "`import_meta_graph` raises RuntimeError with eager execution on, where there is no graph to import "
                "into; build the model in code and restore its variables with `tf.train.Checkpoint`.",
                severity,
            )
            return
        variables = call.value("var_list", 0)
        collected = call.file.names(call.scope, path_of(variables))
        if variables is None and call.has_stars:
            severity = Severity.INFO
        if variables is None or is_none(variables):
            yield self.report(
                call,
                "`tf.compat.v1.train.Saver` without a `var_list` raises RuntimeError with eager execution on; save "
                "with `tf.train.Checkpoint`, which finds the variables through the objects that own them.",
                severity,
            )
        elif collected and all(given.canonical in _COLLECTIONS for given in collected):
            yield self.report(
                call,
                "this `tf.compat.v1.train.Saver` saves nothing in eager execution, where TF1's collections stay empty: "
                "`save` raises ValueError. Use `tf.train.Checkpoint`.",
                severity,
            )
        else:
            collide = ", and Keras 3 gives each layer's variables the same ones" if call.target is Target.KERAS3 else ""
            yield self.report(
                call,
                "`tf.compat.v1.train.Saver` matches variables by their names, which eager execution does not keep "
                f"unique{collide}; use `tf.train.Checkpoint`.",
                Severity.INFO if severity is Severity.INFO else Severity.WARNING,
            )


def _certainty(call: Call) -> Severity:
    """How certain it is that the call runs eagerly: a program that builds graphs may well build one here."""
    project = call.file.project
    if project.uses(*_V2_OFF):
        return Severity.INFO
    if call.runs(Context.EAGER):
        return Severity.ERROR
    if project.uses(*_GRAPHS) or call.file.is_test:
        return Severity.INFO
    return Severity.WARNING
