"""The command line with `--runtime`: what is asked of the session, and what becomes of its answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from migrate_lint.linter.cli import console
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import (
    PROBE_FAILED,
    PROBE_ONLY_FINDING,
    Consequence,
    Finding,
    Severity,
    Target,
    Verdict,
)
from migrate_lint.linter.runtime_report import RuntimeReport

from .runs import evidence, report_of, worker_run

Captured = pytest.CaptureFixture[str]

LAYER = """\
import tensorflow as tf
from helper import scale


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        return scale(x * tf.Variable(2.0))
"""
HELPER = """\
import tensorflow as tf


def scale(x):
    return tf.compat.v1.layers.dense(x, 1)
"""


class UsageError(ValueError):
    """As the session's."""


@dataclass(frozen=True)
class Request:
    """As the session's."""

    target: str
    inputs: str | None
    shapes: tuple[str, ...]
    dtypes: tuple[str, ...]
    arguments: tuple[str, ...]
    method: str | None
    batch: str | None
    step: str | None
    devices: tuple[str, ...]
    strategies: tuple[str, ...]
    targets: tuple[Target, ...]
    notebook: None
    found_for: dict[tuple[str, int, int, str], frozenset[Target]]
    python: str | None
    timeout: float
    memory_limit: float | None
    roots: tuple[str, ...]


class Interpreter(ModuleType):
    """Describes any interpreter as one with a certain TensorFlow, and refuses one."""

    InterpreterError = UsageError

    def __init__(self) -> None:
        super().__init__("migrate_lint.runtime_checks.interpreter")
        self.tensorflow = "2.21.0"

    def describe(self, python: str | None = None) -> Interpreter:
        if python == "gone":
            raise UsageError("gone is no Python")
        return self

    def default_target(self, interpreter: Interpreter) -> Target:
        return Target.KERAS3 if interpreter.tensorflow >= "2.16" else Target.KERAS2


class Session(ModuleType):
    """Answers as it is told, and remembers what it was asked."""

    Request = Request
    RuntimeUsageError = UsageError

    def __init__(self) -> None:
        super().__init__("migrate_lint.runtime_checks.session")
        self.interpreter = Interpreter()
        self.requests: list[Request] = []
        self.findings: tuple[Finding, ...] = ()
        self.hidden: tuple[Finding, ...] = ()
        self.verdict = Verdict.CONFIRMED
        self.added: tuple[Finding, ...] = ()
        self.error: Exception | None = None

    def locate_target(self, text: str, root: str | None = None) -> str | None:
        file = text.partition(":")[0]
        if not text.count(":"):
            raise UsageError(f"{text}: a target is FILE.py:NAME or package.module:NAME")
        return os.path.abspath(file) if file.endswith(".py") else None

    def run(
        self,
        request: Request,
        findings: Sequence[Finding],
        hidden: Sequence[Finding],
        progress: Callable[[str], None] | None,
    ) -> RuntimeReport:
        self.requests.append(request)
        self.findings, self.hidden = tuple(findings), tuple(hidden)
        if progress is not None:
            progress("keras3 on CPU:0: build [red]")
        if self.error is not None:
            raise self.error
        judged = (replace(one, verdict=self.verdict, evidence=(evidence(self.verdict, "seen"),)) for one in findings)
        return report_of(tuple(judged), self.added, (worker_run(),))


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    made = Session()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for module in (made, made.interpreter):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name, text in {"model.py": LAYER, "helper.py": HELPER, "other.py": LAYER, "clean.py": "x = 1\n"}.items():
        Path(name).write_text(text)
    return made


def only_at_runtime(path: str = "helper.py", line: int = 5) -> Finding:
    return replace(
        PROBE_ONLY_FINDING.at(path, "a variable is created again", line),
        origin="runtime",
        verdict=Verdict.CONFIRMED,
        evidence=(evidence(Verdict.CONFIRMED, "dense/kernel"),),
    )


def failed(path: str = "model.py") -> Finding:
    return replace(PROBE_FAILED.at(path, "build() raised"), origin="runtime", verdict=Verdict.FAILED)


def places(captured: Captured) -> list[tuple[str, str]]:
    return [(one["path"], one["code"]) for one in json.loads(captured.readouterr().out)["findings"]]


def test_a_run_gives_every_finding_its_verdict(session: Session, capsys: Captured) -> None:
    """In the report and in its closing lines."""
    assert 1 == main(["--runtime", "model.py:build", "model.py", "--output-format", "concise", "--target", "keras3"])

    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("model.py:7:")
    assert out[0].endswith(" [confirmed]")
    assert "Runtime: 1 confirmed, 0 refuted, 0 unreached, 0 failed, 0 static-only; 0 found at runtime only." in out
    assert "keras3 on CPU:0: TensorFlow 2.21.0, Keras 3.15.1, Python 3.11.7; 0 phases ok" in out


def test_without_a_path_the_target_is_linted_with_what_it_imports(session: Session, capsys: Captured) -> None:
    """Not what else lies beside it, nor what is excluded; and all of it as one project."""
    assert 1 == main(["--runtime", "model.py:build", "--output-format", "json", "-v"])

    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert ({"model.py", "helper.py"}, 2) == ({one["path"] for one in report["findings"]}, report["summary"]["files"])
    assert [os.getcwd()] == [one["root"] for one in report["summary"]["targets"]]
    main(["--runtime", "model.py:build", "--output-format", "json", "--exclude", "helper.py"])
    assert {"model.py"} == {path for path, _ in places(capsys)}


def test_helpers_in_plain_folders_belong_to_the_targets_project(session: Session, capsys: Captured) -> None:
    """So their findings know who calls them."""
    Path("nets").mkdir()
    Path("nets/helper.py").write_text("import tensorflow as tf\ndef scale(x):\n    return x * tf.Variable(1.0)\n")
    Path("model.py").write_text(LAYER.replace("from helper", "from nets.helper"))

    assert 1 == main(["--runtime", "model.py:build", "--output-format", "json"])
    assert ("nets/helper.py", "TF101") in places(capsys)


def test_an_installed_target_needs_paths(session: Session, capsys: Captured) -> None:
    """There is no file of it to lint."""
    assert 2 == main(["--runtime", "package.module:build"])
    assert "name the PATH to lint" in capsys.readouterr().err
    assert 0 == main(["--runtime", "package.module:build", "clean.py"])
    assert ["package.module:build"] == [request.target for request in session.requests]


def test_the_request_says_what_the_command_line_does(session: Session) -> None:
    """Word for word where the session reads it, with numbers where there are numbers."""
    words = "--inputs s.py:batch --input-shape 2,28,28,1 --input-shape ?,3 --input-dtype float32 --input-dtype int32"
    more = "--device CPU:0,GPU:0 --device GPU:0 --python py --timeout 1.5 --memory-limit 2 --target keras2"
    more += " --strategy mirrored:2,tpu --strategy tpu"
    steps = "--call generate --batch s.py:pair --step s.py:step"

    main(["--runtime", "model.py:build", *f"{words} {more} {steps}".split(), "--", "--units", "3", "--", "x"])

    assert [
        Request(
            target="model.py:build",
            inputs="s.py:batch",
            shapes=("2,28,28,1", "?,3"),
            dtypes=("float32", "int32"),
            arguments=("--units", "3", "--", "x"),
            method="generate",
            batch="s.py:pair",
            step="s.py:step",
            devices=("CPU:0", "GPU:0"),
            strategies=("mirrored:2", "tpu"),
            targets=(Target.KERAS2,),
            notebook=None,
            found_for=session.requests[0].found_for,
            python="py",
            timeout=1.5,
            memory_limit=2.0,
            roots=(os.getcwd(),),
        )
    ] == session.requests
    assert {frozenset({Target.KERAS2})} == set(session.requests[0].found_for.values())


def test_what_is_not_said_has_a_default(session: Session) -> None:
    """No device is asked for: the session knows what there is."""
    main(["--runtime", "model.py:build"])
    main(["--runtime", "model.py:build", "--memory-limit", "0"])

    first, second = session.requests
    assert (None, (), (), (), None, 120.0, 8.0) == (
        first.inputs, first.shapes, first.dtypes, first.devices, first.python, first.timeout, first.memory_limit
    )  # fmt: skip
    assert second.memory_limit is None


def test_without_a_run_a_path_may_follow_two_dashes(session: Session, capsys: Captured) -> None:
    """As with any command."""
    assert 1 == main(["--isolated", "--", "model.py"])
    assert "model.py:" in capsys.readouterr().out
    assert not session.requests


def test_an_interpreter_without_tensorflow_says_so_as_the_targets_reason(session: Session, capsys: Captured) -> None:
    """In a sentence, also where no version can be named."""
    session.interpreter.tensorflow = ""
    main(["--runtime", "model.py:build"])
    assert "target keras2 (the interpreter has no TensorFlow)" in capsys.readouterr().out.splitlines()


def test_the_target_is_what_the_project_speaks_for_or_else_the_interpreters(session: Session, capsys: Captured) -> None:
    """It is linted for the same one; the command line may say otherwise."""
    session.interpreter.tensorflow = "2.15.1"
    main(["--runtime", "model.py:build"])
    assert "target keras2 (TensorFlow 2.15.1 of the interpreter)" in capsys.readouterr().out.splitlines()
    Path("setup.py").write_text("")
    Path("requirements.txt").write_text("keras>=3\n")
    main(["--runtime", "model.py:build", "model.py"])
    assert "target keras3 (keras>=3 in requirements.txt:1)" in capsys.readouterr().out.splitlines()
    main(["--runtime", "model.py:build", "--target", "keras2"])

    assert [(Target.KERAS2,), (Target.KERAS3,), (Target.KERAS2,)] == [request.targets for request in session.requests]


def test_the_runs_own_project_has_its_target(session: Session) -> None:
    """Other projects that are linted with it are judged for theirs, which is not run."""
    for name, requirement in (("one", "tf_keras"), ("two", "keras>=3")):
        Path(name).mkdir()
        Path(name, "setup.py").write_text("")
        Path(name, "requirements.txt").write_text(requirement)
        Path(name, "net.py").write_text(HELPER)
    main(["--runtime", "one/net.py:scale", "one", "two"])
    main(["--runtime", "one/net.py:scale", "two"])
    main(["--runtime", "package.module:build", "one", "two"])
    Path("empty").mkdir()
    main(["--runtime", "package.module:build", "empty"])

    keras2, keras3 = Target
    assert [(keras2,), (keras3,), (keras2, keras3), ()] == [request.targets for request in session.requests]
    assert {("one/net.py", frozenset({keras2})), ("two/net.py", frozenset({keras3}))} <= {
        (place[0], targets) for place, targets in session.requests[0].found_for.items()
    }


def test_an_interpreter_that_is_none_is_2(session: Session, capsys: Captured) -> None:
    """Before anything is linted for it."""
    assert 2 == main(["--runtime", "model.py:build", "--python", "gone"])
    assert ("", "migrate-lint: gone is no Python\n") == capsys.readouterr()


def test_both_targets_are_linted_and_run(session: Session, capsys: Captured) -> None:
    """A finding of one of them is to be judged on that one only."""
    assert 1 == main(["--runtime", "model.py:build", "--target", "both", "--output-format", "json"])

    report = json.loads(capsys.readouterr().out)
    (request,) = session.requests
    assert (Target.KERAS2, Target.KERAS3) == request.targets
    assert ["keras2", "keras3"] == [one["target"] for one in report["summary"]["targets"]]
    found = {code: targets for (path, _, _, code), targets in request.found_for.items() if path == "helper.py"}
    assert frozenset({Target.KERAS3}) == found["TF410"]
    assert frozenset(Target) in request.found_for.values()


def test_what_the_run_alone_has_found_is_added(session: Session, capsys: Captured) -> None:
    """Sorted in, also in a file that was not linted, with its line."""
    session.added = (only_at_runtime(),)

    assert 1 == main(["--runtime", "model.py:build", "clean.py"])

    out = capsys.readouterr().out.splitlines()
    assert [
        "helper.py:5:1: TF907[probe-only-finding] error a variable is created again",
        "    5 |     return tf.compat.v1.layers.dense(x, 1)",
        "      | ^",
        "    confirmed (keras3, CPU:0, second call): dense/kernel",
    ] == out[:4]
    assert "Runtime: 0 confirmed, 0 refuted, 0 unreached, 0 failed, 0 static-only; 1 found at runtime only." in out


@pytest.mark.parametrize(
    ("words", "helper", "codes"),
    [
        ([], HELPER, ["TF907", "TF908"]),
        (["--ignore", "TF907"], HELPER, ["TF908"]),
        (["--select", "TF1"], HELPER, ["TF908"]),
        (["--ignore", "TF908"], HELPER, ["TF907"]),
        (["--ignore", "TF9"], HELPER, ["TF908"]),
        ([], HELPER.replace("1)", "1)  # migrate-lint: disable=TF907"), ["TF908"]),
        ([], HELPER.replace("1)", "1)  # noqa: probe-only-finding, TF907"), ["TF908"]),
        ([], f"# migrate-lint: disable-file=TF907,TF908\n{HELPER}", ["TF908"]),
        ([], HELPER.replace("1)", "1)  # noqa"), ["TF908"]),
    ],
)
def test_what_is_added_is_selected_and_suppressed_like_any_finding(
    words: list[str], helper: str, codes: list[str], session: Session, capsys: Captured
) -> None:
    """But that a run failed is only ever ignored by its own name."""
    Path("helper.py").write_text(helper)
    session.added = (only_at_runtime(), failed("helper.py"))

    main(["--runtime", "model.py:build", "clean.py", "--output-format", "json", *words])

    assert codes == sorted(code for _, code in places(capsys))


def test_rules_ignored_for_a_file_are_ignored_at_runtime(session: Session, capsys: Captured) -> None:
    """Whether it was linted or not."""
    Path("migrate-lint.toml").write_text("[per-file-ignores]\n'helper.py' = ['TF907']\n")
    session.added = (only_at_runtime(), only_at_runtime("model.py", 7))

    main(["--runtime", "model.py:build", "clean.py", "--output-format", "json"])

    assert [("model.py", "TF907")] == places(capsys)


def test_a_comment_about_a_run_is_never_called_unused(session: Session, capsys: Captured) -> None:
    """A run sees only what its target reaches, and without one nothing is seen at all."""
    Path("clean.py").write_text("x = 1  # migrate-lint: disable=TF907,probe-failed\n")

    assert 0 == main(["clean.py"])
    assert 0 == main(["clean.py", "--runtime", "model.py:build"])


def test_a_failed_run_alone_is_1(session: Session) -> None:
    """What was asked for did not happen."""
    session.added = (failed(),)

    assert 1 == main(["--runtime", "model.py:build", "clean.py"])
    assert 0 == main(["--runtime", "model.py:build", "clean.py", "--exit-zero"])


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (Verdict.REFUTED, 0),
        (Verdict.CONFIRMED, 1),
        (Verdict.UNREACHED, 1),
        (Verdict.FAILED, 1),
        (Verdict.STATIC_ONLY, 1),
    ],
)
def test_a_trusted_run_takes_out_what_it_refutes_and_nothing_else(
    verdict: Verdict, status: int, session: Session, capsys: Captured
) -> None:
    """It is still counted as refuted."""
    session.verdict = verdict

    assert 1 == main(["--runtime", "model.py:build", "model.py", "--output-format", "json"])
    judged = json.loads(capsys.readouterr().out)
    assert status == main(["--runtime", "model.py:build", "model.py", "--output-format", "json", "--trust-runtime"])
    trusted = json.loads(capsys.readouterr().out)

    assert status * len(judged["findings"]) == len(trusted["findings"])
    assert judged["summary"]["runtime"] == trusted["summary"]["runtime"]
    assert len(session.findings) == trusted["summary"]["runtime"][verdict]


def test_the_session_is_told_what_is_hidden(session: Session) -> None:
    """By a comment or by selection: what a user has answered is not to be found again."""
    Path("model.py").write_text(LAYER.replace("(2.0))", "(2.0))  # migrate-lint: disable=TF101"))

    main(["--runtime", "model.py:build", "--ignore", "TF410,TF103"])

    assert {("model.py", "TF101"), ("helper.py", "TF410")} <= {(one.path, one.code) for one in session.hidden}
    assert set() == {"TF101", "TF410"} & {one.code for one in session.findings}


@pytest.mark.parametrize(
    "words",
    [
        ["--inputs", "s.py:x"],
        ["--input-shape", "2,3"],
        ["--input-dtype", "int32"],
        ["--device", "GPU:0"],
        ["--strategy", "mirrored:2"],
        ["--python", "py"],
        ["--timeout", "5"],
        ["--memory-limit", "0"],
        ["--trust-runtime"],
        ["--target", "both"],
    ],
)
def test_options_of_a_run_are_nothing_without_one(words: list[str], session: Session, capsys: Captured) -> None:
    """They would be ignored, and that would look like success."""
    assert 2 == main([*words, "model.py"])
    assert f"{' '.join(words[:2] if '--target' in words else words[:1])}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--runtime", "model.py"], "a target is FILE.py:NAME"),
        (["--runtime", "model.py:build", "-"], "cannot be given with `-`"),
        (["--runtime", "model.py:build", "--timeout", "0"], "invalid number of seconds value: '0'"),
        (["--runtime", "model.py:build", "--timeout", "nan"], "invalid number of seconds value: 'nan'"),
        (["--runtime", "model.py:build", "--memory-limit", "-1"], "--memory-limit"),
        (["--runtime", "model.py:build", "--memory-limit", "inf"], "--memory-limit"),
        (["--runtime"], "--runtime"),
        (["rule", "TF907", "--runtime", "model.py:build"], "--runtime"),
    ],
)
def test_a_run_that_makes_no_sense_is_2(words: list[str], message: str, session: Session, capsys: Captured) -> None:
    """Before anything is run."""
    assert 2 == main(words)
    printed = capsys.readouterr()
    assert (True, "", []) == (message in printed.err, printed.out, session.requests)


def test_what_the_session_refuses_is_2(session: Session, capsys: Captured) -> None:
    """In its own words."""
    session.error = UsageError("there is no GPU:0 here; there is: CPU:0")

    assert 2 == main(["--runtime", "model.py:build", "--device", "GPU:0"])
    assert ("", "migrate-lint: there is no GPU:0 here; there is: CPU:0\n") == capsys.readouterr()


def test_settings_are_shown_without_a_run(session: Session) -> None:
    """As they are without linting."""
    assert 0 == main(["--runtime", "model.py:build", "--show-settings"])
    assert [] == session.requests


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("migrate-lint.toml", "runtime = 'model.py:build'\n"),
        ("migrate-lint.toml", "trust-runtime = true\n"),
        ("migrate-lint.toml", "target = 'both'\n"),
        ("pyproject.toml", "[tool.migrate-lint]\nruntime = 'model.py:build'\n"),
        ("pyproject.toml", "[tool.migrate-lint.runtime]\ntarget = 'model.py:build'\n"),
    ],
)
def test_no_configuration_file_runs_anything(file: str, text: str, session: Session, capsys: Captured) -> None:
    """It is an error there, and nothing is executed."""
    Path(file).write_text(text)

    assert 2 == main([])
    assert file in capsys.readouterr().err
    assert [] == session.requests


def test_no_linted_file_runs_anything(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a comment nor a file with the name of an option nor the environment asks for it."""
    Path("@words").write_text("--runtime\nmodel.py:build\n")
    Path("model.py").write_text(f"# migrate-lint: runtime=model.py:build\n# migrate-lint: --runtime x.py:y\n{LAYER}")
    for name in ("RUNTIME", "MIGRATE_LINT_RUNTIME", "MIGRATE_LINT_RUN", "MIGRATE_LINT_OPTIONS"):
        monkeypatch.setenv(name, "--runtime model.py:build")

    main(["."])
    main(["@words"])

    assert [] == session.requests


def test_nothing_of_a_run_is_imported_without_one(tmp_path: Path) -> None:
    """Nor what draws its progress."""
    (tmp_path / "m.py").write_text("import tensorflow as tf\ntf.Session()\n")
    script = (
        "import sys; from migrate_lint.linter.cli.main import main; main(['--no-cache', '-q', 'm.py']); "
        "print([name for name in sys.modules if name.startswith(('rich', 'migrate_lint.runtime_checks'))])"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, cwd=tmp_path)

    assert b"[]" == done.stdout.splitlines()[-1]


def test_a_terminal_shows_the_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is written, not as markup; and nothing is drawn before the first one."""
    progress = console.PhaseProgress()
    progress.stop()
    assert progress.bar is None

    progress("keras3 on CPU:0: build [red] \x1b[2J")
    (task,) = progress.bar.tasks
    progress("keras3 on CPU:0: first call")
    progress.stop()

    assert "keras3 on CPU:0: first call" == task.description


@pytest.mark.parametrize(("words", "drawn"), [([], 1), (["--quiet"], 0)])
def test_progress_is_for_terminals(
    words: list[str], drawn: int, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken away when the run ends, however it does."""
    made: list[Any] = []

    class Progress:
        def __init__(self) -> None:
            self.told: list[str] = []
            made.append(self)

        def __call__(self, phase: str) -> None:
            self.told.append(phase)

        def stop(self) -> None:
            self.told.append("stopped")

    monkeypatch.setattr(console, "PhaseProgress", Progress)
    monkeypatch.setattr(console, "is_terminal", lambda stream: stream is sys.stderr)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    session.error = UsageError("no")

    assert 2 == main(["--runtime", "model.py:build", *words])
    assert [["keras3 on CPU:0: build [red]", "stopped"]] * drawn == [one.told for one in made]


def test_the_worse_of_two_targets_stands() -> None:
    """Of one place with one code there is one finding, and it says what is worse."""
    from migrate_lint.linter.run import pipeline as run
    from migrate_lint.linter.run.engine import FileResult
    from migrate_lint.linter.source.suppressions import Suppressions

    def found(severity: Severity, message: str) -> FileResult:
        one = Finding("m.py", 1, 1, 1, 2, "TF101", "variable-in-call", severity, Consequence.BREAKS, message)
        return FileResult((one,), Suppressions())

    def merged(keras2: Severity, keras3: Severity) -> list[str]:
        results = {Target.KERAS2: found(keras2, "two"), Target.KERAS3: found(keras3, "three")}
        return [one.message for one in run._merged(results, {})[0]]

    assert ["two"] == merged(Severity.ERROR, Severity.WARNING)
    assert ["three"] == merged(Severity.INFO, Severity.WARNING)
    assert ["three"] == merged(Severity.ERROR, Severity.ERROR)
