"""What keeps a finding's fingerprint, and what changes it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from migrate_lint.linter.adoption.fingerprint import digest, fingerprints, identities, normalized
from migrate_lint.linter.finding import Consequence, Finding, Severity
from migrate_lint.linter.source.parsing import SourceFile
from migrate_lint.linter.source.reading import read_source

SOURCE = '''\
import tensorflow as tf


class Net:
    """A network."""

    def build(self, x):
        w = tf.get_variable("w", [3, 3])
        if x is None:
            w = tf.get_variable("w", [3, 3])
        return tf.matmul(x, w)


def main():
    session = tf.Session()
    session.run(tf.get_variable("w", [3, 3]))
'''


def findings_in(text: str, path: str = "m.py") -> list[Finding]:
    """A finding for each `tf.get_variable` and `tf.Session`, as a rule would report the name."""
    found = []
    for line, code in enumerate(text.split("\n"), 1):
        for name, rule in (("tf.get_variable", "TF101"), ("tf.Session", "TF401")):
            start = code.find(name)
            if start >= 0:
                end = start + len(name) + 1
                severity, consequence = Severity.ERROR, Consequence.BREAKS
                found.append(Finding(path, line, start + 1, line, end, rule, "slug", severity, consequence, "why"))
    return found


def source_of(text: str) -> SourceFile:
    return SourceFile(Path("m.py"), "m.py", text, "")


def prints(text: str, path: str = "m.py") -> list[str]:
    return fingerprints(findings_in(text, path), lambda _: source_of(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import tensorflow as tf\n", "# licence\n\nimport os\nimport tensorflow as tf\n"),
        ("class Net:\n", "def other():\n    pass\n\n\nclass Net:\n"),
        ("        if x is None:\n", "        x = x + 1\n        if x is None:\n"),
        ('tf.get_variable("w", [3, 3])', "tf.get_variable(\n            'w',\n            [3, 3],\n        )"),
        ("tf.Session()", "tf.Session()  # noqa: TF401"),
        ('    """A network."""\n', ""),
        ("\n\ndef main", "\n\n\n\n\ndef main"),
    ],
)
def test_edits_elsewhere_and_of_the_layout_keep_fingerprints(old: str, new: str) -> None:
    """Lines come and go around a finding, and a formatter breaks its line."""
    edited = SOURCE.replace(old, new)

    assert edited != SOURCE
    assert prints(SOURCE) == prints(edited)


def test_a_function_may_move_within_its_file_and_the_file_within_the_project() -> None:
    """The order of functions and the path take no part."""
    head, net, main = SOURCE.split("\n\n\n")
    moved = "\n\n\n".join([head, main.rstrip("\n"), net]) + "\n"

    assert sorted(prints(SOURCE)) == sorted(prints(moved))
    assert prints(SOURCE) == prints(SOURCE, "other/n.py")


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("session = tf.Session()", "session = tf.Session(target)", 3),
        ("def main():", "def run():", 2),
        ("class Net:", "class Network:", 2),
        ("session = tf.Session()", "session = None", 3),
    ],
)
def test_another_text_or_place_is_another_finding(old: str, new: str, kept: int) -> None:
    """What was written, and in which class and function."""
    before, after = set(prints(SOURCE)), set(prints(SOURCE.replace(old, new)))

    assert kept == len(before & after)


def test_equal_findings_of_a_function_are_numbered() -> None:
    """One more is one new fingerprint, wherever it stands."""
    line = '        w = tf.get_variable("w", [3, 3])\n'
    before, after = prints(SOURCE), prints(SOURCE.replace(line, line * 2, 1))

    assert 4 == len(set(before))
    assert 1 == len(set(after) - set(before))
    assert set() == set(before) - set(after)


def test_the_order_of_the_findings_does_not_matter() -> None:
    """Numbers follow the place in the file."""
    findings = findings_in(SOURCE)
    there = fingerprints(findings, lambda _: source_of(SOURCE))
    back = fingerprints(findings[::-1], lambda _: source_of(SOURCE))

    assert there == back[::-1]


def test_a_finding_is_known_by_scope_statement_and_mark() -> None:
    """A compound statement ends at its body; nested scopes are dotted."""
    text = "class A:\n    async def f(self):\n        with tf.Session() as s, b(  # why\n  'x'):\n            pass\n"
    (identity,) = identities(findings_in(text), lambda _: source_of(text))

    assert ("TF401", "A.f", 'with tf.Session()as s,b("x"):', "tf.Session") == (
        identity.code,
        identity.scope,
        identity.statement,
        identity.marked,
    )


@pytest.mark.parametrize(
    ("text", "scope", "statement"),
    [
        ("@deco(tf.Session())\ndef f():\n    pass\n", "", "deco(tf.Session())"),
        ("def f(x=tf.Session()):\n    pass\n", "", "def f(x=tf.Session()):"),
        ("try:\n    pass\nexcept tf.Session:\n    pass\n", "", "except tf.Session:"),
        ("match x:\n    case tf.Session():\n        pass\n", "", "tf.Session():"),
        ("match x:\n    case y if tf.Session():\n        pass\n", "", "y if tf.Session():"),
        ("if a:\n    pass\nelif tf.Session:\n    pass\n", "", "elif tf.Session:"),
        ("ä = 'ö'; b = tf.Session()\n", "", "b=tf.Session()"),
        ("def f():\n    a\n    # tf.Session\n    b\n", "f", "# tf.Session"),
        ("def f(:\n    tf.Session( )\n", "", "tf.Session( )"),
        ("x = [\n    1,  # one\n    tf.Session, ]\n", "", "x=[1,tf.Session]"),
    ],
)
def test_every_part_of_a_statement_has_its_text(text: str, scope: str, statement: str) -> None:
    """Headers, decorators, handlers, cases, comments and lines of a file that does not parse."""
    (identity,) = identities(findings_in(text), lambda _: source_of(text))

    assert (scope, statement) == (identity.scope, identity.key[2])


def test_a_long_statement_is_known_by_what_is_marked() -> None:
    """An edit at the other end of a long list makes no new finding of the first one."""
    lines = "".join(f"    layer_{number}(),\n" for number in range(40))
    before, after = (f"layers = [\n    tf.Session(),\n{lines}{end}]\n" for end in ("", "    last(),\n"))

    assert prints(before) == prints(after)


def test_files_without_text_and_lines_beyond_it_have_fingerprints() -> None:
    """A file that cannot be read, or that became shorter meanwhile."""
    findings = findings_in(SOURCE)

    assert 4 == len(set(fingerprints(findings, lambda _: None)))
    assert 4 == len(set(fingerprints(findings, lambda _: source_of(""))))


def test_a_finding_in_a_notebook_keeps_its_fingerprint_when_cells_are_added() -> None:
    """Neither the cell's number nor the lines take part; cells know each other's functions, and magics are no harm."""
    cell = ["%matplotlib inline\n", "def f():\n", "    s = tf.Session()\n", "%time t = tf.Session( )"]
    broken = ["def (\n", "tf.Session( )"]

    def found(cells: list[list[str]], first: int) -> list[str]:
        data = json.dumps({"cells": [{"cell_type": "code", "source": one} for one in cells]}).encode()
        places = [(first, 3, 9), (first, 4, 11), (first + 1, 2, 1)]
        findings = [
            replace(one, path="n.ipynb", cell=number, line=line, column=column, end_line=line, end_column=column + 10)
            for one in findings_in("tf.Session\n")
            for number, line, column in places
        ]
        source = read_source(Path("n.ipynb"), "n.ipynb", data)
        assert isinstance(source, SourceFile)
        assert [("f", "s=tf.Session()"), ("", "tf.Session( )")] == [
            (one.scope, one.key[2]) for one in identities(findings, lambda _: source)[::2]
        ]
        assert "t=tf.Session()" in identities(findings, lambda _: source)[1].key[2]
        return fingerprints(findings, lambda _: source)

    before = found([cell, broken], 0)

    assert 3 == len(set(before))
    assert before == found([["x = 1\n", "y = 2"], cell, broken], 1)


def test_normalizing_keeps_what_has_a_meaning() -> None:
    """Strings keep their blanks, hashes and quotes."""
    assert 'f("a  # b",r"\\d",\'"\',"""x\n  y""")' == normalized(
        'f( \'a  # b\' , r"\\d",  # note\n \'"\', """x\n  y""", )'
    )
    assert "not a in b" == normalized("not  a \\\n in b")


def test_an_info_is_known_by_its_mark() -> None:
    """The first use of a name may move, or another may become the first."""
    first, second = "def f():\n    a = tf.Session()\n", "def g():\n    return tf.Session()\n"
    before, after = (
        fingerprints([replace(findings_in(text)[0], severity=Severity.INFO)], lambda _, text=text: source_of(text))
        for text in (first + second, second + first)
    )

    assert before == after


def test_a_digest_keeps_its_parts_apart() -> None:
    """Where one text ends and the next begins takes part, and any text can."""
    assert digest("ab", "c") != digest("a", "bc")
    assert 32 == len(digest("\udcff"))


def test_many_findings_in_one_long_statement_take_no_long_time() -> None:
    """A line with 5,000 findings is normalized once, and not once for each of them."""
    name = "tf.get_variable"
    line = f"x = [{f'{name}, ' * 5000}]"
    (example,) = findings_in(f"x = [{name}]")
    starts = [5 + number * (len(name) + 2) for number in range(5000)]
    findings = [replace(example, column=start + 1, end_column=start + len(name) + 1) for start in starts]
    before = time.process_time()
    assert len(set(fingerprints(findings, lambda _: source_of(line)))) == 5000
    assert time.process_time() - before < 50
