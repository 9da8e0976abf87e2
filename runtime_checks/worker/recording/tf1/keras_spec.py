"""A Keras model of a TF1 program as the TF1 side of a pair: its own graph, what it was compiled with, one step."""

from __future__ import annotations

from typing import Callable

from ..pairs.batches import PairError
from ..pairs.pair import Spec
from ..tensors import Nest, Operation, Tensor

__all__ = ["keras_spec"]


def keras_spec(build: Callable[[], Nest], inputs: Nest, labels: Nest, mode: str) -> Spec:
    """Build a compiled Keras model, and say what its training would do.

    The graph that Keras made of the model is recorded, as its ``fit`` runs it: the inputs are fed, layers are told by
    the learning phase whether they train, and a step makes the update of the optimizer and those of the layers.

    Args:
        build: makes the model, compiled with one loss.
        inputs: those of the batch.
        labels: those of the batch.
        mode: as the pair's function gets it.

    Raises:
        PairError: if the model has no inputs of its own, as a subclassed one, or was compiled with several losses.
    """
    import tensorflow as tf

    tf.keras.backend.set_learning_phase(int(mode == "train"))  # the Keras of a TF1 side  # migrate-lint: disable=TF429
    model = build()
    _hide(model)
    own = getattr(model, "inputs", None)
    if not own:
        raise PairError("keras_spec: the model has no inputs before it is called; give its layers an input_shape")
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    feeds = dict(zip(own, given))
    outputs = model.outputs[0] if len(model.outputs) == 1 else list(model.outputs)
    if mode == "infer" or getattr(model, "loss", None) is None:
        return Spec(outputs, feeds=feeds)
    if isinstance(model.loss, (list, tuple, dict)) or len(model.outputs) != 1:
        raise PairError("keras_spec: a model with several outputs or losses; build its Spec yourself")
    loss = tf.reduce_mean(tf.keras.losses.get(model.loss)(labels, outputs))
    if model.losses:
        loss = tf.add_n([loss, *model.losses])
    if mode != "train":
        return Spec(outputs, loss, feeds=feeds)
    weights = list(model.trainable_weights)
    gradients = tf.gradients(loss, weights)
    update = _applied(model.optimizer, gradients, weights)
    _hide(model)
    by_name = {weight.name.partition(":")[0]: gradient for weight, gradient in zip(weights, gradients)}
    rate = getattr(model.optimizer, "learning_rate", None)
    step = tf.group(update, *model.updates)
    return Spec(outputs, loss, step, gradients=by_name, learning_rate=None if callable(rate) else rate, feeds=feeds)


def _applied(optimizer: Nest, gradients: Nest, weights: Nest) -> Operation:
    """The operation that makes an update; optimizers of Keras since 2.11 need a function, which orders what they do."""
    import tensorflow as tf

    if not hasattr(optimizer, "build"):
        return optimizer.apply_gradients(list(zip(gradients, weights)))
    optimizer.build(weights)

    def apply(*given: Tensor) -> None:
        optimizer.apply_gradients(list(zip(given, weights)))

    return tf.function(apply, autograph=False)(*gradients) or tf.compat.v1.get_default_graph().get_operations()[-1]


def _hide(model: Nest) -> None:
    """Take the optimizer's variables out of what is compared: no optimizer of TF1 has them. They are initialized."""
    import tensorflow as tf

    keys = tf.compat.v1.GraphKeys
    graph = tf.compat.v1.get_default_graph()
    known = {id(weight) for weight in model.weights}
    every = graph.get_collection_ref(keys.GLOBAL_VARIABLES)
    hidden = [variable for variable in every if id(variable) not in known]
    every[:] = [variable for variable in every if id(variable) in known]
    graph.get_collection_ref(keys.LOCAL_VARIABLES).extend(hidden)
