"""Addresses that open a finding."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.settings.config import ConfigError, parse
from migrate_lint.linter.settings.link_template import LinkTemplateError, address, require_template

GITHUB = "https://github.com/org/repo/blob/main/{path}#L{line}"


@pytest.mark.parametrize(
    ("template", "found"),
    [
        (GITHUB, "https://github.com/org/repo/blob/main/src/m.py#L12"),
        ("vscode://file/{absolute}:{line}:{column}", "vscode://file/p/src/m.py:12:5"),
        ("pycharm://open?file={absolute}&line={line}", "pycharm://open?file=/p/src/m.py&line=12"),
        ("file:{absolute}", "file:/p/src/m.py"),
    ],
)
def test_an_address_has_the_place_of_a_finding(template: str, found: str) -> None:
    """A slash before an absolute path is not doubled."""
    assert found == address(require_template(template), "src/m.py", "/p/src/m.py", 12, 5)


@pytest.mark.parametrize(
    "name", ["a b.py", "a#b?c&d=e.py", "100%.py", "é日.py", "a\"><script>'.py", "{line}.py", "a+b.py"]
)
def test_a_path_is_quoted(name: str) -> None:
    """It stays one path, whatever it holds."""
    found = address(GITHUB, f"src/{name}", f"/p/src/{name}", 1, 1)

    assert found is not None
    parts = urlsplit(found)
    assert (f"/org/repo/blob/main/src/{name}", "", "L1") == (unquote(parts.path), parts.query, parts.fragment)
    assert not set("\"'<> ") & set(found)


def test_a_name_that_is_no_unicode_is_quoted_by_its_bytes() -> None:
    """As the file system has them."""
    assert "x:/%FF.py" == address("x:/{path}", "\udcff.py", "/p/\udcff.py", 1, 1)


def test_a_file_elsewhere_has_no_address_in_the_repository() -> None:
    """An editor opens it all the same."""
    assert address(GITHUB, None, "/elsewhere/m.py", 1, 1) is None
    assert "x:/elsewhere/m.py" == address("x:{absolute}", None, "/elsewhere/m.py", 1, 1)


BAD = [
    ("javascript:alert('{path}')", "refused"),
    ("JavaScript://{path}", "refused"),
    ("data:text/html,{path}", "refused"),
    (" javascript:{path}", "begin with a scheme"),
    ("java\tscript:{path}", "begin with a scheme"),
    ("{path}:{line}", "begin with a scheme"),
    ("//host/{path}", "begin with a scheme"),
    ("https://host/{path} {line}", "no space"),
    ("https://host/\u202e{path}", "no space"),
    ("https://host/{file}", "unknown placeholder {file}, known are {path}"),
    ("https://host/{paht}", "did you mean path?"),
    ("https://host/{path", "a brace stands alone"),
    ("https://host/{{path}}", "a brace stands alone"),
    ("https://host/{line}", "one address"),
    ("https://host/", "one address"),
]


@pytest.mark.parametrize(("template", "why"), BAD)
def test_what_is_no_template_is_refused(template: str, why: str) -> None:
    """What runs code in the page that shows it, above all."""
    with pytest.raises(LinkTemplateError) as caught:
        require_template(template)

    assert why in str(caught.value)


def test_the_configuration_has_a_template() -> None:
    """A bad one is told with its line."""
    config = parse(f"target = 'keras3'\nlink-template = '{GITHUB}'\n".encode(), "/p/migrate-lint.toml")

    assert config is not None
    assert GITHUB == config.link_template
    for value, why in {"'javascript:{path}'": "refused", "7": "is to be an address"}.items():
        with pytest.raises(ConfigError, match=rf"toml:2: link-template.*{why}"):
            parse(f"target = 'keras3'\nlink-template = {value}\n".encode(), "/p/migrate-lint.toml")


def test_the_command_line_stands_above_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty one means none."""
    (tmp_path / "migrate-lint.toml").write_text("link-template = 'x:{path}'\n")
    monkeypatch.chdir(tmp_path)

    for words, said in {(): "x:{path}", ("y:{path}",): "y:{path}", ("",): "none"}.items():
        assert 0 == main(["--show-settings", *(part for word in words for part in ("--link-template", word))])
        assert f"link-template: {said}\n" in capsys.readouterr().out
