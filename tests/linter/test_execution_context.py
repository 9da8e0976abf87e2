"""What a call makes of a context."""

from __future__ import annotations

import pytest
from migrate_lint.linter.analysis.execution_context import (
    IN_GRAPH,
    UNCHANGED,
    UNREACHABLE,
    Context,
    Effects,
    entered,
    given,
    transferred,
)

F, T, G = Context.FORWARD, Context.TRACED, Context.GRAPH


@pytest.mark.parametrize(
    ("effects", "before", "after"),
    [
        (Effects(), F | T, F | T),
        (Effects(guarded=True), F | T, T | Context.ONCE),
        (Effects(guarded=True), Context.EAGER, Context.EAGER),
        (Effects(scoped=True, lifted=True), F, F | Context.SCOPED | Context.LIFTED),
        (Effects(eager=True), T | F | Context.FIT, F),
        (Effects(graph=True, scoped=True), F | T, G),
        (Effects(scoped=True), G, G),
        (Effects(unreachable=True, graph=True), F, Context(0)),
    ],
)
def test_conditions_change_a_context(effects: Effects, before: Context, after: Context) -> None:
    """Whatever stands in a TF1 graph stays there, and unreachable code runs in no context."""
    assert after == effects.apply(before) == transferred(before, effects.bits)


def test_effects_can_be_added_as_numbers() -> None:
    """What depends on other files comes to the bits of a condition later."""
    assert Effects(scoped=True, graph=True).bits == Effects(scoped=True).bits | IN_GRAPH
    assert Effects(unreachable=True).bits == UNREACHABLE


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ("same", F, F),
        ("traced", F | Context.FIT, T),
        ("traced", G, G),
        ("graph", F, G),
        ("once", F, Context.ONCE),
        ("never", F, Context(0)),
        ("compiled", Context.EAGER, T | Context.FIT),
        ("layer", Context.EAGER, F | T | Context.FIT),
        ("also traced", F, F | T),
        ("dataset", Context.EAGER, T | Context.DATASET),
        ("dataset", G, G),
    ],
)
def test_who_is_given_a_function_decides_how_it_runs(change: str, before: Context, after: Context) -> None:
    """The effects of the site come first."""
    assert after == transferred(before, given(change, 0))


def test_a_function_that_is_given_away_under_conditions() -> None:
    """Both are one transfer."""
    assert T | Context.SCOPED == transferred(F, given("traced", Effects(scoped=True).bits))


def test_an_unchanged_context_keeps_all_its_flags() -> None:
    """A wrapper runs what it decorates just as it runs itself."""
    assert transferred(G | Context.SHIM, UNCHANGED) == G | Context.SHIM


@pytest.mark.parametrize(
    ("marks", "before", "after"),
    [
        ("", F, F),
        ("t", F | Context.FIT, F | T),
        ("t", G, G),
        ("o", F, Context.ONCE),
        ("s", F | Context.SCOPED, F | Context.SHIM),
        ("s", F | Context.SCOPED | Context.SHIM, F | Context.SCOPED | Context.SHIM),
        ("ts", F, F | T | Context.SHIM),
    ],
)
def test_decorators_change_a_context(marks: str, before: Context, after: Context) -> None:
    """The outermost shim begins at the root of all variable scopes."""
    assert after == entered(before, marks)
