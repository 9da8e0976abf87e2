"""Writes which attributes and keywords of Keras 2 the installed Kerases refuse.

    python -m tests.rules.keras_members --old PYTHON

PYTHON is an interpreter with TensorFlow 1.15.
Attributes are those that all instances of a kind had there or have with tf_keras (of models, any), and that no instance
has any more.
Keywords are those of functions, classes and methods; each is given, and what the installed one says counts.
A layer without a row refuses what ``layers.Layer`` does.
Read-only are the properties of a class that an instance of a subclass refuses to be given, with one Keras alone.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "rules" / "keras" / "keras_members.json"
NAMES = ROOT / "linter" / "analysis" / "public_names.json"
TARGETS = ("keras2", "keras3")
_LAYER = (
    "activity_regularizer", "autocast", "batch_input_shape", "batch_size", "dtype", "dynamic", "implementation",
    "input_dim", "input_length", "input_shape", "name", "trainable", "weights",
)  # fmt: skip
"""Keywords that a layer of Keras 2 takes by ``**kwargs``."""
_METHODS = (
    "Model.compile", "Model.evaluate", "Model.fit", "Model.load_weights", "Model.predict", "Model.test_on_batch",
    "Model.train_on_batch", "layers.Layer.add_loss", "layers.Layer.add_weight",
)  # fmt: skip
_HIDDEN = {"callbacks.ModelCheckpoint": ("load_weights_on_restart", "period")}
"""What else was taken by ``**kwargs``."""
_OTHER_RULES = ("optimizers.", "backend.", "applications.", "Model", "models.Model", "metrics.Metric")
"""What another rule judges, or nobody gives keywords that are gone."""
_DERIVED = ("callbacks.", "layers.", "losses.", "metrics.")
"""What programs derive classes from."""
_FILE = os.path.join(tempfile.gettempdir(), "keras_members.weights.h5")
_GIVEN = {
    "units": 2, "filters": 2, "kernel_size": 2, "rate": 0.5, "stddev": 0.5, "factor": 0.1, "pool_size": 2, "n": 2,
    "dims": (1,), "target_shape": (1,), "input_dim": 2, "output_dim": 2, "num_heads": 2, "key_dim": 2, "axes": 1,
    "activation": "relu", "num_tokens": 2, "height": 2, "width": 2, "height_factor": 0.1, "width_factor": 0.1,
    "scale": 0.5, "num_bins": 2, "groups": 1, "equation": "ab,bc->ac", "output_shape": 2, "function": abs,
    "state_size": 2, "filepath": _FILE, "value": 2.0, "layer": None, "cell": None, "cells": None, "fn": len,
    "min_value": 0.0, "max_value": 1.0, "num_classes": 2, "data": [], "targets": [], "length": 1, "x": None, "y": None,
}  # fmt: skip
"""What a constructor gets for the arguments that it must be given."""
_REFUSAL = re.compile("unexpected keyword|[Uu]nrecognized keyword|not recognized|not understood|Invalid keyword")


def read(names: list[str]) -> dict[str, Any]:
    """In a child: the attributes of each kind, and the keywords of what `names` are; also runs with Python 3.7."""
    keras = _keras()
    members = {}
    for kind, made in _instances(keras).items():
        each = [_members(instance) for instance in made]
        members[kind] = {"any": sorted(set.union(*each)), "all": sorted(set.intersection(*each))}
    keywords = {name: _keywords(value) for name in names for value in [_at(keras, name)] if value is not None}
    return {"members": members, "keywords": keywords}


def refused(asked: dict[str, list[str]]) -> dict[str, list[str]]:
    """In a child: the keywords that are not taken."""
    warnings.simplefilter("ignore")
    keras, found = _keras(), {}
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(2,))])
    model.compile("sgd", "mse")
    values = dict(_GIVEN, self=model, layer=keras.layers.LSTM(2), cell=keras.layers.LSTMCell(2), cells=[])
    for name, keywords in asked.items():
        value = _at(keras, name)
        if value is not None and _refusal(values, value, {}):
            raise ValueError(f"{name} refuses what it is given without any of the keywords")
        gone = [] if value is None else [keyword for keyword in keywords if _refuses(values, value, keyword)]
        if gone:
            found[name] = gone
    return found


def read_only(names: list[str]) -> dict[str, list[str]]:
    """In a child: of each class the properties that its instances refuse to be given."""
    warnings.simplefilter("ignore")
    keras, found = _keras(), {}
    values = dict(_GIVEN, layer=keras.layers.Dense(2), cell=keras.layers.LSTMCell(2), cells=[])
    for name in names:
        value = _at(keras, name)
        if inspect.isclass(value):
            try:
                instance = type("Derived", (value,), {})(**_required(value, values))
            except Exception:  # it is made of something else
                continue
            properties = [one for one in dir(value) if isinstance(inspect.getattr_static(value, one), property)]
            found[name] = [one for one in properties if one[0] != "_" and _is_read_only(instance, one)]
    return found


def _is_read_only(instance: Any, name: str) -> bool:
    try:
        setattr(instance, name, None)
    except AttributeError as error:
        return "setter" in str(error) or "set attribute" in str(error) or "the attribute" in str(error)
    except Exception:  # it wants another value
        pass
    return False


def _required(value: Any, values: dict[str, Any]) -> dict[str, Any]:
    """What must be given to a function or a class."""
    parameters = inspect.signature(value).parameters.values()
    needed = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    return {one.name: values.get(one.name) for one in needed}


def _keras() -> Any:
    import tensorflow as tf

    if tf.__version__.startswith("1."):
        tf.compat.v1.enable_eager_execution()
    return tf.keras


def _at(keras: Any, name: str) -> Any:
    value = keras
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except (AttributeError, ImportError):
            return None
    return value if callable(value) else None


def _instances(keras: Any) -> dict[str, list[Any]]:
    """Some of each kind, trained where that adds attributes."""
    import numpy as np

    layers = keras.layers
    given = keras.Input(shape=(2,))
    models = [keras.Sequential([layers.Dense(1, input_shape=(2,))]), keras.Model(given, layers.Dense(1)(given))]
    for model in models:
        model.compile("sgd", "mse")
        model.fit(np.ones((2, 2), "float32"), np.ones((2, 1), "float32"), verbose=0)
    words = keras.Input(shape=(3,))
    vectors = layers.BatchNormalization()(layers.Bidirectional(layers.LSTM(2))(layers.Embedding(2, 2)(words)))
    images = layers.Conv2D(2, 1)(layers.Lambda(lambda x: x * 2)(layers.Reshape((2, 2, 1))(vectors)))
    made = [*models[0].layers, *keras.Model(words, images).layers[1:]]
    optimizers = ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam")
    return {
        "Model": models,
        "Layer": made,
        "Optimizer": [models[0].optimizer, *(getattr(keras.optimizers, name)() for name in optimizers)],
        "Metric": [keras.metrics.Mean(), keras.metrics.Accuracy(), keras.metrics.AUC()],
        "Variable": [*models[0].weights, models[0].optimizer.iterations],
        "DType": [models[0].weights[0].dtype],
        "Callback": [keras.callbacks.Callback(), keras.callbacks.EarlyStopping()],
    }


def _members(instance: Any) -> set[str]:
    found = set()
    for name in dir(instance):
        if not name.startswith("_"):
            try:
                getattr(instance, name)
            except AttributeError:
                continue
            except Exception:  # such as a layer's `input` before it has one
                pass
            found.add(name)
    return found


def _keywords(value: Any) -> list[str]:
    """What it takes by name, its base classes' arguments included where it hands on the rest."""
    functions = [value]
    if inspect.isclass(value):
        functions = [cls.__init__ for cls in value.__mro__ if "__init__" in vars(cls)]
    found: list[str] = []
    for function in functions:
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            break
        found += [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
        if not any(one.kind is one.VAR_KEYWORD for one in parameters):
            break
    return sorted(set(found) - {"self"})


def _refuses(values: dict[str, Any], value: Any, keyword: str) -> bool:
    """Whether a call with one more keyword says that it knows none of that name."""
    shape = keyword in ("batch_input_shape", "input_shape")
    return keyword in _refusal(values, value, {keyword: (2, 2) if shape else None})


def _refusal(values: dict[str, Any], value: Any, more: dict[str, Any]) -> str:
    """What is said where a keyword is not known; an empty text for any other error."""
    required = _required(value, values)
    required.update(more)
    try:
        value(**required)
    except Exception as error:
        return str(error) if _REFUSAL.search(str(error)) else ""
    return ""


def public() -> list[str]:
    """The names of Keras that tf_keras and Keras 3 share, and the methods of a model."""
    listed = json.loads(NAMES.read_text(encoding="utf-8"))["modules"]
    found = []
    for module, row in listed.items():
        if module == "keras" or module.startswith("keras."):
            below = f"{module}."[len("keras.") :]
            found += [below + name for bits, names in row.items() if int(bits) & 48 == 48 for name in names.split()]
    return sorted(name for name in found if not name.startswith(_OTHER_RULES)) + list(_METHODS)


def _is_layer(name: str) -> bool:
    """Whether Keras 2's layers of that name take what any layer does."""
    module, _, last = name.rpartition(".")
    return module == "layers" and not last.startswith("Input") and last not in ("serialize", "deserialize")


def asked(python: str, what: str, question: Any, target: str = "keras3") -> Any:
    """What an interpreter answers: `read`, `refused` or `read_only`, of what it is asked."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    environment.pop("TF_USE_LEGACY_KERAS", None)
    if target == "keras2":
        environment["TF_USE_LEGACY_KERAS"] = "1"
    with tempfile.TemporaryDirectory() as folder:  # some of what is called writes files
        said = subprocess.run(
            [python, "-W", "ignore", os.path.abspath(__file__), "--child", what],
            input=json.dumps(question).encode(),
            env=dict(environment, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            check=True,
        ).stdout
    return json.loads(said.decode().splitlines()[-1])


_ANSWERS = {"read": read, "refused": refused, "read_only": read_only}


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--old", help="an interpreter with TensorFlow 1.15")
    parser.add_argument("--child", choices=tuple(_ANSWERS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        question = json.load(sys.stdin)
        print("\n" + json.dumps(_ANSWERS[given.child](question)))
        return
    names = public()
    read_of = {target: asked(sys.executable, "read", names, target) for target in TARGETS}
    olds = [asked(given.old, "read", names), read_of["keras2"]]
    candidates = {}
    for name in names:
        keywords = {keyword for old in olds for keyword in old["keywords"].get(name, ())}
        keywords |= {*_HIDDEN.get(name, ()), *(_LAYER if _is_layer(name) else ())}
        candidates[name] = sorted(keywords)
    members: dict[str, dict[str, str]] = {}
    keywords_of: dict[str, dict[str, str]] = {}
    for target in TARGETS:
        for kind, has in read_of[target]["members"].items():
            had = "any" if kind == "Model" else "all"
            gone = {name for old in olds for name in old["members"][kind][had]} - set(has["any"])
            members.setdefault(kind, {})[target] = " ".join(sorted(gone))
        for name, gone in asked(sys.executable, "refused", candidates, target).items():
            keywords_of.setdefault(name, {})[target] = " ".join(gone)
    for name in [name for name in names if name.startswith("layers.") and name not in ("layers.Layer", *_METHODS)]:
        if keywords_of.setdefault(name, {}) == keywords_of["layers.Layer"]:
            del keywords_of[name]
    classes = [name for name in public() if name.startswith(_DERIVED)] + ["Model", "Sequential"]
    old, new = (asked(sys.executable, "read_only", classes, target) for target in TARGETS)
    fixed = {name: " ".join(sorted(set(new[name]) - set(old[name]))) for name in classes if name in new and name in old}
    table = {
        "about": "Attributes and keywords of tf.keras in TF 1.15.5 or of tf_keras 2.21 that a target refuses.",
        "members": members,
        "keywords": keywords_of,
        "read_only": {name: row for name, row in fixed.items() if row and row != fixed["layers.Layer"]}
        | {"layers.Layer": fixed["layers.Layer"]},
    }
    TABLE.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
