"""Pairs whose TF2 side is trained under a strategy: sound ones, and some that are right on one device alone."""

import atexit
import json
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
ROWS = 8
EXAMPLES = 20
Dataset = tf.data.Dataset


def network(inputs, labels, is_training):
    hidden = v1.layers.dense(inputs, 8, activation=tf.nn.relu, name="hidden")
    scores = v1.layers.dense(hidden, 3, name="scores")
    loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
    train_op = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    return Spec(predictions=scores, loss=loss, train_op=train_op)


def model(*between, regularizer=None):
    options = {"kernel_regularizer": regularizer}
    hidden = tf.keras.layers.Dense(8, activation="relu", name="hidden", **options)
    made = tf.keras.Sequential([hidden, *between, tf.keras.layers.Dense(3, name="scores", **options)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), loss, metrics=["accuracy"])
    return made


def paired(tf2, train_step=None, rows=ROWS, data=None):
    return Pair(
        network,
        tf2,
        lambda step: np.random.default_rng(step).normal(size=(rows, 4)).astype(np.float32),
        lambda step: np.random.default_rng(step).integers(3, size=rows),
        train_step=train_step,
        data=None if data is None else (lambda: examples().batch(ROWS), data),
    )


def each(labels, scores):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)


def average(labels, scores, model):
    return tf.nn.compute_average_loss(each(labels, scores))


def as_it_is(gradients):
    return gradients


def applied(optimizer, gradients, weights):
    optimizer.apply_gradients(zip(gradients, weights, strict=True))


def returned(loss, scores, labels):
    return loss


def step(loss_of=average, changed=as_it_is, apply=applied, result=returned):
    """A training step, one of whose parts may be another one."""

    def train(model, inputs, labels):
        with tf.GradientTape() as tape:
            scores = model(inputs, training=True)
            loss = loss_of(labels, scores, model)
        gradients = changed(tape.gradient(loss, model.trainable_variables))
        apply(model.optimizer, gradients, model.trainable_variables)
        return result(loss, scores, labels)

    return train


def replicas():
    return tf.distribute.get_strategy().num_replicas_in_sync


def reduced(how):
    return lambda gradients: tf.distribute.get_replica_context().all_reduce(how, gradients)


def without_sum(optimizer, gradients, weights):
    optimizer.apply_gradients(zip(gradients, weights, strict=True), skip_gradients_aggregation=True)


def accuracy(labels, scores):
    return tf.reduce_mean(tf.cast(tf.argmax(scores, axis=-1) == tf.cast(labels, tf.int64), tf.float32))


def distributed(put_together):
    """A step that runs the strategy itself, and puts together what replicas tell."""
    own = step(result=lambda loss, scores, labels: (loss, accuracy(labels, scores)))

    def train(model, inputs, labels):
        strategy = tf.distribute.get_strategy()
        return put_together(strategy, *strategy.run(own, args=(model, inputs, labels)))

    return train


def summed(strategy, value, how="SUM"):
    return strategy.reduce(how, value, axis=None)


def weighted(labels, scores, model):
    """The mean over the rows that count, of each replica by itself."""
    weights = tf.cast(labels > 0, tf.float32)
    return tf.reduce_sum(weights * each(labels, scores)) / tf.maximum(tf.reduce_sum(weights), 1.0)


def penalty(model):
    return tf.add_n(model.losses)


def scaled(loss):
    return tf.nn.scale_regularization_loss(loss)


def regularized():
    return model(regularizer=tf.keras.regularizers.L2(0.01))


def scaled_rate():
    made = model()
    made.optimizer.learning_rate = 0.1 * replicas()
    return made


class Counter(tf.keras.layers.Layer):
    """Counts steps, in whichever way a Keras keeps variables."""

    def __init__(self):
        super().__init__()
        keras3 = hasattr(tf.keras, "ops")
        added = "sum" if keras3 else tf.VariableAggregation.SUM
        self.count = self.add_weight(name="count", shape=(), initializer="zeros", trainable=False, aggregation=added)


def counting():
    made = model()
    made.counter = Counter()
    return made


def counted(model, inputs, labels):
    loss = step()(model, inputs, labels)
    model.counter.count.assign_add(tf.ones([]))
    model.optimizer.learning_rate.assign(0.1 / (1.0 + tf.convert_to_tensor(model.counter.count)))
    return loss


def making_variables(model, inputs, labels):
    extra = tf.Variable(tf.zeros([3]), name="extra")
    return step(lambda labels, scores, model: average(labels, scores + extra, model))(model, inputs, labels)


def in_its_scope():
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        made = model()
    made.of = strategy
    return made


def own_strategy(model, inputs, labels):
    loss = model.of.run(step(), args=(model, inputs, labels))
    return model.of.reduce("SUM", loss, axis=None)


compiled = paired(model)
looped = paired(model, step())
dropping = paired(lambda: model(tf.keras.layers.Dropout(0.4)))
penalized = paired(regularized)
scaled_penalty = paired(
    regularized,
    step(lambda labels, scores, model: average(labels, scores, model) + scaled(penalty(model))),
)
put_together = paired(
    model,
    distributed(lambda strategy, loss, right: (summed(strategy, loss), {"right": summed(strategy, right, "MEAN")})),
)
of_its_own = paired(in_its_scope, own_strategy)
normalizing = paired(lambda: model(tf.keras.layers.BatchNormalization()), step())
uneven = paired(model, step(), rows=9)

mean_by_replica = paired(model, step(lambda labels, scores, model: tf.reduce_mean(each(labels, scores))))
divided_twice = paired(model, step(lambda labels, scores, model: average(labels, scores, model) / replicas()))
weighted_by_replica = paired(model, step(weighted))
penalty_by_replica = paired(
    regularized, step(lambda labels, scores, model: average(labels, scores, model) + penalty(model))
)
summed_twice = paired(model, step(changed=reduced("SUM")))
averaged = paired(model, step(changed=reduced("MEAN"), apply=without_sum))
not_summed = paired(model, step(apply=without_sum))
clipped = paired(model, step(changed=lambda gradients: tf.clip_by_global_norm(gradients, 0.1)[0]))
other_rate = paired(scaled_rate, step())
counted_by_all = paired(counting, counted)
told_as_sum = paired(
    model,
    distributed(lambda strategy, loss, right: (summed(strategy, loss), {"right": summed(strategy, right)})),
)
told_by_first = paired(
    model,
    distributed(
        lambda strategy, loss, right: (summed(strategy, loss), {"right": strategy.experimental_local_results(right)[0]})
    ),
)
told_as_mean = paired(model, distributed(lambda strategy, loss, right: summed(strategy, loss, "MEAN")))
variables = paired(model, making_variables)


def examples(count=EXAMPLES):
    return Dataset.from_tensor_slices(np.arange(2 * count, dtype=np.float32).reshape(-1, 2))


def with_policy(dataset, policy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    return dataset.with_options(options)


def everywhere():
    return with_policy(examples().batch(ROWS), tf.data.experimental.AutoShardPolicy.OFF)


def by_task():
    said = json.loads(os.environ.get("TF_CONFIG", "{}"))
    count, number = (len(said["cluster"]["worker"]), said["task"]["index"]) if said else (1, 0)
    return examples().shard(count, number).batch(ROWS)


def of_files(rows=7):
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    paths = [os.path.join(folder, f"{number}.txt") for number in range(3)]
    for number, path in enumerate(paths):
        with open(path, "w") as file:
            file.write("".join(f"{10 * number + row}\n" for row in range(rows)))
    return tf.data.TextLineDataset(paths).map(tf.strings.to_number).batch(ROWS)


def from_function(make):
    return lambda: tf.distribute.get_strategy().distribute_datasets_from_function(make)


def sharded(context):
    return examples().shard(context.num_input_pipelines, context.input_pipeline_id)


def with_sums():
    return examples().batch(ROWS).map(lambda batch: (batch, tf.reduce_sum(batch)))


def for_replicas():
    return examples().batch(ROWS * replicas())


shared_data = paired(model, data=lambda: examples().batch(ROWS))
shuffled_data = paired(model, data=lambda: examples().shuffle(EXAMPLES).batch(ROWS))
endless_data = paired(model, data=lambda: examples().repeat().batch(ROWS))
data_of_functions = paired(
    model, data=from_function(lambda context: sharded(context).batch(context.get_per_replica_batch_size(ROWS)))
)
data_of_files = paired(model, data=of_files)
larger_batches = paired(model, data=for_replicas)
data_with_sums = paired(model, data=with_sums)
python_data = paired(model, data=lambda: [np.ones([ROWS, 2], np.float32)])
told_by_each = paired(model, step(result=lambda loss, scores, labels: (loss, {"right": accuracy(labels, scores)})))

repeated_data = paired(model, data=everywhere)
divided_twice_data = paired(model, data=by_task)
undivided_data = paired(model, data=from_function(lambda context: sharded(context).batch(ROWS)))
