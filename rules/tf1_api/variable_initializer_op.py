"""TF404: operations that initialize variables, where variables initialize themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import is_plain, written
from .contexts import V2_OFF, certainty

if TYPE_CHECKING:
    import libcst

_NAMES = (
    "all_variables_initializer", "global_variables_initializer", "initialize_all_tables", "initialize_all_variables",
    "initialize_local_variables", "initialize_variables", "initializers.global_variables",
    "initializers.local_variables", "initializers.tables_initializer", "initializers.variables",
    "local_variables_initializer", "tables_initializer", "variables_initializer",
)  # fmt: skip


class VariableInitializerOp(Rule):
    """An operation that initializes variables is asked for, where they are initialized when they are made.

    ## Why
    In eager execution `tf.compat.v1.global_variables_initializer()` and its like return None and do nothing, and a
    session raises where it is given that.
    A variable has its value as soon as it exists; a table too.
    Where a program runs the operation again to reset variables, their initial values are to be assigned instead.
    With eager execution turned off they are needed as in TF1.
    In a graph that is built on purpose they do what they always did, and are not reported.

    ## Example
    ```python
    import tensorflow as tf

    weights = tf.Variable(tf.ones([2]))
    init = tf.compat.v1.global_variables_initializer()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    weights = tf.Variable(tf.ones([2]))
    ```

    ## Fix safety
    Safe where the code surely runs eagerly and nothing reads what the call returns: the statement is taken out.
    Unsafe where it may run in a graph, and where a module gives the result a name, which another file may read.
    There is no fix where the result is used, or where the call chooses the variables.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/global_variables_initializer
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF404"
    severity = Severity.INFO
    consequence = Consequence.LEGACY
    effort = Effort.MECHANICAL
    supersedes = ("TF406",)
    fixes_statement = True
    calls = tuple(f"tensorflow.{name}" for name in _NAMES)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if call.version_checked or not call.names or any(entity.kind != "external" for entity in call.found):
            return
        name = written(call.names[0])
        reset = "; to set them back later, assign their initial values" if call.arguments else ""
        what = "tables" if "tables" in call.name else "variables"
        if is_plain(call):
            if not call.in_graph:
                advice = f"where {what} are initialized when they are made: leave it out{reset}"
                if call.file.project.uses(*V2_OFF):
                    advice = f"also where eager execution is turned off, as here: there it is `tf.compat.v1.{name[3:]}`"
                yield self.report(
                    call,
                    f"`{name}` raises AttributeError on TF2, {advice}.",
                    Severity.ERROR,
                    consequence=Consequence.BREAKS,
                )
        elif certainty(call) not in (None, Severity.INFO):
            yield self.report(
                call,
                f"`{name}` returns None in eager execution, where {what} are initialized when they are made: "
                f"leave it out{reset}.",
            )

    def fix(self, node: libcst.SimpleStatementLine, site: Call) -> Replacement | None:
        """Leave the statement out."""
        if site.unread_as is None or site.arguments or site.file.project.uses(*V2_OFF):
            return None
        reason = ""
        if site.in_graph or not site.proven_eager or any(Context.GRAPH in one for one in site.contexts):
            reason = "where a graph is built, a session still has to run the operation"
        elif not site.discarded and not site.scope.function().is_function:
            reason = "another file may read the name"
        return Replacement(None, Applicability.UNSAFE if reason else Applicability.SAFE, reason)
