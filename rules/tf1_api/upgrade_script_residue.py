"""TF905: what tf_upgrade_v2 has written, and what it lost on the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, File, canonical, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity

_MARKED = {"tensorflow.nn.dropout": ("rate", "1"), "keras.regularizers.l2": ("", "0.5")}
"""Functions whose argument the script rewrites, with the keyword and the number that it puts before a parenthesis."""
_RESIZE = "tensorflow.image.resize"
_ATOMS = (ast.Attribute, ast.Call, ast.Constant, ast.Name, ast.Subscript)
_SMOOTH = ("BILINEAR", "BICUBIC")


class UpgradeScriptResidue(Rule):
    """`tf_upgrade_v2` has rewritten the file, and has given it functions that compute something else.

    ## Why
    The script turns `tf.image.resize_bilinear(x, size, align_corners=True)` into
    `tf.image.resize(x, size, method=tf.image.ResizeMethod.BILINEAR)`: `align_corners` is gone, and pixels are placed by
    their centres and no longer by their corners.
    The row [0, 5] became [0, 1.67, 3.33, 5] at four pixels with aligned corners, and becomes [0, 1.25, 3.75, 5].

    That the script was there is told by what nobody else writes: `rate=1 - (keep_prob)`, `l2(0.5 * (scale))`.
    In such a file a smooth `tf.image.resize` is reported; where there is none, the first mark is, for information: the
    script renames, and leaves variables, sessions and collections as they were.

    ## Example
    ```python
    import tensorflow as tf

    def net(x, keep_prob):
        x = tf.image.resize(x, [64, 64], method=tf.image.ResizeMethod.BILINEAR)
        return tf.nn.dropout(x, rate=1 - (keep_prob))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def net(x, keep_prob):
        x = tf.compat.v1.image.resize_bilinear(x, [64, 64], align_corners=True)
        return tf.nn.dropout(x, rate=1 - keep_prob)
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/upgrade
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/image/resize
    """

    code = "TF905"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = (*_MARKED, _RESIZE)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what the script may have written."""
        marks: list[Call] = call.file.once("marks of tf_upgrade_v2", lambda: [*filter(_is_mark, _calls(call.file))])
        if call.version_checked or not marks:
            return
        if call.name == _RESIZE:
            if _is_smooth(call):
                yield self.report(
                    call,
                    f"`tf_upgrade_v2` rewrote this file, and `{call.path}` silently places pixels otherwise than what "
                    "stood here in TF1. With weights from TF1, use `tf.compat.v1.image.resize`, with its "
                    "`align_corners`.",
                    related=(marks[0].location("written by the script"),),
                )
        elif call is marks[0] and not any(map(_is_smooth, _calls(call.file))):
            yield self.report(
                call,
                "`tf_upgrade_v2` wrote this: it renames, and leaves variables, sessions and collections as they were. "
                "Leave the parentheses out once the rest is done.",
                Severity.INFO,
                consequence=Consequence.LEGACY,
            )


def _calls(file: File) -> list[Call]:
    names = {*_MARKED, _RESIZE}
    calls = file.calls_of(lambda found: any(canonical(entity.text) in names for entity in found), ())
    return [call for call in calls if call.name in names and not call.version_checked]


def _is_mark(call: Call) -> bool:
    """Whether an argument has parentheses that only the script writes: ``1 - (x)``."""
    keyword, number = _MARKED.get(call.name, ("", ""))
    position = None if keyword else 0
    is_operation = number and isinstance(call.value(keyword, position), ast.BinOp)
    value = call.value(keyword, position) if is_operation else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.left, ast.Constant):
        return False
    return (
        str(value.left.value) == number
        and isinstance(value.right, _ATOMS)
        and "(" in call.file.between(value.left, value.right)
    )


def _is_smooth(call: Call) -> bool:
    """Whether a call of TF2's own function surely interpolates."""
    if call.name != _RESIZE or call.is_compat_v1 or any(entity.kind != "external" for entity in call.found):
        return False
    method = call.value("method", 2)
    if method is None:
        return not call.has_stars
    return call.literal("method", 2) in ("bilinear", "bicubic") or (path_of(method) or "").endswith(_SMOOTH)
