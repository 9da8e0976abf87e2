"""What a variable's constraint does, found out by trying it on large values, whatever it is called."""

from __future__ import annotations

import numpy as np

from ..tensors import Variable

__all__ = ["effect"]

_LONGEST = 64
"""Elements of an axis that are tried; a constraint of an embedding is tried on its first rows."""


def effect(variable: Variable) -> list[float] | None:
    """The least, mean and largest value, and the norm, of what becomes of values between -100 and 100.

    The constraint runs in a graph of its own where no code is run eagerly.

    Returns:
        None if the variable has no constraint; an empty list if it cannot be tried, as when it needs other variables.
    """
    import tensorflow as tf

    try:
        constraint = variable.constraint
    except (AttributeError, NotImplementedError):
        return None
    if constraint is None:
        return None
    try:
        shape = [min(int(size), _LONGEST) for size in variable.shape]
        dtype = variable.dtype if isinstance(variable.dtype, str) else variable.dtype.base_dtype.name
        tried = (100 * np.cos(np.arange(int(np.prod(shape)), dtype=np.float64))).reshape(shape).astype(dtype)
        if tf.executing_eagerly():
            found = np.asarray(constraint(tf.constant(tried)))
        else:
            with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
                found = session.run(tf.convert_to_tensor(constraint(tf.constant(tried))))
        found = np.asarray(found, np.float64)
        measures = [found.min(), found.mean(), found.max(), np.linalg.norm(found)]
    except Exception:  # code of the user's
        return []
    return [float(one) for one in measures] if np.all(np.isfinite(measures)) else []
