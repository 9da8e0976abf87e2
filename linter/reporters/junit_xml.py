"""How JUnit XML is written: suites of cases, each with at most one outcome; its texts are somebody else's matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from . import COMMAND

_COMMANDS = re.compile(COMMAND, re.M)
_RETURN = {"\r": "&#13;"}
"""A parser would take a raw one for a line end, and so would a log."""


class Case(NamedTuple):
    """A case; without an outcome, which is ``failure``, ``error`` or ``skipped``, it passed."""

    facts: Mapping[str, object]
    outcome: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""


class Suite(NamedTuple):
    """Cases, with what is said of all of them besides their number."""

    name: str
    cases: Sequence[Case]
    facts: Mapping[str, object] = {}


def counted(cases: Iterable[Case]) -> dict[str, int]:
    """The number of cases and of those with each outcome."""
    found = Counter(case.outcome for case in cases)
    counts = {"failures": found["failure"], "errors": found["error"], "skipped": found["skipped"]}
    return {"tests": found.total(), **counts}


def document(suites: Sequence[Suite], facts: Mapping[str, object]) -> Iterator[str]:
    """The lines of the document, in ASCII; the facts are those of the element around all suites.

    Where one looks like a command to a CI server, whose log it may be written to, a reference stands for a character.
    """
    for line in _document(suites, facts):
        quiet = _COMMANDS.sub(lambda found: f"{found[0][:-1]}&#{ord(found[0][-1])};", line)
        yield quiet.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _document(suites: Sequence[Suite], facts: Mapping[str, object]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites {_attributes(facts)}>"
    for suite in suites:
        yield f"  <testsuite {_attributes({'name': suite.name, **counted(suite.cases), **suite.facts})}>"
        for case in suite.cases:
            yield f"    <testcase {_attributes(case.facts)}{'' if case.outcome else '/'}>"
            if case.outcome:
                said = _attributes({"type": case.kind, "message": case.message})
                yield f"      <{case.outcome} {said}>{escape(case.text, _RETURN)}</{case.outcome}>"
                yield "    </testcase>"
        yield "  </testsuite>"
    yield "</testsuites>"


def _attributes(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={quoteattr(str(value))}" for name, value in values.items())
