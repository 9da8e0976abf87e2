"""TF418: tensors and variables that are compared, looked up or used as keys, as objects."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Era, File, Known, Reference, is_none
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..checkpoints.assigned import assignments_to
from ..keras.variable_names import LISTS
from .contexts import GRAPHS, certainty
from .receivers import is_constant, known_of, made_eagerly
from .signatures import is_tried

if TYPE_CHECKING:
    import libcst

_DICTS = frozenset({"collections.OrderedDict", "collections.defaultdict", "dict"})
_FED = frozenset({"eval", "partial_run", "run"})
_OFF = ("tensorflow.disable_tensor_equality", "tensorflow.disable_v2_behavior")
_RAISED = frozenset({"TypeError", "ValueError", "Exception", "BaseException"})


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

    ## Fix safety
    Safe where a variable is compared with None: `is None` asks what `== None` did in TF1.
    The others have no fix: `.ref()` has to be taken wherever the same container is used.

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2#tensor_equality_by_value
    - https://www.tensorflow.org/api_docs/python/tf/Tensor#ref
    """

    code = "TF418"
    severity = Severity.WARNING
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL

    calls = ("frozenset", "hash", "set")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what is hashed by a function, or put into the set that one makes of a list."""
        if call.file.project.uses(*_OFF) or len(call.call.args) != 1 or call.name not in self.calls:
            return
        site = call.file.reference_at(call.call.args[0])
        if site is not None and (call.name == "hash" or _is_list(site, _expression(site))):
            yield from self._keyed(site)

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """Judge what is compared, or is a key, an element of a set or a subscript."""
        if file.project.uses(*_OFF):
            return
        for node in file.index.comparing:
            if isinstance(node, ast.Compare):
                site = file.reference_at(node.left) if len(node.ops) == 1 else None
                if site is not None:
                    yield from self._compared(site, node)
                continue
            for key in _hashed(node):
                site = file.reference_at(key)
                if site is not None and not (isinstance(node, ast.Subscript) and not _is_dict(site, node.value)):
                    yield from self._keyed(site, node)

    def _keyed(self, site: Reference, around: ast.expr | None = None) -> Iterator[Diagnostic]:
        node = _expression(site)
        severity = _severity(site)
        if severity is not None and not (around is not None and _is_fed(site, around)):
            what = "is a list of variables, which are" if _is_list(site, node) else "is"
            yield self.report(
                site,
                f"`{ast.unparse(node)}` {what} unhashable in TF2: this raises TypeError. Use `.ref()` as the key.",
                severity,
            )

    def _compared(self, site: Reference, node: ast.Compare) -> Iterator[Diagnostic]:
        """Judge a comparison that asks for an object: for None, for one in a list, for another variable."""
        operator, other = node.ops[0], node.comparators[0]
        if isinstance(operator, ast.In | ast.NotIn):
            if _is_dict(site, other):
                yield from self._keyed(site)
                return
            asks_for_object = not site.in_trace and _is_list(site, other)
        elif isinstance(operator, ast.Eq | ast.NotEq):
            asks_for_object = not site.in_trace and _is_other_variable(site, other)
        else:
            return
        if not (asks_for_object or is_none(other)) or known_of(site, _expression(site)) is not Known.VARIABLE:
            return
        severity = _severity(site)
        if severity is None:
            return
        if asks_for_object:
            yield self.report(
                site,
                f"`{ast.unparse(node)}` compares elements in TF2, and raises ValueError where there are several. Where "
                "the same object is meant, compare with `is`, or the `.ref()` of both.",
                Severity.INFO if severity is Severity.INFO else Severity.WARNING,
            )
        elif isinstance(operator, ast.Eq | ast.NotEq):
            word = "is" if isinstance(operator, ast.Eq) else "is not"
            yield self.report(
                site,
                f"`{ast.unparse(node)}` raises ValueError for a variable: write `{site.path} {word} None`.",
                severity,
            )

    def fixed_part(self, site: Reference) -> ast.expr | None:
        """The comparison with None."""
        around = site.file.parent_of(site.syntax)
        if not isinstance(around, ast.Compare) or around.left is not site.syntax or not is_none(around.comparators[0]):
            return None
        return around if len(around.ops) == 1 and isinstance(around.ops[0], ast.Eq | ast.NotEq) else None

    def fix(self, node: libcst.Comparison, site: Reference) -> Replacement | None:
        """Compare with None as an object."""
        import libcst

        (target,) = node.comparisons
        old = target.operator
        assert isinstance(old, libcst.Equal | libcst.NotEqual)
        kind = libcst.Is if isinstance(old, libcst.Equal) else libcst.IsNot
        space = libcst.SimpleWhitespace(" ")
        before, after = (one if not one.empty else space for one in (old.whitespace_before, old.whitespace_after))
        new = kind(whitespace_before=before, whitespace_after=after)
        return Replacement(node.with_changes(comparisons=[target.with_changes(operator=new)]))


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


def _hashed(node: ast.expr) -> list[ast.expr | None]:
    if isinstance(node, ast.Dict):
        return list(node.keys)
    if isinstance(node, ast.Set):
        return list(node.elts)
    if isinstance(node, ast.DictComp):
        return [node.key]
    return [node.elt if isinstance(node, ast.SetComp) else node.slice if isinstance(node, ast.Subscript) else None]


def _is_fed(site: Reference, node: ast.expr) -> bool:
    """Whether a dict, or an item of one, is given to a session, which TF401 speaks of: itself, or by its name."""
    if isinstance(node, ast.Dict):
        parent = site.file.parent_of(node)
        if not isinstance(parent, ast.Assign):
            return _is_given(site.file, node)
        held = parent.targets[0]
    else:
        held = node.value if isinstance(node, ast.Subscript) else node
    reads = site.file.references_by_function.get(site.scope.function().id, []) if isinstance(held, ast.Name) else []
    return any(one.path == ast.unparse(held) and _is_given(site.file, one.syntax) for one in reads)


def _is_given(file: File, node: ast.AST) -> bool:
    """Whether something is what a session is fed."""
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
        return node.attr in LISTS and known_of(site, node) is Known.VARIABLE
    if isinstance(node, ast.List | ast.Tuple | ast.ListComp):
        return known_of(site, node) is Known.VARIABLE
    made = assignments_to(site, node) if isinstance(node, ast.Name) else []
    return bool(made) and all(
        isinstance(one.value, ast.List | ast.ListComp | ast.Attribute)
        and one.is_tensor(one.value) is Known.VARIABLE
        and (not isinstance(one.value, ast.Attribute) or one.value.attr in LISTS)
        for one in made
    )


def _is_other_variable(site: Reference, other: ast.expr) -> bool:
    """Whether a condition of a TF1 program compares with another variable; one of TF2 may mean scalars."""
    if site.file.era not in (Era.TF1, Era.MIXED) or isinstance(other, ast.Constant) or is_constant(site, other):
        return False
    if known_of(site, other) is not Known.VARIABLE:
        return False
    node = site.file.parent_of(site.syntax)
    while isinstance(around := site.file.parent_of(node) if node is not None else None, ast.BoolOp | ast.UnaryOp):
        node = around
    return isinstance(around, ast.If | ast.While | ast.IfExp | ast.Assert | ast.comprehension)
