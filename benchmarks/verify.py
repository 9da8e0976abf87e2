"""What `migrate-lint verify` costs, against the code of TensorFlow's guide that does the same by hand.

    python benchmarks/verify.py --python ENVIRONMENT/bin/python

compares `migrate-lint verify --until random --policy guide` with a bare script that goes through the guide's steps:
variables are made once; variables match; all variables at 0.001; random numbers aligned in inference, in training and
in the constant mode. Wall time, CPU time and peak resident memory: of the command the whole of it, for memory its
largest worker. The pair is the Inception-ResNet-v2 of examples/verify, under keras2.
`--pair mobilenet` compares `--until steps`, with the default policy and three training steps, with
mobilenet_by_hand.py, which goes on to training.
`--pair mirrored` compares `--until steps --strategy mirrored:2` with the steps of TF1, of TF2 and of TF2 on two
replicas that mirrored.py takes by hand.
`--pair resume` compares `migrate-lint resume` with the runs of the same loop that training_loop.py makes by hand: two
whole ones, three that are interrupted and three that go on. The peak is that of the largest process.
`--pair transformer` has no such script: of the whole ladder over 110 million parameters with Adam it tells the resident
memory of the largest worker, and what the recordings take on disk.
The interpreter needs TensorFlow >= 2.16, tf_keras and tf_slim; without --python it is an environment of its own, into
which they are installed.
Contenders take turns. A ratio is one of best runs: what else the machine does only ever makes a run slower.
The exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("tensorflow", "tf-keras", "tf-slim")
HERE = Path(__file__).resolve().parent
NETWORK = HERE.parent / "examples" / "verify" / "inception_resnet_v2.py"
PAIRS = {
    "inception": (NETWORK, ["--until", "random", "--policy", "guide"]),
    "mobilenet": (HERE / "mobilenet.py", ["--until", "steps"]),
    "mirrored": (HERE / "mirrored.py", ["--until", "steps", "--strategy", "mirrored:2"]),
    "resume": (HERE / "training_loop.py", ["--every", "50", "--how", "sigkill"]),
    "transformer": (HERE / "transformer.py", []),
}
TIME_BAR, MEMORY_BAR = 1.5, 1.3
RESUME_BAR = 3.0
"""CPU time of an audit: before each step all weights and slots are read and digested, here 12 MB in a step of 15 ms."""
MIRRORED_BAR = 8.0
"""CPU time of nine steps by hand, two thirds of which is the import of TensorFlow: three workers import it, both sides
go through all of the ladder, and the steps on replicas are taken four times, to know their noise."""
BARS = {"resume": RESUME_BAR, "mirrored": MIRRORED_BAR}
PEAK_BAR, DISK_BAR = 8 * 1.024**3 * 1e3, 4e3
"""MB of the transformer: 8 GiB of memory, 4 GB of disk."""

PEAK = """
import pathlib, resource, subprocess, sys

status = subprocess.run(sys.argv[2:]).returncode
pathlib.Path(sys.argv[1]).write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""
BARE = """
import contextlib, importlib, json, sys, time, types

folder, results = sys.argv[1:]
parts = {}
clock = time.time()


def part(name):
    global clock
    parts[name] = time.time() - clock
    clock = time.time()


import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

# Two names that tf_slim 1.1.0 expects of an older TensorFlow, and one that only the other contender needs.
for name in ("legacy_tf_layers", "legacy_tf_layers.normalization"):
    sys.modules["tf_keras." + name] = importlib.import_module("tf_keras.src." + name)
ops.Tensor = tf.Tensor
sys.modules["migrate_lint"] = types.ModuleType("migrate_lint")
public = sys.modules["migrate_lint.runtime_checks"] = types.ModuleType("migrate_lint.runtime_checks")
public.Pair = lambda *arguments, **named: None
sys.path.insert(0, folder)
import inception_layer as layer
import inception_resnet_v2 as network

v1 = tf.compat.v1
TOLERANCE = {"rtol": 1e-6, "atol": 1e-5}
REGULARIZATION = v1.GraphKeys.REGULARIZATION_LOSSES


def images():
    return tf.ones((1, 299, 299, 3))


@contextlib.contextmanager
def no_creation():
    def refuse(next_creator, **arguments):
        raise ValueError("a variable is made")

    with tf.variable_creator_scope(refuse):
        yield


@contextlib.contextmanager
def creations():
    made = []

    def keep(next_creator, **arguments):
        made.append(next_creator(**arguments))
        return made[-1]

    with tf.variable_creator_scope(keep):
        yield
    assert not made


def graph_side(training, constant=False):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        outputs, _ = network.network(images(), is_training=training)
        variables = v1.global_variables()
        if constant:
            session.run(tf.group([one.assign(tf.ones_like(one) * 0.001) for one in variables]))
        else:
            session.run(v1.global_variables_initializer())
        loss = session.run(tf.math.add_n(v1.get_collection(REGULARIZATION)))
        return loss, session.run(outputs)


def model_side(training, constant=False, make=layer.InceptionResnetV2):
    model = make()
    outputs, _ = model(images(), training=training)
    if constant:
        for variable in model.variables:
            variable.assign(tf.ones_like(variable) * 0.001)
        outputs, _ = model(images(), training=training)
    return tf.math.add_n(model.losses).numpy(), outputs.numpy()


def equal(name, one, other):
    for wanted, found in zip(one, other):
        np.testing.assert_allclose(wanted, found, **TOLERANCE)
    part(name)


def aligned(name, training, mode, make=layer.InceptionResnetV2):
    with v1.keras.utils.DeterministicRandomTestTool(mode=mode).scope():
        one = graph_side(training)
    with v1.keras.utils.DeterministicRandomTestTool(mode=mode).scope():
        other = model_side(training, make=make)
    equal(name, one, other)


part("start")
model = layer.InceptionResnetV2()
model(images())
with no_creation():
    model(images())
with creations():
    model(images())
part("1 once")

with tf.Graph().as_default():
    network.network(images(), is_training=False)
    wanted = {one.name: (one.trainable, one.shape) for one in v1.global_variables()}
    count = len(v1.global_variables())
model = layer.InceptionResnetV2()
for _ in range(2):
    model(images(), training=False)
assert count == len(model.variables)
assert wanted == {one.name: (one.trainable, one.shape) for one in model.variables}
part("2 variables")

equal("3 constant", graph_side(False, constant=True), model_side(False, constant=True))
aligned("4 inference", False, "num_random_ops")
aligned("4 training", True, "num_random_ops")
aligned("4 constant mode", True, "constant", layer.functional_model)
with open(results, "w") as file:
    json.dump(parts, file)
"""

# What a worker finds in its environment: the arithmetic of both contenders is then the same.
WORKER_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_USE_LEGACY_KERAS": "1",
}


@dataclass(frozen=True)
class Cost:
    """One run: seconds of wall and of CPU time, MB of resident memory and of files, and where the time went."""

    wall: float
    cpu: float
    peak: float
    parts: dict[str, float]
    disk: float = 0.0


class BrokenRunError(Exception):
    """A run that cannot be compared; the text says why."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measured(command: Sequence[str], folder: Path, environment: dict[str, str]) -> tuple[float, float, float]:
    """Run a command to its end: wall, CPU with all that it waited for, and the peak of the process itself in MB."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        if process.returncode:
            text = output.read().decode(errors="replace")[-3000:]
            raise BrokenRunError(f"{Path(command[0]).name} ended with status {process.returncode}:\n{text}")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def with_all(
    python: str, command: Sequence[str], folder: Path, environment: dict[str, str]
) -> tuple[float, float, float]:
    """As `measured`; the peak is that of the largest process that the command began, or its own."""
    peak = folder / "peak"
    wall, cpu, _ = measured([python, "-c", PEAK, str(peak), *command], folder, environment)
    return wall, cpu, float(peak.read_text()) / (1e6 if sys.platform == "darwin" else 1e3)


def bare(python: str, folder: Path, pair: str) -> Cost:
    """The guide's steps, in one process as in a notebook; or the runs of a loop, each in a child of one process."""
    results = folder / "bare.json"
    if pair == "resume":
        environment = os.environ | WORKER_ENVIRONMENT
        cost = with_all(python, [python, "-W", "ignore", str(PAIRS[pair][0]), str(results)], folder, environment)
        return Cost(*cost, json.loads(results.read_text("utf-8")))
    scripts = {"mobilenet": HERE / "mobilenet_by_hand.py", "mirrored": PAIRS["mirrored"][0]}
    script = ["-c", BARE, str(NETWORK.parent)] if pair == "inception" else [str(scripts[pair])]
    command = [python, "-W", "ignore", *script, str(results)]
    wall, cpu, peak = measured(command, folder, os.environ | WORKER_ENVIRONMENT)
    return Cost(wall, cpu, peak, json.loads(results.read_text("utf-8")))


def command(python: str, folder: Path, pair: str) -> Cost:
    """The command, whose recordings say how large their workers got and how long each scenario took."""
    run = folder / "run"
    network, asked = PAIRS[pair]
    if pair == "resume":
        words = [sys.executable, "-m", "migrate_lint", "resume", f"{network}:loop", *asked]
        words += ["--target", "keras2", "--python", python, "--quiet"]
        return Cost(*with_all(python, words, folder, dict(os.environ)), {})
    words = [sys.executable, "-m", "migrate_lint", "verify", f"{network}:pair", *asked]
    words += ["--target", "keras2", "--python", python, "--quiet", "--output", str(run)]
    wall, cpu, _ = measured(words, folder, dict(os.environ))
    scale = 1e6 if sys.platform == "darwin" else 1024 * 1e3
    recorded = {one.parent.name: json.loads(one.read_text("utf-8")) for one in sorted(run.rglob("record.json"))}
    parts = {
        f"{side} {name}": said.get("seconds", 0.0)
        for side, content in recorded.items()
        for name, said in content["scenarios"].items()
    }
    disk = sum(file.stat().st_size for file in run.rglob("*") if file.is_file()) / 1e6
    shutil.rmtree(run)
    return Cost(wall, cpu, max(content["peak_memory"] for content in recorded.values()) / scale, parts, disk)


def compare(python: str, folder: Path, pair: str, runs: int) -> bool:
    """Run both contenders in turn and print the ratios; whether the bars are met."""
    contenders: dict[str, Callable[[str, Path, str], Cost]] = {"bare": bare, "command": command}
    costs: dict[str, list[Cost]] = {name: [] for name in contenders}
    try:
        for run in range(runs):
            for name, contender in contenders.items():
                cost = contender(python, folder, pair)
                costs[name].append(cost)
                say(f"{name} {run + 1}: {cost.wall:.1f} s wall, {cost.cpu:.1f} s CPU, {cost.peak:.0f} MB")
                for part, seconds in cost.parts.items():
                    say(f"    {part:<36} {seconds:7.1f} s")
    except BrokenRunError as error:
        print(f"FAIL  {error}")
        return False
    met = [
        ratio("wall time", costs, lambda cost: cost.wall, "s", None),
        ratio("CPU time", costs, lambda cost: cost.cpu, "s", BARS.get(pair, TIME_BAR)),
        ratio("peak memory", costs, lambda cost: cost.peak, "MB", MEMORY_BAR),
    ]
    return all(met)


def absolute(python: str, folder: Path, pair: str) -> bool:
    """Run the command and print what it took; whether the bars are met."""
    try:
        cost = command(python, folder, pair)
    except BrokenRunError as error:
        print(f"FAIL  {error}")
        return False
    print(f"{cost.wall:.1f} s wall, {cost.cpu:.1f} s CPU")
    met = []
    for name, figure, limit in (("peak memory", cost.peak, PEAK_BAR), ("disk", cost.disk, DISK_BAR)):
        met.append(figure <= limit)
        print(f"{name:<16} {figure:6.0f} MB  bar {limit:.0f} MB  {'pass' if met[-1] else 'FAIL'}", flush=True)
    return all(met)


def ratio(
    name: str, costs: dict[str, list[Cost]], form: Callable[[Cost], float], unit: str, limit: float | None
) -> bool:
    """Print the ratio of the best runs, and the most that it may be where there is such a limit."""
    best = {contender: min(map(form, ran)) for contender, ran in costs.items()}
    figure = best["command"] / best["bare"]
    met = limit is None or figure <= limit
    verdict = "no bar" if limit is None else f"bar {limit} x  {'pass' if met else 'FAIL'}"
    middle = {contender: statistics.median(map(form, ran)) for contender, ran in costs.items()}
    detail = ", ".join(f"{one} {best[one]:.1f} (median {middle[one]:.1f}) {unit}" for one in ("command", "bare"))
    print(f"{name:<16} {figure:6.3f} x  {verdict:<16}  {detail}", flush=True)
    return met


def environment(folder: Path) -> str:
    """The interpreter of a new environment that has what the network needs."""
    say(f"installing {', '.join(PACKAGES)} into {folder}")
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True, stdout=sys.stderr)
    return str(python)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how often each contender runs (default 3)")
    parser.add_argument("--python", help="an interpreter with TensorFlow >= 2.16, tf_keras and tf_slim")
    parser.add_argument("--pair", choices=PAIRS, default="inception", help="what is compared")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="migrate-lint-benchmark-") as name:
        folder = Path(name).resolve()
        python = os.path.abspath(arguments.python) if arguments.python else environment(folder / "venv")
        print(f"Python {sys.version.split()[0]} on {sys.platform}, {os.cpu_count()} processors")
        print(f"load average at the start: {os.getloadavg()[0]:.1f}; wall time tells nothing where it is high")
        if arguments.pair == "transformer":
            return 0 if absolute(python, folder, arguments.pair) else 1
        return 0 if compare(python, folder, arguments.pair, arguments.runs) else 1


if __name__ == "__main__":
    sys.exit(main())
