"""The TF1 side's recording, in the process of each Keras: what is recorded, with which values, and what is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from migrate_lint.runtime_checks.worker.frames import UserCode
from migrate_lint.runtime_checks.worker.recording.format import scenarios
from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
from migrate_lint.runtime_checks.worker.recording.format.reading import Recorded, Scenario, read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording
from migrate_lint.runtime_checks.worker.recording.values.fills import fingerprint

from ...interpreters import Children, load

pytestmark = pytest.mark.tensorflow

PROGRAMS = """\
import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks.worker.recording.pairs.pair import Pair, Spec

v1 = tf.compat.v1
GUIDE = {"layer_1": 2, "layer_2": 2, "classes": 3, "rate": 1e-3}
random = np.random.RandomState(0)
IMAGES = random.normal(size=(4, 8, 8, 3)).astype(np.float32)
CLASSES = np.array([0, 1, 2, 1])
ROWS = random.normal(size=(4, 3)).astype(np.float32)
TARGETS = random.normal(size=(4, 3)).astype(np.float32)


def model_fn(features, labels, mode, params):
    out_1 = v1.layers.dense(features, params["layer_1"])
    out_2 = v1.layers.dense(out_1, params["layer_2"])
    logits = v1.layers.dense(out_2, params["classes"])
    loss = v1.losses.softmax_cross_entropy(labels, logits)
    assert mode == tf.estimator.ModeKeys.TRAIN
    step = v1.train.get_or_create_global_step()
    rate = v1.train.polynomial_decay(params["rate"], step, 1000, 0.0)
    train_op = v1.train.GradientDescentOptimizer(rate).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def guide():
    labels = np.array([[1, 0, 0], [0, 1, 0]], np.int32)
    taps = {"logits": ("dense_2/BiasAdd", "out"), "nothing": ("no/such", "out")}
    return Pair(model_fn, None, np.ones((2, 3), np.float32), labels, params=GUIDE, taps=taps)


def of_eight(rows):
    fed = v1.placeholder(tf.float32, [None, 3])
    return Spec(tf.matmul(tf.reshape(fed, [8, 3]), v1.get_variable("w", [3, 2])), feeds={fed: rows})


def batched():
    return Pair(of_eight, None, ROWS)


def decay(weight):
    return 0.01 * v1.nn.l2_loss(weight)


def loss_of(labels, logits, regularized=True):
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    return loss + v1.losses.get_regularization_loss() if regularized else loss


def layered(images, labels, training):
    x = v1.layers.conv2d(images, 4, 3, kernel_regularizer=decay, name="conv")
    x = tf.nn.relu(v1.layers.batch_normalization(x, training=training, name="norm"))
    x = v1.layers.dropout(x, 0.25, training=training, name="drop")
    logits = v1.layers.dense(v1.layers.flatten(x), 3, name="head")
    loss = loss_of(labels, logits)
    train_op = None
    if training:
        optimizer = v1.train.AdamOptimizer(0.01, epsilon=1e-4)
        gradients, weights = zip(*optimizer.compute_gradients(loss))
        clipped = tf.clip_by_global_norm(gradients, 0.125)[0]
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.apply_gradients(list(zip(clipped, weights)), v1.train.get_or_create_global_step())
    metrics = {"accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, 1))}
    outputs = {"logits": logits, "probabilities": tf.nn.softmax(logits)}
    return Spec(outputs, loss, train_op, metrics, taps={"hidden": x})


def layers():
    return Pair(layered, None, IMAGES, CLASSES)


def plain(images, labels, is_training):
    kernel = v1.get_variable("conv/w", [3, 3, 3, 4], regularizer=decay)
    bias = v1.get_variable("conv/b", [4], initializer=v1.zeros_initializer())
    x = tf.nn.relu(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "VALID") + bias)
    if is_training:
        x = tf.nn.dropout(x, rate=0.25)
    table = v1.get_variable("table", [10, 3])
    head = v1.get_variable("head/w", [144, 3])
    logits = tf.matmul(tf.reshape(x, [-1, 144]), head) + tf.reduce_sum(tf.gather(table, labels), 0)
    loss = loss_of(labels, logits, regularized=False)
    step = v1.train.get_or_create_global_step()
    rate = v1.train.exponential_decay(0.1, step, 1, 0.5)
    train_op = v1.train.MomentumOptimizer(rate, 0.9).minimize(loss, step) if is_training else None
    return Spec(logits, loss, train_op)


def variables():
    return Pair(plain, None, lambda step: IMAGES[: 4 - step], lambda step: CLASSES[: 4 - step])


def line(rows, labels, training, make):
    w = v1.get_variable("w", [3, 3])
    out = tf.matmul(rows, w, name="product")
    loss = v1.losses.mean_squared_error(labels, out)
    return Spec(out, loss, make().minimize(loss) if training else None)


def of(make):
    def program(rows, labels, training):
        return line(rows, labels, training, make)

    return Pair(program, None, ROWS, TARGETS)


class Doubling(v1.train.Optimizer):
    def __init__(self):
        super().__init__(False, "Doubling")
        self.inner = v1.train.GradientDescentOptimizer(0.5)

    def compute_gradients(self, *args, **kwargs):
        return self.inner.compute_gradients(*args, **kwargs)

    def apply_gradients(self, pairs, *args, **kwargs):
        return self.inner.apply_gradients([(2 * gradient, weight) for gradient, weight in pairs], *args, **kwargs)


def momentum():
    return of(lambda: v1.train.MomentumOptimizer(0.1, 0.5, use_nesterov=True))


def rmsprop():
    return of(lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True))


def adagrad():
    return of(lambda: v1.train.AdagradOptimizer(lambda: 0.1))


def adadelta():
    return of(lambda: v1.train.AdadeltaOptimizer(0.1))


def ftrl():
    return of(lambda: v1.train.FtrlOptimizer(0.1))


def doubling():
    return of(Doubling)


def with_another(rows, labels, training):
    spec = line(rows, labels, training, lambda: v1.train.GradientDescentOptimizer(0.1))
    if training:
        v1.train.AdamOptimizer(0.2).minimize(-spec.loss)
    return spec


def beside():
    return Pair(with_another, None, ROWS, TARGETS)


def counting(rows, labels, training):
    names = "counts/named", "counts/placed", "counts/idle"
    named, placed, idle = (tf.Variable(0, trainable=False, name=name) for name in names)
    spec = line(rows, labels, False, None)
    if not training:
        return spec
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    train_op = tf.group(
        optimizer.minimize(spec.loss, global_step=named),
        optimizer.apply_gradients(optimizer.compute_gradients(spec.loss), placed),
    )
    optimizer.minimize(-spec.loss, idle)  # as of the other network of two
    return Spec(spec.predictions, spec.loss, train_op)


def counters():
    return Pair(counting, None, ROWS, TARGETS)


def forward(rows):
    hidden = tf.matmul(rows, v1.get_variable("first", [3, 3]))
    return tf.matmul(hidden, v1.get_variable("second", [3, 3])), {"hidden": hidden}


def endpoints():
    return Pair(forward, None, ROWS)


def named(left, right, mode):
    assert mode in ("train", "infer")
    return {"sum": left + right, "difference": (left - right) * v1.get_variable("scale", [])}


def keywords():
    return Pair(named, None, {"left": ROWS, "right": TARGETS})


def together(features, labels, mode):
    return features[0] + features[1]


def positional():
    return Pair(together, None, (ROWS, TARGETS))


def breaks(rows):
    return v1.get_variable("w", [3, 3]) + undefined_name


def broken():
    return Pair(breaks, None, ROWS)


def dividing(rows, training):
    w = v1.get_variable("w", [3, 3])
    checked = v1.Assert(tf.reduce_sum(w) > 1e6, ["too small"]) if training else tf.no_op()
    with tf.control_dependencies([checked]):
        return tf.matmul(rows, w)


def refusing():
    return Pair(dividing, None, ROWS)


def noisy(rows, labels, mode):
    assert mode == "train"
    return tf.nn.dropout(rows * v1.get_variable("w", []), rate=0.5)


def flipped(rows, training):
    w = v1.get_variable("w", [3, 3])
    if training:
        rows = tf.cond(tf.random.uniform([]) < 0.5, lambda: rows, lambda: tf.reverse(rows, [1]))
    return tf.matmul(rows, w)


def normalized(rows, training):
    mean, variance = tf.nn.moments(rows * v1.get_variable("w", []), [0])
    rows = tf.nn.batch_normalization(rows, mean, variance, None, None, 1e-3)
    return rows * tf.math.rsqrt(variance + 0.5)


def normalizing():
    return Pair(normalized, None, ROWS)


def flipping():
    return Pair(flipped, None, ROWS)


def no_inference():
    return Pair(noisy, None, ROWS, TARGETS)


def queued(rows, labels, training):
    queue = v1.train.input_producer(tf.constant([[1.0], [2.0], [3.0]]), shuffle=False)
    w = v1.get_variable("w", [1], initializer=v1.ones_initializer())
    loss = tf.reduce_sum(queue.dequeue() * w)
    return Spec(loss, loss, v1.train.GradientDescentOptimizer(0.0).minimize(loss) if training else None)


def queues():
    return Pair(queued, None, ROWS)


def restoring(rows, training):
    w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
    assignment = w.assign(7.0)
    scaffold = v1.train.Scaffold(init_fn=lambda scaffold, session: session.run(assignment))
    return tf.estimator.EstimatorSpec("infer", predictions=w * rows, scaffold=scaffold)


def scaffolded():
    return Pair(restoring, None, ROWS)


def averaging(rows, labels, training):
    w = v1.get_variable("w", [3, 3])
    out = tf.matmul(rows, w)
    loss = v1.losses.mean_squared_error(labels, out)
    if not training:
        return Spec(out, loss)
    descent = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([descent]):
        return Spec(out, loss, v1.train.ExponentialMovingAverage(0.5).apply([w]))


def averages():
    return Pair(averaging, None, ROWS, TARGETS)


def large(rows, labels, training):
    w = v1.get_variable("w", [3, 90000])
    out = tf.matmul(rows, w)
    loss = tf.reduce_mean(tf.square(out))
    return Spec(out, loss, v1.train.GradientDescentOptimizer(0.1).minimize(loss) if training else None)


def much():
    return Pair(large, None, ROWS)
"""

PROGRAM_NAMES = re.findall(r"^def (\w+)\(\):$", PROGRAMS, re.MULTILINE)
FORWARD = (
    scenarios.CONSTANT,
    scenarios.FINGERPRINT,
    scenarios.FINGERPRINT_AGAIN,
    scenarios.FINGERPRINT_NUDGED,
    scenarios.INFERENCE,
    scenarios.TRAINING,
    scenarios.TRAINING_CONSTANT,
    scenarios.ALIGNED,
)
STEPS = (scenarios.STEPS, scenarios.STEPS_OTHER, scenarios.STEPS_AGAIN, scenarios.STEPS_NUDGED)
EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])

Get = Callable[[str, str], Recorded]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, children: Children) -> Get:
    """The recording of a program by Keras and name; those of a Keras are made when one is first asked for."""
    folders: dict[str, Path] = {}

    def get(keras: str, name: str) -> Recorded:
        if keras not in folders:
            folders[keras] = tmp_path_factory.mktemp(keras)
            (folders[keras] / "programs.py").write_text(PROGRAMS, "utf-8")
            children.call(keras, record, str(folders[keras]))
        return read(folders[keras] / name)

    return get


def record(folder: str) -> None:
    """In a child: record every program."""
    from migrate_lint.runtime_checks.worker.recording.tf1.side import record_tf1

    programs = load(Path(folder, "programs.py"))
    every = tuple(getattr(scenarios, name) for name in scenarios.__all__)
    for name in PROGRAM_NAMES:
        recording = Recording(f"{folder}/{name}", "tf1")
        plan = Plan(every, steps=5 if name == "much" else 3)
        record_tf1(getattr(programs, name)(), plan, recording, UserCode([folder]))
        recording.save()


def line_of(text: str) -> int:
    return 1 + next(at for at, line in enumerate(PROGRAMS.split("\n")) if text in line)


def values(scenario: Scenario, kind: str, step: int = 0) -> dict[str, np.ndarray]:
    return {record.name: record.value for record in scenario.of_kind(kind, step)}


@EITHER
def test_what_counts_the_updates_of_an_optimizer_is_no_variable_of_the_model(recorded: Get, keras: str):
    """Whatever it is called, and although no collection says that it is the global step."""
    content = recorded(keras, "counters").content

    assert ["w"] == [said["name"] for said in content["variables"]]
    assert {"counts/named": "counter", "counts/placed": "counter", "counts/idle": "counter"} == {
        said["name"]: said["purpose"] for said in content["other_variables"]
    }


@EITHER
def test_the_guides_estimator_trains_as_it_is_printed(recorded: Get, keras: str):
    """The three losses of the guide on the training pipeline; its model_fn builds in no other mode than TRAIN."""
    one = recorded(keras, "guide")
    steps = one.scenario(scenarios.STEPS)

    assert ["ok"] * 3 == [one.scenario(name).outcome for name in (scenarios.STEPS, scenarios.ALIGNED, "structure")]
    assert [1.5084989, 1.5041211, 1.4997888] == pytest.approx(
        [float(values(steps, "loss", step)["loss"]) for step in range(3)], abs=1e-7
    )
    assert [1e-3, 9.99e-4, 9.98e-4] == pytest.approx(
        [float(values(steps, "learning_rate", step)["learning_rate"]) for step in range(3)]
    )


@EITHER
def test_what_was_done_for_the_program_is_said(recorded: Get, keras: str):
    """A stand-in for tf.estimator, inference in the mode of training, a tap that is not there."""
    content = recorded(keras, "guide").content
    said = " | ".join(content["adaptations"])

    assert "has no tf.estimator: ModeKeys and EstimatorSpec are stand-ins" in said or "estimator" not in said
    assert "the forward pass of mode 'train' stands for inference" in said
    assert ["tap nothing: the TF1 graph has neither an endpoint nor a layer nor a tensor no/such"] == content["notes"]


@EITHER
def test_a_graph_for_batches_of_another_size_is_told(recorded: Get, keras: str):
    """It fails where it is fed, with an error that speaks of the sizes of a reshape."""
    content = recorded(keras, "batched").content

    assert (
        "the graph of the TF1 side is made for 8 rows, as its outputs have, whatever it is fed, and inputs gives 4: "
        "let it give batches of that size"
    ) == content["notes"][0]


@EITHER
@pytest.mark.parametrize("name", ["layers", "variables", "momentum"])
def test_every_scenario_is_recorded(recorded: Get, keras: str, name: str):
    """But for the checkpoint, which the pair does not name."""
    one = recorded(keras, name)

    assert {"ok"} == {one.scenario(scenario).outcome for scenario in (scenarios.STRUCTURE, *FORWARD, *STEPS)}
    assert ("not run", "the pair names no checkpoint") == (
        one.scenario(scenarios.CHECKPOINT).outcome,
        one.scenario(scenarios.CHECKPOINT).detail,
    )


@EITHER
def test_the_structure_is_that_of_the_model_alone(recorded: Get, keras: str):
    """In order of creation; slots, counters and metrics are listed apart."""
    content = recorded(keras, "layers").content
    described = {said["name"]: said for said in content["variables"]}

    assert [
        "conv/kernel",
        "conv/bias",
        "norm/gamma",
        "norm/beta",
        "norm/moving_mean",
        "norm/moving_variance",
        "head/kernel",
        "head/bias",
    ] == list(described)
    assert ["norm/moving_mean", "norm/moving_variance"] == [n for n, said in described.items() if not said["trainable"]]
    assert ([3, 3, 3, 4], "float32") == (described["conv/kernel"]["shape"], described["conv/kernel"]["dtype"])
    assert line_of('name="conv"') == described["conv/kernel"]["place"][1]
    others = {said["name"]: said["purpose"] for said in content["other_variables"]}
    assert ("slot", "slot", "counter", "counter", "metric") == tuple(
        others[name] for name in ("head/bias/Adam", "head/bias/Adam_1", "beta1_power", "global_step", "accuracy/total")
    )


@EITHER
def test_the_optimizer_is_described(recorded: Get, keras: str):
    """Under the names of Keras, with the schedule's name where the rate is no constant."""
    (adam,) = recorded(keras, "layers").content["optimizers"]
    (momentum,) = recorded(keras, "variables").content["optimizers"]

    assert ("AdamOptimizer", 1e-4, 0.9, 0.999) == (adam["class"], adam["epsilon"], adam["beta_1"], adam["beta_2"])
    assert (0.01, 0.125) == pytest.approx((adam["learning_rate"], adam["global_clipnorm"]))
    assert ("MomentumOptimizer", 0.9, False, "ExponentialDecay") == (
        momentum["class"],
        momentum["momentum"],
        momentum["nesterov"],
        momentum["learning_rate"],
    )


@EITHER
def test_layers_settings_are_recorded(recorded: Get, keras: str):
    """Of batch normalization and dropout, also where no layer is around them."""
    layers = {said["name"]: said["config"] for said in recorded(keras, "layers").content["layers"]}
    plain = recorded(keras, "variables").content["layers"]

    assert {"epsilon": 0.001, "momentum": 0.99} == layers["norm"]
    assert {"rate": 0.25} == layers["drop"]
    assert [("dropout", {"rate": 0.25})] == [(said["name"], said["config"]) for said in plain]


@EITHER
def test_the_epsilon_of_a_normalization_by_operations_is_recorded(recorded: Get, keras: str):
    """And that of no other root."""
    layers = recorded(keras, "normalizing").content["layers"]

    assert [("batchnorm/Rsqrt", {"epsilon": 0.001})] == [(said["name"], said["config"]) for said in layers]


@EITHER
def test_a_number_that_chooses_a_branch_is_no_rate_of_a_dropout(recorded: Get, keras: str):
    """As in a flip of images."""
    assert not recorded(keras, "flipping").content["layers"]


@EITHER
def test_a_forward_pass_is_recorded_in_the_order_of_construction(recorded: Get, keras: str):
    """Automatic and declared taps, outputs by path, each regularization loss and their sum, the loss."""
    inference = recorded(keras, "layers").scenario(scenarios.INFERENCE)
    kinds = [(one.kind, one.name) for one in inference.records if one.kind in ("output", "loss", "tap")]

    assert [("tap", "conv"), ("tap", "norm"), ("tap", "drop"), ("tap", "hidden")] == kinds[:4]
    assert [("tap", "head"), ("output", "logits"), ("loss", "loss"), ("output", "probabilities")] == kinds[-4:]
    automatic, declared = inference.find("tap", "norm"), inference.find("tap", "hidden")
    assert automatic is not None and declared is not None
    assert (True, 0, "norm/gamma") == (automatic.more["auto"], automatic.more["call"], automatic.more["owned"][0])
    assert (False, line_of('name="drop"')) == (declared.more["auto"], declared.place[1] if declared.place else 0)


@EITHER
@pytest.mark.parametrize("name", ["layers", "variables"])
def test_regularization_is_the_sum_of_the_collection(recorded: Get, keras: str, name: str):
    """Also where the loss has no part in it."""
    one = recorded(keras, name).scenario(scenarios.INFERENCE)
    kernel = values(one, "variable")["conv/kernel" if name == "layers" else "conv/w"]
    found = values(one, "regularization")

    assert 2 == len(found)
    assert pytest.approx(0.005 * np.square(kernel).sum(), rel=1e-5) == float(found["total"])


@EITHER
def test_a_program_without_regularization_has_the_sum_zero(recorded: Get, keras: str):
    """So that the other side's can be compared with it."""
    assert {"total": 0.0} == values(recorded(keras, "guide").scenario(scenarios.STEPS), "regularization")


@EITHER
def test_fills_reach_every_variable(recorded: Get, keras: str):
    """The product of two weights, all 0.001 or filled from their names."""
    one = recorded(keras, "endpoints")
    rows = values(one.scenario(scenarios.INFERENCE), "input")["input"]
    constant = np.full((3, 3), 0.001, np.float32)
    first, second = (fingerprint(name, (3, 3), "float32") for name in ("first", "second"))

    expected = {"constant": rows @ constant @ constant, "fingerprint": rows @ first @ second}
    for name, value in expected.items():
        np.testing.assert_allclose(values(one.scenario(name), "output")["output"], value, rtol=1e-5, atol=1e-7)
    nudged = values(one.scenario(scenarios.FINGERPRINT_NUDGED), "output")["output"]
    assert 0 < np.abs(nudged - expected["fingerprint"]).max() < 1e-5


@EITHER
def test_endpoints_are_declared_taps(recorded: Get, keras: str):
    """With the line that made them."""
    one = recorded(keras, "endpoints").scenario(scenarios.INFERENCE)
    tap = one.find("tap", "hidden")

    assert tap is not None
    assert (False, line_of('"first"')) == (tap.more["auto"], tap.place[1] if tap.place else None)


@EITHER
def test_random_operations_are_numbered_in_program_order(recorded: Get, keras: str):
    """With the tool's seeds; all 0 in its mode constant; those of a step from 0 where steps are aligned."""
    one = recorded(keras, "variables")

    def draws(name: str) -> list[tuple[str, int]]:
        return [(said["purpose"], said["seed"]) for said in one.scenario(name).said["random_ops"]]

    initial, step = "initial value", "step"
    assert [(initial, 0), (initial, 1), (initial, 2)] == draws(scenarios.INFERENCE)
    assert [(initial, 0), (step, 1), (initial, 2), (initial, 3)] == draws(scenarios.TRAINING)
    assert [(initial, 0), (step, 0), (initial, 0), (initial, 0)] == draws(scenarios.TRAINING_CONSTANT)
    assert [(initial, 0), (step, 0), (initial, 2), (initial, 3)] == draws(scenarios.STEPS)
    dropout = one.scenario(scenarios.STEPS).said["random_ops"][1]
    assert ("RandomUniform", line_of("rate=0.25"), [None, 6, 6, 4]) == (
        dropout["op"],
        dropout["place"][1],
        dropout["shape"],
    )


@EITHER
def test_training_draws_anew_at_each_step(recorded: Get, keras: str):
    """And in a new session the same again; a session without grappler agrees to rounding."""
    one = recorded(keras, "variables")
    losses = {name: [float(values(one.scenario(name), "loss", k)["loss"]) for k in range(3)] for name in STEPS}

    assert losses[scenarios.STEPS] == losses[scenarios.STEPS_AGAIN]
    assert losses[scenarios.STEPS] == pytest.approx(losses[scenarios.STEPS_OTHER], rel=1e-4)
    assert losses[scenarios.STEPS] == pytest.approx(losses[scenarios.STEPS_NUDGED], rel=1e-4)
    assert losses[scenarios.STEPS] != losses[scenarios.STEPS_NUDGED]


@EITHER
def test_a_step_has_the_values_from_before_and_the_weights_from_after(recorded: Get, keras: str):
    """Momentum with a decaying rate, replayed from gradient and rate; the loss belongs to the weights before."""
    steps = recorded(keras, "variables").scenario(scenarios.STEPS)
    weight = values(steps, "variable", -1)["head/w"]
    accumulator = np.zeros_like(weight)

    for step, rate in enumerate([0.1, 0.05, 0.025]):
        assert pytest.approx(rate) == float(values(steps, "learning_rate", step)["learning_rate"])
        accumulator = 0.9 * accumulator + values(steps, "gradient", step)["head/w"]
        weight = weight - np.float32(rate) * accumulator
        np.testing.assert_allclose(values(steps, "variable", step)["head/w"], weight, atol=1e-6)
        np.testing.assert_allclose(
            values(steps, "slot", step)["head/w/momentum.accumulator"], accumulator, rtol=1e-5, atol=1e-6
        )
    (slot,) = [one for one in steps.of_kind("slot", 0) if one.more["variable"] == "head/w"]
    assert "momentum.accumulator" == slot.more["slot"]


@EITHER
def test_layers_without_a_name_are_called_as_their_variables(recorded: Get, keras: str):
    """The layer itself counts from 1, the scope of its variables from 0, as layers of Keras do."""
    taps = [one for one in recorded(keras, "guide").scenario(scenarios.STEPS).of_kind("tap", 0) if one.more["auto"]]

    assert ["dense", "dense_1", "dense_2"] == [tap.name for tap in taps]
    assert [[f"{tap.name}/kernel", f"{tap.name}/bias"] for tap in taps] == [tap.more["owned"] for tap in taps]


@EITHER
def test_regularization_outside_the_loss_is_that_of_the_weights_before_the_step(recorded: Get, keras: str):
    """The step does not wait for it, so it is fetched before."""
    steps = recorded(keras, "variables").scenario(scenarios.STEPS)

    for step in range(3):
        kernel = values(steps, "variable", step - 1)["conv/w"]
        total = float(values(steps, "regularization", step)["total"])
        assert pytest.approx(0.005 * np.square(kernel.astype(np.float64)).sum(), rel=1e-5) == total


@EITHER
def test_gradients_are_those_after_clipping(recorded: Get, keras: str):
    """By the global norm."""
    steps = recorded(keras, "layers").scenario(scenarios.STEPS)
    gradients = values(steps, "gradient", 0)
    norm = np.sqrt(sum(float(np.square(gradient.astype(np.float64)).sum()) for gradient in gradients.values()))

    assert 6 == len(gradients)
    assert norm == pytest.approx(0.125, rel=1e-4)


@EITHER
def test_sliced_gradients_are_dense(recorded: Get, keras: str):
    """Rows that are gathered twice get the sum."""
    steps = recorded(keras, "variables").scenario(scenarios.STEPS)
    gradient = values(steps, "gradient", 0)["table"]

    assert (10, 3) == gradient.shape
    assert not gradient[3:].any()
    np.testing.assert_allclose(gradient[1], 2 * gradient[0], rtol=1e-5)


@EITHER
def test_metrics_count_up_over_the_steps(recorded: Get, keras: str):
    """Each step has the value after its own update."""
    steps = recorded(keras, "layers").scenario(scenarios.STEPS)
    labels = values(steps, "label", 0)["label"]
    hits = []
    for step in range(3):
        hits.append((values(steps, "output", step)["logits"].argmax(axis=1) == labels).mean())
        assert pytest.approx(np.mean(hits)) == float(values(steps, "metric", step)["accuracy"])


@EITHER
def test_batches_may_differ_in_size(recorded: Get, keras: str):
    """Each step is fed and recorded with its own."""
    steps = recorded(keras, "variables").scenario(scenarios.STEPS)

    assert [4, 3, 2] == [values(steps, "output", step)["output"].shape[0] for step in range(3)]
    assert [4, 3, 2] == [values(steps, "label", step)["label"].shape[0] for step in range(3)]


@EITHER
def test_trained_weights_are_evaluated_in_the_graph_of_inference(recorded: Get, keras: str):
    """After the first and the last step, with the moving statistics that training made."""
    steps = recorded(keras, "layers").scenario(scenarios.STEPS)

    assert [0, 0, 2, 2] == [record.step for record in steps.of_kind("evaluation")]
    assert {"logits", "probabilities"} == set(values(steps, "evaluation", 2))
    assert np.abs(values(steps, "variable", 2)["norm/moving_mean"]).max() > 0
    assert np.abs(values(steps, "evaluation", 2)["logits"] - values(steps, "evaluation", 0)["logits"]).max() > 1e-3
    other = values(recorded(keras, "layers").scenario(scenarios.STEPS_AGAIN), "evaluation", 2)
    np.testing.assert_array_equal(values(steps, "evaluation", 2)["logits"], other["logits"])


@EITHER
@pytest.mark.parametrize(
    ("name", "slots"),
    [
        ("momentum", ["momentum.accumulator"]),
        ("rmsprop", ["rmsprop.mean_gradient", "rmsprop.momentum", "rmsprop.rms"]),
        ("adagrad", ["adagrad.accumulator"]),
        ("adadelta", ["adadelta.accumulator", "adadelta.update"]),
        ("ftrl", ["ftrl.accumulator", "ftrl.linear"]),
        ("doubling", []),
        ("beside", []),
        ("averages", ["ema.average"]),
    ],
)
def test_every_optimizer_of_tf1_is_seen(recorded: Get, keras: str, name: str, slots: list[str]):
    """With gradient, rate and slots under canonical names; its variables are none of the model's."""
    one = recorded(keras, name)
    steps = one.scenario(scenarios.STEPS)

    assert slots == sorted(str(record.more["slot"]) for record in steps.of_kind("slot", 0))
    assert ["w"] == [said["name"] for said in one.content["variables"]]
    assert (["w"], ["learning_rate"]) == (list(values(steps, "gradient")), list(values(steps, "learning_rate")))


@EITHER
def test_an_optimizer_that_wraps_another_is_seen_through(recorded: Get, keras: str):
    """The gradient is the one that the inner one applied."""
    steps = recorded(keras, "doubling").scenario(scenarios.STEPS)
    before, after = (values(steps, "variable", step)["w"] for step in (-1, 0))

    assert ["GradientDescentOptimizer"] == [said["class"] for said in recorded(keras, "doubling").content["optimizers"]]
    np.testing.assert_allclose(before - 0.5 * values(steps, "gradient")["w"], after, atol=1e-6)


@EITHER
def test_inputs_reach_the_parameters_they_are_meant_for(recorded: Get, keras: str):
    """A dict by keyword where its names are parameters, a tuple as one where the second parameter is labels."""
    keywords = recorded(keras, "keywords").scenario(scenarios.CONSTANT)
    positional = recorded(keras, "positional").scenario(scenarios.CONSTANT)
    rows = values(keywords, "input")

    np.testing.assert_allclose(values(keywords, "output")["sum"], rows["left"] + rows["right"])
    np.testing.assert_allclose(values(positional, "output")["output"], rows["left"] + rows["right"])


@EITHER
def test_without_a_train_op_steps_are_not_run(recorded: Get, keras: str):
    """Which is no failure; the forward pass of training is."""
    one = recorded(keras, "endpoints")

    assert {("not run", "the TF1 side gives no train_op: return an EstimatorSpec or a Spec with one")} == {
        (one.scenario(name).outcome, one.scenario(name).detail) for name in STEPS
    }
    assert "ok" == one.scenario(scenarios.TRAINING).outcome


@EITHER
def test_a_graph_that_cannot_be_built_fails_at_its_line(recorded: Get, keras: str):
    """Every scenario says so."""
    one = recorded(keras, "broken")

    for name in (scenarios.STRUCTURE, *FORWARD, *STEPS):
        scenario = one.scenario(name)
        assert ("failed", "NameError: name 'undefined_name' is not defined") == (scenario.outcome, scenario.detail)
        assert scenario.place is not None and line_of("undefined_name") == scenario.place[1]


@EITHER
def test_a_session_that_fails_costs_only_its_scenario(recorded: Get, keras: str):
    """The line is the one that made the operation."""
    one = recorded(keras, "refusing")
    training = one.scenario(scenarios.TRAINING)

    assert ("ok", "failed") == (one.scenario(scenarios.FINGERPRINT).outcome, training.outcome)
    assert "InvalidArgumentError: assertion failed: [too small]" == training.detail
    assert training.place is not None and line_of("too small") == training.place[1]


@EITHER
def test_training_that_draws_does_not_stand_for_inference(recorded: Get, keras: str):
    """A function that refuses the other modes has no inference then."""
    one = recorded(keras, "no_inference")

    assert ("failed", "ok") == (one.scenario(scenarios.INFERENCE).outcome, one.scenario(scenarios.TRAINING).outcome)
    assert [] == [text for text in one.content["adaptations"] if "stands for inference" in text]


@EITHER
def test_input_queues_run(recorded: Get, keras: str):
    """A program that ignores what it is fed."""
    steps = recorded(keras, "queues").scenario(scenarios.STEPS)

    assert [1.0, 2.0, 3.0] == [float(values(steps, "loss", step)["loss"]) for step in range(3)]


@EITHER
def test_a_scaffold_initializes(recorded: Get, keras: str):
    """Its init_fn runs after the initializers."""
    assert 7.0 == float(values(recorded(keras, "scaffolded").scenario(scenarios.INFERENCE), "variable")["w"])


@EITHER
def test_large_weights_are_kept_at_the_first_three_steps_and_the_last(recorded: Get, keras: str):
    """Beyond one MiB a step; losses and outputs are kept of all."""
    steps = recorded(keras, "much").scenario(scenarios.STEPS)

    for kind in ("variable", "gradient"):
        assert [0, 1, 2, 4] == [step for step in range(5) if values(steps, kind, step)]
    for kind in ("loss", "output", "learning_rate"):
        assert [0, 1, 2, 3, 4] == [step for step in range(5) if values(steps, kind, step)]


@EITHER
def test_what_initializers_draw_is_sampled(recorded: Get, keras: str):
    """Of weights that are drawn, not of those that are constant."""
    samples = values(recorded(keras, "variables").scenario(scenarios.INFERENCE), "sample")

    assert {"conv/w", "table", "head/w"} == set(samples)
