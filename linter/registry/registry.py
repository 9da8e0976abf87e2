"""The rules there are: found by scanning the folders below ``rules/``, with nothing to register, and those of others.

This is the only module that imports rules.
What `third_party` has found is imported once a file is to be checked, one module after the other: one that raises
takes no other rule down, and `failures` tells of it.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ... import rules as _rules
from ..finding import INTERNAL_ERROR, Finding
from ..rule_api.rule import Rule
from ..settings.config import Config, ConfigError
from ..source.discovery import display_path
from .announcements import announcing_folders
from .tool_rules import TOOL_RULES

if TYPE_CHECKING:
    from .loading import Failure
    from .third_party import RuleSet, Source

ALLOWED = "MIGRATE_LINT_ALLOW_PROJECT_RULES"
"""The environment variable that, at 1, allows the rules of a project's folders to be loaded."""

_CODE = re.compile(rb'^    code = "(TF\d+)"$', re.M)


_folders: tuple[tuple[str, str], ...] = ()
"""The project's folders of rules that are in use, each with the name that messages give it."""
_left_out: dict[str, str] = {}
"""Codes and slugs of a project's own rules that may not be loaded."""
_failures: list[Failure] = []


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule that looks at code and can be loaded, by code.

    Raises:
        RuntimeError: if two rules of ours have the same code or slug.
        ConfigError: if a rule of others is not as it has to be.
    """
    found = {rule.code: rule for rule in _own_rules()}
    _failures.clear()
    if any(source.modules for source in _sources()):
        from .loading import load

        codes()  # says which codes and slugs are taken
        for source in _sources():
            rules, failures = load(source)
            found |= {rule.code: rule for rule in rules}
            _failures.extend(failures)
    return tuple(found[code] for code in sorted(found))


@cache
def _own_rules() -> tuple[Rule, ...]:
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
    found = _own_codes() | _others_codes(_sources())
    return {code: found[code] for code in sorted(found)}


def _own_codes() -> dict[str, str]:
    found = _scanned()
    if found is None:
        found = {rule.code: rule.slug() for rule in _own_rules()}
    return found | {rule.code: rule.slug() for rule in TOOL_RULES}


def known() -> dict[str, str]:
    """Slug of every code that may be written: those that exist, and those of rules that are not loaded."""
    return codes() | _left_out


def unloaded() -> frozenset[str]:
    """Codes of rules that are known and were not run, so that not finding one of them says nothing."""
    return frozenset(_left_out).union(*(failure.module.claimed for failure in _failures))


def _scanned() -> dict[str, str] | None:
    """Our rules' codes and slugs without importing any; None where there is no source to read them from."""
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


# -- the rules of others -----------------------------------------------------------------------------------------------


def configure(config: Config, allow: bool = False) -> str | None:
    """Take in the rules of the project's own folders, where the user allows it; else say what is left out.

    Args:
        config: whose ``rules`` names the folders.
        allow: whether the command line says so; the environment may say so, too, and the project may not.

    Raises:
        ConfigError: if a folder is none.
    """
    folders = tuple((os.path.abspath(os.path.join(config.base, folder)), folder) for folder in config.rules)
    if missing := [shown for folder, shown in folders if not os.path.isdir(folder)]:
        raise ConfigError(f"{config.path}: {missing[0]}: there is no such folder of rules")
    _left_out.clear()
    if allow or os.environ.get(ALLOWED) == "1":
        use(folders)
        return None
    use(())
    if not folders:
        return None
    from .third_party import in_folder

    for folder, shown in folders:
        if _is_below(folder, config.base):  # nobody has vouched for what lies elsewhere
            _left_out.update(_others_codes([in_folder(folder, shown)], check=False))
    return (
        f"{config.path}: the rules in {', '.join(config.rules)} were not loaded, since that runs code of the project; "
        f"--allow-project-rules or {ALLOWED}=1 allows it"
    )


def _is_below(folder: str, base: str) -> bool:
    return os.path.realpath(folder).startswith(os.path.realpath(base).rstrip(os.sep) + os.sep)


def use(folders: Sequence[tuple[str, str]]) -> None:
    """Take rules from these folders, each an absolute path with the name that messages give it, and from no others."""
    global _folders  # noqa: PLW0603
    if tuple(folders) != _folders:
        _folders = tuple(folders)
        forget()


def in_use() -> tuple[tuple[str, str], ...]:
    """The folders of `use`, for a process that is to have the same rules."""
    return _folders


def forget() -> None:
    """Look for the rules of others again."""
    _failures.clear()
    for known_before in (_sources, codes, all_rules):
        known_before.cache_clear()


def state() -> tuple[str, ...]:
    """What changes whenever a rule of others may say something else."""
    return tuple(line for source in _sources() for line in source.state())


def has_others() -> bool:
    """Whether there are rules that are not ours."""
    return bool(_sources())


def failures() -> Iterator[Finding]:
    """A TF909 for every module of rules that raised when it was loaded."""
    for failure in _failures:
        message = f"{failure.module.shown} could not be loaded, and its rule did not run: {failure.reason}"
        yield INTERNAL_ERROR.at(display_path(failure.module.path, os.getcwd()), message, line=failure.line)


def rule_sets() -> Iterator[RuleSet]:
    """Our rules, then those of others; none is imported."""
    from .third_party import RuleSet, files_below

    folder = os.path.abspath(_rules.__path__[0])
    yield RuleSet("migrate-lint", len(_own_codes()), _digest(files_below(folder), folder))
    for source in _sources():
        count = len(_others_codes([source]))
        yield RuleSet(source.origin, count, _digest(source.files, os.path.dirname(source.files[0])))


def _digest(files: Iterable[str], folder: str) -> str:
    """The same for the same rules on any machine."""
    from hashlib import blake2b

    digest = blake2b(digest_size=6)
    for path in files:
        with open(path, "rb") as file:
            data = file.read()
        digest.update(f"{os.path.relpath(path, folder).replace(os.sep, '/')} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


@cache
def _sources() -> tuple[Source, ...]:
    places = announcing_folders()
    if not places and not _folders:
        return ()
    from .third_party import in_folder, installed

    return (*installed(places), *(in_folder(*folder) for folder in _folders))


def _others_codes(sources: Sequence[Source], check: bool = True) -> dict[str, str]:
    """Codes and slugs that others' rules have, read off their source.

    Raises:
        ConfigError: if one is taken, and if that is to be checked.
    """
    if not sources:
        return {}
    from .third_party import codes_of

    modules = codes_of(sources)
    found = {code: module.slug for code, module in modules.items()}
    if found and check:
        slugs = {slug: code for code, slug in _own_codes().items()}
        for module in modules.values():
            if module.slug in slugs:
                raise ConfigError(f"{module.shown}: the slug {module.slug} is taken by {slugs[module.slug]}")
    return found
