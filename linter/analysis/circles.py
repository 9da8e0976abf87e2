"""What leads to what, in circles too: Tarjan's search for strongly connected components, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import TypeVar

_Node = TypeVar("_Node")


def circles(
    root: _Node, successors: Callable[[_Node], Iterable[_Node]], done: Container[_Node]
) -> Iterator[list[_Node]]:
    """What a node leads to, and itself, each with those that lead to each other; what is led to first.

    Args:
        root: where the search begins.
        successors: what a node leads to.
        done: nodes that are left out, with what they lead to.
    """
    order: dict[_Node, int] = {}
    lowest: dict[_Node, int] = {}
    open_: dict[_Node, None] = {}
    stack: list[tuple[_Node, Iterator[_Node]]] = []
    waiting = [root]
    while waiting or stack:
        if waiting:
            entered = waiting.pop()
            order[entered] = lowest[entered] = len(order)
            open_[entered] = None
            stack.append((entered, iter(successors(entered))))
        current, following = stack[-1]
        for node in following:
            if node in open_:
                lowest[current] = min(lowest[current], order[node])
            elif node not in order and node not in done:
                waiting.append(node)
                break
        if not waiting:
            stack.pop()
            if stack:
                lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[current])
            if lowest[current] == order[current]:
                circle: list[_Node] = []
                while not circle or circle[-1] != current:
                    circle.append(open_.popitem()[0])
                yield circle
