"""TF423: what TensorFlow 1 had of other libraries: flags, logging, files, the start of a program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Reference
from ...linter.rule_api.rewriting import expression
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import v1_or_native
from .graph_calls import named

if TYPE_CHECKING:
    import libcst

_FILES = {
    "Copy": "copy", "DeleteRecursively": "rmtree", "Exists": "exists", "FastGFile": "GFile", "GFile": "GFile",
    "Glob": "glob", "IsDirectory": "isdir", "ListDirectory": "listdir", "MakeDirs": "makedirs", "MkDir": "mkdir",
    "Open": "GFile", "Remove": "remove", "Rename": "rename", "Stat": "stat", "Walk": "walk",
}  # fmt: skip
"""The name in `tf.io.gfile` of what stood in `tf.gfile`; arguments have other names there."""
_ROOTS = ("tensorflow.app", "tensorflow.flags", "tensorflow.gfile", "tensorflow.logging")
_PARSING = ".FLAGS._parse_flags"
_PACKAGES = {"app": "absl.app", "flags": "absl.flags", "logging": "absl.logging"}


class AppFlagsLoggingGfile(Rule):
    """Flags, logging, files or the start of a program are taken from TensorFlow 1, which only passed them on.

    ## Why
    `tf.app`, `tf.flags`, `tf.logging` and `tf.gfile` left `tf`: reading one raises AttributeError.
    Through `tf.compat.v1` they work, which is told once for each of them and file.
    The first three are absl's, which is installed with TensorFlow.
    Flags of TensorFlow are parsed when the first one is read; those of absl raise UnparsedFlagAccessError until
    `app.run`, or `FLAGS(sys.argv)`, has parsed them, also where a module reads one while it is imported.
    `FLAGS._parse_flags()`, which programs of 2017 begin with, has raised AttributeError since TensorFlow 1.5.
    Files are in `tf.io.gfile`, under other names and with other names of arguments: `path`, `src` and `dst` where there
    were `filename`, `dirname`, `oldpath` and `newpath`.
    `tf.logging.info` writes to TensorFlow's own logger, absl's to absl's: a handler or a level that was set for one
    says nothing to the other.

    ## Example
    ```python
    import tensorflow as tf

    if tf.gfile.Exists("model.txt"):
        tf.logging.info("found")
    ```

    ## Fix
    ```python
    import tensorflow as tf
    from absl import logging

    if tf.io.gfile.exists("model.txt"):
        logging.info("found")
    ```

    ## Fix safety
    Safe: the same object is read, by its name in TF2 where it has one, and through compat.v1 otherwise.
    absl's own names are left to a person: handlers and levels of loggers do not go along.

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2#api_cleanup
    - https://www.tensorflow.org/api_docs/python/tf/io/gfile
    """

    code = "TF423"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL
    supersedes = ("TF406",)
    references = tuple(
        f"tensorflow.{name}{below}" for name in ("app", "flags", "gfile", "logging") for below in ("", ".*")
    )

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """See `Rule.on_reference`."""
        if not all(one.canonical.startswith(_ROOTS) for one in reference.names):
            return
        if reference.names[0].canonical.endswith(_PARSING):
            yield self.report(
                reference,
                f"`{reference.path}` raises AttributeError, as it has since TensorFlow 1.5: `app.run` parses flags, "
                "and where they are read before it, `FLAGS(sys.argv)` does.",
            )
            return
        module, _, rest = reference.names[0].canonical.removeprefix("tensorflow.").partition(".")
        module = module.partition("(")[0].partition("[")[0]
        if module == "app" and rest.startswith("flags"):
            module = "flags"
        if module == "gfile":
            short = _FILES.get(rest.partition("(")[0].partition(".")[0])
            advice = f"use `tf.io.gfile.{short}`" if short else "use `tf.io.gfile`"
        else:
            advice = f"use `{_PACKAGES[module]}`"
        yield from named(self, reference, "is there through compat.v1 only", advice, module)

    def fix(self, node: libcst.Name | libcst.Attribute, site: Reference) -> Replacement | None:
        """Read the same object by a name that it has; of files what is called with the same arguments."""
        name = "" if site.names[0].canonical.endswith(_PARSING) else v1_or_native(site)
        if name.startswith("tensorflow.compat.v1.gfile."):
            name = _of_files(site) or name
        written = site.importable(name) if name else None
        return Replacement(expression(written[0]), imports=written[1]) if written is not None else None


def _of_files(site: Reference) -> str:
    """The absolute name of a function of files in TF2; empty where it is given arguments by name, which are others."""
    call, name = site.file.parent_of(site.syntax), site.names[0].canonical.removeprefix("tensorflow.gfile.")
    if not isinstance(call, ast.Call) or call.func is not site.syntax or call.keywords or name == "Walk":
        return ""
    short = "" if any(isinstance(given, ast.Starred) for given in call.args) else _FILES.get(name, "")
    return f"tensorflow.io.gfile.{short}" if short else ""
