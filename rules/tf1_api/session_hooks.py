"""TF428: hooks, which a session calls."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Reference
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .graph_calls import named

_HOOKS = {
    "CheckpointSaverListener": "a callback of Keras",
    "FeedFnHook": "arguments of the function",
    "FinalOpsHook": "`on_train_end` of a callback",
    "GlobalStepWaiterHook": "",
    "LoggingTensorHook": "`tf.print`, or `on_train_batch_end` of a callback",
    "NanTensorHook": "tf.keras.callbacks.TerminateOnNaN",
    "ProfilerHook": "`profile_batch` of `tf.keras.callbacks.TensorBoard`",
    "SecondOrStepTimer": "",
    "SessionRunArgs": "",
    "SessionRunContext": "",
    "SessionRunHook": "a callback of Keras",
    "SessionRunValues": "",
    "StepCounterHook": "a callback of Keras",
    "StopAtStepHook": "`steps_per_epoch` and `epochs` of `fit`",
    "SummarySaverHook": "tf.keras.callbacks.TensorBoard",
    "Scaffold": "",
    "SessionManager": "",
    "ChiefSessionCreator": "",
    "WorkerSessionCreator": "",
}
"""What takes its place in a Keras program, where something does."""


class SessionHooks(Rule):
    """Something is to be called before and after each run of a session, and there are no sessions.

    ## Why
    The hooks, `Scaffold` and what creates sessions left `tf.train`: reading one raises AttributeError.
    Through `tf.compat.v1.train` hooks can be made, and only a `MonitoredSession` or an Estimator calls them.
    With `fit`, what they did is done by callbacks; in a loop of one's own it is ordinary code between the steps.

    ## Example
    ```python
    import tensorflow as tf

    class Timer(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            print("ran")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Timer(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            print("ran")
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/sessionrunhook_callback
    - https://www.tensorflow.org/guide/migrate/logging_stop_hook
    """

    code = "TF428"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF406",)
    references = tuple(f"tensorflow.train.{name}" for name in _HOOKS)

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """See `Rule.on_reference`."""
        names = {one.canonical for one in reference.names}
        if not names <= set(self.references):
            return
        successor = _HOOKS[min(names).rpartition(".")[2]]
        if successor.startswith("tf."):
            successor = f"`{successor}`"
        advice = f"use {successor}" if successor else "it is for sessions, which TF2 does without"
        yield from named(self, reference, "is of use to a session of TF1 alone", advice)
