"""TF302: whether the function of a ``Lambda`` layer uses variables that the model does not know of, or makes them."""

from __future__ import annotations

import dis
import inspect
import os
from types import CodeType
from typing import Any, Iterator

from ..errors import one_line
from ..leaks import cells
from ..recorder import Event
from ..recreation import variables_recreated
from ..run import CONFIRMED, Judgement, Run, StaticFinding
from ..state import judge_state
from ..tracking import Made, identities, variables_in

_REFUSED = "created within a Lambda layer"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a creation in the function that is refused or done again, or by a captured variable that is lost."""
    made = [event for event in run.events("variable") if _is_made_there(finding, run, event)]
    if made:
        for phase in run.phases:
            if phase.error is not None and _REFUSED in str(phase.error):
                return Judgement(CONFIRMED, phase, one_line(phase.detail), made)
        again = variables_recreated(finding, run, lambda event: event in made)
        if again.verdict == CONFIRMED:
            return again
    captured: dict[int, Made] = {}
    for function in _functions(finding, run):
        for variable in variables_in(_captured(finding, function), run):
            captured.setdefault(min(identities(variable.variable)), variable)
    return judge_state(finding, run, list(captured.values()))


def _is_made_there(finding: StaticFinding, run: Run, event: Event) -> bool:
    places = [frame for one in [event, *event.detail["owners"]] for frame in one.frames]
    names = {function.__name__ for function in _functions(finding, run)}
    return any(
        frame.path == finding.path and finding.line <= frame.line <= finding.end_line and frame.function in names
        for frame in places
    )


def _functions(finding: StaticFinding, run: Run) -> Iterator[Any]:
    """The functions of the living ``Lambda`` layers that the finding's line is a part of."""
    seen: list[Any] = []
    for event in run.events("layer"):
        layer = event.subject() if event.detail["class"] == "Lambda" else None
        function = getattr(layer, "function", None)
        if function is None or any(function is other for other in seen):
            continue
        seen.append(function)
        function = inspect.unwrap(function)
        code = getattr(function, "__code__", None)
        if code is not None and os.path.realpath(code.co_filename) == finding.path:
            if code.co_firstlineno <= finding.line <= _last_line(code):
                yield function


def _last_line(code: CodeType) -> int:
    lines = [line for _, line in dis.findlinestarts(code) if line is not None]
    return max([code.co_firstlineno, *lines, *(_last_line(inner) for inner in _inner(code))])


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _captured(finding: StaticFinding, function: Any) -> Any:
    """What the subject of the finding stands for in a function; None where it is no name there."""
    first, *attributes = (finding.subject or "").partition("[")[0].split(".")
    value = _scope(function).get(first)
    for attribute in attributes:
        value = getattr(value, attribute, None)
    return value


def _scope(function: Any) -> dict[str, Any]:
    names = _names(function.__code__)
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    found.update(cells(function))
    return found


def _names(code: CodeType) -> set[str]:
    return {*code.co_names, *(name for inner in _inner(code) for name in _names(inner))}
