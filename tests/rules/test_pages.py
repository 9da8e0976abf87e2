"""Every rule page holds; and the reader of pages reads what is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from migrate_lint.linter.finding import Consequence, Finding, Severity, Target
from migrate_lint.linter.registry.registry import all_rules
from migrate_lint.linter.rule_api.rule import Rule

from .pages import (
    Expectation,
    Page,
    PageError,
    Section,
    all_pages,
    compare,
    contradictory,
    crowded,
    find_all,
    read_expectations,
    read_page,
)


def _well_formed() -> Iterator[Page]:
    for path in all_pages():
        with suppress(PageError):  # test_page_is_well_formed shows it
            yield read_page(path)


def _executable() -> list[object]:
    return [
        pytest.param(page, section, target, id=f"{page.path.stem}-{section.title.replace(' ', '_')}-{target}")
        for page in _well_formed()
        for section in page.sections
        for target in Target
        if any(target in case.targets for case in section.cases)
    ]


@pytest.mark.parametrize(("page", "section", "target"), _executable())
def test_section_holds(page: Page, section: Section, target: Target, tmp_path: Path) -> None:
    """Every marked line is found, every other is silent; a site has one finding, and its consequence is its text's."""
    problems = []
    for number, case in enumerate(section.cases):
        if target in case.targets:
            root = tmp_path / str(number)
            root.mkdir()
            found = find_all(case.files, root, target)
            differences = compare(case, page.code, found) + crowded(found, all_rules()) + contradictory(found)
            problems += [f"{page.path.name}:{case.line}: {section.title} [{target}]", *differences] * bool(differences)
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in all_pages()])
def test_page_is_well_formed(path: Path) -> None:
    """The page can be read, and the file's stem is the slug with underscores."""
    assert path.stem.replace("_", "-") == read_page(path).slug


def _read(text: str) -> Page:
    return read_page(Path("variables/variable_in_call.md"), dedent(text).lstrip())


def test_unnamed_block_is_a_case_of_its_own() -> None:
    """Two unnamed blocks are two projects of one file each."""
    page = _read("""
        # TF101 variable-in-call

        ## One
        ```py
        a
        ```
        Prose between.
        ```py
        b
        ```
        ```text
        never run
        ```
    """)

    assert ("TF101", "variable-in-call") == (page.code, page.slug)
    assert [(("example.py", "a\n"),), (("example.py", "b\n"),)] == [case.files for case in page.sections[0].cases]
    assert [5, 9] == [case.line for case in page.sections[0].cases]


def test_named_blocks_are_one_project() -> None:
    """A line with a file name alone announces the next block, and no other."""
    page = _read("""
        # TF101 variable-in-call

        ## Across files
        `lib/models.py`

        ```py keras3
        a
        ```

        `requirements.txt`
        ```toml
        tf_keras
        ```
        The file `prose.py` is not announced here.
        ```py
        b  # error: [TF101]
        ```
    """)

    (case,) = page.sections[0].cases
    assert (("lib/models.py", "a\n"), ("requirements.txt", "tf_keras\n"), ("example.py", "b  # error: [TF101]\n")) == (
        case.files
    )
    assert (Expectation("example.py", 1, Severity.ERROR, "TF101"),) == case.expectations
    assert {Target.KERAS3} == case.targets


def test_words_choose_targets_and_rules() -> None:
    """Without a word a case holds for both targets, and only for the page's own rule."""
    page = _read("""
        # TF101 variable-in-call

        ## Words
        ```py
        ```
        ```py all
        ```
        ```py keras2
        ```
    """)

    assert [
        (frozenset(Target), False),
        (frozenset(Target), True),
        (frozenset({Target.KERAS2}), False),
    ] == [(case.targets, case.every_rule) for case in page.sections[0].cases]


def test_marker_names_severity_code_and_message() -> None:
    """A line may ask for several findings, and another comment may follow."""
    text = 'a\nf(x)  # error: [TF101] "new; each call"; info: [TF406]  # noqa: E501\nb  # warning: [TF201]'

    assert [
        Expectation("m.py", 2, Severity.ERROR, "TF101", "new; each call"),
        Expectation("m.py", 2, Severity.INFO, "TF406"),
        Expectation("m.py", 3, Severity.WARNING, "TF201"),
    ] == list(read_expectations("m.py", text))


@pytest.mark.parametrize(
    "text",
    ["x  # error: TF101", "x  # error: [TF101] and more", 'x  # error: [TF101] "open', "x  # error: [TF101]; TF102"],
)
def test_half_a_marker_is_an_error(text: str) -> None:
    """A typing mistake in a marker never turns into an assertion of silence."""
    with pytest.raises(PageError, match="line 1"):
        list(read_expectations("m.py", text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TF101\n", "begins with"),
        ("# TF101 a\n```py\n```\n", "before the first section"),
        ("# TF101 a\n## S\n```py\nx\n", "never closed"),
        ("# TF101 a\n## S\n```py keras4\n```\n", "'keras4'"),
        ("# TF101 a\n## S\n## S\n", "two sections"),
        ("# TF101 a\n## S\n`a.py`\n```py\n```\n`a.py`\n```py\n```\n", "two blocks"),
        ("# TF101 a\n## S\n`a.py`\n```py\n```\n```py\n```\n```py\n```\n", "may be unnamed"),
    ],
)
def test_malformed_page_is_refused(text: str, message: str) -> None:
    """What the reader would have to guess at is refused."""
    with pytest.raises(PageError, match=message):
        _read(text)


def _finding(line: int, code: str, message: str = "a new variable", path: str = "example.py") -> Finding:
    return Finding(path, line, 1, line, 2, code, "slug", Severity.ERROR, Consequence.CHANGES, message)


MARKED = """
# TF101 variable-in-call
## One
```py
a  # error: [TF101] "new variable"
b
```
"""


def test_comparison_is_exact_for_the_pages_rule() -> None:
    """Other rules may speak; the page's own may not, beyond what is marked."""
    case = _read(MARKED).sections[0].cases[0]

    assert [] == compare(case, "TF101", [_finding(1, "TF101"), _finding(2, "TF406")])
    assert ['example.py:2: found     error: [TF101] "a new variable"\n    b'] == compare(
        case, "TF101", [_finding(1, "TF101"), _finding(2, "TF101")]
    )
    assert ['example.py:1: found     error: [TF101] "a new variable"'] == [
        line.split("\n")[0] for line in compare(case, "TF101", [_finding(1, "TF101"), _finding(1, "TF101")])
    ]
    assert ['example.py:1: expected  error: [TF101] "new variable"'] == [
        line.split("\n")[0] for line in compare(case, "TF101", [])
    ]
    assert [
        'example.py:1: expected  error: [TF101] "new variable"',
        'example.py:1: found     error: [TF101] "another"',
    ] == [line.split("\n")[0] for line in compare(case, "TF101", [_finding(1, "TF101", "another")])]


def test_all_asserts_silence_of_every_rule() -> None:
    """Under ```py all another rule's finding counts."""
    case = _read(MARKED.replace("```py", "```py all")).sections[0].cases[0]

    assert ['example.py:2: found     error: [TF406] "a new variable"\n    b'] == compare(
        case, "TF101", [_finding(1, "TF101"), _finding(2, "TF406")]
    )


def test_two_findings_at_one_site_are_told() -> None:
    """Unless one of the rules declares the other; on other lines, columns or files they may be."""
    rule = type("First", (Rule,), {"code": "TF501", "beside": ("TF406",)})
    both = [_finding(1, "TF501"), _finding(1, "TF406")]

    assert [] == crowded(both, [rule()])
    assert [] == crowded([_finding(1, "TF101"), _finding(2, "TF406"), _finding(1, "TF102", path="b.py")], [rule()])
    assert 1 == len(crowded(both, []))
    assert 1 == len(crowded([_finding(1, "TF501", "one"), _finding(1, "TF501", "two")], [rule()]))


@pytest.mark.parametrize(
    ("message", "right"),
    [
        ("reading it raises AttributeError", {Consequence.BREAKS}),
        ("a direct eager call works, this fails", {Consequence.BREAKS}),
        ("works through compat.v1 only", {Consequence.CHANGES, Consequence.LEGACY}),
        ("it finds nothing, and raises no error", set(Consequence)),
        ("nothing raises, and nothing is trained", set(Consequence)),
    ],
)
def test_a_consequence_is_the_one_that_the_message_tells(message: str, right: set[Consequence]) -> None:
    """What raises breaks, and what works does not."""
    found = [replace(_finding(1, "TF101", message), consequence=one) for one in Consequence]

    assert len(Consequence) - len(right) == len(contradictory(found))
    assert right == {one.consequence for one in found if not contradictory([one])}
