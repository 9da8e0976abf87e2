"""The era of a file is told by its own names, or else by those of all others."""

from __future__ import annotations

import pytest
from migrate_lint.linter.analysis.eras import Era, era_of_name

from .analysis import file_of

OLD = "import tensorflow as tf\ntf.Session()\n"
NEW = "import tensorflow as tf\ntf.optimizers.Adam()\n"
EITHER = """
try:
    import tensorflow.compat.v1 as tf
except ImportError:
    import tensorflow as tf
tf.Session()
"""
BOTH = "import tensorflow as tf\ntf.nn.dropout(tf.ones([2]), 0.5)\n"


@pytest.mark.parametrize(
    ("name", "era"),
    [
        ("tensorflow.Session", Era.TF1),
        ("tensorflow.train.AdamOptimizer().minimize", Era.TF1),
        ("tensorflow.contrib.layers.fully_connected", Era.TF1),
        ("tensorflow.contrib", Era.TF1),
        ("tensorflow.compat.v1.Session", Era.TF2),
        ("tensorflow.function", Era.TF2),
        ("tensorflow.optimizers.Adam", Era.TF2),
        ("tensorflow.summary.create_file_writer", Era.TF2),
        ("tensorflow.nn.dropout", Era.UNKNOWN),
        ("tensorflow.keras.layers.Dense", Era.UNKNOWN),
        ("tensorflow.no_such_name", Era.UNKNOWN),
        ("tensorflow", Era.UNKNOWN),
        ("numpy.Session", Era.UNKNOWN),
    ],
)
def test_names_tell_the_era(name: str, era: Era) -> None:
    assert era_of_name(name) is era


@pytest.mark.parametrize(
    ("text", "era"),
    [
        (OLD, Era.TF1),
        (NEW, Era.TF2),
        (OLD + NEW, Era.MIXED),
        (BOTH, Era.UNKNOWN),
        ("import tensorflow.compat.v1 as tf\ntf.Session()\n", Era.TF2),
        ("from tensorflow.contrib import slim\nslim.conv2d\n", Era.TF1),
        (EITHER, Era.MIXED),
    ],
)  # fmt: skip
def test_a_file_tells_its_era(text: str, era: Era) -> None:
    assert file_of({"example.py": text}).era is era


@pytest.mark.parametrize(
    ("others", "era"),
    [({"a.py": OLD}, Era.TF1), ({"a.py": NEW}, Era.TF2), ({"a.py": OLD, "b.py": NEW}, Era.UNKNOWN),
     ({"a.py": OLD + NEW}, Era.MIXED), ({"a.ipynb": OLD}, Era.UNKNOWN), ({"a.py": BOTH}, Era.UNKNOWN)],
)  # fmt: skip
def test_the_others_tell_the_era_of_a_file_that_does_not(others: dict[str, str], era: Era) -> None:
    assert file_of({"example.py": BOTH, **others}).era is era


def test_what_tells_the_era_is_shown() -> None:
    old = file_of({"example.py": "import tensorflow as tf\n\ntf.ones([2])\ntf.Session()\n"})
    assert [*old.era_told] == [("example.py", 4, "`tf.Session` is TF1's")]
    silent = file_of({"example.py": BOTH, "a.py": OLD})
    assert [(told.path, told.line) for told in silent.era_told] == [("a.py", 1)]
    assert not file_of({"example.py": BOTH}).era_told
