"""TF409: Estimators, which TensorFlow 2.16 removed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...linter.rule_api.model import File, Import, Name, Reference, Site, Target
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .api_status import written

_ROOTS = (
    "tensorflow.estimator",
    "tensorflow.compat.v1.estimator",
    "tensorflow.compat.v2.estimator",
    "tensorflow.python.estimator",
    "tensorflow_estimator",
    "tensorflow.keras.estimator",
    "tensorflow.compat.v1.keras.estimator",
)


class Estimator(Rule):
    """Estimators are gone from TensorFlow 2.16 and legacy before it.

    ## Why
    TensorFlow 2.16 removed `tf.estimator` and `tf.compat.v1.estimator`, and the package tensorflow_estimator ended with
    2.15: reading one of these names raises AttributeError, with either Keras.
    Up to TF 2.15 Estimators run, but they are a false friend: they build a TF1 graph with v1 semantics, whatever the
    rest of the program does.
    For the target keras2, which may be TF 2.15, this is a warning.

    ## Example
    ```python
    import tensorflow as tf

    estimator = tf.estimator.Estimator(model_fn=model_fn, model_dir="runs")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    model.compile("adam", "mse")
    model.fit(dataset, callbacks=[tf.keras.callbacks.BackupAndRestore("runs/backup")])
    ```

    ## Source
    https://www.tensorflow.org/guide/migrate/migrating_estimator
    https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF409"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    recipe = "estimators"
    supersedes = ("TF309", "TF406")
    imports = references = (
        "tensorflow",
        "tensorflow.estimator",
        "tensorflow.estimator.*",
        "tensorflow.python.estimator",
        "tensorflow.python.estimator.*",
        "keras.estimator",
        "keras.estimator.*",
    )

    def on_import(self, statement: Import) -> Iterator[Diagnostic]:
        """See `Rule.on_import`."""
        first = statement.file.once("first imports of estimators", lambda: _first_imports(statement.file))
        if first.get(id(statement.statement)) is statement.alias:
            yield from self._judge(statement, _written(statement.names), "ImportError")

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """See `Rule.on_reference`."""
        if not _written(reference.origin):
            yield from self._judge(reference, _written(reference.names), "AttributeError")

    def _judge(self, site: Site, written: str, error: str) -> Iterator[Diagnostic]:
        if not written or site.version_checked:
            return
        if site.target is Target.KERAS3:
            yield self.report(
                site, f"`{written}` raises {error}: TF 2.16 removed Estimators; use `tf.keras.Model` with `fit`."
            )
        else:
            yield self.report(
                site,
                f"`{written}` is TF1 in TF2's clothes: it builds a graph with v1 semantics and is gone from TF 2.16 "
                f"({error}), with tf_keras too; use `tf.keras.Model` with `fit`.",
                Severity.WARNING,
            )


def _first_imports(file: File) -> dict[int, ast.alias]:
    """Of each import statement, by its identity, the first name that is one of an Estimator's."""
    found: dict[int, ast.alias] = {}
    for one in file.imports:
        if _written(one.names):
            found.setdefault(id(one.statement), one.alias)
    return found


def _written(names: Sequence[Name]) -> str:
    """The name as a person writes it, where every meaning is an Estimator's; else nothing."""
    spelled = [name.spelled for name in names]
    if not spelled or not all(any(s == r or s.startswith(f"{r}.") for r in _ROOTS) for s in spelled):
        return ""
    return written(names[0]).removesuffix(".*")
