"""The TF2 side's recording, in the process of each Keras: what is recorded, with which values, and what is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from migrate_lint.runtime_checks.worker.frames import UserCode
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
from migrate_lint.runtime_checks.worker.recording.format.reading import Recorded, Scenario, read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording
from migrate_lint.runtime_checks.worker.recording.pairs.batches import PairError

from ...interpreters import Children, load

pytestmark = pytest.mark.tensorflow

PROGRAMS = """\
import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks.worker.recording.pairs.pair import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras
random = np.random.RandomState(0)
ROWS = random.normal(size=(6, 3)).astype(np.float32)
CLASSES = np.array([0, 1, 1, 0, 1, 0])
TARGETS = random.normal(size=(6, 2)).astype(np.float32)


def weight(name, shape, value=None):
    initializer = v1.random_normal_initializer() if value is None else v1.constant_initializer(value)
    return v1.get_variable(name, shape, initializer=initializer, trainable="moving" not in name)


def dense(x, name, units):
    with v1.variable_scope(name):
        return tf.matmul(x, weight("kernel", (int(x.shape[-1]), units))) + weight("bias", (units,), 0.0)


def normalized(x, training):
    with v1.variable_scope("norm"):
        gamma, beta = weight("gamma", (4,), 1.0), weight("beta", (4,), 0.0)
        mean, variance = weight("moving_mean", (4,), 0.0), weight("moving_variance", (4,), 1.0)
    if training:
        now = tf.nn.moments(x, [0])
        for moving, value in zip((mean, variance), now):
            v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_sub(moving, (moving - value) * 0.25))
        mean, variance = now
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)


def old_network(rows, labels, training):
    x = normalized(dense(rows, "first", 4), training)
    x = tf.nn.relu(x)
    if training:
        x = tf.nn.dropout(x, rate=0.25)
    logits = dense(x, "last", 2)
    if not training:
        return Spec(logits, None, None, taps={"hidden": x})
    kernel = v1.trainable_variables()[0]
    v1.losses.add_loss(0.01 * tf.reduce_sum(kernel ** 2), v1.GraphKeys.REGULARIZATION_LOSSES)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits) + v1.losses.get_regularization_loss()
    optimizer = v1.train.AdamOptimizer(0.01, epsilon=1e-4)
    gradients, weights = zip(*optimizer.compute_gradients(loss))
    clipped = tf.clip_by_global_norm(gradients, 0.125)[0]
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.apply_gradients(list(zip(clipped, weights)))
    return Spec(logits, loss, train_op, taps={"hidden": x})


def new_network():
    layers = keras.layers
    rows = keras.Input((3,))
    x = layers.Dense(4, kernel_regularizer=keras.regularizers.L2(0.01), name="first")(rows)
    x = layers.BatchNormalization(momentum=0.75, name="norm")(x)
    x = layers.Dropout(0.25, name="drop")(layers.ReLU()(x))
    model = keras.Model(rows, layers.Dense(2, name="last")(x))
    optimizer = keras.optimizers.Adam(0.01, epsilon=1e-4, global_clipnorm=0.125)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["accuracy"])
    return model


def network():
    taps = {"dropped": ("hidden", "drop"), "nothing": ("hidden", "no/such")}
    return Pair(old_network, new_network, ROWS, CLASSES, taps=taps)


def old_line(rows, labels, training):
    out = tf.matmul(rows, weight("w", (3, 2))) + weight("b", (2,), 0.0)
    if training:
        out = tf.nn.dropout(out, rate=0.5)
    loss = tf.reduce_mean((out - labels) ** 2)
    rate = v1.train.exponential_decay(0.1, v1.train.get_or_create_global_step(), 1, 0.5)
    train_op = v1.train.GradientDescentOptimizer(rate).minimize(loss, v1.train.get_global_step())
    return Spec(out, loss, train_op if training else None)


def sgd():
    return keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5))


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.random.normal((3, 2)), name="w")
        self.b = tf.Variable(tf.zeros((2,)), name="b")
        self.optimizer = sgd()

    @tf.function
    def __call__(self, rows, training=False):
        out = tf.matmul(rows, self.w) + self.b
        return tf.nn.dropout(out, rate=0.5) if training else out


def step(model, rows, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(rows, training=True) - labels) ** 2)
    weights = [model.w, model.b]
    model.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return {"loss": loss, "largest": tf.reduce_max(loss)}


def module():
    return Pair(old_line, Line, ROWS, TARGETS, train_step=step)


class Late(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = self.b = None
        self.optimizer = sgd()

    def __call__(self, rows, training=False):
        if self.w is None:
            self.w = tf.Variable(tf.random.normal((3, 2)), name="w")
            self.b = tf.Variable(tf.zeros((2,)), name="b")
        out = tf.matmul(rows, self.w) + self.b
        return tf.nn.dropout(out, rate=0.5) if training else out


def first_step(model, rows, labels):
    weights = [model.w, model.b]
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_mean((model(rows, training=True) - labels) ** 2)
    model.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


def late():
    return Pair(old_line, Late, ROWS, TARGETS, train_step=first_step)


def timely():
    return Pair(old_line, Late, ROWS, TARGETS, train_step=step)


def make_function():
    line = Line()

    def call(rows, training=False):
        return line(rows, training), {"sum": tf.reduce_sum(rows)}

    call.line = line
    return call


def eager_step(model, rows, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(rows, training=True)[0] - labels) ** 2)
    weights = [model.line.w, model.line.b]
    model.line.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    print(loss.numpy())


def function():
    return Pair(old_line, make_function, ROWS, TARGETS, train_step=eager_step)


class Turned(tf.Module):
    def __init__(self):
        super().__init__()
        self.parts = [tf.Variable(tf.zeros((2, 3))), tf.Variable(tf.zeros((2,)))]

    def __call__(self, rows):
        return tf.matmul(rows, self.parts[0], transpose_b=True) + self.parts[1]


def turned():
    renames = {"w": "parts/0", "b": "parts/1"}
    return Pair(old_line, Turned, ROWS, TARGETS, renames=renames, transposes={"w": (1, 0)})


class Own(keras.Model):
    def __init__(self, params):
        super().__init__()
        self.block = [keras.layers.Dense(4), keras.layers.Dense(2)]
        self.optimizer = keras.optimizers.SGD(params["rate"])

    def call(self, rows):
        return self.block[1](self.block[0](rows))

    def train_step(self, data):
        rows, labels = data
        with tf.GradientTape() as tape:
            logits = self(rows)
            loss = tf.reduce_mean((logits - labels) ** 2)
        weights = self.trainable_weights
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))


def own():
    return Pair(old_line, Own, ROWS, TARGETS, params={"rate": 0.1})


class Growing(keras.layers.Layer):
    def call(self, rows, training=False):
        self.w = tf.Variable(tf.ones((3, 2)), name="grown")
        if training:
            raise RuntimeError("no training here")
        return tf.matmul(rows, self.w)


def growing():
    return Pair(old_line, Growing, ROWS, TARGETS)


class Shim(keras.layers.Layer):
    def call(self, rows, training=False):
        out = tf.matmul(rows, weight("w", (3, 2))) + weight("b", (2,), 0.0)
        return tf.nn.dropout(out, rate=0.5) if training else out


def shim():
    wrap = v1.keras.utils.track_tf1_style_variables
    return Pair(old_line, type("Shimmed", (Shim,), {"call": wrap(Shim.call)}), ROWS, TARGETS)


class Frozen(keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.last = keras.layers.Dense(3), keras.layers.Dense(2)
        self.first.trainable = False

    def call(self, rows):
        return self.last(self.first(rows))


def frozen():
    return Pair(old_line, Frozen, ROWS)


def finished():
    return Pair(old_line, Line(), ROWS)


def demanding():
    return Pair(old_line, lambda rows: rows, ROWS)


def nothing():
    return Pair(old_line, lambda: None, ROWS)


class Named(keras.Model):
    def __init__(self):
        super().__init__()
        self.last = keras.layers.Dense(2, kernel_regularizer=keras.regularizers.L2(0.5), name="last")

    def call(self, rows):
        return self.last(rows)

    def losses(self, rows, targets):
        return tf.reduce_mean((self(rows) - targets) ** 2)


def step_of_named(model, rows, labels):
    with tf.GradientTape() as tape:
        loss = model.losses(rows, labels)
    gradients = tape.gradient(loss, model.trainable_weights)
    for variable, gradient in zip(model.trainable_weights, gradients):
        variable.assign_sub(0.1 * gradient)
    return loss


def own_losses():
    return Pair(old_line, Named, ROWS, TARGETS, train_step=step_of_named)


class Holding(tf.Module):
    def __init__(self):
        super().__init__()
        self.inner = Named()

    def __call__(self, rows):
        return self.inner(rows)

    def losses(self):
        return []


def held_losses():
    return Pair(old_line, Holding, ROWS)


def of_data(model, data):
    return step(model, *data)


def two_arguments():
    return Pair(old_line, Line, ROWS, TARGETS, train_step=of_data)


def traced_two_arguments():
    return Pair(old_line, Line, ROWS, TARGETS, train_step=tf.function(of_data))


def four_arguments():
    return Pair(old_line, Line, ROWS, TARGETS, train_step=lambda model, rows, labels, rate: step(model, rows, labels))


def no_step():
    return Pair(old_line, Line, ROWS, TARGETS, train_step=3)


class ByName(Line):
    def __init__(self):
        super().__init__()
        self.weights = {"first": self.w, "second": self.b}


def with_weights_by_name():
    return Pair(old_line, ByName, ROWS, TARGETS, train_step=step)


def grouped_network():
    images = keras.Input((4, 4, 2))
    layers = [keras.layers.Conv2D(4, 3, groups=2), keras.layers.Flatten(), keras.layers.Dense(2)]
    model = keras.Sequential([images, *layers])
    model.compile(sgd(), "mse")
    return model


def grouped():
    return Pair(None, grouped_network, np.ones((6, 4, 4, 2), np.float32), TARGETS)


def with_defaults():
    return Pair(old_line, Line, ROWS, TARGETS, train_step=lambda model, *batch, rate=0.1: step(model, *batch))
"""
FORWARD = ["constant", "fingerprint", "inference", "inference-copied", "training", "training-constant", "aligned"]
STEPS = [scenarios.STEPS, scenarios.STEPS_OTHER, scenarios.STEPS_AGAIN]
PLANS = {
    "network": [getattr(scenarios, name) for name in scenarios.__all__],
    "module": ["structure", "inference", "training", "training-constant", *STEPS],
    "function": ["structure", "inference", "steps", "steps-other"],
    "late": ["structure", "inference", "steps"],
    "timely": ["structure", "inference", "steps"],
    "turned": ["structure", "fingerprint", "inference", "inference-copied", "steps"],
    "own": ["structure", "inference", "steps"],
    "growing": ["once", "structure", "inference", "training"],
    "finished": ["structure"],
    "frozen": ["structure"],
    "demanding": ["structure"],
    "nothing": ["structure"],
    "own_losses": ["structure", "fingerprint", "steps"],
    "held_losses": ["structure", "fingerprint"],
    "two_arguments": ["structure"],
    "traced_two_arguments": ["structure"],
    "four_arguments": ["structure"],
    "no_step": ["structure"],
    "with_defaults": ["structure", "steps"],
    "with_weights_by_name": ["structure", "steps"],
    "grouped": ["structure", "steps", "steps-other"],
}
SHIM = {"shim": ["structure", "constant", "fingerprint", "inference"]}
EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])
Get = Callable[..., Recorded]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, children: Children) -> Get:
    """The recording of a program by Keras, name and side; those of a Keras are made when one is first asked for."""
    folders: dict[str, Path] = {}

    def get(keras: str, name: str, side: str = "tf2") -> Recorded:
        if keras not in folders:
            folders[keras] = tmp_path_factory.mktemp(keras)
            (folders[keras] / "programs.py").write_text(PROGRAMS, "utf-8")
            children.call(keras, record, str(folders[keras]), PLANS | (SHIM if keras == "keras2" else {}))
        return read(folders[keras] / name / side)

    return get


def record(folder: str, plans: dict[str, list[str]]) -> None:
    """In a child: record both sides of each program."""
    from migrate_lint.runtime_checks.worker.recording.tf1.side import record_tf1
    from migrate_lint.runtime_checks.worker.recording.tf2.side import record_tf2

    programs = load(Path(folder, "programs.py"))
    code = UserCode([folder])
    for name, wanted in plans.items():
        pair, plan = getattr(programs, name)(), Plan(tuple(wanted))
        one, other = Recording(f"{folder}/{name}/tf1", "tf1"), Recording(f"{folder}/{name}/tf2", "tf2")
        with code.following_autograph():
            if pair.labels is not None:
                record_tf1(pair, plan, one, code)
                one.save()
            try:
                record_tf2(pair, plan, other, code, read(f"{folder}/{name}/tf1"))
            except PairError as error:
                other.note(f"refused: {error}")
        other.save()
    one = read(f"{folder}/network/tf1")
    moved = Plan(("structure", scenarios.STEPS, scenarios.STEPS_NUDGED), reference=f"{folder}/network/tf2")
    again = Recording(f"{folder}/network/variant", "tf2")
    record_tf2(programs.network(), moved, again, code, one)
    again.save()


def line_of(text: str) -> int:
    return 1 + next(at for at, line in enumerate(PROGRAMS.split("\n")) if text in line)


def values(scenario: Scenario, kind: str, step: int = 0) -> dict[str, np.ndarray]:
    return {record.name: record.value for record in scenario.of_kind(kind, step)}


def largest(tf1: Scenario, tf2: Scenario, kind: str, step: int = 0) -> float:
    """The largest difference between the records of a kind, which must have the same names."""
    one, other = values(tf1, kind, step), values(tf2, kind, step)
    assert one and one.keys() == other.keys()
    return max(float(np.abs(one[name].astype(float) - other[name]).max()) for name in one)


@EITHER
def test_every_scenario_is_recorded(recorded: Get, keras: str):
    """Of a compiled functional model; but for the checkpoint, which the pair does not name."""
    one = recorded(keras, "network")

    ran = [scenarios.ONCE, scenarios.STRUCTURE, "fingerprint-other", *FORWARD, *STEPS]
    assert dict.fromkeys(ran, "ok") == {name: one.scenario(name).outcome for name in ran}
    assert "the pair names no checkpoint" == one.scenario(scenarios.CHECKPOINT).detail


@EITHER
@pytest.mark.parametrize("name", ["constant", "fingerprint", "fingerprint-other", "inference-copied", "aligned"])
def test_the_forward_pass_is_that_of_the_graph(recorded: Get, keras: str, name: str):
    """With equal weights: outputs and regularization, with dropout drawn alike in training."""
    one, other = recorded(keras, "network", "tf1"), recorded(keras, "network")
    tf1 = one.scenario(scenarios.INFERENCE if name == "inference-copied" else name)
    tf2 = other.scenario(name)

    assert 0.0 == pytest.approx(largest(tf1, tf2, "output"), abs=2e-6)
    if name == "aligned":
        assert 0.0 == pytest.approx(largest(tf1, tf2, "loss"), abs=1e-6)
        total = [values(scenario, "regularization")["total"] for scenario in (tf1, tf2)]
        assert total[0] == pytest.approx(total[1], rel=1e-6)
        assert total[0] > 0


@EITHER
@pytest.mark.parametrize("name", STEPS)
def test_training_is_that_of_the_session(recorded: Get, keras: str, name: str):
    """Loss, rate, clipped gradients, weights, moving statistics and Adam's slots, in each of three steps."""
    tf1, tf2 = recorded(keras, "network", "tf1").scenario(name), recorded(keras, "network").scenario(name)

    assert [0, 1, 2] == tf2.steps
    assert 0.0 == largest(tf1, tf2, "variable", -1)
    for step in tf2.steps:
        for kind in ("input", "label", "output", "loss", "learning_rate", "gradient", "variable", "slot"):
            assert 0.0 == pytest.approx(largest(tf1, tf2, kind, step), abs=2e-5), (kind, step)
    for step in (0, 2):
        assert 0.0 == pytest.approx(largest(tf1, tf2, "evaluation", step), abs=2e-5)
    assert not np.array_equal(*(values(tf2, "variable", step)["norm/moving_mean"] for step in (0, 2)))


@EITHER
def test_the_global_norm_of_the_recorded_gradients_is_the_clipped_one(recorded: Get, keras: str):
    """They are what the optimizer applies."""
    gradients = values(recorded(keras, "network").scenario(scenarios.STEPS), "gradient")

    assert 0.125 == pytest.approx(sum(float((value**2).sum()) for value in gradients.values()) ** 0.5, rel=1e-5)


@EITHER
def test_layers_are_tapped_where_they_are_put_together(recorded: Get, keras: str):
    """By name, in the order of execution, with the variables that they own; a declared tap goes by the pair's name."""
    taps = recorded(keras, "network").scenario(scenarios.INFERENCE).of_kind("tap")

    assert ["first", "norm", "re_lu", "dropped", "last"] == [tap.name for tap in taps if "input" not in tap.name]
    first = next(tap for tap in taps if tap.name == "first")
    assert ["first/kernel", "first/bias"] == first.more["owned"]
    assert line_of('name="first")(rows)') == first.place[1]
    assert [False] == [tap.more["auto"] for tap in taps if tap.name == "dropped"]
    assert ["tap nothing: the TF2 model has neither an endpoint nor a layer no/such"] == [
        note for note in recorded(keras, "network").content["notes"] if note.startswith("tap")
    ]


@EITHER
def test_inside_a_function_there_are_no_taps(recorded: Get, keras: str):
    """Neither in the forward pass nor in the steps."""
    one = recorded(keras, "network")

    assert [] == one.scenario(scenarios.FINGERPRINT_AGAIN).of_kind("tap")
    assert [] == one.scenario(scenarios.STEPS_OTHER).of_kind("tap")
    assert [] != one.scenario(scenarios.STEPS).of_kind("tap", 2)


@EITHER
@pytest.mark.parametrize("side", ["tf1", "variant"])
def test_what_was_asked_for_is_tapped_from_moved_values_as_well(recorded: Get, keras: str, side: str):
    """So that it has noise of its own in later steps, where training amplifies what is rounded; nothing else is."""
    one = recorded(keras, "network", side)
    steps, moved = (one.scenario(name).of_kind("tap", 2) for name in (scenarios.STEPS, scenarios.STEPS_NUDGED))

    assert [] != moved
    assert [tap.name for tap in steps if not tap.more["auto"]] == [tap.name for tap in moved]


@EITHER
def test_the_structure_is_that_of_the_model_alone(recorded: Get, keras: str):
    """In order of creation; slots, counters, seeds and metrics are listed apart."""
    content = recorded(keras, "network").content
    described = {said["name"]: said for said in content["variables"]}

    assert [
        "first/kernel",
        "first/bias",
        "norm/gamma",
        "norm/beta",
        "norm/moving_mean",
        "norm/moving_variance",
        "last/kernel",
        "last/bias",
    ] == list(described)
    assert {True} == {said["tracked"] for said in described.values()}
    assert ["norm/moving_mean", "norm/moving_variance"] == [n for n, said in described.items() if not said["trainable"]]
    assert ([3, 4], "float32") == (described["first/kernel"]["shape"], described["first/kernel"]["dtype"])
    assert line_of('name="first")(rows)') == described["first/kernel"]["place"][1]
    assert "GlorotUniform" in described["first/kernel"]["initializer"]
    purposes = {said["purpose"] for said in content["other_variables"]}
    assert {"slot", "counter"} <= purposes <= {"slot", "counter", "metric", "seed"}


@EITHER
def test_optimizer_and_layers_are_described(recorded: Get, keras: str):
    """Settings that change what comes out of the same weights."""
    content = recorded(keras, "network").content
    (adam,) = content["optimizers"]
    layers = {said["name"]: said["config"] for said in content["layers"]}

    assert ("Adam", 1e-4, 0.9, 0.999, 0.125, 0.01) == tuple(
        adam[key] for key in ("class", "epsilon", "beta_1", "beta_2", "global_clipnorm", "learning_rate")
    )
    assert (0.75, 1e-3) == (layers["norm"]["momentum"], layers["norm"]["epsilon"])
    assert 0.25 == layers["drop"]["rate"]


@EITHER
def test_what_was_done_for_the_comparison_is_said(recorded: Get, keras: str):
    """Weights were copied, a compiled model's step was traced without XLA, and Keras 3 drew by tf.random."""
    said = recorded(keras, "network").content["adaptations"]

    assert "the initial values of 8 variables were copied from the TF1 side" in said
    assert "the train_step of the compiled model was called in one tf.function a step, without XLA" in said
    assert (keras == "keras3") == any("Keras 3 draw were drawn by tf.random" in text for text in said)


@EITHER
def test_random_operations_are_in_the_ledger(recorded: Get, keras: str):
    """One draw for the dropout of the aligned pass, with its shape."""
    drawn = recorded(keras, "network").scenario(scenarios.ALIGNED).said["random_ops"]

    assert [[6, 4]] == [op["shape"] for op in drawn if op["purpose"] == "step"]


@EITHER
@pytest.mark.parametrize("name", STEPS)
def test_a_module_is_trained_by_the_pairs_step(recorded: Get, keras: str, name: str):
    """A tf.Module whose call is a tf.function; metrics and loss are those that the step returns."""
    tf1, tf2 = recorded(keras, "module", "tf1").scenario(name), recorded(keras, "module").scenario(name)

    assert "ok" == tf2.outcome
    for step in tf2.steps:
        for kind in ("loss", "learning_rate", "gradient", "variable"):
            assert 0.0 == pytest.approx(largest(tf1, tf2, kind, step), abs=1e-5), (kind, step)
    assert values(tf2, "loss") == {"loss": values(tf2, "metric")["largest"]}
    assert line_of("model.optimizer.apply_gradients") == tf2.of_kind("gradient", 0)[0].place[1]


@EITHER
@pytest.mark.parametrize("name", ["inference", "training", "training-constant"])
def test_random_numbers_of_stateful_operations_are_the_graphs(recorded: Get, keras: str, name: str):
    """In both modes of the test tool, initial values included."""
    tf1, tf2 = recorded(keras, "module", "tf1").scenario(name), recorded(keras, "module").scenario(name)

    assert 0.0 == pytest.approx(largest(tf1, tf2, "output"), abs=1e-6)


@EITHER
def test_a_step_that_returns_nothing_is_understood(recorded: Get, keras: str):
    """The loss is what gradients were taken of; a step that only runs eagerly is not traced, and the reason is said."""
    one = recorded(keras, "function")
    tf1, tf2 = recorded(keras, "function", "tf1").scenario(scenarios.STEPS), one.scenario(scenarios.STEPS)

    assert 0.0 == pytest.approx(largest(tf1, tf2, "loss", 2), abs=1e-5)
    assert {"output"} == set(values(tf2, "output"))
    assert {"sum"} == {tap.name for tap in tf2.of_kind("tap", 0)}
    other = one.scenario(scenarios.STEPS_OTHER)
    assert ("not run", True) == (other.outcome, other.detail.startswith("the training step runs only eagerly"))


@EITHER
def test_renames_and_transposes_carry_fills_and_copies(recorded: Get, keras: str):
    """Variables without names of their own go by their attribute paths."""
    one = recorded(keras, "turned")

    assert ["parts/0", "parts/1"] == [said["name"] for said in one.content["variables"]]
    expected = np.asarray(recorded(keras, "turned", "tf1").scenario("fingerprint").find("output", "output").value)
    np.testing.assert_allclose(one.scenario("fingerprint").find("output", "output").value, expected, atol=1e-6)
    expected = recorded(keras, "turned", "tf1").scenario("inference").find("output", "output").value
    np.testing.assert_allclose(one.scenario("inference-copied").find("output", "output").value, expected, atol=1e-6)


@EITHER
def test_what_a_frozen_layer_has_is_not_trainable(recorded: Get, keras: str):
    """In Keras 2 the variables themselves say that they are."""
    rows = recorded(keras, "frozen").content["variables"]

    assert [False, False, True, True] == [row["trainable"] for row in rows]


@EITHER
def test_without_a_training_step_there_are_no_steps(recorded: Get, keras: str):
    """What to do is said."""
    steps = recorded(keras, "turned").scenario(scenarios.STEPS)

    assert ("not run", True) == (steps.outcome, "give the pair a train_step, or compile the model" in steps.detail)


@EITHER
def test_what_the_first_step_of_an_uncalled_model_raises_is_told(recorded: Get, keras: str):
    """The model is called before all the same, and its steps are recorded."""
    one, other = recorded(keras, "late"), recorded(keras, "timely")

    assert ["ok", "ok"] == [each.scenario(scenarios.STEPS).outcome for each in (one, other)]
    assert "(programs.py:" in one.content["unbuilt"]
    assert "unbuilt" not in other.content


@EITHER
def test_a_models_own_training_step_is_taken(recorded: Get, keras: str):
    """Its factory gets params; the layers of a list are named by it; what was not copied is said."""
    one = recorded(keras, "own")
    steps = one.scenario(scenarios.STEPS)

    assert "ok" == steps.outcome
    assert [0.1] * 3 == pytest.approx([float(values(steps, "learning_rate", k)["learning_rate"]) for k in range(3)])
    assert ["block/0", "block/1"] == [tap.name for tap in steps.of_kind("tap", 0)]
    assert any(note.startswith("not copied from the TF1 side: ") for note in one.content["notes"])
    assert float(values(steps, "loss", 2)["loss"]) < float(values(steps, "loss", 0)["loss"])


@EITHER
def test_what_later_calls_create_is_named_with_its_line(recorded: Get, keras: str):
    """A layer that makes a variable in every call; that its training fails hides nothing."""
    said = recorded(keras, "growing").scenario(scenarios.ONCE).said
    ended = {call["name"]: call["ended"] for call in said["calls"]}

    assert ("ok", "RuntimeError: no training here") == (ended["second call, inference"], ended["second call, training"])
    assert ended["second call, inference, in tf.function"] != "ok"
    made = [one for one in said["created"] if one["call"] == "second call, inference"]
    assert [line_of('name="grown")')] == [one["place"][1] for one in made]
    assert [[3, 2]] == [one["shape"] for one in made]


@EITHER
def test_nothing_is_said_to_be_created_twice_where_it_is_not(recorded: Get, keras: str):
    """Eight calls of a good model."""
    said = recorded(keras, "network").scenario(scenarios.ONCE).said

    assert ([], {"ok"}, 8) == (said["created"], {call["ended"] for call in said["calls"]}, len(said["calls"]))


@EITHER
def test_a_call_that_fails_does_not_end_the_recording(recorded: Get, keras: str):
    """Training fails with the user's line, inference is recorded; an untracked variable is among the structure."""
    one = recorded(keras, "growing")
    training = one.scenario(scenarios.TRAINING)

    assert ("failed", "RuntimeError: no training here") == (training.outcome, training.detail)
    assert line_of("no training here") == training.place[1]
    assert "ok" == one.scenario(scenarios.INFERENCE).outcome
    assert (keras == "keras2") == any(said["tracked"] for said in one.content["variables"])
    assert any(not said["tracked"] for said in one.content["variables"])


def test_the_shims_variables_are_the_models(recorded: Get):
    """A Keras 2 layer around TF1 code keeps the TF1 names and computes the same."""
    one, tf1 = recorded("keras2", "shim"), recorded("keras2", "shim", "tf1")

    assert ["w", "b"] == [said["name"] for said in one.content["variables"]]
    for name in ("inference", "constant", "fingerprint"):
        assert 0.0 == largest(tf1.scenario(name), one.scenario(name), "output")


@EITHER
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("finished", "tf2 is a finished Line, but several fresh models are needed: give a function that makes one"),
        ("demanding", "needs rows, but it is called without arguments to make the model"),
        ("nothing", "tf2 returned None: wanted is a layer, a model or another callable"),
    ],
)
def test_what_makes_no_model_is_refused(recorded: Get, keras: str, name: str, words: str):
    """With a sentence that says what to write."""
    assert words in " ".join(recorded(keras, name).content["notes"])


@EITHER
@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("two_arguments", "def of_data", "=of_data (programs.py:LINE) takes model, data, but is given"),
        ("traced_two_arguments", "def of_data", "=of_data (programs.py:LINE) takes model, data, but is given"),
        ("four_arguments", "train_step=lambda model, rows, labels", "takes model, rows, labels, rate, but is given"),
        ("no_step", "", "train_step=int cannot be called: wanted is a function train_step(model, inputs, labels)"),
    ],
)
def test_a_step_of_other_parameters_is_refused(recorded: Get, keras: str, name: str, line: str, words: str):
    """With its line, what it takes and what it is given; before anything is recorded."""
    one = recorded(keras, name)

    told = " ".join(one.content["notes"])
    assert words.replace("LINE", str(line_of(line))) in told
    assert not line or (f"(programs.py:{line_of(line)})" in told and "the model, the inputs and the labels" in told)
    assert {} == one.scenarios


@EITHER
def test_a_step_of_three_arguments_may_say_so_in_other_words(recorded: Get, keras: str):
    """What takes any number is given three; a default needs nothing."""
    assert "ok" == recorded(keras, "with_defaults").scenario(scenarios.STEPS).outcome


@EITHER
def test_an_attribute_that_is_called_weights_may_be_anything(recorded: Get, keras: str):
    """What the variables of a module are its class says."""
    one = recorded(keras, "with_weights_by_name")

    assert "ok" == one.scenario(scenarios.STEPS).outcome
    assert ["b", "w"] == sorted(row["name"] for row in one.content["variables"])


@EITHER
@pytest.mark.parametrize("scenario", [scenarios.STEPS, scenarios.STEPS_OTHER])
def test_what_keras_compiles_itself_is_compiled(recorded: Get, keras: str, scenario: str):
    """A grouped convolution has gradients on a CPU by XLA alone."""
    found = recorded(keras, "grouped").scenario(scenario)

    assert "ok" == found.outcome, found.detail


@EITHER
@pytest.mark.parametrize(
    ("name", "scenario"), [("own_losses", "fingerprint"), ("own_losses", "steps"), ("held_losses", "fingerprint")]
)
def test_a_method_called_losses_hides_no_penalty(recorded: Get, keras: str, name: str, scenario: str):
    """Keras's own property is read; that the method is not compared is told with its line."""
    one = recorded(keras, name)

    assert "ok" == one.scenario(scenario).outcome
    assert 0.0 < values(one.scenario(scenario), "regularization")["0"]
    (note,) = [note for note in one.content["notes"] if "losses" in note]
    place = f"(programs.py:{line_of('def losses(self, rows, targets)')})"
    assert f"Named.losses {place} is the program's own, and not compared" in note
