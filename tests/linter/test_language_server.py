"""The language server, asked as an editor asks it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

LAYER = """\
import tensorflow as tf


class Scale(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(1.0)
"""
SERVER = [sys.executable, "-P", "-m", "migrate_lint", "server"]


@pytest_lsp.fixture(config=ClientServerConfig(server_command=SERVER))
async def client(lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    """An editor in an empty folder, and a server."""
    (tmp_path / "pyproject.toml").write_text('[tool.migrate-lint]\ntarget = "keras2"\n')
    able = client_capabilities("neovim")
    able.general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf16])
    await lsp_client.initialize_session(types.InitializeParams(capabilities=able, root_uri=tmp_path.as_uri()))
    yield
    await lsp_client.shutdown_session()


async def told(client: LanguageClient, uri: str) -> list[tuple[str | int | None, int, int, int]]:
    """What the server says of a document when it next does: code, line, and where it begins and ends."""
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    while uri not in client.diagnostics:
        await asyncio.sleep(0.01)
    return [
        (one.code, one.range.start.line, one.range.start.character, one.range.end.character)
        for one in client.diagnostics[uri]
    ]


def open_(client: LanguageClient, path: Path, text: str, is_saved: bool = False) -> str:
    """Open a document with a text."""
    if is_saved:
        path.write_bytes(text.encode())
    uri = path.as_uri()
    item = types.TextDocumentItem(uri=uri, language_id="python", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return uri


def type_(client: LanguageClient, uri: str, text: str, version: int = 2) -> None:
    """Replace all of a document."""
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=version, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
    )


async def actions(
    client: LanguageClient, uri: str, line: int, only: list[str] | None = None
) -> dict[str, types.CodeAction]:
    """What is offered for a line, by title."""
    place = types.Position(line, 24)
    found = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri), types.Range(place, place), types.CodeActionContext([], only=only)
        )
    )
    return {one.title: one for one in found or () if isinstance(one, types.CodeAction)}


def edited(text: str, action: types.CodeAction) -> str:
    """A text with the edits of an action."""
    assert action.edit is not None and action.edit.document_changes
    (change,) = action.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    lines = text.split("\n")
    edits: Iterable[types.TextEdit] = [one for one in change.edits if isinstance(one, types.TextEdit)]
    for edit in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
        start, end = edit.range.start, edit.range.end
        tail = lines[end.line][end.character :] if end.line < len(lines) else ""
        new = lines[start.line][: start.character] + edit.new_text + tail
        lines[start.line : end.line + 1] = new.split("\n")
    return "\n".join(lines)


@pytest.mark.asyncio
async def test_a_buffer_is_linted_as_it_is_typed(client: LanguageClient, tmp_path: Path) -> None:
    """Saved or not, broken or mended; columns are those of the client, and other files of the project count."""
    (tmp_path / "base.py").write_text("import tensorflow as tf\n\n\nclass Base(tf.keras.layers.Layer):\n    pass\n")
    uri = open_(client, tmp_path / "model.py", LAYER)

    assert [("TF101", 5, 19, 35)] == await told(client, uri)
    type_(client, uri, LAYER.replace("return x", "return (x"))
    assert ["TF900"] == [code for code, *_ in await told(client, uri)]
    text = LAYER.replace("import tensorflow as tf", "import tensorflow as tf\nfrom base import Base")
    type_(client, uri, text.replace("tf.keras.layers.Layer", "Base").replace("return x", 'return len("😀") * x'), 3)
    assert [("TF101", 6, 31, 47)] == await told(client, uri)
    type_(client, uri, LAYER.replace("tf.Variable(1.0)", "2.0"), 4)
    assert [] == await told(client, uri)
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    assert [] == await told(client, uri)


@pytest.mark.asyncio
async def test_what_is_saved_in_one_file_is_seen_in_another(client: LanguageClient, tmp_path: Path) -> None:
    """As soon as the editor says that it has changed."""
    base = tmp_path / "base.py"
    base.write_text("import tensorflow as tf\n\n\nclass Base(tf.keras.layers.Layer):\n    pass\n")
    text = "import tensorflow as tf\nfrom base import Base\n\n\n" + LAYER.partition("\n\n\n")[2]
    uri = open_(client, tmp_path / "model.py", text.replace("tf.keras.layers.Layer", "Base"), is_saved=True)
    assert ["TF101"] == [code for code, *_ in await told(client, uri)]
    base.write_text("class Base:\n    pass\n")
    client.workspace_did_change_watched_files(
        types.DidChangeWatchedFilesParams([types.FileEvent(base.as_uri(), types.FileChangeType.Changed)])
    )

    assert [] == await told(client, uri)


@pytest.mark.asyncio
async def test_a_finding_is_fixed_disabled_and_explained(client: LanguageClient, tmp_path: Path) -> None:
    """A quick fix that a person has to look at says why; the comment hides the finding."""
    uri = open_(client, tmp_path / "model.py", LAYER)
    await told(client, uri)
    offered = await actions(client, uri, 5)
    (fix,) = (one for title, one in offered.items() if title.startswith("Fix TF101 variable-in-call: look at it, "))
    fixed = edited(LAYER, fix)

    assert "    def __init__(self, **kwargs):\n        super().__init__(**kwargs)\n" in fixed
    assert "        return x * self.variable\n" in fixed
    assert not fix.is_preferred
    disabled = edited(LAYER, offered["Disable TF101 for this line"])
    assert LAYER.replace("(1.0)", "(1.0)  # migrate-lint: disable=TF101") == disabled
    type_(client, uri, disabled)
    assert [] == await told(client, uri)
    assert {"Fix all that migrate-lint can fix safely"} == {*await actions(client, uri, 5)}
    type_(client, uri, LAYER, 3)
    await told(client, uri)
    words = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(5, 20))
    )
    assert words is not None and isinstance(words.contents, types.MarkupContent)
    assert words.contents.value.startswith("# TF101 variable-in-call\n")
    assert "## Why" in words.contents.value
    elsewhere = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 3))
    assert await client.text_document_hover_async(elsewhere) is None


@pytest.mark.asyncio
async def test_all_that_is_safe_is_fixed_at_once(client: LanguageClient, tmp_path: Path) -> None:
    """When the client asks for it, or resolves the action that was offered; CRLF stays CRLF."""
    lines = ["import tensorflow as tf", "", "y = tf.log(1.0)", "z = tf.nn.dropout(y, keep_prob=0.3)", ""]
    text = "\r\n".join(lines)
    uri = open_(client, tmp_path / "model.py", text, is_saved=True)
    assert await told(client, uri)
    (action,) = (await actions(client, uri, 0, ["source.fixAll"])).values()
    wanted = text.replace("tf.log", "tf.math.log").replace("keep_prob=0.3", "rate=1 - 0.3")

    assert wanted == edited(text, action)
    offered = (await actions(client, uri, 0))["Fix all that migrate-lint can fix safely"]
    assert offered.edit is None
    assert wanted == edited(text, await client.code_action_resolve_async(offered))


@pytest.mark.asyncio
async def test_the_cells_of_a_notebook_are_linted_together(client: LanguageClient, tmp_path: Path) -> None:
    """A cell knows what those before it import; what is found stands in the document of its own cell."""
    texts = ["import tensorflow as tf\n", "# words\n", LAYER.partition("\n\n\n")[2]]
    uris = [f"{(tmp_path / 'net.ipynb').as_uri()}#cell{number}" for number in range(3)]
    kinds = [types.NotebookCellKind.Code, types.NotebookCellKind.Markup, types.NotebookCellKind.Code]
    cells = [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)]
    documents = [types.TextDocumentItem(uri, "python", 1, text) for uri, text in zip(uris, texts, strict=True)]
    notebook = types.NotebookDocument((tmp_path / "net.ipynb").as_uri(), "jupyter-notebook", 1, cells)
    client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, documents))
    found = await told(client, uris[2])

    assert [("TF101", 2, 19, 35)] == found
    assert not client.diagnostics[uris[0]]
    assert "Disable TF101 for this line" in await actions(client, uris[2], 2)
    assert [] == [*await actions(client, uris[0], 0)]


@pytest.mark.asyncio
async def test_a_configuration_that_cannot_be_used_is_said(client: LanguageClient, tmp_path: Path) -> None:
    """Nothing is then taken for clean."""
    (tmp_path / "pyproject.toml").write_text('[tool.migrate-lint]\nselect = ["TF1O1"]\n')
    open_(client, tmp_path / "model.py", LAYER)
    await client.wait_for_notification(types.WINDOW_SHOW_MESSAGE)

    assert ["TF1O1" in one.message for one in client.messages] == [True]
    assert client.messages[0].message.endswith("nothing is linted")


@pytest.mark.asyncio
async def test_nothing_is_said_of_what_was_closed(client: LanguageClient, tmp_path: Path) -> None:
    """Not even what was typed just before."""
    uri = open_(client, tmp_path / "model.py", LAYER, is_saved=True)
    await told(client, uri)
    type_(client, uri, LAYER.replace("1.0", "2.0"))
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    assert [] == await told(client, uri)
    await asyncio.sleep(0.5)
    other = open_(client, tmp_path / "other.py", LAYER)
    assert ["TF101"] == [code for code, *_ in await told(client, other)]
    assert not client.diagnostics[uri]


CRASH = """\
import sys
from migrate_lint.linter.cli import language_server


def crash(*_):
    raise LookupError("no such thing")


language_server.findings_of = crash
language_server.serve()
"""


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[sys.executable, "-P", "-c", CRASH]))
async def crashing(lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    """An editor, and a server whose engine fails."""
    able = client_capabilities("neovim")
    await lsp_client.initialize_session(types.InitializeParams(capabilities=able, root_uri=tmp_path.as_uri()))
    yield
    await lsp_client.shutdown_session()


@pytest.mark.asyncio
async def test_a_crash_is_told_where_nothing_was_linted(crashing: LanguageClient, tmp_path: Path) -> None:
    """An empty list would be taken for a clean file."""
    uri = open_(crashing, tmp_path / "model.py", LAYER)

    assert [("TF909", 0, 0, 1)] == await told(crashing, uri)
    assert "LookupError: no such thing; this file was not linted" == crashing.diagnostics[uri][0].message
