"""Configuration files, selectors and what is said of mistakes in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from migrate_lint.linter.settings.config import Config, ConfigError, load, parse, resolve, selected

CODES = {
    "TF101": "variable-in-call",
    "TF102": "variable-in-loop",
    "TF201": "print-in-trace",
    "TF900": "unparsable-file",
    "TF901": "unused-suppression",
    "TF908": "probe-failed",
    "TF909": "internal-error",
}


def own(text: str) -> Config:
    config = parse(text.encode(), "migrate-lint.toml")
    assert config is not None
    return config


def refusal(text: str, path: str = "migrate-lint.toml") -> str:
    with pytest.raises(ConfigError) as caught:
        parse(text.encode(), path)
    return str(caught.value)


def test_every_key_is_read() -> None:
    """The values come back frozen."""
    config = own(
        """
        select = ["TF1"]
        ignore = ["TF102"]
        extend-select = ["TF201"]
        exclude = ["gen"]
        target = "keras2"
        output-format = "concise"
        jobs = 3
        [per-file-ignores]
        "tests/*" = ["TF1"]
        """
    )

    assert (
        Config(
            base=os.getcwd(),
            path="migrate-lint.toml",
            select=("TF1",),
            ignore=("TF102",),
            extend_select=("TF201",),
            exclude=("gen",),
            per_file_ignores=(("tests/*", ("TF1",)),),
            target="keras2",
            output_format="concise",
            jobs=3,
        )
        == config
    )


def test_a_shared_file_counts_with_our_table_only() -> None:
    """Another project file on the way up does not end the search."""
    assert parse(b"[tool.ruff]\n", "pyproject.toml") is None
    assert parse(b"# migrate-lint\n[tool.ruff]\n", "pyproject.toml") is None
    config = parse(b"[tool.migrate-lint]\njobs = 2\n", "pyproject.toml")

    assert config is not None
    assert 2 == config.jobs


def test_the_nearest_file_wins(tmp_path: Path) -> None:
    """Upward from the folder, our own file before the shared one."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.migrate-lint]\njobs = 1\n")

    assert 1 == load(str(tmp_path / "a/b")).jobs

    (tmp_path / "a/pyproject.toml").write_text("[tool.migrate-lint]\njobs = 2\n")
    (tmp_path / "a/b/pyproject.toml").write_text("[project]\n")
    assert 2 == load(str(tmp_path / "a/b")).jobs

    (tmp_path / "a/migrate-lint.toml").write_text("jobs = 3\n")
    assert 3 == load(str(tmp_path / "a/b")).jobs
    assert str(tmp_path / "a") == load(str(tmp_path / "a/b")).base

    assert 0 == load(str(tmp_path / "a/b"), isolated=True).jobs
    assert 1 == load(str(tmp_path / "a/b"), file=str(tmp_path / "pyproject.toml")).jobs


def test_a_given_file_must_be_there_and_speak_of_us(tmp_path: Path) -> None:
    """Silently linting with the defaults would be worse."""
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    os.mkfifo(tmp_path / "fifo.toml")

    for name, reason in [("pyproject.toml", "no table"), ("none.toml", "no such file"), ("fifo.toml", "FIFO")]:
        with pytest.raises(ConfigError, match=reason):
            load(".", file=str(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jobs = 1\nselekt = []\n", "migrate-lint.toml:2: unknown key selekt; did you mean select?"),
        ("target = 'keras'\n", "not 'keras'; did you mean keras"),
        ("output-format = 3\n", "output-format is to be one of"),
        ("select = 'TF1'\n", "migrate-lint.toml:1: select is to be a list of strings"),
        ("exclude = [1]\n", "exclude is to be a list of strings"),
        ("jobs = -1\n", "jobs is to be"),
        ("jobs = true\n", "jobs is to be"),
        ("per-file-ignores = []\n", "is to be a table"),
        ("[per-file-ignores]\n'a' = 'TF1'\n", "migrate-lint.toml:2: a is to be a list"),
        ("jobs = 1\njobs = 2\n", "migrate-lint.toml:2: this is not TOML"),
        ("select = [\n", "migrate-lint.toml:2: this is not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, message: str) -> None:
    """And the nearest word that would be right."""
    assert message in refusal(text)


def test_a_mistake_in_a_shared_file_has_its_line_too() -> None:
    """Other tools' tables may have a key of the same name."""
    text = "[tool.other]\nselekt = 1\n\n[tool.migrate-lint]\nselekt = []\n"

    assert refusal(text, "pyproject.toml").startswith("pyproject.toml:5: unknown key selekt")
    assert "is to be a table" in refusal("tool.migrate-lint = 3\n", "pyproject.toml")


def test_bytes_that_are_not_utf8_are_named_with_their_line() -> None:
    """Never a traceback."""
    with pytest.raises(ConfigError, match=r"^migrate-lint\.toml:2: this line is not UTF-8"):
        parse(b"jobs = 1\n# \xe9\n", "migrate-lint.toml")


def test_a_byte_order_mark_is_no_mistake() -> None:
    """Editors on Windows write it."""
    config = parse(b"\xef\xbb\xbfselect = ['TF1']\n", "migrate-lint.toml")

    assert config is not None
    assert ("TF1",) == config.select


def test_selectors_are_checked() -> None:
    """Slugs become codes; prefixes and ALL stay."""
    assert ("TF101", "TF1", "ALL") == resolve(["variable-in-call", "TF1", "ALL"], CODES, "--select")
    with pytest.raises(ConfigError, match=r"--select: unknown rule TF1011; did you mean TF101\?"):
        resolve(["TF1011"], CODES, "--select")
    with pytest.raises(ConfigError, match="unknown rule E"):
        resolve(["E"], CODES, "--select")


@pytest.mark.parametrize(
    ("select", "ignore", "extend", "expected"),
    [
        (["ALL"], [], [], {"TF101", "TF102", "TF201", "TF901"}),
        (["ALL"], ["TF1"], [], {"TF201", "TF901"}),
        (["TF1"], ["TF102"], [], {"TF101"}),
        (["TF101"], ["TF1"], [], {"TF101"}),
        (["TF101"], ["TF101"], [], set()),
        (["TF1"], ["ALL"], [], {"TF101", "TF102"}),
        (["TF101"], [], ["TF2"], {"TF101", "TF201"}),
        ([], [], [], set()),
    ],
)
def test_the_longer_selector_wins(select: list[str], ignore: list[str], extend: list[str], expected: set[str]) -> None:
    """What was not linted or not run is reported whatever is selected."""
    assert expected | {"TF900", "TF908", "TF909"} == selected(select, ignore, extend, CODES)


def test_what_was_not_linted_is_ignored_by_its_own_name_only() -> None:
    """A crash of the linter never is."""
    assert {"TF900", "TF908", "TF909"} == selected(["TF201"], ["TF2", "TF9", "ALL"], [], CODES) - {"TF201"}
    assert set() == {"TF900", "TF908"} & selected(["ALL"], ["TF900", "TF908"], [], CODES)
    assert "TF909" in selected(["ALL"], ["TF909"], [], CODES)
