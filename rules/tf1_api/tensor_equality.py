"""TF418: tensors and variables that are compared, looked up or used as keys, as objects."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Era, File, Known, Reference, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..checkpoints.assigned import assignments_to
from .contexts import GRAPHS, certainty
from .receivers import known_of, made_eagerly
from .signatures import is_tried

_LISTS = frozenset(
    {
        "non_trainable_variables", "non_trainable_weights", "trainable_variables", "trainable_weights", "variables",
        "weights",
    }
)  # fmt: skip
_DICTS = frozenset({"collections.OrderedDict", "collections.defaultdict", "dict"})
_HASHING = frozenset({"frozenset", "hash", "set"})
_FED = frozenset({"eval", "partial_run", "run"})
_OFF = ("tensorflow.disable_tensor_equality", "tensorflow.disable_v2_behavior")
_RAISED = frozenset({"TypeError", "ValueError", "Exception", "BaseException"})
_WATCHED = ast.Dict | ast.DictComp | ast.Set | ast.SetComp | ast.Subscript | ast.Compare | ast.Call


class TensorEquality(Rule):
    """A tensor or variable is used as an object with an identity: as a key, in `in`, or in a comparison.

    ## Why
    `==` of tensors and variables compared objects in TF1, and compares their elements in TF2.
    They are unhashable since: `{v: 1}`, `d[v]` and `set(variables)` raise TypeError.
    `v in variables` and `if v == w` raise ValueError where there is more than one element, and are true of any equal
    value where there is one.
    `v == None` raises ValueError for a variable; for a tensor it still is False, and not reported.
    KerasTensors, sparse tensors, and what is made in a `tf.Graph` keep the old meaning, and nothing is said.

    ## Example
    ```python
    import tensorflow as tf

    v = tf.Variable([1.0, 2.0])
    rates = {v: 0.1}
    ```

    ## Fix
    ```python
    import tensorflow as tf

    v = tf.Variable([1.0, 2.0])
    rates = {v.ref(): 0.1}
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2#tensor_equality_by_value
    - https://www.tensorflow.org/api_docs/python/tf/Tensor#ref
    """

    code = "TF418"
    severity = Severity.WARNING
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """Judge what is read by what is done with it."""
        if file.project.uses(*_OFF):
            return
        for fact in file.index.references:
            parent = file.parent_of(fact.node)
            if not isinstance(parent, _WATCHED):
                continue
            site = file.reference_of(fact)
            if isinstance(parent, ast.Compare):
                yield from self._compared(site, parent)
            elif _is_key(site, parent):
                yield from self._keyed(site)

    def _keyed(self, site: Reference) -> Iterator[Diagnostic]:
        node = _expression(site)
        severity = _severity(site)
        if severity is not None:
            what = "is a list of variables, which are" if _is_list(site, node) else "is"
            yield self.report(
                site,
                f"`{ast.unparse(node)}` {what} unhashable in TF2: this raises TypeError. Use `.ref()` as the key.",
                severity,
            )

    def _compared(self, site: Reference, node: ast.Compare) -> Iterator[Diagnostic]:
        """Judge a comparison that asks for an object: for None, for one in a list, for another variable."""
        operator, other, text = node.ops[0], node.comparators[0], ast.unparse(node)
        if node.left is not site.syntax or len(node.ops) > 1:
            return
        is_equality = isinstance(operator, ast.Eq | ast.NotEq)
        if not is_equality and isinstance(operator, ast.In | ast.NotIn) and _is_dict(site, other):
            yield from self._keyed(site)
            return
        severity = _severity(site) if known_of(site, _expression(site)) is Known.VARIABLE else None
        if severity is None:
            return
        if is_equality and is_none(other):
            word = "is" if isinstance(operator, ast.Eq) else "is not"
            yield self.report(
                site, f"`{text}` raises ValueError for a variable: write `{site.path} {word} None`.", severity
            )
        elif not site.in_trace and (
            _is_list(site, other) if not is_equality else _is_other_variable(site, other)
        ):
            yield self.report(
                site,
                f"`{text}` compares elements in TF2, and raises ValueError where there are several. Where the same "
                "object is meant, compare with `is`, or the `.ref()` of both.",
                Severity.INFO if severity is Severity.INFO else Severity.WARNING,
            )


def _expression(site: Reference) -> ast.expr:
    assert isinstance(site.syntax, ast.expr)
    return site.syntax


def _severity(site: Reference) -> Severity | None:
    """How sure it is that what is read is a tensor or variable that TF2 compares by value."""
    node = _expression(site)
    known = known_of(site, node)
    if known not in (Known.TENSOR, Known.VARIABLE) or site.version_checked or is_tried(site, _RAISED):
        return None
    eager = made_eagerly(site, node)
    if eager is False or (eager is None and known is Known.TENSOR):
        return None
    severity = certainty(site)
    if severity is not None and eager is None and site.file.project.uses(*GRAPHS):
        return Severity.INFO
    return severity


def _is_key(site: Reference, parent: ast.AST) -> bool:
    """Whether what is read is hashed: as a key, in a set, or by a function that makes one of it."""
    node, file = _expression(site), site.file
    if isinstance(parent, ast.Dict):
        return id(node) in file.once("keys of dicts", lambda: _dict_keys(file)) and not _is_fed(file, parent)
    if isinstance(parent, ast.DictComp):
        return parent.key is node
    if isinstance(parent, ast.Set):
        return True
    if isinstance(parent, ast.SetComp):
        return parent.elt is node
    if isinstance(parent, ast.Subscript):
        return parent.slice is node and _is_dict(site, parent.value)
    call = file.call_at(parent) if isinstance(parent, ast.Call) else None
    if call is None or call.name not in _HASHING or call.call.args != [node]:
        return False
    return call.name == "hash" or _is_list(site, node)


def _dict_keys(file: File) -> frozenset[int]:
    """The identities of the expressions that are keys of dicts."""
    dicts = (node for node in ast.walk(file.index.module.node) if isinstance(node, ast.Dict))
    return frozenset(id(key) for node in dicts for key in node.keys)


def _is_fed(file: File, node: ast.Dict) -> bool:
    """Whether a dict is given to a session, which TF401 speaks of."""
    parent = file.parent_of(node)
    if isinstance(parent, ast.keyword):
        return parent.arg == "feed_dict"
    call = file.call_at(parent) if isinstance(parent, ast.Call) else None
    return call is not None and call.method in _FED


def _is_dict(site: Reference, node: ast.expr) -> bool:
    """Whether an expression surely is a plain dict."""
    if isinstance(node, ast.Dict | ast.DictComp):
        return True
    if isinstance(node, ast.Call):
        call = site.file.call_at(node)
        return call is not None and call.name in _DICTS
    made = assignments_to(site, node)
    return bool(made) and all(
        isinstance(one.value, ast.Dict | ast.DictComp | ast.Call) and _is_dict(site, one.value) for one in made
    )


def _is_list(site: Reference, node: ast.expr) -> bool:
    """Whether an expression surely is a list of variables."""
    if isinstance(node, ast.Attribute):
        return node.attr in _LISTS and known_of(site, node) is Known.VARIABLE
    if isinstance(node, ast.List | ast.Tuple | ast.ListComp):
        return known_of(site, node) is Known.VARIABLE
    made = assignments_to(site, node) if isinstance(node, ast.Name) else []
    return bool(made) and all(
        isinstance(one.value, ast.List | ast.ListComp | ast.Attribute)
        and one.is_tensor(one.value) is Known.VARIABLE
        and (not isinstance(one.value, ast.Attribute) or one.value.attr in _LISTS)
        for one in made
    )


def _is_other_variable(site: Reference, other: ast.expr) -> bool:
    """Whether a condition of a TF1 program compares with another variable; one of TF2 may mean scalars."""
    if site.file.era not in (Era.TF1, Era.MIXED) or known_of(site, other) is not Known.VARIABLE:
        return False
    node = site.file.parent_of(site.syntax)
    while isinstance(around := site.file.parent_of(node) if node is not None else None, ast.BoolOp | ast.UnaryOp):
        node = around
    return isinstance(around, ast.If | ast.While | ast.IfExp | ast.Assert | ast.comprehension)
