"""TF501: checkpoints that an Estimator or a monitored session kept by itself."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity

_KEEPING = ("save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max", "keep_checkpoint_every_n_hours")
_CONFIGS = (
    "tensorflow.estimator.RunConfig",
    "tensorflow.estimator.tpu.RunConfig",
    "tensorflow.contrib.learn.RunConfig",
    "tensorflow.contrib.tpu.RunConfig",
)
_HOOKS = ("tensorflow.train.CheckpointSaverHook", "tensorflow.estimator.CheckpointSaverHook")
_SESSIONS = {
    "tensorflow.train.MonitoredTrainingSession": ("checkpoint_dir", 2),
    "tensorflow.train.Supervisor": ("logdir", 7),
}
_SAVERS = {"tensorflow.train.Supervisor": ("saver", 9)}
"""What neither saves nor restores where it is given None for a saver [run]."""
_NO_ESTIMATORS = frozenset({"EstimatorSpec", "RunConfig", "CheckpointSaverHook", "BaselineEstimator"})


class EstimatorCheckpointing(Rule):
    """Checkpoints and automatic resuming come from the Estimator or session, and do not move to Keras with the model.

    ## Why
    An Estimator with a `model_dir` saves as its `RunConfig` says, and a program that is started again goes on from the
    newest checkpoint; so does `MonitoredTrainingSession(checkpoint_dir=...)`. A `CheckpointSaverHook` only saves.
    `model.fit` saves nothing by itself and starts from the beginning.
    `tf.keras.callbacks.BackupAndRestore`, or in a custom loop `tf.train.CheckpointManager.restore_or_initialize`, bring
    both back.
    Up to TF 2.15, which the target keras2 may be, Estimators still run, so there it is info.
    No run decides this: what is lost shows only when the program is started a second time.

    ## Example
    ```python
    import tensorflow as tf

    config = tf.estimator.RunConfig(save_checkpoints_steps=1000)
    classifier = tf.estimator.Estimator(model_fn, model_dir="runs", config=config)
    classifier.train(input_fn)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    backup = tf.keras.callbacks.BackupAndRestore("runs/backup", save_freq=1000)
    model.fit(dataset, epochs=10, callbacks=[backup])
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/fault_tolerance
    - https://www.tensorflow.org/guide/migrate/checkpoint_saver
    """

    code = "TF501"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    recipe = "estimators"
    beside = ("TF401", "TF406", "TF409")  # which say what becomes of the session, the name and the Estimator
    calls = (*_CONFIGS, *_HOOKS, *_SESSIONS, "tensorflow.estimator.*", "tensorflow.contrib.tpu.TPUEstimator")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what keeps checkpoints."""
        if call.version_checked or call.file.is_test or len({name.canonical for name in call.names}) != 1:
            return
        what = _what_keeps(call)
        if what:
            resumes = ", and a restarted program resumes by itself; in Keras nothing does"
            yield self.report(
                call,
                f"`{call.path}` {what}{resumes if call.name not in _HOOKS else '; `fit` does not'}: add "
                "`tf.keras.callbacks.BackupAndRestore` to `fit`, or `tf.train.CheckpointManager` to a custom loop.",
                Severity.INFO if call.target is Target.KERAS2 else None,
            )


def _what_keeps(call: Call) -> str:
    if call.name in _HOOKS:
        return "saves checkpoints while it trains"
    if call.name in _CONFIGS:
        said = next((keyword for keyword in _KEEPING if call.literal(keyword) is not None), "")
        return f"says when to save checkpoints (`{said}`)" if said and said in call.keywords else ""
    if call.name in _SESSIONS:
        keyword, position = _SESSIONS[call.name]
        directory = call.literal(keyword, position)
        given = call.value(keyword, position) is not None and directory is not None and directory != ""
        saves = call.name not in _SAVERS or not is_none(call.value(*_SAVERS[call.name]))
        return f"keeps checkpoints in its `{keyword}`" if given and saves else ""
    last = call.name.rpartition(".")[2]
    is_estimator = last.endswith(("Estimator", "Classifier", "Regressor")) and last not in _NO_ESTIMATORS
    directory = call.value("model_dir", 1 if last in ("Estimator", "TPUEstimator") else None)
    if (
        is_estimator
        and call.name.count(".") <= 3
        and directory is not None
        and call.literal("model_dir", 1) is not None
    ):
        return "keeps checkpoints in its `model_dir`"
    return ""
