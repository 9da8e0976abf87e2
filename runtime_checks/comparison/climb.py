"""What the rungs share: both recordings, what is known of them by now, and how compared values settle a rung."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Recorded, Scenario
from . import vacuity
from .batches import other_batch
from .divergence import is_noise
from .draws import drawn, in_turns, mismatch, repeating
from .float64 import compare_float64
from .judging.judge import Judge
from .judging.measuring import largest
from .judging.pairing import Index, couples
from .judging.tolerances import is_short
from .passes import Pass
from .results import Cause, Deviation, RandomOp, Status
from .training import Training, compare_training
from .wording import agreement, figure, some, spoken, subject, when
from .wording import place as shown

__all__ = ["COPIED", "FIRST", "GUESSED", "WITHIN_NOISE", "Climb", "Settled", "shows_something", "why_missing"]

FIRST = "fingerprint"
"""The rung that is climbed first: it measures the noise that other forward passes are held against."""
COPIED = "both sides start from TF1's initial values, copied by the names of rung 2"
GUESSED = (
    "names differ: the variables were taken together by shape and order, as rung 2 suggests; nobody said that they "
    "are the same"
)
BRIEF = (
    "neither operations nor all of the noise were recorded in this run, which found nothing by its own policy or ended "
    "early: run both sides again"
)
WITHIN_NOISE = (
    "all of this lies within three times the measured noise of the sides themselves: policy noise would tolerate it"
)
UNMEASURED = (
    "no noise was measured of what differs, as of a side that runs itself: what training amplifies of rounding was "
    "allowed nothing, and --policy guide has bounds of its own"
)
_EXACT = 1e-3
"""The share of a value up to which noise covers no difference."""
_MOSTLY = 0.01
"""What float64 leaves of a difference that is nearly all rounding."""
_COMPUTED = ("output", "evaluation", "loss", "metric", "gradient")
_MINIMIZED, _MOVED = {"loss", "gradient"}, {"loss", "variable"}
"""What tells that both sides minimize the same thing, and the same where a side says nothing of gradients."""


class Settled(NamedTuple):
    """How a rung ended: see `Rung`; `left` is what it did not compare, see `Results.not_compared`."""

    status: Status
    detail: str
    needed: str = ""
    notes: tuple[str, ...] = ()
    checks: tuple[Deviation, ...] = ()
    names: Mapping[str, tuple[str, ...]] = {}
    left: tuple[str, ...] = ()


class Climb:
    """Both recordings and what is known of them by now.

    Attributes:
        tf1: the TF1 side.
        tf2: the TF2 side.
        judge: compares their values.
        problems: why the sides cannot be compared, such as other inputs; filled by the rungs.
        rungs: how those ended that were climbed, by name.
        vacuous: why no value of the pair can show anything; empty where it can.
        blind: why no output can.
        float64: what was computed in float64.
        variants: what the TF2 side recorded in other settings.
        causes: why it is not what it was in one of them; filled by the rungs.
    """

    def __init__(self, tf1: Recorded, tf2: Recorded, judge: Judge, variants: Sequence[Recorded] = ()) -> None:
        self.tf1 = tf1
        self.tf2 = tf2
        self.judge = judge
        self.variants = tuple(variants)
        self.problems: list[str] = []
        self.causes: list[Cause] = []
        self.rungs: dict[str, Settled] = {}
        self.vacuous = vacuity.of_pair(tf1, tf2)
        told = (vacuity.no_inputs, vacuity.blind, vacuity.always_zero)
        self.blind = next(filter(None, (tell(tf1, tf2, judge.values) for tell in told)), "")
        self._indexed: dict[str, tuple[Index, Index]] = {}
        self._alone, self._why_alone = self._within_loss()
        judge.without_losses = bool(self._alone)
        self.float64 = compare_float64(judge, tf1, tf2)
        judge.proven, judge.alike = self.float64.proven, self.float64.alike

    def both(self, name: str) -> list[tuple[str, Scenario]]:
        """A scenario of TF1, in words, and of TF2; TF1 has none with copied values, as these are its own."""
        on_tf1 = scenarios.INFERENCE if name == scenarios.INFERENCE_COPIED else name
        return [("TF1", self.tf1.scenario(on_tf1)), ("TF2", self.tf2.scenario(name))]

    def indexes(self, name: str) -> tuple[Index, Index]:
        """The records of both sides in a scenario."""
        (_, one), (_, other) = self.both(name)
        return Index(one), Index(other)

    def forward(self, name: str) -> list[Deviation]:
        """What a forward pass gave, compared."""
        found = couples(*self.indexes(name), 0, self.judge.names)
        return self.judge.all(name, [couple for couple in found if couple.known.kind != "variable"])

    def filled(self, name: str) -> Settled:
        """How inference with variables that were filled ends a rung."""
        why = why_missing(self.both(name)) or self.other_inputs(name)
        if why:
            return Settled(Status.NOT_RUN, why)
        checks, lacking = self.forward(name), self.without_outputs(name)
        if lacking and not shows_something(checks) and all(check.passed for check in checks):
            return Settled(Status.NOT_RUN, lacking, checks=tuple(checks))
        notes = [*self.notes(checks), *filter(None, [lacking])]
        notes += vacuity.unmoved_outputs(self.tf1, self.tf2, self.judge.values)
        reason = self.of_outputs(name, checks) or self.blind
        if not shows_something(checks):
            reason = reason or "no output, tap or loss counts under this policy"
        if self.sampled and not all(check.passed for check in checks if check.counts):
            return Settled(Status.NOT_RUN, self.sampled, notes=tuple(notes))
        return self.settle(checks, notes, reason)

    def unless_fingerprint_shows(self, settled: Settled) -> Settled:
        """Zero outputs at 0.001, or at initial values, show nothing; that does not matter where the other fill does."""
        shown_by = self.rungs.get(FIRST)
        if settled.status is not Status.VACUOUS or shown_by is None or self.vacuous:
            return settled
        if shown_by.status in (Status.PASS, Status.FAIL):
            return settled._replace(status=Status.NOT_RUN, detail=f"{settled.detail}: nothing to compare, rung 3f does")
        return settled

    @cached_property
    def untouched(self) -> str:
        """Why no weight of TF2 was given a value, though it has some; empty where one could be given."""
        rows = self.tf2.content.get("variables") or ()
        if not rows or not self.tf1.content.get("variables") or any(row.get("tracked", True) for row in rows):
            return ""
        return (
            "weights cannot be made equal: the TF2 model tracks none of its variables, as a tf.Module does not track "
            "those of layers of Keras 3"
        )

    @cached_property
    def turns(self) -> str:
        """Why what one side draws turn by turn, and the other at once, is not compared; empty where a pass agrees.

        Where it does not, that may be for another order of the turns, as in what runs backwards.
        """
        text = in_turns(*self._drawn())
        if not text:
            return ""
        checks = [] if why_missing(self.both(scenarios.ALIGNED)) else self.forward(scenarios.ALIGNED)
        counting = [check for check in checks if check.counts]
        if shows_something(counting) and all(check.passed and _is_exact(check) for check in counting):
            return ""
        return (
            f"cannot be compared: {text}: the shapes fit, and with the numbers of each turn a training pass differs, "
            "as it does where turns are counted from the other end, or something else is computed. To tell, switch "
            "dropout off on both sides (keep_prob 1, rate 0); where it stands, and its rate, are then for you to look "
            "at"
        )

    @cached_property
    def branching(self) -> str:
        """Why steps after the first are not compared, where TF1's turns are branches; empty where it has none.

        One that is not taken draws nothing, and draws in a later step what the other side drew in this one.
        """
        rows = self.tf1.scenario(scenarios.STEPS).said.get("random_ops") or ()
        if not in_turns(*self._drawn()) or not any(row.get("sometimes") for row in rows if isinstance(row, Mapping)):
            return ""
        return (
            "cannot be compared: TF1 draws in branches, as a static_rnn with sequence_length does, and one that a "
            "step does not take draws its numbers in a later one; the first step was compared. Give each batch a row "
            "of full length to compare them all"
        )

    @cached_property
    def sampled(self) -> str:
        """Why outputs of inference cannot be compared that a loop draws; empty where both sides draw alike, or not so.

        Words that a network samples one after another are such: other numbers give other words, of the right port too.
        """
        both = self.both(scenarios.INFERENCE)
        if why_missing(both):
            return ""
        ones, others = (drawn(scenario) for _, scenario in both)
        text = mismatch(ones, others)
        if not text or not any(map(repeating, (ones, others))):
            return ""
        return f"cannot be compared: what a loop draws in inference is not aligned: {text}"

    @cached_property
    def unlike(self) -> str:
        """Why nothing that depends on the random numbers of training steps can be compared; empty where it can.

        What a loop draws and the other side does not, is aligned with nothing: a value that differs shows nothing.
        """
        text = self.turns or mismatch(*self._drawn())
        if self.turns or not text or not any(repeating(draws) for draws in self._drawn()):
            return self.turns
        return f"cannot be compared: what a loop draws is not aligned: {text}"

    def _drawn(self) -> tuple[Sequence[RandomOp], Sequence[RandomOp]]:
        for name in (scenarios.ALIGNED, scenarios.STEPS, scenarios.TRAINING):
            (_, one), (_, other) = self.both(name)
            if not why_missing(self.both(name)):
                return drawn(one), drawn(other)
        return (), ()

    @cached_property
    def training(self) -> Training:
        """All training steps, compared once for all rungs."""
        found = compare_training(self.judge, self.tf1, self.tf2)
        self._tell(found.problem)
        return found

    def trained(self, checks: Sequence[Deviation], notes: Iterable[str], stopped: str) -> Settled:
        """How some of the training steps end a rung.

        Args:
            checks: of these steps.
            notes: what there is to say of them.
            stopped: why not all of them could be compared; empty where they could.
        """
        still = self.training.unmoved
        notes = [
            *self.notes(checks),
            *filter(None, [self.without_outputs(scenarios.STEPS)]),
            *notes,
            *filter(None, [self.training.amplified]),
            *([f"not compared: {self.training.open_order}"] if self.training.open_order else []),
            *([f"no step changes {some(still)}, on either side, though trainable"] if still else []),
            *self._copied(),
        ]
        if self.unlike:
            checks = [check for check in checks if check.kind == "learning_rate" or check.step < 0]
            stopped = self.unlike
        settled = self.settle(checks, notes, self.training.vacuous)
        if stopped and settled.status is not Status.FAIL:
            held = f"; the {len(checks)} values until then agree" if checks and not self.unlike else ""
            return settled._replace(status=Status.NOT_RUN, detail=stopped + held)
        return settled._replace(notes=(*settled.notes, stopped)) if stopped else settled

    def other_inputs(self, name: str) -> str:
        """Says so where the sides got other data; a problem of the whole comparison."""
        found = other_batch(*self.indexes(name), self.judge.values)
        problem = "" if found is None else f"the sides got other data: {found.text}"
        self._tell(problem)
        return problem

    def without_outputs(self, name: str) -> str:
        """Which side gives no outputs, such as a ``model_fn`` without predictions; empty where both do."""
        lacking = [side for side, scenario in self.both(name) if not Index(scenario).all("output", 0)]
        if len(lacking) == 2:
            return "neither side gives outputs"
        return f"{lacking[0]} gives no outputs, so those of the other side are not compared" if lacking else ""

    def of_outputs(self, name: str, checks: Sequence[Deviation]) -> str:
        """Why the outputs of a scenario show nothing; empty where they do."""
        (_, one), (_, other) = self.both(name)
        found = vacuity.of_outputs(one, other, self.judge.values)
        own = [check for check in checks if check.scenario == name]
        return found or vacuity.within(own, one, other, self.judge.values)

    def notes(self, checks: Sequence[Deviation]) -> list[str]:
        """What a reader must know of some values, whichever rung they are of."""
        notes = [GUESSED] if self.judge.names.guessed and checks else []
        notes += self._dtypes(checks)
        notes += self._rounded(checks)
        infinite = sorted(
            {check.kind for check in checks if math.isinf(check.tf1_value) and math.isinf(check.tf2_value)}
        )
        side = self._alone
        if side and any(check.kind == "regularization" and not check.passed for check in checks):
            other = "TF2" if side == "TF1" else "TF1"
            notes.append(
                f"{side} adds what regularizes to its loss itself, {other} has it as regularization losses: they were "
                f"not compared, {self._why_alone}"
            )
        if infinite:
            notes.append(f"there are infinities on both sides ({', '.join(infinite)}): the fill saturates")
        return notes

    def _rounded(self, checks: Sequence[Deviation]) -> list[str]:
        """A note on values that differ, and of which float64 shows that they are the same."""
        own = [(check, self.judge.proof(check)) for check in checks if check.counts and not check.passed]
        found = [(check, proof) for check, proof in own if proof is not None]
        notes = []
        if found:
            names = some([subject(check) for check, _ in found])
            agree = f"in float64 both sides agree to {figure(max(proof.error for _, proof in found))}"
            notes.append(f"{names}: {agree}, so what differs here is rounding of float32")
        wide = [(check, self.float64.apart.get((check.scenario, check.kind, check.tf1_name))) for check, _ in own]
        mostly = [(check, one.error) for check, one in wide if one is not None and one.error < _MOSTLY * check.error]
        if mostly:
            names = some([subject(check) for check, _ in mostly])
            left = figure(max(error for _, error in mostly))
            told = f"in float64 both sides are at most {left} apart, so nearly all of what differs here is rounding"
            notes.append(f"{names}: {told} of float32")
        return notes

    def settle(self, checks: Sequence[Deviation], notes: Iterable[str], vacuous: str) -> Settled:
        """How values that were compared end a rung; `vacuous` says why they could not have failed."""
        counted = [check for check in checks if check.counts]
        failed = [check for check in counted if not check.passed]
        status, detail, needed = self._verdict(counted, failed, self.vacuous or vacuous)
        notes = [*notes, *([WITHIN_NOISE] if status is Status.FAIL and all(map(is_noise, failed)) else [])]
        if status is Status.FAIL and any(one.content.get("brief") for one in (self.tf1, self.tf2)):
            notes.append(BRIEF)
        if status is Status.FAIL and self.judge.policy.base == "noise" and failed and all(map(_unmeasured, failed)):
            notes.append(UNMEASURED)
        return Settled(status, detail, needed, tuple(dict.fromkeys(notes)), tuple(checks))

    def _tell(self, problem: str) -> None:
        if problem and problem not in self.problems:
            self.problems.append(problem)

    def _within_loss(self) -> tuple[str, str]:
        """The side that adds what regularizes to its loss by itself, while the other one has regularization losses.

        That is seen in the first training step: loss and gradients agree all the same, or loss and weights where a side
        tells no gradients. Whether updates agree, down to the rounding of a gradient, is for that rung. Where they
        differ, a part of that loss depends on weights alone: then the losses themselves are what can be compared.

        Returns: the side, empty where there is none, and why regularization losses are not compared.
        """
        values = self.judge.values
        ones, others = self.indexes(scenarios.STEPS)
        penalties = (index.all("regularization", 0) for index in (ones, others))
        alone = [not any(largest(values.of(one)) for one in records if one.kept) for records in penalties]
        if alone[0] == alone[1]:
            return "", ""
        side = "TF1" if alone[0] else "TF2"
        told = all(index.all("gradient", 0) for index in (ones, others))
        kinds = _MINIMIZED if told else _MOVED
        found = [couple for couple in couples(ones, others, 0, self.judge.names) if couple.known.kind in kinds]
        checks = self.judge.all(scenarios.STEPS, found)
        if {check.kind for check in checks} == kinds and all(check.passed for check in checks):
            return side, "as loss and gradients, or weights, of the first training step agree"
        differ = any(check.kind == "loss" and not check.passed for check in checks)
        if differ and self._adds(ones if alone[0] else others):
            return side, "as the losses of the first training step are, which differ"
        return "", ""

    def _adds(self, index: Index) -> bool:
        """Whether the loss of the first step has a part that depends on weights alone, as far as operations tell."""
        record = index.find("operation", "all", 0)
        if record is None or not record.kept:
            return False
        run = Pass(record, self.judge.values.of(record))
        shares = [run.of_variables("loss", loss.name) for loss in index.all("loss", 0)]
        return any(share is not None and share.value for share in shares)

    def _copied(self) -> list[str]:
        """A note on the values that training begins with, where they were copied."""
        told = " ".join(str(text) for text in self.tf2.content.get("adaptations") or ())
        return [COPIED] if "copied" in told else []

    def other_dtypes(self, checks: Iterable[Deviation]) -> dict[tuple[str, str], tuple[str, str]]:
        """The dtypes of values that have another one on each side, by kind and TF1 name.

        They are equal within the digits of the coarser one; dtypes of variables are compared as such.
        """
        found = {}
        for check in checks:
            if check.kind not in _COMPUTED or not (check.tf1_name and check.tf2_name):
                continue
            names = (check.tf1_name, check.tf2_name)
            both = [
                index.find(check.kind, name, check.step)
                for index, name in zip(self._indexes(check.scenario), names, strict=True)
            ]
            if both[0] is not None and both[1] is not None and both[0].dtype != both[1].dtype:
                found[check.kind, check.tf1_name] = (both[0].dtype, both[1].dtype)
        return found

    def _indexes(self, name: str) -> tuple[Index, Index]:
        """As `indexes`, made once."""
        if name not in self._indexed:
            self._indexed[name] = self.indexes(name)
        return self._indexed[name]

    def _dtypes(self, checks: Sequence[Deviation]) -> list[str]:
        """A note on values that are equal within what may differ, but of other dtypes."""
        names: dict[str, list[str]] = {}
        for (kind, name), (one, other) in self.other_dtypes(checks).items():
            if kind in ("output", "loss") or is_short(one) or is_short(other):
                names.setdefault(f"{one} on TF1, {other} on TF2", []).append(spoken(kind, name))
        return [f"{some(found)}: {words}" for words, found in names.items()]

    def _verdict(
        self, counted: Sequence[Deviation], failed: Sequence[Deviation], vacuous: str
    ) -> tuple[Status, str, str]:
        """How a rung ended, in a line, and with which tolerance it would have passed."""
        if vacuous and (self.vacuous or all("NaN on both" in check.problem for check in failed)):
            return Status.VACUOUS, vacuous, ""
        if failed:
            first = failed[0]
            time = when(first)
            what = f"{subject(first)}{f' {time}' if time else ''}: {agreement(first)}"
            return Status.FAIL, f"{len(failed)} of {len(counted)} values differ: {what}", _needed(failed)
        if not counted:
            return Status.VACUOUS, "the sides have nothing in common that could be compared", ""
        worst = max(counted, key=lambda check: check.excess)
        most = f"at most {figure(worst.excess)} x the tolerance" if worst.excess else "all identical"
        number = "1 value agrees" if len(counted) == 1 else f"{len(counted)} values agree"
        return Status.PASS, f"{number}, {most}", ""


def why_missing(both: Iterable[tuple[str, Scenario]]) -> str:
    """Why a scenario is not there on both sides; empty if it is."""
    both = tuple(both)
    if len({(scenario.outcome, scenario.detail) for _, scenario in both}) == 1 and both[0][1].outcome == "not run":
        return both[0][1].detail
    words = []
    for side, scenario in both:
        if scenario.outcome == "failed":
            where = f" ({shown(scenario.place)})" if scenario.place else ""
            words.append(f"{side} failed: {scenario.detail}{where}")
        elif scenario.outcome != "ok":
            words.append(f"{side}: {scenario.detail}")
    return "; ".join(words)


def _unmeasured(check: Deviation) -> bool:
    """Whether it is a number of a training step whose noise is not known."""
    return check.kind in ("update", "variable", "gradient", "slot") and check.floor is None and not check.problem


def shows_something(checks: Iterable[Deviation]) -> bool:
    """Whether something of a pass was compared that its outputs depend on, or that depends on them."""
    return any(check.counts and check.kind in ("output", "tap", "loss") for check in checks)


def _is_exact(check: Deviation) -> bool:
    """Whether noise, which a side that draws otherwise each time has a lot of, cannot be why a value passes."""
    return check.floor is None or check.floor <= _EXACT * max(1.0, abs(check.tf1_value))


def _needed(failed: Sequence[Deviation]) -> str:
    """The tolerance with which all of that would have passed; empty if there is none."""
    if any(check.problem for check in failed):
        return ""
    relative = max(check.needed_rtol for check in failed)
    if math.isfinite(relative):
        atol = max(check.atol for check in failed)
        return f"rtol {figure(_up(relative))} (atol {figure(atol)})"
    error = max(check.error for check in failed)
    return f"atol {figure(_up(error))}" if math.isfinite(error) else ""


def _up(value: float) -> float:
    """Rounded up to three significant digits, so that the figure really would have passed."""
    if value <= 0 or not math.isfinite(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / unit * (1 - 1e-12)) * unit
