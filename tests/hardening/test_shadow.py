"""Nothing of what is linted runs, whatever it is called: in the command, the hook, the editor and a comparison."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .shadow import ROOT, Tree, names, run, sample, script, traced

pytestmark = pytest.mark.slow

PLUGIN = "migrate_lint.linter.pylint_plugin"
PYLINT = (script("pylint"),)
SPAWNED = (
    sys.executable,
    "-P",
    "-c",
    "import multiprocessing; multiprocessing.set_start_method('spawn'); from pylint import run_pylint; run_pylint()",
)
"""pylint as it starts its processes on macOS, on Windows and from Python 3.14 on; -P lets Python's own command for such
a process leave the working folder alone."""
QUIET = ("--disable=all", "--enable=migrate-lint,syntax-error", "--persistent=n", "--output-format=json")
MODELS = ("model.py", "old.py", "strange.py", *(f"model{number}.py" for number in range(6)))
PYLINTS = {
    "one process": (*PYLINT, *QUIET, *MODELS),
    "two processes": (*PYLINT, *QUIET, "--jobs=2", *MODELS),
    "two spawned ones": (*SPAWNED, *QUIET, "--jobs=2", *MODELS),
    "an editor's buffer": (*PYLINT, *QUIET, "--from-stdin", "model.py"),
}
CHECK = (script("migrate-lint"), "check")
HOOK = tuple(re.findall(r"^  entry: (.+ check .+)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.M)[0].split())
FILES = (*MODELS, "book.ipynb")
COMMANDS = {
    "the command": (*CHECK, *FILES),
    "the module": (sys.executable, "-m", "migrate_lint", *FILES),
    "processes": (*CHECK, "--jobs", "3", *FILES),
    "spawned processes": (
        sys.executable,
        "-P",
        "-c",
        "import sys, threading; "
        "threading.Thread(target=threading.Event().wait, daemon=True).start(); "
        "from migrate_lint.linter.cli.main import main; main(['--jobs', '3', *sys.argv[1:]])",
        *FILES,
    ),
    "the hook": (script(HOOK[0]), *HOOK[1:], *FILES),
    "a revision": (*CHECK, "--diff-base", "HEAD", *FILES),
    "all formats": (
        *CHECK,
        *(f"--output-format={form}" for form in ("json", "sarif", "junit", "html", "github", "gitlab")),
        f"--output-file={os.devnull}",
        *FILES,
    ),
    "a baseline": (*CHECK, "--baseline", "known.json", "--write-baseline", *FILES),
    "written comments": (*CHECK, "--add-noqa", *FILES),
    "the rules": (script("migrate-lint"), "rule", "--all", "--output-format", "json"),
    "the completion": (script("migrate-lint"), "--completion", "bash"),
    "the settings": (*CHECK, "--show-settings"),
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Tree, Tree]:
    """The sample alone, and the one to be shadowed, in repositories."""
    made = sample(tmp_path / "plain" / "top"), sample(tmp_path / "shadowed" / "top")
    if shutil.which("git") is not None:
        for tree in made:
            (tree.folder / "model5.py").write_text("x = 1\n")
            for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
                values = ("-c", "user.name=a", "-c", "user.email=a@b")
                subprocess.run(["git", *values, *words], cwd=tree.folder, check=True, capture_output=True)
            (tree.folder / "model5.py").write_text((tree.folder / "model4.py").read_text())
    return made


def shown(text: str, tree: Tree) -> str:
    return text.replace(str(tree.folder.parent), "")


@pytest.mark.parametrize("how", COMMANDS)
def test_a_command_runs_nothing_of_the_folder_it_is_in(
    how: str, trees: tuple[Tree, Tree], environment: dict[str, str], tmp_path: Path
) -> None:
    """And says what it says where nothing is shadowed."""
    plain, shadowed = trees
    if how == "a revision" and shutil.which("git") is None:
        pytest.skip("git is not installed")
    expected, asked = traced(COMMANDS[how], plain.folder, environment, tmp_path / "trace")
    shadowed.plant(names() | asked)
    found = run(COMMANDS[how], shadowed.folder, environment)

    assert {"argparse", "migrate_lint"} <= asked
    assert set() == shadowed.ran()
    assert (expected.returncode, shown(expected.stdout, plain)) == (found.returncode, shown(found.stdout, shadowed))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("how", PYLINTS)
def test_the_plugin_runs_nothing_of_what_pylint_puts_on_the_path(
    how: str, first: int, trees: tuple[Tree, Tree], environment: dict[str, str], tmp_path: Path
) -> None:
    """What pylint runs without us, such as what decodes a file, is not shadowed."""
    plain, shadowed = trees
    words = (*PYLINTS[how], f"--load-plugins={PLUGIN}")
    data = (plain.folder / "model.py").read_text()
    expected, asked = traced(words, plain.folder, environment, tmp_path / "trace", data)
    shadowed.plant(names() | asked, first)
    pylints_own: set[str] = set()
    alone = [word.replace("migrate-lint,", "") for word in PYLINTS[how]]
    while run(alone, shadowed.folder, environment, data) and (ran := shadowed.ran()):
        shadowed.unplant(ran)
        pylints_own |= ran
    found = run(words, shadowed.folder, environment, data)

    assert {"sqlite3", "pathspec", "difflib", "tomllib"} <= asked - pylints_own
    assert len(pylints_own) <= 8
    assert set() == shadowed.ran()
    assert json.loads(expected.stdout) == json.loads(found.stdout)
    assert any(message["symbol"] == "placeholder" for message in json.loads(found.stdout))
