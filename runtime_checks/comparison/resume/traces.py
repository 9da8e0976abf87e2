"""Reads what a run of a loop left (`worker.resume.trace`), and holds it to its form: what comes after trusts it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...worker.atomic import read_regular

__all__ = ["Run", "State", "Step", "TraceError", "Value", "apart", "read"]

_MOST = 1 << 30


class TraceError(ValueError):
    """What a run left cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Value:
    """A part of the state: its kind, its name, the digest of its value, and the value where it is one number."""

    kind: str
    name: str
    digest: str
    number: float | int | str | None


State = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Step:
    """An executed update: the state before it, and what the loop gave to it."""

    begin: State
    weights: Mapping[str, str] | None
    """By the number of each optimizer that is known by then, a digest of all that it trains."""
    data: tuple[str, ...]
    """What iterators gave since the step before, in their order."""
    given: tuple[str, ...]
    """What its function was called with, array by array; or one digest of all."""
    updates: int
    loss: float | None
    applied: tuple[int, ...] = ()
    """The optimizers that made them."""

    def begins_with(self, weights: Mapping[str, str] | None) -> bool:
        """Whether it has these weights: a run that goes on knows only those of optimizers that it has come to."""
        return bool(weights and self.weights) and (weights or {}).items() <= (self.weights or {}).items()


@dataclass(slots=True)
class Run:
    """All that a run did until it ended, was interrupted or was killed."""

    steps: list[Step] = field(default_factory=list)
    owners: dict[int, list[str]] = field(default_factory=dict)
    """What tells its optimizers from each other, by their numbers."""
    end: State | None = None
    """The state when the loop returned."""
    saves: list[int] = field(default_factory=list)
    """Behind how many steps each save was complete."""
    reads: list[str] = field(default_factory=list)
    """What was called to read a checkpoint."""
    interrupted: Mapping[str, Any] | None = None
    """How, and behind which step."""
    raised: str = ""
    place: tuple[str, int] | None = None
    """Where in the user's files."""
    usage: str = ""
    """Why there is no loop to run."""
    notes: list[str] = field(default_factory=list)
    firsts: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """By the key of the state, the digest of the first value of a variable, and whether its elements are all alike."""
    overwritten: list[str] = field(default_factory=list)
    """Files of this process that another one wrote again, each time anew."""
    deleted: list[str] = field(default_factory=list)
    """Files of this process that another one deleted."""
    aligned: bool = False
    """Whether streams of random numbers were put at the place of their step."""


def read(path: str) -> Run:
    """What a run left so far; the last line of one that was killed may lack its end, and is left out.

    Raises:
        TraceError: if there is none, or it has no such form.
    """
    try:
        lines = read_regular(path, _MOST).split(b"\n")
    except OSError as error:
        raise TraceError(f"the trace of the run cannot be read: {error}") from error
    run = Run()
    for number, line in enumerate(lines[:-1], 1):
        try:
            _take(run, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise TraceError(f"the trace of the run is damaged in line {number}: {error}") from error
    return run


def _take(run: Run, row: Mapping[str, Any]) -> None:
    kind = row["row"]
    if kind == "step":
        loss = row["loss"]
        run.steps.append(
            Step(
                _state(row["begin"]),
                None if row["weights"] is None else {str(at): str(one) for at, one in row["weights"].items()},
                tuple(map(str, row["data"])),
                _given(row["given"]),
                int(row["updates"]),
                None if loss is None else float(loss),
                tuple(map(int, row["applied"])),
            )
        )
    elif kind == "owners":
        run.owners = {int(at): [str(one) for one in told] for at, told in row["optimizers"].items()}
    elif kind == "end":
        run.end, run.aligned = _state(row["state"]), bool(row["aligned"])
    elif kind == "saved":
        run.saves.append(int(row["step"]))
    elif kind == "firsts":
        run.firsts = {str(key): (str(found), bool(alike)) for key, (found, alike) in row["values"].items()}
    elif kind == "taken":
        run.overwritten += map(str, row["overwritten"])
        run.deleted += map(str, row["deleted"])
    elif kind == "read":
        run.reads.append(str(row["what"]))
    elif kind == "interrupted":
        run.interrupted = {"step": int(row["step"]), "where": str(row.get("where", ""))}
    elif kind == "raised":
        place = row["place"]
        run.place = (str(place[0]), int(place[1])) if place else None
        run.raised = "" if row["interruption"] else str(row["text"])
    elif kind == "usage":
        run.usage = str(row["text"])
    elif kind == "note":
        run.notes.append(str(row["text"]))


def _state(found: Mapping[str, Any]) -> State:
    return {
        str(key): Value(str(kind), str(name), str(digest), number if isinstance(number, int | float | str) else None)
        for key, (kind, name, digest, number) in found.items()
    }


def _given(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else () if value is None else (str(value),)


def apart(path: str, other: str) -> float | None:
    """The largest difference of the weights that two runs ended with; None where they cannot be compared.

    Where one run alone came to an optimizer, of what those train that both came to.

    Args:
        path: of the trace of the one run, beside which the weights lie.
        other: of the other's.
    """
    try:
        with np.load(path + ".npz", allow_pickle=False) as one, np.load(other + ".npz", allow_pickle=False) as two:
            names = set(one.files) & set(two.files)
            if set(one.files) != set(two.files):
                names = {name for name in names if name.startswith("weight ")}
            return max(_differences(one, two, names), default=None)
    except (OSError, ValueError, KeyError, EOFError):
        return None


def _differences(one: Any, two: Any, names: Iterable[str]) -> Iterator[float]:
    for name in names:
        left, right = (np.asarray(each[name], np.float64) for each in (one, two))
        if left.shape != right.shape:
            raise ValueError("of another shape")
        yield float(np.max(np.abs(left - right), initial=0.0))
