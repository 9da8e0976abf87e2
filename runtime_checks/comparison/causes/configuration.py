"""Evidence from what the sides said of their optimizers and layers: hyperparameters that are not the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...worker.recording.format import scenarios
from .evidence import Clue, Seen, near
from .forward import differs

__all__ = ["clues"]

_OF_LAYERS = {
    "epsilon": "forward",
    "activation": "forward",
    "negative_slope": "forward",
    "alpha": "forward",
    "momentum": "moving statistics",
    "rate": "randomness",
}
_DESCRIBING = ("class", "name", "learning_rate")
_RULES = {"gradientdescent": "sgd", "momentum": "sgd"}
"""Optimizers of TF1 that have another name in Keras, in small letters."""


def clues(seen: Seen) -> Iterator[Clue]:
    """Evidence of hyperparameters; it weighs little where nothing that it would change differs."""
    yield from _optimizers(seen)
    yield from _layers(seen)


def _optimizers(seen: Seen) -> Iterator[Clue]:
    old, new = (side.content.get("optimizers") or [] for side in (seen.tf1, seen.tf2))
    weight = 0.9 if seen.failed(scenarios.STEPS, "update", "variable") else 0.3
    for one, two in zip(old, new, strict=False):
        names = str(one.get("class", "")), str(two.get("class", ""))
        if all(names) and _rule(names[0]) != _rule(names[1]):
            yield Clue("update rule", weight, f"The optimizer is {names[0]} on TF1 and {names[1]} on TF2.")
            continue
        if _rule(names[0]) == "rmsprop" and names[0].endswith("Optimizer") and not names[1].endswith("Optimizer"):
            text = f"{names[0]} begins its mean of squares at 1, {names[1]} of Keras at 0: the first steps are larger."
            yield Clue("update rule", weight, text)
        for key in one:
            if key in two and key not in _DESCRIBING and _differ(one[key], two[key]):
                kind = "momentum" if key in ("momentum", "nesterov") else "update rule"
                yield Clue(
                    kind, weight, f"{key} of the optimizer is {_shown(one[key])} on TF1 and {_shown(two[key])} on TF2."
                )


def _rule(name: str) -> str:
    plain = name.removesuffix("Optimizer").lower()
    return _RULES.get(plain, plain)


def _layers(seen: Seen) -> Iterator[Clue]:
    old, new = (side.content.get("layers") or [] for side in (seen.tf1, seen.tf2))
    for one, two in _together(old, new):
        configs = _config(one), _config(two)
        for key, kind in _OF_LAYERS.items():
            values = [config.get(key) for config in configs]
            if all(value is not None for value in values) and _differ(*values):
                yield Clue(
                    kind,
                    _weight(seen, kind),
                    f"{key} of {one.get('name')} is {_shown(values[0])} on TF1 and {_shown(values[1])} on TF2.",
                )


def _weight(seen: Seen, kind: str) -> float:
    if kind == "forward":
        return 0.9 if differs(seen) else 0.3
    if kind == "randomness":
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


def _differ(one: Any, two: Any) -> bool:
    if isinstance(one, int | float) and isinstance(two, int | float):
        return not near(float(one), float(two), 1e-5)
    return bool(one) != bool(two) or (bool(one) and one != two)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
