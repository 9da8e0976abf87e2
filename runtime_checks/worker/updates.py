"""What an optimizer of TF1 and the one of Keras in its place make of the same gradients, in rules of a few lines."""

from __future__ import annotations

from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from .at_line import settle
from .errors import one_line, text_of
from .recorder import Event
from .run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

__all__ = ["Rules", "judge_updates", "number", "updates_of"]

_STEPS = 5
_ROUNDING = 1e-5
_MANY = 1_000_000
_OF_WHAT = "the gradients of the outputs' mean square on the sample inputs"


class Rules(NamedTuple):
    """Two updates of a weight: each takes a gradient again and again, and yields how far that step goes."""

    before: Callable[[Any], Iterator[Any]]
    now: Callable[[Any], Iterator[Any]]
    successor: str


def number(optimizer: Any, *names: str) -> float:
    """A setting of an optimizer, by the names that its attribute may have; one that is a function is called."""
    for name in names:
        if hasattr(optimizer, name):
            value = getattr(optimizer, name)
            return float(value() if callable(value) else value)
    raise AttributeError(names[0])


def judge_updates(finding: StaticFinding, run: Run) -> Judgement:
    """What `updates_of` said when the run was over."""
    made = _made(finding, run)
    if not made:
        settled = settle(finding, run, "")
        said = "the line ran, but no optimizer of TF1 was seen to be made there"
        return settled._replace(detail=said) if settled.verdict == REFUTED else settled
    seen = run.snapshots[finding.id]
    if not seen:
        return Judgement(FAILED, made[0].phase, "the run has not come to its end")
    return Judgement(*seen[-1].value)


def updates_of(finding: StaticFinding, run: Run, rules: Callable[[Any], Rules]) -> Judgement | None:
    """The verdict on the optimizer of a line: some steps by both rules, with gradients of the recorded sample."""
    made = _made(finding, run)
    if not made:
        return None
    phase = made[0].phase
    optimizer = next((event.subject() for event in made if event.subject() is not None), None)
    if optimizer is None:
        return Judgement(FAILED, phase, "the optimizer was gone at the end of the run")
    try:
        gradients = _gradients(run)
    except Exception as error:
        return Judgement(FAILED, phase, one_line(f"the model has no gradients here: {text_of(error)}"))
    if not gradients:
        return Judgement(FAILED, phase, "the model's outputs have no gradients for the variables that it reads")
    both = rules(optimizer)
    apart = [(_apart(*_moved(both, gradient)), name, gradient) for name, gradient in gradients]
    largest = max(apart, key=lambda one: one[0])
    before, now = _moved(both, largest[2])
    at = int(np.argmax(np.abs(before - now)))
    if largest[0] <= _ROUNDING:
        said = f"{_STEPS} steps with {_OF_WHAT} are the same with `{both.successor}`, for each weight of the model"
        return Judgement(REFUTED, phase, said)
    of = f"{_STEPS} steps with a gradient of {largest[2][at]:.3g} for `{largest[1]}`, from {_OF_WHAT}"
    said = f"{of}, move it by {before[at]:.3g} in TF1 and by {now[at]:.3g} with `{both.successor}`"
    return Judgement(CONFIRMED, phase, said)


def _made(finding: StaticFinding, run: Run) -> list[Event]:
    import tensorflow as tf

    old = tf.compat.v1.train.Optimizer
    return [e for e in run.events_at(finding, "stateful") if issubclass(e.detail["type"], old)]


def _gradients(run: Run) -> list[tuple[str, Any]]:
    """Of the mean square of the model's outputs on the sample, for the variables that the model reads."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        output = run.model(*run.sample.args, **run.sample.kwargs)
        parts = [part for part in tf.nest.flatten(output) if tf.is_tensor(part) and part.dtype.is_floating]
        loss = tf.add_n([tf.reduce_mean(tf.square(tf.cast(part, tf.float32))) for part in parts])
    variables = tape.watched_variables()
    found = []
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        if gradient is not None:
            flat: Any = np.ravel(tf.convert_to_tensor(gradient).numpy())[:_MANY].astype(np.float64)
            if np.isfinite(flat).all() and flat.any():
                found.append((str(getattr(variable, "path", variable.name)), flat))
    return found


def _moved(both: Rules, gradient: Any) -> tuple[Any, Any]:
    def total(rule: Callable[[Any], Iterator[Any]]) -> Any:
        steps = rule(gradient)
        return -sum(next(steps) for _ in range(_STEPS))

    return total(both.before), total(both.now)


def _apart(before: Any, now: Any) -> float:
    """The largest difference, as a part of the larger of the two."""
    size = np.maximum(np.abs(before), np.abs(now))
    return float(np.max(np.abs(before - now) / np.where(size > 0, size, 1.0)))
