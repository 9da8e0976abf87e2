"""From `pyproject.toml` or `migrate-lint.toml` to one frozen `Config`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
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
_OF_RUNS = ("rules", "baseline", "jobs", "output-format", "link-template")
"""Keys that cannot differ between the folders of a run."""
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
    link_template: str = ""
    """The address of a finding in an HTML report, as `link_template.address` fills it in."""
    extended: tuple[str, ...] = ()
    """The files that this one extends, each of them the one before."""
    of_runs: tuple[str, ...] = field(default=(), compare=False)
    """``file:line: key`` of what the file itself says of a whole run."""
    target_file: str | None = field(default=None, compare=False)
    """The file that says the target, if one does."""
    nested: Callable[[str], Config] | None = field(default=None, compare=False, repr=False)
    """Gives the settings of an absolute folder, where those of a run differ; see `with_nested`."""

    def of(self, folder: str) -> Config:
        """The settings for the files of an absolute folder."""
        return self if self.nested is None else self.nested(folder)

    def aimed_at(self, target: str) -> Config:
        """The same settings with another target, everywhere."""
        nested = self.nested
        own = replace(self, target=target, target_file=None, nested=None)
        return own if nested is None else replace(own, nested=lambda folder: nested(folder).aimed_at(target))


def with_nested(config: Config, adapted: Callable[[Config], Config]) -> Config:
    """The settings of a run, which in a folder with a nearer file give way to that file's.

    Args:
        config: what holds where the run begins.
        adapted: gives what is made of a nearer file's settings, such as what the command line puts above them; it is
            asked once a file.

    A nearer file is read when a folder below it is first asked for, which raises `ConfigError` as `load` does.
    """
    known = {config.base: config} if config.path is not None else {}

    def nested(folder: str) -> Config:
        if folder not in known:
            parent = os.path.dirname(folder)
            if (found := _in_folder(folder)) is not None:
                known[folder] = adapted(found)
            else:
                known[folder] = config if parent == folder else nested(parent)
        return known[folder]

    return replace(config, nested=nested)


def rebased(glob: str, base: str) -> str:
    """A glob about paths from the folder `base`, as it is to be written elsewhere; a mere name is one everywhere."""
    glob = glob.replace("\\", "/")
    if "/" not in glob.rstrip("/") or os.path.isabs(glob):
        return glob
    from glob import escape

    return os.path.join(escape(base), glob.removeprefix("./"))


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
            if (found := _in_folder(folder)) is not None:
                return found
            if (parent := os.path.dirname(folder)) == folder:
                break
            folder = parent
    return Config(base=os.getcwd())


def _in_folder(folder: str) -> Config | None:
    """The settings of a folder's own file."""
    for name in (_OWN_FILE, _SHARED_FILE):
        path = os.path.join(folder, name)
        if os.path.lexists(path) and (found := _read_found(path)) is not None:
            return found
    return None


def _read_found(path: str) -> Config | None:
    """Read a file that nobody named: one from elsewhere is not quoted."""
    from ..source.discovery import is_foreign

    try:
        return _read(path)
    except ConfigError:
        if not is_foreign(path):
            raise
    raise ConfigError(f"{path}: this is a link out of the project, to what is no configuration; --config follows it")


def _read(path: str, extending: tuple[str, ...] = ()) -> Config | None:
    from ..source.reading import read_bytes

    try:
        data = read_bytes(path)
    except OSError as error:
        raise ConfigError(f"{path}: this file cannot be read: {error}") from error
    return parse(data, path, extending)


def parse(data: bytes, path: str, extending: tuple[str, ...] = ()) -> Config | None:
    """Make a `Config` of a file's bytes; None for a `pyproject.toml` without our table.

    `extending` are the files that lead here by `extend`, as real paths.
    """
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
    return _from_table(table, path, text, extending)


def _error_line(message: str, text: str) -> int:
    if found := re.search(r"at line (\d+)", message):
        return int(found[1])
    from ..source.parsing import line_of_long_number

    return line_of_long_number(text) or text.count("\n") + 1


def _extended(
    table: Mapping[str, Any], path: str, refuse: Callable[[str, str], ConfigError], extending: tuple[str, ...]
) -> Config:
    """What a file extends, with paths that hold from its own folder; the defaults where it extends nothing.

    Raises:
        ConfigError: if that cannot be read, leads back, or is no configuration; a file from elsewhere is not quoted.
    """
    base = os.path.dirname(os.path.abspath(path))
    if "extend" not in table:
        return Config(base=base)
    name = table["extend"]
    if not isinstance(name, str) or not name or "\0" in name:
        raise refuse("extend", "extend is to be the path of a file")
    file = os.path.normpath(os.path.join(base, name))
    way = (*extending, os.path.realpath(path))
    if os.path.realpath(file) in way:
        raise refuse("extend", f"extend leads back to {name}")
    if not os.path.isfile(file):
        raise refuse("extend", f"{name}: there is no such file to extend")
    from ..source.discovery import repository_around

    try:
        found = _read(file, way)
    except ConfigError:
        if os.path.realpath(file).startswith(os.path.join(os.path.realpath(repository_around(base)), "")):
            raise
        raise refuse("extend", f"{name}: this lies outside of the repository, and is no configuration") from None
    if found is None:
        raise refuse("extend", f"{name}: there is no table [{_TABLE}] to extend")
    return replace(
        found,
        base=base,
        exclude=tuple(rebased(glob, found.base) for glob in found.exclude),
        per_file_ignores=tuple((rebased(glob, found.base), names) for glob, names in found.per_file_ignores),
        rules=tuple(os.path.join(found.base, folder) for folder in found.rules),
        extended=(file, *found.extended),
    )


def _from_table(table: Mapping[str, Any], path: str, text: str, extending: tuple[str, ...]) -> Config:
    from ..source.suppressions import nearest

    known = {
        "select", "ignore", "extend-select", "exclude", "per-file-ignores", "target", "output-format", "jobs", "rules",
        "baseline", "fixable", "unfixable", "min-severity", "extend",
        "link-template",
    }  # fmt: skip

    def refuse(key: str, reason: str) -> ConfigError:
        return ConfigError(f"{path}{_key_line(key, text)}: {reason}")

    def strings(key: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise refuse(key, f"{key} is to be a list of strings")
        return tuple(value)

    def listed(key: str, inherited: tuple[str, ...]) -> tuple[str, ...]:
        return strings(key, table[key]) if key in table else inherited

    def choice(key: str, inherited: str, choices: tuple[str, ...]) -> str:
        value = table.get(key, inherited)
        if value not in choices:
            written = f", not {value!r}{nearest(value, choices)}" if isinstance(value, str) else ""
            raise refuse(key, f"{key} is to be one of {', '.join(choices)}{written}")
        return str(value)

    for key in table:
        if key not in known:
            raise refuse(key, f"unknown key {key}{nearest(key, sorted(known))}")
    before = _extended(table, path, refuse, extending)
    ignores = table.get("per-file-ignores", {})
    if not isinstance(ignores, dict):
        raise refuse("per-file-ignores", "per-file-ignores is to be a table of globs and lists of rules")
    jobs = table.get("jobs", before.jobs)
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 0:
        raise refuse("jobs", "jobs is to be a number of processes, or 0 for one a core")
    baseline = table.get("baseline")
    if baseline is not None and (not isinstance(baseline, str) or not baseline):
        raise refuse("baseline", "baseline is to be the path of a file")
    template = table.get("link-template", before.link_template)
    if not isinstance(template, str):
        raise refuse("link-template", "link-template is to be an address with placeholders")
    if template:
        from .link_template import LinkTemplateError, require_template

        try:
            require_template(template)
        except LinkTemplateError as error:
            raise refuse("link-template", f"link-template: {error}") from error
    own_ignores = tuple((glob, strings(glob, names)) for glob, names in ignores.items())
    return Config(
        base=before.base,
        path=path,
        select=listed("select", before.select),
        ignore=listed("ignore", before.ignore),
        extend_select=listed("extend-select", before.extend_select),
        exclude=listed("exclude", before.exclude),
        per_file_ignores=own_ignores if "per-file-ignores" in table else before.per_file_ignores,
        target=choice("target", before.target, TARGETS),
        output_format=choice("output-format", before.output_format, FORMATS),
        min_severity=choice("min-severity", before.min_severity, SEVERITIES),
        jobs=jobs,
        rules=listed("rules", before.rules),
        baseline=before.baseline if baseline is None else os.path.join(before.base, baseline),
        fixable=listed("fixable", before.fixable),
        unfixable=listed("unfixable", before.unfixable),
        link_template=template,
        extended=before.extended,
        target_file=path if "target" in table else before.target_file,
        of_runs=tuple(f"{path}{_key_line(key, text)}: {key}" for key in _OF_RUNS if key in table),
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
