"""TF432: TensorFlow's names imported as a heap."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Import
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity

_MODULES = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")


class StarOrBareImport(Rule):
    """All names of TensorFlow are imported at once, and Python's own `abs`, `range` and others with them replaced.

    ## Why
    `from tensorflow import *` binds some 300 names, among them `abs`, `bool`, `complex`, `pow`, `print`, `range`,
    `round`, `slice` and `tuple`, which are TensorFlow's functions and types from there on.
    On TF2 it binds other names than on TF1: one that is gone is a NameError, and not before it is used.
    An `import tensorflow` without an alias, which TensorFlow's own upgrade script refuses, is understood here, and is
    not reported.

    ## Example
    ```python
    from tensorflow import *

    x = constant([1.0, 2.0])
    for step in range(3):
        x = x * 2.0
    ```

    ## Fix
    ```python
    import tensorflow as tf

    x = tf.constant([1.0, 2.0])
    for step in range(3):
        x = x * 2.0
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/upgrade
    - https://docs.python.org/3/tutorial/modules.html#more-on-modules
    """

    code = "TF432"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    supersedes = ("TF903",)
    imports = ("tensorflow",)

    def on_import(self, statement: Import) -> Iterator[Diagnostic]:
        """See `Rule.on_import`."""
        module = statement.absolute.removesuffix(".*")
        if statement.is_star and module in _MODULES:
            yield self.report(
                statement,
                f"`from {module} import *` replaces Python's own `abs`, `print`, `range`, `round` and others, and "
                "binds other names on TF2 than on TF1: import the module.",
            )
