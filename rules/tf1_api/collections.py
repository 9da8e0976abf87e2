"""The collections of a TF1 graph: what reads and writes them, and under which keys."""

from __future__ import annotations

from ...linter.rule_api.model import Call, literal_string

VARIABLES = {
    "tensorflow.trainable_variables": "the `trainable_variables` of the model",
    "tensorflow.global_variables": "the `variables` of the model",
    "tensorflow.all_variables": "the `variables` of the model",
    "tensorflow.local_variables": "the variables of the metric",
    "tensorflow.model_variables": "the `variables` of the model",
    "tensorflow.moving_average_variables": "the variables that the moving average was applied to",
}
LOSSES = {
    "tensorflow.losses.get_losses": "the values that the loss functions return, and `model.losses`",
    "tensorflow.losses.get_regularization_losses": "`model.losses`",
    "tensorflow.losses.get_regularization_loss": "`tf.add_n(model.losses)`",
    "tensorflow.losses.get_total_loss": "the sum of the losses and of `model.losses`",
}
READS = ("tensorflow.get_collection", "tensorflow.get_collection_ref")
WRITES = ("tensorflow.add_to_collection", "tensorflow.add_to_collections")
_BY_NAME = ("tensorflow.layers.*", "tensorflow.contrib.*", "slim.*", *WRITES)
_FILERS = {
    "UPDATE_OPS": _BY_NAME,
    "LOSSES": (*_BY_NAME, "tensorflow.losses.*"),
    "REGULARIZATION_LOSSES": (*_BY_NAME, "tensorflow.get_variable", "tensorflow.variable_scope"),
    "SUMMARIES": (*_BY_NAME, "tensorflow.summary.*"),
}
"""What files something under a key while a function is traced; under other keys only the program does."""
_KEYS = {
    "trainable_variables", "variables", "local_variables", "model_variables", "moving_average_variables", "update_ops",
    "losses", "regularization_losses", "summaries", "init_op", "ready_op", "table_initializer", "queue_runners",
}  # fmt: skip
"""Values of `GraphKeys` under which TensorFlow files what it makes in a graph, and nothing in eager execution."""
_KEY_NAMES = {key.upper() for key in _KEYS} | {"GLOBAL_VARIABLES", "VARIABLES", "TABLE_INITIALIZERS"}


def filers(key: str) -> tuple[str, ...]:
    """The public names that file something under a key while a function is traced."""
    every = tuple(name for names in _FILERS.values() for name in names)
    return _FILERS.get(key, WRITES) if key else every


def is_filed_by_program(call: Call, key: str) -> bool:
    """Whether a collection may hold what the program itself puts there."""
    if key not in _KEY_NAMES:
        return call.name in WRITES or call.file.project.uses(*WRITES)
    return call.name in READS and any(other.name in WRITES and key_of(other) == key for other in call.file.calls)


def key_of(call: Call) -> str:
    """The key of a collection: the name in `GraphKeys` of one under which TensorFlow files things."""
    if call.name in VARIABLES:
        return "VARIABLES"
    if call.name in LOSSES:
        return "REGULARIZATION_LOSSES" if "regularization" in call.name else "LOSSES"
    key = call.value("key" if call.name in READS else "name", 0)
    text = literal_string(key)
    if text is not None:
        return text.upper() if text in _KEYS else text
    names = [name.canonical.rpartition("tensorflow.GraphKeys.") for name in call.names_of(key)]
    return next((last for _, found, last in names if found), "")
