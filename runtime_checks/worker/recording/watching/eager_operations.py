"""Hears what TensorFlow computes eagerly, operation by operation: of what, at which of the user's lines."""

from __future__ import annotations

import contextlib
import sys
from types import FrameType
from typing import Callable, Iterable, Iterator, Sequence

import numpy as np

from ...patching import wrapped
from ...tracking import resources
from ..format.rows import Place
from ..tensors import Array, Function, Nest, Tensor, Variable
from ..values.sketch import FEW, Input, Sheet, sketch
from .operations import SAME, SHAPES, settings

__all__ = ["EagerOperations"]

_SMALL = 1 << 16
"""Elements up to which a tensor that comes from nowhere is looked for among the variables."""


class EagerOperations:
    """The operations that run eagerly while it listens.

    Args:
        places: the user's line that a frame works for, and where the layer was made that does.
        variables: the variables of the model with their names.

    Attributes:
        sheet: what was heard.
        lost: how many operations could not be noted.
    """

    def __init__(
        self,
        places: Callable[[FrameType | None], tuple[Place | None, Place | None]],
        variables: Iterable[tuple[str, Variable]],
    ) -> None:
        self.sheet = Sheet()
        self.lost = 0
        self._places = places
        self._number = 0
        self._paused = 0
        self._sources: dict[int, Input] = {}
        self._data: set[int] = set()
        self._handles: dict[int, str] = {}
        self._known: dict[tuple[int, ...], list[tuple[str, Variable]]] = {}
        for name, variable in variables:
            for resource in resources(variable):
                self._handles[_identity(resource.handle)] = name
                self._known.setdefault(tuple(variable.shape), []).append((name, resource))

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Hear of the operations of this thread in the body, without those that compute gradients."""
        import tensorflow as tf

        try:
            from tensorflow.python.framework import op_callbacks
        except ImportError:  # TensorFlow 1
            yield
            return

        def without(original: Function) -> Function:
            def gradient(*arguments: object, **named: object) -> Nest:
                self._paused += 1
                try:
                    return original(*arguments, **named)
                finally:
                    self._paused -= 1

            return gradient

        with wrapped(tf.GradientTape, "gradient", without):
            op_callbacks.add_op_callback(self._heard)
            try:
                yield
            finally:
                op_callbacks.remove_op_callback(self._heard)

    def stop(self) -> None:
        """Hear of nothing more: what follows is no forward pass."""
        self._paused += 1

    def of(self, tensor: Tensor) -> int | None:
        """The number of the operation that a tensor comes from."""
        source = self._sources.get(_identity(tensor), ["unknown"])
        return source[1] if source[0] == "row" else None

    def _heard(
        self,
        op: str | bytes,
        inputs: Sequence[Tensor],
        attributes: Sequence[object],
        outputs: Sequence[Tensor],
        op_name: str | None = None,
        graph: object = None,
    ) -> None:
        if graph is not None or self._paused:
            return
        self._paused += 1
        try:
            name = op.decode() if isinstance(op, bytes) else str(op)
            self._note(name, list(inputs), list(attributes or ()), list(outputs), sys._getframe(1))
        except Exception:  # the program goes on whatever cannot be told of it
            self.lost += 1
        finally:
            self._paused -= 1

    def _note(
        self,
        op: str,
        inputs: Sequence[Tensor],
        attributes: Sequence[object],
        outputs: Sequence[Tensor],
        frame: FrameType,
    ) -> None:
        sources = [self._source(one) for one in inputs]
        data = op not in SHAPES and any(_identity(one) in self._data for one in inputs)
        if op in ("ReadVariableOp", *SAME) and len(outputs) == 1:
            self._sources[_identity(outputs[0])] = sources[0] if sources else ["unknown"]
            if data:
                self._data.add(_identity(outputs[0]))
            return
        data = data or (op not in SHAPES and "seed" in attributes)
        told = settings({str(key): value for key, value in zip(attributes[::2], attributes[1::2])})
        places: tuple[Place | None, Place | None] | None = None
        for output in outputs:
            value = _value(output)
            if value is None:
                self._sources[_identity(output)] = next(
                    (one for one in sources if one[0] in ("row", "variable")), ["unknown"]
                )
                if data:
                    self._data.add(_identity(output))
                continue
            if not data and value.dtype.kind not in "fcV":
                self._sources[_identity(output)] = _constant(value)
                continue
            places = places or self._places(frame)
            self._row(output, op, places, value, sources, told)

    def _row(
        self,
        output: Tensor,
        op: str,
        places: tuple[Place | None, Place | None],
        value: Array,
        sources: Sequence[Input],
        told: dict[str, object],
    ) -> None:
        place, made = places
        self.sheet.row(self._number, op, place, value.shape, sketch(value), sources, dict(told), made)
        self._sources[_identity(output)] = ["row", self._number]
        self._data.add(_identity(output))
        self._number += 1

    def _source(self, tensor: Tensor) -> Input:
        """Where a tensor comes from; one that nothing has computed is a variable, a constant or an input."""
        number = _identity(tensor)
        found = self._sources.get(number)
        if found is not None:
            return found
        if number in self._handles:
            self._data.add(number)
            found = ["variable", self._handles[number]]
        else:
            value = _value(tensor)
            if value is None:
                return ["unknown"]
            found = self._variable(value)
            if found is not None:
                self._data.add(number)
            elif value.size <= FEW:
                found = _constant(value)
            else:
                self._row(tensor, "input", (None, None), value, [], {})
                return self._sources[number]
        self._sources[number] = found
        return found

    def _variable(self, value: Array) -> Input | None:
        """The variable that has this value: Keras 2 reads some without telling."""
        if value.size > _SMALL or not value.ndim:
            return None
        candidates = self._known.get(tuple(value.shape), ())
        names = [name for name, variable in candidates if np.array_equal(_read(variable), value)]
        return ["variable", names[0] if len(names) == 1 else ""] if names else None


def _identity(tensor: Tensor) -> int:
    """The number that TensorFlow gives an eager tensor, and no other one."""
    number = getattr(tensor, "_id", None)
    return -1 if number is None else int(number)


def _value(tensor: Tensor) -> Array:
    """The numbers of an eager tensor; None where it holds none."""
    dtype = tensor.dtype
    if not (dtype.is_floating or dtype.is_integer or dtype.is_bool or dtype.is_complex):
        return None
    value = np.asarray(tensor.numpy())
    return value if value.size else None


def _read(variable: Variable) -> Array:
    """The value of a variable, which no tape takes for a use of it."""
    from tensorflow.python.ops import gen_resource_variable_ops

    return _value(gen_resource_variable_ops.read_variable_op(variable.handle, variable.dtype))


def _constant(value: Array) -> Input:
    if value.size > FEW or value.dtype.kind not in "biuf":
        return ["unknown"]
    return ["constant", value.reshape(-1).tolist()]
