"""Calls whose failure is expected."""

from __future__ import annotations

import ast

from ...linter.rule_api.model import Call


def is_tried(call: Call) -> bool:
    """Whether an exception of the call is handled or asserted around it."""
    for level in call.block.chain():
        if level.kind == "try" and isinstance(level.node, ast.Try) and level.node.handlers:
            return True
        if level.kind == "with" and isinstance(level.node, ast.Call):
            method = level.node.func.attr if isinstance(level.node.func, ast.Attribute) else ""
            if "raises" in method.lower() or method == "suppress":
                return True
    return False
