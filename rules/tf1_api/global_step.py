"""TF424: the global step, which no optimizer of Keras counts."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..numerics.optimizers import V1
from .api_status import is_plain, written
from .contexts import certainty

_STEPS = ("create_global_step", "get_global_step", "get_or_create_global_step", "global_step")
_OF_KERAS = ("keras.optimizers.*", "keras.Model", "keras.Sequential")
_GRAPH_TRAINING = ("tensorflow.estimator.*", "tensorflow.contrib.*", "slim.*", "tensorflow.train.Optimizer")
_ASSIGNING = frozenset({"assign", "assign_add"})


class GlobalStep(Rule):
    """The global step is read where no optimizer counts it, or is given to an optimizer of Keras.

    ## Why
    `tf.compat.v1.train.get_or_create_global_step()` still makes the variable, and optimizers of `tf.compat.v1` that are
    given it count it.
    Those of Keras do not: it stays 0 while `optimizer.iterations` is 4, so that schedules, summaries and stops that
    read it stand still, and nothing raises.
    `global_step=` is a TypeError in Keras 3; in Keras 2 `apply_gradients` ignores it and `minimize` raises.
    `tf.train.get_or_create_global_step` and its like left `tf`.

    ## Example
    ```python
    import tensorflow as tf

    step = tf.compat.v1.train.get_or_create_global_step()
    optimizer = tf.keras.optimizers.SGD(0.1)
    v = tf.Variable(1.0)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    print(step.numpy())
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.SGD(0.1)
    v = tf.Variable(1.0)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    print(optimizer.iterations.numpy())
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/get_or_create_global_step
    - https://www.tensorflow.org/guide/migrate/migrating_checkpoints
    """

    code = "TF424"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "schedules"
    supersedes = ("TF406",)
    calls = (
        *(f"tensorflow.train.{name}" for name in _STEPS),
        "keras.optimizers.*",
    )

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the step that is asked for, and the one that is given."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        if call.name.startswith("keras."):
            yield from self._given(call)
        elif not is_plain(call):
            yield from self._asked(call)
        elif not call.in_graph:
            yield self.report(
                call,
                f"`{written(call.names[0])}` raises AttributeError on TF2: use `optimizer.iterations`, or a variable "
                "of your own.",
                Severity.ERROR,
                consequence=Consequence.BREAKS,
            )

    def _given(self, call: Call) -> Iterator[Diagnostic]:
        step = call.value("global_step")
        if step is None or not call.name.endswith(("().apply_gradients", "().minimize")):
            return
        if call.target is Target.KERAS2 and call.method == "apply_gradients":
            if not is_none(step):
                yield self.report(
                    call, "`apply_gradients` of a Keras optimizer ignores `global_step`: read `optimizer.iterations`."
                )
            return
        yield self.report(
            call,
            f"`{call.method}` of a Keras optimizer has no `global_step`: this raises. Read `optimizer.iterations`.",
            Severity.ERROR,
            consequence=Consequence.BREAKS,
        )

    def _asked(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a step of compat.v1, which is there, by who may count it."""
        severity, project = certainty(call), call.file.project
        if severity is None or _is_assigned(call) or project.uses(*V1, *_GRAPH_TRAINING):
            return
        if not project.uses(*_OF_KERAS):
            severity = Severity.INFO
        yield self.report(
            call,
            f"`{written(call.names[0])}` gives a step that no optimizer of Keras counts, and nothing else is seen to: "
            "read `optimizer.iterations`, or count a variable of your own.",
            Severity.INFO if severity is Severity.INFO else Severity.WARNING,
        )


def _is_assigned(call: Call) -> bool:
    """Whether the program counts the step itself."""
    paths = call.assigned_to
    for other in call.file.calls:
        if other.method in _ASSIGNING and (other.path or "").rpartition(".")[0] in paths:
            return True
        if other.name in ("tensorflow.assign", "tensorflow.assign_add") or "global_step" in other.keywords:
            return True
    return any(other.method in _ASSIGNING and other.receiver is call.syntax for other in call.file.calls)
