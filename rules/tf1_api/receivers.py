"""What a receiver is, and whether it was made eagerly: of `x` in `x.eval()`, of `self.loss` in `self.loss.name`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...linter.rule_api.model import Assignment, Known, Site, is_none, path_of, value_of
from ..checkpoints.assigned import assignments_to
from .contexts import is_only_traced

_DEEP = 8
"""Names that are made of names."""
_TENSORS = frozenset({Known.TENSOR, Known.VARIABLE})
_OF_OTHERS = ("tensorflow.placeholder", "tensorflow.sparse")
"""Functions that raise in eager execution, and what gives sparse tensors."""
_ASSIGNING = ("assign", "assign_add", "assign_sub")
"""Methods that give the variable that they assign."""
_LAYERS = ("keras.layers.", "keras.losses.", "keras.metrics.", "keras.Sequential")


def known_of(site: Site, node: ast.expr | None) -> Known:
    """What is known of an expression at a site; of an attribute or an outer name, what all its assignments say."""
    known = site.is_tensor(node)
    if known is not Known.UNKNOWN:
        return known
    call = site.file.call_at(node)
    if call is not None and call.method in _ASSIGNING and known_of(site, call.receiver) is Known.VARIABLE:
        return Known.VARIABLE
    made = assignments_to(site, node)
    if not made:
        return Known.UNKNOWN
    kept: dict[int, Known] = site.file.once("what is assigned", dict)
    key = id(made[0].node)
    if key not in kept:
        kept[key] = _known_by(made)
    return kept[key]


def _known_by(made: list[Assignment]) -> Known:
    values = {one.is_tensor(one.value) for one in made if not is_none(one.value)}
    if len(values) == 1:
        return values.pop()
    return Known.TENSOR if values and values <= _TENSORS else Known.UNKNOWN


def made_eagerly(site: Site, node: ast.expr | None, open_: frozenset[str] = frozenset()) -> bool | None:
    """Whether a value is surely made in eager execution; False where a graph or trace made it, None if not known."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.BinOp):
        return _all(made_eagerly(site, part, open_) for part in (node.left, node.right))
    if isinstance(node, ast.List | ast.Tuple):
        return _all(made_eagerly(site, part, open_) for part in node.elts)
    if isinstance(node, ast.UnaryOp):
        return made_eagerly(site, node.operand, open_)
    if isinstance(node, ast.Subscript):
        return made_eagerly(site, node.value, open_)
    if isinstance(node, ast.Call):
        return _called(site, node, open_)
    if isinstance(node, ast.Name | ast.Attribute):
        return _named(site, node, open_)
    return None


def _all(parts: Iterable[bool | None]) -> bool | None:
    found = set(parts)
    return False if False in found else None if None in found else True


def _named(site: Site, node: ast.Name | ast.Attribute, open_: frozenset[str]) -> bool | None:
    made = assignments_to(site, node)
    path = path_of(node) or ""
    if not made:
        return True if is_constant(site, node) else None
    if path in open_:
        return True
    if len(open_) > _DEEP:
        return None
    return _all(_is_eager(one) and made_eagerly(one, one.value, open_ | {path}) for one in made)


def is_constant(site: Site, node: ast.expr) -> bool:
    """Whether it is a public name such as `tf.float32` or `np.pi`."""
    names = site.names_of(node)
    return bool(names) and all("(" not in one.canonical for one in names)


def _is_eager(site: Site) -> bool:
    return not site.in_graph and not is_only_traced(site)


def _called(site: Site, node: ast.Call, open_: frozenset[str]) -> bool | None:
    call = site.file.call_at(node)
    if call is None:
        return None
    if not _is_eager(call):
        return False
    parts = [one.value if isinstance(one, ast.Starred) else one for one in call.arguments]
    names = [one.canonical for one in call.names]
    if not names and call.receiver is not None and all(one.kind == "parameter" for one in call.found):
        parts.append(call.receiver)  # a method of what may be a tensor
    elif not names or not all(map(_gives_values, names)):
        return None
    return _all(made_eagerly(site, part, open_) for part in parts)


def _gives_values(name: str) -> bool:
    """Whether a public function makes values of what it is given, and of nothing else."""
    if name.startswith("numpy."):
        return True
    if name.startswith(_LAYERS):
        return name.endswith("()")
    if name.startswith(_OF_OTHERS):
        return False
    return name.startswith("tensorflow.") and value_of(f"{name}()") in _TENSORS
