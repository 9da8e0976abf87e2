"""Notebooks as one module of their cells: what IPython adds to Python, and where a finding stands."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.finding import Consequence, Finding, Severity
from migrate_lint.linter.run import engine
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config
from migrate_lint.linter.source.cells import CellMap
from migrate_lint.linter.source.notebooks import read_notebook
from migrate_lint.linter.source.parsing import SourceFile

IMPORT = "import tensorflow as tf"
BAD = "tf.Session()"

Captured = pytest.CaptureFixture[str]


def notebook(*cells: str | list[str], **more: Any) -> dict[str, Any]:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made} | more


def read(document: dict[str, Any] | bytes) -> SourceFile | Finding:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_notebook(Path("a.ipynb"), "a.ipynb", data)


def source_of(*cells: str | list[str], **more: Any) -> SourceFile:
    source = read(notebook(*cells, **more))
    assert isinstance(source, SourceFile)
    return source


def found(*cells: str | list[str], **more: Any) -> list[tuple[str, int | None, int, int]]:
    return [(one.code, one.cell, one.line, one.column) for one in findings(notebook(*cells, **more))]


def findings(document: dict[str, Any] | bytes) -> tuple[Finding, ...]:
    Path("a.ipynb").write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return lint(["a.ipynb"], Config(base=os.getcwd())).findings


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# -- cells -------------------------------------------------------------------------------------------------------------


def test_names_of_earlier_cells_are_known() -> None:
    """The cells are one module, and a finding has its own cell's line."""
    assert [("TF401", 1, 2, 1)] == found(IMPORT, f"\n{BAD}")


def test_a_finding_in_a_cell_knows_no_lines_of_the_module() -> None:
    """They would be of no cell."""
    (only,) = findings(notebook(IMPORT, f"def f():\n  {BAD}\n"))

    assert (None, None, ()) == (only.statement, only.function, only.related)
    assert only.subject is not None


def test_the_cells_after_one_that_raises_are_run() -> None:
    """A notebook that stops there is gone on with by hand; a function that raises is not."""
    assert [("TF401", 2, 1, 1)] == found(IMPORT, "raise RuntimeError('restart now')", BAD)
    assert [] == found(IMPORT, f"def f():\n    raise RuntimeError\n    {BAD}")


def test_the_cell_counts_all_cells() -> None:
    """Text and raw cells too, as a notebook's own interface does."""
    text = {"cell_type": "markdown", "metadata": {}, "source": "# tf.Session()"}
    raw = {"cell_type": "raw", "metadata": {}, "source": BAD}
    document = notebook(IMPORT, BAD)
    document["cells"] = [text, document["cells"][0], raw, document["cells"][1]]

    assert [("TF401", 3, 1, 1)] == [(one.code, one.cell, one.line, one.column) for one in findings(document)]


@pytest.mark.parametrize(
    "source",
    [f"{IMPORT}\n{BAD}", [f"{IMPORT}\n", BAD], f"{IMPORT}\r\n{BAD}"],
)
def test_a_source_is_text_or_lines(source: str | list[str]) -> None:
    """The format allows both, and editors write any line end."""
    assert [("TF401", 0, 2, 1)] == found(source)


def test_the_cells_of_nbformat_3_are_in_worksheets() -> None:
    """Their source is called an input, and they count over all worksheets."""
    sheets = [{"cells": [{"cell_type": "code", "language": "python", "input": text}]} for text in (IMPORT, BAD)]

    assert [("TF401", 1, 1, 1)] == [
        (one.code, one.cell, one.line, one.column) for one in findings({"nbformat": 3, "worksheets": sheets})
    ]


@pytest.mark.parametrize(
    "metadata",
    [{"language_info": {"name": "R"}}, {"kernelspec": {"language": "julia"}}],
)
def test_a_notebook_in_another_language_is_silent(metadata: dict[str, Any]) -> None:
    """Its kernel says which one it is."""
    assert [] == found("x <- 1", metadata=metadata)


def test_a_cell_in_another_language_is_left_out() -> None:
    """As editors mark it in a notebook of several languages."""
    document = notebook(IMPORT, "SELECT 1", BAD)
    document["cells"][1]["metadata"] = {"vscode": {"languageId": "sql"}}

    assert ["TF401"] == [one.code for one in findings(document)]


def test_a_notebook_without_code_is_clean() -> None:
    """There is nothing to lint, and nothing wrong."""
    assert [] == found()


# -- what IPython adds -------------------------------------------------------------------------------------------------

SILENT = [
    "!ls -la",
    "!!ls",
    "!echo it's \"",
    "files = !ls",
    "a, b = !ls {folder}",
    "d['k'] = !ls",
    "x = y = !ls | grep \\\n   tf.Session()",
    "!ls \\\n  tf.Session()",
    "here = %pwd",
    "%matplotlib inline",
    "% matplotlib inline",
    "%load_ext autoreload\n%autoreload 2",
    "%cd \\\n  tf.Session()",
    "%time",
    "%time?",
    "%lsmagic?",
    "?tf.Session",
    "tf.Session?",
    "tf.Session??",
    "tf.*Session*?",
    "x = tf.Session?",
    ",f a b",
    ";f a",
    "/f a",
    "if x:\n    !ls\n    y = %pwd\nelse:\n    %cd",
    "def f():\n    !ls",
    "%%bash\ntf.Session()",
    "%%html\n<b>tf.Session()</b>",
    "%%writefile model.py\ntf.Session()",
    "%%javascript\nx?",
    "%%script perl -w\n$x",
    "%%sql\nSELECT tf.Session()",
    "# why\n\n%%latex\n$x$",
    "pip install gym",
    "ls ./data/train/\ncd ..",
    "s = '''\n!tf.Session()\n%time tf.Session()\n?'''",
    "x = (1,\n    2)  # %time tf.Session()",
    "await f()\nasync with a as b:\n    pass",
    "f();",
    "x = 4 \\\n  % 3",
    "x = (4\n  % 3)",
    "print('a = !b')",
    "x = 'a = %time f()'",
    "f'{x!r}'\n%pwd",
]
"""Cells in which IPython does not run tf.Session."""

LOUD = [
    ("{}", 1, 1),
    ("{};", 1, 1),
    ("await {}", 1, 7),
    ("%time {}", 1, 7),
    ("%time   x = {}", 1, 13),
    ("% time {}", 1, 8),
    ("%timeit {}", 1, 9),
    ("%timeit -n 10 -r3 -q {}", 1, 22),
    ("%prun -s cumulative -q {}", 1, 24),
    ("%memit {}", 1, 8),
    ("x = %time {}", 1, 11),
    ("x = %timeit -o {}", 1, 16),
    ("if a:\n    %time {}", 2, 11),
    ("%time f(a,\n        {})", 2, 9),
    ("%%time\n{}", 2, 1),
    ("\n%%time\n\n{}", 4, 1),
    ("%%timeit\n{}", 2, 1),
    ("%%timeit -n 3 x = {}\nx", 1, 19),
    ("%%capture out\n%%time\nx = {}", 3, 5),
    ("%%prun -s time\n{}", 2, 1),
    ("# timed\n%%time\n{}", 3, 1),
    ("!ls\n{}", 2, 1),
    ("!ls \\\n  x\n{}", 3, 1),
    ("!echo '''\n{}", 2, 1),
    ("%pwd\nx = {}", 2, 5),
    ("x?\n{}", 2, 1),
    ("pip install gym\n{}", 2, 1),
    ("time {}", 1, 6),
    ("    x = 1\n    {}", 2, 5),
    ("  if x:\n    !ls\n    %time {}", 3, 11),
    ("é = 'ü'; {}", 1, 10),
    ("%time é = 'ü'; {}", 1, 16),
    ("def f(s='''\n!'''):\n    return {}", 3, 12),
]  # fmt: skip
"""Cells in which IPython runs what stands for the braces, with its line and column."""


@pytest.mark.parametrize("cell", SILENT)
def test_what_is_not_python_is_silent_and_parses(cell: str) -> None:
    """The cell makes no finding and keeps its lines, and the next one is linted."""
    assert [("TF401", 2, 1, 1)] == found(IMPORT, cell, BAD)


@pytest.mark.parametrize(("cell", "line", "column"), LOUD)
def test_the_python_of_a_magic_is_linted(cell: str, line: int, column: int) -> None:
    """At the line and column where its author wrote it, to the end."""
    (only,) = findings(notebook(IMPORT, cell.replace("{}", BAD)))

    assert ("TF401", 1, line, column) == (only.code, only.cell, only.line, only.column)
    assert (line, column + len(BAD)) == (only.end_line, only.end_column)


def test_a_hundred_notebooks_of_every_form() -> None:
    """Each finding is where its text is, whatever stands around it in the cell and the notebook."""
    draw = random.Random(4)
    for _ in range(100):
        cells, expected = [IMPORT], []
        for loud in draw.sample(LOUD, 6):
            cells += draw.sample(SILENT, draw.randrange(3))
            before = draw.choice(["", "", "x = 1\n", "\n\n"]) if not loud[0].startswith(("%%", " ", "#", "\n")) else ""
            expected.append((len(cells), loud[1] + before.count("\n"), loud[2]))
            cells.append(before + loud[0].replace("{}", BAD))

        assert expected == [(one.cell, one.line, one.column) for one in findings(notebook(*cells))], cells


def test_positions_lead_there_and_back() -> None:
    """A fix of the module's text can be put into the cells."""
    source = source_of(IMPORT, "!ls", f"  %time {BAD}")
    assert source.notebook is not None
    places = source.notebook.places
    end = 1 + len(BAD)
    inside = Finding("a.ipynb", 3, 1, 3, end, "TF401", "session-run", Severity.ERROR, Consequence.BREAKS, "no graph")
    there = places.located(inside)

    assert BAD == source.lines[2]
    assert (2, 1, 9, 8 + end) == (there.cell, there.line, there.column, there.end_column)
    assert inside == places.in_module(there)
    assert places == CellMap.from_json(json.loads(json.dumps(places.to_json())))


# -- TensorFlow 1 in magics --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "line", "column", "end"),
    [
        ("%tensorflow_version 1.x", 1, 1, 24),
        ("tensorflow_version 1.x", 1, 1, 23),
        ("try:\n  %tensorflow_version 1.x\nexcept Exception:\n  pass", 2, 3, 26),
        ("!pip install tensorflow==1.15.2", 1, 1, 32),
        ("!pip install -q \\\n  'tensorflow-gpu==1.*'", 1, 1, 18),
        ("%pip install tensorflow~=1.14", 1, 1, 30),
        ("log = !pip install tensorflow==1.15", 1, 7, 36),
        ("%%bash\nls\npip install tensorflow==1.15", 3, 1, 29),
    ],
)
def test_asking_for_tensorflow_1_is_a_finding(cell: str, line: int, column: int, end: int) -> None:
    """It marks the magic as it is written."""
    (only,) = findings(notebook(cell))

    assert ("TF414", 0, line, column) == (only.code, only.cell, only.line, only.column)
    assert (line, end) == (only.end_line, only.end_column)


@pytest.mark.parametrize(
    "cell", ["%tensorflow_version 2.x", "!pip install tensorflow==2.15 x==1.0", "!pip show tensorflow"]
)
def test_asking_for_tensorflow_2_is_none(cell: str) -> None:
    """Nor is asking about it."""
    assert [] == found(cell)


# -- suppressions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell",
    [
        f"{BAD}  # migrate-lint: disable=TF401",
        f"%time {BAD}  # noqa: TF401",
        f"# migrate-lint: disable-file=TF401\n{BAD}",
        "%tensorflow_version 1.x  # migrate-lint: disable=TF414",
        "!pip install tensorflow==1.15  # noqa: TF414",
    ],
)
def test_a_comment_in_a_cell_hides_a_finding(cell: str) -> None:
    """On its line or in the whole notebook, beside magics too."""
    assert [] == found(IMPORT, cell)


def test_a_comment_hides_nothing_in_the_same_line_of_another_cell() -> None:
    """The lines of all cells begin at 1, but are not the same."""
    assert [("TF401", 1, 1, 1)] == found(IMPORT, BAD, f"{BAD}  # migrate-lint: disable=TF401")


@pytest.mark.parametrize("first", [IMPORT, "x = 1"])
def test_an_unused_suppression_has_its_cell(first: str) -> None:
    """Also in a notebook that has nothing to do with TensorFlow."""
    assert [("TF901", 1, 2, 32)] == found(first, "\nx = 1  # migrate-lint: disable=TF401")


# -- what cannot be read -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"", 1, "it is empty"),
        (b'{\n"cells": [}', 2, "it is not JSON"),
        (b"<<<<<<< HEAD\n{}", 1, "it is not JSON"),
        (b'{"cells": ["\xff"]}', 1, "it is not UTF-8"),
        (b"[]", 1, "no list of cells"),
        (b"{}", 1, "no list of cells"),
        (b'{"worksheets": [1]}', 1, "no list of cells"),
        (b'{"cells": [1]}', 1, "cell 0 is no JSON object"),
        (b'{"cells": [{"cell_type": "code", "source": 1}]}', 1, "the source of cell 0 is neither text nor a list"),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', 1, "the source of cell 0 is neither text nor a list"),
        (b"[" * 100_000, 1, "nested too deeply"),
        (b'{"cells": ' + b"1" * 5000 + b"}", 1, "this notebook cannot be read"),
    ],
)
def test_an_unreadable_notebook_is_a_finding(data: bytes, line: int, said: str) -> None:
    """Of the file, at the line of its JSON."""
    (only,) = findings(data)

    assert ("TF900", None, line) == (only.code, only.cell, only.line)
    assert said in only.message


def test_a_broken_cell_leaves_the_others_linted() -> None:
    """It is a finding in its own line."""
    assert [("TF900", 1, 2, 4), ("TF401", 2, 1, 1)] == found(IMPORT, "x = 1\ny =", BAD)


def test_a_broken_cell_is_found_without_tensorflow() -> None:
    """A notebook that was not linted as a whole does not pass as clean."""
    assert [("TF900", 1, 1, 4)] == found("x = 1", "y =")


def test_python_2_is_told_once() -> None:
    """Nearly every cell of such a notebook prints."""
    (only,) = findings(notebook("print 'a'", "x = 1", "\nprint 'b'"))

    assert ("TF902", 0, 1) == (only.code, only.cell, only.line)
    assert "this cell is Python 2 (print statement)" in only.message
    assert "one of 2 such cells" in only.message


def test_unpaired_surrogates_and_null_bytes_break_only_their_cell() -> None:
    """JSON can say them, Python cannot read them."""
    assert [("TF900", 1), ("TF900", 2), ("TF401", 3)] == [
        (code, cell) for code, cell, *_ in found(IMPORT, "x = '\ud800'", "x = '\0'", BAD)
    ]


def test_outputs_of_50_mb_are_passed_over() -> None:
    """A file of Python of that size is data; a notebook holds pictures."""
    document = notebook(IMPORT, BAD)
    document["cells"][0]["outputs"] = [{"output_type": "display_data", "data": {"image/png": "A" * 50 * 1024 * 1024}}]

    assert [("TF401", 1)] == [(one.code, one.cell) for one in findings(document)]


# -- in a run ----------------------------------------------------------------------------------------------------------


def linted(capsys: Captured, *words: str, cache: bool = False) -> list[dict[str, Any]]:
    main([*words, "--output-format", "json", *([] if cache else ["--no-cache"])])
    printed: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return printed


def write(*names: str) -> None:
    for name in names:
        Path(name).write_text(json.dumps(notebook(IMPORT, f"x = 1\n%time {BAD}", "x = 1  # noqa: TF101")), "utf-8")


def test_notebooks_are_linted_by_default(capsys: Captured) -> None:
    """A folder's, in the order of the contract."""
    write("b.ipynb", "a.ipynb")
    Path("a.py").write_text(f"{IMPORT}\n{BAD}\n", "utf-8")

    assert [
        ("a.ipynb", 1, 2, "TF401"),
        ("a.ipynb", 2, 1, "TF901"),
        ("a.py", None, 2, "TF401"),
        ("b.ipynb", 1, 2, "TF401"),
        ("b.ipynb", 2, 1, "TF901"),
    ] == [(one["path"], one.get("cell"), one["line"], one["code"]) for one in linted(capsys, ".")]


@pytest.mark.slow
def test_jobs_and_the_cache_change_nothing(capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Cells are kept with the findings: a second run parses nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(*(f"n{number}.ipynb" for number in range(9)))
    expected = linted(capsys, ".")

    assert 18 == len(expected)
    assert expected == linted(capsys, ".", "--jobs", "2")
    assert expected == linted(capsys, ".", cache=True)
    monkeypatch.setattr(engine, "read_source", None)
    assert expected == linted(capsys, ".", cache=True)


def test_both_targets_are_told_by_cell() -> None:
    """Findings of two targets at one place of one cell are one finding."""
    write("a.ipynb")

    result = lint(["a.ipynb"], Config(base=os.getcwd(), target="both"))

    assert [("TF401", 1), ("TF901", 2)] == [(one.code, one.cell) for one in result.findings]


def test_standard_input_may_be_a_notebook(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name says so."""
    from io import BytesIO, TextIOWrapper

    data = json.dumps(notebook(IMPORT, BAD)).encode()
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(data)))

    assert [("x.ipynb", 1, 1)] == [
        (one["path"], one["cell"], one["line"]) for one in linted(capsys, "-", "--stdin-filename", "x.ipynb")
    ]


def test_a_notebook_knows_the_project_around_it() -> None:
    """What it imports is known as in any file."""
    Path("layers.py").write_text(f"{IMPORT}\n\nclass Base(tf.keras.layers.Layer):\n    pass\n", "utf-8")
    cell = "class Net(Base):\n    def call(self, x):\n        return tf.keras.layers.Dense(1)(x)"
    Path("a.ipynb").write_text(json.dumps(notebook(f"{IMPORT}\nfrom layers import Base", cell)), "utf-8")

    (only,) = lint(["."], Config(base=os.getcwd(), select=("TF102",))).findings

    assert ("a.ipynb", 1, 3) == (only.path, only.cell, only.line)
    assert "Net.call" in only.message


def test_a_notebook_changes_nothing_in_the_rest_of_the_project() -> None:
    """It is known only where it is linted too, and what is found in a module must not depend on that."""
    module = f"{IMPORT}\n\ndef scale(x):\n    print(x)\n    return tf.keras.layers.Dense(1)(x)\n"
    Path("scaling.py").write_text(f"{module}\n\nclass Base(tf.Module):\n    pass\n", "utf-8")
    used = [
        "class Net(tf.keras.layers.Layer):\n    def call(self, x):\n        return scale(x)",
        "traced = tf.function(scale)\n\n@tf.function\ndef step(x):\n    return scale(x)",
        "tf.keras.models.load_model('m')\ntf.compat.v1.layers.dense\nclass Sub(Base): pass",
    ]
    cells = notebook(f"{IMPORT}\nfrom scaling import Base, scale", *used)
    Path("a.ipynb").write_text(json.dumps(cells), "utf-8")

    alone = lint(["scaling.py"], Config(base=os.getcwd())).findings
    together = lint(["."], Config(base=os.getcwd())).findings

    assert alone == tuple(finding for finding in together if finding.path == "scaling.py")
    assert together != alone


def test_another_place_is_named_by_its_cell() -> None:
    """A line of the module that the cells make says nothing to a reader."""
    steps = "rate = 0.1\n@tf.function\ndef step(x):\n    return x * rate"
    change = "\n\ndef decay():\n    global rate\n    rate = rate * 0.9"

    (only,) = findings(notebook(IMPORT, steps, change))

    assert ("TF210", 1) == (only.code, only.cell)
    assert "(line 5 of cell 2)" in only.message


def test_the_text_report_shows_the_line_as_written(capsys: Captured) -> None:
    """With its magic, and the caret below what is meant."""
    write("a.ipynb")
    main(["a.ipynb", "--no-cache"])

    printed = capsys.readouterr().out.split("\n")
    assert printed[0].startswith("a.ipynb:cell 1:2:7: TF401")
    assert ["    2 | %time tf.Session()", "      |       ^^^^^^^^^^^^"] == printed[1:3]


def test_source_lines_stay_as_many() -> None:
    """Whatever is replaced: each line of the module is a line of one cell."""
    for cell in SILENT:
        source = source_of(cell)
        assert source.notebook is not None
        assert len(source.lines) == len(source.notebook.texts[0])
        assert cell.split("\n") == source.notebook.texts[0]
