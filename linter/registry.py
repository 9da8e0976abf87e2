"""The rules there are: found by scanning the folders below ``rules/``, with nothing to register.

This is the only module that imports rules.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from functools import cache

from .. import rules as _rules
from .rule import Rule
from .tool_rules import TOOL_RULES

_CODE = re.compile(rb'^    code = "(TF\d+)"$', re.M)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule that looks at code, by code.

    Raises:
        RuntimeError: if two rules have the same code or slug.
    """
    found: dict[str, Rule] = {}
    slugs: set[str] = set()
    for module in pkgutil.walk_packages(_rules.__path__, f"{_rules.__name__}."):
        if module.ispkg:
            continue
        loaded = importlib.import_module(module.name)
        for value in vars(loaded).values():
            if not isinstance(value, type) or not issubclass(value, Rule) or value.__module__ != module.name:
                continue
            if "code" in vars(value):
                if value.code in found or value.slug() in slugs:
                    raise RuntimeError(f"{module.name}: {value.code} {value.slug()} is taken")
                found[value.code] = value()
                slugs.add(value.slug())
    return tuple(found[code] for code in sorted(found))


@cache
def codes() -> dict[str, str]:
    """Slug of every code, those of the tool itself included."""
    found = _scanned()
    if found is None:
        found = {rule.code: rule.slug() for rule in all_rules()}
    found |= {rule.code: rule.slug() for rule in TOOL_RULES}
    return {code: found[code] for code in sorted(found)}


def _scanned() -> dict[str, str] | None:
    """The rules' codes and slugs without importing any; None where there is no source to read them from."""
    found: dict[str, str] = {}
    for folder in _rules.__path__:
        for place, _, names in os.walk(folder):
            for name in names:
                if not name.endswith(".py"):
                    continue
                with open(os.path.join(place, name), "rb") as file:
                    match = _CODE.search(file.read())
                if match is not None:
                    found[match[1].decode()] = name.removesuffix(".py").replace("_", "-")
    return found or None


def rule_class(code: str) -> type[Rule]:
    """The class of a rule, for its documentation.

    Raises:
        KeyError: if there is no such code.
    """
    for cls in (*(type(rule) for rule in all_rules()), *TOOL_RULES):
        if cls.code == code:
            return cls
    raise KeyError(code)
