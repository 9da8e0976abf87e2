"""How expressions are written down as paths."""

from __future__ import annotations

import ast

import pytest
from migrate_lint.linter.analysis.paths import alternatives, path_of, split_head


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("x", "x"),
        ("tf.layers.dense", "tf.layers.dense"),
        ("tf.train.Saver().restore", "tf.train.Saver().restore"),
        ("self.cells[0].call", "self.cells[].call"),
        ("getattr(layers, 'Conv2D')", "layers.Conv2D"),
        ("getattr(layers, name)", "getattr()"),
        ("importlib.import_module('tensorflow').keras", "!tensorflow.keras"),
        ("functools.partial(tf.function, jit_compile=True)", "tf.function"),
        ("(await f()).x", "f().x"),
        ("a + b", None),
        ("'text'.join", None),
    ],
)
def test_path(text: str, path: str | None) -> None:
    """Names, attributes, calls and items make a path; anything else has none."""
    assert path == path_of(expression(text))


def test_long_chains_have_no_path() -> None:
    """A chain of 2,000 attributes names nothing, and costs no recursion."""
    assert path_of(expression("a" + ".b" * 2000)) is None


@pytest.mark.parametrize(
    ("text", "paths"),
    [("a if x else b", ["a", "b"]), ("a or b", ["a", "b"]), ("None if x else b.c", ["b.c"]), ("1", [None])],
)
def test_alternatives(text: str, paths: list[str | None]) -> None:
    """A value that can be several things has a path for each; a literal None has none."""
    assert paths == alternatives(expression(text))


def test_split_head() -> None:
    """The first name ends at the first dot, call or item."""
    assert [("tf", ".layers().x"), ("f", "()"), ("x", "")] == [split_head(p) for p in ("tf.layers().x", "f()", "x")]
