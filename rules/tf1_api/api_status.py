"""Where TensorFlow's public names went: the questions that the rules of this family ask of ``api_status.json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...linter.rule_api.model import Call, Import, Name, Reference, Target

_V1_ROOTS = ("tensorflow.compat.v1", "tensorflow._api.v1")
_V2_ROOTS = ("tensorflow.compat.v2", "tensorflow._api.v2", "tensorflow")
_NOT_JUDGED = frozenset({"contrib", "python", "core", "compiler", "compat", "_api", "keras.saving"})
"""contrib is TF405's; the others are private, or (`tf.keras.saving`) differ between releases of Keras 3."""

_MISSING = frozenset(
    {
        "app", "distributions", "estimator", "flags", "gfile", "keras.mixed_precision.experimental",
        "keras.wrappers.scikit_learn", "layers", "lite.constants", "lite.experimental.nn", "logging", "manip",
        "nn.rnn_cell", "python_io", "resource_loader", "saved_model.builder", "saved_model.constants",
        "saved_model.loader", "saved_model.main_op", "saved_model.signature_constants",
        "saved_model.signature_def_utils", "saved_model.tag_constants", "saved_model.utils", "spectral",
        "train.queue_runner", "user_ops",
    }
)  # fmt: skip
"""Modules of TF1 that `tf` has on neither target; read, like the next two, from 2.21.0."""

_MISSING_KERAS3 = frozenset(
    {
        "keras.applications.regnet", "keras.applications.resnet_rs", "keras.callbacks.experimental", "keras.dtensor",
        "keras.estimator", "keras.experimental", "keras.layers.experimental", "keras.optimizers.experimental",
        "keras.utils.experimental",
    }
)  # fmt: skip
_MISSING_V1 = frozenset(
    {"estimator", "keras.mixed_precision.experimental", "keras.wrappers.scikit_learn", "lite.experimental.nn"}
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a target makes of one written name."""

    status: str
    """``ok``; ``v1``: only `tf.compat.v1` has it; ``gone``: neither has."""
    symbol: str = ""
    """The part that is missing, without ``tf.``: ``layers``, ``train.AdamOptimizer``."""
    whole: str = ""
    """The whole name below ``tf.``, as far as it is a dotted name: ``layers.dense``."""
    native: str = ""
    """The native name of the very same object, without ``tf.``."""
    through_v1: bool = False
    """Whether it is written with ``compat.v1``."""
    only_keras3: bool = False
    """Whether the other Keras still has it."""

    @property
    def works(self) -> bool:
        """Whether the name can be read as it is written."""
        return self.status == "ok" or (self.through_v1 and self.status == "v1")


_OK = Standing("ok")


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return table


@cache
def standing(spelled: str, target: Target) -> Standing:
    """Say where the absolute name `spelled` stands on `target`; a name that is not TensorFlow's is ok."""
    spelled = spelled.partition("(")[0].partition("[")[0]
    through_v1 = spelled.startswith(tuple(f"{root}." for root in _V1_ROOTS))
    root = next((r for r in (*_V1_ROOTS, *_V2_ROOTS) if spelled.startswith(f"{r}.")), None)
    if root is None:
        return _OK
    whole = spelled[len(root) + 1 :]
    parts = whole.split(".")
    if parts[0] in _NOT_JUDGED or ".".join(parts[:2]) in _NOT_JUDGED:
        return _OK
    row = 1 if target is Target.KERAS3 else 0
    moved, v1_only, tf2_only = (_table()[section] for section in ("symbols", "compat_v1", "tf2"))
    native = next((moved[n][2] for n in _prefixes(parts) if n in moved and len(moved[n]) > 2), "")
    missing_modules = _MISSING | _MISSING_KERAS3 if row else _MISSING
    for name in _prefixes(parts):
        status = "ok"
        if name in moved:
            status = moved[name][row]
        elif name in (v1_only if through_v1 else tf2_only):
            status = (v1_only if through_v1 else tf2_only)[name][row]
        elif name in missing_modules:
            status = _status_of_module(name, whole, moved, row)
        if status != "ok":
            only_keras3 = bool(row) and standing(spelled, Target.KERAS2).works
            return Standing(status, name, whole, native, through_v1, only_keras3)
    return Standing("ok", "", whole, "", through_v1)


def _status_of_module(name: str, whole: str, moved: dict[str, Any], row: int) -> str:
    """A module that `tf` lacks may still be in compat.v1, and still lack the name that is wanted of it."""
    if name in _MISSING_V1 or (row and name in _MISSING_KERAS3):
        return "gone"
    statuses = [moved[n][row] for n in _prefixes(whole.split(".")) if n in moved]
    return statuses[0] if statuses else "v1"


def _prefixes(parts: Sequence[str]) -> list[str]:
    return [".".join(parts[:size]) for size in range(1, len(parts) + 1)]


def missing(reference: Reference) -> Standing | None:
    """What a read name cannot reach on its target; None where a meaning works, or where an import says it already."""
    if any(entity.kind != "external" for entity in reference.found):
        return None
    broken = _broken(reference.names, reference.target)
    if broken is None or _broken(reference.origin, reference.target) is not None:
        return None
    return broken


def missing_import(names: Sequence[Name], target: Target) -> Standing | None:
    """The same for an imported name."""
    return _broken(names, target)


def _broken(names: Sequence[Name], target: Target) -> Standing | None:
    standings = [standing(name.spelled, target) for name in names]
    if not standings or any(found.works for found in standings):
        return None
    return standings[0]


def is_plain(site: Call | Import | Reference) -> bool:
    """Whether every meaning is a name that left `tf` and is written without ``compat.v1``."""
    return bool(site.names) and not any(
        found.works or found.through_v1 for found in (standing(name.spelled, site.target) for name in site.names)
    )


def written(name: Name) -> str:
    """A name as a person writes it: ``tf.compat.v1.Session``; calls and what follows them are left out."""
    dotted = name.spelled.partition("(")[0].partition("[")[0]
    return f"tf{dotted[10:]}" if dotted.startswith("tensorflow.") else dotted
