"""Rules that are not ours: of installed packages, and of the folders that a project names in its configuration.

A package announces a module, or a package of modules, in the entry point group ``migrate_lint.rules``.
Here they are found and their codes read off the source; nothing of theirs is imported, which `registry` does.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..settings.config import ConfigError
from ..source.reading import read_bytes
from .announcements import GROUP

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from importlib.metadata import Distribution

CODE = re.compile(r"TF[A-Z]{1,12}\d{3}")
"""What a rule that is not ours may be called. All codes begin with TF, so that other linters can be told whose."""
CODE_IN_WORDS = "TF, capital letters of its own and three digits, such as TFACME101"

_CODE_LINE = re.compile(rb"""^[ \t]+code\b[^=\n]{0,80}=[ \t]*["'](\w{1,40})["']""", re.M)


@dataclass(frozen=True, slots=True)
class RuleModule:
    """A module that seems to hold a rule; ``codes`` are texts in its source that may be one.

    ``shown`` is what messages call it: with its package, or the file in a project's folder.
    """

    shown: str
    name: str
    path: str
    codes: tuple[str, ...]

    @property
    def claimed(self) -> tuple[str, ...]:
        """The codes that a rule may have."""
        return tuple(filter(CODE.fullmatch, self.codes))

    @property
    def slug(self) -> str:
        """The hazard's name in words."""
        return self.name.rpartition(".")[2].replace("_", "-")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules that come together: how many they are, and a digest of their source."""

    origin: str
    rules: int
    digest: str


@dataclass(frozen=True, slots=True)
class Source:
    """Rules that come together: of one package, or of one folder.

    ``origin`` is what messages call it; ``files`` is all that its rules may depend on;
    ``folder`` is set for a project's own rules, which are imported from there under the name ``package``.
    """

    origin: str
    package: str
    modules: tuple[RuleModule, ...]
    files: tuple[str, ...]
    folder: str | None = None

    def state(self) -> Iterator[str]:
        """A line a file that changes whenever the file does."""
        yield self.origin
        for path in self.files:
            with contextlib.suppress(OSError):
                status = os.stat(path)
                yield f"{path} {status.st_size} {status.st_mtime_ns}"


def installed(folders: Sequence[str]) -> tuple[Source, ...]:
    """The rules of the packages that are installed in these folders.

    Raises:
        ConfigError: if a package announces what is not there.
    """
    if not folders:
        return ()
    from importlib.metadata import distributions  # 20 ms, for those who have such a package

    found: dict[str, list[Source]] = {}
    for distribution in distributions(path=list(folders)):
        name = distribution.metadata["Name"] or "?"
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key not in found and (sources := list(_announced(distribution, f"{name} {distribution.version}"))):
            found[key] = sources
    return tuple(source for key in sorted(found) for source in found[key])


def in_folder(folder: str, shown: str) -> Source:
    """The rules in a project's folder, absolute, which messages name `shown`.

    Raises:
        ConfigError: if it is none.
    """
    from hashlib import blake2b

    if not os.path.isdir(folder):
        raise ConfigError(f"{shown}: there is no such folder of rules")
    digest = blake2b(os.fsencode(folder), digest_size=8).hexdigest()
    package = f"migrate_lint_rules_{digest}.{re.sub('[^0-9A-Za-z]', '_', os.path.basename(folder))}"
    found = (
        _module(name, path, f"{shown.rstrip('/')}/{os.path.relpath(path, folder).replace(os.sep, '/')}")
        for name, path in _python_files(folder, package)
    )
    modules = tuple(module for module in found if module is not None)
    return Source(shown, package, modules, tuple(files_below(folder)), folder)


def codes_of(sources: Iterable[Source]) -> dict[str, RuleModule]:
    """The module of every code that these sources claim to have, where it is one that they may have.

    Raises:
        ConfigError: if two modules have the same code or slug.
    """
    found: dict[str, RuleModule] = {}
    slugs: dict[str, RuleModule] = {}
    for source in sources:
        for module in source.modules:
            for code in module.claimed:
                if (other := found.setdefault(code, module)) is not module:
                    raise ConfigError(f"{module.shown}: the code {code} is taken by {other.shown}")
                if (other := slugs.setdefault(module.slug, module)) is not module:
                    raise ConfigError(f"{module.shown}: the slug {module.slug} is taken by {other.shown}")
    return found


# -- installed packages ------------------------------------------------------------------------------------------------


def _announced(distribution: Distribution, origin: str) -> Iterator[Source]:
    for entry in distribution.entry_points:
        if entry.group != GROUP:
            continue
        if entry.attr:
            raise ConfigError(f"{origin}: the entry point {entry.name} names {entry.value}, and is to name a module")
        specs = list(_specs(entry.module))
        where = None if not specs else _location(specs[-1])
        if where is None:
            raise ConfigError(f"{origin}: the entry point {entry.name} names {entry.module}, which has no source here")
        if os.path.isdir(where):
            files = _python_files(where, entry.module)
        else:
            files = iter([(entry.module, where)])
        outermost = next(filter(None, map(_location, specs)))
        more = tuple(files_below(outermost)) if os.path.isdir(outermost) else (outermost,)
        found = (_module(name, path, f"{name} of {origin}") for name, path in files)
        yield Source(origin, entry.module, tuple(module for module in found if module is not None), more)


def _specs(name: str) -> Iterator[ModuleSpec]:
    """The specs of a module's packages, outermost first, and of the module; nothing is imported.

    ``importlib.util.find_spec`` would import the packages.
    """
    path = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if find is None else find(".".join(parts[:count]), path)
            if spec is not None:
                break
        else:
            return
        if count == len(parts) or spec.submodule_search_locations is not None:
            yield spec
        path = spec.submodule_search_locations


def _location(spec: ModuleSpec) -> str | None:
    """The file of a module or the folder of a package; None for a namespace, which has many."""
    if spec.origin is None or not spec.origin.endswith(".py") or not os.path.isfile(spec.origin):
        return None
    return spec.origin if spec.submodule_search_locations is None else os.path.dirname(spec.origin)


# -- files -------------------------------------------------------------------------------------------------------------


def files_below(folder: str) -> Iterator[str]:
    """The modules and tables below a folder, in a fixed order."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not name.startswith("."))
        yield from (os.path.join(place, name) for name in sorted(names) if name.endswith((".py", ".json")))


def _python_files(folder: str, package: str) -> Iterator[tuple[str, str]]:
    """The modules below a package's folder, each with its file."""
    for path in files_below(folder):
        parts = os.path.relpath(path, folder).removesuffix(".py").split(os.sep)
        if path.endswith(".py") and all(map(str.isidentifier, parts)) and not parts[-1].startswith("__"):
            yield ".".join([package, *parts]), path


def _module(name: str, path: str, shown: str) -> RuleModule | None:
    """The module, None where there is no rule in it."""
    try:
        text = read_bytes(path)
    except OSError as error:
        raise ConfigError(f"{shown}: {path}: this file cannot be read: {error.strerror or error}") from error
    codes = _CODE_LINE.findall(text) if b"Rule" in text else []
    return RuleModule(shown, name, path, tuple(dict.fromkeys(code.decode() for code in codes))) if codes else None
