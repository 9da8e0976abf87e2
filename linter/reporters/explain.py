"""A rule's own words: its docstring, in the formats of ``migrate-lint rule``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..rule_api.rule import SECTIONS, Rule, documentation


def listing(rules: Sequence[type[Rule]]) -> Iterator[str]:
    """One line a rule."""
    width = max((len(rule.slug()) for rule in rules), default=0)
    codes = max((len(rule.code) for rule in rules), default=0)
    for rule in rules:
        yield f"{rule.code:<{codes}}  {rule.slug():<{width}}  {rule.severity.value:<7}  {rule.consequence.value}"


def text(rules: Sequence[type[Rule]]) -> Iterator[str]:
    """For a terminal."""
    for number, rule in enumerate(rules):
        if number:
            yield ""
        sections = documentation(rule)
        yield f"{rule.code} {rule.slug()} ({_facts(rule)})"
        yield ""
        yield sections["Summary"]
        for title in (one for one in SECTIONS if one in sections):
            yield ""
            yield f"{title}:"
            yield from (f"    {line}".rstrip() for line in sections[title].split("\n"))
        if rule.recipe:
            yield ""
            yield "Recipe:"
            yield f"    docs/recipes/{rule.recipe}.md of migrate-lint has both ways as whole programs"


def markdown(rules: Sequence[type[Rule]]) -> Iterator[str]:
    """A page, with an anchor named by the slug for each rule."""
    for number, rule in enumerate(rules):
        if number:
            yield ""
        sections = documentation(rule)
        yield f'<a id="{rule.slug()}"></a>'
        yield ""
        yield f"# {rule.code} {rule.slug()}"
        yield ""
        yield f"*{_facts(rule)}*"
        yield ""
        yield sections["Summary"]
        for title in (one for one in SECTIONS if one in sections):
            yield ""
            yield f"## {title}"
            yield ""
            yield sections[title]


def json(rules: Sequence[type[Rule]]) -> Iterator[str]:
    """A list of objects, one a rule."""
    from json import dumps

    yield dumps(
        [
            {
                "code": rule.code,
                "slug": rule.slug(),
                "severity": rule.severity.value,
                "consequence": rule.consequence.value,
                "targets": sorted(target.value for target in rule.targets),
            }
            | {title.lower(): body for title, body in documentation(rule).items()}
            for rule in rules
        ],
        indent=2,
    )


def _facts(rule: type[Rule]) -> str:
    targets = ", ".join(sorted(target.value for target in rule.targets))
    return f"{rule.severity.value}, {rule.consequence.value}, {targets}"
