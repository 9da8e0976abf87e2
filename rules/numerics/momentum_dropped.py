"""TF626: the momentum that a plain SGD leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..tf1_api.contexts import certainty
from .hints import is_first
from .optimizers import is_compiled, of_keras, only_applies

if TYPE_CHECKING:
    import libcst

_REASON = "what Keras keeps of sparse gradients is other than in TF1, and a checkpoint of the old one has other names"


class MomentumDropped(Rule):
    """`MomentumOptimizer` becomes `tf.keras.optimizers.SGD`, whose momentum is 0 unless it is given.

    ## Why
    Keras has no optimizer of that name, and `SGD` asks for no momentum.
    Five steps of 0.1 with a gradient of 1 move a weight by 1.31 with a momentum of 0.9, and by 0.50 without it.
    With `momentum=0.9` SGD computes what `MomentumOptimizer` did, with `nesterov=True` what it did with
    `use_nesterov=True`.
    Said once for a file, as a hint for the day when it is replaced: under `tf.compat.v1` it stays as it was.

    ## Example
    ```python
    import tensorflow as tf

    optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    ```

    ## Fix safety
    Unsafe: Keras goes on with a momentum where a sparse gradient has none, and names it otherwise in checkpoints.
    It is offered where rate and momentum are numbers, the code surely runs eagerly, and the optimizer is given to
    `compile`, or to a name of which nothing but `apply_gradients` is called: Keras's optimizer has hardly any other
    method of that one.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/MomentumOptimizer
    - https://www.tensorflow.org/guide/migrate/metrics_optimizers
    """

    code = "TF626"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    beside = ("TF108", "TF406")  # where it is made, and that the name moved
    calls = ("tensorflow.train.MomentumOptimizer",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the momentum at the first call in a file that gives one."""
        if call.literal("momentum", 1) == 0 or not is_first(call, self.code):
            return
        nesterov = call.literal("use_nesterov", 3) not in (None, False)
        also = " and `nesterov=`, which was `use_nesterov=`" if nesterov else ""
        yield self.report(
            call,
            f"`tf.keras.optimizers.SGD`, which takes the place of `{call.path}`, has a momentum of 0 unless it is "
            f"given. Give it `momentum=`{also}.",
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Make the SGD of Keras, with the momentum."""
        if certainty(site) is not Severity.ERROR or site.in_trace or site.runs(Context.GRAPH):
            return None
        return of_keras(node, site, _REASON) if is_compiled(site) or only_applies(site) else None
