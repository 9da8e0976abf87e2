"""An optimizer that each training step makes anew is named by what it forgets, with the line that makes it."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.causes.ranking import rank
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.verifying import Request, run
from migrate_lint.runtime_checks.worker.recording.format.reading import Recorded, read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from ...interpreters import Children
from .test_causes import VARIABLES, check, report
from .test_guides import need
from .workers import in_children

PAIRS = Path(__file__).parent / "optimizers_anew.py"
KIND = "optimizer made anew"
MADE = ["/p/new.py", 9]


def slots(rule: str, before: dict[str, Any], gradient: Any) -> dict[str, Any]:
    """What an optimizer keeps after a step, from what it kept before; without anything where it is new."""
    decayed = {name: before.get(name, np.zeros_like(gradient)) for name in ("m", "v", "velocity", "rms")}
    if rule == "adam":
        m, v = 0.9 * decayed["m"] + 0.1 * gradient, 0.99 * decayed["v"] + 0.01 * gradient**2
        return {"m": m, "v": v}
    if rule == "momentum":
        return {"velocity": 0.9 * decayed["velocity"] - 0.1 * gradient}
    if rule == "rmsprop":
        return {"rms": 0.9 * decayed["rms"] + 0.1 * gradient**2}
    return {"accumulator": before.get("accumulator", np.full_like(gradient, 0.1)) + gradient**2}


def trained(folder: Path, side: str, rule: str, forgets: bool, **told: Any) -> Recorded:
    """Three steps of a weight, in which the optimizer keeps on or begins anew; `told` is said of it."""
    recording = Recording(str(folder / side), side)
    recording.content["variables"] = list(VARIABLES)
    recording.content["optimizers"] = [{"class": rule, "made": MADE, **told}]
    weights, kept = np.linspace(-1.0, 1.0, 10).reshape(2, 5), {}
    with recording.scenario("steps") as chapter:
        chapter.add("variable", "wide/kernel", weights, -1)
        for step in range(3):
            gradient = np.random.default_rng(step).normal(size=weights.shape)
            kept = slots(rule, {} if forgets else kept, gradient)
            weights = weights - 0.1 * sum(kept.values())
            chapter.add("gradient", "wide/kernel", gradient, step)
            chapter.add("variable", "wide/kernel", weights, step)
            for name, value in kept.items():
                chapter.add("slot", f"wide/kernel/{name}", value, step, variable="wide/kernel", slot=name)
    return read(folder / side)


@pytest.mark.parametrize("anew", [True, False])
@pytest.mark.parametrize("forgets", [True, False])
@pytest.mark.parametrize("rule", ["adam", "momentum", "rmsprop", "adagrad"])
def test_what_is_kept_says_whether_it_begins_anew(rule: str, forgets: bool, anew: bool, tmp_path: Path) -> None:
    """Another object alone says nothing: it may have been given what the last one kept."""
    told = {"anew": 1} if anew else {}
    sides = trained(tmp_path, "tf1", rule, False), trained(tmp_path, "tf2", rule, forgets, **told)
    failed = report(("7", [check("update", "wide/kernel", 1), check("variable", "wide/kernel", 1)]))
    causes = {cause.kind: cause for cause in rank(failed, *sides)}

    assert (forgets and anew) == (KIND in causes)
    if KIND in causes:
        assert causes[KIND] is next(iter(causes.values()))
        assert ("/p/new.py", 9) == causes[KIND].tf2_place
        assert "holds nothing but the gradient of that step" in causes[KIND].evidence[0]


Verified = Callable[[str, str], Report]


@pytest.fixture(scope="module")
def verified(children: Children) -> Iterator[Verified]:
    """Two training steps of a pair, on a target."""

    def get(name: str, target: str) -> Report:
        need(target)
        return run(Request(f"{PAIRS}:{name}", target=Target(target), until="steps", steps=2))

    with in_children(children):
        yield get


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("of_momentum", "keras3", "momentum.velocity holds nothing but the gradient of that step"),
        ("of_adam", "keras2", "adam.m holds nothing but the gradient of that step"),
        ("of_adagrad", "keras3", "adagrad.accumulator holds nothing but the gradient of that step"),
        ("of_schedule", "keras2", "the learning rate of step 1 is again that of step 0, 0.1"),
        ("of_compile", "keras2", "momentum.velocity holds nothing but the gradient of that step"),
    ],
)
def test_it_is_named_with_the_line_that_makes_it(name: str, target: str, words: str, verified: Verified) -> None:
    """The first step agrees, and the second one does not."""
    found = verified(name, target)
    cause = found.causes[0]

    assert (1, ["steps"]) == (found.status, [rung.name for rung in found.rungs if rung.status.name == "FAIL"])
    assert KIND == cause.kind
    assert words in cause.evidence[0]
    assert cause.tf2_place is not None and "# made" in linecache.getline(*cause.tf2_place)


@pytest.mark.tensorflow
def test_nothing_is_said_of_one_that_keeps_nothing(verified: Verified) -> None:
    """Gradient descent at a constant rate is the same, and such a step runs only eagerly."""
    found = verified("nothing_kept", "keras3")

    assert (0, ()) == (found.status, found.causes)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("name", "target", "kinds"),
    [
        ("other_rate", "keras3", ("learning rate", KIND)),
        ("other_epsilon", "keras2", ("update rule",)),
        ("other_momentum", "keras3", ("momentum", "update rule")),
        ("carried_on", "keras2", ("loss",)),
    ],
)
def test_other_bugs_come_first(name: str, target: str, kinds: tuple[str, ...], verified: Verified) -> None:
    """Also before an optimizer that is really made anew; one that goes on with what it is given is not told."""
    assert kinds == tuple(cause.kind for cause in verified(name, target).causes)


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_optimizers_that_have_weights_in_common(target: str, verified: Verified) -> None:
    """The gradients and slots of each are compared, and those of the second alone may differ."""
    same, other = verified("shared_weights", target), verified("shared_otherwise", target)
    compared = {check.tf1_name for rung in same.rungs for check in rung.checks}
    failed = {check.tf1_name for rung in other.rungs for check in rung.checks if not check.passed and check.step == 0}

    assert (0, 1) == (same.status, other.status)
    assert {"top/kernel", "top/kernel#2", "top/kernel/adam.m", "top/kernel/adam.m#2"} <= compared
    assert {"top/kernel#2", "top/kernel/adam.m#2"} <= failed
    assert "top/kernel/adam.m" not in failed


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore:Gradients do not exist")
@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("left_out", "variables", "does not give top/kernel to its optimizer, whose list of weights lacks them"),
        ("left_on_tf1", "variables", "TF1 does not give sequential/top/kernel and another to its optimizer, whose"),
        ("stopped", "forward", "none reaches top/kernel on TF2, as behind a stop_gradient"),
    ],
)
def test_a_weight_that_is_not_trained(name: str, kind: str, words: str, verified: Verified) -> None:
    """It is not in the list of the optimizer, or no gradient reaches it: with Keras 3 the two are told apart.

    Further training steps of TF1's graph are told as what was not compared.
    """
    report = verified(name, "keras3")
    others = [one for one in report.not_compared if one.startswith("1 other training step of TF1's graph (their optim")]

    assert kind == report.causes[0].kind
    assert words in report.causes[0].evidence[0]
    assert (name == "left_on_tf1") == bool(others)
