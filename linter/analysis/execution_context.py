"""Under what circumstances a function's Python body runs, and what a call makes of them.

"Under ``if self.v is None``" has four shapes on its way, each of which knows what the one before could not:

1. `index.Block`: the syntax, of one file;
2. `summary.Conditions`: JSON, with names as far as the file alone can resolve them; what other files read;
3. `Effects`: flags, with those names resolved in the whole project;
4. `Context`: flags, of the code that stands there, for each way in which the function around it is reached.

Effects become part of a *transfer*: how they, and the callee that a function is given to, change a context.
Where there are many, effects, transfers and contexts are plain numbers, so that the calls of a project can be kept in
arrays; what a transfer makes of a context is remembered, since an `IntFlag` works twenty times slower than a number.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag, auto
from functools import cache


class Context(IntFlag):
    """Under what circumstances a function's Python body runs."""

    FORWARD = auto()
    """At every call of a layer, model or module."""
    TRACED = auto()
    """While a graph is traced: once per trace, not once per call."""
    SHIM = auto()
    """Below a method decorated with `track_tf1_style_variables`."""
    SCOPED = auto()
    """Inside a `variable_scope` with a non-empty name (which an auto-incremented one has too, if never twice the same),
    or inside a context manager that may open one."""
    GRAPH = auto()
    """While a TF1 graph is built on purpose: `tf.Graph().as_default()`, `model_fn`, v2 behaviour disabled."""
    LIFTED = auto()
    """Inside `tf.init_scope`."""
    EAGER = auto()
    """From a program's module-level code, with eager execution on."""
    FIT = auto()
    """Traced by Keras (`fit` and its like), not by a `tf.function` of the user's; eager outside of it."""
    DATASET = auto()
    """Traced by a `tf.data` transformation."""
    ONCE = auto()
    """Under a create-once guard, or while a layer, model, module or metric of the project is made."""
    UNSURE = auto()
    """Under a test that may be a create-once guard, as far as the code that is known tells, or in what Keras runs only
    while a functional model is made."""
    LEGACY = auto()
    """Below the forward pass of a TF1 layer, RNN cell or Sonnet 1 module, which most programs run only in a graph."""
    HOST = auto()
    """In a `tf.py_function` of a trace, below no forward pass: eagerly, each time that the graph runs."""


class Effects(IntFlag):
    """What the conditions of a site do to the context of the function around it."""

    GUARDED = auto()
    """A create-once guard stands around it."""
    UNSURE = auto()
    """A test stands around it that may be one."""
    SCOPED = auto()
    GRAPH = auto()
    LIFTED = auto()
    EAGER = auto()
    """It runs where a test has found eager execution."""
    UNREACHABLE = auto()


UNROOTED = int(Context.SHIM | Context.SCOPED | Context.LIFTED | Context.ONCE | Context.UNSURE | Context.LEGACY)
"""They say something of another context and begin nowhere by themselves."""
UNCHANGED = -1
"""The transfer that does nothing at all."""


def _once(context: Context) -> Context:
    """The context of code that runs at the first call only."""
    return context & ~Context.FORWARD | Context.ONCE if context & (Context.FORWARD | Context.TRACED) else context


def _on_host(context: Context) -> Context:
    """The context of code that runs eagerly whenever the graph does, or beside it in a thread."""
    if context & Context.GRAPH:
        return Context(0)
    if context & Context.FORWARD:
        return Context.FORWARD
    return Context.HOST if context & (Context.TRACED | Context.HOST) else Context(0)


_CHANGES: dict[str, Callable[[Context], Context]] = {
    "same": lambda s: s,
    "traced": lambda s: s if s & Context.GRAPH else (s | Context.TRACED) & ~(Context.FIT | Context.FORWARD),
    "graph": lambda s: Context.GRAPH,
    "once": _once,
    "host": _on_host,
    "compiled": lambda s: Context.TRACED | Context.FIT,
    "layer": lambda s: Context.FORWARD | Context.TRACED | Context.FIT,
    "also traced": lambda s: s | Context.TRACED,
    "dataset": lambda s: s if s & Context.GRAPH else Context.TRACED | Context.DATASET,
}
_CHANGE_NUMBERS = {name: number for number, name in enumerate(_CHANGES)}
_NUMBERED_CHANGES = tuple(_CHANGES.values())
_EFFECT_BITS = len(Effects)


def given(change: str, effects: int = 0) -> int:
    """The transfer to a function that is given away under some effects: `change` says how it runs there.

    The transfer to a function that is called is the effects alone.
    """
    return effects | _CHANGE_NUMBERS[change] << _EFFECT_BITS


@cache
def transferred(context: int, transfer: int) -> int:
    """The context on the other side of a call."""
    if transfer == UNCHANGED:
        return context
    effects = Effects(transfer & (1 << _EFFECT_BITS) - 1)
    flags = Context(context)
    if Effects.UNREACHABLE in effects:
        flags = Context(0)
    elif Effects.GRAPH in effects or Context.GRAPH in flags:
        flags = Context.GRAPH
    else:
        if Effects.GUARDED in effects:
            flags = _once(flags)
        if Effects.UNSURE in effects:
            flags |= Context.UNSURE
        if Effects.SCOPED in effects:
            flags |= Context.SCOPED
        if Effects.LIFTED in effects:
            flags |= Context.LIFTED
        if Effects.EAGER in effects:
            flags &= ~(Context.TRACED | Context.FIT | Context.DATASET)
    return int(_NUMBERED_CHANGES[transfer >> _EFFECT_BITS](flags))


@cache
def entered(context: int, marks: str) -> int:
    """What a function's own decorators make of a context, a mark each: ``t`` traces, ``s`` is a shim, ``o`` once."""
    flags = Context(context)
    for mark in marks:
        if mark == "o":
            flags = _once(flags)
        elif mark == "s":
            if Context.SHIM not in flags:
                flags &= ~Context.SCOPED  # the outermost shim starts at the root of the names (tried)
            flags |= Context.SHIM
        elif Context.GRAPH not in flags:
            flags = (flags | Context.TRACED) & ~Context.FIT
    return int(flags)
