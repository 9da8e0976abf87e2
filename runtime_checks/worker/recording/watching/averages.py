"""Moving averages of weights, as ``tf.train.ExponentialMovingAverage`` keeps them in a graph and in a loop."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, NamedTuple, Sequence

from ...patching import wrapped
from ..format.rows import AverageRow
from ..tensors import Function, Tensor, Variable

__all__ = ["SLOT", "Average", "described", "watching"]

SLOT = "ema.average"
"""What an average of a weight is called among what an optimizer keeps for it."""


Averages = Any
"""A ``tf.train.ExponentialMovingAverage``."""


class Average(NamedTuple):
    """What is averaged, a variable or a tensor, and the variable that holds the average."""

    source: Tensor
    variable: Variable
    decay: float | None
    """None where it is computed."""
    created: Sequence[Variable]
    """The global variables of a graph that came into being in the call, those of other averages among them."""


@contextlib.contextmanager
def watching(heard: Callable[[Average], None]) -> Iterator[None]:
    """Tell of everything that is averaged in the body, each time that a graph or a loop asks for it."""
    import tensorflow as tf

    def telling(original: Function) -> Function:
        def apply(self: Averages, var_list: Sequence[Tensor] | None = None) -> object:
            given = None if var_list is None else list(var_list)
            before = {id(variable) for variable in tf.compat.v1.global_variables()}
            result = original(self, given)
            created = [variable for variable in tf.compat.v1.global_variables() if id(variable) not in before]
            decay = getattr(self, "_decay", None)
            known = float(decay) if isinstance(decay, (int, float)) else None
            if getattr(self, "_num_updates", None) is not None:
                known = None
            for source in tf.compat.v1.trainable_variables() if given is None else given:
                heard(Average(source, self.average(source), known, created))
            return result

        return apply

    with wrapped(tf.compat.v1.train.ExponentialMovingAverage, "apply", telling):
        yield


def described(average: str, name: str, decay: float | None, *, weight: bool = True, updated: bool = True) -> AverageRow:
    """A row of the recording.

    Args:
        average: the name of the variable that holds it.
        name: of what is averaged.
        decay: None where it is computed.
        weight: whether that is a variable.
        updated: whether training steps do it.
    """
    return {"name": name, "average": average, "decay": decay, "weight": weight, "updated": updated}
