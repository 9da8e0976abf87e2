"""Throws made-up inputs at migrate-lint for as long as it is told to: `python -m tests.hardening --minutes 60`.

A harness is a module of this folder with a function `run(tally, seed, until)`, which tries inputs until `until()`;
`WEIGHT` is its share of the time, 1.0 where it names none. Each runs in a process of its own, so that one that dies is
a failure like any other. The exit status is 1 if anything fell.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .running import harnesses, run_one
from .tally import Tally

_SLACK = 600.0
"""Seconds that a harness may take beyond its share before it is ended."""


class Runner:
    """Processes for harnesses, at most `jobs` at once."""

    def __init__(self, folder: Path, jobs: int, corpora: Sequence[str]) -> None:
        self.folder = folder
        self.jobs = jobs
        self.corpora = corpora
        self.total = Tally(folder / "died")
        self.running: list[tuple[multiprocessing.process.BaseProcess, str, int, float]] = []

    def start(self, name: str, seed: int, seconds: float) -> None:
        """Start one as soon as there is room."""
        while len(self.running) >= self.jobs:
            self._reap()
        process = multiprocessing.get_context("spawn").Process(
            target=run_one, args=(name, seed, seconds, self.folder, self.corpora)
        )
        process.start()
        self.running.append((process, name, seed, time.monotonic() + seconds + _SLACK))

    def finish(self) -> Tally:
        """Wait for all; what they found together."""
        while self.running:
            self._reap()
        return self.total

    def _reap(self) -> None:
        time.sleep(0.1)
        for entry in list(self.running):
            process, name, seed, deadline = entry
            if process.is_alive():
                if time.monotonic() <= deadline:
                    continue
                process.kill()
            process.join()
            self.running.remove(entry)
            found = self.folder / f"{name}-{seed}.json"
            if found.exists():
                self.total.add(found)
            if process.exitcode != 0:
                work = self.folder / f"{name}-{seed}-work"
                self.total.failed(name, f"the harness ended with {process.exitcode}; its last input is in {work}")
            print(f"{name}, seed {seed}: {sum(self.total.inputs.values())} inputs so far", flush=True)


def _report(total: Tally, began: float) -> Iterator[str]:
    kills = sum(count for kind, count in total.inputs.items() if kind.startswith("kill"))
    took = f"{time.monotonic() - began:.0f} s, {total.seconds:.0f} of a processor without its children's"
    yield f"{sum(total.inputs.values()):>9}  inputs in {took}; {kills} of them kills"
    for kind, count in total.inputs.most_common():
        yield f"{count:>9}  {kind}"
    for kind, (seconds, what) in sorted(total.slowest.items(), key=lambda one: -one[1][0]):
        yield f"slowest of {kind}: {seconds:.2f} s of a processor: {what}"
    for kind, detail, path in total.failures:
        yield f"FAILED {kind}: {detail}" + (f"\n    {path}" if path else "")
    yield f"{len(total.failures)} failures"


def main(words: Sequence[str] | None = None) -> int:
    """Run the harnesses and say what was tried; 1 if anything fell."""
    parser = argparse.ArgumentParser(prog="python -m tests.hardening", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="for all harnesses together; 1 by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; one a core by default")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="another one each time by default")
    parser.add_argument("--only", action="append", help="a harness; may be repeated; all by default")
    parser.add_argument("--corpus", action="append", default=[], help="a folder of more code to begin from")
    parser.add_argument("--keep", help="the folder of reproductions; a new temporary one by default")
    options = parser.parse_args(words)
    found = harnesses()
    names = options.only or list(found)
    if unknown := sorted(set(names) - found.keys()):
        parser.error(f"no harness: {', '.join(unknown)}; there are {', '.join(found)}")
    folder = Path(options.keep or tempfile.mkdtemp(prefix="migrate-lint-hardening-")).resolve()
    print(f"seed {options.seed}; reproductions in {folder}", flush=True)
    weights = {name: float(getattr(found[name], "WEIGHT", 1.0)) for name in names}
    began = time.monotonic()
    runner = Runner(folder, options.jobs, [os.path.abspath(path) for path in options.corpus])
    for job in range(options.jobs):
        for name, weight in weights.items():
            seconds = options.minutes * 60 * weight / sum(weights.values())
            runner.start(name, options.seed * 100 + job, seconds)
    total = runner.finish()
    print("\n".join(_report(total, began)))
    return int(bool(total.failures))


if __name__ == "__main__":
    sys.exit(main())
