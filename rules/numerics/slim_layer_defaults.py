"""TF614: layers of slim that activate, pad and stride where those of Keras do not."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import UNKNOWN, Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first
from .slim_defaults import is_scoped

_POOLS = {
    f"{kind}_pool{rank}": f"{keras}Pooling{rank.upper()}"
    for kind, keras in (("max", "Max"), ("avg", "Average"))
    for rank in ("2d", "3d")
}
_LAYERS = {
    "fully_connected": ("Dense", None, 2, 3),
    "conv1d": ("Conv1D", 4, 7, 8),
    "conv2d": ("Conv2D", 4, 7, 8),
    "conv3d": ("Conv3D", 4, 7, 8),
    "convolution2d": ("Conv2D", 4, 7, 8),
    "separable_conv2d": ("SeparableConv2D", 5, 8, 9),
    "conv2d_transpose": ("Conv2DTranspose", 4, 6, 7),
}
"""The class of Keras, and the positions of the padding, the activation and the normalizer."""
_HALF = 0.5
"""As much is kept as is dropped."""
_OF_TWO = (2, [2, 2], (2, 2), [2, 2, 2], (2, 2, 2))


class SlimLayerDefaults(Rule):
    """Layers of slim and contrib end in relu and pad with SAME unless told otherwise, and those of Keras do neither.

    ## Why
    `slim.fully_connected` and the convolutions end in relu, in Keras in nothing: -1 stays where it was 0.
    The convolutions pad with SAME, in Keras with VALID: 5 x 5 pixels become 3 x 3 with a kernel of 3.
    Pooling strides by 2 in slim, and by its window in Keras.
    With `normalizer_fn=` slim has no bias, and the relu comes after the normalization: `Dense(activation="relu")` has
    one, and its relu comes before.
    `slim.dropout` is told what it keeps, and `Dropout` what it drops.
    `tf.layers` has the defaults of Keras.
    Said once for a name, what it does otherwise, and a file, as a hint for the day when it is replaced, where one of
    these is left to its default and no `arg_scope` of the file may give it.
    No run decides this: the two have other variables, and no pair of calls to compare; `verify` compares the models.

    ## Example
    ```python
    import tf_slim as slim

    def features(pixels):
        return slim.conv2d(pixels, 32, 3)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    features = tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu")
    ```

    ## Source
    - https://github.com/google-research/tf-slim/blob/master/tf_slim/layers/layers.py
    - https://www.tensorflow.org/guide/migrate/model_mapping
    """

    code = "TF614"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "slim"
    beside = ("TF104", "TF105", "TF106", "TF110", "TF405")  # where it is made, and that contrib is gone
    calls = tuple(f"slim.{name}" for name in (*_LAYERS, *_POOLS, "dropout"))

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the defaults at the first call in a file that takes these."""
        name = call.name.removeprefix("slim.")
        told = _of_pool if name in _POOLS else _of_layer if name in _LAYERS else _of_dropout
        message = told(call, name)
        if message and is_first(call, f"{self.code}: {message}"):
            yield self.report(call, message)


def _of_dropout(call: Call, name: str) -> str:
    kept = call.value("keep_prob", 1)
    if kept is None or call.literal("keep_prob", 1, UNKNOWN) == _HALF:
        return ""
    return (
        f"`{call.path}` keeps `keep_prob` of its numbers, and `tf.keras.layers.Dropout` drops its `rate`: in its "
        "place, give Keras 1 minus what is kept."
    )


def _of_pool(call: Call, name: str) -> str:
    window = call.literal("kernel_size", 1, UNKNOWN)
    if _is_told(call, "stride", 2) or window is UNKNOWN or window in _OF_TWO:
        return ""
    keras = f"`tf.keras.layers.{_POOLS[name]}`"
    return f"`{call.path}` strides by 2, and {keras} by its window unless told otherwise: give Keras `strides=2`."


def _of_layer(call: Call, name: str) -> str:
    keras, padding, activation, normalizer = _LAYERS[name]
    if call.has_stars:
        return ""
    normalizes = call.literal("normalizer_fn", normalizer) is not None
    may_normalize = call.value("normalizer_fn", normalizer) is None and is_scoped(call, "normalizer_fn")
    does, advice = [], []
    if padding is not None and not _is_told(call, "padding", padding):
        does.append("pads with SAME")
        advice.append("`padding='same'`")
    if normalizes:
        does.append("has no bias beside a normalizer")
        advice.append("`use_bias=False`")
    if not _is_told(call, "activation_fn", activation):
        does.append("ends in relu")
        after = "a relu, after the normalization" if normalizes or may_normalize else ""
        advice.append(after or "`activation='relu'`")
    if not does:
        return ""
    if may_normalize:
        does.append("has no bias where the arg_scope gives a normalizer")
        advice.append("`use_bias=False` there")
    return (
        f"`{call.path}` {_and(does)}, unlike `tf.keras.layers.{keras}` unless that is told to: in its place, give "
        f"Keras {_and(advice)}."
    )


def _is_told(call: Call, keyword: str, position: int) -> bool:
    return call.has_stars or call.value(keyword, position) is not None or is_scoped(call, keyword)


def _and(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
