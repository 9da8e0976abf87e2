"""The optimizers of Keras and of TF1, and where those of Keras are made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Reference, catches
from ...linter.rule_api.rewriting import (
    argument,
    has_comment,
    keyworded,
    with_argument,
    with_function,
    with_keywords,
    without_argument,
)
from ...linter.rule_api.rule import Applicability, Replacement
from ..checkpoints.assigned import assignments_to

if TYPE_CHECKING:
    import libcst

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
_EQUAL: dict[str, tuple[str, tuple[str, ...], dict[str, str], dict[str, str]]] = {
    "Adadelta": ("Adadelta", ("learning_rate", "rho", "epsilon"), {}, {"epsilon": "1e-8"}),
    "Adagrad": ("Adagrad", ("learning_rate", "initial_accumulator_value"), {}, {"epsilon": "0.0"}),
    "Adam": (
        "Adam",
        ("learning_rate", "beta1", "beta2", "epsilon"),
        {"beta1": "beta_1", "beta2": "beta_2"},
        {"epsilon": "1e-8"},
    ),
    "Ftrl": (
        "Ftrl",
        ("learning_rate", "learning_rate_power", "initial_accumulator_value", "l1_regularization_strength",
         "l2_regularization_strength"),
        {},
        {},
    ),
    "GradientDescent": ("SGD", ("learning_rate",), {}, {}),
    "Momentum": ("SGD", ("learning_rate", "momentum"), {"use_nesterov": "nesterov"}, {}),
}  # fmt: skip
"""The optimizers of Keras that take the same steps [run]: their classes, the parameters of TF1's up to `use_locking`,
what those are called there, and what has to be given that TF1's leave out."""
_AFTER = ("use_locking", "name", "use_nesterov")
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


def of_keras(node: libcst.Call, made: Call, reason: str) -> Replacement | None:
    """The optimizer of Keras that takes the steps of one of TF1, in its place; None where there is none for sure."""
    kind = made.name.removeprefix("tensorflow.train.").removesuffix("Optimizer")
    if kind not in _EQUAL or made.has_stars:
        return None
    name, own, renamed, added = _EQUAL[kind]
    parameters = (*own, *(_AFTER if kind == "Momentum" else _AFTER[:2]))
    written, new = made.importable(f"tensorflow.keras.optimizers.{name}"), keyworded(node, parameters, 1)
    if written is None or new is None or not set(made.keywords) <= set(parameters):
        return None
    if made.value("learning_rate", 0) is None and kind not in ("Adam", "Adadelta"):
        return None
    for place, parameter in enumerate(parameters):
        value = made.value(parameter, place)
        known = made.literal(parameter, place, default=False)
        if parameter in own and value is not None and not _is_number(made, value):
            return None
        if parameter not in own and not isinstance(known, str if parameter == "name" and value is not None else bool):
            return None
    for arg in new.args:
        if arg.keyword is not None and arg.keyword.value == "use_locking":
            if has_comment(*(new.args[-2:] if arg is new.args[-1] else [arg])):
                return None
            new = without_argument(new, arg)
    for parameter, default in added.items():
        if argument(new, parameter) is None:
            new = with_argument(new, parameter, default)
    return Replacement(with_keywords(with_function(new, written[0]), renamed), Applicability.UNSAFE, reason, written[1])


def _is_number(site: Call, node: ast.expr | None) -> bool:
    """Whether a value is a number, or a name that is given nothing but numbers."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    made = assignments_to(site, node) if isinstance(node, ast.Name) else []
    return bool(made) and all(isinstance(one.value, ast.Constant) and _is_number(site, one.value) for one in made)


def is_compiled(made: Call) -> bool:
    """Whether an optimizer is made where it is given to `compile`."""
    parent = made.file.parent_of(made.call)
    parent = made.file.parent_of(parent) if isinstance(parent, ast.keyword) else parent
    around = made.file.call_at(parent) if isinstance(parent, ast.Call) else None
    return around is not None and around.method == "compile" and around.value("optimizer", 0) is made.call


def only_applies(made: Call) -> bool:
    """Whether an optimizer has one name, of which `apply_gradients` is called with the gradients, and nothing else."""
    statement = made.statement
    if not isinstance(statement, ast.Assign) or statement.value is not made.call or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or len(assignments_to(made, target)) != 1:
        return False
    found = made.file.index.lookup(made.scope, target.id)
    for reference in made.file.references:
        path = reference.path or ""
        if path.partition(".")[0].partition("[")[0].partition("(")[0] != target.id:
            continue
        bound = made.file.index.lookup(reference.scope, target.id)
        if found is None or bound is None or bound[0] is not found[0]:
            continue
        call = made.file.call_at(_parent(reference))
        if call is None or call.call.func is not reference.syntax or call.path != f"{target.id}.apply_gradients":
            return False
        if not call.discarded or len(call.arguments) != 1 or call.has_stars:
            return False
    return True


def _parent(reference: Reference) -> ast.expr | None:
    parent = reference.file.parent_of(reference.syntax)
    return parent if isinstance(parent, ast.expr) else None
