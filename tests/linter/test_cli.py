"""The command line: what it accepts, prints and returns."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from migrate_lint import __version__
from migrate_lint.linter.cli import console
from migrate_lint.linter.cli import main as cli
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import Consequence, Finding, Severity
from migrate_lint.linter.registry import registry
from migrate_lint.linter.registry.tool_rules import TOOL_RULES
from migrate_lint.linter.rule_api.rule import Rule
from migrate_lint.linter.run import engine
from migrate_lint.linter.run.engine import FileResult
from migrate_lint.linter.source.suppressions import Suppressions
from migrate_lint.runtime_checks.worker import scopes

Captured = pytest.CaptureFixture[str]


class VariableInCall(Rule):
    """A variable is created in a forward pass. More words.

    ## Why
    It is made anew.

    ## Example
    x

    ## Fix
    y

    ## Source
    z
    """

    code = "TF101"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES

    @classmethod
    def slug(cls) -> str:
        return "variable-in-call"


@pytest.fixture(autouse=True)
def _engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file but a clean one has one TF101; files are not even read."""

    def analyze(files: list[tuple[Path, str]], **_: object) -> dict[str, FileResult]:
        def result(path: str) -> FileResult:
            one = Finding(
                path, 1, 1, 1, 2, "TF101", "variable-in-call", Severity.ERROR, Consequence.CHANGES, "made anew"
            )
            return FileResult(() if "clean" in path else (one,), Suppressions())

        return {display: result(display) for _, display in files}

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(engine, "analyze", analyze)
    monkeypatch.setattr(registry, "all_rules", lambda: (VariableInCall(),))
    rules: list[type[Rule]] = [VariableInCall, *TOOL_RULES]
    monkeypatch.setattr(registry, "codes", lambda: {rule.code: rule.slug() for rule in rules})
    for name in ("m.py", "clean.py"):
        Path(name).write_text("x = 1\n")


def test_findings_are_printed_and_set_the_status(capsys: Captured) -> None:
    """Text is the default format."""
    assert 1 == main(["m.py"])
    assert [
        "m.py:1:1: TF101[variable-in-call] error made anew",
        "    1 | x = 1",
        "      | ^",
        "    A variable is created in a forward pass.",
        "",
        "Found 1 error in 1 file.",
        "target keras3 (no evidence in the project)",
        "`migrate-lint rule TF101` says more of a rule.",
    ] == capsys.readouterr().out.splitlines()


def test_the_hint_is_for_people_who_found_something(capsys: Captured) -> None:
    """It is left out where only findings are wanted, and where a line is one finding."""
    for words in (["m.py", "--quiet"], ["m.py", "--output-format", "concise"], ["clean.py"]):
        main(words)
        assert "migrate-lint rule" not in capsys.readouterr().out


@pytest.mark.parametrize("columns", ["", "0", "wide", "45"])
def test_lines_are_broken_on_a_terminal_alone(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path
) -> None:
    """A finding is one line in a pipe, whatever COLUMNS says, and so it is in a file and in a format of lines."""
    monkeypatch.setenv("COLUMNS", columns)

    main(["m.py"])

    assert capsys.readouterr().out.startswith("m.py:1:1: TF101[variable-in-call] error made anew\n")
    main(["m.py", "--output-format", "concise"])
    assert capsys.readouterr().out.startswith("m.py:1:1: TF101[variable-in-call] error made anew\n")
    main(["m.py", "--output-file", "report"])
    assert (tmp_path / "report").read_text().startswith("m.py:1:1: TF101[variable-in-call] error made anew\n")


def test_a_clean_run_says_so(capsys: Captured) -> None:
    """With the number of files, which is 0 for nobody."""
    assert 0 == main(["clean.py"])
    assert "Nothing to check: 1 file, none of which reaches TensorFlow." in capsys.readouterr().out


def test_check_is_the_same_spelled_out_and_no_path_is_here(capsys: Captured) -> None:
    """Options may stand between and after paths."""
    assert 1 == main(["check", "--output-format", "concise", "clean.py", "-q", "m.py"])
    spelled = capsys.readouterr().out
    assert 1 == main(["--output-format=concise", "--quiet"])

    assert "m.py:1:1: TF101[variable-in-call] error made anew\n" == capsys.readouterr().out == spelled


def test_exit_zero_forgives_findings_only(capsys: Captured) -> None:
    """A path that is missing is still an error."""
    assert 0 == main(["--exit-zero", "m.py"])
    assert 2 == main(["--exit-zero", "gone.py"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gone.py", "m.py"], "gone.py: there is no such file or folder"),
        (["--select", "TF1O1"], "--select: unknown rule TF1O1; did you mean TF101?"),
        (["--ignore", "variable-in-cal"], "did you mean variable-in-call?"),
        (["--extend-select", "TF7"], "--extend-select: unknown rule TF7"),
        (["--fixing"], "unrecognized arguments: --fixing"),
        (["--unsafe-fixes"], "--unsafe-fixes"),
        (["--add-noqa", "-"], "--add-noqa"),
        (["--runtime"], "--runtime: expected one argument"),
        (["--select-", "TF1"], "--select-"),
        (["verify"], "verify takes one pair, such as pair.py, and got no pair"),
        (["resume"], "resume takes one loop, such as train.py:loop, and got no loop"),
        (["--jobs", "0"], "--jobs"),
        (["--target", "keras4"], "keras4"),
        (["--output-format", "hmtl"], "; did you mean html?"),
        (["--ouput-format", "json"], "unrecognized arguments: --ouput-format; did you mean --output-format?"),
        (["verfy", "pair.py"], "verfy: no such file or folder, and no command; did you mean verify?"),
        (["verify", "--stpes", "3", "pair.py"], "; did you mean --steps?"),
        (["--min-severity", "eror"], "; did you mean error?"),
        (["server", "--port", "1"], "unrecognized arguments: --port"),
        (["--watch", "--fix"], "--watch lints again and again, and cannot be given with --fix"),
        (["--show-files", "-"], "--show-files is about files and folders"),
        (["--config", "gone.toml"], "gone.toml"),
        (["-", "m.py"], "standard input"),
        (["--stdin-filename", "m.py"], "standard input"),
        (["m.py", "--output-file", "gone/report"], "gone/report: the report cannot be written"),
        (["m.py", "--output-file", "."], "the report cannot be written"),
        (["m.py", "--output-file", ""], "name a file, or - for standard output"),
        (["rule", "TF1O1"], "did you mean TF101?"),
        (["rule", "TF1"], "TF1 is not the code of one rule"),
        (["rule", "--all", "TF101"], "not allowed"),
    ],
)
def test_a_usage_error_is_2_and_says_what(words: list[str], message: str, capsys: Captured) -> None:
    """On standard error, with nothing on standard output."""
    assert 2 == main(words)
    printed = capsys.readouterr()
    assert "" == printed.out
    assert message in printed.err


def test_a_word_that_is_a_file_is_no_mistyped_command(capsys: Captured) -> None:
    """Nor is one that nothing is called like."""
    Path("verfy").mkdir()
    Path("verfy/clean.py").write_text("")
    assert 0 == main(["verfy"])
    assert 2 == main(["zzzz"])
    assert "zzzz: there is no such file or folder" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="a process is interrupted by a signal")
def test_files_are_watched_until_somebody_interrupts_it(tmp_path: Path) -> None:
    """A file that is written is linted again, a mistake in the configuration is told, and the end is none."""
    folder = tmp_path / "watched"
    folder.mkdir()
    model = folder / "model.py"
    model.write_text("import tensorflow as tf\ntf.Session()\n")
    heeding = (  # what was started in the background may be told to ignore this signal
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from migrate_lint.linter.cli.main import main; sys.exit(main())"
    )
    words = [sys.executable, "-P", "-c", heeding, "--watch", "--output-format", "concise", "-q", "."]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stderr is not None
        assert "TF401" in process.stdout.readline()
        assert "watching 1 file;" in process.stderr.readline()
        model.write_text("import tensorflow as tf\ntf.placeholder(tf.float32)\n")
        assert "TF402" in process.stdout.readline()
        assert "watching 1 file;" in process.stderr.readline()
        (folder / "migrate-lint.toml").write_text("ignor = []\n")
        assert "unknown key ignor" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert 0 == process.returncode
    finally:
        process.kill()
        process.communicate()


def test_files_are_shown_that_would_be_linted(capsys: Captured) -> None:
    """Excluded ones are not among them, and none is read."""
    Path("pkg").mkdir()
    Path("pkg/a.py").write_text("(")
    Path("pkg/b.txt").write_text("")
    assert 0 == main(["--show-files", "--exclude", "m.py"])
    assert "clean.py\npkg/a.py\n" == capsys.readouterr().out


def test_a_mistake_in_the_configuration_is_2(capsys: Captured) -> None:
    """With the file, the line and the nearest key or rule."""
    Path("migrate-lint.toml").write_text("ignor = []\n")
    assert 2 == main(["m.py"])
    assert "migrate-lint.toml:1: unknown key ignor; did you mean ignore?" in capsys.readouterr().err

    Path("migrate-lint.toml").write_text("[per-file-ignores]\n'a' = ['TF1O1']\n")
    assert 2 == main(["m.py"])
    assert "unknown rule TF1O1; did you mean TF101?" in capsys.readouterr().err

    assert 1 == main(["--isolated", "m.py"])


def test_the_command_line_overrides_the_configuration(capsys: Captured) -> None:
    """A selection starts anew; what is ignored and excluded adds up."""
    Path("migrate-lint.toml").write_text("ignore = ['TF101']\nexclude = ['clean.py']\noutput-format = 'concise'\n")

    assert 0 == main([])
    assert 1 == main(["--select", "variable-in-call,TF9"])
    assert "Found" in capsys.readouterr().out
    assert 0 == main(["--exclude", "./m.py", "--select", "ALL"])
    assert "0 files" in capsys.readouterr().out


def test_a_glob_of_the_command_line_is_about_the_working_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Where the configuration lies does not matter to it."""
    Path("migrate-lint.toml").write_text("")
    Path("pkg/gen").mkdir(parents=True)
    Path("pkg/gen/a.py").write_text("")
    monkeypatch.chdir("pkg")

    assert 1 == main(["."])
    assert 0 == main(["--exclude", "gen/*", "."])


def test_json_goes_out_alone(capsys: Captured) -> None:
    """What else is to be said is on standard error."""
    Path("empty").mkdir()

    assert 1 == main(["--output-format", "json", "-v", "m.py", "empty"])

    printed = capsys.readouterr()
    assert ["m.py"] == [finding["path"] for finding in json.loads(printed.out)["findings"]]
    assert "0 files were found" in printed.err
    assert "target keras3 (no evidence in the project)" in printed.err


def test_an_output_file_takes_the_whole_report(capsys: Captured) -> None:
    """Standard output stays empty."""
    assert 1 == main(["m.py", "--output-file", "report.txt", "--output-format", "concise"])
    assert "" == capsys.readouterr().out
    assert Path("report.txt").read_text().startswith("m.py:1:1: TF101")


def test_an_output_file_is_replaced_as_a_whole(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Through a link, with its mode; where that fails the earlier report is still there."""
    Path("report.txt").write_text("earlier")
    Path("report.txt").chmod(0o640)
    Path("link.txt").symlink_to("report.txt")
    words = ["m.py", "--output-file", "link.txt", "--output-format", "concise"]

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert 2 == main(words)
    assert "earlier" == Path("report.txt").read_text()
    assert "link.txt: the report cannot be written: No space left on device" in capsys.readouterr().err

    assert 1 == main(words)
    assert Path("link.txt").is_symlink()
    assert 0o640 == Path("report.txt").stat().st_mode & 0o777
    assert Path("report.txt").read_text().startswith("m.py:1:1: TF101")
    assert {"link.txt", "report.txt", "m.py", "clean.py"} == {path.name for path in Path().iterdir() if path.is_file()}


def test_a_read_only_report_is_not_replaced(capsys: Captured) -> None:
    """As no file that the program writes is, not even by the superuser."""
    Path("report.txt").write_text("earlier")
    Path("report.txt").chmod(0o444)

    assert 2 == main(["m.py", "--output-file", "report.txt"])
    assert "report.txt: the report cannot be written: this file is read-only" in capsys.readouterr().err
    assert "earlier" == Path("report.txt").read_text()


def test_a_device_is_written_and_stays_one(capsys: Captured) -> None:
    """It is not replaced by a file."""
    assert 1 == main(["m.py", "--output-file", os.devnull])
    assert not Path(os.devnull).is_file()


def test_statistics_take_the_place_of_findings(capsys: Captured) -> None:
    """By rule and by consequence."""
    assert 1 == main(["--statistics"])

    out = capsys.readouterr().out
    assert "1  TF101  variable-in-call\n" in out
    assert "1  changes  it computes something else\n" in out
    assert "m.py" not in out


def test_settings_are_shown_as_they_work_out(capsys: Captured) -> None:
    """Nothing is linted."""
    assert 0 == main(["--show-settings", "--select", "TF101", "--target", "keras2", "--jobs", "3", "--exclude", "a,b"])

    out = capsys.readouterr().out.splitlines()
    for line in ("selected: TF101, TF900, TF902, TF908, TF909, TF910", "target: keras2", "jobs: 3", "exclude: a, b"):
        assert line in out


def test_standard_input_is_read_under_its_name(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """The excerpt comes from what was given."""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"given = 1\n")))

    assert 1 == main(["-", "--stdin-filename", "m.py"])
    assert "    1 | given = 1" in capsys.readouterr().out.splitlines()


def test_standard_input_without_a_name_has_one(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """An editor names an unsaved text by nothing."""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"given = 1\n")))

    assert 1 == main(["-q", "-", "--stdin-filename", ""])
    assert capsys.readouterr().out.startswith("<stdin>:1:1: TF101")


@pytest.mark.parametrize(("words", "status"), [(["m.py"], 1), (["gone.py"], 2), (["--version"], 0), (["-"], 2)])
@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdin", "stdout", "stderr")])
def test_closed_streams_leave_the_status(
    words: list[str], status: int, closed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever closed them wants to know no more than that."""
    monkeypatch.setattr(sys, "stdin", None)
    for name in closed:
        monkeypatch.setattr(sys, name, None)

    assert status == main(words)


@pytest.mark.parametrize("words", [["m.py"], ["--help"], ["rule"], ["--show-settings"]])
def test_a_full_disk_is_2(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """A report that did not arrive is no success."""

    class Full(StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert 2 == main(words)
    assert "standard output cannot be written: No space left on device" in capsys.readouterr().err


def test_a_working_folder_that_is_gone_is_2(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Said in so many words."""
    Path("gone").mkdir()
    monkeypatch.chdir("gone")
    Path("../gone").resolve().rmdir()

    assert 2 == main(["."])
    assert "the working folder is gone" in capsys.readouterr().err
    monkeypatch.chdir("/")


def test_processes_have_a_limit(capsys: Captured) -> None:
    """Hundreds of them only keep the machine busy."""
    assert 0 == main(["--show-settings", "--jobs", "9999"])
    assert "jobs: 61" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("mode", "environment", "terminal", "colored"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {}, True, False),
    ],
)
def test_colours_are_for_terminals(
    mode: str,
    environment: dict[str, str],
    terminal: bool,
    colored: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    """Unless they are asked for."""
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)

    assert 1 == main(["m.py", "--color", mode])
    assert colored == ("\x1b[" in capsys.readouterr().out)


def test_a_rule_is_explained(capsys: Captured) -> None:
    """By code or slug; all of them; or listed."""
    assert 0 == main(["rule", "variable-in-call"])
    assert "TF101 variable-in-call (error, changes, keras2, keras3)" in capsys.readouterr().out
    assert 0 == main(["rule", "--all", "--output-format", "json"])
    codes = [one["code"] for one in json.loads(capsys.readouterr().out)]
    assert ["TF101", "TF900", "TF901", "TF902", "TF907", "TF908", "TF909", "TF910"] == codes
    assert 0 == main(["rule", "TF900", "--output-format", "markdown"])
    assert "# TF900 unparsable-file" in capsys.readouterr().out.splitlines()
    assert 0 == main(["rule"])
    assert len(codes) == len(capsys.readouterr().out.splitlines())


def test_help_and_version_are_0(capsys: Captured) -> None:
    """Both return instead of raising."""
    assert 0 == main(["--version"])
    assert 0 == main(["--help"])
    assert 0 == main(["rule", "--help"])
    assert capsys.readouterr().out.startswith("migrate-lint ")


def test_the_scopes_are_printed_as_a_module_for_old_interpreters(capsys: Captured) -> None:
    """It is the module of the runtime checks, in the syntax of Python 3.7, and imports nothing but TensorFlow."""
    assert 0 == main(["--print-scopes"])
    head, _, text = capsys.readouterr().out.partition("\n")
    source = Path(scopes.__file__).read_text("utf-8")
    tree = ast.parse(text, feature_version=(3, 7))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    standard = {*sys.stdlib_module_names, "collections.abc"}

    assert (source, "#") == (text, head[:1])
    assert {"tensorflow", "keras"} == {name.partition(".")[0] for name in imported - standard}


def test_the_version_names_the_rules(capsys: Captured) -> None:
    """How many there are, and a digest that is the same for the same rules."""
    assert 0 == main(["--version"])
    first, second = capsys.readouterr().out.splitlines()
    found = re.fullmatch(r"rule set ([0-9a-f]{12}): (\d+) rules of migrate-lint", second)

    assert f"migrate-lint {__version__}" == first
    assert found is not None
    assert int(found[2]) > 40
    assert [found[1]] == [rules.digest for rules in registry.rule_sets() if rules.origin == "migrate-lint"]


def test_the_module_starts_beside_a_package_of_its_name() -> None:
    """With -P Python looks for it among what is installed; a json.py beside it is in no case imported."""
    Path("migrate_lint").mkdir()
    Path("migrate_lint/__init__.py").write_text("raise SystemExit('the wrong one')\n")
    command = [sys.executable, "-P", "-m", "migrate_lint", "--version"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith(f"migrate-lint {__version__}\n")


def test_the_module_imports_nothing_from_the_working_folder() -> None:
    """Without -P, too, except for a package of its own name."""
    for name in ("json", "sqlite3", "tomllib"):
        Path(f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    Path("migrate-lint.toml").write_text("")

    done = subprocess.run([sys.executable, "-m", "migrate_lint", "clean.py"], capture_output=True, check=False)

    assert (0, b"") == (done.returncode, done.stderr)


def test_a_crash_is_one_line_and_2(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Never a traceback."""

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("two\nlines \x1b[31m")

    monkeypatch.setattr(engine, "analyze", crash)

    assert 2 == main(["m.py"])
    assert "migrate-lint: internal error: RuntimeError: two lines \\x1b[31m\n" == capsys.readouterr().err


def test_an_interrupt_is_one_line_and_2(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """The run is incomplete."""
    monkeypatch.setattr(cli, "ignore_further_interrupts", lambda: None)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "analyze", interrupt)

    assert 2 == main(["m.py"])
    assert "migrate-lint: interrupted\n" == capsys.readouterr().err


def test_a_second_interrupt_is_ignored(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Impatience is no reason for a traceback."""
    import signal

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(engine, "analyze", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    try:
        assert 2 == main(["m.py"])
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_progress_shows_in_long_runs_only(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """A short run draws nothing; a line that was drawn is overwritten by the next, and taken away at the end."""
    now = [0.0]
    progress = console.FileProgress()
    progress.clock = lambda: now[0]
    progress.next = 0.5

    progress(0, 9)
    progress.stop()
    assert "" == capsys.readouterr().err

    now[0] = 0.6
    progress(0, 9)
    progress(1, 9)
    now[0] = 0.8
    progress(2, 9)
    progress.stop()
    first = "Reading: 2 files"
    last = "Linting: 2 of 9 files"
    assert f"\r\r{first}\r{' ' * len(first)}\r{last}\r{' ' * len(last)}\r" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("terminal", "variables", "shown"),
    [
        (True, {}, True),
        (True, {"CI": "false"}, True),
        (True, {"CI": "true"}, False),
        (True, {"CI": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_progress_is_no_part_of_a_log(
    terminal: bool, variables: dict[str, str], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some CI servers give a terminal, and keep all that is written to it."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(console, "is_terminal", lambda stream: terminal)

    assert shown == (console.file_progress(quiet=False) is not None)
    assert shown == (console.phase_progress(quiet=False) is not None)
    assert console.file_progress(quiet=True) is None


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such terminals")
@pytest.mark.parametrize("columns", [50, 250])
def test_a_terminal_says_how_wide_it_is(columns: int, tmp_path: Path) -> None:
    """Lines are broken there, nothing of the progress is left, and a pipe beside it gets whole lines."""
    import fcntl
    import pty
    import struct
    import termios

    (tmp_path / "m.py").write_text("import tensorflow as tf\n\nlogged = tf.log(1.0)\n")
    command = [sys.executable, "-m", "migrate_lint", "m.py", "--color", "never"]
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "CI")}
    host, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=terminal, stderr=terminal, check=False)
    shown = os.read(host, 1 << 16).decode().replace("\r\n", "\n").rpartition("\r")[2].splitlines()
    os.close(terminal)
    os.close(host)
    piped = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False).stdout.decode()

    assert 1 == done.returncode
    assert piped.startswith("m.py:3:10: TF406[moved-or-removed-symbol] error ")
    assert shown[0].startswith("m.py:3:10: TF406[moved-or-removed-symbol]")
    assert (columns < len(piped.splitlines()[0])) == (shown != piped.splitlines())
    assert max(map(len, shown)) <= columns
    assert piped.split() == " ".join(shown).split()


def _run(script: str, *, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    return subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment, check=False)


def test_what_an_encoding_cannot_say_is_escaped() -> None:
    """An ASCII terminal is no reason to crash."""
    Path("däta.py").write_text('print "x"\n')

    script = "from migrate_lint.linter.cli.main import main; raise SystemExit(main(['däta.py', '-q']))"
    done = _run(script, encoding="ascii")

    assert (1, b"") == (done.returncode, done.stderr)
    assert b"d\\xe4ta.py:1:1: TF902" in done.stdout


def test_a_closed_pipe_is_no_traceback() -> None:
    """As in `migrate-lint | head`."""
    Path("m.py").write_text("x = 1  # noqa: TF7777\n" * 5000)
    command = f"{sys.executable} -m migrate_lint --output-format concise m.py | head -1"

    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)

    assert b"" == done.stderr
    assert 1 == len(done.stdout.splitlines())


def test_starting_up_imports_nothing_heavy() -> None:
    """The command line itself needs neither the parser nor the terminal library nor TOML."""
    script = (
        "import sys; from migrate_lint.linter.cli import main; from migrate_lint.linter.run import pipeline; "
        "print(sorted({'libcst', 'rich', 'tomllib', 'difflib', 'packaging', 'shtab'} & set(sys.modules)))"
    )

    assert b"[]\n" == _run(script).stdout


def test_a_report_without_a_place_is_told_before_the_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    """A run of a model may take an hour."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("")
    monkeypatch.setattr("migrate_lint.linter.run.pipeline.lint", lambda *_, **__: pytest.fail("it was linted"))

    assert main(["m.py", "--output-format", "json", "--output-file", "gone/report.json"]) == 2
    assert "gone/report.json: the report cannot be written: there is no such folder" in capsys.readouterr().err
