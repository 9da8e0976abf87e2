"""Imports of a file in the place of others, by libcst, and statements that are added: all other text stays as it is."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from ..analysis.statements import span_of
from ..finding import Edit
from ..rule_api.rewriting import text_of
from .edits import applied, edits_between, position

if TYPE_CHECKING:
    from ..rule_api.model import File

_IMPORT = ast.Import | ast.ImportFrom
_HOLDING = (
    cst.Module, cst.BaseSuite, cst.BaseCompoundStatement, cst.SimpleStatementLine, cst.Else, cst.Finally,
    cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchCase,
)  # fmt: skip
"""What an import may stand in."""
_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


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


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to become of a file.

    Attributes:
        imports: what becomes of imported names, by the ids of their aliases.
        edits: what becomes of expressions; none of them adds or takes away a line.
        before: statements to be added at the top of the module, before the statement of a number.
        after: likewise, after it.
    """

    imports: Mapping[int, Binding]
    edits: Collection[Edit] = ()
    before: dict[int, list[str]] = field(default_factory=dict)
    after: dict[int, list[str]] = field(default_factory=dict)


def rewritten(file: File, wanted: Wanted) -> tuple[Edit, ...]:
    """The edits that make of a file what is wanted.

    Of the statements at the top of the module those alone are parsed in which an import changes, or that have an added
    statement beside them.

    Raises:
        ValueError: if libcst does not give such a statement back as it stands.
        libcst.ParserSyntaxError, libcst.CSTValidationError: if one cannot be parsed or changed.
    """
    tree = file.index.module.node
    assert isinstance(tree, ast.Module)
    lines, new_lines = file.lines, applied(file.source.text, wanted.edits).split("\n")
    changing = {one.line for one in file.imports if id(one.alias) in wanted.imports}
    edits: list[Edit] = []
    rest = sorted(wanted.edits, key=position)
    for run in _runs(_lines_of(tree.body, lines, wanted), sorted(changing)):
        begin, end = run[0].begin, run[-1].last
        found = [node for line in run for one in line.statements for node in ast.walk(one) if isinstance(node, _IMPORT)]
        found.sort(key=lambda node: (node.lineno, node.col_offset))
        bindings = [[wanted.imports.get(id(alias)) for alias in node.names] for node in found]
        closing = "\n" if end < len(lines) else ""
        new = _changed("\n".join(new_lines[begin - 1 : end]) + closing, run, bindings)
        edits += edits_between("\n".join(lines[begin - 1 : end]) + closing, new, begin)
        rest = [one for one in rest if not begin <= one.line <= end]
    return tuple(sorted([*edits, *rest], key=position))


def _changed(text: str, run: Sequence[_Line], imports: Iterable[Sequence[Binding | None]]) -> str:
    """Some lines of a file with what becomes of the names of their imports, and what is added."""
    module = cst.parse_module(text)
    if module.code != text:
        raise ValueError("libcst does not give this file back as it stands")
    if run[0].begin > 1 and module.body:  # what is above its first statement is no header of the file
        above = [*module.header, *_above(module.body[0])]
        body = [module.body[0].with_changes(leading_lines=above), *module.body[1:]]
        module = module.with_changes(header=[], body=body)
    new = module.visit(_Rewriter(run, imports))
    return new.code if new.header or new.body or new.footer else ""  # the code would be an empty line


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of statements at the top of a module, with the lines above it, and what is added before and after it.

    The last one has all lines to the end of the file.
    """

    begin: int
    last: int
    statements: Sequence[ast.stmt]
    before: Sequence[str]
    after: Sequence[str]


def _lines_of(body: Sequence[ast.stmt], text: Sequence[str], wanted: Wanted) -> list[_Line]:
    """All of a module with some lines of text."""
    found: list[_Line] = []
    for number, statement in enumerate(body):
        span = span_of(statement)
        last = span.last
        while text[last - 1].endswith("\\") and last < len(text) and not text[last].strip():
            last += 1  # it goes on, with an empty line
        one = _Line(1, last, (statement,), wanted.before.get(number, ()), wanted.after.get(number, ()))
        if found and span.first <= found[-1].last:
            other = found.pop()
            one = _Line(
                *(other.begin, max(last, other.last), [*other.statements, statement]),
                *([*other.before, *one.before], [*other.after, *one.after]),
            )
        elif found:
            one = replace(one, begin=found[-1].last + 1)
        found.append(one)
    end = found.pop() if found else _Line(1, 1, (), (), ())
    return [*found, replace(end, last=len(text), after=[*end.after, *wanted.before.get(len(body), ())])]


def _runs(lines: Sequence[_Line], changing: Sequence[int]) -> Iterator[list[_Line]]:
    """Those that change, as long as they follow each other; one more where a statement is added, which it follows.

    Args:
        lines: all of a module.
        changing: the numbers of the lines of its text in which something changes, in order.
    """
    run: list[_Line] = []
    added = False
    for one in lines:
        at = bisect_left(changing, one.begin)
        follows, added = added, bool(one.before or one.after)
        if added or follows or (at < len(changing) and changing[at] <= one.last):
            run.append(one)
        elif run:
            yield run
            run = []
    if run:
        yield run


class _Rewriter(cst.CSTTransformer):
    """Changes imports, and adds statements.

    Args:
        lines: what was parsed as a module.
        imports: what becomes of the names of each import in it, in order.
    """

    def __init__(self, lines: Sequence[_Line], imports: Iterable[Sequence[Binding | None]]) -> None:
        super().__init__()
        self._lines = lines
        self._imports = iter(imports)
        self._wanted: dict[cst.CSTNode, Sequence[Binding | None]] = {}
        self._comments: list[cst.EmptyLine] = []
        """Those that stood above statements that are gone."""

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Go down to imports, and not into other small statements and expressions."""
        if isinstance(node, cst.Import | cst.ImportFrom):
            self._wanted[node] = next(self._imports)
        return isinstance(node, _HOLDING)

    # -- statements --------------------------------------------------------------------------------------------------

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:  # noqa: N802
        """The module, with what is added at its top."""
        body: list[_Statement] = []
        blank = False
        for line, made in zip(self._lines, [*self._suite(original_node.body, updated_node.body)] or [[]], strict=True):
            added = [one for code in line.before for one in _parsed(code)]
            blank = blank or (bool(added) and isinstance(added[-1], cst.FunctionDef | cst.ClassDef))
            if blank and made:
                made[0], blank = _spaced(made[0]), False
            body += [*added, *made, *(one for code in line.after for one in _parsed(code))]
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
    ) -> Iterator[list[_Statement]]:
        """What each statement becomes; the comments above one that goes stand above the next one."""
        for old, new in zip(original, updated, strict=True):
            assert isinstance(new, cst.SimpleStatementLine | cst.BaseCompoundStatement)
            made: list[_Statement] = [new]
            if isinstance(old, cst.SimpleStatementLine) and isinstance(new, cst.SimpleStatementLine):
                made = self._line(old, new)
            if made and self._comments:
                made[0] = made[0].with_changes(leading_lines=[*self._comments, *_above(made[0])])
                self._comments = []
            elif not made:
                self._comments += [line for line in _above(new) if line.comment is not None]
            yield made

    def _line(self, old: cst.SimpleStatementLine, new: cst.SimpleStatementLine) -> list[_Statement]:
        changed = [self._small(a, b) for a, b in zip(old.body, new.body, strict=True)]
        if all(len(made) == 1 and made[0] is kept for made, kept in zip(changed, new.body, strict=True)):
            return [new]
        small = [one for made in changed for one in made]
        if not small:
            return []
        if len(old.body) > 1 or len(small) == 1:
            small[-1] = small[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            return [new.with_changes(body=small)]
        lines: list[_Statement] = [cst.SimpleStatementLine([one]) for one in small]
        lines[0] = lines[0].with_changes(leading_lines=new.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=new.trailing_whitespace)
        return lines

    def _small(self, old: cst.BaseSmallStatement, new: cst.BaseSmallStatement) -> list[cst.BaseSmallStatement]:
        """An import with what its names become; nothing where all are gone."""
        wanted = self._wanted.get(old, ())
        if not any(wanted):
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


def _parsed(code: str) -> list[_Statement]:
    """Statements, with the empty lines and comments above them."""
    module = cst.parse_module(code)
    body: list[_Statement] = list(module.body)
    body[0] = body[0].with_changes(leading_lines=[*module.header, *_above(body[0])])
    return body


def _above(line: _Statement) -> Sequence[cst.EmptyLine]:
    found: Sequence[cst.EmptyLine] = getattr(line, "leading_lines", ())
    return found


def _spaced(line: _Statement) -> _Statement:
    """A statement below two empty lines, as after a function."""
    kept = list(_above(line))
    while kept and kept[0].comment is None:
        kept.pop(0)
    return line.with_changes(leading_lines=[*[cst.EmptyLine(indent=False)] * 2, *kept])
