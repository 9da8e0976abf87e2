"""``--diff-base`` in a repository whose configuration, attributes and hooks name commands: none of them runs.

Each of what git-config(1), gitattributes(5) and githooks(5) let a repository name is planted, shown to run where git
alone is asked for what it is for, and then shown not to run.
"""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from migrate_lint.linter.adoption.diff_base import DiffBaseError, new_since
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None or os.name == "nt", reason="git and a shell are not installed"),
]

MODEL = "import tensorflow as tf\n\nx = tf.placeholder(1)\n"
AFTER = "y = tf.to_float(x)\n"
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")


@dataclass(frozen=True)
class Planted:
    """A command that a repository names, and what makes git run it.

    ``settings`` go into its configuration, with ``MARK`` for a command that leaves a mark; ``files`` are written.
    """

    settings: tuple[tuple[str, str], ...]
    provoked: tuple[tuple[str, ...], ...]
    files: tuple[tuple[str, str], ...] = ()
    terminal: bool = False


def config(*pairs: str) -> tuple[tuple[str, str], ...]:
    return tuple(zip(pairs[::2], pairs[1::2], strict=True))


def attributes(text: str) -> tuple[tuple[str, str], ...]:
    return ((".gitattributes", f"*.py {text}\n"), (".git/info/attributes", f"*.py {text}\n"))


HOOK = "#!/bin/sh\nMARK\n"
LOST = ("cat-file", "-p", "LOST")
"""Reads an object that is not there."""
PROMISED = ("core.repositoryFormatVersion", "1", "extensions.partialClone", "origin", "remote.origin.promisor", "true")
FILL = ("credential", "fill")
SAVE = ("commit", "-qam", "x")
SIGN = ("commit", "-q", "-S", "-a", "-m", "x")
PROGRAM = (("prog", HOOK),)

COMMANDS = {
    "filter.clean": Planted(config("filter.x.clean", "MARK; cat"), (("add", "m.py"),), attributes("filter=x")),
    "filter.process": Planted(config("filter.x.process", "MARK"), (("add", "m.py"),), attributes("filter=x")),
    "filter.required": Planted(
        config("filter.x.clean", "MARK; false", "filter.x.required", "true"), (("add", "m.py"),), attributes("filter=x")
    ),
    "filter.smudge": Planted(
        config("filter.x.smudge", "MARK; cat"), (("checkout", "-f", "HEAD", "--", "old.py"),), attributes("filter=x")
    ),
    "diff.command": Planted(config("diff.x.command", "MARK;:"), (("diff",),), attributes("diff=x")),
    "diff.textconv": Planted(config("diff.x.textconv", "MARK; cat"), (("diff",),), attributes("diff=x")),
    "diff.external": Planted(config("diff.external", "MARK;:"), (("diff",),)),
    "difftool": Planted(config("difftool.x.cmd", "MARK", "diff.tool", "x"), (("difftool", "--no-prompt"),)),
    "interactive.diffFilter": Planted(
        config("interactive.diffFilter", "MARK; cat"), (("add", "-p"),), terminal=True
    ),
    "merge.driver": Planted(
        config("merge.x.driver", "MARK"),
        (
            SAVE, ("checkout", "-qb", "b"), ("apply", "--unidiff-zero", "one.patch"), SAVE,
            ("checkout", "-q", "-"), ("apply", "--unidiff-zero", "two.patch"), SAVE, ("merge", "b"),
        ),
        attributes("merge=x"),
    ),
    "core.fsmonitor": Planted(config("core.fsmonitor", "MARK;:"), (("status",),)),
    "core.fsmonitor of a worktree": Planted(
        config("core.repositoryFormatVersion", "1", "extensions.worktreeConfig", "true"),
        (("status",),),
        ((".git/config.worktree", "[core]\nfsmonitor = \"MARK;:\"\n"),),
    ),
    "include.path": Planted(
        config("include.path", "../inc"), (("status",),), (("inc", "[core]\nfsmonitor = \"MARK;:\"\n"),)
    ),
    "includeIf": Planted(
        config("includeIf.gitdir:/.path", "../inc"), (("status",),), (("inc", "[core]\nfsmonitor = \"MARK;:\"\n"),)
    ),
    "core.hooksPath": Planted(
        config("core.hooksPath", "hooks"), (("add", "m.py"),), (("hooks/post-index-change", HOOK),)
    ),
    "hook post-index-change": Planted((), (("add", "m.py"),), ((".git/hooks/post-index-change", HOOK),)),
    "hook pre-commit": Planted((), (("commit", "-qam", "x"),), ((".git/hooks/pre-commit", HOOK),)),
    "hook reference-transaction": Planted(
        (), (("update-ref", "refs/x", "HEAD"),), ((".git/hooks/reference-transaction", HOOK),)
    ),
    "core.pager": Planted(config("core.pager", "MARK; cat"), (("log",),), terminal=True),
    "pager.command": Planted(
        config("pager.rev-parse", "MARK; cat", "pager.ls-files", "MARK; cat"), (("ls-files",),), terminal=True
    ),
    "core.editor": Planted(config("core.editor", "MARK;:"), (("commit", "--amend"),)),
    "sequence.editor": Planted(config("sequence.editor", "MARK;:"), (SAVE, ("rebase", "-i", "HEAD~1"))),
    "alias": Planted(config("alias.x", "!MARK", "alias.ls-tree", "!MARK", "alias.rev-parse", "!MARK"), (("x",),)),
    "gpg.program": Planted(config("gpg.program", "./prog"), (SIGN,), PROGRAM),
    "gpg.ssh.defaultKeyCommand": Planted(
        config("gpg.format", "ssh", "gpg.ssh.defaultKeyCommand", "./prog"), (SIGN,), PROGRAM
    ),
    "credential.helper": Planted(config("credential.helper", "!MARK;:"), (FILL,)),
    "core.askPass": Planted(config("core.askPass", "./prog"), (FILL,), PROGRAM),
    "trailer.command": Planted(
        config("trailer.x.command", "MARK", "trailer.x.ifmissing", "add"), (("interpret-trailers", "m.py"),)
    ),
    "core.sshCommand": Planted(
        config(*PROMISED, "remote.origin.url", "ssh://x/y", "core.sshCommand", "MARK;:"), (LOST,)
    ),
    "core.gitProxy": Planted(
        config(*PROMISED, "remote.origin.url", "git://x/y", "core.gitProxy", "./prog"), (LOST,), PROGRAM
    ),
    "remote.uploadpack": Planted(
        config(*PROMISED, "remote.origin.url", "other", "remote.origin.uploadpack", "MARK;:"), (LOST,)
    ),
    "remote.vcs": Planted(
        config(*PROMISED, "remote.origin.url", "x", "remote.origin.vcs", "x", "protocol.x.allow", "always"), (LOST,)
    ),
    "protocol.ext": Planted(
        config(*PROMISED, "remote.origin.url", "ext::sh -c MARK%|:", "protocol.ext.allow", "always"), (LOST,)
    ),
    "core.alternateRefsCommand": Planted(
        config(*PROMISED, "remote.origin.url", "other", "core.alternateRefsCommand", "MARK;:"),
        (LOST,),
        ((".git/objects/info/alternates", "../../other/.git/objects\n"),),
    ),
    "submodule.update": Planted(
        config("submodule.sub.update", "!MARK;:", "submodule.sub.url", "./sub"), (("submodule", "update", "--force"),)
    ),
}


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    for name in [name for name in os.environ if name.startswith("GIT_") or name in {"PAGER", "EDITOR", "VISUAL"}]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def run(*words: str, check: bool = True, terminal: bool = False) -> subprocess.CompletedProcess[bytes]:
        first, second = pty.openpty() if terminal else (None, subprocess.PIPE)
        command = ["git", *IDENTITY, *words]
        data = b"protocol=https\nhost=x\n" if words == FILL else b"y\n"
        done = subprocess.run(command, input=data, check=check, stdout=second, stderr=second, timeout=300)
        if first is not None:
            os.close(first)
            os.close(second)
        return done

    return run


@pytest.fixture
def top(tmp_path: Path, git: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits, a submodule, and files that were changed and renamed since."""
    for name in ("top/other", "top/sub", "bin"):
        (tmp_path / name).mkdir(parents=True)
    top = tmp_path / "top"
    for folder in ("other", "sub", "."):
        monkeypatch.chdir(top / folder)
        git("init", "-q", "-b", "main")
        for name in ("m.py", "old.py"):
            Path(name).write_text(f"# {folder}\n{MODEL}")
        git("add", "m.py", "old.py")
        git("commit", "-qm", "first")
    Path("extra.py").write_text("x = 1\n")
    git("update-index", "--add", "--cacheinfo", f"160000,{_head(top / 'sub')},sub")
    Path(".gitmodules").write_text('[submodule "sub"]\npath = sub\nurl = ./sub\n')
    git("add", "extra.py", ".gitmodules")
    git("commit", "-qm", "second")
    for number, name in enumerate(("one.patch", "two.patch")):
        Path(name).write_text(f"--- a/m.py\n+++ b/m.py\n@@ -1,1 +1,1 @@\n-# .\n+# {number}\n")
    for folder in (".", "sub"):
        Path(folder, "m.py").write_text(f"{Path(folder, 'm.py').read_text()}{AFTER}")
    os.rename("old.py", "new.py")
    Path("new.py").write_text(f"{Path('new.py').read_text()}{AFTER}")
    git("add", "-N", "new.py")
    return top


def _head(folder: Path) -> str:
    return (folder / ".git" / "refs" / "heads" / "main").read_text().strip()


def plant(planted: Planted, mark: Path, git: Callable[..., object]) -> None:
    leave = f"touch {mark}"
    for path, text in planted.files:
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(text.replace("MARK", leave))
        Path(path).chmod(0o755)
    for name, value in planted.settings:
        spaces = "% " if value.startswith("ext::") else " "
        git("config", "--add", name, value.replace("MARK", leave.replace(" ", spaces)).replace("%|", ";"))


def shown(*paths: str) -> list[str]:
    config = Config(base=os.getcwd())
    found = new_since(lint(paths or ["m.py", "new.py", "extra.py", "sub/m.py"], config), "HEAD", config)
    return [f"{one.path}:{one.line}:{one.code}" for one in found.findings]


NEW = ["m.py:5:TF406", "new.py:5:TF406", "sub/m.py:5:TF406"]


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_repository_names_does_not_run(
    name: str, top: Path, tmp_path: Path, git: Callable[..., object]
) -> None:
    """Where git alone would have run it; what is new is found all the same."""
    planted, mark = COMMANDS[name], tmp_path / "mark"
    (tmp_path / "bin" / "git-remote-x").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (tmp_path / "bin" / "git-remote-x").chmod(0o755)
    plant(planted, mark, git)
    (top / "sub" / ".git" / "config").write_text((top / ".git" / "config").read_text())
    mark.unlink(missing_ok=True)
    found = shown()

    assert NEW == found
    assert not mark.exists()
    for words in planted.provoked:
        git(*(word.replace("LOST", "1" * 40) for word in words), check=False, terminal=planted.terminal)
    assert mark.exists()


@pytest.mark.parametrize("lost", ["blob", "commit"])
@pytest.mark.parametrize(
    "name", ["core.sshCommand", "core.gitProxy", "remote.uploadpack", "remote.vcs", "protocol.ext"]
)
def test_what_a_clone_lacks_is_not_fetched(
    name: str, lost: str, top: Path, tmp_path: Path, git: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even by a git that does not know that it must not."""
    import migrate_lint.linter.adoption.diff_base as module

    mark = tmp_path / "mark"
    test_what_a_repository_names_does_not_run(name, top, tmp_path, git)
    mark.unlink()
    object_name = _head(top) if lost == "commit" else "9f1ddb0ba3ba5a6c6c9a5a1ee4a3bf8b1cb1bb8b"
    if lost == "blob":
        done = subprocess.run(["git", "rev-parse", "HEAD:m.py"], capture_output=True, text=True, check=True)
        object_name = done.stdout.strip()
    (top / ".git" / "objects" / object_name[:2] / object_name[2:]).unlink()
    for settings in (module._NO_FETCH, {"GIT_ALLOW_PROTOCOL": ""}):
        monkeypatch.setattr(module, "_NO_FETCH", settings)
        with pytest.raises(DiffBaseError):
            shown()

    assert not mark.exists()


def test_a_git_file_that_leads_elsewhere_runs_nothing(top: Path, tmp_path: Path, git: Callable[..., object]) -> None:
    """As that of a linked worktree does."""
    plant(COMMANDS["core.fsmonitor"], tmp_path / "mark", git)
    os.rename(".git", tmp_path / "elsewhere")
    Path(".git").write_text(f"gitdir: {tmp_path / 'elsewhere'}\n")
    found = shown()

    assert NEW == found
    assert not (tmp_path / "mark").exists()
    git("status")
    assert (tmp_path / "mark").exists()


def test_a_folder_that_looks_like_a_repository_is_none(top: Path, tmp_path: Path, git: Callable[..., object]) -> None:
    """It may be files of the tree, and its configuration is a stranger's."""
    shutil.copytree("other/.git", "bare")
    text = (
        f'[core]\nrepositoryformatversion = 0\nbare = false\nworktree = {top / "bare"}\n'
        f'fsmonitor = "touch {tmp_path / "mark"};:"\n'
    )
    Path("bare/config").write_text(text)
    Path("bare/m.py").write_text(MODEL)

    with pytest.raises(DiffBaseError):
        shown("bare/m.py")
    assert not (tmp_path / "mark").exists()
    git("-C", "bare", "status", check=False)
    assert (tmp_path / "mark").exists()


def test_files_elsewhere_are_not_looked_at(top: Path, tmp_path: Path, git: Callable[..., object]) -> None:
    """A repository may say that its files lie in somebody's home."""
    (tmp_path / "home").mkdir()
    git("config", "core.worktree", str(tmp_path / "home"))

    with pytest.raises(DiffBaseError, match=r"says that its files lie in|must be run in a work tree"):
        shown()


def test_a_git_in_the_working_folder_is_not_run(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty entry of PATH is the working folder."""
    Path("git").write_text(f"#!/bin/sh\ntouch {tmp_path / 'mark'}\n")
    Path("git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{os.pathsep}.{os.pathsep}{os.environ['PATH']}")

    assert NEW == shown()
    assert not (tmp_path / "mark").exists()


def test_line_ends_are_no_change(top: Path, git: Callable[..., object]) -> None:
    """As git writes them on Windows."""
    Path("extra.py").write_bytes(b"def f(:\n")
    git("commit", "-qm", "broken", "extra.py")
    for path in ("m.py", "new.py", "extra.py"):
        Path(path).write_bytes(Path(path).read_bytes().replace(b"\n", b"\r\n"))

    assert NEW == shown()
