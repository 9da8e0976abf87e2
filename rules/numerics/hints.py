"""Old names whose obvious replacement computes something else: said once for a name and file."""

from __future__ import annotations

from ...linter.rule_api.model import Call


def is_first(call: Call, code: str) -> bool:
    """Whether a public name is called on the target, and the rule was not asked of it in this file before."""
    if call.version_checked or not call.names or any(entity.kind != "external" for entity in call.found):
        return False
    told: set[str] = call.file.once(f"told by {code}", set)
    if call.name in told:
        return False
    told.add(call.name)
    return True
