"""TF613: what the initializer of this line draws from, and what TF1 drew from."""

from __future__ import annotations

from typing import Any

from ..functions import compare_calls
from ..functions import judge_calls as judge
from ..phases import Phase
from ..run import Judgement, Run, StaticFinding

__all__ = ["judge", "snapshot"]

_PARAMETERS = ("mean", "stddev", "minval", "maxval")
"""Of distributions; an upper end that is None is 1 for floats."""


def snapshot(finding: StaticFinding, run: Run, phase: Phase | None) -> Judgement | None:
    """The verdict, at the end of the run."""
    import tensorflow as tf

    def made(root: Any) -> Any:
        for part in (finding.subject or "").split(".")[1:]:
            root = getattr(root, part, None)
        return lambda *args, **kwargs: root(*args, **kwargs).get_config()

    return compare_calls(finding, run, phase, made(tf), made(tf.compat.v1), _parameters_apart)


def _parameters_apart(now: Any, before: Any) -> str:
    names = [name for name in _PARAMETERS if name in now and name in before]
    pairs = [(name, *(1.0 if one[name] is None else one[name] for one in (now, before))) for name in names]
    told = [f"`{name}` {one:g}, where TF1 had {other:g}" for name, one, other in pairs if one != other]
    return f"are drawn with {' and '.join(told)}" if told else ""
