"""The recipes are true: what a page has as TF1 and what it has as TF2 compute the same, on both Kerases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.linter.registry.registry import all_rules

from .interpreters import Children
from .rules.test_fixes import numbers

RECIPES = Path(__file__).parents[1] / "docs" / "recipes"
PAGES = sorted(RECIPES.glob("*.md"))
_SIDE = re.compile(r"^## (TF[12])\n+```py\n(.*?)^```", re.MULTILINE | re.DOTALL)


def of_tf1(text: str) -> list[float]:
    """What a program leaves in ``result`` in a graph, with compat.v1 for ``tensorflow``."""
    import tensorflow as tf

    with tf.Graph().as_default():
        return numbers(text.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf"))


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", list(Target))
@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in PAGES])
def test_both_sides_compute_the_same(page: Path, target: Target, children: Children) -> None:
    """TF1 with the Keras that it had."""
    sides = dict(_SIDE.findall(page.read_text("utf-8")))

    wanted = children.call(Target.KERAS2.value, of_tf1, sides["TF1"])
    found = children.call(target.value, numbers, sides["TF2"])

    assert len(wanted) > 1
    assert pytest.approx(wanted, rel=1e-4, abs=1e-5) == found


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
