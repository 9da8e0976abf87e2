"""What a step of both sides takes, and the traces of it, apart from what is compared."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks import Pair
from migrate_lint.runtime_checks.worker.frames import UserCode
from migrate_lint.runtime_checks.worker.recording import profiling, timing
from migrate_lint.runtime_checks.worker.recording.early_traces import xspace
from migrate_lint.runtime_checks.worker.recording.format.store import Recording
from migrate_lint.runtime_checks.worker.results import Results

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow
TARGETS = ("keras2", "keras3")
INPUTS = np.arange(24, dtype=np.float32).reshape(8, 3) / 24
LABELS = np.ones((8, 1), np.float32)


# The members: each is a function of the weights that its side has, which gives a side.


def dense(**options: Any) -> Any:
    import tensorflow as tf

    return tf.keras.layers.Dense(1, kernel_initializer="zeros", **options)


def compiled() -> Any:
    import tensorflow as tf

    made = tf.keras.Sequential([dense()])
    made.compile("sgd", "mse")
    return made


def eager() -> Any:
    """Compiled, and run as Python."""
    import tensorflow as tf

    made = tf.keras.Sequential([dense()])
    made.compile("sgd", "mse", run_eagerly=True)
    return made


def of_two() -> Any:
    """Compiled, with inputs of two names."""
    import tensorflow as tf

    ends = {name: tf.keras.Input((3,), name=name) for name in ("one", "other")}
    made = tf.keras.Model(ends, dense()(tf.keras.layers.add(list(ends.values()))))
    made.compile("sgd", "mse")
    return made


def own(compile_it: bool) -> Any:
    """With a training step of the model's own, which needs no labels."""
    import tensorflow as tf

    class Own(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = dense()
            self.rule = tf.keras.optimizers.SGD(0.1)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

        def train_step(self, data: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(data[0]) - 1.0) ** 2)
            weights = self.dense.trainable_variables
            self.rule.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return {"loss": loss}

    made = Own()
    if compile_it:
        made.compile()
    return made


def asks_for_labels() -> Any:
    """A model that computes its loss in its call."""
    import tensorflow as tf

    class Losing(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = dense()

        def call(self, inputs: Any, labels: Any) -> Any:
            return tf.reduce_mean((self.dense(inputs) - labels) ** 2)

    return Losing()


def module() -> Any:
    import tensorflow as tf

    class Product(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kernel = tf.Variable(tf.zeros((3, 1)), name="kernel")

        def __call__(self, inputs: Any) -> Any:
            return inputs @ self.kernel

    return Product()


def step(model: Any, inputs: Any, labels: Any) -> Any:
    """A training step of a pair."""
    import tensorflow as tf

    weights = model.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(inputs) - labels) ** 2)
    for gradient, weight in zip(tape.gradient(loss, weights), weights, strict=True):
        weight.assign_sub(0.1 * gradient)
    return loss


def descends(model: Any, inputs: Any, labels: Any) -> Any:
    """A step of a model that gives its loss."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = model(inputs, labels=labels)
    weights = model.trainable_variables
    for gradient, weight in zip(tape.gradient(loss, weights), weights, strict=True):
        weight.assign(weight - 0.1 * gradient)
    return loss


def traced_step(model: Any, inputs: Any, labels: Any) -> Any:
    """One that is a ``tf.function`` of the first model that it meets."""
    import tensorflow as tf

    if "function" not in vars(model):
        model.function = tf.function(lambda one, other: step(model, one, other))
    return model.function(inputs, labels)


def trains(inputs: Any, labels: Any) -> Any:
    import tensorflow as tf

    v1 = tf.compat.v1
    kernel = v1.get_variable("kernel", [3, 1], initializer=v1.zeros_initializer())
    outputs = inputs @ kernel
    loss = tf.reduce_mean((outputs - labels) ** 2)
    return SimpleNamespace(
        predictions=outputs, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    )


def infers(inputs: Any) -> Any:
    import tensorflow as tf

    return inputs @ tf.compat.v1.get_variable("kernel", [3, 1])


def refuses(inputs: Any, mode: str) -> Any:
    if mode == "train":
        raise ValueError("there is nothing to train")
    return infers(inputs)


def runs_itself(run: Any) -> None:
    raise AssertionError("it is run again")


def breaks() -> Any:
    """It can be called, and a training step fails, whose number its step knows."""
    made = own(False)
    made.calls = 0
    return made


def breaking(number: int) -> Any:
    def breaking_step(model: Any, inputs: Any, labels: Any) -> Any:
        model.calls += 1
        if model.calls == number:
            raise RuntimeError("the data has ended")
        return step(model, inputs, labels)

    return breaking_step


def profiles(model: Any, inputs: Any, labels: Any) -> Any:
    """A step of a program that has a profiler of its own."""
    import tensorflow as tf

    with contextlib.suppress(Exception):
        tf.profiler.experimental.start("")
    return step(model, inputs, labels)


PAIRS: dict[str, Callable[[], Pair]] = {
    "compiled": lambda: Pair(trains, compiled, INPUTS, LABELS),
    "eager": lambda: Pair(trains, eager, INPUTS, LABELS),
    "two inputs": lambda: Pair(infers, of_two, {"one": INPUTS, "other": INPUTS}, LABELS),
    "own step": lambda: Pair(infers, lambda: own(False), INPUTS),
    "own step, compiled": lambda: Pair(refuses, lambda: own(True), INPUTS),
    "a step of the pair": lambda: Pair(trains, module, INPUTS, LABELS, train_step=step),
    "a traced step": lambda: Pair(trains, module, INPUTS, LABELS, train_step=traced_step),
    "other sizes": lambda: Pair(trains, compiled, lambda at: INPUTS[at:], lambda at: LABELS[at:]),
    "one batch": lambda: Pair(trains, compiled, lambda at: [INPUTS][at], lambda at: [LABELS][at]),
    "labels in the call": lambda: Pair(trains, asks_for_labels, INPUTS, LABELS, train_step=descends),
    "no step": lambda: Pair(infers, module, INPUTS),
    "it breaks": lambda: Pair(trains, breaks, INPUTS, LABELS, train_step=breaking(5)),
    "it breaks later": lambda: Pair(trains, breaks, INPUTS, LABELS, train_step=breaking(15)),
    "it profiles": lambda: Pair(trains, module, INPUTS, LABELS, train_step=profiles),
    "it runs itself": lambda: Pair(runs_itself, runs_itself, INPUTS),
}


def ran(name: str, side: str) -> tuple[str, bool]:
    """In a child: what a side does, and whether the last of nine losses is below the first, where there are any."""
    with timing.running(PAIRS[name](), side, UserCode([], [])) as ready:
        found = [ready.run(number) for number in range(9)]
    losses = [float(np.mean(first(value))) for value in found] if ready.what == timing.STEP else [1.0, 0.0]
    return ready.what, losses[-1] < losses[0]


def first(value: Any) -> Any:
    """The number in what a step gave: TF1's comes behind the None of its ``train_op``."""
    while isinstance(value, list):
        value = value[-1]
    return value


def profiled(name: str, side: str, folder: str, times: int = 1, ended: bool = False) -> dict[str, Any]:
    """In a child: what comes of the job for a side of two recorded steps, and what it left in the folder."""
    recording = Recording(os.path.join(folder, side), side)
    with recording.scenario("steps") as chapter:
        for number in range(2):
            chapter.add("loss", "loss", np.float32(2.0 - number), number)
            chapter.flush()
    before = contents(Path(folder, side))
    results = Results()
    job = {
        "roots": [],
        "files": [],
        "folder": os.path.join(folder, side),
        "other": None,
        "tensorboard": os.path.join(folder, "logs"),
        "side": side,
        "device": None,
        "ended": ended,
        "pair": {"file": None, "module": __name__, "attribute": f"of_{list(PAIRS).index(name)}", "search_path": []},
    }
    globals()[f"of_{list(PAIRS).index(name)}"] = PAIRS[name]()
    for _ in range(times):
        profiling.execute(job, results)
    assert before == contents(Path(folder, side)), "the recording has changed"
    left = {str(path.relative_to(folder)) for path in Path(folder, "logs").rglob("*") if path.is_file()}
    return {**results.content["timing"], "left": sorted(left), "operations": operations(Path(folder, "logs", side))}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def operations(folder: Path) -> dict[str, int]:
    """How often each event is in the trace of a run."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    counted: dict[str, int] = {}
    for path in folder.glob("plugins/profile/*/*.xplane.pb"):
        for plane in xplane_pb2.XSpace.FromString(path.read_bytes()).planes:
            for line in plane.lines:
                for event in line.events:
                    name = plane.event_metadata[event.metadata_id].name
                    counted[name] = counted.get(name, 0) + 1
    return counted


@pytest.mark.parametrize("target", TARGETS)
def test_each_side_trains_as_its_program_does(children: Children, target: str) -> None:
    """Where nothing says how it trains, it is called; a loss falls while the same steps are done again and again."""
    whole = {name: children.call(target, ran, name, "tf2") for name in list(PAIRS)[:11]}

    assert {name: [timing.STEP if name != "no step" else timing.CALL, True] for name in whole} == whole


def test_a_tf1_side_runs_its_train_op(children: Children) -> None:
    """One that has none, or refuses to train, computes its outputs."""
    names = ("compiled", "other sizes", "one batch", "no step", "own step, compiled")
    whole = {name: children.call("keras2", ran, name, "tf1") for name in names}

    assert {name: [timing.STEP if at < 3 else timing.CALL, True] for at, name in enumerate(names)} == whole


@pytest.mark.parametrize(("target", "side"), [("keras2", "tf1"), ("keras2", "tf2"), ("keras3", "tf2")])
def test_a_trace_lies_where_tensorboard_looks_for_it(
    children: Children, tmp_path: Path, target: str, side: str
) -> None:
    """With the operations of three steps; one of an earlier run is replaced, and the recording is as it was."""
    told = children.call(target, profiled, "compiled", side, str(tmp_path), 2)

    assert ("", 3, 10, "training step") == (told["problem"], told["traced"], len(told["seconds"]), told["what"])
    assert all(size > 1 << 20 for size in told["memory"])
    assert 3 == told["operations"]["step"]
    assert 3 <= sum(count for name, count in told["operations"].items() if "MatMul" in name), told["operations"]
    assert [f"logs/{side}/events.out.tfevents.0.migrate-lint", f"logs/{side}/plugins/profile/migrate-lint"] == [
        told["left"][0],
        os.path.dirname(told["left"][1]),
    ]
    assert 2 == len(told["left"])


@pytest.mark.parametrize("target", TARGETS)
def test_what_cannot_be_traced_is_told(children: Children, tmp_path: Path, target: str) -> None:
    """The summaries of what was recorded are written all the same, and nothing else is left."""
    found = {
        name: children.call(target, profiled, name, "tf2", str(tmp_path / name))
        for name in ("it breaks", "it breaks later", "it profiles", "it runs itself")
    }
    ended = children.call(target, profiled, "compiled", "tf2", str(tmp_path / "ended"), 1, True)

    assert found["it breaks"]["problem"].startswith("RuntimeError: the data has ended")
    assert found["it breaks later"]["problem"].startswith("RuntimeError: the data has ended")
    assert [1, 10] == [len(found[name]["seconds"]) for name in ("it breaks", "it breaks later")]
    assert "profile" in found["it profiles"]["problem"].lower()
    assert 10 == len(found["it profiles"]["seconds"])
    assert "it runs itself, and is run once" == found["it runs itself"]["problem"]
    assert "it ended early when it was recorded" == ended["problem"]
    for told in (*found.values(), ended):
        assert ["logs/tf2/events.out.tfevents.0.migrate-lint"] == told["left"]
        assert 0 == told["traced"]


# Traces of TensorFlow 1.15.


def converted(events: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """In a child: the events of a ``Trace``, as they are in the ``XSpace`` that is made of it."""
    from tensorflow.tsl.profiler.protobuf import trace_events_pb2, xplane_pb2

    trace = trace_events_pb2.Trace()
    for device, resource, name, began, lasted in events:
        trace.devices[device].name = f"device {device}"
        trace.devices[device].device_id = device
        trace.devices[device].resources[resource].name = f"thread {resource}"
        trace.trace_events.add(
            device_id=device, resource_id=resource, name=name, timestamp_ps=began, duration_ps=lasted
        ).args["label"] = "id=5"
    space = xplane_pb2.XSpace.FromString(xspace(trace.SerializeToString()))
    return [list(row) for row in rows(space)]


def rows(space: Any) -> Iterator[tuple[Any, ...]]:
    for plane in space.planes:
        for line in plane.lines:
            assert (f"device {plane.id}", f"thread {line.id}") == (plane.name, line.name)
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                yield plane.id, line.id, name, event.offset_ps, event.duration_ps


@pytest.mark.parametrize("seed", range(3))
def test_an_early_trace_keeps_its_events(children: Children, seed: int) -> None:
    """Of every device and thread, with names and times."""
    chance = np.random.default_rng(seed)
    events = [
        [int(chance.integers(3)), int(chance.integers(1 << 32)), name, int(chance.integers(1 << 50)), int(size)]
        for name, size in zip(["MatMul", "", "Ä", "a" * 300, "MatMul"], chance.integers(1 << 40, size=5), strict=True)
    ]

    assert sorted(events) == sorted(children.call("keras3", converted, events))


@pytest.mark.parametrize("trace", [b"\x0a", b"\x0a\xff", b"\x08\x01", b"\xff" * 12, b"\x22\x02\x18\x01", b"\x0b"])
def test_what_is_no_trace_is_refused(trace: bytes) -> None:
    """It ends early, has other fields, or groups, which no present message has."""
    with pytest.raises(ValueError, match=r"the message|a number|a text"):
        xspace(trace)


def test_an_empty_trace_has_no_events() -> None:
    """Nothing becomes nothing."""
    assert b"" == xspace(b"")
