"""What the text after ``--runtime`` means."""

from __future__ import annotations

from pathlib import Path

import pytest
from migrate_lint.runtime_checks.locate import Located, LocateError, locate


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A script, a package with a package in it, and a second package below ``src``."""
    for name in (
        "model.py", "my-model.py", "notes.txt", "pkg/__init__.py", "pkg/nets.py", "pkg/odd.name.py",
        "pkg/deep/__init__.py", "pkg/deep/resnet.py", "src/inner/__init__.py", "src/inner/model.py", "plain/nets.py",
        "a-b/__init__.py", "a-b/nets.py", "odd:1/model.py",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path.resolve()


def refusal(text: str, cwd: Path) -> str:
    """The sentence that a text is refused with."""
    with pytest.raises(LocateError) as caught:
        locate(text, str(cwd))
    return str(caught.value)


def test_a_script_is_imported_from_its_own_folder(project: Path) -> None:
    """Its folder comes first, then the working directory, then the root; without a package it has no module name."""
    found = locate("plain/nets.py:make", str(project / "."), str(project.parent))

    assert (
        Located(
            str(project / "plain" / "nets.py"),
            None,
            "make",
            (str(project / "plain"), str(project), str(project.parent)),
        )
        == found
    )


def test_a_file_of_a_package_is_imported_from_above_the_topmost_package(project: Path) -> None:
    """Its dotted name runs from the topmost folder with an ``__init__.py``."""
    found = locate("resnet.py:build", str(project / "pkg" / "deep"))

    assert "pkg.deep.resnet" == found.module
    assert (str(project), str(project / "pkg" / "deep")) == found.search_path


def test_an_init_file_is_its_package(project: Path) -> None:
    """``pkg/__init__.py`` is the module ``pkg``."""
    assert "pkg" == locate("pkg/__init__.py:build", str(project)).module
    assert "pkg.deep" == locate("pkg/deep/__init__.py", str(project)).module


def test_a_name_that_cannot_be_imported_has_no_module(project: Path) -> None:
    """A dot in a file name, and a folder whose name is no identifier, make no dotted name."""
    assert None is locate("pkg/odd.name.py", str(project)).module
    assert None is locate("my-model.py", str(project)).module
    assert (None, str(project / "a-b")) == (
        (found := locate("a-b/nets.py", str(project))).module,
        found.search_path[0],
    )


def test_the_name_is_build_unless_it_is_given(project: Path) -> None:
    """A dotted name stays as it is."""
    assert "build" == locate("model.py", str(project)).attribute
    assert "Factory.build" == locate("model.py:Factory.build", str(project)).attribute
    assert "build" == locate("pkg.nets", str(project)).attribute


def test_a_dotted_module_is_a_file_of_the_project(project: Path) -> None:
    """It is looked for below the working directory, the root, and ``src`` of either."""
    assert Located(str(project / "pkg" / "nets.py"), "pkg.nets", "Net.make", (str(project),)) == locate(
        "pkg.nets:Net.make", str(project)
    )
    assert str(project / "model.py") == locate("model:build", str(project)).file
    assert str(project / "pkg" / "deep" / "__init__.py") == locate("pkg.deep:build", str(project)).file
    found = locate("inner.model:build", str(project / "plain"), str(project))

    assert str(project / "src" / "inner" / "model.py") == found.file
    assert (str(project / "src"), str(project / "plain"), str(project)) == found.search_path


def test_an_installed_module_has_no_file(project: Path) -> None:
    """The worker's own interpreter has to find it."""
    assert Located(None, "somewhere.other", "build", (str(project),)) == locate("somewhere.other:build", str(project))


def test_an_absolute_path_and_a_link_are_resolved(project: Path) -> None:
    """``file`` is a real path whatever the working directory is."""
    link = project / "linked.py"
    link.symlink_to(project / "pkg" / "nets.py")

    assert str(project / "model.py") == locate(f"{project}/model.py:build", "/").file
    assert (str(project / "pkg" / "nets.py"), "pkg.nets") == (
        (found := locate("linked.py", str(project))).file,
        found.module,
    )


def test_a_colon_of_the_path_splits_nothing(project: Path) -> None:
    """Neither that of a Windows drive nor any other before a separator."""
    (project / "C:\\x.py").write_text("")

    assert str(project / "odd:1" / "model.py") == locate("odd:1/model.py", str(project)).file
    assert str(project / "odd:1" / "model.py") == locate("odd:1/model.py:make", str(project)).file
    assert (str(project / "C:\\x.py"), "build") == (
        (found := locate("C:\\x.py", str(project))).file,
        found.attribute,
    )
    assert (str(project / "C:\\x.py"), "make") == (
        (found := locate("C:\\x.py:make", str(project))).file,
        found.attribute,
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("modle.py:build", "there is no file modle.py; did you mean model.py?"),
        ("pkg/net.py:build", "there is no file pkg/net.py; did you mean pkg/nets.py?"),
        ("pkg/nets:build", "there is no file pkg/nets; did you mean pkg/nets.py?"),
        ("nowhere/x.py:build", "there is no file nowhere/x.py: there is no folder nowhere"),
        ("plain/:build", "plain/ is a folder; name a file in it, for example plain/model.py:build"),
        (".:build", ". is a folder; name a file in it, for example ./model.py:build"),
        ("./pkg", "./pkg is a folder; name a file in it, for example ./pkg/__init__.py:build"),
        ("a-b:build", "a-b is a folder; name a file in it, for example a-b/__init__.py:build"),
        ("notes.txt:build", "notes.txt is neither a .py file nor a notebook"),
        ("model.py:", "no name follows the colon of 'model.py:'; write for example model.py:build"),
        (":build", "':build' names no file and no module; write for example model.py:build"),
        ("", "'' names no file and no module; write for example model.py:build"),
        ("pkg..nets:build", "'pkg..nets' is neither a .py file nor the dotted name of a module"),
        ("my-module:build", "'my-module' is neither a .py file nor the dotted name of a module"),
        ("model.py:a b", "'a b', after the colon of 'model.py:a b', is not a name"),
        ("model.py:class", "'class', after the colon of 'model.py:class', is not a name"),
        (
            "model.py:build(3)",
            "'build(3)', after the colon of 'model.py:build(3)', is not a name; "
            "write model.py:build, it is called for you",
        ),
    ],
)
def test_a_text_that_names_nothing_is_refused_in_a_sentence(project: Path, text: str, sentence: str) -> None:
    """Each says what is wrong and, where that can be known, what to write."""
    assert sentence == refusal(text, project)
