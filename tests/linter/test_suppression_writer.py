"""Comments that are written to suppress findings: where they stand, and that nothing else changes."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from migrate_lint.linter.adoption import suppression_writer
from migrate_lint.linter.adoption.suppression_writer import Written, suppress_findings, why_no_reason
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.result import Result
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

HEAD = "import tensorflow as tf\n"
MARK = "  # migrate-lint: disable="
COMMENT = re.compile(rb"  # migrate-lint: disable=[TF\d,]+")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def linted(**settings: object) -> Result:
    return lint(["."], Config(base=os.getcwd(), **settings))  # type: ignore[arg-type]


def shown(result: Result) -> list[str]:
    return [f"{one.path}:{one.line}:{one.code}" for one in result.findings]


def written(data: bytes | str, reason: str = "", name: str = "m.py") -> bytes:
    """A file after its findings were suppressed; a new run finds nothing then, no unused comment either."""
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    result, said = suppress_findings(linted(), reason)

    assert ([], ()) == (shown(result), said.failed)
    assert [] == shown(linted())
    return Path(name).read_bytes()


def text(*lines: str) -> str:
    """The lines below the import after their findings were suppressed."""
    return written(HEAD + "\n".join(lines) + "\n").decode().removeprefix(HEAD).removesuffix("\n")


def added(before: bytes, after: bytes) -> list[bytes]:
    """The comments that were put in; without them the file is as it was."""
    assert before == COMMENT.sub(b"", after)
    return COMMENT.findall(after)


def test_a_comment_ends_the_line() -> None:
    """Codes in their order, the reason behind them."""
    assert f"x = tf.to_float(1){MARK}TF406" == text("x = tf.to_float(1)")
    assert (
        f"{HEAD}x = tf.to_float(tf.layers.dense(1, 2)){MARK}TF406,TF410 -- until #12 is done\n".encode()
        == written(f"{HEAD}x = tf.to_float(tf.layers.dense(1, 2))\n", "until #12 is done")
    )  # fmt: skip


def test_an_own_comment_is_extended() -> None:
    """Its reason stays, and so does the way it is spaced."""
    before = "x = tf.to_float(tf.layers.dense(1, 2))  # migrate-lint: disable = TF406 , TF410 -- it is old"
    assert before == text(before)
    before = "x = tf.to_float(tf.layers.dense(1, 2))  # x # migrate-lint: disable = TF406 -- it is old"
    assert before.replace("TF406", "TF406,TF410") == text(before)
    before = "x = tf.to_float(tf.layers.dense(1, 2))  # migrate-lint: disable=moved-or-removed-symbol"
    assert f"{before},TF410" == text(before)


def test_other_comments_are_kept() -> None:
    """They come first, since some count only there."""
    for comment in ("# type: ignore[x]", "# noqa: E501", "# noqa: TF401, E501", "# migrate-lint: disable-file=TF401"):
        before = f"s = tf.Session(tf.to_float(1))  {comment}"
        codes = "TF406" if "TF401" in comment else "TF401,TF406"
        assert f"{before}{MARK}{codes}" == text(before)


def test_several_lines_take_the_comment_where_the_finding_begins() -> None:
    """Within brackets every line can."""
    assert text("x = [", "    tf.layers.dense(", "        1,", "        2,", "    )", "]") == "\n".join(
        ["x = [", f"    tf.layers.dense({MARK}TF410", "        1,", "        2,", "    )", "]"]
    )


def test_where_its_first_line_cannot_the_last_one_takes_the_comment() -> None:
    """A backslash allows none behind it."""
    Path("m.py").write_text(f"{HEAD}x = tf. \\\n    to_float(1)\n")
    result, _ = suppress_findings(linted())

    assert ([], []) == (shown(result), shown(linted()))
    assert f"{HEAD}x = tf. \\\n    to_float(1){MARK}TF406\n" == Path("m.py").read_text()


def test_a_finding_without_any_line_is_left_and_named() -> None:
    """Its file is not touched, or only for the others."""
    before = f"{HEAD}x = tf.to_float(1) + \\\n    2\ny = tf.to_int32(1)\nz = f'''\n{{tf.to_int64(1)}}\n'''\n"
    Path("m.py").write_text(before)
    result, said = suppress_findings(linted())

    assert ["m.py:2:TF406", "m.py:6:TF406"] == shown(result) == shown(linted())
    assert before.replace("int32(1)", f"int32(1){MARK}TF406") == Path("m.py").read_text()
    assert [text.split(": no ")[0] for text in said.left] == [
        "m.py:2:5: TF406 is left",
        "m.py:6:2: TF406 is left",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks_stay(end: str, last: bool, mark: bytes) -> None:
    """Nothing but comments is put in."""
    lines = ["import tensorflow as tf", "\x0c", "x = tf.to_float(1)\t", "y = '\u2028\x85'", "z = tf.to_int32('é')"]
    before = mark + (end.join(lines) + end * last).encode()

    assert [f"{MARK}TF406".encode()] * 2 == added(before, written(before))


def test_mixed_line_ends_stay() -> None:
    """Line by line."""
    before = b"import tensorflow as tf\r\nx = tf.to_float(1)\ry = tf.to_float(2)\nz = '''\r\n\r\n''';tf.to_int32(1)\r\n"

    assert [f"{MARK}TF406".encode()] * 3 == added(before, written(before))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8", "euc-jp", "shift_jis", "koi8-r"])
def test_encodings_stay(encoding: str) -> None:
    """As the file declares them."""
    letters = {"latin-1": "é", "cp1252": "€", "utf-8": "é€", "euc-jp": "日本", "shift_jis": "日本", "koi8-r": "да"}
    code = f"# coding: {encoding}\n{HEAD}x = tf.to_float('{letters[encoding]}')  # {letters[encoding]}\n"

    assert [f"{MARK}TF406".encode()] == added(code.encode(encoding), written(code.encode(encoding)))


def test_a_reason_that_the_file_cannot_hold_is_refused() -> None:
    """The file stays as it was."""
    before = f"# coding: latin-1\n{HEAD}x = tf.to_float('é')\n".encode("latin-1")
    Path("m.py").write_bytes(before)
    result, said = suppress_findings(linted(), "später €")

    assert (["m.py:3:TF406"], before) == (shown(result), Path("m.py").read_bytes())
    assert "m.py: the suppressions cannot be written: the reason cannot be written in iso-8859-1" in said.failed[0]


@pytest.mark.parametrize("reason", ["a\nb", "x # noqa", "x # migrate-lint: disable=TF102", "\x1b[31m", "\ud800"])
def test_a_reason_that_would_be_something_else_is_refused(reason: str) -> None:
    """It is text on one line."""
    assert why_no_reason(reason) is not None


@pytest.mark.parametrize("reason", ["see #12", ", TF102", "später", "noqa of old", ""])
def test_other_reasons_are_taken(reason: str) -> None:
    """Also those that begin like a list of codes."""
    assert why_no_reason(reason) is None


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_permissions_stay(mode: int) -> None:
    """Scripts stay scripts."""
    Path("m.py").touch()
    Path("m.py").chmod(mode)
    written(f"{HEAD}tf.to_float(1)\n")

    assert mode == stat.S_IMODE(Path("m.py").stat().st_mode)


def test_a_link_stays_and_its_file_is_written_once() -> None:
    """Both names show the same findings."""
    Path("real").mkdir()
    Path("real/m.py").write_text(f"{HEAD}tf.to_float(1)\n")
    Path("link.py").symlink_to("real/m.py")
    result, said = suppress_findings(linted())

    assert ([], []) == (shown(result), shown(linted()))
    assert (True, f"{HEAD}tf.to_float(1){MARK}TF406\n") == (Path("link.py").is_symlink(), Path("link.py").read_text())
    assert Written(2, 1) == said


def test_a_read_only_file_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """For the superuser too; the other files are written."""
    for name in ("a.py", "b.py"):
        Path(name).write_text(f"{HEAD}tf.to_float(1)\n")
    Path("a.py").chmod(0o444)

    assert 2 == main(["--isolated", "--no-cache", "--add-noqa"])
    assert "a.py: the suppressions cannot be written: this file is read-only" in capsys.readouterr().err
    assert ["a.py:2:TF406"] == shown(linted())


def test_nothing_is_left_beside_the_file() -> None:
    """No temporary file."""
    written(f"{HEAD}tf.to_float(1)\n")

    assert ["m.py"] == os.listdir()


def test_what_no_comment_may_hide_gets_none() -> None:
    """Files that cannot be parsed, and unused comments."""
    Path("a.py").write_text("def :\n")
    Path("b.py").write_text("x = 1  # migrate-lint: disable=TF101\n")
    result, said = suppress_findings(linted())

    assert (["a.py:1:TF900", "b.py:1:TF901"], Written(0, 0)) == (shown(result), said)


def test_notebooks_are_refused_once_each(capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do instead."""
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [code | {"source": [HEAD, "tf.to_float(1)\n", "tf.to_float(2)\n"]}]
    before = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    Path("n.ipynb").write_text(before)

    assert 1 == main(["--isolated", "--no-cache", "--add-noqa"])
    assert 1 == capsys.readouterr().err.count("--add-noqa does not write notebooks: put the comment into the cell")
    assert before == Path("n.ipynb").read_text()


def test_the_option_takes_no_path_for_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """A reason stands behind an equals sign."""
    Path("src").mkdir()
    Path("src/m.py").write_text(f"{HEAD}tf.to_float(1)\n")

    assert 0 == main(["--isolated", "--no-cache", "--add-noqa", "src"])
    assert "findings suppressed by comments: 1; files written: 1" in capsys.readouterr().err
    assert f"{HEAD}tf.to_float(1){MARK}TF406\n" == Path("src/m.py").read_text()
    Path("src/m.py").write_text(f"{HEAD}tf.to_float(1)\n")
    assert 0 == main(["--isolated", "--no-cache", "--add-noqa=old", "src"])
    assert f"{HEAD}tf.to_float(1){MARK}TF406 -- old\n" == Path("src/m.py").read_text()
    assert 2 == main(["--isolated", "--add-noqa", "-"])
    assert 2 == main(["--isolated", "--add-noqa=x # noqa", "src"])


def test_what_a_baseline_hides_gets_no_comment() -> None:
    """Only what is shown does."""
    options = ["--isolated", "--no-cache", "--baseline", "b.json"]
    Path("m.py").write_text(f"{HEAD}tf.to_float(1)\n")
    assert 0 == main([*options, "--write-baseline"])
    Path("m.py").write_text(f"{HEAD}tf.to_float(1)\ntf.to_int32(1)\n")
    assert 0 == main([*options, "--add-noqa"])

    assert f"{HEAD}tf.to_float(1)\ntf.to_int32(1){MARK}TF406\n" == Path("m.py").read_text()


def test_what_a_killed_run_left_is_removed_where_nothing_is_written() -> None:
    """Its file is complete, so there is no finding beside which to look."""
    Path("m.py").write_text("x = 1\n")
    Path(".migrate-lint-x/.git").mkdir(parents=True)
    Path(".migrate-lint-x/.git/lock").write_text("")
    suppress_findings(linted())

    assert ["m.py"] == os.listdir()


def test_code_that_would_change_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last look before the file is replaced."""
    before = f"{HEAD}x = tf.to_float(1) + \\\n    2\n"
    Path("m.py").write_text(before)
    monkeypatch.setattr(suppression_writer, "_able", lambda source: frozenset({1, 2, 3}))
    _, said = suppress_findings(linted())

    assert ("m.py: the suppressions cannot be written: ", before) == (said.failed[0][:42], Path("m.py").read_text())


def _shuffled(lines: Iterable[str], seed: int) -> list[str]:
    mixed = list(lines)
    random.Random(seed).shuffle(mixed)
    return mixed


@pytest.mark.parametrize("seed", range(20))
def test_any_mixture_of_statements_is_suppressed(seed: int) -> None:
    """Strings, brackets, decorators, continuations, comments; in any order and with any line ends."""
    statements = [
        "x = tf.to_float(1)", "x = '''\n a\n''' + str(tf.to_float(1))", "x = (\n  tf.to_float(\n 1))", "@tf.function\n"
        "def f(x):\n    return tf.to_float(x)", "with tf.Session() as s:  # noqa: E501\n    s.run(1)",
        "if tf.to_float(1): x = [tf.to_int32(1),\n  # a comment\n  tf.layers.dense(1, 2)]", "x = tf.to_float(1);",
        "x = tf.to_float(\n'''\\n''')", "x = 1 + \\\n  tf.to_float(1)", "class A(tf.keras.layers.Layer):\n"
        "    def call(self, x):\n        return x * tf.Variable(1.)", "x = lambda: tf.to_float(1)  # hm",
        "tf.app.run()", "x = f'{tf.to_float(1)}'", "\x0cx = tf.to_int32(1) \t",
    ]  # fmt: skip
    end = ("\n", "\r\n", "\r")[seed % 3]
    before = (HEAD + "\n".join(_shuffled(statements, seed)) + "\n").replace("\n", end).encode()

    assert 13 < len(added(before, written(before)))


_WRITER = """
import os
from migrate_lint.linter.settings.config import Config
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.adoption.suppression_writer import suppress_findings
result = lint(["m.py"], Config(base=os.getcwd()))
before = open("m.py", "rb").read()
print("ready", flush=True)
while True:
    suppress_findings(result)
    with open("next", "wb") as file:
        file.write(before)
    os.replace("next", "m.py")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_file() -> None:
    """Twenty kills at random moments."""
    moments = random.Random(5)
    before = (HEAD + "tf.to_float(1)\n" * 300).encode()
    after = (HEAD + f"tf.to_float(1){MARK}TF406\n" * 300).encode()
    seen = set()
    for _ in range(20):
        Path("m.py").write_bytes(before)
        writer = subprocess.Popen([sys.executable, "-c", _WRITER], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        with writer.stdout:
            writer.stdout.readline()
            time.sleep(moments.random() / 10)
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        seen.add(Path("m.py").read_bytes())

    assert {before, after} >= seen


CHANGED = "m.py: it has changed since it was linted; the suppressions are not written"
STALE = f"{HEAD}x = tf.placeholder(1)\ny = 2\n"


@pytest.mark.parametrize(
    "after", [f"import os\n{STALE}", STALE.replace("(1)", "(2)"), STALE + "\n", STALE.replace("\n", "\r\n"), ""]
)
def test_what_was_not_linted_is_not_written(after: str) -> None:
    """A file that was saved meanwhile is left as it is, byte for byte, and its findings stay."""
    Path("m.py").write_text(STALE)
    result = linted()
    Path("m.py").write_bytes(after.encode())

    left, said = suppress_findings(result)

    assert (0, 0, (CHANGED,)) == (said.findings, said.files, said.failed)
    assert shown(result) == shown(left)
    assert after.encode() == Path("m.py").read_bytes()


def test_what_is_saved_while_the_comments_are_made_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is looked at once more in the moment before it is replaced."""
    Path("m.py").write_text(STALE)
    replace = suppression_writer.replace_file

    def late(path: str, data: bytes, expected: bytes) -> None:
        Path("m.py").write_text("z = 3\n")
        replace(path, data, expected)

    result = linted()
    monkeypatch.setattr(suppression_writer, "replace_file", late)

    assert (CHANGED,) == suppress_findings(result)[1].failed
    assert "z = 3\n" == Path("m.py").read_text()
    assert ["m.py"] == os.listdir()


def test_what_changes_while_it_is_linted_is_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its findings may be of either content, and are not kept for later runs."""
    from migrate_lint.linter.run import engine

    Path("m.py").write_text(STALE)
    read = engine.read_source

    def late(path: Path, display: str, data: bytes | None = None) -> object:
        Path("m.py").write_text(f"import os\n{STALE}")
        return read(path, display, data)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "read_source", late)
        result = lint(["."], Config(base=os.getcwd()), cache=tmp_path / "cache")

    assert (CHANGED,) == suppress_findings(result)[1].failed
    Path("m.py").write_text(STALE)
    assert ["m.py:2:TF402"] == shown(lint(["."], Config(base=os.getcwd()), cache=tmp_path / "cache"))


def test_one_of_two_runs_writes() -> None:
    """Both have linted the same content."""
    Path("m.py").write_text(STALE)
    first, second = linted(), linted()

    assert 1 == suppress_findings(first)[1].files
    assert (CHANGED,) == suppress_findings(second)[1].failed
    assert 1 == Path("m.py").read_text().count("TF402")


@pytest.mark.slow
def test_runs_at_once_write_once() -> None:
    """Whichever is first; the others find nothing left, or say that the file has changed."""
    command = [sys.executable, "-m", "migrate_lint", "--no-cache", "--jobs", "1", "--add-noqa=", "."]
    for _ in range(4):
        for name in "abcd":
            Path(f"{name}.py").write_text(STALE)
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
        said = [run.communicate()[1] for run in runs]

        assert {run.returncode for run in runs} <= {0, 2}, said
        for name in "abcd":
            assert STALE.replace("(1)", f"(1){MARK}TF402") == Path(f"{name}.py").read_text()
        assert {"a.py", "b.py", "c.py", "d.py"} == set(os.listdir())


def test_a_changed_file_ends_the_command_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is named."""
    Path("m.py").write_text(STALE)
    suppress = suppression_writer.suppress_findings

    def late(result: Result, reason: str) -> tuple[Result, Written]:
        Path("m.py").write_text("import os\n" + STALE)
        return suppress(result, reason)

    monkeypatch.setattr(suppression_writer, "suppress_findings", late)

    assert 2 == main(["--no-cache", "--add-noqa=", "."])
    printed = capsys.readouterr()
    assert CHANGED in printed.err
    assert "import os" not in printed.out  # nor is the new text shown as the old one
