"""TF422: an operation that is made once to be run later, and runs at once and never again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Call, File, Known, Reference, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from ..checkpoints.assigned import assignments_to
from .api_status import is_plain
from .contexts import certainty, is_only_traced
from .receivers import known_of

_ASSIGNING = frozenset(
    {
        "assign", "assign_add", "assign_sub", "batch_scatter_update", "scatter_add", "scatter_div", "scatter_max",
        "scatter_min", "scatter_mul", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update", "scatter_sub",
        "scatter_update",
    }
)  # fmt: skip
"""Functions of TF1 and methods of variables that change a variable."""
_OPTIMIZERS = ("tensorflow.train.", "keras.optimizers.")
_GROUP = "tensorflow.group"
_TOGETHER = frozenset({"tensorflow.control_dependencies", _GROUP, "tensorflow.tuple"})


class DeferredOpRunEagerly(Rule):
    """An operation is stored to be run later, and runs where it is made: once, and never again.

    ## Why
    In TF1 `self.update = v.assign(w)` made an operation, which each `session.run(self.update)` ran.
    In eager execution the assignment happens there and then; what is stored is its value, or None of `tf.group`.
    A target network that is updated like this keeps the weights that the other network had when it was built, and
    nothing raises.
    What is said is about a name or an attribute that is given to `run`, and about an attribute that is made while the
    object is and is never read as a value.
    In a graph that is built on purpose it works, and nothing is said; a name that left `tf` is TF406's.

    ## Example
    ```python
    import tensorflow as tf

    class Agent:
        def __init__(self):
            self.online = tf.Variable(1.0)
            self.target = tf.Variable(0.0)
            self.update_target = self.target.assign(self.online)

    agent = Agent()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Agent:
        def __init__(self):
            self.online = tf.Variable(1.0)
            self.target = tf.Variable(0.0)

        def update_target(self):
            self.target.assign(self.online)

    agent = Agent()
    agent.update_target()
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    - https://www.tensorflow.org/guide/effective_tf2
    """

    code = "TF422"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    supersedes = ("TF406", "TF413")
    assigns = ("name", "attribute")

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge what is stored by what is done with it."""
        if assignment.augmented:
            return
        call = _operation(assignment)
        if call is None or assignment.version_checked:
            return
        severity = certainty(assignment)
        if severity is None or is_only_traced(assignment):
            return
        uses = _uses(assignment)
        if "value" in uses or not _all_operations(assignment) or _is_run_at_once(assignment):
            return
        if "run" in uses:
            later = f"`run` does not run `{assignment.path}` again"
        elif assignment.self_attribute is not None and _is_set_up(assignment) and _is_known(call):
            later = f"reading `{assignment.path}` does not run it again"
        else:
            return
        if severity is Severity.ERROR and ("run" not in uses or not _is_known(call)):
            severity = Severity.WARNING
        where = "In eager execution" if severity is not Severity.INFO else "Where eager execution is on"
        what = call.path or ast.unparse(call.call.func)
        does = "changes its variables at once"
        if call.name == _GROUP:
            does = "gives None, since what it groups runs at once"
        yield self.report(
            call,
            f"{where} `{what}` {does}: {later}. Make it a function, and call that where it is to happen.",
            severity,
        )


def _operation(assignment: Assignment) -> Call | None:
    """The call that makes the operation, or one of several, that is stored."""
    return next(_operations(assignment.file, assignment.value), None)


def _operations(file: File, value: ast.expr | None) -> Iterator[Call]:
    if isinstance(value, ast.List | ast.Tuple):
        for part in value.elts:
            yield from _operations(file, part)
    elif isinstance(value, ast.ListComp):
        yield from _operations(file, value.elt)
    elif isinstance(value, ast.Call):
        call = file.call_at(value)
        if call is not None and _changes_variables(call):
            yield call


def _changes_variables(call: Call) -> bool:
    """Whether a call makes an operation that changes variables, or may: a method that is called so, of an unknown."""
    names = [name.canonical for name in call.names]
    if any(entity.kind not in ("external", "parameter") for entity in call.found):
        return False
    if call.method in _ASSIGNING and not any(map(_is_function, names)):
        known = known_of(call, call.receiver)
        return known is Known.VARIABLE or (known is Known.UNKNOWN and len(call.call.args) == 1)
    return bool(names) and not is_plain(call) and all(map(_is_function, names))


def _is_function(name: str) -> bool:
    """Whether a public function or method, and not the method of a variable, does."""
    start, _, last = name.rpartition(".")
    if start == "tensorflow":
        return last in _ASSIGNING or last == "group"
    return start.startswith(_OPTIMIZERS) and (
        last == "apply_gradients" or (last == "apply" and start == "tensorflow.train.ExponentialMovingAverage()")
    )


def _is_known(call: Call) -> bool:
    """Whether the call surely is one of TensorFlow."""
    names = [name.canonical for name in call.names]
    return any(map(_is_function, names)) or known_of(call, call.receiver) is Known.VARIABLE


def _all_operations(assignment: Assignment) -> bool:
    """Whether nothing else is ever stored there, such as a function."""
    others = assignments_to(assignment, assignment.node)
    return bool(others) and all(is_none(one.value) or _operation(one) is not None for one in others)


def _is_set_up(assignment: Assignment) -> bool:
    """Whether it stands in an ``__init__``, or in a method that the ``__init__`` of the class calls."""
    function, owner = assignment.function, assignment.owner
    maker = owner.methods.get("__init__") if owner is not None else None
    if function is None or maker is None or function.cls is None:
        return False
    return function.name == "__init__" or any(
        call.receiver is not None and call.method == function.name and ast.unparse(call.receiver) == maker.parameters[0]
        for call in maker.calls
    )


def _uses(assignment: Assignment) -> set[str]:
    """How what is stored is read in the file: ``run``, ``kept`` or as a ``value``."""
    file, node = assignment.file, assignment.node
    if isinstance(node, ast.Attribute):
        reads = (one for one in file.references if (one.path or "").rpartition(".")[2] == node.attr)
        inner = (one for one in file.references if f".{node.attr}." in f"{one.path}")
        return {*(_use(file, one) for one in reads), *("value" for _ in inner)}
    found = _reads_of_name(assignment)
    return {_use(file, one) if one.path == assignment.path else "value" for one in found}


def _reads_of_name(assignment: Assignment) -> list[Reference]:
    """Where a name that is assigned, or a part of what it stands for, is read in the file."""
    file, node = assignment.file, assignment.node
    assert isinstance(node, ast.Name)
    home = file.index.lookup(assignment.scope, node.id)
    found = []
    for one in file.references:
        if (one.path or "").partition(".")[0] == node.id and home is not None:
            other = file.index.lookup(one.scope, node.id)
            if other is not None and other[0] is home[0]:
                found.append(one)
    return found


def _is_run_at_once(assignment: Assignment) -> bool:
    """Whether a name is read once, as often as it is made: what runs there ran a moment before, and as often."""
    if not isinstance(assignment.node, ast.Name):
        return False
    reads = _reads_of_name(assignment)
    return len(reads) == 1 and reads[0].line >= assignment.line and reads[0].scope is assignment.scope and (
        [id(loop) for loop in reads[0].loops] == [id(loop) for loop in assignment.loops]
    )


def _use(file: File, read: Reference) -> str:
    node: ast.AST = read.syntax
    parent = file.parent_of(node)
    while isinstance(parent, ast.List | ast.Tuple | ast.Starred):
        node, parent = parent, file.parent_of(parent)
    if isinstance(parent, ast.Expr | ast.Return):
        return "kept"
    call = file.call_at(parent) if isinstance(parent, ast.Call) else None
    if call is None or node is call.call.func:
        return "value"
    if call.method == "run":
        return "run" if node in call.call.args[:1] or node is call.value("fetches") else "value"
    return "kept" if call.names and all(name.canonical in _TOGETHER for name in call.names) else "value"
