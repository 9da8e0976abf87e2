"""The catalogue of hazards and the rules name each other, both ways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from migrate_lint.linter.reporters.ci import documented_rules

CATALOGUE = Path(__file__).resolve().parents[2] / "docs" / "catalogue.md"
ROW = re.compile(r"\| (TF\d{3}) \| ([a-z0-9-]+) \| (error|warning|info) \| (built|open) \|")


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, str, str, str]]:
    return [match.groups() for line in CATALOGUE.read_text("utf-8").split("\n") if (match := ROW.fullmatch(line))]


def test_every_row_can_be_read(rows: list[tuple[str, str, str, str]]) -> None:
    assert len(rows) == sum(line.startswith("| TF") for line in CATALOGUE.read_text("utf-8").split("\n"))
    assert [row[0] for row in rows] == sorted({row[0] for row in rows})
    assert len({row[1] for row in rows}) == len(rows)


def test_what_is_built_is_what_the_rules_are(rows: list[tuple[str, str, str, str]]) -> None:
    """Codes, slugs and severities; a rule that is in no row is missing here too."""
    built = {row[:3] for row in rows if row[3] == "built"}
    assert built == {(rule.code, rule.slug(), rule.severity.value) for rule in documented_rules()}
