"""TF416: `.eval()` of a tensor or variable, which asks a session for its value."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Known, Site, path_of
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..checkpoints.assigned import assignments_to
from .contexts import GRAPHS, certainty, is_only_traced
from .receivers import known_of, made_eagerly

if TYPE_CHECKING:
    import libcst

_OF_SESSIONS = frozenset({"feed_dict", "session"})
_ANEW = (
    "random", "shuffle", "dropout", "multinomial", "normal", "sampl", "timestamp", "noise", "py_func", "read_file",
    "layers.", "keras.",
)  # fmt: skip
"""In the names of what may give another value each time that it is run: it draws, or it has variables."""


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

    ## Fix safety
    Safe where the code and what made the tensor surely run eagerly, and a session would have given the same value: of a
    variable, of what is computed right there, and of what constants make.
    Unsafe where a name holds what was computed of a variable, or drawn: TF1 computed that anew each time.
    There is no fix in a trace, with a `feed_dict`, or where the tensor may be one of a graph.

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

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Ask the tensor itself."""
        import libcst

        func = node.func
        if not isinstance(func, libcst.Attribute):
            return None
        if site.in_trace or site.has_stars or site.call.args or not set(site.keywords) <= {"session"}:
            return None
        if not all(isinstance(session, ast.Name | ast.Constant) for session in site.arguments):
            return None
        if known_of(site, site.receiver) not in (Known.TENSOR, Known.VARIABLE):
            return None
        if certainty(site) is not Severity.ERROR or made_eagerly(site, site.receiver) is not True:
            return None
        behind = [*_behind(site, site.receiver)]
        if any(_is_sparse(where, part) for where, part, _ in behind):
            return None
        new = libcst.Call(func.with_changes(attr=libcst.Name("numpy")), lpar=node.lpar, rpar=node.rpar)
        if all(itertools.starmap(_is_same_later, behind)):
            return Replacement(new)
        reason = "TF1 computed the value anew at each `eval`, and an eager tensor keeps the one that it was made with"
        return Replacement(new, Applicability.UNSAFE, reason)


def _is_same_later(site: Site, node: ast.expr, named: bool) -> bool:
    """Whether a value that is behind an eager tensor is the one that running it again would give.

    What no name holds is computed where it is asked for, as it was in TF1.
    """
    if not named:
        return True
    call = site.file.call_at(node)
    if call is not None and any(part in name.canonical for name in call.names for part in _ANEW):
        return False
    return known_of(site, node) is not Known.VARIABLE


def _is_sparse(site: Site, node: ast.expr) -> bool:
    call = site.file.call_at(node)
    return call is not None and any("sparse" in name.canonical.lower() for name in call.names)


def _behind(
    site: Site, node: ast.expr | None, named: bool = False, open_: frozenset[str] = frozenset()
) -> Iterator[tuple[Site, ast.expr, bool]]:
    """The expressions that a value is made of, each at its site, and whether it is made of them through a name.

    Not what a variable was made of.
    """
    if node is None:
        return
    yield site, node, named
    if known_of(site, node) is Known.VARIABLE:
        return
    call = site.file.call_at(node)
    if call is not None:
        parts = call.arguments if call.names or call.receiver is None else [call.receiver, *call.arguments]
    elif isinstance(node, ast.Name | ast.Attribute):
        path = path_of(node) or ""
        for made in assignments_to(site, node) if path not in open_ else ():
            yield from _behind(made, made.value, True, open_ | {path})
        return
    else:
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    for part in parts:
        yield from _behind(site, part, named, open_)


def _is_of_a_session(call: Call) -> bool:
    """Whether an unknown receiver is given what no other `eval` takes: `feed_dict` or `session`."""
    if any(entity.kind not in ("external", "parameter") for entity in call.found):
        return False
    ours = all(name.canonical.startswith(("tensorflow.", "keras.")) for name in call.names)
    return ours and bool(_OF_SESSIONS & set(call.keywords)) and set(call.keywords) <= _OF_SESSIONS


def _shown(call: Call) -> str:
    text = ast.unparse(call.receiver) if call.receiver is not None else ""
    return text if len(text) < 40 else "a tensor"
