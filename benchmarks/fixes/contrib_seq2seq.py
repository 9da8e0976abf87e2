"""A TF1 program that encodes and decodes sequences with what tf.contrib held.

`contrib_seq2seq.json` has what its sessions computed under TF 1.15; see `contrib_names.py`.
"""

import numpy as np
import tensorflow as tf
from tensorflow.contrib import legacy_seq2seq, rnn, seq2seq
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import AttentionWrapper

numbers = np.random.RandomState(3)
memory = tf.constant(numbers.rand(4, 5, 6).astype(np.float32))
lengths = tf.constant([5, 3, 1, 4])
targets = tf.constant(numbers.rand(4, 7, 3).astype(np.float32))
target_lengths = tf.constant([7, 2, 5, 1])
words = tf.constant(numbers.rand(9, 3).astype(np.float32))
starts = tf.fill([4], 1)
of = {}


def put(name, values):
    for number, value in enumerate(tf.contrib.framework.nest.flatten(values)):
        of[f"{name} {number}"] = value


def cell_of(kind):
    if kind == "layer_norm":
        return rnn.LayerNormBasicLSTMCell(6)
    if kind == "plain":
        return rnn.LayerNormBasicLSTMCell(6, forget_bias=0.5, layer_norm=False, dropout_keep_prob=1.0)
    if kind == "multi":
        return rnn.MultiRNNCell([rnn.GRUCell(6), rnn.LSTMCell(6)])
    return rnn.BasicLSTMCell(6)


class Doubled(seq2seq.Helper):
    """A program's own helper: it gives back what was said, twice as large."""

    @property
    def batch_size(self):
        return 4

    @property
    def sample_ids_shape(self):
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self):
        return tf.int32

    def initialize(self, name=None):
        return tf.tile([False], [4]), targets[:, 0, :]

    def sample(self, time, outputs, state, name=None):
        return tf.tile([0], [4])

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        return time + 1 >= target_lengths, 2.0 * outputs[:, :3], state


for kind in ("basic", "multi", "layer_norm", "plain"):
    with tf.variable_scope("decode_" + kind):
        cell = cell_of(kind)
        helper = seq2seq.TrainingHelper(targets, target_lengths)
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(4, tf.float32))
        put("decode " + kind, seq2seq.dynamic_decode(decoder, impute_finished=True))
        decoder = seq2seq.BasicDecoder(cell, Doubled(), cell.zero_state(4, tf.float32))
        put("doubled " + kind, seq2seq.dynamic_decode(decoder, maximum_iterations=6, output_time_major=True))

for kind, mechanism in (
    ("luong", seq2seq.LuongAttention(6, memory, memory_sequence_length=lengths)),
    ("scaled", seq2seq.LuongAttention(6, memory, scale=True)),
    ("bahdanau", seq2seq.BahdanauAttention(4, memory, lengths)),
    ("normalized", seq2seq.BahdanauAttention(4, memory, lengths, normalize=True)),
):
    with tf.variable_scope("attend_" + kind):
        attentive = AttentionWrapper(
            cell_of("basic"),
            mechanism,
            attention_layer_size=None if kind == "scaled" else 5,
            alignment_history=True,
            output_attention=kind != "normalized",
        )
        layer = tf.layers.Dense(9, name="words")
        state = attentive.zero_state(4, tf.float32)
        put("weights " + kind, [state.attention, state.time, state.alignments, state.attention_state])
        helper = seq2seq.TrainingHelper(targets, target_lengths)
        decoder = seq2seq.BasicDecoder(attentive, helper, state, output_layer=layer)
        outputs, last, counts = seq2seq.dynamic_decode(decoder)
        put("attend " + kind, [outputs.rnn_output, outputs.sample_id, last.alignments, last.attention, counts])
        put("history " + kind, last.alignment_history.stack())
        loss = tf.reduce_mean(tf.square(outputs.rnn_output))
        put("gradients " + kind, tf.gradients(loss, tf.trainable_variables("attend_" + kind)))
        greedy = seq2seq.GreedyEmbeddingHelper(words, starts, 0)
        decoder = seq2seq.BasicDecoder(attentive, greedy, attentive.zero_state(4, tf.float32), layer)
        outputs, _, counts = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
        put("greedy " + kind, [outputs.sample_id, counts])

with tf.variable_scope("two"):
    pair = [seq2seq.LuongAttention(6, memory, lengths), seq2seq.BahdanauAttention(4, memory, lengths)]
    attentive = seq2seq.AttentionWrapper(cell_of("multi"), pair, attention_layer_size=[5, 4])
    helper = seq2seq.TrainingHelper(tf.transpose(targets, [1, 0, 2]), target_lengths, time_major=True)
    decoder = seq2seq.BasicDecoder(attentive, helper, attentive.zero_state(4, tf.float32))
    put("two", seq2seq.dynamic_decode(decoder, impute_finished=True)[0])

for penalty, coverage in ((0.0, 0.0), (0.7, 0.0), (0.3, 0.5)):
    with tf.variable_scope(f"beam_{int(10 * penalty)}"):
        tiled = seq2seq.tile_batch(memory, multiplier=3)
        mechanism = seq2seq.LuongAttention(6, tiled, seq2seq.tile_batch(lengths, 3))
        attentive = seq2seq.AttentionWrapper(cell_of("basic"), mechanism, attention_layer_size=5)
        state = attentive.zero_state(12, tf.float32)
        started = seq2seq.tile_batch(rnn.LSTMStateTuple(memory[:, 0, :], memory[:, 1, :]), 3)
        decoder = seq2seq.BeamSearchDecoder(
            cell=attentive,
            embedding=words,
            start_tokens=starts,
            end_token=4,
            initial_state=state.clone(cell_state=started),
            beam_width=3,
            output_layer=tf.layers.Dense(9, name="words", kernel_initializer=tf.random_normal_initializer(0.0, 3.0)),
            length_penalty_weight=penalty,
            coverage_penalty_weight=coverage,
        )
        outputs, last, counts = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
        details = outputs.beam_search_decoder_output
        put(f"beam {penalty}", [outputs.predicted_ids, counts, last.lengths, last.log_probs, details.scores])

steps, parents = numbers.randint(0, 5, (6, 4, 3)), numbers.randint(0, 3, (6, 4, 3))
put("gather_tree", seq2seq.gather_tree(tf.constant(steps, tf.int32), tf.constant(parents, tf.int32), [6, 3, 1, 5], 4))
put("hardmax", seq2seq.hardmax(memory))

sources = [tf.constant(numbers.randint(0, 8, 4), tf.int32) for _ in range(3)]
wanted = [tf.constant(numbers.randint(0, 9, 4), tf.int32) for _ in range(4)]
weights = [tf.constant(numbers.rand(4).astype(np.float32)) for _ in range(4)]
for number, fed in enumerate((False, True, tf.constant(True))):
    with tf.variable_scope(f"legacy_{number}"):
        reading = legacy_seq2seq.embedding_rnn_seq2seq(
            sources, wanted, cell_of("basic"), 8, 9, 5, feed_previous=fed
        )
        put(f"rnn {number}", reading)
        attending = legacy_seq2seq.embedding_attention_seq2seq(
            sources, wanted, cell_of("multi"), 8, 9, 5, num_heads=2, feed_previous=fed, initial_state_attention=True
        )
        put(f"attention {number}", attending)

with tf.variable_scope("buckets"):

    def translate(encoded, decoded):
        return legacy_seq2seq.embedding_attention_seq2seq(encoded, decoded, cell_of("basic"), 8, 9, 5)

    put("buckets", legacy_seq2seq.model_with_buckets(sources, wanted, wanted, weights, [(2, 2), (3, 3)], translate))

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for value in of.values():
        session.run(value)
    print(sorted(variable.name for variable in tf.global_variables()))
