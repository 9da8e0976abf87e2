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
from migrate_lint.runtime_checks.strategies import parse

from ..interpreters import Children
from . import probe_pages
from .probe_pages import GUIDES, PAGES, Model

PROBES = Path(__file__).parents[2] / "runtime_checks" / "worker" / "probes"
LOOK_UPS = {"session-run", "placeholder", "graph-collection", "contrib", "moved-or-removed-symbol", "estimator"}
LOOK_UPS |= {"v1-layers-keras3", "v2-behavior-disabled", "app-flags-logging-gfile", "session-config", "session-hooks"}
OF_ANY_RELEASE = {"private-tensorflow-import"}
"""What such a rule says is not refuted by a release in which all is well."""

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
    never = {"unreached"} if page.stem in LOOK_UPS else {"refuted"} if page.stem in OF_ANY_RELEASE else set()

    assert {"confirmed", "refuted", "unreached"} - never <= words


def _job(folder: Path, model: Model, target: Target) -> dict[str, Any]:
    path = str(folder / f"{model.name}.py")
    Path(path).write_text(model.text, "utf-8")
    (folder / "pyproject.toml").write_text("", "utf-8")
    found = lint([str(folder)], Config(base=str(folder), target=target)).findings
    chosen = probe_pages.findings(model, found, path, registry.codes())
    if model in GUIDED:
        asked = {(one.line, one.code) for one in chosen}
        real = {(one.line, one.code) for one in found if one.severity is not Severity.INFO}
        assert asked == real, f"{model.page}:{model.line}"
    return job(
        target=target,
        device=None,
        strategy=None if model.strategy is None else parse(model.strategy),
        located=locate(f"{path}:build", str(folder)),
        inputs=None,
        shapes=(),
        dtypes=(),
        roots=[str(folder)],
        memory_limit=None,
        findings=[(number, path, one) for number, one in enumerate(chosen)],
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize(("target", "model"), probe_pages.on_targets(MODELS))
def test_verdicts(target: Target, model: Model, children: Children, tmp_path: Path) -> None:
    """Each comment on the page holds."""
    results = children.call(target, probe_pages.run, _job(tmp_path, model, target), alone=model.alone)

    assert [] == list(probe_pages.disagreements(model, results))
