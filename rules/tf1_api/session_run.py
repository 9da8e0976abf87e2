"""TF401: sessions in a program that runs eagerly."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import PLACEHOLDERS, Assignment, Call, Known, Reference, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from ..checkpoints.assigned import assignments_to
from ..keras.strategies import Way, stations, ways_to
from .api_status import is_plain, written
from .contexts import certainty

_SESSIONS = (
    "tensorflow.Session",
    "tensorflow.InteractiveSession",
    "tensorflow.train.MonitoredSession",
    "tensorflow.train.MonitoredTrainingSession",
    "tensorflow.train.SingularMonitoredSession",
)
_DEFAULT = ("tensorflow.get_default_session",)
_RUNS = tuple(
    f"{name}().{method}" for name in (*_SESSIONS, *_DEFAULT) for method in ("run", "partial_run", "make_callable")
)
_OF_TESTS = {f"tensorflow.test.TestCase().{name}().run": name for name in ("test_session", "session", "cached_session")}
_MANAGED = tuple(
    f"tensorflow.train.{name}().run"
    for name in ("Supervisor().prepare_or_wait_for_session", "Supervisor().managed_session")
)
_FED = frozenset(f"{name}()" for name in PLACEHOLDERS)


class SessionRun(Rule):
    """A session is made or run where TF2 executes eagerly, so it has no graph to run.

    ## Why
    With eager execution on, operations run at once and no graph is built: `session.run` raises "The Session graph is
    empty" or "Tensor.graph is undefined when eager execution is enabled".
    `tf.Session` itself left `tf`, which is an AttributeError; only `tf.compat.v1.Session` exists.
    Inside a graph that is built on purpose (`tf.Graph().as_default()`, `with tf.compat.v1.Session()`, an Estimator's
    `model_fn`) a compat.v1 session works, and is info.
    So it is in a program whose eager execution is switched off, or where no eager way to the code is known.
    A session is followed through the parameters of the file's functions.
    Eagerly, what a `tf.test.TestCase` gives for one is None (`test_session`), raises whatever it is asked (`session`),
    or takes no feed (`cached_session`) [run].

    ## Example
    ```python
    import tensorflow as tf

    total = tf.constant(1.0) + tf.constant(2.0)
    session = tf.compat.v1.Session()
    print(session.run(total))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    total = tf.constant(1.0) + tf.constant(2.0)
    print(total.numpy())
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session
    https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    """

    code = "TF401"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    recipe = "sessions"
    supersedes = ("TF309", "TF406")
    calls = (*_SESSIONS, *_DEFAULT, *_RUNS, *_OF_TESTS, *_MANAGED)
    methods = ("run", "eval")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if call.version_checked:
            return
        if call.method == "eval":
            yield from self._fetched_before(call)
        elif not call.names and not call.in_graph and (where := _handed_on(call)) is not None:
            yield self._gone(call, where)
        elif not call.names:
            yield from self._fed(call)
        elif any(entity.kind != "external" for entity in call.found):
            return
        elif any(name.canonical in _RUNS for name in call.names):
            yield from self._run(call)
        elif all(name.canonical in _OF_TESTS for name in call.names):
            yield from self._of_test(call)
        elif all(name.canonical in _MANAGED for name in call.names):
            if is_plain(call) and not call.in_graph:
                yield self._gone(call, call)
        elif call.name in self.calls:
            yield from self._session(call)

    def _session(self, call: Call) -> Iterator[Diagnostic]:
        name = call.name.removeprefix("tensorflow.")
        spelled = written(call.names[0])
        if is_plain(call):
            if not call.in_graph:
                yield self.report(
                    call,
                    f"`tf.{name}` raises AttributeError on TF2, which executes eagerly and needs no session; call the "
                    f"functions directly, or keep the graph in `tf.Graph().as_default()` with `tf.compat.v1.{name}`.",
                )
            return
        if any(_made_before(run) is not None for run in _runs_under(call)):
            return  # it runs nothing: told at the run
        if call.in_graph or _has_graph(call):
            yield self.report(
                call,
                f"`{spelled}` runs a TF1 graph on purpose here, which TF2 still does, as legacy.",
                Severity.INFO,
                consequence=Consequence.LEGACY,
            )
        elif any(self._is_empty(other) for other in _runs_of(call)):
            yield self.report(
                call,
                f"`{spelled}` has an empty graph here, since eager operations are in none: `run` raises. Call the "
                "functions directly.",
            )
        elif certainty(call) is not None:
            yield self.report(
                call,
                f"`{spelled}` runs only what is in a graph, and nothing that was computed eagerly.",
                Severity.INFO,
                consequence=Consequence.LEGACY,
            )

    def _run(self, call: Call) -> Iterator[Diagnostic]:
        plain, receiver = is_plain(call), ast.unparse(call.receiver) if call.receiver is not None else "session"
        if plain and not call.in_graph:
            yield self._gone(call, call)
        elif not plain and _made_before(call) is not None:
            yield from self._fetched_before(call)
        elif not plain and self._is_empty(call):
            yield self.report(
                call,
                f"`{receiver}.{call.method}` raises in eager execution: the graph of the session is empty, and eager "
                "tensors are in no graph. Call the function that computes the value.",
            )

    def _of_test(self, call: Call) -> Iterator[Diagnostic]:
        """The session of a `tf.test.TestCase`, which takes no feed in eager execution, or is none at all."""
        makers = {_OF_TESTS[name.canonical] for name in call.names}
        fed = call.value("feed_dict", 1) is not None or call.has_stars
        severity = certainty(call)
        if severity is None or ("cached_session" in makers and not fed):
            return
        what = "takes no feed" if "cached_session" in makers else "runs nothing"
        yield self.report(
            call,
            f"`{ast.unparse(call.call.func)}` raises in eager execution, where what `{sorted(makers)[0]}` of a test "
            f"gives {what}: call the function that computes the value, and read it with `self.evaluate`.",
            severity,
        )

    def _gone(self, call: Call, made: Call) -> Diagnostic:
        """A run of a session whose class TF2 does not have, which is made there."""
        receiver = ast.unparse(call.receiver) if call.receiver is not None else "session"
        is_of = "is of" if made.name in _MANAGED else "is"
        return self.report(
            call,
            f"`{receiver}` {is_of} a `{_class(made)}`, which TF2 does not have: turn what `{receiver}.{call.method}` "
            "computes into a function and call it.",
            related=[] if made is call else [made.location("the session")],
        )

    def _fetched_before(self, call: Call) -> Iterator[Diagnostic]:
        """A session's graph is the default in its suite, and a tensor that was made before is in none."""
        made = _made_before(call)
        if made is not None:
            yield self.report(
                call,
                f"`{made.path}` was made eagerly ({made.where}), before the graph of the session was entered, and is "
                f"in no graph: `{ast.unparse(call.call.func)}` raises. Call the function that computes the value.",
                related=[made.location("made here")],
            )

    @staticmethod
    def _is_empty(run: Call) -> bool:
        """Whether a session that is run has no graph: it is run eagerly, and was neither given nor entered one."""
        return not run.in_graph and not _bound_to_graph(run) and certainty(run) is Severity.ERROR

    def _fed(self, call: Call) -> Iterator[Diagnostic]:
        """A receiver of unknown origin: ``feed_dict`` is a word of TF1 sessions, and a fed placeholder their proof."""
        receiver = ast.unparse(call.receiver) if call.receiver is not None else ""
        if any(entity.kind not in ("external", "parameter") for entity in call.found):
            return
        named = "feed_dict" in call.keywords and "sess" in receiver.lower()
        if (named or _feeds_placeholder(call)) and certainty(call) is not None:
            yield self.report(
                call,
                f"`{receiver}` looks like a TF1 session, which runs nothing in eager execution: what it feeds becomes "
                "an argument of a function.",
                Severity.INFO,
            )


def _handed_on(run: Call) -> Call | None:
    """Where the session is made that the file's calls give to a parameter; None unless all of them give such a one."""
    if not isinstance(run.receiver, ast.Name) or not all(entity.kind == "parameter" for entity in run.found):
        return None
    found = [_made_on(run, run.receiver, way) for way in ways_to(run, run.receiver)]
    return found[0] if all(found) and found else None


def _made_on(run: Call, receiver: ast.expr, way: Way) -> Call | None:
    """The call that makes a session that TF2 does not have, on the way of a value."""
    for site, node in stations(run, receiver, way):
        made = site.file.call_at(node)
        if made is not None and made.name in _SESSIONS and is_plain(made):
            return made
    return None


def _feeds_placeholder(call: Call) -> bool:
    """Whether the second argument is a dict with a placeholder for a key."""
    feed = call.value("feed_dict", 1)
    keys = [key for key in feed.keys if key is not None] if isinstance(feed, ast.Dict) else []
    return any(name.canonical in _FED for key in keys for name in call.names_of(key))


def _class(call: Call) -> str:
    return call.name.partition("()")[0].replace("tensorflow.", "tf.", 1)


def _has_graph(call: Call) -> bool:
    """Whether the session gets a graph of its own, or is entered at once, which makes its graph the default."""
    graph = call.value("graph", 1)
    if graph is not None and not is_none(graph):
        return True
    return call.has_stars or _is_entered(call)


def _runs_under(session: Call) -> Iterator[Call]:
    """The runs in the suite of a ``with`` that enters the session."""
    if _is_entered(session):
        for call in session.file.calls_by_function.get(session.scope.function().id, ()):
            if call.inside(session.syntax) and (
                call.method == "eval" or any(name.canonical in _RUNS for name in call.names)
            ):
                yield call


def _made_before(run: Call) -> Assignment | None:
    """Where a tensor that is fetched in a graph was made eagerly, outside of every graph."""
    fetched = (run.receiver if run.method == "eval" else run.value("fetches", 0)) if run.in_graph else None
    items = fetched.elts if isinstance(fetched, ast.List | ast.Tuple) else [fetched]
    for item in items:
        made = assignments_to(run, item)
        if made and all(map(_is_eager_tensor, made)):
            return made[0]
    return None


def _is_eager_tensor(made: Assignment) -> bool:
    if made.is_tensor(made.value) not in (Known.TENSOR, Known.VARIABLE):
        return False
    return not made.in_graph and certainty(made) is Severity.ERROR


def _is_entered(call: Call) -> bool:
    statement = call.statement
    return (
        call.name == "tensorflow.Session"
        and isinstance(statement, ast.With)
        and any(item.context_expr is call.syntax for item in statement.items)
    )


def _runs_of(session: Call) -> Iterator[Call]:
    """The calls in this file that run the session, by the path it is assigned to."""
    paths = session.assigned_to
    for call in session.file.calls:
        if call.path and call.path.rpartition(".")[0] in paths and any(name.canonical in _RUNS for name in call.names):
            yield call


def _bound_to_graph(run: Call) -> bool:
    """Whether the receiver may be a session that has a graph: made elsewhere, in a graph's scope, or entered."""
    path = (run.path or "").rpartition(".")[0]
    made = [other for other in run.file.calls if other.name in _SESSIONS and path in other.assigned_to]
    if not made or any(other.in_graph or _has_graph(other) for other in made):
        return True
    entered = {f"{path}.__enter__", f"{path}.as_default", f"{path}.graph"}
    return any(reference.path in entered or _is_context(reference, path) for reference in run.file.references)


def _is_context(reference: Reference, path: str) -> bool:
    """Whether ``with path:`` stands somewhere in the file, or the session is handed to other code."""
    return reference.path == path and not reference.called
