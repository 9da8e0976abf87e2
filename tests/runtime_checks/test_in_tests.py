"""``pytest --migrate-lint-runtime``: the models of a project's own tests are run, and no test is touched by that."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

OPTION = "--migrate-lint-runtime"
TARGETS = ("keras3", "keras2")
NETWORKS = """
import itertools

import numpy as np
import tensorflow as tf


class Fresh(tf.keras.Model):
    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.dense = tf.keras.layers.Dense(width)

    def call(self, x, training=False):
        if training:
            x = x * tf.Variable(1.0)  # confirmed
        return self.dense(x)


class Shared(tf.keras.layers.Layer):
    def call(self, x):
        return x + tf.Variable(1.0)  # confirmed


def made_by_name(x):
    variable = tf.Variable(2.0)  # confirmed
    return x * variable


class ByName(tf.keras.layers.Layer):
    def call(self, x):
        return {"it": made_by_name}["it"](x)


class Once(tf.keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.turns = itertools.count()

    def call(self, x):
        if next(self.turns) == 0:
            self.factor = tf.Variable(2.0, trainable=False)  # refuted
        return x * self.factor


class Talking(tf.keras.layers.Layer):
    def call(self, x):
        print("called")  # confirmed
        return x


class Drawing(tf.keras.layers.Layer):
    def call(self, x):
        return x * np.random.rand()  # confirmed


def functional():
    x = tf.keras.Input((3,))
    return tf.keras.Model(x, tf.keras.layers.Lambda(lambda y: y * 2.0)(tf.keras.layers.Dense(2)(x)))  # confirmed


class OfFailing(tf.keras.layers.Layer):
    def call(self, x):
        return x + tf.Variable(1.0)  # test_fails


class OfExpectedFailure(tf.keras.layers.Layer):
    def call(self, x):
        return x + tf.Variable(1.0)  # test_fails_as_expected


class Module(tf.Module):
    def __call__(self, x):
        return x + tf.Variable(1.0)  # test_module


class Raising(tf.keras.layers.Layer):
    def call(self, x):
        raise ValueError("not this way")


class Symbolic(tf.keras.layers.Layer):
    def call(self, x):
        print("symbolic")  # test_symbolic
        return x


class Untested(tf.keras.layers.Layer):
    def call(self, x):
        return x + tf.Variable(1.0)  # untested


class Unseen(tf.keras.layers.Layer):
    def call(self, x):
        return x + getattr(tf, "".join(["Vari", "able"]))(1.0)  # unseen
"""
TESTS = """
import networks
import numpy as np
import pytest
import tensorflow as tf


class InTheTest(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(2.0)  # confirmed


@pytest.fixture
def fresh():
    return networks.Fresh()


@pytest.fixture(scope="module")
def shared():
    return networks.Shared()


def test_array(fresh):
    assert fresh(np.ones((2, 4), "float32")).shape == (2, 3)


def test_shared(shared):
    shared(tf.ones((2, 2)))


@pytest.mark.parametrize("rows", [2, 3])
def test_once(rows):
    assert networks.Once()(tf.ones((rows, 3))).shape == (rows, 3)


class TestByName(tf.test.TestCase):
    def test_it(self):
        self.assertAllClose(networks.ByName()(tf.ones((2,))), [2.0, 2.0])


def test_fit_arrays():
    model = networks.functional()
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)


def test_fit_dataset():
    model = tf.keras.Sequential([networks.Drawing(), tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    model.fit(tf.data.Dataset.from_tensors((tf.ones((4, 3)), tf.ones((4, 2)))), verbose=0)


def test_predict(capsys):
    tf.keras.Sequential([networks.Talking()]).predict(np.ones((4, 3)), verbose=0)
    assert "called" in capsys.readouterr().out


def test_fails():
    assert networks.OfFailing()(tf.ones((2, 2))) is None


@pytest.mark.xfail
def test_fails_as_expected():
    assert networks.OfExpectedFailure()(tf.ones((2, 2))) is None


def test_module():
    networks.Module()(tf.ones((2, 2)))


def test_raises():
    with pytest.raises(ValueError):
        networks.Raising()(tf.ones((2, 2)))


def test_symbolic():
    networks.Symbolic()(tf.keras.Input((2,)))


def test_unseen():
    networks.Unseen()(tf.ones((2, 2)))


@pytest.mark.parametrize("times", [1, 2])
def test_class_of_its_own(times):
    class OfItsOwn(tf.keras.layers.Layer):
        def call(self, x):
            return times * x

    OfItsOwn()(tf.ones((2, 2)))


def test_in_the_test():
    InTheTest()(tf.ones((2, 2)))
"""
CONFTEST = """
import json
import os

import pytest

seen = []


@pytest.fixture(autouse=True)
def told(request):
    import numpy as np
    import tensorflow as tf

    yield
    names = [tf.keras.layers.Dense(1).name, tf.compat.v1.get_default_graph().unique_name("name")]
    seen.append([request.node.nodeid, names, float(tf.random.uniform(())), float(np.random.rand())])


def pytest_sessionstart(session):
    import numpy as np
    import tensorflow as tf

    np.random.seed(1)
    tf.random.set_seed(1)


def pytest_unconfigure(config):
    with open("seen.json", "w") as file:
        json.dump(seen, file)
"""
PROJECT = {"networks.py": NETWORKS, "tests/test_networks.py": TESTS, "conftest.py": CONFTEST}
FINDING = re.compile(r"^(?P<path>\S+):(?P<line>\d+):\d+: (?P<code>TF\d+)\[.*?(?=^$)", re.MULTILINE | re.DOTALL)
VERDICT = re.compile(
    r"^    (?P<verdict>confirmed|refuted|unreached|failed|static-only)(?: \(keras.[^)]*\))?:? ?(?P<detail>.*)",
    re.MULTILINE,
)


class Session:
    """A finished session in its folder, and what it said."""

    def __init__(self, folder: Path, target: str, *options: str, files: Mapping[str, str] = PROJECT) -> None:
        for name, text in files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        legacy = str(int(target == "keras2"))
        unwanted = ("PYTEST_", "COV_")
        self.folder = folder
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", "--rootdir", str(folder), *options],
            cwd=folder,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith(unwanted)},
                "TF_USE_LEGACY_KERAS": legacy,
                "XDG_CACHE_HOME": str(folder / "cache"),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        self.status, self.output = ended.returncode, ended.stdout

    @property
    def outcomes(self) -> list[str]:
        """The tests' names, each after what became of it."""
        found = re.findall(r"^(PASSED|FAILED|XFAIL|SKIPPED|ERROR) (\S+)", self.output, re.MULTILINE)
        return sorted(" ".join(one) for one in found)

    @property
    def seen(self) -> object:
        return json.loads((self.folder / "seen.json").read_text("utf-8"))

    def found(self, place: str) -> dict[str, tuple[str, str]]:
        """Verdict and detail of the findings of a line, by code; the line ends in a comment."""
        path, _, mark = place.partition(":")
        marked = [
            number
            for number, line in enumerate(PROJECT[path].split("\n"), 1)
            if mark in (str(number), line.partition("  # ")[2])
        ]
        found = {}
        for one in FINDING.finditer(self.output):
            if one["path"] == path and int(one["line"]) in marked:
                said = VERDICT.search(one[0])
                assert said is not None, one[0]
                found[one["code"]] = said["verdict"], said["detail"]
        return found


@pytest.fixture(scope="module", params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def session(target: str, tmp_path_factory: pytest.TempPathFactory) -> Session:
    return Session(tmp_path_factory.mktemp(target), target, OPTION)


@pytest.fixture(scope="module")
def without(target: str, tmp_path_factory: pytest.TempPathFactory) -> Session:
    return Session(tmp_path_factory.mktemp(f"{target}-without"), target)


def lines(path: str, mark: str) -> list[str]:
    marked = [number for number, line in enumerate(PROJECT[path].split("\n"), 1) if line.endswith(f"  # {mark}")]
    assert marked
    return [f"{path}:{number}" for number in marked]


@pytest.mark.parametrize(
    ("place", "verdict"),
    [
        (place, verdict)
        for path, verdict in [
            ("networks.py", "confirmed"),
            ("networks.py", "refuted"),
            ("tests/test_networks.py", "confirmed"),
        ]
        for place in lines(path, verdict)
    ],
)
def test_each_finding_has_the_verdict_of_the_models_that_tests_make(session: Session, place: str, verdict: str) -> None:
    """However the test makes and calls them: fixtures, test cases, `fit`, `predict`, functional models."""
    found = session.found(place)

    assert verdict in {said for said, _ in found.values()}, session.output
    assert "TF907" not in found


@pytest.mark.parametrize("test", ["test_fails", "test_fails_as_expected", "test_module", "test_symbolic"])
def test_a_line_that_only_tests_came_to_is_unreached_and_says_so(session: Session, test: str) -> None:
    """What a failing test made may be broken; what is no Keras model is not called, and others say nothing of it."""
    said = session.found(f"networks.py:{test}")

    reason = f"no model that was run came to this line; tests/test_networks.py::{test} did"
    assert {("unreached", reason)} == {*said.values()}


def test_a_line_that_no_test_came_to_is_unreached(session: Session) -> None:
    assert {("unreached", "no test came to this line")} == {*session.found("networks.py:untested").values()}


def test_what_static_analysis_does_not_see_is_found(session: Session) -> None:
    assert "confirmed" == session.found("networks.py:unseen")["TF907"][0]


def test_models_of_the_same_classes_are_run_once(session: Session) -> None:
    """Also where each test defines the class anew; two `Sequential` of different layers are different models."""
    models = re.findall(r"^`(.+?)` of \S+, keras", session.output, re.MULTILINE)

    assert [1, 1] == [models.count(one) for one in ("Once", "test_class_of_its_own.<locals>.OfItsOwn")]
    assert ["Sequential"] == [one for one in {*models} if models.count(one) > 1]


def test_the_tests_are_counted(session: Session) -> None:
    """Those of which no model was run too."""
    assert "tests: 18, of which 13 passed and called a model" in session.output
    assert "not run: models of tests that did not pass: 2" in session.output
    assert "not run: models of tests that gave them symbolic tensors alone: 1" in session.output


def test_no_test_is_touched(session: Session, without: Session) -> None:
    """The same outcomes, names and random numbers in every test."""
    assert len(without.outcomes) > 10
    assert without.outcomes == session.outcomes
    assert without.status == session.status == 1
    assert without.seen == session.seen


def test_without_the_option_nothing_is_said(without: Session) -> None:
    assert "migrate-lint =" not in without.output
    assert "TF101" not in without.output


def test_tests_in_several_processes_are_refused(tmp_path: Path) -> None:
    """They would be listened to in none."""
    session = Session(tmp_path, "keras3", OPTION, "-n", "2")

    assert session.status == pytest.ExitCode.USAGE_ERROR
    assert "give -n 0" in session.output


def test_bad_settings_are_told_before_any_test_runs(tmp_path: Path) -> None:
    session = Session(
        tmp_path, "keras3", OPTION, files={**PROJECT, "pyproject.toml": "[tool.migrate-lint]\nselekt = ['TF1']\n"}
    )

    assert session.status == pytest.ExitCode.USAGE_ERROR
    assert "selekt" in session.output
    assert [] == session.outcomes


def test_tests_that_were_not_run_are_counted(tmp_path: Path) -> None:
    """Those that were not chosen, and those that come after the first failure."""
    session = Session(tmp_path, "keras3", OPTION, "-x", "-k", "array or fails or shared")

    assert ["FAILED", "PASSED", "PASSED", "PASSED"] == [one.split()[0] for one in session.outcomes]
    assert "tests: 4 of 18 were run, of which 3 passed and called a model" in session.output
    assert {("unreached", "no test came to this line")} == {*session.found("networks.py:test_module").values()}
