"""Which variables a model knows of, which of them its calls use, and who made them."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, NamedTuple

from .creation import made_through
from .recorder import Event
from .run import Run, StaticFinding

__all__ = [
    "Made", "identities", "is_frozen", "is_optimized", "known_to", "made_at", "read_in_traces", "resources",
    "tracked", "variables_in",
]  # fmt: skip

_DEPTH = 6
_KERAS = ("keras", "tf_keras")


class Made(NamedTuple):
    """A variable that exists, and the ``variable`` event of its creation, or None where that was not seen."""

    variable: Any
    event: Event | None

    @property
    def described(self) -> str:
        """Name, shape and dtype."""
        dtype = getattr(self.variable.dtype, "name", str(self.variable.dtype))
        return f"`{self.variable.name}` (shape {self.variable.shape}, {dtype})"


def identities(variable: Any) -> set[int]:
    """The identities of a variable and of the variables that it wraps.

    A Keras 3 variable has a ``tf.Variable``, one of mixed precision in Keras 2 another one, a distributed variable one
    for each replica, each of which is the same variable.
    """
    found = {id(variable)}
    for name in ("_value", "_variable", "_v"):
        inner = getattr(variable, name, None)
        if inner is not None and not callable(inner):
            found |= identities(inner)
    for part in (variable, _whole(variable)):
        found |= {id(part), *map(id, _parts(part))} if part is not None else set()
    return found


def resources(variable: Any) -> list[Any]:
    """The ``tf.Variable`` that has the value and a handle; of a distributed variable those of the replicas here."""
    inner = getattr(variable, "_value", None)  # of Keras 3
    parts = _parts(variable) or _parts(inner)
    found = list(parts) or [variable if hasattr(variable, "handle") else inner]
    return [one for one in found if getattr(one, "handle", None) is not None]


def _whole(variable: Any) -> Any:
    """The distributed variable that a variable is a part of, which its handle leads to; None where it is no part."""
    for holder in (variable, getattr(variable, "_handle", None)):
        found = getattr(holder, "_distributed_container", None)
        if callable(found):
            return found()
    return None


def _parts(variable: Any) -> tuple[Any, ...]:
    values = getattr(variable, "_values", None)
    return tuple(values) if isinstance(values, (tuple, list)) else ()


def tracked(model: Any) -> set[int] | None:
    """The identities of the variables that the model knows of; None if it has no notion of its variables."""
    variables = known_to(model)
    return None if variables is None else _all_identities(variables)


def known_to(model: Any) -> list[Any] | None:
    """The variables that the model knows of; None if it has no notion of its variables."""
    try:
        variables = model.variables
    except AttributeError:
        return None
    except ValueError:  # Keras 2, where it, or a model in it, has not been built
        return list(_kept_by_parts(model))
    return None if callable(variables) else list(variables)


def _kept_by_parts(model: Any) -> Iterator[Any]:
    """The variables that each layer of a model of Keras 2 keeps itself, which it tells only when all are built."""
    for layer in (model, *getattr(model, "submodules", ())):
        for name in ("_trainable_weights", "_non_trainable_weights"):
            yield from getattr(layer, name, ())


def _all_identities(variables: Iterable[Any]) -> set[int]:
    found: set[int] = set()
    for variable in variables:
        found |= identities(variable)
    return found


def read_in_traces(run: Run) -> dict[int, Event]:
    """The ``read`` events of the traced calls, by the identity of the variable: eager reads are not all heard."""
    found: dict[int, Event] = {}
    for event in run.events("read"):
        if event.phase.kind == "call" and event.phase.traced and event.subject() is not None:
            for identity in identities(event.subject()):
                found.setdefault(identity, event)
    return found


def is_optimized(run: Run, variable: Any) -> bool:
    """Whether an optimizer that the program made was given the variable: it is trained, whoever keeps it."""
    numbers, key = identities(variable), getattr(variable, "_unique_id", None)
    for event in run.events("stateful"):
        optimizer = event.subject()
        given = getattr(optimizer, "_trainable_variables", None)  # Keras 3
        if isinstance(given, (list, tuple)) and numbers & _all_identities(given):
            return True
        if key is not None and key in (getattr(optimizer, "_index_dict", None) or ()):  # Keras 2
            return True
    return False


def is_frozen(made: Made) -> bool:
    """Whether it is not to be trained: by itself, or because the layer that made it was frozen or keeps it aside."""
    if not getattr(made.variable, "trainable", True):
        return True
    owners = [] if made.event is None else [owner.subject() for owner in made.event.detail["owners"]]
    if any(getattr(owner, "trainable", True) is False for owner in owners):
        return True
    return bool(owners) and _keeps_aside(owners[0], made.variable)


def _keeps_aside(layer: Any, variable: Any) -> bool:
    """Whether a layer of Keras does not count its variable among its own: the states of a recurrent one in Keras 2."""
    if type(layer).__module__.partition(".")[0] not in _KERAS:
        return False
    own = tracked(layer)
    return own is not None and not identities(variable) & own


def made_at(finding: StaticFinding, run: Run) -> list[Made]:
    """The living variables that the finding's statement made, itself, by what it calls or by layers that it made."""
    made = [event for event in run.events("variable") if made_through(finding, event)]
    return [Made(event.subject(), event) for event in made if event.subject() is not None]


def variables_in(value: Any, run: Run) -> list[Made]:
    """The variables in a value: of layers, of containers of any kind and of the attributes of plain objects."""
    events: dict[int, Event] = {}
    for event in run.events("variable"):
        if event.subject() is not None:
            for identity in identities(event.subject()):
                events[identity] = event
    found: dict[int, Made] = {}
    for variable in _variables(value, set(), _DEPTH):
        event_of = next((events[i] for i in identities(variable) if i in events), None)
        found.setdefault(id(variable), Made(variable, event_of))
    return list(found.values())


def _variables(value: Any, seen: set[int], depth: int) -> Iterator[Any]:
    if id(value) in seen or depth < 0 or isinstance(value, (str, bytes, int, float, type)):
        return
    seen.add(id(value))
    if is_variable(value):
        yield value
        return
    own = getattr(value, "variables", None)
    if isinstance(own, (list, tuple)):
        yield from own
        return
    for part in _members(value):
        yield from _variables(part, seen, depth - 1)


def is_variable(value: Any) -> bool:
    """Whether it is a variable, of TensorFlow or of Keras."""
    return hasattr(value, "assign") and hasattr(value, "trainable") and hasattr(value, "shape")


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    module = type(value).__module__.partition(".")[0]
    if module in ("builtins", "numpy", "tensorflow", "keras", "tf_keras"):
        return []
    return list(getattr(value, "__dict__", {}).values())
