"""Where the lines of a notebook's cells stand in its file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.reporters.formats import github, gitlab, junit, sarif
from migrate_lint.linter.reporters.raw_lines import RawLines, cell_lines
from migrate_lint.linter.result import Result
from sarif_kit.validate import validation_errors

from .reports import FINDING, result_of, text_of

NOTEBOOK: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ['# Title "x\\" ] } , \n', "text"]},
        {
            "cell_type": "code",
            "metadata": {"source": ["no"], "cells": [{"source": ["no"]}]},
            "outputs": [{"data": {"text/plain": ["a\n", "b"]}, "source": ["no\n"]}],
            "source": ["import tensorflow as tf\n", "\n", "v = tf.Variable(1)"],
        },
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": []},
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": "a = 1\nb = 2"},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_a_line_of_a_cell_is_found_in_the_text(indent: int | None) -> None:
    """However the file is laid out; what only looks like a source is none."""
    text = json.dumps(NOTEBOOK, indent=indent)
    lines = text.split("\n")
    found = dict(cell_lines(text))

    assert {(0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (3, 1), (3, 2)} == set(found)
    assert "import tensorflow" in lines[found[1, 1] - 1]
    assert "tf.Variable" in lines[found[1, 3] - 1]
    assert "a = 1" in lines[found[3, 2] - 1]
    assert indent is None or found[1, 3] == found[1, 1] + 2


def test_cells_of_worksheets_are_counted_on() -> None:
    """As nbformat 3 has them, with an input in place of a source."""
    sheets = [{"cells": [{"input": []}, {"input": ["a\r\n", "b"]}]}, {"cells": [{"input": "c\rd"}]}]
    text = json.dumps({"worksheets": sheets, "metadata": {"cells": [{"input": ["no"]}]}}, indent=1)
    lines = text.split("\n")

    assert {(1, 1): '"a\\r\\n",', (1, 2): '"b"', (2, 1): '"input": "c\\rd"', (2, 2): '"input": "c\\rd"'} == {
        place: lines[line - 1].strip() for place, line in cell_lines(text)
    }


def notebook(data: bytes) -> Result:
    found = replace(FINDING, path="n.ipynb", cell=1, line=3, column=5, end_line=3, end_column=16)
    return result_of(found, source=data)


def test_every_format_tells_cell_and_line_and_points_into_the_text() -> None:
    """A server shows the JSON text, a person the cell."""
    text = json.dumps(NOTEBOOK, indent=1)
    line = next(number for number, part in enumerate(text.split("\n"), 1) if "tf.Variable" in part)
    result = notebook(text.encode())
    log = json.loads(text_of(sarif, result))
    (shown,) = log["runs"][0]["results"]
    (entry,) = json.loads(text_of(gitlab, result))

    assert [] == validation_errors(log)
    assert {"startLine": line, "endLine": line} == shown["locations"][0]["physicalLocation"]["region"]
    assert [{"name": "cell 1", "fullyQualifiedName": "cell 1, line 3"}] == shown["locations"][0]["logicalLocations"]
    assert "cell 1, line 3: made at every call" == shown["message"]["text"]
    assert (1, 3, 5) == tuple(shown["properties"][name] for name in ("cell", "line", "column"))
    assert {"begin": line, "end": line} == entry["location"]["lines"]
    assert "TF101: cell 1, line 3: made at every call" == entry["description"]
    assert (
        f"::error file=n.ipynb,line={line},endLine={line},title=TF101 variable-in-call::"
        "cell 1, line 3: made at every call\n" == text_of(github, result)
    )
    assert 'message="cell 1, line 3: made at every call"' in text_of(junit, result)


@pytest.mark.parametrize("data", [b"", b"[", b"]", b",", b"{}", b'{"cells": "x"}', b"\xff", b'{"cells": ["\\x"]}'])
def test_a_cell_that_is_not_found_is_on_the_first_line(data: bytes) -> None:
    """The file has changed meanwhile, or is no notebook."""
    result = notebook(data)

    assert (1, 1) == RawLines(result)(result.findings[0])


def test_a_large_output_takes_no_time() -> None:
    """Strings are passed over as a whole."""
    cells = [{"outputs": [{"data": {"image/png": "A" * 20_000_000}}], "source": ["x"]}]

    assert {(0, 1): 1} == dict(cell_lines(json.dumps({"cells": cells})))
