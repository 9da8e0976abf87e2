"""TF417: the `.value` of a dimension, which is a number now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...linter.rule_api.model import ITERATED, Assignment, Era, File, Known, Reference, Site
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .contexts import V2_OFF
from .signatures import is_tried

if TYPE_CHECKING:
    import libcst

_SHAPES = ("get_shape", "merge_with", "with_rank", "with_rank_at_least", "with_rank_at_most")
"""Methods that give a `TensorShape`."""
_OF_DIMENSIONS = ("assert_is_compatible_with", "is_compatible_with", "merge_with", "value")
_MENTIONED = re.compile(rf"\.\s*+(?:{'|'.join(_OF_DIMENSIONS)})\b")
"""Whether a text may ask a dimension for any of these."""
_ABSENT = frozenset({"AttributeError", "Exception", "BaseException"})
_KEEPING = (*V2_OFF, "tensorflow.disable_v2_tensorshape")
_DEEPEST = 6
"""Names that stand for one another."""


class _Shape(NamedTuple):
    """A place where the shape of something is read."""

    site: Site
    node: ast.Attribute | ast.Call
    tensor: ast.expr

    @property
    def is_method(self) -> bool:
        """Whether a method gives it."""
        return isinstance(self.node, ast.Call)

    @property
    def is_own(self) -> bool:
        """Whether that is a method of the project's own."""
        call = self.site.file.call_at(self.node)
        return call is not None and any(one.kind in ("class", "function") for one in call.found)


class DimensionValue(Rule):
    """A dimension of a shape is asked for its `.value`, and is a number or None.

    ## Why
    `x.shape[0]` was a `Dimension` in TF1 and is an int, or None, in TF2: `.value` raises AttributeError, in a graph and
    in eager execution.
    So do `merge_with`, `is_compatible_with` and `assert_is_compatible_with`.
    `x.shape.dims[0].value` still works, and `tf.compat.dimension_value(x.shape[0])` works with both.
    In a program that turns TF2's behaviour off it works as before, and nothing is said.

    ## Example
    ```python
    import tensorflow as tf

    x = tf.ones([2, 3])
    width = x.shape[1].value
    ```

    ## Fix
    ```python
    import tensorflow as tf

    x = tf.ones([2, 3])
    width = x.shape[1]
    ```

    ## Fix safety
    Safe where the shape surely is a tensor's, or the file is written for TF1: the number is what `.value` was.
    Unsafe where it only looks like one. The other methods of a dimension have no fix.

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2#tensorshape_api_behavior_changes
    - https://www.tensorflow.org/api_docs/python/tf/compat/dimension_value
    """

    code = "TF417"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """See `Rule.on_file`."""
        text = file.source.text
        if "shape" not in text or not _MENTIONED.search(text) or file.project.uses(*_KEEPING):
            return
        for fact in file.index.references:
            asked = _asked(file, fact.node)
            if asked is not None and (shapes := _of_asked(Site(file, asked, fact.scope, fact.block), asked)):
                yield from self._judge(file.reference_of(fact), asked, shapes)

    def _judge(self, site: Reference, asked: ast.Attribute, shapes: list[_Shape]) -> Iterator[Diagnostic]:
        """Judge a dimension by what the shapes are of."""
        if site.version_checked or is_tried(site, _ABSENT):
            return
        if any(shape.is_own for shape in shapes):
            return
        known = {shape.site.is_tensor(shape.tensor) for shape in shapes}
        is_likely = Known.LIKELY in known or any(shape.is_method for shape in shapes)
        if known <= {Known.TENSOR, Known.VARIABLE}:
            severity = Severity.ERROR
        elif is_likely or site.file.era in (Era.TF1, Era.MIXED):
            severity = Severity.WARNING
        else:
            return
        instead = "Leave `.value` out" if asked.attr == "value" else "Compare the numbers"
        yield self.report(
            site,
            f"A dimension of a shape is an int or None in TF2: `.{asked.attr}` raises AttributeError. {instead}.",
            severity,
        )

    def fixed_part(self, site: Reference) -> ast.expr | None:
        """The `.value` of the dimension."""
        assert isinstance(site.syntax, ast.expr)
        asked = _asked(site.file, site.syntax)
        return asked if asked is not None and asked.attr == "value" else None

    def fix(self, node: libcst.Attribute, site: Reference) -> Replacement | None:
        """Leave `.value` out."""
        asked = _asked(site.file, site.syntax)
        shapes = [] if asked is None else _of_asked(site, asked)
        item = node.value.with_changes(lpar=[*node.lpar, *node.value.lpar], rpar=[*node.value.rpar, *node.rpar])
        known = {shape.site.is_tensor(shape.tensor) for shape in shapes}
        if known <= {Known.TENSOR, Known.VARIABLE} or site.file.era is Era.TF1:
            return Replacement(item)
        return Replacement(item, Applicability.UNSAFE, "the shape may be that of something else")


def _asked(file: File, node: ast.AST) -> ast.Attribute | None:
    """What a dimension is asked for, where what is read may be the dimension, or what it is an item of."""
    while not (isinstance(node, ast.Attribute) and node.attr in _OF_DIMENSIONS):
        around = file.parent_of(node)
        is_called = isinstance(around, ast.Call) and isinstance(node, ast.Attribute) and node.attr in _SHAPES
        is_item = isinstance(around, ast.Subscript) and around.value is node
        if around is None or not (is_called or is_item or isinstance(around, ast.Attribute)):
            return None
        node = around
    return node if isinstance(node.ctx, ast.Load) else None


def _of_asked(site: Site, asked: ast.Attribute) -> list[_Shape]:
    """The shapes one of whose dimensions is asked; none where it may be something else."""
    return _shapes(site, asked.value, dimension=True, met={})


def _shapes(
    site: Site, node: ast.expr | None, *, dimension: bool, met: dict[tuple[int, bool], list[_Shape]], came: int = 0
) -> list[_Shape]:
    """The shapes one of which an expression surely is, or a part of; none where it may be something else.

    Args:
        site: where it stands.
        node: the expression.
        dimension: whether it is to be a dimension of such a shape, and not the shape.
        met: of the assignments that were followed, by their targets; one that stands for itself has none.
        came: how many names were followed to it.
    """
    if isinstance(node, ast.Subscript):
        kept = dimension is not isinstance(node.slice, ast.Slice)
        return _shapes(site, node.value, dimension=False, met=met, came=came) if kept else []
    if isinstance(node, ast.Attribute) and node.attr == "shape" and not dimension:
        return [_Shape(site, node, node.value)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SHAPES:
        return [] if dimension else [_Shape(site, node, node.func.value)]
    if not isinstance(node, ast.Name) or came > _DEEPEST:
        return []
    found: dict[int, _Shape] = {}
    for made in _made(site, node):
        key = id(made.node), dimension
        if key not in met:
            met[key] = []
            way, source = _unpacked(made)
            if made.value is not None:
                met[key] = _shapes(made, made.value, dimension=dimension, met=met, came=came + 1)
            elif dimension and len(way) == 1 and (way[0] is ITERATED or isinstance(way[0], int)):
                met[key] = _shapes(made, source, dimension=False, met=met, came=came + 1)
        if not met[key]:
            return []
        found.update({id(shape.node): shape for shape in met[key]})
    return list(found.values())


def _made(site: Site, name: ast.Name) -> list[Assignment]:
    """What gives a name its value; nothing where something else may."""
    home = site.file.index.lookup(site.scope, name.id)
    if home is None or name.id in home[0].parameters or home[0].kind == "class":
        return []
    made = site.reaching(name)
    return [] if any(one.augmented for one in made) else made


def _unpacked(made: Assignment) -> tuple[tuple[object, ...], ast.expr | None]:
    """What is unpacked or iterated, and the way to its part; ``enumerate`` and ``zip`` give elements of others."""
    way, source = made.way, made.source
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and way[:1] == (ITERATED,) and len(way) == 2:
        place = {"enumerate": {1: 0}, "zip": {at: at for at in range(len(source.args))}}.get(source.func.id, {})
        if way[1] in place and len(source.args) > place[way[1]]:
            return (ITERATED,), source.args[place[way[1]]]
    return way, source
