"""What users' functions return: nested tensors, tensors with endpoints, ``EstimatorSpec`` and its like."""

from __future__ import annotations

import contextlib
from typing import Callable, Iterator, Mapping, NamedTuple, Sequence

from ..tensors import Nest, Operation, Tensor
from .mapping import plain

__all__ = ["Results", "closed_over", "flat", "mapped", "parts_of", "results", "step_results"]

_COMPOSITES = {
    "SparseTensor": ("indices", "values", "dense_shape"),
    "SparseTensorValue": ("indices", "values", "dense_shape"),
    "RaggedTensor": ("flat_values", "nested_row_splits"),
    "RaggedTensorValue": ("flat_values", "nested_row_splits"),
    "IndexedSlices": ("indices", "values"),
    "IndexedSlicesValue": ("indices", "values"),
}
_SPEC_FIELDS = ("predictions", "loss", "train_op")


class Results(NamedTuple):
    """What a function gave back, told apart; what it did not give is None or empty."""

    outputs: Nest = None
    endpoints: dict[str, Tensor] = {}  # noqa: RUF012 - never written to
    """Tensors by name, nested ones by path."""
    loss: Tensor = None
    train_op: Operation = None
    metrics: dict[str, Tensor] = {}  # noqa: RUF012
    """As they were given: a tensor, a ``(value, update)`` pair or a metric object by name."""
    learning_rate: Tensor = None
    gradients: dict[str, Tensor] | None = None
    """By variable name, or None."""
    taps: dict[str, Tensor] = {}  # noqa: RUF012
    """Tensors by name, nested ones by path."""
    feeds: Sequence[tuple[Tensor, Nest]] = ()
    """Placeholders of the program, each with what it is fed."""


def flat(value: Nest, single: str = "output") -> list[tuple[str, Tensor]]:
    """The leaves of nested tuples, lists and mappings with their paths, ``a/0``; None is left out.

    A lone leaf, also as the only element of a list or tuple, is called `single`. Named tuples give their fields.
    Sparse and ragged tensors are taken apart into their components.
    """
    while isinstance(value, (list, tuple)) and not hasattr(value, "_fields") and len(value) == 1:
        value = value[0]
    return [(path or single, leaf) for path, leaf in _leaves(value, "")]


def results(value: Nest) -> Results:
    """Tell apart what a function that builds a forward pass returned.

    That is a structure of tensors, a pair of such a structure and a dict of endpoints, or anything that has the
    fields of ``EstimatorSpec``: at least two of predictions, loss and train_op.
    """
    if _is_spec(value):
        return _of_spec(value)
    if isinstance(value, tuple) and not hasattr(value, "_fields") and len(value) == 2:
        outputs, endpoints = value
        named = isinstance(endpoints, Mapping) and all(isinstance(key, str) for key in endpoints)
        if named and not isinstance(outputs, Mapping):
            return Results(outputs=outputs, endpoints=_tensors(endpoints))
    return Results(outputs=value)


def step_results(value: Nest) -> Results:
    """Tell apart what a training step returned: the loss, a dict with ``loss`` and metrics, a `Spec`, or nothing."""
    if _is_spec(value):
        return _of_spec(value)
    if isinstance(value, Mapping):
        named = {str(key): leaf for key, leaf in value.items()}
        loss = named.pop("loss", None)
        return Results(loss=loss, metrics=named)
    if isinstance(value, (list, tuple)) and value:
        rest = value[1] if len(value) == 2 and isinstance(value[1], Mapping) else None
        if rest is not None:
            return Results(loss=value[0], metrics={str(key): leaf for key, leaf in rest.items()})
        return Results(loss=value[0], metrics={str(at): leaf for at, leaf in enumerate(value[1:], 1)})
    return Results(loss=value)


def mapped(value: Nest, change: Callable[[Tensor], Tensor]) -> Nest:
    """The structure with every leaf changed, in the order of `flat`; None stays."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {key: mapped(part, change) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(part, change) for part in value))
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(part, change) for part in value)
    return change(value)


def closed_over(function: object) -> list[object]:
    """What a function holds in its closure."""
    found: list[object] = []
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # an empty cell
            found.append(cell.cell_contents)
    return [one for one in found if one is not None]


def _leaves(value: Nest, path: str) -> Iterator[tuple[str, Tensor]]:
    parts = _parts(value)
    if parts is None:
        if value is not None:
            yield path, value
        return
    for key, part in parts:
        yield from _leaves(part, f"{path}/{key}" if path else str(key))


def _parts(value: Nest) -> list[tuple[object, Nest]] | None:
    """What a structure consists of; None for a leaf."""
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return [(field, getattr(value, field)) for field in fields]
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    names = parts_of(value)
    return [(name, getattr(value, name)) for name in names if hasattr(value, name)] if names else None


def parts_of(value: object) -> Sequence[str]:
    """The attributes that a sparse or ragged tensor, or the value of one, is made of; none for anything else."""
    found = (_COMPOSITES[base.__name__] for base in type(value).__mro__ if base.__name__ in _COMPOSITES)
    return next(found, ())


def _is_spec(value: object) -> bool:
    if isinstance(value, (type, Mapping)) or value is None or hasattr(value, "call"):
        return False
    return sum(hasattr(value, field) for field in _SPEC_FIELDS) >= 2


def _of_spec(value: object) -> Results:
    metrics = getattr(value, "eval_metric_ops", None)
    return Results(
        outputs=getattr(value, "predictions", None),
        endpoints=_tensors(getattr(value, "endpoints", None) or {}),
        loss=getattr(value, "loss", None),
        train_op=getattr(value, "train_op", None),
        metrics={str(key): metric for key, metric in (metrics or {}).items()},
        learning_rate=getattr(value, "learning_rate", None),
        gradients=_gradients(getattr(value, "gradients", None)),
        taps=_tensors(getattr(value, "taps", None) or {}),
        feeds=tuple((getattr(value, "feeds", None) or {}).items()),
    )


def _gradients(value: Nest) -> dict[str, Tensor] | None:
    """By variable name, also from pairs of gradient and variable as ``compute_gradients`` gives them."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {plain(str(key)): gradient for key, gradient in value.items() if gradient is not None}
    return {plain(str(variable.name)): gradient for gradient, variable in value if gradient is not None}


def _tensors(named: Mapping[str, Nest]) -> dict[str, Tensor]:
    """Of nested tensors by name, those that are tensors or numbers."""
    return {path: leaf for path, leaf in _leaves(named, "") if _is_tensor(leaf)}


def _is_tensor(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex)) or (hasattr(value, "dtype") and hasattr(value, "shape"))
