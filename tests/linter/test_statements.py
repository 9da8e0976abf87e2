"""Where a statement begins and ends, and which one stands at a line."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from migrate_lint.linter.analysis.statements import Statements, lines_of, span_of

TEXT = dedent(
    """\
    import tensorflow as tf

    class Scale(
        tf.keras.layers.Layer,
    ):
        @tf.function(
            autograph=False)
        def call(self,
                 x):
            with tf.name_scope(
                "scale"
            ) as scope:
                y = tf.Variable(
                    2.0,
                )
                return x * y

    match tf.__version__:
        case "2":
            VALUE = 1
    try:
        import flags
    except ImportError:
        flags = None
    """
)


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        pytest.param(14, (13, 15, 15), id="an_expression_of_several_lines"),
        pytest.param(10, (10, 12, 16), id="the_header_of_a_with"),
        pytest.param(8, (6, 9, 16), id="a_function_with_its_decorators"),
        pytest.param(6, (6, 9, 16), id="a_decorator"),
        pytest.param(3, (3, 5, 16), id="a_class"),
        pytest.param(1, (1, 1, 1), id="an_import"),
        pytest.param(18, (18, 18, 20), id="a_match"),
        pytest.param(20, (20, 20, 20), id="a_case"),
        pytest.param(24, (24, 24, 24), id="an_exception_handler"),
    ],
)
def test_lines(line: int, lines: tuple[int, int, int]) -> None:
    """First line, last of the header and last of all, both ends included."""
    found = Statements(ast.parse(TEXT)).at(line)

    assert found is not None
    assert lines == lines_of(found)
    assert (lines[0], lines[2]) == span_of(found)


def test_an_empty_line_is_in_no_statement() -> None:
    """Unless it is within one."""
    assert Statements(ast.parse(TEXT)).at(2) is None
