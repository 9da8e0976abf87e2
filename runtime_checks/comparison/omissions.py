"""What a side has, or would do, and no rung compared: a report that passes says so."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Record, Recorded
from ..worker.recording.pairs.mapping import ignored, plain
from ..worker.recording.values import sampling
from .climb import Climb, Settled, why_missing
from .draws import drawn, unaligned
from .initial_values import compare_initial_values
from .judging.naming import read_by_rates
from .judging.pairing import Index, couples, slot_of
from .judging.tolerances import coarser, is_short
from .metrics import paired
from .rates import compare_rates
from .results import NEVER, Status
from .rungs import ORACLE, RUNGS, VARIANTS, Definition
from .rungs.modes import AMPLIFIED, NOISELESS, UNLIKE
from .settings import settings
from .wording import label, some, spoken
from .wording import place as shown

__all__ = ["not_compared"]

_PASSES = (scenarios.FINGERPRINT, scenarios.ALIGNED, scenarios.STEPS)
"""Where what only one side records is looked for."""
_KINDS = {
    "output": "output",
    "evaluation": "output of inference after training",
    "loss": "loss",
    "metric": "metric of training",
    "learning_rate": "learning rate",
    "gradient": "gradients",
    "slot": "optimizer slots",
    "tap": "outputs of layers",
}
_COUNTED = ("gradient", "tap")
"""Kinds of which there are many: their number is told."""
_TITLES = {"evaluation": "evaluation", "checkpoint": "a TF1 checkpoint"}


def not_compared(climb: Climb, asked: Sequence[Definition]) -> tuple[str, ...]:
    """Everything of which the verdict says nothing, each as a few words, with what explains them in brackets.

    Args:
        climb: with all rungs that were asked for.
        asked: these.
    """
    found = [
        *_of_settings(climb),
        *_averages(climb),
        *_ignored(climb),
        *_counters(climb),
        *_rungs(climb, asked),
        *_batches(climb, asked),
        *_alike(climb),
        *_one_sided(climb),
        *_in_training(climb),
        *itertools.chain(*(settled.left for settled in climb.rungs.values())),
        *_metrics(climb, asked),
        *_rates(climb, asked),
        *_unbuilt(climb),
        *_other_steps(climb),
        *_first_sessions(climb),
        *_random(climb),
        *_switched_off(climb),
        *_still(climb),
        *_amplified(climb),
        *_raised(climb),
        *_room(climb),
        *_sampled(climb),
        *_digits(climb),
        _never(asked),
    ]
    return tuple(dict.fromkeys(found))


def _never(asked: Sequence[Definition]) -> str:
    """What was never compared, without the settings that the TF2 side was run in."""
    words = {"device": "other devices, ", "strategy": "distribution strategies, ", "precision": "mixed precision, "}
    found = NEVER
    for rung in asked:
        found = found.replace(words.get(rung.name, "\0"), "")
    return found


def _sides(climb: Climb) -> tuple[tuple[str, Recorded], tuple[str, Recorded]]:
    return ("TF1", climb.tf1), ("TF2", climb.tf2)


def _of_settings(climb: Climb) -> Iterator[str]:
    names = climb.judge.names
    if "settings" in climb.rungs:
        found = settings(climb.tf1, climb.tf2, names.to_tf2, names.ignore)
        yield from (one.text for one in found if one.equal is None and not _is_seen(climb, one.kind))


def _is_seen(climb: Climb, kind: str) -> bool:
    """Whether a rung passed that would have failed by a setting: of dropout that drops on both sides, of a momentum."""
    passed = {name for name, settled in climb.rungs.items() if settled.status is Status.PASS}
    if kind == "dropout rate":
        return "random" in passed and all(drawn(scenario) for _, scenario in climb.both(scenarios.ALIGNED))
    return kind == "moving statistics" and not passed.isdisjoint({"step", "steps"})


def _other_steps(climb: Climb) -> Iterator[str]:
    """A pair has one training step: what a program's steps share, such as an optimizer, shows in none of its pairs."""
    others = climb.tf1.content.get("other_steps") or ()
    if others and {"step", "steps"} & climb.rungs.keys():
        places = [shown((str(place[0]), int(place[1]))) for place in others if place]
        made = f" (their optimizers are made at {some(list(dict.fromkeys(places)))})" if places else ""
        yield (
            f"{len(others)} other training step{'' if len(others) == 1 else 's'} of TF1's graph{made}: neither their "
            "order nor what they share, as one optimizer; a pair whose sides run themselves compares them together"
        )


def _first_sessions(climb: Climb) -> Iterator[str]:
    """A program that was run up to its first session does more in it: it may give its weights other values."""
    programs = climb.tf1.content.get("first_sessions") or ()
    if programs and {"random", "step", "steps", "evaluation"} & climb.rungs.keys():
        yield f"what {some(list(map(str, programs)))} does after its first session began, such as loading weights"


def _unbuilt(climb: Climb) -> Iterator[str]:
    """The program may begin with a model that was never called, which `train` calls before its first step."""
    raised = climb.tf2.content.get("unbuilt")
    if raised and "steps" in climb.rungs:
        yield f"a first training step of a TF2 model that nothing has called before, which raises (TF2: {raised})"


def _still(climb: Climb) -> Iterator[str]:
    """What never moves says nothing of how it is computed with: the batches may not come to it."""
    if climb.training.unmoved and {"step", "steps"} & climb.rungs.keys():
        yield f"weights that no training step changes ({some(climb.training.unmoved)})"


def _averages(climb: Climb) -> Iterator[str]:
    for side, recorded in _sides(climb):
        rows = [row for row in recorded.content.get("averages") or () if isinstance(row, Mapping)]
        values = [str(row["name"]) for row in rows if not row.get("weight")]
        still = [str(row["name"]) for row in rows if row.get("weight") and not row.get("updated", True)]
        if values:
            yield f"moving averages of what is no weight ({side}: {some(values)})"
        if still:
            yield f"a moving average that no training step of {side} updates ({some(still)})"


def _ignored(climb: Climb) -> Iterator[str]:
    keys = climb.judge.names.ignore
    if not keys:
        return
    for side, recorded in _sides(climb):
        rows = recorded.content.get("variables") or ()
        names = [str(row["name"]) for row in rows if ignored(plain(str(row["name"])), keys)]
        if names:
            yield f"{_many(len(names), 'variable')} of {side} that the pair ignores ({some(names)})"


def _counters(climb: Climb) -> Iterator[str]:
    """What counts steps belongs to the optimizer on TF1, and may be a variable of the model on TF2."""
    rows = climb.tf2.content.get("other_variables") or ()
    names = [str(row["name"]) for row in rows if row.get("purpose") == "counter" and row.get("tracked")]
    if names:
        yield f"what counts the steps ({some(names)} of TF2)"


def _rungs(climb: Climb, asked: Sequence[Definition]) -> Iterator[str]:
    for rung in asked:
        settled = climb.rungs[rung.name]
        if settled.status is Status.NOT_RUN and not _said_elsewhere(settled, rung):
            yield f"{_TITLES.get(rung.name, f'rung {rung.number}, {rung.title}')} ({settled.detail.rstrip('.')})"
    above = [rung.number for rung in RUNGS if rung not in asked and rung.name not in (ORACLE, *VARIANTS)]
    if above:
        numbers = f"rung {above[0]}" if len(above) == 1 else f"rungs {above[0]} to {above[-1]}"
        yield f"{numbers} (--until)"


def _batches(climb: Climb, asked: Sequence[Definition]) -> Iterator[str]:
    """What input pipelines give beyond the batches that were looked at."""
    both = climb.both(scenarios.DATA)
    if not any(rung.name == "data" for rung in asked) or why_missing(both):
        return
    open_ended = [side for side, scenario in both if not scenario.said.get("ended")]
    if open_ended:
        count = min(len({record.step for record in scenario.of_kind("data")}) for _, scenario in both)
        sides = " and ".join(open_ended)
        yield f"what the input pipelines of {sides} give after batch {count - 1} (the limit of rung 0)"


def _alike(climb: Climb) -> Iterator[str]:
    """What is read off the batches and is the same in all of them: a mask or lengths, where no row is padded."""
    for side, recorded in _sides(climb):
        for row in recorded.content.get("alike") or ():
            place = row.get("place")
            where = f" at {shown((str(place[0]), int(place[1])))}" if place else ""
            yield (
                f"padding, which {side} reads off the batch ({row['op']}{where} is {_value(row['value'])} everywhere, "
                "as no row of any batch is padded)"
            )
    given: dict[str, set[Any]] = {}
    for name in (scenarios.FINGERPRINT, scenarios.STEPS):
        for record in climb.tf1.scenario(name).of_kind("input"):
            if record.kept and record.dtype.startswith(("int", "uint", "bool")) and math.prod(record.shape) > 1:
                given.setdefault(record.name, set()).update(np.unique(climb.judge.values.of(record)).tolist()[:2])
    for name, values in given.items():
        if len(values) == 1:
            yield f"what {name} tells besides (it is {_value(values.pop())} everywhere, in every batch)"


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:.6g}" if isinstance(value, float) else str(value)


def _said_elsewhere(settled: Settled, rung: Definition) -> bool:
    """Of the rates that cannot be known it is said by themselves."""
    return rung.name == "schedule" and bool(settled.detail)


def _one_sided(climb: Climb) -> Iterator[str]:
    """What only one side records, in no pass that both sides ran beside a counterpart."""
    alone: dict[tuple[str, str], dict[str, None]] = {}
    met: set[tuple[str, str, str]] = set()
    for name in _PASSES:
        if why_missing(climb.both(name)):
            continue
        ones, others = climb.indexes(name)
        for step in sorted({*ones.steps()} & {*others.steps()}):
            found = couples(ones, others, step, climb.judge.names)
            whole = [couple for couple in found if couple.tf1 is not None and couple.tf2 is not None]
            taken = {id(record) for couple in whole for record in (couple.tf1, couple.tf2)}
            for side, index in (("TF1", ones), ("TF2", others)):
                for kind in _KINDS:
                    for record in index.all(kind, step):
                        if id(record) in taken:
                            met.add((kind, side, _name(record)))
                        elif not _known_alone(record, climb, side):
                            alone.setdefault((kind, side), {})[_name(record)] = None
    for kind, words in _KINDS.items():
        for side in ("TF1", "TF2"):
            names = [name for name in alone.get((kind, side), ()) if (kind, side, name) not in met]
            if names and kind in _COUNTED:
                yield f"{words} without a counterpart ({len(names)} of {side})"
            elif names == [kind]:
                yield f"{words} of {side} alone"
            elif names:
                yield f"{words} of {side} alone ({some(names)})"


def _in_training(climb: Climb) -> Iterator[str]:
    """Outputs that one side gives outside of training alone, so that those of the other side's training say nothing."""
    name = scenarios.TRAINING if why_missing(climb.both(scenarios.ALIGNED)) else scenarios.ALIGNED
    passes = [climb.both(one) for one in (scenarios.FINGERPRINT, name)]
    if any(why_missing(both) for both in passes):
        return
    begun, trained = ([side for side, scenario in both if Index(scenario).all("output", 0)] for both in passes)
    if len(begun) == 2 and len(trained) == 1:
        yield f"outputs of a training pass ({'TF2' if trained == ['TF1'] else 'TF1'} gives none there)"


def _known_alone(record: Record, climb: Climb, side: str) -> bool:
    """Whether rung 2 or the rung of settings tells of it: a variable without a counterpart, an average."""
    if record.kind == "slot":
        return slot_of(record).startswith("ema.")
    if record.kind != "gradient":
        return False
    names = climb.judge.names.to_tf2
    return plain(record.name) not in (names if side == "TF1" else names.values())


def _name(record: Record) -> str:
    return slot_of(record) if record.kind == "slot" else record.name


def _metrics(climb: Climb, asked: Sequence[Definition]) -> Iterator[str]:
    both = climb.both(scenarios.EVALUATED)
    if not any(rung.name == "evaluation" for rung in asked) or why_missing(both):
        return
    ones, others = climb.indexes(scenarios.EVALUATED)
    for step in ones.steps():
        yield from paired(ones, others, step)[1]
    if not any(index.all("metric", step) for index in (ones, others) for step in index.steps()):
        yield "metrics of evaluation (neither side has any)"


def _rates(climb: Climb, asked: Sequence[Definition]) -> Iterator[str]:
    if not any(rung.name == "schedule" for rung in asked):
        return
    found = compare_rates(climb.judge, climb.tf1, climb.tf2)
    if found.unknown or not found.checks:
        yield f"the learning rate of steps that were not run ({'; '.join(found.unknown) or 'no side tells it'})"
    names = read_by_rates(climb.tf1)
    if names:
        yield f"what the program of TF1 sets its learning rate to between steps (it is read of {some(names)})"


def _random(climb: Climb) -> Iterator[str]:
    copied = climb.tf2.scenario(scenarios.INFERENCE_COPIED).outcome == "ok"
    if copied and not compare_initial_values(climb.judge, *climb.indexes(scenarios.INFERENCE)).equal:
        yield "initial values one by one (drawn otherwise, so compared as distributions, and copied)"
    name = scenarios.TRAINING if why_missing(climb.both(scenarios.ALIGNED)) else scenarios.ALIGNED
    both = climb.both(name)
    if not why_missing(both):
        text, _ = unaligned(*([scenario for _, scenario in climb.both(one)] for one in (name, scenarios.STEPS)))
        if text:
            yield f"random numbers of training that are not aligned ({text})"
    for _, recorded in _sides(climb):
        notes = [str(note) for note in recorded.content.get("notes") or ()]
        yield from (f"random numbers ({note})" for note in notes if "draws unaligned numbers" in note)


def _switched_off(climb: Climb) -> Iterator[str]:
    """Dropout that drops nothing in training: neither its place nor its rate shows in what was run."""
    for side, recorded in _sides(climb):
        for row in recorded.content.get("layers") or ():
            if (row.get("config") or {}).get("rate") == 0:
                place = row.get("place")
                where = f" at {shown((str(place[0]), int(place[1])))}" if place else ""
                yield f"dropout ({row['name']}{where} of {side} has rate 0: it is switched off)"


def _amplified(climb: Climb) -> Iterator[str]:
    if climb.training.open_order and {"step", "steps"} & climb.rungs.keys():
        yield climb.training.open_order
    modes = climb.rungs.get("modes")
    if modes is not None:
        yield from (note for note in modes.notes if note == AMPLIFIED or note.startswith(NOISELESS))
        yield from (f"training in other modes ({note})" for note in modes.notes if note.endswith(UNLIKE))


def _raised(climb: Climb) -> Iterator[str]:
    for side, recorded in _sides(climb):
        for scenario in recorded.scenarios.values():
            if scenario.outcome == "failed":
                yield f"{label(scenario.name)} of {side} after it raised"
    traced = climb.tf2.scenarios.get(scenarios.STEPS_OTHER)
    if "modes" in climb.rungs and climb.tf2.scenario(scenarios.STEPS).outcome == "ok":
        if traced is not None and traced.outcome == "not run":
            yield f"training of TF2 in a tf.function ({traced.detail})"


def _room(climb: Climb) -> Iterator[str]:
    for side, recorded in _sides(climb):
        left_out = recorded.content.get("left_out") or {}
        if left_out.get("records"):
            yield f"{_many(int(left_out['records']), 'layer output')} of {side} (--tap-limit)"


def _sampled(climb: Climb) -> Iterator[str]:
    kept = sampling.of(climb.tf1).values()
    if kept:
        compared, all_ = (sum(counts) for counts in zip(*((one.at.size, one.size) for one in kept), strict=True))
        yield (
            f"{all_ - compared:,} of the {all_:,} elements of {_many(len(kept), 'large variable')} (the others are "
            "recorded, the same ones on both sides)"
        )
    if climb.judge.lost:
        names = sorted(climb.judge.lost)
        many = _many(len(names), "large variable")
        yield f"what training makes of {many} ({some(names)}: each side recorded another part)"


def _digits(climb: Climb) -> Iterator[str]:
    """What one side has in 16 bits, of which the digits beyond those of the other side's were not compared."""
    names: dict[tuple[str, str], list[str]] = {}
    for name, settled in climb.rungs.items():
        for (kind, value), dtypes in climb.other_dtypes(() if name in VARIANTS else settled.checks).items():
            if is_short(coarser(*dtypes)):
                names.setdefault(dtypes, []).append(spoken(kind, value))
    for (one, other), found in names.items():
        told = some(list(dict.fromkeys(found)))
        yield f"the digits of {told} beyond {coarser(one, other)} ({one} on TF1, {other} on TF2)"


def _many(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"
