"""Whether every public name and keyword that TensorFlow or Keras lacks is reported.

    python benchmarks/names.py FOLDER [FOLDER ...]

Each folder is a package of somebody's.
A walk of its own over the syntax trees, which knows imports and nothing else, collects what is read of ``tensorflow``,
``tf_keras`` and ``keras``; for each target an interpreter tries it with `getattr`, and the keywords of a call with
`inspect.signature`, in the TensorFlow that is installed.
What is missing there must have a finding at warning or error in its line.
Places under a test of a version, or in a ``try`` that handles a missing name or keyword, are counted apart, and so are
names of which only an attribute of a class is missing.
For keras2 a name of `keras` is missing if both `keras` and `tf_keras` lack it, since either may be the Keras of such
a program.
The exit status is 1 if less than 99 % are reported.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOTS = ("tensorflow", "tf_keras", "keras")
PRIVATE = ("tensorflow.python", "tensorflow.core", "tensorflow.compiler", "keras.src", "tf_keras.src")
HANDLERS = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}
TARGETS = ("keras2", "keras3")
BAR = 0.99


@dataclass(frozen=True)
class Place:
    """A public name at a line; ``checked`` is whether some version is asked for around it."""

    file: str
    line: int
    names: tuple[str, ...]
    checked: bool


class Walk(ast.NodeVisitor):
    """The public names that one file reads."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        self.file = file
        self.found: list[Place] = []
        self.aliases: dict[str, set[str]] = {}
        self.others: set[str] = set()
        self.depth = self.refusals = 0
        self.postponed = False
        for node in ast.walk(tree):
            self._bind(node)
        self.visit(tree)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                self.aliases.setdefault(alias.asname or top, set()).add(alias.name if alias.asname else top)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = "" if node.level else node.module
                self.aliases.setdefault(alias.asname or alias.name, set()).add(f"{module}.{alias.name}")
            self.postponed |= node.module == "__future__" and any(a.name == "annotations" for a in node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self.others.add(node.id)
        elif isinstance(node, ast.arg):
            self.others.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            self.others.add(node.name)

    def _add(self, line: int, *names: str, checked: bool = False) -> None:
        parts = [name.split(".") for name in names]
        if all(p[0] in ROOTS and not any(part.startswith("_") for part in p) for p in parts) and not any(
            name == private or name.startswith(f"{private}.") for name in names for private in PRIVATE
        ):
            self.found.append(Place(self.file, line, tuple(sorted(names)), checked or self.depth > 0))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.lineno, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if not node.level:
                self._add(alias.lineno, f"{node.module}" if alias.name == "*" else f"{node.module}.{alias.name}")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name):
            self.visit(inner)
        elif inner.id in self.aliases and inner.id not in self.others and isinstance(node.ctx, ast.Load):
            tail = ".".join(reversed(parts))
            self._add(node.lineno, *(f"{name}.{tail}" for name in self.aliases[inner.id]))

    def visit_Call(self, node: ast.Call) -> None:
        name, _, rest = ast.unparse(node.func).partition(".")
        if name in self.aliases and name not in self.others and (not rest or rest.replace(".", "").isidentifier()):
            tail = f".{rest}" if rest else ""
            for keyword in node.keywords:
                if keyword.arg is not None:
                    names = [f"{n}{tail}({keyword.arg}" for n in self.aliases[name]]
                    self._add(keyword.lineno, *names, checked=self.refusals > 0)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._under(mentions_version(node.test), node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._under(mentions_version(node.test), node)

    def visit_Try(self, node: ast.Try) -> None:
        refused = any("TypeError" in ast.unparse(handler.type) for handler in node.handlers if handler.type)
        self.refusals += refused
        self._under(any(map(handles, node.handlers)), node)
        self.refusals -= refused

    def _under(self, checked: bool, node: ast.AST) -> None:
        self.depth += checked
        self.generic_visit(node)
        self.depth -= checked

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        if not self.postponed:
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if self.postponed:
            node.returns = None
        skips = any(mentions_version(decorator) for decorator in node.decorator_list)
        stops = any(_stops(part) for part in node.body)
        self._under(skips or stops, node)


def _stops(statement: ast.stmt) -> bool:
    """Whether a statement may end the function on some version: an assertion, a return, a call of ``err_if_tf2``."""
    if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return | ast.Raise):
        return mentions_version(statement.test)
    if isinstance(statement, ast.Assert):
        return mentions_version(statement.test)
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(called, ast.Call) and mentions_version(called.func)


def mentions_version(node: ast.AST) -> bool:
    """Whether something in it may speak of a version; far more than the linter believes."""
    words = ("version", "tf1", "tf2", "tf_1", "tf_2", "_v1", "_v2", "hasattr", "getattr", "type_checking", "eager")
    return any(word in ast.unparse(node).lower() for word in words)


def handles(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is for a name that is missing."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or ast.unparse(kind).rpartition(".")[2] in HANDLERS for kind in types)


def places(folder: Path) -> Iterator[Place]:
    """All public names in the files of a package that can be parsed."""
    for path in sorted(folder.rglob("*.py")):
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        yield from Walk(tree, path.relative_to(folder).as_posix()).found


# -- in a child ------------------------------------------------------------------------------------------------------


def reached(name: str) -> str:
    """``ok``, ``missing``, or ``attribute`` for what is missing of an object that is no module.

    After the name of something that is called, and ``(``, comes the name of a keyword.
    """
    name, _, keyword = name.partition("(")
    root, *parts = name.split(".")
    current = importlib.import_module(root)
    for number, part in enumerate(parts, 1):
        try:
            current = getattr(current, part)
        except (AttributeError, ImportError):
            if not isinstance(current, ModuleType) and hasattr(type(current), "__mro__") and number > 1:
                return "attribute"
            try:
                current = importlib.import_module(".".join([root, *parts[:number]]))
            except Exception:  # whatever an import of something foreign raises
                return "missing"
            continue
    return "ok" if not keyword or takes(current, keyword) else "missing"


def takes(called: object, keyword: str) -> bool:
    """Whether a function or class has a parameter of a name, or one for all that it does not name."""
    try:
        parameters = inspect.signature(called.__init__ if inspect.isclass(called) else called).parameters  # type: ignore[arg-type, misc]
    except (TypeError, ValueError):
        return True
    return keyword in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def missing(names: list[str], target: str) -> dict[str, str]:
    """What is not there of some names."""
    found = {name: reached(name) for name in names}
    if target == "keras2":
        for name in names:
            if name.startswith("keras") and found[name] != "ok":
                found[name] = reached(f"tf_{name}")
    return {name: state for name, state in found.items() if state != "ok"}


# -- the comparison --------------------------------------------------------------------------------------------------


def tried(python: str, names: list[str], target: str) -> dict[str, str]:
    """`missing`, in an interpreter with the Keras of a target."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    environment["TF_USE_LEGACY_KERAS"] = "1" if target == "keras2" else "0"
    said = subprocess.run(
        [python, "-W", "ignore", __file__, "--child", target],
        input=json.dumps(names),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    ).stdout
    answer: dict[str, str] = json.loads(said.splitlines()[-1])
    return answer


def reported(folder: Path, target: str) -> set[tuple[str, int]]:
    """The lines of a package with a finding at warning or error."""
    command = [sys.executable, "-m", "migrate_lint", "check", ".", "--isolated", "--no-cache", "--target", target]
    said = subprocess.run(
        [*command, "--exit-zero", "--output-format", "json"], cwd=folder, stdout=subprocess.PIPE, check=True
    ).stdout
    return {
        (finding["path"], line)
        for finding in json.loads(said)["findings"]
        if finding["severity"] in ("warning", "error")
        for line in range(finding["line"], finding["end_line"] + 1)
    }


def main() -> int:
    """Compare, and print what is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with TensorFlow")
    parser.add_argument("--child", choices=TARGETS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(missing(json.load(sys.stdin), given.child)))
        return 0
    packages = {folder: list(places(folder)) for folder in given.folders}
    names = sorted({name for found in packages.values() for place in found for name in place.names})
    told = total = 0
    for target in TARGETS:
        lacks = tried(given.python, names, target)
        for folder, found in packages.items():
            lines = reported(folder, target)
            gone = [place for place in found if all(lacks.get(name) == "missing" for name in place.names)]
            apart = sum(place.checked for place in gone)
            judged = [place for place in gone if not place.checked]
            imported = {(p.file, name) for p in gone for name in p.names}
            judged = [
                p for p in judged if not any(_is_below(name, p.file, imported) for name in p.names) or _told(p, lines)
            ]
            missed = [place for place in judged if not _told(place, lines)]
            told, total = told + len(judged) - len(missed), total + len(judged)
            print(f"{folder.name} {target}: {len(judged) - len(missed)} of {len(judged)} reported, {apart} apart")
            for place in missed:
                print(f"  missed {folder / place.file}:{place.line} {' or '.join(place.names)}")
    print(f"{told} of {total} reported: {told / max(total, 1):.2%}")
    return 0 if told >= BAR * total else 1


def _told(place: Place, lines: set[tuple[str, int]]) -> bool:
    return (place.file, place.line) in lines


def _is_below(name: str, file: str, gone: set[tuple[str, str]]) -> bool:
    """Whether a name is read from another one that is missing in the same file: that one's import is reported."""
    name, _, keyword = name.partition("(")
    parts = name.split(".")
    return any((file, ".".join(parts[:size])) in gone for size in range(2, len(parts) + bool(keyword)))


if __name__ == "__main__":
    sys.exit(main())
