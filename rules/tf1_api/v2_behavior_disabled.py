"""TF414: v2 behaviour is switched off."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.model import Call
from ...linter.rule import Consequence, Report, Rule, Severity
from .api_status import is_plain

_EFFECTS = {
    "disable_v2_behavior": "the whole program runs as TF1, without eager execution",
    "disable_eager_execution": "the whole program builds graphs and needs sessions",
    "disable_resource_variables": "variables become reference variables, whose reads and writes race",
    "disable_tensor_equality": "`==` compares tensors by identity again",
    "disable_v2_tensorshape": "dimensions of a shape are `Dimension` objects again",
    "disable_control_flow_v2": "loops and conditions use TF1's control flow, which `tf.function` does not support well",
}


class V2BehaviorDisabled(Rule):
    """A behaviour of TF2 is switched off for the whole process.

    ## Why
    `disable_v2_behavior` and its parts keep a TF1 program alive; they do not migrate it.
    They hold for the process, so Keras, and every library that is written for TF2, runs in a mode that it is not
    tested in: with Keras 3 `fit` then fails, since "tf.data.Dataset only supports Python-style iteration in eager mode
    or within tf.function."
    Where a file switches eager execution off, the findings about sessions, placeholders and collections are info.
    Tests, which compare with the old behaviour, are not reported.

    ## Example
    ```python
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    with tf.Graph().as_default():
        build_the_old_model()
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/compat/v1/disable_v2_behavior
    https://www.tensorflow.org/guide/migrate/migrate_tf2
    """

    code = "TF414"
    severity = Severity.WARNING
    consequence = Consequence.LEGACY
    calls = tuple(f"tensorflow.{name}" for name in _EFFECTS)

    def on_call(self, call: Call) -> Iterator[Report]:
        """See `Rule.on_call`."""
        if call.file.is_test:
            return
        name = call.name.rpartition(".")[2]
        if is_plain(call) and not call.version_checked:
            yield self.report(
                call,
                f"`tf.{name}` raises AttributeError on TF2, where it is `tf.compat.v1.{name}`; and with it "
                f"{_EFFECTS[name]}.",
                Severity.ERROR,
            )
        else:
            yield self.report(
                call,
                f"After `{name}()` {_EFFECTS[name]}; this hides what is left to migrate, and TF2 code in the same "
                "process may fail. Put what needs it into `tf.Graph().as_default()`, or migrate it.",
            )
