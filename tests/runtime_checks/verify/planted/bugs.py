"""The planted bugs: what each one is, on which rung and step the comparison first sees it, and of which class it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

OPTIONS = {
    "bug": [],
    "layers": False,
    "bias": False,
    "fused": False,
    "decaying": False,
    "momentum": False,
    "clip": 0.0,
    "update_ops": True,
}


class Planted(NamedTuple):
    """One pair; `kind` is the class of its cause, empty where nothing is wrong.

    ``old`` names the variant of the TF1 side in `VARIANTS`, ``style`` the function of the TF2 side.
    """

    kind: str
    rung: str
    step: int
    style: str
    old: str = "adam"
    seed: int = 42
    targets: tuple[str, ...] = ("keras2", "keras3")


VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "adam": {"decaying": True},
    "momentum": {"momentum": True},
    "decaying momentum": {"momentum": True, "decaying": True},
    "clipped": {"decaying": True, "clip": 0.2},
    "no update ops": {"decaying": True, "update_ops": False},
    "bias": {"decaying": True, "bias": True},
    "fused": {"decaying": True, "fused": True},
    "layers": {"decaying": True, "layers": True},
}
"""What the TF1 side is made with, over `OPTIONS`; the last one needs Keras 2."""

BUGS: Mapping[str, Planted] = {
    "Adam epsilon": Planted("update rule", "6", 0, "fitted"),
    "batch norm epsilon": Planted("forward", "3f", 0, "fitted"),
    "other activation": Planted("forward", "3f", 0, "loop"),
    "batch norm momentum": Planted("moving statistics", "6", 0, "fitted"),
    "update ops not run": Planted("moving statistics", "6", 0, "loop", "no update ops"),
    "frozen statistics": Planted("moving statistics", "6", 0, "fitted"),
    "variance of n and not n - 1": Planted("moving statistics", "6", 0, "loop", "fused", targets=("keras3",)),
    "regularization dropped": Planted("regularization", "6", 0, "loop"),
    "regularization doubled": Planted("regularization", "6", 0, "loop"),
    "missing regularizer": Planted("regularization", "3", 0, "fitted"),
    "schedule off by one": Planted("learning rate", "6", 0, "fitted"),
    "momentum under a decaying rate": Planted("momentum", "7", 1, "loop", "decaying momentum"),
    "loss summed": Planted("loss", "6", 0, "loop"),
    "missing variable": Planted("variables", "2", 0, "loop"),
    "extra variable": Planted("variables", "2", 0, "fitted"),
    "renamed variable": Planted("names", "2", 0, "loop"),
    "transposed kernel": Planted("variables", "3f", 0, "fitted"),
    "swapped weights": Planted("variables", "3f", 0, "loop"),
    "keep_prob as rate": Planted("dropout rate", "4", 0, "loop"),
    "other initializer": Planted("randomness", "4", 0, "fitted"),
    "no training flag": Planted("training mode", "6", 0, "loop"),
    "flag not passed on": Planted("training mode", "4", 0, "loop"),
    "extra random op": Planted("randomness", "4", 0, "loop"),
    "clipping left out": Planted("update rule", "6", 0, "loop", "clipped"),
}

TWO: Mapping[str, Planted] = {
    "Adam epsilon + batch norm momentum": Planted("update rule + moving statistics", "6", 0, "fitted"),
    "regularization doubled + schedule off by one": Planted("regularization + learning rate", "6", 0, "loop"),
    "missing regularizer + other activation": Planted("regularization + forward", "3", 0, "fitted"),
    "batch norm momentum + loss summed": Planted("moving statistics + loss", "6", 0, "loop"),
}
"""Pairs with two bugs at once."""

SOUND: Mapping[str, Planted] = {
    "a loop": Planted("", "", 0, "loop"),
    "fit": Planted("", "", 0, "fitted"),
    "momentum": Planted("", "", 0, "loop", "momentum"),
    "clipped": Planted("", "", 0, "loop", "clipped"),
    "bias before the norm": Planted("", "", 0, "loop", "bias"),
    "fused": Planted("", "", 0, "fitted", "fused", targets=("keras2",)),
    "layers": Planted("", "", 0, "fitted", "layers", targets=("keras2",)),
}
"""Pairs without a bug; the batch normalization of Keras 3 is no migration of the fused one.

The gradient of a bias before a batch normalization is rounding and nothing else, and Adam makes whole steps of it:
the pair is as noisy as a small network can be.
"""


def options(name: str, planted: Planted) -> dict[str, Any]:
    """The ``params`` of the pair; both sides get them."""
    return {**OPTIONS, **VARIANTS[planted.old], "bug": name.split(" + ")}
