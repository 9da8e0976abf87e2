"""Hostile texts in every place that a report shows, in every format: its reader must read it as it is meant."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from random import Random
from xml.etree import ElementTree

from migrate_lint.linter.finding import Evidence, Finding, Location, Severity, Target, Verdict
from migrate_lint.linter.reporters import Paint, summary
from migrate_lint.linter.reporters.causes import statistics
from migrate_lint.linter.reporters.formats import module_of
from migrate_lint.linter.result import BaselineStatus, LintedProject, Result, RevisionStatus, Runtime
from migrate_lint.linter.run.verdicts import tally as verdicts
from migrate_lint.linter.runtime_report import PhaseOutcome
from migrate_lint.linter.settings.config import FORMATS
from migrate_lint.runtime_checks.comparison.report import Report
from migrate_lint.runtime_checks.comparison.reporters import FORMATS as OF_VERIFY
from migrate_lint.runtime_checks.comparison.reporters import render
from sarif_kit.validate import validation_errors

from ..linter.reports import FINDING
from ..linter.runs import worker_run
from ..runtime_checks.verify import reports as verify_reports
from .commands import judged
from .source import described
from .tally import Tally

WEIGHT = 1.0

MARKUP = "<hostile>"
TEXTS = (
    "::error file=x::y", " \t::warning::y", "\n::error::y", "\r::add-mask::y", "\u2028::error::y", "\x85::error::y",
    "\x0b::notice::y", "##[error]y", "##vso[task.setvariable variable=x]y", "x ##[group]y",
    "##teamcity[buildProblem description='y']", "%0A::error::y", "%0D%0A::error::y", "\x1b[31m", "\x1b]0;y\x07",
    "\x9b31m", "\x00", "\x08\x08", "\ufeff", "\u202ey", "\u2066y", "\udcff", "\ud800", "\ufffe", "\U000e0001",
    f"</script><script>{MARKUP}</script>", f"'\"><img src=x onerror=y>{MARKUP}", f"<!--{MARKUP}", f"]]>{MARKUP}",
    "&amp;&#0;&#x1b;", "<![CDATA[", "`](http://x)", "[y](javascript:y)", "{0}", "%s", "%", ",", "a,title=b", ":",
    "${y}", "$(y)", "\\", '"', "'", "\n- y", "\n\n# y", "|y|", "section_start:0:y\r\x1b[0K", "--- y", "+++ y",
    "::endgroup::", "::stop-commands::y", "a\tb", "y" * 3000, "\n" * 50, "", " ", "\u0301", "日本",
)  # fmt: skip
# Codes and slugs are no stranger's: only a module whose name is an identifier can hold a rule.
PLACES = (
    "path", "message", "source", "evidence", "phase", "cause", "notes", "reason", "folder", "baseline", "revision",
    "related",
)  # fmt: skip

_UNNAMEABLE = re.compile(r"[\x00\ud800-\udc7f\udd00-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_COMMAND = re.compile(r"^[^\S\n]*::|^##\w*\[", re.M)
_ANYWHERE = re.compile(r"##\w*\[")
_AZURE = re.compile(r"##vso\[task\.logissue (?:[a-z]+=[^;\]\r\n]*;)+\](?:(?!##)[^\r\n])*")
_GITHUB = re.compile(r"::(error|warning|notice) (?:\w+=[^,:\r\n]*)(?:,\w+=[^,:\r\n]*)*::[^\r\n]*")


def result_with(texts: Mapping[str, str]) -> Result:
    """A result with these texts in the places of `PLACES` that they name."""

    def at(place: str, usual: str) -> str:
        text = texts.get(place, usual)
        # No file has another name.
        return os.fsdecode(os.fsencode(_UNNAMEABLE.sub("y", text)) or b".") if place in ("path", "folder") else text

    evidence = Evidence(Target.KERAS3, "CPU:0", at("phase", "call"), Verdict.CONFIRMED, at("evidence", "made again"))
    finding = replace(
        FINDING,
        path=at("path", "pkg/m.py"),
        message=at("message", "made at every call"),
        related=(Location(at("path", "o.py"), 1, at("related", "it is made here")),),
        verdict=Verdict.CONFIRMED,
        evidence=(evidence,),
    )
    second = replace(finding, line=1, verdict=None, evidence=(), severity=Severity.WARNING, subject=at("message", "x"))
    findings: tuple[Finding, ...] = (second, finding)
    source = f"{at('source', 'import tensorflow as tf')}\n{at('source', 'x = foo(1)  #')} y\n".encode(
        "utf-8", "surrogatepass"
    )
    run = worker_run(
        cause=at("cause", "it ended"),
        notes=(at("notes", "a note"),),
        scopes=((at("notes", "a"), at("notes", "b")),),
        phases=(
            PhaseOutcome(at("phase", "call"), "failed", 0.1, at("cause", "ValueError")),
            PhaseOutcome("x", "ok", 0.1, ""),
        ),
        tensorflow=at("notes", "2.21"),
        keras=at("notes", "3"),
        python=at("notes", "3.11"),
    )
    return Result(
        findings,
        1,
        (
            LintedProject(at("folder", "/p"), Target.KERAS3, at("reason", "no evidence"), 1),
            LintedProject("/q", Target.KERAS2, "x", 1),
        ),
        (at("folder", "empty"),),
        {finding.path: (finding.path, source)},
        runtime=Runtime((run,), verdicts(findings), False),
        baseline=BaselineStatus(at("baseline", "b.json"), 3, 2, 1, 1, "keep"),
        since=RevisionStatus(at("revision", "main"), "0" * 40, 1, 1),
    )


def report_with(text: str) -> Report:
    """A report of verify in which every text of a stranger is this one."""
    before, verify_reports.HOSTILE = verify_reports.HOSTILE, text
    try:
        return verify_reports.hostile()
    finally:
        verify_reports.HOSTILE = before


def _rendered(form: str, result: Result) -> str:
    reporter = module_of(form)
    lines = list(reporter.report(result, Paint(False)))
    if not reporter.FOR_PROGRAMS:
        lines += [*statistics(result), *summary(result, Paint(False))]
    return "".join(f"{line}\n" for line in lines)


def wrong_with(form: str, texts: Mapping[str, str]) -> str:
    """What is wrong with the report in a format, of a result with these texts."""
    text = _rendered(form, result_with(texts))
    return wrong(form, text, _rendered(form, result_with({})))


def wrong_of_verify(form: str, hostile: str) -> str:
    """What is wrong with verify's report."""
    return wrong(form, render(form, report_with(hostile)), render(form, report_with("x")))


def wrong(form: str, text: str, usual: str) -> str:
    """What is wrong with a report; `usual` is one without anything hostile."""
    if found := _CONTROL.search(text):
        return f"{found[0]!r} in {text[max(0, found.start() - 60) : found.start() + 20]!r}"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return str(error)
    return _READERS[form](text, usual)


def _plain(text: str, usual: str) -> str:
    found = _COMMAND.search(text) or _ANYWHERE.search(text)
    if found is not None:
        return f"a command: {text[max(0, found.start() - 60) : found.start() + 40]!r}"
    more = text.count("\n") > usual.count("\n")  # an empty note is no line
    return f"{text.count(chr(10))} lines, and {usual.count(chr(10))} without the hostile text" if more else ""


def _plain_excerpts(text: str, usual: str) -> str:
    found = _COMMAND.search(text) or _ANYWHERE.search(text)
    return "" if found is None else f"a command: {text[max(0, found.start() - 60) : found.start() + 40]!r}"


def _github(text: str, usual: str) -> str:
    odd = [line for line in text.split("\n")[:-1] if _GITHUB.fullmatch(line) is None]
    if odd:
        return f"no annotation: {odd[0]!r}"
    return "" if text.count("\n") == usual.count("\n") else "another number of annotations"


def _azure(text: str, usual: str) -> str:
    odd = [line for line in text.split("\n")[:-1] if "##" in line and _AZURE.fullmatch(line) is None]
    if odd:
        return f"no issue of a run: {odd[0]!r}"
    return "" if text.count("\n") == usual.count("\n") else "another number of issues"


def _json_lines(text: str, usual: str) -> str:
    return next(filter(None, (_json(line, "") for line in text.split("\n")[:-1])), "")


def _json(text: str, usual: str) -> str:
    if found := _COMMAND.search(text):
        return f"a command: {text[max(0, found.start() - 60) : found.start() + 40]!r}"
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    return ""


def _sarif(text: str, usual: str) -> str:
    if problem := _json(text, usual):
        return problem
    errors = validation_errors(json.loads(text))
    return str(errors[0]) if errors else ""


def _junit(text: str, usual: str) -> str:
    if found := _COMMAND.search(text):
        return f"a command: {text[max(0, found.start() - 60) : found.start() + 40]!r}"
    try:
        elements = [[element.tag for element in ElementTree.fromstring(one).iter()] for one in (text, usual)]
    except ElementTree.ParseError as error:
        return str(error)
    return "" if elements[0] == elements[1] else "other elements than without the hostile text"


def _html(text: str, usual: str) -> str:
    if found := _COMMAND.search(text):
        return f"a command: {text[max(0, found.start() - 60) : found.start() + 40]!r}"
    if MARKUP in text or "<img" in text.replace(usual, ""):
        return "markup of a stranger"
    tags = [re.findall(r"<[/!]?\w*|-->|\]\]>", one) for one in (text, usual)]
    return "" if tags[0] == tags[1] else "other markup than without the hostile text"


_READERS: dict[str, Callable[[str, str], str]] = {
    "text": _plain_excerpts,
    "concise": _plain,
    "github": _github,
    "gitlab": _json,
    "rdjson": _json,
    "json-lines": _json_lines,
    "azure": _azure,
    "pylint": _plain,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
    "html": _html,
}


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """Random texts, of one or two of the hostile ones, in random places."""
    random = Random(seed)
    while not until():
        texts = {place: _text(random) for place in random.sample(PLACES, random.choice((1, 1, 2, len(PLACES))))}
        for form in FORMATS:
            _judge(tally, f"injection: {form}", texts, partial(wrong_with, form, texts))
        hostile = _text(random) or "x"
        for form in OF_VERIFY:
            _judge(tally, f"injection: verify, {form}", hostile, partial(wrong_of_verify, form, hostile))


def _text(random: Random) -> str:
    return "".join(random.choice((*TEXTS, "a", "m.py", " ")) for _ in range(random.choice((1, 1, 2, 3))))


def _judge(tally: Tally, kind: str, given: object, problem_of: Callable[[], str]) -> None:
    try:
        problem = problem_of()
    except Exception as error:
        problem = described(error)
    judged(tally, kind, ascii(given).encode(), problem, 0.0)
