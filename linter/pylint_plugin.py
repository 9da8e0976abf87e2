"""The rules as a pylint plugin: ``load-plugins=migrate_lint.linter.pylint_plugin``.

The engine is the one of the command line, and so are the findings, their text and the project's configuration.
A rule's message id is 7 and the digits of its code, after the letter of the rule's own severity: TF101 is ``E7101``,
with its slug as symbol. A warning is ``W``, and an info ``C``, which editors show as information.

pylint wants the messages of one checker to share their first two digits, so there is a checker for every hundred;
they bear one name, share one `_Session`, and each module is linted once for all of them.
Columns count characters from 0, as editors read them; pylint's own messages count bytes.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from pylint.checkers import BaseChecker

from .own_path import own_path

with own_path():
    from .finding import INTERNAL_ERROR, Finding, Severity
    from .registry import registry
    from .registry.third_party import CODE
    from .registry.tool_rules import TOOL_RULES, ProbeFailed, ProbeOnlyFinding
    from .reporters import printable
    from .rule_api.rule import Rule, documentation
    from .run.pipeline import Selection
    from .run.workspace import Settings, as_declared, findings_of, workspace_of
    from .settings.config import TARGETS, ConfigError, load, resolve

if TYPE_CHECKING:
    from argparse import Namespace

    from astroid import nodes
    from pylint.lint import PyLinter
    from pylint.typing import MessageDefinitionTuple, Options

NAME = "migrate-lint"
CONFIGURATION = "migrate-lint-configuration"
_LETTERS = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.INFO: "C"}
_OF_A_RUN = {ProbeOnlyFinding, ProbeFailed}
_CONFIGURATION_MESSAGE: dict[str, MessageDefinitionTuple] = {
    "F7999": (
        "%s",
        CONFIGURATION,
        "The configuration of migrate-lint, or an option of it in pylint's own, cannot be used: nothing was linted.",
    )
}
_OPTIONS: Options = (
    (
        "migrate-lint-select",
        {
            "type": "csv",
            "default": (),
            "metavar": "<rules>",
            "help": "Rules to report, in place of those that migrate-lint's own configuration selects: codes such as "
            "TF101, slugs, prefixes such as TF1, or ALL.",
        },
    ),
    (
        "migrate-lint-ignore",
        {"type": "csv", "default": (), "metavar": "<rules>", "help": "Rules to leave out, besides those configured."},
    ),
    (
        "migrate-lint-target",
        {
            "type": "choice",
            "choices": list(TARGETS),
            "default": None,
            "metavar": f"<{'|'.join(TARGETS)}>",
            "help": "Which TF2 is moved to; without it, migrate-lint's own configuration and the project decide.",
        },
    ),
)


@own_path()
def register(linter: PyLinter) -> None:
    """Add the checkers to a running pylint; called by pylint.

    A project's own rules are those of the configuration around the working folder, where the environment allows them.
    """
    with suppress(ConfigError, OSError):  # said of the files, where it stands in the way
        registry.configure(load(os.getcwd()))
    if any(isinstance(checker, MigrateLintChecker) for checker in linter.get_checkers()):
        return  # pylint 3 gives each of its processes a copy of all checkers, and has the plugins add theirs again
    session = _Session()
    for number, messages in enumerate(_messages(tuple(registry.codes()))):
        linter.register_checker(MigrateLintChecker(linter, session, messages, () if number else _OPTIONS))


def message_id(rule: type[Rule]) -> str:
    """The id that pylint knows a rule by: ``E7101`` for TF101; for rules of others ``W8001`` and on, in their order.

    pylint has four digits for an id: theirs change with what is installed, and their slugs do not.
    """
    letter = _LETTERS[rule.severity]
    if CODE.fullmatch(rule.code) is None:
        return f"{letter}7{rule.code[2:]}"
    return f"{letter}{8001 + list(filter(CODE.fullmatch, registry.codes())).index(rule.code)}"


def _rules() -> list[type[Rule]]:
    """The rules that a file can break, by code; pylint runs no model."""
    rules = (*(type(rule) for rule in registry.all_rules()), *(rule for rule in TOOL_RULES if rule not in _OF_A_RUN))
    return sorted(rules, key=lambda rule: rule.code)


@cache
def _messages(codes: tuple[str, ...]) -> tuple[dict[str, MessageDefinitionTuple], ...]:
    """The messages of each hundred, by their ids; once for the rules that there are."""
    hundreds = groupby(_rules(), key=lambda rule: message_id(rule)[1:3])
    found = {hundred: {message_id(rule): _message(rule) for rule in rules} for hundred, rules in hundreds}
    found["79"] |= _CONFIGURATION_MESSAGE
    return tuple(found.values())


def _message(rule: type[Rule]) -> MessageDefinitionTuple:
    parts = documentation(rule)
    return "%s", rule.slug(), f"{parts['Summary']} {parts['Why']}"


class MigrateLintChecker(BaseChecker):
    """Find what breaks, and what silently changes, when a TensorFlow 1 program moves to TensorFlow 2."""

    name = NAME

    def __init__(
        self, linter: PyLinter, session: _Session, messages: dict[str, MessageDefinitionTuple], options: Options
    ) -> None:
        self.session = session
        self._ids = {symbol: number for number, (_, symbol, *_) in messages.items()}
        self.msgs = messages
        self.options = options
        super().__init__(linter)

    @own_path()
    def open(self) -> None:
        """Begin a run: files may have changed since the last one."""
        self.session.begin()

    @own_path()
    def close(self) -> None:
        """End a run."""
        self.session.end()

    @own_path()
    def visit_module(self, node: nodes.Module) -> None:
        """Report what was found in a module under the messages of this checker."""
        for finding in self.session.findings(node, self.linter):
            if finding.slug in self._ids:
                self.add_message(
                    self._ids[finding.slug],
                    node=_innermost(node, finding.line),
                    args=(printable(finding.message),),
                    line=finding.line,
                    col_offset=finding.column - 1,
                    end_lineno=finding.end_line,
                    end_col_offset=finding.end_column - 1,
                )


@dataclass
class _Session:
    """What the checkers of one pylint share: the findings of the module at hand, and what was refused already."""

    fresh: set[str] = field(default_factory=set)
    """Roots of the projects that were looked at in this run."""
    configs: dict[tuple[object, ...], Settings] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    begun: bool = False
    module: nodes.Module | None = None
    found: tuple[Finding, ...] = ()

    def begin(self) -> None:
        """Forget what may have changed; once, where several checkers ask."""
        # A worker of `pylint --jobs` opens its checkers for each of its files.
        if self.begun or (self.fresh and multiprocessing.parent_process() is not None):
            return
        self.begun = True
        self.fresh.clear()
        self.configs.clear()
        self.refused.clear()

    def end(self) -> None:
        """Let go of the last module."""
        self.begun, self.module, self.found = False, None, ()

    def findings(self, module: nodes.Module, linter: PyLinter) -> tuple[Finding, ...]:
        """What the engine says of a module; asked once for all checkers."""
        if self.module is not module:
            self.module, self.found = module, ()
            try:
                with _recursion_limit_kept():
                    self.found = self._linted(module, linter.config)
            except ConfigError as error:
                if str(error) not in self.refused:
                    self.refused.add(str(error))
                    linter.add_message(CONFIGURATION, node=module, line=1, args=(printable(str(error)),))
            except Exception as error:
                reason = f"{type(error).__name__}: {error}; this file was not linted"
                self.found = (INTERNAL_ERROR.at(module.file or module.name, reason),)
        return self.found

    def _linted(self, module: nodes.Module, options: Namespace) -> tuple[Finding, ...]:
        path = os.path.abspath(module.file or module.name)
        settings = self._settings(os.path.dirname(path), options)
        if settings.excludes(path):
            return ()
        project = workspace_of(path)
        if project.root not in self.fresh:
            project.refresh()
            self.fresh.add(project.root)
        return findings_of(path, _content(module), settings)

    def _settings(self, folder: str, options: Namespace) -> Settings:
        """The settings for the files of a folder: those of pylint over those of migrate-lint."""
        select, ignore = tuple(options.migrate_lint_select or ()), tuple(options.migrate_lint_ignore or ())
        key = folder, select, ignore, options.migrate_lint_target
        if key not in self.configs:
            config, codes = load(folder), registry.known()
            # The file's own selectors are checked with its name, before those of pylint join them.
            Selection(config, codes)
            if select:
                config = replace(config, select=resolve(select, codes, "migrate-lint-select"))
                config = replace(config, ignore=(), extend_select=())
            config = replace(
                config,
                ignore=(*config.ignore, *resolve(ignore, codes, "migrate-lint-ignore")),
                target=options.migrate_lint_target or config.target,
            )
            self.configs[key] = Settings(config, Selection(config, codes))
        return self.configs[key]


def _content(module: nodes.Module) -> bytes:
    """The bytes that pylint has read, which are those of an unsaved buffer where an editor passes one."""
    stream = module.stream()
    if stream is None:
        return b""
    with stream:
        data: bytes = stream.read()
    return data if module.file_bytes is None else as_declared(data)


def _innermost(node: nodes.LocalsDictNodeNG, line: int) -> nodes.LocalsDictNodeNG:
    """The innermost function or class around a line, which pylint names in its reports."""
    return next((_innermost(scope, line) for scope in _scopes(node, line)), node)


def _scopes(node: nodes.NodeNG, line: int) -> Iterator[nodes.LocalsDictNodeNG]:
    from astroid import nodes

    for child in node.get_children():
        if (
            not (child.is_statement or isinstance(child, nodes.MatchCase))
            or not child.fromlineno <= line <= child.tolineno
        ):
            continue
        if isinstance(child, nodes.FunctionDef | nodes.ClassDef):
            yield child
        else:
            yield from _scopes(child, line)


@contextmanager
def _recursion_limit_kept() -> Iterator[None]:
    """The engine raises the limit to parse deep code; pylint's own inference is cut short by it."""
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
