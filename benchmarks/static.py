"""What static analysis costs, against the bars that the project holds itself to.

    python benchmarks/static.py

compares CPU seconds of whole child processes on the files of tensor2tensor 1.15.7: the engine, a bare
`libcst.parse_module` of every file, TorchFix and TensorFlow's own tf_upgrade_v2; then a warm run, one file from an
editor, what fixes cost beside linting, and trees of 400, 4,000 and 40,000 generated files.
The corpus and the two other programs are downloaded into a temporary folder, or reused with --corpus and --venv.
Contenders take turns and each figure is a median; a machine that is busy changes CPU seconds less than wall time.
The exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import ast
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CORPUS = "tensor2tensor==1.15.7"
TENSORFLOW = "tensorflow" if sys.platform == "darwin" else "tensorflow-cpu"

BARE_PARSE = """
import sys
from pathlib import Path
import libcst
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    try:
        libcst.parse_module(path.read_bytes())
    except Exception as error:
        print(path, type(error).__name__)
"""


@dataclass(frozen=True)
class Cost:
    """One child process and those it waited for: CPU seconds, and the peak of the largest one in MB."""

    cpu: float
    peak: float
    status: int
    error: str


def measure(
    command: Sequence[str], folder: Path, environment: dict[str, str] | None = None, text: str | None = None
) -> Cost:
    """Run a command with its output thrown away."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
        given.write((text or "").encode())
        given.seek(0)
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_installed(os.environ) | (environment or {}),
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        error = errors.read().decode(errors="replace")
    # Linux counts the peak in KB, macOS in bytes.
    peak = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return Cost(used.ru_utime + used.ru_stime, peak, process.returncode, error)


def _installed(environment: Mapping[str, str]) -> dict[str, str]:
    """What an installed program runs in: its modules are compiled once, not at every start."""
    return {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass
class Bench:
    python: str
    engine: list[str]
    folder: Path
    runs: int
    missed: bool = False
    broken: set[str] = field(default_factory=set)

    def fact(self, name: str, text: str) -> None:
        print(f"{name:<48} {text}", flush=True)

    def bar(self, name: str, figure: float | None, limit: float, form: Callable[[float], str], detail: str) -> None:
        """Print a figure beside the most that it may be."""
        met = figure is not None and figure <= limit
        self.missed |= not met
        shown = "none" if figure is None else form(figure)
        print(f"{name:<48} {shown:>9}  bar {form(limit):>8}  {'pass' if met else 'FAIL'}  {detail}", flush=True)

    def run(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        allowed: Sequence[int] = (0,),
        environment: dict[str, str] | None = None,
        text: str | None = None,
    ) -> Cost:
        """Measure a command, and say on which status it ended if that is not allowed."""
        start = time.monotonic()
        cost = measure(command, folder, environment, text)
        say(f"{name}: {cost.cpu:.3f} s CPU, {time.monotonic() - start:.1f} s wall, {cost.peak:.0f} MB")
        if cost.status not in allowed or "Traceback (most recent call last)" in cost.error:
            self.broken.add(name)
            say(f"{name}: status {cost.status}\n{cost.error[-2000:]}")
        return cost

    def lint(
        self,
        name: str,
        folder: Path,
        *arguments: str,
        environment: dict[str, str] | None = None,
        text: str | None = None,
    ) -> Cost:
        """Run the engine as a user would, in a format that shows no fixes; findings are its success."""
        command = [*self.engine, "check", "--jobs", "1", "--output-format", "concise", *arguments]
        return self.run(name, command, folder, (0, 1), environment, text)

    def environment(self, cache: Path) -> dict[str, str]:
        """Put the user's cache folder into `cache`."""
        cache.mkdir(mode=0o700, exist_ok=True)
        return {"XDG_CACHE_HOME": str(cache)}


def middle(costs: Sequence[Cost]) -> float:
    return statistics.median(cost.cpu for cost in costs)


def ratio(value: float) -> str:
    return f"{value:.3f} x"


def percent(value: float) -> str:
    return f"{value * 100:.1f} %"


def megabytes(value: float) -> str:
    return f"{value:.0f} MB"


def number(value: float) -> str:
    return f"{value:.0f}"


def copy_corpus(bench: Bench, given: Path | None) -> Path:
    """Lay the corpus below a project root of its own, so that nothing around it is indexed."""
    if given is None:
        say(f"downloading {CORPUS}")
        wheels = bench.folder / "wheels"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels), CORPUS]
        subprocess.run(command, check=True, stdout=sys.stderr)
        given = bench.folder / "download"
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            wheel.extractall(given)
    root = bench.folder / "corpus"
    for path in sorted(given.rglob("*.py")):
        copy = root / path.relative_to(given)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    (root / "pyproject.toml").touch()
    return root


def find_program(bench: Bench, venvs: Sequence[Path], program: str, package: str) -> Path | None:
    """Find a program in the given environments, or install it into one of our own."""
    for venv in venvs:
        if (venv / "bin" / program).exists():
            return venv / "bin" / program
    own = bench.folder / "venv" if not venvs else venvs[0]
    say(f"installing {package} into {own}")
    if not (own / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(own)], check=True)
    pip = [str(own / "bin" / "python"), "-m", "pip", "install", "--quiet", package]
    if subprocess.run(pip, check=False, stdout=sys.stderr).returncode:
        return None
    return own / "bin" / program


def parses(path: Path) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def measure_corpus(bench: Bench, corpus: Path) -> tuple[float, float]:
    """Compare the cold engine with the bare parse; return the medians of both."""
    engine, bare = [], []
    for run in range(bench.runs):
        engine.append(bench.lint(f"engine, cold {run + 1}", corpus, "--no-cache", str(corpus)))
        bare.append(bench.run(f"bare parse {run + 1}", [bench.python, "-c", BARE_PARSE, str(corpus)], corpus))
    cold, parse = middle(engine), middle(bare)
    detail = f"engine {cold:.2f} s, libcst.parse_module of all files {parse:.2f} s"
    sound = not any(name.startswith("engine, cold") for name in bench.broken)
    bench.bar("cold run / bare parse", cold / parse if sound else None, 0.65, ratio, detail)
    peak = max(cost.peak for cost in engine)
    bench.bar("peak memory, cold run", peak if sound else None, 300, megabytes, "")
    return cold, parse


def measure_others(bench: Bench, corpus: Path, venvs: Sequence[Path], runs: int, cold: float) -> None:
    """Compare with the two nearest programs on the same text."""
    torchfix = find_program(bench, venvs, "torchfix", "torchfix")
    upgrade = find_program(bench, venvs, "tf_upgrade_v2", TENSORFLOW)
    marked, readable = bench.folder / "marked", bench.folder / "readable"
    left_out = 0
    for path in sorted(corpus.rglob("*.py")):
        # TorchFix skips a file without the word "torch": a comment makes it look at all of them.
        copy = marked / path.relative_to(corpus)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes() + b"\n# torch\n")
        # tf_upgrade_v2 ends at a file that it cannot parse.
        if parses(path):
            copy = readable / path.relative_to(corpus)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        else:
            left_out += 1
    cost: dict[str, list[Cost]] = {"TorchFix": [], "tf_upgrade_v2": []}
    for run in range(runs):
        if torchfix is not None:
            command = [str(torchfix), "--jobs", "1", str(marked)]
            cost["TorchFix"].append(bench.run(f"TorchFix {run + 1}", command, marked, (0, 1)))
        if upgrade is not None:
            out = bench.folder / f"upgraded{run}"
            command = [str(upgrade), "--intree", str(readable), "--outtree", str(out)]
            command += ["--reportfile", str(bench.folder / "report.txt")]
            cost["tf_upgrade_v2"].append(bench.run(f"tf_upgrade_v2 {run + 1}", command, bench.folder))
            shutil.rmtree(out, ignore_errors=True)
    notes = {
        "TorchFix": "the comment '# torch' added to each file, which it skips otherwise",
        "tf_upgrade_v2": f"{left_out} files left out that it cannot parse",
    }
    for name, limit in (("TorchFix", 1 / 20), ("tf_upgrade_v2", 1 / 3)):
        sound = cost[name] and not any(broken.startswith(f"{name} ") for broken in bench.broken)
        figure = cold / middle(cost[name]) if sound else None
        detail = f"{middle(cost[name]):.1f} s; {notes[name]}" if cost[name] else "could not be installed"
        bench.bar(f"cold run / {name}", figure, limit, ratio, detail)


def measure_warm(bench: Bench, corpus: Path, parse: float) -> None:
    """Measure a second run on unchanged files."""
    environment = bench.environment(bench.folder / "cache")
    filling = bench.lint("engine, filling the cache", corpus, str(corpus), environment=environment)
    costs = [
        bench.lint(f"engine, warm {run + 1}", corpus, str(corpus), environment=environment)
        for run in range(bench.runs + 2)
    ]
    sound = not any("warm" in name or "filling" in name for name in bench.broken)
    warm = middle(costs)
    detail = f"{warm:.3f} s; filling the cache {filling.cpu:.2f} s, {filling.peak:.0f} MB"
    bench.bar("warm run / bare parse", warm / parse if sound else None, 0.03, percent, detail)
    listed = bench.lint(
        "engine, warm, listing imports",
        corpus,
        str(corpus),
        environment=environment | {"PYTHONPROFILEIMPORTTIME": "1"},
    )
    names = [line.rpartition("|")[2].strip() for line in listed.error.splitlines() if line.startswith("import time:")]
    parser = [name for name in names if name.partition(".")[0] == "libcst"]
    imported = len(parser) if names and sound else None
    bench.bar("warm run: modules of libcst imported", imported, 0, number, f"of {len(names)} in all")


def measure_editor(bench: Bench, corpus: Path) -> None:
    """Measure an edited buffer of one file while the rest is in the cache."""
    environment = bench.environment(bench.folder / "cache")
    of_tensorflow = [path for path in corpus.rglob("*.py") if "tensorflow" in path.read_text(encoding="utf-8")]
    by_size = sorted(of_tensorflow, key=lambda path: (path.stat().st_size, path))
    chosen = {"median": by_size[len(by_size) // 2], "largest": by_size[-1]}
    costs: dict[str, list[Cost]] = {"import": [], "median": [], "largest": []}
    for run in range(bench.runs + 2):
        costs["import"].append(bench.run("import libcst", [bench.python, "-c", "import libcst"], corpus))
        for name, path in chosen.items():
            text = path.read_text(encoding="utf-8") + f"\nedited = {run}\n"
            arguments = ["-", "--stdin-filename", str(path)]
            costs[name].append(
                bench.lint(f"engine, editor, {name} file", corpus, *arguments, environment=environment, text=text)
            )
    base = middle(costs["import"])
    for name, path in chosen.items():
        size = path.stat().st_size / 1000
        figure = middle(costs[name]) / base
        detail = f"{middle(costs[name]):.3f} s, import {base:.3f} s; {path.name}, {size:.0f} kB"
        if name == "median":
            sound = not any("editor" in broken for broken in bench.broken)
            bench.bar("editor, median TensorFlow file / import libcst", figure if sound else None, 2, ratio, detail)
        else:
            bench.fact("editor, largest file / import libcst (no bar)", f"{ratio(figure):>9}  {detail}")


PLAIN = '''"""Records of kind {n}."""

import json
from dataclasses import dataclass

{relative}

LIMIT = {n}


@dataclass
class Record{n}:
    name: str
    values: list[float]

    def total(self) -> float:
        return sum(value for value in self.values if value < LIMIT)

    def describe(self, width: int = 10) -> str:
        return "%s: %.2f" % (self.name.ljust(width), self.total())


def read_{n}(path: str) -> list[Record{n}]:
    records = []
    with open(path) as file:
        for row in json.load(file):
            if not row.get("name"):
                continue
            records.append(Record{n}(row["name"], [float(value) for value in row.get("values", [])]))
    return sorted(records, key=lambda record: record.total())


def largest_{n}(records, count=3):
    best = {{}}
    for record in records:
        try:
            best[record.name] = max(best.get(record.name, 0.0), record.total())
        except ValueError as error:
            print("skipped", record, error)
    return [name for name, _ in sorted(best.items(), key=lambda item: -item[1])][:count]
'''

TENSORFLOW_MODULE = '''"""Network {n}."""

import numpy as np
import tensorflow as tf

{relative}

FLAGS = tf.flags.FLAGS


def dense_{n}(inputs, units, name):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        kernel = tf.get_variable("kernel", [inputs.shape[-1].value, units])
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
        return tf.nn.relu(tf.matmul(inputs, kernel) + bias)


class Network{n}(tf.keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight("scale", shape[-1:])

    def call(self, inputs, training=False):
        hidden = tf.layers.dense(inputs, {n} % 64 + 1)
        hidden = tf.layers.batch_normalization(hidden, training=training)
        if tf.reduce_sum(hidden) > 0:
            hidden = tf.nn.dropout(hidden, keep_prob=0.5)
        return hidden * self.scale


def train_{n}(features, steps=100):
    inputs = tf.placeholder(tf.float32, [None, features])
    loss = tf.reduce_mean(tf.square(dense_{n}(inputs, 8, "first")), axis=0)
    step = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_sum(loss))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(step, {{inputs: np.random.rand(4, features)}})
'''


def generate(root: Path, count: int) -> None:
    """Write a project of `count` modules, a hundred to a package, of which a tenth import TensorFlow.

    Each module imports one before it: plain ones a plain one, the others another of TensorFlow.
    """
    root.mkdir()
    (root / "pyproject.toml").touch()
    for n in range(count):
        package = root / f"package{n // 100}"
        if n % 100 == 0:
            package.mkdir()
            (package / "__init__.py").touch()
        reaches = n % 10 == 0
        earlier = n - 10 if reaches else n - 1 - (n % 10 == 1)
        relative = ""
        if earlier > 0:
            name = "dense" if reaches else "read"
            relative = f"from package{earlier // 100}.module{earlier} import {name}_{earlier} as earlier"
        text = (TENSORFLOW_MODULE if reaches else PLAIN).format(n=n, relative=relative)
        (package / f"module{n}.py").write_text(text, encoding="utf-8")


def measure_growth(bench: Bench, counts: Sequence[int]) -> None:
    """Measure trees of growing size."""
    each: list[float] = []
    for count in counts:
        root = bench.folder / f"tree{count}"
        generate(root, count)
        runs = bench.runs if count < 10_000 else 1
        costs = [bench.lint(f"engine, {count} files", root, "--no-cache", str(root)) for _ in range(runs)]
        shutil.rmtree(root)
        sound = f"engine, {count} files" not in bench.broken
        each.append(middle(costs) / count)
        detail = f"{middle(costs):.2f} s, {each[-1] * 1000:.2f} ms a file"
        bench.bar(
            f"peak memory, {count:,} files", max(cost.peak for cost in costs) if sound else None, 300, megabytes, detail
        )
        if len(each) > 1:
            name = f"CPU a file, {count:,} files / {counts[len(each) - 2]:,}"
            bench.bar(name, each[-1] / each[-2] if sound else None, 1.25, ratio, "1 is linear")


def measure_fixes(bench: Bench, count: int = 1_000) -> None:
    """Compare what fixes cost, beside linting before and after them, with the bare parse of the files they change."""
    ways = {"rule by rule": (), "through compat.v1": ("--via", "compat.v1")}
    for way, words in ways.items():
        figures, details = [], []
        for run in range(bench.runs):
            root = bench.folder / f"fixed{run}"
            generate(root, count)
            changed = bench.folder / "changed"
            for path in sorted(root.rglob("*.py")):
                if "tensorflow" in path.read_text(encoding="utf-8"):
                    (changed / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, changed / path.relative_to(root))
            caches = [bench.folder / f"cache of {name}" for name in ("linting", "a diff", "writing")]
            first, second, third = map(bench.environment, caches)
            command = [*bench.engine, "check", "--jobs", "1", *words, str(root)]
            before = bench.lint(f"fixes, {way}, linting", root, str(root), environment=first)
            fixing = bench.run(f"fixes, {way}", [*command, "--diff"], root, (0, 1), environment=second)
            bench.run(f"fixes, {way}, writing", [*command, "--fix-only"], root, (0, 1), environment=third)
            after = bench.lint(f"fixes, {way}, linting again", root, str(root), environment=first)
            bare = bench.run(f"fixes, {way}, bare parse", [bench.python, "-c", BARE_PARSE, str(changed)], root)
            figures.append((fixing.cpu - before.cpu - after.cpu) / bare.cpu)
            details.append(f"{fixing.cpu:.2f} - {before.cpu:.2f} - {after.cpu:.2f} s, bare parse {bare.cpu:.2f} s")
            for folder in (root, changed, *caches):
                shutil.rmtree(folder)
        sound = not any(name.startswith(f"fixes, {way}") for name in bench.broken)
        detail = details[figures.index(sorted(figures)[len(figures) // 2])]
        figure = statistics.median(figures) if sound else None
        bench.bar(f"fixes {way} / bare parse of their files", figure, 1.5, ratio, detail)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how often each figure is measured (default 3)")
    parser.add_argument("--other-runs", type=int, default=1, help="the same for TorchFix and tf_upgrade_v2 (default 1)")
    parser.add_argument("--skip-competitors", action="store_true", help="leave TorchFix and tf_upgrade_v2 out")
    parser.add_argument("--corpus", type=Path, help=f"a folder that holds {CORPUS}, unpacked")
    parser.add_argument(
        "--venv",
        type=Path,
        action="append",
        default=[],
        help="an environment with torchfix or TensorFlow; may be repeated; what is missing is installed into the first",
    )
    parser.add_argument("--quick", action="store_true", help="leave the 40,000 files out")
    parser.add_argument("--engine", help="the command to measure instead of `python -m migrate_lint`")
    arguments = parser.parse_args()

    for path in (arguments.corpus, *arguments.venv):
        if path is not None and not path.is_dir():
            parser.error(f"no such folder: {path}")
    engine = shlex.split(arguments.engine) if arguments.engine else [sys.executable, "-m", "migrate_lint"]
    with tempfile.TemporaryDirectory(prefix="migrate-lint-benchmark-") as folder:
        bench = Bench(sys.executable, engine, Path(folder).resolve(), arguments.runs)
        corpus = copy_corpus(bench, arguments.corpus and arguments.corpus.resolve())
        texts = [path.read_bytes() for path in corpus.rglob("*.py")]
        lines, size = sum(text.count(b"\n") for text in texts), sum(map(len, texts))
        bench.fact("Python", f"{sys.version.split()[0]} on {sys.platform}, {os.cpu_count()} processors")
        bench.fact("corpus", f"{len(texts)} files, {lines:,} lines, {size / 1e6:.1f} MB")
        del texts
        cold, parse = measure_corpus(bench, corpus)
        if arguments.skip_competitors:
            bench.fact("TorchFix, tf_upgrade_v2", "skipped")
        else:
            measure_others(bench, corpus, [venv.resolve() for venv in arguments.venv], arguments.other_runs, cold)
        measure_warm(bench, corpus, parse)
        measure_editor(bench, corpus)
        measure_fixes(bench)
        measure_growth(bench, (400, 4_000) if arguments.quick else (400, 4_000, 40_000))
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
