"""The HTML report of a comparison, as text and in a real browser."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from migrate_lint.runtime_checks.comparison.excerpts import excerpts
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.reporters import html
from migrate_lint.runtime_checks.comparison.reporters.html.page_data import page_data
from migrate_lint.runtime_checks.comparison.results import (
    Cause,
    Change,
    Excerpt,
    OperationPair,
    OperationSide,
    RandomOp,
    Status,
    Timing,
    Trial,
)
from migrate_lint.runtime_checks.worker.recording.format.reading import read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording

from . import reports

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class _Elements(HTMLParser):
    """The elements of a page: names with attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[list[str]] = []
        self.is_raw = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.is_raw = tag in {"script", "style"}
        if self.is_raw:
            self.raw.append([tag, ""])

    def handle_endtag(self, tag: str) -> None:
        self.is_raw = False

    def handle_data(self, data: str) -> None:
        if self.is_raw:
            self.raw[-1][1] += data


def data_of(report: Report) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_Elements(html.render(report)).raw[-1][1])
    return data


def test_a_page_is_one_file_that_asks_for_nothing() -> None:
    """No element has an address to load from, but for an icon that is in the page."""
    text = html.render(reports.differing(3))
    found = _Elements(text).found

    assert [] == [attributes["src"] for _, attributes in found if "src" in attributes]
    assert ["data:image/svg+xml"] == [str(one["href"]).partition(",")[0] for _, one in found if "href" in one]
    assert "@import" not in text
    assert "url(" not in text


def test_the_policy_allows_one_script_and_one_style() -> None:
    """By the digests of what the page holds."""
    elements = _Elements(html.render(reports.equal()))
    policy = next(one["content"] for _, one in elements.found if one.get("http-equiv") == "Content-Security-Policy")
    digests = {tag: b64encode(sha256(text.encode()).digest()).decode() for tag, text in elements.raw[:2]}

    assert [
        "default-src 'none'",
        f"script-src 'sha256-{digests['script']}'",
        f"style-src 'sha256-{digests['style']}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ] == str(policy).split("; ")


def test_hostile_names_add_no_element() -> None:
    """Beyond those that a reader without scripts gets for the ladder, whatever names and messages hold."""
    text = html.render(reports.hostile())
    names = {tag for tag, _ in _Elements(text).found}

    assert names == {tag for tag, _ in _Elements(html.render(reports.differing(3))).found}
    assert "<" not in _Elements(text).raw[-1][1]
    assert 3 == len(_Elements(text).raw)


def test_a_page_is_ascii_and_the_same_each_time() -> None:
    """There is no time or random number in it, and control characters are spelled out."""
    report = reports.equal(name="日本 \udcff\u202e")

    assert html.render(report).isascii()
    assert html.render(report) == html.render(report)
    assert "日本 \\udcff\\u202e" == data_of(report)["name"]


def test_a_reader_without_scripts_gets_the_verdict_and_the_ladder() -> None:
    """As plain HTML."""
    text = html.render(reports.differing(3)).partition("<noscript>")[2]

    assert "Differs from layer block1/bn" in text
    assert "<tr><td>3f<td>fingerprint fill<td>fail<td>values differ" in text


def test_the_chain_of_the_first_divergence_is_chosen() -> None:
    """In the order of execution, with the place of the divergence."""
    (chain,) = [one for one in data_of(reports.differing())["chains"] if one["chosen"]]

    assert ("Rung 3f: fingerprint fill", 3) == (chain["label"], chain["first"])
    assert list(reports.LAYERS) == [row[1] for row in chain["rows"][:8]]


def test_of_many_steps_the_first_ones_the_last_and_the_first_that_fails_are_drawn() -> None:
    """A hundred pictures would be no help."""
    report = replace(reports.differing(9), first_divergence=None)
    report = replace(report, rungs=(reports.rung("7", Status.FAIL, reports.training(9, 5)),))

    assert [f"Rung 7: training, step {step}" for step in (0, 1, 2, 5, 8)] == [
        one["label"] for one in data_of(report)["chains"]
    ]


def test_a_grid_has_a_row_a_variable_and_a_column_a_step() -> None:
    """With the excess; a value that cannot be compared is -1, one that was not recorded None."""
    broken = reports.check("variable", "a", math.nan, scenario="steps", step=1, passed=False, problem="shapes differ")
    checks = [reports.check("variable", "a", 2.0, scenario="steps"), broken]
    checks.append(reports.check("variable", "b", 0.25, scenario="steps", step=1))
    (grid,) = data_of(reports.equal(rungs=(reports.rung("7", Status.FAIL, checks),)))["grids"]

    assert ([0, 1], [["a", 2.0, -1], ["b", None, 0.25]]) == (grid["steps"], grid["rows"])


def test_time_and_memory_are_a_row_with_a_column_a_side() -> None:
    """What was not traced stands below; a report without a trace has neither."""
    traced = reports.side("tf1", timing=Timing("call", (0.25,), (3 << 20,), 3, ""))
    untraced = reports.side("tf2", timing=Timing("", (), (), 0, "it runs itself"))
    rows, problems = data_of(reports.equal(sides=(traced, untraced)))["timed"]

    assert [["call", "250 ms (250 to 250, 1 calls)", "not timed"], ["memory behind it", "3 MiB", "unknown"]] == rows
    assert ["no trace of the TF2 side: it runs itself"] == problems
    assert [[], []] == data_of(reports.equal())["timed"]


def test_a_scalar_knows_its_tolerance_at_each_step() -> None:
    """From the values that were compared."""
    loss = next(one for one in data_of(reports.differing(4))["series"] if one["kind"] == "loss")

    assert [1e-5] * 4 == loss["tolerance"]
    assert [2e-7] * 4 == loss["noise"]


def test_an_extra_random_operation_stands_alone() -> None:
    """Those after it are beside their counterparts, whatever their seeds are now."""
    (shown,) = page_data(reports.differing(3))["random"]

    assert [False, False, False, True, False, False, False] == [None in row for row in shown["rows"]]
    assert (3, 6, 7) == (shown["first"], shown["tf1"], shown["tf2"])


def test_an_operation_for_initial_values_is_no_first_difference() -> None:
    """Initializers draw otherwise on both sides, and their values are compared by themselves."""
    initial = RandomOp("TruncatedNormal", 1, (3,), "initial value", None)
    step = RandomOp("RandomUniform", 2, (4, None), "step", None)
    report = reports.equal(random_ops={"training": ([initial, step], [replace(step, shape=(4, 8))])})
    (shown,) = page_data(report)["random"]

    assert ([True, False], None) == ([None in row for row in shown["rows"]], shown["first"])


def test_when_initial_values_are_drawn_says_nothing_of_the_steps() -> None:
    """TF1 builds initializers layer by layer, between the operations of a step."""
    initial = RandomOp("RandomUniform", 1, (3,), "initial value", None)
    step = RandomOp("RandomUniform", 2, (4, 8), "step", None)
    (shown,) = page_data(reports.equal(random_ops={"training": ([initial, step, initial], [initial, initial, step])}))[
        "random"
    ]

    assert ([False, False, False], None) == ([None in row for row in shown["rows"]], shown["first"])


def test_numbers_that_are_not_finite_are_valid_json() -> None:
    """A browser refuses NaN."""
    checks = [reports.check(excess=math.inf, error=math.nan, needed_rtol=math.inf), reports.check(excess=math.nan)]
    text = _Elements(html.render(reports.equal(rungs=(reports.rung("3", Status.FAIL, checks),)))).raw[-1][1]

    def refused(word: str) -> None:
        raise AssertionError(word)

    (chain,) = json.loads(text, parse_constant=refused)["chains"]
    assert [1e308, None] == [row[3] for row in chain["rows"]]


SOURCE = ("def call(self, x):", "    return <b>norm</b>(x)", "")


def quoted(report: Report, lines: tuple[str, ...] = SOURCE) -> Report:
    """The report with the lines around both places of its first divergence."""
    first = report.first_divergence
    assert first is not None
    places = (("tf1", first.deviation.tf1_place), ("tf2", first.deviation.tf2_place))
    made = [Excerpt(side, place[0], place[1], place[1] - 1, lines) for side, place in places if place]
    return replace(report, excerpts=tuple(made))


def test_both_source_texts_stand_at_the_first_divergence() -> None:
    """TF1 first, with the number of the line that is meant."""
    shown = data_of(quoted(reports.differing(3)))["source"]

    assert [["TF1", "old/model.py:13", 13, 12, list(SOURCE)], ["TF2", "new/model.py:31", 31, 30, list(SOURCE)]] == shown


def test_the_operation_that_it_begins_with_is_shown_rather_than_the_layer() -> None:
    """Of a side that has no such operation, the layer."""
    report = reports.differing(3)
    assert report.first_divergence is not None
    end = OperationSide("MatMul", ("new/model.py", 5), (4, 8), ())
    operation = OperationPair("fingerprint", 0, None, end, (), (), 1.0)
    report = replace(report, first_divergence=replace(report.first_divergence, operation=operation))

    assert ["old/model.py:13", "new/model.py:5"] == [one[1] for one in data_of(report)["source"]]


def test_the_line_that_trying_found_is_shown_first() -> None:
    """It is the one to change, wherever the values part."""
    change = Change("forward", "`Dense(2)`: give 3", ("new/other.py", 4))
    names = Change("names", "the names of 2 variables", ("new/pair.py", 1))
    report = replace(reports.differing(3), trial=Trial("found", (names, change), 4))
    data = data_of(report)

    assert ["old/model.py:13", "new/other.py:4"] == [one[1] for one in data["source"]]
    assert ["`Dense(2)`: give 3 at new/other.py:4"] == data["found"]


def led(*causes: Cause, trial: Trial | None = None) -> dict[str, Any]:
    """What the page knows of a report with these causes, of which the linter's findings say nothing."""
    return data_of(replace(quoted(reports.differing(3)), causes=causes, trial=trial))


@pytest.mark.parametrize("kind", ["training mode", "update rule", "regularization", "learning rate", "loss"])
def test_the_line_of_the_likeliest_cause_is_shown_first(kind: str) -> None:
    """Whatever it is; where the values part stands behind it, and beside it what TF1 has, as far as that is known."""
    likely = Cause(kind, 0.9, ("why",), tf1_place=("old/train.py", 7), tf2_place=("new/train.py", 9))
    data = led(likely, Cause("forward", 0.5, ("other",), tf2_place=("new/model.py", 2)))
    alone = led(replace(likely, tf1_place=None))

    assert (kind, ["old/train.py:7", "new/train.py:9"]) == (data["lead"], [one[1] for one in data["source"]])
    assert ["old/model.py:13", "new/model.py:31"] == [one[1] for one in data["begins"]]
    assert list(SOURCE) == data["begins"][1][4]
    assert ["old/model.py:13", "new/train.py:9"] == [one[1] for one in alone["source"]]


def test_a_cause_at_the_line_where_the_values_part_is_shown_once() -> None:
    """With its text."""
    data = led(Cause("forward", 0.9, ("why",), tf2_place=("new/model.py", 31)))

    assert ("forward", []) == (data["lead"], data["begins"])
    assert list(SOURCE) == data["source"][1][4]


def test_a_cause_without_a_line_leaves_the_place_where_the_values_part() -> None:
    """That of a less likely one is not shown in its stead."""
    data = led(Cause("names", 0.9, ("why",)), Cause("forward", 0.2, ("other",), tf2_place=("new/train.py", 9)))

    assert ("", "new/model.py:31") == (data["lead"], data["source"][1][1])


def test_a_line_that_was_refuted_by_trying_does_not_lead() -> None:
    """The next one does, and nothing that was found by trying makes way for a cause."""
    refuted = Cause("loss", 0.9, ("why",), tried="refuted", tf2_place=("new/loss.py", 3))
    other = Cause("update rule", 0.4, ("why",), tf2_place=("new/train.py", 9))
    found = Trial("found", (Change("forward", "`Dense(2)`: give 3", ("new/other.py", 4)),), 4)

    assert "new/train.py:9" == led(refuted, other, trial=Trial("not found"))["source"][1][1]
    assert ("new/other.py:4", "") == (led(other, trial=found)["source"][1][1], led(other, trial=found)["lead"])


def test_whether_it_was_tried_is_known_to_the_page() -> None:
    """Which advises trying no more then."""
    assert [False, True] == [led(trial=trial)["tried"] for trial in (None, Trial("not found", left="none"))]


def test_a_part_of_the_cause_is_not_the_line_to_change() -> None:
    """Where something remains, the values still part where they do."""
    change = Change("forward", "`Dense(2)`: give 3", ("new/other.py", 4))
    data = data_of(replace(reports.differing(3), trial=Trial("closer", (change,), 4, left="rung 7 differs")))

    assert ("new/model.py:31", []) == (data["source"][1][1], data["found"])


@pytest.mark.parametrize(
    ("content", "changed", "kept"),
    [
        (b"a = 1\nb = 2\n", False, "a = 1\nb = 2\n"),
        (b"a = 1\n", True, None),
        ("# coding: latin-1\na = '\xe9'\n".encode("latin-1"), False, "# coding: latin-1\na = '\xe9'\n"),
        (b"a = '\xe9'\n", False, None),
        (b"#" * (300 << 10), False, None),
        (None, False, None),
    ],
    ids=["as it was", "changed since", "encoded", "of no encoding", "too long", "gone"],
)
def test_a_recording_keeps_the_text_of_the_users_files(
    tmp_path: Path, content: bytes | None, changed: bool, kept: str | None
) -> None:
    """And says of which it does not."""
    file = tmp_path / "model.py"
    if content is not None:
        file.write_bytes(content)
        os.utime(file, (1 << 32, 1 << 32) if changed else (1, 1))
    recording = Recording(str(tmp_path / "tf2"), "tf2")
    recording.quote([str(file)])
    recording.save()

    assert {str(file): kept} == read(tmp_path / "tf2").content["sources"]


def test_lines_are_counted_as_python_counts_them() -> None:
    """A form feed, and what else ends a line of a text, is within one."""
    report = reports.differing(3)
    assert report.first_divergence is not None
    (path, line) = report.first_divergence.deviation.tf2_place or ("", 0)
    text = "a = 1\f\n" * (line - 2) + "\x1c\u2028\nthis = 1\n"
    side: Any = SimpleNamespace(content={"sources": {path: text}})
    found = [one for one in excerpts(report, side, side) if one.side == "tf2"]

    assert ["this = 1"] == [one.lines[line - one.first] for one in found]


def test_excerpts_are_read_back_from_json() -> None:
    """As they were written."""
    report = quoted(reports.differing(3))

    assert report.excerpts == Report.from_json(report.to_json()).excerpts


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

    def open_page(report: Report, **options: Any) -> Page:
        file = tmp_path / "report.html"
        report.to_html(file)
        context = browser.new_context(**options)
        contexts.append(context)
        shown = context.new_page()
        shown.on("console", lambda message: complaints.append(f"console: {message.text}"))
        shown.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        shown.on("request", lambda asked: complaints.extend([] if asked.url.startswith("file:") else [asked.url]))
        shown.goto(file.as_uri())
        return shown

    yield open_page
    for context in contexts:
        context.close()
    assert [] == complaints


@pytest.mark.browser
def test_the_first_divergent_layer_is_in_sight_at_once(opened: Open) -> None:
    """In the heading, and with both paths and lines before any scrolling."""
    shown = opened(reports.differing(), viewport={"width": 1280, "height": 800})
    panel = shown.get_by_role("region", name="First layer that differs")
    box = panel.bounding_box()

    assert "The two models differ, first at layer block1/bn" == shown.get_by_role("heading", level=1).inner_text()
    assert "Up to layer block1/conv both agree." in shown.locator(".verdict p").inner_text()
    assert box is not None
    assert 800 > box["y"] + box["height"]
    for words in ("old/model.py:13", "new/model.py:31", "block1/batch_normalization", "4,620 \u00d7 the tolerance"):
        assert words in panel.inner_text()


@pytest.mark.browser
def test_the_marked_lines_are_text_and_in_sight_at_once(opened: Open) -> None:
    """Also where a line is markup."""
    shown = opened(quoted(reports.differing(3)), viewport={"width": 1280, "height": 800})
    marked = shown.locator(".sources .row.here")
    boxes = [one.bounding_box() for one in marked.all()]

    assert ["13", "31"] == [text.split()[1] for text in marked.all_inner_texts()]
    assert all("return <b>norm</b>(x)" in text for text in marked.all_inner_texts())
    assert all(box is not None and box["y"] + box["height"] < 800 for box in boxes)


@pytest.mark.browser
def test_a_file_whose_text_was_not_kept_is_told(opened: Open) -> None:
    """And not passed over."""
    assert 2 == opened(quoted(reports.differing(3), ())).get_by_text("was not recorded").count()


@pytest.mark.browser
def test_what_is_to_be_pasted_can_be_copied(opened: Open) -> None:
    """From a box of its own, whole."""
    report = reports.differing(3)
    note = "paste: renames={'a/': 'b/'}"
    rungs = tuple(replace(one, notes=(note,)) if one.number == "2" else one for one in report.rungs)
    shown = opened(replace(report, rungs=rungs))

    assert "renames={'a/': 'b/'}" == shown.get_by_label("Text to copy").input_value()
    shown.get_by_role("button", name="Copy").click()
    shown.get_by_role("button", name=re.compile("Copied|Selected")).wait_for()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("report", "words"),
    [
        pytest.param(reports.equal(), "Both models compute the same", id="equal"),
        pytest.param(reports.equal(problems=("other inputs",)), "The two sides cannot be compared", id="inputs"),
        pytest.param(
            reports.equal(rungs=(reports.rung("3", Status.VACUOUS),)), "This comparison shows nothing", id="vacuous"
        ),
        pytest.param(
            reports.equal(sides=(reports.side("tf1"), reports.side("tf2", cause="segmentation fault"))),
            "The TF2 side ended early",
            id="crashed",
        ),
        pytest.param(replace(reports.differing(3), first_divergence=None), "The two models differ", id="no place"),
        pytest.param(
            reports.equal(rungs=(), variables=(), series=(), name="", sides=(reports.side("tf1"), reports.side("tf2"))),
            "This comparison shows nothing",
            id="empty",
        ),
    ],
)
def test_every_report_has_its_heading(opened: Open, report: Report, words: str) -> None:
    """And is drawn without an error."""
    assert words == opened(report).get_by_role("heading", level=1).inner_text()


@pytest.mark.browser
def test_the_error_by_layer_is_read_with_the_keyboard(opened: Open) -> None:
    """The cursor begins at the first divergence, and tells what it comes to."""
    shown = opened(reports.differing())
    panel = shown.get_by_role("region", name="Error by layer")
    slider = panel.get_by_role("slider")

    assert "3" == slider.get_attribute("aria-valuenow")
    assert "first: block1/bn" in panel.locator("svg").text_content()  # type: ignore[operator]
    slider.focus()
    slider.press("ArrowLeft")
    assert "3 of 9: layer block1/conv agrees" in panel.locator(".readout").inner_text()
    slider.press("End")
    assert "9 of 9: output differs" in panel.locator(".readout").inner_text()


@pytest.mark.browser
def test_a_layer_that_may_be_tapped_elsewhere_is_no_divergence(opened: Open) -> None:
    """Such as before an activation on one side and after it on the other."""
    report = reports.differing()
    doubtful = [
        replace(one, sure=False, passed=False, excess=7.0) if one.tf1_name == "block1/conv" else one
        for one in report.rung("3f").checks
    ]
    rungs = tuple(replace(rung, checks=tuple(doubtful)) if rung.number == "3f" else rung for rung in report.rungs)
    shown = opened(replace(report, rungs=rungs))
    panel = shown.get_by_role("region", name="Error by layer")
    panel.get_by_role("slider").press("ArrowLeft")

    assert "layer block1/conv may be tapped elsewhere" in panel.locator(".readout").inner_text()
    assert "perhaps tapped at another place" in panel.locator(".legend").inner_text()


@pytest.mark.browser
def test_another_pass_can_be_chosen(opened: Open) -> None:
    """The picture and its words follow."""
    shown = opened(reports.differing())
    panel = shown.get_by_role("region", name="Error by layer")
    panel.get_by_label("Pass").select_option(label="Rung 3: all variables at 0.001")

    assert "1 of 8: layer stem/conv" in panel.locator(".readout").inner_text()
    assert "first:" not in panel.locator("svg").text_content()  # type: ignore[operator]


@pytest.mark.browser
def test_a_scalar_shows_since_when_it_is_beyond_the_tolerance(opened: Open) -> None:
    """Both lines and their difference."""
    shown = opened(reports.differing())
    panel = shown.get_by_role("region", name="Both sides over the training steps")

    assert "beyond the tolerance from step 1 on" in panel.locator("svg").text_content()  # type: ignore[operator]
    assert "Step 1: TF1 1.96039735, TF2 1.96431814" in panel.locator(".readout").inner_text()
    panel.get_by_label("Scalar").select_option(label="learning rate")
    assert "beyond" not in panel.locator("svg").text_content()  # type: ignore[operator]


@pytest.mark.browser
def test_the_grid_begins_with_the_earliest_failure(opened: Open) -> None:
    """Names can be filtered, and cells gone through."""
    shown = opened(reports.differing())
    panel = shown.get_by_role("region", name="Weights by step").first
    readout = panel.locator(".readout")

    assert "block1/conv/kernel at step 2: 57.3 \u00d7 the tolerance." in readout.inner_text()
    panel.get_by_role("searchbox").fill("head")
    assert "1 of 1 variables are beyond the tolerance" in readout.inner_text()
    panel.locator(".grid").press("ArrowLeft")
    assert "head/dense/kernel at step 1: 0.166 \u00d7 the tolerance." in readout.inner_text()
    panel.get_by_role("searchbox").fill("no such name")
    assert "No name matches." == readout.inner_text()


@pytest.mark.browser
def test_the_first_extra_random_operation_is_named(opened: Open) -> None:
    """With its line."""
    panel = opened(reports.differing()).get_by_role("region", name="Random operations of both sides")

    assert "Only TF2 draws TruncatedNormal of shape 8 (step), number 4, seed 3: new/model.py:99" in panel.inner_text()


@pytest.mark.browser
def test_variables_without_a_counterpart_come_first(opened: Open) -> None:
    """All others are there to be asked for."""
    panel = opened(reports.differing()).get_by_role("region", name="Variables of both sides")
    rows = panel.locator("tbody tr")

    assert 3 == rows.count()
    panel.get_by_role("button", name="Only what differs").click()
    assert 12 == rows.count()
    panel.get_by_role("searchbox").fill("logits")
    assert ["logits/weights"] == [text.split("\n")[0] for text in rows.all_inner_texts()]


@pytest.mark.browser
def test_failing_values_are_listed_when_a_rung_is_opened(opened: Open) -> None:
    """With the tolerance that would have passed."""
    shown = opened(reports.differing())
    rung = shown.locator(".rung", has_text="training steps")
    rung.get_by_text("477 values failed").click()
    rung.locator("tbody tr").first.wait_for()

    assert 200 == rung.locator("tbody tr").count()
    assert "loss" in rung.locator("tbody tr").first.inner_text()


@pytest.mark.browser
def test_hostile_names_run_nothing(opened: Open) -> None:
    """They are shown as they are."""
    shown = opened(reports.hostile())
    for summary in shown.locator("summary").all():
        summary.click()

    assert shown.evaluate("typeof hacked") == "undefined"
    assert 0 == shown.locator("img").count()
    assert "<img src=x onerror=hacked=1>" in shown.get_by_role("heading", level=1).inner_text()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_page(opened: Open, scheme: str, width: int) -> None:
    """On a phone, and on a screen; also once everything is opened."""
    shown = opened(reports.differing(), viewport={"width": width, "height": 800}, color_scheme=scheme)
    for summary in shown.locator("summary").all():
        summary.click()

    assert width >= shown.evaluate("document.documentElement.scrollWidth")


@pytest.mark.browser
def test_the_theme_can_be_chosen(opened: Open) -> None:
    """And the pictures follow."""
    shown = opened(reports.differing(3), color_scheme="light")
    before = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    shown.get_by_label("Theme").select_option("dark")

    assert before != shown.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.browser
def test_a_page_can_be_printed(opened: Open) -> None:
    """In black on white, without what only a hand can use."""
    shown = opened(reports.differing(), color_scheme="dark")
    shown.emulate_media(media="print", color_scheme="dark")
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert "rgb(255, 255, 255)" == shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert not shown.get_by_label("Theme").is_visible()
    assert 5_000 < len(shown.pdf())


@pytest.mark.browser
def test_a_thousand_variables_over_a_hundred_steps_stay_in_hand(opened: Open) -> None:
    """The page is there at once, and answers within the time in which nobody waits."""
    shown = opened(reports.differing(100, 1106))
    drawn = shown.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    panel = shown.get_by_role("region", name="Weights by step").first
    began = time.perf_counter()
    panel.get_by_role("searchbox").fill("block110")
    assert "7 of 7 variables" in panel.locator(".readout").inner_text()
    taken = time.perf_counter() - began

    assert 60_000 > drawn
    assert 60 > taken
