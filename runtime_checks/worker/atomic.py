"""Files that are written whole or not at all."""

from __future__ import annotations

import json
import os
from typing import Any

__all__ = ["replace_json"]


def replace_json(path: str, content: Any, indent: int | None = None) -> None:
    """Write a file of JSON data, whole or not at all."""
    with open(path + "~", "w", encoding="utf-8") as file:
        json.dump(content, file, indent=indent, default=str)
    os.replace(path + "~", path)
