"""Who owns a file, as `CODEOWNERS` says."""

from __future__ import annotations

from pathlib import Path

import pytest
from migrate_lint.linter.source.owners import Owners, owners_in


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("*", ["m.py", "a/b/m.py"], []),
        ("*.py", ["m.py", "a/b/m.py"], ["m.ipynb"]),
        ("/build/logs/", ["build/logs/m.py", "build/logs/a/m.py"], ["a/build/logs/m.py", "build/m.py"]),
        ("docs/*", ["docs/m.py"], ["docs/a/m.py", "a/docs/m.py"]),
        ("/*", ["m.py"], ["a/m.py"]),
        ("apps/", ["apps/m.py", "a/apps/b/m.py"], ["apps"]),
        ("/docs/", ["docs/m.py"], ["a/docs/m.py"]),
        ("apps/github", ["apps/github/m.py", "apps/github"], ["a/apps/github/m.py"]),
        ("**/logs", ["logs/m.py", "a/b/logs/m.py"], ["logs.py"]),
        ("docs/**/m.py", ["docs/m.py", "docs/a/b/m.py"], ["m.py"]),
        ("src/**", ["src/m.py", "src/a/m.py"], ["m.py"]),
        ("m?.py", ["a/m1.py"], ["m.py", "m12.py"]),
        (r"my\ models/", ["my models/m.py"], ["models/m.py"]),
        ("Model.py", ["Model.py"], ["model.py"]),
    ],
)
def test_a_pattern_is_read_as_github_reads_it(pattern: str, inside: list[str], outside: list[str]) -> None:
    """`docs/*` speaks of no folder below, which is where a `.gitignore` differs."""
    owners = Owners(f"{pattern} @ada", "CODEOWNERS")

    assert [] == owners.problems
    assert dict.fromkeys(inside, ("@ada",)) == {path: owners.of(path) for path in inside}
    assert dict.fromkeys(outside, ()) == {path: owners.of(path) for path in outside}


def test_the_last_line_that_matches_decides() -> None:
    """Also where it gives a folder, and where it says that there is no owner."""
    lines = ["\ufeff# all", "*  @ml\r", "src/*.py @ada @org/team # x", "src/old/ bob@example.org", "/src/old/free.py"]
    owners = Owners("\n".join(lines), "CODEOWNERS")

    assert [] == owners.problems
    assert ("@ml",) == owners.of("m.py")
    assert ("@ada", "@org/team") == owners.of("src/m.py")
    assert ("bob@example.org",) == owners.of("src/old/a/m.py")
    assert () == owners.of("src/old/free.py")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("*.py ada", "ada is no owner"),
        ("*.py @ada @", "@ is no owner"),
        ("!*.py @ada", "taken back"),
        ("m[12].py @ada", "cannot have [ ]"),
        ("/ @ada", "no pattern"),
    ],
)
def test_a_line_that_says_nothing_is_told_and_passed_over(line: str, why: str) -> None:
    """With file and line; what stood before it holds."""
    owners = Owners(f"*.py @ml\n\n{line}\n", "docs/CODEOWNERS")

    (told,) = owners.problems
    assert told.startswith("docs/CODEOWNERS:3: ")
    assert why in told
    assert ("@ml",) == owners.of("m1.py")


def test_sections_of_gitlab_are_told_once() -> None:
    """Their lines count as one list."""
    owners = Owners("[Models] @ml\n*.py @ada\n^[Docs][2]\ndocs/ @bob\n", "CODEOWNERS")

    assert ["CODEOWNERS:1: sections are not followed: of all lines the last one that matches counts"] == owners.problems
    assert (("@ada",), ("@bob",)) == (owners.of("m.py"), owners.of("docs/m.py"))


def test_the_first_file_that_is_there_counts(tmp_path: Path) -> None:
    """In the order in which GitHub looks for it."""
    assert owners_in(str(tmp_path)) is None
    for folder in ("docs", ".", ".github"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "CODEOWNERS").write_text(f"* @{folder.strip('.') or 'root'}\n")
        found = owners_in(str(tmp_path))
        assert found is not None
        assert (f"@{folder.strip('.') or 'root'}",) == found.of("m.py")


def test_a_link_out_of_the_repository_is_not_read(tmp_path: Path) -> None:
    """What it leads to would be quoted."""
    (tmp_path / "secret").write_text("word\n")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "CODEOWNERS").symlink_to("../secret")

    with pytest.raises(OSError, match="link out of the project"):
        owners_in(str(tmp_path / "project"))


def test_thousands_of_lines_and_files_take_moments() -> None:
    """Each folder is asked for once."""
    text = "".join(f"/part{number}/ @team{number}\n" for number in range(2000))
    owners = Owners(text, "CODEOWNERS")

    found = {owners.of(f"part{number % 2000}/a/b/m{number}.py") for number in range(4000)}
    assert {(f"@team{number}",) for number in range(2000)} == found
