"""Several reports of one run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.cli.outputs import Output, OutputError, pair
from migrate_lint.linter.reporters.formats import module_of
from migrate_lint.linter.settings.config import FORMATS

F, O = "--output-format", "--output-file"  # noqa: E741
Captured = pytest.CaptureFixture[str]
MACHINE = [one for one in FORMATS if module_of(one).FOR_PROGRAMS]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("m.py").write_text("import tensorflow as tf\ntf.Session()\n")


@pytest.mark.parametrize(
    ("given", "outputs"),
    [
        ([], [("text", None)]),
        ([(F, "json")], [("json", None)]),
        ([(O, "a")], [("text", "a")]),
        ([(F, "json"), (O, "a")], [("json", "a")]),
        ([(O, "a"), (F, "json")], [("json", "a")]),
        ([(F, "sarif"), (O, "a"), (F, "json"), (O, "b")], [("sarif", "a"), ("json", "b")]),
        ([(F, "sarif"), (O, "a"), (F, "json")], [("sarif", "a"), ("json", None)]),
        ([(F, "text"), (F, "json"), (O, "b")], [("text", None), ("json", "b")]),
        ([(F, "json"), (O, "a"), (F, "json"), (O, "b")], [("json", "a"), ("json", "b")]),
        ([(F, "json"), (O, "-")], [("json", None)]),
        ([(F, "sarif"), (O, "a"), (F, "text"), (O, "-")], [("sarif", "a"), ("text", None)]),
        ([(F, "json"), (O, os.devnull), (F, "text"), (O, os.devnull)], [("json", os.devnull), ("text", os.devnull)]),
    ],
)
def test_a_file_belongs_to_the_format_before_it(
    given: list[tuple[str, str]], outputs: list[tuple[str, str | None]]
) -> None:
    """One format and one file belong together in either order."""
    assert tuple(Output(*output) for output in outputs) == pair(given, "text")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([(F, "json"), (F, "text")], "--output-format json, text: only one report can go to standard output"),
        ([(F, "json"), (O, "a"), (O, "b")], "--output-file b: with several reports each file follows"),
        ([(O, "a"), (F, "json"), (F, "text")], "--output-file a: with several reports each file follows"),
        ([(O, "a"), (O, "b")], "--output-file a: with several reports each file follows"),
        ([(F, "json"), (O, "")], "--output-file: name a file, or - for standard output"),
        ([(F, "json"), (O, "-"), (F, "text"), (O, "-")], "--output-format json, text: only one report can go to"),
        ([(F, "json"), (O, "a"), (F, "text"), (O, "./a")], "--output-file ./a: two reports cannot go to one file"),
    ],
)
def test_what_is_not_clear_is_refused(given: list[tuple[str, str]], reason: str) -> None:
    """The message names the option and says what to write."""
    with pytest.raises(OutputError) as caught:
        pair(given, "text")

    assert str(caught.value).startswith(reason)


def test_one_run_writes_every_report(capsys: Captured) -> None:
    """To its file; one without a file to standard output, with its summary."""
    words = ["m.py", F, "sarif", O, "a.sarif", F, "concise", F, "json", O, "b.json"]

    assert 1 == main(words)
    assert "2.1.0" == json.loads(Path("a.sarif").read_text())["version"]
    assert "TF401" in json.loads(Path("b.json").read_text())["summary"]["rules"]
    assert "m.py:2:1: TF401" in capsys.readouterr().out


def test_a_report_in_a_file_is_not_coloured_for_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Only the one that goes there is; `always` means every one."""
    monkeypatch.setattr("migrate_lint.linter.cli.console.is_terminal", lambda stream: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    main(["m.py", F, "concise", O, "a", F, "text", "--quiet"])
    assert "\x1b" in capsys.readouterr().out
    assert "\x1b" not in Path("a").read_text()
    main(["m.py", F, "concise", O, "a", "--color", "always"])
    assert "\x1b" in Path("a").read_text()


def test_a_usage_error_writes_nothing(capsys: Captured) -> None:
    """Nothing is linted either."""
    assert 2 == main(["m.py", F, "json", O, "a", F, "sarif", F, "text"])
    assert not Path("a").exists()
    assert "only one report can go to standard output" in capsys.readouterr().err


def test_settings_name_every_format(capsys: Captured) -> None:
    """In their order."""
    main(["m.py", "--show-settings", F, "sarif", O, "a", F, "text"])

    assert "output-format: sarif, text\n" in capsys.readouterr().out


def test_every_format_is_for_people_or_for_programs() -> None:
    """Each says so itself."""
    assert {"text", "concise"} == set(FORMATS) - set(MACHINE)


@pytest.mark.parametrize("name", MACHINE)
def test_a_format_for_programs_has_standard_output_to_itself(name: str, capsys: Captured) -> None:
    """An empty folder is told on standard error."""
    Path("empty").mkdir()

    assert 1 == main(["m.py", "empty", F, name])
    captured = capsys.readouterr()
    assert "0 files were found in this folder" in captured.err
    assert "Found 1" not in captured.out
