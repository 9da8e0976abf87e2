"""What a rule author writes against: `Rule`, its metadata and its report.

A rule is one class in one module below ``rules/``, named by its slug: ``rules/variables/variable_in_call.py``
holds ``VariableInCall`` and its slug is ``variable-in-call``.
It declares which sites it wants to see, and yields reports; the engine does the rest.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..finding import Applicability, Consequence, Severity, Target

if TYPE_CHECKING:
    from .model import Assignment, Call, ClassSite, File, FunctionSite, Import, Project, Reference, Site

__all__ = ["SECTIONS", "Applicability", "Consequence", "Report", "Rule", "Severity", "Target", "documentation"]

SECTIONS = ("Why", "Example", "Fix", "Source")
"""The headings that every rule's docstring has, in this order."""


@dataclass(frozen=True, slots=True)
class Report:
    """A rule's statement about one site; the engine turns it into a `Finding`."""

    site: Site
    message: str
    severity: Severity


class Rule:
    """One hazard.

    Subclasses set ``code``, ``severity`` and ``consequence``, and at least one gate with its method:

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
    ``on_assignment``, ``on_class``, ``on_function``, ``on_file``, ``on_project``
        are called for every such site when overridden.

    A rule never imports, runs or opens anything: what it may know is on the site.
    """

    code: ClassVar[str]
    severity: ClassVar[Severity]
    consequence: ClassVar[Consequence]
    targets: ClassVar[frozenset[Target]] = frozenset(Target)
    calls: ClassVar[tuple[str, ...]] = ()
    methods: ClassVar[tuple[str, ...]] = ()
    creates: ClassVar[tuple[str, ...]] = ()
    references: ClassVar[tuple[str, ...]] = ()
    imports: ClassVar[tuple[str, ...]] = ()
    yields_to: ClassVar[tuple[str, ...]] = ()
    """Codes of more specific rules: where one of them reports the same site, this rule is silent."""

    def on_call(self, call: Call) -> Iterator[Report]:
        """Judge a call whose name passed a gate."""
        return iter(())

    def on_reference(self, reference: Reference) -> Iterator[Report]:
        """Judge a name that is read, whether it is called or not."""
        return iter(())

    def on_import(self, statement: Import) -> Iterator[Report]:
        """Judge one imported name."""
        return iter(())

    def on_assignment(self, assignment: Assignment) -> Iterator[Report]:
        """Judge an assignment to a name, an attribute or an item."""
        return iter(())

    def on_class(self, cls: ClassSite) -> Iterator[Report]:
        """Judge a class as a whole."""
        return iter(())

    def on_function(self, function: FunctionSite) -> Iterator[Report]:
        """Judge a function, method or lambda as a whole."""
        return iter(())

    def on_file(self, file: File) -> Iterator[Report]:
        """Judge a file as a whole."""
        return iter(())

    def on_project(self, project: Project) -> Iterator[Report]:
        """Judge the project once."""
        return iter(())

    def report(self, site: Site, message: str, severity: Severity | None = None) -> Report:
        """State that `site` has this hazard, at the rule's own severity unless another is proven."""
        return Report(site, message, self.severity if severity is None else severity)

    @classmethod
    def slug(cls) -> str:
        """The hazard's name in words: the module's name with dashes."""
        return cls.__module__.rpartition(".")[2].replace("_", "-")


def documentation(rule: type[Rule]) -> dict[str, str]:
    """Split a rule's docstring into ``Summary`` and the `SECTIONS`.

    Raises:
        ValueError: if a section is missing, empty or out of order.
    """
    head, *rest = re.split(r"^## ", inspect.cleandoc(rule.__doc__ or ""), flags=re.M)
    parts = {title.strip(): body.strip() for title, _, body in (part.partition("\n") for part in rest)}
    if tuple(parts) != SECTIONS or not head.strip() or not all(parts.values()):
        raise ValueError(f"{rule.__module__}: docstring sections are {tuple(parts)}, wanted {SECTIONS}")
    return {"Summary": head.strip()} | parts
