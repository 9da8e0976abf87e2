"""Which part of what is unpacked or iterated each target gets."""

from __future__ import annotations

import ast
from typing import Final

ITERATED: Final = object()
"""In the way to a part of a value: what iterating gives."""
ANY: Final = object()
"""In the way to a part of a value: an item, whichever."""
Way = tuple[object, ...]
"""From a value to a part of it: indices, keys, `ITERATED`, `ANY`."""


def ways_to(node: ast.stmt | ast.expr) -> dict[int, Way]:
    """The way from what is unpacked or iterated to each target, by its identity."""
    roots: list[tuple[ast.expr, Way]] = []
    if isinstance(node, ast.Assign):
        roots = [(target, ()) for target in node.targets]
    elif isinstance(node, ast.For | ast.AsyncFor):
        roots = [(node.target, (ITERATED,))]
    elif isinstance(node, ast.With | ast.AsyncWith):
        roots = [(item.optional_vars, ()) for item in node.items if item.optional_vars is not None]
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        roots = [(generator.target, (ITERATED,)) for generator in node.generators]
    found: dict[int, Way] = {}
    while roots:
        target, way = roots.pop()
        found[id(target)] = way
        if isinstance(target, ast.Starred):
            roots.append((target.value, (*way[:-1], ANY)))
        elif isinstance(target, ast.Tuple | ast.List):
            starred = next((place for place, item in enumerate(target.elts) if isinstance(item, ast.Starred)), None)
            for place, item in enumerate(target.elts):
                step = place if starred is None or place <= starred else place - len(target.elts)
                roots.append((item, (*way, step)))
    return found
