"""How findings are shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from migrate_lint.linter.finding import (
    Applicability,
    Consequence,
    Edit,
    Effort,
    Evidence,
    Finding,
    Fix,
    Severity,
    Target,
    Verdict,
)
from migrate_lint.linter.registry.tool_rules import TOOL_RULES, UnparsableFile
from migrate_lint.linter.reporters import Paint, explain, printable, summary
from migrate_lint.linter.reporters.causes import first_steps, statistics
from migrate_lint.linter.reporters.ci import documented_rules
from migrate_lint.linter.reporters.formats import concise, github, text
from migrate_lint.linter.reporters.formats import json as json_report
from migrate_lint.linter.reporters.wrapping import columns, wrapped
from migrate_lint.linter.result import BaselineStatus, LintedProject, Result, Runtime
from migrate_lint.linter.rule_api.rule import Rule
from migrate_lint.linter.run.verdicts import tally
from migrate_lint.linter.runtime_report import WorkerRun

from .runs import RUN, LinesRun, PhaseOutcome, evidence, worker_run

PLAIN = Paint(False)
FINDING = Finding(
    "pkg/m.py", 2, 5, 2, 8, "TF900", "unparsable-file", Severity.ERROR, Consequence.BREAKS, "it says\nwhy: a, 5%"
)


def result(*findings: Finding, files: int = 3, source: bytes = b"a = 1\nx = foo(1)\n") -> Result:
    projects = (LintedProject("/p", Target.KERAS3, "no evidence in the project", files),)
    return Result(findings, files, projects, (), {"pkg/m.py": (Path("pkg/m.py"), source)})


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain ä 日本", "plain ä 日本"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\rc\td", "a\\nb\\rc\\td"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("\u202egnp.py", "\\u202egnp.py"),
        ("\u2028", "\\u2028"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
        ("a\u00a0b", "a\u00a0b"),
    ],
)
def test_nothing_that_moves_a_terminal_is_printed(raw: str, shown: str) -> None:
    """Controls, line ends, direction marks and broken characters are spelled out."""
    assert shown == printable(raw)


def test_concise_is_one_line_a_finding() -> None:
    """Whatever the message holds."""
    assert ["pkg/m.py:2:5: TF900[unparsable-file] error it says\\nwhy: a, 5%"] == list(
        concise.report(result(FINDING), PLAIN)
    )


def test_text_shows_the_line_the_caret_and_why() -> None:
    """The why is the first sentence of the rule's documentation."""
    assert [
        "pkg/m.py:2:5: TF900[unparsable-file] error it says\\nwhy: a, 5%",
        "    2 | x = foo(1)",
        "      |     ^^^",
        "    A file that cannot be read or parsed has not been linted.",
        "",
    ] == list(text.report(result(FINDING), PLAIN))


@pytest.mark.parametrize(
    ("source", "column", "end_column", "shown", "caret"),
    [
        ("\tx = 1", 2, 3, "x = 1", "^"),
        ("x\t= 1", 3, 4, "x    = 1", "     ^"),
        ("'日本' + y", 8, 9, "'日本' + y", "         ^"),
        ("a\x1bb", 3, 4, "a\\x1bb", "     ^"),
        ("x", 9, 12, "x", " ^"),
        ("x" * 300, 200, 203, "…" + "x" * 120 + "…", " " * 41 + "^^^"),
    ],
)
def test_the_caret_stands_below_what_it_means(
    source: str, column: int, end_column: int, shown: str, caret: str
) -> None:
    """With tabs, wide characters, escapes and long lines."""
    finding = replace(FINDING, line=1, end_line=1, column=column, end_column=end_column)

    lines = list(text.report(result(finding, source=source.encode()), PLAIN))

    assert [f"    1 | {shown}", f"      | {caret}"] == lines[1:3]


def test_a_finding_of_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    """Only that line is shown."""
    finding = replace(FINDING, end_line=3, end_column=1)

    assert "      |     ^^^^^^" == list(text.report(result(finding), PLAIN))[2]


def _at(line: int, severity: Severity, **more: str) -> Finding:
    return replace(FINDING, line=line, end_line=line, severity=severity, **more)  # type: ignore[arg-type]


def test_text_begins_with_the_worst_of_a_file() -> None:
    """And goes on in the order of the lines; a rule says why at its first finding in the run."""
    findings = [_at(n, severity) for n, severity in enumerate((Severity.WARNING, Severity.ERROR, Severity.INFO) * 2, 1)]

    lines = list(text.report(result(*findings), PLAIN))

    assert [f"pkg/m.py:{n}:5:" for n in (2, 5, 1, 4, 3)] == [line.split()[0] for line in lines if ": TF" in line]
    assert 1 == lines.count("    A file that cannot be read or parsed has not been linted.")
    assert 4 == lines.index("    A file that cannot be read or parsed has not been linted.") + 1


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ((), ""),
        ((("a.py", 1),), ""),
        ((("a.py", 1), ("a.py", 2)), "info 1 more: a.py:2; --show-info"),
        ((("a.py", 1), ("b.py", 2)), "info 1 more: b.py:2; --show-info"),
        ((("a.py", 1), ("a.py", 2), ("a.py", 3)), "info 2 more: a.py 2; --show-info"),
        ((("a.py", 1), ("a.py", 2), ("b.py", 3)), "info 2 more: a.py:2, b.py:3; --show-info"),
        ((("a.py", 1), ("b.py", 2), ("c.py", 3), ("c.py", 4)), "info 3 more: c.py 2, b.py:2; --show-info"),
        (tuple((f"{n}.py", n) for n in range(1, 6)), "info 4 more: 2.py:2, 3.py:3, 4.py:4, 5.py:5; --show-info"),
        (tuple((f"{n}.py", 1) for n in range(8)), "info 7 more: 1.py:1, 2.py:1, 3.py:1 and 4 more files; --show-info"),
        ((("a.py", 1), ("\x1b.py", 2)), "info 1 more: \\x1b.py:2; --show-info"),
    ],
)
def test_text_tells_of_infos_in_a_line_a_rule(places: tuple[tuple[str, int], ...], told: str) -> None:
    """The first of the run is shown; the other formats have all."""
    infos = [_at(line, Severity.INFO, path=path) for path, line in places]

    lines = list(text.report(result(*infos), PLAIN))

    assert len(infos[:1]) == sum(" info it says" in line for line in lines)
    assert [f"TF900[unparsable-file] {told}"] * bool(told) == [line for line in lines if "--show-info" in line]
    assert len(infos) == sum(" info it says" in line for line in text.in_full(result(*infos), PLAIN))
    assert len(infos) == len(list(concise.report(result(*infos), PLAIN)))


def test_text_shows_infos_that_a_run_has_judged() -> None:
    """A verdict is no repetition."""
    info = replace(FINDING, severity=Severity.INFO)
    judged = replace(info, evidence=(evidence(Verdict.CONFIRMED),))

    assert 2 == sum(" info it says" in line for line in text.report(result(info, judged), PLAIN))


def test_what_to_do_first_is_told_by_cause() -> None:
    """Those with most errors first, each with what it speaks of and where; infos are no cause."""
    names = ["Graph", "Graph", "Session", "Session", "Session", "Session"]
    session = [
        _at(n, Severity.ERROR, code="TF401", slug="session-run", message=f"`tf.{name}` raises")
        for n, name in enumerate(names, 1)
    ]
    layers = [_at(n, Severity.WARNING, code="TF102", slug="layer-in-call", path="n.py") for n in range(1, 6)]
    info = [_at(n, Severity.INFO, code="TF304", slug="missing-get-config") for n in range(1, 20)]

    assert [] == list(first_steps(result(*session, *layers[:4], *info), PLAIN))
    assert [
        "What to do first:",
        "   6 of 11: this is still a TF1 program (1 file)",
        "            `tf.Session` 4, `tf.Graph` 2",
        "            pkg/m.py 6",
        "   5 of 11: variables, layers and other state are made again at each call, or not tracked (1 file)",
        "            layer-in-call 5",
        "            n.py 5",
        "",
    ] == list(first_steps(result(*layers, *session, *info), PLAIN))


def test_every_family_of_rules_is_a_cause() -> None:
    """A rule of others is named by its own letters."""

    def cause(code: str) -> str:
        return list(first_steps(result(*(_at(n, Severity.ERROR, code=code) for n in range(11))), PLAIN))[1]

    own = {cause(code) for code in {rule.code for rule in documented_rules()}}

    assert len({code[:3] for code in {rule.code for rule in documented_rules()}}) == len(own)
    assert not any("rules TF" in line for line in own)
    assert "  11 of 11: rules AB2xx (1 file)" == cause("AB201")


@pytest.mark.parametrize(
    ("line", "width", "parts"),
    [
        ("short", 40, ["short"]),
        ("a" * 20 + " " + "b" * 20 + " c", 41, ["a" * 20 + " " + "b" * 20, "    c"]),
        ("    " + "a" * 20 + " " + "b" * 20, 41, ["    " + "a" * 20, "    " + "b" * 20]),
        ("a" * 50 + " b", 41, ["a" * 50, "    b"]),
        ("日本" * 9 + " " + "語" * 5, 41, ["日本" * 9, "    " + "語" * 5]),
        ("e\u0301" * 20 + " " + "b" * 20, 41, ["e\u0301" * 20 + " " + "b" * 20]),
        ("\x1b[35m" + "a" * 20 + "\x1b[0m " + "b" * 20, 41, ["\x1b[35m" + "a" * 20 + "\x1b[0m " + "b" * 20]),
        ("one two  three " * 3, 30, ["one two  three one two  three", "    one two  three "]),
        ("a" * 20 + " " + "b" * 9, 1, ["a" * 20 + " " + "b" * 9]),
        ("a" * 20 + " " + "b" * 10, 1, ["a" * 20, "    " + "b" * 10]),
    ],
)
def test_long_lines_are_broken_at_blanks(line: str, width: int, parts: list[str]) -> None:
    """By the columns that they take; words stay whole, and the narrowest width is 30."""
    assert parts == list(wrapped(line, width))


@pytest.mark.parametrize("width", [1, 20, 40, 60, 80, 200])
@pytest.mark.parametrize(
    "source", ["x" * 300, "\t\t" + "日本" * 80, "e\u0301" * 150 + "\x1b[31m" * 9, "    a = [" + "1, " * 99]
)
@pytest.mark.parametrize("column", [1, 6, 130])
def test_an_excerpt_fits_the_terminal(width: int, source: str, column: int) -> None:
    """With the caret below what it means, however wide the characters are; 20 columns are the least."""
    finding = replace(FINDING, line=1, end_line=1, column=column, end_column=column + 1)

    _, shown, caret, *_ = text.report(result(finding, source=source.encode()), Paint(False, width))

    assert max(width, 30) >= columns(shown)
    assert "…\u0301" not in shown
    assert columns(shown) + 1 >= columns(caret)
    assert 1 <= caret.count("^") <= 4
    if column <= len(source) and source[column - 1] not in "\t\x1b́":
        before = next(n for n in range(len(shown)) if columns(shown[:n]) == caret.index("^"))
        assert source[column - 1] == shown[before:].lstrip("́")[0]


def _file(tmp_path: Path, **texts: str) -> Result:
    """The findings of a project of some modules."""
    from migrate_lint.linter.run.pipeline import lint
    from migrate_lint.linter.settings.config import Config

    (tmp_path / "setup.py").touch()
    for name, code in texts.items():
        path = tmp_path / f"{name.replace('_of_', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
    return lint([str(tmp_path)], Config(base=str(tmp_path)))


def _told(found: Result) -> list[str]:
    """The lines of a report that say how findings hang together, and those that place them, by file names alone."""
    import re

    root = found.projects[0].root
    lines = (line.replace(f"{root}/", "") for line in text.in_full(found, PLAIN))
    return [re.sub(r"(:\d+):\d+: .*", r"\1", line) for line in lines if re.match(r"\S|    (until|follows)", line)]


def test_what_breaks_the_import_of_others_comes_first(tmp_path: Path) -> None:
    """A file without which most cannot be imported, and in it the line where that raises."""
    found = _file(
        tmp_path,
        a="import tensorflow as tf\nimport c\n\n\ndef f(x):\n    return tf.log(x)\n",
        b="import a\n",
        c="import tensorflow as tf\n\n\ndef f(x):\n    return tf.log(x)\n\n\nflags = tf.app.flags\n",
    )

    assert [
        "c.py:8", "    until this is mended, this file cannot be imported, nor a.py, b.py", "c.py:5", "a.py:6",
    ] == _told(found)  # fmt: skip


@pytest.mark.parametrize(
    "importing",
    [
        "import os, c as d\n",
        "from . import c\n",
        "from . import (  # all of them\n    os,\n    c,\n)\n",
        "from . import \\\n    c\n",
        "from c import f\n",
        "from .c import *\n",
    ],
)
def test_an_import_is_seen_however_it_is_written(importing: str, tmp_path: Path) -> None:
    """Over several lines, relative, of a name in the module, or of all of them."""
    found = _file(tmp_path, b=importing, c="from tensorflow.contrib import slim\n")

    assert ["c.py:1", "    until this is mended, this file cannot be imported, nor b.py"] == _told(found)


@pytest.mark.parametrize(
    "importing",
    [
        "try:\n    import c\nexcept Exception:\n    c = None\n",
        "def f():\n    import c\n",
        "if __name__ == '__main__':\n    import c\n",
        '"""\nimport c\n"""\n',
        "import cc\n",
    ],
)
def test_only_what_every_import_runs_breaks_with_another_file(importing: str, tmp_path: Path) -> None:
    """Not what is imported later, on a condition, or with a way out."""
    found = _file(tmp_path, b=importing, c="from tensorflow.contrib import slim\n")

    assert ["c.py:1"] == _told(found)


@pytest.mark.parametrize(
    "code",
    [
        "f = lambda: tf.app.flags\n",
        "flags = tf.app.flags if tf.__file__ == 'x' else None\n",
        "try:\n    flags = tf.app.flags\nexcept AttributeError:\n    flags = None\n",
        "if __name__ == '__main__':\n    tf.app.flags\n",
        "for _ in []:\n    tf.app.flags\n",
    ],
)
def test_a_file_can_be_imported_where_nothing_that_is_missing_is_read(code: str, tmp_path: Path) -> None:
    """What may run later or never stops no import."""
    found = _file(tmp_path, b="import c\n", c=f"import tensorflow as tf\n{code}")

    assert not any("until" in line for line in _told(found))


def test_a_package_breaks_with_a_module_that_it_imports(tmp_path: Path) -> None:
    """And everything that is in it, which needs it; a conflict of targets that is told at an import breaks none."""
    found = _file(
        tmp_path,
        p_of___init__="from . import net\n",
        p_of_net="import tensorflow.contrib.slim as slim\n",
        p_of_other="import os\n",
        q="import p.other\n",
        r="import tensorflow.compat.v1 as tf\n\n\ndef f(x):\n    return tf.layers.dense(x, 1)\n",
        s="import r\n",
    )

    lines = _told(found)

    assert [
        "p/net.py:1",
        "    until this is mended, this file cannot be imported, nor p/__init__.py, p/other.py, q.py",
    ] == lines[:2]
    assert not any("nor s.py" in line for line in lines)


def test_an_echo_says_what_it_follows_from(tmp_path: Path) -> None:
    """It comes after the causes of its file: what is made of what is missing, and what an import would have bound."""
    found = _file(
        tmp_path,
        a="import tensorflow as tf\n\n\ndef f(x):\n    sess = tf.Session()\n    sess.run(x)\n    return tf.log(x)\n",
        b="from tensorflow.contrib import slim\n\n\ndef g(x):\n    return slim.conv2d(x, 3, 3)\n",
        c="import tensorflow as tf\n\n\ndef f(x):\n    tf.contrib.slim.conv2d(x, 3, 3)\n",
    )

    assert [
        "a.py:5", "a.py:7", "a.py:6", "    follows from a.py:5",
        "b.py:1", "b.py:5", "    follows from b.py:1",
    ] == [line for line in _told(found) if not line.startswith("c.py")]  # fmt: skip
    rows = list(statistics(found))
    assert "follow from others:" in rows


def test_what_to_do_first_begins_with_what_breaks_the_others(tmp_path: Path) -> None:
    """How many files wait for it, and how many findings may go with others."""
    calls = "".join(f"    sess.run(x + {n})\n" for n in range(11))
    found = _file(
        tmp_path,
        a=f"import tensorflow as tf\n\nsess = tf.Session()\n\n\ndef f(x):\n{calls}",
        b="import a\n",
    )
    root = found.projects[0].root

    assert [
        "What to do first:",
        "  until it is mended, 2 files cannot be imported:",
        "            a.py:3",
        "  11 of 12: follow from others (counted below as well)",
        "            a.py:3 11",
    ] == [line.replace(f"{root}/", "") for line in first_steps(found, PLAIN)][:5]


def test_text_does_without_a_line_that_it_does_not_have() -> None:
    """A file that cannot be read has none."""
    finding = replace(FINDING, path="gone.py")

    assert 3 == len(list(text.report(result(finding), PLAIN)))
    assert 3 == len(list(text.report(result(replace(FINDING, line=99, end_line=99)), PLAIN)))


def test_colours_are_only_added() -> None:
    """Without them the text is the same."""
    import re

    colored = "\n".join(text.report(result(FINDING), Paint(True)))

    assert "\x1b[31;1merror\x1b[0m" in colored
    assert "\n".join(text.report(result(FINDING), PLAIN)) == re.sub(r"\x1b\[[\d;]*m", "", colored)


def test_json_is_as_the_contract_says() -> None:
    """Every key, `cell` only for a notebook."""
    fix = Fix(Applicability.SAFE, (Edit(2, 1, 2, 4, "y"),))

    report = json.loads("\n".join(json_report.report(result(replace(FINDING, fix=fix), FINDING), PLAIN)))

    assert ["version", "findings", "summary"] == list(report)
    assert {
        "path": "pkg/m.py",
        "line": 2,
        "column": 5,
        "end_line": 2,
        "end_column": 8,
        "code": "TF900",
        "slug": "unparsable-file",
        "severity": "error",
        "consequence": "breaks",
        "message": "it says\nwhy: a, 5%",
        "fix": {
            "applicability": "safe",
            "edits": [{"line": 2, "column": 1, "end_line": 2, "end_column": 4, "text": "y"}],
        },
        "origin": "static",
        "evidence": [],
    } == report["findings"][0]
    assert report["findings"][1]["fix"] is None
    assert (3, 2, 0) == tuple(report["summary"][key] for key in ("files", "errors", "warnings"))


def test_json_and_concise_name_the_cell_of_a_notebook() -> None:
    """A line then counts within the cell."""
    finding = replace(FINDING, cell=4)

    assert 4 == json.loads("\n".join(json_report.report(result(finding), PLAIN)))["findings"][0]["cell"]
    assert next(concise.report(result(finding), PLAIN)).startswith("pkg/m.py:cell 4:2:5:")


def test_github_commands_are_escaped_and_the_worst_comes_first() -> None:
    """A message cannot end its command, a path cannot add a property."""
    mild = replace(FINDING, path="a,b:c.py", severity=Severity.INFO, end_line=4, message="x")

    assert [
        "::error file=pkg/m.py,line=2,endLine=2,col=5,endColumn=7,title=TF900 unparsable-file::it says%0Awhy: a, 5%25",
        "::notice file=a%2Cb%3Ac.py,line=2,endLine=4,title=TF900 unparsable-file::x",
    ] == list(github.report(result(mild, FINDING), PLAIN))


def test_the_summary_counts_and_names_the_target() -> None:
    """Singular and plural; no file is no success."""
    warning = replace(FINDING, severity=Severity.WARNING)

    assert ["Found 1 error, 2 warnings in 3 files.", "target keras3 (no evidence in the project)"] == summary(
        result(warning, FINDING, warning), PLAIN
    )
    assert "All checks passed: 1 file." == summary(result(files=1), PLAIN)[0]
    assert ["e: 0 files were found in this folder", "Nothing was checked: 0 files were found."] == summary(
        Result((), 0, (), ("e",)), PLAIN
    )


def test_statistics_draw_a_picture_of_the_migration() -> None:
    """By rule, cause, folder, consequence and effort, the most frequent first."""
    other = replace(
        FINDING, code="TF101", slug="variable-in-call", consequence=Consequence.CHANGES, effort=Effort.LOCAL
    )
    renamed = replace(
        FINDING, path="m.py", code="TF406", slug="moved-or-removed-symbol", effort=Effort.MECHANICAL
    )

    assert [
        "2  TF101  variable-in-call",
        "1  TF406  moved-or-removed-symbol",
        "1  TF900  unparsable-file",
        "",
        "by cause:",
        "2  variables, layers and other state are made again at each call, or not tracked",
        "1  this is still a TF1 program",
        "1  files were not linted, or the code contradicts what was assumed",
        "",
        "by folder:",
        "3  pkg",
        "1  .",
        "",
        "by consequence:",
        "2  breaks   it raises",
        "2  changes  it computes something else",
        "",
        "by effort, as a rule of thumb:",
        "1  mechanical  another name, import or keyword",
        "2  local       a change within a function or a class",
        "1  thought     to be built in another way, or to be decided",
    ] == list(statistics(result(FINDING, other, other, renamed)))
    assert [] == list(statistics(result()))


def test_statistics_list_the_folders_with_most_findings() -> None:
    """What the others have is one line."""
    found = [replace(FINDING, path=f"f{number:02}/m.py") for number in range(23)]

    lines = list(statistics(result(*found, *found[:1])))
    assert " 2  f00" in lines
    assert " 3  in 3 more folders" in lines
    assert not any("f22" in line for line in lines)


def test_statistics_tell_of_the_baseline_over_time() -> None:
    """What is done is what was known and is not found any more."""
    status = BaselineStatus("b.json", 120, 70, 0, 0, "keep", (("2026-11-01", 120), ("2026-11-20", 90)))

    assert [
        "",
        "the baseline over time:",
        "120  left on 2026-11-01",
        " 90  left on 2026-11-20",
        " 70  left now",
        " 50  done",
    ] == list(statistics(replace(result(), baseline=status)))


def test_a_rule_is_explained_in_every_format() -> None:
    """In the words of its docstring."""
    rules: list[type[Rule]] = [UnparsableFile]
    words = "A file that cannot be read or parsed has not been linted."

    assert ["TF900  unparsable-file  error    breaks"] == list(explain.listing(rules))
    assert words in list(explain.text(rules))
    assert {"## Why", "## Example", "## Fix", "## Source", words} <= set(explain.markdown(rules))
    (shown,) = json.loads("\n".join(explain.json(rules)))
    assert ("TF900", words) == (shown["code"], shown["summary"])


@pytest.mark.parametrize("rule", TOOL_RULES)
def test_tool_rules_are_documented_like_any_other(rule: type[Rule]) -> None:
    """Every section is there."""
    assert "Why:" in list(explain.text([rule]))


def judged(verdict: Verdict, *said: Evidence, **changes: object) -> Finding:
    return replace(FINDING, message="why", verdict=verdict, evidence=said, **changes)  # type: ignore[arg-type]


def with_runs(*findings: Finding, trusted: bool = False, runs: tuple[WorkerRun, ...] = (RUN,)) -> Result:
    return replace(result(*findings), runtime=Runtime(runs, tally(findings), trusted))


@pytest.mark.parametrize(
    ("outcomes", "first"),
    [
        (("ok", "not run", "cut short"), "All checks passed: 2 files."),
        (
            ("ok", "failed"),
            "Nothing found, but 1 phase of the run failed, and what shows only in it was not seen: 2 files.",
        ),
        (
            ("failed", "ok", "failed"),
            "Nothing found, but 2 phases of the run failed, and what shows only in them was not seen: 2 files.",
        ),
    ],
)
def test_a_run_with_failed_phases_did_not_pass(outcomes: tuple[str, ...], first: str) -> None:
    """A phase that does not apply to a model is none of them."""
    run = worker_run(phases=tuple(PhaseOutcome(f"phase {at}", one, 0.1, "why") for at, one in enumerate(outcomes)))

    assert first == summary(replace(with_runs(runs=(run,)), files=2), PLAIN)[0]


@pytest.mark.parametrize("verdict", Verdict)
def test_text_shows_what_each_run_said(verdict: Verdict) -> None:
    """Below the excerpt, once each, in nothing but printable characters; the verdict alone where nothing was said."""
    one, other = evidence(verdict, "dense/kernel\n\x1b[31m (3, 1)"), evidence(verdict, phase="")
    lines = list(text.report(with_runs(judged(verdict, one, one, other)), PLAIN))
    alone = list(text.report(with_runs(judged(verdict)), PLAIN))

    assert [
        f"    {verdict} (keras3, CPU:0, second call): dense/kernel\\n\\x1b[31m (3, 1)",
        f"    {verdict} (keras3, CPU:0)",
    ] == lines[3:5]
    assert "    static-only: no probe decides this rule" if verdict == "static-only" else f"    {verdict}" == alone[3]
    colored = "\n".join(text.report(with_runs(judged(verdict, one)), Paint(True)))
    assert f"m{verdict}\x1b[0m (keras3" in colored


def test_evidence_does_not_repeat_the_message() -> None:
    """What only a run has found says in its message what was seen."""
    found = judged(Verdict.CONFIRMED, evidence(Verdict.CONFIRMED, "why"), evidence(Verdict.CONFIRMED, "why not"))

    assert [
        "    confirmed (keras3, CPU:0, second call)",
        "    confirmed (keras3, CPU:0, second call): why not",
    ] == list(text.report(with_runs(found), PLAIN))[3:5]


def test_concise_ends_with_the_verdict() -> None:
    """And is as ever for what no run has judged."""
    first, second = concise.report(with_runs(judged(Verdict.CONFIRMED), replace(FINDING, message="why")), PLAIN)

    assert "pkg/m.py:2:5: TF900[unparsable-file] error why [confirmed]" == first
    assert "pkg/m.py:2:5: TF900[unparsable-file] error why" == second


def test_github_says_the_verdict_and_what_speaks_for_it() -> None:
    """On a line of its own."""
    refuted, confirmed = evidence(Verdict.REFUTED, "nothing"), evidence(Verdict.CONFIRMED, "50% a::b\nc")
    found = with_runs(judged(Verdict.CONFIRMED, refuted, confirmed), judged(Verdict.STATIC_ONLY))

    first, second = github.report(found, PLAIN)

    assert first.endswith("::why%0Aconfirmed (keras3, CPU:0, second call): 50%25 a::b\\nc")
    assert second.endswith("::why%0Astatic-only")


def test_json_carries_verdict_evidence_and_runs() -> None:
    """A verdict that nobody has given is null; without a run there is no such key."""
    run = worker_run(
        phases=(PhaseOutcome("build", "ok", 0.5, ""), PhaseOutcome("fit", "failed", 1.5, "ValueError")),
        scopes=(("assert_no_variable_creations", "Variables were created"),),
        notes=("tf_keras.legacy_tf_layers was put in its place",),
        lines=(LinesRun("model.py", (1, 2, 5), (("import", (1, 5)), ("fit", (5,)))),),
        cause="killed by SIGSEGV in phase save",
    )
    own = replace(FINDING, code="TF907", origin="runtime", verdict=Verdict.CONFIRMED)
    failed = replace(FINDING, code="TF908", origin="runtime")
    found = with_runs(judged(Verdict.REFUTED, evidence(Verdict.REFUTED, "nothing")), own, failed, runs=(run,))

    report = json.loads("\n".join(json_report.report(found, PLAIN)))

    assert ["refuted", "confirmed", None] == [one["verdict"] for one in report["findings"]]
    assert [
        {
            "target": "keras3",
            "device": "CPU:0",
            "phase": "second call",
            "verdict": "refuted",
            "detail": "nothing",
        }
    ] == report["findings"][0]["evidence"]
    assert {
        "confirmed": 1,
        "failed": 0,
        "unreached": 0,
        "refuted": 1,
        "static-only": 0,
        "runtime-only": 1,
        "runs": [
            {
                "target": "keras3",
                "device": "CPU:0",
                "tensorflow": "2.21.0",
                "keras": "3.15.1",
                "python": "3.11.7",
                "seconds": 5.5,
                "peak_memory": 600_000_000,
                "cause": "killed by SIGSEGV in phase save",
                "phases": [
                    {"name": "build", "outcome": "ok", "seconds": 0.5, "detail": ""},
                    {"name": "fit", "outcome": "failed", "seconds": 1.5, "detail": "ValueError"},
                ],
                "lines": [
                    {
                        "path": "model.py",
                        "statements": [1, 2, 5],
                        "ran": {"import": [1, 5], "fit": [5]},
                        "missed": [2],
                    }
                ],
                "scopes": [{"name": "assert_no_variable_creations", "said": "Variables were created"}],
                "notes": ["tf_keras.legacy_tf_layers was put in its place"],
            }
        ],
    } == report["summary"]["runtime"]
    plain = json.loads("\n".join(json_report.report(result(FINDING), PLAIN)))
    assert ("verdict" in plain["findings"][0], "runtime" in plain["summary"]) == (False, False)


def test_the_summary_tells_which_lines_did_not_run() -> None:
    """Of the files that miss most, as ranges between lines that ran; statements alone count."""
    short = LinesRun("a.py", (1, 2, 4, 5, 9, 12), (("import", (1, 5)), ("fit", (5,))))
    long = LinesRun("b.py", tuple(range(1, 40)), (("build", tuple(range(1, 40, 2))),))
    none = LinesRun("c.py", (1, 2), (("import", (1, 2)),))
    others = [LinesRun(f"{name}.py", (1, 2), (("import", (1,)),)) for name in "def"]

    run = worker_run(lines=(short, long, none, *others))

    assert [
        "    lines run: 27 of 53 with statements, in 6 files",
        "    not run in b.py: 2, 4, 6, 8, 10, 12, 14, 16 and in 11 more places",
        "    not run in a.py: 2-4, 9-12",
        "    not run in d.py: 2",
        "    and lines of 2 more files",
    ] == [line for line in summary(with_runs(runs=(run,)), PLAIN) if line.startswith("    ")]
    whole = worker_run(lines=(none,))
    assert "    lines run: 2 of 2 with statements, in 1 file" == summary(with_runs(runs=(whole,)), PLAIN)[-2]


def test_the_summary_tells_of_every_run() -> None:
    """Versions and phases in one line; below it what failed, what the guides' scopes said, and what was done."""
    phases = [PhaseOutcome("build", "ok", 0.5, ""), PhaseOutcome("first call", "ok", 0.5, "")]
    bad = [
        PhaseOutcome("fit", "failed", 1.5, "ValueError: no\nloss"),
        PhaseOutcome("save", "not run", 0.0, "there was no fit"),
    ]
    run = worker_run(
        phases=(*phases, *bad),
        scopes=(("assert_no_variable_creations", "Variables were created\x1b"), ("catch_and_raise", "")),
        notes=("a module was put in its place",),
        cause="killed by SIGSEGV",
    )
    quiet = worker_run(
        target=Target.KERAS2,
        phases=(
            phases[0],
            PhaseOutcome("fit", "not run", 0.0, "the outputs have no loss"),
            PhaseOutcome("call inside a_scope", "cut short", 0.1, "ValueError: refused"),
        ),
    )
    found = [*(judged(verdict) for verdict in Verdict), replace(judged(Verdict.CONFIRMED), origin="runtime")]

    assert [
        "Found 6 errors in 3 files.",
        "Runtime: 2 confirmed, 1 refuted, 1 unreached, 1 failed, 1 static-only; 1 found at runtime only.",
        "keras3 on CPU:0: TensorFlow 2.21.0, Keras 3.15.1, Python 3.11.7; 2 phases ok, 1 failed, 1 not run",
        "    ended early: killed by SIGSEGV",
        "    fit failed: ValueError: no\\nloss",
        "    assert_no_variable_creations: Variables were created\\x1b",
        "    a module was put in its place",
        "keras2 on CPU:0: TensorFlow 2.21.0, Keras 3.15.1, Python 3.11.7; 1 phase ok, 1 cut short, 1 not run",
        "    fit not run: the outputs have no loss",
        "target keras3 (no evidence in the project)",
    ] == summary(with_runs(*found, runs=(run, quiet)), PLAIN)
    bare = worker_run(tensorflow="none", keras="?")
    assert "keras3 on CPU:0: no TensorFlow, Python 3.11.7; 0 phases ok" in summary(with_runs(runs=(bare,)), PLAIN)
    assert "1 refuted (left out)," in summary(with_runs(judged(Verdict.REFUTED), trusted=True), PLAIN)[1]
    assert "0 refuted, " in summary(with_runs(trusted=True), PLAIN)[1]


def test_a_target_of_two_is_told_without_its_root() -> None:
    """One project that is linted for both targets is still one project."""
    both = tuple(LintedProject("/p", target, "as asked for", 1) for target in Target)

    assert ["target keras2 (as asked for)", "target keras3 (as asked for)"] == summary(
        replace(result(files=1), projects=both), PLAIN
    )[1:]
