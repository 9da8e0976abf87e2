"""Old names whose obvious replacement computes something else: said once for a name and file."""

from __future__ import annotations

from ...linter.rule_api.model import Call, Reference


def is_first(call: Call | Reference, code: str) -> bool:
    """Whether one public name is surely called on the target, and the rule was not asked of it in this file before.

    What a test computes is not carried over: nothing is said of it.
    """
    if call.version_checked or call.file.is_test or len({name.canonical for name in call.names}) != 1:
        return False
    if any(entity.kind != "external" for entity in call.found):
        return False
    told: set[str] = call.file.once(f"told by {code}", set)
    if call.name in told:
        return False
    told.add(call.name)
    return True
