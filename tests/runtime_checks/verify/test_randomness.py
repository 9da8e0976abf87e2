"""Both sides draw the same random numbers, the ledger says which, and initializers give samples.

A child interpreter for each target says what every case gave.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from ...interpreters import Children

STEPS = 5
GUIDE = [[2.5063772, 2.7488918, 1.4839486], 0.45038545, 2.9634383]
"""What the guide prints for ``num_random_ops``: all of the first draw, the first numbers of the other two."""
REAL_TF1 = [[13, 7, 8, 8], [15, 10, 11, 8], [9, 8, 6, 6], [21, 15, 14, 11], [15, 12, 16, 16]]
"""How many units each of the four layers of dropout let through in each step, in a session of TF 1.15.0."""
WEIGHTS = np.linspace(-1, 1, 20).reshape(5, 4).astype(np.float32)

Case = Callable[[Any], object]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Run this in the children; it gets the module of TensorFlow and returns what JSON can hold."""
    CASES[function.__name__] = function
    return function


def draws(tf: Any) -> list[Any]:
    """The example of the guide."""
    return [tf.random.uniform(shape) * 3 for shape in ((3, 1), (3, 3), (3, 3))]


def printed(values: Any) -> list[Any]:
    first, second, third = (np.asarray(value) for value in values)
    return [first[:, 0].tolist(), float(second[0, 0]), float(third[0, 0])]


def in_session(tf: Any, build: Callable[[], Any]) -> Any:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        return session.run(build())


@case
def numbered_by_the_tool(tf: Any) -> object:
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import tool

    found = []
    for mode in ("num_random_ops", "constant"):
        with tool(mode):
            graph = printed(in_session(tf, lambda: draws(tf)))
        with tool(mode):
            eager = printed(draws(tf))
        with tool(mode):
            function = printed(tf.function(lambda: draws(tf))())
        found.append([graph, eager, function])
    return found


@case
def numbered_by_their_tool(tf: Any) -> object:
    found = []
    for mode in ("num_random_ops", "constant"):
        theirs = getattr(tf.compat.v1.keras.utils, "DeterministicRandomTestTool", None)
        if theirs is None:
            return None
        with theirs(mode=mode).scope():
            found.append(printed(draws(tf)))
    return found


@case
def ledger_of_the_tool(tf: Any) -> object:
    from migrate_lint.runtime_checks.worker.frames import UserCode
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import tool

    code = UserCode([os.path.dirname(__file__)])
    with tool("num_random_ops", code=code) as ledger:
        weights = tf.Variable(tf.random.normal((3, 2)) * 0.1)
        tf.Variable(lambda: tf.random.truncated_normal((4,)))
        tf.nn.dropout(tf.ones((5, 3)) @ weights, 0.0)
        tf.nn.dropout(tf.ones((5, 3)) @ weights, 0.5)
        tf.random.stateless_uniform((2,), seed=[1, 2])
        tf.random.Generator.from_seed(1).normal((6,))
    described = ledger.described()
    lines = [draw["place"][1] for draw in described]
    return {
        "draws": [[draw["op"], draw["seed"], draw["shape"], draw["purpose"]] for draw in described],
        "lines": [line - lines[0] for line in lines],
        "file": {draw["place"][0] for draw in described} == {os.path.realpath(__file__)},
    }


@case
def ledger_of_a_keras_layer(tf: Any) -> object:
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import tool

    class Model(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense, self.dropout = tf.keras.layers.Dense(2), tf.keras.layers.Dropout(0.5)

        def call(self, inputs: Any, training: bool = False) -> Any:
            return self.dropout(self.dense(inputs), training=training)

    with tool("num_random_ops") as ledger:
        Model()(tf.ones((4, 3)), training=True)
    return [[draw["op"], draw["seed"], draw["shape"], draw["purpose"]] for draw in ledger.described()]


def batch(step: int, varying: bool = False) -> Any:
    return np.full((4 if varying and step == 3 else 6, 5), step + 1, np.float32)


def network(tf: Any, inputs: Any, weights: Any, dropout: Callable[[Any, float, int], Any]) -> list[Any]:
    """Four layers of dropout, two of them of equal shape each."""
    first = dropout(inputs, 0.5, 0)
    second = dropout(first, 0.25, 1)
    third = dropout(tf.matmul(second, weights), 0.5, 2)
    return [first, second, third, dropout(third, 0.1, 3)]


def session_steps(tf: Any, varying: bool = False) -> list[Any]:
    """The four outputs of every step in a session, whose graph also draws initial values, one of them last."""
    from migrate_lint.runtime_checks.worker.recording.randomness.graph_seeds import number_step_ops
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import tool

    v1 = tf.compat.v1
    with tool("num_random_ops"), tf.Graph().as_default() as graph:
        inputs = v1.placeholder(tf.float32, (None, 5))
        v1.get_variable("other", (3, 3), initializer=v1.truncated_normal_initializer())
        outputs = network(tf, inputs, tf.constant(WEIGHTS), lambda x, rate, at: tf.nn.dropout(x, rate=rate))
        v1.Variable(tf.random.normal((5,)), name="late")
        start = v1.global_variables_initializer()
        number_step_ops(graph)
        with v1.Session(graph=graph) as session:
            session.run(start)
            return [session.run(outputs, {inputs: batch(step, varying)}) for step in range(STEPS)]


def stepped(tf: Any, call: Callable[[Any], Any], varying: bool = False, **options: Any) -> tuple[list[Any], Any]:
    """The four outputs of every step, and the ledger."""
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import aligned

    found = []
    with aligned(**options) as ledger:
        for step in range(STEPS):
            ledger.begin_step()
            found.append([value.numpy() for value in call(tf.constant(batch(step, varying)))])
    return found, ledger


def keras_network(tf: Any) -> Any:
    class Model(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.weight = tf.Variable(WEIGHTS)
            self.dropouts = [tf.keras.layers.Dropout(rate) for rate in (0.5, 0.25, 0.5, 0.1)]
            self.dense = tf.keras.layers.Dense(3)

        def call(self, inputs: Any, training: bool = False) -> Any:
            def dropout(x: Any, rate: float, at: int) -> Any:
                return self.dropouts[at](x, training=training)

            found = network(tf, inputs, self.weight, dropout)
            self.dense(found[-1])
            return found

    return Model()


def same(one: Any, other: Any) -> list[bool]:
    """Whether the four outputs are equal, by step."""
    return [
        all(np.array_equal(a == 0, b == 0) and np.allclose(a, b, rtol=1e-6) for a, b in zip(*pair, strict=True))
        for pair in zip(one, other, strict=True)
    ]


@case
def kept_in_a_session(tf: Any) -> object:
    return [[int(np.count_nonzero(value)) for value in values] for values in session_steps(tf)]


@case
def steps_by_functions(tf: Any) -> object:
    expected = session_steps(tf)
    weights = tf.constant(WEIGHTS)

    def call(inputs: Any) -> Any:
        return network(tf, inputs, weights, lambda x, rate, at: tf.nn.dropout(x, rate))

    return [same(expected, stepped(tf, run)[0]) for run in (call, tf.function(call))]


@case
def steps_by_layers(tf: Any) -> object:
    expected, told = session_steps(tf), []
    eager, traced = keras_network(tf), keras_network(tf)
    found, ledger = stepped(tf, lambda x: eager(x, training=True), heard=told.append)
    function = tf.function(lambda x: traced(x, training=True))
    return {
        "same": [same(expected, found), same(expected, stepped(tf, function)[0])],
        "told": sorted(set(told)),
        "step draws": [draw["seed"] for draw in ledger.described(1) if draw["purpose"] == "step"],
    }


@case
def steps_of_other_shapes(tf: Any) -> object:
    expected, told = session_steps(tf, varying=True), []
    layers, again = keras_network(tf), keras_network(tf)
    weights = tf.constant(WEIGHTS)

    def call(inputs: Any) -> Any:
        return network(tf, inputs, weights, lambda x, rate, at: tf.nn.dropout(x, rate))

    function = tf.function(lambda x: again(x, training=True))
    return {
        "eager": same(expected, stepped(tf, lambda x: layers(x, training=True), True)[0]),
        "functions": [
            same(expected, stepped(tf, run, True, retraced=True)[0]) for run in (tf.function(call), function)
        ],
        "unprepared": same(expected, stepped(tf, tf.function(call), True, heard=told.append)[0]),
        "told": told,
    }


@case
def steps_with_changes_of_the_context(tf: Any) -> object:
    expected, layers = session_steps(tf), keras_network(tf)
    turn = iter(range(STEPS))

    def call(inputs: Any) -> Any:
        step = next(turn)
        tf.config.run_functions_eagerly(step % 2 == 1)
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": step > 2})
        tf.config.set_soft_device_placement(step != 2)
        with tf.GradientTape() as tape:
            found = layers(inputs, training=True)
        tape.gradient(found[-1], layers.weight)
        # Initial values and other draws of the same seeds between the steps.
        tf.Variable(lambda: tf.random.uniform((6, 5)))
        tf.random.stateless_uniform((6, 5), seed=[42, 0])
        return found

    try:
        return same(expected, stepped(tf, call)[0])
    finally:
        tf.config.run_functions_eagerly(False)
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
        tf.config.set_soft_device_placement(True)


@case
def steps_with_a_function_inside(tf: Any) -> object:
    expected, weights = session_steps(tf), tf.constant(WEIGHTS)

    @tf.function
    def inside(inputs: Any) -> Any:
        first = tf.nn.dropout(inputs, 0.5)
        return first, tf.nn.dropout(first, 0.25)

    def call(inputs: Any) -> Any:
        first, second = inside(inputs)
        third = tf.nn.dropout(tf.matmul(second, weights), 0.5)
        return [first, second, third, tf.nn.dropout(third, 0.1)]

    return same(expected, stepped(tf, call)[0])


@case
def steps_with_functions_in_a_function(tf: Any) -> object:
    expected, weights = session_steps(tf), tf.constant(WEIGHTS)

    def dropping(rate: float, makes: bool) -> Any:
        """A function within; where it makes a variable it is traced twice, and the one around it too."""
        made: list[Any] = []

        @tf.function
        def inside(inputs: Any) -> Any:
            if makes and not made:
                made.append(tf.Variable(1.0))
            return tf.nn.dropout(inputs * made[0] if made else inputs, rate)

        return inside

    def plain(rate: float, makes: bool) -> Any:
        return lambda inputs: tf.nn.dropout(inputs, rate)

    def within(rate: float, makes: bool) -> Any:
        inner = dropping(rate, makes)
        return tf.function(lambda inputs: inner(inputs) + 0.0)

    def step(kinds: Any, makes: bool) -> Any:
        drops = [kind(rate, makes) for kind, rate in zip(kinds, (0.5, 0.25, 0.5, 0.1), strict=True)]

        def call(inputs: Any) -> Any:
            first = drops[0](inputs)
            second = drops[1](first)
            third = drops[2](tf.matmul(second, weights))
            return [first, second, third, drops[3](third)]

        return call

    told: list[str] = []
    forms = {
        "first": (dropping, plain, plain, plain),
        "behind a draw": (plain, dropping, plain, plain),
        "last": (plain, plain, plain, dropping),
        "of one name": (dropping, dropping, dropping, dropping),
        "two deep": (plain, within, dropping, plain),
    }
    found = {
        f"{name}, {makes}": same(expected, stepped(tf, tf.function(step(kinds, makes)), heard=told.append)[0])
        for name, kinds in forms.items()
        for makes in (False, True)
    }
    return {"wrong": [name for name, equal in found.items() if not all(equal)], "count": len(found), "told": told}


@case
def steps_of_other_operations(tf: Any) -> object:
    from migrate_lint.runtime_checks.worker.recording.randomness.graph_seeds import number_step_ops
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import aligned, tool

    v1 = tf.compat.v1

    def step() -> list[Any]:
        return [
            tf.random.normal((4,)),
            tf.random.truncated_normal((4,), seed=7),
            tf.random.uniform((4,), maxval=100, dtype=tf.int32),
            tf.random.shuffle(tf.range(9)),
            tf.random.categorical(tf.zeros((1, 9)), 5),
            tf.random.gamma((4,), 2.0),
            tf.random.poisson((4,), 3.0),
            tf.random.log_uniform_candidate_sampler([[1]], 1, 4, True, 50)[0],
            tf.random.normal((4,), dtype=tf.float64),
        ]

    with tool("num_random_ops"), tf.Graph().as_default() as graph:
        v1.get_variable("initial", (3,), initializer=v1.random_normal_initializer())
        outputs = step()
        number_step_ops(graph)
        with v1.Session(graph=graph) as session:
            expected = [session.run(outputs) for _ in range(3)]
    found = []
    for run in (step, tf.function(step)):
        with aligned() as ledger:
            for values in expected:
                ledger.begin_step()
                found.append([bool(np.array_equal(*pair)) for pair in zip(values, run(), strict=True)])
    return found


@case
def layers_of_keras(tf: Any) -> object:
    """What layers make of ones, and what the functions of TensorFlow make of them."""
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import aligned

    layers, ones = tf.keras.layers, tf.ones((3, 4, 5))
    made = [layers.Dropout(0.5, seed=3), layers.SpatialDropout1D(0.5), layers.GaussianNoise(0.5)]
    with aligned() as ledger:
        ledger.begin_step()
        found = [layer(ones, training=True) for layer in made]
        rest = layers.GaussianDropout(0.5)(ones, training=True), layers.Dropout(0.0)(ones, training=True)
    with aligned() as ledger:
        ledger.begin_step()
        expected = [
            tf.nn.dropout(ones, 0.5),
            tf.nn.dropout(ones, 0.5, noise_shape=(3, 1, 5)),
            ones + tf.random.normal((3, 4, 5), stddev=0.5),
        ]
    alike = [bool(np.allclose(*pair, rtol=1e-6)) for pair in zip(expected, found, strict=True)]
    return [alike, [len(np.unique(value)) > 1 for value in rest]]


@case
def function_from_before(tf: Any) -> object:
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import aligned

    told: list[str] = []
    function = tf.function(lambda: tf.random.uniform((2,)))
    function()
    with aligned(heard=told.append) as ledger:
        for _ in range(2):
            ledger.begin_step()
            function()
    return told


@case
def steps_in_a_loop(tf: Any) -> object:
    """Three turns of one operation in a session, in a function and eagerly."""
    from migrate_lint.runtime_checks.worker.recording.randomness.graph_seeds import number_step_ops
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import aligned, tool

    v1 = tf.compat.v1

    def turns(x: Any) -> Any:
        return tf.while_loop(
            lambda turn, x: turn < 3, lambda turn, x: (turn + 1, tf.nn.dropout(x, rate=0.25)), (tf.constant(0), x)
        )[1]

    def of_session() -> list[Any]:
        with tool("num_random_ops"), tf.Graph().as_default() as graph:
            start = tf.random.uniform((2,))
            output = turns(tf.ones((6, 5))) + 0 * start[0]
            number_step_ops(graph)
            with v1.Session(graph=graph) as session:
                return [session.run(output) for _ in range(3)]

    def of_steps(run: Callable[[], Any]) -> list[Any]:
        with aligned() as ledger:
            found = []
            for _ in range(3):
                ledger.begin_step()
                found.append(run().numpy())
            return found

    def step() -> Any:
        start = tf.random.uniform((2,))
        return turns(tf.ones((6, 5))) + 0 * start[0]

    expected = of_session()
    v2 = of_steps(tf.function(step))
    eager = of_steps(step)
    return [bool(np.array_equal(expected, v2)), bool(np.array_equal(expected, eager))]


@case
def steps_behind_a_condition(tf: Any) -> object:
    """A branch of a session that is a function of the graph, with an initial value before it."""
    from migrate_lint.runtime_checks.worker.recording.randomness.graph_seeds import number_step_ops
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import aligned, tool

    v1 = tf.compat.v1

    def forward(x: Any, training: Any) -> Any:
        x = tf.cond(training, lambda: tf.nn.dropout(x, rate=0.5), lambda: tf.identity(x))
        return tf.nn.dropout(x, rate=0.25)

    with tool("num_random_ops"), tf.Graph().as_default() as graph:
        v1.Variable(tf.random.normal((5,)))
        training = v1.placeholder(tf.bool, ())
        output = forward(tf.ones((6, 5)), training)
        gradient = tf.gradients(output, [training.graph.get_tensor_by_name("ones:0")])[0]
        of_graph, of_functions = number_step_ops(graph)
        with v1.Session(graph=graph) as session:
            expected = [session.run([output, gradient], {training: True})[0] for _ in range(3)]
    with aligned() as ledger:
        found = []
        for _ in range(3):
            ledger.begin_step()
            found.append(forward(tf.ones((6, 5)), tf.constant(True)).numpy())
    return [len(of_graph + of_functions), [bool(np.array_equal(*pair)) for pair in zip(expected, found, strict=True)]]


@case
def samples_of_a_graph(tf: Any) -> object:
    from migrate_lint.runtime_checks.worker.recording.tf1.samples import of_graph

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        normal = v1.random_normal_initializer(stddev=2.0, seed=1)
        variables = [
            v1.get_variable("small", (50,), initializer=normal, use_resource=True),
            v1.get_variable("ref", (10, 10), initializer=normal, use_resource=False),
            v1.get_variable("large", (100, 100), initializer=normal),
            v1.get_variable("zeros", (50,), initializer=v1.zeros_initializer()),
            v1.get_variable("count", (), tf.int32, initializer=v1.zeros_initializer()),
        ]
        session.run(v1.global_variables_initializer())
        before = session.run(variables)
        found = of_graph(session, variables)
        after = session.run(variables)
    return {
        "sizes": {name: int(values.size) for name, values in found.items()},
        "deviations": [round(float(values.std()), 1) for values in found.values()],
        "own first": bool(np.array_equal(before[0], found["small"][:50])),
        "put back": all(np.array_equal(*pair) for pair in zip(before, after, strict=True)),
    }


@case
def samples_of_a_model(tf: Any) -> object:
    from migrate_lint.runtime_checks.worker.recording.randomness.numbering import tool
    from migrate_lint.runtime_checks.worker.recording.randomness.samples import watching

    with watching() as initializers, tool("num_random_ops"):
        tf.keras.backend.clear_session()
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(8, kernel_initializer="glorot_uniform"),
                tf.keras.layers.Dense(100, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=2.0, seed=3)),
                tf.keras.layers.Dense(100, kernel_initializer=tf.keras.initializers.Constant(0.5)),
            ]
        )
        model(tf.ones((2, 4)))
        own = tf.Variable(lambda: tf.random.normal((20,), stddev=3.0))
        named = dict(zip("abcdef", model.variables, strict=True), own=own)
        before = [variable.numpy() for variable in named.values()]
        found = initializers.draw(named)
        again = initializers.draw(named, seed=100)
    after = [variable.numpy() for variable in named.values()]
    return {
        "sizes": {name: int(values.size) for name, values in found.items()},
        "deviations": {name: round(float(values.std()), 1) for name, values in found.items()},
        "own first": bool(np.array_equal(before[0].ravel(), found["a"][:32])),
        "distinct": len(np.unique(found["a"])) > 1500,
        "other seed, other values": not np.array_equal(found["a"], again["a"]),
        "put back": all(np.array_equal(*pair) for pair in zip(before, after, strict=True)),
    }


def answers() -> dict[str, object]:
    """In a child: what each case gave, or how it failed."""
    import tensorflow as tf

    answer: dict[str, object] = {}
    for name, run in CASES.items():
        try:
            answer[name] = run(tf)
        except Exception:
            answer[name] = traceback.format_exc()
    return answer


@pytest.fixture(
    scope="module", params=[pytest.param(target, marks=pytest.mark.tensorflow) for target in ("keras2", "keras3")]
)
def answer(request: pytest.FixtureRequest, children: Children) -> Mapping[str, Any]:
    """What the child interpreter of one target says."""
    said: dict[str, Any] = {"keras": request.param, **children.call(request.param, answers)}
    return said


def flattened(printed: Any) -> list[float]:
    return [*printed[0], *printed[1:]]


def test_the_numbers_of_the_guide_are_reached(answer: Mapping[str, Any]):
    """In a session, eagerly and in a function; all three draws begin alike in the mode ``constant``."""
    numbered, constant = answer["numbered_by_the_tool"]

    for found in numbered:
        assert pytest.approx(flattened(GUIDE), rel=1e-7) == flattened(found)
    for found in constant:
        assert pytest.approx([*GUIDE[0], GUIDE[0][0], GUIDE[0][0]], rel=1e-7) == flattened(found)


def test_the_numbers_are_those_of_the_tool_of_tensorflow(answer: Mapping[str, Any]):
    """Keras 3 has no such tool."""
    ours = [found[1] for found in answer["numbered_by_the_tool"]]

    assert (ours if answer["keras"] == "keras2" else None) == answer["numbered_by_their_tool"]


def test_the_ledger_has_every_draw_with_its_purpose_and_line(answer: Mapping[str, Any]):
    """Also dropout of rate 0, which asks for a seed, and draws without one; a value drawn for a variable is initial."""
    expected = [
        ["RandomStandardNormal", 0, [3, 2], "initial value"],
        ["TruncatedNormal", 1, [4], "initial value"],
        ["dummy_rng_step", 2, None, "step"],
        ["RandomUniform", 3, [5, 2], "step"],
        ["StatelessRandomUniformV2", None, [2], "step"],
        ["StatelessRandomNormalV2", None, [6], "step"],
    ]

    assert expected == answer["ledger_of_the_tool"]["draws"]
    assert [0, 1, 2, 3, 4, 5] == answer["ledger_of_the_tool"]["lines"]
    assert answer["ledger_of_the_tool"]["file"] is True


def test_the_ledger_tells_how_keras_draws(answer: Mapping[str, Any]):
    """Its initializers and, in Keras 3, its layers have no operation seed; asking for shapes is no draw."""
    dropout = ["RandomUniform", 0] if answer["keras"] == "keras2" else ["StatelessRandomUniformV2", None]

    assert [
        ["StatelessRandomUniformV2", None, [3, 2], "initial value"],
        [*dropout, [4, 2], "step"],
    ] == answer["ledger_of_a_keras_layer"]


def test_a_session_draws_what_a_session_of_tf_1_15_draws(answer: Mapping[str, Any]):
    """The operations are numbered without those of initial values; each step draws other numbers."""
    assert REAL_TF1 == answer["kept_in_a_session"]


def test_dropout_of_five_steps_is_that_of_the_session(answer: Mapping[str, Any]):
    """Eagerly and in a function, with two layers of equal shape each."""
    assert [[True] * STEPS] * 2 == answer["steps_by_functions"]


def test_keras_layers_drop_what_the_session_drops(answer: Mapping[str, Any]):
    """Eagerly and in a function that is traced twice, as it makes variables; Keras 3 draws as TF1 does, and says so."""
    found = answer["steps_by_layers"]
    told = ["random numbers that layers of Keras 3 draw were drawn by tf.random, as TF1 draws them"]

    assert [[True] * STEPS] * 2 == found["same"]
    assert (told if answer["keras"] == "keras3" else []) == found["told"]


def test_the_ledger_has_the_draws_of_each_step_once(answer: Mapping[str, Any]):
    """Also where Keras 3 calls the model once more to learn its shapes."""
    assert [0, 1, 2, 3, 0, 1, 2, 3] == answer["steps_by_layers"]["step draws"]


def test_batches_of_other_shapes_draw_on(answer: Mapping[str, Any]):
    """An eager kernel does by itself, a function that is traced again where it is told beforehand."""
    found = answer["steps_of_other_shapes"]

    assert [True] * STEPS == found["eager"]
    assert [[True] * STEPS] * 2 == found["functions"]


def test_an_unprepared_function_that_is_traced_again_is_told(answer: Mapping[str, Any]):
    """Its numbers begin anew in step 3."""
    found = answer["steps_of_other_shapes"]

    assert [True, True, True, False, False] == found["unprepared"]
    assert ["the function call was traced again in step 3"] == [text.split(",")[0] for text in found["told"]]


def test_changes_of_the_context_do_not_disturb_the_steps(answer: Mapping[str, Any]):
    """Nor does a gradient tape, nor an initial value that is drawn in between."""
    assert [True] * STEPS == answer["steps_with_changes_of_the_context"]


def test_a_function_within_an_eager_step_counts(answer: Mapping[str, Any]):
    """What follows it is numbered behind it also when it is not traced any more."""
    assert [True] * STEPS == answer["steps_with_a_function_inside"]


def test_functions_within_the_function_of_a_step_count(answer: Mapping[str, Any]):
    """Also where they make variables, so that both are traced twice; what runs is the last trace."""
    assert {"wrong": [], "count": 10, "told": []} == answer["steps_with_functions_in_a_function"]


def test_other_random_operations_are_aligned(answer: Mapping[str, Any]):
    """Three steps of nine kinds, eagerly and in a function, also with a seed of their own."""
    assert [[True] * 9] * 6 == answer["steps_of_other_operations"]


def test_layers_of_keras_draw_as_the_functions_of_tensorflow(answer: Mapping[str, Any]):
    """Dropout, also of whole channels, and noise; dropout of rate 0 draws nothing."""
    assert [[True] * 3, [True, False]] == answer["layers_of_keras"]


def test_a_function_that_was_traced_before_is_told(answer: Mapping[str, Any]):
    """Once, as its operations keep their seeds."""
    assert 1 == len(answer["function_from_before"])
    assert "was traced before its random operations could be numbered" in answer["function_from_before"][0]


def test_a_loop_is_aligned_in_a_function_only(answer: Mapping[str, Any]):
    """Eagerly each turn is an operation of its own."""
    assert [True, False] == answer["steps_in_a_loop"]


def test_a_branch_of_a_session_is_aligned(answer: Mapping[str, Any]):
    """The body of its function gets the numbers, behind an initial value that is left out."""
    assert [2, [True] * 3] == answer["steps_behind_a_condition"]


def test_samples_of_a_graph_come_from_repeated_initialization(answer: Mapping[str, Any]):
    """Only of what is drawn, at most 4096 values each, the first its own; all variables keep their values."""
    expected = {"small": 3250, "ref": 4096, "large": 4096}

    assert expected == answer["samples_of_a_graph"]["sizes"]
    assert [2.0, 2.0, 2.0] == answer["samples_of_a_graph"]["deviations"]
    assert (True, True) == (answer["samples_of_a_graph"]["own first"], answer["samples_of_a_graph"]["put back"])


def test_samples_of_a_model_come_from_its_initializers_under_other_seeds(answer: Mapping[str, Any]):
    """Also of stateless initializers, whose own seeds are exchanged; constants have none."""
    found = answer["samples_of_a_model"]

    assert {"a": 2080, "c": 4096, "own": 1300} == found["sizes"]
    assert {"a": 0.4, "c": 2.0, "own": 3.0} == found["deviations"]
    assert [True] * 4 == [found[key] for key in ("own first", "distinct", "other seed, other values", "put back")]
