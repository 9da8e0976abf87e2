"""A model's predictions on fixed points: what it makes of the pair's first batch, with weights that are known.

After training from the TF1 side's initial values where there was training; otherwise with the weights of the
fingerprint fill, which follow from their names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..worker.recording.format.reading import Record, Recorded, read
from ..worker.recording.format.scenarios import FINGERPRINT, STEPS

__all__ = ["Points", "points"]


class Points(NamedTuple):
    """Arrays by name: what went in, and what came out; ``trained`` is whether the weights were trained before."""

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    trained: bool


def points(recording: str | os.PathLike[str] | Recorded) -> Points | None:
    """The inputs and outputs of a side's recording; None where it holds no outputs.

    Raises:
        RecordingError: if a folder holds no recording.
    """
    recorded = recording if isinstance(recording, Recorded) else read(Path(recording))
    for name, kind in ((STEPS, "evaluation"), (FINGERPRINT, "output")):
        scenario = recorded.scenario(name)
        records = scenario.of_kind(kind)
        last = max((record.step for record in records), default=0)
        outputs = _arrays([record for record in records if record.step == last])
        if scenario.outcome == "ok" and outputs:
            return Points(_arrays(scenario.of_kind("input", 0)), outputs, name == STEPS)
    return None


def _arrays(records: Sequence[Record]) -> dict[str, Any]:
    return {record.name: np.asarray(record.value) for record in records if record.kept}
