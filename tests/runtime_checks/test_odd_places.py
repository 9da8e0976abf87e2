"""What a run comes upon by itself: variables that are made in odd places, and nothing in models that are in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.locate import locate
from migrate_lint.runtime_checks.protocol import job

from ..interpreters import Children
from . import probe_pages
from .probe_pages import Model

ODD = Path(__file__).parent / "odd"
MODELS = [model for name in ("created.md", "raised.md", "clean.md") for model in probe_pages.models(ODD / name)]
HELPER = """
import tensorflow as tf


def centred(x):
    return x - tf.Variable(1.0)
"""
CALLER = """
import tensorflow as tf

import centring


class Net(tf.keras.layers.Layer):
    def call(self, x):
        return centring.centred(x)


def build():
    return Net(), tf.ones((2, 3))
"""
GAN = """
import tensorflow as tf


class Gan(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = tf.keras.layers.Dense(3)

    def compile(self, generator_optimizer, loss_of_both):
        super().compile()

    def train_step(self, x):
        return {"loss": tf.reduce_mean(self.generator(x))}


def build():
    return Gan(), tf.ones((2, 3))
"""
PICKY = GAN.replace("generator_optimizer, loss_of_both):", "optimizer=None):\n        first, second = optimizer")
SAME_NAMES = """
import keras


class Doubled(keras.layers.Layer):
    def call(self, x):
        return 2.0 * x


def build():
    inputs = keras.Input((4, 4))
    flat = keras.layers.Reshape((16,))(inputs)
    return keras.Model(inputs, Doubled()(keras.ops.reshape(flat, (-1, 2, 8))))
"""
STEPPING = """
import tensorflow as tf  # import


class Net(tf.keras.Model):  # import
    def call(self, x):  # import
        if x.shape[-1] == 3:  # call
            x = x * 2.0  # call
        else:
            x = x * 3.0  # nowhere
        return x  # call

    def train_step(self, data):  # import
        loss = tf.reduce_mean(self(data))  # fit
        return {"loss": loss}  # fit


def build():  # import
    return Net(), tf.ones((2, 3))  # build
"""
MASKING = """
import tensorflow as tf


class Mask(tf.keras.layers.Layer):
    def compute_mask(self, inputs, mask=None):
        return tf.ones((2, 5), tf.bool)

    def call(self, inputs):
        return 2.0 * inputs


def build():
    return Mask(), tf.ones((2, 3))
"""
LATE = """
import tensorflow as tf


class Late(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        return self.step(*data)

    def test_step(self, data):
        return self.step(*data)

    def step(self, pixels, classes):
        return {"loss": tf.reduce_mean(self(pixels)), "rows": tf.shape(classes)[0]}


def build():
    return Late(), tf.ones((2, 3))
"""
ONCE = """
import tensorflow as tf


class OnceError(ValueError):
    def __init__(self, message, again):
        super().__init__(message)
        self.again = again


class Once(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.names = {"first": 1.0}
        self.size = 1

    def call(self, x):
        if ERROR is None:
            self.size += 2
            return x + tf.ones((self.size,))
        if ERROR is KeyError:
            return x * self.names.pop("first")
        if not self.names:
            raise OnceError("it was called", True)
        return x * self.names.popitem()[1]


def build():
    return Once(), tf.ones((2, 3))
"""
UNKNOWN = """
import tensorflow as tf


class Unknown(tf.keras.Model):
    def call(self, x):
        raise TypeError("not today")


def build():
    model = Unknown()
    model.compile(optimizer="sgd", loss="mse")
    return model, tf.ones((2, 3))
"""
UNTRACEABLE = """
import tensorflow as tf


def build():
    shapeless = tf.keras.layers.Lambda(lambda x: tf.py_function(tf.identity, [x], tf.float32))
    return tf.keras.Sequential([shapeless, tf.keras.layers.LSTM(3)]), tf.ones((2, 3, 4))
"""
HALFWAY = """
import tensorflow as tf


class Halfway(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.first = tf.keras.layers.Dense(3)
        self.rest = tf.keras.Sequential([tf.keras.layers.Dense(3)])

    def call(self, x):
        return self.rest(tf.ensure_shape(self.first(x), (2, 7)))


def build():
    return Halfway(), tf.ones((2, 3))
"""
NARROW = """
import tensorflow as tf


def likelihood(actual, given):
    mean, spread = tf.split(given, 2, -1)
    return tf.reduce_mean(tf.square(tf.ensure_shape(actual, mean.shape) - mean) + spread, -1)


def build():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6)])
    model.compile(optimizer="sgd", loss=likelihood)
    return model
"""
MEASURED = """
import tensorflow as tf


def hits(actual, given):
    return tf.cast(tf.ensure_shape(actual, (None,)), tf.float32)


def build():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6)])
    model.compile(optimizer="sgd", loss="mse", metrics=[hits])
    return model
"""
SIDES = """
import tensorflow as tf


class Sides(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, x, training=False):
        side = self.dense(x)
        fused = tf.reduce_sum(side, -1)
        return {"side": side, "fused": fused} if training else fused


def build():
    return Sides(), tf.ones((2, 3))
"""
COMPILED_SIDES = SIDES.replace(
    "    return Sides(), ",
    "    model = Sides()\n    model.compile(optimizer='sgd', loss={'side': 'mse', 'fused': 'mae'})\n    return model, ",
)
PREDICTING = """
import tensorflow as tf


class Padded(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)

    def predict_step(self, batch):
        x = batch
        return self(tf.pad(x, [[0, 0], [1, 1]])[:, 1:-1])


def build():
    return Padded()


def example_batch():
    return tf.ones((2, 3)), tf.zeros((2, 3))
"""
FITTING = """
import tensorflow as tf


class Scored(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        rows, weights = data
        return {"loss": tf.reduce_mean(self(rows) * weights)}

    def test_step(self, data):
        rows, weights = data
        return {"loss": tf.reduce_mean(self(rows) * weights)}

    def fit(self, rows, weights):
        return super().fit(tf.data.Dataset.from_tensor_slices((rows, weights)).batch(2))

    def evaluate(self, rows, weights):
        return self.test_step((rows, weights))


def build():
    return Scored(), tf.ones((2, 3))
"""
LOOPING = """
import tensorflow as tf


class Player(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, state):
        return self.dense(state)

    @tf.function
    def train_step(self, state, reward):
        return tf.reduce_mean(self(state)) * reward

    def test_step(self):
        return {"games": 1}


def build():
    return Player(), tf.ones((2, 3))
"""

pytestmark = pytest.mark.tensorflow


def results(children: Children, folder: Path, target: Target, **texts: str) -> dict[str, Any]:
    """What the worker says of the first of some modules, without any finding to judge."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    work = job(
        target=target,
        device=None,
        located=locate(f"{folder / next(iter(texts))}.py:build", str(folder)),
        inputs=None,
        shapes=(),
        dtypes=(),
        roots=[str(folder)],
        memory_limit=None,
        findings=[],
    )
    return dict(children.call(target, probe_pages.run, work))


@pytest.mark.parametrize(("target", "model"), probe_pages.on_targets(MODELS))
def test_the_run_observes_what_the_page_says_and_nothing_else(
    target: Target, model: Model, children: Children, tmp_path: Path
) -> None:
    """Each observation, or that there is none, is as on its page.

    Each model could be called; the calls, and the data that the run makes up for ``fit``, are such as a model that is
    in order takes.
    """
    found = results(children, tmp_path, target, **{model.name: model.text})
    asked = [phase for phase in found["phases"] if "another batch" not in phase[0] and "save" not in phase[0]]

    assert [] == list(probe_pages.disagreements(model, found))
    assert "ok" == next(outcome for name, outcome, *_ in found["phases"] if name == "second call")
    if model.page == "clean.md":
        assert [] == [phase for phase in asked if phase[1] == "failed"]


@pytest.mark.parametrize("target", Target)
def test_a_creation_in_another_file_is_observed_there(target: Target, children: Children, tmp_path: Path) -> None:
    """The line is that of the helper; the caller's stands among the frames."""
    (observed,) = results(children, tmp_path, target, caller=CALLER, centring=HELPER)["observations"]

    assert ("centring.py", 6) == (Path(observed["path"]).name, observed["line"])
    assert ("caller.py", 9) in [(Path(path).name, line) for path, line, _ in observed["frames"]]


@pytest.mark.parametrize("target", Target)
def test_a_loss_that_the_run_made_up_is_no_failure_of_the_model(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """A layer without weights cannot be trained; that is told as what it is."""
    found = results(children, tmp_path, target, masking=MASKING)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}

    assert ("not run", True) == (outcomes["fit"][0], "squared error that the run would" in outcomes["fit"][1])
    assert "ok" == outcomes["second call in tf.function"][0]


@pytest.mark.parametrize("target", Target)
def test_the_variables_of_a_model_that_is_built_in_part_are_its_own(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """Its calls end before all of its layers are built, and until then Keras 2 tells of none of its variables."""
    found = results(children, tmp_path, target, halfway=HALFWAY)

    assert ("first call", "failed") == tuple(found["fatal"][:2])
    assert [] == found["observations"]


@pytest.mark.parametrize("error", ["KeyError", "OnceError", "None"])
@pytest.mark.parametrize("target", Target)
def test_what_eager_calls_raise_as_well_is_not_laid_to_the_trace(
    target: Target, error: str, children: Children, tmp_path: Path
) -> None:
    """The first eager call is none of those that raise. AutoGraph has classes of its own, and a trace its own words."""
    found = results(children, tmp_path, target, **{f"once_{error.lower()}": ONCE.replace("ERROR", error)})
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}

    assert ["ok", "failed", "failed"] == [
        outcomes[name][0] for name in ("first call", "second call", "first call in tf.function")
    ]
    assert {"raised in a call"} == {one["kind"] for one in found["observations"]}


@pytest.mark.parametrize("target", Target)
def test_what_the_calls_raise_too_is_not_laid_to_the_loss(target: Target, children: Children, tmp_path: Path) -> None:
    """The model fails in every trace, and in no line of the program's."""
    found = results(children, tmp_path, target, untraceable=UNTRACEABLE)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}

    assert "ok" == outcomes["second call"][0]
    assert "failed" == outcomes["fit"][0]
    assert outcomes["first training call in tf.function"] == outcomes["fit"]


@pytest.mark.parametrize("target", Target)
def test_targets_that_the_loss_does_not_take_are_the_runs_own(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """Nobody said what the model is trained with; zeros like its outputs are a guess."""
    found = results(children, tmp_path, target, narrow=NARROW)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}

    assert "not run" == outcomes["fit"][0]
    assert "no batch could be made up that the model and its loss take: " in outcomes["fit"][1]
    assert "`def example_batch():` in the same file gives the batch" in outcomes["fit"][1]


@pytest.mark.parametrize("target", Target)
def test_targets_of_outputs_that_nobody_has_seen_are_not_made_up(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """Those of the inputs' shape would fail by themselves."""
    found = results(children, tmp_path, target, unknown=UNKNOWN)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}

    assert "not run" == outcomes["fit"][0]
    assert "no call gave an output, so no targets were made up; `def example_batch():` in" in outcomes["fit"][1]


@pytest.mark.parametrize(("name", "text"), [("sides", SIDES), ("compiled_sides", COMPILED_SIDES)])
@pytest.mark.parametrize("target", Target)
def test_a_model_is_trained_by_what_it_gives_in_training(
    target: Target, name: str, text: str, children: Children, tmp_path: Path
) -> None:
    """Its other calls give something else."""
    found = results(children, tmp_path, target, **{name: text})

    assert ["ok"] == [outcome for phase, outcome, *_ in found["phases"] if phase == "fit"]


@pytest.mark.parametrize("target", Target)
def test_a_step_of_predict_is_given_the_inputs_of_the_batch(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """The batch is that of training, with labels, which nobody gives to ``predict``."""
    found = results(children, tmp_path, target, predicting=PREDICTING)

    assert ["ok"] == [outcome for name, outcome, *_ in found["phases"] if name == "predict"]


@pytest.mark.parametrize("target", Target)
def test_steps_are_run_by_keras_where_a_fit_of_the_programs_own_raises(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """What the program's takes is its own matter; the batch is what the step gets."""
    found = results(children, tmp_path, target, fitting=FITTING)

    assert ["ok", "ok"] == [outcome for name, outcome, *_ in found["phases"] if name in ("fit", "evaluate")]


@pytest.mark.parametrize("target", Target)
def test_steps_of_a_loop_of_the_programs_own_are_not_given_to_keras(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """They have the names of Keras' own, but other parameters."""
    found = results(children, tmp_path, target, looping=LOOPING)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}
    rest = "and Keras gives it the batch alone; --step file.py:name runs a step of a loop of your own"

    assert ("not run", f"`train_step` takes `state`, `reward`, {rest}") == outcomes["fit"]
    assert ("not run", f"`test_step` takes nothing, {rest}") == outcomes["evaluate"]


@pytest.mark.parametrize("target", Target)
def test_what_ran_is_told_by_line_and_phase(target: Target, children: Children, tmp_path: Path) -> None:
    """In AutoGraph's code too; definitions run when the module is imported, a branch that no call takes never."""
    found = results(children, tmp_path, target, stepping=STEPPING)
    ((path, statements, ran),) = found["lines"]
    lines = {phase: set(numbers) for phase, numbers in ran}
    marked = {
        word: {number for number, line in enumerate(STEPPING.split("\n"), 1) if line.endswith(f"# {word}")}
        for word in ("import", "build", "call", "fit", "nowhere")
    }

    assert ("stepping.py", set().union(*marked.values())) == (Path(path).name, set(statements))
    assert marked["import"] == lines["import"]
    defined = {number for number in marked["import"] if number > 3}  # once more by AutoGraph
    assert marked["call"] == lines["second call"] == lines["first call in tf.function"] - defined
    assert "second call in tf.function" not in lines  # it is not traced again
    assert marked["call"] | marked["fit"] == lines["fit"] - defined
    assert not marked["nowhere"] & set().union(*lines.values())


@pytest.mark.parametrize("target", Target)
def test_a_model_without_call_that_cannot_be_compiled_is_not_judged(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """What was not run says why, and a run in which nothing ran is no clean one."""
    found = results(children, tmp_path, target, gan=GAN)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}
    needed = "its `compile` needs `generator_optimizer`, `loss_of_both`: compile the model where it is built"

    assert ("not run", "`Gan` has no `call`") == outcomes["first call"]
    assert ("not run", needed) == outcomes["fit"]
    assert ["first call", "not run", "`Gan` has no `call`"] == found["fatal"][:3]


@pytest.mark.parametrize("target", Target)
def test_a_compile_that_refuses_what_the_run_gives_it_is_no_failure_of_fit(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """It needs nothing by its parameters, and two optimizers by its body."""
    found = results(children, tmp_path, target, picky=PICKY)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}

    assert "not run" == outcomes["fit"][0]
    assert outcomes["fit"][1].startswith("its `compile` refuses an optimizer alone (ValueError: ")


def test_an_operation_of_the_name_of_a_layer_is_loaded_as_an_operation(children: Children, tmp_path: Path) -> None:
    """The loader is given the program's classes; with Keras' own it would take the one for the other."""
    found = results(children, tmp_path, Target.KERAS3, same_names=SAME_NAMES)

    assert ["save and load", "ok"] == found["phases"][-1][:2]


@pytest.mark.parametrize("target", Target)
def test_a_batch_that_was_made_up_is_told_where_it_does_not_fit(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """The program's step fails, by what it was given."""
    found = results(children, tmp_path, target, late=LATE)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}
    remedy = "`def example_batch():` in the same file gives the batch, or --batch file.py:name"

    assert "failed" == outcomes["fit"][0] == outcomes["evaluate"][0]
    assert outcomes["fit"][1].endswith(f"; `train_step` got a batch that was made of the inputs; {remedy}")
    assert outcomes["evaluate"][1].endswith(f"; `test_step` got a batch that was made of the inputs; {remedy}")


@pytest.mark.parametrize("target", Target)
def test_targets_that_were_made_up_are_told_where_a_metric_refuses_them(
    target: Target, children: Children, tmp_path: Path
) -> None:
    """The loss takes zeros like the outputs, and the metric wants classes."""
    found = results(children, tmp_path, target, measured=MEASURED)
    outcomes = {name: (outcome, detail) for name, outcome, _, detail in found["phases"]}

    assert "failed" == outcomes["fit"][0]
    assert "; the targets are zeros that the run made up; `def example_batch():` in" in outcomes["fit"][1]
