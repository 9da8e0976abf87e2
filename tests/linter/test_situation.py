"""What a call makes of a situation."""

from __future__ import annotations

import pytest
from migrate_lint.linter.situation import (
    IN_GRAPH,
    UNCHANGED,
    UNREACHABLE,
    Effects,
    Situation,
    entered,
    given,
    transferred,
)

F, T, G = Situation.FORWARD, Situation.TRACED, Situation.GRAPH


@pytest.mark.parametrize(
    ("effects", "before", "after"),
    [
        (Effects(), F | T, F | T),
        (Effects(guarded=True), F | T, T | Situation.ONCE),
        (Effects(guarded=True), Situation.EAGER, Situation.EAGER),
        (Effects(scoped=True, lifted=True), F, F | Situation.SCOPED | Situation.LIFTED),
        (Effects(eager=True), T | F | Situation.FIT, F),
        (Effects(graph=True, scoped=True), F | T, G),
        (Effects(scoped=True), G, G),
        (Effects(unreachable=True, graph=True), F, Situation(0)),
    ],
)
def test_conditions_change_a_situation(effects: Effects, before: Situation, after: Situation) -> None:
    """Whatever stands in a TF1 graph stays there, and unreachable code runs in no situation."""
    assert after == effects.apply(before) == transferred(before, effects.bits)


def test_effects_can_be_added_as_numbers() -> None:
    """What depends on other files comes to the bits of a condition later."""
    assert Effects(scoped=True, graph=True).bits == Effects(scoped=True).bits | IN_GRAPH
    assert Effects(unreachable=True).bits == UNREACHABLE


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ("same", F, F),
        ("traced", F | Situation.FIT, T),
        ("traced", G, G),
        ("graph", F, G),
        ("once", F, Situation.ONCE),
        ("never", F, Situation(0)),
        ("compiled", Situation.EAGER, T | Situation.FIT),
        ("layer", Situation.EAGER, F | T | Situation.FIT),
        ("also traced", F, F | T),
        ("dataset", Situation.EAGER, T | Situation.DATASET),
        ("dataset", G, G),
    ],
)
def test_who_is_given_a_function_decides_how_it_runs(change: str, before: Situation, after: Situation) -> None:
    """The effects of the site come first."""
    assert after == transferred(before, given(change, 0))


def test_a_function_that_is_given_away_under_conditions() -> None:
    """Both are one transfer."""
    assert T | Situation.SCOPED == transferred(F, given("traced", Effects(scoped=True).bits))


def test_an_unchanged_situation_keeps_all_its_flags() -> None:
    """A wrapper runs what it decorates just as it runs itself."""
    assert transferred(G | Situation.SHIM, UNCHANGED) == G | Situation.SHIM


@pytest.mark.parametrize(
    ("marks", "before", "after"),
    [
        ("", F, F),
        ("t", F | Situation.FIT, F | T),
        ("t", G, G),
        ("o", F, Situation.ONCE),
        ("s", F | Situation.SCOPED, F | Situation.SHIM),
        ("s", F | Situation.SCOPED | Situation.SHIM, F | Situation.SCOPED | Situation.SHIM),
        ("ts", F, F | T | Situation.SHIM),
    ],
)
def test_decorators_change_a_situation(marks: str, before: Situation, after: Situation) -> None:
    """The outermost shim begins at the root of all variable scopes."""
    assert after == entered(before, marks)
