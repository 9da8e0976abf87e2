"""Which module a name comes from where several are imported with ``*``: Python says so, of generated programs."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

KINDS = {
    "tensorflow": "import tensorflow as tf\n",
    "without": "import json\n\n\ndef save(x):\n    return json.dumps(x)\n",
    "keras": "from tensorflow import keras\n\n\ndef build():\n    return keras\n",
    "other": "import json as tf\nimport tensorflow\n",
    "foreign": "from string import *\nimport tensorflow\n",
    "through": "from inner import *\n",
}
PROGRAM = "tf.random_normal([3])\n"
RUN = """
import json, os, sys
said = {}
for name in sorted(os.listdir(".")):
    sys.path.insert(0, os.path.join(os.getcwd(), name))
    before = set(sys.modules)
    found = {}
    try:
        exec(open(os.path.join(name, "stars.py")).read(), found)
        said[name] = getattr(found.get("tf"), "__name__", "")
    finally:
        del sys.path[0]
        for module in set(sys.modules) - before:
            del sys.modules[module]
print(json.dumps(said))
"""


def _programs() -> list[tuple[str, ...]]:
    """The kinds of the modules that each program imports with ``*``, in its order: all pairs, and some of three."""
    threes = [*itertools.permutations(KINDS, 3)]
    return [*itertools.product(KINDS, repeat=2), *random.Random(1).sample(threes, 60)]


def test_a_name_is_of_the_module_that_gives_it(tmp_path: Path) -> None:
    """It is told of TensorFlow's own name where that is what Python binds, and nothing else could."""
    library, projects = tmp_path / "library", tmp_path / "projects"
    library.mkdir()
    (library / "tensorflow.py").write_text("keras = None\n")
    for number, kinds in enumerate(_programs()):
        folder = projects / f"p{number:03}"
        folder.mkdir(parents=True)
        (folder / "inner.py").write_text(KINDS["tensorflow"])
        for place, kind in enumerate(kinds):
            (folder / f"part{place}.py").write_text(KINDS[kind])
        stars = "".join(f"from part{place} import *\n" for place in range(len(kinds)))
        (folder / "stars.py").write_text(stars)
        (folder / "model.py").write_text(f"{stars}import tensorflow\n{PROGRAM}")
    ran = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=projects,
        env={**os.environ, "PYTHONPATH": str(library)},
        capture_output=True,
        check=True,
    )
    bound = json.loads(ran.stdout)
    wrong, told = [], 0
    for number, kinds in enumerate(_programs()):
        folder = projects / f"p{number:03}"
        found = [one for one in lint([str(folder)], Config(base=str(folder))).findings if one.code == "TF406"]
        is_told = any(one.path.endswith("model.py") for one in found)
        told += is_told
        is_of_tensorflow = bound[folder.name] == "tensorflow"
        missed = is_of_tensorflow and not is_told and "other" not in kinds
        if missed or (is_told and not is_of_tensorflow):
            wrong.append((kinds, bound[folder.name], is_told))

    assert not wrong
    assert told > 40
