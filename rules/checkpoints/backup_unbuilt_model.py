"""TF508: a backup of a model that has no variables yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .fits import callbacks_of, is_callback
from .unbuilt import is_unbuilt, made_before


class BackupUnbuiltModel(Rule):
    """`BackupAndRestore` is given to the `fit` of a model that is not built, which raises with Keras 3.

    ## Why
    "ValueError: To use the BackupAndRestore callback, you model must be built before you call `fit()`": Keras 3 looks
    for a backup before the first batch, and a `Sequential` without an input or a subclass of `Model` has no variables
    until it sees one.
    A `build` method in the class does not help, since nothing calls it before.
    With tf_keras the same program trains, and restores when the variables are there.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    model.compile("adam", "mse")
    backup = tf.keras.callbacks.BackupAndRestore("runs/backup")
    model.fit(x, y, epochs=10, callbacks=[backup])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input((28,)), tf.keras.layers.Dense(10)])
    model.compile("adam", "mse")
    backup = tf.keras.callbacks.BackupAndRestore("runs/backup")
    model.fit(x, y, epochs=10, callbacks=[backup])
    ```

    ## Source
    - https://keras.io/api/callbacks/backup_and_restore/
    - https://github.com/keras-team/keras/issues/20712
    """

    code = "TF508"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    targets = frozenset({Target.KERAS3})
    effort = Effort.LOCAL
    methods = ("fit",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a `fit` by its callbacks, and by what was done with the model before."""
        backups = [node for node in callbacks_of(call) or () if is_callback(call, node, "BackupAndRestore")]
        if not backups or not isinstance(call.receiver, ast.Name) or call.version_checked or call.in_graph:
            return
        if any(name.spelled.startswith("tf_keras") for name in call.names_of(backups[0])):
            return
        model = call.receiver.id
        made = made_before(call, model)
        if made is not None and made.value_call is not None and is_unbuilt(made.value_call, model, call.line):
            yield self.report(
                call,
                f"`{call.path}` raises ValueError with Keras 3: `BackupAndRestore` needs a model that is built, and "
                f"`{model}` has no variables before its first batch. Give it a `tf.keras.Input`, or call "
                "its `build` with the shape of the input before.",
                related=[made.location("made here")],
            )
