"""Reports that were never measured: of equal sides, of sides that differ, and of many variables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from migrate_lint.linter.finding import Consequence, Finding, Severity
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import (
    Cause,
    Deviation,
    Divergence,
    RandomOp,
    Rung,
    Series,
    SideSummary,
    Status,
    Timing,
    VariableRow,
)

HOSTILE = "</script><script>hacked=1</script><img src=x onerror=hacked=1><!--'\"`${hacked=1}`&lt;\x1b[31m"
NAN = math.nan
LAYERS = ("stem/conv", "stem/relu", "block1/conv", "block1/bn", "block1/relu", "block2/conv", "block2/bn", "head/dense")
FINDING = Finding(
    "new/model.py",
    31,
    5,
    31,
    40,
    "TF502",
    "batch-norm-epsilon",
    Severity.WARNING,
    Consequence.CHANGES,
    "`BatchNormalization` has epsilon 1e-3 here and 1e-5 there",
)


def check(kind: str = "tap", name: str = "block1/bn", excess: float = 0.2, **changes: Any) -> Deviation:
    """A value of size 1 with atol 1e-5 and an rtol of 0."""
    error = excess * 1e-5
    made = Deviation(
        scenario="fingerprint",
        kind=kind,
        tf1_name=name,
        tf2_name=name,
        step=0,
        order=0,
        dtype="float32",
        shape=(4, 8),
        passed=excess <= 1,
        counts=True,
        error=error,
        relative=error,
        at=(0, 3),
        tf1_value=1.0,
        tf2_value=1.0 + error,
        rtol=0.0,
        atol=1e-5,
        excess=excess,
        floor=2e-7,
        needed_rtol=error,
        tf1_place=("old/model.py", 12),
        tf2_place=("new/model.py", 31),
    )
    return replace(made, **changes)


def side(name: str, **changes: Any) -> SideSummary:
    versions = {"tensorflow": "2.21.0", "keras": "3.15.0", "python": "3.12", "target": "keras3"}
    return replace(SideSummary(name, versions, (), (), None, (), 3.5, 900 << 20), **changes)


def rung(number: str, status: Status = Status.PASS, checks: Iterable[Deviation] = (), **changes: Any) -> Rung:
    names = {
        "1": ("once", "variables are created once"),
        "2": ("variables", "variables match"),
        "3": ("constant", "all variables at a constant"),
        "3f": ("fingerprint", "fingerprint fill"),
        "4": ("random", "aligned randomness"),
        "5": ("checkpoint", "TF1 checkpoint"),
        "6": ("step", "one training step"),
        "7": ("steps", "training steps"),
        "8": ("modes", "modes of execution"),
    }
    name, title = names[number]
    details = {
        Status.PASS: "",
        Status.FAIL: "values differ",
        Status.NOT_RUN: "the pair names no checkpoint",
        Status.VACUOUS: "all outputs are 0",
    }
    checks = tuple(checks)
    if status is Status.PASS and checks:
        most = max(check.excess for check in checks)
        details[status] = f"{len(checks)} values agree, at most {most:.3g} x the tolerance"
    return replace(Rung(number, name, title, status, details[status], checks=checks), **changes)


def equal(**changes: Any) -> Report:
    """Both sides agree on all rungs but the one without a checkpoint."""
    forward = [check(name=name, excess=0.1 * order, order=order) for order, name in enumerate(LAYERS)]
    rungs = (
        rung("1"),
        rung("2"),
        rung("3", checks=forward),
        rung("3f", checks=forward),
        rung("4", checks=forward),
        rung("5", Status.NOT_RUN),
        rung("6", checks=training(1)),
        rung("7", checks=training(3)),
        rung("8", checks=forward),
    )
    made = Report("old/model.py", "noise", (side("tf1"), side("tf2")), rungs, variables(), {}, series(3), None, ())
    return replace(made, **changes)


def training(steps: int, since: int = 1 << 30, names: Iterable[str] = LAYERS) -> list[Deviation]:
    """Losses, gradients and variables of some steps, which differ from a step on."""
    made: list[Deviation] = []
    for step in range(steps):
        grown = 0.1 if step < since else 30.0 * 1.2 ** (step - since)
        made.append(check("loss", "loss", grown, scenario="steps", step=step, shape=(), at=()))
        for place, name in enumerate(names):
            excess = grown * (1 + math.sin(place))
            for kind in ("gradient", "variable"):
                made.append(check(kind, f"{name}/kernel", excess, scenario="steps", step=step, counts=kind != "tap"))
    return [replace(one, order=order) for order, one in enumerate(made)]


def variables(number: int = 0) -> tuple[VariableRow, ...]:
    """A row a layer, and some without a counterpart or of another shape."""
    names = [f"{name}/kernel" for name in LAYERS] + [f"net/block{one}/weights" for one in range(number)]
    rows = [VariableRow(_variable(name), _variable(name), "name", "") for name in names]
    return (
        *rows,
        VariableRow(_variable("logits/weights"), _variable("head/kernel"), "rename", ""),
        VariableRow(_variable("beta"), None, "", "only in TF1"),
        VariableRow(None, _variable("extra", tracked=False), "", "only in TF2"),
        VariableRow(_variable("a"), _variable("b", shape=[8, 4]), "suggestion", "shapes differ"),
    )


def _variable(name: str, **changes: Any) -> dict[str, Any]:
    known = {"name": name, "shape": [4, 8], "dtype": "float32", "trainable": True, "tracked": True}
    return known | {"place": ["old/model.py", 7]} | changes


def series(steps: int, drift: float = 0.0) -> tuple[Series, ...]:
    loss = [2.0 * math.exp(-0.02 * step) for step in range(steps)]
    other = [value * (1 + drift * step) for step, value in enumerate(loss)]
    rate = [1e-3 * (1 - step / 1000) for step in range(steps)]
    numbers = tuple(range(steps))
    return (
        Series("loss", "loss", numbers, tuple(loss), tuple(other)),
        Series("learning_rate", "learning_rate", numbers, tuple(rate), tuple(rate)),
    )


def random_ops(number: int = 6) -> dict[str, tuple[list[RandomOp], list[RandomOp]]]:
    """The TF2 side draws once more, after the third."""
    left = [RandomOp("RandomUniform", seed, (4, 8), "step", ("old/model.py", 20 + seed)) for seed in range(number)]
    right = [replace(one, place=("new/model.py", 40 + one.seed)) for one in left]
    extra = RandomOp("TruncatedNormal", 3, (8,), "step", ("new/model.py", 99))
    after = [replace(one, seed=one.seed + 1) for one in right[3:]]
    return {"training": (left, [*right[:3], extra, *after])}


def differing(steps: int = 30, count: int = 0) -> Report:
    """Batch normalisation has another epsilon in one layer, and training goes its own way from step 2 on."""
    names = [*LAYERS, *(f"net/block{one}/weights" for one in range(count))]
    size = {name: 0.05 if order < 3 else 6e3 / (1 + 0.1 * order) for order, name in enumerate(LAYERS)}
    forward = [
        check(
            name=name,
            excess=size[name],
            order=order,
            tf2_name=name.replace("bn", "batch_normalization"),
            tf1_place=("old/model.py", 10 + order),
            tf2_place=("new/model.py", 28 + order),
            counts=False,
        )
        for order, name in enumerate(LAYERS)
    ]
    output = check("output", "output", 4e3, order=len(LAYERS))
    steps_checks = training(steps, 2, names)
    broken = check("metric", "accuracy", NAN, scenario="steps", passed=False, problem="shape (2,) and (3,)")
    rungs = (
        rung("1"),
        rung("2", Status.FAIL, detail="2 variables have no counterpart"),
        rung("3", checks=[replace(one, excess=0.0, error=0.0, passed=True, scenario="constant") for one in forward]),
        rung("3f", Status.FAIL, [*forward, output], needed="rtol 0.061", notes=("run from suggested names",)),
        rung("4", Status.VACUOUS),
        rung("5", Status.NOT_RUN),
        rung("6", checks=training(1)),
        rung("7", Status.FAIL, [*steps_checks, broken], detail="differs from step 2 on"),
        rung("8", Status.NOT_RUN, detail="left out by --until"),
    )
    first = Divergence(
        "3f", forward[3], forward[2], "its inputs agree within 0.05 x the tolerance, its output does not"
    )
    causes = (
        Cause("forward", 0.8, ("rung 3f fails and rung 3 does not", "epsilon is 0.001 and 1e-05"), (FINDING,)),
        Cause("moving statistics", 0.1, ("a batch normalization differs",)),
    )
    adapted = side("tf2", adaptations=("the weights of TF1 were copied",), notes=("3 taps were left out",))
    made = Report(
        "old/model.py against new/model.py",
        "noise",
        (side("tf1"), adapted),
        rungs,
        variables(count),
        random_ops(),
        series(steps, 2e-3),
        first,
        causes,
    )
    return made


def hostile() -> Report:
    """Every text that a stranger may have chosen, as markup."""
    place = (HOSTILE, 3)
    worst = check("tap", HOSTILE, 9.0, tf2_name=f"{HOSTILE}2", tf1_place=place, tf2_place=place, problem=HOSTILE)
    named = replace(worst, problem="")
    described = _variable(HOSTILE) | {"dtype": HOSTILE, "place": [HOSTILE, 1]}
    op = RandomOp(HOSTILE, 1, (None,), HOSTILE, place)
    base = differing(3)
    rungs = (
        replace(
            base.rungs[3],
            checks=(worst, named),
            detail=HOSTILE,
            title=HOSTILE,
            name=HOSTILE,
            needed=HOSTILE,
            notes=(HOSTILE,),
        ),
        rung("7", Status.FAIL, [replace(named, scenario="steps", kind="variable"), replace(named, scenario=HOSTILE)]),
    )
    finding = replace(FINDING, path=HOSTILE, code=HOSTILE, slug=HOSTILE, message=HOSTILE)
    timing = Timing(HOSTILE, (0.1,), (1 << 20,), 0, HOSTILE)
    told = side(HOSTILE, versions={HOSTILE: HOSTILE}, adaptations=(HOSTILE,), notes=(HOSTILE,), timing=timing)
    return Report(
        HOSTILE,
        HOSTILE,
        (told, told),
        rungs,
        (VariableRow(described, described, HOSTILE, HOSTILE),),
        {HOSTILE: ([op], [op, op])},
        (Series(HOSTILE, HOSTILE, (0, 1), (1.0, 2.0), (1.0, 3.0)),),
        Divergence("3f", worst, worst, HOSTILE),
        (Cause(HOSTILE, 0.5, (HOSTILE,), (finding,)),),
    )
