"""TF511: values that a checkpoint refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Entity, Target, canonical, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .assigned import assignments_to
from .trying import is_tried

_NODES: dict[type[ast.AST], str] = {
    ast.Set: "a set",
    ast.SetComp: "a set",
    ast.Lambda: "a Python function",
    ast.JoinedStr: "a text",
    ast.GeneratorExp: "a generator",
}
_AVERAGES = "an `ExponentialMovingAverage`"
_MADE = {
    "set": "a set",
    "frozenset": "a set",
    "int": "a Python number",
    "float": "a Python number",
    "len": "a Python number",
    "str": "a text",
    "collections.defaultdict": "a `defaultdict`",
    "collections.deque": "a `deque`",
    "numpy.array": "a NumPy array",
    "numpy.zeros": "a NumPy array",
    "numpy.ones": "a NumPy array",
    "tensorflow.constant": "a tensor",
    "tensorflow.zeros": "a tensor",
    "tensorflow.ones": "a tensor",
    "tensorflow.convert_to_tensor": "a tensor",
    "tensorflow.train.ExponentialMovingAverage": _AVERAGES,
}
_MODULES = {
    "keras.losses": "a Keras loss",
    "keras.optimizers.schedules": "a learning rate schedule",
    "keras.regularizers": "a regularizer",
    "keras.initializers": "an initializer",
    "keras.callbacks": "a callback",
}
_PLAIN = frozenset({"object", "abc.ABC"})


class UntrackableInCheckpoint(Rule):
    """`tf.train.Checkpoint` is given a Python value, which it raises on: it takes variables and objects that hold some.

    ## Why
    "ValueError: `Checkpoint` was expecting step to be a trackable object": numbers, texts, None, tensors, NumPy
    arrays, sets, Keras losses and schedules, and objects of a plain Python class are none.
    With Keras 3 a metric is none either; with tf_keras it is.
    Lists and dicts are taken as keywords, and only the variables in them are saved; as the root they are refused.
    What counts steps or epochs and is to come back has to be a `tf.Variable`.

    ## Example
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(step=1)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(step=tf.Variable(1))
    ```

    ## Source
    - https://www.tensorflow.org/guide/checkpoint#object_tracking
    - https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint
    """

    code = "TF511"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    calls = ("tensorflow.train.Checkpoint",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what a checkpoint is made of."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found) or is_tried(call):
            return
        root = call.value("root", 0)
        refused = [("its root", _as_root(call, root))] if root is not None else []
        given = [keyword for keyword in call.call.keywords if keyword.arg not in (None, "root")]
        refused += [(f"`{keyword.arg}`", _untrackable(call, keyword.value)) for keyword in given]
        for name, what in refused:
            if what:
                yield self.report(
                    call,
                    f"`{call.path}` is given {what} as {name}, which raises ValueError: it takes only variables and "
                    f"objects that hold some. {_advice(what)}.",
                )
                return


def _advice(what: str) -> str:
    if what == _AVERAGES:
        return "Give a list of its averages, what its `average` gives for each variable, once it was applied"
    is_number = what.startswith(("the number", "a Python number", "a NumPy", "a tensor"))
    return "Give a `tf.Variable`" if is_number else "Leave it out"


def _as_root(call: Call, node: ast.expr) -> str:
    if isinstance(node, ast.List | ast.Dict | ast.Tuple):
        return f"a {type(node).__name__.lower()}"
    return "" if isinstance(node, ast.Constant) and node.value is None else _untrackable(call, node)


def _untrackable(call: Call, node: ast.expr) -> str:
    """What a value is that no checkpoint takes, in words; an empty text for any other, or where it is not known."""
    said = [_literal(made.value) for made in assignments_to(call, node)]
    if said and all(said):
        return said[0] if len(set(said)) == 1 else "a Python value"
    return _literal(node) or _by_name(call, node)


def _literal(node: ast.expr | None) -> str:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or node.value is None:
            return f"`{node.value}`"
        return "a text" if isinstance(node.value, str | bytes) else f"the number {node.value}"
    if isinstance(node, ast.Tuple) and node.elts and all(isinstance(one, ast.Constant) for one in node.elts):
        return "a tuple without variables"
    return _NODES.get(type(node), "")


def _by_name(call: Call, node: ast.expr) -> str:
    said = {_entity(call, entity) for entity in call.entities(path_of(node))}
    return said.pop() if len(said) == 1 else ""


def _entity(call: Call, entity: Entity) -> str:
    if entity.kind == "instance" and not entity.text:
        return _instance(call, entity)
    name = canonical(entity.text)
    if entity.kind != "external" or not name.endswith("()"):
        return ""
    name = name.removesuffix("()")
    module, _, last = name.rpartition(".")
    if module == "keras.metrics" and last[0].isupper():
        return "a metric" if call.target is Target.KERAS3 and not entity.text.startswith("tf_keras") else ""
    return _MADE.get(name, "") or (_MODULES.get(module, "") if last[0].isupper() else "")


def _instance(call: Call, entity: Entity) -> str:
    """An object of a class of the project, all of whose bases are known."""
    project = call.file.project
    bases = {canonical(text) for text in project.mro(entity.key)[1]}
    if project.knows_bases(entity.key) and bases <= _PLAIN:
        return "an object of a plain Python class"
    return ""
