"""TF502: a checkpoint reader that nobody reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, path_of
from ...linter.rule_api.rewriting import with_function
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .assigned import assignments_to
from .trying import is_tried

if TYPE_CHECKING:
    import libcst

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
_CHECKPOINT = "tensorflow.train.Checkpoint()"
_PATHS = (
    f"{_CHECKPOINT}.save()",
    "tensorflow.train.CheckpointManager().save()",
    "tensorflow.train.CheckpointManager().latest_checkpoint",
    "tensorflow.train.latest_checkpoint()",
)
_REASON = "the variables get other values from here on"


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
    checkpoint.restore(save_path).assert_consumed()
    ```

    ## Fix safety
    Unsafe: what follows goes on with other values, as it was meant to.
    It is offered where the path is that of a save, or the latest one, and the file makes one checkpoint, which has been
    made by then: a reader may be given a folder as well, and `restore` may not.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/train/load_checkpoint
    - https://www.tensorflow.org/guide/checkpoint#manually_inspecting_checkpoints
    """

    code = "TF502"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "checkpoints"
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

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Restore the only checkpoint of the file."""
        path = path_of(site.arguments[0]) if len(site.arguments) == 1 else None
        names = site.file.names(site.scope, path)
        if not names or any(name.canonical not in _PATHS for name in names) or site.keywords or not site.discarded:
            return None
        made = [one for one in site.file.assignments if _is_checkpoint(one.value_call)]
        if len(made) != 1 or not isinstance(made[0].node, ast.Name) or len(assignments_to(site, made[0].node)) != 1:
            return None
        (checkpoint,) = made
        here = checkpoint.scope is site.scope
        before = checkpoint.line < site.line and checkpoint.block in site.block.chain()
        if not (before if here else checkpoint.scope is site.file.index.module and checkpoint.block.kind == "body"):
            return None
        return Replacement(with_function(node, f"{checkpoint.path}.restore"), Applicability.UNSAFE, _REASON)


def _is_checkpoint(made: Call | None) -> bool:
    return made is not None and any(f"{name.canonical}()" == _CHECKPOINT for name in made.names)
