"""The lines that make optimizers, schedules, losses and regularizers, as a program writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

SOURCE = """
import tensorflow as tf

keras = tf.keras


def helped(rate):
    return keras.optimizers.RMSprop(
        rate,
        momentum=0.5,
    )


class Own(keras.optimizers.SGD):
    def __init__(self, rate):
        super().__init__(rate)
        self.mine = rate


class Warming(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self):
        pass

    def __call__(self, step):
        return 0.5

    def get_config(self):
        return {}


adam = keras.optimizers.Adam(0.5)
by_function = helped(0.25)
own = Own(0.5)
by_name = keras.optimizers.get("sgd")
old = tf.compat.v1.train.MomentumOptimizer(0.5, 0.9)
given = [keras.optimizers.Adagrad(rate) for rate in (0.5,)][0]
decay = keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)
warming = Warming()
loss = keras.losses.MeanSquaredError(reduction="sum")
l2 = keras.regularizers.L2(0.5)
of_layer = keras.layers.Dense(2, kernel_regularizer="l2").kernel_regularizer
nothing = object()


@tf.function
def traced(x):
    return x
"""
LINES = {
    "adam": "adam = ",
    "by_function": "    return keras.optimizers.RMSprop(",
    "own": "own = ",
    "by_name": "by_name = ",
    "old": "old = ",
    "given": "given = ",
    "decay": "decay = ",
    "warming": "    def __call__(self, step)",
    "loss": "loss = ",
    "l2": "l2 = ",
    "of_layer": "of_layer = ",
    "nothing": "",
    "traced": "@tf.function",
}


def places(file: str) -> dict[str, int]:
    """In a child: the numbers of the lines that are remembered of a program's names; 0 where none is."""
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.watching.constructions import made_at, watching, written_at

    code = UserCode((), [file])
    found: dict[str, int] = {}
    program: dict[str, object] = {}
    with watching(code):
        exec(compile(Path(file).read_text("utf-8"), file, "exec"), program)
        for name in LINES:
            called = type(program[name]).__call__ if callable(program[name]) else None
            place = written_at(called, code) or written_at(program[name], code) or made_at(program[name])
            found[name] = 0 if place is None else place[1]
    assert made_at(program["adam"]) is None
    return found


@pytest.mark.parametrize("target", ["keras2", "keras3"])
def test_the_line_that_makes_it_is_remembered(children: Children, tmp_path: Path, target: str) -> None:
    """Also by a function, by a name that Keras resolves, and in a constructor of the user's; afterwards none is."""
    file = tmp_path / "program.py"
    file.write_text(SOURCE, "utf-8")
    found = children.call(target, places, str(file))
    text = ["", *SOURCE.splitlines()]

    assert list(LINES) == list(found)
    for name, line in found.items():
        assert text[line].startswith(LINES[name]), name
        assert bool(line) == bool(LINES[name]), name
