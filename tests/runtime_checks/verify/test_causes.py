"""From failed checks and recorded arrays to classes of causes, with the figures that speak for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.linter.finding import Consequence, Finding, Severity, Span
from migrate_lint.runtime_checks.comparison.causes import dropout
from migrate_lint.runtime_checks.comparison.causes.ranking import CODES, rank
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import (
    Cause,
    Deviation,
    Divergence,
    OperationPair,
    OperationSide,
    RandomOp,
    Rung,
    SideSummary,
    Status,
    VariableRow,
)
from migrate_lint.runtime_checks.worker.recording.format.reading import Recorded, read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

Value = tuple[str, str, int, Any]
"""Kind, name, step and value of a record."""
Sides = tuple[Recorded, Recorded]
Record = Callable[..., Sides]

KERNEL = np.array([[1.0, 2.0], [-1.0, 0.5]])
GRADIENT = np.array([[0.1, 0.3], [-0.2, 0.4]])
VARIABLES = (
    {"name": "left/kernel", "shape": [2, 2], "trainable": True, "dtype": "float32", "place": ["/p/old.py", 3]},
    {"name": "right/kernel", "shape": [2, 2], "trainable": True, "dtype": "float32", "place": None},
    {"name": "wide/kernel", "shape": [2, 5], "trainable": True, "dtype": "float32", "place": None},
    {"name": "norm/mean", "shape": [2], "trainable": False, "dtype": "float32", "place": None},
)


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Writes both sides: ``scenario``, the values of TF1, those of TF2, and what else their recordings hold."""

    def write(scenario: str, old: Sequence[Value], new: Sequence[Value], **content: Any) -> Sides:
        for side, values in (("tf1", old), ("tf2", new)):
            recording = Recording(str(tmp_path / side), side)
            recording.content["variables"] = list(content.get(f"{side}_variables", VARIABLES))
            recording.content["optimizers"] = content.get(f"{side}_optimizers", [])
            recording.content["layers"] = content.get(f"{side}_layers", [])
            with recording.scenario(scenario) as chapter:
                for kind, name, step, value in values:
                    chapter.add(kind, name, np.asarray(value, np.float32), step, place=("/p/model.py", 7))
        return read(tmp_path / "tf1"), read(tmp_path / "tf2")

    return write


def check(
    kind: str, name: str, step: int = 0, *, scenario: str = "steps", passed: bool = False, **more: Any
) -> Deviation:
    """A value that does not agree."""
    given: dict[str, Any] = {
        "error": 1.0,
        "relative": 1.0,
        "order": step,
        "floor": None,
        "tf1_place": None,
        "tf2_place": ("/p/model.py", 7),
        "tf2_name": name,
        **more,
    }
    return Deviation(
        scenario=scenario,
        kind=kind,
        tf1_name=name,
        step=step,
        dtype="float32",
        shape=(),
        passed=passed,
        counts=True,
        at=(),
        tf1_value=0.0,
        tf2_value=0.0,
        rtol=1e-6,
        atol=1e-5,
        excess=100.0,
        needed_rtol=1.0,
        **given,
    )


def report(*rungs: tuple[str, Sequence[Deviation]], **more: Any) -> Report:
    """A report of failed rungs; the variables of both sides are matched by name."""
    given: dict[str, Any] = {
        "variables": tuple(VariableRow(variable, variable, "name", "") for variable in VARIABLES),
        "random_ops": {},
        **more,
    }
    sides = tuple(SideSummary(side, {}, (), (), None) for side in ("tf1", "tf2"))
    return Report(
        name="pair",
        policy="noise",
        sides=(sides[0], sides[1]),
        rungs=tuple(
            Rung(number, number, number, Status.FAIL, "differs", checks=tuple(checks)) for number, checks in rungs
        ),
        series=(),
        first_divergence=None,
        causes=(),
        **given,
    )


def first(causes: Sequence[Cause]) -> tuple[str, str]:
    """The likeliest class, and its first sentence."""
    return causes[0].kind, causes[0].evidence[0]


def test_nothing_failed(record: Record) -> None:
    """Without a failed rung there is nothing to explain, whatever the recordings hold."""
    passed = Report(**{**vars(report()), "rungs": (Rung("6", "step", "", Status.PASS, ""),)})

    assert () == rank(passed, *record("steps", [], []))


@pytest.mark.parametrize(
    ("old", "new", "kind", "words"),
    [
        ((2.0, 0.5), (8.0, 0.5), "loss", "without regularization it is 5 times as much"),
        ((2.5, 0.5), (2.0, 0.5), "regularization", "leaves out the regularization losses, 0.5"),
        ((2.5, 0.5), (3.0, 0.5), "regularization", "adds the regularization losses, 0.5, 2 times"),
        ((2.5, 0.5), (2.2, 0.5), "regularization", "leaves out the regularization loss one, 0.3"),
        ((2.5, 0.5), (2.61, 0.5), "loss", "2.5 on TF1, 2.61 on TF2"),
    ],
)
def test_loss(record: Record, old: tuple[float, float], new: tuple[float, float], kind: str, words: str) -> None:
    """With equal outputs a loss is told apart by its factor and by the regularization losses."""
    values = [
        [
            ("label", "label", 0, np.zeros(5)),
            ("loss", "loss", 0, loss),
            ("regularization", "total", 0, total),
            ("regularization", "one", 0, 0.3),
            ("regularization", "two", 0, 0.2),
        ]
        for loss, total in (old, new)
    ]
    causes = rank(report(("6", [check("loss", "loss")])), *record("steps", *values))

    assert kind == causes[0].kind
    assert words in causes[0].evidence[0]


def test_a_penalty_of_another_scale_is_not_left_out(record: Record) -> None:
    """The sums of the penalties tell what the rounding of a large loss hides."""
    values = [
        [
            ("label", "label", 0, np.zeros(5)),
            ("loss", "loss", 0, 250.0 + total),
            ("regularization", "total", 0, total),
            ("regularization", "one", 0, 0.3),
        ]
        for total in (0.5, 0.2006)
    ]
    causes = rank(report(("6", [check("loss", "loss")])), *record("steps", *values))

    assert not any("leaves out" in text for cause in causes for text in cause.evidence)


def test_summed_loss_names_the_batch(record: Record) -> None:
    """Where the factor is the size of the batch it says so."""
    values = [[("label", "label", 0, np.zeros(5)), ("loss", "loss", 0, loss)] for loss in (1.5, 7.5)]
    causes = rank(report(("6", [check("loss", "loss")])), *record("steps", *values))

    assert "loss" == causes[0].kind
    assert "the size of the batch: summed on one side" in causes[0].evidence[0]


def test_rates_that_differ_little_are_told_apart(record: Record) -> None:
    """By as many digits as it takes."""
    rates = [[("learning_rate", "learning_rate", 0, rate)] for rate in (0.005, 0.0049999)]
    cause = rank(report(("6", [check("learning_rate", "learning_rate")])), *record("steps", *rates))[0]

    assert cause.evidence[0].startswith("The learning rate of step 0 is 0.005 on TF1 and 0.0049999 on TF2")


def test_schedule_off_by_one(record: Record) -> None:
    """Each learning rate of TF2 is TF1's of the next step."""
    values = [[("learning_rate", "learning_rate", step, 0.5 ** (step + late)) for step in range(4)] for late in (0, 1)]
    failures = [check("learning_rate", "learning_rate", step) for step in range(4)]
    kind, text = first(rank(report(("6", failures)), *record("steps", *values)))

    assert "learning rate" == kind
    assert "0.5 on TF2, which is TF1's of the next step" in text


def test_clipped_gradients(record: Record) -> None:
    """One factor for all gradients, and a global norm that stands still on one side, is clipping."""
    old, new = [], []
    for step in range(3):
        gradient = GRADIENT * (step + 1)
        clipped = gradient / np.linalg.norm([gradient, gradient]) * 0.2
        for name in ("left/kernel", "right/kernel"):
            old.append(("gradient", name, step, clipped))
            new.append(("gradient", name, step, gradient))
        for values in (old, new):
            values.append(("gradient", "wide/kernel", step, np.zeros((2, 5))))
    failures = [check("gradient", name) for name in ("left/kernel", "right/kernel")]
    kind, text = first(rank(report(("6", failures)), *record("steps", old, new)))

    assert "update rule" == kind
    assert "On TF1 their global norm is 0.2 in every step" in text


@pytest.mark.parametrize(
    ("factor", "rows", "words"),
    [
        (1.00006, True, "it has to be behind the clip"),
        (0.8, True, "that of left/kernel comes in slices"),
        (1.00006, False, "by no more than"),
        (0.8, False, "as by clipping or another scale"),
    ],
)
def test_a_clip_whose_norm_takes_slices_apart(record: Record, factor: float, rows: bool, words: str) -> None:
    """One factor for all, where a gradient comes as slices that may be summed before the clip."""
    names = ("left/kernel", "right/kernel")
    sides = record(
        "steps", *([("gradient", name, 0, value) for name in names] for value in (GRADIENT, factor * GRADIENT))
    )
    if rows:
        (one, *_) = sides[0].scenario("steps").of_kind("gradient")
        one.more["rows"] = True  # type: ignore[index]
    causes = rank(report(("6", [check("gradient", name) for name in names])), *sides)

    assert words in " ".join(causes[0].evidence)
    assert (causes[0].kind == "numerics") == (not rows and factor > 1.0)


@pytest.mark.parametrize("sides", [(), ("tf1",), ("tf2",), ("tf1", "tf2")])
def test_a_variable_that_neither_side_trains_is_no_evidence(record: Record, sides: tuple[str, ...]) -> None:
    """As the other network's in a step of a GAN: it lacks its gradient only where the other side has one."""
    values = {"tf1": GRADIENT, "tf2": GRADIENT * np.array([[3.0, 1.0], [1.0, 2.0]])}
    other = ("gradient", "right/kernel", 0, GRADIENT)
    recorded = [
        [("gradient", "left/kernel", 0, value), *([other] if side in sides else [])] for side, value in values.items()
    ]
    causes = rank(report(("6", [check("gradient", "left/kernel")])), *record("steps", *recorded))
    told = any("right/kernel has one on one side only" in " ".join(cause.evidence) for cause in causes)

    assert (len(sides) == 1) == told


def test_missing_decay_in_the_gradient(record: Record) -> None:
    """A gradient that differs by a multiple of its weight lacks a regularization."""
    variables = [("variable", "left/kernel", -1, KERNEL)]
    old = [*variables, ("gradient", "left/kernel", 0, GRADIENT + 0.02 * KERNEL)]
    new = [*variables, ("gradient", "left/kernel", 0, GRADIENT)]
    kind, text = first(rank(report(("6", [check("gradient", "left/kernel")])), *record("steps", old, new)))

    assert "regularization" == kind
    assert "differs by -0.02 of the weight itself" in text


def test_momentum_is_recomputed(record: Record) -> None:
    """TF1's and Keras' way of momentum are both recognised from gradients and rates."""
    old, new = [("variable", "left/kernel", -1, KERNEL)], [("variable", "left/kernel", -1, KERNEL)]
    total = velocity = np.zeros((2, 2))
    one = two = KERNEL
    for step, rate in enumerate((0.1, 0.05)):
        total, velocity = 0.9 * total + GRADIENT, 0.9 * velocity - rate * GRADIENT
        one, two = one - rate * total, two + velocity
        for values, weights in ((old, one), (new, two)):
            values += [
                ("learning_rate", "learning_rate", step, rate),
                ("gradient", "left/kernel", step, GRADIENT),
                ("variable", "left/kernel", step, weights),
            ]
    optimizers = {side: [{"class": "SGD", "momentum": 0.9}] for side in ("tf1_optimizers", "tf2_optimizers")}
    failures = [check("update", "left/kernel", 1), check("variable", "left/kernel", 1)]
    kind, text = first(rank(report(("7", failures)), *record("steps", old, new, **optimizers)))

    assert "momentum" == kind
    assert "recomputed with momentum 0.9 for left/kernel: both fit" in text


def test_optimizer_epsilon(record: Record) -> None:
    """An update that differs from equal gradients names the hyperparameter that differs."""
    sides = record(
        "steps",
        [],
        [],
        tf1_optimizers=[{"class": "AdamOptimizer", "epsilon": 1e-8, "beta_1": 0.9}],
        tf2_optimizers=[{"class": "Adam", "epsilon": 1e-7, "beta_1": 0.9}],
    )
    (cause,) = rank(report(("6", [check("update", "left/kernel")])), *sides)

    assert "update rule" == cause.kind
    assert "epsilon of the optimizer is 1e-08 on TF1 and 1e-07 on TF2." == cause.evidence[0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [("AdamOptimizer", "SGD", True), ("MomentumOptimizer", "SGD", False), ("RMSPropOptimizer", "RMSprop", False)],
)
def test_optimizer_class(record: Record, old: str, new: str, told: bool) -> None:
    """Another optimizer is named; one that Keras calls otherwise is not another."""
    sides = record("steps", [], [], tf1_optimizers=[{"class": old}], tf2_optimizers=[{"class": new}])
    (cause,) = rank(report(("6", [check("update", "left/kernel")])), *sides)

    assert told == (f"The optimizer is {old} on TF1 and {new} on TF2." in cause.evidence)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (0.0, "On TF2 they do not change at all: the update is not run there"),
        (0.1, "TF2 changes them 0.1 times as much as TF1 does: that is the ratio of 1 - momentum"),
    ],
)
def test_statistics(record: Record, factor: float, words: str) -> None:
    """Variables that are not trained tell whether they move, and how much of the other side's way."""
    before, change = np.array([1.0, 2.0]), np.array([0.25, -0.5])
    values = [
        [("variable", "norm/mean", -1, before), ("variable", "norm/mean", 0, before + part * change)]
        for part in (1.0, factor)
    ]
    kind, text = first(rank(report(("6", [check("variable", "norm/mean")])), *record("steps", *values)))

    assert "moving statistics" == kind
    assert words in text


@pytest.mark.parametrize("debiased", [False, True])
def test_a_mean_that_is_corrected_for_its_first_zero(record: Record, debiased: bool) -> None:
    """The variables that TF1 keeps for it tell."""
    mean = {"name": "norm/mean", "shape": [2], "trainable": False, "dtype": "float32", "place": None}
    own = [{**mean, "name": "norm/norm/mean/biased"}, {**mean, "name": "norm/norm/mean/local_step", "shape": []}]
    values: list[list[Value]] = [
        [("variable", "norm/mean", -1, np.zeros(2)), ("variable", "norm/mean", 0, part * np.array([2.0, 3.0]))]
        for part in (1.0, 0.1)
    ]
    sides = record("steps", *values, tf1_variables=[mean, *own] if debiased else [mean], tf2_variables=[mean])
    rows = (VariableRow(mean, mean, "name", ""),)
    kind, text = first(rank(report(("6", [check("variable", "norm/mean")]), variables=rows), *sides))

    assert "moving statistics" == kind
    assert debiased == ("TF1 corrects norm/mean for the zero that it begins with, by norm/norm/mean/biased" in text)


def test_statistics_that_stand_still_on_one_side(record: Record) -> None:
    """Those of a network that one side calls as in inference, beside others that move: they are told."""
    listed = [
        {"name": name, "shape": [4], "trainable": False, "dtype": "float32", "place": None}
        for name in ("critic/variance", "maker/variance", "maker/mean")
    ]
    begun, moved_to = np.ones(4), np.array([0.9, 0.8, 0.95, 0.7])
    old, new = [], []
    for variable, later in zip(listed, (moved_to * 1.1, begun, begun), strict=True):
        for values, after in ((old, moved_to), (new, later)):
            values += [("variable", variable["name"], -1, begun), ("variable", variable["name"], 0, after)]
    for sides, side in (((old, new), "TF2"), ((new, old), "TF1")):
        recorded = record("steps", *sides, tf1_variables=listed, tf2_variables=listed)
        rows = tuple(VariableRow(variable, variable, "name", "") for variable in listed)
        failed = [check("variable", str(variable["name"])) for variable in listed]
        kind, text = first(rank(report(("6", failed), variables=rows), *recorded))

        assert "moving statistics" == kind
        assert f"On {side} maker/variance, maker/mean do not change: the update of these is not run there" in text


def test_variance_of_a_sample(record: Record) -> None:
    """A moving variance that one side makes from n values and the other from n - 1 is recognised, with n."""
    variance, before = np.array([0.1, 0.2, 0.05, 0.3]), np.array([1.0, 1.0, 0.9, 1.0])
    values = [
        [
            ("variable", "norm/mean", -1, before),
            ("variable", "norm/mean", 0, before + 0.01 * (share * variance - before)),
        ]
        for share in (64 / 63, 1.0)
    ]
    kind, text = first(rank(report(("6", [check("variable", "norm/mean")])), *record("steps", *values)))

    assert "moving statistics" == kind
    assert "It looks as if TF1 divided the sum of squares of n values by n - 1 (n about 64), TF2 by n" in text


def test_evaluation_alone(record: Record) -> None:
    """Where all of training agrees, and the evaluation does not, it is what only the evaluation reads."""
    (cause,) = rank(report(("7", [check("evaluation", "output", 2)])), *record("steps", [], []))

    assert "moving statistics" == cause.kind


def fingerprint(tap: str) -> Report:
    """Equal to the last digit with constants, different with the fingerprint from one tap on."""
    constant = check("output", "output", scenario="constant", passed=True, error=0.0, relative=0.0)
    failures = [check(kind, name, scenario="fingerprint") for kind, name in (("tap", tap), ("output", "output"))]
    return report(("3f", [constant, *failures]))


@pytest.mark.parametrize(("old", "is_mean"), [((5.0, 4.0), True), ((5.0, 3.5), False), ((4.5, 4.0), True)])
def test_a_metric_alone(record: Record, old: tuple[float, float], is_mean: bool) -> None:
    """One that TF1 means over all steps is told from one that is computed otherwise; the loss is not blamed."""
    values = [[("metric", "errors", step, value) for step, value in enumerate(side)] for side in (old, (5.0, 3.0))]
    kind, said = first(rank(report(("7", [check("metric", "errors", 1)])), *record("steps", *values)))

    assert "metric" == kind
    assert said.startswith("Metric errors differs from step 1 on; outputs and the loss agree")
    assert is_mean == ("4 of TF1 is the mean of TF2's 2 values up to there" in said)


def test_swapped_weights(record: Record) -> None:
    """Two variables of one shape that TF2 makes the other way round are the likeliest cause."""
    turned = [VARIABLES[1], VARIABLES[0], *VARIABLES[2:]]
    causes = rank(fingerprint("left"), *record("fingerprint", [], [], tf2_variables=turned))

    assert "variables" == causes[0].kind
    assert (
        "left/kernel and right/kernel have one shape, and TF2 makes them in the opposite order" in causes[0].evidence[0]
    )


def test_transposed_kernel(record: Record, tmp_path: Path) -> None:
    """Where the first layer that differs owns a square kernel, that may lie the other way."""
    record("fingerprint", [], [])
    recording = Recording(str(tmp_path / "tf2"), "tf2")
    recording.content["variables"] = list(VARIABLES)
    with recording.scenario("fingerprint") as chapter:
        chapter.add("tap", "left", np.zeros(2), auto=True, owned=["left/kernel"])
    causes = rank(fingerprint("left"), read(tmp_path / "tf1"), read(tmp_path / "tf2"))

    assert "variables" == causes[0].kind
    assert "left/kernel is square, [2, 2], and may be used transposed" in causes[0].evidence[0]


def test_forward_pass_with_constants(record: Record) -> None:
    """What differs with all variables equal is the computation, not the choice of weights."""
    failures = [check("output", "output", scenario="constant"), check("output", "output", scenario="fingerprint")]
    causes = rank(report(("3", failures[:1]), ("3f", failures[1:])), *record("constant", [], []))

    assert ["forward", "variables"] == [cause.kind for cause in causes]


def test_outputs_of_other_names_are_compared_with_nothing(record: Record) -> None:
    """That they have none beside them says nothing of the forward pass, of the loss or of gradients."""
    alone = [("output", ""), ("", "0"), ("", "1")]
    outputs = {
        scenario: [check("output", old, scenario=scenario, tf2_name=new) for old, new in alone]
        for scenario in ("constant", "steps")
    }
    gradient = check("gradient", "left/kernel", 1)
    rungs = ("3", outputs["constant"]), ("6", [*outputs["steps"], gradient])
    values = [("gradient", "left/kernel", 1, GRADIENT)]
    causes = rank(report(*rungs), *record("steps", values, [("gradient", "left/kernel", 1, GRADIENT * GRADIENT)]))
    texts = [text for cause in causes for text in cause.evidence]

    assert "no output was compared: TF1 gives output [], and TF2 gives 0 [], 1 []." in texts[0]
    assert any(text.startswith("Gradients differ at step 1") for text in texts)
    assert not any("equal weights" in text or "outputs differ" in text or "Outputs" in text for text in texts)


@pytest.mark.parametrize(("change", "size", "slight"), [(0.005, 1, True), (0.3, 1, False), (0.3, 0.01, True)])
def test_gradients_that_differ_slightly_may_be_rounding(
    record: Record, change: float, size: float, slight: bool
) -> None:
    """As where a ReLU stands at zero, or small ones beside large ones; what tells is named."""
    other = GRADIENT.copy()
    other[0, 0] += change * np.max(np.abs(GRADIENT))
    values = [
        [("gradient", "left/kernel", 0, size * gradient), ("gradient", "right/kernel", 0, GRADIENT)]
        for gradient in (GRADIENT, other)
    ]
    causes = rank(report(("6", [check("gradient", "left/kernel")])), *record("steps", *values))

    assert slight == any("--oracle" in text for cause in causes if cause.kind == "numerics" for text in cause.evidence)


FULL = np.array([[3, 1, 2], [4, 2, 1], [1, 1, 5], [2, 6, 1]])
SHORT = np.array([False, True, False, True])
PADDED = {
    "zeros": np.where(SHORT[:, None] & (np.arange(3) == 2), 0, FULL),
    "zeros in front": np.where(SHORT[:, None] & (np.arange(3) == 0), 0, FULL),
    "a mask": ~(SHORT[:, None] & (np.arange(3) > 0)),
    "frames of zeros": np.where((SHORT[:, None] & (np.arange(3) == 2))[..., None], 0.0, FULL[..., None] + [0.5, 1.5]),
    "lengths": np.where(SHORT, 2, 3),
}


def by_rows(record: Record, given: Any, differ: Any) -> Sequence[Cause]:
    """The causes of outputs of which some rows differ, from what went in beside sequences of length 3."""
    old = np.arange(8.0).reshape(4, 2)
    sides = [
        [("input", "x", 0, given), ("input", "words", 0, FULL), ("output", "output", 0, value)]
        for value in (old, old + 0.25 * np.asarray(differ)[:, None])
    ]
    return rank(report(("3f", [check("output", "output", scenario="fingerprint")])), *record("fingerprint", *sides))


@pytest.mark.parametrize(
    ("side", "words"),
    [
        ("tf2", "TF2 repeats there what the last step gave, as a masked layer of Keras does, and TF1 does not"),
        ("tf1", "TF1 repeats there what the last step gave"),
        ("neither", "one side leaves padding out"),
        ("within", "one side leaves padding out"),
    ],
)
def test_steps_behind_the_end_that_repeat_the_last_one(record: Record, side: str, words: str) -> None:
    """That is no missing mask; a difference within the rows is."""
    full = np.arange(24.0).reshape(4, 3, 2) + 1
    zeros, repeated = full.copy(), full.copy()
    zeros[SHORT, 2], repeated[SHORT, 2] = 0.0, full[SHORT, 1]
    within = zeros.copy()
    within[SHORT, 1] += 0.5
    old, new = {
        "tf2": (zeros, repeated), "tf1": (repeated, zeros), "neither": (full, zeros), "within": (within, repeated)
    }[side]  # fmt: skip
    sides = [
        [("input", "x", 0, PADDED["lengths"]), ("input", "words", 0, FULL), ("output", "output", 0, value)]
        for value in (old, new)
    ]
    check_ = check("output", "output", scenario="fingerprint")
    cause = rank(report(("3f", [check_])), *record("fingerprint", *sides))[0]

    assert "padding" == cause.kind
    assert words in cause.evidence[0]


@pytest.mark.parametrize("kind", PADDED)
def test_rows_that_are_padded(record: Record, kind: str) -> None:
    """Where these alone differ, one side has a mask; the line is that of whatever the values part at."""
    cause = by_rows(record, PADDED[kind], SHORT)[0]

    assert "padding" == cause.kind
    assert cause.evidence[0].startswith("2 of 4 rows differ, those that x says are padded, and the full ones agree")


@pytest.mark.parametrize(
    ("kind", "differ"),
    [*((kind, ~SHORT) for kind in PADDED), *((kind, [True] * 4) for kind in PADDED), ("lengths", [True] + [False] * 3)],
)
def test_rows_that_say_nothing_of_padding(record: Record, kind: str, differ: Any) -> None:
    """Full rows that differ, all of them, or one of those that are padded."""
    assert "padding" not in {cause.kind for cause in by_rows(record, PADDED[kind], differ)}


def test_extra_random_op(record: Record) -> None:
    """The first draw without a counterpart is named with its line."""
    drop, extra = (RandomOp("RandomUniform", 0, shape, "step", ("/p/model.py", 9)) for shape in ((4, 12), ()))
    causes = rank(
        report(("4", [check("output", "output", scenario="aligned")]), random_ops={"aligned": ([drop], [extra, drop])}),
        *record("aligned", [], []),
    )

    assert "randomness" == causes[0].kind
    assert (
        "the first without a counterpart is number 1 of TF2, RandomUniform of shape [] at /p/model.py:9"
        in (causes[0].evidence[0])
    )


def test_dropout_rates(record: Record) -> None:
    """Rates that the sides tell are compared where training differs."""
    layers = [[{"name": "drop", "class": "Dropout", "config": {"rate": rate}}] for rate in (0.25, 0.75)]
    sides = record("aligned", [], [], tf1_layers=layers[0], tf2_layers=layers[1])
    causes = rank(report(("4", [check("output", "output", scenario="aligned")])), *sides)

    assert ("dropout rate", "rate of drop is 0.25 on TF1 and 0.75 on TF2.") == first(causes)


def test_other_initial_values(record: Record) -> None:
    """Initial values of another distribution are randomness first, and name the variables."""
    failures = [check("sample", "left/kernel", scenario="inference", problem="the scales differ")]
    kind, text = first(rank(report(("4", failures)), *record("inference", [], [])))

    assert "randomness" == kind
    assert "The initial values of left/kernel are drawn in another way: the scales differ." == text


def test_missing_variable(record: Record) -> None:
    """A variable without a counterpart outweighs everything that follows from it."""
    rows = (VariableRow(VARIABLES[0], None, "", "missing on TF2"),)
    failures = [check("output", "output", scenario="fingerprint")]
    kind, text = first(rank(report(("2", []), ("3f", failures), variables=rows), *record("fingerprint", [], [])))

    assert ("variables", "left/kernel: missing on TF2.") == (kind, text)


@pytest.mark.parametrize(("forward", "reached"), [(False, False), (True, False), (False, True)])
def test_weights_of_another_network_are_no_cause(record: Record, forward: bool, reached: bool) -> None:
    """The graph of a program has them all; what the training step reaches, or the forward pass needs, is missing."""
    gradients = [("gradient", "left/kernel", 0, GRADIENT)]
    more = [("gradient", "other/kernel", 0, GRADIENT)] if reached else []
    other = {**VARIABLES[0], "name": "other/kernel"}
    rows = (*(VariableRow(one, one, "name", "") for one in VARIABLES), VariableRow(other, None, "", "only in TF1"))
    failures = [("3", [check("output", "output", scenario="constant")])] if forward else []
    causes = rank(
        report(("2", []), *failures, ("6", [check("gradient", "left/kernel")]), variables=rows),
        *record("steps", [*gradients, *more], gradients),
    )
    weight = next(cause.weight for cause in causes if cause.kind == "variables")

    assert (weight < 0.2) == (not forward and not reached)
    assert (causes[0].kind == "variables") == (forward or reached)


def test_growing_rounding(record: Record) -> None:
    """A difference that is small from the start and grows with every step is rounding."""
    errors = [1e-7, 4e-7, 1e-6, 3e-6]
    checks = [
        check("loss", "loss", step, passed=step < 3, error=error, floor=1e-6) for step, error in enumerate(errors)
    ]
    causes = rank(report(("7", checks)), *record("steps", [], []))

    assert "numerics" in [cause.kind for cause in causes[:2]]


def test_noise_of_the_program(record: Record) -> None:
    """A first difference within what runs of one side differ by is noise before anything else."""
    failures = [check("evaluation", "output", error=1e-5, floor=1e-4), check("variable", "norm/mean", error=1e-5)]
    causes = rank(report(("6", failures)), *record("steps", [], []))

    assert "numerics" == causes[0].kind


def test_other_inputs(record: Record) -> None:
    """Inputs that differ are certain."""
    causes = rank(report(problems=("input input differs at step 0",)), *record("steps", [], []))

    assert [("inputs", 1.0)] == [(cause.kind, cause.weight) for cause in causes]


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
@pytest.mark.parametrize("kind", ["loss", "gradient", "learning_rate", "regularization", "update", "variable", "slot"])
def test_values_without_a_size(record: Record, kind: str, value: float) -> None:
    """NaN, infinity or zero everywhere on one side leave classes to name, and raise nothing."""
    sides = []
    for fill in (1.0, value):
        scalars = [(name, name, step, fill) for step in range(3) for name in ("loss", "learning_rate")]
        scalars += [("regularization", "total", step, fill) for step in range(3)]
        arrays = [("variable", "norm/mean", step, np.full(2, fill)) for step in range(-1, 3)]
        arrays += [
            (name, "left/kernel", step, np.full((2, 2), fill)) for step in range(3) for name in ("gradient", "variable")
        ]
        sides.append([*scalars, *arrays])
    name = kind if kind in ("loss", "learning_rate") else "total" if kind == "regularization" else "left/kernel"
    failures = [check(kind, name, 1), check("variable", "norm/mean", 1)]

    assert rank(report(("7", failures)), *record("steps", *sides))


def finding(path: str, line: int, code: str) -> Finding:
    return Finding(path, line, 1, line, 9, code, "slug", Severity.ERROR, Consequence.CHANGES, "message")


def test_findings_of_the_class(record: Record) -> None:
    """Only findings of the files that ran and of rules that fit are named, those at the divergent line first."""
    far, at = finding("p/model.py", 30, "TF403"), finding("p/model.py", 7, "TF205")
    others = [finding("other.py", 7, "TF403"), finding("p/model.py", 7, "TF201")]
    sides = record("steps", [("variable", "norm/mean", 0, [1.0, 2.0])], [("variable", "norm/mean", 0, [1.0, 3.0])])
    (cause,) = rank(report(("6", [check("variable", "norm/mean")])), *sides, [far, *others, at])

    assert ("moving statistics", (at, far)) == (cause.kind, cause.findings)


def test_findings_where_tf1_is_held_against_itself_are_no_cause(record: Record) -> None:
    """Both places of such a value are of TF1, whose code runs in a graph."""
    sides = record("steps", [("variable", "norm/mean", 0, [1.0, 2.0])], [("variable", "norm/mean", 0, [1.0, 3.0])])
    place = ("/p/graph.py", 3)
    modes = check("loss", "loss", passed=True, tf1_place=place, tf2_place=place)
    found = report(("6", [check("variable", "norm/mean")]), ("8", [modes]))
    causes = rank(found, *sides, [finding("p/graph.py", 3, "TF403")])

    assert "moving statistics" == causes[0].kind
    assert {()} == {cause.findings for cause in causes}


def test_codes_are_rules() -> None:
    """Every code of the table is a rule of this program."""
    rules = {
        text.split('"')[1]
        for file in (Path(__file__).parents[3] / "rules").rglob("*.py")
        for text in file.read_text("utf-8").splitlines()
        if text.startswith('    code = "TF')
    }

    assert set() == {code for codes in CODES.values() for code in codes} - rules


def test_weights_are_ordered(record: Record) -> None:
    """The likeliest class comes first, and nothing but inputs that were seen to differ is certain."""
    sides: Mapping[str, Any] = {"tf1_optimizers": [{"epsilon": 1e-8}], "tf2_optimizers": [{"epsilon": 1e-7}]}
    causes = rank(report(("6", [check("update", "left/kernel", 1)])), *record("steps", [], [], **sides))
    weights = [cause.weight for cause in causes]

    assert sorted(weights, reverse=True) == weights
    assert max(weights) < 1.0


def test_variances_of_layers_of_several_sizes(record: Record) -> None:
    """TF1 divides by n - 1 in both layers, whose n differ; where TF2 is Keras 3 that is known of it."""
    variances = [np.array([0.3, 1.2, 2.0, 0.7]), np.array([1.5, 0.4, 0.9, 3.0])]
    names = ("one/variance", "two/variance")
    listed = [
        {"name": name, "shape": [4], "trainable": False, "dtype": "float32", "place": None} for name in (*names, "w")
    ]
    old, new = [], []
    for name, variance, count in zip(names, variances, (12, 40), strict=True):
        for values, factor in ((old, count / (count - 1)), (new, 1.0)):
            values += [("variable", name, -1, np.ones(4)), ("variable", name, 0, 0.9 + 0.1 * factor * variance)]
    failures = [check("variable", name) for name in names]
    rows = tuple(VariableRow(variable, variable, "name", "") for variable in listed)
    sides = record("steps", old, new, tf1_variables=listed, tf2_variables=listed)
    sides[1].content["versions"].update(target="keras3")  # type: ignore[attr-defined]
    kind, text = first(rank(report(("6", failures), variables=rows), *sides))

    assert "moving statistics" == kind
    assert "by n - 1 (n about 12, 40), TF2 by n: batch normalization of Keras 3 does so" in text


def test_decay_of_weights_in_the_update(record: Record) -> None:
    """Updates that all differ by one share of the weight are decayed on one side."""
    old, new = [], []
    for name, weight in (("left/kernel", KERNEL), ("right/kernel", 2 * KERNEL)):
        for values, share in ((old, 0.0), (new, 0.01)):
            values += [("variable", name, -1, weight), ("gradient", name, 0, GRADIENT)]
            values += [("variable", name, 0, weight - 0.1 * GRADIENT - share * weight)]
    failures = [check("update", name) for name in ("left/kernel", "right/kernel")]
    kind, text = first(rank(report(("6", failures)), *record("steps", old, new)))

    assert "update rule" == kind
    assert "differs by 0.01 of the weight itself, as if TF2 alone decayed it" in text


def test_the_line_that_makes_an_update_is_named(record: Record) -> None:
    """Where the program hands on the gradients, not where the weight was made."""
    values = [("gradient", "left/kernel", 0, GRADIENT)]
    _, text = first(rank(report(("6", [check("update", "left/kernel")])), *record("steps", values, values)))
    _, silent = first(rank(report(("6", [check("update", "right/kernel")])), *record("steps", values, values)))

    assert "TF2 makes it at /p/model.py:7" in text
    assert "TF2 makes it" not in silent


@pytest.mark.parametrize(("seen", "gradient"), [("gradient", -GRADIENT.T), ("update", GRADIENT)])
def test_gradients_that_are_applied_twice(record: Record, seen: str, gradient: np.ndarray) -> None:
    """As where the optimizer of one network is given the weights of another as well; the first ones may be right."""
    old = [("gradient", "left/kernel", 0, GRADIENT)]
    new = [("gradient", "left/kernel", 0, gradient), ("gradient", "left/kernel#2", 0, GRADIENT)]
    kind, text = first(rank(report(("6", [check(seen, "left/kernel")])), *record("steps", old, new)))

    assert "update rule" == kind
    assert "in one step TF2 applies gradients to left/kernel more than once, at /p/model.py:7 again" in text


def test_two_updates_of_one_weight_have_no_order_in_a_session(record: Record) -> None:
    """Where both sides make them, neither makes one too many."""
    values = [("gradient", "left/kernel", 0, GRADIENT), ("gradient", "left/kernel#2", 0, GRADIENT)]
    kind, text = first(rank(report(("6", [check("update", "left/kernel")])), *record("steps", values, values)))

    assert "update rule" == kind
    assert "both sides apply several gradients to left/kernel" in text
    assert "in no order unless control dependencies give one" in text
    scaled = [values[0], ("gradient", "left/kernel#2", 0, 1.5 * GRADIENT)]
    kind, text = first(rank(report(("6", [check("gradient", "left/kernel#2")])), *record("steps", values, scaled)))

    assert "update rule" == kind
    assert "all are 1.5 times TF1's, as by clipping or another scale" in text


def test_gradients_of_which_only_shapes_differ_say_nothing_of_clipping(record: Record) -> None:
    """Rung 2 tells of shapes; gradients that agree have no factor."""
    values = [("gradient", "left/kernel", 0, GRADIENT)]
    failures = [check("gradient", "wide/kernel", problem="the shapes differ: [2, 5] and [10]")]
    causes = rank(report(("6", failures)), *record("steps", values, values))

    assert not any("clipping" in text or "factor" in text for cause in causes for text in cause.evidence)


def test_training_that_begins_with_other_values(record: Record) -> None:
    """What follows from them is no evidence of anything else."""
    values = [[("variable", "left/kernel", -1, factor * KERNEL)] for factor in (1, 2)]
    failures = [check("variable", "left/kernel", -1), check("output", "output")]

    assert ("variables", "Training begins with other values of left/kernel; what follows from them differs too.") == (
        first(rank(report(("6", failures)), *record("steps", *values)))
    )


def test_rmsprop_begins_elsewhere_in_keras(record: Record) -> None:
    """At 1 in TF1, at 0 in Keras."""
    sides = record(
        "steps", [], [], tf1_optimizers=[{"class": "RMSPropOptimizer"}], tf2_optimizers=[{"class": "RMSprop"}]
    )
    causes = rank(report(("6", [check("update", "left/kernel")])), *sides)

    assert "RMSPropOptimizer begins its mean of squares at 1, RMSprop of Keras at 0" in " ".join(causes[0].evidence)


def test_rmsprop_that_begins_as_in_tf1_is_no_cause(record: Record) -> None:
    """A class of one's own may set its mean of squares to 1: then the slots agree."""
    sides = record(
        "steps", [], [], tf1_optimizers=[{"class": "RMSPropOptimizer"}], tf2_optimizers=[{"class": "RMSprop"}]
    )
    slots = [check("slot", f"{name}/kernel/rmsprop.rms", passed=True) for name in ("left", "right")]
    causes = rank(report(("6", [*slots, check("update", "left/kernel")])), *sides)

    assert "begins its mean of squares" not in " ".join(text for cause in causes for text in cause.evidence)


@pytest.mark.parametrize(("begin", "told"), [(0.0, True), (1.0, False), (0.5, False)])
def test_rmsprop_of_which_slots_and_gradients_are_known(record: Record, begin: float, told: bool) -> None:
    """Where gradients differ, so do slots; that they begin at 0 is seen in what a step makes of them."""
    values: list[list[Value]] = [[], []]
    for side, gradient in zip(values, (GRADIENT, 2 * GRADIENT), strict=True):
        slot = 0.9 * begin + 0.1 * gradient**2
        side += [("gradient", "left/kernel", 0, gradient), ("slot", "left/kernel/rmsprop.rms", 0, slot)]
    sides = record(
        "steps", *values, tf1_optimizers=[{"class": "RMSPropOptimizer"}], tf2_optimizers=[{"class": "RMSprop"}]
    )
    slots = [check("slot", "left/kernel/rmsprop.rms"), check("update", "left/kernel")]
    evidence = " ".join(text for cause in rank(report(("6", slots)), *sides) for text in cause.evidence)

    assert told == ("begins its mean of squares" in evidence)


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("Sum on TF1, Mean on TF2", ["forward", "variables"]),
        ("rate 2 on TF1, 3 on TF2", ["forward", "variables"]),
        ("variable a on TF1, b on TF2", ["variables", "forward"]),
        ("", ["variables", "forward"]),
    ],
)
def test_weights_that_may_have_changed_places_come_after_what_was_seen(
    record: Record, words: str, kinds: list[str]
) -> None:
    """Another operation explains as much as another order of two variables, which is a guess."""
    sides = record("fingerprint", [], [], tf2_variables=[VARIABLES[1], VARIABLES[0], *VARIABLES[2:]])
    told = fingerprint("left")
    deviation = told.rungs[-1].checks[-1]
    side = OperationSide("Sum", ("/p/model.py", 7), (2, 2), ())
    pair = OperationPair("fingerprint", 0, side, side, (), (words,) if words else (), 1.0)
    first_divergence = Divergence("3f", deviation, None, "", False, pair)

    assert kinds == [cause.kind for cause in rank(replace(told, first_divergence=first_divergence), *sides)]


def test_names_that_work_through_compat_v1_are_no_cause(record: Record) -> None:
    """A TF1 program is full of them; the removed ones stay."""
    found = [
        Finding("p/model.py", 7, 1, 7, 9, "TF406", "moved-or-removed-symbol", severity, Consequence.BREAKS, "text")
        for severity in (Severity.INFO, Severity.ERROR)
    ]
    causes = rank(report(("6", [check("loss", "loss")])), *record("steps", [], []), found)

    assert [Severity.ERROR] == [finding.severity for finding in causes[0].findings]


def moved(one: Any, other: Any, output: Sequence[int] = ()) -> list[list[Value]]:
    """A moving variance of four channels after a step of each side, and the output of the layer that has it."""
    before = np.ones(4)
    taps: list[Value] = [("tap", "norm", 0, np.zeros(output))] if output else []
    return [
        [("variable", "norm/variance", -1, before), ("variable", "norm/variance", 0, np.float32(after)), *taps]
        for after in (one, other)
    ]


def told_of_variance(record: Record, values: Sequence[Sequence[Value]]) -> str:
    """What is said of it; the tap, where there is one, has the variable."""
    listed = [{"name": "norm/variance", "shape": [4], "trainable": False, "dtype": "float32", "place": None}]
    sides = record("steps", *values, tf1_variables=listed, tf2_variables=listed)
    for side in sides:
        for one in side.scenario("steps").of_kind("tap"):
            one.more["owned"] = ["norm/variance"]  # type: ignore[index]
    rows = tuple(VariableRow(variable, variable, "name", "") for variable in listed)
    kind, text = first(rank(report(("6", [check("variable", "norm/variance")]), variables=rows), *sides))
    assert "moving statistics" == kind
    return text


VARIANCE = np.array([0.3, 1.2, 2.0, 0.7])


@pytest.mark.parametrize("momenta", [(0.9, 0.89), (0.99, 0.98), (0.9997, 0.9996), (0.95, 0.94), (0.8, 0.7), (0.5, 0.1)])
def test_another_momentum_is_no_other_variance(record: Record, momenta: tuple[float, float]) -> None:
    """Its ratio is such as n / (n - 1) may be, and only rounding looks like a share of the old value."""
    one, other = (momentum + (1 - momentum) * VARIANCE for momentum in momenta)
    text = told_of_variance(record, moved(one, other))

    assert "that is the ratio of 1 - momentum" in text
    assert "n - 1" not in text


@pytest.mark.parametrize("count", [2, 4, 12, 64, 200])
def test_the_number_of_values_is_looked_up(record: Record, count: int) -> None:
    """Where the layer's output is known, the fitted n has to be that of its values."""
    sides = 0.9 + 0.1 * VARIANCE * count / (count - 1), 0.9 + 0.1 * VARIANCE

    assert "by n - 1" in told_of_variance(record, moved(*sides, output=(count, 4)))
    assert "by n - 1" not in told_of_variance(record, moved(*sides, output=(2 * count, 4)))


@pytest.mark.parametrize("decay", [0.9, 0.99, 0.999, 0.9997, 0.9999])
def test_a_slow_average_does_not_hide_the_other_variance(record: Record, decay: float) -> None:
    """Its changes are a few units in the last place of what they change, and the number of values is known."""
    sides = decay + (1 - decay) * VARIANCE * 64 / 63, decay + (1 - decay) * VARIANCE
    rounded = [side.astype(np.float32) for side in sides]

    assert "by n - 1 (n about 64)" in told_of_variance(record, moved(*rounded, output=(64, 4)))


def test_statistics_that_move_alike_average_other_values(record: Record) -> None:
    """They are no cause of gradients that differ in the same step; an epsilon that TF1 raised may be one."""
    one = 0.9 + 0.1 * VARIANCE
    sides = moved(one, one + 2e-5 * np.array([1, 0, 0, 0]))
    listed = [{"name": name, "shape": [4], "trainable": name == "w"} for name in ("norm/variance", "w")]
    layers = [
        [{"name": "norm", "class": "FusedBatchNorm", "config": {"epsilon": epsilon}}] for epsilon in (1.001e-5, 1e-5)
    ]
    recorded = record(
        "steps", *sides, tf1_variables=listed, tf2_variables=listed, tf1_layers=layers[0], tf2_layers=layers[1]
    )
    rows = tuple(VariableRow(variable, variable, "name", "") for variable in listed)
    failed = [check("gradient", "w"), check("variable", "norm/variance")]
    found = {cause.kind: cause for cause in rank(report(("6", failed), variables=rows), *recorded)}

    assert 0.3 == found["moving statistics"].weight < found["forward"].weight
    assert (
        "epsilon of norm is 1.001e-05 on TF1 and 1e-05 on TF2, which small variances show." in found["forward"].evidence
    )


@pytest.mark.parametrize("channel", range(4))
def test_a_ratio_of_one_is_no_ratio(record: Record, channel: int) -> None:
    """Statistics that move alike but for a little have no other momentum."""
    one = 0.9 + 0.1 * VARIANCE
    other = one + 2e-5 * (np.arange(4) == channel)

    assert "They change alike on both sides, but for" in told_of_variance(record, moved(one, other))


WEIGHTS = {
    "zeros and ones": [1, 1, 0, 1, 0, 1, 1, 0],
    "a column": [[1], [0], [1], [1], [0]],
    "by step": [[1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 0]],
    "not whole": [0.5, 2, 0, 1, 0],
    "all but one": [1, 1, 0],
}


@pytest.mark.parametrize("sides", ["tf1", "tf2"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_that_are_not_zero(record: Record, name: str, sides: str) -> None:
    """One side divides by their number, as tf.compat.v1.losses does, and the other by that of all."""
    weights = np.array(WEIGHTS[name], float)
    mean, of_those = 0.5, 0.5 * weights.size / np.count_nonzero(weights)
    old, new = (of_those, mean) if sides == "tf1" else (mean, of_those)
    values = [[("label", "weights", 0, weights), ("loss", "loss", 0, value)] for value in (old, new)]
    causes = rank(report(("6", [check("loss", "loss")])), *record("steps", *values))

    assert f"it is {new / old:.3g} times as much" in causes[0].evidence[0]
    assert f"by the {np.count_nonzero(weights)} of them that are not zero" in causes[0].evidence[0]


def test_a_share_of_a_batch_without_weights_is_a_guess(record: Record) -> None:
    """Five of eight; of a thousand, any factor is a share."""
    for size, said in ((8, True), (1000, False)):
        values = [[("input", "x", 0, np.ones((size, 3))), ("loss", "loss", 0, value)] for value in (0.8, 0.5)]
        causes = rank(report(("6", [check("loss", "loss")])), *record("steps", *values))

        assert said == ("averaged over 5 of the 8 examples" in causes[0].evidence[0])


def test_code_of_tf1_alone_is_no_cause(record: Record) -> None:
    """It runs in its graph, in files or functions of its own; what both sides run can be one."""
    old = replace(finding("p/old.py", 3, "TF403"), function=Span(1, 5))
    inside = replace(finding("p/pair.py", 12, "TF403"), function=Span(10, 15))
    beside = replace(finding("p/pair.py", 22, "TF403"), function=Span(20, 25))
    shared = replace(finding("p/pair.py", 32, "TF403"), function=Span(30, 35))
    alone = finding("p/pair.py", 42, "TF403")
    values = [("variable", "norm/mean", -1, [1.0, 1.0]), ("variable", "norm/mean", 0, [1.0, 2.0])]
    others = [("variable", "norm/mean", -1, [1.0, 1.0]), ("variable", "norm/mean", 0, [1.0, 3.0])]
    failed = check("variable", "norm/mean", tf1_place=("/p/pair.py", 12), tf2_place=("/p/pair.py", 22))
    both = check("variable", "norm/mean", tf1_place=("/p/pair.py", 31), tf2_place=("/p/pair.py", 33), passed=True)
    sides = record("steps", values, others, tf2_variables=[{**VARIABLES[0], "place": ["/p/pair.py", 21]}])
    (cause,) = rank(report(("6", [failed, both])), *sides, [old, inside, beside, shared, alone])

    assert {beside, shared, alone} == set(cause.findings)


def test_dropouts_are_told_apart_where_not_all_are_seen() -> None:
    """By a shape that no other has; of two of one shape it is not known which is which."""

    def drops(*drawn: tuple[tuple[int, ...], float]) -> list[Any]:
        return [dropout._Drop(at, shape, rate, rate, 10, 100, ("m.py", at)) for at, (shape, rate) in enumerate(drawn)]

    olds, news = drops(((8, 4), 0.2), ((8, 6), 0.5)), drops(((8, 4), 0.8), ((8, 6), 0.5), ((8, 6), 0.1))
    (clue,) = dropout._alike(olds, news, 0.97)

    assert "the rate is 0.2 at m.py:0" in clue.text
    assert "a probability to keep is used as a rate" in clue.text
    assert not list(dropout._alike(olds[1:], news[1:], 0.97))


@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_a_pass_that_reads_what_a_step_leaves_takes_no_other_way(record: Record, evaluated: bool, kept: bool) -> None:
    """It is told where inference between the steps differs as well, or where TF2 alone has variables."""
    rows = [*VARIABLES, *([{"name": "state", "shape": [2], "trainable": False}] if kept else [])]
    variables = [VariableRow(None, row, "", "only in TF2") for row in rows[len(VARIABLES) :]]
    failed = [check("output", "output", 1), *([check("evaluation", "output")] if evaluated else [])]
    sides = record("steps", [("output", "output", 1, [1.0])], [("output", "output", 1, [2.0])], tf2_variables=rows)
    _, text = first(rank(report(("7", failed), variables=tuple(variables)), *sides))

    assert (evaluated or kept) == ("It reads something that the step before left" in text)
    assert kept == ("as may be state, of TF2 alone" in text)


@pytest.mark.parametrize(
    ("shapes", "factor", "words"),
    [
        (((4,), (4,)), 0.25, "The loss of TF1 has 4 values: its gradient is that of their sum, and TF2 takes"),
        (((), (4,)), 4.0, "The loss of TF2 has 4 values"),
        (((4,), ()), 0.5, "as by clipping or another scale"),
        (((), ()), 0.25, "as by clipping or another scale"),
    ],
)
def test_gradients_of_a_sum_and_of_a_mean(
    record: Record, shapes: Sequence[tuple[int, ...]], factor: float, words: str
) -> None:
    """TensorFlow gives the gradient of the sum of a loss that has several values."""
    losses = [("loss", "loss", 0, np.ones(shape)) for shape in shapes]
    sides = record(
        "steps",
        [losses[0], ("gradient", "left/kernel", 0, GRADIENT), ("gradient", "right/kernel", 0, GRADIENT)],
        [losses[1], *(("gradient", name, 0, factor * GRADIENT) for name in ("left/kernel", "right/kernel"))],
    )
    failed = [check("gradient", "left/kernel"), check("gradient", "right/kernel")]
    kind, text = first(rank(report(("6", failed)), *sides))

    assert words in text
    assert (kind == "loss") == ("values" in words)
