"""Small programs and their migrations: with the same meaning, with a small difference, and without float64.

Each is two functions of variables and of what is fed. Both are trained with the same loss, the mean of squares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Converter, Pair, Spec

v1 = tf.compat.v1


class Member(NamedTuple):
    """A program and its migration.

    Attributes:
        old: of the variables by name, the inputs and whether this is training.
        new: likewise.
        shapes: of the variables; one of a single number is 0.1 in the beginning, others are drawn.
        inputs: the batch of every step.
        kept: of the new one alone, variables that are not trained.
        converter: from the old values of all variables to the new ones.
    """

    old: Callable[..., Any]
    new: Callable[..., Any]
    shapes: Mapping[str, tuple[int, ...]]
    inputs: Any
    kept: Mapping[str, float] = {}
    converter: Callable[..., Any] | None = None


def numbers(*shape: int, seed: int = 0, scale: float = 1.0) -> Any:
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)


def together(members: Mapping[str, Member]) -> Pair:
    """One pair of all these, with an output of each: what is about one of them is about no other."""
    shapes = {f"{at}/{key}": shape for at, one in enumerate(members.values()) for key, shape in one.shapes.items()}

    kept = {f"{at}/{key}": value for at, one in enumerate(members.values()) for key, value in one.kept.items()}
    converters = [
        Converter(names, names, one.converter)
        for at, one in enumerate(members.values())
        if one.converter is not None
        for names in [[f"{at}/{key}" for key in one.shapes]]
    ]

    def outputs(side: str, parts: Mapping[str, Any], given: Any, training: bool) -> dict[str, Any]:
        found = {}
        for at, (name, one) in enumerate(members.items()):
            own = {key: parts[f"{at}/{key}"] for key in (*one.shapes, *(one.kept if side == "new" else ()))}
            found[name.replace(" ", "_")] = getattr(one, side)(own, given[f"x{at}"], training)
        return found

    def loss_of(found: Mapping[str, Any]) -> Any:
        return tf.add_n([tf.reduce_mean(tf.square(tf.cast(one, tf.float32))) for one in found.values()])

    def network(x: Any, training: bool) -> Any:
        drawn = v1.random_normal_initializer()
        tenth = v1.constant_initializer(0.1)
        starts = {name: drawn if shape else tenth for name, shape in shapes.items()}
        parts = {name: v1.get_variable(name, shapes[name], initializer=start) for name, start in starts.items()}
        found = outputs("old", parts, x, training)
        loss = loss_of(found)
        return Spec(found, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss) if training else None)

    class Module(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = {name: tf.Variable(tf.random.normal(shape), name=name) for name, shape in shapes.items()}
            self.kept = {name: tf.Variable(value, trainable=False, name=name) for name, value in kept.items()}
            self.optimizer = tf.keras.optimizers.SGD(0.1)

        def __call__(self, x: Any, training: bool = False) -> Any:
            return outputs("new", {**self.parts, **self.kept}, x, training)

    def step(model: Any, x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(model(x, training=True))
        own = list(model.parts.values())
        model.optimizer.apply_gradients(zip(tape.gradient(loss, own), own, strict=True))
        return loss

    fed = {f"x{at}": one.inputs for at, one in enumerate(members.values())}
    return Pair(tf1=network, tf2=Module, inputs=fed, train_step=step, converters=converters, ignore=list(kept))


# The same, in another order or by other operations.


def normalized(w: Any, x: Any, epsilon: float) -> Any:
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    return (x - mean) / tf.sqrt(variance + epsilon) * w["gamma"] + w["beta"]


def fused(w: Any, x: Any, epsilon: float) -> Any:
    return v1.nn.fused_batch_norm(x, w["gamma"], w["beta"], epsilon=epsilon)[0]


def by_patches(w: Any, x: Any, training: bool) -> Any:
    patches = tf.image.extract_patches(x, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    return tf.matmul(tf.reshape(patches, [-1, 18]), tf.reshape(w["kernel"], [18, 4]))


def convolved(w: Any, x: Any, training: bool) -> Any:
    return tf.reshape(tf.nn.conv2d(x, w["kernel"], 1, "VALID"), [-1, 4])


def gelu(w: Any, x: Any, training: bool) -> Any:
    x = x * w["factor"]
    return 0.5 * x * (1.0 + tf.math.erf(x / np.sqrt(2.0)))


def repeated(w: Any, x: Any, training: bool) -> Any:
    """A loop whose body is a function of the graph."""
    body = lambda at, state: (at + 1, tf.tanh(tf.matmul(state, w["kernel"])))  # noqa: E731
    return tf.while_loop(lambda at, _: at < 3, body, [0, x])[1]


def unrolled(w: Any, x: Any, training: bool) -> Any:
    for _ in range(3):
        x = tf.tanh(tf.reduce_sum(x[:, :, None] * w["kernel"], 1))
    return x


def attention(w: Any, x: Any, training: bool) -> Any:
    return tf.matmul(tf.nn.softmax(tf.matmul(x * w["factor"], x, transpose_b=True) / tf.sqrt(6.0)), x)


def dropped(w: Any, x: Any, training: bool) -> Any:
    x = x * w["factor"]
    return tf.nn.dropout(x, rate=0.3) if training else x


def local_response(w: Any, x: Any, training: bool) -> Any:
    x = x * w["factor"]
    padded = tf.pad(tf.square(x), [[0, 0], [0, 0], [0, 0], [1, 1]])
    return x / (1.0 + 0.1 * (padded[..., :-2] + padded[..., 1:-1] + padded[..., 2:])) ** 0.75


IMAGES = numbers(4, 5, 5, 2)
ROWS = numbers(16, 6)
FACTOR = {"factor": (6,)}
SQUARE = {"kernel": (6, 6)}
NORM = {"gamma": (2,), "beta": (2,)}

EQUAL = {
    "order of a sum": Member(
        lambda w, x, _: tf.matmul(x, w["kernel"]),
        lambda w, x, _: tf.reduce_sum((x[:, :, None] * w["kernel"])[:, ::-1], 1),
        SQUARE, ROWS,
    ),
    "batch normalization": Member(
        lambda w, x, _: fused(w, x, 1e-3), lambda w, x, _: normalized(w, x, 1e-3), NORM, IMAGES
    ),
    "convolution": Member(convolved, by_patches, {"kernel": (3, 3, 2, 4)}, IMAGES),
    "mean of a large batch": Member(
        lambda w, x, _: tf.reduce_mean(x * w["factor"], 0),
        lambda w, x, _: tf.reduce_sum(x[::-1] * (w["factor"] * (1 / 3000)), 0),
        FACTOR, numbers(3000, 6),
    ),
    "logarithm of a softmax": Member(
        lambda w, x, _: tf.nn.log_softmax(x * w["factor"]),
        lambda w, x, _: tf.math.log(tf.nn.softmax(x * w["factor"])),
        FACTOR, ROWS,
    ),
    "variance by squares": Member(
        lambda w, x, _: tf.math.reduce_variance(x * w["factor"], 0),
        lambda w, x, _: tf.reduce_mean(tf.square(x * w["factor"]), 0) - tf.square(tf.reduce_mean(x * w["factor"], 0)),
        FACTOR, ROWS + np.float32(9),
    ),
    "leaky relu": Member(
        lambda w, x, _: tf.nn.leaky_relu(x * w["factor"], 0.3),
        lambda w, x, _: tf.maximum(x * w["factor"], 0.3 * x * w["factor"]),
        FACTOR, ROWS,
    ),
    "gelu": Member(gelu, lambda w, x, _: tf.nn.gelu(x * w["factor"]), FACTOR, ROWS),
    "loop": Member(repeated, unrolled, SQUARE, ROWS),
    "attention": Member(
        lambda w, x, _: tf.matmul(tf.nn.softmax(tf.matmul(x * w["factor"], x, transpose_b=True) * 6**-0.5), x),
        attention, FACTOR, ROWS,
    ),
    "dropout": Member(
        lambda w, x, training: v1.nn.dropout(x * w["factor"], keep_prob=0.7) if training else x * w["factor"],
        dropped, FACTOR, ROWS,
    ),
    "local response": Member(
        lambda w, x, _: tf.nn.lrn(x * w["factor"], 1, 1.0, 0.1, 0.75), local_response, {"factor": (2,)}, IMAGES
    ),
    "rows": Member(
        lambda w, x, _: tf.gather(w["kernel"], x),
        lambda w, x, _: tf.matmul(tf.one_hot(x, 6), w["kernel"]),
        SQUARE, np.array([1, 5, 1, 0], np.int32),
    ),
    "constant in a variable": Member(
        lambda w, x, _: x * w["factor"] * 0.1, lambda w, x, _: x * w["factor"] * w["rate"], FACTOR, ROWS, {"rate": 0.1}
    ),
    "constant in a weight": Member(
        lambda w, x, _: x * (w["factor"] + 0.7), lambda w, x, _: x * w["factor"], FACTOR, ROWS,
        converter=lambda arrays: [arrays[0] + 0.7],
    ),
    "one number that is converted": Member(
        lambda w, x, _: x * w["rate"], lambda w, x, _: w["rate"] * x, {"rate": ()}, ROWS,
        converter=lambda arrays: [arrays[0].copy()],
    ),
    "one number and a constant": Member(
        lambda w, x, _: x * (w["rate"] + 0.3), lambda w, x, _: x * w["rate"], {"rate": ()}, ROWS,
        converter=lambda arrays: [arrays[0] + 0.3],
    ),
}  # fmt: skip
"""By name; float32 may round each side otherwise."""

DIFFERENT = {
    "epsilon beside a large variance": Member(
        lambda w, x, _: fused(w, x, 1e-3), lambda w, x, _: fused(w, x, 2e-5), NORM, IMAGES * np.float32(300)
    ),
    "bias": Member(
        lambda w, x, _: x * w["factor"], lambda w, x, _: x * w["factor"] + 1e-6, FACTOR, ROWS
    ),
    "approximation of gelu": Member(
        gelu, lambda w, x, _: tf.nn.gelu(x * w["factor"], approximate=True), FACTOR, ROWS * np.float32(0.1)
    ),
    "factor": Member(
        lambda w, x, _: x * w["factor"], lambda w, x, _: x * (w["factor"] * 1.0000002), FACTOR, ROWS
    ),
    "slope": Member(
        lambda w, x, _: tf.nn.leaky_relu(x * w["factor"], 0.2),
        lambda w, x, _: tf.nn.leaky_relu(x * w["factor"], 0.200001), FACTOR, ROWS,
    ),
    "epsilon of a logarithm": Member(
        lambda w, x, _: tf.math.log(tf.square(x * w["factor"]) + 1.0 + 1e-7),
        lambda w, x, _: tf.math.log(tf.square(x * w["factor"]) + 1.0), FACTOR, ROWS,
    ),
    "penalty of the loss": Member(
        lambda w, x, _: x * w["factor"],
        lambda w, x, _: x * w["factor"] * tf.stop_gradient(1.0 + 1e-7 * tf.nn.l2_loss(w["factor"])), FACTOR, ROWS,
    ),
}  # fmt: skip
"""By name; so small that float32 does not show it."""


def by_python(w: Any, x: Any, training: bool) -> Any:
    return tf.reshape(tf.py_function(lambda one: one * 2.0, [x * w["factor"]], tf.float32), [16, 6])


def resized(w: Any, x: Any, training: bool) -> Any:
    return v1.image.resize_bilinear(x * w["factor"], [7, 7])


def halved(w: Any, x: Any, training: bool) -> Any:
    return tf.cast(tf.cast(x * w["factor"], tf.float16), tf.float32)


def quantized(w: Any, x: Any, training: bool) -> Any:
    return tf.quantization.fake_quant_with_min_max_args(x * w["factor"])


def pooled(w: Any, x: Any, training: bool) -> Any:
    return tf.nn.max_pool3d(x[..., None] * w["factor"], 2, 1, "VALID")


def drawn(w: Any, x: Any, training: bool) -> Any:
    return x * w["factor"] + tf.random.gamma([], tf.abs(w["factor"]) + 1.0, seed=1) * 0.0


IMPOSSIBLE = {
    "Python": (Member(by_python, by_python, FACTOR, ROWS), "EagerPyFunc runs Python code"),
    "resize": (Member(resized, resized, {"factor": (2,)}, IMAGES), "ResizeBilinear computes in float32 always"),
    "16 bits": (Member(halved, halved, FACTOR, ROWS), "Cast computes with 16 bits"),
    "quantization": (Member(quantized, quantized, FACTOR, ROWS), "FakeQuantWithMinMaxArgs computes in float32 always"),
    "pooling": (Member(pooled, pooled, {"factor": (1,)}, IMAGES), "MaxPool3D has no float64 kernel"),
    "draws": (Member(drawn, drawn, FACTOR, ROWS), "RandomGamma draws by numbers that are computed"),
}
"""By name, with what is in the way."""
