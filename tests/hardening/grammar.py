"""Projects that a grammar makes: TensorFlow's names in all kinds of statements and expressions, over several modules.

Hypothesis draws them from seeds, so each can be made again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from .source import AGAIN, SHOW, Input, Linting
from .tally import Tally

WEIGHT = 1.0

_EXAMPLES = 40
_MODULES = ("m0", "m1", "p.__init__", "p.m2", "p.m3")
_IMPORTS = (
    "import tensorflow as tf", "import tensorflow.compat.v1 as tf", "from tensorflow import keras",
    "import tensorflow.keras as k, os", "from tensorflow.keras import layers as L",
    "from tensorflow.compat.v1 import *", "import tf_slim as slim", "import numpy as np",
    "from tensorflow.contrib import slim", "import keras", "from . import m2", "from .m3 import *",
    "from m0 import *", "import m1 as tf", "from p import m2, m3 as keras", "from p.m2 import f as call, C",
    "from .. import m0", "import p.m3", "from m1 import C as D", "import random",
    "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf",
    "from __future__ import print_function",
)  # fmt: skip
_NAMES = (
    "tf", "self", "x", "y", "f", "g", "C", "D", "L", "k", "keras", "slim", "np", "m0", "m2", "p", "super", "call",
    "i", "training", "_",
)  # fmt: skip
_ATTRIBUTES = (
    "layers", "keras", "compat", "v1", "Session", "placeholder", "Variable", "get_variable", "variable_scope",
    "function", "train", "Saver", "Layer", "Model", "dense", "Dense", "Lambda", "data", "Dataset", "map",
    "batch_normalization", "AUTO_REUSE", "call", "build", "__init__", "add_weight", "run", "get_collection",
    "global_variables_initializer", "estimator", "Estimator", "contrib", "random", "log", "print", "nest", "math",
    "load_checkpoint", "Checkpoint", "restore", "GradientTape", "optimizers", "Adam", "metrics", "Mean", "utils",
    "track_tf1_style_variables", "Module", "w", "x", "fn", "append", "f", "C", "Graph", "as_default", "name_scope",
    "make_template", "Input", "Sequential", "callbacks", "numpy",
)  # fmt: skip
_DECORATORS = (
    "tf.function", "tf.function(jit_compile=True)", "staticmethod", "property", "tf.Module.with_name_scope", "f",
    "functools.wraps(f)", "tf.compat.v1.keras.utils.track_tf1_style_variables", "tf.custom_gradient",
    "k.utils.register_keras_serializable()",
)  # fmt: skip
_BASES = ("tf.keras.layers.Layer", "tf.keras.Model", "C", "D", "m2.C", "tf.Module")
_LINES = (
    "pass", "global x", "return", "x = 1  # noqa", "tf.Session()  # migrate-lint: disable=TF401",
    "# migrate-lint: disable-file=TF4", "y = 1  # noqa: TF401",
)  # fmt: skip
_METHODS = (
    "call", "build", "__init__", "__call__", "train_step", "get_config", "from_config", "f", "g", "on_epoch_end",
    "apply",
)  # fmt: skip

_names = st.sampled_from(_NAMES)
_attributes = st.sampled_from(_ATTRIBUTES)
_atoms = st.one_of(
    _names,
    st.builds("{}.{}".format, _names, _attributes),
    st.builds("tf.{}.{}".format, _attributes, _attributes),
    st.sampled_from(
        (
            "1",
            "0.5",
            "None",
            "True",
            "'a'",
            "f'{x}'",
            "b''",
            "...",
            "[]",
            "{}",
            "()",
            "-1",
            "'tf'",
            "super()",
            "lambda: x",
        )
    ),
)


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    three = st.tuples(inner, inner, inner)
    return st.one_of(
        st.builds("{}.{}".format, inner.map(_bracketed), _attributes),
        st.builds("{}({})".format, inner.map(_bracketed), inner),
        st.builds("{}({}, {}={})".format, inner.map(_bracketed), inner, _names, inner),
        st.builds("{}(*{}, **{})".format, inner.map(_bracketed), inner, inner),
        st.builds("{}[{}]".format, inner.map(_bracketed), inner),
        two.map(lambda parts: f"({parts[0]}) + ({parts[1]})"),
        two.map(lambda parts: f"({parts[0]}) and not ({parts[1]})"),
        two.map(lambda parts: f"({parts[0]}) is ({parts[1]})"),
        three.map(lambda parts: f"({parts[0]}) if ({parts[1]}) else ({parts[2]})"),
        two.map(lambda parts: f"[{parts[0]}, {parts[1]}]"),
        two.map(lambda parts: f"{{'a': {parts[0]}, 'b': {parts[1]}}}"),
        st.builds("lambda {}, y=1: {}".format, _names, inner),
        st.builds("[{} for {} in {}]".format, inner, _names, inner.map(_bracketed)),
        st.builds("{{{}: {} for {}, y in ({}) if ({})}}".format, inner, inner, _names, inner, inner),
        st.builds("({} := {})".format, _names, inner),
        st.builds("getattr({}, '{}')".format, inner, _attributes),
        st.builds("functools.partial({}, {})".format, inner, inner),
        inner.map(lambda part: part if {"'", '"', "\\"} & set(part) else f"f'{{({part})!r:>3}}'"),
    )


def _bracketed(text: str) -> str:
    return text if text.replace(".", "").replace("_", "").isalnum() and not text[0].isdigit() else f"({text})"


_expressions = st.recursive(_atoms, _composed, max_leaves=6)
_targets = st.one_of(
    _names,
    st.builds("self.{}".format, _attributes),
    st.builds("{}.{}".format, _names, _attributes),
    st.builds("{}, {}".format, _names, _names),
    st.builds("{}[{}]".format, _names, _names),
)
_simple = st.one_of(
    _expressions,
    st.builds("{} = {}".format, _targets, _expressions),
    st.builds("{} = {} = {}".format, _targets, _names, _expressions),
    st.builds("{}: {} = {}".format, _names, _expressions, _expressions),
    st.builds("{} += {}".format, _names, _expressions),
    st.builds("return {}".format, _expressions),
    st.builds("yield {}".format, _expressions),
    st.builds("assert {}, {}".format, _expressions, _expressions),
    st.builds("raise {} from {}".format, _expressions, _expressions),
    st.builds("del {}".format, _names),
    st.builds("print({})".format, _expressions),
    st.sampled_from([one for one in _IMPORTS if not {"\n", "*"} & set(one) and "future" not in one]),
    st.sampled_from(_LINES),
)


def _block(statements: list[str]) -> str:
    return textwrap.indent("\n".join(statements) + "\npass", "    ")


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=3).map(_block)
    decorators = st.lists(st.sampled_from(_DECORATORS).map("@{}\n".format), max_size=1).map("".join)
    indented = body.map(lambda text: textwrap.indent(text, "    "))
    plain = _targets.filter(lambda text: "," not in text)
    bracketed = _expressions.map(_bracketed)
    arguments = _names.map("{}_".format)
    bases = st.one_of(_atoms.map(_bracketed), st.sampled_from(_BASES))
    method = "{}def {}(self, {}, *args, y={}, **kwargs):\n{}"
    matching = "match {}:\n    case {{'a': x, **y}}:\n{}\n    case C(x=1) | [1, *y]:\n{}"
    return st.one_of(
        st.builds(method.format, decorators, st.sampled_from(_METHODS), arguments, _expressions, body),
        st.builds("{}class {}({}):\n{}".format, decorators, st.sampled_from("CDE"), bases, body),
        st.builds("if {}:\n{}\nelse:\n{}".format, _expressions, body, body),
        st.builds("if {} is None:\n{}".format, plain, body),
        st.builds("for {} in {}:\n{}".format, _targets, bracketed, body),
        st.builds("while {}:\n{}\n    break".format, _expressions, body),
        st.builds("with {} as {}:\n{}".format, bracketed, plain, body),
        st.builds("with tf.compat.v1.variable_scope({}, reuse={}):\n{}".format, _expressions, _expressions, body),
        st.builds("try:\n{}\nexcept {} as e:\n{}\nfinally:\n{}".format, body, _atoms.map(_bracketed), body, body),
        st.builds(matching.format, _expressions, indented, indented),
    )


_statements = st.recursive(_simple, _compound, max_leaves=8)
_programs = st.builds(
    "{}\n{}\n{}\n".format,
    st.sampled_from(("import tensorflow as tf", "import tensorflow.compat.v1 as tf", "from tensorflow import *")),
    st.lists(st.sampled_from(_IMPORTS), max_size=3).map("\n".join),
    st.lists(_statements, min_size=1, max_size=5).map("\n".join),
)
_projects = st.lists(_programs, min_size=2, max_size=len(_MODULES))


def _drawn(number: int) -> list[Input]:
    """The files of some projects, each with a root of its own."""
    found: list[Input] = []

    @seed(number)
    @settings(
        max_examples=_EXAMPLES,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(_projects)
    def collected(programs: list[str]) -> None:
        folder = f"e{len(found)}"
        found.append(("", f"{folder}/setup.cfg", b""))
        for name, text in zip(_MODULES, programs, strict=False):
            data = text.encode("utf-8", "surrogatepass")
            found.append(("grammar", f"{folder}/{name.replace('.', '/')}.py", data))

    collected()
    return found


def run(tally: Tally, number: int, until: Callable[[], bool]) -> None:
    """Some examples at a time, each series with a seed of its own."""
    linting = [Linting(tally, target) for target in ("keras3", "keras2")]
    while not until():
        number += 1
        linting[number % 2].judge(_drawn(number), *((AGAIN,), (SHOW,), ())[number % 3])
