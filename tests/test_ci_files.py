"""What is offered to CI servers and containers: its commands run, and its options are there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from migrate_lint.linter.cli.main import parsers

ROOT = Path(__file__).parents[1]
TEMPLATE = ROOT / "examples" / "ci" / "migrate-lint.gitlab-ci.yml"


def step(name: str) -> dict[str, Any]:
    """A step of the GitHub Action."""
    (found,) = [
        one for one in yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
        if one.get("name") == name
    ]  # fmt: skip
    return dict(found)


@pytest.mark.skipif(sys.platform == "win32", reason="the step runs in bash")
@pytest.mark.parametrize(
    ("options", "text", "status"),
    [("", "tf.Session()\n", 1), ("--target keras2", "tf.float32\n", 0), ("--no-such-option", "", 2)],
)
def test_the_action_lints(tmp_path: Path, options: str, text: str, status: int) -> None:
    """Its step as GitHub runs it: annotations, a SARIF file, a summary of the job, and the status of the run."""
    (tmp_path / "m.py").write_text(f"import tensorflow as tf\n{text}")
    inputs = {"PATHS": "m.py", "OPTIONS": options, "SARIF": "found.sarif"}
    written = {name: str(tmp_path / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    assert {*inputs} == {*step("Lint")["env"]}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Lint")["run"]],
        cwd=tmp_path,
        env={**os.environ, **inputs, **written, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert status == done.returncode
    assert "sarif=found.sarif\n" == Path(written["GITHUB_OUTPUT"]).read_text()
    summary = Path(written["GITHUB_STEP_SUMMARY"]).read_text()
    assert summary.startswith("### migrate-lint\n```text\n") and summary.endswith("```\n")
    if status == 1:
        assert done.stdout.startswith("::error file=m.py,line=2,")
        assert "TF401" in summary
    if status < 2:
        assert status == len(json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"])


def test_the_action_installs_what_it_is_part_of() -> None:
    """Its inputs reach scripts through the environment alone, where their text is no code."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    scripts = [one["run"] for one in action["runs"]["steps"] if "run" in one]

    assert 2 == len(scripts)
    assert not [one for one in scripts if "${{" in one]
    assert {"paths", "options", "sarif", "python-version"} == {*action["inputs"]}


@pytest.mark.skipif(sys.platform == "win32", reason="the job runs in a shell")
def test_the_template_of_gitlab_writes_its_reports(tmp_path: Path) -> None:
    """The script of its job, and the artifacts that it promises."""
    template = yaml.safe_load(TEMPLATE.read_text("utf-8"))
    job = template["migrate-lint"]
    (tmp_path / "m.py").write_text("import tensorflow as tf\ntf.Session()\n")
    variables = {name: str(value) for name, value in template["variables"].items()}
    done = subprocess.run(
        ["sh", "-ec", "\n".join(job["script"])],
        cwd=tmp_path,
        env={**os.environ, **variables, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 1 == done.returncode
    assert "TF401" in done.stdout
    for file in job["artifacts"]["reports"].values():
        assert "TF401" in (tmp_path / file).read_text()


def test_the_container_has_what_its_comment_says() -> None:
    """The option is there, and what is to be installed is an extra of ours."""
    text = (ROOT / "examples" / "devcontainer" / "Dockerfile").read_text("utf-8")
    json.loads((ROOT / "examples" / "devcontainer" / "devcontainer.json").read_text("utf-8"))

    assert "--python-tf1" in text
    assert "--python-tf1" in parsers()["verify"]._option_string_actions
    assert "migrate-lint[runtime,lsp]" in text
