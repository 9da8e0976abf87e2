"""What a rule sees: sites of one file, each with its meaning.

Every question a rule may ask about a place is answered here: what a name is, in which contexts the code runs, what an
argument says.
`Site.syntax` is the place as a stdlib `ast` node; concrete syntax is libcst, which `Rule.fix` is given.
"""

from __future__ import annotations

import ast
import json
import math
from array import array
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Final, TypeVar

from ..analysis.call_graph import MAX_STEPS
from ..analysis.changes import GROWERS, MUTATORS, Change, Changes, from_elsewhere, owner_of
from ..analysis.effects import VARIABLE_SCOPES
from ..analysis.entities import Entity
from ..analysis.eras import Era, era_of_name
from ..analysis.execution_context import Context, Effects, transferred
from ..analysis.fallbacks import Fallbacks
from ..analysis.guards import Guards, catches
from ..analysis.index import (
    AssignmentFact,
    Block,
    CallFact,
    FileIndex,
    ImportFact,
    ReferenceFact,
    Scope,
    nodes_below,
    parts_of,
)
from ..analysis.known import Known, value_of
from ..analysis.lasting import default_of
from ..analysis.lazy import cached_property
from ..analysis.links import GIVEN, MAYBE, OMITTED
from ..analysis.names import PLACEHOLDERS, Name, canonical
from ..analysis.paths import is_none, literal_string, path_of, split_head
from ..analysis.project import Project, effects_of
from ..analysis.public_names import all_there, has, missing_part, split_api
from ..analysis.statements import Statements, span_of
from ..analysis.summary import conditions, defaults_to_none, own_statements, runs_by_itself, scope_name
from ..analysis.unpacking import ANY, ITERATED, Way, ways_to
from ..analysis.values import Values
from ..analysis.versions import Versions
from ..finding import Location, Span, Target
from ..source.parsing import SourceFile
from ..source.reading import NOTEBOOK

__all__ = [
    "GROWERS",
    "ITERATED",
    "MUTATORS",
    "PLACEHOLDERS",
    "UNKNOWN",
    "Assignment",
    "Block",
    "Call",
    "ChangeSite",
    "ClassSite",
    "Context",
    "Entity",
    "Era",
    "File",
    "FunctionSite",
    "Import",
    "Known",
    "Location",
    "Name",
    "Project",
    "Reference",
    "Scope",
    "Site",
    "Target",
    "all_there",
    "canonical",
    "catches",
    "defaults_to_none",
    "is_none",
    "is_test_path",
    "literal_string",
    "missing_part",
    "nodes_below",
    "own_statements",
    "owner_of",
    "path_of",
    "runs_by_itself",
    "split_api",
    "value_of",
]


_T = TypeVar("_T")
_NOTHING: Final = Context(0)
_TRACED: Final = Context.TRACED.value  # an IntFlag's own operations cost twenty times those of a number
_GRAPH: Final = Context.GRAPH.value
_MAX_HELPERS: Final = 8
"""Functions that call one another below a test that is left out."""
_INHERITED: Final = ~(Context.GRAPH | Context.SCOPED | Context.LIFTED | Context.ONCE).value
"""The flags that a place has only if its function has them."""


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final[Any] = _Unknown()
_PRIVATE_KERAS = ("tensorflow.python.keras.", "tensorflow.python.layers.")
"""The value of an expression that is not a literal."""


def is_test_path(key: str) -> bool:
    """Whether a file is a test, by its name and those of its folders."""
    *folders, name = key.lower().split("/")
    in_tests = bool({"test", "tests", "testing"} & set(folders))
    return in_tests or name.startswith(("test_", "conftest")) or name.endswith("_test.py")


class File:
    """One file with everything known about it."""

    def __init__(self, source: SourceFile, key: str, index: FileIndex, project: Project, target: Target) -> None:
        self.source = source
        self.key = key
        """The file's path relative to the project's root."""
        self.index = index
        self.project = project
        self.target = target
        self.versions = Versions(index, partial(project.flag, key))
        self.guards = Guards(index)
        self._fallbacks = Fallbacks(index)
        self.lines = source.text.split("\n")
        self._characters: dict[int, array[int]] = {}
        self._under: dict[str, dict[int, bool]] = {}
        self._left_out: dict[int, bool] = {}
        self._last_lines: dict[int, float] = {}
        self._once: dict[str, Any] = {}
        self.contexts: dict[tuple[int, int], tuple[int, ...]] = {}
        """See `Site.contexts`: those of a block in a scope."""
        self._call_sites: dict[int, Call] = {}
        self._reference_sites: dict[int, Reference] = {}
        self._meanings: dict[tuple[str, ...], tuple[tuple[Entity, ...], tuple[Name, ...]]] = {}
        self._effects: dict[int, Effects] = {}

    def release(self) -> None:
        """Let go of everything at once: sites, file and index refer to each other in circles."""
        if "values" in self.__dict__:
            self.values.release()
        for function in self.__dict__.get("_function_sites", {}).values():
            function.__dict__.clear()
        self.index.release()
        self.__dict__.clear()

    def once(self, question: str, answer: Callable[[], _T]) -> _T:
        """What `answer` says of this file, worked out the first time that a rule asks `question`."""
        if question not in self._once:
            self._once[question] = answer()
        return self._once[question]  # type: ignore[no-any-return]

    def is_dead(self, block: Block, line: int) -> bool:
        """Whether a place runs only on versions that are not the target's.

        It is under such a test (its own, or that of a function or class around it), after an assertion or a call that
        ends the function or the module there, or below a decorator that leaves a test out.
        """
        last = self._last_lines.get(block.id)
        if last is None:
            last = self._last_lines[block.id] = self._last_line(block)
        return last < line

    def _last_line(self, block: Block) -> float:
        """The last line of a block that is not dead: 0 for none, infinite for all."""
        scopes = list(block.scope.function().chain())
        if self.versions.is_dead(block, self.target) or any(map(self._is_left_out, scopes)):
            return 0.0
        return min(self.versions.ends(scope, self.target) for scope in scopes)

    def _is_left_out(self, scope: Scope, depth: int = 0) -> bool:
        known = self._left_out.get(scope.id)
        if known is None:
            defined_in = scope.defined_in
            known = defined_in is not None and self.versions.is_dead(defined_in, self.target)
            known = known or self.versions.skips(scope, self.target) or self._is_of_what_is_never_made(scope)
            self._left_out[scope.id] = known
            is_helper = self.is_test and scope.kind == "function" and not scope.name.startswith("test")
            if not known and is_helper and depth < _MAX_HELPERS:
                known = self._left_out[scope.id] = self._is_of_what_is_left_out(scope, depth + 1)
        return known

    def _is_of_what_is_never_made(self, method: Scope) -> bool:
        """Whether it is a method of a class whose constructor raises on the versions of the target."""
        owner = method.owner()
        makers = [bind.scope for bind in owner.binds.get("__init__", ()) if bind.scope] if owner is not None else []
        return len(makers) == 1 and makers[0] is not method and self.versions.ends(makers[0], self.target) < math.inf

    def _is_of_what_is_left_out(self, scope: Scope, depth: int) -> bool:
        """Whether a function of a test file is named only in code that is left out, or dead, itself."""
        reads = self._read_by_last_name.get(scope.name, [])
        return bool(reads) and all(
            self.versions.is_dead(read.block, self.target)
            or any(self._is_left_out(outer, depth) for outer in read.scope.function().chain())
            for read in reads
        )

    @cached_property
    def _read_by_last_name(self) -> dict[str, list[ReferenceFact]]:
        """Where a name or an attribute is read, by its last part."""
        found: dict[str, list[ReferenceFact]] = {}
        for fact in self.index.references:
            found.setdefault(fact.path.rpartition(".")[2], []).append(fact)
        return found

    @property
    def era(self) -> Era:
        """For which TensorFlow it was written: by its own names, or else by those of all other files together."""
        return Era(self.project.era(self.key)[0])

    @cached_property
    def era_told(self) -> tuple[Location, ...]:
        """What tells of a TF1 or TF2 file: the first of its names that does, or the file that has one."""
        told = self.project.era(self.key)[1]
        if told != self.key:
            return (Location(told, 1, f"the names in this file are {self.era}'s"),) if told else ()
        found = self.references_to(lambda names: any(era_of_name(name.spelled) is self.era for name in names))
        return tuple(one.location(f"`{one.path}` is {self.era}'s") for one in found[:1])

    def does_without(self, block: Block, importing: bool) -> bool:
        """Whether a place is in a ``try`` whose handler holds an alternative, or is one that is not needed."""
        question = "an import that is handled" if importing else "a name that is handled"
        return self.is_under(question, block, partial(self._is_fallback, importing))

    def _is_fallback(self, importing: bool, block: Block) -> bool:
        if block.kind == "try" and isinstance(block.node, ast.Try):
            return self._fallbacks.handler(block.node, importing) is not None
        if block.kind == "except" and block.handled is not None:
            node = block.handled
            kinds = (True, False) if self._reads_public(node) else (True,)
            handlers = [handler for handler in map(partial(self._fallbacks.handler, node), kinds) if handler]
            return block.node in handlers and not self._fails(node)
        return False

    def _reads_public(self, node: ast.Try) -> bool:
        """Whether the body of a ``try`` reads a name of a package, which a version may lack, beside attributes."""
        parts = [part for statement in node.body for part in ast.walk(statement)]
        if any(isinstance(part, ast.Import | ast.ImportFrom) for part in parts):
            return True
        reads = [self.reference_at(part) for part in parts if isinstance(part, ast.Name | ast.Attribute)]
        names = (name.spelled for read in reads if read is not None for name in read.names)
        return any(not name.startswith("builtins.") and "(" not in name for name in names)

    def _fails(self, node: ast.Try) -> bool:
        """Whether the body of a ``try`` reads a name that its target does not have; what a call gave is there."""
        reads = self._tried.get(id(node), ())
        return any(
            names and all("(" not in name.spelled and has(name.spelled, self.target) is False for name in names)
            for names in (site.names for site in reads)
        )

    @cached_property
    def _tried(self) -> dict[int, list[Import | Reference]]:
        """What stands in the body of each ``try``, by its identity."""
        found: dict[int, list[Import | Reference]] = {}
        sites: list[Import | Reference] = [*self.imports, *map(self.reference_of, self.index.references)]
        for site in sites:
            if site.block.kind == "try":
                found.setdefault(id(site.block.node), []).append(site)
        return found

    def is_under(self, question: str, block: Block, test: Callable[[Block], bool]) -> bool:
        """Whether `test` holds for a block or one around it; its answers are kept by the `question`."""
        kept = self._under.setdefault(question, {})
        return block.inherited(kept, False, lambda level, around: around or test(level))

    @property
    def display(self) -> str:
        """The path as it is shown."""
        return self.source.display

    @property
    def is_test(self) -> bool:
        """Whether it is a test, by the names of the file and of its folders."""
        return is_test_path(self.key)

    @cached_property
    def calls(self) -> list[Call]:
        """All calls, in source order."""
        return [self.call_of(fact) for fact in self.index.calls]

    @cached_property
    def references(self) -> list[Reference]:
        """All names that are read, in source order; a called name is one too."""
        return [self.reference_of(fact) for fact in self.index.references]

    def references_to(self, wanted: Callable[[tuple[Name, ...]], object]) -> list[Reference]:
        """The references whose public names are `wanted`, which is asked once of each that occur, in source order."""
        numbers = [number for names, found in self._reads if wanted(names) for number in found]
        return [self.reference_of(self.index.references[number]) for number in sorted(numbers)]

    @cached_property
    def _reads(self) -> list[tuple[tuple[Name, ...], list[int]]]:
        """The public names that are read, and the places of their references among all."""
        found: dict[tuple[str, ...], list[int]] = {}
        for number, fact in enumerate(self.index.references):
            found.setdefault(self.index.resolve(fact.scope, fact.path), []).append(number)
        return [(names, numbers) for texts, numbers in found.items() if (names := self._meaning(texts)[1])]

    def calls_of(self, wanted: Callable[[tuple[Entity, ...]], object], methods: Container[str]) -> list[Call]:
        """The calls of what is `wanted`, which is asked as in `references_to`, or of an attribute so named."""
        judged: dict[tuple[str, ...], object] = {}
        found: list[Call] = []
        for fact in self.index.calls:
            func = fact.node.func
            if not (func.__class__ is ast.Attribute and func.attr in methods):
                texts = self.index.resolve(fact.scope, fact.path) if fact.path is not None else ()
                if texts not in judged:
                    judged[texts] = wanted(self._meaning(texts)[0])
                if not judged[texts]:
                    continue
            found.append(self.call_of(fact))
        return found

    def calls_in_loops(self) -> Iterator[Call]:
        """The calls that a loop of their own function may repeat, in source order."""
        return (self.call_of(fact) for fact in self.index.calls if fact.block.is_repeated)

    def call_of(self, fact: CallFact) -> Call:
        """The site of a call."""
        site = self._call_sites.get(id(fact))
        if site is None:
            site = self._call_sites[id(fact)] = Call(self, fact)
        return site

    def reference_of(self, fact: ReferenceFact) -> Reference:
        """The site of a name that is read."""
        site = self._reference_sites.get(id(fact))
        if site is None:
            site = self._reference_sites[id(fact)] = Reference(self, fact)
        return site

    @cached_property
    def assignments(self) -> list[Assignment]:
        """All assignments, one for each target."""
        return [Assignment(self, fact) for fact in self.index.assignments]

    @cached_property
    def imports(self) -> list[Import]:
        """All imported names."""
        return [Import(self, fact) for fact in self.index.imports]

    @cached_property
    def functions(self) -> list[FunctionSite]:
        """All functions, methods and lambdas."""
        return [self.function_of(scope) for scope in self.index.scopes if scope.is_function]

    def character_at(self, line: int, offset: int) -> int:
        """How many characters of a line come before a place in its UTF-8."""
        known = self._characters.get(line)
        if known is None:
            data = self.lines[line - 1].encode("utf-8", "surrogatepass")
            begins = accumulate((byte & 0xC0 != 0x80 for byte in data), initial=0)
            known = self._characters[line] = array("L", begins)
        return known[min(offset, len(known) - 1)]

    def between(self, before: ast.expr, after: ast.expr) -> str:
        """The text between two expressions, of which one follows the other."""
        line, end = before.end_lineno or before.lineno, after.lineno
        lines = [text.encode("utf-8", "surrogatepass") for text in self.lines[line - 1 : end]]
        lines[-1] = lines[-1][: after.col_offset]
        lines[0] = lines[0][before.end_col_offset or 0 :]
        return b"\n".join(lines).decode("utf-8", "replace")

    def parent_of(self, node: ast.AST) -> ast.AST | None:
        """The node around another one of this file."""
        return self._parents.get(id(node))

    @cached_property
    def _parents(self) -> dict[int, ast.AST]:
        found: dict[int, ast.AST] = {}
        node: Any
        for node in nodes_below(self.index.module.node):
            for name in parts_of(node.__class__):
                part = getattr(node, name, None)
                for child in part if part.__class__ is list else (part,):
                    found[id(child)] = node
        return found

    @cached_property
    def statements(self) -> Statements:
        """All statements, by their lines."""
        assert isinstance(self.index.module.node, ast.Module)
        return Statements(self.index.module.node)

    @cached_property
    def classes(self) -> list[ClassSite]:
        """All classes."""
        return [ClassSite(self, scope) for scope in self.index.scopes if scope.kind == "class"]

    @cached_property
    def attribute_assignments(self) -> dict[tuple[int, str], list[Assignment]]:
        """The assignments to each attribute of each class (by scope id), in its body and through ``self``."""
        found: dict[tuple[int, str], list[Assignment]] = {}
        for assignment in self.assignments:
            owner = assignment.owner
            if owner is not None and assignment.self_attribute is not None:
                found.setdefault((owner.body.id, assignment.self_attribute), []).append(assignment)
            elif assignment.scope.kind == "class" and isinstance(assignment.node, ast.Name):
                found.setdefault((assignment.scope.id, assignment.node.id), []).append(assignment)
        return found

    def assignments_to(self, cls: Scope, attribute: str) -> list[Assignment]:
        """The assignments to an attribute of a class and of those of its bases that are in this file."""
        bases = [key[1] for key in self.project.mro((self.key, cls.id))[0] if key[0] == self.key]
        return [a for base in bases for a in self.attribute_assignments.get((base, attribute), [])]

    def attribute_values(self, cls: Scope, attribute: str) -> list[ast.expr | None]:
        """What is assigned to an attribute, without ``+=`` and the like; None for what is no single expression."""
        return [a.value for a in self.assignments_to(cls, attribute) if not a.augmented]

    @staticmethod
    def default_of(function: Scope, parameter: str) -> ast.expr | None:
        """The default of a parameter."""
        return default_of(function, parameter)

    @cached_property
    def changes(self) -> Changes:
        """What the functions of this file change."""
        return Changes(self.index)

    @cached_property
    def calls_by_function(self) -> dict[int, list[Call]]:
        """Calls by the id of the scope whose body they stand in (a function, class body or the module)."""
        return _by_function(self.calls)

    @cached_property
    def references_by_function(self) -> dict[int, list[Reference]]:
        """References, likewise."""
        return _by_function(self.references)

    @cached_property
    def assignments_by_function(self) -> dict[int, list[Assignment]]:
        """Assignments, likewise."""
        return _by_function(self.assignments)

    @cached_property
    def _function_sites(self) -> dict[int, FunctionSite]:
        return {}

    def function_of(self, scope: Scope) -> FunctionSite:
        """The site of a function's scope."""
        site = self._function_sites.get(scope.id)
        if site is None:
            site = self._function_sites[scope.id] = FunctionSite(self, scope)
        return site

    @cached_property
    def _calls_by_node(self) -> dict[int, Call]:
        return {id(call.syntax): call for call in self.calls}

    def call_at(self, node: ast.expr | None) -> Call | None:
        """The site of a call expression of this file."""
        return self._calls_by_node.get(id(node)) if isinstance(node, ast.Call) else None

    @cached_property
    def _references_by_node(self) -> dict[int, ReferenceFact]:
        return {id(fact.node): fact for fact in self.index.references}

    def reference_at(self, node: ast.expr | None) -> Reference | None:
        """The site of a name or a path that is read in this file; None for any other expression."""
        fact = self._references_by_node.get(id(node)) if isinstance(node, ast.Name | ast.Attribute) else None
        return self.reference_of(fact) if fact is not None else None

    def entities(self, scope: Scope, path: str | None) -> tuple[Entity, ...]:
        """What `path` names in `scope`, through the whole project; empty where that is not certain."""
        return self._meaning(self.index.resolve(scope, path))[0] if path is not None else ()

    def names(self, scope: Scope, path: str | None) -> tuple[Name, ...]:
        """The public names that `path` may mean in `scope`."""
        return self._meaning(self.index.resolve(scope, path))[1] if path is not None else ()

    def _meaning(self, texts: tuple[str, ...]) -> tuple[tuple[Entity, ...], tuple[Name, ...]]:
        known = self._meanings.get(texts)
        if known is None:
            found = tuple(dict.fromkeys(e for text in texts for e in self.resolve(text)))
            names = tuple(Name(canonical(entity.text), entity.text) for entity in found if entity.kind == "external")
            known = self._meanings[texts] = found, names
        return known

    def resolve(self, text: str) -> tuple[Entity, ...]:
        """What a name that the index gave is in the project."""
        if text.startswith("$"):  # the half of all names, and no question to the project
            return (Entity("parameter", text, self.key),)
        return self.project.resolve(self.key, text)

    def effects(self, block: Block) -> Effects:
        """What the conditions around a block do to the context of its function."""
        return block.inherited(self._effects, Effects(0), self._add_effects)

    def _add_effects(self, level: Block, around: Effects) -> Effects:
        own = conditions(self.index, self.guards, self.versions, level)
        return around if own is None else around | effects_of(self.project, self.key, own)

    @cached_property
    def values(self) -> Values:
        """What is known of the values in the functions of the file."""
        return Values(self.index, self.key, self.project, self.entities)


def _choice(level: Block) -> object:
    """What the arms of one choice have in common: a test, a ``try``, or what stands around the cases."""
    return {"case": level.parent, "try": level.handled, "except": level.handled}.get(level.kind, level.node)


def _never_runs(level: Block) -> bool:
    """Whether a block follows what leaves its suite, or is an arm that a constant test leaves out."""
    is_false = isinstance(level.node, ast.Constant) and bool(level.node.value) is (level.kind == "else")
    return is_false or level.kind == "never"


class Site:
    """A place in a file."""

    __slots__ = ("__dict__", "block", "file", "scope", "syntax")

    def __init__(self, file: File, syntax: ast.AST, scope: Scope, block: Block) -> None:
        self.file = file
        self.syntax = syntax
        self.scope = scope
        self.block = block

    def at(self, node: ast.AST) -> Site:
        """The site of a part of this one, or of what it is a part of in its own block."""
        return Site(self.file, node, self.scope, self.block)

    # -- where -------------------------------------------------------------------------------------------------------

    @property
    def line(self) -> int:
        """1-based."""
        return int(getattr(self.syntax, "lineno", 1))

    @property
    def column(self) -> int:
        """1-based, in characters."""
        return self._characters(self.line, int(getattr(self.syntax, "col_offset", 0)))

    @property
    def where(self) -> str:
        """``line 3``, or ``line 3 of cell 2`` in a notebook: for messages that speak of another place in the file."""
        notebook = self.file.source.notebook
        if notebook is None:
            return f"line {self.line}"
        cell, line, _ = notebook.places.place(self.line, self.column)
        return f"line {line} of cell {cell}"

    @property
    def end_line(self) -> int:
        """Line of the end."""
        return int(getattr(self.syntax, "end_lineno", None) or self.line)

    @property
    def end_column(self) -> int:
        """Exclusive, in characters."""
        return self._characters(self.end_line, int(getattr(self.syntax, "end_col_offset", None) or 0))

    def _characters(self, line: int, offset: int) -> int:
        text = self.file.lines[line - 1] if line <= len(self.file.lines) else ""
        return offset + 1 if text.isascii() else self.file.character_at(line, offset) + 1

    @property
    def text(self) -> str:
        """The source text of the site."""
        lines = self.file.lines[self.line - 1 : self.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: self.end_column - 1]
        lines[0] = lines[0][self.column - 1 :]
        return "\n".join(lines)

    @property
    def target(self) -> Target:
        """The TF2 that the program is moved to."""
        return self.file.target

    def location(self, text: str) -> Location:
        """The site as a place that a finding elsewhere is related to; `text` says what is here."""
        return Location(self.file.key, self.line, text)

    # -- what surrounds it -------------------------------------------------------------------------------------------

    @property
    def statement(self) -> ast.stmt | None:
        """The innermost statement around the site."""
        if isinstance(self.syntax, ast.stmt):
            return self.syntax
        return self.file.statements.at(self.line)

    @property
    def function_span(self) -> Span | None:
        """The lines of the innermost function around the site that is no lambda."""
        nodes = (scope.node for scope in self.scope.chain())
        return next((span_of(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)), None)

    @cached_property
    def function(self) -> FunctionSite | None:
        """The innermost function, method or lambda around the site."""
        return next((self.file.function_of(scope) for scope in self.scope.chain() if scope.is_function), None)

    @cached_property
    def cls(self) -> ClassSite | None:
        """The innermost class around the site (also from inside its methods)."""
        return next((ClassSite(self.file, scope) for scope in self.scope.chain() if scope.kind == "class"), None)

    @property
    def loops(self) -> list[ast.AST]:
        """The loops around the site within its own function, innermost first: For, While or comprehension nodes."""
        return [level.node for level in self.block.holders() if level.kind == "loop"]

    @cached_property
    def guarded(self) -> bool:
        """Whether a create-once guard of its own function protects the site."""
        return self.file.guards.guard(self.block) is not None

    @property
    def guards(self) -> tuple[Location, ...]:
        """Where that guard is, as a place that a finding is related to."""
        guard = self.file.guards.guard(self.block)
        return () if guard is None else (Site(self.file, guard.node, guard.scope, guard).location("tested here"),)

    @cached_property
    def is_dead(self) -> bool:
        """Whether the code runs only on versions that are not the target's."""
        return self.file.is_dead(self.block, self.line)

    @cached_property
    def version_checked(self) -> bool:
        """Whether the program does without the code on the target: it is dead there, or has an alternative."""
        return self.is_dead or self.file.does_without(self.block, isinstance(self, Import))

    @cached_property
    def variable_scopes(self) -> list[tuple[str, ast.expr]]:
        """The TF1 variable scopes opened around the site in its own function, innermost first.

        Each is ``(how, context expression)``; how is ``named``, ``object``, ``empty``, ``auto`` (only a
        ``default_name``) or ``parameter:x`` (named by parameter x, whose default is None).
        """
        found: list[tuple[str, ast.expr]] = []
        for level in self.block.holders():
            if level.kind == "with" and isinstance(level.node, ast.expr):
                how = scope_name(level.node, level.scope)
                names = self.file.names(level.scope, path_of(level.node))
                if any(name.canonical.removesuffix("()") in VARIABLE_SCOPES for name in names):
                    found.append((how, level.node))
        return found

    def inside(self, context: ast.AST) -> bool:
        """Whether the site stands in the suite of a ``with`` that has `context` as an expression."""
        return any(level.kind == "with" and level.node is context for level in self.block.holders())

    def excludes(self, other: Site) -> bool:
        """Whether the site and `other`, of the same function, stand in branches of which only one runs."""
        opposite = {"if": "else", "else": "if", "try": "except", "except": "try"}
        theirs: dict[tuple[str, int], Block] = {}
        for arm in other.block.chain():
            theirs[arm.kind, id(_choice(arm))] = arm
        for level in self.block.chain():
            found = theirs.get((opposite.get(level.kind, level.kind), id(_choice(level))))
            if found is not None and (level.kind in opposite or (level.kind == "case" and found is not level)):
                return True
        return False

    # -- in which contexts it runs ---------------------------------------------------------------------------------

    @property
    def contexts(self) -> tuple[Context, ...]:
        """Every known context in which this very place runs; empty where no caller is known."""
        return tuple(map(Context, self._contexts))

    @property
    def _contexts(self) -> tuple[int, ...]:
        known = self.file.contexts.get((self.block.id, self.scope.id))
        if known is None:
            effects, around = self.file.effects(self.block), self._contexts_around
            known = tuple(sorted({transferred(context, effects) for context in around} - {0}))
            if Effects.GRAPH & effects and not around:
                known = (_GRAPH,)
            self.file.contexts[self.block.id, self.scope.id] = known
        return known

    @property
    def _contexts_around(self) -> tuple[int, ...]:
        """Those of the function, or of the module outside every class."""
        scope = self.scope.function()
        if scope.kind == "class":
            scope = self._outside_class()
        return self.file.project.contexts((self.file.key, scope.id))

    def _outside_class(self) -> Scope:
        scope = self.scope.function()
        while scope.kind == "class" and scope.parent is not None:
            scope = scope.parent.function()
        return scope

    def runs(self, flags: Context, without: Context = _NOTHING) -> bool:
        """Whether some context has all `flags` and none of `without`."""
        wanted, unwanted = flags.value, without.value
        inherited = wanted & _INHERITED
        if inherited and not any(s & inherited == inherited for s in self._contexts_around):
            return False
        return any(s & wanted == wanted and not s & unwanted for s in self._contexts)

    @property
    def in_forward(self) -> bool:
        """Whether it runs at every call of a layer, model or module (and is not created once, nor in a TF1 graph)."""
        return self.runs(Context.FORWARD)

    @property
    def in_trace(self) -> bool:
        """Whether it runs while a graph is traced."""
        return self.runs(Context.TRACED)

    @property
    def in_graph(self) -> bool:
        """Whether every known context is a TF1 graph that is built on purpose."""
        return bool(self._contexts) and all(s & _GRAPH for s in self._contexts)

    @property
    def proven_eager(self) -> bool:
        """Whether some known way to run it is plain eager execution, with no TF1 graph around."""
        return any(not s & _GRAPH for s in self._contexts)

    def trail(self, flag: Context) -> str:
        """Say how the place comes to run under `flag`: ``Net.call`` or ``Net.call (net.py:12) -> helper``."""
        steps = self._steps(flag)
        parts: list[str] = []
        for position, (name, file, line) in enumerate(steps):
            last = position == len(steps) - 1
            parts.append(f"`{name}`" if last or not line else f"`{name}` ({self._step(file, line)})")
        if len(parts) > MAX_STEPS:
            parts[0] = "further calls"
        return " -> ".join(parts)

    def callers(self, flag: Context) -> tuple[Location, ...]:
        """The calls by which `trail` comes to the place; without those in other notebooks."""
        return tuple(
            Location(file, line, f"called by `{name}`")
            for name, file, line in self._steps(flag)[:-1]
            if line and not file.endswith(NOTEBOOK)
        )

    def _steps(self, flag: Context) -> list[tuple[str, str, int]]:
        return self.file.project.trail((self.file.key, self._running_scope().id), int(flag))

    def _running_scope(self) -> Scope:
        scope = self.scope.function()
        return scope if scope.is_function else self._outside_class()

    def _step(self, file: str, line: int) -> str:
        """A file's name and a line of it; of the cells of another notebook nothing is known here."""
        name = file.rpartition("/")[2]
        if not name.endswith(NOTEBOOK):
            return f"{name}:{line}"
        notebook = self.file.source.notebook if file == self.file.key else None
        if notebook is None:
            return name
        cell, line, _ = notebook.places.place(line, 1)
        return f"cell {cell}:{line}"

    def is_reached(self, flag: Context) -> bool:
        """Whether the way that `trail` tells is one that a single run can take, and not only a guess of many."""
        return self.file.project.is_consistent((self.file.key, self._running_scope().id), int(flag))

    def is_possible(self, flag: Context) -> bool:
        """Whether the way that `trail` tells calls no override of a class that the object surely is not of."""
        return self.file.project.is_possible((self.file.key, self._running_scope().id), int(flag))

    # -- what a name in it means -------------------------------------------------------------------------------------

    def entities(self, path: str | None) -> tuple[Entity, ...]:
        """What a path names here."""
        return self.file.entities(self.scope, path)

    def names_of(self, node: ast.expr | None) -> tuple[Name, ...]:
        """The public names that an `ast` expression may mean here."""
        return self.file.names(self.scope, path_of(node))

    @property
    def never_runs(self) -> bool:
        """Whether it stands under ``if False``, or after what leaves its suite."""
        return self.file.is_under("never runs", self.block, _never_runs)

    @property
    def is_of_private_keras(self) -> bool:
        """Whether it speaks of TensorFlow's own old copy of Keras, which is neither tf_keras nor Keras 3.

        It names or is given something of that, assigns to it, or stands in a class that descends from it.
        """
        nodes = (self.syntax, *getattr(self, "arguments", ()), getattr(self, "node", None))
        texts = [name.spelled for name in getattr(self, "names", ())]
        texts += [name.spelled for node in nodes if isinstance(node, ast.expr) for name in self.names_of(node)]
        body = getattr(self, "body", self.scope)
        owner = body if body.kind == "class" else body.function().owner()
        if owner is not None:
            texts += self.file.project.mro((self.file.key, owner.id))[1]
        return any(text.startswith(_PRIVATE_KERAS) for text in texts)

    def spelling(self, name: str) -> str | None:
        """How a public name, such as ``tensorflow.math.log``, can be written here with what the file imports.

        None where no import of the module itself leads to it for sure.
        """
        own = split_head(getattr(self, "path", None) or "")[0]
        imports = (one for one in self.file.imports if one.scope is self.file.index.module)
        heads = [own, *(one.bound for one in imports if self.function is not None or one.line < self.line)]
        for head in dict.fromkeys(filter(None, heads)):
            found = self.file.names(self.scope, head)
            if len(found) == 1 and (name == found[0].spelled or name.startswith(f"{found[0].spelled}.")):
                text = head + name[len(found[0].spelled) :]
                if [one.spelled for one in self.file.names(self.scope, text)] == [name]:
                    return text
        return None

    def importable(self, name: str) -> tuple[str, tuple[tuple[str, str | None, str | None], ...]] | None:
        """How a public name of TensorFlow can be written here, and what has to be imported for that, if anything.

        None where the file has no import that leads to it, and uses `tf` for something else.
        """
        text = self.spelling(name)
        if text is not None:
            return text, ()
        root, _, rest = name.partition(".")
        if root != "tensorflow" or any("tf" in scope.binds for scope in self.file.index.scopes):
            return None
        return f"tf.{rest}", (("tensorflow", None, "tf"),)

    def class_of_self(self, name: str) -> ClassSite | None:
        """The class whose instance `name` is here, as the first parameter of a method around the site."""
        cls = self.file.index.class_of_self(self.scope, name)
        return ClassSite(self.file, cls) if cls is not None else None

    def reaching(self, name: ast.Name) -> list[Assignment]:
        """The assignments whose value a name may have here: none from before one that surely comes between."""
        index = self.file.index
        home = index.lookup(self.scope, name.id)
        if home is None:
            return []
        around = self.file.assignments_by_function.get(home[0].function().id, [])
        named = [assignment for assignment in around if assignment.path == name.id]
        found = [one for one in named if (own := index.lookup(one.scope, name.id)) and own[0] is home[0]]
        if home[0] is not self.scope.function():
            return found
        levels = set(self.block.chain())
        surely = [one for one in found if one.line < self.line and _outside_with(one.block) in levels]
        last = max(surely, key=lambda one: one.line, default=None)
        begin = 0 if last is None else last.line
        loops = {id(loop) for loop in self.loops} - {id(loop) for loop in ([] if last is None else last.loops)}
        return [one for one in found if begin <= one.line <= self.line or loops & {id(loop) for loop in one.loops}]

    def is_tensor(self, node: ast.expr | None) -> Known:
        """What is known of an `ast` expression that stands at this site."""
        return self.file.values.flow(self.scope).of(node, self.scope, self.block)


def _outside_with(block: Block) -> Block:
    while block.kind == "with" and block.parent is not None:
        block = block.parent
    return block


class _Named(Site):
    """A site with a path that names something."""

    __slots__ = ("path",)

    def __init__(self, file: File, syntax: ast.AST, scope: Scope, block: Block, path: str | None) -> None:
        super().__init__(file, syntax, scope, block)
        self.path = path
        """As written: ``tf.layers.dense``; None where the expression has no path."""

    @cached_property
    def found(self) -> tuple[Entity, ...]:
        """What the path names, project entities included."""
        return self.file.entities(self.scope, self._asked)

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The public names it may mean; several after a conditional import."""
        return self.file.names(self.scope, self._asked)

    @property
    def _asked(self) -> str | None:
        return self.path

    @property
    def name(self) -> str:
        """The first canonical name, or an empty string."""
        return self.names[0].canonical if self.names else ""

    @property
    def spelled(self) -> str:
        """The first absolute name as written, or an empty string."""
        return self.names[0].spelled if self.names else ""

    @property
    def is_compat_v1(self) -> bool:
        """Whether one of the meanings goes through compat.v1: that is the one taken on TF2."""
        return any(name.is_compat_v1 for name in self.names)


class Call(_Named):
    """A call. `name` and `path` are those of what is called."""

    def __init__(self, file: File, fact: CallFact) -> None:
        super().__init__(file, fact.node, fact.scope, fact.block, fact.path)
        self.fact = fact

    @property
    def _asked(self) -> str | None:
        return self.fact.callee

    @property
    def call(self) -> ast.Call:
        """The call as an `ast` node."""
        assert isinstance(self.syntax, ast.Call)
        return self.syntax

    @property
    def method(self) -> str:
        """The attribute that is called (``restore`` in ``x.restore()``), or an empty string."""
        return self.call.func.attr if isinstance(self.call.func, ast.Attribute) else ""

    @property
    def receiver(self) -> ast.expr | None:
        """The expression whose attribute is called."""
        return self.call.func.value if isinstance(self.call.func, ast.Attribute) else None

    @property
    def arguments(self) -> list[ast.expr]:
        """All argument values, positional ones first, in order."""
        return [*self.call.args, *(keyword.value for keyword in self.call.keywords)]

    @property
    def has_stars(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` may hold any argument."""
        return any(isinstance(a, ast.Starred) for a in self.call.args) or any(k.arg is None for k in self.call.keywords)

    def value(self, keyword: str, position: int | None = None) -> ast.expr | None:
        """The value of an argument as an `ast` node; None where it is not given (or may hide in ``*args``)."""
        for given in self.call.keywords:
            if given.arg == keyword:
                return given.value
        if position is not None and position < len(self.call.args):
            if not any(isinstance(a, ast.Starred) for a in self.call.args[: position + 1]):
                return self.call.args[position]
        return None

    def given_to(self, function: Scope, parameter: str) -> ast.expr | None:
        """What is surely given to a parameter of a function that it runs; None where that is left to the default."""
        bound = function.owner() is not None and not any(path_of(one) == "staticmethod" for one in function.decorators)
        position = function.parameters.index(parameter) - bound
        return self.value(parameter, position if position >= 0 else None)

    def literal(self, keyword: str, position: int | None = None, default: Any = None) -> Any:
        """The literal value of an argument; `default` where it is not given, `UNKNOWN` where it is no literal."""
        node = self.value(keyword, position)
        if node is None:
            return UNKNOWN if self.has_stars and keyword not in [k.arg for k in self.call.keywords] else default
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return UNKNOWN

    @property
    def scope_name(self) -> str:
        """How a call of ``variable_scope`` gets its name, in the words of `Site.variable_scopes`."""
        return scope_name(self.call, self.scope)

    def function_given(self, keyword: str, position: int | None = None) -> FunctionSite | None:
        """The lambda, or the function or method of this file, that is given as an argument."""
        node = self.value(keyword, position)
        if isinstance(node, ast.Lambda):
            return self.file.function_of(self.file.index.lambda_scope(node))
        found = self.entities(path_of(node))
        if len(found) == 1 and found[0].kind == "function" and found[0].file == self.file.key:
            return self.file.function_of(self.file.index.scopes[found[0].scope])
        return None

    @property
    def keywords(self) -> list[str]:
        """The names of the keyword arguments."""
        return [keyword.arg for keyword in self.call.keywords if keyword.arg]

    @cached_property
    def creates(self) -> frozenset[str]:
        """The kinds of the project's class that is constructed here; empty for anything else."""
        return frozenset(
            kind for entity in self.found if entity.kind == "class" for kind in self.file.project.kinds(entity.key)
        )

    @property
    def statement(self) -> ast.stmt:
        """The innermost statement around the call."""
        return self.fact.statement

    @property
    def discarded(self) -> bool:
        """Whether the call is a statement of its own, so that its result is lost."""
        return isinstance(self.statement, ast.Expr) and self.statement.value is self.syntax

    @cached_property
    def unread_as(self) -> str | None:
        """The one name that gets the result and is never read in the file, or an empty string for a statement.

        None where the result is used, or may be.
        """
        if self.discarded:
            return ""
        targets, home = self._targets, self.scope.function()
        if len(targets) != 1 or not isinstance(targets[0], ast.Name) or home.kind == "class":
            return None
        name = targets[0].id
        if name.startswith("_") or name in home.outer_names:
            return None
        for reference in self.file.references:
            head = split_head(reference.path or "")[0]
            if head in ("locals", "globals", "vars", "eval", "exec") and reference.called:
                return None
            if head == name:
                found = self.file.index.lookup(reference.scope, name)
                if found is None or found[0].function() is home:
                    return None
        return name

    @property
    def assigned_to(self) -> list[str]:
        """Paths of the targets that get exactly this call's result."""
        return [path for target in self._targets if (path := path_of(target))]

    @property
    def _targets(self) -> list[ast.expr]:
        statement = self.statement
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is not self.syntax:
            return []
        return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


class Reference(_Named):
    """A name that is read."""

    def __init__(self, file: File, fact: ReferenceFact) -> None:
        super().__init__(file, fact.node, fact.scope, fact.block, fact.path)
        self.called = fact.called

    @cached_property
    def origin(self) -> tuple[Name, ...]:
        """The public names from which the expression starts: those of the shortest part of its path that has some.

        ``tf`` in ``tf.layers.dense``, ``dense`` after ``from tensorflow.layers import dense``.
        """
        for position in range(1, len(self.path or "") + 1):
            if position == len(self.path or "") or (self.path or "")[position] in ".([":
                names = self.file.names(self.scope, (self.path or "")[:position])
                if names:
                    return names
        return ()

    @property
    def is_settled(self) -> bool:
        """Whether everything that its path may name is known."""
        texts = self.file.index.resolve(self.scope, self.path) if self.path is not None else ()
        another = self.file.project.is_of_another_star
        return all(self.file.resolve(text) or another(self.file.key, text) for text in texts)

    @property
    def is_local(self) -> bool:
        """Whether its first name is bound in the function around it (and not outside)."""
        found = self.file.index.lookup(self.scope, split_head(self.path or "")[0])
        return found is not None and found[0].function() is self.scope.function() and found[0].kind != "module"


class Import(_Named):
    """One imported name, which is no expression: it has no path."""

    def __init__(self, file: File, fact: ImportFact) -> None:
        super().__init__(file, fact.alias, fact.scope, fact.block, None)
        self.absolute = fact.absolute
        self.alias = fact.alias
        self._statement = fact.node

    @property
    def statement(self) -> ast.Import | ast.ImportFrom:
        """The whole import."""
        return self._statement

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The public name that the statement itself reads; none where it reads one of the project's modules.

        What such a module holds under the name, an alias or a value that a call has made, was read there.
        """
        text = self.absolute.removesuffix(".*")
        found = self.file.project.resolve(self.file.key, text)
        return tuple(Name(canonical(text), text) for entity in found if entity == Entity("external", text))

    @property
    def bound(self) -> str:
        """The name that the file has for it; empty for a star."""
        if self.is_star:
            return ""
        is_module = isinstance(self._statement, ast.Import)
        return self.alias.asname or (self.alias.name.partition(".")[0] if is_module else self.alias.name)

    @property
    def is_star(self) -> bool:
        """Whether it is ``from x import *``."""
        return self.alias.name == "*"


class Assignment(Site):
    """An assignment to one target."""

    def __init__(self, file: File, fact: AssignmentFact) -> None:
        super().__init__(file, fact.node, fact.scope, fact.block)
        self.node = fact.target
        """The target, as an `ast` node."""
        self.value = fact.value
        """The assigned expression as an `ast` node; None for loop targets and unpackings."""
        self.source = fact.source
        """What is unpacked or iterated, where `value` is None; see `way`."""
        self.augmented = fact.augmented

    @cached_property
    def way(self) -> Way:
        """From `source` to the part of it that the target gets: places, `ITERATED` for an element, `ANY` for any."""
        node = self.syntax
        return ways_to(node).get(id(self.node), (ANY,)) if isinstance(node, ast.stmt | ast.expr) else (ANY,)

    @property
    def kind(self) -> str:
        """``name``, ``attribute`` or ``item``."""
        if isinstance(self.node, ast.Attribute):
            return "attribute"
        return "item" if isinstance(self.node, ast.Subscript) else "name"

    @cached_property
    def path(self) -> str | None:
        """The target's path: ``self.v``, ``self.d[]``, ``x``."""
        return path_of(self.node)

    @property
    def self_attribute(self) -> str | None:
        """``v`` for an assignment to ``self.v`` in a method; None for anything else."""
        return self.node.attr if isinstance(self.node, ast.Attribute) and self.owner is not None else None

    @property
    def owner(self) -> ClassSite | None:
        """The class of ``self`` in an assignment to ``self.v``."""
        if isinstance(self.node, ast.Attribute) and isinstance(self.node.value, ast.Name):
            return self.class_of_self(self.node.value.id)
        return None

    @property
    def value_call(self) -> Call | None:
        """The assigned call, if the value is one."""
        return self.file.call_at(self.value)


class ChangeSite(Site):
    """A place where something is changed that may be older than the function's call."""

    def __init__(self, file: File, change: Change) -> None:
        super().__init__(file, change.node, change.scope, change.block)
        self.change = change


class _Header(Site):
    """A class or function, which is shown by its header's line."""

    @property
    def end_line(self) -> int:
        """The header's line."""
        return self.line

    @property
    def end_column(self) -> int:
        """The end of the header's line."""
        return len(self.file.lines[self.line - 1].rstrip()) + 1


class ClassSite(_Header):
    """A class."""

    def __init__(self, file: File, scope: Scope) -> None:
        assert isinstance(scope.node, ast.ClassDef) and scope.defined_in is not None
        super().__init__(file, scope.node, scope.parent or scope, scope.defined_in)
        self.body = scope
        self.name = scope.name
        self.key = (file.key, scope.id)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the class (see `linter.analysis.kinds`), through bases in any file."""
        return self.file.project.kinds(self.key)

    @property
    def is_keras(self) -> bool:
        """Whether it is a Keras layer or model (not a TF1 layer)."""
        return "layer" in self.kinds and "v1layer" not in self.kinds

    @cached_property
    def methods(self) -> dict[str, FunctionSite]:
        """Its own methods."""
        found: dict[str, FunctionSite] = {}
        for name, binds in self.body.binds.items():
            for bind in binds:
                if bind.kind == "scope" and bind.scope is not None and bind.scope.kind == "function":
                    found[name] = self.file.function_of(bind.scope)
        return found

    def defines(self, method: str) -> bool:
        """Whether it or a base of the project has a method of that name."""
        return self.file.project.method(self.key, method) is not None

    @cached_property
    def is_made_by_layers_only(self) -> bool:
        """Whether the project constructs it, and only in methods of layers and models."""
        return bool(self.makers) and not self.made_in

    @cached_property
    def makers(self) -> frozenset[tuple[str, int]]:
        """The functions and modules that construct it, themselves or by a function that returns what it constructs.

        Tests count where nothing else does.
        """
        project = self.file.project
        found, waiting = set(), list(project.makers(self.key))
        seen = set(waiting)
        while waiting:
            maker = waiting.pop()
            function = project.function(maker)
            returns = (
                function is not None
                and function["cls"] < 0
                and any(
                    entity.kind == "instance" and entity.key == self.key
                    for text in function["returns"]
                    for entity in project.resolve(maker[0], text)
                )
            )
            callers = project.callers(maker) if returns else []
            if not callers:
                found.add(maker)
            waiting += [caller for caller in callers if caller not in seen]
            seen.update(callers)
        return frozenset(key for key in found if not is_test_path(key[0])) or frozenset(found)

    @cached_property
    def made_in(self) -> tuple[str, ...]:
        """The files that construct it elsewhere than in a method of a layer or model."""
        return tuple(sorted({maker[0] for maker in self.makers if not self._is_of_layer(maker)}))

    def _is_of_layer(self, key: tuple[str, int]) -> bool:
        project = self.file.project
        function = project.function(key)
        while function is not None and function["cls"] < 0:
            key = (key[0], function["outer"])
            function = project.function(key)
        return function is not None and "layer" in project.kinds((key[0], function["cls"]))

    @property
    def knows_bases(self) -> bool:
        """Whether all its bases, in any file, are known: then nothing else can add a method to it."""
        return self.file.project.knows_bases(self.key)

    @property
    def project_bases(self) -> list[tuple[str, int]]:
        """Keys of itself and of the classes of the project that it descends from."""
        return self.file.project.mro(self.key)[0]

    @property
    def public_bases(self) -> tuple[str, ...]:
        """Canonical names of the public classes that it descends from."""
        return tuple(canonical(text) for text in self.file.project.mro(self.key)[1])

    @property
    def statements(self) -> Sequence[ast.stmt]:
        """The class body."""
        assert isinstance(self.syntax, ast.ClassDef)
        return self.syntax.body


class FunctionSite(_Header):
    """A function, method or lambda; `contexts` are those of its body."""

    def __init__(self, file: File, scope: Scope) -> None:
        assert scope.defined_in is not None
        super().__init__(file, scope.node, scope.parent or scope, scope.defined_in)
        self.body = scope
        self.name = scope.name
        self.parameters = scope.parameters
        self.key = (file.key, scope.id)

    @property
    def _contexts(self) -> tuple[int, ...]:
        return self.file.project.contexts(self.key)

    _contexts_around = _contexts

    @cached_property
    def cls(self) -> ClassSite | None:
        """The class of which it is a method."""
        owner = self.body.owner()
        return ClassSite(self.file, owner) if owner is not None else None

    @cached_property
    def decorators(self) -> tuple[Name, ...]:
        """Public names of its decorators; ``tf.function(jit_compile=True)`` ends in ``()``."""
        return tuple(name for node in self.body.decorators for name in self.file.names(self.scope, path_of(node)))

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        """The parameters that have a default, with it."""
        arguments = getattr(self.body.node, "args", None)
        if not isinstance(arguments, ast.arguments):
            return {}
        positional = [*arguments.posonlyargs, *arguments.args]
        optional = positional[len(positional) - len(arguments.defaults) :]
        pairs = [*zip(optional, arguments.defaults, strict=True)]
        pairs += ((a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None)
        return {argument.arg: default for argument, default in pairs}

    def arguments_under(self, parameters: Sequence[str], flags: Context) -> list[list[list[Any]]]:
        """What each call in a context with all `flags`, under no create-once guard, may give some parameters.

        A literal that it is given, or the default that it is left to; `UNKNOWN` for anything else.
        Empty where the function also runs in other ways.
        """
        calls = self.file.project.arguments_under(self.key, tuple(parameters), int(flags), Context.ONCE.value)
        return [
            [[self._argument(text, name) for text in texts] for name, texts in zip(parameters, call, strict=True)]
            for call in calls or ()
        ]

    def _argument(self, text: str, parameter: str) -> Any:
        if text == OMITTED:
            return self.body.defaults.get(parameter, UNKNOWN)
        return UNKNOWN if text in (GIVEN, MAYBE) else json.loads(text)

    @property
    def optional_parameters(self) -> frozenset[str]:
        """The parameters that have a default."""
        return frozenset(self.defaults)

    @property
    def statements(self) -> Iterator[ast.stmt]:
        """The statements of its own body, at any depth, without those of functions inside it."""
        return own_statements(self.syntax)

    @property
    def calls(self) -> list[Call]:
        """The calls in its own body."""
        return self.file.calls_by_function.get(self.body.id, [])

    @property
    def assignments(self) -> list[Assignment]:
        """The assignments in its own body."""
        return self.file.assignments_by_function.get(self.body.id, [])

    @cached_property
    def changes(self) -> list[ChangeSite]:
        """What its own body changes, by giving it to functions of the project too."""
        found = [ChangeSite(self.file, change) for change in self.file.changes.made_by(self.body)]
        for call in self.calls:
            for entity in call.found:
                if entity.kind == "function" and entity.file != self.file.key:
                    other = self.file.project.function(entity.key)
                    if other is not None and other["changed"] and not other["decorators"]:
                        elsewhere = from_elsewhere(call.fact, other["name"], other["parameters"], other["changed"])
                        found += [ChangeSite(self.file, change) for change in elsewhere]
        return found

    @property
    def references(self) -> list[Reference]:
        """The names read in its own body."""
        return self.file.references_by_function.get(self.body.id, [])


_S = TypeVar("_S", bound="Site")


def _by_function(sites: Sequence[_S]) -> dict[int, list[_S]]:
    found: dict[int, list[_S]] = {}
    for site in sites:
        found.setdefault(site.scope.function().id, []).append(site)
    return found
