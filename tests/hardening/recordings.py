"""Recordings of verify: documents and archives of a real run, damaged, then compared, shown and made a test of."""

from __future__ import annotations

import ast
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from migrate_lint.runtime_checks.comparison.reporters import FORMATS

from ..runtime_checks.verify.programs import CLEAN, Program, record
from . import documents
from .commands import judged, ran
from .mutations import damaged
from .tally import Tally

WEIGHT = 1.5

_PLANTED = "PWNED"
"""What hostile texts would do, if they were taken for code."""


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """One file of a run at a time."""
    random = Random(seed)
    top = Path(tempfile.mkdtemp(prefix="recordings-"))
    whole = recorded(top / "whole")
    files = sorted(path for path in whole.rglob("*") if path.is_file())
    small = [path for path in files if path.suffix == ".json"]
    folder = top / "run"
    while not until():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        hit = random.choice(small if random.random() < 0.8 else files)
        if random.random() < 0.3:
            hit = whole / random.choice(("run.json", "tf1/record.json", "tf2/record.json"))
        path = folder / hit.relative_to(whole)
        if path.suffix == ".json":
            data = documents.written(random, json.loads(hit.read_bytes()))
        else:
            data = damaged(random, hit.read_bytes())
        if random.random() < 0.02:
            path.unlink()
        else:
            path.write_bytes(data)
        problem, seconds = _problem(random, folder)
        judged(tally, "recordings", f"{path.relative_to(folder)}\n".encode() + data, problem, seconds)


def recorded(folder: Path) -> Path:
    """The folder of a run in which both sides agree."""
    record(Program(steps=1), folder / "tf1")
    record(Program(**{**vars(CLEAN), "steps": 1}), folder / "tf2")
    asked = {
        "format": 1,
        "pair": "/p/pair.py",
        "attribute": "pair",
        "until": None,
        "policy": "noise",
        "steps": 1,
        "seed": 42,
    }
    (folder / "run.json").write_text(json.dumps(asked))
    return folder


def _problem(random: Random, folder: Path) -> tuple[str, float]:
    compared = ran("verify", "--compare", str(folder), "--output-format", random.choice(FORMATS))
    generated = ran("verify", "--gen-test", str(folder))
    problem = compared.wrong(0, 1, 2, 3, 4) or generated.wrong(0, 2)
    if not problem and generated.status == 0:
        problem = "; ".join(_planted(generated.output))
    return problem, max(compared.seconds, generated.seconds)


def _planted(text: str) -> Iterator[str]:
    """Where the text of a test is not only data."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        yield f"the test is no Python: {error}"
        return
    for node in ast.walk(tree):
        names = [getattr(node, name, None) for name in ("id", "attr", "arg", "name")]
        if _PLANTED in names or (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "system"):
            yield f"a recorded text is code in line {getattr(node, 'lineno', 0)}"
