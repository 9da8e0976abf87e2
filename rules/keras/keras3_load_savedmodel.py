"""TF306: files from which Keras 3 loads nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .whole_models import is_model, other_end

_LOADS = ("keras.models.load_model", "keras.saving.load_model")
_MODELS = (".keras", ".h5", ".hdf5")
_WEIGHTS = (".weights.json", *_MODELS)
_BY_NAME = (".h5", ".hdf5")


class Keras3LoadSavedmodel(Rule):
    """A model or its weights are loaded from a SavedModel or a checkpoint, which Keras 3 does not read.

    ## Why
    With Keras 3, `load_model` takes `.keras`, `.h5` and `.hdf5` alone, and `load_weights` these and `.weights.h5`: for
    a folder or the name of a TensorFlow checkpoint both raise ValueError, whether the file is there or not.
    `load_weights(..., by_name=True)` takes `.h5` and `.hdf5` files of Keras 2 alone.
    `tf.keras.layers.TFSMLayer` runs a SavedModel, without training it; `tf.train.Checkpoint(model=model).restore`
    reads a checkpoint.
    Only a name whose end is written out is judged, and `load_weights` only of what is known to be a model of Keras.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.models.load_model("saved_model")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.layers.TFSMLayer("saved_model", call_endpoint="serving_default")
    ```

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/api/models/model_saving_apis/
    """

    code = "TF306"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    targets = frozenset({Target.KERAS3})
    calls = _LOADS
    methods = ("load_weights",)
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the name of the file by what it ends in."""
        if call.version_checked or any(name.spelled.startswith("tf_keras") for name in call.names):
            return
        path = call.value("filepath", 0)
        if call.name in _LOADS and all(name.canonical in _LOADS for name in call.names):
            end = other_end(call, path, _MODELS)
            if end and not (literal_string(path) or "").startswith("hf://"):
                yield self.report(
                    call,
                    f"`{call.path}` raises ValueError with Keras 3 for a name that ends in `{end}`, such as a "
                    "SavedModel's. `tf.keras.layers.TFSMLayer` runs one; save models as `.keras`.",
                )
        elif call.method == "load_weights" and is_model(call):
            by_name = call.literal("by_name", None, False) is True
            end = other_end(call, path, _BY_NAME if by_name else _WEIGHTS)
            if end and by_name:
                yield self.report(
                    call, f"`{call.path}` with `by_name=True` raises ValueError with Keras 3 for a name in `{end}`."
                )
            elif end:
                yield self.report(
                    call,
                    f"`{call.path}` raises ValueError with Keras 3 for a name that ends in `{end}`. "
                    "`tf.train.Checkpoint(model=model).restore` reads a checkpoint of TensorFlow; a file in HDF5, "
                    "which the `keras` package wrote under any name, is to be named `.h5`.",
                )
