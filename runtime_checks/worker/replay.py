"""Calls of layers made again when the run is over, with what they were called with, and their variables put back."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, NamedTuple, Sequence

from .recorder import Event
from .run import Run, StaticFinding
from .samples import Sampler

__all__ = ["Replay", "applied_at", "keeping", "replay_of"]


class Replay(NamedTuple):
    """A layer and the arguments of one of its calls; ``on`` says in words what the inputs are."""

    layer: Any
    args: Any
    kwargs: Any
    on: str


def applied_at(finding: StaticFinding, run: Run) -> list[Event]:
    """The calls of layers that are still there, at a finding's statement; those with values come first."""
    found = [event for event in run.events_at(finding, "applied") if event.subject() is not None]
    return sorted(found, key=lambda event: bool(event.detail["symbolic"]))


def replay_of(event: Event) -> Replay:
    """The same call; with inputs that are made up where only their shapes are known."""
    args, kwargs = event.detail["args"], event.detail["kwargs"]
    if not event.detail["symbolic"]:
        return Replay(event.subject(), args, kwargs, f"the inputs of the {event.phase}")
    args, kwargs = Sampler().fill((args, kwargs))
    return Replay(event.subject(), args, kwargs, "made-up inputs of the same shapes")


@contextlib.contextmanager
def keeping(variables: Sequence[Any]) -> Iterator[None]:
    """Variables have the same values after the body as before it."""
    values = [variable.numpy() for variable in variables]
    try:
        yield
    finally:
        for variable, value in zip(variables, values):
            variable.assign(value)
