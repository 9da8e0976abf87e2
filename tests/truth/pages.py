"""Reads the pages on what TensorFlow does, and runs the programs on them.

A page is ``tests/truth/<class>.md``: a title, what the class of programs is, and a line ``Codes: `TF101`, `TF102```.
Each section is a member of the class: a program (```` ```py ````, as on a rule's page; of several files the last is
run), and a ```` ```run ```` block, which is executed in the program's namespace and sets `hazard`: whether TensorFlow
really does what the codes speak of.
Of a program with a line that ends in ``# judged``, only the findings on such lines count.
A section with a line ``Disagrees: <reason>`` is one where the linter is known to be wrong.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from migrate_lint.linter.finding import Severity, Target

from ..forks import forked
from ..interpreters import load
from ..rules.pages import DEFAULT_NAME, PageError, find_all, read_sections

HERE = Path(__file__).parent

_CODE = re.compile(r"`(TF\d{3})`")


@dataclass(frozen=True, slots=True)
class Member:
    """A program, and what TensorFlow does with it."""

    name: str
    files: tuple[tuple[str, str], ...]
    run: str
    targets: frozenset[Target]
    disagrees: str
    line: int

    def findings(self, root: Path, target: Target, codes: frozenset[str]) -> list[Severity]:
        """The severities of the findings that count, as the linter gives them."""
        judged = {
            (name, number)
            for name, text in self.files
            for number, line in enumerate(text.split("\n"), 1)
            if line.endswith("# judged")
        }
        return [
            finding.severity
            for finding in find_all(self.files, root, target)
            if finding.code in codes and (not judged or (finding.path, finding.line) in judged)
        ]


@dataclass(frozen=True, slots=True)
class TruthPage:
    """A class of programs."""

    path: Path
    codes: frozenset[str]
    members: tuple[Member, ...]


def read_truth(path: Path) -> TruthPage:
    """Read a page.

    Raises:
        PageError: if it does not follow the format.
    """
    (_, head, _), *sections = read_sections(path, path.read_text("utf-8").split("\n"))
    codes = frozenset(code for line in head if line.startswith("Codes:") for code in _CODE.findall(line))
    if not codes:
        raise PageError(f"{path}: no line `Codes:` before the first section")
    members = []
    for name, prose, blocks in sections:
        code = [block for block in blocks if block.language != "run"]
        run = [block for block in blocks if block.language == "run"]
        if len(run) != 1 or not code or code[-1].language != "py":
            raise PageError(f"{path}: {name}: a member has a program and one block `run` after it")
        words = frozenset[str]().union(*(block.words for block in code))
        reasons = [line.partition(":")[2].strip() for line in prose if line.startswith("Disagrees:")]
        members.append(
            Member(
                name,
                tuple((block.name or DEFAULT_NAME, block.text) for block in code),
                run[0].text,
                frozenset(Target(word) for word in words & set(Target)) or frozenset(Target),
                " ".join(reasons),
                code[0].line,
            )
        )
    return TruthPage(path, codes, tuple(members))


def all_truths() -> list[Path]:
    """Every page of this folder, in a fixed order."""
    return sorted(HERE.glob("*.md"))


# -- in a child ------------------------------------------------------------------------------------------------------


def hazards(programs: Sequence[tuple[Sequence[tuple[str, str]], str]]) -> list[bool | str]:
    """In a child that has run nothing yet: of each program whether the hazard is real, or a traceback.

    Each runs in a fork of its own, since TensorFlow keeps what a program changes.
    """
    return [forked(_hazard, files, run) for files, run in programs]


def _hazard(root: Path, files: Sequence[tuple[str, str]], run: str) -> bool:
    import numpy as np
    import tensorflow as tf

    for name, text in [*files, ("the_run.py", run)]:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sys.path.insert(0, str(root))
    os.chdir(root)
    module = load(root / files[-1][0])
    given = {"tf": tf, "np": np, "x": tf.ones((2, 3)), "raises": _raises, "created": _created, "printed": _printed}
    space = module.__dict__
    space.update({name: value for name, value in given.items() if name not in space})
    exec(compile(run, str(root / "the_run.py"), "exec"), space)
    return bool(space["hazard"])


def _raises(function: Callable[[], object]) -> bool:
    """Whether a call raises."""
    try:
        function()
    except Exception:
        return True
    return False


def _created(function: Callable[[], object]) -> int:
    """How many variables are made while a function runs; what it raises is ignored."""
    from tensorflow.python.ops import ref_variable, resource_variable_ops

    count = 0
    kinds: list[Any] = [resource_variable_ops.BaseResourceVariable, ref_variable.RefVariable]
    before = [kind.__init__ for kind in kinds]

    def counting(make: Callable[..., None]) -> Callable[..., None]:
        def init(*arguments: object, **named: object) -> None:
            nonlocal count
            count += 1
            make(*arguments, **named)

        return init

    for kind, make in zip(kinds, before, strict=True):
        kind.__init__ = counting(make)
    try:
        _raises(function)
    finally:
        for kind, make in zip(kinds, before, strict=True):
            kind.__init__ = make
    return count


def _printed(function: Callable[[], object]) -> list[str]:
    """The lines that a call prints, writes or logs."""
    with tempfile.TemporaryFile("w+") as file, _into(file):
        function()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        file.seek(0)
        return [line for line in file.read().split("\n") if line.strip()]


@contextlib.contextmanager
def _into(file: Any) -> Iterator[None]:
    """Let the process write its output, its errors and its log into a file."""
    kept = [(number, os.dup(number)) for number in (1, 2)]
    streams = sys.stdout, sys.stderr
    root = logging.getLogger()
    handler, level = logging.StreamHandler(file), root.level
    try:
        for number, _ in kept:
            os.dup2(file.fileno(), number)
        sys.stdout = sys.stderr = open(os.dup(file.fileno()), "w", buffering=1)  # noqa: SIM115
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        sys.stdout, sys.stderr = streams
        for number, copy in kept:
            os.dup2(copy, number)
            os.close(copy)
