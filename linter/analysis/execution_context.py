"""Under what circumstances a function's Python body runs, and what a call makes of them.

An *execution context* is a set of the flags below.
What the conditions of a call and the callee of a given function make of it is a `transfer`: a number, so that the calls
of a whole project can be kept as numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag


class Context(IntFlag):
    """Under what circumstances a function's Python body runs."""

    FORWARD = 1
    """At every call of a layer, model or module."""
    TRACED = 2
    """While a graph is traced: once per trace, not once per call."""
    SHIM = 4
    """Below a method decorated with `track_tf1_style_variables`."""
    SCOPED = 8
    """Inside a `variable_scope` with a non-empty name (which an auto-incremented one has too, if never twice the same),
    or inside a context manager that may open one."""
    GRAPH = 16
    """While a TF1 graph is built on purpose: `tf.Graph().as_default()`, `model_fn`, v2 behaviour disabled."""
    LIFTED = 32
    """Inside `tf.init_scope`."""
    EAGER = 64
    """From a program's module-level code, with eager execution on."""
    FIT = 128
    """Traced by Keras (`fit` and its like), not by a `tf.function` of the user's; eager outside of it."""
    DATASET = 256
    """Traced by a `tf.data` transformation."""
    ONCE = 512
    """Under a create-once guard, or while a layer, model, module or metric of the project is made or built."""
    LEGACY = 1024
    """Below the forward pass of a TF1 layer, RNN cell or Sonnet 1 module, which most programs run only in a graph."""


_FORWARD, _TRACED, _SHIM, _SCOPED = 1, 2, 4, 8  # an IntFlag's own operations cost twenty times those of a number
_GRAPH, _LIFTED, _FIT, _DATASET, _ONCE = 16, 32, 128, 256, 512
_GUARDED, _IN_SCOPE, _IN_GRAPH, _IN_INIT, _IN_EAGER, _UNREACHABLE = 1, 2, 4, 8, 16, 32
_EFFECT_BITS = 6


@dataclass(frozen=True, slots=True)
class Effects:
    """What the conditions of a site do to the context of the function around it."""

    guarded: bool = False
    scoped: bool = False
    graph: bool = False
    lifted: bool = False
    eager: bool = False
    unreachable: bool = False

    @property
    def bits(self) -> int:
        """The same as a transfer; `IN_GRAPH` and `UNREACHABLE` may be added to it."""
        return (
            self.guarded * _GUARDED
            | self.scoped * _IN_SCOPE
            | self.graph * _IN_GRAPH
            | self.lifted * _IN_INIT
            | self.eager * _IN_EAGER
            | self.unreachable * _UNREACHABLE
        )

    def apply(self, context: int) -> int:
        """The context at the site."""
        return transferred(context, self.bits)


IN_GRAPH = _IN_GRAPH
UNREACHABLE = _UNREACHABLE
UNCHANGED = -1
"""The transfer that does nothing at all."""


def once(context: int) -> int:
    """The context of code that runs at the first call only."""
    return context & ~_FORWARD | _ONCE if context & (_FORWARD | _TRACED) else context


_CHANGES: dict[str, Callable[[int], int]] = {
    "same": lambda s: s,
    "traced": lambda s: s if s & _GRAPH else (s | _TRACED) & ~(_FIT | _FORWARD),
    "graph": lambda s: _GRAPH,
    "once": once,
    "never": lambda s: 0,
    "compiled": lambda s: _TRACED | _FIT,
    "layer": lambda s: _FORWARD | _TRACED | _FIT,
    "also traced": lambda s: s | _TRACED,
    "dataset": lambda s: s if s & _GRAPH else _TRACED | _DATASET,
}
_CHANGE_NUMBERS = {name: number for number, name in enumerate(_CHANGES)}
_NUMBERED_CHANGES = tuple(_CHANGES.values())


def given(change: str, effects: int) -> int:
    """The transfer to a function that is given away under some effects: `change` says how it runs there."""
    return effects | _CHANGE_NUMBERS[change] << _EFFECT_BITS


def transferred(context: int, transfer: int) -> int:
    """The context on the other side of a call."""
    if transfer == UNCHANGED:
        return context
    effects = transfer & (1 << _EFFECT_BITS) - 1
    if effects & _UNREACHABLE:
        context = 0
    elif effects & _IN_GRAPH or context & _GRAPH:
        context = _GRAPH
    else:
        if effects & _GUARDED:
            context = once(context)
        if effects & _IN_SCOPE:
            context |= _SCOPED
        if effects & _IN_INIT:
            context |= _LIFTED
        if effects & _IN_EAGER:
            context &= ~(_TRACED | _FIT | _DATASET)
    return int(_NUMBERED_CHANGES[transfer >> _EFFECT_BITS](context))


def entered(context: int, marks: str) -> int:
    """What a function's own decorators make of a context, a mark each: ``t`` traces, ``s`` is a shim, ``o`` once."""
    for mark in marks:
        if mark == "o":
            context = once(context)
        elif mark == "s":
            if not context & _SHIM:
                context &= ~_SCOPED  # the outermost shim starts at the root of the names (tried)
            context |= _SHIM
        elif not context & _GRAPH:
            context = (context | _TRACED) & ~_FIT
    return context
