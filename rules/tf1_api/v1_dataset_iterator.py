"""TF412: iterators of datasets as sessions ran them."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Era
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .api_status import is_plain
from .graph_calls import judged

_ONE_SHOT, _INITIALIZABLE = "make_one_shot_iterator", "make_initializable_iterator"
_FUNCTIONS = (f"tensorflow.data.{_ONE_SHOT}", f"tensorflow.data.{_INITIALIZABLE}")
_ADVICE = "use `iter(dataset)`, or a loop over it"


class V1DatasetIterator(Rule):
    """A dataset is asked for an iterator of TF1.

    ## Why
    A dataset of TF2 has no `make_one_shot_iterator` and no `make_initializable_iterator`: AttributeError.
    A dataset of `tf.compat.v1.data` has both, and so has the module; what is to be initialized raises RuntimeError in
    eager execution: "Use Python-style iteration instead."
    What `iter(dataset)` gives has `get_next`, too, and needs no initializer.

    ## Example
    ```python
    import tensorflow as tf

    iterator = tf.data.Dataset.range(3).make_one_shot_iterator()
    value = iterator.get_next()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    iterator = iter(tf.data.Dataset.range(3))
    value = next(iterator)
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/data/make_one_shot_iterator
    - https://www.tensorflow.org/guide/data
    """

    code = "TF412"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF406",)
    calls = _FUNCTIONS
    methods = (_ONE_SHOT, _INITIALIZABLE)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if call.version_checked or any(one.kind in ("class", "function") for one in call.found):
            return
        if call.name in _FUNCTIONS:
            if is_plain(call) or call.name.endswith(_INITIALIZABLE):
                yield from judged(self, call, "RuntimeError", _ADVICE)
        elif call.is_compat_v1:
            if call.method == _INITIALIZABLE:
                yield from judged(self, call, "RuntimeError", _ADVICE)
        elif call.names and all(name.canonical.startswith("tensorflow.data.") for name in call.names):
            yield self.report(
                call, f"A dataset has no `{call.method}` in TF2: that raises AttributeError. Instead, {_ADVICE}."
            )
        elif not call.names and call.file.era is Era.TF1:
            yield self.report(
                call,
                f"A dataset has no `{call.method}` in TF2: that raises AttributeError. Instead, {_ADVICE}.",
                Severity.WARNING,
                related=call.file.era_told,
            )
