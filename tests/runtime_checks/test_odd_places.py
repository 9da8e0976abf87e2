"""What a run comes upon by itself: variables that are made in odd places, and nothing in models that are in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.runtime_checks.locate import locate
from migrate_lint.runtime_checks.protocol import job

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


@pytest.fixture(scope="module", params=list(Target))
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the worker says of every model that the target has, by name, without any finding to judge."""
    folder = tmp_path_factory.mktemp(f"odd_{request.param}")
    texts = {model.name: model.text for model in MODELS if request.param in model.targets}
    texts |= {"caller": CALLER}
    for name, text in {**texts, "centring": HELPER}.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    done = probe_pages.run([_job(folder, name, request.param) for name in texts], request.param)
    return dict(zip(texts, done, strict=True))


def _job(folder: Path, name: str, target: Target) -> dict[str, Any]:
    return job(
        target=target,
        device=None,
        located=locate(f"{folder / name}.py:build", str(folder)),
        inputs=None,
        shapes=(),
        dtypes=(),
        roots=[str(folder)],
        memory_limit=None,
        findings=[],
    )


@pytest.mark.parametrize("model", [pytest.param(model, id=model.name) for model in MODELS])
def test_the_run_observes_what_the_page_says_and_nothing_else(model: Model, results: dict[str, dict[str, Any]]) -> None:
    """Each model could be called, and each observation, or that there is none, is as on its page."""
    if model.name not in results:
        pytest.skip(f"this model is for {', '.join(model.targets)} only")

    assert [] == list(probe_pages.disagreements(model, results[model.name]))
    assert "ok" == next(outcome for name, outcome, *_ in results[model.name]["phases"] if name == "second call")


@pytest.mark.parametrize("model", [pytest.param(model, id=model.name) for model in MODELS if model.page == "clean.md"])
def test_what_is_in_order_runs(model: Model, results: dict[str, dict[str, Any]]) -> None:
    """The calls, and the data that the run makes up for ``fit``, are such as the model takes."""
    if model.name not in results:
        pytest.skip(f"this model is for {', '.join(model.targets)} only")
    asked = [name for name, *_ in results[model.name]["phases"] if "another batch" not in name and "save" not in name]

    assert [] == [phase for phase in results[model.name]["phases"] if phase[0] in asked and phase[1] == "failed"]


def test_a_creation_in_another_file_is_observed_there(results: dict[str, dict[str, Any]]) -> None:
    """The line is that of the helper; the caller's stands among the frames."""
    (observed,) = results["caller"]["observations"]

    assert ("centring.py", 6) == (Path(observed["path"]).name, observed["line"])
    assert ("caller.py", 9) in [(Path(path).name, line) for path, line, _ in observed["frames"]]
