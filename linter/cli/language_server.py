"""``migrate-lint server``: what editors ask of a language server, of buffers as they are, saved or not.

Protocol: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, partial
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

from ..adoption.suppression_writer import suppressing
from ..finding import INTERNAL_ERROR, Applicability, Edit, Finding, Severity, Via
from ..registry import registry
from ..reporters import version
from ..reporters.ci import documented_rules
from ..reporters.explain import markdown
from ..run.cache import default_folder
from ..run.pipeline import Selection, lint
from ..run.workspace import Settings, as_declared, findings_of, workspace_of
from ..settings.config import ConfigError, load
from ..source.discovery import SUFFIXES, PathError
from ..source.reading import split_lines
from .console import PROGRAM
from .fixing import fixable

_PAUSE = 0.1
"""Seconds after a keystroke in which another one makes an answer to the first worthless."""
_FIX_ALL = "source.fixAll.migrate-lint"
_UNTITLED = "untitled.py"


def serve() -> None:
    """Answer a client on standard input and output until it leaves."""
    reading, writing = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a word of anybody else's would end the conversation
    with os.fdopen(reading, "rb") as asked, os.fdopen(writing, "wb") as answered:
        _Answers(version()).server.start_io(asked, answered)


class _Unit(NamedTuple):
    """What is linted as one: a document, or a notebook with the documents of its cells by their numbers."""

    path: str
    data: bytes
    documents: Mapping[int | None, TextDocument]

    def cell_of(self, uri: str) -> int | None:
        """Which of its documents a name is of."""
        return next((cell for cell, document in self.documents.items() if document.uri == uri), None)


class _Answers:
    """What the server says, and what it has to remember for that."""

    def __init__(self, program: str) -> None:
        cells = types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])
        self.server = LanguageServer(
            PROGRAM, program, notebook_document_sync=types.NotebookDocumentSyncOptions(notebook_selector=[cells])
        )
        self.found: dict[str, tuple[Finding, ...]] = {}
        """By path: what was told last."""
        self.settings: dict[str, Settings] = {}
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        self._answer()

    def _answer(self) -> None:
        """Tell the server what to call; it notes on each function what that is for, which no method lets it."""
        feature = self.server.feature
        feature(types.INITIALIZED)(partial(self.begin))
        for name in (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_SAVE):
            feature(name)(lambda params: self.look_again(params.text_document.uri))
        feature(types.TEXT_DOCUMENT_DID_CHANGE)(lambda params: self.wait(params.text_document.uri))
        feature(types.TEXT_DOCUMENT_DID_CLOSE)(lambda params: self.close([params.text_document.uri]))
        for name in (types.NOTEBOOK_DOCUMENT_DID_OPEN, types.NOTEBOOK_DOCUMENT_DID_SAVE):
            feature(name)(lambda params: self.look_again(params.notebook_document.uri))
        feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)(lambda params: self.wait(params.notebook_document.uri))
        feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)(
            lambda params: self.close(cell.uri for cell in params.cell_text_documents)
        )
        feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(lambda params: self.changed_outside())
        kinds = [types.CodeActionKind.QuickFix, _FIX_ALL]
        feature(
            types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
        )(partial(self.actions))
        feature(types.CODE_ACTION_RESOLVE)(partial(self.resolve))
        feature(types.TEXT_DOCUMENT_HOVER)(partial(self.hover))

    # -- findings ----------------------------------------------------------------------------------------------------

    def begin(self, params: types.InitializedParams) -> None:
        """Take over the rules that the project has, where the environment allows that."""
        try:
            registry.configure(load(self._root))
        except (ConfigError, OSError) as error:
            self._say(str(error))

    def wait(self, uri: str) -> None:
        """Lint what is typed into, when nothing was typed for a moment."""
        unit = self._unit(uri)
        if unit.path in self.waiting:
            self.waiting[unit.path].cancel()
        self.waiting[unit.path] = asyncio.get_running_loop().call_later(_PAUSE, self.publish, uri)

    def look_again(self, *uris: str) -> None:
        """Lint documents as those of their projects, which may have changed."""
        self.settings.clear()
        for project in {workspace_of(self._unit(uri).path) for uri in uris}:
            project.refresh()
        for uri in uris:
            self.publish(uri)

    def changed_outside(self) -> None:
        """Lint what is open once more."""
        notebooks = self.server.workspace.notebook_documents
        cells = {cell.document for one in notebooks.values() for cell in one.cells}
        self.look_again(*notebooks, *(one for one in self.server.workspace.text_documents if one not in cells))

    def close(self, uris: Iterable[str]) -> None:
        """Say nothing more of documents."""
        for uri in uris:
            path = self._path(uri)
            self.found.pop(path, None)
            if path in self.waiting:
                self.waiting.pop(path).cancel()
            self._publish(uri, None, [])

    def publish(self, uri: str) -> None:
        """Tell what is found in a document or notebook as it is now."""
        unit = self._unit(uri)
        self.waiting.pop(unit.path, None)
        self.found[unit.path] = found = self._findings(unit)
        for cell, document in unit.documents.items():
            lines = split_lines(document.source)
            diagnostics = [self._diagnostic(one, lines) for one in found if one.cell == cell]
            if cell is not None and cell == min(one for one in unit.documents if one is not None):
                diagnostics += [self._diagnostic(one, lines) for one in found if one.cell is None]
            self._publish(document.uri, document.version, diagnostics)

    def _publish(self, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]) -> None:
        self.server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=diagnostics)
        )

    def _findings(self, unit: _Unit, fixes: Via | None = None) -> tuple[Finding, ...]:
        settings = self._settings(unit.path)
        if settings is None or settings.excludes(unit.path):
            return ()
        try:
            return findings_of(unit.path, unit.data, settings, fixes)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}; this file was not linted"
            return (INTERNAL_ERROR.at(unit.path, reason),)

    def _settings(self, path: str) -> Settings | None:
        """Those of a file's folder; None where they cannot be used, which is said once."""
        folder = os.path.dirname(path)
        if folder not in self.settings:
            try:
                config = load(folder)
                self.settings[folder] = Settings(config, Selection(config, registry.known()))
            except (ConfigError, OSError) as error:
                self._say(f"{error}; nothing is linted")
                return None
        return self.settings[folder]

    def _say(self, text: str) -> None:
        kind = types.MessageType.Error
        self.server.window_show_message(types.ShowMessageParams(type=kind, message=f"{PROGRAM}: {text}"))

    @property
    def _root(self) -> str:
        return self.server.workspace.root_path or os.getcwd()

    def _path(self, uri: str) -> str:
        path = to_fs_path(uri) if uri.startswith("file:") else None
        return os.path.abspath(path) if path else os.path.join(self._root, _UNTITLED)

    def _unit(self, uri: str) -> _Unit:
        workspace = self.server.workspace
        notebook = workspace.get_notebook_document(notebook_uri=uri) or workspace.get_notebook_document(cell_uri=uri)
        if notebook is None:
            document = workspace.get_text_document(uri)
            path = self._path(uri)
            path = path if path.endswith(SUFFIXES) else os.path.join(os.path.dirname(path), _UNTITLED)
            return _Unit(path, as_declared(document.source.encode(errors="replace")), {None: document})
        documents: dict[int | None, TextDocument] = {
            number: workspace.get_text_document(cell.document) for number, cell in enumerate(notebook.cells)
        }
        code = types.NotebookCellKind.Code
        cells: list[dict[str, Any]] = [
            {"cell_type": "code" if cell.kind is code else "markdown", "metadata": {}, "source": document.source}
            | ({"outputs": [], "execution_count": None} if cell.kind is code else {})
            for cell, document in zip(notebook.cells, documents.values(), strict=True)
        ]
        data = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
        return _Unit(self._path(notebook.uri), data, documents)

    def _diagnostic(self, finding: Finding, lines: Sequence[str]) -> types.Diagnostic:
        severities = {
            Severity.ERROR: types.DiagnosticSeverity.Error,
            Severity.WARNING: types.DiagnosticSeverity.Warning,
            Severity.INFO: types.DiagnosticSeverity.Information,
        }
        related = []
        for place in finding.related:
            start = types.Position(max(place.line - 1, 0), 0)
            where = types.Location(from_fs_path(os.path.abspath(place.path)) or "", types.Range(start, start))
            related.append(types.DiagnosticRelatedInformation(where, place.text))
        return types.Diagnostic(
            range=self._range(finding, lines),
            message=finding.message,
            severity=severities[finding.severity],
            code=finding.code,
            source=PROGRAM,
            related_information=related or None,
        )

    def _range(self, place: Finding | Edit, lines: Sequence[str]) -> types.Range:
        """Where something stands, in the units of the client."""
        codec = self.server.workspace.position_codec
        ends = (place.line, place.column), (place.end_line, place.end_column)
        begin, end = (types.Position(max(line - 1, 0), max(column - 1, 0)) for line, column in ends)
        return types.Range(*(codec.position_to_client_units(lines, one) for one in (begin, end)))

    # -- changes -----------------------------------------------------------------------------------------------------

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done about the findings in a range, and about all of a document."""
        uri, wanted = params.text_document.uri, params.context.only
        unit = self._unit(uri)
        cell = unit.cell_of(uri)
        found: list[types.CodeAction] = []
        if wanted is None or any(types.CodeActionKind.QuickFix.value.startswith(kind) for kind in wanted):
            document = unit.documents[cell]
            lines = split_lines(document.source)
            for finding in self._findings(unit, Via.NATIVE):
                if finding.cell == cell and _meet(self._range(finding, lines), params.range):
                    found += self._actions_of(finding, unit.path, document)
        if cell is None and (wanted is None or any(_FIX_ALL.startswith(kind) for kind in wanted)):
            title = "Fix all that migrate-lint can fix safely"
            action = types.CodeAction(title, kind=_FIX_ALL, data={"uri": uri})
            found.append(action if wanted is None else self.resolve(action))
        return found

    def _actions_of(self, finding: Finding, path: str, document: TextDocument) -> Iterator[types.CodeAction]:
        lines = split_lines(document.source)
        diagnostics, kind = [self._diagnostic(finding, lines)], types.CodeActionKind.QuickFix
        fix, settings = finding.fix, self._settings(path)
        is_allowed = settings is not None and finding.code in fixable(settings.config)
        if fix is not None and is_allowed and fix.applicability is not Applicability.DISPLAY:
            is_safe = fix.applicability is Applicability.SAFE
            title = f"Fix {finding.code} {finding.slug}{'' if is_safe else f': look at it, {fix.reason}'}"
            edit = self._edit(document, fix.edits)
            yield types.CodeAction(title, kind=kind, diagnostics=diagnostics, is_preferred=is_safe, edit=edit)
        comment = suppressing(document.source, finding)
        if comment is not None:
            title = f"Disable {finding.code} for this line"
            yield types.CodeAction(title, kind=kind, diagnostics=diagnostics, edit=self._edit(document, [comment]))

    def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Work out what an action does that was only named so far: that which fixes a whole document."""
        if isinstance(action.data, dict) and action.edit is None:
            document = self.server.workspace.get_text_document(str(action.data["uri"]))
            action.edit = self._edit(document, self._fixes(self._unit(document.uri)))
        return action

    def _fixes(self, unit: _Unit) -> Iterator[Edit]:
        """The edits that apply all safe fixes, those included that others make possible."""
        from ..run.fixing import Wanted, fix

        settings = self._settings(unit.path)
        if settings is None or settings.excludes(unit.path):
            return
        codes = settings.selection.codes_for(unit.path) & fixable(settings.config)
        try:
            fixed = fix(
                lambda unsaved: lint(
                    [unit.path],
                    settings.config,
                    cache=default_folder(),
                    unsaved={unit.path: unit.data, **unsaved},
                    fixes=Via.NATIVE,
                ),
                Wanted(codes),
            )
        except PathError:
            return  # a file that is not there yet is linted, and not fixed
        for file in fixed.files:
            yield from _changes(*map(split_lines, file.texts))

    def _edit(self, document: TextDocument, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        lines = split_lines(document.source)
        ends = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
        changes = [
            types.TextEdit(self._range(one, lines), re.sub(r"\r?\n", lambda _: ends, one.text)) for one in edits
        ]
        version = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(version, changes)])

    # -- words -------------------------------------------------------------------------------------------------------

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What the rules say of themselves that found something at a place."""
        unit = self._unit(params.text_document.uri)
        cell = unit.cell_of(params.text_document.uri)
        lines, here = split_lines(unit.documents[cell].source), types.Range(params.position, params.position)
        found = [one for one in self.found.get(unit.path, ()) if one.cell == cell]
        codes = dict.fromkeys(one.code for one in found if _meet(self._range(one, lines), here))
        texts = ["\n".join(markdown([rule])) for code in codes if (rule := _rules().get(code)) is not None]
        if not texts:
            return None
        words = re.sub(r'^<a id="[^"]*"></a>\n\n', "", "\n\n---\n\n".join(texts), flags=re.MULTILINE)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, words))


@cache
def _rules() -> dict[str, Any]:
    return {rule.code: rule for rule in documented_rules()}


def _meet(one: types.Range, other: types.Range) -> bool:
    def place(position: types.Position) -> tuple[int, int]:
        return position.line, position.character

    return place(one.start) <= place(other.end) and place(other.start) <= place(one.end)


def _changes(before: Sequence[str], now: Sequence[str]) -> Iterator[Edit]:
    """The edits that make some lines of others, in whole lines."""
    for kind, start, end, first, last in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind != "equal":
            yield Edit(start + 1, 1, end + 1, 1, "".join(now[first:last]))
