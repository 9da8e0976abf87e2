"""TF636: CTC whose blank is the first class in TF2, and was the last one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Era
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .hints import is_first, is_sure

_LOSS, _BEAM = "tensorflow.nn.ctc_loss", "tensorflow.nn.ctc_beam_search_decoder"
_NEW_LOSSES = {
    _LOSS: ("blank_index", 6),
    "keras.losses.CTC": None,
    "keras.losses.ctc": None,
    "keras.ops.ctc_loss": ("mask_index", 4),
}
"""Losses whose blank is class 0 unless this parameter says otherwise; without one there is no other."""
_DECODERS = {"tensorflow.nn.ctc_greedy_decoder": ("blank_index", 3), _BEAM: None}
"""Decoders whose blank is the last class, likewise."""
_NEW_WORDS = {"label_length", "logit_length", "logits_time_major", "unique", "blank_index"}
"""Parameters that the loss of TF1 does not have."""


class CtcBlank(Rule):
    """The blank of CTC is class 0 in the losses of TF2, the last class in TF1's and in all decoders of TensorFlow.

    ## Why
    `tf.nn.ctc_loss` of TF1 takes the last class for the blank. The TF2 function of that name takes class 0 where its
    labels are dense, and wants `blank_index` where they are sparse; `keras.losses.CTC` and `keras.ops.ctc_loss` take
    class 0.
    For the same logits and labels of two sequences TF 1.15 and compat.v1 give 6.573 and 4.800, `tf.nn.ctc_loss` of
    TF2 gives 8.207 and 5.752, and with `blank_index=-1` 6.573 and 4.800. Nothing is raised, and the loss falls in
    training: what the decoders read is of no use, as their blank is the last class.

    `tf.nn.ctc_beam_search_decoder` of TF1 merges what is repeated unless it is told `merge_repeated=False`; that of TF2
    never does, and has no such parameter: 59 of 300 random sequences were read otherwise.

    A loss is reported where its file decodes with the other blank, and the old functions once a file, as a hint for
    the day when they are replaced.

    ## Example
    ```python
    import tensorflow as tf

    def loss_and_words(labels, logits, label_length, logit_length):
        loss = tf.nn.ctc_loss(labels, logits, label_length, logit_length)
        words, _ = tf.nn.ctc_greedy_decoder(logits, logit_length)
        return loss, words
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def loss_and_words(labels, logits, label_length, logit_length):
        loss = tf.nn.ctc_loss(labels, logits, label_length, logit_length, blank_index=-1)
        words, _ = tf.nn.ctc_greedy_decoder(logits, logit_length)
        return loss, words
    ```

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/nn/ctc_loss
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/nn/ctc_loss
    - https://www.tensorflow.org/api_docs/python/tf/nn/ctc_beam_search_decoder
    """

    code = "TF636"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    beside = ("TF406", "TF407", "TF408")  # these say that a name moved, and that arguments have other places or left
    calls = (*_NEW_LOSSES, _BEAM)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a loss by its blank and that of what decodes; a decoder by what it merges."""
        if not is_sure(call):
            return
        if call.name == _BEAM:
            yield from self._beam(call)
        elif _is_old(call):
            if is_first(call, self.code):
                yield self.report(
                    call,
                    f"The blank of `{call.path}` of TF1 is the last class; that of `tf.nn.ctc_loss` of TF2 is silently "
                    "class 0 where labels are dense, and so is that of the losses of Keras. Give it `blank_index=-1`.",
                    Severity.INFO,
                )
        elif _is_left(call, _NEW_LOSSES[call.name]):
            decoder = next((one for one in call.file.calls if _decodes_otherwise(one)), None)
            if decoder is not None:
                told = "give the loss `blank_index=-1`" if call.name == _LOSS else "give both the same"
                yield self.report(
                    call,
                    f"The blank of `{call.path}` is class 0, that of `{decoder.path}` in line {decoder.line} the last "
                    f"class: what it reads is silently of no use. In TF1 it was the last: {told}.",
                )

    def _beam(self, call: Call) -> Iterator[Diagnostic]:
        if call.is_compat_v1:
            if call.literal("merge_repeated", 4) is not False and is_first(call, self.code):
                yield self.report(
                    call,
                    f"`{call.path}` merges what is repeated; `tf.nn.ctc_beam_search_decoder` of TF2 silently does not.",
                    Severity.INFO,
                )
        elif call.file.era is Era.TF1 and call.value("merge_repeated", 4) is None and is_first(call, self.code):
            yield self.report(
                call,
                f"`{call.path}` of TF2 does not merge what is repeated, as that of TF1 did: it silently reads other "
                "words. `tf.compat.v1.nn.ctc_beam_search_decoder` still merges it.",
                related=call.file.era_told,
            )


def _is_old(call: Call) -> bool:
    """Whether it is the loss of TF1: by its module, or as that of TF2 takes at least four arguments."""
    if call.name != _LOSS or call.is_compat_v1:
        return call.name == _LOSS
    given = {keyword.arg for keyword in call.call.keywords}
    stars = None in given or any(isinstance(one, ast.Starred) for one in call.call.args)
    return not stars and not given & _NEW_WORDS and (len(call.call.args) < 4 or call.file.era is Era.TF1)


def _is_left(call: Call, parameter: tuple[str, int] | None) -> bool:
    """Whether the class of the blank is surely left at its default."""
    if parameter is None:
        return True
    return call.value(*parameter) is None and all(keyword.arg is not None for keyword in call.call.keywords)


def _decodes_otherwise(call: Call) -> bool:
    """Whether it decodes with the last class for the blank."""
    return call.name in _DECODERS and is_sure(call) and _is_left(call, _DECODERS[call.name])
