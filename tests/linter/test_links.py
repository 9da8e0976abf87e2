"""Rows of a file's links."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from migrate_lint.linter.analysis import links
from migrate_lint.linter.analysis.links import (
    CallRow,
    DefaultRow,
    NestRow,
    OnceRow,
    PassRow,
    ReturnRow,
    RootRow,
    Rows,
    SlotRow,
    WrapRow,
    cells_of,
    named,
)

from .analysis import project_of

KINDS = (CallRow, SlotRow, PassRow, DefaultRow, NestRow, ReturnRow, OnceRow, WrapRow, RootRow)


def two(kind: type[NamedTuple]) -> list[NamedTuple]:
    """Two rows of a type, each cell of which is another number."""
    width = len(kind._fields)
    return [kind._make(range(start, start + width)) for start in (1, 1001)]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_come_back_with_their_names(kind: type[NamedTuple]) -> None:
    """Through JSON and arrays, whatever other rows stand between them."""
    others = [row for other in KINDS if other is not kind for row in two(other)]
    first, second = two(kind)

    kept = Rows(json.loads(json.dumps(cells_of([first, *others, second]))))

    assert [first, second] == list(kept.of(kind))
    assert [first._asdict(), second._asdict()] == [row._asdict() for row in kept.of(kind)]


def test_a_field_more_needs_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The width of a row is that of its type."""

    class Wider(NamedTuple):
        file: int
        scope: int
        column: int

    monkeypatch.setattr(links, "_ROW_TYPES", (*KINDS, Wider))

    kept = Rows(cells_of([Wider(1, 2, 3), *two(CallRow), Wider(4, 5, 6)]))

    assert [3, 6] == [row.column for row in kept.of(Wider)]
    assert two(CallRow) == list(kept.of(CallRow))


def test_half_a_row_is_an_error() -> None:
    """What was kept by another version is not read as something else."""
    cells = cells_of(two(CallRow))
    cells[0].pop()

    with pytest.raises(ValueError, match="shorter"):
        list(Rows(cells).of(CallRow))


def test_names_of_cells_that_were_lists() -> None:
    """JSON has no tuples."""
    assert [OnceRow(1, 2), OnceRow(3, 4)] == list(named(OnceRow, [[1, 2], (3, 4)]))


def test_links_are_what_their_json_is() -> None:
    """Links that were kept lead where links lead that were just made."""
    texts = {
        "net.py": """
        import functools
        import tensorflow as tf
        from ours import apply, scope, wrapped
        class Net(tf.keras.layers.Layer):
            names = [apply(n, 1) for n in "ab"]
            @functools.cached_property
            def p(self): ...
            @wrapped
            def call(self, x, kernel=None):
                with scope():
                    if kernel is None:
                        tf.function(self.step)
                return apply(self.step, x) + self.p
            def step(self, x): ...
        """,
        "ours.py": """
        import contextlib
        import tensorflow as tf
        from net import Net
        def apply(f, x): return f(x)
        def given(f=apply): return f
        def wrapped(f): return lambda *a: f(*a)
        @contextlib.contextmanager
        def scope():
            with tf.Graph().as_default():
                yield
        tf.keras.utils.get_or_create_layer("x", apply)
        Net()(1, kernel=2)
        """,
    }
    made, kept = project_of(texts), project_of(texts)
    found = made.join({})
    assert {} == kept.join(json.loads(json.dumps(found)))

    rows = {kind: [row for one in found.values() for row in Rows(one["rows"]).of(kind)] for kind in KINDS}
    assert [] == [kind for kind in KINDS if not rows[kind]]
    assert {len(kind._fields) for kind in KINDS} == {len(row) for found in rows.values() for row in found}
    functions = [(file, int(n)) for file, summary in made.summaries.items() for n in ["0", *summary["functions"]]]
    for key in functions:
        assert made.contexts(key) == kept.contexts(key)
        assert made.arguments_under(key, ("kernel",), 0, 0) == kept.arguments_under(key, ("kernel",), 0, 0)
    assert any(made.contexts(key) for key in functions)
