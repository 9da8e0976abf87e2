"""What a shell reads to complete the words of the command line, made of the same parser that reads them.

Codes and slugs are listed as they are now: a shell that asks at its start, as in ``eval "$(migrate-lint --completion
bash)"``, has those of the installed packages, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

__all__ = ["script"]

_PROGRAM = "migrate-lint"
_COMMANDS = {
    "check": "lint files and folders",
    "rule": "explain a rule",
    "verify": "compare a TF1 program with the TF2 program that it became",
}
_FIRST = "check"
"""What the command line is about where no other command comes first."""
_RULES = ("RULES", "CODE")
_FOLDERS_AND_FILES = ("FILE", "PATH", "FILE:NAME", "TARGET", "GLOBS", "NAME", "FOLDER", "REV:FILE", "POLICY")


@dataclass(frozen=True, slots=True)
class _Option:
    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...] | None
    metavar: str
    """Empty for a switch, which takes no word."""
    optional: bool
    """Whether its word has to be joined to it."""

    @property
    def takes_word(self) -> bool:
        return bool(self.metavar) and not self.optional


def script(shell: str, parsers: Mapping[str, argparse.ArgumentParser], codes: Mapping[str, str]) -> str:
    """The completion of `shell`, which is bash, zsh or fish.

    Args:
        shell: the shell's name.
        parsers: of every command, ``check`` among them.
        codes: every code with its slug.
    """
    make = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return "\n".join([*make({name: list(_options(parser)) for name, parser in parsers.items()}, codes), ""])


def _options(parser: argparse.ArgumentParser) -> Iterator[_Option]:
    for action in parser._actions:
        if not action.option_strings or action.help == argparse.SUPPRESS:
            continue
        metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        yield _Option(
            tuple(action.option_strings),
            " ".join((action.help or "").replace("%%", "%").split()),
            None if action.choices is None else tuple(map(str, action.choices)),
            "" if action.nargs == 0 else metavar,
            action.nargs == "?",
        )


def _rule_words(codes: Mapping[str, str]) -> list[str]:
    """What names rules: codes, slugs, prefixes and ALL."""
    families = {prefix for code in codes for prefix in (code[:-2], code.rstrip("0123456789"))}
    return [*sorted({"ALL", *families}), *codes, *codes.values()]


# -- bash --------------------------------------------------------------------------------------------------------------


def _bash(commands: Mapping[str, list[_Option]], codes: Mapping[str, str]) -> Iterator[str]:
    yield f"# bash completion of {_PROGRAM}"
    yield "_migrate_lint() {"
    yield "    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} command=check words= start="
    yield "    # bash takes --option=word for three words"
    yield "    if [[ $current == = ]]; then current="
    yield "    elif [[ $option == = ]]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi"
    others = "|".join(name for name in commands if name != _FIRST)
    yield f"    if [[ $COMP_CWORD -gt 1 && ${{COMP_WORDS[1]}} == @({others}) ]]; then command=${{COMP_WORDS[1]}}; fi"
    yield "    COMPREPLY=()"
    yield "    case $command:$option in"
    for words, patterns in _bash_words(commands, codes).items():
        yield f"        {'|'.join(patterns)})"
        if not words:
            yield "            return ;;"
            continue
        yield f"            words={_quoted(words)}"
        yield "            if [[ $current == *,* ]]; then start=${current%,*},; current=${current##*,}; fi ;;"
    yield "        *)"
    yield "            if [[ $current == -* ]]; then"
    yield "                case $command in"
    for command, options in commands.items():
        names = " ".join(name for option in options for name in option.names)
        yield f"                    {command}) words={_quoted(names)} ;;"
    yield "                esac"
    yield f"            elif [[ $command == rule ]]; then words={_quoted(' '.join([*codes, *codes.values()]))}"
    yield "            elif [[ $COMP_CWORD == 1 ]]; then"
    yield "                local IFS=$'\\n'"
    names = "\\n".join(_COMMANDS)
    yield f'                COMPREPLY=($(compgen -W $\'{names}\' -- "$current") $(compgen -f -- "$current"))'
    yield "                compopt -o filenames 2> /dev/null"
    yield "                return"
    yield "            fi ;;"
    yield "    esac"
    yield '    if [[ -n $words ]]; then COMPREPLY=($(compgen -P "$start" -W "$words" -- "$current")); fi'
    yield "}"
    yield f"complete -o bashdefault -o default -F _migrate_lint {_PROGRAM}"


def _bash_words(options: Mapping[str, Iterable[_Option]], codes: Mapping[str, str]) -> dict[str, list[str]]:
    """The words that may follow an option, to the options; the empty text for those that bash knows best, as files."""
    found: dict[str, list[str]] = {}
    for command, those in options.items():
        for option in those:
            if option.takes_word:
                words = option.choices or (_rule_words(codes) if option.metavar in _RULES else ())
                found.setdefault(" ".join(words), []).extend(f"{command}:{name}" for name in option.names)
    return found


def _quoted(text: str) -> str:
    """For bash and zsh: nothing in it is anything but itself."""
    return "'" + text.replace("'", "'\\''") + "'"


# -- zsh ---------------------------------------------------------------------------------------------------------------


def _zsh(commands: Mapping[str, list[_Option]], codes: Mapping[str, str]) -> Iterator[str]:
    yield f"#compdef {_PROGRAM}"
    yield "_migrate_lint_rules() {"
    yield f"    _sequence compadd - {' '.join(map(_quoted, _rule_words(codes)))}"
    yield "}"
    yield "_migrate_lint_rule() {"
    yield f"    compadd -- {' '.join(map(_quoted, [*codes, *codes.values()]))}"
    yield "}"
    yield "_migrate_lint_first() {"
    described = " ".join(_quoted(f"{name}:{words}") for name, words in _COMMANDS.items())
    yield f"    local -a commands=({described})"
    yield "    if (( CURRENT == 2 )); then _describe command commands; fi"
    yield "    _files"
    yield "}"
    yield "_migrate_lint() {"
    keyword = "if"
    for name, options in commands.items():
        if name != _FIRST:
            yield f"    {keyword} (( CURRENT > 2 )) && [[ $words[2] == {name} ]]; then"
            yield "        shift words"
            yield "        (( CURRENT-- ))"
            positional = "1:code:_migrate_lint_rule" if name == "rule" else "*:path:_files"
            yield from _zsh_arguments("        ", options, positional)
            keyword = "elif"
    yield "    else"
    yield from _zsh_arguments("        ", commands[_FIRST], "*:path:_migrate_lint_first")
    yield "    fi"
    yield "}"
    yield "if [[ $funcstack[1] == _migrate_lint ]]; then"
    yield '    _migrate_lint "$@"'
    yield "else"
    yield f"    compdef _migrate_lint {_PROGRAM}"
    yield "fi"


def _zsh_arguments(indent: str, options: Iterable[_Option], positional: str) -> Iterator[str]:
    yield f"{indent}_arguments -s \\"
    for option in options:
        for name in option.names:
            yield f"{indent}    {_quoted(_zsh_option(name, option))} \\"
    yield f"{indent}    {_quoted(positional)}"


def _zsh_option(name: str, option: _Option) -> str:
    """An option as ``_arguments`` reads it: ``*--select=[help]:RULES:action``."""
    words = option.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    if not option.metavar:
        return f"*{name}[{words}]"
    if option.choices is not None:
        action = f"({' '.join(option.choices)})"
    elif option.metavar in _RULES:
        action = "_migrate_lint_rules"
    elif option.metavar in _FOLDERS_AND_FILES:
        action = "_files"
    else:
        action = " "
    joined = "=-" if option.optional else "=" if name.startswith("--") else "+"
    separator = "::" if option.optional else ":"
    return f"*{name}{joined}[{words}]{separator}{option.metavar.replace(':', chr(92) + ':')}:{action}"


# -- fish --------------------------------------------------------------------------------------------------------------


def _fish(commands: Mapping[str, list[_Option]], codes: Mapping[str, str]) -> Iterator[str]:
    yield f"# fish completion of {_PROGRAM}"
    yield "function __migrate_lint_rules"
    yield f"    printf '%s\\n' {' '.join(map(_fish_quoted, _rule_words(codes)))}"
    yield "end"
    yield "function __migrate_lint_is"
    yield "    set -l words (commandline -opc)"
    yield '    test (count $words) -gt 1; and contains -- "$words[2]" $argv'
    yield "end"
    first = "test (count (commandline -opc)) -eq 1"
    for name, words in _COMMANDS.items():
        yield f"complete -c {_PROGRAM} -n {_fish_quoted(first)} -a {name} -d {_fish_quoted(words)}"
    others = " ".join(name for name in commands if name != _FIRST)
    for name, options in commands.items():
        condition = f"not __migrate_lint_is {others}" if name == _FIRST else f"__migrate_lint_is {name}"
        for option in options:
            yield f"complete -c {_PROGRAM} -n {_fish_quoted(condition)} {' '.join(_fish_option(option))}"
    listed = " ".join([*codes, *codes.values()])
    yield f"complete -c {_PROGRAM} -n '__migrate_lint_is rule' -f -a {_fish_quoted(listed)}"


def _fish_option(option: _Option) -> Iterator[str]:
    for name in option.names:
        yield f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
    if option.takes_word:
        if option.choices is not None:
            yield f"-x -a {_fish_quoted(' '.join(option.choices))}"
        elif option.metavar in _RULES:
            yield f"-x -a {_fish_quoted('(__fish_complete_list , __migrate_lint_rules)')}"
        else:
            yield "-r" if option.metavar in _FOLDERS_AND_FILES else "-x"
    yield f"-d {_fish_quoted(option.help)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
