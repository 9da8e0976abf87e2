"""What the plugin adds to pylint, in units of importing libcst.

    python benchmarks/pylint_plugin.py [FILE]

runs pylint as an editor does, on a buffer on standard input, with the plugin and without, in turns, and compares the
CPU seconds of the whole processes; the default buffer has 500 lines and is made up.
Cold means that nothing is kept of earlier runs; edited, that every run has another buffer; unchanged, that none has.
A running pylint is one process that lints an edited buffer again and again, as an editor's language server does.
The exit status is 1 if the plugin adds more than twice the import.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

BAR = 2.0
LINES = 500
PLUGIN = "--load-plugins=migrate_lint.linter.pylint_plugin"
EDITOR = ("--reports=n", "--output-format=json", "--clear-cache-post-run=y", "--persistent=n")

HEAD = '"""A model."""\n\nimport tensorflow as tf\n'
LAYER = '''

class Block{number}(tf.keras.layers.Layer):
    """One block."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.dense = tf.keras.layers.Dense(units)

    def call(self, inputs, training=False):
        """Compute."""
        scale = tf.Variable(1.0, name="scale{number}")
        hidden = tf.keras.layers.Dense(self.units, name="hidden")(inputs)
        if training:
            hidden = tf.nn.dropout(hidden, rate=0.5)
        with tf.name_scope("block{number}"):
            return self.dense(hidden) * scale


@tf.function
def step{number}(block, batch):
    """Train."""
    print("step", batch)
    return tf.reduce_mean(block(batch, training=True))
'''

# Runs pylint over and over in one process, each time on another buffer, and prints the CPU seconds of each run.
RUNNING = """
import io, sys, time
from pylint.lint import Run
from pylint.reporters import JSONReporter
name, runs, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
text = sys.stdin.read()
for number in range(runs):
    sys.stdin = io.TextIOWrapper(io.BytesIO(f"{text}\\nX = {number}\\n".encode()), encoding="utf-8")
    start = time.process_time()
    Run([*words, "--from-stdin", name], reporter=JSONReporter(io.StringIO()), exit=False)
    print(time.process_time() - start, file=sys.stderr)
"""


def buffer_of(lines: int) -> str:
    """A made-up model with as many lines."""
    count = (lines - HEAD.count("\n")) // LAYER.count("\n")
    text = HEAD + "".join(LAYER.format(number=number) for number in range(count))
    return text + "# the end\n" * (lines - text.count("\n"))


def cpu(command: Sequence[str], given: str, cache: Path) -> float:
    """CPU seconds of a whole process; its output is thrown away."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command,
        input=given.encode(),
        env=environment | {"XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        check=False,
    )
    if done.returncode & 32 or b"syntax-error" in done.stdout or b"Traceback" in done.stderr:
        raise SystemExit((done.stdout + done.stderr).decode(errors="replace"))
    if PLUGIN in command and b'"message-id": "E7' not in done.stdout:
        raise SystemExit("nothing was found in this file, so there is nothing to measure")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def added(name: str, buffer: str, kind: str, runs: int, folder: Path) -> Iterator[float]:
    """CPU seconds that the plugin adds to pylint, run by run."""
    pylint = [sys.executable, "-m", "pylint", *EDITOR]
    for number in range(-1, runs):
        cache = folder / (f"cache{number}" if kind == "cold" else "cache")
        cache.mkdir(mode=0o700, exist_ok=True)
        text = f"{buffer}\nX = {number}\n" if kind == "edited" else buffer
        without = cpu([*pylint, "--from-stdin", name], text, cache)
        difference = cpu([*pylint, PLUGIN, "--from-stdin", name], text, cache) - without
        if number >= 0:  # the first run compiles modules and fills the cache
            yield difference


def running(name: str, buffer: str, runs: int, *words: str) -> float:
    """CPU seconds of one of many runs of a pylint that stays."""
    command = [sys.executable, "-c", RUNNING, name, str(runs), *EDITOR, *words]
    done = subprocess.run(command, input=buffer.encode(), capture_output=True, check=True)
    return statistics.median(map(float, done.stderr.split()[1:]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="what is linted, in its project")
    parser.add_argument("--runs", type=int, default=9, help="how often each is run (default 9)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "model").mkdir()
        name = str(arguments.file or folder / "model" / "model.py")
        buffer = arguments.file.read_text("utf-8") if arguments.file else buffer_of(LINES)
        bare = [cpu([sys.executable, "-c", "pass"], "", folder) for _ in range(arguments.runs)]
        importing = [cpu([sys.executable, "-c", "import libcst"], "", folder) for _ in range(arguments.runs)]
        unit = statistics.median(importing) - statistics.median(bare)
        print(f"{'importing libcst':<44} {unit:7.3f} s CPU", flush=True)
        missed = False
        for kind in ("cold", "edited", "unchanged"):
            seconds = statistics.median(added(name, buffer, kind, arguments.runs, folder))
            judged = kind != "cold" or arguments.file is None  # a project is read once
            missed |= judged and seconds > BAR * unit
            verdict = ("pass" if seconds <= BAR * unit else "FAIL") if judged else ""
            print(
                f"{f'added to a new pylint, {kind}':<44} {seconds / unit:7.2f} x  bar {BAR:.2f}  {verdict}", flush=True
            )
        with_plugin = running(name, buffer, arguments.runs, PLUGIN)
        more = (with_plugin - running(name, buffer, arguments.runs)) / unit
        verdict = "pass" if more <= BAR else "FAIL"
        print(f"{'added to a running pylint, edited':<44} {more:7.2f} x  bar {BAR:.2f}  {verdict}")
        return int(missed or more > BAR)


if __name__ == "__main__":
    sys.exit(main())
