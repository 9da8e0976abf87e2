"""What is to be recorded of a side."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Plan"]


class Plan(NamedTuple):
    """The names of the scenarios (see `scenarios`), and how they are run."""

    scenarios: tuple[str, ...]
    steps: int = 3
    """Number of training steps."""
    seed: int = 42
    """Of all randomness."""
    operations: bool = True
    """Whether single operations are recorded in brief."""

    def wants(self, scenario: str) -> bool:
        """Whether a scenario is to be recorded."""
        return scenario in self.scenarios
