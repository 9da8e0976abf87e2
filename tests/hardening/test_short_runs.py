"""A short run of every harness; `python -m tests.hardening` is the long one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from migrate_lint.linter.finding import INTERNAL_ERROR, Finding
from migrate_lint.linter.result import Result
from migrate_lint.linter.run import pipeline
from migrate_lint.linter.settings.config import Config

from ..linter.reports import FINDING, result_of
from . import injection, running, source
from .__main__ import Runner, main
from .tally import Tally

SEED = 20
ROUNDS = {
    "source": 5,
    "grammar": 2,
    "notebooks": 4,
    "configuration": 40,
    "caches": 200,
    "recordings": 40,
    "results": 200,
    "kills": 260,
    "injection": 25,
}
"""How often each is asked whether it is time to end."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The harnesses change the working folder, the environment and the recursion limit as they like."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the harnesses fork, and limit the time of a processor by signals")
@pytest.mark.parametrize("name", ROUNDS)
def test_nothing_falls(name: str, tmp_path: Path) -> None:
    """Inputs of a fixed seed, the same in every run."""
    tally = Tally(tmp_path / "kept")
    rounds = iter(range(ROUNDS[name]))

    running.harnesses()[name].run(tally, SEED, lambda: next(rounds, None) is None)

    assert [] == tally.failures
    assert sum(tally.inputs.values()) > ROUNDS[name] * 0.8  # a writer may end before it is killed


def test_every_harness_is_tried() -> None:
    """Those with tests of their own have none here."""
    own = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}

    assert set(running.harnesses()) - own == set(ROUNDS)


class Falling(ModuleType):
    """A harness whose second input falls."""

    WEIGHT = 2.0

    def run(self, tally: Tally, seed: int, until: object) -> None:
        tally.tried("good")
        tally.tried("bad")
        tally.took("bad", 1.5, "3 bytes")
        tally.failed("bad", "it fell", b"\xff\0x")


def test_what_falls_is_kept_and_told(tmp_path: Path) -> None:
    """With the bytes of the input, in a file that is named; a second harness adds to the first."""
    first, total = Tally(tmp_path / "kept"), Tally(tmp_path)
    Falling("falling").run(first, 1, None)
    first.save(tmp_path / "a.json")
    total.add(tmp_path / "a.json")
    total.add(tmp_path / "a.json")

    assert {"good": 2, "bad": 2} == total.inputs
    assert {"bad": (1.5, "3 bytes")} == total.slowest
    ((kind, detail, path), again) = total.failures
    assert (("bad", "it fell"), again) == ((kind, detail), (kind, detail, path))
    assert b"\xff\0x" == Path(path).read_bytes()


def test_the_input_that_falls_is_found_among_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Inputs are linted together, and halved until one is left."""

    def lint(paths: Sequence[str], config: Config) -> Result:
        if any(b"FALLS" in path.read_bytes() for path in Path(paths[0]).rglob("*.py")):
            raise KeyError("x")
        return pipeline.lint(paths, config)

    monkeypatch.setattr(source, "lint", lint)
    tally = Tally(tmp_path / "kept")
    source.Linting(tally).judge([("good", f"m{one}.py", b"x = 1\n") for one in range(5)] + [("bad", "b.py", b"FALLS")])

    ((kind, detail, path),) = tally.failures
    assert ("bad", b"FALLS") == (kind, Path(path).read_bytes())
    assert detail.startswith("KeyError: 'x' at ")
    assert {"good": 5, "bad": 1} == tally.inputs


def test_an_input_that_hangs_falls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its time is the processor's."""

    def lint(paths: Sequence[str], config: Config) -> Result:
        while True:
            pass

    monkeypatch.setattr(source, "lint", lint)
    monkeypatch.setattr(source, "_HANGING", 0.02)
    tally = Tally(tmp_path / "kept")
    source.Linting(tally).judge([("bad", "b.py", b"x")])

    assert [("bad", "over 0.02 s of a processor")] == [failure[:2] for failure in tally.failures]


@pytest.mark.parametrize(
    ("finding", "problem"),
    [
        (FINDING, ""),
        (INTERNAL_ERROR.at("pkg/m.py", "it crashed"), "it crashed"),
        (replace(FINDING, line=9, end_line=9), "there is no line 9"),
        (replace(FINDING, end_column=99), "line 2 has no column 99"),
        (replace(FINDING, end_line=1), "it ends before it begins"),
        (replace(FINDING, column=0), "lines and columns begin with 1"),
    ],
)
def test_a_finding_out_of_its_file_is_wrong(finding: Finding, problem: str) -> None:
    """As is one that a rule raised."""
    assert source.wrong(result_of(finding)).endswith(problem)
    assert bool(problem) == bool(source.wrong(result_of(finding)))


@pytest.mark.parametrize(
    ("form", "text", "problem"),
    [
        ("text", "a\n  ::error::b\n", "a command"),
        ("concise", "a ##[error]b\n", "a command"),
        ("github", "::error file=a::b\nx\n", "no annotation: 'x'"),
        ("json", '{"a": "\x1b"}', "'\\x1b' in"),
        ("sarif", "{}", "version"),
        ("junit", "<a><b></a>", "mismatched tag"),
        ("html", "<p><hostile>", "markup of a stranger"),
    ],
)
def test_a_report_that_a_stranger_has_written_in_is_wrong(form: str, text: str, problem: str) -> None:
    """Each format by what reads it."""
    usual = {"github": "::error file=a::b\n", "junit": "<a></a>"}.get(form, "a\n" if form != "html" else "<p>")

    assert problem in injection.wrong(form, text, usual)


@pytest.mark.slow
def test_a_harness_that_dies_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its working folder, with the last input, is named."""
    runner = Runner(tmp_path, 1, [])
    runner.start("gone", 1, 1.0)
    ((kind, detail, _),) = runner.finish().failures

    assert "gone" == kind
    assert detail == f"the harness ended with 1; its last input is in {tmp_path / 'gone-1-work'}"


@pytest.mark.slow
def test_the_command_runs_the_harnesses_that_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In processes of their own, and says what was tried."""
    assert 0 == main(
        ["--minutes", "0.01", "--only", "injection", "--jobs", "1", "--seed", "1", "--keep", str(tmp_path / "kept")]
    )

    printed = capsys.readouterr().out
    assert "injection: sarif\n" in printed
    assert printed.endswith("\n0 failures\n")
