"""Whether everything that TensorFlow's own upgrade script speaks of is found, and what only this linter finds.

    python benchmarks/against_tf_upgrade_v2.py FOLDER [FOLDER ...]

Each folder is a package of somebody's, and needs nothing that it imports.
What `tf_upgrade_v2` would write, with the TensorFlow that is installed, is asked of each file and thrown away.
Each line of its log, with a rename, a reordered call, a warning or an error, is to have a finding of ours, of any
severity, on one of the targets; of a name that works through `compat.v1` one finding a file is enough, since we tell it
once.
A line that has none, and whose reason is not among the `REVIEWED`, is printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from migrate_lint.linter.analysis.public_names import missing_part
from migrate_lint.linter.finding import Target

TARGETS = ("keras2", "keras3")
_INITIALIZERS = (
    r"(?:constant|glorot_\w+|ones|orthogonal|random_\w+|truncated_normal|variance_scaling|zeros|VarianceScaling)"
)
REVIEWED = {
    r"`name` passed to `name_scope`|.*tf\.name_scope|Using default_name": (
        "`tf.name_scope` with a name alone is the same; TF407 and TF408 tell of more arguments"
    ),
    rf".*tf\.(?:keras\.)?(?:initializers\.)?{_INITIALIZERS}(?:_initializer)?\b": (
        "an initializer is made as before; TF408 tells of `dtype`, TF613 of other defaults in a file of TF1"
    ),
    r".*tf\.where": "a condition of equal rank chooses the same; TF619 tells of one that is reduced",
    r"\*\.save ": "the receiver is not known to be a model of Keras, or takes the name (TF305)",
    r"Added keywords to args of function 'tf\.(?:nn\.conv[12]d|while_loop)'|Renamed keyword .* for tf\.nn\.conv[12]d": (
        "what is given by position is in the same place in TF2; TF407 and TF408 tell of the others"
    ),
    r"tf\.nn\.dropout called without arguments": "`rate=` is given by keyword, and means the same",
    r"Changing labels arg": "the labels are data; TF622 tells of labels that are computed",
    r".*compute_gradients": "a method of optimizers of TF1, which compat.v1 has as it was (TF406 tells of their names)",
    r"Changing tf\.contrib\.layers\.variance_scaling_initializer|contrib_rnn\.": (
        "what a function of the project imports and returns (TF405 tells of the import)"
    ),
    r".*tf\.(?:debugging\.)?assert_": "it returns None in TF2, and nobody reads what it returned",
}
"""What the script says, as a regular expression, and why we do not."""
_FOR_OTHERS = "tests of versions in the file say that the line never runs with the targets"
_UNKNOWN = "the receiver is not known, and may be one of compat.v1, which the file imports: it has the method"
_THROUGH_V1 = "the line reads compat.v1, or what may be that, where TF1's names, keywords and orders stay"

_NAME = re.compile(r"tf\.([\w.]+\w)")
_LINE = re.compile(r"(\d+):\d+: (?:INFO|WARNING|ERROR): (.*)")


def upgraded(files: list[str]) -> tuple[list[tuple[str, int, str]], list[str]]:
    """In a child with TensorFlow: what the script logs of each line of some files, and the files on which it fails."""
    from tensorflow.tools.compatibility.ast_edits import ASTCodeUpgrader  # type: ignore[import-not-found]
    from tensorflow.tools.compatibility.tf_upgrade_v2 import TFAPIChangeSpec  # type: ignore[import-not-found]

    told: list[tuple[str, int, str]] = []
    failed: list[str] = []
    for file in files:
        try:
            upgrader = ASTCodeUpgrader(TFAPIChangeSpec(False, True))
            done, _, log, _ = upgrader.update_string_pasta(Path(file).read_text("utf-8"), file)
        except Exception:  # the script is not ours
            done, log = 0, []
        if not done:
            failed.append(file)
        told += [(file, int(found[1]), found[2]) for line in log if (found := _LINE.match(line))]
    return told, failed


def told_by_script(folder: Path) -> tuple[list[tuple[str, int, str]], int]:
    """What the upgrade script logs of each line: file, line and text; and the number of files on which it fails."""
    files = [str(path) for path in sorted(folder.rglob("*.py"))]
    said = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--child", "script"],
        input=json.dumps(files),
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    ).stdout
    told, failed = json.loads(said.splitlines()[-1])
    return [(Path(file).relative_to(folder).as_posix(), line, text) for file, line, text in told], len(failed)


def reasons_by_line(folder: Path) -> dict[tuple[str, int], str]:
    """Why nothing is to be said of a line, as the analysis has it for both targets."""
    found: list[dict[tuple[str, int], str]] = []
    for target in TARGETS:
        command = [sys.executable, __file__, "--child", target]
        said = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        found.append({(file, line): why for file, line, why in json.loads(said.splitlines()[-1])})
    return {place: why for place, why in found[0].items() if place in found[1]}


def analyzed(target: str) -> list[tuple[str, int, str]]:
    """In a child, for one target: the lines of the current folder that never run there, or read compat.v1."""
    from migrate_lint.linter.cli.main import main as lint
    from migrate_lint.linter.run import coverage

    found: list[tuple[str, int, str]] = []
    original = coverage.coverage_of

    def coverage_of(file: Any, project: Any) -> Any:
        others: set[int] = set()
        through: set[int] = set()
        imports = any(name.is_compat_v1 for statement in file.imports for name in statement.names)
        methods = {fact for fact in file.index.calls if imports and isinstance(fact.node.func, ast.Attribute)}
        for fact in (*file.index.references, *file.index.calls):
            lines = range(fact.node.lineno, fact.node.end_lineno + 1)
            names = [one for one in file.names(fact.scope, fact.path) if one.canonical.startswith("tensorflow.")]
            if file.is_dead(fact.block, fact.node.lineno):
                found.extend((file.source.display, line, _FOR_OTHERS) for line in lines)
            elif not names and fact in methods:
                found.extend((file.source.display, line, _UNKNOWN) for line in lines)
            elif names:
                (through if any(name.is_compat_v1 for name in names) else others).update(lines)
        found.extend((file.source.display, line, _THROUGH_V1) for line in sorted(through - others))
        return original(file, project)

    coverage.coverage_of = coverage_of
    with contextlib.redirect_stdout(io.StringIO()):
        lint(["check", ".", "--isolated", "--no-cache", "--exit-zero", "--jobs", "1", "--target", target])
    return found


def found_by_us(folder: Path) -> tuple[dict[tuple[str, int], set[str]], set[tuple[str, str]]]:
    """The codes of the findings of each line, on either target, and what is told of each file once."""
    lines: dict[tuple[str, int], set[str]] = {}
    once: set[tuple[str, str]] = set()
    for target in TARGETS:
        command = [sys.executable, "-m", "migrate_lint", "check", ".", "--isolated", "--no-cache", "--target", target]
        said = subprocess.run(
            [*command, "--exit-zero", "--output-format", "json"], cwd=folder, stdout=subprocess.PIPE, check=True
        ).stdout
        for finding in json.loads(said)["findings"]:
            for line in range(finding["line"], finding["end_line"] + 1):
                lines.setdefault((finding["path"], line), set()).add(finding["code"])
            if finding["severity"] == "info":
                once.update((finding["path"], lost_part(name)) for name in _NAME.findall(finding["message"])[:1])
    return lines, once


def lost_part(name: str) -> str:
    """The part of a name of TF1 that TF2 lacks, with what comes before it: ``logging`` of ``logging.info``."""
    return missing_part("tensorflow", name.removeprefix("compat.v1."), Target.KERAS3) or ""


def reason(text: str) -> str | None:
    """Why we say nothing of what the script speaks of, where somebody has looked at it."""
    return next((why for pattern, why in REVIEWED.items() if re.match(pattern, text)), None)


def main() -> int:
    """Compare, and print what is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--child", choices=("script", *TARGETS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(upgraded(json.load(sys.stdin)) if given.child == "script" else analyzed(given.child)))
        return 0
    told, missed, kept = 0, 0, Counter[str]()
    only_ours: Counter[str] = Counter()
    for folder in given.folders:
        ours, once = found_by_us(folder)
        theirs, failed = told_by_script(folder)
        reasons = reasons_by_line(folder)
        open_ = []
        for file, line, text in theirs:
            told_once = any(part and (file, part) in once for part in map(lost_part, _NAME.findall(text)))
            if (file, line) not in ours and not told_once:
                why = reasons.get((file, line)) or reason(text)
                if why is None:
                    open_.append((file, line, text))
                else:
                    kept[why] += 1
        told, missed = told + len(theirs), missed + len(open_)
        print(f"{folder.name}: {len(theirs) - len(open_)} of {len(theirs)} found or reviewed, {failed} files not taken")
        for file, line, text in open_:
            print(f"  missed {folder / file}:{line} {text[:100]}")
        lines = {(file, line) for file, line, _ in theirs}
        only_ours.update(code for place, codes in ours.items() if place not in lines for code in codes)
    print(f"{told - missed} of {told} found or reviewed")
    for why, count in kept.most_common():
        print(f"  {count} reviewed: {why}")
    print("lines of which only we speak, by rule")
    for code, count in sorted(only_ours.items()):
        print(f"  {code} {count}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
