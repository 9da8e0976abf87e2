"""Writes how the parameters of functions that kept their names changed from TF1 to the installed TensorFlow.

    python -m tests.rules.signatures --old PYTHON

PYTHON is an interpreter with TensorFlow 1.15.
Both are asked for the parameters of each public name that they share; what took another name is read from the tables of
TensorFlow's own upgrade script, and kept where the installed function takes it.
Keras's names are left out.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "rules" / "tf1_api" / "signatures.json"
NAMES = ROOT / "linter" / "analysis" / "public_names.json"
_BOTH = 3
"""The bits of a name that ``tf`` has on both targets."""
_RENAMED = {
    "algorithm": "alg",
    "device_name_or_function": "device_name",
    "dim": "axis",
    "dimension": "axis",
    "keep_dims": "keepdims",
    "reduction_indices": "axis",
    "squeeze_dims": "axis",
    "uniform_noise": "noise",
    "value_structure": "element_spec",
    "virtual_devices": "logical_devices",
}
"""What the script says nothing of."""


def common() -> list[str]:
    """The public names of the installed TensorFlow, below ``tf.``."""
    listed = json.loads(NAMES.read_text(encoding="utf-8"))["modules"]
    found = []
    for module, row in listed.items():
        if module.partition(".")[0] in ("keras", "compat", "optimizers", "losses", "metrics", "initializers"):
            continue
        for bits, names in row.items():
            if int(bits) & _BOTH == _BOTH:
                found += [f"{module}.{name}" if module else name for name in names.split()]
    return sorted(found)


def read(names: list[str]) -> dict[str, list[str]]:
    """In a child: the parameters of functions and classes; also runs with Python 3.7."""
    import tensorflow as tf

    found = {}
    for name in names:
        value = tf
        try:
            for part in name.split("."):
                value = getattr(value, part)
            parameters = inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters
        except BaseException:  # not there, or no function
            continue
        kinds = {parameter.kind for parameter in parameters.values()}
        if not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
            found[name] = [parameter for parameter in parameters if parameter != "self"]
    return found


def renames() -> dict[str, dict[str, str]]:
    """In a child: what the upgrade script renames keywords to."""
    from tensorflow.tools.compatibility.tf_upgrade_v2 import TFAPIChangeSpec  # type: ignore[import-not-found]

    table: dict[str, dict[str, str]] = TFAPIChangeSpec(False, True).function_keyword_renames
    return {name[3:]: {old: new for old, new in row.items() if new} for name, row in table.items() if name[:3] == "tf."}


def swallowing(names: list[str]) -> list[str]:
    """In a child: the functions that do not refuse a keyword that they do not have."""
    import tensorflow as tf  # type: ignore[import-not-found]

    found = []
    for name in names:
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        try:
            function(no_such_keyword=None)
        except TypeError as error:
            if "unexpected keyword" in str(error):
                continue
        except Exception:  # what it has looked at before
            pass
        found.append(name)
    return found


def _asked(python: str, what: str, names: list[str]) -> Any:
    said = subprocess.run(
        [python, "-W", "ignore", __file__, "--child", what],
        input=json.dumps(names).encode(),
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    ).stdout
    return json.loads(said.decode().splitlines()[-1])


def current(names: list[str]) -> dict[str, list[str]]:
    """The parameters in the installed TensorFlow."""
    found: dict[str, list[str]] = _asked(sys.executable, "read", names)
    return found


def accepting_anything(names: list[str]) -> list[str]:
    """Those of some names that swallow a keyword in the installed TensorFlow."""
    found: list[str] = _asked(sys.executable, "swallowing", names)
    return found


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--old", help="an interpreter with TensorFlow 1.15")
    parser.add_argument("--child", choices=("read", "renames", "swallowing"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        names = json.load(sys.stdin)
        asked = {"read": lambda: read(names), "renames": renames, "swallowing": lambda: swallowing(names)}
        print("\n" + json.dumps(asked[given.child]()))
        return
    names = common()
    old, new, renamed = _asked(given.old, "read", names), current(names), _asked(sys.executable, "renames", [])
    rows = {}
    for name in sorted(old.keys() & new.keys()):
        gone = [one for one in old[name] if one not in new[name] and one not in ("_sentinel", "keyword_required")]
        if gone or any(was != now for was, now in zip(old[name], new[name], strict=False)):
            into = {**_RENAMED, **renamed.get(name, {})}
            rows[name] = {
                "old": " ".join(old[name]),
                "new": " ".join(new[name]),
                "gone": {one: into[one] if into.get(one) in new[name] else "" for one in gone},
            }
    table = {
        "about": "Parameters in TF 1.15.5 and in TF 2.21.0 of names that changed them; of the gone ones the successor.",
        "functions": rows,
    }
    TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
