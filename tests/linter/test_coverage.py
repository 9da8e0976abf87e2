"""What a run says of what it could not resolve."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.reporters import Paint, coverage, summary
from migrate_lint.linter.result import Coverage, Result
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

BESIDE = "import tensorflow as tf\n\n\ndef thing(x):\n    return x\n"
LAYER = "class L(tf.keras.layers.Layer):\n    def call(self, x):\n        "


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _result(text: str = "", cache: Path | None = None, name: str = "m.py") -> Result:
    Path(name).write_text(f"import tensorflow as tf\n{text}\n")
    Path("beside.py").write_text(BESIDE)
    return lint([name], Config(base=os.getcwd()), cache=cache)


def _found(text: str) -> Coverage:
    found = _result(text).coverage
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "calls", "unresolved"),
    [
        ("print(1)", 1, 0),
        ("tf.ones(3)", 1, 0),
        ("tf.ones(3).numpy()", 2, 0),
        ("def f():\n    pass\nf()", 1, 0),
        ("class C:\n    pass\nC()", 1, 0),
        ("class C:\n    def m(self):\n        return self.n()\n    def n(self):\n        pass", 1, 0),
        ("def f():\n    return tf.ones\nf()(3)", 2, 0),
        ("import numpy as np\nnp.load('x').sum()", 2, 0),
        ("import beside\nbeside.thing(1)", 1, 0),
        ("from beside import *\nthing(1)", 1, 0),
        ("from elsewhere import *\nthing(1)", 1, 0),
        ("'a'.join([])", 1, 0),
        ("f'{1}'.strip()", 1, 0),
        ("(tf.ones if y else tf.zeros)(3)", 1, 0),
        ("fns = [tf.ones]\nfns[0](3)", 1, 0),
        ("fns = {'a': tf.ones}\nfns['a'](3)", 1, 0),
        ("(lambda: 1)()", 1, 0),
        ("def f(g):\n    g(3)", 1, 0),
        ("def f(g):\n    g.x(3)", 1, 0),
        ("nowhere(3)", 1, 1),
        ("y = 1 + 2\ny.method()", 1, 1),
        ("getattr(tf, 'on' + 'es')(3)", 2, 1),
        ("(a + b).sum()", 1, 1),
        ("for f in fs:\n    f(1)", 1, 1),
        ("[g(1) for g in gs]", 1, 1),
        ("class C:\n    def m(self):\n        self.thing(1)", 1, 1),
        ("async def f():\n    await later()", 1, 1),
        ("@hidden()\ndef f():\n    pass", 1, 1),
        ("import beside\nbeside.nothing(1)", 1, 1),
    ],
)
def test_calls_that_lead_nowhere_are_counted(text: str, calls: int, unresolved: int) -> None:
    """A name of another package is known; what an expression made, or a loop brought, is not."""
    found = _found(text)

    assert (calls, unresolved) == (found.calls, found.unresolved_calls)


@pytest.mark.parametrize(
    ("text", "calls", "unresolved"),
    [
        ("hidden(1)", 0, 0),
        ("def f(x):\n    return hidden(x)", 0, 0),
        ("@tf.function\ndef f(x):\n    return hidden(tf.abs(x))", 2, 1),
        (f"{LAYER}return hidden(x)", 1, 1),
        (f"{LAYER}return tf.abs(x)", 1, 0),
        (f"{LAYER}return self.more(x)\n\n    def more(self, x):\n        return hidden(x)", 2, 1),
        ("with tf.Graph().as_default():\n    @tf.function\n    def f(x):\n        return tf.abs(x)", 1, 0),
    ],
)
def test_those_in_traced_code_are_counted_apart(text: str, calls: int, unresolved: int) -> None:
    """Also where it is called from there."""
    found = _found(text)

    assert (calls, unresolved) == (found.traced_calls, found.unresolved_traced_calls)


def test_calls_of_parameters_are_counted_apart() -> None:
    """They are what callers make of them."""
    assert 2 == _found("def f(g, h):\n    g(h.x())").parameter_calls


def test_names_and_values_are_counted() -> None:
    """A name that nothing binds, and one of a value that nothing is known of."""
    found = _found("y = 1 + 2\ny.z\nnowhere\ntf.abs\nprint")

    assert (4, 1, 1) == (found.names, found.unresolved_names, found.unresolved_values)


def test_long_names_are_counted() -> None:
    """A chain of calls stands for ever more characters."""
    text = "x = tf\n" + "".join(f"x{n} = {'x' if not n else f'x{n - 1}'}.{'a' * 90}()\n" for n in range(40))

    assert 0 < _found(text).long_names < 40
    assert 0 == _found("x = tf.abs(1)\nx.shape").long_names


def test_star_imports_from_elsewhere_are_counted() -> None:
    """Of one of the project every name is known."""
    assert 1 == _found("from numpy import *\nfrom beside import *").foreign_stars
    assert 1 == _found('if tf.__version__ < "2":\n    print(1)\nprint(2)').dead_calls


def test_what_is_kept_has_the_same_numbers(tmp_path: Path) -> None:
    """Whether or not there was anything to report."""
    for text in ("nowhere(1)", "tf.Session()\nnowhere(1)", ""):
        cold, warm, none = (_result(text, cache).coverage for cache in (tmp_path / "c", tmp_path / "c", None))

        assert cold == warm == none != Coverage()


def test_a_file_that_does_not_reach_tensorflow_is_told() -> None:
    """And so is one that could not be read."""
    Path("plain.py").write_text("print(1)\n")
    Path("broken.py").write_text("import tensorflow (\n")
    _result("tf.ones(nowhere(1))", name="a.py")

    result = lint(["a.py", "plain.py"], Config(base=os.getcwd()))
    assert [
        "All checks passed: 2 files, 1 of which reaches TensorFlow.",
        "Not followed: 1 of 2 calls; --verbose tells what else was not resolved.",
    ] == summary(result, Paint(False))[:2]
    passed = summary(lint(["plain.py"], Config(base=os.getcwd())), Paint(False))
    assert "Nothing to check: 1 file, none of which reaches TensorFlow." == passed[0]
    assert 2 == len(passed)
    result = lint(["a.py", "broken.py", "plain.py"], Config(base=os.getcwd()))
    assert "looked at: 3 files, 1 of which reaches TensorFlow, 1 could not be read" == next(coverage(result))


def test_traced_code_that_was_not_followed_is_told() -> None:
    """It is where most rules look."""
    result = _result("@tf.function\ndef f(x):\n    return hidden(x)")

    assert (
        "Not followed: 1 of 1 call, 1 of them in forward passes and traced code; --verbose tells what else was not "
        "resolved."
    ) == summary(result, Paint(False))[1]


def test_it_is_told_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error, and as data."""
    _result("from numpy import *\n\n\ndef f(g):\n    return g(nowhere(missing))")

    main(["-v", "--no-cache", "--output-format", "json", "m.py"])
    out, err = capsys.readouterr()

    assert [
        "migrate-lint: looked at: 1 file, 1 of which reaches TensorFlow, 0 could not be read",
        "migrate-lint: not resolved: 0 of 2 calls (0 of 0 in forward passes and traced code), 0 of 3 names, "
        "the values of 0 more",
        "migrate-lint: followed as far as callers are known: 1 call of parameters",
        "migrate-lint: names too long to follow: 0; star imports from other packages, of which any name may come: 1",
        "migrate-lint: for other versions than the target's, or never reached: 0 calls",
    ] == err.splitlines()[-5:]
    told = json.loads(out)["summary"]["coverage"]
    assert {*Coverage._fields, "unread", "not_followed"} == set(told)
    assert (1, 1, 0, {}) == tuple(told[key] for key in ("foreign_stars", "parameter_calls", "unread", "not_followed"))


def test_the_files_that_were_not_followed_are_told() -> None:
    """Each with its number; the others are left out."""
    for name, text in (("a.py", "nowhere(1)\nnowhere(2)"), ("b.py", "tf.ones(1)"), ("c.py", "(a + b).x()")):
        _result(text, name=name)

    assert {"a.py": 2, "c.py": 1} == lint(["."], Config(base=os.getcwd())).not_followed
