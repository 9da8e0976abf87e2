"""TF425: settings that only a session reads."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Reference
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .contexts import certainty
from .graph_calls import named

_SETTINGS = {
    "ConfigProto": "use `tf.config`",
    "GPUOptions": "use `tf.config.experimental.set_memory_growth` or `tf.config.set_logical_device_configuration`",
    "GraphOptions": "use `tf.config.optimizer`",
    "OptimizerOptions": "use `tf.config.optimizer`",
    "RunOptions": "use `tf.profiler`",
    "RunMetadata": "use `tf.profiler`",
    "SessionLog": "leave it out",
}


class SessionConfig(Rule):
    """Settings are made for a session, which is the only one to read them.

    ## Why
    `tf.ConfigProto` and its like left `tf`: reading one raises AttributeError.
    Through `tf.compat.v1` they can be made, and nothing but a session or an Estimator takes them: `allow_growth` and a
    share of the memory are then set for nothing, and TensorFlow takes all memory of a GPU.
    `tf.config` has the settings of TF2.
    In a graph that is built on purpose they work, and are not reported.

    ## Example
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    ```

    ## Fix
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2#other_api_changes
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TF425"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF406",)
    references = tuple(f"tensorflow.{name}" for name in _SETTINGS)

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """See `Rule.on_reference`."""
        names = {one.canonical for one in reference.names}
        if not names <= set(self.references) or (reference.is_compat_v1 and certainty(reference) is None):
            return
        advice = _SETTINGS[min(names).rpartition(".")[2]]
        yield from named(self, reference, "is read by a session of TF1 alone", advice)
