"""Two processes that saved into one folder: whose state a run goes on with, and what they did to each other's files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..wording import some
from .traces import Run

__all__ = ["beside"]

_PART = re.compile(r"\.(index|meta|data-\d+-of-\d+)$")
"""What the name of a file has behind that of its checkpoint."""


def beside(first: Run, second: Run, resumed: Run, missing: Sequence[str]) -> tuple[str, list[str]]:
    """Whose weights the resumed run begins with, and sentences about the two.

    Args:
        first: the process that began.
        second: the one that began later, with other seeds.
        resumed: the run that went on when both had been killed.
        missing: checkpoints that the folder names and does not hold.

    Returns:
        ``first``, ``second``, ``either`` where both had these weights, empty where none had; and the sentences.
    """
    notes = [_did("first", first), _did("second", second)]
    for owner, other, run in (("first", "second", first), ("second", "first", second)):
        for done, files in (("wrote over", run.overwritten), ("deleted", run.deleted)):
            if files:
                names = list(dict.fromkeys(_PART.sub("", file) for file in files))
                notes.append(f"the {other} process {done} files of the {owner} one: {some(names)}")
    if missing:
        notes.append(f"the file `checkpoint` names what is not there: {some(missing)}")
    begin = resumed.steps[0] if resumed.steps else None
    if begin is None:
        return "", notes
    has = [any(step.begins_with(begin.weights) for step in run.steps) for run in (first, second)]
    writer = "" if not any(has) else "either" if all(has) else "first" if has[0] else "second"
    notes += _mixture(first, second, resumed)
    return writer, notes


def _did(which: str, run: Run) -> str:
    saved = f"last saved behind step {run.saves[-1]} of its own" if run.saves else "no save of it was seen"
    raised = f", and raised {run.raised}" if run.raised else ""
    return f"the {which} process made {len(run.steps)} steps; {saved}{raised}"


def _mixture(first: Run, second: Run, resumed: Run) -> Iterator[str]:
    """Where some of the state is the one's alone, and some the other's."""
    own: dict[str, list[str]] = {"first": [], "second": []}
    known = {
        name: {(key, value.digest) for step in run.steps for key, value in step.begin.items() if value.digest}
        for name, run in (("first", first), ("second", second))
    }
    for key, value in resumed.steps[0].begin.items():
        has = [name for name, found in known.items() if (key, value.digest) in found]
        if len(has) == 1 and value.kind != "process":
            own[has[0]].append(value.name)
    if all(own.values()):
        first_has, second_has = some(own["first"]), some(own["second"])
        yield f"it begins with a mixture: of the first process {first_has}; of the second one {second_has}"
