"""TF622: labels that are computed, and that TF2 sends a gradient into."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Era
from ...linter.rule_api.rewriting import argument, expression
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity

if TYPE_CHECKING:
    import libcst

_LABELS = {
    "tensorflow.nn.softmax_cross_entropy_with_logits": "labels",
    "tensorflow.losses.softmax_cross_entropy": "onehot_labels",
}
_SMOOTH = frozenset(
    f"tensorflow.{name}"
    for name in (
        "exp", "layers.dense", "math.exp", "math.sigmoid", "math.softmax", "math.tanh", "matmul", "nn.relu",
        "nn.sigmoid", "nn.softmax", "nn.tanh", "sigmoid", "tanh",
    )
)  # fmt: skip
"""What computes labels, and has a gradient."""
_PASSED = frozenset(
    f"tensorflow.{name}"
    for name in (
        "clip_by_value", "expand_dims", "gather", "identity", "math.reduce_mean", "math.reduce_sum", "reduce_mean",
        "reduce_sum", "reshape", "slice", "squeeze", "transpose",
    )
)  # fmt: skip
"""What has the gradient of its first argument."""
_MAX_STEPS = 10


class SoftmaxLabelGradient(Rule):
    """The labels of a softmax loss are computed, and a gradient goes into them.

    ## Why
    `tf.nn.softmax_cross_entropy_with_logits` of TF1 stops the gradient of its labels, the TF2 function of that name
    does not; nor do the losses of Keras.
    For the logits [1, 2, 3] and labels that are the softmax of half of them, the gradient is [-0.096, -0.062, 0.159]
    in TF1 and [0.027, -0.013, -0.013] in TF2.
    Labels that are data have no gradient in either, and are not reported: the rule speaks where the function that
    computes the loss computes them, as a softmax, a sigmoid or the like.

    Through compat.v1 the gradient is still stopped, which is told for the day when it is replaced.
    No run decides this: the loss is the same, and what a gradient does to the labels shows beside a run of TF1 alone.

    ## Example
    ```python
    import tensorflow as tf

    def loss(x):
        teacher = tf.nn.softmax(tf.layers.dense(x, 3))
        logits = tf.layers.dense(x, 3)
        return tf.nn.softmax_cross_entropy_with_logits(labels=teacher, logits=logits)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def loss(teacher, student, x):
        labels = tf.stop_gradient(tf.nn.softmax(teacher(x)))
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=student(x))
    ```

    ## Fix safety
    Safe where the file is written for TF1 and calls the function of TF2: the labels stay what they are.
    A call through compat.v1 is right as it stands, and has no fix.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/nn/softmax_cross_entropy_with_logits
    """

    code = "TF622"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    beside = ("TF406", "TF407")  # these say that a name moved, and the order of arguments
    calls = tuple(_LABELS)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the labels by how they are computed."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found):
            return
        if not all(name.canonical in _LABELS for name in call.names):
            return  # after a conditional import, it may be anything
        is_old = _is_old(call)
        if not is_old and call.file.era is not Era.TF1:
            return
        keyword = _LABELS[call.name]
        labels = call.value(keyword, 0 if keyword != "labels" or not is_old else None)
        if labels is None or not _is_computed(call, labels):
            return
        if is_old:
            yield self.report(
                call,
                f"`{call.path}` stops the gradient of its labels; `tf.nn.softmax_cross_entropy_with_logits` and the "
                f"losses of Keras silently do not. Give these `tf.stop_gradient({_shown(labels)})`.",
                Severity.INFO,
            )
        else:
            yield self.report(
                call,
                f"A gradient silently goes into the labels, which TF1 stopped. Give "
                f"`labels=tf.stop_gradient({_shown(labels)})`.",
                related=call.file.era_told,
            )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Stop the gradient of the labels."""
        import libcst

        labels = argument(node, "labels", 0)
        written = site.importable("tensorflow.stop_gradient")
        if _is_old(site) or labels is None or written is None:
            return None
        plain = labels.value.with_changes(lpar=[], rpar=[]) if labels.value.lpar else labels.value
        stopped = libcst.Call(expression(written[0]), [libcst.Arg(plain)])
        args = [one.with_changes(value=stopped) if one is labels else one for one in node.args]
        return Replacement(node.with_changes(args=args), imports=written[1])


def _is_old(call: Call) -> bool:
    """Whether what is called stops the gradient itself."""
    return call.is_compat_v1 or call.name.startswith("tensorflow.losses.")


def _shown(labels: ast.expr) -> str:
    return labels.id if isinstance(labels, ast.Name) else "labels"


def _is_computed(call: Call, node: ast.expr) -> bool:
    """Whether an expression at a call is surely worked out by something with a gradient."""
    for _ in range(_MAX_STEPS):
        if isinstance(node, ast.Name):
            around = call.file.assignments_by_function.get(call.scope.function().id, [])
            made = [one for one in around if one.path == node.id]
            if len(made) != 1 or made[0].value is None or made[0].augmented:
                return False
            node = made[0].value
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.BinOp):
            if not isinstance(node.right, ast.Constant):
                return False
            node = node.left
        else:
            inner = call.file.call_at(node)
            if inner is None or len({one.canonical for one in inner.names}) != 1:
                return False
            if inner.name in _SMOOTH:
                return True
            if inner.name not in _PASSED or not inner.call.args:
                return False
            node = inner.call.args[0]
    return False
