"""From what a rule gives as a replacement to the edits of a finding.

The smallest piece of text is parsed with libcst: the expression of a site, or the lines of its statement.
A piece that libcst does not give back as it stands, or that shares its line with other statements, is not fixed; nor
is one whose comments its replacement does not have.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..analysis.statements import span_of
from ..finding import Edit, Fix
from ..rule_api.rewriting import comments_of, text_of
from ..rule_api.rule import Replacement, Rule
from .edits import edits_between, position
from .imports import added

if TYPE_CHECKING:
    import libcst

    from ..rule_api.model import Site

_DEEPEST = 100
"""Levels of an expression or statement that libcst, which is written with recursion, is given."""
_HEADER = "if _:\n"
"""What an indented statement is parsed below."""


def fix_of(rule: Rule, site: Site) -> Fix | None:
    """How what a rule has reported at a site goes away, or None where it has no fix for it."""
    if type(rule).fix is Rule.fix or site.file.source.refused is not None:
        return None
    piece = _piece(rule, site)
    if piece is None:
        return None
    said = rule.fix(piece.node, site)
    if said is None or _loses_comment(piece.node, said.node):
        return None
    text = piece.with_node(said.node)
    edits = edits_between(piece.text, text, piece.line, piece.column)
    if said.imports:
        edits = tuple(sorted({*edits, *_imported(site, said)}, key=position))
    return Fix(said.applicability, edits, said.reason) if edits else None


def _loses_comment(old: libcst.CSTNode, new: libcst.CSTNode | libcst.FlattenSentinel[Any] | None) -> bool:
    import libcst

    nodes = () if new is None else (new,) if isinstance(new, libcst.CSTNode) else tuple(new)
    return bool(Counter(comments_of(old)) - Counter(comments_of(*nodes)))


@dataclass(frozen=True)
class _Piece:
    """A part of a file's text as a libcst node; `module` is what was parsed, None of an expression."""

    text: str
    line: int
    column: int
    node: libcst.CSTNode
    module: libcst.Module | None = None
    is_alone: bool = False
    """Whether it is the only statement of its suite, which cannot be empty."""

    def with_node(self, new: libcst.CSTNode | libcst.FlattenSentinel[Any] | None) -> str:
        """The text with another node in place of this one, or, of a statement, with several."""
        import libcst

        if self.module is None:
            assert isinstance(new, libcst.CSTNode), "an expression stays one"
            return text_of(new)
        if new is None:
            indent = self.text[: len(self.text) - len(self.text.lstrip(" \t"))]
            end = "\n" if self.text.endswith("\n") else ""
            return f"{indent}pass{end}" if self.is_alone else ""
        changed: object = self.module.deep_replace(self.node, new)  # type: ignore[type-var]  # or several
        assert isinstance(changed, libcst.Module)
        return changed.code.removeprefix(_HEADER)


def _piece(rule: Rule, site: Site) -> _Piece | None:
    part = rule.fixed_part(site)
    if isinstance(part, ast.stmt):
        return _statement(site, part)
    return _expression(site.at(part)) if part is not None else None


def _expression(site: Site) -> _Piece | None:
    import libcst

    text = site.text
    if not text or _is_deep(site.syntax):
        return None
    try:
        # Up to Python 3.11, a part of an f-string is not always where its node says that it is.
        is_it = ast.dump(ast.parse(f"({text}\n)", mode="eval").body) == ast.dump(site.syntax)
        node = libcst.parse_expression(f"({text}\n)")
    except (SyntaxError, libcst.ParserSyntaxError):
        return None
    if not is_it:
        return None
    # The parentheses let it go over several lines; they are the outermost ones, and not its own.
    node = node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1])
    return _Piece(text, site.line, site.column, node) if text_of(node) == text else None


def _statement(site: Site, statement: ast.stmt) -> _Piece | None:
    import libcst

    span = span_of(statement)
    lines = site.file.lines[span.first - 1 : span.last]
    if not lines or _is_deep(statement):
        return None
    text = "\n".join(lines) + ("\n" if span.last < len(site.file.lines) else "")
    indented = text[:1] in " \t"
    try:
        module = libcst.parse_module(_HEADER + text if indented else text)
    except libcst.ParserSyntaxError:
        return None
    suite: Sequence[libcst.CSTNode] = module.body
    if indented and isinstance(module.body[0], libcst.If):
        suite = module.body[0].body.body
    if module.code.removeprefix(_HEADER) != text or len(suite) != 1:
        return None
    (node,) = suite
    if isinstance(node, libcst.SimpleStatementLine) and (len(node.body) != 1 or isinstance(statement, _COMPOUND)):
        return None
    if not isinstance(node, libcst.SimpleStatementLine) and not isinstance(statement, _COMPOUND):
        return None  # it stands in the line of a header
    return _Piece(text, span.first, 1, node, module, _is_alone(site, statement))


_COMPOUND = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With,
    ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
)  # fmt: skip


def _is_alone(site: Site, statement: ast.stmt) -> bool:
    around = site.file.parent_of(statement)
    suites = [getattr(around, name, None) for name in ("body", "orelse", "finalbody", "handlers")]
    return any(isinstance(suite, list) and suite == [statement] for suite in suites)


def _is_deep(node: ast.AST) -> bool:
    level = [node]
    for _ in range(_DEEPEST):
        level = [child for one in level for child in ast.iter_child_nodes(one)]
        if not level:
            return False
    return True


def _imported(site: Site, said: Replacement) -> tuple[Edit, ...]:
    """The edits that import what a replacement needs: in a notebook, in the cell of the site."""
    source = site.file.source
    tree = site.file.index.module.node
    assert isinstance(tree, ast.Module)
    if source.notebook is None:
        return added(source.text, tree.body, said.imports)
    cells = [first for _, first in source.notebook.places.cells]
    begin = max(first for first in cells if first <= site.line)
    end = min((first for first in cells if first > site.line), default=len(site.file.lines) + 1)
    text = "\n".join(site.file.lines[begin - 1 : end - 1])
    edits = added(text, ast.parse(text).body, said.imports)
    down = begin - 1
    return tuple(Edit(e.line + down, e.column, e.end_line + down, e.end_column, e.text) for e in edits)
