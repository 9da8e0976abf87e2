"""A name that a conditional import gives two meanings never ends a rule: every page's code, imported in two ways."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from migrate_lint.linter.finding import INTERNAL_ERROR

from .pages import all_pages, find_all, read_page


def _imported_twice(text: str, *, elsewhere_first: bool) -> str:
    """Import of another module what `text` imports at its top level, in a `try` before it or in the handler."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text  # a page's code of Python 2, or a broken file
    for position, node in enumerate(tree.body):
        other: ast.stmt
        if isinstance(node, ast.Import):
            plain = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
            other = ast.ImportFrom("elsewhere", [ast.alias(name) for name in plain], 0)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__" and node.names[0].name != "*":
            other = ast.ImportFrom("elsewhere", node.names, 0)
        else:
            continue
        first, second = (other, node) if elsewhere_first else (node, other)
        handler = ast.ExceptHandler(ast.Name("ImportError", ast.Load()), None, [second])
        tree.body[position] = ast.Try([first], [handler], [], [])
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize("elsewhere_first", [True, False], ids=["elsewhere-first", "elsewhere-second"])
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in all_pages()])
def test_nothing_falls(path: Path, elsewhere_first: bool, tmp_path: Path) -> None:
    cases = [case for section in read_page(path).sections for case in section.cases]
    fallen = []
    for number, case in enumerate(cases):
        files = [
            (name, _imported_twice(text, elsewhere_first=elsewhere_first) if name.endswith(".py") else text)
            for name, text in case.files
        ]
        for target in case.targets:
            root = tmp_path / str(number) / target.value
            root.mkdir(parents=True)
            found = find_all(files, root, target)
            fallen += [f"{case.line}: {one.message}" for one in found if one.code == INTERNAL_ERROR.code]
    assert fallen == []
