"""TF210: a Python number that traced code reads and other code changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ...linter.rule_api.model import Context, File, FunctionSite, Site, is_none, nodes_below, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .traces import class_named, is_number, trace_of

_NUMERIC = frozenset({"max", "min", "float", "int", "abs", "round", "len"})
_SET_UP = frozenset({"__init__", "__new__", "build", "compile", "__setstate__", "setup", "__post_init__", "configure"})

_Cell = tuple[int, str]
"""What holds a value: the scope of a name, or the class of ``self``, and how the value is reached from there."""


@dataclass(frozen=True, slots=True)
class _Write:
    """A cell is given a value."""

    site: Site
    value: ast.expr | None
    relative: bool
    """Whether the new number is made of the old one, or is one of a range."""


class MutableClosureCapture(Rule):
    """Traced code reads a Python number that is changed elsewhere: the graph keeps the first value.

    ## Why
    A global, a free name, an attribute or an item that holds a Python number becomes a constant of the graph in the
    first trace.
    When the number changes later (an annealed epsilon, a learning rate, a step counter), eager code follows, and the
    graph does not: nothing is retraced, because the number is no argument.
    Pass it as a tensor argument, or keep it in a `tf.Variable`.

    ## Example
    ```python
    import tensorflow as tf

    class Agent(tf.Module):
        def __init__(self):
            self.epsilon = 1.0

        @tf.function
        def act(self, x):
            return x * self.epsilon

        def anneal(self):
            self.epsilon *= 0.99
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Agent(tf.Module):
        def __init__(self):
            self.epsilon = tf.Variable(1.0, trainable=False)

        @tf.function
        def act(self, x):
            return x * self.epsilon

        def anneal(self):
            self.epsilon.assign(self.epsilon * 0.99)
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#depending_on_python_global_and_free_variables
    - https://www.tensorflow.org/guide/function#depending_on_python_objects
    """

    code = "TF210"
    severity = Severity.WARNING
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge each lasting number that a traced function reads, once."""
        if not function.runs(Context.TRACED):
            return
        seen: set[_Cell] = set()
        for read, node in _reads(function):
            cell = _cell(read, node)
            if cell is None or cell in seen or not _outlives(read, cell):
                continue
            seen.add(cell)
            change = _change(read, node, cell)
            trace = trace_of(read) if change is not None else None
            if change is None or trace is None:
                continue
            title = ast.unparse(node)
            home = read.file.index.scopes[cell[0]]
            before = {"module": "The global ", "class": ""}.get(home.kind, "The enclosing function's ")
            proven = trace.how == "function" and trace.proven and _is_proven(change)
            place = change.site.function
            where = f"`{place.name}` ({change.site.where})" if place is not None else change.site.where
            yield self.report(
                read,
                f"{before}`{title}` is a Python number: {trace.under}, it becomes a constant, "
                f"and the graph does not see that {where} changes it. "
                "Pass it as an argument, or make it a `tf.Variable`.",
                Severity.WARNING if proven else Severity.INFO,
                subject=title,
                related=[change.site.location("changed here"), *trace.callers],
            )


def _reads(function: FunctionSite) -> Iterator[tuple[Site, ast.expr]]:
    """The names, attributes and items under a fixed key that a function reads."""
    items = {
        id(part.value): part
        for part in nodes_below(function.syntax)
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load)
    }
    for reference in function.references:
        node = reference.syntax
        if isinstance(node, ast.Name | ast.Attribute) and not reference.called:
            yield reference, items.get(id(node), node)


def _cell(site: Site, node: ast.expr) -> _Cell | None:
    """What an expression reads or writes; None where it is no name, attribute or item under a fixed key."""
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        cls = class_named(site, node)
        if cls is not None:
            return (cls.id, "".join(reversed(parts))) if parts else None
        if isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}")
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            parts.append(f"[{node.slice.value!r}]")
        else:
            return None
        node = node.value
    index = site.file.index
    cls = index.class_of_self(site.scope, node.id) or class_named(site, node)
    if cls is not None:
        return (cls.id, "".join(reversed(parts))) if parts else None
    home, _ = index.lookup(site.scope, node.id) or (None, [])
    if home is None or home.kind == "comprehension":
        return None
    name = f".{node.id}" if home.kind == "class" else node.id
    return home.id, "".join((name, *reversed(parts)))


def _outlives(read: Site, cell: _Cell) -> bool:
    """Whether a cell is older than the trace that reads it."""
    home = read.file.index.scopes[cell[0]]
    if home.is_function:
        contexts = read.file.project.contexts((read.file.key, home.id))
        return home is not read.scope.function() and not any(s & Context.TRACED for s in contexts)
    return True


def _writes(file: File) -> dict[_Cell, list[_Write]]:
    """What all code of a file writes, by the cell."""
    found: dict[_Cell, list[_Write]] = {}
    for assignment in file.assignments:
        cell = _cell(assignment, assignment.node)
        if cell is not None:
            value = assignment.value
            ranged = value is None and _is_range(assignment.syntax)
            relative = assignment.augmented or ranged or (value is not None and _mentions(value, assignment.node))
            value = ast.Constant(0) if ranged else value
            found.setdefault(cell, []).append(_Write(assignment, value, relative))
    for function in file.functions:
        for site in function.changes:
            change = site.change
            if change.kind == "attribute" and isinstance(change.node, ast.Call) and not change.through:
                cell = _cell(site, change.target)
                if cell is not None:
                    value = change.values[0] if change.values else None
                    found.setdefault(cell, []).append(_Write(site, value, change.relative))
    return found


def _change(read: Site, node: ast.expr, cell: _Cell) -> _Write | None:
    """What gives the number another value while the program runs; None where it may be no number."""
    file = read.file
    written = file.once("writes", lambda: _writes(file))
    cells = [cell]
    if cell[1].startswith("."):
        bases, _ = file.project.mro((file.key, cell[0]))
        cells = [(base, cell[1]) for at, base in bases if at == file.key]
    writes = [write for one in cells for write in written.get(one, ())]
    changes = [write for write in writes if _is_change(write, read, cell)]
    values = {ast.unparse(write.value) for write in writes if write.value is not None}
    if not changes or (len(values) == 1 and not any(write.relative for write in writes)):
        return None
    first = [write.value for write in writes if not write.relative and not is_none(write.value)]
    first += _initial(read, node, written)
    if not any(map(is_number, first)) and not all(_is_range(write.site.syntax) for write in writes):
        return None
    if not all(_is_numeric(write.value) for write in writes):
        return None
    return min(changes, key=lambda change: not _is_proven(change))


def _initial(read: Site, node: ast.expr, written: dict[_Cell, list[_Write]]) -> list[ast.expr | None]:
    """What an attribute or item is given where its object is made: by a keyword, in a dict, by the class."""
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return []
    key = node.attr if isinstance(node, ast.Attribute) else getattr(node.slice, "value", None)
    found: list[ast.expr | None] = []
    for entity in read.entities(path_of(node.value)):
        if entity.kind == "instance" and entity.file == read.file.key and isinstance(node, ast.Attribute):
            found += [write.value for write in written.get((entity.scope, f".{key}"), ())]
    outer = _cell(read, node.value)
    for made in [write.value for write in written.get(outer, ())] if outer is not None else []:
        if isinstance(made, ast.Call):
            found += [keyword.value for keyword in made.keywords if keyword.arg == key]
        elif isinstance(made, ast.Dict):
            pairs = zip(made.keys, made.values, strict=True)
            found += [value for name, value in pairs if isinstance(name, ast.Constant) and name.value == key]
    return found


def _is_proven(change: _Write) -> bool:
    """Whether it surely gives another number: ``*= 0.9``, ``= x * 0.9``, a literal."""
    return change.relative or is_number(change.value)


def _is_change(write: _Write, read: Site, cell: _Cell) -> bool:
    function = write.site.function
    home = read.file.index.scopes[cell[0]]
    if function is None or function.body is home:
        loops = write.site.loops or ([write.site.syntax] if _is_range(write.site.syntax) else [])
        made_in = read.function.loops if read.function is not None else []
        return write.relative and bool(loops) and not any(loop in made_in for loop in loops)
    sets_up = function.name in _SET_UP and function.cls is not None
    return not (sets_up or function.body is read.scope.function() or _is_traced(write.site))


def _is_range(node: ast.AST) -> bool:
    """Whether a loop goes through a range of numbers."""
    return isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and path_of(node.iter.func) == "range"


def _is_numeric(value: ast.expr | None) -> bool:
    """Whether an assignment surely leaves a Python number."""
    if value is None:
        return False
    for part in ast.walk(value):
        if isinstance(part, ast.Call) and path_of(part.func) not in _NUMERIC:
            return False
        if isinstance(part, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.JoinedStr | ast.Lambda):
            return False
        if isinstance(part, ast.Constant) and not isinstance(part.value, int | float | str | None):
            return False
    return not isinstance(value, ast.Constant) or not isinstance(value.value, str)


def _is_traced(site: Site) -> bool:
    return bool(site.contexts) and all(s & Context.TRACED for s in site.contexts)


def _mentions(value: ast.expr, target: ast.expr) -> bool:
    """Whether a value is made of what a target has."""
    alike = [part for part in nodes_below(value) if type(part) is type(target)]
    return bool(alike) and ast.unparse(target) in map(ast.unparse, alike)
