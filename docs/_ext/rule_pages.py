"""Writes the pages of the rules, from what their docstrings and the pages of their tests say.

A page a rule, ``rules/<slug>.md``, with the slug as its anchor, and ``rules/index.md`` with all of them by family.
What is flagged and what is not stands in ``rules/cases/<slug>.md``, linked from the rule's page and in no contents.
The folder is made anew by each build and ignores itself in git.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate_lint.linter.registry.registry import all_rules
from migrate_lint.linter.registry.tool_rules import TOOL_RULES
from migrate_lint.linter.rule_api.rule import SECTIONS, documentation

if TYPE_CHECKING:
    from migrate_lint.linter.rule_api.rule import Rule
    from sphinx.application import Sphinx

__all__ = ["cases", "index", "own_rules", "page", "setup", "write_pages"]

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "rules"
PROBES = ROOT / "runtime_checks" / "worker" / "probes"
_OWN = "migrate_lint."
_RUN_ITSELF = "The run itself (TF9xx)"
_DECIDED_OTHERWISE = {"TF907", "TF908"}
"""Findings that a run makes: there is nothing to confirm."""


def own_rules() -> list[type[Rule]]:
    """The rules of this project by code; those of other packages have documentation of their own."""
    found = [*(type(rule) for rule in all_rules()), *TOOL_RULES]
    return sorted((rule for rule in found if rule.__module__.startswith(_OWN)), key=lambda rule: rule.code)


def page(rule: type[Rule]) -> str:
    """The page of one rule, in Markdown."""
    words = documentation(rule)
    parts = [
        f"({rule.slug()})=\n# {rule.code} {rule.slug()}",
        words["Summary"],
        _facts(rule),
        *(f"## {title}\n\n{_linked(words[title])}" for title in SECTIONS if title in words),
        f"## Recipe\n\n[Both ways as whole programs](../recipes/{rule.recipe}.md)." if rule.recipe else "",
        "## Suppress it\n\n"
        f"```py\n...  # migrate-lint: disable={rule.code}\n```\n\n"
        "[Suppressions](../suppressions.md) lists the other ways."
        if _can_be_suppressed(rule)
        else "",
        f"[What is flagged, and what is not](cases/{rule.slug()}.md), by its tests." if _test_page(rule) else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def index(rules: Sequence[type[Rule]]) -> str:
    """The list of all rules, in Markdown: a table for each family."""
    parts = [
        "# Rules",
        f"{len(rules)} rules in {len({rule.code[:3] for rule in rules})} families. "
        "Each page is made of the rule's own documentation and of the cases that its tests run.",
    ]
    for family, members in groupby(rules, key=lambda rule: rule.code[:3]):
        parts.append(f"## {_family_title(family)}")
        parts.append("\n".join(_table(list(members))))
    toctree = "\n".join(rule.slug() for rule in rules)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{toctree}\n```")
    return "\n\n".join(parts) + "\n"


def write_pages(folder: Path) -> None:
    """Write the folder of pages; what has not changed is left alone, so that Sphinx does not read it again."""
    rules = own_rules()
    pages = {f"{rule.slug()}.md": page(rule) for rule in rules} | {"index.md": index(rules), ".gitignore": "*\n"}
    pages |= {f"cases/{rule.slug()}.md": cases(rule) for rule in rules if _test_page(rule)}
    (folder / "cases").mkdir(parents=True, exist_ok=True)
    for stale in {path for path in folder.rglob("*") if path.is_file()} - {folder / name for name in pages}:
        stale.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _facts(rule: type[Rule]) -> str:
    """One line: how bad, how it shows, for which targets, and what others call it."""
    targets = " and ".join(f"`{target.value}`" for target in sorted(rule.targets, key=lambda target: target.value))
    pylint = _pylint_id(rule)
    facts = [
        f"`{rule.severity.value}`",
        f"`{rule.consequence.value}`",
        f"for {targets}",
        f"`{pylint}` in pylint" if pylint else "",
        _verdict(rule),
    ]
    return " · ".join(fact for fact in facts if fact)


def _pylint_id(rule: type[Rule]) -> str:
    from migrate_lint.linter.finding import Severity

    letter = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.INFO: "C"}[rule.severity]
    return "" if rule.code in _DECIDED_OTHERWISE else f"{letter}7{rule.code.removeprefix('TF')}"


def _verdict(rule: type[Rule]) -> str:
    if rule.code in _DECIDED_OTHERWISE:
        return "made by a run of the model"
    return "a run of the model can judge it" if (PROBES / f"{_module(rule)}.py").exists() else "no run can judge it"


def _can_be_suppressed(rule: type[Rule]) -> bool:
    from migrate_lint.linter.settings.config import ALWAYS

    return rule.code not in {*ALWAYS, "TF901"}


def _module(rule: type[Rule]) -> str:
    return rule.slug().replace("-", "_")


def _table(rules: Iterable[type[Rule]]) -> Iterator[str]:
    yield "| rule | severity | consequence | hazard |"
    yield "|---|---|---|---|"
    for rule in rules:
        hazard = " ".join(documentation(rule)["Summary"].split()).replace("|", r"\|")
        name = f"[{rule.code} {rule.slug()}](./{rule.slug()}.md)"
        yield f"| {name} | {rule.severity.value} | {rule.consequence.value} | {hazard} |"


def _family_title(prefix: str) -> str:
    """What the package of a family says of itself."""
    from pkgutil import iter_modules

    from migrate_lint import rules

    for found in iter_modules(rules.__path__):
        if found.ispkg:
            title = (import_module(f"{rules.__name__}.{found.name}").__doc__ or "").partition("\n")[0].rstrip(".")
            if f"({prefix}xx)" in title:
                return title
    return _RUN_ITSELF


def _linked(text: str) -> str:
    """Bare addresses in the way that Markdown wants to link them, outside of code."""
    in_code = False
    lines = []
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        lines.append(line if in_code else re.sub(r"(?<![<(`\w])(https?://[^\s<>`]*[^\s<>`.,;)])", r"<\1>", line))
    return "\n".join(lines)


def _test_page(rule: type[Rule]) -> Path | None:
    return next(CASES.glob(f"*/{_module(rule)}.md"), None)


def cases(rule: type[Rule]) -> str:
    """The page with the code of a rule's tests, where a marker comment says what must be found."""
    path = _test_page(rule)
    assert path is not None, rule
    lines = path.read_text("utf-8").rstrip().split("\n")
    text = "\n".join(_told(lines[1:])).strip()
    return (
        f"---\norphan: true\n---\n\n# {rule.code} {rule.slug()}: what is flagged, and what is not\n\n"
        f"Each block is linted by a test of [the rule](../{rule.slug()}.md). A comment such as `# error: [TF101]` asks "
        "for a finding in its line, with a part of its message; a line without one asserts silence.\n\n"
        f"{_linked(text)}\n"
    )


def _told(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a test page; for which target a block is stands before it."""
    in_code = False
    for line in lines:
        if line.startswith("```"):
            in_code = not in_code
            language, _, words = line.removeprefix("```").partition(" ")
            if words.removeprefix("all").strip():
                yield f"*For {words.removeprefix('all').strip()}:*\n"
            yield f"```{language}"
        else:
            yield line


def _build(app: Sphinx) -> None:
    write_pages(Path(app.srcdir) / "rules")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for documents."""
    app.connect("builder-inited", _build)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
