"""What is new since a revision, in repositories that the tests make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from migrate_lint.linter.adoption.diff_base import DiffBaseError, RevisionStatus, new_since
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.result import Result
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

from .edits import Tree

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

MODEL = """\
import tensorflow as tf


def build(x):
    x = tf.layers.dense(x, 1)
    return tf.to_float(x)
"""


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    top = tmp_path / "top"
    top.mkdir()
    monkeypatch.chdir(top)
    git("init", "-q", "-b", "main")


def git(*words: str) -> str:
    values = ("user.name=A", "user.email=a@b.c", "protocol.file.allow=always", "gc.auto=0")
    settings = [word for value in values for word in ("-c", value)]
    return subprocess.run(["git", *settings, *words], check=True, capture_output=True, text=True).stdout


def commit(message: str = "a change") -> None:
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", message)


def write(text: str = MODEL, path: str = "m.py") -> None:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text)


def since(revision: str = "HEAD", *paths: str, **settings: object) -> Result:
    config = Config(base=os.getcwd(), **settings)  # type: ignore[arg-type]
    return new_since(lint(paths or ["."], config), revision, config)


def shown(result: Result) -> list[str]:
    return [f"{one.path}:{one.line}:{one.code}" for one in result.findings]


def test_what_was_there_is_left_out() -> None:
    """Whatever stands above it now."""
    write()
    commit()
    write(MODEL.replace("    return", "    x = tf.to_int32(x)\n    return"))
    result = since()

    assert ["m.py:6:TF406"] == shown(result)
    assert isinstance(result.since, RevisionStatus)
    assert (1, 2) == (result.since.new, result.since.known)


def test_an_older_revision_is_compared_with() -> None:
    """The working tree is what is new, committed or not."""
    write("import tensorflow as tf\n")
    commit()
    write()
    commit()

    assert ["m.py:5:TF410", "m.py:6:TF406"] == shown(since("HEAD~1"))
    assert [] == shown(since("main"))


def test_dots_compare_with_where_the_branch_began() -> None:
    """What the other branch mended meanwhile is not new here."""
    write()
    commit()
    git("checkout", "-q", "-b", "feature")
    commit()
    git("checkout", "-q", "main")
    write("import tensorflow as tf\n")
    commit()
    git("checkout", "-q", "feature")

    assert ([], 2) == (shown(since("main...")), len(since("main").findings))


def test_untracked_files_are_new() -> None:
    """They are in no revision."""
    write()
    commit()
    write(MODEL.replace("1)", "2)"), "new.py")

    assert ["new.py:5:TF410", "new.py:6:TF406"] == shown(since())


@pytest.mark.parametrize("staged", [True, False])
def test_renames_are_followed(staged: bool) -> None:
    """Whether git was told of them or not; what the renamed file got besides is new."""
    write()
    commit()
    Path("lib").mkdir()
    Path("m.py").rename("lib/n.py")
    write(MODEL + "\n\ntf.to_int32(1)\n", "lib/n.py")
    if staged:
        git("add", "-A")

    assert ["lib/n.py:9:TF406"] == shown(since())


def test_only_the_given_paths_are_looked_at() -> None:
    """From a folder below, too."""
    write()
    write(path="sub/n.py")
    commit()
    write(MODEL + "tf.to_int32(1)\n")
    write(MODEL + "tf.to_int32(1)\n", "sub/n.py")
    os.chdir("sub")

    assert ["n.py:7:TF406"] == shown(since())


def test_a_removed_suppression_is_new() -> None:
    """It was not shown then, and it is now."""
    write(MODEL.replace("1)", "1)  # migrate-lint: disable=TF410"))
    commit()
    write()

    assert ["m.py:5:TF410"] == shown(since())


def test_per_file_ignores_hold_on_both_sides() -> None:
    """Their globs are relative to the configuration."""
    write(path="lib/m.py")
    commit()
    write(MODEL + "tf.to_int32(1)\n", "lib/m.py")

    assert [] == shown(since(per_file_ignores=(("lib/*.py", ("TF406",)),)))
    assert ["lib/m.py:7:TF406"] == shown(since(per_file_ignores=(("other/*.py", ("TF406",)),)))


def test_the_target_of_now_holds_on_both_sides() -> None:
    """A requirement that changes makes no old code new."""
    write()
    write("tensorflow==2.12\n", "requirements.txt")
    commit()
    write("tensorflow==2.18\n", "requirements.txt")

    assert [] == shown(since())


def test_an_unread_file_is_known_only_where_it_is_the_same() -> None:
    """An edited one may hold anything."""
    write("print 'a'\n", "old.py")
    write("print 'a'\n", "edited.py")
    commit()
    write("print 'b'\n", "edited.py")

    assert ["edited.py:1:TF902"] == shown(since())


def test_what_another_file_changes_is_new() -> None:
    """The finding's own file is as it was, and the revision is analyzed with its own other files."""
    write("import tensorflow as tf\n\n\ndef make(x):\n    return tf.Variable(x)\n", "helper.py")
    write("import tensorflow as tf\nfrom helper import make\n\n\ndef step(x):\n    return make(x)\n", "use.py")
    commit()
    assert [] == shown(since())
    write(
        "import tensorflow as tf\nfrom helper import make\n\n\n@tf.function\ndef step(x):\n    return make(x)\n",
        "use.py",
    )

    assert {"helper.py"} == {one.path for one in since().findings}


def test_links_and_odd_names_are_followed() -> None:
    """Spaces, quotes, other alphabets."""
    write(path='o d"d ü.py')
    Path("link.py").symlink_to('o d"d ü.py')
    commit()

    assert [] == shown(since())


def test_a_submodule_is_compared_with_its_own_commit(tmp_path: Path) -> None:
    """The one that the revision names."""
    write()
    commit()
    git("clone", "-q", str(Path.cwd()), str(tmp_path / "other"))
    git("submodule", "--quiet", "add", str(tmp_path / "other"), "sub")
    commit()
    write(MODEL + "tf.to_int32(1)\n", "sub/m.py")

    assert ["sub/m.py:7:TF406"] == shown(since())


def test_a_hooks_environment_does_not_mislead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git tells hooks where its folder is, relative to the top."""
    write(path="sub/m.py")
    commit()
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    os.chdir("sub")

    assert [] == shown(since())


def test_the_repository_is_left_alone() -> None:
    """Neither its index nor its files are written."""
    write()
    commit()
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()}
    os.utime("m.py", (1, 1))
    before[Path("m.py")] = Path("m.py").stat().st_mtime_ns
    since()

    assert before == {path: path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("seed", range(30))
def test_a_random_edit_neither_revives_nor_hides(seed: int) -> None:
    """What is shown is what there is more of than in the revision."""
    tree = Tree.made(seed + 100)
    tree.write(Path())
    commit()
    known = tree.hazards()
    edits = [tree.edit()]
    tree.write(Path())
    number = sum((plain(tree.hazards()) - plain(known)).values())

    assert (edits, number) == (edits, len(since().findings))


def plain(hazards: Counter[str]) -> Counter[str]:
    """Counts without regard to how a statement is laid out."""
    found: Counter[str] = Counter()
    for text, number in hazards.items():
        found[re.sub(r",\s+", ", ", text)] += number
    return found


@pytest.mark.parametrize("revision", ["nope", "--all", "", "nope...", "HEAD~7", "0" * 40])
def test_an_unknown_revision_is_an_error(revision: str) -> None:
    """Nothing that looks like an option reaches git."""
    write()
    commit()

    with pytest.raises(DiffBaseError, match="there is no revision"):
        since(revision)


def test_a_shallow_clone_is_named(tmp_path: Path) -> None:
    """That is the reason in most CI systems."""
    write()
    commit()
    commit()
    git("clone", "-q", "--depth", "1", f"file://{Path.cwd()}", str(tmp_path / "shallow"))
    os.chdir(tmp_path / "shallow")

    with pytest.raises(DiffBaseError, match=r"HEAD~1: there is no revision HEAD~1: this clone is shallow"):
        since("HEAD~1")


def test_a_partial_clone_is_named(tmp_path: Path) -> None:
    """Nothing is fetched: who may be asked for it says the configuration of a repository."""
    git("config", "uploadpack.allowFilter", "true")
    write()
    commit()
    write(MODEL + "tf.to_int32(1)\n")
    commit()
    git("clone", "-q", "--filter=blob:none", f"file://{Path.cwd()}", str(tmp_path / "partial"))
    os.chdir(tmp_path / "partial")

    with pytest.raises(DiffBaseError, match=r"this clone is partial: fetch the rest of it \(git fetch --refetch"):
        since("HEAD~1")
    git("fetch", "-q", "--refetch", "--no-filter")
    assert ["m.py:7:TF406"] == shown(since("HEAD~1"))


def test_a_name_that_no_file_can_have_is_an_error() -> None:
    """Git keeps it all the same."""
    write()
    git("add", "m.py")
    name = git("rev-parse", ":m.py").strip()
    git("update-index", "--add", "--cacheinfo", f"100644,{name},{'x' * 300}.py")
    git("commit", "-q", "-m", "long")

    with pytest.raises(DiffBaseError, match=r"x\.py of that revision cannot be written: "):
        since("HEAD", "m.py")


def test_a_folder_without_a_repository_is_an_error(tmp_path: Path) -> None:
    """It is named."""
    os.chdir(tmp_path)
    write(path="m.py")

    with pytest.raises(DiffBaseError, match="is in no git repository"):
        since("HEAD", "m.py")


def test_without_git_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a crash."""
    write()
    monkeypatch.setenv("PATH", "")

    with pytest.raises(DiffBaseError, match="needs git, which is not installed"):
        since()


def test_the_command_line_says_what_it_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit status is that of the new findings."""
    write()
    commit()

    assert 0 == main(["--isolated", "--no-cache", "--diff-base", "HEAD"])
    head = git("rev-parse", "HEAD")[:12]
    printed = capsys.readouterr().out
    assert f"Since HEAD ({head}): 0 new, 2 known left out." in printed
    assert "No new findings: " in printed
    write(MODEL + "tf.to_int32(1)\n")
    assert 1 == main(["--isolated", "--no-cache", "--diff-base", "HEAD"])
    assert 2 == main(["--isolated", "--no-cache", "--diff-base", "nope"])
    assert "migrate-lint: --diff-base nope: there is no revision nope\n" == capsys.readouterr().err
