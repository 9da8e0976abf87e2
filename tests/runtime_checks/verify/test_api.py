"""``verify`` in a user's own process, which is a child interpreter: what it returns, also when a side fails."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ...interpreters import Children

TARGETS = ("keras2", "keras3")

CASES: dict[str, Callable[[Path], None]] = {}


def case(check: Callable[[Path], None]) -> Callable[[Path], None]:
    """A check that runs in the children, each in an empty folder of its own."""
    CASES[check.__name__] = check
    return check


def network(x: Any, labels: Any = None, mode: str = "train", scale: float = 1.0) -> Any:
    """The TF1 side: two layers and gradient descent."""
    import tensorflow as tf
    from migrate_lint.runtime_checks import Spec

    v1 = tf.compat.v1
    hidden = tf.nn.relu(tf.matmul(x, v1.get_variable("a", [4, 5])) * scale)
    outputs = tf.matmul(hidden, v1.get_variable("b", [5, 1]))
    if mode == "infer":
        return outputs
    loss = tf.reduce_mean((outputs - labels) ** 2)
    return Spec(predictions=outputs, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss))


def model() -> Any:
    """The TF2 side."""
    import tensorflow as tf

    class Network(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            initial = tf.compat.v1.glorot_uniform_initializer()
            self.a = tf.Variable(initial([4, 5]), name="a")
            self.b = tf.Variable(initial([5, 1]), name="b")
            self.steps = 0

        def __call__(self, x: Any) -> Any:
            return tf.matmul(tf.nn.relu(tf.matmul(x, self.a)), self.b)

    return Network()


def train_step(model: Any, x: Any, labels: Any, at_7: Callable[[Any], Any] = lambda loss: loss) -> Any:
    """One step; something may happen to the loss of step 7."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - labels) ** 2)
        loss = at_7(loss) if model.steps == 7 else loss
    model.steps += 1
    variables = [model.a, model.b]
    for gradient, variable in zip(tape.gradient(loss, variables), variables, strict=True):
        variable.assign_sub(0.1 * gradient)
    return loss


def batch(step: int) -> Any:
    return np.random.RandomState(step).normal(size=[6, 4]).astype(np.float32)


def targets(step: int) -> Any:
    return np.random.RandomState(100 + step).normal(size=[6, 1]).astype(np.float32)


def pair(**changed: Any) -> Any:
    from migrate_lint.runtime_checks import Pair

    fields = {"tf1": network, "tf2": model, "inputs": batch, "labels": targets, "train_step": train_step}
    return Pair(**{**fields, **changed})


def statuses(report: Any) -> dict[str, str]:
    return {rung.name: str(rung.status) for rung in report.rungs}


@case
def equal_programs_are_equal(folder: Path) -> None:
    from migrate_lint.runtime_checks import compare, verify

    report = verify(pair(), folder=folder / "run")
    report.assert_equal()

    assert report.status == 0
    assert "network and model" == report.name
    unknown = ("checkpoint", "data", "evaluation", "schedule", "settings")  # of a loop without Keras
    expected = dict.fromkeys(unknown, "not run")
    assert expected == {name: status for name, status in statuses(report).items() if status != "pass"}
    assert 0 == compare(folder / "run").status
    assert 0 == compare(folder / "run" / "tf1", folder / "run" / "tf2", policy="guide").status
    report.to_html(folder / "report.html")
    assert (folder / "report.html").stat().st_size > 1000


@case
def a_difference_is_told_with_the_whole_report(folder: Path) -> None:
    from migrate_lint.runtime_checks import verify

    report = verify(pair(tf1=functools.partial(network, scale=1.01)), until="fingerprint", policy="guide")
    try:
        report.assert_equal()
    except AssertionError as error:
        assert "fingerprint fill" in str(error)
    else:
        raise AssertionError("it passed")

    assert (1, "fail") == (report.status, statuses(report)["fingerprint"])
    assert {"data", "once", "variables", "constant", "fingerprint"} == set(statuses(report))
    assert [] == os.listdir(folder)


@case
def configurations_are_verified_in_turn(folder: Path) -> None:
    """As the guides parameterize their tests; nothing of one reaches the next."""
    from migrate_lint.runtime_checks import verify

    found = [
        verify(pair(tf1=functools.partial(network, scale=scale)), until="fingerprint", seed=scale).status
        for scale in (1, 2, 1)
    ]
    assert [0, 1, 0] == found


@case
def an_error_at_step_7_leaves_the_steps_before(folder: Path) -> None:
    from migrate_lint.runtime_checks import verify

    def fail(loss: Any) -> Any:
        raise RuntimeError("no more")

    report = verify(pair(train_step=functools.partial(train_step, at_7=fail)), steps=9)
    cause = report.sides[1].cause or ""

    assert 4 == report.status
    assert report.sides[0].cause is None
    assert "RuntimeError: no more" in cause, cause
    assert "pass" == statuses(report)["step"]
    (losses,) = [series for series in report.series if series.kind == "loss"]
    assert losses.tf1[:7] == losses.tf2[:7] or np.allclose(losses.tf1[:7], losses.tf2[:7])


@case
def a_nan_at_step_7_is_the_first_divergence(folder: Path) -> None:
    from migrate_lint.runtime_checks import verify

    report = verify(pair(train_step=functools.partial(train_step, at_7=lambda loss: loss * np.nan)), steps=9)

    assert (1, "pass", "fail") == (report.status, statuses(report)["step"], statuses(report)["steps"])
    assert report.first_divergence is not None
    assert 7 == report.first_divergence.deviation.step
    assert "NaN" in str(report)


@case
def a_model_that_cannot_be_made_is_a_side_that_failed(folder: Path) -> None:
    from migrate_lint.runtime_checks import verify

    def broken() -> Any:
        raise OSError("no weights here")

    report = verify(pair(tf2=broken), folder=folder / "run")

    assert 4 == report.status
    assert "no weights here" in (report.sides[1].cause or "")
    assert report.sides[0].cause is None
    assert [] == [name for name, status in statuses(report).items() if status == "pass"]


@case
def batches_in_another_order_are_not_compared(folder: Path) -> None:
    """The second side gets what the first one left of an iterator."""
    from migrate_lint.runtime_checks import verify

    left = iter(range(1000))
    report = verify(pair(inputs=lambda step: batch(next(left))), until="step")

    assert 3 == report.status
    assert any("input" in problem for problem in report.problems)


@case
def a_side_compared_with_itself_is_vacuous(folder: Path) -> None:
    from migrate_lint.runtime_checks import verify

    def both(x: Any, labels: Any = None) -> Any:
        import tensorflow as tf

        return tf.reduce_sum(x, axis=1)

    report = verify(pair(tf1=both, tf2=lambda: both, train_step=None), until="fingerprint")

    assert (3, "vacuous") == (report.status, statuses(report)["variables"])
    assert "same" in str(report), str(report)


@case
def a_pair_in_a_file_is_found(folder: Path) -> None:
    from migrate_lint.runtime_checks import verify

    text = Path(__file__).read_text().replace("from ...interpreters import Children\n", "")
    (folder / "inner.py").write_text(text)
    (folder / "mine.py").write_text("from inner import pair\nthis = pair(labels=None, train_step=None)\n")
    before = list(sys.argv), list(sys.path)
    report = verify("mine.py:this", until="fingerprint")

    assert before == (sys.argv, sys.path)
    assert (0, "mine.py:this") == (report.status, report.name)


@case
def findings_reach_the_causes(folder: Path) -> None:
    """They are handed in: of the linter only their class and what all reports share is imported."""
    from migrate_lint.runtime_checks import verify

    verify(pair(), until="constant", findings=())
    imported = {name.removeprefix("migrate_lint.linter") for name in sys.modules if name.startswith("migrate_lint.lin")}
    assert {"", ".atomic", ".finding", ".reporters", ".reporters.junit_xml", ".reporters.page"} == imported


@case
def what_cannot_be_used_is_a_value_error(folder: Path) -> None:
    from migrate_lint.runtime_checks import verify

    (folder / "full").mkdir()
    (folder / "full" / "mine").touch()
    for changed, options, message in (
        ({"inputs": None}, {}, "the pair has no inputs"),
        ({"tf1": None}, {}, "tf1 of "),
        ({"tf2": "gone.py:model"}, {}, "there is no file"),
        ({}, {"until": "9"}, "there is no rung '9'"),
        ({}, {"policy": "gone.toml"}, "gone.toml"),
        ({}, {"folder": folder / "full"}, "is not empty"),
    ):
        try:
            verify(pair(**changed), **options)
        except ValueError as error:
            assert message in str(error), error
        else:
            raise AssertionError(f"{message} was not said")
    assert ["mine"] == os.listdir(folder / "full")


@case
def a_program_may_record_itself_beside_a_model(folder: Path) -> None:
    """A TF1 script with a loop of its own, against a model."""
    import tensorflow as tf
    from migrate_lint.runtime_checks import verify

    v1 = tf.compat.v1

    def script(run: Any) -> None:
        with tf.Graph().as_default(), v1.Session() as session:
            x, y = v1.placeholder(tf.float32, [None, 4]), v1.placeholder(tf.float32, [None, 1])
            spec = network(x, y)
            session.run(v1.global_variables_initializer())
            run.variables(session)
            for step in range(run.steps):
                with run.step():
                    inputs, labels = run.batch(step)
                    run.input(inputs)
                    run.label(labels)
                    loss, _ = session.run([spec.loss, spec.train_op], {x: inputs, y: labels})
                    run.loss(loss)
                    run.variables(session)

    report = verify(pair(tf1=script), until="steps")
    assert ("pass", "pass", "pass") == tuple(statuses(report)[name] for name in ("variables", "step", "steps")), report
    assert 0 == report.status, str(report)


def check(name: str, folder: str) -> None:
    """In a child: run a case where it is to leave nothing."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        CASES[name](Path(folder))
    finally:
        os.chdir(before)


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_verify_in_process(name: str, target: str, children: Children, tmp_path: Path) -> None:
    """The cases above, each in the same process as those before it."""
    children.call(target, check, name, str(tmp_path))
