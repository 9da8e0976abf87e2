"""What the helpers of a rule's fix make of imports."""

from __future__ import annotations

import libcst
import pytest
from migrate_lint.linter.rule_api.rewriting import with_imports

MOVED = {
    "tensorflow.log": "tensorflow.math.log",
    "tensorflow.mul": "tensorflow.multiply",
    "tensorflow.Session": "tensorflow.compat.v1.Session",
}


def moved(text: str) -> str | None:
    """A module whose first statement is one import, with that import moved."""
    module = libcst.parse_module(text)
    new = with_imports(module.body[0], MOVED)
    return module.deep_replace(module.body[0], new).code if new is not None else None  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from tensorflow import log  # ln\n", "from tensorflow.math import log  # ln\n"),
        ("from tensorflow import log as ln", "from tensorflow.math import log as ln"),
        ("from tensorflow import mul, add\n", "from tensorflow import multiply as mul, add\n"),
        ("from tensorflow import mul as times\n", "from tensorflow import multiply as times\n"),
        (
            "from tensorflow import log, add, Session as S  # all\n",
            "from tensorflow import add  # all\nfrom tensorflow.math import log\n"
            "from tensorflow.compat.v1 import Session as S\n",
        ),
        (
            "from tensorflow import (  # all\n    add,\n    log\n)\n",
            "from tensorflow import (  # all\n    add\n)\nfrom tensorflow.math import log\n",
        ),
        (
            "from tensorflow import add, \\\n    log, \\\n    mul\n",
            "from tensorflow import add, \\\n    multiply as mul\nfrom tensorflow.math import log\n",
        ),
    ],
)
def test_a_moved_name_is_bound_as_before(text: str, wanted: str) -> None:
    """Each from its module, and what stays first, as it is written."""
    assert wanted == moved(text)


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow import add\n",
        "from tensorflow import *\n",
        "from . import log\n",
        "import tensorflow.log as log\n",
        "from tensorflow import (\n    add,\n    log,  # of each\n)\n",
        "log = 1\n",
    ],
)
def test_no_other_import_is_touched(text: str) -> None:
    """Nor one where a comment would be lost."""
    assert moved(text) is None
