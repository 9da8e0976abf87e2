"""TF504: a restore whose status nobody looks at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Target, literal_string, path_of
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_CHECKPOINTS = ("tensorflow.train.Checkpoint()", "tensorflow.train.CheckpointManager().checkpoint")
_MODELS = ("keras.Model()", "keras.Sequential()")
_REASON = "it raises where the checkpoint does not hold all that is there"
_HDF5 = (".h5", ".hdf5", ".keras", ".he5")


class UncheckedRestore(Rule):
    """The status of a restore is dropped, so variables that the checkpoint does not hold silently keep their values.

    ## Why
    `tf.train.Checkpoint.restore` and `read` match objects by the names of their attributes.
    What does not match is no error: the variable keeps its initial value, and training or inference goes on.
    The same holds for `restore(None)`, which is what `tf.train.latest_checkpoint` gives for an empty folder, and on
    Keras 2 for `model.load_weights` of a TensorFlow checkpoint that fits in part; that is info, since a checkpoint that
    fits nowhere raises there.
    The status that is returned knows: `assert_existing_objects_matched()` and `assert_consumed()` raise,
    `expect_partial()` says that a part is wanted.
    Where the variables are created later, keep the status and assert after the first call.

    ## Example
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(model=model)
    checkpoint.restore(tf.train.latest_checkpoint("runs"))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(model=model)
    checkpoint.restore(tf.train.latest_checkpoint("runs")).assert_existing_objects_matched()
    ```

    ## Fix safety
    Unsafe: it raises where the checkpoint does not hold all that is there, which may be wanted.
    None is offered where the path may be None, as it is before anything was saved: the assertion raises then.

    ## Source
    - https://www.tensorflow.org/guide/checkpoint#loading_mechanics
    - https://www.tensorflow.org/guide/migrate/migrating_checkpoints
    - https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restore
    """

    code = "TF504"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "checkpoints"
    calls = (
        *(f"{receiver}.{method}" for receiver in _CHECKPOINTS for method in ("restore", "read")),
        *(f"{receiver}.load_weights" for receiver in _MODELS),
    )

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a restore."""
        unread = call.unread_as
        if unread is None or call.in_graph or call.file.is_test or len(call.found) != len(call.names):
            return
        if not all(name.canonical in self.calls for name in call.names):
            return
        weights = call.method == "load_weights"
        if weights and (call.target is Target.KERAS3 or not _is_tensorflow_checkpoint(call)):
            return
        lost = f"its status `{unread}` is never read" if unread else "its status is dropped"
        what = "checkpoint that fits in part" if weights else "variable that the checkpoint does not match"
        happens = "leaves the rest as it was" if weights else "silently keeps its value"
        empty = " (all of them, if the path is None)" if not weights and _may_be_none(call) else ""
        yield self.report(
            call,
            f"`{call.path}` is not checked, {lost}: a {what} {happens}{empty}. Call "
            "`assert_existing_objects_matched()` on it, or `expect_partial()` where a part is wanted.",
            Severity.INFO if weights else None,
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Let the status raise."""
        import libcst

        if site.method == "load_weights" or _may_be_none(site):
            return None
        checked = libcst.Attribute(node, libcst.Name("assert_existing_objects_matched"))
        return Replacement(libcst.Call(checked), Applicability.UNSAFE, _REASON)


def _is_tensorflow_checkpoint(call: Call) -> bool:
    """Whether the path is certainly none of an HDF5 file, which raises by itself where something is missing."""
    path = call.value("filepath", 0)
    if path is None or call.value("by_name", 2) is not None or call.value("skip_mismatch", 1) is not None:
        return False
    text = literal_string(path)
    if text is not None:
        return not text.endswith(_HDF5)
    return _is_latest(call, path)


def _may_be_none(call: Call) -> bool:
    path = call.value("save_path", 0)
    return path is not None and _is_latest(call, path) and not _tested(call, path)


def _is_latest(call: Call, path: ast.expr) -> bool:
    names = call.file.names(call.scope, path_of(path))
    return bool(names) and all(
        name.canonical
        in ("tensorflow.train.latest_checkpoint()", "tensorflow.train.CheckpointManager().latest_checkpoint")
        for name in names
    )


def _tested(call: Call, path: ast.expr) -> bool:
    """Whether the code runs only after a look at the same path."""
    text = ast.unparse(path)
    return any(level.kind in ("if", "else") and text in ast.unparse(level.node) for level in call.block.chain())
