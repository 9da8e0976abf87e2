"""Imports that a fix needs, added to those of a file by libcst's own visitor."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..finding import Edit
from .edits import edits_between


def added(
    text: str, tree: Sequence[ast.stmt], wanted: Sequence[tuple[str, str | None, str | None]]
) -> tuple[Edit, ...]:
    """The edits that import what is `wanted`: each a module, a name of it or None, and an alias or None.

    Only the head of the text is parsed, up to its last import that stands in no function, class or other suite: what
    is added stands there, merged with what is imported already.

    Args:
        text: a file, or a cell of a notebook.
        tree: its statements.
        wanted: the imports.

    Raises:
        libcst.ParserSyntaxError: if libcst cannot read the head.
    """
    import libcst
    from libcst.codemod import CodemodContext
    from libcst.codemod.visitors import AddImportsVisitor

    last = max(
        (one.end_lineno or one.lineno for one in tree if isinstance(one, ast.Import | ast.ImportFrom)), default=0
    )
    if not last and tree and ast.get_docstring(ast.Module([tree[0]], [])) is not None:
        last = tree[0].end_lineno or 1
    head = "".join(f"{line}\n" for line in text.split("\n")[:last])
    if text.count("\n") < last:
        head = text
    context = CodemodContext()
    for module, name, alias in wanted:
        AddImportsVisitor.add_needed_import(context, module, name, alias)
    changed = AddImportsVisitor(context).transform_module(libcst.parse_module(head)).code
    if not head and text and not changed.endswith("\n"):
        changed += "\n"
    return edits_between(head, changed)
