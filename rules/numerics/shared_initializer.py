"""TF635: one initializer without a seed that begins several weights."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .drawing import uses_of

_CLASSES = (
    "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "LecunNormal", "LecunUniform", "Orthogonal",
    "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling",
)  # fmt: skip
_ALIASES = (
    "OrthogonalInitializer", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal",
    "lecun_uniform", "orthogonal", "random_normal", "random_uniform", "truncated_normal", "variance_scaling",
)  # fmt: skip
_SEEDS = {
    **dict.fromkeys(("Orthogonal", "OrthogonalInitializer", "orthogonal"), 1),
    **dict.fromkeys(("RandomNormal", "RandomUniform", "TruncatedNormal"), 2),
    **dict.fromkeys(("random_normal", "random_uniform", "truncated_normal"), 2),
    **dict.fromkeys(("VarianceScaling", "variance_scaling"), 3),
}
"""Where the seed stands among the arguments; the others have no other argument."""
_MOST = 6


class SharedInitializer(Rule):
    """One initializer of Keras without a seed begins several weights, which then begin with the same numbers.

    ## Why
    An initializer of Keras chooses its seed when it is made: each call of it draws the same numbers.
    Layers that are given one object begin with equal weights, where these have one shape; where they have not, one
    begins as the other does, for `GlorotUniform` and its like up to a factor; those of `Orthogonal` differ then.
    Two equal branches of a network, or two critics, are then one.
    Keras 3 says nothing of it, and tf_keras warns at the second call.

    In TF1 one initializer gave each variable numbers of its own, and so do `tf.random_normal_initializer()` in TF2 and
    those of `tf.compat.v1`: a program that kept one for all its layers has tied weights when it is moved to Keras.
    A word such as `"he_normal"` and a class without parentheses make an initializer for each weight, and
    `MultiHeadAttention` and `Bidirectional` make copies that draw on their own.
    With a number as `seed=` the same numbers were asked for.

    The initializer is followed through names, attributes, parameters and their defaults, dicts of arguments and
    `functools.partial` in its file; what `get_variable` and other files are given is not counted, nor are tests.
    Where all that it begins are the kernel and the bias of one layer, it is a hint.

    ## Example
    ```python
    import tensorflow as tf

    start = tf.keras.initializers.RandomNormal(stddev=0.1)
    left = tf.keras.layers.Dense(8, kernel_initializer=start)
    right = tf.keras.layers.Dense(8, kernel_initializer=start)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def start():
        return tf.keras.initializers.RandomNormal(stddev=0.1)

    left = tf.keras.layers.Dense(8, kernel_initializer=start())
    right = tf.keras.layers.Dense(8, kernel_initializer=start())
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/initializers/RandomNormal
    - https://keras.io/api/layers/initializers/
    """

    code = "TF635"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    of_keras = True
    calls = tuple(
        f"{package}.initializers.{name}" for package in ("keras", "tensorflow") for name in (*_CLASSES, *_ALIASES)
    )
    beside = ("TF613",)  # which tells of the numbers that one weight begins with

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge an initializer by what it is given to."""
        if call.version_checked or call.file.is_test or call.has_stars:
            return
        if len({name.canonical for name in call.names}) != 1 or _draws_anew(call):
            return
        if any(entity.kind != "external" for entity in call.found):
            return
        kind = call.name.rpartition(".")[2]
        seed = call.value("seed", _SEEDS.get(kind, 0))
        if seed is not None and not is_none(seed):
            return
        shared = uses_of(call)
        if not shared.told:
            return
        what = "the kernel and the bias of a layer" if shared.in_one_layer else "more than one weight"
        so = "both begin alike" if shared.in_one_layer else "weights of one shape begin equal"
        if not shared.in_one_layer and kind.lower() not in ("orthogonal", "orthogonalinitializer"):
            so += ", and others alike"
        remedy = "Make one for each"
        if call.target is Target.KERAS3:
            remedy += ", or give `seed=tf.keras.random.SeedGenerator()`"
        yield self.report(
            call,
            f"One `{kind}` without a seed begins {what}: it draws the same numbers each time, so that {so}. {remedy}.",
            Severity.INFO if shared.in_one_layer else None,
            related=dict.fromkeys(shared.told[:_MOST]),
        )


def _draws_anew(call: Call) -> bool:
    """Whether it is one of TF1's, which has a seed for each variable."""
    return call.is_compat_v1 and (call.target is Target.KERAS2 or call.name.startswith("tensorflow."))
