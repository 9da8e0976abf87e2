"""TF904: the program needs another Keras than the one it gets."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...linter.rule_api.model import Assignment, Call, File, Import, Name, Reference, Site, Target, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .api_status import missing

_FLAG = "TF_USE_LEGACY_KERAS"
_KERAS2_ONLY = tuple(
    f"tensorflow.{version}.{name}"
    for version in ("compat.v1", "_api.v1")
    for name in (
        "layers",
        "nn.rnn_cell",
        "keras.utils.track_tf1_style_variables",
        "keras.utils.get_or_create_layer",
        "keras.utils.DeterministicRandomTestTool",
    )
)


class TargetConflict(Rule):
    """The program relies on Keras 2 and will get Keras 3.

    ## Why
    From TF 2.16 on `tf.keras` is Keras 3, without the layers, RNN cells and shim of compat.v1.
    A project that uses them runs only with the package tf_keras and `TF_USE_LEGACY_KERAS=1`, or not at all; this is
    said once for a project, and TF410 says where.
    The variable is read when Keras is first needed [run on TF 2.21]: set after `from tensorflow.keras import ...` or
    a first `tf.keras.layers`, it has no effect and raises no error.
    Set after a bare `import tensorflow` it still works there, which no document promises: info.

    ## Example
    ```python
    import os
    from tensorflow.keras import layers

    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    ```

    ## Fix
    ```python
    import os

    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    from tensorflow.keras import layers
    ```

    ## Source
    https://keras.io/getting_started/#tensorflow--keras-2-backwards-compatibility
    https://www.tensorflow.org/guide/keras
    """

    code = "TF904"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    calls = ("os.environ.setdefault", "os.putenv", "os.environ.update")
    assigns = ("item",)

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """See `Rule.on_file`."""
        references = file.references_to(_is_of_keras2) if file.target is Target.KERAS3 else []
        if not references or file.project.first_file_spelling(*_KERAS2_ONLY) != file.key:
            return
        for reference in references:
            found = missing(reference) if reference.spelled.startswith(_KERAS2_ONLY) else None
            if found is not None and not reference.version_checked:
                yield self.report(
                    _import_before(reference) or reference,
                    f"`tf.compat.v1.{found.whole}` ({reference.where}) needs Keras 2, and the target is Keras 3: "
                    f"install tf_keras and set {_FLAG}=1 before TensorFlow is imported, or rewrite what uses it.",
                    subject=reference.spelled,
                    related=[reference.location("needs Keras 2")],
                )
                return

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """See `Rule.on_assignment`."""
        target = assignment.node
        if isinstance(target, ast.Subscript) and literal_string(target.slice) == _FLAG and _is_on(assignment.value):
            if any(name.canonical == "os.environ" for name in assignment.names_of(target.value)):
                yield from self._set(assignment)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        arguments = call.call.args
        pair = arguments if len(arguments) == 2 and literal_string(arguments[0]) == _FLAG else None
        if _is_on(pair[1] if pair else call.value(_FLAG)):
            yield from self._set(call)

    def _set(self, site: Site) -> Iterator[Diagnostic]:
        """Judge a line that asks for Keras 2 by what was loaded before it."""
        if not _at_import(site):
            return
        keras = next((place for place in _loading_keras(site.file) if place.line < site.line), None)
        if keras is not None:
            yield self.report(
                site,
                f"{_FLAG} is set after {keras.where} has loaded Keras, so it has no effect: set it before the "
                "first import of TensorFlow.",
                subject=_FLAG,
                related=[keras.location("loads Keras")],
            )
            return
        imported = next(
            (
                i
                for i in site.file.imports
                if i.spelled.startswith("tensorflow") and i.line < site.line and _at_import(i)
            ),
            None,
        )
        if imported is not None:
            yield self.report(
                site,
                f"{_FLAG} is set after TensorFlow is imported in {imported.where}; it has an effect only as long "
                "as nothing has touched `tf.keras` by then. Set it before the import.",
                Severity.INFO,
                consequence=Consequence.LEGACY,
                subject=_FLAG,
                related=[imported.location("imports TensorFlow")],
            )


def _is_of_keras2(names: Sequence[Name]) -> bool:
    return any(name.spelled.startswith(_KERAS2_ONLY) for name in names)


def _is_on(value: ast.expr | None) -> bool:
    return literal_string(value) in {"1", "true", "True"}


def _at_import(site: Site) -> bool:
    """Whether the place runs when its file is imported."""
    return site.function is None


def _loading_keras(file: File) -> Iterator[Import | Reference]:
    """The places that load `tf.keras` when the file is imported, imports first."""
    for statement in file.imports:
        if statement.absolute.startswith("tensorflow.keras.") and _at_import(statement):
            yield statement
    for reference in file.references:
        if _at_import(reference) and any(n.spelled.startswith("tensorflow.keras.") for n in reference.names):
            yield reference


def _import_before(reference: Reference) -> Import | None:
    """The import of TensorFlow at the top of the file: before it the flag has to be set."""
    return next(
        (i for i in reference.file.imports if i.spelled.startswith("tensorflow") and i.line < reference.line), None
    )
