"""Where code of raw operations differs, the report names the operation with its line on both sides."""

from __future__ import annotations

from typing import Any

import pytest

from ...interpreters import Children

pytestmark = pytest.mark.tensorflow

TARGETS = ("keras2", "keras3")


def everything(program: str, most: int) -> dict[str, Any]:
    """In a child: what ``verify`` says of a program, sound and with so many bugs at most."""
    from migrate_lint.runtime_checks import verify

    from . import raw_operations

    found = {}
    until = raw_operations.UNTIL.get(program, "fingerprint")
    for bug in (None, *raw_operations.BUGS[program][:most]):
        report = verify(raw_operations.pair_of(program, bug), until=until, steps=1)
        first = report.first_divergence
        named = None if first is None else first.operation
        found[bug or "none"] = {
            "status": report.status,
            "lines": named and [side and side.place and side.place[1] for side in (named.tf1, named.tf2)],
            "wanted": raw_operations.lines_of(bug) if bug else None,
        }
    return found


PROGRAMS = (
    "perceptron", "convolution", "words", "attention", "columns", "norm", "loop", "inner", "gather", "loss",
    "compiled", "layers", "block"
)
OF_KERAS = ("compiled", "layers", "block")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_bug_is_found_at_its_lines(program: str, target: str, children: Children) -> None:
    """And nothing is named where there is none. What has no layers is tried with one bug under the second Keras."""
    every = target == "keras2" or program in OF_KERAS
    found = children.call(target, everything, program, 9 if every else 1)
    sound = found.pop("none")

    assert (0, None) == (sound["status"], sound["lines"])
    assert {bug: (1, said["wanted"]) for bug, said in found.items()} == {
        bug: (said["status"], said["lines"]) for bug, said in found.items()
    }
