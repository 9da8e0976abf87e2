"""The rungs, each with what was compared for it and how it ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Record, Recorded, Scenario
from ..worker.recording.pairs.mapping import plain
from . import vacuity
from .batches import other_batch
from .draws import drawn, mismatch, same_seeds
from .initial_values import compare_initial_values
from .judging import Judge
from .loads import unloaded
from .measuring import largest
from .modes import compare_modes
from .pairing import Index, couples
from .report import Deviation, Rung, Status
from .rungs import RUNGS
from .tolerances import NOISE
from .training import compare_steps
from .wording import agreement, figure, subject, when
from .wording import place as shown

__all__ = ["Ladder"]

_MINIMIZED = {"loss", "gradient"}
COPIED = "both sides start from TF1's initial values, copied by the names of rung 2"
GUESSED = (
    "names differ: the variables were taken together by shape and order, as rung 2 suggests; nobody said that they "
    "are the same"
)
WITHIN_NOISE = (
    "all of this lies within three times the measured noise of the sides themselves: policy noise would tolerate it"
)


class _Walk(NamedTuple):
    """All training steps, compared.

    `problem` says that the sides got other data, `unmoved` what no step changes, `vacuous` why nothing could differ.
    """

    checks: list[Deviation]
    problem: str
    unmoved: list[str]
    vacuous: str


@dataclass
class Ladder:
    """Both recordings and what is known of them by now.

    Attributes:
        problems: why the sides cannot be compared, such as other inputs; filled by the rungs.
    """

    tf1: Recorded
    tf2: Recorded
    judge: Judge
    problems: list[str] = field(default_factory=list)
    _walked: _Walk | None = None
    _vacuous: str = ""
    _blind: str = ""
    _alone: str = ""

    def climb(self, numbers: Iterable[str]) -> tuple[Rung, ...]:
        """Every rung asked for; one that fails does not hide the rest."""
        self._vacuous = vacuity.of_pair(self.tf1, self.tf2)
        self._blind = next(
            (
                found
                for told in (vacuity.no_inputs, vacuity.blind, vacuity.always_zero)
                if (found := told(self.tf1, self.tf2, self.judge.values))
            ),
            "",
        )
        self._alone = self._within_loss()
        self.judge.without_losses = bool(self._alone)
        rungs: Mapping[str, Callable[[], Rung]] = {
            "1": self._once,
            "2": self._variables,
            "3": lambda: self._fill("3", scenarios.CONSTANT),
            "3f": lambda: self._fill("3f", scenarios.FINGERPRINT),
            "4": self._random,
            "5": self._checkpoint,
            "6": self._step,
            "7": self._steps,
            "8": self._modes,
        }
        numbers = tuple(numbers)
        # The fingerprint comes first: it measures the noise that other forward passes are held against.
        first = {"3f": self._climbed(rungs["3f"])} if "3f" in numbers else {}
        climbed = tuple(first.get(number) or self._climbed(rungs[number]) for number in numbers)
        return tuple(self._softened(rung, first.get("3f")) for rung in climbed)

    def _within_loss(self) -> str:
        """The side that adds what regularizes to its loss by itself, while the other one has regularization losses.

        That is seen in the first training step: loss and gradients agree all the same.
        """
        ones, others = (Index(scenario) for _, scenario in self._both(scenarios.STEPS))
        alone = [not any(_amount(self, one) for one in index.all("regularization", 0)) for index in (ones, others)]
        if alone[0] == alone[1]:
            return ""
        found = [couple for couple in couples(ones, others, 0, self.judge.names) if couple.known.kind in _MINIMIZED]
        checks = self.judge.all(scenarios.STEPS, found)
        if {check.kind for check in checks} != _MINIMIZED or not all(check.passed for check in checks):
            return ""
        return "TF1" if alone[0] else "TF2"

    def _climbed(self, rung: Callable[[], Rung]) -> Rung:
        """A rung, with a note on what it could not compare for want of room."""
        before = self.judge.left_out
        found = rung()
        left_out = self.judge.left_out - before
        if not left_out:
            return found
        many = "a tap or layer output was" if left_out == 1 else f"{left_out} taps and layer outputs were"
        return replace(found, notes=(*found.notes, f"{many} not compared: a side had no room (--tap-limit)"))

    # One rung each.

    def _once(self) -> Rung:
        scenario = self.tf2.scenario(scenarios.ONCE)
        if scenario.outcome != "ok":
            return _rung("1", Status.NOT_RUN, _why([("TF2", scenario)]))
        created = [one for one in scenario.said.get("created") or () if isinstance(one, Mapping)]
        if not created and _calls(scenario) and len(_calls(scenario)) == len(scenario.said.get("calls") or ()):
            return _rung("1", Status.NOT_RUN, f"no call ended well: {_calls(scenario)[0]}", notes=_calls(scenario))
        if not created:
            return _rung("1", Status.PASS, "later calls create no variables", notes=_calls(scenario))
        words = [_created(one) for one in created]
        count = "a variable" if len(words) == 1 else f"{len(words)} variables"
        return _rung("1", Status.FAIL, f"later calls create {count}: {words[0]}", notes=(*words[1:], *_calls(scenario)))

    def _variables(self) -> Rung:
        why = _why(self._both(scenarios.STRUCTURE))
        if why:
            return _rung("2", Status.NOT_RUN, why)
        if self._vacuous:
            return _rung("2", Status.VACUOUS, self._vacuous)
        names = self.judge.names
        notes = [*names.unknown]
        if names.matching.prefix:
            notes.append(f"the names of TF2 begin with {names.matching.prefix}, which was left out")
        if any(one != other for one, other in names.guessed):
            notes.append(
                "where the names differ and shapes and order agree: renames={"
                + ", ".join(f"{one!r}: {other!r}" for one, other in names.guessed[:8])
                + (", ..." if len(names.guessed) > 8 else "")
                + "}"
            )
        wrong = [row for row in names.rows if row.problem]
        if not names.rows:
            return _rung("2", Status.VACUOUS, "the pair ignores every variable of both sides", notes=tuple(notes))
        if not wrong:
            trainable = sum(names.trainable.values())
            detail = f"{len(names.rows)} variables, {trainable} of them trainable"
            return _rung("2", Status.PASS, detail, notes=tuple(notes))
        known = wrong[0].tf1 or wrong[0].tf2 or {}
        detail = f"{len(wrong)} of {len(names.rows)} variables do not match: {known.get('name')}: {wrong[0].problem}"
        return _rung("2", Status.FAIL, detail, notes=tuple(notes))

    def _fill(self, number: str, name: str) -> Rung:
        why = _why(self._both(name))
        if why:
            return _rung(number, Status.NOT_RUN, why)
        other = self._other_inputs(name)
        if other:
            return _rung(number, Status.NOT_RUN, other)
        checks, lacking = self._forward(name), self._without_outputs(name)
        if lacking and not _shows_something(checks) and all(check.passed for check in checks):
            return _rung(number, Status.NOT_RUN, lacking, checks=tuple(checks))
        notes = [*self._notes(checks), *filter(None, [lacking])]
        notes += vacuity.unmoved_outputs(self.tf1, self.tf2, self.judge.values)
        reason = self._of_outputs(name, checks) or self._blind
        if not _shows_something(checks):
            reason = reason or "no output, tap or loss counts under this policy"
        return self._settled(number, checks, notes, reason)

    def _random(self) -> Rung:
        both = self._both(scenarios.INFERENCE)
        why = _why(both)
        other = "" if why else self._other_inputs(scenarios.INFERENCE)
        if why or other:
            return _rung("4", Status.NOT_RUN, why or other)
        initial = compare_initial_values(self.judge, Index(both[0][1]), Index(both[1][1]))
        checks, notes, used = list(initial.checks), list(initial.notes), []
        broken: list[str] = []
        if initial.equal:
            judged = [scenarios.INFERENCE]
            judged += [one for one in (scenarios.TRAINING, scenarios.TRAINING_CONSTANT) if self._same_draws(one, notes)]
        else:
            judged = [scenarios.INFERENCE_COPIED]
        for scenario in (*judged, scenarios.ALIGNED):
            if all(scenario not in recorded.scenarios for recorded in (self.tf1, self.tf2)):
                continue
            missing = _why(self._both(scenario)) or self._other_inputs(scenario)
            found = [] if missing else self._forward(scenario)
            lacking = missing or self._without_outputs(scenario)
            if lacking:
                notes.append(f"{scenario}: {lacking}")
            if any(recorded.outcome == "failed" for _, recorded in self._both(scenario)):
                broken.append(f"{scenario}: {missing}")
            if not lacking or _shows_something(found):
                checks += found
                used.append(scenario)
        ledger, told = self._ledger(checks)
        notes += told
        checks = ledger + checks
        empty = "" if used else "neither inference nor training could be compared: " + "; ".join(notes)
        reason = next(filter(None, (self._of_outputs(name, checks) for name in used)), self._blind)
        if empty and not any(not check.passed for check in checks):
            return _rung("4", Status.NOT_RUN, empty, notes=tuple(notes), checks=tuple(checks))
        rung = self._settled("4", checks, (*notes, *self._notes(checks)), reason)
        return replace(rung, status=Status.NOT_RUN, detail=broken[0]) if broken and rung.status is Status.PASS else rung

    def _checkpoint(self) -> Rung:
        rung = self._restored()
        silent = unloaded(self.tf2.scenario(scenarios.STRUCTURE))
        if not silent:
            return rung
        words = [*silent, *([rung.detail] if rung.status is Status.FAIL else [])]
        return replace(rung, status=Status.FAIL, detail="; ".join(words))

    def _restored(self) -> Rung:
        both = self._both(scenarios.CHECKPOINT)
        why = _why(both)
        other = "" if why else self._other_inputs(scenarios.CHECKPOINT)
        if why or other:
            return _rung("5", Status.NOT_RUN, why or other)
        checks, notes, wrong = self._forward(scenarios.CHECKPOINT), [], []
        for side, scenario in both:
            said = scenario.said
            matched, missing = _list(said.get("matched")), _list(said.get("missing"))
            mismatched, unused = _list(said.get("mismatched")), _list(said.get("unused"))
            notes.append(f"{side}: {len(matched)} matched, {len(missing)} missing, {len(unused)} unused")
            if not matched:
                wrong.append(f"{side} took nothing from the checkpoint")
            if missing:
                wrong.append(f"{side} found no value for {_some(missing)}")
            if mismatched:
                wrong.append(f"{side} could not use {_some(mismatched)}")
            if unused:
                notes.append(f"{side} did not use {_some(unused)}")
        settled = self._settled(
            "5", checks, (*notes, *self._notes(checks)), self._of_outputs(scenarios.CHECKPOINT, checks) or self._blind
        )
        if wrong and settled.status is not Status.VACUOUS:
            return replace(
                settled, status=Status.FAIL, detail="; ".join([*wrong, *([settled.detail] if settled.failures else [])])
            )
        return settled

    def _step(self) -> Rung:
        return self._trained("6", lambda check: check.step <= 0)

    def _steps(self) -> Rung:
        return self._trained("7", lambda check: check.step > 0)

    def _trained(self, number: str, belongs: Callable[[Deviation], bool]) -> Rung:
        both = self._both(scenarios.STEPS)
        ones, others = (Index(scenario) for _, scenario in both)
        why = _why(both)
        common = [step for step in ones.steps() if step in set(others.steps()) and step >= 0]
        if why and not common:
            return _rung(number, Status.NOT_RUN, why)
        if number == "7" and common and common[-1] == 0 and not why:
            return _rung(number, Status.NOT_RUN, "only one step was recorded")
        walk = self._walk(ones, others)
        checks = [check for check in walk.checks if belongs(check)]
        notes = [
            *self._notes(checks),
            *filter(None, [self._without_outputs(scenarios.STEPS)]),
            *(_one_sided(ones, others) if number == "6" else ()),
            *walk.unmoved,
            *self._copied(),
        ]
        stopped = walk.problem or why
        if stopped and number == "6" and checks and max(common) > 0 and "step 0:" not in walk.problem:
            stopped = ""
        settled = self._settled(number, checks, notes, walk.vacuous)
        if stopped and settled.status is not Status.FAIL:
            held = f"; the {len(checks)} values until then agree" if checks else ""
            return replace(settled, status=Status.NOT_RUN, detail=stopped + held)
        return replace(settled, notes=(*settled.notes, stopped)) if stopped else settled

    def _copied(self) -> list[str]:
        """A note on the values that training begins with, where they were copied."""
        told = " ".join(str(text) for text in self.tf2.content.get("adaptations") or ())
        return [COPIED] if "copied" in told else []

    def _modes(self) -> Rung:
        checks, notes = compare_modes(self.judge, self.tf1, self.tf2)
        if not checks:
            return _rung("8", Status.NOT_RUN, "; ".join(dict.fromkeys(notes)) or "no other mode was recorded")
        ones, others = (Index(scenario) for _, scenario in self._both(scenarios.STEPS))
        failed = [check for check in checks if check.counts and not check.passed]
        never = vacuity.never_finite(ones, others, self.judge.values) if failed else ""
        return self._settled("8", checks, notes, never)

    # What the rungs have in common.

    def _both(self, name: str) -> list[tuple[str, Scenario]]:
        return [("TF1", self.tf1.scenario(self._on_tf1(name))), ("TF2", self.tf2.scenario(name))]

    def _on_tf1(self, name: str) -> str:
        """TF1 has no scenario with copied values: these are its own."""
        return scenarios.INFERENCE if name == scenarios.INFERENCE_COPIED else name

    def _forward(self, name: str) -> list[Deviation]:
        one, other = (Index(scenario) for _, scenario in self._both(name))
        found = [couple for couple in couples(one, other, 0, self.judge.names) if couple.known.kind != "variable"]
        return self.judge.all(name, found)

    def _other_inputs(self, name: str) -> str:
        one, other = (Index(scenario) for _, scenario in self._both(name))
        found = other_batch(one, other, self.judge.values)
        if found is None:
            return ""
        self._tell(f"the sides got other data: {found.text}")
        return f"the sides got other data: {found.text}"

    def _without_outputs(self, name: str) -> str:
        """Which side gives no outputs, such as a ``model_fn`` without predictions; empty where both do."""
        lacking = [side for side, scenario in self._both(name) if not Index(scenario).all("output", 0)]
        if len(lacking) == 2:
            return "neither side gives outputs"
        return f"{lacking[0]} gives no outputs, so those of the other side are not compared" if lacking else ""

    def _tell(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def _of_outputs(self, name: str, checks: Sequence[Deviation]) -> str:
        (_, one), (_, other) = self._both(name)
        found = vacuity.of_outputs(one, other, self.judge.values)
        own = [check for check in checks if check.scenario == name]
        return found or vacuity.within(own, one, other, self.judge.values)

    def _same_draws(self, name: str, notes: list[str]) -> bool:
        """Whether random numbers of a training pass can be the same on both sides."""
        one, other = (drawn(scenario) for _, scenario in self._both(name))
        if same_seeds(one, other):
            return True
        if not mismatch(one, other):
            notes.append(
                f"{name}: random operations come in another order than the initial values, so they draw other numbers; "
                f"compared in {scenarios.ALIGNED}"
            )
        return False

    def _ledger(self, checks: Sequence[Deviation]) -> tuple[list[Deviation], list[str]]:
        """What one side draws and the other does not; it counts unless the outputs of training agree all the same."""
        name = scenarios.ALIGNED
        if _why(self._both(name)):
            name = scenarios.TRAINING
        both = self._both(name)
        if _why(both):
            return [], []
        one, other = (drawn(scenario) for _, scenario in both)
        text = mismatch(one, other)
        if not text:
            return [], []
        judged = [check for check in checks if check.scenario == scenarios.ALIGNED and check.counts]
        if judged and all(check.passed for check in judged):
            return [], [f"random operations differ, but the outputs agree: {text}"]
        return [_drawn_differently(name, text)], [f"random operations: {text}"]

    def _walk(self, ones: Index, others: Index) -> _Walk:
        """What both training rungs read, once."""
        if self._walked is None:
            other = other_batch(ones, others, self.judge.values)
            problem = "" if other is None else f"the sides got other data: {other.text}"
            if problem:
                self._tell(problem)
            self._walked = _Walk(
                compare_steps(self.judge, ones, others, None if other is None else other.step),
                problem,
                self._unmoved(ones, others),
                self._nothing_learnt(ones, others) or vacuity.never_finite(ones, others, self.judge.values),
            )
        return self._walked

    def _trainable(self) -> dict[str, set[str]]:
        return {
            side: {
                plain(str(one["name"])) for one in recorded.content.get("variables", ()) if one.get("trainable", True)
            }
            for side, recorded in (("tf1", self.tf1), ("tf2", self.tf2))
        }

    def _nothing_learnt(self, ones: Index, others: Index) -> str:
        return vacuity.nothing_learnt(ones, others, self._trainable(), self.judge.values)

    def _unmoved(self, ones: Index, others: Index) -> list[str]:
        """A note on what is trainable and stays what it was on both sides: of its updates nothing was seen."""
        trainable, names = self._trainable(), self.judge.names.to_tf2
        first = vacuity.unmoved(ones, trainable["tf1"], self.judge.values)
        second = vacuity.unmoved(others, trainable["tf2"], self.judge.values)
        both = sorted(name for name in first if names.get(name) in second)
        return [f"no step changes {_some(both)}, on either side, though trainable"] if both else []

    def _notes(self, checks: Sequence[Deviation]) -> list[str]:
        notes = [GUESSED] if self.judge.names.guessed and checks else []
        notes += self._dtypes(checks)
        infinite = sorted(
            {check.kind for check in checks if math.isinf(check.tf1_value) and math.isinf(check.tf2_value)}
        )
        side = self._alone
        if side and any(check.kind == "regularization" and not check.passed for check in checks):
            other = "TF2" if side == "TF1" else "TF1"
            notes.append(
                f"{side} adds what regularizes to its loss itself, {other} has it as regularization losses: they were "
                "not compared, as loss and gradients of the first training step agree"
            )
        if infinite:
            notes.append(f"there are infinities on both sides ({', '.join(infinite)}): the fill saturates")
        return notes

    def _dtypes(self, checks: Sequence[Deviation]) -> list[str]:
        """A note on outputs and losses that are equal within what may differ, but of other dtypes."""
        found = {}
        for check in checks:
            if check.kind not in ("output", "loss") or not (check.tf1_name and check.tf2_name):
                continue
            both = [
                Index(scenario).find(check.kind, name, check.step)
                for (_, scenario), name in zip(
                    self._both(check.scenario), (check.tf1_name, check.tf2_name), strict=True
                )
            ]
            if both[0] is not None and both[1] is not None and both[0].dtype != both[1].dtype:
                found[check.kind, check.tf1_name] = f"{both[0].dtype} on TF1, {both[1].dtype} on TF2"
        return [f"{kind if kind == name else f'{kind} {name}'}: {words}" for (kind, name), words in found.items()]

    def _settled(self, number: str, checks: Sequence[Deviation], notes: Iterable[str], vacuous: str) -> Rung:
        """A rung whose values were compared."""
        counted = [check for check in checks if check.counts]
        failed = [check for check in counted if not check.passed]
        status, detail, needed = self._verdict(counted, failed, self._vacuous or vacuous)
        notes = [*notes, *([WITHIN_NOISE] if status is Status.FAIL and all(map(_noisy, failed)) else [])]
        return _rung(number, status, detail, needed, tuple(dict.fromkeys(notes)), tuple(checks))

    def _verdict(
        self, counted: Sequence[Deviation], failed: Sequence[Deviation], vacuous: str
    ) -> tuple[Status, str, str]:
        """How a rung ended, in a line, and with which tolerance it would have passed."""
        if vacuous and (self._vacuous or all("NaN on both" in check.problem for check in failed)):
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

    def _softened(self, rung: Rung, fingerprint: Rung | None) -> Rung:
        """Zero outputs at 0.001, or at initial values, show nothing; that does not matter where the other fill does."""
        if rung.number not in ("3", "4") or rung.status is not Status.VACUOUS or fingerprint is None or self._vacuous:
            return rung
        if fingerprint.status in (Status.PASS, Status.FAIL):
            return replace(rung, status=Status.NOT_RUN, detail=f"{rung.detail}: nothing to compare, rung 3f does")
        return rung


def _rung(
    number: str,
    status: Status,
    detail: str,
    needed: str = "",
    notes: tuple[str, ...] = (),
    checks: tuple[Deviation, ...] = (),
) -> Rung:
    name, title = RUNGS[number]
    return Rung(number, name, title, status, detail, needed, notes, checks)


def _why(both: Iterable[tuple[str, Scenario]]) -> str:
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


def _one_sided(ones: Index, others: Index) -> list[str]:
    """What only one side recorded of the first step, so that nothing was compared of it."""
    notes = []
    for kind, words in (
        ("loss", "loss"),
        ("learning_rate", "learning rate"),
        ("gradient", "gradients"),
        ("slot", "optimizer slots"),
    ):
        found = [side for side, index in (("TF1", ones), ("TF2", others)) if index.all(kind, 0)]
        if len(found) == 1:
            notes.append(f"{words}: seen on the {found[0]} side only, so nothing was compared")
    return notes


def _amount(ladder: Ladder, record: Record) -> float:
    return largest(ladder.judge.values.of(record)) if record.kept else 0.0


def _shows_something(checks: Iterable[Deviation]) -> bool:
    """Whether something of a pass was compared that its outputs depend on, or that depends on them."""
    return any(check.counts and check.kind in ("output", "tap", "loss") for check in checks)


def _noisy(check: Deviation) -> bool:
    return check.floor is not None and check.error <= NOISE.factor * check.floor


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


def _created(one: Mapping[str, Any]) -> str:
    place = one.get("place")
    where = f" at {shown((str(place[0]), int(place[1])))}" if place else ""
    return f"{one.get('name', 'a variable')} {list(one.get('shape') or ())}{where} in {one.get('call', 'a later call')}"


def _calls(scenario: Scenario) -> tuple[str, ...]:
    """The calls that did not end well."""
    calls = [call for call in scenario.said.get("calls") or () if isinstance(call, Mapping)]
    return tuple(f"{call.get('name')}: {call.get('ended')}" for call in calls if call.get("ended") != "ok")


def _drawn_differently(scenario: str, text: str) -> Deviation:
    nan = float("nan")
    return Deviation(
        scenario=scenario,
        kind="random",
        tf1_name="random operations",
        tf2_name="random operations",
        step=0,
        order=-1,
        dtype="",
        shape=(),
        passed=False,
        counts=True,
        error=nan,
        relative=nan,
        at=(),
        tf1_value=nan,
        tf2_value=nan,
        rtol=0.0,
        atol=0.0,
        excess=nan,
        floor=None,
        needed_rtol=nan,
        tf1_place=None,
        tf2_place=None,
        problem=text,
    )


def _list(value: Any) -> list[str]:
    found = value if isinstance(value, list) else []
    return [str(one.get("name", one)) if isinstance(one, Mapping) else str(one) for one in found]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
