"""What the rules say of names of TF1: of calls that raise without a graph, of what only compat.v1 has."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Context, Reference
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .api_status import is_plain, missing, written
from .contexts import certainty, is_only_traced


def judged(rule: Rule, call: Call, error: str, advice: str, traced: str = "") -> Iterator[Diagnostic]:
    """Say that a call raises: for its name, which left ``tf``, or else by how sure it is that it runs eagerly.

    Args:
        rule: which speaks.
        call: of a name that needs a graph.
        error: the type that is raised in eager execution.
        advice: what to do instead.
        traced: the type that is raised in a trace, where one is.
    """
    if call.version_checked or not call.names or any(entity.kind != "external" for entity in call.found):
        return
    name = written(call.names[0]) if "(" not in call.names[0].spelled else call.path or call.method
    if is_plain(call):
        if not call.in_graph:
            yield rule.report(call, f"`{name}` raises AttributeError on TF2: {advice}.")
        return
    severity = certainty(call)
    if severity is None:
        return
    if is_only_traced(call) and not call.runs(Context.FIT):
        if traced:
            yield rule.report(call, f"`{name}` raises {traced} where it is traced: {advice}.", severity)
        return
    where = "in eager execution" if severity is Severity.ERROR else "where eager execution is on"
    yield rule.report(call, f"`{name}` raises {error} {where}: {advice}.", severity)


def named(rule: Rule, reference: Reference, what: str, advice: str, topic: str = "") -> Iterator[Diagnostic]:
    """Speak of a name that left ``tf``, which raises, and of one of compat.v1, once for each topic and file, as info.

    Args:
        rule: which speaks.
        reference: the name that is read.
        what: what is the matter with the name of compat.v1.
        advice: what to do instead.
        topic: what is told once; by default the name.
    """
    if reference.version_checked or not reference.names or any(one.kind != "external" for one in reference.found):
        return
    name = written(reference.names[0])
    if is_plain(reference):
        if missing(reference) is not None:
            yield rule.report(
                reference,
                f"`{name}` raises AttributeError on TF2: {advice}.",
                Severity.ERROR,
                consequence=Consequence.BREAKS,
            )
    elif all(one.is_compat_v1 for one in reference.names):
        told: set[str] = reference.file.once(f"told of {rule.code}", set)
        if (topic or name) not in told:
            told.add(topic or name)
            yield rule.report(
                reference, f"`{name}` {what}: {advice}.", Severity.INFO, consequence=Consequence.LEGACY
            )
