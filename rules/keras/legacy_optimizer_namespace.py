"""TF313: the optimizers of Keras 2, which Keras 3 keeps a folder of names for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Import, Reference, Target, canonical, missing_part
from ...linter.rule_api.rewriting import expression, with_imports
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..tf1_api.signatures import is_tried

if TYPE_CHECKING:
    import libcst

_LEGACY = "keras.optimizers.legacy"
_HANDLED = frozenset({"ImportError", "AttributeError", "Exception", "BaseException"})


class LegacyOptimizerNamespace(Rule):
    """`tf.keras.optimizers.legacy` holds no optimizers with Keras 3.

    ## Why
    With Keras 3, `tf.keras.optimizers.legacy.Adam(...)` raises ImportError; of `Nadam`, `Adamax` and `Adadelta` there
    is not even the name.
    TensorFlow's own upgrade script writes these names.
    A name that is only read, as in `isinstance(optimizer, tf.keras.optimizers.legacy.Optimizer)`, raises nothing where
    it is there.

    The optimizers of `tf.keras.optimizers` take neither `lr=` nor `decay=`.

    ## Example
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.legacy.Adam(1e-3)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.Adam(1e-3)
    ```

    ## Fix safety
    Safe where the optimizer of that name has the same rule: an epsilon, a momentum and the like are what they were.
    There is no fix where `decay=` or stars are given, since Keras 3 has no decay; nor for an import of what is called
    so.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://github.com/keras-team/keras/issues/18540
    """

    code = "TF313"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL
    targets = frozenset({Target.KERAS3})
    supersedes = ("TF309", "TF604")
    references = (f"{_LEGACY}.*",)
    imports = (f"{_LEGACY}.*",)

    def on_import(self, statement: Import) -> Iterator[Diagnostic]:
        """Judge an import of a name that is not there; what is there is judged where it is called."""
        name = _only(statement)
        if name and _lacks(name):
            yield self.report(
                statement, f"{_said(name, 'Importing')} raises ImportError with Keras 3. {_advice(name)}."
            )

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """Judge a name that is not there, or one that is called."""
        name = _only(reference)
        if name and _lacks(name):
            yield self.report(
                reference, f"{_said(name, 'Reading')} raises AttributeError with Keras 3. {_advice(name)}."
            )
        elif name and reference.called and name.count(".") == 3:
            yield self.report(reference, f"{_said(name, 'Calling')} raises ImportError with Keras 3. {_advice(name)}.")

    def fix(self, node: libcst.CSTNode, site: Reference | Import) -> Replacement | None:
        """Read the optimizer of that name, or import it."""
        if isinstance(site, Import):
            moved = _moved_with(site)
            imported = with_imports(node, moved) if site.spelled in moved else None
            return Replacement(imported) if imported is not None else None
        if not _moved(site) or _has_decay(site) or _is_imported_anew(site):
            return None
        written = site.importable(_moved(site))
        return Replacement(expression(written[0]), imports=written[1]) if written is not None else None


def _moved(site: Import | Reference) -> str:
    """The optimizer that Keras 3 has in place of one; an empty text where it has none."""
    if "." in site.spelled.rpartition(".legacy.")[2] or "(" in site.spelled or not _only(site):
        return ""
    if missing_part("tensorflow", _only(site).replace(".legacy.", "."), Target.KERAS3) is not None:
        return ""
    return site.spelled.replace(".legacy.", ".")


def _moved_with(site: Import) -> dict[str, str]:
    """What the statement of an import has that is moved with it, and where it is then."""
    beside = (one for one in site.file.imports if one.statement is site.statement)
    return {one.spelled: new for one in beside if (new := _moved(one)) and _is_called_so(one)}


def _is_imported_anew(reference: Reference) -> bool:
    """Whether the name is imported, and the fix of that import gives it the optimizer."""
    for one in reference.file.imports:
        if one.bound == reference.path and one.spelled == reference.spelled:
            moved = _moved_with(one)
            return one.spelled in moved and any(_lacks(canonical(name)) for name in moved)
    return False


def _has_decay(reference: Reference) -> bool:
    """Whether it is called with a decay, or with what may hold one."""
    call = reference.file.parent_of(reference.syntax)
    return isinstance(call, ast.Call) and any(one.arg in (None, "decay") for one in call.keywords)


def _is_called_so(site: Import) -> bool:
    """Whether what is imported can be another one wherever the file reads it."""
    reads = site.file.references_to(lambda names: any(name.spelled == site.spelled for name in names))
    return not any(_has_decay(read) for read in reads)


def _only(site: Import | Reference) -> str:
    """The one canonical name that a site surely means, below the folder and not below a call."""
    if site.version_checked or is_tried(site, _HANDLED) or len(site.names) != 1:
        return ""
    if any(entity.kind != "external" for entity in site.found):
        return ""
    name = site.names[0]
    plain = "(" not in name.canonical and not name.spelled.startswith("tf_keras")
    return name.canonical if plain else ""


def _lacks(name: str) -> bool:
    return missing_part("tensorflow", name, Target.KERAS3) is not None


def _said(name: str, doing: str) -> str:
    return f"{doing} `tf.{name}`"


def _advice(name: str) -> str:
    new = name.replace(".legacy.", ".")
    return f"Use `tf.{new}`" if missing_part("tensorflow", new, Target.KERAS3) is None else "Use `tf.keras.optimizers`"
