"""What the run showed that no finding accounts for: the findings that only a run can make."""

from __future__ import annotations

import ast
import os
from dataclasses import replace
from typing import Any, FrozenSet, Iterator, Mapping, Sequence, Tuple

from .conditions import calls_at
from .creation import creations, made_through
from .criteria import names_of
from .devices import hides_gpus, logical_devices
from .errors import essence, one_line
from .frames import Frame, place_of
from .phases import STEPS, NothingRanError, Phase
from .recorder import Event
from .recreation import made_again
from .run import CONFIRMED, Judgement, Run, StaticFinding
from .tracking import Made, identities, is_frozen, is_optimized, read_in_traces, tracked
from .under_strategy import reason

__all__ = ["observe"]

_FRAMES_SHOWN = 3
_TRAINED = ("bfloat", "complex", "float")
"""The dtypes of what has a gradient; TensorFlow calls counters trainable, too."""
_LATE = frozenset({"optimizer", "metric"})
_FRAMEWORK = _LATE | {"counter", "seed", "trainer"}

_OTHERS_TAKEN = "takes others without a word"

Explained = FrozenSet[Event]
"""The events that findings account for."""
Decided = Sequence[Tuple[StaticFinding, Judgement]]


def observe(run: Run, explained: Explained, decided: Decided = ()) -> list[dict[str, Any]]:
    """Observations as JSON: path, line, severity, phase and message.

    Args:
        run: what happened.
        explained: the events that findings account for.
        decided: the findings that a phase decided, with their verdicts.
    """
    found = [
        *_created_again(run, explained),
        *_created_in_scopes(run, explained),
        *_refused(run, explained),
        *_untracked(run, explained),
        *_raised_in_a_call(run, explained, decided),
        *_raised_in_traces(run, explained, decided),
        *_retraced(run, explained),
        *_resources(run, explained),
        *_raised_under_strategy(run, explained, decided),
        *_absent_devices(run, explained),
    ]
    return sorted(found, key=lambda one: (one["path"] or "", one["line"], one["message"]))


def _observation(
    kind: str, frames: Sequence[Frame], phase: Phase, severity: str, message: str, advice: str = ""
) -> dict[str, Any]:
    places: dict[tuple[str, int], Frame] = {}
    for frame in frames:
        places.setdefault(frame[:2], frame)
    return {
        "kind": kind,
        "path": frames[0].path if frames else None,
        "line": frames[0].line if frames else 0,
        "frames": [list(frame) for frame in places.values()][:_FRAMES_SHOWN],
        "severity": severity,
        "phase": str(phase),
        "message": one_line(message) + advice,
    }


def _of_event(kind: str, event: Event, severity: str, message: str) -> dict[str, Any]:
    return _observation(kind, event.frames, event.phase, severity, message)


def _by_place(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Events of the same innermost line together."""
    places: dict[Any, list[Event]] = {}
    for event in events:
        places.setdefault(event.frames[0][:2] if event.frames else None, []).append(event)
    return iter(places.values())


def _made_in_follow_ups(run: Run) -> list[Event]:
    return made_again(run.events("variable"))


def _new_variables(run: Run, explained: Explained) -> list[Event]:
    """The variables that calls of a model that has been called made, and that no finding is about.

    An optimizer or a metric may make its own late, once; those that several eager calls made on the same line are new
    optimizers and metrics.
    """
    found = []
    for events in _by_place([event for event in _made_in_follow_ups(run) if event not in explained]):
        own = [event for event in events if not _FRAMEWORK & set(event.detail["by"])]
        late = [event for event in events if _LATE & set(event.detail["by"])]
        found += events if len({event.phase for event in late if not event.phase.traced}) > 1 else own
    return found


def _told(run: Run, explained: Explained) -> set[tuple[str, int]]:
    """The places of the variables that such calls made, and that a finding is about or that are reported here."""
    told = [event for event in _made_in_follow_ups(run) if event in explained] + _new_variables(run, explained)
    return {event.frames[0][:2] for event in told if event.frames}


def _created_again(run: Run, explained: Explained) -> Iterator[dict[str, Any]]:
    """One for each cause: a scope that gets another name, something that is made again, or a line of its own."""
    renamed = _renamed(run)
    causes: dict[Any, list[Event]] = {}
    for event in _new_variables(run, explained):
        cause = _cause(event, renamed)
        causes.setdefault(cause.frames[0][:2] if cause.frames else None, []).append(event)
    for events in causes.values():
        cause = _cause(events[0], renamed)
        lines = {event.frames[0][:2] for event in events if event.frames}
        made = creations(events) + (f", made on {len(lines)} lines" if len(lines) > 1 else "")
        message = f"calls of the model that was built make new variables here: {made}{_why(cause, events[0])}"
        yield _of_event("created again", replace(events[0], frames=cause.frames), "error", message)


def _cause(event: Event, renamed: Mapping[tuple[Phase, str], Event]) -> Event:
    """What makes the variable a new one: the outermost scope with a new name, or what was made again, else itself."""
    parts = event.detail["name"].split("/")
    for number in range(1, len(parts)):
        scope = renamed.get((event.phase, "/".join(parts[:number])))
        if scope is not None:
            return scope
    owners = [owner for owner in event.detail["owners"] if owner.phase is event.phase and owner.frames]
    return owners[-1] if owners else event


def _renamed(run: Run) -> dict[tuple[Phase, str], Event]:
    """The scopes, by phase and name, that the same lines opened by another name in an earlier phase."""
    found: dict[tuple[Phase, str], Event] = {}
    first: dict[Any, Event] = {}
    for event in run.events("counted"):
        before = first.setdefault(event.frames, event)
        if event.frames and before.phase is not event.phase and before.detail["scope"] != event.detail["scope"]:
            found.setdefault((event.phase, event.detail["scope"]), event)
    return found


def _why(cause: Event, event: Event) -> str:
    if cause.kind == "counted":
        default, scope = cause.detail["default"], cause.detail["scope"]
        advice = _named_by(cause.frames[0])
        return f"; the scope here is called `{scope}` now, since its name counts up from `{default}`: {advice}"
    if cause is not event:
        return "; of the `{}` that each of them makes here".format(cause.detail.get("class", cause.kind))
    return _made_by(event)


def _named_by(frame: Frame) -> str:
    """How to name a scope: by the parameter that its name is read from, if it is, or where it is opened."""
    for call in calls_at(frame.path, frame.line):
        first = next((one.value for one in call.keywords if one.arg == "name_or_scope"), (call.args or [None])[0])
        default = any(one.arg == "default_name" for one in call.keywords) or len(call.args) > 1
        if default and isinstance(first, ast.Name):
            return f"give `{first.id}=`, which is None here, or name the scope itself"
    return "name it"


def _created_in_scopes(run: Run, explained: Explained) -> Iterator[dict[str, Any]]:
    """What the guides' scopes object to where no call had come to its end, so that it may be the first of its kind.

    Where TensorFlow refuses the variables itself, that is what the calls raise.
    """
    made = [event for event in run.events("variable") if event.phase.scope is not None and not event.phase.follow_up]
    made = [event for event in made if event.frames and not _FRAMEWORK & set(event.detail["by"])]
    places = [events[0] for events in _by_place(made)]
    told = [finding for finding in run.findings if any(made_through(finding, one) for one in places)]
    if places and not told and not run.events("refused") and not _told(run, explained):
        elsewhere = f" and on {len(places) - 1} more lines" if places[1:] else ""
        message = f"a call inside `{places[0].phase.scope}` makes a variable here{elsewhere}"
        unknown = "no call had come to its end, so whether each call does so was not seen"
        yield _of_event("created in a scope", places[0], "info", f"{message}; {unknown}")


def _made_by(event: Event) -> str:
    """Which layer or module has the variable, and where that was made, if that is another line."""
    for owner in event.detail["owners"][:1]:
        if "class" in owner.detail and owner.frames and owner.frames[0][:2] != event.frames[0][:2]:
            again = " again" if owner.phase is event.phase and event.phase.follow_up else ""
            place = owner.frames[0]
            return "; of the `{}` made{} at {}:{}".format(
                owner.detail["class"], again, os.path.basename(place.path), place.line
            )
    return ""


def _refused(run: Run, explained: Explained) -> Iterator[dict[str, Any]]:
    """Creations that ``tf.function`` refused, where the program swallowed the error and went on."""
    told = _told(run, explained)
    refused = [e for e in run.events("refused") if e.phase.ok and e.frames and e not in explained]
    for events in _by_place([event for event in refused if event.frames[0][:2] not in told]):
        message = "TensorFlow refuses the variable that is made here in the second trace"
        yield _of_event("refused", events[0], "error", f"{message}, and the program swallows the error")


def _untracked(run: Run, explained: Explained) -> Iterator[dict[str, Any]]:
    """Trainable variables that a call reads and the model does not know: they are neither trained nor saved."""
    known = tracked(run.keeper)
    if known is None:
        return
    read = read_in_traces(run)
    first = (*run.of_kind("build"), *run.calls()[:1])
    for events in _by_place([event for event in run.events("variable") if event.phase in first]):
        lost = [e for e in events if _is_lost(e, read, known) and not is_optimized(run, e.subject())]
        if lost and explained.isdisjoint(lost):
            yield _observation(
                "untracked",
                lost[0].frames,
                _read_in(lost[0].subject(), read),
                "error",
                "the model computes with the trainable variable `{}` (shape {}, {}), which is not among its "
                "variables: `fit` does not train it and saving the weights leaves it out{}".format(
                    lost[0].detail["name"], lost[0].detail["shape"], lost[0].detail["dtype"], _made_by(lost[0])
                ),
            )


def _is_lost(event: Event, read: dict[int, Event], known: set[int]) -> bool:
    """Whether the calls use a variable that is to be trained and that the model does not know."""
    variable = event.subject()
    if variable is None or not event.detail["dtype"].startswith(_TRAINED):
        return False
    numbers = identities(variable)
    return bool(numbers & set(read)) and not numbers & known and not is_frozen(Made(variable, event))


def _read_in(variable: Any, read: dict[int, Event]) -> Phase:
    return next(read[number].phase for number in identities(variable) if number in read)


def _raised_in_a_call(run: Run, explained: Explained, decided: Decided) -> Iterator[dict[str, Any]]:
    """Errors of the user's lines in an eager call, or a training step of its own, of a model whose other calls work.

    A batch of another size is left out: a model may be made for one.
    """
    calls = [phase for phase in run.calls(traced=False) if phase.scope is None and not phase.batch]
    if run.strategy is not None or not any(phase.ok for phase in calls):
        return
    told: set[tuple[object, str]] = set()
    for phase in [*calls, *run.of_kind("step")]:
        errors = _raised(phase)
        is_new, told = told.isdisjoint(errors), told | errors
        if not phase.frames or phase.outcome != "failed" or isinstance(phase.error, NothingRanError) or not is_new:
            continue
        if not _is_explained(run, phase, explained, decided):
            message = f"the model can be called, but the {phase} raises {phase.detail}"
            yield _observation("raised in a call", phase.frames, phase, "error", message)


def _raised_in_traces(run: Run, explained: Explained, decided: Decided) -> Iterator[dict[str, Any]]:
    """Errors of the user's lines that come only where the same call is traced."""
    eager = [phase for phase in run.calls(traced=False) if phase.ok]
    told = {key for phase in run.calls(traced=False) for key in _raised(phase)}
    places: dict[Any, list[Phase]] = {}
    for phase in run.calls(traced=True):
        works = phase.only_traced and any(phase.traces(call) for call in eager)
        if phase.error is None or _raised(phase) & told:
            continue  # it ran, or has another cause than the trace
        if works and not _is_explained(run, phase, explained, decided):
            places.setdefault(phase.frames[:1], []).append(phase)
    for phases in places.values():
        yield _observation(
            "raised in a trace",
            phases[0].frames,
            phases[0],
            "warning" if _keras_traces(run.model) else "info",
            f"the model can be called eagerly but not inside `tf.function`: {phases[0].detail} ({names_of(phases)})",
        )


def _raised(phase: Phase) -> set[tuple[object, str]]:
    """What tells a phase's error from others: the user's line that raised it with its type, and with its message.

    AutoGraph and Keras raise anew as classes of their own what they cannot make another one of, and a trace has other
    words for shapes that do not go together: with the same batch, the line alone will do.
    """
    if phase.error is None:
        return set()
    place = place_of(phase.frames)
    name, _, message = essence(phase.error).partition(": ")
    texts = [name.rpartition(".")[2], message or name, *([] if phase.batch or place is None else [""])]
    return {(place, text) for text in texts}


def _keras_traces(model: Any) -> bool:
    """Whether ``fit`` and ``predict`` would trace the calls; what is no layer may be meant for eager calls alone."""
    is_layer = any(cls.__module__.startswith(("keras.", "tf_keras.")) for cls in type(model).__mro__)
    return is_layer and not getattr(model, "run_eagerly", False) and not getattr(model, "dynamic", False)


def _is_explained(run: Run, phase: Phase, explained: Explained, decided: Decided) -> bool:
    """Whether a finding that speaks of it, or a creation that is reported by itself, stands where it was raised."""
    told = _told(run, explained)
    if any(frame[:2] in told for frame in phase.frames[:1]):
        return True
    if any(event.phase is phase and event in explained for event in run.events("refused")):
        return True
    at_line = [one for finding, one in decided if finding.holds_first(phase.frames)]
    return any(one.verdict == CONFIRMED or one.phase is phase for one in at_line)


def _retraced(run: Run, explained: Explained) -> Iterator[dict[str, Any]]:
    """Functions of the user's that are traced anew in a call with the same inputs as the one before.

    TensorFlow traces functions of its own at each eager call of ``tf.vectorized_map`` and its like.
    """
    repeated = [phase for phase in run.follow_ups() if phase.ok and phase.ordinal]
    events = [e for e in run.events("trace") if e.phase in repeated and e.frames and e not in explained]
    events = [e for e in events if e.detail["made"] is not None and e.detail["made"].detail["users"]]
    for group in _by_place(events):
        name, changed = group[0].detail["function"], group[0].detail["changed"] or "it was made anew"
        message = f"the function `{name}` is traced again in a call with the same inputs: {changed}"
        yield _of_event("retraced", group[0], "warning", message)


def _raised_under_strategy(run: Run, explained: Explained, decided: Decided) -> Iterator[dict[str, Any]]:
    """Each error of calls and training under a strategy, once, at the user's line or at that of the model."""
    if run.strategy is None:
        return
    told: set[tuple[object, str]] = set()
    first = run.fatal()
    for phase in run.of_kind("call", *STEPS):
        errors = _raised(phase)
        known = not told.isdisjoint(errors) or (first is not None and phase.kind == first.kind)
        told |= errors
        known |= isinstance(phase.error, NothingRanError)
        known |= any(one.verdict == CONFIRMED and one.phase is phase for _, one in decided)
        if phase.outcome != "failed" or known or _is_explained(run, phase, explained, decided):
            continue
        why = reason(essence(phase.error)) if phase.error is not None else ""
        yield _observation(
            f"raised under a strategy: {why or phase.detail}",
            phase.frames or _made_at(run),
            phase,
            "error",
            "under {}, the {} raises {}".format(run.job["strategy"]["text"], phase, phase.detail),
            f"; {why}" if why else "",
        )


def _made_at(run: Run) -> Sequence[Frame]:
    """Where the model was made, nowhere if that was not seen."""
    made = [event for event in run.events("layer") if event.frames]
    own = [event for event in made if event.subject() is run.built]
    return (own or made)[-1].frames if made else ()


def _resources(run: Run, explained: Explained) -> Iterator[dict[str, Any]]:
    events = [e for e in run.events("resource") if e.phase.follow_up and e.frames and e not in explained]
    for group in _by_place(events):
        message = "a call makes a {} again, first in the {}".format(group[0].detail["class"], group[0].phase)
        yield _of_event("resource", group[0], "error", message)


def _absent_devices(run: Run, explained: Explained) -> Iterator[dict[str, Any]]:
    """Devices that the program asks for and this process has not: TensorFlow takes others, without a word.

    A session of TF1 raises, unless it is told to do so too; before anything is computed it is not known what there is.
    """
    asked = [event for event in run.events("device") if event.frames and event not in explained]
    soft_session = any(event.detail["soft"] for event in run.events("session"))
    asked = [e for e in asked if (soft_session if e.detail["in_graph"] else run.is_strict or e.detail["soft"])]
    there = logical_devices() if asked else []
    for events in _by_place(asked if there else []):
        what = events[0].detail["what"]
        names = sorted({name for event in events for name in event.detail["asked"]} - {*there})
        if not names:
            continue
        hidden = hides_gpus() and all(name.startswith("GPU:") for name in names)
        taken = "would take others without a word; this run does not let it" if run.is_strict else _OTHERS_TAKEN
        message = f"`{what}` asks for {' and '.join(names)}, and there is only {', '.join(there)}: TensorFlow {taken}"
        advice = f"; this run sees no GPUs: --device {names[0]} says whether it is there" if hidden else ""
        kind = f"absent device: {' '.join(names)}"
        severity = "info" if hidden else "warning"
        yield _observation(kind, events[0].frames, events[0].phase, severity, message, advice)
