"""Pairs that are equal in all steps that are run; some of them are not the same program.

Each is a function of nothing that gives a `Pair`; the tables say which of them are sound.
"""

from __future__ import annotations

import types

import numpy as np
import tensorflow as tf
from migrate_lint.runtime_checks import Pair, Spec

v1 = tf.compat.v1
keras = tf.keras


def rows(step):
    return np.random.default_rng(step).normal(size=(8, 3)).astype(np.float32)


def classes(step):
    return np.random.default_rng(step).integers(2, size=8)


# The TF1 side: a network, and what is done with its gradients, its weights and its rate.


def old(clip=None, rate=0.1, average=None, metrics=None, drops=False, smoothing=0.0):
    def network(features, labels, mode):
        hidden = v1.layers.dense(features, 4, name="hidden")
        if drops:
            hidden = v1.layers.dropout(hidden, 0.5, training=mode == "train")
        scores = v1.layers.dense(hidden, 2, name="scores")
        if labels is None:
            return Spec(predictions=scores)
        loss = v1.losses.softmax_cross_entropy(tf.one_hot(labels, 2), scores, label_smoothing=smoothing)
        if mode == "eval":
            return Spec(predictions=scores, loss=loss, eval_metric_ops=metrics(labels, scores) if metrics else None)
        step = v1.train.get_or_create_global_step()
        optimizer = v1.train.GradientDescentOptimizer(rate(step) if callable(rate) else rate)
        pairs = optimizer.compute_gradients(loss)
        train_op = optimizer.apply_gradients(clip(pairs) if clip else pairs, None if rate is uncounted else step)
        if average:
            with tf.control_dependencies([train_op]):
                train_op = average(loss)
        return Spec(predictions=scores, loss=loss, train_op=train_op)

    return network


def uncounted(step):
    """A schedule of a step that nobody counts."""
    return v1.train.piecewise_constant(step, [1], [0.1, 0.01])


def kept_in_a_variable(step):
    """What the program assigns between steps."""
    return v1.get_variable("rate", (), initializer=v1.constant_initializer(0.1))


# The TF2 side.


def new(optimizer=None, metrics=(), cls=keras.Sequential, drops=False, smoothing=0.0):
    def model():
        drop = [keras.layers.Dropout(0.5)] if drops else []
        made = cls([keras.layers.Dense(4, name="hidden"), *drop, keras.layers.Dense(2, name="scores")])
        loss = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=smoothing)
        made.compile(
            optimizer() if optimizer else keras.optimizers.SGD(0.1),
            lambda labels, scores: loss(tf.one_hot(tf.cast(tf.reshape(labels, [-1]), tf.int32), 2), scores),
            metrics=[metric() if callable(metric) else metric for metric in metrics],
        )
        return made

    return model


def sgd(*args, **kwargs):
    return lambda: keras.optimizers.SGD(*args or (0.1,), **kwargs)


def loop(change=None, after=None):
    """A training step of one's own."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def step(model, features, labels):
        with tf.GradientTape() as tape:
            value = loss(labels, model(features, training=True))
        weights = model.trainable_variables
        pairs = list(zip(tape.gradient(value, weights), weights, strict=True))
        model.optimizer.apply_gradients(change(pairs) if change else pairs)
        if after:
            after(model)
        return value

    return step


# Gradients


def by_global_norm(pairs, bound=5.0):
    gradients, weights = zip(*pairs, strict=True)
    return list(zip(tf.clip_by_global_norm(gradients, bound)[0], weights, strict=True))


def by_norm(pairs):
    return [(tf.clip_by_norm(gradient, 3.0), weight) for gradient, weight in pairs]


def by_value(pairs):
    return [(tf.clip_by_value(gradient, -2.0, 2.0), weight) for gradient, weight in pairs]


def by_hand(pairs):
    """The global norm, without a function that has clipping in its name."""
    size = tf.sqrt(tf.add_n([tf.reduce_sum(gradient * gradient) for gradient, _ in pairs]))
    return [(gradient * tf.minimum(1.0, 5.0 / (size + 1e-6)), weight) for gradient, weight in pairs]


def by_bounds(pairs):
    return [(tf.maximum(tf.minimum(gradient, 2.0), -2.0), weight) for gradient, weight in pairs]


def decayed(pairs):
    """What is added to gradients is no clipping."""
    return [(gradient + 0.0 * tf.convert_to_tensor(weight), weight) for gradient, weight in pairs]


CLIPPED_OTHERWISE = {
    "dropped": lambda: Pair(old(by_global_norm), new(), rows, classes),
    "another norm": lambda: Pair(old(by_global_norm), new(sgd(clipnorm=5.0)), rows, classes),
    "another bound": lambda: Pair(old(by_value), new(sgd(clipvalue=1.0)), rows, classes),
    "by hand, dropped": lambda: Pair(old(by_hand), new(), rows, classes),
    "added": lambda: Pair(old(), new(sgd(global_clipnorm=9.0)), rows, classes),
    "in a loop": lambda: Pair(
        old(by_global_norm), new(), rows, classes, train_step=loop(lambda pairs: by_global_norm(pairs, 4.0))
    ),
}
CLIPPED_ALIKE = {
    "nowhere": lambda: Pair(old(), new(), rows, classes),
    "by global norm": lambda: Pair(old(by_global_norm), new(sgd(global_clipnorm=5.0)), rows, classes),
    "by norm": lambda: Pair(old(by_norm), new(sgd(clipnorm=3.0)), rows, classes),
    "by bounds": lambda: Pair(old(by_bounds), new(sgd(clipvalue=2.0)), rows, classes),
    "by hand": lambda: Pair(old(by_hand), new(), rows, classes, train_step=loop(by_global_norm)),
    "something added": lambda: Pair(old(decayed), new(), rows, classes),
}


# Constraints of weights


def held(constraint, by_hand=False):
    """A dense layer with a constraint that six weights near zero do not touch."""

    def network(features, labels, mode):
        if by_hand:
            kernel = v1.get_variable("scores/kernel", [3, 2], constraint=constraint)
            scores = features @ kernel + v1.get_variable("scores/bias", [2], initializer=v1.zeros_initializer())
        else:
            scores = v1.layers.dense(features, 2, kernel_constraint=constraint, name="scores")
        if labels is None:
            return Spec(predictions=scores)
        loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
        return Spec(predictions=scores, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss))

    return network


def holding(constraint=None):
    def model():
        made = keras.Sequential([keras.layers.Dense(2, name="scores", kernel_constraint=constraint)])
        made.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return made

    return model


def shrunk(weights):
    """Columns of a norm of 9 at most."""
    norms = tf.sqrt(tf.reduce_sum(tf.square(weights), 0, keepdims=True))
    return weights * tf.minimum(1.0, 9.0 / tf.maximum(norms, 1e-7))


def bounded(weights):
    return tf.clip_by_value(weights, -5.0, 5.0)


class Bounded(keras.constraints.Constraint):
    def __call__(self, w):
        return tf.clip_by_value(w, -5.0, 5.0)


limits = keras.constraints
HELD_OTHERWISE = {
    "another norm": lambda: Pair(held(shrunk), holding(limits.MaxNorm(8.0)), rows, classes),
    "another axis": lambda: Pair(held(shrunk), holding(limits.MaxNorm(9.0, axis=1)), rows, classes),
    "another bound": lambda: Pair(held(lambda w: tf.clip_by_value(w, -6.0, 6.0)), holding(Bounded()), rows, classes),
    "a variable's": lambda: Pair(held(shrunk, True), holding(limits.MaxNorm(3.0)), rows, classes),
    "something else": lambda: Pair(held(bounded), holding(limits.MaxNorm(9.0)), rows, classes),
}
HELD_ALIKE = {
    "a norm": lambda: Pair(held(shrunk), holding(limits.MaxNorm(9.0)), rows, classes),
    "a variable's": lambda: Pair(held(shrunk, True), holding(limits.MaxNorm(9.0)), rows, classes),
    "bounds": lambda: Pair(held(bounded), holding(Bounded()), rows, classes),
    "dropped": lambda: Pair(held(bounded), holding(), rows, classes),
    "added": lambda: Pair(held(None), holding(limits.MaxNorm(9.0)), rows, classes),
}


# Averages of weights


def averaged(decay=0.9, which=lambda weights: weights, **named):
    def average(loss):
        return v1.train.ExponentialMovingAverage(decay, **named).apply(which(v1.trainable_variables()))

    return average


def of_the_loss(loss):
    return v1.train.ExponentialMovingAverage(0.9).apply([loss])


def never(loss):
    v1.train.ExponentialMovingAverage(0.9).apply(v1.trainable_variables())
    return tf.no_op()


class Prepared(keras.Sequential):
    """Its averages begin with the values that it has before the first step, as those of a TF1 graph do."""

    decay = 0.9

    def train_step(self, data):
        weights = [getattr(one, "_value", one) for one in self.trainable_variables]
        if getattr(self, "shadow", None) is None:
            self.shadow = tf.train.ExponentialMovingAverage(self.decay)
            self.begun = [tf.identity(one) for one in weights]
            self.first = True
        result = super().train_step(data)
        if self.first:
            now = [tf.identity(one) for one in weights]
            for one, value in zip(weights, self.begun, strict=True):
                one.assign(value)
            self.shadow.apply(weights)
            for one, value in zip(weights, now, strict=True):
                one.assign(value)
            self.first = False
        self.shadow.apply(weights)
        return result


class Missing:
    """Stands for a module that is not installed, as some do that layers of Keras 3 hold."""

    def __getattr__(self, name):
        raise ImportError(name)


class Begun(keras.Sequential):
    """Its averages are made with the model, whose weights get TF1's values only then."""

    def __init__(self, layers):
        super().__init__(layers)
        self.build((None, 3))
        self.tools = types.SimpleNamespace(framework=tf, missing=Missing())
        self.shadow = tf.train.ExponentialMovingAverage(0.9)
        self.shadow.apply(self.averaged())

    def averaged(self):
        return [getattr(one, "_value", one) for one in self.trainable_variables]

    def train_step(self, data):
        result = super().train_step(data)
        self.shadow.apply(self.averaged())
        return result


class Faster(Prepared):
    decay = 0.8


AVERAGED_OTHERWISE = {
    "dropped": lambda: Pair(old(average=averaged()), new(), rows, classes),
    "another decay": lambda: Pair(old(average=averaged()), new(cls=Faster), rows, classes),
    "some of them": lambda: Pair(old(average=averaged(which=lambda all_: all_[:1])), new(cls=Prepared), rows, classes),
    "added": lambda: Pair(old(), new(sgd(use_ema=True, ema_momentum=0.9)), rows, classes),
    "another name": lambda: Pair(old(average=averaged(name="Shadow")), new(), rows, classes),
}
AVERAGED_ALIKE = {
    "in a step": lambda: Pair(old(average=averaged()), new(cls=Prepared), rows, classes),
    "another name": lambda: Pair(old(average=averaged(name="Shadow")), new(cls=Prepared), rows, classes),
    "begun with the model": lambda: Pair(old(average=averaged()), new(cls=Begun), rows, classes),
    "of the loss": lambda: Pair(old(average=of_the_loss), new(), rows, classes),
    "never updated": lambda: Pair(old(average=never), new(), rows, classes),
    "ignored": lambda: Pair(
        old(average=averaged(name="Shadow")),
        new(),
        rows,
        classes,
        ignore=[f"{scope}/{kind}/Shadow" for scope in ("hidden", "scores") for kind in ("kernel", "bias")],
    ),
}


# Learning rates

schedules = keras.optimizers.schedules


def piecewise(*boundaries):
    values = [0.1 / 10**at for at in range(len(boundaries) + 1)]
    return lambda step: v1.train.piecewise_constant(step, list(boundaries), values)


def pieces(*boundaries):
    values = [0.1 / 10**at for at in range(len(boundaries) + 1)]
    return lambda: keras.optimizers.SGD(schedules.PiecewiseConstantDecay(list(boundaries), values))


def by_steps(step):
    return v1.train.exponential_decay(0.1, step, 1000, 0.5, staircase=True)


def warmed_up(step):
    """A rate that rises for 500 steps from the third on, and stays."""
    return 0.1 * tf.maximum(1.0, tf.minimum(tf.cast(step, tf.float32), 502.0) - 2.0)


class WarmUp(schedules.LearningRateSchedule):
    def __init__(self, until):
        self.until = until

    def __call__(self, step):
        return 0.1 * tf.maximum(1.0, tf.minimum(tf.cast(step, tf.float32), self.until) - 2.0)

    def get_config(self):
        return {"until": self.until}


def behind(rate):
    """The optimizer and its rate are made behind the updates of moving statistics, as the documentation has it."""

    def network(features, labels, mode):
        training = mode == "train"
        scores = v1.layers.dense(v1.layers.batch_normalization(features, training=training, name="norm"), 2, name="top")
        if labels is None:
            return Spec(predictions=scores)
        loss = v1.losses.sparse_softmax_cross_entropy(labels, scores)
        step = v1.train.get_or_create_global_step()
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            optimizer = v1.train.GradientDescentOptimizer(rate(step))
            return Spec(predictions=scores, loss=loss, train_op=optimizer.minimize(loss, step))

    return network


def normed(rate):
    def model():
        made = keras.Sequential([keras.layers.BatchNormalization(name="norm"), keras.layers.Dense(2, name="top")])
        made.compile(keras.optimizers.SGD(rate), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return made

    return model


def in_a_branch(step):
    return tf.cond(step < 500, lambda: tf.constant(0.1), lambda: 0.1 * tf.exp(-tf.cast(step, tf.float32) / 1000.0))


class Branch(schedules.LearningRateSchedule):
    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return tf.where(step < 500.0, 0.1, 0.1 * tf.exp(-step / 1000.0))

    def get_config(self):
        return {}


def halved(steps):
    return lambda: keras.optimizers.SGD(schedules.ExponentialDecay(0.1, steps, 0.5, staircase=True))


def behind_updates(rate):
    """It is made where updates have to run before, as those of batch normalization."""

    def made(step):
        seen = v1.get_variable("seen", [], initializer=v1.zeros_initializer(), trainable=False)
        with tf.control_dependencies([v1.assign_add(seen, tf.reduce_sum(v1.trainable_variables()[0]))]):
            return rate(step)

    return made


def restarted(step):
    return v1.train.cosine_decay(0.1, tf.maximum(step - 10, 0), 1000, alpha=0.1)


class Later(schedules.LearningRateSchedule):
    """A cosine that begins after ten steps; what is inside is a graph of its own."""

    def __init__(self, alpha):
        self.alpha = alpha
        self.inner = tf.function(schedules.CosineDecay(0.1, 1000, alpha=alpha).__call__)

    def __call__(self, step):
        return self.inner(tf.maximum(tf.cast(step, tf.float32) - 10.0, 0.0))

    def get_config(self):
        return {"alpha": self.alpha}


def setting(model):
    model.optimizer.learning_rate.assign(0.1)


RATES_OTHERWISE = {
    "kept": lambda: Pair(old(rate=piecewise(1000)), new(), rows, classes),
    "another boundary": lambda: Pair(old(rate=piecewise(7000)), new(pieces(7001)), rows, classes),
    "half as often": lambda: Pair(old(rate=by_steps), new(halved(2000)), rows, classes),
    "a longer rise": lambda: Pair(
        old(rate=warmed_up), new(lambda: keras.optimizers.SGD(WarmUp(602.0))), rows, classes
    ),
    "another end": lambda: Pair(old(rate=restarted), new(lambda: keras.optimizers.SGD(Later(0.2))), rows, classes),
    "behind an update": lambda: Pair(
        behind(by_steps), normed(schedules.ExponentialDecay(0.1, 1000, 0.6, staircase=True)), rows, classes
    ),
    "behind updates": lambda: Pair(
        old(rate=behind_updates(piecewise(1000))), new(), rows, classes, ignore=["seen"]
    ),
    "one piece less": lambda: Pair(old(rate=piecewise(40, 20000)), new(pieces(40)), rows, classes),
}
RATES_ALIKE = {
    "constant": lambda: Pair(old(), new(), rows, classes),
    "pieces": lambda: Pair(old(rate=piecewise(40, 20000)), new(pieces(40, 20000)), rows, classes),
    "by steps": lambda: Pair(old(rate=by_steps), new(halved(1000)), rows, classes),
    "a rise": lambda: Pair(old(rate=warmed_up), new(lambda: keras.optimizers.SGD(WarmUp(502.0))), rows, classes),
    "a cosine": lambda: Pair(old(rate=restarted), new(lambda: keras.optimizers.SGD(Later(0.1))), rows, classes),
    "behind an update": lambda: Pair(
        behind(by_steps), normed(schedules.ExponentialDecay(0.1, 1000, 0.5, staircase=True)), rows, classes
    ),
    "constant behind an update": lambda: Pair(behind(lambda step: 0.1), normed(0.1), rows, classes),
    "a branch behind an update": lambda: Pair(behind(in_a_branch), normed(Branch()), rows, classes),
    "pieces behind updates": lambda: Pair(
        old(rate=behind_updates(piecewise(40, 20000))), new(pieces(40, 20000)), rows, classes, ignore=["seen"]
    ),
    "a constant behind updates": lambda: Pair(
        old(rate=behind_updates(lambda step: tf.constant(0.1))), new(), rows, classes, ignore=["seen"]
    ),
    "a step that is not counted": lambda: Pair(old(rate=uncounted), new(), rows, classes),
}
RATES_BETWEEN = {
    "a variable": lambda: Pair(old(rate=kept_in_a_variable), new(), rows, classes),
    "a placeholder": lambda: Pair(
        old(rate=lambda step: v1.placeholder_with_default(0.1, (), name="rate")), new(), rows, classes
    ),
}
RATES_UNKNOWN = {
    "set by the program": lambda: Pair(old(), new(), rows, classes, train_step=loop(after=setting)),
}


# Evaluation


def accuracy(labels, scores):
    return {"accuracy": v1.metrics.accuracy(labels, tf.argmax(scores, -1))}


def several(labels, scores):
    return {
        "acc": v1.metrics.accuracy(labels, tf.argmax(scores, -1)),
        "error": v1.metrics.mean_absolute_error(tf.cast(labels, tf.float32), scores[:, 0]),
    }


def accuracy_of(name):
    return lambda: keras.metrics.SparseCategoricalAccuracy(name=name)


class Absolute(keras.metrics.MeanAbsoluteError):
    """Of the first score."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(tf.reshape(y_true, [-1]), y_pred[:, 0])


class First(keras.metrics.SparseCategoricalAccuracy):
    """That of the first class alone."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(tf.zeros_like(y_true), y_pred)


class Zeros(keras.Sequential):
    def test_step(self, data):
        return {"loss": tf.constant(0.0), "accuracy": tf.constant(0.0)}


class Trained(keras.Sequential):
    """Is evaluated as it is trained, with what it drops."""

    def test_step(self, data):
        features, labels = data
        scores = self(features, training=True)
        loss = self.compute_loss(x=features, y=labels, y_pred=scores)
        return {"loss": loss}


class LastBatch(keras.Sequential):
    """Gives the loss of a batch, and not the mean."""

    def test_step(self, data):
        features, labels = data
        return {"loss": self.compute_loss(x=features, y=labels, y_pred=self(features, training=False))}


class Silent(keras.Sequential):
    """Trains by itself, and says nothing of evaluation: ``evaluate`` would give what layers add to no loss."""

    def train_step(self, data):
        features, labels = data
        with tf.GradientTape() as tape:
            scores = self(features, training=True)
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, scores, from_logits=True))
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables, strict=True)
        )
        return {"loss": loss}


class Tells(Silent):
    def test_step(self, data):
        features, labels = data
        losses = keras.losses.sparse_categorical_crossentropy(labels, self(features), from_logits=True)
        self.mean.update_state(losses)
        return {"loss": self.mean.result()}


def without_a_loss(cls, loss=None):
    def model():
        decay = keras.regularizers.L2(1e-30)  # all that is left to evaluate
        hidden = keras.layers.Dense(4, name="hidden", kernel_regularizer=decay)
        made = cls([hidden, keras.layers.Dense(2, name="scores")])
        if cls is Tells:  # elsewhere it would stand for the loss that is compiled, and be 0
            made.mean = keras.metrics.Mean(name="loss")
        made.compile(keras.optimizers.SGD(0.1), loss)
        return made

    return model


CROSS_ENTROPY = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
EVALUATED_BY_NOTHING = {
    "a step of its own": lambda: Pair(old(), without_a_loss(Silent), rows, classes),
    "a test_step as well": lambda: Pair(old(), without_a_loss(Tells), rows, classes),
    "a loss that evaluation alone uses": lambda: Pair(old(), without_a_loss(Silent, CROSS_ENTROPY), rows, classes),
}
EVALUATED_OTHERWISE = {
    "zeros": lambda: Pair(old(metrics=accuracy), new(cls=Zeros), rows, classes),
    "in training mode": lambda: Pair(old(drops=True), new(cls=Trained, drops=True), rows, classes),
    "the last batch": lambda: Pair(old(), new(cls=LastBatch), rows, classes),
    "another accuracy": lambda: Pair(
        old(metrics=accuracy), new(metrics=[lambda: First(name="accuracy")]), rows, classes
    ),
    "another metric of its sort": lambda: Pair(
        old(metrics=several), new(metrics=[lambda: First(name="hits")]), rows, classes
    ),
}
EVALUATED_ALIKE = {
    "the loss alone": lambda: Pair(old(), new(), rows, classes),
    "of one name": lambda: Pair(old(metrics=accuracy), new(metrics=[accuracy_of("accuracy")]), rows, classes),
    "of another name": lambda: Pair(old(metrics=accuracy), new(metrics=[accuracy_of("hits")]), rows, classes),
    "several": lambda: Pair(
        old(metrics=several), new(metrics=[lambda: Absolute(name="mae"), accuracy_of("hits")]), rows, classes
    ),
    "one side alone": lambda: Pair(old(metrics=several), new(metrics=[accuracy_of("acc")]), rows, classes),
    "smoothed": lambda: Pair(old(smoothing=0.1), new(smoothing=0.1), rows, classes),
    "dropout": lambda: Pair(
        old(drops=True, metrics=accuracy), new(drops=True, metrics=[accuracy_of("accuracy")]), rows, classes
    ),
}


# What counts the steps


def counting(*names):
    """A model that keeps counters as variables of its own."""

    class Counting(keras.Sequential):
        def build(self, input_shape=None):
            super().build(input_shape)
            self.counts = tuple(
                self.add_weight(name=name, shape=(), dtype="int32", initializer="zeros", trainable=False)
                for name in names
            )

    return new(cls=Counting)


def counted(model):
    for count in model.counts:
        count.assign_add(1)


COUNTED = {
    "by its name": lambda: Pair(old(), counting("global_step"), rows, classes, train_step=loop(after=counted)),
    "by another name": lambda: Pair(old(), counting("steps"), rows, classes, train_step=loop(after=counted)),
}
COUNTED_OTHERWISE = {
    "two": lambda: Pair(old(), counting("steps", "epochs"), rows, classes, train_step=loop(after=counted)),
    "one more": lambda: Pair(old(), counting("global_step", "epochs"), rows, classes, train_step=loop(after=counted)),
}


def record(job):
    """In a child: record one side of a pair, as far as these kinds need it."""
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
    from migrate_lint.runtime_checks.worker.recording.format.reading import read
    from migrate_lint.runtime_checks.worker.recording.format.store import Recording
    from migrate_lint.runtime_checks.worker.recording.tf1.side import record_tf1
    from migrate_lint.runtime_checks.worker.recording.tf2.side import record_tf2

    pair = globals()[job["table"]][job["name"]]()
    recording, code = Recording(job["folder"], job["side"]), UserCode([__file__])
    recording.content["pair"] = {"ignore": list(pair.ignore)}
    plan = Plan(tuple(job["scenarios"]), 2, 42)
    if job["side"] == "tf1":
        record_tf1(pair, plan, recording, code)
    else:
        record_tf2(pair, plan, recording, code, read(job["tf1"]))
