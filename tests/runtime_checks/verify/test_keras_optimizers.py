"""Optimizers of each Keras at work: what is applied, with which rate, and what is kept for a weight."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])
KINDS = pytest.mark.parametrize(("keras", "prefix"), [("keras2", ""), ("keras2", "legacy "), ("keras3", "")])
Get = Callable[[str], dict[str, Any]]


def updates(target: str) -> dict[str, Any]:
    """In a child: what is heard and kept of two updates of each optimizer."""
    import tensorflow as tf
    from migrate_lint.runtime_checks.worker.recording.watching import keras_optimizers

    keras, v1 = tf.keras, tf.compat.v1.train
    schedule = keras.optimizers.schedules.PolynomialDecay(0.5, 2, 0.0)
    makers: dict[str, Callable[[Any], Any]] = {
        "clipped": lambda kind: kind.SGD(schedule, momentum=0.5, clipnorm=1.0),
        "plain": lambda kind: kind.SGD(0.25),
        "adam": lambda kind: kind.Adam(0.01, epsilon=1e-4),
        "rmsprop": lambda kind: kind.RMSprop(0.01, momentum=0.5, centered=True),
        "adagrad": lambda kind: kind.Adagrad(0.01),
        "adadelta": lambda kind: kind.Adadelta(0.01),
        "ftrl": lambda kind: kind.Ftrl(0.01),
        "nadam": lambda kind: kind.Nadam(0.01),
    }

    def run(optimizer: Any, traced: bool = False) -> dict[str, Any]:
        weight = keras.Variable(np.ones(2, "f")) if target == "keras3" else tf.Variable([1.0, 1.0])
        heard = []

        def hear(which: Any, pairs: Any, rate: Any) -> None:
            assert which is optimizer
            if traced:
                heard.append([not hasattr(pairs[0][0], "numpy"), None])
            else:
                heard.append([[float(x) for x in pairs[0][0]], float(rate)])

        def step() -> None:
            optimizer.apply_gradients(iter([(tf.constant([3.0, 4.0]), weight)]))

        with keras_optimizers.watching(hear):
            call = tf.function(step) if traced else step
            call()
            call()
        slots = keras_optimizers.slots(optimizer, weight)
        return {
            "heard": heard,
            "slots": {key: [round(float(x), 5) for x in np.asarray(slot).reshape(-1)] for key, slot in slots.items()},
            "described": keras_optimizers.describe(optimizer),
        }

    class Renamed(keras.optimizers.SGD):
        """Makes the update of its class."""

        def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
            return super().apply_gradients(*args, **kwargs)

    class Own(Renamed):
        """Makes another one."""

        def update_step(self, gradient: Any, variable: Any, learning_rate: Any = 0.5) -> None:
            variable.assign(variable - 0.5 * gradient)

    found = {name: run(make(keras.optimizers)) for name, make in makers.items()}
    found.update({"renamed": run(Renamed(0.5)), "own": run(Own(0.5)), "derived": run(type("Mine", (Own,), {})(0.5))})
    found["traced"] = run(keras.optimizers.Adam(0.01), traced=True)
    if target == "keras2":

        class Dense(keras.optimizers.legacy.SGD):
            def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
                return var.assign_sub(0.5 * grad)

        class Eager(v1.MomentumOptimizer):
            def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
                return var.assign_sub(0.5 * grad)

        found.update({"legacy own": run(Dense(0.5)), "v1 own": run(Eager(0.5, 0.5))})
        for name in ("clipped", "adam", "rmsprop", "adagrad", "adadelta", "ftrl"):
            found["legacy " + name] = run(makers[name](keras.optimizers.legacy))
        found["v1 momentum"] = run(v1.MomentumOptimizer(0.5, 0.5))
        found["v1 adam"] = run(v1.AdamOptimizer(lambda: 0.01))
    return found


@pytest.fixture(scope="module")
def seen(children: Children) -> Get:
    """What was seen of each optimizer, by Keras."""
    return cache(lambda keras: children.call(keras, updates, keras))


@KINDS
def test_gradients_are_those_after_the_optimizers_own_clipping(seen: Get, keras: str, prefix: str):
    """With the schedule's rate of the very step; each update is heard once."""
    heard = seen(keras)[prefix + "clipped"]["heard"]

    assert [0.6, 0.8] == pytest.approx(heard[0][0])
    assert [0.5, 0.25] == pytest.approx([rate for _, rate in heard])


@KINDS
def test_kerass_momentum_is_a_velocity(seen: Get, keras: str, prefix: str):
    """It has the rate in it, v = m v - lr g: after two steps 0.5 * (-0.5 * 0.6) - 0.25 * 0.6."""
    assert {"momentum.velocity": [-0.3, -0.4]} == seen(keras)[prefix + "clipped"]["slots"]


@EITHER
def test_plain_gradient_descent_keeps_nothing(seen: Get, keras: str):
    """Keras 2 makes slots for it as well, which stay zero."""
    assert {} == seen(keras)["plain"]["slots"]


@KINDS
@pytest.mark.parametrize(
    ("name", "slots"),
    [
        ("adam", {"adam.m", "adam.v"}),
        ("rmsprop", {"rmsprop.rms", "rmsprop.momentum", "rmsprop.mean_gradient"}),
        ("adagrad", {"adagrad.accumulator"}),
        ("adadelta", {"adadelta.accumulator", "adadelta.update"}),
        ("ftrl", {"ftrl.accumulator", "ftrl.linear"}),
    ],
)
def test_slots_have_canonical_names(seen: Get, keras: str, prefix: str, name: str, slots: set[str]):
    """The same for every implementation."""
    assert slots == set(seen(keras)[prefix + name]["slots"])


@EITHER
def test_slots_without_a_canonical_name_get_one_of_the_class(seen: Get, keras: str):
    """Nadam has no counterpart in TF1."""
    assert {"nadam.momentums", "nadam.velocities"} == set(seen(keras)["nadam"]["slots"])


@KINDS
def test_hyperparameters_are_described(seen: Get, keras: str, prefix: str):
    """As Python numbers without the noise of float32; of a schedule the name of its class."""
    found = seen(keras)
    adam, clipped = found[prefix + "adam"]["described"], found[prefix + "clipped"]["described"]

    assert ("Adam", 1e-4, 0.9, 0.999, 0.01) == tuple(
        adam[key] for key in ("class", "epsilon", "beta_1", "beta_2", "learning_rate")
    )
    assert (0.5, False, 1.0, "PolynomialDecay") == tuple(
        clipped[key] for key in ("momentum", "nesterov", "clipnorm", "learning_rate")
    )


@EITHER
def test_an_update_of_ones_own_is_no_rule_of_keras(seen: Get, keras: str):
    """What its class would do says nothing then; what is done before or behind the update changes no rule."""
    found = seen(keras)
    own = ("own", "derived", *(("legacy own", "v1 own") if keras == "keras2" else ()))

    assert "SGD" == found["renamed"]["described"]["rule"]
    assert {None} == {found[name]["described"]["rule"] for name in own}


@EITHER
def test_inside_a_function_gradients_are_tensors_of_its_graph(seen: Get, keras: str):
    """Heard when the function is traced, not when it runs."""
    heard = seen(keras)["traced"]["heard"]

    assert {True} == {symbolic for symbolic, _ in heard}


def test_optimizers_of_tf1_are_heard_where_they_run_eagerly(seen: Get):
    """With their own accumulator, a = m a + g, and a rate that may be a function."""
    found = seen("keras2")

    assert {"momentum.accumulator": [4.5, 6.0]} == found["v1 momentum"]["slots"]
    assert [[[3.0, 4.0], 0.5]] * 2 == found["v1 momentum"]["heard"]
    assert {"adam.m", "adam.v"} == set(found["v1 adam"]["slots"])
    assert 0.01 == pytest.approx(found["v1 adam"]["heard"][1][1])
    assert 0.01 == found["v1 adam"]["described"]["learning_rate"]
