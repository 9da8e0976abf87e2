"""Completion: each shell can read its script, and completes what the command line takes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from migrate_lint.linter.cli import main as cli
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.registry import registry

SHELLS = ("bash", "zsh", "fish")
ASK = """
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 ))
_migrate_lint
printf '%s\\n' "${COMPREPLY[@]}"
"""


def _script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert 0 == main(["--completion", shell])
    return capsys.readouterr().out


def _needs(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    return path


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_can_read_its_script(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The shell's own parser says so."""
    program = _needs(shell)
    file = tmp_path / "completion"
    file.write_text(_script(shell, capsys))

    done = subprocess.run([program, "-n", file], capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is made of the parser: what is added there is completed."""
    names = {name for parser in cli.parsers().values() for action in parser._actions for name in action.option_strings}
    script = _script(shell, capsys)

    spelled = names if shell != "fish" else {f"-l {n[2:]} " if n.startswith("--") else f"-s {n[1:]} " for n in names}
    assert set() == {name for name in spelled if name not in script}
    assert set() == {word for pair in registry.codes().items() for word in pair if word not in script}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--targ"], ["--target"]),
        (["--target", "k"], ["keras2", "keras3"]),
        (["--target", "=", "k"], ["keras2", "keras3"]),
        (["--color", "="], ["auto", "always", "never"]),
        (["--select", "TF901"], ["TF901"]),
        (["--select", "TF1,unparsable-"], ["TF1,unparsable-file"]),
        (["m.py", "--ignore", "=", "TF901,TF902"], ["TF901,TF902"]),
        (["--output-file", "rep"], [""]),
        (["che"], ["check"]),
        (["m"], ["model one.py"]),
        (["rule", "unparsable-"], ["unparsable-file"]),
        (["rule", "--output-format", "m"], ["markdown"]),
        (["rule", "--al"], ["--all", "--allow-project-rules"]),
        (["check", "rule", "--trust"], ["--trust-runtime"]),
        (["verify", "--python-"], ["--python-tf1"]),
        (["verify", "--output-format", "ju"], ["junit"]),
        (["v"], ["verify"]),
        (["resume", "--how", "sa"], ["saving"]),
    ],
)
def test_bash_completes(
    words: list[str], expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Options, their values, lists of rules, commands and files; where there is nothing to say bash offers files."""
    bash = _needs("bash")
    file = tmp_path / "script"
    file.write_text(_script("bash", capsys))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "model one.py").touch()

    command = [bash, "--norc", "-c", ASK, "ask", str(file), "migrate-lint", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path / "work")

    assert ("", expected) == (done.stderr, done.stdout.removesuffix("\n").split("\n"))


def test_fish_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own function answers for a line."""
    fish = _needs("fish")
    file = tmp_path / "script"
    file.write_text(_script("fish", capsys))

    command = [fish, "--no-config", "-c", f"source {file}; complete -C 'migrate-lint --target k'"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert ["keras2", "keras3"] == [line.split("\t")[0] for line in done.stdout.splitlines()]


def test_what_helps_say_cannot_end_a_quotation(capsys: pytest.CaptureFixture[str]) -> None:
    """Apostrophes and brackets of help texts stay text."""
    assert re.search(r"project\\'s requirements", _script("zsh", capsys))
    assert re.search(r"""project'"'"'s requirements""", _script("fish", capsys))


def test_only_known_shells_are_completed(capsys: pytest.CaptureFixture[str]) -> None:
    """Another one is a usage error that names those."""
    assert 2 == main(["--completion", "csh"])
    assert "bash" in capsys.readouterr().err
