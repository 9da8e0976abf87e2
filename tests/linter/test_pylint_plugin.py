"""The pylint plugin: the findings of the command line, as messages of pylint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.pylint_plugin import message_id, register
from migrate_lint.linter.registry import registry
from migrate_lint.linter.reporters.ci import documented_rules
from migrate_lint.linter.run import engine, facts, workspace
from migrate_lint.linter.run.workspace import Workspace, workspace_of
from migrate_lint.linter.source import parsing, reading
from pylint.lint import PyLinter, Run
from pylint.message import _deleted_message_ids as gone
from pylint.reporters import JSONReporter

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PLUGIN = "migrate_lint.linter.pylint_plugin"
ONLY_OURS = ("--disable=all", "--enable=migrate-lint,syntax-error")
EDITOR = ("--reports=n", "--output-format=json", "--clear-cache-post-run=y")

LAYER = """\
import tensorflow as tf


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(2.0)
"""
DERIVED = """\
import tensorflow as tf

from base import Base


class Derived(Base):
    def call(self, x):
        return x * tf.Variable(2.0)
"""
BASE = """\
import tensorflow as tf


class Base(tf.keras.layers.Layer):
    pass
"""

Message = dict[str, Any]
Lint = Callable[..., list[Message]]


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A user with an empty cache, in a project, in a process that knows no other."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "setup.cfg").write_text("")
    monkeypatch.chdir(tmp_path / "work")
    workspace._kept.clear()
    workspace._folder.cache_clear()
    yield
    workspace._folder.cache_clear()


@pytest.fixture
def lint(monkeypatch: pytest.MonkeyPatch) -> Lint:
    """Run pylint with the plugin, in this process."""

    def run(*words: str, buffer: str | None = None, only: tuple[str, ...] = ONLY_OURS) -> list[Message]:
        out = StringIO()
        if buffer is not None:
            words = ("--from-stdin", *words)
            monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(buffer.encode()), encoding="utf-8"))
        arguments = [f"--load-plugins={PLUGIN}", "--persistent=n", "--clear-cache-post-run=y", *only, *words]
        Run(arguments, reporter=JSONReporter(out), exit=False)
        found: list[Message] = json.loads(out.getvalue())
        return found

    return run


def _symbols(messages: list[Message]) -> list[str]:
    return sorted(message["symbol"] for message in messages)


def _as_findings(messages: list[Message]) -> list[tuple[Any, ...]]:
    return sorted(
        (m["line"], m["column"] + 1, m["endLine"], m["endColumn"] + 1, m["symbol"], m["message"]) for m in messages
    )


def _by_command_line(capsys: pytest.CaptureFixture[str], *paths: str) -> list[tuple[Any, ...]]:
    main(["check", "--no-cache", "--output-format", "json", *paths])
    found = json.loads(capsys.readouterr().out)["findings"]
    keys = ("line", "column", "end_line", "end_column", "slug", "message")
    return sorted(tuple(finding[key] for key in keys) for finding in found)


def _linter(*, with_plugin: bool) -> PyLinter:
    linter = PyLinter()
    linter.load_default_plugins()
    import pylint.extensions

    names = [path.stem for path in Path(pylint.extensions.__path__[0]).glob("[a-z]*.py")]
    linter.load_plugin_modules([f"pylint.extensions.{name}" for name in names])
    if with_plugin:
        register(linter)
    return linter


# -- messages ----------------------------------------------------------------------------------------------------------


def test_a_slug_is_no_symbol_of_pylints_own() -> None:
    """A symbol that is taken, was deleted or has moved ends pylint, or disables something else."""
    taken = {message.symbol for message in _linter(with_plugin=False).msgs_store.messages}
    taken |= {old for message in _linter(with_plugin=False).msgs_store.messages for _, old in message.old_names}
    for messages in (*gone.DELETED_MESSAGES_IDS.values(), *gone.MOVED_TO_EXTENSIONS.values()):
        taken |= {name for message in messages for name in (message.symbol, *(old for _, old in message.old_names))}

    assert set() == taken & set(registry.codes().values())


def test_every_rule_of_a_file_has_a_message() -> None:
    """Only what a run of the model finds has none; pylint runs nothing."""
    store = _linter(with_plugin=True).msgs_store
    known = {m.symbol: m.msgid for m in store.messages if m.checker_name == "migrate-lint"}
    codes = {slug: code for code, slug in registry.codes().items() if code not in {"TF907", "TF908"}}

    assert codes.keys() | {"migrate-lint-configuration"} == known.keys()
    assert {slug: code[2:] for slug, code in codes.items()} == {slug: known[slug][2:] for slug in codes}
    assert {"7"} == {msgid[1] for msgid in known.values()}


def test_a_message_id_shows_the_rules_own_severity() -> None:
    """An error is E, a warning W and an info C."""
    rules = {rule.code: rule for rule in documented_rules()}
    assert "E7101" == message_id(rules["TF101"])
    assert "W7901" == message_id(rules["TF901"])
    assert {"error": "E", "warning": "W", "info": "C"} == {
        rule.severity.value: message_id(type(rule))[0] for rule in registry.all_rules()
    }


def test_pylint_explains_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    """`--help-msg` prints the summary and the reason."""
    with pytest.raises(SystemExit):
        Run([f"--load-plugins={PLUGIN}", "--help-msg=variable-in-call"])
    shown = capsys.readouterr().out

    assert ":variable-in-call (E7101):" in shown
    assert "belongs to the migrate-lint checker" in shown


# -- the same findings -------------------------------------------------------------------------------------------------


def test_an_editor_gets_the_findings_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The command is the one of VS Code's extension; the buffer is what is on disk.

    One file is linted by all checks of pylint, which take their time in TensorFlow.
    """
    for path in sorted((ROOT / "examples" / "half_migrated").glob("*.py")):
        words = [*EDITOR, f"--load-plugins={PLUGIN}", *(() if path.stem == "train" else ONLY_OURS)]
        command = [sys.executable, "-m", "pylint", *words, "--from-stdin", str(path)]
        done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=False, timeout=900)
        ours = [message for message in json.loads(done.stdout) if message["message-id"][1] == "7"]

        assert _by_command_line(capsys, str(path)) == _as_findings(ours)
        assert b"" == done.stderr


def test_the_buffer_is_linted_and_not_the_disk(lint: Lint) -> None:
    """What an editor has not saved yet counts."""
    Path("model.py").write_text("x = 1\n")

    assert ["variable-in-call"] == _symbols(lint("model.py", buffer=LAYER))
    assert [] == lint("model.py")


def test_the_project_around_the_buffer_is_known(lint: Lint) -> None:
    """The base class that makes it a layer is in another file."""
    Path("base.py").write_text(BASE)

    assert ["variable-in-call"] == _symbols(lint("derived.py", buffer=DERIVED))


def test_a_buffer_needs_no_file_and_no_project(lint: Lint, tmp_path: Path) -> None:
    """New files have names that do not exist, in folders that are marked as nothing or are not there."""
    (tmp_path / "loose").mkdir()

    assert ["variable-in-call"] == _symbols(lint(str(tmp_path / "loose" / "new.py"), buffer=LAYER))
    assert ["variable-in-call"] == _symbols(lint(str(tmp_path / "nowhere" / "new.py"), buffer=LAYER))


def test_a_syntax_error_is_pylints_own(lint: Lint) -> None:
    """Pylint calls no plugin for such a file."""
    assert ["E0001"] == [message["message-id"] for message in lint("model.py", buffer=f"{LAYER}def f(:\n")]


def test_files_of_one_run_share_the_project(
    lint: Lint, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is linted by itself, all others within a project that is joined once; the findings are the same."""
    Path("base.py").write_text(BASE)
    Path("plain.py").write_text("x = 1\n")
    for name in ("one", "two", "three"):
        Path(f"{name}.py").write_text(DERIVED)
    joined: list[str] = []
    join = Workspace._joined
    monkeypatch.setattr(Workspace, "_joined", lambda self: joined.append(self.root) or join(self))  # type: ignore[func-returns-value]
    messages = lint("base.py", "plain.py", "one.py", "two.py", "three.py")

    assert [os.getcwd()] == joined
    assert _by_command_line(capsys, ".") == _as_findings(messages)
    assert {"one", "two", "three"} == {message["module"] for message in messages}


def test_a_module_is_linted_once_for_all_checkers(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are six checkers, and one engine."""
    checked: list[str] = []
    check = Workspace.check

    def counted(self: Workspace, path: str, *rest: Any) -> engine.FileResult:
        checked.append(path)
        return check(self, path, *rest)

    monkeypatch.setattr(Workspace, "check", counted)
    Path("model.py").write_text(f"{LAYER}tf.placeholder(tf.float32)\n")

    assert ["placeholder", "variable-in-call"] == _symbols(lint("model.py"))
    assert [os.path.abspath("model.py")] == checked


def test_the_plugin_is_there_once() -> None:
    """Processes of pylint 3 load it again into a copy that has it; nothing is then found twice."""
    linter = _linter(with_plugin=True)
    before = [checker for checker in linter.get_checkers() if checker.name == "migrate-lint"]
    register(linter)

    assert before == [checker for checker in linter.get_checkers() if checker.name == "migrate-lint"]


def test_two_processes_find_what_one_finds() -> None:
    """A worker of `--jobs` registers the plugin anew."""
    Path("base.py").write_text(BASE)
    for number in range(6):
        Path(f"derived{number}.py").write_text(DERIVED)
    names = sorted(path.name for path in Path().glob("*.py"))

    def run(jobs: int) -> list[Message]:
        words = [f"--jobs={jobs}", "--persistent=n", *ONLY_OURS, "--output-format=json", *names]
        command = [sys.executable, "-m", "pylint", f"--load-plugins={PLUGIN}", *words]
        done = subprocess.run(command, capture_output=True, check=False, timeout=900)
        assert b"" == done.stderr
        return sorted(json.loads(done.stdout), key=lambda message: str(message["path"]))

    alone = run(1)

    assert 6 == len(alone)
    assert alone == run(2)


# -- places ------------------------------------------------------------------------------------------------------------


def test_columns_count_characters_from_zero(lint: Lint) -> None:
    """As editors read them; the end is exclusive."""
    buffer = LAYER.replace("return x", "naïve, y = 'äöü', x").replace("2.0)", "2.0)  # y")
    (message,) = lint("model.py", buffer=buffer)
    line = buffer.splitlines()[5]
    start = line.index("tf.Variable")

    assert (6, start) == (message["line"], message["column"])
    assert (6, line.index(")") + 1) == (message["endLine"], message["endColumn"])


def test_a_buffer_is_read_as_pylint_reads_it(lint: Lint) -> None:
    """An editor passes UTF-8, whatever encoding the file declares."""
    buffer = "# coding: latin-1\n" + LAYER.replace("return x", "return ('äöü', x)[1]")
    (message,) = lint("model.py", buffer=buffer)

    assert buffer.splitlines()[6].index("tf.Variable") == message["column"]


def test_a_message_names_the_function_around_it(lint: Lint) -> None:
    """As those of pylint do."""
    buffer = LAYER.replace("        return", "        if x:\n            return")
    (message,) = lint("model.py", buffer=f"{buffer}")

    assert "Scale.call" == message["obj"]


# -- selection and suppression -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["variable-in-call", "E7101", "migrate-lint"])
def test_pylint_disables_a_rule_in_a_comment(lint: Lint, name: str) -> None:
    """By its slug, its id, or with all others by the name of the checkers."""
    here = LAYER.replace("2.0)", f"2.0)  # pylint: disable={name}")
    method = LAYER.replace("(self, x):", f"(self, x):\n        # pylint: disable={name}")

    assert [] == lint("model.py", buffer=here)
    assert [] == lint("model.py", buffer=method)


def test_pylint_says_which_of_its_comments_hides_nothing(lint: Lint) -> None:
    """A comment in use is not among them."""
    buffer = LAYER.replace("2.0)", "2.0)  # pylint: disable=variable-in-call, layer-in-call")
    messages = lint("model.py", "--enable=useless-suppression", buffer=buffer)

    assert ["Useless suppression of 'layer-in-call'"] == [message["message"] for message in messages]


def test_our_own_comments_hide_findings_too(lint: Lint) -> None:
    """And are judged as on the command line."""
    used = LAYER.replace("2.0)", "2.0)  # migrate-lint: disable=TF101")
    unused = LAYER.replace("2.0)", "2.0)  # noqa: TF101, TF102")

    assert [] == lint("model.py", buffer=used)
    assert [("unused-suppression", "W7901")] == [
        (message["symbol"], message["message-id"]) for message in lint("model.py", buffer=unused)
    ]


def test_one_enabled_rule_is_enough(lint: Lint) -> None:
    """Pylint opens only the checkers whose messages are enabled."""
    only = ("--disable=all", "--enable=placeholder")

    assert ["placeholder"] == _symbols(lint("model.py", buffer=f"{LAYER}tf.placeholder()\n", only=only))


def test_rules_are_selected_by_options(lint: Lint) -> None:
    """Select starts anew, ignore adds, as on the command line."""
    buffer = f"{LAYER}tf.placeholder(tf.float32)\n"
    Path("migrate-lint.toml").write_text('ignore = ["TF4"]\n')

    assert ["variable-in-call"] == _symbols(lint("model.py", buffer=buffer))
    assert ["placeholder", "variable-in-call"] == _symbols(lint("m.py", "--migrate-lint-select=ALL", buffer=buffer))
    assert ["placeholder"] == _symbols(lint("m.py", "--migrate-lint-select=placeholder,TF2", buffer=buffer))
    assert [] == lint("m.py", "--migrate-lint-ignore=TF101", buffer=buffer)


def test_options_stand_in_pylints_configuration(lint: Lint) -> None:
    """In any of the files that pylint reads."""
    Path("pylintrc").write_text("[MIGRATE-LINT]\nmigrate-lint-ignore=TF101, TF102\n")

    assert [] == lint("model.py", "--rcfile=pylintrc", buffer=LAYER)


def test_the_target_is_an_option(lint: Lint) -> None:
    """Before the configuration, which stands before what the project requires."""
    buffer = "import tensorflow as tf\ny = tf.compat.v1.layers.dense(1, 2)\n"

    assert "v1-layers-keras3" in _symbols(lint("m.py", buffer=buffer))
    Path("requirements.txt").write_text("tensorflow==2.12\n")
    assert "v1-layers-keras3" not in _symbols(lint("m.py", buffer=buffer))
    Path("migrate-lint.toml").write_text('target = "keras3"\n')
    assert "v1-layers-keras3" in _symbols(lint("m.py", buffer=buffer))
    assert "v1-layers-keras3" not in _symbols(lint("m.py", "--migrate-lint-target=keras2", buffer=buffer))


def test_what_the_configuration_leaves_out_is_silent(lint: Lint) -> None:
    """Excludes and ignores of single files hold in an editor, too."""
    Path("migrate-lint.toml").write_text('exclude = ["third_party/"]\n[per-file-ignores]\n"old_*" = ["TF101"]\n')

    assert [] == lint("third_party/deep/model.py", buffer=LAYER)
    assert [] == lint("old_model.py", buffer=LAYER)
    assert ["variable-in-call"] == _symbols(lint("model.py", buffer=LAYER))


@pytest.mark.parametrize(
    ("words", "configuration"), [(("--migrate-lint-select=TF01",), ""), ((), 'ignore = ["variable-in-cal"]')]
)
def test_a_wrong_setting_is_one_message(lint: Lint, words: tuple[str, ...], configuration: str) -> None:
    """Pylint goes on with its own checks."""
    Path("migrate-lint.toml").write_text(configuration)
    for name in ("one.py", "two.py"):
        Path(name).write_text(f"{LAYER}undefined\n")
    messages = lint("one.py", "two.py", *words, only=("--disable=all", "--enable=migrate-lint,undefined-variable"))

    assert ["migrate-lint-configuration", "undefined-variable", "undefined-variable"] == _symbols(messages)
    assert "did you mean" in "".join(message["message"] for message in messages)


def test_a_crash_is_a_message(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pylint goes on with its own checks."""

    def crash(self: Workspace, *_: object) -> None:
        raise RuntimeError("100 %s\n")

    monkeypatch.setattr(Workspace, "check", crash)
    only = ("--disable=all", "--enable=migrate-lint,undefined-variable")
    messages = {m["symbol"]: m["message"] for m in lint("m.py", buffer=f"{LAYER}undefined\n", only=only)}

    assert {"internal-error", "undefined-variable"} == messages.keys()
    assert messages["internal-error"].startswith(r"RuntimeError: 100 %s\n; ")


def test_pylint_keeps_its_recursion_limit(lint: Lint) -> None:
    """Its inference stops at it, and would find other things beyond."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1234)
    try:
        lint("model.py", buffer=LAYER)
        assert 1234 == sys.getrecursionlimit()
    finally:
        sys.setrecursionlimit(before)


# -- a running pylint --------------------------------------------------------------------------------------------------


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of Python files that were read or parsed."""
    names: list[str] = []
    read_bytes, parse = reading.read_bytes, parsing.parse_source

    def noted_read(path: Path | str, *limit: int) -> bytes:
        if str(path).endswith(".py"):
            names.append(os.path.basename(path))
        return read_bytes(path, *limit)

    def noted_parse(text: parsing.SourceFile) -> Any:
        names.append(text.path.name)
        return parse(text)

    monkeypatch.setattr(reading, "read_bytes", noted_read)
    monkeypatch.setattr(engine, "read_bytes", noted_read)
    monkeypatch.setattr(facts, "parse_source", noted_parse)
    return names


def test_a_buffer_is_linted_again_without_reading_the_project(lint: Lint, read: list[str]) -> None:
    """Each edit parses the buffer alone."""
    Path("base.py").write_text(BASE)
    for number in range(5):
        Path(f"other{number}.py").write_text(DERIVED)
    lint("derived.py", buffer=DERIVED)
    assert {"base.py", "derived.py"} < set(read)
    read.clear()

    assert ["variable-in-call"] == _symbols(lint("derived.py", buffer=f"{DERIVED}\n\nx = 1\n"))
    assert ["derived.py"] == read


def test_a_file_that_was_saved_is_read_again(lint: Lint, read: list[str]) -> None:
    """And no other; so are new files, and those that are gone are forgotten."""
    Path("base.py").write_text(BASE)
    Path("other.py").write_text(DERIVED)
    assert ["variable-in-call"] == _symbols(lint("derived.py", buffer=DERIVED))
    Path("base.py").write_text(BASE.replace("tf.keras.layers.Layer", "object"))
    read.clear()

    assert [] == lint("derived.py", buffer=DERIVED)
    assert "other.py" not in read
    Path("base.py").write_text(BASE)
    assert ["variable-in-call"] == _symbols(lint("derived.py", buffer=DERIVED))
    Path("base.py").unlink()
    assert [] == lint("derived.py", buffer=DERIVED)


def test_a_process_without_a_cache_folder_keeps_its_own(
    lint: Lint, read: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home that cannot be written does not make every edit read the project."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    Path("base.py").write_text(BASE)
    lint("derived.py", buffer=DERIVED)
    read.clear()

    assert ["variable-in-call"] == _symbols(lint("derived.py", buffer=f"{DERIVED}\n"))
    assert ["derived.py"] == read


def test_few_projects_are_kept(tmp_path: Path) -> None:
    """The one that was asked for longest ago goes first."""
    found = []
    for number in range(6):
        folder = tmp_path / f"project{number}"
        folder.mkdir()
        (folder / "setup.py").write_text("")
        found.append(workspace_of(str(folder / "model.py")))

    assert [one.root for one in found[2:]] == [one.root for one in workspace._kept]
    assert found[5] is workspace_of(str(tmp_path / "project5" / "x.py"))


def test_a_scratch_file_does_not_make_a_project_of_a_home(
    lint: Lint, read: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies beside it is known, and nothing below."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "work" / "deep.py").write_text(BASE)

    assert ["variable-in-call"] == _symbols(lint(str(tmp_path / "scratch.py"), buffer=DERIVED))
    assert "base.py" in read
    assert "deep.py" not in read
