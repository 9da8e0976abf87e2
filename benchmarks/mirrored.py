"""An MLP of a million parameters as a TF1 graph and as a Keras model, and its training steps by hand.

    python benchmarks/mirrored.py RESULTS.json

takes three steps on each side, and those of the TF2 side once more on two replicas, in one process as in a notebook;
losses, gradients, variables and slots are compared. It writes the seconds of each part.
`verify.py --pair mirrored` compares that with `migrate-lint verify --until steps --strategy mirrored:2`.
"""

import json
import sys
import time

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
STEPS, BATCH, REPLICAS = 3, 64, 2
WIDTHS, CLASSES = (1024, 768), 10
RATE = 0.01
DRAWN = v1.random_uniform_initializer(-0.05, 0.05)
"""TF1's initializer on both sides, as the guide has it: random numbers can then be aligned."""


def inputs(step):
    return np.random.default_rng(step).normal(size=(BATCH, 256)).astype(np.float32)


def labels(step):
    return np.random.default_rng(step).integers(CLASSES, size=BATCH)


def network(features):
    net = features
    for number, width in enumerate(WIDTHS):
        net = v1.layers.dense(net, width, tf.nn.relu, kernel_initializer=DRAWN, name=f"hidden_{number}")
    return v1.layers.dense(net, CLASSES, kernel_initializer=DRAWN, name="scores")


def trained(features, labels, is_training=False):
    """The TF1 side, with its training step."""
    scores = network(features)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
    return Spec(predictions=scores, loss=loss, train_op=v1.train.MomentumOptimizer(RATE, 0.9).minimize(loss))


def compiled():
    """The TF2 side."""
    layers = [
        tf.keras.layers.Dense(width, "relu", kernel_initializer=DRAWN, name=f"hidden_{number}")
        for number, width in enumerate(WIDTHS)
    ]
    scores = tf.keras.layers.Dense(CLASSES, kernel_initializer=DRAWN, name="scores")
    made = tf.keras.Sequential([tf.keras.Input((256,)), *layers, scores])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(tf.keras.optimizers.SGD(RATE, momentum=0.9), loss)
    return made


def graph_steps():
    logs = []
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        features = v1.placeholder(tf.float32, (BATCH, 256))
        wanted = v1.placeholder(tf.int64, (BATCH,))
        loss = v1.losses.sparse_softmax_cross_entropy(wanted, network(features))
        optimizer = v1.train.MomentumOptimizer(RATE, 0.9)
        pairs = optimizer.compute_gradients(loss)
        train = optimizer.apply_gradients(pairs)
        weights = [one for _, one in pairs]
        kept = {"variables": weights, "slots": [optimizer.get_slot(one, "momentum") for one in weights]}
        session.run(v1.global_variables_initializer())
        for step in range(STEPS):
            fetched = {"loss": loss, "gradients": [gradient for gradient, _ in pairs]}
            log, _ = session.run([fetched, train], {features: inputs(step), wanted: labels(step)})
            logs.append({**log, **session.run(kept)})
    return logs


def model_steps(strategy):
    """The steps under a strategy, each of whose replicas has its rows of the batch."""
    logs = []
    with strategy.scope():
        model = compiled()
    count = strategy.num_replicas_in_sync

    def train(features, wanted):
        with tf.GradientTape() as tape:
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, model(features, training=True))
            loss = tf.nn.compute_average_loss(each, global_batch_size=BATCH)
        gradients = tape.gradient(loss, model.trainable_weights)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_weights, strict=True))
        return loss, gradients

    def spread(values):
        shares = np.split(values, count)
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(shares[context.replica_id_in_sync_group])
        )

    for step in range(STEPS):
        loss, gradients = strategy.run(train, (spread(inputs(step)), spread(labels(step))))
        loss, *gradients = (strategy.reduce("SUM", one, axis=None).numpy() for one in (loss, *gradients))
        variables = [one.numpy() for one in model.trainable_weights]
        slots = [one.numpy() for one in model.optimizer.momentums]
        logs.append({"loss": loss, "gradients": gradients, "variables": variables, "slots": slots})
    return logs


def agree(one, other, rate=1.0):
    """The slots of the first side times `rate` are those of the other."""
    for first, second in zip(one, other, strict=True):
        np.testing.assert_allclose(first["loss"], second["loss"], rtol=1e-5)
        for kind in ("gradients", "variables", "slots"):
            scale = rate if kind == "slots" else 1
            for known, value in zip(first[kind], second[kind], strict=True):
                np.testing.assert_allclose(scale * known, value, rtol=1e-3, atol=1e-3 * np.max(np.abs(value)))


def main():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS)
    parts, clock = {}, time.time()
    sides = {
        "TF1": graph_steps,
        "TF2": lambda: model_steps(tf.distribute.get_strategy()),
        "mirrored": lambda: model_steps(tf.distribute.MirroredStrategy([f"CPU:{one}" for one in range(REPLICAS)])),
    }
    logs = []
    for name, steps in sides.items():
        with v1.keras.utils.DeterministicRandomTestTool(mode="num_random_ops").scope():
            logs.append(steps())
        parts[name], clock = time.time() - clock, time.time()
    agree(logs[0], logs[1], -RATE)  # Keras keeps updates
    agree(logs[1], logs[2])
    with open(sys.argv[1], "w") as file:
        json.dump(parts, file)


if __name__ == "__main__":
    main()
else:
    from migrate_lint.runtime_checks import Pair, Spec

    pair = Pair(trained, compiled, inputs, labels, name="MLP")
