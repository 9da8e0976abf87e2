"""What initializers of other generators draw: values to compare as distributions, from repeated initialization."""

from __future__ import annotations

import contextlib
import random
import warnings
from typing import Callable, Iterator, Mapping, Sequence

import numpy as np

from ...patching import replaced
from ..format.store import Chapter
from ..pairs import structures
from ..tensors import Array, Function, Tensor, Variable
from ..values.fills import floating
from ..watching.variable_creation import initial_values

__all__ = ["LIMIT", "TURNS", "Initializers", "goes_on", "joined", "subset", "tf2_samples", "watching"]

LIMIT = 4096
_LARGE = 1_000_000

Initializer = Callable[[], Tensor]
"""Draws the initial value of a variable."""
TURNS = 64


def tf2_samples(initializers: Initializers, weights: Mapping[str, Variable], chapter: Chapter, seed: int = 0) -> None:
    """Record what the initializers of the variables draw, as records of the kind ``sample``."""
    for name, values in initializers.draw(weights, seed).items():
        chapter.add("sample", name, values)


class Initializers:
    """The initializers of the variables that were made while `watching`."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Variable, Initializer]] = {}

    def add(self, variable: Variable, draw: Initializer) -> None:
        """Keep what draws the initial value of a variable."""
        self._found[id(variable)] = (variable, draw)

    def draw(self, weights: Mapping[str, Variable], seed: int = 0, limit: int = LIMIT) -> dict[str, Array]:
        """As `of_graph`, for the variables of a TF2 model by name, which must have their initial values.

        The states of ``random`` and of numpy are put back, those of TensorFlow are not.
        """
        states = random.getstate(), np.random.get_state()
        drawn: dict[str, list[Array]] = {}
        try:
            for name, variable in weights.items():
                draw = self._of(variable)
                if draw is not None and floating(variable.dtype) is not None:
                    drawn[name] = _values(variable, draw, seed, limit)
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])
        return joined(drawn, limit)

    def _of(self, variable: Variable) -> Initializer | None:
        for one in (variable, getattr(variable, "_value", None)):
            found = self._found.get(id(one))
            if found is not None:
                return found[1]
        return None


def _values(variable: Variable, draw: Initializer, seed: int, limit: int) -> list[Array]:
    size = int(np.prod([int(length) for length in variable.shape]))
    if size > _LARGE and not _names_seed(draw):
        return []
    value = variable.numpy() if hasattr(variable, "numpy") else variable
    values = [subset(np.asarray(value), limit)]
    if size >= limit and _names_seed(draw):
        return values
    for turn in range(TURNS):
        try:
            values.append(subset(np.asarray(_with_other_seed(draw, seed + 1 + turn)), limit))
        except Exception:  # an initializer that can be called only where the variable is made
            return []
        if not goes_on(values, limit):
            break
    return values if len(values) > 1 and not np.array_equal(values[0], values[1]) else []


@contextlib.contextmanager
def watching() -> Iterator[Initializers]:
    """Hear of the initializers of all variables that are made in the body, by ``tf.Variable`` or by Keras 3."""
    found = Initializers()

    def heard(variable: Variable, initial: Tensor) -> None:
        if callable(initial):
            found.add(variable, initial)

    with contextlib.ExitStack() as stack:
        stack.enter_context(initial_values(heard))
        stack.enter_context(_variables_of_keras_3(found))
        yield found


@contextlib.contextmanager
def _variables_of_keras_3(found: Initializers) -> Iterator[None]:
    """Keras 3 computes the value before it makes the ``tf.Variable``, so its own class is asked."""
    try:
        from keras.src.backend.common.variables import Variable
    except ImportError:
        yield
        return
    original = Variable.__init__

    def __init__(self: Variable, initializer: Function, *arguments: object, **named: object) -> None:  # noqa: N807
        original(self, initializer, *arguments, **named)
        if callable(initializer):
            shape, dtype = tuple(self.shape), self.dtype
            found.add(self, lambda: initializer(shape, dtype=dtype))

    with replaced(Variable, "__init__", __init__):
        yield


def _with_other_seed(draw: Initializer, seed: int) -> Tensor:
    """A draw under other seeds; the seeds that stateless initializers of Keras keep are exchanged meanwhile."""
    import tensorflow as tf

    random.seed(seed)
    np.random.seed(seed)
    kept = _kept_seeds(draw)
    if not kept:  # it costs the kernels of all operations, which TensorFlow then makes anew
        tf.random.set_seed(seed)
    with contextlib.ExitStack() as stack:
        for owner, name in kept:
            stack.enter_context(replaced(owner, name, seed))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # Keras 2 warns of an initializer that is called twice
        return draw()


def _names_seed(draw: Initializer) -> bool:
    """Whether an initializer has a seed, as all random ones of TensorFlow and Keras have."""
    return any(hasattr(part, "seed") or hasattr(part, "_random_generator") for part in _reached(draw))


def _kept_seeds(draw: Initializer) -> list[tuple[object, str]]:
    """The attributes with the seeds of stateless initializers."""
    found: list[tuple[object, str]] = []
    for part in _reached(draw):
        generator = getattr(part, "_random_generator", None)
        if generator is not None and isinstance(getattr(generator, "_seed", None), int):
            found.append((generator, "_seed"))
        if type(part).__module__.startswith("keras.src.") and isinstance(getattr(part, "seed", None), int):
            found.append((part, "seed"))
    return found


def _reached(draw: Initializer) -> list[object]:
    """What an initializer consists of, however deep it lies in partials and closures."""
    found: list[object] = []
    waiting: list[object] = [draw]
    seen: set[int] = set()
    while waiting and len(found) < 100:
        value = waiting.pop()
        if id(value) not in seen and not isinstance(value, (str, bytes, int, float, tuple, list, type)):
            seen.add(id(value))
            found.append(value)
            waiting += _inside(value)
    return found


def _inside(value: object) -> list[object]:
    function = getattr(value, "func", None)
    parts = (
        [] if function is None else [function, *getattr(value, "args", ()), *getattr(value, "keywords", {}).values()]
    )
    owner = getattr(value, "__self__", None)
    return [part for part in [*parts, *structures.closed_over(value), owner] if part is not None]


def goes_on(values: Sequence[Array], limit: int) -> bool:
    """Whether another turn is worth its while: not enough values yet, and the last two turns differ."""
    return not np.array_equal(values[-1], values[-2]) and sum(value.size for value in values) < limit


def joined(drawn: Mapping[str, Sequence[Array]], limit: int) -> dict[str, Array]:
    """The first of the values of each variable."""
    return {name: np.concatenate(values)[:limit] for name, values in drawn.items() if len(values)}


def subset(value: Array, limit: int) -> Array:
    """At most `limit` values, of a large variable a fixed random choice."""
    flat = np.asarray(value).reshape(-1)
    if flat.size <= limit:
        return flat
    stream = np.random.RandomState(0)
    # No value twice, which would make two samples look more different than they are.
    chosen = stream.permutation(flat.size)[:limit] if flat.size < 16 * limit else stream.randint(0, flat.size, limit)
    return flat[np.unique(chosen)]
