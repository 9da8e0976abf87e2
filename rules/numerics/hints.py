"""Old names whose obvious replacement computes something else: said once for a name and file."""

from __future__ import annotations

from ...linter.rule_api.model import Call, Reference, is_test_path


def is_sure(call: Call | Reference) -> bool:
    """Whether one public name is surely called on the target, and nothing of the project."""
    one_name = len({name.canonical for name in call.names}) == 1
    return one_name and not call.version_checked and all(entity.kind == "external" for entity in call.found)


def is_first(call: Call | Reference, code: str) -> bool:
    """Whether one public name is surely called on the target, and the rule was not asked of it in this file before.

    What a test computes is not carried over: nothing is said of it.
    """
    if call.file.is_test or not is_sure(call):
        return False
    told: set[str] = call.file.once(f"told by {code}", set)
    if call.name in told:
        return False
    told.add(call.name)
    return True


def is_first_in_project(call: Call, code: str) -> bool:
    """Whether it is the first, as `is_first` has it, in the first file of the project that reads the name.

    Notebooks come after other files, and tests do not count.
    """
    project = call.file.project
    users = [file for file in project.files_using(call.name) if not is_test_path(file)]
    return call.file.key == (users[0] if users else project.first_file_using(call.name)) and is_first(call, code)
