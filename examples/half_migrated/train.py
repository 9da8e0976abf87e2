"""Trains the classifier, resuming from the newest checkpoint."""

import random

import tensorflow as tf
from model import Classifier

loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def brighten(image, label):
    """Change the brightness of an image by a random amount."""
    return image + random.uniform(-20.0, 20.0), label


@tf.function
def train_step(model, optimizer, images, labels):
    """Update the model once, and return the loss."""
    with tf.GradientTape() as tape:
        loss = loss_of(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print("loss", loss)
    return loss


def train(folder, epochs=5):
    """Train on MNIST, with checkpoints in `folder`."""
    (images, labels), _ = tf.keras.datasets.mnist.load_data()
    dataset = tf.data.Dataset.from_tensor_slices((images.astype("float32"), labels)).map(brighten).batch(64)
    model, optimizer = Classifier(), tf.keras.optimizers.Adam(learning_rate=1e-3)

    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=3)
    if manager.latest_checkpoint:
        tf.train.load_checkpoint(manager.latest_checkpoint)

    for _ in range(epochs):
        for batch, targets in dataset:
            train_step(model, optimizer, batch, targets)
        manager.save()
        tf.logging.info("%d weights saved", len(tf.trainable_variables()))


def export(folder):
    """Write the trained graph for serving."""
    images = tf.placeholder(tf.float32, [None, 28, 28])
    scores = Classifier()(images)
    with tf.Session() as session:
        tf.saved_model.simple_save(session, folder, {"images": images}, {"scores": scores})
