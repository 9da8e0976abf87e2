"""The HTML report, as text and in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import statistics
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import (
    Applicability,
    Consequence,
    Edit,
    Effort,
    Finding,
    Fix,
    Severity,
    Target,
    Verdict,
)
from migrate_lint.linter.registry import registry
from migrate_lint.linter.reporters import Paint
from migrate_lint.linter.reporters.formats import html
from migrate_lint.linter.reporters.formats.html.page_data import blocks, page_data
from migrate_lint.linter.result import BaselineStatus, Coverage, LintedProject, Result, Runtime, Team, VerifyReport
from migrate_lint.linter.rule_api.rule import Rule
from migrate_lint.linter.run.verdicts import tally

from .runs import PhaseOutcome, evidence, worker_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SOURCE = b"import tensorflow as tf\n\n\ndef call(self, x):\n    v = tf.Variable(x)\n    return v\n\n\n# end\n"
FINDING = Finding(
    "pkg/m.py",
    5,
    9,
    5,
    23,
    "TF101",
    "variable-in-call",
    Severity.ERROR,
    Consequence.CHANGES,
    "`tf.Variable` is made at every call",
)
HOSTILE = "</script><script>hacked=1</script><img src=x onerror=hacked=1><!--'\"`${hacked=1}`&lt;"


def result(*findings: Finding, source: bytes = SOURCE, files: int = 3, runtime: Runtime | None = None) -> Result:
    projects = (LintedProject("/p/shop", Target.KERAS3, "no evidence in the project", files),)
    sources: dict[str, tuple[str, bytes | None]] = {finding.path: (finding.path, source) for finding in findings}
    return Result(findings, files, projects, (), sources, runtime=runtime)


def page(made: Result) -> str:
    return "".join(f"{line}\n" for line in html.report(made, Paint(False)))


class _Elements(HTMLParser):
    """The elements of a page: names with attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.is_raw = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.is_raw = tag in {"script", "style"}
        if self.is_raw:
            self.raw.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self.is_raw = False

    def handle_data(self, data: str) -> None:
        if self.is_raw:
            tag, text = self.raw[-1]
            self.raw[-1] = tag, text + data


def data_of(made: Result) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_Elements(page(made)).raw[-1][1])
    return data


def finding_of(made: Result) -> dict[str, Any]:
    """The only finding of a page, by the names that the script gives its parts."""
    (row,) = data_of(made)["findings"]
    names = [
        "file",
        "rule",
        "severity",
        "consequence",
        "verdict",
        "cell",
        "line",
        "column",
        "message",
        "runtime",
        "excerpt",
        "evidence",
        "fix",
        "effort",
        "mends",
        "href",
        "reports",
    ]
    return dict(zip(names, row, strict=True))


def judged(verdict: Verdict, **changes: Any) -> Finding:
    said = () if verdict is Verdict.STATIC_ONLY else (evidence(verdict, "kernel was made again"),)
    return replace(FINDING, verdict=verdict, evidence=said, **changes)


def with_run(*findings: Finding) -> Result:
    phases = (PhaseOutcome("build", "ok", 0.5, ""), PhaseOutcome("first call", "failed", 0.2, "ValueError: no"))
    run = worker_run(phases=phases, scopes=(("assert_no_variable_creations", "one was made"),), notes=("a note",))
    return result(*findings, runtime=Runtime((run,), tally(findings), False))


def hostile() -> Result:
    """Every text that a stranger may have chosen, as markup."""
    finding = judged(
        Verdict.CONFIRMED,
        path=f"{HOSTILE}/{HOSTILE}.py",
        code=HOSTILE,
        slug=HOSTILE,
        message=HOSTILE,
        fix=Fix(Applicability.UNSAFE, (Edit(1, 1, 1, 2, HOSTILE),)),
    )
    finding = replace(finding, evidence=(evidence(Verdict.CONFIRMED, f"x{HOSTILE}", phase=HOSTILE),))
    phases = (PhaseOutcome(HOSTILE, "ok", 0.0, HOSTILE), PhaseOutcome(HOSTILE, "failed", 0.0, HOSTILE))
    words = dict.fromkeys(("device", "tensorflow", "keras", "python", "cause"), HOSTILE)
    run = replace(worker_run(phases=phases, scopes=((HOSTILE, HOSTILE),), notes=(HOSTILE,)), **words)  # type: ignore[arg-type]
    made = result(finding, source=f"\n\n\n\n{HOSTILE}".encode(), runtime=Runtime((run,), tally([finding]), False))
    key = finding.path, finding.line, finding.column, finding.code
    report = VerifyReport(f"/{HOSTILE}", HOSTILE, 1, HOSTILE, {key: HOSTILE})
    team = Team({finding.path: (HOSTILE,)}, HOSTILE, "x:{absolute}", (report,))
    projects = (LintedProject(f"/{HOSTILE}", Target.KERAS3, HOSTILE, 1),)
    return replace(made, projects=projects, empty=(HOSTILE,), team=team)


def many(number: int, files: int) -> Result:
    """Findings of every kind, spread over files in nested folders."""
    severities, consequences, rules = (
        list(Severity),
        list(Consequence),
        [("TF101", "variable-in-call"), ("TF401", "session-run")],
    )
    line = b"    value = tf.compat.v1.get_variable('weights', shape=[units, 128])  # a line of code\n"
    per_file = min(number // files + 1, 200)
    found = []
    for index in range(number):
        file = index * files // number
        start = 5 + 8 * (index % per_file)
        finding = replace(
            FINDING,
            path=f"shop/part{file % 9}/sub{file % 4}/module{file:05}.py",
            line=start,
            end_line=start,
            column=13,
            end_column=38,
            severity=severities[index % 3],
            consequence=consequences[index % 7 % 3],
            message=f"`tf.compat.v1.get_variable` number {index} is there through compat.v1 only; the name is another",
        )
        code, slug = rules[index % 2]
        found.append(replace(finding, code=code, slug=slug))
    return result(*sorted(found, key=lambda one: one.sort_key), source=line * (8 * per_file + 12), files=files)


def test_a_page_is_one_file_that_asks_for_nothing() -> None:
    """No element has an address to load from, but for an icon that is in the page."""
    found = _Elements(page(result(FINDING))).found

    assert [] == [attributes["src"] for _, attributes in found if "src" in attributes]
    assert ["data:image/svg+xml"] == [str(one["href"]).partition(",")[0] for _, one in found if "href" in one]
    assert "@import" not in page(result(FINDING))
    assert "url(" not in page(result(FINDING))


def test_the_policy_allows_one_script_and_one_style() -> None:
    """By the digests of what the page holds."""
    elements = _Elements(page(result(FINDING)))
    policy = next(one["content"] for _, one in elements.found if one.get("http-equiv") == "Content-Security-Policy")
    texts = dict(elements.raw[:2])
    digests = {tag: b64encode(sha256(text.encode()).digest()).decode() for tag, text in texts.items()}

    assert [
        "default-src 'none'",
        f"script-src 'sha256-{digests['script']}'",
        f"style-src 'sha256-{digests['style']}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ] == str(policy).split("; ")
    assert ["style", "script", "script"] == [tag for tag, _ in elements.raw]


def test_hostile_text_adds_no_element() -> None:
    """A page has the same elements whatever paths, code and messages hold."""
    benign = replace(hostile(), findings=(judged(Verdict.CONFIRMED),))
    benign = replace(benign, team=Team({"pkg/m.py": ("@ada",)}, "CODEOWNERS", "x:{absolute}", (verify_report(),)))

    assert [tag for tag, _ in _Elements(page(benign)).found] == [tag for tag, _ in _Elements(page(hostile())).found]
    assert "<" not in _Elements(page(hostile())).raw[-1][1]


def test_hostile_text_is_kept() -> None:
    """It is shown as it is, not cleaned."""
    data = data_of(hostile())

    assert (f"{HOSTILE}/{HOSTILE}.py", HOSTILE) == (data["files"][0]["path"], data["findings"][0][8])


def test_a_page_is_ascii_and_the_same_each_time() -> None:
    """Whatever the encoding of standard output; there is no time or random number in it."""
    made = result(replace(FINDING, message="日本 \udcff"), source="\n\n\n\nπ = 1\n".encode())

    assert page(made).isascii()
    assert page(made) == page(made)


def test_controls_and_direction_marks_are_spelled_out() -> None:
    """Code that reads otherwise than it runs shows how."""
    made = result(replace(FINDING, message="a\x1b\u202eb"), source=b"\n\n\n\nx = 1  # \xe2\x80\xae\x07\n")

    assert ("a\\x1b\\u202eb", {"2": "", "3": "", "4": "", "5": "x = 1  # \\u202e\\x07", "6": ""}) == (
        finding_of(made)["message"],
        data_of(made)["files"][0]["lines"],
    )


def marked(made: Result) -> str:
    """What the script marks in the first line: it counts in UTF-16 units."""
    _, _, start, last, end, *long = finding_of(made)["excerpt"]
    (line,) = long or [data_of(made)["files"][0]["lines"][str(made.findings[0].line)]]
    units = line.encode("utf-16-le")
    return str(
        (units[2 * start : 2 * end] if last == made.findings[0].line else units[2 * start :]).decode("utf-16-le")
    )


@pytest.mark.parametrize(
    ("line", "column", "end_column", "text"),
    [
        ("x = foo(1)", 5, 8, "foo"),
        ("\tx = foo(1)", 6, 9, "foo"),
        ("s = '😀日本'; foo", 12, 15, "foo"),
        ("s = '\x07\x07'; foo", 11, 14, "foo"),
        ("x" * 300 + "foo" + "y" * 300, 301, 304, "foo"),
        ("x" * 238 + "foo", 239, 242, "foo"),
        ("foo" + "y" * 300, 1, 4, "foo"),
        ("x" * 100 + "y" * 900, 101, 1001, "y" * 180),
        ("x", 9, 12, ""),
    ],
)
def test_the_mark_covers_what_the_finding_is_about(line: str, column: int, end_column: int, text: str) -> None:
    """With tabs, wide characters, escapes and long lines."""
    finding = replace(FINDING, line=1, end_line=1, column=column, end_column=end_column)

    assert text == marked(result(finding, source=line.encode()))


def test_an_excerpt_has_three_lines_around() -> None:
    """Fewer at the ends of a file; of a finding of many lines the first seven."""
    source = b"".join(b"line %d\n" % number for number in range(1, 40))
    cases = {(20, 20): (17, 23), (1, 1): (1, 4), (40, 40): (37, 40), (10, 12): (7, 15), (10, 30): (7, 16)}

    for (line, end_line), (first, last) in cases.items():
        finding = replace(FINDING, line=line, end_line=end_line, column=1, end_column=3)

        assert [first, last] == finding_of(result(finding, source=source))["excerpt"][:2]


def test_a_notebook_shows_the_lines_of_the_cell() -> None:
    """As their author wrote them, magics too."""
    cells = [["# A title"], ["%time\n", "x = tf.Variable(2.0)\n", "y = x\n"]]
    kinds = [{"cell_type": kind, "source": cell} for kind, cell in zip(("markdown", "code"), cells, strict=True)]
    finding = replace(FINDING, path="n.ipynb", cell=1, line=2, end_line=2, column=5, end_column=16)
    made = result(finding, source=json.dumps({"nbformat": 4, "cells": kinds}).encode())

    assert {"1:1": "%time", "1:2": "x = tf.Variable(2.0)", "1:3": "y = x", "1:4": ""} == data_of(made)["files"][0][
        "lines"
    ]
    assert (1, [1, 4, 4, 2, 15]) == (finding_of(made)["cell"], finding_of(made)["excerpt"])


@pytest.mark.parametrize("changes", [{"path": "gone.py"}, {"line": 99, "end_line": 99}, {"line": 0, "end_line": 0}])
def test_a_line_that_cannot_be_read_is_left_out(changes: dict[str, Any]) -> None:
    """The finding is there without it."""
    made = replace(result(replace(FINDING, **changes)), sources=result(FINDING).sources)

    assert finding_of(made)["excerpt"] is None


def test_rules_come_with_their_words() -> None:
    """Those that found something, each once, with every section."""
    first, second = data_of(result(FINDING, replace(FINDING, code="TF900", slug="unparsable-file"), FINDING))["rules"]

    assert ("TF101", "variables", "error", "breaks") == tuple(
        first[key] for key in ("code", "family", "severity", "consequence")
    )
    assert ["Why", "Example", "Fix", "Fix safety", "Source"] == [title for title, _ in first["words"]]
    assert ("TF900", "tool") == (second["code"], second["family"])


def test_a_rule_of_somebody_else_is_shown_without_words() -> None:
    """Its findings are there all the same."""
    (rule,) = data_of(result(replace(FINDING, code="XY1", slug="own")))["rules"]

    assert {"code": "XY1", "slug": "own", "family": "other", "summary": "", "words": []} == rule


def test_a_rule_without_sections_is_shown_without_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule of somebody else need not be documented as ours are."""

    class Own(Rule):
        code = "XY1"
        severity = Severity.INFO
        consequence = Consequence.LEGACY

    monkeypatch.setattr(registry, "all_rules", lambda: (Own(),))
    (rule,) = data_of(result(replace(FINDING, code="XY1", slug="own")))["rules"]

    assert ("info", "legacy", "", []) == tuple(rule[key] for key in ("severity", "consequence", "summary", "words"))


def test_markdown_becomes_paragraphs_items_and_code() -> None:
    """That is all that rules are written in."""
    text = "One\nparagraph.\n\n- an item\n  of two lines\n- another\n\n```python\nx = 1\n\ny = 2\n```\n\nThe end."

    assert [
        ("p", "One paragraph."),
        ("li", "an item of two lines"),
        ("li", "another"),
        ("code", "x = 1\n\ny = 2"),
        ("p", "The end."),
    ] == list(blocks(text))


def test_verdicts_evidence_and_runs_are_in_the_page() -> None:
    """Evidence once, without a detail that the message gives."""
    finding = judged(Verdict.CONFIRMED, fix=Fix(Applicability.SAFE, (Edit(5, 9, 5, 20, "tf.constant"),)))
    finding = replace(finding, evidence=(*finding.evidence * 2, evidence(Verdict.REFUTED, FINDING.message, "fit")))
    shown = finding_of(with_run(finding))

    assert [
        ["confirmed", "keras3, CPU:0, second call", "kernel was made again"],
        ["refuted", "keras3, CPU:0, fit", ""],
    ] == shown["evidence"]
    assert ["safe", [[5, 9, 5, 20, "tf.constant"]]] == shown["fix"]
    (run,) = data_of(with_run(finding))["runtime"]["runs"]
    assert [["build", "ok", 0.5, ""], ["first call", "failed", 0.2, "ValueError: no"]] == run["phases"]


def test_effort_and_the_baseline_are_in_the_page() -> None:
    status = BaselineStatus("b.json", 12, 7, 0, 0, "keep", (("2026-11-01", 12),))
    named = replace(FINDING, code="TF401", slug="session-run")
    data = data_of(replace(result(replace(FINDING, effort=Effort.LOCAL), named), baseline=status))
    assert [row[13] for row in data["findings"]] == [1, 2]
    made = page(replace(result(), baseline=status))
    assert made.count("7 of 12 known findings left, and not shown here.") == 2  # with a script and without one
    assert '<th scope="row">2026-11-01</th><td class="num">12</td>' in made
    assert "known finding" not in page(result())


def verify_report(**changes: Any) -> VerifyReport:
    """It speaks of the finding that tests begin with."""
    concerns = {("pkg/m.py", 5, 9, "TF101"): "it begins here"}
    return replace(VerifyReport("/p/run.html", "pair.py:pair", 1, "Differs.", concerns), **changes)


def shared(**changes: Any) -> Result:
    """Three files, of which two have owners, a finding with each kind of fix, and a report of verify."""
    edits = (Edit(5, 9, 5, 20, "tf.constant"),)
    kinds = (Fix(Applicability.SAFE, edits), Fix(Applicability.UNSAFE, edits, "why"), Fix(Applicability.DISPLAY, edits))
    found = [replace(FINDING, path=f"pkg/{name}.py", fix=fix) for name, fix in zip("abc", kinds, strict=True)]
    found.append(replace(FINDING, path="pkg/c.py", line=6, end_line=6))
    owners = {"pkg/a.py": ("@ada",), "pkg/b.py": ("@ada", "@org/ml"), "pkg/c.py": ()}
    report = verify_report(concerns={("pkg/b.py", 5, 9, "TF101"): "it begins here"})
    template = "https://example.org/blob/{path}#L{line}"
    team = Team(owners, ".github/CODEOWNERS", template, (report,), frozenset(), "/p/out")
    return replace(result(*found), team=replace(team, **changes))


def test_what_mends_a_finding_is_in_the_page() -> None:
    """A fix that is only shown, or that the configuration leaves out, mends nothing."""
    rows = data_of(shared())["findings"]
    assert [0, 1, 2, 2] == [row[14] for row in rows]
    rows = data_of(shared(left_to_hand=frozenset({("pkg/a.py", "TF101"), ("pkg/b.py", "TF102")})))["findings"]
    assert [2, 1, 2, 2] == [row[14] for row in rows]


def test_owners_and_addresses_are_in_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Paths are those from the top of the checkout; in a notebook no line is told."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    data = data_of(shared())

    assert [["@ada"], ["@ada", "@org/ml"], []] == [file["owners"] for file in data["files"]]
    assert "https://example.org/blob/sub/pkg/a.py#L5" == data["findings"][0][15]
    cell = replace(shared(), findings=(replace(FINDING, cell=3),))
    assert "https://example.org/blob/sub/pkg/m.py#L1" == data_of(cell)["findings"][0][15]
    assert data_of(shared(template=""))["findings"][0][15] is None
    assert data_of(result(FINDING))["files"][0]["owners"] is None


def test_reports_of_verify_are_in_the_page() -> None:
    """With the address from the folder of the page, or from the top where that is not known."""
    data = data_of(shared())
    name = "pair.py:pair (run.html)"
    told = {"name": name, "href": "../run.html", "status": 1, "verdict": "Differs.", "findings": 1}

    assert [told] == data["reports"]
    assert [[], [[0, "it begins here"]], [], []] == [row[16] for row in data["findings"]]
    assert "file:///p/run.html" == data_of(shared(folder=None))["reports"][0]["href"]


def test_the_curve_falls_from_day_to_day_to_what_is_left() -> None:
    """A step lies where its day does; days are as far apart as they were."""
    history = (("2026-11-01", 20), ("2026-11-06", 15), ("2026-11-11", 10))
    made = page(replace(result(), baseline=BaselineStatus("b.json", 21, 5, 5, 2, "keep", history)))

    assert 2 == made.count('d="M0 0H470V25H940V50H1000V75"')
    assert "5 of 21 known findings left, and not shown here; 2 of them not looked at in this run; 5 gone" in made
    assert "All checks passed" not in made
    assert "<title>2026-11-06: 15</title>" in made
    long = tuple((f"2026-{month:02}-{day:02}", 5) for month in range(1, 13) for day in range(1, 29))
    made = page(replace(result(), baseline=BaselineStatus("b.json", 21, 5, 0, 0, "keep", long)))
    assert 2 == made.count('<path class="dot"') == made.count("<title>this run: 5</title>")
    assert 2 * 336 == made.count('<th scope="row">')


@pytest.mark.parametrize("history", [(), (("2026-11-01", 0),), (("2026-11-01", 10**400), ("2026-11-01", 1))])
def test_any_history_makes_a_page(history: tuple[tuple[str, int], ...]) -> None:
    """An old file has none; a day may stand alone, and a number be absurd."""
    made = page(replace(result(), baseline=BaselineStatus("b.json", 1, 1, 0, 0, "keep", history)))

    assert "1 of 1 known finding left" in made
    assert bool(history) == ("<svg viewBox" in made)


def test_the_command_line_tells_owners_and_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the repository around the working folder; a line that says nothing is told on standard error."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "CODEOWNERS").write_text("* @ada\n*.py nobody\n")
    (tmp_path / "m.py").write_text("import tensorflow as tf\ntf.to_float(1)\n")
    (tmp_path / "migrate-lint.toml").write_text("link-template = 'x:{path}:{line}'\n")
    monkeypatch.chdir(tmp_path)
    words = ["--no-cache", "--output-format", "html", "--output-file", "report.html"]

    assert main(words) == 1
    assert "CODEOWNERS:2: nobody is no owner" in capsys.readouterr().err
    data = json.loads(_Elements((tmp_path / "report.html").read_text("ascii")).raw[-1][1])
    assert ["x:m.py:2"] == [row[15] for row in data["findings"]]
    assert (["@ada"], "CODEOWNERS") == (data["files"][0]["owners"], data["owners"])
    assert [0] == [row[14] for row in data["findings"]]  # fixes are looked for without --fix
    (tmp_path / "migrate-lint.toml").write_text("unfixable = ['ALL']\n")
    assert main([*words, "--link-template", "y:{absolute}"]) == 1
    data = json.loads(_Elements((tmp_path / "report.html").read_text("ascii")).raw[-1][1])
    assert [(2, f"y:{tmp_path}/m.py")] == [(row[14], row[15]) for row in data["findings"]]


def test_the_command_line_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is added to it, and the exit status is that of every format."""
    (tmp_path / "m.py").write_text("import tensorflow as tf\ntf.to_float(1)\n")
    report = tmp_path / "report.html"
    words = ["--isolated", "--no-cache", "--output-format", "html", str(tmp_path / "m.py")]

    assert main([*words, "--output-file", str(report)]) == 1
    assert capsys.readouterr().out == ""
    assert main(words) == 1
    assert report.read_text("ascii") == capsys.readouterr().out
    assert report.read_text("ascii").endswith("</html>\n")


# In a browser.

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium, chromium-browser or google-chrome is installed")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page and asserts in the end that it asked for nothing and complained of nothing."""
    complaints: list[str] = []
    contexts = []

    def open_page(made: Result, address: str = "", **options: Any) -> Page:
        file = tmp_path / "report.html"
        file.write_text(page(made), "ascii")
        context = browser.new_context(**options)
        contexts.append(context)
        shown = context.new_page()
        shown.on("console", lambda message: complaints.append(f"console: {message.text}"))
        shown.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        shown.on("request", lambda asked: complaints.extend([] if asked.url.startswith("file:") else [asked.url]))
        shown.goto(f"{file.as_uri()}{address}")
        return shown

    yield open_page
    for context in contexts:
        context.close()
    assert [] == complaints


def status(shown: Page) -> str:
    return shown.locator(".status").inner_text()


MIXED = (
    judged(Verdict.CONFIRMED),
    judged(Verdict.REFUTED, path="pkg/deep/a.py", severity=Severity.WARNING, consequence=Consequence.BREAKS),
    judged(Verdict.STATIC_ONLY, path="pkg/deep/b.py", severity=Severity.INFO, code="TF401", slug="session-run"),
)
MIXED = tuple(sorted(MIXED, key=lambda one: one.sort_key))


@pytest.mark.browser
def test_known_findings_are_told_and_are_no_passed_checks(opened: Open) -> None:
    status = BaselineStatus("b.json", 12, 7, 0, 0, "keep", (("2026-11-01", 12),))
    shown = opened(replace(result(), baseline=status))
    assert shown.locator(".lead").inner_text().startswith("No new findings")
    assert "7 of 12 known findings left" in shown.locator("main").inner_text()


@pytest.mark.browser
def test_effort_is_a_filter(opened: Open) -> None:
    mixed = (replace(one, effort=Effort.LOCAL if one.code == "TF101" else Effort.THOUGHT) for one in MIXED)
    shown = opened(result(*mixed), "#effort=thought")
    assert "1 of 3 findings" == status(shown)


@pytest.mark.browser
def test_a_page_shows_each_finding(opened: Open) -> None:
    """With its place, the marked code, its verdict and the evidence."""
    shown = opened(with_run(*MIXED))

    assert 3 == shown.locator(".finding").count()
    assert "tf.Variable(x)" == shown.locator("mark").first.inner_text()
    assert "3 findings in 3 of 3 files" == shown.locator(".lead").inner_text()
    assert "kernel was made again" in str(shown.locator(".finding", has_text="confirmed").text_content())
    assert "failed first call ValueError: no" == " ".join(shown.locator(".failure").inner_text().split())
    shown.locator(".phases > summary").click()
    assert ["build", "first call"] == shown.locator(".phases tbody th").all_inner_texts()


@pytest.mark.browser
def test_filters_narrow_and_stand_in_the_address(opened: Open) -> None:
    """A reload keeps them, the way back undoes them, and each choice says how many it would leave."""
    shown = opened(with_run(*MIXED))

    shown.locator(".tile.changes").click()
    assert ("2 of 3 findings", "#consequence=changes") == (status(shown), shown.evaluate("location.hash"))
    assert "error 1" == shown.locator(".toggle.error").inner_text()
    assert "breaks 1" == shown.locator(".toggle.breaks").inner_text()
    shown.locator(".toggle.static-only").click()
    shown.reload()
    assert "1 of 3 findings" == status(shown)
    assert "true" == shown.locator(".toggle.static-only").get_attribute("aria-pressed")
    shown.go_back()
    assert "2 of 3 findings" == status(shown)
    shown.get_by_role("button", name="Show all").click()
    assert ("3 findings", "") == (status(shown), shown.evaluate("location.hash"))


@pytest.mark.browser
def test_folders_and_rules_are_filters(opened: Open) -> None:
    """A bar opens its folder; a rule explains itself and shows its findings alone."""
    shown = opened(with_run(*MIXED))

    shown.get_by_role("button", name="deep/").click()
    assert ("2 of 3 findings", "#path=pkg%2Fdeep") == (status(shown), shown.evaluate("location.hash"))
    assert ["a.py", "b.py"] == shown.locator("section[aria-labelledby=work] .row .words").all_inner_texts()
    shown.locator(".rule", has_text="TF401").locator("summary").click()
    shown.locator(".explained h3").first.wait_for()
    assert shown.locator(".explained h3").all_inner_texts() == ["Why", "Example", "Fix", "Source"]
    shown.get_by_role("button", name="Show only its findings").click()
    assert "1 of 3 findings" == status(shown)
    shown.locator("select[aria-label=rule]").select_option("")
    shown.locator("select[aria-label=family]").select_option("variables")
    assert "1 of 3 findings" == status(shown)
    shown.locator(".chip").click()
    assert "2 of 3 findings" == status(shown)


@pytest.mark.browser
def test_owners_and_what_mends_are_filters(opened: Open) -> None:
    """A finding with two owners counts for both; an address that names nobody filters nothing."""
    shown = opened(shared(), "#owner=@nobody&mends=magic")

    rows = {name: shown.locator(f"section[aria-labelledby={name}] .row") for name in ("owners", "menders")}
    words = {name: [" ".join(row.split()) for row in found.all_inner_texts()] for name, found in rows.items()}
    assert ["@ada 2", "unowned 2", "@org/ml 1"] == words["owners"]
    assert ["--fix 1", "--fix --unsafe-fixes 1", "a person 2"] == words["menders"]
    assert "4 findings" == status(shown)
    rows["owners"].nth(0).click()
    assert ("2 of 4 findings", "#owner=%40ada") == (status(shown), shown.evaluate("location.hash"))
    rows["menders"].nth(0).click()
    assert "1 of 4 findings" == status(shown)
    assert ["@ada"] == shown.locator(".owned").all_inner_texts()
    shown.get_by_role("button", name="Show all").click()
    shown.locator("select[aria-label=owner]").select_option("unowned")
    assert "2 of 4 findings" == status(shown)
    shown.reload()
    assert "2 of 4 findings" == status(shown)


@pytest.mark.browser
def test_a_place_is_opened_and_a_report_is_linked(opened: Open) -> None:
    """From each finding; the reports have a filter of their own."""
    shown = opened(shared(template="vscode://file/{absolute}:{line}:{column}"))

    href = shown.locator(".finding a.place").first.get_attribute("href")
    assert href is not None
    assert re.fullmatch(r"vscode://file/[^/].*/pkg/a\.py:5:9", href)
    assert "differs pair.py:pair (run.html) Differs. It names 1 of the findings on this page." == " ".join(
        shown.locator(".reports li").inner_text().split()
    )
    shown.locator(".toggle.named").click()
    assert "1 of 4 findings" == status(shown)
    assert "it begins here" in str(shown.locator(".reported").text_content())
    assert "../run.html" == shown.locator(".reported a").get_attribute("href")


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_known_findings_are_drawn(opened: Open, scripts: bool) -> None:
    """With scripts and without them, as wide as its box; the numbers stand in a table."""
    history = (("2026-11-01", 20), ("2026-11-06", 15))
    made = replace(result(FINDING), baseline=BaselineStatus("b.json", 21, 15, 0, 0, "keep", history))
    shown = opened(made, java_script_enabled=scripts, viewport={"width": 320, "height": 700})

    box = shown.locator(".curve svg").bounding_box()
    assert box is not None
    assert 200 < box["width"] < 320
    assert box["height"] > 90
    assert ["20", "0", "2026-11-01", "this run"] == shown.locator(".curve span").all_inner_texts()
    shown.locator(".panel:has(.curve) summary").click()
    assert ["2026-11-01 20", "2026-11-06 15"] == [
        " ".join(row.split()) for row in shown.locator(".panel:has(.curve) tr").all_inner_texts()
    ]


@pytest.mark.browser
def test_search_looks_at_paths_rules_and_messages(opened: Open) -> None:
    """All words have to be there, in any order and case."""
    shown = opened(with_run(*MIXED))

    for words, left in {"DEEP": 2, "session tf401": 1, "every call": 3, "b.py variable-in": 0}.items():
        shown.get_by_role("searchbox").fill(words)
        shown.wait_for_function("words => new URLSearchParams(location.hash.slice(1)).get('q') === words", arg=words)
        assert f"{left} of 3 findings" == status(shown) if left < 3 else status(shown) == "3 findings"
    shown.get_by_role("searchbox").fill("nothing like it")
    shown.locator(".none").wait_for()
    assert 0 == shown.locator(".finding").count()


@pytest.mark.browser
def test_a_cell_is_named_and_its_lines_are_shown(opened: Open) -> None:
    """Lines count within the cell."""
    cell = {"cell_type": "code", "source": "!pip install x\nx = tf.Variable(2.0)"}
    finding = replace(FINDING, path="n.ipynb", cell=0, line=2, end_line=2, column=5, end_column=16)
    shown = opened(result(finding, source=json.dumps({"nbformat": 4, "cells": [cell]}).encode()))

    assert "cell 0, 2:5" == shown.locator(".place").inner_text()
    assert ["tf.Variable"] == shown.locator("mark").all_inner_texts()
    assert "!pip install x" == shown.locator(".line").first.inner_text().strip()


@pytest.mark.browser
def test_a_page_works_from_the_keyboard(opened: Open) -> None:
    """A skip link first, / for the search, and files open by Enter."""
    shown = opened(with_run(*MIXED))

    shown.keyboard.press("Tab")
    assert "Skip to the findings" == shown.evaluate("document.activeElement.textContent")
    shown.keyboard.press("Enter")
    shown.keyboard.press("/")
    assert "search" == shown.evaluate("document.activeElement.id")
    shown.locator(".file > summary").first.focus()
    shown.keyboard.press("Enter")
    assert shown.locator(".file").first.get_attribute("open") is None


@pytest.mark.browser
def test_hostile_text_runs_no_script(opened: Open) -> None:
    """Neither of a finding nor of the address."""
    shown = opened(hostile(), f"#q=</script>&path={HOSTILE}&rule={HOSTILE}&family=__proto__&severity=constructor")

    shown.evaluate("location.hash = ''")
    shown.locator(".finding").wait_for()
    shown.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    shown.locator(".row").first.click()
    shown.locator(".chip").wait_for()
    assert HOSTILE.replace("`", "") == shown.locator(".message").text_content()
    assert HOSTILE in str(shown.locator(".excerpt").text_content())
    assert "undefined" == shown.evaluate("typeof hacked")
    assert 0 == shown.locator("img").count()


@pytest.mark.browser
def test_what_is_not_in_the_policy_does_not_run(browser: Browser, tmp_path: Path) -> None:
    """Even if markup got into the page, it would be refused."""
    file = tmp_path / "report.html"
    attack = "<script>hacked=1</script><img src='https://example.org/x.png' onerror='hacked=1'>"
    file.write_text(page(result(FINDING)).replace("</body>", f"{attack}</body>"), "ascii")
    shown = browser.new_page()
    failed: list[str | None] = []
    complaints: list[str] = []
    shown.on("requestfailed", lambda request: failed.append(request.failure))
    shown.on("console", lambda message: complaints.append(message.text))
    shown.goto(file.as_uri())
    shown.wait_for_timeout(200)

    assert "undefined" == shown.evaluate("typeof hacked")
    assert ["csp"] == failed
    assert all("Content Security Policy" in text for text in complaints)
    assert 2 <= len(complaints)
    shown.close()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_themes(opened: Open, scheme: str) -> None:
    """The contrast of every text is at least 4.5, as WCAG AA asks."""
    history = BaselineStatus("b.json", 12, 7, 1, 2, "keep", (("2026-11-01", 12),))
    team = Team({"pkg/m.py": ("@ada",)}, "CODEOWNERS", "x:{absolute}", (verify_report(),))
    made = replace(with_run(FINDING, *MIXED), baseline=history, team=team)
    shown = opened(made, color_scheme=scheme)
    assert shown.locator(".reported").first.is_visible()
    shown.locator(".rule > summary").first.click()
    shown.locator(".toggle.error").click()
    shown.mouse.move(0, 0)

    assert [] == shown.evaluate(
        """() => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const pixel = (color, under) => {
            canvas.fillStyle = under;
            canvas.fillRect(0, 0, 1, 1);
            canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
        };
        const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const light = (rgb) => rgb.map((v) => linear(v / 255))
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = (element) => {
            const under = element.parentElement ? behind(element.parentElement) : "white";
            return `rgb(${pixel(getComputedStyle(element).backgroundColor, under)})`;
        };
        const poor = [];
        for (const element of document.querySelectorAll("#report *")) {
            const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
            if (!texts.length || !element.checkVisibility() || element.tagName === "OPTION") continue;
            const ground = behind(element);
            const [a, b] = [light(pixel(getComputedStyle(element).color, ground)), light(pixel(ground, "white"))];
            const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (contrast < 4.5) poor.push(`${element.className || element.tagName} ${contrast.toFixed(2)}`);
        }
        return [...new Set(poor)];
    }"""
    )


@pytest.mark.browser
def test_the_theme_can_be_chosen_and_is_kept(opened: Open) -> None:
    """Until then it is the system's."""
    shown = opened(result(FINDING), color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = shown.evaluate(ground)

    shown.get_by_label("Theme").select_option("light")
    light = shown.evaluate(ground)
    assert dark != light
    shown.reload()
    assert light == shown.evaluate(ground)


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 768, 1280])
def test_nothing_is_wider_than_the_screen(opened: Open, width: int) -> None:
    """On a phone neither; long code scrolls in its own box."""
    path = f"pkg/{'deep' * 30}/{'long' * 30}.py"
    history = BaselineStatus("b.json", 12, 7, 1, 2, "keep", (("2026-11-01", 12),))
    report = verify_report(name="long" * 60, verdict="word" * 60, concerns={(path, 5, 9, "TF101"): "long" * 60})
    team = Team({path: (f"@{'owner' * 40}",)}, f"{'docs' * 20}/CODEOWNERS", "x:{absolute}", (report,))
    made = replace(with_run(*(replace(one, path=path) for one in MIXED)), baseline=history, team=team)
    shown = opened(made, viewport={"width": width, "height": 700})
    assert 1 <= shown.locator(".reported").count()

    assert width == shown.evaluate("document.documentElement.scrollWidth")


@pytest.mark.browser
def test_on_paper_every_finding_is_open(opened: Open) -> None:
    """Up to 500, and the page says so when there are more."""
    shown = opened(many(400, 90))
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (400, False) == (shown.locator(".finding").count(), shown.locator(".printed").is_visible())
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    assert 400 > shown.locator(".finding").count()

    shown = opened(many(700, 90))
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (500, True) == (shown.locator(".finding").count(), shown.locator(".printed").is_visible())
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    shown.locator(".toggle.error").click()
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert "234 of 700 findings: severity error." == shown.locator(".printed").inner_text()
    assert shown.pdf().startswith(b"%PDF")


@pytest.mark.browser
def test_without_scripts_there_are_the_counts(opened: Open) -> None:
    """Some servers switch scripts off for what a job has made."""
    text = opened(result(FINDING), java_script_enabled=False).locator("body").inner_text()

    assert "Findings: 1, in 3 files: 0 breaks, 1 changes, 0 legacy, 1 error, 0 warning, 0 info." in text
    assert re.search(r"1\s+TF101 variable-in-call", text)
    assert re.search(r"1\s+pkg/m.py", text)


@pytest.mark.browser
def test_without_scripts_every_finding_is_told(opened: Open) -> None:
    """With its address, owners, verdict, evidence, what mends it and what verify says of it, on a phone too."""
    path = f"pkg/{'deep' * 30}/{'long' * 30}.py"
    made = shared()
    judged_one = judged(Verdict.CONFIRMED, path=path)
    made = replace(made, findings=(*made.findings, judged_one))
    shown = opened(made, java_script_enabled=False, viewport={"width": 320, "height": 700})
    items = [" ".join(words.split()) for words in shown.locator("noscript li").all_inner_texts()]

    assert 5 == len(items)
    assert items[0].startswith("5:9 TF101 variable-in-call (error, changes, --fix mends it) `tf.Variable`")
    assert items[1].endswith("verify: pair.py:pair (run.html): it begins here")
    assert "(error, changes, confirmed, a person mends it)" in items[4]
    assert items[4].endswith("confirmed keras3, CPU:0, second call kernel was made again")
    hrefs = [link.get_attribute("href") for link in shown.locator("noscript li a").all()]
    assert ["L5", "L5", "../run.html", "L5", "L6", "L5"] == [str(one).rpartition("#")[2] for one in hrefs]
    text = shown.locator("body").inner_text()
    assert re.search(r"2\s+@ada\s+1\s+@org/ml|3\s+unowned\s+2\s+@ada\s+1\s+@org/ml", text)
    assert re.search(r"3\s+a person mends it", text)
    assert 320 == shown.evaluate("document.documentElement.scrollWidth")


@pytest.mark.browser
def test_without_findings_the_page_says_so(opened: Open) -> None:
    """And does not show empty filters."""
    shown = opened(result())

    assert "All checks passed: 3 files" == shown.locator(".lead").inner_text()
    assert 0 == shown.locator(".toolbar").count()


def test_a_page_calls_nothing_passed_that_was_not_looked_at() -> None:
    """Neither phases of a run that failed nor files without TensorFlow, and no known findings."""
    run = worker_run(phases=(PhaseOutcome("fit", "failed", 0.1, "why"),))
    failed = replace(result(), runtime=Runtime((run,), tally([]), trusted=False))
    plain = replace(result(), coverage=Coverage(files=0))

    assert "All checks passed: 3 files" == page_data(result(), "1")["passed"]
    assert page_data(failed, "1")["passed"].startswith("Nothing found, but 1 phase of the run failed")
    assert page_data(plain, "1")["passed"] == "Nothing to check: 3 files, none of which reaches TensorFlow"


@pytest.mark.browser
def test_a_page_opens_in_a_few_times_an_empty_one(browser: Browser, tmp_path: Path) -> None:
    """With as many findings as tensor2tensor has: 2,008 in 324 files, until they are painted."""
    full, empty = tmp_path / "full.html", tmp_path / "empty.html"
    full.write_text(page(many(2008, 324)), "ascii")
    empty.write_text("<!DOCTYPE html><html lang=en><meta charset=utf-8><title>empty</title></html>", "ascii")
    shown = browser.new_page()

    def seconds(file: Path) -> float:
        shown.goto("about:blank")
        start = time.perf_counter()
        shown.goto(file.as_uri())
        shown.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.perf_counter() - start

    times = [(seconds(empty), seconds(full)) for _ in range(9)]
    shown.close()

    assert statistics.median(full / empty for empty, full in times) <= 25


@pytest.mark.browser
@pytest.mark.parametrize("files", [1, 1000, 10_000])
def test_ten_thousand_findings_are_usable(opened: Open, files: int) -> None:
    """Only what is near the screen is built, a filter answers at once, and the end can be reached."""
    shown = opened(many(10_000, files))
    elements = "document.querySelectorAll('*').length"

    assert shown.evaluate(elements) < 3000
    took = shown.evaluate("""() => {
        const start = performance.now();
        document.querySelector(".toggle.error").click();
        return document.body.offsetHeight && performance.now() - start;
    }""")
    assert took < 30_000
    assert "3,334 of 10,000 findings" == status(shown)
    shown.get_by_role("searchbox").fill("number 9999")
    shown.get_by_text("1 of 10,000 findings").wait_for()
    assert "number 9999" in shown.locator(".message").inner_text()
    shown.get_by_role("button", name="Show all").click()
    shown.get_by_role("button", name="Open all").click()
    assert shown.evaluate(elements) < 40_000
    before = shown.locator(".finding").count()
    shown.wait_for_function(
        """(before) => {
            scrollTo(0, document.body.scrollHeight);
            return document.querySelectorAll(".finding").length > before;
        }""",
        arg=before,
    )
