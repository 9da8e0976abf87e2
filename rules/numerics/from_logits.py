"""TF612: a loss that takes logits for probabilities."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, is_none, literal_string, path_of
from ...linter.rule_api.rewriting import argument, expression, with_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .models import last_layer, maker_of

if TYPE_CHECKING:
    import libcst

_CLASSES = ("BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy")
_FUNCTIONS = ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy")
_TEXTS = frozenset({*_CLASSES, *_FUNCTIONS})
_LOSSES = frozenset(f"keras.losses.{name}" for name in _TEXTS)
_REASON = "the loss is another one from then on: that of logits"
_CONVOLUTIONS = frozenset(f"keras.layers.Conv{n}D" for n in (1, 2, 3))


class FromLogits(Rule):
    """A cross-entropy of Keras is given what a layer without activation computes, and is not told so.

    ## Why
    The losses of TF1 took logits: `sparse_softmax_cross_entropy`, `sigmoid_cross_entropy`.
    Those of Keras take probabilities unless `from_logits=True` is given.
    They clip logits to the range of probabilities and go on; nothing raises, and the model hardly learns.

    The rule speaks where the file shows the last layer of the model and the loss.
    A run judges the loss that its model is compiled with, and not one that the program calls.
    The reverse, `from_logits=True` for a layer with `activation="softmax"`, is told by Keras itself: both targets warn,
    find the logits again, and compute the right loss.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    model.compile("adam", loss="sparse_categorical_crossentropy")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    model.compile("adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ```

    ## Fix safety
    Unsafe: the loss becomes the one that was meant, and the model trains otherwise.
    A loss that is made elsewhere is mended there if nothing else reads it.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/losses/SparseCategoricalCrossentropy
    - https://keras.io/api/losses/probabilistic_losses/
    """

    code = "TF612"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    methods = ("compile",)
    calls = (*(f"keras.losses.{name}()" for name in _CLASSES), *(f"keras.losses.{name}" for name in _FUNCTIONS))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a loss that is called on what a model gives, or that a model is compiled with."""
        if call.version_checked:
            return
        if call.method == "compile":
            made = (path_of(call.receiver), _compiled_with(call))
        else:
            made = (_predicted_by(call), _called(call))
        path, loss = made
        layer = last_layer(call, path) if path and loss else None
        if layer is not None and _is_linear(layer):
            kind = layer.name.rpartition(".")[2]
            yield self.report(
                call,
                f"`{loss}` takes what `{path}` gives for probabilities, and its last layer, {kind}, has no activation: "
                "the loss is silently wrong. Make the loss with `from_logits=True`, or give the layer its activation.",
                related=(layer.location("the last layer"),),
            )

    def fixed_part(self, site: Call) -> ast.expr | None:
        """The call that makes the loss, or takes it by its name."""
        if site.name in _LOSSES:
            return site.call
        loss = site.value("loss", 1) if site.method == "compile" else site.call.func
        if not isinstance(loss, ast.Name):
            return loss if isinstance(loss, ast.Call) else site.call if site.method == "compile" else None
        made = maker_of(site, loss.id)
        reads = [one for one in site.file.references if (one.path or "").partition(".")[0] == loss.id]
        return made.call if made is not None and [one.syntax for one in reads] == [loss] else None

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Say that they are logits."""
        part = self.fixed_part(site)
        if part is not site.call or site.name in _LOSSES:
            made = site.file.call_at(part)
            is_class = made is not None and made.name.rpartition(".")[2] in _CLASSES
            old = argument(node, "from_logits", 0 if is_class else 2)
            return Replacement(with_argument(node, "from_logits", "True", old), Applicability.UNSAFE, _REASON)
        given = site.value("loss", 1)
        text = literal_string(given) or (path_of(given) or "").rpartition(".")[2]
        kind = next((one for one in _CLASSES if one.lower() == text.replace("_", "").lower()), "")
        loss, written = argument(node, "loss", 1), site.importable(f"tensorflow.keras.losses.{kind}")
        if loss is None or not kind or written is None:
            return None
        value = expression(f"{written[0]}(from_logits=True)")
        args = [arg.with_changes(value=value) if arg is loss else arg for arg in node.args]
        return Replacement(node.with_changes(args=args), Applicability.UNSAFE, _REASON, written[1])


def _is_linear(layer: Call) -> bool:
    """Whether a layer surely computes logits."""
    positions = {"keras.layers.Dense": 1} | dict.fromkeys(_CONVOLUTIONS, 7)
    if len(layer.names) != 1 or layer.name not in positions or layer.has_stars:
        return False
    activation = layer.value("activation", positions[layer.name])
    return activation is None or is_none(activation) or literal_string(activation) == "linear"


def _compiled_with(call: Call) -> str:
    """The name of the loss that a model is compiled with, if that one takes probabilities."""
    loss = call.value("loss", 1)
    text = literal_string(loss)
    if text is not None:
        return text if text in _TEXTS else ""
    made = call.file.call_at(loss) or (maker_of(call, path) if (path := path_of(loss)) else None)
    if made is not None:
        return _made(made)
    found = {name.canonical for name in call.names_of(loss)}
    return found.pop().rpartition(".")[2] if len(found) == 1 and found <= _LOSSES else ""


def _made(call: Call) -> str:
    """The class of a loss that is made to take probabilities."""
    kind = call.name.rpartition(".")[2]
    if kind not in _CLASSES or len(call.names) != 1 or call.name not in _LOSSES:
        return ""
    return kind if call.literal("from_logits", 0, default=False) is False else ""


def _called(call: Call) -> str:
    """The name of the loss that is called, if it takes probabilities."""
    if call.name in _LOSSES:
        name = call.name.rpartition(".")[2]
        return name if call.literal("from_logits", 2, default=False) is False else ""
    made = maker_of(call, call.path) if call.path else None
    return _made(made) if made is not None else ""


def _predicted_by(call: Call) -> str | None:
    """The path of the model whose result a loss is called on."""
    node = call.value("y_pred", 1)
    made = call.file.call_at(node)
    if made is None and isinstance(node, ast.Name):
        made = maker_of(call, node.id)
    return made.path if made is not None else None
