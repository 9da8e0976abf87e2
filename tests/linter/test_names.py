"""One canonical spelling for the many ways to write a public name."""

from __future__ import annotations

import pytest
from migrate_lint.linter.analysis.names import Name, below, canonical

from .analysis import call, file_of


@pytest.mark.parametrize(
    ("absolute", "name"),
    [
        ("tensorflow.compat.v1.layers.dense", "tensorflow.layers.dense"),
        ("tensorflow.compat.v2.function", "tensorflow.function"),
        ("tensorflow.keras.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.compat.v1.keras.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.python.keras.engine.training.Model", "keras.Model"),
        ("keras.engine.topology.Layer", "keras.layers.Layer"),
        ("keras.layers.convolutional.Conv2D", "keras.layers.Conv2D"),
        ("keras.models.Sequential", "keras.Sequential"),
        ("tf_keras.optimizers.legacy.SGD", "keras.optimizers.legacy.SGD"),
        ("tensorflow.contrib.slim.conv2d", "slim.conv2d"),
        ("tensorflow.contrib.layers.conv2d", "slim.conv2d"),
        ("tf_slim.layers.conv2d", "slim.conv2d"),
        ("tensorflow.contrib.rnn.LSTMCell", "tensorflow.nn.rnn_cell.LSTMCell"),
        ("tensorflow.python.ops.variable_scope.get_variable", "tensorflow.get_variable"),
        ("tensorflow_estimator.estimator.Estimator", "tensorflow.estimator.Estimator"),
        ("builtins.print", "print"),
        ("torch.nn.Module", "torch.nn.Module"),
        ("kerastuner.Tuner", "kerastuner.Tuner"),
    ],
)
def test_canonical(absolute: str, name: str) -> None:
    """Packages, compatibility namespaces and private modules give way to the public name."""
    assert name == canonical(absolute)


def test_below_counts_whole_parts() -> None:
    """``kerastuner`` is not below ``keras``."""
    names = ("keras", "keras.layers", "kerastuner")

    assert [True, True, False] == [below(name, "keras") for name in names]


@pytest.mark.parametrize(
    ("imports", "written", "spelled"),
    [
        ("import tensorflow as T", "T.function", ["tensorflow.function"]),
        ("import tensorflow.compat.v1 as tf", "tf.layers.dense", ["tensorflow.compat.v1.layers.dense"]),
        ("import tensorflow.compat.v1", "tensorflow.compat.v1.get_variable", ["tensorflow.compat.v1.get_variable"]),
        ("from tensorflow import keras as K", "K.Model", ["tensorflow.keras.Model"]),
        ("from tensorflow.keras.layers import Dense as D", "D", ["tensorflow.keras.layers.Dense"]),
        ("from keras.layers import *", "Dense", ["keras.layers.Dense"]),
        ("import tensorflow as tf\nv1 = tf.compat.v1", "v1.layers.dense", ["tensorflow.compat.v1.layers.dense"]),
        ("import tensorflow as tf\nL = tf.keras.layers", "L.Dense", ["tensorflow.keras.layers.Dense"]),
        ("from tensorflow.keras import layers\nC = getattr(layers, 'Conv2D')", "C", ["tensorflow.keras.layers.Conv2D"]),
        ("import importlib\ntf = importlib.import_module('tensorflow')", "tf.function", ["tensorflow.function"]),
        (
            "try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n  import tensorflow as tf",
            "tf.Session",
            ["tensorflow.compat.v1.Session", "tensorflow.Session"],
        ),
        ("try:\n  import tensorflow as tf\nexcept ImportError:\n  tf = None", "tf.Session", ["tensorflow.Session"]),
        ("import tensorflow as tf\ntf = make()", "tf.Session", []),
        ("def tf(): ...", "tf", []),
    ],
)
def test_spellings_of_a_module(imports: str, written: str, spelled: list[str]) -> None:
    """Every branch of a conditional import counts; a name that is anything else is not guessed."""
    file = file_of({"example.py": f"{imports}\n{written}()\n"})

    assert spelled == [name.spelled for name in call(file, written).names]


@pytest.mark.parametrize(
    "text",
    [
        "def f(tf):\n    tf.function()",
        "def f():\n    tf = make()\n    tf.function()",
        "[tf.function() for tf in things]",
        "lambda tf: tf.function()",
        "def f():\n    for tf in things:\n        tf.function()",
        "def f():\n    with make() as tf:\n        tf.function()",
        "def f():\n    try: ...\n    except E as tf:\n        tf.function()",
        "match x:\n    case {'tf': tf}:\n        tf.function()",
    ],
)
def test_shadowing(text: str) -> None:
    """A parameter, local, comprehension or pattern of the same name hides the module."""
    file = file_of({"example.py": f"import tensorflow as tf\n{text}\n"})

    assert () == call(file, "tf.function").names


def test_redefined_print_is_not_the_builtin() -> None:
    """``print`` is a builtin until the file binds it."""
    plain = file_of({"example.py": "print(1)\n"})
    bound = file_of({"example.py": "from rich import print\nprint(1)\n"})

    assert (Name("print", "builtins.print"),) == call(plain, "print").names
    assert "rich.print" == call(bound, "print").name


def test_class_bodies_are_no_scope_for_methods() -> None:
    """A method does not see a name that its class body binds."""
    file = file_of(
        {"example.py": "import tensorflow as tf\nclass A:\n    tf = 1\n    def f(self):\n        tf.function()\n"}
    )

    assert "tensorflow.function" == call(file, "tf.function").name


def test_values_through_variables_attributes_and_with() -> None:
    """What a call made is known by that call, wherever it is kept."""
    file = file_of(
        {
            "example.py": """
            import tensorflow as tf
            class A:
                def __init__(self):
                    self.saver = tf.compat.v1.train.Saver()
                def load(self):
                    self.saver.restore(None, "x")
            with tf.compat.v1.Session() as sess:
                sess.run(x)
            def f(s: tf.compat.v1.Session):
                s.close()
            """
        }
    )

    assert "tensorflow.train.Saver().restore" == call(file, "self.saver.restore").name
    assert "tensorflow.Session().run" == call(file, "sess.run").name
    assert "tensorflow.Session().close" == call(file, "s.close").name
