"""Evidence from the rungs before training: variables, the forward pass from equal weights, randomness."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...worker.recording.format import scenarios
from ..draws import alike, in_turns, sizes, unaligned
from ..initial_values import ALIKE, MOVED, OTHER_LAYOUT
from ..judging.measuring import OTHER_SHAPES
from ..judging.naming import OTHER_NAMES
from ..results import Deviation, OperationPair, RandomOp, Status, VariableRow
from ..wording import figure, operation, some
from ..wording import place as shown
from . import dropout
from .evidence import ROUNDING, Clue, Seen, Twin, near, whole

__all__ = ["begins_with", "clues", "differs", "differs_in_training", "made_at"]

_VALUES = ("output", "tap")
_LAYERS = 4
_GUESSED = 0.4
"""Of variables that may have changed places, where operations are seen to differ that take none of them."""
_TOLD = ("activation", "epsilon", "rate")
_MEASURED = 0.97
"""Of a rate of dropout that was read off the numbers drawn: other operations follow from it."""


def clues(seen: Seen) -> Iterator[Clue]:
    """Every piece of evidence of these rungs, in the order of the ladder."""
    yield from _inputs(seen)
    yield from _variables(seen)
    yield from _regularization(seen)
    yield from _without_counterpart(seen)
    yield from _equal_weights(seen)
    yield from _initial_values(seen)
    yield from _training_pass(seen)


def differs(seen: Seen) -> bool:
    """Whether the forward pass from equal weights differs, randomness aside."""
    return any(seen.failed(scenario, *_VALUES) for scenario in (scenarios.CONSTANT, scenarios.FINGERPRINT))


def differs_in_training(seen: Seen) -> bool:
    """Whether a training pass from the same values differs, with aligned random numbers where they could be."""
    return bool(seen.failed(_trained(seen), *_VALUES))


def _trained(seen: Seen) -> str:
    return scenarios.ALIGNED if seen.ran(scenarios.ALIGNED) else scenarios.TRAINING


def _inputs(seen: Seen) -> Iterator[Clue]:
    certain = seen.report.first_divergence is None  # what differs was given equal data
    for problem in seen.report.problems:
        yield Clue("inputs", 1.0 if certain else 0.5, problem)
    for rung in seen.report.rungs:
        if rung.name == scenarios.DATA and rung.status is Status.FAIL:
            yield Clue("inputs", 0.9, f"The input pipelines differ: {'; '.join(rung.notes) or rung.detail}.")


def _variables(seen: Seen) -> Iterator[Clue]:
    if not seen.rung_failed("2"):
        return
    wrong = [row for row in seen.report.variables if row.problem]
    renamed = [row for row in wrong if row.problem == OTHER_NAMES and row.tf1 is not None and row.tf2 is not None]
    apart = [row for row in wrong if seen.is_apart(row)]
    untrained = [row for row in wrong if row.tf2 is None and row.tf1 is not None and not row.tf1.get("trainable")]
    for row in wrong:
        if row not in renamed and row not in apart and row not in untrained:
            yield Clue("variables", 0.9, f"{_title(row)}: {row.problem}.")
    if untrained:
        names = some([_title(row) for row in untrained])
        yield Clue("variables", 0.5, f"TF1 alone has {names}, which no training step updates by a gradient.")
    if renamed:
        yield _names(seen, renamed)
    if apart:
        names = some([_title(row) for row in apart])
        yield Clue("variables", 0.1, f"TF1 alone has {names}, which its training step does not reach.")


def _names(seen: Seen, renamed: Sequence[VariableRow]) -> Clue:
    """Other names, which hardly any migration keeps: the last thing to look at where values differ too."""
    many = "1 variable has another name" if len(renamed) == 1 else f"{len(renamed)} variables have other names"
    text = f"{many} on TF2, first {_title(renamed[0])}; shapes and order pair them."
    alone = all(rung.status is not Status.FAIL for rung in seen.report.rungs if rung.number != "2")
    return Clue("names", 0.9 if alone else 0.05, text)


def _title(row: VariableRow) -> str:
    names = [str(side["name"]) for side in (row.tf1, row.tf2) if side is not None]
    return " / ".join(dict.fromkeys(names))


def _regularization(seen: Seen) -> Iterator[Clue]:
    for scenario in (scenarios.CONSTANT, scenarios.FINGERPRINT, scenarios.INFERENCE_COPIED):
        failures = seen.failed(scenario, "regularization")
        if failures:
            yield from regularization_sums(seen, scenario, 0)
            return


def regularization_sums(seen: Seen, scenario: str, step: int) -> Iterator[Clue]:
    """What the two sums of regularization losses have to do with each other, and with the single losses."""
    old = seen.scalar("tf1", scenario, "regularization", "total", step)
    new = seen.scalar("tf2", scenario, "regularization", "total", step)
    if old is None or new is None:
        yield Clue("regularization", 0.8, "The regularization losses differ.")
        return
    sums = f"regularization losses sum up to {figure(old)} on TF1 and {figure(new)} on TF2"
    if not new or not old:
        if differs(seen):
            text = f"The {sums}: one side has none, or adds them to its loss itself, which is seen once outputs agree."
            yield Clue("regularization", 0.3, text)
        else:
            yield Clue("regularization", 0.95, f"The {sums}: one side has none.")
        return
    factor = new / old
    if whole(factor, 1e-4) >= 2:
        yield Clue("regularization", 0.95, f"The {sums}: {whole(factor, 1e-4)} times as much.")
        return
    for side, more, words in (("tf1", old - new, "what lacks"), ("tf2", new - old, "what is more")):
        for name, part in single_losses(seen, side, scenario, step):
            if near(more, part):
                text = f"The {sums}: {words}, {figure(more)}, is {side.upper()}'s loss {name} alone."
                yield Clue("regularization", 0.95, text)
                return
    yield Clue("regularization", 0.9, f"The {sums}, a factor of {figure(factor)}.")


def single_losses(seen: Seen, side: str, scenario: str, step: int) -> Iterator[tuple[str, float]]:
    """The regularization losses of a side that are not zero, without their sum."""
    for name in seen.names(side, scenario, "regularization", step):
        value = seen.scalar(side, scenario, "regularization", name, step)
        if name != "total" and value:
            yield name, value


def _without_counterpart(seen: Seen) -> Iterator[Clue]:
    """Outputs of one side alone, as where one function gives a tensor and the other a tuple."""
    for scenario in (scenarios.CONSTANT, scenarios.FINGERPRINT, scenarios.INFERENCE_COPIED, _trained(seen)):
        outputs = seen.all(scenario, "output")
        alone = [check for check in outputs if check.counts and check.is_alone]
        if alone:
            given = []
            for side, names in (("TF1", [one.tf1_name for one in outputs]), ("TF2", [one.tf2_name for one in outputs])):
                shown = [f"{name} {list(one.shape)}" for name, one in zip(names, outputs, strict=True) if name]
                given.append(f"{side} gives {', '.join(shown[:_LAYERS]) or 'none'}")
            none = "no output was" if len(alone) == len(outputs) else "these outputs were not"
            text = f"The outputs do not have the same names, so {none} compared: {', and '.join(given)}."
            yield Clue("forward", 0.9, f"{text} Let both give one tensor, or as many under the same names.")
            return


def _equal_weights(seen: Seen) -> Iterator[Clue]:
    if not differs(seen):
        return
    constant, fill = (seen.failed(name, *_VALUES) for name in (scenarios.CONSTANT, scenarios.FINGERPRINT))
    first = _first(seen, scenarios.FINGERPRINT) or _first(seen, scenarios.CONSTANT)
    by_batch = _by_batch(seen)
    if by_batch is not None:
        yield by_batch
        yield Clue("forward", 0.4, "Another computation in inference would show in the same way.")
        return
    where = _where(seen, first)
    told = list(_settings(seen, first))
    yield from told
    if seen.unmatched:
        yield Clue("forward", 0.5, f"From equal weights, as far as both sides have them, outputs differ.{where}")
        return
    if not constant and fill and _blind(seen):
        exchanged = list(_exchanged(seen, first))
        if any(clue.kind == "forward" for clue in told) and not _takes_weights(_operation(seen, first)):
            exchanged = [replace(clue, weight=min(clue.weight, _GUESSED)) for clue in exchanged]
        yield from exchanged
        yield Clue(
            "forward",
            0.5 if exchanged else 0.7,
            f"From equal weights the outputs differ with the fingerprint fill{_up_to(fill)}.{where}",
        )
        return
    yield Clue(
        "forward",
        0.85,
        f"From equal weights, and without randomness, the forward pass differs{_up_to(constant + fill)}.{where}",
    )
    yield Clue("variables", 0.2, "Weights that are used in another place would show in the same way.")


def _by_batch(seen: Seen) -> Clue | None:
    """Says so where in inference one side reads moving statistics, and the other has none of what it gives from them.

    Told by the variables that outputs depend on: what normalizes by its batch depends on no moving average.
    """
    names = [_read_in_inference(seen, side) for side in ("tf1", "tf2")]
    if not all(names):
        return None
    still = [twin for twin in seen.twins if not twin.trainable and _is_statistic(seen, twin)]
    olds = {twin.old for twin in still if twin.old in names[0]}
    news = {twin.old for twin in still if twin.new in names[1]}
    if bool(olds) == bool(news):
        return None
    reads, other = ("TF1", "TF2") if olds else ("TF2", "TF1")
    which = some(sorted(olds or news))
    found = seen.report.first_divergence
    pair = None if found is None else found.operation
    one, two = (None, None) if pair is None else (pair.tf1, pair.tf2)
    return Clue(
        "training mode",
        0.97,
        f"In inference {reads} reads {which}, and {other} reads no such average: it normalizes by its batch there, "
        f"as with {'is_training=True' if other == 'TF1' else 'training=True'}.",
        None if two is None else two.place,
        None if one is None else one.place,
    )


def _is_statistic(seen: Seen, twin: Twin) -> bool:
    """Whether a step moves what no optimizer trains; by its name where no step was recorded."""
    change = seen.change(twin, scenarios.STEPS, 0)
    return any(np.any(one) for one in change) if change else "moving" in twin.old


def _read_in_inference(seen: Seen, side: str) -> set[str]:
    """The variables that outputs depend on in inference, as far as operations were recorded."""
    run = seen.operations(side, scenarios.FINGERPRINT)
    if run is None:
        return set()
    outputs = [number for (kind, _), number in run.results.items() if kind == "output"]
    return {name for number in run.behind(outputs) for name in run.nodes[number].variables}


def _up_to(failures: Sequence[Deviation]) -> str:
    """How large a difference is, where it is one of numbers."""
    size = _largest(failures)
    return f" by up to {figure(size)}" if np.isfinite(size) else ""


def _where(seen: Seen, first: Deviation | None) -> str:
    """Where it begins: the operation, or else the layers that TF2 runs between what agrees and there."""
    found = _operation(seen, first)
    if found is not None:
        return f" {begins_with(found)}"
    if first is None:
        return ""
    before, names = _between(seen, first)
    layers = [_described(seen, name) for name in names]
    after = f" after {before}, which agrees," if before else ""
    if not layers:
        return f" It begins at {first.tf1_name or first.tf2_name}."
    return f" It begins at {first.tf1_name or first.tf2_name};{after} TF2 runs {', '.join(layers[:_LAYERS])}."


def _takes_weights(found: OperationPair | None) -> bool:
    """Whether a variable is among the inputs of an operation, or an operation turns axes, as those of a weight."""
    sides = [side for side in (found.tf1, found.tf2) if side is not None] if found is not None else []
    return any("variable" in words or "Transpose" in words for side in sides for words in (side.op, *side.inputs))


def begins_with(found: OperationPair) -> str:
    """A sentence on the operation with which passes part, and what of its inputs agrees."""
    inputs, one = ", ".join(found.agree), "s" if len(found.agree) == 1 else ""
    return f"It begins with {operation(found)}{f', of which {inputs} agree{one}' if inputs else ''}."


def made_at(found: OperationPair) -> str:
    """A sentence on where the layers of an operation were made; empty where these are no other lines."""
    sides = [(name, side.made) for name, side in (("TF1", found.tf1), ("TF2", found.tf2)) if side is not None]
    return "".join(f" The layer of {name} is made at {shown(made)}." for name, made in sides if made is not None)


def _operation(seen: Seen, first: Deviation | None) -> OperationPair | None:
    """The operation that the report names, where it was found in the pass of what differs first."""
    found = seen.report.first_divergence
    if found is None or first is None or found.operation is None or found.operation.scenario != first.scenario:
        return None
    return found.operation


def _settings(seen: Seen, first: Deviation | None) -> Iterator[Clue]:
    """What is different about the operations themselves: a setting, a constant, a variable, another operation."""
    found = _operation(seen, first)
    if found is not None and found.differences:
        others = all(words.startswith("variable ") for words in found.differences)
        kind = "variables" if others else "forward"
        yield Clue(kind, 0.9, f"{operation(found)}: {'; '.join(found.differences)}.{made_at(found)}")


def _between(seen: Seen, first: Deviation) -> tuple[str, list[str]]:
    """The last layer of TF2 that agrees, and those that run after it up to where it begins."""
    taps = seen.names("tf2", first.scenario, "tap", first.step)
    agree = {
        check.tf2_name for check in seen.all(first.scenario, "tap", step=first.step) if check.passed and check.tf2_name
    }
    end = taps.index(first.tf2_name) + 1 if first.tf2_name in taps else len(taps)
    begin = max((at + 1 for at, name in enumerate(taps[:end]) if name in agree), default=0)
    return taps[begin - 1] if begin else "", taps[begin:end]


def _described(seen: Seen, name: str) -> str:
    for layer in seen.tf2.content.get("layers") or ():
        if layer.get("name") == name:
            config = layer.get("config") or {}
            said = [str(layer.get("class")), *(f"{key} {config[key]}" for key in _TOLD if key in config)]
            return f"{name} ({', '.join(said)})"
    return name


def _blind(seen: Seen) -> bool:
    """Whether every value of the constant rung agrees to rounding, however small: then only names tell weights apart.

    A tap that differs does not count where it equals another tap of the other side, as where two layers changed
    places.
    """
    different = [check for check in seen.all(scenarios.CONSTANT, *_VALUES) if check.relative > ROUNDING]
    if any(check.kind == "output" for check in different):
        return False
    return all(_elsewhere(seen, check) for check in different)


def _elsewhere(seen: Seen, check: Deviation) -> bool:
    value = seen.value("tf2", scenarios.CONSTANT, "tap", check.tf2_name)
    if value is None:
        return False
    for name in seen.names("tf1", scenarios.CONSTANT, "tap"):
        other = seen.value("tf1", scenarios.CONSTANT, "tap", name)
        if name != check.tf1_name and other is not None and other.shape == value.shape:
            if np.allclose(other, value, rtol=ROUNDING, atol=0.0):
                return True
    return False


def _exchanged(seen: Seen, first: Deviation | None) -> Iterator[Clue]:
    """Equal with constants to the last digit, different with the fingerprint: which weights can have changed places."""
    said = "With all variables at 0.001 both sides agree to rounding, with the fingerprint fill they do not"
    turned = _out_of_order(seen)
    if turned is not None:
        one, other = turned
        yield Clue(
            "variables",
            0.9,
            f"{said}; {one.old} and {other.old} have one shape, and TF2 makes them in the opposite order: "
            "they look swapped.",
        )
        return
    owned = _owned(seen, first)
    square = [twin for twin in owned if len(twin.shape) >= 2 and twin.shape[-1] == twin.shape[-2] > 1]
    if square:
        more = f", or {' or '.join(twin.old for twin in square[1:3])}" if square[1:] else ""
        text = f"{square[0].old} is square, {list(square[0].shape)}, and may be used transposed{more}"
        yield Clue("variables", 0.8, f"{said}; {text}.")
        return
    same = _same_shape(owned, seen.twins)
    if same:
        yield Clue("variables", 0.45, f"{said}; {same[0].old} and {same[1].old} have one shape and may be swapped.")


def _owned(seen: Seen, first: Deviation | None) -> list[Twin]:
    """The variables that are used between what agrees and where it begins, as far as layers say what is theirs.

    Those of no layer may be used anywhere. All, where no layer says anything.
    """
    if first is None:
        return list(seen.twins)
    scenario, step = first.scenario, first.step
    records = {tap: seen.record("tf2", scenario, "tap", tap, step) for tap in seen.names("tf2", scenario, "tap", step)}
    owned = {tap: set(record.more.get("owned") or ()) for tap, record in records.items() if record is not None}
    if any(owned.values()):
        used = set().union(*(owned.get(tap, ()) for tap in _between(seen, first)[1]))
        elsewhere = set().union(*owned.values()) - used
        return [twin for twin in seen.twins if twin.new not in elsewhere]
    known = seen.record("tf1", scenario, "tap", first.tf1_name, step)
    names = None if known is None else known.more.get("owned")
    return [twin for twin in seen.twins if names is None or twin.old in names]


def _same_shape(owned: Sequence[Twin], twins: Sequence[Twin]) -> tuple[Twin, Twin] | None:
    for one in owned:
        for other in twins:
            if other.old != one.old and other.shape == one.shape and len(one.shape) > 1:
                return one, other
    return None


def _out_of_order(seen: Seen) -> tuple[Twin, Twin] | None:
    """Two variables of one shape that the sides make in opposite order."""
    orders = [
        {str(variable.get("name")): number for number, variable in enumerate(side.content.get("variables") or ())}
        for side in (seen.tf1, seen.tf2)
    ]
    by_shape: dict[tuple[int, ...], list[Twin]] = {}
    for twin in sorted(seen.twins, key=lambda twin: orders[0].get(twin.old, 0)):
        group = by_shape.setdefault(twin.shape, [])
        if len(twin.shape) > 1 and group and orders[1].get(group[-1].new, 0) > orders[1].get(twin.new, 0):
            return group[-1], twin
        group.append(twin)
    return None


def _initial_values(seen: Seen) -> Iterator[Clue]:
    failures = [
        check
        for rung in seen.report.rungs
        if rung.number == "4" and rung.status is Status.FAIL
        for check in rung.failures
        if check.kind in ("variable", "sample") and not check.problem.startswith((OTHER_SHAPES, OTHER_LAYOUT))
    ]
    moved = [check for check in failures if check.problem == MOVED]
    alike = [check for check in failures if check.problem.startswith(ALIKE)]
    drawn = [check for check in failures if check not in moved and check not in alike]
    if moved:
        names = some([check.tf2_name for check in moved])
        text = f"Inference of TF2 changes {names}, as with training=True, and that of TF1 does not."
        yield Clue("training mode", 0.95, text, moved[0].tf2_place, moved[0].tf1_place)
    for begun in dict.fromkeys(check.problem.removeprefix(ALIKE).strip() for check in alike):
        same = [check for check in alike if check.problem.endswith(f" {begun}")]
        text = f"On TF2 {some([check.tf2_name for check in same])} begin with the numbers of {begun}, and not on TF1"
        why = "an initializer of Keras that has no seed gives the same each time, and wants to be one for each weight"
        yield Clue("randomness", 0.95, f"{text}: {why}.")
    if drawn:
        names = ", ".join(dict.fromkeys(check.tf1_name for check in drawn[:3]))
        reason = next((check.problem for check in drawn if check.problem), "")
        more = f" and {len(drawn) - 3} other variables" if len(drawn) > 3 else ""
        text = f"The initial values of {names}{more} are drawn in another way"
        yield Clue("randomness", 0.9, f"{text}{': ' + reason.rstrip('.') if reason else ''}.")
        yield Clue("variables", 0.3, f"{text}.")


def _training_pass(seen: Seen) -> Iterator[Clue]:
    scenario = _trained(seen)
    failures = seen.failed(scenario, *_VALUES)
    in_inference = list(_in_inference(seen, failures)) if failures and not differs(seen) else []
    dropped = []
    if failures or seen.failed(scenarios.STEPS, *_VALUES, "loss", step=0):
        dropped = list(dropout.clues(seen, 0.4 if differs(seen) else _MEASURED))
        parting = dropout.at_parting(seen, _MEASURED)
        dropped += [parting] if parting is not None else []
    yield from dropped
    if in_inference:  # what else is seen follows from that
        yield from in_inference
        return
    drawn = list(_ledger(seen, 0.4 if dropped or not failures else 0.9))
    yield from drawn
    if not failures or differs(seen):
        return
    first = _first(seen, scenario)
    shares = [] if dropped else list(_shares(seen, scenario))
    drawn += [*dropped, *shares]
    yield from shares
    if first is not None and _is_norm(seen, first):
        yield Clue("forward", 0.7, f"Inference agrees and training does not.{_where(seen, first)}")
    found = _operation(seen, first)
    computed = found is not None and not drawn and not _is_drawn(found)
    if computed:
        yield from _settings(seen, first)
        yield Clue("forward", 0.6, f"Inference and draws agree, and training does not.{_where(seen, first)}")
    yield Clue(
        "randomness",
        0.3 if computed else 0.6,
        "Inference agrees, and the same weights in training mode do not, with aligned random numbers, "
        f"by up to {figure(_largest(failures))}.{_where(seen, first)}",
    )
    if not computed:
        yield Clue("forward", 0.3, "Another computation in training mode would show in the same way.")


def _is_drawn(found: OperationPair) -> bool:
    """Whether a side draws random numbers, or uses them, in the operation with which a pass begins to differ."""
    sides = [side for side in (found.tf1, found.tf2) if side is not None]
    return any("random" in words.lower() for side in sides for words in (side.op, *side.inputs))


def _in_inference(seen: Seen, failures: Sequence[Deviation]) -> Iterator[Clue]:
    """Says so where one side computes in a training pass what it computes in inference, and the other does not."""
    copied = scenarios.INFERENCE_COPIED if failures[0].scenario == scenarios.ALIGNED else scenarios.INFERENCE
    if not seen.tf2.scenario(copied).records:  # it begins with TF1's values by itself
        copied = scenarios.INFERENCE
    for (side, inference), (other, base) in itertools.permutations((("tf1", scenarios.INFERENCE), ("tf2", copied))):
        same = [_as_inferred(seen, side, inference, check) for check in failures]
        if same[0] and _as_inferred(seen, other, base, failures[0]) is False:
            what = failures[0].tf1_name if False in same else "everything that differs"
            first = _first(seen, failures[0].scenario) or failures[0]
            called = seen.record("tf2", first.scenario, first.kind, first.tf2_name, first.step)
            yield Clue(
                "training mode",
                0.95,
                f"In training {side.upper()} computes {what} as in inference, from the same values, and "
                f"{other.upper()} does not: the model does not pass `training` on, or makes no use of it.",
                None if called is None else called.place,
                first.tf1_place,
            )


def _as_inferred(seen: Seen, side: str, inference: str, check: Deviation) -> bool | None:
    """Whether a value is that of inference; None where either is not known."""
    name = check.tf2_name if side == "tf2" else check.tf1_name
    one = seen.value(side, check.scenario, check.kind, name, check.step)
    two = seen.value(side, inference, check.kind, name)
    if one is None or two is None or one.shape != two.shape:
        return None
    return bool(np.allclose(one, two, rtol=ROUNDING, atol=ROUNDING * float(np.max(np.abs(two), initial=0.0))))


def _is_norm(seen: Seen, first: Deviation) -> bool:
    record = seen.record("tf2", first.scenario, "tap", first.tf2_name, first.step)
    owned = [] if record is None else record.more.get("owned") or []
    return any(str(name).endswith(("moving_mean", "moving_variance")) for name in owned)


def _ledger(seen: Seen, weight: float) -> Iterator[Clue]:
    steps = [side.scenario(scenarios.STEPS) for side in (seen.tf1, seen.tf2)]
    for name in (scenarios.ALIGNED, scenarios.TRAINING, scenarios.STEPS):
        both = seen.report.random_ops.get(name)
        if both is None:
            continue
        if in_turns(*both) or unaligned([side.scenario(name) for side in (seen.tf1, seen.tf2)], steps)[1]:
            return
        old, new = ([op for op in side if op.purpose == "step" and not op.idle] for side in both)
        if len(old) != len(new):
            at, side, op = _first_other(old, new)
            place = "" if op.place is None else f" at {shown(op.place)}"
            yield Clue(
                "randomness",
                weight,
                f"Random draws of a training pass: {len(old)} on TF1, {len(new)} on TF2; the first without a "
                f"counterpart is number {at + 1} of {side}, {op.op} of {sizes(op)}{place}.",
                op.place if side == "TF2" else None,
                op.place if side == "TF1" else None,
            )
        elif not all(alike(one, two) for one, two in zip(old, new, strict=True)):
            at = next(at for at, ops in enumerate(zip(old, new, strict=True)) if not alike(*ops))
            yield Clue(
                "randomness",
                0.7 * weight,
                f"Draw number {at + 1} of a training pass is {old[at].op} of {sizes(old[at])} on TF1 "
                f"and {new[at].op} of {sizes(new[at])} on TF2.",
                new[at].place,
                old[at].place,
            )
        return


def _first_other(old: Sequence[RandomOp], new: Sequence[RandomOp]) -> tuple[int, str, RandomOp]:
    at = next((at for at, ops in enumerate(zip(old, new, strict=False)) if not alike(*ops)), min(len(old), len(new)))
    return (at, "TF1", old[at]) if len(old) > len(new) else (at, "TF2", new[at])


def _shares(seen: Seen, scenario: str) -> Iterator[Clue]:
    """Another share of zeros: the rate of a dropout, told from one minus it where that is what the other side has."""
    for check in seen.all(scenario, "tap", "output"):
        if check.passed:
            continue
        old = seen.value("tf1", scenario, check.kind, check.tf1_name, check.step)
        new = seen.value("tf2", scenario, check.kind, check.tf2_name, check.step)
        clean = seen.value("tf1", scenarios.INFERENCE, check.kind, check.tf1_name)
        if old is None or new is None or old.shape != new.shape or clean is None or clean.shape != old.shape:
            continue
        alive = clean != 0.0
        if np.count_nonzero(alive) < 8:
            continue
        one, two = float(np.mean(old[alive] == 0.0)), float(np.mean(new[alive] == 0.0))
        noise = 2.0 / float(np.sqrt(np.count_nonzero(alive)))
        if abs(one - two) > noise and one + two > 0.0:
            inverse = " as if a probability to keep were used as a rate" if abs(one + two - 1.0) < noise else ""
            yield Clue(
                dropout.KIND,
                0.85,
                f"Training sets {one:.0%} of {check.tf1_name} to zero on TF1 and {two:.0%} on TF2{inverse}.",
            )
            return


def _first(seen: Seen, scenario: str) -> Deviation | None:
    """Where values part: the report's own place if it is of this scenario, else the first tap after the last equal."""
    found = seen.report.first_divergence
    if found is not None and found.deviation.scenario == scenario and found.deviation.kind in _VALUES:
        return found.deviation
    failed = min(seen.failed(scenario, *_VALUES), key=lambda check: check.order, default=None)
    if failed is None:
        return None
    for check in sorted(seen.all(scenario, "tap", step=failed.step), key=lambda check: -check.order):
        if check.order < failed.order:
            if check.passed:
                break
            failed = check
    return failed


def _largest(failures: Sequence[Deviation]) -> float:
    known = [check.error for check in failures if not np.isnan(check.error)]
    return max(known, default=float("nan"))
