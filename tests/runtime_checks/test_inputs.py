"""Where the worker takes a model's inputs from, and how it calls the model with them, in child interpreters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..interpreters import Children

TARGETS = ("keras2", "keras3")

CASES: dict[str, Callable[[Any, Path], None]] = {}


def case(check: Callable[[Any, Path], None]) -> Callable[[Any, Path], None]:
    """A check that runs in the children, with TensorFlow and an empty folder."""
    CASES[check.__name__] = check
    return check


def find(model: Any, built: Any = None, module: ModuleType | None = None, **job: Any) -> Any:
    from migrate_lint.runtime_checks.worker import inputs

    return inputs.find(model, built, module, {"inputs": None, "shapes": [], "dtypes": [], **job})


def called(model: Any, *arguments: Any, **job: Any) -> Any:
    """The sample that was found, after the model was called with it and with another batch."""
    from migrate_lint.runtime_checks.worker import inputs

    sample = find(model, *arguments, **job)
    inputs.call(model, sample)
    other = inputs.other_batch(sample)
    if other is not None:
        inputs.call(model, other)
    return sample


def refusal(model: Any, *arguments: Any, **job: Any) -> str:
    """The sentence that the search ends with."""
    from migrate_lint.runtime_checks.worker.target import TargetError

    try:
        found = find(model, *arguments, **job)
    except TargetError as error:
        return str(error)
    raise AssertionError(found)


def told(*values: Any) -> list[tuple[Any, ...]]:
    """Shape and dtype of tensors."""
    return [(*value.shape.as_list(), value.dtype.name) for value in values]


@case
def inputs_are_taken_in_the_documented_order(tf: Any, folder: Path) -> None:
    """A file of inputs, then build(), then example_inputs, then shapes, then the model's signature."""
    (folder / "given.py").write_text("def one(): return [1]\nTWO = [2]\nclass Box:\n    three = [3]")
    module = ModuleType("model")
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])

    def found(**job: Any) -> tuple[Any, str]:
        sample = find(model, [5], module, shapes=[[2, 3]], **job)
        return sample.args, sample.source

    for name, value in (("one", 1), ("TWO", 2), ("Box.three", 3)):
        assert found(inputs={"file": str(folder / "given.py"), "name": name}) == (([value],), f"--inputs {name}")
    assert found() == (([5],), "build() returned them")
    vars(module)["example_inputs"] = lambda: [6]
    assert find(model, None, module, shapes=[[2, 3]]).source == "example_inputs()"
    vars(module)["example_inputs"] = [7]
    assert find(model, None, module).args == ([7],)
    assert find(model, None, module).source == "example_inputs"
    del module.example_inputs
    assert told(*find(model, None, module, shapes=[[2, 3]]).args) == [(2, 3, "float32")]
    assert told(*find(model, None, module).args) == [(2, 4, "float32")]


@case
def what_gives_inputs_must_be_there_and_need_nothing(tf: Any, folder: Path) -> None:
    """Otherwise a sentence says so; the user's own error passes unchanged."""
    (folder / "given.py").write_text("def batches(size): return [1]\ndef fails(): raise KeyError('mine')")

    def job(name: str) -> dict[str, Any]:
        return {"inputs": {"file": str(folder / "given.py"), "name": name}}

    assert refusal(len, **job("batches")) == "batches, which gives the inputs, must not need arguments: size"
    assert refusal(len, **job("batch")).endswith("given.py has no 'batch'; did you mean batches?")
    try:
        find(len, **job("fails"))
    except KeyError as error:
        assert error.args == ("mine",)


@case
def the_file_of_the_target_gives_inputs_without_running_again(tf: Any, folder: Path) -> None:
    """``--inputs`` may name the target's own file, or one that it imports."""
    from migrate_lint.runtime_checks.worker import target

    (folder / "own_a.py").write_text("import own_b\nRUNS = []\nRUNS.append(1)\ndef build(x): return x")
    (folder / "own_b.py").write_text("INPUTS = [0]")
    loaded = target.load(
        {"file": str(folder / "own_a.py"), "module": None, "attribute": "build", "search_path": [str(folder)]}
    )

    for name, value in (("own_a.py", loaded.module.RUNS), ("own_b.py", loaded.module.own_b.INPUTS)):
        attribute = "RUNS" if name == "own_a.py" else "INPUTS"
        value.append(9)
        assert find(len, inputs={"file": str(folder / name), "name": attribute}).args[0][-1] == 9
    assert loaded.module.RUNS == [1, 9]


@case
def numpy_arrays_become_tensors_and_all_else_stays(tf: Any, folder: Path) -> None:
    """Ragged and sparse tensors, None and Python numbers are what they were."""
    import numpy as np

    ragged, sparse = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[0, 1]])
    given = {"a": np.zeros((2, 3), "float32"), "b": [ragged, sparse, None], "c": np.float32(1.0), "d": 2}
    value = find(lambda x: x, given).args[0]

    assert told(value["a"], value["c"]) == [(2, 3, "float32"), ("float32",)]
    assert value["b"][0] is ragged
    assert value["b"][1] is sparse
    assert (value["b"][2], value["d"]) == (None, 2)
    assert told(*find(lambda x: x, np.array(["a", "b"])).args) == [(2, "string")]


@case
def a_dataset_gives_its_first_element_without_the_labels(tf: Any, folder: Path) -> None:
    """So does an iterator; an empty one is refused."""
    x, y = tf.reshape(tf.range(8.0), (4, 2)), tf.zeros((4,))
    model = tf.keras.layers.Dense(2)
    data = tf.data.Dataset

    for given in (
        data.from_tensor_slices((x, y)).batch(2),
        data.from_tensor_slices((x, y, y)).batch(2),
        data.from_tensor_slices(x).batch(2),
        iter([(x[:2], y[:2])]),
    ):
        assert called(model, given).args[0].numpy().tolist() == [[0.0, 1.0], [2.0, 3.0]]
    named = data.from_tensor_slices(({"a": x}, y)).batch(2)
    assert told(called(lambda a: a, named).kwargs["a"]) == [(2, 2, "float32")]
    assert refusal(model, data.from_tensor_slices(x).take(0)).startswith("there is no element in the inputs")


@case
def a_dict_of_parameter_names_is_keyword_arguments(tf: Any, folder: Path) -> None:
    """Keras wants the first one by position; any other dict is one argument, as it always is for a functional model."""

    class Two(tf.keras.layers.Layer):
        def call(self, left: Any, right: Any = None) -> Any:
            return left if right is None else left + right

    one = tf.zeros((2, 3))
    both = called(Two(), {"left": one, "right": one})
    assert (len(both.args), set(both.kwargs)) == (1, {"right"})
    assert set(called(lambda a, b=0: a, {"a": one}).kwargs) == {"a"}
    assert called(lambda features: features["a"], {"a": one}).kwargs == {}
    inputs = tf.keras.Input((3,), name="inputs")
    functional = tf.keras.Model({"inputs": inputs}, tf.keras.layers.Dense(1)(inputs))
    assert set(called(functional, {"inputs": one}).args[0]) == {"inputs"}


@case
def a_tuple_is_positional_arguments_where_several_are_required(tf: Any, folder: Path) -> None:
    """Otherwise it is one argument; one element alone is the argument, and a list is never taken apart."""
    one = tf.zeros((2, 3))

    class Two(tf.keras.layers.Layer):
        def call(self, left: Any, right: Any, training: Any = None) -> Any:
            return left + right

    class Pair(tf.keras.layers.Layer):
        def call(self, inputs: Any, training: Any = None) -> Any:
            return inputs[0] + inputs[1]

    @tf.function
    def traced(left: Any, right: Any) -> Any:
        return left + right

    def count(model: Any, given: Any) -> int:
        return len(called(model, given).args)

    assert [2, 2, 2] == [count(model, (one, one)) for model in (Two(), traced, lambda a, b, c=1: a + b)]
    assert [1, 1] == [count(Pair(), (one, one)), count(Pair(), [one, one])]
    assert called(lambda x: x + 1, (one,)).args[0] is one
    assert 2 == count(lambda *parts: parts[0] + parts[1], (one, one))
    a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
    functional = tf.keras.Model([a, b], tf.keras.layers.Add()([a, b]))
    assert 1 == count(functional, [one, one])


@case
def shapes_of_the_command_line_make_inputs(tf: Any, folder: Path) -> None:
    """Unknown sizes are 2, then 8; dtypes go with shapes, or one with all; several are several inputs."""
    one = find(lambda x: x, shapes=[[None, None, 3]], dtypes=["int32"])
    assert (told(*one.args), one.source) == ([(2, 8, 3, "int32")], "--input-shape")
    two = find(lambda a, b: a, shapes=[[2, 3], []], dtypes=["float16", "string"])
    assert told(*two.args) == [(2, 3, "float16"), ("string",)]
    listed = called(tf.keras.layers.Add(), shapes=[[2, 3], [2, 3]], dtypes=["float32"])
    assert told(*listed.args[0]) == [(2, 3, "float32")] * 2
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((2,), name="b", dtype="int32")
    functional = tf.keras.Model({"a": a, "b": b}, tf.keras.layers.Dense(1)(a))
    named = called(functional, shapes=[[5, 3], [5, 2]], dtypes=["float32", "int32"]).args[0]
    assert told(named["a"], named["b"]) == [(5, 3, "float32"), (5, 2, "int32")]


@case
def shapes_that_cannot_be_are_refused(tf: Any, folder: Path) -> None:
    """A sentence says which number or name is wrong."""
    assert refusal(len, shapes=[[2], [3], [4]], dtypes=["int32"] * 2) == "there are 3 shapes but 2 dtypes of inputs"
    assert refusal(len, shapes=[[2]], dtypes=["flaot"]) == "TensorFlow has no dtype 'flaot'"
    assert refusal(len, shapes=[[-1, 2]]) == "[-1, 2] is no shape: a size is negative"
    assert "no sample can be made of type resource" in refusal(len, shapes=[[2]], dtypes=["resource"])


@case
def a_dtype_alone_goes_before_the_models_own(tf: Any, folder: Path) -> None:
    """The shapes are still those of the model."""
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Embedding(2, 3)])

    assert told(*called(model, dtypes=["int64"]).args) == [(2, 4, "int64")]
    assert refusal(model, dtypes=["int64", "int32"]) == "there are 2 dtypes but the model has 1 inputs"


@case
def made_up_values_are_the_same_ones_every_time(tf: Any, folder: Path) -> None:
    """Floats below 1, integers that index any table of two rows, and every other type that TensorFlow has."""

    def values(dtype: str) -> Any:
        return find(lambda x: x, shapes=[[50, 4]], dtypes=[dtype]).args[0]

    for dtype in ("float16", "bfloat16", "float32", "float64"):
        once = tf.cast(values(dtype), tf.float64).numpy()
        assert (once == tf.cast(values(dtype), tf.float64).numpy()).all()
        assert once.min() >= 0 and once.max() <= 1 and once.std() > 0.2
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        assert set(values(dtype).numpy().ravel().tolist()) == {0, 1}
    assert set(values("bool").numpy().ravel().tolist()) == {False, True}
    assert set(values("string").numpy().ravel().tolist()) == {b"a"}
    assert values("complex64").dtype == tf.complex64


@case
def functional_and_sequential_models_say_their_inputs(tf: Any, folder: Path) -> None:
    """One, a list or a dict, of the dtype and in the structure that they were declared with."""
    layers = tf.keras.layers
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((None,), name="b", dtype="int32")
    merged = layers.Add()([layers.Dense(2)(a), layers.GlobalAveragePooling1D()(layers.Embedding(2, 2)(b))])
    expected = [(2, 3, "float32"), (2, 8, "int32")]

    assert told(*called(tf.keras.Model([a, b], merged)).args[0]) == expected
    named = called(tf.keras.Model({"a": a, "b": b}, merged))
    assert told(*named.args[0].values()) == expected
    assert named.source == "its inputs"
    assert told(*called(tf.keras.Model(a, layers.Dense(1)(a))).args) == expected[:1]
    built = tf.keras.Sequential([layers.Dense(2)])
    built.build((None, 4))
    assert told(*called(built).args) == [(2, 4, "float32")]


@case
def ragged_sparse_and_string_inputs_work(tf: Any, folder: Path) -> None:
    """Of a declared model, of a function's signature and of the user."""
    from migrate_lint.runtime_checks.worker import inputs

    @tf.function(
        input_signature=[
            tf.RaggedTensorSpec([None, None, None, 3], tf.float32, ragged_rank=2),
            tf.SparseTensorSpec([None, 5], tf.float32),
            tf.TensorSpec([None], tf.string),
        ]
    )
    def function(ragged: Any, sparse: Any, text: Any) -> Any:
        return tf.reduce_sum(ragged) + tf.sparse.reduce_sum(sparse), tf.strings.length(text)

    sample = called(function)
    ragged, sparse, text = sample.args
    other = inputs.other_batch(sample)

    assert ragged.ragged_rank == 2 and ragged.row_lengths().numpy().tolist() == [1, 2]
    assert sparse.shape.as_list() == [2, 5] and 0 < len(sparse.values) < 10
    assert text.numpy().tolist() == [b"a", b"a"]
    assert other.args[0].row_lengths().numpy().tolist() == [1, 2, 1, 2]
    assert other.args[1].shape.as_list() == [4, 5]
    assert told(other.args[2]) == [(4, "string")]
    declared = tf.keras.Input((5,), sparse=True)
    assert told(called(tf.keras.Model(declared, tf.keras.layers.Dense(2)(declared))).args[0]) == [(2, 5, "float32")]
    tokens = tf.keras.Input((None,), ragged=True, dtype="int32")
    assert isinstance(find(tf.keras.Model(tokens, tokens)).args[0], tf.RaggedTensor)


@case
def layers_say_their_shape_as_far_as_they_know_it(tf: Any, folder: Path) -> None:
    """What they were built with, a first ``input_shape``, or the rank and sizes of an input_spec."""
    layers = tf.keras.layers
    dense, norm = layers.Dense(3), layers.BatchNormalization()
    dense.build((None, 5))
    norm(tf.zeros((3, 4, 4, 6)))

    assert told(*called(dense).args) == [(2, 5, "float32")]
    assert told(*called(norm).args)[0][-2:] == (6, "float32")
    assert told(*called(layers.Conv2D(2, 3)).args) == [(2, 8, 8, 8, "float32")]
    assert told(*called(layers.LSTM(2)).args) == [(2, 8, 8, "float32")]
    assert told(*called(tf.keras.Sequential([layers.Conv1D(2, 3)])).args) == [(2, 8, 8, "float32")]
    assert told(*called(layers.Dense(2, input_shape=(7,))).args) == [(2, 7, "float32")]
    assert "says nothing of its inputs" in refusal(layers.Add())


@case
def a_subclassed_model_says_what_it_was_built_with(tf: Any, folder: Path) -> None:
    """By build(), or by a call in the user's own code."""

    class Net(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.dense(x)

    class Two(tf.keras.layers.Layer):
        def build(self, left_shape: Any, right_shape: Any = None) -> None:
            self.built = True

        def call(self, left: Any, right: Any) -> Any:
            return left + right

    assert "Net says nothing of its inputs" in refusal(Net())
    built, ran = Net(), Net()
    built.build((None, 6))
    ran(tf.zeros((3, 7)))
    assert told(*called(built).args)[0][-2:] == (6, "float32")
    assert told(*called(ran).args)[0][-2:] == (7, "float32")
    if tf.keras.layers.Layer.__module__.startswith("keras.src.layers"):
        two = Two()
        two(tf.zeros((2, 3)), tf.zeros((2, 3)))
        assert told(*called(two).kwargs.values()) == [(2, 3, "float32")] * 2


@case
def traced_functions_say_their_signature(tf: Any, folder: Path) -> None:
    """As functions, methods, ``__call__`` of a module, concrete functions and loaded from a SavedModel."""
    from migrate_lint.runtime_checks.worker import target

    class Net(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(1.0)

        @tf.function(input_signature=[tf.TensorSpec([None, 3]), {"k": tf.TensorSpec([], tf.int32)}])
        def __call__(self, x: Any, more: Any) -> Any:
            return self.w * x

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def serve(self, x: Any) -> Any:
            return self.w * x

        @tf.function
        def step(self, by: float = 1.0) -> Any:
            return self.w.assign_add(by)

        @tf.function
        def mode(self, x: Any, training: bool) -> Any:
            return x if training else -x

    net = Net()
    tf.saved_model.save(net, str(folder / "saved"), signatures=net.serve)
    loaded = tf.saved_model.load(str(folder / "saved"))
    concrete = net.mode.get_concrete_function(tf.TensorSpec([None, 3]), True)
    default = target._served(loaded)

    for model in (net, loaded):
        x, more = called(model).args
        assert told(x, more["k"]) == [(2, 3, "float32"), ("int32",)]
    assert told(*called(net.serve).args) == [(2, 3, "float32")]
    assert told(*called(default).kwargs.values()) == [(2, 3, "float32")]
    assert told(*called(default, tf.zeros((4, 3))).kwargs.values()) == [(4, 3, "float32")]
    assert called(net.step).args == ()
    assert called(concrete).args[1] is True
    assert "mode says nothing" in refusal(net.mode) or "Function says nothing" in refusal(net.mode)


@case
def a_model_without_inputs_is_called_without(tf: Any, folder: Path) -> None:
    """Every parameter has a default; arguments without names are another matter."""
    assert called(lambda: 1).source == "it takes no inputs"
    assert called(lambda width=3: width).args == ()
    assert "says nothing" in refusal(lambda *rest: rest)


@case
def where_nothing_fits_the_three_shortest_ways_are_shown(tf: Any, folder: Path) -> None:
    """In build(), beside it, and on the command line."""

    def net(x: Any) -> Any:
        return x

    text = refusal(net)

    assert text.startswith(f"{net.__qualname__} says nothing of its inputs; ")
    for way in (
        "return model, tf.zeros((2, 8))",
        "def example_inputs(): return tf.zeros((2, 8))",
        "--input-shape 2,8",
    ):
        assert way in text


@case
def another_batch_is_twice_as_large(tf: Any, folder: Path) -> None:
    """Every tensor of rank 1 or more, wherever it is; scalars and Python values stay, and alone there is none."""
    from migrate_lint.runtime_checks.worker import inputs

    other = inputs.other_batch(find(lambda x: x, {"a": tf.zeros((2, 3)), "b": [tf.constant(1), 5, None]}))
    (value,) = other.args

    assert told(value["a"], value["b"][0]) == [(4, 3, "float32"), ("int32",)]
    assert value["b"][1:] == [5, None]
    assert inputs.other_batch(find(lambda x: x, [tf.constant(1.0), 2])) is None
    assert told(inputs.other_batch(find(lambda *, x: x, {"x": tf.zeros((3,))})).kwargs["x"]) == [(6, "float32")]


@case
def a_batch_that_the_model_fixes_has_no_other(tf: Any, folder: Path) -> None:
    """Whether the inputs are the user's or made up; a batch size that was only seen is not fixed."""
    from migrate_lint.runtime_checks.worker import inputs

    given = tf.keras.Input((3,), batch_size=5)
    functional = tf.keras.Model(given, tf.keras.layers.Dense(1)(given))
    function = tf.function(lambda x: x, input_signature=[tf.TensorSpec([4, 2])])
    dense = tf.keras.layers.Dense(1)
    dense(tf.zeros((5, 3)))

    for model, value in ((functional, tf.zeros((5, 3))), (function, tf.zeros((4, 2)))):
        assert told(*called(model).args) == told(value)
        assert inputs.other_batch(find(model)) is None
        assert inputs.other_batch(find(model, value)) is None
    assert inputs.other_batch(find(dense)) is not None


@case
def training_is_passed_where_it_can_be(tf: Any, folder: Path) -> None:
    """A parameter of the call by that name, or any keywords; behind tf.function as well."""
    from migrate_lint.runtime_checks.worker.inputs import call, takes_training

    class Plain(tf.keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return x

    class Named(Plain):
        def call(self, x: Any, training: Any = None) -> Any:
            return x

    class Traced(Plain):
        @tf.function
        def call(self, x: Any, training: Any = None) -> Any:
            return x

    class Keywords(Plain):
        def call(self, x: Any, **more: Any) -> Any:
            return x

    class Module(tf.Module):
        @tf.function
        def __call__(self, x: Any, training: bool = False) -> Any:
            return x

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def serve(self, x: Any, training: bool = False) -> Any:
            return x

    given = tf.keras.Input((3,))
    functional = tf.keras.Model(given, tf.keras.layers.Dropout(0.5)(given))
    taking = [Named(), Traced(), Keywords(), functional, Module(), lambda x, *, training: x, tf.keras.layers.Dropout(0)]
    refusing = [Plain(), Module().serve, tf.function(lambda x: x), lambda x: x, Module().serve.get_concrete_function()]

    assert [True] * len(taking) == [takes_training(model) for model in taking]
    assert [False] * len(refusing) == [takes_training(model) for model in refusing]
    for model in taking:
        call(model, find(model, tf.zeros((2, 3))), training=True)


def check(name: str, folder: str) -> None:
    """In a child: run a case."""
    import tensorflow as tf

    CASES[name](tf, Path(folder).resolve())


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_the_worker_finds_inputs(name: str, target: str, children: Children, tmp_path: Path) -> None:
    """Each case is a fact, stated by its name."""
    children.call(target, check, name, str(tmp_path))
