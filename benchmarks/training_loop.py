"""A loop that is audited by `migrate-lint resume`, and run by itself; `verify.py --pair resume` compares the two.

    python training_loop.py results.json

makes by hand the runs of an audit, each in a child that is forked behind TensorFlow's import: two to the end, three
that are ended by a signal, and three that go on.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

STEPS, EVERY = 200, 50


def loop(folder: str, stop: int | None = None) -> None:
    """An MLP of a million parameters under Adam, which loses nothing; it is killed behind a step `stop`."""
    import tensorflow as tf

    features = tf.random.stateless_normal((1024, 256), seed=(1, 2))
    labels = tf.reduce_sum(features, axis=1, keepdims=True)
    batches = iter(tf.data.Dataset.from_tensor_slices((features, labels)).batch(64).repeat())
    model = tf.keras.Sequential(
        [
            tf.keras.Input((256,)),
            tf.keras.layers.Dense(1024, "relu"),
            tf.keras.layers.Dense(768, "relu"),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(0.001)
    optimizer.build(model.trainable_variables)
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step, batches=batches)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint).expect_partial()

    @tf.function
    def train(features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features, training=True) - labels) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    while int(step) < STEPS:
        train(*next(batches))
        step.assign_add(1)
        if int(step) == stop:
            os.kill(os.getpid(), signal.SIGKILL)
        if int(step) % 20 == 0:
            manager.save()


def main() -> None:
    """Make the runs, and write how long they took."""
    began = time.time()
    import tensorflow as tf  # noqa: F401

    parts = {"import": time.time() - began}
    with tempfile.TemporaryDirectory() as scratch:
        for name, at in [("whole", None), ("again", None), *((str(at), at) for at in range(EVERY, STEPS, EVERY))]:
            for behind in (at,) if at is None else (at, None):
                folder = Path(scratch, name)
                folder.mkdir(exist_ok=True)
                began = time.time()
                child = os.fork()
                if not child:
                    loop(str(folder), behind)
                    os._exit(0)
                os.waitpid(child, 0)
                parts[f"run {name}, stopped at {behind}"] = time.time() - began
    Path(sys.argv[1]).write_text(json.dumps(parts), "utf-8")


if __name__ == "__main__":
    main()
