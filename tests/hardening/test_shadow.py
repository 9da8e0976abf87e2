"""Nothing of what is linted runs, whatever it is called: in the command, the hook, the editor and a comparison."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from .shadow import COMMANDS, PYLINTS, tried

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", COMMANDS)
def test_a_command_runs_nothing_of_the_folder_it_is_in(how: str, tmp_path: Path) -> None:
    """And says what it says where nothing is shadowed."""
    if how == "a revision" and shutil.which("git") is None:
        pytest.skip("git is not installed")
    trial = tried(how, Random(how), tmp_path)

    assert {"argparse", "migrate_lint"} <= trial.asked
    assert set() == trial.ran
    assert trial.expected == trial.found


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("how", PYLINTS)
def test_the_plugin_runs_nothing_of_what_pylint_puts_on_the_path(how: str, seed: int, tmp_path: Path) -> None:
    """There is little that pylint runs of its own, in processes that it spawns above all."""
    trial = tried(how, Random(seed), tmp_path)

    assert {"sqlite3", "packaging", "difflib", "tomllib"} <= trial.asked - trial.pylints_own
    assert len(trial.pylints_own) <= 8
    assert set() == trial.ran
    assert trial.expected == trial.found
    assert "placeholder" in trial.found
