"""What a TF1 graph tells of the settings of its layers."""

from __future__ import annotations

from typing import Callable, Iterator, Sequence

from ..format.draws import STEP
from ..format.rows import LayerRow, Place
from ..pairs import structures
from ..randomness.ledger import Draw
from ..tensors import Graph, Json, Layer, Nest, Operation, Tensor
from ..watching.operations import constant_of

__all__ = ["layers"]

_KINDS = ("BatchNormalization", "Dropout", "Activation", "ReLU", "LeakyReLU", "ELU", "PReLU", "Softmax")
_MASKS = ("Cast", "Select", "SelectV2")
"""What makes a mask of numbers of one of booleans, or takes it as one."""
_CONFIGURED = ("epsilon", "momentum", "rate", "alpha", "negative_slope")


def layers(
    graph: Graph,
    calls: Sequence[tuple[str, Layer, Nest]],
    draws: Sequence[Draw],
    made_at: Callable[[Layer], Place | None],
    place_of: Callable[[Operation], Place | None],
) -> list[LayerRow]:
    """Name, class and settings of what the same weights may come out of differently.

    Args:
        graph: a TF1 graph.
        calls: the layers that were called: path, layer, outputs.
        draws: of the ledger of the graph.
        made_at: tells the line that makes a layer.
        place_of: tells the line that makes an operation.
    """
    described = list(_of_calls(calls, made_at))
    within = tuple(_scope(leaf) for _, layer, out in calls if _is_one(layer) for _, leaf in structures.flat(out))
    within = tuple(scope for scope in within if scope)
    for operation in graph.get_operations():
        if operation.type.startswith("FusedBatchNorm") and "Grad" not in operation.type:
            if not operation.name.startswith(within):
                config = {"epsilon": round(float(operation.get_attr("epsilon")), 9)}
                described.append(_row(operation.name, "FusedBatchNorm", config, place_of(operation)))
        epsilon = None if operation.name.startswith(within) else _added(operation)
        if epsilon is not None:
            described.append(_row(operation.name, "FusedBatchNorm", {"epsilon": epsilon}, place_of(operation)))
    for draw in draws:
        operation = draw.operation
        rate = None if operation is None or draw.purpose != STEP else _dropped(operation)
        if rate is not None and not operation.name.startswith(within):
            name = operation.name.split("/random_uniform")[0]
            described.append(_row(name, "dropout", {"rate": rate}, place_of(operation)))
    return described


def _row(name: str, cls: str, config: dict[str, Json], place: Place | None) -> LayerRow:
    return {"name": name, "class": cls, "config": config, "place": None if place is None else list(place)}


def _of_calls(
    calls: Sequence[tuple[str, Layer, Nest]], made_at: Callable[[Layer], Place | None]
) -> Iterator[LayerRow]:
    seen: set[int] = set()
    for path, layer, _ in calls:
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        config: dict[str, Json] = {
            name: getattr(layer, name)
            for name in _CONFIGURED
            if _is_one(layer) and isinstance(getattr(layer, name, None), (int, float))
        }
        activation = getattr(getattr(layer, "activation", None), "__name__", "linear")
        if activation != "linear":
            config["activation"] = activation
        if config:
            yield _row(path, type(layer).__name__, config, made_at(layer))


def _is_one(layer: Layer) -> bool:
    """Whether it is a layer of Keras or of ``tf.compat.v1.layers`` whose settings are its attributes."""
    return any(cls.__name__ in _KINDS for cls in type(layer).__mro__)


def _scope(leaf: Tensor) -> str:
    """The scope that a layer made its output in, with a slash; empty where it has none of its own."""
    scope = str(getattr(getattr(leaf, "op", None), "name", "")).rpartition("/")[0]
    return scope + "/" if scope else ""


def _added(operation: Operation) -> float | None:
    """What ``tf.nn.batch_normalization`` adds to a variance of which it takes the root; None of another operation."""
    if operation.type != "Rsqrt" or "batchnorm" not in operation.name.split("/")[:-1]:
        return None
    added = operation.inputs[0].op
    value = constant_of(added.inputs[1]) if added.type in ("Add", "AddV2") else None
    return None if value is None or value.shape != () else round(float(value), 9)


def _dropped(operation: Operation) -> float | None:
    """The rate of a dropout: what its random numbers are compared with; None where they are for something else."""
    waiting = [operation]
    for _ in range(4):
        waiting = [consumer for one in waiting for out in one.outputs for consumer in out.consumers()]
        for one in waiting:
            if one.type in ("GreaterEqual", "Less", "Greater"):
                if not any(user.type in _MASKS for out in one.outputs for user in out.consumers()):
                    return None  # it chooses a branch, as a flip of images does
                value = constant_of(one.inputs[1])
                return None if value is None or value.shape != () else round(float(value), 7)
            if one.type == "Floor":  # tf.nn.dropout up to TF 1.12: floor(keep_prob + random)
                return None
    return None
