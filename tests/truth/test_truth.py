"""What the linter says and what TensorFlow does: each program on the pages of this folder, linted and executed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Severity, Target

from ..interpreters import Children
from .pages import all_truths, hazards, read_truth

LEAST = 10
"""Members of a class."""


@pytest.mark.tensorflow
@pytest.mark.longest
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a program runs in a fork of TensorFlow's process")
@pytest.mark.parametrize("target", list(Target))
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in all_truths()])
def test_agree(path: Path, target: Target, children: Children, tmp_path: Path) -> None:
    """An error or a warning stands for a hazard, silence for none; an info says "may be" and is right with both."""
    page = read_truth(path)
    members = [member for member in page.members if target in member.targets]
    answers = children.call(target, hazards, [(member.files, member.run) for member in members], alone=True)
    wrong: list[str] = []
    unsure: list[str] = []
    for number, (member, hazard) in enumerate(zip(members, answers, strict=True)):
        root = tmp_path / str(number)
        root.mkdir()
        found = member.findings(root, target, page.codes)
        said = min(found, key=list(Severity).index, default=None)
        where = f"{path.name}:{member.line}: {member.name}"
        if isinstance(hazard, str):
            wrong.append(f"{where}: the program failed\n{hazard}")
        elif said is Severity.INFO and not member.disagrees:
            unsure.append(f"{where}: {'a hazard' if hazard else 'no hazard'}, told as an info")
        elif said is Severity.INFO or (said is not None) is not (hazard != bool(member.disagrees)):
            listed = ", which is listed as a disagreement" if member.disagrees else ""
            wrong.append(
                f"{where}: {'a hazard' if hazard else 'no hazard'}, and the linter says {said or 'nothing'}{listed}"
            )
    print(f"{path.stem} [{target}]: {len(members)} members", *unsure, sep="\n")
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def test_most_agree() -> None:
    """At least 98 of 100 members of all classes agree, and each class has ten."""
    pages = [read_truth(path) for path in all_truths()]
    members = [member for page in pages for member in page.members]
    disagreeing = [member.name for member in members if member.disagrees]

    assert [] == [page.path.name for page in pages if len(page.members) < LEAST]
    assert len(disagreeing) <= 0.02 * len(members), disagreeing
