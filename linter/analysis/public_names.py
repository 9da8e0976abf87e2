"""Which public names TensorFlow and Keras have, on each target: read from `public_names.json`, when first asked.

`tests/rules/public_names.py` makes the list from the packages that are installed.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from ..finding import Target

_BITS = {
    ("tensorflow", Target.KERAS2): 1,
    ("tensorflow", Target.KERAS3): 2,
    ("tensorflow.compat.v1", Target.KERAS2): 4,
    ("tensorflow.compat.v1", Target.KERAS3): 8,
    ("keras", Target.KERAS2): 48,  # Keras 2 or 3, as the installed one is
    ("keras", Target.KERAS3): 16,
    ("tf_keras", Target.KERAS2): 32,
    ("tf_keras", Target.KERAS3): 32,
}
_TOPS = {"tensorflow": "", "keras": "keras.", "tf_keras": "keras."}
_APIS = {
    ".compat.v1": "tensorflow.compat.v1",
    "._api.v1": "tensorflow.compat.v1",
    ".compat.v2": "tensorflow",
    "._api.v2": "tensorflow",
}
_ONLY_V2 = ".enable_v2_behavior"
"""The one name of `tf.compat.v2` that `tf` does not have [run]."""
_OPAQUE = ("contrib", "keras.saving", "keras.src", "python")
"""Not judged: contrib has no list, the others are private or (`tf.keras.saving`) differ between releases of Keras 3."""


def split_api(spelled: str) -> tuple[str, str]:
    """The API of an absolute name and what stands below it; an empty API for what is neither TensorFlow's nor Keras's.

    ``tensorflow.compat.v2.compat.v1.layers.dense`` is ``layers.dense`` of ``tensorflow.compat.v1``.
    """
    root = spelled.partition(".")[0]
    if root not in _TOPS:
        return "", ""
    api, rest = root, spelled[len(root) :]
    while root == "tensorflow":
        found = next((start for start in _APIS if rest.startswith(f"{start}.") or rest == start), None)
        if found is None:
            break
        api, rest = _APIS[found], rest[len(found) :]
        if rest == _ONLY_V2 and found == ".compat.v2":
            return "", ""
    return api, rest[1:]


def missing_part(api: str, whole: str, target: Target) -> str | None:
    """The first part of a dotted name that `api` lacks, with what comes before it; None if nothing is known to lack.

    What follows a function or a class is an attribute of it, and not judged.
    """
    return _walked(api, whole, target)[0]


def _walked(api: str, whole: str, target: Target) -> tuple[str | None, bool]:
    """The part that is missing, and whether all parts were looked up."""
    modules, files = _listed()
    bit = _BITS[api, target]
    top = _TOPS.get(api, "")
    path = top.rstrip(".")
    for part in whole.split("."):
        names = modules.get(path)
        below = f"{path}.{part}" if path else part
        if names is None or part.startswith("_") or below in _OPAQUE or part in files.get(path, ()):
            return None, False
        if not names.get(part, 0) & bit:
            return below.removeprefix(top), True
        path = below
    return None, True


def has(spelled: str, target: Target) -> bool | None:
    """Whether there is a public name of TensorFlow or Keras; None where the list does not tell."""
    api, whole = split_api(spelled)
    if not whole:
        return True if api else None
    if whole.partition(".")[0] == "contrib":
        return False
    missing, looked_up = _walked(api, whole, target)
    return None if not looked_up else missing is None


def lacks(api: str, module: str, name: str) -> bool:
    """Whether a module is listed, and has no such name in any TensorFlow or Keras that is."""
    row = _listed()[0].get(f"{_TOPS.get(api, '')}{module}".rstrip("."))
    return row is not None and name not in row and name not in _OPAQUE and not name.startswith("_")


def all_there(module: str, pattern: str, target: Target) -> bool:
    """Whether some names of a public module match a regular expression, and the target has all that do."""
    api, path = split_api(module)
    row = _listed()[0].get(f"{_TOPS.get(api, '')}{path}".rstrip("."), {}) if api else {}
    found = [bits for name, bits in row.items() if re.fullmatch(pattern, name)]
    return bool(found) and all(bits & _BITS[api, target] for bits in found)


def is_module(spelled: str, target: Target) -> bool:
    """Whether a name is a module all of whose names are known."""
    api, whole = split_api(spelled)
    path = f"{_TOPS.get(api, '')}{whole}".rstrip(".")
    return bool(api) and path in _listed()[0] and (not whole or has(spelled, target) is True)


def of_compat_v1() -> tuple[str, ...]:
    """Every name that ``tf.compat.v1`` has on some target, without those of Keras; modules and what they hold."""
    bits = _BITS["tensorflow.compat.v1", Target.KERAS2] | _BITS["tensorflow.compat.v1", Target.KERAS3]
    return tuple(
        f"{module}.{name}".lstrip(".")
        for module, names in _listed()[0].items()
        if module.partition(".")[0] not in ("keras", "compat")
        for name, bit in names.items()
        if bit & bits
    )


@cache
def _listed() -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    table: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    modules = {
        module: {name: int(bit) for bit, names in row.items() for name in names.split()}
        for module, row in table["modules"].items()
    }
    return modules, {module: names.split() for module, names in table["files"].items()}
