"""Create-once guards: what is one, and what only looks like one."""

from __future__ import annotations

from textwrap import indent

import pytest
from migrate_lint.linter.analysis.execution_context import Context

from .analysis import call, file_of


def guarded(body: str, before: str = "", init: str = "pass", after: str = "") -> bool:
    """Whether ``make()`` in a method with this body is under a guard."""
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    head = f"{before}\nclass Net:\n    def __init__(self):\n        {init}\n"
    text = f"{head}    def call(self, x, training=False, cache=None):\n{lines}\n{after}\n"
    return call(file_of({"example.py": text}), "make").guarded


@pytest.mark.parametrize(
    "body",
    [
        "if self.v is None:\n    self.v = make()",
        "if self.v is None and training:\n    self.v = make()",
        "if None is None and self.v == None:\n    self.v = make()",
        "if not hasattr(self, 'v'):\n    self.v = make()",
        "if not hasattr(self, 'v'):\n    setattr(self, 'v', make())",
        "if getattr(self, 'v', None) is None:\n    self.v = make()",
        "if x not in self.d:\n    self.d[x] = make()",
        "if not x in self.d:\n    self.d[x] = make()",
        "if not self.layers:\n    self.layers.append(make())",
        "if len(self.layers) < 3:\n    self.layers.append(make())",
        "if len(self.layers) == 0:\n    self.layers.append(make())",
        "if self.first:\n    make()\n    self.first = False",
        "if self.v is not None:\n    return self.v\nself.v = make()",
        "if self.v is None:\n    pass\nelse:\n    return self.v\nself.v = make()",
        "if self.v is not None:\n    pass\nelse:\n    self.v = make()",
        "try:\n    return self.v\nexcept AttributeError:\n    self.v = make()",
        "try:\n    v = self.d[x]\nexcept (KeyError, TypeError):\n    v = self.d[x] = make()",
        "self.v = self.v or make()",
        "self.v = make() if self.v is None else self.v",
        "v = getattr(self, 'v', None)\nif v is None:\n    self.v = make()",
        "d = self.d\nif x not in d:\n    d[x] = make()",
        "v = self.d.get(x)\nif v is None:\n    v = make()\n    self.d[x] = v",
        "if x.kernel is None:\n    x.kernel = make()",
        "global V\nif V is None:\n    V = make()",
        "if not self.ready:\n    if training:\n        self.v = make()\n    self.ready = True",
    ],
)
def test_guard(body: str) -> None:
    """A lasting state is tested for absence, and supplied under the test."""
    assert guarded(body, before="V = None")


@pytest.mark.parametrize(
    "body",
    [
        "make()",
        "if training:\n    self.v = make()",
        "if self.use_bias:\n    b = make()",
        "if not self.use_bias:\n    b = make()",
        "if x is None:\n    x = make()",
        "if self.v is None:\n    v = make()",
        "if self.v is not None:\n    self.v = make()",
        "if self.v is None:\n    return\nself.v = make()",
        "if x in self.d:\n    self.d[x] = make()",
        "self.d.setdefault(x, make())",
        "if self.built:\n    self.v = make()",
        "if hasattr(self, 'v'):\n    self.v = make()",
        "for self.i in range(3):\n    self.v = make()",
        "try:\n    x()\nexcept ValueError:\n    self.v = make()",
        "if self.v is None or training:\n    self.v = make()",
        "self.v = make()",
        "if self.cfg.pool:\n    make()\n    self.fc(x)",
    ],
)
def test_no_guard(body: str) -> None:
    """An ordinary condition, a local, the wrong branch, or an evaluated default protects nothing."""
    assert not guarded(body)


def test_helper_under_the_guard_supplies_the_state() -> None:
    """`if self.v is None: self._make()` counts if _make sets v, not if it does something else."""
    body = "if self.v is None:\n    make()\n    self._make()"

    assert guarded(body, after="    def _make(self):\n        self.v = 1")
    assert not guarded(body, after="    def _make(self):\n        self.w = 1")


@pytest.mark.parametrize(
    ("body", "may_be_one"),
    [
        ("if x not in cache:\n    cache[x] = make()", True),
        ("if self.v is None:\n    self._make()\n    make()", True),
        ("if self.v is None:\n    y = self._make()\n    make()", False),
    ],
)
def test_what_hangs_on_unknown_code_may_be_a_guard(body: str, may_be_one: bool) -> None:
    """The next call may be given the same cache, or a new one; an inherited method that is called for its effect."""
    lines = indent(body, "        ")
    text = f"import tensorflow as tf\nclass Net(tf.keras.Model):\n    def call(self, x, cache):\n{lines}\n"
    site = call(file_of({"example.py": text}), "make")

    assert not site.guarded
    assert site.runs(Context.FORWARD)
    assert may_be_one != site.runs(Context.FORWARD, without=Context.UNSURE)


def test_a_flag_of_its_own() -> None:
    """A `built` flag that the class sets itself in its constructor is its own; Keras' is already true in `call`."""
    assert guarded("if not self.built:\n    self.build(make())")
    assert guarded("if not self.built:\n    self.v = make()\n    self.built = True", init="self.built = False")
