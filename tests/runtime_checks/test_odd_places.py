"""What a run comes upon by itself: variables that are made in odd places, and nothing in models that are in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.locate import locate
from migrate_lint.runtime_checks.protocol import job

from ..interpreters import Children
from . import probe_pages
from .probe_pages import Model

ODD = Path(__file__).parent / "odd"
MODELS = [model for name in ("created.md", "clean.md") for model in probe_pages.models(ODD / name)]
HELPER = """
import tensorflow as tf


def centred(x):
    return x - tf.Variable(1.0)
"""
CALLER = """
import tensorflow as tf

import centring


class Net(tf.keras.layers.Layer):
    def call(self, x):
        return centring.centred(x)


def build():
    return Net(), tf.ones((2, 3))
"""

pytestmark = pytest.mark.tensorflow


def results(children: Children, folder: Path, target: Target, **texts: str) -> dict[str, Any]:
    """What the worker says of the first of some modules, without any finding to judge."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    work = job(
        target=target,
        device=None,
        located=locate(f"{folder / next(iter(texts))}.py:build", str(folder)),
        inputs=None,
        shapes=(),
        dtypes=(),
        roots=[str(folder)],
        memory_limit=None,
        findings=[],
    )
    return dict(children.call(target, probe_pages.run, work))


@pytest.mark.parametrize(("target", "model"), probe_pages.on_targets(MODELS))
def test_the_run_observes_what_the_page_says_and_nothing_else(
    target: Target, model: Model, children: Children, tmp_path: Path
) -> None:
    """Each observation, or that there is none, is as on its page.

    Each model could be called; the calls, and the data that the run makes up for ``fit``, are such as a model that is
    in order takes.
    """
    found = results(children, tmp_path, target, **{model.name: model.text})
    asked = [phase for phase in found["phases"] if "another batch" not in phase[0] and "save" not in phase[0]]

    assert [] == list(probe_pages.disagreements(model, found))
    assert "ok" == next(outcome for name, outcome, *_ in found["phases"] if name == "second call")
    if model.page == "clean.md":
        assert [] == [phase for phase in asked if phase[1] == "failed"]


@pytest.mark.parametrize("target", Target)
def test_a_creation_in_another_file_is_observed_there(target: Target, children: Children, tmp_path: Path) -> None:
    """The line is that of the helper; the caller's stands among the frames."""
    (observed,) = results(children, tmp_path, target, caller=CALLER, centring=HELPER)["observations"]

    assert ("centring.py", 6) == (Path(observed["path"]).name, observed["line"])
    assert ("caller.py", 9) in [(Path(path).name, line) for path, line, _ in observed["frames"]]
