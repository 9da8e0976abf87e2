"""Every regular expression of the program costs what its text costs: twice the text, twice the time.

They are found in the source, and the texts that are to mislead them are made of their own parts.
"""

from __future__ import annotations

import ast
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from migrate_lint.linter.adoption import fingerprint
from migrate_lint.linter.reporters import raw_lines
from migrate_lint.linter.source import magics, suppressions, syntax
from migrate_lint.linter.source.parsing import SourceFile

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("linter", "rules", "runtime_checks")
    for path in (ROOT / folder).rglob("*.py")
    if "package" not in path.parts and "worker" not in path.relative_to(ROOT).parts
)
OF_PATTERNS = {"gitignore.py", "discovery.py"}
"""Make expressions of patterns that others wrote: `test_gitignore` tries them."""
CALLS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
ALWAYS = " \t\na0#\"'\\"
LENGTH = 3000
"""Characters; a quadratic search of as many takes more than `SUSPICIOUS` on any machine, a linear one a tenth."""
SUSPICIOUS = 0.006
"""Seconds of a processor."""
LONGEST_GROWTH = 2.9
"""How much longer twice the text may take; it is 4 where the cost is quadratic."""


class Found(NamedTuple):
    """A regular expression, and how it is used."""

    place: str
    method: str
    pattern: re.Pattern[Any]


def _found() -> Iterator[Found]:
    for path in SOURCES:
        text = path.read_text("utf-8")
        if "re." not in text or path.name in OF_PATTERNS:
            continue
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = import_module(".".join(("migrate_lint", *parts)).removesuffix(".__init__"))
        place = str(path.relative_to(ROOT))
        tree = ast.parse(text)
        methods = _methods(ast.walk(tree))
        for name, value in vars(module).items():
            for number, pattern in enumerate(_patterns(value)):
                for method in sorted(methods.get(name, {"findall"})):
                    yield Found(f"{place}:{name}{number or ''}", method, pattern)
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            nodes = list(ast.walk(function))
            used = dict(_uses(nodes))
            for node in nodes:
                match node:
                    case ast.Call(ast.Attribute(ast.Name("re"), method), [first, *more]) if method in CALLS:
                        # What only a call knows, such as the key of a table, is a word like any other.
                        names = defaultdict(lambda: "word", vars(module) | {"__builtins__": __builtins__})
                        given = [word.value for word in node.keywords if word.arg == "flags"] + more[-1:]
                        flags = next((flag for flag in given if ast.unparse(flag).startswith("re.")), ast.Constant(0))
                        made, number = (eval(ast.unparse(part), names) for part in (first, flags))
                        yield Found(f"{place}:{node.lineno}", used.get(node, method), re.compile(made, number))


def _uses(nodes: list[ast.AST]) -> Iterator[tuple[ast.expr, str]]:
    """What a function does with a pattern that it makes itself."""
    methods = _methods(nodes)
    for node in nodes:
        match node:
            case ast.Attribute(ast.Call() as made, method) if method in CALLS:
                yield made, method
            case ast.Assign([ast.Name(name)], ast.Call() as made):
                yield from ((made, method) for method in methods.get(name, ()))


def _patterns(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (pattern for one in value.values() for pattern in _patterns(one))
    elif isinstance(value, tuple | list | set | frozenset):
        yield from (pattern for one in value for pattern in _patterns(one))


def _methods(nodes: Iterable[ast.AST]) -> dict[str, set[str]]:
    """How patterns are used, by the names that are known for them."""
    found = defaultdict(set)
    for node in nodes:
        match node:
            case (
                ast.Attribute(ast.Name(name) | ast.Subscript(ast.Name(name)), method)
                | ast.Attribute(ast.Call(ast.Attribute(ast.Name(name), "get")), method)
            ) if method in CALLS:
                found[name].add(method)
    return dict(found)


FOUND = list(_found())


def samples(tree: Any) -> list[str]:
    """Texts that a part of a pattern matches, as far as they are short."""
    whole = [""]
    for operation, value in tree:
        whole = [one + other for one, other in product(whole, _one(str(operation), value))][:12]
    return whole


def _one(operation: str, value: Any) -> list[str]:
    match operation:
        case "LITERAL":
            return [chr(value)]
        case "NOT_LITERAL" | "ANY":
            return ["a", "#"]
        case "IN":
            return _members(value)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            body = samples(value[2])
            return [one * max(value[0], 1) for one in body] + ([""] if not value[0] else [])
        case "SUBPATTERN":
            return samples(value[3])
        case "ATOMIC_GROUP":
            return samples(value)
        case "BRANCH":
            return [text for branch in value[1] for text in samples(branch)[:3]]
        case "CATEGORY":
            return ["a"]
    return [""]


def _members(items: Any) -> list[str]:
    found = []
    for operation, value in items:
        match str(operation), str(value):
            case "LITERAL", _:
                found.append(chr(value))
            case "RANGE", _:
                found.append(chr(value[0]))
            case "CATEGORY", "CATEGORY_SPACE":
                found += [" ", "\n"]
            case "CATEGORY", "CATEGORY_DIGIT":
                found.append("1")
            case "CATEGORY", _:
                found.append("a")
            case "NEGATE", _:
                found += ["a", " "]
    return found[:6]


def heads(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """A text that leads to each repetition of a pattern, and one that it repeats."""
    for operation, value in tree:
        match str(operation):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                if value[1] > 1:
                    yield from ((before, body) for body in samples(value[2]) if body)
                yield from heads(value[2], before)
            case "SUBPATTERN":
                yield from heads(value[3], before)
            case "ATOMIC_GROUP":
                yield from heads(value, before)
            case "BRANCH":
                for branch in value[1]:
                    yield from heads(branch, before)
        before += next(iter(_one(str(operation), value)), "")


def hostile(pattern: re.Pattern[Any]) -> set[tuple[str, str, str]]:
    """Beginnings, what comes again and again after them, and ends."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = re._parser.parse(text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)  # type: ignore[attr-defined]
    led = list(dict.fromkeys(heads(tree)))
    befores = list(dict.fromkeys(("", *(before for before, _ in led))))
    again = dict.fromkeys(body for _, body in led)
    literal = [char for char in dict.fromkeys(text) if not char.isalnum() or char in "n"][:14]
    chars = dict.fromkeys([*ALWAYS, *literal])
    again |= dict.fromkeys(chars) | dict.fromkeys(befores[1:]) | dict.fromkeys(f"{before}{' '}" for before in befores)
    repeated = set(product(befores[:12], list(again)[:60], ("", "!", "\n!")))
    pairs = {("", one + other, end) for one, other in product(chars, repeat=2) for end in ("", "!")}
    quoted = {("", "".join(some), "") for some in product("'\"\\", repeat=4)} if "'" in text or '"' in text else set()
    return repeated | pairs | quoted


def cost(found: Found, parts: tuple[str, str, str], length: int) -> float:
    before, again, after = parts
    text: Any = before + again * (length // len(again)) + after
    if isinstance(found.pattern.pattern, bytes):
        text = text.encode("utf-8", "replace")
    method = found.method if found.method in {"match", "fullmatch", "split"} else "findall"
    run: Callable[[Any], object] = getattr(found.pattern, method)
    start = time.process_time()
    run(text)
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.place)
def test_twice_the_text_costs_twice_the_time(found: Found) -> None:
    """Whatever of a pattern can be repeated is repeated, alone and behind what leads to it."""
    for parts in sorted(part for part in hostile(found.pattern) if part[1]):
        if cost(found, parts, LENGTH) < SUSPICIOUS:
            continue
        growth = min(
            cost(found, parts, 2 * LENGTH) / max(cost(found, parts, LENGTH), SUSPICIOUS / 4) for _ in range(3)
        )

        assert growth < LONGEST_GROWTH, f"{found.pattern.pattern!r} on {parts}"


def test_the_expressions_are_found() -> None:
    """A quadratic one among them is told."""
    assert len(FOUND) > 50
    slow = Found("", "search", re.compile(r"x\s*[=\s]\s*1"))
    with pytest.raises(AssertionError, match="on "):
        test_twice_the_text_costs_twice_the_time(slow)


def _lines_of_cells(text: str) -> None:
    with suppress(ValueError, IndexError):
        list(raw_lines.cell_lines(text))


READERS: dict[str, Callable[[str], object]] = {
    "Python 2": syntax.python2,
    "newer Python": lambda text: list(syntax.newer(text)),
    "fingerprints": fingerprint.normalized,
    "lines of cells": _lines_of_cells,
    "magics": lambda text: magics.to_python(text.split("\n"), True),
    "suppressions": lambda text: suppressions.find_suppressions(SourceFile(Path("x.py"), "x.py", f"noqa\n{text}", "")),
}
WORDS = [
    *(char for char in " \t\n#'\"\\([{}])=%?!`;:,.a0-<"),
    *('"\\', "'\\", "'''", '"""', "noqa", "# noqa: TF101,", "# migrate-lint: disable=A,", "print ", "exec ", "<>"),
    *("print >>x, ", "%timeit -n ", "-n ", "!ls\n", "raise E, ", "except ", "lambda:", "match ", "type X = "),
    *('f"', "def f():\n"),
]


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_twice_the_text_costs_a_scanner_twice_the_time(reader: str) -> None:
    """What calls a pattern at one place after the other is linear, too."""
    chance = random.Random(6)
    pairs = [one + other for one, other in product(WORDS, repeat=2)]

    def cost(text: str) -> float:
        start = time.process_time()
        READERS[reader](text)
        return time.process_time() - start

    for before, word in product(("", '"', "(", "x = '"), [*WORDS, *chance.sample(pairs, 150)]):
        size = 6000 // len(word)
        if cost(before + word * size + "!") > 0.04:
            growth = min(cost(before + word * 2 * size) / cost(before + word * size) for _ in range(3))

            assert growth < LONGEST_GROWTH, (before, word)
