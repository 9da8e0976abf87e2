"""What fixes do to code that nobody has made ready for them, beside what `tf_upgrade_v2` does to it.

``python benchmarks/harm.py FOLDER [--ways NAMES]``

FOLDER holds a folder for each package, such as an unpacked one of PyPI. A copy of each is rewritten in each way, twice,
and its Python files are counted: those that changed, that changed again the second time, that are gone, that have lost
more than half of their lines, that compiled before and do not now, and that have lost a comment.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import shutil
import subprocess
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fixes import by_tool

COLUMNS = ("files", "changed", "again", "gone", "halved", "broken", "comments lost")


def by_us(folder: Path, *words: str) -> None:
    """Rewrite a package with migrate-lint, which exits with 2 where something is left as it was."""
    command = [sys.executable, "-m", "migrate_lint", "check", "--isolated", "--no-cache", "--jobs", "1", "--fix-only"]
    done = subprocess.run([*command, *words, "."], check=False, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
        raise SystemExit(f"{folder}: {done.stderr}")


WAYS: dict[str, Callable[[Path], None]] = {
    "--fix": by_us,
    "--unsafe-fixes": lambda folder: by_us(folder, "--unsafe-fixes"),
    "--via compat.v1": lambda folder: by_us(folder, "--via", "compat.v1"),
    "tf_upgrade_v2": lambda folder: by_tool(folder, names=contents(folder)),
}


def contents(folder: Path) -> dict[str, bytes]:
    """The Python files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.py")) if path.is_file()}


def compiles(data: bytes) -> bool:
    """Whether this Python can read it."""
    try:
        ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def comments(data: bytes) -> Counter[str]:
    """The comments of a file, up to where it cannot be read."""
    found: Counter[str] = Counter()
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                found[token.string.rstrip()] += 1
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def harm(before: dict[str, bytes], after: dict[str, bytes], second: dict[str, bytes]) -> Counter[str]:
    """How many files of a package were changed, and how."""
    found = Counter(files=len(before))
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            found["gone"] += 1
            continue
        found["again"] += second.get(name) != new
        if new == old:
            continue
        found["changed"] += 1
        found["halved"] += new.count(b"\n") < old.count(b"\n") / 2
        found["broken"] += compiles(old) and not compiles(new)
        found["comments lost"] += bool(comments(old) - comments(new))
    return found


def counted(package: Path, change: Callable[[Path], None]) -> Counter[str]:
    """What a way does to a copy of a package."""
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / package.name
        shutil.copytree(package, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        before = contents(folder)
        change(folder)
        after = contents(folder)
        change(folder)
        return harm(before, after, contents(folder))


def main() -> None:
    """Print a row for each package and way, and their sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ways", default=",".join(WAYS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore", SyntaxWarning)
    os.environ["PYTHONWARNINGS"] = "ignore"
    sums: dict[str, Counter[str]] = {way: Counter() for way in asked.ways.split(",")}
    print(f"{'':60}" + "".join(f"{name:>15}" for name in COLUMNS))
    for package in sorted(path for path in asked.folder.iterdir() if path.is_dir()):
        for way, total in sums.items():
            found = counted(package, WAYS[way])
            total.update(found)
            print(f"{package.name[:40]:42}{way:18}" + "".join(f"{found[name]:15}" for name in COLUMNS), flush=True)
    for way, total in sums.items():
        print(f"{'all':42}{way:18}" + "".join(f"{total[name]:15}" for name in COLUMNS))


if __name__ == "__main__":
    main()
