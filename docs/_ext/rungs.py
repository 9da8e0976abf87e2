"""The directive ``rungs``: a table of the rungs that ``verify`` climbs, as their own modules describe them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from migrate_lint.runtime_checks.comparison.rungs import RUNGS
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["Rungs", "setup", "table"]


def table() -> Iterator[str]:
    """Markdown: a row a rung."""
    yield "| | `--until` | what is compared |"
    yield "|---|---|---|"
    for rung in RUNGS:
        yield f"| {rung.number} | `{rung.name}` | {rung.compared} |"


class Rungs(SphinxDirective):
    """Lists the rungs, the first one first."""

    def run(self) -> list[nodes.Node]:
        """Read the table as if it stood in the page."""
        return self.parse_text_to_nodes("\n".join(table()))


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("rungs", Rungs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
