"""Dotted paths: how an expression that names something is written down.

A path is the text of a name with its attributes, calls and items: ``tf.layers.dense``, ``tf.train.Saver().restore``,
``self.cells[].call``.
Everything that an expression cannot say in this form has no path, and is not guessed.
"""

from __future__ import annotations

import ast
import re
from typing import TypeAlias

MAX_PARTS = 64
"""Longer chains name nothing that a rule knows; a limit keeps a 2,000-call chain linear."""

_PLAIN = (type(None), bool, int, float, str)
_SHORT = 24
"""Characters of a text that a program may ask for, as it does for a mode."""
_IMPORTERS = {"importlib.import_module", "import_module", "__import__"}
_HEAD_END = re.compile(r"[.(\[]")
_PARTIALS = {"functools.partial", "partial", "staticmethod", "classmethod"}


def path_of(node: ast.expr | None, keyed: bool = False) -> str | None:
    """Return the path of `node`, or None if it has none; `keyed` paths say which item of a dict is asked for.

    ``getattr(x, "name")`` with a literal is ``x.name``, ``importlib.import_module("a.b")`` is ``a.b`` (marked as an
    import by a leading ``!``), and ``functools.partial(f, ...)`` is ``f``: calling it calls `f`.
    ``type(x)`` is ``x.__class__``.
    """
    if node.__class__ is ast.Constant:
        return None
    suffix: list[str] = []
    while len(suffix) < MAX_PARTS:
        if isinstance(node, ast.Name):
            if not suffix:
                return node.id
            suffix.append(node.id)
            return "".join(suffix[::-1])
        if isinstance(node, ast.Attribute):
            suffix.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Call):
            special = _special_call(node)
            if special is None:
                suffix.append("()")
                node = node.func
            elif special[0] is None:
                return special[1] + "".join(reversed(suffix))
            else:
                node = special[0]
                if special[1]:
                    suffix.append(special[1])
        elif isinstance(node, ast.Subscript):
            key = (_part_of(node) or key_of(node.slice)) if keyed else ""
            suffix.append(f"[{key}]")
            node = node.value
        elif isinstance(node, ast.Await | ast.NamedExpr | ast.Starred):
            node = node.value
        else:
            return None
    return None


def key_of(node: ast.expr | None) -> str:
    """The key of an item, where it is a plain word."""
    key = literal_string(node)
    return key if key is not None and len(key) <= _SHORT and key.isidentifier() else ""


def _part_of(node: ast.Subscript) -> str:
    """The number of the part that is taken of what a call gives."""
    number = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return str(number) if isinstance(node.value, ast.Call) and type(number) is int else ""


def _special_call(node: ast.Call) -> tuple[ast.expr | None, str] | None:
    """Recognise the calls that name something else than their own result."""
    func = node.func
    if isinstance(func, ast.Name):
        name = func.id
    elif isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        name = f"{func.value.id}.{func.attr}"
    else:
        return None
    if not node.args:
        return None
    if name == "getattr" and len(node.args) >= 2:
        attribute = literal_string(node.args[1])
        return None if attribute is None else (node.args[0], f".{attribute}")
    if name in _IMPORTERS:
        module = literal_string(node.args[0])
        return None if module is None else (None, f"!{module}")
    if name in _PARTIALS:
        return node.args[0], ""
    if name == "type" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
        return node.args[0], ".__class__"
    return None


def alternatives(node: ast.expr | None) -> list[str | None]:
    """Return a path for each value that `node` can have: both arms of a conditional, every operand of ``or``.

    An alternative without a path is None; a literal None is left out, since nothing is read from it, and
    so is False, which stands for a module that is not installed.
    """
    if isinstance(node, ast.IfExp):
        return alternatives(node.body) + alternatives(node.orelse)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return [path for value in node.values for path in alternatives(value)]
    if isinstance(node, ast.Constant) and (node.value is None or node.value is False):
        return []
    return [path_of(node, keyed=True)]


def literal_string(node: ast.expr | None) -> str | None:
    """Return the text of a string literal, else None."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


Literal: TypeAlias = bool | int | float | str | None


def literal_of(node: ast.expr | None) -> tuple[Literal] | None:
    """Return the value of None, or of a literal truth value, number or short text, in a tuple."""
    if isinstance(node, ast.Constant) and isinstance(node.value, _PLAIN):
        if not isinstance(node.value, str) or len(node.value) <= _SHORT:
            return (node.value,)
    return None


def is_none(node: ast.expr | None) -> bool:
    """Whether an expression is the literal None."""
    return isinstance(node, ast.Constant) and node.value is None


def split_head(path: str) -> tuple[str, str]:
    """Split ``tf.layers().x`` into its first name and the rest, which starts with ``.``, ``(`` or ``[`` or is empty."""
    head, dot, rest = path.partition(".")
    if head.isidentifier():
        return head, dot + rest
    end = _HEAD_END.search(path, 1)
    return (path, "") if end is None else (path[: end.start()], path[end.start() :])


ITEM = re.compile(r"\[(\w*)\]|\.(?:get|pop)\(\)|\.(?:values|items)\(\)\[\]")
"""What asks for an item of a container; its key is the group."""
_KEYS = re.compile(r"\[\w+\]")
_SAME_ITEMS = re.compile(r"\.(?:copy|values)\(\)$")


def joined(text: str, rest: str) -> str | None:
    """What follows from a resolved name.

    That is an item of a container, where the name is ``{}``, or ``{key}``, before what it holds.
    """
    if not text.startswith("{"):
        return text + rest
    key, held = held_by(text)
    item = ITEM.match(rest)
    if item is not None:
        if key and item[1] and key != item[1]:
            return None
        return joined(held, rest[item.end() :]) if rest[item.end() :] else held
    return text if not rest or _SAME_ITEMS.match(rest) else None


def held_by(text: str) -> tuple[str, str]:
    """The key, which may be empty, and what is held, of a name that is ``{key}`` before another."""
    key, _, held = text[1:].partition("}")
    return key, held


def keyed(name: str, key: str) -> str:
    """A name of an item of a container."""
    return f"{name}[{key}]" if key else name


def without_keys(text: str) -> str:
    """A name whose items are any."""
    return _KEYS.sub("[]", text) if "[" in text else text
