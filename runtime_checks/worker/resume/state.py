"""What training goes on from: weights, what optimizers keep, schedules, random generators, epochs, best metrics."""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ..recording.tensors import Optimizer, Variable
from ..recording.watching import averages, keras_optimizers
from .objects import Objects, raw
from .trace import First, State, digest, first

__all__ = ["States", "number_of"]

_UNREAD = object()
_COUNTERS = ("_train_counter", "_test_counter", "_predict_counter")
"""Variables of a Keras 2 model that nothing depends on."""


class States:
    """Reads the state of a program, of which the optimizers become known when they first make an update."""

    def __init__(
        self,
        objects: Objects,
        note: Callable[[str], None] = lambda text: None,
        known: Mapping[int, Sequence[str]] | None = None,
        likely: Sequence[int] = (),
    ) -> None:
        """Read it of these objects.

        Args:
            objects: what the program has made.
            note: gets sentences about what cannot be read.
            known: what the optimizers of the uninterrupted run were, by their numbers; see `owners`.
            likely: the numbers of those that make its next step.
        """
        self._objects = objects
        self._note = note
        self._known = known or {}
        self._likely = likely
        self.optimizers: dict[int, tuple[Optimizer, list[Variable]]] = {}
        """By their numbers, which are the same in a run that goes on, whichever of them is the first one there."""
        self.keys: dict[int, str] = {}
        """The keys of the state that was read last, by the identities of their variables."""
        self.firsts: dict[str, First] = {}
        """The first value of each variable of the state that was read last, by its key; as far as it was asked for."""

    def applied(self, optimizer: Optimizer, variables: Sequence[Variable]) -> None:
        """Hear that an optimizer updates these variables; those of TF1 make their slots only behind this."""
        for known, held in self.optimizers.values():
            if known is optimizer:
                held += [one for one in variables if all(one is not other for other in held)]
                break
        else:
            self.optimizers[self._number(optimizer, variables)] = optimizer, list(variables)
        if not keras_optimizers.is_keras(optimizer):
            with contextlib.suppress(Exception):
                optimizer._create_slots(list(variables))

    def _number(self, optimizer: Optimizer, variables: Sequence[Variable]) -> int:
        """That of the optimizer of the uninterrupted run which this one is most like, or the next one."""
        free = [at for at in sorted(self._known) if at not in self.optimizers]
        if not free:
            return next(at for at in itertools.count() if at not in self.optimizers and at not in self._known)
        cls, *weights = self._told(optimizer, variables)

        def likeness(at: int) -> tuple[bool, bool, bool]:
            known, *updated = self._known[at]
            return set(weights) <= set(updated), cls == known, at in self._likely

        return max(free, key=likeness)

    def owners(self) -> dict[int, list[str]]:
        """What tells the optimizers of a run from each other in another one: their classes, and what they update."""
        return {at: self._told(optimizer, weights) for at, (optimizer, weights) in self.optimizers.items()}

    def _told(self, optimizer: Optimizer, weights: Sequence[Variable]) -> list[str]:
        """The class of an optimizer, and of each variable the name, which of that name it is, and the shape."""
        counts: dict[str, int] = {}
        place = {}
        for variable in self._objects.of("variable"):
            name = _name(raw(variable))
            counts[name] = counts.get(name, 0) + 1
            place[id(raw(variable))] = counts[name]
        updated = [f"{_name(one)} {place.get(id(raw(one)), 0)} {tuple(one.shape)}" for one in weights]
        return [type(optimizer).__name__, *updated]

    def counts(self) -> dict[Any, Any]:
        """How often each optimizer made an update, or what its weights are where it does not count.

        And the loss scales, which move also where an update was left out, since its gradients were not finite.
        """
        found: dict[Any, Any] = {
            f"scale {number}": [number_of(_value(one)) for one in _scale(scaler)]
            for number, scaler in enumerate(self._objects.of("scaler"))
        }
        for at, (optimizer, weights) in self.optimizers.items():
            iterations = getattr(optimizer, "iterations", None)
            if iterations is None:
                found[at] = ["" if value is None else digest(value) for value in map(_read, weights)]
            else:
                found[at] = int(_value(iterations))
        return found

    def weights(self) -> dict[str, Any]:
        """The values of the variables of the model, by key."""
        found = {}
        for key, _, one in self._model():
            with contextlib.suppress(Exception):
                found[key] = _value(one)
        return found

    def read(self) -> State:
        """The state as it is now."""
        read: State = {}
        self.firsts = {}
        met: dict[int, str] = {}
        self.keys = met

        def add(kind: str, key: str, name: str, variable: Variable) -> None:
            variable = raw(variable)
            known = met.get(id(variable), "")
            if key.startswith("weight ") and known in read:  # another optimizer updates it, too
                read[key] = read[known]
            elif id(variable) not in met:
                met[id(variable)] = key
                value = _read(variable)
                # One that a traced function makes is read as an empty array until it has its value.
                whole = value is not None and np.shape(value) == tuple(variable.shape)
                if self._objects.firsts is not None and whole:
                    self.firsts[key] = self._objects.firsts.setdefault(id(variable), first(value))
                read[key] = [kind, name, "", None] if value is None else [kind, name, digest(value), number_of(value)]

        for key, name, one in self._model():
            add("model", key, name, one)
        for at, (optimizer, weights) in self.optimizers.items():
            named = type(optimizer).__name__
            for index, weight in enumerate(weights):
                for slot, variable in keras_optimizers.slots(optimizer, weight).items():
                    kind = "average" if slot == averages.SLOT else "slots"
                    add(kind, f"optimizer {at}/{index}/{slot}", f"{slot} of {_name(weight)}", variable)
            iterations = getattr(optimizer, "iterations", None)
            if iterations is not None:
                add("iterations", f"optimizer {at}/iterations", f"iterations of {named}", iterations)
            rate = _rate(optimizer)
            if rate is not None:
                text = "" if rate is _UNREAD else digest(number_of(rate) or rate)
                told = ["learning rate", f"learning rate of {named}", text, number_of(rate)]
                read[f"optimizer {at}/learning rate"] = told
            met.setdefault(id(raw(getattr(optimizer, "_learning_rate", None))), "")
            others = _others(optimizer)
            if others is None:
                read[f"optimizer {at}/own"] = ["slots", f"variables of {named}", "", None]
            for index, variable in enumerate(others or ()):
                if _is_plain(optimizer):
                    met.setdefault(id(raw(variable)), "")
                add("slots", f"optimizer {at}/own/{index}", _name(variable), variable)
        for scaler in self._objects.of("scaler"):
            for index, variable in enumerate(_scale(scaler)):
                add("loss scale", f"loss scale/{index}", f"loss scale, {_name(variable)}", variable)
        for number, average in enumerate(self._objects.of("average")):
            for index, variable in enumerate(average._averages.values()):
                add("average", f"average {number}/{index}", _name(variable), variable)
        for number, generator in enumerate(self._objects.of("generator")):
            add("generator", f"generator {number}", f"tf.random.Generator {number}", generator.state)
        passed = self._passed_over() | met.keys()
        counts: dict[str, int] = {}
        for variable in self._objects.of("variable"):
            if id(raw(variable)) not in passed and _is_readable(variable):
                name = _name(variable)
                counts[name] = counts.get(name, 0) + 1
                add("variable", f"variable {name} {counts[name]}", name, variable)
        read.update(self._remembered())
        return read

    def _model(self) -> list[tuple[str, str, Variable]]:
        """What optimizers train, and the other weights of layers that hold some of it."""
        found: list[tuple[str, str, Variable]] = []
        for at, (_, weights) in self.optimizers.items():
            found += [(f"weight {at}/{index}", _name(weight), weight) for index, weight in enumerate(weights)]
        trained = {id(raw(weight)) for _, _, weight in found}
        met = trained | self._passed_over()
        count = len(trained)
        for layer in self._objects.of("layer"):
            try:
                weights = list(layer.weights)
            except Exception:
                self._note(f"not compared: the weights of a layer {type(layer).__name__}, which cannot be read")
            else:
                if any(id(raw(one)) in trained for one in weights):
                    for one in weights:
                        if id(raw(one)) not in met:
                            met.add(id(raw(one)))
                            found.append((f"layers/{count}", _name(one), one))
                            count += 1
        return found

    def _passed_over(self) -> set[int]:
        """What begins anew by its nature: metrics, the streams of layers, counters that nothing reads."""
        met: set[int] = set()
        for metric in self._objects.of("metric"):
            with contextlib.suppress(Exception):
                met.update(id(raw(one)) for one in metric.variables)
        for own in self._objects.of("own"):
            with contextlib.suppress(Exception):
                met.add(id(raw(own.state)))
        for checkpoint in self._objects.of("checkpoint"):
            met.add(id(raw(getattr(checkpoint, "_save_counter", None))))
        for layer in self._objects.of("layer"):
            met.update(id(raw(vars(layer)[name])) for name in _COUNTERS if name in vars(layer))
        return met

    def _remembered(self) -> State:
        """What lives in Python: the epoch of ``fit``, its callbacks, and the generators of the whole process."""
        read: State = {
            "process random": ["process", "Python's random", digest(repr(random.getstate())), None],
            "process numpy": ["process", "numpy's random", digest(repr(np.random.get_state())), None],
        }
        if self._objects.epoch is not None:
            epoch = int(self._objects.epoch)
            read["epoch"] = ["epoch", "epoch of fit", digest(epoch), epoch]
        for at, callback in enumerate(self._objects.callbacks):
            cls: Any = type(callback)
            private = _private(cls)
            for name, value in list(vars(callback).items()):
                if name in private:
                    continue
                if value is None or _is_plain_number(value):
                    number = None if value is None else number_of(value)
                    told = f"{type(callback).__name__}.{name}"
                    read[f"callback {at}/{name}"] = ["callback", told, digest(repr(number)), number]
        return read


def _rate(optimizer: Optimizer) -> Any:
    """The learning rate; None where an optimizer has none, `_UNREAD` where it cannot be read."""
    try:
        found = keras_optimizers.learning_rate(optimizer)
        return found if found is None else np.asarray(found)
    except Exception:
        return _UNREAD


def _others(optimizer: Optimizer) -> list[Variable] | None:
    """All variables of an optimizer: of one that has more than slots, such as a product of what it scaled by, too.

    None where they cannot be read.
    """
    try:
        found = getattr(optimizer, "variables", ())
        return [one for one in (found() if callable(found) else found) if hasattr(raw(one), "read_value")]
    except Exception:
        return None


def _read(variable: Variable) -> Any:
    """Its value; None where it has none yet, as within the function that makes it, or cannot be read."""
    try:
        return _value(variable)
    except Exception:
        return None


@functools.lru_cache(maxsize=None)
def _private(cls: Any) -> frozenset[str]:
    """What methods of Keras name with an underscore: where they are in an epoch, which begins anew."""
    known = [base for base in cls.__mro__ if base.__module__.partition(".")[0] in ("keras", "tf_keras", "tensorflow")]
    codes = [getattr(member, "__code__", None) for base in known for member in vars(base).values()]
    return frozenset(name for code in codes if code for name in code.co_names if name.startswith("_"))


def _is_plain_number(value: Any) -> bool:
    if isinstance(value, (bool, int, float, np.generic)):
        return number_of(value) is not None
    return hasattr(value, "dtype") and getattr(value, "shape", None) == () and number_of(value) is not None


def _is_plain(optimizer: Optimizer) -> bool:
    """Whether nothing that an optimizer writes into its slots matters, as in plain gradient descent of Keras 2."""
    return any(cls.__name__ == "SGD" for cls in type(optimizer).__mro__) and number_of(optimizer.momentum) == 0


def _scale(scaler: Any) -> list[Variable]:
    """The variables of a dynamic loss scale: of Keras 3, or of Keras 2."""
    found = [getattr(scaler, name, None) for name in ("dynamic_scale", "step_counter")]
    inner = getattr(scaler, "_loss_scale", None)
    found += [getattr(inner, name, None) for name in ("_current_loss_scale", "_num_good_steps", "_counter")]
    return [one for one in found if hasattr(one, "assign")]


def _is_readable(variable: Variable) -> bool:
    return getattr(raw(variable), "_in_graph_mode", False) is False


def _value(variable: Variable) -> Any:
    return raw(variable).read_value().numpy()


def _name(variable: Variable) -> str:
    return str(getattr(variable, "path", None) or getattr(variable, "name", "") or "variable").partition(":")[0]


def number_of(value: Any) -> Any:
    """A number that JSON can hold, of an array or tensor of one element; None of anything else."""
    try:
        array = np.asarray(value)
        if array.size != 1 or array.dtype.kind not in "iufb":
            return None
        number = array.reshape(-1)[0].item()
    except Exception:
        return None
    return number if abs(number) < float("inf") else repr(number)
