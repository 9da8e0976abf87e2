"""A TF1 program that uses what tf.contrib held.

`contrib_names.json` has what its sessions computed under TF 1.15:
``TF1_PYTHON observed.py contrib_names.json 1000 contrib_names.py`` writes it.
"""

import numpy as np
import tensorflow as tf
from tensorflow.contrib import crf, layers, legacy_seq2seq, rnn, slim
from tensorflow.contrib.framework import arg_scope, get_variables
from tensorflow.contrib.seq2seq import sequence_loss
from tensorflow.contrib.training import HParams

numbers = np.random.RandomState(7)
images = tf.constant(numbers.rand(4, 8, 8, 3).astype(np.float32))
rows = tf.constant(numbers.rand(4, 6).astype(np.float32))
steps = tf.constant(numbers.rand(4, 5, 6).astype(np.float32))
lengths = tf.constant([5, 3, 1, 4])
labels = tf.constant(numbers.randint(0, 3, (4, 5)).astype(np.int32))
scores = tf.constant(numbers.rand(4, 5, 3).astype(np.float32))
weights = tf.constant(numbers.rand(4, 5).astype(np.float32))
listed = [tf.nn.relu(part) for part in tf.unstack(steps, axis=1)]
of = {}


def put(name, value):
    of[name] = value


hparams = HParams(width=6, rate=0.1, names=["a", "b"], on=True).parse("width=8,rate=0.5,names=[c,d],on=false")
put("hparams", tf.constant([hparams.width, hparams.rate, float(len(hparams.values())), float(hparams.on)]))
put("is_plain", tf.constant([float(type(rows) is tf.Tensor), float(type(str(1)) is not tf.Tensor), float(np.int(3))]))

put("xavier", tf.get_variable("v1", [6, 7], initializer=layers.xavier_initializer()))
put("xavier_seed", tf.get_variable("v2", [3, 3, 6, 7], initializer=tf.contrib.layers.xavier_initializer(seed=3)))
put("xavier_normal", tf.get_variable("v3", [6, 7], initializer=layers.xavier_initializer(uniform=False)))
put("xavier_conv", tf.get_variable("v4", [3, 3, 6, 7], initializer=layers.xavier_initializer_conv2d()))
put("xavier_one", tf.get_variable("v5", [7], initializer=tf.contrib.layers.xavier_initializer()))
scaling = layers.variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=True)
put("scaling", tf.get_variable("v6", [6, 7], initializer=scaling))
put("l2", layers.l2_regularizer(0.1)(rows))
put("l1", layers.l1_regularizer(0.1)(rows))
put("sum", layers.sum_regularizer([layers.l2_regularizer(0.1), layers.l1_regularizer(0.2)])(rows))
put("fc", layers.fully_connected(rows, 5))
put(
    "fc_none",
    tf.contrib.layers.fully_connected(rows, 5, activation_fn=None, weights_regularizer=slim.l2_regularizer(0.1)),
)
put("conv", layers.conv2d(images, 4, [3, 3], stride=2))
put("transpose", slim.conv2d_transpose(images, 4, [3, 3], stride=2))
put("separable", slim.separable_conv2d(images, 4, [3, 3], 1))
put("pool", slim.max_pool2d(images, [2, 2]))
put("average", layers.avg_pool2d(images, [2, 2]))
put("flatten", layers.flatten(images))
put("dropout", slim.dropout(rows, 0.5))
put("one_hot", slim.one_hot_encoding(labels[0], 3))
put("layer_norm", layers.layer_norm(rows))
put("instance_norm", layers.instance_norm(images))
put("batch_norm", layers.batch_norm(images, decay=0.9, scale=True, is_training=True))
put("batch_norm_off", tf.contrib.layers.batch_norm(images, is_training=False, center=True))
put("batch_norm_rows", slim.batch_norm(rows, decay=0.9, is_training=True))
put("batch_norm_now", slim.batch_norm(images, decay=0.9, updates_collections=None, is_training=True, scope="now"))
placed = tf.placeholder_with_default(True, [])
put("batch_norm_asked", slim.batch_norm(images, decay=0.9, is_training=placed, fused=False, scope="asked"))
put("rows_asked", slim.batch_norm(rows, decay=0.9, is_training=placed, scope="rows_asked"))
with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params={"is_training": True}):
    put("conv_norm", slim.conv2d(images, 4, [3, 3], scope="normal"))
with arg_scope([layers.fully_connected], activation_fn=tf.nn.tanh):
    put("fc_scoped", layers.fully_connected(rows, 3))
put("repeat", slim.repeat(images, 2, slim.conv2d, 3, [3, 3], scope="again"))
put("stack", slim.stack(rows, slim.fully_connected, [5, 4], scope="stack"))
put("embed", layers.embed_sequence(labels, vocab_size=3, embed_dim=4))
put("embed_unique", layers.embed_sequence(labels, vocab_size=3, embed_dim=4, unique=True, scope="unique"))
put("unit_norm", layers.unit_norm(rows, 1))
put("losses", slim.losses.softmax_cross_entropy(scores[:, 0], tf.one_hot(labels[:, 0], 3)))
put("mse", tf.contrib.losses.mean_squared_error(rows, rows * 0.5))
accuracy, counted = tf.contrib.metrics.streaming_accuracy(labels[0], labels[1])
put("counted", counted)
put("total", slim.losses.get_total_loss())

with tf.variable_scope("cells"):
    for name in ("BasicRNNCell", "BasicLSTMCell", "LSTMCell", "GRUCell"):
        with tf.variable_scope(name):
            cell = getattr(tf.nn.rnn_cell, name)(4)
            put(name, tf.nn.dynamic_rnn(cell, steps, lengths, dtype=tf.float32)[0])
    with tf.variable_scope("many"):
        many = rnn.MultiRNNCell([rnn.DropoutWrapper(rnn.GRUCell(4), output_keep_prob=0.5) for _ in range(2)])
        put("multi", rnn.static_rnn(many, listed, dtype=tf.float32)[0])
    with tf.variable_scope("static"):
        put("static", rnn.static_rnn(rnn.BasicLSTMCell(4, forget_bias=1.0), listed, dtype=tf.float32)[0])
    with tf.variable_scope("both"):
        both = rnn.static_bidirectional_rnn(rnn.LSTMCell(3), rnn.LSTMCell(3), listed, dtype=tf.float32)
        put("both", both[0])
    with tf.variable_scope("stacked"):
        fw, bw = ([rnn.GRUCell(3) for _ in range(2)] for _ in range(2))
        stacked = rnn.stack_bidirectional_dynamic_rnn(fw, bw, steps, dtype=tf.float32, sequence_length=lengths)
        put("stacked", stacked[0])
    with tf.variable_scope("projected"):
        projected = rnn.OutputProjectionWrapper(rnn.BasicRNNCell(4), output_size=2)
        put("projected", tf.nn.dynamic_rnn(projected, steps, dtype=tf.float32)[0])
    put("time_major", rnn.transpose_batch_time(steps))

targets = tf.unstack(labels, axis=1)
logits = tf.unstack(scores, axis=1)
put("sequence_loss", sequence_loss(scores, labels, weights))
put("sequence_loss_time", tf.contrib.seq2seq.sequence_loss(scores, labels, weights, average_across_timesteps=False))
put("sequence_loss_none", sequence_loss(scores, labels, weights, False, False))
put("legacy_loss", legacy_seq2seq.sequence_loss(logits, targets, tf.unstack(weights, axis=1)))
put("legacy_by", legacy_seq2seq.sequence_loss_by_example(logits, targets, tf.unstack(weights, axis=1)))
zero = tf.nn.rnn_cell.BasicRNNCell(4)
decoded = legacy_seq2seq.rnn_decoder(listed, zero.zero_state(4, tf.float32), zero, scope="decoder")
put("decoded", decoded[0])
looped = tf.nn.rnn_cell.BasicRNNCell(6)
decoded = legacy_seq2seq.rnn_decoder(
    listed, looped.zero_state(4, tf.float32), looped, loop_function=lambda last, _: last * 2, scope="looped"
)
put("looped", decoded[0])
seq2seq = legacy_seq2seq.basic_rnn_seq2seq(listed, listed[:2], tf.nn.rnn_cell.GRUCell(4), scope="basic")
put("seq2seq", seq2seq[0])
likelihood, transitions = crf.crf_log_likelihood(scores, labels, lengths)
put("crf", likelihood)
put("crf_gradients", tf.gradients(likelihood, transitions)[0])
processor = tf.contrib.learn.preprocessing.VocabularyProcessor(4)
words = [*processor.fit_transform(["a bee Cee", "bee-d E"]), *processor.transform(["Cee x"])]
put("words", tf.constant(np.array(words, np.float32)) + float(tf.contrib.learn.ModeKeys.TRAIN == "train"))
put("normal", tf.contrib.distributions.Normal(0.0, 2.0).log_prob(rows))
put("constant", tf.constant(tf.contrib.util.constant_value(tf.constant(3.0)) * 2))
put("variables", tf.constant(float(len(get_variables("cells")))))
put("model_variables", tf.constant([float(len(slim.get_model_variables())), float(len(tf.trainable_variables()))]))
put("updates", tf.constant(float(len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)))))
put("regularized", tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)))

loss = tf.add_n([tf.reduce_mean(of[name]) for name in ("fc", "conv", "batch_norm", "conv_norm", "BasicLSTMCell")])
train = layers.optimize_loss(loss, tf.train.get_or_create_global_step(), 0.1, "Adam", clip_gradients=5.0)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    step = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.01))

with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    for name in sorted(of):
        session.run(of[name])
    tags, best = tf.contrib.crf.viterbi_decode(session.run(scores)[0], session.run(transitions))
    session.run(tf.constant(np.array([*tags, best], np.float32)))
    for _ in range(3):
        session.run(train)
        session.run(step)
    for variable in tf.trainable_variables():
        session.run(variable)
    for name in ("fc", "conv", "batch_norm_off", "conv_norm"):
        session.run(of[name])
