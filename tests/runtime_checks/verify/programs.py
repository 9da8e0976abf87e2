"""A small network in numpy that records itself as either side: what the comparison is tested with, without TensorFlow.

Two runs that differ in nothing but `rounding` add numbers in another order, as other kernels do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Chapter, Recording
from migrate_lint.runtime_checks.worker.recording.values import fills

Weights = dict[str, Any]
Change = Callable[[str, dict[str, Any]], Any]
SHAPES = {
    "hidden/kernel": (4, 6),
    "hidden/bias": (6,),
    "stats/moving_mean": (6,),
    "left/kernel": (6, 6),
    "right/kernel": (6, 6),
    "top/kernel": (6, 3),
    "top/bias": (3,),
}
PLACES = {name.split("/")[0]: line for line, name in enumerate(SHAPES, 10)}


@dataclass(frozen=True)
class Program:
    """The network, its training, and how it is recorded; a test changes what it is about.

    Attributes:
        side: ``tf1`` or ``tf2``.
        rounding: in which order numbers are added: 0 or 1.
        seed: of initial values.
        copied: the seed of the initial values that TF1 has.
        epsilon: of Adam.
        rate: the learning rate of a step.
        decay: of the moving mean.
        l2: the factor of regularization.
        scale: of the hidden layer's output.
        swapped: whether the two square kernels take each other's place.
        batches: the batch of a step.
        names: of variables, by the usual ones.
        names_of_layers: likewise.
        leave_out: variables that are not listed.
        shapes: of variables that are listed with another one than they have.
        change: changes a record before it is written.
        pair: what is recorded of the pair.
        skip: scenarios that are not recorded.
        steps: of training.
        draws: what is said of random operations.
        second: the value of a second output in a scenario, if there is one.
        evaluated: what evaluation gives, by step: the kind, the name, the value and the sort of each.
        every: the losses of single batches of evaluation.
        frozen: variables that are not trainable, beside the moving mean.
        untrained: variables that training gives no gradient.
        step_draws: what is said of random operations of training, if it is another thing.
        wide: whether it is recorded in float64, too.
        moved: how far values in float64 move with the rounding of constants.
        variant: of the TF2 side in another setting, which that is.
    """

    side: str = "tf1"
    rounding: int = 0
    seed: int = 0
    copied: int = 0
    epsilon: float = 1e-8
    rate: Callable[[int], float] = field(default=lambda step: 0.01 / (1 + step))
    decay: float = 0.9
    l2: float = 1e-3
    scale: float = 1.0
    swapped: bool = False
    batches: Callable[[int], tuple[Any, Any]] = field(default=lambda step: batch(100 + step))
    names: Mapping[str, str] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()
    dtypes: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, list[int]] = field(default_factory=dict)
    change: Callable[[str, dict[str, Any]], Any] = field(default=lambda scenario, record: record)
    pair: Mapping[str, Any] = field(default_factory=dict)
    skip: tuple[str, ...] = ()
    steps: int = 4
    draws: tuple[Mapping[str, Any], ...] = ()
    initial: Callable[[str, Any], Any] = field(default=lambda name, value: value)
    second: Callable[[str], float] | None = None
    evaluated: Mapping[int, Sequence[tuple[str, str, float, str]]] = field(default_factory=dict)
    every: tuple[float, ...] = ()
    frozen: tuple[str, ...] = ()
    untrained: tuple[str, ...] = ()
    step_draws: tuple[Mapping[str, Any], ...] = ()
    wide: bool = False
    moved: float = 0.0
    variant: Mapping[str, Any] | None = None


def batch(step: int) -> tuple[Any, Any]:
    """Inputs and labels of a step."""
    source = np.random.default_rng(step)
    return source.normal(size=(8, 4)).astype(np.float32), source.normal(size=(8, 3)).astype(np.float32)


def initial(seed: int) -> Weights:
    source = np.random.default_rng(seed)
    drawn = {name: (source.normal(size=shape) * 0.4).astype(np.float32) for name, shape in SHAPES.items()}
    drawn["stats/moving_mean"] *= np.float32(0)
    return drawn


def dot(program: Program, one: Any, other: Any) -> Any:
    if program.rounding:
        return one[..., ::-1].copy() @ other[::-1].copy()
    return one @ other


def forward(program: Program, weights: Weights, inputs: Any, training: bool) -> dict[str, Any]:
    """The values of a pass, by layer, in the precision of the weights."""
    before = dot(program, inputs, weights["hidden/kernel"]) + weights["hidden/bias"]
    hidden = np.maximum(before, 0) * before.dtype.type(program.scale)
    mean = hidden.mean(axis=0, dtype=hidden.dtype)
    centred = hidden - (mean if training else weights["stats/moving_mean"])
    first, second = ("right", "left") if program.swapped else ("left", "right")
    left = dot(program, centred, weights[f"{first}/kernel"])
    right = dot(program, left, weights[f"{second}/kernel"])
    top = dot(program, right, weights["top/kernel"]) + weights["top/bias"]
    return {"hidden": hidden, "mean": mean, "centred": centred, "left": left, "right": right, "top": top}


def regularization(program: Program, weights: Weights) -> Any:
    kernels = [np.sum(value * value, dtype=value.dtype) for name, value in weights.items() if name.endswith("kernel")]
    exact = kernels[0].dtype.type
    return exact(program.l2) * exact(sum(kernels[::-1] if program.rounding else kernels))


def gradients(program: Program, weights: Weights, values: dict[str, Any], inputs: Any, labels: Any) -> Weights:
    """Of half the squared error's mean plus regularization; the batch's mean counts as a constant."""
    first, second = ("right", "left") if program.swapped else ("left", "right")
    exact = values["top"].dtype.type
    error = (values["top"] - labels) / exact(labels.size)
    right = dot(program, error, weights["top/kernel"].T)
    left = dot(program, right, weights[f"{second}/kernel"].T)
    hidden = dot(program, left, weights[f"{first}/kernel"].T) * (values["hidden"] > 0) * exact(program.scale)
    found = {
        "hidden/kernel": dot(program, inputs.T, hidden),
        "hidden/bias": hidden.sum(axis=0),
        f"{first}/kernel": dot(program, values["centred"].T, left),
        f"{second}/kernel": dot(program, values["left"].T, right),
        "top/kernel": dot(program, values["right"].T, error),
        "top/bias": error.sum(axis=0),
    }
    penalty = exact(2 * program.l2)
    return {
        name: (value + penalty * weights[name] if name.endswith("kernel") else value).astype(exact)
        for name, value in sorted(found.items(), key=lambda one: list(SHAPES).index(one[0]))
    }


class Sheet:
    """Writes the records of a scenario with the names of the program."""

    def __init__(self, program: Program, chapter: Chapter) -> None:
        self.program = program
        self.chapter = chapter

    def name(self, name: str) -> str:
        return self.program.names.get(name, name)

    def add(self, kind: str, name: str, value: Any, step: int = 0, **more: Any) -> None:
        line = PLACES.get(name.split("/", maxsplit=1)[0], 1)
        record = {"kind": kind, "name": self.name(name), "value": value, "step": step, **more}
        record["place"] = [f"/user/{self.program.side}.py", line]
        changed = self.program.change(self.chapter.name, record)
        if changed is not None:
            self.chapter.add(changed.pop("kind"), changed.pop("name"), changed.pop("value"), **changed)
        if self.program.second is not None and kind in ("output", "evaluation"):
            self.chapter.add(kind, "second", np.full(3, self.program.second(self.chapter.name), np.float32), step=step)

    def data(self, step: int = 0) -> tuple[Any, Any]:
        inputs, labels = self.program.batches(step)
        self.add("input", "input", inputs, step)
        self.add("label", "label", labels, step)
        return inputs, labels

    def taps(self, values: dict[str, Any], step: int = 0) -> None:
        for layer in ("hidden", "left", "right", "top"):
            owned = [self.name(name) for name in SHAPES if name.startswith(layer)]
            self.add("tap", layer, values[layer], step, auto=True, call=0, owned=owned)

    def passed(self, weights: Weights, training: bool, taps: bool = True) -> None:
        """A forward pass of the first batch."""
        inputs, _ = self.data()
        values = forward(self.program, weights, inputs, training)
        if taps:
            self.taps(values)
        self.add("output", "output", values["top"])
        self.add("regularization", "total", regularization(self.program, weights))
        self.add("regularization", f"{self.program.side}-losses", regularization(self.program, weights))


def nudged(weights: Weights) -> Weights:
    return {name: fills.nudged(name, value) for name, value in weights.items()}


def train(program: Program, chapter: Chapter, weights: Weights, *, taps: bool = True) -> None:
    """Adam, and the moving mean."""
    sheet = Sheet(program, chapter)
    weights = dict(weights)
    if program.step_draws:
        chapter.say(random_ops=list(program.step_draws))
    for name, value in weights.items():
        sheet.add("variable", name, value, -1)
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    for step in range(program.steps):
        inputs, labels = sheet.data(step)
        values = forward(program, weights, inputs, True)
        if taps:
            sheet.taps(values, step)
        sheet.add("output", "output", values["top"], step)
        penalty = regularization(program, weights)
        sheet.add("regularization", "total", penalty, step)
        loss = np.float32(0.5) * np.mean((values["top"] - labels) ** 2, dtype=np.float32) + penalty
        sheet.add("loss", "loss", loss, step)
        rate = np.float32(program.rate(step))
        sheet.add("learning_rate", "learning_rate", rate, step)
        steps = np.float32(rate * np.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1)))
        for name, gradient in gradients(program, weights, values, inputs, labels).items():
            if name not in program.untrained:
                sheet.add("gradient", name, gradient, step)
            first[name] += np.float32(0.1) * (gradient - first[name])
            second[name] += np.float32(0.001) * (gradient * gradient - second[name])
            weights[name] = weights[name] - steps * first[name] / (np.sqrt(second[name]) + np.float32(program.epsilon))
        kept, decay = weights["stats/moving_mean"], np.float32(program.decay)
        weights["stats/moving_mean"] = kept * decay + values["mean"] * (1 - decay)
        for name, value in weights.items():
            sheet.add("variable", name, value, step)
        for name in weights:
            if "moving" not in name:
                own = sheet.name(name)
                sheet.add("slot", f"{name}/m", first[name], step, variable=own, slot="adam.m")
        if step in (0, program.steps - 1):
            sheet.add("evaluation", "output", forward(program, weights, inputs, False)["top"], step)
        chapter.flush()


def described(program: Program) -> list[dict[str, Any]]:
    return [
        {
            "name": program.names.get(name, name),
            "shape": program.shapes.get(name, list(shape)),
            "dtype": program.dtypes.get(name, "float32"),
            "trainable": "moving" not in name and name not in program.frozen,
            "tracked": True,
            "place": [f"/user/{program.side}.py", PLACES[name.split("/")[0]]],
            "initializer": None,
            "layer": name.split("/")[0],
        }
        for name, shape in SHAPES.items()
        if name not in program.leave_out
    ]


def record(program: Program, folder: Path, limit: int = 2 << 30) -> Path:
    """Write the recording of a program with everything that its side records."""
    recording = Recording(str(folder), program.side, limit)
    recording.content["variables"] = described(program)
    recording.content["versions"] = {"tensorflow": "none", "python": "3"}
    recording.content["pair"] = {"name": "small", "transposes": {}, "ignore": [], "taps": {}, **program.pair}
    own = {name: program.initial(name, value) for name, value in initial(program.seed).items()}
    copied = own if program.side == "tf1" else initial(program.copied)
    other = replace(program, rounding=1 - program.rounding)
    filled = {name: fills.fingerprint(name, shape, "float32") for name, shape in SHAPES.items()}
    constant = {name: fills.constant(shape, "float32") for name, shape in SHAPES.items()}
    bodies: dict[str, Callable[[Chapter], None]] = {
        scenarios.STRUCTURE: lambda chapter: None,
        scenarios.CONSTANT: lambda chapter: Sheet(program, chapter).passed(constant, False),
        scenarios.FINGERPRINT: lambda chapter: Sheet(program, chapter).passed(filled, False),
        scenarios.FINGERPRINT_AGAIN: lambda chapter: Sheet(other, chapter).passed(filled, False, taps=False),
        scenarios.INFERENCE: lambda chapter: _inference(program, chapter, own),
        scenarios.TRAINING: lambda chapter: _drawing(program, chapter, own),
        scenarios.TRAINING_CONSTANT: lambda chapter: _drawing(program, chapter, own),
        scenarios.ALIGNED: lambda chapter: _drawing(program, chapter, copied),
        scenarios.STEPS: lambda chapter: train(program, chapter, copied),
        scenarios.STEPS_OTHER: lambda chapter: train(other, chapter, copied, taps=False),
        scenarios.STEPS_AGAIN: lambda chapter: train(program, chapter, copied, taps=False),
    }
    if program.variant is not None:
        recording.content["variant"] = dict(program.variant)
        bodies[scenarios.ALIGNED_NUDGED] = lambda chapter: _drawing(program, chapter, nudged(copied))
        bodies[scenarios.STEPS_FORCED] = lambda chapter: train(program, chapter, copied, taps=False)
    if program.side == "tf1" or program.variant is not None:
        bodies[scenarios.FINGERPRINT_NUDGED] = lambda chapter: Sheet(program, chapter).passed(nudged(filled), False)
        bodies[scenarios.STEPS_NUDGED] = lambda chapter: train(program, chapter, nudged(copied), taps=False)
    if program.side == "tf2":
        bodies[scenarios.ONCE] = lambda chapter: chapter.say(created=[], calls=[{"name": "one", "ended": "ok"}])
        bodies[scenarios.INFERENCE_COPIED] = lambda chapter: Sheet(program, chapter).passed(copied, False)
    if program.wide:
        for name in scenarios.FLOAT64:
            bodies[name] = lambda chapter: _in_float64(program, chapter, copied)
    if program.evaluated:
        bodies[scenarios.EVALUATED] = lambda chapter: _evaluated(program, chapter)
    for name, body in bodies.items():
        if name not in program.skip:
            with recording.scenario(name) as chapter:
                body(chapter)
    recording.not_run(scenarios.CHECKPOINT, "the pair names no checkpoint")
    return folder


def _evaluated(program: Program, chapter: Chapter) -> None:
    for step, values in program.evaluated.items():
        for kind, name, value, sort in values:
            every = {"every": list(program.every)} if program.every and kind == "loss" else {}
            chapter.add(kind, name, np.float32(value), step, sort=sort, **every)


def _in_float64(program: Program, chapter: Chapter, weights: Weights) -> None:
    sheet, inputs = Sheet(program, chapter), program.batches(0)[0]
    wide = {name: value.astype(np.float64) for name, value in weights.items()}
    _, labels = sheet.data()
    values = forward(program, wide, inputs.astype(np.float64), chapter.name != scenarios.FLOAT64_INFERENCE)
    penalty = regularization(program, wide)
    sheet.add("output", "output", values["top"], moved=program.moved)
    sheet.add("regularization", "total", penalty, moved=program.moved)
    if chapter.name == scenarios.FLOAT64_STEP:
        sheet.add("loss", "loss", 0.5 * np.mean((values["top"] - labels) ** 2) + penalty, moved=program.moved)
        for name, gradient in gradients(program, wide, values, inputs.astype(np.float64), labels).items():
            sheet.add("gradient", name, gradient, moved=program.moved)


def _inference(program: Program, chapter: Chapter, weights: Weights) -> None:
    sheet = Sheet(program, chapter)
    for name, value in weights.items():
        sheet.add("variable", name, value)
    sheet.passed(weights, False)


def _drawing(program: Program, chapter: Chapter, weights: Weights) -> None:
    chapter.say(random_ops=list(program.draws))
    Sheet(program, chapter).passed(weights, True)


def compared(folder: Path, tf1: Program | None = None, tf2: Program | None = None, **options: Any) -> Report:
    """Record both sides and compare them; by default they differ in rounding alone.

    The usual TF1 side is recorded once, beside the folder.
    """
    usual = folder.parent / "usual-tf1"
    if tf1 is None and not usual.exists():
        record(Program(), folder / "new").rename(usual)
    one = usual if tf1 is None else record(tf1, folder / "tf1")
    other = record(tf2 or CLEAN, folder / "tf2")
    return compare(read(one), read(other), **options)


def statuses(report: Report) -> dict[str, str]:
    return {rung.number: rung.status.value for rung in report.rungs}


def failing(report: Report) -> list[str]:
    """Of the rungs that tests of the whole ladder know; one that is added has a test of its own."""
    known = {"1", "2", "3", "3f", "4", "5", "6", "7", "8"}
    return [rung.number for rung in report.rungs if rung.status is Status.FAIL and rung.number in known]


def changing(kind: str, change: Callable[[Any], Any], scenario: str = "", step: int | None = None) -> Change:
    """Change the values of a kind, in one scenario and step or in all."""

    def changed(name: str, found: dict[str, Any]) -> Any:
        if found["kind"] == kind and scenario in ("", name) and step in (None, found["step"]):
            return {**found, "value": change(np.asarray(found["value"]))}
        return found

    return changed


def said(folder: Path, side: str, scenario: str, **said: Any) -> None:
    """Change what a recording says of a scenario."""
    path = folder / side / "record.json"
    content = json.loads(path.read_text("utf-8"))
    content["scenarios"][scenario] = {"outcome": "ok", "detail": "", "parts": [], **said}
    path.write_text(json.dumps(content), "utf-8")


CLEAN = Program("tf2", rounding=1)
"""The TF2 side without a fault."""
