"""TF219: branches of a tensor's `if` that leave different things behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Context, FunctionSite, Site, is_none, nodes_below
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .autograph import converted_trace_of, is_conditional, is_tensor, tests_in

_SHOWN = 40
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class InconsistentBranchReturn(Rule):
    """One branch of a tensor's `if` returns or makes a variable, and the other does not.

    ## Why
    Where AutoGraph turns an `if` into `tf.cond`, both branches are traced, and have to give the same things.
    If one returns and the other comes to its end, "the else branch must also have a return statement" is raised; a
    `return None` in one of them is refused as well, and a variable that one of them makes and that is read later "must
    also be initialized in the else branch".
    What follows `if tensor: return x` counts as the other branch only within the same block: in a `with`, `try`, Python
    loop or inner `if`, a `return` at the end of the function is too far away.
    Python conditions are decided while tracing and are free; what a branch gives in another dtype is not looked at.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def step(x):
        if tf.reduce_sum(x) > 0:
            y = x * 2
        return y
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def step(x):
        y = x
        if tf.reduce_sum(x) > 0:
            y = x * 2
        return y
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#conditionals
    - https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/control_flow.md
    """

    code = "TF219"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge each `if` of a traced function that surely tests a tensor."""
        if not function.runs(Context.TRACED) or isinstance(function.syntax, ast.Lambda):
            return
        tensors = {id(t.value): t.site for t in tests_in(function) if is_tensor(t.site, t.value)}
        if not tensors:
            return
        for statement, rest in _ifs(function.syntax):
            site = tensors.get(id(statement.test))
            if site is None or _is_in_tensor_loop(site):
                continue
            what = _returns(site, statement, rest) or _made(function, statement, tensors)
            trace = converted_trace_of(site) if what is not None else None
            if what is None or trace is None or site.file.is_under("a try", site.block, lambda b: b.kind == "except"):
                continue
            text = ast.unparse(statement.test)
            shown = f"`{text}`" if len(text) <= _SHOWN else "what is tested"
            yield self.report(
                site,
                f"{trace.under[:1].upper()}{trace.under[1:]}, {shown} is a tensor, so that both branches are traced: "
                f"{what[0]}, and this raises. {what[1]}",
                trace.severity(Severity.ERROR if trace.raises and not is_conditional(site) else Severity.WARNING),
                subject=text,
                related=trace.callers,
            )


def _ifs(node: ast.AST) -> Iterator[tuple[ast.If, list[ast.stmt]]]:
    """Each ``if`` of a function, but for those of functions in it, with what follows in its own suite."""
    stack: list[list[ast.stmt]] = [getattr(node, "body", [])]
    while stack:
        suite = stack.pop()
        for position, statement in enumerate(suite):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if isinstance(statement, ast.If):
                yield statement, suite[position + 1 :]
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner:
                    stack.append(inner)
            for handler in getattr(statement, "handlers", ()):
                stack.append(handler.body)


def _is_in_tensor_loop(site: Site) -> bool:
    """Whether a loop around may be an operation itself, which has rules of its own for a `return`."""
    for level in site.block.holders():
        if level.kind == "loop" and level.parent is not None:
            around = Site(site.file, level.node, level.scope, level.parent)
            source = level.node.iter if isinstance(level.node, ast.For) else None
            if source is None or not _is_python_loop(around, source):
                return True
    return False


def _is_python_loop(site: Site, source: ast.expr) -> bool:
    return (
        isinstance(source, ast.Call)
        and isinstance(source.func, ast.Name)
        and (source.func.id in ("range", "zip", "enumerate") and not any(is_tensor(site, part) for part in source.args))
    )


def _returns(site: Site, statement: ast.If, rest: list[ast.stmt]) -> tuple[str, str] | None:
    """What is wrong with the returns of the branches, and what to do."""
    arms = (statement.body, statement.orelse)
    ends = [_end(arm) for arm in arms]
    if (ends[0] is None and ends[1] is None) or any(isinstance(end, ast.Raise) for end in ends):
        return None  # what is raised there is raised while tracing, which TF214 says
    if ends[0] is not None and ends[1] is not None:
        ends_of = ends
    else:
        other = arms[1] if ends[0] is not None else arms[0]
        if any(isinstance(part, ast.Return) for part in _below([*other])):
            return None  # on some ways only: an `if` in it is judged by itself
        following = [*other, *rest]
        end = _end(following)
        if end is None:
            if _may_end(following):
                return None
            if any(isinstance(part, ast.Return) for part in _below(following)):
                return None
            advice = "Return at the end of both, or once after the `if`."
            return "one branch returns, and the other comes to its end without a `return`", advice
        ends_of = [end, ends[0] or ends[1]]
    returned = [e for e in ends_of if isinstance(e, ast.Return)]
    if len(returned) != 2:
        return None
    nothing = [r.value is None or is_none(r.value) for r in returned]
    if sum(nothing) == 1:
        value = next(r.value for r, empty in zip(returned, nothing, strict=True) if not empty)
        assert value is not None
        place = Site(site.file, value, site.scope, site.block)
        if isinstance(value, ast.Tuple) or is_tensor(place, value):
            return "one branch returns a tensor, and the other `None`", "Return a tensor in both."
    sizes = [len(r.value.elts) for r in returned if isinstance(r.value, ast.Tuple) and not _has_star(r.value)]
    if len(sizes) == 2 and sizes[0] != sizes[1]:
        sizes.sort()
        return f"one branch returns {sizes[0]} values, and the other {sizes[1]}", "Return the same in both."
    return None


def _has_star(node: ast.Tuple) -> bool:
    return any(isinstance(part, ast.Starred) for part in node.elts)


def _end(suite: list[ast.stmt]) -> ast.stmt | None:
    """The statement by which a suite always leaves the function; None if it may come to its end."""
    for statement in suite:
        if isinstance(statement, _LEAVING):
            return statement
        if isinstance(statement, ast.If) and statement.orelse:
            first, second = _end(statement.body), _end(statement.orelse)
            if first is not None and second is not None:
                return statement if type(first) is not type(second) else first
        if isinstance(statement, ast.With) and (end := _end(statement.body)) is not None:
            return end
        if isinstance(statement, ast.Try | ast.Match | ast.While):
            return statement if _may_end([statement]) else None
    return None


def _may_end(suite: list[ast.stmt]) -> bool:
    """Whether a suite may leave the function on ways that are not looked at."""
    return any(isinstance(part, _LEAVING) for part in _below(suite))


def _below(suite: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in a suite, but for what stands in functions of it."""
    waiting: list[ast.AST] = list(suite)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _made(function: FunctionSite, statement: ast.If, tensors: dict[int, Site]) -> tuple[str, str] | None:
    """A variable that one branch makes and the other does not, where it is read afterwards."""
    if any(isinstance(part, _LEAVING) for part in _below([*statement.body, *statement.orelse])):
        return None
    made = [_assigned(arm) for arm in (statement.body, statement.orelse)]
    for this, other in ((0, 1), (1, 0)):
        for name in made[this]:
            arm = (statement.body, statement.orelse)[other]
            if name in made[other] or any(_binds(part, name) for part in _below(arm)):
                continue
            if _is_new(function, statement, name) and _is_read_next(function, statement, name):
                advice = f"Give `{name}` a value before the `if`, or in both branches."
                return f"`{name}` is made in one branch only and read afterwards", advice
    return None


def _assigned(suite: list[ast.stmt]) -> list[str]:
    """The names that a suite surely assigns, in order."""
    found: list[str] = []
    for statement in suite:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                found += [t.id for t in nodes_below(target) if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)]
    return list(dict.fromkeys(found))


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name


def _is_new(function: FunctionSite, statement: ast.If, name: str) -> bool:
    """Whether the function gives the name no value elsewhere before the ``if``, nor in a loop around it."""
    body = function.body
    if name in function.parameters or name in body.outer_names or name not in body.binds:
        return False
    inside = {id(node) for node in nodes_below(statement)}
    end = statement.end_lineno or statement.lineno
    for node in nodes_below(function.syntax):
        if id(node) not in inside and _binds(node, name) and getattr(node, "lineno", 0) <= end:
            return False
        if isinstance(node, ast.arg | ast.alias | ast.ExceptHandler) and name in (
            getattr(node, "arg", None), getattr(node, "name", None), getattr(node, "asname", None)
        ):  # fmt: skip
            return False
    return True


def _is_read_next(function: FunctionSite, statement: ast.If, name: str) -> bool:
    """Whether what comes next in the function with that name reads it."""
    end = statement.end_lineno or statement.lineno
    uses = sorted(
        (node.lineno, isinstance(node.ctx, ast.Store), node.col_offset)
        for node in nodes_below(function.syntax)
        if isinstance(node, ast.Name) and node.id == name and node.lineno > end
    )
    # in ``y = y + 1`` the value is read first
    return bool(uses) and any(line == uses[0][0] and not stored for line, stored, _ in uses)
