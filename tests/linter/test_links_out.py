"""Links that lead out of a project: what lies there is not read, shown or written, unless somebody names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.source.discovery import project_files

Captured = pytest.CaptureFixture[str]
VICTIM = "import tensorflow as tf\nsecret = tf.placeholder(1)\n"
TOLD = "this is a link out of the project, and was not followed"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository beside what is not its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "victim.py").write_text(VICTIM)
    (tmp_path / "outside" / "secrets").write_text("root:$6$secret:19000::\nsecond secret\n")
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "pkg").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    Path("good.py").write_text("import tensorflow as tf\nx = tf.constant(1)\n")


def findings(capsys: Captured, *words: str, status: int = 1) -> list[tuple[str, str]]:
    assert status == main(["--output-format", "json", "--jobs", "1", "--no-cache", *words])
    printed = capsys.readouterr()
    assert "secret" not in printed.out + printed.err
    return [(one["path"], one["code"]) for one in json.loads(printed.out)["findings"]]


@pytest.mark.parametrize(
    "target", ["../outside/victim.py", "../outside/secrets", "/dev/zero", "/dev/stdin", "/etc", "../outside/gone"]
)
@pytest.mark.parametrize("name", ["link.py", "pkg/link.ipynb"])
def test_a_link_that_is_found_is_told_and_not_followed(name: str, target: str, capsys: Captured) -> None:
    """Nothing of its target comes out; a link to a folder is no file."""
    Path(name).symlink_to(target if target.startswith("/") or "/" not in name else f"../{target}")

    expected = [] if target == "/etc" else [(name, "TF900")]

    assert expected == findings(capsys, ".", status=int(bool(expected)))
    assert [os.path.abspath("good.py")] == project_files(Path("."))


def test_links_within_the_repository_are_followed(capsys: Captured) -> None:
    """Whatever folder of it is given, also where that is a project of its own."""
    Path("shared").mkdir()
    Path("shared/x.py").write_text("import tensorflow as tf\ny = tf.placeholder(1)\n")
    Path("pkg/setup.py").write_text("")
    Path("pkg/x.py").symlink_to("../shared/x.py")

    assert [("pkg/x.py", "TF402"), ("shared/x.py", "TF402")] == findings(capsys, ".")
    assert [("pkg/x.py", "TF402")] == findings(capsys, "pkg")


def test_links_of_a_project_that_is_reached_through_a_link(capsys: Captured, tmp_path: Path) -> None:
    """Its own files are its own under either name."""
    (tmp_path / "alias").symlink_to("repo")
    Path("m.py").write_text("import tensorflow as tf\ny = tf.placeholder(1)\n")
    Path("pkg/m.py").symlink_to("../m.py")

    found = findings(capsys, str(tmp_path / "alias"))

    assert [(str(tmp_path / "alias" / name), "TF402") for name in ("m.py", "pkg/m.py")] == found


def test_a_link_that_is_named_is_followed(capsys: Captured) -> None:
    """Somebody wants it."""
    Path("link.py").symlink_to("../outside/victim.py")

    assert 1 == main(["--no-cache", "--output-format", "concise", "link.py"])
    assert "link.py:2:10: TF402" in capsys.readouterr().out


def test_odd_links_hold_nothing_up(capsys: Captured) -> None:
    """Circles, links to FIFOs and FIFOs with the name of a module."""
    Path("a.py").symlink_to("b.py")
    Path("b.py").symlink_to("a.py")
    Path("self.py").symlink_to("self.py")
    os.mkfifo("fifo.py")
    Path("to_fifo.py").symlink_to("fifo.py")
    os.mkfifo("requirements.txt")
    os.mkfifo("pkg/.gitignore")
    Path("pkg/loop").symlink_to("..")

    found = findings(capsys, ".")

    assert [(name, "TF900") for name in ("a.py", "b.py", "fifo.py", "self.py", "to_fifo.py")] == found


@pytest.mark.parametrize("words", [["."], ["link.py"], ["pkg"], ["pkg/below/victim.py"]])
def test_comments_are_not_written_through_a_link(words: list[str], capsys: Captured, tmp_path: Path) -> None:
    """Neither through one that is named, nor through one to a folder: the target itself can be named."""
    Path("link.py").symlink_to("../outside/victim.py")
    Path("pkg/below").symlink_to("../../outside")

    main(["--no-cache", "--add-noqa=", *words])

    assert VICTIM == (tmp_path / "outside" / "victim.py").read_text()
    assert Path("link.py").is_symlink()
    if words in (["link.py"], ["pkg/below/victim.py"]):
        assert "this is a link out of the project, to " in capsys.readouterr().err
        assert 0 == main(["--no-cache", "--add-noqa=", "../outside/victim.py"])
        assert "disable=TF402" in (tmp_path / "outside" / "victim.py").read_text()


@pytest.mark.parametrize("name", ["lint.sarif", "reports/lint.sarif", "../repo/lint.sarif"])
def test_a_report_is_not_written_through_a_link(name: str, capsys: Captured, tmp_path: Path) -> None:
    """A repository that holds a link would choose what is replaced."""
    Path("lint.sarif").symlink_to("../outside/secrets")
    Path("reports").symlink_to("../outside")
    before = {path: path.read_bytes() for path in (tmp_path / "outside").iterdir()}

    assert 2 == main(["--no-cache", "--output-format", "sarif", "--output-file", name, "."])
    assert f"{name}: the report cannot be written: this is a link out of the project, to " in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in (tmp_path / "outside").iterdir()}


def test_a_report_is_written_where_somebody_says(tmp_path: Path) -> None:
    """Through links within the project, and through those that lie elsewhere."""
    Path("real.json").write_text("")
    Path("link.json").symlink_to("real.json")
    (tmp_path / "link.json").symlink_to("outside/report.json")

    for name in ("link.json", str(tmp_path / "link.json"), "../outside/other.json"):
        assert 0 == main(["--no-cache", "--output-format", "json", "--output-file", name, "good.py"])

    assert Path("link.json").is_symlink()
    assert '"summary"' in Path("real.json").read_text()
    assert '"summary"' in (tmp_path / "outside" / "report.json").read_text()


def test_a_report_of_a_project_elsewhere_is_not_written_through_its_links(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    """The linted folders count, too, and not the working folder alone."""
    Path("lint.json").symlink_to("../outside/secrets")
    monkeypatch.chdir("/")

    assert 2 == main(["--no-cache", "--output-file", str(tmp_path / "repo" / "lint.json"), str(tmp_path / "repo")])
    assert "this is a link out of the project" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["pyproject.toml", "migrate-lint.toml"])
@pytest.mark.parametrize("text", ["root:secret", "[tool.migrate-lint]\nsecret = 1", 'secret = "x"', '"secret'])
def test_a_configuration_from_elsewhere_is_not_quoted(name: str, text: str, capsys: Captured, tmp_path: Path) -> None:
    """The error names the link; who names the file is told all."""
    (tmp_path / "outside" / "secrets").write_text(f"# migrate-lint\n{text}\n")
    Path(name).symlink_to("../outside/secrets")

    status = main(["--no-cache", "."])

    printed = capsys.readouterr()
    assert "secret" not in printed.out + printed.err
    if status == 2:
        assert f"{name}: this is a link out of the project, to what is no configuration" in printed.err
        assert 2 == main(["--no-cache", "--config", name, "."])
    else:
        assert (0, "pyproject.toml") == (status, name)


@pytest.mark.parametrize("words", [[], ["--write-baseline"], ["--prune-baseline"]])
def test_a_baseline_is_no_link_to_elsewhere(words: list[str], capsys: Captured, tmp_path: Path) -> None:
    """It is neither read nor written."""
    text = '{"version": 1, "findings": ["secret"]}'
    (tmp_path / "outside" / "known.json").write_text(text)
    Path("known.json").symlink_to("../outside/known.json")

    assert 2 == main(["--no-cache", "--baseline", "known.json", *words, "."])
    printed = capsys.readouterr()
    assert "known.json: the baseline is a link out of the project, and is not followed" in printed.err
    assert "secret" not in printed.err
    assert text == (tmp_path / "outside" / "known.json").read_text()


@pytest.mark.parametrize("name", [".gitignore", "requirements.txt", "setup.py", ".env", "poetry.lock"])
def test_other_files_from_elsewhere_are_not_quoted(name: str, capsys: Captured) -> None:
    """Git follows no link in place of a `.gitignore`, either."""
    Path(name).symlink_to("../outside/secrets")

    found = findings(capsys, ".", status=int(name == "setup.py"))

    assert found == ([("setup.py", "TF900")] if name == "setup.py" else [])


def test_a_module_from_elsewhere_is_no_part_of_the_project(capsys: Captured) -> None:
    """Nothing of it comes out in the findings of files that import it."""
    Path("outer.py").symlink_to("../outside/victim.py")
    Path("model.py").write_text("import tensorflow as tf\nimport outer\ny = tf.identity(outer.secret_value)\n")
    command = [sys.executable, "-m", "migrate_lint", "--no-cache", "--output-format", "json", "model.py"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert "victim" not in done.stdout + done.stderr
    assert done.returncode in {0, 1}
