"""What a program does to gradients between their computation and the update, found by giving it gradients.

A clipping that never acts on the gradients of a few steps shows in none of their values. So the program is given
gradients that are far too large, and what it hands to the optimizer tells whether, how and at what it clips.
"""

from __future__ import annotations

import contextlib
from typing import Callable, Dict, Iterable, Iterator, Mapping, Sequence, Union

import numpy as np

from ...patching import wrapped
from ..tensors import Array, Function, Tensor

__all__ = ["NAMES", "SCALES", "UNKNOWN", "Limits", "heard_gradients", "limits", "patterns"]

SCALES = (0.0, 1e-3, 1e9)
"""Global norms of the gradients that are given: nothing, what nobody clips, what everybody clips."""
NAMES = ("clipvalue", "clipnorm", "global_clipnorm", "clipping")
UNKNOWN = "in a way of its own"
_NEAR = 1e-3
Limits = Dict[str, Union[str, float, None]]
"""As it stands in the row of an optimizer."""


def patterns(shapes: Mapping[str, Sequence[int]]) -> dict[str, Array]:
    """Gradients of both signs, of elements that differ, of norms that differ, and of global norm 1; float32."""
    found: dict[str, Array] = {}
    for at, (name, shape) in enumerate(sorted(shapes.items())):
        count = int(np.prod(shape, dtype=np.int64))
        ten = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -1.0, 2.0, -3.0, 4.0, -5.0])
        value = ten * (1.0 + 0.37 * (at % 7)) / max(count, 1) ** 0.5
        found[name] = np.resize(value.astype(np.float32), count).reshape(shape)
    size = _norm(found.values())
    for value in found.values():
        np.divide(value, size or 1.0, out=value)
    return found


def limits(given: Mapping[str, Array], got: Sequence[Mapping[str, Array]]) -> Limits:
    """How gradients are clipped, under the names that Keras uses; empty where they are not.

    Args:
        given: the pattern of each weight.
        got: by scale of `SCALES`, what the optimizer was given for each weight.

    Returns:
        One of ``clipvalue``, ``clipnorm`` and ``global_clipnorm`` with its bound, or ``clipping`` with `UNKNOWN`.
    """
    names = [name for name in given if all(name in one for one in got) and np.any(given[name])]
    large = {name: np.asarray(got[2][name]) for name in names}
    if not names or not all(np.all(np.isfinite(value)) for value in large.values()):
        return {"clipping": UNKNOWN} if names else {}
    if all(_is_linear(given[name], *(np.asarray(one[name], np.float64) for one in got)) for name in names):
        return {}
    bounds = np.concatenate([_ends(value[given[name] > 0], value[given[name] < 0]) for name, value in large.items()])
    if _alike(bounds):
        return {"clipvalue": _figure(bounds[0])}
    norms = np.array([_norm([value]) for value in large.values()])
    if not all(_is_parallel(given[name], value) for name, value in large.items()):
        return {"clipping": UNKNOWN}
    if len(names) > 1 and _alike(norms):
        return {"clipnorm": _figure(norms[0])}
    if _alike(norms / np.array([_norm([given[name]]) for name in names])):
        return {"global_clipnorm": _figure(_norm(large.values()))}
    return {"clipping": UNKNOWN}


def _ends(above: Array, below: Array) -> Array:
    """The least and the largest magnitudes of what was positive, and of what was negative."""
    found = [bound for one in (above, -below) if one.size for bound in (one.min(), one.max())]
    return np.array(found, np.float64)


@contextlib.contextmanager
def heard_gradients(heard: Callable[[Tensor, Tensor], None]) -> Iterator[None]:
    """Tell of each gradient that a graph computes in the body: of what, and the tensor."""
    from tensorflow.python.ops import gradients_util

    def telling(original: Function) -> Function:
        def gradients(ys: Tensor, xs: Tensor, *args: object, **kwargs: object) -> Sequence[Tensor]:
            found: Sequence[Tensor] = original(ys, xs, *args, **kwargs)
            for x, gradient in zip(xs if isinstance(xs, (list, tuple)) else [xs], found):
                if gradient is not None:
                    heard(x, gradient)
            return found

        return gradients

    with wrapped(gradients_util, "_GradientsHelper", telling):
        yield


def _is_linear(given: Array, least: Array, small: Array, large: Array) -> bool:
    """Whether a gradient comes through as it is, or as a multiple, whatever is added to it."""
    given = given.astype(np.float64)
    whole = SCALES[2] * given
    if _norm([large - whole]) <= _NEAR * _norm([whole]):
        return True
    share = float(np.sum((small - least) * given)) / (SCALES[1] * float(np.sum(given * given)))
    return share != 0.0 and _norm([large - share * whole]) <= 0.01 * abs(share) * _norm([whole])


def _is_parallel(one: Array, other: Array) -> bool:
    sizes = _norm([one]) * _norm([other])
    return sizes > 0 and float(np.sum(np.multiply(one, other, dtype=np.float64))) >= (1.0 - _NEAR) * sizes


def _alike(values: Array) -> bool:
    """Whether positive numbers are one number, but for rounding."""
    return bool(values.size and values.min() > 0 and values.max() <= (1.0 + _NEAR) * values.min())


def _norm(values: Iterable[Array]) -> float:
    return float(sum(float(np.sum(np.square(value, dtype=np.float64))) for value in values) ** 0.5)


def _figure(number: float) -> float:
    """Without the digits that rounding makes."""
    return float(f"{float(number):.4g}")
