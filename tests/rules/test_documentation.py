"""Every rule explains itself, its examples are true, and its page holds what a page must."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from migrate_lint.linter.registry.registry import all_rules
from migrate_lint.linter.registry.tool_rules import TOOL_RULES
from migrate_lint.linter.rule_api.rule import Consequence, Rule, Severity, Target, documentation, unreachable
from migrate_lint.linter.run import engine

from .pages import HERE, Page, all_pages, compare, find_all, read_page

TOOL_LEVEL = {
    "TF900": "unparsable-file",
    "TF901": "unused-suppression",
    "TF902": "python2-source",
    "TF907": "probe-only-finding",
    "TF908": "probe-failed",
    "TF909": "internal-error",
    "TF910": "harmful-fix",
}
"""About a file, a comment, a run or the program itself: they have no module below ``rules/`` and so no page."""

SEEN_BY_THE_ENGINE = {"TF900", "TF902"}
"""Those of them that the engine reports for a file by itself."""

CROSS_FILE_FAMILIES = {"variables", "tracing"}

PYLINT_SYMBOLS = {
    "astroid-error",
    "bad-configuration-section",
    "deprecated-module",
    "fatal",
    "import-error",
    "method-check-failed",
    "parse-error",
    "syntax-error",
    "unnecessary-lambda",
    "unused-variable",
    "used-before-assignment",
    "useless-suppression",
}
"""Symbols of pylint's own messages that a slug of ours could have met; a plugin that repeats one does not load."""

ALL: list[type[Rule]] = sorted([*(type(rule) for rule in all_rules()), *TOOL_RULES], key=lambda rule: rule.code)
DOCUMENTED = [pytest.param(rule, id=rule.slug()) for rule in ALL]
RULES = [pytest.param(rule, id=rule.slug()) for rule in ALL if rule.code not in TOOL_LEVEL]
EXECUTED = [
    pytest.param(rule, id=rule.slug()) for rule in ALL if rule.code not in TOOL_LEVEL.keys() - SEEN_BY_THE_ENGINE
]


def _family(rule: type[Rule]) -> str:
    return rule.__module__.split(".")[-2]


def _page(rule: type[Rule]) -> Page:
    return read_page(HERE / _family(rule) / f"{rule.slug().replace('-', '_')}.md")


def _blocks(text: str) -> list[str]:
    return re.findall(r"^```(?:py|python)\n(.*?)^```", text, flags=re.M | re.S)


def _flagged(rule: type[Rule], text: str, root: Path, target: Target) -> bool:
    root.mkdir(parents=True)
    return any(finding.code == rule.code for finding in find_all([("example.py", text)], root, target))


def _pages() -> dict[str, str]:
    """Code and slug in the heading of each page."""
    return {page.code: page.slug for page in map(read_page, all_pages())}


def test_codes_and_slugs_are_those_of_the_pages() -> None:
    """Each code has one rule and each rule one page, whose heading tells again what users have written down."""
    assert _pages() | TOOL_LEVEL == {rule.code: rule.slug() for rule in ALL}
    assert len(all_pages()) + len(TOOL_LEVEL) == len(ALL)


def test_slugs_are_unique_and_foreign_to_pylint() -> None:
    """A slug is a pylint symbol one day, so it may not be one of pylint's."""
    slugs = [rule.slug() for rule in ALL]

    assert len(slugs) == len(set(slugs))
    assert set() == PYLINT_SYMBOLS & set(slugs)


@pytest.mark.parametrize("rule", RULES)
def test_declares_what_it_is(rule: type[Rule]) -> None:
    """Severity, consequence, targets and sites are stated, and the class is named by the slug."""
    assert isinstance(rule.severity, Severity)
    assert isinstance(rule.consequence, Consequence)
    assert rule.targets
    assert rule.targets <= frozenset(Target)
    assert rule.slug().replace("-", "") == rule.__name__.lower()
    assert unreachable(rule) is None
    assert {*rule.supersedes, *rule.beside} <= {other.code for other in ALL} - {rule.code}


@pytest.mark.parametrize("rule", DOCUMENTED)
def test_docstring_has_every_section(rule: type[Rule]) -> None:
    """Why, Example, Fix and Source are there, after one paragraph and with an address in the last."""
    sections = documentation(rule)

    assert "\n\n" not in sections["Summary"]
    assert "https://" in sections["Source"]


@pytest.mark.parametrize("rule", EXECUTED)
def test_example_is_flagged_and_fix_is_silent(rule: type[Rule], tmp_path: Path) -> None:
    """What the documentation shows is what the linter does, for one target at least."""
    sections = documentation(rule)

    def holds(target: Target) -> Iterator[bool]:
        for number, text in enumerate(_blocks(sections["Example"])):
            yield _flagged(rule, text, tmp_path / target / f"example{number}", target)
        for number, text in enumerate(_blocks(sections["Fix"])):
            yield not _flagged(rule, text, tmp_path / target / f"fix{number}", target)

    assert _blocks(sections["Example"])
    assert _blocks(sections["Fix"])
    outcomes = {target: list(holds(target)) for target in sorted(rule.targets)}
    assert any(all(outcome) for outcome in outcomes.values()), f"examples flagged and fixes silent: {outcomes}"


@pytest.mark.parametrize("rule", RULES)
def test_page_covers_the_rule(rule: type[Rule]) -> None:
    """The page flags, stays silent on a look-alike, follows an alias and, where calls matter, crosses files."""
    _check_page(rule, _page(rule))


def _check_page(rule: type[Rule], page: Page) -> None:
    flags = {
        section.title: any(wish.code == rule.code for case in section.cases for wish in case.expectations)
        for section in page.sections
        if section.cases
    }

    assert (rule.code, rule.slug()) == (page.code, page.slug)
    assert True in flags.values()
    assert False in flags.values()
    assert [title for title in flags if "alias" in title.lower()]
    if _family(rule) in CROSS_FILE_FAMILIES:
        assert [
            section.title
            for section in page.sections
            for case in section.cases
            if sum(name.endswith(".py") for name, _ in case.files) > 1
        ], "no section has two files"


def test_the_recipe_makes_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two files that docs/writing-rules.md shows are a rule and its page, as this folder wants them."""
    recipe = (HERE.parents[1] / "docs" / "writing-rules.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", recipe, re.M | re.S)
    (text,) = re.findall(r"^````markdown\n(.*?)^````$", recipe, re.M | re.S)
    module = ModuleType("migrate_lint.rules.tracing.sleep_in_tf_function")
    module.__package__ = "migrate_lint.rules.tracing"
    exec(code, module.__dict__)
    rule = module.SleepInTfFunction
    page = read_page(HERE / "tracing" / "sleep_in_tf_function.md", text)
    monkeypatch.setattr(engine, "_dispatch", lambda: engine._Dispatch([rule()]))

    _check_page(rule, page)
    assert unreachable(rule) is None
    for kind, flagged in (("Example", True), ("Fix", False)):
        (block,) = _blocks(documentation(rule)[kind])
        assert flagged is _flagged(rule, block, tmp_path / kind, Target.KERAS3)
    for number, case in enumerate(case for section in page.sections for case in section.cases):
        (tmp_path / str(number)).mkdir()
        assert [] == compare(case, rule.code, find_all(case.files, tmp_path / str(number), Target.KERAS3))
