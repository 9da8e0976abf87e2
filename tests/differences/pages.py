"""Reads the pages on what a program computes before and after, and runs what is on them.

A page is ``tests/differences/<slug>.md``, with the title of its rule's page: ``# TF601 dropout-keep-prob``.
Each section is a case, with programs that leave a number, a list, an array or a text in `result`:

- ```` ```py before ````, what TF1 did, through `compat.v1` or `tf_slim` as they are installed;
- ```` ```py after ````, the same carried over to TF2 as it stands;
- ```` ```py fixed ````, which may be missing: what the rule advises.

The word ``keras2`` or ``keras3`` after these restricts a program to that target.
The prose has a line ``Before: <value>`` and, for each target, a line ``After: <value>`` or ``After (keras3): <value>``.
A value is a number, a list of these, a text in quotes, or the type of the exception that the program ends with;
what is measured must agree with it to the digits given.
A section without a program `before` ends its line with ``measured on TF 1.15.5``, where no other version can show it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from migrate_lint.linter.finding import Target

from ..forks import Failed, forked
from ..interpreters import load
from ..rules.pages import PageError, read_sections

HERE = Path(__file__).parent

_TITLE = re.compile(r"# (TF6\d{2}) ([a-z0-9]+(?:-[a-z0-9]+)*)")
_VALUE = re.compile(r"(Before|After)(?: \((keras2|keras3)\))?: (.+?)(, measured on TF 1\.15\.5)?")
_EXCEPTION = re.compile(r"[A-Z]\w*")
_KINDS = ("before", "after", "fixed")
_WORDS = frozenset({*_KINDS, *Target})


@dataclass(frozen=True, slots=True)
class Value:
    """What a page states: a text such as ``[0.50, 1]`` or ``ValueError``."""

    text: str

    def agrees(self, measured: object) -> bool:
        """Whether a program's result is this one, to the digits given."""
        if _EXCEPTION.fullmatch(self.text) and self.text not in {"True", "False", "None"}:
            return measured == {"raises": self.text}
        return _agrees(ast.parse(self.text, mode="eval").body, self.text, measured)


def _agrees(stated: ast.expr, text: str, measured: object) -> bool:
    if isinstance(stated, ast.List):
        return (
            isinstance(measured, list)
            and len(measured) == len(stated.elts)
            and all(_agrees(part, text, each) for part, each in zip(stated.elts, measured, strict=True))
        )
    written = ast.get_source_segment(text, stated) or ""
    known = ast.literal_eval(stated)
    if isinstance(known, bool | str | None):
        return type(known) is type(measured) and known == measured
    if isinstance(measured, bool) or not isinstance(measured, int | float) or measured != measured:  # noqa: PLR0124
        return False
    exponent = Decimal(written.replace("_", "")).as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(known - measured) <= 0.5000001 * 10.0**exponent


@dataclass(frozen=True, slots=True)
class Case:
    """The programs of a section, and what they state."""

    name: str
    line: int
    programs: dict[tuple[str, Target], str]
    before: Value
    after: dict[Target, Value]


@dataclass(frozen=True, slots=True)
class Page:
    """What a rule says is computed otherwise."""

    path: Path
    code: str
    slug: str
    cases: tuple[Case, ...]


def read_differences(path: Path, text: str | None = None) -> Page:
    """Read a page, or `text` in its place.

    Raises:
        PageError: if it does not follow the format.
    """
    lines = (path.read_text("utf-8") if text is None else text).split("\n")
    title = _TITLE.fullmatch(lines[0].rstrip())
    if title is None or title[2] != path.stem:
        raise PageError(f"{path}:1: a page begins with `# TF601 its-slug`, and its file has the slug's name")
    _, *sections = read_sections(path, lines, _WORDS)
    if not sections:
        raise PageError(f"{path}: a page has a section")
    return Page(path, title[1], title[2], tuple(_case(path, *section) for section in sections))


def _case(path: Path, name: str, prose: Sequence[str], blocks: Sequence[Any]) -> Case:
    where = f"{path}: {name}"
    programs: dict[tuple[str, Target], str] = {}
    for block in blocks:
        kinds = block.words & set(_KINDS)
        if block.language != "py" or len(kinds) != 1:
            raise PageError(f"{path}:{block.line}: a block of code is one of {', '.join(_KINDS)}")
        for target in _targets(block.words):
            if programs.setdefault((*kinds, target), block.text) is not block.text:
                raise PageError(f"{path}:{block.line}: there is another one for {target}")
    before: list[Value] = []
    after: dict[Target, Value] = {}
    told = False
    for line in prose:
        value = _VALUE.fullmatch(line.strip())
        if value is None:
            continue
        if value[1] == "After":
            after |= dict.fromkeys(_targets({value[2]}), Value(value[3]))
        else:
            before.append(Value(value[3]))
            told = value[4] is not None
    if len(before) != 1:
        raise PageError(f"{where}: one line `Before: <value>`")
    if told is any(kind == "before" for kind, _ in programs):
        raise PageError(f"{where}: a program `before`, or a value that was measured on TF 1.15.5")
    if not after or set(after) != {target for kind, target in programs if kind == "after"}:
        raise PageError(f"{where}: a program `after` and a line `After: <value>` for each target of it")
    return Case(name, blocks[0].line, programs, before[0], after)


def _targets(words: Any) -> frozenset[Target]:
    return frozenset(Target(word) for word in words & set(Target)) or frozenset(Target)


def all_differences() -> list[Path]:
    """Every page of this folder, in a fixed order."""
    return sorted(HERE.glob("*.md"))


# -- in a child ------------------------------------------------------------------------------------------------------


def results(programs: Sequence[str]) -> list[Any]:
    """In a child that has run nothing yet: of each program its result, ``{"raises": type}`` or ``{"failed": why}``."""
    found = [forked(_result, program) for program in programs]
    return [{"failed": each} if isinstance(each, Failed) else each for each in found]


def _result(root: Path, program: str) -> Any:
    import numpy as np

    root.mkdir()
    path = root / "program.py"
    path.write_text(program)
    try:
        module = load(path)
    except Exception as error:
        return {"raises": type(error).__name__}
    result = module.result
    if hasattr(result, "numpy"):
        result = result.numpy()
    return result if isinstance(result, str | None) else np.asarray(result).tolist()
