"""What kind of thing a class is, by the public base class it descends from.

The kinds: ``layer``, ``model`` (also a layer), ``v1layer`` (`tf.compat.v1.layers`), ``cell`` (an RNN cell of TF1),
``module`` (`tf.Module`), ``sonnet``, ``loss``, ``metric``, ``callback``, ``optimizer``, ``initializer``, ``hook``,
``estimator``.
A base that is not in this table makes no kind: a class named `Model` of another library is just a class.
"""

from __future__ import annotations

from .names import canonical

_EXACT: dict[str, tuple[str, ...]] = {
    "keras.Model": ("model", "layer"),
    "keras.Sequential": ("model", "layer"),
    "tensorflow.Module": ("module",),
    "sonnet.Module": ("sonnet",),
    "sonnet.AbstractModule": ("sonnet",),
    "sonnet.RNNCore": ("sonnet",),
    "sonnet.Optimizer": ("optimizer",),
    "tensorflow_recommenders.Model": ("model", "layer"),
    "tensorflow_recommenders.models.Model": ("model", "layer"),
    "tensorflow_recommenders.tasks.Task": ("layer",),
    "tensorflow_probability.layers.DistributionLambda": ("layer",),
    "tf_agents.networks.Network": ("layer",),
    "tf_agents.networks.network.Network": ("layer",),
    "tf_agents.networks.network.DistributionNetwork": ("layer",),
    "gpflow.Module": ("module",),
    "tensorflow.estimator.Estimator": ("estimator",),
    "tensorflow.train.SessionRunHook": ("hook",),
}
_BELOW: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("keras.layers.", ("layer",)),
    ("keras.losses.", ("loss",)),
    ("keras.metrics.", ("metric",)),
    ("keras.callbacks.", ("callback",)),
    ("keras.optimizers.", ("optimizer",)),
    ("keras.initializers.", ("initializer",)),
    ("tensorflow.layers.", ("layer", "v1layer")),
    ("tensorflow.nn.rnn_cell.", ("layer", "v1layer", "cell")),
    ("tensorflow_addons.layers.", ("layer",)),
    ("tensorflow_addons.rnn.", ("layer",)),
    ("tensorflow_addons.metrics.", ("metric",)),
    ("tensorflow_addons.losses.", ("loss",)),
    ("tensorflow_addons.optimizers.", ("optimizer",)),
    ("tensorflow_recommenders.layers.", ("layer",)),
    ("tensorflow_recommenders.metrics.", ("metric",)),
    ("keras_nlp.layers.", ("layer",)),
    ("keras_nlp.models.", ("model", "layer")),
    ("keras_hub.layers.", ("layer",)),
    ("keras_hub.models.", ("model", "layer")),
    ("keras_cv.layers.", ("layer",)),
    ("keras_cv.models.", ("model", "layer")),
    ("transformers.TF", ("model", "layer")),
)


def kinds_of_base(absolute: str) -> tuple[str, ...]:
    """The kinds that a class gets from one public base, by the base's absolute or canonical name."""
    name = canonical(absolute)
    exact = _EXACT.get(name)
    if exact is not None:
        return exact
    if "(" not in name:
        for prefix, kinds in _BELOW:
            if name.startswith(prefix) and name[len(prefix) :][:1].isupper():
                return kinds
    return ()
