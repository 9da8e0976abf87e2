"""Evidence from what the sides said of their optimizers and layers: hyperparameters that are not the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...worker.recording.format import scenarios
from ...worker.recording.pairs.mapping import plain
from ..rates import LATER
from ..results import Deviation, Status
from ..settings import CLASS, differ, place_in, rule_name, settings, shown
from ..wording import figure, subject
from . import dropout
from .evidence import Clue, Seen, fit
from .forward import differs

__all__ = ["clues"]

_OF_LAYERS = ("epsilon", "activation", "negative_slope", "alpha")
"""Settings of layers that are always at work, so that no rung holds them against each other."""
_SQUARES = "/rmsprop.rms"


def clues(seen: Seen) -> Iterator[Clue]:
    """Evidence of settings; it weighs little where nothing that they would change differs."""
    yield from _settings(seen)
    yield from _rule(seen)
    yield from _layers(seen)
    yield from _later(seen)


def _settings(seen: Seen) -> Iterator[Clue]:
    to_tf2 = {plain(twin.old): plain(twin.new) for twin in seen.twins}
    pair = seen.tf1.content.get("pair")
    ignore = pair.get("ignore") if isinstance(pair, Mapping) else None
    for one in settings(seen.tf1, seen.tf2, to_tf2, tuple(ignore or ())):
        if one.equal is False:
            yield Clue(one.kind, _weight(seen, one.kind), one.text, one.places[1], one.places[0])
        elif one.slight:
            yield Clue(one.kind, 0.4, one.text, one.places[1], one.places[0])
        elif one.equal is None and one.what == CLASS:
            yield Clue(one.kind, 0.3, f"The {one.text} may not be the same.")


def _rule(seen: Seen) -> Iterator[Clue]:
    """What an optimizer of TF1 does otherwise than that of Keras with the same settings."""
    old, new = (side.content.get("optimizers") or [] for side in (seen.tf1, seen.tf2))
    for one, two in zip(old, new, strict=False):
        names = str(one.get("class", "")), str(two.get("class", ""))
        if rule_name(one) == rule_name(two) == "rmsprop":
            apart = names[0].endswith("Optimizer") and not names[1].endswith("Optimizer")
            if apart and not _all_agree(seen, _SQUARES) and _begins_at_zero(seen):
                text = f"{names[0]} begins its mean of squares at 1, {names[1]} of Keras at 0"
                yield Clue(
                    "update rule",
                    _weight(seen, "update rule"),
                    f"{text}: the first steps are larger.",
                    place_in(two, "made"),
                    place_in(one, "made"),
                )


def _begins_at_zero(seen: Seen) -> bool:
    """Whether the mean of squares of TF2 is after one step a multiple of the squares, as far as both are known."""
    for name in seen.names("tf2", scenarios.STEPS, "slot"):
        squares = seen.value("tf2", scenarios.STEPS, "gradient", name.removesuffix(_SQUARES))
        mean = seen.value("tf2", scenarios.STEPS, "slot", name) if name.endswith(_SQUARES) else None
        if mean is None or squares is None or mean.shape != squares.shape:
            continue
        left = fit(squares * squares, mean)[1]
        if left > 1e-2:
            return False
    return True


def _all_agree(seen: Seen, slot: str) -> bool:
    """Whether that slot was compared, and is the same throughout."""
    checks = [check for rung in seen.report.rungs for check in rung.checks if check.tf1_name.endswith(slot)]
    return bool(checks) and all(check.passed for check in checks)


def _layers(seen: Seen) -> Iterator[Clue]:
    old, new = (side.content.get("layers") or [] for side in (seen.tf1, seen.tf2))
    for one, two in _together(old, new):
        configs = _config(one), _config(two)
        for key in _OF_LAYERS:
            values = [config.get(key) for config in configs]
            settled = key == "epsilon" and all("momentum" in config for config in configs)
            if not settled and all(value is not None for value in values) and differ(values[0], values[1]):
                yield Clue(
                    "forward",
                    _weight(seen, "forward"),
                    f"{key} of {one.get('name')} is {shown(values[0])} on TF1 and {shown(values[1])} on TF2.",
                    place_in(two, "place"),
                    place_in(one, "place"),
                )


def _later(seen: Seen) -> Iterator[Clue]:
    """What differs beside the training steps: evaluation, and the rates of steps that are not run."""
    rates = seen.failed(LATER)
    if rates and not seen.failed(scenarios.STEPS, "learning_rate"):
        first = min(rates, key=lambda check: check.step)
        values = f"{figure(first.tf1_value)} on TF1 and {figure(first.tf2_value)} on TF2"
        text = f"The learning rates of the steps that were run agree; at step {first.step} it is {values}."
        yield Clue("learning rate", 0.9, text)
    evaluated = seen.failed(scenarios.EVALUATED)
    last = [check for check in evaluated if _of_last_batch(seen, check)]
    if last:
        yield Clue(
            "loss",
            0.97,
            f"The test_step of TF2 gives the loss of its batch, and Keras tells that of the last one, "
            f"{figure(last[0].tf2_value)}; its mean over all batches is that of TF1, {figure(last[0].tf1_value)}: "
            "return the result of a keras.metrics.Mean.",
        )
    elif evaluated and not differs(seen):
        names = ", ".join(dict.fromkeys(subject(check) for check in evaluated))
        text = "The outputs of inference agree, and what evaluation makes of them does not"
        alone = not seen.failed(scenarios.STEPS, "loss")  # what makes that of training differ does so here
        yield Clue("loss", 0.8 if alone else 0.3, f"{text}: {names}.")


def _of_last_batch(seen: Seen, check: Deviation) -> bool:
    """Whether a loss of evaluation is that of one batch, while all of them have the mean that TF1 tells."""
    record = seen.record("tf2", check.scenario, "loss", check.tf2_name, check.step) if check.kind == "loss" else None
    every = [] if record is None else record.more.get("every") or []
    if len(every) < 2 or check.tf1_value is None:
        return False
    return math.isclose(sum(every) / len(every), check.tf1_value, rel_tol=1e-5)


def _weight(seen: Seen, kind: str) -> float:
    if not any(rung.status is Status.FAIL for rung in seen.report.rungs if rung.name != "settings"):
        return 0.9  # nothing else can be the cause
    if kind == "forward":
        return 0.92 if differs(seen) else 0.3
    if kind in ("update rule", "momentum", "variables"):
        return 0.9 if seen.failed(scenarios.STEPS, "update", "variable") else 0.3
    if kind == dropout.KIND:
        return 0.95 if seen.failed(scenarios.ALIGNED) or seen.failed(scenarios.TRAINING) else 0.3
    still = {twin.old for twin in seen.twins if not twin.trainable}
    moved = any(check.tf1_name in still for check in seen.failed(scenarios.STEPS, "variable", "update"))
    return 0.9 if moved else 0.3


def _together(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Layers of one name, and those that are the only one of their kind on both sides."""
    for one in old:
        named = [two for two in new if _last(one) == _last(two) and _sort(one) == _sort(two)]
        only = [[layer for layer in side if _sort(layer) == _sort(one)] for side in (old, new)]
        if len(named) == 1:
            yield one, named[0]
        elif len(only[0]) == len(only[1]) == 1:
            yield one, only[1][0]


def _last(layer: Mapping[str, Any]) -> str:
    return str(layer.get("name", "")).rstrip("/").rsplit("/", 1)[-1]


def _sort(layer: Mapping[str, Any]) -> str:
    config = _config(layer)
    return next((key for key in ("rate", "epsilon", "activation") if config.get(key) is not None), "")


def _config(layer: Mapping[str, Any]) -> Mapping[str, Any]:
    config = layer.get("config")
    return config if isinstance(config, Mapping) else {}
