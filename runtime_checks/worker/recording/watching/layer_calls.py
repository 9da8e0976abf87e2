"""The calls of layers: of Keras 2 and Keras 3, and of the layers of TF1, eagerly and while a graph is built.

Keras 2 exchanges the base class of a layer that is made in a graph of TF1 for another one, and the layers of
``tf.compat.v1.layers`` call that of Keras, so every base class there is gets the same treatment, and a call that comes
through several of them counts once.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from types import FrameType
from typing import Callable, Iterator, Mapping, Sequence

from ...frames import HOST, Frame, UserCode, place_of
from ...patching import replaced, wrapped
from ..format.rows import Place
from ..tensors import Function, Layer, Nest, Tensor
from .classes import loaded

__all__ = ["LayerCalls", "is_own", "layer_bases", "recording_layers"]

_KERAS = ("keras", "tf_keras", "tensorflow", "tensorflow_core")
_BY_NAME = ("Functional", "Sequential", "Model")
"""Classes of Keras whose ``call`` calls what the user put together elsewhere."""

Heard = Callable[[Layer, str, Nest, Nest, Sequence[Frame]], object]
"""Gets the layer, its path, its inputs, its outputs and the user's frames, innermost first."""


class LayerCalls:
    """The calls in progress, and the names of the layers met.

    Attributes:
        root: the model whose parts are named relative to it; a call of anything else that no other layer makes begins
            a path with the layer's own name.
    """

    def __init__(self, heard: Heard, code: UserCode | None) -> None:
        self.root: Layer = None
        self._heard = heard
        self._code = code
        self._running = threading.local()
        self._paths: dict[int, str] = {}
        self._owners: dict[str, int] = {}
        self._layers: list[Layer] = []
        self._places: dict[int, Sequence[Frame]] = {}
        self._made: dict[int, Sequence[Frame]] = {}

    def made(self, layer: Layer, frame: FrameType) -> None:
        """A layer was constructed from that frame."""
        with contextlib.suppress(TypeError):
            number = id(layer)
            self._made[number] = self._places[number] = self._frames(frame)
            weakref.finalize(layer, self._places.pop, number, None)
            weakref.finalize(layer, self._made.pop, number, None)

    def made_at(self, layer: Layer) -> Place | None:
        """The user's line that made a layer; None where that is not known."""
        return place_of(self._made.get(id(layer), ()))

    def heard_call(self, original: Function) -> Function:
        """The ``__call__`` of a class, which tells of each call when it has ended well."""

        def call(layer: Layer, *args: object, **kwargs: object) -> Nest:
            return self._call(original, layer, args, kwargs, sys._getframe(1))

        return call

    def _call(
        self, original: Function, layer: Layer, args: Sequence[object], kwargs: Mapping[str, object], frame: FrameType
    ) -> Nest:
        running = self._stack()
        if running and running[-1] is layer:
            return original(layer, *args, **kwargs)
        parents = tuple(running)
        running.append(layer)
        self._callers().append(frame)
        try:
            outputs = original(layer, *args, **kwargs)
        finally:
            running.pop()
            self._callers().pop()
        if _is_symbolic(outputs):
            self._remember(layer, parents, frame)
        else:
            inputs = [*args, *kwargs.values()]
            self._heard(layer, self._path(layer, parents), inputs, outputs, self._where(layer, parents, frame))
        return outputs

    def places(self, frame: FrameType | None) -> tuple[Place | None, Place | None]:
        """The user's line that what runs in a frame is there for, and that of the layer which computes it.

        The first is the innermost of the user's, or the line where the layer was made that Keras calls within a model
        which was put together elsewhere; None where there is neither. The second is where the innermost layer was made,
        if none of its code that runs is the user's: then what it does was chosen there.
        """
        running, callers = self._stack(), self._callers()
        level = len(running)
        made: Place | None = None
        while frame is not None and frame.f_code.co_filename != HOST:
            while level and frame is callers[level - 1]:
                level -= 1
                known = self._places.get(id(running[level]))
                if known and level == len(running) - 1:
                    made = place_of(known)
                if known and level and _composes(running[level - 1]):
                    return place_of(known), made
            code = frame.f_code
            found = None if self._code is None else self._code.origin(code.co_filename, frame.f_lineno)
            if found is not None:
                return found, made
            frame = frame.f_back
        others = (place_of(self._places[id(one)]) for one in reversed(running) if id(one) in self._places)
        return next(others, None), made

    def _stack(self) -> list[Layer]:
        found: list[Layer] = self._running.__dict__.setdefault("layers", [])
        return found

    def _callers(self) -> list[FrameType]:
        found: list[FrameType] = self._running.__dict__.setdefault("callers", [])
        return found

    def _frames(self, frame: FrameType) -> Sequence[Frame]:
        return () if self._code is None else self._code.stack(frame)

    def _remember(self, layer: Layer, parents: Sequence[Layer], frame: FrameType) -> None:
        """A call with Keras' placeholders puts a model together: its line says more than the call of that model."""
        if not parents:
            frames = self._frames(frame)
            if frames:
                self._places[id(layer)] = frames

    def _where(self, layer: Layer, parents: Sequence[Layer], frame: FrameType) -> Sequence[Frame]:
        composed = parents and _composes(parents[-1])
        frames = self._frames(frame)
        if composed or not frames:
            return self._places.get(id(layer)) or frames
        return frames

    def _path(self, layer: Layer, parents: Sequence[Layer]) -> str:
        known = self._paths.get(id(layer))
        if known is not None:
            return known
        steps = [parent for parent in parents if parent is not self.root]
        parent = parents[-1] if parents else self.root
        own = _step(parent, layer)
        wanted = own if not steps else self._path(steps[-1], parents[: _last(parents, steps[-1])]) + "/" + own
        path, number = wanted, 0
        while path in self._owners:
            number += 1
            path = f"{wanted}_{number}"
        self._owners[path] = id(layer)
        self._paths[id(layer)] = path
        self._layers.append(layer)  # so that no other object gets its identity
        return path


@contextlib.contextmanager
def recording_layers(heard: Heard, code: UserCode | None = None) -> Iterator[LayerCalls]:
    """Tell of every call of a layer at its end, the innermost first; calls with Keras' placeholders are left out.

    Tensors of TF1 graphs, of ``tf.function`` traces and of Keras' scratch graphs are told of: what belongs to which
    graph is for the listener to say.
    What the listener raises reaches the caller of the layer.

    The path of a layer is made of the attributes (``blocks/0/dense``) or, where a layer is no attribute of the one
    that calls it, of layer names; it is unique among the layers met in the body.
    """
    calls = LayerCalls(heard, code)
    with contextlib.ExitStack() as stack:
        for base in layer_bases():
            stack.enter_context(wrapped(base, "__call__", calls.heard_call))
            stack.enter_context(replaced(base, "__new__", _heard_new(base, calls)))
        yield calls


def layer_bases() -> list[type]:
    """The classes of layers that define ``__call__`` for all others, as far as they are loaded."""
    import tensorflow as tf

    finders: list[Callable[[], type]] = [
        lambda: tf.keras.layers.Layer,
        lambda: tf.compat.v1.keras.layers.Layer,
        lambda: tf.compat.v1.layers.Layer,  # migrate-lint: disable=TF410
        lambda: tf.layers.Layer,  # migrate-lint: disable=TF410
        lambda: sys.modules["keras"].layers.Layer,
        lambda: sys.modules["tf_keras"].layers.Layer,
    ]
    candidates = loaded(finders)
    for module in list(sys.modules):
        if module.endswith((".engine.base_layer_v1", ".legacy_tf_layers.base", ".python.layers.base")):
            candidates += [getattr(sys.modules[module], "Layer", object)]
    found: list[type] = []
    for candidate in candidates:
        for cls in getattr(candidate, "__mro__", ()):
            if cls.__name__ == "Layer" and "__call__" in vars(cls) and cls not in found:
                found.append(cls)
    return found


def _heard_new(base: type, calls: LayerCalls) -> Function:
    """``__new__``, not ``__init__``: Keras 3 makes a config of the arguments, by the signature of the constructor."""
    original: Function = base.__new__

    def construct(made: type, *args: object, **kwargs: object) -> Layer:
        layer = original(made) if original is object.__new__ else original(made, *args, **kwargs)
        calls.made(layer, sys._getframe(1))
        return layer

    return construct


def _is_symbolic(outputs: Nest) -> bool:
    """Whether there is a placeholder of Keras' functional models among the outputs, or a call that only infers."""
    for leaf in _leaves(outputs):
        if type(leaf).__name__ == "KerasTensor":
            return True
    scope = sys.modules.get("keras.src.backend.common.stateless_scope")
    return scope is not None and bool(scope.in_stateless_scope())


def _leaves(value: Nest) -> Iterator[Tensor]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _last(parents: Sequence[Layer], wanted: Layer) -> int:
    return max(index for index, parent in enumerate(parents) if parent is wanted)


def _step(parent: Layer, layer: Layer) -> str:
    """How a layer is called within the one that calls it."""
    name = _scope(layer) or str(getattr(layer, "name", "") or type(layer).__name__)
    if parent is None or parent is layer or is_own(type(parent)):
        return name
    for key, value in list(getattr(parent, "__dict__", {}).items()):
        if not key.startswith("_"):
            found = _within(value, layer, 3)
            if found is not None:
                return "/".join([key, *found])
    return name


def _scope(layer: Layer) -> str:
    """What a layer of TF1 has its variables in, whose own name counts from 1 where that of the scope counts from 0."""
    return str(getattr(getattr(layer, "_scope", None), "name", "")).rpartition("/")[2]


def _within(value: object, layer: Layer, depth: int) -> list[str] | None:
    """The keys that lead to a layer in lists and dicts; None where they do not hold it."""
    if value is layer:
        return []
    items: list[tuple[object, object]] = []
    if depth and isinstance(value, dict):
        items = list(value.items())
    elif depth and isinstance(value, (list, tuple)):
        items = list(enumerate(value))
    for key, item in items:
        found = _within(item, layer, depth - 1)
        if found is not None:
            return [str(key), *found]
    return None


def _composes(layer: Layer) -> bool:
    """Whether it is a model of Keras that calls what the user put together elsewhere."""
    return type(layer).__name__ in _BY_NAME and is_own(type(layer))


def is_own(cls: type) -> bool:
    """Whether a class is one of the library's."""
    return str(cls.__module__).partition(".")[0] in _KERAS
