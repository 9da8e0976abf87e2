"""Which of the two TF2s a project is moved to, read off its requirements and its environment."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..analysis.paths import path_of
from ..finding import Target
from ..source.discovery import project_files
from ..source.parsing import SourceFile, parse_source
from ..source.reading import read_bytes, read_source
from .manifests import FLAG, Stated, stated_by

NO_EVIDENCE = "no evidence in the project"
"""The reason for a target that nothing speaks for."""

_IS_TEST = re.compile(r"(^|/)(tests?/|test_[^/]*$|[^/]*_test\.py$|conftest\.py$)")

_Version = tuple[int, int]
_KERAS3_RELEASE: _Version = (2, 16)
_NO_LIMIT: _Version = (9999, 0)


class _Evidence:
    """What was found, by strength; the first of each kind is kept."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def add(self, kind: str, what: str, place: str) -> None:
        self.found.setdefault(kind, f"{what} in {place}")


# Strongest first. A flag decides at run time, a pin at install time; a locked version may be anybody's.
_STRENGTH = (
    ("flag", Target.KERAS2),
    ("old tensorflow", Target.KERAS2),
    ("tf_keras", Target.KERAS2),
    ("old keras", Target.KERAS2),
    ("new keras", Target.KERAS3),
    ("new tensorflow", Target.KERAS3),
    ("old lock", Target.KERAS2),
    ("new lock", Target.KERAS3),
    ("old extra", Target.KERAS2),
    ("new extra", Target.KERAS3),
    ("tf_keras lock", Target.KERAS2),
)


def decide_target(
    root: Path,
    config_value: str = "auto",
    files: Sequence[str] | None = None,
    unsaved: Mapping[str, bytes] | None = None,
) -> tuple[Target, str]:
    """The target of the project at `root`, and why.

    Read are the requirements, locks and environments of the root (see `manifests`), and the Python files that set
    TF_USE_LEGACY_KERAS.
    A pin to TensorFlow 1 says where a project comes from, and counts for nothing.

    Args:
        root: the project's folder.
        config_value: ``keras2`` or ``keras3`` where it is configured, or ``auto``.
        files: the project's Python files, where they are known.
        unsaved: what is read in place of what files hold.
    """
    if config_value != "auto":
        return Target(config_value), "as configured"
    evidence = _Evidence()
    for stated in stated_by(root):
        _judge(stated, evidence)
    if not evidence.found.keys() & {"flag", "old tensorflow", "tf_keras"}:
        _search_code(root, project_files(root) if files is None else files, unsaved or {}, evidence)
    for kind, target in _STRENGTH:
        if kind in evidence.found:
            return target, evidence.found[kind]
    return Target.KERAS3, NO_EVIDENCE


def statements(root: Path) -> Iterator[tuple[str, Target | None]]:
    """What the requirements, locks and environments of a project's root state, each with the target it speaks for.

    The strongest of them decides, and not the first; see `decide_target`.
    """
    targets = dict(_STRENGTH)
    for stated in stated_by(root):
        evidence = _Evidence()
        _judge(stated, evidence)
        text = f"{FLAG}=1" if stated.kind == "flag" else f"{stated.name}{stated.specs.strip().rstrip(',')}"
        yield f"{text} in {stated.place}", next((targets[kind] for kind in evidence.found), None)


def _judge(stated: Stated, evidence: _Evidence) -> None:
    kind, name, specs, place = stated
    if kind == "flag":
        evidence.add("flag", f"{FLAG}=1", place)
        return
    package = name.lower()
    low, high = _bounds(specs)
    if kind == "locked":
        what = f"{name} {specs}"
        if package.startswith("tf"):
            evidence.add("tf_keras lock", what, place)
        elif package.startswith("tensorflow") and low >= (2, 0):
            evidence.add("old lock" if low < _KERAS3_RELEASE else "new lock", what, place)
        return
    what = f"{name}{specs.strip().rstrip(',')}"
    is_old = (2, 5) < high <= (3, 0) if package == "keras" else (2, 0) < high <= _KERAS3_RELEASE
    is_new = low >= ((3, 0) if package == "keras" else _KERAS3_RELEASE)
    if package.startswith("tf"):
        if kind == "required":  # an extra that brings it says nothing of those who do without
            evidence.add("tf_keras", name, place)
    elif is_old or is_new:
        age = "new" if is_new and not is_old else "old"
        of = "extra" if kind == "optional" else "keras" if package == "keras" else "tensorflow"
        evidence.add(f"{age} {of}", what, place)


def _bounds(specs: str) -> tuple[_Version, _Version]:
    """The lowest version that is allowed, and the first one that no longer is."""
    low, high = (0, 0), _NO_LIMIT
    if not specs:
        return low, high
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    with suppress(ValueError):  # what none of them can mean limits nothing, nor does a number of 4,300 digits
        # What Poetry and conda write. `~=2.12` allows 2.16, yet whoever wrote it meant the releases of 2.12.
        specs = re.sub(r"(?<=\w)\s*+(?:,\s*+)?(?=[<>=!~^])", ",", specs.replace(".*", ""))
        specs = re.sub(r"(^|,)\s*+(?:(?:~=|[=~])\s*+)?(?=v?\d)", r"\1==", specs)
        specs = re.sub(r"\^\s*v?(\d+)[\w.]*", lambda match: f">={match[0][1:]},<{int(match[1]) + 1}", specs)
        for spec in SpecifierSet(specs):
            found = Version(spec.version)
            version = found.major, found.minor
            if spec.operator in {">=", ">", "==", "==="}:
                low = max(low, version)
            if spec.operator in {"==", "===", "<="}:
                high = min(high, (found.major, found.minor + 1) if found.release[1:] else (found.major + 1, 0))
            elif spec.operator == "<":
                high = min(high, version)
    return low, high


def _search_code(root: Path, files: Sequence[str], unsaved: Mapping[str, bytes], evidence: _Evidence) -> None:
    flag = FLAG.encode()
    for path in files:
        place = os.path.relpath(path, root).replace(os.sep, "/")
        if _IS_TEST.search(place):
            continue  # a test that tries both says nothing about where the program goes
        try:
            data = unsaved[path] if path in unsaved else read_bytes(path)
        except OSError:
            continue
        if flag not in data:
            continue
        source = read_source(Path(path), place, data)
        if isinstance(source, SourceFile) and (line := _flag_line(source)) is not None:
            evidence.add("flag", f"{FLAG} is set", f"{place}:{line}")
            return


def _flag_line(source: SourceFile) -> int | None:
    """The line that sets the flag in `os.environ`; reading it, or speaking of it, sets nothing."""

    def is_flag(node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and node.value == FLAG

    def is_environ(node: ast.expr) -> bool:
        return (path_of(node) or "").rpartition(".")[2] == "environ"

    def is_on(nodes: Iterable[ast.expr]) -> bool:
        return any(isinstance(node, ast.Constant) and str(node.value).lower() in {"1", "true"} for node in nodes)

    tree = parse_source(source)
    if not isinstance(tree, ast.Module):
        return None
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Subscript(base, key)], value=value) if is_environ(base) and is_flag(key):
                if is_on([value]):
                    return node.lineno
            case ast.Call(func=ast.Attribute(attr="setdefault" | "putenv"), args=[key, value]) if is_flag(key):
                if is_on([value]):
                    return node.lineno
            case ast.Call(ast.Attribute(base, "update"), arguments, keywords) if is_environ(base):
                if is_on(keyword.value for keyword in keywords if keyword.arg == FLAG):
                    return node.lineno
                for given in arguments:
                    if isinstance(given, ast.Dict):
                        pairs = zip(given.keys, given.values, strict=True)
                        if is_on(value for key, value in pairs if key is not None and is_flag(key)):
                            return node.lineno
    return None
