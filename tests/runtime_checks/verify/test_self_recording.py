"""Recording a program of the user's own: what goes where, and what stays when it ends early."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from migrate_lint.runtime_checks import Pair, record
from migrate_lint.runtime_checks.comparison.climb import UNMEASURED
from migrate_lint.runtime_checks.comparison.compare import compare
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.worker.frames import UserCode
from migrate_lint.runtime_checks.worker.recording.format.plan import Plan
from migrate_lint.runtime_checks.worker.recording.format.reading import Recorded, Scenario, read
from migrate_lint.runtime_checks.worker.recording.format.store import Recording
from migrate_lint.runtime_checks.worker.recording.pairs.batches import PairError
from migrate_lint.runtime_checks.worker.recording.self_recording import run_itself, runs_itself

PLAN = Plan(("structure", "constant", "steps"), steps=2, seed=7)


def values(scenario: Scenario) -> list[tuple[str, str, int, Any]]:
    return [(item.kind, item.name, item.step, item.value.tolist()) for item in scenario.records]


def ran(folder: Path, function: Any, side: str = "tf1", tf1: Recorded | None = None, **fields: Any) -> Recorded:
    """What a side that runs itself recorded; a pair's fields may be given."""
    recording = Recording(str(folder), side)
    run_itself(function, Pair(function, None, **{"inputs": [1.0], **fields}), PLAN, recording, UserCode([]), tf1)
    recording.save()
    return read(folder)


def test_a_forward_pass_is_one_of_inference(tmp_path: Path) -> None:
    """With the variables that it was made with."""
    with record(tmp_path, side="tf2") as run:
        run.variables({"w:0": [1.0, 2.0]})
        run.input(np.float32([3]))
        run.tap("hidden", [4.0])
        run.output({"logits": [5.0], "more": (6.0, 7.0)})
    recorded = read(tmp_path)

    assert [
        ("input", "input", 0, [3.0]),
        ("tap", "hidden", 0, [4.0]),
        ("output", "logits", 0, [5.0]),
        ("output", "more/0", 0, 6.0),
        ("output", "more/1", 0, 7.0),
        ("variable", "w", 0, [1.0, 2.0]),
    ] == values(recorded.scenario("inference"))
    assert [("w", [2])] == [(said["name"], said["shape"]) for said in recorded.content["variables"]]
    assert ("tf2", "ok") == (recorded.side, recorded.scenario("structure").outcome)


def test_steps_count_from_0_and_begin_with_the_initial_values(tmp_path: Path) -> None:
    """Those of the variables are of the step before the first."""
    with record(tmp_path, side="tf1", steps=2) as run:
        run.variables({"w": 1.0})
        for step in range(run.steps):
            with run.step():
                run.loss(10.0 - step)
                run.learning_rate(0.5)
                run.metric("accuracy", 0.1)
                run.regularization(0.2)
                run.label([0])
                run.gradients([(0.5, "w:0"), (None, "b")])
                run.variables({"w": 0.5})
            run.evaluation([9.0])
    steps = read(tmp_path).scenario("steps")

    assert ("ok", [0, 1]) == (steps.outcome, steps.steps)
    assert [1.0] == [record.value for record in steps.of_kind("variable", -1)]
    assert [
        ("loss", "loss", 1, 9.0),
        ("learning_rate", "learning_rate", 1, 0.5),
        ("metric", "accuracy", 1, 0.1),
        ("regularization", "total", 1, 0.2),
        ("label", "label", 1, 0),
        ("gradient", "w", 1, 0.5),
        ("variable", "w", 1, 0.5),
        ("evaluation", "output", 1, 9.0),
    ] == [(kind, name, step, np.ravel(value)[0]) for kind, name, step, value in values(steps) if step == 1]


def test_a_program_without_steps_has_none(tmp_path: Path) -> None:
    """Nothing is made up."""
    with record(tmp_path, side="tf1") as run:
        run.variables({"w": 1.0})

    assert ["structure"] == list(read(tmp_path).scenarios)


def test_a_record_knows_the_line_that_told_it(tmp_path: Path) -> None:
    """The caller's, not the recorder's."""
    with record(tmp_path, side="tf1") as run:
        frame = inspect.currentframe()
        assert frame is not None
        line = frame.f_lineno + 1
        run.tap("here", 1.0)
    (item,) = read(tmp_path).scenario("inference").records

    assert (str(Path(__file__).resolve()), line) == item.place


def test_what_came_before_an_error_is_kept(tmp_path: Path) -> None:
    """The error passes through, and its place is recorded."""
    with pytest.raises(RuntimeError, match="at step 1"), record(tmp_path, side="tf2") as run:
        run.step()
        run.loss(1.0)
        run.step()
        run.loss(2.0)
        raise RuntimeError("at step 1")
    steps = read(tmp_path).scenario("steps")

    assert ("failed", "RuntimeError: at step 1") == (steps.outcome, steps.detail)
    assert steps.place is not None
    assert str(Path(__file__).resolve()) == steps.place[0]
    assert [1.0, 2.0] == [record.value for record in steps.of_kind("loss")]


def test_there_are_two_sides(tmp_path: Path) -> None:
    """Another one is refused before anything is written."""
    with pytest.raises(ValueError, match="side='new'"), record(tmp_path / "x", side="new"):
        pass

    assert not (tmp_path / "x").exists()


def test_a_tensor_of_a_graph_has_no_value(tmp_path: Path) -> None:
    """The message says what to record in its place."""
    symbolic = SimpleNamespace(op=None, graph=None)

    with pytest.raises(PairError, match="tap logits is a tensor of a graph"), record(tmp_path, side="tf1") as run:
        run.tap("logits", symbolic)


def test_a_session_gives_the_variables_of_its_graph(tmp_path: Path) -> None:
    """Without those of optimizers, and without counters."""
    names = ["dense/kernel", "dense/kernel/Adam", "dense/kernel/Adam_1", "beta1_power", "global_step", "dense/Momentum"]
    variables = [SimpleNamespace(name=f"{name}:0", shape=[], dtype=np.float32) for name in names]
    session = SimpleNamespace(
        graph=SimpleNamespace(get_collection=lambda name: variables if name == "variables" else []),
        run=lambda wanted: [names.index(item.name[:-2]) + 1.0 for item in wanted],
    )
    with record(tmp_path, side="tf1") as run:
        run.variables(session)
        run.step()
    steps = read(tmp_path).scenario("steps")

    assert [("variable", "dense/kernel", -1, 1.0)] == values(steps)


def test_a_side_with_a_run_runs_itself() -> None:
    """By the name of a parameter, also of a method."""
    assert runs_itself(lambda inputs, run: None)
    assert not runs_itself(lambda inputs, training: None)
    assert not runs_itself(object())


def test_a_side_that_runs_itself_gets_what_the_pair_has(tmp_path: Path) -> None:
    """By the names of its parameters; what it leaves out is not run."""

    def side(run: Any, labels: Any, inputs: Any, params: Any, *rest: Any, more: int = 3) -> None:
        assert ([1.0], [2], {"a": 1}, 3, 2, 7) == (
            inputs.tolist(),
            labels.tolist(),
            params,
            more,
            run.steps,
            run.seed,
        )
        for step in range(run.steps):
            run.step()
            run.input(run.batch(step).inputs)

    recorded = ran(tmp_path, side, labels=[2], params={"a": 1}, inputs=lambda step: [1.0 + step])

    assert [1.0, 2.0] == [record.value[0] for record in recorded.scenario("steps").of_kind("input")]
    assert ("not run", "this side runs itself") == (
        recorded.scenario("constant").outcome,
        recorded.scenario("constant").detail,
    )


def test_a_side_that_wants_something_unknown_is_refused(tmp_path: Path) -> None:
    """There is nothing that could be given to it."""
    with pytest.raises(PairError, match="but not features"):
        ran(tmp_path, lambda run, features: None)


def test_initial_values_are_copied_by_the_names_of_the_pair(tmp_path: Path) -> None:
    """Renamed and transposed as it says."""

    class Variable:
        def __init__(self, name: str, shape: list[int]) -> None:
            self.name, self.shape, self.dtype, self.value = name, shape, np.float32, np.zeros(shape)

        def assign(self, value: Any) -> None:
            self.value = value

    kernel, bias, other = Variable("new/kernel:0", [2, 1]), Variable("bias:0", []), Variable("other:0", [])
    with record(tmp_path / "tf1", side="tf1") as run:
        run.variables({"old/kernel": np.float32([[1, 2]]), "bias": 3.0})
        run.step()

    def new(run: Any) -> None:
        assert 2 == run.copy_initial_values([kernel, bias, other])

    recorded = ran(
        tmp_path / "tf2",
        new,
        "tf2",
        read(tmp_path / "tf1"),
        renames={"old/": "new/"},
        transposes={"old/kernel": [1, 0]},
    )

    assert ([[1.0], [2.0]], 3.0, 0.0) == (kernel.value.tolist(), bias.value, other.value)
    assert ["the program copied the initial values of 2 of 2 variables from the TF1 side"] == (
        recorded.content["adaptations"]
    )


def test_there_must_be_a_side_to_copy_from(tmp_path: Path) -> None:
    """Silence would leave other weights on both sides."""
    with pytest.raises(PairError, match="no recording of the TF1 side"), record(tmp_path, side="tf2") as run:
        run.copy_initial_values([])


@pytest.mark.parametrize("policy", ["noise", "guide"])
def test_a_difference_of_which_no_noise_is_known_is_told(tmp_path: Path, policy: str) -> None:
    """A side that runs itself is run once: rounding that training amplifies is allowed nothing by policy noise."""
    for number, side in enumerate(("tf1", "tf2")):
        with record(tmp_path / side, side=side) as run:
            run.variables({"w": [1.0, 2.0]})
            with run.step():
                run.variables({"w": [1.5, 2.5 + 0.01 * number]})
    rung = compare(*(read(tmp_path / side) for side in ("tf1", "tf2")), policy=policy).rung("step")

    assert Status.FAIL is rung.status
    assert (policy == "noise") == (UNMEASURED in rung.notes)
