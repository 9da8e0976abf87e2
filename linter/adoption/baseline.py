"""A file of findings that are known and wait for their turn: what it holds is not reported.

It is JSON, sorted, one finding a line, so that merges are easy; `known` says how its findings are found again.
What was not looked at in a run (other files, rules that are not selected) is neither found nor stale.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Any

from ..atomic import ChangedError, replace_file
from ..finding import Target
from ..registry import registry
from ..result import BaselineStatus, Result
from ..settings.config import ALWAYS
from ..source.discovery import leads_out, trees_around
from ..source.parsing import line_of_long_number
from ..source.reading import read_bytes
from .known import Known, known_as, match, scopes

_VERSION = 1
_SIZE_LIMIT = 256 * 1024 * 1024
_HISTORY = re.compile(r'"history"\s*:')

KEEP, PRUNE, WRITE = "keep", "prune", "write"
"""What is done with the file: nothing, stale findings are taken out, or those of this run replace it."""


class BaselineError(Exception):
    """The baseline cannot be used; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the file holds: ``initial`` is the number of findings when it was written last, before any pruning.

    ``data`` are its bytes, None for one that is not there yet.
    ``history`` has how many it held from each day on which that changed, in their order; ``damage`` says with its line
    what in it is none of that, as a merge may leave it.
    """

    findings: tuple[Known, ...]
    initial: int
    data: bytes | None = None
    history: tuple[tuple[str, int], ...] = ()
    damage: tuple[str, ...] = ()


class _Doubled(dict[str, Any]):
    """An object of JSON with keys that come several times; ``pairs`` has all of them."""

    pairs: Sequence[tuple[str, Any]] = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        found = _Doubled(found)
        found.pairs = pairs
    return found


def load(file: str) -> Baseline:
    """Read a baseline.

    Raises:
        BaselineError: if it is missing, or is none.
    """
    if not os.path.lexists(file):
        raise BaselineError(f"{file}: there is no such baseline; --write-baseline makes one")
    text = ""
    try:
        data = read_bytes(file, _SIZE_LIMIT)
        text = data.decode("utf-8-sig")
        document = json.loads(text, object_pairs_hook=_object)
    except OSError as error:
        raise BaselineError(f"{file}: the baseline cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise BaselineError(f"{file}:{error.lineno}: the baseline is not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise BaselineError(f"{file}: the baseline is not JSON: it is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        line = line_of_long_number(text)
        raise BaselineError(f"{file}{f':{line}' if line else ''}: the baseline is not JSON: {error}") from error
    if not isinstance(document, dict) or "findings" not in document:
        raise BaselineError(f"{file}: this is no baseline of migrate-lint")
    if (version := document.get("version")) != _VERSION:
        said = f"version {version!r}" if isinstance(version, int | str) else "the version"
        raise BaselineError(f"{file}: {said} of the baseline is not one that this migrate-lint reads")
    rows, initial, history = document["findings"], document.get("initial", 0), document.get("history", {})
    if isinstance(document, _Doubled) and sum(key == "findings" for key, _ in document.pairs) > 1:
        line = text.count("\n", 0, text.rfind('"findings"')) + 1
        raise BaselineError(f"{file}:{line}: the findings of the baseline are there twice: make one list of both")
    if not isinstance(rows, list) or not isinstance(initial, int):
        raise BaselineError(f"{file}: this is no baseline of migrate-lint")
    findings = tuple(_entry(file, row) for row in rows)
    days = history.items() if isinstance(history, dict) else ()
    damage = tuple(f"{file}:{line}: the history of the baseline {what}" for line, what in _damage(text, document))
    sound = tuple(sorted((day, left) for day, left in days if _is_entry(day, left)))
    return Baseline(findings, max(initial, len(findings)), data, sound, damage)


def _is_entry(day: str, left: object) -> bool:
    return _is_day(day) and type(left) is int and left >= 0


def _damage(text: str, document: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """What in a history is no day with a number, or is there twice, as after a merge gone wrong, with its line."""
    history = document.get("history", {})
    start = next((found.start() for found in _HISTORY.finditer(text)), 0)
    line = text.count("\n", 0, start) + 1
    if isinstance(document, _Doubled) and sum(key == "history" for key, _ in document.pairs) > 1:
        yield line, "is there twice, of which the last one counts"
    elif not isinstance(history, dict):
        yield line, f"is no object of days with numbers and does not count: {_shown(history)}"
    else:
        at = start
        met: dict[str, Any] = {}
        for day, left in history.pairs if isinstance(history, _Doubled) else history.items():
            found = max(text.find(json.dumps(day, ensure_ascii=ascii_), at) for ascii_ in (True, False))
            at = max(at, found) + (found >= 0)
            line = text.count("\n", 0, at) + 1
            if not _is_entry(day, left):
                entry = f"{_shown(day)}: {_shown(left)}"
                yield line, f"has an entry that is no day with a number and does not count: {entry}"
            elif met.setdefault(day, left) != left:
                yield line, f"has {day} twice, with {met[day]} and {left}, of which the last one counts"


def _shown(value: object) -> str:
    try:
        return json.dumps(value)[:80]
    except RecursionError:
        return "an entry"


def _is_day(text: str) -> bool:
    with suppress(ValueError):
        return date.fromisoformat(text).isoformat() == text
    return False


def _entry(file: str, row: object) -> Known:
    values = row if isinstance(row, dict) else {}
    found = [values.get(name, default) for name, default in zip(Known._fields, (*[None] * 4, "static"), strict=True)]
    if not all(isinstance(value, str) for value in found):
        try:
            shown = json.dumps(row)[:200]
        except RecursionError:
            shown = "an entry"
        raise BaselineError(f"{file}: {shown} is no finding: path, code, scope and text are to be text")
    return Known(*map(str, found))


def _save(file: str, baseline: Baseline) -> None:
    lines = [json.dumps(_row(one)) for one in sorted(baseline.findings)]
    findings = "".join(f"\n{line}{',' if number < len(lines) else ''}" for number, line in enumerate(lines, 1))
    history = ",\n".join(f"{json.dumps(day)}: {left}" for day, left in baseline.history)
    text = (
        f'{{\n"version": {_VERSION},\n"initial": {baseline.initial},\n"history": {{\n{history}\n}},\n'
        f'"findings": [{findings}\n]\n}}\n'
    )
    try:
        replace_file(file, text.encode(), baseline.data)
    except ChangedError as error:
        raise BaselineError(f"{file}: it has changed since it was read, and is not written") from error
    except OSError as error:
        raise BaselineError(f"{file}: the baseline cannot be written: {error.strerror or error}") from error


def _row(one: Known) -> dict[str, Any]:
    row = one._asdict()
    if one.origin == "static":
        del row["origin"]
    return row


def hold(result: Result, file: str, action: str = KEEP) -> Result:
    """The result without the findings that the baseline holds, which are hidden.

    Findings that say that code was not looked at (TF900, TF902, TF908, TF909) are in no baseline.

    Args:
        result: of a run.
        file: the baseline; its folder is what the paths in it are relative to.
        action: `KEEP`, `PRUNE` or `WRITE`.

    Raises:
        BaselineError: if the file cannot be read or written, or if a file changed that it would speak of.
    """
    if leads_out(file, trees_around(project.root for project in result.projects)):
        raise BaselineError(f"{file}: the baseline is a link out of the project, and is not followed")
    before = Baseline((), 0) if action == WRITE and not os.path.lexists(file) else load(file)
    if before.damage and action != KEEP:
        raise BaselineError(f"{before.damage[0]}; mend it first, so that nothing of it is lost: nothing was written")
    comparison = _Comparison(result, file)
    able = [finding for finding in result.findings if finding.code not in ALWAYS]
    if action != KEEP:
        for display in sorted({finding.path for finding in able} & result.digests.keys()):
            if result.source(display) is None:
                raise BaselineError(f"{file}: {display} has changed since it was linted; the baseline is not written")
    current = known_as(able, result.source, comparison.path)
    if action == WRITE:
        unseen = [one for one in before.findings if not comparison.judged(one)]
        again = match(unseen, current, judged=lambda one: False, scopes_of=comparison.scopes_of)
        kept = [one for index, one in enumerate(unseen) if index not in again]
        found = dict(enumerate(range(len(able))))
        after = Baseline((*kept, *current), len(kept) + len(current), before.data, before.history)
        status = BaselineStatus(file, after.initial, after.initial, 0, len(kept), WRITE)
    else:
        found = match(before.findings, current, judged=comparison.judged, scopes_of=comparison.scopes_of)
        missing = [one for index, one in enumerate(before.findings) if index not in found]
        kept = [one for one in missing if not comparison.judged(one)]
        stale = len(missing) - len(kept)
        left = (*kept, *(current[index] for index in found.values()))
        after = Baseline(left, before.initial, before.data, before.history)
        status = BaselineStatus(file, before.initial, len(found) + len(kept), stale, len(kept), action)
    if action != KEEP:
        if not before.history or before.history[-1][1] != len(after.findings):
            history = {**dict(before.history), date.today().isoformat(): len(after.findings)}
            after = replace(after, history=tuple(sorted(history.items())))
        _save(file, after)
    status = replace(status, history=after.history, damage=before.damage)
    held = [able[index] for index in found.values()]
    identities = set(map(id, held))
    return replace(
        result,
        findings=tuple(finding for finding in result.findings if id(finding) not in identities),
        hidden=tuple(sorted((*result.hidden, *held), key=lambda finding: finding.sort_key)),
        baseline=status,
    )


class _Comparison:
    """What a run looked at, in the words of a baseline."""

    def __init__(self, result: Result, file: str) -> None:
        self.result = result
        self.folder = os.path.dirname(os.path.abspath(file))
        self.displays = {os.path.normpath(path): display for display, (path, _) in result.sources.items()}
        self.unread = {finding.path for finding in result.findings if finding.code in ALWAYS}
        self.targets = {project.target for project in result.projects}
        self.scopes_of = cache(self._scopes_of)
        self.judged = cache(self._judged)

    def path(self, display: str) -> str:
        """A file as the baseline calls it: relative to the baseline's folder, with ``/``."""
        path = self.result.sources[display][0] if display in self.result.sources else os.path.abspath(display)
        with suppress(ValueError):  # another drive
            path = os.path.relpath(path, self.folder)
        return path.replace(os.sep, "/")

    def _file(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, path))

    def _scopes_of(self, path: str) -> frozenset[str] | None:
        file = self._file(path)
        if file not in self.displays:
            return frozenset() if os.path.lexists(file) else None
        return scopes(self.result.source(self.displays[file]))

    def _judged(self, one: Known) -> bool:
        """Whether this run would have found it if it were still there."""
        run = self.result.runtime
        if self.result.milder:  # it may be among what was found and is too mild to be told
            return False
        if one.code in ALWAYS or (run.trusted if run is not None else one.origin != "static"):
            return False
        file = self._file(one.path)
        if file not in self.displays:
            return not os.path.lexists(file)
        if self.displays[file] in self.unread or one.code not in self.result.selected(file):
            return False
        targets = _targets_of(one.code)
        return targets is None or not self.targets.isdisjoint(targets)


def _targets_of(code: str) -> frozenset[Target] | None:
    """The targets that a rule is for; None for a code of migrate-lint itself, or one that is no more."""
    return {rule.code: rule.targets for rule in registry.all_rules()}.get(code)
