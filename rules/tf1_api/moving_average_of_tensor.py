"""TF433: an `ExponentialMovingAverage` of a tensor, or of the variables of a graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Call, Known, Site, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..checkpoints.assigned import assignments_to
from .contexts import certainty, is_only_traced
from .receivers import known_of

_DEEP = 8
"""Names that are made of names."""


class MovingAverageOfTensor(Rule):
    """The moving average of a tensor is asked of `tf.train.ExponentialMovingAverage`, which averages variables alone.

    ## Why
    With eager execution on, `apply` raises TypeError for a tensor, in a `tf.function` too: the average of a loss or
    of a batch's moments has to be kept in a variable.
    TF1 kept one for each tensor, which began at zero.
    With `num_updates=n` the decay is `min(decay, (1 + n) / (10 + n))`: 0.1 in the first step, and after 100 steps 0.92.
    `apply` without a list averages the trainable variables of the graph, of which there are none in eager execution:
    nothing is averaged, and nothing raises before `average` gives None.

    ## Example
    ```python
    import tensorflow as tf

    average = tf.train.ExponentialMovingAverage(0.9)
    loss = tf.reduce_mean(tf.ones([3]))
    average.apply([loss])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    average = tf.Variable(0.0, trainable=False)
    loss = tf.reduce_mean(tf.ones([3]))
    average.assign(0.9 * average + 0.1 * loss)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/train/ExponentialMovingAverage
    """

    code = "TF433"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF422",)
    calls = ("tensorflow.train.ExponentialMovingAverage().apply",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what is to be averaged."""
        if any(entity.kind != "external" for entity in call.found):
            return
        severity = certainty(call)
        if severity is None:
            return
        where = "In eager execution" if severity is not Severity.INFO else "Where eager execution is on"
        averaged = call.value("var_list", 0)
        if averaged is None or is_none(averaged):
            if not call.has_stars and not is_only_traced(call):
                yield self.report(
                    call,
                    f"{where} `{call.path}` averages nothing: without a list it takes the variables of a graph. "
                    "Give it the `trainable_variables` of the model.",
                    severity,
                    consequence=Consequence.CHANGES,
                )
            return
        known: dict[Known, ast.expr] = {}
        for site, part in _parts(call, averaged):
            known.setdefault(known_of(site, part), part)
        tensor = known.get(Known.TENSOR) or known.get(Known.LIKELY)
        if tensor is None:
            return
        if severity is Severity.ERROR and Known.TENSOR not in known:
            severity = Severity.WARNING
        too = "" if severity is Severity.INFO else ", and in a `tf.function`,"
        yield self.report(
            call,
            f"{where}{too} `{call.path}` raises TypeError for a tensor such as `{ast.unparse(tensor)}`: it averages "
            "variables alone. Keep the average in a `tf.Variable` that begins at zero, and assign that at each step"
            f"{_decay(call)}.",
            severity,
        )


def _decay(call: Call) -> str:
    """What is to be said of the decay, where the average is given the number of updates."""
    receiver = call.receiver
    made = call.reaching(receiver) if isinstance(receiver, ast.Name) else assignments_to(call, receiver)
    for one in made if receiver is not None else ():
        maker = None if one.value is None else one.file.call_at(one.value)
        number = None if maker is None else maker.value("num_updates", 1)
        if number is not None and not is_none(number):
            n = ast.unparse(number)
            return f", with the decay `min(decay, (1 + n) / (10 + n))`, where n is `{n}`"
    return ""


def _parts(site: Site, node: ast.expr, deep: int = _DEEP) -> Iterator[tuple[Site, ast.expr]]:
    """The elements of a list, as far as they are written, each with the place where it is."""
    if isinstance(node, ast.List | ast.Tuple):
        for part in node.elts:
            yield site, part
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(site, node.left, deep)
        yield from _parts(site, node.right, deep)
    elif isinstance(node, ast.Name | ast.Attribute) and deep:
        made: list[Assignment] = assignments_to(site, node)
        if len(made) == 1 and made[0].value is not None:
            yield from _parts(made[0], made[0].value, deep - 1)
