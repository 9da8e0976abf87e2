"""TF207: a `tf.function` that is made again and again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, FunctionSite, Site, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity


class TfFunctionInLoop(Rule):
    """A `tf.function` is made anew in each step, and traces anew each time.

    ## Why
    The traces belong to the object that `tf.function` returns.
    Where that object is made inside a loop, or in a method that runs at every call, nothing is ever reused: each
    iteration traces the same graph again, which is slower than eager execution.
    A factory that is called once, a function that is kept on `self` or in a dict, and a loop that makes a different
    function in each iteration, of what the iteration changes, are fine.

    ## Example
    ```python
    import tensorflow as tf

    def loss(x):
        return tf.reduce_sum(x)

    for step in range(100):
        value = tf.function(loss)(tf.ones([3]))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def loss(x):
        return tf.reduce_sum(x)

    for step in range(100):
        value = loss(tf.ones([3]))
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#controlling_retracing
    """

    code = "TF207"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = ("tensorflow.function",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge `tf.function(f)`."""
        function = call.value("func", 0)
        if function is None or call.guarded:
            return
        parent = _called_with(call)
        if parent is not None:
            uses, name = [parent], ""
        else:
            targets = call.assigned_to
            if len(targets) != 1 or "." in targets[0] or "[" in targets[0]:
                return
            name = targets[0]
            uses = _uses(call, name, call.function)
        yield from self._judge(call, call, call.syntax, name, uses)

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge a local `@tf.function`."""
        if function.guarded or function.cls is not None:
            return
        if not any(name.canonical.removesuffix("()") == "tensorflow.function" for name in function.decorators):
            return
        uses = _uses(function, function.name, function.function)
        place = Site(function.file, function.syntax, function.scope, function.block)
        yield from self._judge(function, place, function.syntax, function.name, uses)

    def _judge(self, site: Site, made: Site, what: ast.AST, name: str, uses: list[Call]) -> Iterator[Diagnostic]:
        if not uses or (name and _escapes(site, name)) or made.in_trace:
            return
        loop = next(iter(site.loops), None)
        title = f"`{name}`" if name else "This `tf.function`"
        if loop is not None:
            if any(use.loops[:1] == [loop] for use in uses) and not _depends_on(what, loop):
                yield self.report(
                    site,
                    f"{title} is made anew in each iteration, so that each one traces the graph again. "
                    "Make it once, before the loop.",
                    subject=name,
                )
            return
        around = site.function
        if around is None or any(use.loops for use in uses) or around.name == "<lambda>":
            return
        if around.name in ("__init__", "build") and around.cls is not None:
            return
        if made.runs(Context.FORWARD, without=Context.TRACED):
            reason = f"`{around.name}`, which runs at every call ({made.trail(Context.FORWARD)})"
        elif _is_called_in_loop(around):
            reason = f"`{around.name}`, which is called in a loop"
        else:
            return
        message = f"{title} is made anew in {reason}, and traces the graph each time. Make it once, and keep it."
        yield self.report(site, message, subject=name)


def _called_with(call: Call) -> Call | None:
    """The call of `tf.function(f)(x)` whose function this is."""
    for other in call.file.calls_by_function.get(call.scope.function().id, []):
        if other.call.func is call.syntax:
            return other
    return None


def _uses(site: Site, name: str, around: FunctionSite | None) -> list[Call]:
    calls = around.calls if around is not None else site.file.calls_by_function.get(site.scope.function().id, [])
    return [call for call in calls if isinstance(call.call.func, ast.Name) and call.call.func.id == name]


def _escapes(site: Site, name: str) -> bool:
    """Whether the function is kept or handed on: returned, stored, or given to another call."""
    around = site.scope.function()
    called = {id(call.call.func) for call in site.file.calls_by_function.get(around.id, [])}
    return any(
        reference.path is not None
        and reference.path.partition(".")[0] == name
        and id(reference.syntax) not in called
        and (site.file.index.lookup(reference.scope, name) or (None,))[0] is around
        for reference in site.file.references
    )


def _is_step_loop(loop: ast.AST) -> bool:
    """Whether a loop repeats one thing, rather than going through a list of different ones."""
    if isinstance(loop, ast.While):
        return True
    if not isinstance(loop, ast.For | ast.AsyncFor):
        return False
    source = loop.iter
    if isinstance(source, ast.Call):
        name = (path_of(source.func) or "").rpartition(".")[2]
        if name in ("enumerate", "tqdm", "trange", "iter"):
            source = source.args[0] if source.args else source
            if isinstance(source, ast.Call):
                name = (path_of(source.func) or "").rpartition(".")[2]
        if isinstance(source, ast.Call):
            return name in ("range", "trange", "take", "batch", "repeat", "count")
    return _is_over_data(loop)


def _is_over_data(loop: ast.AST) -> bool:
    """Whether a loop goes through a dataset, judged by its name."""
    if not isinstance(loop, ast.For | ast.AsyncFor):
        return False
    text = ast.unparse(loop.iter).lower()
    return any(word in text for word in ("dataset", "batch", "loader", "train_ds", "test_ds")) or text == "ds"


def _depends_on(what: ast.AST, loop: ast.AST) -> bool:
    """Whether the function is made of what the loop gives a new value, other than through its own parameters."""
    changed: set[str] = set()
    for part in ast.walk(loop):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            changed.add(ast.unparse(part))
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            changed.add(part.id)
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and part is not what:
            changed.add(part.name)
    own: set[str] = set()
    for part in ast.walk(what):
        if isinstance(part, ast.arg):
            own.add(part.arg)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            own.add(part.id)
    reads = (part for part in ast.walk(what) if isinstance(part, ast.Name | ast.Attribute))
    return any(ast.unparse(part) in changed - own for part in reads if isinstance(part.ctx, ast.Load))


def _is_called_in_loop(function: FunctionSite) -> bool:
    return any(
        any(isinstance(loop, ast.For | ast.AsyncFor | ast.While) and _is_step_loop(loop) for loop in call.loops)
        and (call.proven_eager or any(_is_over_data(loop) for loop in call.loops))
        and any(entity.kind == "function" and entity.key == function.key for entity in call.found)
        for call in function.file.calls
    )
