"""The options of fixes: which are applied, and what is said of them."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..finding import Applicability, Finding
from ..reporters import Paint, escape, printable
from ..settings.config import ALWAYS, Config, resolve, selected
from .console import UsageError, ask, is_colored, is_interactive, print_text

if TYPE_CHECKING:
    from ..run.fixing import Fixed, Wanted

_APPLIED = ("fix", "fix_only", "interactive")


def add_fix_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to the parser of the command line."""
    group = parser.add_argument_group("fixes", "Of what can be mended mechanically; see `migrate-lint rule CODE`.")
    add = group.add_argument
    add("--fix", action="store_true", help="apply safe fixes, and report what is left")
    add("--unsafe-fixes", action="store_true", help="apply or show those too that a person has to look at")
    add("--diff", action="store_true", help="show what --fix would change; the exit status is 1 if that is anything")
    add("--fix-only", action="store_true", help="apply fixes, and report nothing")
    add("--via", choices=("compat.v1",), help="fix to a TF1 program that runs under TF2, in place of TF2's own names")
    add(
        "--prove",
        metavar="TARGET",
        help="apply fixes only as far as pair.py, or model.py:build, which is run, computes what it did before",
    )
    add("--python-tf1", metavar="PATH", help="the interpreter of the TF1 side of the pair that --prove runs")
    add("-i", "--interactive", action="store_true", help="ask for each fix, on a terminal")


def fixes_asked_for(options: argparse.Namespace) -> bool:
    """Whether fixes are to be applied, or shown as a diff."""
    return options.diff or any(getattr(options, name) for name in _APPLIED)


def require_fixable(options: argparse.Namespace) -> None:
    """Look at the options before anything is linted.

    Raises:
        UsageError: if they make no sense.
    """
    if not fixes_asked_for(options):
        of_fixes = {"--unsafe-fixes": options.unsafe_fixes, "--via": options.via, "--prove": options.prove}
        if word := next((name for name, given in of_fixes.items() if given), None):
            raise UsageError(f"{word} says which fixes --fix, --fix-only, --diff and --interactive apply or show")
        return
    if options.via and (options.unsafe_fixes or options.interactive):
        raise UsageError("--via compat.v1 converts each file as a whole: no single fix can be chosen")
    others = {
        "--runtime": options.runtime is not None, "--add-noqa": options.add_noqa is not None,
        "--write-baseline": options.write_baseline, "--prune-baseline": options.prune_baseline,
        "--target both": options.target == "both",
    }  # fmt: skip
    if found := [name for name, given in others.items() if given]:
        raise UsageError(f"{found[0]} is about code as it stands, and cannot be given with fixes: fix it first")
    if options.prove and ("-" in options.paths or options.interactive):
        raise UsageError("--prove tries the fixes of files again and again, and asks for none of them")
    if options.interactive and ("-" in options.paths or not is_interactive()):
        raise UsageError("--interactive asks on a terminal, and there is none")


def fixable(config: Config) -> frozenset[str]:
    """The codes whose fixes the configuration allows."""
    from ..registry.registry import known

    codes, where = known(), config.path or "configuration"
    return selected(resolve(config.fixable, codes, where), resolve(config.unfixable, codes, where), (), codes)


def selection(options: argparse.Namespace, config: Config) -> Wanted:
    """Which fixes are applied, by the options and the configuration."""
    from ..run.fixing import CONVERSION, Wanted

    if options.via:
        return Wanted(frozenset({CONVERSION}))
    applied = {Applicability.SAFE} | ({Applicability.UNSAFE} if options.unsafe_fixes else set())
    asking = _Asking(Paint(is_colored(options.color))) if options.interactive else None
    folders: dict[str | None, frozenset[str]] = {}

    def codes_of(path: str) -> frozenset[str]:
        own = config.of(os.path.dirname(path))
        if own.path not in folders:
            folders[own.path] = fixable(own)
        return folders[own.path]

    return Wanted(fixable(config), frozenset(applied), asking, codes_of=codes_of)


def diff_of(fixed: Fixed, paint: Paint) -> Iterator[str]:
    """A unified diff of every file that fixes change."""
    from difflib import unified_diff

    from ..source.reading import split_lines

    for file in fixed.files:
        before, after = ([*filter(None, split_lines(text))] for text in file.texts)
        for line in unified_diff(before, after, file.display, file.display):
            code = line.rstrip("\r\n")
            shown = "".join(char if char == "\t" else escape(char) for char in code)
            style = {"-": "error", "+": "refuted", "@": "dim"}.get(code[:1])
            yield f"{paint(shown, style) if style else shown}\n"
            if code == line and not code.startswith(("---", "+++", "@@")):
                yield "\\ No newline at end of file\n"


def said(fixed: Fixed, options: argparse.Namespace, failed: int, reported: bool) -> Iterator[str]:
    """Sentences on what was fixed, on what could be, and, unless findings were `reported`, on what was not linted."""
    total: Counter[str] = Counter()
    for file in fixed.files:
        total += file.fixed
    if not reported:
        unseen = (one for one in fixed.result.findings if one.code in ALWAYS)
        yield from (f"{one.path}:{one.line}: {one.code} {one.message}" for one in unseen)
    yield from fixed.left
    for path, notes in fixed.notes.items():
        yield from (f"{path}:{line}: {text}" for line, text in notes)
    if options.quiet:
        return
    count, files = total.total(), len(fixed.files)
    if total and not failed and options.via:
        yield f"{'Would convert' if options.diff else 'Converted'} {files} file{'s' * (files > 1)} to {options.via}"
    elif total and not failed:
        rules = ", ".join(f"{code} {number}" for code, number in sorted(total.items()))
        verb = "Would fix" if options.diff else "Fixed"
        yield f"{verb} {count} finding{'s' * (count > 1)} in {files} file{'s' * (files > 1)}: {rules}"
    offered = Counter(one.fix.applicability for one in fixed.result.findings if one.fix is not None)
    if (unsafe := offered[Applicability.UNSAFE]) and not options.unsafe_fixes:
        yield f"--unsafe-fixes would fix {unsafe} more, each of which a person has to look at"


class _Asking:
    """Asks for each fix whether it is to be applied."""

    def __init__(self, paint: Paint) -> None:
        self.paint = paint
        self.all: bool | None = None
        """What is answered to everything that is still to be asked."""

    def __call__(self, finding: Finding, text: str) -> bool:
        """Ask; the end of the input is a no to all."""
        from difflib import unified_diff

        from ..fixing.edits import applied
        from ..reporters import header

        if self.all is not None:
            return self.all
        fix = finding.fix
        assert fix is not None
        before, after = text.splitlines(), applied(text, fix.edits).splitlines()
        lines = [header(finding, self.paint)]
        lines += [f"{fix.applicability.value}: {printable(fix.reason)}"] if fix.reason else []
        lines += [printable(line) for line in unified_diff(before, after, n=1, lineterm="")][2:]
        print_text("".join(f"{line}\n" for line in lines))
        while True:
            answer = ask("Apply? [y]es, [n]o, [a]ll, [q]uit: ").lower()[:1]
            if answer in {"y", "n"}:
                return answer == "y"
            if answer in {"a", "q", ""}:
                self.all = answer == "a"
                return self.all
