"""Checkpoints of TF1, loaded into graphs and models; one of them was written by TensorFlow 1.15.0.

What is asserted here was found out by ``checkpoints/facts.py``, in one process for each Keras.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, run

from ...interpreters import Children, load
from .workers import in_children

pytestmark = pytest.mark.tensorflow

Facts = Callable[[str], Any]
FOLDER = Path(__file__).parent / "checkpoints"
TARGETS = ("keras2", "keras3")
NAMES = {
    "net/hidden/bias",
    "net/hidden/kernel",
    "net/normal/beta",
    "net/normal/gamma",
    "net/normal/moving_mean",
    "net/normal/moving_variance",
    "net/scale",
}
TRAINED = NAMES - {"net/normal/moving_mean", "net/normal/moving_variance"}
SLOTS = {f"{name}/{slot}": "slot" for name in TRAINED for slot in ("Adam", "Adam_1")}
EXPECTED = SLOTS | dict.fromkeys(["beta1_power", "beta2_power", "global_step"], "counter")


def find(target: str) -> Any:
    """In a child."""
    return load(FOLDER / "facts.py").found(target)


@pytest.fixture(scope="module")
def facts(children: Children) -> Facts:
    """What loading checkpoints comes to, by Keras."""
    return cache(lambda target: children.call(target, find, target))


def purposes(restored: Any) -> dict[str, str]:
    return {entry["name"]: entry["purpose"] for entry in restored["expected"]}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", ["prefix", "index", "folder", "folder as prefix", "shards", "V1", "real 1.15"])
def test_a_checkpoint_in_any_form_is_loaded_into_a_graph(target: str, form: str, facts: Facts):
    """By its prefix, which may be a folder, a file or its folder, in shards, in the first format, as 1.15 wrote it."""
    restored = facts(target)["forms"][form]

    assert (NAMES, [], [], []) == (
        set(restored["matched"]),
        restored["missing"],
        restored["unused"],
        restored["mismatched"],
    )
    assert EXPECTED == purposes(restored)
    assert restored["error"] < 1e-6


@pytest.mark.parametrize("target", TARGETS)
def test_what_does_not_fit_is_listed_and_not_loaded(target: str, facts: Facts):
    """A variable without an entry, one of another dtype and one of another shape; the rest is loaded."""
    restored = facts(target)["other"]

    assert ["net/scale_2"] == restored["missing"]
    assert [
        ("global_step", "int64 []", "float32 []"),
        ("net/scale/Adam", "float32 [4]", "float32 [3]"),
    ] == [(one["name"], one["checkpoint"], one["model"]) for one in restored["mismatched"]]
    assert set(restored["matched"]) == NAMES
    assert restored["error"] < 1e-6


@pytest.mark.parametrize("target", TARGETS)
def test_a_checkpoint_is_loaded_into_a_keras_model_by_the_mapping(target: str, facts: Facts):
    """The model's variables have other names, and it then computes what 1.15 did."""
    found = facts(target)["keras"]

    assert set(found["restored"]["matched"]) == NAMES
    assert EXPECTED == purposes(found["restored"])
    assert found["error"] < 1e-6


@pytest.mark.parametrize("target", TARGETS)
def test_a_transposed_variable_is_loaded_by_its_permutation(target: str, facts: Facts):
    """Without it the shapes do not fit, and nothing is assigned."""
    found = facts(target)["keras"]

    assert [
        {"name": "net/hidden/kernel", "variable": "k", "checkpoint": "float32 [3, 4]", "model": "float32 [4, 3]"}
    ] == found["refused"]
    assert ["net/hidden/kernel"] == found["turned"]
    assert found["turned error"] == 0.0


def test_a_checkpoint_is_loaded_into_a_layer_behind_the_shim(facts: Facts):
    """Its variables have the names of TF1, though another order."""
    restored = facts("keras2")["shim"]

    assert (NAMES, [], []) == (set(restored["matched"]), restored["missing"], restored["unused"])
    assert restored["error"] < 1e-6


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_no_checkpoint_of_tf1_is_refused_with_the_reason(target: str, facts: Facts):
    """Nothing there, a folder without checkpoints, a file that is missing, an object-based checkpoint."""
    refused = facts(target)["refusals"]

    assert refused["none"] == "there is no checkpoint /nothing: no file begins so"
    assert refused["empty"].startswith("there is no checkpoint in /empty:")
    assert refused["damaged"].startswith("net/scale of checkpoint /damaged/model.ckpt cannot be read: ")
    assert refused["objects"].startswith("checkpoint /objects-1 is object-based, ")


@pytest.mark.parametrize(
    ("case", "function"),
    [("init", "tf.compat.v1.train.init_from_checkpoint"), ("restore", "tf.train.Checkpoint.restore")],
)
def test_a_checkpoint_loaded_before_there_are_variables_is_found_out(case: str, function: str, facts: Facts):
    """TensorFlow says nothing; after the first call the variables are not those of the checkpoint."""
    early, late = facts("keras2")["loads"][f"{case} early"], facts("keras2")["loads"][f"{case} late"]

    assert (function, True, NAMES, []) == (
        early["call"],
        early["silent"],
        set(early["not_loaded"]),
        early["loaded"],
    )
    assert (False, NAMES, []) == (late["silent"], set(late["loaded"]), late["not_loaded"])


def test_a_load_is_reported_where_the_user_wrote_it(facts: Facts):
    """File and line of the call."""
    path, line = facts("keras2")["loads"]["init early"]["place"]
    text = Path(path).read_text("utf-8").splitlines()[line - 1]

    assert 'v1.train.init_from_checkpoint(TF115, {"net/": "net/"})' == text.strip()


def test_objects_of_an_object_based_checkpoint_are_asked_for(facts: Facts):
    """Restored under the attribute it was saved under; under another one nothing is bound."""
    found = facts("keras2")["loads"]

    assert (False, "") == (found["objects"]["silent"], found["objects"]["problem"])
    assert found["other objects"]["silent"]
    assert found["other objects"]["problem"].startswith("Found 7 Python objects that were not bound to")


Verified = Callable[[str, str], Report]


@pytest.fixture
def verified(children: Children) -> Iterator[Verified]:
    """The report of a pair on a target."""

    def get(name: str, target: str) -> Report:
        request = Request(f"{FOLDER / 'pair.py'}:{name}", until="checkpoint", policy="guide", target=Target(target))
        return run(request)

    with in_children(children):
        yield get


@pytest.mark.parametrize(("name", "target"), [("shim", "keras2"), ("model", "keras2"), ("model", "keras3")])
def test_both_sides_agree_with_the_values_of_a_checkpoint(name: str, target: str, verified: Verified):
    """The fifth rung: behind the shim, and in a Keras model with names of its own."""
    rung = verified(name, target).rung("checkpoint")

    assert (Status.PASS, ["output"]) == (
        rung.status,
        [check.kind for check in rung.checks if check.counts and check.kind == "output"],
    )
    assert {f"{side}: 7 matched, 0 missing, 0 unused" for side in ("TF1", "TF2")} <= set(rung.notes)


def test_a_silent_load_fails_the_rung_and_names_the_line(verified: Verified):
    """Also where the pair itself names no checkpoint."""
    rung = verified("too_early", "keras2").rung("checkpoint")
    [line] = [
        number
        for number, text in enumerate((FOLDER / "pair.py").read_text("utf-8").splitlines(), 1)
        if "init_from_checkpoint(" in text
    ]

    assert rung.status is Status.FAIL
    assert rung.detail.startswith(
        f"tf.compat.v1.train.init_from_checkpoint at pair.py:{line} left 7 of 7 variables as they were"
    )


def test_a_checkpoint_that_is_not_there_is_no_equality(verified: Verified):
    """The other rungs are climbed; the status is that of a side that did not come through."""
    report = verified("absent", "keras2")

    assert (Status.PASS, Status.NOT_RUN, 4) == (
        report.rung("random").status,
        report.rung("checkpoint").status,
        report.status,
    )
    assert "there is no checkpoint" in report.rung("checkpoint").detail
