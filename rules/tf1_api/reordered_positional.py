"""TF407: arguments that are given by position, and mean something else in TF2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Era
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import written
from .signatures import as_in_tf1, is_of_tf2, is_other, signatures

if TYPE_CHECKING:
    import libcst


class ReorderedPositional(Rule):
    """An argument is given by position to a function that took other parameters, or another order, in TF1.

    ## Why
    Some 200 functions of `tf` kept their names and changed the order of their parameters.
    In TF1 the fourth argument of `tf.image.resize` was `align_corners`, in TF2 it is `preserve_aspect_ratio`; the
    fourth of `tf.nn.moments` was a name, and is `keepdims`.
    Nothing is raised where the type fits.
    The function of `tf.compat.v1` keeps the order of TF1.
    Who wrote the call for TF2 means the new order, so this speaks only of files that read names of TF1 and none of TF2.
    The parameters were read from TensorFlow 1.15 and 2.21 themselves.

    ## Example
    ```python
    import tensorflow as tf

    sess = tf.Session()
    larger = tf.image.resize(images, [64, 64], tf.image.ResizeMethod.BILINEAR, True)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    larger = tf.compat.v1.image.resize(images, [64, 64], tf.image.ResizeMethod.BILINEAR, align_corners=True)
    ```

    ## Fix safety
    Safe: the arguments are given by the names that TF1's parameters have now, or, where the function computes something
    else in TF2 or lost a parameter, compat.v1's function is called.

    ## Source
    - https://www.tensorflow.org/guide/migrate/upgrade
    - https://www.tensorflow.org/api_docs/python/tf/image/resize
    """

    code = "TF407"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    calls = tuple(name for name, signature in signatures().items() if len(signature.old) > 1)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        signature = signatures().get(call.name)
        count = len(call.call.args)
        if signature is None or call.has_stars or count < 2 or count > len(signature.old):
            return
        moved = [at for at in range(count) if is_other(signature, at)]
        if not moved or call.file.era is not Era.TF1 or not is_of_tf2(call):
            return
        name, first = written(call.names[0]), moved[0]
        if count > len(signature.new):
            yield self.report(
                call,
                f"`{name}` takes {len(signature.new)} arguments in TF2, and is given {count}: that raises TypeError. "
                f"Argument {first + 1} was `{signature.old[first]}`.",
                consequence=Consequence.BREAKS,
                related=call.file.era_told,
            )
        else:
            yield self.report(
                call,
                f"Argument {first + 1} of `{name}` was `{signature.old[first]}` in TF1, and is "
                f"`{signature.new[first]}` in TF2: give it by keyword.",
                related=call.file.era_told,
            )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Give the arguments by keyword, or call the function of compat.v1."""
        return as_in_tf1(node, site)
