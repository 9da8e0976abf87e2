"""What running a model in a worker costs, against the bars that the project holds itself to.

    python benchmarks/runtime.py --python ENVIRONMENT/bin/python

compares `migrate-lint --runtime` with a bare script that imports TensorFlow, builds the same model and makes the same
calls in the same environment: wall time, CPU time and peak resident memory of the worker, phase by phase, and the
peak of migrate-lint itself.
The models are tf_slim's resnet_v2_50 in a Keras layer (keras2) and a Keras model of 20 layers (keras2 and keras3).
The interpreter needs TensorFlow >= 2.16, tf_keras and tf_slim; without --python it is an environment of its own, into
which they are installed.
Contenders take turns. A ratio is one of best runs: what else the machine does only ever makes a run slower.
The exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

WALL_BAR, MEMORY_BAR = 1.15, 1.05
"""Of a bare script's."""
PACKAGES = ("tensorflow", "tf-keras", "tf-slim")

RESNET = '''"""resnet_v2_50 of tf_slim 1.1.0, as TensorFlow's guide wraps a network of slim."""

import sys
from importlib import import_module

import tensorflow as tf
from tensorflow.python.framework import ops

# Two names that tf_slim 1.1.0 and legacy Keras expect of an older TensorFlow.
for name in ("legacy_tf_layers", "legacy_tf_layers.normalization"):
    sys.modules["tf_keras." + name] = import_module("tf_keras.src." + name)
ops.Tensor = tf.Tensor

import tf_slim as slim
from tf_slim.nets import resnet_v2


class ResNet(tf.keras.layers.Layer):
    @tf.compat.v1.keras.utils.track_tf1_style_variables
    def call(self, images, training=None):
        with slim.arg_scope(resnet_v2.resnet_arg_scope()):
            return resnet_v2.resnet_v2_50(images, 1000, is_training=training or False)[0]


def build():
    return ResNet(), tf.random.stateless_uniform((2, 224, 224, 3), (1, 2))
'''

SMALL = '''"""A Keras model of 20 layers."""

import tensorflow as tf

layers = tf.keras.layers


class Classifier(tf.keras.Model):
    def __init__(self, **options):
        super().__init__(**options)
        self.parts = [layers.Rescaling(1 / 255)]
        for filters in (8, 16, 32, 64):
            self.parts += [layers.Conv2D(filters, 3, padding="same"), layers.BatchNormalization(), layers.ReLU()]
            self.parts.append(layers.MaxPool2D())
        self.parts += [layers.Flatten(), layers.Dropout(0.5), layers.Dense(10)]

    def call(self, images, training=None):
        for part in self.parts:
            takes_mode = isinstance(part, (layers.BatchNormalization, layers.Dropout))
            images = part(images, training=training) if takes_mode else part(images)
        return images


def build():
    return Classifier(), tf.random.stateless_uniform((2, 32, 32, 3), (1, 2))
'''

BARE = """
import json, os, sys, tempfile, time

folder, name, results = sys.argv[1:]
sys.path.insert(0, folder)
phases = []


def phase(name, body, *arguments, **keywords):
    began = time.time()
    outcome, detail, output = "ok", "", None
    try:
        output = body(*arguments, **keywords)
    except Exception as error:
        outcome, detail = "failed", f"{type(error).__name__}: {error}"
    phases.append({"name": name, "outcome": outcome, "seconds": time.time() - began, "detail": detail})
    return output


def fit():
    fitted = model if isinstance(model, tf.keras.Model) else tf.keras.Sequential([model])
    fitted.compile(optimizer="sgd", loss="mse")
    steps = tf.data.Dataset.from_tensors((inputs, tf.zeros_like(output))).repeat(2)
    fitted.fit(steps, epochs=1, verbose=0, shuffle=False)


def save_and_load():
    path = os.path.join(tempfile.gettempdir(), "model.keras")
    model.save(path)
    tf.keras.models.load_model(path, custom_objects={type(model).__name__: type(model)}, compile=False)
    os.unlink(path)


def start():
    global tf
    import tensorflow as tf
    return __import__(name)


module = phase("import", start)
model, inputs = phase("build", module.build)
output = phase("first call", model, inputs)
phase("second call", model, inputs)
phase("call inside assert_no_variable_creations", model, inputs)
phase("call inside catch_and_raise_created_variables", model, inputs)
phase("call with another batch size", lambda: model(tf.concat([inputs, inputs], 0)))
phase("first training call", model, inputs, training=True)
phase("second training call", model, inputs, training=True)
phase("first inference call", model, inputs, training=False)
phase("second inference call", model, inputs, training=False)
traced = tf.function(lambda inputs: model(inputs))
phase("first call in tf.function", traced, inputs)
phase("second call in tf.function", traced, inputs)
phase("call with another batch size in tf.function", lambda: traced(tf.concat([inputs, inputs], 0)))
training = tf.function(lambda inputs: model(inputs, training=True))
phase("first training call in tf.function", training, inputs)
phase("second training call in tf.function", training, inputs)
phase("fit", fit)
if isinstance(model, tf.keras.Model):
    phase("save and load", save_and_load)
with open(results, "w") as file:
    json.dump(phases, file)
"""

# The status of an ended child holds the peak of the children that it waited for: the program tells of itself.
PROGRAM = """
import atexit, json, resource, sys


def tell():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(results, "w") as file:
        json.dump({"peak": own.ru_maxrss, "children": children.ru_utime + children.ru_stime}, file)


results = sys.argv.pop(1)
atexit.register(tell)
from migrate_lint.linter.cli.main import main

sys.exit(main())
"""


@dataclass(frozen=True)
class Cost:
    """One run: seconds of wall and of CPU time, MB of resident memory, and the seconds of each phase that went well."""

    wall: float
    cpu: float
    peak: float
    phases: dict[str, float]
    parent: float = 0.0


class BrokenRunError(Exception):
    """A run that cannot be compared; the text says why."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def megabytes_of(maxrss: int) -> float:
    """Linux counts the peak in KB, macOS in bytes."""
    return maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def passed(phases: Sequence[dict[str, object]]) -> dict[str, float]:
    return {str(phase["name"]): float(str(phase["seconds"])) for phase in phases if phase["outcome"] == "ok"}


@dataclass
class Bench:
    python: str
    folder: Path
    runs: int
    missed: bool = False

    def fact(self, name: str, text: str) -> None:
        print(f"{name:<44} {text}", flush=True)

    def bar(self, name: str, figure: float, limit: float | None, form: Callable[[float], str], detail: str) -> None:
        """Print a figure, and the most that it may be where there is such a limit."""
        met = limit is None or figure <= limit
        self.missed |= not met
        verdict = f"bar {form(limit):>8}  {'pass' if met else 'FAIL'}" if limit is not None else f"{'no bar':>18}"
        print(f"{name:<44} {form(figure):>9}  {verdict}  {detail}", flush=True)

    def bare(self, target: str, model: Path) -> Cost:
        """Run the bare script, in the environment that the worker gets."""
        results, scratch = self.folder / "bare.json", self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        environment = os.environ | WORKER_ENVIRONMENT | {"TMPDIR": str(scratch)}
        environment.pop("TF_USE_LEGACY_KERAS", None)
        if target == "keras2":
            environment["TF_USE_LEGACY_KERAS"] = "1"
        command = [self.python, "-c", BARE, str(model.parent), model.stem, str(results)]
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            _, status, used = os.wait4(process.pid, 0)
            wall = time.monotonic() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            if process.returncode:
                raise BrokenRunError(f"the bare script failed:\n{output.read().decode(errors='replace')[-2000:]}")
        phases = json.loads(results.read_text(encoding="utf-8"))
        return Cost(wall, used.ru_utime + used.ru_stime, megabytes_of(used.ru_maxrss), passed(phases))

    def worker(self, target: str, model: Path) -> Cost:
        """Run migrate-lint, which says of its worker how long it took and how large it got."""
        results = self.folder / "program.json"
        command = [sys.executable, "-c", PROGRAM, str(results), "--runtime", f"{model}:build", "--target", target]
        command += ["--python", self.python, "--exit-zero", "--no-cache", "--output-format", "json", str(model)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BrokenRunError(f"migrate-lint ended with status {done.returncode}:\n{done.stderr[-2000:]}")
        [run] = json.loads(done.stdout)["summary"]["runtime"]["runs"]
        if run["cause"] is not None:
            raise BrokenRunError(f"the worker did not come to its end: {run['cause']}")
        own = json.loads(results.read_text(encoding="utf-8"))
        peak = run["peak_memory"] / 1e6 if sys.platform == "darwin" else run["peak_memory"] / 1024 / 1e3
        return Cost(run["seconds"], own["children"], peak, passed(run["phases"]), megabytes_of(own["peak"]))


# What a worker finds in its environment: the arithmetic of both sides is then the same.
WORKER_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
}


def ratio(value: float) -> str:
    return f"{value:.3f} x"


def megabytes(value: float) -> str:
    return f"{value:.0f} MB"


def described(costs: Sequence[Cost], form: Callable[[Cost], float]) -> str:
    """Best and median."""
    values = [form(cost) for cost in costs]
    return f"{min(values):.2f} (median {statistics.median(values):.2f})"


def compare(bench: Bench, name: str, target: str, model: Path) -> None:
    """Run both contenders in turn, on one model and target, and print what the worker costs."""
    bare: list[Cost] = []
    worker: list[Cost] = []
    try:
        for run in range(bench.runs):
            for kind, costs, contender in (("bare", bare, bench.bare), ("worker", worker, bench.worker)):
                cost = contender(target, model)
                costs.append(cost)
                text = f"{cost.wall:.2f} s wall, {cost.cpu:.2f} s CPU, {cost.peak:.0f} MB"
                say(f"{name}, {target}, {kind} {run + 1}: {text}, {len(cost.phases)} phases")
        same_calls(bare[0], worker[0])
    except BrokenRunError as error:
        bench.missed = True
        bench.fact(f"{name}, {target}", f"FAIL  {error}")
        return
    report(bench, f"{name}, {target}", bare, worker)


def same_calls(bare: Cost, worker: Cost) -> None:
    """Both sides must have done the same, or their cost says nothing."""
    different = sorted(set(bare.phases) ^ set(worker.phases))
    if different:
        raise BrokenRunError(f"only one side came through {', '.join(different)}")


def report(bench: Bench, name: str, bare: Sequence[Cost], worker: Sequence[Cost]) -> None:
    """Print the ratios of the best runs, and of each phase."""

    def wall(cost: Cost) -> float:
        return cost.wall

    def cpu(cost: Cost) -> float:
        return cost.cpu

    def peak(cost: Cost) -> float:
        return cost.peak

    for what, form, unit, limit in (
        ("wall time", wall, "s", WALL_BAR),
        ("CPU time", cpu, "s", None),
        ("peak memory", peak, "MB", MEMORY_BAR),
    ):
        detail = f"worker {described(worker, form)} {unit}, bare {described(bare, form)} {unit}"
        bench.bar(f"{name}: {what}", min(map(form, worker)) / min(map(form, bare)), limit, ratio, detail)
    bench.bar(
        f"{name}: migrate-lint itself", max(cost.parent for cost in worker), 100, megabytes, "largest of all runs"
    )
    for phase in bare[0].phases:
        best = [min(cost.phases[phase] for cost in costs if phase in cost.phases) for costs in (worker, bare)]
        say(f"    {phase:<48} worker {best[0]:7.3f} s, bare {best[1]:7.3f} s")


def environment(folder: Path) -> str:
    """The interpreter of a new environment that has what the models need."""
    say(f"installing {', '.join(PACKAGES)} into {folder}")
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True, stdout=sys.stderr)
    return str(python)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how often each side runs (default 3)")
    parser.add_argument("--python", help="an interpreter with TensorFlow >= 2.16, tf_keras and tf_slim")
    parser.add_argument("--model", choices=("resnet", "small"), help="one of the models; both by default")
    parser.add_argument("--target", choices=("keras2", "keras3"), help="one of the targets; all by default")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="migrate-lint-benchmark-") as name:
        folder = Path(name).resolve()
        bench = Bench(arguments.python or environment(folder / "venv"), folder, arguments.runs)
        project = folder / "project"
        project.mkdir()
        (project / "pyproject.toml").touch()
        resnet, small = project / "resnet.py", project / "small.py"
        resnet.write_text(RESNET, encoding="utf-8")
        small.write_text(SMALL, encoding="utf-8")
        bench.fact("Python", f"{sys.version.split()[0]} on {sys.platform}, {os.cpu_count()} processors")
        bench.fact("load average at the start", f"{os.getloadavg()[0]:.1f}; wall time tells nothing where it is high")
        for model, target in ((resnet, "keras2"), (small, "keras2"), (small, "keras3")):
            if arguments.model in (None, model.stem) and arguments.target in (None, target):
                title = "resnet_v2_50" if model is resnet else "20 layers"
                compare(bench, title, target, model)
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
