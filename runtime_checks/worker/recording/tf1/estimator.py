"""What stands for ``tf.estimator`` where TensorFlow has none: the two classes that a ``model_fn`` needs."""

from __future__ import annotations

import contextlib
import sys
from typing import Callable, Iterator, NamedTuple

from ...patching import replaced
from ..tensors import Module, Nest, Operation, Tensor

__all__ = ["EstimatorSpec", "ModeKeys", "public_modules", "standing_in"]

_OWNERS = ("tensorflow", "tensorflow.compat.v1", "tensorflow._api.v2.compat.v1")


class ModeKeys:
    """The modes that a ``model_fn`` is called in."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class EstimatorSpec(NamedTuple):
    """What a ``model_fn`` returns, with the fields of TensorFlow's class; nothing is checked."""

    mode: str
    predictions: Nest = None
    loss: Tensor = None
    train_op: Operation = None
    eval_metric_ops: Nest = None
    export_outputs: Nest = None
    training_chief_hooks: Nest = None
    training_hooks: Nest = None
    scaffold: Nest = None
    evaluation_hooks: Nest = None
    prediction_hooks: Nest = None


class _Estimator:
    """Says that it is there when something is asked of it."""

    def __init__(self, heard: Callable[[], None]) -> None:
        self._heard = heard

    def __getattr__(self, name: str) -> object:
        known = {"ModeKeys": ModeKeys, "EstimatorSpec": EstimatorSpec}
        if name.startswith("__") or name not in known:
            raise AttributeError(
                f"this TensorFlow has no tf.estimator; what stands for it has ModeKeys and EstimatorSpec, but no {name}"
            )
        self._heard()
        return known[name]


@contextlib.contextmanager
def standing_in(adapted: Callable[[str], None]) -> Iterator[None]:
    """Where ``tf.estimator`` is missing, put a stand-in there in the body, and say so when the program reads it."""
    import tensorflow as tf

    def heard() -> None:
        adapted(f"TensorFlow {tf.__version__} has no tf.estimator: ModeKeys and EstimatorSpec are stand-ins")

    stand_in = _Estimator(heard)
    with contextlib.ExitStack() as stack:
        for module in [one for one in public_modules() if not _has_estimator(one)]:
            stack.enter_context(replaced(module, "estimator", stand_in))
        yield


def public_modules() -> list[Module]:
    """The modules in which a TF1 program finds TensorFlow's names."""
    import tensorflow as tf

    found: list[Module] = []
    for module in [tf, tf.compat.v1, *(sys.modules.get(name) for name in _OWNERS)]:
        if module is not None and not any(module is other for other in found):
            found.append(module)
    return found


def _has_estimator(module: Module) -> bool:
    if isinstance(vars(module).get("estimator"), _Estimator):
        return True
    try:
        module.estimator.ModeKeys  # noqa: B018  (a lazy loader is asked to load)
    except (AttributeError, ImportError):
        return False
    return True
