"""Which rules there are."""

from __future__ import annotations

import subprocess
import sys

import pytest
from migrate_lint.linter.registry import registry
from migrate_lint.linter.registry.tool_rules import TOOL_RULES


def test_codes_are_those_of_the_rules() -> None:
    """What is read off the source is what the rules say of themselves when they are loaded."""
    loaded = {rule.code: rule.slug() for rule in (*registry.all_rules(), *TOOL_RULES)}

    assert dict(sorted(loaded.items())) == registry.codes()


def test_codes_without_source_come_from_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation may consist of compiled modules only."""
    known = registry.codes()
    registry.codes.cache_clear()
    monkeypatch.setattr(registry, "_scanned", lambda: None)

    assert known == registry.codes()

    registry.codes.cache_clear()


def test_knowing_the_codes_loads_no_rule() -> None:
    """A run that finds all its answers kept never needs the analysis."""
    script = (
        "import sys\n"
        "from migrate_lint.linter.registry.registry import codes\n"
        "codes()\n"
        "print(sorted({'migrate_lint.linter.rule_api.model', 'libcst', 'multiprocessing'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "[]\n" == answer.stdout
