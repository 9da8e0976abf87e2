"""How a rule's fix changes a call: libcst nodes in, libcst nodes out.

libcst takes a tenth of a second to import, which a run that fixes nothing need not wait for: each function imports it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst

    from .model import Call

__all__ = [
    "argument",
    "call_in",
    "comments_of",
    "decorated",
    "expression",
    "has_comment",
    "keyworded",
    "operand",
    "text_of",
    "with_argument",
    "with_function",
    "with_imports",
    "with_keywords",
    "with_last",
    "without_argument",
]


def text_of(node: libcst.CSTNode) -> str:
    """A node as it is written."""
    import libcst

    return libcst.Module([]).code_for_node(node)


def expression(text: str) -> libcst.BaseExpression:
    """An expression in Python as a node."""
    import libcst

    return libcst.parse_expression(text)


def comments_of(*nodes: libcst.CSTNode) -> Iterator[str]:
    """The comments within some nodes, and in the blanks that belong to them."""
    import libcst

    for node in nodes:
        if isinstance(node, libcst.Comment):
            yield node.value
        yield from comments_of(*node.children)


def has_comment(*nodes: libcst.CSTNode) -> bool:
    """Whether a comment stands within some nodes, or in the blanks that belong to them."""
    return any(True for _ in comments_of(*nodes))


def operand(node: libcst.BaseExpression) -> libcst.BaseExpression:
    """An expression as it can stand beside any operator, or before a dot: in parentheses, unless it needs none."""
    import libcst

    atoms = (
        libcst.Attribute, libcst.Call, libcst.Float, libcst.Integer, libcst.Name, libcst.Subscript, libcst.List,
        libcst.Dict, libcst.SimpleString,
    )  # fmt: skip
    if isinstance(node, atoms) or node.lpar:
        return node
    return node.with_changes(lpar=[libcst.LeftParen()], rpar=[libcst.RightParen()])


def argument(call: libcst.Call, keyword: str, position: int | None = None) -> libcst.Arg | None:
    """An argument by its keyword, or else by its position; None where it is not given, or may hide behind a star."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg
    for number, arg in enumerate(call.args):
        if arg.star or arg.keyword is not None:
            return None
        if number == position:
            return arg
    return None


def call_in(node: libcst.CSTNode, around: ast.AST, site: Call) -> libcst.Call | None:
    """The node of a call in that of a statement around it; None where they do not have the same calls.

    libcst does not know where its nodes are: it is the one of the same text, and the same number among these.
    """
    import libcst
    from libcst import matchers

    words = site.text.split()  # the indentation of a part is not told
    same = [one for one in matchers.findall(node, matchers.Call()) if text_of(one).split() == words]
    calls = [one for one in ast.walk(around) if isinstance(one, ast.Call) and site.at(one).text.split() == words]
    if len(same) != len(calls):
        return None
    found = same[sorted(calls, key=lambda one: (one.lineno, one.col_offset)).index(site.call)]
    return found if isinstance(found, libcst.Call) else None


def decorated(function: libcst.FunctionDef, path: str) -> libcst.FunctionDef:
    """A function with one more decorator, above those that it has."""
    import libcst

    added = libcst.Decorator(expression(path))
    if function.decorators:
        return function.with_changes(decorators=[added, *function.decorators])
    return function.with_changes(decorators=[added], lines_after_decorators=[])


def with_function(call: libcst.Call, path: str) -> libcst.Call:
    """A call of something else with the same arguments."""
    return call.with_changes(func=expression(path))


def with_keywords(call: libcst.Call, names: Mapping[str, str]) -> libcst.Call:
    """A call in which the keywords that are keys of `names` have other names."""
    import libcst

    args = [
        arg.with_changes(keyword=libcst.Name(names[arg.keyword.value]))
        if arg.keyword is not None and arg.keyword.value in names
        else arg
        for arg in call.args
    ]
    return call.with_changes(args=args)


def keyworded(call: libcst.Call, parameters: Sequence[str], start: int = 0) -> libcst.Call | None:
    """A call whose positional arguments, from number `start` on, are given by keyword.

    None where there are more of them than `parameters`, which are all from the first on, or where stars hide some.
    """
    import libcst

    args = []
    for number, arg in enumerate(call.args):
        if arg.star:
            return None
        if arg.keyword is not None or number < start:
            args.append(arg)
        elif number < len(parameters):
            args.append(arg.with_changes(keyword=libcst.Name(parameters[number]), equal=_equal()))
        else:
            return None
    return call.with_changes(args=args)


def with_argument(
    call: libcst.Call, keyword: str, value: libcst.BaseExpression | str, at: libcst.Arg | None = None
) -> libcst.Call:
    """A call that is given `value` by keyword: in place of the argument `at` or of that keyword, or else at its end."""
    import libcst

    node = expression(value) if isinstance(value, str) else value
    equal = _equal()
    old = at or next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == keyword), None)
    if old is not None:
        new = old.with_changes(keyword=libcst.Name(keyword), equal=old.equal if old.keyword else equal, value=node)
        return call.with_changes(args=[new if arg is old else arg for arg in call.args])
    return with_last(call, libcst.Arg(node, libcst.Name(keyword), equal=equal))


def with_last(call: libcst.Call, added: libcst.Arg) -> libcst.Call:
    """A call with one more argument at its end."""
    import libcst

    none = libcst.SimpleWhitespace("")
    if not call.args:
        return call.with_changes(args=[added])
    last = call.args[-1]
    before = call.args[-2].comma if len(call.args) > 1 else None
    gap = before if isinstance(before, libcst.Comma) else _comma()
    if isinstance(last.comma, libcst.Comma):  # a trailing comma stays one
        args = [last.with_changes(comma=gap), added.with_changes(comma=last.comma)]
    else:
        args = [
            last.with_changes(comma=gap, whitespace_after_arg=none),
            added.with_changes(whitespace_after_arg=last.whitespace_after_arg),
        ]
    return call.with_changes(args=[*call.args[:-1], *args])


def with_imports(
    node: libcst.CSTNode, moved: Mapping[str, str]
) -> libcst.SimpleStatementLine | libcst.FlattenSentinel[libcst.SimpleStatementLine] | None:
    """A ``from ... import`` that binds what it did to other public names: to those that `moved` has for its own.

    Several statements where the names are in several modules now.
    None for any other statement, where nothing moves or no module is to be imported from, and where a comment stands
    beside a name that would go into another statement.
    """
    import libcst

    old = node.body[0] if isinstance(node, libcst.SimpleStatementLine) else None
    if not isinstance(old, libcst.ImportFrom) or old.relative or not isinstance(old.names, Sequence):
        return None
    assert isinstance(node, libcst.SimpleStatementLine) and old.module is not None
    module, groups = text_of(old.module), dict[str, list[libcst.ImportAlias]]()
    for alias in old.names:
        own = f"{module}.{alias.evaluated_name}"
        parent, _, last = moved.get(own, own).rpartition(".")
        groups.setdefault(parent, []).append(_bound(alias, last))
    if not any(f"{module}.{one.evaluated_name}" in moved for one in old.names) or groups.keys() & NO_PACKAGES:
        return None
    lines: list[libcst.SimpleStatementLine] = []
    for parent, names in sorted(groups.items(), key=lambda group: group[0] != module):
        new = old.with_changes(module=expression(parent), names=_separated(names, old.names[-1].comma))
        if lines:
            if has_comment(*names):
                return None
            new = new.with_changes(lpar=None, rpar=None, names=_separated(names, None))
        lines.append(libcst.SimpleStatementLine([new]) if lines else node.with_changes(body=[new]))
    if len([*comments_of(*lines)]) != len([*comments_of(node)]):
        return None
    return libcst.FlattenSentinel(lines) if len(lines) > 1 else lines[0]


NO_PACKAGES = frozenset(
    f"tensorflow.{name}"
    for name in (
        "compat.v1.app", "distribute", "distribute.cluster_resolver", "distribute.coordinator",
        "distribute.experimental.coordinator", "distribute.experimental.partitioners", "lite.experimental.authoring",
    )
)  # fmt: skip
"""Public modules of which some names, or all, are attributes only: importing them raises ImportError."""


def _bound(alias: libcst.ImportAlias, name: str) -> libcst.ImportAlias:
    """An imported name that is another one, and is bound to what it was."""
    import libcst

    if alias.evaluated_name == name:
        return alias
    given = libcst.AsName(libcst.Name(alias.evaluated_name))
    return alias.with_changes(name=libcst.Name(name), asname=alias.asname or given)


def _separated(
    names: Sequence[libcst.ImportAlias], last: libcst.Comma | libcst.MaybeSentinel | None
) -> list[libcst.ImportAlias]:
    """Names with commas: those that they have, with `last` after the last one, or, without it, on one line."""
    import libcst

    if last is None:
        names = [one.with_changes(comma=_comma()) for one in names]
        last = libcst.MaybeSentinel.DEFAULT
    return [*names[:-1], names[-1].with_changes(comma=last)]


def _equal() -> libcst.AssignEqual:
    import libcst

    none = libcst.SimpleWhitespace("")
    return libcst.AssignEqual(whitespace_before=none, whitespace_after=none)


def _comma() -> libcst.Comma:
    import libcst

    return libcst.Comma(whitespace_after=libcst.SimpleWhitespace(" "))


def without_argument(call: libcst.Call, argument: libcst.Arg) -> libcst.Call:
    """A call without one of its arguments."""
    args = [arg for arg in call.args if arg is not argument]
    if args and argument is call.args[-1]:
        args[-1] = args[-1].with_changes(comma=argument.comma, whitespace_after_arg=argument.whitespace_after_arg)
    return call.with_changes(args=args)
