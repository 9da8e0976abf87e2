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
from migrate_lint.linter.result import BaselineStatus, Coverage, LintedProject, Result, Runtime
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
    return replace(made, projects=(LintedProject(f"/{HOSTILE}", Target.KERAS3, HOSTILE, 1),), empty=(HOSTILE,))


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
    benign = with_run(judged(Verdict.CONFIRMED))

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
    shown = opened(with_run(*MIXED), color_scheme=scheme)
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
    shown = opened(with_run(*(replace(one, path=path) for one in MIXED)), viewport={"width": width, "height": 700})

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
