"""Python 2 is named as such, and read as Python 3 would read it where the extra is there."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Finding
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config
from migrate_lint.linter.source import python2
from migrate_lint.linter.source.parsing import SourceFile, parse_source
from migrate_lint.linter.source.python2 import readable

OLD = """import tensorflow as tf

# é
def net(x):
    print "building", \\
        x.get_shape()
    try:
        y = tf.mul(x, x)
    except ValueError, e:
        raise RuntimeError, "bad"
    print >>log, "é", tf.sub(y, x), `x`
    if 1 <> 2: return tf.neg(x)  # migrate-lint: disable=TF406
    return 0777L, ur"abc", tf.div_no_such(x)
"""

needs_fissix = pytest.mark.skipif(importlib.util.find_spec("fissix") is None, reason="the extra is not installed")


def found(folder: Path) -> list[Finding]:
    (folder / "pyproject.toml").write_text("", "utf-8")
    return lint([str(folder)], Config(base=str(folder))).findings


def source(text: str) -> SourceFile:
    return SourceFile(Path("x.py"), "x.py", text, "")


def test_without_the_extra_the_message_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python2, "_CONVERTER", "no_such_converter")
    (tmp_path / "old.py").write_text(OLD, "utf-8")

    findings = found(tmp_path)

    assert [("TF902", 5)] == [(one.code, one.line) for one in findings]
    assert "was not linted" in findings[0].message
    assert "migrate-lint[python2]" in findings[0].message


@needs_fissix
def test_with_the_extra_its_findings_are_given_in_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text(OLD, "utf-8")

    findings = found(tmp_path)

    assert [("TF902", 5), ("TF406", 8), ("TF406", 11), ("TF406", 13)] == [(one.code, one.line) for one in findings]
    assert "was linted as it reads in Python 3" in findings[0].message
    assert path.read_text("utf-8") == OLD


@needs_fissix
def test_other_files_see_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import tensorflow as tf\nprint 1\nmultiply = tf.mul\n", "utf-8")
    (tmp_path / "new.py").write_text("from old import multiply\ny = multiply(1, 2)\n", "utf-8")

    findings = found(tmp_path)

    assert {("old.py", "TF902"), ("old.py", "TF406")} <= {(Path(one.path).name, one.code) for one in findings}


@needs_fissix
def test_columns_stay_in_the_line_as_it_is_written(tmp_path: Path) -> None:
    text = "import tensorflow as tf\nexec 'a' in tf.mul\nx = `tf.mul`\n"
    (tmp_path / "old.py").write_text(text, "utf-8")

    lines = text.split("\n")

    for one in found(tmp_path):
        assert 1 <= one.column <= len(lines[one.line - 1]) + 1
        assert 1 <= one.end_column <= len(lines[one.end_line - 1]) + 1


@needs_fissix
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(a, (b, c)):\n    print a\n", id="a line would be added"),
        pytest.param("print 'a'\nx = = 1\n", id="it is no Python 2 either"),
        pytest.param("print 'a'\nasync = 1\n", id="a name that is a keyword"),
    ],
)
def test_what_cannot_be_read_is_not_linted(text: str) -> None:
    refused = parse_source(source(text))
    assert isinstance(refused, Finding)

    same, said = readable(source(text), refused)

    assert same.text == text
    assert isinstance(said, Finding)
    assert "was not linted, since it cannot be read" in said.message or said.code == "TF900"


@needs_fissix
def test_a_raise_of_two_lines_keeps_both() -> None:
    text = "import tensorflow\nprint 1\nraise ValueError, \\\n    'a'\nx = 1\nprint 2\n"
    refused = parse_source(source(text))
    assert isinstance(refused, Finding)

    whole, _ = readable(source(text), refused)

    assert whole.text == "import tensorflow\nprint(1)\nraise ValueError('a')\n\nx = 1\nprint(2)\n"


@needs_fissix
@pytest.mark.parametrize("ending", ["", "\n", "\n\n\n"])
def test_the_end_of_the_file_stays(ending: str) -> None:
    text = "import tensorflow\nprint 'a'" + ending
    refused = parse_source(source(text))
    assert isinstance(refused, Finding)

    whole, _ = readable(source(text), refused)

    assert whole.text == "import tensorflow\nprint('a')" + ending
