"""Finds the probe of a finding, by the name of its rule, and asks it."""

from __future__ import annotations

import importlib
import os
from typing import Any

from .run import FAILED, STATIC_ONLY, Finding, Judgement, Run

__all__ = ["judge"]

_PROBES: dict[str, Any] = {}
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes")


def judge(finding: Finding, run: Run) -> Judgement:
    """The verdict on a finding; `STATIC_ONLY` where its rule has no probe."""
    try:
        probe = _probe(finding.slug)
        if probe is None:
            return Judgement(STATIC_ONLY, "", "no probe decides this rule")
        judgement = probe.judge(finding, run)
    except Exception as error:
        return Judgement(FAILED, "", f"the probe itself failed: {type(error).__name__}: {error}")
    return Judgement(*judgement)


def _probe(slug: str) -> Any:
    if slug not in _PROBES:
        name = slug.replace("-", "_")
        exists = os.path.exists(os.path.join(_FOLDER, name + ".py"))
        _PROBES[slug] = importlib.import_module(".probes." + name, __package__) if exists else None
    return _PROBES[slug]
