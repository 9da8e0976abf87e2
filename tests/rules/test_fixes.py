"""What the pages of rules say of their fixes: the text that they make, and the numbers that it computes."""

from __future__ import annotations

import re
import runpy
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from migrate_lint.linter.finding import INTERNAL_ERROR, Applicability, Finding, Target, Via
from migrate_lint.linter.registry.registry import all_rules, known
from migrate_lint.linter.rule_api.rule import Rule
from migrate_lint.linter.run.fixing import Wanted, fix
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

from ..interpreters import Children
from .pages import Case, Fixed, Page, all_pages, read_page, without_markers

_RECORDED = re.compile(r"^result = .*  # 1\.15: (.*)$", re.MULTILINE)
"""What TF 1.15 left in ``result``."""
FIXABLE = [rule for rule in all_rules() if type(rule).fix is not Rule.fix]


def _fixed(wanted: str = "") -> Iterator[object]:
    for path in all_pages():
        page = read_page(path)
        for section in page.sections:
            for case in section.cases:
                if case.fixed is not None and (not wanted or case.fixed.run):
                    for target in sorted(case.targets & case.fixed.targets):
                        name = f"{page.path.stem}-{section.title.replace(' ', '_')}-{case.line}-{target}"
                        yield pytest.param(page, case, target, id=name)


def _applied(path: Path, target: Target, code: str, fixed: Fixed) -> tuple[str, list[Finding]]:
    """The text of a file with the fixes of a rule, and what could be fixed then."""
    config = Config(base=str(path.parent), target=target.value)
    applicable = {Applicability.SAFE, *([Applicability.UNSAFE] if fixed.unsafe else [])}
    wanted = Wanted(frozenset({code}), frozenset(applicable))
    done = fix(lambda unsaved: lint([str(path)], config, unsaved=unsaved, fixes=Via.NATIVE), wanted)
    assert not done.left
    return (done.files[0].now.decode() if done.files else path.read_text("utf-8")), [
        one for one in done.result.findings if wanted(one)
    ]


@pytest.mark.parametrize(("page", "case", "target"), [*_fixed()])
def test_a_fix_makes_what_the_page_says(page: Page, case: Case, target: Target, tmp_path: Path) -> None:
    """And is then nothing that could be fixed again."""
    assert case.fixed is not None
    for name, text in case.files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(without_markers(text), "utf-8")
    path = tmp_path / case.files[-1][0]

    text, again = _applied(path, target, page.code, case.fixed)

    assert without_markers(case.fixed.text) == text
    assert not again


@pytest.mark.slow
@pytest.mark.parametrize("target", [*Target])
def test_no_fix_is_in_vain(target: Target, tmp_path: Path) -> None:
    """In no case of any page: where all fixes of all rules are applied, what they fix is gone, and none raises."""
    cases = [case for path in all_pages() for section in read_page(path).sections for case in section.cases]
    wanted = Wanted(frozenset(known()), frozenset(Applicability))
    fixed = 0
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        for name, text in case.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(without_markers(text), "utf-8")
        config = Config(base=str(folder), target=target.value)
        done = fix(lambda unsaved, at=folder, by=config: lint([str(at)], by, unsaved=unsaved, fixes=Via.NATIVE), wanted)
        assert not done.left, case.files
        assert not [one for one in done.result.findings if one.code == INTERNAL_ERROR.code], case.files
        fixed += len(done.files)

    assert fixed > len(FIXABLE)


@pytest.mark.tensorflow
@pytest.mark.parametrize(("page", "case", "target"), [*_fixed("run")])
def test_a_fix_computes_what_tf1_computed(page: Page, case: Case, target: Target, children: Children) -> None:
    """The code before it with compat.v1, which needs Keras 2, and after it on the target."""
    assert case.fixed is not None
    before = without_markers(case.files[-1][1])
    recorded = _RECORDED.search(before)
    wanted = [*map(float, recorded[1].split())] if recorded else []
    wanted = wanted or children.call(Target.KERAS2.value, numbers_of_tf1, before)
    found = children.call(target.value, numbers, without_markers(case.fixed.text))

    assert wanted
    assert pytest.approx(wanted, rel=1e-6, abs=1e-7) == found


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.code)
def test_every_fix_has_been_run(rule: Rule) -> None:
    """The page of a rule with a fix has one whose numbers are compared."""
    (page,) = (page for path in all_pages() if (page := read_page(path)).code == rule.code)
    fixes = [case.fixed for section in page.sections for case in section.cases if case.fixed is not None]

    assert [one for one in fixes if one.run]
    assert rule.code in known()


def numbers_of_tf1(text: str) -> list[float]:
    """What a program leaves in ``result`` with compat.v1 for ``tensorflow``, its tensors and shapes as TF1 had them."""
    import tensorflow as tf

    old = text.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    assert old != text
    tf.compat.v1.disable_tensor_equality()
    tf.compat.v1.disable_v2_tensorshape()
    try:
        return numbers(old)
    finally:
        tf.compat.v1.enable_tensor_equality()
        tf.compat.v1.enable_v2_tensorshape()


def numbers(text: str) -> list[float]:
    """What a program leaves in ``result``."""
    import numpy as np
    import tensorflow as tf

    tf.keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as folder:  # AutoGraph reads it
        path = Path(folder, "example.py")
        path.write_text(text, "utf-8")
        result = runpy.run_path(str(path), run_name="example")["result"]
    parts = [np.asarray(part, np.float64).ravel() for part in tf.nest.flatten(result)]
    return [float(number) for number in np.concatenate(parts)]
