"""TF512: checkpoints in a directory that does not outlive what they are for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Site, canonical, literal_string, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .assigned import assignments_to

_DIRECTORIES = {
    "keras.callbacks.BackupAndRestore": ("backup_dir", 0),
    "keras.callbacks.experimental.BackupAndRestore": ("backup_dir", 0),
    "tensorflow.train.CheckpointManager": ("directory", 1),
}
_NEW, _DELETED, _SHARED = "new", "deleted", "shared"
_MADE = {
    "tempfile.mkdtemp()": _NEW,
    "tempfile.TemporaryDirectory()": _DELETED,
    "tempfile.TemporaryDirectory().name": _DELETED,
    "tempfile.gettempdir()": _SHARED,
}
_SAYS = {
    _NEW: "is a new directory in every run: a program that is started again finds no checkpoint there, and begins "
    "from the start",
    _DELETED: "is deleted when the program is done with it: a program that is started again finds no checkpoint, and "
    "begins from the start",
    _SHARED: "is in the machine's temporary directory, which is lost with the machine, and is often emptied when that "
    "starts again",
}
_JOINING = frozenset({"os.path.join", "pathlib.Path", "str", "os.fspath"})
_DEPTH = 4
"""Names that one is assigned after another."""


class EphemeralCheckpointDir(Rule):
    """Checkpoints are kept in a temporary directory, where a program that is started again does not find them.

    ## Why
    A backup is for the program that dies. `tempfile.mkdtemp()` gives every run another directory, so that the next one
    begins from the start; what is below `/tmp` is lost with the machine.
    Only a `fit` that fails and is called again in the same process finds such a backup.
    What is below `/tmp` is info, and so is a manager's directory that is deleted on purpose.
    A `ModelCheckpoint` is left alone: it may well serve the run itself, which loads its best model.
    No run decides this: what is lost shows only when the program is started a second time.

    ## Example
    ```python
    import tempfile
    import tensorflow as tf

    backup = tf.keras.callbacks.BackupAndRestore(tempfile.mkdtemp())
    ```

    ## Fix
    ```python
    import tensorflow as tf

    backup = tf.keras.callbacks.BackupAndRestore("runs/backup")
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/fault_tolerance
    - https://www.tensorflow.org/api_docs/python/tf/keras/callbacks/BackupAndRestore
    """

    code = "TF512"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = tuple(_DIRECTORIES)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the directory that a callback or a manager is given."""
        if call.version_checked or call.file.is_test or any(entity.kind != "external" for entity in call.found):
            return
        if not all(name.canonical in _DIRECTORIES for name in call.names):
            return  # after a conditional import, it may be anything
        keyword, position = _DIRECTORIES[call.name]
        directory = call.value(keyword, position)
        kind = _lasting(call, directory)
        last = call.name.rpartition(".")[2]
        if not kind or directory is None:
            return
        certain = kind == _NEW or (kind == _DELETED and last == "BackupAndRestore")
        yield self.report(
            call,
            f"the `{keyword}` of this `{last}` {_SAYS[kind]}. Give it a directory that stays.",
            None if certain else Severity.INFO,
        )


def _lasting(site: Site, node: ast.expr | None, depth: int = _DEPTH) -> str:
    """How a path comes to be temporary; empty where it is not, or not surely."""
    text = literal_string(node)
    if text is not None:
        return _SHARED if f"{text}/".startswith("/tmp/") else ""
    if isinstance(node, ast.JoinedStr) and node.values:
        first = node.values[0]
        return _lasting(site, first.value if isinstance(first, ast.FormattedValue) else first, depth)
    if isinstance(node, ast.BinOp):
        return _lasting(site, node.left, depth)
    if node is None or not depth:
        return ""
    made = assignments_to(site, node)
    if made and all(one.value is not None for one in made):
        kinds = {_lasting(one, one.value, depth - 1) for one in made if not one.augmented}
        return kinds.pop() if len(kinds) == 1 else ""
    return _by_name(site, node, depth)


def _by_name(site: Site, node: ast.expr, depth: int) -> str:
    call = site.file.call_at(node)
    if call is not None and call.name in _JOINING and call.call.args:
        return _lasting(site, call.call.args[0], depth)
    found = {canonical(entity.text) if entity.kind == "external" else "" for entity in site.entities(path_of(node))}
    kinds = {_MADE.get(name, "") for name in found}
    return kinds.pop() if len(kinds) == 1 else ""
