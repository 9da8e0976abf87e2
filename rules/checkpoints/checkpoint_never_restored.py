"""TF507: checkpoints that are saved and never restored."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Call, File
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .assigned import assignments_to, given_to

_CHECKPOINT, _MANAGER = "tensorflow.train.Checkpoint", "tensorflow.train.CheckpointManager"
_RESTORES = frozenset({"restore", "restore_or_initialize", "load_weights", "load_model", "load_state", "resume"})
_READS = (
    *("tensorflow.train.load_checkpoint", "tensorflow.train.load_variable", "tensorflow.train.list_variables"),
    *("tensorflow.train.latest_checkpoint", "tensorflow.train.checkpoints_iterator"),
    *("tensorflow.train.get_checkpoint_state", "tensorflow.train.NewCheckpointReader"),
    *("keras.models.load_model", "keras.saving.load_model", "tensorflow.saved_model.load"),
    *("keras.utils.SidecarEvaluator", "keras.experimental.SidecarEvaluator", "tensorflow.train.Saver"),
)
_PATHS = frozenset({"latest_checkpoint", "checkpoints"})


class CheckpointNeverRestored(Rule):
    """A training loop saves checkpoints, and nothing in the project restores one.

    ## Why
    `tf.train.CheckpointManager.save` only writes. An Estimator went on from its newest checkpoint by itself; a loop
    that is started again begins with the initial values and at step 0, and soon deletes the checkpoints of the first
    run: `max_to_keep` counts them.
    It is not said where the checkpoint or its manager is handed on, where another file of the project makes or reads
    checkpoints, or where it is saved but once, as a converter does.
    No run decides this: what is lost shows only when the program is started a second time.

    ## Example
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, "runs", max_to_keep=2)
    for batch in dataset:
        train_step(batch)
        manager.save()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, "runs", max_to_keep=2)
    manager.restore_or_initialize()
    for batch in dataset:
        train_step(batch)
        manager.save()
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/fault_tolerance
    - https://www.tensorflow.org/api_docs/python/tf/train/CheckpointManager#restore_or_initialize
    """

    code = "TF507"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = (f"{_MANAGER}().save",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a save in a loop by all that the project does with checkpoints."""
        if call.version_checked or call.in_graph or call.file.is_test or not call.loops:
            return
        if any(entity.kind != "external" for entity in call.found) or isinstance(call.statement, ast.Return):
            return
        manager = _made(call, call.receiver, _MANAGER)
        given = manager.value_call if manager is not None else None
        if manager is None or given is None or _is_told(call, manager):
            return
        kept = given.value("checkpoint", 0)
        if not isinstance(kept, ast.Call) and _made(call, kept, _CHECKPOINT) is None:
            return
        if call.file.once("restores checkpoints", lambda: _restores(call.file)):
            return
        if not any(_is_handed_on(call, node) for node in (call.receiver, kept)):
            yield self.report(
                call,
                f"`{call.path}` keeps checkpoints, and nothing in the project restores one: a program that is started "
                f"again begins with the initial values. Call `{manager.path}.restore_or_initialize()` before the loop.",
                related=[manager.location("made here")],
            )


def _made(call: Call, node: ast.expr | None, kind: str) -> Assignment | None:
    """The only assignment to a name of the function or module, if it surely is an object of this kind."""
    made = assignments_to(call, node) if isinstance(node, ast.Name) else []
    value = made[0].value_call if len(made) == 1 and not made[0].augmented else None
    return made[0] if value is not None and {name.canonical for name in value.names} == {kind} else None


def _is_told(call: Call, manager: Assignment) -> bool:
    """Whether the rule was asked of a save of this manager before."""
    told: set[int] = call.file.once("managers that are never restored", set)
    if id(manager) in told:
        return True
    told.add(id(manager))
    return False


def _restores(file: File) -> bool:
    """Whether this file restores or reads a checkpoint, or another one has to do with checkpoints at all."""
    others = file.project.files_using(_CHECKPOINT, _MANAGER, *_READS)
    if any(other != file.key for other in others):
        return True
    if any((reference.path or "").rpartition(".")[2] in _PATHS for reference in file.references):
        return True
    return any(
        call.method in _RESTORES
        or (call.method == "read" and bool(call.arguments))
        or (call.name in _READS and call.unread_as is None)
        for call in file.calls
    )


def _is_handed_on(call: Call, node: ast.expr | None) -> bool:
    """Whether other code gets hold of what a name stands for."""
    if not isinstance(node, ast.Name):
        return False
    found = call.file.index.lookup(call.scope, node.id)
    if found is None or (found[0].kind == "module" and call.file.project.is_read_elsewhere(call.file.key, node.id)):
        return True
    for reference in call.file.references:
        if reference.path == node.id and call.file.index.lookup(reference.scope, node.id) == found:
            around = given_to(reference)
            if around is None or around.name != _MANAGER:
                return True
    return False
