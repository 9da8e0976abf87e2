"""Both sides computed in float64: what is rounding is told from what differs, and what cannot be run is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ...interpreters import Children, load

pytestmark = pytest.mark.tensorflow

PROGRAMS = Path(__file__).parent / "float64_programs.py"
EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])


def verified(group: str, only: str | None = None) -> dict[str, Any]:
    """In a child: what ``verify`` says of a pair whose outputs are the members of a group, or one of them."""
    from migrate_lint.runtime_checks import verify

    programs = load(PROGRAMS)
    members = getattr(programs, group)
    pair = programs.together(members if only is None else {only: members[only][0]})
    report = verify(pair, until="float64", policy="guide", oracle=True)
    rung = report.rung("float64")
    return {
        "random": report.rung("random").status.value,
        "notes": [note for rung in report.rungs for note in rung.notes],
        "float64": rung.status.value,
        "detail": rung.detail,
        "outputs": {
            check.tf1_name: [check.passed, check.error, check.rounding.apart]
            for check in rung.checks
            if check.kind == "output" and check.scenario == "float64-training"
        },
    }


def names(table: str) -> list[str]:
    """The names in a table, which are its keys in the source: the module needs TensorFlow."""
    body = PROGRAMS.read_text("utf-8").split(f"\n{table} = {{")[1].split("\n}")[0]
    found = re.findall(r'^    "([^"]+)": ', body, re.M)
    assert len(found) >= 5
    return found


@pytest.fixture(scope="module")
def told(children: Children) -> Callable[[str, str], dict[str, Any]]:
    return cache(lambda keras, group: children.call(keras, verified, group))


@EITHER
@pytest.mark.parametrize("name", names("EQUAL"))
def test_what_only_float32_rounds_otherwise_is_equal(told: Any, keras: str, name: str) -> None:
    """In float64 it agrees by some orders more than float32 can hold."""
    passed, error, _ = told(keras, "EQUAL")["outputs"][name.replace(" ", "_")]

    assert passed
    assert error < 1e-12


@EITHER
def test_a_difference_that_is_rounding_is_called_that(told: Any, keras: str) -> None:
    """The rung that it fails under the bounds of the guide says so, and which side is less exact."""
    found = told(keras, "EQUAL")

    assert ("fail", "pass") == (found["random"], found["float64"])
    assert any("so what differs here is rounding of float32" in note for note in found["notes"])
    assert any("variance_by_squares" in note and "less exact on the TF2 side" in note for note in found["notes"])


@EITHER
@pytest.mark.parametrize("name", names("DIFFERENT"))
def test_what_hides_in_the_rounding_is_found(told: Any, keras: str, name: str) -> None:
    """All of it agrees in float32, within the bounds of the guide."""
    found = told(keras, "DIFFERENT")
    passed, error, apart = found["outputs"][name.replace(" ", "_")]

    assert ("pass", "fail") == (found["random"], found["float64"])
    assert not passed
    assert 1e-9 < error < 1e-5
    assert apart < 1e-5


@pytest.mark.parametrize("name", names("IMPOSSIBLE"))
def test_what_cannot_be_computed_is_said_with_its_line(children: Children, name: str) -> None:
    """Nothing of it passes; operations are what it is about, and each is tried beside one Keras."""
    keras = ("keras2", "keras3")[names("IMPOSSIBLE").index(name) % 2]
    found = children.call(keras, verified, "IMPOSSIBLE", name)
    words = re.search(rf'"{name}": \(.*, "([^"]+)"\)', PROGRAMS.read_text("utf-8"))
    assert words is not None

    assert "not run" == found["float64"]
    assert words[1] in found["detail"]
    assert re.search(r"\(float64_programs\.py:\d+\)", found["detail"])


def stepping(by_hand: bool) -> dict[str, Any]:
    """In a child: what is compared in float64 of a training step that is a ``tf.function`` of the user's."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks import Pair, Spec, verify

    v1 = tf.compat.v1

    def old(features: Any, labels: Any, mode: str) -> Spec:
        logits = v1.matmul(features, v1.get_variable("kernel", [3, 2], initializer=v1.ones_initializer()))
        loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        step = v1.train.GradientDescentOptimizer(0.1).minimize(loss) if mode == "train" else None
        return Spec(logits, loss, step)

    def new() -> Any:
        layer = tf.keras.layers.Dense(2, use_bias=False, kernel_initializer="ones", name="")
        model = tf.keras.Sequential([tf.keras.Input([3]), layer])
        model.optimizer = tf.keras.optimizers.SGD(0.1)
        return model

    def body(model: Any, features: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=model(features))
            loss = tf.reduce_mean(losses)
            if tf.reduce_sum(features) < -1000.0:  # which AutoGraph makes a condition of
                loss = 2.0 * loss
        gradients = tape.gradient(loss, model.trainable_variables)
        if by_hand:
            model.trainable_variables[0].assign_sub(0.1 * gradients[0])
        else:
            model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    step = tf.function(body)
    pair = Pair(
        old, new,
        inputs=lambda step: np.random.RandomState(step).normal(size=(8, 3)).astype(np.float32),
        labels=lambda step: np.arange(8, dtype=np.int32) % 2,
        renames={"kernel": "kernel"},
        train_step=step,
    )  # fmt: skip
    report = verify(pair, policy="guide", oracle=True)
    checks = report.rung("float64").checks
    return {
        "gradients": [check.passed for check in checks if check.kind == "gradient"],
        "left": [words for words in report.not_compared if "float64" in words],
    }


@EITHER
def test_gradients_in_a_function_of_the_users_are_computed_in_float64(children: Children, keras: str) -> None:
    """AutoGraph makes a condition of its branch."""
    assert {"gradients": [True], "left": []} == children.call(keras, stepping, False)


@EITHER
def test_gradients_that_one_side_alone_gives_are_left_out_in_words(children: Children, keras: str) -> None:
    """Who assigns by hand shows none."""
    found = children.call(keras, stepping, True)

    assert found["gradients"] == []
    assert found["left"] == ["gradients of first training step in float64 (only TF1 gives them)"]
