"""Which state a resumed run lacks: it is held against the step of the uninterrupted run whose weights it begins with.

The first step that differs in anything decides, and what differs there is told in the order of proof: a batch says
nothing of a loop whose optimizer is not the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..wording import place
from .beside import beside
from .results import Interruption, Lost, Status
from .traces import Run, State, Step, Value

__all__ = ["ORDER", "Reference", "differences", "judge", "kinds", "raised"]

ORDER = (
    "writer", "nothing restored", "model", "slots", "iterations", "learning rate", "data", "given", "generator",
    "epoch", "callback", "average", "loss scale", "variable", "unknown", "failed"
)
"""Kinds of state, in the order in which they are named."""
_PROCESS = "process"
"""The generators of the whole process: that they stand elsewhere is told where it may explain a difference."""
_CAUSED = ("model", "slots")
"""What differs behind a step that differed in anything."""
_DAMAGED = ("truncated", "mixed")
"""Ways to interrupt that leave a checkpoint which cannot be restored: to say so is all that a loop can do."""
_FEW = 3

Batch = tuple[str, ...]


class Reference:
    """The uninterrupted run, done twice: what differs between the two is compared with nothing."""

    def __init__(self, run: Run, again: Run) -> None:
        self.run = run
        self.unstable: set[str] = set()
        self.names: list[str] = []
        self.until = min(len(run.steps), len(again.steps))
        """The number of steps with the same weights at their beginning."""
        for number, (one, other) in enumerate(zip(run.steps, again.steps, strict=False)):
            if one.weights != other.weights:
                self.until = number
                self._add("weights", f"the weights, from step {number} on")
                break
            for key in sorted(one.begin.keys() | other.begin.keys()):
                left, right = one.begin.get(key), other.begin.get(key)
                if left is None or right is None or left.digest != right.digest:
                    known = left or right
                    if known is not None and known.kind != _PROCESS:
                        self._add(key, known.name)
            for what in ("data", "given"):
                if getattr(one, what) != getattr(other, what):
                    self._add(what, "the batches" if what == "data" else "what the step's function is called with")
        if len(run.steps) != len(again.steps):
            self._add("steps", "the number of steps")
        states = [step.begin for step in run.steps] + ([] if run.end is None else [run.end])
        self.fixed = {
            key
            for key, value in (states[0] if states else {}).items()
            if value.kind == "callback" and all(key not in one or one[key].digest == value.digest for one in states)
        }
        """What callbacks keep and never change: what they were made with."""

    def _add(self, key: str, name: str) -> None:
        if key not in self.unstable:
            self.unstable.add(key)
            self.names.append(name)

    def place(self, weights: Mapping[str, str] | None, saved: int | None) -> int | None:
        """The step that begins with these weights: where several do, the one that was saved, or else the last."""
        found = [number for number, step in enumerate(self.run.steps) if step.begins_with(weights)]
        if not found:
            return None
        return saved if saved in found else found[-1]


def judge(
    reference: Reference,
    how: str,
    behind: int,
    interrupted: Run,
    resumed: Run,
    files: Sequence[str],
    apart: float | None = None,
    second: Run | None = None,
    missing: Sequence[str] = (),
) -> Interruption:
    """Compare the run that went on with the uninterrupted one, step by step.

    Args:
        reference: the uninterrupted run.
        how: it was interrupted.
        behind: the number of steps that were to be done before.
        interrupted: the run up to there.
        resumed: the run that went on from there.
        files: what lay in the folder then.
        apart: how far the weights are apart at the end.
        second: the run beside the interrupted one, where two processes saved into one folder.
        missing: checkpoints that the folder names and does not hold.
    """
    saved = interrupted.saves[-1] if interrupted.saves else None
    at = reference.place(resumed.steps[0].weights, saved) if resumed.steps else None
    notes = [*interrupted.notes, *resumed.notes]
    where = interrupted.interrupted["where"] if interrupted.interrupted else ""
    if where:
        notes.append(f"the save was ended {where}" if how == "saving" else where)
    writer = ""
    if second is not None:
        writer, told_of = beside(interrupted, second, resumed, missing)
        notes += told_of

    def told(status: Status, lost: Sequence[Lost] = (), reason: str = "") -> Interruption:
        loss = None
        if at is not None and resumed.steps:
            pair = reference.run.steps[at].loss, resumed.steps[0].loss
            loss = abs(pair[0] - pair[1]) if pair[0] is not None and pair[1] is not None else None
        return Interruption(
            how, behind, status, reason, saved, at, len(resumed.steps), tuple(lost), tuple(notes), loss,
            apart, writer, tuple(files)
        )

    if resumed.raised and how in _DAMAGED:
        return told("refused", (), f"it does not go on: {raised(resumed)}")
    if resumed.raised:
        return told("lost", [Lost("failed", "the resumed loop raised", None, raised(resumed))])
    total = len(reference.run.steps)
    if not resumed.steps and len(interrupted.steps) >= total:
        return told("not compared", (), "it was interrupted behind its last step, and makes no further one")
    if not resumed.steps:
        left = total - (saved or 0)
        detail = f"the resumed loop makes no step, where {left} of {total} remain"
        return told("lost", [Lost("epoch", "number of steps", saved, detail)])
    if at is None and writer == "second":
        detail = "the uninterrupted run begins no step with these weights: the second process, with other seeds, did"
        return told("lost", [Lost("writer", "what the first process trained", saved, detail)])
    if at is None:
        if reference.until < total:
            return told("not compared", (), f"two uninterrupted runs differ from step {reference.until} on")
        if resumed.steps[0].weights is None:
            return told("not compared", (), "the weights have no values yet when the first step begins")
        return told("lost", [_other_weights(reference.run, resumed.steps[0], saved)])
    if at == 0 and (saved or (saved is None and files and not where)):  # or they are of the save that was ended
        detail = "it begins with the weights of step 0"
        detail += "" if saved is None else f", though the state behind step {saved} was saved"
        if "tf.train.load_checkpoint" in resumed.reads:
            detail += "; tf.train.load_checkpoint only opens a file and restores nothing (TF502)"
        return told("lost", [Lost("nothing restored", "nothing was restored", 0, detail)])
    if saved is not None and at != saved and second is None:
        notes.append(f"it goes on from step {at}, and the last save was behind step {saved}")
    lost = list(_first_differences(reference, at, resumed.steps, notes))
    if not lost and len(resumed.steps) != total - at and "steps" not in reference.unstable:
        detail = f"the resumed loop makes {len(resumed.steps)} steps, where {total - at} of {total} remain"
        lost.append(Lost("epoch", "number of steps", at, detail))
    if not lost and reference.until < total:
        return told("not compared", (), f"two uninterrupted runs differ from step {reference.until} on")
    if not lost and reference.run.end is not None and resumed.end is not None:
        one, other = (Step(state, None, (), (), 0, None) for state in (reference.run.end, resumed.end))
        lost += _sorted(differences(one, other, total, reference, []))
        lost = [_unexplained(lost, total)] if any(one.kind in _CAUSED for one in lost) else lost
    alone, unread, new, idle = _never_compared(reference, at, resumed)
    if idle:
        notes.append(f"not compared: {_few(idle)}, of an optimizer that makes no update from step {at} on")
    if new:
        notes.append(f"not compared: {_few(new)}, which the resumed run alone has")
    if not lost and (alone or unread):
        why = [f"{_few(alone)}, which the uninterrupted run alone has"] if alone else []
        why += [f"{_few(unread)}, which cannot be read"] if unread else []
        return told("not compared", (), f"nothing was lost but perhaps {' and '.join(why)}")
    if not lost and at == 0 and saved is None:
        return told("begun anew", (), "nothing had been saved by then")
    return told("lost" if lost else "equal", lost)


def _never_compared(reference: Reference, at: int, resumed: Run) -> tuple[list[str], list[str], list[str], list[str]]:
    """Names of what was compared in no step.

    What the uninterrupted run alone has, what none has, what the resumed run alone has, and what optimizers keep that
    the uninterrupted run does not need any more. What those have trained, it may need.
    """
    pairs = [
        (one.begin, other.begin) for one, other in zip(reference.run.steps[at:], resumed.steps, strict=False)
    ]
    if reference.run.end is not None and resumed.end is not None:
        pairs.append((reference.run.end, resumed.end))
    names: dict[str, str] = {}
    had: dict[str, set[str]] = {"left": set(), "right": set(), "both": set()}
    alike = any(_owners(left) == _owners(right) for left, right in pairs)
    for left, right in pairs:
        said = _comparable(left, right) if alike else left.keys() | right.keys()  # the rest comes where both know it
        for side, state in (("left", left), ("right", right)):
            for key in state.keys() & said:
                value = state[key]
                if value.kind != _PROCESS and key not in reference.unstable and key not in reference.fixed:
                    names[key] = value.name
                    if value.digest:
                        had[side].add(key)
        had["both"] |= _compared(left, right)
    covered = {key for left, _ in pairs for key in _also_compared(left, had["both"])}
    open_ = [key for key in sorted(names) if key not in had["both"] | covered]
    needed = {str(one) for step in reference.run.steps[at:] for one in step.applied}
    idle = [key for key in open_ if key in had["left"] and key.startswith("optimizer ") and _owner(key) not in needed]
    alone = [names[key] for key in open_ if key in had["left"] and key not in idle]
    new = [names[key] for key in open_ if key in had["right"] and key not in had["left"]]
    unread = [names[key] for key in open_ if key not in had["left"] | had["right"]]
    return alone, unread, new, [names[key] for key in idle]


def _also_compared(state: State, compared: Collection[str]) -> Iterator[str]:
    """The weights of optimizers that another one trains as well, by which they are compared."""
    weights = {key: (value.name, value.digest) for key, value in state.items() if key.startswith("weight ")}
    known = {weight for key, weight in weights.items() if key in compared}
    yield from (key for key, weight in weights.items() if weight in known)


def _owner(key: str) -> str:
    """The number of the optimizer that a part of the state belongs to; empty where it belongs to none."""
    kind, _, rest = key.partition(" ")
    return rest.partition("/")[0] if kind in ("weight", "optimizer") else ""


def _owners(state: State) -> set[str]:
    return {_owner(key) for key in state} - {""}


def _comparable(one: State, other: State) -> set[str]:
    """What of two states can be told to be the same, or not.

    An optimizer is known from its first update on. Where one run has not come to that of another optimizer, what
    belongs to that one says nothing yet, and what is numbered by what is trained is numbered otherwise.
    """
    known, others = _owners(one), _owners(other)
    keys = one.keys() | other.keys()
    if known == others:
        return keys
    trained, others_trained = (
        {(value.name, value.digest) for key, value in state.items() if key.startswith("weight ")}
        for state in (one, other)
    )
    numbered = () if trained == others_trained else ("layers/", "variable ")
    return {
        key
        for key in keys
        if _owner(key) in known & others or (not _owner(key) and not key.startswith(numbered))
    }


def _compared(one: State, other: State) -> set[str]:
    """What has a value in both of two states, and can be compared."""
    return {
        key
        for key in _comparable(one, other)
        if key in one and key in other and one[key].digest and other[key].digest
    }


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{', '.join(names[:_FEW])}{more}"


def raised(run: Run) -> str:
    """What a loop raised, with its line where it is known."""
    return run.raised if run.place is None else f"{run.raised} ({place(run.place)})"


def _other_weights(run: Run, first: Step, saved: int | None) -> Lost:
    """The weights of no step: which of them are not those that were saved."""
    names = []
    if saved is not None and saved < len(run.steps):
        begin = run.steps[saved].begin
        could = _comparable(begin, first.begin)
        names = [
            value.name
            for key, value in begin.items()
            if value.kind == "model" and key in could
            and (key not in first.begin or first.begin[key].digest != value.digest)
        ]
    detail = "the uninterrupted run begins no step with the weights of the resumed one"
    if names:
        detail += f"; not as behind step {saved}: {_few(names)}"
    return Lost("model", "the weights were not restored", saved, detail)


def _first_differences(reference: Reference, at: int, steps: Sequence[Step], notes: list[str]) -> Sequence[Lost]:
    """What differs at the first step that differs in anything."""
    compared: set[str] = set()
    for number, (one, other) in enumerate(zip(reference.run.steps[at : reference.until], steps, strict=False)):
        found = _sorted(differences(one, other, at + number, reference, notes if not number else []))
        if not found:
            compared |= _compared(one.begin, other.begin)
            continue
        if number and any(lost.kind in _CAUSED for lost in found):
            met = differences(one, other, at + number, reference, [], compared)
            own = _sorted(lost for lost in met if lost.kind != "data")
            if own:  # of an optimizer that is applied for the first time
                return own
            process = [name for name in _moved(one, other) if name]
            if process:
                notes.append(f"{' and '.join(process)} draws from another place than in the uninterrupted run")
            return [_unexplained(found, at + number)]
        return found
    return []


def _unexplained(found: Sequence[Lost], step: int) -> Lost:
    detail = f"{found[0].name} differs from step {step} on, and nothing that is looked at differed before"
    return Lost("unknown", "unknown state", step, detail)


def _moved(one: Step, other: Step) -> Iterator[str]:
    for key, value in one.begin.items():
        if value.kind == _PROCESS and key in other.begin and other.begin[key].digest != value.digest:
            yield value.name


def _sorted(found: Iterable[Lost]) -> list[Lost]:
    return sorted(found, key=lambda lost: ORDER.index(lost.kind))


def differences(
    one: Step, other: Step, step: int, reference: Reference, notes: list[str], compared: Collection[str] = ()
) -> Iterator[Lost]:
    """What two steps that should be the same begin with, and are given; the one is of the uninterrupted run.

    What is `compared` has been so at an earlier step, and is left out.
    """
    generators = False
    for key in sorted(_comparable(one.begin, other.begin).difference(compared)):
        left, right = one.begin.get(key), other.begin.get(key)
        known = left or right
        if known is None or known.kind == _PROCESS or key in reference.unstable or key in reference.fixed:
            continue
        if (left is not None and not left.digest) or (right is not None and not right.digest):
            continue
        if left is None or right is None:
            if known.kind in ("slots", "iterations", "model"):
                missing = "is only in the uninterrupted run" if right is None else "is only in the resumed run"
                yield Lost(known.kind, known.name, step, missing)
        elif left.digest != right.digest:
            generators = generators or known.kind == "generator"
            yield Lost(_kind(known), known.name, step, "", left.number, right.number)
    for what in ("data", "given"):
        left_batch, right_batch = getattr(one, what), getattr(other, what)
        if what in reference.unstable or not left_batch or not right_batch:
            continue
        if _is_same(left_batch, right_batch):
            break
        if what == "given" and generators:
            notes.append("whether the batch is the same is not known, since random numbers may be in it")
            break
        if what == "given" and (places := _other_places(left_batch, right_batch)):
            detail = f"of {len(left_batch)} arrays not those of step {step}: number {', '.join(map(str, places))}"
            yield Lost("given", "what the loop carries", step, detail)
        else:
            yield Lost("data", "data position", step, _which(reference.run.steps, what, right_batch, step))
        break


def _kind(value: Value) -> str:
    return value.kind if value.kind in ORDER else "variable"


def _is_same(batch: Batch, other: Batch) -> bool:
    """Whether two steps got the same; before it, one of them may have looked at other data, as for an evaluation."""
    if not batch or not other:
        return batch == other
    return batch == other[-len(batch) :] or other == batch[-len(other) :]


def _other_places(batch: Batch, other: Batch) -> list[int]:
    """Which arrays of a call are others, from 1 on, where some are the same: the batch, beside what a loop carries."""
    if len(batch) != len(other):
        return []
    places = [place for place, (left, right) in enumerate(zip(batch, other, strict=True), 1) if left != right]
    return places if len(places) < len(batch) else []


def _which(steps: Sequence[Step], what: str, batch: Batch, step: int) -> str:
    """Which batch it got in the place of that of the step."""
    found = [number for number, one in enumerate(steps) if _is_same(getattr(one, what), batch)]
    return f"batch {found[0]} again, in place of batch {step}" if found else f"another batch than that of step {step}"


def kinds(lost: Collection[Lost]) -> list[str]:
    """The kinds, each once, in their order."""
    return list(dict.fromkeys(one.kind for one in lost))
