"""A short run of every harness; `python -m tests.hardening` is the long one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from . import running
from .__main__ import main
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
    assert sum(tally.inputs.values()) >= ROUNDS[name] - 1


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


@pytest.mark.slow
def test_the_command_runs_the_harnesses_that_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In processes of their own, and says what was tried."""
    assert 0 == main(["--minutes", "0.01", "--only", "injection", "--jobs", "1", "--keep", str(tmp_path / "kept")])

    printed = capsys.readouterr().out
    assert "injection: sarif\n" in printed
    assert printed.endswith("\n0 failures\n")
