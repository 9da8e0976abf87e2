"""What a file asked its project, written down and asked again."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator

import pytest
from migrate_lint.linter.analysis.dependency_recorder import PREPARATION, DependencyRecorder, answers
from migrate_lint.linter.analysis.execution_context import Effects
from migrate_lint.linter.analysis.project import Project

from .analysis import project_of

TEXTS = {
    "net.py": """
    import tensorflow as tf
    class Base(tf.keras.layers.Layer):
        @property
        def scale(self): ...
    class Net(Base):
        def call(self, x, kernel=None):
            tf.compat.v1.layers.dense(x, 1)
            return x
        def step(self, x, kernel=None): ...
    """,
    "user.py": "from net import Net\nNet().call(1)\nNet().step(1)\n",
}
ARGUMENTS: dict[str, object] = {"file": "user.py", "text": "net.Net", "name": "call", "parameter": "kernel", "flag": 1}
ARGUMENTS |= {"flags": 1, "without": 2, "parameters": ("kernel",), "how": "is", "literal": "1", "default": "null"}
ARGUMENTS |= {"attribute": "scale"}
KEYS = {"function": ("net.py", 4), "class": ("net.py", 3), "method": ("net.py", 5)}
PUBLIC = {name for name, _ in inspect.getmembers(Project, inspect.isfunction) if not name.startswith("_")}
QUESTIONS = sorted(PUBLIC - PREPARATION)


def cases() -> Iterator[tuple[str, list[object]]]:
    """Every question of a project, with arguments that fit the names of its parameters."""
    for question in QUESTIONS:
        parameters = list(inspect.signature(getattr(Project, question)).parameters)[1:]
        if parameters == ["names"]:
            yield question, ["tensorflow.layers.dense", "keras.layers.*"]
            continue
        for key in KEYS.values() if "key" in parameters else [("", 0)]:
            yield question, [key if name == "key" else ARGUMENTS[name] for name in parameters]


@pytest.mark.parametrize(("question", "arguments"), list(cases()))
def test_every_question_is_recorded(question: str, arguments: list[object]) -> None:
    """Just as it was asked, with the project's answer, which holds when the question is read from a file."""
    project = project_of(TEXTS)
    recorder = DependencyRecorder(project)

    assert getattr(project, question)(*arguments) == getattr(recorder, question)(*arguments)
    assert {(question, tuple(arguments))} == recorder.asked.keys()
    questions, digest = recorder.dependencies()
    assert digest == answers(project_of(TEXTS), json.loads(json.dumps(questions)))


def test_the_questions_are_many_and_some_have_answers() -> None:
    """An empty list would assert nothing."""
    project = project_of(TEXTS)

    assert {"resolve", "kinds", "contexts", "uses", "enters_graph", "callers_omitting_under"} < set(QUESTIONS)
    assert {"layer"} == project.kinds(KEYS["class"]) == DependencyRecorder(project).kinds(KEYS["class"])
    assert ("tensorflow.layers.dense",) == project.v1_calls(KEYS["function"])
    assert [[["-"]]] == project.arguments_under(KEYS["method"], ("kernel",), 0, 0)
    assert Effects.UNREACHABLE == project.asking_effects(KEYS["method"], "kernel", "true", "", "null")


def test_nothing_but_questions_is_left_to_the_project() -> None:
    """What a recorder does not record is what comes before the first question."""
    inherited = {name for name in dir(Project) if name[0] != "_" and name not in vars(DependencyRecorder)}

    assert PREPARATION | {"call_graph"} == inherited


def test_a_question_is_the_same_by_position_and_by_name() -> None:
    """It is asked once."""
    recorder = DependencyRecorder(project_of(TEXTS))

    assert recorder.method(KEYS["class"], "call") == recorder.method(name="call", key=KEYS["class"])
    assert [("method", (KEYS["class"], "call"))] == recorder.dependencies()[0]


def test_another_answer_is_noticed() -> None:
    """So is a question that no longer means anything."""
    recorder = DependencyRecorder(project_of(TEXTS))
    recorder.kinds(KEYS["class"])
    questions, digest = recorder.dependencies()
    changed = TEXTS | {"net.py": TEXTS["net.py"].replace("layers.Layer", "Model")}

    assert digest != answers(project_of(changed), questions)
    assert answers(project_of(TEXTS), [("forgotten", [])]) is None
