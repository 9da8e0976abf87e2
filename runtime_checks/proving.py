"""What a pair of programs, or a model, does when some of its files are changed: tried in a copy of its project."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..linter.finding import PROBE_FAILED
from ..linter.runtime_report import Attempt, PhaseOutcome, RuntimeReport, Try
from . import session, verifying
from .supervised import scratch

if TYPE_CHECKING:
    from .comparison.report import Report
    from .worker.recording.format.reading import Recorded

__all__ = ["model", "pair"]

Body = Callable[[Attempt, Try], None]

_Places = tuple[tuple[str, int], ...]
_RANDOM = "random"
"""The rung of programs that begin with numbers of their own."""
_NUMBER = re.compile(r"\d+")
_PLACE = re.compile(r"([^:\n]*+):(\d++)")
_RUNG = re.compile(r"^rung \w+, ")
_LINES = {side: {"lines": True} for side in verifying.SIDES}


def pair(request: verifying.Request, progress: Callable[[str], None] | None, body: Body) -> None:
    """Run both sides of a pair as they are, and again as often as `body` likes.

    What is to hold: the TF2 side is equal to the TF1 side as that is now, and so is the TF1 side. A TF2 side that
    differs as it is holds too where it computes just what it does now.

    Args:
        request: what is to be verified, and how.
        progress: told in words what runs now.
        body: is given how the pair is as its files stand, and what tries others.

    Raises:
        VerifyUsageError: if the pair, an interpreter or the policy cannot be had.
    """

    def prove(report: Report, again: verifying.Again) -> Report:
        from .worker.recording.format.reading import read

        sides = [read(folder) for folder in again.folders]
        told = "" if report.equal else _difference(report)
        lines = _both(_lines(side, str) for side in sides)
        base = Attempt(report.equal, report.status != 4, told, "", _places(report, str), lines)
        body(base, _Pair(again, report, *sides).tried)
        return report

    verifying.run(request, progress=progress, then=prove, fields=_LINES)


class _Pair:
    """Runs a pair with changed files, and compares it with itself as it was."""

    def __init__(self, again: verifying.Again, report: Report, tf1: Recorded, tf2: Recorded) -> None:
        self.again = again
        self.report = report
        self.before = {"tf1": tf1, "tf2": tf2}
        self.count = 0

    def tried(self, files: Mapping[str, bytes]) -> Attempt:
        from .worker.recording.format.reading import RecordingError

        self.count += 1
        with copied(self.again.request.roots, files) as copy:
            try:
                one, other = (self._recorded(side, files, copy) for side in self.before)
                return self._judged(one, other, copy)
            except (verifying.VerifyUsageError, RecordingError) as error:
                return Attempt(False, False, copy.told(str(error)), "", tuple(copy.mentioned(str(error))))
            finally:
                self.again.forget()

    def _recorded(self, side: str, files: Mapping[str, bytes], copy: Copy) -> Recorded:
        """A side with the files; one that loads none of them is what it was."""
        from .worker.recording.format.reading import read

        before = self.before[side]
        if not files.keys() & _lines(before, str).keys() and not before.content.get("crash"):
            return before
        return read(self.again.elsewhere(side, copy.of, f"attempt {self.count}"))

    def _judged(self, one: Recorded, other: Recorded, copy: Copy) -> Attempt:
        lines = _both(_lines(side, copy.back) for side in (one, other))
        itself = self._itself(one, copy)
        if not itself.holds:
            return replace(itself, told=f"the TF1 side: {itself.told}", lines=lines)
        against = self._against(other, copy)
        told = "; ".join(filter(None, (itself.told, against.told))) if against.holds else against.told
        return replace(against, told=told, lines=lines)

    def _itself(self, one: Recorded, copy: Copy) -> Attempt:
        """Whether the TF1 side does what it did before."""
        from .comparison.versions import across

        before, request = self.before["tf1"], self.again.request
        if one is before:
            return Attempt(True, True)
        report, why = across(before, one, {"policy": request.policy, "until": request.until})
        old, new = (str(side.content["versions"].get("tensorflow")) for side in (before, one))
        if old != new:  # whose initializers draw by other operations, which cannot be aligned
            report = replace(report, rungs=tuple(rung for rung in report.rungs if rung.name != _RANDOM))
        if not why and report.equal:
            random = f"what is drawn at random was not compared between TensorFlow {old} and {new}"
            return Attempt(True, True, "" if old == new else random)
        return _attempt(report, one, copy, why)

    def _against(self, other: Recorded, copy: Copy) -> Attempt:
        """Whether the TF2 side does what the TF1 side did before, or else what it did itself."""
        from .comparison.variants import difference

        before, request = self.before["tf2"], self.again.request
        if other is before and self.report.status in (0, 1):
            return Attempt(True, True, _not_compared(self.report))
        report = verifying.compare(self.before["tf1"].folder, other.folder, policy=request.policy, until=request.until)
        differs = not report.equal
        if differs and (self.report.status, report.status) == (1, 1):
            differs = bool(difference(before, other, request.policy))
        return _attempt(report, other, copy) if differs else Attempt(True, True, _not_compared(report))


def _not_compared(report: Report) -> str:
    """What no rung compared, without the reasons, which verify tells."""
    from .comparison.wording import some

    names = [_RUNG.sub("", text.partition(" (")[0]) for text in report.not_compared]
    return f"not compared: {some(names)}" if names else ""


def _attempt(report: Report, recorded: Recorded, copy: Copy, why: str = "") -> Attempt:
    """What a report says of a side that is not equal."""
    crashes = tuple(_crash(recorded, copy))
    first = report.first_divergence
    value = "" if first is None else f"{first.deviation.kind} {first.deviation.tf1_name}"
    told, places = copy.told(why or _difference(report)), (*crashes, *_places(report, copy.back))
    return Attempt(False, not crashes and not recorded.content.get("crash"), told, value, places)


def _difference(report: Report) -> str:
    """What is not equal, or why that is not known, in words."""
    crashed = next((f"{side.side.upper()}: {side.cause}" for side in report.sides if side.cause), "")
    failed = (f"{rung.title}: {rung.detail}" for rung in report.rungs if str(rung.status) == "fail")
    first = "" if report.first_divergence is None else report.first_divergence.text
    found = crashed or first or next(failed, "") or next(iter(report.problems), "")
    empty = next((rung.detail for rung in report.rungs if rung.detail), "no rung was climbed")
    return found or f"nothing was compared: {empty}"


def _places(report: Report, back: Callable[[str], str]) -> _Places:
    """Where what is not equal may come from, the likeliest line first."""
    first = report.first_divergence
    found = []
    if first is not None:
        pair = first.operation
        found += [side.place for side in (pair and pair.tf2, pair and pair.tf1) if side]
        found += [first.deviation.tf2_place]
    found += [place for cause in report.causes for place in (cause.tf2_place, cause.tf1_place)]
    return tuple(dict.fromkeys((back(place[0]), place[1]) for place in found if place))


def _crash(recorded: Recorded, copy: Copy) -> Iterator[tuple[str, int]]:
    crash = recorded.content.get("crash") or {}
    places = [crash.get("place"), *(one.place for one in recorded.scenarios.values() if one.outcome == "failed")]
    for place in filter(None, places):
        yield copy.back(place[0]), place[1]


_Lines = Mapping[str, tuple[frozenset[int], frozenset[int]]]


def _lines(recorded: Recorded, back: Callable[[str], str]) -> _Lines:
    told = recorded.content.get("lines") or ()
    return {back(path): (frozenset(starts), frozenset(ran)) for path, starts, ran in told}


def _both(several: Iterable[_Lines]) -> _Lines:
    found: dict[str, tuple[frozenset[int], frozenset[int]]] = {}
    for lines in several:
        for path, (starts, ran) in lines.items():
            known = found.get(path, (frozenset(), frozenset()))
            found[path] = known[0] | starts, known[1] | ran
    return found


# -- a model -----------------------------------------------------------------------------------------------------------


def model(request: session.Request, progress: Callable[[str], None] | None, body: Body) -> None:
    """Run a model as it is, and again as often as `body` likes.

    What is to hold: every phase that ended well still does, and nothing is observed that was not before. No numbers
    are compared.

    Args:
        request: what is to be run, and how.
        progress: told in words what runs now.
        body: is given how the model is as its files stand, and what tries others.

    Raises:
        RuntimeUsageError: if the target, the inputs, the interpreter, a device or a strategy cannot be had.
    """
    before = session.run(request, (), (), progress)
    well = _well(before)
    file = session.locate_target(request.target, request.roots[0] if request.roots else None) or ""
    broken = "; ".join(one.message for one in before.added if one.code == PROBE_FAILED.code)

    def tried(files: Mapping[str, bytes]) -> Attempt:
        with copied(request.roots, files) as copy:
            there = replace(
                request,
                target=f"{copy.of(file)}:{request.target.rpartition(':')[2]}",
                roots=tuple(map(copy.of, request.roots)),
                working_folder=copy.of(os.getcwd()),
            )
            try:
                after = session.run(there, (), (), progress)
            except session.RuntimeUsageError as error:
                return Attempt(False, False, copy.told(str(error)))
            now, still = _phases(after), _well(after)
            gone = [name for name in well if name not in still]
            lost = [f"{name} fails: {now[name].detail if name in now else 'it was not run'}" for name in gone]
            new = Counter(_observed(after, copy)) - Counter(_observed(before, copy))
            places = tuple((copy.back(os.path.realpath(one.path)), one.line) for one in after.added)
            ended = bool(still) and not lost
            told = _first(lost, "phases that ended well before") or _first([*new], "observations")
            text = told or ("" if ended else "no phase of the run ended well")
            return Attempt(ended and not new, ended, copy.told(text), "", places, _ran(after, copy.back))

    body(Attempt(bool(well) and not broken, bool(well), broken, lines=_ran(before, str)), tried)


def _first(texts: Sequence[str], what: str) -> str:
    """The first of several texts, and how many there are."""
    return f"{texts[0]} (the first of {len(texts)} {what})" if len(texts) > 1 else "".join(texts)


def _phases(report: RuntimeReport) -> dict[str, PhaseOutcome]:
    return {f"{run.target}: {phase.name}": phase for run in report.runs for phase in run.phases}


def _well(report: RuntimeReport) -> list[str]:
    """The phases that ended well, in their order."""
    return [name for name, phase in _phases(report).items() if phase.outcome == "ok"]


def _observed(report: RuntimeReport, copy: Copy) -> Iterator[str]:
    """What was observed; lines may move."""
    return (_NUMBER.sub("#", copy.told(one.message)) for one in report.added if one.code != PROBE_FAILED.code)


def _ran(report: RuntimeReport, back: Callable[[str], str]) -> _Lines:
    return _both(
        {
            back(os.path.realpath(file.path)): (
                frozenset(file.statements),
                frozenset(line for _, lines in file.ran for line in lines),
            )
        }
        for run in report.runs
        for file in run.lines
    )


# -- a copy ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Copy:
    """Folders and where their copies are; all are real paths."""

    folders: Mapping[str, str]

    def of(self, path: str) -> str:
        """Where a path is in the copy; itself where it was not copied."""
        real = os.path.realpath(path)
        for folder, copy in self.folders.items():
            if real == folder or real.startswith(os.path.join(folder, "")):
                return copy + real[len(folder) :]
        return path

    def back(self, path: str) -> str:
        """Where a path of the copy comes from."""
        for folder, copy in self.folders.items():
            if path == copy or path.startswith(os.path.join(copy, "")):
                return folder + path[len(copy) :]
        return path

    def told(self, text: str) -> str:
        """A text about the copy as one about what was copied."""
        for folder, copy in self.folders.items():
            text = text.replace(copy, folder)
        return text

    def mentioned(self, text: str) -> Iterator[tuple[str, int]]:
        """The files of the copy that a text names with a line."""
        for copy in self.folders.values():
            for behind in text.split(copy)[1:]:
                if place := _PLACE.match(behind):
                    yield self.back(copy + place[1]), int(place[2])


_CODE = (".py", ".ipynb")
_CACHE = "__pycache__"


@contextlib.contextmanager
def copied(roots: Sequence[str], files: Mapping[str, bytes]) -> Iterator[Copy]:
    """The folders with other contents of some files, for the body.

    Code is copied, so that no path leads back; all else is a link, data may be large.

    Args:
        roots: folders; what lies in another one of them is copied with that.
        files: contents by real paths.
    """
    real = sorted({os.path.realpath(root) for root in roots})
    tops = [one for one in real if not any(one.startswith(os.path.join(other, "")) for other in real if other != one)]
    with scratch() as folder:
        there = {top: os.path.join(os.path.realpath(folder), str(number)) for number, top in enumerate(tops)}
        copy = Copy(there)
        for top in tops:
            _copy(top, copy, files)
        yield copy


def _copy(top: str, copy: Copy, files: Mapping[str, bytes]) -> None:
    folders = _with_code(top)
    for folder in folders:
        os.makedirs(copy.of(folder), exist_ok=True)
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                real, new = os.path.join(folder, entry.name), os.path.join(copy.of(folder), entry.name)
                if os.path.isdir(new) or entry.name == _CACHE:
                    continue
                if real in files:
                    with open(new, "wb") as file:
                        file.write(files[real])
                elif entry.is_file(follow_symlinks=False) and entry.name.endswith(_CODE):
                    shutil.copyfile(real, new)
                else:
                    os.symlink(copy.of(real) if entry.is_symlink() else real, new)


def _with_code(top: str) -> list[str]:
    """The folders with code of the project, somewhere in them; none that is hidden, and no environment."""
    found = {top}
    for folder, folders, names in os.walk(top):
        folders[:] = [one for one in folders if one[0] != "." and one != _CACHE and not _is_environment(folder, one)]
        if any(name.endswith(_CODE) for name in names):
            found |= _up_to(folder, found)
    return sorted(found)


def _up_to(folder: str, known: Set[str]) -> set[str]:
    """A folder and those that it is in, up to one that is known."""
    return set() if folder in known else {folder, *_up_to(os.path.dirname(folder), known)}


def _is_environment(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
