"""What ``verify --init --tf1`` left for a person to fill in: found in the pair's text, before anything runs."""

from __future__ import annotations

import ast

__all__ = ["unfilled", "unfilled_in"]

_NAME = "to_fill"


def unfilled(file: str) -> list[str]:
    """Each call of ``to_fill`` in a pair's file, as ``line 12: what is to be filled in``.

    A file that cannot be read or parsed has none: running it says what is wrong with it.
    """
    try:
        with open(file, "rb") as opened:
            return unfilled_in(opened.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def unfilled_in(text: str | bytes) -> list[str]:
    """Those in a text; what stands twice on a line, once."""
    tree = ast.parse(text)
    found: set[tuple[int, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _NAME:
            what = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else "something"
            found.add((node.lineno, str(what)))
    return [f"line {line}: {what}" for line, what in sorted(found)]
