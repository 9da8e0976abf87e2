"""What the initializers of a TF1 graph draw, from initializing it again."""

from __future__ import annotations

from typing import Sequence

from ..format.store import Chapter
from ..pairs.mapping import plain
from ..randomness.samples import LIMIT, TURNS, goes_on, joined, subset
from ..tensors import Array, V1Session, Variable
from .sessions import assign, read

__all__ = ["of_graph", "record"]


def record(session: V1Session, variables: Sequence[Variable], chapter: Chapter) -> None:
    """Record what `of_graph` gives as records of the kind ``sample``; nothing where an initializer cannot run again."""
    try:
        found = of_graph(session, variables)
    except Exception:  # an initializer of the user's that can run only once
        return
    for name, values in found.items():
        chapter.add("sample", name, values)


def of_graph(session: V1Session, variables: Sequence[Variable], limit: int = LIMIT) -> dict[str, Array]:
    """Up to `limit` values a variable that its initializer draws, by name without ``:0``.

    The first are those that the variable has. Where they do not suffice, the initializer is run again, as long as it
    gives other values, and the variable's own are put back. Variables whose initializers do not draw have no entry.
    To be called last in a session: the generators have then moved on.

    Args:
        session: of TF1, in which the variables are initialized.
        variables: of the graph.
        limit: the number of values.
    """
    drawn: dict[str, list[Array]] = {}
    again = []
    wanted = [variable for variable in variables if variable.dtype.is_floating and _is_drawn(variable)]
    # Some at a time: for each new set of fetches a session goes through the whole graph.
    for variable, value in read(session, wanted):
        drawn[plain(variable.name)] = [subset(value, limit)]
        if value.size < limit:
            again.append((variable, value))
    _run_again(session, again, drawn, limit)
    return joined(drawn, limit)


def _run_again(
    session: V1Session, again: Sequence[tuple[Variable, Array]], drawn: dict[str, list[Array]], limit: int
) -> None:
    waiting = [variable for variable, _ in again]
    try:
        for _ in range(TURNS):
            if not waiting:
                return
            session.run([variable.initializer for variable in waiting])
            for variable, value in zip(waiting, session.run(waiting)):
                drawn[plain(variable.name)].append(subset(value, limit))
            waiting = [variable for variable in waiting if goes_on(drawn[plain(variable.name)], limit)]
    finally:
        assign(session, again)


def _is_drawn(variable: Variable) -> bool:
    """Whether a random operation stands before the initializer of a variable of TF1, and nothing that must be fed."""
    waiting = [tensor.op for tensor in variable.initializer.inputs[1:]]
    seen: set[str] = set()
    found = False
    while waiting:
        operation = waiting.pop()
        if operation.name not in seen:
            seen.add(operation.name)
            if operation.type.startswith("Placeholder"):
                return False
            found = found or any(part in operation.type for part in ("Random", "Normal", "Multinomial"))
            waiting += [tensor.op for tensor in operation.inputs]
    return found
