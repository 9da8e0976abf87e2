"""Verdicts that turn on where a statement runs: in Python once for each trace, or at every call."""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
from typing import Any, Callable, Sequence

from .criteria import conclude, failed_in, unreached
from .criteria import names_of as all_names_of
from .errors import essence, one_line
from .lines import TRACE
from .phases import Phase
from .recorder import Event
from .run import CONFIRMED, FAILED, REFUTED, UNREACHED, Judgement, Run, StaticFinding

__all__ = ["outside_of_traces", "raises_while_tracing", "runs_while_tracing", "writes"]

_SYMBOLIC = re.compile(
    r"[Ss]ymbolic|'Tensor' object|KerasTensor|eager execution|eager mode|[Ii]nside (?:of )?a `?tf\.f"
)
_MOST_NAMES = 3
_COMPOUND = (ast.If, ast.While, ast.For, ast.Try, ast.With)


def names_of(phases: Sequence[Phase]) -> str:
    """The first few phases by name, and how many more there are."""
    more = len(phases) - _MOST_NAMES
    return all_names_of(phases[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def runs_while_tracing(finding: StaticFinding, run: Run, happened: str, called: str) -> Judgement:
    """Whether a statement runs in Python while TensorFlow traces, and so not at every call of what was traced.

    Args:
        finding: what is judged.
        run: what happened.
        happened: what the statement does when it runs, for the evidence.
        called: the name of the function whose call it is about; empty for a call of any.
    """
    traced = run.traced_lines(finding)
    if not traced:
        return outside_of_traces(finding, run)
    if _is_conditional(finding, called):
        detail = (
            "the line ran while tracing, but it holds a condition, and no run tells whether the call in it was made"
        )
        return Judgement(FAILED, traced[0], detail)
    return _confirmed(run, traced, happened, lambda phase: bool(run.contexts(finding, phase)))


def writes(finding: StaticFinding, run: Run, exact: bool) -> Judgement:
    """As `runs_while_tracing`, by the ``output`` events of the statement, which say what it wrote.

    Args:
        finding: what is judged.
        run: what happened.
        exact: whether everything that the statement can write would have been recorded.
    """
    written = run.events_at(finding, "output")
    traced = [event for event in written if event.context == TRACE]
    if traced:
        heard = {event.phase for event in written}
        within = {event.phase for event in traced}
        happened = one_line("{} `{}`".format(traced[0].detail["verb"], traced[0].detail["text"]))
        phases = [phase for phase in run.phases if phase in within]
        return _confirmed(run, phases, happened + _times(traced), heard.__contains__)
    if written:
        return outside_of_traces(finding, run)
    converted = {event.phase for event in run.events_at(finding, "converted")}
    if converted:
        phases = [phase for phase in run.phases if phase in converted]
        return conclude(finding, run, phases, f"AutoGraph made an operation of it in {names_of(phases)}")
    if exact and run.traced_lines(finding):
        return Judgement(UNREACHED, None, "the line ran, but what is written there was not")
    return runs_while_tracing(finding, run, "it ran", finding.called)


def _times(events: Sequence[Event]) -> str:
    first = [event for event in events if event.phase == events[0].phase]
    return "" if len(first) == 1 else f" and {len(first) - 1} more"


def _confirmed(run: Run, traced: Sequence[Phase], happened: str, ran: Callable[[Phase], bool]) -> Judgement:
    repeats = [phase for phase in run.phases if any(phase.repeats(first) for first in traced)]
    quiet = [phase for phase in repeats if phase.ok and not ran(phase)]
    seen = f"{happened} while tracing, in {names_of(traced)}"
    if quiet:
        seen += f"; not in {names_of(quiet)}"
    return Judgement(CONFIRMED, traced[0], seen)


def outside_of_traces(finding: StaticFinding, run: Run) -> Judgement:
    """The verdict on a statement that no trace ran, or that did nothing while it was traced.

    Refuted where it ran in every kind of call that was traced as well, or where no call comes to it at all.
    """
    nowhere = unreached(finding, run)
    if nowhere is not None:
        return nowhere
    ran = run.ran(finding)
    clean = f"it ran outside of traces only, in {names_of(ran)}"
    within = [phase for phase in ran if phase.traced]
    calls = [phase for phase in ran if phase.kind == "call"]
    if within or not calls:
        return conclude(finding, run, within or ran, clean)
    modes = {phase.mode for phase in calls}
    firsts = [phase for phase in run.calls(traced=True) if not phase.ordinal and not phase.batch]
    decisive = [phase for phase in firsts if phase.mode in modes]
    if not decisive:
        return Judgement(FAILED, calls[0], f"it ran in {names_of(calls)}, which no phase traces")
    skipped = [phase for phase in decisive if phase.ok and run.entered(finding, phase)]
    return conclude(finding, run, decisive, clean + (f"; {names_of(skipped)} left it out" if skipped else ""))


def raises_while_tracing(finding: StaticFinding, run: Run) -> Judgement:
    """Whether a statement raises where it is traced; refuted if it was traced, or passed over, without that."""
    nowhere = unreached(finding, run)
    if nowhere is not None:
        return nowhere
    raised = list(run.errors_at(finding))
    eager = {_text(phase) for phase in raised if TRACE not in run.contexts(finding, phase)}
    for phase in raised:
        if TRACE in run.contexts(finding, phase) and _is_of_trace(phase, eager):
            return Judgement(CONFIRMED, phase, one_line(phase.failure))
    if raised:
        return failed_in(raised[0])
    traced = run.traced_lines(finding)
    if not traced:
        return outside_of_traces(finding, run)
    passed = [phase for phase in traced if phase.traced]
    if passed:
        return Judgement(REFUTED, passed[-1], f"it was traced in {names_of(passed)}, and did not raise")
    decisive = [*run.calls(traced=True)[:1], *traced]
    return conclude(finding, run, decisive, f"it was traced in {names_of(traced)}, and did not raise")


def _text(phase: Phase) -> str:
    return "" if phase.error is None else essence(phase.error)


def _is_of_trace(phase: Phase, eager: set[str]) -> bool:
    """Whether an error is the trace's: where eager calls raise, too, it has another cause unless it names the trace."""
    text = _text(phase)
    return text not in eager and ((phase.traced and not eager) or _SYMBOLIC.search(text) is not None)


def _parsed(finding: StaticFinding) -> ast.Module | None:
    """The syntax tree of the finding's statement, or of the header of a compound one; None if it is neither."""
    first, last = finding.statement
    source = textwrap.dedent("".join(linecache.getline(finding.path, line) for line in range(first, last + 1)))
    for complete in (source, source.rstrip() + " pass", re.sub(r"^el(?=if)", "", source.lstrip()) + " pass"):
        try:
            return ast.parse(complete)
        except SyntaxError:
            continue
    return None


def _is_conditional(finding: StaticFinding, called: str) -> bool:
    """Whether the statement may run without the call that the finding is about."""
    tree = _parsed(finding)
    return tree is not None and any(_may_skip(statement, called) for statement in tree.body)


def _may_skip(node: Any, name: str) -> bool:
    """Whether a call of `name`, or any call if it is empty, stands in a part that a condition may leave out."""
    parts: list[Any] = []
    if isinstance(node, ast.BoolOp):
        parts = node.values[1:]
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, _COMPOUND):
        parts = [*node.body, *getattr(node, "orelse", [])]
    if any(_calls(part, name) for part in parts):
        return True
    return any(_may_skip(child, name) for child in ast.iter_child_nodes(node))


def _calls(node: Any, name: str) -> bool:
    return any(isinstance(part, ast.Call) and name in ("", _name(part.func)) for part in ast.walk(node))


def _name(function: Any) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))
