"""Operations that have no float64 kernel on the CPU, as the arithmetic that they do."""

from __future__ import annotations

from typing import Callable, Mapping, Sequence

from ..tensors import Json, Tensor

__all__ = ["BY_OPERATION"]

Attributes = Mapping[str, Json]
"""Of the operation, by name."""


def _channels(attributes: Attributes, x: Tensor) -> tuple[list[int], list[int]]:
    """The axes that are averaged over, and the shape in which a vector of channels meets `x`."""
    rank = x.shape.ndims
    axis = 1 if attributes["data_format"].startswith(b"NC") else rank - 1
    return [at for at in range(rank) if at != axis], [-1 if at == axis else 1 for at in range(rank)]


def _batch_norm(attributes: Attributes, inputs: Sequence[Tensor]) -> list[Tensor]:
    """``FusedBatchNorm``: what is kept for the gradient are the mean and the variance that were used."""
    import tensorflow as tf

    x, scale, offset, mean, variance = inputs
    axes, shape = _channels(attributes, x)
    shown, seen = mean, variance
    if attributes["is_training"]:
        count = tf.cast(tf.size(x) // tf.size(scale), x.dtype)
        shown = tf.reduce_mean(x, axes)
        seen = tf.reduce_mean(tf.math.squared_difference(x, tf.reshape(shown, shape)), axes)
        unbiased = seen * count / tf.maximum(count - 1.0, 1.0)
        share = float(attributes.get("exponential_avg_factor", 1.0))
        updated = [shown, unbiased]
        if share != 1.0:
            updated = [share * new + (1.0 - share) * old for new, old in zip(updated, (mean, variance))]
    else:
        updated = [mean, variance]
    factor = tf.math.rsqrt(seen + attributes["epsilon"]) * scale
    y = (x - tf.reshape(shown, shape)) * tf.reshape(factor, shape) + tf.reshape(offset, shape)
    return [y, *updated, shown, seen, tf.zeros([0], x.dtype)]


def _batch_norm_gradient(attributes: Attributes, inputs: Sequence[Tensor]) -> list[Tensor]:
    import tensorflow as tf

    dy, x, scale, mean, variance = inputs[:5]
    axes, shape = _channels(attributes, x)
    factor = tf.math.rsqrt(variance + attributes["epsilon"])
    normal = (x - tf.reshape(mean, shape)) * tf.reshape(factor, shape)
    by_offset, by_scale = tf.reduce_sum(dy, axes), tf.reduce_sum(dy * normal, axes)
    inner = dy
    if attributes["is_training"]:
        count = tf.cast(tf.size(x) // tf.size(scale), x.dtype)
        inner = dy - tf.reshape(by_offset, shape) / count - normal * tf.reshape(by_scale, shape) / count
    dx = inner * tf.reshape(scale * factor, shape)
    return [dx, by_scale, by_offset, tf.zeros([0], x.dtype), tf.zeros([0], x.dtype)]


def _norm(attributes: Attributes, x: Tensor) -> Tensor:
    """What local response normalization divides by, before it is raised to a power."""
    import tensorflow as tf

    radius = int(attributes["depth_radius"])
    return attributes["bias"] + attributes["alpha"] * _around(tf.square(x), radius)


def _around(x: Tensor, radius: int) -> Tensor:
    """The sum over the channels that are at most so far away."""
    import tensorflow as tf

    padded = tf.pad(x, [[0, 0]] * (x.shape.ndims - 1) + [[radius, radius]])
    depth = tf.shape(x)[-1]
    return tf.add_n([padded[..., at : at + depth] for at in range(2 * radius + 1)])


def _local_response(attributes: Attributes, inputs: Sequence[Tensor]) -> list[Tensor]:
    import tensorflow as tf

    return [inputs[0] * tf.pow(_norm(attributes, inputs[0]), -attributes["beta"])]


def _local_response_gradient(attributes: Attributes, inputs: Sequence[Tensor]) -> list[Tensor]:
    import tensorflow as tf

    dy, x = inputs[:2]
    norm, beta = _norm(attributes, x), attributes["beta"]
    inner = _around(dy * x * tf.pow(norm, -beta - 1.0), int(attributes["depth_radius"]))
    return [dy * tf.pow(norm, -beta) - 2.0 * attributes["alpha"] * beta * x * inner]


BY_OPERATION: Mapping[str, Callable[[Attributes, Sequence[Tensor]], list[Tensor]]] = {
    "FusedBatchNorm": _batch_norm,
    "FusedBatchNormV2": _batch_norm,
    "FusedBatchNormV3": _batch_norm,
    "FusedBatchNormGrad": _batch_norm_gradient,
    "FusedBatchNormGradV2": _batch_norm_gradient,
    "FusedBatchNormGradV3": _batch_norm_gradient,
    "LRN": _local_response,
    "LRNGrad": _local_response_gradient,
}
"""Gives all outputs of an operation, and perhaps more, for its attributes and inputs in float64."""
