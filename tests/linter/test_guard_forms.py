"""What is made once, and what at each call: generated forms, of which execution says which they are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from migrate_lint.linter.analysis.execution_context import Context
from migrate_lint.linter.finding import Severity, Target

from ..rules.pages import find_all
from .analysis import file_of
from .guard_cases import CASES
from .guard_forms import CREATE, Form, forms

_HEAD = "from contextlib import suppress\nfrom threading import Lock\nimport tensorflow as tf\n"
_TRIED = 3_000
_LINTED = 200


def says(form: Form) -> str:
    """Whether code that creates is said to run at each call: ``always``, ``perhaps`` or ``once``."""
    text = _HEAD + form.text.replace("class Net:", "class Net(tf.keras.layers.Layer):")
    sites = [site for site in file_of({"example.py": text}).calls if f"{site.path}()" == CREATE]
    again = [site for site in sites if site.runs(Context.FORWARD) and not site.guarded]
    if any(site.runs(Context.FORWARD, without=Context.UNSURE) for site in again):
        return "always"
    return "perhaps" if again else "once"


@pytest.mark.parametrize("target", list(Target))
def test_findings_are_what_guards_do(target: Target, tmp_path: Path) -> None:
    """No working guard is an error, and every useless one a finding."""
    tried = [case.form for case in CASES] + random.Random(target).sample(list(forms()), _LINTED)
    programs = {f"n{number}.py": form for number, form in enumerate(tried)}
    found = find_all([(name, form.linted()) for name, form in programs.items()], tmp_path, target)
    said: dict[str, set[Severity]] = {}
    for finding in found:
        if finding.code == "TF101":
            said.setdefault(finding.path, set()).add(finding.severity)
    wrong = []
    for name, form in programs.items():
        first, second = form.created()
        severities = said.get(name, set())
        if first >= 0 and (not severities if second else Severity.ERROR in severities):
            wrong.append(f"{form.name}: creates {first} times, then {second}; said: {severities}\n{form.text}")

    assert [] == wrong


@pytest.mark.slow
def test_guards_are_what_they_do() -> None:
    """No working guard is an error, and every useless one is told."""
    wrong = []
    tried = 0
    for form in random.Random(12).sample(list(forms()), _TRIED):
        first, second = form.created()
        if first < 0:
            continue
        tried += 1
        said = says(form)
        if said == ("once" if second else "always"):
            wrong.append(f"{form.name}: creates {first} times, then {second}; said: {said}\n{form.text}")

    assert tried > 0.9 * _TRIED
    assert [] == wrong[:3]
