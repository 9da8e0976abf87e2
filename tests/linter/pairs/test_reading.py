"""What is read of a TF1 program: nothing is imported, and nothing is passed over in silence."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.linter.pairs.found import Found, Given, Missing
from migrate_lint.linter.pairs.reading import NotReadError, read_tf1, read_tf2_side
from migrate_lint.linter.pairs.writing import written
from migrate_lint.runtime_checks.unfilled import unfilled_in

SCRIPT = """\
import tensorflow as tf
from tensorflow import placeholder as hole

x = hole(tf.float32, [None, 4 * 3], name="images")
y = tf.placeholder("int64", shape=(None,))
keep = tf.placeholder(tf.float32)
h = tf.layers.dense(x, 8, activation=tf.nn.relu)
h = tf.nn.dropout(h, keep)
h = tf.layers.dense(h, 5)
cost = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h))
step = tf.train.AdamOptimizer(0.1).minimize(cost)
sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
for i in range(10):
    _, c = sess.run([step, cost], feed_dict={x: data(), y: targets(), keep: 0.5})
print(h.eval(feed_dict={x: data(), keep: 1.0}))
"""
NET = """\
import tensorflow.compat.v1 as v1


class Base:
    def make_inputs(self):
        self.x = v1.placeholder(v1.float32, [None, self.width])
        self.labels = v1.placeholder(v1.float32, [None, 2])


class Net(Base):
    def __init__(self, flags, width=6):
        self.width = width
        self.make_inputs()
        self.scores = self._network()
        self._train(flags.rate)

    def _network(self):
        scores = v1.layers.dense(self.x, 2)
        return scores

    def _train(self, rate):
        error = v1.losses.mean_squared_error(self.labels, self.scores)
        self.cost = error
        optimizer = v1.train.GradientDescentOptimizer(rate)
        self.update = optimizer.apply_gradients(optimizer.compute_gradients(self.cost))

    def feed(self, xs, ys):
        return {self.x: xs, self.labels: ys}
"""
MAIN = """\
from absl import app, flags
import tensorflow.compat.v1 as v1
import net

flags.DEFINE_float("rate", 0.1, "")


def fit(session, model):
    session.run(v1.global_variables_initializer())
    feed = model.feed(1, 2)
    session.run(model.update, feed)


def main(_):
    made = net.Net(flags.FLAGS)
    with v1.Session() as session:
        fit(session, made)


if __name__ == "__main__":
    app.run(main)
"""
RETURNED = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--hidden-size", type=int, default=7)
args = parser.parse_args()


def build(size):
    a = tf.placeholder(tf.float32, [None, size])
    w = tf.get_variable("w", [size, 3])
    out = tf.matmul(a, w)
    loss = tf.reduce_mean(tf.square(out - a))
    return a, out, loss


def train():
    inputs, result, loss = build(args.hidden_size)
    train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    feed = {}
    feed[inputs] = batch()
    with tf.train.MonitoredTrainingSession() as sess:
        sess.run(train_op, feed_dict=feed)


train()
"""
GAN = """\
import tensorflow as tf

z = tf.placeholder(tf.float32, [None, 2])
real = tf.placeholder(tf.float32, [None, 3])
fake = tf.layers.dense(z, 3)
d_loss = tf.reduce_mean(tf.layers.dense(real, 1)) - tf.reduce_mean(tf.layers.dense(fake, 1))
g_loss = tf.reduce_mean(fake)
d_step = tf.train.AdamOptimizer().minimize(-d_loss)
g_step = tf.train.AdamOptimizer().minimize(g_loss)
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    s.run(g_step, {z: noise()})
    s.run(d_step, dict({z: noise(), real: batch()}))
"""
REUSED = """\
import tensorflow as tf


def linear(value, size, name):
    with tf.variable_scope(name):
        return tf.matmul(value, tf.get_variable("w", [value.shape[1], size]))


class Gan:
    def critic(self, x, reuse=False):
        with tf.variable_scope("critic", reuse=reuse):
            score = linear(tf.maximum(x, 0.2 * x), 1, "score")
            return score, tf.nn.sigmoid(score)

    def generator(self, z, training=True, reuse=False):
        with tf.variable_scope("generator", reuse=reuse):
            z = tf.concat([z, z], 1)
            out = tf.layers.batch_normalization(linear(z, 3, "out"), training=training)
            return out

    def build(self):
        self.x = tf.placeholder(tf.float32, [8, 3])
        self.z = tf.placeholder(tf.float32, [8, 2])
        real, _ = self.critic(self.x)
        made = self.generator(self.z)
        fake, _ = self.critic(made, reuse=True)
        self.loss = tf.reduce_mean(fake) - tf.reduce_mean(real)
        self.step = tf.train.AdamOptimizer().minimize(self.loss)
        self.images = self.generator(self.z, training=False, reuse=True)

    def train(self, sess):
        sess.run(tf.global_variables_initializer())
        sess.run([self.step, self.loss], {self.x: batch(), self.z: noise()})
        return sess.run(self.images, {self.z: noise()})


with tf.Session() as session:
    gan = Gan()
    gan.build()
    gan.train(session)
"""
ESTIMATOR = """\
import tensorflow as tf


def model(features, labels, mode, params):
    net = tf.reshape(features["x"], [-1, 28, 28, 1])
    words = tf.nn.embedding_lookup(tf.get_variable("e", [50, 4]), features["words"])
    logits = tf.layers.dense(tf.layers.flatten(net), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits) + tf.reduce_sum(words)
    op = tf.train.AdamOptimizer(params["rate"]).minimize(loss)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)


settings = {"rate": 2 * 0.01, "name": given()}
tf.estimator.Estimator(model, params=settings)
"""
KERAS = """\
from keras.models import Sequential
from keras.layers import Dense, Dropout


def make(width=5):
    model = Sequential()
    model.add(Dense(width, input_dim=3))
    model.add(Dropout(0.5))
    model.add(Dense(4, activation="softmax"))
    model.compile("adam", loss="categorical_crossentropy")
    return model
"""


@pytest.fixture(autouse=True)
def _beside_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are told from there."""
    monkeypatch.chdir(tmp_path)


def read(folder: Path, text: str, name: str | None = None, **others: str) -> Found:
    for other, content in others.items():
        (folder / f"{other}.py").write_text(content, "utf-8")
    (folder / "train.py").write_text(text, "utf-8")
    return read_tf1(str(folder / "train.py"), name, Target.KERAS3)


def given(found: Found, name: str) -> Given:
    (one,) = [one for one in found.given if one.name == name]
    return one


def test_a_sparse_placeholder_by_its_other_name(tmp_path: Path) -> None:
    """The rules and the pair know the same makers of placeholders."""
    text = SCRIPT.replace("from tensorflow import placeholder as hole", "hole = tf.sparse.placeholder")
    text = text.replace("dense(x, 8", "dense(tf.sparse.to_dense(x), 8")

    found = read(tmp_path, text)
    x = given(found, "x")

    assert ("input", "float32", (None, 12)) == (x.role, x.dtype, x.shape)
    batch = 'to_fill("a tuple of the indices, values and shape of the sparse `x`, train.py:4")'
    assert batch in written(found, None, "", str(tmp_path / "pair.py"))


def test_a_script_is_read_through_its_aliases_and_its_sessions(tmp_path: Path) -> None:
    """Roles by what reaches the loss; names by what stands for a thing when the session begins."""
    found = read(tmp_path, SCRIPT)
    x, y, keep = (given(found, name) for name in ("x", "y", "keep"))

    assert ("session", "h", "cost", "step") == (found.kind, found.outputs, found.loss, found.train_op)
    assert ("input", "float32", (None, 12), "x") == (x.role, x.dtype, x.shape, x.reach)
    assert ("label", "int64", (None,), 5) == (y.role, y.dtype, y.shape, y.bound)
    assert ("setting", "0.5", "1.0") == (keep.role, keep.train, keep.evaluate)
    assert [] == found.not_understood


def test_a_class_of_another_file_is_read_through_methods_and_bases(tmp_path: Path) -> None:
    """``self.x`` is called as the function calls the object that is running when the session begins."""
    found = read(tmp_path, MAIN, net=NET)
    x, labels = given(found, "x"), given(found, "labels")

    assert ("made.scores", "made.cost", "made.update") == (found.outputs, found.loss, found.train_op)
    assert ("input", (None, 6), "made.x") == (x.role, x.shape, x.reach)
    assert [] == found.not_understood
    assert ("label", (None, 2), "made.labels") == (labels.role, labels.shape, labels.reach)


def test_a_class_that_is_named_is_made_by_the_pair(tmp_path: Path) -> None:
    """What its constructor has no default for is left to a person."""
    found = read(tmp_path, NET, "Net")

    assert (True, ["flags"], "model.scores") == (found.is_class, found.missing_arguments, found.outputs)


def test_what_a_function_returns_is_called_by_the_name_that_gets_it(tmp_path: Path) -> None:
    """Through a tuple, flags of argparse and a dict that is filled; a label that is the input is none."""
    found = read(tmp_path, RETURNED)

    assert ("result", "loss", "train_op") == (found.outputs, found.loss, found.train_op)
    assert [("inputs", "input", (None, 7))] == [(one.reach, one.role, one.shape) for one in found.given]


def test_what_is_named_again_later_is_not_taken_for_the_first(tmp_path: Path) -> None:
    """A name that stands for something else when the session begins does not reach what it was."""
    text = SCRIPT.replace("sess = tf", "h = tf.nn.softmax(h)\nsess = tf").replace("print(h.eval", "print(str")
    found = read(tmp_path, text)

    assert isinstance(found.outputs, Missing)
    assert "train.py:10" in found.outputs.what


def test_tensors_of_a_pipeline_are_fed_in_place_of_its_data(tmp_path: Path) -> None:
    """They are told as such; their shapes are left to fill in where nothing tells them."""
    text = """import tensorflow as tf

rows = tf.data.Dataset.from_tensor_slices(numbers()).batch(4)
iterator = rows.make_initializable_iterator()
x, y = iterator.get_next()
scores = tf.layers.dense(x, 7)
loss = tf.losses.sparse_softmax_cross_entropy(y, scores)
step = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as session:
    session.run([iterator.initializer, tf.global_variables_initializer()])
    session.run(step)
"""
    found = read(tmp_path, text)

    assert [("x", "input", None), ("y", "label", 7)] == sorted((one.reach, one.role, one.bound) for one in found.given)
    assert "scores" == found.outputs
    assert "train.py:5 of a pipeline, fed instead: `x`" in " ".join(found.told)


def test_a_rate_that_is_made_of_itself_is_a_setting_to_fill_in(tmp_path: Path) -> None:
    """Of what the training step alone needs; it is not followed round and round, however often it is lowered."""
    made = "lr = tf.placeholder(tf.float32)\nrate = 0.1\nstep = tf.train.AdamOptimizer(lr)"
    text = SCRIPT.replace("step = tf.train.AdamOptimizer(0.1)", made)
    text = text.replace("keep: 0.5}", "keep: 0.5, lr: rate}")
    loop = "".join(f"    if i == {at}:\n        rate = rate * 0.1\n" for at in range(12))
    lr = given(read(tmp_path, text.replace("for i in range(10):\n", f"for i in range(10):\n{loop}")), "lr")

    assert ("setting", None) == (lr.role, lr.shape)
    assert isinstance(lr.train, Missing)
    assert "feeds with `rate`" in lr.train.what


STATEFUL = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [4, 6, 3])
y = tf.placeholder(tf.float32, [4, 8])
seconds = tf.Variable(0.0, trainable=False)
rate = tf.Variable(0.0, trainable=False)
count = tf.Variable(0, trainable=False)
cell = tf.nn.rnn_cell.GRUCell(8)
begin = cell.zero_state(4, tf.float32)
out, end = tf.nn.dynamic_rnn(cell, x, initial_state=begin)
cost = tf.reduce_mean(tf.square(end - y))
grads, _ = tf.clip_by_global_norm(tf.gradients(cost, tf.trainable_variables()), 5.0)
step = tf.train.AdamOptimizer(rate).apply_gradients(zip(grads, tf.trainable_variables()))
lower = rate.assign(0.01)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    state = session.run(begin)
    for epoch in range(2):
        session.run(ASSIGNED)
        session.run(tf.assign(count, epoch))
        feeds = {x: data(), y: data(), begin: state, seconds: 1.0}
        _, state = session.run([step, end], feeds)
"""


@pytest.mark.parametrize(
    ("assigned", "told"),
    [
        ("lower", "0.01"),
        ("tf.assign(rate, 0.1 * 0.5 ** epoch)", "0.1 * 0.5 ** epoch"),
        ("[rate.assign(0.5), count]", "0.5"),
    ],
)
def test_what_a_session_sets_and_feeds_besides_is_no_secret(tmp_path: Path, assigned: str, told: str) -> None:
    """A rate that is assigned is fed, a state that is no placeholder told of; what nothing reads is left alone."""
    found = read(tmp_path, STATEFUL.replace("ASSIGNED", assigned))
    rate = given(found, "rate")
    text = written(found, None, "", str(tmp_path / "pair.py"))

    assert ["x", "y", "rate"] == [one.name for one in found.given]
    assert ("setting", "rate") == (rate.role, rate.reach)
    assert told in (rate.train.what if isinstance(rate.train, Missing) else str(rate.train))
    (fed,) = [one for one in found.not_understood if "begin" in one]
    assert "train.py:22 feeds `begin`, which is no placeholder, with `state`: the pair leaves it" in fed
    assert "    # train.py:22 feeds `begin`" in text
    ast.parse(text)


def test_steps_of_one_run_are_one_pair(tmp_path: Path) -> None:
    """As those of a generator and of what it is judged by; steps of two runs want two pairs."""
    step = "step = tf.train.AdamOptimizer(0.1).minimize(cost)\n"
    text = SCRIPT.replace(step, f"{step}more = tf.train.AdamOptimizer(0.2).minimize(2.0 * cost)\n")
    apart = text.replace("print(h", "sess.run(more, feed_dict={x: data(), y: targets(), keep: 0.5})\nprint(h")
    (told,) = read(tmp_path, text.replace("[step, cost]", "[step, more]")).not_understood
    (other,) = read(tmp_path, apart).not_understood

    assert "train.py:12 trains, too, in one run with line 11" in told
    assert 'tf.group(program["step"], program["more"]) for the step, and TF1 runs them in no order' in told
    assert "the pair has the step of line 11" in other


HELD = """class Held:
    def __init__(self):
        self.parts = []

    def put(self, x):
        self.parts.append(x)

held = Held()
held.put(h)
h = tf.concat(held.parts, 1)
"""


@pytest.mark.parametrize("kept", ["parts = []\nparts.append(h)\nh = tf.concat(parts, 1)\n", HELD])
def test_what_a_list_gets_is_followed(tmp_path: Path, kept: str) -> None:
    """By its methods, be it a name or an attribute."""
    found = read(tmp_path, SCRIPT.replace("h = tf.layers.dense(h, 5)\n", kept))

    assert {"x", "y", "keep"} == {one.name for one in found.given}
    assert "h" == found.outputs


def test_what_a_run_is_fed_that_initializes_is_no_setting_of_evaluation(tmp_path: Path) -> None:
    """The run that computes something tells it."""
    begun = "sess.run(tf.global_variables_initializer(), {keep: 0.7})"
    text = SCRIPT.replace("tf.global_variables_initializer().run()", begun)
    keep = given(read(tmp_path, text), "keep")

    assert ("0.5", "1.0") == (keep.train, keep.evaluate)


def test_a_placeholder_of_another_mode_is_left_out(tmp_path: Path) -> None:
    """A branch makes it in which the training step is not made; both are given to one network, by one name."""
    text = """\
import sys
import tensorflow as tf

def network(images):
    return tf.layers.dense(images, 3, name="net")

if sys.argv[1] == "train":
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.int64, [None])
    loss = tf.losses.sparse_softmax_cross_entropy(y, network(x))
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
elif sys.argv[1] == "eval":
    x = tf.placeholder(tf.float32, [None, 4])
    scores = network(x)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    if sys.argv[1] == "train":
        sess.run(step, {x: images(), y: targets()})
    else:
        sess.run(scores, {x: images()})
"""
    found = read(tmp_path, text)

    assert ["x", "y"] == sorted(one.name for one in found.given)
    assert any("is left out: where it is made, the training step is not" in one for one in found.told)


@pytest.mark.parametrize(
    "begun", ["feed(images, 0.5)", "feed(images, rate=0.5)", "{x: images, y: targets(), keep: 0.5}"]
)
@pytest.mark.parametrize("reset", ["feeds[keep] = 0.5", "feeds[keep] = rate", ""])
def test_what_a_dict_holds_where_training_runs(begun: str, reset: str, tmp_path: Path) -> None:
    """Other callers of what makes it give other values, and a branch before sets one for a run of its own."""
    loop = f"""rate = 0.5

def feed(images, rate):
    feeds = {{x: images, y: targets(), keep: rate}}
    return feeds

def evaluate():
    return sess.run(cost, feed(data(), 1.0))

def train(images):
    feeds = {begun}
    if images is not None:
        others = {begun}
        others[keep] = 1.0
        sess.run(cost, others)
    if images is None:
        {"feeds[keep] = 1.0" if reset else "pass"}
        sess.run(cost, feeds)
    {reset or "pass"}
    sess.run([step, cost], feeds)

train(data()); evaluate()
"""
    text = SCRIPT.replace(
        "for i in range(10):\n    _, c = sess.run([step, cost], feed_dict={x: data(), y: targets(), keep: 0.5})", loop
    )
    keep = given(read(tmp_path, text), "keep")

    assert "train(data())" in text
    assert ("0.5", "1.0") == (keep.train, keep.evaluate)


def test_what_a_run_feeds_as_training_does_is_no_setting_of_evaluation(tmp_path: Path) -> None:
    """A run reads the loss of its batch, fed as the training step was, before another evaluates."""
    text = SCRIPT.replace("print(h.eval", "sess.run(cost, {x: 1, y: 1, keep: 0.5}); print(h.eval")
    both = given(read(tmp_path, text), "keep")
    alone = given(read(tmp_path, text.replace("print(h.eval", "# ")), "keep")

    assert "keep: 0.5}); print(h.eval" in text
    assert [("0.5", "1.0")] * 2 == [(one.train, one.evaluate) for one in (both, alone)]


def test_what_the_training_step_runs_without_is_left_out(tmp_path: Path) -> None:
    """The layers that decode are called for another input as well, in a run of its own."""
    whole = SCRIPT.replace("h = tf.layers.dense(h, 5)\n", "h = decoder(h)\n").replace(
        "x = hole", "def decoder(h):\n    return tf.layers.dense(h, 5, name='last', reuse=tf.AUTO_REUSE)\n\n\nx = hole"
    )
    alone = "code = tf.placeholder(tf.float32, [None, 8])\nmade = decoder(code)\nsess = tf"
    whole = whole.replace("sess = tf", alone) + "sess.run(made, feed_dict={code: data()})\n"
    found = read(tmp_path, whole)
    unknown = read(tmp_path, whole.replace("keep: 0.5}", "keep: 0.5, **more}"))

    assert {"x", "y", "keep"} == {given.name for given in found.given}
    assert "`code` is left out: the training step runs without it" in " ".join(found.told)
    assert {"code", "x", "y", "keep"} == {given.name for given in unknown.given}


APART = """\
import tensorflow as tf


def generator(z):
    return tf.layers.dense(z, 5, name="g", reuse=tf.AUTO_REUSE)


x = tf.placeholder(tf.float32, [None, 5])
z = tf.placeholder(tf.float32, [None, 3])
shown = tf.placeholder(tf.float32, [4, 3])
cost = tf.reduce_mean(generator(z)) - tf.reduce_mean(x)
step = tf.train.AdamOptimizer(0.1).minimize(cost)
images = generator(shown)
with tf.Session() as sess:
    sess.run(step, feed_dict={x: rows(), z: noise()})
    sess.run(images, feed_dict={shown: noise()})
"""


def test_what_outputs_outside_of_training_are_made_of_is_not_left_out(tmp_path: Path) -> None:
    """The pair gives them in inference, where they get what the program feeds."""
    found = read(tmp_path, APART)

    assert (True, "images") == (found.apart, found.outputs)
    assert {"x", "z", "shown"} == {given.name for given in found.given}


def test_labels_of_unknown_width_are_shares(tmp_path: Path) -> None:
    """Of what a softmax is held against, whose rows have a sum of 1; the width is filled in once."""
    text = SCRIPT.replace('"int64", shape=(None,)', '"float", shape=(None, width())')
    text = text.replace("sparse_softmax", "softmax")
    made = written(read(tmp_path, text), None, "", str(tmp_path / "pair.py"))

    assert 1 == made.count("size 1 of y")
    assert "random.dirichlet(np.ones(to_fill(" in made


CHOSEN = """\
if kind() == "adam":
    opt = tf.train.AdamOptimizer(0.1)
else:
    opt = tf.train.GradientDescentOptimizer(0.1)
opt = tf.contrib.estimator.clip_gradients_by_norm(opt, 5.0)
pairs = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in opt.compute_gradients(cost)]
step = opt.apply_gradients(pairs)
"""
WRAPPED = "step = tf.contrib.opt.MovingAverageOptimizer(tf.train.AdamOptimizer(0.1)).minimize(cost)"


def test_each_optimizer_that_a_step_may_have_is_told(tmp_path: Path) -> None:
    """A program that chooses one by its settings trains by none of them for certain; one in another is no choice."""
    line = next(line for line in SCRIPT.splitlines() if "minimize" in line)
    chosen, wrapped = (read(tmp_path, SCRIPT.replace(line, one)).optimizer_text for one in (CHOSEN, WRAPPED))

    assert "train.py:12: tf.train.AdamOptimizer(0.1), or train.py:14: tf.train.GradientDescentOptimizer(0.1)" == chosen
    assert "train.py:11: tf.contrib.opt.MovingAverageOptimizer(tf.train.AdamOptimizer(0.1))" == wrapped


RECURRENT = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 9, 4])
lengths = tf.placeholder(tf.int64, [None])
doubled = tf.placeholder(tf.int32, [None])
many = lengths
outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), x, many, dtype=tf.float32)
mask = tf.sequence_mask(doubled // 2, 9)
cost = tf.reduce_mean(tf.boolean_mask(outputs, mask))
step = tf.train.AdamOptimizer(0.1).minimize(cost)
with tf.Session() as sess:
    sess.run(step, feed_dict={x: rows(), lengths: ends(), doubled: more()})
"""


def test_lengths_are_between_one_step_and_all(tmp_path: Path) -> None:
    """And the first row has all steps: with none or one a recurrent cell would hardly run. What is computed is not."""
    found = read(tmp_path, RECURRENT)
    made = written(found, None, "", str(tmp_path / "pair.py"))

    assert [True, False] == [given(found, name).is_length for name in ("lengths", "doubled")]
    assert 1 == made.count("np.r_[9, random.randint(1, 10, size=7)].astype(np.int64)")


def test_lengths_are_known_by_a_private_name_too(tmp_path: Path) -> None:
    """TensorFlow's own parameter says what they are, wherever the function is imported from."""
    text = RECURRENT.replace("tf.nn.dynamic_rnn(", "dynamic_rnn(").replace("x, many", "x, sequence_length=many")
    text = f"from tensorflow.python.ops.rnn import dynamic_rnn\n{text}"

    assert given(read(tmp_path, text), "lengths").is_length


def test_whole_numbers_of_which_nothing_is_known_are_told(tmp_path: Path) -> None:
    """A pair that feeds 0 and 1 trains two rows of a table, and passes."""
    text = SCRIPT.replace("placeholder as hole", "placeholder as hole, int32").replace(
        "x = hole(tf.float32", "x = hole(tf.int32"
    )
    known = text.replace("dense(x, 8", "dense(tf.one_hot(x, 9), 8")
    told = [read(tmp_path, one).not_understood for one in (text, known)]

    assert [["train.py:4 which numbers `x` may hold; 0 and 1 are taken"], []] == told


def test_a_file_that_runs_nothing_is_told(tmp_path: Path) -> None:
    """What it has is run by another file, which is to be named, or is its one class that trains."""
    text = SCRIPT.partition("sess =")[0]

    assert "train.py comes to no session when it is run" in " ".join(read(tmp_path, text).not_understood)
    assert "in the class Net" == read(tmp_path, NET).built
    told = read(tmp_path, "import net\n\nif name:\n    print(net.Net(name))\n", net=NET).not_understood
    assert "a class or function of it, such as net.py:Net" in " ".join(told)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("    sess.run(tf.get_variable('w').assign(data()))", True),
        ("    for one in tf.trainable_variables():\n        sess.run(tf.assign(one, data()))", True),
        ("    sess.run(count.assign(3))", False),
        ("    print(sess.run(cost, feed_dict={x: data(), y: targets(), keep: 1.0}))", False),
    ],
    ids=["looked up", "all of them", "of no output", "none"],
)
def test_weights_that_a_session_is_given_are_told(tmp_path: Path, line: str, told: bool) -> None:
    """The pair takes the program before its session begins, and sees nothing of them."""
    text = SCRIPT.replace("for i in", f"count = tf.Variable(0)\nif True:\n{line}\nfor i in")
    found = read(tmp_path, text)
    said = [one for one in found.not_understood if "gives weights their values in a session" in one]

    assert told == bool(said)
    pair = written(found, None, "", str(tmp_path / "pair.py"))
    assert told == ("# train.py:" in pair and "nothing is compared of what is loaded" in pair)


def test_of_several_classes_that_train_one_is_to_be_named(tmp_path: Path) -> None:
    """Where a script chooses between them as it runs, a pair of all their placeholders is of no use."""
    chosen = "import net\nimport other\n\nfor cls in [net.Net, other.Net]:\n    cls(word).fit()\n"
    with pytest.raises(NotReadError, match=r"which of 2 classes .* one, as in --tf1 net.py:Net or .* other.py:Net"):
        read(tmp_path, chosen, net=NET, other=NET)


OUTSIDE = NET.replace(
    """        self.make_inputs()
        self.scores = self._network()
        self._train(flags.rate)
""",
    """
    def build(self, rate=0.1):
        self.make_inputs()
        self.scores = self._network()
        self._train(rate)

    def fit(self, session):
        self.build()
        session.run(self.update)
""",
)


FIT = "self._train(1)\n        session.run"


@pytest.mark.parametrize(
    ("text", "builders"),
    [
        (NET, []),
        (OUTSIDE, [("build", [])]),
        (OUTSIDE.replace("rate=0.1", "rate, depth"), [("build", ["rate", "depth"])]),
        (OUTSIDE.replace("        self._train(rate)\n", ""), [("build", []), ("_train", ["rate"])]),
        (OUTSIDE.replace("self.width = width", "self.build()"), []),
        (OUTSIDE.replace("    def build(", "    @once\n    def build("), []),
        (OUTSIDE.replace("self._train(rate)", "").replace("session.run", FIT), [("build", []), ("_train", ["rate"])]),
    ],
    ids=["constructor", "one method", "parameters", "two methods", "from the constructor", "decorated", "session"],
)
def test_the_pair_calls_what_builds_outside_of_the_constructor(
    tmp_path: Path, text: str, builders: list[tuple[str, list[str]]]
) -> None:
    """Of methods that call each other the one that builds all of it, unless it runs a session."""
    found = read(tmp_path, text, "Net")

    assert builders == found.builders
    lines = written(found, None, "", str(tmp_path / "pair.py")).splitlines()
    assert len(builders) == sum(line.startswith("    model.") for line in lines)


def test_a_method_that_builds_and_runs_a_session_is_told(tmp_path: Path) -> None:
    """The pair would run it to its end."""
    text = OUTSIDE.replace("self._train(rate)", "v1.Session().run(self.scores)\n        self._train(rate)")

    found = read(tmp_path, text, "Net")

    assert [] == found.builders
    told = "train.py:14 `build` builds a part of the graph and runs a session: the pair cannot call it"
    assert told in found.not_understood


def test_dropout_is_off_where_nothing_evaluates(tmp_path: Path) -> None:
    """By what the placeholder is given to; what is no dropout keeps the value of training."""
    text = SCRIPT.replace("print(h.eval", "# ")
    rate = text.replace("dropout(h, keep)", "dropout(h, rate=keep)")
    other = text.replace("tf.nn.dropout(h, keep)", "h * keep")
    found = [given(read(tmp_path, one), "keep") for one in (text, rate, other)]

    assert [("0.5", "1.0"), ("0.5", "0.0"), ("0.5", "0.5")] == [(one.train, one.evaluate) for one in found]


def test_a_flag_that_a_rate_is_chosen_by_is_no_rate(tmp_path: Path) -> None:
    """1.0 would be True; fed in training alone, it is False outside of it."""
    text = SCRIPT.replace("keep = tf.placeholder(tf.float32)", "keep = tf.placeholder(tf.bool)").replace(
        "dropout(h, keep)", "dropout(h, tf.where(keep, 0.5, 1.0))"
    )
    text = text.replace("keep: 0.5", "keep: True")
    both = given(read(tmp_path, text), "keep")
    alone = given(read(tmp_path, text.replace("print(h.eval", "# ")), "keep")

    assert ("setting", "True") == (both.role, both.train)
    assert ("True", "False") == (alone.train, alone.evaluate)


def test_a_second_training_step_is_told(tmp_path: Path) -> None:
    """The one that sessions run first is taken."""
    found = read(tmp_path, GAN)

    assert ("g_loss", "g_step", ["z"]) == (found.loss, found.train_op, [one.name for one in found.given])
    told = " ".join(found.not_understood)
    assert "train.py:8 trains, too" in told
    assert "it wants a pair of its own, with `d_step` and `-d_loss`" in told


def test_a_training_step_that_the_same_line_makes_is_told(tmp_path: Path) -> None:
    """A function that is called for each network makes as many steps as it has calls."""
    lines = GAN.splitlines()
    (one,) = [line for line in lines if line.startswith("g_step = ")]
    (two,) = [line for line in lines if line.startswith("d_step = ")]
    function = f"def trained(value):\n    return {one.partition(' = ')[2].replace('g_loss', 'value')}\n"
    text = GAN.replace(one, f"{function}g_step = trained(g_loss)").replace(two, "d_step = trained(-d_loss)")
    found = read(tmp_path, text)
    told = " ".join(found.not_understood)

    assert ("g_loss", "g_step") == (found.loss, found.train_op)
    assert "trains, too: `trained(-d_loss)`; the pair has the step of line" in told
    assert "it wants a pair of its own, with `d_step` and `-d_loss`" in told


def test_a_function_that_is_called_twice_stands_for_none_of_its_calls(tmp_path: Path) -> None:
    """Neither a placeholder nor the evaluated images is an output of the step; the images are one beside it."""
    found = read(tmp_path, REUSED)
    text = written(found, None, "", str(tmp_path / "pair.py"))

    assert ("self.images", "self.loss", "self.step", True) == (found.outputs, found.loss, found.train_op, found.apart)
    assert 'return Spec(None if mode == "train" else outputs, program["self.loss"]' in text
    assert "which the training step does not compute" in " ".join(found.told)


def test_what_the_loss_is_made_of_is_computed_by_the_step(tmp_path: Path) -> None:
    """Although the program asks for it outside of training, too, and for nothing else that has a name."""
    text = """
        import tensorflow as tf


        class Net:
            def __init__(self):
                self.x = tf.placeholder(tf.float32, [None, 2])
                logits = tf.layers.dense(self.x, 3)
                error = tf.reduce_mean(logits)
                self.error = error
                self.step = tf.train.AdamOptimizer().minimize(error + 0.1 * tf.nn.l2_loss(logits))


        net = Net()
        with tf.Session() as s:
            s.run([net.step, net.error], {net.x: rows()})
            s.run(net.error, {net.x: rows()})
    """
    found = read(tmp_path, dedent(text))

    assert ("net.error", False) == (found.outputs, found.apart)
    assert "does not compute" not in " ".join(found.told)


def test_what_is_unpacked_behind_the_first_session_is_reached_in_its_tuple(tmp_path: Path) -> None:
    """By the place that it has there; the attribute that it becomes has no value yet."""
    text = """
        import tensorflow as tf


        class Net:
            def __init__(self, saved=None):
                self.session = tf.Session()
                if saved:
                    handles = tf.get_collection("handles")
                else:
                    handles = self.graph()
                    self.session.run(tf.global_variables_initializer())
                (self.x, self.rate, self.error, self.step) = handles

            def graph(self):
                x = tf.placeholder(tf.float32, [None, 2])
                rate = tf.placeholder(tf.float32, [])
                error = tf.reduce_mean(tf.layers.dense(x, 3))
                step = tf.train.AdamOptimizer(rate).minimize(error)
                return x, rate, error, step

            def train(self):
                self.session.run([self.step, self.error], {self.x: rows(), self.rate: 0.5})


        Net().train()
    """
    found = read(tmp_path, dedent(text))

    assert ("handles[2]", "handles[3]") == (found.loss, found.train_op)
    assert {"x": "handles[0]", "rate": "handles[1]"} == {one.name: one.reach for one in found.given}
    assert "trains, too" not in " ".join(found.not_understood)


def test_names_that_are_gone_are_told_as_they_are_called(tmp_path: Path) -> None:
    """And not by what the program calls them."""
    text = SCRIPT.replace("h = tf.layers.dense(x", "Dense = tf.layers.dense\nh = Dense(x")
    (told,) = [one for one in read(tmp_path, text).told if one.startswith("TF2 has no ")]

    assert "`tf.InteractiveSession`, " in told
    assert "`Dense`" not in told


def test_what_the_step_computes_is_an_output_of_it(tmp_path: Path) -> None:
    """Where a name stands for what one of the calls returns, and that call leads to the loss."""
    kept = read(tmp_path, REUSED.replace(" made = ", " self.made = made = "))

    assert ("self.made", False) == (kept.outputs, kept.apart)


def test_a_step_that_another_run_takes_wants_no_pair_of_its_own(tmp_path: Path) -> None:
    """Of one name, by an option of the program: the pair has the one that the program makes."""
    made = (
        "optimizer = tf.train.AdamOptimizer(0.1)\n"
        "if clip > 0:\n"
        "    grads, weights = zip(*optimizer.compute_gradients(cost))\n"
        "    step = optimizer.apply_gradients(zip(tf.clip_by_global_norm(grads, clip)[0], weights))\n"
        "else:\n"
        "    step = optimizer.minimize(cost)\n"
    )
    found = read(tmp_path, SCRIPT.replace("step = tf.train.AdamOptimizer(0.1).minimize(cost)\n", made))
    told = " ".join(found.not_understood)

    assert ("step", "cost", "h") == (found.train_op, found.loss, found.outputs)
    assert "train.py:16 trains in its place in another run: `optimizer.minimize(cost)`" in told
    assert "a pair of its own" not in told


@pytest.mark.parametrize(
    ("made", "optimizer"),
    [
        ("tf.contrib.layers.optimize_loss(cost, None, 1, tf.train.AdamOptimizer(0.1))", "AdamOptimizer(0.1)"),
        ('tf.contrib.layers.optimize_loss(optimizer="SGD", loss=cost, global_step=None, learning_rate=1)', ""),
        ("tf.contrib.slim.learning.create_train_op(cost, tf.train.AdamOptimizer(0.1))", "AdamOptimizer(0.1)"),
        ("tf.contrib.training.create_train_op(cost, optimizer=tf.train.AdamOptimizer(0.1))", "AdamOptimizer(0.1)"),
    ],
)
def test_functions_that_make_a_training_step_are_known(tmp_path: Path, made: str, optimizer: str) -> None:
    """Those of contrib and slim, which are given the loss and an optimizer, or its name."""
    found = read(tmp_path, SCRIPT.replace("tf.train.AdamOptimizer(0.1).minimize(cost)", made))

    assert ("step", "cost", "h") == (found.train_op, found.loss, found.outputs)
    assert optimizer in found.optimizer_text
    assert not found.not_understood


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ("4 * 3]", "columns()]", "size 1 of x, `columns()` in "),
        ("keep: 0.5", "keep: rate()", "the value of `keep` (train.py:6), which train.py:15 feeds with `rate()`"),
        ("{x: data(), y: targets(), keep: 0.5}", "fed()", "train.py:15 all of what is fed"),
        ("minimize(cost)", "compute_gradients(cost)", "what trains: no `minimize`"),
    ],
)
def test_what_the_text_does_not_tell_is_said(tmp_path: Path, before: str, after: str, where: str) -> None:
    """With file and line, in the pair or beside it."""
    assert before in SCRIPT
    found = read(tmp_path, SCRIPT.replace(before, after))
    text = written(found, None, "", str(tmp_path / "pair.py"))
    told = " ".join([*unfilled_in(text), *found.not_understood])

    assert where in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import tensorflow as tf\nprint(tf.ones(3))\n", "train.py has no session, no placeholder, no Estimator"),
        ("import keras\nmodel = keras.Sequential()\n", "train.py:2: this makes a Keras model outside of a function"),
        ("def :\n", "train.py:1: "),
    ],
)
def test_a_program_without_a_graph_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """Eager code, a model that nothing returns, and what is no Python have nothing for a TF1 side."""
    with pytest.raises(NotReadError, match=said):
        read(tmp_path, text)


def test_a_function_of_features_is_a_side_as_it_is(tmp_path: Path) -> None:
    """What it is given is read off its code; what no pair gives is told."""
    text = """import tensorflow as tf


def network(x, labels, rate):
    logits = tf.layers.dense(tf.reshape(x, [-1, 6]), 3)
    return logits, {"loss": tf.losses.sparse_softmax_cross_entropy(labels, logits)}
"""
    found = read(tmp_path, text, "network")

    assert [((None, 6), None), ((None,), 3)] == [(one.shape, one.bound) for one in found.given]
    assert ["train.py:4 what rate of network are given"] == found.not_understood


def test_a_model_fn_is_read(tmp_path: Path) -> None:
    """Features by the keys that are asked for, params by what the Estimator is given."""
    found = read(tmp_path, ESTIMATOR)
    x, words, labels = (given(found, name) for name in ("x", "words", "labels"))

    assert ("estimator", "model") == (found.kind, found.call)
    assert ((None, 28, 28, 1), "float32") == (x.shape, x.dtype or "float32")
    assert (50, "int32") == (words.bound, words.dtype)
    assert (10, (None,), "int32") == (labels.bound, labels.shape, labels.dtype)
    assert str(found.params).startswith("{'rate': 0.02, 'name': to_fill(")


def test_a_function_that_makes_a_keras_model_is_read(tmp_path: Path) -> None:
    """Inputs by the first layer, labels by the loss and the last one."""
    found = read(tmp_path, KERAS)
    features, labels = given(found, "features"), given(found, "labels")

    assert ("keras", "make", None) == (found.kind, found.call, found.loss)
    assert ((None, 3), (None, 4), True) == (features.shape, labels.shape, labels.one_hot)


@pytest.mark.parametrize("text", [SCRIPT, RETURNED, GAN, ESTIMATOR, KERAS, NET])
def test_what_is_written_is_python(tmp_path: Path, text: str) -> None:
    """With one pair in it, and names that it imports."""
    found = read(tmp_path, text, "Net" if text is NET else None)
    tree = ast.parse(written(found, None, "", str(tmp_path / "pair.py")))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}

    assert {"Pair", "to_fill"} <= called
    assert called & {"Pair", "Spec", "to_fill", "until_session", "keras_spec"} <= imported


def test_a_name_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """With those that are."""
    with pytest.raises(NotReadError, match="no function or class nothing; it has Net"):
        read(tmp_path, "class Net: pass\n", "nothing")


PARTS = """\
import tensorflow as tf


class Bias(tf.keras.initializers.Initializer):
    def __call__(self, shape, dtype=None):
        return tf.ones(shape)


class Sums(tf.keras.optimizers.Adam):
    pass


class Part(tf.keras.layers.Layer):
    pass


class Net(tf.keras.Model):
    def call(self, inputs, training=False):
        words, lengths = inputs
        return words


def optimizer():
    return Sums(0.1)
"""


@pytest.mark.parametrize(
    ("text", "name", "trains"),
    [
        (KERAS, "make", True),
        (KERAS.replace("model.compile", "print"), "make", False),
        (
            "import tensorflow as tf\n\n\nclass Net(tf.keras.Model):\n    def train_step(self, data): pass\n",
            "Net",
            True,
        ),
        (KERAS + KERAS.replace("make", "other"), "", False),
        (PARTS, "Net", False),
        (PARTS.replace("tf.keras.Model", "tf.keras.layers.Layer"), "", False),
        (f"{PARTS}\n\ndef part():\n    return Part()\n", "Net", False),
        (f"{PARTS}\n\ndef net():\n    return Net()\n", "net", False),
    ],
)
def test_the_tf2_side_is_found(tmp_path: Path, text: str, name: str, trains: bool) -> None:
    """The only thing that can be it, a model before its layers; of two, neither, which is told."""
    (tmp_path / "new.py").write_text(text, "utf-8")
    made = read_tf2_side(str(tmp_path / "new.py"), None, Target.KERAS3)

    assert (name, trains, name == "Net" and "call" in text) == (made.name, made.trains, made.takes_one)
    assert bool(name) is not bool(made.not_understood)


def test_a_step_of_its_own_and_arguments_are_told(tmp_path: Path) -> None:
    """Keras calls a ``train_step`` with its data alone; what a model needs to be made is left to a person."""
    new = tmp_path / "new.py"
    new.write_text(
        "import tensorflow as tf\n\n\nclass Net(tf.keras.Model):\n    def __init__(self, args, params, size=3): pass\n"
        "    def train_step(self, x, y): pass\n",
        "utf-8",
    )
    made = read_tf2_side(str(new), None, Target.KERAS3)
    text = written(read(tmp_path, SCRIPT), made, str(new), str(tmp_path / "pair.py"))

    assert (False, ["args"]) == (made.trains, made.missing_arguments)
    assert "which is not compiled" in made.told[0]
    assert "tf2=to_fill(\"a function that makes 'new.py:Net', which needs `args`\")" in text
    assert "train_step=train_step" in text


def test_a_model_that_another_object_keeps_is_followed(tmp_path: Path) -> None:
    """Its loss is the sum of a loop."""
    text = """\
import tensorflow.compat.v1 as v1


class Sum:
    def build(self):
        self.marks = v1.placeholder(v1.float32, [None, 2])
        loss = 0.0
        for width in (3, 4):
            loss += v1.reduce_mean(v1.layers.dense(self.marks, width))
        return loss / 2.0


class Solver:
    def __init__(self, model):
        self.model = model

    def fit(self):
        loss = self.model.build()
        step = v1.train.AdamOptimizer(0.1).minimize(loss)
        with v1.Session() as session:
            session.run([step, loss], {self.model.marks: rows})


Solver(Sum()).fit()
"""
    marks = given(read(tmp_path, text), "marks")

    assert ("self.model.marks", (None, 2)) == (marks.reach, marks.shape)


def test_what_a_subclass_adds_to_the_loss_is_followed(tmp_path: Path) -> None:
    """In a method that the constructor of its base calls, with what that was given, an item of a dict."""
    text = """\
import tensorflow.compat.v1 as v1

placeholders = {"rows": v1.placeholder(v1.float32, [None, 3]), "other": v1.placeholder(v1.float32)}


class Base:
    def __init__(self, given):
        self.given = given
        self.loss = 0.0
        self.add()
        self.step = v1.train.AdamOptimizer(0.1).minimize(self.loss)


class Net(Base):
    def add(self):
        for width in (3, 4):
            self.loss += v1.reduce_mean(v1.layers.dense(self.given["rows"], width))


net = Net(placeholders)
v1.Session().run(net.step, {placeholders["rows"]: rows})
"""
    found = read(tmp_path, text)

    assert [("rows", "placeholders['rows']", (None, 3))] == [(one.name, one.reach, one.shape) for one in found.given]
    assert ("net.loss", "net.step") == (found.loss, found.train_op)


BESIDE = """
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2 ** 2])
mean = tf.get_variable("mean", [4], trainable=False)
logits = tf.layers.dense(x - mean, 3)
loss = tf.reduce_mean(tf.square(logits)) + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
opt = tf.train.MomentumOptimizer(0.1, 0.9)
apply_op = opt.apply_gradients(opt.compute_gradients(loss))
updates = tf.group(mean.assign(0.9 * mean + 0.1 * tf.reduce_mean(x, 0)))
train_op = tf.group(apply_op, updates)
norms = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
summary = tf.summary.scalar("loss", loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        FETCHED
        sess.run(fetched, {x: batch()})
"""


@pytest.mark.parametrize(
    ("fetched", "step", "beside"),
    [
        ("fetched = [train_op, loss]", "train_op", []),
        ("fetched = [train_op, loss]\n        if step % 2:\n            fetched.append(summary)", "train_op", []),
        ("fetched = [apply_op, updates, loss]", "apply_op", ["updates"]),
        ("fetched = {'step': apply_op, 'norms': norms, 'more': [updates, summary]}", "apply_op", ["norms", "updates"]),
    ],
)
def test_all_that_a_training_run_updates_is_the_step(
    tmp_path: Path, fetched: str, step: str, beside: list[str]
) -> None:
    """By the name that is fetched, and with what is fetched beside it; no summary, and no loss with penalties."""
    found = read(tmp_path, BESIDE.replace("FETCHED", fetched))
    names = ", ".join(f'program["{name}"]' for name in [step, *beside])

    assert (step, beside, (None, 4)) == (found.train_op, found.beside, found.given[0].shape)
    assert (f"tf.group({names})" if beside else names) in written(found, None, "", str(tmp_path / "pair.py"))


LOCAL = """
import argparse
from tools.helpers import *

parser = argparse.ArgumentParser()
parser.add_argument("words")
parser.add_argument("--kind", required=True, choices=["a", "b"])
parser.add_argument("--more")


class Net:
    def __init__(self, config):
        self.x = tf.placeholder(tf.int32, [None, config["length"]])
        self.y = tf.placeholder(tf.int32, [None])
        self.keep = tf.placeholder(tf.float32)

    def build(self):
        table = tf.get_variable("table", [9, 4])
        self.seen = tf.nn.embedding_lookup(table, self.x)
        hidden = tf.nn.dropout(tf.layers.dense(tf.reduce_mean(self.seen, 1), 5), self.keep)
        scores = tf.layers.dense(hidden, 3)
        self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=scores))
        smaller = self.loss
        self.step = tf.train.AdamOptimizer().minimize(smaller)


net = Net({"length": 7})
net.build()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    train(net, sess)
    print(sess.run(net.seen, {net.x: batch()}))
"""
HELPERS = """
import tensorflow as tf


def feeds_of(model, keep):
    feeds = {model.x: batch(), model.y: classes(), model.keep: keep}
    return feeds


def train(model, sess):
    feeds = feeds_of(model, .5)
    return sess.run([model.step, model.loss], feeds)
"""


def test_a_program_that_is_run_from_the_folder_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its helpers make what is fed; the scores have a name in a function that has returned, and no other."""
    for name, text in {"old/nets/main.py": LOCAL, "old/tools/helpers.py": HELPERS}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    found = read_tf1(str(tmp_path / "old/nets/main.py"), None, Target.KERAS3)
    keep = next(one for one in found.given if one.name == "keep")
    text = written(found, None, "", str(tmp_path / "pair.py"))

    assert ('returned["build"][0].scores', "net.loss", "net.step") == (found.outputs, found.loss, found.train_op)
    assert ("setting", "0.5", "1.0") == (keep.role, keep.train, keep.evaluate)
    assert {"x": (None, 7), "y": (None,)} == {one.name: one.shape for one in found.given if one is not keep}
    assert [] == found.not_understood
    assert 'sys.path.insert(0, str(Path(__file__).parent / "old"))' in text
    assert 'folder="old", returned=["build"])' in text
    assert [
        "the argument --kind, old/nets/main.py:7, one of ['a', 'b']",
        "the argument words, old/nets/main.py:6",
    ] == [what.partition(": ")[2] for what in unfilled_in(text)][:2]


FILLED = """
import sys
import numpy as np
import tensorflow as tf

words, lengths = read(sys.argv[2])
x = tf.placeholder(tf.int32, [None, SIZE])
pad = tf.placeholder(tf.float32, [None, 1, 4])
rows = tf.placeholder(tf.int32, [])
length = tf.placeholder(tf.int32, [None])
table = tf.get_variable("table", [9, 4])
cell = tf.nn.rnn_cell.GRUCell(5)
inputs = tf.concat([pad, tf.nn.embedding_lookup(table, x), pad], 1)
state = cell.zero_state(rows, tf.float32)
out, state = tf.nn.dynamic_rnn(cell, inputs, initial_state=state, sequence_length=length)
y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(state, 1) - y))
step = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for batch, target in words:
        none = np.zeros([len(batch), 1, 4])
        sess.run(step, {x: batch, rows: len(batch), pad: none, length: lengths[batch], y: target})
"""


@pytest.mark.parametrize(
    ("size", "steps"),
    [
        ("7", "np.r_[7, random.randint(1, 8, size=7)].astype(np.int32)"),
        ("size_of(words)", 'random.randint(1, to_fill("one more than the steps that `length` counts, train.py:10")'),
    ],
)
def test_what_is_fed_alike_in_each_run_is_no_input(tmp_path: Path, size: str, steps: str) -> None:
    """Zeros, and the number of rows; and an axis of one says nothing of how many steps a row has."""
    found = read(tmp_path, FILLED.replace("SIZE", size))
    text = written(found, None, "", str(tmp_path / "pair.py"))

    assert {"x": "input", "length": "input", "pad": "setting", "rows": "setting", "y": "label"} == {
        one.name: one.role for one in found.given
    }
    assert 'program["rows"]: 8,' in text
    assert 'program["pad"]: np.zeros((8, 1, 4), np.float32),' in text
    assert steps in text
    assert 'to_fill("word 2 of the command line, train.py:6")' in text


def test_lengths_are_no_labels(tmp_path: Path) -> None:
    """Where a loss has none, what a layer is given beside the rows is not taken for one."""
    text = FILLED.replace("SIZE", "7").replace(" - y", "").replace(", y: target", "")
    roles = {one.name: one.role for one in read(tmp_path, text).given}

    assert "input" == roles["length"]


def test_a_network_whose_training_stands_elsewhere(tmp_path: Path) -> None:
    """Its placeholders are seen, and who trains them is asked for."""
    (tmp_path / "net.py").write_text(
        "import tensorflow as tf\n\n\nclass Net:\n    def __init__(self):\n"
        "        self.x = tf.placeholder(tf.float32, [None, 3])\n        self.out = tf.layers.dense(self.x, 2)\n"
    )

    with pytest.raises(NotReadError, match="trains what its placeholders are for or runs a session: name the file"):
        read_tf1(str(tmp_path / "net.py"), "Net", Target.KERAS3)


@pytest.mark.parametrize("size", ["1e200 ** 8", "10 ** 400 / 3", "4 / 0", "4 // 0", "2 ** -1", "2 ** 9"])
def test_a_size_that_no_number_can_be_is_to_be_filled_in(tmp_path: Path, size: str) -> None:
    """Nor is a power worked out that takes long."""
    found = read(tmp_path, FILLED.replace("SIZE", size))
    (words,) = [one for one in found.given if one.name == "x"]

    assert words.shape is not None
    assert isinstance(words.shape[1], Missing)


LOOKED_UP = """\
import sys

import tensorflow as tf

words, classes = load(sys.argv[1])
ids = tf.placeholder(tf.int32, [None, 5])
rates = tf.placeholder(tf.float32, [None, 3])
marks = tf.placeholder(tf.int32, [None])
y = tf.placeholder(tf.int64, [None])
table = tf.get_variable("table", [words, 4])
rows = tf.reshape(tf.nn.embedding_lookup(table, ids), [-1, 20])
picked = tf.nn.embedding_lookup(table, tf.argmax(rates, 1))
logits = tf.layers.dense(tf.concat([rows, picked, tf.one_hot(marks, words)], 1), classes)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
step = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(step, {ids: a, rates: b, marks: c, y: d})
"""


def test_what_decides_how_many_numbers_there_are_is_told(tmp_path: Path) -> None:
    """Where the text does not tell how many: 0 and 1 alone would leave out most rows and classes."""
    found = read(tmp_path, LOOKED_UP)
    text = written(found, None, "", str(tmp_path / "pair.py"))

    assert not found.not_understood
    for what in (
        "`ids` may hold: the rows of `table`, train.py:11",
        "`marks` may hold: the depth `words`, train.py:13",
        "`y` may hold: the width of `logits`, train.py:14",
    ):
        assert f'random.randint(to_fill("how many numbers {what}"), size=(8' in text
    assert "random.normal(size=(8, 3)).astype(np.float32)" in text


@pytest.mark.parametrize(
    ("dtype", "written_as"),
    [
        ("float32", "random.dirichlet(np.ones(FILL), size=(8,)).astype(np.float32)"),
        ("int32", "np.eye(FILL, dtype=np.int32)[random.randint(FILL, size=(8,))]"),
    ],
)
def test_marks_of_an_untold_width_are_some(tmp_path: Path, dtype: str, written_as: str) -> None:
    """Shares of one, cut off to whole numbers, would mark nothing."""
    text = LOOKED_UP.replace("tf.int64, [None]", f"tf.{dtype}, [None, classes]").replace(
        "sparse_softmax_cross_entropy", "softmax_cross_entropy"
    )
    text = written(read(tmp_path, text), None, "", str(tmp_path / "pair.py"))

    assert written_as.replace("FILL", 'to_fill("size 1 of y, `classes` in train.py:9")') in text


RECORDS = """\
import collections
import sys

import tensorflow as tf

Examples = collections.namedtuple("Examples", "images, labels")
Model = collections.namedtuple("Model", "logits, loss, train")


def load():
    image, label = read(sys.argv[2])
    images_batch, labels_batch = tf.train.batch([image, label], batch_size=4)
    return Examples(images=images_batch, labels=labels_batch)


def judge(x):
    return tf.layers.dense(x, 1)


def create(images, labels):
    hidden = tf.layers.dense(images, 3)
    judged = tf.reduce_mean(judge(labels) - judge(hidden))
    first = tf.train.AdamOptimizer().minimize(judged)
    with tf.control_dependencies([first]):
        error = tf.reduce_mean(tf.square(hidden - labels)) - tf.reduce_mean(judge(hidden))
        second = tf.train.AdamOptimizer().minimize(error)
    return Model(logits=hidden, loss=error, train=tf.group(second, tf.assign_add(steps, 1)))


def main():
    if sys.argv[1] == "export":
        text = tf.placeholder(tf.string, [1])
        served = judge(tf.decode_raw(text, tf.float32))
        with tf.Session() as session:
            session.run(served)
        return
    examples = load()
    model = create(examples.images, examples.labels)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        fetches = {"train": model.train}
        if sys.argv[1] == "loud":
            fetches["loss"] = model.loss
        session.run(fetches)


main()
"""


def test_what_named_tuples_hold_is_reached_by_their_fields(tmp_path: Path) -> None:
    """Of a program in which one fetch runs two steps, and another mode ends before any of them is made."""
    found = read(tmp_path, RECORDS)

    assert ("model.train", "model.logits", "model.loss") == (found.train_op, found.outputs, found.loss)
    assert {"images_batch": "examples.images", "labels_batch": "examples.labels"} == {
        one.name: one.reach for one in found.given
    }
    assert [4, 4] == [one.shape[0] for one in found.given if one.shape is not None]
    assert "`text` is left out: where it is made, the training step is not" in " ".join(found.told)
    trains = [one for one in found.not_understood if "trains" in one]
    assert [
        'train.py:23 trains, too, by the same step program["model.train"]: '
        "`tf.train.AdamOptimizer().minimize(judged)`; the loss of the pair is that of line 26"
    ] == trains


OPERATIONS = """\
import tensorflow as tf


class Net:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.y = tf.placeholder(tf.float32, [None, 2])
        self.loss = None
        self.scores = tf.layers.dense(self.x, 2)

    def build(self):
        self.loss = tf.reduce_mean(tf.square(self.y - self.scores))
        self.rate = tf.Variable(0.1)
        self.step = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)
        START

    def anneal(self, now):
        self.rate.assign(now).eval()

    def train(self, session):
        session.run(self.step, {self.x: a, self.y: b})


net = Net()
with tf.Session() as session:
    net.build()
    net.train(session)
    net.anneal(0.01)
"""


@pytest.mark.parametrize(
    "start", ["tf.global_variables_initializer().run()", "tf.train.Saver().restore(session, 'here')", "pass"]
)
def test_operations_run_sessions_by_themselves(tmp_path: Path, start: str) -> None:
    """The program stops there, and a variable that one assigns is fed; a loss that is None at first is none."""
    found = read(tmp_path, OPERATIONS.replace("START", start))

    assert ["self.x", "self.y", "self.rate"] == [one.reach for one in found.given]
    assert "self.step" == found.train_op
    assert "train.py:12: tf.reduce_mean(tf.square(self.y - self.scores))" == found.loss_text


def test_what_ends_before_its_training_step_is_made_is_told(tmp_path: Path) -> None:
    """A program that restores and samples has a step of its model, and runs none."""
    text = OPERATIONS.replace("START", "pass")
    text = text.replace("net.train(session)", "tf.train.Saver().restore(session, 'here')")
    text = text.replace("session.run(self.step, {", "session.run(self.scores, {")
    found = read(tmp_path, text)

    assert "net.step" == found.train_op
    assert "`, which no session of this program runs" in " ".join(found.told)
