"""Which fixes are proven: searches in programs that are made up, where it is known what each fix does."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from migrate_lint.linter.run.fixing import AppliedFix, Fixed, FixedFile, Place
from migrate_lint.linter.run.proving import Proven, prove
from migrate_lint.linter.runtime_report import Attempt

from .reports import FINDING, result_of

ROOT = str(Path(os.sep, "project"))


@dataclass(frozen=True)
class Program:
    """A program of files and lines, each of which has a finding and a fix.

    With a ``wrong`` fix it computes something else, with or without the others; without a ``needed`` one it does not
    run, and without a ``due`` one it computes something else too. An ``idle`` line never runs. What is first of all
    this decides, and `points` says whether an attempt tells its line.
    """

    lines: int
    files: int = 1
    wrong: frozenset[int] = frozenset()
    needed: frozenset[int] = frozenset()
    due: frozenset[int] = frozenset()
    idle: frozenset[int] = frozenset()
    points: bool = True

    def fix(self, without: frozenset[Place]) -> Fixed:
        """As `linter.run.fixing.fix` does it; a line that is fixed reads ``+``, any other ``-``."""
        places = [self.place(number) for number in range(self.lines)]
        applied = [place for place in places if place not in without]
        files = []
        for name in sorted({place.path for place in places}):
            here = [place for place in places if place.path == name]
            now = "".join("+\n" if place in applied else "-\n" for place in here)
            file = FixedFile(name, os.path.join(ROOT, name), b"-\n" * len(here), now.encode())
            files += [file] if file.now != file.before else []
        fixes = tuple(AppliedFix(FINDING, place, place.line, 1) for place in applied)
        return Fixed(result_of(), tuple(files), (), fixes, {place: (place.line, 1) for place in places})

    def place(self, number: int) -> Place:
        return Place(f"{number % self.files}.py", "TF101", None, number // self.files + 1, 1)

    def run(self, files: Mapping[str, bytes]) -> Attempt:
        """What it does with these files."""
        fixed = {number for number in range(self.lines) if self._is_fixed(number, files)}
        everything = {self._at(number): number for number in range(self.lines)}
        for place, number in everything.items():
            crashes = number in self.needed - fixed
            if crashes or number in (self.wrong & fixed) | (self.due - fixed):
                lines = self._lines(number if crashes else self.lines)
                how = "raises" if crashes else "differs" if number in fixed else "differed"
                value, places = "" if crashes else f"value {number}", (place,) if self.points else ()
                return Attempt(False, not crashes, f"line {number} {how}", value, places, lines)
        return Attempt(True, True, lines=self._lines(self.lines))

    def _is_fixed(self, number: int, files: Mapping[str, bytes]) -> bool:
        path, line = self._at(number)
        return files.get(path, b"").split(b"\n")[line - 1 : line] == [b"+"]

    def _at(self, number: int) -> tuple[str, int]:
        place = self.place(number)
        return os.path.realpath(os.path.join(ROOT, place.path)), place.line

    def _lines(self, until: int) -> Mapping[str, tuple[frozenset[int], frozenset[int]]]:
        starts: dict[str, set[int]] = {}
        ran: dict[str, set[int]] = {}
        for number in range(self.lines):
            path, line = self._at(number)
            starts.setdefault(path, set()).add(line)
            ran.setdefault(path, set())
            if number <= until and number not in self.idle:
                ran[path].add(line)
        return {path: (frozenset(starts[path]), frozenset(ran[path])) for path in starts}


def proven(program: Program, runs: int = 200) -> Proven:
    return prove(program.fix, program.run, runs)


def numbers(program: Program, places: list[Place]) -> set[int]:
    return {number for number in range(program.lines) if program.place(number) in places}


def left(program: Program, found: Proven) -> set[int]:
    return numbers(program, [one.fix.place for one in found.harmful])


def kept(program: Program, found: Proven) -> set[int]:
    return numbers(program, [one.place for one in found.fixed.applied])


def test_one_run_proves_what_is_right() -> None:
    """Also where nothing runs without the fixes."""
    for program in (Program(9, 2), Program(9, 2, needed=frozenset({1, 5})), Program(9, 2, due=frozenset(range(9)))):
        found = proven(program)

        assert (set(range(9)), 1, "") == (kept(program, found), found.runs, found.why)


def test_what_does_not_run_is_not_proven() -> None:
    program = Program(5, idle=frozenset({1, 4}))
    found = proven(program)

    assert ({0, 2, 3}, 2) == (kept(program, found), found.runs)
    assert {1, 4} == numbers(program, [one.place for one in found.unreached])


@pytest.mark.parametrize("points", [True, False], ids=["pointed at", "searched for"])
def test_a_wrong_fix_is_found_among_many(points: bool) -> None:
    """By its line after two runs, else by a number of runs that grows as the logarithm."""
    for wrong in range(40):
        program = Program(40, 3, wrong=frozenset({wrong}), points=points)
        found = proven(program)

        assert {wrong} == left(program, found)
        assert [f"line {wrong} differs"] == [one.told for one in found.harmful]
        assert (set(range(40)) - {wrong}, "") == (kept(program, found), found.why)
        assert found.runs <= (2 if points else 14)


def test_every_wrong_fix_is_found_in_any_program() -> None:
    """The rest is kept, and was run as it is kept."""
    chance = random.Random(5)
    for _ in range(300):
        lines = chance.randint(2, 12)
        wrong = frozenset(chance.sample(range(lines), chance.randint(0, min(3, lines))))
        idle = frozenset(chance.sample(range(lines), chance.randint(0, 2))) - wrong
        program = Program(lines, chance.randint(1, 3), wrong, idle=idle, points=chance.random() < 0.5)
        found = proven(program)

        assert wrong == left(program, found), program
        assert set(range(lines)) - wrong - idle == kept(program, found), program
        assert program.run({os.path.realpath(file.path): file.now for file in found.fixed.files}).holds


@pytest.mark.parametrize(("kind", "points"), [("needed", True), ("due", True), ("due", False)])
def test_a_wrong_fix_of_what_is_wrong_itself(kind: str, points: bool) -> None:
    """It is found by its line or its value, and nothing is proven as long as that is not mended otherwise."""
    program = Program(6, wrong=frozenset({3}), points=points, **{kind: frozenset({1, 3})})
    found = proven(program)

    assert ({3}, set()) == (left(program, found), kept(program, found))
    word = "raises" if kind == "needed" else "differed"
    assert f"the finding of TF101 in line 4 has to be mended first: line 3 {word}" == found.why
    assert ["line 3 differs", f"line 3 {word}"] == [found.harmful[0].told, found.harmful[0].without]


def test_what_no_fix_explains_proves_nothing() -> None:
    """A program that does not run with any of them."""

    def run(files: Mapping[str, bytes]) -> Attempt:
        return Attempt(False, False, "no data")

    program = Program(4)
    found = prove(program.fix, run)

    assert ((), set(), "no data") == (found.harmful, kept(program, found), found.why)
    assert not found.fixed.files


def test_runs_are_limited() -> None:
    program = Program(40, wrong=frozenset({20}), points=False)
    found = proven(program, 3)

    assert ("3 runs were not enough to find which fix changes it", 3) == (found.why, found.runs)
    assert set() == kept(program, found)


def test_the_lines_of_a_statement_are_its_own() -> None:
    """A fix in the third line of a call ran if the call did; one in a file that was not loaded did not."""
    ran = Attempt(True, True, lines={"a": (frozenset({2, 7}), frozenset({2}))})

    assert [True, True, True, False] == [ran.reached("a", line) for line in (1, 2, 6, 8)]
    assert not ran.reached("b", 1)
    assert (2, 7, 1) == tuple(ran.statement("a", line) for line in (4, 9, 1))
