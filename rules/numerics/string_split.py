"""TF623: strings that TF2 splits at other places, into another kind of tensor."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Era
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first

_OLD, _NEW = "tensorflow.string_split", "tensorflow.strings.split"


class StringSplit(Rule):
    """`tf.string_split` and `tf.strings.split` split strings otherwise.

    ## Why
    `tf.string_split` takes each character of its delimiter for itself, by default a space alone, leaves empty parts
    out and returns a sparse tensor.
    `tf.strings.split` takes its separator as a whole, by default any whitespace, keeps empty parts where one is given,
    and returns a ragged tensor.
    "a b  c" at " " is a, b, c in the one and a, b, "", c in the other; "a,b;c" at ",;" is a, b, c or all one part.
    `tf.strings.split` of TF1 returned a sparse tensor too: it is reported in a file that is written for TF1.
    Said once for a name and file, as a hint.

    ## Example
    ```python
    import tensorflow as tf

    words = tf.compat.v1.string_split(["a b  c"], " ").values
    ```

    ## Fix
    ```python
    import tensorflow as tf

    words = tf.strings.split(["a b  c"]).values
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/strings/split
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/string_split
    """

    code = "TF623"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    beside = ("TF406", "TF407", "TF408")  # these say that a name or a keyword left
    calls = (_OLD, _NEW)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the difference at the first call in a file."""
        if call.name == _NEW and (call.file.era is not Era.TF1 or call.is_compat_v1 or "result_type" in call.keywords):
            return
        if not is_first(call, self.code):
            return
        if call.name == _NEW:
            message = (
                f"`{call.path}` returned a sparse tensor in TF1 and silently returns a ragged one in TF2. Take "
                "`.to_sparse()` of it where its indices are read."
            )
        else:
            message = (
                f"`{call.path}` leaves empty parts out and splits at each character; `tf.strings.split` silently does "
                "neither where a separator is given, and returns a ragged tensor. Compare them on your strings."
            )
        yield self.report(call, message, related=call.file.era_told if call.name == _NEW else ())
