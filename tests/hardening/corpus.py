"""The code that mutations begin with: the repository's own TensorFlow programs, and what is added by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCED = re.compile(r"^```py[^\n]*\n(.*?)^```", re.M | re.S)
_PAGES = ("tests/rules", "tests/runtime_checks/probes", "docs")
_PROGRAMS = ("examples", "tests/runtime_checks/odd", "tests/runtime_checks/verify/planted", "tests/runtime_checks")
_LARGEST = 40_000
_added: list[Path] = []


def folders(paths: Iterable[str]) -> None:
    """Add the Python files below these folders."""
    _added.extend(map(Path, paths))
    texts.cache_clear()
    real.cache_clear()


@cache
def texts() -> list[str]:
    """The code blocks of all pages: small programs, flagged and silent ones."""
    pages = sorted(path for folder in _PAGES for path in (ROOT / folder).rglob("*.md"))
    blocks = [block for page in pages for block in _FENCED.findall(page.read_text("utf-8"))]
    assert len(blocks) > 500
    return blocks


@cache
def real() -> list[str]:
    """Whole files."""
    paths = {path for folder in _PROGRAMS for path in (ROOT / folder).rglob("*.py")}
    paths |= {path for folder in _added for path in folder.rglob("*.py")}
    read = (path.read_bytes() for path in sorted(paths) if path.is_file() and path.stat().st_size <= _LARGEST)
    found = [data.decode("utf-8", "replace") for data in read if b"tensorflow" in data]
    assert len(found) > 5
    return found


@cache
def tokens() -> list[str]:
    """Words and signs of all programs, the frequent ones more than once."""
    found = [token for text in [*texts(), *real()[:50]] for token in re.findall(r"\w+|[^\w\s]+", text)]
    return found[:: max(1, len(found) // 20_000)]
