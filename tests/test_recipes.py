"""The recipes are true: what a page has as TF1 and what it has as TF2 compute the same, on both Kerases.

Each is run as the program that it is, and `verify` holds the one against the other with the pair of the page.
"""

from __future__ import annotations

import contextlib
import re
import runpy
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.linter.registry.registry import all_rules
from migrate_lint.runtime_checks.comparison.results import Status
from migrate_lint.runtime_checks.verifying import Request, run

from .interpreters import Children
from .runtime_checks.verify import workers

RECIPES = Path(__file__).parents[1] / "docs" / "recipes"
PAGES = sorted(RECIPES.glob("*.md"))
FILES = {"TF1": "old.py", "TF2": "new.py", "Verify it": "pair.py"}
"""By the section whose first block of Python they are, as the pages call them."""
UNTIL: dict[str, tuple[str, set[str]]] = {
    "checkpoints": ("checkpoint", {"1", "2", "3", "3f", "4", "5"}),
    "collections": ("steps", {"1", "2", "3", "3f", "4", "6", "7"}),
    "estimators": ("steps", {"0", "1", "2", "3", "3f", "6", "7"}),
    "input-pipelines": ("data", {"0"}),
    "keras3": ("random", {"1", "2", "3", "3f", "4"}),
    "metrics": ("evaluation", {"1", "2", "3", "3f", "4", "7e"}),
    "placeholders": ("random", {"1", "2", "3", "3f", "4"}),
    "rnn": ("random", {"1", "2", "3", "3f", "4"}),
    "schedules": ("settings", {"1", "2", "3f", "4", "6", "7", "7r", "7s"}),
    "sessions": ("steps", {"1", "2", "3", "3f", "6", "7"}),
    "slim": ("settings", {"1", "2", "3", "3f", "4", "6", "7", "7e", "7r", "7s"}),
    "variable-scopes": ("random", {"1", "2", "3f", "4"}),
}
"""Of a page the last rung that its pair can climb, and those that have to pass."""
FAULTS = {
    "checkpoints": ('Dense(2, name="net")', 'Dense(2, name="net", use_bias=False)', "2"),
    "collections": ("L2(0.05)", "L2(0.1)", "6"),
    "input-pipelines": ("batch(4)", "batch(4, drop_remainder=True).skip(1)", "0"),
    "metrics": ("(labels, predictions)", "(labels, labels)", "7e"),
    "rnn": ("outputs *=", "outputs +=", "3f"),
    "schedules": ("decay_rate=0.5", "decay_rate=0.6", "7r"),
    "slim": ("momentum=0.999", "momentum=0.99", "6"),
}
"""What a migration gets wrong in the new program of a page, and a rung that then fails."""
NO_MODEL = {
    "summaries": "both programs write files of events, which no rung reads: that they write the same is compared above"
}
EACH = pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in PAGES])


def project(page: Path, folder: Path) -> Path:
    """The files of a page, with compat.v1 for the ``tensorflow`` of the old one."""
    for section in page.read_text("utf-8").split("\n## ")[1:]:
        name = FILES.get(section.partition("\n")[0])
        if name is not None:
            code = re.search(r"^```py\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
            assert code is not None, f"{page.stem}: {name}"
            old = "import tensorflow.compat.v1 as tf" if name == "old.py" else "import tensorflow as tf"
            (folder / name).write_text(code[1].replace("import tensorflow as tf", old), "utf-8")
    return folder


def numbers(folder: str, name: str) -> list[float]:
    """In a child: what a program leaves in ``result``, run in its folder; the old one in a graph, as verify has it."""
    import numpy as np
    import tensorflow as tf
    from migrate_lint.runtime_checks.worker.recording.tf1.side import standing_in

    tf.keras.utils.set_random_seed(1)
    with contextlib.chdir(folder), contextlib.ExitStack() as stack:
        if name == "old.py":
            stack.enter_context(tf.Graph().as_default())
            stack.enter_context(standing_in([].append))  # tf_keras has no layers for slim any more
        result = runpy.run_path(name, run_name="__main__")["result"]
    parts = [np.asarray(part, np.float64).ravel() for part in tf.nest.flatten(result)]
    return [float(number) for number in np.concatenate(parts)]


def moved(code: str) -> list[list[float]]:
    """In a child: what two calls of the normalization of a page leave of its average, the first told to leave it."""
    import numpy as np
    import tensorflow as tf

    made: dict[str, Any] = {}
    exec(code, made)
    layer = made["BatchNormalization"](momentum=0.5, epsilon=0.0)
    rows = tf.constant([[1.0], [3.0]])
    left = tf.function(lambda: layer(rows, training=True, move=False))
    found = [np.ravel(left()).tolist(), layer.moving_mean.numpy().tolist()]
    layer(rows, training=True)
    return [*found, layer.moving_mean.numpy().tolist()]


def work(job: dict[str, Any]) -> dict[str, Any]:
    """In a child: what a worker does, where the files of another page were never loaded."""
    for name in FILES.values():
        sys.modules.pop(name.removesuffix(".py"), None)
    return workers.work(job)


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", list(Target))
@EACH
def test_both_sides_compute_the_same(page: Path, target: Target, children: Children, tmp_path: Path) -> None:
    """TF1 with the Keras that it had."""
    folder = str(project(page, tmp_path))

    wanted = children.call(Target.KERAS2.value, numbers, folder, "old.py")
    found = children.call(target.value, numbers, folder, "new.py")

    assert len(wanted) > 1
    assert pytest.approx(wanted, rel=1e-4, abs=1e-5) == found


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", list(Target))
def test_a_batch_may_normalize_and_leave_the_averages(target: Target, children: Children) -> None:
    """As TF1 did where it ran no update."""
    (code,) = re.findall(r"^  ```py\n(.*?)^  ```", (RECIPES / "collections.md").read_text("utf-8"), re.M | re.S)
    normalized, before, after = children.call(target.value, moved, textwrap.dedent(code))

    assert pytest.approx([-1.0, 1.0], rel=1e-4) == normalized
    assert ([0.0], [1.0]) == (before, after)


@pytest.fixture
def _workers(children: Children) -> Iterator[None]:
    with workers.in_children(children, do=work):
        yield


@pytest.mark.tensorflow
@pytest.mark.usefixtures("_workers")
@pytest.mark.parametrize("target", list(Target))
@pytest.mark.parametrize("name", UNTIL)
def test_verify_finds_both_sides_equal(name: str, target: Target, children: Children, tmp_path: Path) -> None:
    """With the pair of the page, and not for want of something to compare."""
    until, wanted = UNTIL[name]
    folder = project(RECIPES / f"{name}.md", tmp_path)
    if name == "checkpoints":  # the pair names the one that the old program leaves
        children.call(Target.KERAS2.value, numbers, str(folder), "old.py")

    report = run(Request(str(folder / "pair.py"), target=target, until=until))

    passed = {rung.number for rung in report.rungs if rung.status is Status.PASS}
    told = "".join(f"\n{one.number} {one.status.value}: {one.detail}" for one in report.rungs)
    assert (0, wanted) == (report.status, passed), told


@pytest.mark.tensorflow
@pytest.mark.usefixtures("_workers")
@pytest.mark.parametrize("name", FAULTS)
def test_verify_tells_a_recipe_that_is_wrong(name: str, children: Children, tmp_path: Path) -> None:
    """So that the pairs of the pages show something."""
    right, wrong, number = FAULTS[name]
    folder = project(RECIPES / f"{name}.md", tmp_path)
    new = (folder / "new.py").read_text("utf-8")
    assert right in new
    (folder / "new.py").write_text(new.replace(right, wrong), "utf-8")
    if name == "checkpoints":
        children.call(Target.KERAS2.value, numbers, str(folder), "old.py")

    report = run(Request(str(folder / "pair.py"), target=Target.KERAS3, until=UNTIL[name][0]))

    told = "".join(f"\n{one.number} {one.status.value}: {one.detail}" for one in report.rungs)
    failed = {rung.number for rung in report.rungs if rung.status is Status.FAIL}
    assert report.status == 1, told
    assert number in failed, told


def test_every_recipe_has_a_pair() -> None:
    """But those that are no model."""
    assert {page.stem for page in PAGES} == UNTIL.keys() | NO_MODEL.keys()
    assert set() == UNTIL.keys() & NO_MODEL.keys()


def test_each_recipe_is_of_the_rules_that_name_it() -> None:
    """And each rule names one that is there."""
    named: dict[str, set[str]] = {page.stem: set() for page in PAGES}
    for rule in all_rules():
        if rule.recipe:
            named[rule.recipe].add(rule.code)
    for page in PAGES:
        told = re.search(r"^Findings that lead here: (.+)\.$", page.read_text("utf-8"), re.MULTILINE)
        assert told is not None
        assert named[page.stem] == set(told[1].split(", ")), page.stem
