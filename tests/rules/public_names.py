"""Reads the public names of the TensorFlow and Keras that are installed; as a script it writes the list of the linter.

    python -m tests.rules.public_names

A module's names are those that ``dir`` tells and ``getattr`` gives: Keras 3 refuses some only on access.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

LIST = Path(__file__).resolve().parents[2] / "linter" / "analysis" / "public_names.json"
ROOTS = {
    "keras2": {"tensorflow": 1, "tensorflow.compat.v1": 4, "tf_keras": 32},
    "keras3": {"tensorflow": 2, "tensorflow.compat.v1": 8, "keras": 16},
}
"""What a target's list is made of, with the bit that says in it which of these has a name."""
_OWN = ("tensorflow", "keras", "tf_keras")
_PRIVATE = ("tensorflow.python", "tensorflow.tools", "tensorflow.dtensor", "tensorflow.security")
_OTHER_API = frozenset({"compat.v1", "compat.v2"})
"""The whole of TensorFlow once more."""


def read(target: str) -> dict[str, Any]:
    """In a child: for each root its modules with their names, and what can only be imported there."""
    return {root: _modules(importlib.import_module(root), prefix(root)) for root in ROOTS[target]}


def prefix(root: str) -> str:
    """Below which module of the list the names of a root stand."""
    return "keras" if root in ("keras", "tf_keras") else ""


def _modules(root: ModuleType, top: str) -> dict[str, dict[str, list[str]]]:
    names: dict[str, list[str]] = {}
    files: dict[str, list[str]] = {}
    package = os.path.dirname(root.__file__ or "")
    stack: list[tuple[str, Any]] = [(top, root)]
    while stack:
        path, module = stack.pop()
        found = names.setdefault(path, [])
        try:
            every = sorted(set(dir(module)))
        except ImportError:  # `tf.compat.v1.layers` with Keras 3
            continue
        for name in every:
            if name.startswith("_"):
                continue
            try:
                value = getattr(module, name)
            except (AttributeError, ImportError):
                continue
            found.append(name)
            below = f"{path}.{name}" if path else name
            if isinstance(value, ModuleType) and below not in _OTHER_API and _is_public(value):
                stack.append((below, value))
        only_files = sorted(set(_importable(Path(package, *path.removeprefix(top).split(".")))) - set(found))
        if only_files:
            files[path] = only_files
    return {"names": names, "files": files}


def _is_public(module: ModuleType) -> bool:
    try:
        name = module.__name__
    except AttributeError:  # `tf.compat.v1.layers` is a module without any attribute on Keras 3
        return True
    return name.partition(".")[0] in _OWN and not name.startswith(_PRIVATE) and ".src" not in name


def _importable(folder: Path) -> Iterator[str]:
    """The modules that lie in a package: an import reaches them, an attribute need not."""
    for entry in folder.glob("*"):
        if entry.suffix == ".py" or (entry.is_dir() and not entry.suffix):
            if entry.stem.isidentifier() and not entry.stem.startswith("_"):
                yield entry.stem


def listed(readings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The list: of each module its names, by the bits of the roots that have them, and what is a file only."""
    bits: dict[str, dict[str, int]] = {}
    files: dict[str, set[str]] = {}
    for target, roots in readings.items():
        for root, found in roots.items():
            for module, names in found["names"].items():
                row = bits.setdefault(module, {})
                for name in names:
                    row[name] = row.get(name, 0) | ROOTS[target][root]
            for module, names in found["files"].items():
                files.setdefault(module, set()).update(names)
    modules: dict[str, dict[str, str]] = {}
    for module, row in sorted(bits.items()):
        grouped: dict[int, list[str]] = {}
        for name, bit in sorted(row.items()):
            grouped.setdefault(bit, []).append(name)
        modules[module] = {str(bit): " ".join(names) for bit, names in sorted(grouped.items())}
    private = {module: " ".join(sorted(names)) for module, names in sorted(files.items())}
    return {"modules": modules, "files": private}


def main() -> None:
    """Write the list."""
    readings = {}
    for target in ROOTS:
        environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1"} if target == "keras2" else dict(os.environ)
        code = f"import json; from tests.rules.public_names import read; print(json.dumps(read({target!r})))"
        said = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True).stdout
        readings[target] = json.loads(said.splitlines()[-1])
    LIST.write_text(json.dumps(listed(readings), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
