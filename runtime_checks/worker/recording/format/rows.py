"""The entries of ``record.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, NamedTuple, Optional, Sequence, Tuple, Union

from ..tensors import Json

__all__ = [
    "AverageRow", "CallRow", "Content", "CreationRow", "DrawRow", "LayerRow", "LoadRow", "OptimizerRow", "Place",
    "RateRow", "RecordRow", "ScenarioRow", "Standing", "Turns", "VariableRow"
]

Place = Tuple[str, int]
"""File and line."""
Shape = Optional[Sequence[Optional[int]]]
OptimizerRow = Dict[str, Union[str, float, Sequence[object], None]]
"""``class``, ``name``, ``rule`` (the library's class that it is one of), ``learning_rate``, hyperparameters, and the
lines that make the optimizer, ``made``, and what gives its rate, ``rate_made``; where a later step makes it ``anew``,
the first one that does."""

ScenarioRow = Dict[str, Json]
"""``outcome``, ``detail``, ``parts``, ``place``, ``seconds``, and what the scenario says of itself."""
RecordRow = Dict[str, Json]
"""A value: its kind, name and step, where its array lies, and more of the kind."""


class Turns(NamedTuple):
    """What TF1 draws turn by turn, in a loop or in one that is unrolled, and TF2 at once.

    ``axis`` is that of TF2's shape along which the turns lie. ``numbers`` are those of TF1's draws in their order: of
    the one in the loop, which takes so many turns in each training step as ``counts`` says, or of one for each turn.
    """

    axis: int
    numbers: Sequence[int]
    counts: Sequence[int]


Standing = Union[int, Turns]
"""For which draws of TF1 one of TF2 stands: a position or number, or those of turns."""

if TYPE_CHECKING:
    from typing import TypedDict  # since Python 3.8

    class VariableRow(TypedDict, total=False):
        """A variable; `only` names the mode in which it is there, `constraint` what its constraint was seen to do.

        ``regularizer`` is the line that makes what regularizes it.
        """

        name: str
        shape: Shape
        dtype: str
        trainable: bool
        tracked: bool
        place: Sequence[object] | None
        initializer: str | None
        layer: str | None
        purpose: str
        only: str
        constraint: list[float]
        regularizer: Sequence[object]

    class AverageRow(TypedDict):
        """A moving average that a program keeps: of a weight, or of another value; `updated` by training steps."""

        name: str
        average: str
        decay: float | None
        weight: bool
        updated: bool

    class AlikeRow(TypedDict):
        """An operation on what is read off the batches alone, whose output is one number everywhere."""

        op: str
        place: Place | None
        value: Json

    class RateRow(TypedDict, total=False):
        """The learning rate of an optimizer at steps that need not have been run; `unknown` says why it has none.

        `still` names variables and placeholders that it is read of, and that no step changes.
        """

        name: str
        steps: list[int]
        values: list[float]
        unknown: str
        still: list[str]

    LayerRow = TypedDict(
        "LayerRow", {"name": str, "class": str, "config": Dict[str, Json], "place": Optional[Sequence[object]]}
    )

    class DrawRow(TypedDict, total=False):
        """A random operation.

        It `repeats` where it is in a loop of the graph, which draws anew in each turn, and is `idle` where nothing that
        is recorded depends on what it draws. One that is drawn in a branch alone is drawn `sometimes`. In each training
        step the loop takes so many `turns`, where that is known. The `name` is the operation's, in a graph; `wanted` is
        the seed that the program gives it, in place of which it has another one.
        """

        op: str
        seed: int | None
        wanted: int
        shape: Sequence[int | None] | None
        purpose: str
        place: Place | None
        repeats: bool
        sometimes: bool
        idle: bool
        turns: Sequence[int]
        name: str

    class LoadRow(TypedDict):
        """A call that loads from a checkpoint."""

        call: str
        path: str
        place: Sequence[object] | None
        problem: str
        loaded: list[str]
        not_loaded: list[str]
        silent: bool

    class CallRow(TypedDict):
        """How a call of a model ended."""

        name: str
        ended: str

    class CreationRow(TypedDict):
        """A variable that a later call of a model made."""

        call: str
        name: str
        shape: list[int]
        place: Sequence[object] | None

    class Content(TypedDict, total=False):
        """All of ``record.json``.

        ``variant`` says which other setting of the TF2 side it is of, ``elsewhere`` where an output was computed that
        should have been on another device, ``scales_loss`` whether an optimizer was seen to scale the loss,
        ``distributes`` whether the training step runs a strategy, and ``normalized`` what normalizes by replica.
        ``step_numbers`` says for which of TF1's draws those of a training step stand.
        ``moved`` names variables that are not trained, and that a pass of inference changed.
        ``first_sessions`` are the TF1 programs that were run up to their first session, and no further.
        ``unbuilt`` is what the first training step of a model raises that nothing has called before.
        ``lines``, where they were asked for, has for each of the user's files the lines on which statements begin, and
        those that ran.
        ``timing``, where a trace was asked for, has ``what`` was timed (a training step or a call), the ``seconds`` of
        each and the bytes of the process in ``memory`` behind it, how many were ``traced``, and, as ``problem``, why
        there is no trace.
        """

        format: int
        side: str
        versions: dict[str, str]
        adaptations: list[str]
        notes: list[str]
        variables: list[VariableRow]
        other_variables: list[VariableRow]
        layers: list[LayerRow]
        optimizers: list[OptimizerRow]
        other_steps: list[list[Json] | None]
        first_sessions: list[str]
        open_order: list[str]
        averages: list[AverageRow]
        alike: list[AlikeRow]
        moved: list[str]
        rates: list[RateRow]
        scenarios: dict[str, ScenarioRow]
        sources: dict[str, str | None]
        left_out: dict[str, int]
        pair: dict[str, Json]
        crash: dict[str, Json]
        seconds: float
        peak_memory: int
        sites: list[Json]
        applied: list[int]
        brief: bool
        variant: dict[str, Json]
        elsewhere: str
        scales_loss: bool
        distributes: bool
        step_numbers: list[Standing]
        unbuilt: str
        normalized: list[str]
        lines: list[Json]
        timing: dict[str, Json]

else:
    AlikeRow = AverageRow = CallRow = Content = CreationRow = DrawRow = LayerRow = dict
    LoadRow = RateRow = VariableRow = dict
