"""From `pyproject.toml` or `migrate-lint.toml` to one frozen `Config`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

TARGETS = ("auto", "keras2", "keras3")
SEVERITIES = ("error", "warning", "info")
_REPORTERS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "reporters", "formats")
_MODULES = (name.removesuffix(".py") for name in os.listdir(_REPORTERS) if not name.startswith("_"))
FORMATS = tuple(sorted(name.replace("_", "-") for name in _MODULES if name.isidentifier()))
"""Read off the folder, which imports none of them; a module's name has ``_`` for the ``-`` of its format."""
ALWAYS = ("TF900", "TF902", "TF908", "TF909", "TF910")
"""Selected whatever is selected: what was not looked at must not pass as clean. Only their own name ignores them."""

_OWN_FILE = "migrate-lint.toml"
_SHARED_FILE = "pyproject.toml"
_TABLE = "tool.migrate-lint"
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){200}""")
"""The library takes the third power of a key's parts."""


class ConfigError(Exception):
    """The configuration cannot be used; the text names the file, the line where it is known, and the reason."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a run, from a file, the command line or both.

    ``select``, ``ignore`` and ``extend_select`` hold selectors: ``ALL``, a prefix such as ``TF1``, a code or a slug.
    ``base`` is the folder that globs are relative to; ``path`` the file that was read.
    ``baseline`` is the file of known findings.
    ``fixable`` and ``unfixable`` hold selectors as well: of the rules whose fixes are applied.
    Findings less severe than ``min_severity`` are not reported.
    ``jobs`` 0 stands for one process a core.
    """

    base: str
    path: str | None = None
    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    target: str = "auto"
    output_format: str = "text"
    jobs: int = 0
    rules: tuple[str, ...] = ()
    """Folders of the project's own rules, relative to ``base``."""
    baseline: str | None = None
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    min_severity: str = "info"


def load(start: str, *, file: str | None = None, isolated: bool = False) -> Config:
    """Read the given file, or the nearest one upward from the folder `start` that speaks of migrate-lint.

    Raises:
        ConfigError: if it cannot be read or holds anything unknown.
    """
    if file is not None:
        found = _read(file)
        if found is None:
            raise ConfigError(f"{file}: there is no table [{_TABLE}]")
        return found
    if not isolated:
        folder = os.path.abspath(start)
        while True:
            for name in (_OWN_FILE, _SHARED_FILE):
                path = os.path.join(folder, name)
                if os.path.lexists(path) and (found := _read_found(path)) is not None:
                    return found
            if (parent := os.path.dirname(folder)) == folder:
                break
            folder = parent
    return Config(base=os.getcwd())


def _read_found(path: str) -> Config | None:
    """Read a file that nobody named: one from elsewhere is not quoted."""
    from ..source.discovery import is_foreign

    try:
        return _read(path)
    except ConfigError:
        if not is_foreign(path):
            raise
    raise ConfigError(f"{path}: this is a link out of the project, to what is no configuration; --config follows it")


def _read(path: str) -> Config | None:
    from ..source.reading import read_bytes

    try:
        data = read_bytes(path)
    except OSError as error:
        raise ConfigError(f"{path}: this file cannot be read: {error}") from error
    return parse(data, path)


def parse(data: bytes, path: str) -> Config | None:
    """Make a `Config` of a file's bytes; None for a `pyproject.toml` without our table."""
    own = os.path.basename(path) != _SHARED_FILE
    if not own and b"migrate-lint" not in data:
        return None
    import tomllib

    try:
        text = data.decode("utf-8-sig")
        if (key := _LONG_KEY.search(text)) is not None:
            line = text.count("\n", 0, key.start()) + 1
            raise ConfigError(f"{path}:{line}: this key has more than 200 parts")
        document = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: this line is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}:{_error_line(str(error), text)}: this is not TOML: {error}") from error
    tool = document.get("tool", {})
    table: object = tool.get("migrate-lint") if isinstance(tool, dict) else None
    if table is None:
        if not own:
            return None
        table = {key: value for key, value in document.items() if key != "tool"}
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {_TABLE} is to be a table")
    return _from_table(table, path, text)


def _error_line(message: str, text: str) -> int:
    if found := re.search(r"at line (\d+)", message):
        return int(found[1])
    from ..source.parsing import line_of_long_number

    return line_of_long_number(text) or text.count("\n") + 1


def _from_table(table: Mapping[str, Any], path: str, text: str) -> Config:
    from ..source.suppressions import nearest

    known = {
        "select", "ignore", "extend-select", "exclude", "per-file-ignores", "target", "output-format", "jobs", "rules",
        "baseline", "fixable", "unfixable", "min-severity",
    }  # fmt: skip

    def refuse(key: str, reason: str) -> ConfigError:
        return ConfigError(f"{path}{_key_line(key, text)}: {reason}")

    def strings(key: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise refuse(key, f"{key} is to be a list of strings")
        return tuple(value)

    def choice(key: str, default: str, choices: tuple[str, ...]) -> str:
        value = table.get(key, default)
        if value not in choices:
            written = f", not {value!r}{nearest(value, choices)}" if isinstance(value, str) else ""
            raise refuse(key, f"{key} is to be one of {', '.join(choices)}{written}")
        return str(value)

    for key in table:
        if key not in known:
            raise refuse(key, f"unknown key {key}{nearest(key, sorted(known))}")
    ignores = table.get("per-file-ignores", {})
    if not isinstance(ignores, dict):
        raise refuse("per-file-ignores", "per-file-ignores is to be a table of globs and lists of rules")
    jobs = table.get("jobs", 0)
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 0:
        raise refuse("jobs", "jobs is to be a number of processes, or 0 for one a core")
    baseline = table.get("baseline")
    if baseline is not None and (not isinstance(baseline, str) or not baseline):
        raise refuse("baseline", "baseline is to be the path of a file")
    base = os.path.dirname(os.path.abspath(path))
    return Config(
        base=base,
        path=path,
        select=strings("select", table.get("select", ["ALL"])),
        ignore=strings("ignore", table.get("ignore", [])),
        extend_select=strings("extend-select", table.get("extend-select", [])),
        exclude=strings("exclude", table.get("exclude", [])),
        per_file_ignores=tuple((glob, strings(glob, names)) for glob, names in ignores.items()),
        target=choice("target", "auto", TARGETS),
        output_format=choice("output-format", "text", FORMATS),
        min_severity=choice("min-severity", "info", SEVERITIES),
        jobs=jobs,
        rules=strings("rules", table.get("rules", [])),
        baseline=None if baseline is None else os.path.join(base, baseline),
        fixable=strings("fixable", table.get("fixable", ["ALL"])),
        unfixable=strings("unfixable", table.get("unfixable", [])),
    )


def _key_line(key: str, text: str) -> str:
    """``:12`` where the key is first written, or nothing."""
    own_table = re.search(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*[\"']?migrate-lint", text, re.M)
    start = own_table.start() if own_table else 0
    found = re.compile(rf"^[ \t]*(?:\[.*)?[\"']?{re.escape(key)}[\"']?[ \t]*[=\].]", re.M).search(text, start)
    return f":{text.count(chr(10), 0, found.end()) + 1}" if found else ""


def resolve(selectors: Iterable[str], codes: Mapping[str, str], where: str) -> tuple[str, ...]:
    """Check selectors and turn slugs into codes.

    Raises:
        ConfigError: if one matches no rule; `where` says whose selector it is.
    """
    by_slug = {slug: code for code, slug in codes.items()}
    resolved = []
    for selector in selectors:
        name = selector.strip()
        name = by_slug.get(name, name)
        if name != "ALL" and not (name.startswith("TF") and any(code.startswith(name) for code in codes)):
            from ..source.suppressions import nearest

            raise ConfigError(f"{where}: unknown rule {selector}{nearest(selector, [*codes, *by_slug])}")
        resolved.append(name)
    return tuple(resolved)


def selected(
    select: Iterable[str], ignore: Iterable[str], extend_select: Iterable[str], codes: Iterable[str]
) -> frozenset[str]:
    """The codes that a run reports; of two selectors that disagree the longer wins, and ignoring wins a draw."""
    wanted, unwanted = [*select, *extend_select], list(ignore)
    chosen = set()
    for code in codes:
        if code in ALWAYS:
            if code not in unwanted or code == "TF909":
                chosen.add(code)
        elif (reach := _reach(code, wanted)) >= 0 and reach > _reach(code, unwanted):
            chosen.add(code)
    return frozenset(chosen)


def _reach(code: str, selectors: list[str]) -> int:
    """The length of the longest selector that matches; 0 for ALL, -1 for none."""
    return max((0 if s == "ALL" else len(s) for s in selectors if s == "ALL" or code.startswith(s)), default=-1)
