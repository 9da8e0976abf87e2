"""Layers that are called, and penalties and gradients that are asked for, where a finding needs them.

``applied`` events: the layer as subject (weakly); ``args`` and ``kwargs`` with which it was called, a symbolic tensor
as its ``tf.TensorSpec``; ``symbolic``, whether there is one; and whether the layer was ``trainable``.
Recorded are layers that are called at the line of a finding, and those of a kind that one is about; the same layer at
the same line once in each of these cases and modes. Tensors are symbolic, too, when those that are kept are too large.
``penalties`` events: somebody read ``losses`` of a layer, the subject.
``gradients`` events: a ``tf.GradientTape`` was asked for some; ``missing`` and ``all`` count those that are None, and
all; ``error`` is what was raised, in one line.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any, Iterator

from ..errors import one_line, text_of
from ..kept import Memory, NotKeptError, is_symbolic, kept_arguments
from ..patching import Patch, replaced
from ..recorder import Recorder
from .layers import layer_classes

__all__ = ["patches"]

_AT_LINE = frozenset({"missing-training-flag", "regularization-loss-dropped"})
_KINDS = {
    "batch-norm-trainable-false": frozenset({"BatchNormalization"}),
    "rnn-defaults": frozenset({"GRU", "GRUCell", "LSTM", "LSTMCell"}),
}
_MOST = 1000


def patches(recorder: Recorder) -> Iterator[Patch]:
    """Listen to what the findings of the run are about, and to nothing else."""
    slugs = {finding.slug for finding in recorder.wanted}
    if slugs & {*_AT_LINE, *_KINDS}:
        calls = _Calls(recorder)
        for cls in layer_classes():
            yield replaced(cls, "__call__", _calling(cls.__call__, recorder, calls))
    if "regularization-loss-dropped" in slugs:
        for cls in layer_classes():
            yield replaced(cls, "losses", property(_reading(cls.losses.fget, recorder)))
    if "tape-disconnected" in slugs:
        import tensorflow as tf

        yield replaced(tf.GradientTape, "gradient", _differentiating(tf.GradientTape.gradient, recorder))


def _calling(original: Any, recorder: Recorder, calls: _Calls) -> Any:
    @functools.wraps(original)
    def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
        recorder.record("applied", lambda: calls.describe(layer, args, kwargs))
        return original(layer, *args, **kwargs)

    call.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph leaves it as it is
    return call


class _Calls:
    """What is kept of calls, and how much that is."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._at_line = [finding for finding in recorder.wanted if finding.slug in _AT_LINE]
        slugs = {finding.slug for finding in recorder.wanted}
        self._kinds = frozenset(kind for slug, kinds in _KINDS.items() if slug in slugs for kind in kinds)
        self._seen: set[Any] = set()
        self._memory = Memory()

    def describe(self, layer: Any, args: Any, kwargs: Any) -> Any:
        """A new call of a layer that a finding is about; raises `NotKeptError` for any other."""
        of_kind = any(cls.__name__ in self._kinds for cls in type(layer).__mro__)
        if len(self._seen) >= _MOST or not (of_kind or self._at_line):
            raise NotKeptError
        frames = self._recorder.code.stack()
        if not of_kind and not any(finding.holds_first(frames) for finding in self._at_line):
            raise NotKeptError
        kept = kept_arguments(args, kwargs)
        trainable, phase = bool(layer.trainable), self._recorder.phase
        symbolic = is_symbolic(kept)
        key = (id(layer), frames[:1], symbolic, trainable, phase is not None and phase.mode)
        if key in self._seen:
            raise NotKeptError
        self._seen.add(key)
        return frames, {**self._memory.detail(kept), "trainable": trainable}, weakref.ref(layer)


def _reading(original: Any, recorder: Recorder) -> Any:
    @functools.wraps(original)
    def losses(layer: Any) -> Any:
        recorder.record("penalties", lambda: (recorder.code.stack(), {}, weakref.ref(layer)))
        return original(layer)

    losses.autograph_info__ = {}  # type: ignore[attr-defined]
    return losses


def _differentiating(original: Any, recorder: Recorder) -> Any:
    @functools.wraps(original)
    def gradient(tape: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            found = original(tape, *args, **kwargs)
        except Exception as error:
            said = one_line(f"{type(error).__name__}: {text_of(error)}")
            recorder.record("gradients", lambda: _given(recorder, [], said))
            raise
        recorder.record("gradients", lambda: _given(recorder, found, ""))
        return found

    gradient.autograph_info__ = {}  # type: ignore[attr-defined]
    return gradient


def _given(recorder: Recorder, found: Any, error: str) -> Any:
    import tensorflow as tf

    leaves = tf.nest.flatten(found)
    detail = {"missing": sum(leaf is None for leaf in leaves), "all": len(leaves), "error": error}
    return recorder.code.stack(), detail, lambda: None
