"""What a call makes of a context."""

from __future__ import annotations

import inspect
from enum import IntFlag
from types import ModuleType

import pytest
from migrate_lint.linter.analysis import call_graph, execution_context
from migrate_lint.linter.analysis.execution_context import (
    UNCHANGED,
    Context,
    Effects,
    entered,
    given,
    transferred,
)
from migrate_lint.linter.analysis.links import CallRow, RootRow, Rows, cells_of

from .analysis import project_of

F, T, G = Context.FORWARD, Context.TRACED, Context.GRAPH


@pytest.mark.parametrize(
    ("effects", "before", "after"),
    [
        (Effects(0), F | T, F | T),
        (Effects.GUARDED, F | T, T | Context.ONCE),
        (Effects.GUARDED, Context.EAGER, Context.EAGER),
        (Effects.SCOPED | Effects.LIFTED, F, F | Context.SCOPED | Context.LIFTED),
        (Effects.EAGER, T | F | Context.FIT, F),
        (Effects.GRAPH | Effects.SCOPED, F | T, G),
        (Effects.SCOPED, G, G),
        (Effects.UNREACHABLE | Effects.GRAPH, F, Context(0)),
    ],
)
def test_conditions_change_a_context(effects: Effects, before: Context, after: Context) -> None:
    """Whatever stands in a TF1 graph stays there, and unreachable code runs in no context."""
    assert after == transferred(before, effects) == transferred(int(before), int(effects))


def test_effects_can_be_added_as_numbers() -> None:
    """What depends on other files comes to the effects of a condition later: the number has a bit for each of them."""
    assert len(Effects) == len({int(effect) for effect in Effects}) == int(max(Effects)).bit_length()
    assert Effects.SCOPED | Effects.GRAPH == int(Effects.SCOPED) | Effects.GRAPH


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ("same", F, F),
        ("traced", F | Context.FIT, T),
        ("traced", G, G),
        ("graph", F, G),
        ("once", F, Context.ONCE),
        ("host", F | T | Context.FIT, F),
        ("host", T | Context.DATASET, Context.HOST),
        ("host", G, Context(0)),
        ("compiled", Context.EAGER, T | Context.FIT),
        ("layer", Context.EAGER, F | T | Context.FIT),
        ("also traced", F, F | T),
        ("dataset", Context.EAGER, T | Context.DATASET),
        ("dataset", G, G),
    ],
)
def test_who_is_given_a_function_decides_how_it_runs(change: str, before: Context, after: Context) -> None:
    """The effects of the site come first."""
    assert after == transferred(before, given(change))


def test_a_function_that_is_given_away_under_conditions() -> None:
    """Both are one transfer."""
    assert T | Context.SCOPED == transferred(F, given("traced", Effects.SCOPED))


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


def longer(name: str, at_front: bool, count: int = 1) -> ModuleType:
    """The module of contexts with more flags among those of a class, before or after them."""
    lines = inspect.getsource(execution_context).splitlines()
    start = lines.index(f"class {name}(IntFlag):")
    flags = [number for number, line in enumerate(lines) if number > start and line.endswith(" = auto()")]
    end = next((n for n, line in enumerate(lines) if n > start and line and not line.startswith(" ")), len(lines))
    own = [number for number in flags if number < end]
    place = own[0] if at_front else own[-1] + 1
    lines[place:place] = [f"    ADDED_{number} = auto()" for number in range(count)]
    module = ModuleType(f"longer_{name}")
    exec(compile("\n".join(lines), "longer", "exec"), module.__dict__)
    return module


def translated(value: int, old: type[IntFlag], new: type[IntFlag]) -> int:
    """The flags of the same names."""
    return sum(int(new[flag.name]) for flag in old if flag & value and flag.name is not None)


@pytest.mark.parametrize("name", ["Context", "Effects"])
@pytest.mark.parametrize("at_front", [False, True])
def test_a_flag_more_collides_with_nothing(name: str, at_front: bool) -> None:
    """Every transfer does the same as before, wherever the new flag stands."""
    new = longer(name, at_front)
    assert len(new.Context) + len(new.Effects) == len(Context) + len(Effects) + 1
    contexts = [Context(0), *Context, F | T | Context.FIT, T | Context.SCOPED | Context.SHIM, ~G, ~Context(0)]
    effects = [Effects(0), *Effects, Effects.GUARDED | Effects.SCOPED, Effects.EAGER | Effects.LIFTED]
    for change in execution_context._CHANGES:
        for effect in effects:
            for context in contexts:
                expected = transferred(context, given(change, effect))
                moved = new.given(change, translated(effect, Effects, new.Effects))
                found = new.transferred(translated(context, Context, new.Context), moved)
                assert translated(expected, Context, new.Context) == found, (change, effect, context)
    for marks in ("t", "s", "o", "ts"):
        for context in contexts:
            found = new.entered(translated(context, Context, new.Context), marks)
            assert translated(entered(context, marks), Context, new.Context) == found
    assert translated(execution_context.UNROOTED, Context, new.Context) == new.UNROOTED


@pytest.mark.parametrize("added", [1, 2, 3, 8])
def test_the_call_graph_tells_contexts_of_many_flags_apart(added: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many flags there are, no way to a function is taken for another one."""
    new = longer("Context", at_front=False, count=added)
    for name in ("transferred", "entered", "UNROOTED"):
        monkeypatch.setattr(call_graph, name, getattr(new, name))
    text = """
    class Net:
        def middle(self):
            self.plain()
            if self.v is None:
                self.v = self.guarded()
        def plain(self): ...
        def guarded(self): ...
    """
    project = project_of({"a.py": text})
    links = project.join({})
    functions = project.summaries["a.py"]["functions"].items()
    middle, plain, guarded = (("a.py", int(number)) for number, _ in functions)
    contexts = [int(flag | new.Context.FORWARD) for flag in new.Context if flag != new.Context.GRAPH]
    reason = links["a.py"]["names"].index("")
    roots = [RootRow(middle[1], context, reason) for context in contexts]
    links["a.py"]["rows"] = cells_of([*Rows(links["a.py"]["rows"]).of(CallRow), *roots])
    project.join(links)

    assert len(Context) + added - 1 == len(contexts)
    assert tuple(contexts) == project.contexts(middle) == project.contexts(plain)
    found = {new.transferred(context, new.Effects.GUARDED) for context in contexts}
    assert len(project.contexts(guarded)) > added
    assert {context for context in found if context & ~new.UNROOTED} == set(project.contexts(guarded))
