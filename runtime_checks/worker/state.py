"""Whether variables that a run uses are among those of its model: what the probes of untracked state ask."""

from __future__ import annotations

import os
from typing import Any, Iterator, Sequence

from .criteria import failed_in, unreached
from .phases import Phase
from .run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding
from .tracking import Made, identities, is_frozen, known_to, made_at, read_in_traces, tracked, variables_in

__all__ = ["judge_state", "lost", "own_variables"]

_NO_KEEPER = "the target is a function, which keeps no variables: name the model itself"
_UNUSED = "no call of the model used a variable of what this line makes"


def judge_state(finding: StaticFinding, run: Run, variables: Sequence[Made]) -> Judgement:
    """The verdict on variables that a finding is about.

    Confirmed where the calls use one that is to be trained and that the model does not know; refuted where it knows
    all that they use, or the others are not to be trained.
    """
    nowhere = unreached(finding, run)
    if nowhere is not None:
        return nowhere
    known = tracked(run.keeper)
    if known is None:
        return Judgement(FAILED, None, _NO_KEEPER)
    read = read_in_traces(run)
    missing = [made for made in variables if not identities(made.variable) & known]
    used = [made for made in missing if identities(made.variable) & set(read) and not is_frozen(made)]
    if used:
        phase = next(read[i].phase for i in identities(used[0].variable) if i in read)
        return lost(phase, used, f"the model, which has {len(known_to(run.keeper) or ())}")
    return _nothing_lost(run, variables, missing)


def lost(phase: Phase | None, variables: Sequence[Made], owner: str, what: str = "used by the calls and ") -> Judgement:
    """Confirmed: these variables are not among those of their owner; `what` else is so is said before."""
    rest = "" if len(variables) == 1 else f" and {len(variables) - 1} more"
    are = "is" if len(variables) == 1 else "are"
    seen = f"{variables[0].described}{rest} {are} {what}not among the variables of {owner}"
    return Judgement(CONFIRMED, phase, seen, [made.event for made in variables if made.event is not None])


def _nothing_lost(run: Run, variables: Sequence[Made], missing: Sequence[Made]) -> Judgement:
    calls = [phase for phase in run.calls(traced=True) if phase.mode is None]
    decided = next((phase for phase in calls if phase.ok), None)
    if variables and not missing:
        shown = variables[0].described + ("" if len(variables) == 1 else f" and {len(variables) - 1} more")
        return Judgement(REFUTED, decided, f"the model knows of {shown}")
    if decided is None:
        failed = next((phase for phase in calls if phase.outcome == "failed"), None)
        if failed is not None:
            return failed_in(failed)
        return Judgement(FAILED, None, "no call inside tf.function was made, which would show what is used")
    if missing and all(is_frozen(made) for made in missing):
        return Judgement(REFUTED, decided, f"{missing[0].described} is not to be trained")
    if len(missing) < len(variables):
        return Judgement(REFUTED, decided, "the model knows of all variables of it that the calls use")
    return Judgement(FAILED, decided, _UNUSED)


def own_variables(finding: StaticFinding, run: Run) -> list[Made]:
    """Those that the finding's statement made, and those in the attribute that it is about."""
    found = made_at(finding, run)
    known = {identity for made in found for identity in identities(made.variable)}
    for value in _attribute_values(finding, run):
        found += [made for made in variables_in(value, run) if not identities(made.variable) & known]
    return found


def _attribute_values(finding: StaticFinding, run: Run) -> list[Any]:
    """What ``self.x`` is now, where the finding is about it; for each object that may be its ``self``."""
    this, _, name = (finding.subject or "").partition(".")
    if this != "self" or finding.function is None:
        return []
    return [vars(one)[name] for one in _instances(finding, run) if name in vars(one)]


def _instances(finding: StaticFinding, run: Run) -> Iterator[Any]:
    """The model, its modules and the living layers, as far as the finding stands in a method of their class."""
    candidates = [run.keeper, *_modules(run.keeper)]
    candidates += [event.subject() for event in run.events("layer")]
    seen: set[int] = set()
    for one in candidates:
        if one is not None and id(one) not in seen and hasattr(one, "__dict__"):
            seen.add(id(one))
            if any(_is_around(finding, member) for cls in type(one).__mro__ for member in vars(cls).values()):
                yield one


def _modules(keeper: Any) -> Sequence[Any]:
    try:
        return tuple(keeper.submodules)
    except Exception:
        return ()


def _is_around(finding: StaticFinding, member: Any) -> bool:
    function = getattr(member, "python_function", member)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or finding.function is None or os.path.realpath(code.co_filename) != finding.path:
        return False
    first, last = finding.function
    return bool(first <= code.co_firstlineno <= last)
