"""TF305: file names under which Keras 3 saves nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Target, literal_string
from ...linter.rule_api.rewriting import argument, without_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .whole_models import is_model, last_text, other_end

if TYPE_CHECKING:
    import libcst

_CHECKPOINT, _SAVE_MODEL = "keras.callbacks.ModelCheckpoint", "keras.models.save_model"
_REASON = "whatever loads the file has to read one of that name"
_FORMATS = (".tf", ".ckpt", ".h5", ".hdf5", ".pb", ".keras", "/")
"""Ends of names that tell how something is saved."""
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

    ## Fix safety
    Unsafe: a file of another name and kind is written, and whatever loads it has to read that one.
    It is offered where the name is a text that stands once in the file.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://keras.io/api/callbacks/model_checkpoint/
    """

    code = "TF305"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    targets = frozenset({Target.KERAS3})
    recipe = "keras3"
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

    def fixed_part(self, site: Call) -> ast.expr | None:
        """The text that the name ends in; the call where it is given a format."""
        path = site.value("filepath", 1 if site.name == _SAVE_MODEL else 0)
        if site.method == "save_weights" and "save_format" in site.keywords:
            return site.call if (literal_string(path) or "").endswith(".weights.h5") else None
        text = last_text(path)
        if text is None or not isinstance(text.value, str) or site.file.source.text.count(text.value.rstrip("/")) != 1:
            return None
        return text

    def fix(self, node: libcst.Call | libcst.SimpleString, site: Call) -> Replacement | None:
        """Write the end that Keras 3 takes."""
        import libcst

        if isinstance(node, libcst.Call):
            given = argument(node, "save_format")
            if given is None:
                return None
            return Replacement(without_argument(node, given), Applicability.UNSAFE, _REASON)
        text = node.raw_value
        weights = site.method == "save_weights" or site.literal("save_weights_only", 3, False) is True
        end = next((one for one in _FORMATS if text.endswith(one)), "")
        if text != node.evaluated_value or not text.removesuffix(end).rpartition("/")[2]:
            return None
        new = text.removesuffix(end).removesuffix(".weights") + (".weights.h5" if weights else ".keras")
        written = node.with_changes(value=f"{node.prefix}{node.quote}{new}{node.quote}")
        return Replacement(written, Applicability.UNSAFE, _REASON)

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
