"""TF502: a checkpoint reader that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .trying import is_tried

_READERS = (
    "tensorflow.train.load_checkpoint",
    "tensorflow.train.NewCheckpointReader",
    "tensorflow.pywrap_tensorflow.NewCheckpointReader",
    "tensorflow.python.pywrap_tensorflow.NewCheckpointReader",
    "tensorflow.python.training.checkpoint_utils.load_checkpoint",
    "tensorflow.python.training.py_checkpoint_reader.NewCheckpointReader",
    "slim.load_checkpoint",
)
_VALUES = {
    "load_variable": "the saved value",
    "list_variables": "the names and shapes",
    "latest_checkpoint": "a path",
}


class LoadCheckpointDiscarded(Rule):
    """A checkpoint is only looked at: nothing is restored, and the result is thrown away.

    ## Why
    `tf.train.load_checkpoint` sounds like a restore and is none: it returns a `CheckpointReader`, and no variable
    changes.
    Where the reader is never asked for a tensor, the training goes on from the values it had; there is no warning.
    `load_variable`, `list_variables` and `latest_checkpoint` return a value likewise.

    ## Example
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(step=tf.Variable(5))
    save_path = checkpoint.save("runs/ckpt")
    tf.train.load_checkpoint(save_path)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(step=tf.Variable(5))
    save_path = checkpoint.save("runs/ckpt")
    checkpoint.restore(save_path).assert_existing_objects_matched()
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/train/load_checkpoint
    - https://www.tensorflow.org/guide/checkpoint#manually_inspecting_checkpoints
    """

    code = "TF502"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    beside = ("TF406",)  # which says where the name went
    calls = (
        *_READERS,
        *(f"{root}.{name}" for root in ("tensorflow.train", "slim") for name in _VALUES),
        *(f"tensorflow.python.training.checkpoint_utils.{name}" for name in ("load_variable", "list_variables")),
        "tensorflow.python.training.checkpoint_management.latest_checkpoint",
    )

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a call whose result is lost."""
        unread = call.unread_as
        if unread is None or not all(name.canonical in self.calls for name in call.names) or is_tried(call):
            return
        last = call.name.rpartition(".")[2]
        lost = f"`{unread}` is never read" if unread else "the result is thrown away"
        if last in _VALUES:
            if not unread and call.function is None:
                return  # the last line of a notebook's cell shows its value
            yield self.report(
                call,
                f"`{call.path}` returns {_VALUES[last]} and restores nothing, and {lost}: no variable changes. "
                "Restore with `tf.train.Checkpoint(...).restore(path)`.",
                Severity.WARNING,
            )
        else:
            yield self.report(
                call,
                f"`{call.path}` only opens the checkpoint for reading, and {lost}: no variable gets a value, so "
                "training goes on with the present ones. Restore with `tf.train.Checkpoint(...).restore(path)`.",
            )
