"""Expressions and imports of a file in the place of others, by libcst: all text around them stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from ..rule_api.rewriting import text_of

if TYPE_CHECKING:
    from ..rule_api.model import File

Place = tuple[int, int, int, int]
"""First line and column, last line and column; lines are 1-based, columns 0-based and in characters."""
_Line = cst.SimpleStatementLine | cst.BaseCompoundStatement


@dataclass(frozen=True, slots=True)
class Binding:
    """An import: ``import name as bound`` where `module` is empty, else ``from module import name as bound``."""

    module: str
    name: str
    bound: str

    @property
    def code(self) -> str:
        """The statement."""
        start = f"from {self.module} import " if self.module else "import "
        return start + self.name + (f" as {self.bound}" if self.bound not in ("", self.name) else "")


GONE = Binding("", "", "")
"""In place of an import that nothing needs any longer."""


class Rewriter(cst.CSTTransformer):
    """Changes the nodes that stand in some places.

    Args:
        file: what is rewritten.
        imports: what becomes of imported names, by the ids of their aliases.
        places: where an expression stands, with its text, and what is to stand there; the text of a comparison of a
            type is ``type``, and what is to stand there ``is`` or ``not``.
        before: statements to be added at the top of the module, before the statement of a number.
        after: likewise, after it.
    """

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(
        self,
        file: File,
        imports: Mapping[int, Binding],
        places: Mapping[Place, tuple[str, str]],
        before: Mapping[int, Sequence[str]],
        after: Mapping[int, Sequence[str]],
    ) -> None:
        super().__init__()
        self._places = places
        self._before, self._after = before, after
        self.done: set[Place] = set()
        """The places where something was found to be changed."""
        self._comments: list[cst.EmptyLine] = []
        """Those that stood above statements that are gone."""
        self._statements: dict[tuple[int, int], list[Binding | None]] = {}
        for one in file.imports:
            node = one.statement
            if any(id(alias) in imports for alias in node.names):
                place = (node.lineno, file.character_at(node.lineno, node.col_offset))
                self._statements[place] = [imports.get(id(alias)) for alias in node.names]

    def _place(self, node: cst.CSTNode) -> Place:
        found = self.get_metadata(PositionProvider, node)
        assert isinstance(found, CodeRange)
        return found.start.line, found.start.column, found.end.line, found.end.column

    # -- expressions -------------------------------------------------------------------------------------------------

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:  # noqa: N802
        """A name, or what stands for it."""
        return self._expression(original_node, updated_node)

    def leave_Attribute(  # noqa: N802
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        """A dotted name, or what stands for it."""
        return self._expression(original_node, updated_node)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        """An argument, by its position where nothing is to stand in place of its keyword."""
        place = self._place(original_node.keyword) if original_node.keyword is not None else None
        if place is None or place not in self._places or self._places[place][1]:
            return updated_node
        self.done.add(place)
        return updated_node.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)

    def leave_Comparison(  # noqa: N802
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        """A comparison, or an `isinstance` for one of a type."""
        place = self._place(original_node)
        text, new = self._places.get(place, ("", ""))
        call = updated_node.left
        if text != "type" or not isinstance(call, cst.Call):
            return updated_node
        self.done.add(place)
        given = call.args[0].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        made = cst.Call(cst.Name("isinstance"), [given, cst.Arg(updated_node.comparisons[0].comparator)])
        outer: cst.BaseExpression = cst.UnaryOperation(cst.Not(), made) if new == "not" else made
        return outer.with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    def _expression(self, original: cst.Name | cst.Attribute, updated: cst.BaseExpression) -> cst.BaseExpression:
        place = self._place(original)
        text, new = self._places.get(place, ("", ""))
        if not new or text_of(original) != text:
            return updated
        self.done.add(place)
        return cst.parse_expression(new).with_changes(lpar=updated.lpar, rpar=updated.rpar)

    # -- statements --------------------------------------------------------------------------------------------------

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:  # noqa: N802
        """The module, with what is added at its top."""
        body: list[_Line] = []
        blank = False
        for at, made in enumerate(self._suite(original_node.body, updated_node.body)):
            added = [one for code in self._before.get(at, ()) for one in _parsed(code)]
            blank = blank or (bool(added) and isinstance(added[-1], cst.FunctionDef | cst.ClassDef))
            if blank and made:
                made[0], blank = _spaced(made[0]), False
            after = [one for code in self._after.get(at, ()) for one in _parsed(code)]
            body += [*added, *made, *after]
        body += [one for code in self._before.get(len(original_node.body), ()) for one in _parsed(code)]
        return updated_node.with_changes(body=body, footer=[*self._comments, *updated_node.footer])

    def leave_IndentedBlock(  # noqa: N802
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        """A suite, with ``pass`` where nothing is left of it."""
        body = [one for made in self._suite(original_node.body, updated_node.body) for one in made]
        if not body:
            body.append(cst.SimpleStatementLine([cst.Pass()]))
        footer = [*self._comments, *updated_node.footer]
        self._comments = []
        return updated_node.with_changes(body=body, footer=footer)

    def leave_SimpleStatementSuite(  # noqa: N802
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.SimpleStatementSuite:
        """A suite in the line of its header."""
        pairs = zip(original_node.body, updated_node.body, strict=True)
        small = [made for old, new in pairs for made in self._small(old, new)]
        return updated_node.with_changes(body=small or [cst.Pass()])

    def _suite(
        self, original: Sequence[cst.BaseStatement], updated: Sequence[cst.BaseStatement]
    ) -> Iterator[list[_Line]]:
        """What each statement becomes; the comments above one that goes stand above the next one."""
        for old, new in zip(original, updated, strict=True):
            assert isinstance(new, cst.SimpleStatementLine | cst.BaseCompoundStatement)
            made: list[_Line] = [new]
            if isinstance(old, cst.SimpleStatementLine) and isinstance(new, cst.SimpleStatementLine):
                made = self._line(old, new)
            if made and self._comments:
                made[0] = made[0].with_changes(leading_lines=[*self._comments, *_above(made[0])])
                self._comments = []
            elif not made:
                self._comments += [line for line in _above(new) if line.comment is not None]
            yield made

    def _line(self, old: cst.SimpleStatementLine, new: cst.SimpleStatementLine) -> list[_Line]:
        changed = [self._small(a, b) for a, b in zip(old.body, new.body, strict=True)]
        if all(len(made) == 1 and made[0] is kept for made, kept in zip(changed, new.body, strict=True)):
            return [new]
        small = [one for made in changed for one in made]
        if not small:
            return []
        if len(old.body) > 1 or len(small) == 1:
            small[-1] = small[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            return [new.with_changes(body=small)]
        lines: list[_Line] = [cst.SimpleStatementLine([one]) for one in small]
        lines[0] = lines[0].with_changes(leading_lines=new.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=new.trailing_whitespace)
        return lines

    def _small(self, old: cst.BaseSmallStatement, new: cst.BaseSmallStatement) -> list[cst.BaseSmallStatement]:
        """An import with what its names become; nothing where all are gone."""
        wanted = self._statements.get(self._place(old)[:2])
        if wanted is None:
            return [new]
        if isinstance(new, cst.Import):
            return _import(new, wanted)
        return _import_from(new, wanted) if isinstance(new, cst.ImportFrom) else [new]


def _import(new: cst.Import, wanted: Sequence[Binding | None]) -> list[cst.BaseSmallStatement]:
    names: list[cst.ImportAlias] = []
    others: list[cst.BaseSmallStatement] = []
    for alias, one in zip(new.names, wanted, strict=True):
        if one is None:
            names.append(alias)
        elif one.module:
            others.append(_statement(one.code))
        elif one is not GONE:
            parsed = _statement(one.code)
            assert isinstance(parsed, cst.Import)
            names.append(parsed.names[0].with_changes(comma=alias.comma))
    if not names:
        return others
    names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return [new.with_changes(names=names), *others]


def _import_from(new: cst.ImportFrom, wanted: Sequence[Binding | None]) -> list[cst.BaseSmallStatement]:
    bindings = [one for one in wanted if one is not None and one is not GONE]
    modules = {one.module for one in bindings}
    if isinstance(new.names, cst.ImportStar):
        return [new.with_changes(module=_dotted(modules.pop()))]
    pairs = list(zip(new.names, wanted, strict=True))
    if len(modules) == 1 and "" not in modules and len(bindings) == len(pairs):
        if all(one is not None and one.name == text_of(alias.name) for alias, one in pairs):
            return [new.with_changes(module=_dotted(modules.pop()))]
    kept = [alias for alias, one in pairs if one is None]
    made: list[cst.BaseSmallStatement] = []
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        made.append(new.with_changes(names=kept))
    together: dict[str, list[str]] = {}
    for one in bindings:
        start, _, name = one.code.partition(" import ") if one.module else ("", "", one.code)
        together.setdefault(start, []).append(name)
    for start, codes in together.items():
        joined = [f"{start} import {', '.join(codes)}"] if start else codes
        made += map(_statement, joined)
    return made


def _dotted(name: str) -> cst.Name | cst.Attribute:
    found = cst.parse_expression(name)
    assert isinstance(found, cst.Name | cst.Attribute)
    return found


def _statement(code: str) -> cst.BaseSmallStatement:
    parsed = cst.parse_statement(f"{code}\n")
    assert isinstance(parsed, cst.SimpleStatementLine)
    return parsed.body[0]


def _parsed(code: str) -> list[_Line]:
    """Statements, with the empty lines and comments above them."""
    module = cst.parse_module(code)
    body: list[_Line] = list(module.body)
    body[0] = body[0].with_changes(leading_lines=[*module.header, *_above(body[0])])
    return body


def _above(line: _Line) -> Sequence[cst.EmptyLine]:
    found: Sequence[cst.EmptyLine] = getattr(line, "leading_lines", ())
    return found


def _spaced(line: _Line) -> _Line:
    """A statement below two empty lines, as after a function."""
    kept = list(_above(line))
    while kept and kept[0].comment is None:
        kept.pop(0)
    return line.with_changes(leading_lines=[*[cst.EmptyLine(indent=False)] * 2, *kept])
