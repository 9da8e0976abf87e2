"""The variables of a TF2 model: which there are, what they are called, and who made them where."""

from __future__ import annotations

import contextlib
import sys
import types
from types import FrameType
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

import numpy as np

from ...frames import UserCode, place_of
from ...hooks.variables import library, stack_of
from ...patching import definer, wrapped
from ...scopes import creations, keras_class
from ...tracking import identities
from ..format.rows import Place, VariableRow
from ..tensors import Array, Function, Json, Layer, Variable
from ..values import constraints, fills
from ..watching import averages
from ..watching.constructions import made_at

__all__ = ["Creation", "Variables", "assign", "dtype_of", "made_by", "name_of", "shape_of", "value_of"]

_UNNAMED = ("Variable", "variable")
_DEPTH = 8
_LEAVES = (str, bytes, int, float, type, types.ModuleType)
_INITIALIZED_BY = ("add_weight", "_add_variable_with_custom_getter", "get_variable", "_get_single_variable")
_PURPOSES = (("optimizer", "slot"), ("metric", "metric"), ("seed", "seed"), ("counter", "counter"))
_COUNTERS = (
    "iteration", "iter", "global_step", "learning_rate", "current_learning_rate", "step", "beta_1_power",
    "beta_2_power", "current_loss_scale", "good_steps"
)


Initializer = Any
"""A name, a function or an object of Keras or TensorFlow."""
Regularizer = Any
"""An object of Keras, a function, or None."""


class Creation(NamedTuple):
    """A variable that came into being while somebody watched.

    `purpose` is ``slot``, ``metric``, ``seed``, ``counter``, or empty for a weight; `regularizer` is the line that
    makes what regularizes it, or the variable's own where that is not known.
    """

    variable: Variable
    place: Place | None
    purpose: str
    initializer: str | None
    layer: str | None
    regularizer: Place | None


class Variables:
    """The variables of one model, named as a person would find them.

    Args:
        code: tells the user's files.
        counters: the names of what counts steps on TF1, and is no variable of its model.
        weights: the names of the variables of its model.

    Attributes:
        root: the model, once there is one.
    """

    def __init__(self, code: UserCode, counters: Iterable[str] = (), weights: Iterable[str] = ()) -> None:
        self._counters = {_last(name) for name in counters}
        self._weights_of_tf1 = {_last(name) for name in weights}
        self.root: Layer = None
        self.created: list[Creation] = []
        self._code = code
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()
        self._named = 0
        self._kept: list[Variable] = []
        self._averages: dict[int, averages.Average] = {}
        self._before: dict[int, tuple[Variable, Array]] | None = None

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Hear of every variable that is made in the body, and of those that average others."""
        with creations(self._heard), averages.watching(self._averaged):
            yield

    def _averaged(self, average: averages.Average) -> None:
        if hasattr(average.source, "assign"):
            self._averages[id(average.variable)] = average

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        """An average that is what it averages still is so after the body, which assigns to that."""
        pairs = [(one.variable, one.source) for one in self._averages.values()]
        alike = [pair for pair in pairs if np.array_equal(*map(value_of, pair))]
        yield
        for average, source in alike:
            assign(average, value_of(source))

    def belong(self, root: Layer, loaded: int) -> None:
        """Say which model they belong to.

        Args:
            root: the model.
            loaded: how many were made as its file was loaded; what other models there made is forgotten.
        """
        self.root = root
        if hasattr(type(root), "weights") or hasattr(type(root), "variables"):
            own = {number for variable in self._tracked() or () for number in identities(variable)} | set(self._paths())
            early = [one for one in self.created[:loaded] if one.purpose or identities(one.variable) & own]
            self.created[:loaded] = early

    def _heard(self, variable: Variable) -> None:
        self.created.append(made_by(variable, self._code))
        if self._before is not None:
            self._remember(variable)

    @contextlib.contextmanager
    def undone(self, late: bool = False) -> Iterator[list[Variable]]:
        """Put back what the body does to variables that are not trained: statistics, counters, states of generators.

        Gives a list, which holds behind the body what was put back.

        Args:
            late: whether those count that the body makes and that get their value behind that, as where Keras 3 calls a
                model for the first time. Of a model that is called on, these may say that it has met its data.
        """
        self._before = {}
        for variable in [one.variable for one in self.created] + (self._tracked() or []):
            self._remember(variable)
        keras_variable = keras_class() if late else None
        changed: list[Variable] = []
        try:
            with contextlib.ExitStack() as stack:
                if keras_variable is not None and hasattr(keras_variable, "_deferred_initialize"):
                    owner = definer(keras_variable, "_deferred_initialize")
                    stack.enter_context(wrapped(owner, "_deferred_initialize", self._initializing))
                yield changed
        finally:
            before, self._before = self._before, None
            for variable, value in before.values():
                if not np.array_equal(value_of(variable), value):
                    assign(variable, value)
                    changed.append(variable)

    def _initializing(self, original: Function) -> Function:
        def initialize(variable: Variable) -> None:
            original(variable)
            self._remember(variable)

        return initialize

    def _remember(self, variable: Variable) -> None:
        if getattr(variable, "trainable", False) or self._before is None:
            return
        with contextlib.suppress(Exception):  # it has no value yet
            self._before[id(variable)] = (variable, value_of(variable))

    def weights(self) -> list[tuple[str, Variable]]:
        """The variables of the model by name, in the order of creation; without metrics, slots, counters and seeds.

        Of something that has no notion of its variables, those that it made.
        """
        return [(self.name(variable), variable) for variable, _ in self._weights()]

    def nudge(self, policy: str | None = None) -> None:
        """Move each weight by about one unit in the last place, of 16 bits where a policy of Keras computes in them."""
        for name, variable in self.weights():
            value = fills.nudged(name, value_of(variable), policy and policy.partition("_")[2])
            if value is not None:
                assign(variable, value)

    def rows(self) -> list[VariableRow]:
        """The same as data; also what was created and is not tracked by the model."""
        trained = self._trained()
        found = [self._row(variable, creation, True) for variable, creation in self._weights()]
        for row, (variable, _) in zip(found, self._weights()):
            row["trainable"] = row["trainable"] and (trained is None or bool(identities(variable) & trained))
        return found + [self._row(one.variable, one, False) for one in self._untracked()]

    def other_rows(self) -> list[VariableRow]:
        """What was created besides: slots, counters, seeds and metrics, with their ``purpose``."""
        own = {number for variable, _ in self._weights() for number in identities(variable)}
        own |= {number for one in self._untracked() for number in identities(one.variable)}
        tracked = {number for variable in self._tracked() or () for number in identities(variable)}
        found = _first_parts(self.created, own)
        rows = [(one, self._row(one.variable, one, bool(identities(one.variable) & tracked))) for one in found]
        return [{**row, "purpose": one.purpose or "counter"} for one, row in rows]

    def _weights(self) -> list[tuple[Variable, Creation | None]]:
        purposes = {number: one for one in self.created for number in identities(one.variable)}
        tracked = self._tracked()
        if tracked is None:
            return [(one.variable, one) for one in self.created if not one.purpose and not _is_counter(one.variable)]
        order = {id(one): at for at, one in enumerate(self.created)}
        found: list[tuple[int, Variable, Creation | None]] = []
        for variable in tracked:
            creation = next((purposes[number] for number in identities(variable) if number in purposes), None)
            if creation is None or creation.purpose not in ("metric", "seed"):
                found.append((len(order) if creation is None else order[id(creation)], variable, creation))
        found.sort(key=lambda one: one[0])
        counting = set(map(id, self._counting([variable for _, variable, _ in found])))
        return [(variable, creation) for _, variable, creation in found if id(variable) not in counting]

    def _counting(self, tracked: Sequence[Variable]) -> list[Variable]:
        """What the model keeps to count steps where TF1 has a variable beside its model, by name or as the only one."""
        own = [one for one in tracked if _is_counter(one) and not getattr(one, "trainable", False)]
        own = [one for one in own if _last(self.name(one)) not in self._weights_of_tf1]
        named = [one for one in own if _last(self.name(one)) in self._counters]
        return named or (own if len(own) == len(self._counters) == 1 else [])

    def _tracked(self) -> list[Variable] | None:
        """The variables that the model knows of, each once; None if it has no notion of its variables."""
        for attribute in sorted(("weights", "variables"), key=lambda one: not hasattr(type(self.root), one)):
            with contextlib.suppress(AttributeError, ValueError):  # ValueError: Keras 2, not built
                found = getattr(self.root, attribute)
                if isinstance(found, (list, tuple)) and all(hasattr(one, "shape") for one in found):
                    return _once(found)
        return None

    def _trained(self) -> set[int] | None:
        """The variables that the model trains; in Keras 2 those of a frozen layer are trainable and not among them.

        None if the model does not say.
        """
        with contextlib.suppress(AttributeError, ValueError):
            found = self.root.trainable_variables
            if not callable(found):
                return {number for variable in found for number in identities(variable)}
        return None

    def _untracked(self) -> list[Creation]:
        tracked = self._tracked()
        if tracked is None:
            return []
        known = {number for variable in tracked for number in identities(variable)}
        found = [one for one in self.created if not one.purpose and not _is_counter(one.variable)]
        return list(_first_parts(found, known))

    def _row(self, variable: Variable, creation: Creation | None, tracked: bool) -> VariableRow:
        place = None if creation is None or creation.place is None else list(creation.place)
        row: VariableRow = {
            "name": self.name(variable),
            "shape": list(shape_of(variable)),
            "dtype": dtype_of(variable),
            "trainable": bool(getattr(variable, "trainable", False)),
            "tracked": tracked,
            "place": place,
            "initializer": None if creation is None else creation.initializer,
            "layer": None if creation is None else creation.layer,
        }
        constrained = constraints.effect(variable)
        if constrained is not None:
            row["constraint"] = constrained
        if creation is not None and creation.regularizer is not None:
            row["regularizer"] = list(creation.regularizer)
        return row

    def name(self, variable: Variable) -> str:
        """The variable's own name without ``:0``, or where that says nothing, its attribute path; always unique.

        Keras 3 variables go by their path.
        """
        known = self._known(variable)
        if known is None:
            self._name_created()
            known = self._known(variable)
        return self._give(variable) if known is None else known

    def _known(self, variable: Variable) -> str | None:
        return next((self._names[number] for number in identities(variable) if number in self._names), None)

    def _name_created(self) -> None:
        """In the order of creation, so that a model that is made anew gets the same names."""
        while self._named < len(self.created):
            variable = self.created[self._named].variable
            self._named += 1
            if self._known(variable) is None:
                self._give(variable)

    def _paths(self) -> dict[int, str]:
        found: dict[int, str] = {}
        _walk(self.root, "", found, set(), _DEPTH)
        return found

    def _give(self, variable: Variable) -> str:
        wanted = name_of(variable)
        if wanted in self._taken or wanted.rstrip("0123456789").rstrip("_") in _UNNAMED:
            paths = self._paths()
            path = next((paths[number] for number in identities(variable) if number in paths), None)
            wanted = wanted if path is None or path in self._taken else path
        name, number = wanted, 0
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        self._kept.append(variable)
        for identity in identities(variable):
            self._names[identity] = name
        return name


def made_by(variable: Variable, code: UserCode) -> Creation:
    """Describe a variable that is being made, from the stack of the caller."""
    place = place_of(code.stack())
    stack = stack_of(sys._getframe(1))
    words = library(stack)
    purpose = next((purpose for word, purpose in _PURPOSES if word in words), "")
    if purpose == "slot" and name_of(variable).rsplit("/", 1)[-1].rstrip("0123456789").rstrip("_") in _COUNTERS:
        purpose = "counter"
    initializer, layer, regularizer = _made_with(stack)
    regularized = None if regularizer is None else made_at(regularizer) or place
    return Creation(variable, place, purpose, initializer, layer, regularized)


def _made_with(stack: Sequence[FrameType]) -> tuple[str | None, str | None, Regularizer]:
    """The initializer, the name of the layer, and the regularizer, in the frame that adds a weight."""
    initializer = layer = regularizer = None
    for frame in stack:
        if frame.f_code.co_name in _INITIALIZED_BY:
            one = frame.f_locals.get("initializer")
            if initializer is None and one is not None:
                initializer = _described(one)
            regularizer = frame.f_locals.get("regularizer") if regularizer is None else regularizer
            owner = frame.f_locals.get("self")
            if layer is None and owner is not None and hasattr(owner, "call"):
                layer = str(getattr(owner, "name", ""))
    return initializer, layer, regularizer


def _described(initializer: Initializer) -> str:
    if isinstance(initializer, str):
        return initializer
    name = getattr(initializer, "__name__", None) or type(initializer).__name__
    config: dict[str, Json] = {}
    with contextlib.suppress(Exception):
        config = {key: value for key, value in initializer.get_config().items() if isinstance(value, (int, float, str))}
    told = ", ".join(f"{key}={value}" for key, value in config.items() if key not in ("seed", "dtype"))
    return f"{name}({told})" if told else str(name)


def name_of(variable: Variable) -> str:
    """A variable's own name without ``:0``; the path of one of Keras 3."""
    text = str(getattr(variable, "path", None) or getattr(variable, "name", "") or "Variable")
    return text[:-2] if text.endswith(":0") else text


def value_of(variable: Variable) -> Array:
    """The value as an array."""
    read = getattr(variable, "numpy", None)
    return np.asarray(variable if read is None else read())


def shape_of(variable: Variable) -> tuple[int, ...]:
    """The shape, all sizes known."""
    return tuple(int(size) for size in variable.shape)


def dtype_of(variable: Variable) -> str:
    """The name of the dtype."""
    return str(getattr(variable.dtype, "name", variable.dtype))


def assign(variable: Variable, value: Array) -> None:
    """Give a variable a value of its shape; the dtype is that of the variable."""
    import tensorflow as tf

    variable.assign(tf.cast(tf.convert_to_tensor(value), dtype_of(variable)))


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _is_counter(variable: Variable) -> bool:
    """Whether it is a scalar that is not floating, and not trained."""
    return not tuple(variable.shape) and "float" not in dtype_of(variable)


def _once(variables: Iterable[Variable]) -> list[Variable]:
    found: list[Variable] = []
    met: set[int] = set()
    for variable in variables:
        if not identities(variable) & met:
            met |= identities(variable)
            found.append(variable)
    return found


def _first_parts(created: Iterable[Creation], known: set[int]) -> Iterator[Creation]:
    """Those of variables that are not known, each once: under a strategy a variable has a part for each replica."""
    met = set(known)
    for one in created:
        own = identities(one.variable)
        if not own & met:
            yield one
        met |= own


def _walk(value: object, path: str, found: dict[int, str], seen: set[int], depth: int) -> None:
    """The attribute paths of the variables in an object, its lists and dicts, and what those hold; no module's."""
    if id(value) in seen or depth < 0 or value is None or isinstance(value, _LEAVES):
        return
    seen.add(id(value))
    if _assignable(value):
        for number in identities(value):
            found.setdefault(number, path)
        return
    for key, part in _parts(value):
        _walk(part, f"{path}/{key}" if path else key, found, seen, depth - 1)


def _assignable(value: object) -> bool:
    """Whether it is like a variable; a stand-in for a module that is not installed raises when it is asked."""
    try:
        return hasattr(value, "assign") and hasattr(value, "shape")
    except Exception:
        return False


def _parts(value: object) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [(str(key), part) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return [(str(at), part) for at, part in enumerate(value)]
    try:
        if callable(getattr(value, "numpy", None)) or not hasattr(value, "__dict__"):
            return []
    except Exception:
        return []
    return [(key, part) for key, part in vars(value).items() if not key.startswith("_")]
