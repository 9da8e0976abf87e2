"""The data tables of the rules agree with the TensorFlow that is installed.

A child interpreter for each target says which rows it disagrees with.
For keras2 it sets ``TF_USE_LEGACY_KERAS=1`` (tf_keras), so a name that only TF <= 2.15 had, such as
``tf.estimator``, is in no list.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import inspect
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.analysis.public_names import has
from migrate_lint.linter.finding import Target
from migrate_lint.rules.keras import keras_removed_symbol
from migrate_lint.rules.keras.private_places import SAME
from migrate_lint.rules.keras.private_tensorflow_import import PUBLIC
from migrate_lint.rules.tf1_api.api_status import standing
from migrate_lint.rules.tf1_api.signatures import CHANGED_IN_V1, SWALLOWING

from ..interpreters import Children
from . import eager_status, keras_members, private_names, public_names, signatures
from .eager_calls import CALLS, evaluate

RULES = Path(__file__).resolve().parents[2] / "rules"
SUCCESSORS = RULES / "tf1_api" / "successors.json"
API_STATUS = RULES / "tf1_api" / "api_status.json"
KERAS_LAYERS = RULES / "variables" / "keras_layers.json"
V1_LAYERS = RULES / "variables" / "v1_layers.json"
TARGETS = ("keras2", "keras3")

Build = Callable[[Any, Callable[..., Any]], object]


def load(path: Path) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return table


def installed(distribution: str) -> tuple[int, ...]:
    """The version of a distribution, or () where it is missing; nothing is imported."""
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(int(part) for part in version.split(".")[:2])


def on(shape: Sequence[int], *names: str, **arguments: Any) -> dict[str, Build]:
    """Constructions that take the same arguments and are called, in training, on one float tensor."""

    def build(name: str) -> Build:
        return lambda layers, tensor: getattr(layers, name)(**arguments)(tensor(*shape), training=True)

    return {name: build(name) for name in names}


def plain(shape: Sequence[int], *names: str, **arguments: Any) -> dict[str, Build]:
    """The same for layers whose call takes no ``training``."""

    def build(name: str) -> Build:
        return lambda layers, tensor: getattr(layers, name)(**arguments)(tensor(*shape))

    return {name: build(name) for name in names}


def merging(*names: str) -> dict[str, Build]:
    """Layers that are called on a list of tensors."""

    def build(name: str) -> Build:
        return lambda layers, tensor: getattr(layers, name)()([tensor(2, 3), tensor(2, 3)])

    return {name: build(name) for name in names}


def merged(*names: str) -> dict[str, Build]:
    """The functions that merge a list of tensors, such as ``keras.layers.add``."""

    def build(name: str) -> Build:
        return lambda layers, tensor: getattr(layers, name)([tensor(2, 3), tensor(2, 3)])

    return {name: build(name) for name in names}


ROW, SEQUENCE, IMAGE, VOLUME = (2, 4), (2, 8, 3), (2, 8, 8, 3), (2, 6, 6, 6, 3)

CONSTRUCTIONS: dict[str, Build] = {
    # without variables on either Keras
    **plain(ROW, "Flatten", "ReLU", "LeakyReLU", "ELU", "ThresholdedReLU", "Softmax", "Identity", "Masking"),
    **plain(ROW, "ActivityRegularization", "UnitNormalization"),
    **plain(ROW, "Activation", activation="relu"),
    **plain(ROW, "Reshape", target_shape=(2, 2)),
    **plain(ROW, "RepeatVector", n=2),
    **plain(ROW, "Rescaling", scale=0.5),
    **plain(SEQUENCE, "Permute", dims=(2, 1)),
    **merging("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract", "Attention"),
    **merged("add", "average", "concatenate", "maximum", "minimum", "multiply", "subtract"),
    "dot": lambda layers, tensor: layers.dot([tensor(2, 3), tensor(2, 3)], axes=1),
    "Input": lambda layers, tensor: layers.Input((3,)),
    "InputLayer": lambda layers, tensor: layers.InputLayer((3,)),
    "Dot": lambda layers, tensor: layers.Dot(axes=1)([tensor(2, 3), tensor(2, 3)]),
    "Lambda": lambda layers, tensor: layers.Lambda(lambda x: x * 2)(tensor(*ROW)),
    **plain(SEQUENCE, "AveragePooling1D", "AvgPool1D", "MaxPooling1D", "MaxPool1D", pool_size=2),
    **plain(IMAGE, "AveragePooling2D", "AvgPool2D", "MaxPooling2D", "MaxPool2D", pool_size=2),
    **plain(VOLUME, "AveragePooling3D", "AvgPool3D", "MaxPooling3D", "MaxPool3D", pool_size=2),
    **plain(SEQUENCE, "GlobalAveragePooling1D", "GlobalAvgPool1D", "GlobalMaxPooling1D", "GlobalMaxPool1D"),
    **plain(IMAGE, "GlobalAveragePooling2D", "GlobalAvgPool2D", "GlobalMaxPooling2D", "GlobalMaxPool2D"),
    **plain(VOLUME, "GlobalAveragePooling3D", "GlobalAvgPool3D", "GlobalMaxPooling3D", "GlobalMaxPool3D"),
    **plain(SEQUENCE, "AdaptiveAveragePooling1D", "AdaptiveMaxPooling1D", output_size=2),
    **plain(IMAGE, "AdaptiveAveragePooling2D", "AdaptiveMaxPooling2D", output_size=2),
    **plain(VOLUME, "AdaptiveAveragePooling3D", "AdaptiveMaxPooling3D", output_size=2),
    **plain(SEQUENCE, "Cropping1D", "UpSampling1D", "ZeroPadding1D"),
    **plain(IMAGE, "Cropping2D", "UpSampling2D", "ZeroPadding2D"),
    **plain(VOLUME, "Cropping3D", "UpSampling3D", "ZeroPadding3D"),
    **plain(IMAGE, "CenterCrop", "Resizing", height=4, width=4),
    **plain(ROW, "Discretization", bin_boundaries=[0.0, 0.5]),
    "CategoryEncoding": lambda layers, tensor: layers.CategoryEncoding(num_tokens=4)(tensor(2, 3, dtype="int32")),
    "Hashing": lambda layers, tensor: layers.Hashing(num_bins=3)(tensor(2, 3, dtype="int32")),
    "HashedCrossing": lambda layers, tensor: layers.HashedCrossing(num_bins=3)(
        (tensor(4, dtype="int32"), tensor(4, dtype="int32"))
    ),
    "IntegerLookup": lambda layers, tensor: layers.IntegerLookup(vocabulary=[1, 2])(tensor(2, 3, dtype="int64")),
    "StringLookup": lambda layers, tensor: layers.StringLookup(vocabulary=["a", "b"])(tensor(2, 3, dtype="string")),
    "TextVectorization": lambda layers, tensor: layers.TextVectorization(vocabulary=["a", "b"])(
        tensor(2, dtype="string")
    ),
    **plain(IMAGE, "AutoContrast", "Equalization"),
    **plain((2, 2048), "MelSpectrogram"),
    # with a seed generator on Keras 3
    **on(ROW, "Dropout", "AlphaDropout", "GaussianDropout", rate=0.5),
    **on(ROW, "GaussianNoise", stddev=0.5),
    **on(SEQUENCE, "SpatialDropout1D", rate=0.5),
    **on(IMAGE, "SpatialDropout2D", rate=0.5),
    **on(VOLUME, "SpatialDropout3D", rate=0.5),
    **on(IMAGE, "RandomFlip"),
    **on(IMAGE, "RandomBrightness", "RandomContrast", "RandomHeight", "RandomRotation", "RandomWidth", factor=0.1),
    **on(IMAGE, "RandomCrop", height=4, width=4),
    **on(IMAGE, "RandomTranslation", height_factor=0.1, width_factor=0.1),
    **on(IMAGE, "RandomZoom", height_factor=0.1),
    # with variables on both, or on Keras 3, which alone has them
    **plain(IMAGE, "Solarization"),
    **plain(ROW, "Dense", units=2),
    **plain(ROW, "EinsumDense", equation="ab,bc->ac", output_shape=2),
    **plain(ROW, "BatchNormalization", "LayerNormalization", "Normalization", "PReLU", "RMSNormalization"),
    **plain(IMAGE, "GroupNormalization", groups=3),
    **merging("AdditiveAttention"),
    "Embedding": lambda layers, tensor: layers.Embedding(4, 2)(tensor(2, 3, dtype="int32")),
    "MultiHeadAttention": lambda layers, tensor: layers.MultiHeadAttention(1, 2)(tensor(*SEQUENCE), tensor(*SEQUENCE)),
    **plain(SEQUENCE, "LSTM", "GRU", "SimpleRNN", units=2),
    **plain(SEQUENCE, "Conv1D", "SeparableConv1D", "Conv1DTranspose", filters=2, kernel_size=2),
    **plain(IMAGE, "Conv2D", "SeparableConv2D", "Conv2DTranspose", filters=2, kernel_size=2),
    **plain(VOLUME, "Conv3D", "Conv3DTranspose", filters=2, kernel_size=2),
    **plain(SEQUENCE, "DepthwiseConv1D", kernel_size=2),
    **plain(IMAGE, "DepthwiseConv2D", kernel_size=2),
}
"""How a layer of each class is made and called once; ``tensor(*shape, dtype=...)`` makes an input."""

UNLESS: dict[tuple[str, str], Build] = {
    ("Attention", "dropout"): lambda layers, tensor: layers.Attention(dropout=0.5)(
        [tensor(*SEQUENCE), tensor(*SEQUENCE)], training=True
    ),
    ("Attention", "score_mode"): lambda layers, tensor: layers.Attention(score_mode="concat")(
        [tensor(*SEQUENCE), tensor(*SEQUENCE)]
    ),
    ("Attention", "use_scale"): lambda layers, tensor: layers.Attention(use_scale=True)(
        [tensor(*SEQUENCE), tensor(*SEQUENCE)]
    ),
    ("IntegerLookup", "idf_weights"): lambda layers, tensor: layers.IntegerLookup(
        vocabulary=[1, 2], idf_weights=[0.5, 0.5], output_mode="tf_idf"
    )(tensor(2, 3, dtype="int64")),
    ("StringLookup", "idf_weights"): lambda layers, tensor: layers.StringLookup(
        vocabulary=["a", "b"], idf_weights=[0.5, 0.5], output_mode="tf_idf"
    )(tensor(2, 3, dtype="string")),
    ("TextVectorization", "idf_weights"): lambda layers, tensor: layers.TextVectorization(
        vocabulary=["a", "b"], idf_weights=[0.5, 0.5], output_mode="tf_idf"
    )(tensor(2, dtype="string")),
}

CONVOLUTION = {"num_outputs": 2, "kernel_size": 2}
SLIM_CALLS: dict[str, tuple[Sequence[int], dict[str, Any]]] = {
    "bias_add": (ROW, {}),
    "conv1d": (SEQUENCE, CONVOLUTION),
    "conv2d": (IMAGE, CONVOLUTION),
    "conv2d_in_plane": (IMAGE, {"kernel_size": 2}),
    "conv2d_transpose": (IMAGE, CONVOLUTION),
    "conv3d": (VOLUME, CONVOLUTION),
    "conv3d_transpose": (VOLUME, CONVOLUTION),
    "convolution": (IMAGE, CONVOLUTION),
    "convolution1d": (SEQUENCE, CONVOLUTION),
    "convolution2d": (IMAGE, CONVOLUTION),
    "convolution2d_in_plane": (IMAGE, {"kernel_size": 2}),
    "convolution2d_transpose": (IMAGE, CONVOLUTION),
    "convolution3d": (VOLUME, CONVOLUTION),
    "convolution3d_transpose": (VOLUME, CONVOLUTION),
    "fully_connected": (ROW, {"num_outputs": 2}),
    "group_norm": (IMAGE, {"groups": 3}),
    "instance_norm": (IMAGE, {}),
    "layer_norm": (ROW, {}),
    "linear": (ROW, {"num_outputs": 2}),
    "relu": (ROW, {"num_outputs": 2}),
    "relu6": (ROW, {"num_outputs": 2}),
    "separable_conv2d": (IMAGE, CONVOLUTION | {"depth_multiplier": 1}),
    "separable_convolution2d": (IMAGE, CONVOLUTION | {"depth_multiplier": 1}),
}
# On TF 2.21 batch_norm of tf_slim 1.1.0 raises "No module named 'tf_keras.legacy_tf_layers'": read its signature only.
SLIM_SIGNATURE_ONLY = {"batch_norm"}

V1_CALLS: dict[str, tuple[Sequence[int], dict[str, Any]]] = {
    "batch_normalization": (ROW, {}),
    "dense": (ROW, {"units": 2}),
    **{name: (SEQUENCE, {"filters": 2, "kernel_size": 2}) for name in ("conv1d", "separable_conv1d")},
    **{
        name: (IMAGE, {"filters": 2, "kernel_size": 2, "strides": 1})
        for name in ("conv2d", "conv2d_transpose", "separable_conv2d")
    },
    **{name: (VOLUME, {"filters": 2, "kernel_size": 2, "strides": 1}) for name in ("conv3d", "conv3d_transpose")},
}
V1_WITHOUT_VARIABLES: dict[str, tuple[Sequence[int], dict[str, Any]]] = {
    "dropout": (ROW, {"training": True}),
    "flatten": (IMAGE, {}),
    **{name: (SEQUENCE, {"pool_size": 2, "strides": 1}) for name in ("average_pooling1d", "max_pooling1d")},
    **{name: (IMAGE, {"pool_size": 2, "strides": 1}) for name in ("average_pooling2d", "max_pooling2d")},
    **{name: (VOLUME, {"pool_size": 2, "strides": 1}) for name in ("average_pooling3d", "max_pooling3d")},
}


def resolved(root: object, name: str) -> object | None:
    """The object at a dotted name, or None where reaching it raises: Keras 3 refuses some names only on access."""
    for part in name.split("."):
        try:
            root = getattr(root, part)
        except (AttributeError, ImportError):
            return None
    return root


def native_mismatches(tf: Any) -> Iterator[str]:
    for name, native in load(API_STATUS)["natives"].items():
        old, new = resolved(tf.compat.v1, name), resolved(tf, native)
        constant = isinstance(old, (int, str, tuple))
        if old is None or not (old == new if constant else old is new):
            yield f"{name}: tf.{native} is not tf.compat.v1.{name}"


def list_mismatches(target: str) -> Iterator[str]:
    """The modules of the list in which a root has other names than are installed."""
    table = load(public_names.LIST)
    for root, found in public_names.read(target).items():
        bit = public_names.ROOTS[target][root]
        for module, names in found["names"].items():
            row = table["modules"].get(module, {})
            listed = {name for bits, names in row.items() if int(bits) & bit for name in names.split()}
            if listed != set(names):
                yield f"{root} {module}: {sorted(listed ^ set(names))}"
        for module, files in found["files"].items():
            if lost := set(files) - set(table["files"].get(module, "").split()):
                yield f"{root} {module}: {sorted(lost)}"


def created(tf: Any, action: Callable[[], object]) -> int:
    """How many variables an action makes, of whatever owner."""
    count = 0

    def creator(next_creator: Callable[..., object], **arguments: Any) -> object:
        nonlocal count
        count += 1
        return next_creator(**arguments)

    with tf.variable_creator_scope(creator):
        action()
    return count


def example(tf: Any, *shape: int, dtype: str = "float32") -> Any:
    return tf.fill(shape, "a") if dtype == "string" else tf.ones(shape, dtype)


def keras_mismatches(tf: Any, target: str) -> Iterator[str]:
    table = load(KERAS_LAYERS)
    layers = tf.keras.layers
    silent = {*table["stateless"], *(table["stateful_keras3"] if target == "keras2" else ())}
    for name, build in CONSTRUCTIONS.items():
        if not hasattr(layers, name):
            if target == "keras3":
                yield f"keras.layers.{name} does not exist"
            continue
        count = created(tf, partial(build, layers, partial(example, tf)))
        if (count == 0) != (name in silent):
            yield f"keras.layers.{name} creates {count} variables"
    for (name, argument), build in UNLESS.items():
        count = created(tf, partial(build, layers, partial(example, tf)))
        if target == "keras3" and not count:
            yield f"keras.layers.{name}({argument}=...) creates no variable"


def graph_variables(tf: Any, call: Callable[[Any], object], shape: Sequence[int]) -> list[str]:
    with tf.Graph().as_default():
        call(tf.ones(shape))
        return [variable.name for variable in tf.compat.v1.global_variables()]


def position(function: Any, parameter: str) -> int:
    # The slim shorthands (relu, linear) are partials, whose own signature has turned the later parameters keyword-only.
    return list(inspect.signature(getattr(function, "func", function)).parameters).index(parameter)


def v1_mismatches(tf: Any, target: str) -> Iterator[str]:
    table = load(V1_LAYERS)
    layers = tf.compat.v1.layers
    for name, index in table["layers"].items():
        if target == "keras3":
            if resolved(layers, name) is not None:
                yield f"compat.v1.layers.{name} is there on Keras 3"
            continue
        shape, arguments = V1_CALLS[name]
        function = getattr(layers, name)
        if position(function, "name") != index:
            yield f"compat.v1.layers.{name}: name stands at {position(function, 'name')}, not {index}"
        if not graph_variables(tf, partial(function, **arguments), shape):
            yield f"compat.v1.layers.{name} creates no variable"
    if target == "keras3":
        return
    for name, (shape, arguments) in V1_WITHOUT_VARIABLES.items():
        if graph_variables(tf, partial(getattr(layers, name), **arguments), shape):
            yield f"compat.v1.layers.{name} creates variables"
    functions = {name for name in dir(layers) if inspect.isfunction(getattr(layers, name))}
    if functions != {*V1_CALLS, *V1_WITHOUT_VARIABLES}:
        yield f"compat.v1.layers has the functions {sorted(functions)}"


def slim_mismatches(tf: Any) -> Iterator[str]:
    import tf_slim as slim

    table = load(V1_LAYERS)
    for name, index in table["slim"].items():
        function = getattr(slim, name)
        if position(function, "scope") != index:
            yield f"tf_slim.{name}: scope stands at {position(function, 'scope')}, not {index}"
        if name in SLIM_SIGNATURE_ONLY:
            continue
        shape, arguments = SLIM_CALLS[name]
        made = {path.partition("/")[0] for path in graph_variables(tf, partial(function, **arguments), shape)}
        if made != {table["slim_default_scope"][name]}:
            yield f"tf_slim.{name} creates variables in {made}"
    for name in table["slim_scope_keyword"]:
        parameters = inspect.signature(getattr(slim, name)).parameters
        if "scope" in parameters or parameters["kwargs"].kind is not inspect.Parameter.VAR_KEYWORD:
            yield f"tf_slim.{name} takes scope otherwise than by keyword"


def mismatches(target: str) -> dict[str, Any]:
    """In a child: TensorFlow's version and the mismatches of each table."""
    import tensorflow as tf

    return {
        "version": tf.__version__,
        "natives": list(native_mismatches(tf)),
        "names": list(list_mismatches(target)),
        "keras": list(keras_mismatches(tf, target)),
        "v1": list(v1_mismatches(tf, target)),
        "slim": list(slim_mismatches(tf)) if installed("tf-slim") else ["tf-slim is not installed"],
    }


@pytest.fixture(scope="module", params=TARGETS)
def report(request: pytest.FixtureRequest, children: Children) -> Mapping[str, Any]:
    """What the child interpreter of one target says."""
    answer: dict[str, Any] = children.call(request.param, mismatches, request.param)
    if tuple(int(part) for part in answer["version"].split(".")[:2]) < (2, 16):
        pytest.skip(f"TensorFlow {answer['version']} is older than 2.16, which first had Keras 3")
    return answer


def check(report: Mapping[str, Any], table: str) -> None:
    print(f"TensorFlow {report['version']}", *report[table], sep="\n")

    assert [] == report[table]


@pytest.mark.tensorflow
def test_every_native_name_is_the_same_object(report: Mapping[str, Any]) -> None:
    """What a message offers in place of an old name is bound to what compat.v1 has."""
    check(report, "natives")


@pytest.mark.tensorflow
def test_the_list_of_names_is_what_is_installed(report: Mapping[str, Any]) -> None:
    """`python -m tests.rules.public_names` writes it anew."""
    installed_tensorflow = tuple(map(int, report["version"].split(".")[:2]))
    if installed_tensorflow != (2, 21):
        pytest.skip(f"the list is TensorFlow 2.21's, and {report['version']} is installed")
    check(report, "names")


@pytest.mark.tensorflow
def test_private_modules_and_names_are_as_listed() -> None:
    """`python -m tests.rules.private_names` writes the table anew."""
    if installed("tensorflow") != (2, 21):
        pytest.skip("the table is TensorFlow 2.21's, and another one is installed")
    root = private_names.ROOTS[0]
    found = private_names.asked(sys.executable, root)
    table = load(private_names.TABLE)
    assert sorted(table["modules"][root].split()) == sorted(name[len(root) + 1 :] for name in found if name != root)
    for module, names in table["gone"].items():
        assert not set(names.split()) & set(found[module])


@pytest.mark.tensorflow
def test_parameters_are_as_listed() -> None:
    """`python -m tests.rules.signatures` writes the table anew; what is advised is a parameter."""
    if installed("tensorflow") != (2, 21):
        pytest.skip("the table is TensorFlow 2.21's, and another one is installed")
    rows = load(signatures.TABLE)["functions"]
    assert {name: row["new"].split() for name, row in rows.items()} == signatures.current(sorted(rows))
    for row in rows.values():
        assert not row["gone"].keys() & set(row["new"].split())
        assert set(filter(None, row["gone"].values())) <= set(row["new"].split())
    assert list(SWALLOWING) == signatures.accepting_anything(sorted(name for name, row in rows.items() if row["gone"]))


@pytest.mark.tensorflow
def test_compat_v1_keeps_the_parameters_of_tf1() -> None:
    """But for some, of which a call with arguments of TF1 is not led there."""
    if installed("tensorflow") != (2, 21):
        pytest.skip("the table is TensorFlow 2.21's, and another one is installed")
    rows = load(signatures.TABLE)["functions"]
    found = signatures.current([f"compat.v1.{name}" for name in sorted(rows)])
    for name, row in rows.items():
        old, new = row["old"].split(), found.get(f"compat.v1.{name}", [])
        assert (new[: len(old)] != old) == name.startswith(CHANGED_IN_V1), name


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", TARGETS)
def test_what_keras_refuses_is_as_listed(target: str) -> None:
    """`python -m tests.rules.keras_members` writes the table anew; it is made of TF 1.15's names too."""
    if installed("tensorflow") != (2, 21):
        pytest.skip("the table is TensorFlow 2.21's, and another one is installed")
    table = load(keras_members.TABLE)
    there = keras_members.asked(sys.executable, "read", [], target)["members"]
    listed = {kind: set(row[target].split()) for kind, row in table["members"].items()}
    assert {kind: set() for kind in listed} == {kind: names & set(there[kind]["any"]) for kind, names in listed.items()}
    if target == "keras3":
        rows = {name: row.split() for name, row in table["read_only"].items()}
        there = keras_members.asked(sys.executable, "read_only", list(rows), target)
        assert rows == {name: [one for one in names if one in there[name]] for name, names in rows.items()}
    keywords = {name: row[target].split() for name, row in table["keywords"].items() if target in row}
    assert keywords == keras_members.asked(sys.executable, "refused", keywords, target)


def test_every_successor_of_a_name_of_keras_is_there() -> None:
    """With Keras 3; what a target lacks is not advised on it."""
    names = set(keras_removed_symbol.SUCCESSORS.values())
    roots = ("keras", "tensorflow.keras")
    assert [] == [name for name in sorted(names) if not any(has(f"{root}.{name}", Target.KERAS3) for root in roots)]


@pytest.mark.parametrize("target", Target)
def test_every_public_name_that_is_advised_is_there(target: Target) -> None:
    """In place of a private one."""
    assert [] == [name for name in PUBLIC.values() if not has(f"tensorflow{name[2:]}", target)]


def differing_places(places: Mapping[str, Any]) -> list[str]:
    """The names of a private module that are not the very object of the public name."""
    found = []
    for module, rows in places.items():
        private = importlib.import_module(f"tensorflow.python.{module}")
        for public, names in rows:
            of = importlib.import_module(".".join(filter(None, ("tensorflow", public))))
            found += [f"{module}.{n}" for n in names.split() if getattr(private, n) is not getattr(of, n)]
    return found


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", TARGETS)
def test_a_public_place_has_the_object_of_the_private_one(target: str, children: Children) -> None:
    """With either Keras."""
    assert children.call(target, differing_places, SAME) == []


@pytest.mark.tensorflow
def test_every_keras_layer_creates_what_the_table_says(report: Mapping[str, Any]) -> None:
    """Making and calling a layer creates variables exactly where it is not listed as stateless."""
    check(report, "keras")


@pytest.mark.tensorflow
def test_every_v1_layer_has_its_name_parameter_there(report: Mapping[str, Any]) -> None:
    """The functions of compat.v1.layers that create variables are those of the table, on Keras 2 alone."""
    check(report, "v1")


@pytest.mark.tensorflow
def test_every_slim_layer_has_its_scope_parameter_there(report: Mapping[str, Any]) -> None:
    """The tf_slim functions of the table create variables and take scope at that position."""
    if report["slim"] == ["tf-slim is not installed"]:
        pytest.skip("tf-slim is not installed")
    check(report, "slim")


def test_the_list_of_names_is_small_and_sorted() -> None:
    """It is read in some milliseconds, and a change of it can be read."""
    modules = load(public_names.LIST)["modules"]

    assert sorted(modules) == list(modules)
    assert public_names.LIST.stat().st_size < 150_000


def test_every_listed_layer_is_constructed() -> None:
    """No row of the layer tables goes unexecuted."""
    keras, v1 = load(KERAS_LAYERS), load(V1_LAYERS)

    assert {*keras["stateless"], *keras["stateful_keras3"]} <= set(CONSTRUCTIONS)
    assert not set(keras["stateless"]) & set(keras["stateful_keras3"])
    assert {(name, argument) for name, arguments in keras["unless"].items() for argument in arguments} == set(UNLESS)
    assert set(v1["layers"]) == set(V1_CALLS)
    assert set(v1["slim"]) == set(SLIM_CALLS) | SLIM_SIGNATURE_ONLY


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("target", [target.value for target in Target])
def test_compat_v1_does_eagerly_what_the_table_says(target: str) -> None:
    """Of a hundred callables; `python -m tests.rules.eager_status` writes the table anew."""
    told = {name: status for status, row in load(eager_status.TABLE).items() for name in row.split()}
    chosen = random.Random(0).sample(sorted(told), 100)

    assert {name: told[name] for name in chosen} == eager_status.asked(chosen, target)


def test_what_stands_for_a_name_is_there_and_the_name_is_not() -> None:
    """On both targets, as far as successors are names of TensorFlow."""
    for name, told in load(SUCCESSORS).items():
        named = re.findall(r"`(tf\.[\w.]+)", told) if " " in told else [told] if told.startswith("tf.") else []
        assert standing(f"tensorflow.{name}", Target.KERAS3).status != "ok", name
        for target in Target:
            assert {standing(one.replace("tf.", "tensorflow.", 1), target).status for one in named} <= {"ok"}, name


def succeeded(calls: Sequence[tuple[str, str, str]]) -> dict[str, bool]:
    """Of a name of compat.v1, one of TF2 and a call: whether both give the same."""
    import numpy
    import tensorflow as tf

    def value(root: Any, name: str, expression: str) -> list[Any]:
        for part in name.split("."):
            root = getattr(root, part)
        found = tf.nest.flatten(evaluate(expression, root), expand_composites=True)
        return [numpy.asarray(one) for one in found]

    same: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, successor, expression in calls:
            old = value(tf.compat.v1, name, expression)
            new = value(tf, successor.removeprefix("tf."), expression)
            same[name] = len(old) == len(new) and all(map(numpy.array_equal, old, new))
    return same


@pytest.mark.tensorflow
def test_a_bare_name_that_stands_for_another_computes_the_same(children: Children) -> None:
    """Of those whose calls are written out: `eager_calls.py`."""
    told = load(SUCCESSORS)
    calls = [
        (name, told[name], expression)
        for names, expression in CALLS.items()
        for name in names.split()
        if re.fullmatch(r"tf\.(?!keras|saved_model|train)[\w.]+", told.get(name, ""))
    ]

    assert children.call("keras3", succeeded, calls) == {name: True for name, _, _ in calls}
