"""What a comparison found: plain data that causes, reporters and the report itself are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ...linter.finding import Finding
from ..worker.recording.format.rows import Place

__all__ = [
    "NEVER", "Cause", "Change", "Deviation", "Divergence", "Excerpt", "OperationPair", "OperationSide", "Planted",
    "RandomOp", "Results", "Rounding", "Rung", "SelfTest", "Series", "SideSummary", "Status", "Timing", "Trial",
    "Tried", "VariableRow"
]

NEVER = "other devices, distribution strategies, mixed precision, resuming from a checkpoint (never compared)"
"""What no rung is about, unless it is asked for."""
LOOP_DRAWS = "training cannot be compared"
"""Begins what rung 4 says where training differs in what a loop draws."""
_WITHOUT_VALUES = ("1", "2", "7r", "7s")
"""Rungs that compare nothing that the programs compute: where only these pass, nothing is known."""


class Status(StrEnum):
    """How a rung ended; `VACUOUS` is a comparison that could not have failed."""

    PASS = "pass"
    FAIL = "fail"
    NOT_RUN = "not run"
    VACUOUS = "vacuous"


@dataclass(frozen=True, slots=True)
class Rounding:
    """What float32 rounds: how far the value of each side is from that in float64, and from each other, at most.

    ``size`` is the largest number of the value. ``constants`` is true where the sides differ in float64, by no more
    than the rounding of constants makes.
    """

    tf1: float
    tf2: float
    apart: float
    size: float = 0.0
    constants: bool = False

    @property
    def most(self) -> float:
        """What the side rounds that rounds more."""
        return max(self.tf1, self.tf2)


@dataclass(frozen=True, slots=True)
class Deviation:
    """One value of both sides, compared.

    ``error`` is the largest absolute difference, ``relative`` the largest relative to the TF1 value, ``at`` the index
    of the element that exceeds its tolerance most, with both values. ``excess`` is the largest difference as a
    multiple of what is tolerated: above 1 it fails. ``floor`` is the measured noise (largest absolute difference
    between runs of the same side), None where it was not measured. ``needed_rtol`` would have passed with the same
    ``atol`` (infinite where none would). ``counts`` is false for what only helps to find the place: a tap that the
    user has not declared.
    ``problem`` says why the values cannot be compared at all (shape, NaN, left out, only on one side); then the
    numbers are NaN.
    """

    scenario: str
    kind: str
    tf1_name: str
    tf2_name: str
    step: int
    order: int
    dtype: str
    shape: tuple[int, ...]
    passed: bool
    counts: bool
    error: float
    relative: float
    at: tuple[int, ...]
    tf1_value: float
    tf2_value: float
    rtol: float
    atol: float
    excess: float
    floor: float | None
    needed_rtol: float
    tf1_place: Place | None
    tf2_place: Place | None
    problem: str = ""
    sure: bool = True
    """False for two layers that may have been tapped at different places, such as before and after an activation."""
    inputs: str = ""
    """Of a layer that differs: whether its inputs ``agree`` or ``differ`` already; empty where that is not known."""
    rounding: Rounding | None = None
    """Of a value that was computed in float64: what the programs make of it; None where that is not known."""

    @property
    def is_alone(self) -> bool:
        """Whether it is an output of one side, which was compared with nothing."""
        return self.kind in ("output", "evaluation") and not (self.tf1_name and self.tf2_name)


@dataclass(frozen=True, slots=True)
class Rung:
    """One rung of the ladder.

    ``number`` is ``1`` to ``8``, or one like ``3f``; ``name`` is what ``--until`` takes; ``detail`` says in one line
    why it is what it is; ``notes`` say what else the reader must know, such as that weights were copied.
    ``needed`` names the tolerance that would have passed, empty where it passed or none would. ``names`` are those that
    a rung went through beside the values in ``checks``, by what became of them.
    """

    number: str
    name: str
    title: str
    status: Status
    detail: str
    needed: str = ""
    notes: tuple[str, ...] = ()
    checks: tuple[Deviation, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[Deviation, ...]:
        """What counts and did not pass, the earliest first."""
        return tuple(check for check in self.checks if check.counts and not check.passed)


@dataclass(frozen=True, slots=True)
class VariableRow:
    """A line of the two-column list of variables; a side is None where it has no counterpart.

    ``how`` is ``name``, ``rename``, ``suggestion`` or empty; ``problem`` is empty where both agree.
    ``tf1`` and ``tf2`` describe the variable (name, shape, dtype, trainable, tracked, place) as recorded.
    """

    tf1: Mapping[str, Any] | None
    tf2: Mapping[str, Any] | None
    how: str
    problem: str


@dataclass(frozen=True, slots=True)
class RandomOp:
    """A random operation of one side: kind, seed of the operation, shape, the phase it belongs to and its place."""

    op: str
    seed: int
    shape: tuple[int | None, ...] | None
    """None where not even its rank is known."""
    purpose: str
    """``initial value`` or ``step``."""
    place: Place | None
    repeats: bool = False
    """Whether a loop of the graph draws it anew in each turn."""
    idle: bool = False
    """Whether nothing depends on what it draws, as in a dropout that keeps everything."""
    wanted: int | None = None
    """The seed that the program gives it."""


@dataclass(frozen=True, slots=True)
class OperationSide:
    """An operation as one side has it: its type, the user's line, the shape of its output, its inputs in words.

    ``made`` is the line where the layer was made that computes it, if that is another one.
    """

    op: str
    place: Place | None
    shape: tuple[int, ...]
    inputs: tuple[str, ...]
    made: Place | None = None
    number: int = -1
    """In the recording of the pass."""


@dataclass(frozen=True, slots=True)
class OperationPair:
    """The operations with which two passes part; None for a side that has no such operation.

    ``scenario`` and ``step`` say in which pass, ``agree`` which inputs of TF1's operation are the same on TF2,
    ``differences`` what is seen to be different about the operations, ``error`` the largest difference in a sample of
    their outputs (NaN where these have other shapes).
    """

    scenario: str
    step: int
    tf1: OperationSide | None
    tf2: OperationSide | None
    agree: tuple[str, ...]
    differences: tuple[str, ...]
    error: float


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first record that differs while everything before it agreed.

    ``rung`` is the number of the rung it was seen on, ``before`` the last record that still agreed, ``text`` a
    sentence. ``noise`` is true where nothing differs by more than three times the measured noise. ``operation`` is
    where in the programs that comes from; None where no operation could be told.
    """

    rung: str
    deviation: Deviation
    before: Deviation | None
    text: str
    noise: bool = False
    operation: OperationPair | None = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a user's file as it was when it was run, around `line`.

    ``first`` is the number of the first of the ``lines``, which are empty where the file's text was not kept.
    """

    side: str
    path: str
    line: int
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cause:
    """A class of causes, ranked by ``weight`` (0 to 1, evidence, not proof), with the static findings that fit."""

    kind: str
    """``forward``, ``training mode``, ``loss``, ``metric``, ``regularization``, ``update rule``, ``learning rate``,
    ``momentum``, ``moving statistics``, ``randomness``, ``variables``, ``layout``, ``names``, ``inputs``, ``numerics``,
    or what goes wrong under a strategy, such as ``loss by replica`` (see `replicas`)."""
    weight: float
    evidence: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    tried: str = ""
    """What trying said of it: ``found``, ``refuted``, or nothing."""
    tf1_place: Place | None = None
    tf2_place: Place | None = None
    """The lines to look at, of TF2 the one that is likeliest wrong; None where the evidence names none."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the TF2 program in words: what stands there now and what to write, and where.

    ``kind`` is that of the cause; the place is the user's line, None where there is none; ``places`` counts the lines
    that are changed alike.
    """

    kind: str
    text: str
    place: Place | None
    places: int = 1


@dataclass(frozen=True, slots=True)
class Tried:
    """A change that was tried alone, on top of what had been found, and what came of it."""

    change: Change
    effect: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What was found by running the TF2 side again with known differences changed.

    ``outcome`` is ``none needed``, ``found`` (with all `changes` everything agrees), ``closer`` (with them it differs
    later, or by less), ``not found`` or ``not tried``; ``runs`` counts the runs of the TF2 side; ``left`` says why the
    search ended, or what remains.
    """

    outcome: str
    changes: tuple[Change, ...] = ()
    runs: int = 0
    seconds: float = 0.0
    tried: tuple[Tried, ...] = ()
    left: str = ""


@dataclass(frozen=True, slots=True)
class Planted:
    """A bug that was planted into the TF2 side.

    ``rung`` is the number of the rung that caught it, empty where none did, and ``step`` the step where there are
    steps; ``steps`` is the number of training steps it was caught with. ``note`` says what else there is to say, such
    as that it made the side end early.
    """

    change: Change
    rung: str
    step: int
    steps: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class SelfTest:
    """Which planted bugs a pair, a policy and a number of steps catch.

    ``steps`` is what the run was asked for; ``not_planted`` says what could not be planted here, or was not for want
    of runs.
    """

    planted: tuple[Planted, ...]
    steps: int
    runs: int = 0
    seconds: float = 0.0
    not_planted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """A scalar of both sides over the steps, for the pictures: loss, regularization, learning rate or a metric."""

    kind: str
    name: str
    steps: tuple[int, ...]
    tf1: tuple[float, ...]
    tf2: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """What a step of a side takes, in a process of its own; shown and not judged.

    ``what`` is a ``training step`` or a ``call``; ``seconds`` is of each that was timed, ``memory`` the bytes of the
    process that were in memory behind it, empty where the system does not say. ``traced`` counts the steps in the
    trace; ``problem`` says why there is none.
    """

    what: str
    seconds: tuple[float, ...]
    memory: tuple[int, ...]
    traced: int
    problem: str


@dataclass(frozen=True, slots=True)
class SideSummary:
    """What one side was: versions, what was adapted or noted, and why it ended early or what it failed in.

    ``timing`` is None where no trace was asked for.
    """

    side: str
    versions: Mapping[str, str]
    adaptations: tuple[str, ...]
    notes: tuple[str, ...]
    cause: str | None
    optimizers: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    peak_memory: int = 0
    timing: Timing | None = None


@dataclass(frozen=True)
class Results:
    """The whole comparison."""

    name: str
    policy: str
    sides: tuple[SideSummary, SideSummary]
    rungs: tuple[Rung, ...]
    variables: tuple[VariableRow, ...]
    random_ops: Mapping[str, tuple[Sequence[RandomOp], Sequence[RandomOp]]]
    """By scenario, what each side drew."""
    series: tuple[Series, ...]
    first_divergence: Divergence | None
    causes: tuple[Cause, ...]
    problems: tuple[str, ...] = ()
    """Why the sides cannot be compared at all, such as other inputs."""
    versions: str = ""
    """Where the TF1 side was also run in the TensorFlow of the TF2 side: what differs between the versions."""
    not_compared: tuple[str, ...] = ()
    """What a side has, or would do, and no rung compared: a few words each, with what explains them in brackets."""
    excerpts: tuple[Excerpt, ...] = ()
    """The lines around the places of the first divergence, of what changes it, and of what the linter found there."""
    trial: Trial | None = None
    """What trying found, where it was asked for."""
    self_test: SelfTest | None = None
    """Which planted bugs are caught, where that was asked for."""

    @property
    def status(self) -> int:
        """The exit status: 0 equal, 1 differs, 3 vacuous or not comparable, 4 a side crashed."""
        if any(side.cause for side in self.sides):
            return 4
        if any(rung.status is Status.FAIL for rung in self.rungs):
            return 1
        if self.problems:
            return 3
        compared = any(rung.status is Status.PASS for rung in self.rungs if rung.number not in _WITHOUT_VALUES)
        vacuous = any(rung.status is Status.VACUOUS for rung in self.rungs)
        return 3 if vacuous or not compared else 0

    @property
    def undecided(self) -> bool:
        """Whether training differs in what a loop draws, which may be another order: nothing is shown by it."""
        return any(rung.status is Status.VACUOUS and rung.detail.startswith(LOOP_DRAWS) for rung in self.rungs)

    @property
    def equal(self) -> bool:
        """Whether everything that was compared agrees, and something was."""
        return self.status == 0

    def rung(self, name: str) -> Rung:
        """A rung by its number or name.

        Raises:
            KeyError: if there is none of that name.
        """
        for rung in self.rungs:
            if name in (rung.number, rung.name):
                return rung
        raise KeyError(name)
