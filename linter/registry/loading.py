"""Importing the rules of others: module after module, each checked for what the engine and the reports rely on."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from ..finding import Consequence, Severity, Target
from ..rule_api.rule import Rule, documentation, unreachable
from ..settings.config import ConfigError
from .third_party import CODE, CODE_IN_WORDS, RuleModule, Source


@dataclass(frozen=True, slots=True)
class Failure:
    """A module that raised when it was imported, with the last of its lines that the exception went through."""

    module: RuleModule
    reason: str
    line: int


def load(source: Source) -> tuple[list[Rule], list[Failure]]:
    """Import the rules that come together.

    Raises:
        ConfigError: if one is not as it has to be.
    """
    if source.folder is not None:
        _make_package(source.package, source.folder)
    rules: list[Rule] = []
    failures: list[Failure] = []
    for module in source.modules:
        try:
            classes = _classes(module)
            made = [cls() for cls in classes]
        except (Exception, SystemExit) as error:
            failures.append(Failure(module, f"{type(error).__name__}: {error}", _line(error, module.path)))
            continue
        if classes and (fault := _fault(classes, module)) is not None:
            raise ConfigError(f"{module.shown}: {fault}")
        rules += made
    return rules, failures


def _make_package(name: str, folder: str) -> None:
    """Let the modules of a folder be imported below `name`, so that they can import each other."""
    for package, path in ((name.partition(".")[0], []), (name, [folder])):
        if package not in sys.modules:
            sys.modules[package] = module = ModuleType(package, "The rules of a project.")
            module.__path__ = path


def _classes(module: RuleModule) -> list[type[Rule]]:
    return [
        value
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, type)
        and issubclass(value, Rule)
        and value.__module__ == module.name
        and "code" in vars(value)
    ]


def _line(error: BaseException, path: str) -> int:
    """The last line of a module that an exception went through."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 1
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _fault(classes: Sequence[type[Rule]], module: RuleModule) -> str | None:
    """What is wrong with the classes of a module, None for one rule that is as it has to be."""
    cls = classes[0]
    if len(classes) > 1:
        return f"this module holds {len(classes)} rules; it is to hold one, whose slug is the module's name"
    if not isinstance(cls.code, str) or CODE.fullmatch(cls.code) is None:
        return f"the code of a rule is to be {CODE_IN_WORDS}, not {cls.code!r}"
    if module.claimed != (cls.code,):
        return f"the code is to be written as text in the class, and nowhere else: code = {cls.code!r}"
    if cls.slug() != module.slug:
        return f"the slug is to be the module's name, {module.slug}, not {cls.slug()!r}"
    if not isinstance(getattr(cls, "severity", None), Severity):
        return "severity is to be a Severity"
    if not isinstance(getattr(cls, "consequence", None), Consequence):
        return "consequence is to be a Consequence"
    if not isinstance(cls.targets, frozenset) or not cls.targets <= frozenset(Target):
        return "targets is to be a frozenset of Target"
    for name, given in (("supersedes", cls.supersedes), ("beside", cls.beside)):
        if not isinstance(given, tuple) or not all(isinstance(code, str) for code in given):
            return f"{name} is to be a tuple of codes, not {given!r}"
    try:
        documentation(cls)
    except ValueError as error:
        return str(error).partition(": ")[2]
    fault = unreachable(cls)
    return None if fault is None else f"{cls.code} ({cls.slug()}) can never be asked: {fault}"
