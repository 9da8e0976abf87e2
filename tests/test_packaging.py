"""The wheel holds every source file, and what is in the wheel runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SOURCES = ("linter", "rules", "runtime_checks")
MADE_HERE = re.compile(r"\..*|build|dist|venv|__pycache__|.*\.egg-info")


def _project_files() -> list[Path]:
    """What a fresh clone would hold: tracked files, and new ones that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
        paths = [ROOT / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):  # a source distribution has no repository
        paths = [path for path in ROOT.rglob("*") if not any(map(MADE_HERE.fullmatch, path.relative_to(ROOT).parts))]
    return sorted(path.relative_to(ROOT) for path in paths if path.is_file())


def _installed_name(path: Path) -> str:
    parts = path.parts
    return "/".join(["migrate_lint", *(parts[2:] if parts[:2] == ("linter", "package") else parts)])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from a clean copy: a stale ``build/lib`` would put deleted modules into it."""
    export = tmp_path_factory.mktemp("export")
    for path in _project_files():
        target = export / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    dist = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "-w", dist, export], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = dist.glob("migrate_lint-*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's files and nothing else of ours."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def _run(unpacked: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=unpacked, env=environment, capture_output=True, check=False, text=True)


def test_every_source_file_is_in_the_wheel(unpacked: Path) -> None:
    """A folder that pyproject.toml forgets is not shipped; neither is anything else."""
    expected = {_installed_name(path) for path in _project_files() if path.parts[0] in SOURCES}
    shipped = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}

    assert expected == {name for name in shipped if ".dist-info/" not in name}


def test_nothing_is_installed_at_the_top(unpacked: Path) -> None:
    """`rules` is another project's import name: a folder of that name at the top would overwrite it."""
    names = {path.name for path in unpacked.iterdir()}

    assert {"migrate_lint"} == {name for name in names if not name.endswith(".dist-info")}


def test_wheel_runs(unpacked: Path) -> None:
    """The module is found in the wheel, not in the checkout, and states the version of the metadata."""
    (metadata,) = unpacked.glob("*.dist-info")
    where = _run(unpacked, "-c", "import migrate_lint.linter as m; print(m.__file__)")
    version = _run(unpacked, "-m", "migrate_lint", "--version")

    assert where.stdout.strip() == str(unpacked / "migrate_lint" / "linter" / "__init__.py")
    assert (0, "") == (version.returncode, version.stderr)
    assert metadata.name.removeprefix("migrate_lint-").removesuffix(".dist-info") in version.stdout


def test_wheel_finds_every_rule(unpacked: Path) -> None:
    """The scan for rules works on the installed layout."""
    program = "from migrate_lint.linter.registry.registry import all_rules; print(len(list(all_rules())))"
    found = _run(unpacked, "-c", program)
    here = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)

    assert (0, here.stdout) == (found.returncode, found.stdout), found.stderr


@pytest.mark.tensorflow
def test_the_readme_shows_what_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of the README's sample output is printed by its first command, whatever the versions."""
    from migrate_lint.linter.cli.main import main

    readme = (ROOT / "README.md").read_text("utf-8")
    command = next(line for line in readme.split("\n") if "--exit-zero --runtime" in line)
    monkeypatch.chdir(ROOT)
    assert main([*command.rpartition("/migrate-lint ")[2].split(), "--no-cache"]) == 0
    printed = _without_versions(capsys.readouterr().out).split("\n")
    blocks = _without_versions(readme.partition("It prints")[2].partition("[docs/")[0]).split("```text\n")[1:]
    samples = [line for block in blocks for line in block.partition("```")[0].split("\n")]

    assert len(samples) > 8
    assert [] == [line for line in samples if line not in printed]


def _without_versions(text: str) -> str:
    return re.sub(r"\d+\.\d+\.\d+\S*", "VERSION", text)
