"""One verification: a worker for each side, a folder with what both recorded, and the comparison."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..linter.finding import Finding, Target
from . import interpreter, planning, process, strategies
from .comparison.rungs import VARIANTS as KINDS
from .comparison.rungs import reached
from .locate import DEFAULT_ATTRIBUTE, Located, LocateError, locate
from .supervised import scratch
from .unfilled import unfilled
from .worker.recording.format import scenarios

if TYPE_CHECKING:
    from .comparison.report import Report
    from .worker.recording.format.plan import Plan
    from .worker.recording.format.reading import Recorded

__all__ = [
    "PRECISIONS", "RUN", "SIDES", "Again", "Request", "VerifyUsageError", "compare", "generated_test", "locate_pair",
    "measures_noise", "pair_job", "run", "run_folder", "write_run"
]

SIDES = ("tf1", "tf2")
"""The folders of a run, a recording each."""
TODAY = "tf1-today"
"""The folder of a third one: the TF1 side in the TensorFlow of the TF2 side."""
VARIANTS = "variants"
"""The folder of a run with what the TF2 side recorded in other settings, a folder each."""
ATTEMPTS = "attempts"
"""The folder of a run with what the TF2 side recorded again, a folder each; it is removed when they are compared."""
PRECISIONS = ("mixed_bfloat16", "mixed_float16")
"""The policies of Keras under which the TF2 side can be run again."""
RUN = "run.json"
"""The file of a run's folder that says what was asked for."""
_NOT_KEPT = (
    "comparing recordings runs nothing: what --find-cause or --seed-bugs found in this run is in the report made then"
)
_FORMAT = 1
_GIB = 1 << 30
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker", "start.py")
_ON_KERAS2 = "the TF1 side ran with Keras 2, for which TF1 programs were written: Keras 3 has no tf.compat.v1.layers"


_NO_FIELDS: Mapping[str, Mapping[str, Any]] = {}


class VerifyUsageError(ValueError):
    """The verification makes no sense as it was asked for; the text says why."""


@dataclass(frozen=True)
class Request:
    """What is to be verified, and how.

    ``pair`` names it (``pair.py``, ``pair.py:name`` or ``package.module:name``); ``until`` is the last rung, by name or
    number; ``policy`` is ``guide``, ``noise`` or a file; ``target`` is the Keras of the TF2 side, by default ``likely``
    where ``python`` has it, which was read off what ``because`` says, or else the one that ``tf.keras`` is there;
    ``python_tf1`` is the interpreter of the TF1 side, by default the same one; ``oracle`` also computes both sides in
    float64.
    ``devices`` are such as ``CPU:0``: both sides run on the first, by default on the CPU with accelerators hidden, and
    the TF2 side once more on each further one. ``precisions`` are policies of Keras, `PRECISIONS`, under each of which
    the TF2 side runs once more; ``strategies`` are such as ``mirrored:2``, see `strategies`, with the same.
    ``timeout`` is in seconds for each scenario and training step, ``memory_limit`` and ``tap_limit`` are in GiB,
    ``roots`` are the folders whose files are the user's; ``output`` keeps the recordings; ``tensorboard`` is a folder
    for the summaries and the traces of both sides; ``working_folder`` is that of the sides, by default this process's.
    """

    pair: str
    until: str | None = None
    policy: str = "noise"
    steps: int = 3
    seed: int = 42
    target: Target | None = None
    likely: Target | None = None
    because: str = ""
    python: str | None = None
    python_tf1: str | None = None
    timeout: float = 300.0
    memory_limit: float | None = 8.0
    tap_limit: float = 2.0
    roots: tuple[str, ...] = ()
    output: str | None = None
    tensorboard: str | None = None
    oracle: bool = False
    devices: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    working_folder: str | None = None

    def numbered(self) -> tuple[str, ...]:
        """The devices as TensorFlow numbers them, each once.

        Raises:
            VerifyUsageError: if one is written otherwise.
        """
        try:
            return tuple(dict.fromkeys(map(interpreter.device, self.devices)))
        except ValueError as error:
            raise VerifyUsageError(str(error)) from None

    def variants(self) -> list[_Variant]:
        """The other settings in which the TF2 side runs again.

        Raises:
            VerifyUsageError: if one is written otherwise.
        """
        devices = self.numbered()
        precisions = [_Variant("precision", one, "float32") for one in dict.fromkeys(self.precisions)]
        spread = [_Variant("strategy", one, "one device") for one in self._strategies()]
        return [_Variant("device", one, devices[0]) for one in devices[1:]] + spread + precisions

    def _strategies(self) -> tuple[str, ...]:
        try:
            found = [strategies.parse(text) for text in self.strategies]
        except ValueError as error:
            raise VerifyUsageError(str(error)) from None
        return tuple(dict.fromkeys(one["text"] for one in found))


class _Variant(NamedTuple):
    """A setting of the TF2 side: what it is, and the value that is the ordinary one."""

    kind: str
    value: str
    ordinary: str
    control: bool = False
    """Of a strategy: whether batch normalization is done by all replicas together, and not by each."""


def locate_pair(text: str, root: str | None = None) -> tuple[Located, str | None]:
    """Where a pair is, and its name there; without a colon there is no name.

    Raises:
        VerifyUsageError: if the text names nothing that could be a pair.
    """
    try:
        located = locate(text, os.getcwd(), root)
    except LocateError as error:
        raise VerifyUsageError(str(error).replace(f":{DEFAULT_ATTRIBUTE}", "")) from error
    named = located.attribute != DEFAULT_ATTRIBUTE or text.endswith(f":{DEFAULT_ATTRIBUTE}")
    return located, located.attribute if named else None


def pair_job(located: Located, name: str | None) -> dict[str, Any]:
    """A pair's place as the worker wants it."""
    return {"file": located.file, "module": located.module, "attribute": name, "search_path": list(located.search_path)}


def run(
    request: Request,
    lint: Callable[[Sequence[str]], Sequence[Finding]] = lambda files: (),
    progress: Callable[[str], None] | None = None,
    then: Callable[[Report, Again], Report] | None = None,
    fields: Mapping[str, Mapping[str, Any]] = _NO_FIELDS,
) -> Report:
    """Record both sides in workers and compare them.

    Args:
        request: what is to be verified.
        lint: gets the user's files that the TF2 side ran, and gives what static analysis finds in the pair's.
        progress: told in words what runs now.
        then: gets the report and the means to run its sides again; gives back the report that is shown.
        fields: of the jobs of both sides, by the names of the sides, besides those that they always have.

    Raises:
        VerifyUsageError: if the pair, an interpreter, the policy or a folder cannot be had.
    """
    _require_numpy()
    noise = measures_noise(request.policy)
    located, name = locate_pair(request.pair, request.roots[0] if request.roots else None)
    if located.file is not None and (missing := unfilled(located.file)):
        raise VerifyUsageError(f"{request.pair} is not finished; fill in\n  " + "\n  ".join(missing))
    try:
        asked = partial(
            planning.plan, request.until, noise=noise, steps=request.steps, seed=request.seed, oracle=request.oracle
        )
        plan, brief = asked(), asked(brief=True)
    except ValueError as error:
        raise VerifyUsageError(f"--until: {error}") from error
    first, second = _interpreters(request)
    devices, variants = request.numbered(), request.variants()
    if variants and then is not None:
        raise VerifyUsageError("--find-cause and --seed-bugs run the TF2 side on one device, as it is")
    _require_folder(request.tensorboard)
    swapped = first[1] is Target.KERAS2 and second[1] is Target.KERAS3
    with run_folder(request.output) as folder:
        asked_for = {
            "pair": located.file or located.module,
            "attribute": name,
            "until": request.until,
            "policy": request.policy,
            "steps": request.steps,
            "seed": request.seed,
        }
        write_run(folder, asked_for)
        sides = (
            _Side(request, "tf1", *first, folder, [_ON_KERAS2] if swapped else []),
            _Side(request, "tf2", *second, folder, _chosen(request, second[1])),
        )
        wanted = {second[0].executable: (sides[1], devices)}
        wanted.setdefault(first[0].executable, (sides[0], devices[:1]))
        for side, names in wanted.values() if devices else ():
            side.record(plan._replace(scenarios=()), pair_job(located, name), progress, devices=list(names))
        for variant in variants:
            if variant.kind == "strategy" and not strategies.is_of_cpus(strategies.parse(variant.value)):
                asking = replace(sides[1], variant=variant)
                asking.record(plan._replace(scenarios=()), pair_job(located, name), progress)
        for side in sides:
            own = fields.get(side.side, {})
            side.record(plan if then is not None else brief, pair_job(located, name), progress, **own)

        for side in sides if request.tensorboard is not None else ():
            side.profile(plan, pair_job(located, name), progress)
        waiting = list(variants)
        while waiting:
            variant = waiting.pop(0)
            again = replace(sides[1], variant=variant)
            again.record(planning.variant(plan, variant.kind, variant.control), pair_job(located, name), progress)
            waiting += _controls(again)

        findings = lint(_sources(os.path.join(folder, "tf2")))

        def compared() -> Report:
            if progress is not None:
                progress("comparison")
            return compare(folder, policy=request.policy, until=request.until, findings=findings)

        report, today = compared(), None
        if then is None and (_differs(report) or report.undecided):
            from .comparison.repeated import confirmed

            for side in filter(_Side.is_brief, sides):
                rest = planning.rest(brief, plan)
                side.record(rest, pair_job(located, name), progress, keep=True)
            report = confirmed(report, compared())
        if _differs(report) and first[0].tensorflow != second[0].tensorflow:
            today = _Side(request, "tf1", second[0], _target_of_tf1(second[0]), folder, place=TODAY)
            today.record(plan, pair_job(located, name), progress)
            report = compared()
        if then is None:
            return report
        if today is not None and not _tells(folder, request):
            today = None
        runs = Again(request, plan, sides, pair_job(located, name), findings, progress, today)
        try:
            report = then(report, runs)
        finally:
            runs.forget()
        write_run(folder, {**asked_for, "tried": True})
        return report


def compare(
    tf1: str | os.PathLike[str],
    tf2: str | os.PathLike[str] | None = None,
    *,
    policy: Any = "noise",
    until: str | None = None,
    findings: Sequence[Finding] = (),
    **options: Any,
) -> Report:
    """Compare two recordings; nothing but numpy is needed.

    Args:
        tf1: the folder of the TF1 side, or that of a run, which holds both, the TF1 side in the other's TensorFlow
            where that was run, and the TF2 side in other settings.
        tf2: the folder of the TF2 side.
        policy: ``"guide"``, ``"noise"`` or the path of a file.
        until: the last rung, by name or number.
        findings: the linter's, to be linked to causes.
        options: ``renames``, ``transposes``, ``reshapes``, ``ignore`` and ``name``, in place of the pair's.

    Raises:
        VerifyUsageError: if numpy is missing, a folder holds no recording, or the policy cannot be used.
    """
    _require_numpy()
    from .comparison.compare import compare as compared
    from .comparison.judging.tolerances import PolicyError
    from .comparison.results import Trial
    from .comparison.versions import attributed
    from .worker.recording.format.reading import RecordingError, read

    today, variants = None, []
    if tf2 is None:
        variants = [os.path.join(tf1, VARIANTS, name) for name in _listed(os.path.join(tf1, VARIANTS))]
        tf1, tf2, today = (os.path.join(tf1, place) for place in (*SIDES, TODAY))
    try:
        reached(until)
    except ValueError as error:
        raise VerifyUsageError(f"--until: {error}") from error
    try:
        recorded = [read(os.fspath(tf1)), read(os.fspath(tf2))]
        sides = [one.side for one in recorded]
        if sides != list(SIDES):
            raise VerifyUsageError(f"{tf1} and {tf2} hold the sides {sides[0]} and {sides[1]}, not tf1 and tf2")
        crashes = {one.side: one.content["crash"]["cause"] for one in recorded if one.content.get("crash")}
        said = {"policy": policy, "until": until, "findings": findings, "variants": _settings(variants), **options}
        report = compared(*recorded, crashes=crashes, **said)
        if today is not None and os.path.isdir(today) and os.listdir(today):
            report = attributed(report, recorded[0], read(today), recorded[1], said)
        return replace(report, trial=Trial("not tried", left=_NOT_KEPT)) if _tried(tf1, tf2) else report
    except (RecordingError, PolicyError) as error:
        raise VerifyUsageError(str(error)) from error


def _controls(side: _Side) -> list[_Variant]:
    """The runs that tell what batch normalization by replica makes of a strategy: synchronized, on one device too."""
    from .worker.recording.format.reading import read

    variant = side.variant
    if variant is None or variant.kind != "strategy" or variant.control or variant.value == scenarios.ALONE:
        return []
    if not read(side.folder).content.get("normalized"):
        return []
    alone = variant._replace(value=scenarios.ALONE, control=True)
    known = os.path.isdir(replace(side, variant=alone).folder)
    return [variant._replace(control=True), *(() if known else (alone,))]


def _sources(folder: str) -> list[str]:
    """The user's files that a recorded side ran."""
    from .worker.recording.format.reading import RecordingError, read

    try:
        return [str(path) for path in read(folder).content.get("sources") or ()]
    except RecordingError:  # what is wrong with it, its comparison says
        return []


def _differs(report: Report) -> bool:
    """Whether both sides were run to their end and differ, in their ordinary setting."""
    return report.status == 1 and any(rung.status == "fail" and rung.name not in KINDS for rung in report.rungs)


def _listed(folder: str | os.PathLike[str]) -> list[str]:
    """The folders in a folder, if there is one."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name for name in names if os.path.isdir(os.path.join(folder, name)))


def _settings(folders: Sequence[str]) -> list[Recorded]:
    """The recordings of the TF2 side in other settings.

    Raises:
        RecordingError: if one cannot be read, or is none.
    """
    from .worker.recording.format.reading import RecordingError, read

    found = [read(folder) for folder in folders]
    for one in found:
        if "variant" not in one.content:
            raise RecordingError(f"{one.folder} holds no recording of the TF2 side in another setting")
    return found


def _tried(*folders: str | os.PathLike[str]) -> bool:
    """Whether both recordings are of one run, in which the TF2 side was run with changes."""
    from .worker.recording.format.reading import RecordingError, read_json

    parents = {os.path.dirname(os.path.abspath(folder)) for folder in folders}
    path = Path(parents.pop(), RUN)
    if parents or not path.is_file():
        return False
    with contextlib.suppress(RecordingError):
        said = read_json(path)
        return isinstance(said, dict) and said.get("tried") is True
    return False


def generated_test(folder: str, beside: str | None = None) -> str:
    """The text of a unit test that repeats a run.

    Args:
        folder: of the run.
        beside: the folder that the test will lie in, by default the working folder.

    Raises:
        VerifyUsageError: if the folder holds no run of the command, or not all of it.
    """
    _require_numpy()
    from .comparison import gen_test
    from .comparison.judging.tolerances import PolicyError
    from .worker.recording.format.reading import RecordingError, read_json, require
    from .worker.recording.format.schema import RUN as ASKED

    path = Path(folder, RUN)
    if not path.is_file():
        raise VerifyUsageError(f"this is no folder of a run, which holds a {RUN}")
    try:
        said = read_json(path)
        if not isinstance(said, dict) or not said.get("pair"):
            raise VerifyUsageError("this run was not made by the command, so it names no file of a pair")
        require(path, said, ASKED)
        return gen_test.generate(folder, said, beside)
    except VerifyUsageError:
        raise
    except RecordingError as error:
        raise VerifyUsageError(str(error)) from error
    except (PolicyError, ValueError) as error:
        raise VerifyUsageError(f"{path}: {error}") from error


def _require_numpy() -> None:
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise VerifyUsageError(
            f"verify needs numpy, which is not installed here: pip install numpy ({error})"
        ) from None


def measures_noise(policy: Any) -> bool:
    """Whether a policy wants the noise floor of both sides.

    Raises:
        VerifyUsageError: if it cannot be used.
    """
    from .comparison.judging import tolerances

    try:
        return tolerances.named(policy).base == "noise"
    except tolerances.PolicyError as error:
        raise VerifyUsageError(f"--policy: {error}") from error


def _interpreters(request: Request) -> tuple[tuple[interpreter.Interpreter, Target | None], ...]:
    """The interpreter of each side, with the Keras that it runs; None is what a TF 1 has."""
    try:
        second = interpreter.describe(request.python)
        first = second if request.python_tf1 is None else interpreter.describe(request.python_tf1)
        target = interpreter.chosen(second, request.target, request.likely)
    except interpreter.InterpreterError as error:
        raise VerifyUsageError(str(error)) from error
    if first.tensorflow is None:
        raise VerifyUsageError(
            f"{first.executable} has no TensorFlow: install it there, or name another interpreter."
        )
    return (first, _target_of_tf1(first)), (second, target)


def _chosen(request: Request, target: Target | None) -> list[str]:
    """Why the TF2 side has the Keras that it has, where the project around it says so."""
    told = request.target is None and target is not None and target is request.likely and bool(request.because)
    return [f"the TF2 side ran with {target}: {request.because}"] if told else []


def _target_of_tf1(python: interpreter.Interpreter) -> Target | None:
    """Keras 2 wherever it can be had: TF1 programs were written for it."""
    for target in (Target.KERAS2, Target.KERAS3):
        if interpreter.unsupported(python, target) is None:
            return target
    return None


@contextlib.contextmanager
def run_folder(output: str | None) -> Iterator[str]:
    """The folder of a run: a temporary one, or one that is new, empty or an earlier run's.

    Raises:
        VerifyUsageError: if it holds something else, cannot be written, or another run is writing there.
    """
    if output is None:
        with scratch() as folder:
            yield folder
        return
    from .worker.recording.format.store import clear

    path = os.path.abspath(output)
    with contextlib.ExitStack() as held:
        try:
            os.makedirs(path, exist_ok=True)
            if not held.enter_context(_locked(path)):
                raise VerifyUsageError(f"--output {output}: another run is writing there")
            if os.listdir(path) and not os.path.isfile(os.path.join(path, RUN)):
                raise VerifyUsageError(f"--output {output}: this folder is not empty, and holds no earlier run")
            for side in SIDES:
                os.makedirs(os.path.join(path, side), exist_ok=True)
            for side in (*SIDES, TODAY):
                if os.path.isdir(os.path.join(path, side)):
                    clear(os.path.join(path, side))
            for setting in _listed(os.path.join(path, VARIANTS)):
                clear(os.path.join(path, VARIANTS, setting))
                os.rmdir(os.path.join(path, VARIANTS, setting))
            Path(path, RUN).write_text("{}", "utf-8")
        except OSError as error:
            raise VerifyUsageError(f"--output {output}: it cannot be written: {error.strerror or error}") from error
        yield path


def _require_folder(path: str | None) -> None:
    """Make the folder for TensorBoard, before anything is run.

    Raises:
        VerifyUsageError: if it cannot be written.
    """
    if path is None:
        return
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise VerifyUsageError(f"--tensorboard {path}: it cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[bool]:
    """Whether this run alone holds a folder for the body; the system lets go of it when the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield True
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        except OSError:  # a file system without locks
            yield True
        else:
            yield True
    finally:
        os.close(descriptor)


def write_run(folder: str, asked: dict[str, Any]) -> None:
    """Say in a run's folder what was asked for."""
    from .worker.recording.format.store import replace_json

    replace_json(os.path.join(folder, RUN), {"format": _FORMAT, **asked}, indent=2)


def _tells(folder: str, request: Request) -> bool:
    """Whether the TF1 side in the other's TensorFlow can stand for it: see `versions.attributed`."""
    from .comparison.versions import across
    from .worker.recording.format.reading import read

    old, today = (read(os.path.join(folder, place)) for place in ("tf1", TODAY))
    return not across(old, today, {"policy": request.policy, "until": request.until})[1]


@dataclass(frozen=True)
class Again:
    """A run whose TF1 side is recorded: its TF2 side can be recorded again, with mutations of the program.

    ``sites`` of the TF2 side's recording says what they can change, see `worker.recording.mutations.sites`.
    """

    request: Request
    plan: Plan
    sides: Sequence[_Side]
    pair: dict[str, Any]
    findings: Sequence[Finding]
    progress: Callable[[str], None] | None
    today: _Side | None = None
    """The TF1 side in the TensorFlow of the TF2 side, where the report is of that one."""

    @property
    def folders(self) -> tuple[str, str]:
        """The recordings of both sides: of TF1 that which is to be compared with."""
        return (self.today or self.sides[0]).folder, self.sides[1].folder

    def record(self, plan: Plan, attempts: Sequence[Sequence[Mapping[str, Any]]], timeout: float) -> list[str]:
        """Record the TF2 side once with each of these lists of mutations, as what the plan says; gives the folders.

        One process imports TensorFlow and forks a child for each, where that can be done. One that takes longer than
        `timeout`, in seconds, is ended, and those behind it leave an empty folder.
        """
        folders = [tempfile.mkdtemp(dir=self._kept()) for _ in attempts]
        jobs = [
            {"folder": folder, "mutations": list(mutations)}
            for folder, mutations in zip(folders, attempts, strict=True)
        ]
        side = self.sides[1]
        whole = min(timeout, self.request.timeout * (len(plan.scenarios) + plan.steps))
        if hasattr(os, "fork"):
            side.record(plan, self.pair, self.progress, whole, attempts=jobs, other=self.folders[0])
        else:
            for job in jobs:
                limit = min(timeout, self.request.timeout)
                side.record(plan, self.pair, self.progress, limit, other=self.folders[0], **job)
        return folders

    def elsewhere(self, side: str, move: Callable[[str], str], progress: str) -> str:
        """Record a side from files that lie elsewhere, from where the TF1 side began; gives the folder.

        Args:
            side: ``tf1`` or ``tf2``; both run in the TensorFlow of the TF2 side.
            move: gives of a path that where its files are now.
            progress: what this is, in words.

        Raises:
            VerifyUsageError: if there is no such pair there.
        """
        request = replace(
            self.request,
            roots=tuple(map(move, self.request.roots)),
            working_folder=move(os.getcwd()),
        )
        python = self.sides[1].python
        target = _target_of_tf1(python) if side == "tf1" else self.sides[1].target
        run = tempfile.mkdtemp(dir=self._kept())
        place = TODAY if side == "tf1" else side
        os.mkdir(os.path.join(run, place))
        moved = _Side(request, side, python, target, run, self.sides[side == "tf2"].adaptations, place=place)
        pair = {
            **self.pair,
            "file": self.pair["file"] and move(self.pair["file"]),
            "search_path": [*map(move, self.pair["search_path"])],
        }
        tell = self.progress
        told = None if tell is None else lambda phase: tell(f"{progress}: {phase}")
        moved.record(self.plan, pair, told, other=self.folders[0], lines=True)
        return moved.folder

    def longer(self, steps: int) -> Again:
        """The same with more training steps; the TF1 side is recorded anew, in a folder of its own."""
        plan = self.plan._replace(steps=steps)
        run = os.path.join(self._kept(), f"steps-{steps}")
        sides = [replace(side, run=run) for side in self.sides]
        today = None if self.today is None else replace(self.today, run=run)
        os.makedirs(run)
        for side in filter(None, (sides[0], today)):
            side.record(plan, self.pair, self.progress)
        return replace(self, plan=plan, sides=sides, today=today)

    def forget(self) -> None:
        """Remove what was recorded again."""
        shutil.rmtree(os.path.join(self.sides[1].run, ATTEMPTS), ignore_errors=True)

    def _kept(self) -> str:
        path = os.path.join(self.sides[1].run, ATTEMPTS)
        os.makedirs(path, exist_ok=True)
        return path


@dataclass(frozen=True)
class _Side:
    """One worker's run."""

    request: Request
    side: str
    python: interpreter.Interpreter
    target: Target | None
    run: str
    adaptations: Sequence[str] = ()
    place: str = ""
    """The folder of the recording in that of the run, by default that of the side."""
    variant: _Variant | None = None
    """The setting of the TF2 side, where that is another one than the ordinary."""

    @property
    def name(self) -> str:
        """The folder of the recording in that of the run."""
        if self.variant is None:
            return self.place or self.side
        name = f"{self.variant.kind}-{self.variant.value}" + ("-synchronized" if self.variant.control else "")
        return os.path.join(VARIANTS, name.replace(":", "-"))

    @property
    def folder(self) -> str:
        return os.path.join(self.run, self.name)

    @property
    def device(self) -> str | None:
        """Where the side runs; None leaves that to TensorFlow, which sees no accelerators then."""
        if self._set("strategy"):
            return None
        return self._set("device") or next(iter(self.request.numbered()), None)

    def _set(self, kind: str) -> str | None:
        """The value of a setting in which the TF2 side is run; None where that is the ordinary one."""
        return self.variant.value if self.variant is not None and self.variant.kind == kind else None

    def is_brief(self) -> bool:
        """Whether what was recorded lacks what a second run would add: a side that runs itself tells all of it."""
        from .worker.recording.format.reading import read

        return bool(read(self.folder).content.get("brief"))

    def record(
        self,
        plan: Plan,
        pair: dict[str, Any],
        progress: Callable[[str], None] | None,
        timeout: float | None = None,
        **more: Any,
    ) -> None:
        """Run the worker to its end, whatever that is; what ended it early is in the recording.

        Args:
            plan: what to record.
            pair: the place of the pair.
            progress: told in words what runs now.
            timeout: in seconds for each phase, by default what was asked for.
            more: fields of the job.

        Raises:
            VerifyUsageError: if the pair cannot be used.
        """
        limit = self._limit
        outcome = self._start(self._job(plan, pair, limit) | more, limit, progress, timeout)
        self._keep(outcome.output)
        if usage := (outcome.results or {}).get("usage"):
            raise VerifyUsageError(str(usage))
        if outcome.cause and "attempts" not in more and "folder" not in more:
            self._crashed(outcome)
        elif outcome.cause:
            from .worker.recording.format.store import end_early

            for job in more.get("attempts", [more]):
                end_early(job["folder"], outcome.reason)

    def profile(self, plan: Plan, pair: dict[str, Any], progress: Callable[[str], None] | None) -> None:
        """Have a side that was recorded timed and traced for TensorBoard; what came of it is in the recording."""
        from .worker.recording.format.reading import RecordingError, read
        from .worker.recording.format.store import RECORD, replace_json

        with contextlib.suppress(RecordingError):
            content: dict[str, Any] = dict(read(self.folder).content)
            job = self._job(plan, pair, self._limit)
            job |= {"kind": "profile", "tensorboard": os.path.abspath(self.request.tensorboard or "")}
            job["ended"] = bool(content.get("crash"))
            outcome = self._start(job, self._limit, progress)
            found = (outcome.results or {}).get("timing")
            timing = found if isinstance(found, dict) else {}
            content["timing"] = {"what": "", "seconds": [], "memory": [], "traced": 0, "problem": "", **timing}
            if outcome.cause:
                content["timing"]["problem"] = outcome.reason
            replace_json(os.path.join(self.folder, RECORD), content)

    @property
    def _limit(self) -> int | None:
        """Bytes of memory that the worker may have."""
        return None if not self.request.memory_limit else int(self.request.memory_limit * _GIB)

    def _start(
        self,
        job: dict[str, Any],
        limit: int | None,
        progress: Callable[[str], None] | None,
        timeout: float | None = None,
    ) -> process.Outcome:
        keras = {} if self.target is None else interpreter.keras_environment(self.python, self.target)
        if any(not one.startswith("CPU") for one in (*job["devices"], self.device or "CPU")):
            keras = keras | interpreter.accelerators()
            job["memory_limit"] = None  # they reserve more than they will touch
        return process.start(
            self.python.executable,
            _WORKER,
            job,
            timeout=timeout or self.request.timeout,
            memory_limit=limit,
            environment=keras,
            on_phase=None if progress is None else lambda phase: progress(f"{self.name}: {phase}"),
            folders=[self.run] if self.request.output is None else [],
            working_folder=self.request.working_folder,
        )

    def _keep(self, output: str) -> None:
        """Lay what the side printed beside its recording."""
        from .worker.recording.format.store import OUTPUT

        if output.strip() and os.path.isdir(self.folder):
            Path(self.folder, OUTPUT).write_text(output, "utf-8", "replace")

    def _job(self, plan: Plan, pair: dict[str, Any], limit: int | None) -> dict[str, Any]:
        own = os.path.dirname(pair["file"]) if pair["file"] else None
        other = os.path.join(self.run, "tf1") if self.place or self.side == "tf2" else None
        strategy = self._set("strategy")
        return {
            "kind": "record",
            "side": self.side,
            "target": "tf1" if self.target is None else self.target.value,
            "pair": pair,
            "folder": self.folder,
            "other": other,
            "scenarios": list(plan.scenarios),
            "steps": plan.steps,
            "seed": plan.seed,
            "operations": plan.operations,
            "tap_limit": int(self.request.tap_limit * _GIB),
            "memory_limit": limit,
            "roots": [*self.request.roots, *([own] if own else [])],
            "files": [pair["file"]] if pair["file"] else [],
            "adaptations": list(self.adaptations),
            "device": self.device,
            "devices": [],
            "precision": self._set("precision"),
            "strategy": None if strategy is None else strategies.parse(strategy),
            "reference": None if self.variant is None else os.path.join(self.run, "tf2"),
            "variant": None if self.variant is None else self.variant._asdict(),
        }

    def _crashed(self, outcome: process.Outcome) -> None:
        """Write into the recording why it is not complete; one that was never begun is begun here."""
        from .worker.recording.format.reading import RecordingError, read
        from .worker.recording.format.store import RECORD, Recording, replace_json

        try:
            content: dict[str, Any] = dict(read(self.folder).content)
        except RecordingError:
            content = dict(Recording(self.folder, self.side).content)
        frame = outcome.crash_frame
        place = None if frame is None else list(frame)
        cause = outcome.reason + ("" if frame is None else f" ({os.path.basename(frame[0])}:{frame[1]})")
        content["crash"] = {"cause": cause, "place": place}
        running = content["scenarios"].get(outcome.phase)
        if running is not None and running["outcome"] == "failed":
            running.update(detail=outcome.reason, place=place)
        content.update(seconds=round(outcome.seconds, 3), peak_memory=outcome.peak_memory)
        content["versions"] = content["versions"] or _versions(outcome)
        if self.variant is not None:
            content.setdefault("variant", self.variant._asdict())
        replace_json(os.path.join(self.folder, RECORD), content)


def _versions(outcome: process.Outcome) -> dict[str, str]:
    """What the worker said before it ended; empty where it said nothing that could be one."""
    from .protocol import ResultsError, results

    try:
        return dict(results(outcome.results or {}, ()).versions)
    except ResultsError:
        return {}
