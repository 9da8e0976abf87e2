"""Evidence from the training steps: what is the first to differ while everything that it follows from agrees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Recorded
from ...worker.recording.format.rows import Place
from ...worker.recording.pairs.mapping import ignored, plain
from ..judging.measuring import OTHER_SHAPES
from ..passes import Share
from ..results import Deviation, OperationPair
from ..wording import figure, figures, operation, some
from ..wording import place as shown
from . import anew, dropout, repeated_rows
from .evidence import Clue, Seen, Twin, fit, near, whole
from .forward import begins_with, differs, differs_in_training, made_at, regularization_sums, single_losses
from .lines import of_loss, of_regularizers

__all__ = ["clues"]

_STEPS = scenarios.STEPS
_BIASED = "by n"
_EXPLAINS = 0.95
"""Of what accounts for all of a difference."""
_MOST_EXAMPLES = 256
"""In a larger batch, some number of examples fits any factor."""
_SLIGHT = 0.02
"""Of the largest element of a gradient: what single elements of a layer change that a ReLU switches off."""
_FORWARD = ("output", "tap")
_ALIKE = ". They change alike on both sides"
_UPDATED = ("update", "variable")
_TRAINED = (*_FORWARD, "regularization", "loss", "gradient", "learning_rate", *_UPDATED, "slot")


def clues(seen: Seen) -> Iterator[Clue]:
    """Every piece of evidence of the training steps."""
    step = min((check.step for check in _path(seen) if check.step >= 0), default=None)
    yield from _statistics(seen, step)
    begin = [check for check in _path(seen) if check.step < 0 and check.kind == "variable"]
    if begin:
        names = ", ".join(check.tf1_name for check in begin[:3]) + (" and others" if len(begin) > 3 else "")
        text = f"Training begins with other values of {names}; what follows from them differs too."
        yield Clue("variables", 0.9, text)
        return
    if step is None:
        yield from _elsewhere(seen)
        return
    failed = {check.kind for check in _path(seen) if check.step == step}
    yield from _open_order(seen)
    yield from anew.clues(seen, step, failed <= {"learning_rate", *_UPDATED, "slot"})
    if failed <= {*_UPDATED, "slot"}:
        yield from repeated_rows.clues(seen, step)
    if failed <= {"regularization"}:
        yield from regularization_sums(seen, _STEPS, step)
        return
    if "regularization" in failed:
        yield from regularization_sums(seen, _STEPS, step)
    if "learning_rate" in failed:
        yield from _learning_rate(seen, step)
    if failed & {*_FORWARD}:
        yield from _forward(seen, step)
    elif "loss" in failed:
        yield from _loss(seen, step)
    elif "gradient" in failed:
        yield from _gradient(seen, step)
    elif failed & {*_UPDATED} and "learning_rate" not in failed:
        yield from _update(seen, step)
    elif failed == {"slot"}:
        slots = ", ".join(dict.fromkeys(check.tf1_name for check in seen.failed(_STEPS, "slot", step=step)[:3]))
        yield Clue("update rule", 0.6, f"Only optimizer slots differ after step {step}: {slots}.")


def _open_order(seen: Seen) -> Iterator[Clue]:
    """Weights that a step of TF1 changes more than once, and in no order, as where one run trains and clips them."""
    names = {plain(str(name)) for name in seen.tf1.content.get("open_order") or ()}
    weights = [twin.old for twin in seen.twins if twin.trainable and twin.old in names]
    if weights:
        yield Clue(
            "update rule",
            0.9,
            f"A step of TF1 changes {some(weights)} several times, in an order that its graph leaves open, such as by "
            "an optimizer and an assignment that one run fetches: what else is computed in it may see either. Put "
            "them in one order on both sides, as with `tf.control_dependencies`.",
        )


def _path(seen: Seen) -> list[Deviation]:
    """The failures that training itself goes through.

    Those of statistics are not among them, which a training pass never reads, nor those of values whose shapes differ,
    of which rung 2 tells.
    """
    still = {twin.old for twin in seen.twins if not twin.trainable}
    return [
        check
        for check in seen.failed(_STEPS, *_TRAINED)
        if not (check.kind in _UPDATED and check.tf1_name in still) and not check.problem.startswith(OTHER_SHAPES)
    ]


def _elsewhere(seen: Seen) -> Iterator[Clue]:
    """Training agrees; something that is looked at beside it does not."""
    metrics = seen.failed(_STEPS, "metric")
    if metrics:
        yield _metric(seen, metrics[0])
    evaluations = seen.failed(_STEPS, "evaluation")
    if evaluations and not differs(seen):
        yield Clue(
            "moving statistics",
            0.5,
            f"Training agrees, the evaluation after step {evaluations[0].step} does not "
            f"(by up to {figure(max(check.error for check in evaluations))}).",
        )


def _metric(seen: Seen, failed: Deviation) -> Clue:
    """What a metric differs by alone: one of TF1 that means all steps so far, or how it is computed."""
    text = f"Metric {failed.tf1_name} differs from step {failed.step} on; outputs and the loss agree"
    names = (("tf1", failed.tf1_name), ("tf2", failed.tf2_name))
    steps = range(failed.step + 1)
    old, new = ([seen.scalar(side, _STEPS, "metric", name, step) for step in steps] for side, name in names)
    known = [value for value in new if value is not None]
    if failed.step > 0 and len(known) == len(new) and old[-1] is not None:
        if math.isclose(old[-1], sum(known) / len(known), rel_tol=1e-5):
            return Clue(
                "metric",
                0.9,
                f"{text}: {figure(old[-1])} of TF1 is the mean of TF2's {len(known)} values up to there. What "
                "`tf.compat.v1.metrics` makes means all steps, in training, too; a pair of the value itself, twice, "
                "does not.",
            )
    return Clue("metric", 0.6, f"{text}.")


def _forward(seen: Seen, step: int) -> Iterator[Clue]:
    if step == 0:
        if differs(seen):
            return
        if not seen.ran(scenarios.ALIGNED):
            yield Clue("forward", 0.5, "The outputs of the first step differ.")
            yield Clue("randomness", 0.4, "The outputs of the first step differ, and random numbers may.")
        elif not seen.failed(scenarios.ALIGNED, *_FORWARD):
            yield from _without_flag(seen)
            text = "A training pass from the same values agrees, and that of the first training step does not"
            yield Clue("forward", 0.5, f"{text}: the step calls the model in another way, or with other inputs.")
        return
    if seen.unmatched:
        return
    first = min(seen.failed(_STEPS, *_FORWARD, step=step), key=lambda check: check.order)
    text = f"All of step {step - 1} agrees, and the forward pass of step {step} differs at {first.tf1_name}."
    apart = _of_tf2_alone(seen)
    if apart or seen.failed(_STEPS, "evaluation", step=step - 1):
        text = f"What was compared of step {step - 1} agrees, and the forward pass of step {step} differs."
        named = f", as may be {some(apart)}, of TF2 alone" if apart else ", and so does inference between them"
        yield Clue("forward", 0.6, f"{text} It reads something that the step before left{named}.")
        return
    if not _draws(seen):
        more = " Neither side draws random numbers: this batch takes a way that the one before did not take."
        yield Clue("forward", 0.6, text + more)
        return
    yield Clue("randomness", 0.4, text)
    yield Clue("forward", 0.4, text)


def _of_tf2_alone(seen: Seen) -> list[str]:
    """The variables of TF2's model that have no counterpart, or that the pair ignores."""
    pair = seen.tf2.content.get("pair") or {}
    rows = [row for row in seen.tf2.content.get("variables") or () if isinstance(row, Mapping)]
    left_out = [str(row["name"]) for row in rows if ignored(plain(str(row["name"])), pair.get("ignore") or ())]
    return left_out + [str(row.tf2["name"]) for row in seen.report.variables if row.tf1 is None and row.tf2 is not None]


def _without_flag(seen: Seen) -> Iterator[Clue]:
    """Says so where a side's steps lack what its own training pass does, or what training does on the other side."""
    still = [change for twin in seen.twins if not twin.trainable and (change := seen.change(twin, _STEPS, 0))]
    for number, side, other in ((1, seen.tf2, seen.tf1), (0, seen.tf1, seen.tf2)):
        words = []
        passes = [_drawn(side, name) for name in (scenarios.ALIGNED, scenarios.TRAINING)]
        if _drawn(side, _STEPS) == 0 and _drawn(other, _STEPS) and any(passes):
            words.append("draws no random numbers, which it does when it is called with training=True")
        if any(np.any(pair[1 - number]) for pair in still) and not any(np.any(pair[number]) for pair in still):
            words.append("moves none of the statistics that the other side moves")
        if words:
            name = ("TF1", "TF2")[number]
            text = f"The first training step of {name} {' and '.join(words)}: it runs the model in inference mode"
            called = next(
                (
                    one.place
                    for output in seen.names(name.lower(), _STEPS, "output")
                    if (one := seen.record(name.lower(), _STEPS, "output", output)) is not None and one.place
                ),
                None,
            )
            where = "" if called is None or name == "TF1" else f", where it is called at {shown(called)}"
            line = called if name == "TF2" else None
            yield Clue("training mode", 0.95, f"{text}, as without training=True{where}.", line)


def _drawn(side: Recorded, scenario: str) -> int | None:
    """How many random numbers a pass draws, those for initial values aside; None where that is not known."""
    ops = side.scenario(scenario).said.get("random_ops")
    return None if ops is None else sum(op.get("purpose") == "step" for op in ops)


def _draws(seen: Seen) -> bool:
    """Whether a side draws in its training steps, as far as it says what it draws."""
    return any(_drawn(side, _STEPS) != 0 for side in (seen.tf1, seen.tf2))


def _learning_rate(seen: Seen, step: int) -> Iterator[Clue]:
    name = seen.failed(_STEPS, "learning_rate", step=step)[0]
    old, new = (_rates(seen, side, found) for side, found in (("tf1", name.tf1_name), ("tf2", name.tf2_name)))
    if step not in old or step not in new:
        yield Clue("learning rate", 0.9, f"The learning rates differ from step {step} on.")
        return
    one, other = figures(old[step], new[step])
    text = f"The learning rate of step {step} is {one} on TF1 and {other} on TF2"
    for offset, word in ((1, "next"), (-1, "last")):
        shared = [at for at in new if at + offset in old and at >= step]
        if shared and all(near(new[at], old[at + offset], 1e-5) for at in shared):
            yield Clue(
                "learning rate",
                0.95,
                f"{text}, which is TF1's of the {word} step, and so on: the schedule is off by one.",
            )
            return
    factors = {round(new[at] / old[at], 5) for at in new if old.get(at)}
    always = f", {factors.pop():.5g} times as much in every step" if len(factors) == 1 else ""
    yield Clue("learning rate", 0.95, f"{text}{always}.")


def _rates(seen: Seen, side: str, name: str) -> dict[int, float]:
    recorded = seen.tf1 if side == "tf1" else seen.tf2
    found = ((step, seen.scalar(side, _STEPS, "learning_rate", name, step)) for step in recorded.scenario(_STEPS).steps)
    return {step: rate for step, rate in found if rate is not None}


def _loss(seen: Seen, step: int) -> Iterator[Clue]:
    """A factor of the loss without its regularization, or so many times a regularization loss."""
    failure = seen.failed(_STEPS, "loss", step=step)[0]
    old = seen.scalar("tf1", _STEPS, "loss", failure.tf1_name, step)
    new = seen.scalar("tf2", _STEPS, "loss", failure.tf2_name, step)
    if old is None or new is None or not np.isfinite([old, new]).all():
        yield Clue("loss", 0.7, f"The loss differs at step {step}.")
        return
    agree = any(check.passed and check.counts for check in seen.all(_STEPS, "output", step=step))
    what = f"Outputs agree at step {step} and the loss does not" if agree else f"The loss differs at step {step}"
    values = (figure(old), figure(new)) if figure(old) != figure(new) else (f"{old:.7g}", f"{new:.7g}")
    text = f"{what}: {values[0]} on TF1, {values[1]} on TF2"
    if dropout.at_parting(seen, 1.0) or (not agree and (differs(seen) or differs_in_training(seen))):
        yield Clue("loss", 0.2, f"{text}. So it would where what it is made of differs.")
        return
    shares = [_share(seen, side, name, step) for side, name in (("tf1", failure.tf1_name), ("tf2", failure.tf2_name))]
    found = list(_by_regularization(seen, step, old, new)) or list(_by_weights_alone(seen, shares, old, new))
    found += _by_factor(seen, step, old, new)
    parted = _parted(seen, step)
    where = f" {begins_with(parted)}" if parted is not None else ""
    for clue in found:
        words = f"{text}; {clue.text}.{where if clue.kind == 'loss' else ''}"
        old_line, new_line = of_loss(seen, clue.kind)
        if clue.kind == "regularization" and shares[1] is not None and near(shares[1].value, _totals(seen, step)[1]):
            new_line = of_regularizers(seen)[1] or new_line  # they make all of it, wherever it is added
        yield Clue(clue.kind, clue.weight, words, new_line, old_line)
    if any(clue.weight >= _EXPLAINS for clue in found):
        return
    if parted is not None and parted.differences:
        yield Clue("loss", 0.9, f"{operation(parted)}: {'; '.join(parted.differences)}.{made_at(parted)}")
    if not found:
        yield Clue("loss", 0.8, f"{text}.{where}")
    if None in shares and not any(clue.kind == "regularization" for clue in found):
        yield Clue("regularization", 0.25, "A part of the loss may be missing.")


def _parted(seen: Seen, step: int) -> OperationPair | None:
    """The operation that the report names, where it was found in the loss of that step."""
    first = seen.report.first_divergence
    if first is None or first.operation is None or first.deviation.kind != "loss":
        return None
    return first.operation if (first.operation.scenario, first.operation.step) == (_STEPS, step) else None


def _share(seen: Seen, side: str, name: str, step: int) -> Share | None:
    run = seen.operations(side, _STEPS, step)
    return None if run is None else run.of_variables("loss", name)


def _by_weights_alone(seen: Seen, shares: Sequence[Share | None], old: float, new: float) -> Iterator[Clue]:
    """What each side adds to its loss that depends on nothing but weights, however that is written."""
    one, other = shares
    if one is None or other is None or near(one.value, other.value, 1e-4):
        return
    told = [
        f"{figure(share.value) if share.value else 'nothing'} to {whose}"
        + (f" ({shown(share.place)})" if share.place is not None else "")
        for whose, share in (("the loss of TF1", one), ("that of TF2", other))
    ]
    text = f"what depends on weights alone adds {told[0]} and {told[1]}"
    factor = other.value / one.value if one.value else 0.0
    count = whole(max(factor, 1.0 / factor) if factor else 0.0, 1e-3)
    if count >= 2:
        text += f", {count} times as much{'' if factor > 1.0 else ' on TF1'}"
    to_tf2: dict[str, list[str]] = {}
    for twin in seen.twins:
        to_tf2.setdefault(twin.old.partition("[")[0], []).append(twin.new)  # one variable may have become several
    if one.variables and other.variables:
        taken = {new: name for name in one.variables for new in to_tf2.get(name, [name])}
        alone = [
            ("TF1", sorted({name for new, name in taken.items() if new not in other.variables})),
            ("TF2", sorted(other.variables - set(taken))),
        ]
        text += "".join(f"; that of {some(names)} on {side} alone" for side, names in alone if names)
    differing = [check.tf1_name for check in seen.failed(_STEPS, "gradient", step=0)]
    if 0 < len(differing) < len(seen.twins):
        text += f"; the gradients of {some(differing)} differ and no others, so it is what is added for these"
    difference = new - old
    left = abs(difference - (other.value - one.value))
    all_of_it = left <= 2e-6 * max(abs(old), abs(new)) + 1e-3 * abs(difference)
    yield Clue("regularization", 0.95 if all_of_it else 0.6, text)


def _by_regularization(seen: Seen, step: int, old: float, new: float) -> Iterator[Clue]:
    one, two = _totals(seen, step)
    if one and two and one != two and abs((two - one) - (new - old)) <= 2e-6 * max(abs(old), abs(new)):
        old, new = one, two  # all of it is theirs, and of these less is rounded
    difference = new - old
    parts = [("all", total) for total in _totals(seen, step)[:1] if total]
    parts += [(name, value) for name, value in single_losses(seen, "tf1", _STEPS, step)]
    if not np.isfinite(difference):
        return
    for name, part in parts:
        count = round(difference / part) if np.isfinite(part) else 0
        rounding = 2e-6 * max(abs(old), abs(new))
        if count in (-1, 1, 2, 3) and abs(difference - count * part) <= rounding + 1e-3 * abs(difference):
            which = "the regularization losses" if name == "all" else f"the regularization loss {name}"
            if count < 0:
                words = f"TF2 leaves out {which}, {figure(part)}"
            else:
                words = f"TF2 adds {which}, {figure(part)}, {count + 1} times and not once"
            yield Clue("regularization", 0.95, words)
            return


def _totals(seen: Seen, step: int) -> tuple[float, float]:
    old, new = (seen.scalar(side, _STEPS, "regularization", "total", step) for side in ("tf1", "tf2"))
    return old or 0.0, new or 0.0


def _by_factor(seen: Seen, step: int, old: float, new: float) -> Iterator[Clue]:
    one, two = _totals(seen, step)
    apart = "without regularization " if one or two else ""
    for above, below, words in ((new - two, old - one, apart), (new, old, "")):
        if not below or not above or not math.isfinite(above / below):
            continue
        factor = above / below
        count = whole(max(factor, 1.0 / factor) if factor else factor, 1e-4)
        if count >= 2:
            size = _batch(seen, step)
            batch = ", the size of the batch: summed on one side, averaged on the other" if count == size else ""
            more = "as much" if factor > 1.0 else "as much on TF1"
            yield Clue("loss", 0.95, f"{words}it is {count} times {more}{batch}")
            return
        weighted = _by_weights(seen, step, factor)
        if weighted is not None:
            yield Clue(weighted.kind, weighted.weight, words + weighted.text)
            return


def _by_weights(seen: Seen, step: int, factor: float) -> Clue | None:
    """A factor that is all of a batch over those that count: over the weights that are not zero, or their sum.

    ``tf.compat.v1.losses`` divides by the number of weights that are not zero, Keras by that of all. Weights that the
    batch holds are looked at; without them it is a guess.
    """
    fewer, more = ("TF1", "TF2") if factor < 1.0 else ("TF2", "TF1")
    share = min(factor, 1.0 / factor)
    for kind in ("label", "input"):
        for name in seen.names("tf1", _STEPS, kind, step):
            weights = seen.value("tf1", _STEPS, kind, name, step)
            if weights is None or weights.size < 2 or not np.isfinite(weights).all():
                continue
            counted = np.count_nonzero(weights)
            ways = (f"the {counted} of them that are not zero", float(counted)), ("their sum", float(weights.sum()))
            for what, by in ways:
                if 0.0 < by < weights.size and near(share, by / weights.size, 1e-4):
                    text = f"it is {figure(factor)} times as much: {more} divides by all {weights.size} of {name}, "
                    return Clue("loss", 0.95, f"{text}{fewer} by {what}")
    size = _batch(seen, step) or 0
    part = round(share * size)
    if 0 < part < size <= _MOST_EXAMPLES and near(share, part / size, 1e-5):
        text = f"it is {figure(factor)} times as much, as if {fewer} averaged over {part} of the {size} examples"
        return Clue("loss", 0.7, f"{text} and {more} over all")
    return None


def _batch(seen: Seen, step: int) -> int | None:
    for kind in ("label", "input"):
        for name in seen.names("tf1", _STEPS, kind, step):
            record = seen.record("tf1", _STEPS, kind, name, step)
            if record is not None and record.shape:
                return record.shape[0]
    return None


def _trained(seen: Seen) -> list[Twin]:
    return [twin for twin in seen.twins if twin.trainable]


def _gradient(seen: Seen, step: int) -> Iterator[Clue]:
    outputs, loss = (
        any(check.counts and check.passed for check in seen.all(_STEPS, kind, step=step)) for kind in ("output", "loss")
    )
    what = "Outputs and loss agree" if outputs and loss else "Outputs agree" if outputs else "The loss agrees"
    text = f"{what} at step {step}, the gradients do not" if outputs or loss else f"Gradients differ at step {step}"
    further = [replace(twin, old=f"{twin.old}#2", new=f"{twin.new}#2") for twin in _trained(seen)]
    pairs = {twin.old: seen.both(twin, _STEPS, "gradient", step) for twin in (*_trained(seen), *further)}
    known = {name: pair for name, pair in pairs.items() if pair is not None}
    wrong = {check.tf1_name for check in seen.failed(_STEPS, "gradient", step=step)}
    if wrong and all(name.endswith("#2") for name in wrong):  # those of the first update agree
        known = {name: pair for name, pair in known.items() if name.endswith("#2")}
    sides = [set(seen.names(side, _STEPS, "gradient", step)) for side in ("tf1", "tf2")]
    lacking = [twin.old for twin in _trained(seen) if (twin.old in sides[0]) != (twin.new in sides[1])]
    if not known:
        yield Clue("update rule", 0.5, f"{text}.")
        return
    stopped = [check for check in seen.failed(_STEPS, "gradient", step=step) if not (check.tf1_name and check.tf2_name)]
    if stopped:
        first = stopped[0]
        others = "another" if len(stopped) == 2 else f"{len(stopped) - 1} others"
        more = f" and {others}" if len(stopped) > 1 else ""
        side = "TF2" if first.tf1_name else "TF1"
        one, recorded = (first.tf1_name, seen.tf2) if side == "TF2" else (first.tf2_name, seen.tf1)
        given = [name for row in recorded.content.get("optimizers") or () for name in row.get("weights") or ()]
        twin = next((twin for twin in _trained(seen) if one in (twin.old, twin.new)), None)
        if given and twin is not None and (twin.new if side == "TF2" else twin.old) not in given:
            words = f"{side} does not give {one}{more} to its optimizer, whose list of weights lacks them"
            yield Clue("variables", 0.9, f"{text}: {words}.")
            return
        words = f"none reaches {first.tf1_name or first.tf2_name}{more} on {side}, as behind a stop_gradient"
        yield Clue("forward", 0.85, f"{text}: {words}.")
        yield Clue("variables", 0.4, f"{text}: {side} may not train what the other side trains.")
        return
    if unordered := _unordered(seen, step):
        yield Clue("update rule", 0.3, f"{text}: {unordered}.")
    twice, again = _applied_twice(seen, step)
    if twice:
        yield Clue("update rule", 0.9, f"{text}: {twice}.", again)
        return
    fits = {name: fit(*pair) for name, pair in known.items() if np.any(pair[0]) and np.any(pair[1])}
    if fits and all(left < 1e-3 for _, left in fits.values()):
        yield from _scaled(seen, text, fits)
        return
    clipped = _clipped_values(known)
    if clipped is not None:
        yield Clue("update rule", 0.9, f"{text}: {clipped}.")
        return
    decayed = _decayed(seen, step, known)
    if decayed is not None:
        yield Clue("regularization", 0.85, f"{text}: {decayed}.")
        return
    if lacking:
        yield Clue("variables", 0.6, f"{text}: {lacking[0]} has one on one side only.")
    moving = [pair for pair in known.values() if np.any(pair[0])]
    sizes = [(float(np.max(np.abs(one - two))), float(np.max(np.abs(one)))) for one, two in moving]
    largest = max((size for _, size in sizes), default=0.0)
    by_weight = max((error / size for error, size in sizes), default=math.inf)
    of_all = max((error / largest for error, _ in sizes), default=math.inf)  # small gradients are sums that cancel out
    if of_all < _SLIGHT and seen.tf1.scenario(scenarios.FLOAT64_STEP).outcome != "ok":
        apart, of = (by_weight, "of its weight") if by_weight < _SLIGHT else (of_all, "of all gradients")
        yield Clue(
            "numerics",
            0.6 if by_weight < _SLIGHT else 0.4,
            f"{text}, by up to {figure(apart)} of the largest element {of}: that may be rounding, as where a ReLU is "
            "at zero and passes a gradient on one side alone; --oracle computes them in float64, and tells.",
        )
    yield Clue("forward", 0.5, f"{text}: something stops or changes them on the way back.")
    yield Clue("update rule", 0.45, f"{text}: what is done to them before they are applied may differ.")


def _applied_twice(seen: Seen, step: int) -> tuple[str, Place | None]:
    """Says so where TF2 alone applies several gradients to one variable in a step, and at which line."""
    found = _again(seen, "tf2", step)
    if not found or _again(seen, "tf1", step):
        return "", None
    record = seen.record("tf2", _STEPS, "gradient", f"{found[0]}#2", step)
    place = None if record is None else record.place
    again = f", at {shown(place)} again" if place else ""
    words = f"in one step TF2 applies gradients to {_several(found)} more than once{again}"
    return f"{words}, as where two optimizers have variables in common", place


def _unordered(seen: Seen, step: int) -> str:
    """Says so where both sides apply several gradients to one variable: a run of a session knows no order."""
    found = _again(seen, "tf2", step)
    if not found or not _again(seen, "tf1", step):
        return ""
    return (
        f"both sides apply several gradients to {_several(found)}, TF2 one after the other, and TF1 in one run, which "
        "does so in no order unless control dependencies give one: a gradient may be that of weights which the other "
        "update has changed. Order them on TF1, or compare each in a pair of its own"
    )


def _again(seen: Seen, side: str, step: int) -> list[str]:
    """The variables that get a second gradient in a step."""
    return [name[:-2] for name in seen.names(side, _STEPS, "gradient", step) if name.endswith("#2")]


def _several(names: Sequence[str]) -> str:
    more = f" and to {len(names) - 1} other variable{'s' * (len(names) > 2)}" if len(names) > 1 else ""
    return f"{names[0]}{more}"


def _scaled(seen: Seen, text: str, fits: dict[str, tuple[float, float]]) -> Iterator[Clue]:
    factors = [factor for factor, _ in fits.values()]
    if near(min(factors), max(factors), 1e-2):
        factor = float(np.mean(factors))
        slices = _sliced_norm(seen, factors) if near(factor, 1.0, 0.5) else ""
        if near(factor, 1.0, 1e-4) and not slices:
            proven = seen.tf1.scenario(scenarios.FLOAT64_STEP).outcome == "ok"
            more = ", which float64 says is no rounding" if proven else ""
            kind = "update rule" if proven else "numerics"
            yield Clue(kind, 0.4, f"{text}, but by no more than {figure(_farthest(fits))} of themselves{more}.")
            return
        norms = [_norms(seen, side) for side in ("tf1", "tf2")]
        for side, own, other in (("TF1", norms[0], norms[1]), ("TF2", norms[1], norms[0])):
            if len(own) > 1 and near(min(own), max(own), 1e-4) and not near(min(other), max(other), 1e-2):
                yield Clue(
                    "update rule",
                    0.95,
                    f"{text}: all are {figure(factor)} times TF1's. On {side} their global norm is {figure(own[0])} in "
                    "every step and on the other side it is not: only one side clips.",
                )
                return
        if slices:
            yield Clue("update rule", 0.9, f"{text}: {slices}.")
            return
        for several, mean, share in (("TF1", "TF2", factor), ("TF2", "TF1", 1.0 / factor)):
            count = _values_of_loss(seen, several.lower())
            if count > 1 and near(share * count, 1.0, 1e-4):
                why = f"The loss of {several} has {count} values: its gradient is that of their sum, and {mean} takes"
                yield Clue("loss", 0.95, f"{text}: all are {figure(factor)} times TF1's. {why} that of a mean.")
                return
        yield Clue(
            "update rule", 0.8, f"{text}: all are {figure(factor)} times TF1's, as by clipping or another scale."
        )
        if whole(max(factor, 1.0 / factor), 1e-4):
            yield Clue("loss", 0.5, f"The gradients differ by a factor of {figure(factor)}.")
        return
    yield Clue("update rule", 0.85, f"{text}: each is TF1's times a factor of its own, as by clipping one by one.")


def _values_of_loss(seen: Seen, side: str) -> int:
    """How many values the loss of a side's first training step has; 0 where none was recorded."""
    values = [seen.value(side, _STEPS, "loss", name) for name in seen.names(side, _STEPS, "loss")]
    return max((value.size for value in values if value is not None), default=0)


def _sliced_norm(seen: Seen, factors: Sequence[float]) -> str:
    """Says so where all gradients are those of TF1 but for one factor, and one of them comes as slices that repeat.

    The norm that TF1 clips by takes each slice for itself [run]; that of the sums is another one.
    """
    factor, spread = float(np.mean(factors)), max(factors) - min(factors)
    records = [seen.record("tf1", _STEPS, "gradient", twin.old) for twin in _trained(seen)]
    rows = [record.name for record in records if record is not None and record.more.get("rows")]
    if not rows or len(factors) < 2 or abs(factor - 1.0) < 2e-6 or spread > 0.1 * abs(factor - 1.0):
        return ""
    return (
        f"all are {factor:.8g} times TF1's, as by a clip whose norm is another one. `tf.clip_by_global_norm` takes "
        f"each slice of a gradient for itself, and that of {rows[0]} comes in slices: where they are added up, "
        "it has to be behind the clip"
    )


def _farthest(fits: dict[str, tuple[float, float]]) -> float:
    return max(max(abs(factor - 1.0), left) for factor, left in fits.values())


def _norms(seen: Seen, side: str) -> list[float]:
    recorded = seen.tf1 if side == "tf1" else seen.tf2
    found = []
    for step in recorded.scenario(_STEPS).steps:
        values = [
            seen.value(side, _STEPS, "gradient", twin.old if side == "tf1" else twin.new, step)
            for twin in _trained(seen)
        ]
        if values and all(value is not None for value in values):
            found.append(float(np.sqrt(sum(float(np.sum(value * value)) for value in values))))
    return found


def _clipped_values(known: dict[str, tuple[np.ndarray, np.ndarray]]) -> str | None:
    """Where one side's gradients are the other's, cut off at one magnitude."""
    for side, own, other in (("TF1", 0, 1), ("TF2", 1, 0)):
        limit = max(float(np.max(np.abs(pair[own]), initial=0.0)) for pair in known.values())
        if limit and all(
            np.allclose(np.clip(pair[other], -limit, limit), pair[own], rtol=1e-4, atol=1e-6 * limit)
            for pair in known.values()
        ):
            return f"{side} cuts them off at {figure(limit)}"
    return None


def _decayed(seen: Seen, step: int, known: dict[str, tuple[np.ndarray, np.ndarray]]) -> str | None:
    """Where what the gradients differ by is a multiple of the weights."""
    found: dict[str, float] = {}
    for twin in _trained(seen):
        weights = seen.both(twin, _STEPS, "variable", step - 1)
        pair = known.get(twin.old)
        if pair is None or weights is None or np.allclose(pair[0], pair[1], rtol=1e-4, atol=1e-7):
            continue
        factor, left = fit(weights[0], pair[1] - pair[0])
        if not left < 1e-2:
            return None
        found[twin.old] = factor
    if not found:
        return None
    name, factor = next(iter(found.items()))
    return f"that of {name} differs by {figure(factor)} of the weight itself, as a regularization does"


def _update(seen: Seen, step: int) -> Iterator[Clue]:
    known = {check.kind for check in seen.all(_STEPS, "gradient", "learning_rate", step=step)}
    agree = {frozenset(): "Outputs and loss", frozenset({"gradient"}): "Gradients"}.get(frozenset(known), "")
    agree = agree or ("The learning rate" if known == {"learning_rate"} else "Gradients and learning rate")
    text = f"{agree} of step {step} {'agrees' if agree.startswith('The') else 'agree'}, the update does not"
    twice, again = _applied_twice(seen, step)
    if twice or (unordered := _unordered(seen, step)):
        yield Clue("update rule", 0.95, f"{text}: {twice or unordered}.", again)
        return
    decayed = _decayed_weights(seen, step)
    if decayed:
        yield Clue("update rule", 0.95, f"{text}: {decayed}.")
        return
    rates = [_rates(seen, "tf1", name) for name in seen.names("tf1", _STEPS, "learning_rate")[:1]]
    changing = bool(rates) and len({f"{rate:.6g}" for rate in list(rates[0].values())[: step + 1]}) > 1
    if step > 0 and changing:
        momentum = _momentum(seen, step, rates[0])
        if momentum:
            yield Clue("momentum", 0.95, f"{text}; {momentum}.")
            return
        yield Clue("momentum", 0.75, f"{text}, and it is the first step after the learning rate changed.")
        yield Clue("update rule", 0.5, f"{text}.")
        return
    yield Clue("update rule", 0.85, f"{text}{_of_rows(seen, step) or _size(seen, step)}{_made_at(seen, step)}.")
    if step > 0:
        yield Clue("momentum", 0.4, f"{text}, and the step before agreed.")


def _made_at(seen: Seen, step: int) -> str:
    """The line of TF2's program by which all updates are made that differ; empty where that is not known."""
    failed = {check.tf2_name for check in seen.failed(_STEPS, "update", step=step)}
    records = [seen.record("tf2", _STEPS, "gradient", name, step) for name in failed]
    places = sorted({record.place for record in records if record is not None and record.place})
    return f"; TF2 makes it at {shown(places[0])}" if len(places) == 1 else ""


def _decayed_weights(seen: Seen, step: int) -> str:
    """Says so where all updates that differ do it by one and the same share of the weights."""
    failed = {check.tf1_name for check in seen.failed(_STEPS, "update", step=step)}
    shares: dict[str, float] = {}
    for twin in _trained(seen):
        if twin.old not in failed:
            continue
        weights, changes = seen.both(twin, _STEPS, "variable", step - 1), seen.change(twin, _STEPS, step)
        if weights is None or changes is None:
            return ""
        share, left = fit(weights[0], changes[1] - changes[0])
        if not left < 0.05:
            return ""
        shares[twin.old] = share
    if not shares or not near(min(shares.values()), max(shares.values()), 0.05):
        return ""
    name, share = next(iter(shares.items()))
    more = f" and of {len(shares) - 1} other variables" if len(shares) > 1 else ""
    side = "TF2" if share < 0 else "TF1"
    return f"that of {name}{more} differs by {figure(abs(share))} of the weight itself, as if {side} alone decayed it"


def _of_rows(seen: Seen, step: int) -> str:
    """Says so where only weights differ whose gradient is one of slices."""
    failed = dict.fromkeys(check.tf1_name for check in _path(seen) if (check.kind, check.step) == ("update", step))
    records = [seen.record("tf1", _STEPS, "gradient", name, step) for name in failed]
    if not records or not all(record is not None and record.more.get("rows") for record in records):
        return ""
    return (
        f": that of {', '.join(list(failed)[:3])} differs, where the gradient comes as rows of an embedding. "
        "Optimizers differ in what they do with a row that a batch uses more than once, or not at all"
    )


def _size(seen: Seen, step: int) -> str:
    """The factor between the updates, for the variable of which one factor says all."""
    failed = {check.tf1_name for check in seen.failed(_STEPS, "update", step=step)}
    for twin in _trained(seen):
        changes = seen.change(twin, _STEPS, step) if twin.old in failed else None
        if changes is not None:
            factor, left = fit(*changes)
            if left < 1e-3 and abs(factor - 1.0) > 1e-5:
                return f": that of {twin.old} is {factor:.6g} times TF1's"
    return ""


def _momentum(seen: Seen, step: int, rates: dict[int, float]) -> str:
    """Says so where each side's update is the one that its way of momentum gives.

    TF1 keeps ``a = m a + g`` and applies ``lr a``; Keras keeps ``v = m v - lr g`` and applies ``v``.
    """
    factor = _momentum_factor(seen)
    if factor is None or any(at not in rates for at in range(step + 1)):
        return ""
    for twin in _trained(seen):
        gradients = [seen.both(twin, _STEPS, "gradient", at) for at in range(step + 1)]
        changes = seen.change(twin, _STEPS, step)
        if changes is None or any(pair is None for pair in gradients):
            continue
        total, velocity = 0.0, 0.0
        for at, pair in enumerate(gradients):
            assert pair is not None
            total = factor * total + pair[0]
            velocity = factor * velocity - rates[at] * pair[0]
        old, new = fit(-rates[step] * np.asarray(total), changes[0]), fit(np.asarray(velocity), changes[1])
        if old[1] < 1e-3 and new[1] < 1e-3 and near(old[0], 1.0) and near(new[0], 1.0):
            return (
                f"TF1 applies the learning rate {figure(rates[step])} to the whole accumulated gradient, and Keras' "
                "velocity keeps the rate that each gradient had, from "
                f"{figure(rates[0])} on (recomputed with momentum {factor:g} for {twin.old}: both fit)"
            )
    return ""


def _momentum_factor(seen: Seen) -> float | None:
    for side in (seen.tf1, seen.tf2):
        for optimizer in side.content.get("optimizers") or ():
            value = optimizer.get("momentum")
            if isinstance(value, int | float) and value > 0:
                return float(value)
    return None


def _statistics(seen: Seen, parted: int | None) -> Iterator[Clue]:
    """Variables that are not trained: whether they move at all on both sides, and at which rate.

    Once training itself has parted, at step `parted`, or the forward pass differs, they say nothing.
    """
    still = {twin.old: twin for twin in seen.twins if not twin.trainable}
    failures = [check for check in seen.failed(_STEPS, *_UPDATED) if check.tf1_name in still and check.step >= 0]
    step = min((check.step for check in failures), default=None)
    if step is None or differs(seen):
        return
    if (parted is not None and parted < step) or seen.failed(_STEPS, *_FORWARD, step=step):
        return
    twins = [still[name] for name in dict.fromkeys(check.tf1_name for check in failures if check.step == step)]
    names = ", ".join(twin.old for twin in twins[:3]) + (" and others" if len(twins) > 3 else "")
    text = f"After step {step} the variables that are not trained differ: {names}"
    movement = _movement(seen, twins, step)
    # What moves alike averages other values: the pass before it differs, or its gradients do.
    weight = 0.95 if not movement.startswith(_ALIKE) else 0.5 if parted is None or parted > step else 0.3
    yield Clue("moving statistics", weight, f"{text}{movement}.{_debiased(seen, twins)}")


def _debiased(seen: Seen, twins: list[Twin]) -> str:
    """Says so where TF1 keeps a sum of its own to correct an average for the zero that it begins with."""
    names = [str(row["name"]) for row in seen.tf1.content.get("variables") or ()]
    sums = {twin.old: name for twin in twins for name in names if name.endswith(f"{twin.old}/biased")}
    if not sums:
        return ""
    old, name = next(iter(sums.items()))
    return (
        f" TF1 corrects {old} for the zero that it begins with, by {name} (`zero_debias_moving_mean=True`), and no "
        "layer of Keras does: the two are `momentum ** steps` apart, and a checkpoint's can be taken as it is."
    )


def _movement(seen: Seen, twins: list[Twin], step: int) -> str:
    changes = {twin.old: seen.change(twin, _STEPS, step) for twin in twins}
    known = {name: change for name, change in changes.items() if change is not None}
    if not known:
        return ""
    for side, number in (("TF1", 0), ("TF2", 1)):
        if all(not np.any(change[number]) for change in known.values()):
            return f". On {side} they do not change at all: the update is not run there"
    for side, number in (("TF1", 0), ("TF2", 1)):
        still = [name for name, change in known.items() if not np.any(change[number]) and np.any(change[1 - number])]
        if still:
            others = f", {still[1]}" * (len(still) > 1) + " and others" * (len(still) > 2)
            return f". On {side} {still[0]}{others} do not change: the update of these is not run there"
    size = _sample(seen, twins, step)
    if size:
        keras3 = size[1] == _BIASED and (seen.tf2.content.get("versions") or {}).get("target") == "keras3"
        why = ": batch normalization of Keras 3 does so, the fused one of TF1 and Keras 2 does not" if keras3 else ""
        return f". It looks as if TF1 divided {size[0]}, TF2 {size[1]}{why}"
    fits = {name: fit(*change) for name, change in known.items()}
    if all(left < 1e-3 for _, left in fits.values()):
        factors = [factor for factor, _ in fits.values()]
        if near(min(factors), max(factors), 1e-2):
            factor = float(np.mean(factors))
            if near(factor, 1.0, 1e-2):
                return f"{_ALIKE}, but for {figure(_farthest(fits))} of the change: what they average differs a little"
            return f". TF2 changes them {figure(factor)} times as much as TF1 does: that is the ratio of 1 - momentum"
        listed = ", ".join(f"{name} {factor:.4g} times" for name, (factor, _) in list(fits.items())[:3])
        return f". TF2 changes {listed} as much as TF1 does"
    return ""


def _sample(seen: Seen, twins: list[Twin], step: int) -> tuple[str, str] | None:
    """How each side divides a variance, where one takes that of n values and the other that of n - 1.

    From one old value ``m`` the sides move to ``m + a (c v - m)`` and ``m + a (v - m)``, so that the one change is
    ``c`` times the other and ``a (c - 1)`` times ``m``, with ``c`` equal to ``n / (n - 1)``. A factor alone must not
    say as much, as of another momentum. Where the number of values is known n is that, and what rounding makes of so
    small a change of ``m`` is allowed.
    """
    sides: set[int] = set()
    counts: set[int] = set()
    for twin in twins:
        before, changes = seen.both(twin, _STEPS, "variable", step - 1), seen.change(twin, _STEPS, step)
        if before is None or changes is None or changes[0].size < 3:
            return None
        old, new, level = (np.ravel(value) for value in (*changes, before[0]))
        if not np.isfinite([old, new, level]).all() or not (np.any(old) and np.any(new)):
            return None
        size = _reduced(seen, twin, step)
        for side, one, other in ((0, old, new), (1, new, old)):
            if size is None:
                (factor, rest), *_ = np.linalg.lstsq(np.stack([other, level], 1), one, rcond=None)
                bound = 1e-3
            elif size > 1:
                factor = size / (size - 1)
                rest = float(level @ (one - factor * other)) / max(float(level @ level), 1e-300)
                rounded = 4.8e-7 * float(np.linalg.norm(level))  # four units in the last place
                bound = max(1e-3, rounded / max(float(np.linalg.norm(one)), 1e-300))
            else:
                continue
            left = float(np.linalg.norm(one - factor * other - rest * level)) / float(np.linalg.norm(one))
            if not 1.0 < factor <= 2.0 or not 0.0 < rest / (factor - 1.0) < 1.0 or not left < bound:
                continue
            if fit(other, one)[1] > max(10.0 * max(left, 1e-6), 3.0 * (bound if size else 0.0)):
                sides.add(side)
                counts.add(round(factor / (factor - 1.0)))
                break
    if len(sides) != 1:
        return None
    about = ", ".join(str(count) for count in sorted(counts)[:3])
    words = (f"the sum of squares of n values by n - 1 (n about {about})", _BIASED)
    return words if sides == {0} else ("by n", words[0])


def _reduced(seen: Seen, twin: Twin, step: int) -> int | None:
    """How many values of a channel the layer of a statistic got in a step; None where no output of it is known.

    The layer is the innermost one that has the variable, and its output is as large as its input.
    """
    for side, variable in (("tf2", twin.new), ("tf1", twin.old)):
        taps = [seen.record(side, _STEPS, "tap", name, step) for name in seen.names(side, _STEPS, "tap", step)]
        owners = [tap for tap in taps if tap is not None and variable in (tap.more.get("owned") or ())]
        layer = min(owners, key=lambda tap: len(tap.more["owned"]), default=None)
        if layer is not None and twin.shape and twin.shape[-1] in (layer.shape[-1:] + layer.shape[1:2]):
            return math.prod(layer.shape) // twin.shape[-1]
    return None
