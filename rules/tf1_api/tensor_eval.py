"""TF416: `.eval()` of a tensor or variable, which asks a session for its value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Known
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .contexts import GRAPHS, certainty, is_only_traced
from .receivers import known_of, made_eagerly

_OF_SESSIONS = frozenset({"feed_dict", "session"})


class TensorEval(Rule):
    """A tensor or variable is asked for its value with `.eval()`, which needs a session.

    ## Why
    `x.eval()` runs the graph of `x` in a session.
    An eager tensor is in no graph: `eval` raises NotImplementedError, that of a variable RuntimeError, and that of a
    KerasTensor AttributeError, with a session or without, inside of `with session:` too.
    An `InteractiveSession` does not change that.
    In a graph that is built on purpose `eval` works, and nothing is said; in a trace TF208 speaks of it.
    `eval` of anything that is not known to be a tensor is left alone, such as that of a PyTorch module; where it is
    given a `feed_dict` or `session`, that is info.

    ## Example
    ```python
    import tensorflow as tf

    total = tf.constant(1.0) + tf.constant(2.0)
    print(total.eval())
    ```

    ## Fix
    ```python
    import tensorflow as tf

    total = tf.constant(1.0) + tf.constant(2.0)
    print(total.numpy())
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/Tensor#eval
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF416"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF208",)
    methods = ("eval",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge an `eval` by what it is called on."""
        if call.method != "eval" or call.version_checked:
            return
        severity = certainty(call)
        if severity is None or is_only_traced(call):
            return
        known = known_of(call, call.receiver)
        if known in (Known.TENSOR, Known.VARIABLE, Known.LIKELY):
            yield from self._of_tensor(call, known, severity)
        elif known is not Known.OTHER and _is_of_a_session(call):
            yield self.report(
                call,
                f"`{_shown(call)}` is given what a TF1 session takes: if it is a tensor, `.eval` raises in eager "
                "execution. Call the function that computes it, and give it what is fed.",
                Severity.INFO,
            )

    def _of_tensor(self, call: Call, known: Known, severity: Severity) -> Iterator[Diagnostic]:
        eager = made_eagerly(call, call.receiver)
        if eager is False:
            return
        if eager is None and call.file.project.uses(*GRAPHS):
            severity = Severity.INFO
        elif known is Known.LIKELY and severity is Severity.ERROR:
            severity = Severity.WARNING
        where = "in eager execution" if severity is Severity.ERROR else "where eager execution is on"
        fed = call.value("feed_dict", 0) is not None
        advice = "Make what is fed an argument of a function, and call that" if fed else "Use `.numpy()`"
        yield self.report(
            call, f"`.eval` of `{_shown(call)}` raises {where}, where no session holds its value. {advice}.", severity
        )


def _is_of_a_session(call: Call) -> bool:
    """Whether an unknown receiver is given what no other `eval` takes: `feed_dict` or `session`."""
    if any(entity.kind not in ("external", "parameter") for entity in call.found):
        return False
    ours = all(name.canonical.startswith(("tensorflow.", "keras.")) for name in call.names)
    return ours and bool(_OF_SESSIONS & set(call.keywords)) and set(call.keywords) <= _OF_SESSIONS


def _shown(call: Call) -> str:
    text = ast.unparse(call.receiver) if call.receiver is not None else ""
    return text if len(text) < 40 else "a tensor"
