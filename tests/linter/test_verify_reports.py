"""Which findings a report of verify speaks of: those at the places that it names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import Consequence, Finding, Severity, Statement, Target
from migrate_lint.linter.result import LintedProject, Result
from migrate_lint.linter.run.verify_reports import VerifyReportError, concerning, read_report
from migrate_lint.runtime_checks.comparison.reporters import html
from migrate_lint.runtime_checks.comparison.reporters import json as json_format
from migrate_lint.runtime_checks.comparison.results import Cause, Change, OperationPair, OperationSide, Trial

from ..runtime_checks.verify import reports

FORMATS = [pytest.param(json_format, id="json"), pytest.param(html, id="html")]


def finding(path: str, line: int, code: str = "TF406", **changes: Any) -> Finding:
    made = Finding(path, line, 5, line, 9, code, "slug", Severity.INFO, Consequence.LEGACY, "a message")
    return replace(made, **changes)


def named(file: Path, *findings: Finding) -> dict[tuple[str, int, str], str]:
    result = Result(findings, 3, (LintedProject(str(file.parent), Target.KERAS3, "no evidence", 3),))
    concerns = concerning(read_report(str(file)), result).concerns
    return {(path, line, code): words for (path, line, _, code), words in concerns.items()}


def write(file: Path, format: ModuleType, **changes: Any) -> Path:
    file.write_text(format.render(replace(reports.differing(), **changes)), "utf-8")
    return file


@pytest.mark.parametrize("format", FORMATS)
def test_the_lines_of_the_first_divergence_are_named(tmp_path: Path, format: ModuleType) -> None:
    """Those of both sides; a finding on another line or in another file of that name is none of them."""
    first = reports.differing().first_divergence
    assert first is not None
    (old, line), (new, other) = first.deviation.tf1_place or ("", 0), first.deviation.tf2_place or ("", 0)
    others = [finding(f"elsewhere/{old}", line), finding(old, line + 1)]

    found = named(write(tmp_path / "r", format, causes=()), finding(old, line), finding(new, other), *others)

    assert {(old, line, "TF406"), (new, other, "TF406")} == found.keys()
    assert all(words.startswith(f"first divergence, rung {first.rung}: ") for words in found.values())


@pytest.mark.parametrize("format", FORMATS)
def test_the_lines_of_its_operation_are_named(tmp_path: Path, format: ModuleType) -> None:
    """Where the passes part, which may be another line than that of the value."""
    first = reports.differing().first_divergence
    assert first is not None
    sides = (OperationSide("MatMul", (name, 70), (2, 2), ()) for name in ("a.py", "b.py"))
    parting = replace(first, operation=OperationPair("fingerprint", 0, *sides, (), (), 1.0))

    found = named(
        write(tmp_path / "r", format, first_divergence=parting, causes=()), finding("a.py", 70), finding("b.py", 70)
    )

    assert {"a.py", "b.py"} == {path for path, _, _ in found}


@pytest.mark.parametrize("format", FORMATS)
def test_what_may_be_the_cause_is_named(tmp_path: Path, format: ModuleType) -> None:
    """The lines of a cause and the static findings that fit, by code; those of a cause that was refuted are not."""
    causes = (
        Cause("epsilon", 0.9, ("1e-3 against 1e-5.",), (finding("c.py", 3, "TF601"),), "", ("a.py", 1), ("b.py", 2)),
        Cause("momentum", 0.5, ("no.",), (finding("d.py", 4),), "refuted", ("d.py", 5), ("d.py", 6)),
    )
    given = [finding("a.py", 1), finding("b.py", 2), finding("c.py", 3), finding("c.py", 3, "TF601", column=7)]
    given += [finding("d.py", line) for line in (4, 5, 6)]

    found = named(write(tmp_path / "r", format, causes=causes, first_divergence=None), *given)

    words = "possible cause, epsilon: 1e-3 against 1e-5."
    assert dict.fromkeys([("a.py", 1, "TF406"), ("b.py", 2, "TF406"), ("c.py", 3, "TF601")], words) == found


def test_the_line_that_trying_found_is_named(tmp_path: Path) -> None:
    """It is proven, and told so."""
    trial = Trial("found", (Change("epsilon", "write epsilon=1e-5", ("new.py", 8)),))

    file = write(tmp_path / "r", json_format, trial=trial, causes=(), first_divergence=None)
    found = named(file, finding("new.py", 8))

    assert {("new.py", 8, "TF406"): "with this change both sides agree: write epsilon=1e-5"} == found


def test_a_line_within_the_statement_is_that_of_the_finding(tmp_path: Path) -> None:
    """Python tells a call's last line or its first; of a compound statement the header counts, not the body."""
    cause = Cause("epsilon", 0.9, (), (), "", ("a.py", 4), None)
    file = write(tmp_path / "r", json_format, causes=(cause,), first_divergence=None)

    assert named(file, finding("a.py", 2, statement=Statement(2, 5, 5)))
    assert not named(file, finding("a.py", 2, statement=Statement(2, 2, 9)))
    assert not named(file, finding("a.py", 4, cell=1))


def test_programs_that_agree_name_nothing(tmp_path: Path) -> None:
    """Their verdict is told all the same."""
    (tmp_path / "r").write_text(json_format.render(reports.equal()))
    read = read_report(str(tmp_path / "r"))

    assert (0, ()) == (read.status, read.named)
    assert read.verdict


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "7", "<html></html>", '<script id="data">{"name": 1}</script>', "[" * 9999]
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    """With its name, before anything is linted."""
    (tmp_path / "r.json").write_text(text)

    with pytest.raises(VerifyReportError, match=r"r\.json: this is no report of verify"):
        read_report(str(tmp_path / "r.json"))


def test_a_report_of_another_format_is_refused(tmp_path: Path) -> None:
    """It may mean something else."""
    document = json.loads(json_format.render(reports.equal())) | {"format": 2}
    (tmp_path / "r.json").write_text(json.dumps(document))

    with pytest.raises(VerifyReportError):
        read_report(str(tmp_path / "r.json"))


def test_the_command_line_refuses_what_nothing_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Options of the page without one, a report that is none, a template that is none."""
    (tmp_path / "m.py").write_text("x = 1\n")
    (tmp_path / "r.json").write_text("{}")
    page = ["--output-format", "html", "--output-file", str(tmp_path / "lint.html")]
    cases = {
        ("--verify-report", str(tmp_path / "r.json")): "--verify-report is about the HTML report",
        ("--link-template", "x:{path}"): "--link-template is about the HTML report",
        (*page, "--verify-report", str(tmp_path / "r.json")): "this is no report of verify",
        (*page, "--verify-report", str(tmp_path / "none")): "the report cannot be read",
        (*page, "--link-template", "javascript:{path}"): "--link-template javascript:{path}: ",
    }

    for words, said in cases.items():
        assert 2 == main(["--isolated", "--no-cache", *words, str(tmp_path / "m.py")])
        assert said in capsys.readouterr().err
    assert not (tmp_path / "lint.html").exists()


def test_each_page_links_a_report_from_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One on standard output lies nowhere, and gets the whole address."""
    (tmp_path / "m.py").write_text("import tensorflow as tf\ntf.to_float(1)\n")
    (tmp_path / "out").mkdir()
    cause = Cause("forward", 0.9, (), (), "", ("m.py", 2), None)
    write(tmp_path / "run.json", json_format, causes=(cause,), first_divergence=None)
    monkeypatch.chdir(tmp_path)
    pages = [word for file in ("out/lint.html", "-") for word in ("--output-format", "html", "--output-file", file)]

    assert 1 == main(["--isolated", "--no-cache", *pages, "--verify-report", "run.json", "m.py"])
    assert 2 == (tmp_path / "out" / "lint.html").read_text("ascii").count('<a href="../run.json"')
    assert 2 == capsys.readouterr().out.count(f'<a href="{(tmp_path / "run.json").as_uri()}"')
