"""What the rules on numbers say of TF1 and TF2, computed both ways."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.linter.registry.registry import all_rules

from ..interpreters import Children
from ..rules.pages import PageError
from .pages import Value, all_differences, read_differences, results

PAGES = all_differences()


@pytest.mark.tensorflow
@pytest.mark.longest
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a program runs in a fork of TensorFlow's process")
@pytest.mark.parametrize("target", list(Target))
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in PAGES])
def test_differ(path: Path, target: Target, children: Children) -> None:
    """What is stated is measured, before and after differ, and what the rule advises computes what was before."""
    wrong: list[str] = []
    for case in read_differences(path).cases:
        programs = {kind: text for (kind, place), text in case.programs.items() if place is target}
        found = dict(zip(programs, children.call(target, results, list(programs.values())), strict=True))
        where = f"{path.name}:{case.line}: {case.name}"
        for kind, value in found.items():
            if isinstance(value, dict) and "failed" in value:
                wrong.append(f"{where}: {kind} failed: {value['failed']}")
                continue
            said = case.after[target] if kind == "after" else case.before
            if not said.agrees(value):
                wrong.append(f"{where}: {kind} gives {value}, and the page says {said.text}")
            if kind == "after" and case.before.agrees(value):
                wrong.append(f"{where}: before and after both give {value}")
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def test_every_rule_on_numbers_has_a_page() -> None:
    rules = {rule.code: rule.slug() for rule in all_rules() if rule.code.startswith("TF6")}
    pages = {page.code: page.slug for page in map(read_differences, PAGES)}

    assert rules == pages


@pytest.mark.parametrize(
    ("stated", "measured", "agrees"),
    [
        ("0.50", 0.504, True),
        ("0.50", 0.506, False),
        ("2", 2.4, True),
        ("1e-4", 1.4e-4, True),
        ("1.0e-4", 1.4e-4, False),
        ("-1.5", -1.52, True),
        ("[1, [0.5]]", [1.0, [0.5]], True),
        ("[1, 0.5]", [1.0], False),
        ("[1]", 1, False),
        ("'a'", "a", True),
        ("True", True, True),
        ("1", True, False),
        ("None", None, True),
        ("0", float("nan"), False),
        ("ValueError", {"raises": "ValueError"}, True),
        ("ValueError", {"raises": "TypeError"}, False),
        ("1", {"raises": "TypeError"}, False),
    ],
)
def test_values_agree_to_the_digits_given(stated: str, measured: object, agrees: bool) -> None:
    assert Value(stated).agrees(measured) is agrees


HEAD = "# TF699 a-slug\n\n## A case\n"
AFTER = "After: 2\n```py after\nresult = 2\n```\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# TF101 a-slug\n", "begins with"),
        ("# TF699 another\n", "slug's name"),
        ("# TF699 a-slug\n", "has a section"),
        (f"{HEAD}Before: 1\n{AFTER}", "a program `before`"),
        (f"{HEAD}```py before\nresult = 1\n```\n{AFTER}", "one line `Before"),
        (f"{HEAD}Before: 1, measured on TF 1.15.5\n```py before\nresult = 1\n```\n{AFTER}", "a program `before`"),
        (f"{HEAD}Before: 1, measured on TF 1.15.5\n```py after\nresult = 2\n```\n", "a program `after`"),
        (f"{HEAD}Before: 1, measured on TF 1.15.5\n{AFTER}{AFTER}", "another one"),
        (f"{HEAD}Before: 1, measured on TF 1.15.5\n{AFTER}```py\nresult = 2\n```\n", "is one of"),
    ],
)
def test_a_page_that_does_not_follow_the_format(text: str, message: str) -> None:
    with pytest.raises(PageError, match=message):
        read_differences(Path("a-slug.md"), text)
