"""The worker's job of kind ``record``: import a pair and record one side of it."""

from __future__ import annotations

import contextlib
import os
import pdb
import sys
from typing import Callable, ContextManager, Iterator

from .. import devices, phases, strategies
from ..errors import essence
from ..frames import UserCode, place_of
from ..lines import Lines
from ..patching import replaced
from ..results import Results, versions
from .format.plan import Plan
from .format.reading import Recorded, RecordingError, read
from .format.store import Recording, end_early
from .loading import Loaded, load, side_of
from .mutations.patches import mutating
from .mutations.sites import changed
from .pairs.batches import PairError
from .randomness import wide_draws
from .sides import crashed, record_side
from .tensors import Json, Strategy
from .tf1 import estimator
from .watching import constructions, normalizations

__all__ = ["execute", "without_debugger"]

_SYNCHRONOUS = (
    "the variables were on the servers, and each step ran where the coordinator is: what workers do that train beside "
    "each other, with weights that another one has moved since, was not compared"
)


def execute(job: dict[str, Json], results: Results) -> None:
    """Record one side; what ends it early is in the results as ``usage`` or ``crash``.

    A job with ``mutations`` runs the program with them, and tells what it calls. One with ``attempts``, each of them
    fields that take the place of the job's own, records each in a child that is forked when TensorFlow is imported and
    nothing else is. One with ``lines`` also tells which lines of the user's files ran.
    """
    results.begin(phases.IMPORT)
    recording = None if job.get("attempts") else _recording(job, results)
    import tensorflow as tf

    found = versions(tf)
    results.update(versions=found)
    try:
        strategies.prepare(tf, job["strategy"])
        strategy = None if job["strategy"] is None else strategies.make(tf, job["strategy"])
    except strategies.StrategyError as error:
        results.update(usage="--strategy {}: {}".format(job["strategy"]["text"], error))
        results.finish()
        return
    with contextlib.suppress(AttributeError):
        tf.debugging.disable_traceback_filtering()
    if recording is not None:
        with contextlib.ExitStack() as stack:
            if strategy is not None:
                told = _giving_way(recording, job["strategy"]["text"])
                stack.enter_context(strategies.standing_in(tf, strategy, told))
            _record(job, results, recording, found, strategy)
    else:
        _try(job, results, found)
    results.finish()


def _giving_way(recording: Recording, text: str) -> Callable[[str, str], object]:
    made: list[str] = []

    def tell(name: str, what: str) -> None:
        recording.adapted(f"{name} of the program gave way to the strategy that was asked for")
        both = strategies.two_in_one(made, what, text)
        if both:
            recording.adapted(both)

    return tell


def _recording(job: dict[str, Json], results: Results) -> Recording:
    begun: Json = dict(read(job["folder"]).content) if job.get("keep") else None
    return Recording(job["folder"], job["side"], job["tap_limit"], results.begin, begun)


def _try(job: dict[str, Json], results: Results, found: dict[str, str]) -> None:
    for number, attempt in enumerate(job["attempts"], 1):
        results.begin(f"attempt {number}")
        child = os.fork()
        if not child:
            try:
                alone = Results()
                whole = dict(job, **attempt)
                _record(whole, alone, _recording(whole, alone), found)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        how = f"by signal {status & 127}" if status & 127 else f"with status {status >> 8}"
        end_early(attempt["folder"], f"the process ended {how}")


def _record(
    job: dict[str, Json], results: Results, recording: Recording, found: dict[str, str], strategy: Strategy = None
) -> None:
    recording.content["versions"] = dict(found, target=job["target"])
    for text in job["adaptations"]:
        recording.adapted(text)
    code = UserCode(job["roots"], job["files"])
    wanted = job.get("mutations")
    heard = contextlib.nullcontext() if wanted is None else mutating(wanted, code, recording.content)

    def again() -> Loaded:
        loaded = load(job["pair"])
        changed(loaded.pair, wanted or ())
        return loaded

    watched = code.following_autograph(), without_debugger(recording.note, code), constructions.watching(code)
    with contextlib.ExitStack() as stack:
        for one in (*watched, heard, _policy(job), _normalizing(job, recording), _telling_lines(job, code, recording)):
            stack.enter_context(one)
        try:
            with estimator.standing_in(recording.adapted):
                loaded = _loaded(job, code)
            changed(loaded.pair, wanted or ())
            _require(job, loaded)
            if job["scenarios"]:
                plan = _plan(job, strategy)
                recording.content["brief"] = not plan.operations
                with _set(job, recording):
                    record_side(loaded, job["side"], plan, recording, code, _other(job), again)
        except PairError as error:
            results.update(usage=str(error))
            if job.get("attempts"):  # the host hears nothing of one of them
                recording.content["crash"] = {"cause": str(error), "place": None}
        except BaseException as error:
            results.update(crash=crashed(recording, error, code))
    recording.save()


@contextlib.contextmanager
def _telling_lines(job: dict[str, Json], code: UserCode, recording: Recording) -> Iterator[None]:
    """Keep with the recording which lines of the user's files ran in the body, if that is asked for."""
    if not job.get("lines"):
        yield
        return
    lines = Lines(code)
    try:
        with lines.recording():
            yield
    finally:
        ran: dict[str, set[int]] = {}
        for path, line, _ in lines.take():
            ran.setdefault(path, set()).add(line)
        recording.content["lines"] = [
            [path, sorted(starts), sorted(ran.get(path, ()))] for path, starts in sorted(lines.statements().items())
        ]


def _loaded(job: dict[str, Json], code: UserCode) -> Loaded:
    """The pair; a file that cannot be imported holds none."""
    try:
        return load(job["pair"])
    except PairError:
        raise
    except (Exception, SystemExit) as error:
        place = place_of(code.of_error(error))
        where = job["pair"]["file"] or job["pair"]["module"] if place is None else f"{place[0]}:{place[1]}"
        said = error.msg if isinstance(error, SyntaxError) else essence(error)
        raise PairError(f"{where}: {said}") from None


def _plan(job: dict[str, Json], strategy: Strategy) -> Plan:
    how = job["device"], job["precision"], strategy, job["reference"]
    return Plan(tuple(job["scenarios"]), job["steps"], job["seed"], job["operations"], *how)


@contextlib.contextmanager
def _policy(job: dict[str, Json]) -> Iterator[None]:
    """Let the models that Keras makes in the body compute in the precision that was asked for."""
    import tensorflow as tf

    if job["precision"] is None:
        yield
        return
    precision = tf.keras.mixed_precision
    before = precision.global_policy()
    precision.set_global_policy(job["precision"])
    try:
        with wide_draws.in_float32():
            yield
    finally:
        precision.set_global_policy(before)


def _normalizing(job: dict[str, Json], recording: Recording) -> ContextManager[None]:
    """Under a strategy, say what normalizes by replica, and in a control run let all replicas do it together."""
    if job["strategy"] is None:
        return contextlib.nullcontext()
    names: list[str] = recording.content.setdefault("normalized", [])
    return normalizations.by_replica(
        lambda name: None if name in names else names.append(name), bool(job["variant"].get("control"))
    )


def _require(job: dict[str, Json], loaded: Loaded) -> None:
    """Refuse devices that are not there, now that the program may have split one.

    Raises:
        PairError: if one is missing.
    """
    import tensorflow as tf

    if job["devices"]:
        side_of(loaded, job["side"])
    for device in job["devices"]:
        found = devices.missing(tf, device)
        if found:
            raise PairError(f"--device {device}: there is no such device, only {', '.join(found)}")


@contextlib.contextmanager
def _set(job: dict[str, Json], recording: Recording) -> Iterator[None]:
    """Run the body on the device that was asked for, and say what computes there with fewer digits."""
    import tensorflow as tf

    if job["variant"] is not None:
        notes = _arithmetic(tf, job["device"])
        if job["strategy"] is not None and job["strategy"]["servers"]:
            notes.append(_SYNCHRONOUS)
        recording.content["variant"] = dict(job["variant"], notes=notes)
    with devices.on_device(tf, job["device"]):
        yield


def _arithmetic(tf: Json, device: str | None) -> list[str]:
    """What makes a device compute otherwise than a CPU: TF32, cuDNN and XLA, as far as they are on."""
    found = []
    if device and device.startswith("GPU"):
        if tf.config.experimental.tensor_float_32_execution_enabled():
            found.append("TF32 is on: where the GPU has it, matrix products and convolutions keep 10 bits of float32")
        if tf.test.is_built_with_cuda():
            found.append("convolutions and recurrent layers go through cuDNN")
    if device and (device.startswith("TPU") or tf.config.optimizer.get_jit()):
        found.append("XLA compiles what runs in a tf.function")
    return found


@contextlib.contextmanager
def without_debugger(note: Callable[[str], None], code: UserCode) -> Iterator[None]:
    """Pass over the user's breakpoints in the body, and say where: nobody is there to go on."""

    def pass_over(*_: object, **__: object) -> None:
        place = place_of(code.stack())
        where = "" if place is None else f" ({os.path.basename(place[0])}:{place[1]})"
        note(f"a breakpoint was passed over{where}")

    with replaced(sys, "breakpointhook", pass_over), replaced(pdb, "set_trace", pass_over):
        yield


def _other(job: dict[str, Json]) -> Recorded | None:
    """The TF1 side's recording; None where there is none that can be read."""
    if job["other"] is None:
        return None
    try:
        return read(job["other"])
    except RecordingError:
        return None
