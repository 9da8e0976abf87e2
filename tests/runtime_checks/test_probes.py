"""Every probe confirms, refutes and leaves unreached what its page says, under both Keras targets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Severity, Target
from migrate_lint.linter.registry import registry
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config
from migrate_lint.runtime_checks.locate import locate
from migrate_lint.runtime_checks.protocol import job

from . import probe_pages
from .probe_pages import GUIDES, PAGES, Model

PROBES = Path(__file__).parents[2] / "runtime_checks" / "worker" / "probes"
LOOK_UPS = {"session-run", "placeholder", "graph-collection", "contrib", "moved-or-removed-symbol", "estimator"}
LOOK_UPS |= {"v1-layers-keras3", "v2-behavior-disabled"}

PROBED = [model for page in sorted(PAGES.glob("*.md")) for model in probe_pages.models(page)]
GUIDED = [model for page in sorted(GUIDES.glob("*.md")) for model in probe_pages.models(page)]
MODELS = PROBED + GUIDED


def test_every_probe_has_a_page() -> None:
    """Without a page a probe does not exist, and a page without a probe tests nothing."""
    probes = {path.stem.replace("_", "-") for path in PROBES.glob("*.py") if path.stem != "__init__"}

    assert probes == {path.stem for path in PAGES.glob("*.md")}


def test_every_probe_is_named_like_a_rule() -> None:
    """The worker finds it by that name."""
    probes = {path.stem.replace("_", "-") for path in PROBES.glob("*.py") if path.stem != "__init__"}

    assert set() == probes - set(registry.codes().values())


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in sorted(PAGES.glob("*.md"))])
def test_every_page_confirms_refutes_and_leaves_unreached(page: Path) -> None:
    """A verdict that was never seen may never come; a name is looked up whether its line runs or not."""
    words = set(re.findall(r"# (confirmed|refuted|unreached):", page.read_text("utf-8")))

    assert {"confirmed", "refuted", "unreached"} - ({"unreached"} if page.stem in LOOK_UPS else set()) <= words


@pytest.fixture(scope="module", params=list(Target))
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the worker says of every selected model, by name: one child interpreter for each target."""
    target: Target = request.param
    selected = {item.name.partition("[")[2].rstrip("]").partition("-")[2] for item in request.session.items}
    folder = tmp_path_factory.mktemp(f"models_{target}")
    chosen = [model for model in MODELS if target in model.targets and model.name in selected]
    for model in chosen:
        (folder / f"{model.name}.py").write_text(model.text, "utf-8")
    (folder / "pyproject.toml").write_text("", "utf-8")
    found = lint([str(folder)], Config(base=str(folder), target=target)).findings
    by_name = {model.name: [one for one in found if Path(one.path).stem == model.name] for model in chosen}
    jobs = [_job(folder, model, target, by_name[model.name]) for model in chosen]
    together = [(model, work) for model, work in zip(chosen, jobs, strict=True) if not model.alone]
    done = zip(together, probe_pages.run([work for _, work in together], target), strict=True)
    results = {model.name: result for (model, _), result in done}
    for model, work in zip(chosen, jobs, strict=True):
        if model.alone:
            (results[model.name],) = probe_pages.run([work], target)
    return results


def _job(folder: Path, model: Model, target: Target, found: list[Any]) -> dict[str, Any]:
    path = str(folder / f"{model.name}.py")
    chosen = probe_pages.findings(model, found, path, registry.codes())
    if model in GUIDED:
        asked = {(one.line, one.code) for one in chosen}
        real = {(one.line, one.code) for one in found if one.severity is not Severity.INFO}
        assert asked == real, f"{model.page}:{model.line}"
    return job(
        target=target,
        device=None,
        located=locate(f"{path}:build", str(folder)),
        inputs=None,
        shapes=(),
        dtypes=(),
        roots=[str(folder)],
        memory_limit=None,
        findings=[(number, path, one) for number, one in enumerate(chosen)],
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize("model", [pytest.param(model, id=model.name) for model in MODELS])
def test_verdicts(model: Model, results: dict[str, dict[str, Any]]) -> None:
    """Each comment on the page holds."""
    if model.name not in results:
        pytest.skip(f"this model is for {', '.join(model.targets)} only")

    assert [] == list(probe_pages.disagreements(model, results[model.name]))
