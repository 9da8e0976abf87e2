"""The directive ``formats``: a table of the report formats, as their own modules describe them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from migrate_lint.linter.reporters.formats import module_of
from migrate_lint.linter.settings.config import FORMATS
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["Formats", "setup", "table"]


def table() -> Iterator[str]:
    """Markdown: a row a format, with the first line of its docstring."""
    yield "| format | for |"
    yield "|---|---|"
    for name in FORMATS:
        words = module_of(name).__doc__ or ""
        yield f"| `{name}` | {words.partition(chr(10))[0].removesuffix('.')} |"


class Formats(SphinxDirective):
    """Lists the formats by name."""

    def run(self) -> list[nodes.Node]:
        """Read the table as if it stood in the page."""
        return self.parse_text_to_nodes("\n".join(table()))


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("formats", Formats)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
