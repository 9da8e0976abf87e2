"""Tests of versions are evaluated as Python does, with the versions that a target may mean."""

from __future__ import annotations

import ast
import json
import sys
from types import SimpleNamespace

import pytest
from migrate_lint.linter.analysis.index import FileIndex
from migrate_lint.linter.analysis.versions import Versions
from migrate_lint.linter.finding import Target
from packaging import version

TENSORFLOW = {Target.KERAS2: ("2.15.1", "2.18.1", "2.21.0"), Target.KERAS3: ("2.16.2", "2.18.1", "2.21.0")}
TESTS = [
    'tf.__version__ >= "2.0"',
    '"2" > tf.__version__',
    'tf.__version__.startswith("2")',
    'tf.__version__.startswith("1.")',
    'not tf.__version__.startswith(("0.", "1."))',
    'tf.__version__[0] == "2"',
    "int(tf.__version__[0]) > 1",
    'tf.__version__.split(".")[0] != "1"',
    'int(tf.__version__.split(".")[0]) >= 2',
    'int(tf.__version__.partition(".")[0]) == 1',
    'tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 0)',
    'tuple(int(part) for part in tf.__version__.split(".")) < (2,)',
    '[int(part) for part in tf.__version__.split(".")][0] < 2',
    'float(".".join(tf.__version__.split(".")[:2])) < 2.0',
    'version.parse(tf.__version__) >= version.parse("2.0.0")',
    'version.Version(tf.__version__) < version.Version("1.15")',
    "version.parse(tf.__version__).major == 2",
    "version.parse(tf.__version__).release[:2] < (2, 4)",
    '"1.15" <= tf.__version__ < "2"',
    'tf.__version__ in ("1.14.0", "1.15.0")',
    'tf.__version__ >= "2" and tf.__version__ < "3"',
    'tf.__version__ < "2" or tf.__version__ >= "3"',
    'True if tf.__version__ >= "2" else False',
    'any(tf.__version__.startswith(one) for one in ("1.", "0."))',
    'len(tf.__version__.split(".")) == 3',
    'max(int(tf.__version__[0]), 1) == 2',
    'tf.__version__ >= "2.16"',
    'tf.__version__ >= "2.2"',
    'tf.__version__ == "2.21.0"',
    'version.parse(tf.__version__) >= version.parse("2.16")',
    "sys.version_info[0] == 2",
    "sys.version_info >= (3, 6)",
    "sys.version_info.major < 3",
]
PROGRAM = "import sys\nimport tensorflow as tf\nfrom packaging import version\nif {}:\n    pass\n"


def outcome(program: str) -> dict[Target, bool | None]:
    index = FileIndex(ast.parse(program))
    block = next(block for block in reversed(index.blocks) if block.kind == "if")
    assert isinstance(block.node, ast.expr)
    return Versions(index).outcome(block.node, block.scope)


@pytest.mark.parametrize("test", TESTS)
def test_the_outcome_is_python_s(test: str) -> None:
    """A test is known on a target where it has one outcome with all of its versions."""
    for target, versions in TENSORFLOW.items():
        found = {
            bool(eval(test, {"tf": SimpleNamespace(__version__=one), "version": version, "sys": sys}))
            for one in versions
        }
        known = outcome(PROGRAM.format(test)).get(target)
        assert known is (found.pop() if len(found) == 1 else None)


@pytest.mark.parametrize(
    "test",
    [
        "flags.tf_version >= 2",
        "hparams.eager_loading",
        'hasattr(hparams, "version")',
        '"version" in dir(hparams)',
        '"version" in vars()',
        "dir(tf)",
        'getattr(args, "tf2", False)',
        "model_version > 3",
        "is_tf2()",
        "TF2",
        "tf.executing_eagerly()",
        'os.environ.get("TF_VERSION") == "2"',
        "np.__version__ >= '2'",
    ],
)
def test_what_says_nothing_of_tensorflow_is_unknown(test: str) -> None:
    """However it is called."""
    assert {} == outcome(f"import os\nimport numpy as np\n{PROGRAM.format(test)}")


@pytest.mark.parametrize(
    ("before", "test", "holds"),
    [
        ('TF2 = tf.__version__ >= "2"', "TF2", True),
        ('TF2 = False\nif tf.__version__ >= "2":\n    TF2 = True', "TF2", True),
        ('TF1, TF2 = tf.__version__ < "2", tf.__version__ >= "2"', "TF1", False),
        ('def tf2():\n    return tf.__version__ >= "2"', "not tf2()", False),
        ("def at_least(n):\n    return int(tf.__version__[0]) >= n", "at_least(3)", False),
        ("def at_least(n=2):\n    return int(tf.__version__[0]) >= n", "at_least()", True),
        ('def tf2():\n    if tf.__version__[0] == "1":\n        return False\n    return True', "tf2()", True),
        ('tf2 = lambda: tf.__version__ >= "2"', "tf2()", True),
        ('MAJOR = int(tf.__version__.split(".")[0])', "MAJOR < 2", False),
        ("import tensorflow.compat.v1 as tf", 'tf.__version__ < "2"', False),
        ("from tensorflow import __version__ as installed", 'installed < "2"', False),
        ("try:\n    import tensorflow.contrib\n    OLD = True\nexcept ImportError:\n    OLD = False", "OLD", False),
        ("try:\n    import tensorflow as tf\n    NEW = True\nexcept ImportError:\n    NEW = False", "NEW", True),
        ("", 'hasattr(tf, "Session")', False),
        ("", 'hasattr(tf, "function")', True),
        ("", '"concat_v2" in dir(tf)', False),
        ("", '"function" not in tf.__dict__', False),
        ("from tensorflow import nn", '"seq2seq" in vars(nn)', False),
        ("NAMES = dir(tf)", '"function" in NAMES', True),
        ("", 'hasattr(tf.compat, "v1") and hasattr(tf.compat.v1, "Session")', True),
        ("", 'getattr(tf, "contrib", None) is None', True),
        ("import six", "six.PY2", False),
        ("from typing import TYPE_CHECKING", "TYPE_CHECKING", False),
        ('major, minor, _ = tf.__version__.split(".")', "int(major) < 2", False),
        ('VERSIONS = {"tf": tf.__version__}', 'VERSIONS["tf"] < "2"', False),
        ('class Config:\n    TF2 = tf.__version__ >= "2"', "Config.TF2", True),
        ("", 'sys.modules["tensorflow"].__version__ < "2"', False),
    ],
)
def test_values_are_followed(before: str, test: str, holds: bool) -> None:
    """Through names, functions, imports and attributes of TensorFlow's modules."""
    program = PROGRAM.format(test).replace("\nif ", f"\n{before}\nif ")

    assert {Target.KERAS2: holds, Target.KERAS3: holds} == outcome(program)


def dead_lines(program: str) -> list[int]:
    """The lines of the calls of `old` that run on no target."""
    index = FileIndex(ast.parse(program))
    versions = Versions(index)
    old = [call for call in index.calls if call.path == "old"]
    return [call.node.lineno for call in old if versions.is_dead(call.block, None)]


@pytest.mark.parametrize(
    "body",
    [
        "if OLD:\n        old()  # dead\n    else:\n        old()",
        "if not OLD:\n        return\n    old()  # dead",
        "if not OLD:\n        raise ValueError\n    old()  # dead",
        "if not OLD:\n        sys.exit(1)\n    old()  # dead",
        "if not OLD:\n        pytest.skip()\n    old()  # dead",
        "if OLD:\n        return\n    old()",
        "for x in y:\n        if NEW:\n            continue\n        old()  # dead\n    old()",
        "while OLD:\n        old()  # dead",
        "NEW or old()  # dead",
        "OLD and old()  # dead",
        "NEW and old()",
        "y = old() if NEW else 3\n    z = 3 if OLD else old()",
        "y = old() if OLD else 3  # dead",
        'match tf.__version__[0]:\n        case "1":\n            old()  # dead\n        case "2":\n            old()',
        'match tf.__version__[0]:\n        case "2":\n            old()\n        case _:\n            old()  # dead',
        "if OLD or x:\n        old()",
        "if OLD and x:\n        old()  # dead",
        "if NEW or x:\n        old()\n    else:\n        old()  # dead",
        "if self.new:\n        old()\n    else:\n        old()  # dead",
        "if self.is_new():\n        old()\n    else:\n        old()  # dead",
        "if self.unsure:\n        old()\n    else:\n        old()",
    ],
)
def test_dead_code_is_what_the_other_side_runs(body: str) -> None:
    """In every shape of a branch."""
    program = f'''import sys
import pytest
import tensorflow as tf
NEW = int(tf.__version__.split(".")[0]) >= 2
OLD = not NEW
class A:
    def __init__(self):
        self.new = self.unsure = NEW
    def set(self, value):
        self.unsure = value
    def is_new(self):
        return NEW
    def f(self, x, y):
        {body.replace(chr(10), chr(10) + "    ")}
'''
    expected = [number for number, line in enumerate(program.split("\n"), 1) if line.endswith("# dead")]

    assert expected == dead_lines(program)


@pytest.mark.parametrize("value", ["[tf.Module]", "(b'a',)", "({1: 2},)", "(1, [None, 'a'])"])
def test_what_other_files_may_ask_is_kept_as_it_is(value: str) -> None:
    """What holds anything else than numbers and texts is not known elsewhere, and no error."""
    text = f"import tensorflow as tf\nOLD = tf.__version__ < '2'\nCLASSES = {value} if OLD else ()\n"
    flags = Versions(FileIndex(ast.parse(text)), lambda name: None).flags()
    assert flags["OLD"] == [False] * 6
    assert json.loads(json.dumps(flags)).keys() == flags.keys()


def test_a_list_of_what_is_of_another_module_is_not_kept() -> None:
    text = "import tensorflow as tf\nCLASSES = [tf.Module] if tf.__version__ >= '2' else []\n"
    assert {} == Versions(FileIndex(ast.parse(text)), lambda name: None).flags()
