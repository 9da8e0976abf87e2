"""TF620: recurrent layers, whose gates are computed otherwise than in TF1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Era, Target
from ...linter.rule_api.rewriting import argument, with_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .hints import is_first, is_first_in_project

if TYPE_CHECKING:
    import libcst

_CELLS = ("BasicLSTMCell", "GRUCell", "LSTMCell")
_LAYERS = ("GRU", "GRUCell", "LSTM", "LSTMCell")
_FORGET_BIAS = {"BasicLSTMCell": 1, "LSTMCell": 7}
_REASON = "weights that TF2 has saved belong to what the layer computes now"
_RESTORES = tuple(
    f"tensorflow.train.{name}" for name in ("NewCheckpointReader", "Saver", "init_from_checkpoint", "load_checkpoint")
)


class RnnDefaults(Rule):
    """An LSTM or GRU of TF1 computes its gates otherwise than the one of today.

    ## Why
    `tf.keras.layers.LSTM` and `GRU` of TF 1.15 had `recurrent_activation="hard_sigmoid"` and have `"sigmoid"`; `GRU`
    had `reset_after=False` and has True, with a bias of another shape, so that its old weights do not load.
    With every weight 0.5, an LSTM gives 0.738 after three steps where it gave 0.711, a GRU 0.460 for 0.498.
    The names are spelled as before, so only a file that is written for TF1 tells that the old values were meant.
    On Keras 3 `"hard_sigmoid"` is another function than in TF1: `x / 6 + 0.5`, where it was `0.2 * x + 0.5`.
    The cells of `tf.nn.rnn_cell` keep what they do, and differ from the layers that take their place, which is a hint.
    `GRUCell` begins the bias of its gates with 1 and multiplies by the reset gate first; a Keras LSTM begins with a
    forget bias of 1, whatever `forget_bias` was: said once for a name and file.
    The LSTM cells add that bias at each step, and Keras has it in its weights, with the gates in another order: said
    once for a project that restores checkpoints.
    A run compares the layers alone: the cells of TF1 have other weights than Keras.

    ## Example
    ```python
    import tensorflow as tf

    tf.set_random_seed(1)
    layer = tf.keras.layers.LSTM(16)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def hard_sigmoid(x):
        return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)

    tf.random.set_seed(1)
    layer = tf.keras.layers.LSTM(16, recurrent_activation=hard_sigmoid)
    ```

    ## Fix safety
    Unsafe: the layer computes what it did in TF1, which weights that TF2 has saved do not fit.
    With Keras 3 the old gate is a lambda, which a `.keras` file does not hold: give it a function that is registered
    where models are saved.
    Cells of `tf.nn.rnn_cell` have no fix.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/layers/GRU
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/keras/layers/LSTM
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/nn/rnn_cell/GRUCell
    """

    code = "TF620"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "rnn"
    beside = ("TF102", "TF103", "TF105", "TF106", "TF405", "TF406", "TF410")  # where it is made, and that it is gone
    calls = (*(f"tensorflow.nn.rnn_cell.{name}" for name in _CELLS), *(f"keras.layers.{name}" for name in _LAYERS))
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a layer in a file of TF1 by the arguments that are left out; tell once of a cell."""
        if call.has_stars:
            return
        kind = call.name.rpartition(".")[2]
        if call.name.startswith("keras."):
            yield from self._layer(call, kind)
        elif kind == "GRUCell" or call.literal("forget_bias", _FORGET_BIAS.get(kind), 1.0) != 1:
            if is_first(call, self.code):
                yield self.report(call, _of_gru(call) if kind == "GRUCell" else _of_lstm(call, kind), Severity.INFO)
        elif call.file.project.uses(*_RESTORES) and is_first_in_project(call, self.code):
            yield self.report(call, _of_lstm(call, kind), Severity.INFO)

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give a layer what it left to the defaults of TF1."""
        if not site.name.startswith("keras."):
            return None
        kind = site.name.rpartition(".")[2]
        imports: tuple[tuple[str, str | None, str | None], ...] = ()
        if _had_another_gate(site):
            value, old = '"hard_sigmoid"', argument(node, "recurrent_activation", 2)
            if site.target is Target.KERAS3:
                written = site.importable("tensorflow.clip_by_value")
                if written is None:
                    return None
                value, imports = f"lambda x: {written[0]}(0.2 * x + 0.5, 0.0, 1.0)", written[1]
            node = with_argument(node, "recurrent_activation", value, old)
        if kind.startswith("GRU") and site.value("reset_after") is None:
            node = with_argument(node, "reset_after", "False")
        return Replacement(node, Applicability.UNSAFE, _REASON, imports)

    def _layer(self, call: Call, kind: str) -> Iterator[Diagnostic]:
        if call.file.era is not Era.TF1 or call.version_checked or call.is_compat_v1:
            return
        if any(entity.kind != "external" for entity in call.found) or len(set(call.names)) != 1:
            return
        changed, advice = [], []
        activation = call.literal("recurrent_activation", 2)
        if _had_another_gate(call):
            keras3 = call.target is Target.KERAS3
            if activation is None:
                changed.append("`recurrent_activation='sigmoid'`, where it was 'hard_sigmoid'")
            elif keras3:
                changed.append("another 'hard_sigmoid', `x / 6 + 0.5`")
            if keras3:
                advice.append("a function that computes `tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)`")
            elif activation is None:
                advice.append("`recurrent_activation='hard_sigmoid'`")
        same = "the same weights give other numbers"
        if kind.startswith("GRU") and call.value("reset_after") is None:
            if call.literal("use_bias", default=True) is True:
                same = "a training silently gives another model, and weights of TF1 do not fit its bias"
            changed.append("`reset_after=True`, where it was False")
            advice.append("`reset_after=False`")
        if changed:
            yield self.report(
                call,
                f"`{call.path}` has {' and '.join(changed)} in TF1: {same}. For "
                f"those of TF1, give it {' and '.join(advice)}.",
                related=call.file.era_told,
            )


def _had_another_gate(call: Call) -> bool:
    """Whether the recurrent activation of a layer was TF1's `hard_sigmoid`, by default or by name."""
    return call.spelled.startswith("tensorflow.") and call.literal("recurrent_activation", 2) in (None, "hard_sigmoid")


def _of_gru(call: Call) -> str:
    return (
        f"`{call.path}` begins the bias of its gates with 1, and multiplies by the reset gate before the matrix; "
        "`tf.keras.layers.GRU` begins with 0 and multiplies after it. In its place, give Keras `reset_after=False` and "
        "a `bias_initializer` with ones for the gates."
    )


def _of_lstm(call: Call, kind: str) -> str:
    start = call.literal("forget_bias", _FORGET_BIAS.get(kind), 1.0)
    bias = ""
    if start == 0:
        bias = "`tf.keras.layers.LSTM` begins with a forget bias of 1 unless given `unit_forget_bias=False`. "
    elif start != 1:
        bias = "`tf.keras.layers.LSTM` begins with a forget bias of 1, whatever was given here. "
    return (
        f"{bias}`{call.path}` adds its forget bias at each step, and has its gates in the order i, j, f, o: weights "
        "that are carried over to `tf.keras.layers.LSTM` give other numbers, until that is added to the bias and the "
        "gates are in the order i, f, j, o."
    )
