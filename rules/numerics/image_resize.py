"""TF618: a resized picture whose pixels TF2 places otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .hints import is_first

_OLD = tuple(f"tensorflow.image.resize_{name}" for name in ("images", "bilinear", "bicubic"))
_NEW = "tensorflow.image.resize"
_METHODS = ("bilinear", "nearest", "bicubic", "area")
"""By the numbers that TF1 gave them."""
_SMOOTH = (".BILINEAR", ".BICUBIC")


class ImageResize(Rule):
    """The resizing of TF1 places pixels otherwise than `tf.image.resize`.

    ## Why
    TF2 looks at the centres of pixels, TF1 at their corners: a row [0, 5] becomes [0, 2.5, 5, 5] in TF1 and
    [0, 1.25, 3.75, 5] in TF2 at four pixels, bilinear.
    Bicubic differs too; `resize_area` is the same, and so is the nearest pixel where a picture grows by a whole factor:
    the rule leaves both alone, as it does a method that is not written in the call.
    `align_corners=True` has no counterpart in TF2.
    Said once for a name and file, as a hint for the day when it is replaced: under `tf.compat.v1` it stays as it was.
    The numbers by which TF1 named its methods are none of `tf.image.resize`, which raises for them.

    ## Example
    ```python
    import tensorflow as tf

    small = tf.compat.v1.image.resize_bilinear(tf.zeros([1, 4, 4, 3]), [2, 2], align_corners=True)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    small = tf.image.resize(tf.zeros([1, 4, 4, 3]), [2, 2])
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/image/resize
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/image/resize
    """

    code = "TF618"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    beside = ("TF406", "TF407")  # that the name moved, and that an argument has another meaning
    calls = (*_OLD, _NEW)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the pixels at the first call in a file, and of methods that are numbers."""
        if call.name == _NEW:
            method = call.literal("method", 2)
            if call.spelled == _NEW and not call.in_graph and type(method) is int and 0 <= method < len(_METHODS):
                yield self.report(
                    call,
                    f"`{call.path}` raises ValueError for the method {method}, which was TF1's number of "
                    f'"{_METHODS[method]}": give that text.',
                    Severity.ERROR,
                    consequence=Consequence.BREAKS,
                )
            return
        if call.literal("half_pixel_centers", default=False) is not False or not _is_smooth(call):
            return
        if not is_first(call, self.code):
            return
        yield self.report(
            call,
            f"`tf.image.resize` silently gives other numbers than `{call.path}`, which looks at the corners of pixels "
            "and not at their centres. With weights from TF1, keep `tf.compat.v1.image`.",
        )


def _is_smooth(call: Call) -> bool:
    """Whether pixels are surely interpolated."""
    if call.name != "tensorflow.image.resize_images":
        return True
    given = call.value("method", 2)
    if given is None:
        return not call.has_stars
    return call.literal("method", 2) in (0, 2) or (path_of(given) or "").endswith(_SMOOTH)
