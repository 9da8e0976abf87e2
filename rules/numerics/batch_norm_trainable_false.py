"""TF608: a batch normalization that is frozen, and so always infers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Call, Era, Site, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .models import maker_of, parts_of

_NORM = "keras.layers.BatchNormalization"
_WITH_NORM = (
    "DenseNet", "EfficientNet", "Inception", "MobileNet", "NASNet", "RegNet", "ResNet", "Xception",
)  # fmt: skip


class BatchNormTrainableFalse(Rule):
    """`trainable = False` makes a Keras batch normalization infer, even where it is called with `training=True`.

    ## Why
    In TF1 it only kept gamma and beta from being trained: the layer went on to normalize with the batch, in Keras too,
    and slim went on to update the moving averages.
    Now a frozen layer normalizes with its moving averages, does not update them, and ignores `training=True`:
    [3, 5] stays [3, 5] and is no longer [-1, 1].
    The same holds for each such layer in a model that is frozen.

    It is what one mostly wants of a pretrained model.
    So freezing is a hint in files that are written for TF1, and a warning where the file also passes `training=True`.

    ## Example
    ```python
    import tensorflow as tf

    norm = tf.keras.layers.BatchNormalization(trainable=False)
    y = norm(tf.constant([[3.0], [5.0]]), training=True)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    norm = tf.keras.layers.BatchNormalization()
    y = norm(tf.constant([[3.0], [5.0]]), training=True)
    trained = [v for v in model.trainable_variables if v is not norm.gamma and v is not norm.beta]
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/layers/BatchNormalization
    - https://github.com/zzh8829/yolov3-tf2/issues/188
    """

    code = "TF608"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = (_NORM, f"{_NORM}()")
    assigns = ("attribute",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the making of a layer, and its call."""
        if call.version_checked or any(entity.kind != "external" for entity in call.found) or len(call.names) != 1:
            return
        if call.name == _NORM:
            if call.file.era is Era.TF1 and call.literal("trainable", default=True) is False:
                yield self._hint(call, "This batch normalization")
            return
        frozen = _frozen_at(call) if call.literal("training") is True else None
        if frozen is not None:
            yield self.report(
                call,
                "`training=True` is ignored: the layer is frozen, so it normalizes with its moving averages and does "
                "not update them. Leave it trainable, and keep gamma and beta from the optimizer instead.",
                related=(frozen.location("frozen here"),),
            )

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge what is frozen in a file for TF1."""
        frozen = _is_freezing(assignment) and assignment.file.era is Era.TF1 and not assignment.is_dead
        owner = _frozen(assignment) if frozen else None
        if owner is None:
            return
        if owner == _path_before(assignment) and _is_norm(maker_of(assignment, owner)):
            yield self._hint(assignment, f"`{owner}`")
        elif _holds_norm(assignment, owner):
            yield self._hint(assignment, f"A batch normalization in `{owner}`")

    def _hint(self, site: Site, what: str) -> Diagnostic:
        return self.report(
            site,
            f"{what} is frozen: in TF1 that kept gamma and beta from being trained, now the layer also normalizes with "
            "its moving averages and does not update them, even with `training=True`.",
            Severity.INFO,
            related=site.file.era_told,
        )


def _is_freezing(assignment: Assignment) -> bool:
    is_it = isinstance(assignment.node, ast.Attribute) and assignment.node.attr == "trainable"
    return is_it and isinstance(assignment.value, ast.Constant) and assignment.value.value is False


def _path_before(assignment: Assignment) -> str:
    return (assignment.path or "").removesuffix(".trainable")


def _is_norm(made: Call | None) -> bool:
    return made is not None and len(made.names) == 1 and made.name == _NORM


def _frozen_at(call: Call) -> Site | None:
    """Where the layer that is called is frozen, for good."""
    made = call.file.call_at(call.call.func)
    if made is None and call.path:
        made = maker_of(call, call.path)
    if made is None or not _is_norm(made):
        return None
    path = call.path or ""
    set_ = [a for a in call.file.assignments if isinstance(a.node, ast.Attribute) and a.node.attr == "trainable"]
    if not set_:
        return made if made.literal("trainable", default=True) is False else None
    if len(set_) != 1 or set_[0].path != f"{path}.trainable" or not _is_freezing(set_[0]):
        return None
    same = set_[0].block in call.block.chain() and set_[0].line < call.line
    return set_[0] if same or (path.startswith("self.") and set_[0].scope is made.scope) else None


def _frozen(assignment: Assignment) -> str | None:
    """The path of what is frozen; for ``for layer in model.layers``, that of the model."""
    path = _path_before(assignment)
    for loop in assignment.loops:
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and loop.target.id == path:
            over = loop.iter.value if isinstance(loop.iter, ast.Subscript) else loop.iter
            text = path_of(over) or ""
            return text.removesuffix(".layers") if text.endswith(".layers") else None
    return path or None


def _holds_norm(site: Site, path: str) -> bool:
    """Whether the file shows that a model has such a layer."""
    made = maker_of(site, path)
    if made is not None and made.name.startswith("keras.applications."):
        return made.name.rpartition(".")[2].startswith(_WITH_NORM)
    parts = parts_of(site, path)
    return parts is not None and any(call.name == _NORM for call in parts.calls)
