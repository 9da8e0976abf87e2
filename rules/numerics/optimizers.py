"""The optimizers of Keras and of TF1, and where those of Keras are made."""

from __future__ import annotations

import ast

from ...linter.rule_api.model import Call, catches

NAMES = (
    "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lion", "Nadam", "RMSprop", "SGD",
)  # fmt: skip
KERAS = tuple(f"{module}.{name}" for module in ("keras.optimizers", "tensorflow.optimizers") for name in NAMES)
V1 = tuple(
    f"tensorflow.train.{name}Optimizer"
    for name in (
        "Adadelta", "Adagrad", "AdagradDA", "Adam", "Ftrl", "GradientDescent", "Momentum", "ProximalAdagrad",
        "ProximalGradientDescent", "RMSProp", "SyncReplicas",
    )
)  # fmt: skip
_REFUSALS = frozenset({"Exception", "BaseException", "TypeError", "ValueError"})


def kind_of(call: Call) -> str:
    """Which optimizer of Keras a call surely makes, ``Adam``, or an empty text; not one that stands by for another."""
    if call.version_checked or any(entity.kind != "external" for entity in call.found):
        return ""
    found = {name.canonical for name in call.names}
    kinds = {name.rpartition(".")[2] for name in found}
    if len(kinds) != 1 or not found <= set(KERAS):
        return ""
    for block in call.block.chain():
        if block.kind == "except":
            return ""
        if block.kind == "try" and isinstance(block.node, ast.Try):
            if any(catches(handler, _REFUSALS) for handler in block.node.handlers):
                return ""
    return kinds.pop()
