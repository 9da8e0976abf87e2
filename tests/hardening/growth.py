"""Whether what linting costs grows with the code, and not with its square: shapes of code, each at sizes that double.

`run` measures processor time up to 4,000. The short test counts lines that are executed, which no busy machine
disturbs: a square shows in the counts of three small sizes, long before it costs anything.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from .shapes import SHAPES, Shape

if TYPE_CHECKING:
    from .tally import Tally

BOUND = 2.6
"""How much more twice as much code may cost."""

LARGEST = 4_000
FORMATS = ("text", "json", "sarif", "html", "junit", "gitlab", "github", "concise", "rdjson", "azure")
_SECONDS = 60
"""Of a processor, after which a measurement ends: far more than any shape takes."""
_NOISE = 0.05
"""Seconds; less is not a measure of anything."""


def small(shape: Shape) -> int:
    """The size from which the counts of a shape begin."""
    return 40 if shape.scale == 1 else max(200 // shape.scale, 4)


def predicted(name: str, counts: list[int]) -> float:
    """How much more the largest size of a shape would cost than its half: by a parabola through its counts."""
    one, two, four = counts
    n, largest = small(SHAPES[name]), LARGEST // SHAPES[name].scale
    square = max((four - 3 * two + 2 * one) / (6 * n * n), 0.0)
    linear = (two - one) / n - 3 * square * n
    constant = one - linear * n - square * n * n

    def cost(size: int) -> float:
        return constant + linear * size + square * size * size

    return cost(largest) / cost(largest // 2)


def _in_child(measure: Callable[[], Any]) -> Any:
    """What `measure` gives in a copy of this process, which leaves no trace in it; None if that died."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(measure()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def _write(folder: Path, name: str, n: int) -> None:
    (folder / "setup.py").write_text("")
    for path, text in SHAPES[name].files(n).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def _lint(folder: Path) -> Any:
    from migrate_lint.linter.run.pipeline import lint
    from migrate_lint.linter.settings.config import Config

    return lint([str(folder)], Config(base=str(folder), target="keras3"))


def _counted(folder: Path) -> int:
    """The lines of Python that linting a folder executes."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        _lint(folder)
    finally:
        sys.settrace(None)
    return count


def _timed(folder: Path) -> dict[str, Any]:
    """Seconds of a processor, of linting a folder and of each report; and what was said of the tool itself."""
    import resource

    from migrate_lint.linter.reporters import Paint
    from migrate_lint.linter.reporters.formats import module_of

    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    begin = time.process_time()
    result = _lint(folder)
    times = {"lint": time.process_time() - begin}
    for name in FORMATS:
        report = module_of(name).report
        begin = time.process_time()
        for _ in report(result, Paint(False)):
            pass
        times[name] = time.process_time() - begin
    return {"times": times, "broken": [f.message for f in result.findings if f.code == "TF909"]}


def _of(name: str, n: int, measure: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), name, n)
        return _in_child(lambda: measure(Path(folder)))


def _warm_up() -> None:
    """Import what all measurements would."""
    for name in ("layers", "cells"):
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), name, 3)
            _lint(Path(folder))
            _timed(Path(folder))


def counts() -> Iterator[tuple[str, list[int]]]:
    """What the shapes cost, in lines that are executed: each at a small size, twice that, and four times."""
    _warm_up()
    for name, shape in SHAPES.items():
        if shape.is_counted:
            yield name, [_of(name, times * small(shape), _counted) or 0 for times in (1, 2, 4)]


def _ratios(name: str) -> Iterator[str]:
    """What grows faster than it may."""
    largest = LARGEST // SHAPES[name].scale
    half, whole = _of(name, largest // 2, _timed), _of(name, largest, _timed)
    if half is None or whole is None:
        yield f"{name}: it died, or took more than {_SECONDS} s"
        return
    yield from (f"{name}: {message}" for message in whole["broken"][:1])
    for part, seconds in whole["times"].items():
        if seconds > max(half["times"][part], _NOISE) * BOUND:
            yield f"{name}: {part} takes {half['times'][part]:.2f} s and, doubled, {seconds:.2f} s"


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """Measure shapes in an order of their own until the time is up; what grows too fast is measured three times."""
    _warm_up()
    order = random.Random(seed)
    while not until():
        for name in order.sample(sorted(SHAPES), len(SHAPES)):
            if until():
                return
            tally.tried("growth")
            if all((found := list(_ratios(name))) for _ in range(3)):
                for detail in found:
                    tally.failed("growth", detail)


if __name__ == "__main__":
    print(json.dumps(dict(counts())))
