"""TF406: a name that TF2 moved to compat.v1 or dropped."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, File, Import, Name, Reference, Target
from ...linter.rule_api.rewriting import expression, with_imports
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import Standing, in_eager, is_eager, is_of_keras, missing, missing_import, standing, v1_or_native

if TYPE_CHECKING:
    import libcst

_CASTS = {
    "to_bfloat16": "bfloat16", "to_complex128": "complex128", "to_complex64": "complex64", "to_double": "float64",
    "to_float": "float32", "to_int32": "int32", "to_int64": "int64",
}  # fmt: skip

_MAY_RAISE = "in eager execution, what compat.v1 has of this name may raise or do nothing"
_AIDS = frozenset(
    f"keras.utils.{name}"
    for name in ("track_tf1_style_variables", "get_or_create_layer", "DeterministicRandomTestTool")
)
"""Of compat.v1, and unknown to TF1: made for programs on their way to TF2."""
_KERAS_OF_COMPAT = ("tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras")


class MovedOrRemovedSymbol(Rule):
    """A public name of TF1 is no longer where the code looks for it.

    ## Why
    TF2 took some thousand names out of `tf`; most of them survive only below `tf.compat.v1`, and some are gone from
    there too.
    Reading one raises AttributeError, importing it ImportError.
    Many names are the same object under a native name, which the message then gives; for the others it gives the
    compat.v1 spelling.
    A name that is already spelled with compat.v1 and works there is reported as info, once for each name and file;
    nothing is said of the shim and its like, which TF1 never had.
    Where each name stands was read from TensorFlow 2.21 itself, for both targets.

    ## Example
    ```python
    import tensorflow as tf

    scores = tf.to_float(counts)
    optimizer = tf.train.AdamOptimizer(1e-3)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    scores = tf.cast(counts, tf.float32)
    optimizer = tf.keras.optimizers.Adam(1e-3, epsilon=1e-8)
    ```

    ## Fix safety
    Safe where the very object has a native name, where a cast is written as one, and where the function of compat.v1
    computes eagerly what it did.
    Unsafe for the other names of compat.v1: in eager execution these raise, or do nothing, as the findings then tell.
    An import is one from where the name is today, of the same kinds; one without `from` has no fix.
    There is none for what is spelled with compat.v1 already.

    ## Source
    https://www.tensorflow.org/guide/migrate/tf1_vs_tf2#api_cleanup
    https://www.tensorflow.org/guide/migrate/upgrade
    """

    code = "TF406"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """See `Rule.on_file`."""
        told: set[str] = set()
        for statement in file.imports:
            yield from self._import(statement, told)
        for reference in file.references_to(partial(_may_be_told, file.target)):
            if not reference.version_checked:
                yield from self._reference(reference, told)

    def _import(self, statement: Import, told: set[str]) -> Iterator[Diagnostic]:
        if not statement.names or statement.version_checked:
            return
        found = missing_import(statement.names, statement.target)
        package = _no_package(statement)
        if found is None and package:
            yield self.report(
                statement,
                f"Importing from `{package}` raises ModuleNotFoundError with Keras 3, where it is an attribute and no "
                "package: import from `tensorflow.keras`.",
            )
        elif found is not None and not is_of_keras(found):
            yield self.report(
                statement, f"Importing `{found.written}` raises ImportError {_where(found)}: {_advice(found)}"
            )
        elif not statement.is_star:
            yield from self._legacy(statement, standing(statement.spelled, statement.target), told)

    def _reference(self, reference: Reference, told: set[str]) -> Iterator[Diagnostic]:
        found = missing(reference)
        if found is not None and not is_of_keras(found):
            yield self.report(reference, f"`{found.written}` raises AttributeError {_where(found)}: {_advice(found)}")
        elif len(reference.names) == 1:
            yield from self._legacy(reference, standing(reference.spelled, reference.target), told)

    def _legacy(self, site: Import | Reference, found: Standing, told: set[str]) -> Iterator[Diagnostic]:
        if not found.through_v1 or found.status != "v1" or found.symbol in told or found.whole in _AIDS:
            return
        told.add(found.symbol)
        successor = instead(found)
        use = f"in TF2 it is {successor}" if successor else "TF2 itself has no such name"
        eager = in_eager(found.whole)
        also = f" It {eager}." if eager else ""
        message = f"`{found.written}` is there through compat.v1 only; {use}.{also}"
        yield self.report(site, message, Severity.INFO, consequence=Consequence.LEGACY)

    @classmethod
    def effort_of(cls, subject: str | None) -> Effort:
        """Another name, where the same object has one, or compat.v1 has it."""
        found = standing(subject or "", Target.KERAS3)
        return Effort.MECHANICAL if found.native or found.status == "v1" else cls.effort

    def fixed_part(self, site: Import | Reference) -> ast.expr | ast.stmt | None:
        """The import, the name, or the call of what is a cast now."""
        if isinstance(site, Import):
            return site.statement
        assert isinstance(site.syntax, ast.expr)
        call = _cast(site)
        return site.syntax if call is None else call.call

    def fix(self, node: libcst.CSTNode, site: Import | Reference) -> Replacement | None:
        """Read or import the same object by a name that it has, or cast."""
        import libcst

        if isinstance(site, Import):
            return _imported(node, site)
        name = v1_or_native(site)
        if isinstance(node, libcst.Call) and _cast(site) is not None:
            cast, dtype = site.spelling("tensorflow.cast"), site.spelling(f"tensorflow.{_dtype(site)}")
            if cast is not None and dtype is not None:
                given = libcst.Arg(expression(dtype))
                return Replacement(_with_second(node.with_changes(func=expression(cast)), given))
            return None
        written = site.importable(name) if name else None
        if written is None:
            return None
        eager = is_eager(name)
        return Replacement(
            expression(written[0]),
            Applicability.SAFE if eager else Applicability.UNSAFE,
            "" if eager else _MAY_RAISE,
            written[1],
        )


def _imported(node: libcst.CSTNode, site: Import) -> Replacement | None:
    """The import that a site is of, from where its names are: from compat.v1 only where the site's own has to be."""
    beside = (one for one in site.file.imports if one.statement is site.statement)
    moved = {one.spelled: new for one in beside if (new := v1_or_native(one))}
    if site.spelled not in moved:
        return None
    safe = is_eager(moved[site.spelled])
    changed = with_imports(node, {old: new for old, new in moved.items() if not safe or is_eager(new)})
    if changed is None:
        return None
    return Replacement(changed) if safe else Replacement(changed, Applicability.UNSAFE, _MAY_RAISE)


def _dtype(site: Reference) -> str:
    return _CASTS.get(site.spelled.removeprefix("tensorflow."), "")


def _cast(site: Reference) -> Call | None:
    """The call of a function of TF1 that is a cast, with a value and perhaps a name for its operation."""
    parent = site.file.parent_of(site.syntax)
    call = site.file.call_at(parent) if isinstance(parent, ast.Call) and parent.func is site.syntax else None
    if call is None or not _dtype(site) or call.has_stars or len(call.call.args) > 1:
        return None
    return call if call.call.args and set(call.keywords) <= {"name"} else None


def _with_second(call: libcst.Call, given: libcst.Arg) -> libcst.Call:
    """A call of one positional argument with a second one after it."""
    import libcst

    first, *rest = call.args
    comma = libcst.Comma(whitespace_after=libcst.SimpleWhitespace(" "))
    second = given.with_changes(comma=first.comma, whitespace_after_arg=first.whitespace_after_arg)
    first = first.with_changes(comma=comma, whitespace_after_arg=libcst.SimpleWhitespace(""))
    return call.with_changes(args=[first, second, *rest])


def _no_package(statement: Import) -> str:
    """The package below compat that Keras 3 does not have, where an import looks into it."""
    node = statement.statement
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else statement.alias.name
    if statement.target is Target.KERAS3 and not getattr(node, "level", 0):
        return next((p for p in _KERAS_OF_COMPAT if module == p or module.startswith(f"{p}.")), "")
    return ""


def _may_be_told(target: Target, names: Sequence[Name]) -> bool:
    """Whether a name is missing, or there through compat.v1 only; most of a file's are neither.

    What follows a call is an attribute of a value: the name was read where that was made.
    """
    return any("(" not in name.spelled and standing(name.spelled, target).status != "ok" for name in names)


def _where(found: Standing) -> str:
    return f"with {found.only_with}" if found.of_keras and found.only_with else "on TF2"


def _advice(found: Standing) -> str:
    successor = instead(found)
    if found.status == "gone":
        lacks = "" if found.of_keras else ", not even in `tf.compat.v1`"
        return f"there is no `{found.symbol}`{lacks}{f'; use {successor}' if successor else ''}."
    if found.native:
        return f"it is `tf.{found.native}` now, the same object."
    eager = in_eager(found.whole)
    also = f" and {eager}" if eager else ""
    return f"use {f'{successor}, or ' if successor else ''}`tf.compat.v1.{found.whole}`, which is the old one{also}."


@cache
def successors() -> dict[str, str]:
    """What is used in TF2 instead of a name, where it is not the same object under another name.

    A name of TF2 alone takes the same arguments; what else is to be done stands beside it.
    """
    told: dict[str, str] = json.loads(Path(__file__).with_name("successors.json").read_text(encoding="utf-8"))
    return told


def instead(found: Standing) -> str:
    """What is used in TF2 instead of a name, as it stands in a message; empty where nothing is known."""
    if found.native:
        return f"`tf.{found.native}`"
    if found.of_keras:
        return ""
    known = successors()
    successor = known.get(found.symbol, known.get(found.symbol.partition(".")[0], ""))
    return f"`{successor}`" if successor and " " not in successor else successor
