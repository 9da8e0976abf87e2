"""Hears what the layers of a TF2 model compute while it runs, and puts it into a chapter."""

from __future__ import annotations

import contextlib
from types import FrameType
from typing import Callable, Iterator, Mapping, Sequence

import numpy as np

from ...frames import Frame, UserCode, place_of
from ...patching import wrapped
from ..format.rows import LayerRow, Place
from ..format.store import Chapter
from ..pairs import structures
from ..tensors import Array, Function, Json, Layer, Nest, Tensor, Variable
from ..watching.alike import Alike
from ..watching.constructions import made_at, written_at
from ..watching.eager_operations import EagerOperations
from ..watching.layer_calls import is_own, recording_layers
from .model import is_symbolic, layer_settings
from .variables import Variables, value_of

__all__ = ["Listening", "array"]

_WAITING = 64 << 20
"""Bytes of taps that wait for the end of the pass."""


class Listening:
    """Taps of layers, for as long as it is told to record.

    Attributes:
        chapter: where taps go; None while nothing is to be recorded.
        step: of the taps.
        automatic: whether outputs of layers are kept that nobody has asked for.
        called: told what the model itself returned.
        met: the names of declared taps and endpoints that the last pass gave.
        settings: what is known of the layers that were called and whose settings matter.
    """

    def __init__(self, code: UserCode, variables: Variables, taps: Mapping[str, Sequence[str]]) -> None:
        self.chapter: Chapter | None = None
        self.step = 0
        self.automatic = True
        self.called: Callable[[Nest], None] | None = None
        self.settings: dict[str, LayerRow | None] = {}
        self._code = code
        self._variables = variables
        self._declared = {str(ends[1]): name for name, ends in taps.items() if len(ends) > 1}
        self._counted: dict[str, int] = {}
        self.met: set[str] = set()
        self._operations: EagerOperations | None = None
        self._compiled: Place | None = None
        self._waiting: list[tuple[str, str, Array, Place | None, dict[str, Json]]] = []
        self._size = 0

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Hear of the layers in the body."""
        with recording_layers(self._heard, self._code) as self._calls, self._compiling():
            yield

    @contextlib.contextmanager
    def _compiling(self) -> Iterator[None]:
        """Remember the line of ``compile``, or of the loss that it gets: what Keras computes was chosen there."""
        import tensorflow as tf

        def telling(original: Function) -> Function:
            def compiled(*arguments: object, **named: object) -> Nest:
                loss = named.get("loss", arguments[2] if len(arguments) > 2 else None)
                self._compiled = made_at(loss) or place_of(self._code.stack()) or self._compiled
                return original(*arguments, **named)

            return compiled

        with contextlib.ExitStack() as stack:
            for cls in getattr(getattr(getattr(tf, "keras", None), "Model", None), "__mro__", ()):
                stack.enter_context(wrapped(cls, "compile", telling))
            yield

    def _places(self, frame: FrameType | None) -> tuple[Place | None, Place | None]:
        """The user's line that an operation is there for, and where the layer was made that computes it."""
        place, made = self._calls.places(frame)
        return place or self._compiled, made

    def alike(self) -> Alike:
        """Hears what passes read off their batches alone."""
        return Alike(lambda frame: self._places(frame)[0])

    def root(self, model: Layer) -> None:
        """Name the layers relative to a model from now on."""
        self._calls.root = model

    @contextlib.contextmanager
    def recording(
        self,
        chapter: Chapter,
        step: int = 0,
        automatic: bool = True,
        operations: bool = False,
    ) -> Iterator[None]:
        """Record what the layers compute in the body.

        Args:
            chapter: where to.
            step: of training.
            automatic: whether outputs of layers are kept that nobody has asked for.
            operations: whether the single operations are kept too, in brief.
        """
        self.chapter, self.step, self.automatic = chapter, step, automatic
        self._counted, self.met = {}, set()
        if operations:
            self._operations = EagerOperations(self._places, self._variables.weights())
        try:
            with contextlib.nullcontext() if self._operations is None else self._operations.listening():
                yield
            self._flush()
            if self._operations is not None:
                self._operations.sheet.record(chapter, step)
                if self._operations.lost:
                    chapter.recording.note(f"{self._operations.lost} operations of the TF2 side could not be recorded")
        finally:
            self.chapter = self._operations = None
            self._waiting, self._size = [], 0

    def result(self, kind: str, name: str, value: Tensor) -> None:
        """Say that a tensor is what the pass came to, so that the operations which it is made of are kept."""
        number = None if self._operations is None else self._operations.of(value)
        if self._operations is not None and number is not None:
            self._operations.sheet.result(kind, name, number)

    def updating(self) -> None:
        """Weights are updated now: what is computed from here on is not the forward pass."""
        if self._operations is not None:
            self._operations.stop()

    def _heard(self, layer: Layer, path: str, inputs: Nest, outputs: Nest, frames: Sequence[Frame]) -> None:
        if path not in self.settings:
            told = layer_settings(layer)
            place = self._calls.made_at(layer)
            self.settings[path] = None if told is None else {**told, "name": path, "place": place and list(place)}
        if self.called is not None and layer is self._calls.root:
            self.called(outputs)
        if self.chapter is None:
            return
        leaves = structures.flat(outputs, "")
        if any(is_symbolic(leaf) for _, leaf in leaves):
            return
        owned = _weights(layer)
        call = self._counted[path] = self._counted.get(path, -1) + 1
        self._keep(layer, path, call, leaves, owned, place_of(frames), self._given(inputs))

    def _made(self, layer: Layer) -> dict[str, Sequence[object]]:
        """The line that says what a layer does: where one of Keras is made, and where the user's ``call`` begins."""
        cls = type(layer)
        place = self._calls.made_at(layer) if is_own(cls) else written_at(getattr(cls, "call", None), self._code)
        return {} if place is None else {"made": list(place)}

    def _keep(
        self,
        layer: Layer,
        path: str,
        call: int,
        leaves: Sequence[tuple[str, Tensor]],
        owned: Sequence[Variable],
        place: Place | None,
        given: Mapping[str, Sequence[int]],
    ) -> None:
        more: dict[str, Sequence[object]] = {**given, **self._made(layer)}
        asked = self._declared.get(path) or self._declared.get(str(getattr(layer, "name", "")))
        if asked is not None and call == 0 and asked not in self.met:
            self.met.add(asked)
            for name, leaf in leaves:
                self._tap(f"{asked}/{name}" if name else asked, leaf, place, auto=False, **more)
        elif self.automatic and layer is not self._calls.root:
            names = [self._variables.name(variable) for variable in owned]
            for name, leaf in leaves:
                whole = f"{path}/{name}" if name else path
                whole += f"#{call}" if call else ""
                part = {"part": name} if len(leaves) > 1 else {}
                self._tap(whole, leaf, place, auto=True, call=call, owned=names, **part, **more)

    def _given(self, inputs: Nest) -> dict[str, Sequence[int]]:
        """Which operations give the inputs of a layer, where operations are heard."""
        if self._operations is None:
            return {}
        numbers = [self._operations.of(leaf) for _, leaf in structures.flat(inputs)]
        known = [number for number in numbers if number is not None]
        self._operations.sheet.wanted(known)
        return {"inputs": known}

    def _tap(self, name: str, leaf: Tensor, place: Place | None, **more: object) -> None:
        self.result("tap", name, leaf)
        self._add("tap", name, array(leaf), place, **more)

    def _add(self, kind: str, name: str, value: Array, place: Place | None, **more: object) -> None:
        self._waiting.append((kind, name, value, place, more))
        self._size += value.nbytes
        if self._size > _WAITING:
            self._flush()

    def _flush(self) -> None:
        """Put what is waiting into the chapter; an endpoint takes the place of a layer of the same name."""
        assert self.chapter is not None
        for kind, name, value, place, more in self._waiting:
            if not (more.get("auto") and name in self.met):
                self.chapter.add(kind, name, value, self.step, place, **more)
        self._waiting, self._size = [], 0

    def keep_values(self, variables: Sequence[tuple[str, Variable]]) -> None:
        """Record variables."""
        for name, variable in variables:
            self._add("variable", name, value_of(variable), None)

    def endpoints(self, named: Mapping[str, Tensor], taps: Mapping[str, Tensor], place: Place | None) -> None:
        """Record endpoints, and taps that the model itself gave; declared ones also by the name that the pair gives."""
        for name, value in [*named.items(), *taps.items()]:
            asked = self._declared.get(name)
            for wanted in (name,) if asked is None else (name, asked):
                if wanted not in self.met and not is_symbolic(value):
                    self.met.add(wanted)
                    self._tap(wanted, value, place, auto=False)


def array(value: Tensor) -> Array:
    """The value of an eager tensor, a variable, a metric or a number; rows of a gradient as the whole."""
    if hasattr(value, "indices") and hasattr(value, "dense_shape"):
        import tensorflow as tf

        value = tf.convert_to_tensor(value)
    result = getattr(value, "result", None)
    if callable(result) and hasattr(value, "update_state"):
        value = result()
    read = getattr(value, "numpy", None)
    return np.asarray(read() if callable(read) else value)


def _weights(layer: Layer) -> list[Variable]:
    for attribute in ("weights", "variables"):
        with contextlib.suppress(Exception):
            found = getattr(layer, attribute)
            if not callable(found):
                return list(found)
    return []
