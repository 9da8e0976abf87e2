"""The directive ``command-line``: every option of a command, as its own parser describes them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["CommandLine", "listing", "parser", "setup"]


def parser(command: str = "check") -> argparse.ArgumentParser:
    """The parser of ``migrate-lint check``, or of another command."""
    from migrate_lint.linter.cli import main as cli

    return cli.parsers()[command]


def listing(described: argparse.ArgumentParser) -> Iterator[str]:
    """Markdown: a definition list for each group of options."""
    for group in described._action_groups:
        shown = [action for action in group._group_actions if action.help != argparse.SUPPRESS]
        if not shown:
            continue
        yield f"**{(group.title or '').capitalize()}**"
        yield ""
        if group.description:
            yield group.description
            yield ""
        for action in shown:
            yield _term(action)
            yield f": {_explained(action)}"
            yield ""


def _term(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else ""
    if action.choices is not None and not value:
        value = "|".join(map(str, action.choices))
    if action.nargs == "?" and value and action.option_strings:
        value = f"[={value}]"
        return ", ".join(f"`{name}{value}`" for name in action.option_strings)
    takes_one = action.nargs != 0 and value
    names = action.option_strings or [""]
    return ", ".join(f"`{f'{name} {value}'.strip() if takes_one else name}`" for name in names)


def _explained(action: argparse.Action) -> str:
    """The help text, with what looks like an option or a value set as code."""
    text = (action.help or "").replace("%(prog)s", "migrate-lint").replace("%%", "%")
    return re.sub(r"(?<![`\w-])(--[a-z][a-z-]+)(?![`\w])", r"`\1`", text)


class CommandLine(SphinxDirective):
    """Lists the options of ``check``, or of the command that is its argument."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Read the list as if it stood in the page."""
        return self.parse_text_to_nodes("\n".join(listing(parser(*self.arguments))))


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
