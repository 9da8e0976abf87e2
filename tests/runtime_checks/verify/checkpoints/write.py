"""Writes the checkpoint beside it and what the network computed with it: run by real TensorFlow 1.15.0, Python 3.7."""

import json
import os

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
FEATURES = np.linspace(-1, 1, 6).reshape(2, 3)


def network(features, training):
    hidden = tf.layers.dense(features, 4, name="hidden")
    hidden = tf.layers.batch_normalization(hidden, training=training, name="normal")
    scale = tf.get_variable("scale", (4,), initializer=tf.random_uniform_initializer(0.5, 2.0, seed=1))
    return tf.tanh(hidden) * scale


def main():
    features = tf.constant(FEATURES, tf.float32)
    with tf.variable_scope("net"):
        trained = network(features, True)
    with tf.variable_scope("net", reuse=True):
        outputs = network(features, False)
    optimizer = tf.train.AdamOptimizer(0.1)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = optimizer.minimize(
            tf.reduce_sum(tf.square(trained - 1.0)), global_step=tf.train.get_or_create_global_step()
        )
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            session.run(step)
        values = session.run(outputs)
        saver.save(session, os.path.join(HERE, "tf115.ckpt"), write_meta_graph=False, write_state=False)
    with open(os.path.join(HERE, "tf115.json"), "w") as file:
        json.dump({"version": tf.__version__, "outputs": values.tolist()}, file)


if __name__ == "__main__":
    main()
