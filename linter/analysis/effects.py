"""What the conditions of a site do to the context of the function around it, their names resolved in the project."""

from __future__ import annotations

from .execution_context import Effects
from .names import canonical
from .resolution import Resolver
from .summary import Conditions

VARIABLE_SCOPES = frozenset({"tensorflow.variable_scope", "tensorflow.variable_op_scope", "tensorflow.VariableScope"})
_NO_SCOPES = ("tensorflow.", "keras.", "slim.", "contextlib.", "open", "threading.")
_SESSIONS = frozenset({"tensorflow.compat.v1.Session()", "tensorflow.python.client.session.Session()"})
"""Entering one makes its graph the default and ends eager execution; an `InteractiveSession` does not [run].

``tf.Session`` is none of them: TF2 does not have it, so nothing runs in its graph, and what is in it is to be migrated.
"""


def own_effects(names: Resolver, file: str, condition: Conditions) -> Effects:
    """What conditions do, but for those around them and for what depends on the code of other files."""
    effects = Effects.GUARDED if condition["guarded"] else Effects.UNSURE if condition["unsure"] else Effects(0)
    if condition["dead"]:
        effects |= Effects.UNREACHABLE
    for text, how in condition["withs"]:
        found = () if text.startswith("?") else names.resolve(file, text)
        if any(e.kind == "external" and e.text in _SESSIONS for e in found):
            effects |= Effects.GRAPH
        managers = [canonical(e.text) if e.kind == "external" else e.text for e in found]
        for name in managers or (text if text.startswith("?") else "?",):
            plain = name.removesuffix("()")
            if plain in VARIABLE_SCOPES:
                effects |= Effects.SCOPED if how != "empty" else Effects(0)
            elif name in ("?as_default()", "?as_default") or name.endswith(".as_default()"):
                effects |= Effects(0) if name.startswith("tensorflow.summary") else Effects.GRAPH
            elif plain == "tensorflow.init_scope":
                effects |= Effects.LIFTED
            elif not plain.startswith(_NO_SCOPES) or "(" in plain:
                effects |= Effects.SCOPED  # a context manager of the program's own may well open a variable scope
    for text, holds in condition["flags"]:
        values = names.flag(file, text)
        if values and not any(isinstance(value, dict) or bool(value) is holds for value in values):
            effects |= Effects.UNREACHABLE
    for text, outcome in condition["tests"]:
        for name in names.canonical_names(file, text):
            if name in ("tensorflow.executing_eagerly", "tensorflow.compat.v1.executing_eagerly"):
                effects |= Effects.EAGER if outcome == "true" else Effects.GRAPH
            elif name in ("tensorflow.inside_function", "tensorflow.is_tensor") and outcome == "false":
                effects |= Effects.EAGER  # what is no tensor is a Python value, given in eager code
    return effects
