"""How many TF1 programs compute the same under TF2 once `--via compat.v1` has rewritten them, and by what else.

``python benchmarks/fixes.py FOLDER TF1_PYTHON [--only TEXT] [--columns NAMES] [--jobs N]``

FOLDER holds a folder for each repository of `fixes/programs.toml`, named ``owner+name``; TF1_PYTHON is a Python with
TF 1.15 and tf_slim. Each program is run by `fixes/observed.py`, which tells what to keep still, under TF 1.15 as it is
and under the TensorFlow of this interpreter after each way to rewrite it, and is held to have computed the same if all
numbers that its sessions gave, up to its end or the first twelve runs, agree within a thousandth.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from migrate_lint.linter.analysis.index import FileIndex
from migrate_lint.linter.analysis.project import Project
from migrate_lint.linter.analysis.summary import summarize
from migrate_lint.linter.finding import Target
from migrate_lint.linter.fixing.compat_v1 import converted
from migrate_lint.linter.rule_api.model import File
from migrate_lint.linter.source.parsing import SourceFile

HERE = Path(__file__).parent / "fixes"
RUNS = 12
REPEATED = 3
"""Runs that a program has to repeat under TF 1.15, to be compared as far as it does."""
SECONDS = 240
LARGEST = 1_000_000
"""Bytes of a file that is copied with a program."""
Outcome = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """A script of a repository; `data` are the paths of made-up data, each with its kind."""

    repository: str
    folder: str
    script: str
    words: tuple[str, ...]
    data: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """What the table calls it."""
        return " ".join(["/".join(filter(None, (self.repository, self.folder, self.script))), *self.words])


def programs(only: str) -> Iterator[Program]:
    """Those of the list whose names hold one of some texts, which commas separate."""
    for row in tomllib.loads((HERE / "programs.toml").read_text(encoding="utf-8"))["program"]:
        words, data = tuple(row.get("words", ())), tuple(row.get("data", {}).items())
        for script in row["scripts"]:
            program = Program(row["repository"], row.get("folder", ""), script, words, data)
            if any(text in program.name for text in only.split(",")):
                yield program


def _text(path: Path) -> None:
    """Sentences of made-up words."""
    numbers = random.Random(3)
    words = ["".join(numbers.choice("abcdefghij") for _ in range(numbers.randrange(2, 7))) for _ in range(60)]
    lines = (" ".join(numbers.choice(words) for _ in range(12)) + ".\n" for _ in range(3_000))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


def _mnist(folder: Path) -> None:
    """The files of MNIST, with noise in them."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = random.Random(4)
    for part, count in (("train", 60_000), ("t10k", 10_000)):
        image = numbers.randbytes(28 * 28 * 100)
        labels = bytes(numbers.randrange(10) for _ in range(count))
        for name, data in (("images-idx3", bytes(16) + image * (count // 100)), ("labels-idx1", bytes(8) + labels)):
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(data, 1))


MADE: dict[str, Callable[[Path], None]] = {"text": _text, "mnist": _mnist}


def copied(program: Program, source: Path, folder: Path) -> None:
    """A program with what lies beside it, and the data that is made up for it."""
    for name, kind in program.data:
        MADE[kind](folder / name)
    for path in source.rglob("*"):
        if path.is_file() and path.stat().st_size < LARGEST:
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def run(python: str, folder: Path, program: Program, **variables: str) -> Outcome:
    """What a script computed: how it ended, and the numbers of each run of a session."""
    out = folder / "observed.json"
    command = [python, str(HERE / "observed.py"), str(out), str(RUNS), str(folder / program.script), *program.words]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    quiet["TF_ENABLE_ONEDNN_OPTS"] = "0"  # TF 1.15 has no kernels of oneDNN, which round otherwise
    try:
        done = subprocess.run(
            command,
            check=False,
            env={**os.environ, **quiet, **variables},
            capture_output=True,
            timeout=SECONDS,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        return {"end": f"more than {SECONDS} seconds", "seen": []}
    if not out.exists():
        return {"end": done.stderr.decode(errors="replace")[-300:], "seen": []}
    outcome: Outcome = json.loads(out.read_text())
    return outcome


def distances(one: Outcome, other: Outcome) -> Iterator[tuple[float, str]]:
    """How far apart two programs are in each run that both made, in tolerances of a thousandth, and in which number."""
    for number, (left, right) in enumerate(zip(one["seen"], other["seen"], strict=False)):
        flat = [x for part in left for x in part], [x for part in right for x in part]
        if len(flat[0]) != len(flat[1]):
            yield math.inf, f"run {number}: other shapes"
            continue
        farthest = 0.0, ""
        for a, b in zip(*flat, strict=True):
            if not (a == b or (math.isnan(a) and math.isnan(b))):
                distance = abs(a - b) / (1e-3 * max(abs(a), abs(b)) + 1e-5)
                distance = math.inf if math.isnan(distance) else distance
                farthest = max(farthest, (distance, f"run {number}: {a:.6g} became {b:.6g}"))
        yield farthest


def difference(one: Outcome, other: Outcome, noise: Sequence[float] = ()) -> str:
    """How two programs differ; empty where they do not.

    Args:
        one: what a program did under TF 1.15.
        other: what it did when it was rewritten.
        noise: the tolerances by which it differs from itself under TF 1.15, run by run. Ten times as much is allowed,
            and nothing is compared from where that is more than one.
    """
    for number, (distance, text) in enumerate(distances(one, other)):
        floor = max(noise[: number + 1], default=0.0)
        if floor > 1:
            return ""
        if distance > max(1.0, 10 * floor):
            return text
    if other["end"] != one["end"]:
        return str(other["end"]).replace("\n", " ")[:160]
    return "" if len(one["seen"]) == len(other["seen"]) else f"{len(other['seen'])} runs, not {len(one['seen'])}"


def texts_of(folder: Path) -> dict[str, str]:
    """The modules of a program that Python 3 can read."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        try:
            text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
            ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        found[path.relative_to(folder).as_posix()] = text
    return found


def by_us(folder: Path) -> None:
    """Rewrite a program with migrate-lint."""
    texts = texts_of(folder)
    indexes = {key: FileIndex(ast.parse(text)) for key, text in texts.items()}
    project = Project({key: summarize(index) for key, index in indexes.items()})
    for key, index in indexes.items():
        file = File(SourceFile(folder / key, key, texts[key], ""), key, index, project, Target.KERAS2)
        (folder / key).write_text(converted(file).text, encoding="utf-8")


_SWITCH = "tf.disable_v2_behavior()"
_CONTRIB = {
    r"from tensorflow\.contrib import rnn\b": "from tensorflow.compat.v1.nn import rnn_cell as rnn",
    r"from tensorflow\.contrib import slim\b": "import tf_slim as slim",
    r"import tensorflow\.contrib\.slim as slim\b": "import tf_slim as slim",
    r"import tensorflow\.contrib\.layers as layers\b": "import tf_slim as layers",
    r"\btf\.contrib\.rnn\.static_rnn\b": "tf.nn.static_rnn",
    r"\btf\.contrib\.rnn\b": "tf.nn.rnn_cell",
    r"\btf\.contrib\.layers\.xavier_initializer\b": "tf.glorot_uniform_initializer",
    r"\btf\.contrib\.layers\.flatten\b": "tf.layers.flatten",
    r"\btf\.contrib\.slim\b": "__import__('tf_slim')",
    r"\btf\.contrib\.layers\b": "__import__('tf_slim')",
}


def _each(folder: Path, change: Callable[[str], str]) -> None:
    for key, text in texts_of(folder).items():
        (folder / key).write_text(change(text), encoding="utf-8")


def _recipe(text: str) -> str:
    return re.sub(r"(?m)^([ \t]*)import tensorflow as tf\b", rf"\1import tensorflow.compat.v1 as tf\n\1{_SWITCH}", text)


def by_recipe(folder: Path) -> None:
    """Rewrite a program by the two lines that the documentation of TensorFlow gives."""
    _each(folder, _recipe)


def by_recipe_and_contrib(folder: Path) -> None:
    """The same, with ten names of contrib taken from elsewhere, as people do who have read what took its place."""

    def change(text: str) -> str:
        for old, new in _CONTRIB.items():
            text = re.sub(old, new, text)
        return _recipe(text)

    _each(folder, change)


_ONE_PROCESS = """
import sys
from tensorflow.tools.compatibility.tf_upgrade_v2_main import main

mode, *paths = sys.argv[1:]
for path in paths:
    sys.argv[1:] = ["--mode", mode, "--infile", path, "--outfile", path + ".new", "--reportfile", "/dev/null"]
    try:
        main()
    except Exception as error:
        print(path, repr(error))
"""


def by_tool(folder: Path, mode: str = "DEFAULT", names: Iterable[str] | None = None) -> None:
    """Rewrite a program, or some files, with tf_upgrade_v2 as it is called without a mode, in one process."""
    paths = [folder / name for name in names or texts_of(folder)]
    subprocess.run(
        [sys.executable, "-c", _ONE_PROCESS, mode, *paths],
        check=True,
        capture_output=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    for path in paths:
        if Path(f"{path}.new").exists():
            os.replace(f"{path}.new", path)


def by_tool_and_a_line(folder: Path) -> None:
    """The same in its mode SAFETY, which renames the import, with the line below it that switches TF2 off."""
    by_tool(folder, "SAFETY")
    imported = r"(?m)^([ \t]*)(import tensorflow\.compat\.v1 as tf)\b"
    _each(folder, lambda text: re.sub(imported, rf"\1\2\n\1{_SWITCH}", text))


_LEGACY = {"TF_USE_LEGACY_KERAS": "1"}
WAYS: dict[str, tuple[Callable[[Path], None], dict[str, str]]] = {
    "tf_upgrade_v2": (by_tool, _LEGACY),
    "tf_upgrade_v2 and a line": (by_tool_and_a_line, _LEGACY),
    "recipe": (by_recipe, _LEGACY),
    "recipe and contrib": (by_recipe_and_contrib, _LEGACY),
    "migrate-lint": (by_us, {}),
}


def row(corpus: Path, python: str, columns: list[str], program: Program) -> tuple[Outcome, dict[str, str]]:
    """What a program did under TF 1.15, and how each way differs from that.

    One that differs is run under TF 1.15 again, at last with inputs that are larger by a millionth: see `difference`.
    A program that does not repeat itself there in its first runs is not compared.
    """
    source = corpus / program.repository / program.folder
    with tempfile.TemporaryDirectory() as base:

        def before(name: str, **variables: str) -> Outcome:
            copied(program, source, Path(base) / name)
            return run(python, Path(base) / name, program, **variables)

        first = before("tf1")
        if first["end"] not in ("finished", "enough"):
            return first, {}
        done = {}
        for way in columns:
            folder = Path(base) / way
            copied(program, source, folder)
            WAYS[way][0](folder)
            done[way] = run(sys.executable, folder, program, **WAYS[way][1])
        found = {way: difference(first, outcome) for way, outcome in done.items()}
        if any(text.startswith("run ") for text in found.values()):
            noise = [0.0] * len(first["seen"])
            for name, variables in (("second", {}), ("third", {}), ("nudged", {"OBSERVED_NUDGE": "1"})):
                for number, (distance, text) in enumerate(distances(first, before(name, **variables))):
                    if distance > 1 and number < REPEATED:
                        return {"end": f"does not repeat itself: {text}"}, {}
                    noise[number] = max(noise[number], distance)
            found = {way: difference(first, outcome, noise) for way, outcome in done.items()}
    return first, found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("python")
    parser.add_argument("--only", default="")
    parser.add_argument("--columns", default=",".join(WAYS))
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    columns = asked.columns.split(",")
    counts = dict.fromkeys(columns, 0)
    ran = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        rows = {pool.submit(row, asked.folder, asked.python, columns, one): one.name for one in programs(asked.only)}
        for done in as_completed(rows):
            before, found = done.result()
            if not found:
                print(f"{rows[done]}: not compared, under TF 1.15: {before['end']!s:.120}", flush=True)
                continue
            ran += 1
            for way in columns:
                counts[way] += not found[way]
            print(f"{rows[done]}: " + " | ".join(f"{way}: {found[way] or 'equal'}" for way in columns), flush=True)
    for way in columns:
        print(f"{way}: {counts[way]} of {ran} programs compute the same")


if __name__ == "__main__":
    main()
