"""TF305: file names under which Keras 3 saves nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .whole_models import is_model, other_end

_CHECKPOINT, _SAVE_MODEL = "keras.callbacks.ModelCheckpoint", "keras.models.save_model"
_WHOLE = (".keras", ".h5", ".hdf5")


class Keras3SaveFormat(Rule):
    """A model or its weights are saved under a name that Keras 3 refuses.

    ## Why
    With Keras 3 `model.save` takes `.keras` and `.h5` alone, `save_weights` takes `.weights.h5`, and `ModelCheckpoint`
    takes `.keras` and `.h5`, with `save_weights_only=True` `.weights.h5`: all else raises ValueError, a folder too.
    Keras 2 wrote a SavedModel or a checkpoint under such a name.
    `model.export` writes a SavedModel now.
    `save_format=` of `model.save` is ignored with a warning, and raises TypeError for `save_weights`.
    Only a name whose end is written out is judged, and only of what is known to be a model of Keras.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)])
    model.save("my_model")
    model.save_weights("weights.h5")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)])
    model.save("my_model.keras")
    model.save_weights("my.weights.h5")
    ```

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/api/callbacks/model_checkpoint/
    """

    code = "TF305"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    targets = frozenset({Target.KERAS3})
    calls = (_CHECKPOINT, _SAVE_MODEL)
    methods = ("save", "save_weights")
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the name of the file by what it ends in."""
        if call.version_checked or any(name.spelled.startswith("tf_keras") for name in call.names):
            return
        if call.name == _CHECKPOINT:
            yield from self._checkpoint(call)
        elif call.name == _SAVE_MODEL:
            yield from self._whole(call, call.value("filepath", 1))
        elif not is_model(call):
            return
        elif call.method == "save":
            yield from self._whole(call, call.value("filepath", 0))
        elif "save_format" in call.keywords:
            yield self.report(
                call, f"`{call.path}` takes no `save_format=` with Keras 3: that raises TypeError. The name decides."
            )
        else:
            yield from self._told(call, call.value("filepath", 0), (".weights.h5",), "`.weights.h5`")

    def _checkpoint(self, call: Call) -> Iterator[Diagnostic]:
        path, weights = call.value("filepath", 0), call.literal("save_weights_only", 3, False)
        if weights is True:
            yield from self._told(call, path, (".weights.h5",), "`.weights.h5`, with `save_weights_only=True`")
        elif weights is False:
            yield from self._told(call, path, (".keras", ".h5"), "`.keras`")

    def _whole(self, call: Call, path: ast.expr | None) -> Iterator[Diagnostic]:
        yield from self._told(call, path, _WHOLE, "`.keras`; `model.export` writes a SavedModel")

    def _told(self, call: Call, path: ast.expr | None, endings: tuple[str, ...], wanted: str) -> Iterator[Diagnostic]:
        end = other_end(call, path, endings)
        if end:
            yield self.report(
                call,
                f"`{call.path}` raises ValueError with Keras 3 for a name that ends in "
                f"`{end}`: it is to end in {wanted}.",
            )
