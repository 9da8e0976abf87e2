"""What a shell reads to complete the words of the command line, made of the same parsers that read them.

Codes and slugs are listed as they are now: a shell that asks at its start, as in ``eval "$(migrate-lint --completion
bash)"``, has those of the installed packages, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from .console import PROGRAM

_FILES = {"FILE", "PATH", "PAIR", "LOOP", "FILE:NAME", "TARGET", "GLOBS", "NAME", "FOLDER", "REV:FILE", "POLICY"}
_RULES = {
    "bash": "_migrate_lint_rules",
    "zsh": "_migrate_lint_rules",
    "fish": "(__fish_complete_list , _migrate_lint_rules)",
}
_RULE_WORDS = {
    "bash": """
_migrate_lint_rules() {
    local start=
    if [[ $1 == *,* ]]; then start=${1%%,*},; fi
    compgen -P "$start" -W "%s" -- "${1##*,}"
}""",
    "zsh": "_migrate_lint_rules() { _sequence compadd - %s }",
    "fish": "function _migrate_lint_rules; string split ' ' '%s'; end",
}
"""What an option takes that names rules, separated by commas."""
# shtab knows no command that may be left out: it is put in, and fish, where nothing can be, has its options at the
# root. bash takes --option=word for three words.
_START = {
    "bash": """
_migrate_lint() {
    local words=() word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}" "${COMP_WORDS[COMP_CWORD]#=}"; do
        if [[ $word != = ]]; then words+=("$word"); fi
    done
    local first=${words[0]} count=${#words[@]}
    if [[ $count == 1 || $first != @(%(either)s) ]]; then words=(check "${words[@]}"); fi
    local COMP_WORDS=(migrate-lint "${words[@]}") COMP_CWORD=${#words[@]}
    _shtab_migrate_lint
    if [[ $count == 1 ]]; then COMPREPLY+=($(compgen -W "%(list)s" -- "$first")); fi
}
complete -o bashdefault -o default -F _migrate_lint migrate-lint
""",
    "zsh": """
_migrate_lint() {
    if (( CURRENT == 2 )); then compadd %(list)s; fi
    if (( CURRENT == 2 )) || [[ $words[2] != (%(either)s) ]]; then
        words[2]=(check "$words[2]")
        (( CURRENT++ ))
    fi
    _shtab_migrate_lint
}
compdef _migrate_lint migrate-lint
""",
    "fish": "",
}


def script(shell: str, parsers: Mapping[str, argparse.ArgumentParser], codes: Mapping[str, str]) -> str:
    """The completion of `shell`, which is bash, zsh or fish.

    Args:
        shell: the shell's name.
        parsers: of every command, ``check`` among them.
        codes: every code with its slug.
    """
    import shtab

    families = {prefix for code in codes for prefix in (code[:-2], code.rstrip("0123456789"))}
    rules = " ".join([*sorted({"ALL", *families}), *codes, *codes.values()])
    for action in (action for parser in parsers.values() for action in parser._actions):
        if action.metavar == "RULES":
            action.complete = {**_RULES, "preamble": {shell: _RULE_WORDS[shell] % rules}}  # type: ignore[attr-defined]
        elif action.metavar == "CODE":
            action.choices = [*codes, *codes.values()]
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    root = argparse.ArgumentParser(PROGRAM, add_help=False, parents=[parsers["check"]] if shell == "fish" else [])
    commands = root.add_subparsers()
    for name, parser in parsers.items():
        commands.add_parser(name, parents=[parser], add_help=False, description=parser.description, help=name)
    names = {"list": " ".join(parsers), "either": "|".join(parsers)}
    return shtab.complete(root, shell, root_prefix="migrate_lint") + _START[shell] % names
