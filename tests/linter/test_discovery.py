"""Which files are found, and which are left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from migrate_lint.linter.source.discovery import (
    PathError,
    discover,
    display_path,
    left_out,
    marked_root,
    project_files,
)


@pytest.fixture(autouse=True)
def _working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*paths: str, text: str = "") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


def found(*paths: str, exclude: tuple[str, ...] = (), force_exclude: bool = False) -> list[str]:
    discovery = discover(paths or ["."], exclude=exclude, force_exclude=force_exclude)
    return [display_path(path, os.getcwd()) for path, _ in discovery.files]


def test_folders_are_walked_in_order() -> None:
    """Python files, stubs and notebooks only, sorted by path."""
    write("b/z.py", "b/a.pyi", "a.py", "notes.txt", "b/model.ipynb", ".ipynb_checkpoints/model.ipynb")

    assert ["a.py", "b/a.pyi", "b/model.ipynb", "b/z.py"] == found()


def test_a_file_is_found_once() -> None:
    """However often and however spelled it is given."""
    write("b/a.py")

    assert ["b/a.py"] == found("b", "b/a.py", "./b/../b/a.py", os.path.abspath("b/a.py"))


def test_a_file_of_any_name_is_taken_when_given() -> None:
    """A script needs no suffix."""
    write("train")

    assert ["train"] == found("train")


def test_a_folder_named_like_a_file_is_walked() -> None:
    """The suffix does not decide what something is."""
    write("x.py/inner.py")

    assert ["x.py/inner.py"] == found()
    assert ["x.py/inner.py"] == found("x.py")


def test_links_to_folders_are_not_followed() -> None:
    """So a loop has no end to reach; a link that is given is walked."""
    write("a/m.py")
    Path("a/loop").symlink_to("..")
    Path("a/loop.py").symlink_to("..")
    Path("linked").symlink_to("a")

    assert ["a/m.py"] == found()
    assert ["linked/m.py"] == found("linked")


def test_what_cannot_be_read_is_found() -> None:
    """A dangling link or a FIFO with a Python name is reported by whoever reads it, not passed over."""
    Path("gone.py").symlink_to("nowhere")
    os.mkfifo("fifo.py")

    assert ["fifo.py", "gone.py"] == found()
    assert ["gone.py"] == found("gone.py")


def test_a_missing_path_is_an_error() -> None:
    """All missing paths are named."""
    with pytest.raises(PathError, match=r"(?s)a\.py: there is no such file.*b: there is no such file"):
        discover(["a.py", "b"])


def test_notebooks_are_no_part_of_a_project() -> None:
    """Nothing imports them, so linting one file reads none of them."""
    write("a.py", "b.ipynb")

    assert ["a.py"] == [display_path(path, os.getcwd()) for path in project_files(Path())]


def test_an_empty_folder_is_named() -> None:
    """Nothing found is not the same as nothing wrong."""
    Path("empty").mkdir()
    write("a.py")

    assert ("empty",) == discover(["empty", "a.py"]).empty


def test_usual_folders_are_left_out() -> None:
    """Environments, caches and build products; a virtual environment under any name."""
    write(".git/a.py", "venv/a.py", "x.egg-info/a.py", "pkg/__pycache__/a.py", "build/a.py", "pkg/a.py")
    write("env39/pyvenv.cfg", "env39/lib/a.py")

    assert ["pkg/a.py"] == found()
    assert ["build/a.py"] == found("build")


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("gen_*", ["a/m.py", "m.py", "t/b/m.py"]),
        ("a", ["gen_x.py", "m.py", "t/b/m.py"]),
        ("a/", ["gen_x.py", "m.py", "t/b/m.py"]),
        ("a/*", ["gen_x.py", "m.py", "t/b/m.py"]),
        ("./t/**/m.py", ["a/m.py", "gen_x.py", "m.py"]),
        ("m.py", ["gen_x.py"]),
    ],
)
def test_globs_leave_out_names_and_paths(glob: str, expected: list[str]) -> None:
    """Without a slash a glob is about any name, with one about the path from the base."""
    write("a/m.py", "gen_x.py", "m.py", "t/b/m.py")

    assert expected == found(exclude=(glob,))


def test_a_path_that_may_not_be_seen_is_an_error_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is forbidden is not called missing; a name that is too long is neither."""

    def forbidden(path: str) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(PathError, match="too long"):
        discover(["a" * 5000])
    monkeypatch.setattr(os, "lstat", forbidden)
    with pytest.raises(PathError, match=r"^private/a\.py: Permission denied$"):
        discover(["private/a.py"])


def test_a_backslash_in_a_glob_is_a_slash() -> None:
    """A configuration that was written on Windows leaves out the same."""
    write("pkg/gen/a.py", "pkg/b.py")

    assert ["pkg/b.py"] == found(exclude=("pkg\\gen\\",)) == found(exclude=(".\\pkg\\g*",))


def test_excluded_files_are_linted_when_given() -> None:
    """Unless `force_exclude` says that whoever gives them, like pre-commit, did not choose them."""
    write("venv/a.py", "gen/b.py", "c.py")

    assert ["c.py", "gen/b.py", "venv/a.py"] == found("venv/a.py", "gen/b.py", "c.py", exclude=("gen",))
    assert ["c.py"] == found("venv/a.py", "gen/b.py", "c.py", exclude=("gen",), force_exclude=True)
    assert [] == found("venv", force_exclude=True)


def test_ignore_files_are_honoured() -> None:
    """Nested ones too, the inner before the outer, and those above the folder that is given."""
    write(".git/HEAD", "a.py", "out/b.py", "pkg/gen_c.py", "pkg/keep/gen_d.py", "pkg/e.py")
    write(".gitignore", text="out/\ngen_*.py\n")
    write("pkg/keep/.gitignore", text="!gen_d.py\n")

    assert ["a.py", "pkg/e.py", "pkg/keep/gen_d.py"] == found()
    assert ["pkg/e.py", "pkg/keep/gen_d.py"] == found("pkg")
    assert ["out/b.py"] == found("out")
    assert ["pkg/gen_c.py"] == found("pkg/gen_c.py")
    assert [] == found("pkg/gen_c.py", "out/b.py", force_exclude=True)


def test_ignore_files_end_at_the_repository() -> None:
    """A clone inside an ignored folder of another repository is read on its own terms."""
    write(".git/HEAD", "vendor/clone/.git/HEAD", "vendor/clone/a.py")
    write(".gitignore", text="vendor/\n*.py\n")

    assert ["vendor/clone/a.py"] == found("vendor/clone")


def test_a_broken_ignore_file_is_read_as_far_as_it_goes() -> None:
    """One bad pattern does not take the others down."""
    write(".gitignore", text="a.py\n!\n")
    write("a.py", "b.py")

    assert ["b.py"] == found()


def test_a_folder_that_cannot_be_listed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would otherwise pass as clean."""
    write("a.py", "locked/b.py")
    listing = os.scandir

    def scandir(folder: str) -> object:
        if folder.endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return listing(folder)

    monkeypatch.setattr(os, "scandir", scandir)

    discovery = discover(["."])

    assert ((os.path.abspath("locked"), "Permission denied"),) == discovery.unreadable


def test_the_root_is_the_nearest_marked_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The home folder is never a project."""
    write("home/.git/HEAD", "home/p/setup.py", "home/p/pkg/a.py", "home/loose/a.py")
    monkeypatch.setenv("HOME", os.path.abspath("home"))

    assert os.path.abspath("home/p") == marked_root(os.path.abspath("home/p/pkg"))
    assert os.path.abspath("home/p") == marked_root(os.path.abspath("home/p"))
    assert marked_root(os.path.abspath("home/loose")) is None


def test_the_files_of_a_project_are_those_of_a_walk() -> None:
    """Absolute, sorted and without what walks leave out."""
    write("pkg/b.py", "pkg/a.py", "venv/c.py")

    assert [os.path.abspath("pkg/a.py"), os.path.abspath("pkg/b.py")] == project_files(Path("."))


def test_parents_are_resolved_through_links() -> None:
    """`link/../a.py` is what the system opens, not `a.py`."""
    write("real/deep/x.py", "real/a.py", "a.py")
    Path("link").symlink_to("real/deep")

    assert ["real/a.py"] == found("link/../a.py")


def test_what_lies_outside_the_working_folder_is_shown_absolute(tmp_path: Path) -> None:
    """Inside it is relative."""
    assert "a/b.py" == display_path(os.path.join(str(tmp_path), "a", "b.py"), str(tmp_path))
    assert "/elsewhere/b.py" == display_path("/elsewhere/b.py", str(tmp_path))
    assert not left_out("/elsewhere/venv/b.py", (), str(tmp_path))
