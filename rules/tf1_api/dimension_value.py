"""TF417: the `.value` of a dimension, which is a number now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Era, File, Known, Reference
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .contexts import V2_OFF
from .signatures import is_tried

if TYPE_CHECKING:
    import libcst

_SHAPES = ("get_shape", "merge_with", "with_rank", "with_rank_at_least", "with_rank_at_most")
"""Methods that give a `TensorShape`."""
_OF_DIMENSIONS = ("assert_is_compatible_with", "is_compatible_with", "merge_with", "value")
_MENTIONED = re.compile(rf"\]\s*+\)*+\s*+\.\s*+(?:{'|'.join(_OF_DIMENSIONS)})\b")
"""Whether a text may ask an item for any of these; most do not."""
_ABSENT = frozenset({"AttributeError", "Exception", "BaseException"})
_KEEPING = (*V2_OFF, "tensorflow.disable_v2_tensorshape")


class DimensionValue(Rule):
    """A dimension of a shape is asked for its `.value`, and is a number or None.

    ## Why
    `x.shape[0]` was a `Dimension` in TF1 and is an int, or None, in TF2: `.value` raises AttributeError, in a graph and
    in eager execution.
    So do `merge_with`, `is_compatible_with` and `assert_is_compatible_with`.
    `x.shape.dims[0].value` still works, and `tf.compat.dimension_value(x.shape[0])` works with both.
    In a program that turns TF2's behaviour off it works as before, and nothing is said.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.ones([2, 3])
    width = x.shape[1].value
    ```

    ## Fix
    ```python
    import tensorflow as tf

    x = tf.ones([2, 3])
    width = x.shape[1]
    ```

    ## Fix safety
    Safe where the shape surely is a tensor's, or the file is written for TF1: the number is what `.value` was.
    Unsafe where it only looks like one. The other methods of a dimension have no fix.

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2#tensorshape_api_behavior_changes
    - https://www.tensorflow.org/api_docs/python/tf/compat/dimension_value
    """

    code = "TF417"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """See `Rule.on_file`."""
        if not _MENTIONED.search(file.source.text) or file.project.uses(*_KEEPING):
            return
        for fact in file.index.references:
            node = fact.node
            if isinstance(node, ast.Attribute) and node.attr == "shape" and (asked := _asked(file, node)):
                yield from self._judge(file.reference_of(fact), node.value, asked, is_method=False)
        for call_fact in file.index.calls:
            func = call_fact.node.func
            if isinstance(func, ast.Attribute) and func.attr in _SHAPES and (asked := _asked(file, call_fact.node)):
                call = file.call_of(call_fact)
                yield from self._judge(call, func.value, asked, is_method=True)

    def _judge(self, site: Call | Reference, tensor: ast.expr, asked: str, is_method: bool) -> Iterator[Diagnostic]:
        """Judge a dimension by what the shape is of."""
        if site.version_checked or (is_method and any(one.kind in ("class", "function") for one in site.found)):
            return
        if is_tried(site, _ABSENT):
            return
        known = site.is_tensor(tensor)
        if known in (Known.TENSOR, Known.VARIABLE):
            severity = Severity.ERROR
        elif known is Known.LIKELY or is_method or site.file.era in (Era.TF1, Era.MIXED):
            severity = Severity.WARNING
        else:
            return
        instead = "Leave `.value` out" if asked == "value" else "Compare the numbers"
        yield self.report(
            site,
            f"A dimension of a shape is an int or None in TF2: `.{asked}` raises AttributeError. {instead}.",
            severity,
        )

    def fixed_part(self, site: Call | Reference) -> ast.expr | None:
        """The `.value` of the dimension."""
        assert isinstance(site.syntax, ast.expr)
        item = site.file.parent_of(site.syntax)
        asked = site.file.parent_of(item) if item is not None and _asked(site.file, site.syntax) == "value" else None
        return asked if isinstance(asked, ast.Attribute) else None

    def fix(self, node: libcst.Attribute, site: Call | Reference) -> Replacement | None:
        """Leave `.value` out."""
        shape = site.syntax.func if isinstance(site.syntax, ast.Call) else site.syntax
        assert isinstance(shape, ast.Attribute)
        item = node.value.with_changes(lpar=[*node.lpar, *node.value.lpar], rpar=[*node.value.rpar, *node.rpar])
        if site.is_tensor(shape.value) in (Known.TENSOR, Known.VARIABLE) or site.file.era is Era.TF1:
            return Replacement(item)
        return Replacement(item, Applicability.UNSAFE, "the shape may be that of something else")


def _asked(file: File, shape: ast.expr) -> str:
    """What a dimension of a shape is asked for, or an empty text."""
    item = file.parent_of(shape)
    if not isinstance(item, ast.Subscript) or item.value is not shape or isinstance(item.slice, ast.Slice):
        return ""
    asked = file.parent_of(item)
    if not isinstance(asked, ast.Attribute) or asked.value is not item or not isinstance(asked.ctx, ast.Load):
        return ""
    return asked.attr if asked.attr in _OF_DIMENSIONS else ""
