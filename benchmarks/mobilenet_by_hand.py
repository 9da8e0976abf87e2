"""What TensorFlow's guides do by hand to compare both sides of mobilenet.py, in one process as in a notebook.

    python benchmarks/mobilenet_by_hand.py RESULTS.json

Variables are made once; variables match; all variables at 0.001; random numbers aligned in inference, in training and
in the constant mode; three training steps with loss, outputs, gradients, variables and slots. It writes the seconds of
each part. `benchmarks/verify.py` measures it.
"""

import contextlib
import json
import sys
import time
import types

import numpy as np
import tensorflow as tf

public = sys.modules["migrate_lint.runtime_checks"] = types.ModuleType("migrate_lint.runtime_checks")
sys.modules["migrate_lint"] = types.ModuleType("migrate_lint")
public.Pair = public.Spec = lambda *arguments, **named: None

import mobilenet  # noqa: E402

v1 = tf.compat.v1
STEPS = 3
BATCH = mobilenet.inputs(0)
parts = {}
clock = [time.time()]


def part(name):
    clock.append(time.time())
    parts[name] = clock[-1] - clock[-2]


@contextlib.contextmanager
def no_creation():
    def refuse(next_creator, **arguments):
        raise ValueError("a variable is made")

    with tf.variable_creator_scope(refuse):
        yield


@contextlib.contextmanager
def creations():
    made = []

    def keep(next_creator, **arguments):
        made.append(next_creator(**arguments))
        return made[-1]

    with tf.variable_creator_scope(keep):
        yield
    assert not made


def own(name):
    """A variable's name without that of its model, and without the number of the output."""
    name = name.partition(":")[0]
    return name.partition("/")[2] if name.startswith("mobile_net") else name


def graph_side(training, constant=False):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        outputs, _ = mobilenet.network(tf.constant(BATCH), training)
        if constant:
            session.run(tf.group([one.assign(tf.ones_like(one) * 0.001) for one in v1.global_variables()]))
        else:
            session.run(v1.global_variables_initializer())
        return session.run(outputs)


def model_side(training, constant=False):
    model = mobilenet.MobileNet()
    outputs = model(BATCH, training=training)
    if constant:
        for variable in model.variables:
            variable.assign(tf.ones_like(variable) * 0.001)
        outputs = model(BATCH, training=training)
    return outputs.numpy()


def aligned(name, training, mode):
    with v1.keras.utils.DeterministicRandomTestTool(mode=mode).scope():
        one = graph_side(training)
    with v1.keras.utils.DeterministicRandomTestTool(mode=mode).scope():
        other = model_side(training)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-5)
    part(name)


def graph_steps():
    logs = []
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        features = v1.placeholder(tf.float32, BATCH.shape)
        labels = v1.placeholder(tf.int64, (mobilenet.BATCH,))
        logits, ends = mobilenet.network(features, True)
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        weights = {own(one.name): one for one in v1.global_variables()}
        optimizer = v1.train.MomentumOptimizer(mobilenet.RATE, 0.9)
        pairs = optimizer.compute_gradients(loss)
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train = optimizer.apply_gradients(pairs, v1.train.get_or_create_global_step())
        slots = {own(one.name): optimizer.get_slot(one, "momentum") for _, one in pairs}
        gradients = {own(one.name): gradient for gradient, one in pairs}
        session.run(v1.global_variables_initializer())
        for step in range(STEPS):
            fetched = {"loss": loss, "logits": logits, "gradients": gradients, "layers": ends}
            fed = {features: mobilenet.inputs(step), labels: mobilenet.labels(step)}
            log, _ = session.run([fetched, train], fed)
            logs.append({**log, **session.run({"variables": weights, "slots": slots})})
    return logs


def model_steps():
    logs = []
    model = mobilenet.compiled()
    for step in range(STEPS):
        with tf.GradientTape() as tape:
            logits = model(mobilenet.inputs(step), training=True)
            loss = model.compiled_loss(tf.constant(mobilenet.labels(step)), logits)
        weights = model.trainable_weights
        gradients = tape.gradient(loss, weights)
        model.optimizer.apply_gradients(zip(gradients, weights, strict=True))
        names = [own(one.name) for one in weights]
        logs.append(
            {
                "loss": loss.numpy(),
                "logits": logits.numpy(),
                "gradients": {name: one.numpy() for name, one in zip(names, gradients, strict=True)},
                "variables": {own(one.name): one.numpy() for one in model.variables},
                "slots": {name: one.numpy() for name, one in zip(names, model.optimizer.momentums, strict=True)},
            }
        )
    return logs


part("start")
model = mobilenet.MobileNet()
model(BATCH)
with no_creation():
    model(BATCH)
with creations():
    model(BATCH)
part("1 once")

with tf.Graph().as_default():
    mobilenet.network(tf.constant(BATCH), False)
    wanted = {own(one.name): (one.trainable, one.shape) for one in v1.global_variables()}
model = mobilenet.MobileNet()
for _ in range(2):
    model(BATCH, training=False)
assert wanted == {own(one.name): (one.trainable, one.shape) for one in model.variables}
part("2 variables")

np.testing.assert_allclose(graph_side(False, True), model_side(False, True), rtol=1e-6, atol=1e-5)
part("3 constant")
aligned("4 inference", False, "num_random_ops")
aligned("4 training", True, "num_random_ops")
aligned("4 constant mode", True, "constant")

with v1.keras.utils.DeterministicRandomTestTool(mode="num_random_ops").scope():
    one = graph_steps()
with v1.keras.utils.DeterministicRandomTestTool(mode="num_random_ops").scope():
    other = model_steps()
for first, second in zip(one, other, strict=True):
    np.testing.assert_allclose(first["loss"], second["loss"], atol=1e-4)
    for kind in ("gradients", "variables", "slots"):
        for name, value in second[kind].items():
            largest = np.max(np.abs(value))
            known = first[kind][name] * (-mobilenet.RATE if kind == "slots" else 1)  # Keras keeps updates
            np.testing.assert_allclose(known, value, rtol=0.05, atol=0.05 * largest, err_msg=name)
part("5 steps")
with open(sys.argv[1], "w") as file:
    json.dump(parts, file)
