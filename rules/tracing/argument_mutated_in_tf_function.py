"""TF221: a list or dict that a `tf.function` changes, although it is called with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import ChangeSite, Context, FunctionSite, literal_string, owner_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .traces import Trace, is_argument, is_container, trace_of

_OF_LISTS = frozenset({"append", "extend", "appendleft", "popleft", "extendleft", "insert"})
_TAKING = frozenset({"del", "pop", "popitem", "popleft", "remove", "discard", "clear"})


class ArgumentMutatedInTfFunction(Rule):
    """A `tf.function` changes a list or dict that it is called with, and the call raises.

    ## Why
    After a trace, TensorFlow compares each list and dict argument, with all that is in it, with what it was before:
    `append`, `pop`, `update`, `del` and an item that gets another value raise "should not modify its Python input
    arguments", in any kind of list or dict, also through an alias or in a helper that it is given to.
    What is the same afterwards passes: an item that is taken out and put back, `setdefault` of a key that is there.
    Attributes of an object are not compared, the dict of `**kwargs` is the function's own, and so are the elements of a
    dataset and what Keras calls its methods with.
    A set or a `deque` is refused as an argument whatever is done with it.

    ## Example
    ```python
    import tensorflow as tf

    @tf.function
    def step(x, results):
        results.append(x * 2)
        return x

    step(tf.ones([2]), [])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.function
    def step(x, results):
        return x, [*results, x * 2]

    step(tf.ones([2]), [])
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    - https://www.tensorflow.org/api_docs/python/tf/function
    """

    code = "TF221"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge what a traced function changes of its arguments."""
        if not function.runs(Context.TRACED) or _is_run_by_keras(function):
            return
        seen: set[int] = set()
        taken_back: frozenset[str] | None = None
        for site in function.changes:
            name = _argument(site, site.change.target) if id(site.syntax) not in seen else None
            sure = _is_plain(site, name) if name is not None else None
            trace = trace_of(site) if sure is not None else None
            if name is None or sure is None or trace is None or trace.how != "function":
                continue
            seen.add(id(site.syntax))
            taken_back = _taken_back(function) if taken_back is None else taken_back
            yield self._say(site, trace, name, sure and name not in taken_back)

    def _say(self, site: ChangeSite, trace: Trace, name: str, sure: bool) -> Diagnostic:
        function = site.function
        title = f"`{function.name}`" if function is not None and function.name != "<lambda>" else "the traced function"
        severity = trace.severity(Severity.ERROR if site.block.parent is None else Severity.WARNING)
        return self.report(
            site,
            f"`{name}` is an argument of {title}, which changes it: a `tf.function` that modifies a list or dict that "
            "it is given raises `ValueError`. Change a copy, and return it.",
            severity if sure else Severity.INFO,
            subject=name,
            related=trace.callers,
        )


def _is_run_by_keras(function: FunctionSite) -> bool:
    """Whether it is a method that Keras calls, with copies of the lists and dicts that it is given [run, both]."""
    decorators = {name.canonical.removesuffix("()") for name in function.decorators}
    return function.runs(Context.FIT) and "tensorflow.function" not in decorators


def _taken_back(function: FunctionSite) -> frozenset[str]:
    """The arguments to which a function adds and from which it takes: they may be as they were when it is done."""
    added, taken = set[str](), set[str]()
    for site in function.changes:
        name = _argument(site, site.change.target)
        if name is not None:
            (taken if site.change.verb in _TAKING else added).add(name)
    return frozenset(added & taken)


def _argument(site: ChangeSite, node: ast.expr) -> str | None:
    """The argument of the traced function that something belongs to."""
    node = owner_of(node)
    if not isinstance(node, ast.Name):
        return None
    if is_argument(site, node.id):
        return node.id
    given = site.file.changes.values(site.scope.function(), node.id)
    heads = [owner_of(value) for value in given]
    if len(heads) == 1 and isinstance(heads[0], ast.Name) and is_argument(site, heads[0].id):
        return heads[0].id
    return None


def _is_plain(site: ChangeSite, name: str) -> bool | None:
    """Whether an argument that is changed so surely is a list or a dict, and changed; None where nothing says so."""
    change = site.change
    if any(entity.kind == "instance" for entity in site.entities(name)):
        return None
    if change.kind == "item":
        key = "" if change.key is None else ast.unparse(change.key)
        return not change.values or ast.unparse(change.values[0]) != f"{ast.unparse(change.target)}[{key}]"
    if change.kind != "content":
        return None
    if change.verb == "setdefault":
        return False
    if change.verb in _OF_LISTS or change.verb == "popitem" or change.verb.startswith("heapq."):
        return True
    if change.verb == "+=":
        return True if any(isinstance(value, ast.List) for value in change.values) else None
    call = site.syntax
    if change.verb == "pop" and change.values and literal_string(change.values[0]) is not None:
        return len(change.values) == 1 and not (isinstance(call, ast.Call) and len(call.args) > 1)
    if change.verb == "update" and isinstance(call, ast.Call):
        given = call.keywords or any(isinstance(value, ast.Dict) for value in change.values)
        return bool(given and not change.through)
    default = site.file.default_of(site.scope.function(), name)
    if default is not None and is_container(site, default):
        return True
    return False if change.verb in ("pop", "clear", "sort", "reverse", "remove") else None
