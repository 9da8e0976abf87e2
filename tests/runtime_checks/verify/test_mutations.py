"""What a program calls is heard, and can be changed, however it comes to what it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ...interpreters import Children, load

pytestmark = pytest.mark.tensorflow

BOTH = ("keras2", "keras3")
SHIM = """
import tensorflow as tf
v1 = tf.compat.v1


class Shim(tf.keras.layers.Layer):
    @v1.keras.utils.track_tf1_style_variables
    def call(self, x):
        {}


def run():
    tf.keras.utils.set_random_seed(1)
    return float(tf.reduce_sum(Shim()(tf.constant([[1.0, -2.0, 3.0]]))))
"""
IMAGES = "x = tf.reshape(tf.range(16.0), [1, 4, 4, 1]) + x[0, 0]\n        "
PROGRAMS = {
    "tf.math": (
        BOTH,
        "import tensorflow as tf\ndef run():\n    return float(tf.math.reduce_sum([1.0, 3.0]))",
        ("function", "tf.reduce_sum", "", "tf.reduce_mean"),
    ),
    "tf.compat.v1": (
        BOTH,
        "import tensorflow.compat.v1 as tf\ndef run():\n    return float(tf.reduce_mean([1.0, 3.0]))",
        ("function", "tf.reduce_mean", "", "tf.reduce_sum"),
    ),
    "a function of a module": (
        BOTH,
        "from tensorflow.math import sigmoid\ndef run():\n    return float(sigmoid(2.0))",
        ("function", "tf.nn.sigmoid", "", "tf.identity"),
    ),
    "an argument that is left out": (
        BOTH,
        "import tensorflow as tf\ndef run():\n    x = tf.nn.dropout(tf.ones([9]), 0.5)\n    return float(x[0])",
        ("argument", "tf.nn.dropout", "rate", 0.0),
    ),
    "keras itself": (
        BOTH,
        "from keras import layers\nimport numpy as np\n"
        "def run():\n    return float(layers.LayerNormalization(epsilon=0.1)(np.float32([[1, 3]]))[0, 1])",
        ("argument", "LayerNormalization", "epsilon", 1e-6),
    ),
    "tf_keras": (
        BOTH,
        "import tf_keras\nimport numpy as np\n"
        "def run():\n    return float(tf_keras.layers.Dense(1, kernel_initializer='ones')(np.float32([[1, 3]]))[0, 0])",
        ("argument", "Dense", "activation", "sigmoid"),
    ),
    "an optimizer of tf_keras": (
        BOTH,
        "import tf_keras\nimport tensorflow as tf\ndef run():\n    one = tf.Variable(1.0)\n"
        "    tf_keras.optimizers.SGD(0.5).apply_gradients([(tf.constant(1.0), one)])\n    return float(one)",
        ("argument", "SGD", "learning_rate", 0.25),
    ),
    "tf.layers behind the shim": (
        ("keras2",),
        SHIM.format("return v1.layers.dense(x, 2, name='one', kernel_initializer=v1.ones_initializer())"),
        ("argument", "Dense", "activation", "sigmoid"),
    ),
    "a normalization of tf.layers": (
        ("keras2",),
        SHIM.format("return v1.layers.batch_normalization(x, name='one', epsilon=0.5)"),
        ("argument", "BatchNormalization", "epsilon", 0.1),
    ),
    "padding in slim": (
        ("keras2",),
        "import tf_slim as slim" + SHIM.format(IMAGES + "return slim.avg_pool2d(x, 3, 2, padding='SAME')"),
        ("argument", "AveragePooling2D", "padding", "VALID"),
    ),
    "a normalization in a scope of slim": (
        ("keras2",),
        "import tf_slim as slim"
        + SHIM.format(
            IMAGES + "with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, "
            "normalizer_params={'epsilon': 0.5, 'is_training': False}):\n"
            "            return slim.conv2d(x, 1, 1, weights_initializer=v1.ones_initializer(), scope='one')"
        ),
        ("argument", "slim.batch_norm", "epsilon", 0.1),
    ),
    "dropout in a scope of slim": (
        ("keras2",),
        "import tf_slim as slim"
        + SHIM.format(
            "with slim.arg_scope([slim.dropout], keep_prob=0.9):\n"
            "            return slim.dropout(tf.ones([1, 64]), is_training=True)"
        ),
        ("argument", "slim.dropout", "keep_prob", 0.1),
    ),
    "a regularizer of slim": (
        ("keras2",),
        "import tf_slim as slim\nimport tensorflow as tf\n"
        "def run():\n    return float(slim.l2_regularizer(0.5)(tf.ones([2])))",
        ("argument", "slim.l2_regularizer", "scale", 1.0),
    ),
}
"""By target: a program, and a mutation of what that calls: what, the name of what it calls, the argument, the value."""


def changed(folder: str, name: str) -> Any:
    """In a child: what a program gives as it is and with its mutation, and the sites that it tells of meanwhile."""
    import tensorflow as tf
    from migrate_lint.runtime_checks.worker import shims
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.mutations.patches import mutating

    _, text, (what, callee, argument, value) = PROGRAMS[name]
    path = Path(folder, "user.py")
    path.write_text(text, "utf-8")
    mutation = {"what": what, "callee": callee, "places": [], "argument": argument, "value": value}
    given: list[Any] = []
    contents: list[dict[str, Any]] = [{}, {}]
    for wanted, content in zip(([], [mutation]), contents, strict=True):
        with mutating(wanted, UserCode((), [str(path)]), content), shims.for_slim(shims.target(), str):
            given.append(load(path).run())
        tf.keras.backend.clear_session()
    return given, contents[0]["sites"], contents[1]["applied"]


CASES = [(target, name) for name, (targets, _, _) in PROGRAMS.items() for target in targets]


@pytest.mark.parametrize(("target", "name"), CASES, ids=[" ".join(one) for one in CASES])
def test_what_a_program_calls_is_heard_and_changed(children: Children, tmp_path: Path, target: str, name: str) -> None:
    """At a line of its own, whatever module it has it from and whatever makes it for the program."""
    (before, after), sites, applied = children.call(target, changed, str(tmp_path), name)
    _, callee, argument, value = PROGRAMS[name][2]
    (site,) = [one for one in sites if one["callee"] == callee and one["what"] in ("argument", "function")]

    assert str(tmp_path / "user.py") == site["place"][0]
    assert argument == "" or site["arguments"][argument] != value
    assert [0] == applied
    assert before != after
