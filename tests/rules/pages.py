"""Reads a rule's page and runs the code on it.

A page is ``tests/rules/<family>/<slug>.md``: ``# TF101 variable-in-call``, then sections of prose and code.
Every unnamed ```` ```py ```` block is a case of its own; the blocks that a line with nothing but a file name
in backticks announces are the files of one project.
A line says what must be found in it by a comment, ``# error: [TF101] "part of the message"; info: [TF406]``;
a line without one asserts that the page's rule is silent there.
The words after ``py`` are ``keras2`` or ``keras3`` (the case holds for this target only)
and ``all`` (every other rule must be silent too).

A block ```` ```py fixed ```` is what the fixes of the page's rule make of the block before it, whose marking comments
it leaves out; after ```` ```py fixed unsafe ```` those too that a person has to look at.
With the word ``run`` both are executed, and leave equal numbers in their variable ``result``: the first with compat.v1
in place of ``tensorflow``, as TF1 computed. Where compat.v1 does not have it either, the numbers that TF 1.15 gave
stand beside the result, as ``# 1.15: 3 0.5``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from migrate_lint.linter.finding import Consequence, Severity, Target

if TYPE_CHECKING:
    from migrate_lint.linter.finding import Finding
    from migrate_lint.linter.rule_api.rule import Rule

HERE = Path(__file__).parent
DEFAULT_NAME = "example.py"

_TITLE = re.compile(r"# (TF\d{3}) ([a-z0-9]+(?:-[a-z0-9]+)*)")
_FILE_NAME = re.compile(r"`([\w./-]+\.\w+)`")
_MARKER = re.compile(r"#\s*(?=(?:error|warning|info):)")
_ITEM = re.compile(r'(error|warning|info):\s*\[(TF\d{3})\](?:\s*"([^"]*)")?\s*(;?)\s*')
_FIXED = {"fixed", "unsafe", "run"}
_WORDS = {"all", *Target, *_FIXED}
_RAISES = re.compile(r"\b(?:raises|fails)\b(?! no error)|Error\b(?!\()")
_WORKS = re.compile(r"\bworks\b")


class PageError(ValueError):
    """A page that does not follow the format; the message names the file and the line."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One finding that a comment in the code asks for; `message` is a part of the finding's."""

    path: str
    line: int
    severity: Severity
    code: str
    message: str = ""

    def matches(self, finding: Finding) -> bool:
        """Whether `finding` is the one that the comment asks for."""
        return (
            (self.path, self.line, self.code) == (finding.path, finding.line, finding.code)
            and self.severity == finding.severity
            and self.message in finding.message
        )

    def __str__(self) -> str:
        part = f' "{self.message}"' if self.message else ""
        return f"{self.severity}: [{self.code}]{part}"


@dataclass(frozen=True, slots=True)
class Fixed:
    """What the file of a case becomes by the fixes of its page's rule."""

    text: str
    unsafe: bool
    run: bool
    targets: frozenset[Target]
    line: int


@dataclass(frozen=True, slots=True)
class Case:
    """The files of one project, and what must be found in them."""

    files: tuple[tuple[str, str], ...]
    expectations: tuple[Expectation, ...]
    targets: frozenset[Target]
    every_rule: bool
    line: int
    """The first line of its code in the page."""
    fixed: Fixed | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a page."""

    title: str
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All that a page says about one rule."""

    path: Path
    code: str
    slug: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `line` is its first line of text in the page."""

    name: str | None
    language: str
    words: frozenset[str]
    text: str
    line: int


def read_page(path: Path, text: str | None = None) -> Page:
    """Read the page at `path`, or `text` in its place.

    Raises:
        PageError: if the page does not follow the format.
    """
    lines = (path.read_text("utf-8") if text is None else text).split("\n")
    title = _TITLE.fullmatch(lines[0].rstrip())
    if title is None:
        raise PageError(f"{path}:1: a page begins with `# TF101 its-slug`")
    read = tuple(
        Section(heading, tuple(_cases(path, blocks))) for heading, _, blocks in read_sections(path, lines) if heading
    )
    return Page(path, title[1], title[2], read)


def read_sections(
    path: Path, lines: Sequence[str], words: Set[str] = _WORDS
) -> list[tuple[str, list[str], list[Block]]]:
    """The headings of a page, each with the prose and the blocks below it; what comes before the first has none.

    `words` are those that may follow ```` ```py ````.

    Raises:
        PageError: if a block is not closed, if there is code before the first heading, or a heading comes twice.
    """
    sections: list[tuple[str, list[str], list[Block]]] = [("", [], [])]
    name: str | None = None
    rest = enumerate(lines[1:], 2)
    for number, line in rest:
        if line.startswith("## "):
            sections.append((line[3:].strip(), [], []))
            name = None
        elif line.startswith("```"):
            block = _read_block(path, name, number, line, rest, words)
            if sections[-1][0]:
                sections[-1][2].append(block)
            elif block.language == "py":
                raise PageError(f"{path}:{number}: code before the first section")
            name = None
        elif line.strip():
            named = _FILE_NAME.fullmatch(line.strip())
            name = named[1] if named else None
            sections[-1][1].append(line)
    headings = Counter(heading for heading, _, _ in sections)
    for repeated in (heading for heading, count in headings.items() if count > 1):
        raise PageError(f"{path}: two sections are named {repeated!r}")
    return sections


def _read_block(
    path: Path, name: str | None, start: int, fence: str, rest: Iterator[tuple[int, str]], known: Set[str]
) -> Block:
    language, *words = fence[3:].split() or [""]
    if language == "py" and (unknown := set(words) - known):
        raise PageError(f"{path}:{start}: unknown word {min(unknown)!r} after ```py; known are {sorted(known)}")
    body: list[str] = []
    for _, line in rest:
        if line.rstrip() == "```":
            return Block(name, language, frozenset(words), "\n".join([*body, ""]), start + 1)
        body.append(line)
    raise PageError(f"{path}:{start}: this block is never closed")


def _cases(path: Path, blocks: Sequence[Block]) -> Iterator[Case]:
    fixes = {}
    for before, block in pairwise([None, *blocks]):
        if block is not None and "fixed" in block.words:
            if before is None or before.language != "py" or before.words & _FIXED or before.name or block.name:
                raise PageError(f"{path}:{block.line}: a fixed block follows the one that it is made of, both unnamed")
            fixes[before] = block
        elif block is not None and block.words & _FIXED:
            raise PageError(f"{path}:{block.line}: `unsafe` and `run` are said of a fixed block")
    blocks = [block for block in blocks if block not in fixes.values()]
    named = [block for block in blocks if block.name is not None]
    unnamed = [block for block in blocks if block.name is None and block.language == "py"]
    names = Counter(block.name for block in named)
    for name in (name for name, count in names.items() if count > 1):
        raise PageError(f"{path}:{named[-1].line}: two blocks of one section are named {name!r}")
    if not any(block.language == "py" for block in named):
        for block in unnamed:
            yield _case(path, [*named, block], fixes.get(block))
    elif len(unnamed) > 1:
        raise PageError(f"{path}:{unnamed[1].line}: beside named files one block may be unnamed, not two")
    else:
        yield _case(path, [*named, *unnamed], fixes.get(unnamed[0]) if unnamed else None)


def _case(path: Path, blocks: Sequence[Block], fix: Block | None) -> Case:
    words = frozenset[str]().union(*(block.words for block in blocks if block.language == "py"))
    code = [block for block in blocks if block.language == "py"]
    return Case(
        files=tuple((block.name or DEFAULT_NAME, block.text) for block in blocks),
        expectations=tuple(
            expectation
            for block in code
            for expectation in read_expectations(block.name or DEFAULT_NAME, block.text, f"{path}:{block.line}")
        ),
        targets=frozenset(Target(word) for word in words & set(Target)) or frozenset(Target),
        every_rule="all" in words,
        line=code[0].line,
        fixed=None if fix is None else _fixed(fix),
    )


def _fixed(block: Block) -> Fixed:
    targets = frozenset(Target(word) for word in block.words & set(Target)) or frozenset(Target)
    return Fixed(block.text, "unsafe" in block.words, "run" in block.words, targets, block.line)


def without_markers(text: str) -> str:
    """The code of a block without the comments that ask for findings."""
    lines = (line[: found.start()].rstrip() if (found := _MARKER.search(line)) else line for line in text.split("\n"))
    return "\n".join(lines)


def read_expectations(name: str, text: str, where: str = "") -> Iterator[Expectation]:
    """Yield what the comments of `text` ask for.

    Raises:
        PageError: if a comment begins like a marker and is none.
    """
    for number, line in enumerate(text.split("\n"), 1):
        marker = _MARKER.search(line)
        if marker is None:
            continue
        position, more = marker.end(), True
        while more:
            item = _ITEM.match(line, position)
            if item is None:
                break
            yield Expectation(name, number, Severity(item[1]), item[2], item[3] or "")
            position, more = item.end(), bool(item[4])
        if more or line[position : position + 1] not in {"", "#"}:
            raise PageError(
                f'{where or name}: line {number} of this code is not like `# error: [TF101] "part"`: {line}'
            )


def find_all(files: Iterable[tuple[str, str]], root: Path, target: Target) -> list[Finding]:
    """Write `files` below `root`, lint those that are Python, and return the findings with the paths given here."""
    from migrate_lint.linter.run.engine import analyze

    sources = []
    for name, text in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if path.suffix in {".py", ".pyi", ".ipynb"}:
            sources.append((path, name))
    results = analyze(sources, root=root, target=target)
    found = (finding for result in results.values() for finding in result.findings)
    return sorted(found, key=lambda finding: finding.sort_key)


def compare(case: Case, code: str, findings: Iterable[Finding]) -> list[str]:
    """Say in one line each how `findings` differ from what `case` on the page of rule `code` asks for."""
    wanted = list(case.expectations)
    spoken_of = {(wish.path, wish.line, wish.code) for wish in wanted}
    surplus: list[Finding] = []
    for finding in findings:
        match = next((wish for wish in wanted if wish.matches(finding)), None)
        if match is not None:
            wanted.remove(match)
        elif case.every_rule or finding.code == code or (finding.path, finding.line, finding.code) in spoken_of:
            surplus.append(finding)
    sources = dict(case.files)
    differences = [(wish.path, wish.line, f"expected  {wish}") for wish in wanted]
    differences += [
        (finding.path, finding.line, f'found     {finding.severity}: [{finding.code}] "{finding.message}"')
        for finding in surplus
    ]
    return [
        f"{path}:{line}: {text}\n    {_source_line(sources.get(path, ''), line)}"
        for path, line, text in sorted(differences)
    ]


def crowded(findings: Iterable[Finding], rules: Iterable[Rule]) -> list[str]:
    """Say which findings share a site, but for those of two rules that are declared to stand beside each other."""
    declared = {frozenset((rule.code, other)) for rule in rules for other in rule.beside}
    by_site: dict[tuple[str, int, int], list[Finding]] = {}
    for finding in findings:
        by_site.setdefault((finding.path, finding.line, finding.column), []).append(finding)
    return [
        f'{path}:{line}: both      [{one.code}] "{one.message}"\n    and [{other.code}] "{other.message}"'
        for (path, line, _), here in by_site.items()
        for one, other in combinations(here, 2)
        if frozenset((one.code, other.code)) not in declared
    ]


def contradictory(findings: Iterable[Finding]) -> list[str]:
    """Say which findings have another consequence than their message tells."""
    wanted = [(finding, _told(finding.message)) for finding in findings]
    return [
        f'{finding.path}:{finding.line}: {finding.consequence}   [{finding.code}] "{finding.message}"'
        for finding, told in wanted
        if finding.consequence not in told
    ]


def _told(message: str) -> set[Consequence]:
    """The consequences that a message may have, by its words."""
    if _RAISES.search(message.replace("nothing raises", "")):
        return {Consequence.BREAKS}
    return set(Consequence) - {Consequence.BREAKS} if _WORKS.search(message) else set(Consequence)


def _source_line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def all_pages() -> list[Path]:
    """Every page below this folder, in a fixed order."""
    return sorted(HERE.glob("*/*.md"))
