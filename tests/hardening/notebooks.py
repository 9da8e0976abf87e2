"""Notebooks: of every layout, with magics, changed as JSON and as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from . import documents, mutations
from .source import AGAIN, SHOW, Input, Linting
from .tally import Tally

WEIGHT = 1.5

_BATCH = 60
_MAGICS = (
    "%matplotlib inline\n", "!pip install tensorflow==1.15\n", "%tensorflow_version 1.x\n", "%%time\n",
    "%%capture out\n", "%%bash\n", "%%html\n<b>\n", "%time x = tf.Session()\n", "%timeit -n 3 tf.Session()\n",
    "files = !ls {x}\n", "x = %pwd\n", "?tf.Session\n", "tf.Session??\n", "!!ls\n", "%%time\n%%capture\n", "%time\n",
    "%%writefile m.py\n", "%cd ..\n", "/f x\n", ",f a b\n", ";f a b\n", "    %time y\n", "if x:\n    !ls\n",
    "%lsmagic; y\n", "%%timeit x = 1\n", "x = !\n", "%\n", "%%\n", "!\n",
)  # fmt: skip


def notebook(random: Random) -> Any:
    """A notebook as nbformat 3 or 4 would write it."""
    cells = [_cell(random) for _ in range(random.randint(0, 6))]
    if random.random() < 0.15:
        for cell in cells:
            cell["input"] = cell.pop("source")
        return {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "x"}, "worksheets": [{"cells": cells}]}
    language = random.choice(("python", "python", "python3", "R", "", "Python 2"))
    metadata = {"kernelspec": {"language": language, "name": "x"}, "language_info": {"name": language}}
    return {"cells": cells, "metadata": random.choice((metadata, {})), "nbformat": 4, "nbformat_minor": 5}


def _cell(random: Random) -> dict[str, Any]:
    text = mutations.seed_text(random)
    if random.random() < 0.5:
        text = mutations.mutated(random)[1].decode("utf-8", random.choice(("replace", "surrogateescape")))
    for _ in range(random.choice((0, 0, 1, 2))):
        lines = text.split("\n")
        at = random.choice((0, random.randint(0, len(lines))))
        text = "\n".join([*lines[:at], random.choice(_MAGICS).rstrip("\n"), *lines[at:]])
    source: Any = text if random.random() < 0.4 else text.splitlines(keepends=True)
    kind = random.choice(("code", "code", "code", "code", "markdown", "raw"))
    cell = {"cell_type": kind, "source": source, "metadata": {}, "outputs": [], "execution_count": None}
    if random.random() < 0.1:
        cell["metadata"] = {"vscode": {"languageId": random.choice(("python", "sql"))}}
    return cell


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """Batches of notebooks."""
    random = Random(seed)
    linting = Linting(tally)
    number = 0
    while not until():
        inputs: list[Input] = []
        for index in range(_BATCH):
            document = notebook(random)
            if random.random() < 0.6:
                inputs.append(("notebooks: cells", f"n{index}.ipynb", _bytes(document)))
            else:
                inputs.append(("notebooks: documents", f"n{index}.ipynb", documents.written(random, document)))
        linting.judge(inputs, *((AGAIN,), (SHOW,), ())[number % 3])
        number += 1


def _bytes(document: Any) -> bytes:
    return json.dumps(document, indent=1).encode("utf-8", "surrogatepass")
