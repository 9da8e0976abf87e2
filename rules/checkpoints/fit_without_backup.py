"""TF505: a long training that begins again after an interruption."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..numerics.hints import is_first
from .fits import is_callback

_RESUMED = (
    "tensorflow.estimator.*",
    "tensorflow.train.MonitoredTrainingSession",
    "tensorflow.train.Supervisor",
    "tensorflow.train.Saver",
    "tensorflow.train.CheckpointSaverHook",
)
_KEEPING = (
    "tensorflow.train.Checkpoint",
    "tensorflow.train.CheckpointManager",
    "keras.callbacks.BackupAndRestore",
    "keras.callbacks.experimental.BackupAndRestore",
    "keras.callbacks.ModelCheckpoint",
)
_FITS = frozenset({"keras.Model().fit", "keras.Sequential().fit"})
_OTHERS = (
    "CSVLogger", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler", "ProgbarLogger",
    "ReduceLROnPlateau", "RemoteMonitor", "TensorBoard", "TerminateOnNaN",
)  # fmt: skip


class FitWithoutBackup(Rule):
    """A `fit` of several epochs keeps nothing while it runs, in a project whose TF1 code was resumed by itself.

    ## Why
    An Estimator and a monitored session save checkpoints and go on from the newest after an interruption; a `Saver` is
    there for the same. `model.fit` saves nothing by itself: after an interruption it begins with the first epoch.
    `BackupAndRestore` keeps a backup of each epoch, and goes on from it.
    Said once for a file, as a hint, and only where no file of the project uses such a callback or a
    `tf.train.Checkpoint`.
    No run decides this: what is lost shows only when the program is started a second time.

    ## Example
    ```python
    import tensorflow as tf

    old = tf.compat.v1.train.Saver(variables)
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.fit(dataset, epochs=100)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    backup = tf.keras.callbacks.BackupAndRestore("runs/backup")
    model.fit(dataset, epochs=100, callbacks=[backup])
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/fault_tolerance
    - https://www.tensorflow.org/api_docs/python/tf/keras/callbacks/BackupAndRestore
    """

    code = "TF505"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    methods = ("fit",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the first `fit` of a file that keeps nothing."""
        if call.version_checked or call.file.is_test or call.file.source.notebook is not None or call.loops:
            return
        if not call.names or any(name.canonical not in _FITS for name in call.names) or not _is_long(call):
            return
        project = call.file.project
        if not _keeps_nothing(call) or not project.uses(*_RESUMED) or project.uses(*_KEEPING):
            return
        if is_first(call, self.code):
            yield self.report(
                call,
                f"`{call.path}` keeps nothing while it runs: after an interruption it begins with the first epoch, "
                "where TF1 had checkpoints. Give it a `tf.keras.callbacks.BackupAndRestore`.",
            )


def _is_long(call: Call) -> bool:
    epochs = call.literal("epochs", 3, 1)
    return isinstance(epochs, int) and epochs > 1


def _keeps_nothing(call: Call) -> bool:
    """Whether all callbacks that a `fit` is given are known to save nothing."""
    given = call.value("callbacks", 5)
    if given is None or is_none(given):
        return not call.has_stars
    return isinstance(given, ast.List) and all(is_callback(call, node, *_OTHERS) for node in given.elts)
