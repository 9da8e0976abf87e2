"""Fixes: what is applied, what a file is afterwards to the byte, and what is left alone."""

from __future__ import annotations

import json
import os
import random
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from migrate_lint.linter.cli import fixing
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import UNPARSABLE_FILE, Applicability, Edit, Finding, Fix, Via
from migrate_lint.linter.fixing.edits import applied, edits_between, moved
from migrate_lint.linter.result import Result
from migrate_lint.linter.run.fixing import Fixed, Wanted, fix, write
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

from .reports import FINDING, result_of

HEAD = "import tensorflow as tf\n\nfeed = tf.placeholder(tf.float32)\n"
OLD, NEW = "tf.nn.dropout(x, 0.75)", "tf.nn.dropout(x, rate=1 - 0.75)"
TEXTS = some.text("ab_1.(), #\n\t\u00e9", max_size=60)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fixed(*paths: str, unsafe: bool = False) -> Fixed:
    """What fixes make of files, which are not written."""
    applied_too = {Applicability.SAFE, *([Applicability.UNSAFE] if unsafe else [])}
    config = Config(base=os.getcwd())
    return fix(
        lambda unsaved: lint([*paths] or ["."], config, unsaved=unsaved, fixes=Via.NATIVE),
        Wanted(frozenset({"TF601"}), frozenset(applied_too)),
    )


def after(data: bytes, name: str = "m.py") -> bytes:
    """A file after its fixes were written; a second time nothing is to be done."""
    Path(name).write_bytes(data)
    done = fixed(name)

    assert ([], ()) == (write(done), done.left)
    assert () == fixed(name).files
    return Path(name).read_bytes()


# -- texts and edits ---------------------------------------------------------------------------------------------------


@given(TEXTS, TEXTS)
def test_edits_make_the_one_text_of_the_other(before: str, wanted: str) -> None:
    """Whatever both are."""
    assert wanted == applied(before, edits_between(before, wanted))


@given(TEXTS, TEXTS, some.text("x \n", max_size=20), some.sampled_from(["\n", "\r\n", "\r"]))
def test_edits_keep_line_ends_and_what_comes_before(before: str, wanted: str, head: str, end: str) -> None:
    """A piece is edited where it stands, and its new lines end as the lines of its text do."""
    line, column = head.count("\n") + 1, len(head) - head.rfind("\n")
    edits = edits_between(before, wanted, line, column)
    text = (head + before).replace("\n", end)
    found = applied(text, edits)

    assert (head + wanted) == re.sub("\r\n|\r", "\n", found)
    if "\n" in head + before:
        assert not set(re.findall("\r\n|\r|\n", found)) - {end}


@given(TEXTS, TEXTS)
def test_what_is_not_edited_is_found_where_it_has_gone(before: str, wanted: str) -> None:
    """The place behind all edits is as far from the end as it was."""
    before, wanted = f"{before}<", f"{wanted}<"
    edits = edits_between(f"{before}@rest", f"{wanted}@rest")
    at = len(before)
    line, column = before.count("\n", 0, at) + 1, at - before.rfind("\n", 0, at)

    text = applied(f"{before}@rest", edits)
    line, column = moved(f"{before}@rest", edits, line, column)

    assert "@rest" == "\n".join(text.split("\n")[line - 1 :])[column - 1 :]


def test_overlapping_edits_are_refused() -> None:
    """Nothing is applied."""
    with pytest.raises(ValueError, match="overlap"):
        applied("abc", [Edit(1, 1, 1, 3, ""), Edit(1, 2, 1, 4, "")])
    with pytest.raises(ValueError, match="no line 2"):
        applied("abc", [Edit(2, 1, 2, 1, "")])


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1251"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_nothing_else_changes_by_a_byte(end: str, encoding: str, last: str) -> None:
    """Neither line ends nor a byte order mark, an encoding, tabs, blanks, form feeds, comments or continuations."""
    cookie = "" if encoding.startswith("utf") else f"# -*- coding: {encoding} -*-\n"
    word = "\u0436" if encoding == "cp1251" else "\u00e9"
    text = f'{cookie}{HEAD}\fdef f(x):\n\treturn [  {OLD}  ,"{word}"\t] \\\n\t\t  # {word}{last}'
    data = text.replace("\n", end).encode(encoding)

    assert text.replace(OLD, NEW).replace("\n", end).encode(encoding) == after(data)


def test_permissions_stay() -> None:
    """Those of a script too."""
    Path("m.py").write_text(HEAD + OLD)
    os.chmod("m.py", 0o751)
    assert [] == write(fixed("m.py"))
    assert 0o751 == stat.S_IMODE(os.stat("m.py").st_mode)


def test_a_file_that_has_changed_is_not_written() -> None:
    """What somebody wrote meanwhile is theirs."""
    Path("m.py").write_text(HEAD + OLD)
    done = fixed("m.py")
    Path("m.py").write_text("x = 1\n")

    assert ["m.py: it has changed since it was linted; its fixes are not written"] == write(done)
    assert "x = 1\n" == Path("m.py").read_text()


def test_a_link_out_of_the_project_is_not_followed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The file that it leads to may be anybody's."""
    other = tmp_path_factory.mktemp("other") / "m.py"
    other.write_text(HEAD + OLD)
    Path("pyproject.toml").touch()
    Path("link.py").symlink_to(other)
    done = fixed("link.py")

    assert () == done.files
    assert [True] == ["link out of the project" in one for one in done.left]


def test_a_file_of_two_names_is_fixed_once() -> None:
    """It is one file."""
    Path("m.py").write_text(HEAD + OLD)
    Path("link.py").symlink_to("m.py")
    done = fixed("m.py", "link.py")

    assert [1] == [one.fixed.total() for one in done.files]
    assert [] == write(done)
    assert HEAD + NEW == Path("m.py").read_text()
    assert Path("link.py").is_symlink()


@pytest.mark.parametrize("text", [
    f"tf.nn.dropout({'-' * 150}x, 0.75)",
    f"print {OLD}",
    f"x = {OLD} if",
], ids=["deep", "python2", "broken"])  # fmt: skip
def test_what_is_beyond_libcst_or_python_is_left(text: str) -> None:
    """Nothing is raised, and the file stays as it is."""
    Path("m.py").write_text(HEAD + text + "\n")
    done = fixed("m.py")

    assert [] == write(done)
    assert f"{HEAD}{text}\n" == Path("m.py").read_text()


def test_suppressed_findings_stay() -> None:
    """What a comment hides is meant to be so; what is not selected too."""
    text = f"{HEAD}a = {OLD}  # migrate-lint: disable=TF601\n"
    assert text.encode() == after(text.encode())


# -- notebooks ---------------------------------------------------------------------------------------------------------


def _notebook(*cells: object, **spelling: object) -> bytes:
    document = {"cells": [*cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, **spelling).encode()  # type: ignore[arg-type]


def _cell(source: object) -> dict[str, object]:
    return {"cell_type": "code", "outputs": [{"text": [OLD]}], "source": source, "metadata": {"a": 1.50}}


@pytest.mark.parametrize(
    "spelling", [{}, {"indent": 1}, {"indent": 2, "ensure_ascii": False}, {"separators": (",", ":")}]
)
@pytest.mark.parametrize("one_text", [False, True])
def test_a_notebook_changes_in_the_sources_of_its_cells_alone(spelling: dict[str, object], one_text: bool) -> None:
    """Everything else is there to the byte: outputs that look alike, numbers, the order of names, blanks."""
    lines = ["%matplotlib inline\n", "\n", f"y = {OLD}  # \u00e9 \u2028 \\ \"\n", "!pip install x\n", f"z = {OLD}"]
    head: object = "".join(HEAD.splitlines(keepends=True)) if one_text else HEAD.splitlines(keepends=True)
    source: object = "".join(lines) if one_text else lines
    before = _notebook(_cell(head), {"cell_type": "markdown", "source": [OLD]}, _cell(source), **spelling)
    lines = [line.replace(OLD, NEW) for line in lines]
    source = "".join(lines) if one_text else lines
    wanted = _notebook(_cell(head), {"cell_type": "markdown", "source": [OLD]}, _cell(source), **spelling)

    assert wanted == after(before, "n.ipynb")


def test_a_notebook_of_format_3() -> None:
    """Its cells are spread over worksheets, and a source is an input."""
    def book(line: str) -> bytes:
        cells = [{"cell_type": "code", "input": [*HEAD.splitlines(keepends=True), line], "language": "python"}]
        return json.dumps({"worksheets": [{"cells": []}, {"cells": cells}], "nbformat": 3}).encode()

    assert book(NEW) == after(book(OLD), "n.ipynb")


def test_a_cell_without_imports_gets_one_in_a_line_of_its_own() -> None:
    """Where no other cell has a name for what the fix needs; never above what has to be the first line of its cell."""
    head, body = "from tensorflow import function, reduce_sum\n", "@function\ndef step(x):\n    print(reduce_sum(x))"
    Path("n.ipynb").write_bytes(_notebook(_cell(head), _cell(body)))
    Path("timed.ipynb").write_bytes(_notebook(_cell(head), _cell(f"%%time\n{body}")))
    config, wanted = Config(base=os.getcwd()), Wanted(frozenset({"TF201"}))
    done = fix(lambda unsaved: lint(["."], config, unsaved=unsaved, fixes=Via.NATIVE), wanted)
    new = body.replace("print", "tf.print")

    assert () == done.left
    assert [(_notebook(_cell(head), _cell(f"import tensorflow as tf\n{new}")))] == [one.now for one in done.files]


# -- rounds ------------------------------------------------------------------------------------------------------------


def _linter(find: Callable[[str], Iterator[tuple[str, int, Fix]]]) -> Callable[[Mapping[str, bytes]], Result]:
    """A linter of one file, ``m.py``: `find` gives a message, a column and a fix for its one line of text."""

    def linted(unsaved: Mapping[str, bytes]) -> Result:
        data = next(iter(unsaved.values()), Path("m.py").read_bytes())
        text = data.decode()
        found = [
            replace(FINDING, path="m.py", line=1, column=column, end_line=1, message=message, fix=one)
            for message, column, one in find(text)
        ]
        if text.count("(") != text.count(")"):
            found = [UNPARSABLE_FILE.at("m.py", "this file cannot be parsed")]
        digest = blake2b(data, digest_size=16).hexdigest()
        sources = {"m.py": (os.path.abspath("m.py"), data if unsaved else None)}
        return replace(result_of(*found), sources=sources, digests={"m.py": digest})

    return linted


def _safe(column: int, end: int, text: str) -> Fix:
    return Fix(Applicability.SAFE, (Edit(1, column, 1, end, text),))


def _each(old: str, new: str) -> Callable[[str], Iterator[tuple[str, int, Fix]]]:
    def find(text: str) -> Iterator[tuple[str, int, Fix]]:
        for at in (match.start() + 1 for match in re.finditer(re.escape(old), text)):
            yield "found", at, _safe(at, at + len(old), new)

    return find


def _run(text: str, find: Callable[[str], Iterator[tuple[str, int, Fix]]], **wanted: object) -> tuple[str, Fixed]:
    Path("m.py").write_text(text)
    done = fix(_linter(find), Wanted(frozenset({FINDING.code}), **wanted))  # type: ignore[arg-type]
    return (done.files[0].now.decode() if done.files else text), done


def test_what_overlaps_waits_for_the_next_round() -> None:
    """The first of all comes first."""
    def find(text: str) -> Iterator[tuple[str, int, Fix]]:
        if text == "abc":
            yield "one", 1, _safe(1, 3, "A")
            yield "two", 2, _safe(2, 4, "never")
        if text == "Ac":
            yield "three", 2, _safe(2, 3, "C")

    text, done = _run("abc", find)

    assert ("AC", 2) == (text, done.files[0].fixed.total())


def test_equal_edits_of_two_fixes_are_one() -> None:
    """Both need the same import."""
    def find(text: str) -> Iterator[tuple[str, int, Fix]]:
        for at in [number for number, char in enumerate(text, 1) if char == "a"]:
            yield "found", at, Fix(Applicability.SAFE, (Edit(1, 1, 1, 1, "import;"), Edit(1, at, 1, at + 1, "b")))

    assert "import;-b-b" == _run("-a-a", find)[0]


def test_a_file_that_a_fix_would_break_is_left_as_it_was() -> None:
    """With what other fixes have done to it, and it is said."""
    text, done = _run("f(a, b)", _each(")", ""))

    assert "f(a, b)" == text
    assert ("m.py: not fixed: with its fixes, this file cannot be parsed",) == done.left


def test_a_finding_that_stays_after_its_fix_is_told() -> None:
    """The fix was none."""
    text, done = _run("x = a", lambda text: iter([("found", 1, _safe(len(text) + 1, len(text) + 1, "!"))]))

    assert "x = a" == text
    assert (f"m.py: not fixed: {FINDING.code} is found in line 1 after its fix as well",) == done.left


def test_fixes_that_never_end_are_told() -> None:
    """Each is another one, and the file stays."""
    text, done = _run("a", lambda text: iter([(f"{text} is found", 1, _safe(1, 1, "a"))]))

    assert "a" == text
    assert ("m.py: not fixed: its fixes lead to others without an end",) == done.left


@pytest.mark.parametrize(("applicability", "unsafe", "applies"), [
    (Applicability.SAFE, False, True),
    (Applicability.UNSAFE, False, False),
    (Applicability.UNSAFE, True, True),
    (Applicability.DISPLAY, True, False),
])  # fmt: skip
def test_what_is_applied(applicability: Applicability, unsafe: bool, applies: bool) -> None:
    """What is only to be shown never is."""
    def find(text: str) -> Iterator[tuple[str, int, Fix]]:
        return ((m, at, replace(one, applicability=applicability)) for m, at, one in _each("a", "b")(text))

    wanted = {Applicability.SAFE, *([Applicability.UNSAFE] if unsafe else [])}
    assert ("b" if applies else "a") == _run("a", find, applicabilities=frozenset(wanted))[0]


def test_what_is_declined_is_not_asked_again() -> None:
    """Neither in a later round."""
    asked = []

    def ask(finding: Finding, text: str) -> bool:
        asked.append((finding.column, text))
        return finding.column == 2

    assert "aba" == _run("aaa", _each("a", "b"), ask=ask)[0]
    assert [(1, "aaa"), (2, "aaa"), (3, "aaa")] == asked


# -- the command line --------------------------------------------------------------------------------------------------


def _command(*words: str) -> int:
    return main(["--isolated", "--no-cache", "--target", "keras3", "--select", "TF601", *words])


def test_fix_writes_and_reports_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    """Status 1 for what is left."""
    Path("m.py").write_text(f"{HEAD}a = {OLD}\ndef f(x, keep_prob):\n    return tf.nn.dropout(x, rate=keep_prob)\n")

    assert 1 == _command("--fix", "m.py")
    said = capsys.readouterr()
    assert "m.py:6:" in said.out and "m.py:4:" not in said.out
    assert "Fixed 1 finding in 1 file: TF601 1" in said.err
    assert "--unsafe-fixes would fix 1 more" in said.err
    assert 0 == _command("--fix", "--unsafe-fixes", "m.py")
    assert "rate=1 - keep_prob" in Path("m.py").read_text()


def test_diff_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Status 1 when it would change something."""
    Path("m.py").write_text(f"{HEAD}a = {OLD}")

    assert 1 == _command("--diff", "m.py")
    said = capsys.readouterr()
    assert f"-a = {OLD}\n\\ No newline at end of file\n+a = {NEW}\n\\ No newline at end of file\n" in said.out
    assert f"{HEAD}a = {OLD}" == Path("m.py").read_text()
    Path("m.py").write_text(f"{HEAD}a = {NEW}")
    assert 0 == _command("--diff", "m.py")


def test_fix_only_reports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """And its status is 0, whatever is left."""
    Path("m.py").write_text(f"{HEAD}a = {OLD}\ndef f(x, keep_prob):\n    return tf.nn.dropout(x, rate=keep_prob)\n")

    assert 0 == _command("--fix-only", "m.py")
    assert "" == capsys.readouterr().out


def test_standard_input_is_printed(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """The code alone, also where nothing is to be fixed."""
    for text, wanted in ((f"{HEAD}a = {OLD}\r\n", f"{HEAD}a = {NEW}\r\n"), ("x = 1", "x = 1")):
        process = subprocess.run(
            [sys.executable, "-m", "migrate_lint", "--isolated", "--no-cache", "--target", "keras3", "--fix", "-"],
            input=text.encode(), capture_output=True, check=False,
        )  # fmt: skip
        assert wanted.encode() == process.stdout


@pytest.mark.parametrize("words", [
    ["--unsafe-fixes"],
    ["--fix", "--add-noqa"],
    ["--fix", "--baseline", "b.json", "--write-baseline"],
    ["--fix", "--runtime", "m.py:build"],
    ["-i"],
    ["--via", "compat.v1"],
    ["--fix", "--via", "compat.v1", "--unsafe-fixes"],
])  # fmt: skip
def test_words_that_make_no_sense(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written."""
    Path("m.py").write_text(f"{HEAD}a = {OLD}\n")

    assert 2 == _command(*words, "m.py")
    assert capsys.readouterr().err
    assert f"{HEAD}a = {OLD}\n" == Path("m.py").read_text()


@pytest.mark.parametrize(("settings", "applies"), [
    ("unfixable = ['TF601']", False),
    ("unfixable = ['TF6']\nfixable = ['ALL']", False),
    ("fixable = ['dropout-keep-prob']", True),
    ("fixable = ['TF4']", False),
])  # fmt: skip
def test_the_configuration_says_what_is_fixed(settings: str, applies: bool) -> None:
    """Selectors, as everywhere."""
    Path("migrate-lint.toml").write_text(settings)
    Path("m.py").write_text(f"{HEAD}a = {OLD}\n")
    main(["--no-cache", "--target", "keras3", "--fix-only", "m.py"])

    assert applies == (NEW in Path("m.py").read_text())


def test_what_a_baseline_knows_is_not_fixed() -> None:
    """What is not reported is not touched."""
    Path("m.py").write_text(f"{HEAD}a = {OLD}\n")
    assert 0 == _command("--baseline", "b.json", "--write-baseline", "m.py")
    Path("m.py").write_text(f"{HEAD}a = {OLD}\nb = tf.nn.dropout(x, keep_prob=0.5)\n")

    _command("--baseline", "b.json", "--fix-only", "m.py")

    assert f"{HEAD}a = {OLD}\nb = tf.nn.dropout(x, rate=1 - 0.5)\n" == Path("m.py").read_text()


def test_json_tells_the_fix_of_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    """Its edits make the text; kept findings have it too, and those of a run in text do not stand in for them."""
    Path("m.py").write_text(f"{HEAD}a = {OLD}\n")
    words = ["--isolated", "--target", "keras3", "--select", "TF601", "m.py"]
    main(words)
    for _ in range(2):
        capsys.readouterr()
        main([*words, "--output-format", "json"])
        (finding,) = json.loads(capsys.readouterr().out)["findings"]
        edits = [Edit(**edit) for edit in finding["fix"].pop("edits")]
        assert {"applicability": "safe"} == finding["fix"]
        assert f"{HEAD}a = {NEW}\n" == applied(Path("m.py").read_text(), edits)


def test_a_run_without_fixes_does_without_libcst() -> None:
    """It takes a tenth of a second to import."""
    Path("m.py").write_text(f"{HEAD}a = {OLD}\n")
    code = (
        "import sys; from migrate_lint.linter.cli.main import main; "
        "main(['--isolated', '--no-cache', '--jobs', '1', 'm.py']); sys.exit('libcst' in sys.modules)"
    )
    assert 0 == subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode


@pytest.mark.slow
def test_a_killed_run_leaves_every_file_old_or_new() -> None:
    """Whenever it is killed; and the next run leaves nothing of it."""
    rng = random.Random(1)
    before = {f"m{number}.py": f"{HEAD}a{number} = {OLD}\n" for number in range(8)}
    for _ in range(12):
        for name, text in before.items():
            Path(name).write_text(text)
        process = subprocess.Popen(
            [sys.executable, "-m", "migrate_lint", "--isolated", "--no-cache", "--target", "keras3", "--fix-only", "."],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(rng.uniform(0.3, 1.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for name, text in before.items():
            assert Path(name).read_text() in {text, text.replace(OLD, NEW)}
    _command("--fix-only", ".")
    assert {*before} == {name for name in os.listdir() if not name.startswith(".coverage")}


@pytest.mark.parametrize(("answers", "wanted"), [
    ("yn", [NEW, OLD, OLD]),
    ("?ny", [OLD, NEW, OLD]),
    ("na", [OLD, NEW, NEW]),
    ("yq", [NEW, OLD, OLD]),
])  # fmt: skip
def test_each_fix_is_asked_for(
    answers: str, wanted: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what it changes; the end of the input is a no to all that follows."""
    left = [*answers]
    monkeypatch.setattr(fixing, "is_interactive", lambda: True)
    monkeypatch.setattr(fixing, "ask", lambda question: left.pop(0) if left else "")
    Path("m.py").write_text(HEAD + "".join(f"a{number} = {OLD}\n" for number in range(3)))

    _command("-i", "m.py")

    assert HEAD + "".join(f"a{number} = {text}\n" for number, text in enumerate(wanted)) == Path("m.py").read_text()
    assert f"-a0 = {OLD}\n+a0 = {NEW}\n" in capsys.readouterr().out


@pytest.mark.parametrize(("comment", "is_fixed"), [("", True), ("  # the agents need it", False)])
def test_no_comment_is_lost(comment: str, is_fixed: bool) -> None:
    """What would be taken out with a comment is left to a person."""
    Path("m.py").write_text(f"import tensorflow as tf\n\ntf.compat.v1.enable_v2_behavior(){comment}\ntf.ones([2])\n")
    main(["--isolated", "--no-cache", "--fix-only", "m.py"])

    assert is_fixed is ("enable_v2_behavior" not in Path("m.py").read_text())


PROGRAM = """import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
with tf.Session() as session:
    print(session.run(tf.reduce_sum(x, keep_dims=True), {x: [[1.0, 2.0]]}))
"""


def test_a_program_goes_by_way_of_compat_v1(capsys: pytest.CaptureFixture[str]) -> None:
    """As a whole, and once: rules fix nothing in the same run, and kept results are those of the way."""
    Path("m.py").write_text(PROGRAM)
    words = ["--isolated", "--target", "keras3", "m.py"]
    main(words)
    main([*words, "--diff"])
    capsys.readouterr()

    main([*words, "--fix-only", "--via", "compat.v1"])
    assert "Converted 1 file to compat.v1" in capsys.readouterr().err
    head = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
    assert PROGRAM.replace("import tensorflow as tf\n", head) == Path("m.py").read_text()
    assert 0 == main([*words, "--diff", "--via", "compat.v1"])


def test_what_a_conversion_leaves_to_a_person_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """By its line before the conversion, when that is done and when it is shown."""
    Path("m.py").write_text(
        "import tensorflow as tf\nfrom tensorflow.contrib import layers\n\nlayers.dropout(tf.ones([2]))\n"
        "tf.estimator.Estimator(None)\n"
    )
    words = ["--isolated", "--no-cache", "--target", "keras3", "m.py", "--via", "compat.v1"]
    told = []
    for word in ("--diff", "--fix-only"):
        main([*words, word])
        told.append([line for line in capsys.readouterr().err.split("\n") if " m.py:" in line])

    assert told[0] == told[1]
    assert [
        "1: TF_USE_LEGACY_KERAS=1 takes the Keras that TF1 had: tf-keras belongs into the requirements",
        "1: tf_slim stands for what tf.contrib held: tf-slim belongs into the requirements",
        "5: `tf.estimator.Estimator` is not in tensorflow.compat.v1",
    ] == [line.partition(" m.py:")[2] for line in told[0]]


def test_what_is_not_converted_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """An eager program by its line, a notebook as such."""
    Path("m.py").write_text("import tensorflow as tf\n\ntf.enable_eager_execution()\nx = tf.to_float(1)\n")
    Path("n.ipynb").write_bytes(_notebook(_cell(PROGRAM)))
    kept = Path("n.ipynb").read_bytes()

    main(["--isolated", "--no-cache", "--target", "keras3", "--fix-only", "--via", "compat.v1", "."])
    said = capsys.readouterr().err
    assert "m.py:1: this program is eager" in said
    assert "n.ipynb:1: a notebook is not converted" in said
    assert kept == Path("n.ipynb").read_bytes()
