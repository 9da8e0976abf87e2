"""Sample tensors of a given type: the same ones at every run.

Unknown sizes are 2 on the first axis and 8 on any other. Floats are uniform in [0, 1), integers 0 or 1, so that they
are indices of every table that has two rows, strings ``b"a"``.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

__all__ = ["Sampler"]

_BATCH = 2
_SIZE = 8


class Sampler:
    """Makes tensors one after the other from one stream of random numbers, seeded with 0."""

    def __init__(self) -> None:
        self._random = np.random.RandomState(0)

    def fill(self, specs: Any) -> Any:
        """Replaces every ``tf.TypeSpec`` of a nested structure and keeps other values.

        Dense, ragged (rows of 1, 2, 3, 1 ... elements) and sparse (every second element) tensors can be made;
        raises ValueError for any other type.
        """
        import tensorflow as tf

        return tf.nest.map_structure(self._value, specs)

    def _value(self, spec: Any) -> Any:
        import tensorflow as tf

        if isinstance(spec, tf.RaggedTensorSpec):
            return self._ragged(spec)
        if isinstance(spec, tf.SparseTensorSpec):
            return self._sparse(spec)
        if isinstance(spec, tf.TensorSpec):
            return self._dense(_sizes(spec.shape), spec.dtype)
        if isinstance(spec, tf.TypeSpec):
            raise ValueError(f"no sample can be made for {spec!r}")
        return spec

    def _dense(self, shape: Sequence[int], dtype: Any) -> Any:
        import tensorflow as tf

        if dtype == tf.string:
            return tf.fill(shape, b"a")
        if dtype == tf.bool or dtype.is_integer:
            return tf.cast(tf.constant(self._random.randint(0, 2, size=shape), tf.int32), dtype)
        if dtype.is_floating or dtype.is_complex:
            return tf.cast(tf.constant(self._random.uniform(size=shape), tf.float64), dtype)
        raise ValueError(f"no sample can be made of type {dtype.name}")

    def _sparse(self, spec: Any) -> Any:
        import tensorflow as tf

        shape = _sizes(spec.shape)
        indices = np.argwhere(np.indices(shape).sum(axis=0) % 2 == 0)
        values = tf.gather_nd(self._dense(shape, spec.dtype), indices)
        return tf.SparseTensor(indices, values, shape)

    def _ragged(self, spec: Any) -> Any:
        import tensorflow as tf

        rank = spec.ragged_rank
        sizes = [None] * (rank + 1) if spec.shape.rank is None else spec.shape.as_list()
        count = _BATCH if sizes[0] is None else sizes[0]
        nested: list[Any] = []
        for size in sizes[1 : rank + 1]:
            lengths = [1 + row % 3 if size is None else size for row in range(count)]
            nested.append(tf.constant(lengths, spec.row_splits_dtype))
            count = sum(lengths)
        inner = [_SIZE if size is None else size for size in sizes[rank + 1 :]]
        flat = self._dense([count, *inner], spec.dtype)
        return tf.RaggedTensor.from_nested_row_lengths(flat, nested) if nested else flat


def _sizes(shape: Any) -> list[int]:
    known = [None, None] if shape.rank is None else shape.as_list()
    return [(_SIZE if axis else _BATCH) if size is None else size for axis, size in enumerate(known)]
