"""What Keras no longer has or takes; `tests/rules/keras_members.py` writes the table."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ...linter.rule_api.model import Name, Target

_FACTORIES = frozenset(
    {
        *(f"keras.models.{name}" for name in ("clone_model", "load_model", "model_from_config", "model_from_json")),
        "keras.utils.multi_gpu_model",
    }
)
_KINDS = {"layers": "Layer", "optimizers": "Optimizer", "metrics": "Metric", "callbacks": "Callback"}
_CLASS = re.compile(r"keras\.(layers|optimizers|metrics|callbacks|applications)\.(?:[a-z_0-9]+\.)?[A-Z]\w*")
_NO_LAYERS = ("keras.layers.Input", "keras.layers.InputSpec")
_VARIABLES = (
    "non_trainable_variables[]", "non_trainable_weights[]", "trainable_variables[]", "trainable_weights[]",
    "variables[]", "weights[]",
)  # fmt: skip
_STEPS = {
    **{(kind, part): "Variable" for kind in ("Layer", "Model") for part in (*_VARIABLES, "add_weight()")},
    ("Metric", "add_weight()"): "Variable",
    ("Optimizer", "iterations"): "Variable",
    ("Optimizer", "learning_rate"): "Variable",
    ("Variable", "dtype"): "DType",
    ("Callback", "model"): "Model",
    ("Model", "get_layer()"): "Layer",
    ("Model", "layers[]"): "Layer",
    ("Model", "metrics[]"): "Metric",
    ("Model", "optimizer"): "Optimizer",
}
"""What an attribute of a kind is."""


class Member(NamedTuple):
    """An attribute of what Keras makes."""

    kind: str
    """``Model``, ``Layer``, ``Optimizer``, ``Metric``, ``Callback``, ``Variable`` or ``DType``."""
    name: str
    direct: bool
    """Whether it is of what a call made, which may be of a class that the project derives."""


def member_of(name: Name) -> Member | None:
    """``fit`` of a ``Model`` for the name ``keras.Sequential().fit``; None where nothing is known of the owner."""
    owner, _, last = name.canonical.rpartition(".")
    kind = kind_of(owner) if last.isidentifier() else ""
    return Member(kind, last, owner.endswith("()") and owner.count("()") == 1) if kind else None


def kind_of(name: str) -> str:
    """The kind of what a canonical name gives: ``Optimizer`` for ``keras.Sequential().optimizer``, or an empty text."""
    made, bracket, rest = name.partition("()")
    first, *parts = rest.split(".")
    kind = _kind(made) if bracket and not first and ".legacy." not in made and ".experimental." not in made else ""
    for part in parts:
        kind = _STEPS.get((kind, part), "")
    return kind


def _kind(made: str) -> str:
    if made in ("keras.Model", "keras.Sequential") or made in _FACTORIES:
        return "Model"
    if made == "keras.Variable":
        return "Variable"
    found = _CLASS.fullmatch(made.replace("tensorflow.optimizers", "keras.optimizers"))
    if found is None or made in _NO_LAYERS:
        return ""
    return _KINDS.get(found[1], "Model")


def lacks(name: Name, member: Member, target: Target) -> bool:
    """Whether a target's Keras has no such attribute, which an older one had."""
    return all(member.name in _gone()["members"][member.kind][one] for one in _readings(name, target))


def refuses(name: Name, function: str, keyword: str, target: Target) -> bool:
    """Whether a target's Keras refuses a keyword of `function`, a name below ``keras``, that an older one took."""
    table = _gone()["keywords"]
    row = table.get(function)
    if row is None:
        row = table["layers.Layer"] if function.startswith("layers.") else {}
    return all(keyword in row.get(one, ()) for one in _readings(name, target))


def _readings(name: Name, target: Target) -> tuple[str, ...]:
    """The targets of the table by which a name is read: ``keras`` itself is either one with Keras 2's TensorFlow."""
    root = name.spelled.partition(".")[0]
    if root == "tf_keras":
        return (Target.KERAS2.value,)
    return tuple(one.value for one in Target) if root == "keras" and target is Target.KERAS2 else (target.value,)


@cache
def read_only(base: str) -> frozenset[str]:
    """The attributes that Keras 3 does not let instances of a public class have set, and Keras 2 does."""
    name = base.removeprefix("keras.")
    table = _gone()["read_only"]
    row = table.get(name, table["layers.Layer"] if name.startswith("layers.") else frozenset())
    return row if base.startswith("keras.") else frozenset()


@cache
def _gone() -> dict[str, Any]:
    table = json.loads(Path(__file__).with_name("keras_members.json").read_text(encoding="utf-8"))
    return {
        part: {key: {target: frozenset(names.split()) for target, names in row.items()} for key, row in rows.items()}
        for part, rows in table.items()
        if part in ("keywords", "members")
    } | {"read_only": {name: frozenset(row.split()) for name, row in table["read_only"].items()}}
