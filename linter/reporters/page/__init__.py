"""The shell of every HTML report: one file with a style, a script and data, which works offline.

The page asks for nothing from anywhere, and its policy forbids it to: its one script and its one style are named there
by their digests. What comes from elsewhere is data for the script, which makes text of it and never markup.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template


def page(package: str, title: str, icon: str, fallback: str, data: object, fixed: str = "") -> str:
    """The page, in ASCII.

    Args:
        package: where the body lies: ``body.css`` and ``body.js``, which follow the shell's own.
        title: of the page, as text.
        icon: the inner part of an SVG picture of 16 by 16, quoted as in an address.
        fallback: markup for a reader without scripts.
        data: what the script gets, without numbers that are not finite.
        fixed: markup of ours that the script puts into its place as it is; a reader without scripts does not see it.
    """
    style = _part(__name__, "page.css") + _part(package, "body.css")
    script = _part(__name__, "page.js") + _part(package, "body.js")
    return Template(_part(__name__, "page.html")).substitute(
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        title=markup(title),
        icon=icon,
        fallback=fallback,
        fixed=fixed,
        data=_json(data),
    )


def markup(text: str) -> str:
    """The text as it stands between tags and in attributes."""
    return escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _part(package: str, name: str) -> str:
    # Line ends as they were before a checkout may have changed them: the digests are of what a browser reads.
    return files(package).joinpath(name).read_text("ascii").replace("\r\n", "\n")


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("ascii")).digest()).decode("ascii")


def _json(data: object) -> str:
    r"""Without ``<``, ``>`` and ``&``, so that nothing in it ends the element that holds it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
