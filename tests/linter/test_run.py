"""The pipeline around the engine: what is selected, suppressed, sorted and counted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.finding import Consequence, Finding, Severity, Target
from migrate_lint.linter.registry import registry
from migrate_lint.linter.registry.tool_rules import TOOL_RULES
from migrate_lint.linter.reporters import Paint, summary
from migrate_lint.linter.rule_api.rule import Rule
from migrate_lint.linter.run import engine
from migrate_lint.linter.run import pipeline as run
from migrate_lint.linter.settings.config import Config, ConfigError
from migrate_lint.linter.source.parsing import SourceFile, parse_source
from migrate_lint.linter.source.reading import read_source
from migrate_lint.linter.source.suppressions import Suppressions, find_suppressions

SEVERITIES = {"TF101": Severity.ERROR, "TF102": Severity.INFO, "TF410": Severity.WARNING, "TF909": Severity.ERROR}
SLUGS = {"TF101": "variable-in-call", "TF102": "variable-in-loop", "TF410": "gone-in-keras3"}


def _rule(code: str) -> Rule:
    targets = frozenset({Target.KERAS3}) if code == "TF410" else frozenset(Target)
    members: dict[str, Any] = {"code": code, "severity": SEVERITIES[code], "consequence": Consequence.BREAKS}
    return type("Fake", (Rule,), members | {"targets": targets})()  # type: ignore[no-any-return]


class FakeEngine:
    """Finds a hazard wherever a line says so; remembers how it was asked."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def analyze(self, files: Sequence[tuple[Path, str]], **options: Any) -> dict[str, engine.FileResult]:
        self.calls.append({"files": [display for _, display in files], **options})
        progress = options["progress"]
        results = {}
        for number, (path, display) in enumerate(files, 1):
            results[display] = self._result(path, display, options["overrides"])
            if progress is not None:
                progress(number, len(files))
        return results

    def _result(self, path: Path, display: str, overrides: Mapping[Path, bytes]) -> engine.FileResult:
        source = read_source(path, display, overrides.get(path))
        if not isinstance(source, SourceFile):
            return engine.FileResult((source,), Suppressions())
        if isinstance(failed := parse_source(source), Finding):
            return engine.FileResult((failed,), Suppressions())
        found = [
            Finding(display, line, 1, line, 2, code, SLUGS.get(code, "x"), severity, Consequence.BREAKS, "why")
            for line, text in enumerate(source.lines, 1)
            for code, severity in SEVERITIES.items()
            if f"hazard {code}" in text
        ]
        return engine.FileResult(tuple(reversed(found)), find_suppressions(source))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "all_rules", lambda: tuple(map(_rule, SLUGS)))
    monkeypatch.setattr(registry, "codes", lambda: SLUGS | {rule.code: rule.slug() for rule in TOOL_RULES})
    made = FakeEngine()
    monkeypatch.setattr(engine, "analyze", made.analyze)
    return made


def lint(*paths: str, **settings: Any) -> run.Result:
    return run.lint(paths or ["."], Config(base=os.getcwd(), **settings))


def shown(result: run.Result) -> list[str]:
    return [f"{one.path}:{one.line}:{one.code}" for one in result.findings]


def test_findings_come_in_the_order_of_the_contract(fake: FakeEngine) -> None:
    """Path, line, column, code; whatever the engine's order."""
    Path("b.py").write_text("# hazard TF101\n")
    Path("a.py").write_text("\n# hazard TF102 hazard TF101\n# hazard TF101\n")

    result = lint()

    assert ["a.py:2:TF101", "a.py:2:TF102", "a.py:3:TF101", "b.py:1:TF101"] == shown(result)
    assert (2, 1) == (result.files, result.status)


@pytest.mark.parametrize(("text", "status"), [("", 0), ("TF102", 0), ("TF410", 1), ("TF101", 1), ("TF909", 2)])
def test_the_status_follows_the_worst(fake: FakeEngine, text: str, status: int) -> None:
    """Info never sets it; a crash of the linter does, beyond findings."""
    Path("a.py").write_text(f"# hazard {text}\n")

    assert status == lint().status


def test_selection_and_per_file_ignores(fake: FakeEngine) -> None:
    """Globs are relative to the configuration's folder."""
    Path("tests").mkdir()
    for name in ("a.py", "tests/b.py"):
        Path(name).write_text("# hazard TF101\n# hazard TF102\n")

    assert ["a.py:1:TF101", "tests/b.py:1:TF101"] == shown(lint(select=("TF101",)))
    assert ["a.py:2:TF102", "tests/b.py:2:TF102"] == shown(lint(ignore=("variable-in-call",)))
    assert ["a.py:1:TF101", "a.py:2:TF102", "tests/b.py:2:TF102"] == shown(
        lint(per_file_ignores=(("tests/*", ("TF101",)),))
    )
    with pytest.raises(ConfigError):
        lint(select=("TF777",))


def test_a_folder_of_per_file_ignores_ends_in_a_slash(fake: FakeEngine) -> None:
    """It is meant with everything below, as in `exclude`; without the slash the glob is a name."""
    for name in ("tests/unit/a.py", "pkg/gen/b.py", "tests.py"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("# hazard TF101\n")

    assert ["tests.py:1:TF101"] == shown(lint(per_file_ignores=(("tests/", ("TF101",)), ("pkg\\gen\\", ("TF101",)))))
    assert 3 == len(shown(lint(per_file_ignores=(("tests", ("TF101",)),))))


def test_a_crash_is_told_once_a_file(fake: FakeEngine) -> None:
    """A rule that fails at every call would bury everything else."""
    for name in ("a.py", "b.py"):
        Path(name).write_text("# hazard TF909\n# hazard TF909\n# hazard TF101\n")

    assert ["a.py:1:TF909", "a.py:3:TF101", "b.py:1:TF909", "b.py:3:TF101"] == shown(lint())


def test_what_is_milder_than_was_asked_for_is_counted(fake: FakeEngine) -> None:
    """It is left out, sets no status, and its suppression is not unused for that; no green speaks for it."""
    Path("a.py").write_text("# hazard TF101\n# hazard TF102\n# hazard TF410\n# hazard TF102 # noqa: TF102\n")

    result = lint(min_severity="warning")
    assert (["a.py:1:TF101", "a.py:3:TF410"], 1) == (shown(result), result.milder)
    result = lint(min_severity="error")
    assert (["a.py:1:TF101"], 2) == (shown(result), result.milder)
    Path("a.py").write_text("# hazard TF410\n")
    result = lint(min_severity="error")
    assert 0 == result.status
    first, second, *_ = summary(result, Paint(False))
    assert first.startswith("Nothing that severe found: 1 file")
    assert "1 milder finding left out." == second


def test_suppressions_apply_after_selection(fake: FakeEngine) -> None:
    """What was not selected, or is not looked for under this target, is not judged as unused."""
    Path("a.py").write_text(
        "# hazard TF101  # migrate-lint: disable=TF101\nx = 1  # migrate-lint: disable=TF102\nx  # noqa: TF410\n"
    )

    assert ["a.py:2:TF901", "a.py:3:TF901"] == shown(lint())
    assert ["a.py:2:TF901"] == shown(lint(target="keras2"))
    assert ["a.py:3:TF901"] == shown(lint(ignore=("TF102",)))
    assert ["a.py:3:TF901"] == shown(lint(per_file_ignores=(("a.py", ("TF102",)),)))
    assert [] == shown(lint(ignore=("TF901",)))


def test_a_failed_file_is_a_finding_and_the_others_are_linted(fake: FakeEngine) -> None:
    """It is reported whatever is selected."""
    Path("a.py").write_text("def f(:\n")
    Path("b.py").write_text("# hazard TF101\n")

    assert ["a.py:1:TF900", "b.py:1:TF101"] == shown(lint(select=("TF101",)))


def test_a_file_without_a_result_is_an_internal_error(fake: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lost is not clean."""
    Path("a.py").write_text("")
    monkeypatch.setattr(engine, "analyze", lambda *_, **__: {})

    assert (["a.py:1:TF909"], 2) == (shown(lint()), lint().status)


def test_a_folder_that_cannot_be_listed_is_a_finding(fake: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in it was linted."""
    Path("a").mkdir()
    listing = os.scandir

    def scandir(folder: str) -> object:
        if folder.endswith("/a"):
            raise PermissionError(13, "Permission denied")
        return listing(folder)

    monkeypatch.setattr(os, "scandir", scandir)

    assert ["a:1:TF900"] == shown(lint())


def test_every_project_has_its_own_index_and_target(fake: FakeEngine) -> None:
    """So a file's findings do not depend on which other paths are given."""
    for name, requirement in (("one", "tf_keras"), ("two", "keras>=3")):
        Path(name).mkdir()
        Path(name, "setup.py").write_text("")
        Path(name, "requirements.txt").write_text(requirement)
    Path("loose.py").write_text("")

    projects = lint("one", "two", "loose.py").projects

    assert [("", "keras3"), ("one", "keras2"), ("two", "keras3")] == sorted(
        (os.path.relpath(p.root).replace(".", ""), p.target.value) for p in projects
    )
    assert [["loose.py"], ["one/setup.py"], ["two/setup.py"]] == sorted(call["files"] for call in fake.calls)
    assert {str(Path("one").absolute()), str(Path("two").absolute()), os.getcwd()} == {
        str(call["root"]) for call in fake.calls
    }


def test_progress_counts_over_all_projects(fake: FakeEngine) -> None:
    """One bar, not one a project."""
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "setup.py").write_text("")
    seen: list[tuple[int, int]] = []

    run.lint(["one", "two"], Config(base=os.getcwd()), progress=lambda done, total: seen.append((done, total)))

    assert [(1, 2), (2, 2)] == seen


def test_standard_input_is_linted_under_its_name(fake: FakeEngine) -> None:
    """The bytes given count, not what lies on the disk."""
    Path("a.py").write_text("# hazard TF101\n")
    config = Config(base=os.getcwd(), exclude=("a.py",))

    result = run.lint(["-"], config, stdin=("a.py", b"\n# hazard TF102\n"))

    assert ["a.py:2:TF102"] == shown(result)
    source = result.source("a.py")
    assert source is not None
    assert "\n# hazard TF102\n" == source.text
    assert 0 == run.lint(["-"], config, stdin=("a.py", b""), force_exclude=True).files


def test_a_run_over_nothing_says_where(fake: FakeEngine) -> None:
    """No file is no success."""
    Path("empty").mkdir()

    result = lint("empty")

    assert (("empty",), 0, 0) == (result.empty, result.files, result.status)


def test_a_package_without_a_project_is_seen_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a marker the folder that holds the package is the project, whichever file of it is given."""
    package = tmp_path / "pkg" / "deep"
    package.mkdir(parents=True)
    for name in ("pkg/__init__.py", "pkg/deep/__init__.py"):
        (tmp_path / name).touch()
    (tmp_path / "pkg" / "compat.py").write_text("import tensorflow as tf\n")
    (package / "m.py").write_text("from ..compat import tf\ntf.Session()\n")
    monkeypatch.chdir(tmp_path)
    whole = lint()

    assert "TF401" in [finding.code for finding in whole.findings]
    assert whole.findings == lint("pkg/deep/m.py").findings


def test_what_is_not_reported_is_kept_apart(fake: FakeEngine) -> None:
    """What was not selected and what a comment suppresses, in the order of the findings."""
    Path("b.py").write_text("# hazard TF101  # migrate-lint: disable=TF101\n")
    Path("a.py").write_text("# hazard TF102 hazard TF101\n")

    result = lint(ignore=("TF102",))

    assert ["a.py:1:TF101"] == shown(result)
    assert [("a.py", "TF102"), ("b.py", "TF101")] == [(one.path, one.code) for one in result.hidden]
    assert () == lint("a.py").hidden


def test_a_suppression_is_used_if_it_is_for_one_of_two_targets(
    fake: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With both, a comment is unused only if it hides nothing for either; a finding of both is one."""
    Path("a.py").write_text("# hazard TF101  # migrate-lint: disable=TF101\n# hazard TF102\n# noqa: TF410\n")
    whole = fake.analyze

    def analyze(files: Sequence[tuple[Path, str]], **options: Any) -> dict[str, engine.FileResult]:
        results = whole(files, **options)
        if options["target"] is Target.KERAS2:
            for name, found in results.items():
                kept = tuple(one for one in found.findings if one.code != "TF101")
                results[name] = engine.FileResult(kept, found.suppressions)
        return results

    monkeypatch.setattr(engine, "analyze", analyze)
    seen: list[tuple[int, int]] = []
    config = Config(base=os.getcwd(), target=run.BOTH)
    result = run.lint(["a.py"], config, progress=lambda done, total: seen.append((done, total)))

    assert ["a.py:2:TF102", "a.py:3:TF901"] == shown(result)
    assert [("TF101", {Target.KERAS3}), ("TF102", set(Target))] == sorted(
        (code, set(targets)) for (_, _, _, code), targets in result.found_for.items()
    )
    assert ([(1, 2), (2, 2)], 1) == (seen, result.files)
