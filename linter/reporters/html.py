"""For a team: one page that works offline, with all findings to search and filter, and what each rule says.

The page asks for nothing from anywhere, and its policy forbids it to: its one script and its one style are named there
by their digests. What comes from linted files is data for the script, which makes text of it and never markup.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..finding import Consequence, Severity
from . import Paint
from .page_data import page_data, shown

if TYPE_CHECKING:
    from ..result import Result

__all__ = ["report"]


def report(result: Result, paint: Paint) -> Iterator[str]:
    """The lines of the page, in ASCII."""
    from string import Template

    data = page_data(result, _version())
    style, script = _part("report.css"), _part("report.js")
    page = Template(_part("report.html")).substitute(
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        title=_markup(f"migrate-lint: {data['title']}" if data["title"] else "migrate-lint"),
        summary=_markup(_summary(result)),
        rules=_rows(f"{finding.code} {finding.slug}" for finding in result.findings),
        files=_rows(finding.path for finding in result.findings),
        data=_json(data),
    )
    yield from page.rstrip("\n").split("\n")


def _version() -> str:
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def _part(name: str) -> str:
    from importlib.resources import files

    # Line ends as they were before a checkout may have changed them: the digests are of what a browser reads.
    return files(__package__).joinpath(name).read_text("ascii").replace("\r\n", "\n")


def _digest(text: str) -> str:
    from base64 import b64encode
    from hashlib import sha256

    return "sha256-" + b64encode(sha256(text.encode("ascii")).digest()).decode("ascii")


def _json(data: object) -> str:
    r"""Without ``<``, ``>`` and ``&``, so that nothing in it ends the element that holds it."""
    from json import dumps

    text = dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _markup(text: str) -> str:
    from html import escape

    return escape(shown(text)).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _summary(result: Result) -> str:
    """What a reader without scripts gets, before the tables."""
    severities = Counter(finding.severity for finding in result.findings)
    consequences = Counter(finding.consequence for finding in result.findings)
    words = [f"{consequences[one]} {one.value}" for one in Consequence]
    words += [f"{severities[one]} {one.value}" for one in Severity]
    return f"Findings: {len(result.findings)}, in {result.files} files: {', '.join(words)}."


def _rows(names: Iterable[str]) -> str:
    """Rows of a table with how often each name occurs, the most frequent first."""
    ordered = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return "".join(f"<tr><td>{number}<td>{_markup(name)}" for name, number in ordered)
