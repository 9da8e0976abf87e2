"""Bytes to text to tree, and what is said of files that fail."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Finding
from migrate_lint.linter.source import parsing
from migrate_lint.linter.source.parsing import SourceFile, parse_source
from migrate_lint.linter.source.reading import read_bytes, read_source


def read(data: bytes) -> SourceFile | Finding:
    return read_source(Path("model.py"), "model.py", data)


def parse(text: str | bytes) -> ast.Module | Finding:
    source = read(text if isinstance(text, bytes) else text.encode())
    return parse_source(source) if isinstance(source, SourceFile) else source


def refusal(text: str | bytes) -> tuple[str, int, str]:
    """Code, line and message of the finding that a text comes to."""
    found = parse(text)
    assert isinstance(found, Finding)
    return found.code, found.line, found.message


def test_a_file_on_disk_is_read(tmp_path: Path) -> None:
    """Without given bytes, the path is read; the digest is of the bytes."""
    (tmp_path / "a.py").write_bytes(b"x = 1\n")

    source = read_source(tmp_path / "a.py", "a.py")

    assert isinstance(source, SourceFile)
    assert ("x = 1\n", "a.py", 32) == (source.text, source.display, len(source.digest))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfx = 1", "x = 1"),
        (b"x\r\ny\rz\n", "x\ny\nz\n"),
        (b"# coding: latin-1\r\nx = '\xe9'", "# coding: latin-1\nx = '\xe9'"),
        (b"#!/bin/sh\r# coding: latin-1\rx = '\xe9'", "#!/bin/sh\n# coding: latin-1\nx = '\xe9'"),
        (b"\xef\xbb\xbf# coding: utf-8\nx", "# coding: utf-8\nx"),
        (b"", ""),
        (b"coding = 1", "coding = 1"),
    ],
)
def test_text_is_decoded_as_python_would(data: bytes, text: str) -> None:
    """Byte order marks, declarations and line ends do not reach the rules."""
    source = read(data)

    assert isinstance(source, SourceFile)
    assert text == source.text


def test_lines_end_at_newlines_only() -> None:
    """A form feed or a Unicode separator within a line does not shift the lines below it."""
    source = read("a\x0cb\u2028c\nd".encode())

    assert isinstance(source, SourceFile)
    assert ["a\x0cb\u2028c", "d"] == source.lines


@pytest.mark.parametrize(
    ("data", "line", "part"),
    [
        (b"x = 1\r\ny = '\xe9'\n", 2, "not UTF-8: declare the file's encoding"),
        (b"# coding\ny = '\xe9'\n", 2, "not UTF-8"),
        (b"# coding: ascii\ny = '\xe9'\n", 2, "not ascii"),
        (b"# coding: klingon\n", 1, "unknown encoding: klingon"),
        (b"# coding: rot13\n", 1, "not a text encoding"),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, "byte order mark"),
        (b"\xff\xfex\0", 1, "UTF-16"),
        (b"a\r\nb\n\0", 3, "NUL"),
    ],
)
def test_undecodable_bytes_are_named_with_their_line(data: bytes, line: int, part: str) -> None:
    """The reason says what to do about it."""
    code, at, message = refusal(data)

    assert ("TF900", line) == (code, at)
    assert part in message


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "no such file"),
        (lambda path: path.mkdir(), "it is a folder"),
        (os.mkfifo, "it is a FIFO"),
        (lambda path: path.symlink_to("nowhere"), "a link to a missing file, nowhere"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a device"),
    ],
)
def test_what_is_no_file_is_reported_at_once(tmp_path: Path, make, reason: str) -> None:  # type: ignore[no-untyped-def]
    """In particular nobody waits for a FIFO's writer."""
    path = tmp_path / "a.py"
    make(path)

    found = read_source(path, "a.py")

    assert isinstance(found, Finding)
    assert reason in found.message


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    """A sparse file of 51 MB costs nothing but a stat."""
    with open(tmp_path / "a.py", "wb") as file:
        file.truncate(51 * 1024 * 1024)

    found = read_source(tmp_path / "a.py", "a.py")

    assert isinstance(found, Finding)
    assert "larger than 20 MB" in found.message


def test_a_forbidden_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own words are the reason."""
    (tmp_path / "a.py").write_bytes(b"")

    def forbidden(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)

    with pytest.raises(OSError, match=r"^Permission denied$"):
        read_bytes(tmp_path / "a.py")


def test_a_file_that_grows_past_the_limit_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is what was read, not what `stat` said before."""
    (tmp_path / "a.py").write_bytes(b"x" * 20)
    real = os.stat(tmp_path / "a.py")
    shrunk = os.stat_result([*real[:6], 1, *real[7:10]])
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", lambda path: shrunk)
        patch.setattr(os, "fstat", lambda descriptor: shrunk)
        whole = read_bytes(tmp_path / "a.py", 20)
        with pytest.raises(OSError, match="larger"):
            read_bytes(tmp_path / "a.py", 10)

    assert b"x" * 20 == whole


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('x = 1\nprint "a"\n', 2, "print statement"),
        ("if x: print y\n", 1, "print statement"),
        ("print >>f, x\n", 1, "print statement"),
        ("print 'a' % (\n1,\n2)\n", 1, "print statement"),
        ("exec 'x' in d\n", 1, "exec statement"),
        ("try:\n    pass\nexcept ValueError, e:\n    pass\n", 3, "except X, e"),
        ("try:\n    pass\nexcept (A, B), e:\n    pass\n", 3, "except X, e"),
        ("raise ValueError, 'x'\n", 1, "raise X, value"),
        ("x = `1`\n", 1, "backticks"),
        ("a <> b\n", 1, "<>"),
        ("x = 0777\n", 1, "octal number 0777"),
        ("x = 0xFFL\n", 1, "long number 0xFFL"),
        ("x = ur'a'\n", 1, 'ur"" string'),
        ("def f(a, (b, c)):\n    pass\nprint 'x'\n", 1, "def f(a, (b, c))"),
        ("def f((a, b), c=(1, 2)):\n    pass\n", 1, "def f(a, (b, c))"),
        ("x = [1, lambda a, (b, c): b]\n", 1, "def f(a, (b, c))"),
        ("lambda (a, b): 1\n", 1, "def f(a, (b, c))"),
        ("print {1: 2}\n", 1, "print statement"),
        ("print not x\n", 1, "print statement"),
        ("print ~x\n", 1, "print statement"),
        ("print\t>> f, x\n", 1, "print statement"),
    ],
)
def test_python_2_is_recognised(text: str, line: int, what: str) -> None:
    """Also where Python 3 reads it as something else, as `print >>f, x`."""
    code, at, message = refusal(text)

    assert ("TF902", line) == (code, at)
    assert f"Python 2 ({what})" in message
    assert "2to3" in message


@pytest.mark.parametrize(
    "text",
    [
        "print('a')\nprint(1), 2\nprint -1\nprint\nx = 00\n",
        "# print >>f, x\nx = 'print >> f'\n",
        "try:\n    pass\nexcept (A, B):\n    pass\n",
        "raise ValueError('a, b') from None\n",
        "exec('x', d)\nx = '`<>`'\n",
    ],
)
def test_python_3_is_not_taken_for_python_2(text: str) -> None:
    """Look-alikes parse."""
    assert isinstance(parse(text), ast.Module)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x = 1\ndef f(:\n", 2, "cannot be parsed"),
        ("x = 1\n y = 2\n", 2, "unexpected indent"),
        ("if x:\n\ty = 1\n        z = 2\n", 3, "inconsistent use of tabs"),
        ('x = """\nprint the report\n', 1, "unterminated"),
        ("print('a'\n", 1, "never closed"),
        ("def f(a, b=(1, 2), *c: (int), d=lambda x, y=(1,): (x)) -> (int): (\n", 1, "never closed"),
        ("print not in x\nf(lambda x: x, (1, 2)); g(lambda: (1, (2)), (3)); y = \n", 2, "cannot be parsed"),
        ("(" * 2000 + ")" * 2000, 1, "too many nested parentheses"),
        ("-" * 20_000 + "1", 1, "nested too deeply"),
        ("1" * 5000, 1, "Exceeds the limit"),
        (b"# coding: unicode_escape\nx = '\\ud800'\n", 1, "surrogates"),
        ('f"{x"\n', 1, "f-string"),
    ],
)
def test_a_syntax_error_has_its_line_and_reason(text: str | bytes, line: int, reason: str) -> None:
    """Prose after an unclosed quote is not mistaken for a print statement."""
    code, at, message = refusal(text)

    assert ("TF900", line) == (code, at)
    assert reason in message


@pytest.mark.parametrize(
    ("text", "line", "version", "what"),
    [
        ("x = 1\ntype X = int\n", 2, (3, 12), "type statement"),
        ("type X[T] = list[T]\n", 1, (3, 12), "type statement"),
        ("def f[T](x: T): ...\n", 1, (3, 12), "type parameters of def f"),
        ("class A[T: int]: ...\n", 1, (3, 12), "type parameters of class A"),
        ("class A[T = int]: ...\n", 1, (3, 13), "with a default"),
        ('f"{x["a"]}"\n', 1, (3, 12), "f-string"),
        ("f'{chr(10)}{\"\\n\".join(x)}'\n", 1, (3, 12), "f-string"),
        ('x = f"""{\na["k"]  # why\n}"""\n', 1, (3, 12), "f-string"),
        ('f"{f"{f"{1}"}"}"\n', 1, (3, 12), "f-string"),
        ('t"{x}"\n', 1, (3, 14), "template string"),
        ("try:\n    pass\nexcept A, B:\n    pass\n", 3, (3, 14), "except A, B"),
        ("lazy import json\n", 1, (3, 15), "lazy import"),
    ],
)
def test_newer_syntax_is_named_with_its_version(text: str, line: int, version: tuple[int, int], what: str) -> None:
    """The message says which Python is needed and which one is running."""
    if sys.version_info[:2] >= version:
        assert isinstance(parse(text), ast.Module)
        return

    code, at, message = refusal(text)

    assert ("TF900", line) == (code, at)
    assert f"needs Python {version[0]}.{version[1]} (" in message
    assert what in message
    assert f"runs on Python {sys.version_info[0]}.{sys.version_info[1]}" in message


@pytest.mark.parametrize("text", ["+".join(["a"] * 2000), "a" + ".b" * 2000, "a" + ".b()" * 2000])
def test_long_chains_parse(text: str) -> None:
    """Machine-written sums and chains are ordinary code, but to the first releases of Python 3.12."""
    made = parse(text)

    if sys.version_info[:2] == (3, 12) and ".b()" in text and not isinstance(made, ast.Module):
        assert "Python 3.12 began with a fixed limit" in made.message
    else:
        assert isinstance(made, ast.Module)


def test_parsing_warns_of_nothing() -> None:
    r"""An invalid escape such as ``\d`` is none of the linter's business."""
    assert isinstance(parse("x = '\\d'\nx is 1\n"), ast.Module)


PIECES = """\
import tensorflow as tf


@tf.function
@other(
    1,
)
def f(x):
    return 'é' + x


if x:
    y = 1
elif z:
    y = 2
else:
    y = 3
try:
    pass
except E:
    pass
finally:
    pass
TEXT = '''
def not_a_function(:
'''
TABLE = [
1,
2]
a = 1 + \\
b
class A: pass
for i in x:
    pass
else:
    last(1)
"""


def test_a_file_in_pieces_has_the_tree_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a piece may end: in a string, a table, between a decorator and its function, before an else."""
    whole = ast.dump(ast.parse(PIECES * 3), include_attributes=True)
    for size in range(1, 60):
        monkeypatch.setattr(parsing, "_PIECE", size)
        monkeypatch.setattr(parsing, "_PIECES", 10_000)

        tree = parse(PIECES * 3)

        assert isinstance(tree, ast.Module)
        assert whole == ast.dump(tree, include_attributes=True)


def test_a_mistake_in_a_piece_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Line and reason."""
    for mistake in ("x = (1\n", "def f(:\n", "y = 1\n  z = 2\n", "x = '\n"):
        text = PIECES + mistake + PIECES
        expected = refusal(text)
        with monkeypatch.context() as patches:
            patches.setattr(parsing, "_PIECE", 10)
            patches.setattr(parsing, "_PIECES", 10_000)

            assert expected == refusal(text)


def test_of_a_table_of_data_the_first_item_is_kept() -> None:
    """In a large file; what follows stands where it stood, in a line with characters of two bytes."""
    pairs = "'é': 1, " * 20_000
    text = f"x = [{'1, -2.5e3, 0x1f, ' * 20_000}]\ny = {{{pairs}}}; z = f(1, 2, 'a')\n"
    tree = parse(text)

    assert isinstance(tree, ast.Module)
    first, _, last = tree.body
    assert isinstance(first, ast.Assign)
    assert "[1]" == ast.unparse(first.value)
    assert ast.dump(ast.parse(text).body[2], include_attributes=True) == ast.dump(last, include_attributes=True)
