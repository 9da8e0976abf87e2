"""The inputs and labels that a pair is run with, as numpy arrays."""

from __future__ import annotations

import contextlib
import inspect
import random
from typing import Callable, Iterator, Mapping, NamedTuple

import numpy as np

from ..pairs.pair import Pair
from ..tensors import Array, Function, Nest
from . import structures

__all__ = ["TOLD", "Batch", "Batches", "PairError", "arguments", "seeded", "signature"]

TOLD = ("labels", "mode", "params", "config", "training", "is_training")
"""Parameters that get no input, and say something of the call."""

_KEPT = 256 << 20
_ROUNDINGS = 64
_SINGLE = 2.0**-23
"""What is float64 was often computed in float32."""


class PairError(ValueError):
    """A pair cannot be used as it is; the text says what to change."""


class Batch(NamedTuple):
    """One batch: numpy arrays, or tuples, lists and dicts of them; labels are None where there are none."""

    inputs: Nest
    labels: Nest


class Batches:
    """The batches of a pair, one a step; a step's batch is the same whenever it is asked for.

    A function without parameters is called once, for the batch of all steps; a function of the step is called once a
    step. While it runs, ``random`` and ``np.random`` are seeded with the step, so that both sides get the same batch
    from a function that draws; their states are put back.

    Args:
        pair: has the inputs and labels.
        others: gives what the other side got, by kind (``input`` or ``label``), name and step; None where it got
            nothing of that name. It takes the place of an array that differs from it by rounding alone, since two
            numpys do not compute the same bits.
        note: told of that.
    """

    def __init__(
        self,
        pair: Pair,
        others: Callable[[str, str, int], Array] | None = None,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._inputs = _source(pair.inputs, "inputs")
        self._labels = _source(pair.labels, "labels")
        self._others = others
        self._note = note
        self._told = False
        self._kept: dict[int, Batch] = {}
        self._size = 0

    def at(self, step: int) -> Batch:
        """The batch of a step, from 0.

        Raises:
            PairError: if the pair gives no inputs, or something that is no array.
        """
        key = step if self._inputs.varies or self._labels.varies else 0
        if key in self._kept:
            return self._kept[key]
        inputs = self._inputs.at(step)
        if inputs is None:
            raise PairError("the pair has no inputs: give one batch of numpy arrays, or a function that makes it")
        batch = Batch(
            self._shared(_arrays(inputs, "inputs"), "input", step),
            self._shared(_arrays(self._labels.at(step), "labels"), "label", step),
        )
        size = sum(leaf.nbytes for _, leaf in structures.flat(batch))
        if not size:
            raise PairError("the inputs are empty: there is nothing to compute")
        if self._size + size <= _KEPT or key == 0:
            self._kept[key] = batch
            self._size += size
        return batch

    def _shared(self, value: Nest, kind: str, step: int) -> Nest:
        """The arrays, or the other side's where they differ by rounding."""
        if self._others is None or value is None:
            return value
        names = iter([name for name, _ in structures.flat(value, kind)])
        return structures.mapped(value, lambda own: self._alike(own, kind, next(names), step))

    def _alike(self, own: Array, kind: str, name: str, step: int) -> Array:
        other = None if self._others is None else self._others(kind, name, step)
        if other is None or not _is_rounded(own, other):
            return own
        if not self._told:
            self._told = True
            what = kind if kind == name else f"{kind} {name}"
            error = float(np.nanmax(np.abs(own - other)))
            self._note(
                f"{what} of step {step} differs from that of the other side by up to {error:.3g}, as two numpys round: "
                "this side was run with the batches of the other one"
            )
        return other

    def vary(self, steps: int) -> bool:
        """Whether the batches of so many steps differ in shape, dtype or structure, up to one that cannot be had."""
        if not (self._inputs.varies or self._labels.varies):
            return False
        first = _form(self.at(0))
        for step in range(1, steps):
            try:
                other = _form(self.at(step))
            except PairError:
                raise
            except Exception:
                return False
            if other != first:
                return True
        return False


def arguments(inputs: Nest, callee: Function | None = None) -> tuple[tuple[Nest, ...], dict[str, Nest]]:
    """What a callee is called with: a tuple or list is positional, everything else is one argument.

    The values of a dict are keyword arguments where the callee has parameters of all its names, and a tuple or list is
    one argument where it has too few, as Keras gives the inputs of a model.
    """
    if isinstance(inputs, (tuple, list)):
        fits = callee is None or len(inputs) < 2 or len(inputs) <= _positional(callee)
        return (tuple(inputs) if fits else (inputs,)), {}
    if isinstance(inputs, Mapping) and callee is not None and inputs and set(inputs) <= _parameters(callee):
        return (), dict(inputs)
    return (inputs,), {}


def _is_rounded(one: Array, other: Array) -> bool:
    """Whether two arrays are not the same, and differ by no more than some units in the last place of the largest."""
    if one.dtype != other.dtype or one.shape != other.shape or one.dtype.kind not in "fc" or not one.size:
        return False
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)) or str(one[~finite]) != str(other[~finite]):
        return False
    largest = float(np.max(np.abs(one[finite]), initial=0.0))
    error = float(np.max(np.abs(one[finite] - other[finite]), initial=0.0))
    return bool(0.0 < error <= _ROUNDINGS * max(np.finfo(one.dtype).eps, _SINGLE) * largest)


class _Source(NamedTuple):
    """Where batches come from; `varies` is whether they depend on the step."""

    at: Callable[[int], Nest]
    varies: bool


def _source(given: Nest, what: str) -> _Source:
    if not callable(given) or hasattr(given, "dtype"):
        return _Source(lambda step: given, False)
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        raise PairError(f"{what} are a {type(given).__name__} whose parameters cannot be read") from None
    required = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind in (0, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(required) > 1:
        raise PairError(f"{what} are a function with {len(required)} parameters; it may have one, the step")
    if required or any(parameter.name == "step" for parameter in parameters):
        return _Source(lambda step: _called(given, step, step), True)
    return _Source(lambda step: _called(given, 0), False)


def _called(function: Function, seed: int, *values: object) -> Nest:
    with seeded(seed):
        return function(*values)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed ``random`` and ``np.random`` in the body, and put their states back."""
    states = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def _arrays(value: Nest, what: str) -> Nest:
    """A copy in which every leaf is an array; a list of plain numbers is one array."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {key: _arrays(part, f"{what}[{key!r}]") for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_arrays(part, f"{what}.{name}") for name, part in zip(value._fields, value)))
    if isinstance(value, tuple) or (isinstance(value, list) and not _is_plain(value)):
        return type(value)(_arrays(part, f"{what}[{at}]") for at, part in enumerate(value))
    return _array(value, what)


def _array(value: object, what: str) -> Array:
    plain = isinstance(value, (list, bool, int, float, complex))
    if not plain and not hasattr(value, "__array__") and not isinstance(value, (str, bytes, np.generic)):
        raise PairError(f"{what} are a {type(value).__name__}: give numpy arrays, or tuples, lists or dicts of them")
    try:
        array = np.array(value)
    except Exception as error:
        raise PairError(f"{what} cannot be made an array: {error}") from error
    if array.dtype.kind == "O" and not all(isinstance(item, (str, bytes)) for item in array.reshape(-1)):
        raise PairError(f"{what} are no array of numbers: its rows differ in length, or it holds other objects")
    if plain and array.dtype == np.float64:
        return array.astype(np.float32)
    if plain and array.dtype == np.int64 and (not array.size or np.abs(array).max() < 2**31):
        return array.astype(np.int32)
    return array


def _is_plain(value: object) -> bool:
    """Whether it is a number or text, or a list of nothing else."""
    if isinstance(value, list):
        return bool(value) and all(_is_plain(part) for part in value)
    return isinstance(value, (bool, int, float, complex, str, bytes))


def _form(value: Nest) -> object:
    if isinstance(value, Mapping):
        return {key: _form(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_form(part) for part in value]
    return None if value is None else (value.shape, value.dtype.name)


def signature(callee: Function) -> Mapping[str, inspect.Parameter]:
    """The parameters of a callee, of a layer those of ``call``; empty where they cannot be read."""
    if not inspect.isroutine(callee) and not inspect.isclass(callee):
        inner = getattr(callee, "python_function", None)
        callee = getattr(callee, "call", callee) if inner is None else inner
    try:
        return inspect.signature(callee).parameters
    except (TypeError, ValueError):
        return {}


def _parameters(callee: Function) -> set[str]:
    """The names that can be given as keyword arguments."""
    parameters = signature(callee).values()
    return {parameter.name for parameter in parameters if parameter.kind in (1, parameter.KEYWORD_ONLY)}


def _positional(callee: Function) -> float:
    """How many inputs fit in front of the parameters that say something else; any number where that is not known."""
    count, parameters = 0, signature(callee)
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            return float("inf")
        if name in TOLD or parameter.kind is parameter.KEYWORD_ONLY:
            break
        count += 1
    return count if parameters else float("inf")
