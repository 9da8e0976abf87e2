"""Where a finding's statement, its body and the function around it begin and end."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from migrate_lint.runtime_checks.statements import Statements

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


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "scale.py"
    path.write_text(TEXT, "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("line", "statement", "body", "function"),
    [
        pytest.param(14, [13, 15], [13, 15], [6, 16], id="an_expression_of_several_lines"),
        pytest.param(10, [10, 12], [10, 16], [6, 16], id="the_header_of_a_with"),
        pytest.param(8, [6, 9], [6, 16], None, id="a_function_with_its_decorators"),
        pytest.param(6, [6, 9], [6, 16], None, id="a_decorator"),
        pytest.param(3, [3, 5], [3, 16], None, id="a_class"),
        pytest.param(1, [1, 1], [1, 1], None, id="an_import"),
        pytest.param(18, [18, 18], [18, 20], None, id="a_match"),
        pytest.param(20, [20, 20], [20, 20], None, id="a_case"),
        pytest.param(24, [24, 24], [24, 24], None, id="an_exception_handler"),
        pytest.param(2, [2, 2], [2, 2], None, id="an_empty_line"),
    ],
)
def test_spans(file: str, line: int, statement: list[int], body: list[int], function: list[int] | None) -> None:
    """Header, body and function are spans of lines, both ends included."""
    found = Statements().around(file, line, line)

    assert (statement, body, function) == (found["statement"], found["body"], found["function"])


def test_text_is_the_statement_as_written(file: str) -> None:
    """Of a compound statement it is the header."""
    assert 'with tf.name_scope(\n            "scale"\n        ) as scope:' in Statements().around(file, 10, 10)["text"]


@pytest.mark.parametrize("data", [b"print 'two'\n", b"\xff\xfe\x00", b"x = (\n"])
def test_a_file_that_cannot_be_parsed_has_the_findings_own_lines(tmp_path: Path, data: bytes) -> None:
    """A verdict needs a place, whatever the file is."""
    path = tmp_path / "old.py"
    path.write_bytes(data)
    found: dict[str, Any] = Statements().around(str(path), 3, 5)

    assert {"statement": [3, 5], "body": [3, 5], "function": None, "text": ""} == found


def test_a_file_that_is_gone_has_the_findings_own_lines(tmp_path: Path) -> None:
    """Likewise."""
    assert [3, 3] == Statements().around(str(tmp_path / "gone.py"), 3, 3)["statement"]


def test_line_ends_of_any_kind_give_the_same_spans(tmp_path: Path) -> None:
    """CRLF and a byte order mark change no line number."""
    path = tmp_path / "windows.py"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())

    assert [13, 15] == Statements().around(str(path), 14, 14)["statement"]


def test_a_notebook_is_not_parsed(tmp_path: Path) -> None:
    """No run imports one, and its JSON would read as a Python expression of any size."""
    path = tmp_path / "a.ipynb"
    path.write_text('{"cells": [\n1\n]}', "utf-8")

    around = Statements().around(str(path), 2, 2)

    assert {"statement": [2, 2], "body": [2, 2], "function": None, "text": ""} == around
