"""The documentation is true: its commands run, its settings are read, and what it lists is what there is.

A ``sh`` block holds commands, one a line; a ``console`` block holds commands after ``$`` and, below each, lines that it
prints among others. They run in a project made for their page, in their order.
A comment before a block says what is special about it:

``<!-- run: no, REASON -->``
    it cannot run here
``<!-- run: with tensorflow -->``
    it runs a model
``<!-- run: in the checkout -->``
    it is about this repository
``<!-- file: NAME -->``
    the block is a file of the project, for the commands after it
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from migrate_lint.linter.cli.main import parsers
from migrate_lint.linter.finding import Target
from migrate_lint.linter.settings.config import FORMATS, Config, parse
from migrate_lint.runtime_checks.comparison.rungs import RUNGS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("recipes/*.md")), ROOT / "README.md"]
EXAMPLE = ROOT / "examples" / "half_migrated"

_FENCE = re.compile(r"(?P<fence>`{3,})(?P<language>[\w-]*)")
_MARKER = re.compile(r"<!-- (run|file): (.+) -->")
_RUN = re.compile(r"no, \w.{10,}|with tensorflow|in the checkout")
_DONE = {"migrate-lint": {0, 1}, "pylint": set(range(32)) - {1}, "python -m pylint": set(range(32)) - {1}}
"""Statuses of programs that have done what they were asked, and found something; pylint's are sums, 1 a failure."""
_OF_OTHERS = {"--inplace", "--from-stdin"}
"""Options of other programs that the pages name."""
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z\d-]+")
_COMMANDS = ("check", "verify", "resume")
_BRANCH = "main"
_CI = {"GITHUB_BASE_REF": _BRANCH, "CI_MERGE_REQUEST_DIFF_BASE_SHA": _BRANCH}
"""What a server tells its jobs."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    place: str
    language: str
    text: str
    run: str = ""
    file: str = ""

    @property
    def is_commands(self) -> bool:
        """Whether it is to be run."""
        return self.language in {"sh", "console"} and not self.run.startswith("no, ")


@cache
def _blocks(page: Path) -> tuple[Block, ...]:
    return tuple(_read(page))


def _read(page: Path) -> Iterator[Block]:
    lines = iter(enumerate(page.read_text("utf-8").split("\n"), 1))
    marker = ("", "")
    for number, line in lines:
        if found := _MARKER.fullmatch(line):
            marker = found[1], found[2]
        elif found := _FENCE.match(line):
            text = []
            for _, inner in lines:
                if inner == found["fence"]:
                    break
                text.append(inner)
            kind, value = marker
            yield Block(
                f"{page.name}:{number}",
                found["language"],
                "".join(f"{part}\n" for part in text),
                run=value if kind == "run" else "",
                file=value if kind == "file" else "",
            )
            marker = ("", "")
        elif line:
            assert marker == ("", ""), f"{page.name}:{number}: a marker stands before a block"


def _commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each command, and lines that it is to print."""
    lines = block.text.replace("\\\n", "").split("\n")
    if block.language == "sh":
        yield from ((line, []) for line in lines if line.strip())
        return
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        command, *printed = part.rstrip("\n").split("\n")
        yield command, printed


def _with_commands(*, tensorflow: bool) -> list[Any]:
    chosen = [
        page
        for page in PAGES
        if any(block.is_commands and (block.run == "with tensorflow") is tensorflow for block in _blocks(page))
    ]
    return [pytest.param(page, id=page.name) for page in chosen]


def _project(page: Path, folder: Path) -> Path:
    """The half-migrated example in a git repository, on a branch beside its main one."""
    folder.mkdir()
    for path in EXAMPLE.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    if page.name == "notebooks.md":
        _write_notebook(folder / "notebooks" / "explore.ipynb")
    git = ("git", "-c", "user.name=docs", "-c", "user.email=docs@example.com", "-c", "commit.gpgsign=false")
    for words in (
        ("init", "--quiet", f"--initial-branch={_BRANCH}"),
        ("add", "."),
        ("commit", "--quiet", "--message=start"),
        ("update-ref", f"refs/remotes/origin/{_BRANCH}", "HEAD"),
        ("checkout", "--quiet", "-b", "migration"),
    ):
        subprocess.run([*git, *words], cwd=folder, check=True)
    return folder


def _write_notebook(path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Scales"},
        _code_cell("import tensorflow as tf\n%matplotlib inline"),
        _code_cell(
            "class Scale(tf.keras.layers.Layer):\n"
            '    """A learned scale."""\n'
            "    def call(self, inputs):\n"
            "        scale = tf.Variable(1.0)\n"
            "        return inputs * scale"
        ),
    ]
    path.parent.mkdir()
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}), "utf-8")


def _code_cell(source: str) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}


def _environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "GIT_"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return (
        kept | _CI | {"PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYLINTHOME": str(tmp_path / "pylint")}
    )


def _run(command: str, folder: Path, environment: dict[str, str], place: str) -> str:
    """What a command prints; it has to end as its program does when all went well."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=1800,
    )
    program = re.sub(r"^(?:\w+=\S+ )+", "", command)
    allowed = next((statuses for name, statuses in _DONE.items() if program.startswith(name)), {0})
    assert done.returncode in allowed, f"{place}: {command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr}"
    return done.stdout


def _run_page(page: Path, tmp_path: Path, *, tensorflow: bool) -> list[str]:
    """Run a page's commands; returns lines that were to be printed and were not."""
    project, environment = _project(page, tmp_path / "project"), _environment(tmp_path)
    missing = []
    for block in _blocks(page):
        if block.file:
            (project / block.file).parent.mkdir(parents=True, exist_ok=True)
            (project / block.file).write_text(block.text, "utf-8")
        if not block.is_commands or (block.run == "with tensorflow") is not tensorflow:
            continue
        folder = ROOT if block.run == "in the checkout" else project
        for command, lines in _commands(block):
            printed = set(_run(command, folder, environment, block.place).split("\n"))
            missing += [f"{block.place}: {line}" for line in lines if line not in printed]
    return missing


@pytest.mark.slow
@pytest.mark.parametrize("page", _with_commands(tensorflow=False))
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    """Every command ends well in a fresh project, and prints what the page shows."""
    missing = _run_page(page, tmp_path, tensorflow=False)

    assert [] == missing


@pytest.mark.tensorflow
@pytest.mark.parametrize("page", _with_commands(tensorflow=True))
def test_the_commands_that_run_a_model_run(page: Path, tmp_path: Path) -> None:
    """The same for commands with `--runtime`."""
    missing = _run_page(page, tmp_path, tensorflow=True)

    assert [] == missing


def test_nothing_evades_these_tests() -> None:
    """Commands stand in `sh` and `console` blocks, every marker is one that is known, and says why nothing is run."""
    blocks = [block for page in PAGES for block in _blocks(page)]

    assert [] == [block.place for block in blocks if block.language in {"bash", "shell", "zsh", "shell-session"}]
    assert [] == [block.place for block in blocks if block.run and not _RUN.fullmatch(block.run)]
    assert [] == [block.place for block in blocks if block.run and block.language not in {"sh", "console"}]


def _recipes() -> Iterator[tuple[str, str]]:
    """The commands of ours that the YAML of the pages gives to a server."""
    yaml: Any = pytest.importorskip("yaml", reason="comes with the extra [docs]")
    for page in PAGES:
        for block in _blocks(page):
            if block.language == "yaml":
                for text in _texts(yaml.safe_load(block.text)):
                    if text.startswith("migrate-lint "):
                        yield block.place, text


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(inner)


def test_the_recipes_for_servers_run(tmp_path: Path) -> None:
    """What GitHub and GitLab are told to run ends well in a checkout, and writes the files that are uploaded."""
    project, environment = _project(DOCS / "ci.md", tmp_path / "project"), _environment(tmp_path)
    recipes = list(_recipes())
    for place, command in recipes:
        _run(command, project, environment, place)
    named = {word for _, command in recipes for word in shlex.split(command) if word.endswith((".sarif", ".html"))}

    assert 3 <= len(recipes)
    assert {"lint.sarif", "lint.html"} == named
    assert all((project / name).stat().st_size for name in named)


def test_hooks_of_the_recipes_exist() -> None:
    """A hook that a page names is one that this repository offers."""
    yaml: Any = pytest.importorskip("yaml", reason="comes with the extra [docs]")
    offered = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    named = {
        name for page in PAGES for block in _blocks(page) for name in re.findall(r"^\s*- id: (\S+)", block.text, re.M)
    }

    assert set() == named - offered


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_settings_of_a_page_are_read(page: Path, tmp_path: Path) -> None:
    """TOML and JSON are well-formed, and migrate-lint knows every key of its own table."""
    for block in _blocks(page):
        if block.language == "toml":
            tomllib.loads(block.text)
            parse(block.text.encode(), str(tmp_path / "pyproject.toml"))
        elif block.language == "json":
            json.loads(block.text)


def test_every_key_has_a_section() -> None:
    """The reference lists the keys that the program reads, no more and no fewer."""
    text = (DOCS / "configuration.md").read_text("utf-8").partition("## Keys")[2]
    own = {field.name for field in fields(Config)} - {"base", "path", "extended", "of_runs", "nested", "target_file"}
    keys = {name.replace("_", "-") for name in own} | {"extend"}

    assert keys == set(re.findall(r"^### `([\w-]+)`$", text, re.M))


def test_every_format_is_in_the_table() -> None:
    """With the first line of what its module says of itself: for whom, and what it is."""
    rows = [line.strip("| ").split(" | ") for line in list(_extension("formats").table())[2:]]

    assert [f"`{name}`" for name in FORMATS] == [name for name, _ in rows]
    assert [] == [name for name, words in rows if ": " not in words]
    assert "```{formats}" in (DOCS / "formats.md").read_text("utf-8")


def test_options_exist() -> None:
    """An option that a page names is one of the program's."""
    listed = {option for command in _COMMANDS for option in _OPTION.findall(_listing(command))}
    named = {
        (page.name, option)
        for page in PAGES
        for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", page.read_text("utf-8"))
        if code.startswith(("--", "migrate-lint "))
        for option in _OPTION.findall(code)
    }

    assert set() == {(page, option) for page, option in named if option not in listed | _OF_OTHERS}


@pytest.mark.parametrize("command", _COMMANDS)
def test_the_list_of_options_is_complete(command: str) -> None:
    """Every option of the parser is in the reference, with its help."""
    text = _listing(command)
    actions = [action for action in _extension("command_line").parser(command)._actions if action.option_strings]

    assert [] == [action.dest for action in actions if f"`{action.option_strings[-1]}" not in text]
    assert [] == [action.dest for action in actions if not action.help]


def test_every_rung_is_in_the_table() -> None:
    """In the order of the ladder, with what the rung says of itself."""
    rows = [line.strip("| ").split(" | ", 2) for line in list(_extension("rungs").table())[2:]]

    assert [[rung.number, f"`{rung.name}`", rung.compared] for rung in RUNGS] == rows
    assert "```{rungs}" in (DOCS / "verify.md").read_text("utf-8")


def test_pages_are_of_four_kinds() -> None:
    """The contents have the four kinds of Diataxis, in their order; recipes are guides. No page is of two kinds."""
    kinds = [
        (caption, pages.split())
        for caption, pages in re.findall(r"```\{toctree\}\n:caption: (.+)\n:maxdepth: 1\n\n([^`]+)```", _index())
    ]
    listed = [page for _, pages in kinds for page in pages]

    assert ["Tutorials", "How-to guides", "How-to guides: recipes", "Reference", "Explanation"] == [k for k, _ in kinds]
    assert sorted(set(listed)) == sorted(listed)
    assert {path.stem for path in DOCS.glob("*.md")} - {"index"} == {one for one in listed if "/" not in one}


@pytest.mark.slow
def test_names_of_tf1_are_those_of_the_tables() -> None:
    """Every name that a table has a successor for, where TF2 lacks it; with recipes that exist, five cells a row."""
    from migrate_lint.rules.tf1_api import contrib, moved_or_removed_symbol
    from migrate_lint.rules.tf1_api.api_status import standing

    names = _extension("tf1_names")
    told = {row.name: row for row in names.rows()}
    moved = {
        name
        for name in moved_or_removed_symbol.successors()
        if standing(f"tensorflow.{name}", Target.KERAS3).status != "ok"
    }
    lines = [line for line in names.tables() if line.startswith("| `tf.")]
    recipes = {name for line in lines for name in re.findall(r"\(recipes/([\w-]+)\.md\)", line)}

    assert set() == moved - told.keys()
    assert set() == {f"contrib.{name}" for name in contrib.SUCCESSORS} - told.keys()
    assert len(told) == len(lines)
    assert [] == [line for line in lines if len(line.split(" | ")) != 5]
    assert set() == {name for name in recipes if not (DOCS / "recipes" / f"{name}.md").exists()}
    assert [] == [row.name for row in told.values() if not row.rules]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "instead", "compat", "codes"),
    [
        ("get_variable", "a tf.Variable that the layer or module owns", "yes", {"TF106", "TF403", "TF406"}),
        ("layers.conv2d", "`tf.keras.layers`", "with Keras 2", {"TF103", "TF106", "TF406", "TF410"}),
        ("nn.rnn_cell.BasicLSTMCell", "`tf.keras.layers`", "with Keras 2", {"TF406", "TF410", "TF620"}),
        ("summary.FileWriter", "`tf.summary.create_file_writer`", "yes; needs a graph", {"TF406", "TF420"}),
        ("global_variables_initializer", "", "yes; does nothing in eager execution", {"TF404", "TF406"}),
        ("log", "`tf.math.log`", "yes", {"TF406"}),
        ("mul", "`tf.multiply`", "", {"TF406"}),
        ("metrics.auc", "`tf.keras.metrics.AUC`", "yes; needs a graph", {"TF406", "TF421", "TF624"}),
        ("contrib.data.unbatch", "`tf.data.experimental.unbatch`", "", {"TF405"}),
        ("contrib.rnn.LSTMCell", "`tf.compat.v1.nn.rnn_cell.LSTMCell` with Keras 2", "", {"TF405", "TF620"}),
        ("contrib.slim", "`tf_slim`", "", {"TF405"}),
        ("contrib.crf.crf_log_norm", "code that `--fix --via compat.v1` writes out", "", {"TF405"}),
        ("keras.layers.CuDNNLSTM", "`tf.keras.layers.LSTM`", "", {"TF309"}),
    ],
)
def test_a_name_of_tf1_has_what_the_rules_say(name: str, instead: str, compat: str, codes: set[str]) -> None:
    """What takes its place, what compat.v1 has of it, and among the rules those that are known to speak of it."""
    row = {one.name: one for one in _extension("tf1_names").rows()}[name]

    assert (instead, compat) == (row.instead, row.compat)
    assert set() == codes - {rule.code for rule in row.rules}


def test_gone_arguments_are_listed() -> None:
    """Each with the function that took it, and with its new name where it has one."""
    lines = list(_extension("tf1_names").arguments())

    assert "| `tf.nn.conv2d` | `use_cudnn_on_gpu` |  |" in lines
    assert "| `tf.reduce_sum` | `reduction_indices` | `axis` |" in lines


_SEARCHED = ("BasicLSTMCell", "cudnn", "CudnnLSTM", "tf.layers.conv2d", "get_variable", "FileWriter", "tf.Session")


@pytest.mark.slow
def test_the_search_finds_names_of_tf1(tmp_path: Path) -> None:
    """The index that the search of the site reads has every part of a name, for the page of names."""
    pytest.importorskip("sphinx", reason="comes with the extra [docs]")
    from sphinx.search.en import SearchEnglish

    source, built = tmp_path / "source", tmp_path / "built"
    source.mkdir()
    shutil.copy(DOCS / "tf1-names.md", source)
    few = ("-D", "extensions=myst_parser,tf1_names", "-D", "root_doc=tf1-names", "-D", "html_static_path=")
    command = [sys.executable, "-m", "sphinx", "-q", "-c", str(DOCS), *few, str(source), str(built)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    text = (built / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    language = SearchEnglish({})
    words = {language.stem(part.lower()) for name in _SEARCHED for part in language.split(name)}

    assert ["tf1-names"] == index["docnames"]
    assert {"basiclstmcel", "cudnn", "filewrit"} <= words
    assert set() == words - (index["terms"].keys() | index["titleterms"].keys())


@pytest.mark.slow
def test_messages_of_the_troubleshooting_page_exist() -> None:
    """Each line that is quoted there is made of texts of the program, but for what an ellipsis stands for."""
    texts = _texts_of_the_program()
    blocks = [block for block in _blocks(DOCS / "troubleshooting.md") if block.language == "text"]
    lines = [line for block in blocks for line in block.text.splitlines()]
    parts = {part.strip(" :;().") for line in lines for part in line.split("…")} - {""}

    assert 25 <= len(lines)
    assert [] == sorted(part for part in parts if not any(part in text for text in texts))
    assert not any("the worker has melted" in text for text in texts)


def _texts_of_the_program() -> set[str]:
    """The literals of the linter, the runs and the rules; what an f-string puts in is left out of it."""
    found = set()
    for folder in ("linter", "rules", "runtime_checks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return found


def _index() -> str:
    return (DOCS / "index.md").read_text("utf-8")


def test_every_rule_has_a_page() -> None:
    """A page is named by the slug, has it as its anchor, shows the documentation, and leads to the cases."""
    pages = _extension("rule_pages")
    rules = pages.own_rules()
    for rule in rules:
        text = pages.page(rule)
        assert text.startswith(f"({rule.slug()})=\n# {rule.code} {rule.slug()}\n")
        assert ["Why", "Example", "Fix", "Source"] == re.findall(r"^## (Why|Example|Fix|Source)$", text, re.M)
    index = pages.index(rules)

    assert [] == [rule.slug() for rule in rules if f"(./{rule.slug()}.md)" not in index]
    first = next(rule for rule in rules if rule.code == "TF101")
    assert "(cases/variable-in-call.md)" in pages.page(first)
    assert "\n## A tf.Variable in `call`\n" in pages.cases(first)


def test_pages_of_rules_are_written_once(tmp_path: Path) -> None:
    """A second build writes nothing, and takes away the page of a rule that is gone."""
    pages = _extension("rule_pages")
    folder = tmp_path / "rules"
    pages.write_pages(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.md")}
    for name in ("gone.md", "cases/gone.md"):
        (folder / name).write_text("# Gone\n", "utf-8")
    pages.write_pages(folder)

    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*.md")}
    assert "*\n" == (folder / ".gitignore").read_text("utf-8")


def test_pages_name_the_messages_of_pylint() -> None:
    """The id on a rule's page is the one that the plugin registers."""
    pytest.importorskip("pylint", reason="comes with the extra [pylint]")
    from migrate_lint.linter.pylint_plugin import message_id

    pages = _extension("rule_pages")
    named = {rule.code: re.search(r"`(\w+)` in pylint", pages.page(rule)) for rule in pages.own_rules()}

    assert {"TF907", "TF908"} == {code for code, found in named.items() if found is None}
    assert [] == [
        rule.code
        for rule in pages.own_rules()
        if (found := named[rule.code]) is not None and message_id(rule) != found[1]
    ]


def test_links_of_the_readme_lead_somewhere() -> None:
    """Links between files of the repository name files that exist; those inside docs are checked by the build."""
    broken = [
        (name, link)
        for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")
        for link in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", (ROOT / name).read_text("utf-8"))
        if not (ROOT / link).exists()
    ]

    assert [] == broken


def test_the_options_that_the_security_page_names_exist() -> None:
    """A promise about an option that is gone is none."""
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    known = {option for parser in parsers().values() for option in parser._option_string_actions}

    assert {"--minutes"} == set(re.findall(r"`[^`]*?(--[a-z-]+)", text)) - known


@cache
def _extension(name: str) -> ModuleType:
    """A module of the Sphinx extensions in ``docs/_ext``."""
    pytest.importorskip("sphinx", reason="comes with the extra [docs]")
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"migrate_lint_docs_{name}", DOCS / "_ext" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _listing(command: str) -> str:
    """The options of a command as the reference lists them."""
    extension = _extension("command_line")
    return "\n".join(extension.listing(extension.parser(command)))


def test_the_versions_that_the_docs_support_are_those_that_are_asked_for() -> None:
    """Of Python and of packages, the lowest ones."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [one for name in ("runtime", "pylint", "lsp") for one in project["optional-dependencies"][name]]
    asked = dict(one.split(">=") for one in [*project["dependencies"], *extras])
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", (DOCS / "versions.md").read_text("utf-8"), re.M))

    assert rows["Python of migrate-lint"].startswith(project["requires-python"].removeprefix(">=") + " and later")
    for row, package in {
        "libcst": "libcst",
        "pylint, for the plugin": "pylint",
        "pygls, for `migrate-lint server`": "pygls",
        "TensorFlow that is moved to": "tensorflow",
    }.items():
        assert rows[row].startswith(f"{asked[package]} and later"), row
