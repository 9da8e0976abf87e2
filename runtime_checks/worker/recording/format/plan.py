"""What is to be recorded of a side."""

from __future__ import annotations

from typing import Any, NamedTuple

from .scenarios import DATA

__all__ = ["Plan"]


class Plan(NamedTuple):
    """The names of the scenarios (see `scenarios`), and how they are run."""

    scenarios: tuple[str, ...]
    steps: int = 3
    """Number of training steps."""
    seed: int = 42
    """Of all randomness."""
    operations: bool = True
    """Whether the single operations of some passes are recorded, with which two of them begin to differ."""

    device: str | None = None
    """The logical device that the side runs on, such as ``CPU:1``; None leaves that to TensorFlow."""
    precision: str | None = None
    """The policy of Keras that models are made under, such as ``mixed_bfloat16``; None leaves that to the program."""
    strategy: Any = None
    """The ``tf.distribute.Strategy`` whose replicas run the training steps; None for one device."""
    reference: str | None = None
    """Of a variant of the TF2 side, the folder where the ordinary TF2 side was recorded."""

    def wants(self, scenario: str) -> bool:
        """Whether a scenario is to be recorded."""
        return scenario in self.scenarios

    @property
    def data_alone(self) -> bool:
        """Whether it is the input pipelines that are to be recorded, and nothing of a model."""
        return set(self.scenarios) == {DATA}
