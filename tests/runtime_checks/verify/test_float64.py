"""Both sides computed in float64: what is rounding is told from what differs, and what cannot be run is said."""

from __future__ import annotations

from typing import Any

import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

EITHER = pytest.mark.parametrize("keras", ["keras2", "keras3"])


def together(group: str, policy: str) -> dict[str, Any]:
    """In a child: what ``verify`` says of the members of a group, which are the outputs of one pair."""
    from migrate_lint.runtime_checks import verify

    from . import float64_programs

    members = getattr(float64_programs, group)
    report = verify(float64_programs.together(members), until="float64", policy=policy, oracle=True)
    rung = report.rung("float64")
    return {
        "members": [name.replace(" ", "_") for name in members],
        "random": report.rung("random").status.value,
        "float64": rung.status.value,
        "outputs": {
            check.tf1_name: [check.passed, check.error, check.rounding and check.rounding.apart, check.atol]
            for check in rung.checks
            if check.kind == "output" and check.scenario == "float64-training"
        },
        "text": str(report),
    }
