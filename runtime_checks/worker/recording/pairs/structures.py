"""What users' functions return: nested tensors, tensors with endpoints, ``EstimatorSpec`` and its like."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, NamedTuple

from .mapping import plain

__all__ = ["Results", "flat", "results", "step_results"]

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

    outputs: Any = None
    endpoints: dict[str, Any] = {}  # noqa: RUF012 - never written to
    """Tensors by name, nested ones by path."""
    loss: Any = None
    train_op: Any = None
    metrics: dict[str, Any] = {}  # noqa: RUF012
    """As they were given: a tensor, a ``(value, update)`` pair or a metric object by name."""
    learning_rate: Any = None
    gradients: Any = None
    """By variable name, or None."""
    taps: dict[str, Any] = {}  # noqa: RUF012
    """Tensors by name, nested ones by path."""


def flat(value: Any, single: str = "output") -> list[tuple[str, Any]]:
    """The leaves of nested tuples, lists and mappings with their paths, ``a/0``; None is left out.

    A lone leaf, also as the only element of a list or tuple, is called `single`. Named tuples give their fields.
    Sparse and ragged tensors are taken apart into their components.
    """
    while isinstance(value, (list, tuple)) and not hasattr(value, "_fields") and len(value) == 1:
        value = value[0]
    return [(path or single, leaf) for path, leaf in _leaves(value, "")]


def results(value: Any) -> Results:
    """Tell apart what a function that builds a forward pass returned.

    That is a structure of tensors, a pair of such a structure and a dict of endpoints, or anything that has the
    fields of ``EstimatorSpec``: at least two of predictions, loss and train_op.
    """
    if _is_spec(value):
        return _of_spec(value)
    if isinstance(value, tuple) and not hasattr(value, "_fields") and len(value) == 2:
        outputs, endpoints = value
        if _is_mapping(endpoints) and not _is_mapping(outputs) and all(isinstance(key, str) for key in endpoints):
            return Results(outputs=outputs, endpoints=_tensors(endpoints))
    return Results(outputs=value)


def step_results(value: Any) -> Results:
    """Tell apart what a training step returned: the loss, a dict with ``loss`` and metrics, a `Spec`, or nothing."""
    if _is_spec(value):
        return _of_spec(value)
    if _is_mapping(value):
        named = {str(key): leaf for key, leaf in value.items()}
        loss = named.pop("loss", None)
        return Results(loss=loss, metrics=named)
    if isinstance(value, (list, tuple)) and value:
        rest = value[1] if len(value) == 2 and _is_mapping(value[1]) else None
        if rest is not None:
            return Results(loss=value[0], metrics={str(key): leaf for key, leaf in rest.items()})
        return Results(loss=value[0], metrics={str(at): leaf for at, leaf in enumerate(value[1:], 1)})
    return Results(loss=value)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    parts = _parts(value)
    if parts is None:
        if value is not None:
            yield path, value
        return
    for key, part in parts:
        yield from _leaves(part, f"{path}/{key}" if path else str(key))


def _parts(value: Any) -> list[tuple[Any, Any]] | None:
    """What a structure consists of; None for a leaf."""
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return [(field, getattr(value, field)) for field in fields]
    if _is_mapping(value):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    for base in type(value).__mro__:
        if base.__name__ in _COMPOSITES:
            return [(name, getattr(value, name)) for name in _COMPOSITES[base.__name__] if hasattr(value, name)]
    return None


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_spec(value: Any) -> bool:
    if isinstance(value, (type, Mapping)) or value is None or hasattr(value, "call"):
        return False
    return sum(hasattr(value, field) for field in _SPEC_FIELDS) >= 2


def _of_spec(value: Any) -> Results:
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
    )


def _gradients(value: Any) -> Any:
    """By variable name, also from pairs of gradient and variable as ``compute_gradients`` gives them."""
    if value is None:
        return None
    if _is_mapping(value):
        return {plain(str(key)): gradient for key, gradient in value.items() if gradient is not None}
    return {plain(str(variable.name)): gradient for gradient, variable in value if gradient is not None}


def _tensors(named: Mapping[str, Any]) -> dict[str, Any]:
    """Of nested tensors by name, those that are tensors or numbers."""
    return {path: leaf for path, leaf in _leaves(named, "") if _is_tensor(leaf)}


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) or (hasattr(value, "dtype") and hasattr(value, "shape"))
