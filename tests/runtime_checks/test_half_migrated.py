"""Networks of TF1 that are partly moved: whole, or raising at each call, what is true of them stays true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config
from migrate_lint.runtime_checks.locate import locate
from migrate_lint.runtime_checks.protocol import job

from ..interpreters import Children
from . import probe_pages

pytestmark = pytest.mark.tensorflow

HEAD = """\
import tensorflow as tf

v1 = tf.compat.v1
"""
STATES = {
    "whole": "",
    "a name that is missing": "        missing_helper(1)\n",
    "a name of TF1": "        tf.contrib.layers.flatten(1)\n",
}
"""What stands in the place of ``@BREAK@``."""
NETWORKS = {
    "lenet": """
class LeNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv1 = tf.keras.layers.Conv2D(6, 5, activation="relu", padding="same")
        self.conv2 = tf.keras.layers.Conv2D(16, 5, activation="relu")

    def call(self, x):
        x = tf.nn.max_pool2d(self.conv1(x), 2, 2, "VALID")
        x = tf.nn.max_pool2d(self.conv2(x), 2, 2, "VALID")
        x = tf.reshape(x, [tf.shape(x)[0], 16 * 5 * 5])
        w = tf.Variable(tf.random.normal([400, 10]), name="w")  # true TF101
        b = tf.Variable(tf.zeros([10]), name="b")  # true TF101
        @BREAK@
        return tf.matmul(x, w) + b


def build():
    return LeNet(), tf.ones((2, 28, 28, 1))
""",
    "mlp": """
def dense(x, units, activation=None):
    layer = tf.keras.layers.Dense(units, activation=activation)  # true TF102
    return layer(x)


class MLP(tf.keras.Model):
    def call(self, x):
        h = dense(x, 32, "relu")
        h = dense(h, 16, "relu")
        @BREAK@
        return dense(h, 3)


def build():
    return MLP(), tf.ones((2, 8))
""",
    "resblock": """
class Block(tf.keras.layers.Layer):
    def __init__(self, filters):
        super().__init__()
        self.filters = filters
        self.conv = tf.keras.layers.Conv2D(filters, 3, padding="same")

    def call(self, x):
        y = self.conv(x)
        y = tf.keras.layers.BatchNormalization()(y)  # true TF102
        @BREAK@
        return tf.nn.relu(y + x)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = Block(4)
        self.second = Block(4)

    def call(self, x):
        return tf.reduce_mean(self.second(self.first(x)), [1, 2])


def build():
    return Net(), tf.ones((2, 8, 8, 4))
""",
    "embedding": """
class TextNet(tf.keras.Model):
    def __init__(self, vocabulary=20, size=8):
        super().__init__()
        self.vocabulary, self.size = vocabulary, size

    def call(self, ids):
        table = tf.Variable(tf.random.uniform([self.vocabulary, self.size], -1.0, 1.0))  # true TF101
        x = tf.nn.embedding_lookup(table, ids)
        @BREAK@
        return tf.reduce_mean(x, 1)


def build():
    return TextNet(), tf.constant([[1, 2, 3], [4, 5, 6]])
""",
    "rnn": """
class Recurrent(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.out = tf.keras.layers.Dense(2)

    def call(self, x):
        cell = tf.keras.layers.LSTMCell(8)  # true TF102
        states = [tf.zeros([tf.shape(x)[0], 8]), tf.zeros([tf.shape(x)[0], 8])]
        for step in range(3):
            y, states = cell(x[:, step], states)
        @BREAK@
        return self.out(y)


def build():
    return Recurrent(), tf.ones((2, 3, 4))
""",
    "module": """
class Linear(tf.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def __call__(self, x):
        w = tf.Variable(tf.ones([int(x.shape[-1]), self.size]))  # true TF101
        @BREAK@
        return tf.matmul(x, w)


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Linear(4), Linear(2)]

    def __call__(self, x):
        for layer in self.layers:
            x = tf.nn.relu(layer(x))
        return x


def build():
    return Net(), tf.ones((2, 3))
""",
    "attention": """
class Attention(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.q = tf.keras.layers.Dense(units)
        self.k = tf.keras.layers.Dense(units)

    def call(self, x):
        scores = tf.matmul(self.q(x), self.k(x), transpose_b=True)
        bias = self.add_weight(name="bias", shape=(), initializer="zeros")  # true TF114
        @BREAK@
        return tf.matmul(tf.nn.softmax(scores + bias), x)


def build():
    return Attention(4), tf.ones((2, 3, 4))
""",
    "autoencoder": """
class Auto(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(2)])

    def decode(self, z):
        decoder = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(8)])  # true TF102
        return decoder(z)

    def call(self, x):
        z = self.encoder(x)
        z = z + tf.Variable(0.1)  # true TF101
        y = self.decode(z)
        @BREAK@
        return y


def build():
    return Auto(), tf.ones((2, 8))
""",
    "unet": """
def conv(x, filters):
    kernel = tf.Variable(tf.random.normal([3, 3, int(x.shape[-1]), filters]))  # true TF101
    return tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))


class UNet(tf.keras.Model):
    def call(self, x):
        down = conv(x, 4)
        middle = conv(tf.nn.max_pool2d(down, 2, 2, "SAME"), 8)
        up = tf.image.resize(middle, [8, 8])
        @BREAK@
        return conv(tf.concat([up, down], -1), 1)


def build():
    return UNet(), tf.ones((2, 8, 8, 3))
""",
    "two heads": """
class Heads(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.layers.Dense(8)

    def call(self, x, training=None):
        h = self.body(x)
        scale = tf.Variable(1.0)  # true TF101
        value = tf.keras.layers.Dense(1)(h)  # true TF102
        @BREAK@
        return {"policy": tf.nn.softmax(h * scale), "value": value}


def build():
    return Heads(), tf.ones((2, 4))
""",
    "slim": """
import tf_slim as slim


def net(x, scope=None):
    with v1.variable_scope(scope, "Net", [x]):  # true TF110
        x = slim.conv2d(x, 4, 3, scope="conv1")
        x = slim.conv2d(x, 4, 3, scope="conv2")
        @BREAK@
        return slim.fully_connected(tf.reduce_mean(x, [1, 2]), 3, scope="logits")


class Net(tf.keras.Model):
    @v1.keras.utils.track_tf1_style_variables
    def call(self, x):
        return net(x)


def build():
    return Net(), tf.ones((2, 8, 8, 3))
""",
    "layers": """
class Net(tf.keras.Model):
    @v1.keras.utils.track_tf1_style_variables
    def call(self, x):
        x = v1.layers.dense(x, 8, activation=tf.nn.relu)  # true TF103
        x = v1.layers.dense(x, 8, name="second")
        @BREAK@
        return v1.layers.dense(x, 3)  # true TF103


def build():
    return Net(), tf.ones((2, 4))
""",
    "bert": """
def norm(x):
    with v1.variable_scope("LayerNorm"):
        g = v1.get_variable("gamma", [x.shape[-1]], initializer=v1.ones_initializer())
        b = v1.get_variable("beta", [x.shape[-1]], initializer=v1.zeros_initializer())
    return x * g + b


class Encoder:
    def __init__(self, ids, scope=None):
        with v1.variable_scope(scope, default_name="bert"):  # true TF110
            with v1.variable_scope("embeddings"):
                table = v1.get_variable("word_embeddings", [10, 8])
                x = norm(tf.gather(table, ids))
            with v1.variable_scope("encoder"):
                x = v1.layers.dense(x, 8, name="output")
                @BREAK@
                self.out = norm(x)


class Net(tf.keras.layers.Layer):
    @v1.keras.utils.track_tf1_style_variables
    def call(self, x):
        return Encoder(x).out


def build():
    return Net(), tf.constant([[1, 2], [3, 4]])
""",
    "mixed": """
def head(h):
    w = v1.get_variable("head", [8, 2])
    return tf.matmul(h, w)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.layers.Dense(8)

    @v1.keras.utils.track_tf1_style_variables
    def call(self, x):
        h = self.body(x)
        gate = tf.Variable(0.5)  # true TF101
        extra = tf.keras.layers.Dense(8)(h)  # true TF102
        @BREAK@
        return head(h * gate + extra)


def build():
    return Net(), tf.ones((2, 4))
""",
    "highway": """
def gate(x, size):
    w = tf.Variable(tf.random.truncated_normal([size, size], stddev=0.1))  # true TF101
    b = tf.Variable(-1.0 * tf.ones([size]))  # true TF101
    return tf.sigmoid(tf.matmul(x, w) + b)


class Highway(tf.keras.Model):
    def __init__(self, size=6):
        super().__init__()
        self.size = size
        self.hidden = [tf.keras.layers.Dense(size, activation="tanh") for _ in range(2)]

    def call(self, x):
        for layer in self.hidden:
            t = gate(x, self.size)
            @BREAK@
            x = layer(x) * t + x * (1.0 - t)
        return x


def build():
    return Highway(), tf.ones((2, 6))
""",
    "seq2seq": """
class Decoder(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.cell = tf.keras.layers.GRUCell(units)

    def call(self, state, steps=2):
        outputs = []
        y = tf.zeros_like(state)
        for _ in range(steps):
            y, state = self.cell(y, state)
            projection = tf.keras.layers.Dense(5)  # true TF102
            outputs.append(projection(y))
        @BREAK@
        return tf.stack(outputs, 1)


class Seq2Seq(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(10, 4)
        self.decode = Decoder(4)

    def call(self, ids):
        return self.decode(tf.reduce_mean(self.embed(ids), 1))


def build():
    return Seq2Seq(), tf.constant([[1, 2, 3], [4, 5, 6]])
""",
}
"""A comment says the code of what is true; v1 layers and scopes are there below the shim, which only Keras 2 has."""
MODELS = [
    pytest.param(target, network, state, id=f"{network}, {state} on {target}")
    for network, text in NETWORKS.items()
    for state in STATES
    for target in Target
    if target is Target.KERAS2 or "track_tf1_style_variables" not in text
]


def written(network: str, state: str) -> str:
    text = re.sub(r"( *)@BREAK@\n", lambda found: STATES[state].replace("        ", found[1]), NETWORKS[network])
    return HEAD + text


def starts(line: str) -> bool:
    """Whether a function begins here."""
    return line.strip().startswith("def ")


def ran(folder: Path, target: Target, text: str, children: Children) -> tuple[list[Any], dict[str, Any]]:
    """The findings, and what the worker said."""
    path = folder / "network.py"
    path.write_text(text, "utf-8")
    (folder / "pyproject.toml").write_text("", "utf-8")
    found = lint([str(folder)], Config(base=str(folder), target=target)).findings
    work = job(
        target=target,
        device=None,
        located=locate(f"{path}:build", str(folder)),
        shapes=(),
        dtypes=(),
        roots=[str(folder)],
        memory_limit=None,
        findings=[(number, str(path), one) for number, one in enumerate(found)],
    )
    return list(found), dict(children.call(target, probe_pages.run, work))


@pytest.mark.parametrize(("target", "network", "state"), MODELS)
def test_what_is_true_is_confirmed(
    target: Target, network: str, state: str, children: Children, tmp_path: Path
) -> None:
    """Once for each cause, wherever the calls come before they raise; and that none came to its end is told."""
    text = written(network, state)
    lines = text.split("\n")
    broken = next((number for number, line in enumerate(lines, 1) if line.strip() == STATES[state].strip() != ""), None)
    true = {(number, line.rpartition(" ")[2]) for number, line in enumerate(lines, 1) if "# true " in line}
    found, said = ran(tmp_path, target, text, children)
    verdicts = {(one.line, one.code): said["judgements"][str(number)][0] for number, one in enumerate(found)}

    assert true <= set(verdicts)
    for line, code in true:
        behind = broken is not None and broken < line and not any(map(starts, lines[broken:line]))
        assert ("failed" if behind else "confirmed") == verdicts[line, code], (line, code)
    again = [one["message"] for one in said["observations"] if one["kind"] in ("created again", "created in a scope")]
    assert [] == again
    assert (state == "whole" or said["fatal"] is not None) and "refuted" not in {verdicts[one] for one in true}
