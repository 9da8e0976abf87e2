"""Writes which private modules the installed TensorFlow and Keras have, and which names of TF1 are gone, for TF308.

    python -m tests.rules.private_names --old PYTHON

PYTHON is an interpreter with TensorFlow 1.15; both are asked for the modules below ``tensorflow.python`` (the new one
also for those of Keras) and what each holds.
Names that begin with ``_``, of Python's own modules, and of tests and tools, are left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

TABLE = Path(__file__).resolve().parents[2] / "rules" / "keras" / "private_names.json"
ROOTS = ("tensorflow.python", "keras.src", "tf_keras.src")


def read(root: str) -> dict[str, list[str]]:
    """In a child: the modules that can be imported, and their names; also runs with Python 3.7."""
    importlib.import_module("tensorflow")
    package = importlib.import_module(root)
    found = {root: _names(package)}
    for path in package.__path__:
        for module in pkgutil.walk_packages([path], root + ".", onerror=lambda name: None):
            name = module.name
            if name.endswith("_test") or ".testing" in name or ".tools" in name or ".examples" in name:
                continue
            try:
                names = _names(importlib.import_module(name))
            except BaseException:  # whatever a private module raises
                continue
            found[name] = names
    return found


def _names(module: ModuleType) -> list[str]:
    names = []
    for name in dir(module):
        try:
            value = getattr(module, name)
        except BaseException:  # lazily imported, and not there
            continue
        foreign = isinstance(value, ModuleType) and not value.__name__.startswith("tensorflow")
        if not name.startswith("_") and not foreign and type(value).__name__ != "_Feature":
            names.append(name)
    return names


def asked(python: str, root: str) -> dict[str, list[str]]:
    """What `read` says in another interpreter."""
    said = subprocess.run(
        [python, "-W", "ignore", __file__, "--child", root],
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    ).stdout
    found = json.loads(said.decode().splitlines()[-1])  # type: dict[str, list[str]]
    return found


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--old", help="an interpreter with TensorFlow 1.15")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print("\n" + json.dumps(read(given.child)), flush=True)
        os._exit(0)  # some module may have left a thread
    old, new = asked(given.old, ROOTS[0]), {root: asked(sys.executable, root) for root in ROOTS}
    now = new[ROOTS[0]]
    for module in list(old):
        package, _, name = module.rpartition(".")
        if package in old and name not in old[package]:
            old[package].append(name)
    gone = {
        module: " ".join(sorted(name for name in names if name not in now[module] and module + "." + name not in now))
        for module, names in sorted(old.items())
        if module in now
    }
    table = {
        "about": "Private modules that TF 2.21.0 has, below each root, and names of TF 1.15.5 that are gone from them.",
        "modules": {root: " ".join(sorted(name[len(root) + 1 :] for name in new[root])) for root in ROOTS},
        "gone": {module: names for module, names in gone.items() if names},
    }
    TABLE.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
