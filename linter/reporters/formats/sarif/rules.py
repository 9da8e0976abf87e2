"""What a SARIF log says of the tool: its version, and of every rule what GitHub shows and sorts by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ....finding import Severity
from ....rule_api.rule import SECTIONS, Rule, documentation
from ... import version
from ...explain import text

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_PRECISIONS = {Severity.ERROR: "high", Severity.WARNING: "medium", Severity.INFO: "medium"}
"""Rules speak at error only where they prove the hazard."""
_LONGEST = 1000
"""Characters that GitHub takes of a full description."""


def driver(rules: Sequence[type[Rule]]) -> dict[str, Any]:
    """The tool with these rules, in this order."""
    return {
        "name": "migrate-lint",
        "version": version(),
        "semanticVersion": version(),
        "rules": [_rule(rule) for rule in rules],
    }


def _rule(rule: type[Rule]) -> dict[str, Any]:
    words = documentation(rule)
    summary = " ".join(words["Summary"].split())
    sections = "".join(f"\n\n## {title}\n\n{words[title]}" for title in SECTIONS if title in words)
    shown = {
        "id": rule.code,
        "name": rule.slug(),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": _cut(f"{summary} {' '.join(words['Why'].split())}")},
        "help": {"text": "\n".join(text([rule])), "markdown": f"{words['Summary']}{sections}"},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {
            "tags": ["tensorflow", "migration", _family(rule), rule.consequence.value],
            "precision": _PRECISIONS[rule.severity],
            "problem.severity": _PROBLEMS[rule.severity],
            "severity": rule.severity.value,
            "consequence": rule.consequence.value,
            "targets": sorted(target.value for target in rule.targets),
        },
    }
    source = re.search(r"https?://[^\s<>()\"']+", words["Source"])
    return shown if source is None else shown | {"helpUri": source[0].rstrip(".,;`")}


def _family(rule: type[Rule]) -> str:
    """The folder of a rule that looks at code."""
    module = rule.__module__.split(".")
    return "tool" if module[-1] == "tool_rules" or len(module) == 1 else module[-2].replace("_", "-")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rpartition(" ")[0] + "…"
