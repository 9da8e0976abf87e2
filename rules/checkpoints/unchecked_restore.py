"""TF504: a restore whose status nobody looks at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Target, literal_string, path_of
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .unbuilt import is_of_keras2, is_unbuilt, made_before

if TYPE_CHECKING:
    import libcst

_CHECKPOINTS = ("tensorflow.train.Checkpoint()", "tensorflow.train.CheckpointManager().checkpoint")
_MODELS = ("keras.Model()", "keras.Sequential()")
_REASON = "it raises where the checkpoint and what is there differ, and before all variables are there"
_HDF5 = (".h5", ".hdf5", ".keras", ".he5")


class UncheckedRestore(Rule):
    """The status of a restore is dropped, so variables that the checkpoint does not hold silently keep their values.

    ## Why
    `tf.train.Checkpoint.restore` and `read` match objects by the names of their attributes.
    What does not match is no error: the variable keeps its initial value, and training or inference goes on.
    The same holds for `restore(None)`, which is what `tf.train.latest_checkpoint` gives for an empty folder, and on
    Keras 2 for `model.load_weights` of a TensorFlow checkpoint that fits in part; that is info, since a checkpoint that
    fits nowhere raises there.
    The status that is returned knows: `assert_consumed()` raises unless the checkpoint and what is there are the same,
    `assert_existing_objects_matched()` where something that is there was not in the checkpoint, and `expect_partial()`
    says that a part is wanted.

    When the variables of a model are made later, tf_keras restores them as they are made.
    Keras 3 does not: what is restored before a model has been called or built restores nothing into its layers, which
    begin with fresh weights, and `assert_existing_objects_matched()` passes, since nothing was there; a recurrent layer
    raises in its first call [run].
    So call the model on a batch first, and `build` of the optimizer; then restore.

    ## Example
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    checkpoint.restore(tf.train.latest_checkpoint("runs"))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model(batch)
    optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    latest = tf.train.latest_checkpoint("runs")
    if latest:
        checkpoint.restore(latest).assert_consumed()
    ```

    ## Fix safety
    Unsafe: `assert_consumed()` raises where only a part is restored, which may be wanted, and where variables are made
    later. On Keras 2, which restores those when they are made, it is `assert_existing_objects_matched()`.
    None is offered where the path may be None, as it is before anything was saved: either assertion raises then; nor
    where the model has no variables yet.

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
        unbuilt = _unbuilt(call)
        if unbuilt:
            yield self.report(
                call,
                f"`{call.path}` silently restores nothing into `{unbuilt}`, which has no variables before its first "
                f"call: Keras 3 does not restore them later. Call `{unbuilt}` on a batch first, then restore, and call "
                "`assert_consumed()` on the status.",
                Severity.ERROR,
            )
            return
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
            f"`{call.path}` is not checked, {lost}: a {what} {happens}{empty}. {_advice(call)}, or "
            "`expect_partial()` where a part is wanted.",
            Severity.INFO if weights else None,
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Let the status raise."""
        import libcst

        if site.method == "load_weights" or _may_be_none(site) or _unbuilt(site):
            return None
        checked = libcst.Attribute(node, libcst.Name(_assertion(site)))
        return Replacement(libcst.Call(checked), Applicability.UNSAFE, _REASON)


def _assertion(call: Call) -> str:
    return "assert_consumed" if call.target is Target.KERAS3 else "assert_existing_objects_matched"


def _advice(call: Call) -> str:
    """What is asked of the status; with Keras 3 when all variables are there, since none is restored later."""
    first = "Look whether there is a path" if call.method != "load_weights" and _may_be_none(call) else ""
    if call.method != "load_weights" and call.target is Target.KERAS3:
        first += f"{', and restore' if first else 'Restore'} when model and optimizer are built"
    return f"{f'{first}, and call' if first else 'Call'} `{_assertion(call)}()` on the status"


def _unbuilt(call: Call) -> str:
    """The name of a model that surely has no variables when it is restored, and is not restored later."""
    if call.target is not Target.KERAS3 or call.method not in ("restore", "read") or call.in_graph:
        return ""
    checkpoint = call.file.call_at(call.receiver) if call.receiver is not None else None
    if checkpoint is None and isinstance(call.receiver, ast.Name):
        made = made_before(call, call.receiver.id)
        checkpoint = made.value_call if made is not None else None
    if checkpoint is None or {name.canonical for name in checkpoint.names} != {"tensorflow.train.Checkpoint"}:
        return ""
    if any(other.receiver is call.call and other.method == "assert_consumed" for other in call.file.calls):
        return ""
    for given in checkpoint.call.keywords:
        made = made_before(checkpoint, given.value.id) if isinstance(given.value, ast.Name) else None
        if made is not None and made.value_call is not None and not is_of_keras2(made.value_call):
            name = ast.unparse(given.value)
            if is_unbuilt(made.value_call, name, call.line, checkpoint.call):
                return name
    return ""


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
