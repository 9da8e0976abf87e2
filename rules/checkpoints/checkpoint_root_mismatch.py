"""TF509: a checkpoint that is restored under other names than it was saved with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Site, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .assigned import assignments_to
from .trying import is_tried

_CHECKPOINT, _MANAGER = "tensorflow.train.Checkpoint", "tensorflow.train.CheckpointManager"
_LATEST = "tensorflow.train.latest_checkpoint"
_DEPTH = 3
"""Names that one is assigned after another."""


class CheckpointRootMismatch(Rule):
    """A checkpoint is restored into a `tf.train.Checkpoint` whose keywords are not those that it was saved with.

    ## Why
    Objects are matched by the keywords that they were given: what was saved as `model` is not found as `net`.
    Such a restore raises nothing: every variable keeps its initial value, also with `expect_partial()`; the assertions
    of its status raise AssertionError.
    It is said where one file saves and restores the same folder, and no keyword is on both sides; a checkpoint that
    holds more than is restored is none.

    ## Example
    ```python
    import tensorflow as tf

    def train(model):
        tf.train.Checkpoint(model=model).save("runs/ckpt")

    def evaluate(net):
        tf.train.Checkpoint(net=net).restore(tf.train.latest_checkpoint("runs")).expect_partial()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def train(model):
        tf.train.Checkpoint(model=model).save("runs/ckpt")

    def evaluate(net):
        tf.train.Checkpoint(model=net).restore(tf.train.latest_checkpoint("runs")).expect_partial()
    ```

    ## Source
    - https://www.tensorflow.org/guide/checkpoint#loading_mechanics
    - https://www.tensorflow.org/guide/migrate/migrating_checkpoints
    """

    code = "TF509"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    supersedes = ("TF504",)
    calls = (f"{_CHECKPOINT}().restore", f"{_CHECKPOINT}().read", f"{_MANAGER}().restore_or_initialize")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a restore by all that the file saves."""
        if call.version_checked or call.file.is_test or any(entity.kind != "external" for entity in call.found):
            return
        if is_tried(call) or any(file != call.file.key for file in call.file.project.files_using(_CHECKPOINT)):
            return
        checkpoint, folder = _restored(call)
        saved = call.file.once("checkpoints that are saved", lambda: list(_saved(call)))
        if checkpoint is None or folder is None or not _is_known(checkpoint):
            return
        others = [other for other in call.file.calls if _is(other, _CHECKPOINT) and other is not checkpoint]
        known = {keyword for other in others for keyword in other.keywords}
        if not all(map(_is_known, others)) or known & set(checkpoint.keywords):
            return
        if any(saver is checkpoint for saver, _ in saved):
            return
        saver = next((saver for saver, where in saved if where == folder), None)
        if saver is not None:
            yield self.report(
                call,
                f"this checkpoint has {_listed(checkpoint)}, and what is saved in the folder has {_listed(saver)}: no "
                "variable gets a value from it. Give both the same keywords.",
                related=[saver.location("saved from here")],
            )


def _is(call: Call | None, kind: str) -> bool:
    return call is not None and bool(call.names) and all(name.canonical == kind for name in call.names)


def _listed(checkpoint: Call) -> str:
    return " and ".join(f"`{keyword}`" for keyword in checkpoint.keywords)


def _is_known(checkpoint: Call) -> bool:
    """Whether a checkpoint has keywords alone, and gets nothing later."""
    paths = tuple(f"{path}." for path in checkpoint.assigned_to)
    later = any((made.path or "").startswith(paths) for made in checkpoint.file.assignments) if paths else False
    return not checkpoint.call.args and not checkpoint.has_stars and bool(checkpoint.keywords) and not later


def _made(site: Site, node: ast.expr | None, kind: str) -> Call | None:
    """The call that surely makes what an expression is."""
    made = assignments_to(site, node)
    call = made[0].value_call if len(made) == 1 and not made[0].augmented else site.file.call_at(node)
    return call if _is(call, kind) else None


def _restored(call: Call) -> tuple[Call | None, str | None]:
    """The making of the checkpoint that is restored, and the folder that it is restored from."""
    if call.method == "restore_or_initialize":
        return _of_manager(call, call.receiver)
    path = call.value("save_path", 0)
    if path is not None and not isinstance(path, ast.Call):
        made = assignments_to(call, path)
        path = made[0].value if len(made) == 1 and made[0].value is not None else path
    folder = _folder(call, path, is_prefix=True)
    latest = call.file.call_at(path)
    if latest is not None and _is(latest, _LATEST):
        folder = _folder(latest, latest.value("checkpoint_dir", 0))
    elif isinstance(path, ast.Attribute) and path.attr == "latest_checkpoint":
        folder = _of_manager(call, path.value)[1]
    return _made(call, call.receiver, _CHECKPOINT), folder


def _of_manager(site: Site, node: ast.expr | None) -> tuple[Call | None, str | None]:
    manager = _made(site, node, _MANAGER)
    if manager is None:
        return None, None
    return _made(manager, manager.value("checkpoint", 0), _CHECKPOINT), _folder(manager, manager.value("directory", 1))


def _saved(site: Site) -> Iterator[tuple[Call, str | None]]:
    """The checkpoints that a file saves, each with the folder, where that is known."""
    for call in site.file.calls:
        if call.method in ("save", "write"):
            checkpoint, folder = _of_manager(call, call.receiver)
            if checkpoint is None:
                checkpoint = _made(call, call.receiver, _CHECKPOINT)
                folder = _folder(call, call.value("file_prefix", 0), is_prefix=True)
            if checkpoint is not None:
                yield checkpoint, folder


def _folder(site: Site, node: ast.expr | None, is_prefix: bool = False, depth: int = _DEPTH) -> str | None:
    """A folder, or that of a file in it, as a text that is the same for the same one; None where it is not known."""
    text = literal_string(node)
    if text is not None:
        return text.rpartition("/")[0] if is_prefix else text.rstrip("/")
    if isinstance(node, ast.Name) and depth:
        made = assignments_to(site, node)
        if len(made) != 1 or made[0].augmented:
            return None
        known = _folder(made[0], made[0].value, is_prefix, depth - 1)
        found = site.file.index.lookup(site.scope, node.id)
        return known if known is not None or found is None or is_prefix else f"{found[0].id}:{node.id}"
    join = site.file.call_at(node) if is_prefix else None
    if join is not None and [name.canonical for name in join.names] == ["os.path.join"] and len(join.arguments) == 2:
        folder, name = join.arguments
        return None if "/" in (literal_string(name) or "/") else _folder(site, folder, depth=depth)
    return None
