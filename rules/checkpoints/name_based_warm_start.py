"""TF510: variables that get their values from a checkpoint by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ...linter.rule_api.model import Call, Context, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from ..tf1_api.api_status import is_plain, written
from ..tf1_api.contexts import certainty
from .assigned import assignments_to

_ADVICE = "Read the values with `tf.train.load_checkpoint(path).get_tensor(name)`, and `assign` them to the variables"


class _Outcome(NamedTuple):
    text: str
    consequence: Consequence
    certain: bool = True


_NOTHING = _Outcome("assigns nothing, and says nothing of it", Consequence.CHANGES)
_REFUSED = _Outcome("raises ValueError, since there is no variable of that name", Consequence.BREAKS)
_MAYBE = _Outcome("assigns nothing where it is told names or scopes, and no variables", Consequence.CHANGES, False)


class NameBasedWarmStart(Rule):
    """Variables are initialized from a checkpoint by their names, which only a graph knows.

    ## Why
    `tf.train.init_from_checkpoint` and `tf.train.warm_start` are in `tf.compat.v1` alone: AttributeError.
    There they look for the variables in the store of the graph, which is empty in eager execution.
    A map of scopes, `{"bert/": "bert/"}`, and a warm start of all trainable variables then assign nothing and say
    nothing: the training starts from random values.
    A map to the name of a variable raises ValueError, "Assignment map with scope only name".
    It works in a TF1 graph, below `track_tf1_style_variables`, and where the map leads to `tf.Variable` objects; the
    variables of Keras 3 are none.

    ## Example
    ```python
    import tensorflow as tf

    tf.compat.v1.train.init_from_checkpoint("bert/model.ckpt", {"bert/": "bert/"})
    ```

    ## Fix
    ```python
    import tensorflow as tf

    reader = tf.train.load_checkpoint("bert/model.ckpt")
    kernel = tf.Variable(tf.zeros([768, 2]))
    kernel.assign(reader.get_tensor("bert/pooler/kernel"))
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/init_from_checkpoint
    - https://www.tensorflow.org/guide/migrate/migrating_checkpoints
    """

    code = "TF510"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    recipe = "checkpoints"
    supersedes = ("TF406",)
    calls = ("tensorflow.train.init_from_checkpoint", "tensorflow.train.warm_start")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a call by whether a graph is there, and what it is told to assign."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        name = written(call.names[0])
        if is_plain(call):
            if not call.in_graph:
                yield self.report(call, f"`{name}` raises AttributeError on TF2. {_ADVICE}.")
            return
        severity = certainty(call)
        outcome = _of_map(call) if call.name.endswith("init_from_checkpoint") else _of_warm_start(call)
        if severity is None or outcome is None or any(context & Context.SHIM for context in call.contexts):
            return
        where = "in eager execution" if severity is Severity.ERROR else "where eager execution is on"
        yield self.report(
            call,
            f"`{name}` looks for variables in a graph; {where} it {outcome.text}. {_ADVICE}.",
            severity if outcome.certain else Severity.INFO,
            consequence=outcome.consequence,
        )


def _of_map(call: Call) -> _Outcome | None:
    """What comes of an assignment map, if it is not one to variables."""
    given = call.value("assignment_map", 1)
    made = assignments_to(call, given)
    if len(made) == 1 and not made[0].augmented:
        given = made[0].value
    if not isinstance(given, ast.Dict):
        return None if isinstance(given, ast.DictComp) else _MAYBE
    told = [(literal_string(key), literal_string(value)) for key, value in zip(given.keys, given.values, strict=True)]
    scopes = [value is not None and key is not None and key.endswith("/") for key, value in told]
    if any(key is not None and value is not None and not key.endswith("/") for key, value in told):
        return _REFUSED
    return _NOTHING if scopes and all(scopes) else None


def _of_warm_start(call: Call) -> _Outcome | None:
    """What comes of a warm start, if it is given no variables."""
    given = call.value("vars_to_warm_start", 1)
    items = given.elts if isinstance(given, ast.List) else [given]
    if given is None:
        return _MAYBE if call.has_stars else _NOTHING
    return _NOTHING if items and all(literal_string(item) is not None for item in items) else None
