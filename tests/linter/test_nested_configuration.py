"""Configurations that extend others, and those of folders below the one in which a run begins."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import _check_parser, _stamps, main
from migrate_lint.linter.run.workspace import Settings, findings_of
from migrate_lint.linter.settings.config import Config, ConfigError, load, with_nested

Captured = pytest.CaptureFixture[str]
CODE = "import tensorflow as tf\n\nsession = tf.Session()\nlogged = tf.log(1.0)\n"


def _write(folder: Path, **texts: str) -> None:
    """Configurations by their folders, with ``_`` for the top and ``__`` between; each folder gets a module."""
    (folder / ".git").mkdir(exist_ok=True)
    for name, text in texts.items():
        place = folder if name == "_" else folder.joinpath(*name.split("__"))
        place.mkdir(parents=True, exist_ok=True)
        (place / "migrate-lint.toml").write_text(text)
        (place / "m.py").write_text(CODE)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _found(*words: str, capsys: Captured) -> list[str]:
    """``path CODE`` of what a run finds."""
    main([*words, "--output-format", "json"])
    return [f"{one['path']} {one['code']}" for one in json.loads(capsys.readouterr().out)["findings"]]


# -- extend ------------------------------------------------------------------------------------------------------------


def test_what_a_file_says_stands_in_place_of_what_it_extends(tmp_path: Path) -> None:
    """Key by key, through several files; paths hold from the folder of the file that has them."""
    _write(
        tmp_path,
        _='ignore = ["TF4"]\nexclude = ["gen/", "a/old/"]\njobs = 3\nbaseline = "known.json"\nrules = ["own"]\n'
        '[per-file-ignores]\n"a/*.py" = ["TF1"]\n"test_*" = ["TF2"]\n',
        a='extend = "../migrate-lint.toml"\njobs = 2\nselect = ["TF1"]\n',
        a__b='extend = "../migrate-lint.toml"\nignore = []\n',
    )

    found = load(str(tmp_path / "a" / "b"))

    assert str(tmp_path / "a" / "b") == found.base
    assert (("TF1",), (), 2) == (found.select, found.ignore, found.jobs)
    assert ("gen/", f"{tmp_path}/a/old/") == found.exclude
    assert ((f"{tmp_path}/a/*.py", ("TF1",)), ("test_*", ("TF2",))) == found.per_file_ignores
    assert str(tmp_path / "known.json") == found.baseline
    assert (str(tmp_path / "own"),) == found.rules
    assert (str(tmp_path / "a" / "migrate-lint.toml"), str(tmp_path / "migrate-lint.toml")) == found.extended


def test_any_file_can_be_extended(tmp_path: Path) -> None:
    """Also a table of a project's own file, and one of another name."""
    _write(tmp_path, a='extend = "../pyproject.toml"\n', b='extend = "../strict.toml"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.migrate-lint]\ntarget = "keras2"\n')
    (tmp_path / "strict.toml").write_text('target = "keras3"\n')

    assert ["keras2", "keras3"] == [load(name).target for name in ("a", "b")]


_BACK = "extend leads back to migrate-lint.toml"


@pytest.mark.parametrize(
    ("text", "other", "reason"),
    [
        ('jobs = 1\nextend = "migrate-lint.toml"\n', "", f"migrate-lint.toml:2: {_BACK}"),
        ('extend = "other.toml"\n', 'extend = "migrate-lint.toml"\n', f"other.toml:1: {_BACK}"),
        ('\nextend = "none.toml"\n', "", "migrate-lint.toml:2: none.toml: there is no such file to extend"),
        ('extend = "."\n', "", "migrate-lint.toml:1: .: there is no such file to extend"),
        ("extend = 3\n", "", "migrate-lint.toml:1: extend is to be the path of a file"),
        ('extend = ""\n', "", "migrate-lint.toml:1: extend is to be the path of a file"),
        ('extend = "a\\u0000b"\n', "", "migrate-lint.toml:1: extend is to be the path of a file"),
        ('extend = "pyproject.toml"\n', "", "migrate-lint.toml:1: pyproject.toml: there is no table"),
        ('extend = "other.toml"\n', "\njobs = -1\n", "other.toml:2: jobs is to be a number"),
        ('extend = "other.toml"\n', "a = \n", "other.toml:1: this is not TOML"),
    ],
)
def test_a_mistake_is_told_with_file_and_line(tmp_path: Path, text: str, other: str, reason: str) -> None:
    """Of the file that has it."""
    _write(tmp_path, _=text)
    (tmp_path / "other.toml").write_text(other)
    (tmp_path / "pyproject.toml").write_text("[project]\n")

    with pytest.raises(ConfigError) as caught:
        load(".")

    assert str(caught.value).startswith(f"{tmp_path}/{reason}")


def test_a_link_is_no_way_around_a_circle(tmp_path: Path) -> None:
    """Files are told apart by where they are."""
    _write(tmp_path, _='extend = "link.toml"\n')
    (tmp_path / "link.toml").symlink_to("migrate-lint.toml")

    with pytest.raises(ConfigError, match="extend leads back to link"):
        load(".")


def test_what_lies_outside_of_the_repository_is_not_quoted(tmp_path: Path) -> None:
    """A repository could ask for any file of whoever lints it."""
    (tmp_path / "secret").write_text('password = "open sesame"\n')
    (tmp_path / "repository").mkdir()
    _write(tmp_path / "repository", _='extend = "../secret"\n')

    with pytest.raises(ConfigError) as caught:
        load("repository")

    assert "password" not in str(caught.value)
    assert "migrate-lint.toml:1: ../secret: this lies outside of the repository" in str(caught.value)


# -- the nearest file --------------------------------------------------------------------------------------------------


def test_the_nearest_file_holds(tmp_path: Path) -> None:
    """Each is read once, and changed once; where none is nearer, the run's own holds."""
    deepest = 'ignore = ["TF3"]\ntarget = "keras3"\n'
    _write(tmp_path, _='ignore = ["TF1"]\n', a='ignore = ["TF2"]\n', a__b__c=deepest, d="")
    (tmp_path / "d" / "migrate-lint.toml").unlink()
    seen: list[str | None] = []

    def adapted(config: Config) -> Config:
        seen.append(config.path)
        return config

    config = with_nested(load("."), adapted)

    own = {name: config.of(str(tmp_path / name)).ignore for name in ("", "a", "a/b", "a/b/c", "a/b/c/e", "d", "f")}
    assert {
        "": ("TF1",), "a": ("TF2",), "a/b": ("TF2",), "a/b/c": ("TF3",), "a/b/c/e": ("TF3",), "d": ("TF1",),
        "f": ("TF1",),
    } == own  # fmt: skip
    assert [str(tmp_path / name / "migrate-lint.toml") for name in ("a", "a/b/c")] == seen
    places = [str(tmp_path / name) for name in ("a", "a/b/c", "", "f")]
    assert {("keras2", None)} == {(one.target, one.target_file) for one in map(config.aimed_at("keras2").of, places)}


def test_folders_choose_rules_severity_and_files(tmp_path: Path, capsys: Captured) -> None:
    """Whatever paths are given, the findings of a file are the same."""
    _write(
        tmp_path,
        _='ignore = ["TF401"]\n',
        a='select = ["TF401"]\n',
        b='exclude = ["m.py"]\n',
        c='extend = "../migrate-lint.toml"\n[per-file-ignores]\n"m.py" = ["TF406"]\n',
        d='exclude = ["e/"]\n',
        d__e="",
    )
    wanted = ["a/m.py TF401", "d/m.py TF401", "d/m.py TF406", "m.py TF406"]

    assert wanted == _found(capsys=capsys)
    assert ["a/m.py TF401"] == _found("a", "c", capsys=capsys)
    assert ["b/m.py TF401", "b/m.py TF406"] == _found("b/m.py", capsys=capsys)
    assert [] == _found("b/m.py", "--force-exclude", capsys=capsys)


def test_a_folder_reports_from_a_severity_on(tmp_path: Path, capsys: Captured) -> None:
    """And the summary counts what that leaves out."""
    _write(tmp_path, _="", a='min-severity = "error"\n')
    for place in (".", "a"):
        (tmp_path / place / "m.py").write_text("import tensorflow.compat.v1 as tf\nx = tf.log(1.0)\n")

    assert ["m.py"] == [line.split()[0] for line in _found(capsys=capsys)]
    main([])
    assert "1 milder finding left out." in capsys.readouterr().out


def test_a_folder_has_a_target(tmp_path: Path, capsys: Captured) -> None:
    """Within one project, whose other files have another; the report says which file decided."""
    _write(tmp_path, _='target = "keras3"\n', a='target = "keras2"\n')
    for place in (".", "a"):
        (tmp_path / place / "m.py").write_text(
            "import tensorflow.compat.v1 as tf\n\n\ndef f(x):\n    return tf.layers.dense(x, 1)\n"
        )

    assert "m.py TF410" in (found := _found(capsys=capsys))
    assert "a/m.py TF410" not in found
    main([])
    told = capsys.readouterr().out
    assert "target keras2 (as configured, in a/migrate-lint.toml)" in told
    assert "target keras3 (as configured, in migrate-lint.toml)" in told
    main(["--target", "keras2"])
    assert "target keras2 (as configured)" in capsys.readouterr().out
    main(["--explain-target"])
    assert "because: as configured, in a/migrate-lint.toml" in capsys.readouterr().out
    assert "a/m.py TF410" in _found("--target", "keras3", capsys=capsys)


def test_the_command_line_stands_above_every_file(tmp_path: Path, capsys: Captured) -> None:
    """And with --isolated or --config no nearer one is read, however broken."""
    _write(tmp_path, _="", a='ignore = ["TF406"]\nmin-severity = "error"\n', b='exclude = ["*"]\n')

    assert ["a/m.py TF406", "m.py TF406"] == _found("--select", "TF406", capsys=capsys)
    assert ["a/m.py TF401", "m.py TF401", "m.py TF406"] == _found("--exclude", "c", capsys=capsys)
    (tmp_path / "a" / "migrate-lint.toml").write_text("jobs = -1\n")
    assert 6 == len(_found("--isolated", capsys=capsys))
    assert 6 == len(_found("--config", "migrate-lint.toml", capsys=capsys))
    assert 2 == main([])
    assert "a/migrate-lint.toml:1: jobs is to be" in capsys.readouterr().err


def test_what_a_run_has_once_is_told_where_a_nearer_file_says_it(tmp_path: Path, capsys: Captured) -> None:
    """It counts for nothing there, nor where it comes by way of `extend`; rules of a nearer file never run."""
    keys = 'rules = ["own"]\nbaseline = "known.json"\njobs = 1\noutput-format = "json"\n'
    _write(tmp_path, _="", a=keys, b='extend = "../a/migrate-lint.toml"\n')
    (tmp_path / "a" / "own").mkdir()
    (tmp_path / "a" / "own" / "rule.py").write_text("open('ran', 'w')\n")
    (tmp_path / "a" / "known.json").write_text("no baseline\n")

    assert 1 == main(["--allow-project-rules", "--output-format", "concise"])

    told = capsys.readouterr()
    assert [
        f"migrate-lint: {tmp_path}/a/migrate-lint.toml:{line}: {key} is about a whole run, and counts only where the "
        "run's configuration says it"
        for line, key in enumerate(("rules", "baseline", "jobs", "output-format"), 1)
    ] == told.err.splitlines()
    assert "a/m.py:3:11: TF401" in told.out
    assert not (tmp_path / "ran").exists()


def test_an_unknown_rule_of_a_nearer_file_is_an_error(tmp_path: Path, capsys: Captured) -> None:
    """As it is in the run's own."""
    _write(tmp_path, _="", a='ignore = ["TF4O1"]\n')

    assert 2 == main([])
    assert f"{tmp_path}/a/migrate-lint.toml: unknown rule TF4O1" in capsys.readouterr().err


def test_a_file_that_is_extended_counts_at_once(tmp_path: Path, capsys: Captured) -> None:
    """What is kept of earlier runs knows nothing of selections; --watch looks at it, too."""
    _write(tmp_path, _='ignore = ["TF401"]\n', a='extend = "../base/common.toml"\n', base="")
    common = tmp_path / "base" / "common.toml"
    common.write_text('select = ["TF401"]\ntarget = "keras3"\n')

    assert ["a/m.py TF401"] == [one for one in _found(capsys=capsys) if one.startswith("a/")]
    common.write_text('select = ["TF406"]\ntarget = "keras2"\n')
    assert ["a/m.py TF406"] == [one for one in _found(capsys=capsys) if one.startswith("a/")]
    assert {str(common), f"{tmp_path}/a/migrate-lint.toml"} <= _stamps(_check_parser().parse_args([])).keys()


def test_verbose_says_which_file_holds(tmp_path: Path, capsys: Captured) -> None:
    """With what it extends, and for how many files."""
    _write(tmp_path, _="", a='extend = "../migrate-lint.toml"\n', a__b="")
    (tmp_path / "a" / "n.py").write_text("")
    (tmp_path / "a" / "b" / "migrate-lint.toml").unlink()

    for words in (["-v"], ["--show-files", "-v"]):
        main(words)
        assert (
            f"migrate-lint: configuration of 3 files: {tmp_path}/a/migrate-lint.toml, "
            f"which extends {tmp_path}/migrate-lint.toml\n"
        ) in capsys.readouterr().err
    main(["--show-settings", "a"])
    told = capsys.readouterr().out
    assert f"configuration: {tmp_path}/a/migrate-lint.toml, which extends {tmp_path}/migrate-lint.toml\n" in told


def test_a_folder_chooses_what_is_fixed(tmp_path: Path) -> None:
    """By `fixable` and `unfixable`."""
    _write(tmp_path, _="", a='unfixable = ["TF406"]\n')

    main(["--fix", "-q"])

    assert "tf.math.log" in (tmp_path / "m.py").read_text()
    assert CODE == (tmp_path / "a" / "m.py").read_text()


def test_a_revision_is_judged_by_the_files_of_today(tmp_path: Path, capsys: Captured) -> None:
    """Its own would tell of findings that nobody asks for now."""
    _write(tmp_path, _="", a='ignore = ["TF406"]\n')
    (tmp_path / ".git").rmdir()
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    (tmp_path / "a" / "migrate-lint.toml").write_text('ignore = ["TF401"]\ntarget = "keras2"\n')
    (tmp_path / "a" / "m.py").write_text(CODE + "more = tf.log(2.0)\n")

    assert ["a/m.py TF406"] == _found("--diff-base", "HEAD", capsys=capsys)


def test_an_editor_knows_what_a_file_extends(tmp_path: Path) -> None:
    """It asks for the settings of each folder."""
    from migrate_lint.linter.registry import registry
    from migrate_lint.linter.run.pipeline import Selection

    _write(tmp_path, _='ignore = ["TF401"]\nexclude = ["a/gen/"]\n', a='extend = "../migrate-lint.toml"\n')
    config = load("a")
    settings = Settings(config, Selection(config, registry.known()))

    assert ["TF406"] == [one.code for one in findings_of(str(tmp_path / "a" / "m.py"), CODE.encode(), settings)]
    assert settings.excludes(str(tmp_path / "a" / "gen" / "m.py"))
    assert not settings.excludes(os.fspath(tmp_path / "a" / "m.py"))


def test_an_editor_leaves_out_what_a_walk_does(tmp_path: Path, capsys: Captured) -> None:
    """What a `.gitignore` of the repository names, also by a folder around, and what is left out by default."""
    from migrate_lint.linter.registry import registry
    from migrate_lint.linter.run.pipeline import Selection

    _write(tmp_path, _='ignore = ["TF401"]\n', a="")
    (tmp_path / ".git").mkdir(exist_ok=True)
    (tmp_path / ".gitignore").write_text("out/\na/made_*.py\n")
    names = ["a/m.py", "a/made_m.py", "a/out/m.py", "a/out/deep/m.py", "a/node_modules/m.py", "a/out.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(CODE)
    config = load("a")
    settings = Settings(config, Selection(config, registry.known()))

    assert ["a/m.py", "a/out.py"] == [name for name in names if not settings.excludes(str(tmp_path / name))]
    assert {"a/m.py", "a/out.py"} == {one.split()[0] for one in _found("a", capsys=capsys)}


def test_globs_of_a_folder_hold_below_it_by_way_of_another_file(tmp_path: Path, capsys: Captured) -> None:
    """Also one that names the very folder which extends."""
    _write(
        tmp_path,
        _='[per-file-ignores]\n"a/" = ["TF401"]\n"b/m.py" = ["TF406"]\n',
        a='extend = "../migrate-lint.toml"\n',
        b='extend = "../migrate-lint.toml"\n',
    )

    assert ["a/m.py TF406", "b/m.py TF401", "m.py TF401", "m.py TF406"] == _found(capsys=capsys)
