"""A project in memory, for the tests of the analysis."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from migrate_lint.linter.analysis.index import FileIndex
from migrate_lint.linter.analysis.project import Project
from migrate_lint.linter.analysis.summary import summarize
from migrate_lint.linter.finding import Target
from migrate_lint.linter.rule_api.model import Call, File
from migrate_lint.linter.source.parsing import SourceFile


def project_of(texts: Mapping[str, str]) -> Project:
    """The project of these files."""
    return Project({name: summarize(FileIndex(ast.parse(dedent(text)))) for name, text in texts.items()})


def file_of(texts: Mapping[str, str], name: str = "example.py", target: Target = Target.KERAS3) -> File:
    """One file of the project of these files, as a rule sees it."""
    text = dedent(texts[name])
    return File(SourceFile(Path(name), name, text, ""), name, FileIndex(ast.parse(text)), project_of(texts), target)


def call(file: File, path: str, number: int = 0) -> Call:
    """The n-th call whose written path is `path`."""
    return [site for site in file.calls if site.path == path][number]
