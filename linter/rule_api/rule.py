"""What a rule author writes against: `Rule`, its metadata and its diagnostics.

A rule is one class in one module below ``rules/``, named by its slug: ``rules/variables/variable_in_call.py``
holds ``VariableInCall`` and its slug is ``variable-in-call``.
It declares which sites it wants to see, and yields diagnostics; the engine does the rest.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, Any, ClassVar

from ..analysis.names import canonical
from ..finding import Applicability, Consequence, Effort, Finding, Location, Severity, Target

if TYPE_CHECKING:
    import libcst

    from .model import Assignment, Call, ClassSite, File, FunctionSite, Import, Reference, Site

__all__ = [
    "SECTIONS",
    "Applicability",
    "Consequence",
    "Diagnostic",
    "Effort",
    "Finding",
    "Replacement",
    "Rule",
    "Severity",
    "Target",
    "documentation",
    "unreachable",
]

_SAFETY = "Fix safety"
SECTIONS = ("Why", "Example", "Fix", _SAFETY, "Source")
"""The headings that every rule's docstring has, in this order; how safe a fix is says one that has a `Rule.fix`."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A rule's statement about one site, in the terms of a `Finding`, which the engine turns it into.

    The path of a related location is the name of its file within the project.
    """

    site: Site
    message: str
    severity: Severity
    consequence: Consequence
    subject: str | None
    related: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class Replacement:
    """What is to stand in place of the node that a rule was asked to fix.

    ``node`` is None where nothing is: then a statement is taken out, which an expression cannot be.
    In place of a statement there may be several.
    ``reason`` says what a person has to look at, where the fix is not safe.
    ``imports`` are what the new node needs and the file does not import: each a module, a name of it or None, and an
    alias or None.
    """

    node: libcst.CSTNode | libcst.FlattenSentinel[Any] | None
    applicability: Applicability = Applicability.SAFE
    reason: str = ""
    imports: tuple[tuple[str, str | None, str | None], ...] = ()


class Rule:
    """One hazard.

    Subclasses set ``code``, ``severity`` and ``consequence`` (the last two are what `report` says unless it is told
    otherwise), ``effort`` (what it takes to mend a finding), and at least one gate with its method; one without is
    refused:

    ``calls``
        canonical names (see `linter.analysis.names`) of called objects, for `on_call`;
        ``"keras.layers.*"`` matches everything below, ``"print"`` a builtin.
    ``methods``
        attribute names called on anything, such as ``numpy`` in ``x.numpy()``, for `on_call`.
    ``creates``
        kinds of class of this project (`layer`, `model`, ...) whose construction is wanted, for `on_call`.
    ``references``
        canonical names that are read, called or not, for `on_reference`.
    ``imports``
        canonical names that are imported, for `on_import`.
    ``assigns``
        kinds of targets, ``name``, ``attribute`` and ``item``, for `on_assignment`; all of them unless set.
    ``on_assignment``, ``on_class``, ``on_function``, ``on_file``
        are called for every such site when overridden.
    ``fix``
        makes what it reports go away, where that is mechanical, on libcst nodes; see `fixes_statement`.

    A rule never imports, runs or opens anything: what it may know is on the site.
    What it has to know of the whole project it asks `File.project`, from the site that it reports.
    """

    code: ClassVar[str]
    severity: ClassVar[Severity]
    consequence: ClassVar[Consequence]
    targets: ClassVar[frozenset[Target]] = frozenset(Target)
    effort: ClassVar[Effort] = Effort.THOUGHT
    calls: ClassVar[tuple[str, ...]] = ()
    methods: ClassVar[tuple[str, ...]] = ()
    creates: ClassVar[tuple[str, ...]] = ()
    references: ClassVar[tuple[str, ...]] = ()
    imports: ClassVar[tuple[str, ...]] = ()
    assigns: ClassVar[tuple[str, ...]] = ("name", "attribute", "item")
    of_keras: ClassVar[bool] = False
    """Whether it tells of the Keras that is installed: TensorFlow's own old copy, which TF308 speaks of, is another."""
    fixes_statement: ClassVar[bool] = False
    """Whether `fix` is given the statement around a site that is an expression."""
    fixes_function: ClassVar[bool] = False
    """Whether `fix` is given the function around a site, its ``def`` included."""
    supersedes: ClassVar[tuple[str, ...]] = ()
    """Codes of more general rules, which are silent where this one reports the same site."""
    recipe: ClassVar[str] = ""
    """The page below ``docs/recipes`` that has the old way and the new one as whole programs, if there is one."""
    beside: ClassVar[tuple[str, ...]] = ()
    """Codes of rules that may report the same site as well, since they tell what this one does not."""

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a call whose name passed a gate."""
        return iter(())

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """Judge a name that is read, whether it is called or not."""
        return iter(())

    def on_import(self, statement: Import) -> Iterator[Diagnostic]:
        """Judge one imported name."""
        return iter(())

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge an assignment to a name, an attribute or an item."""
        return iter(())

    def on_class(self, cls: ClassSite) -> Iterator[Diagnostic]:
        """Judge a class as a whole."""
        return iter(())

    def on_function(self, function: FunctionSite) -> Iterator[Diagnostic]:
        """Judge a function, method or lambda as a whole."""
        return iter(())

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """Judge a file as a whole."""
        return iter(())

    def fixed_part(self, site: Any) -> ast.expr | ast.stmt | None:
        """What `fix` is given of a site: an expression or a statement around it, or None where nothing is mechanical.

        By default the site itself, or the statement around it where the rule `fixes_statement`, or the function where
        it `fixes_function`.
        """
        if self.fixes_function:
            function = None if site.function is None else site.function.syntax
            return function if isinstance(function, ast.FunctionDef) else None
        syntax: ast.AST = site.syntax
        if isinstance(syntax, ast.stmt) or (isinstance(syntax, ast.expr) and not self.fixes_statement):
            return syntax
        around: ast.stmt | None = site.statement
        return around

    def fix(self, node: Any, site: Any) -> Replacement | None:
        """What is to stand in place of a node, or None where that is not mechanical.

        It is asked where fixes are made or shown, of sites that this rule has reported.

        Args:
            node: the `fixed_part` of the site as a libcst node; a statement is a `libcst.SimpleStatementLine` or a
                compound one.
            site: what was reported.
        """
        return None

    def report(
        self,
        site: Site,
        message: str,
        severity: Severity | None = None,
        *,
        consequence: Consequence | None = None,
        subject: str | None = None,
        related: Iterable[Location] = (),
    ) -> Diagnostic:
        """State that `site` has this hazard.

        Args:
            site: where it is.
            message: what happens at runtime, and what to do.
            severity: the rule's own, unless another is proven.
            consequence: what the message says will happen; the rule's own, unless it is another.
            subject: the attribute, variable or symbol meant; by default the public name that the site is about.
            related: other places that the message speaks of; see `Site.location` and `Site.callers`.
        """
        return Diagnostic(
            site=site,
            message=intern(message),
            severity=severity or self.severity,
            consequence=consequence or self.consequence,
            subject=subject or getattr(site, "spelled", "") or None,
            related=tuple(related),
        )

    @classmethod
    def effort_of(cls, subject: str | None) -> Effort:
        """What it takes to mend a finding of this rule about a subject; the rule's own, unless that tells more."""
        return cls.effort

    @classmethod
    def slug(cls) -> str:
        """The hazard's name in words: the module's name with dashes."""
        return cls.__module__.rpartition(".")[2].replace("_", "-")


def documentation(rule: type[Rule]) -> dict[str, str]:
    """Split a rule's docstring into ``Summary`` and the `SECTIONS` that it has to have.

    Raises:
        ValueError: if a section is missing, empty or out of order.
    """
    head, *rest = re.split(r"^## ", inspect.cleandoc(rule.__doc__ or ""), flags=re.M)
    parts = {title.strip(): body.strip() for title, _, body in (part.partition("\n") for part in rest)}
    wanted = tuple(title for title in SECTIONS if title != _SAFETY or rule.fix is not Rule.fix)
    if tuple(parts) != wanted or not head.strip() or not all(parts.values()):
        raise ValueError(f"{rule.__module__}: docstring sections are {tuple(parts)}, wanted {wanted}")
    return {"Summary": head.strip()} | parts


_GATES = {"on_call": ("calls", "methods", "creates"), "on_reference": ("references",), "on_import": ("imports",)}
"""The methods that are called for what passes a gate, and the gates of each."""
_UNGATED = ("on_assignment", "on_class", "on_function", "on_file")


def unreachable(rule: type[Rule]) -> str | None:
    """What keeps a rule, or a part of it, from ever being asked about a site; None if nothing does."""
    overridden = {name for name in (*_GATES, *_UNGATED) if getattr(rule, name) is not getattr(Rule, name)}
    if not overridden:
        return f"none of {', '.join((*_GATES, *_UNGATED))} is defined"
    for method, gates in _GATES.items():
        for gate in gates:
            names = getattr(rule, gate)
            if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
                return f"{gate} is to be a tuple of names, not {names!r}"
            if names and method not in overridden:
                return f"{gate} is set, and {method} is not defined"
        if method in overridden and not any(getattr(rule, gate) for gate in gates):
            return f"{method} is not called without {' or '.join(gates)}"
    if rule.assigns != Rule.assigns and not ("on_assignment" in overridden and set(rule.assigns) <= set(Rule.assigns)):
        return f"assigns is to have some of {', '.join(Rule.assigns)}, for an on_assignment that is defined"
    for name in (*rule.calls, *rule.references, *rule.imports):
        if (seen := canonical(name.removesuffix(".*"))) != name.removesuffix(".*"):
            return f"the canonical name of {name} is {seen}"
    return None
