"""Rules of other packages and of a project's own folder: found, checked, isolated, and known to everything."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.registry import registry
from migrate_lint.linter.run import pipeline as run
from migrate_lint.linter.run import pool
from migrate_lint.linter.settings.config import Config, ConfigError

Captured = pytest.CaptureFixture[str]

RULE = '''
from __future__ import annotations

from collections.abc import Iterator

from migrate_lint.linter.rule_api.model import Call
from migrate_lint.linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity


class Spoken(Rule):
    """Acme's models do not speak.

    ## Why
    Nobody listens.

    ## Example
    ```py
    tf.print("x")
    ```

    ## Fix
    ```py
    x
    ```

    ## Source
    https://example.org/acme
    """

    code = "TFACME101"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    calls = ("tensorflow.print",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        yield self.report(call, "this speaks")
'''
MODEL = 'import tensorflow as tf\n\ntf.print("x")\n'


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has a place for packages, a project with a model, and a registry that has seen nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(registry.ALLOWED, raising=False)
    (tmp_path / "site").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.chdir(tmp_path / "project")
    Path("model.py").write_text(MODEL)
    Path("pyproject.toml").write_text("[project]\nname = 'p'\n")
    _forget()
    yield
    sys.path.remove(str(tmp_path / "site"))
    _forget()


def _forget() -> None:
    registry.configure(Config(base=os.getcwd()))
    registry.forget()
    for name in [name for name in sys.modules if name.startswith(("acme", "other_rules", "migrate_lint_rules_"))]:
        del sys.modules[name]


def _install(site: Path, modules: dict[str, str], name: str = "acme-lint", entry: str = "acme_lint.rules") -> None:
    """Put down what pip would: the package and its metadata."""
    for module, text in modules.items():
        path = site / module
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    metadata = site / f"{name.replace('-', '_')}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (metadata / "entry_points.txt").write_text(f"[migrate_lint.rules]\nrules = {entry}\n")
    registry.forget()


def _acme(tmp_path: Path, rule: str = RULE, module: str = "spoken", **more: str) -> None:
    modules = {"acme_lint/__init__.py": "", "acme_lint/rules/__init__.py": "", f"acme_lint/rules/{module}.py": rule}
    _install(tmp_path / "site", modules | {f"acme_lint/rules/{name}.py": text for name, text in more.items()})


def _found(*words: str) -> list[str]:
    main(["--output-format", "json", "--output-file", "found.json", *words])
    report = json.loads(Path("found.json").read_text())
    return [f"{finding['path']}:{finding['line']} {finding['code']}" for finding in report["findings"]]


def test_the_rules_of_a_package_run(tmp_path: Path, capsys: Captured) -> None:
    """Installing the package is all that it takes; findings look like any other."""
    _acme(tmp_path)

    assert 1 == main(["-q", "--output-format", "concise"])
    assert "model.py:3:1: TFACME101[spoken] warning this speaks\n" == capsys.readouterr().out


def test_a_single_module_may_be_announced(tmp_path: Path) -> None:
    """A package with one rule needs no folder."""
    _install(tmp_path / "site", {"acme_spoken.py": RULE}, entry="acme_spoken")

    assert ["model.py:3 TFACME101"] == _found()


def test_knowing_the_codes_imports_nothing_of_theirs(tmp_path: Path) -> None:
    """They are read off the source, and not even the packages around the rules are imported."""
    _acme(tmp_path)

    assert "spoken" == registry.codes()["TFACME101"]
    assert [] == [name for name in sys.modules if name.startswith("acme")]


def test_without_such_packages_the_metadata_library_is_not_imported(tmp_path: Path) -> None:
    """It costs half of what a start costs."""
    script = (
        "import sys\n"
        "sys.modules.pop('importlib.metadata', None)\n"  # an editable installation may have imported it
        "from migrate_lint.linter.registry.registry import codes, has_others\n"
        "codes()\n"
        "print(has_others(), 'importlib.metadata' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-c", script]

    def answer() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    assert "False False\n" == answer()
    _acme(tmp_path)
    assert "True True\n" == answer()


def test_all_of_the_command_line_knows_them(tmp_path: Path, capsys: Captured) -> None:
    """Selection by code, slug and prefix, the list, the explanation and the version."""
    _acme(tmp_path)

    assert ["model.py:3 TFACME101"] == _found("--select", "TFACME")
    assert [] == _found("--ignore", "spoken")
    assert [] == _found("--select", "TF1")
    capsys.readouterr()
    assert 0 == main(["rule"])
    assert "TFACME101  spoken " in capsys.readouterr().out
    assert 0 == main(["rule", "spoken"])
    assert "Nobody listens." in capsys.readouterr().out
    assert 0 == main(["--version"])
    assert re.search(r"^rule set [0-9a-f]{12}: 1 rule of acme-lint 1\.2$", capsys.readouterr().out, re.M)


@pytest.mark.parametrize(
    "comment", ["# migrate-lint: disable=TFACME101", "# noqa: TFACME101", "# noqa: E501,TFACME101"]
)
def test_comments_hide_them(comment: str, tmp_path: Path) -> None:
    """With the code or the slug, in every form."""
    _acme(tmp_path)
    Path("model.py").write_text(MODEL.replace('("x")', f'("x")  {comment}'))

    assert [] == _found()


def test_a_comment_that_hides_nothing_of_theirs_is_told(tmp_path: Path) -> None:
    """TF901 judges their codes as it judges ours; what no rule has in a noqa may be another linter's."""
    _acme(tmp_path)
    Path("model.py").write_text("import tensorflow as tf  # noqa: TFACME101\n\nx = 1  # noqa: TFOTHER101\n")

    assert ["model.py:1 TF901"] == _found()


def test_reports_show_them(tmp_path: Path) -> None:
    """Every format has their words."""
    _acme(tmp_path)

    for name in ("text", "concise", "github", "html", "sarif", "gitlab", "junit"):
        assert 1 == main(["--output-format", name, "--output-file", f"report.{name}"])
        assert "TFACME101" in Path(f"report.{name}").read_text("utf-8")


def test_kept_findings_end_with_the_code_that_made_them(tmp_path: Path) -> None:
    """An edit anywhere in the package counts, and so does the package's going."""
    _acme(tmp_path)
    assert ["model.py:3 TFACME101"] == _found() == _found()

    rule = tmp_path / "site" / "acme_lint" / "rules" / "spoken.py"
    rule.write_text(RULE.replace("tensorflow.print", "tensorflow.prints_not"))
    _forget()
    assert [] == _found()

    rule.write_text(RULE)
    _forget()
    assert ["model.py:3 TFACME101"] == _found()

    (tmp_path / "site" / "acme_lint-1.2.dist-info" / "entry_points.txt").write_text("")
    _forget()
    assert [] == _found()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_have_them(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of packages and those of the project, however a process starts."""
    _acme(tmp_path)
    _own("lint/rules/shouted.py", RULE.replace("TFACME101", "TFOWN102").replace("Spoken", "Shouted"))
    for number in range(7):
        Path(f"m{number}.py").write_text(MODEL)
    monkeypatch.setenv(registry.ALLOWED, "1")
    monkeypatch.setattr(pool, "_context", lambda: multiprocessing.get_context(method))
    names = ["model.py", *(f"m{number}.py" for number in range(7))]

    found = _found("--jobs", "2", "--no-cache")

    assert sorted(f"{name}:3 {code}" for name in names for code in ("TFACME101", "TFOWN102")) == sorted(found)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_rule_that_crashes_takes_no_other_down(tmp_path: Path, capsys: Captured) -> None:
    """It is a TF909 that names it, and the status is 2."""
    _acme(tmp_path, RULE.replace('yield self.report(call, "this speaks")', "raise KeyError('oh')"))
    _install(tmp_path / "site", {"other_rules.py": RULE.replace("TFACME101", "TFOTH101")}, "other", "other_rules")

    assert 2 == main(["-q", "--output-format", "concise", "--no-cache"])

    out = capsys.readouterr().out
    assert "TF909[internal-error] error TFACME101 (spoken) crashed at spoken.py:" in out
    assert "TFOTH101[other-rules] warning this speaks" in out


@pytest.mark.parametrize(
    "fault", ["raise OSError('no <licence>')", "import acme_is_not_here", "def (:", "raise SystemExit"]
)
def test_a_module_that_cannot_be_loaded_takes_no_other_down(fault: str, tmp_path: Path, capsys: Captured) -> None:
    """Said at the line that raised, in every run until it is mended: nothing is kept of such a run."""
    _acme(tmp_path, broken=RULE.replace("TFACME101", "TFACME102") + f"\n\n{fault}\n")
    line = (RULE + "\n\n").count("\n") + 1

    for _ in range(2):
        assert 2 == main(["-q", "--output-format", "concise"])
        out = capsys.readouterr().out
        assert f"acme_lint/rules/broken.py:{line}:1: TF909" in out
        assert "acme_lint.rules.broken of acme-lint 1.2 could not be loaded, and its rule did not run: " in out
        assert "model.py:3:1: TFACME101" in out
        _forget()
    assert 0 == main(["rule"])
    assert "could not be loaded" in capsys.readouterr().err


def test_a_rule_that_was_not_loaded_makes_no_comment_useless(tmp_path: Path) -> None:
    """Whether the comment hides something is not known."""
    _acme(tmp_path, RULE + "\nraise OSError\n")
    Path("model.py").write_text(MODEL.replace('("x")', '("x")  # migrate-lint: disable=TFACME101'))

    assert ["TF909"] == [line.rpartition(" ")[2] for line in _found()]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("TFACME101", "TF150", "the code of a rule is to be TF, capital letters of its own and three digits, such as"),
        ("TFACME101", "ACME101", "not 'ACME101'"),
        ('code = "TFACME101"', 'code = "TFACME" + "101"', "the code is to be written as text in the class"),
        ("## Why", "## Because", "docstring sections are"),
        ("severity = Severity.WARNING", 'severity = "warning"', "severity is to be a Severity"),
        ("consequence = Consequence.CHANGES", "", "consequence is to be a Consequence"),
        ('    code = "', '    targets = ()\n    code = "', "targets is to be a frozenset of Target"),
        ('    code = "', '    supersedes = "TF406"\n    code = "', "supersedes is to be a tuple of codes, not 'TF406'"),
        ('    code = "', '    beside = "TF406"\n    code = "', "beside is to be a tuple of codes, not 'TF406'"),
        (
            '    calls = ("tensorflow.print",)\n',
            "",
            "TFACME101 (spoken) can never be asked: on_call is not called without calls or methods or creates",
        ),
        ('("tensorflow.print",)', '("tensorflow.print")', "calls is to be a tuple of names, not 'tensorflow.print'"),
        ('("tensorflow.print",)', '("tf_keras.Model",)', "the canonical name of tf_keras.Model is keras.Model"),
        ('    code = "', '    imports = ("keras",)\n    code = "', "imports is set, and on_import is not defined"),
        ('    code = "', '    assigns = ("field",)\n    code = "', "assigns is to have some of name, attribute, item"),
        (
            "    def on_call",
            "    def on_project",
            "none of on_call, on_reference, on_import, on_assignment, on_class, on_f",
        ),
        (
            "    def on_call",
            "    @classmethod\n    def slug(cls) -> str:\n        return 'x'\n\n    def on_call",
            "the slug is to be the module's name, spoken, not 'x'",
        ),
    ],
)
def test_a_rule_that_is_not_as_it_has_to_be_is_refused(
    before: str, after: str, message: str, tmp_path: Path, capsys: Captured
) -> None:
    """With the package, the module and what is wanted, before anything is reported."""
    _acme(tmp_path, RULE.replace(before, after, 1))

    assert 2 == main(["--no-cache"])
    printed = capsys.readouterr()
    assert "" == printed.out
    assert "acme_lint.rules.spoken of acme-lint 1.2: " in printed.err
    assert message in printed.err


def test_a_module_holds_one_rule(tmp_path: Path) -> None:
    """Its name is the slug, of which there is one."""
    second = RULE[RULE.index("class ") :].replace("TFACME101", "TFACME102").replace("Spoken", "Second")
    _acme(tmp_path, RULE + "\n\n" + second)

    with pytest.raises(ConfigError, match="this module holds 2 rules"):
        registry.all_rules()


def test_a_code_is_given_once(tmp_path: Path, capsys: Captured) -> None:
    """Both packages are named."""
    _acme(tmp_path)
    _install(tmp_path / "site", {"other_rules.py": RULE}, "other", "other_rules")

    assert 2 == main([])
    assert (
        "other_rules of other 1.2: the code TFACME101 is taken by acme_lint.rules.spoken of acme-lint 1.2"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(("module", "owner"), [("variable_in_call", "TF101"), ("unparsable_file", "TF900")])
def test_our_slugs_are_ours(module: str, owner: str, tmp_path: Path, capsys: Captured) -> None:
    """Users write slugs in place of codes."""
    _acme(tmp_path, module=module)

    assert 2 == main([])
    slug = module.replace("_", "-")
    assert (
        f"acme_lint.rules.{module} of acme-lint 1.2: the slug {slug} is taken by {owner}\n" in capsys.readouterr().err
    )


def test_a_slug_is_given_once(tmp_path: Path, capsys: Captured) -> None:
    """Folders do not make slugs differ."""
    _acme(tmp_path)
    (tmp_path / "site" / "acme_lint" / "rules" / "more").mkdir()
    (tmp_path / "site" / "acme_lint" / "rules" / "more" / "spoken.py").write_text(RULE.replace("TFACME1", "TFACME2"))

    assert 2 == main([])
    assert "the slug spoken is taken by acme_lint.rules." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("acme_gone.rules", "names acme_gone.rules, which has no source here"),
        ("acme_lint.rules:RULES", "names acme_lint.rules:RULES, and is to name a module"),
    ],
)
def test_an_entry_point_names_a_module(entry: str, message: str, tmp_path: Path, capsys: Captured) -> None:
    """The package that names anything else is named."""
    _install(tmp_path / "site", {"acme_lint/__init__.py": "", "acme_lint/rules/__init__.py": ""}, entry=entry)

    assert 2 == main([])
    assert f"acme-lint 1.2: the entry point rules {message}" in capsys.readouterr().err


def test_what_lies_in_the_working_folder_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A linted tree may bring metadata of its own, and nothing that is linted runs."""
    _install(Path.cwd(), {"acme_spoken.py": "raise SystemExit('this ran')"}, entry="acme_spoken")
    monkeypatch.syspath_prepend(os.getcwd())
    registry.forget()

    assert [] == _found("model.py")
    assert "acme_spoken" not in sys.modules


# -- a project's own rules ---------------------------------------------------------------------------------------------


def _own(path: str, text: str, config: str = 'rules = ["lint/rules"]\n') -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)
    Path("migrate-lint.toml").write_text(config)


def test_a_projects_rules_run_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """By the command line or by the environment; they are listed where they run, and import each other."""
    own = RULE.replace('"this speaks"', "WORDS").replace(
        "from migrate_lint.linter.rule_api.model",
        "from .vocabulary import WORDS\nfrom migrate_lint.linter.rule_api.model",
    )
    _own("lint/rules/vocabulary.py", 'WORDS = "own words"\n')
    _own("lint/rules/speech/vocabulary.py", 'WORDS = "own words"\n')
    _own("lint/rules/speech/spoken.py", own)

    assert 1 == main(["model.py", "-q", "--output-format", "concise", "--allow-project-rules"])
    assert "TFACME101[spoken] warning own words" in capsys.readouterr().out
    assert 0 == main(["rule", "--allow-project-rules", "TFACME101"])
    assert 0 == main(["--show-settings", "--allow-project-rules"])
    assert "rules: lint/rules\n" in capsys.readouterr().out
    monkeypatch.setenv(registry.ALLOWED, "1")
    assert 1 == main(["model.py"])


def test_a_projects_rules_are_left_out_aloud(capsys: Captured) -> None:
    """Nothing of them runs, even where the output is to be quiet; their names are no mistakes."""
    _own(
        "lint/rules/spoken.py",
        "raise SystemExit('this ran')\n" + RULE,
        'rules = ["lint/rules"]\nignore = ["TFACME101"]\n\n[per-file-ignores]\n"a" = ["spoken"]\n',
    )
    Path("model.py").write_text(MODEL.replace('("x")', '("x")  # migrate-lint: disable=TFACME101'))

    assert 0 == main(["model.py", "-q"])

    printed = capsys.readouterr()
    assert "" == printed.out
    assert (
        "migrate-lint.toml: the rules in lint/rules were not loaded, since that runs code of the project; "
        "--allow-project-rules or MIGRATE_LINT_ALLOW_PROJECT_RULES=1 allows it\n"
    ) in printed.err
    assert 0 == main(["rule"])
    printed = capsys.readouterr()
    assert "TFACME101" not in printed.out
    assert "were not loaded" in printed.err


@pytest.mark.parametrize("value", ["0", "true", ""])
def test_the_environment_allows_with_1_alone(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not clearly meant is not done."""
    _own("lint/rules/spoken.py", RULE)
    monkeypatch.setenv(registry.ALLOWED, value)

    assert [] == _found("model.py")


def test_a_projects_rule_is_named_by_its_file(capsys: Captured) -> None:
    """A crash at import and a mistake in the class alike."""
    _own("lint/rules/deep/spoken.py", RULE + "\nraise OSError('oh')\n")

    assert 2 == main(["-q", "--allow-project-rules", "model.py"])
    assert "lint/rules/deep/spoken.py could not be loaded, and its rule did not run: OSError: oh" in (
        capsys.readouterr().out
    )
    _own("lint/rules/deep/spoken.py", RULE.replace("TFACME101", "TF101"))
    _forget()
    assert 2 == main(["-q", "--allow-project-rules", "model.py"])
    assert "lint/rules/deep/spoken.py: the code of a rule is to be TF, capital" in capsys.readouterr().err


def test_without_a_configuration_there_are_none(capsys: Captured) -> None:
    """An isolated run neither loads nor mentions them."""
    _own("lint/rules/spoken.py", RULE)

    assert 0 == main(["--isolated", "--allow-project-rules", "model.py"])
    assert "" == capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--allow-project-rules"]])
def test_a_folder_of_rules_that_is_none_is_an_error(words: list[str], capsys: Captured) -> None:
    """Allowed or not."""
    Path("migrate-lint.toml").write_text('rules = ["lint/rules"]\n')

    assert 2 == main(words)
    assert "migrate-lint.toml: lint/rules: there is no such folder of rules" in capsys.readouterr().err


def test_what_is_not_allowed_is_not_read_far_and_wide(capsys: Captured) -> None:
    """A configuration may name any folder, and a folder may hold anything."""
    _own("lint/rules/spoken.py", RULE, 'rules = ["/", "lint/rules"]\n')
    assert 0 == main(["model.py"])
    assert "the rules in /, lint/rules were not loaded" in capsys.readouterr().err

    os.mkfifo("lint/rules/fifo.py")
    assert 2 == main(["model.py"])
    assert "lint/rules/fifo.py: " in capsys.readouterr().err


def test_kept_findings_end_with_the_projects_rules() -> None:
    """An edit of a rule counts, and so does its being allowed."""
    _own("lint/rules/spoken.py", RULE)
    allowed = ["--allow-project-rules", "model.py"]
    assert [] == _found("model.py")
    assert ["model.py:3 TFACME101"] == _found(*allowed)
    assert [] == _found("model.py")

    Path("lint/rules/spoken.py").write_text(RULE.replace("tensorflow.print", "tensorflow.none"))
    _forget()
    assert [] == _found(*allowed)


def test_processes_start_with_what_the_run_uses() -> None:
    """The Python interface is told of the folders, too."""
    _own("lint/rules/spoken.py", RULE)
    config = Config(base=os.getcwd(), path="migrate-lint.toml", rules=("lint/rules",))

    left_out = registry.configure(config)
    assert left_out is not None
    assert () == run.lint(["model.py"], config).findings
    assert registry.configure(config, allow=True) is None
    assert ["TFACME101"] == [finding.code for finding in run.lint(["model.py"], config).findings]


# -- pylint ------------------------------------------------------------------------------------------------------------


def _pylint(tmp_path: Path, **environment: str) -> list[tuple[str, str, int]]:
    pytest.importorskip("pylint")
    plugin = "--load-plugins=migrate_lint.linter.pylint_plugin"
    words = [plugin, "--disable=all", "--enable=migrate-lint", "--output-format=json", "model.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pylint", *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")} | environment,
    )
    assert done.stdout, done.stderr
    return [(message["message-id"], message["symbol"], message["line"]) for message in json.loads(done.stdout)]


def test_pylint_has_them(tmp_path: Path) -> None:
    """Under ids that no rule of ours has; comments and options use the slug."""
    _acme(tmp_path, other=RULE.replace("TFACME101", "TFACME102").replace("WARNING", "ERROR"))

    assert [("E8002", "other", 3), ("W8001", "spoken", 3)] == sorted(_pylint(tmp_path))


def test_pylint_has_a_projects_where_the_environment_allows_it(tmp_path: Path) -> None:
    """There is no option for it: pylint's configuration is the project's own. Their codes are known in any case."""
    _own("lint/rules/spoken.py", RULE, 'rules = ["lint/rules"]\nextend-select = ["TFACME101"]\n')

    assert [] == _pylint(tmp_path)
    assert [("W8001", "spoken", 3)] == _pylint(tmp_path, MIGRATE_LINT_ALLOW_PROJECT_RULES="1")


def test_pylint_tells_of_a_rule_that_could_not_be_loaded(tmp_path: Path) -> None:
    """At the first line of the file that it did not judge."""
    _acme(tmp_path, RULE + "\nraise OSError\n")

    assert [("E7909", "internal-error", 1)] == _pylint(tmp_path)
