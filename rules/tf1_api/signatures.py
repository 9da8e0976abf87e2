"""How the parameters of functions that kept their names changed; `tests/rules/signatures.py` writes the table."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...linter.rule_api.model import Call, Site, catches

_OF_OTHERS = ("nn.dropout", "summary.")
"""Names with rules of their own."""
SWALLOWING = ("Variable",)
"""What takes any keyword, and does nothing with those that it does not know."""
_WRONG_ARGUMENTS = frozenset({"TypeError", "Exception", "BaseException"})


class Signature(NamedTuple):
    """The parameters of one function."""

    old: tuple[str, ...]
    """Of TF 1.15, in their order."""
    new: tuple[str, ...]
    """Of TF2."""
    gone: Mapping[str, str]
    """Those of TF1 that TF2 has no more, each with what it is called now, or an empty text."""


@cache
def signatures() -> dict[str, Signature]:
    """The functions whose parameters changed, by canonical name."""
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))["functions"]
    return {
        f"tensorflow.{name}": Signature(
            tuple(row["old"].split()), tuple(row["new"].split()), {} if name in SWALLOWING else row["gone"]
        )
        for name, row in table.items()
        if not name.startswith(_OF_OTHERS)
    }


def is_tried(site: Site, errors: frozenset[str]) -> bool:
    """Whether the program does something else where a place raises one of `errors`."""
    tried = (level.node for level in site.block.chain() if level.kind == "try" and isinstance(level.node, ast.Try))
    return any(catches(handler, errors) for node in tried for handler in node.handlers)


def is_of_tf2(call: Call) -> bool:
    """Whether a call is surely of the function in ``tf``: compat.v1 keeps the parameters of TF1.

    Nothing is sure where the program tries it, and does something else where it raises TypeError.
    """
    return (
        not is_tried(call, _WRONG_ARGUMENTS)
        and not call.version_checked
        and bool(call.names)
        and not call.is_compat_v1
        and all(entity.kind == "external" for entity in call.found)
        and all(not name.spelled.startswith("tensorflow.python") for name in call.names)
        and len({name.canonical for name in call.names}) == 1
    )
