"""What a `fit` is given."""

from __future__ import annotations

import ast

from ...linter.rule_api.model import Call
from .assigned import assignments_to


def callbacks_of(call: Call) -> list[ast.expr] | None:
    """The callbacks that a `fit` is given, as far as its own list tells; None where that is not known."""
    given = call.value("callbacks", 5)
    if given is None:
        return None if call.has_stars else []
    made = assignments_to(call, given)
    if len(made) == 1 and not made[0].augmented and isinstance(made[0].value, ast.List | ast.Tuple):
        given = made[0].value
    if isinstance(given, ast.List | ast.Tuple):
        return given.elts
    return [given] if call.names_of(given) else None


def is_callback(call: Call, node: ast.expr, *kinds: str) -> bool:
    """Whether a callback surely is one of these of Keras."""
    names = call.names_of(node)
    return bool(names) and all(name.canonical in {f"keras.callbacks.{kind}()" for kind in kinds} for name in names)
