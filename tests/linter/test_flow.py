"""What is known of the values in a function: proofs, what is likely, and no more than that."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from migrate_lint.linter.analysis.index import FileIndex
from migrate_lint.linter.analysis.project import Project
from migrate_lint.linter.analysis.summary import summarize
from migrate_lint.linter.finding import Target
from migrate_lint.linter.rule_api.model import File, Known
from migrate_lint.linter.source.parsing import SourceFile, parse_source
from migrate_lint.linter.source.reading import read_source

HEAD = """
import numpy as np
import tensorflow as tf
"""


def known(code: str, folder: Path) -> dict[str, str]:
    """What `probe("a", value)` calls in `code` say: the known kind of each value, by its label."""
    path = folder / "example.py"
    path.write_text(HEAD + textwrap.dedent(code), "utf-8")
    source = read_source(path, "example.py", None)
    assert isinstance(source, SourceFile)
    tree = parse_source(source)
    assert isinstance(tree, ast.Module)
    project = Project({"example.py": summarize(FileIndex(tree))})
    file = File(source, "example.py", FileIndex(tree), project, Target.KERAS3)
    return {
        str(call.literal("label", 0)): call.is_tensor(call.value("value", 1)).value
        for call in file.calls
        if call.path == "probe"
    }


def body(code: str, folder: Path, parameters: str = "x") -> str:
    """What is known of ``value`` after `code`, the body of a function."""
    text = f"def f({parameters}):\n{textwrap.indent(textwrap.dedent(code), '    ')}\n    probe('it', value)\n"
    return known(text, folder)["it"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tf.reduce_sum(x)", Known.TENSOR),
        ("tf.nn.relu(x)[0]", Known.TENSOR),
        ("1 + 2 * tf.size(x)", Known.TENSOR),
        ("-tf.size(x)", Known.TENSOR),
        ("tf.size(x) > 1", Known.TENSOR),
        ("tf.constant(1) if x else tf.constant(2)", Known.TENSOR),
        ("tf.Variable(1.0)", Known.VARIABLE),
        ("tf.Variable(1.0) * 2", Known.TENSOR),
        ("tf.Variable(1.0).read_value()", Known.TENSOR),
        ("tf.keras.layers.Dense(1)(x)", Known.TENSOR),
        ("tf.nn.relu(x).shape", Known.OTHER),
        ("tf.nn.relu(x).shape[0]", Known.OTHER),
        ("tf.nn.relu(x).get_shape()", Known.OTHER),
        ("'loss %s' % tf.size(x)", Known.OTHER),
        ("'loss {}'.format(tf.size(x))", Known.OTHER),
        ("f'{tf.size(x)}'", Known.OTHER),
        ("tf.size(x) is None", Known.OTHER),
        ("x in tf.range(3)", Known.OTHER),
        ("len(tf.range(3))", Known.OTHER),
        ("1 + 2", Known.OTHER),
        ("lambda: tf.size(x)", Known.OTHER),
        ("x", Known.UNKNOWN),
        ("x + 1", Known.UNKNOWN),
        ("tf.size(x) if x else 1", Known.POSSIBLE),
        ("tf.nn.relu(x).values", Known.TENSOR),
        ("tf.split(x, 2)", Known.TENSOR),
        ("tf.nn.moments(x, 0)", Known.TENSOR),
        ("tf.cond(x, f, f)", Known.LIKELY),
        ("tf.get_static_value(x)", Known.UNKNOWN),
        ("tf.keras.backend.int_shape(x)", Known.UNKNOWN),
        ("tf.keras.layers.LSTM(1, return_state=True)(x)", Known.TENSOR),
        ("tf.zeros_initializer()", Known.UNKNOWN),
        ("tf.function(f)", Known.UNKNOWN),
        ("tf.data.Dataset.range(3)", Known.UNKNOWN),
        ("np.zeros(3)", Known.UNKNOWN),
    ],
)
def test_an_expression(expression: str, expected: Known, tmp_path: Path) -> None:
    assert body(f"value = {expression}", tmp_path) == expected.value


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("value = 1\nvalue = tf.size(x)", Known.TENSOR),
        ("value = tf.size(x)\nvalue = 1", Known.OTHER),
        ("value = 1\nif x:\n    value = tf.size(x)", Known.POSSIBLE),
        ("if x:\n    value = tf.size(x)\nelse:\n    value = tf.rank(x)", Known.TENSOR),
        ("if x:\n    value = tf.size(x)\nelse:\n    value = 1", Known.POSSIBLE),
        ("value = tf.zeros([])\nfor i in range(3):\n    value = value + i", Known.TENSOR),
        ("value = 0.0\nfor i in range(3):\n    value += tf.size(x)", Known.TENSOR),
        ("x = tf.nn.relu(x)\nvalue = x", Known.TENSOR),
        ("x = tf.nn.relu(x)\nx = x.shape\nvalue = x[0]", Known.OTHER),
        ("value, other = tf.split(x, 2)", Known.TENSOR),
        ("value, other = tf.nn.moments(x, 0)", Known.TENSOR),
        ("value, other = unknown(x)", Known.UNKNOWN),
        ("value = other = tf.size(x)", Known.TENSOR),
        ("with tf.GradientTape() as value:\n    pass", Known.UNKNOWN),
        ("try:\n    value = tf.size(x)\nexcept ValueError:\n    value = 1", Known.POSSIBLE),
        ("value = 1\nvalue += tf.size(x)", Known.TENSOR),
        ("for value in tf.range(3):\n    pass", Known.TENSOR),
        ("for value in range(3):\n    pass", Known.OTHER),
        ("if (value := tf.size(x)) is not None:\n    pass", Known.TENSOR),
    ],
)
def test_the_last_assignment_counts(code: str, expected: Known, tmp_path: Path) -> None:
    assert body(code, tmp_path) == expected.value


def test_in_a_loop_the_iteration_before_counts_too(tmp_path: Path) -> None:
    found = known(
        """
        def f(x):
            state = 0
            for i in range(3):
                probe("before", state)
                state = tf.size(x)
                probe("after", state)
        """,
        tmp_path,
    )

    assert {"before": "tensor", "after": "tensor"} == found


def test_only_the_arm_that_runs_counts(tmp_path: Path) -> None:
    found = known(
        """
        def f(x, flag):
            if flag:
                n = tf.size(x)
            else:
                n = 3
                probe("else", n)
            if flag:
                return None
            m = [tf.size(y) for y in x]
            probe("list", m)
            probe("item", [probe("inner", k) for k in tf.range(3)])
        """,
        tmp_path,
    )

    assert {"else": "other", "list": "tensor", "item": "likely", "inner": "tensor"} == found


def test_parameters_that_keras_and_tf_data_fill(tmp_path: Path) -> None:
    found = known(
        """
        class Net(tf.keras.layers.Layer):
            def call(self, inputs, training=None):
                probe("inputs", inputs)
                probe("item", inputs["x"])
                probe("training", training)
                for key in inputs:
                    probe("key", key)

        def parse(x, size=3):
            probe("element", x)
            probe("size", size)
            return helper(x, 1)

        def helper(x, n):
            probe("helper", n)
            return x

        data = tf.data.Dataset.range(3).map(parse)

        def loss(y_true, y_pred):
            probe("loss", y_pred)
            return y_pred

        tf.keras.Sequential([]).compile(loss=loss)

        @tf.function(input_signature=[tf.TensorSpec([])])
        def signed(x):
            probe("signed", x)

        @tf.function
        def free(x, y: tf.Tensor, n: int):
            probe("free", x)
            probe("annotated", y)
            probe("number", n)
        """,
        tmp_path,
    )

    tensors = {"inputs", "item", "element", "loss", "signed", "annotated"}
    assert tensors == {label for label, value in found.items() if value == "tensor"}
    assert {"number", "helper"} == {k for k, value in found.items() if value == "other"}
    assert {"training", "key", "size"} == {k for k, value in found.items() if value == "unknown"}
    assert "possible" == found["free"]


def test_what_was_made_elsewhere_may_be_eager(tmp_path: Path) -> None:
    found = known(
        """
        SCALE = tf.constant(2.0)

        class Net(tf.keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.table = tf.range(3)
                self.v = tf.Variable(1.0)
                self.w = self.add_weight(shape=())

            def call(self, x):
                hidden = tf.nn.relu(x)

                def inner():
                    probe("free", hidden)

                probe("global", SCALE)
                probe("attribute", self.table)
                probe("variable", self.v)
                probe("weight", self.w)
                return inner()
        """,
        tmp_path,
    )

    assert {
        "free": "tensor",
        "global": "unknown",
        "attribute": "unknown",
        "variable": "variable",
        "weight": "variable",
    } == found


def test_a_sum_of_a_thousand_terms_is_no_deep_recursion(tmp_path: Path) -> None:
    assert body(f"value = x{' + x' * 1000} + tf.size(x)", tmp_path) == "tensor"
