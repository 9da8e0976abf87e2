"""Where a finding is opened: an address with ``{path}``, ``{line}`` and the like, of an editor or of a repository."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import quote

_NAMES = ("path", "absolute", "line", "column")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
_REFUSED = {"javascript", "vbscript", "data", "blob", "about", "filesystem", "view-source"}
"""Schemes that run or hold what the address says, in the page that shows the link."""
_BRACES = re.compile(r"\{([^{}]*+)\}|[{}]")


class LinkTemplateError(ValueError):
    """A template makes no address; the text says why."""


def require_template(template: str) -> str:
    """The template, if it is one.

    Raises:
        LinkTemplateError: if it is none.
    """
    from ..source.suppressions import nearest

    scheme = _SCHEME.match(template)
    if scheme is None:
        raise LinkTemplateError("it is to begin with a scheme, as https: or vscode:")
    if scheme[1].lower() in _REFUSED:
        raise LinkTemplateError(f"addresses of {scheme[1]}: can run code in the page, and are refused")
    if not template.isprintable() or " " in template:
        raise LinkTemplateError("no space or control character can be in an address; %20 is a space")
    known = ", ".join(f"{{{name}}}" for name in _NAMES)
    found = [part[1] for part in _BRACES.finditer(template)]
    for name in found:
        if name is None:
            raise LinkTemplateError(f"a brace stands alone; known are {known}, and %7B and %7D are braces")
        if name not in _NAMES:
            raise LinkTemplateError(f"unknown placeholder {{{name}}}, known are {known}{nearest(name, _NAMES)}")
    if not {"path", "absolute"} & {*found}:
        raise LinkTemplateError("without {path} or {absolute} all findings would have one address")
    return template


def address(template: str, path: str | None, absolute: str, line: int, column: int) -> str | None:
    """The address of a place; None where the template says ``{path}`` and the file is not in the repository.

    A slash before ``{absolute}`` is that of the path, so that ``vscode://file/{absolute}`` serves all systems.
    """
    if path is None and "{path}" in template:
        return None
    values: Mapping[str, str] = {
        "path": _quoted(path or ""),
        "absolute": _quoted(absolute.replace(os.sep, "/")),
        "line": str(line),
        "column": str(column),
    }
    if values["absolute"].startswith("/"):
        template = template.replace("/{absolute}", "{absolute}")
    return _BRACES.sub(lambda part: values[part[1]], template)


def _quoted(path: str) -> str:
    return quote(os.fsencode(path), safe="/~")
