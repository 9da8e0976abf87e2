"""``--find-cause`` and ``--seed-bugs`` from the command to the report, beside a TensorFlow of a few lines."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.runtime_checks.worker.recording.mutations.sites import bound, put

from .projects import TENSORFLOW, Place

pytestmark = pytest.mark.slow

Inside = Callable[..., tuple[int, Any]]

LIBRARY = f"""{TENSORFLOW}

class Norm(keras.layers.Layer):
    __module__ = "keras"

    def __init__(self, epsilon=1e-3, name="norm"):
        self.epsilon, self.name = epsilon, name

    @property
    def value(self):
        if self.epsilon == 1e-12:
            raise RuntimeError("too small")
        return 1.0 / (4.0 + self.epsilon)


keras.layers.Norm = Norm
"""
PAIR = """\
import tensorflow as tf
from migrate_lint.runtime_checks import Pair

norms = [tf.keras.layers.Norm()]


def program(run, norm):
    run.input([1.0, 2.0])
    run.variables({"w": [1.0, 2.0]})
    for step in range(run.steps):
        with run.step():
            run.input([float(step)])
            run.loss(norm.value / (step + 1))
            run.variables({"w": [0.5 / (step + 1), 0.2]})
        run.evaluation([0.25 * step])


def old(run):
    program(run, norms[0])


def new(run):
    program(run, tf.keras.layers.Norm(epsilon=1e-5, name="new"))


pair = Pair(old, new, [1.0])
"""
LINE = 1 + PAIR.splitlines().index('    program(run, tf.keras.layers.Norm(epsilon=1e-5, name="new"))')
SOUND = PAIR.replace("epsilon=1e-5", "epsilon=1e-3")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    (tmp_path / "library" / "tensorflow" / "__init__.py").write_text(LIBRARY)
    return place


@pytest.fixture
def inside(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Inside:
    """The command, in the process of the tests."""

    def verify(*words: str, pair: str) -> tuple[int, Any]:
        (place.project / "pair.py").write_text(pair)
        monkeypatch.chdir(place.project)
        for name in ("PYTHONPATH", "TMPDIR", "XDG_CACHE_HOME"):
            monkeypatch.setenv(name, place.environment[name])
        status = main(["verify", *words, "--output-format", "json"])
        return status, json.loads(capsys.readouterr().out)

    return verify


def test_the_line_and_the_value_are_found(place: Place) -> None:
    """The files stay as they are, and nothing is left behind; the exit status is that of the pair."""
    ran = place.verify("pair.py", "--find-cause", "-o", "run", pair=PAIR)
    trial = ran.report["trial"]

    assert (1, "found", 1) == (ran.status, trial["outcome"], len(trial["changes"])), ran.errors
    assert "`Norm(epsilon=1e-05)`: give epsilon=0.001" == trial["changes"][0]["text"]
    assert ["pair.py", LINE] == [Path(trial["changes"][0]["place"][0]).name, trial["changes"][0]["place"][1]]
    assert PAIR == (place.project / "pair.py").read_text()
    assert ["run.json", "tf1", "tf2"] == sorted(path.name for path in (place.project / "run").iterdir())
    assert [] == ran.left


def test_an_attempt_that_raises_is_one_that_does_not_help(inside: Inside) -> None:
    """It is said of it, and the search goes on."""
    _, report = inside("pair.py", "--find-cause", "--budget", "9", pair=PAIR.replace("1e-3", "1e-4"))
    effects = {one["change"]["text"]: one["effect"] for one in report["trial"]["tried"]}

    assert report["trial"]["runs"] <= 9
    assert effects


def test_a_side_that_ends_early_has_no_cause_to_search_for(place: Place) -> None:
    """Its report says why it ended."""
    broken = PAIR.replace('tf.keras.layers.Norm(epsilon=1e-5, name="new")', "1 / 0")
    ran = place.verify("pair.py", "--find-cause", pair=broken)

    assert (4, "not tried") == (ran.status, ran.report["trial"]["outcome"])


def test_an_equal_pair_needs_no_cause(inside: Inside) -> None:
    """And no run."""
    status, report = inside("pair.py", "--find-cause", pair=SOUND)

    assert (0, "none needed", 0) == (status, report["trial"]["outcome"], report["trial"]["runs"])


def test_bugs_are_planted_in_the_process_of_the_tests_as_well(inside: Inside) -> None:
    """The same one is caught; with too few runs for all steps that is said."""
    status, report = inside("pair.py", "--seed-bugs", "--budget", "2", pair=SOUND)

    assert 0 == status
    assert ["6"] == [planted["rung"] for planted in report["self_test"]["planted"]]
    assert report["self_test"]["runs"] <= 2


def test_a_planted_bug_is_caught(place: Place) -> None:
    """By the loss of the first step; the pair itself is equal, and so is the exit status."""
    ran = place.verify("pair.py", "--seed-bugs", pair=SOUND)
    test = ran.report["self_test"]
    (planted,) = test["planted"]

    assert (0, "6", 3) == (ran.status, planted["rung"], planted["steps"]), ran.errors
    assert "`Norm(epsilon=0.001)`: epsilon=1e-05" == planted["change"]["text"]
    assert [] == ran.left


def test_what_shows_late_is_caught_with_more_steps(place: Place) -> None:
    """The report says with how many."""
    late = SOUND.replace("norm.value / (step + 1)", "norm.value / (step + 1) if step > 4 else 1.0 / (step + 1)")
    test = place.verify("pair.py", "--seed-bugs", pair=late).report["self_test"]

    assert [("7", 5, 8)] == [(one["rung"], one["step"], one["steps"]) for one in test["planted"]]


def test_nothing_is_planted_into_a_pair_that_differs(place: Place) -> None:
    """What would be caught then says nothing, which is said."""
    ran = place.verify("pair.py", "--seed-bugs", pair=PAIR)
    test = ran.report["self_test"]

    assert (1, []) == (ran.status, test["planted"])
    assert ["bugs are planted only into a pair that was compared and is equal"] == test["not_planted"]


ENDS = {
    "raises": ("raise ValueError('too small')", "ValueError: too small"),
    "is killed": ("os.kill(os.getpid(), 9)", "the process ended by signal 9"),
    "segfaults": ("os.kill(os.getpid(), 11)", "the process ended by signal 11"),
    "exits": ("os._exit(3)", "the process ended with status 3"),
    "exits as if all were well": ("os._exit(0)", "the process ended with status 0"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_bug_that_ends_the_program_is_caught(inside: Inside, name: str) -> None:
    """However it ends it, and wherever; what was recorded before it is not taken for all of it."""
    how, said = ENDS[name]
    pair = SOUND.replace("import tensorflow", "import os\nimport tensorflow")
    pair = pair.replace("    for step in", f"    if norm.epsilon == 1e-5:\n        {how}\n    for step in")
    status, report = inside("pair.py", "--seed-bugs", pair=pair)
    (planted,) = report["self_test"]["planted"]

    assert (0, "-") == (status, planted["rung"])
    assert said in planted["note"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pair.py", "--budget", "3"], "--budget: for --find-cause and --seed-bugs alone"),
        (["pair.py", "--find-cause", "--budget", "0"], "--budget"),
        (["pair.py", "--find-cause", "--seed-bugs"], "not allowed with"),
        (["--compare", "run", "--find-cause"], "--find-cause: nothing is run with --compare"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is run."""
    assert 2 == main(["verify", *words])
    assert message in capsys.readouterr().err


def scoped(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that adds an argument which the call leaves out, as a scope of slim does."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{"training": True, **kwargs})

    return call


@scoped
def normalized(value: float, decay: float = 0.9, training: bool = False, epsilon: float = 0.001, **more: Any) -> Any:
    return value, decay, training, epsilon, more


@pytest.mark.parametrize(
    ("args", "kwargs", "other", "given"),
    [
        ((1.0,), {}, {}, (1.0, 0.9, True, 0.001, {})),
        ((1.0,), {"epsilon": 0.1}, {}, (1.0, 0.9, True, 0.1, {})),
        ((1.0, 0.5), {}, {"decay": 0.7}, (1.0, 0.7, True, 0.001, {})),
        ((1.0,), {"decay": 0.5}, {"decay": 0.7}, (1.0, 0.7, True, 0.001, {})),
        ((1.0,), {}, {"epsilon": 0.2, "decay": 0.1}, (1.0, 0.1, True, 0.2, {})),
        ((1.0,), {"training": False}, {"epsilon": 0.2}, (1.0, 0.9, False, 0.2, {})),
        ((1.0,), {}, {"momentum": 0.2}, (1.0, 0.9, True, 0.001, {"momentum": 0.2})),
    ],
)
def test_a_changed_call_gives_what_it_gave_and_what_is_changed(
    args: Any, kwargs: dict[str, Any], other: dict[str, Any], given: Any
) -> None:
    """What a decorator adds is added all the same, and is not given twice."""
    arguments = bound(normalized, args, kwargs)
    assert arguments is not None
    positional, named = put(arguments, args, kwargs, other)

    assert given == normalized(*positional, **named)
