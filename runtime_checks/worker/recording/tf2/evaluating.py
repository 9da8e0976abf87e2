"""Evaluation of a TF2 model as ``evaluate`` does it: metrics reset, and a ``test_step`` for each batch."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from ..format.attempts import NotRunError
from ..format.store import Chapter
from ..pairs import structures
from ..pairs.pair import Pair
from ..tensors import Json, Layer
from .listening import array
from .model import Model, converted, is_of_keras
from .session import Made, Session

__all__ = ["record", "require"]


def require(pair: Pair, model: Model) -> None:
    """Do nothing where a model says how it is evaluated.

    Raises:
        NotRunError: if it does not.
    """
    if model.has_own("test_step"):
        return
    if not model.is_compiled:
        raise NotRunError(
            "the TF2 side does not say how it is evaluated: compile the model, or give it a method "
            "test_step(self, data), which means its loss over the batches"
        )
    if model.has_own_step and not _has_loss(model.value) and not model.has_own("compute_loss"):
        raise NotRunError(
            "the TF2 side is compiled without a loss, and evaluates none: give the model a method test_step(self, data)"
        )
    if pair.train_step is not None and not hasattr(model.value, "test_step"):
        raise NotRunError("the TF2 side has no test_step")


def record(session: Session, made: Made, chapter: Chapter, step: int) -> None:
    """Record what evaluation gives over the batches of training, with the weights that the model has.

    Args:
        session: of the side.
        made: the model.
        chapter: where to.
        step: of training, after which the weights are these.

    What Keras tells of a loss is what its last batch gave; ``every`` of its record has the means of all.
    """
    model = made.model.value
    reset = getattr(model, "reset_metrics", None)
    if callable(reset):
        reset()
    found: list[structures.Results] = []
    for number in range(session.plan.steps):
        batch = session.batch_tensors(number)
        data = (batch.inputs,) if batch.labels is None else (batch.inputs, batch.labels)
        logs = model.test_step(data) if made.model.is_keras3 else converted(model.test_step, data)
        found.append(structures.step_results(logs))
    sorts, place = dict(_sorts(model)), made.model.place_of("test_step", session.code)
    if found[-1].loss is not None:
        means = [float(np.mean(array(one.loss))) for one in found if one.loss is not None]
        every: dict[str, Json] = {"every": means} if np.all(np.isfinite(means)) else {}
        chapter.add("loss", "loss", array(found[-1].loss), step, place, **every)
    for name, value in structures.flat(dict(found[-1].metrics)):
        chapter.add("metric", name, array(value), step, place, sort=sorts.get(name.rpartition("/")[2], ""))


def _has_loss(model: Layer) -> bool:
    """Whether a model of Keras was compiled with a loss; losses that layers add are none to evaluate."""
    return bool(getattr(model, "loss", None)) or getattr(model, "_compile_loss", None) is not None


def _sorts(owner: object) -> Iterator[tuple[str, str]]:
    """The class of Keras that each metric is one of, by name; of one that wraps a function, its name."""
    for metric in getattr(owner, "metrics", None) or ():
        yield from _sorts(metric)
        function = getattr(metric, "_fn", None)
        kind = next((cls.__name__ for cls in type(metric).__mro__ if is_of_keras(cls)), "")
        yield str(metric.name), str(getattr(function, "__name__", "")) if kind == "MeanMetricWrapper" else kind
