"""TF313: the optimizers of Keras 2, which Keras 3 keeps a folder of names for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Import, Reference, Target, missing_part
from ...linter.rule_api.rewriting import expression
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
    There is no fix for an import, nor where `decay=` or stars are given, since Keras 3 has no decay.

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

    def fix(self, node: libcst.Name | libcst.Attribute, site: Reference | Import) -> Replacement | None:
        """Read the optimizer of that name."""
        call = site.file.parent_of(site.syntax)
        if isinstance(site, Import) or "." in site.spelled.rpartition(".legacy.")[2] or "(" in site.spelled:
            return None
        new = site.spelled.replace(".legacy.", ".")
        if missing_part("tensorflow", _only(site).replace(".legacy.", "."), Target.KERAS3) is not None:
            return None
        if isinstance(call, ast.Call) and any(one.arg in (None, "decay") for one in call.keywords):
            return None
        written = site.importable(new)
        return Replacement(expression(written[0]), imports=written[1]) if written is not None else None


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
