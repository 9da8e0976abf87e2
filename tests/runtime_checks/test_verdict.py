"""How what several workers say becomes one verdict."""

from __future__ import annotations

import pytest
from migrate_lint.linter.finding import Consequence, Evidence, Finding, Severity, Target, Verdict
from migrate_lint.linter.registry.tool_rules import TOOL_RULES
from migrate_lint.runtime_checks.protocol import Observed
from migrate_lint.runtime_checks.verdict import PROBE_FAILED, PROBE_ONLY, failure, merged, observation, together

FINDING = Finding("a.py", 3, 1, 3, 9, "TF101", "variable-in-call", Severity.ERROR, Consequence.CHANGES, "m")


def said(verdict: Verdict, target: Target = Target.KERAS2) -> Evidence:
    return Evidence(target, "CPU:0", "second call", verdict, "why")


@pytest.mark.parametrize(
    ("strongest", "others"),
    [
        (Verdict.CONFIRMED, [Verdict.FAILED, Verdict.UNREACHED, Verdict.REFUTED]),
        (Verdict.FAILED, [Verdict.UNREACHED, Verdict.REFUTED]),
        (Verdict.UNREACHED, [Verdict.REFUTED]),
        (Verdict.REFUTED, [Verdict.STATIC_ONLY]),
    ],
)
def test_the_strongest_verdict_wins(strongest: Verdict, others: list[Verdict]) -> None:
    """What one target confirms is real, whatever the other says."""
    for other in others:
        assert strongest == merged(FINDING, [said(other), said(strongest, Target.KERAS3)]).verdict


def test_what_no_probe_decides_is_static_only_and_has_no_evidence() -> None:
    """Nothing was tried."""
    finding = merged(FINDING, [said(Verdict.STATIC_ONLY)])

    assert (Verdict.STATIC_ONLY, ()) == (finding.verdict, finding.evidence)


def test_evidence_is_kept_for_every_target() -> None:
    """A reader sees on which Keras what was seen."""
    both = [said(Verdict.REFUTED), said(Verdict.CONFIRMED, Target.KERAS3)]

    assert tuple(both) == merged(FINDING, both).evidence


def described(line: int = 4, severity: Severity = Severity.WARNING) -> Observed:
    return Observed("kind", "/p/model.py", line, (("/p/train.py", 9),), severity, "second call", "made again")


def test_an_observation_spans_its_line_and_says_who_called() -> None:
    """The caret stands under the code, not under its indent."""
    found = observation(described(), path="model.py", text="    x = 1", target=Target.KERAS3, device="CPU:0")

    assert (4, 5, 4, 10) == (found.line, found.column, found.end_line, found.end_column)
    assert found.message == "made again (called from train.py:9)"
    assert found.origin == "runtime"


def test_an_observation_of_an_unknown_line_is_at_its_first_column() -> None:
    """A file may have changed or gone while the model ran."""
    found = observation(described(line=0), path="model.py", text="", target=Target.KERAS3, device="CPU:0")

    assert (1, 1, 2) == (found.line, found.column, found.end_column)


def test_the_same_observation_on_two_targets_is_one_finding() -> None:
    """The worse one, with the evidence of both."""
    two = [
        (
            "created again",
            observation(described(severity=severity), path="m.py", text="", target=target, device="CPU:0"),
        )
        for severity, target in ((Severity.WARNING, Target.KERAS2), (Severity.ERROR, Target.KERAS3))
    ]
    (found,) = together(two)

    assert (Severity.ERROR, 2) == (found.severity, len(found.evidence))


def test_different_kinds_at_one_line_stay_apart() -> None:
    """A line can make variables again and be traced again."""
    one = observation(described(), path="m.py", text="", target=Target.KERAS2, device="CPU:0")

    assert 2 == len(list(together([("created again", one), ("retraced", one)])))


def test_a_failure_is_a_finding_at_a_line_of_its_own() -> None:
    """Where nothing is known of the line it is the first."""
    found = failure(path="m.py", line=0, message="no", target=Target.KERAS2, device="CPU:0", phase="build")

    assert (1, "TF908", Verdict.FAILED) == (found.line, found.code, found.verdict)


def test_codes_and_slugs_are_those_of_the_tools_own_rules() -> None:
    """They are written down twice, since this side knows no rules."""
    rules = {rule.code: rule for rule in TOOL_RULES}

    for (code, slug), severity in ((PROBE_ONLY, Severity.ERROR), (PROBE_FAILED, Severity.WARNING)):
        assert (slug, severity) == (rules[code].slug(), rules[code].severity)
