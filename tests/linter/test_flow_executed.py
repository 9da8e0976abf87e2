"""What the flow says of generated programs, compared with what TensorFlow has there: sources of values, times ways."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent, indent

import pytest
from migrate_lint.linter.rule_api.model import Known

from .analysis import file_of

HEAD = """
import collections
import contextlib
import math
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
inputs = tf.keras.Input((3,))
functional = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(inputs))
layer = tf.keras.layers.Dense(2)
loss_object = tf.keras.losses.MeanSquaredError()
mean = tf.keras.metrics.Mean()
optimizer = tf.keras.optimizers.SGD(0.1)
schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
generator = tf.random.Generator.from_seed(1)
dataset = tf.data.Dataset.from_tensors((tf.ones((2, 3)), tf.ones((2, 3))))
variable = tf.Variable([1.0, 2.0])
EAGER = tf.constant([1.0, 2.0, 3.0])
SIZES = [2, 3]
FLAG = True


class Config:
    rate = 0.5


config = Config()


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.dense(x)

    def halves(self, x):
        return x / 2, x.shape


net = Net()


class Own(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        return tf.reduce_mean(y_true - y_pred, axis=-1)


own = Own()


class Box:
    size = 3

    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
        self.loss = tf.keras.losses.MeanAbsoluteError()
        self.value = None

    def same(self, value):
        return value

    def __call__(self, value):
        return value


box = Box()


def same(value, other=1):
    return value


def pair(value):
    return 1, value


def named(value):
    return {"value": value, "size": 3}


def chosen(value):
    if FLAG:
        return value
    return value


def later(value):
    return same(value)


@tf.function
def doubled(value):
    return value * 2


def size_of(value):
    return value.shape[-1]


def squares(value):
    total = 0.0
    for part in tf.unstack(value):
        total = total + part * part
    return total


for made in (model, functional, layer, net, box.model):
    made(tf.ones((2, 3)))
"""

SOURCES = """
tf.reduce_sum(x)
tf.split(x, 1)
tf.unstack(x)
tf.shape(x)
tf.shape(x)[0]
tf.nn.moments(x, [0])
tf.nn.top_k(x).values
tf.map_fn(lambda row: row * 2, x)
tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
tf.py_function(lambda value: value, [x], tf.float32)
tf.cond(tf.size(x) > 3, lambda: 1, lambda: 2)
tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.float32)
tf.constant(1.0)
tf.zeros((2, 3))
tf.range(3)
x
x + 1
-x
x > 1
x[0]
x[:, 0] * 2.0
y
EAGER + 1
EAGER * x
variable * 2
variable
variable.read_value()
model(x)
functional(x)
functional([x])
layer(x)
net(x)
net.dense(x)
net.call(x)
net.halves(x)[0]
net.halves(x)[1]
loss_object(y, x)
own(y, x)
tf.keras.losses.mse(y, x)
mean(x)
mean.result()
optimizer.learning_rate
optimizer.iterations
schedule(3)
generator.normal((2,))
model.trainable_variables
model.losses
tf.keras.initializers.Zeros()((2,))
tf.keras.layers.ReLU()(x)
tf.keras.activations.relu(x)
box.model(x)
box.loss(y, x)
box(x)
box.same(x)
same(x)
same(value=x)
pair(x)[1]
pair(x)[0]
named(x)["value"]
named(x)["size"]
chosen(x)
later(x)
doubled(3)
squares(x)
size_of(x)
(lambda value: value * 2)(x)
tf.TensorArray(tf.float32, 1).write(0, x).stack()
tf.nest.flatten([x, y])
tf.linalg.norm(x)
tf.debugging.check_numerics(x, "bad")
tf.function(lambda value: value * 2)(x)
float(x[0, 0])
int(x[0, 0])
abs(x)
sum([x, y])
sum(part for part in [x, y])
next(iter(dataset))
x.shape
x.shape[0]
x.get_shape().as_list()
x.dtype
x.dtype.name
len(x.shape)
np.prod(x.shape)
np.float32(1)
np.zeros(3)
math.sqrt(2.0)
1.5
"text"
"%s" % x
"{}".format(x)
str(x)
None
True
SIZES
SIZES[0]
len(SIZES)
FLAG
config.rate
Box.size
box.size
isinstance(x, tf.Tensor)
x is None
y == None
tf.executing_eagerly()
tf.get_static_value(x)
tf.keras.backend.epsilon()
tf.keras.backend.int_shape(x)
tf.float32
tf.TensorShape([2])
same(3)
same(SIZES)
pair(2)[1]
range(3)
list(range(3))
[1, 2]
{"a": 1}
collections.OrderedDict(a=1)
tf.name_scope("a")
type(x)
id(x) > 0
model.name
loss_object
""".strip().split("\n")

WAYS = """
v = (E)
---
v, other = (E), 1
---
first, (v, second) = 1, ((E), 2)
---
*rest, v = 1, (E)
---
values = [(E), 1]
v = values[0]
---
values = (1, (E))
v = values[-1]
---
v = [(E)]
---
v = {"a": (E)}
---
values = {"a": (E), "b": 1}
v = values["a"]
---
values = dict(a=(E))
v = values["a"]
---
values = {}
values["a"] = (E)
v = values["a"]
---
for key, v in {"a": (E)}.items():
    pass
---
for v in {"a": (E)}.values():
    pass
---
v = []
v.append((E))
---
values = []
for number in range(2):
    values.append((E))
v = values[1]
---
values = []
values.extend([(E)])
v = values[0]
---
v = [value for value in [(E)]]
---
v = {key: value for key, value in [("a", (E))]}
---
for v, number in zip([(E)], [1]):
    pass
---
for number, v in enumerate([(E)]):
    pass
---
v = (E) if FLAG else (E)
---
if FLAG:
    v = (E)
else:
    v = (E)
---
v = 1
if FLAG:
    v = (E)
---
try:
    v = (E)
except KeyError:
    v = None
---
if (v := (E)) is not v:
    pass
---
v = same((E))
---
v = same(other=2, value=(E))
---
ignored, v = pair((E))
---
v = named((E))["value"]
---
v = later((E))
---
v = box.same((E))
---
v = (lambda value: value)((E))
---
def inner(value):
    return value
v = inner((E))
---
kept = (E)
def inner():
    return kept
v = inner()
---
box.value = (E)
v = box.value
---
global stored
stored = (E)
v = stored
---
with contextlib.nullcontext((E)) as v:
    pass
---
v = list([(E)])[0]
---
v = [*[(E)], 1][0]
---
v = 1
v = (E)
---
v = w = (E)
---
v: object = (E)
---
v = None
for number in range(2):
    v = (E)
---
match [(E)]:
    case [v]:
        pass
---
v = (E) or (E)
---
v = f'{(E)}'
---
v = (E) is None
""".strip().split("\n---\n")

PROVEN = {Known.TENSOR: "tensor", Known.VARIABLE: "variable", Known.OTHER: "plain"}
"""What a value is of which that is known."""

EACH = 4
"""Ways that each source is tried by."""

RUN = """
import json, sys
SEEN = {}

def probe(label, value):
    leaves = [leaf for leaf in tf.nest.flatten(value, expand_composites=True) if leaf is not None]
    symbols = [tf.is_tensor(leaf) and not hasattr(leaf, "numpy") for leaf in leaves]
    if leaves and all(hasattr(leaf, "assign_add") for leaf in leaves):
        SEEN[label] = "variable"
    else:
        SEEN[label] = "tensor" if leaves and all(symbols) else "mixed" if any(symbols) else "plain"
"""
CALLS = """
for name in [name for name in list(globals()) if name.startswith("program_")]:
    try:
        globals()[name].get_concrete_function(tf.TensorSpec((2, 3)), tf.TensorSpec((2, 3)))
    except Exception as error:
        SEEN.setdefault(name[8:], f"failed: {type(error).__name__}: {error}"[:300])
json.dump(SEEN, open(sys.argv[1], "w"))
"""


def programs() -> str:
    """Every source by some of the ways, each in a function of its own; every way comes to some thirty sources."""
    found = [HEAD]
    for number, source in enumerate(SOURCES):
        for place in sorted({0, *((number * 5 + step * 7) % len(WAYS) for step in range(EACH))}):
            label = f"{number}_{place}"
            body = WAYS[place].replace("(E)", f"({source})")
            found.append(
                f"@tf.function\ndef program_{label}(x: tf.Tensor, y: tf.Tensor):\n"
                f"{indent(body, '    ')}\n    probe('{label}', v)\n"
            )
    return "\n".join(found)


def described(label: str) -> str:
    """The program of a label, in a line."""
    number, place = map(int, label.split("_"))
    return f"{SOURCES[number]}  by  {WAYS[place]!r}"


@pytest.mark.tensorflow
@pytest.mark.longest
@pytest.mark.parametrize("legacy", ["1", "0"], ids=["keras2", "keras3"])
def test_what_flow_says_is_so(legacy: str, tmp_path: Path) -> None:
    """A tensor is one in the trace, what is no tensor is none, and most tensors are known."""
    text = programs()
    script, answers = tmp_path / "programs.py", tmp_path / "seen.json"
    script.write_text(dedent(RUN) + text + CALLS, "utf-8")
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": legacy, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, str(script), str(answers)], env=environment, capture_output=True, text=True, check=False
    )
    assert answers.exists(), done.stderr[-2000:]
    seen = json.loads(answers.read_text("utf-8"))

    file = file_of({"example.py": text})
    wrong: list[str] = []
    counts: Counter[tuple[str, str]] = Counter()
    for call in file.calls:
        if call.path != "probe":
            continue
        label = str(call.literal("label", 0))
        is_value = seen.get(label, "failed")
        if is_value.startswith("failed"):
            counts["failed", ""] += 1
            continue
        known = call.is_tensor(call.value("value", 1))
        counts[is_value, known.value] += 1
        if PROVEN.get(known, is_value) != is_value:
            wrong.append(f"{known.value}, but {is_value}: {described(label)}")
    tensors = sum(count for (is_value, _), count in counts.items() if is_value == "tensor")
    told = counts["tensor", "tensor"] + counts["tensor", "likely"]
    print(*sorted(counts.items()), sep="\n")

    assert [] == wrong
    assert counts["failed", ""] == 0
    assert counts["plain", "likely"] == 0
    assert told > 0.9 * tensors
