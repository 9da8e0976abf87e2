"""What is made at every call is made once: in the constructor of a class, or before a function of a module."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, ClassSite, FunctionSite
from ...linter.rule_api.rewriting import call_in, has_comment

if TYPE_CHECKING:
    import libcst

_ONCE = ("call", "__call__", "train_step", "test_step", "predict_step")
"""Methods of which each call is one forward pass or step: what is made in others may be made several times in one."""
_CONSTANT = (
    ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.BinOp,
    ast.expr_context, ast.operator, ast.unaryop,
)  # fmt: skip
_TAKEN = frozenset(
    {"build", "dtype", "input", "loss", "losses", "metrics", "name", "optimizer", "output", "states", "weights"}
)
"""Attributes that a layer or model has."""


def around(site: Call) -> ast.stmt | None:
    """The class that a hoisting changes."""
    node = None if site.cls is None else site.cls.syntax
    return node if isinstance(node, ast.ClassDef) else None


def hoisted(node: libcst.ClassDef, site: Call) -> libcst.ClassDef | None:
    """A class that makes in its constructor what a site of a forward pass makes, or None where that is another thing.

    What the site sets as an attribute stays that attribute; for anything else there is a new one, named after what is
    called.

    It is the same thing if the site runs once in each forward pass, in no branch, and if all that it is given is known
    to the constructor: constants, names of the module, and attributes that the constructor alone sets.
    """
    import libcst

    cls, method = site.cls, site.function
    if cls is None or method is None or site.scope is not method.body or method.body.decorators:
        return None
    if cls.methods.get(method.body.name) is not method or method.body.name not in _ONCE or not method.parameters:
        return None
    if any(level.kind != "body" for level in site.block.chain()):
        return None
    this, constructor = method.parameters[0], cls.methods.get("__init__")
    if not _is_known(site, cls, constructor, this) or not isinstance(node.body, libcst.IndentedBlock):
        return None
    defined = [one for one in node.body.body if isinstance(one, libcst.FunctionDef)]
    named = [one for one in defined if one.name.value == method.body.name]
    if len(named) != 1:
        return None
    (forward,) = named
    made = call_in(forward, method.syntax, site)
    if made is None:
        return None
    attribute = _set_here(site, this)
    if attribute and len(site.file.assignments_to(cls.body, attribute)) != 1:
        return None
    kept = libcst.Attribute(libcst.Name(this), libcst.Name(attribute or _free_name(site, cls, this)))
    target = [libcst.AssignTarget(kept)]
    statement = libcst.SimpleStatementLine([libcst.Assign(target, made.with_changes(lpar=[], rpar=[]))])
    taken = (
        _taken_out(forward, made)
        if attribute
        else forward.deep_replace(made, kept.with_changes(lpar=made.lpar, rpar=made.rpar))
    )
    if not isinstance(taken, libcst.FunctionDef):
        return None
    body: list[libcst.BaseStatement] = []
    own = next((one for one in defined if one.name.value == "__init__"), None)
    for one in node.body.body:
        new: libcst.BaseStatement = one
        if one is forward:
            new = taken
        if one is own:
            if not isinstance(own.body, libcst.IndentedBlock):
                return None
            new = own.with_changes(body=own.body.with_changes(body=[*own.body.body, statement]))
        elif own is None and one is defined[0]:
            assert isinstance(new, libcst.FunctionDef)
            blank = [line for line in new.leading_lines[:1] if line.comment is None]
            body.append(_constructor(cls, this, statement).with_changes(leading_lines=blank))
            if not blank:
                new = new.with_changes(leading_lines=[libcst.EmptyLine(indent=False), *new.leading_lines])
        body.append(new)
    return node.with_changes(body=node.body.with_changes(body=body))


def is_known_to_module(site: Call) -> bool:
    """Whether a function of a module makes the same thing at each call, of names that the module has bound before.

    It sets a local name to it, which nothing else in the file has.
    """
    function, statement, module = site.function, site.statement, site.file.index.module
    if function is None or site.scope is not function.body or function.scope is not module:
        return False
    if not isinstance(statement, ast.Assign) or statement.value is not site.call or len(statement.targets) != 1:
        return False
    target, node, whole = statement.targets[0], function.syntax, module.node
    if not isinstance(target, ast.Name) or not isinstance(whole, ast.Module) or node not in whole.body:
        return False
    if any(level.kind != "body" for level in site.block.chain()) or len(function.body.binds[target.id]) != 1:
        return False
    if any(target.id in scope.binds for scope in site.file.index.scopes if scope is not function.body):
        return False
    before = {*_bound_by(whole.body[: whole.body.index(node)])}
    for part in ast.walk(site.call):
        if not isinstance(part, _CONSTANT):
            return False
        if isinstance(part, ast.Name):
            found = site.file.index.lookup(site.scope, part.id)
            if found is not None and (found[0] is not module or len(found[1]) != 1 or part.id not in before):
                return False
    return True


def _bound_by(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The names that plain statements of a module bind."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            names = [one for one in ast.walk(statement) if isinstance(one, ast.Name)]
            yield from (one.id for one in names if isinstance(one.ctx, ast.Store))


def moved_before(function: libcst.FunctionDef, site: Call) -> libcst.FlattenSentinel[libcst.BaseStatement] | None:
    """A function after the statement of it that makes what a site makes, if that has a line of its own."""
    import libcst

    made = call_in(function, site.function.syntax, site) if site.function is not None else None
    taken = None if made is None else _taken_out(function, made)
    if taken is None or has_comment(*function.leading_lines):
        return None
    for line in function.body.body:
        if isinstance(line, libcst.SimpleStatementLine) and line not in taken.body.body:
            notes = [one for one in line.leading_lines if one.comment is not None]
            gap = [libcst.EmptyLine(indent=False), libcst.EmptyLine(indent=False)]
            return libcst.FlattenSentinel(
                [line.with_changes(leading_lines=notes), taken.with_changes(leading_lines=gap)]
            )
    return None


def _set_here(site: Call, this: str) -> str:
    """The attribute of the instance that is set to what a site makes, and to nothing else, by a statement."""
    statement = site.statement
    if not isinstance(statement, ast.Assign) or statement.value is not site.call or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    is_own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == this
    return target.attr if is_own and isinstance(target, ast.Attribute) else ""


def _taken_out(function: libcst.FunctionDef, value: libcst.Call) -> libcst.FunctionDef | None:
    """A function without the statement that assigns a value, if that has a line of its own and is not all of it."""
    import libcst

    for line in function.body.body:
        if isinstance(line, libcst.SimpleStatementLine) and len(line.body) == 1:
            (only,) = line.body
            if isinstance(only, libcst.Assign) and only.value is value and len(function.body.body) > 1:
                rest = [one for one in function.body.body if one is not line]
                return function.with_changes(body=function.body.with_changes(body=rest))
    return None


def _is_known(site: Call, cls: ClassSite, constructor: FunctionSite | None, this: str) -> bool:
    """Whether the constructor can evaluate a call, at its end, as the forward pass does."""
    if len(site.file.project.mro(cls.key)[0]) != 1:
        return False  # a base of the project may have an attribute of the same name
    if constructor is None:
        if not cls.knows_bases:
            return False
    elif constructor.parameters[:1] != [this] or not _goes_to_its_end(constructor, cls):
        return False
    for node in ast.walk(site.call):
        if not isinstance(node, _CONSTANT):
            return False
        if isinstance(node, ast.Name) and node.id == this:
            parent = site.file.parent_of(node)
            if not isinstance(parent, ast.Attribute) or not _is_set_once(cls, constructor, parent):
                return False
        elif isinstance(node, ast.Name):
            found = site.file.index.lookup(site.scope, node.id)
            if found is not None and found[0] is not site.file.index.module:
                return False
    return True


def _is_set_once(cls: ClassSite, constructor: FunctionSite | None, node: ast.Attribute) -> bool:
    """Whether an attribute of the instance is what the constructor has set it to; a method of it may be read, too."""
    if isinstance(cls.file.parent_of(node), ast.Call) and node.attr in ("add_weight", "add_variable"):
        return True
    made = cls.file.assignments_to(cls.body, node.attr)
    return (
        constructor is not None
        and len(made) == 1
        and made[0].scope is constructor.body
        and made[0].block.kind == "body"
        and not made[0].augmented
        and len(cls.file.project.mro(cls.key)[0]) == 1
    )


def _goes_to_its_end(constructor: FunctionSite, cls: ClassSite) -> bool:
    """Whether it calls that of the base, and nothing in it returns, raises or needs more before its end."""
    node, this = constructor.syntax, constructor.parameters[0]
    if constructor.body.decorators or any(_may_call_forward(call, cls, this) for call in constructor.calls):
        return False
    if not isinstance(node, ast.FunctionDef) or any(isinstance(one, ast.Return | ast.Raise) for one in ast.walk(node)):
        return False
    bases = [call for call in constructor.calls if (call.path or "").endswith(".__init__") and call.discarded]
    return len(bases) == 1 and bases[0].block.kind == "body"


def _may_call_forward(call: Call, cls: ClassSite, this: str) -> bool:
    """Whether the instance, or a method of it, is called: that may be a forward pass, before what it needs is made."""
    owner, _, name = (call.path or "").rpartition(".")
    return call.path == this or (owner == this and (name in cls.methods or name in ("build", "call", "__call__")))


def _free_name(site: Call, cls: ClassSite, this: str) -> str:
    """An attribute for what a call makes, which nothing in the class has, and no other call gets at the same time."""
    used = {*cls.body.binds, *_TAKEN}
    used |= {
        node.attr
        for node in ast.walk(cls.syntax)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == this
    }
    stem = _stem(site)
    methods = (method for name, method in cls.methods.items() if name != "__init__")
    alike = [one.call for method in methods for one in method.calls if _stem(one) == stem]
    names = (stem, *(f"{stem}_{number}" for number in range(1, len(used) + len(alike) + 1)))
    return [name for name in names if name not in used and not keyword.iskeyword(name)][alike.index(site.call)]


def _stem(call: Call) -> str:
    """``batch_normalization`` for `BatchNormalization`, ``weight`` for `add_weight`."""
    last = re.sub(r"^(add|make)_", "", (call.path or "").rpartition(".")[2]) or "made"
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", last).lower()


def _constructor(cls: ClassSite, this: str, statement: libcst.SimpleStatementLine) -> libcst.FunctionDef:
    """One for a class that has none."""
    import libcst

    given = ("**kwargs", "**kwargs") if cls.is_keras else ("name=None", "name=name")
    made = libcst.parse_statement(f"def __init__({this}, {given[0]}):\n    super().__init__({given[1]})\n")
    assert isinstance(made, libcst.FunctionDef) and isinstance(made.body, libcst.IndentedBlock)
    return made.with_changes(body=made.body.with_changes(body=[*made.body.body, statement]))
