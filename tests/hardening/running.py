"""One harness, as a process runs it."""

from __future__ import annotations

import inspect
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from . import corpus
from .tally import Tally

_SAVING = 5.0
"""Seconds between two states of a tally that outlive a crash."""
_MEMORY = 12 << 30
"""Bytes of address space that a harness may take."""


def harnesses() -> dict[str, ModuleType]:
    """The modules of this folder that have a `run(tally, ...)`, by name."""
    names = sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith(("test_", "_", "conftest"))
    )
    modules = {name: import_module(f".{name}", __package__) for name in names}
    return {name: module for name, module in modules.items() if _is_harness(module)}


def _is_harness(module: ModuleType) -> bool:
    """Others have a `run` of another kind."""
    return hasattr(module, "run") and next(iter(inspect.signature(module.run).parameters), "") == "tally"


def run_one(name: str, seed: int, seconds: float, folder: Path, corpora: Sequence[str]) -> None:
    """One harness, in a process of its own; its working folder, with its last input, outlives a crash."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    work = folder / f"{name}-{seed}-work"
    work.mkdir(parents=True)
    tempfile.tempdir = os.environ["TMPDIR"] = str(work)
    os.environ["XDG_CACHE_HOME"] = str(work / "no-cache")
    os.chdir(work)
    corpus.folders(corpora)
    tally = Tally(folder / f"{name}-{seed}")
    end = time.monotonic() + seconds
    states = 0

    def save() -> None:
        tally.seconds = time.process_time()
        tally.save(folder / f"{name}-{seed}.json")

    def until() -> bool:
        """Whether the time is over; not before there was a round."""
        nonlocal states
        if time.monotonic() >= end - seconds + states * _SAVING:
            states += 1
            save()
            if states == 1:
                return False
        return time.monotonic() >= end

    harnesses()[name].run(tally, seed, until)
    save()
