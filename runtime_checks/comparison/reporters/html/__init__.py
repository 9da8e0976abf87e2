"""One page that works offline: the ladder, the first divergence in words, and pictures of where both sides part.

The page asks for nothing from anywhere, and its policy forbids it to: its one script and its one style are named
there by their digests. What comes from the models is data for the script, which makes text of it and never markup.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from ...results import Results
from ...wording import printable, verdict
from .page_data import page_data

__all__ = ["render"]


def render(report: Results, color: bool = False) -> str:
    """The page, in ASCII, in colours of its own."""
    style, script = _part("page.css"), _part("page.js")
    return Template(_part("page.html")).substitute(
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        title=_markup(f"verify: {report.name}"),
        verdict=_markup(verdict(report)),
        rungs=_rows(report),
        data=_json(page_data(report)),
    )


def _part(name: str) -> str:
    # Line ends as they were before a checkout may have changed them: the digests are of what a browser reads.
    return files(__package__).joinpath(name).read_text("ascii").replace("\r\n", "\n")


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("ascii")).digest()).decode("ascii")


def _json(data: object) -> str:
    r"""Without ``<``, ``>`` and ``&``, so that nothing in it ends the element that holds it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _markup(text: str) -> str:
    return escape(printable(text)).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _rows(report: Results) -> str:
    """The ladder for a reader without scripts."""
    return "".join(
        f"<tr><td>{_markup(rung.number)}<td>{_markup(rung.title)}<td>{rung.status.value}<td>{_markup(rung.detail)}"
        for rung in report.rungs
    )
