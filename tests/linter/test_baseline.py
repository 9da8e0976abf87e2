"""Findings that are known from before: hidden, counted, and never mistaken for others."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.adoption import baseline
from migrate_lint.linter.adoption.baseline import PRUNE, WRITE, BaselineError, BaselineStatus, hold, load
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.result import Result
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config, ConfigError, parse

from .edits import Tree

MODEL = """\
import tensorflow as tf


def build(x):
    x = tf.layers.dense(x, 1)
    return tf.to_float(x)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def linted(*paths: str, **settings: object) -> Result:
    return lint(paths or ["."], Config(base=os.getcwd(), **settings))  # type: ignore[arg-type]


def shown(result: Result) -> list[str]:
    return [f"{one.path}:{one.line}:{one.code}" for one in result.findings]


def hazards(result: Result) -> Counter[str]:
    """The statements that findings are about, as `Tree.hazards` has them."""
    found: Counter[str] = Counter()
    for finding in result.findings:
        source = result.source(finding.path)
        assert source is not None
        line = source.lines[finding.line - 1].strip()
        following = source.lines[finding.line].strip()
        found[f"{line}\n        {following}" if line.endswith(",") else line] += 1
    return found


def plain(hazards: Counter[str]) -> Counter[str]:
    """Counts without regard to how a statement is laid out."""
    found: Counter[str] = Counter()
    for text, number in hazards.items():
        found[re.sub(r",\s+", ", ", text)] += number
    return +found


def standing(result: Result) -> tuple[int, int, int, int]:
    assert isinstance(result.baseline, BaselineStatus)
    return result.baseline.left, result.baseline.initial, result.baseline.stale, result.baseline.unseen


def write(text: str = MODEL, path: str = "m.py") -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text)


def test_what_was_written_is_hidden() -> None:
    """It counts as hidden, and the file is clean."""
    write()
    hold(linted(), "b.json", WRITE)

    result = hold(linted(), "b.json")

    assert ([], 2, 0) == (shown(result), len(result.hidden), result.status)
    assert (2, 2, 0, 0) == standing(result)


def test_the_file_has_a_finding_a_line_in_order() -> None:
    """What git merges is lines."""
    write()
    write(path="a/z.py")
    hold(linted(), "b.json", WRITE)
    lines = Path("b.json").read_text().split("\n")

    today = date.today().isoformat()
    head = ["{", '"version": 1,', '"initial": 4,', '"history": {', f'"{today}": 4', "},", '"findings": [']
    assert head == lines[: len(head)]
    assert ["]", "}", ""] == lines[-3:]
    rows = [json.loads(line.rstrip(",")) for line in lines[len(head) : -3]]
    assert {"path": "a/z.py", "code": "TF406", "scope": "build", "text": "return tf.to_float(x)"} == rows[0]
    assert rows == sorted(rows, key=lambda row: list(row.values()))


def test_writing_twice_writes_the_same_bytes() -> None:
    """Nothing in the file is of the run."""
    write()
    hold(linted(), "b.json", WRITE)
    first = Path("b.json").read_bytes()
    hold(linted("m.py"), "b.json", WRITE)

    assert first == Path("b.json").read_bytes()


def test_the_file_keeps_what_was_left_on_each_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """A day on which nothing changed is none of them; a file of before has none at all."""

    class Day(date):
        @classmethod
        def today(cls) -> Day:
            return cls(2026, 11, day)

    monkeypatch.setattr(baseline, "date", Day)
    write()
    day = 1
    hold(linted(), "b.json", WRITE)
    day = 2
    hold(linted(), "b.json", WRITE)
    day = 3
    write(MODEL.replace("tf.to_float(x)", "x"))
    status = hold(linted(), "b.json", PRUNE).baseline
    assert status is not None
    assert (("2026-11-01", 2), ("2026-11-03", 1)) == status.history == load("b.json").history
    text = Path("b.json").read_text()
    start, end = text.index('"history"'), text.index('"findings"')
    Path("b.json").write_text(text[:start] + text[end:])
    assert () == load("b.json").history


@pytest.mark.parametrize(
    ("history", "kept"),
    [
        ('{"2026-11-03": 1, "2026-11-01": 2}', (("2026-11-01", 2), ("2026-11-03", 1))),
        ('{"2026-11-01": "2", "2026-11-02": true, "2026-11-03": -1, "2026-11-04": 1.5, "2026-11-05": 3}', None),
        ('{"yesterday": 2, "20261101": 2, "2026-13-01": 2, "2026-11-05": 3}', None),
        ('["2026-11-01"]', ()),
        ("null", ()),
    ],
)
def test_what_is_no_day_with_a_number_is_left_out_of_the_history(
    history: str, kept: tuple[tuple[str, int], ...] | None
) -> None:
    """The findings of such a file, as a merge may leave it, are known all the same."""
    write()
    hold(linted(), "b.json", WRITE)
    text = Path("b.json").read_text()
    start, end = text.index('"history"'), text.index('"findings"')
    Path("b.json").write_text(f'{text[:start]}"history": {history},\n{text[end:]}')

    assert ((("2026-11-05", 3),) if kept is None else kept) == load("b.json").history
    assert [] == shown(hold(linted(), "b.json"))


@pytest.mark.parametrize(
    ("history", "told"),
    [
        ('{\n"2026-11-01": 2,\n"2026-11-02": "1"\n}', [(6, 'and does not count: "2026-11-02": "1"')]),
        ('{\n"2026-11-01": [2, 1],\n"later": 1\n}', [(5, '"2026-11-01": [2, 1]'), (6, '"later": 1')]),
        ('{\n"2026-11-01": 2,\n"2026-11-01": 2,\n"2026-11-01": 1\n}', [(7, "has 2026-11-01 twice, with 2 and 1")]),
        ('["2026-11-01"]', [(4, 'is no object of days with numbers and does not count: ["2026')]),
        ("null", [(4, "is no object of days with numbers and does not count: null")]),
        ('{},\n"history": {"2026-11-01": 2}', [(4, "is there twice, of which the last one counts")]),
    ],
)
def test_damage_of_the_history_is_told_and_not_written_away(
    history: str, told: list[tuple[int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file and the line, in every format; nothing of it is lost, as nothing is written before it is mended."""
    write()
    hold(linted(), "b.json", WRITE)
    text = Path("b.json").read_text()
    start, end = text.index('"history"'), text.index('"findings"')
    damaged = f'{text[:start]}"history": {history},\n{text[end:]}'
    Path("b.json").write_text(damaged)
    options = ["--isolated", "--no-cache", "--baseline", "b.json", "--output-format", "json"]

    assert 0 == main(options)
    said = capsys.readouterr()
    lines = [line for line in said.err.splitlines() if "the history of the baseline" in line]
    assert len(told) == len(lines) == len(json.loads(said.out)["summary"]["baseline"]["damage"])
    for (line, words), shown_line in zip(told, lines, strict=True):
        assert shown_line.startswith(f"migrate-lint: b.json:{line}: ") and words in shown_line
    for action in ("--prune-baseline", "--write-baseline"):
        assert 2 == main([*options, action])
        assert f"b.json:{told[0][0]}: " in capsys.readouterr().err
        assert damaged == Path("b.json").read_text()
    assert 0 == main([*options, "--fix"])
    assert f"b.json:{told[0][0]}: the history of the baseline" in capsys.readouterr().err


def test_two_lists_of_findings_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """As of JSON the last one alone would count, and the next writing would forget the others."""
    write()
    hold(linted(), "b.json", WRITE)
    text = Path("b.json").read_text()
    Path("b.json").write_text(text.replace('"findings": [', '"findings": [],\n"findings": ['))

    assert 2 == main(["--isolated", "--no-cache", "--baseline", "b.json"])
    line = text.count("\n", 0, text.index('"findings"')) + 2
    assert f"b.json:{line}: the findings of the baseline are there twice" in capsys.readouterr().err


def test_one_more_of_the_same_is_new() -> None:
    """A baseline of two equal statements hides two, wherever in the file they are."""
    write(MODEL.replace("    return", "    x = tf.layers.dense(x, 1)\n    return"))
    hold(linted(), "b.json", WRITE)
    write(MODEL.replace("    return", "    x = tf.layers.dense(x, 1)\n" * 2 + "    return"))

    assert ["m.py:7:TF410"] == shown(hold(linted(), "b.json"))


def test_progress_outlives_pruning() -> None:
    """Of two findings one is left, before and after the file forgets the other."""
    write()
    hold(linted(), "b.json", WRITE)
    write(MODEL.replace("tf.to_float(x)", "x"))

    assert (1, 2, 1, 0) == standing(hold(linted(), "b.json"))
    assert (1, 2, 1, 0) == standing(hold(linted(), "b.json", PRUNE))
    assert (1, 2, 0, 0) == standing(hold(linted(), "b.json"))
    assert 1 == len(load("b.json").findings)


def test_pruned_findings_come_back_as_new() -> None:
    """The baseline only shrinks."""
    write()
    hold(linted(), "b.json", WRITE)
    write(MODEL.replace("tf.to_float(x)", "x"))
    hold(linted(), "b.json", PRUNE)
    write()

    assert ["m.py:6:TF406"] == shown(hold(linted(), "b.json"))


def test_what_was_not_linted_is_neither_stale_nor_pruned() -> None:
    """Other files and rules that are not selected."""
    write()
    write(path="other.py")
    hold(linted(), "b.json", WRITE)

    assert (4, 4, 0, 2) == standing(hold(linted("m.py"), "b.json", PRUNE))
    assert (4, 4, 0, 2) == standing(hold(linted(select=("TF410",)), "b.json", PRUNE))
    assert (4, 4, 0, 2) == standing(hold(linted("other.py"), "b.json", WRITE))
    assert [] == shown(hold(linted(), "b.json"))


def test_what_is_too_mild_to_be_told_is_neither_stale_nor_pruned() -> None:
    """It was found, and is left out of the report alone."""
    Path("m.py").write_text("import tensorflow as tf\ntf.Session()\n\n\n@tf.function\ndef f(x):\n    print('x', x)\n")
    assert {"error", "warning"} == {one.severity for one in linted().findings}
    hold(linted(), "b.json", WRITE)
    assert (2, 2, 0, 1) == standing(hold(linted(min_severity="error"), "b.json", PRUNE))
    assert (2, 2, 0, 1) == standing(hold(linted(min_severity="error"), "b.json", WRITE))
    assert [] == shown(hold(linted(), "b.json"))


def test_rules_of_the_other_target_are_not_judged() -> None:
    """TF410 is about Keras 3 alone."""
    write()
    hold(linted(target="keras3"), "b.json", WRITE)

    assert (2, 2, 0, 1) == standing(hold(linted(target="keras2"), "b.json", PRUNE))


def test_files_that_cannot_be_read_stay_findings() -> None:
    """Without them, code that nobody looked at would pass; what was known of the file stays known."""
    write()
    hold(linted(), "b.json", WRITE)
    write(MODEL + "def :\n")
    result = hold(linted(), "b.json", PRUNE)

    assert (["m.py:7:TF900"], (2, 2, 0, 2)) == (shown(result), standing(result))
    hold(linted(), "b.json", WRITE)
    assert ["m.py:7:TF900"] == shown(hold(linted(), "b.json"))


def test_paths_are_relative_to_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it holds from every working folder."""
    write(path="src/m.py")
    write(path="conf/x.txt")
    hold(linted(), "conf/b.json", WRITE)
    monkeypatch.chdir(tmp_path / "src")

    assert "../src/m.py" == load(str(tmp_path / "conf/b.json")).findings[0].path
    assert [] == shown(hold(linted(), "../conf/b.json"))


def test_a_deleted_file_and_a_like_new_one_are_told_apart() -> None:
    """One statement in common makes no rename where most of the new file is new."""
    write("import tensorflow as tf\ntf.app.run()\n", "old.py")
    hold(linted(), "b.json", WRITE)
    Path("old.py").unlink()
    write("import tensorflow as tf\ntf.app.run()\ntf.to_float(1)\ntf.layers.dense(1, 2)\n", "new.py")

    assert 3 == len(hold(linted(), "b.json").findings)


def test_a_module_level_finding_does_not_wander_between_files() -> None:
    """It went from one file and came in another, which was there all the time."""
    write("import tensorflow as tf\ntf.app.run()\n", "a.py")
    write("import tensorflow as tf\n", "b.py")
    hold(linted(), "b.json", WRITE)
    write("import tensorflow as tf\n", "a.py")
    write("import tensorflow as tf\ntf.app.run()\n", "b.py")

    assert ["b.py:2:TF423"] == shown(hold(linted(), "b.json"))


def test_what_is_told_once_a_file_may_go_to_another() -> None:
    """An info is about a name, at its first use in a file."""
    head = "import tensorflow.compat.v1 as tf\n"
    code = "\n\ndef loss(x):\n    return tf.losses.mean_squared_error(x, x)\n"
    write(head + code, "a.py")
    write(f"{head}tf.app.run()\n", "b.py")
    hold(linted(), "b.json", WRITE)
    write(head, "a.py")
    write(f"{head}tf.app.run()\n{code}", "b.py")

    assert ["info"] * 2 == [one.severity for one in linted().findings]
    assert ([], (2, 2, 0, 0)) == (shown(hold(linted(), "b.json")), standing(hold(linted(), "b.json")))


def test_a_notebooks_findings_are_known_by_their_code() -> None:
    """Cells may be added above."""
    cells = ["import tensorflow as tf\n", "x = tf.to_float(1)\n"]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}

    def save(cells: list[str]) -> None:
        code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        Path("n.ipynb").write_text(json.dumps(notebook | {"cells": [code | {"source": [text]} for text in cells]}))

    save(cells)
    hold(linted(), "b.json", WRITE)
    save(["y = 1\n", *cells, "z = tf.to_float(2)\n"])

    assert [(3, 1)] == [(one.cell, one.line) for one in hold(linted(), "b.json").findings]


@pytest.mark.parametrize("seed", range(30))
def test_a_random_edit_neither_revives_nor_hides(seed: int) -> None:
    """What is shown is what there is more of than when the baseline was written."""
    tree = Tree.made(seed)
    tree.write(Path())
    hold(linted(), "b.json", WRITE)
    known = tree.hazards()
    edit = tree.edit()
    tree.write(Path())

    assert (edit, plain(plain(tree.hazards()) - plain(known))) == (edit, plain(hazards(hold(linted(), "b.json"))))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_thirty_random_edits_neither_revive_nor_hide(seed: int) -> None:
    """One after the other, the baseline pruned after each; what is known can only become less."""
    tree = Tree.made(seed)
    tree.write(Path())
    hold(linted(), "b.json", WRITE)
    known = plain(tree.hazards())
    edits = []
    for _ in range(30):
        edits.append(tree.edit())
        tree.write(Path())
        now = plain(tree.hazards())
        result = hold(linted(), "b.json", PRUNE)

        assert (edits, plain(now - known)) == (edits, plain(hazards(result)))
        known &= now


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<<<<<<< HEAD\n", "b.json:1: the baseline is not JSON"),
        ("[]", "b.json: this is no baseline"),
        ('{"version": 2, "findings": []}', "b.json: version 2"),
        ('{"version": 1, "findings": [{"path": 1}]}', "is no finding"),
        ("\xff", "b.json:1: the baseline is not JSON"),
    ],
)
def test_a_broken_baseline_is_an_error_that_says_where(text: str, said: str) -> None:
    """Nothing is guessed, and nothing is hidden."""
    Path("b.json").write_text(text, "utf-8")

    with pytest.raises(BaselineError, match=re.escape(said)):
        load("b.json")


def test_a_binary_file_is_no_baseline() -> None:
    """The message says what is wrong with the file, in no codec's words."""
    Path("b.json").write_bytes(b"\x7fELF\xd0\x00")

    with pytest.raises(BaselineError, match=r"^b\.json: the baseline is not JSON: it is not UTF-8$"):
        load("b.json")


def test_the_command_line_names_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    """In the summary, and in JSON."""
    write()
    options = ["--isolated", "--no-cache", "--baseline", "b.json"]

    assert 2 == main(options)
    assert "b.json: there is no such baseline; --write-baseline makes one" in capsys.readouterr().err
    assert 0 == main([*options, "--write-baseline"])
    assert "Baseline: 2 findings written to b.json." in capsys.readouterr().out
    write(MODEL.replace("tf.to_float(x)", "x"))
    assert 0 == main(options)
    assert "Baseline: 1 of 2 left.\nBaseline: 1 entry is stale" in capsys.readouterr().out
    assert 0 == main([*options, "--output-format", "json"])
    summary = json.loads(capsys.readouterr().out)["summary"]
    history = {date.today().isoformat(): 2}
    told = {"initial": 2, "left": 1, "stale": 1, "unseen": 0, "history": history, "damage": []}
    assert told == summary["baseline"]
    assert 0 == main([*options, "--prune-baseline"])
    assert "Baseline: 1 of 2 left.\nBaseline: 1 stale entry taken out." in capsys.readouterr().out


def test_hidden_findings_are_not_called_passed_checks(capsys: pytest.CaptureFixture[str]) -> None:
    """While known findings are left, a clean run has no new ones; without any, all checks passed."""
    write()
    options = ["--isolated", "--no-cache", "--baseline", "b.json"]
    main([*options, "--write-baseline"])
    main(options)
    assert 2 == capsys.readouterr().out.count("No new findings: ")
    write("import tensorflow\n")
    main(options)
    assert "All checks passed: " in capsys.readouterr().out


def test_the_configuration_names_the_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    """Relative to its own folder; the command line can do without."""
    write()
    Path("migrate-lint.toml").write_text('baseline = "known.json"\n')

    assert 0 == main(["--no-cache", "--write-baseline"])
    assert (0, 1) == (main(["--no-cache"]), main(["--no-cache", "--no-baseline"]))
    with pytest.raises(ConfigError, match="baseline is to be the path of a file"):
        parse(b"baseline = 1\n", "migrate-lint.toml")


def test_writing_needs_a_file_and_files(capsys: pytest.CaptureFixture[str]) -> None:
    """A buffer is not what the baseline is about."""
    assert 2 == main(["--isolated", "--write-baseline"])
    assert 2 == main(["--isolated", "--baseline", "b.json", "--prune-baseline", "-"])
    said = capsys.readouterr().err
    assert "--write-baseline: name the file with --baseline" in said
    assert "--prune-baseline is about files" in said


def test_a_read_only_baseline_is_not_replaced() -> None:
    """Not even by the superuser."""
    write()
    hold(linted(), "b.json", WRITE)
    Path("b.json").chmod(0o444)

    with pytest.raises(BaselineError, match=r"b\.json: the baseline cannot be written: this file is read-only"):
        hold(linted(), "b.json", WRITE)


_WRITER = """
import sys
from pathlib import Path
from typing import Any
from migrate_lint.linter.atomic import replace_file
old, new = Path("old").read_bytes(), Path("new").read_bytes()
print("ready", flush=True)
while True:
    replace_file("file", new)
    replace_file("file", old)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_kill_at_any_moment_leaves_one_of_the_two_contents() -> None:
    """Twenty kills at random moments of endless writing."""
    moments = random.Random(4)
    contents = {name: name.encode() * 300_000 for name in ("old", "new")}
    for name, content in contents.items():
        Path(name).write_bytes(content)
    shutil.copy("old", "file")
    for _ in range(20):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        with writer.stdout:
            writer.stdout.readline()
            time.sleep(moments.random() / 20)
            writer.send_signal(signal.SIGKILL)
            writer.wait()

        assert Path("file").read_bytes() in contents.values()


@pytest.mark.parametrize("option", ["--write-baseline", "--prune-baseline"])
def test_what_was_not_linted_is_in_no_baseline(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A finding is known by its text, which is another one once the file was saved."""
    text = "import tensorflow as tf\nx = tf.placeholder(1)\n"
    Path("m.py").write_text(text)
    assert 0 == main(["--no-cache", "--baseline", "known.json", "--write-baseline", "m.py"])
    before = Path("known.json").read_bytes()
    hold = baseline.hold

    def late(*arguments: Any) -> Result:
        Path("m.py").write_text(f"import os\n{text}")
        return hold(*arguments)

    monkeypatch.setattr(baseline, "hold", late)

    assert 2 == main(["--no-cache", "--baseline", "known.json", option, "m.py"])
    assert "known.json: m.py has changed since it was linted; the baseline is not written" in capsys.readouterr().err
    assert before == Path("known.json").read_bytes()


def test_a_baseline_that_changed_meanwhile_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another run, or a merge, wrote it."""
    Path("m.py").write_text("import tensorflow as tf\nx = tf.placeholder(1)\n")
    assert 0 == main(["--no-cache", "--baseline", "known.json", "--write-baseline", "m.py"])
    replace_file = baseline.replace_file

    def late(path: str, data: bytes, expected: bytes | None) -> None:
        Path("known.json").write_text("theirs")
        replace_file(path, data, expected)

    monkeypatch.setattr(baseline, "replace_file", late)

    assert 2 == main(["--no-cache", "--baseline", "known.json", "--prune-baseline", "m.py"])
    assert "known.json: it has changed since it was read" in capsys.readouterr().err
    assert "theirs" == Path("known.json").read_text()
