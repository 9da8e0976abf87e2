"""What a project's own files require and set in its environment; never what they say in prose.

Each format is read by its structure: a description, a keyword, a channel or a comment that names a package requires
nothing.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from ..analysis.paths import literal_string, path_of
from ..source.reading import read_bytes

__all__ = ["FLAG", "Stated", "stated_by", "states_requirements"]

FLAG = "TF_USE_LEGACY_KERAS"
_SIZE_LIMIT = 20_000_000
_SCRIPT_LIMIT = 500_000
"""Characters of a `setup.py`, whose tree takes some hundred times as much memory."""
_PACKAGE = r"(?P<name>tensorflow(?:[-_](?:cpu|gpu|intel|macos|rocm|aarch64))?|tf[-_.]keras|keras)"
_SPECS = r"(?P<specs>(?:(?:===|==|~=|>=|<=|!=|<|>|=) ?v?\d[\w.*+!]*+ ?,? ?)*+)"
_REQUIREMENT = re.compile(
    rf"(?:[\w-]++::)?{_PACKAGE} ?(?:\[[^\]]*+\])? ?\(? ?{_SPECS}(?:\)|=\w++)? ?(?:[@;].*|--hash.*|\\)?", re.I
)
_CONDA_EXACT = re.compile(rf"{_PACKAGE} (?P<specs>\d[\w.*]*+)(?: \S++)?", re.I)
_IMAGE = re.compile(r"(?:[\w.-]++/)?tensorflow/tensorflow:v?(?P<specs>\d+\.\d+(?:\.\d+)?)")
_LOCKED = (
    re.compile(rf'^name = "{_PACKAGE}"\nversion = "(?P<version>\d[^"]*)"', re.M | re.I),
    re.compile(rf'"{_PACKAGE}": \{{[^{{}}]*?"version": "==(?P<version>\d[^"]*)"', re.I),
    re.compile(rf"^[ -]*+name: {_PACKAGE}\n *+version: ['\"]?(?P<version>\d[\w.]*)", re.M | re.I),
)
_ON = frozenset({"1", "true"})
_INSTALLERS = frozenset({"conda", "mamba", "micromamba", "pip", "pip3"})

_OF_SETUP = {"install_requires": True, "setup_requires": True, "extras_require": False}
"""What `setup` takes requirements in; whether all who install the project get them."""
_OF_YAML = {"dependencies": True, "pip": True, "run": True, "host": True, "run_constrained": False}
"""The lists of a conda environment or recipe; whether what they name is there."""
_BELOW = {
    "requirements": (".txt", ".in"),
    "conda": (".yml", ".yaml"),
    "conda.recipe": ("meta.yml", "meta.yaml"),
    "conda-recipe": ("meta.yml", "meta.yaml"),
    "recipe": ("meta.yml", "meta.yaml"),
}
"""Folders in the root that hold such files by convention, and how the names of those end."""


class Stated(NamedTuple):
    """One statement: a package with what its version must be, or the flag of the environment."""

    kind: str
    """``required``, ``optional`` (for some who install the project), ``locked`` or ``flag``."""
    name: str
    specs: str
    place: str


def stated_by(root: Path) -> Iterator[Stated]:
    """All that the files in a project's root state, and those in its folders of requirements and recipes."""
    for folder, endings in (("", ("",)), *_BELOW.items()):
        try:
            names = sorted(os.listdir(root / folder))
        except OSError:
            continue
        for name in names:
            read = _reader(name) or (_requirements_file if folder == "requirements" else None)
            if read is None or not name.endswith(endings):
                continue
            try:
                data = read_bytes(os.path.join(root, folder, name), _SIZE_LIMIT)
            except OSError:
                continue
            text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
            place = f"{folder}/{name}" if folder else name
            with suppress(RecursionError, MemoryError):
                found = list(read(text))
                yield from (Stated(kind, package, specs, f"{place}:{line}") for line, kind, package, specs in found)


_Found = tuple[int, str, str, str]
"""A line, and the first three fields of what is stated there."""


def _requirement(text: str, line: int, required: bool = True) -> Iterator[_Found]:
    """What one requirement says, as pip and conda write it; nothing if the text is anything else."""
    text = " ".join(text.split())
    match = _REQUIREMENT.fullmatch(text) or _CONDA_EXACT.fullmatch(text)
    if match is not None:
        yield line, "required" if required else "optional", match["name"], match["specs"]


def _set(name: object, value: object, line: int) -> Iterator[_Found]:
    if name == FLAG and str(value).strip().strip("\"'").lower() in _ON:
        yield line, "flag", FLAG, ""


def _assigned(words: str, line: int) -> Iterator[_Found]:
    """The variables that the words of a command line set: ``NAME=1``."""
    for word in words.split() if FLAG in words else ():
        yield from _set(*word.partition("=")[::2], line)


# -- formats -----------------------------------------------------------------------------------------------------------


def _requirements_file(text: str) -> Iterator[_Found]:
    for number, line in enumerate(text.split("\n"), 1):
        yield from _requirement(re.sub(r"(?:^|\s)#.*", "", line), number)


def _lock(text: str) -> Iterator[_Found]:
    for pattern in _LOCKED:
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, "locked", match["name"], match["version"]


def _environment_file(text: str) -> Iterator[_Found]:
    """``NAME=value`` lines, as in ``.env``."""
    for number, line in enumerate(text.split("\n"), 1):
        name, _, value = line.partition("#")[0].strip().removeprefix("export ").partition("=")
        yield from _set(name.strip(), value, number)


def _dockerfile(text: str) -> Iterator[_Found]:
    number = 1
    for instruction in re.split(r"(?<!\\)\n", text):
        word, _, rest = instruction.strip().partition(" ")
        parts = rest.replace("\\\n", " ").split()
        if word.upper() == "FROM" and (image := next(filter(None, map(_IMAGE.match, parts)), None)) is not None:
            yield number, "required", "tensorflow", f"=={image['specs']}"
        elif word.upper() == "ENV" and len(parts) > 1 and "=" not in parts[0]:
            yield from _set(parts[0], " ".join(parts[1:]), number)
        elif word.upper() in ("ENV", "ARG"):
            yield from _assigned(rest, number)
        elif word.upper() == "RUN":
            yield from _commands(" ".join(parts), number)
        number += instruction.count("\n") + 1


def _commands(text: str, line: int) -> Iterator[_Found]:
    """What shell commands install and set."""
    yield from _assigned(text, line)
    for command in re.split("[&|;]+", text):
        words = [word.strip("\"'") for word in command.split()]
        installs = next((at for at, word in enumerate(words) if word in ("install", "create")), 0)
        if _INSTALLERS.intersection(words[:installs]):
            for word in words[installs:]:
                yield from _requirement(word, line)


def _sections(text: str) -> Iterator[tuple[str, str, int, str]]:
    """The lines of a file of sections and keys: ``(section, key, number, text)``, one for each line of a value."""
    section = key = ""
    for number, raw in enumerate(text.split("\n"), 1):
        line = re.sub(r"(?:^|\s)[#;].*", "", raw).rstrip()
        if line.startswith("[") and line.endswith("]"):
            section, key = line[1:-1].strip(), ""
        elif line[:1].isspace():
            yield section, key, number, line.strip()
        elif line:
            key, value = (part.strip() for part in (*re.split("[=:]", line, maxsplit=1), "")[:2])
            yield section, key, number, value


def _setup_cfg(text: str) -> Iterator[_Found]:
    for section, key, number, line in _sections(text):
        if section == "options" and key in _OF_SETUP:
            yield from _requirement(line, number)
        elif section == "options.extras_require":
            yield from _requirement(line, number, required=False)
        elif section == "tool:pytest" and key == "env":
            yield from _assigned(line, number)


def _tox(text: str) -> Iterator[_Found]:
    for section, key, number, line in _sections(text):
        if section.startswith("testenv") and key == "deps":
            yield from _requirement(line, number, required=False)
        elif section.startswith("testenv") and key in ("setenv", "set_env"):
            name, _, value = line.partition("=")
            yield from _set(name.strip(), value, number)


def _yaml(text: str) -> Iterator[_Found]:
    """The items of a conda environment's or recipe's lists of requirements, and the variables that it sets."""
    keys: list[tuple[int, str]] = []
    block: int | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = re.sub(r"(?:^|\s)#.*", "", raw).rstrip()
        content = line.lstrip()
        indent = len(line) - len(content)
        if not content or (block is not None and indent > block):
            continue
        block = None
        is_item = content.startswith("- ")
        while keys and keys[-1][0] >= indent + is_item:
            keys.pop()
        around = keys[-1][1] if keys else ""
        key, colon, value = (part.strip() for part in content.removeprefix("- ").partition(":"))
        if is_item and (not colon or value.startswith(":")):
            if around in _OF_YAML:
                yield from _requirement(content[2:].strip().strip("\"'"), number, _OF_YAML[around])
        elif colon:
            keys.append((indent + is_item, key))
            if around in ("variables", "script_env", "env"):
                yield from _set(key, value, number)
            if value[:1] in ("|", ">"):
                block = indent
            elif value[:1] == "[" and key in _OF_YAML:
                for item in value.strip("[]").split(","):
                    yield from _requirement(item.strip().strip("\"'"), number, _OF_YAML[key])


# -- TOML --------------------------------------------------------------------------------------------------------------


def _toml(text: str) -> Iterator[_Found]:
    import tomllib

    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):  # a number of thousands of digits is no TOMLDecodeError
        return
    lines = text.split("\n")
    for kind, name, specs, shown in _of_tables(document, ()):
        line = next((number for number, line in enumerate(lines, 1) if _says(line, shown)), 1)
        if kind == "flag":
            yield line, kind, name, specs
        else:
            yield from _requirement(name + specs, line, kind == "required")


def _says(line: str, shown: str) -> bool:
    code = line.strip()
    return f'"{shown}"' in code or f"'{shown}'" in code or code.partition("=")[0].strip() == shown


_Row = tuple[str, str, str, str]
"""Kind, name, version, and the text by which its line is found."""


def _of_tables(value: Any, path: tuple[str, ...]) -> Iterator[_Row]:
    """What a table of ``pyproject.toml`` or a ``Pipfile`` states, and those in it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == FLAG and str(inner).lower() in _ON:
                yield "flag", FLAG, "", FLAG
            yield from _of_tables(inner, (*path, key))
        if _is_table_of_packages(path):
            aside = "group" in path or path[-1].startswith("dev-")
            for key, alternatives in value.items():
                for inner in alternatives if isinstance(alternatives, list) else [alternatives]:
                    version = inner.get("version", "") if isinstance(inner, Mapping) else inner
                    optional = aside or (isinstance(inner, Mapping) and inner.get("optional") is True)
                    if isinstance(version, str):
                        yield "optional" if optional else "required", key, _plain(version), key
    elif isinstance(value, list):
        kind = _kind_of_list(path)
        for item in value:
            if isinstance(item, str) and kind:
                yield kind, item, "", item
            elif isinstance(item, str) and path[-1:] == ("env",):
                name, _, setting = item.removeprefix("D:").partition("=")
                if name.strip() == FLAG and setting.strip().lower() in _ON:
                    yield "flag", FLAG, "", item


def _is_table_of_packages(path: tuple[str, ...]) -> bool:
    match path:
        case ("packages" | "dev-packages",):
            return True
        case ("tool", "poetry" | "pixi", *_, last):
            return last in ("dependencies", "dev-dependencies", "pypi-dependencies")
    return False


def _kind_of_list(path: tuple[str, ...]) -> str:
    match path:
        case ("project", "dependencies") | ("tool", "flit", "metadata", "requires"):
            return "required"
        case ("project", "optional-dependencies", _) | ("dependency-groups", _):
            return "optional"
        case ("tool", "hatch" | "pdm" | "uv", *_, last) if "dependencies" in (*path[2:-1], last) or last.endswith(
            "-dependencies"
        ):
            return "optional"
    return ""


def _plain(version: str) -> str:
    """A version of Poetry as pip would write it; one without an operator is exact."""
    version = version.strip()
    if version in ("", "*"):
        return ""
    if caret := re.fullmatch(r"\^ ?v?(\d++)([\w.]*+)", version):
        return f">={caret[1]}{caret[2]},<{int(caret[1]) + 1}" if len(caret[1]) < 10 else ""
    if version[0] == "~" and version[1:2] != "=":
        return f"~={version[1:].strip()}"
    return f"=={version}" if version[0].isdigit() or version[0] == "v" else version


# -- setup.py ----------------------------------------------------------------------------------------------------------


def _setup_py(text: str) -> Iterator[_Found]:
    """What the arguments of `setup` say, by name, through the variables, dicts and lists that they are made of."""
    if len(text) > _SCRIPT_LIMIT:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    values = _Values(tree)
    for node in ast.walk(tree):
        stated: list[tuple[str | None, ast.expr]] = []
        match node:
            case ast.Call(keywords=keywords):
                stated = [(keyword.arg, keyword.value) for keyword in keywords]
            case ast.Dict(keys=keys, values=inner):
                stated = [(literal_string(key), value) for key, value in zip(keys, inner, strict=True)]
            case ast.Assign(targets=[ast.Subscript(slice=key)], value=value):
                stated = [(literal_string(key), value)]
        for name, value in stated:
            if name in _OF_SETUP:
                for line, requirement in values.texts(value):
                    for part in requirement.split("\n"):
                        yield from _requirement(part.partition("#")[0], line, _OF_SETUP[name])




class _Values:
    """The texts that expressions of a script are made of."""

    def __init__(self, tree: ast.Module) -> None:
        self._named: dict[str, list[ast.expr]] = {}
        self._open: set[str] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._add(target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target, _, value):
                    self._add(target, value)
                case ast.Call(ast.Attribute(base, "append" | "extend" | "insert" | "update"), args=[*_, value]):
                    self._add(base, value)
                case ast.FunctionDef(name=name):
                    made = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value]
                    self._named.setdefault(name, []).extend(made)

    def _add(self, target: ast.expr, value: ast.expr) -> None:
        name = path_of(target.value if isinstance(target, ast.Subscript) else target)
        if name is not None:
            self._named.setdefault(name, []).append(value)

    def texts(self, node: ast.expr) -> list[tuple[int, str]]:
        """The texts with their lines; one that is put together counts where its parts are known."""
        match node:
            case ast.Constant(value=str() as text):
                return [(node.lineno, text)]
            case ast.JoinedStr(values=parts):
                return self._joined(part.value if isinstance(part, ast.FormattedValue) else part for part in parts)
            case ast.BinOp(left, ast.Add(), right):
                if any(isinstance(side, ast.Constant | ast.JoinedStr) for side in (left, right)):
                    return self._joined([left, right])
                return self.texts(left) + self.texts(right)
            case ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Set(elts=inner) | ast.Dict(values=inner):
                pass
            case ast.IfExp(body=body, orelse=other):
                inner = [body, other]
            case ast.Starred(value=value) | ast.Subscript(value=value):
                inner = [value]
            case ast.Call(func=ast.Name("list" | "sorted" | "set" | "tuple" | "dict"), args=args, keywords=keywords):
                inner = [*args, *(keyword.value for keyword in keywords)]
            case ast.Call(func=ast.Name(name)) | ast.Name(name):
                return self._of_name(name)
            case _:
                return []
        return [text for part in inner for text in self.texts(part)]

    def _of_name(self, name: str) -> list[tuple[int, str]]:
        if name in self._open:
            return []
        self._open.add(name)
        found = [text for value in self._named.get(name, ()) for text in self.texts(value)]
        self._open.discard(name)
        return found

    def _joined(self, parts: Iterable[ast.expr]) -> list[tuple[int, str]]:
        known = [self.texts(part) for part in parts]
        if not known or any(len(texts) != 1 for texts in known):
            return []
        return [(known[0][0][0], "".join(text for ((_, text),) in known))]


_Read = Callable[[str], Iterator[_Found]]
_READERS: tuple[tuple[tuple[str, ...], _Read], ...] = (
    (("*requirements*.txt", "*requirements*.in", "constraints*.txt"), _requirements_file),
    (("setup.py",), _setup_py),
    (("setup.cfg",), _setup_cfg),
    (("pyproject.toml", "Pipfile", "pixi.toml"), _toml),
    (("environment*.yml", "environment*.yaml", "conda*.yml", "conda*.yaml", "meta.yml", "meta.yaml"), _yaml),
    (("tox.ini",), _tox),
    ((".env*",), _environment_file),
    (("Dockerfile*",), _dockerfile),
    (("Pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock", "conda-lock.yml"), _lock),
)


def states_requirements(folder: str) -> bool:
    """Whether a folder holds a file that says what a project requires."""
    try:
        return any(_reader(name) or name == "requirements" for name in os.listdir(folder))
    except OSError:
        return False


def _reader(name: str) -> _Read | None:
    found = (read for globs, read in reversed(_READERS) if any(fnmatchcase(name, glob) for glob in globs))
    return next(found, None)
