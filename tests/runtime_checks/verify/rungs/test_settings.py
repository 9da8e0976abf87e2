"""Settings that differ are a difference, whether or not anything that was run depends on them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.reading import read

from ..programs import CLEAN, Program, record

ADAM = {"class": "AdamOptimizer", "rule": "AdamOptimizer", "epsilon": 1e-8, "beta_1": 0.9, "beta_2": 0.999}
KERAS_ADAM = {"class": "Adam", "rule": "Adam", "epsilon": 1e-8, "beta_1": 0.9, "beta_2": 0.999, "amsgrad": False}
SGD = {"class": "GradientDescentOptimizer", "rule": "GradientDescentOptimizer"}
KERAS_SGD = {"class": "SGD", "rule": "SGD", "momentum": 0.0, "nesterov": False}
MOMENTUM = {"class": "MomentumOptimizer", "rule": "MomentumOptimizer", "momentum": 0.9, "nesterov": False}
MOVED = {"name": "learning_rate", "steps": [0, 10, 11], "values": [0.1, 0.1, 0.01], "unknown": ""}
CONSTANT = {"name": "learning_rate", "steps": [0, 10**6], "values": [0.1, 0.1], "unknown": ""}


def norm(**config: float) -> dict[str, Any]:
    return {"name": "norm", "class": "BatchNormalization", "config": config}


def drop(rate: float, name: str = "drop") -> dict[str, Any]:
    return {"name": name, "class": "Dropout", "config": {"rate": rate}}


def average(name: str, decay: float | None = 0.9, **more: Any) -> dict[str, Any]:
    return {"name": name, "average": f"{name}/Average", "decay": decay, "weight": True, "updated": True, **more}


def constrained(*effect: float) -> dict[str, Any]:
    return {"variables": {"top/kernel": {"constraint": list(effect)}}}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("settings")
    return record(Program(), folder / "tf1"), record(CLEAN, folder / "tf2")


def judged(recorded: tuple[Path, Path], tf1: dict[str, Any], tf2: dict[str, Any], **options: Any) -> Report:
    """The report of two sides that are equal but for what they say of themselves."""
    for folder, said in zip(recorded, (tf1, tf2), strict=True):
        path = folder / "record.json"
        content = json.loads(path.read_text("utf-8"))
        for key in ("optimizers", "layers", "averages", "rates"):
            content[key] = said.get(key, [])
        for row in content["variables"]:
            row.pop("constraint", None)
            row.update(said.get("variables", {}).get(row["name"], {}))
        path.write_text(json.dumps(content), "utf-8")
    return compare(read(recorded[0]), read(recorded[1]), **options)


def optimizers(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"optimizers": list(rows)}


SAME = {
    "gradient descent": (optimizers(SGD), optimizers(KERAS_SGD)),
    "Adam": (optimizers(ADAM), optimizers(KERAS_ADAM)),
    "Adam without decay": (optimizers(ADAM), optimizers({**KERAS_ADAM, "class": "AdamW", "rule": "AdamW"})),
    "what would overwrite averages": (
        optimizers(ADAM),
        optimizers({**KERAS_ADAM, "use_ema": False, "ema_overwrite_frequency": 100}),
    ),
    "rounded": (optimizers(ADAM), optimizers({**KERAS_ADAM, "beta_2": 0.9990000128746033})),
    "a class of one's own": (optimizers(ADAM), optimizers({**KERAS_ADAM, "class": "Mine"})),
    "two in another order": (optimizers(ADAM, SGD), optimizers(KERAS_SGD, KERAS_ADAM)),
    "momentum at a constant rate": (
        {**optimizers(MOMENTUM), "rates": [CONSTANT]},
        {**optimizers({**KERAS_SGD, "momentum": 0.9}), "rates": [CONSTANT]},
    ),
    "clipping": (optimizers({**SGD, "clipnorm": 3.0}), optimizers({**KERAS_SGD, "clipnorm": 2.999})),
    "dropout in another order": ({"layers": [drop(0.1), drop(0.5)]}, {"layers": [drop(0.5), drop(0.1)]}),
    "dropout twice": ({"layers": [drop(0.5), drop(0.5)]}, {"layers": [drop(0.5)]}),
    "no dropout": ({"layers": [drop(0.0), norm(momentum=0.9)]}, {"layers": [norm(momentum=0.9)]}),
    "the least epsilon": (
        {"layers": [norm(momentum=0.9, epsilon=1.001e-5)]},
        {"layers": [norm(momentum=0.9, epsilon=1e-5)]},
    ),
    "averages": ({"averages": [average("top/kernel")]}, {"averages": [average("top/kernel")]}),
    "constraints": (constrained(-0.3, 0.01, 0.3, 2.0), constrained(-0.3, 0.01, 0.3000001, 2.0)),
}
OTHER = {
    "epsilon": (optimizers(ADAM), optimizers({**KERAS_ADAM, "epsilon": 1e-7}), "epsilon of the optimizer is 1e-08"),
    "the rule": (optimizers(ADAM), optimizers(KERAS_SGD), "The optimizer is AdamOptimizer on TF1 and SGD on TF2."),
    "a decay of weights": (optimizers(ADAM), optimizers({**KERAS_ADAM, "weight_decay": 0.01}), "weight_decay"),
    "averages that overwrite": (
        optimizers(ADAM),
        optimizers({**KERAS_ADAM, "use_ema": True, "ema_overwrite_frequency": 100}),
        "ema_overwrite_frequency",
    ),
    "amsgrad": (optimizers(ADAM), optimizers({**KERAS_ADAM, "amsgrad": True}), "amsgrad"),
    "accumulated gradients": (
        optimizers(SGD),
        optimizers({**KERAS_SGD, "gradient_accumulation_steps": 4}),
        "gradient_accumulation_steps",
    ),
    "momentum under a schedule": (
        {**optimizers(MOMENTUM), "rates": [MOVED]},
        {**optimizers({**KERAS_SGD, "momentum": 0.9}), "rates": [MOVED]},
        "they part when the rate changes",
    ),
    "clipping": (optimizers({**SGD, "clipnorm": 3.0}), optimizers(KERAS_SGD), "clipnorm 3 on TF1 and by nothing"),
    "an operation for a layer": (
        {"layers": [{"name": "norm", "class": "FusedBatchNorm", "config": {"epsilon": 1e-3}}]},
        {"layers": [norm(momentum=0.9, epsilon=1e-5)]},
        "epsilon of norm is 0.001 on TF1 and 1e-05 on TF2.",
    ),
    "dropout": ({"layers": [drop(0.5)]}, {"layers": [drop(0.4)]}, "rate of drop is 0.5 on TF1 and 0.4 on TF2."),
    "dropout of several": (
        {"layers": [drop(0.5), drop(0.5), drop(0.5)]},
        {"layers": [drop(0.4)]},
        "rate of dropout is 0.5 on TF1 and 0.4 on TF2.",
    ),
    "moving statistics": ({"layers": [norm(momentum=0.99)]}, {"layers": [norm(momentum=0.999)]}, "momentum of norm"),
    "slow averages": ({"layers": [norm(momentum=0.9995)]}, {"layers": [norm(momentum=0.999)]}, "momentum of norm"),
    "near rates of dropout": ({"layers": [drop(0.5)]}, {"layers": [drop(0.4995)]}, "rate of drop is 0.5 on TF1"),
    "epsilon of the norm": (
        {"layers": [norm(momentum=0.9, epsilon=1e-3)]},
        {"layers": [norm(momentum=0.9, epsilon=1e-5)]},
        "epsilon of norm",
    ),
    "an average": ({"averages": [average("top/kernel")]}, {}, "TF1 keeps a moving average of weights (1 variable"),
    "an average of another weight": (
        {"averages": [average("top/kernel")]},
        {"averages": [average("top/bias")]},
        "TF1 keeps a moving average",
    ),
    "constraint": (constrained(-3, 0.1, 3, 4), constrained(-2, 0.1, 2, 4), "of -100 to 100 -3 to 3 on TF1 and -2 to 2"),
    "its decay": ({"averages": [average("top/bias")]}, {"averages": [average("top/bias", 0.99)]}, "has decay 0.9 on"),
}
UNKNOWN = {
    "clipping": (optimizers({**SGD, "clipping": "somehow"}), optimizers(KERAS_SGD), "clipping of gradients"),
    "optimizers": (optimizers(SGD, ADAM), optimizers(KERAS_SGD), "settings of the optimizers"),
    "a rule": (optimizers({"class": "Mine", "rule": None}), optimizers(KERAS_SGD), "rule of the optimizers Mine and"),
    "a momentum of one's own under a schedule": (
        {**optimizers(MOMENTUM), "rates": [MOVED]},
        {**optimizers({**KERAS_SGD, "class": "Mine", "rule": None, "momentum": 0.9}), "rates": [MOVED]},
        "rule of the optimizers MomentumOptimizer and Mine",
    ),
    "a hyperparameter": (optimizers(SGD), optimizers({**KERAS_SGD, "decay_of_mine": 0.5}), "decay_of_mine"),
    "the decay of an average": (
        {"averages": [average("top/bias", None)]},
        {"averages": [average("top/bias")]},
        "the decay of a moving average",
    ),
    "a constraint of one side": (constrained(-1, 0, 1, 2), {}, "constraints that TF1 alone has (top/kernel)"),
    "a constraint of the other": ({}, constrained(-1, 0, 1, 2), "constraints that TF2 alone has (top/kernel)"),
    "a constraint that reads variables": (constrained(), constrained(), "what the constraint of top/kernel does"),
    "layers": ({"layers": [drop(0.5), drop(0.1)]}, {"layers": [drop(0.5)]}, "rate of dropout"),
}


@pytest.mark.parametrize("name", SAME)
def test_settings_that_do_the_same_pass(recorded: tuple[Path, Path], name: str) -> None:
    """However they are written."""
    report = judged(recorded, *SAME[name])

    assert (Status.PASS, 0) == (report.rung("settings").status, report.status), report.rung("settings").detail


@pytest.mark.parametrize("name", OTHER)
def test_settings_that_differ_fail_though_every_value_agrees(recorded: tuple[Path, Path], name: str) -> None:
    """The same words are the evidence for the cause."""
    tf1, tf2, words = OTHER[name]
    report = judged(recorded, tf1, tf2)
    rung = report.rung("settings")
    evidence = [text for cause in report.causes for text in cause.evidence]

    assert [rung] == [one for one in report.rungs if one.status is Status.FAIL]
    assert words in rung.detail
    assert any(words in text for text in evidence)
    assert 1 == report.status


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_known_is_not_compared(recorded: tuple[Path, Path], name: str) -> None:
    """It does not fail, and it is told."""
    tf1, tf2, words = UNKNOWN[name]
    report = judged(recorded, tf1, tf2)

    assert Status.FAIL is not report.rung("settings").status
    assert any(one.startswith(words) for one in report.not_compared), report.not_compared


@pytest.mark.parametrize("side", [0, 1])
def test_a_side_that_did_not_end_its_steps_says_nothing_of_clipping(recorded: tuple[Path, Path], side: int) -> None:
    """Clipping is found by trying it after the last step; what an optimizer itself says is known all the same."""
    clipped = [optimizers({**SGD, "clipvalue": 5.0}), optimizers({**KERAS_SGD, "clipvalue": 5.0})]
    said = [plain if at == side else clipped[at] for at, plain in enumerate((optimizers(SGD), optimizers(KERAS_SGD)))]
    judged(recorded, *said)
    sides = [read(folder) for folder in recorded]
    raised = replace(sides[side].scenario(scenarios.STEPS), outcome="failed", detail="ValueError: of its own")
    sides[side] = replace(sides[side], scenarios={**sides[side].scenarios, scenarios.STEPS: raised})
    report = compare(*sides)

    assert Status.PASS is report.rung("settings").status, report.rung("settings").detail
    assert f"clipping of gradients (TF{side + 1} did not end the training steps that would tell)" in report.not_compared


def test_an_average_that_the_pair_ignores_does_not_fail(recorded: tuple[Path, Path]) -> None:
    """It is told."""
    said = {"averages": [average("top/kernel"), average("top/bias")]}
    report = judged(recorded, said, {}, ignore=["top/kernel/Average", "top/bias/Average"])

    assert 0 == report.status
    assert any("moving average that the pair ignores (2 variables of TF1)" in one for one in report.not_compared)


def test_nothing_is_said_of_settings_that_nobody_tells(recorded: tuple[Path, Path]) -> None:
    """A recording of one's own may have none."""
    assert Status.NOT_RUN is judged(recorded, {}, {}).rung("settings").status


def test_settings_alone_are_no_proof(recorded: tuple[Path, Path]) -> None:
    """Where no value is compared nothing is known, however many settings are the same."""
    judged(recorded, optimizers(ADAM), optimizers(KERAS_ADAM))
    one, other = (read(folder) for folder in recorded)
    empty = [type(side)(side.folder, {**side.content, "scenarios": {}}, {}) for side in (one, other)]

    assert 3 == compare(*empty).status
