"""What computes today what a name of `tf.contrib` computed: a name of ``compat.v1``, of tf_slim, or code to write out.

Of every name here it was executed that its successor gives the numbers that TF 1.15 gave, or that it is the same code.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_CONTRIB = "tensorflow.contrib"
_PRIVATE = re.compile(r"^(?:(?:tensorflow\.)?contrib\.)?(\w+)\.python\.(?:ops|layers|slim|training|framework|util)\.")
_REPAIRED = frozenset(
    {
        "batch_norm", "data", "dataset_data_provider", "global_variable", "learning", "local_variable",
        "metric_learning", "metrics", "nets", "optimize_loss", "optimizers", "recompute_grad", "rev_block", "stack",
        "tfexample_decoder", "training",
    }
)  # fmt: skip
"""What of tf_slim 1.1.0 asks TensorFlow for a name that 2.21 has elsewhere [run]."""


_RENAMED = frozenset({"checkpoint_dir", "filepattern", "pred"})
"""Parameters of names below ``tf.contrib.framework`` that are called otherwise in what stands for these."""


@dataclass(frozen=True, slots=True)
class Successor:
    """What is to be written for a name.

    ``kind`` is ``tf`` (a name of ``compat.v1``), ``slim`` (one of tf_slim, the package itself if ``name`` is empty),
    ``module`` (a module of its own) or ``code`` (a function or class of `code_of`).
    """

    kind: str
    name: str
    parts: int
    """How many parts of the old name, after ``tensorflow.contrib``, it stands for."""

    @property
    def needs_repair(self) -> bool:
        """Whether tf_slim has to be repaired for it; see `compat_v1`."""
        return self.kind == "slim" and not _REPAIRED.isdisjoint(self.name.split("."))


def takes(name: str, keywords: Iterable[str | None]) -> bool:
    """Whether what stands for a name takes the same keywords as it did; all that are known are given."""
    found = successor(name)
    if found is not None and found.kind == "code" and found.parts == name.count(".") - 1:
        parameters = _parameters(written_name(found.name))
        return parameters is None or parameters.issuperset(one for one in keywords if one is not None)
    return not name.startswith(f"{_CONTRIB}.framework.") or _RENAMED.isdisjoint(keywords)


@cache
def _listed() -> dict[str, dict[str, dict[str, str]]]:
    """What stands for a name: by the kind of its successor, its module, and the name itself."""
    table: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    found: dict[str, dict[str, dict[str, str]]] = {
        kind: {module: {name: name for name in names.split()} for module, names in table[kind].items()}
        for kind in ("slim", "code")
    }
    found["tf"] = {}
    for module, row in table["tf"].items():
        renamed = row.get("=", {})
        same = {
            name: f"{base}.{name}".lstrip(".") for base, names in row.items() if base != "=" for name in names.split()
        }
        found["tf"][module] = {**same, **renamed}
    return found


def listed() -> tuple[str, ...]:
    """The names below ``tf.contrib`` that the table has, without ``tf.contrib.``; slim's layers are in `layers`."""
    found = {f"{module}.{name}" for kind in _listed().values() for module, row in kind.items() for name in row}
    return tuple(sorted(f"slim.{name}" if name.startswith("nets.") else name for name in found))


@cache
def successor(name: str) -> Successor | None:
    """What stands for the longest part of an absolute name below ``tensorflow.contrib``; None where nothing does."""
    rest = name.removeprefix(f"{_CONTRIB}.")
    if rest == name:
        return None
    plain = _PRIVATE.sub(r"\1.", rest)
    more = rest.count(".") - plain.count(".")
    module, _, tail = plain.partition(".")
    parts = tail.split(".") if tail else []
    if more and parts[1:] and any(parts[1] in _listed()[kind].get(module, {}) for kind in _listed()):
        more += 1  # a private module in between
        parts.pop(0)
    first = parts[0] if parts else ""
    if module in ("slim", "losses", "metrics") or (module == "layers" and not first):
        found = _of_slim(module, parts)
        if found is not None:
            return Successor(found.kind, found.name, found.parts + more)
    if module == "keras":
        public = parts[2:] if parts[:2] == ["python", "keras"] else parts
        return Successor("tf", ".".join(["keras", *public]), 1 + len(parts))
    if first in _listed()["tf"].get(module, {}):
        return Successor("tf", _listed()["tf"][module][first], 2 + more)
    if first in _listed()["slim"].get(module, {}):
        return Successor("slim", f"training.{first}" if module == "training" else first, 2 + more)
    for depth in (1, 2):
        if (written := ".".join(parts[:depth])) in _listed()["code"].get(module, {}):
            return Successor("code", f"{module}.{written}", 1 + depth + more)
    if plain.startswith("tensorboard.plugins"):
        return Successor("module", "tensorboard.plugins", 2 + more)
    return None


def _of_slim(module: str, parts: list[str]) -> Successor | None:
    if module == "layers":
        return Successor("slim", "", 1)
    if module != "slim":  # tf.contrib.losses is the module that slim has, too
        if parts and (module == "losses" or parts[0].startswith("streaming_")):
            return Successor("slim", f"{module}.{parts[0]}", 2)
        return None
    if not parts:
        return Successor("slim", "", 1)
    if parts[0] == "nets":
        inner = parts[1] if len(parts) > 1 and parts[1] in _listed()["slim"]["nets"] else ""
        return Successor("slim", f"nets.{inner}".rstrip("."), 3 if inner else 2)
    if parts[0] == "python" and parts[1:2] == ["slim"] and not parts[2:]:
        return Successor("slim", "", 3)
    return Successor("slim", parts[0], 2) if parts[0] in _listed()["slim"]["layers"] else None


@cache
def _written() -> dict[str, tuple[str, tuple[str, ...]]]:
    text = Path(__file__).with_name("contrib_code.txt").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {node.name}
            found[node.name] = "".join(lines[node.lineno - 1 : node.end_lineno]), tuple(sorted(read))
    return {name: (code, tuple(one for one in read if one in found)) for name, (code, read) in found.items()}


@cache
def _parameters(name: str) -> frozenset[str] | None:
    """The parameters of a function that is written out, or of the constructor of a class; None where it takes any."""
    node = ast.parse(_written()[name][0]).body[0]
    if isinstance(node, ast.ClassDef):
        made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        if not made:
            fields = [one.value for one in node.body if isinstance(one, ast.Assign)]
            return frozenset(part for one in fields if isinstance(one, ast.Tuple) for part in ast.literal_eval(one))
        node = made[0]
    assert isinstance(node, ast.FunctionDef)
    return None if node.args.kwarg else frozenset(one.arg for one in node.args.args)


def written_name(name: str) -> str:
    """The function or class that is written out for a successor of kind ``code``."""
    module, last = name.partition(".")[0], name.rpartition(".")[2]
    return f"{module}_{last}" if f"{module}_{last}" in _written() else last


def code_of(names: set[str]) -> dict[str, str]:
    """The code of functions and classes of `written_name`, and of those that they read; it reads ``tf``."""
    wanted: dict[str, str] = {}
    queue = sorted(names, reverse=True)
    while queue:
        name = queue.pop()
        if name not in wanted:
            code, read = _written()[name]
            wanted[name] = code
            queue += read
    order = [name for name in _written() if name in wanted]
    return {name: wanted[name] for name in order}
