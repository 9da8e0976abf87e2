"""What a name or an attribute of the instance is assigned, where the file tells all of it, and what is given it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Call, File, Reference, Site


def assignments_to(site: Site, node: ast.expr | None) -> list[Assignment]:
    """All assignments to what a name or ``self.x`` is at a site; none where some are not known."""
    if isinstance(node, ast.Name):
        found = site.file.index.lookup(site.scope, node.id)
        home = found[0].function() if found is not None else None
        if found is None or home is None:
            return []
        made = site.file.once("assignments to names", lambda: _by_name(site.file)).get((home.id, node.id), [])
        return made if len(made) == len(found[1]) else []
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = site.class_of_self(node.value.id)
        if owner is None:
            return []
        kept: dict[tuple[int, str], list[Assignment]] = site.file.once("assignments to attributes", dict)
        key = owner.body.id, node.attr
        if key not in kept:
            kept[key] = site.file.assignments_to(owner.body, node.attr)
        return kept[key]
    return []


def _by_name(file: File) -> dict[tuple[int, str], list[Assignment]]:
    found: dict[tuple[int, str], list[Assignment]] = {}
    for assignment in file.assignments:
        if assignment.kind == "name" and assignment.path is not None:
            found.setdefault((assignment.scope.function().id, assignment.path), []).append(assignment)
    return found


def is_made_with(assignment: Assignment) -> bool:
    """Whether an assignment is a part of the making of its object."""
    function = assignment.function
    return function is not None and function.name in ("__init__", "build")


def reads_of(assignment: Assignment) -> Iterator[Reference]:
    """Where other functions read what is kept in an attribute of the instance, or under a name of the module."""
    path, owner = assignment.path or "", assignment.owner
    for read in assignment.file.references:
        head, _, rest = (read.path or "").partition(".")
        if owner is not None and isinstance(assignment.node, ast.Attribute):
            same = rest.partition(".")[0].partition("[")[0] == assignment.node.attr
            cls = read.class_of_self(head) if same else None
            if cls is not None and owner.key in cls.project_bases and read.function is not assignment.function:
                yield read
        elif head.partition("[")[0] == path:
            found = assignment.file.index.lookup(read.scope, path)
            if found is not None and found[0] is assignment.scope and read.function is not None:
                yield read


def given_to(reference: Reference) -> Call | None:
    """The call that a name is an argument of, as it is."""
    parent = reference.file.parent_of(reference.syntax)
    if isinstance(parent, ast.keyword):
        parent = reference.file.parent_of(parent)
    call = reference.file.call_at(parent) if isinstance(parent, ast.expr) else None
    return None if call is None or call.call.func is reference.syntax else call
